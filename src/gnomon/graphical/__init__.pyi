# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classifier import BayesianNetworkClassifier as BayesianNetworkClassifier
from .constraint import PC as PC
from .constraint import edge_bootstrap as edge_bootstrap
from .factor import Factor as Factor
from .factor_graphs import FactorGraph as FactorGraph
from .fields import MarkovRandomField as MarkovRandomField
from .files import read_network as read_network
from .files import write_network as write_network
from .grids import GridField as GridField
from .inference import inference_plan as inference_plan
from .junction_tree import JunctionTree as JunctionTree
from .latent import LatentClassModel as LatentClassModel
from .linear_gaussian import LinearGaussianNetwork as LinearGaussianNetwork
from .network import BayesianNetwork as BayesianNetwork
from .orderings import treewidth as treewidth
from .propagation import BeliefPropagation as BeliefPropagation
from .scores import score_structure as score_structure
from .search import HillClimbSearch as HillClimbSearch
from .structure import ChowLiuTree as ChowLiuTree
from .structure import ExactSearch as ExactSearch

__all__ = ["BayesianNetwork", "BayesianNetworkClassifier", "BeliefPropagation", "ChowLiuTree", "ExactSearch", "Factor", "FactorGraph", "GridField", "HillClimbSearch", "JunctionTree", "LatentClassModel", "LinearGaussianNetwork", "MarkovRandomField", "PC", "edge_bootstrap", "inference_plan", "read_network", "score_structure", "treewidth", "write_network"]
