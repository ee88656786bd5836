"""More than two classes by machines of two: one a pair of classes, or one a class."""

from __future__ import annotations

from itertools import accumulate, combinations
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import Reads, check_fitted
from gnomon.svm.certificates import Machine, point_types
from gnomon.svm.machine import KernelMachine, MachineState


class PairwiseClassifier(ClassifierMixin, KernelMachine):
    """A classifier that is one machine a pair of classes, or one a class."""

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    multi_class: Any = "ovo"
    probability: bool
    temperature_: float
    classes_: Array

    def _check_data(self, data: Any) -> None:
        count = len(data.classes)
        if count < 2:
            raise DataError(
                f"The number of classes has to be greater than one; got {count} class. Give rows of at least two."
            )
        heavy = np.bincount(data.y, data.weight * self._class_factor(data)[data.y], minlength=count)
        names = data.classes.tolist()
        if (heavy > 0).sum() == 1:
            raise DataError(
                "Invalid input - all samples with positive weights belong to the same class, "
                f"{names[int(np.argmax(heavy))]!r}: the others have zero weight (sample_weight times "
                "class_weight). Every class needs a row that counts."
            )
        if not (heavy > 0).all():
            raise DataError(
                f"Invalid input - all samples of class {names[int(np.argmin(heavy))]!r} have zero weight "
                "(sample_weight times class_weight); every class needs a row that counts."
            )

    def _class_factor(self, data: Any) -> Array:
        """Return the factor of C of every class."""
        setting, count = getattr(self, "class_weight", None), len(data.classes)
        if setting is None:
            return np.ones(count)
        if isinstance(setting, str):
            mass = np.bincount(data.y, data.weight, minlength=count)
            return mass.sum() / (count * np.where(mass > 0, mass, np.inf))
        unknown = [key for key in setting if key not in data.classes.tolist()]
        if unknown:
            raise ValueError(
                f"The classes, {unknown}, are not in class_weight's data: y has {data.classes.tolist()}."
            )
        return np.array([float(setting.get(one, 1.0)) for one in data.classes.tolist()])

    def _tasks(self, codes: Array, count: int) -> list[tuple[Array, Array]]:
        """Return the rows of every machine and their signs; +1 is the first class of a pair, or the class itself.

        Of two classes +1 is the second, so that a positive decision means it.
        """
        if count == 2:
            return [(np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0))]
        if self.multi_class == "ovr":
            return [(np.arange(len(codes)), np.where(codes == k, 1.0, -1.0)) for k in range(count)]
        tasks, member = [], [codes == k for k in range(count)]
        for a, b in combinations(range(count), 2):
            rows = (member[a] | member[b]).nonzero()[0]
            tasks.append((rows, np.where(member[a][rows], 1.0, -1.0)))
        return tasks

    # prediction

    def _machine_coefficients(self) -> Array:
        """Return (support vectors, machines): the coefficients of every machine, from scikit-learn's layout."""
        columns = self._coefficients()
        dual, count = columns.T, len(self.classes_)
        if count == 2 or self.multi_class != "ovo":
            return columns
        ends = list(accumulate(self.n_support_.tolist(), initial=0))
        found = np.zeros((dual.shape[1], count * (count - 1) // 2))
        for p, (a, b) in enumerate(combinations(range(count), 2)):
            found[ends[a] : ends[a + 1], p] = dual[b - 1, ends[a] : ends[a + 1]]
            found[ends[b] : ends[b + 1], p] = dual[a, ends[b] : ends[b + 1]]
        return found

    def _decisions(self, X: Any) -> Array:
        """Return the decision of every machine."""
        return self._expand(X, self._machine_coefficients()) + self.intercept_

    def decision_function(self, X: Any) -> Array:
        """Return decisions: signed and in units of the margin for two classes, one column a class or pair for more.

        With ``decision_function_shape="ovr"`` the machines of pairs are summed up for each class: its votes, plus
        its confidences squeezed below half a vote.
        """
        found = self._decisions(X)
        if len(self.classes_) == 2:
            return found[:, 0]
        if self.multi_class == "ovo" and self.decision_function_shape == "ovr":
            return votes_and_confidence(found, len(self.classes_))
        return found

    def predict(self, X: Any) -> Array:
        """Return the class of every row; among equal votes the first class, or with `break_ties` the surest."""
        check_fitted(self)
        count = len(self.classes_)
        if getattr(self, "break_ties", False) and self.decision_function_shape == "ovo" and count > 2:
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        found = self._decisions(X)
        if count == 2:
            return self.classes_[(found[:, 0] > 0).astype(int)]
        if self.multi_class != "ovo":
            return self.classes_[found.argmax(axis=1)]
        if getattr(self, "break_ties", False) or getattr(self, "probability", False):
            return self.classes_[votes_and_confidence(found, count).argmax(axis=1)]
        return self.classes_[votes(found, count).argmax(axis=1)]

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class: p ∝ exp(`temperature_` · decision).

        The temperature was fitted to leave-one-out decisions, and the likeliest class is the predicted one.
        """
        check_fitted(self)
        if not hasattr(self, "temperature_"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit again with probability=True."
            )
        found = self._decisions(X)
        if len(self.classes_) == 2:
            found = np.column_stack([np.zeros(len(found)), found[:, 0]])
        elif self.multi_class == "ovo":
            found = votes_and_confidence(found, len(self.classes_))
        z = self.temperature_ * (found - found.max(axis=1, keepdims=True))
        p = np.exp(z)
        return p / p.sum(axis=1, keepdims=True)

    @available_if(lambda self: self.probability)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _calibrated(self, state: MachineState, data: Any, machines: list[Machine]) -> dict[str, Any]:
        """Return what `predict_proba` needs, where it is asked for."""
        if not self.probability:
            return {}
        from gnomon.svm.probabilities import temperature

        return {"temperature_": temperature(self, state, data, machines)}

    def _described(self, state: MachineState, data: Any, machines: list[Machine]) -> dict[str, Any]:
        """Return support vectors and coefficients in scikit-learn's layout, and certificates."""
        n, count = data.n_rows, len(data.classes)
        full = np.zeros((n, len(machines)))
        for m, machine in enumerate(machines):
            full[state.kept[machine.rows], m] = machine.beta
        used = np.flatnonzero(full.any(axis=1))
        order = used[np.argsort(data.y[used], kind="stable")]
        sizes = np.bincount(data.y[order], minlength=count).astype(np.int32)
        dual = full[order].T
        if count > 2 and self.multi_class == "ovo":
            dual = pairs_layout(full, order, data.y, count)
        found: dict[str, Any] = {
            "support_": order.astype(np.int32),
            "support_vectors_": self._support(data, order),
            "n_support_": sizes,
            "dual_coef_": sparse.csr_array(dual) if data.sparse else np.ascontiguousarray(dual),
            "intercept_": np.array([machine.intercept for machine in machines]),
            "support_fraction_": len(used) / n,
            "class_weight_": self._class_factor(data),
        }
        certificates = [machine.certificate for machine in machines]
        for name in ("primal_", "dual_", "gap_", "kkt_violation_", "margin_"):
            values = [one[name] for one in certificates]
            found[name] = values[0] if count == 2 else np.array(values)
        if count == 2:
            found |= self._of_two(state, data, machines[0])
        return found

    def _of_two(self, state: MachineState, data: Any, machine: Machine) -> dict[str, Any]:
        alpha, slack = np.zeros(data.n_rows), np.zeros(data.n_rows)
        at = state.kept[machine.rows]
        alpha[at] = np.abs(machine.beta)
        slack[at] = machine.slack
        kinds = np.full(data.n_rows, "outside", dtype="<U12")
        kinds[at] = point_types(np.abs(machine.beta), machine.cost)
        return {
            "dual_coef_full_": alpha,
            "slack_": slack,
            "point_types_": kinds,
            "intercept_interval_": machine.interval,
        }

    def _linear_coef(self) -> Any:
        if len(self.classes_) == 2 or self.multi_class != "ovo":
            return super()._linear_coef()
        found = self._machine_coefficients().T
        if sparse.issparse(self.support_vectors_):
            return sparse.csr_array(found) @ self.support_vectors_
        return self._planes(found.T).T


def pairs_layout(full: Array, order: Array, codes: Array, count: int) -> Array:
    """Return the (classes − 1, support vectors) layout in which the machines of pairs share rows."""
    dual = np.zeros((count - 1, len(order)))
    labels = codes[order]
    for p, (a, b) in enumerate(combinations(range(count), 2)):
        column = full[order, p]
        dual[b - 1, labels == a] = column[labels == a]
        dual[a, labels == b] = column[labels == b]
    return dual


def votes(found: Array, count: int) -> Array:
    """Return the votes that each class gets from the machines of pairs."""
    total = np.zeros((len(found), count))
    for p, (a, b) in enumerate(combinations(range(count), 2)):
        wins = found[:, p] > 0
        total[:, a] += wins
        total[:, b] += ~wins
    return total


def votes_and_confidence(found: Array, count: int) -> Array:
    """Return votes plus the summed confidences, squeezed into a third of a vote.

    A decision of exactly zero is a vote for the first class of the pair here and for the second in `votes`, as in
    scikit-learn.
    """
    sums = np.zeros((len(found), count))
    for p, (a, b) in enumerate(combinations(range(count), 2)):
        sums[:, a] += found[:, p]
        sums[:, b] -= found[:, p]
    return votes(np.where(found == 0.0, 1.0, found), count) + sums / (3.0 * (np.abs(sums) + 1.0))
