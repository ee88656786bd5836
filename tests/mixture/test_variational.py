"""Variational Gaussian mixtures: the bound, the prior's defaults, parity of the updates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.mixture import BayesianGaussianMixture as Peer

from gnomon.distributions import Conjugate, Gaussian, NormalInverseWishart
from gnomon.mixture import BayesianGaussianMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
X = np.vstack([RNG.standard_normal((60, 2)), RNG.standard_normal((80, 2)) @ [[1, 0.5], [0, 0.7]] + 6])
KINDS = ["full", "tied", "diag", "spherical"]
SORTS = ["dirichlet_process", "dirichlet_distribution"]


@pytest.mark.parametrize("sort", SORTS)
def test_bound_never_falls(sort):
    model = BayesianGaussianMixture(
        n_components=5, weight_concentration_prior_type=sort, reg_covar=0, tol=0, max_iter=80, random_state=0
    ).fit(X)
    trace = model.trace_.objective
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[1:]))


def test_single_steps_of_a_warm_start_converge_where_one_fit_does():
    options = dict(n_components=3, random_state=0)
    whole = BayesianGaussianMixture(**options, max_iter=200).fit(X)
    model = BayesianGaussianMixture(**options, max_iter=1, warm_start=True)
    bounds = [model.fit(X).lower_bound_ for _ in range(whole.n_iter_)]
    assert whole.converged_ and model.converged_
    assert np.all(np.diff(bounds) >= 0)
    assert_allclose(bounds[-1], whole.lower_bound_, rtol=1e-9)


def test_bound_of_one_component_is_the_evidence():
    model = BayesianGaussianMixture(
        n_components=1,
        weight_concentration_prior_type="dirichlet_distribution",
        mean_precision_prior=2.0,
        mean_prior=[0.0, 0.0],
        degrees_of_freedom_prior=5.0,
        covariance_prior=np.eye(2),
        reg_covar=0,
        tol=0,
        max_iter=5,
    ).fit(X)
    exact = Conjugate(Gaussian(), NormalInverseWishart([0, 0], 2.0, 5.0, np.eye(2))).log_evidence(X)
    assert_allclose(model.trace_[-1], exact, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sort", SORTS)
def test_same_solution_as_scikit_learn(kind, sort):
    options = dict(n_components=2, covariance_type=kind, weight_concentration_prior_type=sort, random_state=0)
    ours = BayesianGaussianMixture(tol=1e-12, max_iter=2000, **options).fit(X)
    theirs = Peer(tol=1e-12, max_iter=2000, **options).fit(X)
    a, b = np.argsort(ours.means_[:, 0]), np.argsort(theirs.means_[:, 0])
    if sort == "dirichlet_process" and not np.array_equal(a, b):
        pytest.skip("sticks are broken in another order")
    for name in ("weights_", "means_", "mean_precision_", "precisions_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        if kind == "tied" and name == "precisions_":
            assert_allclose(mine, other, rtol=1e-4)
        else:
            assert_allclose(mine[a], other[b], rtol=1e-4)
    assert_allclose(ours.predict_proba(X)[:, a], theirs.predict_proba(X)[:, b], atol=1e-4)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-4)


def test_surplus_components_are_left_empty():
    model = BayesianGaussianMixture(
        n_components=6, weight_concentration_prior=1e-3, n_init=5, random_state=0, max_iter=1000, tol=1e-6
    ).fit(X)
    assert (model.weights_ > 0.02).sum() == 2


def test_missing_entries():
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.2] = np.nan
    model = BayesianGaussianMixture(n_components=2, random_state=0).fit(holes)
    assert np.mean(model.predict(holes) == model.predict(X)) > 0.9
    assert np.all(np.isfinite(model.impute(holes)))


def test_sticks_are_a_pair_of_arrays_and_a_dirichlet_is_one():
    options = dict(n_components=2, tol=1e-12, max_iter=2000, random_state=0)
    sticks = BayesianGaussianMixture(**options).fit(X).weight_concentration_
    assert isinstance(sticks, tuple) and [len(part) for part in sticks] == [2, 2]
    one, after = sticks
    assert_allclose(one.sum(), 2 + len(X))  # a one for each stick, and every row in one of them
    assert_allclose(after, [0.5 + one[1] - 1, 0.5])  # a half, and the rows of later sticks
    options["weight_concentration_prior_type"] = "dirichlet_distribution"
    alone = BayesianGaussianMixture(**options).fit(X).weight_concentration_
    assert isinstance(alone, np.ndarray) and alone.shape == (2,)
    assert_allclose(alone.sum(), 2 * 0.5 + len(X))


def test_a_fit_stops_when_the_bound_per_row_moves_by_less_than_the_tolerance():
    model = BayesianGaussianMixture(n_components=3, tol=1e-4, max_iter=500, random_state=0).fit(X)
    moved = np.abs(np.diff(model.trace_.objective)) / len(X)
    assert model.converged_ and len(moved) > 1
    assert np.all(moved[:-1] >= 1e-4) and moved[-1] < 1e-4
