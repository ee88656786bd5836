"""Standard errors of maximum likelihood as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError


def wald_table(model: Any, level: float) -> Any:
    """Return estimates, standard errors, z, p-values and intervals of a model of two classes."""
    import pandas as pd

    if not hasattr(model, "standard_errors_"):
        raise DataError("standard errors need maximum likelihood of two classes that overlap: set C=np.inf.")
    estimate = np.append(model.coef_[0], model.intercept_) if model.fit_intercept else model.coef_[0]
    names = list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)]))
    z = estimate / model.standard_errors_
    half = stats.norm.ppf(0.5 + level / 2) * model.standard_errors_
    table = {"estimate": estimate, "standard error": model.standard_errors_, "z": z}
    table |= {"p": 2 * stats.norm.sf(np.abs(z)), "lower": estimate - half, "upper": estimate + half}
    return pd.DataFrame(table, index=names + (["intercept"] if model.fit_intercept else []))
