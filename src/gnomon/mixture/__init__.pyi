# Written by scripts/stubs from the package's `attach` call; do not edit.
from .gaussian import GaussianMixture as GaussianMixture

__all__ = ["GaussianMixture"]
