"""Certificates of constrained problems, and identities of calculus by differences."""

import numpy as np
import pytest

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.solvers import check_gradient
from gnomon.theory import ConstrainedProblem

near = pytest.approx


def square():
    return ConstrainedProblem(lambda x: x[0] ** 2, inequalities=[lambda x: 1 - x[0]], n_variables=1)


def test_one_constraint_by_hand():
    problem = square()
    for mu in (0.0, 0.7, 2.0, 3.1):
        assert problem.dual_function(mu=[mu]) == near(mu - mu**2 / 4, abs=1e-8)
    best = problem.dual_optimum()
    assert best.value == near(1.0, abs=1e-7) and best.mu == near([2.0], abs=1e-3)
    assert problem.kkt_residuals([1.0], mu=[2.0]).largest < 1e-8
    assert problem.certify([1.0], mu=[2.0]).optimal
    assert problem.primal_optimum()[0] == near(1.0)
    assert problem.lagrangian([2.0], mu=[1.0]) == near(3.0)


def test_three_points_have_a_gap():
    f, g = dict(zip((0, 1, 2), (3, 2.5, 0))), dict(zip((0, 1, 2), (-1, 0, 2)))
    problem = ConstrainedProblem(
        lambda x: f[int(x[0])], inequalities=[lambda x: g[int(x[0])]], domain=[0, 1, 2]
    )
    assert problem.primal_optimum()[0] == 2.5
    best = problem.dual_optimum()
    assert best.value == near(2.0, abs=1e-6) and best.mu == near([1.0], abs=1e-5)
    assert problem.duality_gap([1.0], mu=[1.0]) == near(0.5)
    assert not problem.certify([1.0], mu=[1.0]).optimal


def test_two_constraints_by_hand():
    problem = ConstrainedProblem(
        lambda x: x @ x,
        equalities=[lambda x: x[0] + x[1] - 1],
        inequalities=[lambda x: x[0] - 0.3],
        gradient=lambda x: 2 * x,
        n_variables=2,
    )
    x = [0.3, 0.7]
    found = problem.multipliers(x)
    assert found.lam == near([-1.4]) and found.mu == near([0.8]) and found.residual < 1e-8
    assert max(problem.kkt_residuals(x, found.lam, found.mu)) < 1e-8
    assert problem.is_regular(x) and problem.active(x).tolist() == [0]
    told = problem.certify(x, found.lam, found.mu)
    assert told.optimal and told.gap == near(0.0, abs=1e-9) and problem.objective(np.array(x)) == near(0.58)
    assert problem.dual_optimum().value == near(0.58, abs=1e-6)
    with pytest.raises(InfeasibleError, match="g0 = 0.2"):
        problem.multipliers([0.5, 0.5])
    assert problem.certify([0.2, 0.8], [-1.4], [0.8]).reasons


def test_weak_duality_and_concavity():
    rng = np.random.default_rng(0)
    problem = ConstrainedProblem(
        lambda x: float(np.sum(x**4) - x[0]),
        inequalities=[lambda x: x @ x - 1, lambda x: x[1] - 0.2],
        n_variables=2,
    )
    feasible = [x for x in rng.uniform(-1, 1, (60, 2)) if problem.violation(x) == 0]
    mus = rng.exponential(size=(8, 2))
    theta = [problem.dual_function(mu=mu) for mu in mus]
    assert all(problem.objective(x) >= value - 1e-7 for x in feasible for value in theta)
    for a in range(8):
        for b in range(a):
            middle = problem.dual_function(mu=(mus[a] + mus[b]) / 2)
            assert middle >= (theta[a] + theta[b]) / 2 - 1e-6
    assert problem.check_convexity(rng.normal(size=(10, 2)))
    best = problem.dual_optimum()
    assert best.value == near(problem.primal_optimum()[0], abs=1e-5)  # convex with an inner point: no gap


def test_no_sampled_point_beats_a_certified_one():
    rng = np.random.default_rng(1)
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    problem = ConstrainedProblem(
        lambda x: x @ A @ x - x[0], inequalities=[lambda x: x[0] + x[1] - 0.1], n_variables=2
    )
    _, x = problem.primal_optimum()
    found = problem.multipliers(x, tol=1e-6)
    assert problem.certify(x, found.lam, found.mu, tol=1e-5).optimal
    others = [z for z in rng.normal(size=(500, 2)) if problem.violation(z) == 0]
    assert min(problem.objective(z) for z in others) >= problem.objective(x) - 1e-6


def test_a_point_that_is_not_regular():
    problem = ConstrainedProblem(
        lambda x: x[0], inequalities=[lambda x: -x[0], lambda x: x[0] ** 2 - x[0]], n_variables=1
    )
    assert not problem.is_regular([0.0])


def test_unbounded_dual_and_bad_multipliers():
    line = ConstrainedProblem(lambda x: -x[0], inequalities=[lambda x: x[0] - 1], n_variables=1)
    assert line.dual_function(mu=[0.5]) == -np.inf
    assert line.dual_function(mu=[1.0]) == near(-1.0)
    with pytest.raises(DataError, match="negative"):
        line.dual_function(mu=[-1.0])
    with pytest.raises(DataError, match="one number for each"):
        line.lagrangian([0.0], mu=[1.0, 2.0])
    assert line.certify([1.0], mu=[-1.0]).reasons == ["mu has a negative entry, -1"]
    with pytest.raises(DataError, match="n_variables"):
        ConstrainedProblem(lambda x: x)
    with pytest.raises(InfeasibleError, match="no point"):
        ConstrainedProblem(lambda x: 0.0, inequalities=[lambda x: 1.0], domain=[0.0]).primal_optimum()


def test_support_vector_machine_is_certified():
    """The hard margin of two points: minimize ½‖w‖² with y (w·x + b) ≥ 1."""
    X, y = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([1.0, -1.0])
    problem = ConstrainedProblem(
        lambda z: 0.5 * (z[:2] @ z[:2]),
        inequalities=[lambda z, i=i: 1 - y[i] * (z[:2] @ X[i] + z[2]) for i in range(2)],
        n_variables=3,
    )
    z = np.array([0.5, 0.5, 0.0])
    found = problem.multipliers(z)
    assert found.mu == near([0.25, 0.25], abs=1e-6) and found.residual < 1e-6
    assert problem.kkt_residuals(z, mu=found.mu).largest < 1e-6


def test_identities_of_calculus():
    rng = np.random.default_rng(0)
    a, x, A = rng.normal(size=4), rng.normal(size=4), rng.normal(size=(4, 4))
    C, b = rng.normal(size=(4, 3)), rng.normal(size=3)
    D = A + A.T
    E = A @ A.T + np.eye(4)
    cases = [
        (lambda x: a @ x, a, x),
        (lambda x: x @ A @ x, (A + A.T) @ x, x),
        (lambda b: (a - C @ b) @ D @ (a - C @ b), -2 * C.T @ D @ (a - C @ b), b),
        (np.linalg.det, np.linalg.det(E) * np.linalg.inv(E).T, E),
        (lambda E: np.trace(A @ np.linalg.inv(E)), -(np.linalg.inv(E) @ A @ np.linalg.inv(E)).T, E),
        (lambda B: np.linalg.norm(B) ** 2, 2 * A, A),
    ]
    for function, gradient, point in cases:
        assert check_gradient(lambda z, f=function, g=gradient: (f(z), g), point) < 1e-6
    assert np.linalg.norm(A) ** 2 == near(np.trace(A @ A.T))
    assert check_gradient(lambda x: (x @ A @ x, 2 * A @ x), x) > 1e-3  # forgets that A is not symmetric


def test_kinks_and_wrong_shapes():
    assert check_gradient(lambda x: (np.abs(x).sum(), np.sign(x)), [0.0, 1.0]) == np.inf
    assert check_gradient(lambda x: (np.maximum(x, 0).sum(), np.zeros(1)), [0.0]) == np.inf
    for scale in (1e-8, 1.0, 1e8):  # a minimum has no kink, however sharp
        assert check_gradient(lambda x, c=scale: (c * (x @ x) + 1, 2 * c * x), np.zeros(3)) <= 1e-9
    with pytest.raises(DataError, match="must return a number"):
        check_gradient(lambda x: (x, x), [1.0, 2.0])
    with pytest.raises(DataError, match="agree"):
        check_gradient(lambda x: (x.sum(), [1.0]), [1.0, 2.0])


def test_a_line_has_one_multiplier_with_a_bound():
    """min x subject to x ≥ 1: the Lagrangian has a minimum for μ = 1 alone."""
    problem = ConstrainedProblem(lambda x: x[0], inequalities=[lambda x: 1 - x[0]], n_variables=1)
    assert [problem.dual_function(mu=[mu]) for mu in (0.5, 0.999, 1.5)] == [-np.inf] * 3
    assert problem.dual_function(mu=[1.0]) == pytest.approx(1.0)
    best = problem.dual_optimum()
    assert best.value == pytest.approx(1.0) and best.mu == pytest.approx([1.0])
    assert problem.certify([1.0], mu=[1.0]).optimal


def test_gaps_and_slopes_by_hand():
    problem = ConstrainedProblem(lambda x: x[0] ** 2, inequalities=[lambda x: 1 - x[0]], n_variables=1)
    found = problem.certify([2.0], mu=[1.0])
    assert not found.optimal and found.gap == pytest.approx(3.25)
    assert len(found.reasons) == 2  # not slack, and no minimizer of the Lagrangian
    from gnomon.theory.duality import slope

    assert slope(lambda x: x[0] ** 2, np.array([1e8])) == pytest.approx([2e8], rel=1e-6)
    plane = ConstrainedProblem(lambda x: x[0] ** 2, equalities=[lambda x: x[0] + x[1] - 1], n_variables=2)
    points = [[0.0, 0.0], [3.0, 1.0], [-2.0, 5.0]]
    assert plane.check_convexity(points)
    bent = ConstrainedProblem(lambda x: x[0] ** 2, equalities=[lambda x: x[0] * x[1]], n_variables=2)
    assert not bent.check_convexity(points)


def test_the_four_conditions_by_hand():
    problem = square()
    assert problem.kkt_residuals([2.0], mu=[-1.0]) == near((5.0, 0.0, 1.0, 1.0), abs=1e-6)
    assert problem.kkt_residuals([0.0], mu=[3.0]) == near((3.0, 1.0, 0.0, 3.0), abs=1e-6)
    line = ConstrainedProblem(lambda x: x[0], equalities=[lambda x: x[0] + 2], n_variables=1)
    found = line.kkt_residuals([0.0], lam=[-1.0])
    assert found == near((0.0, 2.0, 0.0, 0.0), abs=1e-6) and found.largest == near(2.0)
    assert line.violation([-5.0]) == near(3.0) and line.lagrangian([1.0], lam=[2.0]) == near(7.0)
    with pytest.raises(InfeasibleError, match="h0 = 2"):
        line.duality_gap([0.0], lam=[-1.0])
    assert line.duality_gap([-2.0], lam=[-1.0]) == near(0.0, abs=1e-9)


def test_multipliers_at_a_corner_by_hand():
    """min −x − 2y with x ≤ 1, y ≤ 1 and x + y ≤ 3: two constraints are active, and their prices are 1 and 2."""
    problem = ConstrainedProblem(
        lambda x: -x[0] - 2 * x[1],
        inequalities=[lambda x: x[0] + x[1] - 3, lambda x: x[0] - 1, lambda x: x[1] - 1],
        n_variables=2,
    )
    assert problem.active([1.0, 1.0]).tolist() == [1, 2] and problem.is_regular([1.0, 1.0])
    found = problem.multipliers([1.0, 1.0])
    assert found.mu == near([0.0, 1.0, 2.0], abs=1e-6) and found.residual < 1e-6 and not len(found.lam)
    inside = problem.multipliers([0.0, 0.0])
    assert inside.mu.tolist() == [0, 0, 0] and inside.residual == near(np.sqrt(5), abs=1e-6)
    edge = problem.multipliers([0.0, 1.0])  # the price of y alone is known, and x is not at rest
    assert edge.mu == near([0.0, 0.0, 2.0], abs=1e-6) and edge.residual == near(1.0, abs=1e-6)
    assert problem.certify([1.0, 1.0], mu=[0.0, 1.0, 2.0]).optimal


def test_equalities_on_a_finite_domain():
    problem = ConstrainedProblem(lambda x: x[0] ** 2, equalities=[lambda x: x[0] - 1], domain=[0.0, 1.0, 2.0])
    assert problem.primal_optimum() == (1.0, [1.0])
    best = problem.dual_optimum()
    assert best.value == near(1.0) and -3 - 1e-6 <= best.lam[0] <= -1 + 1e-6 and not len(best.mu)
    assert problem.dual_function(lam=[0.0]) == 0.0 and problem.certify([1.0], lam=best.lam).optimal
    never = ConstrainedProblem(lambda x: x[0], inequalities=[lambda x: 1.0], domain=[0.0, 1.0])
    with pytest.raises(InfeasibleError, match="dual has no optimum"):
        never.dual_optimum()


def test_a_known_minimizer_is_taken():
    asked = []

    def argmin(lam, mu):
        asked.append(mu)
        return mu / 2

    problem = ConstrainedProblem(
        lambda x: x[0] ** 2, inequalities=[lambda x: 1 - x[0]], argmin=argmin, start=5.0
    )
    assert [problem.dual_function(mu=[mu]) for mu in (0.0, 1.0, 4.0)] == [0.0, 0.75, 0.0] and len(asked) == 3
    best = problem.dual_optimum()
    assert best.value == near(1.0) and best.mu == near([2.0], abs=1e-6)
    with pytest.raises(DataError, match="must not be negative"):
        problem.dual_function(mu=[-1.0])


def test_reasons_against_a_point():
    problem = square()
    assert problem.certify([0.5], mu=[1.0]).reasons[0] == "a constraint is violated by 0.5"
    assert problem.certify([1.0], mu=[1.0]).reasons == ["the point does not minimize the Lagrangian"]
    assert problem.certify([2.0], mu=[0.0]).reasons == ["the point does not minimize the Lagrangian"]
    slack = ConstrainedProblem(lambda x: x[0] ** 2, inequalities=[lambda x: -1.0], n_variables=1)
    told = slack.certify([0.0], mu=[1.0])
    assert told.reasons == ["a multiplier is positive where its constraint is not active"]
    assert told.gap == near(1.0)
    assert problem.certify([1.0], mu=[-1.0]).gap == np.inf


def test_bends_of_constraints_count_too():
    points = np.array([-1.0, 0.5, 2.0])
    line = ConstrainedProblem(lambda x: x[0], inequalities=[lambda x: -(x[0] ** 2)], n_variables=1)
    assert not line.check_convexity(points)
    assert square().check_convexity(points)
    assert not ConstrainedProblem(lambda x: -(x[0] ** 2), n_variables=1).check_convexity(points)
    nearly = ConstrainedProblem(lambda x: -1e-3 * x[0] ** 2, n_variables=1)
    assert not nearly.check_convexity(points) and nearly.check_convexity(points, tol=0.01)
