"""Joint probability tables: marginals, conditionals, independence, decisions. Small enough to see whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from gnomon.bayes.decisions import decide, expected_risk
from gnomon.core.errors import DataError, ZeroEvidenceError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.validate import probabilities, weights
from gnomon.distributions.information import mutual_information
from gnomon.distributions.margins import (
    chain_factors,
    conditional,
    margin,
    margins,
    outer_residual,
    slice_residuals,
    unfolding_rank,
)


class JointTable:
    r"""The joint distribution of a few discrete variables.

    .. math:: P(x, h) = P(h)\,P(x \mid h) = P(x)\,P(h \mid x)

    The first axis is the hypothesis or class wherever one is meant; the others are observations.

    Parameters
    ----------
    probabilities : array
        One axis for every variable; entries sum to one.
    axes : sequence of str, optional
        Names of the variables; ``x0, x1, …`` when not given.
    levels : sequence of sequences, optional
        Names of the outcomes of every variable; 0, 1, … when not given.

    Examples
    --------
    >>> table = JointTable.from_counts([[2, 5, 4, 2, 1], [0, 0, 3, 3, 2]], axes=["class", "size"])
    >>> table.posterior()[0].round(4)
    array([1.    , 1.    , 0.5714, 0.4   , 0.3333])
    >>> table.decisions().tolist(), round(table.bayes_error(), 6)
    ([0, 0, 0, 1, 1], 0.272727)
    """

    def __init__(self, probabilities: Any, axes: Sequence[str] | None = None, levels: Any = None) -> None:
        self.P = _checked(probabilities)
        self.axes = list(axes) if axes is not None else [f"x{i}" for i in range(self.P.ndim)]
        if len(self.axes) != self.P.ndim or len(set(self.axes)) != self.P.ndim:
            raise DataError(f"axes must name {self.P.ndim} different variables; got {self.axes}.")
        self.levels = (
            [list(names) for names in levels]
            if levels is not None
            else [list(range(k)) for k in self.P.shape]
        )
        if [len(names) for names in self.levels] != list(self.P.shape):
            raise DataError(
                f"levels must name the outcomes of every axis; the table has shape {self.P.shape}."
            )

    # how a table comes about

    @classmethod
    def from_counts(
        cls, counts: Any, *, pseudo_count: float = 0.0, axes: Any = None, levels: Any = None
    ) -> JointTable:
        """Return the table of relative frequencies; `pseudo_count` is added to every cell."""
        N = np.asarray(counts, dtype=np.float64) + pseudo_count
        if not (N >= 0).all() or not N.sum() > 0:
            raise DataError("counts must not be negative or NaN, and not all zero.")
        return cls(N / N.sum(), axes, levels)

    @classmethod
    def from_data(
        cls, X: Any, *, levels: Any = None, sample_weight: Any = None, pseudo_count: float = 0.0
    ) -> JointTable:
        """Return the empirical table of the columns of X (an array or a DataFrame), one axis a column."""
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        columns = [np.asarray(column) for column in np.asarray(X, dtype=object).T]
        found = (
            [np.unique(column).tolist() for column in columns]
            if levels is None
            else [list(v) for v in levels]
        )
        codes = [
            np.array([values.index(entry) for entry in column])
            for column, values in zip(columns, found, strict=True)
        ]
        counts = np.zeros([len(values) for values in found])
        w = np.ones(len(codes[0])) if sample_weight is None else weights(sample_weight, len(codes[0]))
        np.add.at(counts, tuple(codes), w)
        return cls.from_counts(counts, pseudo_count=pseudo_count, axes=names, levels=found)

    @classmethod
    def from_factors(cls, prior: Any, *conditionals: Any, axes: Any = None) -> JointTable:
        """Return P(h) ∏ P(xᵢ | h) from the prior and tables with one row for every h."""
        P = np.asarray(prior, dtype=np.float64)
        for index, table in enumerate(conditionals):
            factor = probabilities(table, name=f"conditional {index}")
            P = P[..., None] * factor.reshape(factor.shape[0], *[1] * index, factor.shape[1])
        return cls(P, axes)

    # parts of it

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.P, dtype=dtype)

    def _index(self, axis: Any) -> int:
        if isinstance(axis, str):
            if axis not in self.axes:
                raise DataError(f"the table has no variable {axis!r}.{nearest(axis, self.axes)}")
            return self.axes.index(axis)
        return int(axis)

    def _indices(self, axes: Any) -> list[int]:
        named = [axes] if isinstance(axes, str | int | np.integer) else list(axes)
        return [self._index(axis) for axis in named]

    def marginal(self, axes: Any) -> JointTable:
        """Return the table of the given variables, in the given order."""
        kept = self._indices(axes)
        P = margin(self.P, kept)
        return JointTable(P, [self.axes[i] for i in kept], [self.levels[i] for i in kept])

    def conditional(self, target: Any, given: Any, *, undefined: str = "nan") -> Array:
        """Return P(target | given): axes of the target first, then those of what is given.

        Where what is given has probability zero the entries are NaN, or the marginal of the target with
        ``undefined="prior"``.
        """
        a, b = self._indices(target), self._indices(given)
        joint, evidence = conditional(self.P, a, b)
        with np.errstate(invalid="ignore", divide="ignore"):
            result = joint / evidence
        if undefined == "prior":
            prior = self.marginal(a).P.reshape(*joint.shape[: len(a)], *[1] * len(b))
            result = np.where(evidence > 0, result, prior)
        return result

    def prior(self) -> Array:
        """Return P(h), the marginal of the first variable."""
        return self.marginal(0).P

    def evidence(self) -> Array:
        """Return P(x), the marginal of all variables but the first."""
        return self.P.sum(axis=0)

    def likelihood(self) -> Array:
        """Return P(x | h); each h sums to one."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.P / self.P.sum(axis=tuple(range(1, self.P.ndim)), keepdims=True)

    def posterior(self, x: Any = None, *, undefined: str = "nan") -> Array:
        """Return P(h | x) for one outcome `x` of the other variable, or for all.

        The axes of the answer for all are those of the table, hypotheses first; `bayes_rule`, which is asked about
        rows, has a row for each and the hypotheses in columns. An outcome that never happens is an error when asked
        for by itself.
        """
        if x is None:
            return self.conditional(0, list(range(1, self.P.ndim)), undefined=undefined)
        if x not in self.levels[1]:
            raise DataError(f"{self.axes[1]} has no outcome {x!r}; it has {self.levels[1]}.")
        place = self.levels[1].index(x)
        column = self.P[:, place]
        if column.sum() == 0:
            raise ZeroEvidenceError(f"{self.axes[1]} = {x!r} has probability zero; it has no posterior.")
        return column / column.sum()

    def chain(self, order: Any = None) -> list[Array]:
        """Return P(a), P(b | a), P(c | a, b), …: factors whose product is the table, axes in that order."""
        order = list(range(self.P.ndim)) if order is None else self._indices(order)
        return chain_factors(self.P, order)

    # numbers

    def expectation(self, values: Any) -> float:
        """Return E[f] for a table `values` of the shape of this one, or outcomes of the first variable."""
        f = np.asarray(values, dtype=np.float64)
        return float(
            (self.P * (f if f.shape == self.P.shape else f.reshape(-1, *[1] * (self.P.ndim - 1)))).sum()
        )

    def moments(self, values: Any = None) -> tuple[Array, Array]:
        """Return the means and the covariance matrix of the variables.

        `values` gives the numbers behind the outcomes of every variable; their levels when not given.
        """
        numbers = [np.asarray(v, dtype=np.float64) for v in (self.levels if values is None else values)]
        grids = np.meshgrid(*numbers, indexing="ij")
        points = np.stack([grid.ravel() for grid in grids])
        mean = points @ self.P.ravel()
        centered = points - mean[:, None]
        return mean, (centered * self.P.ravel()) @ centered.T

    def mutual_information(self, base: float | None = None) -> float:
        """Return I between the first variable and the others."""
        return float(mutual_information(self.P.reshape(self.P.shape[0], -1), base=base))

    def parameter_count(self, model: str = "full") -> int:
        """Return the free parameters of the full table, of independent variables, or of variables that are
        independent given the first ("conditional").
        """
        sizes = self.P.shape
        counts = {
            "full": int(np.prod(sizes)) - 1,
            "independent": sum(sizes) - len(sizes),
            "conditional": sizes[0] * sum(k - 1 for k in sizes[1:]) + sizes[0] - 1,
        }
        if model not in counts:
            raise ValueError(
                f"model must be one of {', '.join(counts)}; got {model!r}.{nearest(model, counts)}"
            )
        return counts[model]

    # independence

    def factors(self) -> list[Array]:
        """Return the marginal of every variable."""
        return margins(self.P)

    def independence_residual(self) -> float:
        """Return max |P − outer product of the marginals|."""
        return outer_residual(self.P)

    def is_independent(self, tol: float = 1e-9) -> bool:
        """Tell whether the table is the outer product of its marginals, that is of rank one."""
        return self.independence_residual() <= tol

    def rank(self) -> int:
        """Return the largest rank among the unfoldings of the table."""
        return unfolding_rank(self.P)

    def slice_ranks(self, given: Any = 0) -> list[int]:
        """Return the rank of the table of two variables for every outcome of the one that is given."""
        slices = np.moveaxis(self.P, self._index(given), 0)
        return [int(np.linalg.matrix_rank(part.reshape(part.shape[0], -1))) for part in slices]

    def conditionally_independent(self, a: Any, b: Any, given: Any, tol: float = 1e-9) -> bool:
        """Tell whether a ⟂ b | given: every slice is an outer product."""
        return all(residual <= tol for residual in self._slice_residuals(a, b, given))

    def _slice_residuals(self, a: Any, b: Any, given: Any) -> list[float]:
        conditions = self._indices(given)
        joint = margin(self.P, [*conditions, self._index(a), self._index(b)])
        return slice_residuals(joint).tolist()

    def independent_pairs(self, tol: float = 1e-9) -> list[tuple[str, str]]:
        """Return the pairs of variables whose tables are outer products."""
        pairs = combinations(range(self.P.ndim), 2)
        return [(self.axes[i], self.axes[j]) for i, j in pairs if self.marginal([i, j]).is_independent(tol)]

    # decisions

    def decisions(self, rule: str = "map", loss: Any = None) -> Array:
        """Return the decision for every outcome of the other variables.

        Parameters
        ----------
        rule : {"map", "ml", "risk"}, default="map"
            Largest posterior, largest likelihood, or smallest expected loss.
        loss : array of shape (decisions, hypotheses), needed for "risk"
            ``loss[decision, truth]``.
        """
        if rule == "ml":
            return np.nan_to_num(self.likelihood(), nan=-1.0).argmax(axis=0)
        if rule == "map":
            return self.P.argmax(axis=0)
        if rule == "risk" and loss is not None:
            return decide(np.moveaxis(self.posterior(undefined="prior"), 0, -1), loss)
        raise ValueError(f"rule must be 'map', 'ml', or 'risk' with a loss matrix; got {rule!r}.")

    def bayes_error(self) -> float:
        """Return 1 − Σ_x max_h P(x, h): no rule errs less."""
        return float(1.0 - self.P.max(axis=0).sum())

    def total_risk(self, loss: Any, decisions: Any = None) -> float:
        """Return the expected loss of the given decisions, or of the best ones."""
        posterior = np.moveaxis(self.posterior(undefined="prior"), 0, -1)
        risks = expected_risk(posterior, loss)
        chosen = risks.argmin(axis=-1) if decisions is None else np.asarray(decisions)
        taken = np.take_along_axis(risks, chosen[..., None], axis=-1)[..., 0]
        return float((taken * self.evidence()).sum())

    # use

    def sample(self, n: int, random_state: Any = None) -> Array:
        """Draw n rows of outcomes, one column for every variable."""
        cells = generator(random_state).choice(self.P.size, size=n, p=self.P.ravel())
        codes = np.unravel_index(cells, self.P.shape)
        return np.stack(
            [np.asarray(names)[code] for names, code in zip(self.levels, codes, strict=True)], axis=1
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: the first variable down, the others across."""
        pd = import_pandas()
        columns = (
            pd.MultiIndex.from_product(self.levels[1:], names=self.axes[1:]) if self.P.ndim > 1 else ["P"]
        )
        index = pd.Index(self.levels[0], name=self.axes[0])
        return pd.DataFrame(self.P.reshape(self.P.shape[0], -1), index=index, columns=columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw a table of two variables as a heat map; return the Axes."""
        from gnomon.plot import heat_map

        if self.P.ndim != 2:
            raise ValueError("plot shows two variables; take a marginal first.")
        return heat_map(self.P, [str(v) for v in self.levels[0]], [str(v) for v in self.levels[1]], ax=ax)

    def __repr__(self) -> str:
        sizes = " × ".join(f"{name}[{k}]" for name, k in zip(self.axes, self.P.shape, strict=True))
        return f"JointTable({sizes})"


def _checked(table: Any) -> Array:
    P = np.asarray(table, dtype=np.float64)
    if P.ndim == 0:
        raise DataError("a joint table needs at least one axis.")
    probabilities(P.ravel(), name="probabilities")
    return P
