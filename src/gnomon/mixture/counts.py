"""Mixtures of counts, coins, categories and waiting times: thin names over the one EM."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.sums import total
from gnomon.core.validate import NOT_NEGATIVE, Reads, check_fitted
from gnomon.distributions.base import Family
from gnomon.distributions.counting import Bernoulli, Binomial, Poisson
from gnomon.distributions.discrete import Categorical, Multinomial
from gnomon.distributions.positive import Exponential, Gamma
from gnomon.mixture.em import BaseMixture


class Largest(NamedTuple):
    """A maximum that merges."""

    value: float

    def merge(self, other: Largest) -> Largest:
        """Keep the larger."""
        return Largest(max(self.value, other.value))


def largest(chunk: Any) -> Largest:
    """Partial maximum of the entries."""
    return Largest(float(np.nanmax(chunk.X, initial=0.0)))


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


@documented
class MultinomialMixture(CountMixture):
    r"""Mixture of multinomial distributions: rows of counts over words.

    .. math:: p(x) = \sum_k \pi_k \frac{n!}{\prod_v x_v!} \prod_v \theta_{kv}^{x_v}

    Parameters
    ----------
    {shared}
    ordered : bool, default=False
        Leave out the coefficient: the likelihood of the ordered words. Criteria of models with and without
        it must not be compared.

    Attributes
    ----------
    weights_ : array of shape (K,)
    probabilities_ : array of shape (K, n_features)
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> X = np.array([[5, 1, 0], [4, 2, 1], [0, 3, 5], [1, 2, 6]])
    >>> model = MultinomialMixture(2, random_state=0).fit(X)
    >>> np.sort(model.probabilities_[:, 0]).round(2)
    array([0.06, 0.69])
    """

    _reads = Reads(scales=True, y="number", optional_y=True, positive=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountMixture._parameter_constraints,
        "ordered": ["boolean"],
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
        ordered: bool = False,
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
        self.ordered = ordered

    def _family(self, rows: Any) -> Multinomial:
        return Multinomial(ordered=self.ordered, fractional=True)

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, ordered: bool = False, n_words: int = 100
    ) -> tuple[Array, Array]:
        """Draw rows of `n_words` words each; other arguments as in `Mixture.sample`."""
        check_fitted(self)
        drawn = type(self)(**self.get_params())
        drawn._adopt({**{k: v for k, v in vars(self).items() if k.endswith("_")}})
        drawn.stack_ = self.stack_.replace(n=n_words)
        return BaseMixture.sample(drawn, n_samples, random_state, ordered=ordered)


@documented
class BinomialMixture(MultinomialMixture):
    r"""Mixture of coins: heads in groups of n tosses, each group of one hidden coin.

    .. math:: p(x) = \sum_k \pi_k \prod_j \binom{n}{x_j} p_{kj}^{x_j} (1 - p_{kj})^{n - x_j}

    Parameters
    ----------
    {shared}
    ordered : bool, default=False
        Leave out the coefficient: the likelihood of the ordered tosses.
    n_trials : int, optional
        Tosses per entry; by default the largest entry of X.

    Attributes
    ----------
    weights_ : array of shape (K,)
    probabilities_ : array of shape (K, n_features)
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> start = dict(weights_init=[0.3, 0.7], parameters_init=[[0.3], [0.6]])
    >>> coins = BinomialMixture(2, n_trials=3, ordered=True, **start).fit([[3], [0], [3], [0], [3]])
    >>> coins.weights_.round(4), round(coins.log_likelihood_, 6)
    (array([0.4, 0.6]), -3.365058)
    """

    _one_sided = False
    _reads = Reads(nan=True, scales=True, y="number", optional_y=True, positive=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultinomialMixture._parameter_constraints,
        "n_trials": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_trials: int | None = None,
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
        ordered: bool = False,
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
            ordered=ordered,
        )
        self.n_trials = n_trials

    def _family(self, rows: Any) -> Binomial:  # type: ignore[override]
        n = self.n_trials
        if n is None:
            n = max(1, int(np.ceil(total(largest, rows).value)))
        return Binomial(n, ordered=self.ordered, fractional=True)

    def sample(  # type: ignore[override]
        self, n_samples: int = 1, random_state: Any = None, *, ordered: bool = False
    ) -> tuple[Array, Array]:
        return BaseMixture.sample(self, n_samples, random_state, ordered=ordered)


@documented
class CategoricalMixture(CountMixture):
    r"""Latent class model: category codes that are independent given a hidden class.

    .. math:: p(x) = \sum_k \pi_k \prod_j \theta_{kj, x_j}

    Fitting it to a table (rows are cells, `sample_weight` their probabilities) finds the model nearest to
    the table in relative entropy.

    Parameters
    ----------
    {shared}

    Attributes
    ----------
    weights_ : array of shape (K,)
    probabilities_ : array of shape (K, n_features, n_levels)
        Columns with fewer levels are padded with zeros.
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 0], [0, 1], [2, 1], [2, 1], [1, 1]])
    >>> CategoricalMixture(2, random_state=0).fit(X).joint_table().sum().round(6)
    np.float64(1.0)
    """

    _reads = Reads(nan=True, scales=True, y="number", optional_y=True, positive=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _family(self, rows: Any) -> Categorical:
        return Categorical(fractional=True)

    def joint_table(self) -> Array:
        """Return the probability of every combination of levels: Σ_k π_k θ_k1 ⊗ … ⊗ θ_kd."""
        check_fitted(self)
        out: Any = 0.0
        for weight, columns in zip(self.weights_, self.probabilities_, strict=True):
            table = np.array(weight)
            for p in columns:
                table = np.multiply.outer(table, p)
            out = out + table
        return out


def empirical_joint(X: Any, levels: Any = None, sample_weight: Any = None) -> Array:
    """Return the observed share of every combination of category codes, one axis per column of X.

    >>> empirical_joint([[0, 1], [0, 1], [1, 0], [1, 1]])
    array([[0.  , 0.5 ],
           [0.25, 0.25]])
    """
    codes = np.asarray(X).astype(np.int64)
    shape = codes.max(axis=0) + 1 if levels is None else np.broadcast_to(levels, codes.shape[1:])
    out = np.zeros(tuple(int(s) for s in shape))
    np.add.at(
        out, tuple(codes.T), 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    )
    return out / out.sum()
