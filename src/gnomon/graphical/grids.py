"""Label fields on grids: the Ising and Potts models, and images restored with them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.validate import matrix
from gnomon.graphical.factor import Factor, guard
from gnomon.loops import grids as loops

FRONT_ENTRIES = 20_000_000  # of the table along the short side
METHODS = ("icm", "gibbs", "bp", "mean_field", "graph_cut")


class Segmentation(NamedTuple):
    """Labels of a grid, their energy, and the energy (or bound) after every sweep."""

    labels: Array
    energy: float
    trace: Array
    exact: bool  # whether no labels have less energy


class GridField:
    r"""A field of labels on a grid whose neighbors like to agree.

    .. math:: E(x) = \sum_i \theta_i(x_i) + \lambda \sum_{i \sim j} [x_i \ne x_j], \qquad p(x) \propto e^{-E(x)}

    Two labels make the Ising model, more the Potts model; each edge counts once.

    Parameters
    ----------
    shape : (int, int)
    n_labels : int, default=2
    coupling : float, default=1.0
        λ, the cost of an edge between different labels.
    unary : array of shape (rows, columns, labels), optional
        θ, the cost of every label at every site; zeros when not given.

    Examples
    --------
    >>> field = GridField.ising((2, 2), coupling=0.5)
    >>> round(field.log_partition(), 6)
    3.297642
    >>> noisy = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0]])
    >>> GridField((3, 4), coupling=0.7).segment(noisy, means=[0, 1]).labels
    array([[0, 0, 1, 1],
           [0, 0, 1, 1],
           [0, 0, 1, 1]])
    """

    def __init__(
        self, shape: tuple[int, int], n_labels: int = 2, coupling: float = 1.0, unary: Any = None
    ) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.n_labels, self.coupling, self.offset = int(n_labels), float(coupling), 0.0
        if min(self.shape) < 1 or self.n_labels < 1:
            raise DataError(f"shape and n_labels must be at least 1; got {shape} and {n_labels}.")
        if not math.isfinite(self.coupling):
            raise DataError(f"coupling must be finite; got {coupling}.")
        full = (*self.shape, self.n_labels)
        self.unary = np.zeros(full) if unary is None else np.array(unary, dtype=np.float64)
        if self.unary.shape != full or not np.isfinite(self.unary).all():
            raise DataError(f"unary must hold finite costs of shape {full}; got shape {self.unary.shape}.")

    @classmethod
    def ising(cls, shape: tuple[int, int], coupling: float, field: Any = 0.0) -> GridField:
        """Return the Ising model p ∝ exp(J Σ sᵢsⱼ + h Σ sᵢ) with spins −1 (label 0) and +1 (label 1)."""
        h = np.broadcast_to(np.asarray(field, dtype=np.float64), shape)
        made = cls(shape, 2, 2.0 * coupling, np.stack([h, -h], axis=2))
        made.offset = -coupling * made.n_edges()
        return made

    def n_edges(self) -> int:
        """Return the number of pairs of neighbors."""
        rows, columns = self.shape
        return rows * (columns - 1) + columns * (rows - 1)

    def energy(self, labels: Any) -> float:
        """Return E of a labeling."""
        x = self._checked(labels)
        own = float(np.take_along_axis(self.unary, x[..., None], axis=2).sum())
        unequal = int((x[1:] != x[:-1]).sum() + (x[:, 1:] != x[:, :-1]).sum())
        return own + self.coupling * unequal + self.offset

    def _checked(self, labels: Any) -> Array:
        x = np.array(labels)
        if x.shape != self.shape or (x < 0).any() or (x >= self.n_labels).any():
            raise DataError(f"labels must have shape {self.shape} and lie in 0 … {self.n_labels - 1}.")
        return x.astype(np.int64)

    # as a model

    def to_field(self) -> Any:
        """Return the grid as a `MarkovRandomField`; sites are named "row,column"."""
        from gnomon.graphical.fields import MarkovRandomField

        return MarkovRandomField(self.factors)

    @property
    def factors(self) -> list[Factor]:
        """One factor for every site and every edge."""
        rows, columns = self.shape
        names = [[f"{r},{c}" for c in range(columns)] for r in range(rows)]
        pair = np.exp(-self.coupling * (1.0 - np.eye(self.n_labels)))
        made = []
        for r in range(rows):
            for c in range(columns):
                low = float(self.unary[r, c].min())
                made.append(Factor([names[r][c]], np.exp(low - self.unary[r, c]), log_scale=-low))
                made += [Factor([names[r][c], names[r][c + 1]], pair)] if c + 1 < columns else []
                made += [Factor([names[r][c], names[r + 1][c]], pair)] if r + 1 < rows else []
        made[0].log_scale -= self.offset
        return made

    def log_partition(self, method: str = "exact", **options: Any) -> float:
        """Return ln Z: exactly, summed along the short side of the grid; or as `MarkovRandomField.log_partition`."""
        if method == "mean_field":
            return float(self._mean_field(1000, 1e-10)[1][-1])
        if method != "exact":
            return float(self.to_field().log_partition(method, **options))
        unary = self.unary if self.shape[0] <= self.shape[1] else self.unary.transpose(1, 0, 2)
        short, long = unary.shape[:2]
        guard([self.n_labels] * short, FRONT_ENTRIES, f"the front of a grid of {short} × {long} sites")
        agree = np.exp(-self.coupling * (1.0 - np.eye(self.n_labels)))
        front, log_scale = np.ones([self.n_labels] * short), 0.0
        for c in range(long):
            for r in range(short):
                if c == 0:
                    front = front.sum(axis=r, keepdims=True) / self.n_labels
                    front = np.broadcast_to(front, [self.n_labels] * short)
                else:
                    front = np.moveaxis(np.tensordot(front, agree, axes=(r, 0)), -1, r)
                low = unary[r, c].min()
                front = front * np.exp(low - unary[r, c]).reshape([-1 if a == r else 1 for a in range(short)])
                if r > 0:
                    shape = [self.n_labels if a in (r - 1, r) else 1 for a in range(short)]
                    front = front * agree.reshape(shape)
                top = front.max()
                front, log_scale = front / top, log_scale + math.log(top) - low
        return float(math.log(front.sum()) + log_scale - self.offset)

    def sample(self, n_sweeps: int = 100, *, start: Any = None, random_state: Any = None) -> Array:
        """Return labels after so many Gibbs sweeps over a checkerboard."""
        rng = generator(random_state)
        labels = rng.integers(self.n_labels, size=self.shape) if start is None else self._checked(start)
        for _ in range(n_sweeps):
            loops.gibbs_sweep(labels, self.unary, self.coupling, 1.0, rng.random(self.shape))
        return labels

    # the best labels

    def segment(
        self,
        image: Any = None,
        means: Any = None,
        *,
        method: str = "graph_cut",
        start: Any = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> Segmentation:
        """Return labels of small energy.

        Parameters
        ----------
        image : array of shape (rows, columns), optional
            Numbers; label k then costs (image − means[k])² at a site, beside the `unary` costs.
        means : sequence of n_labels numbers
        method : {"graph_cut", "icm", "gibbs", "bp", "mean_field"}, default="graph_cut"
            Minimum cut, exact for two labels and couplings ≥ 0, α-expansion for more (Boykov et al. 2001); greedy
            sweeps (Besag 1986); annealed Gibbs sweeps; max-product messages; mean field.
        start : array of labels, optional
            The cheapest label of every site when not given.
        max_iter, tol, random_state
        """
        field = self if image is None else self._with_image(image, means)
        if method not in METHODS:
            raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
        labels = field.unary.argmin(axis=2) if start is None else field._checked(start)
        return getattr(field, f"_by_{method}")(labels.astype(np.int64), max_iter, tol, random_state)

    def _with_image(self, image: Any, means: Any) -> GridField:
        values = matrix(image, name="image")
        centers = np.asarray(means, dtype=np.float64) if means is not None else None
        if values.shape != self.shape or centers is None or centers.shape != (self.n_labels,):
            raise DataError(f"image must have shape {self.shape} and means {self.n_labels} numbers.")
        field = GridField(
            self.shape, self.n_labels, self.coupling, self.unary + (values[..., None] - centers) ** 2
        )
        field.offset = self.offset
        return field

    def _by_icm(self, labels: Array, max_iter: int, tol: float, random_state: Any) -> Segmentation:
        trace = [self.energy(labels)]
        for _ in range(max_iter):
            changes = loops.icm_sweep(labels, self.unary, self.coupling)
            trace.append(self.energy(labels))
            if changes == 0:
                break
        return Segmentation(labels, trace[-1], np.array(trace), False)

    def _by_gibbs(self, labels: Array, max_iter: int, tol: float, random_state: Any) -> Segmentation:
        """Simulated annealing: inverse temperatures rise from 0.5 to 10, and the best labels seen are kept."""
        rng = generator(random_state)
        best, least = labels.copy(), self.energy(labels)
        trace = [least]
        for beta in np.geomspace(0.5, 10.0, max_iter):
            loops.gibbs_sweep(labels, self.unary, self.coupling, beta, rng.random(self.shape))
            trace.append(self.energy(labels))
            if trace[-1] < least:
                best, least = labels.copy(), trace[-1]
        return Segmentation(best, least, np.array(trace), False)

    def _by_bp(self, labels: Array, max_iter: int, tol: float, random_state: Any) -> Segmentation:
        from gnomon.graphical.propagation import BeliefPropagation

        found = BeliefPropagation(
            semiring="max", schedule="flooding", damping=0.5, max_iter=max_iter, tol=tol
        )
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.fit(self.factors)
        labels = np.array(
            [
                [np.argmax(found.beliefs_[f"{r},{c}"]) for c in range(self.shape[1])]
                for r in range(self.shape[0])
            ]
        )
        energy = self.energy(labels)
        return Segmentation(labels, energy, -found.trace_.objective, bool(found.exact_))

    def _mean_field(self, max_iter: int, tol: float) -> tuple[Array, list[float]]:
        q = np.exp(-self.unary - logsumexp(-self.unary, axis=2, keepdims=True))
        trace = [self._bound(q)]
        for _ in range(max_iter):
            change = loops.mean_field_sweep(q, self.unary, self.coupling)
            trace.append(self._bound(q))
            if change <= tol:
                break
        return q, trace

    def _bound(self, q: Array) -> float:
        """E_q[−E] + H(q), which is at most ln Z."""
        agree = (q[1:] * q[:-1]).sum() + (q[:, 1:] * q[:, :-1]).sum()
        cost = float((q * self.unary).sum()) + self.coupling * (self.n_edges() - float(agree)) + self.offset
        inside = q[q > 0]
        return -cost - float((inside * np.log(inside)).sum())

    def _by_mean_field(self, labels: Array, max_iter: int, tol: float, random_state: Any) -> Segmentation:
        q, trace = self._mean_field(max_iter, tol)
        labels = q.argmax(axis=2)
        return Segmentation(labels, self.energy(labels), np.array(trace), False)

    def _by_graph_cut(self, labels: Array, max_iter: int, tol: float, random_state: Any) -> Segmentation:
        if self.coupling < 0:
            raise DataError(
                "graph cuts need a coupling of at least 0: neighbors that like to differ cannot be cut."
            )
        trace = [self.energy(labels)]
        if self.n_labels <= 2:
            labels = self._expand(np.zeros(self.shape, dtype=np.int64), 1) if self.n_labels == 2 else labels
            return Segmentation(labels, self.energy(labels), np.array([*trace, self.energy(labels)]), True)
        for _ in range(max_iter):
            before = trace[-1]
            for alpha in range(self.n_labels):
                proposed = self._expand(labels, alpha)
                if self.energy(proposed) < trace[-1] - 1e-12:
                    labels = proposed
                    trace.append(self.energy(labels))
            if trace[-1] >= before:
                break
        return Segmentation(labels, trace[-1], np.array(trace), False)

    def _expand(self, labels: Array, alpha: int) -> Array:
        """Return the best labeling in which any sites may change to alpha: one minimum cut."""
        number = np.arange(labels.size).reshape(self.shape)
        keep = np.take_along_axis(self.unary, labels[..., None], axis=2)[..., 0].ravel().copy()
        take = self.unary[..., alpha].ravel().copy()
        pairs = np.concatenate(
            [
                np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1),
                np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1),
            ]
        )
        flat = labels.ravel()
        i, j = pairs[:, 0], pairs[:, 1]
        both = self.coupling * (flat[i] != flat[j])  # neither changes
        second = self.coupling * (flat[i] != alpha)  # j changes
        first = self.coupling * (flat[j] != alpha)  # i changes
        np.add.at(take, i, first - both)
        np.add.at(take, j, -first)
        chosen = cut_labels(keep, take, i, j, second + first - both)
        return np.where(chosen.reshape(self.shape), alpha, labels)


def cut_labels(cost0: Array, cost1: Array, i: Array, j: Array, weight: Array) -> Array:
    """Return the x in {0, 1} of least Σ cost + Σ weight·[xᵢ = 0, xⱼ = 1], by a minimum cut; weights are at least 0."""
    n = len(cost0)
    source, sink = n, n + 1
    gain = cost1 - cost0  # above zero: prefers 0, the source's side
    nodes = np.arange(n)
    tails = np.concatenate([np.full(n, source), nodes, i])
    heads = np.concatenate([nodes, np.full(n, sink), j])
    room = np.concatenate([np.maximum(gain, 0.0), np.maximum(-gain, 0.0), np.maximum(weight, 0.0)])
    m = len(tails)
    order = np.argsort(np.concatenate([tails, heads]), kind="stable")
    where = np.empty(2 * m, dtype=np.int64)
    where[order] = np.arange(2 * m)
    target = np.concatenate([heads, tails])[order]
    back = where[np.concatenate([np.arange(m, 2 * m), np.arange(m)])[order]]
    rooms = np.concatenate([room, np.zeros(m)])[order]
    first = np.concatenate([[0], np.cumsum(np.bincount(np.concatenate([tails, heads]), minlength=n + 2))])
    level, queue = np.empty(n + 2, dtype=np.int64), np.empty(n + 2, dtype=np.int64)
    place, path = np.empty(n + 2, dtype=np.int64), np.empty(n + 3, dtype=np.int64)
    loops.max_flow(first, target, back, rooms, source, sink, level, queue, place, path)
    return level[:n] < 0  # not reached from the source: label 1
