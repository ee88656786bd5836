"""Temporal differences: action values learned from moves, without a model of the world."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gnomon.core.errors import DataError, ModelFileError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.steps import Report
from gnomon.core.trace import Recorder
from gnomon.core.validate import COUNT, NUMBER, check_parameters, warn
from gnomon.core.watching import Run
from gnomon.core.world import Process
from gnomon.decide import environments as play
from gnomon.decide.behavior import BEHAVIORS, coded, coded_behavior
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

METHODS = {"q": 0, "sarsa": 1, "expected": 2}


class Rule(NamedTuple):
    """How an agent behaves and learns, as loops know it."""

    method: int
    double: bool
    discount: float
    trace_decay: float
    replacing: bool
    rate: Array
    rate_table: Array
    behavior: int
    explore: Array
    explore_table: Array
    fixed: Array
    available: Array


class Memory(NamedTuple):
    """What changes while an episode is played."""

    Q: Array  # (2, S, A), the second of the double method
    visits: Array  # (S, A)
    counts: Array  # steps in all, moves in the buffer, pairs with a trace
    sums: Array  # of |errors|
    past_states: Array
    past_actions: Array
    past_rewards: Array
    trace: Array  # (S, A), or (1, 1)
    active: Array
    chances: Array  # (A,)


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
        world, rule, advance = work.world, work.rule, agents.advance
        env, total = world.env, 0.0
        s = state_number(world, play.reset(env, seed))
        a = agents.choose(rule, memory, s, agents.draw(key, 0))
        for t in range(limit):
            seen, reward, terminated, truncated = play.step(env, a)
            to = state_number(world, seen)
            total += reward
            ended = terminated or truncated or t == limit - 1
            a = advance(rule, memory, s, a, reward, to, terminated, ended, key, t)
            if ended:
                return Played(total, t + 1, not terminated)
            s = to
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


class Log(Process):
    """A world of which only moves were seen."""

    def __init__(self, S: int, A: int) -> None:
        self.n_states, self.n_actions = S, A
        self.available = np.ones((S, A), dtype=bool)
        self._ends = np.ones((S, A))


def read_log(transitions: Any, needs_next: bool = False) -> dict[str, Array]:
    """Return the columns of logged moves."""
    names = getattr(getattr(transitions, "dtype", None), "names", None) or getattr(
        transitions, "columns", None
    )
    if names is not None:
        columns = {str(name): np.asarray(transitions[name]) for name in names}
    else:
        rows = [tuple(row) for row in transitions]
        if not rows:
            raise DataError("transitions are empty; give at least one move.")
        width = len(rows[0])
        order = {
            4: ("state", "action", "reward", "next_state"),
            5: ("state", "action", "reward", "next_state", "next_action" if needs_next else "terminated"),
            6: ("state", "action", "reward", "next_state", "next_action", "terminated"),
        }.get(width)
        if order is None or any(len(row) != width for row in rows):
            raise DataError(
                "transitions must be (state, action, reward, next_state[, next_action][, terminated]), all alike."
            )
        columns = {
            name: np.array(column) for name, column in zip(order, zip(*rows, strict=True), strict=True)
        }
    n = len(columns["state"])
    found = {name: np.asarray(columns[name], dtype=np.int64) for name in ("state", "action", "next_state")}
    found["reward"] = np.asarray(columns["reward"], dtype=np.float64)
    over = np.asarray(columns.get("terminated", np.zeros(n)), dtype=bool)
    cut = np.asarray(columns.get("truncated", np.zeros(n)), dtype=bool)
    follow = columns.get("next_action")
    if follow is None and needs_next:
        same = columns.get("episode", np.zeros(n))
        follow = np.append(found["action"][1:], -1)
        cut = cut | np.append(same[1:] != same[:-1], True)
        keep = over | ~cut  # the action after the last move of a cut episode is not known
        found = {name: values[keep] for name, values in found.items()}
        over, cut, follow = over[keep], cut[keep], follow[keep]
        n = len(over)
    found["next_action"] = (
        np.full(n, -1) if follow is None else np.maximum(np.asarray(follow, dtype=np.int64), 0)
    )
    return {**found, "terminated": over, "ended": over | cut}


def check_log(log: dict[str, Array], S: int, A: int) -> None:
    """Refuse moves from, to or by what does not exist, and rewards that are no numbers."""
    for name, count in (("state", S), ("action", A)):
        bad = np.flatnonzero((log[name] < 0) | (log[name] >= count))
        if len(bad):
            raise DataError(
                f"move {bad[0]} has {name} {log[name][bad[0]]}; there are {count}, numbered from 0."
            )
    bad = np.flatnonzero((log["next_state"] >= S) | ((log["next_state"] < 0) & ~log["terminated"]))
    if len(bad):
        raise DataError(
            f"move {bad[0]} leads to state {log['next_state'][bad[0]]}; there are {S}, numbered from 0."
        )
    bad = np.flatnonzero(~np.isfinite(log["reward"]))
    if len(bad):
        raise DataError(f"move {bad[0]} has reward {log['reward'][bad[0]]}; rewards must be finite.")


class QLearning(TemporalDifference):
    r"""Q-learning: the value of the best policy, learned while following any other (Watkins 1989).

    .. math:: Q(s,a) \leftarrow Q(s,a) + \alpha \big[ r + \gamma \max_{a'} Q(s',a') - Q(s,a) \big]

    No model is needed. It converges to Q* when every pair is visited for ever and Σα = ∞, Σα² < ∞, whatever the
    behavior. Nothing is
    taken from the state after a termination; one that was merely cut off counts on. Use `Sarsa` when the mistakes of
    exploring
    are dear, `ModelBased` when moves are dear, `DQN` when states cannot be numbered.

    Parameters
    ----------
    discount : float
        γ.
    learning_rate : float, Schedule or function
        α; `VisitDecay` of `gnomon.solvers` counts visits of the pair.
    exploration : float, Schedule, EpsilonGreedy, SoftmaxBehavior or Policy
        A number or schedule is the ε of `EpsilonGreedy`.
    n_episodes, max_steps : int
        Episodes, and moves after which one is cut off.
    n_steps : int, optional
        Moves in all, instead of episodes.
    initial_q : float or (S, A) array
        A large number makes the agent try everything (optimism).
    double : bool
        Two tables, one chooses, the other judges, so that maxima of noise are not taken for value (van Hasselt 2010).
    n_step : int
        Rewards before the bootstrap.
    trace_decay : float
        λ of eligibility traces, cut at exploring actions (Watkins).
    replacing : bool
        A visited pair's trace becomes 1 instead of growing by 1.
    random_state : int, Generator or None

    Attributes
    ----------
    Q_, V_ : (S, A), (S,) arrays
    policy_ : Policy
        Greedy.
    visits_ : (S, A) array
    returns_, lengths_ : arrays
        Of the episodes; with the mean size of the errors they stand in ``trace_``.
    trace_, n_iter_, n_steps_

    Examples
    --------
    >>> moves = [(0, 1, -1, 1), (1, 0, 2, 1), (1, 0, 2, 0), (0, 1, -1, 1)]
    >>> QLearning(discount=0.9, learning_rate=0.5).learn_from(moves).Q_
    array([[ 0.   , -0.075],
           [ 1.5  ,  0.   ]])
    >>> from gnomon.decide import GridWorld
    >>> agent = QLearning(discount=0.9, n_episodes=2000, random_state=0).fit(GridWorld.small())
    >>> print(GridWorld.small().arrows(agent.policy_).split()[0])
    →→●
    """

    _method: ClassVar[str] = "q"

    def __init__(
        self,
        *,
        discount: float = 0.99,
        learning_rate: Any = 0.1,
        exploration: Any = 0.1,
        n_episodes: int = 500,
        max_steps: int = 1000,
        n_steps: int | None = None,
        initial_q: Any = 0.0,
        double: bool = False,
        n_step: int = 1,
        trace_decay: float = 0.0,
        replacing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.discount, self.learning_rate, self.exploration = discount, learning_rate, exploration
        self.n_episodes, self.max_steps, self.n_steps, self.initial_q = (
            n_episodes,
            max_steps,
            n_steps,
            initial_q,
        )
        self.double, self.n_step, self.trace_decay, self.replacing = double, n_step, trace_decay, replacing
        self.random_state = random_state


class Sarsa(TemporalDifference):
    r"""Sarsa: the value of the behavior itself, exploration included (Rummery and Niranjan 1994).

    .. math:: Q(s,a) \leftarrow Q(s,a) + \alpha \big[ r + \gamma Q(s',a') - Q(s,a) \big]

    a′ is the action really taken next. With a fixed behavior the values are that behavior's; with one that is greedy
    in the limit
    (`GreedyInLimit`) they go to Q*. It keeps away from cliffs that a greedy agent walks along.

    Parameters
    ----------
    discount, learning_rate, exploration, n_episodes, max_steps, n_steps, initial_q, n_step, trace_decay, replacing,
    random_state
        As in `QLearning`. A `Policy` as `exploration` is evaluated.
    expected : bool
        Take the mean over the behavior's actions instead of the one taken: less noise (van Seijen et al. 2009).
    double : bool
        Two tables, as in `QLearning`.

    Attributes
    ----------
    Q_, V_, policy_, visits_, returns_, lengths_, trace_
        As in `QLearning`.

    Examples
    --------
    >>> moves = [(0, 1, -1, 1, 0, False), (1, 0, 2, 1, 0, False), (1, 0, 2, 0, 1, False)]
    >>> Sarsa(discount=0.9, learning_rate=0.5).learn_from(moves).Q_
    array([[ 0.   , -0.5  ],
           [ 1.275,  0.   ]])
    """

    _method: ClassVar[str] = "sarsa"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TemporalDifference._parameter_constraints,
        "expected": ["boolean"],
    }

    def __init__(
        self,
        *,
        discount: float = 0.99,
        learning_rate: Any = 0.1,
        exploration: Any = 0.1,
        n_episodes: int = 500,
        max_steps: int = 1000,
        n_steps: int | None = None,
        initial_q: Any = 0.0,
        expected: bool = False,
        double: bool = False,
        n_step: int = 1,
        trace_decay: float = 0.0,
        replacing: bool = True,
        random_state: Any = None,
    ) -> None:
        self.discount, self.learning_rate, self.exploration = discount, learning_rate, exploration
        self.n_episodes, self.max_steps, self.n_steps, self.initial_q = (
            n_episodes,
            max_steps,
            n_steps,
            initial_q,
        )
        self.expected, self.double, self.n_step = expected, double, n_step
        self.trace_decay, self.replacing, self.random_state = trace_decay, replacing, random_state

    def _code(self) -> int:
        return METHODS["expected" if self.expected else "sarsa"]


__all__ = ["QLearning", "Sarsa"]
