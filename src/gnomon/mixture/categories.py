"""Mixtures of words, coins and categories."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import Tags

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.sums import total
from gnomon.core.validate import Reads, check_fitted
from gnomon.distributions.counting import Binomial
from gnomon.distributions.discrete import Categorical, Multinomial
from gnomon.mixture.counts import CountMixture, documented
from gnomon.mixture.em import BaseMixture


class Largest(NamedTuple):
    """A maximum that merges."""

    value: float

    def merge(self, other: Largest) -> Largest:
        """Keep the larger."""
        return Largest(max(self.value, other.value))


def largest(chunk: Any) -> Largest:
    """Partial maximum of the entries that count."""
    return Largest(float(np.nanmax(chunk.X[chunk.weight > 0], initial=0.0)))


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
