"""Pages that are made from the project itself: the API, the lectures, the benchmarks, migration."""

from __future__ import annotations

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import commands
import courses
import migrating
import reference
from names import families, link, with_links

PROJECT = Path(__file__).resolve().parents[2]


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
    """Put the families and the parts of the courses into the menu; the pages of names stay out of it."""
    api = ["api/index.md", *({f"gnomon.{name}": f"api/{name}.md"} for name in families())]
    taught = [{part: courses.page_of(part)} for part in courses.parts()]
    made = {"API": api, "From course to code": ["course-to-code.md", *taught]}
    config.nav = [{title: made.get(title, pages) for title, pages in entry.items()} for entry in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    pages = {
        "benchmarks.md": benchmark_page(),
        **courses.pages(),
        **{f"api/{place}": text for place, text in reference.pages().items()},
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_nav(nav: Any, files: Any, **_: Any) -> Any:
    """Give the pages of names what the menu gives others: the section they are in, and their neighbors."""
    listed = [
        (files.get_file_from_path(f"api/{place}").page, files.get_file_from_path(f"api/{index}").page)
        for place, index in reference.order()
    ]
    pages = [page for page, _ in listed]
    for (page, index), before, after in zip(listed, [None, *pages], [*pages[1:], None], strict=False):
        page.parent, page.previous_page, page.next_page = index.parent, before, after
    return nav


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Let what a page of the API says of other classes lead to them."""
    place = page.file.src_uri
    return (
        with_links(html, place.split("/")[1]) if place.startswith("api/") and place.count("/") > 1 else html
    )


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill the marks of the pages that people write."""
    if "<!-- models that scale -->" in markdown:
        markdown = markdown.replace("<!-- models that scale -->", scaling_list())
    if "<!-- commands -->" in markdown:
        markdown = markdown.replace("<!-- commands -->", commands.page())
    return migrating.filled(markdown, link) if page.file.src_uri == "migrating.md" else markdown
