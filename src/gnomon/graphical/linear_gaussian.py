"""Linear-Gaussian networks: every node is a linear function of its parents plus normal noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import NotFittedError

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.rows import Chunk
from gnomon.core.settings import check_parameters
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads
from gnomon.graphical import dags
from gnomon.graphical.net import Net, graph_of, listed
from gnomon.graphical.shape import Shape


class Normal(NamedTuple):
    """A multivariate normal distribution over named variables."""

    variables: tuple[str, ...]
    mean: Array
    covariance: Array


class Moments(NamedTuple):
    """Weight, mean and centered scatter of rows; merged without loss of digits."""

    weight: float
    mean: Array
    scatter: Array

    def merge(self, other: Moments) -> Moments:
        """Join two sets of rows."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.weight / weight)
        between = np.outer(gap, gap) * (self.weight * other.weight / weight)
        return Moments(weight, mean, self.scatter + other.scatter + between)


def moments_chunk(chunk: Chunk) -> Moments:
    """Partial moments, in two passes."""
    w = chunk.weight
    weight = float(w.sum())
    X = np.asarray(chunk.X, dtype=np.float64)
    mean = w @ X / weight if weight > 0 else np.zeros(X.shape[1])
    centered = X - mean
    return Moments(weight, mean, (centered * w[:, None]).T @ centered)


class LinearGaussianNetwork(Shape, DensityMixin, OneStep):
    r"""A Bayesian network of continuous variables, linear with normal noise.

    .. math:: x_i = b_i + \sum_{p \in pa(i)} w_{ip} x_p + \varepsilon_i, \qquad \varepsilon_i \sim N(0, v_i)

    The joint distribution is one multivariate normal, so every query is a conditioning. It needs a slope for every
    edge, and an intercept and a variance for every node. `fit` is one least-squares regression per node.

    Parameters
    ----------
    edges : list of pairs (parent, child)
    coefficients : dict, optional
        Slope by edge (parent, child).
    intercepts, variances : dict, optional
        By variable; zeros and ones when not given beside coefficients.
    nodes : list of str
        Variables, in order; needed for those without edges.

    Attributes
    ----------
    variables_ : list of str
    coefficients_, intercepts_, variances_ : dicts
    n_parameters_ : int

    Examples
    --------
    >>> model = LinearGaussianNetwork(
    ...     [("X", "Y"), ("X", "W"), ("Y", "W")],
    ...     coefficients={("X", "Y"): 0.5, ("X", "W"): 1.0, ("Y", "W"): -1.0},
    ...     intercepts={"X": 1.0, "Y": 2.0, "W": 0.0},
    ...     variances={"X": 4.0, "Y": 1.0, "W": 0.25},
    ... )
    >>> model.query("X", {"W": 0.0}).mean.round(4), model.n_parameters_
    (array([2.3333]), 9)
    """

    _reads: ClassVar[Reads] = Reads(scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "edges": [list, tuple],
        "coefficients": [dict, None],
        "intercepts": [dict, None],
        "variances": [dict, None],
        "nodes": [list, tuple],
    }

    def __init__(
        self,
        edges: Sequence[tuple[str, str]] = (),
        coefficients: Mapping[tuple[str, str], float] | None = None,
        intercepts: Mapping[str, float] | None = None,
        variances: Mapping[str, float] | None = None,
        *,
        nodes: Sequence[str] = (),
    ) -> None:
        self.edges = edges
        self.coefficients = coefficients
        self.intercepts = intercepts
        self.variances = variances
        self.nodes = nodes

    # parameters, learned or given

    def _parts(self) -> tuple[list[str], list[tuple[int, ...]], Array, Array, Array]:
        """Return variables, parents, the matrix of slopes (child, parent), intercepts and variances."""
        fitted = "coefficients_" in self.__dict__
        if not fitted and self.coefficients is None and self.intercepts is None and self.variances is None:
            raise NotFittedError(
                "This LinearGaussianNetwork instance is not fitted yet and has no parameters. Call 'fit' with data, "
                "or give coefficients, intercepts and variances."
            )
        if fitted:
            names: list[str] = list(self.variables_)
            slopes, bases, spreads = self.coefficients_, self.intercepts_, self.variances_
        else:
            names = self._names()
            slopes, bases, spreads = self.coefficients or {}, self.intercepts or {}, self.variances or {}
        variables, parents = graph_of(self.edges, names, None, None)
        dags.topological_order(parents, variables)
        index = {name: v for v, name in enumerate(variables)}
        B = np.zeros((len(variables), len(variables)))
        for key, value in slopes.items():
            if len(key) != 2 or key[1] not in index or index.get(key[0]) not in parents[index[key[1]]]:
                raise DataError(f"coefficients has an entry for {key!r}, which is no edge.")
            B[index[key[1]], index[key[0]]] = float(value)
        b = np.array([float(bases.get(name, 0.0)) for name in variables])
        v = np.array([float(spreads.get(name, 1.0)) for name in variables])
        if not (np.isfinite(v).all() and (v >= 0).all()):
            raise DataError(
                f"variances must be at least 0; that of {variables[int(np.argmin(v))]!r} is {v.min()}."
            )
        return variables, parents, B, b, v

    def _names(self) -> list[str]:
        extra = [*(self.intercepts or {}), *(self.variances or {})]
        return list(dict.fromkeys([*self.nodes, *(name for edge in self.edges for name in edge), *extra]))

    def _graph(self) -> Net:
        names = list(self.__dict__.get("variables_", self._names()))
        variables, parents = graph_of(self.edges, names, None, None)
        dags.topological_order(parents, variables)
        return Net(variables, [(0, 1)] * len(variables), parents, ())

    @property
    def n_parameters_(self) -> int:
        """A slope for every edge, an intercept and a variance for every node."""
        variables, parents, *_ = self._parts()
        return sum(len(own) + 2 for own in parents)

    # learning

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if reset:
            check_parameters(self)
        return super()._read(X, y, sample_weight, reset=reset, **options)

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        labels = self._labels(rows)
        variables, parents = graph_of(self.edges, [*self.nodes, *labels], None, None)
        dags.topological_order(parents, variables)
        for name in variables:
            if name not in labels:
                raise DataError(f"edges name {name!r}, which is no column of X.{nearest(name, labels)}")
        found = total(moments_chunk, rows)
        if not found.weight > 0:
            raise DataError("sample_weight must not be zero for all rows.")
        place = [labels.index(name) for name in variables]
        S = found.scatter[np.ix_(place, place)] / found.weight
        mean = found.mean[place]
        slopes, bases, spreads, log_likelihood = {}, {}, {}, 0.0
        for v, own in enumerate(parents):
            w = _regress(S, v, list(own))
            variance = max(float(S[v, v] - S[v, list(own)] @ w), 0.0)
            for p, value in zip(own, w, strict=True):
                slopes[variables[p], variables[v]] = float(value)
            bases[variables[v]] = float(mean[v] - mean[list(own)] @ w)
            spreads[variables[v]] = variance
            scale = max(variance, 1e-300)
            log_likelihood -= 0.5 * found.weight * (np.log(2 * np.pi * scale) + 1.0)
        attributes = {
            "variables_": variables,
            "columns_": labels,
            "coefficients_": slopes,
            "intercepts_": bases,
            "variances_": spreads,
            "log_likelihood_": float(log_likelihood),
        }
        return attributes, float(log_likelihood)

    def _labels(self, rows: Any) -> list[str]:
        declared = self._names()
        if rows.feature_names is None and declared and len(declared) == rows.n_features:
            return declared
        return rows.names()

    # answers

    def joint(self) -> Normal:
        """Return the joint normal distribution: mean and covariance (I − B)⁻¹ V (I − B)⁻ᵀ, node by node."""
        variables, parents, B, b, v = self._parts()
        n = len(variables)
        mean, covariance = np.zeros(n), np.zeros((n, n))
        done: list[int] = []
        for i in dags.topological_order(parents, variables):
            mean[i] = b[i] + B[i] @ mean
            covariance[i, done] = covariance[done, i] = covariance[np.ix_(done, range(n))] @ B[i]
            covariance[i, i] = v[i] + B[i] @ covariance @ B[i]
            done.append(i)
        return Normal(tuple(variables), mean, covariance)

    def query(self, variables: Any, evidence: Mapping[str, float] | None = None) -> Normal:
        """Return the distribution of some variables given values of others."""
        joint = self.joint()
        names = listed(variables)
        seen = dict(evidence or {})
        for name in [*names, *seen]:
            if name not in joint.variables:
                raise DataError(f"the network has no variable {name!r}.{nearest(name, joint.variables)}")
        both = [name for name in names if name in seen]
        if both:
            raise DataError(f"{both[0]!r} is asked for and observed; take it out of one of them.")
        a = [joint.variables.index(name) for name in names]
        if not seen:
            return Normal(tuple(names), joint.mean[a], joint.covariance[np.ix_(a, a)])
        c = [joint.variables.index(name) for name in seen]
        gap = np.array([float(value) for value in seen.values()]) - joint.mean[c]
        within, across = joint.covariance[np.ix_(c, c)], joint.covariance[np.ix_(a, c)]
        K = np.linalg.lstsq(within, across.T, rcond=None)[0].T
        if not np.allclose(
            within @ np.linalg.lstsq(within, gap, rcond=None)[0], gap, atol=1e-8 * (1 + np.abs(gap).max())
        ):
            raise DegenerateError("the evidence contradicts a variable that is an exact function of others.")
        return Normal(tuple(names), joint.mean[a] + K @ gap, joint.covariance[np.ix_(a, a)] - K @ across.T)

    def sample(self, n: int = 1, *, random_state: Any = None) -> Any:
        """Draw n rows, parents first; returns a DataFrame."""
        pd = import_pandas()
        variables, parents, B, b, v = self._parts()
        noise = generator(random_state).standard_normal((n, len(variables))) * np.sqrt(v)
        X = np.zeros((n, len(variables)))
        for i in dags.topological_order(parents, variables):
            X[:, i] = b[i] + X @ B[i] + noise[:, i]
        return pd.DataFrame(X, columns=variables)

    def score_samples(self, X: Any) -> Array:
        """Return ln p of every row."""
        variables, _, B, b, v = self._parts()
        rows = self._rows(X) if "coefficients_" in self.__dict__ else self._read(X, reset=False)
        labels = (
            self.columns_
            if "columns_" in self.__dict__
            else (rows.names() if rows.feature_names is not None else variables)
        )
        place = np.array([list(labels).index(name) for name in variables])
        if not (v > 0).all():
            name = variables[int(np.argmin(v))]
            raise DegenerateError(
                f"the variance of {name!r} is zero, so its rows have no density: the column is constant, too small to "
                "square, or an exact function of its parents. Leave it out, or scale it up."
            )
        return per_row(normal_logs, rows, place, B, b, v)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of ln p over the rows."""
        return float(self.score_samples(X).mean())

    def __sklearn_is_fitted__(self) -> bool:
        given = (self.coefficients, self.intercepts, self.variances)
        return "coefficients_" in self.__dict__ or any(part is not None for part in given)


def _regress(S: Array, v: int, own: list[int]) -> Array:
    """Slopes of the regression of v on others from a covariance; the smallest ones where they are not unique."""
    if not own:
        return np.zeros(0)
    scale = np.sqrt(np.maximum(np.diag(S)[own], 1e-300))
    A = S[np.ix_(own, own)] / np.outer(scale, scale)
    return np.linalg.lstsq(A, S[own, v] / scale, rcond=1e-12)[0] / scale


def normal_logs(chunk: Chunk, place: Array, B: Array, b: Array, v: Array) -> Array:
    """ln p of the rows of a chunk."""
    X = np.asarray(chunk.X, dtype=np.float64)[:, place]
    residual = X - b - X @ B.T
    return -0.5 * (residual**2 / v + np.log(2 * np.pi * v)).sum(axis=1)
