"""Latent classes: a hidden variable that makes all columns independent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags

from gnomon.core.dask_rows import is_dask
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.settings import check_parameters
from gnomon.core.tables import is_table
from gnomon.core.validate import COUNT, Reads, check_fitted, numbers
from gnomon.distributions.discrete import Categorical
from gnomon.graphical.columns import CodedMemory, read_columns
from gnomon.graphical.net import Net
from gnomon.mixture.categories import CategoricalMixture


class LatentRows(CodedMemory):
    """Codes as numbers, NaN where a cell is missing, with the states that a model keeps."""

    def facts(self) -> dict[str, Any]:
        """Tell the states beside what rows tell."""
        return {**super().facts(), "states_": dict(zip(self.labels, map(list, self.states), strict=True))}


class LatentClassModel(CategoricalMixture):
    r"""A mixture of product tables: columns that are independent given a hidden class.

    .. math:: P(x_1, \dots, x_d) = \sum_k \lambda_k \prod_j P(x_j \mid k)

    The graphical face of `gnomon.mixture.CategoricalMixture`, whose EM it uses: columns may hold named states, cells
    may be missing, and the result is a network with a hidden root. As a table it is a non-negative decomposition of
    rank K.

    Parameters
    ----------
    n_components : int, default=2
        Classes K.
    n_init, max_iter : int
        Number of starts; steps at most.
    tol : float, default=1e-8
        Stop when the log-likelihood per row changes by less.
    smoothing : float, default=0.0
        Pseudo-counts added to every cell of every table.
    tie_features : bool, default=False
        All columns share one table per class, as tosses of one coin do: a symmetric decomposition Σ λ u⊗…⊗u.
    states : dict, optional
        Names of the states by column; found in the data when not given.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="random"
    weights_init, parameters_init : array-like, optional
        Starting λ (K,) and tables (K, columns, states).
    random_state : int, Generator, optional

    Attributes
    ----------
    weights_ : array of shape (K,)
    probabilities_ : array of shape (K, columns, most states)
    tables_ : dict of arrays of shape (K, states)
    states_ : dict
    trace_ : Trace
    n_parameters_ : int

    Examples
    --------
    >>> X = [
    ...     ["a", "b", "b"],
    ...     ["a", "b", "a"],
    ...     ["a", "a", "b"],
    ...     ["b", "a", "a"],
    ...     ["b", "a", "b"],
    ...     ["b", "b", "a"],
    ... ]
    >>> model = LatentClassModel(2, random_state=0).fit(X)
    >>> model.to_bayesian_network().n_parameters_
    7
    """

    _reads: ClassVar[Reads] = Reads(nan=True, y="number", optional_y=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{k: v for k, v in CategoricalMixture._parameter_constraints.items() if k in (
            "n_components", "tol", "max_iter", "n_init", "init_params", "weights_init", "random_state", "smoothing",
            "parameters_init",
        )},
        "tie_features": ["boolean"],
        "states": [dict, None],
        "n_components": [COUNT],
    }  # fmt: skip
    algorithm = "em"
    weight_concentration = None
    warm_start = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_init: int = 10,
        smoothing: float = 0.0,
        max_iter: int = 500,
        tol: float = 1e-8,
        tie_features: bool = False,
        states: Any = None,
        init_params: str = "random",
        weights_init: Any = None,
        parameters_init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.tie_features = tie_features
        self.states = states
        self.init_params = init_params
        self.weights_init = weights_init
        self.parameters_init = parameters_init
        self.random_state = random_state

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if reset:
            check_parameters(self)
        if is_table(X) or is_dask(X):
            return super()._read(X, y, sample_weight, reset=reset, **options)
        known = self.states if reset else self.states_
        unknown = "error" if reset else "missing"
        read = read_columns(
            self, X, sample_weight, states=known, y=y, reads=self._reads, reset=reset, unknown=unknown,
            names=None if reset else list(self.states_),
        )  # fmt: skip
        codes = read.rows.X.astype(np.float64)
        codes[codes < 0] = np.nan
        rows = LatentRows(codes, read.rows.y, read.rows._weight, feature_names=read.rows.feature_names)
        rows.labels, rows.states = read.names, read.states
        return rows

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _rows(self, X: Any, **options: Any) -> Any:
        check_fitted(self)
        return self._read(X, reset=False)

    def _family(self, rows: Any) -> Categorical:
        states = getattr(rows, "states", None)
        if self.tie_features and states is not None and len(set(states)) > 1:
            raise DataError("tie_features=True needs columns with the same states; declare them in states.")
        levels = None if states is None else [len(own) for own in states]
        return Categorical(fractional=True, n_levels=levels)

    def _given(self, family: Any, K: int, rows: Any) -> Any:
        if self.parameters_init is None:
            return None
        tables = numbers(self.parameters_init, name="parameters_init")
        return (
            super()._given(family.replace(n_levels=None), K, rows)
            if tables.ndim == 3
            else super()._given(family, K, rows)
        )

    def _maximize(self, state: Any, found: Any) -> tuple[Array, Any]:
        if self.tie_features:
            counts = found.statistics.counts
            tied = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape).copy()
            found = found._replace(statistics=type(found.statistics)(tied))
        return super()._maximize(state, found)

    def _attributes(self, state: Any) -> dict[str, Any]:
        found = super()._attributes(state)
        if self.tie_features:
            K, _, L = found["probabilities_"].shape
            found["n_parameters_"] = int((state.weights > 0).sum() - 1 + K * (L - 1))
        return found

    @property
    def tables_(self) -> dict[str, Array]:
        """P(state | class) by column, one row for every class."""
        check_fitted(self)
        sizes = {name: len(own) for name, own in self.states_.items()}
        return {name: self.probabilities_[:, j, :size] for j, (name, size) in enumerate(sizes.items())}

    def joint_tensor(self) -> Array:
        """Return the joint table of all columns: Σ λ_k θ_k1 ⊗ … ⊗ θ_kd."""
        check_fitted(self)
        out: Any = 0.0
        for k, weight in enumerate(self.weights_):
            table = np.array(weight)
            for one in self.tables_.values():
                table = np.multiply.outer(table, one[k])
            out = out + table
        return out

    def to_bayesian_network(self, name: str = "class") -> Any:
        """Return the model as a network with the hidden class as root."""
        from gnomon.graphical.network import BayesianNetwork

        tables = self.tables_
        if name in tables:
            raise DataError(f"a column is called {name!r}; choose another name for the class.")
        variables = [name, *tables]
        states = [tuple(range(self.n_components)), *(tuple(own) for own in self.states_.values())]
        parents: list[tuple[int, ...]] = [(), *((0,) for _ in tables)]
        return BayesianNetwork._from_net(Net(variables, states, parents, [self.weights_, *tables.values()]))
