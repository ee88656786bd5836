"""Agents that learn tables: updates by hand, the same numbers in every world, convergence, failures."""

import itertools

import numpy as np
import pytest

import gnomon
from decide.worlds import R2, T2, V2, two_states
from gnomon.core.callbacks import Checkpoint
from gnomon.core.errors import DataError, WorldError
from gnomon.core.parameters import InvalidParameterError
from gnomon.core.world import EnvironmentWorld
from gnomon.decide import (
    MDP,
    EmpiricalModel,
    EpsilonGreedy,
    GridWorld,
    ModelBased,
    OptimisticPlanning,
    Policy,
    PosteriorSampling,
    QLearning,
    RunningMean,
    Sarsa,
    SoftmaxBehavior,
    compare_agents,
    solve,
)
from gnomon.solvers import (
    Constant,
    Exponential,
    GreedyInLimit,
    InverseDecay,
    LinearDecay,
    StepDecay,
    VisitDecay,
)

MOVES = [
    (0, 1, -1, 1), (1, 0, 2, 1), (1, 0, 2, 0), (0, 1, -1, 1), (0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 2, 1), (0, 1, -1, 0),
]  # fmt: skip
ON_POLICY = [
    (0, 1, -1, 1, 0, False), (1, 0, 2, 1, 0, False), (1, 0, 2, 0, 1, False), (0, 1, -1, 1, 1, False),
    (1, 1, 0, 0, 0, False), (0, 0, 5, 1, 0, True),
]  # fmt: skip
HALF = {"discount": 0.9, "learning_rate": 0.5}


# updates by hand


def test_q_learning_by_hand():
    np.testing.assert_allclose(QLearning(**HALF).learn_from(MOVES).Q_, [[0, -0.5375], [2.425, 0]], atol=1e-15)
    np.testing.assert_allclose(
        QLearning(**HALF).learn_from(MOVES[:4]).Q_, [[0, -0.075], [1.5, 0]], atol=1e-15
    )
    agent = QLearning(**HALF)
    for move in MOVES:
        agent.update(*move) if hasattr(agent, "tables_") else agent.learn_from(
            [move], n_states=2, n_actions=2
        )
    np.testing.assert_allclose(agent.Q_, [[0, -0.5375], [2.425, 0]], atol=1e-15)
    assert agent.visits_.sum() == 8 and agent.n_steps_ == 8


def test_q_learning_with_a_rate_of_one_over_visits_by_hand():
    agent = QLearning(discount=0.9, learning_rate=VisitDecay()).learn_from(MOVES)
    np.testing.assert_allclose(agent.Q_, [[0, -0.4], [2.6, 0]], atol=1e-14)


def test_rate_of_one_over_visits_is_the_running_mean_of_the_targets():
    rng = np.random.default_rng(0)
    moves = [(0, 0, float(r), 0, True) for r in rng.normal(size=50)]
    mean = RunningMean()
    for move in moves:
        mean.update(move[2])
    agent = QLearning(learning_rate=VisitDecay()).learn_from(moves)
    assert agent.Q_[0, 0] == pytest.approx(mean.value, abs=1e-14) and mean.value == pytest.approx(
        np.mean([move[2] for move in moves])
    )


def test_sarsa_by_hand():
    np.testing.assert_allclose(Sarsa(**HALF).learn_from(ON_POLICY).Q_, [[2.5, -0.75], [1.275, 0]], atol=1e-15)
    np.testing.assert_allclose(
        QLearning(**HALF).learn_from(ON_POLICY).Q_, [[2.5, -0.075], [1.5, 0]], atol=1e-15
    )


def test_expected_sarsa_by_formula():
    Q = np.zeros((2, 2))
    behavior = EpsilonGreedy(0.2)
    for s, a, r, t in MOVES:
        Q[s, a] += 0.5 * (r + 0.9 * behavior.probabilities(Q[t]) @ Q[t] - Q[s, a])
    agent = Sarsa(expected=True, exploration=0.2, **HALF).learn_from(MOVES)
    np.testing.assert_allclose(agent.Q_, Q, atol=1e-14)


def test_n_step_returns_by_formula():
    moves = [(0, 0, 1.0, 1, False), (1, 0, 2.0, 2, False), (2, 0, 4.0, 3, False), (3, 0, 8.0, 0, True)]
    agent = QLearning(n_step=2, initial_q=10.0, **HALF).learn_from(moves)
    first = 10 + 0.5 * (1 + 0.9 * 2 + 0.81 * 10 - 10)
    second = 10 + 0.5 * (2 + 0.9 * 4 + 0.81 * 10 - 10)
    third, last = 10 + 0.5 * (4 + 0.9 * 8 - 10), 10 + 0.5 * (8 - 10)
    np.testing.assert_allclose(agent.Q_[:, 0], [first, second, third, last])


@pytest.mark.parametrize("replacing", [False, True])
def test_traces_by_formula(replacing):
    rng = np.random.default_rng(1)
    pairs = [(int(rng.integers(3)), int(rng.integers(2)), float(rng.normal())) for _ in range(12)]
    Q, E = np.zeros((3, 2)), np.zeros((3, 2))
    moves = []
    for (s, a, r), (t, b, _) in itertools.pairwise(pairs):
        moves.append((s, a, r, t, b, False))
        E[s, a] = 1 if replacing else E[s, a] + 1
        Q += 0.5 * (r + 0.9 * Q[t, b] - Q[s, a]) * E
        E *= 0.9 * 0.7
    agent = Sarsa(trace_decay=0.7, replacing=replacing, **HALF).learn_from(moves)
    np.testing.assert_allclose(agent.Q_, Q, atol=1e-12)


def test_double_learning_has_two_tables_and_halves_the_flattery():
    # ten actions of mean -0.1 await: the largest of noisy means looks good, two tables do not fall for it
    noisy = MDP.from_function(
        2, 10, lambda s, a: [(1.0, 1, 0.0)] if s == 0 else [(1.0, 1, -0.1, True)], start=0
    )
    noisy = noisy._like(noise=1.0)
    options = {"discount": 1.0, "learning_rate": 0.1, "n_episodes": 300, "exploration": 1.0}
    single = [QLearning(random_state=seed, **options).fit(noisy).Q_[0].mean() for seed in range(20)]
    double = [
        QLearning(double=True, random_state=seed, **options).fit(noisy).Q_[0].mean() for seed in range(20)
    ]
    assert np.mean(single) > np.mean(double) + 0.05
    agent = QLearning(double=True, random_state=0, **options).fit(noisy)
    assert not np.array_equal(agent.tables_[0], agent.tables_[1])
    np.testing.assert_allclose(agent.Q_, agent.tables_.mean(axis=0))


def test_ends_are_not_looked_beyond_and_cuts_are():
    far = {"discount": 0.5, "learning_rate": 1.0, "initial_q": 8.0}
    over = QLearning(**far).learn_from([(0, 0, 1.0, 1, True)], n_states=2, n_actions=1)
    cut = QLearning(**far).learn_from([(0, 0, 1.0, 1, False)], n_states=2, n_actions=1)
    assert over.Q_[0, 0] == 1.0 and cut.Q_[0, 0] == 5.0
    loop = MDP([[[1.0]]], 1.0, layout="sas")
    agent = QLearning(discount=0.5, learning_rate=1.0, n_episodes=60, max_steps=1).fit(loop)
    assert agent.Q_[0, 0] == pytest.approx(2.0) and agent.trace_["truncated"].all()


def test_models_by_counting():
    model = EmpiricalModel(2, 2).update_many(MOVES)
    assert model.counts_.toarray().tolist() == [[1, 0], [1, 2], [1, 2], [1, 0]]
    np.testing.assert_allclose(model.reward_estimate()[0], [[0, -1], [2, 0]])
    plan = model.plan(0.9)
    np.testing.assert_allclose(plan.V_, [8, 11], atol=1e-12)
    np.testing.assert_allclose(plan.Q_, [[7.2, 8], [11, 7.2]], atol=1e-12)
    prior = EmpiricalModel(2, 2, prior_count=0.5).update_many(MOVES)
    np.testing.assert_allclose(prior.transition_estimate()[0], [[0.75, 0.25], [0.375, 0.625]])
    np.testing.assert_allclose(prior.plan(0.9).V_, [6.875, 9.875], atol=1e-12)


def test_models_of_parts_are_added():
    rng = np.random.default_rng(0)
    moves = [
        tuple(rng.integers(0, 3, 2)) + (rng.normal(), rng.integers(0, 3), rng.random() < 0.1)
        for _ in range(60)
    ]
    whole = EmpiricalModel(3, 3).update_many(moves)
    parts = EmpiricalModel(3, 3).update_many(moves[40:]) + EmpiricalModel(3, 3).update_many(moves[:40])
    one, two = whole.to_mdp(0.9), parts.to_mdp(0.9)
    np.testing.assert_allclose(one.rows_.toarray(), two.rows_.toarray(), atol=1e-14)
    np.testing.assert_allclose(one.expected_rewards_, two.expected_rewards_, atol=1e-14)
    np.testing.assert_allclose(whole.reward_estimate()[1], parts.reward_estimate()[1], atol=1e-12)
    with pytest.raises(DataError, match="cannot be added"):
        whole + EmpiricalModel(2, 3)


@pytest.mark.parametrize(
    ("rule", "row", "reward"),
    [("uniform", [0.5, 0.5], 0.0), ("self_loop", [0, 1], 0.0), ("optimistic", [0, 1], 2.0)],
)
def test_what_is_assumed_of_pairs_never_seen(rule, row, reward):
    model = EmpiricalModel(2, 2, unvisited=rule).update_many(MOVES[:3])
    np.testing.assert_allclose(model.transition_estimate()[1, 1], row)
    assert model.to_mdp(0.9).expected_rewards_[1, 1] == reward and model.coverage_ == 0.5
    with pytest.raises(DataError, match=r"never seen: \[\(0, 0\), \(1, 1\)\]"):
        EmpiricalModel(2, 2, unvisited="error").update_many(MOVES[:3]).to_mdp(0.9)


def test_optimism_by_hand():
    from gnomon.decide.optimism import optimistic_values

    model = EmpiricalModel(2, 2).update_many(MOVES)
    Q = optimistic_values(model, 0.9, 2.0, 2, None, np.zeros((2, 2)), np.ones((2, 2), bool))
    np.testing.assert_allclose(Q, [[20, 17], [20, 20]], atol=1e-5)
    with pytest.raises(DataError, match="above reward_max"):
        OptimisticPlanning(discount=0.9, reward_max=0.5, n_episodes=50, random_state=0).fit(GridWorld.small())


def test_bonus_shrinks_with_visits():
    from gnomon.decide.optimism import optimistic_values

    model = EmpiricalModel(1, 1).update_many([(0, 0, 1.0, 0, True)] * 4)
    Q = optimistic_values(model, 0.9, 5.0, 1, 3.0, np.zeros((1, 1)), np.ones((1, 1), bool))
    assert Q[0, 0] == pytest.approx(1.0 + 3.0 / 2)


def test_posteriors_by_hand():
    model = EmpiricalModel(1, 1).update_many([(0, 0, 2.0, 0), (0, 0, 2.0, 0), (0, 0, 1.0, 0)])
    found = model.reward_posterior((0, 1, 1, 1))
    assert [float(part[0, 0]) for part in found] == [1.25, 4.0, 2.5, 2.375]
    three = EmpiricalModel(3, 1).update_many([(0, 0, 0.0, 0)] * 3 + [(0, 0, 0.0, 1)])
    agent = PosteriorSampling(discount=0.9)
    rows = np.array([agent._drawn(three, np.random.default_rng(i)).rows_.toarray()[0] for i in range(1500)])
    np.testing.assert_allclose(rows.mean(axis=0), [4 / 7, 2 / 7, 1 / 7], atol=0.02)
    np.testing.assert_allclose(rows.var(axis=0), [0.03061224, 0.02551020, 0.01530612], rtol=0.2)
    with pytest.raises(DataError, match="Normal-Gamma"):
        model.reward_posterior((0, 1, 0, 1))


# behavior and schedules


def test_epsilon_greedy_by_hand():
    np.testing.assert_allclose(EpsilonGreedy(0.1).probabilities([0, 2, 1, 0.5]), [0.025, 0.925, 0.025, 0.025])
    np.testing.assert_allclose(EpsilonGreedy(0.0).probabilities([1, 1, 0]), [0.5, 0.5, 0])
    np.testing.assert_allclose(EpsilonGreedy(0.0, ties="first").probabilities([1, 1, 0]), [1, 0, 0])
    np.testing.assert_allclose(EpsilonGreedy(1.0).probabilities([1, 2, 3]), 1 / 3)
    np.testing.assert_allclose(EpsilonGreedy(0.3).probabilities([1, -np.inf, 0]), [0.85, 0, 0.15])
    draws = [EpsilonGreedy(0.4).sample([0.0, 1.0], i) for i in range(3000)]
    assert np.mean(draws) == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / 3000))
    np.testing.assert_allclose(SoftmaxBehavior(2.0).probabilities([0, 2 * np.log(3)]), [0.25, 0.75])
    for bad in (
        lambda: EpsilonGreedy(1.5),
        lambda: SoftmaxBehavior(0),
        lambda: EpsilonGreedy(0.1).probabilities([]),
    ):
        with pytest.raises(DataError):
            bad()
    assert EpsilonGreedy(LinearDecay(1.0, 0.0, 10)).probabilities([1.0, 0.0], step=5)[1] == pytest.approx(
        0.25
    )


def test_behavior_in_the_loop_is_the_behavior_by_formula():
    world = MDP(np.ones((1, 3, 1)), [[0.0, 1.0, 0.5]], discount=0.5, layout="sas")
    for behavior in (EpsilonGreedy(0.3), EpsilonGreedy(0.3, ties="first"), SoftmaxBehavior(0.5)):
        agent = QLearning(
            discount=0.5,
            exploration=behavior,
            initial_q=[[0, 1, 0.5]],
            learning_rate=1e-9,
            n_steps=20_000,
            random_state=0,
        ).fit(world)
        expected = behavior.probabilities([0, 1, 0.5])
        error = np.sqrt(expected * (1 - expected) / 20_000)
        assert (np.abs(agent.visits_[0] / 20_000 - expected) < 5 * error).all()


@pytest.mark.parametrize(
    ("schedule", "flags"),
    [
        (Constant(0.1), (True, False)),
        (VisitDecay(power=1.0), (True, True)),
        (VisitDecay(power=0.5), (True, False)),
        (VisitDecay(power=1.2), (False, True)),
        (InverseDecay(1.0), (True, True)),
        (Exponential(1.0, 0.99), (False, True)),
        (Exponential(1.0, 0.99, floor=0.05), (True, False)),
        (LinearDecay(1.0, 0.0, 10), (False, True)),
        (LinearDecay(1.0, 0.1, 10), (True, False)),
    ],
)
def test_conditions_of_robbins_and_monro(schedule, flags):
    assert (schedule.sum_diverges, schedule.squares_converge) == flags
    assert schedule.robbins_monro == all(flags)


def test_schedules_by_hand_and_in_the_loop():
    floor = Exponential(1.0, 0.99, floor=0.05)
    assert floor(298) == pytest.approx(0.0500366229, abs=1e-10) and floor(299) == 0.05
    assert [InverseDecay(1.0)(k) for k in range(3)] == [1, 1 / 2, 1 / 3]
    assert GreedyInLimit().glie and not Constant(0.1).glie and GreedyInLimit().per == "state"
    many = [
        floor,
        VisitDecay(0.7, 0.8, 2.0),
        LinearDecay(0.9, 0.1, 7),
        StepDecay(0.5, 0.5, 3),
        lambda k: 1 / (k + 2),
    ]
    for schedule in many:
        moves, q = [(0, 0, 1.0, 0, True)] * 15, 0.0
        for k in range(15):
            q += schedule(k) * (1.0 - q)
        assert QLearning(learning_rate=schedule).learn_from(moves).Q_[0, 0] == pytest.approx(q, abs=1e-12)
    for bad in (
        lambda: VisitDecay(-1.0),
        lambda: LinearDecay(1.0, 0.0, 0),
        lambda: Exponential(1.0, 2.0, floor=0.1),
    ):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(DataError, match="at step 3"):
        QLearning(learning_rate=lambda k: 0.1 if k < 3 else 2.0).learn_from(MOVES)


def test_running_means():
    fading = RunningMean(0.5, correct=False)
    assert [fading.update(x) for x in (4, 2, 6, 3)] == [2, 2, 4, 3.5]
    corrected = RunningMean(0.5)
    values = [corrected.update(x) for x in (4, 2, 6, 3)]
    np.testing.assert_allclose(values, [4, 8 / 3, 4.571428571, 3.733333333])
    weights = 0.5 ** np.arange(4)[::-1]
    assert values[-1] == pytest.approx(weights @ [4, 2, 6, 3] / weights.sum())
    begun = RunningMean(0.5, initial=4.0)
    assert begun.update(2) == 3.0 and begun.update(float("nan")) == 3.0 and begun.skipped == 1
    assert np.isnan(RunningMean().value)
    with pytest.raises(DataError, match="alpha"):
        RunningMean(0.0)


def test_expectations_with_and_without_a_model():
    samples = [1, 3, 3, 2, 1, 1]
    one, two = (
        EmpiricalModel.expectation(samples, lambda x: x**2, method=m) for m in ("model_free", "model_based")
    )
    assert one.mean == pytest.approx(25 / 6) == two.mean and one.standard_error == pytest.approx(
        two.standard_error
    )
    assert one.standard_error == pytest.approx(np.std([1, 9, 9, 4, 1, 1], ddof=1) / np.sqrt(6))
    assert EmpiricalModel.expectation([[1.0], [2.0]], sum, method="model_based", key=tuple).mean == 1.5
    for bad in (
        lambda: EmpiricalModel.expectation([], abs),
        lambda: EmpiricalModel.expectation([1], lambda x: np.nan),
        lambda: EmpiricalModel.expectation([[1]], sum, method="model_based"),
        lambda: EmpiricalModel.expectation([1], abs, method="none"),
    ):
        with pytest.raises(DataError):
            bad()


# the same numbers in every world

AGENTS = {
    "q": QLearning(),
    "double": QLearning(double=True),
    "n-step": QLearning(n_step=3),
    "Q(λ)": QLearning(trace_decay=0.8),
    "sarsa": Sarsa(),
    "expected": Sarsa(expected=True),
    "sarsa(λ)": Sarsa(trace_decay=0.8, replacing=False),
    "softmax": Sarsa(exploration=SoftmaxBehavior(0.3)),
    "glie": Sarsa(exploration=GreedyInLimit(), learning_rate=VisitDecay()),
    "model": ModelBased(),
    "model, doubling": ModelBased(plan_every="doubling"),
    "model, 7": ModelBased(plan_every=7),
    "optimism": OptimisticPlanning(),
    "bonus": OptimisticPlanning(bonus=0.5),
    "posterior": PosteriorSampling(),
}


def made(name, **options):
    from sklearn.base import clone

    return clone(AGENTS[name]).set_params(**{"discount": 0.9, "n_episodes": 30, "random_state": 3, **options})


@pytest.mark.parametrize("name", AGENTS)
def test_process_and_environment_give_the_same_numbers(name):
    pytest.importorskip("gymnasium")
    grid = GridWorld.small(start=(2, 0))
    inside, outside = made(name).fit(grid), made(name).fit(grid.to_env())
    np.testing.assert_array_equal(inside.Q_, outside.Q_)
    np.testing.assert_array_equal(inside.returns_, outside.returns_)
    np.testing.assert_array_equal(inside.visits_, outside.visits_)
    np.testing.assert_array_equal(made(name).fit(grid).Q_, inside.Q_)
    assert not np.array_equal(made(name, random_state=4).fit(grid).visits_, inside.visits_)
    assert inside.trace_.unit == "episode" and len(inside.returns_) == 30 == inside.n_iter_
    assert inside.visits_.sum() == inside.lengths_.sum() == inside.n_steps_


@pytest.mark.parametrize("name", AGENTS)
def test_killed_agents_go_on_to_the_same_bits(name, tmp_path):
    grid, path = GridWorld.small(start=(2, 0)), tmp_path / "agent.checkpoint"
    whole = made(name).fit(grid)

    class Stop:
        count = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.count += 1
            if self.count == 11:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(name).set_callbacks(Checkpoint(path, every_seconds=0), Stop()).fit(grid)
    resumed = made(name).set_callbacks(Checkpoint(path, every_seconds=0)).fit(grid)
    np.testing.assert_array_equal(resumed.Q_, whole.Q_)
    np.testing.assert_array_equal(resumed.returns_, whole.returns_)
    gnomon.save(resumed, tmp_path / "agent.gnomon")
    loaded = gnomon.load(tmp_path / "agent.gnomon")
    np.testing.assert_array_equal(loaded.Q_, whole.Q_)
    assert np.array_equal(loaded.predict(range(8)), whole.predict(range(8)))


def test_worlds_are_told_apart_by_what_they_were_made_with():
    """A checkpoint of one is not taken up in another; one that was used is the same world still."""
    mdp = two_states()
    env = mdp.to_env()
    digest = EnvironmentWorld(env).digest()
    env.reset(seed=0)
    env.step(0)
    assert EnvironmentWorld(env).digest() == EnvironmentWorld(two_states().to_env()).digest() == digest
    richer = MDP(T2, 2.0 * R2, discount=0.9, layout="sas")
    for other in (richer.to_env(), mdp.to_env(max_steps=7)):
        assert EnvironmentWorld(other).digest() != digest


def test_wrappers_and_vectors_of_worlds_are_told_apart():
    gymnasium = pytest.importorskip("gymnasium")

    def digest(**settings):
        return EnvironmentWorld(gymnasium.make("CartPole-v1", **settings)).digest()

    assert digest() == digest() != digest(max_episode_steps=10) != digest(sutton_barto_reward=True)
    one, two = (two_states().to_env(), MDP(T2, 2.0 * R2, discount=0.9, layout="sas").to_env())
    vectors = [gymnasium.vector.SyncVectorEnv([lambda env=env: env]) for env in (one, two)]
    assert EnvironmentWorld(vectors[0]).digest() != EnvironmentWorld(vectors[1]).digest()


def test_going_on_is_as_if_never_stopped():
    grid = GridWorld.small(start=(2, 0))
    for name in ("q", "sarsa(λ)", "double"):
        parts = made(name, n_episodes=10).fit(grid).partial_fit(grid, 20)
        np.testing.assert_array_equal(parts.Q_, made(name).fit(grid).Q_)
        np.testing.assert_array_equal(parts.returns_, made(name).fit(grid).returns_)


def test_iterate_hands_out_independent_agents():
    models = list(made("q", n_episodes=5).iterate(GridWorld.small(start=(2, 0))))
    assert [len(model.trace_) for model in models] == [0, 1, 2, 3, 4, 5]
    assert models[0].visits_.sum() == 0 < models[1].visits_.sum() < models[5].visits_.sum()


# convergence


def test_q_learning_converges_to_the_optimum():
    mdp = two_states(start=0)
    agent = QLearning(
        discount=0.9, learning_rate=VisitDecay(power=0.7), exploration=1.0, n_steps=400_000, random_state=0
    ).fit(mdp)
    exact = solve(mdp).Q_
    assert np.abs(agent.Q_ - exact).max() < 0.15 and np.asarray(agent.policy_).tolist() == [1, 0]


def test_sarsa_evaluates_a_fixed_behavior_and_is_optimal_in_the_limit():
    mdp = two_states(start=0)
    fixed = Policy([[0.5, 0.5], [0.5, 0.5]])
    for options in ({}, {"expected": True}):
        agent = Sarsa(
            discount=0.9,
            learning_rate=VisitDecay(power=0.7),
            exploration=fixed,
            n_steps=300_000,
            random_state=0,
            **options,
        ).fit(mdp)
        assert np.abs(agent.Q_ - mdp.evaluate(fixed).q).max() < 0.1
    agent = Sarsa(
        discount=0.9,
        learning_rate=VisitDecay(power=0.7),
        exploration=GreedyInLimit(),
        n_steps=300_000,
        random_state=0,
    ).fit(mdp)
    assert np.asarray(agent.policy_).tolist() == [1, 0] and np.abs(agent.V_ - V2).max() < 1.0


def test_models_learn_from_few_moves():
    grid = GridWorld.small(start=(2, 0))
    exact = solve(grid)
    for name in ("model", "optimism", "bonus", "posterior"):
        agent = made(name, n_episodes=150).fit(grid)
        begin = grid.state((2, 0))
        V = agent.model_.plan(0.9).V_ if name == "bonus" else agent.V_  # a bonus stays above the truth
        assert abs(V[begin] - exact.V_[begin]) < 0.15, name
        assert grid.compare(agent.policy_, exact.policy_) in ("==", "<=")
    agent = made("posterior", n_episodes=100).fit(grid)
    low, high = agent.value_interval(50, random_state=0)
    assert (low <= high).all() and agent.sample_model(0).n_states == 8
    narrow = PosteriorSampling(
        discount=0.9, reward_prior="known", random_state=0, n_episodes=50,
        support=[list(grid.rows_.indices[i:j]) + [-1] for i, j in zip(grid.rows_.indptr[:-1], grid.rows_.indptr[1:])],
    ).fit(grid)  # fmt: skip
    assert narrow._drawn(narrow.model_, np.random.default_rng(0), grid.expected_rewards_).max_successors_ <= 3


def test_optimistic_start_tries_everything():
    grid = GridWorld.small(start=(2, 0))
    shy = made("q", exploration=0.0, n_episodes=60).fit(grid)
    bold = made("q", exploration=0.0, initial_q=5.0, n_episodes=60).fit(grid)
    assert (bold.visits_ > 0).mean() > (shy.visits_ > 0).mean()


def test_cliff_sarsa_is_safe_and_q_learning_is_short():
    gymnasium = pytest.importorskip("gymnasium")
    cliff = MDP.from_gymnasium(gymnasium.make("CliffWalking-v1"))
    options = {
        "discount": 1.0,
        "learning_rate": 0.5,
        "exploration": 0.1,
        "n_episodes": 500,
        "random_state": 0,
    }
    q, sarsa = QLearning(**options).fit(cliff), Sarsa(**options).fit(cliff)
    assert q.evaluate(cliff, 5, max_steps=100).mean == -13
    assert sarsa.returns_[-200:].mean() > q.returns_[-200:].mean()  # while exploring, the cliff's edge costs


def test_lakes_taxis_and_cards_are_learned():
    gymnasium = pytest.importorskip("gymnasium")
    lake = MDP.from_gymnasium(gymnasium.make("FrozenLake-v1"))
    agent = QLearning(
        discount=0.99, learning_rate=VisitDecay(power=0.6), exploration=0.3, n_episodes=6000, random_state=0
    ).fit(lake)
    best = solve(lake, discount=0.99)
    assert lake.evaluate(agent.policy_, discount=0.99).value[0] > 0.8 * best.V_[0]
    taxi = MDP.from_gymnasium(gymnasium.make("Taxi-v4"))
    agent = QLearning(
        discount=0.99, learning_rate=0.5, exploration=0.1, n_episodes=3000, max_steps=200, random_state=0
    ).fit(taxi)
    assert agent.evaluate(gymnasium.make("Taxi-v4"), 50).mean > 7
    cards = gymnasium.make("Blackjack-v1")
    agent = QLearning(
        discount=1.0, learning_rate=VisitDecay(power=0.7), exploration=0.2, n_episodes=4000, random_state=0
    )
    agent.fit(cards)
    assert agent.n_states_ == 32 * 11 * 2 and agent.evaluate(cards, 1000).mean > -0.2
    assert agent.policy_.act((21, 10, 0)) == 0  # stick


# worlds that fail


class Broken:
    """An environment that fails in some way after some episodes."""

    def __init__(self, how, after=5):
        from gnomon.decide.environments import Discrete

        self.how, self.after, self.episodes = how, after, 0
        self.action_space, self.observation_space = Discrete(2), Discrete(3)

    def reset(self, *, seed=None, options=None):
        self.episodes += 1
        return (0, {}) if not (self.how == "reset" and self.episodes > self.after) else 0

    def step(self, action):
        late = self.episodes > self.after
        if late and self.how == "raises":
            raise OSError("the motor is stuck")
        if late and self.how == "old":
            return 0, 1.0, True, {}
        reward = np.nan if late and self.how == "nan" else 1.0
        return (
            (7 if late and self.how == "beyond" else 1),
            reward,
            not (late and self.how == "endless"),
            False,
            {},
        )


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("raises", "the motor is stuck"),
        ("reset", "reset must return"),
        ("old", "4 values"),
        ("nan", "paid nan"),
        ("beyond", "none of its 3 observations"),
    ],
)
@pytest.mark.parametrize("name", ["q", "model"])
def test_a_world_that_fails_loses_nothing_learned(how, message, name):
    agent = made(name)
    with pytest.raises(WorldError, match=message) as caught:
        agent.fit(Broken(how))
    assert not hasattr(agent, "Q_")
    kept = caught.value.agent
    assert len(kept.returns_) == 5 and kept.Q_[0].max() > 0
    assert not kept.converged_ and kept.n_iter_ == 5
    np.testing.assert_array_equal(kept.Q_, made(name, n_episodes=5).fit(Broken("never", 99)).Q_)


def test_a_world_without_end_is_cut_off_by_name():
    agent = made("q", n_episodes=8, max_steps=50).fit(Broken("endless"))
    assert (
        agent.lengths_.tolist() == [1] * 5 + [50] * 3
        and agent.trace_["truncated"].tolist() == [0] * 5 + [1] * 3
    )


def test_spaces_that_do_not_fit_are_refused():
    gymnasium = pytest.importorskip("gymnasium")
    with pytest.raises(DataError, match="Use DQN or PPO"):
        QLearning().fit(gymnasium.make("CartPole-v1"))
    with pytest.raises(DataError, match="finite set of actions"):
        QLearning().fit(gymnasium.make("Pendulum-v1"))
    with pytest.raises(DataError, match="has no `reset`"):
        QLearning().fit(np.zeros((3, 3)))
    with pytest.raises(InvalidParameterError, match="learning_rate"):
        QLearning(learning_rate=2.0).fit(GridWorld.small())
    with pytest.raises(DataError, match="initial_q"):
        QLearning(initial_q=np.zeros(3)).fit(GridWorld.small())
    with pytest.raises(DataError, match="n_step=1"):
        QLearning(trace_decay=0.5, n_step=2).fit(GridWorld.small())
    with pytest.warns(UserWarning, match="no episode ever ends"):
        QLearning(discount=1.0, n_episodes=1, max_steps=5).fit(two_states())
    with pytest.raises(DataError, match="discount below 1"):
        ModelBased(discount=1.0).fit(two_states())
    for moves, message in [
        ([(0, 0, np.nan, 0)], "finite"),
        ([(-1, 0, 1, 0)], "state -1"),
        ([], "empty"),
        ([(1, 2)], "all alike"),
    ]:
        with pytest.raises(DataError, match=message):
            QLearning().learn_from(moves)


# judging


def test_playing_gives_an_interval_that_covers_the_value():
    grid = GridWorld.small(start=(2, 0))
    policy, exact = solve(grid).policy_, solve(grid).V_[grid.state((2, 0))]
    inside = [
        found.low <= exact <= found.high
        for found in (policy.evaluate(grid, 200, discount=0.9, random_state=i) for i in range(100))
    ]
    assert 0.85 <= np.mean(inside) <= 1.0
    one, two = policy.evaluate(grid, 20, random_state=0), policy.evaluate(grid.to_env(), 20, random_state=0)
    np.testing.assert_array_equal(one.returns, two.returns)
    assert one.mean == one.returns.mean()
    played = policy.rollout(grid, 2, random_state=0)
    assert played[0]["terminated"] and len(played[0]["observations"]) == len(played[0]["actions"]) + 1


def test_comparison_over_seeds():
    from gnomon.decide.comparison import bootstrap_interval, interquartile_mean

    assert interquartile_mean(np.array([0.0, 1, 2, 100])) == 1.5
    assert interquartile_mean(np.arange(5.0)) == pytest.approx(2.0)
    low, high = bootstrap_interval(np.array([[1.0, 2.0, 3.0, 4.0]]), 0.95, 500, 0)
    assert 1 <= low < 2.5 < high <= 4
    grid = GridWorld.small(start=(2, 0), living_reward=-0.04)
    agents = {
        "random": QLearning(discount=0.9, n_episodes=60, exploration=1.0),
        "ε": QLearning(discount=0.9, n_episodes=60),
        "never": QLearning(discount=0.9, n_episodes=1, max_steps=1),
    }
    found = compare_agents(
        [grid, grid.to_env()], agents, n_seeds=3, n_episodes=10, max_steps=50, random_state=0
    )
    assert found["ε"].scores.shape == (2, 3) and np.allclose(*found["ε"].scores)
    assert found["random"].coverage > found["never"].coverage
    assert list(found)[-1] == "never" and list(found.to_frame().columns)[0] == "interquartile_mean"
    with pytest.warns(UserWarning, match="n_seeds=1"):
        compare_agents(grid, {"q": QLearning(n_episodes=1)}, n_seeds=1, n_episodes=1)


def test_registered_environments():
    gymnasium = pytest.importorskip("gymnasium")
    import gnomon.decide.environments  # noqa: F401

    for name in ("GridWorldSmall", "GridWorldClassic", "Chain", "Bandit", "HiddenGrid"):
        env = gymnasium.make(f"gnomon/{name}-v0")
        first, _ = env.reset(seed=3)
        assert env.observation_space.contains(first)
        again = gymnasium.make(f"gnomon/{name}-v0").reset(seed=3)[0]
        assert first == again and len(env.step(0)) == 5
    env = GridWorld.small(start=(2, 0)).to_env(max_steps=2)
    env.reset(seed=0, options={"state": 3})
    assert env.state == 3 and "R" in env.render()
    assert not env.step(0)[3] and env.step(0)[3]


# actions that are not there


@pytest.mark.parametrize(
    "agent",
    [
        ModelBased(discount=0.9, default_reward=50.0, exploration=1.0, n_steps=3000, random_state=0),
        PosteriorSampling(discount=0.9, reward_prior=(50.0, 1.0, 1.0, 1.0), n_steps=3000, random_state=0),
        OptimisticPlanning(discount=0.9, reward_max=2.0, n_steps=3000, random_state=0),
    ],
)
def test_plans_do_not_hope_for_actions_that_are_not_available(agent):
    bound = two_states(start=0, available=[[False, True], [True, False]])
    fitted = agent.fit(bound)
    np.testing.assert_allclose(fitted.V_, V2, atol=1.5)  # believing in 50 would give ten times as much
    assert np.isneginf(fitted.Q_[[0, 1], [0, 1]]).all() and not fitted.visits_[[0, 1], [0, 1]].any()


def test_pairs_to_be_seen_are_those_that_there_are():
    bound = two_states(start=0, available=[[False, True], [True, False]])
    agent = ModelBased(discount=0.9, unvisited="error", n_steps=50, random_state=0).fit(bound)
    assert np.asarray(agent.policy_).tolist() == [1, 0]
    with pytest.raises(DataError, match=r"never seen: \[\(0, 0\), \(1, 0\), \(1, 1\)\]"):
        model = EmpiricalModel(2, 2, unvisited="error").update_many([(0, 1, 1.0, 0)])
        model.to_mdp(0.9)


def test_posterior_with_known_rewards_draws_processes_after_the_fit():
    mdp = two_states(start=0)
    agent = PosteriorSampling(
        discount=0.9, reward_prior="known", n_episodes=5, max_steps=200, random_state=0
    ).fit(mdp)
    np.testing.assert_allclose(agent.sample_model(0).expected_rewards_, mdp.expected_rewards_, rtol=1e-12)
    low, high = agent.value_interval(60, random_state=0)
    assert (low < high).all() and (low <= V2 + 0.5).all() and (high >= V2 - 0.5).all()


def test_bonus_is_added_to_every_reward_and_keeps_values_above_the_truth():
    # Hoeffding: N means of numbers within [0, 2] are off by more than c/√N with chance below 2 exp(-c²/2); with c = 5
    # the sum over all pairs and counts that matter stays below one in a thousand
    grid = GridWorld.small(start=(2, 0))
    agent = made("bonus", bonus=5.0, n_episodes=100).fit(grid)
    assert (agent.V_ >= solve(grid).V_).all()
    n = agent.visits_
    known = agent.model_.to_mdp(0.9)
    raised = known.expected_rewards_ + 5.0 / np.sqrt(np.maximum(n, 1))
    top = 1.0 / (1 - 0.9)
    V, Q = np.zeros(8), np.zeros((8, 4))
    rows = known.rows_.toarray().reshape(8, 4, 8)
    for _ in range(400):
        Q = np.where(n > 0, raised + 0.9 * rows @ V, top)
        V = Q.max(axis=1)
    np.testing.assert_allclose(agent.Q_, Q, atol=1e-4)
