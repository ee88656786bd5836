"""Pictures of chains, hidden states, rankings, sounds and tracks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style
from gnomon.plot.tables import heat_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def markov_chain(chain: Any, ax: Axes | None = None, *, kind: str = "graph", steps: int = 30) -> Axes:
    """Draw a Markov chain: its transition graph, its matrix, or how its state distribution settles.

    Parameters
    ----------
    chain : MarkovChain, hidden Markov model or transition matrix
        Anything with ``transmat_``.
    ax : matplotlib Axes, optional
        Where to draw.
    kind : {"graph", "heat_map", "convergence"}
        Which picture.
    steps : int
        Steps of the convergence.

    Examples
    --------
    >>> ax = markov_chain([[0.9, 0.1], [0.5, 0.5]])
    >>> len(ax.texts) >= 2
    True
    """
    M = np.asarray(getattr(chain, "transmat_", chain), dtype=float)
    names = [str(name) for name in getattr(chain, "states_", np.arange(len(M)))]
    if kind == "heat_map":
        return heat_map(M, names, names, ax)
    if kind == "convergence":
        return _convergence(chain, M, names, ax, steps)
    ax = style.axes(ax, title="transitions", size=(5, 5))
    _draw_graph(M, names, ax)
    return ax


def _convergence(chain: Any, M: Any, names: list[str], ax: Axes | None, steps: int) -> Axes:
    ax = style.axes(ax, x="step", y="probability", title="state distribution over time")
    w = np.asarray(getattr(chain, "startprob_", np.eye(len(M))[0]), dtype=float)
    path = [w]
    for _ in range(steps):
        path.append(path[-1] @ M)
    for k, column in enumerate(np.array(path).T):
        ax.plot(column, color=style.color(k), label=names[k])
    ax.legend()
    return ax


def _draw_graph(M: Any, names: list[str], ax: Axes) -> None:
    """States on a circle; arrows as wide as their probabilities."""
    from matplotlib.patches import FancyArrowPatch

    n = len(M)
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    place = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 if n > 1 else 0.0)
    for i, j in zip(*np.nonzero(M > 0.005), strict=True):
        if i == j:
            label, at = f"{M[i, i]:.2g}", place[i] * 1.32
        else:
            arrow = FancyArrowPatch(
                place[i],
                place[j],
                connectionstyle="arc3,rad=0.15",
                arrowstyle="-|>",
                mutation_scale=14,
                shrinkA=18,
                shrinkB=18,
                linewidth=0.5 + 4 * M[i, j],
                color=style.QUIET,
            )
            ax.add_patch(arrow)
            middle, along = (place[i] + place[j]) / 2, place[j] - place[i]
            label, at = f"{M[i, j]:.2g}", middle + 0.12 * np.array([along[1], -along[0]])
        ax.text(*at, label, ha="center", va="center", fontsize=8)
    for k, (x, y) in enumerate(place):
        ax.plot(x, y, "o", markersize=30, color=style.color(k))
        ax.text(x, y, names[k], ha="center", va="center", color="white")
    ax.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal", xticks=[], yticks=[])


def hmm_graph(model: Any, X: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the hidden states and their transitions or, with data, the emission densities over their
    histogram.

    Parameters
    ----------
    model : hidden Markov model
        Fitted, or with its parameters set.
    X : (n, 1) array, optional
        Observations of one column.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    if X is None:
        return markov_chain(np.asarray(model.transmat_), ax)
    X = np.asarray(X, dtype=float)
    ax = style.axes(ax, x="observation", y="density", title="emissions of the states")
    counts = bool(np.all(X == np.rint(X)))
    grid = np.arange(X.min(), X.max() + 1) if counts else np.linspace(*style.limits(X[:, 0]), 300)
    bins = np.append(grid, grid[-1] + 1) - 0.5 if counts else 30
    ax.hist(X[:, 0], bins=bins, density=True, color=style.QUIET, alpha=0.4)
    share = model.predict_proba(X).mean(axis=0)
    density = np.exp(model._emission().log_density(grid.reshape(-1, 1)))
    for k, curve in enumerate((density * share).T):
        ax.plot(grid, curve, color=style.color(k), label=f"state {k}")
    ax.legend()
    return ax


def trellis(model: Any, X: Any, ax: Axes | None = None) -> Axes:
    """Draw states against time with the path sums ln α, ln β in every node, and the best path.

    Parameters
    ----------
    model : hidden Markov model
    X : (T, d) array
        A short sequence.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    tables, path = model.forward_backward(X), model.predict(X)
    T, K = tables.log_alpha.shape
    ax = style.axes(
        ax, x="time", y="state", title="trellis: ln α, ln β and the best path", size=(1.6 * T + 1, 4)
    )
    A = np.asarray(model.transmat_)
    for t in range(T - 1):
        for i, j in zip(*np.nonzero(A > 0), strict=True):
            ax.plot([t, t + 1], [i, j], color=style.QUIET, linewidth=0.3 + 2 * A[i, j], alpha=0.6)
    ax.plot(range(T), path, color=style.color(1), linewidth=3, alpha=0.8)
    posterior = np.exp(tables.log_alpha + tables.log_beta - tables.log_likelihood)
    for t in range(T):
        for k in range(K):
            ax.plot(t, k, "o", markersize=14, color=style.color(0), alpha=0.15 + 0.85 * posterior[t, k])
            text = f"{tables.log_alpha[t, k]:.2f}\n{tables.log_beta[t, k]:.2f}"
            ax.text(t, k + 0.18, text, ha="center", va="bottom", fontsize=7)
    ax.set(xticks=range(T), yticks=range(K), ylim=(-0.4, K - 0.3))
    return ax


def state_posterior(
    model: Any, X: Any, truth: Any = None, ax: Axes | None = None, *, state: int | None = None
) -> Axes:
    """Draw the posterior of the states over time, the best path below it, and the true states shaded.

    Parameters
    ----------
    model : hidden Markov model
    X : (T, d) array
        One sequence.
    truth : (T,) array, optional
        True states.
    ax : matplotlib Axes, optional
        Where to draw.
    state : int, optional
        Only this state's curve.
    """
    posterior, path = model.predict_proba(X), model.predict(X)
    ax = style.axes(ax, x="time", y="posterior probability", title="hidden states given all observations")
    shown = range(posterior.shape[1]) if state is None else [state]
    for k in shown:
        ax.plot(posterior[:, k], color=style.color(k), label=f"state {k}")
    for row, (states, _) in enumerate([(path, "Viterbi"), (truth, "truth")]):
        if states is not None:
            colors = [style.color(int(k)) for k in states]
            ax.scatter(
                range(len(states)), np.full(len(states), -0.06 - 0.05 * row), c=colors, marker="s", s=6
            )
    ax.legend()
    return ax


def criteria(table: Any, ax: Axes | None = None) -> Axes:
    """Draw AIC, BIC and twice the negative log-likelihood against the number of states.

    Parameters
    ----------
    table : DataFrame
        As `select_n_states` gives it.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    ax = style.axes(ax, x="states", title="how many states")
    for k, (name, values) in enumerate(
        {"−2 ln L": 2 * table["neg_log_likelihood"], "AIC": table["aic"], "BIC": table["bic"]}.items()
    ):
        ax.plot(table["states"], values, "o-", color=style.color(k), label=name)
        ax.plot(
            table["states"][values.argmin()],
            values.min(),
            "o",
            markersize=12,
            fillstyle="none",
            color=style.color(k),
        )
    ax.set_xticks(table["states"])
    ax.legend()
    return ax


def ranking_table(ranker: Any, other: Any = None, ax: Axes | None = None, *, top: int = 25) -> Axes:
    """Draw the best of a ranking as bars; the ranks in another list stand at their ends.

    Parameters
    ----------
    ranker : MarkovRanker or mapping of object to score
    other : mapping of object to rank, optional
        Another ranking, to compare.
    ax : matplotlib Axes, optional
        Where to draw.
    top : int
        How many.
    """
    scores = (
        dict(ranker) if hasattr(ranker, "items") else dict(zip(ranker.objects_, ranker.scores_, strict=True))
    )
    best = sorted(scores, key=lambda name: -scores[name])[:top]
    ax = style.axes(ax, x="score", title="ranking", size=(6, 0.25 * len(best) + 1))
    ax.barh(range(len(best)), [scores[name] for name in best], color=style.color(0))
    ax.set_yticks(range(len(best)), [f"{name}  {rank + 1}" for rank, name in enumerate(best)])
    for row, name in enumerate(best):
        if other is not None:
            ax.text(scores[name], row, f" {other.get(name, '–')}", va="center", fontsize=8)
    ax.invert_yaxis()
    return ax


def walk_labels(model: Any, ax: Axes | None = None, *, resolution: int = 80) -> Axes:
    """Draw the probability of the first class over two features, and the labeled points on top.

    Parameters
    ----------
    model : RandomWalkClassifier
        Fitted on two features.
    ax : matplotlib Axes, optional
        Where to draw; one model for each width side by side shows the leak of a wide kernel.
    resolution : int
        Grid points along each axis.
    """
    X = model.X_
    ax = style.axes(ax, title=f"probability of class {model.classes_[0]}")
    x, y = (np.linspace(*style.limits(X[:, j]), resolution) for j in (0, 1))
    grid = np.column_stack([a.ravel() for a in np.meshgrid(x, y)])
    p = model.predict_proba(grid)[:, 0].reshape(resolution, resolution)
    image = ax.pcolormesh(x, y, p, cmap=style.DIVERGING, vmin=0, vmax=1, shading="auto")
    ax.scatter(*X[~model.labeled_].T[:2], s=6, color=style.QUIET)
    ax.scatter(*X[model.labeled_].T[:2], s=60, color="black", marker="*")
    ax.figure.colorbar(image, ax=ax)
    return ax


def speech(recognizer: Any, signal: Any, axes: Any = None) -> Any:
    """Draw a sound: waveform, spectrogram, codewords, and how well every word explains it.

    Parameters
    ----------
    recognizer : WordRecognizer
    signal : vector
    axes : four Axes, optional
        Where to draw.

    Returns
    -------
    array of four Axes
    """
    if axes is None:
        from matplotlib import pyplot

        _, axes = pyplot.subplots(4, 1, figsize=(7, 8), layout="constrained")
    signal = np.asarray(signal)
    features = recognizer._features(signal)
    style.axes(axes[0], title="waveform").plot(
        np.arange(len(signal)) / recognizer.rate, signal, linewidth=0.4
    )
    style.axes(axes[1], title="spectrogram").imshow(
        features.T, aspect="auto", origin="lower", cmap=style.SEQUENTIAL
    )
    codes = recognizer.codewords([signal])[0]
    style.axes(axes[2], title="codewords").plot(codes, "s", markersize=3, color=style.color(1))
    scores = recognizer.log_likelihoods([signal])[0]
    bars = style.axes(axes[3], title="ln p(sound | word)")
    bars.barh(range(len(scores)), scores - scores.min(), color=style.color(2))
    bars.set_yticks(range(len(scores)), [str(word) for word in recognizer.classes_])
    return np.asarray(axes)


def track(
    result: Any,
    observations: Any = None,
    truth: Any = None,
    ax: Axes | None = None,
    *,
    axes_of_state: Any = (0, 3),
) -> Axes:
    """Draw a track in the plane: true, observed, estimated, with ellipses of two standard deviations.

    Parameters
    ----------
    result : Filtered or Smoothed
        What `KalmanFilter.filter` or `.smooth` returns; call twice for both.
    observations, truth : (T, 2) arrays, optional
    ax : matplotlib Axes, optional
        Where to draw.
    axes_of_state : pair of int
        Entries of the state that are the two positions.
    """
    from matplotlib.patches import Ellipse

    ax = style.axes(ax, x="x", y="y", title="track", size=(6, 6))
    place = list(axes_of_state)
    if truth is not None:
        ax.plot(*np.asarray(truth).T, color=style.QUIET, linewidth=3, alpha=0.5, label="true")
    if observations is not None:
        ax.plot(*np.asarray(observations).T, ".", color=style.color(3), markersize=4, label="observed")
    name = "smoothed" if hasattr(result, "lag_one_covariances") else "filtered"
    means = result.means[:, place]
    line = ax.plot(*means.T, color=style.color(0 if name == "smoothed" else 1), label=name)[0]
    for t in range(0, len(means), max(1, len(means) // 15)):
        values, vectors = np.linalg.eigh(result.covariances[t][np.ix_(place, place)])
        angle = np.degrees(np.arctan2(*vectors[::-1, 1]))
        width, height = 4 * np.sqrt(values[::-1])
        ax.add_patch(
            Ellipse(means[t], width, height, angle=angle, fill=False, color=line.get_color(), alpha=0.5)
        )
    ax.set_aspect("equal")
    ax.legend()
    return ax
