"""Emails as they are passed to a server: their content, and the connection."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_string
from email.message import Message
from email.utils import parsedate_to_datetime

import pytest

from octavo.errors import Unavailable
from octavo.kit.clock import now
from octavo.kit.net import mail
from octavo.settings import Settings


class _Server(socketserver.TCPServer):
    """A mail server without STARTTLS, which remembers every line that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.lines: list[str] = []


class _Conversation(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        data = False
        for raw in self.rfile:
            line = raw.decode().rstrip("\r\n")
            self.server.lines.append(line)
            if data and line != ".":
                continue
            data = line == "data"
            answer = {"data": "354 go on", "quit": "221 bye"}.get(line.lower(), "250 yes")
            self.wfile.write(f"{answer}\r\n".encode())


@contextmanager
def _serving() -> Iterator[_Server]:
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _settings(server: _Server, **changed: object) -> Settings:
    url = f"smtp://127.0.0.1:{server.server_address[1]}"
    return Settings(smtp_url=url, mail_from="Docs <docs@example.org>", **changed)  # type: ignore[arg-type]


def _message(server: _Server) -> Message:
    start = server.lines.index("data") + 1
    return message_from_string("\n".join(server.lines[start : server.lines.index(".", start)]))


def test_each_email_has_a_date_and_a_unique_id() -> None:
    found = []
    for _ in range(2):
        with _serving() as server:
            mail.send(
                _settings(server),
                to="ada@example.org",
                subject="Hello",
                text="There.\n",
                headers={"X-A": "b"},
            )
            found.append(_message(server))
    assert found[0]["Message-ID"] != found[1]["Message-ID"]
    for message in found:
        assert message["Message-ID"].endswith("@example.org>") and message["X-A"] == "b"
        assert abs(parsedate_to_datetime(message["Date"]).timestamp() - now() / 1000) < 3600
        assert (message["From"], message["To"]) == ("Docs <docs@example.org>", "ada@example.org")


def test_no_email_is_sent_unencrypted_if_tls_is_required() -> None:
    with _serving() as server:
        settings = _settings(server, smtp_require_tls=True)
        with pytest.raises(Unavailable, match="OCTAVO_SMTP_REQUIRE_TLS"):
            mail.send(settings, to="ada@example.org", subject="Hello", text="Secret.\n")
    assert not [
        line for line in server.lines if line.lower().startswith(("auth", "mail", "data")) or "Secret" in line
    ]
