"""Whole steps of solvers on few dense rows, where a call from Python costs more than the sums it asks for.

X is read-only, C-ordered, and may be float32; sums are float64. Not-a-numbers go through to the values returned.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.losses import loss_bend, loss_slope, loss_value

ROUNDING = 2.0**-52


@compiled(fastmath=True)
def scores(X, theta, z):
    """z[i] = x_i·θ, with an intercept where θ has one entry more than x."""
    n, d = X.shape
    last = theta[d] if len(theta) > d else 0.0
    for i in range(n):
        a = last
        for j in range(d):
            a += X[i, j] * theta[j]
        z[i] = a


@compiled(fastmath=True)
def combine(X, c, out):
    """out = Σ_i c[i] x_i, with Σ c last where it has one entry more than x."""
    n, d = X.shape
    out[:] = 0.0
    for i in range(n):
        if c[i] != 0.0:
            for j in range(d):
                out[j] += c[i] * X[i, j]
    if len(out) > d:
        for i in range(n):
            out[d] += c[i]


@compiled(fastmath=True)
def gram(X, c, H):
    """Lower half of H = Σ_i c[i] x_i x_iᵀ, bordered by Σ c x and Σ c where it is larger than x."""
    n, d = X.shape
    H[:] = 0.0
    for i in range(n):
        if c[i] != 0.0:
            for j in range(d):
                u = c[i] * X[i, j]
                for l in range(j + 1):
                    H[j, l] += u * X[i, l]
            if len(H) > d:
                for j in range(d):
                    H[d, j] += c[i] * X[i, j]
                H[d, d] += c[i]


@compiled(**PART)
def factorize(H):
    """The lower half of H becomes its Cholesky factor; returns whether it has one that is more than rounding."""
    for j in range(len(H)):
        least = ROUNDING * len(H) * H[j, j]
        for l in range(j + 1):
            a = H[j, l]
            for k in range(l):
                a -= H[j, k] * H[l, k]
            if l < j:
                H[j, l] = a / H[l, l]
            elif a > least:
                H[j, j] = np.sqrt(a)
            else:
                return False
    return True


@compiled(**PART)
def solve(L, b):
    """b becomes (L Lᵀ)⁻¹ b."""
    for j in range(len(b)):
        for k in range(j):
            b[j] -= L[j, k] * b[k]
        b[j] /= L[j, j]
    for j in range(len(b) - 1, -1, -1):
        for k in range(j + 1, len(b)):
            b[j] -= L[k, j] * b[k]
        b[j] /= L[j, j]


# Newton's method


@compiled
def loss_terms(model, X, y, weight, ridge, theta, c, bend, gradient):
    """Σ weight·loss + ½ Σ ridge θ²; fills the curvature of every row and the gradient. c: scratch, one number a row.

    model = (code of the loss, its two numbers, class that is +1 or −1 where y is a number).
    """
    code, p, q, positive = model
    scores(X, theta, c)
    value = 0.0
    for i in range(len(c)):
        z, target = c[i], y[i]
        if positive >= 0:
            target = 1.0 if y[i] == positive else -1.0
        value += weight[i] * loss_value(code, p, q, target, z)
        c[i] = weight[i] * loss_slope(code, p, q, target, z)
        bend[i] = weight[i] * loss_bend(code, p, q, target, z)
    combine(X, c, gradient)
    penalty = 0.0
    for j in range(len(theta)):
        penalty += ridge[j] * theta[j] * theta[j]
        gradient[j] += ridge[j] * theta[j]
    return value + 0.5 * penalty


@compiled
def fill_hessian(X, bend, ridge, H):
    """H = Σ bend x xᵀ + diag(ridge), both halves."""
    gram(X, bend, H)
    for j in range(len(H)):
        H[j, j] += ridge[j]
        for l in range(j):
            H[l, j] = H[j, l]


@compiled
def newton_step(
    model, X, y, weight, ridge, theta, value, gradient, hessian, new_theta, new_gradient, new_hessian
):
    """Fill the point after a Newton step, halved until the value falls as Armijo asks, its gradient and its Hessian.

    Returns its value, and whether there is one: 1; 0 where no step lowers the value; −1 where the Hessian is singular.
    """
    n, D = len(y), len(theta)
    direction = np.empty(D)
    for i in range(D):
        for j in range(D):
            new_hessian[i, j] = hessian[i, j]
    if not factorize(new_hessian):
        return value, -1
    for j in range(D):
        direction[j] = -gradient[j]
    solve(new_hessian, direction)
    slope = 0.0
    for j in range(D):
        slope += gradient[j] * direction[j]
    slack = 1e-14 * max(1.0, abs(value))
    c, bend, step = np.empty(n), np.empty(n), 1.0
    for _ in range(40):
        for j in range(D):
            new_theta[j] = theta[j] + step * direction[j]
        found = loss_terms(model, X, y, weight, ridge, new_theta, c, bend, new_gradient)
        if found <= value + 1e-4 * step * slope + slack:
            fill_hessian(X, bend, ridge, new_hessian)
            return found, 1
        step *= 0.5
    return value, 0


@compiled
def left_to_gain(gradient, ridge):
    """½ Σ g²/ridge of the parameters with a ridge, and the largest |g| of those without."""
    gap, free = 0.0, 0.0
    for j in range(len(gradient)):
        if ridge[j] > 0.0:
            gap += gradient[j] * gradient[j] / ridge[j]
        else:
            free = max(free, abs(gradient[j]))
            gap += 0.0 * gradient[j]  # not a number where the slope is none
    return 0.5 * gap, free


# interior points


@compiled(**PART)
def pulls(signs, v, c):
    """c[i] = Σ over blocks of sign·v of row i."""
    n = len(c)
    c[:] = 0.0
    for b in range(len(signs)):
        for i in range(n):
            c[i] += signs[b][i] * v[b * n + i]


@compiled(**PART)
def room(s, ds, xi, dx, alpha, da, beta, costs, n):
    """Largest step, at most 1, that keeps slacks and multipliers of the rows with a cost positive."""
    most = 1.0
    for b in range(len(costs)):
        for i in range(n):
            if costs[b][i] > 0.0:
                k = b * n + i
                if ds[k] < 0.0:
                    most = min(most, -s[k] / ds[k])
                if dx[k] < 0.0:
                    most = min(most, -xi[k] / dx[k])
                if da[k] < 0.0:
                    most = min(most, -alpha[k] / da[k])
                elif da[k] > 0.0:
                    most = min(most, beta[k] / da[k])
    return most


@compiled(**PART)
def machine_move(X, signs, L, residual, weight, s, xi, alpha, beta, c, dt, ds, dx, da):
    """dt, ds, dx and da become the step whose goals for the products α·s and β·ξ come in ds and dx."""
    n = len(c)
    for k in range(len(s)):
        rx = dx[k] / beta[k] - xi[k]
        dx[k] = rx
        ds[k] = ds[k] / alpha[k] - s[k] - rx
        da[k] = weight[k] * ds[k]
    pulls(signs, da, c)
    combine(X, c, dt)
    for j in range(len(dt)):
        dt[j] -= residual[j]
    solve(L, dt)
    scores(X, dt, c)
    for b in range(len(signs)):
        for i in range(n):
            k = b * n + i
            drop = signs[b][i] * c[i]
            da[k] = weight[k] * (ds[k] - drop)
            dx[k] += xi[k] / beta[k] * da[k]
            ds[k] = drop + dx[k]


@compiled
def machine_step(X, ridge, signs, costs, theta, s, xi, alpha):
    """θ, s, ξ and α become those after one predictor and corrector step of `solvers.interior`.

    Returns whether the matrix of the step had a Cholesky factor; where it had none, nothing is changed.
    """
    n, m, D = X.shape[0], len(s), len(theta)
    a, beta, weight, c, v = np.empty(m), np.empty(m), np.empty(m), np.empty(n), np.empty(m)
    ds, dx, da, dt = np.empty(m), np.empty(m), np.empty(m), np.empty(D)
    H, residual = np.empty((D, D)), np.empty(D)
    count, mu = 0.0, 0.0
    for b in range(len(signs)):
        for i in range(n):
            k = b * n + i
            live = costs[b][i] > 0.0
            a[k] = alpha[k] if live else 1.0
            beta[k] = costs[b][i] - alpha[k] if live else 1.0
            weight[k] = 1.0 / (s[k] / a[k] + xi[k] / beta[k]) if live else 0.0
            v[k] = a[k] if live else 0.0
            if live:
                count += 2.0
                mu += a[k] * s[k] + beta[k] * xi[k]
    mu /= count
    pulls(signs, v, c)
    combine(X, c, residual)
    c[:] = 0.0
    for b in range(len(signs)):
        for i in range(n):
            c[i] += weight[b * n + i]
    gram(X, c, H)
    trace = 0.0
    for j in range(D):
        residual[j] = ridge[j] * theta[j] - residual[j]
        trace += H[j, j]
    for j in range(D):
        H[j, j] += ridge[j] + 1e-13 * (trace / D + 1.0)
    if not factorize(H):
        return False
    ds[:], dx[:] = 0.0, 0.0
    machine_move(X, signs, H, residual, weight, s, xi, a, beta, c, dt, ds, dx, da)
    share = room(s, ds, xi, dx, a, da, beta, costs, n)
    after = 0.0
    for b in range(len(signs)):
        for i in range(n):
            if costs[b][i] > 0.0:
                k = b * n + i
                after += (a[k] + share * da[k]) * (s[k] + share * ds[k])
                after += (beta[k] - share * da[k]) * (xi[k] + share * dx[k])
    goal = (after / count / mu) ** 3 * mu
    for k in range(m):
        ds[k], dx[k] = goal - da[k] * ds[k], goal + da[k] * dx[k]
    machine_move(X, signs, H, residual, weight, s, xi, a, beta, c, dt, ds, dx, da)
    share = min(1.0, 0.995 * room(s, ds, xi, dx, a, da, beta, costs, n))
    for j in range(D):
        theta[j] += share * dt[j]
    for b in range(len(signs)):
        for i in range(n):
            k = b * n + i
            s[k] += share * ds[k]
            xi[k] += share * dx[k]
            alpha[k] = a[k] + share * da[k] if costs[b][i] > 0.0 else 0.0
    return True


@compiled
def machine_values(X, ridge, signs, offsets, costs, theta, alpha):
    """Primal value at θ and dual value at α; a free intercept is left out of the dual's norm."""
    n, D = X.shape[0], len(theta)
    c, v = np.empty(n), np.empty(D)
    scores(X, theta, c)
    primal, dual = 0.0, 0.0
    for b in range(len(signs)):
        for i in range(n):
            primal += costs[b][i] * max(offsets[b][i] - signs[b][i] * c[i], 0.0)
            dual += offsets[b][i] * alpha[b * n + i]
    pulls(signs, alpha, c)
    combine(X, c, v)
    for j in range(D):
        primal += 0.5 * ridge[j] * theta[j] * theta[j]
        if ridge[j] > 0.0:
            dual -= 0.5 * v[j] * v[j] / ridge[j]
    return primal, dual
