"""Composition root: settings in; running API, reader and worker out."""

from __future__ import annotations

import asyncio
import gc
import hmac
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, Literal

import msgspec
from msgspec import Struct
from prometheus_client.multiprocess import mark_process_dead

from .access import LastUse, authenticate
from .admin.first_start import FirstStart, first_start, opening_address, update_manual
from .agents import agent_routes
from .core.addresses import write_authority
from .errors import BadRequest, NotSignedIn, OctavoError, Unauthorized, Unavailable
from .events import write_presence
from .insights import EventQueue, read_style
from .installation import close_context, find_unready, load_packages, open_context
from .kit import logs, tracing
from .kit.compression import Compressor
from .kit.connection import Bounds, Connections
from .kit.context import Context
from .kit.edge import Action, Answer, Edge, Request, Route, accepts_page, etag_of, fixed, text_error
from .kit.http import Dispatcher, api_edge
from .kit.hub import Hub
from .kit.jobs import wake
from .kit.metrics import CONTENT_TYPE as METRICS_TYPE
from .kit.metrics import SHARED_FOLDER, Metrics
from .kit.operation import TABLE, Call
from .kit.serving import Listener, allow_open_files, bind, run_served, watch
from .kit.shares import request_threads
from .kit.supervision import (
    Left,
    Trial,
    Work,
    end_all,
    listen_for_reload,
    run_anew,
    supervise,
    take_assignment,
    take_over,
)
from .kit.temporary import make_lasting_folder, remove_folder, remove_left_folders
from .kit.worker import Worker
from .meanings import describe_operations
from .portal import CONTENT_SECURITY_POLICY, draw_home, draw_refusal, read_file
from .portal import FILES as PORTAL_FILES
from .reader import icon_route, reader_edge, reference_routes
from .settings import Settings, keep_addresses, split_address
from .studio import studio_routes
from .uploads import upload_route

log = logging.getLogger("octavo")

_WRITE_LAST_USE = 10.0
_WRITE_EVENTS = 5.0
"""Each time that anything is written, pages that are kept are looked at again before they are answered."""
_WRITE_PRESENCE = 1.0
_OBSERVE = 5.0
_TURN = 0.001
"""Seconds for which a thread has the interpreter while others want it."""
_LINGER, _SHORT_LINGER = 5.0, 0.5
"""Seconds for which connections without a request are kept when others take over, and when new ones have to wait for
them meanwhile."""
_PATIENCE = 30.0
"""Seconds that running requests have to end when the server stops."""
_LOOK = 0.1
"""Seconds between looks whether a program that is tried has started."""
_WORKER = "from octavo.app import work; work()"
"""What a worker runs, with the interpreter of its parent: until a reload it is of the same version."""
_PLAIN = "text/plain; charset=utf-8"


def _page_headers(policy: str) -> dict[str, str]:
    return {"content-security-policy": policy, "referrer-policy": "no-referrer"}


def _ready(context: Context) -> Route:
    def answer(request: Request) -> Answer:
        failing = find_unready(context)
        if failing is None:
            return Answer(200, b"ready\n", _PLAIN, {"cache-control": "no-store"})
        headers = {"cache-control": "no-store", "retry-after": "5"}
        return Answer(503, f"not ready: {failing}\n".encode(), _PLAIN, headers)

    return Route("/readyz", {"GET": Action("readyz", answer)})


def _home(settings: Settings) -> Callable[[Request], Answer]:
    """What the root says without the app: a page for people, JSON for programs."""
    headers = {"cache-control": "no-cache", "vary": "accept", **_page_headers(CONTENT_SECURITY_POLICY)}
    told = {
        "name": "Octavo",
        "version": version("octavo"),
        "api": f"{settings.url}/v1",
        "description": f"{settings.url}/openapi.json",
        "reference": f"{settings.url}/docs",
        "sites": settings.sites_url,
    }
    page, data = draw_home(settings.name, settings.sites_url), msgspec.json.encode(told)

    def answer(request: Request) -> Answer:
        if accepts_page(request.headers):
            return Answer(200, page, "text/html; charset=utf-8", headers, etag_of(page))
        return Answer(200, data, "application/json", headers, etag_of(data))

    return answer


def describe_api(settings: Settings) -> dict[str, Any]:
    """The description of all operations, in OpenAPI. After ``load_packages``."""
    return describe_operations(f"{settings.url}/v1", version("octavo"))


def _refusal_page(installation: str, error: OctavoError) -> Answer:
    headers = {"cache-control": "no-store", **_page_headers(CONTENT_SECURITY_POLICY), **error.headers}
    title = {400: "Not possible", 404: "Not found"}.get(error.status, "You are not signed in")
    # Whoever browses sends no header Authorization.
    signed_out = isinstance(error, NotSignedIn)
    message = "This page is for people who are signed in." if signed_out else error.message
    page = draw_refusal(installation, title, message)
    return Answer(error.status, page, "text/html; charset=utf-8", headers)


def _missing_page(installation: str, message: str) -> Answer:
    """What the app's addresses say where the app was not built."""
    headers = {"cache-control": "no-store", **_page_headers(CONTENT_SECURITY_POLICY)}
    page = draw_refusal(installation, "The app is not here", message)
    return Answer(503, page, "text/html; charset=utf-8", headers)


def _metrics_route(metrics: Metrics, token: str = "") -> Route:
    """``/metrics``, for whoever has the token if there is one."""

    def answer(request: Request) -> Answer:
        given = request.headers.get(b"authorization", b"")
        if token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            raise Unauthorized("Metrics need their token: Authorization: Bearer <OCTAVO_METRICS_TOKEN>.")
        return Answer(200, metrics.text(), METRICS_TYPE, {"cache-control": "no-store"})

    return Route("/metrics", {"GET": Action("metrics", answer)})


def metrics_edge(metrics: Metrics, settings: Settings) -> Edge:
    """``/metrics`` alone, for an address of its own."""
    return Edge(
        [_metrics_route(metrics)],
        pool=request_threads("metrics are being read", 1, "octavo-metrics", settings.connections),
        metrics=metrics,
        compressor=Compressor(),
        refuse=text_error,
        headers={},
        query_limit=settings.query_limit,
    )


def api_app(
    context: Context,
    last_use: LastUse | None = None,
    metrics: Metrics | None = None,
    hub: Hub | None = None,
) -> Edge:
    """The HTTP API with its description, reference and health pages."""
    if hub is None:
        hub = Hub(context.db, context.settings.event_streams)
    load_packages()
    uses = last_use or LastUse()
    counted = metrics or Metrics()
    counted.watch(context.db)
    threads = context.settings.threads
    most = context.settings.connections
    pool = request_threads("requests are being answered", threads, "octavo-call", most)
    writers = request_threads("changes are being made", max(2, threads // 2), "octavo-write", most)
    uploads = request_threads("uploads are being stored", max(2, threads // 2), "octavo-upload", most)

    def identify(call: Call) -> str | None:
        return authenticate(call, uses)

    def description() -> dict[str, Any]:
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
        fixed("/charts.css", "charts", read_style, "text/css; charset=utf-8"),
        *(
            fixed(
                file.path,
                "portal",
                partial(read_file, file.name, context.settings.name),
                file.content_type,
                _page_headers(CONTENT_SECURITY_POLICY),
            )
            for file in PORTAL_FILES
        ),
    ]
    if context.settings.metrics_token:
        others.append(_metrics_route(counted, context.settings.metrics_token))
    draw = partial(_refusal_page, context.settings.name)
    dispatcher = Dispatcher(context, identify, pool, writers, draw, hub)
    others += agent_routes(context, dispatcher, writers)
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
        # Clients say it again.
        log.warning("presence cannot be written: %s", error.message)


def spare_collector() -> None:
    """What was loaded until now stays: the collector of circular garbage does not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def take_short_turns() -> None:
    """Threads that compute give the interpreter on sooner, so that the loop waits less behind all of them."""
    sys.setswitchinterval(_TURN)


async def _until_stopped(
    listeners: Sequence[Listener],
    connections: Connections,
    background: Iterable[Callable[[], Awaitable[Any]]],
    hub: Hub,
    lifetime: Lifetime,
) -> bool:
    """Whether it was told to make room for another process that listens on the same sockets."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    makes_room = False
    asked = asyncio.Event()

    async def make_room() -> None:
        nonlocal makes_room
        while not makes_room:
            await asked.wait()
            asked.clear()
            makes_room = await lifetime.may_end()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, asked.set)
    listen_for_reload()
    if lifetime.parent is not None:
        # A worker whose parent was killed has nobody who would end it.
        loop.add_reader(lifetime.parent, stop.set)
    for listener in listeners:
        await listener.open()
    spare_collector()
    take_short_turns()
    others = [asyncio.ensure_future(watch(connections, listeners))]
    others += [asyncio.ensure_future(start()) for start in (make_room, *background)]
    lifetime.began()
    await stop.wait()
    if lifetime.parent is not None:
        loop.remove_reader(lifetime.parent)
    if makes_room:
        for listener in listeners:
            listener.stop_accepting()
        connections.leave()
        hub.end_streams()
        # Who is about to send a request on a connection that was kept for them is still answered on it.
        await asyncio.sleep(lifetime.linger)
    else:
        # Whoever comes now is refused at once, by their own system.
        lifetime.close_sockets()
    hub.close()
    await asyncio.gather(*(listener.close(_PATIENCE) for listener in listeners))
    for task in others:
        task.cancel()
    return makes_room


Role = Literal["api", "reader", "worker"]


class Lifetime(Struct, frozen=True):
    """How a process that serves begins and ends. ``began`` is told when it answers; ``may_end`` is asked before it makes
    room for another one, for whose sake connections without a request are kept for ``linger`` seconds;
    ``close_sockets`` ends the listening. ``parent``: a file that can be read from when its parent is gone."""

    began: Callable[[], None]
    may_end: Callable[[], Awaitable[bool]]
    linger: float
    close_sockets: Callable[[], None]
    parent: int | None = None


class Address(Struct, frozen=True):
    """Where to listen."""

    host: str
    port: int
    reader_port: int


def serve(
    settings: Settings,
    *,
    roles: Sequence[Role],
    address: Address,
    say: Callable[[str], None],
) -> None:
    """Runs these roles until SIGTERM or SIGINT, then finishes what runs and leaves no process behind.

    With more than one worker this process only starts them, replaces those that die, and ends them. SIGHUP has all of
    it run anew, with the program and the settings as they are then, and nobody refused meanwhile; where those do not
    start, the log says why and nothing else happens. ``say`` tells a person how it goes. Raises Unavailable when
    something cannot be opened or a port is taken.
    """
    bound_before, left = take_over()
    _configure_logs(settings)
    remove_left_folders()
    ports = {"api": address.port, "reader": address.reader_port}
    if {"api", "reader"} <= set(roles) and address.port == address.reader_port:
        raise BadRequest(f"--port and --reader-port: sites need a port of their own, both are {address.port}")
    sockets: dict[str, socket.socket] = {
        role: _bind(address.host, ports[role], bound_before) for role in roles if role != "worker"
    }
    if settings.metrics_address:
        metrics_address = split_address("OCTAVO_METRICS_ADDRESS", settings.metrics_address)
        sockets["metrics"] = _bind(*metrics_address, bound_before)
    for unused in bound_before:
        unused.close()

    def close_sockets() -> None:
        for bound in sockets.values():
            bound.close()

    if left is None and not _has_terminal():
        # Until somebody listens for it.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        if left is not None and left.trial:
            _try(settings, roles)
            return
        told = partial(_tell, settings, roles, address, say)
        if settings.workers == 1:
            leaves = _serve_alone(settings, roles, sockets, told, left or Left(), close_sockets)
        else:
            leaves = _supervise(settings, roles, sockets, told, say, left)
        if leaves is not None:
            run_anew(sockets.values(), leaves)
    finally:
        close_sockets()


def _try(settings: Settings, roles: Sequence[Role]) -> None:
    """All of a start but listening, while another program goes on. Raises what keeps it from starting."""
    # Each of several processes has its own; what cannot work ends the start of all.
    tracing.is_wanted()
    context = open_context(settings)
    try:
        metrics = Metrics()
        edges = _edges(context, roles, metrics, EventQueue(context, metrics), LastUse(), _hub(context))
        for edge in edges.values():
            edge.close()
        if "api" in roles:
            update_manual(context)
    finally:
        close_context(context)


def _tell(
    settings: Settings, roles: Sequence[Role], address: Address, say: Callable[[str], None], context: Context
) -> None:
    """What there is to do and to say at a start."""
    keep_addresses(settings)
    started = first_start(context) if "api" in roles else None
    if started is not None:
        _tell_first_start(context, started, say)
    elif "api" in roles and update_manual(context):
        say("The manual was brought up to date")
    ports = {"api": address.port, "reader": address.reader_port}
    for role, what in (("api", "API    {}v1   reference {}docs"), ("reader", "Sites  {}")):
        if role in roles:
            say(what.replace("{}", f"http://{write_authority(address.host, ports[role])}/"))
    if "api" in roles:
        say(f"Open   {opening_address(context)}")


def _serve_alone(
    settings: Settings,
    roles: Sequence[Role],
    sockets: Mapping[str, socket.socket],
    tell: Callable[[Context], None],
    left: Left,
    close_sockets: Callable[[], None],
) -> Left | None:
    """Answers in this process. What it leaves to the program that is to take its place, if one is."""
    metrics = Metrics()
    begin_traces(metrics)
    context = open_context(settings)
    leaving = threading.Thread(target=_see_off, args=(left,), name="octavo-leaving")

    async def try_next() -> bool:
        trial = _try_next(sockets)
        if trial is None:
            return False
        try:
            while (outcome := trial.outcome()) is None:
                await asyncio.sleep(_LOOK)
        except asyncio.CancelledError:
            trial.stop()
            raise
        return outcome

    lifetime = Lifetime(
        began=leaving.start, may_end=try_next, linger=_SHORT_LINGER, close_sockets=close_sockets
    )
    try:
        tell(context)
        gives_way = _run(context, roles, sockets, metrics, lifetime)
    finally:
        close_context(context)
        tracing.end()
    leaving.join()
    return Left() if gives_way else None


def _see_off(left: Left) -> None:
    """Has workers go, as the process that they were left to answers by itself."""
    for process in left.workers:
        process.make_room()
    end_all(left.workers)
    if left.folder is not None:
        remove_folder(*left.folder)


def _try_next(sockets: Mapping[str, socket.socket]) -> Trial | None:
    """Whether what is at this program's path now starts. Where it was started in a terminal, that was closed, which
    sends the same signal as whoever wants a reload: None, and it ends."""
    if _has_terminal():
        os.kill(os.getpid(), signal.SIGTERM)
        return None
    try:
        return Trial(sockets.values())
    except OSError as error:
        log.error("nothing can be tried now, and everything goes on as it was: %s", error)
        return None


def _has_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


class _Given(Struct):
    """What a worker is given. ``sockets``: numbers of files."""

    settings: dict[str, Any]
    roles: list[Role]
    sockets: dict[str, int]


def _supervise(
    settings: Settings,
    roles: Sequence[Role],
    sockets: Mapping[str, socket.socket],
    tell: Callable[[Context], None],
    say: Callable[[str], None],
    left: Left | None,
) -> Left | None:
    """Has several processes answer. What is left to the program that is to take the place of this one, if one is."""
    if left is None or not left.workers:
        # Who takes over from workers that are there was tried a moment ago, and needs no database to go on.
        tracing.is_wanted()
        context = open_context(settings)
        try:
            tell(context)
        finally:
            close_context(context)
    else:
        keep_addresses(settings)
        say(f"Octavo {version('octavo')} takes over")
    left = left or Left()
    folder = left.folder or make_lasting_folder("metrics")
    numbers = {name: bound.fileno() for name, bound in sockets.items()}
    for number in numbers.values():
        os.set_inheritable(number, True)
    work = Work(
        command=[sys.executable, "-P", "-c", _WORKER],
        given=msgspec.json.encode(_Given(msgspec.to_builtins(settings), list(roles), numbers)),
        environ={SHARED_FOLDER: folder[0]},
        ended=partial(mark_process_dead, path=folder[0]),
    )
    leaves = None
    try:
        leaves = supervise(settings.workers, work, left, lambda: _try_next(sockets))
    finally:
        if leaves is None:
            remove_folder(*folder)
    if leaves is not None:
        leaves.folder = folder
    return leaves


def work() -> None:
    """One of several workers; the first also runs the jobs. It says to its parent when requests are answered."""
    assigned = take_assignment()
    given = msgspec.json.decode(assigned.given, type=_Given)
    settings = msgspec.convert(given.settings, Settings)
    sockets = {name: socket.socket(fileno=number) for name, number in given.sockets.items()}
    for bound in sockets.values():
        bound.set_inheritable(False)
    _configure_logs(settings)
    metrics = Metrics()
    metrics.note_restarts(assigned.number + 1, assigned.restarts)
    begin_traces(metrics)

    def close_sockets() -> None:
        for bound in sockets.values():
            bound.close()

    async def may_end() -> bool:
        return True

    lifetime = Lifetime(
        began=assigned.say_that_it_answers,
        may_end=may_end,
        linger=_LINGER,
        close_sockets=close_sockets,
        parent=assigned.life,
    )
    # The schema is what it was for the other workers of this version, though a newer one may have changed it.
    context = open_context(settings, migrates=False)
    try:
        own = [role for role in given.roles if role != "worker" or assigned.number == 0]
        _run(context, own, sockets, metrics, lifetime)
    finally:
        close_context(context)
        tracing.end()


def _configure_logs(settings: Settings) -> None:
    logs.configure(
        "json" if settings.log_format == "json" else "text",
        level=logging.WARNING,
        secrets=settings.secrets,
    )
    logging.getLogger("octavo.access").setLevel(logging.INFO if settings.access_log else logging.WARNING)


def begin_traces(metrics: Metrics) -> None:
    """Sends traces from now on, if the environment names somebody who collects them; what becomes of them is counted.
    Raises Unavailable where that cannot work."""
    if tracing.is_wanted():
        from .kit.trace_export import Exporting

        tracing.begin(partial(Exporting, metrics.count_spans))


def _run(
    context: Context,
    roles: Sequence[Role],
    sockets: Mapping[str, socket.socket],
    metrics: Metrics,
    lifetime: Lifetime,
) -> bool:
    """Whether another process is to take its place."""
    settings = context.settings
    last_use = LastUse()
    bounds = Bounds(
        connections=settings.connections + (settings.event_streams if "api" in roles else 0),
        backlog=settings.backlog,
        keep_alive_seconds=settings.keep_alive_seconds,
        header_seconds=settings.header_seconds,
        header_limit=settings.header_limit,
        least_rate=settings.least_rate,
    )
    allow_open_files(bounds.connections)
    connections = Connections(bounds, metrics.count_ended)
    events = EventQueue(context, metrics)
    hub = _hub(context)
    edges = _edges(context, roles, metrics, events, last_use, hub)
    is_shared = lifetime.parent is not None
    listeners = [Listener(edge, sockets[name], connections, shared=is_shared) for name, edge in edges.items()]
    stop = threading.Event()
    worker = threading.Thread(
        target=Worker(context.db, context).run_forever, args=(stop,), name="octavo-jobs"
    )

    async def write_last_use() -> None:
        while True:
            await asyncio.sleep(_WRITE_LAST_USE)
            await asyncio.get_running_loop().run_in_executor(None, last_use.write, context.db)

    async def write_events() -> None:
        while True:
            await asyncio.sleep(_WRITE_EVENTS)
            await asyncio.get_running_loop().run_in_executor(None, events.write)

    async def write_present() -> None:
        while True:
            await asyncio.sleep(_WRITE_PRESENCE)
            await asyncio.get_running_loop().run_in_executor(None, _write_presence, context)

    async def observe() -> None:
        while True:
            metrics.observe_process(len(connections.open), hub.count)
            await asyncio.sleep(_OBSERVE)

    if "worker" in roles:
        worker.start()
    try:
        return run_served(
            _until_stopped(
                listeners,
                connections,
                [write_last_use, write_events, write_present, observe],
                hub,
                lifetime,
            )
        )
    finally:
        stop.set()
        wake()
        if worker.is_alive():
            worker.join()
        last_use.write(context.db)
        events.write(everything=True)


def _hub(context: Context) -> Hub:
    return Hub(context.db, context.settings.event_streams)


def _edges(
    context: Context,
    roles: Sequence[Role],
    metrics: Metrics,
    events: EventQueue,
    last_use: LastUse,
    hub: Hub,
) -> dict[str, Edge]:
    """What answers on each of the sockets, by their names."""
    edges: dict[str, Edge] = {}
    if "api" in roles:
        edges["api"] = api_app(context, last_use, metrics, hub)
    if "reader" in roles:
        edges["reader"] = reader_edge(context, metrics, events, [_ready(context)])
    if context.settings.metrics_address:
        edges["metrics"] = metrics_edge(metrics, context.settings)
    return edges


def _bind(host: str, port: int, bound_before: list[socket.socket]) -> socket.socket:
    """A socket that listens there: the one of ``bound_before`` that does, which is taken out, or a new one."""
    for one in bound_before:
        if one.getsockname()[:2] in {found[4][:2] for found in socket.getaddrinfo(host, port)}:
            bound_before.remove(one)
            return one
    try:
        return bind(host, port)
    except OSError as error:
        raise Unavailable(f"port {port} on {host}: {error.strerror}") from None


def _tell_first_start(context: Context, started: FirstStart, say: Callable[[str], None]) -> None:
    say(f"Organization {started.organization_id}, administrator {context.settings.first_admin}")
    if started.site_url:
        say(f"The manual is published at {started.site_url}")
    kept = context.settings.data_folder / "admin-token"
    # What is no terminal is a log, which others read and which is kept.
    shown = f"{started.token}   (kept in {kept})" if sys.stdout.isatty() else f"kept in {kept}"
    say(f"Token  {shown}")
