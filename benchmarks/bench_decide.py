"""Decisions against pymdptoolbox and plain Python loops: plans of the same process, the same number of moves."""

from __future__ import annotations

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
        model = getattr(theirs, name)(P, mdp.expected_rewards_, mdp.discount, skip_check=True, **options)
        model.run()
        return model

    return plan


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
    model = theirs.QLearning(P, mdp.expected_rewards_, 0.99, n_iter=100_000, skip_check=True)
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
        data=lambda: sparse_process(1000),
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
    Case("UCB1, 10 arms, 1000 steps, 2000 runs", ours=bandit_runs),
]
