"""Small real data sets and the generators of the textbooks' examples.

Loaders return a scikit-learn ``Bunch``; generators return arrays, first the data, then the truth behind it.
A new file of this folder adds one line below.
"""

from gnomon._lazy import attach

_FILES = {
    "classes": ["make_pattern"],
    "demos": ["demonstrations"],
    "documents": ["make_news"],
    "external": ["load_external"],
    "mixtures": ["make_mixture"],
    "networks": ["load_network"],
    "neural": ["make_copy_task"],
    "ratings": ["make_ratings"],
    "real": ["load_earthquakes", "load_old_faithful"],
    "regression": ["make_polynomial_curve", "make_sparse_regression"],
    "sequence": [
        "load_basketball_rankings",
        "make_casino",
        "make_season",
        "make_toy_words",
        "make_trajectory",
    ],
    "simulated": ["make_images", "make_series", "make_text"],
    "table_kinds": ["make_table"],
    "tables": ["load_lesson"],
    "trees": ["load_restaurant", "make_face_patches"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
