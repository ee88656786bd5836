"""Pictures: one function each; every one takes `ax` and returns the Axes it drew on.

The functions know models only by their public methods and attributes, so they draw scikit-learn's as well.
A new file of this folder adds one line below.
"""

from gnomon._lazy import attach

_FILES = {
    "association": ["itemset_lattice", "rules"],
    "bayes": ["bars", "class_densities", "projected_classes", "simplex"],
    "classification": ["compare_classifiers", "loss_curves", "margin", "weight_space"],
    "cluster": ["dendrogram", "kmeans_steps", "voronoi"],
    "curves": ["path", "trace"],
    "decide": ["return_curve"],
    "densities": ["belief_update", "density", "dirichlet_draws", "likelihood_curve"],
    "documents": ["topics"],
    "evaluation": [
        "bias_variance",
        "dartboard",
        "intervals",
        "reliability",
        "roc",
        "score_curve",
    ],
    "fits": ["fit_line", "predictive_band"],
    "frames": ["animate"],
    "graphical": ["network", "segmentation"],
    "grid_worlds": ["grid_map"],
    "image_grids": ["images", "reconstructions"],
    "kernel_shapes": ["kernel_curves", "kernel_slice"],
    "linear_hulls": ["hulls"],
    "mixtures": ["em_bound", "imputed_matrix"],
    "nearby": ["neighbors"],
    "networks": ["gradient_norms", "hidden_units", "layers"],
    "plate_diagrams": ["plates"],
    "projections": [
        "embedding",
        "scree",
    ],
    "recommend": ["rating_matrix"],
    "regions": ["decision_regions", "ellipses"],
    "regression": ["descent", "penalty_contours", "projection"],
    "sequence": [
        "criteria",
        "ranking_table",
        "speech",
        "state_posterior",
        "track",
        "trellis",
    ],
    "tables": ["heat_map"],
    "theory": ["rectangles"],
    "trees": [
        "boosting_rounds",
        "boosting_scatter",
        "impurity_functions",
        "train_test_size_curve",
        "tree",
        "tree_gallery",
    ],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
