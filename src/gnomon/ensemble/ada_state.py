"""What AdaBoost holds between rounds, and how its learners vote."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.sums import Chunk
from gnomon.trees.stump import DecisionStump

Array = np.ndarray


class AdaState(NamedTuple):
    """Learners so far, their weights and errors, and the weights of the rows after every round."""

    learners: tuple[Any, ...]
    alphas: tuple[float, ...]  # half log-odds (two classes) or SAMME's weight
    errors: tuple[float, ...]
    normalizers: tuple[float, ...]
    weights: tuple[Array, ...]
    training_errors: tuple[float, ...]
    score: Array  # (n, K) summed votes
    seed: int
    done: bool


class AdaWork(NamedTuple):
    """The workspace: the rows that count, and their columns sorted for stumps."""

    X: Any
    y: Array
    weight: Array
    classes: Array
    columns: Any  # None where the weak learners are no stumps


def votes(learner: Any, X: Array, classes: Array) -> Array:
    """Which class a learner gives to each row, (n, classes) of True and False."""
    if isinstance(learner, DecisionStump):
        codes = np.searchsorted(classes, learner.classes_)[learner.stump_.answers(X)]
    else:
        codes = np.searchsorted(classes, learner.predict(X))
    return codes[:, None] == np.arange(len(classes))


def tally(chunk: Chunk, learners: list[Any], scale: Array, classes: Array) -> Array:
    """Add up the votes of all learners, in their order."""
    score = np.zeros((chunk.X.shape[0], len(classes)))
    for learner, alpha in zip(learners, scale):
        score += alpha * votes(learner, chunk.X, classes)
    return score
