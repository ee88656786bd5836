"""Decisions against pymdptoolbox, Stable-Baselines3 and plain Python loops: the same processes, the same moves."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case


def sparse_process(states, actions=5):
    from gnomon.decide import MDP

    return MDP.random(states, actions, 5, discount=0.99, random_state=0)


def dense_process(states=1000, actions=4):
    from gnomon.decide import MDP

    return MDP.random(states, actions, states, discount=0.95, random_state=0)


def matrices(mdp):
    """Transitions as pymdptoolbox takes them."""
    from scipy import sparse

    A = mdp.n_actions
    return [sparse.csr_matrix(mdp.rows_[a::A]) for a in range(A)]


def planned(method, **options):
    def plan(mdp):
        from gnomon.decide import solve

        return solve(mdp, method, **options)

    return plan


def toolbox(name, dense=False, **options):
    def plan(mdp):
        from mdptoolbox import mdp as theirs

        P = matrices(mdp)
        P = np.array([one.toarray() for one in P]) if dense else P
        model = getattr(theirs, name)(P, mdp.expected_rewards_, mdp.discount, **options)
        model.run()
        return model

    return plan


def counted(method):
    """Processes that know how many products with all their rows our planner needs."""

    def make(states):
        mdp = sparse_process(states, 2)
        found = planned(method, tol=1e-3)(mdp)
        mdp.n_products = found.n_backups_ / (mdp.n_states * mdp.n_actions)
        return mdp

    return make


def products(mdp):
    """The sparse products of a plan, and nothing else."""
    V = np.zeros(mdp.n_states)
    for _ in range(int(np.ceil(mdp.n_products))):
        V = 0.99 * (mdp.rows_ @ V)[:: mdp.n_actions]
    return V


def policy_loss(model, mdp):
    """How much the found policy is worth less than the optimum, at most."""
    policy = np.asarray(getattr(model, "policy_", getattr(model, "policy", None)))
    value = mdp.evaluate(policy, method="iterative", tol=1e-9).value
    return float(max(np.abs(mdp.value_bounds(value)[1] - value).max(), 1e-6))


def q_learning(mdp):
    from gnomon.decide import QLearning

    return QLearning(discount=0.99, n_steps=100_000, max_steps=100, random_state=0).fit(mdp)


def toolbox_q(mdp):
    from mdptoolbox import mdp as theirs

    P = np.array([one.toarray() for one in matrices(mdp)])
    model = theirs.QLearning(P, mdp.expected_rewards_, 0.99, n_iter=100_000)
    model.run()
    return model


def taxi():
    import gymnasium

    return gymnasium.make("Taxi-v4")


def q_in_env(env):
    from gnomon.decide import QLearning

    return QLearning(discount=0.99, n_steps=50_000, max_steps=200, random_state=0).fit(env)


def q_in_table(env):
    from gnomon.decide import MDP, QLearning

    return QLearning(discount=0.99, n_steps=50_000, max_steps=200, random_state=0).fit(
        MDP.from_gymnasium(env)
    )


def plain_q(env):
    """The loop that every course writes."""
    Q, rng = np.zeros((500, 6)), np.random.default_rng(0)
    s, _ = env.reset(seed=0)
    for _ in range(50_000):
        a = int(rng.integers(6)) if rng.random() < 0.1 else int(np.argmax(Q[s]))
        t, r, terminated, truncated, _ = env.step(a)
        Q[s, a] += 0.1 * (r + (0.0 if terminated else 0.99 * Q[t].max()) - Q[s, a])
        s = t
        if terminated or truncated:
            s, _ = env.reset()
    return Q


MOVES = 5_000  # of the agents with networks
TUNED_DQN = {"learning_starts": 1000, "batch_size": 64, "buffer_size": 100_000, "gradient_steps": 128}
TUNED_PPO = {"batch_size": 256, "gae_lambda": 0.8, "n_epochs": 20}


def pole():
    import gymnasium

    return gymnasium.make("CartPole-v1")


def deep_q(env):
    from gnomon.decide import DQN
    from gnomon.solvers import LinearDecay

    return DQN(
        hidden_layer_sizes=(256, 256), learning_rate_init=2.3e-3, target_update=10, train_every=256, loss="huber",
        max_grad_norm=10.0, exploration=LinearDecay(1.0, 0.04, MOVES), n_steps=MOVES, random_state=0, **TUNED_DQN,
    ).fit(env)  # fmt: skip


def their_deep_q(env):
    from stable_baselines3 import DQN

    return DQN(
        "MlpPolicy", env, learning_rate=2.3e-3, target_update_interval=10, train_freq=256, exploration_fraction=1.0,
        exploration_final_eps=0.04, policy_kwargs={"net_arch": [256, 256]}, seed=0, device="cpu", **TUNED_DQN,
    ).learn(MOVES)  # fmt: skip


def proximal(env):
    from gnomon.decide import PPO

    return PPO(
        n_envs=8, steps_per_iteration=256, discount=0.98, learning_rate=1e-3, n_steps=MOVES, random_state=0, **TUNED_PPO
    ).fit(env)  # fmt: skip


def their_proximal(env):
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env("CartPole-v1", 8)
    return PPO(
        "MlpPolicy", envs, n_steps=32, gamma=0.98, learning_rate=1e-3, seed=0, device="cpu", **TUNED_PPO
    ).learn(MOVES)  # fmt: skip


def bandit_runs():
    from gnomon.decide import UCB1, Bandit

    means = np.linspace(0.1, 0.9, 10)
    return Bandit.bernoulli(means).run(UCB1(), 1000, n_runs=2000, random_state=0)


CASES = [
    Case(
        "value iteration, sparse",
        data=sparse_process,
        sizes=[1000, 2000, 5000],
        ours=planned("value_iteration", tol=1e-3),
        peers={"pymdptoolbox": toolbox("ValueIteration", epsilon=1e-3)},
        quality=policy_loss,
        tolerance=1.0,
        goal=500,
    ),
    Case(
        "modified policy iteration, sparse",
        data=sparse_process,
        sizes=[1000, 2000, 5000],
        ours=planned("modified_policy_iteration", tol=1e-3),
        peers={"pymdptoolbox": toolbox("PolicyIterationModified", epsilon=1e-3)},
        quality=policy_loss,
        tolerance=1.0,
        goal=500,
    ),
    Case(
        "policy iteration S=1000 A=4, dense",
        data=dense_process,
        ours=planned("policy_iteration"),
        peers={"pymdptoolbox": toolbox("PolicyIteration", dense=True)},
        quality=policy_loss,
        tolerance=1.0,
        goal=3,
    ),
    Case(
        "Q-learning, 100 000 moves, S=1000",
        data=partial(sparse_process, 1000),
        ours=q_learning,
        peers={"pymdptoolbox": toolbox_q},
        goal=500,
        note="exploration and learning rates differ: theirs are fixed",
    ),
    Case(
        "Q-learning, Taxi, 50 000 moves by Gymnasium",
        data=taxi,
        ours=q_in_env,
        peers={"numpy (plain loop)": plain_q},
        goal=2,
    ),
    Case(
        "Q-learning, Taxi, 50 000 moves by its table",
        data=taxi,
        ours=q_in_table,
        peers={"numpy (plain loop)": plain_q},
        goal=20,
    ),
    Case(
        "value iteration and its sparse products, A=2",
        data=counted("value_iteration"),
        sizes=[5_000, 100_000, 1_000_000],
        ours=planned("value_iteration", tol=1e-3),
        floors={"scipy (its sparse products)": products},
        goal=0.5,
    ),
    Case(
        "modified policy iteration and its sparse products, A=2",
        data=counted("modified_policy_iteration"),
        sizes=[5_000, 100_000, 1_000_000],
        ours=planned("modified_policy_iteration", tol=1e-3),
        floors={"scipy (its sparse products)": products},
        goal=0.5,
    ),
    Case(
        "DQN, CartPole, 5000 moves, tuned settings",
        data=pole,
        ours=deep_q,
        peers={"stable-baselines3": their_deep_q},
        goal=1.5,
    ),
    Case(
        "PPO, CartPole, 5000 moves, tuned settings",
        data=pole,
        ours=proximal,
        peers={"stable-baselines3": their_proximal},
        goal=1.5,
        note="our batches are whole episodes",
    ),
    Case("UCB1, 10 arms, 1000 steps, 2000 runs", ours=bandit_runs),
]
