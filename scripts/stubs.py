"""What is written from the public names: stubs (__init__.pyi) for editors, the README's table of families.

scripts/stubs            write them
scripts/stubs --check    say which are out of date
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import gnomon
from gnomon._lazy import PACKAGES

ROOT = Path(gnomon.__file__).parent
PROJECT = Path(__file__).resolve().parent.parent
INNER = {"core", "loops"}  # for authors of families
BEGIN, END = "<!-- families: written by scripts/stubs -->\n", "<!-- end of families -->\n"
NOTE = "# Written by scripts/stubs from the package's `attach` call; do not edit.\n"


def package_stub(names: dict[str, str]) -> str:
    lines = [f"from .{file} import {name} as {name}" for name, file in names.items()]
    return NOTE + "\n".join(sorted(lines)) + f"\n\n__all__ = {sorted(names)!r}\n".replace("'", '"')


def top_stub() -> str:
    lines = [f"from . import {name} as {name}" for name in gnomon._subpackages()]
    lines += [f"from .{file} import {name} as {name}" for name, file in gnomon._FUNCTIONS.items()]
    return NOTE + "\n".join(sorted(lines)) + "\n\n__version__: str\n\ndef _subpackages() -> list[str]: ...\n"


def family_table() -> str:
    """Return the families that have public names, what they are and what is in them."""
    lines = ["| family | what it is | names |", "|---|---|---|"]
    for family in sorted(set(gnomon._subpackages()) - INNER):
        names = sorted(PACKAGES.get(f"gnomon.{family}", {}), key=lambda name: (name[0].islower(), name))
        if names:
            about = (import_module(f"gnomon.{family}").__doc__ or "").partition("\n")[0].rstrip(".")
            more = f" and {len(names) - 8} more" if len(names) > 9 else ""
            shown = ", ".join(f"`{name}`" for name in (names[:8] if more else names))
            lines.append(f"| `{family}` | {about} | {shown}{more} |")
    return "\n".join([*lines, ""])


def readme() -> str:
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + family_table() + "\n" + END + rest.split(END)[1]


def written() -> dict[Path, str]:
    """Return the file and the text of everything that is written here."""
    for name in gnomon._subpackages():
        import_module(f"gnomon.{name}")
    texts = {ROOT / "__init__.pyi": top_stub(), PROJECT / "README.md": readme()}
    for package, names in sorted(PACKAGES.items()):
        folder = ROOT.joinpath(*package.split(".")[1:])
        texts[folder / "__init__.pyi"] = package_stub(dict(names))
    return texts


def main() -> int:
    texts = written()
    if "--check" in sys.argv:
        stale = [path for path, text in texts.items() if not path.is_file() or path.read_text() != text]
        for path in stale:
            print(f"{path.relative_to(PROJECT)} is out of date: run scripts/stubs and commit it")
        return bool(stale)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
