"""Hidden Markov models over rows of counts, under hmmlearn's names."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.validate import Reads
from gnomon.distributions import Multinomial
from gnomon.sequence.discrete_hmm import CountingHMM
from gnomon.sequence.hidden import SHARED


class MultinomialHMM(CountingHMM):
    r"""Hidden Markov model over rows of counts with a given total.

    .. math:: p(x_t \mid s_t = k) = \frac{n_t!}{\prod_v x_{tv}!} \prod_v B_{kv}^{x_{tv}}

    For bags of symbols per period: words of a document section, votes, purchases. One symbol per row is
    `CategoricalHMM`.

    Parameters
    ----------
    n_components : int
        Number of hidden states.
    n_trials : int, optional
        Total of every row, needed to `sample`; by default that of the data where it is constant.
    startprob_prior, transmat_prior : float or array
        Dirichlet concentrations.
    algorithm, random_state, n_iter, tol, verbose, params, init_params, implementation
        As in `HMM`.
    start, end, n_init, method, transmat_mask
        As in `HMM`.

    Attributes
    ----------
    emissionprob_ : (K, V) array
    startprob_, transmat_, endprob_, monitor_, trace_, n_parameters_

    Examples
    --------
    >>> X = np.array([[4, 1], [5, 0], [4, 1], [0, 5], [1, 4], [0, 5]])
    >>> model = MultinomialHMM(2, random_state=0, n_iter=50).fit(X)
    >>> np.sort(model.emissionprob_[:, 0]).round(3)
    array([0.067, 0.867])
    """

    _reads: ClassVar[Reads] = Reads(scales=True, positive=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED,
        "n_trials": [None, Interval(Integral, 1, None, closed="left"), "array-like"],
    }

    def __init__(
        self,
        n_components: int = 1,
        n_trials: Any = None,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        algorithm: str = "viterbi",
        random_state: Any = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "ste",
        init_params: str = "ste",
        implementation: str = "log",
        *,
        start: str = "free",
        end: bool = False,
        n_init: int = 1,
        method: str = "em",
        transmat_mask: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_trials = n_trials
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
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

    def _emission(self) -> Multinomial:
        if not hasattr(self, "emissionprob_"):
            raise DataError("set emissionprob_, or call fit.")
        trials = self.n_trials if isinstance(self.n_trials, Integral) else getattr(self, "n_trials_", None)
        return Multinomial(np.asarray(self.emissionprob_, dtype=np.float64), n=trials)

    def _start_emission(self, X: Array, rng: np.random.Generator) -> Multinomial:
        totals = np.unique(X.sum(axis=1))
        trials = (
            self.n_trials
            if isinstance(self.n_trials, Integral)
            else int(totals[0])
            if len(totals) == 1
            else None
        )
        if not self._is_fresh("e", "emissionprob_"):
            return Multinomial(self._emission().p, n=trials)
        return Multinomial(rng.dirichlet(np.ones(X.shape[1]), self.n_components), n=trials)

    def _emission_attributes(self, emission: Multinomial) -> dict[str, Any]:
        return {"emissionprob_": np.array(emission.p), "n_trials_": emission.n}
