"""Graphical models: Bayesian networks, Markov random fields, exact and approximate inference, structure."""

from gnomon._lazy import attach

_WHERE = {
    "factor": ["Factor"],
    "network": ["BayesianNetwork"],
    "linear_gaussian": ["LinearGaussianNetwork"],
    "classifier": ["BayesianNetworkClassifier"],
    "latent": ["LatentClassModel"],
    "files": ["read_network", "write_network"],
    "inference": ["inference_plan"],
    "junction_tree": ["JunctionTree"],
    "factor_graphs": ["FactorGraph"],
    "propagation": ["BeliefPropagation"],
    "fields": ["MarkovRandomField"],
    "grids": ["GridField"],
    "orderings": ["treewidth"],
    "scores": ["score_structure"],
    "structure": ["ChowLiuTree", "ExactSearch"],
    "search": ["HillClimbSearch"],
    "constraint": ["PC", "edge_bootstrap"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
