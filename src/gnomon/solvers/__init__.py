"""Solvers: how a loss plus a penalty is minimized, each with a certificate of what it reached."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "minimize": "descent",
        "check_gradient": "descent",
        "stable_learning_rate": "descent",
        "laplace_approximation": "descent",
        "batches": "descent",
        "Schedule": "schedules",
        "Constant": "schedules",
        "InverseDecay": "schedules",
        "InvScaling": "schedules",
        "PegasosSchedule": "schedules",
        "Exponential": "schedules",
        "GreedyInLimit": "schedules",
        "LinearDecay": "schedules",
        "VisitDecay": "schedules",
        "StepDecay": "schedules",
        "Optimal": "schedules",
        "ReduceOnPlateau": "schedules",
    },
)
