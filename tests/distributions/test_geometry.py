"""What is done with Gaussians of every covariance type, against scipy and the formulas of full matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gnomon.core.errors import DataError
from gnomon.distributions import Gaussian

MEANS = np.array([[1.0, -2.0], [0.5, 3.0]])
FULL = np.array([[[2.0, 0.8], [0.8, 1.0]], [[1.0, -0.4], [-0.4, 3.0]]])
KINDS = {
    "full": (FULL, FULL),
    "tied": (FULL[0], FULL[[0, 0]]),
    "diag": ([[2.0, 0.5], [1.0, 3.0]], [np.diag([2.0, 0.5]), np.diag([1.0, 3.0])]),
    "spherical": ([2.0, 0.5], [2 * np.eye(2), 0.5 * np.eye(2)]),
    "tied_spherical": (2.0, [2 * np.eye(2)] * 2),
}
POINTS = np.array([[0.0, 0.0], [1.5, -1.0], [0.5, 3.5]])


@pytest.fixture(params=KINDS)
def pair(request):
    given, matrices = KINDS[request.param]
    return Gaussian(MEANS, np.array(given), covariance_type=request.param), np.array(matrices)


def test_marginals_keep_their_columns(pair):
    two, C = pair
    for columns in ([0], [1], [1, 0]):
        part = two.marginal(columns)
        assert_allclose(part.means, MEANS[:, columns])
        assert_allclose(part.covariance_matrices(), C[:, columns][:, :, columns])


def test_conditionals_by_the_formula(pair):
    two, C = pair
    part = two.condition([1], 4.0)
    assert_allclose(part.means[:, 0], MEANS[:, 0] + C[:, 0, 1] / C[:, 1, 1] * (4 - MEANS[:, 1]))
    assert_allclose(part.covariance_matrices()[:, 0, 0], C[:, 0, 0] - C[:, 0, 1] ** 2 / C[:, 1, 1])
    with pytest.raises(DataError, match="at least one column must be left"):
        two.condition([0, 1], 0.0)


def test_linear_maps(pair):
    two, C = pair
    A = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    found = two.transform(A[:2], [5.0, -5.0])
    assert_allclose(found.means, MEANS @ A[:2].T + [5, -5])
    assert_allclose(found.covariance_matrices(), A[:2] @ C @ A[:2].T)
    assert_allclose(two.transform([[1.0, 1.0]]).means[:, 0], MEANS.sum(axis=1))


def test_whitened_rows_have_their_distances_as_lengths(pair):
    two, C = pair
    for k in range(2):
        Z = two.select(k).whiten(POINTS)
        gap = POINTS - MEANS[k]
        assert_allclose((Z**2).sum(axis=1), np.einsum("na,ab,nb->n", gap, np.linalg.inv(C[k]), gap))
    with pytest.raises(DataError, match="whiten needs a single distribution"):
        two.whiten(POINTS)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_ellipses_hold_their_share(pair, level):
    two, C = pair
    found = two.ellipse(level, n_points=9)
    assert found.shape == (2, 9, 2) and two.ellipse().shape == (2, 100, 2)
    for points, mean, matrix in zip(found, MEANS, C, strict=True):
        gap = points - mean
        squares = np.einsum("na,ab,nb->n", gap, np.linalg.inv(matrix), gap)
        assert_allclose(stats.chi2(2).cdf(squares), level)
        assert_allclose(points[0], points[-1])
        assert np.linalg.matrix_rank(gap) == 2
    with pytest.raises(DataError, match="ellipse needs two columns"):
        two.marginal([0]).ellipse()


def test_entropies_and_divergences(pair):
    two, C = pair
    entropies = [stats.multivariate_normal(m, c).entropy() for m, c in zip(MEANS, C, strict=True)]
    assert_allclose(two.entropy(), entropies)
    assert_allclose(two.entropy(2), np.array(entropies) / np.log(2))

    def kl(m, A, n, B):
        P, gap = np.linalg.inv(B), n - m
        return 0.5 * (np.trace(P @ A) + gap @ P @ gap - 2 + np.log(np.linalg.det(B) / np.linalg.det(A)))

    other = Gaussian(MEANS[::-1], FULL)
    by_pair = [kl(MEANS[k], C[k], MEANS[1 - k], FULL[k]) for k in range(2)]
    assert_allclose(two.kl(other), by_pair)
    assert_allclose(two.kl(other.select(0)), [kl(MEANS[k], C[k], MEANS[1], FULL[0]) for k in range(2)])
    assert_allclose(other.select(0).kl(two), [kl(MEANS[1], FULL[0], MEANS[k], C[k]) for k in range(2)])
    assert_allclose(two.kl(two), 0, atol=1e-12)


def test_quantiles_and_masses_below(pair):
    two, C = pair
    deviations = np.sqrt(np.diagonal(C, axis1=1, axis2=2))
    assert_allclose(two.quantile(0.9), stats.norm(MEANS, deviations).ppf(0.9))
    expected = [stats.multivariate_normal(m, c).cdf(POINTS) for m, c in zip(MEANS, C, strict=True)]
    assert_allclose(two.cdf(POINTS), np.transpose(expected), atol=1e-5)
    one = two.marginal([1])
    assert_allclose(one.cdf(POINTS[:, 1:]), stats.norm(MEANS[:, 1], deviations[:, 1]).cdf(POINTS[:, 1:]))
    assert_allclose(two.mode(), MEANS)
    assert_allclose(two.mean(), MEANS)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("full", [[[1.0, 0.5], [0.5, 1.5]]] * 2),
        ("tied", [[1.0, 0.5], [0.5, 1.5]]),
        ("diag", [[1.0, 1.5]] * 2),
        ("spherical", [1.25] * 2),
        ("tied_spherical", 1.25),
    ],
)
@pytest.mark.parametrize("ridge", [0.0, 0.25])
def test_covariances_of_every_type_by_hand(kind, expected, ridge):
    """Rows of covariance [[1, ½], [½, 3/2]] about both means, the second group of twice the weight."""
    L = np.linalg.cholesky([[1.0, 0.5], [0.5, 1.5]])
    rows = np.vstack([m + np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]) @ L.T for m in MEANS])
    weight = np.repeat([[1.0, 0.0], [0.0, 2.0]], 4, axis=0)
    family = Gaussian(covariance_type=kind, reg_covar=ridge)
    found = family.estimate(family.statistics(rows, weight))
    assert_allclose(found.means, MEANS)
    more = ridge * np.eye(2) if kind in ("full", "tied") else ridge
    assert_allclose(found.covariances, np.array(expected) + more, atol=1e-12)
