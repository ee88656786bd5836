"""Proximal policy optimization: an actor and its critic."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from gnomon.core.errors import WorldError
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.decide.batches import Batch, Work, advantages, play_batch
from gnomon.decide.climbing import Climb, PolicyClimber, check_finite
from gnomon.decide.evaluation import softmax
from gnomon.decide.networks import (
    import_torch,
    one_torch_thread,
)
from gnomon.decide.planners import DISCOUNT


class PPO(PolicyClimber):
    r"""Proximal policy optimization: actor and critic, several passes over every batch (Schulman et al. 2017).

    .. math:: \max_\theta\ \mathbb{E}\big[\min(\rho A,\ \mathrm{clip}(\rho, 1-\epsilon, 1+\epsilon) A)\big],
        \qquad \rho = \pi_\theta(a|s)/\pi_{old}(a|s)

    A are generalized advantage estimates from a learned V. ``clip=None`` with ``n_epochs=1`` is the plain advantage
    actor–critic. Batches are
    made of whole episodes, so that a fit resumes to the same bits. Needs PyTorch.

    Parameters
    ----------
    hidden_layer_sizes, activation
        Of both networks.
    discount, gae_lambda : float
        γ, and λ of the advantages.
    learning_rate : float or Schedule
        A schedule counts iterations.
    clip : float, optional
        ε.
    n_epochs, batch_size : int
        Passes over a batch, and moves an update.
    steps_per_iteration : int
        Moves gathered, at least, before an update; running episodes are finished.
    n_steps : int
        Moves in all; the last episodes are cut off there.
    n_envs : int
        Environments played side by side.
    value_weight, entropy_bonus : float
    max_grad_norm : float
    max_steps : int
        Moves an episode.
    random_state : int, Generator or None

    Attributes
    ----------
    policy_ : NetworkPolicy
        Takes the likeliest action; ``policy_.stochastic = True`` draws.
    weights_, critic_weights_ : lists of arrays
    returns_, trace_, n_steps_

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> agent = PPO(n_steps=3000, steps_per_iteration=300, random_state=0)
    >>> agent.fit(GridWorld.small(start=(2, 0)))  # doctest: +SKIP
    PPO(n_steps=3000, random_state=0, steps_per_iteration=300)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like"],
        "discount": [DISCOUNT],
        "activation": [StrOptions({"relu", "tanh"})],
        "learning_rate": [POSITIVE, callable],
        "gae_lambda": [Interval(Real, 0, 1, closed="both")],
        "clip": [POSITIVE, None],
        "n_epochs": [COUNT],
        "batch_size": [COUNT],
        "steps_per_iteration": [COUNT],
        "n_steps": [COUNT],
        "n_envs": [Interval(Integral, 1, None, closed="left")],
        "value_weight": [NOT_NEGATIVE],
        "entropy_bonus": [NOT_NEGATIVE],
        "max_grad_norm": [POSITIVE],
        "max_steps": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        hidden_layer_sizes: tuple[int, ...] = (64, 64),
        activation: str = "tanh",
        discount: float = 0.99,
        gae_lambda: float = 0.95,
        learning_rate: Any = 3e-4,
        clip: float | None = 0.2,
        n_epochs: int = 10,
        batch_size: int = 64,
        steps_per_iteration: int = 2048,
        n_steps: int = 100_000,
        n_envs: int = 1,
        value_weight: float = 0.5,
        entropy_bonus: float = 0.0,
        max_grad_norm: float = 0.5,
        max_steps: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes, self.activation, self.discount = hidden_layer_sizes, activation, discount
        self.gae_lambda, self.learning_rate, self.clip = gae_lambda, learning_rate, clip
        self.n_epochs, self.batch_size, self.steps_per_iteration = n_epochs, batch_size, steps_per_iteration
        self.n_steps, self.n_envs, self.value_weight, self.entropy_bonus = (
            n_steps,
            n_envs,
            value_weight,
            entropy_bonus,
        )
        self.max_grad_norm, self.max_steps, self.random_state = max_grad_norm, max_steps, random_state

    def _prepare(self, data: Any) -> Work:
        import_torch()
        return super()._prepare(data)

    def _rate(self, iteration: int) -> float:
        return (
            float(self.learning_rate(iteration))
            if callable(self.learning_rate)
            else float(self.learning_rate)
        )

    def _start(self, work: Work, rng: Any) -> Climb:
        return self._fresh(work, draw_seed(rng))

    def _fresh(self, work: Work, seed: int) -> Climb:
        return self._nets(work.sight, work.n_actions, seed, True, "adam-ppo", self._rate(0))

    def _enough(self, state: Any) -> bool:
        return bool(state.steps >= int(self.n_steps))

    def _step(self, work: Work, state: Climb) -> tuple[Climb, Report]:
        try:
            with one_torch_thread():
                left = int(self.n_steps) - state.steps
                batch = play_batch(
                    work,
                    lambda seen: softmax(state.policy.numbers(seen)),
                    state.seed,
                    state.episode,
                    self.max_steps,
                    min(int(self.steps_per_iteration), left),
                    None,
                    left,
                )
                losses, entropy = self._improve(state, batch)
        except WorldError as error:
            error.state = state
            raise
        return self._told(batch, state, loss=losses, entropy=entropy)

    def _improve(self, state: Climb, batch: Batch) -> tuple[float, float]:
        torch = import_torch()
        values = state.critic.numbers(batch.seen)[:, 0]
        gain = advantages(
            batch, values, state.critic.numbers(batch.last)[:, 0], self.discount, self.gae_lambda
        )
        dtype = batch.seen.dtype
        goal = torch.from_numpy((gain + values).astype(dtype))
        seen, actions = torch.from_numpy(batch.seen), torch.from_numpy(batch.actions)[:, None]
        chances = softmax(state.policy.numbers(batch.seen))[np.arange(len(gain)), batch.actions]
        old = torch.from_numpy(np.log(np.maximum(chances, np.finfo(dtype).tiny)))
        A = torch.from_numpy(gain.astype(dtype))
        for group in state.optimizer.param_groups:
            group["lr"] = self._rate(state.iteration)
        told, entropies = [], []
        for _ in range(int(self.n_epochs)):
            order = state.rng.permutation(len(gain))
            for begin in range(0, len(order), int(self.batch_size)):
                which = torch.from_numpy(order[begin : begin + int(self.batch_size)])
                loss, entropy = self._update(
                    state, seen[which], actions[which], old[which], A[which], goal[which]
                )
                told.append(loss)
                entropies.append(entropy)
        check_finite(float(np.mean(told)), state.iteration)
        return float(np.mean(told)), float(np.mean(entropies))

    def _update(
        self, state: Climb, seen: Any, actions: Any, old: Any, A: Any, goal: Any
    ) -> tuple[float, float]:
        torch = import_torch()
        logs = torch.log_softmax(state.policy(seen), dim=1)
        taken = logs.gather(1, actions)[:, 0]
        if len(A) > 1:
            A = (A - A.mean()) / (A.std() + 1e-8)
        if self.clip is None:
            gain = taken * A
        else:
            ratio = torch.exp(taken - old)
            gain = torch.minimum(ratio * A, torch.clamp(ratio, 1.0 - self.clip, 1.0 + self.clip) * A)
        entropy = -(logs.exp() * logs).sum(dim=1).mean()
        off = ((goal - state.critic(seen)[:, 0]) ** 2).mean()
        loss = -gain.mean() + self.value_weight * off - self.entropy_bonus * entropy
        state.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*state.policy.tensors, *state.critic.tensors], self.max_grad_norm)
        state.optimizer.step()
        return float(loss.detach()), float(entropy.detach())

    def _attributes(self, state: Climb) -> dict[str, Any]:
        return super()._attributes(state) | {"critic_weights_": state.critic.weights()}
