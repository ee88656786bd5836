"""The page: a comparison as one HTML file without scripts, links to elsewhere or other files."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from gnomon.report import pictures
from gnomon.report.columns import OUT
from gnomon.report.contest import Comparison, Entry
from gnomon.report.words import answer, how, number, score, settings, versions


def page(result: Comparison) -> str:
    """Return the report of a comparison."""
    sections = [
        _section("The ranking", _figure(pictures.ranking(result)), _ranking(result), _left_out(result)),
        _section("The best model, up close", _best(result)),
        _section("What the table holds", _said(result), _columns(result)),
        _section("Every model", *[_details(result, entry) for entry in result.ranked]),
        _section("How it was done", *[_p(line) for line in how(result)], _versions(result)),
        _section("Use the model", _use(result)),
    ]
    style = files("gnomon.report").joinpath("page.css").read_text(encoding="utf-8")
    title = f"{result.best.name}: {Path(result.source).name or 'a table'}"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8" />',
            '<meta name="viewport" content="width=device-width, initial-scale=1" />',
            '<link rel="icon" href="data:," />',
            f"<title>{escape(title)}</title><style>{style}</style></head><body><main>",
            _header(result),
            *sections,
            "</main></body></html>\n",
        ]
    )


def _header(result: Comparison) -> str:
    first, _, rest = answer(result).partition("; ")
    source = Path(result.source).name or "a table"
    used = sum(column.kind != OUT for column in result.problem.columns)
    kicker = f"gnomon compare · {source} · {len(result.problem.frame)} rows, {used} columns used"
    rest = rest[:1].upper() + rest[1:]
    return (
        f'<header><p class="kicker">{escape(kicker)} · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC</p>'
        f'<h1>{escape(first.rstrip("."))}.</h1><p class="lead">{escape(rest)}</p></header>'
    )


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def _p(text: str, kind: str = "") -> str:
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(text)}</p>"


def _figure(picture: str, caption: str = "") -> str:
    if not picture:
        return ""
    said = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{picture}{said}</figure>"


def _table(caption: str, head: list[str], rows: list[list[str]], numeric: int = 0, best: bool = False) -> str:
    """Return a table whose first column names the rows; the next `numeric` columns are numbers."""

    def cell(place: int, text: str) -> str:
        tag = '<th scope="row">' if place == 0 else '<td class="n">' if place <= numeric else "<td>"
        return f"{tag}{escape(text)}</{'th' if place == 0 else 'td'}>"

    top = "".join(
        f'<th scope="col"{" class=" + chr(34) + "n" + chr(34) if 0 < place <= numeric else ""}>{escape(text)}</th>'
        for place, text in enumerate(head)
    )
    body = "".join(
        f"<tr{' class=' + chr(34) + 'best' + chr(34) if best and index == 0 else ''}>"
        + "".join(cell(place, text) for place, text in enumerate(row))
        + "</tr>"
        for index, row in enumerate(rows)
    )
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _ranking(result: Comparison) -> str:
    rows = [
        [entry.name, score(result, entry), p_value(entry), f"{entry.seconds:.1f} s", _chosen(entry)]
        for entry in result.ranked
    ]
    caption = (
        f"{result.problem.task.metric} on unseen rows with 95% interval, and a paired test against the best"
    )
    head = ["model", result.problem.task.metric, "p against the best", "time", "settings most often chosen"]
    return _table(caption, head, rows, numeric=3, best=True)


def p_value(entry: Entry) -> str:
    """Return the p-value against the best, for people."""
    if entry.p_value is None:
        return "best"
    return "< 0.001" if entry.p_value < 0.001 else f"{entry.p_value:.3f}"


def _chosen(entry: Entry) -> str:
    words = [settings(chosen) for chosen in entry.chosen]
    return max(dict.fromkeys(words), key=words.count)


def _left_out(result: Comparison) -> str:
    failed = [entry for entry in result.entries if not entry.finished]
    if not failed:
        return ""
    items = "".join(f"<li>{escape(entry.name)}: {escape(entry.failure)}</li>" for entry in failed)
    return f"<h3>Not in the ranking</h3><ul>{items}</ul>"


def _best(result: Comparison) -> str:
    best = result.best
    shown = [
        _figure(pictures.close_up(result, best), "What it said of rows it had not learned from"),
        _figure(pictures.importance(result), "What it loses on unseen rows when a column is shuffled")
        if result.importance
        else "",
        _figure(pictures.groups(result), "What it makes of the rows") if result.problem.y is None else "",
        _figure(pictures.trace(best), "The objective while it learned (last fold)"),
    ]
    line = f"{best.name} with {settings(result.settings)}, fitted to all {len(result.problem.frame)} rows."
    about = (type(result.model.model_).__doc__ or "").strip().partition("\n")[0]
    return _p(f"{line} {about}") + f'<div class="pair">{"".join(shown)}</div>'


def _said(result: Comparison) -> str:
    return "".join(_p(line) for line in result.problem.said)


def _columns(result: Comparison) -> str:
    rows = [
        [column.name, str(column.distinct), str(column.missing), column.kind, column.done]
        for column in result.problem.columns
    ]
    caption = "What was inferred about the columns, and what the models see"
    return _table(
        caption, ["column", "different values", "missing", "kind", "what was done"], rows, numeric=2
    )


def _details(result: Comparison, entry: Entry) -> str:
    drawn = [] if entry is result.best else [pictures.close_up(result, entry), pictures.trace(entry)]
    shown = [_figure(picture) for picture in drawn]
    folds = ", ".join(number(result.shown(value)) for value in entry.scores)
    lines = [_p(f"Folds: {folds}."), *[_p(f"Warned: {text}", "soft") for text in entry.warned[:3]]]
    name = f'{escape(entry.name)} <span class="soft">{escape(score(result, entry))}</span>'
    body = f'<div class="pair">{"".join(shown)}</div>' if any(shown) else ""
    return f"<details><summary>{name}</summary>{''.join(lines)}{body}</details>"


def _versions(result: Comparison) -> str:
    said = ", ".join(f"{name} {value}" for name, value in versions().items())
    return _p(f"{said}. {result.seconds:.0f} seconds in all.", "soft")


def _use(result: Comparison) -> str:
    code = """import gnomon

model = gnomon.load("best.gnomon")        # data only, never code
table = gnomon.report.read_table("new.csv")
model.predict(table)"""
    shell = "gnomon predict best.gnomon new.csv --out predictions.csv\ngnomon explain best.gnomon"
    return (
        f"<pre><code>{escape(shell)}</code></pre><p>or in Python:</p><pre><code>{escape(code)}</code></pre>"
    )


def write_report(result: Comparison, folder: Any) -> dict[str, Path]:
    """Write the page and the best model into a folder, each whole or not at all; return the paths."""
    import gnomon
    from gnomon.core.saving import write_atomically

    folder = Path(folder)
    text = result.to_html().encode()
    folder.mkdir(parents=True, exist_ok=True)
    gnomon.save(result.model, folder / "best.gnomon")
    write_atomically(folder / "report.html", text)
    return {"report": folder / "report.html", "model": folder / "best.gnomon"}
