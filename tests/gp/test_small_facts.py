"""Small facts of Gaussian processes: a process seen through a few points, by its formulas with whole matrices."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from gnomon.core.callbacks import Checkpoint
from gnomon.core.errors import DataError
from gnomon.gp import GaussianProcessClassifier, GaussianProcessRegressor
from gnomon.kernels import RBF, ConstantKernel, FunctionKernel, WhiteKernel

RNG = np.random.default_rng(3)
X, ASKED = RNG.uniform(-2, 2, size=(17, 2)), RNG.uniform(-2, 2, size=(5, 2))
Y = np.column_stack([np.sin(X[:, 0]) + 0.2 * RNG.normal(size=17), X[:, 1] ** 2])
Z = X[[0, 3, 8, 11]] + 0.05


@pytest.mark.parametrize("white", [0.0, 0.3])
@pytest.mark.parametrize("alpha", [0.2, np.linspace(0.05, 0.4, 17)], ids=["one noise", "noise of rows"])
@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one target", "two targets"])
@pytest.mark.parametrize("normalize_y", [False, True])
def test_a_sparse_process_by_its_definition(y, alpha, white, normalize_y):
    """ln N(y | 0, Q + Λ) - ½ Σ (k_ii - q_ii)/λ_i, and the posterior of Titsias (2009)."""
    smooth = ConstantKernel(1.7) * RBF([0.8, 1.3])
    kernel = smooth + WhiteKernel(white) if white else smooth
    options = {"optimizer": None, "inducing": Z, "alpha": alpha, "normalize_y": normalize_y}
    model = GaussianProcessRegressor(kernel, **options).fit(X, y)
    shift, scale = (y.mean(axis=0), y.std(axis=0)) if normalize_y else (0.0, 1.0)
    targets = ((y - shift) / scale).reshape(17, -1)
    noise = np.diag(np.broadcast_to(alpha, 17) + white)
    inside, cross, asked = smooth(Z), smooth(X, Z), smooth(ASKED, Z)
    Q = cross @ np.linalg.solve(inside, cross.T)
    law = stats.multivariate_normal(np.zeros(17), Q + noise)
    lost = 0.5 * ((1.7 - np.diag(Q)) / np.diag(noise)).sum()
    bound = sum(law.logpdf(t) - lost for t in targets.T)
    assert model.log_marginal_likelihood_value_ == pytest.approx(bound, rel=1e-6)
    after = np.linalg.inv(inside + cross.T @ np.linalg.solve(noise, cross))
    mean = asked @ after @ cross.T @ np.linalg.solve(noise, targets)
    covariance = smooth(ASKED) - asked @ np.linalg.solve(inside, asked.T) + asked @ after @ asked.T
    covariance += white * np.eye(5)
    found, joint = model.predict(ASKED, return_cov=True)
    np.testing.assert_allclose(found.reshape(5, -1), mean * scale + shift, rtol=1e-5, atol=1e-7)
    wanted = np.multiply.outer(covariance, np.atleast_1d(np.square(scale) * np.ones(targets.shape[1])))
    np.testing.assert_allclose(joint.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-7)
    spread = np.sqrt(wanted[np.arange(5), np.arange(5)])
    std = model.predict(ASKED, return_std=True)[1]
    np.testing.assert_allclose(std.reshape(spread.shape), spread, rtol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_likeliest_class_is_said(classes):
    labels = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.8] if classes == 3 else [0.0])]
    model = GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(X, labels)
    P = model.predict_proba(ASKED)
    assert P.shape == (5, classes) and (P > 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    best = [max(zip(row, model.classes_.tolist()))[1] for row in P]
    assert model.predict(ASKED).tolist() == best


@pytest.mark.parametrize("inducing", [None, Z])
@pytest.mark.parametrize("normalize_y", [False, True])
def test_a_column_of_targets_is_one_target(inducing, normalize_y):
    options = {"optimizer": None, "alpha": 0.2, "inducing": inducing, "normalize_y": normalize_y}
    flat = GaussianProcessRegressor(RBF(1.0), **options).fit(X, Y[:, 0])
    column = GaussianProcessRegressor(RBF(1.0), **options).fit(X, Y[:, :1])
    for ask in ({}, {"return_std": True}, {"return_cov": True}):
        one, other = (np.asarray(m.predict(ASKED, **ask)[-1 if ask else slice(None)]) for m in (flat, column))
        assert one.shape == other.shape == ((5, 5) if "return_cov" in ask else (5,))
        np.testing.assert_allclose(one, other)
    assert column.sample_y(ASKED, 3).shape == (5, 3)


@pytest.mark.parametrize("y", [100 + 7 * Y[:, 0], Y * [7.0, 0.1]], ids=["one target", "two targets"])
def test_rows_left_out_have_the_units_of_their_targets(y):
    options = {"alpha": 0.2, "optimizer": None, "normalize_y": True}
    mean, variance = GaussianProcessRegressor(RBF(1.0), **options).fit(X, y).loo_predict()
    A = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) + 0.2 * np.eye(17)
    shift, scale = y.mean(axis=0), y.std(axis=0)
    assert mean.shape == variance.shape == y.shape
    for i in range(17):
        rest = np.arange(17) != i
        k = np.linalg.solve(A[np.ix_(rest, rest)], A[rest, i])
        np.testing.assert_allclose(mean[i], k @ (y[rest] - shift) + shift)
        np.testing.assert_allclose(variance[i], (1.2 - k @ A[rest, i]) * scale**2)


def test_one_row_may_have_two_targets():
    model = GaussianProcessRegressor(RBF(1.0), alpha=1.0, optimizer=None).fit([[0.0, 0.0]], [[2.0, -4.0]])
    mean, std = model.predict([[0.0, 0.0], [1.0, 0.0]], return_std=True)
    k = np.exp(-0.5)
    np.testing.assert_allclose(mean, [[1.0, -2.0], [k, -2 * k]])
    np.testing.assert_allclose(std, np.sqrt([[0.5, 0.5], [1 - k * k / 2] * 2]))
    assert model.sample_y([[0.0, 0.0]], 4).shape == (1, 2, 4)


def test_the_number_of_targets_is_that_of_y():
    told = GaussianProcessRegressor(RBF(1.0), n_targets=2, optimizer=None)
    assert told.predict(ASKED).shape == (5, 2) and told.sample_y(ASKED, 3).shape == (5, 2, 3)
    prior = told.predict(ASKED, return_cov=True)[1]
    assert prior.shape == (5, 5, 2)
    np.testing.assert_allclose(prior[..., 1], RBF(1.0)(ASKED))
    assert told.predict(ASKED, return_std=True)[1].tolist() == [[1.0, 1.0]] * 5
    told.fit(X, Y)
    for y in (Y[:, 0], Y[:, :1]):
        with pytest.raises(ValueError, match="n_targets`. Got 1 != 2"):
            told.fit(X, y)


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0])
def test_targets_are_standardized_by_their_moments(spread):
    """Rounding alone is no spread: a constant column is only shifted."""
    y = 5.0 + spread * np.array([1.0, -1.0, 1.0, -1.0])
    rows = np.arange(4.0)[:, None]
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.5, optimizer=None, normalize_y=True).fit(rows, y)
    assert model.y_mean_ == pytest.approx(5.0)
    assert model.y_scale_ == pytest.approx(spread or 1.0)
    far = model.predict([[50.0]], return_std=True)
    assert far[0] == pytest.approx(5.0) and far[1] == pytest.approx(spread or 1.0)


def test_noise_beside_the_kernel_is_one_number_or_one_a_row():
    rows, y = np.arange(3.0)[:, None], np.array([0.0, 1.0, -1.0])
    told = [
        GaussianProcessRegressor(RBF(1.0), alpha=alpha, optimizer=None).fit(rows, y).predict(rows)
        for alpha in (0.3, [0.3], np.full(3, 0.3))
    ]
    K = RBF(1.0)(rows)
    for one in told:
        np.testing.assert_allclose(one, K @ np.linalg.solve(K + 0.3 * np.eye(3), y))
    for wrong, words in (
        ([0.1, 0.2], r"same number of entries as y. \(2 != 3\)"),
        (np.ones((3, 1)), r"\(3, 1 != 3\)"),
        ([0.1, -1e-9, 0.1], "none negative"),
        ([0.1, np.inf, 0.1], "finite variances"),
        ([0.1, np.nan, 0.1], "finite variances"),
    ):
        with pytest.raises(ValueError, match=words):
            GaussianProcessRegressor(RBF(1.0), alpha=wrong, optimizer=None).fit(rows, y)
    GaussianProcessRegressor(RBF(1.0), alpha=0.0, optimizer=None).fit(rows, y)


class Stop:
    """Interrupts a fit after so many steps."""

    def __init__(self, after):
        self.left = after

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("kind", ["exact", "sparse", "two classes", "three classes"])
def test_a_killed_climb_goes_on_where_it_was(kind, tmp_path):
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    if "classes" in kind:
        y = np.digitize(X[:, 0], [-0.5, 0.8] if kind == "three classes" else [0.0])
        model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0), max_iter=6)
    else:
        y = Y[:, 0]
        model = GaussianProcessRegressor(kernel, inducing=Z if kind == "sparse" else None, max_iter=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # six steps may not be enough
        whole = clone(model).fit(X, y)
        path = tmp_path / "climb"
        with pytest.raises(KeyboardInterrupt):
            clone(model).set_callbacks(Checkpoint(path, every_seconds=0), Stop(3)).fit(X, y)
        again = clone(model).set_callbacks(Checkpoint(path, every_seconds=0)).fit(X, y)
    np.testing.assert_allclose(again.kernel_.theta, whole.kernel_.theta, rtol=1e-12)
    np.testing.assert_allclose(again.trace_.objective, whole.trace_.objective, rtol=1e-12)
    assert again.n_iter_ == whole.n_iter_ > 3
    np.testing.assert_allclose(
        again.predict(ASKED).astype(float), whole.predict(ASKED).astype(float), rtol=1e-9
    )


def test_places_without_an_evidence_are_infinitely_bad():
    """c·[[0, 1], [1, 0]] + I is a covariance for c < 1 alone."""
    other = ConstantKernel(0.1) * FunctionKernel(lambda a, b: float(a != b), vectorized=False)
    model = GaussianProcessRegressor(other, alpha=1.0, optimizer=None).fit(["u", "v"], [1.0, 2.0])
    A = np.array([[1.0, 0.5], [0.5, 1.0]])
    wanted = stats.multivariate_normal([0.0, 0.0], A).logpdf([1.0, 2.0])
    assert model.log_marginal_likelihood([np.log(0.5)]) == pytest.approx(wanted)
    assert model.log_marginal_likelihood([3.0]) == -np.inf
    value, slope = model.log_marginal_likelihood([3.0], eval_gradient=True)
    assert value == -np.inf and slope.tolist() == [0.0]
    found = GaussianProcessRegressor(other, alpha=1.0).fit(["u", "v"], [1.0, 2.0])  # climbs, but not out
    top = minimize_scalar(
        lambda c: -stats.multivariate_normal([0.0, 0.0], [[1.0, c], [c, 1.0]]).logpdf([1.0, 2.0]),
        bounds=(0.0, 0.999), method="bounded",
    )  # fmt: skip
    assert np.exp(found.kernel_.theta[0]) == pytest.approx(top.x, abs=1e-3)


@pytest.mark.parametrize("inducing", [None, Z])
@pytest.mark.parametrize(
    "kernel",
    [
        ConstantKernel(1.3) * RBF(0.8, "fixed"),
        ConstantKernel(1.3, "fixed") * RBF([0.8, 1.1]),
        ConstantKernel(1.3) * RBF([0.8, 1.1], "fixed") + WhiteKernel(0.2),
        RBF(0.8) + WhiteKernel(0.2, "fixed"),
    ],
    ids=["constant", "lengths", "noise", "length"],
)
def test_slopes_of_what_is_free(kernel, inducing):
    found = []

    def ask(loss, start, bounds):
        value, slopes = loss(start)
        step = 1e-5 * np.eye(len(start))
        found.append((slopes, [(loss(start + d)[0] - loss(start - d)[0]) / 2e-5 for d in step]))
        return start, value

    model = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=ask, inducing=inducing).fit(X, Y[:, 0])
    ((slopes, differences),) = found
    assert len(slopes) == kernel.n_dims
    np.testing.assert_allclose(slopes, differences, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.kernel_.theta, kernel.theta)


def test_targets_of_things_are_standardized_too():
    words, y = ["ab", "abc", "xy", "xyz"], np.array([10.0, 12.0, 20.0, 24.0])
    kernel = FunctionKernel(lambda a, b: float(len(set(a) & set(b))), vectorized=False)
    model = GaussianProcessRegressor(kernel, alpha=0.5, optimizer=None, normalize_y=True).fit(words, y)
    assert model.y_mean_ == pytest.approx(16.5) and model.y_scale_ == pytest.approx(y.std())
    K = np.array([[float(len(set(a) & set(b))) for b in words] for a in words])
    mean = K @ np.linalg.solve(K + 0.5 * np.eye(4), (y - 16.5) / y.std()) * y.std() + 16.5
    np.testing.assert_allclose(model.predict(words), mean)


def test_before_any_data_a_process_is_its_prior():
    model = GaussianProcessRegressor(ConstantKernel(4.0) * RBF(1.0) + WhiteKernel(0.5), alpha=0.25)
    mean, std = model.predict(ASKED, return_std=True)
    assert mean.tolist() == [0.0] * 5
    np.testing.assert_allclose(std, np.sqrt(4.5))
    np.testing.assert_allclose(
        model.predict(ASKED, return_cov=True)[1], 4 * RBF(1.0)(ASKED) + 0.5 * np.eye(5)
    )
    np.testing.assert_allclose(model.predict_distribution(ASKED).std(), 2.0)
    np.testing.assert_allclose(model.predict_distribution(ASKED, noise=True).std(), np.sqrt(4.75))
    np.testing.assert_allclose(
        model.predict_distribution(ASKED, noise=np.arange(5.0)).var(), 4.5 + np.arange(5)
    )
    low, high = model.predict_interval(ASKED, 0.5)
    np.testing.assert_allclose(high, 0.6744897502 * np.sqrt(4.75))
    np.testing.assert_allclose(low, -high)
    draws = model.sample_y(ASKED, 20_000)
    np.testing.assert_allclose(np.cov(draws), 4 * RBF(1.0)(ASKED) + 0.5 * np.eye(5), atol=0.2)
    for wrong in (np.ones(4), np.full(5, -1.0), np.ones((5, 1))):
        with pytest.raises(DataError, match="one variance for each of the 5 rows"):
            model.predict_distribution(ASKED, noise=wrong)
    with pytest.raises(RuntimeError, match="At most one"):
        model.predict(ASKED, return_std=True, return_cov=True)
