"""Maximum entropy and projections: numbers of the course, duality, agreement of the solvers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from gnomon.bayes import maximum_entropy, project
from gnomon.core.errors import InfeasibleError
from gnomon.distributions import entropy, relative_entropy

DIE = np.arange(1.0, 7.0)


def test_loaded_die():
    fair = maximum_entropy(DIE, [3.5])
    np.testing.assert_allclose(fair.p, 1 / 6, rtol=1e-12)
    die = maximum_entropy(DIE, [4.2])
    assert die.weights[0] == pytest.approx(0.2490454657, abs=1e-9)
    assert np.exp(die.log_partition) * 6 == pytest.approx(15.6770656551, rel=1e-9)
    expected = [0.0818265601, 0.1049671404, 0.1346518850, 0.1727314858, 0.2215800114, 0.2842429173]
    np.testing.assert_allclose(die.p, expected, atol=1e-9)
    assert die.entropy == pytest.approx(1.7062079020, abs=1e-9)
    assert maximum_entropy(DIE, [4.5]).weights[0] == pytest.approx(0.3710489381, abs=1e-9)
    np.testing.assert_allclose(maximum_entropy(DIE, [2.8]).p, die.p[::-1], atol=1e-10)


def test_infeasible_and_boundary():
    with pytest.raises(InfeasibleError, match=r"the nearest that one has are \[6.0\]"):
        maximum_entropy(DIE, [6.5])
    edge = maximum_entropy(DIE, [6.0])
    np.testing.assert_allclose(edge.p, [0, 0, 0, 0, 0, 1], atol=1e-12)
    assert edge.on_boundary
    assert edge.weights[0] == np.inf


PRIOR = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
FEATURES = np.array([[0, 1], [1, 0], [2, 1], [3, 0], [4, 2]], dtype=float)
SAMPLE = np.array([0.2, 0.1, 0.1, 0.3, 0.3])


def test_duality_by_hand():
    b = SAMPLE @ FEATURES
    np.testing.assert_allclose(b, [2.4, 0.9], rtol=1e-12)
    found = maximum_entropy(FEATURES, b, prior=PRIOR)
    np.testing.assert_allclose(found.weights, [0.0910642928, 0.2978320558], atol=1e-9)
    np.testing.assert_allclose(found.p, [0.0864070, 0.1405338, 0.3110052, 0.2107601, 0.2512939], atol=1e-7)
    whole, rest = relative_entropy(SAMPLE, PRIOR), relative_entropy(SAMPLE, found.p)
    assert whole == pytest.approx(0.2220941104, abs=1e-9)
    assert rest == pytest.approx(0.1794244044, abs=1e-9)
    assert found.relative_entropy == pytest.approx(0.0426697060, abs=1e-9)
    assert whole == pytest.approx(rest + found.relative_entropy, abs=1e-12)


@given(st.lists(st.floats(0.05, 1), min_size=5, max_size=5), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_solvers_agree_and_nothing_feasible_has_more_entropy(shares, seed):
    p_hat = np.array(shares) / sum(shares)
    b = p_hat @ FEATURES
    newton = maximum_entropy(FEATURES, b)
    assert newton.residual < 1e-9
    assert (np.diff(newton.trace) >= -1e-12).all()
    assert newton.trace[-1] == pytest.approx(np.log(1) + newton.relative_entropy, abs=1e-9)
    scaled = maximum_entropy(FEATURES, b, solver="gis", tol=1e-9)
    np.testing.assert_allclose(scaled.p, newton.p, atol=1e-6)
    assert (np.diff(scaled.trace) >= -1e-12).all()
    np.testing.assert_allclose(maximum_entropy(FEATURES, b, solver="iis", tol=1e-9).p, newton.p, atol=1e-6)
    null = np.linalg.svd(np.vstack([FEATURES.T, np.ones(5)]))[2][3:]
    for step in np.random.default_rng(seed).normal(size=(10, len(null))) @ null * 0.02:
        other = newton.p + step
        if (other >= 0).all():
            assert entropy(other / other.sum()) <= newton.entropy + 1e-9


def test_redundant_features_are_reported():
    twice = np.column_stack([DIE, 2 * DIE])
    found = maximum_entropy(twice, [4.2, 8.4])
    assert found.rank == 1
    np.testing.assert_allclose(found.p, maximum_entropy(DIE, [4.2]).p, atol=1e-9)


def test_prior_zeros_stay_and_prior_mean_changes_nothing():
    prior = np.array([0.5, 0.0, 0.5, 0, 0, 0])
    found = maximum_entropy(DIE, [1.5], prior=prior)
    assert (found.p[[1, 3, 4, 5]] == 0).all()
    np.testing.assert_allclose(maximum_entropy(DIE, [2.0], prior=prior).weights, 0, atol=1e-9)


def test_projections_by_hand():
    np.testing.assert_allclose(project([5, 1, 0]), [5 / 6, 1 / 6, 0], rtol=1e-12)
    np.testing.assert_allclose(
        project([5, 1, 0], "hyperplane", "euclidean"), [10 / 3, -2 / 3, -5 / 3], rtol=1e-12
    )
    np.testing.assert_allclose(project([5, 1, 0], "simplex", "euclidean"), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(
        project([0.5, 0.6, -0.2], "hyperplane", "euclidean"), [8 / 15, 19 / 30, -1 / 6], rtol=1e-12
    )
    np.testing.assert_allclose(project([0.5, 0.6, -0.2], "simplex", "euclidean"), [0.45, 0.55, 0], atol=1e-12)


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.integers(0, 10**6))
def test_euclidean_projection_is_nearest(values, seed):
    p = project(values, divergence="euclidean")
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    for other in np.random.default_rng(seed).dirichlet(np.ones(len(values)), size=10):
        assert np.sum((p - values) ** 2) <= np.sum((other - values) ** 2) + 1e-9


def test_projection_errors():
    with pytest.raises(ValueError, match="not all zero"):
        project([0, 0])
    with pytest.raises(ValueError, match="not negative"):
        project([1, -1])
    for onto, divergence in [("ball", "euclidean"), ("simplex", "manhattan"), ("ball", "manhattan")]:
        with pytest.raises(ValueError, match="unknown projection"):
            project([0.5, 0.6], onto, divergence)


def test_a_loose_tolerance_is_met_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = maximum_entropy(DIE, [4.2], solver="gis", tol=1e-3)
    assert 1e-6 < abs(found.p @ DIE - 4.2) <= 5e-3
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2"):
        maximum_entropy(DIE, [5.5], solver="gis", max_iter=2)


@pytest.mark.parametrize("size", [1.0, 1e9])
def test_nearest_averages_are_a_projection_in_any_unit(size):
    """Of the points between (1, 0) and (0, 1) the first is the nearest to (2, 1)."""
    with pytest.raises(InfeasibleError) as told:
        maximum_entropy(size * np.eye(2), size * np.array([2.0, 1.0]))
    near = np.array(str(told.value).rsplit("[", 1)[1].split("]")[0].split(","), dtype=float)
    np.testing.assert_allclose(near, [size, 0.0], atol=1e-5 * size)
