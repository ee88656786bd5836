"""A killed lasso goes on to the same bits, from a file that holds neither the data nor products of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from compare import assert_same_bits
from gnomon.core import callbacks
from gnomon.core.callbacks import Checkpoint
from gnomon.linear import ElasticNet, Lasso
from gnomon.solvers.coordinate import Penalized
from gnomon.solvers.working_sets import MomentEngine
from killing import Killed


def table(n, d, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if form is not np.asarray:
        X[rng.random((n, d)) < 0.8] = 0.0
    y = X[:, :8] @ np.arange(1.0, 9.0) + rng.normal(size=n)
    return form(X), y


CASES = {
    "wide": (80, 900, np.asarray),
    "tall": (60, 50, np.asarray),
    "sparse": (300, 900, sparse.csr_array),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_killed_fit_ends_with_the_bits_of_an_undisturbed_one(case, after, tmp_path, monkeypatch):
    X, y = table(*CASES[case])
    sizes, write = [], callbacks.write_atomically
    monkeypatch.setattr(
        callbacks,
        "write_atomically",
        lambda path, content: (sizes.append(len(content)), write(path, content)),
    )
    for model in (Lasso(0.02, tol=1e-10), ElasticNet(0.05, l1_ratio=0.7, tol=1e-10)):
        whole = type(model)(**model.get_params()).fit(X, y)
        assert len(whole.trace_) > after
        path = tmp_path / type(model).__name__
        with pytest.raises(KeyboardInterrupt):
            type(model)(**model.get_params()).set_callbacks(
                Checkpoint(path, every_seconds=0), Killed(after)
            ).fit(X, y)
        again = model.set_callbacks(Checkpoint(path, every_seconds=0)).fit(X, y)
        for name in ("coef_", "intercept_", "dual_gap_", "dual_point_", "n_iter_"):
            assert_same_bits(getattr(again, name), getattr(whole, name))
        assert_same_bits(again.trace_.objective, whole.trace_.objective)
    if case == "wide":
        assert sizes and max(sizes) < X.nbytes


@pytest.mark.parametrize("shape", [(60, 50), (400, 12)])
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
@pytest.mark.parametrize("positive", [False, True])
def test_the_steps_of_a_tall_fit_are_those_of_an_unseen_one(shape, tol, positive):
    X, y = table(*shape, np.asarray)
    model = ElasticNet(0.05, l1_ratio=0.9, tol=tol, positive=positive)
    copies = list(model.iterate(X, y))
    model.fit(X, y)
    assert len(copies) == model.n_iter_ + 1 > 3
    for name in ("coef_", "intercept_", "dual_gap_", "dual_point_"):
        assert_same_bits(getattr(copies[-1], name), getattr(model, name))
    assert_same_bits(copies[-1].trace_.objective, model.trace_.objective)
    assert_same_bits(copies[-1].trace_.certificate, model.trace_.certificate)
    w, Z, r = np.zeros(shape[1]), X - X.mean(axis=0), y - y.mean()  # a slow twin: sweeps on the residual
    for copy in copies[1:3]:
        for j, z in enumerate(Z.T):
            slope = z @ r / len(y) + w[j] * (z @ z) / len(y)
            new = max(abs(slope) - 0.045, 0.0) * np.sign(slope) / (z @ z / len(y) + 0.005)
            new = max(new, 0.0) if positive else new
            r, w[j] = r - (new - w[j]) * z, new
        np.testing.assert_allclose(copy.coef_, w, atol=1e-12)
        objective = r @ r / (2 * len(y)) + 0.045 * np.abs(w).sum() + 0.0025 * w @ w
        assert copy.trace_.objective[-1] == pytest.approx(objective, rel=1e-12)


def test_a_limit_in_the_midst_of_sweeps_is_kept():
    X, y = table(60, 50, np.asarray)
    model = Lasso(0.05, tol=1e-9, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="its certificate is"):
        model.fit(X, y)
    *_, third = (copy for copy, _ in zip(model.iterate(X, y), range(4)))
    assert_same_bits(third.coef_, model.coef_)
    assert model.n_iter_ == 3 and not model.converged_


def test_a_warm_start_is_taken_up_again(tmp_path):
    X, y = table(*CASES["wide"])
    models = []
    for killed in (False, True):
        model = Lasso(0.5, warm_start=True).fit(X, y).set_params(alpha=0.02, tol=1e-10)
        if killed:
            path = tmp_path / "fit"
            with pytest.raises(KeyboardInterrupt):
                model.set_callbacks(Checkpoint(path, every_seconds=0), Killed(1)).fit(X, y)
            model.set_callbacks(Checkpoint(path, every_seconds=0))
        models.append(model.fit(X, y))
    assert len(models[0].trace_) > 1
    assert_same_bits(models[0].coef_, models[1].coef_)


def test_an_engine_on_moments_goes_on_from_its_snapshot():
    X, y = table(200, 20, np.asarray)
    pen, lots = Penalized(3.0, 0.5, False), []
    for moved in (False, True):
        engine = MomentEngine(X.T @ X, X.T @ y, float(y @ y))
        engine.advance(pen, 1e-3 * engine.yy)
        if moved:
            fresh = MomentEngine(X.T @ X, X.T @ y, float(y @ y))
            fresh.restore(engine.snapshot())
            engine = fresh
        check = engine.advance(pen, 1e-12 * engine.yy)
        lots.append((engine.w, engine.corr, engine.sweeps, engine.asked, tuple(check)))
    for one, other in zip(*lots, strict=True):
        assert_same_bits(one, other)
