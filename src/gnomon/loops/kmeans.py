"""Sweeps of k-means over a block of rows. X is read-only, C-ordered, and free of NaN unless a loop says so.

Labels are exact: the center whose squared distance, summed directly in float64, is smallest; ties go to the
lower index. A float32 matrix product only screens: a row whose two best scores differ by more than the
rounding bound is settled, any other row is settled by direct distances. Hence neither the bounds, nor the
groups, nor the cut into blocks can change a label.

Distances are in units of `scale`, a power of two that brings the data near one, so that neither 1e200 nor
1e-200 over- or underflows.
"""

import numpy as np

from gnomon.loops._compile import compiled

TILE = 512  # rows screened by one matrix product: the scores stay in the second-level cache
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


@compiled
def two_smallest(S, half, first, last, best, second, where):
    """For every column i: the two smallest half[j] − S[j, i], first ≤ j < last, and where the best is."""
    m = best.size
    for i in range(m):
        best[i] = half[first] - S[first, i]
        second[i] = np.inf
        where[i] = first
    j = first + 1
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


@compiled
def settle(X, row, centers, scale, order, S, half, i, limit):
    """Return the nearest center, and its distance², among those whose score in column i is within `limit`."""
    label, smallest = -1, np.inf
    for j in range(order.size):
        if half[j] - S[j, i] <= limit:
            c = order[j]
            d = squared_distance(X[row], centers[c], scale)
            if d < smallest or (d == smallest and c < label) or label < 0:
                label, smallest = c, d
    return label, smallest


@compiled(fastmath=True)
def add_residuals(X, weight, start, stop, centers, labels, near, sums, counts):
    """Add to sums[k] Σw(x − centers[k]) and to counts[k] Σw of the rows labeled k; return Σw·near."""
    cost = 0.0
    for i in range(start, stop):
        k = labels[i]
        w = weight[i]
        counts[k] += w
        cost += w * near[i]
        for j in range(centers.shape[1]):
            sums[k, j] += w * (X[i, j] - centers[k, j])
    return cost


@compiled
def unsettled(X, start, stop, centers, scale, labels, lower, drift, near, rows):
    """Fill near[i] with the distance² to the row's own center; list the rows that no bound settles."""
    count = 0
    for i in range(start, stop):
        d = squared_distance(X[i], centers[labels[i]], scale)
        near[i] = d
        low = np.inf
        for g in range(drift.size):
            low = min(low, lower[i, g] - drift[g])
        if not (low > 0.0 and d * (1.0 + 1e-12) < low * low):
            rows[count] = i
            count += 1
    return count


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
    labels,
    lower,
    near,
):
    """Give rows start..stop−1 their nearest centers; return how many labels changed.

    screen (k, d) float32 holds the centers, shifted and scaled, in the order `order`; half their half squared
    norms and `reach` the largest norm; group g is screen[bounds[g]:bounds[g+1]]. lower[i, g] − drift[g]
    bounds the distance of row i to the nearest center of group g that is not its own; near[i] is its own
    distance².
    """
    k, d = screen.shape
    groups = drift.size
    tile = min(TILE, stop - start)
    rows = np.empty(tile, np.int64)
    G = np.empty((tile, d), np.float32)
    scores = np.empty(k * tile, np.float32)
    best = np.empty((groups, tile), np.float32)
    second = np.empty((groups, tile), np.float32)
    where = np.empty((groups, tile), np.int32)
    changed = 0
    for first in range(start, stop, tile):
        m = unsettled(X, first, min(first + tile, stop), centers, scale, labels, lower, drift, near, rows)
        if m == 0:
            continue
        gather(X, rows[:m], shift, scale, G)
        S = scores[: k * m].reshape((k, m))
        np.dot(screen, G[:m].T, S)
        for g in range(groups):
            two_smallest(S, half, bounds[g], bounds[g + 1], best[g, :m], second[g, :m], where[g, :m])
        for i in range(m):
            row = rows[i]
            low, runner, at = np.inf, np.inf, 0
            for g in range(groups):
                b = best[g, i]
                if b < low:
                    runner = min(low, second[g, i])
                    low, at = b, where[g, i]
                else:
                    runner = min(runner, b)
            slack = UNIT * 1.02 * ((d + 6) * np.sqrt(norms[row]) * reach + reach * reach) + 1e-30
            if runner - low > 2.0 * slack:
                label = order[at]
                if label != labels[row]:
                    near[row] = squared_distance(X[row], centers[label], scale)
            else:
                label, near[row] = settle(X, row, centers, scale, order, S, half, i, low + 2.0 * slack)
            if label != labels[row]:
                changed += 1
                labels[row] = label
            for g in range(groups):
                score = second[g, i] if order[where[g, i]] == label else best[g, i]
                square = norms[row] * (1.0 - 1e-13) + 2.0 * (score - slack)
                lower[row, g] = (np.sqrt(max(square, 0.0)) + drift[g]) * SHAVE
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


@compiled
def mix(bits, keys):
    """Fold every row of 32-bit words into a 64-bit key; equal rows have equal keys."""
    for i in range(bits.shape[0]):
        h = np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            h = (h ^ np.uint64(bits[i, j])) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(29)
        h = (h ^ (h >> np.uint64(32))) * np.uint64(0xC4CEB9FE1A85EC53)
        keys[i] = h ^ (h >> np.uint64(31))


@compiled
def try_seeds(X, start, stop, weight, scale, seeds, apart, closest, owner, trial, potential):
    """trial[i, t] = min(closest[i], ‖x_i − seeds[t]‖²) and potential[t] += Σw·trial.

    apart[t, a] is the squared distance between seed t and the chosen seed a. A row whose own seed is nearer
    than half of that cannot be nearer to seed t (triangle inequality), so its distance is not computed.
    """
    for i in range(start, stop):
        now = closest[i]
        mine = owner[i]
        for t in range(seeds.shape[0]):
            value = now
            if apart[t, mine] < 4.0 * now:
                value = min(now, squared_distance(X[i], seeds[t], scale))
            trial[i, t] = value
            potential[t] += weight[i] * value


@compiled
def take_seed(start, stop, weight, trial, t, seed, rank, width, closest, owner, buckets):
    """Adopt column t of `trial`; buckets[r] += Σw·closest over the rows of rank r·width..(r+1)·width−1."""
    for i in range(start, stop):
        value = trial[i, t]
        if value < closest[i]:
            closest[i] = value
            owner[i] = seed
        buckets[rank[i] // width] += weight[i] * closest[i]
