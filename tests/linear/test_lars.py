"""The exact lasso path: knots by hand, optimality at every knot, agreement with the peers."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from compare import assert_same_bits
from gnomon.core.callbacks import Checkpoint
from gnomon.linear import LassoLars, LinearRegression, lars_path
from killing import Killed

A = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
YA = np.array([1.0, 2.0, 3.0, 5.0])


def centered(seed, n=30, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    return X - X.mean(axis=0), y - y.mean()


def assert_optimal(X, y, w, alpha, atol=1e-9):
    """|Xᵀr|/n ≤ α, with equality and sign on the support."""
    c = X.T @ (y - X @ w) / len(X)
    assert (np.abs(c) <= alpha + atol).all()
    support = np.abs(w) > 1e-10
    np.testing.assert_allclose(c[support], alpha * np.sign(w[support]), atol=atol)


def test_knots_by_hand():
    """R28."""
    path = lars_path(A - A.mean(axis=0), YA - YA.mean(), method="lasso")
    np.testing.assert_allclose(path.alphas, [1.625, 0.0625, 0.0], atol=1e-12)
    np.testing.assert_allclose(path.coefs.T, [[0, 0], [1.25, 0], [1.375, -0.125]], atol=1e-12)
    assert path.active == [0, 1]


def test_lasso_by_hand():
    """R24."""
    for alpha, coef, intercept in [(1.0, 0.5, 1.5), (0.5, 0.9, 0.5), (0.25, 1.1, 0.0), (0.1, 1.22, -0.3)]:
        model = LassoLars(alpha).fit(A, YA)
        np.testing.assert_allclose([*model.coef_, model.intercept_], [coef, 0.0, intercept], atol=1e-9)
    np.testing.assert_array_equal(LassoLars(1.625).fit(A, YA).coef_, 0.0)


@given(st.integers(0, 10_000), st.sampled_from([(30, 8), (8, 20)]))
def test_every_point_of_the_path_is_optimal(seed, shape):
    X, y = centered(seed, *shape)
    path = lars_path(X, y, method="lasso", alpha_min=1e-3 if shape[0] < shape[1] else 0.0)
    size = np.abs(X.T @ y).max() / len(X)
    assert (np.diff(path.alphas) <= 0).all()
    for alpha, w in zip(path.alphas, path.coefs.T, strict=True):
        assert_optimal(X, y, w, alpha, atol=1e-7 * size)
        assert (w != 0).sum() <= min(shape)
    middle = (path.alphas[0] + path.alphas[1]) / 2
    assert_optimal(X, y, path.coef_at(middle), middle, atol=1e-7 * size)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(
            path.coefs[:, -1], LinearRegression().fit(X, y).coef_, rtol=1e-6, atol=1e-8
        )


def test_a_coefficient_leaves_and_returns():
    X, y = load_diabetes(return_X_y=True)
    path = lars_path(X, y - y.mean(), method="lasso")
    support = path.coefs != 0
    left = [(support[j, :-1] & ~support[j, 1:]).any() for j in range(10)]
    assert any(left)  # high-density lipoprotein does


def test_plain_least_angle_never_drops():
    X, y = load_diabetes(return_X_y=True)
    path = lars_path(X, y - y.mean(), method="lar")
    assert path.coefs.shape[1] == 11 and len(path.active) == 10


def test_positive_path():
    X, y = centered(3)
    path = lars_path(X, y, method="lasso", positive=True)
    assert (path.coefs >= -1e-12).all()
    w = path.coefs[:, -1]
    c = X.T @ (y - X @ w) / len(X)
    assert (c <= 1e-8).all() and np.abs(c[w > 1e-9]).max() < 1e-8


def test_tied_columns_come_together_and_copies_are_skipped():
    path = lars_path(np.eye(3), np.array([3.0, 3.0, -1.0]), method="lasso")
    assert set(path.active[:2]) == {0, 1}
    with pytest.warns(UserWarning, match="skipped"):
        lars_path(np.c_[A[:, 0], A[:, 0]], YA)


def test_weight_is_repetition():
    X, y = centered(4)
    s = np.random.default_rng(4).integers(0, 3, size=30)
    a, b = LassoLars(0.1).fit(X, y, s), LassoLars(0.1).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-10)


def test_unknown_method():
    with pytest.raises(ValueError, match="Did you mean 'lasso'"):
        lars_path(A, YA, method="laso")


def test_the_default_is_least_angle_and_the_last_knot_alone_is_the_end_of_the_path():
    X, y = load_diabetes(return_X_y=True)
    whole = lars_path(X, y - y.mean(), method="lar")
    np.testing.assert_array_equal(lars_path(X, y - y.mean()).coefs, whole.coefs)
    alpha, active, coef, n_iter = lars_path(X, y - y.mean(), return_path=False, return_n_iter=True)
    assert alpha == whole.alphas[-1] and active == whole.active and n_iter == 10
    np.testing.assert_array_equal(coef, whole.coefs[:, -1])
    products = lars_path(X, y - y.mean(), X.T @ (y - y.mean()), Gram=X.T @ X)
    np.testing.assert_array_equal(products.coefs, whole.coefs)


def test_what_least_angle_refuses():
    with pytest.raises(ValueError, match="method='lasso'"):
        lars_path(A, YA, positive=True)
    with pytest.raises(ValueError, match="X and Gram cannot both be unspecified"):
        lars_path(None, YA)
    with pytest.raises(ValueError, match="X cannot be None"):
        lars_path(None, YA, Gram=A.T @ A)


def test_several_targets_are_one_path_each():
    Y = np.c_[YA, YA[::-1] ** 2]
    both = LassoLars(0.1).fit(A, Y)
    for k in range(2):
        one = LassoLars(0.1).fit(A, Y[:, k])
        np.testing.assert_array_equal(both.coef_[k], one.coef_)
        np.testing.assert_array_equal(both.intercept_[k], one.intercept_)
        np.testing.assert_array_equal(both.coef_path_[k], one.coef_path_)
        np.testing.assert_array_equal(both.alphas_[k], one.alphas_)
        assert both.active_[k] == one.active_
        np.testing.assert_allclose(both.predict(A)[:, k], one.predict(A), atol=1e-12)


@pytest.mark.parametrize(
    "alpha, order, coef", [(0.5, [1, 2, 0], [0.5, -2.5, 1.5]), (1.5, [1, 2], [0, -1.5, 0.5])]
)
def test_columns_are_named_in_the_order_they_enter(alpha, order, coef):
    X = np.array([[1.0, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]])
    model = LassoLars(alpha).fit(X, X @ [1, -3, 2])
    assert model.active_ == order
    np.testing.assert_allclose(model.coef_, coef, atol=1e-12)


def test_jitter_moves_y_and_a_path_that_is_not_wanted_is_not_kept():
    plain, moved = LassoLars(0.1).fit(A, YA), LassoLars(0.1, jitter=1e-3, random_state=0).fit(A, YA)
    assert 0 < np.abs(plain.coef_ - moved.coef_).max() < 1e-2
    short = LassoLars(0.1, fit_path=False).fit(A, YA)
    np.testing.assert_array_equal(short.coef_, plain.coef_)
    assert not hasattr(short, "coef_path_") and hasattr(plain, "coef_path_")


@pytest.mark.parity
@pytest.mark.parametrize("method", ["lasso", "lar"])
def test_same_as_scikit_learn(method):
    from sklearn.linear_model import lars_path as peer

    X, y = load_diabetes(return_X_y=True)
    ours = lars_path(X, y - y.mean(), method=method)
    alphas, _, coefs = peer(X, y - y.mean(), method=method)
    np.testing.assert_allclose(ours.alphas, alphas, atol=1e-8)
    np.testing.assert_allclose(ours.coefs, coefs, atol=1e-5)


# Every knot is a step


@pytest.mark.parametrize("options", [{}, {"positive": True}, {"max_iter": 3}, {"alpha": 1e9}])
def test_the_steps_of_a_fit_are_the_knots_of_its_path(options):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6))
    y = X @ [3.0, -2.0, 0.0, 1.0, 0.0, 0.5] + rng.normal(size=40)
    model = LassoLars(**{"alpha": 0.01, **options}).fit(X, y)
    Z, t = X - X.mean(axis=0), y - y.mean()
    kinds = {"positive": model.positive, "max_iter": model.max_iter}
    path = lars_path(Z, t, method="lasso", alpha_min=model.alpha, **kinds)
    np.testing.assert_allclose(model.coef_path_, path.coefs, rtol=1e-12, atol=1e-12)
    knots = len(path.alphas) - 1
    assert model.trace_.unit == "knot" and model.n_iter_ == max(knots, 1)
    np.testing.assert_array_equal(
        model.trace_["alpha"][-knots:], model.alphas_[-knots:] if knots else model.alphas_
    )
    seen = list(LassoLars(**model.get_params()).iterate(X, y))
    for k, one in enumerate(seen[: knots + 1]):
        np.testing.assert_array_equal(one.coef_, model.coef_path_[:, k])


@pytest.mark.parametrize("targets", [1, 2])
def test_a_killed_path_goes_on_from_its_last_knot(targets, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 6))
    Y = X @ rng.normal(size=(6, targets)) + rng.normal(size=(40, targets))
    y = Y[:, 0] if targets == 1 else Y
    model = LassoLars(0.01).fit(X, y)
    path = tmp_path / "path"
    for after in (2, 3):
        with pytest.raises(KeyboardInterrupt):
            LassoLars(0.01).set_callbacks(Checkpoint(path, every_seconds=0), Killed(after)).fit(X, y)
    again = LassoLars(0.01).set_callbacks(Checkpoint(path, every_seconds=0)).fit(X, y)
    assert_same_bits(
        [model.coef_, model.intercept_, model.coef_path_], [again.coef_, again.intercept_, again.coef_path_]
    )
    assert model.n_iter_ == again.n_iter_ >= 6  # every column enters


@pytest.mark.parametrize(("off", "skipped"), [(1e-9, True), (1e-7, False)])
def test_a_column_that_is_nearly_another_is_skipped(off, skipped):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 10_000))  # dependent up to 10⁻¹⁰ for each of the √n
    X = np.c_[x - x.mean(), x - x.mean() + off * (z - z.mean()), rng.normal(size=10_000)]
    y = x + 3e-3 * z + 0.1 * rng.normal(size=10_000)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        LassoLars(alpha=1e-12).fit(X, y)
    assert any("depends on columns already in the path" in str(w.message) for w in told) is skipped
