"""From course to code: lectures in an order to teach them in, one page for every part of the courses."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from names import guide_link, guides_of, link, public, scene_link, scenes_of, watch

DOCS = Path(__file__).resolve().parents[1]
ASIDE = {"gnomon.datasets", "gnomon.plot"}  # a guide that uses one of these is not about it


class Topic(NamedTuple):
    """One topic of a lecture, the name that does it and the test that shows it."""

    id: str
    title: str
    api: str
    test: str


Lectures = dict[str, list[Topic]]


def read_table(name: str) -> list[dict[str, str]]:
    with (DOCS / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@cache
def parts() -> dict[str, Lectures]:
    """Return the lectures of every part with the topics that are done, all in the order of docs/topics.csv."""
    done = {row["id"]: row for row in read_table("syllabus.csv")}
    found: dict[str, Lectures] = {}
    for row in read_table("topics.csv"):
        if row["id"] in done:
            entry = done.pop(row["id"])
            topic = Topic(row["id"], capital(row["title"]), entry["api"], entry["test"])
            found.setdefault(row["part"], {}).setdefault(row["lecture"], []).append(topic)
    for id, entry in sorted(done.items()):
        topic = Topic(id, capital(id.replace("_", " ")), entry["api"], entry["test"])
        found.setdefault("More", {}).setdefault("More", []).append(topic)
    return found


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def page_of(part: str) -> str:
    return f"course-to-code/{slug(part)}.md"


def anchor_of(lecture: str) -> str:
    return f"lecture-{slug(lecture)}"


def pages() -> dict[str, str]:
    """Return the text of every page by its place in the site."""
    return {"course-to-code.md": index(), **{page_of(part): part_page(part) for part in parts()}}


# The table of contents


def index() -> str:
    topics = len(read_table("topics.csv"))
    lectures = sum(len(part) for part in parts().values())
    done = sum(len(topics) for part in parts().values() for topics in part.values())
    lines = [
        "---\ntitle: From course to code\n---\n",
        "# From course to code",
        "",
        f"What five university courses teach, as {lectures} short lectures in {len(parts())} parts, each in an order "
        f"in which it can be taught. {done} of {topics} topics are there today, each with the name that does it, "
        "a guide and a scene of the lab where there is one, and the test that shows it.",
    ]
    for number, (part, taught) in enumerate(parts().items(), 1):
        lines += [
            "",
            f"## [{number}. {part}]({page_of(part)}) {{#{slug(part)}}}",
            "",
            '<div class="lectures" markdown>',
            "",
        ]
        lines += [f"{k}. [{name}]({page_of(part)}#{anchor_of(name)})" for k, name in enumerate(taught, 1)]
        lines += ["", "</div>"]
    return "\n".join([*lines, ""])


# One part


def part_page(part: str) -> str:
    number = list(parts()).index(part) + 1
    lines = [
        f"---\ntitle: {part}\n---\n",
        '<p class="crumbs" markdown>[From course to code](../course-to-code.md) ›</p>',
        "",
        f"# {number}. {part}",
        "",
        "*Guide* leads to a guide that uses the name. *Watch* opens the model in [the lab](../lab.md), where "
        "`gnomon lab` runs on your machine.",
    ]
    for k, (lecture, topics) in enumerate(parts()[part].items(), 1):
        lines += ["", f"## {k}. {lecture} {{#{anchor_of(lecture)}}}", "", *material(part, lecture)]
        lines += [
            '<div class="course" markdown>',
            "",
            "| topic | name | see it | shown by |",
            "|---|---|---|---|",
        ]
        lines += [*(row(topic) for topic in topics), "", "</div>"]
    return "\n".join([*lines, ""])


def material(part: str, lecture: str) -> list[str]:
    """Return the lines that name the guides and the scenes of a lecture: those of the names that are at home in it."""
    own = [name for name, home in homes().items() if home == (part, lecture)]
    read = dict.fromkeys(
        file for name in own if name.rpartition(".")[0] not in ASIDE for file in guides_of().get(name, [])[:2]
    )
    seen = dict.fromkeys(scene for name in own for scene in scenes_of().get(name, []))
    lines = []
    if read:
        lines += ["- Guides: " + ", ".join(guide_link(file, "../") for file in read)]
    if seen:
        lines += ["- In the lab: " + ", ".join(scene_link(*scene) for scene in seen)]
    return [*lines, ""] if lines else []


@cache
def homes() -> dict[str, tuple[str, str]]:
    """Return the lecture that has most topics of a public name, the first of them when several have."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for part, lectures in parts().items():
        for lecture, topics in lectures.items():
            for topic in topics:
                counts.setdefault(public(topic.api), Counter())[part, lecture] += 1
    return {name: count.most_common(1)[0][0] for name, count in counts.items()}


@cache
def lectures_of() -> dict[str, list[tuple[str, str]]]:
    """Return the lectures of a public name as (part, lecture), in the order of the courses."""
    found: dict[str, dict[tuple[str, str], None]] = {}
    for part, lectures in parts().items():
        for lecture, topics in lectures.items():
            for topic in topics:
                found.setdefault(public(topic.api), {})[part, lecture] = None
    return {name: list(places) for name, places in found.items()}


def lecture_link(part: str, lecture: str, root: str) -> str:
    return f"[{lecture}]({root}{page_of(part)}#{anchor_of(lecture)})"


def row(topic: Topic) -> str:
    title = topic.title.replace("|", r"\|")
    name = link(topic.api, topic.api.removeprefix("gnomon."), "../")
    guide = [guide_link(file, "../", "guide") for file in guides_of().get(public(topic.api), [])[:1]]
    seen = " ".join([*guide, watch(topic.api)]).strip()
    test = topic.test.rpartition("::")[2].removeprefix("test_").replace("_", " ")
    return f'| <span id="{topic.id}">{title}</span> | {name} | {seen} | {test} |'
