"""The page: a comparison as one HTML file without scripts, links to elsewhere or other files."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.report import drawings, looks, pictures
from gnomon.report.card import card
from gnomon.report.columns import OUT
from gnomon.report.entries import Entry
from gnomon.report.markup import Html, joined, table, tag
from gnomon.report.snippet import snippet
from gnomon.report.words import (
    answer,
    curve_in_words,
    decision_in_words,
    groups_in_words,
    how,
    number,
    p_value,
    score,
    settings,
    versions,
)

if TYPE_CHECKING:
    from gnomon.report.contest import Comparison

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
        _warnings(result),
        section(
            "The ranking",
            figure(pictures.ranking(result), kind="wide"),
            _ranking(result),
            _beside(result),
            _left_out(result),
        ),
        section("The best model, up close", _best(result)),
        _topics(result),
        _decision(result),
        _columns_matter(result),
        _groups(result),
        _more_rows(result),
        section("What the table holds", *paragraphs(result.problem.said), _columns(result)),
        section("Every model", *[_details(result, entry) for entry in result.ranked]),
        section("How it was done", *paragraphs(how(result)), _versions(result)),
        section("Use the model", code(SHELL), tag("p", "or in Python:"), code(PYTHON), *_again(result)),
        section("Model card", *model_card(result)),
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


def figure(picture: str, caption: str = "", kind: str = "") -> Html:
    """Return a picture with its caption, or nothing when there is no picture."""
    if not picture:
        return Html()
    return tag("figure", Html(picture), tag("figcaption", caption) if caption else Html(), class_=kind)


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


def _warnings(result: Comparison) -> Html:
    """Return what should be looked at before anything is believed."""
    lines = [tag("li", line) for line in result.problem.warned]
    return section("Look at this first", tag("ul", *lines, class_="warned")) if lines else Html()


def _beside(result: Comparison) -> Html:
    """Return what other metrics make of the models."""
    labels = list(dict.fromkeys(label for entry in result.ranked for label in entry.beside))
    if not labels:
        return Html()

    def mean(entry: Entry, label: str) -> str:
        values = entry.beside.get(label, [])
        return number(sum(values) / len(values)) if values else "–"

    rows = [[entry.name, *[mean(entry, label) for label in labels]] for entry in result.ranked]
    return table("Other metrics on the same unseen rows", ["model", *labels], rows, numeric=len(labels))


def _decision(result: Comparison) -> Html:
    """Return the threshold and the calibration of two classes."""
    found = looks.decide(result.problem, result.best)
    if found is None or result.best.baseline:
        return Html()
    return section(
        "Where to decide, and whether probabilities can be believed",
        *paragraphs(decision_in_words(found)),
        pair(
            figure(drawings.thresholds(found), "What a threshold gives"),
            figure(drawings.calibrated(found), "Predicted probability against what happened"),
            figure(drawings.roc(result), "True against false positives"),
        ),
    )


def _topics(result: Comparison) -> Html:
    """Return what the topics of documents are."""
    if result.problem.task.name != "topics":
        return Html()
    from gnomon.report.documents import topics

    rows, head = topics(result.model), ["topic", "share", "words"]
    return section("The topics", table("The most frequent words of every topic", head, rows, numeric=1))


def _columns_matter(result: Comparison) -> Html:
    figures = [figure(drawings.dependence(name, found), name) for name, found in result.dependence.items()]
    if not figures:
        return Html()
    text = (
        "What the models of the folds say on average when one column is set to a value and the others stay as they "
        "are, with 95% intervals over the folds. It is what the model does, not what the world would do."
    )
    return section("What the columns do", tag("p", text), pair(*figures))


def _groups(result: Comparison) -> Html:
    names = list(result.importance) or [column.name for column in result.problem.columns]
    found = looks.errors_by_group(result.problem, result.best, names)
    if not found:
        return Html()
    best, y = result.best, result.problem.y
    classes = result.problem.task.name == "classification"
    wrong = (best.answers != y) if classes else abs(best.answers - y)
    label = "share of wrong rows" if classes else "mean absolute error"
    return section(
        "Where it errs",
        tag("p", groups_in_words(found)),
        figure(drawings.groups(found, float(wrong[best.tested].mean()), label), kind="wide"),
    )


def _more_rows(result: Comparison) -> Html:
    if not result.curve:
        return Html()
    return section(
        "Would more rows help?", tag("p", curve_in_words(result)), figure(drawings.learning(result))
    )


def _again(result: Comparison) -> list[Html]:
    lines = snippet(result)
    return [tag("p", "This gives the same model again, exactly:"), code(lines)] if lines else []


def model_card(result: Comparison) -> list[Html]:
    """Return the card of the best model: what it is, what it learned from, how good it is, what to beware of."""
    told = card(result.model)
    rows = [
        ["model", f"{told['model']}: {told['about']}"],
        ["settings", settings(result.settings)],
        [
            "learned from",
            f"{told['data'].get('rows', 0)} rows of {_source(result)}, {told['data']['features']} features",
        ],
        ["predicts", result.problem.target or "groups or densities of rows"],
        ["quality", f"{result.problem.task.metric} {score(result, result.best)} on rows it had not seen"],
        ["not for", "rows of another kind than those of the table, or of another time"],
        [
            "beware",
            " ".join(result.problem.warned) or "no leak was found; that is no proof that there is none",
        ],
    ]
    return [table("The best model", ["", ""], rows)]


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
    return tag("p", f"{said}.", class_="soft")
