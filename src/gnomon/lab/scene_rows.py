"""Scenes of learners from rows: regions and margins, centers and ellipses, curves with bands, planes of projections."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from gnomon.lab.material import Material, View
from gnomon.lab.panels import (
    Layer,
    Panel,
    answer_or_none,
    band,
    bars,
    contour,
    data_points,
    ellipse,
    family_of,
    limits,
    line,
    number,
    plane,
    points,
    raster,
    surface,
)

CELLS = 72  # a side of the grid on which regions are drawn
MAX_MIXED = 7  # components whose colors can be told apart when they are mixed
CURVE = 160  # places at which a curve is drawn


def rows_scene(model: Any, material: Material, view: View) -> list[Panel]:
    """Return the picture of a model of rows: what it says of every place, and of every point."""
    if is_regressor(model) and material.y is not None and np.ndim(material.y) == 1:
        return _regression(model, material, view)
    if is_classifier(model) and material.y is not None:
        return _classes(model, material, view)
    return _groups(model, material, view)


# classes


def _classes(model: Any, material: Material, view: View) -> list[Panel]:
    names = list(getattr(model, "classes_", np.unique(material.y)))
    true = _coded(material.y, names)
    said = _coded(model.predict(material.X), names)
    shares = answer_or_none(lambda: model.predict_proba(material.X))
    tips = None if shares is None else [_shares(names, row) for row in np.asarray(shares)]
    layers: list[Layer] = []
    if view.flat:
        layers += _regions(model, view, names)
    ringed = _support(model, len(true))
    if ringed is None:
        ringed = np.flatnonzero((said != true) & (true >= 0))
        ring = "wrong ones are ringed"
    else:
        ring = f"{len(ringed)} support vectors are ringed"
    layers.append(
        data_points(np.where(true < 0, 35, true), ringed=ringed, sizes=_weights(model, len(true)), tips=tips)
    )
    right = float((said == true)[true >= 0].mean()) if (true >= 0).any() else 0.0
    panel = plane(
        f"{right:.1%} right; {ring}", *view.axes, view.xlim, view.ylim, layers, names=[str(name) for name in names],
    )  # fmt: skip
    return [panel, *_ensemble(model), *_coefficients(model, material)]


def _coded(values: Any, names: list[Any]) -> Any:
    """Return the place of every value among the names; -1 for none of them."""
    places = {str(name): place for place, name in enumerate(names)}
    return np.array([places.get(str(value), -1) for value in np.ravel(values)])


def _regions(model: Any, view: View, names: list[Any]) -> list[Layer]:
    x, y, cells = _cells(view)
    said = _coded(model.predict(cells), names)
    layers = [raster(said % 36, view.xlim, view.ylim, (CELLS, CELLS))]
    if len(names) != 2:
        return layers
    height = answer_or_none(lambda: np.ravel(model.decision_function(cells)))
    if height is not None and len(height) == len(cells) and np.isfinite(height).all():
        field = height.reshape(CELLS, CELLS)
        layers += contour(field, x, y, 0.0, color=-1, width=2)
        for level in (-1.0, 1.0) if _has_margin(model) else ():
            layers += contour(field, x, y, level, color=-1, width=1, dash=True)
        return layers
    shares = answer_or_none(lambda: np.asarray(model.predict_proba(cells))[:, 1])
    if shares is not None:
        layers += contour(shares.reshape(CELLS, CELLS), x, y, 0.5, color=-1, width=2)
    return layers


def _has_margin(model: Any) -> bool:
    """Tell whether 1 and -1 are special values of the decision function."""
    return hasattr(model, "support_") or "hinge" in str(getattr(model, "loss", ""))


def _cells(view: View) -> tuple[Any, Any, Any]:
    x = np.linspace(*view.xlim, CELLS)
    y = np.linspace(*view.ylim, CELLS)
    across, up = np.meshgrid(x, y)
    return x, y, np.column_stack([across.ravel(), up.ravel()])


def _support(model: Any, n: int) -> Any:
    found = getattr(model, "support_", None)
    if found is None or np.asarray(found).dtype.kind not in "iu" or np.ndim(found) != 1:
        return None
    found = np.asarray(found)
    return found[(found >= 0) & (found < n)]


def _weights(model: Any, n: int) -> Any:
    """Return the sizes of points that a boosting model weighs."""
    weights = getattr(model, "sample_weights_", None)
    if weights is None or np.shape(weights)[-1] != n:
        return None
    last = np.atleast_2d(weights)[-1]
    return np.clip(np.sqrt(last / last.mean()), 0.4, 4) if last.mean() > 0 else None


def _ensemble(model: Any) -> list[Panel]:
    weights = getattr(model, "estimator_weights_", None)
    if weights is None or not 0 < len(np.ravel(weights)) <= 200:
        return []
    values = np.ravel(weights)
    return [bars("the say of every member", range(1, len(values) + 1), values)]


def _shares(names: list[Any], row: Any) -> str:
    best = np.argsort(-row)[:3]
    return ", ".join(f"{names[k]}: {row[k]:.3g}" for k in best if k < len(names))


# groups


def _groups(model: Any, material: Material, view: View) -> list[Panel]:
    X = np.asarray(material.X, dtype=float)
    shares = answer_or_none(lambda: np.asarray(model.predict_proba(X)))
    said = _labels(model, X)
    layers: list[Layer] = []
    if view.flat and said is not None and hasattr(model, "predict"):
        found = answer_or_none(lambda: np.asarray(model.predict(_cells(view)[2])).astype(int))
        if found is not None:
            layers.append(raster((found - min(0, found.min())) % 36, view.xlim, view.ylim, (CELLS, CELLS)))
    elif view.flat and _density(model) is not None:
        heights = answer_or_none(lambda: np.asarray(_density(model)(_cells(view)[2])))
        if heights is not None and heights.shape == (CELLS * CELLS,):
            layers.append(surface(heights, view.xlim, view.ylim, (CELLS, CELLS)))
    tips, mixed = None, None
    if shares is not None and shares.ndim == 2 and len(shares) == len(X):
        tips = [_shares(list(range(shares.shape[1])), row) for row in shares]
        mixed = shares if shares.shape[1] <= MAX_MIXED else None
    codes = None if said is None else (said - min(0, int(said.min()))) % 36
    layers.append(data_points(codes, ringed=_medoids(model, len(X)), tips=tips, shares=mixed))
    if view.flat:
        layers += _centers(model)
    title = "the data" if said is None else f"{len(np.unique(said))} groups"
    panels = [plane(title, *view.axes, view.xlim, view.ylim, layers)]
    if X.shape[1] == 1 and hasattr(model, "weights_"):
        panels = _histogram(model, X[:, 0], material)
    return [*panels, *_projection(model, X, said)]


def _labels(model: Any, X: Any) -> Any:
    if hasattr(model, "predict") and not is_regressor(model):
        said = answer_or_none(lambda: np.asarray(model.predict(X)))
        if said is not None and said.shape == (len(X),) and said.dtype.kind in "iub":
            return said.astype(int)
    labels = getattr(model, "labels_", None)
    return np.asarray(labels).astype(int) if labels is not None and np.shape(labels) == (len(X),) else None


def _density(model: Any) -> Any:
    return getattr(model, "score_samples", None) or getattr(model, "decision_function", None)


def _medoids(model: Any, n: int) -> Any:
    found = getattr(model, "medoid_indices_", ())
    return np.asarray(found, dtype=int) if len(found) and max(found) < n else ()


def _centers(model: Any) -> list[Layer]:
    """Return centers as crosses, and two standard deviations around them where there are covariances."""
    found = (getattr(model, name, None) for name in ("cluster_centers_", "means_", "centers_", "codebook_"))
    centers = next((np.asarray(value) for value in found if value is not None), None)
    if centers is None or centers.ndim != 2 or centers.shape[1] != 2:
        mean, covariance = getattr(model, "mean_", None), getattr(model, "covariance_", None)
        if np.shape(mean) == (2,) and np.shape(covariance) == (2, 2):
            return [ellipse(mean, covariance), points([mean], mark="cross", size=8)]
        return []
    weights = getattr(model, "weights_", None)
    layers = []
    for k, covariance in enumerate(_covariances(model, len(centers))):
        layers.append(ellipse(centers[k], covariance, color=k))
    tips = [
        f"center {k}: {number(c[0])}, {number(c[1])}"
        + (f"; weight {weights[k]:.3g}" if np.shape(weights) == (len(centers),) else "")
        for k, c in enumerate(centers)
    ]
    return [*layers, points(centers, classes=np.arange(len(centers)), mark="cross", size=8, tips=tips)]


def _covariances(model: Any, k: int) -> list[Any]:
    found = getattr(model, "covariances_", None)
    if found is None:
        return []
    found = np.asarray(found, dtype=float)
    kind = getattr(model, "covariance_type", "full")
    if found.shape == (k, 2, 2) and kind != "diag":
        return list(found)
    if kind == "tied" and found.shape == (2, 2):
        return [found] * k
    if kind == "diag" and found.shape == (k, 2):
        return [np.diag(row) for row in found]
    if kind == "spherical" and found.size == k:
        return [value * np.eye(2) for value in found.ravel()]
    return []


def _histogram(model: Any, x: Any, material: Material) -> list[Panel]:
    """Return a column as a histogram with the density of the model over it."""
    low, high = limits(x)
    counts, edges = np.histogram(x, bins=min(40, max(8, len(np.unique(x)))), density=True)
    layers = [
        band(edges[i : i + 2], [0, 0], [height, height], color=6) for i, height in enumerate(counts.tolist())
    ]
    whole = np.allclose(x, np.round(x))
    at = (
        np.arange(max(0, np.floor(x.min())), np.ceil(x.max()) + 1) if whole else np.linspace(low, high, CURVE)
    )
    heights = answer_or_none(lambda: np.exp(np.asarray(model.score_samples(at[:, None]))))
    if heights is not None and np.isfinite(heights).any():
        layers.append(line(np.column_stack([at, heights]), name="density"))
        counts = np.append(counts, heights[np.isfinite(heights)])
    return [
        plane("density", material.names[0], "density", [low, high], [0.0, float(counts.max()) * 1.1], layers)
    ]


def _projection(model: Any, X: Any, said: Any) -> list[Panel]:
    """Return where the model puts the rows, in the first two of its own directions."""
    places = getattr(model, "embedding_", None)
    decomposes = family_of(model) == "decomposition"
    if places is None and (X.shape[1] > 2 or decomposes) and hasattr(model, "transform"):
        places = answer_or_none(lambda: model.transform(X))
    if places is None or np.ndim(places) != 2 or len(places) != len(X) or not len(X):
        return []
    places = np.asarray(places, dtype=float)
    if places.shape[1] == 1:
        places = np.column_stack([places[:, 0], np.zeros(len(places))])
    if not np.isfinite(places[:, :2]).all():
        return []
    layer = points(places[:, :2], classes=said % 36 if said is not None else None, size=3)
    return [
        plane(
            "where the model puts the rows",
            "first",
            "second",
            limits(places[:, 0]),
            limits(places[:, 1]),
            [layer],
        )
    ]


# numbers


def _regression(model: Any, material: Material, view: View) -> list[Panel]:
    X, y = np.asarray(material.X, dtype=float), np.asarray(material.y, dtype=float)
    said = np.ravel(model.predict(X))
    if X.shape[1] == 1:
        panels = [_curve(model, view), *_loss(model, X[:, 0], y)]
    else:
        low, high = limits([y.min(), y.max(), *np.nan_to_num(said)])
        layers = [
            line([[low, low], [high, high]], color=-1, width=1, dash=True),
            points(np.column_stack([y, said]), size=3),
        ]
        panels = [
            plane(
                f"said beside true; mean squared error {np.mean((y - said) ** 2):.4g}",
                "true",
                "said",
                [low, high],
                [low, high],
                layers,
            )
        ]
    return [*panels, *_ensemble(model), *_coefficients(model, material)]


def _curve(model: Any, view: View) -> Panel:
    x = np.linspace(*view.xlim, CURVE)
    curve = np.ravel(model.predict(x[:, None]))
    layers: list[Layer] = []
    ends = _interval(model, x[:, None])
    if ends is not None and np.isfinite(ends).all():
        layers.append(band(x, ends[0], ends[1]))
    layers += [
        line(np.column_stack([x, curve]), name="the model"),
        data_points(
            ringed=_support(model, len(view.xy)) if _support(model, len(view.xy)) is not None else ()
        ),
    ]
    title = "the curve" + (" and where 95% of new points are" if len(layers) == 3 else "")
    return plane(title, *view.axes, view.xlim, view.ylim, layers)


def _interval(model: Any, x: Any) -> Any:
    """Return the two ends of an interval of 95%, where the model knows one."""
    if hasattr(model, "predict_interval"):
        found = answer_or_none(lambda: model.predict_interval(x))
        if isinstance(found, tuple) and len(found) == 2:
            return np.array([np.ravel(found[0]), np.ravel(found[1])])
    found = answer_or_none(lambda: model.predict(x, return_std=True))
    if isinstance(found, tuple) and len(found) == 2:
        mean, deviation = map(np.ravel, found)
        return np.array([mean - 1.96 * deviation, mean + 1.96 * deviation])
    return None


def _loss(model: Any, x: Any, y: Any) -> list[Panel]:
    """Return the squared error of every line, and where the model's line is."""
    if np.size(getattr(model, "coef_", ())) != 1 or np.size(getattr(model, "intercept_", ())) != 1:
        return []
    slope, height = float(np.ravel(model.coef_)[0]), float(np.ravel(model.intercept_)[0])
    best = np.polyfit(x, y, 1)
    spread = max(abs(slope - best[0]), abs(best[0]), 0.5) * 1.5
    rise = max(abs(height - best[1]), abs(best[1]), np.std(y), 0.5) * 1.5
    # the limits do not depend on the step unless the line is far away
    xlim, ylim = limits([best[1] - rise, best[1] + rise], 0), limits([best[0] - spread, best[0] + spread], 0)
    b, a = np.meshgrid(np.linspace(*xlim, 40), np.linspace(*ylim, 40))
    mean = {"x": x.mean(), "y": y.mean(), "xx": (x * x).mean(), "xy": (x * y).mean(), "yy": (y * y).mean()}
    error = (
        mean["yy"]
        + a * a * mean["xx"]
        + b * b
        - 2 * a * mean["xy"]
        - 2 * b * mean["y"]
        + 2 * a * b * mean["x"]
    )
    tip = f"intercept {height:.4g}, slope {slope:.4g}, mean squared error {np.mean((y - slope * x - height) ** 2):.4g}"
    layers = [
        surface(np.log(error + 1e-9), xlim, ylim, (40, 40)),
        points([[height, slope]], mark="cross", size=8, tips=[tip]),
    ]
    return [
        plane(
            "squared error of every line",
            "intercept",
            "slope",
            xlim,
            ylim,
            layers,
            path=[number(height), number(slope)],
        )
    ]


def _coefficients(model: Any, material: Material) -> list[Panel]:
    weights = getattr(model, "coef_", None)
    if (
        weights is None
        or not hasattr(weights, "shape")
        or not 1 < np.shape(weights)[-1] <= 40
        or np.ndim(weights) > 2
    ):
        return []
    dense = np.atleast_2d(weights.toarray() if hasattr(weights, "toarray") else weights)
    if len(dense) != 1 or len(material.names) != dense.shape[1]:
        return []
    return [bars("coefficients", material.names, dense[0])]
