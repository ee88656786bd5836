"""What a command says: tables and progress on a terminal, plain lines in a pipe, one JSON object for scripts."""

from __future__ import annotations

import _thread
import functools
import json
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

OK, WRONG_USE, BAD_DATA, STOPPED = 0, 2, 3, 130
PIPE_WIDTH = 120


class Screen:
    """Where a command writes: results to the standard output, progress and remarks to the standard error."""

    def __init__(self, as_json: bool) -> None:
        from rich.console import Console

        self.as_json = as_json
        self.out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
        self.side = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)

    def say(self, text: str, style: str = "") -> None:
        """Say a line to people; scripts do not hear it."""
        if not self.as_json:
            self.out.print(text, style=style, markup=False, soft_wrap=not self.out.is_terminal)

    def table(
        self, head: list[str], rows: list[list[str]], numeric: tuple[int, ...] = (), fold: bool = False
    ) -> None:
        """Show a table to people: in color on a terminal, as aligned columns in a pipe."""
        if self.as_json:
            return
        from rich.table import Table

        shown = Table(
            box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(head)
        )
        for place, name in enumerate(head or [""] * len(rows[0])):
            shown.add_column(
                name, justify="right" if place in numeric else "left", overflow="fold", no_wrap=not fold
            )
        for row in rows:
            shown.add_row(*map(_literal, row))
        with self.out.capture() as text:
            self.out.print(shown, crop=False)
        for line in text.get().splitlines():
            self.out.file.write(line.rstrip() + "\n")

    def result(self, values: dict[str, Any]) -> None:
        """Give the result to a script."""
        if self.as_json:
            print(json.dumps(values, default=_jsonable, ensure_ascii=False))

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[str, int, int], None]]:
        """Show a bar while something goes on, on a terminal only; yield what tells it of every step."""
        if not self.side.is_terminal or self.as_json:
            yield lambda name, done, total: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            BarColumn(bar_width=12), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
        )  # fmt: skip
        with Progress(*columns, console=self.side, transient=True) as bar:
            task = bar.add_task(label, total=None)

            def tell(name: str, done: int, total: int) -> None:
                bar.update(task, description=_literal_text(name), completed=done, total=total)

            yield tell


def _literal(text: str) -> Any:
    from rich.text import Text

    return Text(text)


def _literal_text(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _jsonable(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into one clear line and an exit code: 2 for wrong use, 3 for bad data."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings(), _no_interrupt_lost():
                warnings.showwarning = _note
                command(*args, **kwargs)
        except KeyboardInterrupt:
            _fail("stopped; no file was written or changed.", STOPPED, kwargs)
        except Exception as error:
            code = exit_code(error)
            if code is None:
                raise
            _fail(str(error), code, kwargs)

    return run


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Python drops a Ctrl-C that comes inside a callback of the compiler: send it once more, a little later."""
    before = sys.unraisablehook

    def look(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(0.1, _thread.interrupt_main).start()
        else:
            before(dropped)

    sys.unraisablehook = look
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def stoppable() -> Iterator[None]:
    """Take a signal to terminate for a Ctrl-C: what is known is written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _note(message: Any, *_: Any, **__: Any) -> None:
    """Show a warning as a remark: the line of code it came from is of no use here."""
    typer.echo(f"note: {message}", err=True)


def exit_code(error: Exception) -> int | None:
    """Return the exit code that an error deserves, or None when it is a fault of the program."""
    from gnomon.core.errors import GnomonError
    from gnomon.core.parameters import InvalidParameterError
    from gnomon.report.columns import QuestionError

    if isinstance(error, QuestionError | InvalidParameterError | OSError):
        return WRONG_USE
    return BAD_DATA if isinstance(error, GnomonError | ValueError) else None


def _fail(message: str, code: int, options: dict[str, Any]) -> None:
    if options.get("json"):
        print(json.dumps({"error": message, "exit_code": code}, ensure_ascii=False))
    else:
        typer.echo(f"gnomon: {message}", err=True)
    raise typer.Exit(code) from None
