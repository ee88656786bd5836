# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classifier import BayesianNetworkClassifier as BayesianNetworkClassifier
from .constraint import PC as PC
from .constraint import edge_bootstrap as edge_bootstrap
from .factor import Factor as Factor
from .fields import MarkovRandomField as MarkovRandomField
from .files import read_network as read_network
from .files import write_network as write_network
from .grids import GridField as GridField
from .inference import inference_plan as inference_plan
from .junction import JunctionTree as JunctionTree
from .latent import LatentClassModel as LatentClassModel
from .linear_gaussian import LinearGaussianNetwork as LinearGaussianNetwork
from .network import BayesianNetwork as BayesianNetwork
from .orderings import compare_orderings as compare_orderings
from .orderings import equivalent as equivalent
from .orderings import parameter_count as parameter_count
from .orderings import treewidth as treewidth
from .propagation import BeliefPropagation as BeliefPropagation
from .propagation import FactorGraph as FactorGraph
from .scores import score_structure as score_structure
from .search import HillClimbSearch as HillClimbSearch
from .separation import active_path as active_path
from .separation import d_separated as d_separated
from .separation import explaining_away as explaining_away
from .separation import independence_gap as independence_gap
from .separation import is_independent as is_independent
from .structure import ChowLiuTree as ChowLiuTree
from .structure import ExactSearch as ExactSearch

__all__ = ["BayesianNetwork", "BayesianNetworkClassifier", "BeliefPropagation", "ChowLiuTree", "ExactSearch", "Factor", "FactorGraph", "GridField", "HillClimbSearch", "JunctionTree", "LatentClassModel", "LinearGaussianNetwork", "MarkovRandomField", "PC", "active_path", "compare_orderings", "d_separated", "edge_bootstrap", "equivalent", "explaining_away", "independence_gap", "inference_plan", "is_independent", "parameter_count", "read_network", "score_structure", "treewidth", "write_network"]
