"""Deep Q-networks: action values by a network, for states that cannot be numbered."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, DivergenceError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.core.watching import Run
from gnomon.decide import environments as play
from gnomon.decide.logs import Log, check_log, read_log
from gnomon.decide.networks import (
    Net,
    NetworkPolicy,
    Sight,
    check_fitted_network,
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
from gnomon.decide.planners import DISCOUNT
from gnomon.decide.replay import Replay
from gnomon.decide.tabular import Agent, Played, episode_keys, report_of
from gnomon.solvers.schedules import LinearDecay

WHOLE = Interval(Integral, 0, None, closed="left")


class Learning:
    """Everything that changes while a network learns."""

    def __init__(self, net: Net, target: Net, optimizer: Any, replay: Replay, seed: int, rng: Any) -> None:
        self.net, self.target, self.optimizer, self.replay = net, target, optimizer, replay
        self.seed, self.rng = seed, rng
        self.steps = self.episode = self.updates = 0


class Work(NamedTuple):
    """Where the agent acts, and how it sees."""

    world: Any
    env: Any
    sight: Sight
    n_actions: int


class DQN(Agent):
    r"""Deep Q-network: one network gives the values of all actions (Mnih et al. 2015).

    .. math:: \min_w\ \tfrac12 \big[ r + \gamma \max_{a'} Q(s', a'; w^-) - Q(s, a; w) \big]^2

    Moves are drawn at random from a memory of the last ones; the target uses an older copy w⁻ of the weights.
    Networks can diverge where
    tables converge: watch ``trace_["return"]``, over several seeds (`compare_agents`). Needs PyTorch.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Empty is a linear model; over numbered states it is the table of `QLearning`.
    activation : {"relu", "tanh"}
    discount : float
        γ.
    learning_rate_init : float or Schedule
        A schedule counts moves; one that fades to zero lets the last policy settle.
    solver : {"adam", "sgd"}
    loss : {"squared", "huber"}
    batch_size, buffer_size : int
        Moves an update, moves remembered.
    learning_starts : int
        Moves before the first update.
    train_every, gradient_steps : int
        After every so many moves, so many updates.
    target_update : int
        Moves between copies of the weights; 0 uses the weights themselves.
    double : bool
        The network chooses the next action, the copy judges it (van Hasselt et al. 2016).
    dueling : bool
        Q = V + A − mean A from two heads (Wang et al. 2016).
    exploration : float or Schedule
        ε, as a function of the moves made.
    max_grad_norm : float, optional
        Longer gradients are shortened to it.
    n_steps, max_steps : int
        Moves in all, moves an episode.
    random_state : int, Generator or None

    Attributes
    ----------
    policy_ : NetworkPolicy
    weights_ : list of arrays
    returns_, lengths_, trace_, n_steps_

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agent = DQN(
    ...     hidden_layer_sizes=(),
    ...     discount=0.9,
    ...     learning_rate_init=0.05,
    ...     n_steps=1500,
    ...     learning_starts=50,
    ...     random_state=0,
    ... ).fit(grid)  # doctest: +SKIP
    >>> agent.policy_.act(0)  # doctest: +SKIP
    1
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like"],
        "discount": [DISCOUNT],
        "exploration": [DISCOUNT, callable, None],
        "activation": [StrOptions({"relu", "tanh"})],
        "learning_rate_init": [POSITIVE, callable],
        "solver": [StrOptions({"adam", "sgd"})],
        "loss": [StrOptions({"squared", "huber"})],
        "batch_size": [COUNT],
        "buffer_size": [COUNT],
        "learning_starts": [WHOLE],
        "train_every": [COUNT],
        "gradient_steps": [COUNT],
        "target_update": [WHOLE],
        "double": ["boolean"],
        "dueling": ["boolean"],
        "max_grad_norm": [POSITIVE, None],
        "n_steps": [COUNT],
        "max_steps": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        hidden_layer_sizes: tuple[int, ...] = (64, 64),
        activation: str = "relu",
        discount: float = 0.99,
        learning_rate_init: Any = 1e-3,
        solver: str = "adam",
        loss: str = "squared",
        batch_size: int = 64,
        buffer_size: int = 50_000,
        learning_starts: int = 1000,
        train_every: int = 1,
        gradient_steps: int = 1,
        target_update: int = 500,
        double: bool = False,
        dueling: bool = False,
        exploration: Any = None,
        max_grad_norm: float | None = None,
        n_steps: int = 50_000,
        max_steps: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes, self.activation, self.discount = hidden_layer_sizes, activation, discount
        self.learning_rate_init, self.solver, self.loss = learning_rate_init, solver, loss
        self.batch_size, self.buffer_size, self.learning_starts = batch_size, buffer_size, learning_starts
        self.train_every, self.gradient_steps, self.target_update = train_every, gradient_steps, target_update
        self.double, self.dueling, self.exploration, self.max_grad_norm = (
            double,
            dueling,
            exploration,
            max_grad_norm,
        )
        self.n_steps, self.max_steps, self.random_state = n_steps, max_steps, random_state

    # the loop

    def _prepare(self, data: Any) -> Work:
        import_torch()
        world = unvectored(data)
        if self.dueling and not len(self.hidden_layer_sizes):
            raise DataError("dueling needs at least one hidden layer.")
        return Work(world, single_envs(world, 1)[0], sight_of(world), world.n_actions)

    def _start(self, work: Work, rng: Any) -> Learning:
        return self._new(work.sight, work.n_actions, draw_seed(rng))

    def _new(self, sight: Sight, A: int, seed: int) -> Learning:
        rng = np.random.Generator(np.random.PCG64(seed))
        outputs = A + 1 if self.dueling else A
        sizes = [sight.size, *(int(h) for h in self.hidden_layer_sizes), outputs]
        bias = not sight.n
        weights = first_weights(sizes, rng, bias_first=bias, dtype=sight.dtype)
        net, target = (Net(weights, self.activation, dueling=self.dueling, bias_first=bias) for _ in range(2))
        optimizer = make_optimizer(self.solver, net.tensors, self._rate(0))
        replay = Replay(int(self.buffer_size), sight.size, sight.dtype)
        return Learning(net, target, optimizer, replay, seed, rng)

    def _rate(self, step: int) -> float:
        rule = self.learning_rate_init
        return float(rule(step)) if callable(rule) else float(rule)

    def _epsilon(self, step: int) -> float:
        rule = LinearDecay(1.0, 0.05, 10_000) if self.exploration is None else self.exploration
        epsilon = float(rule(step)) if callable(rule) else float(rule)
        if not 0.0 <= epsilon <= 1.0:
            raise DataError(f"exploration is {epsilon} at step {step}; it must stay between 0 and 1.")
        return epsilon

    def _step(self, work: Work, state: Learning) -> tuple[Learning, Report]:
        try:
            with one_torch_thread():
                played, losses = self._episode(work, state)
        except WorldError as error:
            error.state = state
            raise
        state.episode += 1
        loss = float(np.mean(losses)) if losses else float("nan")
        done = state.steps >= int(self.n_steps)
        return state, report_of(played, done, loss=loss, epsilon=self._epsilon(state.steps))

    def _episode(self, work: Work, state: Learning) -> tuple[Played, list[float]]:
        seed, key = episode_keys(state.seed, state.episode)
        draws, sight = play.Stream(key), work.sight
        seen = sight.vector(play.reset(work.env, seed))
        limit = min(int(self.max_steps), int(self.n_steps) - state.steps)
        total, losses = 0.0, []
        for t in range(limit):
            a = self._choose(state, seen, work.n_actions, draws)
            shown, reward, terminated, truncated = play.step(work.env, a)
            then = sight.vector(shown)
            state.replay.add(seen, a, reward, then, terminated)
            state.steps += 1
            total += reward
            losses += self._train(state)
            seen = then
            if terminated or truncated:
                return Played(total, t + 1, not terminated), losses
        return Played(total, limit, True), losses

    def _choose(self, state: Learning, seen: Array, A: int, draws: Any) -> int:
        if draws.random() < self._epsilon(state.steps):
            return int(draws.random() * A)
        return int(state.net.numbers(seen).argmax())

    def _train(self, state: Learning) -> list[float]:
        losses = []
        if state.steps >= max(int(self.learning_starts), 1) and state.steps % int(self.train_every) == 0:
            n = state.replay.count
            for group in state.optimizer.param_groups:
                group["lr"] = self._rate(state.steps)
            for _ in range(int(self.gradient_steps)):
                if n == 1:
                    which = np.zeros(int(self.batch_size), dtype=np.int64)
                else:
                    which = state.rng.integers(0, n, size=int(self.batch_size))
                losses.append(self._update(state, which))
        if self.target_update and state.steps % int(self.target_update) == 0:
            state.target.copy_from(state.net)
        return losses

    def _update(self, state: Learning, which: Array) -> float:
        torch = import_torch()
        replay, net = state.replay, state.net
        judge = state.target if self.target_update else net
        then = replay.then[which]
        values = judge.numbers(then)
        if self.double and self.target_update:
            best = net.numbers(then).argmax(axis=1)
            after = values[np.arange(len(which)), best]
        else:
            after = values.max(axis=1)
        goal = torch.from_numpy(
            replay.rewards[which] + float(self.discount) * (1.0 - replay.over[which]) * after
        )
        q = net(torch.from_numpy(replay.seen[which]))
        taken = q.gather(1, torch.from_numpy(replay.actions[which])[:, None])[:, 0]
        if self.loss == "huber":
            loss = torch.nn.functional.smooth_l1_loss(taken, goal)
        else:
            loss = 0.5 * ((goal - taken) ** 2).mean()
        state.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(net.tensors, self.max_grad_norm)
        state.optimizer.step()
        state.updates += 1
        told = float(loss.detach())
        if not np.isfinite(told):
            raise DivergenceError(
                f"the loss of the network is {told} at step {state.steps}; lower learning_rate_init."
            )
        return told

    # results

    def _attributes(self, state: Learning) -> dict[str, Any]:
        weights = state.net.weights()
        width = state.replay.seen.shape[1]
        sight = Sight(width, 0 if state.net.bias_first else width, dtype=str(weights[0].dtype))
        policy = NetworkPolicy(
            weights, sight, self.activation, dueling=self.dueling, bias_first=state.net.bias_first
        )
        return {"policy_": policy, "weights_": weights, "n_steps_": state.steps, "n_updates_": state.updates}

    def _keep(self, run: Run, data: Any) -> None:
        super()._keep(run, data)
        sizes = getattr(unvectored(data), "sizes", None) if self.policy_.sight.n else None
        self.policy_.sight = self.policy_.sight._replace(sizes=sizes)

    def q_values(self, observations: Any) -> Array:
        """Return the action values of observations, one a row; an MDP stands for all of its states."""
        check_is_fitted(self)
        return np.array([self.policy_.outputs(one) for one in listed(observations, self.policy_.sight)])

    def predict(self, observations: Any) -> Array:
        """Return the best action of every observation."""
        return self.q_values(observations).argmax(axis=1)

    def learn_from(self, transitions: Any, n_states: int, n_actions: int) -> Self:
        """Learn from logged moves between numbered states, one update after every `train_every` of them, in their
        order.
        """
        check_parameters(self)
        log = read_log(transitions)
        check_log(log, n_states, n_actions)
        sight = Sight(n_states, n_states)
        state = self._new(sight, n_actions, draw_seed(generator(self.random_state)))
        with one_torch_thread():
            for i in range(len(log["state"])):
                seen, then = sight.vector(log["state"][i]), sight.vector(max(log["next_state"][i], 0))
                state.replay.add(
                    seen, int(log["action"][i]), float(log["reward"][i]), then, bool(log["terminated"][i])
                )
                state.steps += 1
                self._train(state)
        from gnomon.core.trace import Recorder

        self._keep(Run(state, Recorder(unit=self._unit).trace(), 0, False), Log(n_states, n_actions))
        return self

    def _check_loaded(self) -> None:
        check_fitted_network(self, int(bool(self.dueling)))

    # checkpoints

    def _snapshot(self, state: Learning) -> Any:
        return (
            state.net.weights(), state.target.weights(), optimizer_arrays(state.optimizer), state.replay.tree(),
            state.seed, state.steps, state.episode, state.updates, state.rng.bit_generator.state,
        )  # fmt: skip

    def _restore(self, work: Work, snapshot: Any) -> Learning:
        net, target, optimizer, replay, seed, steps, episode, updates, rng = snapshot
        state = self._new(work.sight, work.n_actions, seed)
        for mine, theirs in ((state.net, net), (state.target, target)):
            for one, kept in zip(mine.arrays, theirs, strict=True):
                one[...] = kept
        restore_optimizer(state.optimizer, optimizer)
        state.replay.fill(replay)
        state.steps, state.episode, state.updates = steps, episode, updates
        state.rng.bit_generator.state = rng
        return state


__all__ = ["DQN", "NOT_NEGATIVE"]
