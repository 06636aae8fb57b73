"""Composition root: settings in; running API, reader and worker out."""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
from collections.abc import Awaitable, Callable, Iterable
from importlib.metadata import version
from typing import Any

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar import Litestar

from .access import LastUse, authenticate
from .errors import Unavailable
from .kit import db as databases
from .kit.context import Context
from .kit.description import describe, reference_page
from .kit.http import Dispatcher, Endpoint, Receive, Scope, Send, build_app, send_answer
from .kit.migrations import load_migrations, migrate
from .kit.operation import TABLE, Call
from .settings import Settings

log = logging.getLogger("octavo")

# Importing a package's routes declares its operations.
ROUTES = ("access", "orgs", "spaces")
_WRITE_LAST_USE = 10.0


def load_operations() -> None:
    """Fills the table of operations."""
    for package in ROUTES:
        importlib.import_module(f"octavo.{package}.routes")


def open_context(settings: Settings) -> Context:
    """Opens database and files and brings the schema up to date. Raises Unavailable naming what is wrong."""
    settings.data_folder.mkdir(parents=True, exist_ok=True)
    database = databases.open_database(settings.database, settings.threads)
    try:
        migrate(database, load_migrations("octavo.migrations"))
    except BaseException:
        database.close()
        raise
    return Context(settings=settings, db=database)


def _static(body: Callable[[], bytes], content_type: str) -> Endpoint:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-cache")]
        if content_type.startswith("text/html"):
            headers.append((b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"))
        await send_answer(send, 200, body(), headers)

    return endpoint


def _ready(context: Context) -> Endpoint:
    def ask() -> None:
        with context.db.read() as tx:
            tx.value("SELECT count(*) FROM migrations")

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(None, ask)
        except Exception as error:  # readiness is exactly the question whether anything is wrong
            log.warning("not ready: %s", error)
            await send_answer(send, 503, b"not ready\n", [(b"content-type", b"text/plain")])
            return
        await send_answer(send, 200, b"ready\n", [(b"content-type", b"text/plain")])

    return endpoint


def api_app(context: Context, last_use: LastUse | None = None) -> Litestar:
    """The HTTP API with its description, reference and health pages."""
    import msgspec

    load_operations()
    uses = last_use or LastUse()

    def identify(call: Call) -> str | None:
        return authenticate(call, uses)

    dispatcher = Dispatcher(context, identify)
    made: dict[str, bytes] = {}

    def description() -> bytes:
        if "json" not in made:
            found = describe(
                TABLE.values(),
                title="Octavo API",
                version=version("octavo"),
                server=f"{context.settings.url}/v1",
            )
            made["json"] = msgspec.json.encode(found)
            made["html"] = reference_page(found).encode()
        return made["json"]

    def reference() -> bytes:
        description()
        return made["html"]

    return build_app(
        dispatcher,
        TABLE.values(),
        {
            "/openapi.json": _static(description, "application/json"),
            "/docs": _static(reference, "text/html; charset=utf-8"),
            "/healthz": _static(lambda: b"ok\n", "text/plain"),
            "/readyz": _ready(context),
        },
        on_shutdown=[dispatcher.close],
    )


def _server(app: Litestar, host: str, port: int) -> Server:
    return Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        log_enabled=True,
        log_level=LogLevels.error,
        websockets=False,
    )


async def _until_stopped(
    servers: Iterable[Server], background: Iterable[Callable[[], Awaitable[Any]]]
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    running = [asyncio.ensure_future(server.serve()) for server in servers]
    others = [asyncio.ensure_future(start()) for start in background]
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait([*running, stopping], return_when=asyncio.FIRST_COMPLETED)
    failed = [task for task in running if task.done() and task.exception()]
    for server in servers:
        server.stop()
    await asyncio.wait(running, timeout=30)
    for task in others:
        task.cancel()
    stopping.cancel()
    if failed:
        raise Unavailable(f"the server could not start: {failed[0].exception()}")


def serve(
    settings: Settings, *, host: str, port: int | None, reader_port: int | None, ready: Callable[[], None]
) -> None:
    """Runs until SIGTERM or SIGINT, then finishes what runs. ``port`` None: no API; ``reader_port``: no reader."""
    context = open_context(settings)
    try:
        last_use = LastUse()
        servers = []
        if port is not None:
            servers.append(_server(api_app(context, last_use), host, port))

        async def write_last_use() -> None:
            while True:
                await asyncio.sleep(_WRITE_LAST_USE)
                await asyncio.get_running_loop().run_in_executor(None, last_use.write, context.db)

        ready()
        asyncio.run(_until_stopped(servers, [write_last_use]))
        last_use.write(context.db)
    finally:
        context.db.close()
