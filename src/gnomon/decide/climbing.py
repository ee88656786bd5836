"""What agents share that climb a policy given by a network."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DivergenceError
from gnomon.core.linalg import Array
from gnomon.core.steps import Report
from gnomon.core.watching import Run
from gnomon.decide.batches import Batch, Work
from gnomon.decide.networks import (
    Net,
    NetworkPolicy,
    Sight,
    check_fitted_network,
    first_weights,
    listed,
    make_optimizer,
    optimizer_arrays,
    restore_optimizer,
    sight_of,
    single_envs,
    unvectored,
)
from gnomon.decide.tabular import Agent


class Climb:
    """Everything that changes while a policy is climbed."""

    def __init__(self, policy: Net, critic: Net | None, optimizer: Any, seed: int, rng: Any) -> None:
        self.policy, self.critic, self.optimizer, self.seed, self.rng = policy, critic, optimizer, seed, rng
        self.episode = self.steps = self.iteration = 0


class PolicyClimber(Agent):
    """What agents share that climb a network's policy."""

    _unit: ClassVar[str] = "iteration"

    def _prepare(self, data: Any) -> Work:
        world = unvectored(data)
        vector = getattr(data, "env", None) if hasattr(getattr(data, "env", None), "envs") else None
        envs = (
            list(vector.envs) if vector is not None else single_envs(world, int(getattr(self, "n_envs", 1)))
        )
        return Work(world, envs, sight_of(world), world.n_actions)

    def _nets(self, sight: Sight, A: int, seed: int, critic: bool, solver: str, rate: float) -> Climb:
        rng = np.random.Generator(np.random.PCG64(seed))
        hidden, bias = [int(h) for h in self.hidden_layer_sizes], not sight.n
        policy = Net(
            first_weights([sight.size, *hidden, A], rng, bias_first=bias, last_gain=0.01, dtype=sight.dtype),
            self.activation,
            bias_first=bias,
        )
        judge = None
        if critic:
            judge = Net(
                first_weights(
                    [sight.size, *hidden, 1], rng, bias_first=bias, last_gain=1.0, dtype=sight.dtype
                ),
                self.activation,
                bias_first=bias,
            )
        tensors = [*policy.tensors, *(judge.tensors if judge else [])]
        return Climb(policy, judge, make_optimizer(solver, tensors, rate), seed, rng)

    def _told(self, batch: Batch, state: Any, **more: float) -> tuple[Any, Report]:
        lengths = np.diff(batch.begins)
        state.episode += len(lengths)
        state.steps += int(lengths.sum())
        state.iteration += 1
        info = {
            "return": float(batch.returns().mean()),
            "length": float(lengths.mean()),
            "episodes": float(len(lengths)),
        }
        return state, Report(None, info={**info, **more}, done=self._enough(state))

    def _enough(self, state: Any) -> bool:
        return False

    def _attributes(self, state: Any) -> dict[str, Any]:
        weights = state.policy.weights()
        d = weights[0].shape[1]
        sight = Sight(d, 0 if state.policy.bias_first else d, dtype=str(weights[0].dtype))
        policy = NetworkPolicy(weights, sight, self.activation, bias_first=state.policy.bias_first)
        return {"policy_": policy, "weights_": weights, "n_steps_": state.steps, "n_episodes_": state.episode}

    def _keep(self, run: Run, data: Any) -> None:
        super()._keep(run, data)
        if isinstance(self.policy_, NetworkPolicy):
            sizes = getattr(unvectored(data), "sizes", None) if self.policy_.sight.n else None
            self.policy_.sight = self.policy_.sight._replace(sizes=sizes)

    def predict_proba(self, observations: Any) -> Array:
        """Return the chances of the actions for every observation; an MDP stands for all of its states."""
        check_is_fitted(self)
        rows = listed(observations, self.policy_.sight)
        return np.array([self.policy_.probabilities(one) for one in rows])

    def predict(self, observations: Any) -> Array:
        """Return the likeliest action of every observation."""
        return self.predict_proba(observations).argmax(axis=1)

    def _snapshot(self, state: Any) -> Any:
        critic = None if state.critic is None else state.critic.weights()
        return (
            state.policy.weights(), critic, optimizer_arrays(state.optimizer), state.seed, state.episode, state.steps,
            state.iteration, state.rng.bit_generator.state,
        )  # fmt: skip

    def _restore(self, work: Work, snapshot: Any) -> Any:
        policy, critic, optimizer, seed, episode, steps, iteration, rng = snapshot
        state = self._fresh(work, seed)
        for net, kept in ((state.policy, policy), (state.critic, critic)):
            if net is not None:
                for one, values in zip(net.arrays, kept, strict=True):
                    one[...] = values
        restore_optimizer(state.optimizer, optimizer)
        state.episode, state.steps, state.iteration = episode, steps, iteration
        state.rng.bit_generator.state = rng
        return state

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_fitted_network(self)

    def _fresh(self, work: Work, seed: int) -> Climb:
        raise NotImplementedError


def check_finite(loss: float, iteration: int) -> None:
    """Stop when a loss has left the numbers."""
    if not np.isfinite(loss):
        raise DivergenceError(
            f"the loss of the network is {loss} at iteration {iteration + 1}; lower the learning rate."
        )
