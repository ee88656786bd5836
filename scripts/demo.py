"""See gnomon at work: four models on the eruptions of Old Faithful, compared, drawn and saved."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import gnomon
from gnomon import plot
from gnomon.cluster import KMeans
from gnomon.datasets import load_old_faithful
from gnomon.linear import LinearRegression, Ridge
from gnomon.mixture import GaussianMixture


def timed(model: Any, *data: np.ndarray) -> tuple[Any, float]:
    """Fit twice, because the first fit may compile; return the model and the milliseconds of the second."""
    clone(model).fit(*data)
    start = time.perf_counter()
    model.fit(*data)
    return model, 1000 * (time.perf_counter() - start)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return text lines with aligned columns."""
    widths = [max(len(row[j]) for row in [head, *rows]) for j in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def regressions(eruptions: np.ndarray, waiting: np.ndarray) -> tuple[list[Any], list[str]]:
    """Compare two linear models of the wait for the next eruption."""
    models, rows = [], []
    for model in (LinearRegression(), Ridge(alpha=10.0)):
        fitted, ms = timed(model, eruptions, waiting)
        error = -cross_val_score(
            clone(model), eruptions, waiting, cv=5, scoring="neg_root_mean_squared_error"
        )
        line = f"{fitted.intercept_:.3f} + {fitted.coef_[0]:.3f} x"
        rows.append(
            [str(model), line, f"{fitted.score(eruptions, waiting):.4f}", f"{error.mean():.3f}", f"{ms:.1f}"]
        )
        models.append(fitted)
    return models, table(["model", "wait (minutes)", "R2", "error, cross-validated", "ms"], rows)


def clusterings(X: np.ndarray) -> tuple[list[Any], list[str]]:
    """Compare two ways to find the short and the long eruptions."""
    models, rows = [], []
    for model in (KMeans(2, random_state=0), GaussianMixture(2, random_state=0)):
        fitted, ms = timed(model, X)
        sizes = np.sort(np.bincount(fitted.predict(X)))
        centers = getattr(fitted, "cluster_centers_", getattr(fitted, "means_", None))
        short, long = centers[np.argsort(centers[:, 0])]
        steps = f"{fitted.n_iter_} ({'converged' if fitted.converged_ else 'not converged'})"
        places = f"({short[0]:.2f}, {short[1]:.1f}) and ({long[0]:.2f}, {long[1]:.1f})"
        rows.append([type(model).__name__, places, f"{sizes[0]} + {sizes[1]}", steps, f"{ms:.1f}"])
        models.append(fitted)
    return models, table(["model", "centers (eruption, wait)", "sizes", "steps", "ms"], rows)


def picture(X: np.ndarray, line: Any, clusters: Any, mixture: Any, path: Path) -> None:
    """Draw the models side by side."""
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
    labels = {"xlabel": "eruption (minutes)", "ylabel": "wait for the next (minutes)"}
    plot.predictive_band(line, X[:, :1], X[:, 1], axes[0, 0], label="least squares")
    axes[0, 0].set(title="Linear regression and its 95% band", **labels)
    plot.decision_regions(clusters, X, clusters.labels_, axes[0, 1])
    axes[0, 1].set(title="k-means", **labels)
    plot.decision_regions(mixture, X, mixture.predict(X), axes[1, 0])
    plot.ellipses(mixture.means_, mixture.covariances_, axes[1, 0])
    axes[1, 0].set(title="Gaussian mixture: color fades where it is unsure", **labels)
    plot.trace(mixture, axes[1, 1])
    axes[1, 1].set(title="What EM did: the objective, step by step")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def animation(X: np.ndarray, mixture: Any, path: Path) -> None:
    """Draw every step of EM."""

    def draw(step: Any, ax: Any) -> None:
        ax.scatter(X[:, 0], X[:, 1], s=8, color=plot.style.QUIET, alpha=0.6)
        plot.ellipses(step.means_, step.covariances_, ax)
        ax.set(
            xlabel="eruption (minutes)",
            ylabel="wait (minutes)",
            title=f"EM, step {step.trace_.objective.size}",
        )

    slow = clone(mixture).set_params(init_params="random_from_data", random_state=3)  # more to see
    plot.animate(slow.iterate(X), draw, path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-results"), help="folder for the results")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)

    X = load_old_faithful().data
    print(f"gnomon {gnomon.__version__}: {len(X)} eruptions of the Old Faithful geyser\n")
    (line, _), regression_lines = regressions(X[:, :1], X[:, 1])
    (clusters, mixture), cluster_lines = clusterings(X)
    wait = line.predict([[3.0]])[0]
    low, high = line.predict_interval([[3.0]], level=0.9)
    gnomon.save(mixture, folder / "mixture.gnomon")
    same = np.array_equal(gnomon.load(folder / "mixture.gnomon").predict(X), mixture.predict(X))
    summary = [
        "How long is the wait after an eruption of x minutes?",
        *regression_lines,
        f"After 3 minutes: {wait:.1f} minutes; nine times in ten between {low[0]:.1f} and {high[0]:.1f}.",
        "",
        "Are there two kinds of eruption?",
        *cluster_lines,
        f"The two agree on {agreement(clusters.predict(X), mixture.predict(X)):.1%} of the eruptions.",
        f"Saved and loaded, the mixture gives {'the same answers' if same else 'OTHER ANSWERS'}.",
    ]
    print("\n".join(summary))
    (folder / "summary.txt").write_text("\n".join(summary) + "\n")
    picture(X, line, clusters, mixture, folder / "models.png")
    animation(X, mixture, folder / "em.gif")
    print(f"\nThe results lie in {folder.resolve()}:")
    for name, what in CONTENTS.items():
        print(f"  {name:15} {what}")


CONTENTS = {
    "summary.txt": "the tables above",
    "models.png": "the four models",
    "em.gif": "the mixture, learning",
    "mixture.gnomon": "the mixture; gnomon.load opens it",
}


def agreement(one: np.ndarray, two: np.ndarray) -> float:
    """Return how often two labelings with two labels agree, whichever label is called 0."""
    same = float((one == two).mean())
    return max(same, 1 - same)


if __name__ == "__main__":
    main()
