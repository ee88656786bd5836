# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classifier import SVC as SVC
from .hulls import convex_hull as convex_hull
from .nu import NuSVC as NuSVC
from .nu import NuSVR as NuSVR
from .one_class import OneClassSVM as OneClassSVM
from .regressor import SVR as SVR

__all__ = ["NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR", "convex_hull"]
