"""Bias and variance of any model, the bootstrap's error rate, and the luck of winners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import clone, is_classifier

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order


class BiasVariance(NamedTuple):
    """The parts of the expected loss at some points, averaged over them; arrays hold one number a point."""

    noise: float  # NaN when the generator does not tell the truth
    bias: float  # the squared bias for squared loss
    variance: float
    total: float
    standard_error: float  # of the total, from repeated training sets
    main: Array  # mean prediction, or the most frequent label
    predictions: Array  # (sets, points)
    points: Array
    truth: Array | None

    def plot(self, ax: Any = None) -> Any:
        """Draw many fits in gray, their mean, and the truth."""
        from gnomon.plot import bias_variance

        return bias_variance(self, ax=ax)


def bias_variance(
    estimator: Any,
    make_data: Callable[[np.random.Generator], Any],
    x0: Any,
    *,
    truth: Any = None,
    noise: float | None = None,
    loss: str = "auto",
    n_sets: int = 200,
    random_state: Any = None,
) -> BiasVariance:
    r"""Fit a model to many training sets and take its expected loss apart.

    .. math:: E(y_0 - \hat f_0)^2 = \sigma^2 + (f_0 - E\hat f_0)^2 + \operatorname{Var}\hat f_0

    For labels ("zero_one") the main prediction is the most frequent label; the bias is 1 where it is not the best
    label, the variance the chance that one fit differs from it (Domingos, A unified bias-variance decomposition, 2000);
    they add up to the excess loss only where the main label is right. The squared bias is freed of its own Monte-Carlo
    error, variance / n_sets. For ridge regression the parts are known exactly: `gnomon.linear.ridge_bias_variance`.

    Parameters
    ----------
    estimator : regressor or classifier
    make_data : callable
        ``make_data(rng)`` returns a training set X, y.
    x0 : array of shape (m, d)
        Points at which predictions are made.
    truth : array of shape (m,) or callable, optional
        The true means (best labels) at those points. Without it only variance and total spread are known.
    noise : float, optional
        Variance of the errors (chance that a label is not the best one); 0 when not given and the truth is.
    loss : {"auto", "squared", "zero_one"}
        "auto" takes "zero_one" for classifiers.
    n_sets : int, default=200
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> def make_data(rng):
    ...     x = rng.uniform(-1, 1, (30, 1))
    ...     return x, 2 * x[:, 0] + rng.normal(0, 0.5, 30)
    >>> found = bias_variance(LinearRegression(), make_data, [[0.5]], truth=[1.0], noise=0.25, random_state=0)
    >>> found.bias < 0.01 < found.variance < 0.03
    True
    """
    if n_sets < 2:
        raise DataError(f"n_sets must be at least 2; got {n_sets}.")
    options = ("auto", "squared", "zero_one")
    if loss not in options:
        raise DataError(f"loss must be one of {options}; got {loss!r}.{nearest(loss, options)}")
    if noise is not None and not noise >= 0:
        raise DataError(f"noise must not be negative; got {noise}.")
    if loss == "auto":
        loss = "zero_one" if is_classifier(estimator) else "squared"
    points = np.asarray(x0, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    best = None if truth is None else np.asarray(truth(points) if callable(truth) else truth)
    if best is not None and best.shape != (len(points),):
        raise DataError(
            f"truth must hold one value for each of {len(points)} points; its shape is {best.shape}."
        )
    if best is not None and loss == "squared" and not np.isfinite(best.astype(float)).all():
        raise DataError("truth must be finite; no squared error can be told for a mean that is not.")
    seed = draw_seed(generator(random_state))

    def once(index: int) -> Array:
        return np.asarray(clone(estimator).fit(*make_data(stream(seed, index))).predict(points))

    P = np.array(list(in_order(once, range(n_sets), "training sets")))
    parts = _squared(P, best, noise) if loss == "squared" else _zero_one(P, best, noise)
    return BiasVariance(*parts, P, points, best)


def _squared(P: Array, best: Array | None, noise: float | None) -> tuple[Any, ...]:
    mean, variance = P.mean(axis=0), P.var(axis=0)
    spread = float(variance.mean())
    if best is None:
        return float("nan"), float("nan"), spread, float("nan"), float("nan"), mean
    sigma2 = 0.0 if noise is None else noise
    bias2 = (mean - best) ** 2 - variance / (len(P) - 1)  # the mean of n_sets fits strays too
    losses = ((P - best) ** 2).mean(axis=1)
    error = float(losses.std(ddof=1) / np.sqrt(len(P)))
    spread = float(P.var(axis=0, ddof=1).mean())
    return sigma2, float(bias2.mean()), spread, sigma2 + float(losses.mean()), error, mean


def _zero_one(P: Array, best: Array | None, noise: float | None) -> tuple[Any, ...]:
    labels = np.unique(P)
    main = labels[np.argmax([(P == label).sum(axis=0) for label in labels], axis=0)]
    variance = float((main != P).mean())
    if best is None:
        return float("nan"), float("nan"), variance, float("nan"), float("nan"), main
    eta = 0.0 if noise is None else noise
    if eta and (eta > 0.5 or len(np.union1d(labels, best)) > 2):
        raise DataError(
            f"noise of labels is the chance, up to one half, that one of two classes is the other; got {eta}."
        )
    wrong = (best != P).mean(axis=1)
    losses = eta + (1 - 2 * eta) * wrong  # two classes: a noisy label makes a wrong answer right
    error = float(losses.std(ddof=1) / np.sqrt(len(P)))
    return eta, float(np.mean(main != best)), variance, float(losses.mean()), error, main


class BootstrapError(NamedTuple):
    """An error rate between the optimistic one of training and the pessimistic one of rows left out."""

    error: float
    training: float
    out_of_bag: float
    no_information: float  # when predictions and targets have nothing to do with each other
    weight: float  # of the out-of-bag error
    standard_error: float  # of the out-of-bag error, from the rows


def bootstrap_error(
    estimator: Any, X: Any, y: Any, *, method: str = ".632+", n_resamples: int = 50, random_state: Any = None
) -> BootstrapError:
    r"""Estimate the error rate (mean squared error of a regressor) by fits to bootstrap samples.

    .. math:: \widehat{\mathrm{err}} = (1-w)\,\overline{\mathrm{err}} + w\,\mathrm{err}_{\mathrm{oob}}, \qquad
              w = \frac{.632}{1 - .368\,R}, \quad
              R = \frac{\mathrm{err}_{\mathrm{oob}} - \overline{\mathrm{err}}}{\gamma - \overline{\mathrm{err}}}

    (Efron and Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, 1997.)

    Parameters
    ----------
    estimator, X, y
    method : {".632+", ".632", "oob"}, default=".632+"
        ".632" has R = 0 and flatters models that memorize.
    n_resamples : int, default=50
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)  # nothing to learn
    >>> found = bootstrap_error(DecisionTreeClassifier(), X, y, random_state=0)
    >>> found.training, 0.4 < found.error < 0.6
    (0.0, True)
    """
    options = (".632+", ".632", "oob")
    if method not in options:
        raise DataError(f"method must be one of {options}; got {method!r}.{nearest(method, options)}")
    X, y = np.asarray(X), np.asarray(y)
    n, seed, classes = len(X), draw_seed(generator(random_state)), is_classifier(estimator)
    if n_resamples < 1:
        raise DataError(f"n_resamples must be at least 1; got {n_resamples}.")
    if classes and len(np.unique(y)) < 2:
        raise DegenerateError("an error rate needs rows of two classes or more; y has one class only.")

    def losses(truth: Array, said: Array) -> Array:
        return (truth != said).astype(float) if classes else (truth - said) ** 2

    def once(b: int) -> tuple[Array, Array]:
        rows = stream(seed, b).integers(0, n, n)
        out = np.setdiff1d(np.arange(n), rows)
        if not len(out) or (classes and len(np.unique(y[rows])) < 2):
            return np.empty(0, dtype=int), np.empty(0)
        return out, losses(y[out], clone(estimator).fit(X[rows], y[rows]).predict(X[out]))

    sums, counts = np.zeros(n), np.zeros(n)
    for out, values in in_order(once, range(n_resamples), "bootstrap"):
        sums[out] += values
        counts[out] += 1
    seen = counts > 0
    if not seen.any():
        raise DataError("no row was ever left out; raise n_resamples.")
    rates = sums[seen] / counts[seen]
    said = clone(estimator).fit(X, y).predict(X)
    training, outside = float(losses(y, said).mean()), float(rates.mean())
    gamma = float(np.mean([losses(y, np.full(n, value, dtype=said.dtype)).mean() for value in said]))
    weight = _weight(method, training, min(outside, gamma), gamma)
    error = (1 - weight) * training + weight * (min(outside, gamma) if method == ".632+" else outside)
    return BootstrapError(
        error, training, outside, gamma, weight, float(rates.std(ddof=1) / np.sqrt(len(rates)))
    )


def _weight(method: str, training: float, outside: float, gamma: float) -> float:
    if method == "oob":
        return 1.0
    overfit = (outside - training) / (gamma - training) if outside > training and gamma > training else 0.0
    return 0.632 / (1 - 0.368 * overfit) if method == ".632+" else 0.632


class WinnerBias(NamedTuple):
    """How good the best of many useless candidates looks."""

    expected_best: float
    optimism: float  # expected best score minus the true one
    expected_perfect: float  # candidates that are right on every row
    any_perfect: float  # chance that there is one


def winner_bias(n_candidates: int, n_validation: int, p: float = 0.5) -> WinnerBias:
    r"""Return what the best of many candidates, all right with probability p, scores on a validation set.

    .. math:: E\max_k \frac{S_k}{n} = \frac1n\sum_{s=0}^{n-1} \bigl(1 - F(s)^K\bigr), \qquad S_k \sim \mathrm{Bin}(n, p)

    Exact for independent candidates. The winner's score is optimistic: measure it again on untouched rows, or
    cross-validate the choice itself (`evaluate` of a search).

    Examples
    --------
    >>> found = winner_bias(1999, 8)
    >>> round(found.expected_perfect, 6), round(found.any_perfect, 6)
    (7.808594, 0.9996)
    >>> round(winner_bias(100, 50).optimism, 4)
    0.1756
    """
    if n_candidates < 1 or n_validation < 1:
        raise DataError(
            f"n_candidates and n_validation must be at least 1; got {n_candidates}, {n_validation}."
        )
    if not 0 < p < 1:
        raise DataError(f"p must lie between 0 and 1; got {p}.")
    above = stats.binom.sf(np.arange(n_validation), n_validation, p)  # of one candidate; small ones count
    with np.errstate(divide="ignore"):
        best = float(-np.expm1(n_candidates * np.log1p(-above)).sum()) / n_validation
    perfect = p**n_validation
    return WinnerBias(
        best, best - p, n_candidates * perfect, float(-np.expm1(n_candidates * np.log1p(-perfect)))
    )
