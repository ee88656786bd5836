"""Theory that can be computed: bounds on what learners do, and what it takes to reach them."""

from gnomon._lazy import attach

_FILES = {
    "perceptron": ["perceptron_bound"],
    "bounds": ["finite_class_bound", "vc_bound"],
    "concentration": ["concentration_bound", "simulate_deviation"],
    "counting": ["sauer_bound"],
    "concepts": ["ConceptClass", "FiniteTable"],
    "classes": ["Conjunctions", "Intervals", "SignPolynomials", "Sine", "Thresholds"],
    "regions": ["Discs", "HalfSpaces", "Rectangles"],
    "learners": ["ConjunctionLearner", "RectangleLearner"],
    "capacity": ["structural_risk", "svm_capacity"],
    "duality": ["ConstrainedProblem"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
