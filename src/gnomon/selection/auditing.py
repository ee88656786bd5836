"""For whom does it fail? Rates by group, with their uncertainty, and features that stand in for a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.selection.areas import auc_interval, delong_parts
from gnomon.selection.calibrating import calibration
from gnomon.selection.intervals import adjust_p_values, check_level, error_interval
from gnomon.selection.tables import confusion_table

RATES = {
    "selection_rate": ("tp fp", "tp fp fn tn"),
    "tpr": ("tp", "tp fn"),
    "fpr": ("fp", "fp tn"),
    "precision": ("tp", "tp fp"),
    "accuracy": ("tp tn", "tp fp fn tn"),
}


class Audit(NamedTuple):
    """Rates of every group, the gaps between groups, and groups that are missing."""

    table: Any  # DataFrame: one row a group; rates with _low and _high
    gaps: (
        Any  # DataFrame: largest minus smallest rate, their ratio, and the adjusted p-value of "all the same"
    )
    excluded: list[Any]  # in the reference, not in the data
    small: list[Any]  # groups with fewer rows than min_size: their rates say little
    proxies: (
        Any  # DataFrame: how well each feature tells the group, the most telling first; None without features
    )

    def plot(self, rate: str = "tpr", ax: Any = None) -> Any:
        """Draw one rate of every group with its interval."""
        from gnomon.plot import intervals

        t = self.table
        return intervals(t[rate], t[f"{rate}_low"], t[f"{rate}_high"], t.index, ax=ax, x_label=rate)


def audit(
    y: Any,
    pred: Any,
    groups: Any,
    *,
    scores: Any = None,
    reference: Any = None,
    level: float = 0.95,
    min_size: int = 20,
    positive: Any = None,
    features: Any = None,
) -> Audit:
    """Return error rates by group, gaps between groups, and whether they may be chance.

    Parameters
    ----------
    y, pred : arrays of shape (n,)
        True and predicted labels of two classes.
    groups : array of shape (n,), or DataFrame
        Groups; the columns of a frame are crossed. Missing values are a group of their own, "missing".
    scores : array of shape (n,), optional
        Scores or probabilities of the positive class: adds the area under the curve, and for probabilities the
        calibration error.
    reference : sequence or mapping, optional
        Groups that should be there, such as those of a census, with or without their shares.
    level : float, default=0.95
        Of every interval (Wilson).
    min_size : int, default=20
        Groups with fewer rows are flagged.
    positive : label, optional
        The larger label by default.
    features : array or DataFrame of shape (n, d), optional
        Numbers that the model sees. `proxies` then says how well each tells the group, and so stands in for what was
        left out: the largest area under the curve over groups (one against the rest, in either direction), and the
        share of the group's entropy that ten quantile bins of the feature explain.

    Returns
    -------
    Audit
        `table`, `gaps` (p-values by χ², adjusted by Holm over the rates), `excluded`, `small`, `proxies`.

    Examples
    --------
    >>> y, pred = [1, 1, 0, 0, 1, 0, 1, 0, 0, 1], [1, 0, 0, 1, 1, 0, 1, 1, 0, 0]
    >>> found = audit(y, pred, list("AAAABBBBBB"), reference=["A", "B", "C"])
    >>> found.table["tpr"].round(4).tolist(), found.excluded
    ([0.5, 0.6667], ['C'])
    >>> found = audit(y, pred, list("AAAABBBBBB"), features=np.c_[np.arange(10) % 3, np.arange(10)])
    >>> found.proxies["auc"].round(4).to_dict()
    {'x1': 1.0, 'x0': 0.5833}
    """
    pd = import_pandas()
    check_level(level)
    y, pred = np.asarray(y), np.asarray(pred)
    if y.ndim != 1 or y.shape != pred.shape or not len(y):
        raise DataError(
            f"y and pred must be vectors of one length, not empty; got {y.shape} and {pred.shape}."
        )
    names, codes = _groups(groups, len(y))
    top = _positive(np.unique(np.concatenate([y, pred])), positive)
    truth, said = (y == top).astype(int), (pred == top).astype(int)
    rows, counts = [], []
    for code, name in enumerate(names):
        mine = codes == code
        found = confusion_table(truth[mine], said[mine], labels=[0, 1]).rates(1)
        row = {"group": name, "size": int(mine.sum()), "base_rate": found["base_rate"]}
        pairs = {
            rate: tuple(sum(found[c] for c in part.split()) for part in parts)
            for rate, parts in RATES.items()
        }
        for rate, (hits, of) in pairs.items():
            row[rate] = found[rate]
            row[f"{rate}_low"], row[f"{rate}_high"] = error_interval(hits, of, level=level)
        if scores is not None:
            row |= _of_scores(truth[mine], np.asarray(scores, dtype=float)[mine], level)
        rows.append(row)
        counts.append(pairs)
    table = pd.DataFrame(rows).set_index("group")
    excluded = [] if reference is None else [one for one in reference if str(one) not in map(str, names)]
    small = [name for name, row in zip(names, rows) if row["size"] < min_size]
    proxies = None if features is None else _proxies(features, names, codes)
    return Audit(table, _gaps(table, counts), excluded, small, proxies)


def _positive(labels: Array, positive: Any) -> Any:
    """Return the positive label: the one named, or the larger of two; of 0 and -1 alone it is 1."""
    if positive is not None:
        if len(labels) > 1 and positive not in labels.tolist():
            raise DataError(f"positive must be one of the labels {labels.tolist()[:8]}; got {positive!r}.")
        return positive
    if len(labels) > 2:
        raise DataError(f"there are {len(labels)} classes; name the positive one, the others are the rest.")
    if len(labels) == 2:
        return labels[1]
    if labels[0] not in (-1, 0, 1):
        raise DataError(f"there is one class only, {labels[0].item()!r}; name the positive one.")
    return 1


def _groups(groups: Any, n: int) -> tuple[list[Any], Array]:
    if hasattr(groups, "columns"):
        filled = [["missing" if _absent(v) else str(v) for v in groups[c]] for c in groups.columns]
        values = [" × ".join(parts) for parts in zip(*filled)]
    else:
        values = ["missing" if _absent(v) else v for v in np.asarray(groups, dtype=object).tolist()]
    if len(values) != n:
        raise DataError(f"groups must have one entry for each of {n} rows; it has {len(values)}.")
    names = sorted(set(values), key=lambda v: (v == "missing", str(v)))
    place = {name: code for code, name in enumerate(names)}
    return names, np.array([place[v] for v in values])


def _absent(value: Any) -> bool:
    return value is None or value != value  # NaN differs from itself


def _of_scores(truth: Array, scores: Array, level: float) -> dict[str, float]:
    found: dict[str, float] = {}
    if 0 < truth.sum() < len(truth):
        area = auc_interval(truth, scores, level=level)
        found |= {"auc": area.auc, "auc_low": area.low, "auc_high": area.high}
    else:
        found |= dict.fromkeys(("auc", "auc_low", "auc_high"), float("nan"))
    if (scores >= 0).all() and (scores <= 1).all():
        found["calibration_error"] = calibration(truth, scores).ece
    return found


def _gaps(table: Any, counts: list[dict[str, tuple[float, float]]]) -> Any:
    pd = import_pandas()
    rows = {}
    for rate in RATES:
        values = table[rate].dropna()
        hits = np.array([pairs[rate] for pairs in counts])
        rows[rate] = {
            "gap": float(values.max() - values.min()) if len(values) else np.nan,
            "ratio": float(values.min() / values.max()) if len(values) and values.max() > 0 else np.nan,
            "p_value": _same_rate(hits),
        }
    gaps = pd.DataFrame(rows).T
    gaps["p_adjusted"] = adjust_p_values(gaps["p_value"].fillna(1.0).to_numpy())
    return gaps


def _same_rate(hits: Array) -> float:
    """Return the p-value of a χ² test that all groups have one rate."""
    table = np.column_stack([hits[:, 0], hits[:, 1] - hits[:, 0]])
    table = table[table.sum(axis=1) > 0]
    if len(table) < 2 or (table.sum(axis=0) == 0).any():
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def _proxies(X: Any, names: list[Any], codes: Array, n_bins: int = 10) -> Any:
    """Return how well each feature tells the group: areas, and the share of the group's entropy it explains."""
    pd = import_pandas()

    from gnomon.distributions import entropy, mutual_information

    told = list(getattr(X, "columns", [])) or [f"x{j}" for j in range(np.shape(X)[1])]
    X = np.asarray(X, dtype=float)
    if len(X) != len(codes):
        raise DataError(f"features must have one row for each of {len(codes)}; it has {len(X)}.")
    if len(names) < 2:
        raise DataError("groups holds one group only; there is nothing that features could tell.")
    whole = entropy(np.bincount(codes) / len(codes))
    rows = []
    for column in X.T:
        areas = [delong_parts(codes == k, column).auc for k in range(len(names))]
        edges = np.unique(np.quantile(column, np.linspace(0, 1, n_bins + 1)[1:-1]))
        joint = np.zeros((len(edges) + 1, len(names)))
        np.add.at(joint, (np.searchsorted(edges, column), codes), 1.0 / len(X))
        rows.append((max(max(area, 1 - area) for area in areas), mutual_information(joint) / whole))
    table = pd.DataFrame(rows, index=pd.Index(told, name="feature"), columns=["auc", "explained"])
    return table.sort_values("auc", ascending=False, kind="stable")
