"""Small tables that a lesson fits on one page: counts, words, a diagnostic test."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import nearest
from gnomon.datasets.classification import TOYS
from gnomon.datasets.lessons import LESSONS
from gnomon.datasets.sequence import PHONEMES, TREEBANK

_TABLES: dict[str, dict[str, Any]] = {
    "bmi": {
        "counts": [[2, 5, 4, 2, 1], [0, 0, 3, 3, 2]],
        "axes": ["hypothesis", "class"],
        "levels": [["h1", "h2"], [1, 2, 3, 4, 5]],
    },
    "weather": {
        "probabilities": [[0.24, 0.01], [0.25, 0.50]],
        "axes": ["rain", "sky"],
        "levels": [["rain", "dry"], ["cloudy", "clear"]],
    },
    "spam_words": {
        "words": ["george", "you", "your", "hp", "free", "work", "!", "our", "re", "click", "remove"],
        "counts": [[0, 4, 1, 0, 4, 0, 5, 5, 1, 3, 2], [1, 3, 4, 1, 1, 4, 0, 1, 1, 0, 0]],
        "classes": ["spam", "email"],
    },
    "pets": {
        "words": ["dog", "cat", "tulip", "rose"],
        "document": "dog dog cat dog cat tulip",
        "probabilities": [[0.5, 0.4, 0.05, 0.05], [0.1, 0.1, 0.5, 0.3]],
        "classes": ["pets", "flowers"],
    },
    "model orders": {
        "names": [*(f"HMM {k}" for k in range(1, 7)), *(f"mixture {k}" for k in range(2, 5))],
        "neg_log_likelihood": [
            391.9189,
            342.3183,
            329.4603,
            327.8316,
            325.9000,
            324.2270,
            360.3690,
            356.8489,
            356.7337,
        ],
        "n_parameters": [1, 4, 9, 16, 25, 36, 3, 5, 7],
        "n_samples": 107,
    },
    "concepts": {"table": [[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0]]},
    "test_kit": {"sensitivity": 0.98, "specificity": 0.97, "prevalence": 0.01},
}

_TABLES |= LESSONS | TOYS
_TABLES["phonemes"] = {"words": list(PHONEMES), "sounds": list(PHONEMES.values())}
_TABLES["treebank"] = TREEBANK
_NAMES = {
    "axes",
    "levels",
    "words",
    "classes",
    "names",
    "kinds",
    "sentences",
    "tags",
    "sounds",
}  # lists that stay lists


def load_lesson(name: str) -> Bunch:
    """Return a small table of the courses by name.

    Parameters
    ----------
    name : str
        Tables: "bmi", "weather", "spam_words", "pets", "test_kit", "dice or roulette", "coin hypotheses", "coin flips",
        "split", "class scores", "concepts", "model orders", "survey". Points: "boosting a", "boosting b",
        "discriminant", "linkage", "components", "iris ratios". Matrices and games: "ratings", "rank one",
        "games", "graph", "baskets", "films" (`ratings` of eight films by seven viewers of three
        tastes, with holes, and the `genres` and `features` of the films).
        Problems of the perceptron, with `data` and `target`: the gates "not" (its rows begin with a constant 1), "and",
        "or", "xor", "and3"; "three points", "three points, one far", "five points"; and "circle", which a circle
        separates, but no line through the origin.
        Chains: "casino", "tagging", "two states" (for networks see `load_network`). Decisions: "two-state
        process", "six-state process". Arguments of `make_mixture`: "heights", "lengths", "clusters", "four clusters",
        "two classes", "three classes". Language: "phonemes" (English digits and their `sounds`), "treebank"
        (`sentences` and the `tags` of their words: N(oun), V(erb), D(eterminer), A(djective)).

    Returns
    -------
    Bunch
        A dictionary of arrays, names and numbers whose keys are attributes too; `counts` and `probabilities` are
        arrays.

    Examples
    --------
    >>> from gnomon.bayes import JointTable, base_rate
    >>> lesson = load_lesson("bmi")
    >>> JointTable.from_counts(lesson["counts"]).prior().round(4)
    array([0.6364, 0.3636])
    >>> round(base_rate(**load_lesson("test_kit")).given_positive, 4)
    0.2481
    """
    if name in _MADE:
        return _MADE[name]()
    if name not in _TABLES:
        names = [*_TABLES, *_MADE]
        raise ValueError(f"no lesson {name!r}; there are {', '.join(names)}.{nearest(name, names)}")
    lesson = deepcopy(_TABLES[name])
    for key, value in lesson.items():
        if isinstance(value, list) and key not in _NAMES:
            lesson[key] = np.array(value)
    return Bunch(**lesson)


def _iris_ratios() -> Bunch:
    from sklearn.datasets import load_iris

    iris = load_iris()
    ratios = np.column_stack([iris.data[:, 0] / iris.data[:, 1], iris.data[:, 2] / iris.data[:, 3]])
    names = ["sepal length/width", "petal length/width"]
    return Bunch(data=ratios, target=iris.target, names=names)


def _films() -> Bunch:
    from gnomon.datasets.ratings import films

    return films()


_MADE = {"iris ratios": _iris_ratios, "films": _films}  # lessons that are computed
