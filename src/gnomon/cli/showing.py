"""How results look on a screen."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

from gnomon.cli.screen import Screen

BARS = "▁▂▃▄▅▆▇█"


def show_comparison(screen: Screen, result: Any, paths: dict[str, Path]) -> None:
    """Show what was inferred, the ranking, the answer, and where the files are."""
    from gnomon.report.words import answer, bounds, p_value, score, time_in_words

    for line in [*result.problem.said, *treatment(result.problem)]:
        screen.say(line)
    for line in result.problem.warned:
        screen.say(f"warning: {line}", style="yellow")
    screen.say("")
    head = ["model", result.problem.task.metric, "95% interval", "p (best)", "time"]
    width = max(8, min(28, screen.out.width - 68))
    drawn = intervals([(*bounds(result, e), result.shown(e.interval.mean)) for e in result.ranked], width)
    rows = [
        [e.name, score(result, e), picture, p_value(e), f"{e.seconds:.1f} s"]
        for e, picture in zip(result.ranked, drawn)
    ]
    screen.table(head, rows, numeric=(1, 3, 4))
    for entry in result.entries:
        if not entry.finished:
            screen.say(f"left out: {entry.name} ({entry.failure})")
    for name, limit in result.too_large.items():
        screen.say(
            f"left out: {name} (takes at most {limit} rows; name it in --models to try it all the same)"
        )
    screen.say("")
    screen.say(answer(result), style="bold")
    screen.say(time_in_words(result))
    screen.say("")
    screen.say(f"report  {paths['report']}")
    screen.say(f"model   {paths['model']}")
    screen.result({**result.to_dict(), "files": {name: str(path) for name, path in paths.items()}})


def intervals(ends: list[tuple[float, float, float]], width: int = 28) -> list[str]:
    """Return intervals (low, high, mean) as pictures on one scale.

    >>> intervals([(0.0, 4.0, 2.0), (6.0, 8.0, 7.0)], 9)
    ['├─●─┤', '      ├●┤']
    """
    left, right = min(low for low, _, _ in ends), max(high for _, high, _ in ends)
    scale = (width - 1) / ((right - left) or 1.0)
    drawn = []
    for low, high, mean in ends:
        start, stop, dot = (round((value - left) * scale) for value in (low, high, mean))
        line = [" "] * start + ["─"] * (stop - start + 1)
        line[start], line[stop], line[dot] = "├", "┤", "●"
        drawn.append("".join(line))
    return drawn


def treatment(problem: Any) -> list[str]:
    """Say what was done with missing values, categories and unused columns."""
    from gnomon.report.columns import CATEGORY, DATE, NUMBER, OUT, TEXT, listed

    columns = problem.columns
    out = [f"{c.name} ({c.done})" for c in columns if c.kind == OUT]
    holes = {
        what: [f"{c.name} ({c.missing})" for c in columns if c.missing and c.kind in kinds]
        for what, kinds in {"numbers": (NUMBER, DATE), "words": (CATEGORY,)}.items()
    }
    words = [c.name for c in columns if c.kind == CATEGORY]
    lines = []
    if holes["numbers"]:
        lines.append(
            f"Missing values in {listed(holes['numbers'])} are filled with the median of the training rows, and marked."
        )
    if holes["words"]:
        lines.append(f"Missing values in {listed(holes['words'])} are a value of their own.")
    if words:
        lines.append(f"Categories become columns of 0 and 1: {listed(words)}.")
    written = [f"{c.name}: {c.done}." for c in columns if c.kind in (DATE, TEXT) or " written " in c.done]
    lines += [line for line in written if line not in lines]
    if out:
        lines.append(f"Left out: {listed(out)}.")
    return lines


def show_card(screen: Screen, card: dict[str, Any]) -> None:
    """Show what a model is, what it was told, what it learned."""
    screen.say(card["model"], style="bold")
    screen.say(card["about"])
    if card["formula"]:
        screen.say("\n" + indent(card["formula"], "    "))
    changed = {name: card["parameters"][name] for name in card["changed"]} or {"all": "at their defaults"}
    for title, values in ({**card, "parameters": changed}).items():
        if isinstance(values, dict) and values:
            rows = [[name, _value(name, value)] for name, value in values.items()]
            screen.say(f"\n{title}", style="bold")
            screen.table([], rows, fold=True)
    if "file" in card:
        screen.say(f"\nmodel   {card['file']}")
    screen.result(card)


def _value(name: str, value: Any) -> str:
    if name == "objective":
        return f"{sparkline(value)}  from {value[0]:.6g} to {value[-1]:.6g}"
    if isinstance(value, list):
        shown = ", ".join(map(str, value[:12]))
        return shown + (f", … ({len(value)} in all)" if len(value) > 12 else "")
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def sparkline(values: Any, width: int = 24) -> str:
    """Return a curve as a line of bars.

    >>> sparkline([0.0, 1.0, 2.0, 7.0])
    '▁▂▃█'
    """
    picked = [values[round(i * (len(values) - 1) / max(1, width - 1))] for i in range(width)]
    shown = list(values) if len(values) <= width else picked
    low, high = min(shown), max(shown)
    return "".join(BARS[round((v - low) / (high - low) * 7) if high > low else 0] for v in shown)


def show_predictions(screen: Screen, table: Any, remarks: list[str], out: Path | None) -> None:
    """Write predictions to a file, or to the screen as CSV."""
    from gnomon.report.tables import as_csv, write_table

    for line in remarks:
        screen.side.print(line, markup=False)
    if out is not None:
        write_table(table, out)
        screen.say(f"{len(table)} rows with predictions: {out}")
        screen.result({"rows": len(table), "file": str(out), "remarks": remarks})
    elif screen.as_json:
        screen.result({"rows": len(table), "table": table.to_dict(as_series=False), "remarks": remarks})
    else:
        print(as_csv(table), end="")


def show_written(screen: Screen, rows: int, remarks: list[str], out: Path) -> None:
    """Say where predictions were written."""
    for line in remarks:
        screen.side.print(line, markup=False)
    screen.say(f"{rows} rows with predictions: {out}")
    screen.result({"rows": rows, "file": str(out), "remarks": remarks})


def show_row(screen: Screen, found: Any, row: int) -> None:
    """Show what every column adds to one answer."""
    screen.say(f"row {row}: {found.answer}", style="bold")
    screen.say(
        f"{found.label} is {found.value:.4g}; for other rows of the table it is {found.usual:.4g} on average."
    )
    screen.say("")
    rows = [[part.column, part.value, f"{part.moves:+.4g}"] for part in found.parts]
    screen.table(["column", "value", "moves it by"], rows, numeric=(2,))
    parts = [part._asdict() for part in found.parts]
    screen.result({"row": row, **found._asdict(), "parts": parts})


def show_topics(screen: Screen, words: str, found: list[Any]) -> None:
    """List public names with what they do."""
    from gnomon.report.columns import QuestionError

    if not found:
        raise QuestionError(
            f"nothing is called {words!r}. Try one word of it, or `gnomon models` for everything."
        )
    rows = [[topic.name, topic.about or "; ".join(topic.topics[:3])] for topic in found]
    screen.table(["name", "what it does"], rows, fold=True)
    screen.result({"found": [topic._asdict() for topic in found]})


def show_rules(screen: Screen, found: Any, paths: dict[str, Path]) -> None:
    """Show the best rules, and where the files are."""
    for line in found.said:
        screen.say(line)
    screen.say("")
    if len(found.rules):
        head = ["rule", "baskets", "support", "confidence", "95% interval", "lift", "q"]
        screen.table(head, found.rows(12), numeric=(1, 2, 3, 5, 6), fold=True)
        screen.say("")
    screen.say(found.answer(), style="bold")
    screen.say("")
    screen.say(f"report  {paths['report']}")
    screen.say(f"rules   {paths['rules']}")
    screen.result({**found.to_dict(), "files": {name: str(path) for name, path in paths.items()}})
