"""Test of many people working in one space while the server is killed: a checker replays the responses.

Every paragraph of every page contains one token. An edit replaces the token it read by a new one, so the
clients' log knows which token each one replaced. From the database the checker proves two things:

* main only replaces a token by one whose author saw the replaced token, or resolved a recorded conflict between the
  two: no update is lost;
* the last token of every acknowledged edit is in the result of its change request, in an open conflict there, or was
  discarded by resolving one: nothing acknowledged is lost.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from octavo.content.changes.store import get_change
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.history import list_revisions
from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.states import Layer, State, list_changed, main_state, revision_state
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.settings import load
from serving import Served

PAGES, PARAGRAPHS = 12, 6
TOKEN = re.compile(r"p(\d+): (\S+)")


def text_of(page: int, tokens: list[str]) -> str:
    return f"# Page {page}\n" + "".join(f"\np{number}: {token}\n" for number, token in enumerate(tokens))


def tokens_of(text: str) -> dict[int, str]:
    return {int(number): token for number, token in TOKEN.findall(text)}


class Log:
    """Requests of the clients and their responses: ``edits[change][page, paragraph]`` is a list of (old
    token, new token, acknowledged); ``decided[change]`` contains the texts on both sides of conflicts
    that were, or may have been, resolved."""

    def __init__(self) -> None:
        self.edits: Any = defaultdict(lambda: defaultdict(list))
        self.decided: dict[str, list[str]] = defaultdict(list)
        self.merged: set[str] = set()
        self.conflicts = 0
        self.wrong: list[str] = []


class Client(threading.Thread):
    """Client that creates change requests, edits, merges, and resolves conflicts until it is stopped or its
    rounds are over."""

    def __init__(self, number: int, session: Session) -> None:
        super().__init__(daemon=True)
        self.number, self.session, self.log = number, session, session.log
        self.random = random.Random(number)
        self.counter = 0
        self.http = httpx.Client(base_url=session.url, headers=session.headers, timeout=60)

    def run(self) -> None:
        for _ in range(self.session.rounds):
            if self.session.over.is_set():
                break
            try:
                self.work()
            except httpx.TransportError as error:
                if not self.session.wait_for_server():
                    self.log.wrong.append(f"no answer: {error!r}")
                    return
            except Exception as error:
                self.log.wrong.append(repr(error))
                return

    def ask(self, method: str, path: str, body: Any = None, *, fine: tuple[int, ...] = ()) -> httpx.Response:
        answer = self.http.request(method, f"/v1/spaces/{self.session.space}{path}", json=body)
        if not answer.is_success and answer.status_code not in fine:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer

    def work(self) -> None:
        change = self.ask("POST", "/change-requests", {}).json()["id"]
        for _ in range(self.random.randint(1, 3)):
            self.edit(change)
        if self.random.random() < 0.8:
            self.merge(change)

    def edit(self, change: str) -> None:
        page = self.random.choice(self.session.pages)
        path = f"/change-requests/{change}/content"
        text = self.ask("GET", f"{path}/page/{page}?format=markdown").json()["markdown"]
        paragraph = self.random.randrange(PARAGRAPHS)
        old, new = tokens_of(text)[paragraph], f"c{self.number}n{self.counter}"
        self.counter += 1
        entry = [old, new, False]
        self.log.edits[change][page, paragraph].append(entry)
        markdown = text.replace(f"p{paragraph}: {old}\n", f"p{paragraph}: {new}\n")
        edit = {"operation": "update_page", "page": page, "document": {"markdown": markdown}}
        entry[2] = self.ask("POST", path, {"changes": [edit]}, fine=(409,)).is_success

    def merge(self, change: str) -> None:
        path = f"/change-requests/{change}"
        for _ in range(4):
            answer = self.ask("POST", f"{path}/merge", fine=(409,))
            if not answer.is_success:
                return
            if answer.json()["result"] == "merge":
                self.log.merged.add(change)
                return
            for conflict in self.ask("GET", f"{path}/conflicts?limit=1000").json()["items"]:
                self.log.conflicts += 1
                if self.random.random() < 0.2:
                    return  # left for another client to resolve
                choice = self.random.choice(["ours", "theirs"])
                self.log.decided[change] += [str(conflict["ours"]), str(conflict["theirs"])]
                body = {"choice": choice}
                self.ask("POST", f"{path}/conflicts/{conflict['id']}/resolve", body, fine=(404, 409))


class Session:
    """Server on a database with a space of pages, and its clients."""

    def __init__(self, data: Path, url: str, rounds: int) -> None:
        self.data, self.database, self.rounds = data, url, rounds
        self.log, self.over, self.ready = Log(), threading.Event(), threading.Event()
        self.served = self.start()
        self.url = self.served.url
        self.headers = {"authorization": f"Bearer {(data / 'admin-token').read_text().strip()}"}
        with httpx.Client(base_url=self.url, headers=self.headers) as http:
            org = http.get("/v1/orgs").json()["items"][0]["id"]
            self.space = http.post(f"/v1/orgs/{org}/spaces", json={"title": "Together"}).json()["id"]
            changes = [
                {
                    "operation": "insert_page",
                    "document": {"markdown": text_of(n, [f"s{n}x{p}" for p in range(PARAGRAPHS)])},
                }
                for n in range(PAGES)
            ]
            answer = http.post(f"/v1/spaces/{self.space}/content", json={"changes": changes})
            assert answer.is_success, answer.text
            self.pages = [change["page"]["id"] for change in answer.json()["changes"]]

    def start(self, port: int = 0) -> Served:
        served = Served(self.data, port=port, OCTAVO_DATABASE_URL=self.database, OCTAVO_RATE_LIMIT="1000000")
        served.wait_until_ready()
        self.ready.set()
        return served

    def wait_for_server(self) -> bool:
        return self.ready.wait(60) and self.served.process.poll() is None

    def kill_and_start(self) -> None:
        self.ready.clear()
        self.served.kill()
        self.served = self.start(int(self.url.rpartition(":")[2]))

    def run(self, clients: int, seconds: float, kills: int) -> None:
        threads = [Client(number, self) for number in range(clients)]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            time.sleep(seconds / (kills + 1))
            self.kill_and_start()
        if seconds:
            time.sleep(seconds / (kills + 1))
            self.over.set()
        for thread in threads:
            thread.join(120)
            if thread.is_alive():
                self.log.wrong.append(f"client {thread.number} hangs")
        assert self.served.stop() == 0
        assert "Traceback" not in self.served.output.read_text()


class Checker:
    """Checker that replays the log against the database."""

    def __init__(self, session: Session, tx: Any) -> None:
        self.session, self.log, self.tx = session, session.log, tx
        self.problems: list[str] = []

    def check(self) -> list[str]:
        self.check_main()
        for change in self.log.edits:
            self.check_change(change)
        return self.problems

    def tokens(self, state: State, page: str) -> dict[int, str]:
        found = find_page(self.tx, state, page)
        return tokens_of(get_body(self.tx, found.body)) if found and found.body else {}

    def check_main(self) -> None:
        """Check that each step of main only replaces what its author saw or decided about."""
        head = main_state(self.tx, self.session.space)
        line, last = head.layers[0].branch_id, head.layers[0].sequence
        for row in list_revisions(self.tx, self.session.space, 100_000, None).rows:
            now = revision_state(self.tx, self.session.space, row.id)
            sequence = now.layers[0].sequence
            if sequence <= 2:
                continue  # the empty state, and the initial pages
            before = State(self.session.space, "", (Layer(line, sequence - 1),))
            for page in list_changed(self.tx, now.layers[0], sequence - 1).pages:
                old, new = self.tokens(before, page), self.tokens(now, page)
                for paragraph in range(PARAGRAPHS):
                    if old.get(paragraph) != new.get(paragraph):
                        self.check_step(
                            row.merged_from, page, paragraph, old.get(paragraph), new.get(paragraph)
                        )
        events = self.tx.value(
            "SELECT count(*) FROM events WHERE space_id = :space AND type = 'space_content_updated'",
            space=self.session.space,
        )
        if events != last - 1:
            self.problems.append(f"{events} events for {last - 1} revisions of main")

    def check_step(self, change: str, page: str, paragraph: int, old: str | None, new: str | None) -> None:
        edits = self.log.edits[change][page, paragraph]
        decided = " ".join(self.log.decided[change])
        seen = old in [edit[0] for edit in edits] or str(old) in decided.split()
        if new not in [edit[1] for edit in edits] or not seen:
            self.problems.append(f"{page} p{paragraph}: {old} became {new} by {change}: {edits} {decided}")

    def check_change(self, change_id: str) -> None:
        """Check that everything acknowledged is in the result of the change request, or in a conflict."""
        change = get_change(self.tx, change_id)
        if change_id in self.log.merged and change.status != "merged":
            self.problems.append(f"{change_id} was merged and is {change.status}")
        merged = change.revision_merged
        state = revision_state(self.tx, self.session.space, merged) if merged else change.state
        in_conflict = " ".join(f"{c.ours} {c.theirs}" for c in change.open_conflicts).split()
        decided = " ".join(self.log.decided[change_id]).split()
        for (page, paragraph), edits in self.log.edits[change_id].items():
            acknowledged = [n for n, edit in enumerate(edits) if edit[2]]
            if not acknowledged:
                continue
            fine = {edit[1] for edit in edits[acknowledged[-1] :]}
            if self.tokens(state, page).get(paragraph) not in fine and not fine.intersection(
                in_conflict + decided
            ):
                self.problems.append(f"{change_id} ({change.status}) lost {fine} of {page} p{paragraph}")


def prove(data: Path, url: str, *, clients: int, rounds: int, seconds: float = 0, kills: int = 0) -> Log:
    session = Session(data, url, rounds)
    try:
        session.run(clients, seconds, kills)
    finally:
        if session.served.process.poll() is None:
            session.served.kill()
    assert session.log.wrong == []
    load_packages()
    context = open_context(load({"data": str(data), "database_url": url}, environ={}))
    try:
        with context.db.read() as tx:
            assert Checker(session, tx).check() == []
    finally:
        close_context(context)
    return session.log


@pytest.mark.sqlite_first
def test_a_few_people_edit_at_once(tmp_path: Path, database_url: str) -> None:
    log = prove(tmp_path / "data", database_url, clients=6, rounds=4)
    assert len(log.merged) > 3


@pytest.mark.slow
def test_fifty_people_edit_for_a_minute(tmp_path: Path, database_url: str) -> None:
    log = prove(tmp_path / "data", database_url, clients=50, rounds=1_000_000, seconds=60, kills=1)
    print(f"{len(log.edits)} change requests, {len(log.merged)} merged, {log.conflicts} conflicts")
    assert len(log.merged) > 100 and log.conflicts > 20
