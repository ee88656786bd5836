"""The server of the lab: its address with the token, the scene to open, and the socket it listens on."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gnomon.lab import learners, lessons
from gnomon.lab.application import Lab, application
from gnomon.lab.material import RefusedError

PORT = 8765


def serve(
    scene: str | None = None,
    *,
    target: str | None = None,
    port: int = PORT,
    open_browser: bool = True,
    token: str | None = None,
    announce: Any = None,
) -> None:
    """Serve the lab on this machine until it is stopped with Ctrl-C.

    Parameters
    ----------
    scene : str, optional
        A model such as ``"KMeans"``, a lesson, or the path of a table to open at once.
    target : str, optional
        The column of the table to predict.
    port : int
        Where to listen; a free one is taken when it is in use. Only 127.0.0.1 is listened to.
    open_browser : bool
        Whether to open the page.
    token : str, optional
        The secret in the address; by default the one kept for this user.
    announce : function of the address, optional
        Told where the page is before the server starts.

    Examples
    --------
    >>> import gnomon.lab
    >>> gnomon.lab.serve("KMeans")  # doctest: +SKIP
    """
    import warnings
    import webbrowser

    import uvicorn

    warnings.simplefilter("ignore")  # the page says whether a fit has converged

    lab = Lab(token)
    asked = opening(lab, scene, target)
    lab.token = token or kept_token()
    listening = _listen(port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/#{urlencode({'token': lab.token, **asked})}"
    if announce is not None:
        announce(address)
    config = uvicorn.Config(
        application(lab), log_level="error", timeout_graceful_shutdown=1, limit_concurrency=400
    )
    server = uvicorn.Server(config)
    if open_browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()
    with limited_memory():
        server.run(sockets=[listening])


@contextlib.contextmanager
def limited_memory(share: float = 0.8) -> Iterator[None]:
    """Let the process have a share of the machine's memory, so that a fit that wants more fails and not the machine."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = int(share * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (ImportError, OSError, ValueError):  # not on every system
        yield
        return
    if soft != resource.RLIM_INFINITY and soft < limit:
        limit = soft
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def opening(lab: Lab, scene: str | None, target: str | None) -> dict[str, str]:
    """Return what the address says of the scene to open: a model, a lesson, or a table with its target."""
    if scene is None:
        return {}
    path = Path(scene)
    if path.is_file():
        from gnomon.report import read_table

        frame = read_table(path)
        if target is not None and target not in frame.columns:
            raise RefusedError(
                f"{path.name} has no column {target!r}; it has {', '.join(map(str, frame.columns[:20]))}."
            )
        model = "KMeans" if target is None else _model_for(frame, target)
        asked = {"table": lab.keep(frame, path.name), "file": path.name, "target": target}
        return {"model": model, "data": json.dumps({k: v for k, v in asked.items() if v})}
    if scene in {lesson.name for lesson in lessons.LESSONS}:
        return {"lesson": scene}
    try:
        learners.find(scene)
    except LookupError as error:
        raise RefusedError(f"{error} Give a model, a lesson or the path of a table.") from None
    return {"model": scene}


def _model_for(frame: Any, target: str) -> str:
    column = frame[target]
    return (
        "DecisionTreeRegressor"
        if column.dtype.is_numeric() and column.n_unique() > 10
        else "DecisionTreeClassifier"
    )


def _listen(port: int) -> Any:
    """Return a socket on this machine: the port asked for, or a free one when it is in use."""
    import socket

    for wanted in (port, 0):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", wanted))
            listening.listen(512)  # a page that comes before the server is ready waits
            return listening
        except OSError:
            listening.close()
    raise OSError("no port of this machine is free")


def kept_token() -> str:
    """Return the token of this user's lab, kept in a private file so that an open page survives a restart."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    path = Path(base) / "gnomon" / "lab-token"
    try:
        if path.is_file() and path.stat().st_mode & 0o077 == 0 and len(path.read_text().strip()) >= 32:
            return path.read_text().strip()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            token = secrets.token_urlsafe(24)
            stream.write(token)
        return token
    except OSError:
        return secrets.token_urlsafe(24)
