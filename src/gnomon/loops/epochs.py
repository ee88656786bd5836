"""Many passes of stochastic gradient descent in one call, each over the rows in an order of its own.

Orders and passes have the bits of those made one by one. X is read-only and C-ordered.
"""

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import shuffle
from gnomon.loops.stochastic import sgd_dense
from gnomon.loops.streams import stream_seed


@compiled
def sgd_epochs(X, targets, weights, seed, epoch, numbers, state, history, losses):
    """Passes over shuffled rows until the loss has not fallen by `least` for `patience` of them, or `losses` is full.

    numbers = (code, p, q, rate, ra, rb, alpha, ratio, clip, intercept, start), see `sgd_dense`, of which state = (coef,
    intercept, average, average_intercept, owed, steps, debt) is changed in place. history = (best loss, passes waited,
    least, patience). Returns the passes made, steps, debt, the best loss and the passes waited.
    """
    code, p, q, rate, ra, rb, alpha, ratio, clip, intercept, start = numbers
    coef, b, average, average_b, owed, t, u = state
    best, waited, least, patience = history
    order = np.empty(X.shape[0], np.int64)
    made = 0
    while made < len(losses):
        for i in range(len(order)):
            order[i] = i
        shuffle(order, stream_seed(seed, epoch + made))
        total, steps, debt = 0.0, t, u
        for k in range(len(targets)):
            b[k], steps, loss, average_b[k], debt = sgd_dense(
                X, targets[k], weights[k], order, code, p, q, rate, ra, rb, alpha, ratio, intercept, clip,
                coef[k], b[k], t, average[k], average_b[k], start, owed[k], u,
            )  # fmt: skip
            total += loss
        t, u = steps, debt
        losses[made] = total
        made += 1
        if not np.isfinite(total):
            break
        waited = 0 if total <= best - least else waited + 1
        best = min(total, best)
        if waited >= patience:
            break
    return made, t, u, best, waited
