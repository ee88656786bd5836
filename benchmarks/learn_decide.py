"""How well agents with networks learn: the mean return of a hundred episodes after a fit, seed by seed.

    PYTHONPATH=src python benchmarks/learn_decide.py                  # CartPole by DQN and PPO, three seeds each
    PYTHONPATH=src python benchmarks/learn_decide.py lander --seeds 0 # LunarLander by PPO; needs Box2D

Needs torch and Gymnasium. The moves are those of the tuned settings that Stable-Baselines3's users share: 50,000 for
DQN and 100,000 for PPO on CartPole (at least 475 of 500 counts as solved), 1,000,000 for PPO on LunarLander (200).
"""

from __future__ import annotations

import argparse
import time
import warnings

import gymnasium

from gnomon.decide import DQN, PPO
from gnomon.solvers import LinearDecay


class LateDecay:
    """A rate that is constant, and falls to nothing over the last steps."""

    def __init__(self, rate, steps, span):
        self.rate, self.steps, self.span = rate, steps, span

    def __call__(self, step):
        return self.rate * max(min(1.0, (self.steps - step) / self.span), 1e-6)


def deep_q(seed):
    return DQN(
        hidden_layer_sizes=(256, 256), learning_rate_init=LateDecay(1e-3, 50_000, 20_000), loss="huber",
        max_grad_norm=10.0, batch_size=128, buffer_size=100_000, learning_starts=1000, train_every=256,
        gradient_steps=128, target_update=10, exploration=LinearDecay(1.0, 0.04, 8000), n_steps=50_000,
        random_state=seed,
    )  # fmt: skip


def proximal(seed):
    return PPO(
        n_envs=8, steps_per_iteration=256, batch_size=256, n_epochs=20, discount=0.98, gae_lambda=0.8,
        learning_rate=LinearDecay(1e-3, 1e-5, 200), n_steps=100_000, random_state=seed,
    )  # fmt: skip


def lander(seed):
    return PPO(
        n_envs=16, steps_per_iteration=16_384, batch_size=64, n_epochs=4, discount=0.999, gae_lambda=0.98,
        entropy_bonus=0.01, n_steps=1_000_000, random_state=seed,
    )  # fmt: skip


TASKS = {
    "dqn": ("CartPole-v1", deep_q, 475),
    "ppo": ("CartPole-v1", proximal, 475),
    "lander": ("LunarLander-v3", lander, 200),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*", choices=list(TASKS), default=["dqn", "ppo"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'task':<8}{'seed':>5}{'mean return':>13}{'95% interval':>20}{'moves':>10}{'seconds':>9}")
    for task in given.tasks:
        name, make, bar = TASKS[task]
        for seed in given.seeds:
            begin = time.perf_counter()
            agent = make(seed).fit(gymnasium.make(name))
            seconds = time.perf_counter() - begin
            found = agent.policy_.evaluate(gymnasium.make(name), 100, random_state=1)
            word = "" if found.mean >= bar else f"  below {bar}"
            interval = f"{found.low:.1f} to {found.high:.1f}"
            print(
                f"{task:<8}{seed:>5}{found.mean:>13.1f}{interval:>20}{agent.n_steps_:>10}{seconds:>9.0f}{word}",
                flush=True,
            )


if __name__ == "__main__":
    main()
