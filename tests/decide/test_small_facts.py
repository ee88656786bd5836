"""Bounds, journeys, policies and the worlds they fit, chances of arms, memories of moves, and returns."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decide.worlds import six_states
from gnomon.core.errors import DataError, ModelFileError
from gnomon.decide import (
    MDP,
    ActionHMM,
    Bandit,
    Exp3,
    GradientBandit,
    GridWorld,
    LinearProgram,
    PolicyIteration,
)
from gnomon.decide.evaluation import softmax
from gnomon.decide.policies import Policy
from gnomon.decide.replay import Replay
from gnomon.decide.returns import returns_of

CHANCES = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("table", "fits", "not_these"),
    [
        (np.array([0, 1, 1]), [(3, 2), (3, 5)], [(2, 2), (4, 2), (3, 1)]),
        (np.array([[0, 1, 1], [2, 0, 0]]), [(3, 3)], [(2, 3), (3, 2)]),
        (CHANCES, [(3, 2)], [(3, 3), (2, 2), (2, 3)]),
    ],
    ids=["actions", "steps", "chances"],
)
def test_a_policy_of_a_file_fits_its_world(table, fits, not_these):
    policy = Policy(table)
    policy._check_loaded()
    for size in fits:
        policy.check_actions(*size)
    for size in not_these:
        with pytest.raises(ModelFileError, match="does not fit"):
            policy.check_actions(*size)


NONE = [[0, -1], [[0.5, 0.6]], [[1.5, -0.5]], [[[0]]], [0.5]]


@pytest.mark.parametrize("wrong", NONE, ids=str)
def test_a_file_without_a_policy_is_refused(wrong):
    policy = Policy(CHANCES)
    policy.table = np.array(wrong)
    with pytest.raises(ModelFileError, match="neither actions nor chances"):
        policy._check_loaded()


def test_greedy_policies_and_their_chances():
    Q = np.array([[1.0, 3.0, 3.0 - 1e-12], [2.0, 2.0, 2.0], [5.0, 0.0, 1.0]])
    assert np.asarray(Policy.greedy(Q)).tolist() == [1, 0, 0]
    split = Policy.greedy(Q, ties="split")
    assert_allclose(split, [[0, 0.5, 0.5], [1 / 3] * 3, [1, 0, 0]])
    assert_allclose(split.probabilities(0), [0, 0.5, 0.5])
    assert Policy.greedy(Q).probabilities(0).tolist() == [0, 1]
    assert repr(split) == "Policy(chances of shape (3, 3))" and len(split) == 3
    for wrong in (Q[0], np.full((2, 2), np.nan)):
        with pytest.raises(DataError, match="without NaN"):
            Policy.greedy(wrong)


def test_chances_of_exp3_by_hand():
    rule = Exp3(0.2)
    state = rule.begin(Bandit([0.1, 0.9, 0.5, 0.5]), 3)
    state["log_w"] = np.log([[1.0, 2, 3, 4], [1, 1, 1, 1], [8, 1, 1, 0.5]])
    shares = np.array([[1.0, 2, 3, 4], [1, 1, 1, 1], [8, 1, 1, 0.5]])
    shares /= shares.sum(axis=1, keepdims=True)
    assert_allclose(rule.chances(state), 0.8 * shares + 0.2 / 4)
    assert set(rule.choose(state)) <= {0, 1, 2, 3}
    rng = np.random.default_rng(0)
    drawn = np.array([rule.choose(state, rng) for _ in range(8000)])
    for run in range(3):
        assert_allclose(np.bincount(drawn[:, run], minlength=4) / 8000, rule.chances(state)[run], atol=0.025)
    told = Exp3().begin(Bandit([0.1, 0.9, 0.5, 0.5]), 1, 1000)["gamma"]
    assert told == pytest.approx(np.sqrt(4 * np.log(4) / ((np.e - 1) * 1000)))
    assert Exp3().begin(Bandit([0.1, 0.9]), 1, 1)["gamma"] == pytest.approx(
        min(1, np.sqrt(2 * np.log(2) / (np.e - 1)))
    )


def test_softmax_of_any_rows():
    logits = np.array([[[0.0, np.log(3.0)], [1000.0, 1000.0]]])
    assert_allclose(softmax(logits), [[[0.25, 0.75], [0.5, 0.5]]])


def test_a_memory_that_is_not_full_is_kept_and_goes_on():
    ring = Replay(3, 1)
    for k in range(2):
        ring.add([k], k, 10.0 * k, [k + 1], k == 1)
    kept = ring.tree()
    assert [len(part) for part in kept[2:]] == [2] * 5 and kept[:2] == (2, 2)
    other = Replay(3, 1)
    other.fill(kept)
    for one in (ring, other):
        for k in range(2, 4):
            one.add([k], k, 10.0 * k, [k + 1], False)
        assert (one.at, one.count) == (1, 3)
        assert one.actions.tolist() == [3, 1, 2] and one.rewards.tolist() == [30, 10, 20]
        assert one.seen.ravel().tolist() == [3, 1, 2] and one.then.ravel().tolist() == [4, 2, 3]
        assert one.over.tolist() == [0, 1, 0]


def test_returns_of_episodes_end_to_end():
    episodes, rewards = np.array([4, 4, 4, 7, 9, 9]), np.array([1.0, 2, 4, 5, 0, 8])
    assert_allclose(returns_of(episodes, rewards, 0.5), [1 + 1 + 1, 5, 4])
    assert_allclose(returns_of(episodes, rewards, 1.0), [7, 5, 8])


def test_a_linear_program_marks_every_best_action():
    world = GridWorld((2, 2), terminals={(1, 1): 1.0}, living_reward=-0.1, start=(0, 0), discount=0.9)
    model, peer = LinearProgram().fit(world), PolicyIteration().fit(world)
    assert model.converged_ and model.n_iter_ == 1
    assert_allclose(model.V_, peer.V_, atol=1e-9)
    assert_allclose(model.Q_.max(axis=1), model.V_, atol=1e-9)
    best = model.Q_ > model.Q_.max(axis=1, keepdims=True) - 1e-7
    assert model.optimal_actions_.tolist() == best.tolist()
    assert best[0].sum() == 2  # right and down are as good from the corner


def test_bounds_of_exact_improvement_by_hand():
    """After each evaluation the best value lies between BV + c·min(BV − V) and BV + c·max(BV − V), c = γ/(1 − γ)."""
    mdp = six_states(0.9)
    T = mdp.rows_.toarray().reshape(6, 3, 6)
    told = PolicyIteration(initial_policy=mdp.expected_rewards_.argmin(axis=1)).fit(mdp)
    gaps, least = [], []
    for policy in told.policies_:
        V = mdp.evaluate(policy).value
        change = (mdp.expected_rewards_ + 0.9 * T @ V).max(axis=1) - V
        gaps.append(9.0 * (change.max() - change.min()) / 2)
        least.append(change.min())
    assert len(gaps) > 1 and least[0] > 0.1  # at first every state gains
    assert_allclose(told.trace_.certificate, gaps, atol=1e-9)


def test_journeys_as_pairs_and_as_two_lists():
    moves = [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.5, 0.5]]]
    options = {"transmat": moves, "emissionprob": [[0.8, 0.2], [0.3, 0.7]], "n_iter": 3, "tol": 0.0}
    observations, actions = [[0, 1, 1, 0], [1, 1, 0]], [[1, 0, 1], [0, 1]]
    pairs = list(zip(observations, actions, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps are not enough
        one = ActionHMM(2, 2, 2, **options).fit(pairs)
        two = ActionHMM(2, 2, 2, **options).fit(observations, actions)
    for name in ("startprob_", "transmat_", "emissionprob_"):
        assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-14)
    for found, (o, a) in zip(one.predict_proba(pairs), pairs, strict=True):
        assert_allclose(found, one.predict_proba(o, a))
    for wrong in ([], [(observations[0],)], [tuple(observations)] * 2 + [(1, 2, 3)], tuple(pairs)):
        with pytest.raises(DataError, match="list of pairs"):
            ActionHMM(2, 2, 2, **options).fit(wrong)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ([[0.0, 1.0], [0.5, 0.5], [0.5, 0.5]], "action 1 in state 0"),
        ([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]], "action 0 in state 1"),
        ([0, 1, 0], "action 0 in state 2"),
        ([1, 1, 0], "action 1 in state 0"),
        ([[0, 1, 1], [0, 1, 0]], "action 0 in state 2"),
    ],
    ids=["first of three", "first of two", "last", "first", "in time"],
)
def test_the_first_action_that_is_not_available_is_named(policy, told):
    T = np.full((3, 2, 3), 1 / 3)
    available = [[True, False], [False, True], [False, True]]
    mdp = MDP(T, np.zeros((3, 2)), discount=0.5, layout="sas", available=available)
    with pytest.raises(DataError, match=told):
        mdp.evaluate(policy)


def test_arms_without_a_chance_are_never_drawn():
    class Always:
        def __init__(self, u):
            self.u = u

        def random(self, n):
            return np.full(n, self.u)

    rule = GradientBandit()
    state = rule.begin(Bandit([0.1, 0.9, 0.5]), 2)
    state["H"] = np.array([[-2000.0, 0.0, 0.0], [0.0, -2000.0, 0.0]])  # chances 0, ½, ½ and ½, 0, ½
    for u, arms in [(0.0, [1, 0]), (0.49, [1, 0]), (0.5, [2, 2]), (0.99, [2, 2])]:
        assert rule.choose(state, Always(u)).tolist() == arms


def test_small_processes_are_solved_by_lapack():
    for S in (2, 150, 300):
        ring = np.arange(S), (np.arange(S) + 1) % S
        T = np.zeros((S, 1, S))
        T[ring[0], 0, ring[1]] = 1.0
        found = MDP(T, np.ones((S, 1)), discount=0.5, layout="sas").evaluate(np.zeros(S, int))
        assert found.method == ("dense" if S <= 200 else "sparse")
        assert_allclose(found.value, 2.0)
    full = MDP(np.full((300, 1, 300), 1 / 300), np.ones((300, 1)), discount=0.5, layout="sas")
    assert full.evaluate(np.zeros(300, int)).method == "dense"
