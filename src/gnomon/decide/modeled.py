"""Agents with a model: count, plan, act; with optimism or by posterior sampling."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, WorldError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, NUMBER, POSITIVE
from gnomon.core.watching import Run
from gnomon.core.world import Process
from gnomon.decide import bellman
from gnomon.decide import environments as play
from gnomon.decide.behavior import BEHAVIORS, EpsilonGreedy, coded, coded_behavior
from gnomon.decide.counted import EmpiricalModel, check_reward_prior
from gnomon.decide.improvement import PolicyIteration
from gnomon.decide.policies import Policy
from gnomon.decide.process import MDP
from gnomon.decide.tabular import AGENT, Agent, Played, episode_keys, report_of, state_number, tabular_work
from gnomon.decide.temporal import Memory, Rule
from gnomon.loops import agents, worlds

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
        if model.unvisited == "error" and model.coverage_ < 1.0:
            if model.coverage_ > 0 or model._n.any():
                model.to_mdp(self.discount)  # refuses, and says which pairs are missing
            return Q
        mdp = model.to_mdp(float(self.discount))
        return np.where(work.rule.available.astype(bool), planned(mdp, Q), -np.inf)


class OptimisticPlanning(Counting):
    r"""Optimism under uncertainty: what is not known well is taken to be as good as can be.

    A pair seen fewer than `known_after` times is worth :math:`r_{max}/(1-\gamma)`, as if it led for ever to the best
    reward; the others are
    as counted. Acting greedily on that plan either collects or learns (R-max, Brafman and Tennenholtz 2002). With
    `bonus` c the
    reward of a pair is raised by c/√N instead (Strehl and Littman 2008).

    Parameters
    ----------
    discount : float
        γ below 1.
    reward_max : float
        No reward may be larger.
    known_after : int
        Visits after which a pair is known; with `bonus`, one.
    bonus : float, optional
    n_episodes, max_steps, n_steps, random_state
        As in `QLearning`.

    Attributes
    ----------
    known_ : (S, A) bool array
    model_, Q_, V_, policy_, visits_, coverage_, n_replans_, returns_, trace_
        As in `ModelBased`.

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agent = OptimisticPlanning(discount=0.9, reward_max=1.0, n_episodes=100, random_state=0).fit(grid)
    >>> agent.coverage_ > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AGENT,
        "reward_max": [NUMBER],
        "known_after": [COUNT],
        "bonus": [NOT_NEGATIVE, None],
    }

    def __init__(
        self,
        *,
        discount: float = 0.95,
        reward_max: float = 1.0,
        known_after: int = 5,
        bonus: float | None = None,
        n_episodes: int = 100,
        max_steps: int = 1000,
        n_steps: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.discount, self.reward_max, self.known_after, self.bonus = (
            discount,
            reward_max,
            known_after,
            bonus,
        )
        self.n_episodes, self.max_steps, self.n_steps, self.random_state = (
            n_episodes,
            max_steps,
            n_steps,
            random_state,
        )

    def _when(self) -> Any:
        return "known" if self.bonus is None else "doubling"

    def _known_after(self) -> int:
        return int(self.known_after) if self.bonus is None else 1

    def _limits(self, visits: Array) -> Array:
        if self.bonus is not None:
            return super()._limits(visits)
        return np.where(visits < self.known_after, int(self.known_after), NEVER)

    def _check(self, rewards: Array) -> None:
        if len(rewards) and rewards.max() > self.reward_max:
            raise DataError(
                f"a reward of {rewards.max():g} was paid, above reward_max={self.reward_max:g}; raise it."
            )

    def _plan(self, work: Work, model: EmpiricalModel, Q: Array, seed: int) -> Array:
        return optimistic_values(
            model,
            float(self.discount),
            float(self.reward_max),
            self._known_after(),
            self.bonus,
            Q,
            work.rule.available.astype(bool),
        )

    def _attributes(self, state: Learned) -> dict[str, Any]:
        return super()._attributes(state) | {"known_": state.model.visits_ >= self._known_after()}


def optimistic_values(
    model: EmpiricalModel,
    discount: float,
    reward_max: float,
    known_after: int,
    bonus: float | None,
    Q: Array,
    available: Array,
) -> Array:
    """Return the action values of the plan that believes the best of what is not known."""
    S, A = model.n_states, model.n_actions
    n = model._n
    unknown = n < known_after
    scale = np.where(unknown, 0.0, np.divide(1.0, n, out=np.zeros_like(n), where=n > 0))
    rows = sparse.diags_array(scale) @ model.counts_
    which = np.flatnonzero(unknown)
    rows = sparse.csr_array(
        rows + sparse.csr_array((np.ones(len(which)), (which, which // A)), shape=(S * A, S))
    )
    added = 0.0 if bonus is None else bonus * np.sqrt(scale)
    expected = np.where(unknown, reward_max, model._mean + added)
    ends = np.where(unknown, 0.0, model.ends_ * scale)
    rows.sum_duplicates()
    mdp = MDP._of(
        rows, np.repeat(expected, np.diff(rows.indptr)), ends.reshape(S, A), expected.reshape(S, A), discount,
        allowed=available,
    )  # fmt: skip
    q = planned(mdp, Q)
    top = reward_max / (1.0 - discount)
    return np.where(available, np.where(unknown.reshape(S, A), top, q), -np.inf)


class PosteriorSampling(Counting):
    r"""Thompson sampling over processes: draw one that the data allow, act optimally in it, learn, repeat.

    .. math:: T(s,a,\cdot) \sim \mathrm{Dirichlet}(c + N(s,a,\cdot)), \qquad R(s,a) \sim \text{Normal-Gamma posterior}

    Exploration fades by itself as the posterior closes in on the truth (Strens 2000; Osband et al. 2013).

    Parameters
    ----------
    discount : float
        γ below 1.
    prior_count : float
        c of the Dirichlet, above 0.
    reward_prior : (m, κ, a, b) or "known"
        Normal-Gamma prior of every mean reward; "known" takes the rewards of the MDP.
    resample : "episode", "doubling" or int
        When a new process is drawn.
    support : sequence of sequences of int, optional
        For every pair s·A + a the states that may follow (−1: an end). Without it any may, which costs S draws a pair.
    n_episodes, max_steps, n_steps, random_state
        As in `QLearning`.

    Attributes
    ----------
    model_ : EmpiricalModel
    Q_, V_, policy_
        Of the posterior mean.
    posterior_ : RewardPosterior
    returns_, coverage_, visits_, trace_

    Examples
    --------
    >>> from gnomon.decide import GridWorld
    >>> grid = GridWorld.small(start=(2, 0))
    >>> agent = PosteriorSampling(discount=0.9, n_episodes=150, random_state=0).fit(grid)
    >>> bool(agent.returns_[-50:].mean() > agent.returns_[:20].mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AGENT,
        "prior_count": [POSITIVE],
        "reward_prior": ["array-like", StrOptions({"known"})],
        "support": ["array-like", None],
        "resample": [StrOptions({"episode", "doubling"}), Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        discount: float = 0.95,
        prior_count: float = 1.0,
        reward_prior: Any = (0.0, 1.0, 1.0, 1.0),
        resample: int | str = "episode",
        support: Any = None,
        n_episodes: int = 100,
        max_steps: int = 1000,
        n_steps: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.discount, self.prior_count, self.reward_prior = discount, prior_count, reward_prior
        self.resample, self.support = resample, support
        self.n_episodes, self.max_steps, self.n_steps, self.random_state = (
            n_episodes,
            max_steps,
            n_steps,
            random_state,
        )

    def _when(self) -> Any:
        return self.resample

    def _plan(self, work: Work, model: EmpiricalModel, Q: Array, seed: int) -> Array:
        known = work.world.expected_rewards_ if isinstance(work.world, Process) else None
        mdp = self._drawn(model, stream(seed, 1), known)
        return np.where(work.rule.available.astype(bool), planned(mdp, np.zeros_like(Q)), -np.inf)

    def _alpha(self, model: EmpiricalModel) -> tuple[Any, Array]:
        """Dirichlet parameters of the successors (CSR) and of an end."""
        S, A = model.n_states, model.n_actions
        if self.support is None:
            alpha = sparse.csr_array(model.counts_.toarray() + self.prior_count)
            return alpha, model.ends_ + (self.prior_count if model.ends_.any() else 0.0)
        rows = np.repeat(np.arange(S * A), [len(one) for one in self.support])
        to = np.concatenate([np.asarray(one, dtype=np.int64) for one in self.support])
        on = to >= 0
        prior = sparse.csr_array((np.full(on.sum(), self.prior_count), (rows[on], to[on])), shape=(S * A, S))
        return sparse.csr_array(model.counts_ + prior), model.ends_ + self.prior_count * np.bincount(
            rows[~on], minlength=S * A
        )

    def _drawn(self, model: EmpiricalModel, rng: Any, known: Array | None = None) -> MDP:
        alpha, ends = self._alpha(model)
        S, A = model.n_states, model.n_actions
        draws = alpha.copy()
        draws.data = rng.standard_gamma(alpha.data)
        over = rng.standard_gamma(np.maximum(ends, 1e-300)) * (ends > 0)
        total = np.asarray(draws.sum(axis=1)).ravel() + over
        rows = sparse.csr_array(sparse.diags_array(1.0 / np.maximum(total, 1e-300)) @ draws)
        if isinstance(self.reward_prior, str):
            if self.reward_prior != "known" or known is None:
                raise DataError("reward_prior must be (m, kappa, a, b), or 'known' in an MDP.")
            mean = known
        else:
            m, kappa, a, b = model.reward_posterior(check_reward_prior(self.reward_prior))
            precision = rng.standard_gamma(a) / b
            mean = m + rng.standard_normal(m.shape) / np.sqrt(kappa * precision)
        rows.sum_duplicates()
        paid = mean.ravel()
        return MDP._of(
            rows, np.repeat(paid, np.diff(rows.indptr)), (over / np.maximum(total, 1e-300)).reshape(S, A), mean,
            float(self.discount),
        )  # fmt: skip

    def sample_model(self, random_state: Any = None) -> MDP:
        """Draw a process from the posterior.

        Parameters
        ----------
        random_state : int, Generator or None
        """
        from gnomon.core.randomness import generator

        return self._drawn(self.model_, generator(random_state))

    def value_interval(
        self, n_draws: int = 100, level: float = 0.9, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Return credible bounds of the value of `policy_` in every state, from drawn processes."""
        from gnomon.core.randomness import generator

        rng = generator(random_state)
        values = [self._drawn(self.model_, rng).evaluate(self.policy_).value for _ in range(n_draws)]
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    def _finish(self, work: Work, state: Learned) -> Learned:
        alpha, ends = self._alpha(state.model)
        total = np.asarray(alpha.sum(axis=1)).ravel() + ends
        rows = sparse.csr_array(sparse.diags_array(1.0 / total) @ alpha)
        if isinstance(self.reward_prior, str):
            mean = work.world.expected_rewards_
        else:
            mean = state.model.reward_posterior(check_reward_prior(self.reward_prior)).m
        rows.sum_duplicates()
        S, A = work.S, work.A
        mdp = MDP._of(
            rows,
            np.repeat(mean.ravel(), np.diff(rows.indptr)),
            (ends / total).reshape(S, A),
            mean,
            float(self.discount),
        )
        return state._replace(Q=np.where(work.rule.available.astype(bool), planned(mdp, state.Q), -np.inf))

    def _attributes(self, state: Learned) -> dict[str, Any]:
        told = super()._attributes(state)
        if not isinstance(self.reward_prior, str):
            told["posterior_"] = state.model.reward_posterior(check_reward_prior(self.reward_prior))
        return told
