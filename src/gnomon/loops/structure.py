"""Scores of families and search over subsets. Arrays in, arrays out; codes of columns are whole numbers from 0."""

import math

import numpy as np

from gnomon.loops._compile import PART, compiled

LOGLIK, K2, BDEU = 0, 1, 2


@compiled(**PART)
def table_score(counts, rows, states, kind, alpha_cell, alpha_row):
    """The score of a table of counts (rows × states, flat) without its penalty.

    kind 0: Σ N ln(N/N_row); 1 and 2: the Dirichlet marginal likelihood with alpha_cell a cell. Rows without
    counts add nothing.
    """
    value = 0.0
    base = math.lgamma(alpha_row) if kind != LOGLIK else 0.0
    cell = math.lgamma(alpha_cell) if kind != LOGLIK else 0.0
    for j in range(rows):
        total = 0.0
        for k in range(j * states, (j + 1) * states):
            total += counts[k]
        if total <= 0.0:
            continue
        if kind == LOGLIK:
            for k in range(j * states, (j + 1) * states):
                if counts[k] > 0.0:
                    value += counts[k] * math.log(counts[k])
            value -= total * math.log(total)
        else:
            value += base - math.lgamma(alpha_row + total)
            for k in range(j * states, (j + 1) * states):
                if counts[k] > 0.0:
                    value += math.lgamma(alpha_cell + counts[k]) - cell
    return value


@compiled
def with_each(base, base_rows, base_size, columns, cards, child, others, weight, kind, ess, counts, out):
    """out[i] = score of the child given the base configuration and others[i] as one more parent (-1: none).

    base[row] is the number of the base's configuration among base_rows that occur; base_size counts all of them,
    seen or not, which is what the prior is spread over.
    """
    states = cards[child]
    own = columns[child]
    for i in range(others.shape[0]):
        p = others[i]
        more = cards[p] if p >= 0 else 1
        size = base_rows * more * states
        for k in range(size):
            counts[k] = 0.0
        if p >= 0:
            extra = columns[p]
            for r in range(weight.shape[0]):
                counts[(base[r] * more + extra[r]) * states + own[r]] += weight[r]
        else:
            for r in range(weight.shape[0]):
                counts[base[r] * states + own[r]] += weight[r]
        alpha_cell = 1.0
        if kind == BDEU:
            alpha_cell = ess / (base_size * more * states)
        out[i] = table_score(counts, base_rows * more, states, kind, alpha_cell, alpha_cell * states)


@compiled
def each_child(base, base_rows, base_size, columns, cards, children, weight, kind, ess, counts, out):
    """out[i] = score of children[i] given the base configuration."""
    for i in range(children.shape[0]):
        child = children[i]
        states, own = cards[child], columns[child]
        for k in range(base_rows * states):
            counts[k] = 0.0
        for r in range(weight.shape[0]):
            counts[base[r] * states + own[r]] += weight[r]
        alpha_cell = 1.0
        if kind == BDEU:
            alpha_cell = ess / (base_size * states)
        out[i] = table_score(counts, base_rows, states, kind, alpha_cell, alpha_cell * states)


@compiled
def best_parents(scores, best, choice):
    """best[v, S] = the largest score of v with parents within S, choice[v, S] = those parents; S are bits.

    scores[v, S] is -inf where S is not allowed. Ties go to the smaller set that is met first.
    """
    n, subsets = scores.shape
    for v in range(n):
        for s in range(subsets):
            value, mask = scores[v, s], s
            rest = s
            while rest:
                low = rest & -rest
                rest ^= low
                if best[v, s ^ low] >= value:
                    value, mask = best[v, s ^ low], choice[v, s ^ low]
            best[v, s] = value
            choice[v, s] = mask


@compiled
def best_sinks(best, value, sink):
    """value[W] = the largest score of a graph on W, sink[W] = a node without children in it (lowest index)."""
    n, subsets = best.shape
    value[0] = 0.0
    for w in range(1, subsets):
        top, last = -np.inf, -1
        for v in range(n):
            if w >> v & 1:
                rest = w ^ (1 << v)
                here = value[rest] + best[v, rest]
                if here > top:
                    top, last = here, v
        value[w] = top
        sink[w] = last
