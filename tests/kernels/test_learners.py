"""Kernel perceptron, passive–aggressive learners and kernel ridge: numbers by hand, twins, properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge as PeerRidge

import gnomon
from gnomon.kernels import (
    RBF,
    FeatureMapKernel,
    KernelPassiveAggressiveClassifier,
    KernelPassiveAggressiveRegressor,
    KernelPerceptron,
    KernelRidge,
    Polynomial,
    PolynomialSum,
)

XOR, SIGNS = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, -1, -1])
FIVE = np.array([[-3.0, 2], [-1, 1], [-1, -1], [2, 2], [1, -1]]), np.array([1, 1, -1, -1, -1])
LINE = np.array([[0.0], [1], [2]]), np.array([0.0, 1, 4])


def cloud(n=30, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)


def test_perceptron_by_hand():
    m = KernelPerceptron("rbf", gamma=0.5).fit(XOR, SIGNS)
    assert m.mistakes_.tolist() == [3, 2, 3, 2] and m.mistake_log_.tolist() == [0, 2, 3, 0, 1, 2, 3, 0, 1, 2]
    assert m.n_iter_ == 4 and m.converged_ and m.intercept_ == pytest.approx(0)
    assert m.decision_function(XOR) == pytest.approx([0.7031056, 0.0709850, -0.7031056, -0.0709850], abs=1e-7)
    m = KernelPerceptron().fit(*FIVE)
    assert m.mistakes_.tolist() == [1, 0, 2, 1, 0] and m.mistake_log_.tolist() == [0, 2, 3, 2]
    assert (m.dual_coef_ @ m.support_vectors_).tolist() == [[-3.0, 2.0]] and m.intercept_ == [-2]
    X = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
    m = KernelPerceptron(PolynomialSum(2)).fit(X, SIGNS)
    assert m.mistakes_.tolist() == [1, 0, 1, 0] and m.n_iter_ == 2


def explicit_perceptron(Z, s, passes):
    """The plain loop over weights, with a column of ones."""
    Z, w, log = np.column_stack([Z, np.ones(len(Z))]), np.zeros(Z.shape[1] + 1), []
    for _ in range(passes):
        for t in range(len(Z)):
            if s[t] * (Z[t] @ w) <= 0:
                w, log = w + s[t] * Z[t], [*log, t]
    return w, log


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_perceptron_makes_the_mistakes_of_its_explicit_twin(seed):
    rng = np.random.default_rng(seed)
    X, s = rng.integers(-3, 4, size=(8, 2)).astype(float), rng.choice([-1, 1], 8)
    s[:2] = -1, 1
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(ConvergenceWarning)
        m = KernelPerceptron(FeatureMapKernel(lambda X: np.column_stack([X, X**2])), max_iter=6).fit(X, s)
    w, log = explicit_perceptron(np.column_stack([X, X**2]), s, m.n_iter_)
    assert m.mistake_log_.tolist() == log and m.intercept_[0] == w[-1]


def test_rows_that_have_nothing_in_common_are_each_mistaken_once():
    m = KernelPerceptron(fit_intercept=False, order="random_mistake", random_state=0)
    m.fit(np.eye(6), [1, 1, 1, -1, -1, 1])
    assert m.converged_ and m.mistakes_.tolist() == [1] * 6


def test_orders_averages_and_partial_fit():
    X, y = cloud()
    for order in ("shuffle", "random_mistake"):
        m = KernelPerceptron("rbf", gamma=2.0, order=order, random_state=0).fit(X, y)
        assert m.converged_ and (m.predict(X) == y).all()
        assert np.array_equal(
            m.mistakes_, KernelPerceptron("rbf", gamma=2.0, order=order, random_state=0).fit(X, y).mistakes_
        )
    back = KernelPerceptron(order=[4, 3, 2, 1, 0]).fit(*FIVE)
    same = KernelPerceptron().fit(FIVE[0][::-1], FIVE[1][::-1])
    assert back.mistakes_.tolist() == same.mistakes_[::-1].tolist()
    mean = KernelPerceptron(average=True, max_iter=3).fit(*FIVE)
    Z, s = np.column_stack([FIVE[0], np.ones(5)]), FIVE[1]
    w, total = np.zeros(3), np.zeros(3)
    for t in [0, 1, 2, 3, 4] * 3:
        w = w + (s[t] * Z[t] if s[t] * (Z[t] @ w) <= 0 else 0)
        total += w
    assert np.append(mean.dual_coef_ @ mean.support_vectors_, mean.intercept_) == pytest.approx(total / 15)
    assert mean.n_iter_ == 3
    part = (
        KernelPerceptron("rbf", gamma=0.5)
        .partial_fit(XOR[:2], SIGNS[:2], classes=[-1, 1])
        .partial_fit(XOR[2:], SIGNS[2:])
    )
    once = KernelPerceptron("rbf", gamma=0.5, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="mistakes in its last pass"):
        once.fit(XOR, SIGNS)
    assert part.decision_function(XOR) == pytest.approx(once.decision_function(XOR))


def test_gaussian_perceptron_separates_any_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    for seed in range(3):
        y = np.random.default_rng(seed).choice([0, 1], 25)
        y[:2] = 0, 1
        m = KernelPerceptron("rbf", gamma=5.0, max_iter=5000).fit(X, y)
        assert m.converged_ and (m.predict(X) == y).all()


def test_more_classes_and_other_rows():
    X, _ = cloud()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for model in (
        KernelPerceptron("rbf", gamma=3.0),
        KernelPassiveAggressiveClassifier(gamma=3.0, max_iter=50),
    ):
        assert (model.fit(X, y).predict(X) == y).mean() > 0.9
        thin = type(model)(**model.get_params()).fit(sparse.csr_matrix(X), y)
        assert thin.decision_function(sparse.csr_matrix(X)) == pytest.approx(model.decision_function(X))
        given_ = type(model)(**{**model.get_params(), "kernel": "precomputed"}).fit(RBF(1 / np.sqrt(6))(X), y)
        assert given_.decision_function(RBF(1 / np.sqrt(6))(X)) == pytest.approx(model.decision_function(X))
    with pytest.raises(ValueError, match="two classes"):
        KernelPerceptron().fit(X, np.zeros(30))
    with pytest.raises(ValueError, match="numbers of rows"):
        KernelPerceptron(order=[99]).fit(*FIVE)


def test_passive_aggressive_by_hand():
    one = KernelPassiveAggressiveClassifier(gamma=0.5, max_iter=1).fit(XOR, SIGNS)
    assert one.step_sizes_ == pytest.approx([1, 0.6321206, 1, 1], abs=1e-7)
    two = KernelPassiveAggressiveClassifier(gamma=0.5, max_iter=2).fit(XOR, SIGNS)
    assert two.dual_coef_[0] == pytest.approx([1.9805172, 1.4844698, -2, -2], abs=1e-7)
    squared = KernelPassiveAggressiveClassifier(gamma=0.5, max_iter=1, loss="squared_hinge").fit(XOR, SIGNS)
    assert squared.step_sizes_ == pytest.approx([0.6666667, 0.5031647, 1.1396924, 0.8601795], abs=1e-7)
    free = KernelPassiveAggressiveClassifier(gamma=0.5, max_iter=1, C=np.inf).fit(XOR, SIGNS)
    assert free.step_sizes_ == pytest.approx([1, 0.6321206, 1.9899312, 1.2578764], abs=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "zero_one"])
def test_every_step_is_the_best_local_one(loss):
    X, y = cloud(12)
    K, C, o = RBF(1.0)(X), 0.7, 1.0
    m = KernelPassiveAggressiveClassifier(gamma=0.5, C=C, loss=loss, max_iter=1, fit_intercept=True).fit(X, y)
    F = np.zeros(12)
    for t, tau in enumerate(m.step_sizes_):
        kappa, margin = K[t, t] + o, y[t] * F[t]

        def cost(step, margin=margin, kappa=kappa):
            after = margin + step * kappa
            hinge = np.maximum(0, 1 - after)
            price = {"hinge": C * hinge, "squared_hinge": C * hinge**2, "zero_one": C * (after <= 0)}[loss]
            return 0.5 * step**2 * kappa + price

        assert cost(tau) <= cost(np.linspace(-1, 3, 2001)).min() + 1e-6
        F += tau * y[t] * (K[t] + o)
    assert m.decision_function(X) == pytest.approx(F)


def test_passive_aggressive_regression_and_averages():
    X = np.linspace(-1, 1, 9)[:, None]
    m = KernelPassiveAggressiveRegressor(gamma=2.0, C=100.0, epsilon=0.05, max_iter=200).fit(
        X, np.sin(3 * X[:, 0])
    )
    assert np.abs(m.predict(X) - np.sin(3 * X[:, 0])).max() < 0.06
    mean = KernelPassiveAggressiveRegressor("linear", C=np.inf, epsilon=0.0, max_iter=1, average=True).fit(
        [[1.0], [1.0]], [1.0, 3.0]
    )
    assert mean.predict([[1.0]]) == pytest.approx([2.0])  # (1 + 3)/2


# -- kernel ridge ----------------------------------------------------------------------------------------------


def test_ridge_by_hand():
    m = KernelRidge(0.1, kernel="rbf", gamma=1.0).fit(*LINE)
    assert m.dual_coef_ == pytest.approx([0.0605317, -0.3681196, 3.7584681], abs=1e-7)
    assert m.predict([[1.5]]) == pytest.approx([2.6467861], abs=1e-7)
    assert m.loo_residuals_ == pytest.approx([0.0584581, -0.3158340, 3.6297176], abs=1e-7)
    assert m.df_ == pytest.approx(2.6763510, abs=1e-7) and m.cond_ > 1
    m = KernelRidge(0.1, kernel=Polynomial(2, 1, 1)).fit(*LINE)
    assert m.dual_coef_ == pytest.approx([0.2712968, -0.6968452, 0.3984187], abs=1e-7)
    assert m.predict([[1.5]]) == pytest.approx([2.2907139], abs=1e-7)
    m = KernelRidge(0.1).fit(*LINE)
    assert m.dual_coef_ == pytest.approx([0, -7.6470588, 4.7058824], abs=1e-7)
    assert m.dual_coef_ @ m.X_fit_ == pytest.approx([30 / 17])
    m = KernelRidge(0.1, kernel="rbf", gamma=1.0).fit(*LINE, sample_weight=[1, 2, 1])
    assert m.dual_coef_ == pytest.approx([0.0680256, -0.3909002, 3.7659620], abs=1e-7)


def test_ridge_properties():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 3)), rng.normal(size=15)
    m = KernelRidge(0.5, kernel="rbf").fit(X, y)
    K = RBF(np.sqrt(1.5))(X)
    assert 0.5 * m.dual_coef_ == pytest.approx(y - K @ m.dual_coef_)
    refits = [
        y[i] - KernelRidge(0.5, kernel="rbf").fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(15)
    ]
    assert m.loo_residuals_ == pytest.approx(np.array(refits))
    assert KernelRidge(0.1, kernel="rbf").fit(X, y).df_ > m.df_
    line = gnomon.linear.Ridge(alpha=0.5, fit_intercept=False).fit(X, y)
    assert KernelRidge(0.5).fit(X, y).predict(X) == pytest.approx(line.predict(X))
    best = KernelRidge("loo", kernel="rbf").fit(X, y)
    error = (best.loo_residuals_**2).sum()
    for alpha in (1e-3, 0.1, 1.0, 10.0):
        assert error <= (KernelRidge(alpha, kernel="rbf").fit(X, y).loo_residuals_ ** 2).sum() * (1 + 1e-2)
    weight = np.array([0.5, 2.0, 1.0] * 5)
    weighted = KernelRidge(0.5, kernel="rbf").fit(X, y, weight)
    without = KernelRidge(0.5, kernel="rbf").fit(X[1:], y[1:], weight[1:])
    assert weighted.loo_residuals_[0] == pytest.approx(y[0] - without.predict(X[:1])[0])


@pytest.mark.parity
def test_ridge_same_as_scikit_learn():
    rng = np.random.default_rng(0)
    X, Y, w = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.uniform(0.5, 2, 20)
    for options in (
        {"kernel": "rbf"},
        {"kernel": "poly", "degree": 2},
        {"alpha": [0.1, 3.0]},
        {"kernel": "laplacian", "gamma": 0.3},
    ):
        a, b = KernelRidge(**options).fit(X, Y, w), PeerRidge(**options).fit(X, Y, w)
        assert a.predict(X) == pytest.approx(b.predict(X)) and a.dual_coef_ == pytest.approx(b.dual_coef_)


def test_ridge_without_penalty_and_with_a_bad_kernel():
    X, y = LINE
    assert KernelRidge(0.0, kernel="rbf").fit(X, y).predict(X) == pytest.approx(y)
    with pytest.warns(UserWarning, match="singular"):
        m = KernelRidge(0.0, kernel="rbf").fit([[0.0], [0.0]], [1.0, 2.0])
    assert m.dual_coef_ == pytest.approx([0.75, 0.75]) and m.predict([[0.0]]) == pytest.approx([1.5])
    assert m.df_ == pytest.approx(1.0) and np.isnan(m.loo_residuals_).all()
    with pytest.warns(UserWarning, match="indefinite"):
        KernelRidge(0.01, kernel=lambda a, b: -(a @ b)).fit([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="alpha must be"):
        KernelRidge([0.1, 0.2, 0.3]).fit(X, y)


def test_rows_left_out_of_a_singular_matrix_with_a_penalty_are_refits():
    X, y = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0, 0.0, 4.0])
    m = KernelRidge([0.5, 1e-3]).fit(X, np.column_stack([y, y]))  # the rank is two of four
    for t, alpha in enumerate((0.5, 1e-3)):
        refits = [
            y[i] - KernelRidge(alpha).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]
            for i in range(4)
        ]
        assert m.loo_residuals_[:, t] == pytest.approx(np.array(refits))


def test_the_penalty_with_the_least_weighted_error_of_rows_left_out_is_taken():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(14, 2))
    y = X[:, 0] + 0.8 * rng.normal(size=14)
    weight = np.r_[np.full(6, 0.25), np.full(6, 0.5), 3.0, 0.0]  # most are light, one counts for nothing
    best = KernelRidge("loo", kernel="rbf", gamma=0.7).fit(X, y, weight)
    some = weight > 0

    def error(alpha):
        m = KernelRidge(alpha, kernel="rbf", gamma=0.7).fit(X, y, weight)
        return (weight * m.loo_residuals_**2)[some].sum()

    assert all(
        error(best.alpha_) <= error(alpha) * (1 + 1e-9) for alpha in np.logspace(-10, 4, 57) * weight.mean()
    )


def test_ridge_of_a_singular_matrix_is_least_squares():
    rng = np.random.default_rng(3)
    X, Y, w = rng.normal(size=(12, 2)), rng.normal(size=(12, 2)), rng.uniform(0.5, 2.0, 12)
    root = np.sqrt(w)[:, None]
    theta = np.linalg.lstsq(root * X, root * Y)[0]
    for alpha in (0.0, [0.0, 0.5]):
        with pytest.warns(UserWarning, match="singular.*least"):
            m = KernelRidge(alpha).fit(X, Y, w)
        assert m.predict(X)[:, 0] == pytest.approx(X @ theta[:, 0])
    assert m.predict(X)[:, 1] == pytest.approx(KernelRidge(0.5).fit(X, Y[:, 1], w).predict(X))
    assert m.df_[0] == pytest.approx(2.0)


def test_hostile_files(tmp_path):
    for m, name in ((KernelRidge().fit(*LINE), "dual_coef_"), (KernelPerceptron().fit(*FIVE), "dual_coef_")):
        value = getattr(m, name)
        setattr(m, name, value[..., :-1])
        gnomon.save(m, tmp_path / "m")
        with pytest.raises(gnomon.core.errors.ModelFileError):
            gnomon.load(tmp_path / "m")
