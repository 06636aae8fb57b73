"""Checks of texts that are being written."""

from __future__ import annotations

import time
from typing import Any

import pytest

from octavo.assistants.findings import text_checks
from world import World

from .test_scans import SITE, ScanScene

RULE = """Short words are easier to read.

```yaml
extends: substitution
message: Use ‘%s’, not ‘%s’.
ignorecase: true
swap:
  utilize: use
```
"""


class TextScene(ScanScene):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.guide = world.post("admin", f"{self.site}/styleguide", {})["id"]
        rule = {"operation": "insert_page", "title": "Use short words", "document": {"markdown": RULE}}
        self.world.post("admin", f"/spaces/{self.guide}/content", {"changes": [rule]})

    def check(self, *texts: str, who: str = "admin", page: str | None = None, **fields: Any) -> Any:
        body: dict[str, Any] = {"texts": [{"text": text, **fields} for text in texts]}
        query = f"?page={page}" if page is not None else ""
        return self.world.call(who, "POST", f"{self.site}/styleguide/checks{query}", json=body)

    def found(self, *texts: str, **options: Any) -> list[dict[str, Any]]:
        answer = self.check(*texts, **options)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["findings"]
        return found


@pytest.fixture
def scene(world: World) -> TextScene:
    return TextScene(world)


def test_texts_are_checked_against_the_style_guide(scene: TextScene) -> None:
    found = scene.found("Nothing to see.", "You utilize it. TODO: say how.")
    assert found == [
        {
            "text": 1,
            "start": 4,
            "end": 11,
            "kind": "style",
            "severity": "low",
            "title": "Use short words",
            "message": "Use ‘use’, not ‘utilize’.",
            "why": "Short words are easier to read.",
            "replacement": {"start": 4, "end": 11, "text": "use"},
        },
        {
            "text": 1,
            "start": 16,
            "end": 21,
            "kind": "placeholder",
            "severity": "medium",
            "title": "Text is unfinished",
            "message": "This text is unfinished.",
        },
    ]


def test_ranges_are_in_utf_16_code_units(scene: TextScene) -> None:
    [found] = scene.found("😀😀 Utilize it.")
    assert (found["start"], found["end"]) == (5, 12)
    assert found["replacement"] == {"start": 5, "end": 12, "text": "Use"}


def test_a_changed_rule_applies_at_once(scene: TextScene) -> None:
    assert len(scene.found("You utilize it.")) == 1
    [page] = scene.world.get("admin", f"/spaces/{scene.guide}/content/pages")["pages"]
    change = {
        "operation": "update_page",
        "page": page["id"],
        "document": {"markdown": RULE.replace("utilize", "leverage")},
    }
    scene.world.post("admin", f"/spaces/{scene.guide}/content", {"changes": [change]})
    assert scene.found("You utilize it.") == []
    assert len(scene.found("You leverage it.")) == 1


def test_dismissed_findings_of_a_page_are_not_found_again(scene: TextScene) -> None:
    scene.write("You utilize it.")
    scene.scan()
    [finding] = scene.list(query="status=open&kind=style")
    page = scene.place["pageId"]
    assert len(scene.found("You utilize it.", page=page)) == 1
    dismissed = {"status": "canceled"}
    path = f"{scene.site}/findings/{finding['id']}"
    assert scene.world.call("admin", "PATCH", path, json=dismissed).status_code == 200
    assert scene.found("You utilize it.", page=page) == []
    assert len(scene.found("You utilize it.")) == 1


def test_a_site_without_a_style_guide_checks_nothing(world: World) -> None:
    body = {"texts": [{"text": "You utilize it."}]}
    answer = world.call("admin", "POST", world.home.path(f"{SITE}/styleguide/checks"), json=body)
    assert answer.status_code == 404 and "no style guide" in answer.text


@pytest.mark.parametrize(
    ("texts", "status", "message"),
    [
        ([], 400, "texts"),
        ([{"text": "x" * 50_001}], 400, "texts[0].text"),
        ([{"text": "x"}] * 2_001, 400, "texts"),
        ([{"text": "x" * 40_000}] * 3, 413, "texts: must have at most 100,000 characters in total"),
        ([{"text": 1}], 400, "texts[0].text"),
    ],
)
def test_bad_texts_are_refused(scene: TextScene, texts: list[Any], status: int, message: str) -> None:
    answer = scene.world.call("admin", "POST", f"{scene.site}/styleguide/checks", json={"texts": texts})
    assert answer.status_code == status and message in answer.text


def test_rules_are_read_once_for_each_revision(scene: TextScene, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str | None] = []
    reading = text_checks.read_rules

    def noted(tx: Any, styleguide_id: str | None) -> Any:
        read.append(styleguide_id)
        return reading(tx, styleguide_id)

    monkeypatch.setattr(text_checks, "read_rules", noted)
    for _ in range(3):
        assert len(scene.found("You utilize it.")) == 1
    assert read == [scene.guide]


def test_hostile_texts_are_checked_quickly(scene: TextScene) -> None:
    started = time.process_time()
    scene.found("utilize " * 6_000, "\U0001f600" * 20_000)
    assert time.process_time() - started < 2


RULES = {
    "Define abbreviations": """extends: conditional
message: Define ‘%s’.
first: 'H[A-Z]{3}'
second: '\\(([A-Z]{3,})\\)'
""",
    "One spelling": """extends: consistency
message: Use ‘%s’ or ‘%s’ on a page, not both.
either:
  email: e-mail
""",
    "Sentence case": """extends: capitalization
message: Use sentence case.
scope: heading
match: $sentence
""",
}


def test_rules_that_compare_parts_of_a_page_apply_to_whole_pages_only(scene: TextScene) -> None:
    assert scene.check("You utilize it.").json()["comparesPage"] is False
    pages = [
        {"operation": "insert_page", "title": title, "document": {"markdown": f"```yaml\n{rule}```\n"}}
        for title, rule in RULES.items()
    ]
    scene.world.post("admin", f"/spaces/{scene.guide}/content", {"changes": pages})
    texts = [
        {"text": "Connect Active Directory Domains", "heading": True},
        {"text": "The service keeps HTTP sessions. TODO: send an email."},
        {"text": "You utilize the Active Directory, its Domains, and e-mail."},
        {"text": "Choose Another Colored Theme", "heading": True},
    ]
    path = f"{scene.site}/styleguide/checks"
    answer = scene.world.post("admin", path, {"texts": texts})
    assert answer["comparesPage"] is True
    assert [found["title"] for found in answer["findings"]] == ["Text is unfinished", "Use short words"]
    answer = scene.world.post("admin", path, {"texts": texts, "wholePage": True})
    assert [(found["text"], found["title"]) for found in answer["findings"]] == [
        (1, "Define abbreviations"),
        (2, "One spelling"),
        (3, "Sentence case"),
    ]
