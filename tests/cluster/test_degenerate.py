"""Data that leave a method no room: constant columns, copies of rows, as many clusters as rows, empty columns."""

import numpy as np
import pytest

from gnomon.cluster import (
    AgglomerativeClustering,
    KernelKMeans,
    KMeans,
    KMedians,
    KMedoids,
    MiniBatchKMeans,
    SoftKMeans,
    SpectralClustering,
)
from gnomon.core.errors import DegenerateError
from gnomon.mixture import BernoulliMixture, GaussianMixture, MultinomialMixture, PoissonMixture

METHODS = [
    KMeans,
    MiniBatchKMeans,
    KMedians,
    KMedoids,
    SoftKMeans,
    KernelKMeans,
    SpectralClustering,
    AgglomerativeClustering,
]
RNG = np.random.default_rng(0)
PAIRS = RNG.normal(size=(60, 2)) + 20 * (np.arange(60) % 2)[:, None]
CONSTANT = np.hstack([PAIRS, np.ones((60, 1))])


def assert_finite(model):
    arrays = [value for name, value in vars(model).items() if name.endswith("_")]
    for value in arrays:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all()


def seeded(method, k):
    known = "random_state" in method().get_params()
    return method(k, random_state=0) if known else method(k)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_column_changes_nothing(method):
    with_column, without = seeded(method, 2).fit(CONSTANT), seeded(method, 2).fit(PAIRS)
    assert_finite(with_column)
    same = with_column.labels_[:, None] == with_column.labels_
    np.testing.assert_array_equal(same, without.labels_[:, None] == without.labels_)
    assert same[0, 2] and not same[0, 1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore")
def test_copies_of_three_rows_in_six_clusters(method):
    X = np.repeat(PAIRS[:3], 2, axis=0)
    model = seeded(method, 6).fit(X)
    assert_finite(model)
    assert model.labels_.shape == (6,) and set(model.labels_) <= set(range(6))


@pytest.mark.parametrize("method", [KMeans, KMedians, KMedoids, KernelKMeans, AgglomerativeClustering])
def test_as_many_clusters_as_rows(method):
    model = seeded(method, 6).fit(PAIRS[:6])
    assert_finite(model)
    assert sorted(model.labels_) == list(range(6))


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_column_is_refused_by_name(method):
    holes = CONSTANT.copy()
    holes[:, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        seeded(method, 2).fit(holes)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_mixtures_of_a_constant_column(kind):
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(CONSTANT)
    assert_finite(model)
    assert np.isfinite(model.score(CONSTANT))
    if kind != "spherical":
        with pytest.raises(DegenerateError, match="reg_covar|Regularize"):
            GaussianMixture(2, covariance_type=kind, reg_covar=0, random_state=0).fit(CONSTANT)


@pytest.mark.parametrize(
    ("method", "X"),
    [
        (BernoulliMixture, (CONSTANT > 5).astype(float)),
        (PoissonMixture, np.abs(np.round(CONSTANT))),
        (MultinomialMixture, np.abs(np.round(CONSTANT))),
    ],
)
def test_counts_with_a_constant_column(method, X):
    model = method(2, random_state=0).fit(X)
    assert_finite(model)
    assert np.isfinite(model.score(X))


@pytest.mark.filterwarnings("ignore:Number of distinct")
def test_all_counts_zero():
    with pytest.warns(UserWarning, match="identical"):
        model = PoissonMixture(2, random_state=0).fit(np.zeros((10, 2)))
    assert_finite(model)
    assert model.score(np.zeros((10, 2))) == pytest.approx(0, abs=1e-6)
