"""Gaussian tools: conditioning, transforms, gradients, covariance types, missing entries."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from gnomon.core.errors import DegenerateError
from gnomon.core.sums import merge
from gnomon.distributions import Gaussian, NormalInverseWishart
from gnomon.distributions.base import Family

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 4))
MODEL = Gaussian(RNG.standard_normal(4), A @ A.T + np.eye(4))


def test_condition_then_marginal_is_marginal_then_condition():
    one = MODEL.condition([1], [0.7]).marginal([0, 2])  # columns 0, 2, 3 are left: take 0 and 3
    two = MODEL.marginal([0, 1, 3]).condition([1], [0.7])
    assert_allclose(one.means, two.means, rtol=1e-12)
    assert_allclose(one.covariances, two.covariances, rtol=1e-12)


def test_conditional_covariance_does_not_depend_on_the_value():
    assert_allclose(MODEL.condition([2], [0]).covariances, MODEL.condition([2], [9]).covariances)


def test_joint_is_marginal_times_conditional():
    x = RNG.standard_normal(4)
    whole = MODEL.log_density(x)
    parts = MODEL.marginal([0, 1]).log_density(x[:2]) + MODEL.condition([0, 1], x[:2]).log_density(x[2:])
    assert_allclose(whole, parts, rtol=1e-12)


def test_transforms_compose():
    B, C = RNG.standard_normal((3, 4)), RNG.standard_normal((2, 3))
    assert_allclose(
        MODEL.transform(B).transform(C).covariances, MODEL.transform(C @ B).covariances, rtol=1e-10
    )
    assert_allclose(MODEL.transform(B, 1.0).means, MODEL.means @ B.T + 1)


def test_whitened_rows_have_unit_covariance():
    X = MODEL.sample(500, 1)
    fitted = Gaussian().fit(X)
    Z = fitted.whiten(X)
    assert_allclose(Z.T @ Z / 500, np.eye(4), atol=1e-10)
    assert_allclose((Z**2).sum(axis=1), fitted.mahalanobis(X)[:, 0], rtol=1e-12)


def test_gradients_by_finite_differences_and_zero_at_the_fit():
    X = MODEL.sample(30, 2)
    by_mean, by_covariance = MODEL.log_likelihood_gradient(X)
    h = 1e-6
    for j in range(4):
        e = h * np.eye(4)[j]
        up, down = MODEL.replace(means=MODEL.means + e), MODEL.replace(means=MODEL.means - e)
        assert_allclose(
            (up.log_likelihood(X) - down.log_likelihood(X))[0] / (2 * h), by_mean[0, j], rtol=1e-5
        )
        E = np.outer(np.eye(4)[j], np.eye(4)[j]) * h
        up, down = (MODEL.replace(covariances=MODEL.covariances + s * E) for s in (1, -1))
        slope = (up.log_likelihood(X) - down.log_likelihood(X))[0] / (2 * h)
        assert_allclose(slope, by_covariance[0, j, j], rtol=1e-4, atol=1e-6)
    for gradient in Gaussian().fit(X).log_likelihood_gradient(X):
        assert_allclose(gradient, 0, atol=1e-8)


def test_spherical_variance_is_the_mean_of_the_diagonal():
    X = MODEL.sample(50, 3)
    full = Gaussian().fit(X).covariances[0]
    assert_allclose(
        Gaussian(covariance_type="spherical").fit(X).covariances, [np.trace(full) / 4], rtol=1e-12
    )
    assert_allclose(Gaussian(covariance_type="diag").fit(X).covariances[0], np.diag(full), rtol=1e-12)


def test_tied_covariance_pools_the_classes():
    X, labels = MODEL.sample(60, 4), RNG.integers(0, 3, 60)
    tied = Gaussian(covariance_type="tied").fit(X, np.eye(3)[labels])
    each = Gaussian().fit(X, np.eye(3)[labels])
    pooled = (each.covariances * np.bincount(labels)[:, None, None]).sum(axis=0) / 60
    assert_allclose(tied.covariances, pooled, rtol=1e-12)
    assert_allclose(tied.means, each.means)


def test_parameter_counts():
    means, eye = np.zeros((3, 4)), np.eye(4)
    counts = {
        "full": Gaussian(means, eye).parameter_count(),
        "tied": Gaussian(means, eye, covariance_type="tied").parameter_count(),
        "diag": Gaussian(means, np.ones(4), covariance_type="diag").parameter_count(),
        "spherical": Gaussian(means, [1.0], covariance_type="spherical").parameter_count(),
    }
    assert counts == {"full": 42, "tied": 22, "diag": 24, "spherical": 15}


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_far_from_the_origin_no_digits_are_lost(offset):
    X = RNG.standard_normal((300, 3)) + offset
    fitted = Gaussian().fit(X)
    assert_allclose(fitted.covariances[0], np.cov(X.T, bias=True), rtol=1e-7)
    near = Gaussian(fitted.means - offset, fitted.covariances)
    assert_allclose(fitted.log_density(X), near.log_density(X - offset), atol=1e-6)


def test_separated_components_take_the_careful_route():
    means = np.array([[0.0, 0.0], [1e6, 0.0]])
    far = Gaussian(means, np.eye(2))
    assert far._form is None
    X = means[[0, 1, 1]] + [[0.1, 0.2], [0.3, -0.1], [0, 0]]
    exact = np.stack([stats.multivariate_normal(m, np.eye(2)).logpdf(X) for m in means], axis=1)
    assert_allclose(far.log_density(X), exact, rtol=1e-14)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "identity"])
@pytest.mark.parametrize(("hard", "labeled"), [(False, False), (False, True), (True, True)])
def test_fused_expectation_equals_the_plain_one(kind, hard, labeled):
    X = np.vstack([MODEL.sample(700, 1), MODEL.sample(600, 2) + 1])
    family = Gaussian(covariance_type=kind).fit(X, np.random.default_rng(0).dirichlet(np.ones(3), len(X)))
    weight, log_weights = RNG.uniform(0, 2, len(X)), np.log([0.2, 0.5, 0.3])
    labels = np.where(np.arange(len(X)) % 7 == 0, 1, -1) if labeled else None
    fused = family.expect(X, log_weights, weight, labels=labels, hard=hard)
    plain = Family.expect(family, X, log_weights, weight, labels=labels, hard=hard)
    assert_allclose(fused.log_likelihood, plain.log_likelihood, rtol=1e-12)
    assert_allclose(fused.mass, plain.mass, rtol=1e-10)
    for a, b in zip(
        family.estimate(fused.statistics).parameters.values(),
        family.estimate(plain.statistics).parameters.values(),
    ):
        if a is not None:
            assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def slow_completed_moments(model, X, weights):
    """One row at a time, by the textbook formulas."""
    d = X.shape[1]
    out = []
    for k in range(model.n_components):
        mean, C = model.means[k], model.covariance_matrices()[k]
        filled, extra = np.array(X), np.zeros((d, d))
        for i, row in enumerate(X):
            m, o = np.isnan(row), ~np.isnan(row)
            gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
            filled[i, m] = mean[m] + gain @ (row[o] - mean[o])
            extra[np.ix_(m, m)] += weights[i, k] * (C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)])
        average = weights[:, k] @ filled / weights[:, k].sum()
        Z = filled - average
        out.append((average, (Z * weights[:, [k]]).T @ Z + extra))
    return out


def test_missing_entries_are_completed_by_the_conditional():
    X = MODEL.sample(80, 5)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    X[0] = np.nan
    model = Gaussian(
        np.vstack([MODEL.means, MODEL.means + 1]), np.stack([MODEL.covariances[0], np.eye(4) * 2])
    )
    weights = np.random.default_rng(2).dirichlet([1, 1], 80)
    found = model.statistics(X, weights)
    for k, (mean, scatter) in enumerate(slow_completed_moments(model, X, weights)):
        assert_allclose(found.mean[k], mean, rtol=1e-10)
        assert_allclose(found.scatter[k], scatter, rtol=1e-9, atol=1e-9)
    merged = merge(model.statistics(X[:30], weights[:30]), model.statistics(X[30:], weights[30:]))
    assert_allclose(merged.scatter, found.scatter, rtol=1e-9)


def test_posterior_mode_under_normal_inverse_wishart():
    X = MODEL.sample(20, 6)
    prior = NormalInverseWishart(np.zeros(4), 2.0, 7.0, 3 * np.eye(4))
    fitted = Gaussian().fit(X, prior=prior)
    after = prior.posterior(Gaussian().statistics(X))
    assert_allclose(fitted.means, after.mode()[0], rtol=1e-12)
    assert_allclose(fitted.covariances, after.mode()[1], rtol=1e-12)

    def value(model):
        return (model.log_likelihood(X) + prior.log_density(model.means, model.covariances))[0]

    best = value(fitted)
    rng = np.random.default_rng(3)
    for _ in range(20):
        noise = 1e-2 * rng.standard_normal((4, 4))
        moved = Gaussian(
            fitted.means + 1e-2 * rng.standard_normal(4),
            fitted.covariances + noise @ noise.T - 1e-4 * np.eye(4),
        )
        assert value(moved) < best


def test_inverse_wishart_alone_divides_by_the_textbook_number():
    X = MODEL.sample(20, 6)
    S = 2 * np.eye(4)
    fitted = Gaussian().fit(X, prior=NormalInverseWishart(np.zeros(4), 0.0, 6.0, S))
    ml = Gaussian().fit(X).covariances[0]
    assert_allclose(fitted.covariances[0], (S + 20 * ml) / (6 + 20 + 4 + 1), rtol=1e-12)


def test_predictive_of_normal_inverse_wishart_multiplies_to_the_evidence():
    from gnomon.distributions import Conjugate

    X = MODEL.sample(6, 7)
    belief = Conjugate(Gaussian(), NormalInverseWishart(np.zeros(4), 1.0, 6.0, np.eye(4)))
    chain, total = belief, 0.0
    for row in X:
        total += chain.predictive().log_density(row).item()
        chain = chain.update(row[None])
    assert_allclose(belief.log_evidence(X), total, rtol=1e-10)


def test_constant_column_is_stored_and_reported():
    fitted = Gaussian().fit([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0]])
    assert fitted.rank.item() == 1


def test_ellipse_points_lie_on_the_contour():
    two = MODEL.marginal([0, 1])
    points = two.ellipse(0.9)[0]
    assert_allclose(two.mahalanobis(points), stats.chi2(2).ppf(0.9), rtol=1e-10)


def test_vector_exponential_agrees_with_the_plain_loop_also_at_infinity():
    from gnomon.loops import densities as loops

    rng = np.random.default_rng(0)
    joint = rng.normal(scale=50, size=(4, 300))
    joint[0, ::3] = -np.inf
    joint[:, 7] = [-800.0, 0.0, -709.5, -1e300]
    weight = rng.uniform(0, 2, 300)
    rows, columns = np.ascontiguousarray(joint.T), joint.copy()
    bits, bad = np.empty(300, dtype=np.int64), np.zeros(1, dtype=np.intp)
    plain = loops.soften(rows, weight, bad)
    fast = loops.soften_columns(
        columns, weight, np.empty(300), np.empty(300), bits, bits.view(np.float64), bad
    )
    assert bad[0] == 0
    assert_allclose(fast, plain, rtol=1e-14)
    assert_allclose(columns.T, rows, rtol=1e-13, atol=1e-300)
    assert np.all(columns[0, ::3] == 0)
    joint[:, 5] = -np.inf
    loops.soften_columns(joint, weight, np.empty(300), np.empty(300), bits, bits.view(np.float64), bad)
    assert bad[0] == 6
    assert np.all(np.isfinite(joint))


def test_impossible_and_huge_rows_are_errors_not_nan():
    with pytest.raises(DegenerateError, match="impossible"):
        MODEL.expect(np.zeros((3, 4)), np.array([-np.inf]), np.ones(3))


@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("n", [1, 128, 301])
def test_the_one_pass_e_step_of_diagonals_is_the_plain_one(n, d):
    rng = np.random.default_rng(n + d)
    X, weight = rng.normal(size=(n, d)), rng.uniform(0, 2, n)
    model = Gaussian(rng.normal(size=(3, d)), rng.uniform(0.5, 2, (3, d)), covariance_type="diag")
    log_weights = np.array([np.log(0.4), -np.inf, np.log(0.6)])
    joint = stats.norm(model.means, np.sqrt(model.covariances)).logpdf(X[:, None, :]).sum(-1) + log_weights
    each = special.logsumexp(joint, axis=1)
    r = np.exp(joint - each[:, None]) * weight[:, None]
    found = model.expect(X, log_weights, weight)
    mean = r.T @ X / np.maximum(r.sum(axis=0), 1e-300)[:, None]
    scatter = np.einsum("ik,ikj->kj", r, (X[:, None, :] - mean) ** 2)
    assert_allclose(found.log_likelihood, weight @ each, rtol=1e-12)
    assert_allclose(found.mass, r.sum(axis=0), rtol=1e-11)
    alive = [0, 2]
    assert_allclose(found.statistics.mean[alive], mean[alive], rtol=1e-10, atol=1e-12)
    assert_allclose(found.statistics.scatter[alive], scatter[alive], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [48, 67, 101])
def test_wide_stacks_have_scipys_densities(d):
    rng = np.random.default_rng(d)
    means, root = rng.normal(size=(3, d)), rng.normal(size=(3, d, d)) / d + np.eye(d)
    covariances = root @ root.transpose(0, 2, 1)
    X = rng.normal(size=(300, d)) * 2
    expected = [stats.multivariate_normal(m, c).logpdf(X) for m, c in zip(means, covariances, strict=True)]
    assert_allclose(Gaussian(means, covariances).log_density(X), np.transpose(expected), rtol=1e-11)
