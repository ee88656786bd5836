"""Certificates for constrained problems: Lagrangians, optimality conditions, dual bounds, and checks of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog, minimize, nnls

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.core.linalg import Array

Function = Callable[[Array], float]


class Residuals(NamedTuple):
    """How far a point and its multipliers are from the conditions of Karush, Kuhn and Tucker."""

    stationarity: float  # largest |∂L/∂x_j|
    primal: float  # largest violation of a constraint
    dual: float  # largest violation of μ ≥ 0
    slackness: float  # largest |μ_i g_i(x)|

    @property
    def largest(self) -> float:
        """The largest of the four."""
        return max(self)


class Multipliers(NamedTuple):
    """Multipliers that make the gradient of the Lagrangian as small as possible."""

    lam: Array
    mu: Array
    residual: float  # norm of what is left of the gradient


class DualOptimum(NamedTuple):
    """The best lower bound that multipliers give."""

    value: float
    lam: Array
    mu: Array


class Certificate(NamedTuple):
    """Whether a point is proved optimal, and what stands in the way if not."""

    optimal: bool
    gap: float  # f(x) − θ(λ, μ): how far from optimal the point can be at most
    reasons: list[str]


class ConstrainedProblem:
    r"""Minimize f(x) subject to h(x) = 0 and g(x) ≤ 0, and know when it is done.

    .. math::
        L(x,\lambda,\mu) = f(x) + \lambda\cdot h(x) + \mu\cdot g(x), \qquad
        \theta(\lambda,\mu) = \min_x L(x,\lambda,\mu) \le f(x^*)

    The bound :math:`\theta` holds for every :math:`\mu \ge 0` (weak duality); it is reached when f and g are convex,
    h is affine and some point satisfies g(x) < 0 (Slater). Other problems may have a gap, or none by luck.

    Parameters
    ----------
    objective : callable
        f, from a vector to a number.
    equalities, inequalities : sequences of callables
        The functions h and g.
    gradient : callable, optional
        Gradient of f; differences are taken when it is not given, and for the constraints.
    domain : array of shape (k, d), optional
        The only points allowed: then everything is found by looking at all of them.
    argmin : callable, optional
        ``argmin(lam, mu)`` returns a minimizer of the Lagrangian, where one is known in closed form.
    start : array of shape (d,), optional
        Where the solver starts that minimizes the Lagrangian otherwise; zero by default needs `n_variables`.
    n_variables : int, optional
        d, when neither domain nor start tell it.

    Examples
    --------
    >>> problem = ConstrainedProblem(lambda x: x[0] ** 2, inequalities=[lambda x: 1 - x[0]], n_variables=1)
    >>> problem.kkt_residuals([1.0], mu=[2.0]).largest < 1e-6
    True
    >>> round(problem.dual_function(mu=[1.0]), 6), round(problem.dual_optimum().value, 4)
    (0.75, 1.0)
    >>> problem.certify([1.0], mu=[2.0]).optimal
    True
    """

    def __init__(
        self,
        objective: Function,
        *,
        equalities: Sequence[Function] = (),
        inequalities: Sequence[Function] = (),
        gradient: Callable[[Array], Any] | None = None,
        domain: Any = None,
        argmin: Callable[[Array, Array], Any] | None = None,
        start: Any = None,
        n_variables: int | None = None,
    ) -> None:
        self.objective = objective
        self.equalities, self.inequalities = tuple(equalities), tuple(inequalities)
        self.gradient, self.argmin = gradient, argmin
        self.domain = None if domain is None else np.asarray(domain, dtype=float)
        if self.domain is not None and self.domain.ndim == 1:
            self.domain = self.domain[:, None]
        if start is not None:
            self.start = np.atleast_1d(np.asarray(start, dtype=float))
        elif self.domain is not None:
            self.start = self.domain[0]
        elif n_variables is not None:
            self.start = np.zeros(n_variables)
        else:
            raise DataError(
                "give n_variables, a start or a finite domain: the number of variables is not known."
            )

    def constraints(self, x: Any) -> tuple[Array, Array]:
        """Return h(x) and g(x)."""
        x = self._point(x)
        return np.array([float(h(x)) for h in self.equalities]), np.array(
            [float(g(x)) for g in self.inequalities]
        )

    def violation(self, x: Any) -> float:
        """Return the largest violation of a constraint; 0 at a feasible point."""
        h, g = self.constraints(x)
        return float(max(np.abs(h).max(initial=0.0), g.max(initial=0.0), 0.0))

    def lagrangian(self, x: Any, lam: Any = None, mu: Any = None) -> float:
        """Return L(x, λ, μ)."""
        lam, mu = self._multipliers(lam, mu)
        h, g = self.constraints(x)
        return float(self.objective(self._point(x))) + float(lam @ h) + float(mu @ g)

    def kkt_residuals(self, x: Any, lam: Any = None, mu: Any = None) -> Residuals:
        """Return how far the point and the multipliers are from the four conditions."""
        x = self._point(x)
        lam, mu = self._multipliers(lam, mu)
        _, g = self.constraints(x)
        slope = self._gradient(x) + self._jacobian(self.equalities, x).T @ lam
        slope = slope + self._jacobian(self.inequalities, x).T @ mu
        return Residuals(
            float(np.abs(slope).max()),
            self.violation(x),
            float(np.maximum(-mu, 0.0).max(initial=0.0)),
            float(np.abs(mu * g).max(initial=0.0)),
        )

    def active(self, x: Any, tol: float = 1e-8) -> Array:
        """Return which inequalities hold with equality."""
        return np.flatnonzero(np.abs(self.constraints(x)[1]) <= tol)

    def is_regular(self, x: Any, tol: float = 1e-8) -> bool:
        """Tell whether the gradients of the active constraints are independent, so that multipliers exist."""
        x = self._point(x)
        normals = self._normals(x, tol)
        return not len(normals) or int(np.linalg.matrix_rank(normals, tol=1e-6)) == len(normals)

    def _normals(self, x: Array, tol: float) -> Array:
        chosen = [self.inequalities[i] for i in self.active(x, tol)]
        return np.vstack([self._jacobian(self.equalities, x), self._jacobian(chosen, x)])

    def multipliers(self, x: Any, tol: float = 1e-8) -> Multipliers:
        """Return the multipliers that fit best at a feasible point: least squares with μ ≥ 0 on active constraints."""
        x = self._feasible(x, tol)
        A, active = self._normals(x, tol).T, self.active(x, tol)
        p = len(self.equalities)
        mu = np.zeros(len(self.inequalities))
        if not A.shape[1]:
            return Multipliers(np.zeros(0), mu, float(np.linalg.norm(self._gradient(x))))
        both = np.hstack(
            [A[:, :p], -A[:, :p], A[:, p:]]
        )  # a free number is a difference of two that are not negative
        found, residual = nnls(both, -self._gradient(x))
        mu[active] = found[2 * p :]
        return Multipliers(found[:p] - found[p : 2 * p], mu, float(residual))

    def dual_function(self, lam: Any = None, mu: Any = None) -> float:
        """Return θ(λ, μ), the smallest value of the Lagrangian; −∞ when it has none."""
        lam, mu = self._multipliers(lam, mu)
        if (mu < 0).any():
            raise DataError(f"mu must not be negative; got {mu.tolist()}.")
        if self.domain is not None:
            return min(self.lagrangian(x, lam, mu) for x in self.domain)
        if self.argmin is not None:
            return self.lagrangian(self.argmin(lam, mu), lam, mu)
        return self._solved(lam, mu)[0]

    def _solved(self, lam: Array, mu: Array) -> tuple[float, Array]:
        def value(x: Array) -> float:
            return self.lagrangian(x, lam, mu)

        x = self.start
        with np.errstate(all="ignore"):  # where there is no minimum, numbers run away
            for _ in range(MOST_RESTARTS):
                found = minimize(value, x, method="BFGS", options={"gtol": 1e-9})
                if not np.isfinite(found.fun) or found.fun < -1e12 or np.abs(found.x).max() > 1e9:
                    return -np.inf, found.x
                down = -slope(value, found.x)
                steep = float(np.linalg.norm(down))
                if steep <= 1e-6 + 1e-9 * abs(found.fun):
                    break
                ahead = [found.x + step * down / steep for step in FAR_STEPS]  # the solver gave up on a slope
                further = [value(point) for point in ahead]
                best = int(np.nanargmin(further))
                if best == len(ahead) - 1 and further[best] < found.fun:
                    return -np.inf, found.x
                if further[best] >= found.fun:
                    break
                x = ahead[best]
        return float(found.fun), found.x

    def dual_optimum(self) -> DualOptimum:
        """Return the multipliers of the largest θ: by a linear program over a finite domain, else by ascent."""
        p = len(self.equalities)
        if self.domain is not None:
            z, value = self._dual_program()
            return DualOptimum(value, z[:p], z[p:])
        if (found := self._from_primal()) is not None:
            return found
        bounds = [(None, None)] * p + [(0.0, None)] * len(self.inequalities)
        best = minimize(
            self._descent, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds, options=_FINE
        )
        if not np.isfinite(best.fun) or best.fun >= UNBOUNDED:  # no bound at zero: look around without slopes
            best = minimize(
                lambda z: self._descent(_folded(z, p))[0], np.full(len(bounds), 0.5), method="Nelder-Mead"
            )
            best = minimize(
                self._descent, _folded(best.x, p), jac=True, method="L-BFGS-B", bounds=bounds, options=_FINE
            )
        return DualOptimum(-float(best.fun), best.x[:p], best.x[p:])

    def _from_primal(self) -> DualOptimum | None:
        """Return the multipliers at the best point found, if they leave no gap: then no others do better."""
        value, x = self.primal_optimum()
        if not np.isfinite(value) or self.violation(x) > 1e-6:
            return None
        lam, mu, _ = self.multipliers(x, tol=1e-6)
        bound = -self._descent(np.concatenate([lam, mu]))[0]
        return DualOptimum(bound, lam, mu) if abs(value - bound) <= 1e-8 * (1 + abs(value)) else None

    def _descent(self, z: Array) -> tuple[float, Array]:
        """Return −θ and its slope, which are the constraints at the minimizer of the Lagrangian."""
        p = len(self.equalities)
        if self.argmin is not None:
            x = self._point(self.argmin(z[:p], z[p:]))
            value = self.lagrangian(x, z[:p], z[p:])
        else:
            value, x = self._solved(z[:p], z[p:])
        if not np.isfinite(value):
            return UNBOUNDED, np.zeros(len(z))
        return -value, -np.concatenate(self.constraints(x))

    def _dual_program(self) -> tuple[Array, float]:
        rows = np.array([np.concatenate(self.constraints(x)) for x in self.domain])
        values = np.array([float(self.objective(x)) for x in self.domain])
        p, q = len(self.equalities), len(self.inequalities)
        found = linprog(
            np.append(np.zeros(p + q), -1.0),
            A_ub=np.column_stack([-rows, np.ones(len(rows))]),
            b_ub=values,
            bounds=[(None, None)] * p + [(0.0, None)] * q + [(None, None)],
        )
        if found.status != 0:
            raise InfeasibleError(
                "the dual has no optimum: no point of the domain satisfies the constraints."
            )
        return found.x[:-1], float(found.x[-1])

    def primal_optimum(self) -> tuple[float, Array]:
        """Return the smallest objective and its point: over the finite domain, or by sequential quadratic programs."""
        if self.domain is not None:
            allowed = [x for x in self.domain if self.violation(x) <= 1e-9]
            if not allowed:
                raise InfeasibleError("no point of the domain satisfies the constraints.")
            values = [float(self.objective(x)) for x in allowed]
            return min(values), allowed[int(np.argmin(values))]
        rules = [{"type": "eq", "fun": h} for h in self.equalities]
        rules += [{"type": "ineq", "fun": lambda x, g=g: -g(x)} for g in self.inequalities]
        found = minimize(
            self.objective, self.start, constraints=rules, method="SLSQP", options={"ftol": 1e-14}
        )
        return float(found.fun), found.x

    def duality_gap(self, x: Any, lam: Any = None, mu: Any = None) -> float:
        """Return f(x) − θ(λ, μ) of a feasible point: never negative, and 0 proves it optimal."""
        x = self._feasible(x, 1e-6)
        return float(self.objective(x)) - self.dual_function(lam, mu)

    def certify(self, x: Any, lam: Any = None, mu: Any = None, *, tol: float = 1e-6) -> Certificate:
        """Say whether the point is optimal: feasible, μ ≥ 0, slack where μ > 0, and a minimizer of the Lagrangian."""
        lam, mu = self._multipliers(lam, mu)
        x, reasons = self._point(x), []
        _, g = self.constraints(x)
        if self.violation(x) > tol:
            reasons.append(f"a constraint is violated by {self.violation(x):.3g}")
        if (mu < 0).any():
            reasons.append(f"mu has a negative entry, {mu.min():.3g}")
            return Certificate(False, np.inf, reasons)
        if np.abs(mu * g).max(initial=0.0) > tol:
            reasons.append("a multiplier is positive where its constraint is not active")
        theta = self.dual_function(lam, mu)
        if self.lagrangian(x, lam, mu) - theta > tol * (1 + abs(theta)):
            reasons.append("the point does not minimize the Lagrangian")
        return Certificate(not reasons, float(self.objective(x)) - theta, reasons)

    def check_convexity(self, points: Any, tol: float = 1e-9) -> bool:
        """Tell whether midpoints of all pairs of points lie below the chords of f and g, and on those of h."""
        points = np.asarray(points, dtype=float)
        points = points[:, None] if points.ndim == 1 else points
        for i in range(len(points)):
            for j in range(i):
                a, b = points[i], points[j]
                middle = (a + b) / 2
                for f in (self.objective, *self.inequalities):
                    if f(middle) > (f(a) + f(b)) / 2 + tol:
                        return False
                if any(abs(h(middle) - (h(a) + h(b)) / 2) > tol for h in self.equalities):
                    return False
        return True

    def plot(self, points: Any, mu: Any = None, ax: Any = None) -> Any:
        """Draw the pairs (g(x), f(x)) of some points, the supporting line of slope −μ, and the gap."""
        from gnomon.plot.theory import duality

        return duality(self, points, mu, ax=ax)

    def _point(self, x: Any) -> Array:
        return np.atleast_1d(np.asarray(x, dtype=float))

    def _feasible(self, x: Any, tol: float) -> Array:
        x = self._point(x)
        h, g = self.constraints(x)
        broken = [f"h{i} = {value:.3g}" for i, value in enumerate(h) if abs(value) > tol]
        broken += [f"g{i} = {value:.3g}" for i, value in enumerate(g) if value > tol]
        if broken:
            raise InfeasibleError(f"the point violates constraints: {', '.join(broken)}.")
        return x

    def _multipliers(self, lam: Any, mu: Any) -> tuple[Array, Array]:
        pairs = []
        for name, value, rules in (("lam", lam, self.equalities), ("mu", mu, self.inequalities)):
            numbers = np.zeros(len(rules)) if value is None else np.atleast_1d(np.asarray(value, dtype=float))
            if numbers.shape != (len(rules),):
                raise DataError(
                    f"{name} must hold one number for each of {len(rules)} constraints; got {numbers}."
                )
            pairs.append(numbers)
        return pairs[0], pairs[1]

    def _gradient(self, x: Array) -> Array:
        return (
            slope(self.objective, x) if self.gradient is None else np.asarray(self.gradient(x), dtype=float)
        )

    def _jacobian(self, rules: Sequence[Function], x: Array) -> Array:
        return np.array([slope(rule, x) for rule in rules]).reshape(len(rules), len(x))


FAR_STEPS = 10.0 ** np.arange(13)  # lengths at which a slope is looked down
MOST_RESTARTS = 10  # of the solver that minimizes the Lagrangian
UNBOUNDED = 1e12  # stands for −θ where the Lagrangian has no minimum
_FINE = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500}


def _folded(z: Array, p: int) -> Array:
    """Return multipliers whose last ones are not negative."""
    return np.concatenate([z[:p], np.abs(z[p:])])


def slope(function: Function, x: Array, eps: float = 1e-6) -> Array:
    """Return the gradient by central differences."""
    steps = eps * np.maximum(1.0, np.abs(x))
    found = np.empty(len(x))
    for j, step in enumerate(steps):
        e = np.zeros(len(x))
        e[j] = step
        found[j] = (float(function(x + e)) - float(function(x - e))) / (2 * step)
    return found
