"""``octavo serve``: it starts, answers, and stops without leaving anything behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from serving import Served, free_ports, serving
from settled import PATIENCE, until
from world import World


@pytest.mark.parametrize(
    ("number", "workers"),
    [(signal.SIGTERM, 2), (signal.SIGINT, 1), pytest.param(signal.SIGTERM, 1, marks=pytest.mark.slow)],
)
def test_the_server_responds_and_stops(
    sqlite_world: World, tmp_path: Path, workers: int, number: int
) -> None:
    world = sqlite_world
    with serving(world.install(tmp_path / "data"), "--workers", str(workers)) as served:
        assert httpx.get(f"{served.url}/healthz").text == "ok\n"
        headers = {"authorization": f"Bearer {world.token('reader')}"}
        answer = httpx.get(f"{served.url}/v1/user", headers=headers)
        assert answer.json()["id"] == world.users["reader"]
        assert httpx.get(f"{served.url}/openapi.json").json()["openapi"].startswith("3.1")
        assert httpx.get(served.reader_url).status_code < 500
        assert httpx.get(f"{served.reader_url}/readyz").text == "ready\n"
        assert served.processes()
        started = time.monotonic()
        assert served.stop(number) == 0
        assert time.monotonic() - started < 5
        assert served.left_behind() == []
    assert "Traceback" not in served.output.read_text()


def test_a_keep_alive_connection_does_not_delay_shutdown(sqlite_world: World, tmp_path: Path) -> None:
    with serving(sqlite_world.install(tmp_path / "data")) as served, httpx.Client() as client:
        assert client.get(f"{served.url}/healthz").status_code == 200
        assert served.stop() == 0
        assert served.left_behind() == []


def test_the_first_start_creates_an_administrator(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as served:
        kept = data / "admin-token"
        assert kept.stat().st_mode & 0o777 == 0o600
        headers = {"authorization": f"Bearer {kept.read_text().strip()}"}
        organizations = httpx.get(f"{served.url}/v1/orgs", headers=headers).json()["items"]
        assert [organization["permissions"]["admin"] for organization in organizations] == [True]
        # The log of a service is read by others: it says where the token is.
        said = served.output.read_text()
        assert str(kept) in said and kept.read_text().strip() not in said
        assert served.stop() == 0
    with serving(data) as served:
        assert len(httpx.get(f"{served.url}/v1/orgs", headers=headers).json()["items"]) == 1
        assert kept.read_text().strip() not in served.output.read_text()


def test_urls_follow_the_ports(sqlite_world: World, tmp_path: Path) -> None:
    with serving(sqlite_world.install(tmp_path / "data"), OCTAVO_URL=None) as served:
        headers = {"authorization": f"Bearer {sqlite_world.token('reader')}"}
        answer = httpx.get(f"{served.url}/v1/user", headers=headers).json()
        assert answer["urls"]["location"].startswith(served.url)


def test_the_server_prints_urls_that_can_be_opened(sqlite_world: World, tmp_path: Path) -> None:
    """A host with colons in it is in brackets there."""
    with closing(socket.socket(socket.AF_INET6)) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    # The tests reach the server at its IPv4 address, to which a socket at `::` listens as well.
    with serving(sqlite_world.install(tmp_path / "data"), "--host", "::") as served:
        said = re.findall(r"http://\S+", served.output.read_text())
        assert len(said) >= 2
        for address in said:
            assert httpx.get(address).status_code < 500


@pytest.mark.parametrize(
    "closed", [">&- 2>&-", *(pytest.param(one, marks=pytest.mark.slow) for one in (">&-", "2>&-"))]
)
def test_the_server_runs_without_a_writable_folder(sqlite_world: World, tmp_path: Path, closed: str) -> None:
    shell = ("sh", "-c", f'exec "$@" {closed}', "sh")
    with serving(sqlite_world.install(tmp_path / "data"), through=shell) as served:
        assert httpx.get(f"{served.url}/healthz").text == "ok\n"
        assert httpx.get(f"{served.reader_url}/nothing/here").status_code == 404
        assert served.stop() == 0


@pytest.mark.slow
def test_a_used_port_is_reported_without_a_traceback(sqlite_world: World, tmp_path: Path) -> None:
    with serving(sqlite_world.install(tmp_path / "data")) as served:
        port = served.url.rpartition(":")[2]
        second = Served(tmp_path / "second", "--port", port)
        assert second.process.wait(timeout=PATIENCE) == 1
        assert port in second.output.read_text()
        assert "Traceback" not in second.output.read_text()


def test_pending_views_are_written_during_shutdown(tmp_path: Path) -> None:
    data = tmp_path / "data"
    browser = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"}
    with serving(data) as served:
        manual = re.search(r"published at (\S+)", served.output.read_text())
        assert manual is not None
        for _ in range(3):
            assert httpx.get(manual[1], headers=browser).status_code == 200
        assert served.stop() == 0
    with closing(sqlite3.connect(data / "octavo.db")) as database:
        assert database.execute("SELECT type, count(*) FROM site_events GROUP BY type").fetchall() == [
            ("page_view", 3)
        ]


def test_committed_data_survives_a_kill(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    headers = {"authorization": f"Bearer {sqlite_world.token('admin')}"}
    with serving(data) as served:
        made = httpx.post(f"{served.url}/v1/orgs", headers=headers, json={"title": "Kept"}).json()
        assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    with serving(data) as served:
        answer = httpx.get(f"{served.url}/v1/orgs/{made['id']}", headers=headers)
        assert answer.json()["title"] == "Kept"


def test_loaded_modules_are_excluded_from_garbage_collection():
    code = """import gc
from octavo.app import freeze_loaded_objects
freeze_loaded_objects()
print(gc.get_freeze_count() > 50_000, len(gc.get_objects()) < 1000)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("role", ["api", "reader"])
def test_another_asgi_server_can_run_it(sqlite_world: World, tmp_path: Path, role: str) -> None:
    data, (port,) = sqlite_world.install(tmp_path / "data"), free_ports(1)
    command = ["-m", "uvicorn", "--factory", f"octavo.app:create_{role}", "--port", str(port)]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, *command, "--http", "h11"],
            env={**os.environ, "OCTAVO_DATA": str(data)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:

        def is_ready() -> bool:
            assert server.poll() is None, (tmp_path / "log").read_text()
            try:
                return httpx.get(f"http://127.0.0.1:{port}/readyz").text == "ready\n"
            except httpx.TransportError:
                return False

        until(is_ready)
        if role == "api":
            headers = {"authorization": f"Bearer {sqlite_world.token('admin')}"}
            url = f"http://127.0.0.1:{port}/v1/orgs"
            made = httpx.post(url, headers=headers, json={"title": "Made"}).json()
            assert httpx.get(f"{url}/{made['id']}", headers=headers).json()["title"] == "Made"
        server.terminate()
        assert server.wait(timeout=60) in (0, -signal.SIGTERM)
        assert "Traceback" not in (tmp_path / "log").read_text()
    finally:
        server.kill()
        server.wait()
