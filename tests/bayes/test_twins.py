"""Maximum entropy step by step, borders of two normal classes, and counts of categories, against slow twins."""

import warnings

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, optimize, stats

from gnomon.bayes import LinearDiscriminantAnalysis, gaussian_rule_1d, maximum_entropy
from gnomon.bayes.categories import category_sums
from gnomon.bayes.classifier import class_priors
from gnomon.bayes.discriminant import rescaled_priors
from gnomon.core.errors import DataError, DegenerateError, InfeasibleError
from gnomon.core.rows import Chunk

DIE = np.arange(1.0, 7.0)
PRIOR = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
FEATURES = np.array([[0, 1], [1, 0], [2, 1], [3, 0], [4, 2]], dtype=float)
TARGET = np.array([2.4, 0.9])


def few_steps(steps, features, target, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return maximum_entropy(features, target, max_iter=steps, **options)


def dual(F, b, p0, mu):
    return mu @ b - np.log(p0 @ np.exp(F @ mu))


def tilted(F, p0, mu):
    p = p0 * np.exp(F @ mu)
    return p / p.sum()


def newton(F, b, p0, mu):
    p = tilted(F, p0, mu)
    centered = F - p @ F
    return mu + np.linalg.solve((centered.T * p) @ centered, b - p @ F)


def generalized(F, b, p0, mu):
    """With the feature that fills every row up to the same sum."""
    G, c = F - F.min(axis=0), b - F.min(axis=0)
    C = G.sum(axis=1).max()
    G, c = np.c_[G, C - G.sum(axis=1)], np.r_[c, C - c.sum()]
    p = tilted(F, p0, mu)
    step = np.log(c / (p @ G)) / C
    return mu + step[:-1] - step[-1]  # the last feature is C less the sum of the others


def improved(F, b, p0, mu):
    G, c, p = F - F.min(axis=0), b - F.min(axis=0), tilted(F, p0, mu)
    total = G.sum(axis=1)
    return mu + [
        optimize.brentq(lambda d, j=j: (p * G[:, j]) @ np.exp(d * total) - c[j], -5, 5, xtol=1e-14)
        for j in range(len(c))
    ]


@pytest.mark.parametrize("solver", [newton, generalized, improved], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("features", "target", "prior"),
    [
        (DIE, [4.2], None),
        (DIE, [2.8], None),
        (DIE, [5.5], None),
        (FEATURES, TARGET, PRIOR),
        (FEATURES + [3.0, -1.0], TARGET + [3, -1], PRIOR),
    ],
    ids=["die", "low die", "high die", "two features", "moved"],
)
def test_every_solver_goes_its_own_way(solver, features, target, prior):
    F = np.reshape(features, (len(features), -1))
    b, p0 = np.array(target), np.full(6, 1 / 6) if prior is None else prior
    name = {"newton": "newton", "generalized": "gis", "improved": "iis"}[solver.__name__]
    found = few_steps(3, features, target, prior=prior, solver=name)
    mu, values = np.zeros(F.shape[1]), []
    for _ in range(4):
        values.append(dual(F, b, p0, mu))
        mu = solver(F, b, p0, mu)
    n = 4 if name == "newton" else 3
    assert_allclose(found.trace[:n], values[:n], atol=1e-10)
    assert len(found.trace) == n


@pytest.mark.parametrize("solver", ["newton", "gis", "iis"])
def test_what_a_solution_says_of_itself(solver):
    found = maximum_entropy(FEATURES, TARGET, prior=PRIOR, solver=solver, tol=1e-10)
    assert_allclose(found.p @ FEATURES, TARGET, atol=1e-8)
    assert found.residual == pytest.approx(np.abs(found.p @ FEATURES - TARGET).max(), abs=1e-15)
    assert_allclose(found.p, tilted(FEATURES, PRIOR, found.weights), rtol=1e-8)
    assert found.log_partition == pytest.approx(np.log(PRIOR @ np.exp(FEATURES @ found.weights)), abs=1e-10)
    assert found.entropy == pytest.approx(-found.p @ np.log(found.p))
    assert found.relative_entropy == pytest.approx(found.p @ np.log(found.p / PRIOR))
    assert found.relative_entropy == pytest.approx(found.trace[-1], abs=1e-8)
    assert found.rank == 2 and not found.on_boundary and (np.diff(found.trace) > -1e-12).all()


def test_the_nearest_averages_that_some_distribution_has():
    square = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    for far, near in (
        ((2.0, 0.5), r"\[1.0, 0.5\]"),
        ((-1.0, -3.0), r"\[0.0, 0.0\]"),
        ((0.25, 7.0), r"\[0.25, 1.0\]"),
    ):
        with pytest.raises(InfeasibleError, match=rf"has the averages .* nearest that one has are {near}"):
            maximum_entropy(square, far)
    with pytest.raises(InfeasibleError):
        maximum_entropy(DIE, [3.5], prior=[1, 0, 0, 0, 0, 0])
    edge = maximum_entropy(square, (1.0, 0.25))
    assert_allclose(edge.p, [0, 0.75, 0, 0.25], atol=1e-9)
    assert edge.on_boundary and edge.weights[0] == np.inf and edge.weights[1] == pytest.approx(np.log(1 / 3))
    assert edge.rank == 1
    other = maximum_entropy(square, (0.0, 0.25))
    assert other.weights[0] == -np.inf and other.weights[1] == pytest.approx(np.log(1 / 3))
    held = maximum_entropy(DIE, [4.0], prior=[0, 0.2, 0.2, 0.2, 0.2, 0.2])
    assert not held.on_boundary and held.p[0] == 0 and np.isfinite(held.weights).all()


# two normal classes


@pytest.mark.parametrize(
    ("means", "variances", "priors"),
    [
        ([0, 1], [1, 1], (0.5, 0.5)),
        ([1, 0], [2, 2], (0.3, 0.7)),
        ([0, 1], [1, 4], (0.5, 0.5)),
        ([0, 1], [4, 1], (0.5, 0.5)),
        ([2, -1], [0.5, 3], (0.8, 0.2)),
        ([0, 0], [1, 9], (0.5, 0.5)),
        ([0, 0], [9, 1], (0.6, 0.4)),
        ([0, 0], [1, 1], (0.4, 0.6)),
        ([0, 0], [1, 1], (0.6, 0.4)),
        ([0, 0.1], [4, 1], (0.9, 0.1)),
        ([0, 0.1], [1, 1.1], (0.01, 0.99)),
        ([0, 1], [1, 1], (0.0, 1.0)),
        ([0, 1], [1, 2], (1.0, 0.0)),
    ],
)
def test_two_normal_classes_as_their_densities_say(means, variances, priors):
    regions, error = gaussian_rule_1d(means, variances, priors)
    one, other = (stats.norm(m, np.sqrt(v)) for m, v in zip(means, variances))
    x = np.linspace(-30, 30, 4001) + 1e-4
    first, second = priors[0] * one.pdf(x), priors[1] * other.pdf(x)
    inside = np.zeros(len(x), dtype=bool)
    for low, high in regions:
        assert low < high
        inside |= (x > low) & (x < high)
    clear = np.abs(first - second) > 1e-12 * (first + second) + 1e-300
    assert (inside[clear] == (second > first)[clear]).all()
    expected = integrate.quad(
        lambda t: min(priors[0] * one.pdf(t), priors[1] * other.pdf(t)), -40, 40, points=[*means], limit=500
    )[0]
    assert error == pytest.approx(expected, abs=1e-6)


def test_a_quadratic_that_only_touches_zero_is_nowhere_above():
    # equal means, and priors that make both densities equal at the mean alone
    regions, _ = gaussian_rule_1d([0, 0], [1, 4], (1 / 3, 2 / 3))
    assert len(regions) in (1, 2)  # touching from above: everywhere, but for a point
    assert gaussian_rule_1d([0, 0], [4, 1], (0.7, 0.3))[0] == []
    with pytest.raises(DegenerateError, match=r"must be positive; got \[1.0, 0.0\]"):
        gaussian_rule_1d([0, 1], [1, 0])


# counts of categories


def test_counts_of_categories_by_hand():
    X = np.array([[0.0, 2.0], [1.0, np.nan], [1.0, 0.0], [3.0, 2.0]])
    y, weight = np.array([0, 1, 1, 0]), np.array([1.0, 2.0, 4.0, 8.0])
    found = category_sums(Chunk(X, y, weight, 0), 2)
    assert (
        found.counts.shape == (2, 2, 4) and found.sizes.tolist() == [4, 3] and found.weight.tolist() == [9, 6]
    )
    assert found.counts[0].tolist() == [[1, 0, 0, 8], [0, 0, 9, 0]]
    assert found.counts[1].tolist() == [[0, 6, 0, 0], [4, 0, 0, 0]]
    halves = [category_sums(Chunk(X[cut], y[cut], weight[cut], 0), 2) for cut in (slice(0, 3), slice(3, 4))]
    for one, other in (halves, halves[::-1]):
        both = one.merge(other)
        assert both.counts.tolist() == found.counts.tolist() and both.sizes.tolist() == [4, 3]
        assert both.weight.tolist() == [9, 6] and both.n_features == 2
    none = category_sums(Chunk(np.full((2, 1), np.nan), np.zeros(2, dtype=int), np.ones(2), 0), 1)
    assert none.sizes.tolist() == [0] and none.counts.tolist() == [[[0]]]
    category_sums(Chunk(np.array([[1e6]]), np.zeros(1, dtype=int), np.ones(1), 0), 1)
    with pytest.raises(DataError, match="category code 1000001; recode"):
        category_sums(Chunk(np.array([[1e6 + 1]]), np.zeros(1, dtype=int), np.ones(1), 0), 1)
    with pytest.raises(DataError, match="Negative values"):
        category_sums(Chunk(np.array([[1.0], [-1.0]]), np.zeros(2, dtype=int), np.ones(2), 0), 1)


def test_a_table_with_holes_is_loaded_before_it_is_projected(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[:, 0] += 3 * y
    model = LinearDiscriminantAnalysis().fit(X, y)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).write_parquet(tmp_path / "whole.parquet")
    assert_allclose(model.transform(tmp_path / "whole.parquet"), model.transform(X), atol=1e-10)
    X[3, 1] = np.nan
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).write_parquet(tmp_path / "holes.parquet")
    assert np.isfinite(model.transform(X)).all()
    with pytest.raises(DataError, match="in memory to be projected"):
        model.transform(tmp_path / "holes.parquet")


@pytest.mark.parametrize("weighting", ["sample", "class"])
@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, 1.0])
def test_the_common_covariance_by_hand(weighting, kind, shrinkage):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)) @ [[1.0, 0.5], [0.0, 2.0]], np.repeat([0, 1], [10, 20])
    model = LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage=shrinkage, weighting=weighting, covariance_type=kind, store_covariance=True
    ).fit(X, y)
    own = [np.cov(X[y == k].T, bias=True) for k in (0, 1)]
    S = (own[0] + own[1]) / 2 if weighting == "class" else (10 * own[0] + 20 * own[1]) / 30
    if kind == "diag":
        S = np.diag(np.diagonal(S))
    elif kind == "spherical":
        S = np.trace(S) / 2 * np.eye(2)
    a = shrinkage or 0.0
    assert_allclose(model.covariance_, (1 - a) * S + a * np.trace(S) / 2 * np.eye(2), atol=1e-10)


def test_priors_by_hand():
    weight = np.array([1.0, 3.0])
    assert class_priors(weight).tolist() == [0.25, 0.75]
    assert (
        class_priors(weight, "uniform").tolist() == rescaled_priors(weight, "uniform").tolist() == [0.5, 0.5]
    )
    with pytest.raises(ValueError, match="'unifrm'"):
        class_priors(weight, "unifrm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rescaled_priors(weight, [0.1, 0.9]).tolist() == [0.1, 0.9]
        assert rescaled_priors(weight, None).tolist() == [0.25, 0.75]
    for given, total in (([1.0, 3.0], "4"), ([0.5, 1.5], "2"), ([0.1, 0.3], "0.4")):
        with pytest.warns(UserWarning, match=f"sum to {total}, not to 1"):
            assert_allclose(rescaled_priors(weight, given), [0.25, 0.75])
    with pytest.raises(DataError, match="non-negative"):
        rescaled_priors(weight, [-0.5, 1.5])
    with pytest.raises(DataError, match="must match number of classes"):
        class_priors(weight, [1.0])


def test_the_nearest_averages_of_small_and_of_large_features():
    for size in (1e-3, 1.0, 1e4):
        square = size * np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
        with pytest.raises(InfeasibleError) as told:
            maximum_entropy(square, (2.0 * size, 0.5 * size))
        near = [float(v) for v in str(told.value).rsplit("[", 1)[1].split("]")[0].split(",")]
        assert_allclose(near, [size, 0.5 * size], rtol=1e-3)
