"""Expectation–maximization for any model that is two functions, and the bound behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.rows import MemoryRows
from gnomon.core.steps import Learner, Report
from gnomon.core.trace import Trace
from gnomon.core.validate import warn


class EMState(NamedTuple):
    """Parameters, what the E-step found with the ones before, and their log-likelihood."""

    parameters: Any
    expected: Any
    log_likelihood: float


class EMResult(NamedTuple):
    """The outcome of `run_em`."""

    parameters: Any
    expected: Any  # what the last E-step returned
    log_likelihood: float
    trace: Trace
    converged: bool


class _Steps(Learner):
    """The library's loop around two functions."""

    _stop: ClassVar[str] = "self"
    _sense: ClassVar[str] = "max"

    def __init__(self, e_step: Any, m_step: Any, start: Any, max_iter: int, tol: float) -> None:
        self.e_step, self.m_step, self.start = e_step, m_step, start
        self.max_iter, self.tol = max_iter, tol

    def _start(self, rows: Any, rng: Any) -> EMState:
        return EMState(self.start, None, -np.inf)

    def _step(self, rows: Any, state: EMState) -> tuple[EMState, Report]:
        expected, value = self.e_step(state.parameters)
        change = value - state.log_likelihood
        if change < -1e-8 * abs(value):
            warn(
                f"the log-likelihood fell by {-change:.3g} to {value:.6g}: the M-step does not maximize "
                "what the E-step expects, or the E-step is not the posterior.",
                ConvergenceWarning,
            )
        fresh = EMState(self.m_step(expected), expected, float(value))
        return fresh, Report(float(value), done=abs(change) < self.tol, change=abs(change))

    def _attributes(self, state: EMState) -> dict[str, Any]:
        return {"state_": state}


def run_em(
    e_step: Callable[[Any], tuple[Any, float]],
    m_step: Callable[[Any], Any],
    start: Any,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> EMResult:
    r"""Alternate the two steps of EM until the log-likelihood stands still.

    .. math:: \ln p(x \mid \theta) = \mathcal{L}(q, \theta) + KL(q \,\Vert\, p(z \mid x, \theta))

    The E-step makes q the posterior, which closes the gap; the M-step maximizes the expected complete-data
    log-likelihood. So the log-likelihood never falls; if it does, a warning says so. With a hard E-step (the
    likeliest z instead of its distribution) the complete-data log-likelihood never falls.

    Parameters
    ----------
    e_step : function
        parameters -> (expected statistics, log-likelihood of the parameters).
    m_step : function
        expected statistics -> parameters.
    start : object
        Parameters to begin with.
    max_iter, tol : int, float
        Steps at most; stop when the log-likelihood changes by less.

    Returns
    -------
    EMResult
        Parameters, the last expectation, log-likelihood, trace, and whether it converged.

    Examples
    --------
    Two coins, six groups of three tosses:

    >>> heads = np.array([3, 2, 0, 1, 3, 0])
    >>> def e_step(t):
    ...     joint = np.log(t[0]) + heads[:, None] * np.log(t[1]) + (3 - heads)[:, None] * np.log1p(-t[1])
    ...     top = np.logaddexp(*joint.T)
    ...     return np.exp(joint - top[:, None]), top.sum()
    >>> def m_step(r):
    ...     return r.mean(axis=0), heads @ r / (3 * r.sum(axis=0))
    >>> found = run_em(e_step, m_step, (np.array([0.5, 0.5]), np.array([0.6, 0.4])), tol=1e-12)
    >>> found.parameters[1].round(5), round(found.log_likelihood, 6)
    (array([0.87268, 0.12732]), -10.175193)
    """
    model = _Steps(e_step, m_step, start, max_iter, tol)
    model._learn(MemoryRows(np.zeros((1, 1))))
    state = model.state_
    return EMResult(state.parameters, state.expected, state.log_likelihood, model.trace_, model.converged_)


def expected_complete_loglik(log_joint: ArrayLike, q: ArrayLike) -> float:
    """Return Σ_i Σ_k q_ik ln p(x_i, k), what the M-step maximizes; 0·(−∞) = 0.

    >>> round(expected_complete_loglik(np.log([[0.1, 0.3]]), [[0.5, 0.5]]), 6)
    -1.753279
    """
    log_joint, q = np.atleast_2d(np.asarray(log_joint)), np.atleast_2d(np.asarray(q, dtype=np.float64))
    with np.errstate(invalid="ignore"):
        return float(np.where(q == 0, 0.0, q * log_joint).sum())


def lower_bound(log_joint: ArrayLike, q: ArrayLike) -> float:
    """Return Σ q (ln p(x, z) − ln q), a lower bound of the log-likelihood for every q.

    >>> round(lower_bound(np.log([[0.1, 0.3]]), [[0.25, 0.75]]), 6)
    -0.916291
    """
    return expected_complete_loglik(log_joint, q) + float(entr(np.asarray(q, dtype=np.float64)).sum())


def bound_gap(log_joint: ArrayLike, q: ArrayLike) -> float:
    """Return KL(q ‖ posterior), how far the lower bound is from the log-likelihood; zero at the posterior.

    >>> round(bound_gap(np.log([[0.1, 0.3]]), [[0.5, 0.5]]), 6)
    0.143841
    """
    likelihood: Array = log_sum_exp(np.atleast_2d(np.asarray(log_joint)))
    return float(likelihood.sum()) - lower_bound(log_joint, q)
