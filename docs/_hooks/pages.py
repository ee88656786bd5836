"""Pages that are made from the project itself: the API by family, the map of topics, the benchmarks, migration."""

from __future__ import annotations

import csv
import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

import gnomon
from gnomon._lazy import PACKAGES

sys.path.insert(0, str(Path(__file__).parent))
import commands
import migrating
from markdown_of import to_markdown

PROJECT = Path(__file__).resolve().parents[2]
HIDDEN = {"core", "loops"}  # the ground floor is for authors of families; its guide is the design page


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


# API


def anchor(family: str, name: str) -> str:
    return f"{family}.md#gnomon.{family}.{PACKAGES[f'gnomon.{family}'][name]}.{name}"


def api_index() -> str:
    lines = ["# API by family", "", "| family | what is in it | names |", "|---|---|---|"]
    for family, names in families().items():
        about = summary(import_module(f"gnomon.{family}"))
        lines.append(f"| [`gnomon.{family}`]({family}.md) | {about} | {len(names)} |")
    lines += ["", "At the top of the package:", ""]
    lines += [line for name, file in sorted(gnomon._FUNCTIONS.items()) for line in entry(f"{file}.{name}")]
    return "\n".join([*lines, ""])


def entry(name: str) -> list[str]:
    """Return what makes mkdocstrings write the entry of a name."""
    return ["", f"::: gnomon.{name}"]


def introduction(family: str) -> str:
    """Return what docs/families says of a family, with links to its names, or nothing."""
    path = PROJECT / "docs" / "families" / f"{family}.md"
    if not path.is_file():
        return ""
    text = re.sub(r"^---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = families().get(family, {})

    def linked(found: re.Match[str]) -> str:
        return f"[{found[0]}]({anchor(family, found[1])})" if found[1] in names else found[0]

    return re.sub(r"`(\w+)`", linked, text)


def api_page(family: str, names: dict[str, str]) -> str:
    module = import_module(f"gnomon.{family}")
    lines = [
        f"# gnomon.{family}",
        "",
        to_markdown(inspect.getdoc(module) or ""),
        "",
        introduction(family),
        "",
    ]
    lines += ["| name | |", "|---|---|"]
    lines += [
        f"| [`{name}`]({anchor(family, name)}) | {summary(getattr(module, name))} |" for name in sorted(names)
    ]
    lines += [line for name in sorted(names) for line in entry(f"{family}.{names[name]}.{name}")]
    return "\n".join([*lines, ""])


# From course to code


def read_table(name: str) -> list[dict[str, str]]:
    with (PROJECT / "docs" / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def course_page() -> str:
    """Return every topic that the map has, by family and section, in the order of the courses."""
    done = {row["id"]: row for row in read_table("syllabus.csv")}
    topics = read_table("topics.csv")
    unknown = done.keys() - {topic["id"] for topic in topics}
    topics += [
        {"id": id, "family": group(done[id]["api"]), "section": "More", "title": ""} for id in sorted(unknown)
    ]
    groups: dict[str, dict[str, list[str]]] = {}
    for topic in topics:
        if topic["id"] in done:
            rows = groups.setdefault(topic["family"], {}).setdefault(topic["section"], [])
            rows.append(course_row(topic, done[topic["id"]]))
    lines = [
        "# From course to code",
        "",
        f"The topics that five university courses teach, and the name that does each: {len(done)} of {len(topics)} "
        "are there today. Every one has a test that shows it; its name is in the last column. *Watch* opens the model "
        "in [the lab](lab.md), where `gnomon lab` runs on your machine.",
    ]
    for family in sorted(groups):
        lines += ["", f"## {family}"]
        for section, rows in groups[family].items():
            lines += [
                "",
                f"### {capital(section)}",
                "",
                "| topic | name | shown by |",
                "|---|---|---|",
                *rows,
            ]
    return "\n".join([*lines, ""])


def course_row(topic: dict[str, str], done: dict[str, str]) -> str:
    title = capital(topic["title"] or topic["id"].replace("_", " ")).replace("|", r"\|")
    test = done["test"].rpartition("::")[2].removeprefix("test_").replace("_", " ")
    return f'| <span id="{topic["id"]}">{title}</span> | {link(done["api"])}{watch(done["api"])} | {test} |'


def watch(api: str) -> str:
    """Return a link that opens the model in a lab that runs on the reader's machine, if the lab has it."""
    from gnomon.lab.learners import catalog

    parts = api.split(".")
    if len(parts) < 3 or catalog().get(parts[2]) != f"gnomon.{parts[1]}":
        return ""
    return f' <a class="watch" href="http://127.0.0.1:8765/#model={parts[2]}" title="gnomon lab {parts[2]}">watch</a>'


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def group(api: str) -> str:
    """Return the family of a dotted name."""
    parts = api.split(".")
    return parts[1] if parts[0] == "gnomon" else parts[0]


def link(api: str, shown: str = "") -> str:
    """Return a link to the name in the API pages, if it is there."""
    parts = api.split(".")
    if len(parts) > 2 and parts[0] == "gnomon" and parts[2] in families().get(parts[1], {}):
        return f"[`{shown or api}`](api/{anchor(parts[1], parts[2])})"
    return f"`{api}`"


# Scaling


def scaling_list() -> str:
    """Return the estimators that fit by sums over rows, by family."""
    lines = []
    for family, names in families().items():
        module = import_module(f"gnomon.{family}")
        able = [
            link(f"gnomon.{family}.{name}", name) for name in sorted(names) if scales(getattr(module, name))
        ]
        if able:
            lines.append(f"- {family}: {', '.join(able)}")
    return "\n".join(lines)


def scales(thing: Any) -> bool:
    """Tell whether a public name is an estimator that reads tables on disk."""
    try:
        return inspect.isclass(thing) and hasattr(thing, "fit") and bool(thing()._reads.scales)
    except (AttributeError, TypeError):  # no door for data, or arguments without defaults
        return False


# Benchmarks


def benchmark_page() -> str:
    lines = ["# Benchmarks", "", (PROJECT / "docs" / "_hooks" / "benchmarks.md").read_text(encoding="utf-8")]
    for path in sorted((PROJECT / "benchmarks" / "results").glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        lines += ["", f"## {report['family']}", ""]
        for case in report["cases"]:
            lines += benchmark_case(case)
    return "\n".join([*lines, ""])


def benchmark_case(case: dict[str, Any]) -> list[str]:
    columns = ["", "best", "ratio", "result", "memory", "growth", ""]
    lines = [f"**{case['case']}**", "", "| " + " | ".join(columns) + " |", "|---|--:|--:|--:|--:|--:|---|"]
    lines += [benchmark_row(row) for row in case["contenders"]]
    lines += ["", *(f"- {benchmark_near(near)}" for near in case.get("around", []))]
    here = case["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in here["versions"].items() if number)
    where = "{date}, {processor}, {cores} cores, Python {python}".format(**here)
    load = " to ".join(f"{value:.2f}" for value in case.get("load", []))
    return [*lines, "", f"{case.get('note', '')} *{where}, {versions}, load {load}*".strip(), "", ""]


def benchmark_near(near: dict[str, Any]) -> str:
    """Return one line about a shape that was drawn around that of the case."""
    ratios = [f"{name} {ratio:.2f}×" for name, ratio in near["ratios"].items() if ratio is not None]
    said = [f"{name}: {text}" for name, text in near["remarks"].items()]
    return f"at {near['shape']}: {', '.join([*ratios, *said]) or 'not compared'}"


def benchmark_row(row: dict[str, Any]) -> str:
    def cell(key: str, form: str) -> str:
        return form.format(row[key]) if row.get(key) is not None else ""

    cells = [
        f"{row['name']} {row['version']}".strip(),
        cell("seconds", "{:.3g} s"),
        cell("ratio", "{:.2f}×"),
        cell("quality", "{:.7g}"),
        cell("memory_mb", "{:.0f} MB"),
        cell("growth", "n^{:.2f}"),
        row["remark"],
    ]
    return "| " + " | ".join(text.replace("|", r"\|") for text in cells) + " |"


# What mkdocs calls


def on_config(config: Any) -> Any:
    pages = ["api/index.md", *({f"gnomon.{name}": f"api/{name}.md"} for name in families())]
    config.nav = [entry for entry in config.nav if "API" not in entry]
    config.nav.insert(-2, {"API": pages})
    return config


def on_files(files: Any, config: Any) -> Any:
    pages = {
        "api/index.md": api_index(),
        "course-to-code.md": course_page(),
        "benchmarks.md": benchmark_page(),
        **{f"api/{name}.md": api_page(name, names) for name, names in families().items()},
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill the marks of the pages that people write."""
    if "<!-- models that scale -->" in markdown:
        markdown = markdown.replace("<!-- models that scale -->", scaling_list())
    if "<!-- commands -->" in markdown:
        markdown = markdown.replace("<!-- commands -->", commands.page())
    return migrating.filled(markdown, link) if page.file.src_uri == "migrating.md" else markdown
