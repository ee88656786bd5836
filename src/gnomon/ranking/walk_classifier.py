"""Labels for many points from a few: the class at which a random walk over the points is absorbed."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg
from scipy.spatial import cKDTree
from sklearn.base import ClassifierMixin

from gnomon.core.closed_form import OneStep
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import Rows
from gnomon.core.validate import Reads, check_fitted, warn
from gnomon.loops.distances import pairwise

DENSE_POINTS = 5000
LARGEST = 1e150  # coordinate of a point
NEIGHBORS = 30  # of the sparse graph when there are more points and none were asked for


def points_of(rows: Any) -> Array:
    """Return the points, whose squared distances must be finite."""
    X = np.asarray(rows.X, dtype=np.float64)
    if np.abs(X).max() > LARGEST:
        raise DataError("X has entries so large that squared distances overflow. Scale the columns.")
    return X


class RandomWalkClassifier(ClassifierMixin, OneStep):  # type: ignore[misc]
    r"""Semi-supervised classification by absorption.

    A walker steps from point to point with probabilities proportional to :math:`e^{-\lVert
    x_i-x_j\rVert^2/b}` and stops at the first labeled point. The probability of a class is that of stopping
    at one of its points,

    .. math:: F = (I - A)^{-1} B\, Y,

    the limit of label propagation with hard clamping. Use it when labels are few and classes form connected
    clouds; a width that is too large leaks between clouds. Unlabeled points carry ``y = -1``; if -1 and one
    other value are all there is, they are the two classes of the usual ±1 coding.

    Parameters
    ----------
    gamma : float
        Inverse width of the kernel, 1/b.
    width : float, optional
        The width b itself; wins over `gamma`.
    n_neighbors : int, optional
        Keep only so many neighbors of every point (either way); default all up to 5000 points, 30 beyond.
    solver : {"auto", "dense", "cg"}
        Cholesky factorization of the grounded Laplacian, or conjugate gradients.
    tol : float
        Relative residual of conjugate gradients.

    Attributes
    ----------
    classes_ : array
    label_distributions_ : (n, classes) array
        Class probabilities of the fitted points.
    transduction_ : (n,) array
        Their most probable classes.
    X_ : (n, d) array
        The fitted points.

    Examples
    --------
    >>> X, y = np.arange(6.0).reshape(-1, 1), [0, -1, -1, -1, -1, 1]
    >>> RandomWalkClassifier(width=1.0).fit(X, y).label_distributions_[1:5, 0].round(4)
    array([0.7885, 0.5964, 0.4036, 0.2115])
    """

    _reads: ClassVar[Reads] = Reads(y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "width": [None, Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"auto", "dense", "cg"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        gamma: float = 20.0,
        width: float | None = None,
        n_neighbors: int | None = None,
        solver: str = "auto",
        tol: float = 1e-9,
    ) -> None:
        self.gamma = gamma
        self.width = width
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.tol = tol

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Rows:
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        classes = rows.classes
        if classes is not None and len(classes) > 2 and classes.dtype.kind in "iuf" and classes[0] == -1:
            rows.classes, rows.y = classes[1:], rows.y - 1  # codes; -1 is unlabeled
        return rows

    def _solve(self, rows: Any) -> dict[str, Any]:
        X, y, w = np.array(points_of(rows)), rows.y, rows.weight
        labeled = (y >= 0) & (w > 0)
        if not labeled.any():
            raise DegenerateError("no labeled point has positive weight; label at least one.")
        known = np.eye(len(rows.classes))[np.where(labeled, y, 0)] * labeled[:, None]
        prior = w @ known / (w @ known).sum()
        F = self._absorb(X, w, labeled, known[labeled], prior)
        F /= F.sum(axis=1, keepdims=True)
        transduction = rows.classes[F.argmax(axis=1)]
        return {
            "X_": X,
            "label_distributions_": F,
            "transduction_": transduction,
            "labeled_": labeled,
            "weight_": w,
            "prior_": prior,
        }

    def _kernel(self, distances: Array) -> Array:
        return np.exp(-distances * (1.0 / self.width if self.width is not None else self.gamma))

    def _absorb(self, X: Array, w: Array, labeled: Array, targets: Array, fallback: Array) -> Array:
        """Spread the targets of labeled points to all others."""
        graph = self._graph(X)
        F = np.empty((len(X), targets.shape[1]))
        F[labeled] = targets
        free = np.flatnonzero(~labeled & (w > 0))
        reached = self._reached(graph, labeled | (w == 0), labeled)
        solve = free[reached[free]]
        lost = np.setdiff1d(np.flatnonzero(~labeled & (w > 0)), solve)
        if len(lost):
            warn(
                f"{len(lost)} points have no path to a labeled one; they get the class frequencies. "
                f"Widen the kernel."
            )
            F[lost] = fallback
        if len(solve):
            F[solve] = self._grounded(graph, w, solve, np.flatnonzero(labeled), targets)
        silent = np.flatnonzero(w == 0)
        if len(silent):
            heard = np.flatnonzero(w > 0)
            F[silent] = np.where(
                labeled[silent, None], F[silent], self._average(X[silent], X[heard], w[heard], F[heard])
            )
        return F

    def _graph(self, X: Array) -> Any:
        """Kernel weights between the points, without the diagonal: it has no influence."""
        k = self.n_neighbors or (NEIGHBORS if len(X) > DENSE_POINTS else None)
        if k is None or k >= len(X) - 1:
            K = self._kernel(pairwise(X, X, "sqeuclidean"))
            np.fill_diagonal(K, 0.0)
            return K
        distance, neighbor = cKDTree(X).query(X, k=k + 1)
        row = np.repeat(np.arange(len(X)), k + 1)
        K = sparse.csr_array(
            (self._kernel(distance.ravel() ** 2), (row, neighbor.ravel())), shape=(len(X), len(X))
        )
        K.setdiag(0.0)
        K = sparse.csr_array(K.maximum(K.T))
        K.eliminate_zeros()
        return K

    @staticmethod
    def _reached(graph: Any, walls: Array, labeled: Array) -> Array:
        """Which points have a path to a labeled one; the walk does not pass through walls."""
        inner = sparse.csr_array(graph)
        _, group = csgraph.connected_components(inner[~walls][:, ~walls], directed=False)
        touches = np.asarray(inner[~walls][:, labeled].sum(axis=1)).ravel() > 0
        reached = np.array(labeled)
        if group.size:
            reached[~walls] = np.isin(group, np.unique(group[touches]))
        return reached

    def _grounded(self, graph: Any, w: Array, free: Array, fixed: Array, targets: Array) -> Array:
        """Solve the Laplacian of the free points, grounded at the fixed ones; symmetric positive definite."""
        degree = graph[free] @ w
        inner, outer = graph[free][:, free], graph[free][:, fixed]
        right = w[free, None] * (outer @ (w[fixed, None] * targets))
        dense = self.solver == "dense" or (self.solver == "auto" and len(free) <= DENSE_POINTS)
        if dense:
            inner = inner.toarray() if sparse.issparse(inner) else inner
            L = np.diag(w[free] * degree) - w[free, None] * inner * w[free]
            return linalg.solve(L, right, assume_a="pos")
        scale = sparse.diags_array(w[free])
        L = sparse.csr_array(sparse.diags_array(w[free] * degree) - scale @ sparse.csr_array(inner) @ scale)
        return self._conjugate(L, right)

    def _conjugate(self, L: Any, right: Array) -> Array:
        inverse = sparse.diags_array(1.0 / L.diagonal())
        columns = []
        for column in right.T:
            found, failed = sparse_linalg.cg(L, column, rtol=self.tol, M=inverse)
            if failed:
                warn(
                    f"conjugate gradients stopped before tol={self.tol:g}; use solver='dense' or a "
                    f"smaller width."
                )
            columns.append(found)
        return np.clip(np.column_stack(columns), 0.0, None)

    @property
    def terminal_distributions_(self) -> Array:
        """Probability that the walk from each point stops at each labeled point, (n, labeled points)."""
        check_fitted(self)
        places = np.flatnonzero(self.labeled_)
        uniform = self.weight_[places] / self.weight_[places].sum()
        return self._absorb(self.X_, self.weight_, self.labeled_, np.eye(len(places)), uniform)

    def _average(self, X: Array, points: Array, w: Array, F: Array) -> Array:
        """One more step of the walk: kernel-weighted average of the points' distributions."""
        D = pairwise(X, points, "sqeuclidean")
        D -= D[:, w > 0].min(axis=1, keepdims=True)
        K = self._kernel(D) * w
        return (K / K.sum(axis=1, keepdims=True)) @ F

    def _check_loaded(self) -> None:
        if "X_" in vars(self):
            n = len(self.X_)
            check_shapes(self, {"X_": (n, self.n_features_in_), "weight_": (n,)})
            check_shapes(self, {"label_distributions_": (n, len(self.classes_))})

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities: those of the fitted points, averaged by one more step of the walk."""
        points = points_of(self._rows(X))
        return self._average(points, self.X_, self.weight_, self.label_distributions_)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of every row."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def plot(self, ax: Any = None, *, resolution: int = 80) -> Any:
        """Draw the class-probability map over two features; return the Axes."""
        from gnomon.plot.sequence import walk_labels

        return walk_labels(self, ax=ax, resolution=resolution)
