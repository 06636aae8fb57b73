"""A site whose assistant is asked, with content for some visitors only."""

from __future__ import annotations

import json
from typing import Any

from world import World

QUESTION = "By which lever does a sprocket turn?"
HIDDEN = ("zqsecretlever", "zqhiddenpage", "zqcomment")
"""Content for some visitors, in words so long that no id contains one by chance."""
CLAIM = {"type": "boolean", "description": "Whether they pay"}
SCHEMA = {"type": "object", "properties": {"paying": CLAIM}, "additionalProperties": False}
UNSIGNED = {
    "type": "object",
    "description": "Unsigned claims of the site visitor.",
    "properties": {"beta": CLAIM},
    "additionalProperties": False,
}
TEXT = """# Sprockets

Anyone can turn a sprocket by hand.

{% if visitor.claims.unsigned.beta %}

The sprocket also turns by zqsecretlever.

{% endif %}

<!-- The sprocket is made of zqcomment. -->
"""


class Asking:
    """Site with one space, in which a page has content for some visitors only."""

    def __init__(self, world: World) -> None:
        self.world = world
        spaces = world.home.path("/orgs/{organizationId}/spaces")
        self.space = world.post("admin", spaces, {"title": "Parts"})["id"]
        self.fill(
            self.space,
            {"operation": "insert_page", "document": {"markdown": "# Start\n"}},
            {"operation": "insert_page", "document": {"markdown": TEXT}},
            {
                "operation": "insert_page",
                "document": {"markdown": "# Levers\n\nzqhiddenpage is a lever of the sprocket.\n"},
                "condition": "visitor.claims.paying",
            },
        )
        path = world.home.path("/orgs/{organizationId}/sites")
        self.id = world.post("admin", path, {"title": "Parts", "spaces": [self.space]})["id"]
        self.path = f"{path}/{self.id}"
        properties = {**SCHEMA["properties"], "unsigned": UNSIGNED}
        schema = {"jsonSchema": {**SCHEMA, "properties": properties}}
        assert world.call("admin", "PUT", f"{self.path}/adaptive-schema", json=schema).status_code == 200
        body = {"adaptiveContent": {"enabled": True}}
        assert world.call("admin", "PATCH", self.path, json=body).status_code == 200
        self.url = world.post("admin", f"{self.path}/publish")["urls"]["published"]

    def fill(self, space: str, *changes: dict[str, Any]) -> None:
        change = self.world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
        path = f"/spaces/{space}/change-requests/{change}"
        self.world.post("admin", f"{path}/content", {"changes": list(changes)})
        self.world.post("admin", f"{path}/merge")

    def visitor(self, **unsigned: Any) -> dict[str, str]:
        body = {"url": self.url, "visitor": {"unsignedClaims": unsigned}}
        token = self.world.post("nobody", "/urls/published", body)["apiToken"]
        return {"authorization": f"Bearer {token}"}

    def events(self, method: str, path: str, headers: dict[str, str] | None = None, **options: Any) -> Any:
        who = "nobody" if headers else "admin"
        answer = self.world.call(who, method, f"{self.path}/{path}", headers=headers or {}, **options)
        assert answer.status_code == 200, answer.text
        *events, done = answer.text.strip().split("\n\n")
        assert done.startswith("event: done\n")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def ask(self, headers: dict[str, str] | None, question: str) -> Any:
        body = {"question": question, "scope": {"mode": "default"}}
        found = self.events("POST", "ask", headers, json=body, params={"format": "markdown"})
        return found[-1]["answer"]
