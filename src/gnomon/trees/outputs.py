"""Several columns of classes at once: one tree, whose leaves hold the class shares of every column.

Gini's index of a column of classes is the summed variance of its indicators, and its entropy a sum over their means;
so a tree for several columns is a regression tree on all indicators. Their scale makes its loss a mean of columns.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import compute_class_weight

from gnomon.core.errors import DataError
from gnomon.core.validate import Reads, encode
from gnomon.trees.categories import READS, ReadsCategories
from gnomon.trees.nodes import Tree
from gnomon.trees.problems import Problem, number_problem

Array = np.ndarray


def _factors(rule: Any, classes: Array, column: Array, weight: Array) -> Array:
    """Return the weights of the classes of one column; "balanced" counts by weight."""
    if isinstance(rule, str):
        share = np.bincount(column, weights=weight, minlength=len(classes))
        present = share > 0
        factor: Array = np.where(present, weight.sum() / (present.sum() * np.where(present, share, 1.0)), 0.0)
        return factor
    found = np.unique(column)
    factor = np.ones(len(classes))
    factor[found] = compute_class_weight(rule, classes=classes[found], y=classes[column])
    return factor


class Outputs(NamedTuple):
    """The classes of every column of a target."""

    classes: tuple[Array, ...]

    def codes(self, indicators: Array) -> Array:
        """Return the class codes of every column from the indicators, (n, outputs)."""
        ends = np.cumsum([len(classes) for classes in self.classes])
        return np.stack([part.argmax(axis=1) for part in np.split(indicators, ends[:-1], axis=1)], axis=1)

    def problem(self, criterion: str, indicators: Array, weight: Array, reps: Array) -> Problem:
        """Return the problem of telling the classes of all columns."""
        size = indicators.shape[1] / len(self.classes)  # losses of numbers are means over all indicators
        if criterion == "gini":
            return number_problem("squared_error", indicators * np.sqrt(size), weight, reps)
        if criterion in ("entropy", "log_loss"):
            return number_problem("entropies", indicators * size, weight, reps)
        raise DataError(
            f"criterion={criterion!r} takes one column of classes; use 'gini' or 'entropy' for several."
        )

    def shares(self, tree: Tree) -> Tree:
        """Return a grown tree with class shares in its nodes, (nodes, outputs, classes)."""
        widest = max(map(len, self.classes))
        value = np.zeros((tree.node_count, len(self.classes), widest))
        ends = np.cumsum([len(classes) for classes in self.classes])
        for o, part in enumerate(np.split(np.maximum(tree.value[:, :, 0], 0.0), ends[:-1], axis=1)):
            value[:, o, : part.shape[1]] = part / part.sum(axis=1, keepdims=True)
        return tree._replace(value=value)

    def weights(self, class_weight: Any, codes: Array, weight: Array) -> Array:
        """Return the weights of rows times those of their classes, column by column."""
        if class_weight is None:
            return weight
        rules = class_weight if isinstance(class_weight, list) else [class_weight] * len(self.classes)
        if len(rules) != len(self.classes):
            raise DataError(
                f"class_weight has {len(rules)} entries for {len(self.classes)} outputs; give one each."
            )
        found = weight
        for rule, classes, column in zip(rules, self.classes, codes.T, strict=True):
            found = found * _factors(rule, classes, column, weight)[column]
        return found

    def split(self, table: Array) -> list[Array]:
        """Return the class shares of every column from lines of `shares`."""
        width = table.shape[1] // len(self.classes)
        return [table[:, o * width : o * width + len(c)] for o, c in enumerate(self.classes)]

    def labels(self, shares: list[Array]) -> Array:
        """Return the class of largest share of every column, (n, outputs)."""
        best = [c[s.argmax(axis=1)] for c, s in zip(self.classes, shares, strict=True)]
        return np.stack(best, axis=1)


def several(y: Any) -> tuple[Outputs, Array] | None:
    """Return the classes and indicators of a target of several columns; None for a single one."""
    target = np.asarray(y)
    if target.ndim != 2 or target.shape[1] < 2:
        return None
    found = [encode(column) for column in target.T]
    outputs = Outputs(tuple(classes for classes, _ in found))
    return outputs, np.hstack([np.eye(len(classes))[codes] for classes, codes in found])


class ReadsOutputs(ReadsCategories):
    """A classifier that takes several columns of classes; they are read as indicators."""

    _reads: ClassVar[Reads] = READS._replace(y="class")

    def _read(self, X: Any, y: Any = None, *others: Any, **options: Any) -> Any:
        found = several(y)
        if found is None:
            return super()._read(X, y, *others, **options)
        outputs, indicators = found
        rows = super()._read(X, indicators, *others, reads=READS._replace(y="numbers"), **options)
        rows.outputs = outputs
        return rows


def outputs_of(model: Any) -> Outputs | None:
    """Return the classes of a fitted model of several outputs; None for one output, and before a fit."""
    classes = getattr(model, "classes_", None)
    return Outputs(tuple(classes)) if isinstance(classes, list) else None
