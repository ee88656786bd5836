"""What models of the k nearest rows tell: tables of who decided, curves of mistakes over k."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.neighbors.voting import Ballot, count, of_nearest, shares


def table(model: Any, ballot: Ballot, labels: Array) -> Any:
    """Return a frame of who decided what."""
    import polars

    starts = np.searchsorted(ballot.query, np.arange(ballot.n_queries))
    columns: dict[str, Any] = {
        "query": ballot.query,
        "place": np.arange(len(ballot.query)) - starts[ballot.query] + 1,
        "row": model._training_rows(ballot.rows),
        "distance": ballot.distances,
        "weight": ballot.weight,
    }
    names = ["label"] if labels.shape[1] == 1 else [f"label {j}" for j in range(labels.shape[1])]
    columns.update({name: labels[ballot.rows, j] for j, name in enumerate(names)})
    frame = polars.DataFrame(columns)
    return frame.filter(polars.col("weight") > 0) if model.row_weight_ is not None else frame


def mistakes(model: Any, X: Any, y: Any, k_values: Any) -> Array:
    """Return the share of mistakes for many k from one search."""
    if model.outputs_2d_:
        raise DataError("error curves are for one output; fit the outputs one by one.")
    ks = [int(k) for k in np.atleast_1d(k_values)]
    if not ks:
        raise DataError("k_values is empty; give at least one k.")
    own = X is None
    ks_checked = [model._check_votes(k, own) for k in ks]
    weight = model.row_weight_
    if weight is None:
        values, rows = model._nearest(X, max(ks_checked))
        part = np.ones(rows.shape)
    else:
        values, rows, part = model._repeated(X, max(ks_checked))
    truth = model.classes_[model.targets_] if own else np.asarray(y)
    if len(truth) != len(rows):
        raise DataError(f"X has {len(rows)} rows and y has {len(truth)}; they must agree.")
    share = np.ones(len(rows)) if weight is None or not own else weight
    wrong = []
    for k in ks_checked:
        ballot = of_nearest(
            values[:, :k] if weight is None else values,
            rows[:, :k] if weight is None else rows,
            None if weight is None else shares(part, k),
            model.weights,
        )
        votes = count(ballot, model.targets_, len(model.classes_))
        wrong.append(float(np.average(model.classes_[votes.argmax(axis=1)] != truth, weights=share)))
    return np.array(wrong)
