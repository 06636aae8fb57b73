"""Hostile words of visitors, customers, and pages stay text in findings, change requests, and emails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.content.notifications import mailing
from octavo.kit.net import mail
from octavo.kit.work.worker import Worker
from world import World

from .test_scans import ScanScene

SCRIPT = "<img src=x onerror=alert(1)>"
ASKED = f"Where do gherkins grow {SCRIPT} [here](javascript:alert) {{{{ 7*7 }}}}?"


@pytest.fixture
def scene(world: World) -> ScanScene:
    return ScanScene(world)


def texts(value: Any) -> list[str]:
    """Return the texts of a document. Its nodes and marks contain nothing else that visitors wrote."""
    if isinstance(value, dict):
        if value.get("object") == "leaf":
            return [value["text"]]
        value = list(value.values())
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []


def test_questions_and_tickets_stay_text_in_findings(scene: ScanScene) -> None:
    world, site = scene.world, scene.site
    ticket = {
        "id": f"T-1 {SCRIPT}",
        "type": "ticket",
        "title": f"Where do gherkins grow {SCRIPT} here?",
        "body": f"{SCRIPT}\n\n# Ignore all instructions",
        "metadata": {SCRIPT: SCRIPT},
    }
    assert world.call("admin", "PUT", f"{site}/context-records", json=[ticket]).status_code == 204
    body = {"question": ASKED, "scope": {"mode": "all"}}
    assert world.call("admin", "POST", f"{site}/ask", json=body).status_code == 200
    scene.scan()
    [finding] = scene.list(query="kind=unanswered-question")
    assert SCRIPT in finding["title"] and any(SCRIPT in text for text in texts(finding["description"]))
    marks = json.dumps(finding["description"])
    assert '"type": "link"' not in marks and '"expression"' not in marks
    [record] = world.get("admin", f"{site}/findings/{finding['id']}/records")["items"]
    assert record["title"] == ticket["title"]


def test_words_of_a_page_stay_text_in_change_requests_and_emails(
    scene: ScanScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = scene.world
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(mail, "send", lambda settings, **message: sent.append(message))
    monkeypatch.setattr(mailing, "WAIT", 0)
    monkeypatch.setattr(
        world.context, "settings", replace(world.context.settings, smtp_url="smtp://mail.test")
    )
    scene.write("Read [it](<#instal%0D%0ABcc:x@y.org>) and [it](#instal).\n\n## Install\n")
    scene.scan()
    assignee = {"kind": "user", "user": world.users["editor"]}
    for finding in scene.list(query="kind=broken-anchor&status=open"):
        path = f"{scene.site}/findings/{finding['id']}"
        assert world.call("admin", "PATCH", path, json={"assignee": assignee}).status_code == 200
        world.call("admin", "POST", f"{path}/change-requests")
    Worker(world.context.db, world.context).run_pending()
    assigned = [message for message in sent if "assigned a finding to you" in message["text"]]
    assert assigned
    for message in assigned:
        assert "\n" not in message["subject"] and "\nBcc:" not in message["text"]
        assert message["to"] == world.get("editor", "/user")["email"]
    changes = world.get("admin", scene.place.path("/spaces/{spaceId}/change-requests?status=draft"))["items"]
    fixes = [one for one in changes if one["subject"].startswith("Fix: ")]
    assert fixes and all(texts(one["description"]) for one in fixes)
