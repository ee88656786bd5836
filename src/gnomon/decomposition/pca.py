"""Principal component analysis: the directions along which data vary most."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import merge
from gnomon.core.trace import Trace
from gnomon.core.validate import NOT_NEGATIVE, Reads
from gnomon.decomposition import _spectra
from gnomon.decomposition._projecting import BasePCA
from gnomon.decomposition._scatter import Scatter, sum_scatter


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
        Power steps of "randomized", of which block Krylov steps need half.
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

    @property
    def _reads(self) -> Reads:
        """The covariance is a sum over rows; other solvers need all of them at once."""
        return Reads(sparse=True, scales=self.svd_solver in ("auto", "covariance_eigh"))

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
        power = (6 if wanted < 0.1 * most else 4) if self.iterated_power == "auto" else self.iterated_power
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
                f"got n_samples={count:g}."
            )

    def _wanted(self, most: int) -> int:
        """How many eigenpairs have to be computed."""
        n_components = self.n_components
        if n_components is None and self.svd_solver == "arpack":
            return most - 1  # Lanczos finds all but one
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
        if by_rank and (
            isinstance(self.n_components, str) or self.n_components is not None and self.n_components < 1
        ):
            rule = (
                "cannot be a string"
                if isinstance(self.n_components, str)
                else "must be between 1 and min(n_samples, n_features)"
            )
            raise DataError(
                f"n_components={self.n_components!r} {rule} with svd_solver={solver!r}, which finds a given number of "
                "components; use svd_solver='full', or give a number."
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
            return len(found.values)
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
            The fitted model. After a fit by another route than "covariance_eigh" it goes on from the fitted covariance,
            which is exact where all components were kept.
        """
        fitted = hasattr(self, "n_features_in_")
        rows = self._read(X, sample_weight=sample_weight, reset=not fitted)
        sums = sum_scatter(rows)
        self._keep_sums(merge(self._known_sums(), sums) if fitted else sums, rows)
        return self

    def _known_sums(self) -> Scatter:
        """The sums behind the model; where another route kept none, those of the model's covariance."""
        if hasattr(self, "sums_"):
            return self.sums_
        weight = float(self.n_samples_)
        noise = self.noise_variance_ * max(weight - 1.0, 1.0)
        V, extra = self.components_, np.maximum(self.scatter_eigenvalues_ - noise, 0.0)
        about = Scatter(weight, weight, self.mean_, (V.T * extra) @ V + noise * np.eye(V.shape[1]))
        return about

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
