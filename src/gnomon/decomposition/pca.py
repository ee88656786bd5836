"""Principal component analysis: the directions along which data vary most."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.steps import OneStep
from gnomon.core.sums import Chunk, merge, per_row, total
from gnomon.core.trace import Trace
from gnomon.core.validate import NOT_NEGATIVE, Reads, check_fitted, warn
from gnomon.decomposition import _spectra
from gnomon.decomposition._scatter import Scatter, sum_scatter

LOG_2PI = float(np.log(2.0 * np.pi))


def scores_of(chunk: Chunk, mean: Array, axes: Array) -> Array:
    """(x − mean) · axes, in the precision of the rows."""
    X = chunk.X
    found = X @ axes - mean @ axes if sparse.issparse(X) else (X - mean) @ axes
    return np.asarray(found, dtype=X.dtype)


def squared_distances(chunk: Chunk, mean: Array, axes: Array) -> tuple[Array, Array]:
    """‖x − mean‖² and the scores, for densities and errors."""
    X = chunk.X
    if sparse.issparse(X):
        X = X.toarray()
    Z = np.asarray(X, dtype=np.float64) - mean
    T = Z @ axes.T
    rest = Z - T @ axes
    return np.einsum("ij,ij->i", rest, rest), T


def log_density(chunk: Chunk, mean: Array, axes: Array, variances: Array, noise: float) -> Array:
    """Gaussian log-density with these variances along the axes and `noise` in all other directions."""
    rest, T = squared_distances(chunk, mean, axes)
    p, k = len(mean), len(axes)
    out = -0.5 * (T * T / variances).sum(axis=1) - 0.5 * (p * LOG_2PI + np.log(variances).sum())
    if p > k:
        out -= 0.5 * (rest / noise + (p - k) * np.log(noise))
    return out


def lost_squares(chunk: Chunk, mean: Array, axes: Array) -> Array:
    """Σ w ‖x − reconstruction‖²."""
    return np.asarray(chunk.weight @ squared_distances(chunk, mean, axes)[0])


class BasePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneStep):
    """What every PCA does once it has a mean and orthonormal components."""

    whiten: bool
    _reads = Reads(sparse=True, scales=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _scale(self) -> Array:
        """√explained variance: what whitening divides by."""
        variance = self.explained_variance_
        if len(variance) and not variance.min() > 1e-12 * variance.max():
            k = int(np.argmin(variance))
            raise DegenerateError(
                f"whiten=True needs variance in every component, and component {k} has {variance[k]:.3g}; "
                "lower n_components, or drop columns that are constant or repeat others."
            )
        return np.sqrt(variance)

    def transform(self, X: Any) -> Array:
        """Return the scores: coordinates of the rows along the components."""
        check_fitted(self)
        axes = self.components_.T / self._scale() if self.whiten else self.components_.T
        return per_row(scores_of, self._rows(X), self.mean_, np.ascontiguousarray(axes))

    def inverse_transform(self, X: Any) -> Array:
        """Return the points whose scores these are."""
        check_fitted(self)
        T = np.asarray(X)
        if T.ndim != 2 or T.shape[1] != len(self.components_):
            raise DataError(f"X must have {len(self.components_)} columns of scores; its shape is {T.shape}.")
        axes = self.components_ * self._scale()[:, None] if self.whiten else self.components_
        return T @ axes + self.mean_

    def get_covariance(self) -> Array:
        """Return the model's covariance: the kept variances, and the mean of the others in all directions."""
        check_fitted(self)
        extra = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        p = len(self.mean_)
        return (self.components_.T * extra) @ self.components_ + self.noise_variance_ * np.eye(p)

    def get_precision(self) -> Array:
        """Return the inverse of `get_covariance`."""
        check_fitted(self)
        variances, noise = self._variances()
        V = self.components_
        return (V.T * (1.0 / variances - 1.0 / noise)) @ V + np.eye(V.shape[1]) / noise

    def _variances(self) -> tuple[Array, float]:
        """Variances along the components, none below the noise, and the noise."""
        noise = float(self.noise_variance_)
        p, k = len(self.mean_), len(self.components_)
        variances = np.maximum(self.explained_variance_, noise)
        if p == k:
            noise = float(variances.min())
        if not noise > 0 or not (variances > 0).all():
            raise DegenerateError(
                "the rows lie in a subspace, so they have no density: a direction has variance 0. Lower "
                "n_components, or drop columns that are constant or repeat others."
            )
        return variances, noise

    def score_samples(self, X: Any) -> Array:
        """Return the Gaussian log-density of every row under `get_covariance` (divisor n − 1)."""
        rows = self._rows(X)
        return per_row(log_density, rows, self.mean_, self.components_, *self._variances())

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the Gaussian of `get_covariance`."""
        check_fitted(self)
        rng = generator(getattr(self, "random_state", None) if random_state is None else random_state)
        extra = np.sqrt(np.maximum(self.explained_variance_ - self.noise_variance_, 0.0))
        T = rng.standard_normal((n_samples, len(extra))) * extra
        noise = rng.standard_normal((n_samples, len(self.mean_))) * np.sqrt(self.noise_variance_)
        return T @ self.components_ + self.mean_ + noise

    def reconstruct(self, X: Any, n_components: int | None = None, *, count_mean: bool = False) -> Array:
        """Return the rows rebuilt from the mean and the first components.

        With `count_mean` the mean counts as the first of the building blocks: M pieces are the mean and M − 1
        components.
        """
        axes = self.components_[: self._pieces(n_components, count_mean)]
        T = per_row(scores_of, self._rows(X), self.mean_, np.ascontiguousarray(axes.T))
        return T @ axes + self.mean_

    def _pieces(self, n_components: int | None, count_mean: bool = False) -> int:
        check_fitted(self)
        most = len(self.components_)
        if n_components is None:
            return most
        k = int(n_components) - int(count_mean)
        if not 0 <= k <= most:
            raise DataError(
                f"n_components must lie between {int(count_mean)} and {most + int(count_mean)}; "
                f"got {n_components}."
            )
        return k

    def reconstruction_error(self, X: Any, n_components: int | None = None) -> float:
        """Return Σ‖x − reconstruction‖²; on the training rows it is the sum of the scatter eigenvalues left out."""
        axes = self.components_[: self._pieces(n_components)]
        return float(total(lost_squares, self._rows(X), self.mean_, axes))

    def plot(self, X: Any = None, ax: Any = None) -> Any:
        """Draw the scree, or with rows given their scores and the loadings; return the Axes."""
        import importlib

        plot = importlib.import_module("gnomon.plot")
        return plot.scree(self, ax=ax) if X is None else plot.biplot(self, X, ax=ax)

    # from a spectrum to attributes

    def _from_spectrum(self, found: Any, k: int) -> dict[str, Any]:
        p, W = len(found.mean), found.weight
        divisor = max(W - 1.0, np.finfo(float).tiny) if W > 1 else 1.0
        values = found.values[:k]
        if not found.total > 0:
            warn("X has no variance: all its rows are equal. Every ratio of explained variance is 0.")
        most = min(p, W)
        rest = max(found.total - values.sum(), 0.0) if k < most else 0.0
        whole = found.total if found.total > 0 else 1.0
        return {
            "components_": np.ascontiguousarray(found.vectors[:k]),
            "mean_": found.mean,
            "scatter_eigenvalues_": values,
            "covariance_eigenvalues_": values / W,
            "explained_variance_": values / divisor,
            "explained_variance_ratio_": values / whole,
            "singular_values_": np.sqrt(values),
            "noise_variance_": float(rest / divisor / (most - k)) if rest > 0 else 0.0,
            "n_components_": int(k),
            "n_samples_": int(round(W)),
        }


class PCA(BasePCA):
    r"""Principal component analysis.

    .. math:: \max_{U^T U = I} \operatorname{tr}(U^T S U), \qquad
        S = \sum_i w_i (x_i - \bar x)(x_i - \bar x)^T

    One solution, five readings: (1) successive orthonormal directions of largest variance, with uncorrelated
    scores; (2) the trace problem above; (3) the least-squares reconstruction
    :math:`\min \sum_i \lVert x_i - \bar x - UU^T(x_i - \bar x) \rVert^2`; (4) the diagonalization of the
    covariance; (5) the truncated SVD of the centered rows. With K components the loss is the sum of the
    eigenvalues left out; with all of them PCA is an orthogonal change of basis (Karhunen–Loève).

    Use it for correlated columns of one scale (standardize others first). Use `FactorAnalysis` where columns
    have noise of their own size, `ProbabilisticPCA` where entries are missing, `KernelPCA` for curved data,
    `TruncatedSVD` where zero means "nothing".

    Parameters
    ----------
    n_components : int, float, "mle", "bic" or None
        Number K of components; a number in (0, 1) asks for the fewest whose share of the variance exceeds
        it; "mle" is Minka's (2000) choice; "bic" that of probabilistic PCA. None keeps min(n, p).
    copy : bool, default=True
        Kept for scikit-learn; X is never written to.
    whiten : bool, default=False
        Divide scores by their deviation, so that their covariance (divisor n − 1) is I.
    svd_solver : str, default="auto"
        "full"; "covariance_eigh" (one pass over the rows: files and clusters too); "gram" (for fewer rows
        than columns); "randomized"; "arpack"; "auto" chooses by shape.
    tol : float, default=0.0
        Of "arpack".
    iterated_power : int or "auto"
        Power steps of "randomized".
    n_oversamples : int, default=10
        Extra directions of "randomized".
    power_iteration_normalizer : str, default="auto"
        Kept for scikit-learn; steps are always orthonormalized.
    random_state : int, RandomState, Generator or None
        For "randomized" and "arpack".
    center : bool, default=True
        Whether the mean is taken off first. Without it the first axis mostly points at the mean.

    Attributes
    ----------
    components_ : array of shape (K, p)
        Orthonormal rows; the entry of largest size in each is positive.
    explained_variance_ : array of shape (K,)
        Eigenvalues with divisor n − 1.
    covariance_eigenvalues_, scatter_eigenvalues_ : arrays of shape (K,)
        The same with divisor n, and without one.
    explained_variance_ratio_, singular_values_ : arrays of shape (K,)
    mean_ : array of shape (p,)
    noise_variance_ : float
        Mean variance of the directions left out.
    n_components_, n_samples_ : int
    subspace_residual_ : float
        ‖SU − UΛ‖/‖Λ‖, how nearly the components are eigenvectors; where the scatter was formed.
    sums_ : Scatter
        Weight, mean and scatter, where the route formed them: `partial_fit` goes on from there.

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]])
    >>> model = PCA().fit(X)
    >>> model.scatter_eigenvalues_.round(10), model.covariance_eigenvalues_.round(10)
    (array([16.,  4.]), array([4., 1.]))
    >>> PCA(1).fit(X).reconstruct(X).round(10)
    array([[ 1.,  1.],
           [ 1.,  1.],
           [ 3.,  3.],
           [-1., -1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"mle", "bic"}),
            None,
        ],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [
            StrOptions({"auto", "full", "covariance_eigh", "gram", "randomized", "arpack"}),
        ],
        "tol": [NOT_NEGATIVE],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "random_state": ["random_state"],
        "center": ["boolean"],
    }

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: Any = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        center: bool = True,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.center = center

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float | None]:
        found, k = self._spectrum(rows)
        attributes = self._from_spectrum(found, k)
        if found.sums is not None:
            attributes |= self._with_sums(found.sums, attributes)
        return attributes, max(float(found.total - found.values[:k].sum()), 0.0)

    def _spectrum(self, rows: Any) -> tuple[Any, int]:
        most = min(rows.n_rows, rows.n_features)
        wanted = self._wanted(most)
        solver = self._solver(rows, wanted)
        power = (7 if wanted < 0.1 * most else 4) if self.iterated_power == "auto" else self.iterated_power
        options = {
            "random_state": self.random_state,
            "n_oversamples": self.n_oversamples,
            "iterated_power": int(power),
            "tol": self.tol,
        }
        found = _spectra.decompose(rows, solver, wanted, self.center, options)
        self._check_rows(found.n_rows)
        if not np.isfinite(found.values).all():
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        return found, self._chosen(found, most)

    def _check_rows(self, count: float) -> None:
        if count < 2 and self.center:
            raise DataError(
                "PCA needs at least 2 samples (rows of positive weight) to find a direction about their mean; "
                f"got {count:g}."
            )

    def _wanted(self, most: int) -> int:
        """How many eigenpairs have to be computed."""
        n_components = self.n_components
        if isinstance(n_components, str) or n_components is None or 0 < n_components < 1:
            return most
        if n_components > most:
            raise DataError(
                f"n_components={n_components} must be between 0 and min(n_samples, n_features)={most}; "
                "lower it."
            )
        return int(n_components)

    def _solver(self, rows: Any, k: int) -> str:
        solver = self.svd_solver
        if solver == "auto":
            return _spectra.solver_for(rows, k, self.n_components)
        if not rows.in_memory and solver != "covariance_eigh":
            raise DataError(
                f"svd_solver={solver!r} needs all rows in memory; use 'covariance_eigh' or 'auto'."
            )
        by_rank = solver in ("arpack", "randomized")
        if by_rank and (isinstance(self.n_components, str) or (self.n_components or 1) < 1):
            raise DataError(
                f"n_components={self.n_components!r} needs every eigenvalue, and svd_solver={solver!r} "
                "finds a few; use svd_solver='full'."
            )
        if solver == "arpack" and not 1 <= k < min(rows.n_rows, rows.n_features):
            raise DataError(
                f"n_components={k} must be strictly less than min(n_samples, n_features)="
                f"{min(rows.n_rows, rows.n_features)} with svd_solver='arpack'."
            )
        return solver

    def _chosen(self, found: Any, most: int) -> int:
        """K from the number, the share of variance or the criterion asked for."""
        n_components = self.n_components
        if n_components is None:
            return min(most, len(found.values))
        if isinstance(n_components, str):
            p = len(found.mean)
            if n_components == "mle" and found.n_rows < p:
                raise DataError("n_components='mle' is only supported if n_samples >= n_features.")
            divisor = found.weight - 1.0 if n_components == "mle" else found.weight
            values = np.zeros(p)
            values[: len(found.values)] = found.values / divisor
            if n_components == "mle":
                return _spectra.minka_rank(values, found.weight)
            return _spectra.bic_rank(values, found.weight)
        if isinstance(n_components, Integral):
            return int(n_components)
        if 0 < n_components < 1:
            shares = np.cumsum(found.values) / (found.total or 1.0)
            return min(most, int(np.searchsorted(shares, n_components, side="right")) + 1)
        return int(n_components)

    def _with_sums(self, sums: Scatter, attributes: dict[str, Any]) -> dict[str, Any]:
        about = sums if self.center else sums.about_origin()
        V, values = attributes["components_"], attributes["scatter_eigenvalues_"]
        size = float(np.linalg.norm(values)) or 1.0
        residual = float(np.linalg.norm(about.scatter @ V.T - V.T * values)) / size
        return {"sums_": sums, "subspace_residual_": residual}

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the scores of the rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the result is the same as from all of them at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
            The fitted model. Until there are two rows, only the sums are kept.
        """
        fitted = hasattr(self, "n_features_in_")
        if fitted and not hasattr(self, "sums_"):
            raise DataError(
                "partial_fit goes on from partial_fit, or from a fit with svd_solver='covariance_eigh'; this "
                "model was fitted by another svd_solver and kept no sums."
            )
        rows = self._read(X, sample_weight=sample_weight, reset=not fitted)
        sums = sum_scatter(rows)
        self._keep_sums(merge(self.sums_, sums) if fitted else sums, rows)
        return self

    @classmethod
    def from_sums(cls, sums: Scatter, **parameters: Any) -> Self:
        """Fit from weight, mean and scatter that were added up elsewhere."""
        model = cls(**parameters)
        model._keep_sums(sums, None)
        model.n_features_in_ = len(sums.mean)
        return model

    def _keep_sums(self, sums: Scatter, rows: Any) -> None:
        self._check_rows(sums.n_rows)
        most = int(min(sums.n_rows, len(sums.mean)))
        wanted = self._wanted(most)
        found = _spectra.of_scatter(sums if self.center else sums.about_origin(), wanted)
        attributes = self._from_spectrum(found, self._chosen(found, most))
        known = {"feature_names_in_": self.feature_names_in_} if hasattr(self, "feature_names_in_") else {}
        facts = {"trace_": Trace(), "n_iter_": 1, "converged_": True, "n_features_in_": len(sums.mean)}
        self._adopt({**known, **facts, **attributes, **self._with_sums(sums, attributes)}, rows)
