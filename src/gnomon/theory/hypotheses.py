"""A rule of a concept class, and how often it is wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.validate import weights as check_weights


class Hypothesis(NamedTuple):
    """A rule of a class, chosen for its few errors on a sample."""

    concepts: Any  # the class
    parameters: Any
    training_error: float
    n_consistent: int  # labelings of the sample without error: 0 or 1 on points without repetition

    def predict(self, X: Any) -> Array:
        """Return 0 or 1 for every row."""
        return self.concepts.predict(self.parameters, X)

    def true_error(
        self, concept: Any, distribution: Any, *, n: int = 100_000, random_state: Any = None
    ) -> float:
        """Return the probability that the rule and the concept disagree.

        Parameters
        ----------
        concept : callable or object with `predict`
            Labels points.
        distribution : pair of arrays, or callable
            Points of a finite domain and their probabilities: then the answer is exact. Or ``draw(rng, size)``, which
            returns so many points.
        n : int, default=100_000
            Points drawn in the second case; the answer has a standard error of at most ``0.5 / sqrt(n)``.
        random_state : int, RandomState, Generator or None

        Examples
        --------
        >>> from gnomon.theory import Thresholds
        >>> rule = Thresholds().learn([1, 4, 5, 8], [0, 0, 1, 1])
        >>> round(rule.true_error(lambda x: x >= 3, (np.arange(10), np.full(10, 0.1))), 6)
        0.2
        """
        drawn = callable(distribution)
        points, p = (distribution(generator(random_state), n), np.ones(n)) if drawn else distribution
        p = check_weights(p, len(points))
        truth = np.asarray(getattr(concept, "predict", concept)(points)).reshape(-1)
        return float((self.predict(points) != truth) @ (p / p.sum()))
