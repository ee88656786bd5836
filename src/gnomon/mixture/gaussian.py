"""Gaussian mixtures: soft clusters with shapes of their own."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, cholesky, log_sum_exp
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import per_row, total
from gnomon.core.validate import NOT_NEGATIVE, check_fitted, numbers, warn
from gnomon.distributions.base import Family
from gnomon.distributions.moments import DiagonalMoments
from gnomon.distributions.normal import AXES, Gaussian
from gnomon.distributions.wishart import NormalInverseWishart
from gnomon.mixture import starts
from gnomon.mixture.completion import Completion, completed, conditionals
from gnomon.mixture.em import BaseMixture
from gnomon.mixture.passes import log

POSITIVE = Interval(Real, 0, None, closed="neither")


def overall_sums(chunk: Any, family: Gaussian) -> DiagonalMoments:
    """Moments of all rows as one component."""
    return family.statistics(chunk.X, chunk.weight)


_STACKS: WeakKeyDictionary[Any, Gaussian] = WeakKeyDictionary()  # model -> its components, with their factors


class GaussianMixture(BaseMixture):
    r"""Gaussian mixture, fitted by EM.

    .. math:: p(x) = \sum_{k=1}^K \pi_k\, N(x; \mu_k, \Sigma_k)

    The E-step computes responsibilities :math:`r_{ik} \propto \pi_k N(x_i; \mu_k, \Sigma_k)`, the M-step
    weighted
    proportions, means and covariances (about the new mean). The log-likelihood never falls; it has many local
    maxima, so start from k-means (the default) and raise `n_init`. It is unbounded where a component
    collapses on a point: `reg_covar` or an inverse-Wishart prior prevents that.

    Good for elliptic, overlapping groups and as a density. Use `KMeans` for speed,
    `BayesianGaussianMixture` when the number of components is not known, `Mixture` for other families.

    Parameters
    ----------
    n_components : int, default=1
        Number of components K.
    covariance_type : str, default="full"
        "full", "tied" (one matrix for all), "diag", "spherical", "tied_spherical", "identity" (Σ = I) or
        "fixed" (the covariances given by `precisions_init` are kept).
    tol : float, default=1e-3
        Stop when the log-likelihood per row changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonal of every covariance; with it the log-likelihood may fall by as little.
    max_iter, n_init : int
        Steps at most; number of starts, of which the best is kept.
    init_params : str, default="kmeans"
        "kmeans"; "k-means++" and "random_from_data" (rows nearest to such seeds); "random" (random
        responsibilities);
        "overall" (seeds of k-means++ as means, the overall covariance for every component, equal weights).
    weights_init, means_init, precisions_init : array-like, optional
        Parts of the start given by the user.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the rows does not matter to it.
    warm_start : bool, default=False
        Whether `fit` starts from the earlier solution.
    verbose, verbose_interval : int
        Print a line after every so many steps.
    algorithm : {"em", "hard"}, default="em"
        "hard" gives every row to its likeliest component; the objective is the complete-data log-likelihood.
    weight_concentration : float or array of shape (K,), optional
        Dirichlet prior: :math:`\pi_k \propto \max(0, N_k + a_k - 1)`. Below 1 it empties surplus components.
    covariance_prior, covariance_dof : array-like or float, float, optional
        Inverse-Wishart prior: :math:`\Sigma_k = (S_0 + N_k \hat\Sigma_k)/(\nu + N_k + d + 1)`.
    mean_prior, mean_precision : array-like of shape (d,), float, optional
        Normal prior: :math:`\mu_k = (\kappa m_0 + N_k \bar x_k)/(\kappa + N_k)`.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : arrays
        The mixture, in scikit-learn's shapes.
    converged_ : bool
    n_iter_ : int
    lower_bound_, lower_bounds_ : float, array
        Log-likelihood per row (with priors: penalized) of the last and of all E-steps.
    trace_ : Trace
        Total (penalized) log-likelihood in every E-step; entry 0 belongs to the start.
    n_parameters_ : int
        Number of free parameters.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [0.0], [1.0], [4.0], [5.0], [6.0]])
    >>> model = GaussianMixture(2, reg_covar=0, tol=1e-9, random_state=0).fit(X)
    >>> np.sort(model.means_.ravel()).round(3) + 0.0
    array([0., 5.])
    >>> round(model.bic(X), 4)
    31.871
    """

    _blur: ClassVar[float] = 0.0
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "covariance_type": [StrOptions(set(AXES))],
        "reg_covar": [NOT_NEGATIVE],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data", "overall"})],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", POSITIVE, None],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Real, 1, None, closed="left")],
        "covariance_prior": ["array-like", POSITIVE, None],
        "covariance_dof": [POSITIVE, None],
        "mean_prior": ["array-like", Interval(Real, None, None, closed="neither"), None],
        "mean_precision": [NOT_NEGATIVE, None],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        algorithm: str = "em",
        weight_concentration: Any = None,
        covariance_prior: Any = None,
        covariance_dof: float | None = None,
        mean_prior: Any = None,
        mean_precision: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.algorithm = algorithm
        self.weight_concentration = weight_concentration
        self.covariance_prior = covariance_prior
        self.covariance_dof = covariance_dof
        self.mean_prior = mean_prior
        self.mean_precision = mean_precision

    # the start

    def _family(self, rows: Any) -> Gaussian:
        return Gaussian(covariance_type=self.covariance_type, reg_covar=self.reg_covar)

    def _first(self, rows: Any, K: int, missing: bool, rng: np.random.Generator) -> tuple[Array, Family]:
        d = rows.n_features
        means, covariances = self._given_means(K, d), self._given_covariances(K, d)
        need_covariances = covariances is None and self.covariance_type != "identity"
        if self.covariance_type == "fixed" and covariances is None:
            raise DataError("covariance_type='fixed' needs precisions_init, whose inverses are kept.")
        if self.init_params == "overall":
            mass, start = self._overall(rows, K, means, missing, rng)
        elif means is None or need_covariances or self.weights_init is None:
            mass, start = self._clustered(rows, K, missing, rng)
        else:
            mass, start = np.ones(K), None
        means = start.means if means is None else means  # type: ignore[union-attr]
        if need_covariances:
            covariances = start.covariances  # type: ignore[union-attr]
        return self._given_weights(K, mass / mass.sum()), self._family(rows).replace(
            means=means, covariances=covariances
        )

    def _clustered(
        self, rows: Any, K: int, missing: bool, rng: np.random.Generator
    ) -> tuple[Array, Gaussian]:
        """Weights and components of a first assignment."""
        family: Any = self._family(rows)
        if family.covariance_type == "fixed":
            family = family.replace(covariance_type="diag")
        prior = self._prior(rows.n_features)
        return starts.first_stack(  # type: ignore[return-value]
            rows, family, K, self.init_params, missing, rng, blur=self._blur, prior=prior
        )

    def _overall(
        self, rows: Any, K: int, means: Array | None, missing: bool, rng: np.random.Generator
    ) -> tuple[Array, Gaussian]:
        """Seeds of k-means++ as means, the covariance of all rows for every component, equal weights."""
        if means is None:
            means = starts.cluster_centers(rows, K, "k-means++", missing, rng)
        kind = "diag" if missing and self.covariance_type in ("full", "tied") else self.covariance_type
        one = Gaussian(covariance_type="full" if kind == "fixed" else kind, reg_covar=self.reg_covar)
        one = one.estimate(total(overall_sums, rows, one))
        if kind != self.covariance_type and self.covariance_type != "fixed":
            one = Gaussian(one.means, one.covariance_matrices())
        shared = one.covariances
        if shared is not None and self.covariance_type == "tied":
            shared = shared if shared.ndim == 2 else shared[0]
        elif shared is not None and self.covariance_type != "tied_spherical":
            shared = np.repeat(shared, K, axis=0)
        return np.ones(K), self._family(rows).replace(means=means, covariances=shared)

    def _given_means(self, K: int, d: int) -> Array | None:
        if self.means_init is None:
            return None
        means = numbers(self.means_init, name="means_init")
        if means.shape != (K, d):
            raise DataError(f"means_init must have shape ({K}, {d}); got {means.shape}.")
        return means

    def _given_covariances(self, K: int, d: int) -> Array | None:
        """Invert the given precisions."""
        if self.precisions_init is None or self.covariance_type == "identity":
            return None
        P, kind = numbers(self.precisions_init, name="precisions_init"), self.covariance_type
        shapes = {"tied": (d, d), "diag": (K, d), "spherical": (K,), "tied_spherical": ()}
        shape = shapes.get(kind, (K, d, d))
        if P.shape != shape and not (kind == "fixed" and P.shape == (d, d)):
            raise DataError(
                f"precisions_init must have shape {shape} for covariance_type={kind!r}; got {P.shape}."
            )
        if P.ndim < 2 or kind == "diag":
            if np.any(P <= 0):
                raise DataError(f"'{kind} precision' should be positive.")
            return 1.0 / P
        stack = np.broadcast_to(P, (K, d, d)) if kind == "fixed" else P.reshape(-1, d, d)
        what = f"'{kind} precision' in precisions_init (it should be symmetric, positive-definite)"
        inverses = [linalg.cho_solve((cholesky(p, what=what)[0], True), np.eye(d)) for p in stack]
        found = np.stack([(C + C.T) / 2.0 for C in inverses])
        return found[0] if kind == "tied" else found

    def _apart(self, family: Any) -> Family:
        """Move duplicated starting means by a thousandth of the scale, unless the user gave them."""
        _, first, count = np.unique(family.means, axis=0, return_index=True, return_counts=True)
        if self.means_init is not None or np.all(count == 1):
            return family
        warn("some starting means coincide and EM would never part them; they were moved a little.")
        again = np.setdiff1d(np.arange(len(family.means)), first)
        scale = 1e-3 * np.sqrt(family.variance().mean(axis=0))
        noise = np.random.default_rng(0).standard_normal(family.means.shape)
        means = np.array(family.means)
        means[again] += (noise * scale)[again]
        return family.replace(means=means)

    # priors

    def _prior(self, d: int) -> NormalInverseWishart | None:
        if self.covariance_prior is None and self.mean_precision is None and self.mean_prior is None:
            return None
        scale = 0.0 if self.covariance_prior is None else np.asarray(self.covariance_prior, dtype=np.float64)
        location = np.zeros(d) if self.mean_prior is None else np.broadcast_to(self.mean_prior, (d,))
        df = (
            None
            if self.covariance_prior is None
            else (d + 2.0 if self.covariance_dof is None else self.covariance_dof)
        )
        kappa = (
            (1.0 if self.mean_prior is not None else 0.0)
            if self.mean_precision is None
            else self.mean_precision
        )
        return NormalInverseWishart(location, kappa, df, scale)

    def _log_prior(self, family: Any) -> float:
        prior = self._prior(family.n_features)
        if prior is None:
            return 0.0
        matrices = family.covariance_matrices()
        kind = family.covariance_type
        if kind == "full":
            return float(prior.log_density(family.means, matrices).sum())
        shared = kind in ("tied", "tied_spherical")
        variance = family.variance()[:1] if shared else family.variance()
        if kind == "tied":
            value = prior._log_wishart(matrices[:1]).sum()
        else:
            each = slice(0, 1) if kind in ("spherical", "tied_spherical") else slice(None)
            value = _log_inverse_gammas(prior, variance[:, each])
        return float(value + prior._log_normal(family.means, matrices).sum())

    # attributes

    def _named(self, family: Any) -> dict[str, Any]:
        whiteners, d = family.whiteners, family.n_features
        kind = family.covariance_type
        roots = np.swapaxes(whiteners, 1, 2) if whiteners.ndim == 3 else whiteners
        precisions = family.precisions()
        pick = {"tied": lambda a: a[0], "spherical": lambda a: a[:, 0], "tied_spherical": lambda a: a[0, 0]}
        take = pick.get(kind, lambda a: a)
        covariances = np.ones((len(family.means), d)) if kind == "identity" else family.covariances
        return {
            "means_": np.array(family.means),
            "covariances_": np.array(covariances),
            "precisions_": np.array(take(precisions)),
            "precisions_cholesky_": np.array(take(roots)),
        }

    @property
    def components_(self) -> Gaussian:
        """The components as a stack of distributions."""
        kind, known = self.covariance_type, _STACKS.get(self)
        covariances = None if kind == "identity" else self.covariances_
        if known is not None and known.covariance_type == kind and known.reg_covar == self.reg_covar:
            same = covariances is None or np.array_equal(known.covariances, covariances)
            if same and np.array_equal(known.means, self.means_):
                return known
        _STACKS[self] = found = Gaussian(
            self.means_, covariances, covariance_type=kind, reg_covar=self.reg_covar
        )
        return found

    # conditionals, marginals and missing entries

    def _made(self, weights: Array, family: Gaussian) -> GaussianMixture:
        """Return a fitted mixture of these components."""
        model = GaussianMixture(
            len(weights), covariance_type=family.covariance_type, random_state=self.random_state
        )
        facts = {"weights_": weights, "n_iter_": 0, "converged_": True, "lower_bound_": np.nan}
        count = family.parameter_count() + len(weights) - 1
        facts |= {"n_parameters_": count, "n_features_in_": family.n_features}
        model._adopt({**facts, **model._named(family)})
        return model

    def marginal(self, columns: Any) -> GaussianMixture:
        """Return the mixture of the chosen columns (indices or names)."""
        check_fitted(self)
        return self._made(self.weights_, self.components_.marginal(self._columns(columns)))

    def _columns(self, columns: Any) -> Array:
        names = list(getattr(self, "feature_names_in_", []))
        return np.array([names.index(c) if isinstance(c, str) else int(c) for c in np.atleast_1d(columns)])

    def conditional(self, x: Any) -> GaussianMixture:
        """Return the mixture of the missing entries of one row, given its observed ones.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            A row with NaN in the entries asked for.
        """
        check_fitted(self)
        x = np.asarray(x, dtype=np.float64).reshape(1, -1)
        m, o = np.flatnonzero(np.isnan(x[0])), np.flatnonzero(~np.isnan(x[0]))
        if x.shape[1] != self.n_features_in_ or len(m) == 0:
            raise DataError(
                f"conditional needs one row of {self.n_features_in_} entries, at least one of them NaN."
            )
        joint = self.components_.log_density(x)[0] + log(self.weights_)
        means, spreads = conditionals(self.components_, o, m, x)
        return self._made(np.exp(joint - log_sum_exp(joint)), Gaussian(means[0], spreads))

    def impute_distribution(self, X: Any) -> Completion:
        """Return the mean and covariance of the missing entries of every row, given the observed ones.

        Observed entries keep their value and have variance zero.
        """
        return Completion(*per_row(completed, self._rows(X), self.components_, log(self.weights_)))

    def impute(self, X: Any) -> Array:
        """Return X with every missing entry replaced by its expectation given the observed ones."""
        return self.impute_distribution(X).mean


def _log_inverse_gammas(prior: NormalInverseWishart, variance: Array) -> float:
    """Log density of one-dimensional inverse-Wishart priors at variances (K, columns), up to a constant."""
    if prior.df is None:
        return 0.0
    scale = np.diagonal(prior.scale[0])[: variance.shape[1]]
    return float((-(prior.df[0] + 2.0) / 2.0 * np.log(variance) - scale / (2.0 * variance)).sum())
