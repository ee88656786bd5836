"""Guides: Markdown whose Python runs while the site is built; what a block prints and draws stands below it.

A guide is one file in docs/guides. Its ``python`` blocks share one set of names, in order. Figures left open, and
pictures written to files, are shown and closed. A ``python claim`` block is run but not shown: it asserts what the
text says. A guide that raises stops the build.
"""

from __future__ import annotations

import io
import linecache
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

FOLDER = Path(__file__).resolve().parents[1] / "guides"
BLOCK = re.compile(r"^```python(?P<claim> claim)?\n(?P<code>.*?)^```\n", re.DOTALL | re.MULTILINE)
ORDER = re.compile(r"^---\norder: *(\d+)\n---\n")
TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)

# Stand-ins for the colors of text and paper; each is replaced in the picture for light and the one for dark paper.
INK, PAPER = "#0b0c0d", "#fdfefc"
PAPERS = {"light": ("#1f2328", "#ffffff"), "dark": ("#d5d9e0", "#1e2129")}
INKED = ["text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color"]
STYLE = {
    **dict.fromkeys(INKED, INK),
    "axes.facecolor": PAPER,
    "font.size": 9.5,
    "axes.titlesize": 10,
    "svg.hashsalt": "gnomon",  # the same picture has the same bytes
}


class Block(NamedTuple):
    """One piece of code and what came of it."""

    claim: bool
    printed: str
    drawn: list[bytes]  # SVG, with the stand-in colors
    files: dict[str, bytes]  # pictures that the code wrote itself


def titles() -> dict[str, str]:
    """Return the title of every guide by its file name, in the order of the menu."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return {name: title(texts[name]) for name in sorted(texts, key=lambda name: (order(texts[name]), name))}


def title(text: str) -> str:
    found = TITLE.search(text)
    if not found:
        raise ValueError("a guide needs a title: a line that starts with '# '")
    return found[1].strip()


def order(text: str) -> int:
    found = ORDER.match(text)
    return int(found[1]) if found else 50


def run(text: str, name: str) -> Iterator[Block]:
    """Run the blocks of a guide, one after the other."""
    names: dict[str, Any] = {"__name__": name}
    with tempfile.TemporaryDirectory() as folder, pyplot.rc_context(STYLE):
        for number, found in enumerate(BLOCK.finditer(text)):
            with chdir(folder):
                yield run_block(found["code"], f"{name} block {number}", names, bool(found["claim"]))


def run_block(code: str, where: str, names: dict[str, Any], claim: bool) -> Block:
    """Run one block in the current folder, which it may write pictures to."""
    linecache.cache[where] = (len(code), None, code.splitlines(keepends=True), where)  # for tracebacks
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code, where, "exec"), names)
    drawn = [as_svg(pyplot.figure(number)) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return Block(claim, out.getvalue(), drawn, taken_files())


def as_svg(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return out.getvalue()


def taken_files() -> dict[str, bytes]:
    """Return the pictures in the current folder and remove them."""
    found = {}
    for path in sorted(Path.cwd().iterdir()):
        if path.suffix in {".gif", ".png"}:
            found[path.name] = path.read_bytes()
            os.remove(path)
    return found


def for_paper(svg: bytes, paper: str) -> bytes:
    """Return the picture with the text and paper colors of one of PAPERS."""
    ink, ground = PAPERS[paper]
    return svg.replace(INK.encode(), ink.encode()).replace(PAPER.encode(), ground.encode())


def woven(text: str, name: str) -> tuple[str, dict[str, bytes]]:
    """Return a guide with the results below the code, and its pictures by their place in the site."""
    blocks = run(text, name)
    pictures: dict[str, bytes] = {}
    numbers = count()

    def weave(found: re.Match[str]) -> str:
        block = next(blocks)
        shown = "" if block.claim else found[0]
        if block.printed:
            shown += f'\n```text title="prints"\n{block.printed.rstrip()}\n```\n'
        for svg in block.drawn:
            stem = f"pictures/{name}-{next(numbers)}"
            pictures.update({f"{stem}-{paper}.svg": for_paper(svg, paper) for paper in PAPERS})
            shown += "\n" + "\n".join(f"![]({stem}-{paper}.svg#only-{paper})" for paper in PAPERS) + "\n"
        for file, content in block.files.items():
            pictures[f"pictures/{name}-{file}"] = content
            shown += f"\n![](pictures/{name}-{file})\n"
        return shown

    return BLOCK.sub(weave, text), pictures


# What mkdocs calls


def on_config(config: Any) -> Any:
    """Put every guide at the top of the menu's "Guides"."""
    for entry in config.nav:
        if "Guides" in entry:
            listed = [page for page in entry["Guides"] if "guides/" not in str(page)]
            entry["Guides"] = [{title: f"guides/{name}"} for name, title in titles().items()] + listed
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name in titles():
        text, pictures = woven((FOLDER / name).read_text(encoding="utf-8"), name.removesuffix(".md"))
        files.remove(files.get_file_from_path(f"guides/{name}"))
        files.append(File.generated(config, f"guides/{name}", content=text))
        for place, content in pictures.items():
            files.append(File.generated(config, f"guides/{place}", content=content))
    return files
