"""Standard errors of maximum likelihood as a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array

ASSUMES = (
    "Assumes: rows are independent, the log-odds are linear in the features, and there are so many rows that "
    "the likelihood is close to Gaussian."
)


class WaldSummary(NamedTuple):
    """Estimate, standard error, z statistic, p value and interval of every coefficient."""

    names: list[str]
    estimate: Array
    standard_error: Array
    z: Array
    p: Array
    lower: Array
    upper: Array
    level: float

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, one row per coefficient."""
        columns = ["estimate", "standard_error", "z", "p", "lower", "upper"]
        return import_pandas().DataFrame({name: getattr(self, name) for name in columns}, index=self.names)

    def __str__(self) -> str:
        head = f"{'':>16} {'estimate':>12} {'std. error':>12} {'z':>9} {'p':>8}   {self.level:.0%} interval"
        lines = [
            f"{name[:16]:>16} {e:12.5g} {s:12.5g} {z:9.3f} {p:8.4f}   [{lo:.5g}, {hi:.5g}]"
            for name, e, s, z, p, lo, hi in zip(*self[:7], strict=True)
        ]
        return "\n".join([head, *lines, ASSUMES])


def wald_table(model: Any, level: float) -> WaldSummary:
    """Return estimates, standard errors, z, p-values and intervals of a model of two classes."""
    if not hasattr(model, "standard_errors_"):
        raise DataError("standard errors need maximum likelihood of two classes that overlap: set C=np.inf.")
    if not 0.0 < level < 1.0:
        raise DataError(f"level must lie between 0 and 1; got {level}.")
    errors, estimate = model.standard_errors_, model.coef_[0]
    names = list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)]))
    if model.fit_intercept:
        estimate, names = np.append(estimate, model.intercept_), [*names, "intercept"]
    z, half = estimate / errors, stats.norm.ppf(0.5 + level / 2) * errors
    p = 2 * stats.norm.sf(np.abs(z))
    return WaldSummary(names, estimate, errors, z, p, estimate - half, estimate + half, level)
