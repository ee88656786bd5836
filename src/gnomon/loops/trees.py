"""Split search of trees: one feature of one node, from sorted columns or from byte codes.

Both routes bring the rows of a node into *groups* (runs of equal values, in order) with summed statistics
``[repetitions, weight, v_1..v_m]``: class weights for classification, sums of w(y - center) for regression.
Every criterion, the side of missing values and the order of categories are then one scan over the groups. NaN
marks a missing value; nothing but the work arrays is written. Sums are float64.

Work arrays: `groups` (G, m+2); `marks` (G, 3) lowest value, highest value and code of every group; `missing`
(m+2,); `lefts` (C, m+2) of the left sides of all candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import PART as BARE
from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix, uniform

GINI, ENTROPY, ERROR, SQUARED, POISSON, ABSOLUTE, ENTROPIES = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
)  # the last: of several columns
MISSING_CODE = 255
SMALL_NODE = 32  # below, sorting a node's codes is cheaper than clearing and reading 256 bins
TIE = 1e-12  # gains this close, relative to the parent's impurity, are one value
ENTRY = {"_nrt": False}  # called from Python alone, allocates nothing


class GrowRules(NamedTuple):
    """When and how to split."""

    criterion: int
    n_stats: int
    exact: bool
    plain: int  # 2: every weight is one; 1: weights are repetitions; 0: neither
    random: bool
    max_depth: int
    max_features: int
    max_leaf_nodes: int
    constrained: bool
    min_samples_split: float
    min_samples_leaf: float
    min_weight_leaf: float
    min_decrease: float  # already times the total weight


@compiled(**BARE)
def draw_feature(features, at, key):
    """Bring a random one of the features from `at` on to that place (Fisher-Yates); returns where it was."""
    j = at + np.int64(((key >> np.uint64(32)) * np.uint64(features.size - at)) >> np.uint64(32))
    features[at], features[j] = features[j], features[at]
    return j


@compiled(**BARE)
def loss_of(criterion, s, m):
    """Weighted impurity W·u of the statistics `s`, up to a constant that the parent shares."""
    w = s[1]
    if w <= 0.0:
        return 0.0
    total = 0.0
    if criterion == GINI:
        for k in range(2, m + 2):
            total += s[k] * s[k]
        return w - total / w
    if criterion == ENTROPY:
        for k in range(2, m + 2):
            if s[k] > 0.0:
                total -= s[k] * np.log2(s[k] / w)
        return total
    if criterion == ERROR:
        for k in range(2, m + 2):
            total = max(total, s[k])
        return w - total
    if criterion == SQUARED:
        for k in range(2, m + 2):
            total += s[k] * s[k]
        return -total / (w * m)
    if criterion == ENTROPIES:
        for k in range(2, m + 2):
            if s[k] > 0.0:
                total -= s[k] * np.log2(s[k] / w)
        return total / m
    for k in range(2, m + 2):  # Poisson
        if s[k] <= 1e-300:
            return np.inf
        total -= s[k] * np.log(s[k] / w)
    return total / m


@compiled(**BARE)
def groups_of_sorted(values, rows, labels, target, wr, classify, plain, center, groups, marks, missing):
    """Groups of equal values along a sorted column; returns their number. Missing rows come last."""
    g, m, n = -1, center.size, rows.size
    last = 0.0
    while n > 0 and values[n - 1] != values[n - 1]:
        n -= 1
    for at in range(rows.size):
        i, x = rows[at], values[at]
        w = r = 1.0
        if plain < 2:
            w, r = wr[i, 0], wr[i, 1]
        if at >= n:
            missing[0] += r
            missing[1] += w
            if classify:
                missing[2 + labels[i]] += w
            for o in range(0 if classify else m):
                missing[2 + o] += w * (target[i, o] - center[o])
            continue
        if g < 0 or x != last:
            g += 1
            for k in range(m + 2):
                groups[g, k] = 0.0
            marks[g, 0] = marks[g, 1] = marks[g, 2] = last = x
        groups[g, 0] += r
        groups[g, 1] += w
        if classify:
            groups[g, 2 + labels[i]] += w
        for o in range(0 if classify else m):
            groups[g, 2 + o] += w * (target[i, o] - center[o])
    return g + 1


@compiled(**BARE)
def groups_of_codes(codes, limits, rows, labels, target, wr, classify, plain, center, groups, marks, missing):
    """Groups of a node of byte codes: a histogram over 256 bins, empty bins squeezed out."""
    m = center.size
    for c in range(256):
        for k in range(m + 2):
            groups[c, k] = 0.0
    if classify and plain == 2:
        for i in rows:
            groups[codes[i], 2 + labels[i]] += 1.0
    elif classify and plain == 1:
        for i in rows:
            groups[codes[i], 2 + labels[i]] += wr[i, 0]
    elif classify:
        for i in rows:
            groups[codes[i], 0] += wr[i, 1]
            groups[codes[i], 2 + labels[i]] += wr[i, 0]
    else:
        for i in rows:
            c = codes[i]
            w = wr[i, 0]
            groups[c, 0] += wr[i, 1]
            groups[c, 1] += w
            for o in range(m):
                groups[c, 2 + o] += w * (target[i, o] - center[o])
    g = 0
    for c in range(256):
        if classify:
            for k in range(m):
                groups[c, 1] += groups[c, 2 + k]
            if plain > 0:
                groups[c, 0] = groups[c, 1]
        if groups[c, 0] > 0.0:
            if c == MISSING_CODE:
                for k in range(m + 2):
                    missing[k] = groups[c, k]
                continue
            for k in range(m + 2):
                groups[g, k] = groups[c, k]
            marks[g, 0], marks[g, 1], marks[g, 2] = limits[c, 0], limits[c, 1], c
            g += 1
    return g


@compiled(**BARE)
def groups_of_few(codes, limits, rows, labels, target, wr, classify, center, groups, marks, missing, keys):
    """The same for a small node: its codes are sorted by insertion."""
    n, m = 0, center.size
    for i in rows:
        key, k = (np.int64(codes[i]) << 32) | np.int64(i), n
        while k > 0 and keys[k - 1] > key:
            keys[k] = keys[k - 1]
            k -= 1
        keys[k] = key
        n += 1
    g, last = -1, np.int64(-1)
    for k in range(n):
        c, i = keys[k] >> 32, keys[k] & 0xFFFFFFFF
        if c != last:
            g += 1
            for k2 in range(m + 2):
                groups[g, k2] = 0.0
            marks[g, 0], marks[g, 1], marks[g, 2] = limits[c, 0], limits[c, 1], c
            last = c
        w = wr[i, 0]
        groups[g, 0] += wr[i, 1]
        groups[g, 1] += w
        if classify:
            groups[g, 2 + labels[i]] += w
        else:
            for o in range(m):
                groups[g, 2 + o] += w * (target[i, o] - center[o])
    if last == MISSING_CODE:
        for k in range(m + 2):
            missing[k] = groups[g, k]
        g -= 1
    return g + 1


@compiled(**BARE)
def judge(rules, sign, lefts, first, last, extra, side, total, parent, lower, upper, center, tie, best):
    """Judge the candidates first..last-1 by the statistics of their left sides (plus `extra` when side = 1).

    best = [gain, candidate, side, left weight, found] of the best allowed one; ties keep the earlier.
    """
    m, criterion = rules.n_stats, rules.criterion
    for g in range(first, last):
        add = float(side)
        reps, wl = lefts[g, 0] + add * extra[0], lefts[g, 1] + add * extra[1]
        wr = total[1] - wl
        if reps < rules.min_samples_leaf or total[0] - reps < rules.min_samples_leaf:
            continue
        if wl < rules.min_weight_leaf or wr < rules.min_weight_leaf or wl <= 0.0 or wr <= 0.0:
            continue
        sl = sr = 0.0
        for k in range(2, m + 2):
            l = lefts[g, k] + add * extra[k]
            r = total[k] - l
            if criterion in (GINI, SQUARED):
                sl += l * l
                sr += r * r
            elif criterion in (ENTROPY, ENTROPIES):
                sl -= l * np.log2(l / wl) if l > 0.0 else 0.0
                sr -= r * np.log2(r / wr) if r > 0.0 else 0.0
            elif criterion == ERROR:
                sl, sr = max(sl, l), max(sr, r)
            elif min(l, r) <= 1e-13 * total[k]:  # Poisson: a side without events has no finite deviance
                sl = np.inf
            else:
                sl -= l * np.log(l / wl)
                sr -= r * np.log(r / wr)
        if criterion == GINI:
            gain = parent - (wl - sl / wl) - (wr - sr / wr)
        elif criterion == SQUARED:
            gain = parent + (sl / wl + sr / wr) / m
        elif criterion == ERROR:
            gain = parent - (wl - sl) - (wr - sr)
        elif criterion == ENTROPY:
            gain = parent - sl - sr
        else:
            gain = parent - (sl + sr) / m
        if rules.constrained:
            which = 3 if criterion <= ERROR else 2
            a = (lefts[g, which] + add * extra[which]) / wl + center
            b = (total[which] - lefts[g, which] - add * extra[which]) / wr + center
            if min(a, b) < lower or max(a, b) > upper or (b - a) * sign < 0.0:
                continue
        if (best[4] == 0.0 and gain > -np.inf) or gain > best[0] + tie:
            best[0], best[1], best[2], best[3], best[4] = gain, g, side, wl, 1.0


@compiled(**BARE)
def cumulate(groups, n_groups, m):
    """Turn the statistics of groups into those of everything up to each group."""
    for g in range(1, n_groups):
        for k in range(m + 2):
            groups[g, k] += groups[g - 1, k]


@compiled(**BARE)
def cut_between(g, n_groups, marks, pick):
    """The threshold after group g: a random one, or the middle; below the next group's lowest value.

    It is +inf after the last group.
    """
    if g + 1 >= n_groups:
        return np.inf
    a, b = marks[g, 1], marks[g + 1, 0]
    t = max(pick, a) if pick == pick else a + (b - a) * 0.5
    return t if t < b else a


@compiled(**BARE)
def scatter_of_means(groups, n_groups, m, power):
    """power[3:] = the scatter of the categories' mean vectors."""
    weight = 0.0
    for k in range(m):
        power[1, k] = 0.0
    for g in range(n_groups):
        weight += groups[g, 1]
        for k in range(m):
            power[1, k] += groups[g, 2 + k]
    for a in range(m):
        for b in range(m):
            power[3 + a, b] = 0.0
    for g in range(n_groups):
        for a in range(m):
            da = groups[g, 2 + a] - groups[g, 1] * power[1, a] / weight
            for b in range(m):
                power[3 + a, b] += da * (groups[g, 2 + b] / groups[g, 1] - power[1, b] / weight)


@compiled(**BARE)
def principal(groups, n_groups, m, power):
    """power[0] = the first principal direction of the categories' mean vectors, by power iteration."""
    scatter_of_means(groups, n_groups, m, power)
    for k in range(m):
        power[0, k] = 1.0 / (k + 1.0)
    for _ in range(60):
        size = 0.0
        for a in range(m):
            power[2, a] = 0.0
            for b in range(m):
                power[2, a] += power[3 + a, b] * power[0, b]
            size += power[2, a] * power[2, a]
        if size <= 0.0:
            return
        for k in range(m):
            power[0, k] = power[2, k] / np.sqrt(size)


@compiled(**BARE)
def order_categories(classify, m, n_groups, groups, ranked, power):
    """ranked = the groups by their mean (second class's share), or along the first principal direction.

    The last two columns of `ranked` hold the key and the group's number; power is a work array (m + 3, m).
    """
    for k in range(m):
        power[0, k] = 0.0
    power[0, min(m - 1, 1) if classify else 0] = 1.0
    if m > 2:
        principal(groups, n_groups, m, power)
    for g in range(n_groups):
        key = 0.0
        for k in range(m):
            key += power[0, k] * groups[g, 2 + k] / groups[g, 1]
        at = g
        while at > 0 and ranked[at - 1, m + 2] > key:
            for k in range(m + 4):
                ranked[at, k] = ranked[at - 1, k]
            at -= 1
        for k in range(m + 2):
            ranked[at, k] = groups[g, k]
        ranked[at, m + 2], ranked[at, m + 3] = key, g


@compiled(**BARE)
def enumerate_categories(n_groups, m, groups, lefts):
    """lefts[c] = the statistics of the categories in the bits of 2c + 1; the first category stays left."""
    for c in range(2 ** (n_groups - 1)):
        for k in range(m + 2):
            lefts[c, k] = 0.0
            for g in range(n_groups):
                if ((2 * c + 1) >> g) & 1:
                    lefts[c, k] += groups[g, k]


@compiled(**BARE)
def is_exhaustive(m, n_groups):
    """Whether all subsets of the categories are tried: many classes, few categories."""
    return m > 2 and n_groups <= 10


@compiled(**BARE)
def arrange_categories(classify, m, n_groups, groups, ranked, power):
    """ranked = the statistics of the left sides of all candidates; returns how many."""
    if is_exhaustive(m, n_groups):
        enumerate_categories(n_groups, m, groups, ranked)
        return 2 ** (n_groups - 1)
    order_categories(classify, m, n_groups, groups, ranked, power)
    cumulate(ranked, n_groups, m)
    return n_groups


@compiled(**BARE)
def mark_categories(m, n_groups, ranked, marks, place, mask):
    """mask[category] = 1 left, 2 right, 0 absent: of a subset, or of the first groups in order."""
    for c in range(mask.size):
        mask[c] = 0
    for g in range(n_groups):
        if is_exhaustive(m, n_groups):
            mask[np.int64(marks[g, 2])] = 1 if ((2 * place + 1) >> g) & 1 else 2
        else:
            mask[np.int64(marks[np.int64(ranked[g, m + 3]), 2])] = 1 if g <= place else 2


@compiled(**BARE)
def first_cut(n_groups, marks, f, key):
    """The group after which a uniform random threshold falls, and the threshold."""
    pick = marks[0, 0] + uniform(key ^ mix(np.uint64(f))) * (marks[n_groups - 1, 1] - marks[0, 0])
    first = 0
    while first + 2 < n_groups and marks[first + 1, 0] <= pick:
        first += 1
    return first, pick
