"""The map of all models: what each learns from, what it says, and how."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gnomon
from gnomon.core.frames import import_pandas

FLOORS = {
    "cli", "lab", "report", "selection", "theory", "plot", "datasets", "solvers", "distributions", "kernels",
    "losses", "loops", "core",
}  # fmt: skip
SEQUENTIAL = {"sequence", "ranking"}
GROWING = {"neighbors", "gp", "kernels", "svm"}  # what is kept grows with the data


def model_map(**wanted: Any) -> Any:
    """Return a table of every model of the library, or of those with the properties that are given.

    Parameters
    ----------
    **wanted
        Values of columns, such as ``setting="unsupervised", probabilistic=True``.

    Returns
    -------
    pandas.DataFrame
        Columns: family, setting (supervised, unsupervised, sequential, decision), output (labels, numbers, density,
        coordinates, states), probabilistic, generative, parametric, incremental (`partial_fit`), iterative (`iterate`),
        scales (Parquet and Dask), sparse, missing.

    Notes
    -----
    Relations between rows: a Markov chain on the hidden label turns a mixture into a hidden Markov model, and
    probabilistic principal components into a Kalman filter; a maximum a posteriori estimate is a penalized likelihood.

    Examples
    --------
    >>> table = model_map(family="mixture", probabilistic=True)
    >>> bool(table.loc["GaussianMixture", "generative"])
    True
    """
    pd = import_pandas()
    rows = {}
    for family in gnomon._subpackages():
        if family not in FLOORS:
            package = import_module(f"gnomon.{family}")
            for name in getattr(package, "__all__", ()):
                cls = getattr(package, name)
                if isinstance(cls, type) and hasattr(cls, "fit") and hasattr(cls, "get_params"):
                    rows[name] = describe(family, cls)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")
    for column, value in wanted.items():
        if column not in table:
            from gnomon.core.errors import DataError, nearest

            raise DataError(f"the map has no column {column!r}.{nearest(column, table.columns)}")
        table = table[table[column] == value]
    return table


def describe(family: str, cls: type) -> dict[str, Any]:
    """Return the properties of one class of models."""
    kind = _kind(cls)
    samples = any(hasattr(cls, name) for name in ("sample", "simulate"))
    density = any(hasattr(cls, name) for name in ("score_samples", "log_likelihood", "log_density"))
    labels = kind == "classifier"
    reads = _reads(cls)
    setting = "supervised" if kind in ("classifier", "regressor") else "unsupervised"
    if family in SEQUENTIAL:
        setting = "sequential"
    elif family == "decide":
        setting = "decision"
    return {
        "family": family,
        "setting": setting,
        "output": _output(cls, kind, family),
        "probabilistic": bool(
            density or samples or hasattr(cls, "predict_proba") or hasattr(cls, "predict_distribution")
        ),
        "generative": bool(
            samples or (labels and family == "bayes") or (density and not labels and kind != "regressor")
        ),
        "parametric": family not in GROWING | {"trees", "ensemble"},
        "incremental": hasattr(cls, "partial_fit"),
        "iterative": hasattr(cls, "iterate"),
        "scales": bool(getattr(reads, "scales", False)),
        "sparse": bool(getattr(reads, "sparse", False)),
        "missing": bool(getattr(reads, "nan", False)),
    }


def _reads(cls: type) -> Any:
    """Return what data the model takes; some know it only when they are made."""
    try:
        return getattr(cls(), "_reads", None)
    except TypeError:  # needs arguments
        return getattr(cls, "_reads", None)


def _kind(cls: type) -> str | None:
    from sklearn.base import ClassifierMixin, ClusterMixin, RegressorMixin

    kinds = ((ClassifierMixin, "classifier"), (RegressorMixin, "regressor"), (ClusterMixin, "clusterer"))
    return next((name for base, name in kinds if issubclass(cls, base)), None)


def _output(cls: type, kind: str | None, family: str) -> str:
    if kind is not None:
        return {"classifier": "labels", "regressor": "numbers", "clusterer": "labels"}[kind]
    if family == "sequence":
        return "states"
    if hasattr(cls, "predict_proba") or hasattr(cls, "score_samples"):
        return "density"
    return "coordinates" if hasattr(cls, "fit_transform") else "numbers"
