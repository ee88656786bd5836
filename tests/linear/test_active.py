"""Active learning and the reading of coefficients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.datasets import make_table
from gnomon.linear import ActiveLearner, BayesianLinearRegression, coefficient_table, select_queries


def prior(d=2):
    return BayesianLinearRegression(fit_intercept=False).prior(d)


def test_order_by_hand():
    """R37."""
    found = select_queries(prior(), [[1.0, 0.0], [2.0, 0.0], [0.0, 1.5]])
    assert found.order.tolist() == [1, 2, 0]
    np.testing.assert_allclose(found.variances, [5, 3.25, 1.2], rtol=1e-9)
    np.testing.assert_allclose(found.entropy_drops, [0.8047189562, 0.5893274982, 0.0911607784], rtol=1e-9)


@given(st.integers(0, 10_000))
def test_plan_equals_asking_one_by_one(seed):
    rng = np.random.default_rng(seed)
    pool, start = rng.normal(size=(8, 3)), rng.normal(size=(2, 3))
    model = BayesianLinearRegression(0.7, 0.4, fit_intercept=False).fit(start, [1.0, 2.0])
    plan = select_queries(model, pool)
    learner, entropy = ActiveLearner(model, pool), [model.entropy()]
    for _ in range(8):
        left = np.setdiff1d(np.arange(8), [h[0] for h in learner.history_])
        k = learner.next()
        after = {}
        for j in left:
            S, x = learner.model.covariance_, pool[j]
            after[j] = np.linalg.slogdet(S - np.outer(S @ x, S @ x) / (0.4 + x @ S @ x))[1]
        assert after[k] <= min(after.values()) + 1e-9  # it takes the most entropy away
        entropy.append(learner.tell(k, rng.normal()).model.entropy())
    assert [h[0] for h in learner.history_] == plan.order.tolist()
    np.testing.assert_allclose([h[2] for h in learner.history_], plan.variances, rtol=1e-8)
    np.testing.assert_allclose(-np.diff(entropy), plan.entropy_drops, rtol=1e-7)


def test_active_learns_faster_than_chance():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(100, 4)) * [3.0, 1.0, 1.0, 0.3]
    y = pool @ [1.0, -2.0, 0.5, 1.0] + 0.5 * rng.normal(size=100)
    entropy = {}
    for criterion in ("variance", "random"):
        learner = ActiveLearner(prior(4), pool, criterion=criterion, random_state=0)
        for _ in range(12):
            k = learner.next()
            learner.tell(k, y[k])
        entropy[criterion] = learner.model.entropy()
    assert entropy["variance"] < entropy["random"]


def test_bad_queries_are_named():
    learner = ActiveLearner(prior(), [[1.0, 0.0]])
    learner.tell(0, 1.0)
    with pytest.raises(ValueError, match="measured before"):
        learner.tell(0, 1.0)
    with pytest.raises(ValueError, match="every point"):
        learner.next()
    with pytest.raises(ValueError, match="Did you mean 'random'"):
        ActiveLearner(prior(), [[1.0, 0.0]], criterion="randum")
    with pytest.raises(ValueError, match="n_queries"):
        select_queries(prior(), [[1.0, 0.0]], 2)
    with pytest.raises(ValueError, match="minimum of 1"):
        select_queries(prior(), np.zeros((0, 2)))
    with pytest.raises(ValueError, match="fit_intercept=False"):
        select_queries(BayesianLinearRegression().fit([[1.0], [2.0]], [1.0, 2.0]), [[1.0]])


def test_a_sign_flips_when_the_confounder_enters():
    rows = make_table("omitted variable", 60, random_state=0)
    X, y = rows.data, rows.target
    table = coefficient_table(X, y, [(0,), (0, 1)])
    assert table.sign_changes == ["x0"]
    assert np.isnan(table.coef[0, 1]) and (table.lower[1] < table.coef[1]).all()
    assert len(table.to_frame()) == 3
    with pytest.raises(ValueError, match="subsets is empty"):
        coefficient_table(X, y, [])
