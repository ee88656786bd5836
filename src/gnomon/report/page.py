"""The page: a comparison as one HTML file without scripts, links to elsewhere or other files."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from gnomon.report import pictures
from gnomon.report.columns import OUT
from gnomon.report.contest import Comparison
from gnomon.report.entries import Entry
from gnomon.report.markup import Html, joined, table, tag
from gnomon.report.words import answer, how, number, p_value, score, settings, versions

HEAD = (
    '<meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />'
    '<link rel="icon" href="data:," />'
)
SHELL = "gnomon predict best.gnomon new.csv --out predictions.csv\ngnomon explain best.gnomon"
PYTHON = """import gnomon

model = gnomon.load("best.gnomon")        # data only, never code
table = gnomon.report.read_table("new.csv")
model.predict(table)"""


def page(result: Comparison) -> str:
    """Return the report of a comparison."""
    return document(
        f"{result.best.name}: {_source(result)}",
        _header(result),
        section("The ranking", figure(pictures.ranking(result)), _ranking(result), _left_out(result)),
        section("The best model, up close", _best(result)),
        section("What the table holds", *paragraphs(result.problem.said), _columns(result)),
        section("Every model", *[_details(result, entry) for entry in result.ranked]),
        section("How it was done", *paragraphs(how(result)), _versions(result)),
        section("Use the model", code(SHELL), tag("p", "or in Python:"), code(PYTHON)),
    )


def document(title: str, *parts: str) -> str:
    """Return a page of these parts."""
    style = files("gnomon.report").joinpath("page.css").read_text(encoding="utf-8")
    head = tag("head", Html(HEAD), tag("title", title), tag("style", Html(style)))
    return "<!DOCTYPE html>\n" + tag("html", head, tag("body", tag("main", *parts)), lang="en") + "\n"


def _source(result: Comparison) -> str:
    return Path(result.source).name or "a table"


def _header(result: Comparison) -> Html:
    first, _, rest = answer(result).partition("; ")
    used = sum(column.kind != OUT for column in result.problem.columns)
    facts = f"gnomon compare · {_source(result)} · {len(result.problem.frame)} rows, {used} columns used"
    return tag(
        "header",
        tag("p", f"{facts} · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", class_="kicker"),
        tag("h1", first.rstrip(".") + "."),
        tag("p", rest[:1].upper() + rest[1:], class_="lead"),
    )


def section(title: str, *parts: str) -> Html:
    """Return parts under a title."""
    return tag("section", tag("h2", title), *parts)


def paragraphs(lines: list[str], kind: str = "") -> list[Html]:
    """Return lines as paragraphs."""
    return [tag("p", line, class_=kind) for line in lines]


def code(text: str) -> Html:
    """Return text to be typed."""
    return tag("pre", tag("code", text))


def figure(picture: str, caption: str = "") -> Html:
    """Return a picture with its caption, or nothing when there is no picture."""
    if not picture:
        return Html()
    return tag("figure", Html(picture), tag("figcaption", caption) if caption else Html())


def pair(*figures: Html) -> Html:
    """Return figures beside each other."""
    return tag("div", *figures, class_="pair") if any(figures) else Html()


def _ranking(result: Comparison) -> Html:
    metric = result.problem.task.metric
    rows = [
        [entry.name, score(result, entry), p_value(entry), f"{entry.seconds:.1f} s", _chosen(entry)]
        for entry in result.ranked
    ]
    head = ["model", metric, "p against the best", "time", "settings most often chosen"]
    caption = f"{metric} on unseen rows with 95% interval, and a paired test against the best"
    return table(caption, head, rows, numeric=3, best=True)


def _chosen(entry: Entry) -> str:
    words = [settings(chosen) for chosen in entry.chosen]
    return max(dict.fromkeys(words), key=words.count)


def _left_out(result: Comparison) -> Html:
    failed = [tag("li", f"{entry.name}: {entry.failure}") for entry in result.entries if not entry.finished]
    return joined(tag("h3", "Not in the ranking"), tag("ul", *failed)) if failed else Html()


def _best(result: Comparison) -> Html:
    best = result.best
    about = (type(result.model.model_).__doc__ or "").strip().partition("\n")[0]
    line = f"{best.name} with {settings(result.settings)}, fitted to all {len(result.problem.frame)} rows. {about}"
    lost = pictures.importance(result) if result.importance else ""
    made = pictures.groups(result) if result.problem.y is None else ""
    return joined(
        tag("p", line),
        pair(
            figure(pictures.close_up(result, best), "What it said of rows it had not learned from"),
            figure(lost, "What it loses on unseen rows when a column is shuffled"),
            figure(made, "What it makes of the rows"),
            figure(pictures.trace(best), "The objective while it learned (last fold)"),
        ),
    )


def _columns(result: Comparison) -> Html:
    rows = [[c.name, str(c.distinct), str(c.missing), c.kind, c.done] for c in result.problem.columns]
    head = ["column", "different values", "missing", "kind", "what was done"]
    return table("What was inferred about the columns, and what the models see", head, rows, numeric=2)


def _details(result: Comparison, entry: Entry) -> Html:
    """Return one model, folded away: its folds, its warnings, its pictures unless they were shown above."""
    drawn = [] if entry is result.best else [pictures.close_up(result, entry), pictures.trace(entry)]
    folds = ", ".join(number(result.shown(value)) for value in entry.scores)
    return tag(
        "details",
        tag("summary", f"{entry.name} ", tag("span", score(result, entry), class_="soft")),
        tag("p", f"Folds: {folds}."),
        *paragraphs([f"Warned: {text}" for text in entry.warned[:3]], "soft"),
        pair(*map(figure, drawn)),
    )


def _versions(result: Comparison) -> Html:
    said = ", ".join(f"{name} {value}" for name, value in versions().items())
    return tag("p", f"{said}. {result.seconds:.0f} seconds in all.", class_="soft")
