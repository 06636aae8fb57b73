"""Helpers for tests of comments."""

from __future__ import annotations

import json
from typing import Any

import httpx

from changes.working import Space


class Talk:
    """Comments of a space, or of the change request ``change``."""

    def __init__(self, space: Space, path: str, change: str | None = None) -> None:
        self.space = space
        self.world = space.world
        self.place = path
        self.path = f"{path}/comments"
        self.change = change

    def call(self, who: str, method: str, path: str = "", **options: Any) -> httpx.Response:
        return self.world.call(who, method, self.path + path, **options)

    def try_post(self, text: Any = "Hm.", who: str = "commenter", **target: Any) -> httpx.Response:
        body = {"markdown": text} if isinstance(text, str) else text
        return self.call(who, "POST", json={"body": body, **target})

    def post(self, text: Any = "Hm.", who: str = "commenter", **target: Any) -> Any:
        answer = self.try_post(text, who, **target)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, comment: str, who: str = "reader", **query: Any) -> Any:
        return self.world.get(who, f"{self.path}/{comment}", params=query)

    def list(self, who: str = "reader", **query: Any) -> Any:
        return self.world.get(who, self.path, params=query)

    def try_update(self, comment: str, who: str = "commenter", **body: Any) -> httpx.Response:
        return self.call(who, "PUT", f"/{comment}", json=body)

    def update(self, comment: str, who: str = "commenter", **body: Any) -> Any:
        answer = self.try_update(comment, who, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def delete(self, comment: str, who: str = "commenter") -> int:
        return self.call(who, "DELETE", f"/{comment}").status_code

    def reply(self, comment: str, text: str = "Yes.", who: str = "commenter") -> Any:
        return self.world.post(who, f"{self.path}/{comment}/replies", {"body": {"markdown": text}})

    def open_ones(self) -> int:
        """Return the number of open comments that the space or the change request shows."""
        return self.world.get("reader", self.place)["comments"]

    def nodes(self, title: str) -> list[Any]:
        """Return the top-level nodes of a page in this place."""
        return self.space.page(title, self.change, "document")["document"]["nodes"]

    def events(self) -> list[tuple[str, Any]]:
        with self.world.context.db.read() as tx:
            rows = tx.all(
                "SELECT type, payload FROM events WHERE space_id = :space AND type LIKE 'comment%' ORDER BY id",
                space=self.space.id,
            )
        found = [(type, json.loads(payload)) for type, payload in rows]
        # Fields for notifications and streams are tested there.
        told = {"by", "page", "answered"}
        return [(type, {name: one[name] for name in one if name not in told}) for type, one in found]


def words(document: Any) -> str:
    """Return all text of a document in JSON form."""
    if isinstance(document, list):
        return "".join(map(words, document))
    if not isinstance(document, dict):
        return ""
    if document.get("object") == "leaf":
        return document["text"]
    below = [document.get(name, []) for name in ("nodes", "leaves", "fragments")]
    return "".join(map(words, below))


def refused(answer: httpx.Response, status: int, *said: str) -> None:
    assert answer.status_code == status, answer.text
    for word in said:
        assert word in answer.json()["error"]["message"], answer.text
