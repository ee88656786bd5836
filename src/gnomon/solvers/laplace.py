"""Laplace's approximation: a Gaussian around the mode of a density, and the evidence it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.solvers.descent import minimize


class Laplace(NamedTuple):
    """A Gaussian around the mode of a density."""

    mean: Array
    covariance: Array
    log_evidence: float


def laplace_approximation(log_joint: Callable[[Array], tuple[Any, ...]], start: Any) -> Laplace:
    r"""Return the Gaussian :math:`N(\hat w, H^{-1})` at the mode, and :math:`\ln p(D) \approx \ln p(D, \hat
    w) + \tfrac d2\ln 2\pi - \tfrac12\ln|H|`.

    Parameters
    ----------
    log_joint : callable
        Returns the log joint density, its gradient and its Hessian.
    start : array

    Examples
    --------
    >>> found = laplace_approximation(lambda w: (-0.5 * w @ w, -w, -np.eye(2)), [3.0, 1.0])
    >>> found.mean, round(found.log_evidence, 6)
    (array([0., 0.]), 1.837877)
    """

    def negative(w):
        return tuple(-np.asarray(part) for part in log_joint(w))

    found = minimize(negative, start, method="newton", tol=1e-10)
    H = np.atleast_2d(negative(found.x)[2])
    if linalg.eigvalsh((H + H.T) / 2).min() <= 0:
        raise DegenerateError("the Hessian must be negative definite at a mode; start nearer to one.")
    covariance = linalg.inv(H)
    evidence = -found.value + 0.5 * len(H) * np.log(2.0 * np.pi) - 0.5 * np.linalg.slogdet(H)[1]
    return Laplace(found.x, covariance, float(evidence))
