"""Git over ssh: one connection, to the address that the rule for outgoing requests gave, with the key of the space.

A server is known by the first key that it showed. Loaded only where it is used.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Callable
from typing import Any

import paramiko
from dulwich.client import SSHVendor

from octavo.kit.net.git_http import CONNECT_SECONDS, GitRefused
from octavo.kit.scheduling import deadlines

from .credentials import Credential
from .failures import Reason, Stopped

_SECONDS = 60.0


class _Channel:
    """What dulwich reads from and writes to."""

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
        """Nothing more is written."""
        self._channel.shutdown_write()

    def close(self) -> None:
        self._channel.close()


class Vendor(SSHVendor):
    """``address(host, port)`` says where to connect to. ``host_key``: the one that the server has to show; None: whichever
    it shows, which is ``seen`` then. ``most``: the bytes that may come."""

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
            raise Stopped(Reason.UNREACHABLE, f"{host}: no connection ({error})") from None
        try:
            return self._run(host, connection, command, username or "git")
        except paramiko.AuthenticationException:
            said = f"{host} does not know the key; put the public key into the repository's settings"
            raise Stopped(Reason.UNAUTHORIZED, said) from None
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise Stopped(Reason.UNREACHABLE, f"{host}: {error or type(error).__name__}") from None

    def _run(self, host: str, connection: socket.socket, command: Any, user: str) -> _Channel:
        transport = paramiko.Transport(connection)
        self._transports.append(transport)
        transport.banner_timeout = transport.auth_timeout = transport.handshake_timeout = _SECONDS
        if self._host_key is not None:
            # The kind that is known is asked for: a server has several.
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
                f"{host} shows another key ({_fingerprint(key)}) than at the first connection",
            )
        self.seen = shown
        if self._credential is None or self._credential.kind != "ssh-key":
            raise Stopped(Reason.UNAUTHORIZED, f"{host}: an ssh address needs an ssh key")
        private = paramiko.Ed25519Key.from_private_key(io.StringIO(self._credential.secret))
        transport.auth_publickey(user, private)
        channel = transport.open_session(timeout=_SECONDS)
        channel.settimeout(_SECONDS)
        channel.exec_command(command)
        return _Channel(channel, self._count)

    def answer(self, host: str, command: str, username: str, port: int | None) -> bytes:
        """All that a command says, which is given no input. Raises Stopped, GitRefused for more than ``most`` bytes."""
        channel = self.run_command(host, command.encode(), username, port)
        try:
            channel.end()
            return bytes(channel.read())
        except TimeoutError:
            raise Stopped(Reason.UNREACHABLE, f"{host} does not answer") from None
        finally:
            channel.close()

    def _count(self, size: int) -> None:
        deadlines.check()
        self.received += size
        if self.received > self.most:
            raise GitRefused("the repository is too large")

    def close(self) -> None:
        """Ends all connections, whoever waits for them."""
        for transport in self._transports:
            transport.close()


def _matches(algorithm: str, kind: str) -> bool:
    """Whether a signature algorithm is of a kind of key: RSA has several."""
    return algorithm == kind or (kind == "ssh-rsa" and algorithm.startswith("rsa-sha2"))


def _fingerprint(key: paramiko.PKey) -> str:
    return str(key.fingerprint)
