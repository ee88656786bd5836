"""Sorting in place, by Shell's gaps: short to compile, where Numba's own sort takes a second for every type."""

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def put_in_order(values, low, high):
    """Sort values[low:high], ascending."""
    gap = 1
    while gap < (high - low) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(low + gap, high):
            value, at = values[i], i
            while at >= low + gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@compiled(**PART)
def put_in_order_by(keys, values):
    """Sort the values by their keys, and the keys, ascending."""
    gap = 1
    while gap < len(keys) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(keys)):
            key, value, at = keys[i], values[i], i
            while at >= gap and keys[at - gap] > key:
                keys[at], values[at] = keys[at - gap], values[at - gap]
                at -= gap
            keys[at], values[at] = key, value
        gap //= 3
