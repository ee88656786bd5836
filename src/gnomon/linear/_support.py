"""Exact steps on the support of a sparse model: the inverse of its Gram matrix, kept while features come and go.

Along a path of penalties the support changes by a few features at a time. Then the inverse of
H = G_SS + mu·I changes by a product of thin matrices, which costs |S|² for a feature instead of |S|³ for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from gnomon.core.linalg import Array
from gnomon.loops import coordinate as loops

JITTER = 1e-12  # share of the diagonal that keeps equal columns apart
STALE = 0.5  # share of mu below which the inverse for an older, larger mu is given up
MANY = 3  # changes of more than a third of the support are not worth following
SOLVES = 40  # products with the inverse spent on the difference between two mu


class KeptInverse:
    """(G_SS + mu·I)⁻¹ for the support S of the last call."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin again at the next call."""
        self.S, self.M, self.mu = np.empty(0, dtype=np.intp), np.empty((0, 0), order="F"), -1.0

    def follow(self, G: Array, S: Array, mu: float) -> bool:
        """Make this the inverse for the support S and a penalty near mu; False if H is singular."""
        member = np.zeros(len(G), dtype=bool)
        member[S] = True
        keep = np.flatnonzero(member[self.S])
        member[self.S] = False
        new = np.flatnonzero(member)
        changes = len(self.S) - len(keep) + len(new)
        near = STALE * self.mu <= mu <= self.mu
        if near and MANY * changes <= len(S) and self._drop(keep) and self._add(G, new):
            return True
        return self._afresh(G, S, mu)

    def _afresh(self, G: Array, S: Array, mu: float) -> bool:
        H = np.empty((len(S), len(S)))
        loops.gather_square(G, S, H)
        H[np.diag_indices_from(H)] += mu + JITTER * np.diagonal(H)
        factor, failed = lapack.dpotrf(H.T, lower=0, clean=0, overwrite_a=1)
        if not failed:
            M, failed = lapack.dpotri(factor, lower=0, overwrite_c=1)
        if failed:
            self.forget()
            return False
        loops.mirror_upper(M)
        self.S, self.M, self.mu = S.copy(), M, mu
        return True

    def _drop(self, keep: Array) -> bool:
        """M_KK − M_KD M_DD⁻¹ M_DK."""
        if len(keep) == len(self.S):
            return True
        gone = np.ones(len(self.S), dtype=bool)
        gone[keep] = False
        gone = np.flatnonzero(gone)
        factor = _factor(self.M[np.ix_(gone, gone)])
        if factor is None:
            return False
        thin = linalg.solve_triangular(factor, self.M[np.ix_(gone, keep)], lower=True, check_finite=False)
        M = np.empty((len(keep), len(keep)), order="F")
        loops.gather_square(self.M.T, keep, M.T)
        self.M = _plus_square(M, -1.0, thin)
        self.S = self.S[keep]
        return True

    def _add(self, G: Array, new: Array) -> bool:
        """Border M by new features: the Schur complement of their block, and what it does to the rest."""
        if not len(new):
            return True
        k, S = len(self.S), self.S
        cross = G[np.ix_(new, S)]  # rows of G are contiguous
        B = cross @ self.M
        block = G[np.ix_(new, new)] - B @ cross.T
        block[np.diag_indices_from(block)] += self.mu + JITTER * G[new, new]
        factor = _factor(block)
        if factor is None:
            return False
        thin = linalg.solve_triangular(
            factor, np.hstack([-B, np.eye(len(new))]), lower=True, check_finite=False
        )
        M = np.zeros((k + len(new), k + len(new)), order="F")
        M[:k, :k] = self.M
        self.M = _plus_square(M, 1.0, thin)
        self.S = np.concatenate([S, new])
        return True

    def solve(self, b: Array, mu: float) -> Array:
        """Solve (G_SS + mu·I) x = b, b in the order of `S`.

        With M for a larger mu₀ this is (I − δM) x = M b, δ = mu₀ − mu; conjugate gradients need products with
        M alone.
        """
        x = self.M @ b
        delta = self.mu - mu
        if delta <= 0.0 or not len(b):
            return x
        r = delta * (self.M @ x)
        p, rr = r.copy(), float(r @ r)
        goal = 1e-20 * float(x @ x)
        for _ in range(SOLVES):
            if not rr > goal:
                break
            Ap = p - delta * (self.M @ p)
            step = rr / float(p @ Ap)
            x += step * p
            r -= step * Ap
            rr, before = float(r @ r), rr
            p = r + (rr / before) * p
        return x


def _factor(A: Array) -> Array | None:
    """Lower Cholesky factor, or None."""
    found, failed = lapack.dpotrf(np.asfortranarray(A), lower=1, clean=1)
    return None if failed else found


def _plus_square(M: Array, sign: float, thin: Array) -> Array:
    """M += sign·thinᵀ thin, in place."""
    return blas.dgemm(sign, thin, thin, trans_a=1, beta=1.0, c=M, overwrite_c=1)


# -- one problem in Gram form --------------------------------------------------------------------------------


class GramSolver:
    """Minimize on one Gram matrix after another, keeping what one problem teaches about the next.

    Sweeps alone are enough for many rows and few columns. Once they were not, steps to the optimum of the
    present signs, which the kept inverse makes cheap, alternate with sweeps, which change the signs.
    """

    FIRST = 10  # sweeps in which easy problems are solved

    def __init__(self) -> None:
        self.kept, self.hard = KeptInverse(), False

    def solve(self, problem: Any, w: Array, g: Array, goal: float, rounds: int, floor: float) -> int:
        """Move w and its slopes g = q − Gw, in place, until the gap is at most `goal`; return the sweeps."""
        sweeps, patience = 0, 1
        for turn in range(rounds):
            if turn or not self.hard or not w.any():
                n_sweeps = 2 * patience if self.hard else self.FIRST
                made, gap, largest = loops.gram_descent(*problem, w, g, goal, n_sweeps)
                sweeps += made
                if gap <= goal or largest <= floor:
                    break
                self.hard = True
            whole = self._exact(problem, w, g)
            if loops.gram_gap(*problem[1:], w, g) <= goal:
                break
            patience = 1 if whole else min(2 * patience, 32)
        return sweeps

    def _exact(self, problem: Any, w: Array, g: Array) -> bool:
        """Move to the optimum of the present signs, as far as the objective falls; True if all the way."""
        G, _, _, t, mu, _ = problem
        support = np.flatnonzero(w)
        if not len(support) or not self.kept.follow(G, support, mu):
            return not len(support)
        S = self.kept.S
        old = w[S]
        slope = g[S] - mu * old - t * np.sign(old)
        step = self.kept.solve(slope, mu)
        whole = self._move(G, t, mu, w, g, S, step)
        left = g[S] - mu * w[S] - t * np.sign(old)
        if whole and np.abs(left[w[S] != 0.0]).max(initial=0.0) > 0.1 * np.abs(slope).max():
            crossed = bool((w[S] == 0.0).any())
            if not crossed:
                self.kept.forget()  # rounding has eaten the inverse
        return whole

    def _move(self, G, t, mu, w, g, S, step):
        """Take the step; coordinates that would change sign stop at zero: all, or else the first alone."""
        old = w[S]
        crosses = old * (old + step) < 0.0
        new = np.where(crosses, 0.0, old + step)
        change, drop = change_of(G, t, mu, w, g, S, new - old)
        whole = change <= 0.0
        if not whole and crosses.any():
            ratio = np.where(crosses, old / np.where(crosses, -step, 1.0), np.inf)
            first = np.argmin(ratio)
            new = old + ratio[first] * step
            new[first] = 0.0
            change, drop = change_of(G, t, mu, w, g, S, new - old)
        if not change <= 0.0:
            return False
        w[S] = new
        g -= drop
        return whole


def change_of(G: Array, t: float, mu: float, w: Array, g: Array, S: Array, delta: Array):
    """Return the change of the objective by a move on S, and the change of the slopes."""
    whole = np.zeros(len(w))
    whole[S] = delta
    drop, old = G[: len(w), : len(w)] @ whole, w[S]
    change = 0.5 * float(delta @ drop[S]) + 0.5 * mu * float(delta @ delta) - float(delta @ (g[S] - mu * old))
    return change + t * float(np.sum(np.abs(old + delta) - np.abs(old))), drop
