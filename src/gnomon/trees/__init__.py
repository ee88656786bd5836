"""Trees: questions about the inputs, chosen for what they tell about the answer."""

from gnomon._lazy import attach

_FILES = {
    "information": ["gain_ratio", "information_gain", "specific_conditional_entropy"],
    "pruning": ["prune", "prune_cv", "prune_reduced_error"],
    "root_split": ["best_split"],
    "splits": ["gain_curve", "impurity", "split_improvement"],
    "stump": ["DecisionStump"],
    "text": ["export_text"],
    "tree": ["DecisionTreeClassifier", "DecisionTreeRegressor"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
