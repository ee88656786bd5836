"""Kernels of distance, factors of outliers and mean rates of neighbors, each by its formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gnomon.core.errors import DataError
from gnomon.neighbors import LocalOutlierFactor, bayes_error_bounds, suggest_k
from gnomon.neighbors.kernel_weights import log_kernel, normalized

SQUARES = np.array([[0.0, 0.5, 2.0, 2.1]])


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        ("rbf", lambda u: np.exp(-(u**2))),
        ("tophat", lambda u: (u <= 1) * 1.0),
        ("epanechnikov", lambda u: np.maximum(1 - u**2, 0)),
        ("tricube", lambda u: np.maximum(1 - u**3, 0) ** 3),
        (lambda u: 1 - u / 2, lambda u: 1 - u / 2),
        (lambda u: 0.5 - u, lambda u: np.maximum(0.5 - u, 0)),
    ],
)
def test_kernels_of_scaled_distances(kernel, formula):
    gamma = 0.5
    u = np.sqrt(gamma * SQUARES)
    logs = log_kernel(SQUARES, gamma, kernel)
    assert_allclose(np.exp(logs), formula(u), atol=1e-15)
    assert_allclose(normalized(logs), formula(u) / formula(u).sum())


def test_rows_out_of_reach_have_no_weight():
    assert_array_equal(normalized(np.full((1, 3), -np.inf)), np.zeros((1, 3)))
    with pytest.raises(DataError, match="kernel='tricub' is not one of"):
        log_kernel(SQUARES, 1.0, "tricub")


def factors(X, Q, k, own):
    """The slow twin: reach, density, mean ratio of densities."""
    D = np.abs(X[:, None, 0] - X[None, :, 0])
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    reach = np.take_along_axis(D, near, axis=1)[:, -1]

    def density(E, rows):
        return 1 / np.maximum(np.take_along_axis(E, rows, axis=1), reach[rows]).mean(axis=1)

    each = density(D, near)
    if own:
        return -(each[near] / each[:, None]).mean(axis=1)
    E = np.abs(Q[:, None, 0] - X[None, :, 0])
    rows = np.argsort(E, axis=1, kind="stable")[:, :k]
    return -(each[rows] / density(E, rows)[:, None]).mean(axis=1)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_factors_of_outliers_by_a_slow_twin(k):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(12, 1)), rng.normal(size=(5, 1)) * 2
    model = LocalOutlierFactor(k, novelty=True).fit(X)
    assert_allclose(model.negative_outlier_factor_, factors(X, X, k, True), rtol=1e-6)
    assert_allclose(model.score_samples(Q), factors(X, Q, k, False), rtol=1e-6)
    assert model.offset_ == -1.5 and model.n_neighbors_ == k
    assert_allclose(model.decision_function(Q), model.score_samples(Q) + 1.5)
    assert_array_equal(model.predict(Q), np.where(model.score_samples(Q) < -1.5, -1, 1))


@pytest.mark.parametrize("share", [0.1, 0.25])
def test_a_share_of_the_rows_are_outliers(share):
    X = np.random.default_rng(1).normal(size=(40, 1))
    model = LocalOutlierFactor(3, contamination=share)
    found = model.fit_predict(X)
    assert model.offset_ == pytest.approx(np.percentile(model.negative_outlier_factor_, 100 * share))
    assert (found == -1).sum() == 40 * share


def test_neighbors_of_few_rows():
    with pytest.warns(
        UserWarning, match=r"n_neighbors \(4\) is greater than the total number of samples \(3\)"
    ):
        assert LocalOutlierFactor(4).fit([[0.0], [1.0], [3.0]]).n_neighbors_ == 2
    assert LocalOutlierFactor(3).fit([[0.0], [1.0], [3.0]]).n_neighbors_ == 2
    assert LocalOutlierFactor(1).fit([[0.0], [1.0]]).n_neighbors_ == 1
    with pytest.raises(ValueError, match="a row is not its own neighbor"):
        LocalOutlierFactor(1).fit([[0.0]])


def test_rules_of_thumb():
    assert [suggest_k(n) for n in (1, 2, 3, 4, 8, 9, 15, 16, 24, 25)] == [1, 1, 1, 1, 1, 3, 3, 3, 3, 5]
    with pytest.raises(DataError, match="n=0 must be at least 1"):
        suggest_k(0)
    for n_classes, risk in ((2, 0.1), (3, 0.25), (10, 0.9)):
        error = risk * (2 - n_classes / (n_classes - 1) * risk)
        assert_allclose(bayes_error_bounds(error, n_classes), [risk, error])
    assert_allclose(bayes_error_bounds(0.0), [0, 0])
    assert_allclose(bayes_error_bounds(1.0, 4), [0.75, 0.75])
    for wrong in ({"error": -0.1}, {"error": 1.1}, {"error": 0.1, "n_classes": 1}):
        with pytest.raises(DataError):
            bayes_error_bounds(**wrong)
