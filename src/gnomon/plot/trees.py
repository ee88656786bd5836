"""Pictures of trees and ensembles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def impurity_functions(ax: Axes | None = None) -> Axes:
    """Draw Gini, entropy (halved) and error of two classes against the share of the first."""
    from gnomon.trees.splits import impurity

    ax = style.axes(ax, x="share of the first class", y="impurity")
    p = np.linspace(0, 1, 201)
    for k, (name, factor) in enumerate((("gini", 1.0), ("entropy", 0.5), ("error", 1.0))):
        values = [factor * impurity([q, 1 - q], name) for q in p]
        ax.plot(p, values, color=style.color(k), label=f"{name} / 2" if factor < 1 else name)
    ax.legend(frameon=False)
    return ax


def tree(model: Any, ax: Axes | None = None, *, max_depth: int = 5) -> Axes:
    """Draw a fitted tree: a box per node with its question, an edge per answer."""
    from gnomon.trees.text import leaf_text, tests

    nodes = model.tree_
    places = _places(nodes, max_depth)
    ax = style.axes(ax, size=(max(6, 1.3 * len(places) ** 0.75), 1.2 * (1 + min(max_depth, nodes.max_depth))))
    ax.axis("off")
    for node, (x, depth) in places.items():
        shown = [(c, t) for c, t in (tests(model, node) if nodes.feature[node] >= 0 else []) if c in places]
        for child, text in shown:
            cx, cd = places[child]
            ax.plot([x, cx], [-depth, -cd], color=style.QUIET, lw=1, zorder=1)
            ax.text((x + cx) / 2, -(depth + cd) / 2, text, ha="center", va="center", fontsize=7)
        kind = nodes.value[node, 0].argmax() if hasattr(model, "classes_") else 0
        box = {"boxstyle": "round", "fc": "white", "ec": style.color(int(kind)), "alpha": 0.95}
        text = leaf_text(model, node) if not shown else f"n={nodes.n_node_samples[node]}"
        ax.text(x, -depth, text, ha="center", va="center", fontsize=8, bbox=box, color="black", zorder=2)
    return ax


def _places(nodes: Any, max_depth: int) -> dict[int, tuple[float, int]]:
    """Horizontal place and depth of every node to draw: leaves side by side, parents above the middle."""
    depth, places, column = nodes.depth, {}, 0
    order = [t for t in range(nodes.node_count) if depth[t] <= max_depth]
    for t in reversed(order):  # children come after their parents
        children = [c for c in nodes.children(t) if c in places]
        if not children:
            places[t] = (float(-column), int(depth[t]))
            column += 1
        else:
            places[t] = (float(np.mean([places[c][0] for c in children])), int(depth[t]))
    return places


def tree_gallery(models: Any, *, columns: int = 3, max_depth: int = 3) -> Any:
    """Draw several trees side by side (bootstrapped members, nested prunings); return the array of Axes."""
    from matplotlib import pyplot

    models = list(models)
    rows = -(-len(models) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for ax, model in zip(grid.flat, models):
        tree(model, ax=ax, max_depth=max_depth)
    for ax in list(grid.flat)[len(models) :]:
        ax.axis("off")
    return grid


def train_test_size_curve(
    model: Any, X: Any, y: Any, X_test: Any, y_test: Any, ax: Axes | None = None
) -> Axes:
    """Draw training and test error of the nested prunings of a tree against its number of leaves."""
    from sklearn.base import clone

    from gnomon.trees.pruning import prune

    whole = clone(model).set_params(ccp_alpha=0.0).fit(X, y)
    path = model.cost_complexity_pruning_path(X, y)
    trees = [prune(whole, alpha) for alpha in path.ccp_alphas]
    ax = style.axes(ax, x="leaves", y="error")
    for k, (name, data) in enumerate((("training", (X, y)), ("test", (X_test, y_test)))):
        ax.plot(path.n_leaves, [1 - t.score(*data) for t in trees], ".-", color=style.color(k), label=name)
    ax.legend(frameon=False)
    return ax


def boosting_rounds(model: Any, X: Any, y: Any, rounds: int = 3) -> Any:
    """Draw the first rounds of AdaBoost on two features: points sized by weight; return the array of Axes."""
    from matplotlib import pyplot

    X, y = np.asarray(X, dtype=float), np.asarray(y)
    rounds = min(rounds, len(model.estimators_))
    figure, grid = pyplot.subplots(1, rounds, figsize=(4 * rounds, 3.6), squeeze=False)
    for t, ax in enumerate(grid[0]):
        weight = model.sample_weights_[t]
        for k, label in enumerate(model.classes_):
            chosen = y == label
            ax.scatter(
                *X[chosen].T, s=400 * weight[chosen] / weight.max() + 5, color=style.color(k), alpha=0.7
            )
        stump = model.estimators_[t]
        if getattr(stump, "feature_", -1) == 0:
            ax.axvline(stump.threshold_, color=style.QUIET)
        elif getattr(stump, "feature_", -1) == 1:
            ax.axhline(stump.threshold_, color=style.QUIET)
        error, alpha = model.estimator_errors_[t], model.alphas_[t]
        ax.set_title(f"round {t + 1}: error {error:.3f}, weight {alpha:.3f}")
    return grid[0]


def boosting_curves(model: Any, X_test: Any = None, y_test: Any = None, ax: Axes | None = None) -> Axes:
    """Draw training error, test error and both bounds of AdaBoost against the round."""
    ax = style.axes(ax, x="round", y="error")
    rounds = np.arange(1, len(model.training_errors_) + 1)
    edge = np.exp(-2 * np.cumsum((0.5 - model.estimator_errors_) ** 2))
    ax.plot(rounds, model.training_errors_, color=style.color(0), label="training error")
    if X_test is not None:
        test = 1 - np.array(list(model.staged_score(X_test, y_test)))
        ax.plot(rounds, test, color=style.color(1), label="test error")
    ax.plot(rounds, np.cumprod(model.normalizers_), "--", color=style.color(2), label="product of Z")
    ax.plot(rounds, edge, ":", color=style.color(3), label="edge bound")
    ax.legend(frameon=False)
    return ax


def margin_distribution(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the cumulative distribution of AdaBoost's normalized margins."""
    margins = np.sort(model.margins(X, y))
    ax = style.axes(ax, x="margin", y="share of rows below")
    ax.step(margins, np.arange(1, len(margins) + 1) / len(margins), color=style.color(0))
    return ax


def boosting_scatter(
    plain: Any, boosted: Any, ax: Axes | None = None, *, names: tuple[str, str] | None = None
) -> Axes:
    """Draw the error with boosting against the error without, one dot per data set, and the diagonal."""
    plain, boosted = np.asarray(plain, dtype=float), np.asarray(boosted, dtype=float)
    labels = names or ("error without boosting", "error with boosting")
    ax = style.axes(ax, x=labels[0], y=labels[1], size=(4.5, 4.5))
    ax.plot(plain, boosted, "o", color=style.color(0))
    top = float(max(plain.max(), boosted.max())) * 1.05
    ax.plot([0, top], [0, top], color=style.QUIET, lw=1)
    return ax


def boosting_losses(model: Any, ax: Axes | None = None) -> Axes:
    """Draw training and validation loss of boosted trees against the round."""
    ax = style.axes(ax, x="round", y="loss")
    ax.plot(np.abs(model.train_score_), color=style.color(0), label="training")
    if len(getattr(model, "validation_score_", ())):
        ax.plot(-model.validation_score_, color=style.color(1), label="validation")
    ax.legend(frameon=False)
    return ax


def found_boxes(image: Any, boxes: Any, ax: Axes | None = None) -> Axes:
    """Draw boxes (top, left, height, width) on an image."""
    from matplotlib.patches import Rectangle

    ax = style.axes(ax)
    ax.imshow(image, cmap="gray")
    ax.axis("off")
    for top, left, height, width in np.asarray(boxes):
        ax.add_patch(Rectangle((left, top), width, height, fill=False, ec=style.color(1), lw=2))
    return ax
