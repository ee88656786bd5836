"""Maximum entropy: the least committed distribution that agrees with known averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, InfeasibleError, nearest
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.validate import matrix, probabilities, vector, warn
from gnomon.distributions.information import entropy, relative_entropy


class MaximumEntropy(NamedTuple):
    """The distribution of least relative entropy to the prior, and how it was found."""

    p: Array  # (n_states,)
    weights: Array  # (k,) μ; ±inf along the directions that leave a face of the feasible set
    log_partition: float
    entropy: float
    relative_entropy: float  # D(p ‖ prior) = −dual value
    residual: float  # max |Fᵀp − b|
    rank: int  # of the covariance of the features: fewer than k when some are redundant
    on_boundary: bool
    trace: Array  # −g(μ), rising


def maximum_entropy(
    features: Any,
    targets: Any,
    *,
    prior: Any = None,
    solver: str = "newton",
    tol: float = 1e-12,
    max_iter: int = 10_000,
) -> MaximumEntropy:
    r"""Return the distribution closest to the prior whose features have the given averages.

    .. math:: \min_p D(p \Vert p_0) \;\text{s.t.}\; F^T p = b, \; \textstyle\sum p = 1
              \quad\Longrightarrow\quad p_i = p_{0i}\, e^{\mu \cdot f_i} / Z(\mu)

    With a uniform prior this is the distribution of largest entropy. The weights μ minimize the dual
    ln Z(μ) − μ·b, which is also the log-likelihood of the Gibbs family, so the maximum-likelihood fit to a
    sample with averages b is the same distribution.

    Parameters
    ----------
    features : array of shape (n_states, k) or (n_states,)
        Value of every feature in every state.
    targets : array of shape (k,)
        Averages to be met.
    prior : array of shape (n_states,), optional
        Uniform when not given; states with probability zero keep it.
    solver : {"newton", "gis", "iis"}, default="newton"
        Newton with a line search, or generalized or improved iterative scaling, which need many more steps.
    tol : float, default=1e-12
        Largest difference between averages and targets, relative to the spread of the features.
    max_iter : int, default=10000
        Steps at most.

    Returns
    -------
    MaximumEntropy
        A NamedTuple with the distribution `p` and the `weights`.

    Raises
    ------
    InfeasibleError
        When no distribution has these averages; the message names the nearest averages that some have.

    Examples
    --------
    >>> die = maximum_entropy([1, 2, 3, 4, 5, 6], [4.2])
    >>> die.weights.round(6), die.p.round(4)
    (array([0.249045]), array([0.0818, 0.105 , 0.1347, 0.1727, 0.2216, 0.2842]))
    """
    F, b, p0 = _problem(features, targets, prior)
    support = _support(F, b, p0)
    if solver not in SOLVERS:
        raise ValueError(
            f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}.{nearest(solver, SOLVERS)}"
        )
    scale = np.maximum(np.ptp(F[support], axis=0), np.finfo(float).tiny)
    mu, trace = SOLVERS[solver](F[support], b, np.log(p0[support]), tol * scale, max_iter)
    logits = F[support] @ mu + np.log(p0[support])
    p = np.zeros(len(p0))
    p[support] = special.softmax(logits)
    boundary = bool(support.sum() < (p0 > 0).sum())
    centered = F - p @ F
    rank = int(np.linalg.matrix_rank(centered[support] * np.sqrt(p[support])[:, None]))
    weights = _with_infinities(F, support, mu, p0) if boundary else mu
    residual = float(np.abs(p @ F - b).max())
    if (np.abs(p @ F - b) > np.maximum(tol, 1e-8) * 10.0 * scale).any():
        warn(
            f"maximum_entropy did not converge in max_iter={max_iter} steps: a constraint is off by {residual:.3g}, "
            f"and tol={tol:g}. Raise max_iter, or take solver='newton'.",
            ConvergenceWarning,
        )
    distance = float(relative_entropy(p, p0))
    return MaximumEntropy(
        p,
        weights,
        float(log_sum_exp(logits)),
        float(entropy(p)),
        distance,
        residual,
        rank,
        boundary,
        np.array(trace),
    )


def _problem(features: Any, targets: Any, prior: Any) -> tuple[Array, Array, Array]:
    F = np.asarray(features, dtype=np.float64)
    F = matrix(F[:, None] if F.ndim == 1 else F, name="features")
    b = vector(np.atleast_1d(targets), name="targets", n=F.shape[1])
    p0 = np.full(len(F), 1.0 / len(F)) if prior is None else probabilities(prior, name="prior")
    if len(p0) != len(F):
        raise DataError(f"prior has {len(p0)} states and features have {len(F)}; they must agree.")
    return F, b, p0


def _support(F: Array, b: Array, p0: Array) -> Array:
    """Return the states that some feasible distribution uses; raise when there is none."""
    allowed = np.flatnonzero(p0 > 0)
    n, cap = len(allowed), 1e-6
    scale = np.maximum(np.ptp(F[allowed], axis=0), np.finfo(float).tiny)
    A = np.vstack([((F[allowed] - b) / scale).T, np.ones(n)])
    equal = np.hstack([A, np.zeros((len(A), n))])  # variables: p, then s ≤ min(p, cap); as many s as can be
    below = np.hstack([-np.eye(n), np.eye(n)])
    found = optimize.linprog(
        np.concatenate([np.zeros(n), -np.ones(n)]),
        A_ub=below,
        b_ub=np.zeros(n),
        A_eq=equal,
        b_eq=np.concatenate([np.zeros(len(b)), [1.0]]),
        bounds=[(0, None)] * n + [(0, cap)] * n,
        method="highs",
    )
    if found.status == 2:
        raise InfeasibleError(
            f"no distribution over these states has the averages {b.tolist()}; the nearest that one has are "
            f"{_nearest_target(F[allowed], b).round(6).tolist()}."
        )
    used = np.zeros(len(p0), dtype=bool)
    used[allowed[found.x[n:] > 1e-3 * cap]] = True
    return used


def _nearest_target(F: Array, b: Array) -> Array:
    """Return the point of the convex hull of the features that is nearest to b."""
    heavy = 1e6 * max(1.0, np.abs(F).max())
    share, _ = optimize.nnls(np.vstack([F.T, np.full(len(F), heavy)]), np.append(b, heavy))
    return share / share.sum() @ F


def _with_infinities(F: Array, support: Array, mu: Array, p0: Array) -> Array:
    """Return μ with ±∞ along a direction in which all states off the face lie strictly lower."""
    inside, outside = F[support], F[~support & (p0 > 0)]
    k = F.shape[1]
    flat = np.hstack([inside - inside[0], np.zeros((len(inside), 1))])
    lower = np.hstack([outside - inside[0], np.ones((len(outside), 1))])  # (f − f₀)·u + t ≤ 0
    found = optimize.linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=lower,
        b_ub=np.zeros(len(outside)),
        A_eq=flat,
        b_eq=np.zeros(len(inside)),
        bounds=[(-1, 1)] * k + [(0, None)],
        method="highs",
    )
    direction = np.where(np.abs(found.x[:k]) > 1e-9, np.sign(found.x[:k]), 0.0)
    with np.errstate(invalid="ignore"):
        return np.where(direction == 0, mu, direction * np.inf)


def _newton(F: Array, b: Array, log_prior: Array, tol: Array, max_iter: int) -> tuple[Array, list[float]]:
    """Minimize ln Z(μ) − μ·b; the Hessian is the covariance of the features."""
    Z, mu = F - b, np.zeros(F.shape[1])
    value = float(log_sum_exp(log_prior))
    trace = [-value]
    for _ in range(max_iter):
        p = special.softmax(log_prior + Z @ mu)
        gradient = p @ Z
        if (np.abs(gradient) <= tol).all():
            break
        centered = Z - gradient
        hessian = (centered * p[:, None]).T @ centered
        step = -np.linalg.pinv(hessian, hermitian=True) @ gradient
        size, slope = 1.0, float(gradient @ step)
        while True:
            new = float(log_sum_exp(log_prior + Z @ (mu + size * step)))
            close = -slope < 1e-10  # the change of the value drowns in rounding: trust the quadratic model
            if close or new <= value + 1e-4 * size * slope or size < 1e-10:
                break
            size *= 0.5
        mu, value = mu + size * step, new
        trace.append(-value)
        if size < 1e-10 or -slope <= 1e-30:  # nothing left that the arithmetic can see
            break
    return mu, trace


def _scaling(update: Callable[..., Array]) -> Callable[..., tuple[Array, list[float]]]:
    """Make a solver of a scaling update on non-negative features."""

    def solve(F: Array, b: Array, log_prior: Array, tol: Array, max_iter: int) -> tuple[Array, list[float]]:
        low = F.min(axis=0)
        G, target, mu, trace = F - low, b - low, np.zeros(F.shape[1]), []
        for _ in range(max_iter):
            logits = log_prior + G @ mu
            trace.append(float(mu @ target - log_sum_exp(logits)))
            p = special.softmax(logits)
            if (np.abs(p @ G - target) <= tol).all():
                break
            mu = mu + update(G, target, p)
        return mu, trace

    return solve


def _generalized(G: Array, target: Array, p: Array) -> Array:
    """One step of generalized iterative scaling; a slack feature makes all rows sum to the largest."""
    top = G.sum(axis=1).max()
    slack, means = top - G.sum(axis=1), p @ G
    step = np.log(np.maximum(target, 1e-300) / means) / top
    wanted, now = top - target.sum(), p @ slack
    return step - (np.log(wanted / now) / top if wanted > 0 and now > 0 else 0.0)


def _improved(G: Array, target: Array, p: Array) -> Array:
    """One step of improved iterative scaling: for each feature solve Σ p f e^{δ f#} = b for δ."""
    total = G.sum(axis=1)
    step = np.zeros(G.shape[1])
    for j in range(G.shape[1]):
        weight, delta = p * G[:, j], 0.0
        for _ in range(50):
            grown = weight * np.exp(delta * total)
            change = (target[j] - grown.sum()) / max(float(grown @ total), 1e-300)
            delta += float(np.clip(change, -1.0, 1.0))
            if abs(change) < 1e-14:
                break
        step[j] = delta
    return step


SOLVERS = {"newton": _newton, "gis": _scaling(_generalized), "iis": _scaling(_improved)}


def project(v: Any, onto: str = "simplex", divergence: str = "relative_entropy") -> Array:
    """Return the point nearest to `v` among those that sum to one.

    Parameters
    ----------
    v : array of shape (n,)
        What to project.
    onto : {"simplex", "hyperplane"}, default="simplex"
        Non-negative points that sum to one, or all points that do.
    divergence : {"relative_entropy", "euclidean"}, default="relative_entropy"
        What near means. Relative entropy gives v / Σv in either order of its arguments.

    Examples
    --------
    >>> project([5, 1, 0]).round(4), project([0.5, 0.6, -0.2], divergence="euclidean").round(4)
    (array([0.8333, 0.1667, 0.    ]), array([0.45, 0.55, 0.  ]))
    """
    f = vector(v, name="v")
    if divergence == "relative_entropy":
        if (f < 0).any() or not f.any():
            raise DataError("relative entropy needs entries that are not negative and not all zero.")
        return f / f.sum()
    if divergence != "euclidean" or onto not in ("simplex", "hyperplane"):
        raise ValueError(f"unknown projection onto {onto!r} by {divergence!r}.")
    if onto == "hyperplane":
        return f - (f.sum() - 1.0) / len(f)
    descending = np.sort(f)[::-1]
    levels = (np.cumsum(descending) - 1.0) / np.arange(1, len(f) + 1)
    return np.maximum(f - levels[np.flatnonzero(descending > levels)[-1]], 0.0)
