"""Agents with a model: count, plan, act; with optimism or by posterior sampling."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Report
from gnomon.core.validate import NOT_NEGATIVE, NUMBER
from gnomon.core.watching import Run
from gnomon.core.world import Process
from gnomon.decide import bellman
from gnomon.decide import environments as play
from gnomon.decide.behavior import BEHAVIORS, EpsilonGreedy, coded, coded_behavior
from gnomon.decide.counted import EmpiricalModel
from gnomon.decide.improvement import PolicyIteration
from gnomon.decide.policies import Policy
from gnomon.decide.process import MDP
from gnomon.decide.tabular import AGENT, Agent, Played, episode_keys, report_of, state_number, tabular_work
from gnomon.loops import agents, worlds
from gnomon.loops.agents import Memory, Rule

NEVER = np.iinfo(np.int64).max
ROOM = 4096  # moves written before the model counts them


class Learned(NamedTuple):
    """The state between episodes."""

    model: EmpiricalModel
    Q: Array
    steps: int
    episode: int
    seed: int
    replans: int
    planned_at: Array  # (S, A) visits when the plan was made


class Work(NamedTuple):
    """The world of a fit and the rule of behavior."""

    world: Any
    rule: Rule
    S: int
    A: int


class Counting(Agent):
    """What agents with a model share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = AGENT

    def _behavior(self) -> Any:
        return EpsilonGreedy(0.0)

    def _plan(self, work: Work, model: EmpiricalModel, Q: Array, seed: int) -> Array:
        """Return the action values to act on."""
        raise NotImplementedError

    def _when(self) -> Any:
        """When to plan anew: "episode", "doubling" or a number of moves."""
        return "episode"

    def _limits(self, visits: Array) -> Array:
        """Visits of pairs at which the plan is to be made anew."""
        if self._when() == "doubling":
            return np.maximum(2 * visits, 1)
        return np.full(visits.shape, NEVER)

    def _prepare(self, data: Any) -> Work:
        if not self.discount < 1.0 and not (isinstance(data, Process) and data._ends.any()):
            raise DataError("planning in a learned model needs a discount below 1.")
        world, S, A, available = tabular_work(data)
        behavior = coded_behavior(self._behavior(), S, A)
        rule = Rule(
            0, False, float(self.discount), 0.0, False, *coded(0.0, "learning_rate"),
            behavior.kind, *behavior.schedule, behavior.fixed, available,
        )  # fmt: skip
        return Work(world, rule, S, A)

    def _empty(self, S: int, A: int) -> EmpiricalModel:
        return EmpiricalModel(S, A)

    def _start(self, work: Work, rng: Any) -> Learned:
        model, seed = self._empty(work.S, work.A), draw_seed(rng)
        Q = self._plan(work, model, np.zeros((work.S, work.A)), seed)
        return Learned(model, Q, 0, 0, seed, 1, np.zeros((work.S, work.A), dtype=np.int64))

    def _step(self, work: Work, state: Learned) -> tuple[Learned, Report]:
        try:
            state, played = self._episode(work, state)
        except WorldError as error:
            error.state = state
            raise
        done = self.n_steps is not None and state.steps >= int(self.n_steps)
        return state, report_of(played, done, coverage=state.model.coverage_)

    def _episode(self, work: Work, state: Learned) -> tuple[Learned, Played]:
        seed, key = episode_keys(state.seed, state.episode)
        limit = int(self.max_steps)
        if self.n_steps is not None:
            limit = min(limit, int(self.n_steps) - state.steps)
        trip = Trip(work, seed, key, limit)
        total = 0.0
        when = self._when()
        room = when if isinstance(when, int) else ROOM
        while not trip.over:
            visits = state.model.visits_.astype(np.int64)
            moves, rewards = trip.go(state.Q, visits, self._limits(visits), room, state.steps)
            total += float(rewards.sum())
            more = state.model.empty()
            more._count(
                moves[:, 0] * work.A + moves[:, 1], np.maximum(moves[:, 2], 0), rewards, moves[:, 2] < 0
            )
            self._check(rewards)
            state = state._replace(model=state.model + more, steps=state.steps + len(rewards))
            if not trip.over and when != "episode" and (isinstance(when, int) or len(rewards) < room):
                state = self._replanned(work, state)
        state = state._replace(episode=state.episode + 1)
        if not isinstance(when, int):
            state = self._replanned(work, state)
        return state, Played(total, trip.t, not trip.ended)

    def _check(self, rewards: Array) -> None:
        pass

    def _replanned(self, work: Work, state: Learned) -> Learned:
        Q = self._plan(work, state.model, state.Q, state.seed + 7919 * (state.replans + 1))
        visits = state.model.visits_.astype(np.int64)
        return state._replace(Q=Q, replans=state.replans + 1, planned_at=visits)

    def _finish(self, work: Work, state: Learned) -> Learned:
        if np.array_equal(state.planned_at, state.model.visits_):
            return state
        return self._replanned(work, state)

    def _attributes(self, state: Learned) -> dict[str, Any]:
        return {
            "model_": state.model,
            "Q_": state.Q,
            "V_": state.Q.max(axis=1),
            "policy_": Policy(state.Q.argmax(axis=1)),
            "visits_": state.model.visits_,
            "coverage_": state.model.coverage_,
            "n_steps_": state.steps,
            "n_replans_": state.replans,
        }

    def _keep(self, run: Run, data: Any) -> None:
        super()._keep(run, data)
        self.policy_.numbered(getattr(data, "sizes", None))


class Trip:
    """One episode, acted in pieces."""

    def __init__(self, work: Work, seed: int, key: Any, limit: int) -> None:
        self.work, self.key, self.limit, self.t = work, key, limit, 0
        self.compiled, self.ended = isinstance(work.world, Process), False
        if self.compiled:
            self.stream = worlds.key_of(seed, 0)
            self.s = int(worlds.first_state(work.world._cumulative_start, worlds.draw(self.stream, 0)))
        else:
            self.s = state_number(work.world, play.reset(work.world.env, seed))
            self.cut = False

    @property
    def over(self) -> bool:
        """Whether the episode has come to its end."""
        return self.ended or self.t >= self.limit

    def go(self, Q: Array, visits: Array, limits: Array, room: int, steps: int) -> tuple[Array, Array]:
        """Act until something calls for a new plan; return the moves and rewards."""
        nothing = np.zeros(1, dtype=np.int64)
        memory = Memory(
            Q[None], visits, np.array([steps, 0, 0]), np.zeros(1), nothing, nothing, np.zeros(1), np.zeros((1, 1)),
            nothing, np.zeros(self.work.A),
        )  # fmt: skip
        room = min(room, self.limit - self.t)
        moves, rewards = np.empty((room, 3), dtype=np.int64), np.empty(room)
        if self.compiled:
            written, self.t, self.s, self.ended = agents.act_on(
                self.work.rule, memory, *self.work.world._sampler, self.stream, self.key, self.s, self.t, self.limit,
                limits, moves, rewards,
            )  # fmt: skip
        else:
            written = self._try_out(memory, limits, moves, rewards)
        return moves[:written], rewards[:written]

    def _try_out(self, memory: Memory, limits: Array, moves: Array, rewards: Array) -> int:
        written = 0
        world = self.work.world
        while self.t < self.limit and written < len(rewards):
            a = agents.choose(self.work.rule, memory, self.s, worlds.draw(self.key, self.t))
            seen, reward, terminated, truncated = play.step(world.env, a)
            to = state_number(world, seen)
            moves[written], rewards[written] = (self.s, a, -1 if terminated else to), reward
            written += 1
            self.t += 1
            memory.visits[self.s, a] += 1
            memory.counts[0] += 1
            if terminated:
                self.ended = True
                return written
            full = memory.visits[self.s, a] >= limits[self.s, a]
            self.s = to
            if truncated:
                self.limit = self.t
            if full:
                break
        return written


def planned(mdp: MDP, Q: Array, tol: float = 1e-6) -> Array:
    """Return the optimal action values of a process by modified policy iteration, begun at earlier ones."""
    planner = PolicyIteration(n_sweeps="auto", tol=tol)
    scale = max(1.0, float(np.abs(mdp.expected_rewards_).max()))
    planner.tol = tol * scale
    plan = planner._start(mdp, None)
    plan = plan._replace(value=np.where(np.isfinite(Q.max(axis=1)), Q.max(axis=1), 0.0))
    for _ in range(planner.max_iter):
        plan, report = planner._step(mdp, plan)
        if report.done:
            break
    middle = (plan.above + plan.below) / 2
    V = plan.best + (middle if np.isfinite(middle) else 0.0)
    return bellman.q_values(mdp, V, float(mdp.discount))


class ModelBased(Counting):
    r"""Count, plan, act: transition chances and rewards are estimated from moves and planned in.

    .. math:: \hat T(s,a,s') = N(s,a,s')/N(s,a), \qquad \hat\pi = \text{optimal in } (\hat T, \hat R)

    Needs far fewer moves than `QLearning`, at the price of planning. The plan is made by modified policy iteration
    from where the
    last one ended.

    Parameters
    ----------
    discount : float
        γ.
    exploration : float, Schedule, EpsilonGreedy, SoftmaxBehavior or Policy
    n_episodes, max_steps, n_steps
        As in `QLearning`.
    plan_every : "episode", "doubling" or int
        After every episode; when some pair's visits have doubled; after so many moves.
    prior_count, unvisited, default_reward
        As in `EmpiricalModel`.
    random_state : int, Generator or None

    Attributes
    ----------
    model_ : EmpiricalModel
    Q_, V_, policy_, visits_
        Of the last plan.
    coverage_ : float
        Share of the pairs seen; ``trace_["coverage"]`` tells how it grew.
    returns_, lengths_, n_replans_, trace_

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agent = ModelBased(discount=0.9, exploration=0.3, n_episodes=200, random_state=0).fit(grid)
    >>> print(grid.arrows(agent.policy_).split()[0])
    →→●
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AGENT,
        "exploration": BEHAVIORS,
        "default_reward": [NUMBER],
        "plan_every": [StrOptions({"episode", "doubling"}), Interval(Integral, 1, None, closed="left")],
        "prior_count": [NOT_NEGATIVE],
        "unvisited": [StrOptions({"uniform", "self_loop", "optimistic", "error"})],
    }

    def __init__(
        self,
        *,
        discount: float = 0.95,
        exploration: Any = 0.1,
        n_episodes: int = 100,
        max_steps: int = 1000,
        n_steps: int | None = None,
        plan_every: int | str = "episode",
        prior_count: float = 0.0,
        unvisited: str = "uniform",
        default_reward: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.discount, self.exploration = discount, exploration
        self.n_episodes, self.max_steps, self.n_steps, self.plan_every = (
            n_episodes,
            max_steps,
            n_steps,
            plan_every,
        )
        self.prior_count, self.unvisited, self.default_reward = prior_count, unvisited, default_reward
        self.random_state = random_state

    def _behavior(self) -> Any:
        return self.exploration

    def _when(self) -> Any:
        return self.plan_every

    def _empty(self, S: int, A: int) -> EmpiricalModel:
        return EmpiricalModel(
            S, A, prior_count=self.prior_count, unvisited=self.unvisited, default_reward=self.default_reward
        )

    def _plan(self, work: Work, model: EmpiricalModel, Q: Array, seed: int) -> Array:
        if model.unvisited == "error" and not model._n.any():
            return Q  # nothing was tried yet
        return planned(model.to_mdp(float(self.discount), work.rule.available.astype(bool)), Q)
