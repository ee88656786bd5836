"""Rules from frequent sets: these, therefore those."""

from __future__ import annotations

import math
from itertools import chain, combinations
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.association.measures import rule_measures
from gnomon.core.errors import DataError, nearest
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order

METRICS = [
    "antecedent support",
    "consequent support",
    "support",
    "confidence",
    "lift",
    "representativity",
    "leverage",
    "conviction",
    "zhangs_metric",
    "jaccard",
    "certainty",
    "kulczynski",
]
CHUNK_RULES = 200_000  # rules before they are filtered, at a time
LONGEST = 24  # items of a set that is split


class Sets(NamedTuple):
    """The frequent sets as codes."""

    objects: Any  # the frozensets, made when they are looked at
    starts: Array
    items: Array  # codes, ascending in a set
    names: list[Any]


class MissingSetError(DataError, KeyError):
    """The support of a part of a set is not known; a KeyError for those who caught mlxtend's."""

    def __str__(self) -> str:
        return str(self.args[0])


class Split(NamedTuple):
    """Rules, as numbers of sets."""

    whole: Array
    left: Array
    right: Array


def association_rules(
    df: Any,
    num_itemsets: int = 1,
    df_orig: Any = None,
    null_values: bool = False,
    metric: str = "confidence",
    min_threshold: float = 0.8,
    support_only: bool = False,
    return_metrics: Any = METRICS,
    *,
    max_consequent: int | None = None,
    exact: bool = True,
    significance: bool = False,
    level: float = 0.95,
    redundant: bool = True,
) -> Any:
    r"""Return the rules A ⇒ B of frequent sets whose measure reaches a threshold.

    Every frequent set of two or more items is split into an antecedent A and a consequent B in all ways. All
    counts are
    known already, so nothing is counted again. For confidence,

    .. math:: n_{A \cup B} \ge t\, n_A ,

    is decided in integers, so that 3 of 4 is 0.75 although 0.6 / 0.8 in floating point is less; consequents
    grow item by
    item, as moving an item from A to B cannot raise the confidence.

    Parameters
    ----------
    df : DataFrame
        What `apriori`, `eclat` or `fpgrowth` return: columns ``support``, ``itemsets`` and, for exact
        answers, ``count``.
    num_itemsets : int
        Number of baskets; known where `df` comes from this library.
    df_orig : DataFrame, optional
        The table of baskets, needed with `null_values`.
    null_values : bool
        Whether NaN cells of `df_orig` are unknown, as in mlxtend.
    metric : str
        One of the columns, such as "confidence", "lift" or "leverage".
    min_threshold : float
        Rules below it are left out.
    support_only : bool
        Whether `support` is all that is asked for: the sets then need not be complete. Other columns are NaN.
    return_metrics : list of str
        Columns wanted.
    max_consequent : int, optional
        Items on the right side at most.
    exact : bool
        False compares quotients of rounded supports as mlxtend does, and loses rules that lie on the threshold.
    significance : bool
        Whether to add intervals, χ² and Fisher's test with false discovery rates, corrected for all rules
        that were
        looked at (see `rule_measures`).
    level : float
        Of the intervals.
    redundant : bool
        Whether to keep rules that say nothing new: another one found has the same consequent, a smaller antecedent
        and no less confidence.

    Returns
    -------
    DataFrame
        ``antecedents``, ``consequents`` and mlxtend's measures; a set's rules follow each other, longest
        antecedent first.

    Examples
    --------
    >>> from gnomon.association import eclat
    >>> baskets = [["bread", "milk"], ["bread", "beer"], ["bread", "milk", "beer"], ["milk"]]
    >>> rules = association_rules(eclat(baskets, 0.5), min_threshold=0.9)
    >>> [(*a, *b) for a, b in zip(rules.antecedents, rules.consequents)], rules.lift.round(3).tolist()
    ([('beer', 'bread')], [1.333])
    """
    _check(df, metric, null_values, df_orig, num_itemsets, return_metrics)
    if not isinstance(min_threshold, Real) or math.isnan(min_threshold):
        raise DataError(f"min_threshold must be a number; got {min_threshold!r}.")
    if max_consequent is not None and (not isinstance(max_consequent, Integral) or max_consequent < 1):
        raise DataError(f"max_consequent must be a positive integer or None; got {max_consequent!r}.")
    if support_only:
        if not redundant:
            raise DataError("redundant=False compares confidences, which support_only=True does not have.")
        return _support_only(df, min_threshold, return_metrics, max_consequent)
    sets = _sets_of(df)
    counts, n = _counts(df, num_itemsets, exact and not null_values)
    if null_values:
        score = _Unknown(sets, df["support"].to_numpy(), df_orig, n).measures
        pruning = -1.0
    elif exact and n:
        score, pruning = _from_counts(counts, n), float(min_threshold) if metric == "confidence" else -1.0
    else:
        score, pruning = _from_supports(df["support"].to_numpy(dtype=np.float64), max(1, num_itemsets)), -1.0
    slack = 1e-9 if exact else 0.0
    kept, looked_at = _kept(sets, counts, score, metric, min_threshold - slack, pruning, max_consequent)
    columns = _in_order(kept, sets)
    measures = score(columns)
    if significance:
        if not n:
            raise DataError("significance needs counts: pass num_itemsets, or sets found by this library.")
        measures |= rule_measures(
            n,
            *(counts[c] for c in columns[1:]),
            counts[columns[0]],
            significance=True,
            level=level,
            n_tests=looked_at,
        )
        return_metrics = [*return_metrics, *(name for name in measures if name not in METRICS)]
    frame = _frame(sets, columns, measures, return_metrics, looked_at)
    if not redundant:
        told = _redundant(frame["antecedents"], frame["consequents"], measures["confidence"])
        frame = frame[~told].reset_index(drop=True)
    return frame


def _check(df: Any, metric: str, null_values: bool, df_orig: Any, num_itemsets: Any, wanted: Any) -> None:
    columns = list(getattr(df, "columns", ()))
    if "support" not in columns or "itemsets" not in columns:
        raise DataError(f"df must be a frame with the columns 'support' and 'itemsets'; it has {columns}.")
    if not len(df):
        raise DataError("df has no frequent itemsets; it is empty. Lower min_support.")
    if not df["support"].between(0, 1).all():
        raise DataError("supports must lie between 0 and 1: give shares of all baskets, not counts.")
    for name in (metric, *wanted):
        if name not in METRICS:
            raise DataError(f"metric {name!r} is not one of {METRICS}.{nearest(name, METRICS)}")
    if not isinstance(num_itemsets, Integral) or isinstance(num_itemsets, bool) or num_itemsets < 1:
        raise DataError(f"num_itemsets must be a positive integer; got {num_itemsets!r}.")
    if null_values and (df_orig is None or num_itemsets == 1):
        raise DataError("null_values=True needs df_orig and num_itemsets.")


def _sets_of(df: Any) -> Sets:
    from gnomon.association.columns import ItemsetArray

    missing = df["itemsets"].isna().to_numpy()
    if missing.any():
        raise DataError(f"row {int(np.argmax(missing))} of df has no itemset; leave such rows out.")
    given = df["itemsets"].array
    objects = given if isinstance(given, ItemsetArray) else ItemsetArray._from_sequence(map(frozenset, given))
    pool, index = objects.pool, objects.index
    lengths = np.diff(pool.starts)[index]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    items = pool.codes[np.repeat(pool.starts[index] - starts[:-1], lengths) + np.arange(starts[-1])]
    return Sets(objects, starts, items.astype(np.int64), pool.names.tolist())


def _counts(df: Any, num_itemsets: int, exact: bool) -> tuple[Array, int]:
    """Return counts of the sets and of the baskets; supports and zero where no counts can be had."""
    supports = df["support"].to_numpy(dtype=np.float64)
    n = int(df.attrs.get("n_baskets", 0) or (num_itemsets if num_itemsets > 1 else 0))
    if not exact:
        return supports, n
    if "count" in df.columns:
        counts = df["count"].to_numpy(dtype=np.float64)
        if not n and len(counts):
            n = round(float(counts[0] / supports[0]))
        return counts, n
    if n:
        return np.rint(supports * n), n
    return supports, 0


def _kept(
    sets: Sets, counts: Array, score: Any, metric: str, threshold: float, pruning: float, most: int | None
) -> tuple[Split, int]:
    """Return the rules that reach the threshold, and how many there were."""
    from gnomon.loops.rules import hash_table, set_keys, split_sets, without_one

    lengths = np.diff(sets.starts)
    if lengths.max(initial=0) > LONGEST:
        raise DataError(
            f"a set of {lengths.max()} items has {2.0 ** lengths.max():.2g} rules; "
            f"set max_len={LONGEST} at most."
        )
    keys = set_keys(sets.starts, sets.items)
    links = without_one(sets.starts, sets.items, keys, hash_table(keys))
    most = LONGEST if most is None else int(most)
    number = np.array([float(_rules_of(size, most)) for size in range(LONGEST + 1)])[lengths]

    def piece(edges: tuple[int, int]) -> Split:
        *found, missing = split_sets(*edges, sets.starts, counts, links, pruning, most)
        if missing >= 0:
            raise MissingSetError(
                f"a part of {set(sets.objects[missing])} is not among the itemsets, so its support is not known; "
                "use all frequent sets, or support_only=True."
            )
        part = Split(*found)
        if pruning < 0 and len(part.whole):
            keep = score(part)[metric] >= threshold
            part = Split(*(column[keep] for column in part))
        return part

    kept = [Split(*(np.zeros(0, dtype=np.int64),) * 3), *in_order(piece, _chunks(number))]
    return Split(*(np.concatenate(column) for column in zip(*kept))), int(number.sum())


def _rules_of(size: int, most: int) -> int:
    """Return how many rules with at most so many items on the right a set has."""
    return sum(math.comb(size, k) for k in range(1, min(most, size - 1) + 1))


def _chunks(number: Array) -> Any:
    """Yield ranges of sets with about as many rules each."""
    ends = np.flatnonzero(np.diff(np.floor(np.cumsum(number) / CHUNK_RULES))) + 1
    edges = [0, *ends.tolist(), len(number)]
    return zip(edges[:-1], edges[1:])


def _in_order(rules: Split, sets: Sets) -> Split:
    """Return the rules set by set, longest antecedent first, then in the order of the antecedents."""
    n = len(sets.objects)
    lengths = np.diff(sets.starts)
    order = np.argsort((rules.whole * 64 + lengths[rules.right]) * n + rules.left)
    return Split(*(column[order] for column in rules))


def _frame(sets: Sets, rules: Split, measures: Any, wanted: Any, looked_at: int) -> Any:
    pd = import_pandas()
    sides = {"antecedents": rules.left, "consequents": rules.right}
    columns = {name: np.asarray(sets.objects[side], dtype=object) for name, side in sides.items()}
    frame = pd.DataFrame({**columns, **{name: measures[name] for name in wanted}})
    frame.attrs["n_rules_considered"] = looked_at
    return frame


# measures of rules, from what is known


def _from_counts(counts: Array, n: int) -> Any:
    def measures(rules: Split) -> dict[str, Array]:
        return rule_measures(n, counts[rules.left], counts[rules.right], counts[rules.whole])

    return measures


def _from_supports(s: Array, n: int) -> Any:
    """Return the measures as quotients of rounded supports, step by step as mlxtend takes them."""

    def measures(rules: Split) -> dict[str, Array]:
        a, b, ab = s[rules.left], s[rules.right], s[rules.whole]
        return _floating(a, b, ab, ab * n / (a * n), ab * n / (b * n), np.ones_like(ab))

    return measures


def _floating(
    a: Array, b: Array, ab: Array, confidence: Array, back: Array, known: Array
) -> dict[str, Array]:
    leverage = ab - a * b
    scale = np.maximum(ab * (1 - a), a * (b - ab))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "antecedent support": a,
            "consequent support": b,
            "support": ab,
            "confidence": confidence,
            "lift": confidence / b,
            "representativity": known,
            "leverage": leverage,
            "conviction": np.where(confidence < 1.0, (1.0 - b) / (1.0 - confidence), np.inf),
            "zhangs_metric": np.where(scale == 0, 0.0, leverage / scale),
            "jaccard": ab / (a + b - ab),
            "certainty": np.where(b == 1, 0.0, (confidence - b) / (1 - b)),
            "kulczynski": (confidence + back) / 2,
        }


class _Unknown:
    """Measures where cells of the table are unknown: baskets that do not know a set leave its denominator."""

    def __init__(self, sets: Sets, supports: Array, table: Any, n: int) -> None:
        frame = table.astype("float64")
        columns = list(frame.columns)
        values = frame.to_numpy()
        place = [columns.index(name) if name in columns else int(name) for name in sets.names]
        self.present, self.missing = values[:, place] == 1, np.isnan(values[:, place])
        self.sets, self.s, self.n = sets, supports, n
        self.memory: dict[int, tuple[Array, Array]] = {}

    def of(self, index: int) -> tuple[Array, Array]:
        """Return which baskets hold all of a set, and which do not know all of it."""
        if index not in self.memory:
            items = self.sets.items[self.sets.starts[index] : self.sets.starts[index + 1]]
            held, unknown = self.present[:, items].all(axis=1), self.missing[:, items].any(axis=1)
            self.memory[index] = held, unknown
        return self.memory[index]

    def measures(self, rules: Split) -> dict[str, Array]:
        a, b, ab = self.s[rules.left], self.s[rules.right], self.s[rules.whole]
        rows = np.zeros((5, len(a)))
        for i, (whole, left, right) in enumerate(zip(*rules)):
            (_, not_all), (held_a, not_a), (held_b, not_b) = self.of(whole), self.of(left), self.of(right)
            rows[:, i] = (
                not_all.sum(),
                not_a.sum(),
                not_b.sum(),
                (not_b & held_a).sum(),
                (not_a & held_b).sum(),
            )
        both = ab * (self.n - rows[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            confidence = both / (a * (self.n - rows[1]) - rows[3])
            back = both / (b * (self.n - rows[2]) - rows[4])
        return _floating(a, b, ab, confidence, back, (self.n - rows[0]) / self.n)


def _support_only(df: Any, threshold: float, wanted: Any, most: int | None) -> Any:
    pd = import_pandas()
    rows = []
    for items, share in zip(df["itemsets"], df["support"]):
        if share < threshold:
            continue
        for k in range(len(items) - 1, 0, -1):
            if most is None or len(items) - k <= most:
                rows += [
                    (frozenset(c), frozenset(items) - set(c), share)
                    for c in combinations(sorted(items, key=str), k)
                ]
    frame = pd.DataFrame({"antecedents": [r[0] for r in rows], "consequents": [r[1] for r in rows]})
    for name in wanted:
        frame[name] = [r[2] for r in rows] if name == "support" else np.full(len(rows), np.nan)
    return frame


def _redundant(left: Any, right: Any, confidence: Any) -> Array:
    """Tell which rules say nothing new: another has the same right side, a smaller left one and no less confidence."""
    known: dict[Any, dict[Any, float]] = {}
    for a, b, value in zip(left, right, confidence):
        known.setdefault(b, {})[a] = value
    return np.array(
        [_told_by_less(a, value, known[b]) for a, b, value in zip(left, right, confidence)], dtype=bool
    )


def _told_by_less(a: frozenset[Any], confidence: float, others: dict[Any, float]) -> bool:
    if 2 ** len(a) > len(others):
        return any(other < a and value >= confidence for other, value in others.items())
    parts = chain.from_iterable(combinations(a, k) for k in range(1, len(a)))
    return any(others.get(frozenset(part), -1.0) >= confidence for part in parts)
