"""Logistic regression against the numbers of the courses, its optimality conditions and scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning

import gnomon
from gnomon.core.errors import DataError
from gnomon.core.rows import MemoryRows
from gnomon.linear import LogisticRegression, LogisticRegressionCV, PerfectSeparationWarning
from gnomon.losses import SoftmaxCrossEntropy
from gnomon.solvers import newton
from gnomon.solvers.terms import Model

T7 = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
SMOOTH = ["auto", "newton-cholesky", "newton-cg", "lbfgs", "liblinear", "sag", "saga"]


@pytest.mark.parametrize("solver", SMOOTH)
def test_six_points(solver):
    model = LogisticRegression(solver=solver, tol=1e-10, max_iter=500).fit(*T7)
    assert model.coef_[0, 0] == pytest.approx(0.7670537228, abs=1e-6)
    assert model.intercept_[0] == pytest.approx(-1.9176343071, abs=1e-6)
    assert model.objective_ == pytest.approx(2.9246587436, abs=1e-8)


def test_newton_iterates():
    steps = list(LogisticRegression(solver="newton-cholesky", tol=1e-12).iterate(*T7))
    found = [model.coef_[0, 0] for model in steps[:4]]
    np.testing.assert_allclose(found, [0, 0.6511627907, 0.7608873344, 0.7670352763], atol=1e-9)


def test_maximum_likelihood():
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(*T7)
    np.testing.assert_allclose(
        [model.coef_[0, 0], model.intercept_[0]], [1.2140275859, -3.0350689646], atol=1e-7
    )
    assert model.objective_ == pytest.approx(2.4779868350, abs=1e-8)
    np.testing.assert_allclose(model.standard_errors_, [0.9125855599, 2.5457130028], atol=1e-6)
    assert not model.separable_
    table = model.summary()
    assert table.to_frame().loc["x0", "estimate"] == pytest.approx(1.2140275859)
    assert table.names == ["x0", "intercept"]
    np.testing.assert_allclose(
        table.z, [1.2140275859 / 0.9125855599, -3.0350689646 / 2.5457130028], rtol=1e-5
    )
    np.testing.assert_allclose(table.upper - table.estimate, 1.959963984540054 * model.standard_errors_)
    assert "95% interval" in str(table) and len(str(table).splitlines()) == 4
    with pytest.raises(DataError, match="level must lie between 0 and 1; got 95"):
        model.summary(level=95)


@pytest.mark.parametrize(
    ("penalty", "w"), [(1.0, 0.6748316143), (0.1, 2.1280345185), (2.0, 0.4010581375), (0.2, 1.6335061702)]
)
def test_map_of_two_points(penalty, w):
    model = LogisticRegression(C=1 / penalty, fit_intercept=False, tol=1e-12).fit([[-1.0], [1.0]], [-1, 1])
    assert model.coef_[0, 0] == pytest.approx(w, abs=1e-8)


def test_separable_growth():
    steps = list(
        LogisticRegression(
            C=np.inf,
            solver="gd",
            learning_rate=1.0,
            reduction="sum",
            fit_intercept=False,
            max_iter=1000,
            tol=0.0,
        ).iterate([[-1.0], [1.0]], [-1, 1])
    )
    found = [steps[k].coef_[0, 0] for k in (1, 10, 100, 1000)]
    np.testing.assert_allclose(found, [1, 3.0249208117, 5.3012005132, 7.6011903991], rtol=1e-9)
    with pytest.warns(PerfectSeparationWarning, match="finite C"):
        model = LogisticRegression(C=np.inf, fit_intercept=False).fit([[-1.0], [1.0]], [-1, 1])
    assert model.separable_
    assert not model.converged_


def test_quasi_separation_is_noticed():
    X, y = np.array([[0.0], [1.0], [2.0], [2.0], [3.0]]), [0, 0, 0, 1, 1]
    with pytest.warns(PerfectSeparationWarning):
        assert LogisticRegression(C=np.inf, max_iter=200).fit(X, y).separable_


def test_separation_is_a_kind_of_not_converging():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert LogisticRegression(C=np.inf).fit([[0.0], [1.0]], [0, 1]).separable_


def test_a_mixture_that_the_penalty_contradicts_is_told():
    for penalty, ratio in (("l2", 1.0), ("l1", 0.5)):
        with pytest.warns(UserWarning, match=f"penalty={penalty} with l1_ratio={ratio}"):
            told = LogisticRegression(penalty=penalty, l1_ratio=ratio).fit(*T7)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = LogisticRegression(penalty=penalty).fit(*T7)
        np.testing.assert_array_equal(told.coef_, plain.coef_)
    with pytest.warns(UserWarning, match="penalty=l2 with l1_ratios="):
        LogisticRegressionCV(penalty="l2", l1_ratios=[1.0], cv=2).fit(*T7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_newton_steps_at_once_are_those_of_a_warm_start(n_classes, C):
    X, y = make_classification(80, 4, n_informative=3, n_redundant=0, n_classes=n_classes, random_state=0)
    for solver in ("newton-cg", "newton-cholesky"):
        whole = LogisticRegression(solver=solver, C=C, max_iter=3).fit(X, y)
        single = LogisticRegression(solver=solver, C=C, max_iter=1, warm_start=True)
        for _ in range(3):
            single.fit(X, y)
        np.testing.assert_allclose(single.coef_, whole.coef_, rtol=1e-7)
        np.testing.assert_allclose(single.intercept_, whole.intercept_, rtol=1e-7)


def test_a_warm_start_that_is_good_enough_stays():
    model = LogisticRegression(solver="lbfgs", tol=1e-2, warm_start=True).fit(*T7)
    before, slope = model.coef_, model.gradient_norm_
    np.testing.assert_allclose(model.fit(*T7).coef_, before, rtol=1e-13)
    assert model.converged_ and 0.0 < model.gradient_norm_ <= 1e-2
    assert model.gradient_norm_ == pytest.approx(slope, rel=1e-9)


def test_l1_on_six_points():
    assert LogisticRegression(C=2 / 7, l1_ratio=1.0, tol=1e-10).fit(*T7).coef_[0, 0] == 0.0
    assert LogisticRegression(C=0.29, l1_ratio=1.0, tol=1e-10).fit(*T7).coef_[0, 0] > 0.0
    model = LogisticRegression(l1_ratio=1.0, tol=1e-9).fit(*T7)
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [0.6736469, -1.6841172], atol=1e-5)


def test_softmax_of_three_classes():
    model = LogisticRegression(tol=1e-9).fit(T7[0], [0, 0, 1, 1, 2, 2])
    np.testing.assert_allclose(model.coef_.ravel(), [-0.9533943, 0, 0.9533943], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, [2.1186720, 0.5296275, -2.6482995], atol=1e-6)
    assert model.objective_ == pytest.approx(3.6126175652, abs=1e-8)


def test_two_class_softmax_is_logistic_with_twice_the_penalty_constant():
    rows = MemoryRows(*T7, classes=np.arange(2))
    objective = newton.Objective(Model(SoftmaxCrossEntropy(), True, None, 2), np.array([1.0, 0.0]), 6.0)
    state = newton.newton_start(rows, objective, np.zeros((2, 2)))
    for _ in range(20):
        state = newton.newton_cg_step(rows, objective, state, tol=1e-12)
    difference = state.theta[:, 1] - state.theta[:, 0]
    np.testing.assert_allclose(difference, [0.9139737697, -2.2849344241], atol=1e-7)


def gradient(model, X, y, C):
    """Gradient of the mean objective of two classes, the slow way."""
    t = 2.0 * (y == model.classes_[1]) - 1.0
    pull = -t * expit(-t * (X @ model.coef_[0] + model.intercept_[0]))
    return (X.T @ pull + model.coef_[0] / C) / len(y), pull.sum() / len(y)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 20.0))
def test_certificate_is_the_gradient(seed, C):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) * [1, 10, 0.1, 1] + [0, 0, 0, 3]
    y = rng.integers(0, 2, size=60)
    model = LogisticRegression(C=C, tol=1e-7).fit(X, y)
    w, b = gradient(model, X, y, C)
    assert max(np.abs(w).max(), abs(b)) <= 1.01e-7
    assert abs(np.sum(model.predict_proba(X)[:, 1] - y)) < 1e-4  # calibrated in the large


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_sparse_dense_and_weights(classes, ratio):
    X, y = make_classification(
        150, 12, n_informative=6, n_classes=classes, n_clusters_per_class=1, flip_y=0.2, random_state=0
    )
    X[np.abs(X) < 0.5] = 0.0
    weight = np.arange(150) % 3
    options = {"l1_ratio": ratio, "tol": 1e-8, "C": 0.3, "max_iter": 1000}
    a = LogisticRegression(**options).fit(X, y, weight)
    b = LogisticRegression(**options).fit(sparse.csr_array(X), y, weight)
    c = LogisticRegression(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-5)
    np.testing.assert_allclose(a.coef_, c.coef_, atol=1e-5)
    np.testing.assert_allclose(a.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(a.predict_log_proba(X)), a.predict_proba(X))


@pytest.mark.parity
@pytest.mark.parametrize("classes", [2, 3])
def test_same_as_scikit_learn(classes):
    from sklearn.linear_model import LogisticRegression as Theirs

    X, y = load_iris(return_X_y=True) if classes == 3 else load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = LogisticRegression(tol=1e-9).fit(X, y)
    theirs = Theirs(solver="newton-cholesky", tol=1e-9, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    balanced = LogisticRegression(tol=1e-9, class_weight="balanced").fit(X, y)
    theirs = Theirs(solver="newton-cholesky", tol=1e-9, max_iter=1000, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.coef_, theirs.coef_, atol=1e-5)
    for ratio in (1.0, 0.5):
        ours = LogisticRegression(l1_ratio=ratio, C=0.1, tol=1e-7).fit(X, y)
        theirs = Theirs(l1_ratio=ratio, C=0.1, solver="saga", tol=1e-8, max_iter=20000).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_one_class_is_refused_by_name():
    with pytest.raises(ValueError, match="only one class: .*'a'"):
        LogisticRegression().fit([[0.0], [1.0]], ["a", "a"])


def test_constant_and_collinear_columns_and_scales():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X = np.column_stack([X, X[:, 0], np.ones(80)])
    y = rng.integers(0, 2, size=80)
    model = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(
        LogisticRegression(tol=1e-12).fit(X * 1e6, y).predict_proba(X * 1e6),
        LogisticRegression(C=1e12, tol=1e-12).fit(X, y).predict_proba(X),
        atol=1e-6,
    )


def test_boundary_rule():
    model = LogisticRegression(fit_intercept=False).fit([[-1.0], [1.0]], [0, 1])
    assert model.predict([[0.0]])[0] == 0
    assert model.set_params(boundary="positive").predict([[0.0]])[0] == 1


def test_large_data_takes_the_sampled_start_to_the_same_place():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 5))
    y = (X @ rng.normal(size=5) + rng.logistic(size=60_000) > 0).astype(int)
    model = LogisticRegression(tol=1e-7).fit(X, y)
    w, b = gradient(model, X, y, 1.0)
    assert max(np.abs(w).max(), abs(b)) <= 1.01e-7


def test_parquet_gives_the_same(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, size=300)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    a = LogisticRegression(tol=1e-10).fit(str(tmp_path / "rows.parquet"), "y")
    np.testing.assert_allclose(a.coef_, LogisticRegression(tol=1e-10).fit(X, y).coef_, atol=1e-8)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg", "lbfgs", "auto"])
def test_a_certificate_below_rounding_is_not_sought_for_ever(solver):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(solver=solver, C=0.01, tol=1e-30, max_iter=10_000).fit(X, y > 0)
    assert model.n_iter_[0] < 1000 and model.gradient_norm_ < 1e-10


def test_what_is_ignored_without_a_penalty_is_told():
    with pytest.warns(UserWarning, match="penalty=None will ignore the C"):
        told = LogisticRegression(penalty=None, C=4.0).fit(*T7)
    np.testing.assert_array_equal(told.coef_, LogisticRegression(C=np.inf).fit(*T7).coef_)
    with pytest.raises(ValueError, match="needs l1_ratio"):
        LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(*T7)


def test_no_step_is_told_as_none():
    model = LogisticRegression(max_iter=0).fit(*T7)
    assert model.n_iter_.tolist() == [0] and not model.coef_.any()


def test_few_long_rows_give_the_same_bits_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("gnomon.linear.likelihood._solvers.LONG_ROWS", 2**16)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 700))
    y = X[:, 0] + 0.3 * rng.normal(size=400) > 0
    found = []
    for count in (1, 3):
        with gnomon.threads(count):
            found.append(LogisticRegression(tol=1e-9).fit(X, y))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    w, b = found[0].coef_[0], found[0].intercept_[0]
    errors = 1 / (1 + np.exp(-(X @ w + b))) - y
    np.testing.assert_allclose(X.T @ errors + w, 0.0, atol=1e-6)
