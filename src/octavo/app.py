"""Composition root: builds the API, the reader, and the job worker from the settings, and runs them."""

from __future__ import annotations

import asyncio
import gc
import hmac
import logging
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Literal

import msgspec
from msgspec import Struct

from octavo.content.events.presence import write_presence
from octavo.content.live.saving import save_due
from octavo.content.uploads.receiving import upload_route
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import write_authority
from octavo.delivery.agents.mcp_routes import agent_routes
from octavo.delivery.agents.site_oauth import SiteOAuth
from octavo.delivery.reader.api_reference import reference_routes
from octavo.delivery.reader.app import icon_route, reader_edge
from octavo.delivery.studio.batches import batch_route
from octavo.delivery.studio.serving import studio_routes
from octavo.errors import BadRequest, OctavoError, Unauthorized, Unavailable
from octavo.kit.context import Context
from octavo.kit.db.cache import MEMORY
from octavo.kit.http.asgi import Application
from octavo.kit.http.compression import Compressor
from octavo.kit.http.dispatcher import Dispatcher, api_edge
from octavo.kit.http.edge import (
    Action,
    Answer,
    Edge,
    Request,
    Route,
    accepts_page,
    etag_of,
    fixed,
    text_error,
)
from octavo.kit.http.metrics import CONTENT_TYPE as METRICS_TYPE
from octavo.kit.http.metrics import Metrics
from octavo.kit.http.operation import TABLE, Call
from octavo.kit.http.serving import PortLimits, PortListener, allow_connections, require_free, run_served
from octavo.kit.observability import logs, tracing
from octavo.kit.processes.supervision import MORE, START, Assignment
from octavo.kit.scheduling.shares import request_threads
from octavo.kit.temporary import remove_left_folders
from octavo.kit.work.hub import Hub
from octavo.kit.work.jobs import wake
from octavo.kit.work.worker import Worker
from octavo.operations.admin.first_start import FirstStart, first_start, opening_address, update_manual
from octavo.operations.installation import (
    close_context,
    describe_rebuild,
    find_unready,
    load_packages,
    open_context,
)
from octavo.operations.meanings import describe_operations
from octavo.organization.access.tokens import LastUse, authenticate
from octavo.organization.portal.drawing import FILES as PORTAL_FILES
from octavo.organization.portal.drawing import draw_home, draw_refusal, read_file
from octavo.organization.portal.policy import CONTENT_SECURITY_POLICY
from octavo.settings import Settings, keep_addresses, load, split_address
from octavo.sites.fonts.built_in import read_font
from octavo.sites.insights.queueing import EventQueue

log = logging.getLogger("octavo")

_WRITE_LAST_USE = 10.0
_WRITE_EVENTS = 5.0
"""Seconds between writes of queued events. Cached pages are revalidated after each write."""
_WRITE_PRESENCE = 1.0
_SAVE_LIVE = 1.0
_OBSERVE = 5.0
_DROP_UNREAD = 10.0
_TURN = 0.001
"""Maximum number of seconds that a thread can hold the interpreter while other threads wait for it."""
_LINGER = 2.0
"""Number of seconds that connections stay open until their next response after another process has taken over.
Connections without a response by then are closed."""
_PATIENCE = 8.0
"""Number of seconds to let running requests finish when the server stops."""
_PLAIN = "text/plain; charset=utf-8"


def _page_headers(policy: str) -> dict[str, str]:
    return {"content-security-policy": policy, "referrer-policy": "no-referrer"}


def _ready(context: Context) -> Route:
    def answer(request: Request) -> Answer:
        failing = find_unready(context)
        if failing is None:
            details = describe_rebuild(context)
            text = f"ready\n{details}\n" if details else "ready\n"
            return Answer(200, text.encode(), _PLAIN, {"cache-control": "no-store"})
        headers = {"cache-control": "no-store", "retry-after": "5"}
        return Answer(503, f"not ready: {failing}\n".encode(), _PLAIN, headers)

    return Route("/readyz", {"GET": Action("readyz", answer)})


def _home(settings: Settings) -> Callable[[Request], Answer]:
    """Return the handler for the root path if the app isn't built: a page for people, JSON for apps."""
    headers = {"cache-control": "no-cache", "vary": "accept", **_page_headers(CONTENT_SECURITY_POLICY)}
    links = {
        "name": "Octavo",
        "version": version("octavo"),
        "api": f"{settings.url}/v1",
        "description": f"{settings.url}/openapi.json",
        "reference": f"{settings.url}/docs",
        "sites": settings.sites_url,
    }
    page, data = draw_home(settings.name, settings.sites_url), msgspec.json.encode(links)

    def answer(request: Request) -> Answer:
        if accepts_page(request.headers):
            return Answer(200, page, "text/html; charset=utf-8", headers, etag_of(page))
        return Answer(200, data, "application/json", headers, etag_of(data))

    return answer


def describe_api(settings: Settings) -> JsonObject:
    """Return the OpenAPI description of all API operations. Call ``load_packages`` first."""
    return describe_operations(f"{settings.url}/v1", version("octavo"))


def _refusal_page(installation: str, error: OctavoError) -> Answer:
    headers = {"cache-control": "no-store", **_page_headers(CONTENT_SECURITY_POLICY), **error.headers}
    title = {400: "Invalid request", 404: "Not found"}.get(error.status, "You aren't signed in")
    # People in a browser don't know the name of the field.
    message = error.message.removeprefix(f"{error.field}: ")
    page = draw_refusal(installation, title, f"{message[:1].upper()}{message[1:]}")
    return Answer(error.status, page, "text/html; charset=utf-8", headers)


def _missing_page(installation: str, message: str) -> Answer:
    """Return the page to show at the app's URLs if the app isn't built."""
    headers = {"cache-control": "no-store", **_page_headers(CONTENT_SECURITY_POLICY)}
    page = draw_refusal(installation, "The app isn't installed", message)
    return Answer(503, page, "text/html; charset=utf-8", headers)


def _metrics_route(metrics: Metrics, token: str = "") -> Route:
    """Return the ``/metrics`` route. If a token is set, only callers with that token can read it."""

    def answer(request: Request) -> Answer:
        given = request.headers.get(b"authorization", b"")
        if token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            raise Unauthorized(
                "The metrics token is missing or incorrect. Send it in the `Authorization: Bearer"
                " <OCTAVO_METRICS_TOKEN>` header."
            )
        return Answer(200, metrics.text(), METRICS_TYPE, {"cache-control": "no-store"})

    return Route("/metrics", {"GET": Action("metrics", answer)})


def metrics_edge(metrics: Metrics, context: Context) -> Edge:
    """Return an application that serves only ``/metrics`` and the health checks on a separate address. This
    is the only address of a process that runs only jobs."""
    settings = context.settings
    metrics.watch(context.db)
    return Edge(
        [
            _metrics_route(metrics),
            fixed("/healthz", "healthz", lambda: b"ok\n", _PLAIN),
            _ready(context),
        ],
        pool=request_threads("requests for metrics", 1, "octavo-metrics", settings.connections),
        metrics=metrics,
        compressor=Compressor(),
        refuse=text_error,
        headers={},
        query_limit=settings.query_limit,
        least_rate=settings.least_rate,
    )


def api_app(
    context: Context,
    last_use: LastUse | None = None,
    metrics: Metrics | None = None,
    hub: Hub | None = None,
) -> Edge:
    """Return the HTTP API with its description, reference, and health pages."""
    if hub is None:
        hub = Hub(context.db, context.settings.event_streams)
    load_packages()
    uses = last_use or LastUse()
    counted = metrics or Metrics()
    counted.watch(context.db)
    threads = context.settings.threads
    most = context.settings.connections
    pool = request_threads("requests are being processed", threads, "octavo-call", most)
    writers = request_threads("changes are being processed", max(2, threads // 2), "octavo-write", most)
    uploads = request_threads("uploads are being processed", max(2, threads // 2), "octavo-upload", most)

    def identify(call: Call) -> str | None:
        return authenticate(call, uses)

    def description() -> JsonObject:
        return describe_api(context.settings)

    others = [
        *(
            fixed(path, "description", lambda: msgspec.json.encode(description()), "application/json")
            for path in ("/openapi.json", "/v1/openapi.json")
        ),
        *studio_routes(
            context.settings,
            _home(context.settings),
            partial(_missing_page, context.settings.name),
        ),
        icon_route(),
        *reference_routes(description, "/docs", "/openapi.json"),
        fixed("/healthz", "healthz", lambda: b"ok\n", _PLAIN),
        _ready(context),
        upload_route(context, uploads),
        *(
            fixed(
                file.path,
                "portal",
                partial(read_file, file.name, context.settings.name, mails=bool(context.settings.smtp_url)),
                file.content_type,
                _page_headers(CONTENT_SECURITY_POLICY),
            )
            for file in PORTAL_FILES
        ),
        fixed("/inter.woff2", "portal", partial(read_font, "inter-latin-wght-normal.woff2"), "font/woff2"),
    ]
    if context.settings.metrics_token:
        others.append(_metrics_route(counted, context.settings.metrics_token))
    draw = partial(_refusal_page, context.settings.name)
    dispatcher = Dispatcher(context, identify, pool, writers, draw, hub)
    others += [
        *agent_routes(context, dispatcher, writers),
        batch_route(dispatcher, context.settings.query_limit),
    ]
    return api_edge(
        dispatcher,
        TABLE.values(),
        others,
        pool=pool,
        metrics=counted,
        compressor=Compressor(),
        closing=[writers.close, uploads.close, hub.shut_down],
    )


def _write_presence(context: Context) -> None:
    try:
        write_presence(context)
    except OctavoError as error:
        # Clients send it again.
        log.warning("presence couldn't be saved: %s", error.message)


def _save_live(context: Context) -> None:
    try:
        save_due(context)
    except OctavoError as error:
        log.warning("live pages couldn't be saved: %s", error.message)


def freeze_loaded_objects() -> None:
    """Exclude all loaded objects from garbage collection, so that the collector doesn't scan them repeatedly."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def shorten_thread_turns() -> None:
    """Make threads that compute release the interpreter sooner, so that the event loop doesn't have to wait as
    long."""
    sys.setswitchinterval(_TURN)


Role = Literal["api", "reader", "worker"]


class ListenAddress(Struct, frozen=True):
    """Host and ports to listen on."""

    host: str
    port: int
    reader_port: int


class Runtime:
    """Applications and job worker for the roles of one process, and the data that the process writes periodically."""

    def __init__(self, context: Context, roles: Sequence[Role], metrics: Metrics) -> None:
        self._context, self._metrics = context, metrics
        self._last_use = LastUse()
        self._events = EventQueue(context, metrics)
        self.hub = Hub(context.db, context.settings.event_streams)
        self.edges = _edges(context, roles, metrics, self._events, self._last_use, self.hub)
        self._stopped = threading.Event()
        self._worker = None
        if "worker" in roles:
            job_worker = Worker(context.db, context)
            self._worker = threading.Thread(
                target=job_worker.run_forever, args=(self._stopped,), name="octavo-jobs"
            )
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all parts of the application, but don't listen for connections yet."""
        freeze_loaded_objects()
        shorten_thread_turns()
        if self._worker is not None:
            self._worker.start()
        for seconds, work in (
            (_WRITE_LAST_USE, partial(self._last_use.write, self._context.db)),
            (_WRITE_EVENTS, self._events.write),
            (_WRITE_PRESENCE, partial(_write_presence, self._context)),
            (_SAVE_LIVE, partial(_save_live, self._context)),
            (_OBSERVE, self._observe),
            (_DROP_UNREAD, MEMORY.drop_unread),
        ):
            self._tasks.append(asyncio.ensure_future(_repeat(seconds, work)))

    def _observe(self) -> None:
        requests = sum(len(edge.application.open) for edge in self.edges.values())
        self._metrics.observe_process(requests, self.hub.count, self._context.settings.connections)

    async def stop(self) -> None:
        """Stop everything and write queued data. Call this when the process no longer listens for connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        for edge in self.edges.values():
            edge.close()
        self._stopped.set()
        wake()
        if self._worker is not None and self._worker.is_alive():
            self._worker.join()
        self._last_use.write(self._context.db)
        self._events.write(everything=True)


async def _repeat(seconds: float, work: Callable[[], object]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await asyncio.get_running_loop().run_in_executor(None, work)
        except Exception:
            # The next run is a new attempt, which is enough if, for example, the database asked for one.
            log.exception("recurring work failed")


def create_api() -> Application:
    """Return the API and the app for any ASGI server, with settings from the environment. Background jobs require
    ``octavo worker``."""
    return _create("api")


def create_reader() -> Application:
    """Return the reader of published sites for any ASGI server, with settings from the environment."""
    return _create("reader")


def _create(role: Role) -> Application:
    settings = load({}, None)
    logs.configure_for(settings)
    context = open_context(settings)
    runtime = Runtime(context, [role], Metrics())

    async def stop() -> None:
        runtime.hub.close()
        await runtime.stop()
        close_context(context)

    handle = runtime.edges[role].handle
    return Application(handle, least_rate=settings.least_rate, start=runtime.start, stop=stop)


def serve(
    settings: Settings,
    *,
    roles: Sequence[Role],
    address: ListenAddress,
    say: Callable[[str], None],
    assigned: Assignment,
) -> None:
    """Run these roles as one of the processes that ``supervision`` starts, until SIGTERM or SIGINT arrives. Running
    requests are then finished.

    SIGHUP has the same effect after another process has taken over. Connections then end with their next response, so
    that no request is rejected.

    ``say``: a function that prints status lines for people. Raises Unavailable if a part can't be opened or a port is
    taken, and BadRequest if two roles use the same port.
    """
    logs.configure_for(settings)
    ports = {"api": address.port, "reader": address.reader_port}
    if {"api", "reader"} <= set(roles) and address.port == address.reader_port:
        raise BadRequest(f"--reader-port: must be different from --port, but both are {address.port}")
    addresses: dict[str, tuple[str, int]] = {
        role: (address.host, ports[role]) for role in roles if role != "worker"
    }
    if settings.metrics_address:
        addresses["metrics"] = split_address("OCTAVO_METRICS_ADDRESS", settings.metrics_address)
    is_first = assigned.why != MORE
    if assigned.why == START:
        remove_left_folders()
        for host, port in addresses.values():
            try:
                require_free(host, port)
            except OSError as error:
                raise Unavailable(
                    f"port {port} on {host} can't be used ({error.strerror}). Choose another port."
                ) from None
    metrics = Metrics()
    metrics.note_restarts(assigned.number + 1, assigned.deaths)
    begin_traces(metrics)
    # Only the first worker of this version migrates the database. A newer version may have changed its schema.
    context = open_context(settings, migrates=is_first)
    own = [role for role in roles if role != "worker" or assigned.number == 0]
    try:
        if assigned.why == START:
            _print_start(settings, roles, address, say, context)
        elif is_first:
            keep_addresses(settings)
            if "api" in roles:
                update_manual(context)
            say(f"Octavo {version('octavo')} is taking over")
        run_served(_run(context, own, addresses, metrics, assigned))
    finally:
        close_context(context)
        tracing.end()


async def _run(
    context: Context,
    roles: Sequence[Role],
    addresses: Mapping[str, tuple[str, int]],
    metrics: Metrics,
    assigned: Assignment,
) -> None:
    settings = context.settings
    runtime = Runtime(context, roles, metrics)
    connections = settings.connections + settings.event_streams
    bounds = PortLimits(
        connections=allow_connections(connections, max(1, len(runtime.edges))),
        backlog=settings.backlog,
        header_seconds=settings.header_seconds,
        header_limit=settings.header_limit,
    )
    loop, stop, leave = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def leave_and_stop() -> None:
        leave.set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, leave_and_stop)
    # A worker whose parent was killed must end by itself.
    loop.add_reader(assigned.parent, stop.set)
    listeners = [
        PortListener(edge.application, *addresses[name], bounds) for name, edge in runtime.edges.items()
    ]
    await runtime.start()
    for listener in listeners:
        await listener.open()
    assigned.say_ready(settings.workers)
    await stop.wait()
    loop.remove_reader(assigned.parent)
    if leave.is_set():
        for listener in listeners:
            listener.leave()
        runtime.hub.end_streams()
        await asyncio.sleep(_LINGER)
    closing = [asyncio.ensure_future(listener.close(_PATIENCE)) for listener in listeners]
    # Their clients reconnect at once, and this process should accept no connections by then.
    await asyncio.sleep(0)
    runtime.hub.close()
    await asyncio.gather(*closing)
    await runtime.stop()


def _print_start(
    settings: Settings,
    roles: Sequence[Role],
    address: ListenAddress,
    say: Callable[[str], None],
    context: Context,
) -> None:
    """Print information about the running server, and the next steps."""
    keep_addresses(settings)
    started = first_start(context) if "api" in roles else None
    if started is not None:
        _print_first_start(context, started, say)
    elif "api" in roles and update_manual(context):
        say("The manual was updated")
    ports = {"api": address.port, "reader": address.reader_port}
    for role, what in (("api", "API    {}v1   reference {}docs"), ("reader", "Sites  {}")):
        if role in roles:
            say(what.replace("{}", f"http://{write_authority(address.host, ports[role])}/"))
    if "api" in roles:
        say(f"Open   {opening_address(context)}")


def begin_traces(metrics: Metrics) -> None:
    """Start sending traces if the environment specifies a collector, and count sent and failed traces. Raises
    Unavailable if the configuration is unusable."""
    if tracing.is_wanted():
        from octavo.kit.observability.trace_export import Exporting

        tracing.begin(partial(Exporting, metrics.count_spans))


def _edges(
    context: Context,
    roles: Sequence[Role],
    metrics: Metrics,
    events: EventQueue,
    last_use: LastUse,
    hub: Hub,
) -> dict[str, Edge]:
    """Return the applications, keyed by socket name."""
    edges: dict[str, Edge] = {}
    if "api" in roles:
        edges["api"] = api_app(context, last_use, metrics, hub)
    if "reader" in roles:
        edges["reader"] = reader_edge(
            context, metrics, events, lambda pool: [_ready(context), *SiteOAuth(context, pool).routes()]
        )
    if context.settings.metrics_address:
        edges["metrics"] = metrics_edge(metrics, context)
    return edges


def _print_first_start(context: Context, started: FirstStart, say: Callable[[str], None]) -> None:
    say(f"Organization {started.organization_id}, administrator {context.settings.first_admin}")
    if started.site_url:
        say(f"The manual is published at {started.site_url}")
    kept = context.settings.data_folder / "admin-token"
    # If the output is a pipe or file, it is a log that is stored and read by others, so the token is omitted.
    shown = f"{started.token}   (stored in {kept})" if sys.stdout.isatty() else f"stored in {kept}"
    say(f"Token  {shown}")
