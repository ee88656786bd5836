"""Pictures of evaluation: curves with bands, ROC, reliability, intervals, replicates, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def score_curve(
    x: Any,
    scores: Any,
    ax: Axes | None = None,
    *,
    x_label: str = "",
    y_label: str = "score",
    band: str = "deviation",
    chosen: Any = None,
) -> Axes:
    """Draw mean scores over folds with bands: learning, validation and size curves, scores of candidates.

    Parameters
    ----------
    x : array-like (m,)
        Sizes, parameter values, or names of candidates.
    scores : mapping of name to array (m, folds)
        Such as ``{"training": train_scores, "validation": test_scores}`` of scikit-learn's curves.
    ax : matplotlib Axes, optional
    x_label, y_label : str
    band : {"deviation", "error"}
        One standard deviation of the folds, or one standard error of their mean.
    chosen : value of x, optional
        A vertical line.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = score_curve([10, 20], {"validation": [[0.5, 0.7], [0.8, 0.8]]})
    >>> ax.lines[0].get_ydata().round(2).tolist()
    [0.6, 0.8]
    """
    values = list(x)
    named = any(isinstance(value, str) for value in values)
    places = np.arange(len(values)) if named else np.asarray(values, dtype=float)
    ax = style.axes(ax, x=x_label, y=y_label)
    for k, (name, table) in enumerate(scores.items()):
        table = np.asarray(table, dtype=float).reshape(len(places), -1)
        mean, spread = table.mean(axis=1), table.std(axis=1, ddof=min(1, table.shape[1] - 1))
        spread = spread / np.sqrt(table.shape[1]) if band == "error" else spread
        ax.plot(places, mean, "o-", color=style.color(k), markersize=4, label=name)
        ax.fill_between(places, mean - spread, mean + spread, color=style.color(k), alpha=0.15, linewidth=0)
    if named:
        ax.set_xticks(places, values, rotation=45 if max(map(len, map(str, values))) > 8 else 0)
    elif places.min() > 0 and places.max() >= 100 * places.min():
        ax.set_xscale("log")
    if chosen is not None:
        ax.axvline(values.index(chosen) if named else chosen, color=style.QUIET, linestyle=":")
    ax.legend(frameon=False)
    return ax


def replicates(found: Any, ax: Axes | None = None, *, bins: int = 40) -> Axes:
    """Draw the replicates of a bootstrap, or its exact distribution, with the estimate and the interval.

    Parameters
    ----------
    found : Bootstrap
    ax : matplotlib Axes, optional
    bins : int

    Returns
    -------
    matplotlib Axes
    """
    values = np.asarray(found.replicates, dtype=float)
    if values.ndim > 1:
        raise DataError("there are several numbers in a replicate; draw one column at a time.")
    ax = style.axes(ax, x="statistic", y="share of resamples")
    ax.hist(values, bins=bins, weights=found.probabilities, color=style.color(0), alpha=0.6)
    ax.axvline(found.estimate, color=style.color(1), label=f"estimate {found.estimate:.4g}")
    for end in (found.low, found.high):
        ax.axvline(end, color=style.color(1), linestyle="--", linewidth=1)
    ax.legend(frameon=False)
    return ax


def roc(
    y: Any,
    scores: Any,
    ax: Axes | None = None,
    *,
    level: float | None = 0.95,
    n_resamples: int = 300,
    bounds: bool = False,
    curve: str = "roc",
    random_state: Any = 0,
) -> Axes:
    """Draw ROC curves with areas, bootstrap bands, and where any curve of that area must run.

    Or precision against recall, with the average precision and the precision of chance.

    Parameters
    ----------
    y : array-like (n,)
        Two classes.
    scores : array-like (n,), or mapping of name to scores
    ax : matplotlib Axes, optional
    level : float, optional
        Of the bands, at every false positive rate; None for none.
    n_resamples, random_state
        Of the bands.
    bounds : bool
        Shade the region that the first area alone allows.
    curve : {"roc", "precision recall"}
        The second has neither bands nor bounds.

    Returns
    -------
    matplotlib Axes
    """
    from sklearn.metrics import roc_auc_score, roc_curve

    from gnomon.selection import auc_bounds

    if curve not in ("roc", "precision recall"):
        raise DataError(f"curve must be 'roc' or 'precision recall'; got {curve!r}.")
    y = np.asarray(y)
    named = scores if hasattr(scores, "items") else {"": scores}
    if curve == "precision recall":
        return _precision_recall(y, named, ax)
    ax = style.axes(ax, x="false positive rate", y="true positive rate", size=(4.8, 4.6))
    grid, rng = np.linspace(0, 1, 101), np.random.default_rng(random_state)
    for k, (name, score) in enumerate(named.items()):
        score = np.asarray(score, dtype=float)
        area = float(roc_auc_score(y, score))
        fpr, tpr, _ = roc_curve(y, score)
        if bounds and k == 0:
            low, high = auc_bounds(area, fpr=grid)
            ax.fill_between(
                grid, low, high, color=style.QUIET, alpha=0.15, linewidth=0, label="possible with this area"
            )
        ax.plot(fpr, tpr, color=style.color(k), label=f"{name} {area:.3f}".strip())
        if level is not None:
            curves = _resampled_roc(y, score, grid, n_resamples, rng)
            ends = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
            ax.fill_between(grid, *ends, color=style.color(k), alpha=0.15, linewidth=0)
    ax.plot([0, 1], [0, 1], color=style.QUIET, linewidth=0.8)
    ax.legend(frameon=False, loc="lower right")
    return ax


def _resampled_roc(y: np.ndarray, score: np.ndarray, grid: np.ndarray, count: int, rng: Any) -> np.ndarray:
    positive = y == np.unique(y)[-1]
    a, b = np.sort(score[positive]), np.sort(score[~positive])
    curves = np.empty((count, len(grid)))
    for i in range(count):
        u, v = np.sort(rng.choice(a, len(a))), np.sort(rng.choice(b, len(b)))
        cut = v[::-1][
            np.minimum((grid * len(v)).astype(int), len(v) - 1)
        ]  # threshold with that share of v above
        curves[i] = 1 - np.searchsorted(u, cut, "right") / len(u)
    return curves


def _precision_recall(y: np.ndarray, named: Any, ax: Axes | None) -> Axes:
    from sklearn.metrics import average_precision_score, precision_recall_curve

    ax = style.axes(ax, x="recall", y="precision", size=(4.8, 4.6))
    for k, (name, score) in enumerate(named.items()):
        precision, recall, _ = precision_recall_curve(y, score)
        mean = average_precision_score(y, score)
        ax.step(recall, precision, where="post", color=style.color(k), label=f"{name} {mean:.3f}".strip())
    ax.axhline(float(np.mean(y == np.unique(y)[-1])), color=style.QUIET, linewidth=0.8, label="chance")
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False)
    return ax


def reliability(found: Any, ax: Axes | None = None, *, label: str = "") -> Axes:
    """Draw the reliability diagram: observed rate against mean probability, with intervals and counts.

    Parameters
    ----------
    found : Calibration
        As `gnomon.selection.calibration` gives it.
    ax : matplotlib Axes, optional
        Several may share one.
    label : str

    Returns
    -------
    matplotlib Axes
    """
    ax = style.axes(ax, x="predicted probability", y="observed rate", size=(4.8, 4.6))
    if not ax.lines:
        ax.plot([0, 1], [0, 1], color=style.QUIET, linewidth=0.8)
    shade = style.color(len(ax.containers))
    arms = np.array([found.observed - found.low, found.high - found.observed]).clip(min=0)
    told = f"{label} ECE {found.ece:.3f} (chance {found.ece_if_calibrated:.3f})".strip()
    ax.errorbar(
        found.predicted, found.observed, arms, fmt="o-", color=shade, capsize=2, markersize=4, label=told
    )
    for x, count in zip(found.predicted, found.counts):
        ax.annotate(f"{count:g}", (x, 0.0), fontsize="x-small", color=style.QUIET, ha="center")
    ax.legend(frameon=False, fontsize="small")
    return ax


def intervals(
    middle: Any,
    low: Any,
    high: Any,
    names: Any = None,
    ax: Axes | None = None,
    *,
    x_label: str = "",
    at: Any = None,
) -> Axes:
    """Draw numbers with intervals, one a line: rates of groups, scores of models, differences.

    Parameters
    ----------
    middle, low, high : array-like (m,)
    names : sequence of str, optional
    ax : matplotlib Axes, optional
    x_label : str
    at : float, optional
        A vertical line, such as 0 for differences.

    Returns
    -------
    matplotlib Axes
    """
    middle, low, high = (np.asarray(values, dtype=float) for values in (middle, low, high))
    if not middle.shape == low.shape == high.shape or middle.ndim != 1:
        raise DataError("middle, low and high must be vectors of one length.")
    ax = style.axes(ax, x=x_label, size=(6, 0.4 * len(middle) + 1.2))
    places = np.arange(len(middle))
    ax.errorbar(middle, places, xerr=[middle - low, high - middle], fmt="o", color=style.color(0), capsize=3)
    ax.set_yticks(places, [str(name) for name in (places if names is None else names)])
    ax.invert_yaxis()
    if at is not None:
        ax.axvline(at, color=style.QUIET, linewidth=0.8)
    return ax


def critical_difference(found: Any, ax: Axes | None = None) -> Axes:
    """Draw mean ranks of models on a line; a bar joins those that differ by less than the critical difference.

    Parameters
    ----------
    found : ManyComparisons
        As `gnomon.selection.compare_many` gives it.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    order = np.argsort(found.ranks, kind="stable")
    ranks = found.ranks[order]
    ax = style.axes(ax, x="mean rank (1 is best)", size=(6, 0.35 * len(ranks) + 1.5))
    places = -np.arange(len(ranks), dtype=float)
    ax.plot(ranks, places, "o", color=style.color(0))
    for rank, place, k in zip(ranks, places, order):
        ax.annotate(f"  {found.names[k]} {rank:.2f}", (rank, place), va="center", fontsize="small")
    drawn = 0
    for i in range(len(ranks)):
        j = int(np.searchsorted(ranks, ranks[i] + found.critical_difference, "right")) - 1
        if j > i and (i == 0 or ranks[j] > ranks[i - 1] + found.critical_difference):
            level = 0.6 + 0.25 * drawn
            ax.plot([ranks[i], ranks[j]], [level, level], color=style.color(1), linewidth=3)
            drawn += 1
    ax.set(
        yticks=[], xlim=(0.8, len(ranks) + 0.6), title=f"critical difference {found.critical_difference:.2f}"
    )
    return ax


def bias_variance(found: Any, ax: Axes | None = None, *, x_label: str = "") -> Axes:
    """Draw fits to many training sets with their mean and the truth; or the parts of the error against complexity.

    Parameters
    ----------
    found : BiasVariance, or mapping of complexity to BiasVariance
        One, whose points have one coordinate: the fits. Several: their noise, bias, variance and total.
    ax : matplotlib Axes, optional
    x_label : str

    Returns
    -------
    matplotlib Axes
    """
    if hasattr(found, "items"):
        from gnomon.plot.curves import path

        names = ("total", "bias", "variance", "noise")
        table = np.array([[getattr(one, name) for name in names] for one in found.values()])
        return path(
            list(found), table, names, ax=ax, x_label=x_label or "complexity", y_label="expected loss"
        )
    order = np.argsort(found.points[:, 0], kind="stable")
    x = found.points[order, 0]
    ax = style.axes(ax, x=x_label or "x", y="prediction")
    for fit in found.predictions[:60]:
        ax.plot(x, fit[order], color=style.QUIET, alpha=0.25, linewidth=0.8)
    ax.plot(x, found.main[order], color=style.color(0), label="mean of the fits")
    if found.truth is not None:
        ax.plot(x, found.truth[order], "--", color=style.color(1), label="truth")
    ax.legend(frameon=False)
    return ax


def dartboard(
    *, spread: float = 0.15, shift: float = 0.5, n: int = 12, random_state: Any = 0, axes: Any = None
) -> Any:
    """Draw four dartboards: low and high bias, low and high variance.

    Parameters
    ----------
    spread, shift : float
        Standard deviation of the small spread (three times as large in the other column), and the bias.
    n : int
        Darts on a board.
    random_state : int, RandomState or Generator
    axes : array of four matplotlib Axes, optional

    Returns
    -------
    array of matplotlib Axes
    """
    from matplotlib import pyplot

    from gnomon.core.randomness import generator

    rng = generator(random_state)
    if axes is None:
        axes = pyplot.subplots(2, 2, figsize=(5.5, 5.5), layout="constrained")[1]
    for i, bias in enumerate((0.0, shift)):
        for j, width in enumerate((spread, 3 * spread)):
            ax = np.asarray(axes).ravel()[2 * i + j]
            for radius in (0.3, 0.7, 1.1):
                ax.add_patch(pyplot.Circle((0, 0), radius, fill=False, color=style.QUIET))
            darts = rng.normal(0, width, (n, 2)) + [bias, bias]
            ax.plot(*darts.T, "o", color=style.color(i), markersize=4)
            ax.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), xticks=[], yticks=[], aspect="equal")
            ax.set_title(
                f"{'high' if bias else 'low'} bias, {'high' if j else 'low'} variance", fontsize="small"
            )
    return axes
