"""Mixtures of any family, and of mixed columns."""

from __future__ import annotations

from typing import Any, ClassVar

from gnomon.core.errors import DataError, nearest
from gnomon.core.validate import NOT_NEGATIVE
from gnomon.distributions.base import Family
from gnomon.distributions.columnwise import Product
from gnomon.distributions.counting import Bernoulli, Geometric, Poisson
from gnomon.distributions.discrete import Categorical, Multinomial
from gnomon.distributions.normal import Gaussian
from gnomon.distributions.positive import Exponential, Gamma
from gnomon.distributions.robust import Laplace, StudentT
from gnomon.mixture.em import BaseMixture

FAMILIES: dict[str, Any] = {
    "gaussian": lambda: Gaussian(reg_covar=1e-6),
    "diag_gaussian": lambda: Gaussian(covariance_type="diag", reg_covar=1e-6),
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "multinomial": lambda: Multinomial(fractional=True),
    "poisson": lambda: Poisson(fractional=True),
    "geometric": Geometric,
    "exponential": Exponential,
    "gamma": Gamma,
    "laplace": Laplace,
    "student_t": StudentT,
}


def as_family(name: Any) -> Family:
    """Return a family from its name, or as it is."""
    if isinstance(name, Family):
        return name
    if name not in FAMILIES:
        raise DataError(
            f"components must be a family or one of {', '.join(FAMILIES)}; got {name!r}."
            + nearest(name, FAMILIES)
        )
    return FAMILIES[name]()


class Mixture(BaseMixture):
    r"""Mixture of any family of distributions, fitted by EM.

    .. math:: p(x) = \sum_{k=1}^K \pi_k\, p(x; \theta_k)

    The E-step computes :math:`r_{ik} \propto \pi_k\, p(x_i; \theta_k)`, the M-step
    :math:`\pi_k = N_k/N` and the family's weighted maximum-likelihood estimate. Columns of different kinds
    are a dictionary of families: independent given the component, which makes it a latent class model.

    Parameters
    ----------
    components : str, family or dict, default="gaussian"
        A family of `gnomon.distributions` or its name; or a dictionary from families' names (or tuples of
        columns) as in ``{(0, 1): "gaussian", (2,): Poisson()}``.
    n_components : int, default=2
        Number of components K; a family that has parameters is the start and sets it.
    n_init, max_iter : int
        Number of starts; steps at most.
    tol : float, default=1e-6
        Stop when the log-likelihood per row changes by less.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}
        The first assignment.
    weights_init : array-like of shape (K,), optional
        Starting weights.
    algorithm : {"em", "hard"}
        "hard" gives every row to its likeliest component.
    weight_concentration : float or array of shape (K,), optional
        Dirichlet prior of the weights.
    prior : optional
        Conjugate prior of the family (a sequence of them for a dictionary), or pseudo-counts.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the rows does not matter to it.
    warm_start : bool, default=False
        Whether `fit` starts from the earlier solution.

    Attributes
    ----------
    weights_ : array of shape (K,)
    components_ : family
        The stack of K distributions.
    n_parameters_ : int
    trace_ : Trace
        Total log-likelihood in every E-step.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1], [0.2, 0], [0.1, 2], [5.0, 9], [5.2, 12], [4.9, 10]])
    >>> model = Mixture({(0,): "diag_gaussian", (1,): "poisson"}, 2, random_state=0).fit(X)
    >>> model.components_.mean()[model.predict(X)[[0, 3]]].round(1)
    array([[ 0.1,  1. ],
           [ 5. , 10.3]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "components": [str, dict, Family],
        "prior": [Family, NOT_NEGATIVE, "array-like", None],
    }

    def __init__(
        self,
        components: Any = "gaussian",
        n_components: int = 2,
        *,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        init_params: str = "kmeans",
        weights_init: Any = None,
        algorithm: str = "em",
        weight_concentration: Any = None,
        prior: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.components = components
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init_params = init_params
        self.weights_init = weights_init
        self.algorithm = algorithm
        self.weight_concentration = weight_concentration
        self.prior = prior
        self.random_state = random_state
        self.warm_start = warm_start

    def _family(self, rows: Any) -> Family:
        if not isinstance(self.components, dict):
            return as_family(self.components)
        names = rows.names()
        columns = [
            [
                names.index(c) if isinstance(c, str) else int(c)
                for c in (key if isinstance(key, tuple) else (key,))
            ]
            for key in self.components
        ]
        return Product([as_family(value) for value in self.components.values()], columns)

    def _given(self, family: Family, K: int, rows: Any) -> Family | None:
        if not family.fitted:
            return None
        if family.n_components != K:
            raise DataError(f"components holds {family.n_components} distributions, but n_components={K}.")
        return family

    def _prior(self, d: int) -> Any:
        return self.prior

    def _named(self, family: Family) -> dict[str, Any]:
        return {"stack_": family}

    @property
    def components_(self) -> Family:
        """The components as a stack of distributions."""
        return self.stack_
