# Written by scripts/stubs from the package's `attach` call; do not edit.
from .perceptron import longest_mistake_sequence as longest_mistake_sequence
from .perceptron import perceptron_bound as perceptron_bound

__all__ = ["longest_mistake_sequence", "perceptron_bound"]
