"""A person whose account is deactivated while they are connected in every way to a server with two processes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from agents.test_agents import BACK, CHALLENGE, VERIFIER
from events.test_streams import read_until
from octavo.operations.installation import close_context, open_context
from octavo.organization.identity import sessions
from octavo.settings import Settings
from serving import Administrator, Served, octavo_here, serving_new

EMAIL = "leaver@example.com"
AT_ONCE = 5.0


@pytest.fixture(params=["sqlite", "postgresql"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Served, dict[str, str]]]:
    settings = {}
    if request.param == "postgresql":
        databases = request.getfixturevalue("postgres_databases")
        settings["OCTAVO_DATABASE_URL"] = databases.create_bare("employee")
    with serving_new(tmp_path / "data", "--workers", "2", **settings) as found:
        yield found, settings


def open_stream(served: Served, path: str, token: str) -> socket.socket:
    host, port = served.url.removeprefix("http://").split(":")
    stream = socket.create_connection((host, int(port)), timeout=30)
    head = f"GET /v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    stream.sendall(head.encode())
    read_until(stream, b"event: ready")
    return stream


@pytest.mark.slow
def test_all_access_of_a_deactivated_employee_ends_at_once(served: tuple[Served, dict[str, str]]) -> None:
    server, settings = served
    admin = Administrator(server)
    organization = admin.organization

    def run(*arguments: str) -> str:
        done = octavo_here(*arguments, OCTAVO_DATA=str(server.data), OCTAVO_URL=server.url, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    token = run("token", "create", "--email", EMAIL, "--org", organization, "--role", "edit")
    context = open_context(
        Settings(data=str(server.data), database_url=settings.get("OCTAVO_DATABASE_URL", ""), url=server.url)
    )
    try:
        with context.db.write() as tx:
            user = tx.value("SELECT id FROM users WHERE email = :email", email=EMAIL)
            session = sessions.begin(tx, user, "passkey", client="127.0.0.1", agent="").secret
    finally:
        close_context(context)

    space = admin.create_space("Handbook")
    page = {"operation": "insert_page", "title": "Page", "document": {"markdown": "Words.\n"}}
    made = admin.call("POST", f"/spaces/{space}/content", {"changes": [page]})["changes"][0]["page"]["id"]
    change = admin.call("POST", f"/spaces/{space}/change-requests", {"subject": "Edit"})["id"]

    def ask(method: str, path: str, bearer: str, **options: object) -> httpx.Response:
        # Each request has its own connection, which either process can accept.
        headers = {"authorization": f"Bearer {bearer}"}
        return httpx.request(method, f"{server.url}{path}", headers=headers, timeout=60, **options)  # type: ignore[arg-type]

    client = httpx.post(
        f"{server.url}/oauth/register", json={"client_name": "Pen", "redirect_uris": [BACK]}
    ).json()["client_id"]
    wanted = {
        "organization": organization,
        "clientId": client,
        "redirectUri": BACK,
        "codeChallenge": CHALLENGE,
        "scopes": ["docs:read", "docs:draft"],
    }
    agreed = ask("POST", "/v1/user/agents", session, json=wanted)
    assert agreed.status_code == 200, agreed.text
    form = {
        "grant_type": "authorization_code",
        "code": parse_qs(urlsplit(agreed.json()["url"]).query)["code"][0],
        "client_id": client,
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
    }
    agent = httpx.post(f"{server.url}/oauth/token", data=form).json()
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def statuses() -> list[int]:
        written = {"clientId": "w", "version": 0, "steps": []}
        live = f"/v1/spaces/{space}/change-requests/{change}/pages/{made}/live"
        return [
            ask("GET", "/v1/user", token).status_code,
            ask("GET", "/v1/user", session).status_code,
            ask("GET", f"/v1/spaces/{space}/content/page/{made}", session).status_code,
            ask("POST", f"{live}/steps", session, json=written).status_code,
            ask("POST", f"/mcp/{organization}", agent["access_token"], json=ping).status_code,
        ]

    before = statuses()
    assert not {401, 404}.intersection(before), before
    streams = [
        open_stream(server, path, bearer)
        for bearer in (token, session)
        for path in ("/user/events", f"/spaces/{space}/events")
        for _ in range(4)
    ]
    run("account", "deactivate", "--email", EMAIL)
    ended = time.monotonic()
    assert statuses() == [401] * len(before)
    for stream in streams:
        read_until(stream, b"event: closed")
        stream.close()
    assert time.monotonic() - ended < AT_ONCE
    renewed = {"grant_type": "refresh_token", "refresh_token": agent["refresh_token"], "client_id": client}
    assert httpx.post(f"{server.url}/oauth/token", data=renewed).status_code == 400
