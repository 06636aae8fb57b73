"""Helpers for tests of live editing: a page in a change request, and people who write in it."""

from __future__ import annotations

from typing import Any

import httpx

from changes.working import Space
from octavo.content.changes.authorization import ChangeAccess, change_access
from octavo.content.changes.store import get_change
from octavo.content.live.saving import save_due
from octavo.content.live.store import PageKey
from octavo.core.editor.schema import VERSION
from octavo.kit import clock
from octavo.kit.context import Context
from octavo.organization.access.authorization import space_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from world import World


class Writing:
    """Page A of a fresh space, in a change request."""

    def __init__(self, world: World, markdown: str | None = None) -> None:
        self.world = world
        self.space = Space(world)
        self.change = self.space.create()
        self.page = self.space.pages["A"]
        if markdown is not None:
            self.space.write(self.change, "A", markdown)
        self.base = f"{self.space.path}/change-requests/{self.change}/pages/{self.page}/live"

    @property
    def key(self) -> PageKey:
        with self.world.context.db.read() as tx:
            return PageKey(get_change(tx, self.change).branch_id, self.page)

    def open(self, who: str = "editor") -> Client:
        return Client(self, who)

    def call(self, who: str, method: str, path: str = "", **more: Any) -> httpx.Response:
        return self.world.call(who, method, f"{self.base}{path}", **more)

    def get(self, who: str = "editor") -> Any:
        answer = self.call(who, "GET")
        assert answer.is_success, answer.text
        return answer.json()

    def save(self, who: str = "editor") -> Any:
        answer = self.call(who, "POST", "/save")
        assert answer.is_success, answer.text
        return answer.json()

    def markdown(self) -> str:
        page = self.space.page("A", self.change, format="markdown")
        return page["markdown"]

    def later(self, seconds: float, monkeypatch: Any) -> None:
        """Save pages that are due within some seconds."""
        real = clock.now
        with monkeypatch.context() as patched:
            for module in ("octavo.content.live.saving", "octavo.content.live.store"):
                patched.setattr(f"{module}.now", lambda: real() + int(seconds * 1000))
            save_due(self.world.context)


class Client:
    """Client of a person. It knows only the responses that it got."""

    numbers = iter(range(10**9))

    def __init__(self, writing: Writing, who: str) -> None:
        self.writing, self.who = writing, who
        self.id = f"client-{next(self.numbers):08}"
        self.batch = 0
        self.load()

    def load(self) -> None:
        found = self.writing.get(self.who)
        self.epoch, self.version = found["epoch"], found["version"]
        self.document = found["document"]

    def body(self, *steps: Any, **more: Any) -> dict[str, Any]:
        self.batch += 1
        return {
            "epoch": self.epoch,
            "schema": VERSION,
            "client": self.id,
            "batch": self.batch,
            "attempt": 1,
            "version": self.version,
            "steps": list(steps),
            **more,
        }

    def post(self, body: dict[str, Any]) -> httpx.Response:
        return self.writing.call(self.who, "POST", "/steps", json=body)

    def send(self, *steps: Any, **more: Any) -> Any:
        """Send a batch and take what the answer says."""
        answer = self.post(self.body(*steps, **more))
        assert answer.is_success, answer.text
        self.version = answer.json()["version"]
        return answer.json()

    def type(self, text: str, at: int) -> Any:
        return self.send(insert(text, at))


def insert(text: str, at: int) -> dict[str, Any]:
    return {
        "stepType": "replace",
        "from": at,
        "to": at,
        "slice": {"content": [{"type": "text", "text": text}]},
    }


def delete(start: int, end: int) -> dict[str, Any]:
    return {"stepType": "replace", "from": start, "to": end}


def block(text: str, at: int, key: str | None = None) -> dict[str, Any]:
    """Insert a paragraph."""
    node = {"type": "paragraph", "attrs": {"key": key}, "content": [{"type": "text", "text": text}]}
    return {"stepType": "replace", "from": at, "to": at, "slice": {"content": [node]}}


def texts(document: Any) -> list[str]:
    """Return the text of each block of a document."""

    def text(node: Any) -> str:
        return node.get("text", "") + "".join(map(text, node.get("content", [])))

    return [text(node) for node in document["content"]]


def access_of(live: Writing, context: Context, who: str) -> ChangeAccess:
    """Return a person's access to the change request of a page, in a process."""
    actor = actor_for_job(live.world.users[who], live.world.home.ids["organizationId"])
    with context.db.read() as tx:
        return change_access(tx, space_access(tx, actor, Can.EDIT, live.space.id), live.change)
