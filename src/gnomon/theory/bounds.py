"""Bounds that relate sample size, accuracy and confidence: give two of the three, the third is computed.

Every bound is one function: the logarithm of a probability of failure that falls as the sample grows. The sample
size is the smallest integer at which it is small enough, found by bisection, never by a rounded formula.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array
from gnomon.theory.counting import log_growth

MOST_ROWS = 2**62  # a sample size beyond this is refused
ASSUMES = "rows drawn independently from one fixed distribution, the same at training and at test time"

LogFailure = Callable[[float, float], float]  # (n, epsilon) -> ln of the probability of failure


class Bound(NamedTuple):
    """What a bound says: the missing one of n, epsilon and delta, and whether it says anything.

    `vacuous` is true where an error or a probability of at least one is promised. Nothing is clipped.
    """

    value: Any
    of: str  # "n", "epsilon" or "delta"
    vacuous: Any
    statement: str

    def __float__(self) -> float:
        return float(self.value)


def finite_class_bound(
    n: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    *,
    size: Any = None,
    log_size: Any = None,
    realizable: bool = False,
    target: str = "deviation",
    form: str = "exact",
) -> Bound:
    r"""Relate n, epsilon and delta for a finite class of hypotheses; leave out the one that is wanted.

    .. math::
        \text{realizable:}\quad & \delta = |H|(1-\varepsilon)^n \le |H|e^{-n\varepsilon} \\
        \text{agnostic:}\quad & \delta = 2|H|e^{-2n\varepsilon^2}

    Realizable: some hypothesis has no error, and one with no error on the sample is taken; its true error is
    at most epsilon. Agnostic: every training error is within epsilon of the true one (``target="deviation"``),
    or the best on the sample is within epsilon of the best there is (``target="optimum"``, for which both must
    be within epsilon/2).

    Parameters
    ----------
    n, epsilon, delta : numbers or arrays
        Rows, accuracy, probability of failure. Exactly one is left out.
    size, log_size : number or array
        How many hypotheses there are, or the natural logarithm of that number.
    realizable : bool, default=False
        Whether some hypothesis is right everywhere.
    target : {"deviation", "optimum"}
        What epsilon measures when the class need not hold the truth.
    form : {"exact", "simple"}
        Of the realizable bound: :math:`(1-\varepsilon)^n`, or the larger :math:`e^{-n\varepsilon}` of textbooks.

    Returns
    -------
    Bound
        `value`, `of`, `vacuous` and the `statement` with its assumptions.

    Examples
    --------
    >>> round(finite_class_bound(n=100, delta=0.05, size=1000).value, 6)
    0.230181
    >>> finite_class_bound(epsilon=0.1, delta=0.05, size=1000, realizable=True).value
    94
    >>> finite_class_bound(epsilon=0.1, delta=0.05, size=1000, target="optimum").value
    2120
    """
    _one_of("target", target, ("deviation", "optimum"))
    _one_of("form", form, ("exact", "simple"))
    logs = _log_size(size, log_size)
    share = 0.5 if target == "optimum" else 1.0

    def failure(h: float) -> LogFailure:
        if realizable and form == "exact":
            return lambda n, e: h + n * np.log1p(-min(e, 1.0)) if e < 1.0 else -np.inf
        if realizable:
            return lambda n, e: h - n * e
        return lambda n, e: np.log(2.0) + h - 2.0 * n * (share * e) ** 2

    what = "true error of a consistent hypothesis" if realizable else f"{target} of training and true error"
    return solve(n, epsilon, delta, failure, (logs,), f"{what} over a finite class; {ASSUMES}")


def vc_bound(
    n: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    *,
    d: Any,
    kind: str = "gap",
    growth: Any = "sauer",
) -> Bound:
    r"""Relate n, epsilon and delta for a class of VC dimension d; leave out the one that is wanted.

    With the growth function :math:`\Pi(2n) \le \Phi_d(2n) \le (2en/d)^d`, probabilities of failure are

    .. math::
        \text{gap:}\quad & 4\,\Pi(2n)\,e^{-n\varepsilon^2} \\
        \text{double sampling:}\quad & 2\,\Pi(2n)\,2^{-\varepsilon n/2}, \qquad n \ge (8/\varepsilon)\ln 2 \\
        \text{devroye:}\quad & 4e^{4\varepsilon+4\varepsilon^2}(en^2/d)^d\,e^{-2n\varepsilon^2}

    "gap": every hypothesis has a true error of at most its training error plus epsilon. "double sampling": every
    hypothesis without training error has a true error of at most epsilon. "devroye" (and "devroye weak", with
    :math:`2^{-n\varepsilon^2/2}`): as "gap", on both sides. ``vc_bound(epsilon=1, delta=..., d=...)`` is the
    smallest sample for which a bound says anything. "lower" is the other side: with fewer than

    .. math:: \max\Bigl\{\frac{1-\varepsilon}{\varepsilon}\ln\frac1\delta,\; \frac{d-1}{32\varepsilon}\Bigr\}

    rows every learner fails for some distribution, for :math:`\varepsilon \le 1/8` and :math:`\delta \le 1/100`
    (Ehrenfeucht, Haussler, Kearns and Valiant, A general lower bound on the number of examples needed for learning,
    1989).

    Parameters
    ----------
    n, epsilon, delta : numbers or arrays
        Rows, accuracy, probability of failure. Exactly one is left out.
    d : number, array or concept class
        VC dimension. Below 2n = d all :math:`2^{2n}` labelings are counted.
    kind : {"gap", "double sampling", "devroye", "devroye weak", "lower"}
    growth : {"sauer", "phi"} or callable
        What stands for :math:`\Pi`: :math:`(em/d)^d`, the sum of binomials :math:`\Phi_d(m)`, or a function of m.
        Not used by "devroye".

    Examples
    --------
    >>> round(vc_bound(n=1000, delta=0.05, d=3).value, 6)
    0.163978
    >>> vc_bound(epsilon=0.1, delta=0.05, d=3).value
    3021
    >>> vc_bound(epsilon=0.1, delta=0.05, d=3, kind="double sampling", growth="phi").value
    680
    >>> round(vc_bound(epsilon=0.1, delta=0.01, d=11, kind="lower").value, 4)
    41.4465
    """
    kinds = ("gap", "double sampling", "devroye", "devroye weak", "lower")
    _one_of("kind", kind, kinds)
    if not callable(growth):
        _one_of("growth", growth, ("sauer", "phi"))
    dims = np.asarray(getattr(d, "vc_dimension", d), dtype=float)
    if np.isinf(dims).any():
        raise DegenerateError("the VC dimension is infinite: no bound holds for every distribution.")
    if (dims < 0).any() or np.isnan(dims).any():
        raise DataError(f"d must not be negative; got {d}.")
    if kind == "lower":
        return _lower_bound(n, epsilon, delta, dims, d)

    def failure(dim: float) -> LogFailure:
        return _vc_failure(kind, dim, growth)

    def start(e: float, dim: float) -> float:
        if not kind.startswith("devroye"):
            return 1.0
        rate = 2.0 if kind == "devroye" else np.log(2.0) / 2.0
        return max(dim, 2.0 * dim / (rate * e * e))  # where the expression is largest

    text = f"{kind} bound for a class of VC dimension {d}; {ASSUMES}"
    needs = 8.0 * np.log(2.0) if kind == "double sampling" else 0.0
    return solve(n, epsilon, delta, failure, (dims,), text, start=start, needs=needs)


def _vc_failure(kind: str, dim: float, growth: Any) -> LogFailure:
    if kind == "gap":
        return lambda n, e: np.log(4.0) + log_growth(dim, 2 * n, growth) - n * e * e
    if kind == "double sampling":
        return lambda n, e: np.log(2.0) + log_growth(dim, 2 * n, growth) - e * n / 2.0 * np.log(2.0)
    rate = 2.0 if kind == "devroye" else np.log(2.0) / 2.0

    def devroye(n: float, e: float) -> float:
        pairs = xlogy(dim, n * n / dim) + dim if 0 < dim <= n else n * n * np.log(2.0) * (dim > 0)
        return np.log(4.0) + 4.0 * e + 4.0 * e * e + pairs - rate * n * e * e

    return devroye


def rectangle_bound(
    n: Any = None, epsilon: Any = None, delta: Any = None, *, dim: Any = 2, form: str = "exact"
) -> Bound:
    """Return the bound for the tightest box; see `RectangleLearner.bound`."""
    _one_of("form", form, ("exact", "simple"))
    dims = np.asarray(dim, dtype=float)
    if (dims < 1).any():
        raise DataError(f"dim must be at least 1; got {dim}.")

    def failure(d: float) -> LogFailure:
        strip = 1.0 / (2.0 * d)
        if form == "simple":
            return lambda n, e: np.log(2.0 * d) - n * e * strip
        return lambda n, e: np.log(2.0 * d) + n * np.log1p(-e * strip) if e * strip < 1 else -np.inf

    return solve(n, epsilon, delta, failure, (dims,), f"tightest box around the positives; {ASSUMES}")


def _lower_bound(n: Any, epsilon: Any, delta: Any, dims: Array, d: Any) -> Bound:
    """Return how many rows every learner needs at least (Ehrenfeucht, Haussler, Kearns and Valiant, 1989)."""
    if n is not None or epsilon is None or delta is None:
        raise DataError("the lower bound is one of n: give epsilon and delta, and leave out n.")
    e, p = np.asarray(epsilon, dtype=float), np.asarray(delta, dtype=float)
    if not ((e > 0) & (e <= 1 / 8)).all() or not ((p > 0) & (p <= 1 / 100)).all():
        raise DataError(
            f"the lower bound is proved for epsilon ≤ 1/8 and delta ≤ 1/100; got {epsilon} and {delta}."
        )
    if (dims < 1).any():
        raise DataError(f"d must be at least 1 for a lower bound; got {d}.")
    needed = np.maximum((1 - e) / e * np.log(1 / p), (dims - 1) / (32 * e))
    text = f"no learner of a class of VC dimension {d} does with fewer rows; {ASSUMES}"
    vacuous = np.zeros(needed.shape, bool)
    return Bound(needed.item(), "n", False, text) if not needed.ndim else Bound(needed, "n", vacuous, text)


def solve(
    n: Any,
    epsilon: Any,
    delta: Any,
    failure: Callable[..., LogFailure],
    capacity: tuple[Any, ...],
    statement: str,
    start: Callable[..., float] | None = None,
    needs: float = 0.0,
) -> Bound:
    """Return the bound for whichever of n, epsilon and delta is None, element by element.

    The search for n begins at `start`, beyond which the probability only falls; the theorem asks for a product of n and
    epsilon of at least `needs`.
    """
    given = {"n": n, "epsilon": epsilon, "delta": delta}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise DataError(f"give two of n, epsilon and delta, and leave out the third; missing are {missing}.")
    of = missing[0]
    for name, value in given.items():
        if value is not None:
            _check(name, value)
    known = [np.asarray(value, dtype=float) for value in given.values() if value is not None]
    cells = np.broadcast_arrays(*known, *capacity)
    find = {"n": _find_n, "epsilon": _find_epsilon, "delta": _find_delta}[of]
    values = np.array(
        [find(failure, start, needs, *map(float, cell)) for cell in zip(*(np.ravel(cell) for cell in cells))],
        dtype=object if of == "n" else float,
    ).reshape(cells[0].shape)
    if of == "n":
        values = values.astype(np.int64)
    vacuous = np.zeros(values.shape, bool) if of == "n" else values >= 1.0
    if not values.ndim:
        return Bound(values.item(), of, bool(vacuous), statement)
    return Bound(values, of, vacuous, statement)


def _find_n(failure: Any, start: Any, needs: float, epsilon: float, delta: float, *capacity: float) -> int:
    log_failure, goal = failure(*capacity), np.log(delta)
    first = max(1, int(np.ceil(needs / epsilon)))
    if start is not None:
        first = max(first, int(np.ceil(start(epsilon, *capacity))))
    if log_failure(first, epsilon) <= goal:
        return first
    low, high = first, 2 * first
    while log_failure(high, epsilon) > goal:
        low, high = high, 2 * high
        if high > MOST_ROWS:
            raise DegenerateError(f"no sample of less than {MOST_ROWS:.0e} rows is enough; raise epsilon.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if log_failure(middle, epsilon) > goal else (low, middle)
    return high


def _find_epsilon(failure: Any, start: Any, needs: float, n: float, delta: float, *capacity: float) -> float:
    log_failure, goal = failure(*capacity), np.log(delta)
    high = 1.0
    while log_failure(n, high) > goal:
        high *= 2.0
        if high > 1e9:
            return float("inf")  # so few rows that no error is promised at all
    low = 0.0
    if not np.isfinite(log_failure(n, high)):  # the exact forms end at one
        found = _bisect(lambda e: log_failure(n, e) - goal, low, high)
    else:
        found = brentq(lambda e: log_failure(n, e) - goal, low, high, xtol=1e-300, rtol=1e-14)
    return max(float(found), needs / n)


def _bisect(excess: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _find_delta(failure: Any, start: Any, needs: float, n: float, epsilon: float, *capacity: float) -> float:
    if n * epsilon < needs * (1 - 1e-12):
        return float("inf")  # too few rows for the theorem
    with np.errstate(over="ignore"):
        return float(np.exp(failure(*capacity)(n, epsilon)))


def _check(name: str, value: Any) -> None:
    values = np.asarray(value, dtype=float)
    if name == "n":
        if not (values >= 1).all() or (values != np.floor(values)).any() or np.isinf(values).any():
            raise DataError(f"n must be a whole number of at least 1; got {value}.")
    elif name == "delta":
        if not ((values > 0) & (values < 1)).all():
            raise DataError(
                f"delta must lie between 0 and 1, both excluded; got {value}. No sample makes it 0."
            )
    elif not (values > 0).all():
        raise DataError(f"epsilon must be positive; got {value}.")


def _log_size(size: Any, log_size: Any) -> Any:
    if (size is None) == (log_size is None):
        raise DataError("give size, the number of hypotheses, or log_size, its natural logarithm.")
    if size is not None:
        sizes = np.asarray(size, dtype=object)
        if any(one < 1 for one in sizes.ravel()):
            raise DataError(f"size must be at least 1; got {size}.")
        # math.log takes an integer of any size
        return np.array([log(one) for one in sizes.ravel()]).reshape(sizes.shape)
    logs = np.asarray(log_size, dtype=float)
    if not (logs >= 0).all():
        raise DataError(f"log_size must not be negative; got {log_size}.")
    return logs


def _one_of(name: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise DataError(f"{name} must be one of {options}; got {value!r}.{nearest(value, options)}")
