"""The public names: by family, where the page of each lies, and what uses it."""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import gnomon
from gnomon._lazy import PACKAGES

sys.path.insert(0, str(Path(__file__).parent))
import guides
from markdown_of import to_markdown

HIDDEN = {"core", "loops"}  # the ground floor is for authors of families; its guide is the design page
TOP = "gnomon"  # stands for a family where a name belongs to none
LAB = "http://127.0.0.1:8765/"
IMPORTED = re.compile(r"^from gnomon\.(\w+) import ([\w, ]+)$", re.MULTILINE)
PACKAGES_IMPORTED = re.compile(r"^from gnomon import ([\w, ]+)$", re.MULTILINE)


@cache
def families() -> dict[str, dict[str, str]]:
    """Return the public names of every family and the files they live in."""
    for name in gnomon._subpackages():
        import_module(f"gnomon.{name}")
    shown = {package.split(".")[1]: names for package, names in PACKAGES.items() if package.count(".") == 1}
    return {name: shown[name] for name in sorted(shown) if name not in HIDDEN and shown[name]}


def summary(thing: Any) -> str:
    """Return the first sentence of a docstring, as table text."""
    text = to_markdown(inspect.getdoc(thing) or "")
    return text.split("\n\n")[0].replace("\n", " ").replace("|", r"\|")


def place(family: str, name: str) -> str:
    """Return where the page of a name lies in the API."""
    return f"{family}/{name}.md"


def link(api: str, shown: str = "", root: str = "") -> str:
    """Return a link to the page of a name, if it has one, from a page whose way up to the site's root is given."""
    parts = api.split(".")
    if len(parts) > 2 and parts[0] == "gnomon" and parts[2] in families().get(parts[1], {}):
        return f"[`{shown or api}`]({root}api/{place(parts[1], parts[2])})"
    if len(parts) > 1 and parts[0] == "gnomon" and parts[1] in gnomon._FUNCTIONS:
        return f"[`{shown or api}`]({root}api/{place(TOP, parts[1])})"
    return f"`{shown or api}`"


def public(api: str) -> str:
    """Return the public name that a dotted name, perhaps of a method, belongs to."""
    return ".".join(api.split(".")[:3])


@cache
def homes_of_classes() -> dict[str, list[str]]:
    """Return the families that have a class of a name."""
    found: dict[str, list[str]] = {}
    for family, members in families().items():
        for name in members:
            if name[0].isupper():
                found.setdefault(name, []).append(family)
    return found


def with_links(html: str, family: str) -> str:
    """Return the HTML of a name's page with links from the classes it speaks of: those of its own family first."""

    def linked(found: re.Match[str]) -> str:
        homes = homes_of_classes().get(found[1], [])
        home = family if family in homes else homes[0] if len(homes) == 1 else ""
        return f'<a href="../{home}/{found[1]}.html">{found[0]}</a>' if home else found[0]

    return re.sub(r"(?<!\">)<code>(\w+)</code>(?!</a>)", linked, html)


# Guides


@cache
def guides_of() -> dict[str, list[str]]:
    """Return the files of the guides that use a public name: those first that use few others."""
    used = {file: names_in((guides.FOLDER / file).read_text(encoding="utf-8")) for file in guides.titles()}
    found: dict[str, list[str]] = {}
    for file in sorted(used, key=lambda file: len(used[file])):
        for name in used[file]:
            found.setdefault(name, []).append(file)
    return found


def names_in(text: str) -> set[str]:
    """Return the public names that the code of a guide uses.

    >>> names_in("```python\nfrom gnomon import plot\nfrom gnomon.svm import SVC\nplot.trace(SVC())\n```\n")
    {'gnomon.plot.trace', 'gnomon.svm.SVC'}
    """
    code = "".join(block["code"] for block in guides.BLOCK.finditer(text))
    said = {
        f"{family}.{name.split()[0]}"
        for family, names in IMPORTED.findall(code)
        for name in names.split(", ")
    }
    whole = {family for names in PACKAGES_IMPORTED.findall(code) for family in names.split(", ")}
    said |= {f"{family}.{name}" for family, name in re.findall(r"\b(\w+)\.(\w+)", code) if family in whole}
    return {f"gnomon.{name}" for name in said if name.split(".")[1] in families().get(name.split(".")[0], {})}


def guide_link(file: str, root: str, shown: str = "") -> str:
    title = guides.titles()[file]
    return f'[{shown or title}]({root}guides/{file} "{title}")'


# The lab


@cache
def scenes_of() -> dict[str, list[tuple[str, str]]]:
    """Return the lessons of the lab that show a model: their names and titles."""
    from gnomon.lab.learners import catalog
    from gnomon.lab.lessons import LESSONS

    found: dict[str, list[tuple[str, str]]] = {}
    for lesson in LESSONS:
        for model in dict.fromkeys(model["model"] for model in lesson.models):
            package = catalog().get(model, "")
            found.setdefault(f"{package}.{model}", []).append((lesson.name, lesson.title))
    return found


def watch(api: str, shown: str = "watch") -> str:
    """Return a link that opens the model in a lab that runs on the reader's machine, if the lab has it."""
    from gnomon.lab.learners import catalog

    family, _, name = public(api).rpartition(".")
    if not family or catalog().get(name) != family:
        return ""
    return f'<a class="watch" href="{LAB}#model={name}" title="gnomon lab {name}">{shown}</a>'


def scene_link(name: str, title: str) -> str:
    return f'<a class="watch" href="{LAB}#lesson={name}" title="gnomon lab {name}">{title}</a>'
