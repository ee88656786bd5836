"""Averages: expectations from samples, and means that are kept up to date one number at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError


class Expectation(NamedTuple):
    """An estimated expectation."""

    mean: float
    standard_error: float


def expectation(
    samples: Iterable[Any],
    f: Callable[[Any], float],
    *,
    method: str = "model_free",
    key: Callable[[Any], Any] | None = None,
) -> Expectation:
    r"""Estimate E[f(X)] from samples, with or without a model of X.

    Model-free is :math:`\frac1k \sum_i f(x_i)`; model-based counts first, :math:`\hat p(x) = \#x / k`, and returns
    :math:`\sum_x \hat p(x) f(x)`, which calls `f` once for every different value. On the same sample both are the
    same number.

    Parameters
    ----------
    samples : iterable
    f : function
    method : {"model_free", "model_based"}
    key : function, optional
        What makes two samples equal, where they cannot be counted as they are.

    Examples
    --------
    >>> from gnomon.decide import EmpiricalModel
    >>> EmpiricalModel.expectation([1, 3, 3, 2, 1, 1], lambda x: x**2, method="model_based").mean
    4.166666666666667
    """
    values = list(samples)
    if not values:
        raise DataError("samples are empty; an expectation needs at least one.")
    if method == "model_free":
        numbers, counts = np.array([_called(f, x) for x in values]), np.ones(len(values))
    elif method == "model_based":
        try:
            kinds = Counter(map(key, values) if key else values)
        except TypeError as error:
            raise DataError(
                "samples of this type cannot be counted; give a `key`, such as a rounded tuple."
            ) from error
        first = {}
        for x in values:
            first.setdefault(key(x) if key else x, x)
        numbers, counts = (
            np.array([_called(f, first[k]) for k in kinds]),
            np.array(list(kinds.values()), dtype=float),
        )
    else:
        raise DataError(f"method must be 'model_free' or 'model_based'; got {method!r}.")
    k = counts.sum()
    mean = float((counts * numbers).sum() / k)
    spread = float((counts * (numbers - mean) ** 2).sum())
    return Expectation(mean, float(np.sqrt(spread / (k - 1) / k)) if k > 1 else float("nan"))


def _called(f: Callable[[Any], float], x: Any) -> float:
    y = float(f(x))
    if not np.isfinite(y):
        raise DataError(f"f is {y} at the sample {x!r}; it must be finite.")
    return y


class RunningMean:
    r"""A mean that is kept up to date, of all numbers or with fading memory.

    Without `alpha` :math:`\bar x_k = \bar x_{k-1} + (x_k - \bar x_{k-1})/k`, with the variance by Welford's sums.
    With it
    :math:`\bar x_n = \alpha x_n + (1-\alpha)\bar x_{n-1}`, divided by the weight
    :math:`1-(1-\alpha)^n` that it has gathered, so
    that the first values are not too small: this is exactly the mean weighted by :math:`(1-\alpha)^{n-i}`. NaN is
    skipped and
    counted.

    Parameters
    ----------
    alpha : float in (0, 1], optional
        Weight of the newest number.
    correct : bool
        Divide by the weight gathered.
    initial : float, optional
        Begin with this number instead of nothing; then there is nothing to correct.

    Attributes
    ----------
    value, variance, weight : float
        Variance without `alpha` only.
    count, skipped : int

    Examples
    --------
    >>> fading = RunningMean(0.5)
    >>> [round(fading.update(x), 4) for x in (4, 2, 6, 3)]
    [4.0, 2.6667, 4.5714, 3.7333]
    >>> plain = RunningMean()
    >>> [plain.update(x) for x in (4, 2, 6)], plain.variance
    ([4.0, 3.0, 4.0], 4.0)
    """

    def __init__(
        self, alpha: float | None = None, *, correct: bool = True, initial: float | None = None
    ) -> None:
        if alpha is not None and not 0.0 < alpha <= 1.0:
            raise DataError(f"alpha must be above 0 and at most 1; got {alpha!r}.")
        self.alpha, self.correct = alpha, correct and initial is None
        self.count = self.skipped = 0
        self.weight = 0.0 if initial is None else 1.0
        self._mean = 0.0 if initial is None else float(initial)
        self._squares = 0.0

    def update(self, x: float) -> float:
        """Take a number in; return the mean."""
        if np.isnan(x):
            self.skipped += 1
            return self.value
        self.count += 1
        rate = 1.0 / self.count if self.alpha is None else self.alpha
        off = x - self._mean
        self._mean += rate * off
        self._squares += off * (x - self._mean)
        self.weight = 1.0 if self.alpha is None else self.weight + rate * (1.0 - self.weight)
        return self.value

    @property
    def value(self) -> float:
        """The mean; NaN before the first number."""
        if self.weight == 0.0 and self.count == 0:
            return float("nan")
        return self._mean / self.weight if self.correct and self.alpha is not None else self._mean

    @property
    def variance(self) -> float:
        """The sample variance, of the plain mean."""
        if self.alpha is not None:
            raise DataError("the variance is kept for alpha=None only.")
        return self._squares / (self.count - 1) if self.count > 1 else float("nan")
