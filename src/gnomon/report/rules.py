"""Rules of baskets: a file in, a page and a table of rules out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.saving import write_atomically
from gnomon.report.columns import QuestionError
from gnomon.report.tables import read_table

Watch = Callable[[str, int, int], None]
SUPPORTS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)  # tried in turn
ENOUGH_RULES = 30  # a lower support is not tried
MOST_SETS = 200_000  # nor one that would give more sets
MOST_ITEMS = 5  # in a set
LEAST_COUNT = 5  # baskets
LEVEL = 0.05  # of the tests, after the correction for all rules that were looked at
SHOWN = 30
LINES = (".txt", ".dat", ".basket", ".baskets")
COLUMNS = [
    "antecedents",
    "consequents",
    "count",
    "support",
    "confidence",
    "confidence low",
    "confidence high",
    "lift",
    "fisher q",
]


@dataclass
class RulesFound:
    """What was found in baskets, and how."""

    source: str
    n_baskets: int
    n_items: int
    min_support: float
    min_confidence: float
    n_sets: int
    n_considered: int
    rules: Any  # frame, the best first
    said: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def answer(self) -> str:
        """Return the outcome in a sentence."""
        if not len(self.rules):
            return (
                f"No rule holds in at least {self.min_confidence:.0%} of its baskets more often than by chance, among "
                f"sets in {self.min_support:.2%} of the baskets. Lower --min-support or --min-confidence."
            )
        a, b, lift = self.rules.iloc[0][["antecedents", "consequents", "lift"]]
        first = f"{joined_items(a)} ⇒ {joined_items(b)} (lift {lift:.2f})"
        return f"{len(self.rules)} rules hold more often than by chance, above all {first}."

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers, words and lists."""
        rows = self.rules.to_dict("records")
        for row in rows:
            row["antecedents"], row["consequents"] = (
                sorted(map(str, row[s])) for s in ("antecedents", "consequents")
            )
        return {
            "answer": self.answer(),
            "task": "rules",
            "baskets": self.n_baskets,
            "items": self.n_items,
            "min_support": self.min_support,
            "min_confidence": self.min_confidence,
            "sets": self.n_sets,
            "rules_considered": self.n_considered,
            "said": self.said,
            "rules": rows,
            "seconds": round(self.seconds, 3),
        }

    def to_html(self) -> str:
        """Return the report: one page that needs no other file and no network."""
        from gnomon.report.markup import table, tag
        from gnomon.report.page import document, figure, pair, paragraphs, section
        from gnomon.report.pictures import svg

        name = Path(self.source).name
        facts = f"gnomon compare --task rules · {name} · {self.n_baskets} baskets, {self.n_items} items"
        header = tag(
            "header",
            tag("p", f"{facts} · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", class_="kicker"),
            tag("h1", self.answer()),
        )
        drawn = []
        if len(self.rules):
            cloud = svg(
                _picture(self.rules, "scatter"), "Support and confidence of every rule, colored by lift"
            )
            arrows = svg(_picture(self.rules.head(SHOWN), "graph"), "The best rules as arrows", (6.4, 5.6))
            drawn = [figure(cloud, "Every rule that is kept"), figure(arrows, "The best as arrows")]
        head = ["rule", "baskets", "support", "confidence", "95% interval", "lift", "q"]
        rows = table("The best rules", head, self.rows(SHOWN), numeric=6)
        return document(
            f"Rules: {name}",
            header,
            section("The rules", pair(*drawn), rows),
            section("How it was done", *paragraphs([*self.said, *self.how()])),
        )

    def rows(self, most: int) -> list[list[str]]:
        """Return the best rules as words."""
        return [
            [
                f"{joined_items(a)} ⇒ {joined_items(b)}",
                str(int(n)),
                f"{s:.2%}",
                f"{c:.1%}",
                f"{low:.1%} to {high:.1%}",
                f"{lift:.2f}",
                "< 0.001" if q < 0.001 else f"{q:.3f}",
            ]
            for a, b, n, s, c, low, high, lift, q in self.rules.head(most).itertuples(index=False)
        ]

    def how(self) -> list[str]:
        """Return how the rules were found, in sentences."""
        return [
            f"All {self.n_sets} sets of up to {MOST_ITEMS} items in at least {self.min_support:.2%} of the baskets "
            f"were found, and {self.n_considered} rules with one item on the right were looked at. Kept are those "
            f"with a confidence of at least {self.min_confidence:.0%} whose right side is more frequent with the left "
            f"than by chance (Fisher's exact test, false discovery rate {LEVEL} over all rules looked at), and whose "
            "interval of the confidence no rule with a smaller left side reaches. First comes the largest lower end of "
            "the lift's interval.",
            f"Intervals of the confidence are Wilson's, 95%. {self.seconds:.1f} seconds.",
        ]

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write the page and the table of rules into a folder; return the paths."""
        import polars as pl

        folder = Path(folder)
        page = self.to_html().encode()
        table = pl.DataFrame(
            {
                name: [joined_items(one) for one in self.rules[name]]
                if place < 2
                else self.rules[name].to_numpy()
                for place, name in enumerate(COLUMNS)
            }
        )
        folder.mkdir(parents=True, exist_ok=True)
        paths = {"report": folder / "report.html", "rules": folder / "rules.csv"}
        write_atomically(paths["rules"], table.write_csv().encode())
        write_atomically(paths["report"], page)
        return paths


def _picture(table: Any, kind: str) -> Any:
    from gnomon import plot

    return lambda ax: plot.rules(table, ax, kind=kind)


def joined_items(items: Any) -> str:
    """Return a set of items in words.

    >>> joined_items({"milk", "bread"})
    'bread, milk'
    """
    return ", ".join(sorted(map(str, items)))


def find_rules(
    source: Any, *, min_support: float | None = None, min_confidence: float = 0.5, watch: Watch | None = None
) -> RulesFound:
    """Return the rules of the baskets in a file that hold more often than by chance, the surest lift first.

    Parameters
    ----------
    source : path
        One basket a line; a table of baskets and items, a row for every item; a table of 0 and 1, a column for
        every item; or any other table, whose answers are the items then.
    min_support : float in (0, 1], optional
        Share of the baskets; by default the largest of some that gives thirty rules.
    min_confidence : float in [0, 1]
        Of a rule that is kept.
    watch : function (name, done, total), optional
        Told of every support that is tried.
    """
    from gnomon.association import association_rules

    begin = time.monotonic()
    baskets, names, said = read(source)
    if len(baskets) < 2:
        raise DataError(f"{Path(source).name} has {len(baskets)} baskets; rules need at least two.")
    tell = watch or (lambda name, done, total: None)
    if min_support is not None and not 0 < min_support <= 1:
        raise QuestionError(f"--min-support must lie in (0, 1]; got {min_support}.")
    tried = [t for t in SUPPORTS if t * len(baskets) >= min(LEAST_COUNT, len(baskets) / 2)] or [0.5]
    best: Any = None
    for place, support in enumerate(tried if min_support is None else [min_support]):
        tell(f"support {support:.1%}", place, len(tried))
        sets = _sets(baskets, support, forced=min_support is not None)
        if sets is None:
            break
        found = (
            association_rules(sets, min_threshold=min_confidence, max_consequent=1, significance=True)
            if len(sets)
            else None
        )
        kept = _kept(found, len(baskets))
        best = (support, len(sets), 0 if found is None else found.attrs["n_rules_considered"], kept)
        if len(kept) >= ENOUGH_RULES:
            break
    if best is None:
        raise DataError(
            f"at a support of {tried[0]:.0%} there are more than {MOST_SETS:,} frequent sets already: nearly every "
            "item is in nearly every basket. Give --min-support, or leave out items that all baskets share."
        )
    support, n_sets, considered, kept = best
    if min_support is None:
        said.append(
            f"A support of {support:.2%} was chosen: sets in at least {max(1, round(support * len(baskets)))} baskets."
        )
    return RulesFound(
        str(source),
        len(baskets),
        names,
        support,
        min_confidence,
        n_sets,
        considered,
        kept,
        said,
        time.monotonic() - begin,
    )


def _sets(baskets: Any, support: float, forced: bool) -> Any:
    """Return the frequent sets, or None where there would be too many of them."""
    from gnomon.association import eclat, estimate_work

    if not forced and estimate_work(baskets, support, max_len=MOST_ITEMS, n_probes=200).sets > MOST_SETS:
        return None
    return eclat(baskets, support, max_len=MOST_ITEMS)


def _kept(found: Any, n: int) -> Any:
    pd = import_pandas()
    if found is None or not len(found):
        return pd.DataFrame({name: [] for name in COLUMNS})
    found = found.assign(count=np.rint(found["support"] * n).astype(np.int64))
    good = found[(found["fisher q"] <= LEVEL) & (found["lift"] > 1)]
    good = good[~_said_by_less(good)] if len(good) else good
    return good.sort_values("lift low", ascending=False, kind="stable")[COLUMNS].reset_index(drop=True)


def _said_by_less(rules: Any) -> Any:
    """Tell which rules are not clearly better than one with the same right side and a smaller left side."""
    known: dict[Any, list[tuple[Any, float]]] = {}
    for a, b, confidence in zip(rules["antecedents"], rules["consequents"], rules["confidence"]):
        known.setdefault(b, []).append((a, confidence))
    columns = (rules[name] for name in ("antecedents", "consequents", "confidence low"))
    return np.array([any(other < a and c >= low for other, c in known[b]) for a, b, low in zip(*columns)])


# reading


def read(source: Any) -> tuple[list[Any], int, list[str]]:
    """Return the baskets of a file as lists, how many items there are, and what was taken for what."""
    path = Path(source)
    if path.suffix.lower() in LINES and path.is_file():
        return _of_lines(path)
    try:
        frame = read_table(path)
    except DataError as error:
        if path.suffix.lower() == ".csv" and path.is_file() and "cells and the header has" in str(error):
            return _of_lines(path)
        raise
    return _of_table(frame, path.name)


def _of_lines(path: Path) -> tuple[list[Any], int, list[str]]:
    from gnomon.association import read_baskets

    baskets = read_baskets(path)
    return baskets, _distinct(baskets), ["Every line is a basket."]


def _of_table(frame: Any, name: str) -> tuple[list[Any], int, list[str]]:
    if frame.width == 2 and frame[frame.columns[0]].n_unique() < len(frame):
        basket, item = frame.columns
        whole = frame.drop_nulls()
        table = whole.group_by(basket, maintain_order=True).agg(item)
        baskets = [[str(one) for one in items] for items in table[item].to_list()]
        said = [f"A row is an item: {item}, in the basket {basket}."]
        return baskets, _distinct(baskets), said
    flags = [column for column in frame.columns if _is_flag(frame[column])]
    rest = [column for column in frame.columns if column not in flags]
    ids = [column for column in rest if frame[column].n_unique() == len(frame)]
    if len(flags) > 1 and len(rest) == len(ids):
        baskets = _ticked(frame.select(flags))
        said = [f"A row is a basket, and {len(flags)} columns of 0 and 1 are the items."]
        return baskets, len(flags), said + ([f"Not used: {', '.join(ids)}."] if ids else [])
    from gnomon.association import encode_survey

    kept = [column for column in frame.columns if column not in ids or frame[column].dtype.is_float()]
    kept = [
        column
        for column in kept
        if not frame[column].dtype.is_temporal() and frame[column].drop_nulls().n_unique() > 1
    ]
    if len(kept) < 2:
        raise DataError(
            f"{name} holds no baskets. Give one basket a line, a table of two columns (basket and item), a table of "
            "0 and 1, or a table with several columns of answers."
        )
    words = [column for column in kept if not frame[column].dtype.is_numeric()]
    items = encode_survey(
        frame.select(kept).to_pandas(), categorical=words, ordinal=[c for c in kept if c not in words]
    )
    table = items.to_numpy()
    names = np.array(items.columns, dtype=object)
    said = ["A row is a basket, and every answer is an item; numbers are cut at their median."]
    unused = [column for column in frame.columns if column not in kept]
    return (
        [names[row].tolist() for row in table],
        len(names),
        said + ([f"Not used: {', '.join(unused)}."] if unused else []),
    )


def _is_flag(column: Any) -> bool:
    import polars as pl

    return column.dtype == pl.Boolean or (
        column.dtype.is_numeric() and column.drop_nulls().cast(pl.Float64).is_in([0.0, 1.0]).all()
    )


def _ticked(frame: Any) -> list[list[str]]:
    table = frame.fill_null(0).to_numpy().astype(bool)
    names = np.array(frame.columns, dtype=object)
    return [names[row].tolist() for row in table]


def _distinct(baskets: list[Any]) -> int:
    return len(set().union(*baskets))
