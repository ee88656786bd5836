"""What can be asked of a trained classifier: margins, conditions, paths, fewer support vectors, pictures."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import one_each
from gnomon.kernels.inner import Linear, Polynomial
from gnomon.kernels.monomials import exponents, names
from gnomon.svm.certificates import point_types


class KKTReport(NamedTuple):
    """The conditions of optimality, row by row."""

    alpha: Array
    margins: Array  # y f(x)
    slack: Array
    kinds: Array
    violations: Array  # how far from its condition a row is
    gap: float

    def __str__(self) -> str:
        lines = [f"{'row':>4} {'alpha':>12} {'y f(x)':>12} {'slack':>12}  kind           violation"]
        for i, (a, m, s, kind, v) in enumerate(zip(*self[:5], strict=True)):
            lines.append(f"{i:>4} {a:>12.6g} {m:>12.6g} {s:>12.6g}  {kind:<14} {v:.3g}")
        return "\n".join(
            [*lines, f"largest violation {self.violations.max(initial=0.0):.3g}, gap {self.gap:.3g}"]
        )


class MarginPath(NamedTuple):
    """Machines along a sequence of prices of slack."""

    Cs: Array
    models: tuple[Any, ...]
    margins: Array
    slack_sums: Array
    training_errors: Array
    n_support: Array


class BoundaryPolynomial(NamedTuple):
    """The polynomial whose zeros are the boundary."""

    coef: Array
    powers: Array  # (terms, columns)
    terms: Array  # as text

    def __call__(self, X: Any) -> Array:
        """Return its value at every row."""
        X = np.asarray(X, dtype=float)
        return (X[:, None, :] ** self.powers).prod(axis=2) @ self.coef


class MachineQuestions:
    """Questions to a fitted `SVC`."""

    def _two(self, what: str) -> None:
        if len(self.classes_) != 2 or not hasattr(self, "dual_coef_full_"):  # type: ignore[attr-defined]
            raise DataError(f"{what} is for a machine of two classes.")

    def _signs(self, y: Any) -> Array:
        y = np.asarray(y)
        strange = np.setdiff1d(y, self.classes_)  # type: ignore[attr-defined]
        if len(strange):
            raise DataError(f"y holds {strange.tolist()}, which the machine has not seen.")
        return np.where(y == self.classes_[1], 1.0, -1.0)  # type: ignore[attr-defined]

    def geometric_margins(self, X: Any, y: Any) -> Array:
        """Return y f(x)/‖w‖: the signed distance of every row from the boundary, in the space of the kernel."""
        self._two("geometric_margins")
        decision = self.decision_function(X)  # type: ignore[attr-defined]
        return self._signs(one_each(y, len(decision))) * decision * self.margin_  # type: ignore[attr-defined]

    def kkt_report(self, X: Any, y: Any) -> KKTReport:
        """Return α, margin, slack, kind and violation of every training row; print it to read it."""
        self._two("kkt_report")
        alpha = self.dual_coef_full_  # type: ignore[attr-defined]
        decision = self.decision_function(X)  # type: ignore[attr-defined]
        margins = self._signs(one_each(y, len(decision))) * decision
        if len(margins) != len(alpha):
            raise DataError(f"X must hold the {len(alpha)} rows of the fit; it has {len(margins)}.")
        cost = self._row_costs(y)
        kinds = point_types(alpha, cost)
        over, under = np.maximum(1 - margins, 0), np.maximum(margins - 1, 0)
        wrong = np.where(
            kinds == "outside", over, np.where(kinds == "margin_error", under, np.maximum(over, under))
        )
        if self.slack == "l2":  # type: ignore[attr-defined]
            price = self.C * self.class_weight_[(self._signs(y) > 0).astype(int)]  # type: ignore[attr-defined]
            wrong = np.abs(np.maximum(1 - margins, 0) - alpha / (2 * price))
        return KKTReport(alpha, margins, np.maximum(0.0, 1 - margins), kinds, wrong, float(self.gap_))  # type: ignore[attr-defined]

    def _row_costs(self, y: Any) -> Array:
        factor = self.class_weight_[(self._signs(y) > 0).astype(int)]  # type: ignore[attr-defined]
        hard = self.slack != "l1" or self.C == np.inf  # type: ignore[attr-defined]
        at_bound = self.point_types_ == "margin_error"  # type: ignore[attr-defined]
        cost = np.full(len(factor), np.inf) if hard else self.C_ * factor  # type: ignore[attr-defined]
        return np.where(at_bound, self.dual_coef_full_, np.maximum(cost, self.dual_coef_full_))  # type: ignore[attr-defined]

    def boundary_polynomial(self) -> BoundaryPolynomial:
        """Return the decision as a polynomial of the columns, for linear and polynomial kernels.

        For degree 2 it is the separating conic.
        """
        self._two("boundary_polynomial")
        kernel = self._fitted_kernel()  # type: ignore[attr-defined]
        d = self.n_features_in_  # type: ignore[attr-defined]
        columns = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(d)]))
        support = self.support_vectors_  # type: ignore[attr-defined]
        support = support.toarray() if sparse.issparse(support) else support
        dual = np.ravel(self.dual_coef_.toarray() if sparse.issparse(self.dual_coef_) else self.dual_coef_)  # type: ignore[attr-defined]
        if isinstance(kernel, Linear):
            kernel = Polynomial(1, 1.0, 0.0)
        if not isinstance(kernel, Polynomial) or kernel.is_psd is None:
            raise DataError(
                f"the boundary of {kernel!r} is no polynomial; use a linear or polynomial kernel."
            )
        p, gamma = int(kernel.degree), kernel._gamma(support)
        powers = exponents(d, range(p + 1) if kernel.coef0 else [p])
        weights = dual @ kernel._map(support, None)  # w in the space of the monomials
        ones = kernel._map(np.full((1, d), 1.0), None)[
            0
        ]  # coefficient times γ^{q/2} of every monomial at x = 1
        coef = weights * ones
        if not kernel.coef0:
            powers, coef = np.vstack([np.zeros((1, d), dtype=int), powers]), np.append(0.0, coef)
        coef[0] += float(self.intercept_[0])  # type: ignore[attr-defined]
        assert gamma > 0
        return BoundaryPolynomial(coef, powers, names(powers, columns))

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> MarginPath:
        """Return machines for every C of a sequence, with their margins, slacks, errors and support vectors.

        ‖w‖ does not fall and the total slack does not rise as C grows.
        """
        Cs = np.asarray(Cs, dtype=float)
        if Cs.ndim != 1 or not (Cs > 0).all():
            raise DataError("Cs must be a vector of positive prices of slack.")
        models = []
        for C in Cs:
            model = clone(self)
            model.C = float(C)
            models.append(model.fit(X, y, sample_weight))
        models[0]._two("path")
        return MarginPath(
            Cs,
            tuple(models),
            np.array([m.margin_ for m in models]),
            np.array([m.slack_.sum() for m in models]),
            np.array([int((m.predict(X) != np.asarray(y)).sum()) for m in models]),
            np.array([len(m.support_) for m in models]),
        )

    def reduce(self, n_vectors: int, *, max_iter: int = 100, tol: float = 1e-8) -> Self:
        r"""Return a copy with fewer, synthetic support vectors.

        .. math:: \min_{z,\beta} \lVert w - \textstyle\sum_l\beta_l\phi(z_l)\rVert^2

        One vector at a time, each from the best of the present ones by a fixed point (RBF) or gradients, with all
        coefficients refitted, then all together (Burges, 1996). Other kernels choose among the support vectors.
        `reduction_error_` is ‖w − w′‖², `reduction_error_path_` that after every vector.

        Parameters
        ----------
        n_vectors : int
        max_iter, tol
            Of the search for every vector.
        """
        from gnomon.svm.reduced import reduced_machine

        self._two("reduce")
        return reduced_machine(self, int(n_vectors), max_iter, tol)

    def plot(self, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Any:
        """Draw the regions, the street and the support vectors; see `gnomon.plot.margin`."""
        from gnomon.plot import margin

        return margin(self, X, y, ax=ax, **options)
