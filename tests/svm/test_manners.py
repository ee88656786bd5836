"""Support vector machines in scikit-learn's manners: words of errors, options, what may be written to."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.kernels import Linear
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.pairs import PairProblem
from gnomon.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

MACHINES = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
X4, Y4 = np.array([[-2.0, 0.3], [-1.0, 1.0], [1.0, -0.2], [2.0, 0.5]]), np.array([0, 0, 1, 1])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("weight", [[0.0] * 4, [-1.0] * 4, [0.0, -1.0, 0.0, 0.0]])
def test_weights_of_which_none_counts_are_refused(machine, weight):
    with pytest.raises(DataError, match="Invalid input - all samples have zero or negative weights"):
        machine().fit(X4, Y4, sample_weight=weight)


@pytest.mark.parametrize("machine", MACHINES)
def test_one_negative_weight_is_refused(machine):
    with pytest.raises(DataError, match="Negative values"):
        machine().fit(X4, Y4, sample_weight=[1.0, 1.0, -1.0, 1.0])


def test_one_class_left_by_the_weights_is_named():
    with pytest.raises(DataError, match="positive weights belong to the same class.*1.*zero weight"):
        SVC().fit(X4, Y4, sample_weight=[0.0, 0.0, 1.0, 1.0])
    with pytest.raises(DataError, match="of class .*0.* have zero weight"):
        SVC().fit(X4, [0, 1, 2, 2], sample_weight=[0.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_coef_cannot_be_written_to(machine, rows):
    model = machine(kernel="linear")
    assert not hasattr(model, "coef_")
    model.fit(rows(X4), Y4)
    with pytest.raises(AttributeError):
        model.coef_ = np.zeros((1, 2))
    with pytest.raises(ValueError, match="read-only"):
        (model.coef_.data if sparse.issparse(model.coef_) else model.coef_)[:] = 0
    assert not hasattr(machine().fit(X4, Y4), "coef_")


def test_predictions_follow_dual_coef():
    model = SVC(kernel="linear").fit(X4, Y4)
    before = model.decision_function(X4) - model.intercept_
    model.dual_coef_ = 2.0 * model.dual_coef_
    np.testing.assert_allclose(model.decision_function(X4) - model.intercept_, 2.0 * before)


def test_the_probabilities_of_nu_machines():
    X, y = load_iris(return_X_y=True)
    for rows, labels in ((X, y), (X[:100], y[:100])):
        model = NuSVC(probability=True, nu=0.3).fit(rows, labels)
        p = model.predict_proba(rows)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert (model.classes_[p.argmax(axis=1)] == model.predict(rows)).all()
        np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), p)
    # p of two classes is the logistic curve of the decision
    f = model.decision_function(rows)
    np.testing.assert_allclose(p[:, 1], 1.0 / (1.0 + np.exp(-model.temperature_ * f)))


@pytest.mark.parametrize("machine", [SVC, NuSVC])
def test_probabilities_that_were_not_fitted(machine):
    model = machine().fit(X4, Y4)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba")
    model.probability = True
    with pytest.raises(NotFittedError, match="not available when fitted with probability=False"):
        model.predict_proba(X4)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        machine(probability=True).predict_proba(X4)


@pytest.mark.parametrize("machine", [SVC, NuSVC])
def test_ties_are_broken_by_confidence_only_where_asked(machine):
    X, y = make_blobs(n_samples=20, random_state=42)  # classes of 7, 7 and 6 rows
    far = np.random.default_rng(0).uniform(X.min(0), X.max(0), size=(50, 2))  # the kernel is zero there
    plain, broken = (machine(gamma=1e6, break_ties=ties).fit(X, y) for ties in (False, True))
    assert (plain.predict(far) != plain.decision_function(far).argmax(axis=1)).all()
    assert (broken.predict(far) == broken.decision_function(far).argmax(axis=1)).all()


@pytest.mark.parametrize("machine", [SVC, SVR])
def test_functions_of_strings(machine):
    words, y = ["A A", "A", "B", "B B", "A B"], np.array([1, 1, 2, 2, 1])
    counts = np.array([[w.count("A"), w.count("B")] for w in words], dtype=float)

    def kernel(a, b):
        assert isinstance(a[0], str)
        return np.array([[s.count("A") * t.count("A") + s.count("B") * t.count("B") for t in b] for s in a])

    for given in (words, tuple(words), np.array(words, dtype=object), np.array(words)):
        model, plain = machine(kernel=kernel).fit(given, y), machine(kernel="linear").fit(counts, y)
        np.testing.assert_allclose(model.predict(given), plain.predict(counts), atol=1e-12)
    for wrong in ([1.0, 2.0, 3.0, 4.0, 5.0], [["a"]] * 5, [None] * 5):
        with pytest.raises((TypeError, ValueError)):
            machine(kernel=kernel).fit(wrong, y)


def test_a_machine_that_ends_early_says_how_to_help_it():
    X, y = load_iris(return_X_y=True)
    words = (
        r"Solver terminated early \(max_iter=2\).  Consider pre-processing your data with StandardScaler or "
    )
    with pytest.warns(ConvergenceWarning, match=words):
        SVC(kernel=lambda a, b: a @ b.T, max_iter=2).fit(X, y)


@pytest.mark.parametrize(("kernel", "machines"), [("linear", [OneClassSVM]), ("rbf", MACHINES)])
def test_sparse_rows_give_the_machine_of_dense_ones(kernel, machines):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + 0.2 * rng.normal(size=60), [-0.5, 0.5])
    for machine in machines:
        options = {} if machine is SVC or machine is SVR else {"nu": 0.3}
        dense, thin = (machine(kernel=kernel, **options).fit(rows, y) for rows in (X, sparse.csr_array(X)))
        assert dense.support_.tolist() == thin.support_.tolist()
        np.testing.assert_allclose(thin.dual_coef_.toarray(), dense.dual_coef_, atol=1e-9)


def test_multipliers_within_rounding_of_a_bound_are_at_it():
    X, y = load_iris(return_X_y=True)
    for C in (0.1, 1.0, 10.0):
        alpha = np.abs(SVC(kernel="linear", C=C).fit(X, y).dual_coef_)
        inside = alpha[(alpha != 0) & (alpha != C)]
        assert (inside > 1e-12 * C).all() and (inside < C * (1 - 1e-12)).all()


def test_the_end_of_pairs_is_put_on_its_bounds():
    K = np.diag([1.0, 1.0, 1.0, 1.0])
    rows = KernelRows(Linear(), np.sqrt(K), megabytes=1.0, single=False)
    low, high = np.zeros(4), np.array([1.0, 1.0, 1.0, np.inf])
    problem = PairProblem(rows, np.arange(4), np.array([0.0, 1.0, 0.5, 0.5]), low, high)
    beta = np.array([1e-15, 1.0 - 1e-15, 0.5, 0.5])
    rested, R = problem._at_rest(beta, problem.residuals(beta))
    assert rested.tolist() == [0.0, 1.0, 0.5, 0.5] and R.tolist() == problem.residuals(rested).tolist()
    far = np.array([1e-9, 1.0 - 1e-9, 0.5, 0.5])
    assert problem._at_rest(far, problem.residuals(far))[0].tolist() == far.tolist()


def test_the_hard_tube_by_hand():
    # flattest line within 0.5 of (0, 0), (1, 1.5), (2, 2): it leaves (0, 0.5) and meets (2, 1.5); (1, 1) is its middle
    model = SVR(kernel="linear", C=np.inf, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.5, 2.0])
    assert model.coef_[0] == pytest.approx([0.5]) and model.intercept_ == pytest.approx([0.5])
    assert model.slack_.tolist() == [0.0, 0.0, 0.0] and model.gap_ == pytest.approx(0.0, abs=1e-12)
    assert model.primal_ == pytest.approx(0.125)


def test_the_hard_tube_is_the_end_of_high_prices():
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(40, 5)), rng.uniform(0.5, 2.0, 40)
    y = np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=40)
    hard = SVR(C=np.inf, gamma=0.2).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(hard.predict(X), SVR(C=1e10, gamma=0.2).fit(X, y).predict(X), rtol=1e-7)
    assert np.abs(hard.predict(X) - y).max() <= 0.1 + 1e-9
    exact = SVR(C=np.inf, epsilon=0.0).fit(X, y)
    np.testing.assert_allclose(exact.predict(X), y, atol=1e-9)


def test_a_tube_that_does_not_exist_is_refused():
    for X, y in (([[0.0], [1.0], [2.0]], [0.0, 2.0, 0.0]), ([[1.0], [1.0]], [0.0, 3.0])):
        with pytest.raises(InfeasibleError, match="epsilon=0.5"):
            SVR(kernel="linear", C=np.inf, epsilon=0.5).fit(X, y)
