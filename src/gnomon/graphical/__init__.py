"""Graphical models: Bayesian networks, Markov random fields, exact and approximate inference, structure."""

from gnomon._lazy import attach

_WHERE = {
    "factor": ["Factor"],
    "network": ["BayesianNetwork"],
    "junction": ["JunctionTree"],
    "inference": ["inference_plan"],
    "separation": ["active_path", "d_separated", "explaining_away", "independence_gap", "is_independent"],
    "orderings": ["compare_orderings", "equivalent", "parameter_count", "treewidth"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
