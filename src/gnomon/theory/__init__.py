"""Theory that can be computed: bounds on what learners do, and what it takes to reach them."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "perceptron_bound": "perceptron",
        "longest_mistake_sequence": "perceptron",
        "svm_capacity": "margins",
    },
)
