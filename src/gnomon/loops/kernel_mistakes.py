"""Passes of mistake-driven learners over a Gram matrix. K (n, n) is read-only; order may repeat or leave out rows."""

from gnomon.loops._compile import compiled

HINGE, SQUARED, ZERO_ONE, TUBE, SQUARED_TUBE = 0, 1, 2, 3, 4
OVERSHOOT = 1e-8  # how far past the boundary the zero–one step goes


@compiled
def perceptron_pass(K, sign, offset, order, step, alpha, lag, F, log):
    """Add one to alpha[t] for every row met with sign·F ≤ 0, and its column to F.

    lag[t] gathers the numbers of the steps made before each addition, for averages. Writes the rows of mistakes to log.
    Returns how many there were and the number of the last step.
    """
    count = 0
    for t in order:
        if sign[t] * F[t] <= 0.0:
            alpha[t] += 1
            lag[t] += step
            log[count] = t
            count += 1
            for i in range(len(F)):
                F[i] += sign[t] * (K[t, i] + offset)
        step += 1
    return count, step


@compiled
def aggressive_pass(K, y, offset, kind, cost, epsilon, order, step, coef, lag, F, taus):
    """One passive–aggressive pass: each row moves the function just far enough, as its loss says.

    y holds ±1 or numbers (the tubes). Writes the sizes of the steps to taus. Returns the summed loss and the last step.
    """
    total = 0.0
    for place in range(len(order)):
        t = order[place]
        bend = K[t, t] + offset
        if kind >= TUBE:
            way = 1.0 if y[t] > F[t] else -1.0
            loss = max(0.0, abs(y[t] - F[t]) - epsilon)
        else:
            way = y[t]
            loss = max(0.0, 1.0 - y[t] * F[t])
        if kind == ZERO_ONE:
            score = y[t] * F[t]
            loss = 1.0 if score <= 0.0 else 0.0
        total += loss
        tau = 0.0
        if bend > 0.0 and loss > 0.0:
            if kind in (HINGE, TUBE):
                tau = min(cost, loss / bend)
            elif kind in (SQUARED, SQUARED_TUBE):
                tau = loss / (bend + 0.5 / cost)
            elif score * score / (2.0 * bend * cost) < 1.0:
                tau = (OVERSHOOT - score) / bend
        taus[place] = tau
        if tau > 0.0:
            change = tau * way
            coef[t] += change
            lag[t] += change * step
            for i in range(len(F)):
                F[i] += change * (K[t, i] + offset)
        step += 1
    return total, step
