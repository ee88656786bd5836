"""The API: an index, a page for every family with its names by kind, and a page for every name."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import gnomon

sys.path.insert(0, str(Path(__file__).parent))
from courses import lecture_link, lectures_of
from markdown_of import to_markdown
from names import TOP, families, guide_link, guides_of, place, scene_link, scenes_of, summary, watch

FAMILIES = Path(__file__).resolve().parents[1] / "families"
MANY = 40  # more names than this in one table are told apart by the files they live in


def pages() -> dict[str, str]:
    """Return the text of every page by its place in the API."""
    found = {"index.md": index()}
    for family, names in families().items():
        found[f"{family}.md"] = family_page(family)
        found |= {place(family, name): name_page(family, name, file) for name, file in names.items()}
    found |= {place(TOP, name): name_page(TOP, name, file) for name, file in gnomon._FUNCTIONS.items()}
    return found


def index() -> str:
    lines = ["# API by family", "", "| family | what is in it | names |", "|---|---|---|"]
    for family, names in families().items():
        about = summary(import_module(f"gnomon.{family}"))
        lines.append(f"| [`gnomon.{family}`]({family}.md) | {about} | {len(names)} |")
    lines += ["", "At the top of the package:", "", "| name | |", "|---|---|"]
    lines += [table_row(TOP, name) for name in sorted(gnomon._FUNCTIONS)]
    return "\n".join([*lines, ""])


def module_of(family: str) -> str:
    return TOP if family == TOP else f"gnomon.{family}"


def table_row(family: str, name: str) -> str:
    about = summary(getattr(import_module(module_of(family)), name))
    return f"| [`{name}`]({place(family, name)}) | {about} |"


# A family


def written(family: str) -> tuple[str, str]:
    """Return what docs/families says of a family: the head between the dashes, and the text."""
    path = FAMILIES / f"{family}.md"
    found = (
        re.match(r"---\n(.*?)\n---\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
        if path.is_file()
        else None
    )
    return (found[1], found[2]) if found else ("", "")


def introduction(family: str) -> str:
    """Return the text of a family with links to its names."""
    names = families().get(family, {})

    def linked(found: re.Match[str]) -> str:
        return f"[{found[0]}]({place(family, found[1])})" if found[1] in names else found[0]

    return re.sub(r"`(\w+)`", linked, written(family)[1])


def family_page(family: str) -> str:
    about = to_markdown(inspect.getdoc(import_module(f"gnomon.{family}")) or "")
    lines = [f"# gnomon.{family}", "", about, "", introduction(family)]
    for title, names in groups(family).items():
        lines += [
            "",
            f"## {title}",
            "",
            "| name | |",
            "|---|---|",
            *(table_row(family, name) for name in names),
        ]
    return "\n".join([*lines, ""])


def groups(family: str) -> dict[str, list[str]]:
    """Return the names of a family by kind, kin beside each other: file by file, those first that the family shows."""
    kinds: dict[str, list[str]] = {"Models": [], "Classes": [], "Functions": []}
    names = families()[family]
    shown = re.findall(r"\w+", "".join(re.findall(r"^shows:(.*)$", written(family)[0], re.MULTILINE)))
    files = list(dict.fromkeys([*(names[name] for name in shown), *names.values()]))
    for name in sorted(names, key=lambda name: (files.index(names[name]), name)):
        thing = getattr(import_module(f"gnomon.{family}"), name)
        is_model = inspect.isclass(thing) and hasattr(thing, "fit")
        kinds["Models" if is_model else "Classes" if inspect.isclass(thing) else "Functions"].append(name)
    found: dict[str, list[str]] = {}
    for kind, members in kinds.items():
        for name in members:
            title = kind if len(members) <= MANY else title_of(f"gnomon.{family}.{names[name]}")
            found.setdefault(title, []).append(name)
    return found


def title_of(module: str) -> str:
    """Return what a file is about: its first line, up to the colon."""
    return re.split(r"[:.]", (import_module(module).__doc__ or module).strip().partition("\n")[0])[0]


# A name


def name_page(family: str, name: str, file: str) -> str:
    """Return the page of a name: its entry, and what there is about it elsewhere in the site."""
    package = module_of(family)
    up = "" if family == TOP else f" › [{package}](../{family}.md)"
    dotted = f"gnomon.{file}.{name}" if family == TOP else f"{package}.{file}.{name}"
    return "\n".join(
        [
            f"---\ntitle: {name}\n---\n",
            f'<p class="crumbs" markdown>[API](../index.md){up} › `from {package} import {name}`</p>',
            "",
            f"::: {dotted}",
            "    options:",
            "      heading_level: 1",
            "",
            *around(f"{package}.{name}"),
            "",
        ]
    )


def around(api: str) -> list[str]:
    """Return where else a name is shown: guides, lectures, scenes of the lab."""
    lines = []
    if files := guides_of().get(api):
        lines += ["- Guides: " + ", ".join(guide_link(file, "../../") for file in files)]
    if lectures := lectures_of().get(api):
        lines += ["- Lectures: " + ", ".join(lecture_link(*where, "../../") for where in lectures)]
    scenes = [scene_link(*scene) for scene in scenes_of().get(api, [])]
    if scenes or watch(api):
        lines += ["- In [the lab](../../lab.md): " + ", ".join([*scenes, watch(api, "watch it learn")])]
    return ["## Shown in { data-search-exclude }", "", *lines] if lines else []


# The order of pages


def order() -> list[tuple[str, str]]:
    """Return the page of every name with that of its index, name after name as the indexes list them."""
    found = [(place(TOP, name), "index.md") for name in sorted(gnomon._FUNCTIONS)]
    for family in families():
        listed = [name for names in groups(family).values() for name in names]
        found += [(place(family, name), f"{family}.md") for name in listed]
    return found
