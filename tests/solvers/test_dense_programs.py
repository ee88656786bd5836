"""Nearest points of hulls, margins as dense programs, quantile programs and rows of kernels: few rows, by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.kernels import RBF
from gnomon.solvers import margin_programs
from gnomon.solvers.hulls import nearest_points
from gnomon.solvers.kernel_rows import KernelRows, RowCache, expansion
from gnomon.solvers.margin_programs import hard_margin, hinge_program, multiclass_program, within_budget
from gnomon.solvers.optimality import free_intercept
from gnomon.solvers.quantile_program import (
    Program,
    Units,
    certificate,
    crossover,
    interior_start,
    interior_step,
    primal_value,
    row_space,
    scaled,
)

TWO = np.array([[-1.0], [1.0]])
SIDES = np.array([-1.0, 1.0])
ROWS = SIDES[:, None] * np.c_[TWO, np.ones(2)]


def hulls(X, sign, **options):
    return nearest_points(lambda r: X[r] @ X[r].T, lambda c: X @ (X.T @ c), sign, **options)


@pytest.mark.parametrize(
    ("cap", "weights", "distance"),
    [(1.0, [0.5, 0.5, 1, 0], 3), (0.75, [0.5, 0.5, 0.75, 0.25], 3.5), (0.5, [0.5] * 4, 4)],
)
def test_nearest_points_of_two_pairs(cap, weights, distance):
    X = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 1.0], [5.0, 1.0]])
    found = hulls(X, np.array([1.0, 1, -1, -1]), cap=cap)
    assert_allclose(found.weights, weights, atol=1e-7)
    assert found.distance == pytest.approx(distance)
    assert 0 <= found.gap < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_hulls_are_as_far_apart_as_the_widest_margin(seed):
    rng = np.random.default_rng(seed)
    X, sign = rng.normal(size=(120, 3)), np.repeat([1.0, -1.0], 60)
    X[:60, 0] += 8
    found = hulls(X, sign)
    w, b = hard_margin(X, sign)
    assert found.distance == pytest.approx(2 / np.linalg.norm(w), rel=1e-6)
    assert_allclose([found.weights[:60].sum(), found.weights[60:].sum()], 1)
    gap = (sign * found.weights) @ X
    assert_allclose(gap / np.linalg.norm(gap), w / np.linalg.norm(w), atol=1e-5)
    assert (sign * (X @ w + b) >= 1 - 1e-7).all()


def test_hulls_that_meet_have_no_distance():
    X = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
    found = hulls(X, np.array([1.0, 1, -1, -1]))
    assert found.distance == pytest.approx(0, abs=1e-9)
    assert_allclose(found.weights, 0.5, atol=1e-6)


# margins


@pytest.mark.parametrize("C", [0.1, 0.3, 5.0])
def test_two_rows_under_both_hinges(C):
    theta, alpha, value, gap = hinge_program(ROWS, np.array([1.0, 0.0]), np.full(2, C))
    w = min(1.0, 2 * C)  # the slope of ½w² + 2C(1 − w)
    assert_allclose(theta, [w, 0], atol=1e-6)
    assert_allclose(alpha, min(C, 0.5), atol=1e-6)
    assert value == pytest.approx(0.5 * w**2 + 2 * C * (1 - w), abs=1e-7)
    theta, alpha, value, _ = hinge_program(ROWS, np.array([1.0, 0.0]), np.full(2, C), "squared_hinge")
    w = 4 * C / (1 + 4 * C)
    assert_allclose(theta, [w, 0], atol=1e-6)
    assert_allclose(alpha, 2 * C * (1 - w), atol=1e-6)
    assert value == pytest.approx(0.5 * w**2 + 2 * C * (1 - w) ** 2, abs=1e-7)


def test_rows_of_infinite_cost_get_no_slack():
    X, s = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, 1.0, -1.0])
    A = s[:, None] * np.c_[X, np.ones(3)]
    theta, alpha, _, _ = hinge_program(A, np.array([1.0, 0.0]), np.array([np.inf, np.inf, 0.1]))
    assert_allclose(theta, [2, -1], atol=1e-5)
    assert alpha[2] == pytest.approx(0.1, abs=1e-6)
    assert_allclose(hard_margin(X[:2], s[:2])[0], [2], atol=1e-6)
    assert hard_margin(X[:2], s[:2])[1] == pytest.approx(-1, abs=1e-6)
    w, b = hard_margin(np.array([[1.0], [4.0]]), np.array([1.0, 1.0]), origin=True)
    assert_allclose([w[0], b], [1, 0], atol=1e-6)


def test_a_budget_of_slack_is_spent_and_never_below_the_least():
    theta, _, value, _ = within_budget(ROWS, np.array([1.0, 0.0]), 0.5)
    assert_allclose(theta, [0.75, 0], atol=1e-6)
    assert value == pytest.approx(0.5 * 0.75**2, abs=1e-6)
    mixed = np.array([1.0, -1, 1])[:, None] * np.c_[[0.0, 1, 2], np.ones(3)]
    with pytest.raises(InfeasibleError, match="smallest possible total slack, 2"):
        within_budget(mixed, np.array([1.0, 0.0]), 1.9)
    assert_allclose(within_budget(mixed, np.array([1.0, 0.0]), 2.0)[0][0], 0, atol=1e-4)


@pytest.mark.parametrize("kind", ["weston_watkins", "crammer_singer"])
@pytest.mark.parametrize(("C", "margin"), [(0.1, 1.0), (10.0, 1.0), (10.0, 2.0)])
@pytest.mark.parametrize("price", [0.0, 1.0])
def test_two_classes_as_many(kind, C, margin, price):
    table, value, gap = multiclass_program(
        TWO, np.array([0, 1]), np.full(2, C), K=2, kind=kind, intercept=True, price=price, margin=margin
    )
    v = min(0.5 * margin, 2 * C)  # the slope of v² + 2C(m − 2v)
    assert_allclose(table, [[-v, 0], [v, 0]], atol=1e-3)
    assert value == pytest.approx(v**2 + 2 * C * max(margin - 2 * v, 0), abs=1e-3)


@pytest.mark.parametrize("kind", ["weston_watkins", "crammer_singer"])
def test_free_intercepts_of_many_classes_are_told_apart_from_their_sum(kind, monkeypatch):
    """A constant added to all of them would change nothing, and rounding could carry it anywhere."""
    asked, solve = [], margin_programs.quadratic_program

    def noted(Q, c, G, h):
        asked.append((Q, G, solve(Q, c, G, h)))
        return asked[-1][2]

    monkeypatch.setattr(margin_programs, "quadratic_program", noted)
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 2, 1, 2])
    multiclass_program(X, y, np.ones(6), K=3, kind=kind, intercept=True, price=0.0)
    Q, G, found = asked[0]
    assert np.linalg.matrix_rank(Q + G.T @ G) == len(Q)
    assert found.x[1:6:2].sum() == pytest.approx(0.0, abs=1e-8)


def test_slack_of_every_wrong_class_or_one_a_row():
    X, y = np.zeros((1, 1)), np.array([0])  # three classes, a row that no weight can move
    options = dict(K=3, intercept=False, price=0.0)
    assert multiclass_program(X, y, np.array([2.0]), kind="weston_watkins", **options)[1] == pytest.approx(
        4, abs=1e-6
    )
    assert multiclass_program(X, y, np.array([2.0]), kind="crammer_singer", **options)[1] == pytest.approx(
        2, abs=1e-6
    )
    with pytest.raises(DataError, match="at most 3000"):
        multiclass_program(
            np.zeros((1000, 1)),
            np.zeros(1000, int),
            np.ones(1000),
            kind="weston_watkins",
            K=5,
            intercept=True,
            price=0.0,
        )


def test_free_intercepts_by_hand():
    y, base, none = np.array([1.0, 1, -1, -1]), np.array([0.4, 2.0, -0.6, -3.0]), np.zeros(4, dtype=bool)
    free = np.array([True, False, True, False])  # both on the margin: b = ½(0.6 − 0.4)
    b, interval = free_intercept(y, base, ~free, none, 9.0)
    assert b == pytest.approx(0.1) and interval == (b, b)
    b, interval = free_intercept(y, base, ~none, none, 9.0)  # all outside: 1 − base ≤ b ≤ −1 − base
    assert_allclose([b, *interval], [0.1, 0.6, -0.4])
    b, interval = free_intercept(y, base, none, ~none, 9.0)  # all inside the margin: −1 − base ≤ b ≤ 1 − base
    assert_allclose([b, *interval], [0.5, 2.0, -1.0])
    b, interval = free_intercept(y[:2], base[:2], ~none[:2], none[:2], 9.0)
    assert b == 9.0 and interval == (0.6, np.inf)


# quantiles


def solved(A, y, tau, weight=None):
    s = np.ones(len(y)) if weight is None else weight
    program = Program(A, y, (1 - tau) * s, s, len(y), Units(None, None, 0.0, 1.0, np.eye(A.shape[1])))
    state = interior_start(program)
    for _ in range(40):
        state = interior_step(state)
    return program, state


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("tau", "expected"), [(0.5, 3), (0.1, 1), (0.7, 4), (0.9, 100)])
def test_quantiles_of_five_numbers(form, tau, expected):
    y = np.array([3.0, 1, 100, 2, 4])
    program, state = solved(form(np.ones((5, 1))), y, tau)
    assert_allclose(crossover(state), [expected])
    r = y - expected
    assert primal_value(program, np.array([expected])) == pytest.approx(
        np.where(r > 0, tau * r, (tau - 1) * r).sum()
    )
    gap, doubt = certificate(state, crossover(state))
    assert gap < 1e-6 and doubt < 1e-6
    worse, _ = certificate(state, np.array([expected + 1.0]))
    loss = (
        np.where(r > 1, tau * (r - 1), (tau - 1) * (r - 1)).sum()
        - np.where(r > 0, tau * r, (tau - 1) * r).sum()
    )
    assert worse == pytest.approx(loss, abs=1e-5)


def test_weights_of_a_quantile_are_repetitions():
    y, weight = np.array([3.0, 1, 100, 2, 4]), np.array([1.0, 1, 3, 1, 1])
    assert_allclose(crossover(solved(np.ones((5, 1)), y, 0.6, weight)[1]), [100])


def test_a_line_through_two_of_the_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=41)
    A, y = np.c_[x, np.ones(41)], 2 * x + rng.normal(size=41)
    program, state = solved(A, y, 0.3)
    beta = crossover(state)
    best = min(
        primal_value(program, np.linalg.solve(A[[i, j]], y[[i, j]])) for i in range(41) for j in range(i)
    )
    assert primal_value(program, beta) == pytest.approx(best, rel=1e-12)
    assert (np.abs(y - A @ beta) < 1e-10).sum() == 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [True, False])
def test_scaled_rows_say_the_same_in_other_units(form, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 3)) * [1e-3, 1.0, 1e5] + [0, 10.0, 0]
    X[:, 1] = np.where(rng.random(9) < 0.5, X[:, 1], 7.0)
    y, s = 50 + 1e3 * rng.normal(size=9), rng.uniform(0.5, 2, 9)
    Z, target, units = scaled(form(X), y, s, intercept=intercept)
    Z = Z.toarray() if sparse.issparse(Z) else Z
    assert_allclose(np.abs(Z).max(axis=0), 1)
    assert np.abs(target).max() == pytest.approx(1)
    assert units.center == pytest.approx(s @ y / s.sum() if intercept else 0)
    if intercept and form is np.asarray:
        assert_allclose(s @ Z, 0, atol=1e-9)
    beta = rng.normal(size=3 + intercept)
    coef, b = units._replace(basis=np.eye(3 + intercept)).coefficients(beta)
    said = (Z @ beta[:3] + (beta[3] if intercept else 0)) * units.size + units.center
    assert_allclose(X @ coef + b, said)


def test_dependent_columns_leave_a_basis_of_the_rows():
    A = np.random.default_rng(0).normal(size=(8, 2)) @ np.array([[1.0, 2, 3], [0, 1, -1]])
    basis = row_space(A)
    assert basis.shape == (3, 2)
    assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    assert_allclose(A @ basis @ basis.T, A, atol=1e-12)
    assert_allclose(row_space(np.eye(3)), np.eye(3))
    assert row_space(np.zeros((4, 2))).shape == (2, 0)


# rows of kernels

X = np.random.default_rng(0).normal(size=(700, 3))
WIDTH = np.sqrt(1.25)  # exp(−0.4 r²)
K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    ("megabytes", "single", "kept"),
    [(100, True, 8), (2, True, 4), (0.1, True, 0), (0.1, False, 0), (2, False, 0)],
)
def test_kept_or_computed_rows_are_those_of_the_kernel(megabytes, single, kept):
    rows = KernelRows(RBF(WIDTH), X, megabytes=megabytes, single=single)
    assert (0 if rows.full is None else rows.full.dtype.itemsize) == kept
    some, others = np.array([5, 699, 2]), np.array([0, 5, 6, 7])
    tol = dict(atol=1e-12) if kept in (0, 8) else dict(atol=1e-6)
    assert_allclose(rows.diagonal, 1, atol=1e-6)
    assert_allclose(rows.block(some, others), K[np.ix_(some, others)], atol=1e-12)
    assert_allclose(rows.block(some, some), K[np.ix_(some, some)], atol=1e-12)
    coef = np.zeros(700)
    coef[[1, 300, 650]] = [1.0, -2.0, 0.5]
    assert_allclose(rows.scores(coef), K @ coef, **tol)
    assert_allclose(rows.scores(coef, some), K[some] @ coef, **tol)
    assert rows.scores(np.zeros(700), some).tolist() == [0, 0, 0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_an_expansion_in_blocks_is_the_whole_product(form):
    many = np.random.default_rng(1).normal(size=(2100, 3))
    coef = np.random.default_rng(2).normal(size=(2100, 2))
    expected = np.exp(-0.4 * ((X[:, None] - many) ** 2).sum(axis=2)) @ coef
    assert_allclose(expansion(RBF(WIDTH), form(X), form(many), coef), expected, atol=1e-9)


@pytest.mark.parametrize(("megabytes", "single"), [(100, True), (0.1, True), (0.1, False)])
@pytest.mark.parametrize("ridge", [None, 0.5])
@pytest.mark.parametrize("columns", [np.arange(700), np.arange(699, 20, -1)], ids=["all", "some"])
def test_a_cache_of_rows_forgets_and_computes_again(megabytes, single, ridge, columns):
    source = KernelRows(RBF(WIDTH), X, megabytes=megabytes, single=single)
    n = len(columns)
    extra = None if ridge is None else np.full(n, ridge)
    cache = RowCache(source, columns, extra)
    whole = K[np.ix_(columns, columns)] + (0 if ridge is None else ridge * np.eye(n))
    assert_allclose(cache.diagonal, np.diagonal(whole), atol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(6):
        wanted = rng.choice(n, 300, replace=False)
        assert_allclose(cache.rows[cache.places(wanted)], whole[wanted], atol=2e-6)
    keep = np.sort(rng.choice(n, 650, replace=False))
    small = cache.narrowed(keep)
    wanted = np.arange(0, 650, 2)
    assert_allclose(small.rows[small.places(wanted)], whole[np.ix_(keep, keep)][wanted], atol=2e-6)
