"""Behavior while learning: how an agent chooses between what looks best and what it knows little about."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.randomness import generator
from gnomon.decide.arm_rules import ArmRule, best_arms
from gnomon.decide.evaluation import softmax
from gnomon.decide.policies import Policy
from gnomon.solvers.schedules import Constant, Exponential, InverseDecay, InvScaling, LinearDecay, Schedule

TABLE = (
    100_000  # steps up to which a schedule of the user's own is written down; later ones keep the last value
)
_COUNTS = {"step": 0.0, "state": 1.0, "pair": 2.0}


class Coded(NamedTuple):
    """A schedule as loops know it."""

    numbers: Array  # kind, three parameters, what is counted
    table: Array  # the values of kind 4


def coded(schedule: Any, name: str, *, low: float = 0.0, high: float = 1.0) -> Coded:
    """Return a number, a schedule or a function of the step as the loops know it, after checking its values."""
    if not callable(schedule):
        schedule = _fixed(schedule, name, low, high)
    per = _COUNTS[getattr(schedule, "per", "step")]
    form = _form(schedule)
    if form is not None:
        first = schedule(0) if isinstance(schedule, Schedule) else form[1]
        _check(first, name, low, high)
        return Coded(np.array([*form, per]), np.zeros(1))
    table = np.array([float(schedule(k)) for k in range(TABLE)])
    for k in np.flatnonzero(~((table >= low) & (table <= high)))[:1]:
        raise DataError(f"{name} is {table[k]} at step {k}; it must stay between {low:g} and {high:g}.")
    return Coded(np.array([4.0, 0.0, 0.0, 0.0, per]), table)


def _fixed(value: Any, name: str, low: float, high: float) -> Any:
    number = float(value)
    _check(number, name, low, high)
    return Constant(number) if number > 0 else _Zero()


def _check(value: float, name: str, low: float, high: float) -> None:
    if not low <= value <= high:
        raise DataError(f"{name} must be between {low:g} and {high:g}; got {value!r}.")


class _Zero(Schedule):
    """Nothing, for ever."""

    numbers = (0.0, 0.0)

    def __call__(self, k: int) -> float:
        return 0.0


def _form(schedule: Any) -> tuple[float, ...] | None:
    if isinstance(schedule, Constant | _Zero):
        return (0.0, schedule.numbers[0], 0.0, 0.0)
    if isinstance(schedule, InvScaling | InverseDecay):
        return (1.0, *schedule.numbers, float(getattr(schedule, "offset", 0.0)))
    if isinstance(schedule, Exponential):
        return (2.0, schedule.eta0, schedule.ratio, schedule.floor)
    if isinstance(schedule, LinearDecay):
        return (3.0, schedule.start, schedule.end, float(schedule.steps))
    return None


class EpsilonGreedy(ArmRule):
    r"""With chance ε any action, otherwise the best.

    The random action may be the best one too, so with |A| actions the best has probability
    :math:`1 - \varepsilon + \varepsilon/|A|` and every other
    :math:`\varepsilon/|A|`. ε = 1 explores purely at random, ε = 0 not at
    all. Fading exploration is a schedule, such as ``GreedyInLimit()`` or ``LinearDecay(1.0, 0.05, 10_000)`` of
    `gnomon.solvers`. It is a rule for a `Bandit` too, whose regret grows linearly unless ε fades.

    Parameters
    ----------
    epsilon : float, Schedule or function of the step
    ties : {"random", "first"}
        Equal actions share the greedy chance, or the lowest takes it.
    initial : float
        In a bandit, the believed mean of an arm never played; a large one makes the rule try all.

    Examples
    --------
    >>> EpsilonGreedy(0.1).probabilities([0.0, 2.0, 1.0, 0.5])
    array([0.025, 0.925, 0.025, 0.025])
    >>> from gnomon.decide import Bandit
    >>> trace = Bandit.bernoulli([0.2, 0.5, 0.7]).run(EpsilonGreedy(1.0), 300, n_runs=200, random_state=0)
    >>> bool(abs(trace.regret[:, -1].mean() - 70) < 2)
    True
    """

    def __init__(self, epsilon: Any = 0.1, *, ties: str = "random", initial: float = 0.0) -> None:
        if ties not in ("random", "first"):
            raise DataError(f"ties must be 'random' or 'first'; got {ties!r}.")
        if not callable(epsilon):
            _check(float(epsilon), "epsilon", 0.0, 1.0)
        self.epsilon, self.ties, self.initial = epsilon, ties, initial

    def __repr__(self) -> str:
        return f"EpsilonGreedy({self.epsilon!r}, ties={self.ties!r})"

    def probabilities(self, q: Any, step: int = 0, available: Any = None) -> Array:
        """Return the chances of the actions whose values are `q`; `step` is what the schedule counts."""
        values, on = _values(q, available)
        epsilon = float(self.epsilon(step)) if callable(self.epsilon) else float(self.epsilon)
        _check(epsilon, f"epsilon at step {step}", 0.0, 1.0)
        best = on & (values == values[on].max())
        if self.ties == "first":
            best = np.arange(len(values)) == int(np.argmax(best))
        return epsilon * on / on.sum() + (1.0 - epsilon) * best / best.sum()

    def sample(self, q: Any, random_state: Any = None, step: int = 0, available: Any = None) -> int:
        """Draw an action."""
        return int(
            generator(random_state).choice(len(np.asarray(q)), p=self.probabilities(q, step, available))
        )

    def begin(self, bandit: Any, n_runs: int, n_steps: int = 0) -> dict[str, Any]:
        state = super().begin(bandit, n_runs, n_steps)
        state["mean"] += self.initial
        return state

    def choose(self, state: dict[str, Any], rng: Any = None, context: Any = None) -> Array:
        rng = generator(rng) if rng is None else rng
        R, K = state["n"].shape
        epsilon = float(self.epsilon(state["t"])) if callable(self.epsilon) else float(self.epsilon)
        _check(epsilon, f"epsilon at step {state['t']}", 0.0, 1.0)
        best = state["mean"].argmax(axis=1) if self.ties == "first" else best_arms(state["mean"], rng)
        return np.where(rng.random(R) < epsilon, rng.integers(0, K, size=R), best)


class SoftmaxBehavior:
    r"""Actions with chances :math:`\propto \exp(Q/\tau)`: bad ones seldom, hopeless ones hardly ever.

    Parameters
    ----------
    temperature : float, Schedule or function of the step
        τ above 0; small is greedy, large is random.

    Examples
    --------
    >>> SoftmaxBehavior(1.0).probabilities([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """

    def __init__(self, temperature: Any = 1.0) -> None:
        if not callable(temperature) and not float(temperature) > 0.0:
            raise DataError(f"temperature must be above 0; got {temperature!r}.")
        self.temperature = temperature

    def __repr__(self) -> str:
        return f"SoftmaxBehavior({self.temperature!r})"

    def probabilities(self, q: Any, step: int = 0, available: Any = None) -> Array:
        """Return the chances of the actions whose values are `q`; `step` is what the schedule counts."""
        values, on = _values(q, available)
        heat = float(self.temperature(step)) if callable(self.temperature) else float(self.temperature)
        return softmax(np.where(on, values, -np.inf) / heat)

    sample = EpsilonGreedy.sample


def _values(q: Any, available: Any) -> tuple[Array, Array]:
    values = np.asarray(q, dtype=np.float64)
    on = np.isfinite(values) if available is None else np.asarray(available, dtype=bool)
    if values.ndim != 1 or not on.any():
        raise DataError("q must be one row of action values with at least one available action.")
    return values, on


BEHAVIORS = [
    Interval(Real, 0, 1, closed="both"),
    callable,
    EpsilonGreedy,
    SoftmaxBehavior,
    Policy,
    "array-like",
]


class CodedBehavior(NamedTuple):
    """A behavior as loops know it."""

    kind: int  # 0 ε-greedy, ties shared; 1 ε-greedy, lowest; 2 softmax; 3 a fixed policy
    schedule: Coded
    fixed: Array  # (S, A) chances of kind 3


def coded_behavior(given: Any, S: int, A: int) -> CodedBehavior:
    """Return what users pass as `exploration` as the loops know it."""
    nothing = np.zeros((1, 1))
    if isinstance(given, SoftmaxBehavior):
        return CodedBehavior(2, coded(given.temperature, "temperature", low=1e-300, high=np.inf), nothing)
    if isinstance(given, EpsilonGreedy):
        return CodedBehavior(int(given.ties == "first"), coded(given.epsilon, "epsilon"), nothing)
    if not isinstance(given, Callable) and (hasattr(given, "table") or np.ndim(given) > 0):  # type: ignore[arg-type]
        table = np.asarray(getattr(given, "table", given))
        if table.shape == (S,):
            table = np.eye(A)[table.astype(np.int64)]
        if table.shape != (S, A) or not np.allclose(table.sum(axis=1), 1.0, atol=1e-8) or (table < 0).any():
            raise DataError(
                f"exploration by a policy needs ({S}, {A}) chances that sum to one; got shape {table.shape}."
            )
        return CodedBehavior(3, coded(0.0, "epsilon"), np.ascontiguousarray(table, dtype=np.float64))
    return CodedBehavior(0, coded(given, "exploration"), nothing)
