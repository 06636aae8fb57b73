"""Network part of ``fetch``. It is a separate module because loading an HTTP client takes up a fifth of the startup
time."""

from __future__ import annotations

import ssl
import time

import httpcore

from octavo.kit.scheduling.permits import waiting


class PinnedBackend(httpcore.NetworkBackend):
    """Backend that connects to checked IP addresses, regardless of the hostname. All network operations end at the
    deadline."""

    def __init__(self, addresses: tuple[str, ...], deadline: float) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> httpcore.NetworkStream:
        for address in self._addresses[:-1]:
            try:
                return self._connect(address, port, share=0.5)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return self._connect(self._addresses[-1], port, share=1)

    def _connect(self, address: str, port: int, share: float) -> httpcore.NetworkStream:
        with waiting():
            stream = self._sockets.connect_tcp(address, port, timeout=_remaining(self._deadline) * share)
        return _DeadlineStream(stream, self._deadline)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with waiting():
            return self._stream.read(max_bytes, _remaining(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # In pieces, because the stream below restarts its timeout for each one.
        for start in range(0, len(buffer), 65_536):
            self._stream.write(buffer[start : start + 65_536], _remaining(self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, _remaining(self._deadline))
        return _DeadlineStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left
