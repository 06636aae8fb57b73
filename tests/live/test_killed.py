"""Nothing that was acknowledged is lost: several processes, people who write at once, and kills of all of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from clusters import servers
from octavo.core.editor.schema import VERSION
from serving import Administrator, Served, free_ports, octavo_here
from settled import PATIENCE, until

from .writing import insert, texts

PAGE = "# Page\n\nFirst words.\n\nMiddle words.\n\nLast words.\n"


class Servers:
    """Octavo in several processes on one database: workers of one server, or servers of their own."""

    def __init__(self, data: Path, database: str, *, workers: int = 2, count: int = 1) -> None:
        self.settings = {
            "OCTAVO_DATABASE_URL": database,
            "OCTAVO_FILES_URL": f"file://{data.parent}/files",
            "OCTAVO_RATE_LIMIT": "1000000",
            "OCTAVO_WORKERS": str(workers),
        }
        self.folders, self.ports = (
            [data.with_name(f"data-{number}") for number in range(count)],
            free_ports(count),
        )
        self.running: list[Served] = []
        for number, folder in enumerate(self.folders):
            folder.mkdir()
            if number:
                (folder / "secret-key").write_bytes((self.folders[0] / "secret-key").read_bytes())
            self.running.append(self.start(number))
        self.admin = Administrator(self.running[0])
        self.own = str(self.admin.client.headers["authorization"])

    def start(self, number: int) -> Served:
        served = Served(self.folders[number], port=self.ports[number], **self.settings)
        served.wait_until_ready()
        return served

    def kill(self, number: int) -> None:
        """Kill all processes of a server and start it again."""
        self.running[number].kill()
        self.running[number] = self.start(number)

    def kill_worker(self) -> None:
        """Kill one of the processes that answer. Its server replaces it."""
        os.kill(self.running[0].workers()[0], signal.SIGKILL)

    def token(self, email: str) -> str:
        made = octavo_here(
            *("token", "create", "--email", email, "--org", self.admin.organization, "--role", "edit"),
            OCTAVO_DATA=str(self.folders[0]),
            OCTAVO_URL=self.running[0].url,
            **self.settings,
        )
        assert made.returncode == 0, made.stderr
        return f"Bearer {made.stdout.strip()}"

    def stop(self) -> None:
        for served in self.running:
            if served.process.poll() is None:
                served.kill()


class Page:
    """Page of a change request, which several people write in. ``live``: path of the page as it is edited live."""

    def __init__(self, servers: Servers) -> None:
        self.servers, admin = servers, servers.admin
        space = admin.create_space("Together")
        changes = f"/spaces/{space}/change-requests"
        self.change = f"{changes}/{admin.call('POST', changes, {'subject': 'Words'})['id']}"
        self.main = f"/spaces/{space}/content"
        made = self.edit({"operation": "insert_page", "slug": "page", "document": {"markdown": PAGE}})
        self.id = made["changes"][0]["page"]["id"]
        self.live = f"{self.change}/pages/{self.id}/live"
        self.wrong: list[str] = []
        self.over = threading.Event()

    def edit(self, change: dict[str, Any]) -> Any:
        return self.servers.admin.call("POST", f"{self.change}/content?compat=false", {"changes": [change]})

    def markdown(self, content: str) -> str:
        path = f"{content}/page/{self.id}?format=markdown"
        return str(self.servers.admin.call("GET", path)["markdown"])


class Patient(threading.Thread):
    """Client of one of the servers that asks again, with the same body, until it is answered."""

    def __init__(self, page: Page, number: int, person: str) -> None:
        super().__init__(daemon=True)
        self.page, self.number = page, number
        url = page.servers.running[number % len(page.servers.running)].url
        self.http = httpx.Client(base_url=f"{url}/v1", headers={"authorization": person}, timeout=30)

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(httpx.TransportError):
                answer = self.http.request(method, path, json=body)
                if answer.status_code not in (429, 503):
                    return answer
            assert time.monotonic() < deadline, "no answer"
            time.sleep(0.05)

    def run(self) -> None:
        try:
            self.begin()
            while not self.page.over.is_set():
                self.work()
        except Exception as error:
            self.page.wrong.append(f"{type(self).__name__} {self.number}: {error!r}")

    def begin(self) -> None:
        raise NotImplementedError

    def work(self) -> None:
        raise NotImplementedError


class Writer(Patient):
    """Person who writes one word after the other at the start of the page. ``acknowledged``: the words of batches that
    were answered."""

    def __init__(self, page: Page, number: int, person: str) -> None:
        super().__init__(page, number, person)
        self.acknowledged: list[str] = []
        self.batch = 0

    def begin(self) -> None:
        found = self.ask("GET", self.page.live).raise_for_status().json()
        self.epoch, self.version = found["epoch"], found["version"]

    def work(self) -> None:
        self.batch += 1
        word = f"w{self.number}n{self.batch}z"
        attempt = 0
        while True:
            attempt += 1
            body = {
                **{"epoch": self.epoch, "schema": VERSION, "client": f"writer-{self.number:04}"},
                **{"batch": self.batch, "attempt": attempt, "version": self.version},
                "steps": [insert(f"{word} ", 1)],
            }
            answer = self.ask("POST", f"{self.page.live}/steps", body)
            if answer.status_code == 409 and answer.json()["error"]["reason"] == "behind":
                self.version = answer.json()["version"]
                continue
            assert answer.status_code == 200, answer.text
            break
        self.version = answer.json()["version"]
        self.acknowledged.append(word)
        time.sleep(0.02)


class Program(Patient):
    """Client that writes the last block of the page through the API. ``last``: its latest text."""

    def begin(self) -> None:
        path = f"{self.page.change}/content/page/{self.page.id}"
        nodes = self.ask("GET", path).raise_for_status().json()["document"]["nodes"]
        self.block = nodes[-1]["key"]
        self.last, self.edits = "Last words.", 0

    def work(self) -> None:
        words = f"e{self.edits}z"
        change = {
            "operation": "update_blocks",
            "page": self.page.id,
            "set": [{"block": self.block, "document": {"markdown": words}}],
        }
        answer = self.ask("POST", f"{self.page.change}/content", {"changes": [change]})
        assert answer.is_success, answer.text
        self.last, self.edits = words, self.edits + 1
        time.sleep(0.3)


def write_through(
    servers: Servers, disasters: list[Callable[[], None]], people: list[str], rounds: int
) -> Page:
    """Write on a page while failures happen, and check that all text is there afterward, once. ``rounds``:
    words of each writer between two failures."""
    page = Page(servers)
    writers = [Writer(page, number, people[number % len(people)]) for number in range(4)]
    program = Program(page, 0, servers.own)
    everyone: list[Patient] = [*writers, program]
    for each in everyone:
        each.start()

    def go_on() -> None:
        before = [len(writer.acknowledged) for writer in writers]
        until(
            lambda: (
                page.wrong
                or all(
                    len(one.acknowledged) >= old + rounds for one, old in zip(writers, before, strict=True)
                )
            )
        )

    for disaster in disasters:
        go_on()
        disaster()
    go_on()
    page.over.set()
    for each in everyone:
        each.join(PATIENCE)
    assert page.wrong == []
    check(page, writers, program)
    return page


def check(page: Page, writers: list[Writer], program: Program) -> None:
    """Check the page, its steps, the Markdown of the change request, and that of main after a merge."""
    reader = Patient(page, 0, page.servers.own)
    live = reader.ask("GET", page.live).raise_for_status().json()
    expected = Counter(word for writer in writers for word in writer.acknowledged)
    assert Counter(texts(live["document"])[0].removesuffix("First words.").split()) == expected
    batches = (
        reader.ask("GET", f"{page.live}/steps?epoch={live['epoch']}&after=0")
        .raise_for_status()
        .json()["batches"]
    )
    version = 0
    for batch in batches:
        version += len(batch["steps"])
        assert batch["version"] == version
    assert version == live["version"]
    assert max(Counter((batch["client"], batch["batch"]) for batch in batches).values()) == 1
    reader.ask("POST", f"{page.live}/save", {}).raise_for_status()
    text = page.markdown(f"{page.change}/content")
    assert Counter(text.split("First words.")[0].removeprefix("# Page").split()) == expected
    assert text.endswith(f"Middle words.\n\n{program.last}\n")
    assert reader.ask("POST", f"{page.change}/merge", {}).json()["result"] == "merge"
    assert page.markdown(page.main) == text


@pytest.mark.sqlite_first
def test_killed_processes_lose_no_text(tmp_path: Path, database_url: str) -> None:
    servers = Servers(tmp_path / "data", database_url)
    try:
        people = [servers.own, servers.token("mei@example.com")]
        kills = [servers.kill_worker, lambda: servers.kill(0), servers.kill_worker]
        write_through(servers, kills, people, rounds=6)
    finally:
        servers.stop()


@pytest.mark.slow
def test_two_servers_share_a_page(tmp_path: Path, postgres_databases: Any) -> None:
    """SQLite has one server, with several processes, which the test above kills."""
    servers = Servers(tmp_path / "data", postgres_databases.create_bare("shared"), workers=1, count=2)
    try:
        kills = [lambda: servers.kill(1), lambda: servers.kill(0)]
        write_through(servers, kills, [servers.own], rounds=6)
    finally:
        servers.stop()


@pytest.mark.slow
def test_killing_postgresql_loses_no_text(tmp_path: Path) -> None:
    with servers(1) as (database,):
        database.create()
        database.start()
        running = Servers(tmp_path / "data", database.url)

        def kill_database() -> None:
            database.kill()
            database.start()

        try:
            write_through(running, [kill_database] * 3, [running.own], rounds=10)
        finally:
            running.stop()
