"""Mixtures of counts, coins, categories and waiting times: thin names over the one EM."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.parameters import Interval
from gnomon.core.validate import NOT_NEGATIVE, Reads
from gnomon.distributions.base import Family
from gnomon.distributions.counting import Bernoulli, Poisson
from gnomon.distributions.positive import Exponential, Gamma
from gnomon.mixture.em import BaseMixture


class CountMixture(BaseMixture):
    """What the thin mixtures share: one family, one public name for its parameter."""

    _public: ClassVar[str] = "probabilities_"
    _parameter: ClassVar[str] = "p"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "smoothing": [NOT_NEGATIVE],
        "parameters_init": ["array-like", None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        init_params: str = "kmeans",
        weights_init: Any = None,
        parameters_init: Any = None,
        smoothing: float = 0.0,
        algorithm: str = "em",
        weight_concentration: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init_params = init_params
        self.weights_init = weights_init
        self.parameters_init = parameters_init
        self.smoothing = smoothing
        self.algorithm = algorithm
        self.weight_concentration = weight_concentration
        self.random_state = random_state
        self.warm_start = warm_start

    def _given(self, family: Family, K: int, rows: Any) -> Family | None:
        if self.parameters_init is None:
            return None
        stack = family.replace(**{self._parameter: self.parameters_init})
        if stack.n_components != K or stack.n_features != rows.n_features:
            raise DataError(
                f"parameters_init must hold {K} components of {rows.n_features} columns; "
                f"it has {stack.n_components} of {stack.n_features}."
            )
        return stack

    def _prior(self, d: int) -> Any:
        return self.smoothing if self.smoothing > 0 else None

    def _log_prior(self, family: Any) -> float:
        if self.smoothing == 0:
            return 0.0
        p = getattr(family, self._parameter)
        with np.errstate(divide="ignore"):
            terms = np.log(p) if self._one_sided else np.log(p) + np.log1p(-p)
        return float(self.smoothing * np.where(np.isfinite(terms), terms, 0.0).sum())

    _one_sided: ClassVar[bool] = True

    def _named(self, family: Family) -> dict[str, Any]:
        return {self._public: np.array(getattr(family, self._parameter)), "stack_": family}

    @property
    def components_(self) -> Family:
        """The components as a stack of distributions."""
        return self.stack_


SHARED = """
    n_components : int, default=2
        Number of components K.
    n_init, max_iter : int
        Number of starts; steps at most.
    tol : float, default=1e-6
        Stop when the log-likelihood per row changes by less.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}
        The first assignment.
    weights_init, parameters_init : array-like, optional
        Starting weights (K,) and component parameters.
    smoothing : float, default=0.0
        Pseudo-counts added to every estimate; the posterior mode under the matching prior.
    algorithm : {"em", "hard"}
        "hard" gives every row to its likeliest component.
    weight_concentration : float or array of shape (K,), optional
        Dirichlet prior of the weights.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the rows does not matter to it.
    warm_start : bool, default=False
        Whether `fit` starts from the earlier solution."""


def documented(cls: type) -> type:
    """Fill in the parameters that the thin mixtures share."""
    cls.__doc__ = (cls.__doc__ or "").replace("\n    {shared}", SHARED)
    return cls


@documented
class PoissonMixture(CountMixture):
    r"""Mixture of Poisson distributions: counts with several rates.

    .. math:: p(x) = \sum_k \pi_k \prod_j e^{-\lambda_{kj}} \lambda_{kj}^{x_j} / x_j!

    Parameters
    ----------
    {shared}

    Attributes
    ----------
    weights_ : array of shape (K,)
    rates_ : array of shape (K, n_features)
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> X = np.array([[1], [2], [1], [9], [11], [10]])
    >>> np.sort(PoissonMixture(2, random_state=0, tol=1e-10).fit(X).rates_.ravel()).round(3)
    array([1.332, 9.966])
    """

    _public, _parameter = "rates_", "rate"
    _reads = Reads(nan=True, scales=True, y="number", optional_y=True, positive=True)

    def _family(self, rows: Any) -> Poisson:
        return Poisson(fractional=True)

    def _prior(self, d: int) -> Any:
        return Gamma(self.smoothing + 1.0, self.smoothing) if self.smoothing > 0 else None

    def _log_prior(self, family: Any) -> float:
        if self.smoothing == 0:
            return 0.0
        return float(self.smoothing * (np.log(family.rate) - family.rate).sum())


@documented
class ExponentialMixture(PoissonMixture):
    r"""Mixture of exponential distributions: waiting times with several rates.

    .. math:: p(x) = \sum_k \pi_k \prod_j \lambda_{kj} e^{-\lambda_{kj} x_j}

    Parameters
    ----------
    {shared}

    Attributes
    ----------
    weights_ : array of shape (K,)
    rates_ : array of shape (K, n_features)
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> X = np.array([[0.1], [0.2], [0.1], [90.0], [110.0], [100.0]])
    >>> np.sort(1 / ExponentialMixture(2, random_state=0).fit(X).rates_.ravel()).round(2)
    array([ 0.13, 99.61])
    """

    def _family(self, rows: Any) -> Exponential:  # type: ignore[override]
        return Exponential(min_mean=1e-9)


@documented
class BernoulliMixture(CountMixture):
    r"""Mixture of products of coins: rows of zeros and ones.

    .. math:: p(x) = \sum_k \pi_k \prod_j \theta_{kj}^{x_j} (1 - \theta_{kj})^{1 - x_j}

    Parameters
    ----------
    {shared}
    binarize : float or None, default=0.0
        Entries above it count as ones; None demands zeros and ones.

    Attributes
    ----------
    weights_ : array of shape (K,)
    probabilities_ : array of shape (K, n_features)
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])
    >>> BernoulliMixture(2, random_state=0).fit(X).probabilities_[:, [0, 3]].round(2).tolist() in (
    ...     [[1.0, 0.0], [0.0, 1.0]],
    ...     [[0.0, 1.0], [1.0, 0.0]],
    ... )
    True
    """

    _one_sided = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountMixture._parameter_constraints,
        "binarize": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        init_params: str = "kmeans",
        weights_init: Any = None,
        parameters_init: Any = None,
        smoothing: float = 0.0,
        algorithm: str = "em",
        weight_concentration: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        binarize: float | None = 0.0,
    ) -> None:
        super().__init__(
            n_components,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            init_params=init_params,
            weights_init=weights_init,
            parameters_init=parameters_init,
            smoothing=smoothing,
            algorithm=algorithm,
            weight_concentration=weight_concentration,
            random_state=random_state,
            warm_start=warm_start,
        )
        self.binarize = binarize

    def _family(self, rows: Any) -> Bernoulli:
        return Bernoulli(binarize=self.binarize)
