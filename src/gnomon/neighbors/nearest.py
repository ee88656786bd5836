"""Questions about neighbors: the k nearest rows, all rows within a radius, and the graphs they make."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.validate import COUNT
from gnomon.neighbors.search_index import Found
from gnomon.neighbors.searching import METRIC_RULES, Searching


class NearestQuestions(Searching):
    """The k nearest."""

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Return the distances and the row numbers of the nearest training rows.

        Parameters
        ----------
        X : rows to ask about, optional
            The training rows by default, each without itself.
        n_neighbors : int, optional
            How many; what the model was made with by default.
        return_distance : bool, default=True
            False: the row numbers alone.

        Returns
        -------
        distances, indices : arrays of shape (n, n_neighbors)
            Ascending; of equal distances the lower row comes first.
        """
        values, rows = self._nearest(X, n_neighbors)
        rows = self._training_rows(rows)
        return (values, rows) if return_distance else rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return the graph of the nearest neighbors as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or the distances.

        Returns
        -------
        CSR matrix of shape (n, n_samples_fit)
        """
        check_is_fitted(self)
        _check_mode(mode)
        values, rows = self.kneighbors(X, n_neighbors)
        ends = np.arange(len(rows) + 1) * rows.shape[1]
        return _graph(self, ends, values.ravel(), rows.ravel(), mode)


class RadiusQuestions(Searching):
    """All within a radius."""

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Return, for every query, the distances and numbers of the training rows at most `radius` away.

        Parameters
        ----------
        X : rows to ask about, optional
            The training rows by default, each without itself.
        radius : float, optional
            What the model was made with by default.
        return_distance : bool, default=True
            False: the row numbers alone.
        sort_results : bool, default=False
            True: nearest first; False: in the order of the rows.

        Returns
        -------
        distances, indices : object arrays of arrays
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        found = self._within(X, radius)
        if sort_results:
            found = _nearest_first(found)
        values = _ragged(found.ends, found.distances)
        rows = _ragged(found.ends, self._training_rows(found.rows))
        return (values, rows) if return_distance else rows

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Return the graph of the rows within a radius as a sparse matrix.

        Parameters
        ----------
        X, radius, sort_results
            As in `radius_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or the distances.

        Returns
        -------
        CSR matrix of shape (n, n_samples_fit)
        """
        check_is_fitted(self)
        _check_mode(mode)
        found = self._within(X, radius)
        if sort_results:
            found = _nearest_first(found)
        return _graph(self, found.ends, found.distances, self._training_rows(found.rows), mode)


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise DataError(
            f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead'
        )


def _graph(model: Searching, ends: Array, values: Array, rows: Array, mode: str) -> Any:
    data = np.ones(len(rows)) if mode == "connectivity" else values
    return sparse.csr_matrix((data, rows, ends), shape=(len(ends) - 1, model.n_samples_fit_))


def _ragged(ends: Array, values: Array) -> Array:
    out = np.empty(len(ends) - 1, dtype=object)
    for i in range(len(out)):
        out[i] = values[ends[i] : ends[i + 1]]
    return out


def _nearest_first(found: Found) -> Found:
    query = np.repeat(np.arange(len(found.ends) - 1), np.diff(found.ends))
    order = np.lexsort((found.rows, found.distances, query))
    return found._replace(distances=found.distances[order], rows=found.rows[order])


class NearestNeighbors(NearestQuestions, RadiusQuestions):
    r"""Search for the nearest rows.

    .. math:: N_k(x) = \text{the } k \text{ rows with the smallest } d(x, x_i)

    The index is built once, in `fit`, and saved with the model. Every algorithm gives the same answer to the last
    bit: distances ascending, of equal ones the lower row first. Brute force shortlists by matrix products in
    single precision and decides by exact distances; trees leave out what is too far, which pays in few columns.
    Put the columns on comparable scales first: the largest one decides otherwise.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbors that `kneighbors` finds.
    radius : float, default=1.0
        Reach of `radius_neighbors`.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "vp_tree"}, default="auto"
        "auto" builds a kd-tree where a trial shows that searches look at few rows, and compares all else. A
        vantage-point tree spares calls of an expensive metric, which must keep the triangle inequality: a function
        is tried on a few rows first.
    leaf_size : int, default=30
        Rows of a tree's leaf at most.
    metric : str or callable, default="minkowski"
        Any of `metric_names`, or a function of two rows. "edit" compares words, "nan_euclidean" leaves missing
        entries out, "precomputed" takes distances.
    p : float, default=2
        Of "minkowski".
    metric_params : dict, optional
        Further arguments of the metric.
    n_jobs : int, optional
        Threads; all by default. The answer does not depend on it.

    Attributes
    ----------
    index_ : Index
        What is searched.
    effective_metric_ : str or callable
    effective_metric_params_ : dict
    n_samples_fit_ : int

    Examples
    --------
    >>> model = NearestNeighbors(n_neighbors=3).fit([[0.0], [1.0], [2.0], [3.0], [10.0]])
    >>> distances, rows = model.kneighbors([[1.4]])
    >>> distances.round(6), rows
    (array([[0.4, 0.6, 1.4]]), array([[1, 2, 0]]))
    >>> NearestNeighbors(n_neighbors=1, metric="edit").fit(["gnome", "gnomon"]).kneighbors(["gnonom"])
    (array([[2.]]), array([[1]]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **METRIC_RULES,
        "n_neighbors": [COUNT, None],
        "radius": [Interval(Real, 0, None, closed="both"), None],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Build the index.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, d), or a sequence of words
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(self._read(X), X=X)

    def iterate(self, X: Any, y: Any = None) -> Any:
        """Yield the fitted model: there is one step."""
        yield from self._iterate(self._read(X))


def kneighbors_graph(
    X: Any, n_neighbors: int, *, mode: str = "connectivity", include_self: Any = False, **options: Any
) -> Any:
    """Return the graph that joins every row to its nearest ones, as a sparse matrix.

    Parameters
    ----------
    X : rows
    n_neighbors : int
    mode : {"connectivity", "distance"}, default="connectivity"
    include_self : bool or "auto", default=False
        Whether a row counts as its own nearest; "auto": for "connectivity".
    **options
        Arguments of `NearestNeighbors`.

    Returns
    -------
    CSR matrix of shape (n, n)

    Examples
    --------
    >>> kneighbors_graph([[0.0], [3.0], [1.0]], 1).toarray()
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    model, query = _graph_model(X, mode, include_self, options)
    return model.kneighbors_graph(query, n_neighbors, mode)


def radius_neighbors_graph(
    X: Any, radius: float, *, mode: str = "connectivity", include_self: Any = False, **options: Any
) -> Any:
    """Return the graph that joins every row to those within a radius, as a sparse matrix.

    Parameters
    ----------
    X : rows
    radius : float
    mode, include_self, **options
        As in `kneighbors_graph`.

    Returns
    -------
    CSR matrix of shape (n, n)

    Examples
    --------
    >>> radius_neighbors_graph([[0.0], [3.0], [1.0]], 1.5).toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    model, query = _graph_model(X, mode, include_self, options)
    return model.radius_neighbors_graph(query, radius, mode)


def _graph_model(X: Any, mode: str, include_self: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the model that is asked for a graph, and what it is asked about: None, where a row is not its own."""
    own = mode == "connectivity" if include_self == "auto" else include_self
    if not isinstance(X, Searching):
        return NearestNeighbors(**options).fit(X), X if own else None
    for name, value in options.items():
        if name != "n_jobs" and getattr(X, name) != value:
            raise DataError(f"{name}={value!r} is not the model's, {getattr(X, name)!r}; leave it out.")
    return X, X.index_.rows if own else None
