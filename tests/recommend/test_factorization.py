"""Factorizations: the numbers of the lesson, exact half-steps, what solvers must agree on."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.threads import threads
from gnomon.datasets import make_ratings
from gnomon.recommend import (
    BayesianMatrixFactorization,
    GreedyFactorization,
    HybridFactorization,
    MatrixFactorization,
    NuclearNormCompletion,
    RatingMatrix,
)
from recommend.data import R56, Y23, Y53, low_rank, n

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
START = np.array([[2.0], [7.0], [8.0]])


def objective(Y, U, V, lam):
    rest = (Y - U @ V.T)[~np.isnan(Y)]
    return 0.5 * (rest @ rest) + 0.5 * lam * ((U**2).sum() + (V**2).sum())


# oracles


def test_one_sweep_of_the_lesson():
    model = MatrixFactorization(1, regularization=1.0, init=START, iterations=1).fit(Y23)
    np.testing.assert_allclose(model.user_factors_.ravel(), [66 / 69, 16 / 54])
    np.testing.assert_allclose(
        model.item_factors_.ravel(), [2.5359967786, 0.5447667087, 3.4965449161], rtol=1e-9
    )
    np.testing.assert_allclose(model.half_steps_, [[64.0644122383, 21.6940826747]], rtol=1e-10)


def test_the_limit_of_the_lesson():
    model = MatrixFactorization(1, regularization=1.0, init=START, iterations=2000, tol=0.0).fit(Y23)
    assert model.objective_ == pytest.approx(9.6777001058, rel=1e-10)
    np.testing.assert_allclose(np.abs(model.user_factors_.ravel()), [2.7820813385, 0.7976421504], rtol=1e-7)
    np.testing.assert_allclose(
        np.abs(model.item_factors_.ravel()), [1.5686561533, 0.9749737969, 2.2282175707], rtol=1e-7
    )
    want = [[4.3641290106, 2.7124564060, 6.1990825215], [1.2512262673, 0.7776801960, 1.7773202546]]
    np.testing.assert_allclose(model.predict_matrix(), want, rtol=1e-7)
    assert objective(Y23, np.zeros((2, 1)), np.zeros((3, 1)), 1.0) == 39.5


def test_fold_in_of_the_lesson():
    model = MatrixFactorization(1, regularization=1.0, init=START, iterations=2000, tol=0.0).fit(Y23)
    assert model.fold_in({0: 4, 2: 6})[0] == pytest.approx(2.3314478346, rel=1e-7)
    np.testing.assert_allclose(
        model.predict_new({0: 4, 2: 6}), [3.6572399919, 2.2731005476, 5.1949730303], rtol=1e-7
    )
    assert model.fold_in([(0, 4), (2, 6), ("unknown", 9)])[0] == pytest.approx(2.3314478346, rel=1e-7)


def test_users_half_step_of_the_larger_table():
    U, V = np.array([[6.0], [2], [3], [3], [5]]), np.array([[4.0], [1], [5]])
    rest = (Y53 - U @ V.T)[~np.isnan(Y53)]
    assert rest @ rest == 1444 and objective(Y53, U, V, 1.0) == 784.5
    step = next(
        m for i, m in enumerate(MatrixFactorization(1, regularization=1.0, init=V).iterate(Y53)) if i == 1
    )
    # U of the first half, read off the exactly solved items
    want = np.array([55 / 42, 1, 7 / 9, 16 / 17, 11 / 9])
    assert step.half_steps_[0, 0] == pytest.approx(objective(Y53, want[:, None], V, 1.0))
    np.testing.assert_allclose(step.user_factors_.ravel(), want)


@pytest.mark.parametrize("k, J", [(1, 27.8457881958), (2, 14.9755680076), (3, 13.3082099748)])
def test_best_of_restarts(k, J):
    model = MatrixFactorization(
        k, regularization=0.5, iterations=3000, tol=1e-13, n_init=5, random_state=0
    ).fit(R56)
    assert model.objective_ == pytest.approx(J, rel=1e-10) == model.runs_.min()
    assert len(model.runs_) == 5
    if k == 2:
        np.testing.assert_allclose(model.predict([(0, 4), (4, 2)]), [1.5391656559, 2.6635658977], rtol=1e-5)


def test_full_matrix_is_the_shrunken_svd():
    model = MatrixFactorization(1, regularization=1.0, iterations=500, tol=1e-15, random_state=0)
    model.fit(np.array([[4.0, 0], [3, -5]]))
    want = 1.683772234 * np.array([[1, -1], [2, -2]])
    np.testing.assert_allclose(model.predict_matrix(), want, rtol=1e-7)
    assert model.objective_ == pytest.approx(10.8245553203, rel=1e-10)


def test_pmf_one_by_one():
    model = MatrixFactorization(
        1, noise_variance=0.5, prior_precision=1.0, iterations=500, tol=1e-15, random_state=0
    ).fit([[4.0]])
    assert model.predict([(0, 0)])[0] == pytest.approx(3.5)


def test_rank_of_small_tables():
    outer = np.outer([1, 2, 6], [5, 7])
    np.testing.assert_array_equal(outer, np.outer([0.5, 1, 3], [10, 14]))
    fit = MatrixFactorization(1, regularization=0.0, iterations=200, tol=1e-15, random_state=0)
    assert fit.fit(outer.astype(float)).objective_ < 1e-12
    assert fit.fit(np.array([[-1.0, 1], [1, -1]])).objective_ < 1e-12
    assert fit.fit(np.array([[1.0, 1], [1, -1]])).objective_ > 0.1


def test_one_sgd_step_by_hand():
    init = (np.array([[0.1, 0.2]]), np.array([[0.3, -0.1]]))
    R = RatingMatrix(["a", "a"], ["x", "y"], [4.0, 2.0])  # mean 3
    options = dict(solver="sgd", biases=True, regularization=0.02, learning_rate=0.1, batch="sequential")
    start = (init[0], np.vstack([init[1], [[0.0, 0.0]]]))
    from gnomon.loops.factors import sgd_epoch

    U, V, bu, bi = init[0].copy(), start[1].copy(), np.zeros(1), np.zeros(2)
    lam = np.full(2, 0.02)
    sgd_epoch(
        np.array([0]), np.array([0]), np.array([0]), np.array([4.0]), 3.0, 0.1, lam, lam, True, bu, bi, U, V
    )
    np.testing.assert_allclose([bu[0], bi[0]], 0.099)
    np.testing.assert_allclose(U[0], [0.1295, 0.1897], atol=5e-5)
    np.testing.assert_allclose(V[0], [0.3093, -0.08], atol=5e-5)
    model = MatrixFactorization(2, init=start, iterations=1, **options).fit(R)
    assert model.item_bias_[0] == pytest.approx(0.099)


def test_gradients_start_near_zero_on_both_sides():
    start = next(iter(MatrixFactorization(20, solver="sgd", random_state=0).iterate(low_rank(40, 30))))
    for factors in (start.user_factors_, start.item_factors_):
        assert abs(factors.std() - 0.1) < 0.02 and abs(factors).max() < 0.6


def test_degrees_of_freedom():
    assert MatrixFactorization(1).fit(Y23).n_parameters_ == 4
    assert MatrixFactorization(3).fit(R56[:, :3]).n_parameters_ == 15  # all of a 5 by 3 matrix
    assert MatrixFactorization(1, solver="cd", biases=True).fit(Y23).n_parameters_ == 4 + 2 + 3
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    columns = [np.outer(np.eye(5)[a], V[:, l]).ravel() for a in range(5) for l in range(2)]
    columns += [np.outer(U[:, l], np.eye(4)[i]).ravel() for i in range(4) for l in range(2)]
    assert np.linalg.matrix_rank(np.array(columns)) == 5 * 2 + 4 * 2 - 2**2


def test_greedy_of_the_lesson():
    model = GreedyFactorization(2, regularization=0.5, stopping="gain", inner_iterations=3000).fit(R56)
    np.testing.assert_allclose(model.component_objectives_, [27.8457881958, 6.8125246197], rtol=1e-7)
    np.testing.assert_allclose(model.residuals_, [37.9377508654, 8.4752573236], rtol=1e-6)


def test_hybrid_of_the_lesson():
    psi, phi = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[1, 0], [1, 1], [0, 2]])
    Y = [[3, 4, n], [1, n, 2], [n, 5, 1]]
    for solver in ("als", "cg"):
        model = HybridFactorization(
            1, regularization=1.0, one_hot=False, init=[[1.0, 2.0]], iterations=1, solver=solver
        ).fit(Y, user_features=psi, item_features=phi)
        np.testing.assert_allclose(model.coef_item_, [[1.3017621145, 0.3171806167]], rtol=1e-9)
        np.testing.assert_allclose(model.coef_user_, [[1.9762512653, 0.8699744554]], rtol=1e-9)
        assert model.objective_ == pytest.approx(5.0992185950, rel=1e-9)


def test_convex_completion_of_the_lesson():
    small = NuclearNormCompletion(0.5, tol=1e-13, max_iter=3000).fit([[1, n], [2, 3]])
    want = [[0.6907922173, 0.9784355846], [1.8093704452, 2.5627857190]]
    np.testing.assert_allclose(small.predict_matrix(), want, rtol=1e-7)
    assert small.rank_ == 1 and small.objective_ == pytest.approx(1.8405570315, rel=1e-9)
    factored = MatrixFactorization(2, regularization=0.5, iterations=2000, tol=1e-14, random_state=0)
    assert factored.fit([[1, n], [2, 3]]).objective_ == pytest.approx(1.8405570315, rel=1e-9)
    larger = NuclearNormCompletion(0.5, tol=1e-9, max_iter=3000).fit(R56)
    assert larger.objective_ == pytest.approx(13.2202158173, rel=1e-8)
    np.testing.assert_allclose(
        larger.singular_values_, [17.0328724449, 5.3733418887, 1.8469697450, 0.9554077493], rtol=1e-5
    )
    assert 0 <= larger.duality_gap_ < 1e-7 and abs(larger.certificate_) < 1e-5


def test_gibbs_conditional_of_the_lesson():
    from gnomon.loops.gibbs import draw_rows

    runs = RatingMatrix.from_dense(Y23).by_user()
    draws = np.empty((4000, 2, 1))
    for seed in range(len(draws)):
        draw_rows(0, 2, runs.starts, runs.others, runs.values, START, 0.5, 2.0, seed, draws[seed])
    means, variances = draws[:, :, 0].mean(axis=0), draws[:, :, 0].var(axis=0)
    np.testing.assert_allclose(means, [66 / 69, 16 / 54], atol=4 * np.sqrt(1 / 27 / 4000))
    np.testing.assert_allclose(variances, [1 / 34.5, 1 / 27], rtol=0.1)
    model = MatrixFactorization(1, noise_variance=2.0, prior_precision=0.5, init=START, iterations=1).fit(Y23)
    model.item_factors_, model.user_factors_ = START, np.array([[66 / 69], [16 / 54]])
    mean, std = model.predict_distribution([(0, 1)])
    assert mean[0] == pytest.approx(6.6956521739) and std[0] ** 2 == pytest.approx(3.4202898551)


# properties


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["row", "rating"]), st.booleans())
def test_als_never_rises_and_half_steps_are_exact(seed, scaling, biases):
    Y = low_rank(9, 7, seed=seed)
    model = MatrixFactorization(
        2,
        regularization=0.3,
        iterations=6,
        tol=0.0,
        regularization_scaling=scaling,
        biases=biases,
        random_state=seed,
    ).fit(Y)
    steps = model.half_steps_.ravel()
    assert (np.diff(steps) <= 1e-10 * steps[0]).all()
    mean = model.global_mean_ if biases else 0.0
    for i in range(7):  # the last half-step: every item is a ridge regression on the users
        seen = ~np.isnan(Y[:, i])
        lam = 0.3 * (seen.sum() if scaling == "rating" else 1.0)
        X = model.user_factors_[seen]
        target = Y[seen, i] - mean - model.user_bias_[seen]
        if biases:
            X = np.column_stack([X, np.ones(len(X))])
        ridge = Ridge(lam, fit_intercept=False, solver="cholesky").fit(X, target).coef_
        np.testing.assert_allclose(model.item_factors_[i], ridge[:2], atol=1e-8)


def test_a_pmf_row_is_ridge_and_lambda_is_tau_sigma():
    one = MatrixFactorization(3, regularization=0.6, random_state=0).fit(R56)
    two = MatrixFactorization(3, noise_variance=1.5, prior_precision=0.4, random_state=0).fit(R56)
    np.testing.assert_allclose(one.user_factors_, two.user_factors_, rtol=1e-9)


def test_solvers_agree_on_the_objective():
    settings = dict(regularization=0.5, regularization_scaling="row", random_state=0)
    als = MatrixFactorization(2, iterations=2000, tol=1e-12, **settings).fit(R56)
    cd = MatrixFactorization(2, solver="cd", iterations=2000, tol=1e-12, **settings).fit(R56)
    sgd = MatrixFactorization(2, solver="sgd", iterations=3000, tol=0.0, learning_rate=0.01, **settings).fit(
        R56
    )
    assert cd.objective_ == pytest.approx(als.objective_, rel=1e-8)
    assert als.objective_ <= sgd.objective_ <= als.objective_ * 1.001
    for model in (als, cd):
        assert model.objective_ == pytest.approx(
            objective(R56, model.user_factors_, model.item_factors_, 0.5)
        )
    with_bias = [
        MatrixFactorization(2, solver=solver, biases=True, iterations=3000, tol=1e-12, **settings)
        .fit(R56)
        .objective_
        for solver in ("als", "cd")
    ]
    assert with_bias[0] == pytest.approx(with_bias[1], rel=1e-7)


def test_nonnegative_factors():
    model = MatrixFactorization(2, solver="cd", nonnegative=True, iterations=300, random_state=0).fit(R56)
    assert model.user_factors_.min() >= 0 and model.item_factors_.min() >= 0
    free = MatrixFactorization(2, solver="cd", iterations=300, random_state=0).fit(R56)
    assert free.objective_ <= model.objective_ + 1e-9
    assert (np.diff(model.trace_.objective) <= 1e-9).all()


def test_svdpp_learns_from_what_was_rated():
    Y = low_rank(40, 25, seed=4)
    train, test = RatingMatrix.from_dense(Y).split(0.2, random_state=0)
    options = dict(
        solver="sgd", biases=True, iterations=150, learning_rate=0.02, regularization=0.02, random_state=0
    )
    pairs, y = test.pairs()
    model = MatrixFactorization(3, implicit=True, **options).fit(train)
    assert np.sqrt(np.mean((model.predict(pairs) - y) ** 2)) < 0.5 * y.std()
    assert np.abs(model.history_factors_).max() > 0
    assert model.trace_["rmse"][-1] < model.trace_["rmse"][0]
    with pytest.raises(DataError, match="SVD"):
        MatrixFactorization(implicit=True).fit(R56)


def test_degenerate_starts_stay_degenerate():
    zero = MatrixFactorization(2, init=np.zeros((6, 2)), regularization=0.5, iterations=5).fit(R56)
    assert not zero.user_factors_.any() and not zero.item_factors_.any()
    v = np.array([0.3, -0.7])
    first = MatrixFactorization(2, init=np.tile(v, (6, 1)), regularization=0.5, iterations=1).fit(R56)
    sums, counts = np.nansum(R56, axis=1), (~np.isnan(R56)).sum(axis=1)
    np.testing.assert_allclose(first.user_factors_, np.outer(sums / (0.5 + counts * (v @ v)), v))
    assert np.linalg.matrix_rank(first.predict_matrix(), tol=1e-9) == 1


def test_an_item_with_one_rating():
    Y = np.column_stack([R56, [n, n, 4, n, n]])
    model = MatrixFactorization(2, regularization=0.5, iterations=3, random_state=0).fit(Y)
    u = model.user_factors_[2]
    np.testing.assert_allclose(model.item_factors_[6], 4 * u / (0.5 + u @ u))


def test_without_penalty_too_few_ratings_are_named():
    with pytest.raises(DegenerateError, match="user 'bob' has 1 ratings, fewer than factors=2"):
        pairs = [(a, i) for a in ("ann", "cid") for i in "xyz"] + [("bob", "x")]
        MatrixFactorization(2, regularization=0).fit(pairs, np.arange(7.0))


def test_invariance_to_rotation_and_rank():
    model = MatrixFactorization(2, regularization=0.5, random_state=0).fit(R56)
    assert np.linalg.matrix_rank(model.predict_matrix()) == 2
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    rotated = objective(R56, model.user_factors_ @ Q, model.item_factors_ @ Q, 0.5)
    assert rotated == pytest.approx(model.objective_)


def test_average_of_starts():
    runs = [
        MatrixFactorization(2, regularization=0.1, iterations=2, random_state=s).fit(R56) for s in range(2)
    ]
    both = MatrixFactorization(
        2, regularization=0.1, iterations=2, n_init=3, combine="average", random_state=0
    )
    both.fit(R56)
    assert both.user_factors_.shape == (5, 6) and len(both.runs_) == 3
    assert np.isfinite(both.predict_matrix()).all() and both.fold_in({0: 5.0}).shape == (6,)
    assert not np.allclose(both.predict_matrix(), runs[0].predict_matrix())


@pytest.mark.parametrize("biases", [False, True])
def test_the_average_of_equal_starts_is_each_of_them(biases):
    options = {
        "biases": biases,
        "init": np.random.default_rng(0).normal(size=(6, 2)),
        "iterations": 3,
        "tol": 0,
    }
    one = MatrixFactorization(2, **options).fit(R56)
    three = MatrixFactorization(2, n_init=3, combine="average", **options).fit(R56)
    np.testing.assert_allclose(three.predict_matrix(), one.predict_matrix(), rtol=1e-12)
    np.testing.assert_allclose(three.runs_, [one.objective_] * 3, rtol=1e-12)


def test_threads_change_nothing(monkeypatch):
    import gnomon.recommend.base

    monkeypatch.setattr(gnomon.recommend.base, "CHUNK_ENTRIES", 16)
    Y = low_rank(40, 30)
    for model in (
        MatrixFactorization(3, biases=True, random_state=0),
        MatrixFactorization(3, solver="cd", random_state=0),
        BayesianMatrixFactorization(2, n_burn=2, n_samples=3, random_state=0),
    ):
        with threads(1):
            one = model.fit(Y).predict_matrix()
        with threads(3):
            np.testing.assert_array_equal(model.fit(Y).predict_matrix(), one)


def test_float32_factors():
    single = MatrixFactorization(2, dtype=np.float32, random_state=0).fit(R56)
    double = MatrixFactorization(2, random_state=0).fit(R56)
    assert single.user_factors_.dtype == np.float32
    np.testing.assert_allclose(single.predict_matrix(), double.predict_matrix(), rtol=2e-2)


def test_completion_equals_the_factored_optimum_and_the_svd():
    full = np.random.default_rng(0).normal(size=(7, 5))
    model = NuclearNormCompletion(0.8, tol=1e-12).fit(full)
    U, s, Vt = np.linalg.svd(full, full_matrices=False)
    np.testing.assert_allclose(model.predict_matrix(), U * np.maximum(s - 0.8, 0) @ Vt, atol=1e-6)
    factored = MatrixFactorization(5, regularization=0.8, iterations=5000, tol=1e-14, random_state=0).fit(
        full
    )
    assert factored.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_large_completion_takes_the_factored_way(monkeypatch):
    import gnomon.recommend.completion as module

    Y = low_rank(25, 20, seed=2)
    small = NuclearNormCompletion(2.0, tol=1e-8, max_iter=3000).fit(Y)
    monkeypatch.setattr(module, "DENSE_CELLS", 10)
    large = NuclearNormCompletion(2.0, tol=1e-6, max_iter=300).fit(Y)
    assert large.objective_ == pytest.approx(small.objective_, rel=1e-5)
    assert large.duality_gap_ <= 1e-6 * large.objective_
    assert (np.diff(large.trace_.objective) <= 1e-9 * large.objective_).all()


@pytest.mark.parametrize("table", [R56, Y53, [[1, n], [2, 3]]])
def test_steps_of_a_completion_are_those_of_beck_and_teboulle(table):
    """Accelerated proximal steps, with a plain one where the objective would rise."""
    Y, lam = np.array(table, dtype=float), 0.5
    seen = ~np.isnan(Y)

    def shrunk(Z):
        U, s, Vt = np.linalg.svd(np.where(seen, Y, Z), full_matrices=False)
        return (U * np.maximum(s - lam, 0)) @ Vt

    def value(X):
        return 0.5 * ((Y - X)[seen] ** 2).sum() + lam * np.linalg.norm(X, "nuc")

    X, before, t, J, want = np.zeros(Y.shape), np.zeros(Y.shape), 1.0, np.inf, []
    for _ in range(25):
        after = (1 + np.sqrt(1 + 4 * t**2)) / 2
        new = shrunk(X + (t - 1) / after * (X - before))
        if value(new) > J:
            new, after = shrunk(X), 1.0
        X, before, t, J = new, X, after, value(new)
        want.append(J)
    found = NuclearNormCompletion(lam, max_iter=25, tol=0).fit(Y)
    np.testing.assert_allclose(found.trace_.objective, want, rtol=1e-9)
    np.testing.assert_allclose(found.predict_matrix(), X, rtol=1e-7)


def test_path_of_completions():
    path = NuclearNormCompletion(0.5, path=[8, 2], tol=1e-9, max_iter=2000).fit(R56)
    assert [step["regularization"] for step in path.path_] == [8, 2]
    alone = NuclearNormCompletion(2.0, tol=1e-9, max_iter=2000).fit(R56)
    assert path.path_[1]["objective"] == pytest.approx(alone.objective_, rel=1e-6)
    assert path.path_[0]["rank"] <= path.path_[1]["rank"] <= path.rank_
    assert NuclearNormCompletion(1000.0).fit(R56).rank_ == 0


def test_greedy_error_falls_and_stops_by_validation():
    Y = low_rank(40, 30, rank=2, noise=0.3, density=0.7)
    grown = GreedyFactorization(8, stopping="gain", regularization=0.1).fit(Y)
    assert (np.diff(grown.residuals_) <= 1e-9).all()
    chosen = GreedyFactorization(12, regularization=0.1, refit="full", random_state=0).fit(Y)
    best = chosen.user_factors_.shape[1]
    assert 1 < best == np.argmin(chosen.validation_curve_) + 1 < 12
    assert len(chosen.validation_curve_) == best + 2  # as long as patience lasts
    whole = GreedyFactorization(12, regularization=0.1, refit="full", patience=12, random_state=0).fit(Y)
    assert len(whole.validation_curve_) == 12
    np.testing.assert_array_equal(whole.validation_curve_[: best + 2], chosen.validation_curve_)


def test_one_hot_hybrid_is_plain_factorization():
    A = np.random.default_rng(0).normal(size=(2, 5))
    hybrid = HybridFactorization(2, regularization=0.5, init=A, iterations=3, tol=0.0)
    turned = MatrixFactorization(2, regularization=0.5, init=A.T, iterations=3, tol=0.0).fit(R56.T)
    fitted = hybrid.fit(R56)
    np.testing.assert_allclose(fitted.item_factors_, turned.user_factors_, rtol=1e-10)
    np.testing.assert_allclose(fitted.user_factors_, turned.item_factors_, rtol=1e-10)
    by_features = hybrid.set_params(one_hot=False).fit(R56, user_features=np.eye(5), item_features=np.eye(6))
    np.testing.assert_allclose(by_features.item_factors_, turned.user_factors_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["als", "cg"])
@pytest.mark.parametrize("sides", ["users", "items", "both", "none"])
def test_half_steps_of_a_hybrid_are_least_squares(sides, solver):
    """What a sweep leaves minimizes over A: there its gradient is zero; one more half step is so for B."""
    rng = np.random.default_rng(3)
    given = {"user_features": rng.normal(size=(5, 3)), "item_features": rng.normal(size=(6, 2))}
    psi, phi = np.eye(5), np.eye(6)
    if sides in ("users", "both"):
        psi = np.hstack([given["user_features"], psi])
    if sides in ("items", "both"):
        phi = np.hstack([given["item_features"], phi])
    kept = {name: table for name, table in given.items() if sides in (name[:4] + "s", "both")}
    A = rng.normal(size=(2, psi.shape[1]))
    model = HybridFactorization(2, regularization=0.7, init=A, iterations=1, tol=0, solver=solver)
    model.fit(R56, **kept)
    new, B = model.coef_user_, model.coef_item_
    rest = np.nan_to_num(R56 - psi @ A.T @ B @ phi.T)
    np.testing.assert_allclose((rest @ phi).T @ (psi @ A.T), 0.7 * B.T, atol=1e-6)
    rest = np.nan_to_num(R56 - psi @ new.T @ B @ phi.T)
    np.testing.assert_allclose((rest.T @ psi).T @ (phi @ B.T), 0.7 * new.T, atol=1e-6)
    assert model.objective_ == pytest.approx(
        0.5 * (rest**2).sum() + 0.35 * ((new**2).sum() + (B**2).sum()), rel=1e-9
    )


def test_hybrid_predicts_newcomers_from_features():
    rng = np.random.default_rng(0)
    psi, phi = rng.normal(size=(40, 3)), rng.normal(size=(25, 4))
    A, B = rng.normal(size=(2, 3)), rng.normal(size=(2, 4))
    Y = (psi @ A.T) @ (phi @ B.T).T
    seen = Y[:35, :20].copy()
    seen[rng.random(seen.shape) < 0.5] = n
    model = HybridFactorization(
        2, regularization=1e-6, one_hot=False, iterations=500, tol=1e-14, random_state=0
    )
    model.fit(seen, user_features=psi[:35], item_features=phi[:20])
    users, items = dict(enumerate(psi)), dict(enumerate(phi))
    pairs = [(a, i) for a in (3, 38) for i in (5, 23)]
    found = model.predict(pairs, user_features=users, item_features=items)
    np.testing.assert_allclose(found, [Y[a, i] for a, i in pairs], atol=1e-3)
    assert model.predict([(38, 23)])[0] == pytest.approx(model.global_mean_)
    both = HybridFactorization(2, regularization=0.1, random_state=0, biases=True).fit(
        seen, user_features=psi[:35], item_features=phi[:20]
    )
    assert both.coef_user_.shape == (2, 3 + 35)
    with pytest.raises(DataError, match="has 1 features; the fit had 4"):
        model.predict([(0, 99)], item_features={99: [1.0]})


def test_draws_of_gibbs_are_from_their_conditionals():
    """What a draw of noise and precision was divided by is a gamma variable, whose mean is known."""
    Y = low_rank(30, 20, rank=2, noise=0.5, density=0.8, seed=1)
    users, items = np.nonzero(~np.isnan(Y))
    y, n = Y[users, items], len(users)
    model = BayesianMatrixFactorization(2, random_state=0, n_burn=20, n_samples=60)
    model.fit(RatingMatrix.from_dense(Y))
    U, V = model.user_samples_, model.item_samples_
    said = np.array([np.einsum("ik,ik->i", one[users], other[items]) for one, other in zip(U, V)])
    squares = ((y - said) ** 2).sum(axis=1)
    trace = model.trace_
    np.testing.assert_allclose(trace.objective[20:], np.sqrt(squares / n))
    np.testing.assert_allclose(np.array(trace["noise_variance"])[20:], model.noise_samples_)
    sizes = (U**2).sum(axis=(1, 2)) + (V**2).sum(axis=(1, 2))
    noise = (0.5 * y.var() + 0.5 * squares) / model.noise_samples_
    precision = (np.sqrt((y**2).mean() / 2) + 0.5 * sizes) * np.array(trace["prior_precision"])[20:]
    for drawn, shape in ((noise, 2 + n / 2), (precision, 1 + (30 + 20) * 2 / 2)):
        assert abs(drawn.mean() - shape) < 4 * np.sqrt(shape / 60)
        assert 0.5 < drawn.var() / shape < 1.8


def test_intervals_of_gibbs_cover():
    Y = low_rank(40, 30, rank=2, noise=0.5, density=0.7, seed=1)
    train, test = RatingMatrix.from_dense(Y).split(0.3, random_state=0)
    model = BayesianMatrixFactorization(3, random_state=0, n_samples=100).fit(train)
    pairs, y = test.pairs()
    low, high = model.predict_interval(pairs, 0.9)
    assert 0.8 < np.mean((low <= y) & (y <= high)) < 0.98
    assert 0.1 < model.noise_samples_.mean() < 0.6
    assert len(model.trace_) == 150 and model.user_samples_.shape == (100, 40, 3)
    new = model.predict_interval([("nobody", 3)], 0.9)
    assert new[0][0] < model.predict([("nobody", 3)])[0] < new[1][0]


# what a fitted model does


def test_lists_leave_out_what_was_rated():
    Y = low_rank(20, 15, density=0.5)
    model = MatrixFactorization(2, random_state=0, biases=True).fit(Y)
    for a in range(20):
        ids, scores = model.recommend(a, N=30)
        assert set(ids) == set(np.flatnonzero(np.isnan(Y[a]))) and (np.diff(scores) <= 0).all()
        np.testing.assert_allclose(scores, model.predict([(a, i) for i in ids]))
    ids, scores = model.recommend(0, N=3, filter_already_liked_items=False, filter_items=[1, 2])
    assert len(ids) == 3 and not {1, 2} & set(ids)
    assert set(model.recommend(1, items=[3, 4, 99], filter_already_liked_items=False)[0]) == {3, 4}
    many, _ = model.recommend(np.arange(20), N=4)
    for a in range(20):
        single = model.recommend(a, N=4)[0]
        assert many[a][: len(single)].tolist() == single.tolist()
    with pytest.raises(DataError, match="N must"):
        model.recommend(0, N=0)


def test_diversity_of_a_list():
    Y = low_rank(20, 15, density=0.5, seed=3)
    model = MatrixFactorization(2, random_state=0).fit(Y)
    plain, varied = model.recommend(2, N=5)[0], model.recommend(2, N=5, diversity=0.9)[0]
    V = model.item_factors_ / np.linalg.norm(model.item_factors_, axis=1, keepdims=True)

    def alike(ids):
        table = V[ids] @ V[ids].T
        return table[np.triu_indices(len(ids), 1)].mean()

    assert alike(varied) < alike(plain) and varied[0] == plain[0]


@pytest.mark.parametrize("shift", [-10.0, 0.0, 100.0])
def test_diversity_weighs_likeness_against_the_range_of_the_scores(shift):
    """By trying every item in turn: scores count by where they lie between the list's least and its largest."""
    Y = low_rank(20, 15, density=0.5, seed=3) + shift
    model = MatrixFactorization(2, random_state=0).fit(Y)
    V = model.item_factors_ / np.linalg.norm(model.item_factors_, axis=1, keepdims=True)
    for user in range(6):
        ids, scores = model.recommend(user, N=15, filter_already_liked_items=False)
        relevance = (scores - scores.min()) / (scores.max() - scores.min())
        chosen = []
        for _ in range(4):
            gains = [
                0.4 * relevance[i] - 0.6 * max((V[ids[i]] @ V[ids[j]] for j in chosen), default=0.0)
                if i not in chosen
                else -np.inf
                for i in range(len(ids))
            ]
            chosen.append(int(np.argmax(gains)))
        found, told = model.recommend(user, N=4, diversity=0.6, filter_already_liked_items=False)
        np.testing.assert_array_equal(found, ids[chosen])
        np.testing.assert_allclose(told, scores[chosen], rtol=1e-12)


def test_similar_items_and_map():
    model = MatrixFactorization(2, random_state=0).fit(R56)
    ids, scores = model.similar_items(3, 6)
    V = model.item_factors_ / np.linalg.norm(model.item_factors_, axis=1, keepdims=True)
    want = V @ V[3]
    assert ids[0] == 3 and scores[0] == pytest.approx(1.0)
    np.testing.assert_allclose(scores, np.sort(want)[::-1])
    assert model.similar_users(1, 2)[0][0] == 1
    where = model.item_map()
    assert where.shape == (6, 2)
    distances = np.linalg.norm(where[:, None] - where[None], axis=2)
    V = model.item_factors_
    np.testing.assert_allclose(distances, np.linalg.norm(V[:, None] - V[None], axis=2), atol=1e-9)
    with pytest.raises(DataError, match="nothing to compare"):
        model.similar_items("unseen")


def test_reasons_add_up_to_the_score():
    model = MatrixFactorization(2, regularization=0.5, iterations=2000, tol=1e-14, random_state=0).fit(R56)
    ids, parts = model.explain(0, 4, N=99)
    assert set(ids) == {0, 1, 2, 3, 5} and (np.diff(parts) <= 0).all()
    assert parts.sum() == pytest.approx(model.predict([(0, 4)])[0], rel=1e-4)
    assert len(model.explain("new", 4)[0]) == 0
    assert [part.tolist() for part in model.explain(0, 4, N=2)] == [ids[:2].tolist(), parts[:2].tolist()]


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("scaling", ["row", "rating"])
def test_a_reason_is_what_a_rating_adds(scaling, biases):
    """The items held fixed, a vector is linear in its ratings less their offsets: without the offsets of a user."""
    model = MatrixFactorization(2, regularization=0.5, regularization_scaling=scaling, biases=biases)
    model.set_params(random_state=0, iterations=20).fit(R56)
    V, rated = model.item_factors_, R56[0]
    ids, parts = model.explain(0, 4, N=99)
    offset = model.global_mean_ + model.user_bias_[0] if biases else 0.0
    seen = V[ids]
    rest = rated[ids] - offset - (model.item_bias_[ids] if biases else 0.0)
    ridge = 0.5 * (len(ids) if scaling == "rating" else 1)
    for place, part in enumerate(parts):
        alone = rest * (np.arange(len(ids)) == place)
        vector = np.linalg.solve(seen.T @ seen + ridge * np.eye(2), seen.T @ alone)
        assert part == pytest.approx(V[4] @ vector)


def test_the_passes_of_few_blocks_are_steps_in_some_order_of_the_diagonals(monkeypatch):
    """Sixteen ratings in sixteen blocks: the seed decides the order of the four diagonals, and nothing else."""
    from itertools import permutations

    from gnomon.recommend import passes

    monkeypatch.setattr(passes, "GRID_RATINGS", 16)
    rng = np.random.default_rng(0)
    Y, first = rng.normal(3, 1, (4, 4)), (rng.normal(size=(4, 2)), rng.normal(size=(4, 2)))
    settings = {"solver": "sgd", "learning_rate": 0.1, "regularization": 0.2, "iterations": 1, "init": first}
    found = []
    for seed in range(8):
        model = MatrixFactorization(2, random_state=seed, **settings).fit(RatingMatrix.from_dense(Y))
        found.append(model.user_factors_ @ model.item_factors_.T)
    ways = []
    for order in permutations(range(4)):
        U, V = first[0].copy(), first[1].copy()
        for shift in order:
            for a in range(4):
                i = (a + shift) % 4
                error = Y[a, i] - U[a] @ V[i]
                U[a], V[i] = (
                    U[a] + 0.1 * (error * V[i] - 0.2 * U[a]),
                    V[i] + 0.1 * (error * U[a] - 0.2 * V[i]),
                )
        ways.append(U @ V.T)
    taken = [[np.allclose(one, way, rtol=1e-5) for way in ways].index(True) for one in found]
    assert len(set(taken)) > 2


def test_cold_start_answers_and_who_gave_them():
    model = MatrixFactorization(2, random_state=0).fit(R56)
    pairs = [(0, 0), ("new", 2), (1, "new"), ("new", "new")]
    assert model.predict_source(pairs).tolist() == ["model", "item mean", "user mean", "global mean"]
    np.testing.assert_allclose(model.predict(pairs)[1:], [np.nanmean(R56[:, 2]), 3.2, np.nanmean(R56)])
    ids, scores = model.recommend("new", N=3)
    counts, sums = (~np.isnan(R56)).sum(axis=0), np.nansum(R56, axis=0)
    damped = (sums + 5 * np.nanmean(R56)) / (counts + 5)
    assert ids.tolist() == np.argsort(-damped, kind="stable")[:3].tolist()


def test_grid_search_over_pairs():
    pairs, y = RatingMatrix.from_dense(low_rank()).pairs()
    search = GridSearchCV(MatrixFactorization(2, random_state=0), {"regularization": [0.1, 100.0]}, cv=3)
    assert search.fit(pairs, y).best_params_ == {"regularization": 0.1}


def test_not_converged_is_said_with_the_name_of_the_argument():
    with pytest.warns(ConvergenceWarning, match="iterations=1"):
        MatrixFactorization(2, iterations=1, random_state=0).fit(R56)


def test_awkward_ratings():
    for model in (
        MatrixFactorization(2, random_state=0),
        MatrixFactorization(2, biases=True, random_state=0),
        BayesianMatrixFactorization(2, n_burn=2, n_samples=2, random_state=0),
        GreedyFactorization(2),
        NuclearNormCompletion(),
        HybridFactorization(2, random_state=0),
    ):
        one = model.fit([("a", "x")], [4.0])
        assert np.isfinite(one.predict([("a", "x"), ("b", "x"), ("a", "y")])).all()
        assert np.isfinite(model.fit(np.full((4, 5), 3.0)).predict_matrix()).all()
        empty = sp.csr_array((np.array([1.0, 2.0]), (np.array([0, 2]), np.array([0, 3]))), shape=(3, 5))
        assert np.isfinite(model.fit(empty).predict_matrix()).all()


def test_blocks_of_gradient_steps_meet_every_rating_once_and_ignore_threads(monkeypatch):
    from gnomon.recommend import passes
    from gnomon.recommend.alternating import sides_of

    monkeypatch.setattr(passes, "GRID_RATINGS", 64)
    R, _, _ = make_ratings(40, 30, density=0.4, random_state=0)
    grid = passes.grid_of(sides_of(R))
    assert grid.size > 4 and grid.edges[0] == 0 and grid.edges[-1] == R.n_ratings
    pairs = sorted(zip(grid.rows.tolist(), grid.columns.tolist(), grid.values.tolist()))
    assert pairs == sorted(zip(R.users.tolist(), R.items.tolist(), R.values.tolist()))
    for shift in range(grid.size):  # the blocks of a stratum have no user and no item in common
        blocks = [row * grid.size + (row + shift) % grid.size for row in range(grid.size)]
        for part in (grid.rows, grid.columns):
            met = [set(part[grid.edges[b] : grid.edges[b + 1]].tolist()) for b in blocks]
            assert sum(map(len, met)) == len(set().union(*met))
    found = []
    for count in (1, 2):
        with threads(count):
            model = MatrixFactorization(3, solver="sgd", biases=True, iterations=5, random_state=0).fit(R)
        found.append(model)
    np.testing.assert_array_equal(found[0].user_factors_, found[1].user_factors_)
    assert found[0].trace_["rmse"][-1] < found[0].trace_["rmse"][0]


def test_lists_of_several_users_stay_within_the_items_asked_for():
    model = MatrixFactorization(2, random_state=0, iterations=300).fit(R56)
    ids, scores = model.recommend([0, 3, 99], N=5, items=[0, 4, 5])
    assert all(set(row) == {0, 4, 5} for row in ids.tolist())
    assert np.isneginf(scores).sum(axis=1).tolist() == [2, 2, 0]  # what users 0 and 3 have rated of the three
    assert model.recommend([0], items=[77])[0].shape == (1, 0)
