"""The web application of the lab: for the page that knows its token, on this machine alone.

Everything but the page itself is asked for with the token of the address in a header, which no page from elsewhere
can send; Host and Origin are checked before anything is read. Nothing is read from the disk but what is bundled,
and nothing that a page sends is executed: models are found by name, settings are plain data.
"""

from __future__ import annotations

import hmac
import json
import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gnomon.core.errors import GnomonError
from gnomon.lab import catalogs, film, forms, learners, material
from gnomon.lab.material import RefusedError
from gnomon.lab.runs import Job, Run

MAX_MESSAGE = 1_000_000  # bytes of a request that describes a run
MAX_TABLE = 50_000_000  # bytes of a table dropped on the page
MAX_FILM = 64_000_000
MAX_RUNS = 8  # fits at the same time
MAX_TABLES = 8  # kept in memory
LOCAL = {"127.0.0.1", "localhost", "::1"}
TYPES = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml", "txt": "text/plain; charset=utf-8",
}  # fmt: skip
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Lab:
    """What the server keeps: its token, the fits that go on, and the tables that were dropped."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.places = threading.BoundedSemaphore(MAX_RUNS)
        self.tables: OrderedDict[str, Any] = OrderedDict()
        self.lock = threading.Lock()

    def keep(self, frame: Any, name: str) -> str:
        """Keep a table and return the word it is asked for by; the oldest is forgotten."""
        key = secrets.token_hex(8)
        with self.lock:
            self.tables[key] = (frame, name)
            while len(self.tables) > MAX_TABLES:
                self.tables.popitem(last=False)
        return key

    def job(self, asked: Any) -> Job:
        """Return the fit that a page describes."""
        if not isinstance(asked, dict) or not isinstance(asked.get("data", {}), dict):
            raise RefusedError("a run is described by a model, its settings and its data.")
        try:
            cls = learners.find(str(asked.get("model")))
        except LookupError as error:
            raise RefusedError(str(error)) from None
        settings, source = forms.read_settings(cls, asked.get("settings", {})), asked.get("data", {})
        if "table" in source:
            frame, name = self.table(str(source["table"]))
            target = source.get("target")
            chosen = {**learners.start_settings(cls), **settings}
            model, found = material.from_table(
                frame, cls.__name__, str(target) if target else None, chosen, name
            )
            return Job(model, found, chosen)
        found = material.gather(source, learners.data_for(cls))
        return Job(learners.make(cls, settings), found, settings)

    def table(self, key: str) -> Any:
        """Return a table that was dropped."""
        if key not in self.tables:
            raise HTTPException(404, "the server no longer has this table; drop the file again.")
        return self.tables[key]


def application(lab: Lab) -> Any:
    """Return the web application of a lab."""

    async def describe(request: Request) -> Response:
        """The form of a model, its data and its words."""
        _check(request, lab)
        cls = _model(request.path_params["name"])
        return JSONResponse(await run_in_threadpool(catalogs.describe, cls))

    async def models(request: Request) -> Response:
        _check(request, lab)
        return JSONResponse(await run_in_threadpool(catalogs.everything))

    async def topics(request: Request) -> Response:
        _check(request, lab)
        return JSONResponse(await run_in_threadpool(catalogs.topics))

    async def alive(request: Request) -> Response:
        _check(request, lab)
        return JSONResponse({"alive": True})

    async def all_lessons(request: Request) -> Response:
        _check(request, lab)
        return JSONResponse(await run_in_threadpool(catalogs.lessons))

    async def table(request: Request) -> Response:
        _check(request, lab)
        body = await _body(request, MAX_TABLE, "a table")
        name = Path(request.query_params.get("name", "table.csv")).name[:100]
        try:
            return JSONResponse(await run_in_threadpool(keep_table, lab, body, name))
        except GnomonError as error:
            raise HTTPException(422, str(error)) from None

    async def run(request: Request) -> Response:
        _check(request, lab)
        asked = _parsed(await _body(request, MAX_MESSAGE, "a run"))
        try:
            job = await run_in_threadpool(lab.job, asked)
        except (ValueError, GnomonError, TypeError) as error:
            raise HTTPException(422, str(error)) from None
        if not lab.places.acquire(blocking=False):
            raise HTTPException(
                429, f"{MAX_RUNS} fits are going on; pause or close another page, then run again."
            )
        going = Run(job, over=lab.places.release)
        return StreamingResponse(
            _stream(going), media_type="application/x-ndjson", headers={**SAFE, "X-Accel-Buffering": "no"}
        )

    async def make_film(request: Request) -> Response:
        _check(request, lab)
        body = await _body(request, MAX_FILM, "a film")
        try:
            gif = await run_in_threadpool(film.gif, body)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None
        return Response(gif, media_type="image/gif", headers=SAFE)

    async def static(request: Request) -> Response:
        _check_place(request)
        name = request.path_params.get("path", "") or "index.html"
        found = bundled().get(name)
        if found is None:
            raise HTTPException(404, "there is no such file in the lab.")
        return Response(found, headers={**SAFE, "Content-Type": TYPES[name.rsplit(".", 1)[-1]]})

    async def refused(request: Request, error: Any) -> Response:
        return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=SAFE)

    async def broken(request: Request, error: Exception) -> Response:
        return JSONResponse(
            {"error": f"the server failed ({type(error).__name__}): {error}"}, status_code=500, headers=SAFE
        )

    app = Starlette(
        routes=[
            Route("/api/alive", alive),
            Route("/api/models", models),
            Route("/api/topics", topics),
            Route("/api/lessons", all_lessons),
            Route("/api/model/{name}", describe),
            Route("/api/table", table, methods=["POST"]),
            Route("/api/run", run, methods=["POST"]),
            Route("/api/film", make_film, methods=["POST"]),
            Route("/", static),
            Route("/{path:path}", static),
        ],
        exception_handlers={HTTPException: refused, Exception: broken},
    )
    return GZipMiddleware(app, minimum_size=1000)


async def _stream(run: Run) -> AsyncIterator[str]:
    """Yield the lines of a run; when the page goes, the run is told to stop."""
    try:
        async for text in iterate_in_threadpool(run.lines()):
            yield text
    finally:
        run.stop()


def keep_table(lab: Lab, body: bytes, name: str) -> dict[str, Any]:
    """Read a dropped table and say what it holds."""
    from gnomon.report import read_table

    ending = Path(name).suffix.lower() or ".csv"
    with tempfile.TemporaryDirectory(prefix="gnomon-lab-") as folder:
        path = Path(folder) / f"table{ending}"
        path.write_bytes(body)
        frame = read_table(path)
    return {
        "table": lab.keep(frame, name),
        "name": name,
        "rows": frame.height,
        "columns": [str(c) for c in frame.columns],
    }


def bundled() -> dict[str, bytes]:
    """Return the files of the page, by name."""
    if not _BUNDLED:
        for found in files("gnomon.lab").joinpath("static").iterdir():
            if found.name.rsplit(".", 1)[-1] in TYPES:
                _BUNDLED[found.name] = found.read_bytes()
    return _BUNDLED


_BUNDLED: dict[str, bytes] = {}


def _check_place(request: Request) -> None:
    """Refuse a request that did not come to this machine by its own name, or comes from another page."""
    host = request.headers.get("host", "")
    if urlsplit(f"//{host}").hostname not in LOCAL:
        raise HTTPException(
            403, "the lab answers on this machine only; open the address that `gnomon lab` shows."
        )
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise HTTPException(403, "this request comes from another page; the lab answers its own page only.")
    if request.headers.get("sec-fetch-site") == "cross-site" and request.url.path.startswith("/api"):
        raise HTTPException(403, "this request comes from another page; the lab answers its own page only.")


def _check(request: Request, lab: Lab) -> None:
    _check_place(request)
    given = request.headers.get("x-gnomon-token", "")
    if not hmac.compare_digest(given.encode(), lab.token.encode()):
        raise HTTPException(401, "the token is wrong; open the address that `gnomon lab` shows.")


async def _body(request: Request, limit: int, what: str) -> bytes:
    """Return the body of a request, or refuse it as soon as it is too large."""
    told = request.headers.get("content-length", "0")
    size = int(told) if told.isdigit() else 0
    received = bytearray()
    if size <= limit:
        try:
            async for part in request.stream():
                received += part
                if len(received) > limit:
                    break
        except ClientDisconnect:
            raise HTTPException(400, "the page went away.") from None
    if max(size, len(received)) > limit:
        raise HTTPException(
            413, f"{what} may have {limit // 1_000_000} MB; this one has more. Take a part of it."
        )
    return bytes(received)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the message is no JSON.") from None


def _model(name: str) -> type:
    try:
        return learners.find(name)
    except LookupError as error:
        raise HTTPException(404, str(error)) from None
