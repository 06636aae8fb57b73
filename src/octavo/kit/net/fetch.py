"""Send HTTP requests in a way that attackers can't misuse.

A hostname is resolved once, all of its IP addresses must be public, and the connection is made to one of these
addresses, so later responses from a name server have no effect. Each redirect is checked in the same way. One
deadline applies to the whole fetch, including slow name servers, redirects, and slow headers. In a job, it is never
later than the job's own deadline.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from octavo.errors import BadGateway, format_size
from octavo.kit.observability import tracing
from octavo.kit.scheduling import deadlines
from octavo.kit.tls import outgoing_tls

if TYPE_CHECKING:
    import httpx

_PORTS = {"http": 80, "https": 443}
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)", re.I)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Set by the connection itself, or not applicable to it.
_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})
# The only headers that follow a redirect to another origin.
_HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
# Prefixes that contain an IPv4 address: mapped, translated (NAT64), 6to4, and Teredo.
_TUNNELS = tuple(
    map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)
_lookups = threading.BoundedSemaphore(64)
"""Limit on simultaneous name lookups, and therefore on the number of threads that an unresponsive name server can
occupy."""
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")


class FetchError(BadGateway):
    """Raised if a fetch was rejected or failed. The message contains the host and the reason."""


class FetchTimeout(FetchError):
    """Raised if a fetch didn't get a response in time."""


class FetchNotAllowed(FetchError):
    """Raised if a URL is invalid, or the rules for outgoing requests don't allow its host."""


class UnknownHost(FetchError):
    """Raised if the name of a host can't be resolved."""


class TlsFailure(FetchError):
    """Raised if the certificate or encryption of a host isn't valid."""


class TooManyRedirects(FetchError):
    """Raised if a fetch was redirected too many times."""


class ByteAllowance:
    """Total number of bytes that several fetches can use together. It is thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = self._left = size
        self._lock = threading.Lock()

    def take(self, count: int) -> None:
        """Use up a number of bytes. Raises FetchError if too few bytes are left."""
        with self._lock:
            self._left -= count
            if self._left < 0:
                raise FetchError(f"the responses are larger than {format_size(self._size)} in total")


class Limits(Struct, frozen=True, kw_only=True):
    """Limits for a fetch.

    ``size``: the maximum size in bytes of the body after decompression. ``together``: an allowance that the fetch
    shares with other fetches. ``seconds``: the time limit for the whole fetch. ``follow``: whether to follow
    redirects instead of returning them.
    """

    size: int = 10 * 1024 * 1024
    seconds: float = 20
    redirects: int = 5
    follow: bool = True
    together: ByteAllowance | None = None


_LIMITS = Limits()


class CheckedUrl(Struct, frozen=True):
    """Checked URL. ``addresses``: the IP addresses that its host had when the URL was checked. ``trusted``: whether
    connections to the host are allowed even though it is private."""

    url: str
    scheme: str
    host: str
    port: int
    addresses: tuple[str, ...]
    trusted: bool


class Fetched(Struct, frozen=True):
    """Response of any status. ``url``: the URL that returned the response, after redirects."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes


class Streamed(Struct, frozen=True):
    """Response of any status, whose body can be read as it arrives."""

    status: int
    headers: httpx.Headers
    chunks: Iterator[bytes]


class Fetcher:
    """HTTP client. It is thread-safe and doesn't keep connections open between fetches.

    ``allowed``: comma-separated ``host:port`` pairs that connections are allowed to even though the hosts are
    private (the setting ``allow_private_fetch``). ``tells_trace``: whether requests include the ID of their trace.
    Enable this only for servers that an organization or the server administrator has configured.
    """

    def __init__(self, allowed: str = "", tells_trace: bool = False) -> None:
        self._allowed = {entry.strip().lower() for entry in allowed.split(",") if entry.strip()}
        self._tells_trace = tells_trace

    def check_url(self, url: str, seconds: float = _LIMITS.seconds) -> CheckedUrl:
        """Resolve and check a URL without connecting, for other clients such as Git. Raises FetchError if the URL
        isn't allowed or can't be resolved."""
        import httpx

        try:
            parsed = httpx.URL(url)
            scheme, host, port = parsed.scheme, parsed.raw_host.decode().lower(), parsed.port
        except (httpx.InvalidURL, UnicodeError, TypeError):
            raise FetchNotAllowed(f"{url[:200]!r}: must be an http or https URL") from None
        if scheme not in _PORTS or not host:
            raise FetchNotAllowed(f"{url[:200]!r}: must be an http or https URL")
        if parsed.userinfo:
            raise FetchNotAllowed(f"{host}: URLs must not contain a username or password")
        port = port or _PORTS[scheme]
        name = host.strip("[]")
        trusted = f"{host}:{port}" in self._allowed or f"{name}:{port}" in self._allowed
        if not trusted:
            _refuse_odd_numbers(name)
        addresses = _resolve(name, port, deadlines.remaining(seconds))
        if not trusted and not all(map(_is_public, addresses)):
            raise FetchNotAllowed(f"{host}: hosts in private networks aren't allowed")
        return CheckedUrl(str(parsed), scheme, name, port, addresses, trusted)

    def fetch(
        self,
        url: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limits: Limits = _LIMITS,
    ) -> Fetched:
        """Return the response, regardless of its status. Raises FetchError if there is no response."""
        import httpx

        deadlines.check()
        deadline = time.monotonic() + deadlines.remaining(limits.seconds)
        sent = {k: v for k, v in (headers or {}).items() if k.lower() not in _OWN_HEADERS}
        target, tells_trace = self.check_url(url, deadline - time.monotonic()), self._tells_trace
        for _ in range(limits.redirects + 1):
            answer = self._fetch_once(
                target,
                method=method,
                headers=sent,
                body=body,
                limits=limits,
                deadline=deadline,
                tells_trace=tells_trace,
            )
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None or not limits.follow:
                return answer
            try:
                joined = str(httpx.URL(target.url).join(location))
            except httpx.InvalidURL:
                raise FetchError(f"{target.host}: the server redirected to an invalid URL") from None
            following = self.check_url(joined, deadline - time.monotonic())
            if (following.scheme, following.host, following.port) != (
                target.scheme,
                target.host,
                target.port,
            ):
                sent = {k: v for k, v in sent.items() if k.lower() in _HARMLESS_HEADERS}
                tells_trace = False
            if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                method, body = ("HEAD" if method == "HEAD" else "GET"), None
                sent = {k: v for k, v in sent.items() if k.lower() != "content-type"}
            target = following
        raise TooManyRedirects(f"{target.host}: the server redirected more than {limits.redirects} times")

    @contextmanager
    def stream(
        self,
        url: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limits: Limits = _LIMITS,
    ) -> Iterator[Streamed]:
        """Yield a response whose body is read as it arrives. Redirects aren't followed. Raises FetchError if the
        fetch fails, even if it fails only while the body is being read."""
        deadlines.check()
        deadline = time.monotonic() + deadlines.remaining(limits.seconds)
        sent = {k: v for k, v in (headers or {}).items() if k.lower() not in _OWN_HEADERS}
        target = self.check_url(url, deadline - time.monotonic())
        with self._open(
            target,
            method=method,
            headers=sent,
            body=body,
            limits=limits,
            deadline=deadline,
            tells_trace=self._tells_trace,
        ) as opened:
            yield opened

    def _fetch_once(
        self,
        target: CheckedUrl,
        *,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None,
        limits: Limits,
        deadline: float,
        tells_trace: bool,
    ) -> Fetched:
        with self._open(
            target,
            method=method,
            headers=headers,
            body=body,
            limits=limits,
            deadline=deadline,
            tells_trace=tells_trace,
        ) as opened:
            return Fetched(target.url, opened.status, opened.headers, b"".join(opened.chunks))

    @contextmanager
    def _open(
        self,
        target: CheckedUrl,
        *,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None,
        limits: Limits,
        deadline: float,
        tells_trace: bool,
    ) -> Iterator[Streamed]:
        import httpcore
        import httpx

        from .http_client import PinnedBackend

        url = httpx.URL(target.url)
        sent = {"User-Agent": "Octavo", "Accept": "*/*"}
        sent = {k: v for k, v in sent.items() if k.lower() not in {name.lower() for name in headers}}
        sent |= {**headers, "Host": url.netloc.decode(), "Accept-Encoding": "gzip", "Connection": "close"}
        if body is not None or method in ("POST", "PUT", "PATCH"):
            sent["Content-Length"] = str(len(body or b""))
        backend = PinnedBackend(target.addresses, deadline)
        address = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=target.port, target=url.raw_path or b"/"
        )
        try:
            with (
                _traced(method, target) as span,
                httpcore.ConnectionPool(outgoing_tls(), network_backend=backend) as pool,
                pool.stream(
                    method,
                    address,
                    headers=[*sent.items(), *(tracing.headers_of(span) if tells_trace else {}).items()],
                    content=body,
                ) as response,
            ):
                if span is not None:
                    span.note("http.response.status_code", response.status)
                    if response.status >= 400:
                        span.fail(str(response.status))
                found = httpx.Headers(response.headers)
                chunks = _decoded(response.iter_stream(), found.get("content-encoding", "identity"))
                yield Streamed(response.status, found, _limited(chunks, target.host, limits))
        except httpcore.TimeoutException:
            raise FetchTimeout(
                f"{target.host}: the response wasn't complete within {limits.seconds:g} seconds"
            ) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, zlib.error, ssl.SSLError) as error:
            insecure = isinstance(error, ssl.SSLError) or isinstance(error.__cause__, ssl.SSLError)
            failure = TlsFailure if insecure else FetchError
            raise failure(f"{target.host}: {str(error) or type(error).__name__}") from None
        except (UnicodeError, TypeError, ValueError) as error:
            raise FetchError(f"{target.host}: the request couldn't be sent ({error})") from None


def _traced(method: str, target: CheckedUrl) -> AbstractContextManager[tracing.Span | None]:
    """Return the span of a request to another server. URLs and headers may contain secrets, so the span identifies only
    the server."""
    return tracing.part(
        method,
        "client",
        {"http.request.method": method, "server.address": target.host, "server.port": target.port},
    )


def _limited(chunks: Iterator[bytes], host: str, limits: Limits) -> Iterator[bytes]:
    """Yield the chunks up to the size limit. Raises FetchError if the limit is exceeded."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if limits.together is not None:
            limits.together.take(len(chunk))
        if size > limits.size:
            raise FetchError(f"{host}: the response is larger than {format_size(limits.size)}")
        yield chunk


def _refuse_odd_numbers(host: str) -> None:
    """Reject hosts that libraries interpret as IPv4 addresses in a special notation: decimal, octal, hexadecimal, or
    shortened."""
    last = host.rstrip(".").rpartition(".")[2]
    if _NUMERIC.fullmatch(last):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise FetchNotAllowed(
                f"{host}: IP addresses in this format aren't allowed. Use a hostname, or an address such as"
                " 192.0.2.1."
            ) from None


def _resolve(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """Return the IP addresses of a host. A lookup can't be stopped, so a lookup that takes too long continues in
    its own thread."""
    late = FetchTimeout(f"{host}: the hostname couldn't be resolved in time")
    until = time.monotonic() + seconds
    if not _lookups.acquire(timeout=max(seconds, 0)):
        raise late
    found: Future[list[Any]] = Future()

    def look_up() -> None:
        try:
            found.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except BaseException as error:
            found.set_exception(error)
        finally:
            _lookups.release()

    threading.Thread(target=look_up, name="octavo-resolve", daemon=True).start()
    try:
        entries = found.result(max(until - time.monotonic(), 0))
    except TimeoutError:
        raise late from None
    except (OSError, UnicodeError):
        raise UnknownHost(f"{host}: the hostname couldn't be resolved") from None
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text)
    if address.version == 6 and (address not in _GLOBAL_V6 or any(address in net for net in _TUNNELS)):
        return False
    return address.is_global and not address.is_multicast


def _decoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the decompressed chunks. Chunks are decompressed in limited pieces, so that a decompression bomb is
    detected before it becomes large."""
    if encoding.strip().lower() in ("", "identity"):
        yield from chunks
        return
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise FetchError(f"responses with the encoding {encoding!r} aren't supported")
    unpack = zlib.decompressobj(wbits=47)
    for chunk in chunks:
        while chunk:
            yield unpack.decompress(chunk, 65_536)
            chunk = unpack.unconsumed_tail
    yield unpack.flush()
