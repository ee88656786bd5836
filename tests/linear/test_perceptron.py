"""Perceptron and passive–aggressive learners against the numbers of the courses and their own identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from gnomon.core.errors import DataError
from gnomon.linear import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SGDClassifier,
)

T1 = np.array([[-1.0, 1], [0, -1], [1.5, 1]]), np.array([1, -1, 1])
T2 = np.array([[-1.0, 1], [0, -1], [10, 1]]), np.array([1, -1, 1])
T5 = np.array([[-3.0, 2], [-1, 1], [-1, -1], [2, 2], [1, -1]]), np.array([1, 1, -1, -1, -1])
BOOK = {"tol": None, "shuffle": False}
ORIGIN = {**BOOK, "fit_intercept": False}


def test_three_points_through_the_origin():
    model = Perceptron(**ORIGIN).fit(*T1)
    np.testing.assert_array_equal(model.mistakes_, [1, 0, 1])
    np.testing.assert_allclose(model.coef_, [[0.5, 2]])
    model = Perceptron(**ORIGIN, order=[1, 2, 0]).fit(*T1)
    assert model.n_mistakes_ == 1
    np.testing.assert_allclose(model.coef_, [[0, 1]])


def test_a_far_point_makes_more_mistakes():
    model = Perceptron(**ORIGIN, keep_log=True).fit(*T2)
    assert [row for row, _, _ in model.mistake_log_] == [0, 2, 0, 0, 0, 0]
    path = [w.tolist() for _, w, _ in model.mistake_log_]
    assert path == [[-1, 1], [9, 2], [8, 3], [7, 4], [6, 5], [5, 6]]
    np.testing.assert_allclose(Perceptron(**ORIGIN, order=[1, 2, 0]).fit(*T2).coef_, [[0, 1]])


def test_five_points_with_offset():
    model = Perceptron(**BOOK, keep_log=True).fit(*T5)
    np.testing.assert_array_equal(model.mistakes_, [1, 0, 2, 1, 0])
    assert [row for row, _, _ in model.mistake_log_] == [0, 2, 3, 2]
    np.testing.assert_allclose(model.coef_, [[-3, 2]])
    assert model.intercept_[0] == -2
    assert model.n_iter_ == 3
    assert model.converged_


@pytest.mark.parametrize(
    ("passes", "coef", "intercept"), [(1, [-3.2, 1.8], 0), (2, [-3.3, 1.7], -0.8), (10, [-3.06, 1.94], -1.76)]
)
def test_average(passes, coef, intercept):
    model = Perceptron(**BOOK, average=True, max_iter=passes).fit(*T5)
    np.testing.assert_allclose(model.coef_[0], coef, atol=1e-12)
    assert model.intercept_[0] == pytest.approx(intercept, abs=1e-12)


def test_custom_start():
    X, y = [[1.0], [-1.0]], [1, -1]
    for start, end in ((0, 1), (5, 5)):
        model = Perceptron(**ORIGIN).fit(X, y, coef_init=[[start]])
        assert model.coef_[0, 0] == end


def test_batch_and_always():
    steps = list(Perceptron(**BOOK, batch=True).iterate(*T5))
    np.testing.assert_allclose(np.append(steps[1].coef_, steps[1].intercept_), [-6, 3, -1])
    assert steps[1].trace_[0] == 5
    np.testing.assert_allclose(np.append(steps[2].coef_, steps[2].intercept_), [-5, 4, -2])
    assert len(steps) == 4
    assert steps[-1].converged_
    np.testing.assert_allclose(
        next(iter(list(Perceptron(**ORIGIN, batch=True).iterate(*T1))[1:])).coef_, [[0.5, 3]]
    )
    np.testing.assert_allclose(Perceptron(**ORIGIN, update="always", max_iter=1).fit(*T1).coef_, [[0.5, 3]])


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(6)), st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=6))
def test_orthogonal_rows_attain_the_bound(order, labels):
    X = np.diag((-1.0) ** np.arange(1, 7))
    y = np.array(labels)
    if len(set(labels)) < 2:
        return
    model = Perceptron(**ORIGIN, order=order).fit(X, y)
    assert model.n_mistakes_ == 6
    np.testing.assert_allclose(model.coef_[0], y * (-1.0) ** np.arange(1, 7))


def test_feature_map_saves_a_mistake():
    X, y = np.array([[1.0, 10], [-1, 10]]), [1, -1]
    assert Perceptron(**ORIGIN).fit(X, y).n_mistakes_ == 2
    assert Perceptron(**ORIGIN).fit(X[:, :1], y).n_mistakes_ == 1


def separable(seed, n=30):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=3)
    X = rng.normal(size=(n, 3))
    X = X[np.abs(X @ w) > 0.3 * np.linalg.norm(w)]
    return X, np.where(X @ w > 0, 1, -1), w


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**5), st.floats(0.1, 7))
def test_bound_identity_and_scale(seed, eta):
    X, y, w = separable(seed)
    if len(set(y)) < 2:
        return
    model = Perceptron(fit_intercept=False, tol=None, random_state=seed, eta0=eta).fit(X, y)
    radius, margin = np.linalg.norm(X, axis=1).max(), np.min(y * (X @ w)) / np.linalg.norm(w)
    assert model.n_mistakes_ <= (radius / margin) ** 2
    np.testing.assert_allclose(model.coef_[0], eta * X.T @ (model.mistakes_ * y), atol=1e-9)
    same = Perceptron(fit_intercept=False, tol=None, random_state=seed).fit(X, y)
    np.testing.assert_array_equal(model.mistakes_, same.mistakes_)
    folded = Perceptron(fit_intercept=False, tol=None, shuffle=False).fit(
        np.column_stack([X, np.ones(len(X))]), y
    )
    offset = Perceptron(tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(folded.coef_[0], np.append(offset.coef_, offset.intercept_), atol=1e-9)


@pytest.mark.parametrize("learner", [Perceptron, PassiveAggressiveClassifier])
def test_average_is_the_mean_of_all_steps(learner):
    X, y, _ = separable(3)
    options = {"tol": None, "max_iter": 3, "order": "given"}
    model = learner(**options, average=True).fit(X, y)
    path = [
        learner(tol=None, max_iter=1, order=np.tile(np.arange(len(X)), 3)[: k + 1].tolist())
        .fit(X, y)
        .coef_[0]
        for k in range(3 * len(X))
    ]
    np.testing.assert_allclose(model.coef_[0], np.mean(path, axis=0), atol=1e-10)


def test_random_mistakes_end_and_sparse_is_dense():
    X, y, _ = separable(5)
    model = Perceptron(order="random_mistake", tol=None).fit(X, y)
    assert model.converged_
    assert len(model.mistakes(X, y)) == 0
    for learner in (Perceptron, PassiveAggressiveClassifier):
        a = learner(random_state=0, tol=None, max_iter=5).fit(X, y)
        b = learner(random_state=0, tol=None, max_iter=5).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-10)


def test_no_pass_is_clean_on_xor():
    X, y = [[0.0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]
    model = Perceptron(tol=None, max_iter=50).fit(X, y)
    assert not model.converged_
    assert min(model.trace_) >= 1


def test_passive_aggressive_by_hand():
    options = {"fit_intercept": False, "order": "given", "max_iter": 1, "tol": None}
    model = PassiveAggressiveClassifier(**options).fit(*T1)
    np.testing.assert_allclose(model.step_sizes_, [0.5, 0.5, 3 / 13])
    np.testing.assert_allclose(model.coef_[0], [-2 / 13, 16 / 13])
    model = PassiveAggressiveClassifier(C=0.1, **options).fit(*T1)
    np.testing.assert_allclose(model.step_sizes_, 0.1)
    np.testing.assert_allclose(model.coef_[0], [0.05, 0.3])
    model = PassiveAggressiveClassifier(loss="squared_hinge", **options).fit(*T1)
    np.testing.assert_allclose(model.step_sizes_, [0.4, 0.4, 0.2133333333], atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], [-0.08, 1.0133333333], atol=1e-9)


def test_zero_one_moves_only_when_it_pays():
    options = {"fit_intercept": False, "order": [0], "max_iter": 1, "tol": None, "loss": "zero_one"}
    X, y = [[0.0, 1], [5.0, 0]], [1, -1]
    model = PassiveAggressiveClassifier(C=1, **options).fit(X, y, coef_init=[[1.0, -1.0]])
    np.testing.assert_allclose(model.coef_[0], [1, 0], atol=1e-7)
    assert model.coef_[0, 1] > 0
    model = PassiveAggressiveClassifier(C=1 / 3, **options).fit(X, y, coef_init=[[1.0, -1.0]])
    np.testing.assert_allclose(model.coef_[0], [1, -1])


def test_passive_aggressive_regression_by_hand():
    X, y = [[1.0, 0], [1, 1], [1, 2]], [1.0, 2, 4]
    options = {"fit_intercept": False, "order": "given", "max_iter": 1, "tol": None}
    model = PassiveAggressiveRegressor(**options).fit(X, y)
    np.testing.assert_allclose(model.step_sizes_, [0.9, 0.5, 0.3])
    np.testing.assert_allclose(model.coef_, [1.7, 1.1])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 5), st.sampled_from(["hinge", "squared_hinge"]))
def test_the_step_minimizes_its_objective(seed, C, loss):
    rng = np.random.default_rng(seed)
    x, w, y = rng.normal(size=3), rng.normal(size=3), rng.choice([-1, 1])
    other = np.zeros(3)
    model = PassiveAggressiveClassifier(C=C, loss=loss, fit_intercept=False, order=[0], max_iter=1, tol=None)
    new = model.fit([x, other], [y, -y], coef_init=[w]).coef_[0]

    def cost(v):
        hinge = max(0, 1 - y * v @ x)
        return np.sum((v - w) ** 2) / (2 * C) + (hinge if loss == "hinge" else hinge**2)

    best = cost(new)
    assert all(cost(new + 0.01 * rng.normal(size=3)) >= best - 1e-12 for _ in range(20))
    assert np.linalg.norm(new - w) <= C * np.linalg.norm(x) + 1e-12 or loss == "squared_hinge"


def test_bad_orders_and_starts():
    with pytest.raises(ValueError, match="between 0 and 2"):
        Perceptron(order=[7]).fit(*T1)
    with pytest.raises(ValueError, match="Did you mean 'given'"):
        Perceptron(order="givn").fit(*T1)
    with pytest.raises(ValueError, match="eta0"):
        Perceptron(eta0=0.0).fit(*T1)
    with pytest.raises(ValueError, match="coef_init"):
        Perceptron().fit(*T1, coef_init=[1.0])


STREAMS = [
    Perceptron(order="given", max_iter=1, tol=None),
    Perceptron(order="given", max_iter=1, tol=None, average=True, fit_intercept=False),
    Perceptron(order="given", max_iter=1, tol=None, update="always", eta0=0.3),
    PassiveAggressiveClassifier(C=0.2, order="given", max_iter=1, tol=None),
    PassiveAggressiveClassifier(loss="squared_hinge", order="given", max_iter=1, tol=None, average=True),
    PassiveAggressiveRegressor(C=0.1, order="given", max_iter=1, tol=None),
]


@pytest.mark.parametrize("model", STREAMS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_stream_of_rows_is_one_pass(model, classes):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, classes, size=60)
    first = {} if isinstance(model, PassiveAggressiveRegressor) else {"classes": np.arange(classes)}
    whole = clone(model).fit(X, y)
    quick, slow = clone(model), clone(model)
    for i in range(60):
        quick.partial_fit(X[i : i + 1], y[i : i + 1], **(first if i == 0 else {}))
        slow.partial_fit(X[i : i + 1].tolist(), y[i : i + 1].tolist(), **(first if i == 0 else {}))
    for found in (quick, slow):
        np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.intercept_, whole.intercept_, rtol=1e-12, atol=1e-12)
        assert found.t_ == whole.t_ == 61
        np.testing.assert_array_equal(found.predict(X), whole.predict(X))
    if isinstance(model, Perceptron):
        assert quick.n_mistakes_ == slow.n_mistakes_ == whole.n_mistakes_
    else:
        np.testing.assert_allclose(quick.step_sizes_, whole.step_sizes_[..., -1:])


@pytest.mark.parametrize("learner", [Perceptron, PassiveAggressiveClassifier])
def test_a_few_rows_go_the_same_way_as_many(learner):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 3)), rng.integers(0, 2, size=12)
    quick, slow = learner(random_state=0), learner(random_state=0)
    for model in (quick, slow):
        model.partial_fit(X, y, classes=[0, 1])
    for _ in range(3):
        quick.partial_fit(X, y)
        slow.partial_fit(X.tolist(), y)
    np.testing.assert_array_equal(quick.coef_, slow.coef_)
    weighted = learner(random_state=0).partial_fit(X, y, classes=[0, 1], sample_weight=np.ones(12))
    np.testing.assert_array_equal(
        weighted.coef_, learner(random_state=0).partial_fit(X, y, classes=[0, 1]).coef_
    )


@pytest.mark.parametrize("learner", [Perceptron, PassiveAggressiveClassifier])
def test_a_stream_goes_on_after_a_fit_and_refuses_bad_rows(learner):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)
    model = learner(order="given", max_iter=1, tol=None).fit(X, y)
    kept = model.coef_.copy()
    again = learner(order="given", max_iter=1, tol=None).fit(
        X, y, coef_init=kept, intercept_init=model.intercept_
    )
    for i in range(40):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-12)
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((1, 3)), [0])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.array([[np.nan, 1.0]]), [0])
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(np.zeros((1, 2)), [7])
    with pytest.raises(ValueError, match="first call"):
        learner().partial_fit(X, y)
    with pytest.raises(ValueError, match="not the same"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="balanced"):
        learner(class_weight="balanced").partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("options", [{}, {"batch": True}, {"order": "random_mistake"}])
def test_early_stopping_watches_rows_held_out(options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = Perceptron(early_stopping=True, max_iter=100, n_iter_no_change=3, tol=1e-3, **options).fit(X, y)
    assert model.n_iter_ < 100
    assert np.count_nonzero(model.mistakes_ == 0) >= 20  # a tenth is never learned from


@pytest.mark.parametrize("model", [PassiveAggressiveClassifier, PassiveAggressiveRegressor])
def test_passive_aggressive_stops_early(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(float)
    options = {"max_iter": 200, "n_iter_no_change": 3, "random_state": 0}
    early = model(early_stopping=True, **options).fit(X, y)
    assert early.n_iter_ < 200
    assert np.count_nonzero(early.step_sizes_ == 0) >= 30
    assert not np.array_equal(early.coef_, model(**options).fit(X, y).coef_)


def test_early_stopping_needs_rows():
    with pytest.raises(DataError, match="early_stopping=False"):
        Perceptron(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
def test_a_penalty_shrinks_as_the_perceptron_loss_does(penalty, average):
    X, y = load_iris(return_X_y=True)
    same = {
        "penalty": penalty,
        "alpha": 0.01,
        "l1_ratio": 0.3,
        "max_iter": 4,
        "tol": None,
        "average": average,
    }
    model = Perceptron(eta0=0.5, random_state=3, **same).fit(X, y)
    peer = SGDClassifier("perceptron", learning_rate="constant", eta0=0.5, random_state=3, **same).fit(X, y)
    np.testing.assert_array_equal(model.coef_, peer.coef_)
    np.testing.assert_array_equal(model.intercept_, peer.intercept_)
    assert not np.array_equal(
        model.coef_, Perceptron(eta0=0.5, random_state=3, max_iter=4, tol=None).fit(X, y).coef_
    )
    for options in ({"batch": True}, {"update": "always"}, {"keep_log": True}, {"order": "random_mistake"}):
        with pytest.raises(ValueError, match="a penalty is for plain updates"):
            Perceptron(penalty=penalty, **options).fit(X, y)


@pytest.mark.parametrize("order", ["given", "random", np.arange(150)[::-1]])
def test_a_penalty_allows_every_order_but_that_of_drawn_mistakes(order):
    X, y = load_iris(return_X_y=True)
    same = {"penalty": "l2", "alpha": 0.01, "order": order, "max_iter": 3, "tol": None, "random_state": 3}
    model = Perceptron(eta0=0.5, **same).fit(X, y)
    peer = SGDClassifier("perceptron", learning_rate="constant", eta0=0.5, **same).fit(X, y)
    np.testing.assert_array_equal(model.coef_, peer.coef_)


def test_the_trace_counts_the_mistakes_of_every_pass():
    X, y = T5
    model = Perceptron(**BOOK, max_iter=6).fit(X, y)
    w, counts = np.zeros(3), []
    for _ in range(len(model.trace_)):
        counts.append(0)
        for row, label in zip(np.column_stack([X, np.ones(5)]), y):
            if label * (row @ w) <= 0:
                w, counts[-1] = w + label * row, counts[-1] + 1
    assert list(model.trace_) == counts and sum(counts) == model.n_mistakes_ > 1
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w)
