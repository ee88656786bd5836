"""What is written from the project: stubs (__init__.pyi) for editors, the README's tables.

scripts/stubs            write them
scripts/stubs --check    say which are out of date
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import readme

import gnomon
from gnomon._lazy import PACKAGES

ROOT = Path(gnomon.__file__).parent
PROJECT = Path(__file__).resolve().parent.parent
NOTE = "# Written by scripts/stubs from the package's `attach` call; do not edit.\n"


def package_stub(names: dict[str, str]) -> str:
    lines = [f"from .{file} import {name} as {name}" for name, file in names.items()]
    return NOTE + "\n".join(sorted(lines)) + f"\n\n__all__ = {sorted(names)!r}\n".replace("'", '"')


def top_stub() -> str:
    lines = [f"from . import {name} as {name}" for name in gnomon._subpackages()]
    lines += [f"from .{file} import {name} as {name}" for name, file in gnomon._FUNCTIONS.items()]
    return NOTE + "\n".join(sorted(lines)) + "\n\n__version__: str\n\ndef _subpackages() -> list[str]: ...\n"


def written() -> dict[Path, str]:
    """Return the file and the text of everything that is written here."""
    for name in gnomon._subpackages():
        import_module(f"gnomon.{name}")
    texts = {ROOT / "__init__.pyi": top_stub(), PROJECT / "README.md": readme.text()}
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
