"""Support vector machines: the widest margin in the space of a kernel, with proofs of optimality."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "NuSVC": "nu",
        "NuSVR": "nu",
        "OneClassSVM": "one_class",
        "SVC": "classifier",
        "SVR": "regressor",
        "convex_hull": "hulls",
    },
)
