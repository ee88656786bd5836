"""Agents with networks: tables as their limit, gradients by hand, the same bits again."""

import copy

import numpy as np
import pytest

from decide.test_agents import MOVES, Broken
from decide.worlds import two_states
from gnomon.core.errors import DataError, WorldError
from gnomon.decide import DQN, MDP, PPO, GridWorld, PolicyGradient, QLearning, solve

GRID = GridWorld.small(start=(2, 0))


# what needs no PyTorch


def test_exact_gradient_by_hand():
    J, gradient = two_states().policy_gradient(np.zeros((2, 2)), start=0)
    assert J == pytest.approx(0.8133971292, abs=1e-9)
    expected = [[-0.2490785467, 0.2490785467], [2.9391497447, -2.9391497447]]
    np.testing.assert_allclose(gradient, expected, atol=1e-9)


def test_exact_gradient_is_the_slope():
    rng = np.random.default_rng(0)
    for mdp in (two_states(start=0), GridWorld.small(start=(2, 0))):
        logits = rng.normal(size=(mdp.n_states, mdp.n_actions))
        _, gradient = mdp.policy_gradient(logits)
        np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)
        for _ in range(10):
            at = tuple(int(rng.integers(n)) for n in logits.shape)
            step = np.zeros_like(logits)
            step[at] = 1e-5
            slope = (mdp.policy_gradient(logits + step)[0] - mdp.policy_gradient(logits - step)[0]) / 2e-5
            assert gradient[at] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_exact_ascent_never_falls_and_reaches_the_optimum():
    agent = PolicyGradient(exact=True, discount=0.9, learning_rate=1.0, n_iterations=100).fit(GRID)
    assert (np.diff(agent.returns_) >= 0).all()
    assert agent.returns_[-1] == pytest.approx(GRID.start_ @ solve(GRID).V_, abs=1e-5)
    with pytest.raises(DataError, match="exact=True needs an MDP"):
        PolicyGradient(exact=True).fit(GRID.to_env())


def test_reinforce_moves_along_the_exact_gradient_on_average():
    mdp = two_states(start=0).with_halt()
    exact = mdp.policy_gradient(np.zeros((2, 2)))[1]
    agent = PolicyGradient(
        discount=1.0, learning_rate=1.0, n_iterations=1, episodes_per_iteration=2500, random_state=0
    ).fit(mdp)  # in the first iteration all baselines are zero
    assert np.abs(agent.logits_ - exact).max() < 0.5
    far = (
        two_states(start=0)
        ._like(expected=two_states().expected_rewards_ + 50.0, pays=two_states()._pays + 50.0)
        .with_halt()
    )
    noisy, calm = (
        PolicyGradient(discount=1.0, baseline=b, learning_rate=1e-9, n_iterations=20, random_state=0)
        .fit(far)
        .trace_["variance"][-1]
        for b in (None, "value")
    )
    assert calm < noisy  # a reward that comes whatever is done is noise to the one, nothing to the other


def test_tabular_reinforce_learns_the_grid():
    agent = PolicyGradient(discount=0.9, learning_rate=0.5, n_iterations=50, random_state=0).fit(GRID)
    assert agent.returns_[-10:].mean() > 0.9 > agent.returns_[0]
    np.testing.assert_allclose(agent.predict_proba([0, 1]).sum(axis=1), 1)
    np.testing.assert_array_equal(agent.predict(GRID), agent.predict(range(8)))
    again = PolicyGradient(discount=0.9, learning_rate=0.5, n_iterations=50, random_state=0).fit(
        GRID.to_env()
    )
    np.testing.assert_array_equal(agent.logits_, again.logits_)


# what does

torch = pytest.importorskip("torch")

SMALL = {
    "dqn": DQN(hidden_layer_sizes=(16,), discount=0.9, n_steps=300, learning_starts=50, target_update=20, batch_size=8),
    "double dueling": DQN(
        hidden_layer_sizes=(16,), discount=0.9, n_steps=300, learning_starts=50, target_update=20, batch_size=8,
        double=True, dueling=True, loss="huber", max_grad_norm=1.0,
    ),
    "reinforce": PolicyGradient(parameterization="network", discount=0.9, n_iterations=6, learning_rate=0.01),
    "mean baseline": PolicyGradient(parameterization="network", baseline="mean", discount=0.9, n_iterations=6),
    "ppo": PPO(hidden_layer_sizes=(16,), discount=0.9, n_steps=400, steps_per_iteration=100, n_epochs=2),
    "actor-critic": PPO(hidden_layer_sizes=(16,), discount=0.9, n_steps=400, steps_per_iteration=100, clip=None,
    n_epochs=1),
}  # fmt: skip


def made(name, **options):
    from sklearn.base import clone

    return clone(SMALL[name]).set_params(random_state=0, **options)


def test_a_network_without_hidden_layers_is_the_table():
    linear = DQN(
        hidden_layer_sizes=(), discount=0.9, learning_rate_init=0.5, solver="sgd", batch_size=1, buffer_size=1,
        learning_starts=0, target_update=0,
    )  # fmt: skip
    found = linear.learn_from(MOVES, 2, 2).q_values([0, 1])
    np.testing.assert_allclose(found, [[0, -0.5375], [2.425, 0]], atol=1e-12)
    np.testing.assert_allclose(
        found, QLearning(discount=0.9, learning_rate=0.5).learn_from(MOVES).Q_, atol=1e-12
    )


@pytest.mark.parametrize("name", SMALL)
def test_same_seed_same_bits_and_numpy_agrees_with_torch(name):
    pytest.importorskip("gymnasium")
    one, two = made(name).fit(GRID), made(name).fit(GRID.to_env())
    for a, b in zip(one.weights_, two.weights_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.returns_, two.returns_)
    from gnomon.decide.networks import Net

    policy = one.policy_
    net = Net(one.weights_, policy.activation, dueling=policy.dueling, bias_first=policy.bias_first)
    x = np.eye(8)
    np.testing.assert_allclose(net(torch.from_numpy(x)).detach().numpy(), net.numbers(x), atol=1e-12)
    assert one.predict([0, 1, 2]).shape == (3,)
    np.testing.assert_array_equal(one.predict(GRID), one.predict(range(8)))


@pytest.mark.parametrize("name", SMALL)
def test_killed_agents_go_on_to_the_same_bits(name, tmp_path):
    import gnomon
    from gnomon.core.callbacks import Checkpoint

    path = tmp_path / "agent.checkpoint"
    whole = made(name).fit(GRID)

    class Stop:
        count = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.count += 1
            if self.count == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(name).set_callbacks(Checkpoint(path, every_seconds=0), Stop()).fit(GRID)
    resumed = made(name).set_callbacks(Checkpoint(path, every_seconds=0)).fit(GRID)
    for a, b in zip(resumed.weights_, whole.weights_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(resumed.returns_, whole.returns_)
    gnomon.save(whole, tmp_path / "agent.gnomon")
    loaded = gnomon.load(tmp_path / "agent.gnomon")
    assert np.array_equal(loaded.predict(range(8)), whole.predict(range(8)))


@pytest.mark.parametrize("name", ["dqn", "double dueling", "reinforce", "ppo", "tabular"])
def test_spoiled_networks_are_refused(name, tmp_path):
    import gnomon
    from gnomon.core.errors import ModelFileError

    agent = (PolicyGradient(n_iterations=1, random_state=0) if name == "tabular" else made(name)).fit(GRID)

    def cut_inputs(one):
        one.policy_.weights[0] = one.policy_.weights[0][:, :-1]

    def cut_outputs(one):
        one.weights_[-1] = one.weights_[-1][:-1]

    def one_less(one):
        one.policy_.weights.pop()

    def no_number(one):
        one.policy_.weights[0][0, 0] = np.nan

    def unknown(one):
        one.policy_.activation = "sine"

    def no_chances(one):
        one.policy_.table[0] = 2.0

    def other_logits(one):
        one.logits_ = one.logits_[:-1]

    networks = (cut_inputs, cut_outputs, one_less, no_number, unknown)
    for spoil in (no_chances, other_logits) if name == "tabular" else networks:
        spoiled = copy.deepcopy(agent)
        spoil(spoiled)
        gnomon.save(spoiled, tmp_path / "agent.gnomon")
        with pytest.raises(ModelFileError):
            gnomon.load(tmp_path / "agent.gnomon")


def test_networks_have_the_precision_of_what_they_see():
    gymnasium = pytest.importorskip("gymnasium")
    pole = gymnasium.make("CartPole-v1")
    small = {"hidden_layer_sizes": (8,), "n_steps": 60, "random_state": 0}
    for agent in (DQN(learning_starts=10, **small), PPO(steps_per_iteration=30, **small)):
        weights = agent.fit(pole).weights_
        assert {w.dtype for w in weights} == {np.dtype("float32")}
    assert {w.dtype for w in made("dqn").fit(GRID).weights_} == {np.dtype("float64")}


def test_a_schedule_of_learning_rates_counts_moves():
    frozen = made("dqn", learning_rate_init=lambda k: 1e-3 if k < 100 else 0.0)
    halfway, late = (frozen.set_params(n_steps=n).fit(GRID).weights_ for n in (100, 300))
    free = made("dqn", n_steps=300).fit(GRID).weights_
    for a, b, c in zip(halfway, late, free, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(b, c)


def test_replay_is_a_ring():
    from gnomon.decide.replay import Replay

    ring = Replay(3, 1)
    for i in range(5):
        ring.add(np.array([float(i)]), i, float(i), np.array([0.0]), False)
    assert ring.count == 3 and sorted(ring.rewards.tolist()) == [2, 3, 4] and ring.at == 2


def test_advantages_by_formula():
    from gnomon.decide.batches import Batch, advantages, returns_to_go

    batch = Batch(
        np.zeros((3, 1)),
        np.zeros(3, int),
        np.array([1.0, 2.0, 4.0]),
        np.array([0, 2, 3]),
        np.zeros((2, 1)),
        np.array([False, True]),
    )
    V, last = np.array([0.5, 1.0, 2.0]), np.array([3.0, 9.0])
    second = 2 + 0.9 * 3 - 1.0
    first = 1 + 0.9 * 1.0 - 0.5 + 0.9 * 0.8 * second
    np.testing.assert_allclose(advantages(batch, V, last, 0.9, 0.8), [first, second, 4 - 2.0])
    np.testing.assert_allclose(returns_to_go(batch, 0.9), [1 + 0.9 * 2, 2, 4])


def test_networks_learn_the_grid():
    agent = PPO(
        hidden_layer_sizes=(32,),
        discount=0.9,
        n_steps=2500,
        steps_per_iteration=250,
        learning_rate=3e-3,
        random_state=0,
    ).fit(GRID)
    assert agent.evaluate(GRID, 50).mean > 0.9
    agent = DQN(
        hidden_layer_sizes=(32,), discount=0.9, n_steps=1500, learning_starts=100, target_update=50, exploration=0.3,
        learning_rate_init=3e-3, random_state=0,
    ).fit(GRID)  # fmt: skip
    assert agent.evaluate(GRID, 50).mean > 0.9


def test_vectors_of_environments_are_played_side_by_side():
    gymnasium = pytest.importorskip("gymnasium")
    single = gymnasium.make("CartPole-v1")
    vector = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 3)
    options = {
        "n_steps": 300,
        "steps_per_iteration": 150,
        "n_epochs": 1,
        "hidden_layer_sizes": (8,),
        "random_state": 0,
    }
    one, two = PPO(n_envs=3, **options).fit(single), PPO(**options).fit(vector)
    for a, b in zip(one.weights_, two.weights_, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.n_actions_ == 2 and not hasattr(one, "n_states_")
    dqn = DQN(n_steps=60, learning_starts=20, hidden_layer_sizes=(8,), random_state=0).fit(vector)
    assert dqn.q_values(np.zeros((2, 4))).shape == (2, 2)


@pytest.mark.parametrize("n_envs", [1, 3])
def test_the_last_episodes_end_with_the_last_move(n_envs):
    gymnasium = pytest.importorskip("gymnasium")
    agent = PPO(
        n_steps=101, steps_per_iteration=40, n_epochs=1, hidden_layer_sizes=(4,), n_envs=n_envs, random_state=0
    )  # fmt: skip
    agent.fit(gymnasium.make("CartPole-v1"))
    assert agent.n_steps_ == 101
    assert (agent.trace_["length"] * agent.trace_["episodes"]).sum() == pytest.approx(101)


def test_failures_are_named_and_nothing_is_lost():
    gymnasium = pytest.importorskip("gymnasium")
    for name in SMALL:
        with pytest.raises(WorldError, match="the motor is stuck") as caught:
            made(name).fit(Broken("raises", after=12))
        assert caught.value.agent.policy_ is not None
    with pytest.raises(DataError, match="finite set of actions"):
        DQN().fit(gymnasium.make("Pendulum-v1"))
    with pytest.raises(DataError, match="at least one hidden layer"):
        DQN(hidden_layer_sizes=(), dueling=True).fit(GRID)
    with pytest.raises(ValueError, match="learning_rate"):
        PolicyGradient(learning_rate=0.0).fit(GRID)
    with pytest.raises(FloatingPointError, match="step"):
        made("dqn", learning_rate_init=1e200, solver="sgd").fit(GRID)

    class Shrinking(Broken):
        observation_space = None

        def reset(self, *, seed=None, options=None):
            return np.zeros(2), {}

        def step(self, action):
            return np.zeros(1), 0.0, False, False, {}

    env = Shrinking("never")
    env.observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    with pytest.raises(WorldError, match="1 numbers, and those before had 2"):
        made("dqn").fit(env)


def test_where_nothing_is_paid_only_the_entropy_is_climbed():
    calm = two_states(start=0)._like(expected=np.zeros((2, 2)), pays=0 * two_states()._pays).with_halt()
    options = {
        "parameterization": "network", "hidden_layer_sizes": (), "baseline": None, "discount": 0.9,
        "n_iterations": 4, "learning_rate": 1e-4, "episodes_per_iteration": 2, "random_state": 0,
    }  # fmt: skip
    still = PolicyGradient(**options).fit(calm)
    for a, b in zip(
        still.weights_, PolicyGradient(**{**options, "n_iterations": 1}).fit(calm).weights_, strict=True
    ):
        np.testing.assert_array_equal(a, b)
    for bonus in (0.5, 2.0):
        agent = PolicyGradient(**options, entropy_bonus=bonus).fit(calm)
        assert (agent.trace_["entropy"] < np.log(2)).all()
        start, end = (np.abs(one.predict_proba([0, 1]) - 0.5).max(axis=1) for one in (still, agent))
        assert (end < start).all()


def test_moves_of_dqn_end_with_the_last_one_wanted():
    agent = made("dqn", n_steps=57).fit(GRID)
    assert agent.n_steps_ == 57 == agent.lengths_.sum() and (agent.lengths_ > 0).all()
    assert agent.n_iter_ == len(agent.lengths_) and agent.converged_


@pytest.mark.parametrize(("name", "small"), [("adam", 1e-8), ("adam-ppo", 1e-5)])
def test_first_step_of_adam_by_hand(name, small):
    from gnomon.decide.networks import make_optimizer

    one = torch.tensor(np.array([2.0, -1.0, 0.5]), requires_grad=True)
    optimizer = make_optimizer(name, [one], 0.1)
    slope = np.array([1e-5, -1e-7, 3.0])
    one.grad = torch.from_numpy(slope)
    optimizer.step()  # means and squares, freed of their bias, are the slope and its square
    wanted = np.array([2.0, -1.0, 0.5]) - 0.1 * slope / (np.abs(slope) + small)
    np.testing.assert_allclose(one.detach().numpy(), wanted, rtol=1e-9)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"target_update": 3},
        {"target_update": 4, "loss": "huber", "batch_size": 5},
        {"target_update": 2, "max_grad_norm": 0.5, "gradient_steps": 2},
        {"target_update": 0, "train_every": 2, "learning_starts": 4},
        {"target_update": 5, "learning_rate_init": lambda step: 1.0 / (1 + step), "learning_starts": 1},
    ],
    ids=["copies", "huber", "short gradients", "seldom", "fading"],
)
def test_updates_of_dqn_by_a_table(options, double):
    """Without hidden layers and with a memory of one move the network is a table, its gradient one entry."""
    rng = np.random.default_rng(0)
    moves = [
        (
            int(rng.integers(3)),
            int(rng.integers(2)),
            3 * rng.normal(),
            int(rng.integers(3)),
            rng.random() < 0.3,
        )
        for _ in range(17)
    ]
    defaults = {"hidden_layer_sizes": (), "solver": "sgd", "buffer_size": 1, "learning_starts": 0}
    asked = {
        **defaults,
        "discount": 0.9,
        "batch_size": 1,
        "learning_rate_init": 0.4,
        "double": double,
        **options,
    }
    agent = DQN(**asked).learn_from(moves, 3, 2)
    Q, old, updates = np.zeros((3, 2)), np.zeros((3, 2)), 0
    for step, (s, a, r, then, over) in enumerate(moves, 1):
        if step >= max(asked["learning_starts"], 1) and step % asked.get("train_every", 1) == 0:
            for _ in range(asked.get("gradient_steps", 1)):
                judge = old if asked["target_update"] else Q
                best = Q[then].argmax() if double and asked["target_update"] else judge[then].argmax()
                slope = Q[s, a] - r - (0.0 if over else 0.9 * judge[then, best])
                if asked.get("loss") == "huber":
                    slope = np.clip(slope, -1.0, 1.0)
                most = asked.get("max_grad_norm", np.inf)
                slope *= min(1.0, most / (abs(slope) + 1e-6))  # so PyTorch
                rate = asked["learning_rate_init"]
                Q[s, a] -= (rate(step) if callable(rate) else rate) * slope
                updates += 1
        if asked["target_update"] and step % asked["target_update"] == 0:
            old = Q.copy()
    np.testing.assert_allclose(agent.q_values([0, 1, 2]), Q, rtol=1e-5, atol=1e-9)
    assert (agent.n_updates_, agent.n_steps_) == (updates, 17)
    assert agent.predict([2, 0]).tolist() == Q[[2, 0]].argmax(axis=1).tolist()


def batch_of(seen, actions, rewards, lengths, ended):
    from gnomon.decide.batches import Batch

    begins = np.concatenate([[0], np.cumsum(lengths)])
    last = np.eye(3)[[0] * len(lengths)]
    return Batch(np.eye(3)[seen], np.array(actions), np.array(rewards), begins, last, np.array(ended))


def two_batches():
    return [
        batch_of([0, 1, 1, 2, 0], [0, 1, 1, 0, 1], [1.0, -2.0, 3.0, 0.5, 4.0], [3, 2], [True, False]),
        batch_of([2, 2, 0, 1], [1, 0, 0, 1], [2.0, 1.0, -1.0, 5.0], [1, 3], [False, True]),
    ]


def to_go(batch, discount):
    """Returns by their definition: every later reward of the episode, discounted."""
    found = []
    for i, j in zip(batch.begins[:-1], batch.begins[1:], strict=True):
        found += [sum(discount ** (u - t) * batch.rewards[u] for u in range(t, j)) for t in range(i, j)]
    return np.array(found)


def three_states():
    from gnomon.decide import MDP

    return MDP(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)), layout="sas")


@pytest.mark.parametrize("baseline", [None, "mean", "value"])
@pytest.mark.parametrize("entropy_bonus", [0.0, 0.7])
def test_two_steps_of_tabular_reinforce_by_hand(baseline, entropy_bonus, monkeypatch):
    batches = two_batches()
    plays = iter(batches)
    monkeypatch.setattr("gnomon.decide.gradients.play_batch", lambda *given: next(plays))
    agent = PolicyGradient(
        discount=0.8, learning_rate=0.3, n_iterations=2, baseline=baseline, entropy_bonus=entropy_bonus
    ).fit(three_states())
    logits, values, mean, told = np.zeros((3, 2)), np.zeros(3), 0.0, []
    for batch in batches:
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        G, s = to_go(batch, 0.8), batch.seen.argmax(axis=1)
        before = {"value": values[s], "mean": np.full(len(s), mean), None: np.zeros(len(s))}[baseline]
        gradient, each = np.zeros((3, 2)), []
        for i, j in zip(batch.begins[:-1], batch.begins[1:], strict=True):
            for t in range(i, j):
                part = np.zeros((3, 2))
                part[s[t]] = -p[s[t]]
                part[s[t], batch.actions[t]] += 1.0
                each.append(0.8 ** (t - i) * (G[t] - before[t]) / 2 * part)
        gradient = np.sum(each, axis=0)
        spread = np.mean([(one**2).sum() for one in each]) - ((gradient / len(each)) ** 2).sum()
        logs = np.log(p)
        gradient = gradient - entropy_bonus * p * (logs - (p * logs).sum(axis=1, keepdims=True))
        for x in set(s.tolist()):
            values[x] += 0.2 * (G[s == x].mean() - values[x])
        mean += 0.1 * (G[batch.begins[:-1]].mean() - mean)
        logits = logits + 0.3 * gradient
        told.append((batch.rewards.sum() / 2, len(s) / 2, spread, np.sqrt((gradient**2).sum())))
    np.testing.assert_allclose(agent.logits_, logits, atol=1e-12)
    np.testing.assert_allclose(agent.baseline_, values, atol=1e-12)
    assert (agent.n_steps_, agent.n_episodes_) == (9, 4)
    for name, column in zip(
        ("return", "length", "variance", "gradient_norm"), np.transpose(told), strict=True
    ):
        np.testing.assert_allclose(agent.trace_[name], column, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("baseline", [None, "mean", "value"])
@pytest.mark.parametrize("entropy_bonus", [0.0, 0.7])
def test_two_steps_of_reinforce_with_a_network_by_hand(baseline, entropy_bonus, monkeypatch):
    """A linear network over numbered states is the table of logits; Adam by its formula."""
    start = np.array([[0.5, -0.3, 0.2], [-0.1, 0.4, 0.6]])
    judge = np.array([[0.3, -0.2, 0.1]])
    batches = two_batches()
    plays = iter(batches)
    monkeypatch.setattr("gnomon.decide.gradients.play_batch", lambda *given: next(plays))
    monkeypatch.setattr(
        "gnomon.decide.climbing.first_weights",
        lambda sizes, *rest, **more: [(start if sizes[-1] == 2 else judge).copy()],
    )
    agent = PolicyGradient(
        parameterization="network", hidden_layer_sizes=(), discount=0.8, learning_rate=0.3, n_iterations=2,
        baseline=baseline, entropy_bonus=entropy_bonus,
    ).fit(three_states())  # fmt: skip
    W, V, mean, told = start.copy(), judge.copy(), 0.0, []
    kept = [np.zeros((2, 2, 3)), np.zeros((2, 1, 3))]
    for k, batch in enumerate(batches, 1):
        z = W.T - W.T.max(axis=1, keepdims=True)
        logs = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        p, s, n = np.exp(logs), batch.seen.argmax(axis=1), len(batch.rewards)
        G = to_go(batch, 0.8)
        before = {"value": V[0, s], "mean": np.full(n, mean), None: np.zeros(n)}[baseline]
        mean += 0.1 * (G[batch.begins[:-1]].mean() - mean)
        gain = G - before
        gain = gain if baseline is None else (gain - gain.mean()) / gain.std()
        H = -(p * logs).sum(axis=1)
        down, off = np.zeros((2, 3)), np.zeros((1, 3))
        for t in range(n):
            own = np.zeros(2)
            own[batch.actions[t]] = 1.0
            down[:, s[t]] -= gain[t] * (own - p[s[t]]) / n
            down[:, s[t]] -= entropy_bonus * -p[s[t]] * (logs[s[t]] + H[s[t]]) / n
            off[0, s[t]] += (V[0, s[t]] - G[t]) / n
        told.append((H[s].mean(), np.var(G - before)))
        for weights, slope, memory in ((W, down, kept[0]), (V, off, kept[1])):
            memory[0] = 0.9 * memory[0] + 0.1 * slope
            memory[1] = 0.999 * memory[1] + 0.001 * slope**2
            weights -= 0.3 * memory[0] / (1 - 0.9**k) / (np.sqrt(memory[1] / (1 - 0.999**k)) + 1e-8)
    np.testing.assert_allclose(agent.weights_[0], W, atol=1e-6)
    np.testing.assert_allclose(agent.trace_["entropy"], np.transpose(told)[0], atol=1e-6)
    np.testing.assert_allclose(agent.trace_["variance"], np.transpose(told)[1], atol=1e-6)
    assert (agent.n_steps_, agent.n_episodes_) == (9, 4) and agent.trace_["episodes"].tolist() == [2, 2]


@pytest.mark.parametrize(
    "options", [{}, {"clip": None}, {"clip": 0.05, "value_weight": 2.0}, {"entropy_bonus": 0.4}]
)
@pytest.mark.parametrize("rows", [1, 6])
def test_an_update_of_ppo_goes_down_its_loss(options, rows):
    from gnomon.decide.climbing import Climb
    from gnomon.decide.networks import Net

    rng = np.random.default_rng(3)
    start, judge = rng.normal(size=(3, 4)), rng.normal(size=(1, 4))
    seen, actions = rng.normal(size=(rows, 4)), rng.integers(3, size=rows)
    A, goal = rng.normal(size=rows), rng.normal(size=rows)
    own = {"clip": 0.2, "value_weight": 0.5, "entropy_bonus": 0.0, **options}

    def parts(W):
        z = seen @ W.T
        return z - np.log(np.exp(z).sum(axis=1, keepdims=True))

    old = parts(start)[np.arange(rows), actions] + rng.uniform(-0.3, 0.3, rows)

    def loss(W, V):
        logs = parts(W)
        taken = logs[np.arange(rows), actions]
        better = (A - A.mean()) / A.std(ddof=1) if rows > 1 else A
        gain = taken * better
        if own["clip"] is not None:
            ratio, c = np.exp(taken - old), own["clip"]
            gain = np.array(
                [min(x * g, min(max(x, 1 - c), 1 + c) * g) for x, g in zip(ratio, better, strict=True)]
            )
        entropy = -(np.exp(logs) * logs).sum(axis=1).mean()
        off = ((goal - seen @ V[0]) ** 2).mean()
        return -gain.mean() + own["value_weight"] * off - own["entropy_bonus"] * entropy, entropy

    def slopes(at, f):
        found = np.zeros_like(at)
        for place in np.ndindex(at.shape):
            step = np.zeros_like(at)
            step[place] = 1e-6
            found[place] = (f(at + step) - f(at - step)) / 2e-6
        return found

    policy, critic = (Net([w.copy()], "tanh", bias_first=False) for w in (start, judge))
    for most in (1e9, 0.3):
        for net, w in ((policy, start), (critic, judge)):
            net.arrays[0][...] = w
        optimizer = torch.optim.SGD([*policy.tensors, *critic.tensors], lr=0.1)
        state = Climb(policy, critic, optimizer, 0, None)
        told = PPO(max_grad_norm=most, **own)._update(
            state, *(torch.from_numpy(x) for x in (seen, actions[:, None], old, A, goal))
        )
        np.testing.assert_allclose(told, loss(start, judge), rtol=1e-6)
        down = slopes(start, lambda W: loss(W, judge)[0]), slopes(judge, lambda V: loss(start, V)[0])
        size = np.sqrt(sum((one**2).sum() for one in down))
        for net, w, slope in ((policy, start, down[0]), (critic, judge, down[1])):
            np.testing.assert_allclose(net.arrays[0], w - 0.1 * slope * min(1.0, most / size), atol=1e-6)


ALONE = MDP([[[1.0], [1.0]]], [[1.0, 1.0]], discount=0.9, layout="sas", start=0)
SHAPES = {"relu": lambda z: np.maximum(z, 0.0), "tanh": np.tanh}


def shown(weights, shape):
    """Outputs of one hidden layer for the only observation."""
    first, W, b = weights
    return W @ shape(first[:, 0]) + b


@pytest.mark.parametrize("activation", [None, "relu", "tanh"])
def test_what_bends_the_layers_of_deep_q_networks(activation):
    options = {} if activation is None else {"activation": activation}
    agent = DQN(
        hidden_layer_sizes=(5,), discount=0.9, n_steps=1, learning_starts=0, train_every=1, batch_size=2,
        learning_rate_init=1e-12, exploration=0.0, loss="squared", random_state=0, **options,
    ).fit(ALONE)  # fmt: skip
    q = shown(agent.weights_, SHAPES[activation or "relu"])
    np.testing.assert_allclose(agent.q_values([0])[0], q, atol=1e-12)
    assert agent.trace_["loss"][0] == pytest.approx(0.5 * (1 + 0.9 * q.max() - q.max()) ** 2, abs=1e-9)


@pytest.mark.parametrize("activation", [None, "relu", "tanh"])
@pytest.mark.parametrize("kind", ["reinforce", "ppo"])
def test_what_bends_the_layers_of_policies(kind, activation):
    options = {} if activation is None else {"activation": activation}
    options |= {"hidden_layer_sizes": (5,), "max_steps": 3, "learning_rate": 1e-12, "random_state": 0}
    if kind == "ppo":
        agent = PPO(n_steps=3, steps_per_iteration=3, n_epochs=1, **options)
    else:
        agent = PolicyGradient(parameterization="network", n_iterations=1, **options)
    z = shown(agent.fit(ALONE).weights_, SHAPES[activation or "tanh"])
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    np.testing.assert_allclose(agent.predict_proba([0])[0], p, atol=1e-12)
    assert agent.trace_["entropy"][0] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)


@pytest.mark.parametrize("gae_lambda", [None, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("max_steps", [1, 4])
def test_how_far_the_advantages_of_ppo_look(gae_lambda, max_steps):
    """Where every move pays one, all of a first batch's loss is the squared advantages, by their series."""
    options = {} if gae_lambda is None else {"gae_lambda": gae_lambda}
    agent = PPO(
        hidden_layer_sizes=(5,), discount=0.9, n_steps=8, steps_per_iteration=8, n_epochs=1, max_steps=max_steps,
        learning_rate=1e-12, random_state=0, **options,
    ).fit(ALONE)  # fmt: skip
    assert agent.trace_["length"].tolist() == [max_steps]
    v = shown(agent.critic_weights_, np.tanh)[0]
    decay = 0.9 * (0.95 if gae_lambda is None else gae_lambda)
    gains = [(1 + 0.9 * v - v) * sum(decay**k for k in range(left)) for left in range(1, max_steps + 1)]
    assert agent.trace_["loss"][0] == pytest.approx(0.5 * np.mean(np.square(gains)), rel=1e-6)
