"""Temporal differences: what Q-learning and Sarsa share, which is all but the target of an update."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gnomon.core.errors import DataError, ModelFileError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Report
from gnomon.core.trace import Recorder
from gnomon.core.validate import COUNT, NUMBER, warn
from gnomon.core.watching import Run
from gnomon.core.world import Process
from gnomon.decide import environments as play
from gnomon.decide.behavior import BEHAVIORS, coded, coded_behavior
from gnomon.decide.logs import Log, check_log, read_log
from gnomon.decide.planners import DISCOUNT
from gnomon.decide.tabular import (
    AGENT,
    Agent,
    Played,
    episode_keys,
    finished_policy,
    first_table,
    report_of,
    state_number,
    tabular_work,
)
from gnomon.loops import agents
from gnomon.loops.agents import Memory, Rule

METHODS = {"q": 0, "sarsa": 1, "expected": 2}


class Tables(NamedTuple):
    """The state between episodes."""

    Q: Array  # (2, S, A)
    visits: Array
    steps: int
    episode: int
    seed: int


class Work(NamedTuple):
    """The world of a fit and the rule by which it is learned."""

    world: Any
    rule: Rule
    S: int
    A: int


class TemporalDifference(Agent):
    """Q-learning and Sarsa: what they share."""

    _method: ClassVar[str] = "q"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AGENT,
        "learning_rate": [DISCOUNT, callable],
        "exploration": BEHAVIORS,
        "initial_q": [NUMBER, "array-like"],
        "double": ["boolean"],
        "n_step": [COUNT],
        "trace_decay": [Interval(Real, 0, 1, closed="both")],
        "replacing": ["boolean"],
    }

    def _code(self) -> int:
        return METHODS[self._method]

    def _prepare(self, data: Any) -> Work:
        if self.trace_decay > 0 and (self.n_step > 1 or self.double):
            raise DataError("trace_decay goes with n_step=1 and double=False; give one of them.")
        world, S, A, available = tabular_work(data)
        if self.discount == 1.0 and isinstance(world, Process) and not world._ends.any():
            warn(
                "discount is 1 and no episode ever ends: returns grow without limit. Give a discount below 1."
            )
        rate = coded(self.learning_rate, "learning_rate")
        behavior = coded_behavior(self.exploration, S, A)
        rule = Rule(
            self._code(), bool(self.double), float(self.discount), float(self.trace_decay), bool(self.replacing),
            *rate, behavior.kind, *behavior.schedule, behavior.fixed, available,
        )  # fmt: skip
        return Work(world, rule, S, A)

    def _start(self, work: Work, rng: Any) -> Tables:
        first = first_table(self.initial_q, work.S, work.A, work.rule.available)
        Q = np.stack([first, first])
        return Tables(Q, np.zeros((work.S, work.A), dtype=np.int64), 0, 0, draw_seed(rng))

    def _memory(self, work: Work, state: Tables) -> Memory:
        traced = work.rule.trace_decay > 0
        n, shape = int(self.n_step), (work.S, work.A)
        return Memory(
            state.Q.copy(), state.visits.copy(), np.array([state.steps, 0, 0]), np.zeros(1),
            np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n),
            np.zeros(shape if traced else (1, 1)), np.zeros(work.S * work.A if traced else 1, dtype=np.int64),
            np.zeros(work.A),
        )  # fmt: skip

    def _step(self, work: Work, state: Tables) -> tuple[Tables, Report]:
        memory = self._memory(work, state)
        limit = int(self.max_steps)
        if self.n_steps is not None:
            limit = min(limit, int(self.n_steps) - state.steps)
        try:
            played = self._play(work, memory, limit, *episode_keys(state.seed, state.episode))
        except WorldError as error:
            error.state = state
            raise
        steps = int(memory.counts[0])
        done = self.n_steps is not None and steps >= int(self.n_steps)
        errors = float(memory.sums[0]) / max(played.length, 1)
        if not np.isfinite(errors):
            raise WorldError(
                "the action values left the finite numbers; lower the learning rate or the discount."
            )
        fresh = Tables(memory.Q, memory.visits, steps, state.episode + 1, state.seed)
        return fresh, report_of(played, done, td_error=errors)

    def _play(self, work: Work, memory: Memory, limit: int, seed: int, key: Any) -> Played:
        if isinstance(work.world, Process):
            world = work.world
            return Played(
                *agents.learn_episode(
                    work.rule, memory, *world._sampler, world._cumulative_start, seed, key, limit
                )
            )
        return self._try_out(work, memory, limit, seed, key)

    def _try_out(self, work: Work, memory: Memory, limit: int, seed: int, key: Any) -> Played:
        """An episode in an environment, move by move."""
        world, env, total = work.world, work.world.env, 0.0
        told, paid = np.zeros(3, dtype=np.int64), np.zeros(1)
        told[0] = state_number(world, play.reset(env, seed))
        actions = agents.episode(work.rule, memory, key, told, paid)
        for t in range(limit):
            seen, reward, terminated, truncated = play.step(env, next(actions))
            told[0] = state_number(world, seen)
            total += reward
            paid[0] = reward
            if terminated or truncated or t == limit - 1:
                told[1], told[2] = terminated, True
                next(actions, None)  # learns from the last move
                return Played(total, t + 1, not terminated)
        return Played(total, limit, True)

    def _attributes(self, state: Tables) -> dict[str, Any]:
        Q = state.Q.mean(axis=0) if self.double else state.Q[0].copy()
        return {
            "Q_": Q,
            "V_": Q.max(axis=1),
            "policy_": finished_policy(None, Q),
            "visits_": state.visits,
            "tables_": state.Q,
            "n_steps_": state.steps,
            "episodes_": state.episode,
            "seed_": state.seed,
        }

    def _keep(self, run: Run, data: Any) -> None:
        super()._keep(run, data)
        self.policy_.numbered(getattr(data, "sizes", None))

    def _check_loaded(self) -> None:
        """Refuse tables that the compiled loops could not trust."""
        super()._check_loaded()
        if hasattr(self, "tables_"):
            shape = np.shape(self.visits_)
            if len(shape) != 2 or np.shape(self.tables_) != (2, *shape) or np.shape(self.Q_) != shape:
                raise ModelFileError("its tables of action values do not fit together.")

    def _state(self) -> Tables:
        return Tables(self.tables_, self.visits_, self.n_steps_, self.episodes_, self.seed_)

    def partial_fit(self, world: Any, n_episodes: int = 1) -> Self:
        """Go on learning for so many episodes, from where the agent stands.

        Parameters
        ----------
        world : MDP or Gymnasium environment
        n_episodes : int
        """
        data = self._read_world(world)
        work = self._prepare(data)
        fitted = hasattr(self, "tables_")
        state = (
            self._state() if fitted else self._start(work, stream(draw_seed(generator(self.random_state)), 0))
        )
        recorder = Recorder(self.trace_ if fitted else None, unit=self._unit)
        clock = time.perf_counter() - (recorder.seconds[-1] if recorder.seconds else 0.0)
        for _ in range(n_episodes):
            state, report = self._step(work, state)
            recorder.add(np.nan, time.perf_counter() - clock, None, report.info)
        self._keep(Run(state, recorder.trace(), len(recorder.objective), False), data)
        return self

    def learn_from(
        self, transitions: Any, *, n_states: int | None = None, n_actions: int | None = None
    ) -> Self:
        """Learn from logged moves, in their order, without a world.

        Parameters
        ----------
        transitions : sequence of tuples, structured array or DataFrame
            (state, action, reward, next_state[, next_action][, terminated]); Sarsa needs the next action. What
            `MDP.simulate` returns is taken as it is.
        n_states, n_actions : int, optional
            By default as many as the log shows, or as many as the agent knows.
        """
        check_parameters(self)
        log = read_log(transitions, self._code() == METHODS["sarsa"])
        S = n_states or getattr(self, "n_states_", int(max(log["state"].max(), log["next_state"].max())) + 1)
        A = n_actions or getattr(self, "n_actions_", int(log["action"].max()) + 1)
        check_log(log, S, A)
        data = Log(S, A)
        work = self._prepare(data)
        fitted = hasattr(self, "tables_")
        state = (
            self._state() if fitted else self._start(work, stream(draw_seed(generator(self.random_state)), 0))
        )
        memory = self._memory(work, state)
        agents.learn_log(
            work.rule, memory, log["state"], log["action"], log["reward"], np.maximum(log["next_state"], 0),
            log["next_action"], log["terminated"], log["ended"], agents.key_of(state.seed, 2**40 + state.episode),
        )  # fmt: skip
        fresh = Tables(memory.Q, memory.visits, int(memory.counts[0]), state.episode, state.seed)
        trace = self.trace_ if fitted else Recorder(unit=self._unit).trace()
        self._keep(Run(fresh, trace, len(trace), False), data)
        return self

    def update(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool = False
    ) -> Self:
        """Learn from one move."""
        return self.learn_from([(state, action, reward, next_state, terminated)])
