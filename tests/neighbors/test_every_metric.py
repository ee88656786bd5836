"""Every class of neighbors takes every name of a metric: the same answers as from a table of distances."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon import neighbors

RNG = np.random.default_rng(0)
ROWS, NEW = RNG.random((30, 2)) + 0.1, RNG.random((8, 2)) + 0.1
COVARIANCE = np.array([[0.3, 0.1], [0.1, 0.2]])


def mixed(a, b):
    return np.sqrt((a - b) @ np.linalg.inv(COVARIANCE) @ (a - b))


def great_circle(a, b):
    x, y = (
        np.array([np.cos(p[0]) * np.cos(p[1]), np.cos(p[0]) * np.sin(p[1]), np.sin(p[0])]) for p in (a, b)
    )
    return np.arccos(min(1.0, x @ y))


def correlation(a, b):
    return 1 - np.corrcoef(a, b)[0, 1]


NUMBERS = {  # name: (formula, other arguments)
    "euclidean": (lambda a, b: np.sqrt(((a - b) ** 2).sum()), {}),
    "l2": (lambda a, b: np.sqrt(((a - b) ** 2).sum()), {}),
    "sqeuclidean": (lambda a, b: ((a - b) ** 2).sum(), {}),
    "l1": (lambda a, b: np.abs(a - b).sum(), {}),
    "cityblock": (lambda a, b: np.abs(a - b).sum(), {}),
    "manhattan": (lambda a, b: np.abs(a - b).sum(), {}),
    "linf": (lambda a, b: np.abs(a - b).max(), {}),
    "chebyshev": (lambda a, b: np.abs(a - b).max(), {}),
    "minkowski": (lambda a, b: (np.abs(a - b) ** 3).sum() ** (1 / 3), {"p": 3}),
    "cosine": (lambda a, b: 1 - a @ b / np.sqrt((a @ a) * (b @ b)), {}),
    "correlation": (correlation, {}),
    "braycurtis": (lambda a, b: np.abs(a - b).sum() / (a + b).sum(), {}),
    "canberra": (lambda a, b: (np.abs(a - b) / (a + b)).sum(), {}),
    "nan_euclidean": (lambda a, b: np.sqrt(((a - b) ** 2).sum()), {}),
    "mahalanobis": (mixed, {"metric_params": {"V": COVARIANCE}}),
    "seuclidean": (
        lambda a, b: np.sqrt(((a - b) ** 2 / [2.0, 0.5]).sum()),
        {"metric_params": {"V": [2.0, 0.5]}},
    ),
    "haversine": (great_circle, {}),
}


def shares(f):
    """A formula of how many columns are both set, one alone, none."""
    return lambda a, b: f((a * b).sum(), (a != b).sum(), ((1 - a) * (1 - b)).sum(), a, b)


def yule(a, b):
    ten, one = (a * (1 - b)).sum(), ((1 - a) * b).sum()
    return 2 * ten * one / ((a * b).sum() * ((1 - a) * (1 - b)).sum() + ten * one) if ten * one else 0.0


CODES = {
    "hamming": lambda a, b: (a != b).mean(),
    "hamming_count": lambda a, b: (a != b).sum(),
    "matching": lambda a, b: (a != b).mean(),
    "jaccard": shares(lambda both, one, none, a, b: one / (both + one)),
    "dice": shares(lambda both, one, none, a, b: one / (2 * both + one)),
    "rogerstanimoto": shares(lambda both, one, none, a, b: 2 * one / (both + none + 2 * one)),
    "russellrao": shares(lambda both, one, none, a, b: 1 - both / (both + one + none)),
    "sokalsneath": shares(lambda both, one, none, a, b: 2 * one / (both + 2 * one)),
    "yule": yule,
}
BITS = RNG.random((30, 9)) < 0.5
BITS[:, 0] = True
QUERIES = RNG.random((8, 9)) < 0.5
QUERIES[:, 0] = True
WORDS = ["".join(RNG.choice(list("ab"), size=RNG.integers(1, 6))) for _ in range(30)]
ASKED = ["".join(RNG.choice(list("ab"), size=RNG.integers(1, 6))) for _ in range(8)]
LABELS, VALUES = np.arange(30) % 3, RNG.normal(size=30)
MODELS = [
    (neighbors.NearestNeighbors, {"n_neighbors": 4}),
    (neighbors.KNeighborsClassifier, {"n_neighbors": 4, "weights": "distance"}),
    (neighbors.KNeighborsRegressor, {"n_neighbors": 4, "weights": "distance"}),
    (neighbors.RadiusNeighborsClassifier, {"weights": "distance", "outlier_label": 0}),
    (neighbors.RadiusNeighborsRegressor, {"weights": "distance"}),
    (neighbors.LocalOutlierFactor, {"n_neighbors": 4, "novelty": True}),
]
IDS = [model.__name__ for model, _ in MODELS]


def edits(a, b):
    """The least number of letters inserted, left out or changed."""
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i, j in product(range(1, len(a) + 1), range(1, len(b) + 1)):
        change = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, change)
    return table[-1, -1]


def distances(f, A, B):
    return np.array([[f(a, b) for b in B] for a in A], dtype=float)


def told(cls, options, rows, new, **more):
    model = cls(**options, **more)
    target = {"Classifier": (LABELS,), "Regressor": (VALUES,)}
    model.fit(rows, *next((t for end, t in target.items() if cls.__name__.endswith(end)), ()))
    if cls is neighbors.NearestNeighbors:
        return model.kneighbors(new)[0]
    for name in ("predict_proba", "decision_function", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(new)


def same_as_a_table(cls, options, f, rows, new, **more):
    D, Q = distances(f, rows, rows), distances(f, new, rows)
    np.fill_diagonal(D, 0.0)
    if cls.__name__.startswith("Radius"):
        values = np.unique(Q)
        options = {**options, "radius": values[len(values) // 2 : len(values) // 2 + 2].mean()}
        while (Q <= options["radius"]).sum(axis=1).min() == 0:
            options["radius"] += (values[-1] - values[0]) / 10
    found = told(cls, options, rows, new, **more)
    expected = told(cls, options, D, Q, metric="precomputed")
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(("cls", "options"), MODELS, ids=IDS)
def test_metrics_of_numbers(cls, options, name):
    f, more = NUMBERS[name]
    rows, new = ROWS, NEW
    if name == "correlation":  # of two columns it is 0 or 2
        rows, new = RNG_FIVE[:30], RNG_FIVE[30:]
    same_as_a_table(cls, options, f, rows, new, metric=name, **more)


RNG_FIVE = np.random.default_rng(5).random((38, 5))


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize(("cls", "options"), MODELS, ids=IDS)
def test_metrics_of_columns_that_are_set_or_not(cls, options, name):
    same_as_a_table(cls, options, CODES[name], BITS, QUERIES, metric=name)


@pytest.mark.parametrize("name", ["edit", "levenshtein"])
@pytest.mark.parametrize(("cls", "options"), MODELS, ids=IDS)
def test_metrics_of_words(cls, options, name):
    rows, new = (np.array(words, dtype=object)[:, None] for words in (WORDS, ASKED))
    D = distances(edits, WORDS, WORDS), distances(edits, ASKED, WORDS)
    if cls.__name__.startswith("Radius"):
        options = {**options, "radius": 3.0}
    assert_allclose(
        told(cls, options, rows, new, metric=name), told(cls, options, *D, metric="precomputed"), atol=1e-12
    )


@pytest.mark.parametrize("algorithm", ["auto", "ball_tree", "brute", "kd_tree", "vp_tree"])
@pytest.mark.parametrize(("cls", "options"), MODELS, ids=IDS)
def test_ways_of_searching_find_the_same(cls, options, algorithm):
    for leaf_size, n_jobs in ((1, 1), (40, 2)):
        same_as_a_table(
            cls,
            options,
            NUMBERS["minkowski"][0],
            ROWS,
            NEW,
            p=3,
            algorithm=algorithm,
            leaf_size=leaf_size,
            n_jobs=n_jobs,
        )


@pytest.mark.parametrize(("cls", "options"), MODELS, ids=IDS)
def test_columns_have_weights(cls, options):
    w = np.array([3.0, 0.5])
    same_as_a_table(
        cls, options, lambda a, b: (w * np.abs(a - b)).sum(), ROWS, NEW, p=1, metric_params={"w": w}
    )


METRICS_OF_BALLS = [
    name
    for name in {**NUMBERS, **CODES}
    if name not in ("mahalanobis", "seuclidean", "minkowski", "correlation")
]


@pytest.mark.parametrize("name", METRICS_OF_BALLS)
def test_balls_by_every_metric(name):
    f = NUMBERS[name][0] if name in NUMBERS else CODES[name]
    rows, new = (ROWS, NEW) if name in NUMBERS else (BITS, QUERIES)
    y = LABELS > 0
    D = distances(f, new, rows[y])
    epsilon = np.median(D.min(axis=1)) + 1e-9
    expected = D.min(axis=1) <= epsilon
    model = neighbors.EpsilonBallClassifier(epsilon, metric=name).fit(rows, y)
    np.testing.assert_array_equal(model.predict(new).astype(bool), expected)


WEIGHTS = {  # of a distance in units of the reach
    "rbf": lambda u: np.exp(-(u**2)),
    "epanechnikov": lambda u: np.maximum(0.0, 1 - u**2),
    "tricube": lambda u: np.maximum(0.0, 1 - u**3) ** 3,
    "tophat": lambda u: 1.0 * (u <= 1),
}


@pytest.mark.parametrize(
    "name",
    [
        "chebyshev",
        "cosine",
        "correlation",
        "hamming",
        "hamming_count",
        "l1",
        "l2",
        "linf",
        "manhattan",
        "minkowski",
        "sqeuclidean",
    ],
)
@pytest.mark.parametrize("kernel", WEIGHTS)
def test_soft_votes_by_every_metric(name, kernel):
    f = NUMBERS["euclidean" if name == "minkowski" else name][0] if name in NUMBERS else CODES[name]
    rows, new = RNG_FIVE[:30], RNG_FIVE[30:]
    rows[0] = new[0]  # a metric that counts equal entries finds one
    y = np.r_[0, LABELS[1:]]
    weight = WEIGHTS[kernel](np.sqrt(1.7) * distances(f, new, rows))
    votes = np.stack([weight[:, k == y].sum(axis=1) for k in range(3)], axis=1)
    votes[votes.sum(axis=1) == 0] = np.bincount(y)  # nobody near: the shares of the classes
    model = neighbors.SoftNeighborsClassifier(1.7, kernel=kernel, metric=name, n_jobs=2).fit(rows, y)
    assert_allclose(model.predict_proba(new), votes / votes.sum(axis=1, keepdims=True), rtol=1e-7)
