"""Git over SSH: a single connection, with the space's key, to an IP address that the rules for outgoing requests allow.

A server must present the same key that it presented on the first connection. This module is imported only when
needed."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable
from typing import Any

import paramiko
from dulwich.client import SSHVendor

from octavo.kit.net.git_http import CONNECT_SECONDS, RepositoryTooLarge
from octavo.kit.scheduling import deadlines

from .credentials import Credential
from .failures import Reason, Stopped

_SECONDS = 60.0


class _Channel:
    """Stream for dulwich to read from and write to."""

    def __init__(self, channel: paramiko.Channel, count: Callable[[int], None]) -> None:
        self._channel, self._count = channel, count
        self._read = channel.makefile("rb", 1 << 16)
        self.stderr = None

    def can_read(self) -> bool:
        return bool(self._channel.recv_ready())

    def read(self, count: int | None = None) -> bytes:
        found = bytes(self._read.read(count) if count is not None else self._read.read())
        self._count(len(found))
        return found

    def write(self, data: bytes) -> int:
        self._channel.sendall(data)
        return len(data)

    def end(self) -> None:
        """Signal the end of the written data."""
        self._channel.shutdown_write()

    def close(self) -> None:
        self._channel.close()


class Vendor(SSHVendor):
    """SSH transport for dulwich. ``address(host, port)``: a function that returns the address to connect to.
    ``host_key``: the required key of the server. If it is None, any key is accepted and stored in ``seen``.
    ``most``: the maximum number of bytes to receive."""

    def __init__(
        self,
        credential: Credential | None,
        address: Callable[[str, int], str],
        host_key: str | None,
        most: int,
    ) -> None:
        self.received, self.most = 0, most
        self._credential, self._address, self._host_key = credential, address, host_key
        self.seen: str | None = None
        self._transports: list[paramiko.Transport] = []

    def run_command(
        self,
        host: str,
        command: bytes,
        username: str | None = None,
        port: int | None = None,
        password: str | None = None,
        key_filename: str | None = None,
        ssh_command: str | None = None,
        protocol_version: int | None = None,
    ) -> Any:
        at = port or 22
        try:
            connection = socket.create_connection((self._address(host, at), at), timeout=CONNECT_SECONDS)
        except OSError as error:
            raise Stopped(Reason.UNREACHABLE, f"{host}: the connection failed ({error})") from None
        try:
            return self._run(host, connection, command, username or "git")
        except paramiko.AuthenticationException:
            said = (
                f"{host} rejected the SSH key. Add the public key to the repository settings at the Git"
                " provider."
            )
            raise Stopped(Reason.UNAUTHORIZED, said) from None
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise Stopped(Reason.UNREACHABLE, f"{host}: {error or type(error).__name__}") from None

    def _run(self, host: str, connection: socket.socket, command: object, user: str) -> _Channel:
        transport = paramiko.Transport(connection)
        self._transports.append(transport)
        transport.banner_timeout = transport.auth_timeout = transport.handshake_timeout = _SECONDS
        if self._host_key is not None:
            # Ask for the known type of key, because a server can have several.
            kind = self._host_key.split(" ")[0]
            known = [name for name in transport.get_security_options().key_types if _matches(name, kind)]
            if known:
                transport.get_security_options().key_types = known
        transport.start_client(timeout=_SECONDS)
        key = transport.get_remote_server_key()
        shown = f"{key.get_name()} {key.get_base64()}"
        if self._host_key is not None and shown != self._host_key:
            raise Stopped(
                Reason.HOST_KEY,
                f"{host} now has a different host key ({_fingerprint(key)}) than during the first connection."
                " Check the key with the server's owner, then trust it.",
            )
        self.seen = shown
        if self._credential is None or self._credential.kind != "ssh-key":
            raise Stopped(Reason.UNAUTHORIZED, f"{host}: SSH URLs require an SSH key")
        private = paramiko.Ed25519Key.from_private_key(io.StringIO(self._credential.secret))
        transport.auth_publickey(user, private)
        channel = transport.open_session(timeout=_SECONDS)
        channel.settimeout(_SECONDS)
        channel.exec_command(command)
        return _Channel(channel, self._count)

    def answer(self, host: str, command: str, username: str, port: int | None) -> bytes:
        """Run a command without input on the server and return its output. Raises Stopped if the command fails, and
        GitRefused if the output has more than ``most`` bytes."""
        channel = self.run_command(host, command.encode(), username, port)
        try:
            channel.end()
            return bytes(channel.read())
        except TimeoutError:
            raise Stopped(Reason.UNREACHABLE, f"{host}: the server didn't respond in time") from None
        finally:
            channel.close()

    def _count(self, size: int) -> None:
        deadlines.check()
        self.received += size
        if self.received > self.most:
            raise RepositoryTooLarge(self.most)

    def close(self) -> None:
        """Close all connections, including connections in use."""
        for transport in self._transports:
            transport.close()


def _matches(algorithm: str, kind: str) -> bool:
    """Return whether a signature algorithm belongs to a type of key. RSA has several algorithms."""
    return algorithm == kind or (kind == "ssh-rsa" and algorithm.startswith("rsa-sha2"))


def _fingerprint(key: paramiko.PKey) -> str:
    return str(key.fingerprint)
