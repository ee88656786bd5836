"""Groups of names that are looked up together."""

from gnomon.neural import layer_kinds as layers

__all__ = ["layers"]
