"""Treewidth by dynamic programming over sets of nodes, held as bits. Arrays in, arrays out."""

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def bits(mask):
    """Number of ones."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@compiled(**PART)
def degree_after(masks, subset, v):
    """Neighbors that v has once the nodes of `subset` (without v) are eliminated."""
    seen, found, waiting = 1 << v, 0, 1 << v
    while waiting:
        low = waiting & -waiting
        waiting ^= low
        u = bits(low - 1)
        fresh = masks[u] & ~seen
        seen |= fresh
        found |= fresh & ~subset
        waiting |= fresh & subset
    return bits(found & ~(1 << v))


@compiled
def width_of_subsets(masks, best, last):
    """best[S] = least width of eliminating S first, last[S] = the node to eliminate last among S."""
    n = masks.shape[0]
    for subset in range(1, 1 << n):
        least, choice = 127, 0
        for v in range(n):
            if subset >> v & 1:
                rest = subset ^ (1 << v)
                width = max(best[rest], degree_after(masks, rest, v))
                if width < least:
                    least, choice = width, v
        best[subset] = least
        last[subset] = choice
