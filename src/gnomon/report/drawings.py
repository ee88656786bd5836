"""More pictures of a report: thresholds, calibration, partial dependence, errors by group, the learning curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import plot
from gnomon.plot import style
from gnomon.report.looks import Decision, Dependence, Group, two_class_answers
from gnomon.report.metrics import CLASSES
from gnomon.report.pictures import short, svg
from gnomon.report.words import number

if TYPE_CHECKING:
    from gnomon.report.contest import Comparison

CLOSEST_COUNTS = 0.08  # counts of rows that are nearer to each other would be drawn over each other


def thresholds(found: Decision) -> str:
    """Draw what every threshold gives."""

    def draw(ax: Any) -> None:
        for place, (name, values) in enumerate(found.curves.items()):
            ax.plot(found.thresholds, values, color=style.color(place), label=CLASSES[name].label)
            ax.plot(*found.best[name], "o", color=style.color(place), markersize=5)
        ax.axvline(0.5, color=style.QUIET, linewidth=0.8, linestyle=":")
        ax.set(
            xlabel=f"called {short(str(found.positive))} from this probability on", ylabel="on unseen rows"
        )
        ax.legend(frameon=False, fontsize="small")

    said = "; ".join(
        f"{CLASSES[n].label} is best from {t:.2f} on, {v:.3f}" for n, (t, v) in found.best.items()
    )
    return svg(draw, f"Decision thresholds: {said}", (4.8, 3.4))


def calibrated(found: Decision) -> str:
    """Draw whether probabilities mean what they say."""
    off, chance = found.calibration.ece, found.calibration.ece_if_calibrated
    alt = f"Reliability: calibration error {off:.3f}, by chance {chance:.3f}"

    def draw(ax: Any) -> None:
        plot.reliability(found.calibration, ax)
        last = -1.0
        for text in sorted(ax.texts, key=lambda text: text.get_position()[0]):
            near = text.get_position()[0] - last < CLOSEST_COUNTS
            text.set_visible(not near)
            last = last if near else text.get_position()[0]

    return svg(draw, alt, (4.8, 3.8))


def roc(result: Comparison) -> str:
    """Draw the ROC curve of the best model on unseen rows."""
    found = two_class_answers(result.problem, result.best)
    if found is None:
        return ""
    _, truth, p = found
    if len(p) > 20_000:
        keep = np.linspace(0, len(p) - 1, 20_000).astype(int)
        truth, p = truth[keep], p[keep]
    alt = f"ROC curve of {result.best.name} on unseen rows"
    return svg(lambda ax: plot.roc(truth.astype(int), p, ax, n_resamples=100), alt, (4.8, 3.8))


def dependence(name: str, found: Dependence) -> str:
    """Draw what the model says on average when a column is set to a value."""
    mean, low, high = (
        np.array([getattr(one, end) for one in found.means]) for end in ("mean", "low", "high")
    )
    words = any(isinstance(value, str | bool) for value in found.values)
    places = np.arange(len(mean)) if words else np.asarray(found.values, dtype=float)

    def draw(ax: Any) -> None:
        if words:
            ax.errorbar(
                mean, places, xerr=[mean - low, high - mean], fmt="o", color=style.color(0), capsize=3
            )
            ax.set_yticks(places, [short(str(value), 18) for value in found.values])
            ax.set_xlabel(found.label)
        else:
            ax.fill_between(places, low, high, color=style.color(0), alpha=0.15, linewidth=0)
            ax.plot(places, mean, "o-", color=style.color(0), markersize=4)
            ax.set(xlabel=short(name), ylabel=short(found.label))

    said = "; ".join(
        f"{value if words else number(value)}: {number(m)}" for value, m in zip(found.values, mean)
    )
    return svg(draw, f"Partial dependence on {name}: {said}", (4.2, 2.8))


def groups(found: list[Group], overall: float, label: str) -> str:
    """Draw how wrong the model is in groups of rows."""

    def draw(ax: Any) -> None:
        ends = [np.array([getattr(group.error, end) for group in found]) for end in ("mean", "low", "high")]
        names = [short(f"{group.column}: {group.value}", 34) for group in found]
        plot.intervals(*ends, names, ax, x_label=f"{label} on unseen rows, with 95% intervals", at=overall)

    said = "; ".join(f"{group.column} {group.value} {number(group.error.mean)}" for group in found)
    return svg(draw, f"{label} by group: {said}", (7.0, 1.0 + 0.28 * len(found)))


def learning(result: Comparison) -> str:
    """Draw the score against the number of rows that were learned from."""
    sizes = list(result.curve)
    scores = [[result.shown(value) for value in result.curve[size]] for size in sizes]

    def draw(ax: Any) -> None:
        plot.score_curve(
            sizes,
            {"unseen rows": scores},
            ax,
            x_label="rows learned from",
            y_label=result.problem.task.metric,
            band="error",
        )

    said = "; ".join(f"{size} rows {number(float(np.mean(s)))}" for size, s in zip(sizes, scores))
    return svg(draw, f"Learning curve of {result.best.name}: {said}", (4.8, 3.0))
