"""Pictures: one function each; every one takes `ax` and returns the Axes it drew on.

The functions know models only by their public methods and attributes, so they draw scikit-learn's as well.
A new file of this folder adds one line below.
"""

from gnomon._lazy import attach

_FILES = {
    "bayes": ["bars", "class_densities", "projected_classes", "simplex"],
    "curves": ["path", "trace"],
    "fits": ["fit_line", "predictive_band"],
    "frames": ["animate"],
    "regions": ["decision_regions", "ellipses"],
    "tables": ["heat_map"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
