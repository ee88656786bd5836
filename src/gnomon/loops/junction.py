"""Messages in junction trees. Tables of all cliques lie one behind the other; arrays in, arrays out.

A clique's table is C-ordered over its variables. A smaller table (separator, family, evidence) is reached by
strides: one for every axis of the clique, zero where the smaller table does not have the variable.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled

SMALL = 1e-100  # tables whose largest entry is below are scaled up


@compiled(**PART)
def advance(count, sizes, strides, first, axes, place):
    """Go to the next row of a table (all axes but the last); returns the place in the smaller table."""
    for a in range(axes - 2, -1, -1):
        count[a] += 1
        place += strides[first + a]
        if count[a] < sizes[a]:
            return place
        place -= strides[first + a] * sizes[a]
        count[a] = 0
    return place


@compiled(**INNER)
def shape_of(tree, c, count, sizes):
    """Fill in the sizes of a clique and set the counters to zero; returns (axes, entries)."""
    begin, axes, entries = tree.axis_start[c], tree.axis_start[c + 1] - tree.axis_start[c], 1
    for a in range(axes):
        sizes[a] = tree.cards[tree.axis[begin + a]]
        count[a] = 0
        entries *= sizes[a]
    return axes, entries


@compiled(**PART)
def multiply(tree, c, table, strides, first, small, offset, count, sizes):
    """Multiply clique c by a smaller table; returns the largest entry."""
    axes, entries = shape_of(tree, c, count, sizes)
    last, step = sizes[axes - 1], strides[first + axes - 1]
    here, place, largest = tree.table_start[c], offset, 0.0
    for _ in range(entries // last):
        for j in range(last):
            value = table[here + j] * small[place + j * step]
            table[here + j] = value
            largest = max(largest, value)
        here += last
        place = advance(count, sizes, strides, first, axes, place)
    return largest


@compiled(**PART)
def gather(tree, c, table, strides, first, small, offset, maximize, weight, count, sizes):
    """Add clique c, times a weight, into a smaller table, or take the maximum with it."""
    axes, entries = shape_of(tree, c, count, sizes)
    last, step = sizes[axes - 1], strides[first + axes - 1]
    here, place = tree.table_start[c], offset
    for _ in range(entries // last):
        if maximize:
            for j in range(last):
                small[place + j * step] = max(small[place + j * step], table[here + j])
        else:
            for j in range(last):
                small[place + j * step] += weight * table[here + j]
        here += last
        place = advance(count, sizes, strides, first, axes, place)


@compiled(**PART)
def collect(tree, table, messages, maximize, count, sizes):
    """Send messages from the leaves to the roots; returns ln of the total (or of the maximum)."""
    total = 0.0
    for position in range(tree.order.shape[0] - 1, -1, -1):
        c = tree.order[position]
        up = tree.parent[c]
        if up < 0:
            begin, end = tree.table_start[c], tree.table_start[c + 1]
            scale = 0.0
            for i in range(begin, end):
                scale = max(scale, table[i]) if maximize else scale + table[i]
            if not scale > 0.0:
                return -np.inf
            for i in range(begin, end):
                table[i] /= scale
        else:
            begin, end = tree.message_start[c], tree.message_start[c + 1]
            messages[begin:end] = 0.0
            gather(
                tree, c, table, tree.to_own, tree.axis_start[c], messages, begin, maximize, 1.0, count, sizes
            )
            scale = 0.0
            for i in range(begin, end):
                scale = max(scale, messages[i]) if maximize else scale + messages[i]
            if not scale > 0.0:
                return -np.inf
            for i in range(begin, end):
                messages[i] /= scale
            largest = multiply(
                tree, up, table, tree.to_child, tree.child_start[c], messages, begin, count, sizes
            )
            if 0.0 < largest < SMALL:  # a clique with hundreds of neighbors
                for i in range(tree.table_start[up], tree.table_start[up + 1]):
                    table[i] /= largest
                total += np.log(largest)
        total += np.log(scale)
    return total


@compiled(**PART)
def distribute(tree, table, messages, fresh, maximize, count, sizes):
    """Send messages from the roots to the leaves (Hugin: new separator over old, 0/0 = 0)."""
    for position in range(tree.order.shape[0]):
        c = tree.order[position]
        up = tree.parent[c]
        if up < 0:
            continue
        begin, end = tree.message_start[c], tree.message_start[c + 1]
        fresh[begin:end] = 0.0
        gather(tree, up, table, tree.to_child, tree.child_start[c], fresh, begin, maximize, 1.0, count, sizes)
        scale = 0.0  # of the clique before: its message was scaled by it
        for i in range(tree.table_start[c], tree.table_start[c + 1]):
            scale = max(scale, table[i]) if maximize else scale + table[i]
        for i in range(begin, end):
            new = fresh[i]
            fresh[i] = new / (messages[i] * scale) if messages[i] > 0.0 else 0.0
            messages[i] = new
        multiply(tree, c, table, tree.to_own, tree.axis_start[c], fresh, begin, count, sizes)


@compiled(**PART)
def enter(tree, table, codes, count, sizes):
    """Set entries that contradict the observed codes (-1: not observed) to zero."""
    for v in range(codes.shape[0]):
        if codes[v] < 0:
            continue
        c, place = tree.home[v], 0
        axes, entries = shape_of(tree, c, count, sizes)
        begin = tree.axis_start[c]
        inner = 1
        for a in range(axes - 1, -1, -1):
            if tree.axis[begin + a] == v:
                place = a
                break
            inner *= sizes[a]
        block = inner * sizes[place]
        here = tree.table_start[c]
        for i in range(here, here + entries, block):
            for k in range(sizes[place]):
                if k != codes[v]:
                    for j in range(i + k * inner, i + (k + 1) * inner):
                        table[j] = 0.0


@compiled
def calibrate(tree, table, codes, likelihoods, soft, messages, fresh, maximize):
    """Enter evidence, send all messages; table ends as the beliefs. Returns ln P(evidence) or ln of the maximum.

    likelihoods has one number for every state of every variable and counts where soft[v] is set.
    """
    count, sizes = np.zeros(tree.widest, np.int64), np.zeros(tree.widest, np.int64)
    enter(tree, table, codes, count, sizes)
    for v in range(codes.shape[0]):
        if soft[v]:
            multiply(
                tree, tree.home[v], table, tree.to_state, tree.state_start[v], likelihoods, tree.card_start[v],
                count, sizes,
            )  # fmt: skip
    total = collect(tree, table, messages, maximize, count, sizes)
    if total > -np.inf:
        distribute(tree, table, messages, fresh, maximize, count, sizes)
    return total


@compiled
def margins(tree, table, maximize, out):
    """out = the margin (or max-margin) of every variable, one behind the other, each summing to one (or as is)."""
    count, sizes = np.zeros(tree.widest, np.int64), np.zeros(tree.widest, np.int64)
    out[:] = 0.0
    for v in range(tree.cards.shape[0]):
        gather(
            tree, tree.home[v], table, tree.to_state, tree.state_start[v], out, tree.card_start[v], maximize, 1.0,
            count, sizes,
        )  # fmt: skip
        if not maximize:
            begin, end = tree.card_start[v], tree.card_start[v + 1]
            scale = out[begin:end].sum()
            for i in range(begin, end):
                out[i] /= scale


@compiled
def best_states(tree, table, codes):
    """codes = a joint state of largest value, from max-calibrated tables; ties go to the first."""
    count, sizes = np.zeros(tree.widest, np.int64), np.zeros(tree.widest, np.int64)
    codes[:] = -1
    for position in range(tree.order.shape[0]):
        c = tree.order[position]
        axes, entries = shape_of(tree, c, count, sizes)
        begin, here = tree.axis_start[c], tree.table_start[c]
        best, where = -1.0, -1
        for i in range(entries):
            if table[here + i] > best:
                rest, fits = i, True
                for a in range(axes - 1, -1, -1):
                    known = codes[tree.axis[begin + a]]
                    if known >= 0 and known != rest % sizes[a]:
                        fits = False
                        break
                    rest //= sizes[a]
                if fits:
                    best, where = table[here + i], i
        for a in range(axes - 1, -1, -1):
            codes[tree.axis[begin + a]] = where % sizes[a]
            where //= sizes[a]


@compiled
def expected_counts(tree, base, rows, weights, counts, log_likelihoods):
    """Add, over rows of codes (-1: missing), the expected counts of every family; fill in ln P(row).

    A row that is impossible adds nothing and has -inf.
    """
    count, sizes = np.zeros(tree.widest, np.int64), np.zeros(tree.widest, np.int64)
    table = np.empty_like(base)
    messages, fresh = np.empty(tree.message_start[-1]), np.empty(tree.message_start[-1])
    for i in range(rows.shape[0]):
        table[:] = base
        enter(tree, table, rows[i], count, sizes)
        total = collect(tree, table, messages, False, count, sizes)
        log_likelihoods[i] = total
        if total == -np.inf:
            continue
        distribute(tree, table, messages, fresh, False, count, sizes)
        for v in range(tree.family_home.shape[0]):
            gather(
                tree, tree.family_home[v], table, tree.to_family, tree.family_start[v], counts,
                tree.family_table_start[v], False, weights[i], count, sizes,
            )  # fmt: skip


@compiled
def row_answers(tree, base, rows, maximize, log_likelihoods, completed, target, proba):
    """For every row of codes: ln P(row) (or of its best completion), the completion, the margin of one variable."""
    count, sizes = np.zeros(tree.widest, np.int64), np.zeros(tree.widest, np.int64)
    table = np.empty_like(base)
    messages, fresh = np.empty(tree.message_start[-1]), np.empty(tree.message_start[-1])
    for i in range(rows.shape[0]):
        table[:] = base
        enter(tree, table, rows[i], count, sizes)
        total = collect(tree, table, messages, maximize, count, sizes)
        log_likelihoods[i] = total
        if total == -np.inf:
            continue
        if maximize:
            best_states(tree, table, completed[i])
        elif target >= 0:
            distribute(tree, table, messages, fresh, False, count, sizes)
            proba[i] = 0.0
            gather(
                tree, tree.home[target], table, tree.to_state, tree.state_start[target], proba[i], 0, False, 1.0,
                count, sizes,
            )  # fmt: skip
            proba[i] /= proba[i].sum()


@compiled
def fill_base(tree, tables, base):
    """base = the product of the families' tables, which lie one behind the other, clique by clique."""
    count, sizes = np.zeros(tree.widest, np.int64), np.zeros(tree.widest, np.int64)
    base[:] = 1.0
    for v in range(tree.family_home.shape[0]):
        multiply(
            tree, tree.family_home[v], base, tree.to_family, tree.family_start[v], tables,
            tree.family_table_start[v], count, sizes,
        )  # fmt: skip


@compiled
def draw(cumulative, row, uniform, out):
    """out[i] = the first state whose cumulative share in line row[i] exceeds uniform[i] of the line's total."""
    states = cumulative.shape[1]
    for i in range(row.shape[0]):
        line = cumulative[row[i]]
        goal = uniform[i] * line[states - 1]
        low, high = 0, states - 1
        while low < high:
            middle = (low + high) // 2
            if line[middle] > goal:
                high = middle
            else:
                low = middle + 1
        out[i] = low
