"""SIGHUP restarts the serving processes with the current program and settings, and no request fails."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from serving import Administrator, Served, install_version, serving
from settled import until
from test_clusters import Writer
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
            until(lambda: listening.ready and all(one.answered for one in asking))
            assert _is_good(served, FIRST)
            # Programs that don't start are not used.
            settings.write_text("metrics_token = 5")
            os.kill(main, signal.SIGHUP)
            until(lambda: "current one keeps running" in served.output.read_text())
            for number in range(rounds):
                before = listening.ready
                settings.write_text(f'metrics_token = "{str(number) * 40}"')
                os.kill(main, signal.SIGHUP)
                until(lambda: _is_good(served, str(number) * 40))  # noqa: B023
                until(lambda: listening.ready > before)  # noqa: B023
                reached = [one.answered for one in asking]
                until(lambda: all(one.answered > was + 20 for one, was in zip(asking, reached, strict=True)))  # noqa: B023
                until(lambda: len(served.processes()) == 1 + workers)
        finally:
            for one in (*asking, listening):
                one.over.set()
            for one in asking:
                one.join()
        assert [one.wrong for one in (*asking, listening)] == [[], [], [], []]
        assert served.process.pid == main and served.stop() == 0
        assert served.left_behind() == []
    assert "Traceback" not in served.output.read_text()


def _version(url: str) -> str:
    """Return the version of the process that answers."""
    return str(httpx.get(f"{url}/openapi.json", timeout=60).json()["info"]["version"])


def _link(link: Path, folder: Path) -> None:
    """Replace a link, as ``ln -sfn`` does."""
    new = link.with_name("new")
    new.symlink_to(folder)
    new.replace(link)


@contextmanager
def _asked(url: str, token: str) -> Iterator[Asking]:
    """Require that no request fails in the meantime."""
    asking = Asking(url, token)
    asking.start()
    try:
        until(lambda: asking.answered)
        yield asking
    finally:
        asking.over.set()
        asking.join()
    assert asking.wrong == []


def _listening(served: Served) -> int:
    """Return how many processes listen on the port of the API: each that is ready does."""
    port = f":{int(served.url.rpartition(':')[2]):04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(line.split()[1].endswith(port) and line.split()[3] == "0A" for line in lines)


@contextmanager
def _installed(world: World, folder: Path) -> Iterator[tuple[Served, Path, Path]]:
    """Run two processes of version 0.1.0 behind a link; yield them with the link and the settings."""
    link, settings = folder / "octavo", folder / "octavo.toml"
    install_version(folder / "0.1.0", "0.1.0")
    link.symlink_to(folder / "0.1.0")
    settings.write_text("workers = 2")
    data, program = world.install(folder / "data"), link / "bin" / "octavo"
    with serving(data, "--config", str(settings), program=program) as served:
        until(lambda: _listening(served) == 2)
        yield served, link, settings
        assert served.stop() == 0
        assert served.left_behind() == []


def _reload(served: Served, refused: str = "") -> None:
    """Reload until the next program is taking over, or does not start for this reason."""
    before, said = (
        len(served.output.read_text()),
        "current one keeps running" if refused else "is taking over",
    )
    os.kill(served.process.pid, signal.SIGHUP)
    until(lambda: said in served.output.read_text()[before:])
    assert refused in served.output.read_text()[before:]


def test_a_new_version_takes_over_or_the_old_one_continues(sqlite_world: World, tmp_path: Path) -> None:
    install_version(tmp_path / "lacking", "0.3.0", whole=False)
    install_version(tmp_path / "0.2.0", "0.2.0")
    with _installed(sqlite_world, tmp_path) as (served, link, _):
        main, first = served.process.pid, served.workers()
        with _asked(f"{served.url}/v1/user", sqlite_world.token("admin")) as asking:
            _link(link, tmp_path / "lacking")
            _reload(served, refused="No module named 'octavo'")
            assert served.workers() == first
            _link(link, tmp_path / "0.2.0")
            _reload(served)
            until(lambda: len(served.workers(tmp_path / "0.2.0")) == 2)
            # Former processes still serve their open connections; new ones serve the others.
            until(lambda: _version(served.url) == "0.2.0")
            reached = asking.answered
            until(lambda: asking.answered > reached + 20)
        assert served.process.pid == main


@pytest.mark.slow
def test_reloaded_processes_behave_the_same(sqlite_world: World, tmp_path: Path) -> None:
    with _installed(sqlite_world, tmp_path) as (served, _, settings):
        first = served.workers()

        def record_migration(command: str) -> None:
            with closing(sqlite3.connect(served.data / "octavo.db")) as database:
                database.execute(command)
                database.commit()

        with _asked(f"{served.url}/v1/user", sqlite_world.token("admin")):
            settings.write_text("workers = 2\nworker = 3")
            _reload(served, refused="unknown setting 'worker'")
            settings.write_text("workers = 2")
            # As a version leaves it that has changed the database and does not start after all.
            record_migration(
                "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (999912312359, 'later', '', 0)"
            )
            _reload(served, refused="migrated by a newer version of Octavo")
            assert served.workers() == first and _version(served.url) == "0.1.0"
        os.kill(first[0], signal.SIGKILL)
        until(lambda: first[0] not in served.workers() and len(served.workers()) == 2)
        record_migration("DELETE FROM migrations WHERE number = 999912312359")
        with _asked(f"{served.url}/v1/user", sqlite_world.token("admin")):
            _reload(served)
            until(lambda: len(served.workers()) == 2 and first[1] not in served.workers())


@pytest.mark.slow
def test_versions_are_replaced_under_load(database_url: str, tmp_path: Path) -> None:
    """With several processes, fewer, one, and several again; no request is refused, and nothing is lost."""
    link, settings = tmp_path / "octavo", tmp_path / "octavo.toml"
    for number in range(5):
        install_version(tmp_path / f"0.{number}.0", f"0.{number}.0")
    link.symlink_to(tmp_path / "0.0.0")
    settings.write_text("workers = 3")
    program = link / "bin" / "octavo"
    with serving(
        tmp_path / "data", "--config", str(settings), program=program, OCTAVO_DATABASE_URL=database_url
    ) as served:
        administrator = Administrator(served)
        space = administrator.create_space("Asked for")
        token = (served.data / "admin-token").read_text().strip()
        asking = [
            Asking(f"{served.url}/v1/user", token),
            Asking(f"{served.url}/v1/spaces/{space}/content", token),
            Asking(f"{served.reader_url}/readyz", ""),
        ]
        writers = [Writer(served, token, tmp_path / f"history-{number}", number) for number in range(3)]
        for one in (*asking, *writers):
            one.start()
        try:
            for number, workers in enumerate((3, 2, 1, 3)):
                version = f"0.{number + 1}.0"
                settings.write_text(f"workers = {workers}")
                _link(link, tmp_path / version)
                os.kill(served.process.pid, signal.SIGHUP)
                until(lambda: len(served.processes()) == 1 + workers)  # noqa: B023
                until(lambda: {_version(served.url) for _ in range(6)} == {version})  # noqa: B023
                written = [len(one.acknowledged) for one in writers]
                until(lambda: all(one.has_written(n + 10) for one, n in zip(writers, written, strict=True)))  # noqa: B023
        finally:
            for stopped in (*asking, *writers):
                stopped.over.set()
            for stopped in (*asking, *writers):
                stopped.join()
        assert [one.wrong for one in asking] == [[], [], []]
        assert [(one.wrong, one.refused) for one in writers] == [([], [])] * 3
        for one in writers:
            one.load.check()
        assert served.stop() == 0 and served.left_behind() == []
    assert "Traceback" not in served.output.read_text()


@pytest.mark.slow
def test_a_killed_worker_only_fails_its_own_requests_and_is_replaced(
    sqlite_world: World, tmp_path: Path
) -> None:
    token = sqlite_world.token("admin")
    with serving(sqlite_world.install(tmp_path / "data"), "--workers", "2") as served:
        until(lambda: len(served.processes()) == 1 + 2)
        asking = [Asking(f"{served.url}/v1/user", token) for _ in range(4)]
        for one in asking:
            one.start()
        try:
            for _ in range(3):
                worker = max(served.workers())
                os.kill(worker, signal.SIGKILL)
                until(lambda: worker not in served.workers() and len(served.workers()) == 2)  # noqa: B023
                reached = [one.answered for one in asking]
                until(lambda: all(one.answered > was + 20 for one, was in zip(asking, reached, strict=True)))  # noqa: B023
        finally:
            for one in asking:
                one.over.set()
            for one in asking:
                one.join()
        # A connection can break during a request, but no request gets an error.
        assert not [wrong for one in asking for wrong in one.wrong if wrong.isdecimal()]
        assert served.stop() == 0 and served.left_behind() == []
