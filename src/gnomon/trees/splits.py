"""Node quality and split improvement, slow and obvious: what the compiled search must agree with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, xlogy

from gnomon.core.errors import DataError
from gnomon.core.validate import vector, weights
from gnomon.trees.problems import positive

Array = np.ndarray
CLASS_CRITERIA = ("gini", "entropy", "log_loss", "error")


def impurity(counts: Any, criterion: str = "gini", sample_weight: Any = None) -> float:
    r"""Return the impurity of a node.

    .. math:: 1 - \sum_k p_k^2 \ \text{(gini)}, \quad -\sum_k p_k \log_2 p_k \ \text{(entropy)}, \quad
              1 - \max_k p_k \ \text{(error)}

    of class weights `counts`; for "squared_error", "friedman_mse", "absolute_error" and "poisson" `counts`
    holds the targets of the node, and the result is their weighted mean loss around the mean (or median). All
    are 0 for pure nodes; the class measures are largest for equal shares.

    Examples
    --------
    >>> [round(impurity([1, 50, 50], name), 6) for name in ("gini", "entropy", "error")]
    [0.509754, 1.070235, 0.50495]
    """
    values = np.asarray(counts, dtype=np.float64)
    if criterion in CLASS_CRITERIA:
        return _class_impurity(values, criterion)
    w = weights(1.0 if sample_weight is None else sample_weight, len(values))
    mean = float(w @ values / w.sum())
    if criterion in ("squared_error", "friedman_mse"):
        return float(w @ (values - mean) ** 2 / w.sum())
    if criterion == "poisson":
        return float(w @ (xlogy(values, values / mean) - values + mean) / w.sum()) if mean > 0 else 0.0
    if criterion == "absolute_error":
        from gnomon.loops.absolute import weighted_median

        return float(w @ np.abs(values - weighted_median(values.copy(), w.copy())) / w.sum())
    raise DataError(f"criterion {criterion!r} is not an impurity; choose 'gini', 'entropy', 'error', ...")


def _class_impurity(counts: Array, criterion: str) -> float:
    if counts.size == 0 or (counts < 0).any() or not np.isfinite(counts).all() or counts.sum() <= 0:
        raise DataError("counts must be finite, not negative and not all zero.")
    p = counts / counts.sum()
    if criterion == "gini":
        return float(1.0 - (p**2).sum())
    if criterion == "error":
        return float(1.0 - p.max())
    return float(entr(p).sum() / np.log(2.0))


def split_improvement(parent: Any, *children: Any, criterion: str = "gini") -> float:
    r"""Return how much a split lowers the impurity: u(R) minus the weighted mean of the children's.

    .. math:: \Delta = u(R) - \sum_c \frac{W_c}{W} u(R_c)

    Examples
    --------
    >>> round(split_improvement([2, 5], [0, 2], [2, 3], criterion="entropy"), 6)
    0.169584
    """
    sizes = np.array([_size(child, criterion) for child in children])
    inside = sum(s * impurity(child, criterion) for s, child in zip(sizes, children) if s > 0)
    return impurity(parent, criterion) - float(inside / sizes.sum())


def _size(child: Any, criterion: str) -> float:
    return float(np.sum(child)) if criterion in CLASS_CRITERIA else float(len(child))


class GainCurve(NamedTuple):
    """Gain of every threshold of one feature."""

    thresholds: Array
    gains: Array
    left_counts: Array  # class weights (or weight) on the left side

    def plot(self, ax: Any = None) -> Any:
        """Draw the gains and mark the best threshold; return the Axes."""
        from gnomon.plot.curves import gains

        return gains(self, ax=ax)


def gain_curve(
    X: Any, y: Any, feature: int = 0, criterion: str = "gini", sample_weight: Any = None
) -> GainCurve:
    """Return thresholds (midpoints of neighboring values), their gains, and the weights on their left.

    Examples
    --------
    >>> curve = gain_curve(np.arange(1.0, 9.0)[:, None], [0, 0, 1, 0, 1, 1, 0, 1])
    >>> curve.gains.round(4) + 0.0
    array([0.0714, 0.1667, 0.0333, 0.125 , 0.0333, 0.    , 0.0714])
    """
    x = np.asarray(X, dtype=np.float64)
    x = x if x.ndim == 1 else x[:, feature]
    w = weights(1.0 if sample_weight is None else sample_weight, len(x))
    keep = ~np.isnan(x) & (w > 0)
    x, w, y = x[keep], w[keep], np.asarray(y)[keep]
    values = np.unique(x)
    thresholds = values[:-1] + np.diff(values) / 2
    if criterion in CLASS_CRITERIA:
        codes = np.unique(y, return_inverse=True)[1]
        table = np.stack([np.bincount(codes[x <= t], weights=w[x <= t], minlength=codes.max() + 1)
                          for t in thresholds]) if len(thresholds) else np.zeros((0, 1))  # fmt: skip
        whole = np.bincount(codes, weights=w)
        gains = [split_improvement(whole, left, whole - left, criterion=criterion) for left in table]
        return GainCurve(thresholds, np.array(gains), table)
    y = vector(y, n=len(x))
    gains = [_number_gain(y, w, x <= t, criterion) for t in thresholds]
    return GainCurve(thresholds, np.array(gains), np.array([w[x <= t].sum() for t in thresholds]))


def _number_gain(y: Array, w: Array, left: Array, criterion: str) -> float:
    inside = sum(w[side].sum() * impurity(y[side], criterion, w[side]) for side in (left, ~left))
    return impurity(y, criterion, w) - float(inside / w.sum())


def candidate_gains(model: Any, rows: Any, node: int) -> Array:
    """Best gain of every feature at a node of a fitted tree; -inf for a constant feature."""
    X, y, weight = positive(rows)
    weight = model._weighted(y, weight, rows)
    if getattr(rows, "outputs", None) is not None:
        y = rows.outputs.codes(y)
    inside = _below(model.tree_, node)[model.tree_.apply(X)]
    columns, weight = y.reshape(len(y), -1)[inside].T, weight[inside]
    criterion = "entropy" if model.criterion == "gain_ratio" else model.criterion
    gains = np.full(rows.n_features, -np.inf)
    for f in range(rows.n_features):
        if f in model.categories_:
            continue
        x = X[inside][:, [f]]
        x = x.toarray() if rows.sparse else x
        found = np.mean([gain_curve(x, column, 0, criterion, weight).gains for column in columns], axis=0)
        gains[f] = found.max(initial=-np.inf)
    return gains


def _below(tree: Any, node: int) -> Array:
    inside = np.zeros(tree.node_count, dtype=bool)
    inside[node] = True
    for t in range(node, tree.node_count):
        if inside[t]:
            inside[tree.children(t)] = True
    return inside
