"""Mixtures: densities made of components, fitted by EM."""

from gnomon._lazy import attach

_WHERE = {
    "gaussian": ["GaussianMixture"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
