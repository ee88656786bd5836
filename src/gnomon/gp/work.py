"""The workspace of a fit: data as the process sees them, and the objective that is climbed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.data import Data
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.randomness import stream
from gnomon.core.rows import MemoryRows, Rows
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import warn
from gnomon.gp import exact, inducing
from gnomon.gp.ascent import Ascent, Objective, begin, climb

SAMPLE = 750  # rows on which a climb over many rows begins
SAMPLE_STEPS = 100
SAMPLE_GAIN = 1e-3  # of the log evidence: a step on the sample that gains less is the last


class TargetSums(NamedTuple):
    """How many rows there are, and the sum of their targets."""

    n: int
    y: Array


def target_sums(chunk: Chunk, center: Array | float, power: int) -> TargetSums:
    """Σ (y − center)^power of a chunk."""
    y = np.asarray(chunk.y, dtype=np.float64)
    return TargetSums(len(y), ((y.reshape(len(y), -1) - center) ** power).sum(axis=0))


def chosen_rows(chunk: Chunk, chosen: Array) -> Array:
    """Those rows of a chunk whose numbers are chosen."""
    return np.asarray(chunk.X, dtype=np.float64)[_inside(chunk, chosen)]


def chosen_targets(chunk: Chunk, chosen: Array) -> Array:
    """The targets of those rows."""
    return np.asarray(chunk.y, dtype=np.float64)[_inside(chunk, chosen)]


def _inside(chunk: Chunk, chosen: Array) -> Array:
    first, last = np.searchsorted(chosen, [chunk.start, chunk.start + len(chunk.X)])
    return chosen[first:last] - chunk.start


class Work:
    """Everything that a fit needs and a model does not."""

    def __init__(self, data: Any, kernel: Any, plan: inducing.Plan, flat: bool, points: Any) -> None:
        self.data, self.kernel, self.plan, self.flat = data, kernel, plan, flat
        self.sparse = points is not None
        self.asked = points
        self.points: Array | None = None
        self.rounds = 0
        self.last = -np.inf
        if not self.sparse:
            y = np.asarray(data.y, dtype=np.float64)
            self.y = (y.reshape(len(y), -1) - plan.shift) / plan.scale
            self.noise = np.zeros(len(y)) + plan.noise
            if not _white(kernel, data.X):
                exact.contradiction(data.X, self.y, self.noise)

    def objective(self, gradient: bool) -> Objective:
        """Return the log evidence as a function of θ; where there is none it is −∞, but not at the start."""
        first = [True]

        def value(theta: Array) -> tuple[float, Array, Any]:
            kernel = self.kernel.clone_with_theta(theta)
            try:
                found = self._evaluate(kernel, gradient)
            except DegenerateError:
                if first[0] and self.last == -np.inf:
                    raise
                return -np.inf, np.zeros_like(theta), None
            first[0] = False
            self.last = found[0]
            return found

        return value

    def _evaluate(self, kernel: Any, gradient: bool) -> tuple[float, Array, Any]:
        if self.sparse:
            return inducing.bound(self.data, kernel, self._points(kernel), self.plan, gradient=gradient)
        fit = exact.posterior(kernel, self.data.X, self.y, self.noise)
        slopes = exact.evidence_gradient(fit) if gradient else np.zeros(kernel.n_dims)
        return fit.evidence, slopes, fit

    def start(self, theta: Array, bounds: Array) -> Ascent:
        """Return the state at θ, or where a climb on a sample of the rows leads from there, if that is higher.

        Rows are alike, so a few of them nearly know the hyper-parameters, at a small part of the cost; and the
        evidence of n rows is about n/m times as curved as that of m.
        """
        state = begin(self.objective(True), theta)
        if len(self.data) < 2 * SAMPLE or not isinstance(self.data, Rows):
            return state
        try:
            small = self._sampled()
            ahead = begin(small.objective(True), theta)
            for _ in range(SAMPLE_STEPS):
                before, ahead = ahead.value, climb(small.objective(True), bounds, ahead)
                if ahead.done or ahead.value < before + SAMPLE_GAIN:
                    break
        except DegenerateError:
            return state
        points, self.points = self.points, None  # chosen anew, for another kernel
        told = begin(self.objective(True), ahead.theta)
        if not told.value > state.value:
            self.points = points
            return state
        return told._replace(bend=ahead.bend * (len(self.data) / SAMPLE), steps=ahead.steps)

    def _sampled(self) -> Work:
        """Return the exact process of some of the rows, always the same ones."""
        chosen = np.sort(stream(SAMPLE, 0).choice(len(self.data), SAMPLE, replace=False))
        X, y = per_row(chosen_rows, self.data, chosen), per_row(chosen_targets, self.data, chosen)
        plan = self.plan._replace(noise=self.plan.noise[chosen]) if np.ndim(self.plan.noise) else self.plan
        return Work(MemoryRows(X, y), self.kernel, plan, self.flat, None)

    def _points(self, kernel: Any) -> Array:
        if self.points is None:
            if np.ndim(self.asked):
                self.points = np.asarray(self.asked, dtype=np.float64)
                shape = self.points.shape
                if len(shape) != 2 or shape[1] != self.data.n_features or shape[0] == 0:
                    raise DataError(
                        f"inducing must be a number or points of {self.data.n_features} columns; got shape {shape}."
                    )
            else:
                self.points = inducing.choose(self.data, kernel, int(self.asked))
        return self.points

    def repoint(self, state: Ascent) -> bool:
        """Choose the inducing points again, for the kernel found; keep them where the bound gains, once."""
        if not self.sparse or np.ndim(self.asked) or self.rounds:
            return False
        self.rounds += 1
        kernel, before = self.kernel.clone_with_theta(state.theta), self.points
        points = inducing.choose(self.data, kernel, int(self.asked))
        value = inducing.bound(self.data, kernel, points, self.plan, gradient=False)[0]
        if value <= state.value + 1e-6 * max(1.0, abs(state.value)):
            self.points = before
            return False
        self.points = points
        return True


def _white(kernel: Any, X: Any) -> bool:
    few = X[:1]
    return bool(exact.noise_of(kernel, few)[0] > 0)


def prepared(model: Any, data: Data, kernel: Any) -> Work:
    """Return the workspace of a fit."""
    shape, flat = _target_shape(data)
    if model.n_targets is not None and shape != model.n_targets:
        raise ValueError(
            f"The number of targets seen in `y` is different from the parameter `n_targets`. Got {shape} != "
            f"{model.n_targets}."
        )
    shift, scale = np.zeros(shape), np.ones(shape)
    if model.normalize_y:
        shift, scale = _moments(data, shape)
    noise = variances(model.alpha, len(data))
    return Work(data, kernel, inducing.Plan(shift, scale, noise), flat, model.inducing)


def variances(alpha: Any, n: int) -> Any:
    """Return the noise beside the kernel's, checked: one variance, or one for each of n rows."""
    noise: Any = np.asarray(alpha, dtype=np.float64)
    if noise.ndim:
        if noise.shape == (1,):
            noise = noise[0]
        elif noise.shape != (n,):
            raise ValueError(
                f"alpha must be a scalar or an array with same number of entries as y. "
                f"({', '.join(map(str, noise.shape))} != {n})"
            )
    if np.any(noise < 0) or not np.all(np.isfinite(noise)):
        raise DataError("alpha must hold finite variances, none negative.")
    return noise


def _target_shape(data: Any) -> tuple[int, bool]:
    if hasattr(data, "y"):
        y = np.asarray(data.y)
        return (1, True) if y.ndim == 1 or y.shape[1] == 1 else (y.shape[1], False)
    return 1, True  # a column of a table


def _moments(data: Any, t: int) -> tuple[Array, Array]:
    if isinstance(data, Rows):
        first = total(target_sums, data, 0.0, 1)
        mean = first.y / first.n
        square = total(target_sums, data, mean, 2).y / first.n
    else:
        y = np.asarray(data.y, dtype=np.float64).reshape(len(data), -1)
        mean = y.mean(axis=0)
        square = ((y - mean) ** 2).mean(axis=0)
    scale = np.sqrt(square)
    return mean, np.where(scale > 10 * np.finfo(float).eps * np.maximum(1.0, np.abs(mean)), scale, 1.0)


def warn_at_bounds(kernel: Any) -> None:
    """Warn of hyper-parameters that the climb left at a bound: the answer may be that of the bound."""
    bounds = np.asarray(kernel.bounds, dtype=np.float64).reshape(-1, 2)
    place = 0
    for one in kernel.hyperparameters:
        if one.fixed:
            continue
        for j in range(one.n_elements):
            theta, (low, high) = kernel.theta[place], bounds[place]
            side = "lower" if np.isclose(theta, low) else "upper" if np.isclose(theta, high) else None
            if side is not None:
                limit, change = (low, "Decreasing") if side == "lower" else (high, "Increasing")
                part = f"dimension {j} of parameter {one.name}"
                warn(
                    f"The optimal value found for {part} is close to the specified {side} bound "
                    f"{float(f'{np.exp(limit):.6g}')}. "
                    f"{change} the bound and calling fit again may find a better value.",
                    ConvergenceWarning,
                )
            place += 1


def outside_optimum(optimizer: Any, work: Work, theta: Array, bounds: Array) -> Array:
    """Run an optimizer of the user on minus the log evidence; return where it ends."""

    def loss(theta: Array, eval_gradient: bool = True) -> Any:
        value, slopes, _ = work.objective(eval_gradient)(np.asarray(theta, dtype=np.float64))
        return (-value, -slopes) if eval_gradient else -value

    found, _ = optimizer(loss, theta, bounds=bounds)
    return np.asarray(found, dtype=np.float64)
