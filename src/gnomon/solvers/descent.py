"""Minimize a function step by step: gradient, momentum, Nesterov, AdaGrad, Adam, Newton, L-BFGS, proximal,
coordinate.

Every method is a pure function ``step(function, state, options) -> state``; `minimize` applies it. The
function returns its value and gradient (and Hessian, for Newton).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, optimize

from gnomon.core.errors import DataError, DivergenceError, nearest
from gnomon.core.linalg import Array
from gnomon.solvers.schedules import Constant, Schedule


class DescentState(NamedTuple):
    """Where a descent stands: point, value, gradient, and what the method remembers."""

    x: Array
    value: float
    gradient: Array
    k: int = 0
    memory: tuple[Array, ...] = ()


class Options(NamedTuple):
    """What the steps may ask for."""

    rate: Schedule = Constant(0.1)
    momentum: float = 0.9
    decay: float = 0.0
    group: Array | None = None
    eps: float = 0.0
    penalty: Any = None
    memory: int = 10
    hessian: Callable[[Array], Array] | None = None
    blocks: Any = None
    armijo: float = 1e-4  # decrease that a line search asks for, relative to the slope
    unit_start: bool = False  # the first trial of L-BFGS has length one, as in SciPy's


class Minimum(NamedTuple):
    """What `minimize` found."""

    x: Array
    value: float
    gradient: Array
    n_iter: int
    converged: bool
    path: list[Array]  # every iterate, the start included
    trace: list[float]  # objective at every iterate


def at(function, x, **more) -> DescentState:
    """Return the state at a point."""
    value, gradient = function(x)[:2]
    return DescentState(x, float(value), np.asarray(gradient, dtype=float), **more)


def gradient_step(function, state: DescentState, options: Options) -> DescentState:
    """w ← (1 − ηλ) w − η g."""
    eta = options.rate(state.k)
    return at(function, (1.0 - eta * options.decay) * state.x - eta * state.gradient, k=state.k + 1)


def momentum_step(function, state: DescentState, options: Options) -> DescentState:
    """v ← μv − η g(w); w ← w + v."""
    v = state.memory[0] if state.memory else np.zeros_like(state.x)
    v = options.momentum * v - options.rate(state.k) * state.gradient
    return at(function, state.x + v, k=state.k + 1, memory=(v,))


def nesterov_step(function, state: DescentState, options: Options) -> DescentState:
    """v ← μv − η g(w + μv); w ← w + v; reported at w."""
    v = state.memory[0] if state.memory else np.zeros_like(state.x)
    ahead = np.asarray(function(state.x + options.momentum * v)[1], dtype=float)
    v = options.momentum * v - options.rate(state.k) * ahead
    return at(function, state.x + v, k=state.k + 1, memory=(v,))


def adagrad_step(function, state: DescentState, options: Options) -> DescentState:
    """G ← G + g²; w ← w − η g/√G; coordinates that never had a gradient stay."""
    G = state.memory[0] if state.memory else np.zeros_like(state.x)
    squares = state.gradient**2
    if options.group is not None:
        squares = np.bincount(options.group, weights=squares)[options.group]
    G = G + squares
    root = np.sqrt(G) + options.eps
    scaled = np.divide(state.gradient, root, out=np.zeros_like(G), where=root > 0.0)
    return at(function, state.x - options.rate(state.k) * scaled, k=state.k + 1, memory=(G,))


def adam_step(function, state: DescentState, options: Options) -> DescentState:
    """m, v ← running means of g and g² with weights 0.9 and 0.999; w ← w − η m̂/(√v̂ + 1e-8) (Kingma and Ba, 2015)."""
    m, v = state.memory or (np.zeros_like(state.x), np.zeros_like(state.x))
    k = state.k + 1
    m, v = 0.9 * m + 0.1 * state.gradient, 0.999 * v + 0.001 * state.gradient**2
    step = (m / (1.0 - 0.9**k)) / (np.sqrt(v / (1.0 - 0.999**k)) + (options.eps or 1e-8))
    return at(function, state.x - options.rate(state.k) * step, k=k, memory=(m, v))


def newton_step(function, state: DescentState, options: Options) -> DescentState:
    """w ← w − t H⁻¹g with Armijo halving; a shifted Hessian where it is not positive definite."""
    hessian = options.hessian(state.x) if options.hessian else function(state.x)[2]
    direction = -_definite_solve(np.atleast_2d(hessian), state.gradient)
    return _armijo(function, state, direction)


def _definite_solve(H: Array, g: Array) -> Array:
    try:
        return linalg.cho_solve(linalg.cho_factor(H), g)
    except linalg.LinAlgError:
        values, V = linalg.eigh(H)
        return V @ ((V.T @ g) / np.maximum(np.abs(values), 1e-8 * max(1e-300, np.abs(values).max())))


def _armijo(function, state, direction):
    slope = float(np.vdot(state.gradient, direction))
    for power in range(50):
        new = at(function, state.x + 0.5**power * direction, k=state.k + 1)
        if new.value <= state.value + 1e-4 * 0.5**power * slope + 1e-15 * abs(state.value):
            return new
    return state._replace(k=state.k + 1)


def lbfgs_step(function, state: DescentState, options: Options) -> DescentState:
    """Two-loop recursion over the last pairs, then a strong Wolfe search (SciPy's)."""
    S, Y = state.memory or (np.empty((0, state.x.size)), np.empty((0, state.x.size)))
    direction = -two_loops(state.gradient.ravel(), S, Y).reshape(state.x.shape)
    seen: dict[bytes, DescentState] = {}

    def look(x):
        key = x.tobytes()
        if key not in seen:
            seen[key] = at(function, x.reshape(state.x.shape), k=state.k + 1)
        return seen[key]

    x0 = state.x.ravel()
    if not len(S):
        long = np.linalg.norm(direction) if options.unit_start else max(1.0, np.abs(direction).sum())
        direction = direction / float(long or 1.0)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = optimize.line_search(
            lambda x: look(x).value,
            lambda x: look(x).gradient.ravel(),
            x0,
            direction.ravel(),
            state.gradient.ravel(),
            state.value,
            c1=options.armijo,
            c2=0.9,
            maxiter=30,
        )[0]
    new = look(x0 + step * direction.ravel()) if step else _armijo(function, state, direction)
    s, y = (new.x - state.x).ravel(), (new.gradient - state.gradient).ravel()
    if s @ y > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
        S, Y = np.vstack([S, s])[-options.memory :], np.vstack([Y, y])[-options.memory :]
    elif not step:
        S, Y = S[:0], Y[:0]
    return new._replace(memory=(S, Y))


def two_loops(g: Array, S: Array, Y: Array) -> Array:
    """Return the L-BFGS approximation of H⁻¹g, with H₀ = (sᵀy/yᵀy) I."""
    q, alphas = g.copy(), np.empty(len(S))
    rho = 1.0 / np.einsum("ij,ij->i", S, Y) if len(S) else S
    for i in reversed(range(len(S))):
        alphas[i] = rho[i] * (S[i] @ q)
        q -= alphas[i] * Y[i]
    if len(S):
        q *= (S[-1] @ Y[-1]) / (Y[-1] @ Y[-1])
    for i in range(len(S)):
        q += (alphas[i] - rho[i] * (Y[i] @ q)) * S[i]
    return q


def proximal_step(function, state: DescentState, options: Options) -> DescentState:
    """w ← prox(w − ηg), η halved until the quadratic model lies above the function."""
    step = float(state.memory[0]) if state.memory else 1.0
    x, step = _prox_search(function, options.penalty, state.x, state.value, state.gradient, step)
    return at(function, x, k=state.k + 1, memory=(np.asarray(step),))


def accelerated_proximal_step(function, state: DescentState, options: Options) -> DescentState:
    """FISTA with back-tracking; the momentum restarts when the objective rises."""
    step, t, ahead = state.memory if state.memory else (np.asarray(1.0), np.asarray(1.0), state.x)
    value, gradient = function(ahead)[:2]
    x, size = _prox_search(function, options.penalty, ahead, float(value), np.asarray(gradient), float(step))
    new = at(function, x, k=state.k + 1)
    penalty = options.penalty.value
    if new.value + penalty(x) > state.value + penalty(state.x):
        if ahead is state.x or not np.any(ahead - state.x):
            return state._replace(k=state.k + 1, memory=(np.asarray(size), np.asarray(1.0), state.x))
        return accelerated_proximal_step(
            function, state._replace(memory=(np.asarray(size), np.asarray(1.0), state.x)), options
        )
    t_next = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * float(t) ** 2))
    ahead = x + (float(t) - 1.0) / t_next * (x - state.x)
    return new._replace(memory=(np.asarray(size), np.asarray(t_next), ahead))


def _prox_search(function, penalty, x, value, gradient, step):
    step *= 1.5
    while True:
        new = penalty.prox(x - step * gradient, step)
        move = new - x
        bound = value + float(np.vdot(gradient, move)) + float(np.vdot(move, move)) / (2.0 * step)
        if float(function(new)[0]) <= bound + 1e-14 * abs(value) or step < 1e-18:
            return new, step
        step *= 0.5


def coordinate_step(function, state: DescentState, options: Options) -> DescentState:
    """Exact minimization over one coordinate (or block) after the other, by a Newton or Brent search."""
    x = state.x.copy()
    blocks = options.blocks or [[j] for j in range(x.size)]
    for block in blocks:
        found = optimize.minimize(lambda part, b=block: _with(function, x, b, part), x[block], method="BFGS")
        x[block] = found.x
    return at(function, x, k=state.k + 1)


def _with(function, x, block, part):
    trial = x.copy()
    trial[block] = part
    return float(function(trial)[0])


METHODS = {
    "gd": gradient_step,
    "momentum": momentum_step,
    "nesterov": nesterov_step,
    "adagrad": adagrad_step,
    "adam": adam_step,
    "newton": newton_step,
    "lbfgs": lbfgs_step,
    "proximal": proximal_step,
    "fista": accelerated_proximal_step,
    "coordinate": coordinate_step,
}


def minimize(
    function: Callable[[Array], tuple[Any, ...]],
    start: Any,
    *,
    method: str = "lbfgs",
    learning_rate: float | Schedule = 0.1,
    max_iter: int = 1000,
    tol: float = 1e-8,
    **options: Any,
) -> Minimum:
    r"""Minimize a function of a vector, and keep the path.

    Parameters
    ----------
    function : callable
        ``function(w)`` returns the value and the gradient; for ``"newton"`` also the Hessian.
    start : array
        Where to begin.
    method : {"gd", "momentum", "nesterov", "adagrad", "adam", "newton", "lbfgs", "proximal", "fista", "coordinate"}
    learning_rate : float or Schedule
        For the first five methods.
    max_iter, tol : int, float
        Stop when the gradient (or, with a penalty, the last move) is at most `tol` in every entry.
    **options
        ``momentum``, ``decay`` (shrink factor λ), ``group`` (one AdaGrad scale per group), ``eps``,
        ``penalty`` (of `gnomon.losses`), ``memory`` (pairs of L-BFGS), ``blocks``.

    Returns
    -------
    Minimum
        With ``x``, ``value``, ``gradient``, ``n_iter``, ``converged``, ``path`` and ``trace``.

    Examples
    --------
    >>> bowl = lambda w: (0.5 * (w[0] ** 2 + 10 * w[1] ** 2), np.array([w[0], 10 * w[1]]))
    >>> minimize(bowl, [1.0, 1.0], method="gd", learning_rate=0.1, max_iter=2).x.round(6)
    array([0.81, 0.  ])
    """
    if method not in METHODS:
        raise ValueError(
            f"method must be one of {sorted(METHODS)}; got {method!r}.{nearest(method, METHODS)}"
        )
    schedule = learning_rate if isinstance(learning_rate, Schedule) else Constant(learning_rate)
    settings = _settings(method, schedule, options)
    state = _first(function, np.array(start, dtype=float), method, settings)
    path, trace = [state.x], [_objective(state, settings)]
    first = abs(trace[0])
    converged = _small(state, None, settings, tol)
    while not converged and state.k < max_iter:
        before, state = state, METHODS[method](function, state, settings)
        path.append(state.x)
        trace.append(_objective(state, settings))
        if not np.isfinite(trace[-1]) or trace[-1] > 1e8 * max(1.0, first):
            raise DivergenceError(
                f"the objective went from {trace[0]:.3g} to {trace[-1]:.3g}; lower learning_rate."
            )
        converged = _small(state, before, settings, tol)
    return Minimum(state.x, trace[-1], state.gradient, state.k, bool(converged), path, trace)


def _settings(method, schedule, options):
    unknown = sorted(set(options) - set(Options._fields))
    if unknown:
        raise ValueError(
            f"minimize has no option {unknown[0]!r}; there are {sorted(Options._fields[1:])}."
            f"{nearest(unknown[0], Options._fields)}"
        )
    settings = Options(rate=schedule, **options)
    if method in ("proximal", "fista") and settings.penalty is None:
        raise ValueError(f"method={method!r} needs a penalty, such as penalty=gnomon.losses.L1(0.1).")
    if settings.penalty is not None and not hasattr(settings.penalty, "prox"):
        raise ValueError(f"penalty must be one of gnomon.losses, such as L1(0.1); got {settings.penalty!r}.")
    return settings


def _first(function, start, method, settings) -> DescentState:
    """Return the state to begin with; what the function returns is looked at once, here."""
    if not callable(function):
        raise DataError(f"function must be callable; got {function!r}.")
    told = function(start)
    needed = 3 if method == "newton" and settings.hessian is None else 2
    if not isinstance(told, tuple | list) or len(told) < needed:
        what = "its value, its gradient and its Hessian" if needed == 3 else "its value and its gradient"
        raise DataError(f"function must return {what}; it returned {type(told).__name__}.")
    if np.ndim(told[0]) or np.shape(told[1]) != start.shape:
        raise DataError(
            f"function must return a number and a gradient of the shape of start, {start.shape}; their shapes are "
            f"{np.shape(told[0])} and {np.shape(told[1])}."
        )
    return DescentState(start, float(told[0]), np.asarray(told[1], dtype=float))


def _objective(state, settings):
    return state.value + (settings.penalty.value(state.x) if settings.penalty is not None else 0.0)


def _small(state, before, settings, tol):
    if settings.penalty is None:
        return np.abs(state.gradient + settings.decay * state.x).max(initial=0.0) <= tol
    return before is not None and state is not before and np.abs(state.x - before.x).max(initial=0.0) <= tol


def stable_learning_rate(X: Any, alpha: float = 0.0) -> tuple[float, float]:
    r"""Return the largest stable constant rate 2/L of least squares and the best one 2/(L+μ).

    L and μ are the largest and smallest eigenvalue of :math:`X^\top X/n + \alpha I`. Give X the column of
    ones if the model has an intercept.

    >>> [round(v, 6) for v in stable_learning_rate([[1, 0], [1, 1], [1, 2]])]
    [0.837722, 0.75]
    """
    X = np.asarray(X, dtype=float)
    values = linalg.eigvalsh(X.T @ X / len(X)) + alpha
    return float(2.0 / values[-1]), float(2.0 / (values[-1] + values[0]))


def batches(n: int, batch_size: int, rng: np.random.Generator, *, mode: str = "shuffle"):
    """Yield the row numbers of the mini-batches of one pass.

    ``"shuffle"`` visits every row once, ``"given"`` in the order of the data, ``"random"`` draws with
    replacement.

    >>> [b.tolist() for b in batches(5, 2, np.random.default_rng(0), mode="given")]
    [[0, 1], [2, 3], [4]]
    """
    modes = ("shuffle", "given", "random")
    if mode not in modes:
        raise ValueError(f"mode must be one of {modes}; got {mode!r}.{nearest(mode, modes)}")
    order = {"shuffle": rng.permutation, "given": np.arange, "random": lambda m: rng.integers(m, size=m)}[
        mode
    ](n)
    for begin in range(0, n, batch_size):
        yield order[begin : begin + batch_size]
