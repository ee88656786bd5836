"""What an estimator needs that its signature does not tell: arguments, settings worth testing, odd data.

An estimator without a recipe is made with its defaults (and the usual small numbers) and learns from three
groups of rows. A recipe may say what data it takes; it cannot say which checks it skips.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Recipe(NamedTuple):
    arguments: dict[str, Any] = {}  # to every constructor call
    settings: tuple[dict[str, Any], ...] = ({},)  # each is tested like an estimator of its own
    data: Callable[[int, int, int], tuple] | None = None  # (rows, columns, seed) -> (X,) or (X, y)
    answers: tuple[str, ...] = ()  # attributes to compare where there is nothing to predict


def each(name, *values):
    """One setting for each value of one argument."""
    return tuple({name: value} for value in values)


def categories(n, d, seed):
    """Codes 0 to 3 in every column, and three classes that prefer some of them."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = (y[:, None] + rng.integers(0, 3, size=(n, d)) * rng.integers(0, 2, size=(n, d))) % 4
    return X.astype(float), y


RECIPES: dict[str, Recipe] = {
    "CategoricalNB": Recipe(data=categories),
    "LinearDiscriminantAnalysis": Recipe(arguments={"n_components": None}),
    "KMeans": Recipe(arguments={"n_init": 2}),
    "GaussianMixture": Recipe(settings=each("covariance_type", "full", "tied", "diag", "spherical")),
}
