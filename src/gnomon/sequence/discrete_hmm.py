"""Hidden Markov models with categorical and Poisson emissions, under hmmlearn's names."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.validate import Reads, probabilities
from gnomon.distributions import Categorical, Poisson
from gnomon.sequence.hidden import SHARED, HiddenMarkov, normalized_rows

LARGEST_TABLE = 50_000_000  # entries of an emission table


def dirichlet_log_prior(prior: Any, p: Array) -> float:
    """Σ (prior − 1) ln p over the entries above zero."""
    extra = np.broadcast_to(np.asarray(prior, dtype=float) - 1.0, p.shape)
    return float((extra * np.log(np.where(p > 0, p, 1.0))).sum()) if extra.any() else 0.0


class CountingHMM(HiddenMarkov):
    """What models of whole numbers share."""

    _reads: ClassVar[Reads] = Reads(nan=True, scales=True, positive=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True  # whole numbers
        return tags


class CategoricalHMM(CountingHMM):
    r"""Hidden Markov model over symbols 0, 1, …, M − 1.

    .. math:: p(x_t = v \mid s_t = k) = B_{kv}

    For texts, dice, codewords. NaN (or −1 among integers) is a symbol that was not observed. Several columns
    are independent given the state; ``emissionprob_`` is then (K, columns, M).

    Parameters
    ----------
    n_components : int
        Number of hidden states.
    startprob_prior, transmat_prior, emissionprob_prior : float or array
        Dirichlet concentrations; 1 is maximum likelihood.
    n_features : int, optional
        Number of symbols; by default the largest seen, plus one.
    algorithm, random_state, n_iter, tol, verbose, params, init_params, implementation
        As in `HMM`.
    start, end, n_init, method, transmat_mask
        As in `HMM`.

    Attributes
    ----------
    emissionprob_ : (K, M) array
    startprob_, transmat_, endprob_, monitor_, trace_, n_parameters_

    Examples
    --------
    The dishonest casino:

    >>> casino = CategoricalHMM(2)
    >>> casino.startprob_ = [0.5, 0.5]
    >>> casino.transmat_ = [[0.95, 0.05], [0.1, 0.9]]
    >>> casino.emissionprob_ = [[1 / 6] * 6, [0.1] * 5 + [0.5]]
    >>> X = np.array([[5], [5], [5]])
    >>> round(casino.score(X), 6), casino.decode(X)[1]
    (-2.870773, array([1, 1, 1]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "emissionprob_prior": [Interval(Real, 0, None, closed="left"), "array-like"],
        "n_features": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 1,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        *,
        emissionprob_prior: Any = 1.0,
        n_features: int | None = None,
        algorithm: str = "viterbi",
        random_state: Any = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "ste",
        init_params: str = "ste",
        implementation: str = "log",
        start: str = "free",
        end: bool = False,
        n_init: int = 1,
        method: str = "em",
        transmat_mask: Any = None,
    ) -> None:
        self.n_components = n_components
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.emissionprob_prior = emissionprob_prior
        self.n_features = n_features
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation
        self.start = start
        self.end = end
        self.n_init = n_init
        self.method = method
        self.transmat_mask = transmat_mask

    @classmethod
    def from_stop_matrix(cls, a: Any, b: Any, pi: Any) -> Self:
        """Return the model whose stop is the last column of `a` and the last entry of `pi` (the empty
        sequence).

        Parameters
        ----------
        a : (K, K + 1) array
            Transitions, then the probability of stopping.
        b : (K, M) array
            Emission probabilities.
        pi : (K + 1,) array
            Start, then the probability of an empty sequence.
        """
        a, b, pi = (probabilities(p, name=name) for p, name in ((a, "a"), (b, "b"), (pi, "pi")))
        model = cls(len(b), end=True, n_features=b.shape[1])
        model.transmat_, model.endprob_ = a[:, :-1], a[:, -1]
        model.startprob_, model.empty_prob_, model.emissionprob_ = pi[:-1], float(pi[-1]), b
        return model

    def _mark_missing(self, X: Any) -> Any:
        """−1 is a symbol not observed, where whole numbers leave no room for NaN."""
        if isinstance(X, list | tuple):
            X = np.asarray(X)
        if isinstance(X, np.ndarray) and X.dtype.kind == "i" and (X == -1).any():
            return np.where(X == -1, np.nan, X)
        return X

    def _emission(self) -> Categorical:
        if not hasattr(self, "emissionprob_"):
            raise DataError("set emissionprob_, or call fit.")
        p = np.asarray(self.emissionprob_, dtype=np.float64)
        return Categorical(p[:, None, :] if p.ndim == 2 else p)

    def _start_emission(self, X: Array, rng: np.random.Generator) -> Categorical:
        if not self._is_fresh("e", "emissionprob_"):
            return self._emission()
        top = int(np.nanmax(X, initial=0)) + 1
        if top * self.n_components * X.shape[1] > LARGEST_TABLE:
            raise DataError(
                f"X holds the symbol {top - 1}; number the symbols 0, 1, … in the order of np.unique(X)."
            )
        if self.n_features is not None and top > self.n_features:
            raise DataError(
                f"X holds the symbol {top - 1}, but n_features={self.n_features} allows 0 to "
                f"{self.n_features - 1}."
            )
        levels = np.maximum(
            np.nanmax(np.where(np.isnan(X), 0.0, X), axis=0).astype(int) + 1, self.n_features or 1
        )
        raw = rng.standard_gamma(1.0, (self.n_components, X.shape[1], levels.max()))
        raw *= np.arange(levels.max()) < levels[:, None]
        return Categorical(raw / raw.sum(axis=2, keepdims=True))

    def _maximize_emission(self, emission: Categorical, statistics: Any) -> Categorical:
        counts = statistics.counts
        extra = np.asarray(self.emissionprob_prior, dtype=float) - 1.0
        extra = extra[:, None, :] if extra.ndim == 2 else extra
        if counts.shape[2] > emission.p.shape[2]:
            raise DataError(
                f"a symbol of X is above the largest known one, {emission.p.shape[2] - 1}; set n_features."
            )
        counts = np.pad(
            counts, ((0, 0), (0, 0), (0, emission.p.shape[2] - counts.shape[2]))
        )  # unseen symbols
        legal = (counts > 0).any(axis=0) | (emission.p > 0).any(axis=0)
        return Categorical(normalized_rows(np.maximum(counts + extra * legal, 0.0), emission.p))

    def _emission_log_prior(self, emission: Categorical) -> float:
        prior = np.asarray(self.emissionprob_prior, dtype=float)
        return dirichlet_log_prior(prior[:, None, :] if prior.ndim == 2 else prior, emission.p)

    def _emission_attributes(self, emission: Categorical) -> dict[str, Any]:
        p = np.array(emission.p)
        return {"emissionprob_": p[:, 0] if p.shape[1] == 1 else p}


class PoissonHMM(CountingHMM):
    r"""Hidden Markov model over counts.

    .. math:: p(x_t \mid s_t = k) = \prod_j e^{-\lambda_{kj}} \lambda_{kj}^{x_{tj}} / x_{tj}!

    For numbers of events per period whose rate changes now and then. With ``start="stationary"`` the chain
    has been running for ever, and the start costs no parameters.

    Parameters
    ----------
    n_components : int
        Number of hidden states.
    startprob_prior, transmat_prior : float or array
        Dirichlet concentrations.
    lambdas_prior, lambdas_weight : float or array
        Gamma prior: the rate is (lambdas_prior + Σγx) / (lambdas_weight + Σγ).
    algorithm, random_state, n_iter, tol, verbose, params, init_params, implementation
        As in `HMM`; the letters are s, t, l(ambdas).
    start, end, n_init, method, transmat_mask
        As in `HMM`.

    Attributes
    ----------
    lambdas_ : (K, d) array
    startprob_, transmat_, endprob_, monitor_, trace_, n_parameters_

    Examples
    --------
    >>> X = np.array([1, 0, 2, 1, 9, 8, 11, 10, 9, 1, 0, 1]).reshape(-1, 1)
    >>> np.sort(PoissonHMM(2, random_state=0, n_iter=50).fit(X).lambdas_.ravel()).round(2)
    array([0.86, 9.39])
    """

    _letters: ClassVar[str] = "l"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "lambdas_prior": [Interval(Real, 0, None, closed="left"), "array-like"],
        "lambdas_weight": [Interval(Real, 0, None, closed="left"), "array-like"],
    }

    def __init__(
        self,
        n_components: int = 1,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        lambdas_prior: Any = 0.0,
        lambdas_weight: Any = 0.0,
        algorithm: str = "viterbi",
        random_state: Any = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "stl",
        init_params: str = "stl",
        implementation: str = "log",
        *,
        start: str = "free",
        end: bool = False,
        n_init: int = 1,
        method: str = "em",
        transmat_mask: Any = None,
    ) -> None:
        self.n_components = n_components
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.lambdas_prior = lambdas_prior
        self.lambdas_weight = lambdas_weight
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation
        self.start = start
        self.end = end
        self.n_init = n_init
        self.method = method
        self.transmat_mask = transmat_mask

    def _emission(self) -> Poisson:
        if not hasattr(self, "lambdas_"):
            raise DataError("set lambdas_, or call fit.")
        return Poisson(np.asarray(self.lambdas_, dtype=np.float64).reshape(self.n_components, -1))

    def _start_emission(self, X: Array, rng: np.random.Generator) -> Poisson:
        """Rates at random quantiles of the counts, one from each K-th part."""
        if not self._is_fresh("l", "lambdas_"):
            return self._emission()
        K = self.n_components
        levels = (np.arange(K) + rng.random(K)) / K
        rates = np.nanquantile(np.where(np.isnan(X).all(axis=0), 1.0, X), levels, axis=0)
        return Poisson(np.maximum(rates + 0.1 * rng.random(rates.shape), 1e-2))

    def _maximize_emission(self, emission: Poisson, statistics: Any) -> Poisson:
        mass = self.lambdas_weight + statistics.weight
        found = (self.lambdas_prior + statistics.sums[0]) / np.where(mass > 0, mass, 1.0)
        return Poisson(np.where(mass > 0, found, emission.rate))

    def _emission_log_prior(self, emission: Poisson) -> float:
        shape = np.asarray(self.lambdas_prior, dtype=float)
        logs = np.log(np.where(emission.rate > 0, emission.rate, 1.0))
        return float((shape * logs - self.lambdas_weight * emission.rate).sum())

    def _emission_attributes(self, emission: Poisson) -> dict[str, Any]:
        return {"lambdas_": np.array(emission.rate)}
