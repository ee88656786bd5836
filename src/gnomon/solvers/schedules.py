"""Learning-rate schedules: the one home of step sizes, for linear models, decisions and dense networks.

A schedule is a function of the step number k = 0, 1, 2, …; `code` and `numbers` are how compiled loops know
it.
"""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import nearest


class Schedule:
    r"""A learning rate that may depend on the step.

    Attributes
    ----------
    robbins_monro : bool
        Whether :math:`\sum\eta_k = \infty` and :math:`\sum\eta_k^2 < \infty`: enough to converge from noisy
        gradients.
    sum_diverges, squares_converge : bool
        The two conditions by themselves.
    glie : bool
        Whether, as a chance of exploring, it goes to zero and still explores for ever: greedy in the limit with
        infinite exploration.
    per : {"step", "state", "pair"}
        What k counts in agents: all steps, visits of the state, or visits of the state and action.
    """

    code = 0
    sum_diverges = True
    squares_converge = False
    vanishes = False
    per = "step"
    numbers: tuple[float, float] = (0.0, 0.0)

    def __call__(self, k: int) -> float:
        """Return the rate of step `k`, counted from 0."""
        raise NotImplementedError

    @property
    def robbins_monro(self) -> bool:
        """Whether both conditions hold."""
        return bool(self.sum_diverges and self.squares_converge)

    @property
    def glie(self) -> bool:
        """Whether exploration ends in the limit and never stops on the way."""
        return bool(self.sum_diverges and self.vanishes)

    def __repr__(self) -> str:
        """Show the name and the numbers."""
        shown = [repr(value) for name, value in vars(self).items() if name[0] != "_"]
        return f"{type(self).__name__}({', '.join(shown)})"


def rate(eta: float, name: str = "eta") -> float:
    """Return a learning rate after checking that it is positive."""
    if not eta > 0.0:
        raise ValueError(f"{name} must be above 0; got {eta!r}.")
    return float(eta)


class Constant(Schedule):
    """The same rate η at every step.

    Examples
    --------
    >>> Constant(0.1)(7)
    0.1
    """

    code = 0

    def __init__(self, eta: float) -> None:
        self.eta = rate(eta)

    @property
    def numbers(self):
        """Parameters for the loops."""
        return (self.eta, 0.0)

    def __call__(self, k):
        return self.eta


class InverseDecay(Schedule):
    """η₀/(k+1).

    Examples
    --------
    >>> [round(InverseDecay(1.0)(k), 6) for k in range(4)], InverseDecay(1.0).robbins_monro
    ([1.0, 0.5, 0.333333, 0.25], True)
    """

    code, squares_converge, vanishes = 1, True, True

    def __init__(self, eta0: float) -> None:
        self.eta0 = rate(eta0)

    @property
    def numbers(self):
        """Parameters for the loops."""
        return (self.eta0, 1.0)

    def __call__(self, k):
        return self.eta0 / (k + 1)


class InvScaling(Schedule):
    """η₀/(k+1)^p; converges from noise iff ½ < p ≤ 1.

    Examples
    --------
    >>> [round(InvScaling(0.5, 0.25)(k), 6) for k in range(3)]
    [0.5, 0.420448, 0.379918]
    """

    code = 1

    def __init__(self, eta0: float, power: float) -> None:
        self.eta0, self.power = rate(eta0), float(power)

    @property
    def sum_diverges(self):
        """Whether p ≤ 1."""
        return self.power <= 1.0

    @property
    def squares_converge(self):
        """Whether p > ½."""
        return self.power > 0.5

    @property
    def vanishes(self):
        """Whether p > 0."""
        return self.power > 0.0

    @property
    def numbers(self):
        """Parameters for the loops."""
        return (self.eta0, self.power)

    def __call__(self, k):
        return self.eta0 / (k + 1) ** self.power


class VisitDecay(InvScaling):
    """start/(n + offset)^power, n the visits of a state and action so far, this one included.

    As a learning rate it makes Q-learning converge iff ½ < power ≤ 1; with the defaults estimates are plain means.

    Examples
    --------
    >>> [VisitDecay()(k) for k in range(3)], VisitDecay(power=0.5).robbins_monro
    ([1.0, 0.5, 0.3333333333333333], False)
    """

    per = "pair"

    def __init__(self, start: float = 1.0, power: float = 1.0, offset: float = 0.0) -> None:
        super().__init__(start, power)
        if not (self.power >= 0.0 and offset > -1.0):
            raise ValueError(f"VisitDecay needs power >= 0 and offset > -1; got {power!r} and {offset!r}.")
        self.offset = float(offset)

    def __call__(self, k):
        return self.eta0 / (k + 1 + self.offset) ** self.power


class GreedyInLimit(InverseDecay):
    """1/n, n the visits of the state so far: exploration that fades, yet never stops.

    Examples
    --------
    >>> [GreedyInLimit()(k) for k in range(3)], GreedyInLimit().glie
    ([1.0, 0.5, 0.3333333333333333], True)
    """

    per = "state"

    def __init__(self) -> None:
        super().__init__(1.0)


class LinearDecay(Schedule):
    """From start to end on a line of so many steps, then flat.

    Examples
    --------
    >>> [LinearDecay(1.0, 0.2, 4)(k) for k in (0, 1, 4, 9)]
    [1.0, 0.8, 0.2, 0.2]
    """

    def __init__(self, start: float, end: float, steps: int) -> None:
        self.start, self.end, self.steps = rate(start, "start"), float(end), int(steps)
        if not self.end >= 0.0 or self.steps < 1:
            raise ValueError(f"LinearDecay needs end >= 0 and steps >= 1; got {end!r} and {steps!r}.")

    @property
    def sum_diverges(self):
        """Whether it ends above zero."""
        return self.end > 0.0

    @property
    def squares_converge(self):
        """Whether it ends at zero."""
        return self.end == 0.0

    @property
    def vanishes(self):
        """Whether it ends at zero."""
        return self.end == 0.0

    def __call__(self, k):
        return self.end if k >= self.steps else self.start + (self.end - self.start) * (k / self.steps)


class PegasosSchedule(InverseDecay):
    """1/(λ(k+1)), the published schedule of Pegasos.

    Examples
    --------
    >>> PegasosSchedule(0.5)(3)
    0.5
    """

    def __init__(self, alpha: float) -> None:
        super().__init__(1.0 / rate(alpha, "alpha"))
        self.alpha = float(alpha)


class Exponential(Schedule):
    """max(η₀ rᵏ, floor).

    Examples
    --------
    >>> round(Exponential(0.5, 0.9)(2), 6)
    0.405
    >>> [round(Exponential(1.0, 0.99, floor=0.05)(k), 10) for k in (298, 299)]
    [0.0500366229, 0.05]
    """

    code = 2

    def __init__(self, eta0: float, ratio: float, floor: float = 0.0) -> None:
        self.eta0, self.ratio, self.floor = rate(eta0), float(ratio), float(floor)
        if not (0.0 < self.ratio <= 1.0 or floor == 0.0) or not self.floor >= 0.0:
            raise ValueError(
                f"a floor needs 0 < ratio <= 1 and floor >= 0; got ratio={ratio!r}, floor={floor!r}."
            )

    @property
    def sum_diverges(self):
        """Whether there is a floor, or nothing decays."""
        return self.floor > 0.0 or self.ratio >= 1.0

    @property
    def squares_converge(self):
        """Whether there is no floor."""
        return not self.sum_diverges

    @property
    def vanishes(self):
        """Whether there is no floor."""
        return not self.sum_diverges

    @property
    def numbers(self):
        """Parameters for the loops."""
        return (self.eta0, self.ratio)

    def __call__(self, k):
        return max(self.eta0 * self.ratio**k, self.floor) if self.floor else self.eta0 * self.ratio**k


class StepDecay(Schedule):
    """η₀·factor^⌊k/every⌋.

    Examples
    --------
    >>> [StepDecay(0.1, 0.5, 2)(k) for k in range(5)]
    [0.1, 0.1, 0.05, 0.05, 0.025]
    """

    def __init__(self, eta0: float, factor: float, every: int) -> None:
        self.eta0, self.factor, self.every = rate(eta0), float(factor), int(every)

    def __call__(self, k):
        return self.eta0 * self.factor ** (k // self.every)


class Optimal(Schedule):
    """1/(α(k + t₀)), t₀ chosen so that the first steps fit the loss (Bottou's rule, as in scikit-learn).

    Examples
    --------
    >>> round(Optimal(1e-4)(0), 6)
    10.0
    """

    code, squares_converge, vanishes = 3, True, True

    def __init__(self, alpha: float, first_slope: float = 1.0) -> None:
        self.alpha = rate(alpha, "alpha")
        typical = np.sqrt(1.0 / np.sqrt(self.alpha))
        eta0 = typical / max(1.0, first_slope)
        self.offset = 1.0 / (eta0 * self.alpha)

    @property
    def numbers(self):
        """Parameters for the loops."""
        return (self.alpha, self.offset)

    def __call__(self, k):
        return float(1.0 / (self.alpha * (self.offset + k)))


class ReduceOnPlateau(Schedule):
    """A rate that is multiplied by `factor` when a watched score has not fallen for `patience` looks.

    Examples
    --------
    >>> schedule = ReduceOnPlateau(1.0, factor=0.1, patience=1)
    >>> [schedule.watch(score) for score in (3.0, 2.0, 2.0, 2.0, 1.0)]
    [1.0, 1.0, 1.0, 0.1, 0.1]
    """

    def __init__(self, eta0: float, factor: float = 0.1, patience: int = 10) -> None:
        self.eta0, self.factor, self.patience = rate(eta0), float(factor), int(patience)
        self._eta, self._best, self._waited = self.eta0, np.inf, 0

    def watch(self, score: float) -> float:
        """Take note of a validation loss; return the rate from now on."""
        if score < self._best:
            self._best, self._waited = score, 0
        else:
            self._waited += 1
            if self._waited > self.patience:
                self._eta, self._waited = self._eta * self.factor, 0
        return self._eta

    def __call__(self, k):
        return self._eta


NAMES = ("constant", "invscaling", "inverse", "optimal", "adaptive")


def named_schedule(name, eta0: float, power: float, alpha: float, first_slope: float = 1.0) -> Schedule:
    """Return the schedule that an estimator's ``learning_rate`` names."""
    if isinstance(name, Schedule):
        return name
    if name in ("constant", "adaptive"):
        return Constant(eta0)
    if name == "invscaling":
        return InvScaling(eta0, power)
    if name == "inverse":
        return InverseDecay(eta0)
    if name == "optimal":
        return Optimal(alpha, first_slope)
    raise ValueError(
        f"learning_rate must be one of {NAMES} or a Schedule; got {name!r}.{nearest(name, NAMES)}"
    )
