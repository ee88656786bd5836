"""The trace of a fit: what the objective did, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gnomon.core.linalg import Array


class Trace:
    """Objective, seconds and, where there is one, certificate after every step.

    It is an array of objectives to NumPy, and a table to pandas.

    Examples
    --------
    >>> trace = Trace([3.0, 2.0, 1.5], [0.1, 0.2, 0.3])
    >>> len(trace), trace[-1], np.asarray(trace)
    (3, 1.5, array([3. , 2. , 1.5]))
    """

    def __init__(self, objective: Any = (), seconds: Any = (), certificate: Any = None) -> None:
        self.objective = np.asarray(objective, dtype=np.float64)
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.certificate = None if certificate is None else np.asarray(certificate, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.objective)

    def __iter__(self) -> Iterator[float]:
        return iter(self.objective.tolist())

    def __getitem__(self, index: Any) -> Any:
        found = self.objective[index]
        return float(found) if np.ndim(found) == 0 else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.objective, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        last = f", last objective {self.objective[-1]:.6g}" if len(self) else ""
        return f"Trace({len(self)} steps{last})"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per step."""
        import pandas as pd

        table = {"objective": self.objective, "seconds": self.seconds}
        if self.certificate is not None:
            table["certificate"] = self.certificate
        return pd.DataFrame(table, index=pd.RangeIndex(1, len(self) + 1, name="step"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the objective against the step; return the Axes."""
        import importlib

        return importlib.import_module("gnomon.plot").trace(self, ax=ax)  # the core knows no picture


class Recorder:
    """A trace being written."""

    def __init__(self, trace: Trace | None = None) -> None:
        self.objective: list[float] = [] if trace is None else trace.objective.tolist()
        self.seconds: list[float] = [] if trace is None else trace.seconds.tolist()
        self.certificate: list[float] = (
            [] if trace is None or trace.certificate is None else trace.certificate.tolist()
        )

    def add(self, objective: float, seconds: float, certificate: float | None) -> None:
        """Write down one step."""
        self.objective.append(objective)
        self.seconds.append(seconds)
        if certificate is not None:
            self.certificate.append(certificate)

    def trace(self) -> Trace:
        """Return what has been written so far."""
        return Trace(self.objective, self.seconds, self.certificate or None)
