"""Bounds, journeys, policies and the worlds they fit, chances of arms, memories of moves, and returns."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats

from decide.worlds import R2, T2, plain_values, six_states
from gnomon.core.errors import DataError, ModelFileError, ZeroEvidenceError
from gnomon.decide import (
    MDP,
    ActionHMM,
    Bandit,
    EmpiricalModel,
    EpsilonGreedy,
    Exp3,
    GradientBandit,
    GridWorld,
    LinearProgram,
    PolicyGradient,
    PolicyIteration,
    QLearning,
    RunningMean,
    SoftmaxBehavior,
    ThompsonBandit,
    ValueIteration,
    compare_agents,
    solve,
)
from gnomon.decide.behavior import coded_behavior
from gnomon.decide.comparison import interquartile_mean
from gnomon.decide.evaluation import softmax
from gnomon.decide.journeys import Journeys
from gnomon.decide.logs import read_log
from gnomon.decide.networks import NetworkPolicy, Sight, single_envs
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


def test_means_and_variances_on_the_way():
    numbers, plain = [4.0, 2.0, 6.0, 3.0, 8.0], RunningMean()
    assert np.isnan(plain.value) and np.isnan(plain.variance)
    for i, x in enumerate(numbers):
        assert plain.update(x) == pytest.approx(np.mean(numbers[: i + 1]))
        assert (
            plain.variance == pytest.approx(np.var(numbers[: i + 1], ddof=1))
            if i
            else np.isnan(plain.variance)
        )
    assert plain.update(np.nan) == plain.value and (plain.count, plain.skipped) == (5, 1)
    fading = RunningMean(0.25, initial=1.0)
    assert [fading.update(x) for x in (5.0, 1.0)] == [2.0, 1.75]  # 1 + (5 − 1)/4, and on from there
    with pytest.raises(DataError, match="alpha=None only"):
        fading.variance


@pytest.mark.parametrize("n_arms", [2, 3])
def test_chances_of_beta_arms_to_be_played(n_arms):
    rule = ThompsonBandit((1.0, 1.0))
    state = rule.begin(n_arms, 2)
    wins, losses = (
        np.array([[3.0, 1, 0], [0, 0, 2]])[:, :n_arms],
        np.array([[1.0, 2, 0], [4, 0, 1]])[:, :n_arms],
    )
    state["wins"][:], state["losses"][:] = wins, losses
    found = rule.selection_probabilities(state, 20_000, random_state=0)
    x = (np.arange(20_000) + 0.5) / 20_000
    for r in range(2):
        arms = [stats.beta(1 + w, 1 + lost) for w, lost in zip(wins[r], losses[r], strict=True)]
        exact = [
            np.mean(arms[k].pdf(x) * np.prod([o.cdf(x) for o in arms if o is not arms[k]], axis=0))
            for k in range(n_arms)
        ]
        assert_allclose(found[r], exact, atol=1e-6 if n_arms == 2 else 0.015)


def test_exploration_by_a_policy():
    assert coded_behavior(np.array([1, 0, 1]), 3, 2).fixed.tolist() == [[0, 1], [1, 0], [0, 1]]
    found = coded_behavior(Policy(CHANCES), 3, 2)
    assert found.kind == 3 and found.fixed.tolist() == CHANCES.tolist()
    kinds = [EpsilonGreedy(0.2), EpsilonGreedy(0.2, ties="first"), SoftmaxBehavior(2.0), 0.3]
    assert [coded_behavior(one, 3, 2).kind for one in kinds] == [0, 1, 2, 0]
    for wrong in (CHANCES * 0.9, CHANCES[:2], [[1.5, -0.5]] * 3):
        with pytest.raises(DataError, match=r"needs \(3, 2\) chances"):
            coded_behavior(np.asarray(wrong), 3, 2)
    with pytest.raises(DataError, match="ties must be"):
        EpsilonGreedy(ties="last")
    assert repr(kinds[1]) == "EpsilonGreedy(0.2, ties='first')" and repr(kinds[2]) == "SoftmaxBehavior(2.0)"


def test_moves_counted_one_by_one():
    moves = [(0, 1, 1.0, 1, False), (1, 0, -2.0, 0, True), (0, 1, 3.0, 0, False)]
    one, all_ = EmpiricalModel(2, 2), EmpiricalModel(2, 2).update_many(moves)
    for move in moves:
        assert one.update(*move) is one
    assert one.counts_.toarray().tolist() == all_.counts_.toarray().tolist()
    assert one.counts_.toarray().tolist() == [
        [0, 0],
        [1, 1],
        [0, 0],
        [0, 0],
    ]  # the row of state 0 and action 1
    assert one.ends_.tolist() == all_.ends_.tolist() == [0, 0, 1, 0]
    assert (
        one.reward_sums_.toarray().tolist()
        == all_.reward_sums_.toarray().tolist()
        == [[0, 0], [3, 1], [0, 0], [0, 0]]
    )


@pytest.mark.parametrize("method", ["auto", "dense", "sparse", "iterative", "sweeps", "gauss_seidel"])
@pytest.mark.parametrize("discount", [0.0, 0.9, 1.0])
def test_every_method_solves_the_same_equations(method, discount):
    world = GridWorld.small(start=(2, 0), living_reward=-0.04, discount=discount)
    policy = np.full((8, 4), 0.25)
    P, r = world.induced(policy)
    P = np.asarray(P.toarray())
    found = world.evaluate(policy, method=method, discount=discount, tol=1e-11)
    assert_allclose(found.value, np.linalg.solve(np.eye(8) - discount * P, r), atol=1e-9)
    assert_allclose(found.advantage, found.q - found.value[:, None])
    assert found.residual <= 1e-9 and found.method == ("dense" if method == "auto" else method)
    with pytest.raises(DataError, match="Did you mean 'sweeps'"):
        world.evaluate(policy, method="sweep")


def test_logged_moves_in_columns_and_in_episodes():
    table = {
        "state": [0, 1, 0, 1, 0], "action": [1, 0, 0, 1, 1], "reward": [1, 2, 3, 4, 5], "next_state": [1, 0, 1, -1, 1],
        "terminated": [False, False, False, True, False], "episode": [0, 0, 1, 1, 2],
    }  # fmt: skip
    frame = pd.DataFrame(table)
    log = read_log(frame)
    assert log["reward"].tolist() == [1, 2, 3, 4, 5] and log["next_action"].tolist() == [-1] * 5
    assert log["terminated"].tolist() == log["ended"].tolist() == [0, 0, 0, 1, 0]
    after = read_log(
        frame, needs_next=True
    )  # the action after the last move of an episode that was cut is not known
    assert after["state"].tolist() == [0, 0, 1] and after["next_action"].tolist()[:2] == [0, 1]
    assert after["terminated"].tolist() == [False, False, True]
    cut = read_log(frame.assign(truncated=[False, True, False, False, False]))
    assert cut["ended"].tolist() == [False, True, False, True, False]
    told = read_log([(0, 1, 1.0, 1, 0), (1, 0, 2.0, -1, -1)], needs_next=True)
    assert told["next_action"].tolist() == [0, 0] and not told["terminated"].any()


def test_policies_act_by_chance_and_by_time():
    class Always:
        def __init__(self, u):
            self.u = u

        def random(self):
            return self.u

    drawn = Policy([[0.25, 0.0, 0.75], [0.5, 0.5, 0.0]])
    for state, u, action in [
        (0, 0.0, 0),
        (0, 0.249, 0),
        (0, 0.25, 2),
        (0, 0.999, 2),
        (1, 0.5, 1),
        (1, 1 - 1e-16, 1),
    ]:
        assert drawn.act(state, Always(u)) == action
    counts = np.bincount([drawn.act(0, rng) for rng in [np.random.default_rng(0)] * 2000], minlength=3) / 2000
    assert_allclose(counts, [0.25, 0, 0.75], atol=0.03)
    assert drawn.act(1, 5) in (0, 1) and drawn[0].tolist() == [0.25, 0, 0.75]
    timed = Policy([[0, 1], [1, 0], [1, 1]])  # with one, two and three steps to go
    assert [timed.act(0, step=t) for t in range(5)] == [1, 1, 0, 0, 0]
    assert [timed.act(1, step=t) for t in range(5)] == [1, 0, 1, 1, 1]
    with pytest.raises(DataError, match="n_episodes must be at least 1"):
        drawn.evaluate(six_states(0.5), 0)


def test_policies_in_other_forms_are_the_same():
    mdp = MDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [2.0, 0.0]], discount=0.5, layout="sas")
    wanted = mdp.evaluate([1, 0]).value
    for same in (
        [1.0, 0.0],
        [True, False],
        Policy([1, 0]),
        PolicyIteration().fit(mdp),
        [[0.0, 1.0], [1.0, 0.0]],
    ):
        assert_allclose(mdp.evaluate(same).value, wanted)
    for wrong in ([0.5, 0.5], [0, 2], [0, -1], [0, 1, 0], [[[0, 1]]], [[0.5, 0.6], [1.0, 0.0]], ["a", "b"]):
        with pytest.raises(ValueError):
            mdp.evaluate(wrong)


def test_questions_about_starts_residuals_and_rewards():
    mdp = six_states(0.5)
    V = np.arange(6.0)
    best = np.max(mdp.expected_rewards_ + 0.5 * mdp.rows_.toarray().reshape(6, 3, 6) @ V, axis=1)
    assert mdp.residual(V) == pytest.approx(np.abs(best - V).max())
    visits = mdp.occupancy(np.zeros(6, int), start=2)
    P = mdp.induced(np.zeros(6, int))[0].toarray()
    assert_allclose(visits, np.linalg.solve(np.eye(6) - 0.5 * P.T, np.eye(6)[2]))
    even = mdp.occupancy(np.zeros(6, int), start=np.full(6, 1 / 6))
    assert_allclose(even, np.linalg.solve(np.eye(6) - 0.5 * P.T, np.full(6, 1 / 6)))
    for start in (6, -1, [0.5] * 6, [0.5, 0.5], [1.5, -0.5, 0, 0, 0, 0]):
        with pytest.raises(DataError, match="start must be"):
            mdp.occupancy(np.zeros(6, int), start=start)
    with pytest.raises(DataError, match=r"logits must have shape \(6, 3\)"):
        mdp.policy_gradient(np.zeros((6, 2)))
    with pytest.raises(DataError, match="must not be NaN"):
        MDP.discounted_return([1.0, np.nan])
    padded = MDP.discounted_return([[1.0, 2.0, np.nan], [4.0, 0.0, 8.0]], 0.5, all_steps=True)
    assert_allclose(padded, [[2.0, 2.0, np.nan], [6.0, 4.0, 8.0]])
    assert MDP.discounted_return([[1.0, 2.0, np.nan], [4.0, 0.0, 8.0]], 0.5, horizon=2).tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "method", ["value_iteration", "prioritized_sweeping", "linear_program", "policy_iteration", "auto"]
)
def test_every_planner_finds_the_same_values(method):
    mdp = six_states(0.8)
    assert_allclose(solve(mdp, method).V_, plain_values(mdp, 0.8), atol=1e-5)


@pytest.mark.parametrize("max_iter", [3, 7, 1000])
def test_sweeps_in_place_end_with_bounds_that_hold(max_iter):
    mdp = six_states(0.8)
    truth = plain_values(mdp, 0.8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three sweeps are not enough
        model = ValueIteration(update="gauss_seidel", max_iter=max_iter, initial=np.full(6, 3.0)).fit(mdp)
    assert (model.lower_ <= truth + 1e-9).all() and (truth <= model.upper_ + 1e-9).all()
    assert np.abs(model.V_ - truth).max() <= model.gap_ + 1e-9
    assert_allclose(model.policy_gap_, 2 * model.gap_)


def test_sweeps_begin_at_a_given_policy():
    mdp = six_states(0.8)
    bad = mdp.expected_rewards_.argmin(axis=1)
    model = PolicyIteration(n_sweeps=2, initial_policy=bad).fit(mdp)
    assert_allclose(model.V_, plain_values(mdp, 0.8), atol=1e-5)
    (first, *_) = PolicyIteration(n_sweeps=2, initial_policy=bad).iterate(mdp)
    assert np.asarray(first.policy_).tolist() == bad.tolist()


def test_quarters_that_end_within_a_score_take_part_of_it():
    assert interquartile_mean(np.array([[9.0, 1.0], [2.0, 4.0]])) == pytest.approx(3.0)
    assert interquartile_mean(np.array([1.0, 2, 4, 8, 100])) == pytest.approx((0.75 * 2 + 4 + 0.75 * 8) / 2.5)
    assert interquartile_mean(np.array([7.0])) == 7.0


def test_arrows_of_chances_and_of_plans_in_time():
    world = GridWorld((1, 3), terminals={(0, 2): 1.0})
    assert world.arrows([1, 3, 0]) == "→←●"
    assert world.arrows(np.array([[0.1, 0.6, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1], [1.0, 0, 0, 0]])) == "→↑●"
    assert world.arrows(np.array([[0, 0, 0], [2, 1, 0]])) == "↓→●"  # with all steps to go


def test_the_bonus_of_the_entropy_by_hand():
    options = {"discount": 0.9, "learning_rate": 2.0, "random_state": 0, "episodes_per_iteration": 3}
    world = GridWorld.small(start=(2, 0))
    first, plain, bonus = (
        PolicyGradient(n_iterations=k, entropy_bonus=b, **options).fit(world).logits_
        for k, b in ((1, 0.5), (2, 0.0), (2, 0.5))
    )
    p = softmax(first)  # until then the policy is even, where the entropy is level
    slope = -p * (np.log(p) - (p * np.log(p)).sum(axis=1, keepdims=True))
    assert np.abs(slope).max() > 1e-3
    assert_allclose(bonus - plain, 2.0 * 0.5 * slope, atol=1e-12)


def test_one_journey_and_what_cannot_be_seen():
    moves = [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.5, 0.5]]]
    options = {"transmat": moves, "emissionprob": [[0.8, 0.2], [0.3, 0.7]], "n_iter": 2, "tol": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two steps are not enough
        one = ActionHMM(2, 2, 2, **options).fit([0, 1, 1, 0], [1, 0, 1])
        two = ActionHMM(2, 2, 2, **options).fit([[0, 1, 1, 0]], [[1, 0, 1]])
    assert_allclose(one.transmat_, two.transmat_)
    assert one.filter([0], []).shape == (1, 2)
    blind = ActionHMM(2, 1, 3, transmat=[np.eye(2)], emissionprob=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for ask in (blind.decode, blind.score, blind.predict_proba, blind.fit):
        with pytest.raises(ZeroEvidenceError):
            ask([0, 1], [0])
    value, path = blind.decode([1, 1], [0])
    assert path.tolist() == [1, 1] and value == pytest.approx(np.log(0.5))


# what few tests reach


class Always:
    def __init__(self, u):
        self.u = u

    def random(self, n=None):
        return self.u if n is None else np.full(n, self.u)


def test_rows_of_a_process_may_be_sparse_and_stacked():
    mdp = six_states(0.5)
    for rows in (mdp.rows_, mdp.rows_.toarray(), sparse.coo_array(mdp.rows_)):
        same = MDP(rows, mdp.expected_rewards_, discount=0.5, layout="rows")
        assert_allclose(same.rows_.toarray(), mdp.rows_.toarray())
        assert (same.n_states, same.n_actions) == (6, 3)
    by_action = [sparse.csr_array(mdp.rows_.toarray().reshape(6, 3, 6)[:, a]) for a in range(3)]
    assert_allclose(MDP(by_action, mdp.expected_rewards_, discount=0.5).rows_.toarray(), mdp.rows_.toarray())


@pytest.mark.parametrize("shape", ["states", "pairs", "moves"])
def test_processes_of_the_toolbox(shape):
    rng = np.random.default_rng(1)
    P, R = rng.dirichlet(np.ones(4), size=(2, 4)), rng.normal(size=(2, 4, 4))
    mean = np.einsum("asj,asj->sa", P, R)
    given = {"states": mean[:, 0], "pairs": mean, "moves": R}[shape]
    mdp = MDP.from_toolbox(P, given, discount=0.9)
    assert_allclose(mdp.rows_.toarray().reshape(4, 2, 4), P.transpose(1, 0, 2))
    wanted = np.repeat(mean[:, :1], 2, axis=1) if shape == "states" else mean
    assert_allclose(mdp.expected_rewards_, wanted)


def test_policies_as_indicators_of_actions():
    mdp = MDP(np.full((3, 2, 3), 1 / 3), np.arange(6.0).reshape(3, 2), discount=0.5, layout="sas")
    wanted = mdp.evaluate([1, 0, 1]).value
    assert_allclose(mdp.evaluate([[0, 1], [1, 0], [0, 1]]).value, wanted)
    for wrong in (
        [[1, 1], [1, 0], [0, 1]],
        [[0, 2], [1, 0], [0, 1]],
        [[0, 0], [1, 0], [0, 1]],
        [[0, 1], [1, 0]],
    ):
        with pytest.raises(DataError, match="one action for each of the 3 states"):
            mdp.evaluate(wrong)
    square = MDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [2.0, 0.0]], discount=0.5, layout="sas")
    timed = square.evaluate(
        [[0, 1], [1, 0]]
    )  # as many states as actions: a row for each number of steps to go
    assert timed.method == "horizon" and timed.value.shape == (3, 2)


def test_worlds_come_as_lists_of_themselves():
    mdp = six_states(0.5)
    model = ValueIteration().fit([mdp, mdp])
    assert_allclose(model.V_, ValueIteration().fit(mdp).V_)
    assert model.predict([mdp, mdp]).tolist() == model.predict(mdp).tolist()
    for wrong in ([mdp, six_states(0.5)], [mdp, 3], []):
        with pytest.raises((DataError, ValueError, TypeError)):
            ValueIteration().fit(wrong)


@pytest.mark.parametrize("states", [1000, 0])
@pytest.mark.parametrize("given", ["nothing", "nonsense"])
def test_equations_that_the_iteration_cannot_solve_are_solved_otherwise(states, given, monkeypatch):
    monkeypatch.setattr("gnomon.decide.evaluation.DENSE_STATES", states)
    answer = (np.full(6, np.nan), 0) if given == "nothing" else (np.full(6, 1e3), 7)
    monkeypatch.setattr("gnomon.decide.evaluation.bicgstab", lambda *args, **more: answer)
    mdp, policy = six_states(0.9), np.array([0, 1, 2, 0, 1, 2])
    P, r = mdp.induced(policy)
    found = mdp.evaluate(policy, method="iterative", tol=1e-9)
    assert_allclose(found.value, np.linalg.solve(np.eye(6) - 0.9 * P.toarray(), r), atol=1e-8)
    assert found.method == "iterative"


@pytest.mark.parametrize("method", ["sweeps", "gauss_seidel"])
def test_sweeps_end_where_the_numbers_do(method):
    mdp, policy = six_states(0.7), np.zeros(6, int)
    P, r = mdp.induced(policy)
    found = mdp.evaluate(policy, method=method, tol=1e-30).value
    assert_allclose(found, np.linalg.solve(np.eye(6) - 0.7 * P.toarray(), r), rtol=1e-13)


@pytest.mark.parametrize("rate", [1e-2, 3.0, 4e4])
def test_the_exact_step_is_halved_until_it_gains(rate):
    mdp = MDP(T2, R2, discount=0.9, layout="sas", start=0)
    options = {"exact": True, "discount": 0.9, "learning_rate": rate}
    agent = PolicyGradient(n_iterations=2, **options).fit(mdp)
    logits, told, halved = np.zeros((2, 2)), [], 0
    for _ in range(2):
        J, gradient = mdp.policy_gradient(logits)
        while mdp.policy_gradient(logits + rate * gradient)[0] < J + 1e-4 * rate * (gradient**2).sum():
            rate, halved = rate / 2, halved + 1
        logits = logits + rate * gradient
        told.append((mdp.policy_gradient(logits)[0], np.sqrt((gradient**2).sum())))
        rate = min(4 * rate, 1e6)
    assert_allclose(agent.logits_, logits, rtol=1e-10)
    assert_allclose(agent.trace_["return"], np.transpose(told)[0], rtol=1e-10)
    assert_allclose(agent.trace_["gradient_norm"], np.transpose(told)[1], rtol=1e-10)
    assert (halved > 0) == (options["learning_rate"] > 1e3)


def test_some_of_the_journeys():
    whole = Journeys([(np.array([i]), np.array([], int)) for i in range(4)])
    part = whole.take([2, 0])
    assert len(part) == 2 and [one[0].tolist() for one in part.journeys] == [[2], [0]]
    assert part.digest() != whole.digest() == whole.take(range(4)).digest()


def test_networks_draw_their_actions_where_asked():
    weights = [np.log(np.array([[0.25, 0.5], [0.0, 0.5], [0.75, 0.0]]) + 1e-300)]
    sight = Sight(2, 2)
    policy = NetworkPolicy(weights, sight, "tanh", bias_first=False, stochastic=True)
    for state, u, action in [
        (0, 0.0, 0),
        (0, 0.24, 0),
        (0, 0.26, 2),
        (0, 0.999, 2),
        (1, 0.49, 0),
        (1, 0.51, 1),
    ]:
        assert policy.act(state, Always(u)) == action
    assert policy.act(1, Always(1.0)) == 2  # rounding may leave the last sum below one
    assert policy.act(0) == 2 and policy.act(1) == 0  # without a stream, the likeliest
    sure = NetworkPolicy(weights, sight, "tanh", bias_first=False)
    assert sure.act(0, Always(0.0)) == 2
    assert_allclose(policy.probabilities(0), [0.25, 0.0, 0.75], atol=1e-12)
    assert repr(policy) == "NetworkPolicy(2 inputs, 1 arrays of weights)"
    vector = SimpleNamespace(env=SimpleNamespace(envs=["one", "two"]))
    assert single_envs(vector, 1) == ["one", "two"]


def test_scores_of_agents_are_mean_returns_of_a_hundred_episodes():
    world = GridWorld.small(start=(2, 0))
    agent = QLearning(discount=0.9, n_episodes=50, random_state=0).fit(world)
    found = agent.evaluate(world)
    assert agent.score(world) == found.mean == np.mean(found.returns) and len(found.returns) == 100
    assert agent.evaluate(world, 7).returns.tolist() == found.returns[:7].tolist()
    error = np.std(found.returns, ddof=1) / 10
    assert found.standard_error == pytest.approx(error)
    reach = stats.t.ppf(0.95, 99) * error
    wide = agent.evaluate(world, confidence=0.9)
    assert_allclose((wide.low, wide.high), (found.mean - reach, found.mean + reach))


def test_agents_side_by_side_are_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    world = GridWorld.small(start=(2, 0))
    agents = {"slow": QLearning(n_episodes=5), "slower": QLearning(n_episodes=3)}
    found = compare_agents(world, agents, n_seeds=3, n_episodes=2, random_state=0)
    ax = found.plot()
    assert sorted(len(line.get_xdata()) for line in ax.lines) == [3, 5]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"slow", "slower"}
    frame = found.to_frame()
    assert list(frame.columns) == ["interquartile_mean", "low", "high", "coverage"] and len(frame) == 2
    pyplot.close("all")


def test_environments_are_cut_off_after_two_hundred_moves():
    gymnasium = pytest.importorskip("gymnasium")
    names = [
        f"gnomon/{name}-v0"
        for name in ("GridWorldSmall", "GridWorldClassic", "Chain", "Bandit", "HiddenGrid")
    ]
    assert [gymnasium.spec(name).max_episode_steps for name in names] == [200] * 5
    env = gymnasium.make("gnomon/Chain-v0")
    env.reset(seed=0)
    cut = [env.step(0)[3] for _ in range(200)]
    assert cut == [False] * 199 + [True]


def test_what_thompson_sampling_knows_after_some_pay():
    rewards = np.array([1.0, 0.0, 4.0, 2.5, -1.0, 3.0])
    arms = np.array([0, 1, 0, 0, 1, 0])
    rule = ThompsonBandit((0.5, 2.0, 3.0, 1.5))
    state = rule.begin(2, 1)
    for arm, reward in zip(arms, rewards):
        rule.learn(state, np.array([arm]), np.array([reward]))
    parts = [rewards[arms == k] for k in (0, 1)]
    n, mean = np.array([len(x) for x in parts]), np.array([x.mean() for x in parts])
    squares = np.array([((x - x.mean()) ** 2).sum() for x in parts])
    assert_allclose(state["n"][0], n)
    assert_allclose(state["mean"][0], mean)
    assert_allclose(state["squares"][0], squares)
    b = 1.5 + squares / 2 + 2.0 * n * (mean - 0.5) ** 2 / (2 * (2.0 + n))  # Normal-Gamma, after the data
    rng = np.random.default_rng(4)
    precision = rng.standard_gamma(3.0 + n / 2) / b
    wanted = (2.0 * 0.5 + n * mean) / (2.0 + n) + rng.standard_normal(2) / np.sqrt((2.0 + n) * precision)
    assert_allclose(rule.draws(state, np.random.default_rng(4))[0], wanted)


def test_wins_and_losses_of_thompson_sampling():
    rule = ThompsonBandit((2.0, 5.0))
    state = rule.begin(2, 1)
    for arm, reward in [(0, 1.0), (0, 0.0), (1, 1.0), (0, 0.0)]:
        rule.learn(state, np.array([arm]), np.array([reward]))
    assert state["wins"].tolist() == [[1.0, 1.0]] and state["losses"].tolist() == [[2.0, 0.0]]
    drawn = np.random.default_rng(0).beta([[3.0, 3.0]], [[7.0, 5.0]])
    assert_allclose(rule.draws(state, np.random.default_rng(0)), drawn)


@pytest.mark.parametrize("first", [0, 1])
def test_policies_that_rounding_alone_parts_are_equal(first):
    """Both actions lead to the same place; one pays a hair more."""
    T = np.full((2, 2, 2), 0.5)
    for gap, said in [(1e-12, "=="), (1e-6, "<=" if first == 0 else ">=")]:
        mdp = MDP(T, [[1.0, 1.0 + gap]] * 2, discount=0.5, layout="sas")
        assert mdp.compare([first] * 2, [1 - first] * 2) == said


def test_episodes_of_a_process_are_counted_from_zero():
    mdp = MDP(T2, R2, discount=0.9, layout="sas", start=0)
    steps = mdp.simulate([0, 1], 3, 40, random_state=0)  # more steps than the first room has
    assert steps["episode"].tolist() == np.repeat([0, 1, 2], 40).tolist()
    assert steps["t"].tolist() == list(range(40)) * 3
    assert steps["truncated"].tolist() == ([False] * 39 + [True]) * 3 and not steps["terminated"].any()


def test_sampled_backups_are_counted():
    mdp = MDP(T2, R2, discount=0.9, layout="sas")
    model = ValueIteration(update="sampled", n_samples=7, max_iter=3, tol=1e-300, random_state=0).fit(mdp)
    assert model.n_iter_ == 3 and model.n_backups_ == 3 * 7 * 4


def network_of(**changes):
    weights = [np.ones((3, 2)), np.zeros((2, 3)), np.zeros(2)]
    made = {"weights": weights, "sight": Sight(2, 2), "activation": "relu", "bias_first": False, **changes}
    return NetworkPolicy(**made)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"activation": "sine"}, "activation or input is unknown"),
        ({"sight": (2, 2)}, "activation or input is unknown"),
        ({"sight": Sight(2, 3)}, "inputs or outputs do not fit"),
        ({"sight": Sight(3, 3)}, "do not fit together"),
        ({"weights": [np.ones((1, 2))], "dueling": True}, "inputs or outputs do not fit"),
        ({"weights": [np.ones((3, 2)), np.zeros((2, 3))]}, "no finite arrays of layers"),
        ({"weights": [np.full((3, 2), np.nan)]}, "no finite arrays of layers"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else ",".join(value),
)
def test_networks_of_a_file_that_do_not_fit_are_refused(changes, words):
    network_of()._check_loaded()
    network_of(sight=Sight(2, 0))._check_loaded()
    network_of(weights=[np.ones((1, 2))])._check_loaded()
    with pytest.raises(ModelFileError, match=words):
        network_of(**changes)._check_loaded()
