"""Helpers for tests of change requests: a fresh space, and shortcuts for working in it."""

from __future__ import annotations

from typing import Any

import httpx

from world import World

PAGE = "# {title}\n\nFirst paragraph of {title}.\n\nSecond paragraph of {title}.\n"


class Space:
    """Space of the home organization with pages A, B, and C below B, in which any member of the cast can work."""

    def __init__(self, world: World) -> None:
        self.world = world
        made = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Fresh"})
        self.id = made["id"]
        self.path = f"/spaces/{self.id}"
        self.pages: dict[str, str] = {}
        for title, into in (("A", None), ("B", None), ("C", "B")):
            change = {"operation": "insert_page", "document": {"markdown": PAGE.format(title=title)}}
            if into:
                change["into"] = self.pages[into]
            answer = self.edit_main(change)
            self.pages[title] = answer["changes"][0]["page"]["id"]

    # --- short ways ---

    def create(self, who: str = "editor", **body: Any) -> str:
        return self.world.post(who, f"{self.path}/change-requests", body)["id"]

    def change(self, change: str | int) -> Any:
        return self.world.get("reader", f"{self.path}/change-requests/{change}")

    def url(self, change: str | None) -> str:
        return f"{self.path}/change-requests/{change}/content" if change else f"{self.path}/content"

    def try_edit(self, change: str | None, *changes: dict[str, Any], who: str = "editor") -> httpx.Response:
        return self.world.call(
            who, "POST", self.url(change), params={"compat": "false"}, json={"changes": list(changes)}
        )

    def edit(self, change: str | None, *changes: dict[str, Any]) -> Any:
        answer = self.try_edit(change, *changes)
        assert answer.is_success, answer.text
        return answer.json()

    def edit_main(self, *changes: dict[str, Any]) -> Any:
        return self.edit(None, *changes)

    def write(self, change: str | None, title: str, text: str) -> Any:
        """Return the whole source of a page."""
        return self.edit(change, update(self.pages[title], document={"markdown": text}))

    def try_merge(self, change: str, who: str = "reviewer") -> httpx.Response:
        return self.world.call(who, "POST", f"{self.path}/change-requests/{change}/merge")

    def merge(self, change: str, who: str = "reviewer") -> Any:
        answer = self.try_merge(change, who)
        assert answer.is_success, answer.text
        return answer.json()

    def update(self, change: str) -> Any:
        return self.world.post("editor", f"{self.path}/change-requests/{change}/update")

    def conflicts(self, change: str) -> list[Any]:
        return self.world.get("reader", f"{self.path}/change-requests/{change}/conflicts")["items"]

    def try_resolve(self, change: str, conflict: str, **body: Any) -> httpx.Response:
        path = f"{self.path}/change-requests/{change}/conflicts/{conflict}/resolve"
        return self.world.call("editor", "POST", path, json=body)

    def resolve(self, change: str, conflict: str, **body: Any) -> Any:
        answer = self.try_resolve(change, conflict, **body)
        assert answer.is_success, answer.text
        return answer.json()

    def reopen(self, change: str, conflict: str) -> httpx.Response:
        path = f"{self.path}/change-requests/{change}/conflicts/{conflict}/reopen"
        return self.world.call("editor", "POST", path)

    def settled(self, change: str) -> list[Any]:
        path = f"{self.path}/change-requests/{change}/conflicts"
        return self.world.get("reader", path, params={"status": "settled"})["items"]

    def page(self, title: str, change: str | None = None, format: str = "markdown") -> Any:
        page_id = self.pages.get(title, title)
        return self.world.get("reader", f"{self.url(change)}/page/{page_id}", params={"format": format})

    def text(self, title: str, change: str | None = None) -> str:
        return self.page(title, change)["markdown"]

    def tree(self, change: str | None = None) -> Any:
        """Return the titles as nested lists."""

        def of(pages: list[Any]) -> list[Any]:
            return [
                page["title"] if not page.get("pages") else [page["title"], *of(page["pages"])]
                for page in pages
            ]

        return of(self.world.get("reader", f"{self.url(change)}/pages")["pages"])

    def events(self, type: str) -> list[str]:
        with self.world.context.db.read() as tx:
            rows = tx.all(
                "SELECT payload FROM events WHERE space_id = :space AND type = :type ORDER BY id",
                space=self.id,
                type=type,
            )
        return [row[0] for row in rows]

    def set_rules(self, *rules: dict[str, Any]) -> None:
        import json

        with self.world.context.db.write() as tx:
            tx.run(
                "UPDATE spaces SET merge_rules = :rules WHERE id = :id",
                id=self.id,
                rules=json.dumps({"type": "rules", "rules": list(rules)}),
            )


def update(page: str, **fields: Any) -> dict[str, Any]:
    return {"operation": "update_page", "page": page, **fields}


def insert(markdown: str, **fields: Any) -> dict[str, Any]:
    return {"operation": "insert_page", "document": {"markdown": markdown}, **fields}
