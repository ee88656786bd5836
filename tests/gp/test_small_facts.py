"""Small facts of Gaussian processes: a process seen through a few points, by its formulas with whole matrices."""

import numpy as np
import pytest
from scipy import stats

from gnomon.gp import GaussianProcessClassifier, GaussianProcessRegressor
from gnomon.kernels import RBF, ConstantKernel, WhiteKernel

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
