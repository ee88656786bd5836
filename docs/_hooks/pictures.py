"""Pictures of the site, drawn by the library while the site is built, for light and for dark paper."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from mkdocs.structure.files import File

PAPER = {"light": "default", "dark": "dark_background"}
CODE = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


def gallery() -> tuple[str, dict[str, str]]:
    """Return the gallery's page, with a picture after every piece of code, and the code of each picture."""
    text = (Path(__file__).parent / "gallery.md").read_text(encoding="utf-8")
    codes = {f"gallery-{number}": code for number, code in enumerate(CODE.findall(text))}
    names = iter(codes)
    page = CODE.sub(lambda found: f"{found[0]}\n{reference(next(names))}\n", text)
    return f"# Pictures\n\n{page}", codes


def reference(name: str) -> str:
    return "\n".join(
        f"![picture](pictures/{name}-{paper}.png#only-{paper}){{ width=520 }}" for paper in PAPER
    )


def render(code: str, paper: str) -> bytes:
    """Run the code, which leaves its picture in `ax`, and return the picture."""
    with pyplot.style.context(PAPER[paper]):
        names: dict[str, Any] = {}
        exec(compile(code, "gallery", "exec"), names)
        out = io.BytesIO()
        names["ax"].figure.savefig(out, dpi=110, transparent=True)
        pyplot.close("all")
    return out.getvalue()


def on_files(files: Any, config: Any) -> Any:
    page, codes = gallery()
    files.append(File.generated(config, "pictures.md", content=page))
    for name, code in codes.items():
        for paper in PAPER:
            content = render(code, paper)
            files.append(File.generated(config, f"pictures/{name}-{paper}.png", content=content))
    return files
