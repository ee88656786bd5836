# Written by scripts/stubs from the package's `attach` call; do not edit.
from .bounds import finite_class_bound as finite_class_bound
from .bounds import vc_bound as vc_bound
from .capacity import structural_risk as structural_risk
from .capacity import svm_capacity as svm_capacity
from .classes import Conjunctions as Conjunctions
from .classes import Intervals as Intervals
from .classes import SignPolynomials as SignPolynomials
from .classes import Sine as Sine
from .classes import Thresholds as Thresholds
from .concentration import concentration_bound as concentration_bound
from .concentration import simulate_deviation as simulate_deviation
from .concepts import ConceptClass as ConceptClass
from .concepts import FiniteTable as FiniteTable
from .counting import sauer_bound as sauer_bound
from .duality import ConstrainedProblem as ConstrainedProblem
from .learners import ConjunctionLearner as ConjunctionLearner
from .learners import RectangleLearner as RectangleLearner
from .perceptron import perceptron_bound as perceptron_bound
from .regions import Discs as Discs
from .regions import HalfSpaces as HalfSpaces
from .regions import Rectangles as Rectangles

__all__ = ["ConceptClass", "ConjunctionLearner", "Conjunctions", "ConstrainedProblem", "Discs", "FiniteTable", "HalfSpaces", "Intervals", "RectangleLearner", "Rectangles", "SignPolynomials", "Sine", "Thresholds", "concentration_bound", "finite_class_bound", "perceptron_bound", "sauer_bound", "simulate_deviation", "structural_risk", "svm_capacity", "vc_bound"]
