"""Bandits: indices and posteriors by hand, regret against what theory says."""

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.decide import (
    UCB1,
    Bandit,
    EpsilonGreedy,
    Exp3,
    GradientBandit,
    LinearBandit,
    ThompsonBandit,
    solve,
)

ARMS = Bandit.bernoulli([0.2, 0.5, 0.7])


def test_random_play_loses_the_mean_gap():
    trace = ARMS.run(EpsilonGreedy(1.0), 300, n_runs=400, random_state=0)
    assert trace.regret[:, -1].mean() == pytest.approx(70, abs=5 * trace.regret[:, -1].std() / 20)
    assert trace.pulls.sum(axis=1).tolist() == [300] * 400
    np.testing.assert_allclose(np.nanmean(trace.estimates, axis=0), [0.2, 0.5, 0.7], atol=0.02)


def test_upper_bounds_by_hand():
    state = {"n": np.array([[10.0, 5.0, 1.0]]), "mean": np.array([[0.5, 0.6, 0.3]]), "t": 16}
    np.testing.assert_allclose(UCB1().indices(state), [[1.2446594822, 1.6531075391, 2.6548200450]], atol=1e-9)
    assert UCB1().choose(state).tolist() == [2]
    assert ARMS.run(UCB1(), 3, n_runs=2, random_state=0).actions.tolist() == [[0, 1, 2]] * 2


def test_thompson_by_hand():
    rule = ThompsonBandit()
    state = rule.begin(2, 1)
    state["wins"], state["losses"] = (
        np.array([[2.0, 1.0]]),
        np.array([[1.0, 2.0]]),
    )  # Beta(3, 2) and Beta(2, 3)
    assert rule.selection_probabilities(state)[0, 0] == pytest.approx(53 / 70, abs=1e-9)
    rng = np.random.default_rng(0)
    picks = [rule.choose(state, rng)[0] for _ in range(4000)]
    assert np.mean(np.array(picks) == 0) == pytest.approx(53 / 70, abs=0.035)


def test_gradient_by_hand():
    rule = GradientBandit(0.1)
    state = rule.begin(3, 1)
    rule.learn(state, np.array([0]), np.array([1.0]))
    np.testing.assert_allclose(state["H"], [[0.0666666667, -0.0333333333, -0.0333333333]], atol=1e-9)
    rule.learn(state, np.array([2]), np.array([0.0]))
    np.testing.assert_allclose(state["H"], [[0.1022579738, -0.0011289869, -0.1011289869]], atol=1e-9)


def test_exponential_weights_by_hand():
    rule = Exp3(0.2)
    state = rule.begin(2, 1)
    np.testing.assert_allclose(rule.chances(state), [[0.5, 0.5]])
    rule.learn(state, np.array([1]), np.array([1.0]))
    w = np.exp(0.2 * (1 / 0.5) / 2)
    np.testing.assert_allclose(rule.chances(state)[0, 1], 0.8 * w / (1 + w) + 0.1)


def test_linear_rule_is_ridge_regression():
    rng = np.random.default_rng(0)
    world = Bandit.linear([1.0, -0.5], n_arms=3, scale=0.1)
    rule = LinearBandit(alpha=2.0)
    state = rule.begin(world, 1)
    X, y = [], []
    for _ in range(20):
        context = rng.normal(size=(1, 3, 2))
        arm, paid = rng.integers(3, size=1), rng.normal(size=1)
        rule.learn(state, arm, paid, context)
        X.append(context[0, arm[0]])
        y.append(paid[0])
    A = 2.0 * np.eye(2) + np.array(X).T @ np.array(X)
    np.testing.assert_allclose(state["inverse"][0], np.linalg.inv(A), atol=1e-12)
    theta = np.linalg.solve(A, np.array(X).T @ np.array(y))
    context = rng.normal(size=(1, 3, 2))
    bound = context[0] @ theta + np.sqrt(np.einsum("ki,ij,kj->k", context[0], np.linalg.inv(A), context[0]))
    assert rule.choose(state, None, context)[0] == bound.argmax()


def test_rules_learn_and_the_lower_bound_is_that_of_lai_and_robbins():
    traces = {
        rule: ARMS.run(rule, 1500, n_runs=60, random_state=0)
        for rule in (EpsilonGreedy(0.1), UCB1(0.5), ThompsonBandit(), GradientBandit(0.1), Exp3())
    }
    random = 1500 * (0.5 + 0.2 + 0.0) / 3
    for rule, trace in traces.items():
        assert trace.regret[:, -1].mean() < 0.45 * random, rule
        assert trace.best_share[-100:].mean() > trace.best_share[:50].mean(), rule
    best = 0.7

    def kl(p, q):
        return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))

    slope = 0.5 / kl(0.2, best) + 0.2 / kl(0.5, best)
    np.testing.assert_allclose(trace.lower_bound, slope * np.log(np.arange(1, 1501)))
    normal = Bandit.gaussian([0.0, 1.0], scale=2.0)
    assert normal.lower_bound(10)[-1] == pytest.approx(np.log(10) * 2 * 4 / 1)
    drawn = normal.run(ThompsonBandit((0.0, 1.0, 1.0, 1.0)), 600, n_runs=40, random_state=1)
    assert drawn.regret[:, -1].mean() < 0.3 * 300
    world = Bandit.linear([1.0, -1.0, 0.5], n_arms=4, scale=0.1)
    for rule in (LinearBandit(scale=0.3), LinearBandit("thompson", scale=0.3)):
        found = world.run(rule, 300, n_runs=20, random_state=0)
        assert found.regret[:, -1].mean() < 20 and np.isnan(found.lower_bound).all()


def test_same_seed_same_play():
    for rule in (EpsilonGreedy(0.1), ThompsonBandit(), Exp3(), GradientBandit()):
        one, two = (ARMS.run(rule, 50, n_runs=5, random_state=3) for _ in range(2))
        np.testing.assert_array_equal(one.actions, two.actions)


def test_a_bandit_is_a_process_of_one_state():
    model = solve(Bandit.bernoulli([0.2, 0.5, 0.7]).to_mdp(0.9))
    np.testing.assert_allclose(model.Q_[0], np.array([0.2, 0.5, 0.7]) + 0.9 * 0.7 / 0.1)
    assert np.asarray(model.policy_).tolist() == [2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bandit.bernoulli([]), "at least one arm"),
        (lambda: Bandit.bernoulli([1.2]), "between 0 and 1"),
        (lambda: Bandit.gaussian([0.0], scale=0), "scale"),
        (lambda: Bandit([0.5], kind="cauchy"), "kind"),
        (lambda: ARMS.run(UCB1(), 2), "less than the 3 arms"),
        (lambda: ARMS.run(UCB1(), 0), "n_steps"),
        (lambda: Bandit.gaussian([0.0]).run(ThompsonBandit(), 5), "Normal-Gamma"),
        (lambda: ARMS.run(LinearBandit(), 5), "features"),
        (lambda: Bandit.gaussian([5.0]).run(Exp3(), 5), "between 0 and 1"),
        (lambda: EpsilonGreedy(2.0), "epsilon"),
        (lambda: UCB1(0.0), "scale"),
        (lambda: ThompsonBandit((0, 1)), "positive"),
        (lambda: GradientBandit(0.0), "learning_rate"),
        (lambda: Exp3(0.0), "gamma"),
        (lambda: LinearBandit("best"), "rule"),
    ],
)
def test_bad_bandits_are_named(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_epsilon_greedy_as_a_rule_of_a_bandit():
    bold = ARMS.run(EpsilonGreedy(0.0, initial=5.0), 3, n_runs=20, random_state=0)
    assert (np.sort(bold.actions, axis=1) == np.arange(3)).all()  # a large belief makes it try all
    first = ARMS.run(EpsilonGreedy(0.0, ties="first"), 1, n_runs=20, random_state=0)
    shared = ARMS.run(EpsilonGreedy(0.0), 1, n_runs=200, random_state=0)
    assert (first.actions == 0).all() and set(shared.actions.ravel()) == {0, 1, 2}
    with pytest.raises(DataError, match="at step 2"):
        ARMS.run(EpsilonGreedy(lambda t: t), 5, n_runs=2)
