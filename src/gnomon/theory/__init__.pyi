# Written by scripts/stubs from the package's `attach` call; do not edit.
from .bounds import Bound as Bound
from .bounds import finite_class_bound as finite_class_bound
from .bounds import pac_lower_bound as pac_lower_bound
from .bounds import rectangle_bound as rectangle_bound
from .bounds import vc_bound as vc_bound
from .capacity import margin_vc as margin_vc
from .capacity import structural_risk as structural_risk
from .capacity import svm_capacity as svm_capacity
from .classes import Conjunctions as Conjunctions
from .classes import Discs as Discs
from .classes import HalfSpaces as HalfSpaces
from .classes import Intervals as Intervals
from .classes import Rectangles as Rectangles
from .classes import SignPolynomials as SignPolynomials
from .classes import Sine as Sine
from .classes import Thresholds as Thresholds
from .concentration import concentration_bound as concentration_bound
from .concentration import simulate_deviation as simulate_deviation
from .concepts import ConceptClass as ConceptClass
from .concepts import FiniteTable as FiniteTable
from .concepts import true_error as true_error
from .counting import sauer_bound as sauer_bound
from .duality import ConstrainedProblem as ConstrainedProblem
from .duality import check_gradient as check_gradient
from .experiments import adversarial_stream as adversarial_stream
from .experiments import ball_partition_probability as ball_partition_probability
from .experiments import ghost_sample as ghost_sample
from .experiments import rectangle_game as rectangle_game
from .experiments import shattered_adversary as shattered_adversary
from .learners import ConjunctionLearner as ConjunctionLearner
from .learners import RectangleLearner as RectangleLearner
from .perceptron import longest_mistake_sequence as longest_mistake_sequence
from .perceptron import perceptron_bound as perceptron_bound

__all__ = ["Bound", "ConceptClass", "ConjunctionLearner", "Conjunctions", "ConstrainedProblem", "Discs", "FiniteTable", "HalfSpaces", "Intervals", "RectangleLearner", "Rectangles", "SignPolynomials", "Sine", "Thresholds", "adversarial_stream", "ball_partition_probability", "check_gradient", "concentration_bound", "finite_class_bound", "ghost_sample", "longest_mistake_sequence", "margin_vc", "pac_lower_bound", "perceptron_bound", "rectangle_bound", "rectangle_game", "sauer_bound", "shattered_adversary", "simulate_deviation", "structural_risk", "svm_capacity", "true_error", "vc_bound"]
