"""Gaussian process classification: the numbers of the books, the mode, slopes, several classes."""

import numpy as np
import pytest
from scipy.special import expit

from gnomon import load, save
from gnomon.core.errors import DataError, ModelFileError
from gnomon.gp import GaussianProcessClassifier
from gnomon.gp.laplace import averaged_sigmoid
from gnomon.kernels import RBF, ConstantKernel

X5, y5 = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), np.array([0, 0, 1, 0, 1])


def crossed(n=50, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_five_points():
    model = GaussianProcessClassifier().fit(X5, y5)
    mode = [-0.5487750, -0.3826371, -0.0325166, 0.0170179, 0.2067824]
    np.testing.assert_allclose(model.fits_[0].mode, mode, atol=1e-7)
    assert model.log_marginal_likelihood_value_ == pytest.approx(-3.7111330, abs=1e-7)
    Q = [[0.0], [1.5], [4.0]]
    mean, variance = model.latent_mean_and_variance(Q)
    np.testing.assert_allclose(mean, [-0.0325166, 0.0971344, 0.0552634], atol=1e-7)
    np.testing.assert_allclose(variance, [0.7059283, 0.7144556, 0.9963612], atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(Q)[:, 1], [0.4929585, 0.5209943, 0.5114231], atol=1e-7)


def test_the_slope_vanishes_at_the_mode():
    X, y = crossed()
    fit = GaussianProcessClassifier(ConstantKernel(5.0) * RBF(0.8), optimizer=None).fit(X, y).fits_[0]
    slope = y - 1 / (1 + np.exp(-fit.mode))  # of the likelihood; that of the prior is −K⁻¹f
    np.testing.assert_allclose(fit.mode, fit.kernel(X) @ slope, atol=1e-5)


def test_slopes_are_differences():
    X, y = crossed()
    model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF([1.0, 1.0]), optimizer=None).fit(X, y)
    theta = np.array([0.4, 0.2, -0.3])
    _, slopes = model.log_marginal_likelihood(theta, eval_gradient=True)
    for j, e in enumerate(1e-5 * np.eye(3)):
        pair = [model.log_marginal_likelihood(theta + s * e) for s in (1, -1)]
        assert slopes[j] == pytest.approx((pair[0] - pair[1]) / 2e-5, rel=1e-6)


def test_turning_the_labels_turns_the_probabilities():
    X, y = crossed()
    model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0))
    P, turned = model.fit(X, y).predict_proba(X), model.fit(X, 1 - y).predict_proba(X)
    np.testing.assert_allclose(P[:, 1], turned[:, 0], atol=1e-6)


def test_doubt_pulls_to_one_half():
    X, y = crossed()
    model = GaussianProcessClassifier(ConstantKernel(4.0) * RBF(1.0), optimizer=None).fit(X, y)
    soft, hard = model.predict_proba(X)[:, 1], model.predict_proba(X, "map")[:, 1]
    assert (np.abs(soft - 0.5) <= np.abs(hard - 0.5) + 1e-12).all()
    assert ((soft - 0.5) * (hard - 0.5) >= 0).all()
    np.testing.assert_allclose(model.predict_proba(X, "probit")[:, 1], soft, atol=0.02)
    assert model.predict_proba([[40.0, 40.0]])[0, 1] == pytest.approx(0.5)
    with pytest.raises(DataError, match="method"):
        model.predict_proba(X, "guess")


def test_the_sigmoid_is_averaged_however_wide_the_normal():
    mean, deviation = (
        part.ravel() for part in np.meshgrid([-30.0, -2.0, 0.1, 7.0], [1e-3, 0.9, 1.1, 6.0, 80.0])
    )
    fine = np.linspace(-9, 9, 40_001)
    weight = np.exp(-0.5 * fine**2) / np.exp(-0.5 * fine**2).sum()
    expected = expit(mean[:, None] + deviation[:, None] * fine) @ weight
    np.testing.assert_allclose(averaged_sigmoid(mean, deviation), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_three_classes(multi_class):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 15)
    X = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]], 15, axis=0) + rng.normal(size=(45, 2))
    model = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0), multi_class=multi_class).fit(X, y)
    assert model.score(X, y) > 0.9 and model.n_classes_ == 3
    if multi_class == "one_vs_rest":
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    else:
        with pytest.raises(ValueError, match="one_vs_rest"):
            model.predict_proba(X)
    assert np.isfinite(model.log_marginal_likelihood(np.zeros(2)))
    assert model.kernel_.n_dims == 6


def test_evidence_never_falls_and_one_class_is_refused():
    X, y = crossed()
    model = GaussianProcessClassifier(
        ConstantKernel(1.0) * RBF(1.0), n_restarts_optimizer=1, random_state=0
    ).fit(X, y)
    assert (np.diff(model.trace_.objective) >= 0).all()
    with pytest.raises(ValueError, match="1 class"):
        model.fit(X, np.zeros(50))


def test_saved_and_loaded(tmp_path):
    X, y = crossed()
    model = GaussianProcessClassifier().fit(X, y)
    save(model, tmp_path / "model")
    twin = load(tmp_path / "model")
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    twin.fits_ = [twin.fits_[0]._replace(slope=np.zeros(3))]
    with pytest.raises(ModelFileError):
        twin._check_loaded()


@pytest.mark.parity
def test_same_as_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessClassifier as Theirs
    from sklearn.gaussian_process import kernels as k

    X, y = crossed()
    ours = GaussianProcessClassifier(ConstantKernel(1.0) * RBF([1.0, 1.0])).fit(X, y)
    theirs = Theirs(k.ConstantKernel(1.0) * k.RBF([1.0, 1.0])).fit(X, y)
    there = ours.log_marginal_likelihood(theirs.kernel_.theta)  # theirs stops before it is at the mode
    assert ours.log_marginal_likelihood_value_ >= there - 1e-6
    same = GaussianProcessClassifier(k.ConstantKernel(2.0) * k.RBF(0.7), optimizer=None).fit(X, y)
    that = Theirs(k.ConstantKernel(2.0) * k.RBF(0.7), optimizer=None).fit(X, y)
    np.testing.assert_allclose(
        same.predict_proba(X), that.predict_proba(X), atol=2e-3
    )  # theirs is approximate
