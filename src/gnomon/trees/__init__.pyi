# Written by scripts/stubs from the package's `attach` call; do not edit.
from .information import gain_ratio as gain_ratio
from .information import information_gain as information_gain
from .information import specific_conditional_entropy as specific_conditional_entropy
from .pruning import prune as prune
from .pruning import prune_cv as prune_cv
from .pruning import prune_reduced_error as prune_reduced_error
from .root_split import best_split as best_split
from .splits import gain_curve as gain_curve
from .splits import impurity as impurity
from .splits import split_improvement as split_improvement
from .stump import DecisionStump as DecisionStump
from .text import export_text as export_text
from .tree import DecisionTreeClassifier as DecisionTreeClassifier
from .tree import DecisionTreeRegressor as DecisionTreeRegressor

__all__ = ["DecisionStump", "DecisionTreeClassifier", "DecisionTreeRegressor", "best_split", "export_text", "gain_curve", "gain_ratio", "impurity", "information_gain", "prune", "prune_cv", "prune_reduced_error", "specific_conditional_entropy", "split_improvement"]
