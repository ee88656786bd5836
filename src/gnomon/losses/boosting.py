"""Losses of boosted trees: starting value, gradients and curvatures, leaf values, and what is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, softmax

from gnomon.core.errors import DataError
from gnomon.core.quantiles import weighted_quantile
from gnomon.core.threads import shared
from gnomon.loops import boosting as loop
from gnomon.loops.absolute import weighted_median

Array = np.ndarray
Told: TypeAlias = tuple[float, float, float]  # summed loss, max |g|, max h
CHUNK = 65_536  # rows of a part, at most
WHOLE = 16_384  # rows not worth cutting


def chunks(n: int) -> list[tuple[int, int]]:
    """Cut n rows into even parts, at least four of them where there are many; they depend on n alone."""
    parts = 1 if n <= WHOLE else max(4, -(-n // CHUNK))
    return [(n * k // parts, n * (k + 1) // parts) for k in range(parts)]


def leaf_quantile(y: Array, w: Array, q: float) -> float:
    """The lower weighted quantile; of a half the midpoint, by a compiled loop: leaves are many and small."""
    if q == 0.5:
        return float(weighted_median(y.copy(), w.copy()))
    order = np.argsort(y, kind="stable")
    cumulated = np.cumsum(w[order])
    return float(y[order[min(np.searchsorted(cumulated, q * cumulated[-1] * (1 - 1e-14)), len(y) - 1)]])


def _tops(g: Array, h: Array) -> tuple[float, float]:
    """Largest |g| and largest h."""
    found = np.empty(2)
    loop.tops(g.view(np.int64), h.view(np.int64), found.view(np.int64))
    return float(found[0]), float(found[1])


def _of_all(parts: Sequence[Told]) -> Told:
    """Return what is told of all rows by what is told of their parts."""
    total, top_g, top_h = zip(*parts)
    return float(sum(total)), max(top_g), max(top_h)


class Objective:
    """A loss of raw scores with its derivatives; `code` names it to the compiled loop."""

    code: int
    n_raw = 1  # scores per row
    newton = True  # leaf value is -G / (H + l2); else `leaf_value` decides
    bounded = False  # |g| and h are bounded by the weights
    even = False  # h is the weight

    def check(self, y: Array) -> None:
        """Refuse targets outside the domain."""

    def start(self, y: Array, w: Array) -> Array:
        """The best constant scores, (n_raw,)."""
        return np.array([np.average(y, weights=w)])

    def derivatives(self, y: Array, raw: Array, w: Array, g: Array, h: Array) -> list[Told]:
        """Fill g and h, (n_raw, n) as the scores are; return what is told of every score."""
        parts = shared(
            lambda block: loop.gradients(self.code, y, raw[0], w, *block, g[0], h[0]), chunks(len(y))
        )
        return [_of_all(parts)]

    def loss(self, y: Array, raw: Array, w: Array) -> float:
        """Mean loss."""
        told = self.derivatives(y, raw, w, *np.empty((2, self.n_raw, len(y))))
        return sum(loss for loss, _, _ in told) / float(w.sum())

    def leaf_value(self, residual: Array, w: Array) -> float:
        """Value of a leaf from the residuals y - raw of its rows, where Newton's step is not used."""
        raise NotImplementedError

    def mean(self, raw: Array) -> Array:
        """What is predicted from scores (n_raw, n)."""
        return raw[0]


class SquaredError(Objective):
    """Half the squared error."""

    even = True

    def derivatives(self, y: Array, raw: Array, w: Array, g: Array, h: Array) -> list[Told]:
        def one(block: tuple[int, int]) -> Told:
            part = slice(*block)
            total = loop.squared_gradients(y[part], raw[0, part], w[part], g[0, part], h[0, part])
            return total, *_tops(g[0, part], h[0, part])

        return [_of_all(shared(one, chunks(len(y))))]


class LogLoss(Objective):
    """Minus the log-likelihood of two classes; y is 0 or 1."""

    bounded = True

    def start(self, y: Array, w: Array) -> Array:
        p = np.average(y, weights=w)
        edge = np.finfo(np.float64).eps
        p = min(max(p, edge), 1 - edge)
        return np.array([np.log(p / (1 - p))])

    def derivatives(self, y: Array, raw: Array, w: Array, g: Array, h: Array) -> list[Told]:
        def one(block: tuple[int, int]) -> Told:
            part = slice(*block)
            shrunk = np.exp(-np.abs(raw[0, part]))
            rest = loop.logistic_gradients(y[part], raw[0, part], w[part], shrunk, g[0, part], h[0, part])
            return rest + float(w[part] @ np.log(1.0 + shrunk)), *_tops(g[0, part], h[0, part])

        return [_of_all(shared(one, chunks(len(y))))]

    def mean(self, raw: Array) -> Array:
        p = expit(raw[0])
        return np.stack([1 - p, p], axis=1)


class SoftmaxLoss(Objective):
    """Minus the log-likelihood of K classes; y holds class codes."""

    bounded = True

    def __init__(self, n_classes: int) -> None:
        self.n_raw = n_classes

    def start(self, y: Array, w: Array) -> Array:
        p = np.bincount(y.astype(np.int64), weights=w, minlength=self.n_raw) / w.sum()
        found = np.log(np.maximum(p, np.finfo(np.float64).eps))
        return found - found.mean()

    def derivatives(self, y: Array, raw: Array, w: Array, g: Array, h: Array) -> list[Told]:
        def one(block: tuple[int, int]) -> list[Told]:
            part = slice(*block)
            shares = raw[:, part] - raw[:, part].max(axis=0)
            labels, total = y[part].astype(np.int64), np.empty(shares.shape[1])
            own = shares[labels, np.arange(len(labels))]
            np.exp(shares, out=shares)
            loop.softmax_gradients(y, w, block[0], shares, total, g, h)
            losses = np.bincount(labels, w[part] * (np.log(total) - own), minlength=self.n_raw)
            return [(float(losses[k]), *_tops(g[k, part], h[k, part])) for k in range(self.n_raw)]

        return [_of_all(parts) for parts in zip(*shared(one, chunks(len(y))))]

    def mean(self, raw: Array) -> Array:
        return softmax(raw, axis=0).T


class Exponential(Objective):
    """AdaBoost's loss exp(-y F); y is -1 or +1."""

    code = loop.EXPONENTIAL

    def start(self, y: Array, w: Array) -> Array:
        p = min(max(np.average(y > 0, weights=w), 1e-15), 1 - 1e-15)
        return np.array([0.5 * np.log(p / (1 - p))])

    def mean(self, raw: Array) -> Array:
        p = expit(2 * raw[0])
        return np.stack([1 - p, p], axis=1)


class Poisson(Objective):
    """Half the Poisson deviance in log space."""

    code = loop.POISSON

    def check(self, y: Array) -> None:
        if (y < 0).any() or y.sum() <= 0:
            raise DataError("loss='poisson' needs targets that are not negative and not all zero.")

    def start(self, y: Array, w: Array) -> Array:
        return np.array([np.log(np.average(y, weights=w))])

    def mean(self, raw: Array) -> Array:
        return np.exp(raw[0])


class Gamma(Poisson):
    """Half the Gamma deviance in log space."""

    code = loop.GAMMA

    def check(self, y: Array) -> None:
        if (y <= 0).any():
            raise DataError("loss='gamma' needs positive targets.")


class _Signed(Objective):
    """Losses of the residual with bounded gradients; leaf values are order statistics."""

    newton = False
    even = True

    def derivatives(self, y: Array, raw: Array, w: Array, g: Array, h: Array) -> list[Told]:
        r = y - raw[0]
        value, slope = self.pieces(r, w)
        g[0], h[0] = -w * slope, w
        return [(float((w * value).sum()), float(np.abs(g).max()), float(w.max()))]

    def pieces(self, r: Array, w: Array) -> tuple[Array, Array]:
        """Loss and derivative as functions of the residual."""
        raise NotImplementedError


class Quantile(_Signed):
    """The pinball loss; `quantile=0.5` is half the absolute error."""

    def __init__(self, quantile: float = 0.5, scale: float = 1.0) -> None:
        self.q, self.scale = quantile, scale

    def start(self, y: Array, w: Array) -> Array:
        return np.array([leaf_quantile(y, w, self.q)])

    def pieces(self, r: Array, w: Array) -> tuple[Array, Array]:
        slope = self.scale * np.where(r > 0, self.q, np.where(r < 0, self.q - 1, 0.0))
        return slope * r, slope

    def leaf_value(self, residual: Array, w: Array) -> float:
        return leaf_quantile(residual, w, self.q)


class Huber(_Signed):
    """Squared near zero, absolute beyond the alpha-quantile of the residuals."""

    def __init__(self, alpha: float = 0.9) -> None:
        self.alpha, self.delta = alpha, 1.0

    def start(self, y: Array, w: Array) -> Array:
        return np.array([leaf_quantile(y, w, 0.5)])

    def pieces(self, r: Array, w: Array) -> tuple[Array, Array]:
        self.delta = weighted_quantile(np.abs(r), w, self.alpha)
        small = np.abs(r) <= self.delta
        value = np.where(small, 0.5 * r * r, self.delta * (np.abs(r) - 0.5 * self.delta))
        return value, np.clip(r, -self.delta, self.delta)

    def leaf_value(self, residual: Array, w: Array) -> float:
        median = leaf_quantile(residual, w, 0.5)
        return median + float(np.average(np.clip(residual - median, -self.delta, self.delta), weights=w))


def objective_of(model: Any, n_classes: int) -> Objective:
    """Return the objective that a model's `loss` names."""
    if n_classes:
        if model.loss == "exponential":
            if n_classes != 2:
                raise DataError(f"loss='exponential' needs two classes; y has {n_classes}.")
            return Exponential()
        return LogLoss() if n_classes <= 2 else SoftmaxLoss(n_classes)
    if model.loss in ("quantile", "absolute_error"):
        alpha = getattr(model, "quantile", None) or getattr(model, "alpha", None) or 0.5
        return Quantile(alpha) if model.loss == "quantile" else Quantile(0.5, 2.0)
    if model.loss == "huber":
        return Huber(model.alpha)
    return {"squared_error": SquaredError, "poisson": Poisson, "gamma": Gamma}[model.loss]()
