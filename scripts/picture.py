"""Draw the README's picture: docs/picture.svg.   python scripts/picture.py [file]"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot

from gnomon import plot
from gnomon.datasets import load_old_faithful, make_trajectory
from gnomon.linear import LinearRegression
from gnomon.mixture import GaussianMixture
from gnomon.plot.style import QUIET, color
from gnomon.sequence import tracking_model

PLACE = Path(__file__).resolve().parent.parent / "docs" / "picture.svg"


def learning(ax, X):
    """Draw EM: where the two means went, and where it ended."""
    model = GaussianMixture(2, init_params="random_from_data", tol=1e-6, random_state=3)
    steps = list(model.iterate(X))
    ax.scatter(*X.T, s=5, color=QUIET, alpha=0.6, lw=0)
    means = np.array([step.means_ for step in steps])
    for k in range(2):
        ax.plot(*means[:, k].T, ".-", color=color(k), lw=1.2, ms=4)
    plot.ellipses(steps[-1].means_, steps[-1].covariances_, ax)
    ax.set(xlabel="eruption (min)", ylabel="wait for the next (min)")
    ax.set_title(f"Watch it learn: {steps[-1].n_iter_} steps of EM")


def certainty(ax, X):
    """Draw a regression with the interval in which nine of ten waits will be."""
    model = LinearRegression().fit(X[:, :1], X[:, 1])
    plot.predictive_band(model, X[:, :1], X[:, 1], ax, level=0.9)
    ax.set(xlabel="eruption (min)", ylabel="")
    ax.set_title("Know how sure it is: 90% band")


def tracking(ax):
    """Draw a track through noise, with the ellipses the smoother claims."""
    seen, true = make_trajectory(24, random_state=0)
    model = tracking_model(0.5, order=2, process_noise=0.1, initial_state_covariance=10 * np.eye(4))
    plot.track(model.smooth(seen), seen, true, ax, axes_of_state=(0, 2))
    ax.set(xlabel="east (m)", ylabel="north (m)", aspect="auto")
    ax.set_title("From k-means to Kalman: a smoothed track")


def main() -> None:
    X = load_old_faithful().data
    look = {"svg.hashsalt": "gnomon", "font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8}
    with pyplot.rc_context(look):
        figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
        learning(axes[0], X)
        certainty(axes[1], X)
        tracking(axes[2])
        place = Path(sys.argv[1]) if len(sys.argv) > 1 else PLACE
        figure.savefig(place, format="svg", metadata={"Date": None})
    print(f"{place}: {place.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
