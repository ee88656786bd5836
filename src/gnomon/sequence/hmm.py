"""Hidden Markov models over any family of emissions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import probabilities
from gnomon.distributions.base import Family
from gnomon.sequence import starts
from gnomon.sequence.hidden import SHARED, HiddenMarkov


class HMM(HiddenMarkov):
    r"""A hidden Markov model over any family of emissions.

    .. math:: p(x, s) = \pi_{s_1} \prod_t A_{s_{t-1} s_t} \prod_t p(x_t \mid \theta_{s_t})

    Use it when measurements come from a process that moves between a few regimes. `emissions` is any family
    of ``gnomon.distributions``, or a ``Product`` of them over columns (one count, one category and two
    numbers, say). For plain Gaussian, categorical, Poisson and mixture emissions the named classes have
    hmmlearn's parameters.

    Parameters
    ----------
    emissions : Family, optional
        Prototype (without parameters) or a stack of `n_components` to start from; default diagonal Gaussians.
    n_components : int
        Number of hidden states K.
    startprob_prior, transmat_prior : float or array
        Dirichlet concentrations; 1 is maximum likelihood.
    algorithm : {"viterbi", "map"}
        What `decode` does.
    random_state : int, Generator or None
    n_iter, tol : int, float
        At most so many steps; stop when the objective gains less than `tol`.
    verbose : bool
        Print a line after every step.
    params, init_params : str
        What is learned and what is initialized: s(tart), t(ransitions), e(missions). What `init_params`
        leaves out is taken from the attributes where you have set them before `fit`.
    implementation : {"log", "scaling"}
        Accepted for hmmlearn; the scaled recursions serve both and fall back to logs.
    start : {"free", "stationary", "fixed"}
        Whether the start is learned, tied to the stationary distribution, or kept.
    end : bool
        Model where sequences stop: ``endprob_``.
    n_init : int
        Random starts; the best is kept.
    method : {"em", "hard", "direct"}
        Baum–Welch, Viterbi training, or quasi-Newton on the likelihood of all parameters, without the priors.
    transmat_mask : (K, K) bool array, optional
        Transitions that are allowed; the others stay zero.

    Attributes
    ----------
    startprob_, transmat_ : arrays
    endprob_, empty_prob_ : array, float
        With ``end=True``.
    emission_ : Family
        The fitted stack.
    monitor_, trace_, n_iter_, converged_, n_parameters_

    Examples
    --------
    >>> from gnomon.distributions import Poisson
    >>> X = np.array([1, 0, 2, 1, 9, 8, 11, 10, 9, 1, 0, 1]).reshape(-1, 1)
    >>> model = HMM(Poisson(), 2, random_state=0, n_iter=50).fit(X)
    >>> np.sort(model.emission_.rate.ravel()).round(2)
    array([0.86, 9.39])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**SHARED, "emissions": [Family, None]}

    def __init__(
        self,
        emissions: Any = None,
        n_components: int = 1,
        startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0,
        *,
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
        self.emissions = emissions
        self.n_components = n_components
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

    def _emission(self) -> Any:
        if not hasattr(self, "emission_"):
            raise DataError("set emission_ (a family of n_components distributions), or call fit.")
        return self.emission_

    def _start_emission(self, X: Array, rng: np.random.Generator) -> Any:
        if not self._is_fresh("e", "emission_"):
            return self._emission()
        prototype = self.emissions
        if prototype is None:
            from gnomon.distributions import Gaussian

            prototype = Gaussian(covariance_type="diag", reg_covar=1e-6)
        return starts.start_family(prototype, X, self.n_components, rng)

    def _emission_attributes(self, emission: Any) -> dict[str, Any]:
        return {"emission_": emission}

    @classmethod
    def from_mixture(cls, emission: Any, weights: Any) -> Self:
        """Return the chain without memory: all rows of the transitions equal the mixture's weights.

        Parameters
        ----------
        emission : Family
            The components of the mixture.
        weights : (K,) array
            Their weights.
        """
        weights = probabilities(weights, name="weights")
        model = cls(emission, len(weights))
        model.startprob_, model.transmat_ = weights, np.tile(weights, (len(weights), 1))
        model.emission_ = emission
        return model
