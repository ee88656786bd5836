"""The data are the published numbers, and the generators have the laws they promise."""

import numpy as np
import pytest

from gnomon import datasets
from gnomon.core.errors import DataError


def test_every_public_name_loads():
    assert datasets.__all__
    assert all(callable(getattr(datasets, name)) for name in datasets.__all__)


def test_old_faithful_sums():
    data = datasets.load_old_faithful().data
    assert data.shape == (272, 2)
    assert data.sum(axis=0) == pytest.approx([948.677, 19284])


def test_old_faithful_least_squares_line():
    x, y = datasets.load_old_faithful().data.T
    slope, intercept = np.polyfit(x, y, 1)
    assert slope == pytest.approx(10.729641395, rel=1e-9)
    assert intercept == pytest.approx(33.474397023, rel=1e-9)
    assert np.corrcoef(x, y)[0, 1] ** 2 == pytest.approx(0.8114607610, rel=1e-9)


def test_earthquakes_poisson_likelihood():
    from scipy.stats import poisson

    quakes = datasets.load_earthquakes()
    assert quakes.data.shape == (107, 1) and quakes.years[[0, -1]].tolist() == [1900, 2006]
    assert -poisson.logpmf(quakes.data, quakes.data.mean()).sum() == pytest.approx(391.9189282, abs=1e-7)


def test_loaders_hand_out_fresh_arrays():
    datasets.load_old_faithful().data[:] = 0
    assert datasets.load_old_faithful().data.all()


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: datasets.make_polynomial_curve(30, random_state=seed),
        lambda seed: datasets.make_sparse_regression(30, 8, 2, random_state=seed),
        lambda seed: list(datasets.make_table("omitted variable", 30, random_state=seed).values()),
        lambda seed: datasets.make_mixture([0.5, 0.5], [0.0, 5.0], 1.0, 30, random_state=seed),
        lambda seed: datasets.make_pattern("moons", 30, random_state=seed),
    ],
)
def test_same_seed_same_data(make):
    for one, two in zip(make(3), make(3)):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(make(3)[0], make(4)[0])


@pytest.mark.parametrize(
    ("kind", "spread"), [("gaussian", 1.0), ("laplace", np.sqrt(2)), ("student_t", np.sqrt(3))]
)
def test_noise_has_the_variance_of_its_law(kind, spread):
    X, y = datasets.make_polynomial_curve(200_000, [0.0, 1.0], noise=1.0, noise_kind=kind, random_state=0)
    assert np.std(y - X[:, 0]) == pytest.approx(spread, rel=0.03)


def test_sparse_regression_correlation_and_support():
    X, _, coef = datasets.make_sparse_regression(50_000, 12, 3, correlation=0.6, random_state=0)
    distance = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    np.testing.assert_allclose(np.corrcoef(X.T), 0.6**distance, atol=0.02)
    assert np.flatnonzero(coef).tolist() == [0, 4, 8]


def test_mixture_moments():
    full = np.array([[[2.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 4.0]]])
    X, labels = datasets.make_mixture([0.25, 0.75], [[0, 0], [5, -5]], full, 100_000, random_state=1)
    assert (labels == 1).mean() == pytest.approx(0.75, abs=0.01)
    for k in range(2):
        np.testing.assert_allclose(np.cov(X[labels == k].T), full[k], atol=0.08)


@pytest.mark.parametrize("covariances", [4.0, [4.0, 4.0], [[4.0, 4.0], [4.0, 4.0]]])
def test_mixture_takes_variances_in_every_form(covariances):
    X, labels = datasets.make_mixture([0.5, 0.5], [[0, 0], [9, 9]], covariances, 50_000, random_state=2)
    np.testing.assert_allclose(X[labels == 0].var(axis=0), 4.0, rtol=0.05)


@pytest.mark.parametrize("kind", ["xor", "quadrants", "rings", "spirals", "moons"])
def test_patterns_defeat_a_line_but_not_a_neighbor(kind):
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    X, y = datasets.make_pattern(kind, 600, noise=0.02, random_state=0)
    line = LogisticRegression().fit(X, y).score(X, y)
    near = KNeighborsClassifier(5).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert near > 0.93 and near > line + 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.make_pattern("xr"), "Did you mean 'xor'"),
        (lambda: datasets.make_polynomial_curve(noise_kind="gausian"), "Did you mean 'gaussian'"),
        (lambda: datasets.make_sparse_regression(5, 3, 4), "n_informative"),
        (lambda: datasets.make_sparse_regression(5, 3, 1, correlation=1.0), "correlation"),
        (lambda: datasets.make_table("omitted variable", 5, correlation=2.0), "correlation"),
        (lambda: datasets.make_table("far points", 3), "n_far"),
        (lambda: datasets.make_table("coin triples", 3, weight=2.0), "probabilities"),
        (lambda: datasets.make_mixture([0.5, 0.6], [0, 1], 1.0), "sum to one"),
        (lambda: datasets.make_mixture([0.5, 0.5], [0, 1], [1.0, 2.0, 3.0]), "covariances"),
        (lambda: datasets.make_mixture([1.0], [[0, 0]], [[[1.0, 2.0], [2.0, 1.0]]]), "positive definite"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
