"""Solutions of least-squares problems: from moments, from a triangle, or from few rows of many columns.

Every solver returns the same `Solution`: the minimizer of least norm, its rank, and a basis of the directions
in which the coefficients may move without changing the fit. Columns are scaled to unit length before rank is
judged, so units of measurement do not decide it; the least norm is taken in the units given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, optimize, sparse
from scipy.sparse import linalg as sparse_linalg

from gnomon.core.linalg import Array
from gnomon.core.sums import total
from gnomon.core.validate import warn
from gnomon.linear.squares.moments import LinearSums

EPS = float(np.finfo(np.float64).eps)
GRAM_COLUMNS = 1000  # columns beyond which rows that are few or sparse are solved without a d × d matrix
SAFE = 1e-13  # reciprocal condition of the scaled Gram matrix down to which Cholesky and refinement are exact
ROUGH = 1e-10  # below it moments alone, without the rows, keep fewer than six digits
CLEAN = 1e-6  # above it Cholesky alone is as accurate as a QR factorization


class Solution(NamedTuple):
    """Coefficients of least norm, and what is known about the problem they solve."""

    coef: Array  # (d, t)
    rank: int
    null: Any = None  # (d, d - rank) directions that change nothing
    rcond: float = 0.0  # reciprocal condition of the scaled Gram matrix
    factor: Any = None  # lower Cholesky factor of the scaled Gram matrix
    scale: Any = None  # of the columns, behind that factor
    singular: Array | None = None  # singular values of the columns, where they came out by the way


def column_scale(sums: LinearSums, penalty: float = 0.0) -> Array:
    """Return 1/‖column‖ of the centered columns, 0 for columns that are constant up to rounding."""
    length = np.diagonal(sums.xx) + penalty
    flat = length <= sums.weight * (64.0 * EPS * sums.mean_x) ** 2
    length[flat] = np.inf
    return 1.0 / np.sqrt(length)


def solve_gram(sums: LinearSums, penalty: float = 0.0) -> Solution | None:
    """Cholesky of the scaled Gram matrix (plus penalty·I); None when it is too close to singular."""
    scale = column_scale(sums, penalty)
    flat = scale == 0.0
    G = sums.xx * np.outer(scale, scale)
    np.fill_diagonal(G, 1.0)
    factor, failed = linalg.lapack.dpotrf(G, lower=1, clean=1)
    if failed:
        return None
    rcond = _reciprocal_condition(G, factor)
    if not rcond > SAFE:
        return None
    coef = gram_step(factor, scale, as_columns(sums.xy))
    null = np.eye(len(G))[:, flat]
    return Solution(coef, len(G) - int(flat.sum()), null, rcond, factor, scale)


def warn_of_lost_digits(solution: Solution) -> None:
    """Say so where moments alone, which is what `partial_fit` keeps, cannot tell nearly dependent columns apart."""
    if solution.rcond < ROUGH:
        digits = max(0, int(np.log10(solution.rcond / EPS)))
        warn(
            f"the columns are nearly dependent, and sums of their products tell the coefficients to {digits} digits "
            "or so. Use fit on all rows, which goes back to them, or Ridge with a larger alpha.",
            linalg.LinAlgWarning,
        )


def _reciprocal_condition(G: Array, factor: Array) -> float:
    norm = float(np.abs(G).sum(axis=0).max()) if len(G) else 1.0
    return float(linalg.lapack.dpocon(factor, norm, uplo="L")[0]) if len(G) else 1.0


def gram_step(factor: Array, scale: Array, gradient: Array) -> Array:
    """Return G⁻¹ gradient through the scaled factor."""
    return scale[:, None] * linalg.cho_solve((factor, True), scale[:, None] * gradient, check_finite=False)


def as_columns(a: Array) -> Array:
    """View (d,) as (d, 1)."""
    return a[:, None] if a.ndim == 1 else a


def solve_eigen(sums: LinearSums, tol: float = 1e-13) -> Solution:
    """Least-norm solution from moments alone, by the eigenvectors of the scaled Gram matrix."""
    scale = column_scale(sums)
    values, V = linalg.eigh(sums.xx * np.outer(scale, scale))
    kept = values > tol * max(float(values[-1]), 0.0) if len(values) else np.zeros(0, bool)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    z = V @ (inverse[:, None] * (V.T @ (scale[:, None] * as_columns(sums.xy))))
    coef, null = _least_norm(z, V[:, ~kept], scale)
    return Solution(coef, int(kept.sum()), null)


def _least_norm(z: Array, null: Array, scale: Array) -> tuple[Array, Array]:
    """Shortest of scale·(z + null·c) over c, and the basis in the given units."""
    basis = scale[:, None] * null
    basis[scale == 0.0] = null[scale == 0.0]  # a constant column may take any coefficient: it gets none
    coef = scale[:, None] * z
    if basis.shape[1]:
        coef = coef - basis @ linalg.lstsq(basis, coef, lapack_driver="gelsy")[0]
    return coef, basis


# -- triangles: a rank-revealing answer that squares nothing -----------------------------------------------


class Triangle(NamedTuple):
    """R of a QR factorization of the scaled, centered rows [X, y]; two of them merge by one more QR."""

    r: Array

    def merge(self, other: Triangle) -> Triangle:
        """Return the triangle of both sets of rows."""
        return Triangle(_triangle(np.vstack([self.r, other.r])))


def triangle_sums(chunk: Any, sums: LinearSums, scale: Array) -> Triangle:
    """R factor of one chunk, columns centered by the means of `sums` and multiplied by `scale`."""
    X, Y, s = chunk.X, chunk.y, np.sqrt(chunk.weight)[:, None]
    d, Y = X.shape[1], as_columns(np.asarray(Y, dtype=np.float64))
    r = np.zeros((0, d + Y.shape[1]))
    rows = max(2048, 4 * d)
    for start in range(0, len(Y), rows):
        part = slice(start, start + rows)
        dense = X[part].toarray() if sparse.issparse(X) else X[part]
        Z = np.hstack([(dense - sums.mean_x) * scale, Y[part] - sums.mean_y]) * s[part]
        r = _triangle(np.vstack([r, Z]))
    return Triangle(r)


def _triangle(A: Array) -> Array:
    r: Any = np.linalg.qr(A, mode="r")
    return r


def solve_triangle(r: Array, scale: Array, tol: float) -> Solution:
    """Least-norm solution from R, singular values at most `tol` times the largest taken as zero."""
    d = len(scale)
    U, s, Vt = linalg.svd(r[:, :d], full_matrices=True, check_finite=False)
    kept = s > tol * s[0] if len(s) and s[0] > 0 else np.zeros(len(s), bool)
    rank = int(kept.sum())
    z = Vt[:rank].T @ ((U[:, :rank].T @ r[:, d:]) / s[:rank, None])
    coef, null = _least_norm(z, Vt[rank:].T, scale)
    inverse = np.divide(1.0, scale, out=np.zeros(d), where=scale > 0)
    singular = linalg.svdvals(r[:, :d] * inverse, check_finite=False)[:d]
    return Solution(coef, rank, null, singular=singular)


def solve_wide(Z: Array, T: Array, root: Array | None, tol: float) -> Solution:
    """More columns than rows: w = Zᵀ(ZZᵀ)⁻¹T by Cholesky of the rows' Gram matrix, by SVD if it is singular.

    `root` is the unit vector that centering has removed from the rows' space (None without intercept).
    """
    K0 = Z @ Z.T
    K = K0
    if root is not None:
        K = K0 + np.outer(root, root) * max(float(np.trace(K)) / len(K), np.finfo(float).tiny)
    factor, failed = linalg.lapack.dpotrf(K, lower=1, clean=1)
    if failed or _reciprocal_condition(K, factor) <= SAFE:
        return _solve_svd(Z, T, tol)
    coef = Z.T @ linalg.cho_solve((factor, True), T)
    for _ in range(2):
        coef += Z.T @ linalg.cho_solve((factor, True), T - Z @ coef)
    singular = np.sqrt(np.maximum(linalg.eigvalsh(K0)[::-1], 0.0))
    return Solution(coef, len(Z) - (root is not None), singular=singular)


def _solve_svd(Z: Array, T: Array, tol: float) -> Solution:
    U, s, Vt = linalg.svd(Z, full_matrices=False)
    kept = s > tol * s[0] if len(s) else np.zeros(0, bool)
    coef = Vt[kept].T @ ((U[:, kept].T @ T) / s[kept, None])
    return Solution(coef, int(kept.sum()), singular=s)


# -- other ways --------------------------------------------------------------------------------------------


def solve_positive(sums: LinearSums, penalty: float = 0.0) -> Solution:
    """Nonnegative least squares by Lawson and Hanson's active set, on a square root of the Gram matrix."""
    scale = column_scale(sums, penalty)
    values, V = linalg.eigh((sums.xx + penalty * np.eye(len(scale))) * np.outer(scale, scale))
    kept = values > 1e-14 * max(float(values[-1]), 0.0)
    root = np.sqrt(np.where(kept, values, 0.0))
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=kept)
    target = inverse[:, None] * (V.T @ (scale[:, None] * as_columns(sums.xy)))
    columns = [optimize.nnls(root[:, None] * V.T, b)[0] for b in target.T]
    return Solution(scale[:, None] * np.stack(columns, axis=1), int(kept.sum()))


class Centered(NamedTuple):
    """Rows in memory, centered and multiplied by the roots of their weights, before anything is formed."""

    X: Any  # dense or CSR, as given; rows of weight zero left out
    target: Array  # (n, t), centered and multiplied by `root`
    root: Array  # (n,)
    mean_x: Array
    mean_y: Array  # (t,)

    def dense(self) -> Array:
        """Return the centered rows themselves."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return (X - self.mean_x) * self.root[:, None]

    def unit(self) -> Array:
        """Return the direction that centering removes from the space of rows."""
        return self.root / np.sqrt(self.root @ self.root)

    def operator(self) -> sparse_linalg.LinearOperator:
        """Return the centered rows as an operator, nothing densified."""
        X, mean, root = self.X, self.mean_x, self.root
        return sparse_linalg.LinearOperator(
            X.shape,
            matvec=lambda v: root * (X @ v.ravel() - mean @ v.ravel()),
            rmatvec=lambda r: X.T @ (root * r.ravel()) - mean * (root @ r.ravel()),
            dtype=np.float64,
        )


def center_rows(rows: Any, *, intercept: bool) -> Centered:
    """Return the rows of positive weight, centered if there is an intercept."""
    s = rows.weight
    X, Y = rows.X, as_columns(rows.y)
    if not s.all():
        X, Y, s = X[s > 0], Y[s > 0], s[s > 0]
    if X.dtype != np.float64:
        X = X.astype(np.float64)
    share = intercept * s / s.sum()
    mean_x, mean_y, root = share @ X, share @ Y, np.sqrt(s)
    return Centered(X, (Y - mean_y) * root[:, None], root, mean_x, mean_y)


UNEVEN = 1e4  # ratio of the sizes of columns from which LSQR works on columns of one size


def solve_krylov(data: Centered, *, damp: float = 0.0, tol: float = 1e-6) -> Array:
    """Least squares (plus damp²‖w‖²) by LSQR; it starts at zero, so the answer is the shortest.

    Columns of very different size are divided by it first where nothing damps them: else the small ones are lost.
    """
    options = {"damp": damp, "atol": tol * 1e-4, "btol": tol * 1e-4, "conlim": 0.0}
    operator, size = data.operator(), np.ones(data.X.shape[1])
    if damp == 0.0:
        norms = _column_norms(data)
        if norms.max(initial=0.0) > UNEVEN * norms[norms > 0].min(initial=np.inf):
            size = np.where(norms > 0, norms, 1.0)
            operator = operator @ sparse_linalg.aslinearoperator(sparse.diags_array(1.0 / size))
    runs = [sparse_linalg.lsqr(operator, t, **options)[0] / size for t in data.target.T]
    return np.stack(runs, axis=1)


def _column_norms(data: Centered) -> Array:
    """Norms of the weighted, centered columns, without centering a sparse matrix."""
    s = data.root**2
    squares = (data.X.multiply(data.X).T @ s) if sparse.issparse(data.X) else (data.X**2).T @ s
    mean = data.mean_x
    return np.sqrt(np.maximum(squares - 2 * mean * (data.X.T @ s) + mean**2 * s.sum(), 0.0))


# -- residuals ---------------------------------------------------------------------------------------------


class Gradient(NamedTuple):
    """Σ s (x − x̄) r and Σ s r² of the residuals r."""

    xr: Array  # (d, t)
    rss: Array  # (t,)


def residual_gradient(chunk: Any, coef: Array, mean_x: Array, mean_y: Array) -> Gradient:
    """Gradient of one chunk, with residuals of the data and not of moments."""
    Y, s = as_columns(chunk.y) - mean_y, chunk.weight[:, None]
    if sparse.issparse(chunk.X):
        r = Y - (chunk.X @ coef - mean_x @ coef)
        xr = chunk.X.T @ (s * r) - np.outer(mean_x, (s * r).sum(axis=0))
    else:
        Z = chunk.X - mean_x
        r = Y - Z @ coef
        xr = Z.T @ (s * r)
    return Gradient(xr, (s * r * r).sum(axis=0))


def gradient_of_sums(sums: LinearSums, coef: Array) -> Gradient:
    """The same from moments; RSS loses digits when the fit is nearly perfect."""
    xr = as_columns(sums.xy) - sums.xx @ coef
    rss = sums.yy - np.sum(coef * (as_columns(sums.xy) + xr), axis=0)
    return Gradient(xr, np.maximum(np.atleast_1d(rss), 0.0))


def refine(solution: Solution, sums: LinearSums, rows: Any, penalty: float = 0.0) -> Solution:
    """Corrected semi-normal equations, twice: w += G⁻¹ Xᵀ(y − Xw), the residual taken from the rows."""
    coef = solution.coef
    for _ in range(2):
        gradient = total(residual_gradient, rows, coef, sums.mean_x, sums.mean_y)
        coef = coef + gram_step(solution.factor, solution.scale, gradient.xr - penalty * coef)
    return solution._replace(coef=coef)
