"""What an estimator needs that its signature does not tell: arguments, settings worth testing, odd data.

An estimator without a recipe is made with its defaults (and the usual small numbers) and learns from three
groups of rows. A recipe may say what data it takes; it cannot say which checks it skips.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Recipe(NamedTuple):
    arguments: dict[str, Any] = {}  # to every constructor call
    settings: tuple[dict[str, Any], ...] = ({},)  # each is tested like an estimator of its own
    data: Callable[[int, int, int], tuple] | None = None  # (rows, columns, seed) -> (X,) or (X, y)
    answers: tuple[str, ...] = ()  # attributes to compare where there is nothing to predict


def each(name, *values):
    """One setting for each value of one argument."""
    return tuple({name: value} for value in values)


RECIPES: dict[str, Recipe] = {
    "KMeans": Recipe(arguments={"n_init": 2}),
    "GaussianMixture": Recipe(settings=each("covariance_type", "full", "tied", "diag", "spherical")),
}
