"""SIGHUP replaces the processes that serve, by the program and the settings as they are then; nobody is refused."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from serving import Served, serving
from world import World

FIRST = "a" * 40


class Asking(threading.Thread):
    """Asks one address again and again on a connection that is kept, and notes what went otherwise than well."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__()
        self._url, self._headers = url, {"authorization": f"Bearer {token}"} if token else {}
        self.over = threading.Event()
        self.answered = 0
        self.wrong: list[str] = []

    def run(self) -> None:
        with httpx.Client(headers=self._headers, timeout=60) as client:
            while not self.over.is_set():
                try:
                    status = client.get(self._url).status_code
                except httpx.HTTPError as error:
                    self.wrong.append(repr(error))
                else:
                    self.answered += 1
                    if status != 200:
                        self.wrong.append(str(status))


class Listening(threading.Thread):
    """Follows the events of a space as browsers do: it comes back when the stream ends."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(daemon=True)
        self._url, self._headers = url, {"authorization": f"Bearer {token}"}
        self.ready, self.over = 0, threading.Event()
        self.wrong: list[str] = []

    def run(self) -> None:
        while not self.over.is_set():
            try:
                with httpx.stream("GET", self._url, headers=self._headers, timeout=60) as answer:
                    if answer.status_code != 200:
                        self.wrong.append(str(answer.status_code))
                    for line in answer.iter_lines():
                        self.ready += line == "event: ready"
            except httpx.HTTPError as error:
                self.wrong.append(repr(error))


def _until(found: Callable[[], object]) -> None:
    ends = time.monotonic() + 40
    while not found():
        assert time.monotonic() < ends
        time.sleep(0.02)


def _is_good(served: Served, token: str) -> bool:
    with httpx.Client(timeout=60) as client:
        return (
            client.get(f"{served.url}/metrics", headers={"authorization": f"Bearer {token}"}).status_code
            == 200
        )


@pytest.mark.parametrize(("workers", "rounds"), [(1, 1), pytest.param(2, 2, marks=pytest.mark.slow)])
def test_no_request_fails_while_processes_are_replaced(
    sqlite_world: World, tmp_path: Path, workers: int, rounds: int
) -> None:
    world, settings = sqlite_world, tmp_path / "octavo.toml"
    settings.write_text(f'metrics_token = "{FIRST}"')
    token, space = world.token("admin"), world.home["spaceId"]
    data = world.install(tmp_path / "data")
    with serving(data, "--workers", str(workers), "--config", str(settings)) as served:
        main = served.process.pid
        asking = [
            Asking(f"{served.url}/v1/user", token),
            Asking(f"{served.url}/v1/spaces/{space}/content", token),
            Asking(f"{served.reader_url}/readyz", ""),
        ]
        listening = Listening(f"{served.url}/v1/spaces/{space}/events", token)
        for one in (*asking, listening):
            one.start()
        try:
            _until(lambda: listening.ready and all(one.answered for one in asking))
            assert _is_good(served, FIRST)
            # What cannot work is not taken.
            settings.write_text("metrics_token = 5")
            os.kill(main, signal.SIGHUP)
            _until(lambda: "goes on as it was" in served.output.read_text())
            for number in range(rounds):
                before = listening.ready
                settings.write_text(f'metrics_token = "{str(number) * 40}"')
                os.kill(main, signal.SIGHUP)
                _until(lambda: _is_good(served, str(number) * 40))  # noqa: B023
                _until(lambda: listening.ready > before)  # noqa: B023
                reached = [one.answered for one in asking]
                _until(lambda: all(one.answered > was + 20 for one, was in zip(asking, reached, strict=True)))  # noqa: B023
                _until(lambda: len(served.processes()) <= 1 + (workers > 1) * (workers + 1))
        finally:
            for one in (*asking, listening):
                one.over.set()
            for one in asking:
                one.join()
        assert [one.wrong for one in (*asking, listening)] == [[], [], [], []]
        assert served.process.pid == main and served.stop() == 0
        assert served.left_behind() == []
    assert "Traceback" not in served.output.read_text()


@pytest.mark.slow
def test_a_killed_worker_fails_its_own_requests_alone_and_is_replaced(
    sqlite_world: World, tmp_path: Path
) -> None:
    token = sqlite_world.token("admin")
    with serving(sqlite_world.install(tmp_path / "data"), "--workers", "2") as served:
        # The parent, its tracker of resources, and the workers.
        _until(lambda: len(served.processes()) == 4)
        asking = [Asking(f"{served.url}/v1/user", token) for _ in range(4)]
        for one in asking:
            one.start()
        try:
            for _ in range(3):
                worker = max(served.workers())
                os.kill(worker, signal.SIGKILL)
                _until(lambda: worker not in served.workers() and len(served.workers()) == 2)  # noqa: B023
                reached = [one.answered for one in asking]
                _until(lambda: all(one.answered > was + 20 for one, was in zip(asking, reached, strict=True)))  # noqa: B023
        finally:
            for one in asking:
                one.over.set()
            for one in asking:
                one.join()
        # A connection may break under a request; nobody is answered with an error.
        assert not [wrong for one in asking for wrong in one.wrong if wrong.isdecimal()]
        assert served.stop() == 0 and served.left_behind() == []
