"""Spectra: the leading eigenvectors of a scatter matrix, by whichever route suits the shape of the data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator
from scipy.special import gammaln

from gnomon.core.linalg import Array, symmetric_eigen
from gnomon.decomposition import singular
from gnomon.decomposition._scatter import Scatter, sum_scatter

BLOCK = 2**20  # bytes of rows that are centered at a time
SPAN = 1e-14  # eigenvalues of a squared matrix below this share of the first have no digits left


class Spectrum(NamedTuple):
    """Mean, eigenvalues of the scatter (largest first), eigenvectors in rows, and the trace."""

    n_rows: float
    weight: float
    mean: Array  # (p,)
    values: Array  # (k,) scatter eigenvalues σ²
    vectors: Array  # (k, p)
    total: float  # trace of the scatter
    sums: Scatter | None = None


def of_scatter(sums: Scatter, k: int) -> Spectrum:
    """Eigenvectors of a scatter matrix."""
    p = len(sums.mean)
    k = min(k, p)
    values, vectors = symmetric_eigen(sums.scatter, k)
    values = np.maximum(values, 0.0)
    return Spectrum(
        sums.n_rows,
        sums.weight,
        sums.mean,
        values,
        vectors.T,
        float(sums.scatter.trace()),
        sums,
    )


def centered(rows: Any, mean: Array) -> Array:
    """X − mean with every row times the root of its weight; a dense copy."""
    X = rows.X.toarray() if rows.sparse else rows.X
    Z = np.asarray(X, dtype=np.float64) - mean
    if rows.weighted:
        Z *= np.sqrt(rows.weight)[:, None]
    return Z


class Centered(LinearOperator):  # type: ignore[misc]
    """√w (X − mean) as an operator: sparse rows stay sparse, and no copy of dense ones is made."""

    def __init__(self, rows: Any, mean: Array) -> None:
        super().__init__(np.float64, rows.X.shape)
        self.X, self.mean = rows.X, mean
        self.root = np.sqrt(rows.weight) if rows.weighted else None

    def _matmat(self, V: Array) -> Array:
        found = self.X @ V - self.mean @ V
        return found if self.root is None else found * self.root[:, None]

    def _matvec(self, v: Array) -> Array:
        return self._matmat(v.reshape(-1, 1))[:, 0]

    def _rmatmat(self, V: Array) -> Array:
        V = V if self.root is None else V * self.root[:, None]
        return self.X.T @ V - np.outer(self.mean, V.sum(axis=0))

    def _rmatvec(self, v: Array) -> Array:
        return self._rmatmat(v.reshape(-1, 1))[:, 0]


def mean_of(rows: Any, center: bool) -> tuple[float, float, Array]:
    """Rows that count, their weight, and their mean (zero where rows are not centered)."""
    weight = rows.weight
    mass = float(weight.sum())
    count = float(np.count_nonzero(weight))
    if not center:
        return count, mass, np.zeros(rows.n_features)
    X = rows.X
    near = np.zeros(rows.n_features) if sparse.issparse(X) else np.asarray(X[0], dtype=np.float64)
    if sparse.issparse(X):
        return count, mass, np.asarray(X.T @ weight).ravel() / mass
    with np.errstate(over="ignore", invalid="ignore"):
        first = (weight @ X) / mass
        if not np.isfinite(first).all():
            return count, mass, near
        step, size = np.zeros_like(first), max(1, BLOCK // max(1, 8 * rows.n_features))
        for start in range(0, len(X), size):  # in blocks that stay in cache
            part = slice(start, start + size)
            step += weight[part] @ (X[part] - first)
        return count, mass, first + step / mass


def decompose(rows: Any, solver: str, k: int, center: bool, options: dict[str, Any]) -> Spectrum:
    """Return the first k eigenpairs of the scatter by the named route."""
    if solver == "covariance_eigh":
        sums = sum_scatter(rows)
        found = of_scatter(sums if center else sums.about_origin(), k)
        if rows.in_memory and not rows.sparse and _lost(found.values):
            return decompose(rows, "full", k, center, options)._replace(sums=sums)
        return found._replace(sums=sums)
    count, mass, mean = mean_of(rows, center)
    if solver == "gram":
        return _gram(rows, k, count, mass, mean, options)
    if solver == "full":
        Z = centered(rows, mean)
        _, s, Vt = singular.signed(*singular.thin_svd(Z))
        return Spectrum(count, mass, mean, s[:k] ** 2, Vt[:k], float((s**2).sum()))
    X: Any = Centered(rows, mean) if rows.sparse or solver == "arpack" else centered(rows, mean)
    if solver == "randomized":
        U, s, Vt = singular.randomized(
            X,
            k,
            options["random_state"],
            oversamples=options["n_oversamples"],
            power=options["iterated_power"],
        )
    else:
        U, s, Vt = singular.lanczos(X, k, options["random_state"], tol=options["tol"])
    _, s, Vt = singular.signed(U, s, Vt)
    trace = float(np.vdot(X, X)) if isinstance(X, np.ndarray) else _trace(rows, mean)
    return Spectrum(count, mass, mean, s**2, Vt, trace)


def _lost(values: Array) -> bool:
    """Whether squaring cost the digits of an eigenvalue that is not plainly zero."""
    return bool(len(values)) and bool(values[0] > 0) and bool((values < SPAN * values[0]).any())


def _trace(rows: Any, mean: Array) -> float:
    weight = rows.weight
    if rows.sparse:
        squares = rows.X.multiply(rows.X).sum(axis=1)
        return max(0.0, float(weight @ np.asarray(squares).ravel() - weight.sum() * (mean @ mean)))
    return float(weight @ ((rows.X - mean) ** 2).sum(axis=1))


def _gram(rows: Any, k: int, count: float, mass: float, mean: Array, options: dict[str, Any]) -> Spectrum:
    """Eigenvectors through the n × n matrix of inner products: much the smaller one for wide data."""
    Z = centered(rows, mean)
    G = Z @ Z.T
    n = len(G)
    values, Q = symmetric_eigen(G, min(k, n))
    values = np.maximum(values, 0.0)
    if _lost(values[: min(k, n - 1)]):
        return decompose(rows, "full", k, bool(mean.any()), options)
    keep = values > max(Z.shape) * np.finfo(np.float64).eps * values[0]
    V = np.zeros((len(values), Z.shape[1]))
    V[keep] = (Z.T @ (Q[:, keep] / np.sqrt(values[keep]))).T
    if not keep.all():
        V[~keep] = _complement(V[keep], int((~keep).sum()))
    place = np.abs(V).argmax(axis=1)
    signs = np.where(V[np.arange(len(V)), place] < 0, -1.0, 1.0)
    return Spectrum(
        count,
        mass,
        mean,
        np.where(keep, values, 0.0),
        V * signs[:, None],
        float(np.einsum("ij,ij->", Z, Z)),
    )


def _complement(V: Array, k: int) -> Array:
    """k orthonormal rows orthogonal to those of V."""
    E = np.eye(V.shape[1])[: len(V) + k]
    for _ in range(2):
        E = E - (E @ V.T) @ V
    Q, _, _ = linalg.qr(E.T, mode="economic", pivoting=True)
    return Q[:, :k].T


def solver_for(rows: Any, k: int, n_components: Any) -> str:
    """The cheapest route that loses no digits."""
    n, p = rows.n_rows, rows.n_features
    if not rows.in_memory:
        return "covariance_eigh"
    if rows.sparse:
        return "covariance_eigh" if p <= 2000 and n >= p else "arpack" if k < min(n, p) else "full"
    if (n >= 2 * p or n * p <= 2**14) and n >= p and p <= 2000:
        return "covariance_eigh"
    small = min(n, p)
    if small > 500 and k < 0.1 * small and isinstance(n_components, int | np.integer):
        return "randomized"
    if p >= 2 * n and n <= 2000:
        return "gram"
    return "full"


# how many components


def minka_rank(values: Array, n: float) -> int:
    """Minka's (2000) Laplace approximation of the evidence; `values` are all covariance eigenvalues."""
    scores = [-np.inf, *(_minka_evidence(values, k, n) for k in range(1, len(values)))]
    return int(np.argmax(scores))


def _minka_evidence(values: Array, k: int, n: float) -> float:
    p = len(values)
    if values[k - 1] < 1e-15 or values[k:].mean() <= 0:
        return -np.inf
    pu = -k * np.log(2.0) + sum(gammaln((p - i) / 2.0) - np.log(np.pi) * (p - i) / 2.0 for i in range(k))
    noise = max(1e-300, float(values[k:].mean()))
    pl = -np.log(values[:k]).sum() * n / 2.0
    pv = -np.log(noise) * n * (p - k) / 2.0
    m = p * k - k * (k + 1.0) / 2.0
    pp = np.log(2.0 * np.pi) * (m + k) / 2.0
    smooth = np.concatenate([values[:k], np.full(p - k, noise)])
    pa = 0.0
    for i in range(k):
        j = np.arange(i + 1, p)
        gaps = (values[i] - values[j]) * (1.0 / smooth[j] - 1.0 / smooth[i])
        if (gaps <= 0).any():
            return -np.inf
        pa += float(np.log(gaps).sum() + len(j) * np.log(n))
    return float(pu + pl + pv + pp - pa / 2.0 - k * np.log(n) / 2.0)


def ppca_log_likelihoods(values: Array, n: float, kinds: Array) -> Array:
    """Log-likelihood of probabilistic PCA with every number of components in `kinds`, from ML eigenvalues."""
    p = len(values)
    out = []
    for k in kinds:
        rest = values[k:]
        noise = max(float(rest.mean()) if len(rest) else float(values[-1]), 1e-300)
        logs = np.log(np.maximum(values[:k], noise)).sum() + (p - k) * np.log(noise)
        out.append(-0.5 * n * (p * np.log(2.0 * np.pi) + logs + p))
    return np.array(out)


def ppca_parameters(p: int, k: int) -> float:
    """Free numbers of probabilistic PCA: mean, loadings up to rotation, noise."""
    return p + p * k + 1 - k * (k - 1) / 2


def bic_rank(values: Array, n: float, *, criterion: str = "bic") -> int:
    """The number of components with the smallest BIC (or AIC) of probabilistic PCA."""
    kinds = np.arange(1, max(2, len(values)))
    fits = ppca_log_likelihoods(values, n, kinds)
    price = np.log(n) if criterion == "bic" else 2.0
    counts = np.array([ppca_parameters(len(values), int(k)) for k in kinds])
    return int(kinds[np.argmin(-2.0 * fits + price * counts)])
