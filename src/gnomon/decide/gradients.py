"""Policy gradients: policies climbed directly, by whole returns or with a critic."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, DivergenceError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.core.watching import Run
from gnomon.core.world import Process
from gnomon.decide import environments as play
from gnomon.decide.evaluation import policy_gradient, softmax
from gnomon.decide.networks import (
    Net,
    NetworkPolicy,
    Sight,
    first_weights,
    import_torch,
    listed,
    make_optimizer,
    one_torch_thread,
    optimizer_arrays,
    restore_optimizer,
    sight_of,
    single_envs,
    unvectored,
)
from gnomon.decide.planners import DISCOUNT, check_states, one_world
from gnomon.decide.policies import Policy
from gnomon.decide.tabular import Agent, episode_keys


class Batch(NamedTuple):
    """Whole episodes, laid end to end."""

    seen: Array  # (n, d)
    actions: Array
    rewards: Array
    begins: Array  # where episodes begin, with the end last
    last: Array  # (episodes, d): what was seen at the end
    terminated: Array  # (episodes,)

    def returns(self) -> Array:
        """Return the sum of rewards of every episode."""
        return np.add.reduceat(self.rewards, self.begins[:-1])


class Work(NamedTuple):
    """Where the agent acts, and how it sees."""

    world: Any
    envs: list[Any]
    sight: Sight
    n_actions: int


class Runner:
    """An episode under way."""

    def __init__(self, env: Any, sight: Sight, seed: int, episode: int) -> None:
        reset, key = episode_keys(seed, episode)
        self.env, self.sight, self.draws, self.episode = env, sight, play.Stream(key), episode
        self.seen = [sight.vector(play.reset(env, reset))]
        self.actions: list[int] = []
        self.rewards: list[float] = []
        self.terminated = False

    def move(self, chances: Array, max_steps: int) -> bool:
        """Act once; return whether the episode is over."""
        a = int(min((np.cumsum(chances) <= self.draws.random()).sum(), len(chances) - 1))
        shown, reward, self.terminated, truncated = play.step(self.env, a)
        self.seen.append(self.sight.vector(shown))
        self.actions.append(a)
        self.rewards.append(reward)
        return self.terminated or truncated or len(self.actions) >= max_steps


def play_batch(
    work: Work,
    chances: Any,
    seed: int,
    first: int,
    max_steps: int,
    n_steps: int | None,
    n_episodes: int | None,
) -> Batch:
    """Play whole episodes side by side until there are enough moves or episodes."""
    done: list[Runner] = []
    running: list[Runner] = []
    free, following, made = list(work.envs), first, 0

    def wanted() -> bool:
        if n_episodes is not None:
            return following < first + n_episodes
        return made + sum(len(one.actions) for one in running) < (n_steps or 1)

    while True:
        while free and wanted():
            running.append(Runner(free.pop(), work.sight, seed, following))
            following += 1
        if not running:
            break
        table = chances(np.array([one.seen[-1] for one in running]))
        still = []
        for one, row in zip(running, table, strict=True):
            if one.move(row, max_steps):
                done.append(one)
                free.append(one.env)
                made += len(one.actions)
            else:
                still.append(one)
        running = still
    done.sort(key=lambda one: one.episode)
    begins = np.concatenate([[0], np.cumsum([len(one.actions) for one in done])])
    return Batch(
        np.concatenate([one.seen[:-1] for one in done]),
        np.concatenate([one.actions for one in done]),
        np.concatenate([one.rewards for one in done]),
        begins,
        np.array([one.seen[-1] for one in done]),
        np.array([one.terminated for one in done]),
    )


def returns_to_go(batch: Batch, discount: float) -> Array:
    """Return the discounted return from every step on; nothing follows the end of an episode."""
    out = np.empty(len(batch.rewards))
    for i, j in zip(batch.begins[:-1], batch.begins[1:], strict=True):
        total = 0.0
        for t in range(j - 1, i - 1, -1):
            total = batch.rewards[t] + discount * total
            out[t] = total
    return out


def advantages(batch: Batch, values: Array, last: Array, discount: float, decay: float) -> Array:
    """Return generalized advantage estimates (Schulman et al. 2016); `last` are values of the last observations."""
    out = np.empty(len(batch.rewards))
    for e, (i, j) in enumerate(zip(batch.begins[:-1], batch.begins[1:], strict=True)):
        after, total = 0.0 if batch.terminated[e] else last[e], 0.0
        for t in range(j - 1, i - 1, -1):
            off = batch.rewards[t] + discount * after - values[t]
            total = off + discount * decay * total
            out[t] = total
            after = values[t]
    return out


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
            first_weights([sight.size, *hidden, A], rng, bias_first=bias, last_gain=0.01),
            self.activation,
            bias_first=bias,
        )
        judge = None
        if critic:
            judge = Net(
                first_weights([sight.size, *hidden, 1], rng, bias_first=bias, last_gain=1.0),
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
        sight = Sight(d, 0 if state.policy.bias_first else d)
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

    def _fresh(self, work: Work, seed: int) -> Climb:
        raise NotImplementedError


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
        _check_finite(float(loss.detach()), state.iteration)
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

    def _snapshot(self, state: Any) -> Any:
        return state if isinstance(state, Table) else (*super()._snapshot(state), state.mean)

    def _restore(self, work: Work, snapshot: Any) -> Any:
        if isinstance(snapshot, Table):
            return snapshot
        state = super()._restore(work, snapshot[:-1])
        state.mean = snapshot[-1]
        return state


def _check_finite(loss: float, iteration: int) -> None:
    if not np.isfinite(loss):
        raise DivergenceError(
            f"the loss of the network is {loss} at iteration {iteration + 1}; lower the learning rate."
        )


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
        Moves in all.
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
                wanted = min(int(self.steps_per_iteration), int(self.n_steps) - state.steps)
                batch = play_batch(
                    work,
                    lambda seen: softmax(state.policy.numbers(seen)),
                    state.seed,
                    state.episode,
                    self.max_steps,
                    wanted,
                    None,
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
        goal = torch.from_numpy(gain + values)
        seen, actions = torch.from_numpy(batch.seen), torch.from_numpy(batch.actions)[:, None]
        chances = softmax(state.policy.numbers(batch.seen))[np.arange(len(gain)), batch.actions]
        old, A = torch.from_numpy(np.log(np.maximum(chances, 1e-300))), torch.from_numpy(gain)
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
        _check_finite(float(np.mean(told)), state.iteration)
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
