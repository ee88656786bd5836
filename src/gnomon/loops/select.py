"""The smallest of many numbers with the places they came from. Arrays in, arrays changed in place; no NaN."""

from gnomon.loops._compile import PART, compiled

SHORT = 12  # entries below which a range is sorted by insertion


@compiled(**PART)
def select(keys, places, lo, hi, middle):
    """Reorder keys[lo:hi] and places with them so that none before `middle` is larger than any from it on."""
    while hi - lo > SHORT:
        a, b, c = keys[lo], keys[(lo + hi) // 2], keys[hi - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = lo, hi - 1
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                places[i], places[j] = places[j], places[i]
                i += 1
                j -= 1
        if middle <= j:
            hi = j + 1
        elif middle >= i:
            lo = i
        else:
            return
    for i in range(lo + 1, hi):
        key, place, j = keys[i], places[i], i
        while j > lo and keys[j - 1] > key:
            keys[j], places[j] = keys[j - 1], places[j - 1]
            j -= 1
        keys[j], places[j] = key, place


@compiled(**PART)
def insert(value, label, values, labels):
    """Put a pair into lists that ascend by value, then by label; the last pair falls out."""
    at = values.size - 1
    while at > 0 and (values[at - 1] > value or (values[at - 1] == value and labels[at - 1] > label)):
        values[at], labels[at] = values[at - 1], labels[at - 1]
        at -= 1
    values[at], labels[at] = value, label
