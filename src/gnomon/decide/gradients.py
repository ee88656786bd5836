"""REINFORCE: a policy climbed along the returns of whole episodes, or along the exact gradient."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ModelFileError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.core.world import Process
from gnomon.decide.batches import Work, play_batch, returns_to_go
from gnomon.decide.climbing import Climb, PolicyClimber, check_finite
from gnomon.decide.evaluation import policy_gradient, softmax
from gnomon.decide.networks import (
    import_torch,
    one_torch_thread,
)
from gnomon.decide.planners import DISCOUNT, check_states, one_world
from gnomon.decide.policies import Policy


class Table(NamedTuple):
    """A tabular policy being climbed."""

    logits: Array
    values: Array  # (S,) running values, of the baseline
    mean: float  # running mean return
    episode: int
    steps: int
    seed: int
    rate: float


class PolicyGradient(PolicyClimber):
    r"""REINFORCE: actions that were followed by more than expected become likelier (Williams 1992).

    .. math:: \theta \leftarrow \theta + \alpha \sum_t \gamma^t (G_t - b)\, \nabla \log \pi(a_t \mid s_t)

    The baseline b takes noise away and leaves the direction. In an MDP ``exact=True`` climbs the exact gradient,
    with steps that never
    lose. For hard problems use `PPO`, which makes more of every move.

    Parameters
    ----------
    parameterization : {"tabular", "network"}
        softmax(θ_s) for numbered states, or a network's logits (needs PyTorch).
    hidden_layer_sizes, activation
        Of the network.
    baseline : {"value", "mean", None}
        A learned V(s), the running mean return, or nothing.
    discount : float
    learning_rate : float
    n_iterations, episodes_per_iteration, max_steps : int
    exact : bool
    entropy_bonus : float
        Weight of the policy's entropy; above 0 it keeps exploring.
    random_state : int, Generator or None

    Attributes
    ----------
    policy_ : Policy or NetworkPolicy
    logits_ : (S, A) array
        Tabular.
    weights_ : list of arrays
        Of the network.
    returns_, trace_

    Examples
    --------
    >>> from gnomon.decide import MDP
    >>> mdp = MDP(
    ...     [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [1, 0]]],
    ...     [[0, -1], [2, 0]],
    ...     discount=0.9,
    ...     layout="sas",
    ...     start=0,
    ... )
    >>> agent = PolicyGradient(exact=True, discount=0.9, learning_rate=1.0, n_iterations=50).fit(mdp)
    >>> np.asarray(agent.policy_).argmax(axis=1), bool(agent.trace_["return"][-1] > 12)
    (array([1, 0]), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like"],
        "discount": [DISCOUNT],
        "parameterization": [StrOptions({"tabular", "network"})],
        "activation": [StrOptions({"relu", "tanh"})],
        "baseline": [StrOptions({"value", "mean"}), None],
        "learning_rate": [POSITIVE],
        "n_iterations": [COUNT],
        "episodes_per_iteration": [COUNT],
        "max_steps": [COUNT],
        "exact": ["boolean"],
        "entropy_bonus": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        parameterization: str = "tabular",
        hidden_layer_sizes: tuple[int, ...] = (64,),
        activation: str = "tanh",
        baseline: str | None = "value",
        discount: float = 0.99,
        learning_rate: float = 0.05,
        n_iterations: int = 500,
        episodes_per_iteration: int = 10,
        max_steps: int = 1000,
        exact: bool = False,
        entropy_bonus: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.parameterization, self.hidden_layer_sizes, self.activation = (
            parameterization,
            hidden_layer_sizes,
            activation,
        )
        self.baseline, self.discount, self.learning_rate = baseline, discount, learning_rate
        self.n_iterations, self.episodes_per_iteration, self.max_steps = (
            n_iterations,
            episodes_per_iteration,
            max_steps,
        )
        self.exact, self.entropy_bonus, self.random_state = exact, entropy_bonus, random_state

    def _limit(self) -> int:
        return int(self.n_iterations)

    def _prepare(self, data: Any) -> Any:
        if self.exact and not isinstance(data, Process):
            raise DataError("exact=True needs an MDP; with an environment leave it out.")
        if self.parameterization == "network":
            import_torch()
        return super()._prepare(data)

    def _start(self, work: Work, rng: Any) -> Any:
        seed = draw_seed(rng)
        if self.parameterization == "network" and not self.exact:
            return self._fresh(work, seed)
        S = work.world.n_states
        return Table(np.zeros((S, work.n_actions)), np.zeros(S), 0.0, 0, 0, seed, float(self.learning_rate))

    def _fresh(self, work: Work, seed: int) -> Climb:
        state = self._nets(
            work.sight, work.n_actions, seed, self.baseline == "value", "adam", self.learning_rate
        )
        state.mean = 0.0
        return state

    def _step(self, work: Work, state: Any) -> tuple[Any, Report]:
        try:
            if self.exact:
                return self._climb_exactly(work, state)
            if isinstance(state, Table):
                return self._climb_table(work, state)
            with one_torch_thread():
                return self._climb_network(work, state)
        except WorldError as error:
            error.state = state
            raise

    def _climb_exactly(self, work: Work, state: Table) -> tuple[Table, Report]:
        """A step along the exact gradient, halved until it gains."""
        mdp, rate = work.world, state.rate
        J, gradient = policy_gradient(mdp, state.logits, self.discount, mdp.start_)
        slope = float((gradient**2).sum())
        for _ in range(60):
            logits = state.logits + rate * gradient
            gained, _ = policy_gradient(mdp, logits, self.discount, mdp.start_)
            if gained >= J + 1e-4 * rate * slope:
                break
            rate /= 2
        else:
            logits, gained = state.logits, J
        return state._replace(logits=logits, rate=min(4 * rate, 1e6), episode=state.episode + 1), Report(
            None, info={"return": gained, "gradient_norm": float(np.sqrt(slope))}
        )

    def _climb_table(self, work: Work, state: Table) -> tuple[Table, Report]:
        allowed = (
            np.asarray(work.world.available)
            if isinstance(work.world, Process)
            else np.ones(state.logits.shape, bool)
        )
        table = softmax(np.where(allowed, state.logits, -np.inf))
        batch = play_batch(
            work,
            lambda seen: seen @ table,
            state.seed,
            state.episode,
            self.max_steps,
            None,
            self.episodes_per_iteration,
        )
        s, G = batch.seen.argmax(axis=1), returns_to_go(batch, self.discount)
        t = np.arange(len(s)) - np.repeat(batch.begins[:-1], np.diff(batch.begins))
        before = {"value": state.values[s], "mean": np.full(len(s), state.mean)}.get(
            self.baseline or "", np.zeros(len(s))
        )
        weight = self.discount**t * (G - before) / len(batch.terminated)
        gradient = np.zeros_like(table)
        np.add.at(gradient, (s, batch.actions), weight)
        gradient -= np.bincount(s, weight, minlength=len(table))[:, None] * table
        squares = weight**2 * (1 - 2 * table[s, batch.actions] + (table[s] ** 2).sum(axis=1))
        variance = squares.mean() - (gradient**2).sum() / len(s) ** 2  # of what a move adds to the gradient
        if self.entropy_bonus:
            logs = np.where(table > 0, np.log(np.where(table > 0, table, 1.0)), 0.0)
            gradient -= self.entropy_bonus * table * (logs - (table * logs).sum(axis=1, keepdims=True))
        values = state.values.copy()
        visits = np.bincount(s, minlength=len(values))
        means = np.bincount(s, G, minlength=len(values)) / np.maximum(visits, 1)
        values += np.where(visits > 0, 0.2 * (means - values), 0.0)
        fresh = state._replace(
            logits=state.logits + self.learning_rate * gradient,
            values=values,
            mean=state.mean + 0.1 * (float(G[batch.begins[:-1]].mean()) - state.mean),
            episode=state.episode + len(batch.terminated),
            steps=state.steps + len(s),
        )
        info = {
            "return": float(batch.returns().mean()),
            "length": float(np.diff(batch.begins).mean()),
            "variance": float(variance),
            "gradient_norm": float(np.sqrt((gradient**2).sum())),
        }
        return fresh, Report(None, info=info)

    def _climb_network(self, work: Work, state: Any) -> tuple[Any, Report]:
        torch = import_torch()
        batch = play_batch(
            work, lambda seen: softmax(state.policy.numbers(seen)), state.seed, state.episode, self.max_steps, None,
            self.episodes_per_iteration,
        )  # fmt: skip
        G = returns_to_go(batch, self.discount)
        if self.baseline == "value":
            before = state.critic.numbers(batch.seen)[:, 0]
        else:
            before = np.full(len(G), state.mean if self.baseline == "mean" else 0.0)
        state.mean += 0.1 * (float(G[batch.begins[:-1]].mean()) - state.mean)
        gain = G - before
        gain = (gain - gain.mean()) / (gain.std() + 1e-8) if self.baseline else gain
        gain, G = gain.astype(batch.seen.dtype), G.astype(batch.seen.dtype)
        seen = torch.from_numpy(batch.seen)
        logs = torch.log_softmax(state.policy(seen), dim=1)
        taken = logs.gather(1, torch.from_numpy(batch.actions)[:, None])[:, 0]
        entropy = -(logs.exp() * logs).sum(dim=1).mean()
        loss = -(taken * torch.from_numpy(gain)).mean() - self.entropy_bonus * entropy
        if state.critic is not None:
            loss = loss + 0.5 * ((torch.from_numpy(G) - state.critic(seen)[:, 0]) ** 2).mean()
        state.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        state.optimizer.step()
        check_finite(float(loss.detach()), state.iteration)
        return self._told(batch, state, entropy=float(entropy.detach()), variance=float(np.var(G - before)))

    def _attributes(self, state: Any) -> dict[str, Any]:
        if not isinstance(state, Table):
            return super()._attributes(state)
        return {
            "logits_": state.logits,
            "policy_": Policy(softmax(state.logits)),
            "baseline_": state.values,
            "n_steps_": state.steps,
            "n_episodes_": state.episode,
        }

    def predict_proba(self, observations: Any) -> Array:
        """Return the chances of the actions for every observation."""
        check_is_fitted(self)
        if hasattr(self, "logits_"):
            S = len(self.logits_)
            states = np.arange(S) if isinstance(one_world(observations), Process) else observations
            return self.policy_.table[np.atleast_1d(check_states(states, S))]
        return super().predict_proba(observations)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "logits_") and np.shape(self.logits_) != self.policy_.table.shape:
            raise ModelFileError("its logits do not fit its policy.")

    def _snapshot(self, state: Any) -> Any:
        return state if isinstance(state, Table) else (*super()._snapshot(state), state.mean)

    def _restore(self, work: Work, snapshot: Any) -> Any:
        if isinstance(snapshot, Table):
            return snapshot
        state = super()._restore(work, snapshot[:-1])
        state.mean = snapshot[-1]
        return state
