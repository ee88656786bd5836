"""Edit distances of coded words: fewest or cheapest insertions, deletions and substitutions.

Words lie one after the other in one array of codes; word i is codes[ends[i] : ends[i + 1]]. A code that the other
side never uses is the largest one. Unit costs and words of up to 64 symbols go bit by bit (Myers 1999), all
others through two rows of the table.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.threads import in_order
from gnomon.loops._compile import PART, compiled
from gnomon.loops.select import insert

LONGEST = 64  # symbols of a word that fits the bits of a number
TASK = 2**16  # pairs of words compared by a task, about


@compiled(**PART)
def edits(a, b, costs, row):
    """Cheapest way from a to b by insertions, deletions and substitutions; row is scratch of length b.size
    + 1.
    """
    for j in range(b.size + 1):
        row[j] = j * costs[0]
    for i in range(a.size):
        diagonal = row[0]
        row[0] = (i + 1) * costs[1]
        for j in range(b.size):
            change = diagonal + (0.0 if a[i] == b[j] else costs[2])
            diagonal = row[j + 1]
            row[j + 1] = min(change, min(row[j] + costs[0], diagonal + costs[1]))
    return row[b.size]


@compiled(**PART)
def mark(word, masks):
    """masks[c] = the places of code c in the word, as bits."""
    for i in range(word.size):
        masks[word[i]] |= np.uint64(1) << np.uint64(i)


@compiled(**PART)
def unmark(word, masks):
    """Undo `mark`."""
    for i in range(word.size):
        masks[word[i]] = np.uint64(0)


@compiled(**PART)
def bitwise(masks, m, text):
    """Edit distance of a marked word of m symbols, 1 to 64, to a text: a column of the table in two words."""
    one, score = np.uint64(1), m
    last = one << np.uint64(m - 1)
    up, down = ~np.uint64(0), np.uint64(0)
    for j in range(text.size):
        equal = masks[text[j]]
        across = equal | down
        diagonal = (((equal & up) + up) ^ up) | equal
        right = down | ~(diagonal | up)
        left = up & diagonal
        if right & last:
            score += 1
        elif left & last:
            score -= 1
        right = (right << one) | one
        left = left << one
        up = left | ~(across | right)
        down = right & across
    return score


@compiled(**PART)
def compare(word, text, masks, plain, costs, row):
    """One edit distance; `plain` where all costs are one and the word is marked."""
    if plain:
        if word.size == 0:
            return np.float64(text.size)
        return np.float64(bitwise(masks, word.size, text))
    return edits(word, text, costs, row)


@compiled
def fill_edits(codes, ends, others, other_ends, unit, costs, masks, row, D):
    """D[i, j] = distance of word i to the other word j."""
    for i in range(ends.size - 1):
        word = codes[ends[i] : ends[i + 1]]
        plain = unit and word.size <= LONGEST
        if plain:
            mark(word, masks)
        for j in range(other_ends.size - 1):
            text = others[other_ends[j] : other_ends[j + 1]]
            D[i, j] = compare(word, text, masks, plain, costs, row)
        if plain:
            unmark(word, masks)


@compiled
def nearest_words(codes, ends, others, other_ends, labels, unit, costs, masks, row, values, found):
    """The k nearest of other words, which ascend in length: outward from the word's own length, as long as
    the difference in length alone is not too far.
    """
    n, k = other_ends.size - 1, values.shape[1]
    step = min(costs[0], costs[1])
    for i in range(ends.size - 1):
        word = codes[ends[i] : ends[i + 1]]
        plain = unit and word.size <= LONGEST
        if plain:
            mark(word, masks)
        value, label = values[i], found[i]
        value[:], label[:] = np.inf, n
        high = 0
        top = n
        while high < top:  # the first that is no shorter
            middle = (high + top) // 2
            if other_ends[middle + 1] - other_ends[middle] < word.size:
                high = middle + 1
            else:
                top = middle
        low = high - 1
        while low >= 0 or high < n:
            shorter = word.size - (other_ends[low + 1] - other_ends[low]) if low >= 0 else np.int64(2**62)
            longer = (other_ends[high + 1] - other_ends[high]) - word.size if high < n else np.int64(2**62)
            if min(shorter, longer) * step > value[k - 1]:
                break
            if longer <= shorter:
                j, high = high, high + 1
            else:
                j, low = low, low - 1
            text = others[other_ends[j] : other_ends[j + 1]]
            far = compare(word, text, masks, plain, costs, row)
            if far < value[k - 1] or (far == value[k - 1] and labels[j] < label[k - 1]):
                insert(far, labels[j], value, label)
        if plain:
            unmark(word, masks)


class Words(NamedTuple):
    """Sequences as codes, one after the other."""

    codes: Any  # int32
    ends: Any  # int64, one more than there are words
    longest: int

    def part(self, begin: int, end: int) -> "Words":
        """Return some of the words that follow each other."""
        return Words(self.codes, self.ends[begin : end + 1], self.longest)

    def take(self, places: Any) -> "Words":
        """Return these words in this order."""
        chosen = [self.codes[self.ends[i] : self.ends[i + 1]] for i in places]
        return _words(chosen)


class Alphabet:
    """The symbols of some words, and their codes; what is not among them shares one code more."""

    def __init__(self, words: Iterable[Any]) -> None:
        words = list(words)
        self.plain = all(isinstance(word, str) for word in words)
        if self.plain:
            self.symbols: Any = np.unique(_points("".join(words)))
        else:
            self.symbols = list(dict.fromkeys(symbol for word in words for symbol in word))

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, words: Iterable[Any]) -> Words:
        """Return words as codes."""
        words = list(words)
        if self.plain and all(isinstance(word, str) for word in words):
            points = _points("".join(words))
            codes = np.searchsorted(self.symbols, points)
            known = np.append(self.symbols, -1)[codes] == points
            ends = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
            codes = np.where(known, codes, len(self)).astype(np.int32)
            return Words(codes, ends, int(np.diff(ends).max(initial=0)))
        symbols = [chr(point) for point in self.symbols] if self.plain else self.symbols
        code = {symbol: i for i, symbol in enumerate(symbols)}
        return _words([np.array([code.get(s, len(code)) for s in word], dtype=np.int32) for word in words])


def _points(text: str) -> Any:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


def _words(arrays: list[Any]) -> Words:
    ends = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int64)
    codes = np.concatenate([*arrays, np.empty(0, dtype=np.int32)]).astype(np.int32)
    return Words(codes, ends, int(np.diff(ends).max(initial=0)))


def scratch(size: int, longest: int) -> tuple[Any, Any]:
    """Return the masks and the row that a comparison needs."""
    return np.zeros(size + 1, dtype=np.uint64), np.empty(longest + 1)


def edit_table(X: Any, Y: Any, costs: Any = (1.0, 1.0, 1.0)) -> Any:
    """Return the edit distances between the sequences of X and of Y (insert, delete, substitute).

    >>> edit_table(["kitten"], ["sitting", "kitten"])
    array([[3., 0.]])
    """
    X, Y = list(X), list(Y)
    alphabet = Alphabet([*X, *Y])
    ours, theirs = alphabet.encode(X), alphabet.encode(Y)
    prices = np.asarray(costs, dtype=np.float64)
    D = np.empty((len(X), len(Y)))

    def fill(begin: int) -> None:
        end = min(begin + size, len(X))
        part = ours.part(begin, end)
        masks, row = scratch(len(alphabet), theirs.longest)
        unit = bool((prices == 1.0).all())
        fill_edits(part.codes, part.ends, theirs.codes, theirs.ends, unit, prices, masks, row, D[begin:end])

    size = max(1, TASK // max(1, len(Y)))
    for _ in in_order(fill, range(0, len(X), size)):
        pass
    return D
