"""The trace of a fit: what the objective did, step by step."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array

_NONE: Mapping[str, float] = MappingProxyType({})


class Trace:
    """Objective, seconds and whatever else a learner tells, after every step.

    It is an array of objectives to NumPy, and a table to pandas. A named column is asked for by its name:
    ``trace["validation_loss"]``.

    Examples
    --------
    >>> trace = Trace(
    ...     [3.0, 2.0, 1.5], [0.1, 0.2, 0.3], info={"validation_loss": [3.5, 2.5, 2.7]}, unit="epoch"
    ... )
    >>> len(trace), trace[-1], np.asarray(trace)
    (3, 1.5, array([3. , 2. , 1.5]))
    >>> trace["validation_loss"]
    array([3.5, 2.5, 2.7])
    """

    info: Mapping[str, Array] = {}  # traces of earlier files have neither
    unit = "step"

    def __init__(
        self,
        objective: Any = (),
        seconds: Any = (),
        certificate: Any = None,
        info: Mapping[str, Any] | None = None,
        unit: str = "step",
    ) -> None:
        self.objective = np.asarray(objective, dtype=np.float64)
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.certificate = None if certificate is None else np.asarray(certificate, dtype=np.float64)
        self.info = {name: np.asarray(values, dtype=np.float64) for name, values in (info or {}).items()}
        self.unit = unit

    def __len__(self) -> int:
        return len(self.objective)

    def __iter__(self) -> Iterator[float]:
        return iter(self.objective.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self.columns()[index]
        found = self.objective[index]
        return float(found) if np.ndim(found) == 0 else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.objective, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        last = f", last objective {self.objective[-1]:.6g}" if len(self) else ""
        return f"Trace({len(self)} {self.unit}s{last})"

    def columns(self) -> dict[str, Array]:
        """Return every column by its name."""
        table = {"objective": self.objective, "seconds": self.seconds}
        if self.certificate is not None:
            table["certificate"] = self.certificate
        return {**table, **self.info}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per step."""
        pd = import_pandas()
        table = {name: _padded(values, len(self)) for name, values in self.columns().items()}
        return pd.DataFrame(table, index=pd.RangeIndex(1, len(self) + 1, name=self.unit))

    def plot(self, ax: Any = None) -> Any:
        """Draw the objective against the step; return the Axes."""
        import importlib

        return importlib.import_module("gnomon.plot").trace(self, ax=ax)  # the core knows no picture


def _padded(values: Array, n: int) -> Array:
    """Return a column at full length; steps that told nothing are NaN, at the front."""
    return np.concatenate([np.full(n - len(values), np.nan), values])


class Recorder:
    """A trace being written; its columns are machine numbers, so that a copy at every step costs next to nothing."""

    def __init__(self, trace: Trace | None = None, unit: str = "step") -> None:
        trace = Trace() if trace is None else trace
        self.unit = unit
        self.watched = True  # somebody sees the state after every step
        self.objective = array("d", trace.objective)
        self.seconds = array("d", trace.seconds)
        self.certificate = array("d", () if trace.certificate is None else trace.certificate)
        self.info = {name: array("d", values) for name, values in trace.info.items()}

    def add(
        self, objective: float, seconds: float, certificate: float | None, info: Mapping[str, float] = _NONE
    ) -> None:
        """Write down one step."""
        self.objective.append(objective)
        self.seconds.append(seconds)
        if certificate is not None:
            self.certificate.append(certificate)
        for name, value in info.items():  # a column has one entry a step, from its first on
            column = self.info.get(name)
            if column is None:
                column = self.info[name] = array("d", [math.nan]) * (len(self.objective) - 1)
            column.append(float(value))
        if len(self.info) > len(info):
            for name in self.info.keys() - info.keys():
                self.info[name].append(math.nan)

    def last(self) -> dict[str, Any]:
        """Return the newest row by column; what is not a number is None."""
        row = {self.unit: len(self.objective), "objective": self.objective[-1], "seconds": self.seconds[-1]}
        if self.certificate:
            row["certificate"] = self.certificate[-1]
        row |= {name: values[-1] for name, values in self.info.items()}
        return {name: value if math.isfinite(value) else None for name, value in row.items()}

    def trace(self) -> Trace:
        """Return what has been written so far."""
        certificate = np.array(self.certificate) if self.certificate else None
        info = {name: np.array(column) for name, column in self.info.items()}
        return Trace(np.array(self.objective), np.array(self.seconds), certificate, info, self.unit)
