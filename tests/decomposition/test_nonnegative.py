"""Non-negative factorization: numbers by hand, monotone steps, holes, sparse rows, certificates."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse as sp
from scipy.stats import poisson
from sklearn import decomposition

import gnomon
from gnomon.core.callbacks import Checkpoint, TimeBudget
from gnomon.core.errors import DataError, ModelFileError
from gnomon.decomposition import NMF, _nonnegative, singular
from gnomon.decomposition._nonnegative import divergence
from gnomon.decomposition._nonnegative_optimality import Gradients
from gnomon.decomposition.multiplicative import nmf_step, normalize_topics
from gnomon.loops.nonnegative import descend_rows
from gnomon.mixture import AspectModel

X34 = np.array([[1, 0, 2, 3], [0, 1, 1, 0], [4, 1, 0, 2]], dtype=float)
W0 = np.array([[1, 0.5], [0.5, 1], [1, 1]])
H0 = np.array([[1, 1, 0.5, 1], [0.5, 1, 1, 1]])
SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])


def parts(n=40, p=12, K=3, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    W, H = rng.gamma(1.0, size=(n, K)), rng.gamma(0.5, size=(K, p))
    return W @ H + noise * rng.random((n, p))


def counts(n=60, p=15, K=3, seed=0):
    return np.random.default_rng(seed).poisson(3 * parts(n, p, K, seed)).astype(float)


def test_squared_step_by_hand():
    W, H, value = nmf_step(X34, W0, H0)
    assert_allclose(W, [[1.0526315789, 0.5945945946], [0.1621621622, 0.4210526316], [1.12, 0.8]], rtol=1e-9)
    assert_allclose(
        H,
        [
            (1.7377372049, 0.3222405480, 0.4071464620, 1.3566307048),
            (0.8720872871, 0.4422507945, 0.8190813424, 1.2255663910),
        ],
        rtol=1e-9,
    )
    assert 2 * divergence(X34, W0 @ H0, 2.0) == pytest.approx(18.625)
    assert 2 * value == pytest.approx(9.3609825957, rel=1e-9)
    assert 2 * nmf_step(X34, W, H)[2] == pytest.approx(8.3520742348, rel=1e-9)
    assert 2 * nmf_step(X34, W0, H0, update_order="HW")[2] == pytest.approx(9.0998461147, rel=1e-9)


def test_divergence_step_by_hand():
    W, H, value = nmf_step(X34, W0, H0, "kullback-leibler")
    expected = [
        [1.0857142857, 0.6285714286],
        [0.1523809524, 0.4190476190],
        [1.1904761905, 0.8095238095],
    ]
    assert_allclose(W, expected, rtol=1e-9)
    assert_allclose(
        H,
        [
            (1.5484761069, 0.3549019608, 0.4449839974, 1.2725490196),
            (0.6673773987, 0.6128205128, 1.0334824650, 1.0282051282),
        ],
        rtol=1e-9,
    )
    assert divergence(X34, W0 @ H0, 1.0) == pytest.approx(8.3441535236, rel=1e-9)
    assert value == pytest.approx(5.2645290035, rel=1e-9)
    assert nmf_step(X34, W, H, "kullback-leibler")[2] == pytest.approx(4.5600184343, rel=1e-9)
    other = nmf_step(X34, W0, H0, "kullback-leibler", update_order="HW")[2]
    assert other == pytest.approx(5.3041490222, rel=1e-9)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("order", ["WH", "HW"])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_model_makes_the_same_steps(loss, order, form):
    model = NMF(2, init="custom", solver="mu", beta_loss=loss, max_iter=3, tol=0, update_order=order)
    model.fit(form(X34), W=W0, H=H0)
    W, H, values = W0, H0, [divergence(X34, W0 @ H0, {"frobenius": 2.0}.get(loss, 1.0))]
    for _ in range(3):
        W, H, value = nmf_step(X34, W, H, loss, update_order=order)
        values.append(value)
    assert_allclose(model.components_, H, rtol=1e-9)
    assert_allclose(model.trace_.objective, values[:3], rtol=1e-9)
    assert model.loss_ == pytest.approx(values[3], rel=1e-9)
    assert model.reconstruction_err_ == pytest.approx(np.sqrt(2 * values[3]), rel=1e-9)


def test_rank_one():
    model = NMF(1, solver="mu", beta_loss="kullback-leibler", tol=1e-14, max_iter=500).fit(SQUARE)
    R = model.inverse_transform(model.transform(SQUARE))
    assert_allclose(R, [[1.2, 1.8], [2.8, 4.2]], rtol=1e-6)
    assert model.loss_ == pytest.approx(0.0402174323, rel=1e-7)
    assert model.loglik(SQUARE) == pytest.approx(-5.4758692408, rel=1e-8)
    assert model.aic(SQUARE) == pytest.approx(18.9517384817, rel=1e-8)
    assert model.bic(SQUARE) == pytest.approx(16.4969159262, rel=1e-8)
    square = NMF(1, tol=1e-12, max_iter=2000).fit(SQUARE)
    assert_allclose(
        square.inverse_transform(square.transform(SQUARE)),
        [[1.2735737131, 1.8072073528], [2.8789792277, 4.0852856614]],
        rtol=1e-6,
    )
    assert square.reconstruction_err_**2 == pytest.approx(0.1339312527, rel=1e-6)


def test_price_of_a_rank():
    X = parts(100, 50, 5)
    model = NMF(5, max_iter=50).fit(X)
    L = model.loglik(X)
    assert model.aic(X, scale="half") + L == pytest.approx(750)
    assert model.bic(X, scale="half") + L == pytest.approx(3193.9474467811, rel=1e-9)
    assert model.n_parameters_ == 750
    with pytest.raises(DataError, match="scale"):
        model.aic(X, scale="double")


def test_topics_sum_to_one():
    W, H = normalize_topics([[1, 3], [2, 4]], [[2, 2, 4], [1, 3, 0]])
    assert_allclose(H, [[0.25, 0.25, 0.5], [0.25, 0.75, 0]])
    assert_allclose(W, [[8, 12], [16, 16]])
    assert_allclose(W @ H, [[5, 11, 4], [8, 16, 8]])
    model = NMF(2, solver="mu", beta_loss="kullback-leibler", normalize="topics").fit(counts())
    assert_allclose(model.components_.sum(axis=1), 1)
    assert [len(words) for words in model.top_features(4)] == [4, 4]


@given(st.integers(0, 1000), st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_steps_never_raise_the_objective(seed, beta, missing):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(6, 5)) + 0.01
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    W, H = rng.random((6, 2)) + 0.01, rng.random((2, 5)) + 0.01
    before = divergence(X, W @ H, beta)
    for _ in range(5):
        W, H, value = nmf_step(X, W, H, beta)
        assert value <= before * (1 + 1e-10) + 1e-12
        assert (W >= 0).all() and (H >= 0).all()
        before = value


@pytest.mark.parametrize(
    "solver, loss", [("cd", "frobenius"), ("mu", "frobenius"), ("mu", "kullback-leibler")]
)
def test_solvers_reach_a_stationary_point(solver, loss):
    X = parts(30, 8, 2, noise=0.3)
    model = NMF(2, solver=solver, beta_loss=loss, tol=1e-12, max_iter=20_000).fit(X)
    assert model.kkt_residual_ < 1e-4
    objective = model.trace_.objective
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    scaled = NMF(2, solver=solver, beta_loss=loss, tol=1e-12, max_iter=20_000).fit(X * 1000)
    assert_allclose(scaled.inverse_transform(scaled.transform(X * 1000)) / 1000,
                    model.inverse_transform(model.transform(X)), rtol=1e-2)  # fmt: skip


def test_margins_at_a_divergence_optimum():
    X = counts()
    model = NMF(3, solver="mu", beta_loss="kullback-leibler", tol=0, max_iter=3000).fit(X)
    R = model.inverse_transform(model.transform(X))
    assert_allclose(R.sum(axis=1), X.sum(axis=1), rtol=1e-4)
    assert_allclose(R.sum(axis=0), X.sum(axis=0), rtol=1e-2)
    gap = model.loglik(X) - poisson(np.maximum(R, 1e-300)).logpmf(X).sum()
    assert gap == pytest.approx(0, abs=1e-6)


def test_divergence_factors_are_the_aspect_model():
    X = counts(20, 8, 2)
    nmf = NMF(2, solver="mu", beta_loss="kullback-leibler", init="random", random_state=0, n_init=5, tol=0,
              max_iter=4000).fit(X)  # fmt: skip
    aspects = AspectModel(2, random_state=0, n_init=5, max_iter=20_000, tol=1e-13).fit(X)
    table = aspects.joint_table() * X.sum()
    assert nmf.loss_ == pytest.approx(divergence(X, table, 1.0), rel=1e-3)


@pytest.mark.parametrize(
    "solver, loss", [("cd", "frobenius"), ("mu", "frobenius"), ("mu", "kullback-leibler")]
)
def test_sparse_rows_and_penalties(solver, loss):
    X = counts() * (np.random.default_rng(1).random((60, 15)) < 0.3)
    for options in ({}, {"alpha_W": 0.01, "alpha_H": 0.02, "l1_ratio": 0.5}):
        a = NMF(3, solver=solver, beta_loss=loss, max_iter=60, tol=0, **options).fit(X)
        b = NMF(3, solver=solver, beta_loss=loss, max_iter=60, tol=0, **options).fit(sp.csr_array(X))
        assert_allclose(a.components_, b.components_, rtol=1e-6, atol=1e-9)
        assert a.loss_ == pytest.approx(b.loss_, rel=1e-8)
    assert (
        a.components_.sum()
        < NMF(3, solver=solver, beta_loss=loss, max_iter=60, tol=0).fit(X).components_.sum()
    )


@pytest.mark.parametrize(
    "solver, loss", [("cd", "frobenius"), ("mu", "frobenius"), ("mu", "kullback-leibler")]
)
def test_missing_entries_are_found_again(solver, loss):
    X = parts(80, 10, 2) + 0.1
    holed = X.copy()
    gone = np.random.default_rng(1).random(X.shape) < 0.25
    holed[gone] = np.nan
    model = NMF(2, solver=solver, beta_loss=loss, max_iter=3000, tol=1e-10).fit(holed)
    R = model.inverse_transform(model.transform(holed))
    assert np.sqrt(np.mean((R - X)[gone] ** 2)) < 0.4 * X[gone].std()  # a mean would leave 1
    objective = model.trace_.objective
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert_allclose(model.fit(X.astype(float)).loss_, NMF(2, solver=solver, beta_loss=loss, max_iter=3000,
                    tol=1e-10).fit(X).loss_)  # fmt: skip


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar", "random"])
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_starts(init, solver):
    X = parts(noise=0.1)
    model = NMF(3, init=init, solver=solver, random_state=0, max_iter=300).fit(X)
    assert model.reconstruction_err_ < 0.2 * np.linalg.norm(X)
    assert (model.components_ >= 0).all()


def test_weights_repeat_rows():
    X, w = counts(30, 6, 2), np.random.default_rng(0).integers(0, 3, 30)
    for options in (
        {},
        {"solver": "mu", "beta_loss": "kullback-leibler"},
        {"alpha_W": 0.01, "alpha_H": 0.03},
    ):
        a = NMF(2, max_iter=40, tol=0, **options).fit(X, sample_weight=w.astype(float))
        b = NMF(2, max_iter=40, tol=0, **options).fit(np.repeat(X, w, axis=0))
        assert_allclose(a.components_, b.components_, rtol=1e-6, atol=1e-10)


def test_rows_on_disk(tmp_path):
    import pandas as pd

    X = parts(3000, 6, 2, noise=0.05)
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcdef")).to_parquet(path)
    for options in ({}, {"solver": "mu", "beta_loss": "kullback-leibler"}):
        there = NMF(2, max_iter=300, tol=1e-6, **options).fit(str(path))
        here = NMF(2, max_iter=300, tol=1e-6, **options).fit(X)
        loss = [divergence(X, m.inverse_transform(m.transform(X)), m._beta()) for m in (there, here)]
        assert loss[0] <= 1.02 * loss[1]  # rows on disk are solved to the end in every pass


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_start_belongs_to_a_checkpoint(tmp_path, monkeypatch, place):
    import pandas as pd

    X = parts(40, 4, 2, noise=0.1)
    if place == "disk":
        pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "rows.parquet")
    rows = X if place == "memory" else str(tmp_path / "rows.parquet")
    W, H = np.ones((40, 2)), np.random.default_rng(0).random((2, 4))
    model = NMF(2, init="custom", max_iter=20, tol=0)
    whole = model.fit(rows, W=W, H=H).components_
    step, calls = NMF._step, []

    def broken(self, work, state):
        calls.append(state)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return step(self, work, state)

    monkeypatch.setattr(NMF, "_step", broken)
    model.set_callbacks(Checkpoint(tmp_path / "fit", every_seconds=0))
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, W=W, H=H)
    with pytest.raises(ModelFileError, match="the data differ"):
        model.fit(rows, W=W, H=H + 1)
    assert (model.fit(rows, W=W, H=H).components_ == whole).all()


def test_iterate_starts_where_it_is_told():
    models = list(NMF(2, init="custom", max_iter=5, tol=0).iterate(X34, W=W0, H=H0))
    assert (models[0].components_ == H0).all()
    assert (
        models[-1].components_ == NMF(2, init="custom", max_iter=5, tol=0).fit(X34, W=W0, H=H0).components_
    ).all()


def test_bad_input():
    with pytest.raises(DataError, match="Negative"):
        NMF(1).fit([[1.0, -1.0]])
    with pytest.raises(DataError, match="mu"):
        NMF(1, beta_loss=1.5).fit(SQUARE)
    with pytest.raises(DataError, match="zeros"):
        NMF(1, solver="mu", beta_loss="itakura-saito").fit(X34)
    with pytest.raises(DataError, match="zeros"):
        NMF(1, init="custom").fit(SQUARE, W=np.zeros((2, 1)), H=np.ones((1, 2)))
    with pytest.raises(DataError, match="first dimension"):
        NMF(1, init="custom").fit(SQUARE, W=np.ones((3, 1)), H=np.ones((1, 2)))
    with pytest.raises(DataError, match="both"):
        NMF(1, init="custom").fit(SQUARE)
    with pytest.raises(DataError, match="nndsvd"):
        NMF(5, init="nndsvd").fit(SQUARE)
    with pytest.raises(DataError, match="no observed"):
        NMF(1).fit([[1.0, np.nan], [1.0, np.nan]])
    with pytest.raises(DataError, match="beta_loss"):
        nmf_step(SQUARE, [[1.0], [1.0]], [[1.0, 1.0]], "euclid")
    with pytest.raises(DataError, match="update_order"):
        nmf_step(SQUARE, [[1.0], [1.0]], [[1.0, 1.0]], update_order="WW")


def test_empty_rows_and_columns():
    X = counts(20, 6, 2)
    X[3], X[:, 2] = 0, 0
    for options in ({}, {"solver": "mu", "beta_loss": "kullback-leibler"}):
        model = NMF(2, max_iter=200, **options).fit(X)
        assert_allclose(model.transform(X)[3], 0, atol=1e-10)
        assert_allclose(model.components_[:, 2], 0, atol=1e-3)
        assert np.isfinite(model.components_).all()
    more = NMF(9, max_iter=50).fit(X)
    assert more.components_.shape == (9, 6)


@pytest.mark.parametrize("beta", ["kullback-leibler", "frobenius", "itakura-saito"])
def test_usage_does_not_depend_on_where_a_row_lies(tmp_path, beta):
    """In memory, in a file, beside a row with holes: every row is one problem, stopped by one rule."""
    import pandas as pd

    X = counts(50, 6, 4) + (0.5 if beta == "itakura-saito" else 0.0)
    model = NMF(4, solver="mu", beta_loss=beta, max_iter=2, tol=0).fit(X)
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abcdef")).to_parquet(path)
    here = model.transform(X)
    named = NMF(4, solver="mu", beta_loss=beta, max_iter=2, tol=0).fit(
        pd.DataFrame(X, columns=list("abcdef"))
    )
    assert_allclose(named.transform(str(path)), here, rtol=1e-9, atol=1e-12)
    holed = np.vstack([X, X[:1]])
    holed[-1, 2] = np.nan
    found = model.transform(holed)
    assert_allclose(found[:-1], here, rtol=1e-9, atol=1e-12)
    if beta == "itakura-saito":  # not convex: where a row ends depends on where it starts
        return
    seen = [0, 1, 3, 4, 5]
    R = found[-1] @ model.components_[:, seen]
    fixed = NMF(4, solver="mu", beta_loss=beta)
    fixed._adopt({"components_": model.components_[:, seen], "n_features_in_": 5})
    expected = fixed.transform(X[:1, seen])[0] @ model.components_[:, seen]
    assert_allclose(R, expected, rtol=1e-3)


def test_usage_under_a_heavy_penalty():
    """The parts vanish, and the start of a row with them: dense and sparse rows agree to the last digits."""
    X = np.abs(np.random.default_rng(0).normal(size=(10, 6)))
    X[:, ::2] = 0.0
    model = NMF(3, init="random", alpha_W=1.0, alpha_H=1.0, random_state=0, tol=0, max_iter=100).fit(X)
    H, p = model.components_, X.shape[1]
    assert H.max() < 1e-12
    exact = np.linalg.solve(H @ H.T + p * np.eye(3), H @ X.T).T  # where no entry is held at 0
    assert_allclose(model.transform(X), exact, rtol=1e-12)
    assert_allclose(model.transform(sp.csr_array(X)), exact, rtol=1e-12)


def test_multiplicative_steps_stop_by_the_root_of_the_loss():
    X = parts(30, 8, 3, noise=0.3)
    model = NMF(3, solver="mu", tol=1e-3, max_iter=2000).fit(X)
    values = np.sqrt(np.asarray(model.trace_.objective))
    falls = (values[:-10:10] - values[10::10]) / values[0]
    assert (falls[:-1] > 1e-3).all()
    assert falls[-1] <= 1e-3


def test_files_whose_columns_do_not_fit_are_refused(tmp_path):
    model = NMF(2, solver="mu", beta_loss="kullback-leibler", max_iter=5, tol=0).fit(X34)
    gnomon.save(model, tmp_path / "model.gnomon")
    assert (gnomon.load(tmp_path / "model.gnomon").components_ == model.components_).all()
    model.components_ = model.components_[:, :-1]
    gnomon.save(model, tmp_path / "model.gnomon")
    with pytest.raises(ModelFileError, match="columns"):
        gnomon.load(tmp_path / "model.gnomon")


def test_row_that_stands_ends_though_no_ratio_asks_for_it():
    G, W = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([[0.7, 1.1]])
    B, known = W @ G, W.copy()
    descend_rows(G, B, W, 2**40, 0.0)  # rounding moves it for ever
    assert_allclose(W, known, rtol=1e-15)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 1.5])
def test_sparse_rows_are_dense_only_in_blocks(loss):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 2500), density=0.01, rng=rng).tocsr()  # blocks of 64 rows
    solver = dict(solver="mu", beta_loss=loss, init="random", random_state=0, max_iter=3, tol=0.0)
    few, all_ = (NMF(2, **solver).fit(table) for table in (X, X.toarray()))
    assert few.reconstruction_err_ == pytest.approx(all_.reconstruction_err_, rel=1e-9)
    assert few.kkt_residual_ == pytest.approx(all_.kkt_residual_, rel=1e-6)
    if loss != 1.5:
        assert few.loglik(X) == pytest.approx(few.loglik(X.toarray()), rel=1e-9)
    else:
        with pytest.raises(DataError, match="loglik"):
            few.loglik(X)


@pytest.mark.parametrize(
    "options", [{}, {"alpha_W": 0.02, "alpha_H": 0.01, "l1_ratio": 0.3}, {"init": "random"}]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_of_few_rows_are_those_of_products(options, dtype, monkeypatch):
    X, weight = parts(noise=0.1).astype(dtype), np.arange(40) % 3
    found = NMF(3, random_state=0, max_iter=25, tol=0, **options).fit(X, sample_weight=weight)
    monkeypatch.setattr(_nonnegative, "FEW_PRODUCTS", 0)
    other = NMF(3, random_state=0, max_iter=25, tol=0, **options).fit(X, sample_weight=weight)
    assert_allclose(found.trace_.objective, other.trace_.objective, rtol=1e-6)
    assert_allclose(found.components_, other.components_, rtol=1e-5, atol=1e-6)
    assert (np.diff(found.trace_.objective) <= 1e-9 * found.trace_.objective[0]).all()


@pytest.mark.parametrize(
    "options", [{}, {"max_iter": 7}, {"tol": 1e-2, "alpha_W": 0.01}, {"update_order": "HW"}]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_steps_that_nobody_sees_have_the_same_bits(options):
    X = parts(noise=0.1)
    unseen = NMF(3, random_state=0, **options).fit(X)
    seen = NMF(3, random_state=0, **options).set_callbacks(TimeBudget(1e9)).fit(X)
    copies = list(NMF(3, random_state=0, **options).iterate(X))
    for other in (seen, copies[-1]):
        for name in ("components_", "n_iter_", "converged_", "reconstruction_err_", "kkt_residual_"):
            np.testing.assert_array_equal(getattr(unseen, name), getattr(other, name))
        np.testing.assert_array_equal(unseen.trace_.objective, other.trace_.objective)
    assert len(copies) == unseen.n_iter_ + 1


@pytest.mark.parametrize("options", [{}, {"solver": "mu", "beta_loss": "kullback-leibler"}])
def test_sparse_rows_need_little_more_memory_than_themselves_and_the_factors(options):
    X = sp.random_array((6000, 2000), density=0.02, rng=np.random.default_rng(0), format="csr")
    model = NMF(4, max_iter=3, tol=0, random_state=0, **options)
    model.fit(X)  # compiled
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * (X.data.nbytes + X.indices.nbytes + 8 * model.n_parameters_)


def test_leading_directions_of_many_rows_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((5000, 4)) @ rng.random((4, 40)) + 1e-9 * rng.random((5000, 40)))
    s, Vt = singular.leading_directions(X, 4, 0)
    _, exact, Wt = np.linalg.svd(X.toarray(), full_matrices=False)
    assert_allclose(s, exact[:4], rtol=1e-6)
    assert_allclose(np.abs((Vt * Wt[:4]).sum(axis=1)), 1.0, rtol=1e-6)
    flat = sp.csr_array(np.outer(np.arange(1.0, 4001.0), np.ones(30)))  # of rank one
    s, Vt = singular.leading_directions(flat, 3, 0)
    assert_allclose(s[0], np.sqrt(30.0) * np.linalg.norm(np.arange(1.0, 4001.0)))
    assert s[1:].max() < 1e-12 * s[0]


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("options", [dict(solver="cd"), dict(solver="cd", alpha_W=0.3)])
def test_few_sparse_rows_are_the_dense_ones_to_the_bit(container, options):
    X = counts(12, 8)
    X[:, ::2] = 0
    options = dict(init="random", tol=0, max_iter=60, random_state=0, **options)
    dense, thin = NMF(3, **options).fit(X), NMF(3, **options).fit(container(X))
    assert (thin.components_ == dense.components_).all()
    assert thin.reconstruction_err_ == dense.reconstruction_err_


@pytest.mark.parametrize(
    ("loss", "power"), [("frobenius", 1.0), ("kullback-leibler", 0.5), ("itakura-saito", 0.0)]
)
def test_error_has_the_units_of_its_loss(loss, power):
    X = 0.1 + parts(30, 8, noise=0.3)
    options = dict(solver="mu", beta_loss=loss, init="nndsvda", random_state=0, max_iter=60, tol=0)
    plain = NMF(3, **options).fit(X)
    for scale in (1e8, 1e-8):
        scaled = NMF(3, **options).fit(X * scale)
        assert_allclose(scaled.reconstruction_err_, plain.reconstruction_err_ * scale**power, rtol=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 1.0])
def test_penalties_share_out_as_in_scikit_learn(l1_ratio):
    rng = np.random.default_rng(3)
    X, W, H = rng.gamma(1.0, size=(30, 12)), rng.random((30, 3)), rng.random((3, 12))
    options = {"alpha_W": 0.05, "alpha_H": 0.02, "l1_ratio": l1_ratio, "max_iter": 3000, "tol": 1e-9}
    ours = NMF(3, init="custom", **options)
    theirs = decomposition.NMF(3, init="custom", solver="cd", **options)
    near = ours.fit_transform(X, W=W.copy(), H=H.copy())
    np.testing.assert_allclose(near, theirs.fit_transform(X, W=W.copy(), H=H.copy()), atol=1e-6)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    parts = [(0.05 * 12, near), (0.02 * 30, ours.components_)]
    penalty = sum(a * (l1_ratio * V.sum() + (1 - l1_ratio) / 2 * (V**2).sum()) for a, V in parts)
    whole = ((X - near @ ours.components_) ** 2).sum() / 2 + penalty
    assert ours.trace_[-1] == pytest.approx(whole, rel=1e-9)


def test_the_worst_row_of_all_parts_counts():
    one = Gradients(3.0, 5.0, np.array([[1.0, -2.0]]), np.array([[4.0, 1.0]]))
    other = Gradients(1.0, 7.0, np.array([[0.5, 2.0]]), np.array([[1.0, 2.0]]))
    for both in (one.merge(other), other.merge(one)):
        assert (both.worst, both.size) == (3.0, 7.0)
        assert both.H.tolist() == [[1.5, 0.0]] and both.H_size.tolist() == [[5.0, 3.0]]
