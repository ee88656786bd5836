"""Sweeps of k-means over a block of rows. X is read-only, C-ordered, and free of NaN unless a loop says so.

Labels are exact: the center whose squared distance, summed directly in float64, is smallest; ties go to the
lower index. A float32 matrix product only screens: a row whose two best scores differ by more than the
rounding bound is settled, any other row is settled by direct distances. Hence neither the bounds, nor the
groups, nor the cut into blocks can change a label.

Distances are in units of `scale`, a power of two that brings the data near one, so that neither 1e200 nor
1e-200 over- or underflows.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled

TILE = 504  # rows screened by one product: scores stay in the cache, rows of them in different lines of it
STRETCH = 4096  # rows looked over for those to screen
UNIT = 2.0**-24  # rounding unit of float32
SHAVE = 1.0 - 2.0**-21  # keeps a float32 lower bound below the true value


@compiled(fastmath=True)
def squared_distance(x, c, scale):
    """Σ_j ((x_j − c_j)·scale)², directly."""
    total = 0.0
    for j in range(c.size):
        gap = (x[j] - c[j]) * scale
        total += gap * gap
    return total


@compiled(fastmath=True)
def moments(X, weight, mean, square, low, high):
    """Weighted mean, Σw(x − mean)², minimum and maximum of every column; returns Σw."""
    n, d = X.shape
    count = 0.0
    shift = X[0].astype(np.float64)
    for i in range(n):
        w = weight[i]
        count += w
        for j in range(d):
            x = X[i, j]
            mean[j] += w * (x - shift[j])
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)
    for j in range(d):
        mean[j] = shift[j] + (mean[j] / count if count > 0 else 0.0)
    for i in range(n):
        w = weight[i]
        for j in range(d):
            gap = X[i, j] - mean[j]
            square[j] += w * gap * gap
    return count


@compiled(fastmath=True)
def row_norms(X, start, stop, shift, scale, norms):
    """norms[i] = ‖(x_i − shift)·scale‖²."""
    for i in range(start, stop):
        norms[i] = squared_distance(X[i], shift, scale)


@compiled(**PART)
def two_smallest(S, half, best, second, where):
    """For every column i: the two smallest half[j] − S[j, i], and where the best is."""
    m = best.size
    for i in range(m):
        best[i] = half[0] - S[0, i]
        second[i] = np.inf
        where[i] = 0
    j, last = 1, half.size
    while j + 1 < last:  # two at a time: half the traffic for the running best
        h, g = half[j], half[j + 1]
        for i in range(m):
            s = h - S[j, i]
            u = g - S[j + 1, i]
            swap = u < s
            small = u if swap else s
            large = s if swap else u
            at = j + 1 if swap else j
            b = best[i]
            less = small < b
            loser = b if less else small
            loser = large if large < loser else loser
            second[i] = loser if loser < second[i] else second[i]
            best[i] = small if less else b
            where[i] = at if less else where[i]
        j += 2
    if j < last:
        for i in range(m):
            s = half[j] - S[j, i]
            b = best[i]
            less = s < b
            loser = b if less else s
            second[i] = loser if loser < second[i] else second[i]
            best[i] = s if less else b
            where[i] = j if less else where[i]


@compiled(fastmath=True)
def gather(X, rows, shift, scale, G):
    """G[i] = (X[rows[i]] − shift)·scale, rounded to float32."""
    for i in range(rows.size):
        r = rows[i]
        for j in range(shift.size):
            G[i, j] = (X[r, j] - shift[j]) * scale


@compiled(**PART)
def transpose(G, picked, H):
    """H[:, q] = G[picked[q]], four rows at a time."""
    q = 0
    while q + 4 <= picked.size:
        a, b, c, e = picked[q], picked[q + 1], picked[q + 2], picked[q + 3]
        for j in range(H.shape[0]):
            H[j, q] = G[a, j]
            H[j, q + 1] = G[b, j]
            H[j, q + 2] = G[c, j]
            H[j, q + 3] = G[e, j]
        q += 4
    while q < picked.size:
        for j in range(H.shape[0]):
            H[j, q] = G[picked[q], j]
        q += 1


@compiled(fastmath=True)
def add_residuals(X, weight, start, stop, anchor, scale, labels, sums):
    """sums[k] += Σw(x − anchor[k]) over the rows labeled k; return Σw‖(x − anchor)·scale‖²."""
    cost = 0.0
    for i in range(start, stop):
        k = labels[i]
        w = weight[i]
        square = 0.0
        for j in range(anchor.shape[1]):
            gap = X[i, j] - anchor[k, j]
            sums[k, j] += w * gap
            square += (gap * scale) * (gap * scale)
        cost += w * square
    return cost


@compiled(fastmath=True)
def move_residuals(X, weight, start, stop, anchor, scale, before, labels, sums):
    """What those sums change by when the labels were `before`: only rows that changed sides count."""
    cost = 0.0
    for i in range(start, stop):
        k, old = labels[i], before[i]
        if k != old:
            w = weight[i]
            for j in range(anchor.shape[1]):
                sums[old, j] -= w * (X[i, j] - anchor[old, j])
                sums[k, j] += w * (X[i, j] - anchor[k, j])
            cost += w * squared_distance(X[i], anchor[k], scale)
            cost -= w * squared_distance(X[i], anchor[old], scale)
    return cost


@compiled
def add_weights(weight, start, stop, labels, counts):
    """counts[k] += Σw of the rows labeled k."""
    for i in range(start, stop):
        counts[labels[i]] += weight[i]


@compiled(**PART)
def beaten(square, low):
    """Whether a lower bound of a distance is surely above the root of `square`."""
    return low > 0.0 and square * (1.0 + 1e-12) < low * low


@compiled(**PART)
def unsettled(X, start, stop, centers, scale, labels, lower, drift, floor, sunk, upper, moved, near, rows):
    """List the rows that no bound settles, and fill near[i] with their distance² to their own center.

    First the two bounds of the whole row, which need no look at X; then its distance; then all its bounds.
    """
    count = 0
    for i in range(start, stop):
        rows[count] = i
        count += not upper[i] + moved[labels[i]] * (1.0 + 1e-15) < floor[i] - sunk
    kept = 0
    for q in range(count):
        i = rows[q]
        d = squared_distance(X[i], centers[labels[i]], scale)
        near[i] = d
        upper[i] = np.sqrt(d) * (1.0 + 1e-12) - moved[labels[i]]
        low = np.inf
        for g in range(drift.size):
            low = min(low, lower[i, g] - drift[g])
        floor[i] = (low + sunk) * SHAVE
        rows[kept] = i
        kept += not beaten(d, low)
    return kept


@compiled(**PART)
def rivals(rows, lower, drift, near, g, picked):
    """List which of the rows may be nearer to a center of group g than to their own."""
    count = 0
    for i in range(rows.size):
        picked[count] = i
        count += not beaten(near[rows[i]], lower[rows[i], g] - drift[g])
    return count


@compiled(**PART)
def nearest_directly(x, centers, scale, order, bounds, best, i, limit, label, nearest):
    """Return the nearest center and its distance², directly, over the groups whose best is within `limit`."""
    for g in range(bounds.size - 1):
        if best[g, i] <= limit:
            for j in range(bounds[g], bounds[g + 1]):
                c = order[j]
                d = squared_distance(x, centers[c], scale)
                if d < nearest or (d == nearest and c < label):
                    label, nearest = c, d
    return label, nearest


@compiled
def assign(
    X,
    start,
    stop,
    centers,
    scale,
    shift,
    norms,
    screen,
    half,
    reach,
    order,
    bounds,
    drift,
    sunk,
    moved,
    labels,
    lower,
    floor,
    upper,
    near,
):
    """Give rows start..stop−1 their nearest centers; return how many labels changed.

    screen (k, d) float32 holds the centers, shifted and scaled, in the order `order`; half their half squared
    norms and `reach` the largest norm; group g is screen[bounds[g]:bounds[g+1]]. lower[i, g] − drift[g]
    bounds the distance of row i to the nearest center of group g that is not its own, floor[i] − sunk that to
    any of them; upper[i] + moved[c] is at least its distance to its own center c, and near[i], where it was
    needed, the square of that. A group is multiplied with the rows that its bound does not settle.
    """
    k, d = screen.shape
    groups = drift.size
    group = np.empty(k, np.int64)
    for g in range(groups):
        for j in range(bounds[g], bounds[g + 1]):
            group[order[j]] = g
    stretch = min(STRETCH, stop - start)
    tile = min(TILE, stretch)
    waiting = np.empty(stretch, np.int64)
    picked = np.empty(tile, np.int64)
    G = np.empty((tile, d), np.float32)
    columns = np.empty(d * tile, np.float32)
    scores = np.empty(k * tile, np.float32)
    smallest = np.empty(tile, np.float32)
    following = np.empty(tile, np.float32)
    index = np.empty(tile, np.int32)
    best = np.empty((groups, tile), np.float32)
    second = np.empty((groups, tile), np.float32)
    where = np.empty((groups, tile), np.int32)
    changed = 0
    for first in range(start, stop, stretch):
        last = min(first + stretch, stop)
        count = unsettled(
            X, first, last, centers, scale, labels, lower, drift, floor, sunk, upper, moved, near, waiting
        )
        for at in range(0, count, tile):
            rows = waiting[at : min(at + tile, count)]
            m = rows.size
            gather(X, rows, shift, scale, G)
            for g in range(groups):
                for i in range(m):
                    best[g, i] = np.inf
                p = rivals(rows, lower, drift, near, g, picked)
                if p == 0:
                    continue
                H = columns[: d * p].reshape((d, p))
                transpose(G, picked[:p], H)
                a, b = bounds[g], bounds[g + 1]
                S = scores[: (b - a) * p].reshape((b - a, p))
                np.dot(screen[a:b], H, S)
                two_smallest(S, half[a:b], smallest[:p], following, index)
                for q in range(p):
                    i = picked[q]
                    best[g, i] = smallest[q]
                    second[g, i] = following[q]
                    where[g, i] = order[a + index[q]]
            for i in range(m):
                row = rows[i]
                own, before = labels[row], near[row]
                low, runner, label = 0.5 * (before - norms[row]), np.inf, own
                for g in range(groups):
                    score = best[g, i]
                    if score == np.inf:
                        continue
                    if where[g, i] == own:  # its own score, rounded: the one after it counts
                        runner = min(runner, second[g, i])
                    elif score < low:
                        runner = min(low, second[g, i])
                        low, label = score, where[g, i]
                    else:
                        runner = min(runner, score)
                slack = UNIT * 1.02 * ((d + 6) * np.sqrt(norms[row]) * reach + reach * reach) + 1e-30
                if runner - low <= 2.0 * slack:
                    limit = min(low, runner) + 2.0 * slack
                    label, near[row] = nearest_directly(
                        X[row], centers, scale, order, bounds, best, i, limit, own, before
                    )
                elif label != own:
                    near[row] = squared_distance(X[row], centers[label], scale)
                low = np.inf
                for g in range(groups):
                    if best[g, i] < np.inf:
                        score = second[g, i] if where[g, i] == label else best[g, i]
                        square = norms[row] * (1.0 - 1e-13) + 2.0 * (score - slack)
                        lower[row, g] = (np.sqrt(max(square, 0.0)) + drift[g]) * SHAVE
                    elif label != own and g == group[own]:  # the center it left is one more in this group
                        lower[row, g] = min(
                            lower[row, g], (np.sqrt(before) * (1.0 - 1e-12) + drift[g]) * SHAVE
                        )
                    low = min(low, lower[row, g] - drift[g])
                floor[row] = (low + sunk) * SHAVE
                upper[row] = np.sqrt(near[row]) * (1.0 + 1e-12) - moved[label]
                changed += label != own
                labels[row] = label
    return changed


@compiled
def assign_observed(X, weight, start, stop, centers, scale, labels, near, sums, counts):
    """Nearest center over the present entries of each row; NaN is absent.

    Adds to sums[k, j] and counts[k, j] the residuals and weights of the present entries; returns the number
    of changed labels and Σw·near.
    """
    k, d = centers.shape
    changed, cost = 0, 0.0
    for i in range(start, stop):
        label, smallest = 0, np.inf
        for c in range(k):
            total = 0.0
            for j in range(d):
                if not np.isnan(X[i, j]):
                    gap = (X[i, j] - centers[c, j]) * scale
                    total += gap * gap
            if total < smallest:
                label, smallest = c, total
        changed += label != labels[i]
        labels[i] = label
        near[i] = smallest
        cost += weight[i] * smallest
        for j in range(d):
            if not np.isnan(X[i, j]):
                sums[label, j] += weight[i] * (X[i, j] - centers[label, j])
                counts[label, j] += weight[i]
    return changed, cost
