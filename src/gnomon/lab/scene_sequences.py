"""Scenes of sequences: the states of a chain over time, and the track of a filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import (
    Panel,
    answer_or_none,
    circle_layout,
    data_points,
    ellipse,
    graph,
    limits,
    line,
    matrix,
    number,
    plane,
    points,
)


def chain_panels(model: Any, material: Material) -> list[Panel]:
    """Return the states of a chain over time, how sure the model is of them, and the way it goes between them."""
    moves = getattr(model, "transmat_", None)
    moves = moves.toarray() if hasattr(moves, "toarray") else moves
    if moves is None or np.ndim(moves) != 2:
        return []
    panels = []
    X = material.X
    if isinstance(X, np.ndarray) and hasattr(model, "predict_proba"):
        shares = answer_or_none(lambda: np.asarray(model.predict_proba(X)))
        path = answer_or_none(lambda: np.asarray(model.predict(X)))
        if shares is not None and path is not None:
            series = X[:, 0].astype(float)
            low, high = limits(series)
            layers = [data_points(path % 36)]
            panels.append(
                plane(
                    "the most probable states",
                    "time",
                    material.names[0],
                    limits(np.arange(len(X)), 0.01),
                    [low, high],
                    layers,
                )
            )
            panels.append(
                matrix(
                    "probability of every state over time",
                    shares.T,
                    [f"state {k}" for k in range(shares.shape[1])],
                    low=0,
                    high=1,
                )
            )
    panels.append(_transitions(np.asarray(moves), getattr(model, "states_", None)))
    emission = next(
        (getattr(model, n) for n in ("emissionprob_", "means_", "lambdas_") if hasattr(model, n)), None
    )
    if emission is not None and np.ndim(emission) == 2:
        panels.append(
            matrix("what every state shows", emission, [f"state {k}" for k in range(len(emission))])
        )
    return panels


def _transitions(moves: Any, names: Any) -> Panel:
    nodes = circle_layout(names if names is not None and len(names) == len(moves) else range(len(moves)))
    for k, node in enumerate(nodes):
        node |= {"code": k, "tip": f"stays with probability {moves[k, k]:.3g}"}
    edges = [
        {"from": i, "to": j, "value": number(moves[i, j])}
        for i in range(len(moves))
        for j in range(len(moves))
        if i != j and moves[i, j] > 0.005
    ]
    return graph("the way between the states", nodes, edges, directed=True)


def _beliefs(model: Any, X: Any) -> tuple[Any, Any] | None:
    """Return means and covariances over time: smoothed where the model can do it, else as filtered so far."""
    if hasattr(model, "smooth"):
        found = answer_or_none(lambda: model.smooth(X))
        return None if found is None else (np.asarray(found.means), np.asarray(found.covariances))
    if type(model).__name__ != "ParticleFilter" or np.shape(getattr(model, "means_", None))[1:] != (2,):
        return None
    means, covariances = np.asarray(model.means_), np.asarray(model.covariances_)
    known = np.isfinite(means).all(axis=1) & np.isfinite(covariances).all(axis=(1, 2))
    return means[known], covariances[known]


def track_panels(model: Any, material: Material) -> list[Panel]:
    """Return a track with the ellipses of what a filter believes."""
    X = material.X
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != 2:
        return []
    found = _beliefs(model, X)
    if found is None:
        return []
    means, covariances = found
    deviations = np.sqrt([np.diag(c)[:2] for c in covariances])
    tips = [
        f"time {t}: {number(m[0])}, {number(m[1])}; deviations {d[0]:.3g}, {d[1]:.3g}"
        for t, (m, d) in enumerate(zip(means, deviations))
    ]
    layers = [data_points(), line(means[:, :2], name="smoothed"), points(means[:, :2], size=2, tips=tips)]
    layers += [
        ellipse(means[t, :2], covariances[t][:2, :2], color=2)
        for t in range(0, len(means), max(1, len(means) // 15))
    ]
    return [
        plane(
            "the track, and two deviations around it",
            *material.names[:2],
            limits(X[:, 0]),
            limits(X[:, 1]),
            layers,
        )
    ]
