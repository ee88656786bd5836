"""Solvers: how a loss plus a penalty is minimized, each with a certificate of what it reached."""

from gnomon._lazy import attach

_FILES = {
    "descent": ["batches", "minimize", "stable_learning_rate"],
    "gradient_check": ["check_gradient"],
    "laplace": ["laplace_approximation"],
    "schedules": [
        "Constant",
        "Exponential",
        "GreedyInLimit",
        "InvScaling",
        "InverseDecay",
        "LinearDecay",
        "Optimal",
        "PegasosSchedule",
        "ReduceOnPlateau",
        "Schedule",
        "StepDecay",
        "VisitDecay",
    ],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
