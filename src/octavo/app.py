"""Composition root: settings in; running API, reader and worker out."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import version
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar import Litestar
from msgspec import Struct

from .access import LastUse, authenticate
from .admin.first_start import FirstStart, first_start
from .errors import BadRequest, Unavailable
from .installation import close_context, find_unready, load_packages, open_context
from .kit import logs
from .kit.context import Context
from .kit.description import describe, reference_page
from .kit.http import Dispatcher, Endpoint, Receive, Scope, Send, build_app, send_answer
from .kit.jobs import wake
from .kit.metrics import CONTENT_TYPE as METRICS_TYPE
from .kit.metrics import Metrics
from .kit.operation import TABLE, Call
from .kit.worker import Worker
from .portal import CONTENT_SECURITY_POLICY, read_file
from .portal import FILES as PORTAL_FILES
from .reader import reader_app
from .settings import Settings, keep_addresses
from .uploads import UPLOAD_PATH, upload_endpoint

log = logging.getLogger("octavo")

_WRITE_LAST_USE = 10.0


def _static(
    body: Callable[[], bytes],
    content_type: str,
    policy: str = "default-src 'none'; style-src 'unsafe-inline'",
) -> Endpoint:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-cache")]
        if content_type.startswith("text/html"):
            headers.append((b"content-security-policy", policy.encode()))
            headers.append((b"referrer-policy", b"no-referrer"))
        await send_answer(send, 200, body(), headers)

    return endpoint


def _ready(context: Context) -> Endpoint:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
        failing = await asyncio.get_running_loop().run_in_executor(None, find_unready, context)
        if failing is None:
            await send_answer(send, 200, b"ready\n", headers)
        else:
            headers.append((b"retry-after", b"5"))
            await send_answer(send, 503, f"not ready: {failing}\n".encode(), headers)

    return endpoint


def _metrics(metrics: Metrics) -> Endpoint:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        text = await asyncio.get_running_loop().run_in_executor(None, metrics.text)
        await send_answer(send, 200, text, [(b"content-type", METRICS_TYPE.encode())])

    return endpoint


def api_app(context: Context, last_use: LastUse | None = None) -> Litestar:
    """The HTTP API with its description, reference and health pages."""
    import msgspec

    load_packages()
    uses = last_use or LastUse()

    def identify(call: Call) -> str | None:
        return authenticate(call, uses)

    metrics = Metrics()
    metrics.watch(context.db)
    dispatcher = Dispatcher(context, identify, metrics=metrics)
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
            f"{UPLOAD_PATH}/{{token:str}}": upload_endpoint(context),
            "/metrics": _metrics(metrics),
            **{
                file.path: _static(partial(read_file, file.name), file.content_type, CONTENT_SECURITY_POLICY)
                for file in PORTAL_FILES
            },
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
        server.stop()  # type: ignore[no-untyped-call]
    await asyncio.wait(running, timeout=30)
    for task in others:
        task.cancel()
    stopping.cancel()
    if failed:
        raise Unavailable(f"the server could not start: {failed[0].exception()}")


def _configure_logs(settings: Settings) -> None:
    logs.configure(
        "json" if settings.log_format == "json" else "text",
        level=logging.WARNING,
        secrets=settings.secrets,
    )


Role = Literal["api", "reader", "worker"]


class Address(Struct, frozen=True):
    """Where to listen."""

    host: str
    port: int
    reader_port: int


def serve(settings: Settings, *, roles: Sequence[Role], address: Address, say: Callable[[str], None]) -> None:
    """Runs these roles until SIGTERM or SIGINT, then finishes what runs and leaves no process behind.

    With more than one worker, the further ones are processes that listen on the same ports. ``say`` tells a
    person how it goes. Raises Unavailable when something cannot be opened or a port is taken.
    """
    _configure_logs(settings)
    ports = {"api": address.port, "reader": address.reader_port}
    if {"api", "reader"} <= set(roles) and address.port == address.reader_port:
        raise BadRequest(f"--port and --reader-port: sites need a port of their own, both are {address.port}")
    for role in roles:
        if role != "worker":
            _require_free(address.host, ports[role])
    context = open_context(settings)
    keep_addresses(settings)
    further: list[BaseProcess] = []
    try:
        load_packages()
        started = first_start(context) if "api" in roles else None
        if started is not None:
            _tell_first_start(context, started, say)
        for role, what in (("api", "API    {}v1   reference {}docs"), ("reader", "Sites  {}")):
            if role in roles:
                say(what.replace("{}", f"http://{address.host}:{ports[role]}/"))
        answering = [role for role in roles if role != "worker"]
        if answering:
            spawn = multiprocessing.get_context("spawn")
            for _ in range(settings.workers - 1):
                further.append(spawn.Process(target=_serve_further, args=(settings, answering, address)))
                further[-1].start()
        _run(context, roles, address)
    finally:
        for process in further:
            process.terminate()
        for process in further:
            process.join()
        close_context(context)


def _serve_further(settings: Settings, roles: Sequence[Role], address: Address) -> None:
    _configure_logs(settings)
    context = open_context(settings)
    try:
        _run(context, roles, address)
    finally:
        close_context(context)


def _run(context: Context, roles: Sequence[Role], address: Address) -> None:
    last_use = LastUse()
    servers = []
    if "api" in roles:
        servers.append(_server(api_app(context, last_use), address.host, address.port))
    if "reader" in roles:
        servers.append(_server(reader_app(context), address.host, address.reader_port))
    stop = threading.Event()
    worker = threading.Thread(
        target=Worker(context.db, context).run_forever, args=(stop,), name="octavo-jobs"
    )

    async def write_last_use() -> None:
        while True:
            await asyncio.sleep(_WRITE_LAST_USE)
            await asyncio.get_running_loop().run_in_executor(None, last_use.write, context.db)

    if "worker" in roles:
        worker.start()
    try:
        asyncio.run(_until_stopped(servers, [write_last_use]))
    finally:
        stop.set()
        wake()
        if worker.is_alive():
            worker.join()
        last_use.write(context.db)


def _require_free(host: str, port: int) -> None:
    # Servers share a port with SO_REUSEPORT, so a second installation would silently take half the requests.
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Unavailable(f"port {port} on {host}: {error.strerror}") from None


def _tell_first_start(context: Context, started: FirstStart, say: Callable[[str], None]) -> None:
    say(f"Organization {started.organization_id}, administrator {context.settings.admin_email}")
    if started.site_url:
        say(f"The manual is published at {started.site_url}")
    say(f"Token  {started.token}   (kept in {context.settings.data_folder / 'admin-token'})")
