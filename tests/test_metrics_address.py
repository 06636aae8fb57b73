"""Access to `/metrics`: it requires the metrics token, and is disabled if none is set."""

from __future__ import annotations

import httpx
import msgspec
import pytest

from light_client import LightClient
from octavo.app import api_app, metrics_edge
from octavo.kit.http.edge import Edge
from octavo.kit.http.metrics import Metrics
from world import URL, World

TOKEN = "a" * 32


def ask(app: Edge, path: str = "/metrics", **headers: str) -> httpx.Response:
    try:
        return LightClient(app, URL).ask("GET", path, headers=headers)
    finally:
        app.close()


@pytest.mark.parametrize(
    ("token", "sent", "status"),
    [
        ("", "", 404),
        ("", "Bearer ", 404),
        (TOKEN, "", 401),
        (TOKEN, "Bearer ", 401),
        (TOKEN, f"Bearer {TOKEN}a", 401),
        (TOKEN, f"Basic {TOKEN}", 401),
        (TOKEN, f"Bearer {TOKEN}", 200),
    ],
)
def test_metrics_require_their_token(sqlite_world: World, token: str, sent: str, status: int) -> None:
    context = sqlite_world.context
    context.settings = msgspec.structs.replace(context.settings, metrics_token=token)
    answer = ask(api_app(context), authorization=sent) if sent else ask(api_app(context))
    assert (answer.status_code, "octavo_" in answer.text) == (status, status == 200)


def test_a_separate_metrics_address_only_serves_metrics_and_health_checks(sqlite_world: World) -> None:
    context = sqlite_world.context
    found = ask(metrics_edge(Metrics(), context))
    assert found.status_code == 200
    assert "octavo_jobs{" in found.text, "also in a process that runs only jobs"
    for path in ("/healthz", "/readyz"):
        assert ask(metrics_edge(Metrics(), context), path).status_code == 200
    for path in ("/", "/v1/user"):
        assert ask(metrics_edge(Metrics(), context), path).status_code == 404
