"""The errors of the library. Each message names the argument, the rule, the value given and the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class GnomonError(Exception):
    """Whatever gnomon raises on its own account."""


class DataError(GnomonError, ValueError):
    """The data break a rule of the model."""


class DegenerateError(GnomonError, ValueError):
    """The mathematics has no answer here: a zero variance, a singular matrix, separable classes."""


class InfeasibleError(GnomonError, ValueError):
    """No point satisfies the constraints."""


class ZeroEvidenceError(GnomonError, ValueError):
    """What was observed is impossible under every hypothesis."""


class DivergenceError(GnomonError, FloatingPointError, ValueError):
    """The objective left the finite numbers, or runs away: the data or a setting want another scale."""


class ModelFileError(GnomonError, ValueError):
    """A model or checkpoint file is damaged, foreign or not to be trusted."""


class WorldError(GnomonError, RuntimeError):
    """An environment failed; `agent` is a fitted copy with what had been learned until then, where there is one."""

    agent: object = None


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be Ctrl-C: one that a compiled loop meets on its way back comes out as the cause of some
    SystemError.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def nearest(word: object, options: Iterable[str]) -> str:
    """Return a hint such as ``" Did you mean 'full'?"``, or nothing when no option is close.

    >>> nearest("ful", ["full", "tied"])
    " Did you mean 'full'?"
    >>> nearest("xyz", ["full", "tied"])
    ''
    """
    close = difflib.get_close_matches(str(word), list(options), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
