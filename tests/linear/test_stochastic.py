"""Stochastic learners against the numbers of the courses, closed forms and their own identities."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chisquare
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.callbacks import TimeBudget
from gnomon.core.errors import DivergenceError
from gnomon.core.randomness import draw_seed, stream
from gnomon.linear import (
    LinearSVC,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Pegasos,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from gnomon.linear.online._epochs import shuffled
from gnomon.loops.streams import fill_uniform, stream_seed
from gnomon.losses import Logistic
from gnomon.solvers import Constant, InverseDecay
from gnomon.solvers.schedules import Optimal

B = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
T1 = np.array([[-1.0, 1], [0, -1], [1.5, 1]]), np.array([1, -1, 1])
PLAIN = {"penalty": None, "tol": None}


def test_full_batch_steps_by_hand():
    model = SGDRegressor(**PLAIN, learning_rate="constant", eta0=0.1, batch_size="full", max_iter=3)
    steps = list(model.iterate(*B))
    found = [(m.intercept_[0], m.coef_[0]) for m in steps[1:]]
    expected = [(0.2333333333, 0.3333333333), (0.41, 0.5877777778), (0.5435555556, 0.7821481481)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(steps[-1].trace_, [2.0420370370, 1.1970152263, 0.7072069401], atol=1e-9)


def test_single_rows_with_inverse_rate():
    X = np.column_stack([np.ones(3), B[0]])
    path = []
    for k in range(1, 7):
        model = SGDRegressor(
            **PLAIN,
            fit_intercept=False,
            learning_rate="inverse",
            eta0=1.0,
            order=[0, 1, 2, 0, 1, 2][:k],
            max_iter=1,
        )
        path.append(model.fit(X, B[1]).coef_.tolist())
    np.testing.assert_allclose(path, [(1, 0), (1.5, 0.5), (2, 1.5), (1.75, 1.5), (1.5, 1.25), (1.5, 1.25)])


def test_logistic_rows_by_hand():
    X, t = np.array([[1.0, 0], [1, 1], [1, 2]]), [0, 1, 1]
    options = {**PLAIN, "fit_intercept": False, "learning_rate": "constant", "eta0": 0.5, "max_iter": 1}
    path = [SGDClassifier("log_loss", **options, order=list(range(k))).fit(X, t).coef_[0] for k in (1, 2, 3)]
    expected = [(-0.25, 0), (0.0310882504, 0.2810882504), (0.2090313104, 0.6369743703)]
    np.testing.assert_allclose(path, expected, atol=1e-9)


def test_pegasos_by_hand():
    path = [
        Pegasos(0.5, schedule="inverse", fit_intercept=False, order="given", n_updates=k).fit(*T1).coef_[0]
        for k in range(1, 7)
    ]
    expected = [
        (-1, 1),
        (-0.75, 1.25),
        (-0.125, 1.375),
        (-0.109375, 1.203125),
        (-0.0984375, 1.0828125),
        (0.159765625, 1.1592447917),
    ]
    np.testing.assert_allclose(path, expected, atol=1e-9)


def test_pegasos_bound_on_average():
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:, :5]
    alpha = 0.1
    exact = LinearSVC(loss="hinge", fit_intercept=False, C=1 / (alpha * len(y))).fit(X, y).primal_ * alpha
    radius = np.max(np.sum(X**2, axis=1))
    gaps = [
        Pegasos(alpha, average=True, fit_intercept=False, max_iter=2, random_state=s).fit(X, y).trace_[-1]
        for s in range(20)
    ]
    t = 2 * len(y)
    assert -1e-9 <= np.mean(gaps) - exact <= 4 * radius * (1 + np.log(t)) / (2 * alpha * t)


def test_divergence_is_named_with_the_stable_rate():
    model = SGDRegressor(**PLAIN, learning_rate="constant", eta0=0.9, batch_size="full", max_iter=2000)
    with pytest.raises(DivergenceError, match="2/L = 0.838") as caught:
        model.fit(*B)
    assert isinstance(caught.value, ValueError)  # as wherever data want another scale


def test_descent_below_the_limit_reaches_the_closed_form():
    model = SGDRegressor(**PLAIN, learning_rate="constant", eta0=0.75, batch_size="full", max_iter=500).fit(
        *B
    )
    np.testing.assert_allclose([model.coef_[0], model.intercept_[0]], [1.5, 5 / 6], atol=1e-8)
    assert np.all(np.diff(model.trace_) <= 1e-15)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.booleans())
def test_weights_stay_in_the_span_of_the_rows(seed, n, ridge):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 8)), rng.normal(size=n)
    model = SGDRegressor(
        penalty="l2" if ridge else None, max_iter=3, tol=None, fit_intercept=False, random_state=0
    )
    w = model.fit(X, y).coef_
    rest = w - X.T @ np.linalg.lstsq(X.T, w)[0]
    assert np.abs(rest).max() < 1e-9


def test_mean_of_row_gradients_is_the_gradient():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(40, 3)), rng.choice([-1, 1], size=40), rng.normal(size=3)
    slopes = Logistic().gradient(y, X @ w)
    one = SGDClassifier(
        "log_loss", **PLAIN, fit_intercept=False, learning_rate="constant", eta0=1.0, max_iter=1
    )
    moves = [one.set_params(order=[i]).fit(X, y, coef_init=[w]).coef_[0] - w for i in range(40)]
    np.testing.assert_allclose(-np.mean(moves, axis=0), X.T @ slopes / 40, atol=1e-12)
    full = one.set_params(order=None, batch_size="full").fit(X, y, coef_init=[w]).coef_[0]
    np.testing.assert_allclose(full - w, np.mean(moves, axis=0), atol=1e-12)


@pytest.mark.parametrize(
    "loss", ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "exponential"]
)
def test_learns_and_sparse_is_dense(loss):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"random_state": 0, "alpha": 1e-2, "max_iter": 20, "tol": None}
    if loss == "exponential":  # its slopes grow without bound
        options |= {"learning_rate": "constant", "eta0": 1e-3}
    a = SGDClassifier(loss, **options).fit(X, y)
    b = SGDClassifier(loss, **options).fit(sparse.csr_array(X), y)
    assert a.score(X, y) > 0.93
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-8)


def test_l1_makes_zeros_and_adagrad_and_momentum_work():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SGDClassifier("log_loss", penalty="l1", alpha=0.02, random_state=0).fit(X, y)
    assert 0 < np.count_nonzero(model.coef_) < 30
    for options in ({"optimizer": "adagrad"}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}):
        model = SGDClassifier(
            "log_loss", batch_size=32, learning_rate="constant", eta0=0.05, random_state=0, **options
        )
        assert model.fit(X, y).score(X, y) > 0.95
    assert SGDClassifier("log_loss", early_stopping=True, random_state=0).fit(X, y).score(X, y) > 0.95
    assert SGDClassifier("log_loss", average=True, random_state=0).fit(X, y).score(X, y) > 0.95
    assert (
        SGDClassifier("log_loss", learning_rate="adaptive", eta0=0.1, random_state=0).fit(X, y).score(X, y)
        > 0.95
    )


def test_momentum_zero_is_gradient_descent():
    a = SGDRegressor(**PLAIN, learning_rate=Constant(0.1), batch_size=2, order="given", max_iter=4).fit(*B)
    b = SGDRegressor(
        **PLAIN, learning_rate=Constant(0.1), batch_size=2, order="given", max_iter=4, nesterov=True
    ).fit(*B)
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_stream_of_rows_is_one_pass():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 3, size=50)
    for classes in (2, 3):
        t = np.minimum(y, classes - 1)
        whole = SGDClassifier(random_state=0).partial_fit(X[:1], t[:1], classes=np.arange(classes))
        whole.partial_fit(np.asfortranarray(X[1:]), t[1:])
        rows = SGDClassifier(random_state=0, order="given")
        for i in range(50):
            rows.partial_fit(X[i : i + 1], t[i : i + 1], classes=np.arange(classes) if i == 0 else None)
        order = SGDClassifier(random_state=0, order="given", max_iter=1, tol=None).fit(X, t)
        np.testing.assert_allclose(rows.coef_, order.coef_, atol=1e-12)
        assert rows.t_ == 51
    model = SGDRegressor(learning_rate=InverseDecay(0.1), order="given", max_iter=1, tol=None).fit(X, y)
    stream = SGDRegressor(learning_rate=InverseDecay(0.1))
    for i in range(50):
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(stream.coef_, model.coef_, atol=1e-12)


def test_stream_still_refuses_bad_rows():
    model = SGDClassifier().partial_fit(np.zeros((1, 2)), [0], classes=[0, 1])
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((1, 3)), [0])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.array([[np.nan, 1.0]]), [0])
    with pytest.raises(ValueError, match="2"):
        model.partial_fit(np.zeros((1, 2)), [2])
    with pytest.raises(ValueError, match="first call"):
        SGDClassifier().partial_fit(np.zeros((1, 2)), [0])


def test_class_weight_is_sample_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, size=40)
    a = SGDClassifier(class_weight={0: 1, 1: 3}, random_state=0).fit(X, y)
    b = SGDClassifier(random_state=0).fit(X, y, sample_weight=np.where(y == 1, 3, 1))
    np.testing.assert_allclose(a.coef_, b.coef_)


def test_shuffles_are_permutations_and_all_alike():
    counts = {}
    for k in range(1200):
        order = tuple(shuffled(stream_seed(3, k), 3).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert set(counts) == set(itertools.permutations(range(3)))
    assert chisquare(list(counts.values())).pvalue > 1e-4
    np.testing.assert_array_equal(np.sort(shuffled(stream_seed(0, 0), 1001)), np.arange(1001))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rate", ["constant", "invscaling", "adaptive"])
def test_a_warm_start_begins_at_the_weights_with_a_clock_at_zero(rate, average):
    options = {
        "learning_rate": rate,
        "eta0": 0.01,
        "shuffle": False,
        "max_iter": 5,
        "tol": None,
        "average": average,
    }
    first = SGDRegressor(alpha=0.01, **options).fit(*B)
    given = SGDRegressor(alpha=0.001, **options).fit(
        *B, coef_init=first.coef_, intercept_init=first.intercept_
    )
    warm = SGDRegressor(alpha=0.01, warm_start=True, **options).fit(*B).set_params(alpha=0.001).fit(*B)
    np.testing.assert_array_equal(warm.coef_, given.coef_)
    np.testing.assert_array_equal(warm.intercept_, given.intercept_)
    assert warm.t_ == given.t_ == 16.0


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("rate", "kind"), [("pa1", ""), ("pa2", "squared_")])
def test_passive_aggressive_rates_are_passive_aggressive_learners(rate, kind, average):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"average": average, "random_state": 3, "max_iter": 4, "tol": None}
    same = {"penalty": None, "learning_rate": rate, "eta0": 0.4, **options}
    for Z in (X, sparse.csr_array(X)):
        peer = PassiveAggressiveClassifier(loss=f"{kind}hinge", C=0.4, **options).fit(Z, y)
        np.testing.assert_allclose(SGDClassifier("hinge", **same).fit(Z, y).coef_, peer.coef_, rtol=1e-12)
    peer = PassiveAggressiveRegressor(loss=f"{kind}epsilon_insensitive", C=0.4, **options).fit(X, X[:, 0])
    model = SGDRegressor("epsilon_insensitive", **same).fit(X, X[:, 0])
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-12)
    for wrong in ({"loss": "log_loss"}, {"penalty": "l2"}, {"batch_size": 2}):
        with pytest.raises(ValueError, match=f"learning_rate='{rate}'"):
            SGDClassifier(**{"loss": "hinge", **same, **wrong}).fit(X, y)


@pytest.mark.parametrize("learner", [SGDClassifier, Perceptron, PassiveAggressiveClassifier])
def test_rows_of_a_stream_are_not_held_out(learner):
    with pytest.raises(ValueError, match="early_stopping should be False with partial_fit"):
        learner(early_stopping=True).partial_fit(*T1, classes=[-1, 1])


def test_an_elastic_net_needs_its_ratio():
    with pytest.raises(ValueError, match="l1_ratio must be set"):
        SGDRegressor(penalty="elasticnet", l1_ratio=None).fit(*B)


def test_coefficients_have_the_precision_of_the_rows():
    X, y = B
    assert SGDRegressor().fit(X.astype(np.float32), y).coef_.dtype == np.float32
    assert SGDRegressor().fit(X, y).coef_.dtype == np.float64
    with pytest.raises(ValueError, match="Provided coef_init does not match dataset"):
        SGDRegressor().fit(X, y, coef_init=np.zeros(3))


@pytest.mark.parametrize("model", [SGDRegressor(random_state=0), SGDClassifier(random_state=0)], ids=repr)
def test_weights_that_ran_away_are_not_called_converged(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] if isinstance(model, SGDRegressor) else (X[:, 0] > 0).astype(int)
    assert model.fit(X, y).converged_
    with pytest.warns(ConvergenceWarning, match="ran away"):
        assert not model.fit(X + 1e4, y).converged_
    with pytest.warns(ConvergenceWarning, match="ran away"):
        assert not SGDRegressor(random_state=0).fit([[1e13, 1e13]], [1.0]).converged_


def test_seeds_of_passes_are_those_of_streams():
    rng = np.random.default_rng(0)
    for seed in [0, 1, 2**31, 2**62 + 3, *rng.integers(0, 2**63 - 1, size=50).tolist()]:
        for index in (0, 1, 7, 2**20):
            assert stream_seed(seed, index) == draw_seed(stream(seed, index))
            drawn = np.empty(7)
            fill_uniform(seed, index, drawn)
            np.testing.assert_array_equal(drawn, stream(seed, index).random(7))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tol": None, "max_iter": 7},
        {"max_iter": 4},
        {"average": 300},
        {"average": True, "penalty": "l1", "alpha": 0.01},
        {"penalty": "elasticnet", "fit_intercept": False},
        {"learning_rate": "constant", "eta0": 0.003},
        {"learning_rate": "adaptive"},
        {"learning_rate": Constant(0.002)},
        {"shuffle": False},
        {"order": "shuffle"},
        {"order": np.arange(60)[::-1]},
        {"early_stopping": True},
        {"batch_size": 5},
    ],
)
@pytest.mark.parametrize("model", [SGDRegressor, SGDClassifier])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_passes_that_nobody_sees_have_the_same_bits(model, options):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=60)
    y = y if model is SGDRegressor else np.digitize(y, [-1.0, 1.0])
    weight = rng.integers(1, 3, size=60)
    unseen = model(random_state=0, **options).fit(X, y, sample_weight=weight)
    seen = model(random_state=0, **options).set_callbacks(TimeBudget(1e9)).fit(X, y, sample_weight=weight)
    for name in ("coef_", "intercept_", "t_", "n_iter_", "converged_"):
        np.testing.assert_array_equal(getattr(unseen, name), getattr(seen, name))
    np.testing.assert_array_equal(unseen.trace_.objective, seen.trace_.objective)
    for one, other in zip(unseen.pass_, seen.pass_, strict=True):
        np.testing.assert_equal(one, other)


def test_a_loss_that_leaves_the_finite_numbers_is_told_in_stretches_too():
    X = np.random.default_rng(0).normal(size=(50, 3)) * 1e200
    with pytest.raises(DivergenceError, match="finite numbers"):
        SGDRegressor(random_state=0).fit(X, np.arange(50.0))


@pytest.mark.parametrize("options", [{"max_iter": 3}, {"max_iter": 9, "n_updates": 60}])
def test_pegasos_ends_with_the_pass_that_makes_the_last_update(options):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is done, not cut short
        model = Pegasos(0.1, random_state=0, **options).fit(X, X[:, 0] > 0)
    assert model.converged_ and len(model.trace_.objective) == 3


def test_objective_of_all_rows_at_once_is_mean_loss_plus_penalty():
    X = np.random.default_rng(1).normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.2, 1.0, -1.0)
    model = SGDClassifier(
        penalty="elasticnet", alpha=0.3, l1_ratio=0.25, batch_size="full", max_iter=4, tol=None
    )
    model.set_params(learning_rate="constant", eta0=0.5).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    loss = np.mean(np.maximum(0.0, 1.0 - y * (X @ w + b)))
    penalty = 0.3 * (0.25 * np.abs(w).sum() + 0.375 * np.sum(w**2))
    assert model.trace_.objective[-1] == pytest.approx(loss + penalty, rel=1e-12)


def test_first_steps_fit_the_slope_of_the_loss():
    """Bottou's rule: the weights are of size α^(−1/4), where the squared hinge has the slope 2(1 + α^(−1/4))."""
    X = np.random.default_rng(2).normal(size=(30, 2))
    options = {"loss": "squared_hinge", "alpha": 1e-4, "shuffle": False, "max_iter": 1, "tol": None}
    named = SGDClassifier(learning_rate="optimal", **options).fit(X, X[:, 0] > 0)
    made = SGDClassifier(learning_rate=Optimal(1e-4, 22.0), **options).fit(X, X[:, 0] > 0)
    np.testing.assert_allclose(named.coef_, made.coef_, rtol=1e-12)
