"""The first likelihood of a Gaussian mixture tells its start: what is given is kept, the rest is worked out."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from gnomon.core.errors import DataError
from gnomon.core.rows import Chunk
from gnomon.mixture import GaussianMixture, PoissonMixture
from gnomon.mixture.aspect import shares
from gnomon.mixture.incomplete import filled_sums

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
X[10:] += 60.0  # clusters of 10 and 30 rows, far apart
PARTS = X[:10], X[10:]
MEANS = np.array([[0.5, -0.2], [59.0, 61.0]])
COVARIANCES = np.array([[[2.0, 0.9], [0.9, 1.5]], [[1.0, -0.6], [-0.6, 3.0]]])
WEIGHTS = np.array([0.4, 0.6])


def start(**given):
    """Log-likelihood of the rows under the start."""
    model = GaussianMixture(2, max_iter=1, tol=0, random_state=0, **{"reg_covar": 0.0, **given})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one step is not enough
        return model.fit(X).trace_.objective[0]


def likelihood(weights, means, covariances):
    densities = [multivariate_normal(m, C).logpdf(X) for m, C in zip(means, covariances, strict=True)]
    return logsumexp(np.log(weights)[:, None] + densities, axis=0).sum()


def test_all_that_is_given_is_the_start():
    precisions = np.linalg.inv(COVARIANCES)
    found = start(weights_init=WEIGHTS, means_init=MEANS, precisions_init=precisions)
    assert_allclose(found, likelihood(WEIGHTS, MEANS, COVARIANCES))


@pytest.mark.parametrize("missing", ["weights_init", "precisions_init", "both"])
def test_what_is_not_given_comes_from_the_clusters(missing):
    given = {"weights_init": WEIGHTS, "precisions_init": np.linalg.inv(COVARIANCES)}
    for name in list(given):
        if missing in (name, "both"):
            given.pop(name)
    weights = given.get("weights_init", np.array([0.25, 0.75]))
    spread = COVARIANCES if "precisions_init" in given else [np.cov(part.T, bias=True) for part in PARTS]
    assert_allclose(start(means_init=MEANS, **given), likelihood(weights, MEANS, spread), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "precisions", "covariances"),
    [
        ("tied", np.linalg.inv(COVARIANCES[0]), COVARIANCES[[0, 0]]),
        ("diag", [[0.5, 2.0], [4.0, 1.0]], [np.diag([2.0, 0.5]), np.diag([0.25, 1.0])]),
        ("spherical", [0.5, 4.0], [2 * np.eye(2), 0.25 * np.eye(2)]),
        ("tied_spherical", 0.5, [2 * np.eye(2)] * 2),
        ("fixed", np.linalg.inv(COVARIANCES[0]), COVARIANCES[[0, 0]]),
        ("fixed", np.linalg.inv(COVARIANCES), COVARIANCES),
    ],
)
def test_precisions_of_every_kind(kind, precisions, covariances):
    given = {"weights_init": WEIGHTS, "means_init": MEANS, "covariance_type": kind}
    assert_allclose(start(precisions_init=precisions, **given), likelihood(WEIGHTS, MEANS, covariances))


def test_overall_starts_share_the_covariance_of_all_rows():
    found = start(init_params="overall", means_init=MEANS)
    assert_allclose(found, likelihood([0.5, 0.5], MEANS, [np.cov(X.T, bias=True)] * 2), rtol=1e-9)
    tied = start(init_params="overall", means_init=MEANS, covariance_type="tied")
    assert_allclose(tied, found, rtol=1e-9)
    mean = np.cov(X.T, bias=True).trace() / 2 * np.eye(2)
    sphere = start(init_params="overall", means_init=MEANS, covariance_type="spherical")
    assert_allclose(sphere, likelihood([0.5, 0.5], MEANS, [mean] * 2), rtol=1e-9)


@pytest.mark.parametrize("kind", ["diag", "spherical", "tied_spherical"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_precisions_are_positive(kind, value):
    shapes = {
        "diag": [[1.0, 1.0], [1.0, value]],
        "spherical": [1.0, value],
        "tied_spherical": np.array(value),
    }
    with pytest.raises(DataError, match=f"'{kind} precision' should be positive"):
        start(precisions_init=shapes[kind], covariance_type=kind)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"means_init": MEANS[:1]}, r"means_init must have shape \(2, 2\); got \(1, 2\)"),
        ({"precisions_init": np.eye(2)}, r"shape \(2, 2, 2\) for covariance_type='full'; got \(2, 2\)"),
        ({"weights_init": [1.0]}, r"weights_init must have shape \(2,\); got \(1,\)"),
        ({"weights_init": [0.5, 0.6]}, "they sum to 1.1"),
        ({"weights_init": [-0.5, 1.5]}, "must be probabilities"),
        ({"covariance_type": "fixed"}, "needs precisions_init"),
    ],
)
def test_starts_of_the_wrong_shape_are_refused(given, told):
    with pytest.raises(DataError, match=told):
        start(**given)


def test_components_without_rows_are_named():
    counts = np.array([[0.0], [1.0], [2.0], [1.0]])
    model = PoissonMixture(
        3, parameters_init=[[1.0], [1e5], [2.0]], weights_init=[0.4, 0.2, 0.4], max_iter=20
    )
    with pytest.warns(UserWarning, match=r"components \[1\] lost all rows"):
        model.fit(counts)
    assert model.weights_[1] == 0


def test_empty_rows_are_shared_evenly():
    table = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    assert_allclose(shares(table), [[0.25, 0.75, 0], [1 / 3, 1 / 3, 1 / 3]])


def test_holes_are_filled_by_noise_in_proportion_to_the_spread():
    rows = np.array([[1.0, np.nan, np.nan]])
    center = np.array([[5.0, 6.0, 7.0]])

    def filled(spread):
        chunk = Chunk(rows, None, np.ones(1), 0)
        return filled_sums(chunk, center, np.array(spread), 3).mean[0]

    once, twice = filled([1.0, 1.0, 0.5]), filled([1.0, 2.0, 1.5])
    assert once[0] == twice[0] == 1.0
    assert abs(once[1] - 6) > 1e-3 and abs(once[2] - 7) > 1e-3
    assert_allclose(twice[1:] - center[0, 1:], (once[1:] - center[0, 1:]) * [2, 3])
    assert_allclose(filled([0.0, 0.0, 0.0]), [1, 6, 7])
