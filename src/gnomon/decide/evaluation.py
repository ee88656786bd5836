"""What a fixed policy is worth: by linear equations, by sweeps, by playing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, bicgstab, splu

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.decide import bellman
from gnomon.decide.policies import as_table, tables_in_time
from gnomon.loops import planning

SMALL_STATES = 200  # up to here LAPACK is quickest
DENSE_STATES = 1000  # up to here it is where rows are full, and where nothing else comes to an end
SPARSE_STATES = 20_000
METHODS = ("auto", "dense", "sparse", "iterative", "sweeps", "gauss_seidel", "monte_carlo")


class PolicyValue(NamedTuple):
    """What a policy is worth."""

    value: Array  # (S,); with a horizon (H + 1, S) by steps to go
    q: Array  # (S, A)
    advantage: Array  # q − value
    residual: float  # max |r + γPV − V|
    method: str
    standard_error: Array | None = None  # of "monte_carlo"


def evaluate(
    mdp: Any,
    policy: Any,
    *,
    discount: float | None = None,
    method: str = "auto",
    tol: float = 1e-10,
    horizon: int | None = None,
    initial_value: Any = None,
    n_episodes: int = 1000,
    max_steps: int = 1000,
    random_state: Any = None,
) -> PolicyValue:
    """Return the value of a policy; see `MDP.evaluate`."""
    if method not in METHODS:
        raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
    table = as_table(policy, mdp)
    if horizon is not None or (table.ndim == 2 and table.dtype.kind == "i"):
        return _over_horizon(
            mdp, table, 1.0 if discount is None else bellman.check_discount(discount), horizon
        )
    g = bellman.discount_of(mdp, discount)
    P, r = bellman.induced(mdp, table)
    error = None
    if method == "monte_carlo":
        V, error = _by_playing(mdp, table, g, n_episodes, max_steps, random_state)
    else:
        if method == "auto":
            method = _suited(P)
        start = (
            np.zeros(mdp.n_states)
            if initial_value is None
            else bellman.check_values(initial_value, mdp.n_states)
        )
        V = solve_chain(P, r, g, method, tol, start)
    Q = bellman.q_values(mdp, V, g)
    return PolicyValue(V, Q, Q - V[:, None], float(np.abs(r + g * (P @ V) - V).max()), method, error)


def _suited(P: Any) -> str:
    S = P.shape[0]
    if S <= SMALL_STATES or (S <= DENSE_STATES and P.nnz > 0.05 * S * S):
        return "dense"
    return "sparse" if S <= SPARSE_STATES and P.nnz <= 3 * S else "iterative"


def solve_chain(
    P: Any, r: Array, g: float, method: str = "auto", tol: float = 1e-10, start: Array | None = None
) -> Array:
    """Return V = r + γPV."""
    method = _suited(P) if method == "auto" else method
    start = np.zeros(len(r)) if start is None else start
    if g == 1.0:
        _check_proper(P)
    if method == "dense":
        return _dense(P, r, g)
    if method == "sparse":
        return _sparse(P, r, g)
    if method == "iterative":
        return _iterative(P, r, g, tol, start)
    return _swept(P, r, g, tol, start, in_place=method == "gauss_seidel")


def _check_proper(P: Any) -> None:
    """Refuse a chain that has states from which it never ends."""
    going = sparse.csr_array(P)
    ending = np.flatnonzero(np.asarray(going.sum(axis=1)).ravel() < 1.0 - 1e-12)
    ends = bellman.reachable(sparse.csr_array(going.T), ending) if len(ending) else np.zeros(P.shape[0], bool)
    if not ends.all():
        trapped = np.flatnonzero(~ends)
        raise DegenerateError(
            f"the policy never terminates from states {trapped[:10].tolist()}: without a discount "
            f"their value is not defined. "
            "Give a discount below 1, or a policy that comes to an end."
        )


def _dense(P: Any, r: Array, g: float) -> Array:
    M = np.eye(len(r)) - g * P.toarray()
    try:
        factors = linalg.lu_factor(M, check_finite=False)
    except (linalg.LinAlgError, ValueError) as error:
        raise DegenerateError("the equations of the policy are singular: it never terminates.") from error
    V = linalg.lu_solve(factors, r, check_finite=False)
    V = V + linalg.lu_solve(factors, r + g * (P @ V) - V, check_finite=False)  # one step of refinement
    return _finite(V)


def _sparse(P: Any, r: Array, g: float) -> Array:
    M = sparse.csc_array(sparse.eye_array(len(r)) - g * P)
    try:
        factors = splu(M)
    except RuntimeError as error:
        raise DegenerateError("the equations of the policy are singular: it never terminates.") from error
    V = factors.solve(r)
    return _finite(V + factors.solve(r + g * (P @ V) - V))


def _iterative(P: Any, r: Array, g: float, tol: float, start: Array) -> Array:
    diagonal = 1.0 - g * P.diagonal()
    S = len(r)
    A = LinearOperator((S, S), matvec=lambda v: v.ravel() - g * (P @ v.ravel()), dtype=np.float64)
    M = LinearOperator((S, S), matvec=lambda v: v.ravel() / diagonal, dtype=np.float64)
    slack = 1.0 - g * float(P.sum(axis=1).max()) if g < 1 else 1.0
    top = float(np.abs(r).max(initial=0.0))
    goal = max(
        tol * slack, 4 * np.finfo(float).eps * np.sqrt(S) * max(top, 1e-300) / slack
    )  # the numbers end there
    V, failed = bicgstab(A, r, x0=start, rtol=0.0, atol=goal, M=M, maxiter=1000)
    if failed or not np.isfinite(V).all():
        return _dense(P, r, g) if S <= DENSE_STATES else _swept(P, r, g, tol, start)
    off = float(np.abs(r + g * (P @ V) - V).max())
    return V if off <= 10 * goal else _swept(P, r, g, tol, V)


def _swept(P: Any, r: Array, g: float, tol: float, V: Array, *, in_place: bool = False) -> Array:
    """Sweep until the bounds say that every value is within `tol`; return the middle of the bounds."""
    sums = np.asarray(P.sum(axis=1)).ravel()
    c = bellman.Contraction(g * float(sums.max()), g * float(sums.min()))
    P = sparse.csr_array(P)
    rows = (P.indptr, P.indices, P.data, r[:, None], np.ones((len(r), 1), dtype=np.uint8))
    order = np.arange(len(r))
    V = np.array(V, dtype=np.float64)
    for sweep in range(1_000_000):
        if in_place and sweep % 10:
            planning.sweep_in_place(*rows, g, order, V)
            continue
        fresh = r + g * (P @ V)
        low, high = float((fresh - V).min()), float((fresh - V).max())
        if c.high >= 1.0:
            if max(-low, high) <= tol:
                return fresh
        else:
            below, above = bellman.offsets(low, high, c)
            if (above - below) / 2 <= tol:
                return fresh + (above + below) / 2
            if max(-low, high) <= 1e-15 * np.abs(fresh).max(initial=1.0):  # the numbers end here
                return fresh + (above + below) / 2
        V = fresh
    raise DegenerateError(
        "sweeps of the policy's equations did not converge in a million; use method='sparse'."
    )


def _finite(V: Array) -> Array:
    if not np.isfinite(V).all():
        raise DegenerateError("the equations of the policy are singular: it never terminates.")
    return V


def _by_playing(
    mdp: Any, table: Array, g: float, n_episodes: int, max_steps: int, random_state: Any
) -> tuple[Array, Array]:
    """Return mean discounted returns from every state, and their standard errors."""
    from gnomon.decide.returns import returns_of

    seeds = generator(random_state)
    V, error = np.empty(mdp.n_states), np.empty(mdp.n_states)
    for s in range(mdp.n_states):
        steps = mdp.simulate(table, n_episodes, max_steps, start=s, random_state=draw_seed(seeds))
        found = returns_of(steps["episode"], steps["reward"], g)
        V[s], error[s] = found.mean(), found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
    return V, error


def _over_horizon(mdp: Any, table: Array, g: float, horizon: int | None) -> PolicyValue:
    """Return the values by steps to go."""
    tables = tables_in_time(table, mdp)[::-1]  # tables[k − 1] has k steps to go
    H = len(tables) if horizon is None else int(horizon)
    if H < 1 or (len(tables) > 1 and len(tables) != H):
        raise DataError(f"horizon is {horizon}, and the policy has {len(tables)} steps.")
    values = [np.zeros(mdp.n_states)]
    Q = np.zeros((mdp.n_states, mdp.n_actions))
    for k in range(H):
        Q = bellman.q_values(mdp, values[-1], g)
        chances = tables[min(k, len(tables) - 1)]
        values.append(np.where(chances > 0, chances * np.where(np.isfinite(Q), Q, 0.0), 0.0).sum(axis=1))
    V = np.array(values)
    return PolicyValue(V, Q, Q - V[-1][:, None], 0.0, "horizon")


def occupancy(mdp: Any, policy: Any, discount: float | None, start: Array) -> Array:
    """Return (I − γPᵀ)⁻¹ p₀."""
    g = bellman.discount_of(mdp, discount)
    P, _ = bellman.induced(mdp, policy)
    if g == 1.0:
        _check_proper(P)
    method = "dense" if mdp.n_states <= DENSE_STATES else "sparse"
    return (_dense if method == "dense" else _sparse)(sparse.csr_array(P.T), start, g)


def policy_gradient(mdp: Any, logits: Any, discount: float | None, start: Array) -> tuple[float, Array]:
    """Return the value of the start and its gradient in the logits."""
    theta = np.asarray(logits, dtype=np.float64)
    if theta.shape != (mdp.n_states, mdp.n_actions):
        raise DataError(f"logits must have shape ({mdp.n_states}, {mdp.n_actions}); got {theta.shape}.")
    chances = softmax(np.where(mdp.available, theta, -np.inf))
    found = evaluate(mdp, chances, discount=discount)
    d = occupancy(mdp, chances, discount, start)
    advantage = np.where(mdp.available, found.advantage, 0.0)
    return float(start @ found.value), d[:, None] * chances * advantage


def softmax(logits: Array) -> Array:
    """Return exp(logits) with rows divided by their sums."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
