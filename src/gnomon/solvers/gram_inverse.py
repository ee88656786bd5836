"""Exact steps on the support of a sparse model: the inverse of its Gram matrix, kept while features come and go.

Along a path of penalties the support changes by a few features at a time. Then the inverse of
H = G_SS + mu·I changes by a product of thin matrices, which costs |S|² for a feature instead of |S|³ for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from gnomon.core.linalg import Array
from gnomon.loops import coordinate as loops
from gnomon.solvers.coordinate import Penalized, gap_below, solve_gram, take_step

JITTER = 1e-12  # share of the diagonal that keeps equal columns apart
STALE = 0.5  # share of mu below which the inverse for an older, larger mu is given up
LARGEST_CHANGE = 3  # changes of more than a third of the support are not worth following
ACCURACY = 1e-6  # of such a solution; the next step corrects it
NO_LIMIT = 2**62
SOLVES = 40  # products with the inverse spent on the difference between two mu


class KeptInverse:
    """(G_SS + mu·I)⁻¹ for the support S of the last call."""

    def __init__(self) -> None:
        self.spare = np.empty(0)
        self.forget()

    def forget(self) -> None:
        """Begin again at the next call."""
        self.S, self.M, self.mu = np.empty(0, dtype=np.intp), np.empty((0, 0), order="F"), -1.0

    def follow(self, G: Array, S: Array, mu: float) -> bool:
        """Make this the inverse for the support S and a penalty near mu; False if H is singular."""
        member = np.zeros(len(G), dtype=bool)
        member[S] = True
        stays = member[self.S]
        member[self.S] = False
        new = np.flatnonzero(member)
        changes = len(self.S) - np.count_nonzero(stays) + len(new)
        near = STALE * self.mu <= mu <= self.mu
        if near and (not changes or (LARGEST_CHANGE * changes <= len(S) and self._update(G, stays, new))):
            return True
        return self._afresh(G, S, mu)

    def _afresh(self, G: Array, S: Array, mu: float) -> bool:
        H = self._room(len(S))
        loops.gather_square(G, S, H.T)
        H[np.diag_indices_from(H)] += mu + JITTER * np.diagonal(H)
        factor, failed = lapack.dpotrf(H, lower=0, clean=0, overwrite_a=1)
        if not failed:
            M, failed = lapack.dpotri(factor, lower=0, overwrite_c=1)
        if failed:
            self.forget()
            return False
        loops.mirror_upper(M)
        self._adopt(S.copy(), M)
        self.mu = mu
        return True

    def _update(self, G: Array, stays: Array, new: Array) -> bool:
        """Drop what left the support, border by what came."""
        keep, gone = np.flatnonzero(stays), np.flatnonzero(~stays)
        k, S = len(keep), self.S[keep]
        M = self._room(k + len(new))
        loops.gather_square(self.M.T, keep, M.T)
        M[k:], M[:k, k:] = 0.0, 0.0
        if len(gone) and not _add_square(M, -1.0, self.M[np.ix_(gone, gone)], self.M[np.ix_(gone, keep)]):
            return False
        if len(new):
            cross = G[np.ix_(new, S)]
            B = cross @ M[:k, :k]
            schur = G[np.ix_(new, new)] - B @ cross.T
            schur[np.diag_indices_from(schur)] += self.mu + JITTER * G[new, new]
            if not _add_square(M, 1.0, schur, np.hstack([-B, np.eye(len(new))])):
                return False
        self._adopt(np.concatenate([S, new]), M)
        return True

    def _room(self, size: int) -> Array:
        """A square array in memory that was used before: fresh pages cost as much as the arithmetic."""
        if self.spare.size < size * size:
            self.spare = np.empty(int(1.5 * size * size))
        return self.spare[: size * size].reshape(size, size, order="F")

    def _adopt(self, S: Array, M: Array) -> None:
        self.S, self.M = S, M
        self.memory, self.spare = self.spare, getattr(self, "memory", np.empty(0))

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
        goal = ACCURACY**2 * float(x @ x)
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


def _add_square(M: Array, sign: float, block: Array, rows: Array) -> bool:
    """M += sign·rowsᵀ block⁻¹ rows, in place; rows fewer than M's are filled up by zeros."""
    factor, failed = lapack.dpotrf(np.asfortranarray(block), lower=1, clean=1)
    if failed:
        return False
    thin = np.zeros((len(M), len(rows)), order="F")
    thin[: rows.shape[1]] = rows.T
    thin = blas.dtrsm(1.0, factor, thin, side=1, lower=1, trans_a=1, overwrite_b=1)
    blas.dgemm(sign, thin, thin, trans_b=1, beta=1.0, c=M, overwrite_c=1)
    return True


# -- one problem in Gram form --------------------------------------------------------------------------------


class Turn(NamedTuple):
    """Where the solution of a problem stands: sweeps that are left before the next exact step, and turns gone by."""

    left: int
    patience: int = 1
    gone: int = 0


class GramSolver:
    """Minimize on one Gram matrix after another, keeping what one problem teaches about the next.

    Sweeps alone are enough for many rows and few columns. Once they were not, steps to the optimum of the
    present signs, which the kept inverse makes cheap, alternate with sweeps, which change the signs.
    """

    FIRST = 10  # sweeps in which easy problems are solved
    PATIENCE = 32  # half as many sweeps as there are between exact steps at most

    def __init__(self) -> None:
        self.kept, self.hard = KeptInverse(), False
        self.told = np.empty((2 * self.PATIENCE, 2))  # objective and gap after every sweep of a call

    def snapshot(self) -> tuple[Any, ...]:
        """Return what is kept between problems, for a checkpoint."""
        return self.hard, self.kept.S, self.kept.M, self.kept.mu

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from a snapshot."""
        self.hard, self.kept.S, M, self.kept.mu = snapshot
        self.kept.M = np.array(M, order="F")

    def solve(self, problem: Any, w: Array, g: Array, goal: float, rounds: int, floor: float) -> int:
        """Move w and its slopes g = q − Gw, in place, until the gap is at most `goal`; return the sweeps.

        `problem` is G, q, ‖y‖² and the penalties; of a larger G, [:len(w), :len(w)] counts.
        """
        G, q, yy, *pen = problem
        if pen[0] == 0.0:
            m, pen = len(w), Penalized(*pen)
            return solve_gram(G[:m, :m], np.zeros(m), pen, w, g, gap_below(q, yy, pen, goal), rounds, floor)
        sweeps, turn = 0, self.begin(w)
        while turn is not None and turn.gone < rounds:
            made, turn = self.step(problem, w, g, goal, floor, turn)
            sweeps += made
        return sweeps

    def begin(self, w: Array) -> Turn:
        """Return where the solution of a problem begins."""
        return Turn((2 if self.hard else self.FIRST) if not (self.hard and w.any()) else 0)

    def step(self, problem: Any, w: Array, g: Array, goal: float, floor: float, turn: Turn,
             most: int = NO_LIMIT) -> tuple[int, Turn | None]:  # fmt: skip
        """Make up to `most` of the sweeps that are due, or the exact step that is; for an ℓ1 penalty.

        Returns the number of sweeps, whose objectives and gaps are in `told`, and the next turn; None at the end.
        """
        if turn.left:
            wanted = min(turn.left, most)
            made, largest = loops.gram_descent(*problem, w, g, goal, wanted, self.told)
            left = turn.left - made
            ended = self.told[made - 1, 1] <= goal or largest == 0.0 or (left == 0 and largest <= floor)
            if ended:
                return made, None
            self.hard = self.hard or left == 0
            return made, turn._replace(left=left)
        whole = self._exact(problem, w, g)
        self.told[0] = loops.gram_gap(*problem[1:], w, g)
        if self.told[0, 1] <= goal:
            return 0, None
        patience = 1 if whole else min(2 * turn.patience, self.PATIENCE)
        return 0, Turn(2 * patience, patience, turn.gone + 1)

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

        def product(delta: Array) -> Array:
            drop = np.zeros(len(w))
            loops.add_rows(G, S, delta, drop)
            return drop

        whole = take_step(w, g, S, step, np.full(len(S), t), mu, product)
        left = g[S] - mu * w[S] - t * np.sign(old)
        if whole and w[S].all() and np.abs(left).max() > 0.1 * np.abs(slope).max():
            self.kept.forget()  # rounding has eaten the inverse
        return whole
