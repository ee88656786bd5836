"""What a Markov chain does in the long run: its classes, its stationary distribution, where it is absorbed.

Transition matrices are row-stochastic, ``M[i, j] = P(next = j | now = i)``, dense or sparse; distributions
are rows.
"""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import fix_signs

Array: TypeAlias = NDArray[Any]
METHODS = ("auto", "gth", "power", "eig")
DENSE_STATES = 2000  # largest chain for which elimination is the default


class ChainStructure(NamedTuple):
    """The communicating classes of a chain (lists of state indices, sorted) and what follows from them."""

    classes: list[list[int]]
    closed: list[list[int]]
    transient: list[int]
    absorbing: list[int]
    periods: list[int]  # of every class; 0 for a single state without a self-transition
    irreducible: bool
    aperiodic: bool
    ergodic: bool


class Stationary(NamedTuple):
    """A stationary distribution and whether every start converges to it."""

    distribution: Array
    converges: bool


class Absorption(NamedTuple):
    """Absorption analysis; rows follow `transient`, columns of `probabilities` follow `absorbing`."""

    fundamental: Array  # expected visits N = (I - A)^-1
    probabilities: Array  # N B
    steps: Array  # N 1
    steps_variance: Array
    transient: list[int]
    absorbing: list[int]


def transition_matrix(M: Any, *, tol: float = 1e-8) -> Any:
    """Return M as a float64 array (or CSR) after checking that its rows are distributions."""
    M = sparse.csr_array(M, dtype=np.float64) if sparse.issparse(M) else np.asarray(M, dtype=np.float64)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or not M.shape[0]:
        raise DataError(f"a transition matrix must be square; its shape is {M.shape}.")
    values = M.data if sparse.issparse(M) else M
    if not (values >= 0).all():
        raise DataError("a transition matrix must not hold negative or NaN entries.")
    sums = np.asarray(M.sum(axis=1)).ravel()
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > tol:
        raise DataError(f"row {worst} of the transition matrix sums to {sums[worst]:.10g}; it must sum to 1.")
    return M


def chain_structure(M: Any, tol: float = 0.0) -> ChainStructure:
    """Find communicating classes, closed classes, periods and absorbing states.

    Communicating classes are the strongly connected components of the graph of positive entries; a class is
    closed (recurrent) when no edge leaves it; its period is the greatest common divisor of ``depth(i) + 1 -
    depth(j)`` over its edges i → j in a breadth-first tree.

    Parameters
    ----------
    M : (K, K) array or sparse matrix
        Row-stochastic transition matrix.
    tol : float
        Entries up to `tol` count as zero.

    Examples
    --------
    >>> found = chain_structure([[0, 1, 0], [1, 0, 0], [0, 0.5, 0.5]])
    >>> found.closed, found.transient, found.periods
    ([[0, 1]], [2], [2, 1])
    """
    edges = _edges(transition_matrix(M), tol)
    count, label = csgraph.connected_components(edges, connection="strong")
    borders = np.cumsum(np.bincount(label, minlength=count))[:-1]
    members = sorted(part.tolist() for part in np.split(np.argsort(label, kind="stable"), borders))
    of = np.empty(len(label), dtype=int)
    for index, states in enumerate(members):
        of[states] = index
    row, column = edges.nonzero()
    leaks = set(of[row[of[row] != of[column]]].tolist())
    closed = [states for index, states in enumerate(members) if index not in leaks]
    periods = [_period(edges, states) for states in members]
    absorbing = [states[0] for states in closed if len(states) == 1]
    transient = sorted(set(range(len(label))) - {s for states in closed for s in states})
    recurrent = [period for index, period in enumerate(periods) if index not in leaks]
    irreducible, aperiodic = len(members) == 1, all(period == 1 for period in recurrent)
    return ChainStructure(
        members, closed, transient, absorbing, periods, irreducible, aperiodic, irreducible and aperiodic
    )


def _edges(M: Any, tol: float) -> Any:
    """The graph of entries above tol, as CSR of ones."""
    graph = sparse.csr_array(M)
    graph = sparse.csr_array(
        (np.where(graph.data > tol, 1, 0), graph.indices, graph.indptr), shape=graph.shape
    )
    graph.eliminate_zeros()
    return graph


def _period(edges: Any, states: list[int]) -> int:
    """Greatest common divisor of the cycle lengths inside a class."""
    inner = edges[states][:, states] if len(states) < edges.shape[0] else edges
    order, parent = csgraph.breadth_first_order(inner, 0, return_predecessors=True)
    depth = np.zeros(len(states), dtype=int)
    for node in order[1:]:
        depth[node] = depth[parent[node]] + 1
    row, column = inner.nonzero()
    return gcd(*np.unique(np.abs(depth[row] + 1 - depth[column])).tolist()) if len(row) else 0


def stationary_distribution(
    M: Any, *, method: str = "auto", return_all: bool = False, tol: float = 1e-14, max_iter: int = 100_000
) -> Any:
    r"""Solve :math:`w M = w`, :math:`\sum_i w_i = 1`.

    ``"gth"`` eliminates states without a single subtraction (Grassmann, Taksar and Heyman), so even nearly
    decoupled chains come out to full precision; ``"power"`` averages repeated products and suits large
    sparse chains; ``"eig"`` takes the left eigenvector of eigenvalue 1. ``"auto"`` picks elimination up to
    2000 states.

    Parameters
    ----------
    M : (K, K) array or sparse matrix
        Row-stochastic transition matrix.
    method : {"auto", "gth", "power", "eig"}
        How to solve.
    return_all : bool
        Return one distribution for every closed class instead of refusing a chain that has several.
    tol, max_iter
        Power iteration stops when the L1 change is at most `tol`.

    Returns
    -------
    Stationary or list of Stationary
        ``distribution`` and ``converges``: False for a periodic chain, whose state distribution goes round
        for ever.

    Examples
    --------
    >>> stationary_distribution([[0.5, 0.5], [0.2, 0.8]]).distribution.round(4)
    array([0.2857, 0.7143])
    >>> stationary_distribution([[0, 1], [1, 0]])
    Stationary(distribution=array([0.5, 0.5]), converges=False)
    """
    if method not in METHODS:
        raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
    M = transition_matrix(M)
    shape = chain_structure(M)
    if len(shape.closed) > 1 and not return_all:
        raise DegenerateError(
            f"the chain has {len(shape.closed)} closed classes {_few(shape.closed)}, so its stationary "
            f"distribution is "
            "not unique; pass return_all=True for one distribution each."
        )
    found = []
    for states in shape.closed:
        inner = M[states][:, states] if len(states) < M.shape[0] else M
        w = np.zeros(M.shape[0])
        w[states] = _solve_stationary(inner, method, tol, max_iter)
        converges = shape.periods[shape.classes.index(states)] == 1
        found.append(Stationary(w, converges))
    return found if return_all else found[0]


def _few(groups: list[list[int]]) -> str:
    return str(groups if len(groups) <= 5 else [*groups[:5], "..."])


def _solve_stationary(M: Any, method: str, tol: float, max_iter: int) -> Array:
    """Stationary distribution of an irreducible chain."""
    if method == "auto":
        method = "gth" if M.shape[0] <= DENSE_STATES else "power"
    dense = M.toarray() if sparse.issparse(M) and method != "power" else M
    if method == "gth":
        return eliminate(dense)
    if method == "eig":
        values, vectors = np.linalg.eig(dense.T)
        vector = fix_signs(vectors[:, [np.abs(values - 1).argmin()]].real)[:, 0]
        return np.abs(vector) / np.abs(vector).sum()
    return _power(M, tol, max_iter)


def eliminate(M: Array) -> Array:
    """Grassmann–Taksar–Heyman elimination: no subtraction, so small probabilities keep their digits."""
    P = np.array(M, dtype=np.float64)
    n = len(P)
    for k in range(n - 1, 0, -1):
        P[:k, k] /= P[k, :k].sum()
        P[:k, :k] += np.outer(P[:k, k], P[k, :k])
    w = np.ones(n)
    for k in range(1, n):
        w[k] = w[:k] @ P[:k, k]
    return w / w.sum()


def _power(M: Any, tol: float, max_iter: int) -> Array:
    """Power iteration on (I + M) / 2, which has the same fixed point and no period."""
    w = np.full(M.shape[0], 1.0 / M.shape[0])
    P = M.T.tocsr() if sparse.issparse(M) else M.T
    for _ in range(max_iter):
        following = 0.5 * (w + P @ w)
        following /= following.sum()
        if np.abs(following - w).sum() <= tol:
            return following
        w = following
    gap = np.abs(P @ w - w).sum()
    raise DegenerateError(
        f"power iteration stands at ‖wM−w‖₁ = {gap:.3g} after {max_iter} steps; use method='gth'."
    )


def absorbing_analysis(M: Any, absorbing: ArrayLike | None = None) -> Absorption:
    r"""Where a chain ends and how long it takes.

    With transient states first, :math:`M = \begin{pmatrix}A & B\\ 0 & I\end{pmatrix}`: the fundamental matrix
    :math:`N = (I-A)^{-1} = \sum_u A^u` counts visits, :math:`NB` holds absorption probabilities, :math:`t =
    N1` expected steps and :math:`(2N-I)t - t\circ t` their variance.

    Parameters
    ----------
    M : (K, K) array or sparse matrix
        Row-stochastic transition matrix.
    absorbing : sequence of int, optional
        States to make absorbing first; by default those that already are.

    Examples
    --------
    >>> walk = [[1, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 0, 1]]
    >>> absorbing_analysis(walk).probabilities.round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    M = transition_matrix(M)
    ends = (
        np.flatnonzero(M.diagonal() >= 1.0)
        if absorbing is None
        else np.unique(np.asarray(absorbing, dtype=int))
    )
    if not len(ends):
        raise DegenerateError("the chain has no absorbing state; name some in `absorbing`.")
    rest = np.setdiff1d(np.arange(M.shape[0]), ends)
    _check_reachable(M, rest, ends)
    A, B = M[rest][:, rest], M[rest][:, ends]
    N = _inverse_minus(A)
    steps = N.sum(axis=1)
    variance = 2.0 * (N @ steps) - steps - steps**2
    probabilities = N @ (B.toarray() if sparse.issparse(B) else B)
    return Absorption(N, probabilities, steps, variance, rest.tolist(), ends.tolist())


def _inverse_minus(A: Any) -> Array:
    """(I - A)^-1 by a factorization and solves."""
    n = A.shape[0]
    if sparse.issparse(A):
        return sparse_linalg.splu(sparse.csc_array(sparse.eye_array(n) - A)).solve(np.eye(n))
    return np.linalg.solve(np.eye(n) - A, np.eye(n))


def _check_reachable(M: Any, rest: Array, ends: Array) -> None:
    """Every transient state must have a way to an absorbing one."""
    graph = sparse.csr_array(_edges(M, 0.0).T)  # backwards from the ends
    reached = set(ends.tolist())
    front = list(reached)
    while front:
        found = set(graph[front].indices.tolist()) - reached
        reached |= found
        front = sorted(found)
    lost = sorted(set(rest.tolist()) - reached)
    if lost:
        raise DegenerateError(
            f"no absorbing state can be reached from the states {lost[:10]}; make one of them absorbing."
        )
