"""The commands of the command line and their options, as Markdown, from the program itself."""

from __future__ import annotations

from typing import Any


def commands() -> dict[str, Any]:
    """Return the commands by name."""
    import typer

    from gnomon.cli.app import app

    return dict(typer.main.get_command(app).commands)


def page() -> str:
    """Return one section for every command."""
    return "\n".join(line for name, command in commands().items() for line in section(name, command))


def section(name: str, command: Any) -> list[str]:
    words = [f"{p.name}..." if p.nargs == -1 else p.name for p in command.params if is_argument(p)]
    lines = ["", f"### gnomon {name} {' '.join(words)}".rstrip(), "", command.help or "", ""]
    lines += ["| | what it says | default |", "|---|---|---|"]
    return [*lines, *(row(parameter) for parameter in command.params if parameter.name != "help")]


def row(parameter: Any) -> str:
    name = parameter.name if is_argument(parameter) else ", ".join(parameter.opts)
    silent = is_argument(parameter) or parameter.default is None or parameter.default is False
    value = "" if silent else f"`{parameter.default}`"
    return f"| `{name}` | {parameter.help or ''} | {value} |"


def is_argument(parameter: Any) -> bool:
    return parameter.param_type_name == "argument"
