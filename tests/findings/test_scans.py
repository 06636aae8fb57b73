"""Scans of a site: their findings, what they check again, and the life of findings."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from octavo.assistants.findings import scanning
from octavo.assistants.findings.store import insert_scan, link_change
from octavo.kit.clock import DAY, iso, now
from octavo.sites.openapi.processing import process_spec
from set_clock import SetClock
from world import PETS, World

SITE = "/orgs/{organizationId}/sites/{siteId}"
PAGE = """Read [the first step](#instal) and [the other page](missing-page.md).

## Install

TODO: write this.

![](nowhere.png)

```json
{"retries": 3,}
```

A message is retried 12 times before the worker parks it. It shows <code class="expression">space.vars.nothing</code>.
"""


class ScanScene:
    """A site with one page to break. ``text``: its Markdown; None to leave it as it is."""

    def __init__(self, world: World, text: str | None = PAGE) -> None:
        self.world, self.place = world, world.home
        # Tests before this one can have left pages of a space with the same ID and version.
        world.context.db.caches.clear()
        self.site = self.place.path(SITE)
        if text is not None:
            self.write(text)

    def write(self, text: str, page: str | None = None, **fields: Any) -> None:
        change = {"operation": "update_page", "page": page or self.place["pageId"], **fields}
        if text:
            change["document"] = {"markdown": text}
        self.change(change)

    def change(self, *changes: dict[str, Any]) -> None:
        self.world.post("admin", self.place.path("/spaces/{spaceId}/content"), {"changes": list(changes)})

    def scan(self) -> dict[str, Any]:
        with self.world.context.db.write() as tx:
            scan = insert_scan(tx, self.place["siteId"], "manual")
        scanning.scan_site(self.world.context, self.place["siteId"], self.place["organizationId"], scan.id)
        found: dict[str, Any] = self.world.get("admin", f"{self.site}/scans/{scan.id}")
        return found

    def list(self, who: str = "admin", query: str = "status=open") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.world.get(who, f"{self.site}/findings?limit=1000&{query}")["items"]
        return found

    def on_page(self, query: str = "status=open") -> dict[str, dict[str, Any]]:
        """Return the findings of the page by kind."""
        return {found["kind"]: found for found in self.list(query=f"{query}&pageId={self.place['pageId']}")}


@pytest.fixture
def scene(world: World) -> ScanScene:
    return ScanScene(world)


def test_a_scan_finds_the_problems_of_a_page(scene: ScanScene) -> None:
    scan = scene.scan()
    assert scan["status"] == "done" and 0 <= scan["score"] < 100
    found = scene.on_page()
    assert set(found) == {
        "broken-link",
        "broken-anchor",
        "missing-image",
        "alt-text",
        "placeholder",
        "code-sample",
        "undefined-variable",
    }
    assert found["broken-link"]["title"] == "Link to a missing page: missing-page.md"
    assert found["broken-link"]["type"] == "broken-link" and found["broken-link"]["severity"] == "high"
    assert found["code-sample"]["evidence"][0]["message"].startswith("JSON: ")
    assert found["undefined-variable"]["title"].endswith("space.vars.nothing")
    assert found["placeholder"]["evidence"][0]["quote"] == "TODO: write this."
    assert found["placeholder"]["evidence"][0]["page"]["id"] == scene.place["pageId"]
    assert sum(scan["findings"].values()) == len(scene.list())
    health = scene.world.get("admin", f"{scene.site}/health")
    assert health["score"] == scan["score"] and health["open"] == len(scene.list())
    assert {area["area"] for area in health["areas"]} == {
        "links",
        "freshness",
        "consistency",
        "style",
        "accessibility",
        "findability",
    }


def test_a_finding_closes_once_it_is_fixed_and_opens_again_if_it_returns(scene: ScanScene) -> None:
    scene.scan()
    first = scene.on_page()["placeholder"]["id"]
    scene.write(PAGE.replace("TODO: write this.", "Written."))
    scene.scan()
    assert "placeholder" not in scene.on_page()
    assert scene.on_page("status=done")["placeholder"]["id"] == first
    scene.write(PAGE)
    scene.scan()
    assert scene.on_page()["placeholder"]["id"] == first


def test_a_dismissed_finding_stays_dismissed(scene: ScanScene) -> None:
    scene.scan()
    finding = scene.on_page()["alt-text"]["id"]
    answer = scene.world.call(
        "editor", "PATCH", f"{scene.site}/findings/{finding}", json={"status": "canceled"}
    )
    assert answer.json()["status"] == "canceled"
    scene.scan()
    assert "alt-text" not in scene.on_page() and "alt-text" in scene.on_page("status=canceled")
    with scene.world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM audit_events WHERE action = 'siteFinding.updated'") == 1


def test_a_scan_checks_only_pages_that_changed(scene: ScanScene, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[object] = []
    check_text = scanning.check_text
    monkeypatch.setattr(scanning, "check_text", lambda *given: checked.append(1) or check_text(*given))
    scene.scan()
    assert len(checked) > 3
    checked.clear()
    scene.scan()
    assert checked == []
    scene.write(PAGE + "\nMore.\n")
    scene.scan()
    assert len(checked) == 1


def test_a_page_that_cannot_be_checked_keeps_its_findings_until_the_next_scan(
    scene: ScanScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.scan()
    assert "placeholder" in scene.on_page()
    scene.write("Finished.\n")
    with monkeypatch.context() as failing:
        failing.setattr(scanning, "check_text", lambda *given: None)
        assert scene.scan()["status"] == "done"
    assert "placeholder" in scene.on_page()
    scene.scan()
    assert "placeholder" not in scene.on_page()


def test_pages_that_differ_in_one_number_contradict_each_other(scene: ScanScene) -> None:
    text = "A message is retried {} times before the worker parks it."
    other = scene.world.get("admin", scene.place.path("/spaces/{spaceId}/content/path/writing"))["id"]
    scene.write(text.format(10), page=other)
    scene.scan()
    (found,) = scene.list(query="kind=contradiction&status=open")
    assert found["title"] == "Pages contradict each other: 10 or 12" and found["pages"] == 2
    assert {each["quote"] for each in found["evidence"]} == {text.format(10), text.format(12)}
    scene.write(text.format(12), page=other)
    scene.scan()
    assert scene.list(query="kind=contradiction&status=open") == []


def test_pages_with_the_same_headings_do_not_contradict_each_other(scene: ScanScene) -> None:
    other = scene.world.get("admin", scene.place.path("/spaces/{spaceId}/content/path/writing"))["id"]
    for page, number in ((None, 12), (other, 10)):
        scene.write(
            "## Name\n\n## Decimals\n\n## Transfers\n\n"
            f"A message is retried {number} times before the worker parks it.",
            page=page,
        )
    scene.scan()
    assert scene.list(query="kind=contradiction&status=open") == []


def test_values_that_are_not_known_yet_are_not_findings(scene: ScanScene) -> None:
    scene.write(
        "| Version | End of support |\n|---|---|\n| 9 | TBD |\n| 8 | 2027-01-01 |\n\n"
        "```js\nif (error) {\n  stop(error)\n} else if (/* it is a test */) {\n  run()\n}\n```\n\n"
        "```js\nconst tracer = /* from elsewhere */\nconst spans = new WeakMap()\nrun(spans)\n```\n\n"
        "```ts\ninterface A extends B {\n  kind: C extends /* a check */ ? /* a type */ : never;\n}\n```\n\n"
        "```ts\nimport { forward } from 'tools';\n\n// In your options:\nprepare: forward,\n```\n"
    )
    scene.scan()
    assert scene.on_page() == {}
    scene.write(
        "| A | B |\n|---|---|\n| 9 | TODO |\n\n```js\nrun(/* one */ {\n  a: 1\n  b: 2\n})\nstop()\n```\n"
    )
    scene.scan()
    assert set(scene.on_page()) == {"placeholder", "code-sample"}
    scene.write("TBD")
    scene.scan()
    assert set(scene.on_page()) == {"placeholder"}


@pytest.mark.parametrize(
    ("link", "heading", "fixable"),
    [
        ("63-4-2-deduplication", "64.4.3. Deduplication", True),
        ("recieving", "Receiving", True),
        ("table-comment-functions", "Table session functions", False),
        ("step-2", "Step 3", False),
    ],
)
def test_only_the_same_section_is_suggested_for_a_missing_one(
    scene: ScanScene, link: str, heading: str, fixable: bool
) -> None:
    scene.write(f"Read [it](#{link}).\n\n## {heading}\n\nWords.\n")
    scene.scan()
    assert scene.on_page()["broken-anchor"]["autoFixable"] is fixable


def test_hidden_pages_without_links_are_found(scene: ScanScene) -> None:
    page = {"operation": "insert_page", "title": "Lost", "hidden": True, "document": {"markdown": "Words."}}
    scene.change(page)
    scene.scan()
    (found,) = scene.list(query="kind=unlinked-page&status=open")
    assert found["evidence"][0]["page"]["title"] == "Lost"
    ref = {"kind": "page", "page": found["evidence"][0]["page"]["id"]}
    words = {"object": "text", "leaves": [{"object": "leaf", "text": "Found", "marks": []}]}
    link = {"object": "inline", "type": "link", "data": {"ref": ref}, "nodes": [words]}
    nodes = [{"object": "block", "type": "paragraph", "data": {}, "nodes": [link]}]
    page = {"operation": "update_page", "page": scene.place["pageId"], "document": {"document": nodes}}
    scene.change(page)
    scene.scan()
    assert scene.list(query="kind=unlinked-page&status=open") == []


def test_a_removed_operation_of_an_api_is_found(scene: ScanScene) -> None:
    scene.write(
        '{% openapi-operation spec="pets" path="/gone" method="get" %}\n[Pets](https://x.test)\n'
        "{% endopenapi-operation %}\n"
    )
    scene.scan()
    found = scene.on_page()
    assert found["removed-operation"]["title"] == "Operation was removed from the API: GET /gone"
    (missing,) = scene.list(query="kind=undocumented-operations&status=open")
    assert missing["severity"] == "low" and missing["pages"] == 0


def test_a_page_that_is_older_than_its_operation_is_found(scene: ScanScene, clock: SetClock) -> None:
    world, text = scene.world, PETS.read_text()
    shown = (
        '{% openapi-operation spec="pets" path="/pets" method="get" %}\n[Pets](https://x.test)\n'
        "{% endopenapi-operation %}\n"
    )
    scene.write(shown)
    clock.advance(DAY)
    spec = yaml.safe_load(text)
    parameter = {"name": "color", "in": "query", "required": True, "schema": {"type": "string"}}
    spec["paths"]["/pets"]["get"].setdefault("parameters", []).append(parameter)
    source = {"slug": "pets", "source": {"text": json.dumps(spec)}}
    world.call("admin", "PUT", scene.place.path("/orgs/{organizationId}/openapi/{specSlug}"), json=source)
    process_spec(world.context, scene.place["specId"], 2)

    def outdated() -> list[dict[str, Any]]:
        scene.scan()
        return scene.list(query="kind=changed-operation&status=open")

    assert outdated() == []
    clock.advance(31 * DAY)
    [found] = outdated()
    assert (
        found["title"] == "Operation changed since the page was last updated: GET /pets"
        and found["type"] == "content-outdated"
    )
    assert found["evidence"][0]["message"] == "Query parameter color: A required parameter was added."
    # The page is verified, so people know that it still fits.
    change = {"operation": "update_page", "page": scene.place["pageId"], "verifiedOn": iso(now())[:10]}
    scene.change(change)
    assert outdated() == []


def test_a_link_is_fixed_in_a_change_request(scene: ScanScene) -> None:
    scene.scan()
    finding = scene.on_page()["broken-anchor"]
    assert finding["autoFixable"] and finding["changeRequests"] == 0
    path = f"{scene.site}/findings/{finding['id']}/change-requests"
    assert scene.world.call("editor", "POST", path).status_code == 202
    (change,) = scene.world.get("reader", path)["items"]
    assert change["status"] == "draft" and change["subject"].startswith("Fix: Link to a missing section")
    page = f"/spaces/{scene.place['spaceId']}/change-requests/{change['id']}/content/page/{scene.place['pageId']}"
    written = scene.world.get("admin", f"{page}?format=markdown")["markdown"]
    assert "[the first step](#install)" in written and written.count("TODO: write this.") == 1
    assert scene.on_page()["broken-anchor"]["changeRequests"] == 1
    again = scene.world.call("editor", "POST", path)
    assert again.status_code == 409 and "already fixes this" in again.text
    scene.world.post("admin", f"/spaces/{scene.place['spaceId']}/change-requests/{change['id']}/merge")
    scene.scan()
    assert "broken-anchor" not in scene.on_page()
    assert scene.world.get("admin", f"{scene.site}/stats/findings")["mergedChangeRequests"] == 1


def test_a_finding_that_needs_a_decision_is_not_fixed(scene: ScanScene) -> None:
    scene.scan()
    finding = scene.on_page()["placeholder"]
    assert not finding["autoFixable"]
    answer = scene.world.call("editor", "POST", f"{scene.site}/findings/{finding['id']}/change-requests")
    assert answer.status_code == 409 and "Edit the page instead" in answer.text


def test_findings_of_hidden_spaces_are_hidden(scene: ScanScene) -> None:
    scene.scan()
    finding = scene.on_page()["placeholder"]["id"]
    space = scene.place["spaceId"]
    answer = scene.world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    assert answer.status_code == 200, answer.text
    assert finding in {found["id"] for found in scene.list()}
    assert finding not in {found["id"] for found in scene.list("reader")}
    assert scene.world.call("reader", "GET", f"{scene.site}/findings/{finding}").status_code == 404
    stats = scene.world.get("reader", f"{scene.site}/stats/findings")
    assert stats["total"] == len(scene.list("reader", "")) < len(scene.list("admin", ""))


def test_findings_of_a_deleted_page_are_removed(scene: ScanScene) -> None:
    scene.scan()
    scene.change({"operation": "delete_page", "page": scene.place["pageId"]})
    scene.scan()
    assert [found for found in scene.list() if found["kind"] in ("placeholder", "code-sample")] == []


def test_a_site_without_spaces_and_a_deleted_site_can_be_scanned(scene: ScanScene) -> None:
    organization = scene.place["organizationId"]
    site = scene.world.post("admin", f"/orgs/{organization}/sites", {"title": "Empty"})["id"]
    with scene.world.context.db.write() as tx:
        scan = insert_scan(tx, site, "manual")
    scanning.scan_site(scene.world.context, site, organization, scan.id)
    health = scene.world.get("admin", f"/orgs/{organization}/sites/{site}/health")
    assert health["score"] == 100
    assert scene.world.call("admin", "DELETE", f"/orgs/{organization}/sites/{site}").status_code in (204, 205)
    scanning.scan_site(scene.world.context, site, organization, scan.id)


def test_two_requests_share_one_scan(scene: ScanScene) -> None:
    path = f"{scene.site}/scans"
    first = scene.world.call("editor", "POST", path)
    assert first.status_code == 202 and first.headers["location"].endswith(first.json()["id"])
    assert scene.world.call("admin", "POST", path).json()["id"] == first.json()["id"]
    with scene.world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM jobs WHERE kind = 'scanSite'") == 1


def test_a_broken_link_in_reusable_content_says_where_it_is(scene: ScanScene) -> None:
    document = {"markdown": "See [the rules](gone.md)."}
    scene.change({"operation": "insert_reusable_content", "title": "Notice", "document": document})
    scene.scan()
    [found] = [one for one in scene.list() if "gone.md" in one["title"]]
    assert [(one["quote"], one["message"]) for one in found["evidence"]] == [
        ("gone.md", "This is in the reusable content “Notice”.")
    ]


def test_tickets_about_an_unanswered_question_are_its_evidence(scene: ScanScene) -> None:
    tickets = [
        {"id": "1", "type": "ticket", "title": "Gherkins: where do they grow?", "body": "I can't find it."},
        {
            "id": "2",
            "type": "ticket",
            "title": "How do I reset my password?",
            "body": "Where do gherkins grow?",
        },
    ]
    world, path = scene.world, f"{scene.site}/context-records"
    assert world.call("admin", "PUT", path, json=tickets).status_code == 204
    body = {"question": "Where do gherkins grow?", "scope": {"mode": "all"}}
    assert world.call("admin", "POST", f"{scene.site}/ask", json=body).status_code == 200
    scene.scan()
    [finding] = world.get("admin", f"{scene.site}/findings?kind=unanswered-question")["items"]
    assert finding["records"] == 1
    [record] = world.get("editor", f"{scene.site}/findings/{finding['id']}/records")["items"]
    assert record["title"] == tickets[0]["title"]
    assert world.call("reader", "GET", f"{scene.site}/findings/{finding['id']}/records").status_code == 403

    def found(source: str) -> list[str]:
        items = world.get("admin", f"{scene.site}/findings", params={"source": source})["items"]
        return [one["id"] for one in items]

    assert found(f"connection:{record['connection']}") == found("questions") == [finding["id"]]
    assert found("connection:other") == []
    stats = world.get("admin", f"{scene.site}/stats/findings?kind=unanswered-question")
    assert stats["connectors"] == {"builtin:api": 1}
    refused = world.call("admin", "GET", f"{scene.site}/findings?source=tickets")
    assert refused.status_code == 400 and refused.json()["error"]["message"].startswith("source")
    connection = f"{scene.site}/context-connections/{record['connection']}"
    assert world.call("admin", "DELETE", connection).status_code == 205
    assert world.get("admin", f"{scene.site}/findings/{finding['id']}")["records"] == 0


def test_a_change_request_names_the_topic_of_the_finding_that_it_fixes(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    for question in ("Where do gherkins grow?", "Which gherkins taste sour?", "Who sells gherkins cheaply?"):
        body = {"question": question, "scope": {"mode": "all"}}
        assert world.call("admin", "POST", f"{scene.site}/ask", json=body).status_code == 200
    scene.scan()
    [topic] = world.get("admin", f"{scene.site}/topics")["items"]
    finding = world.get("admin", f"{scene.site}/findings?topic={topic['id']}")["items"][0]
    path = f"/spaces/{place['spaceId']}/change-requests"
    change = world.post("admin", path, {"subject": "About gherkins"})
    with world.context.db.write() as tx:
        link_change(tx, finding["id"], change["id"])
    expected = {"site": place["siteId"], "topic": topic["id"], "finding": finding["id"]}
    assert world.get("admin", f"{path}/{change['id']}")["siteTopic"] == expected
    listed = place.path("/orgs/{organizationId}/change-requests?status=draft")

    def found(query: str) -> bool:
        return change["id"] in [one["id"] for one in world.get("admin", f"{listed}&{query}")["items"]]

    assert found(f"topic={topic['id']}") and found("finding=all")
    assert not found("topic=other") and not found("finding=none")
    in_space = world.get("admin", f"{path}?status=draft&topic={topic['id']}")["items"]
    assert [one["id"] for one in in_space] == [change["id"]]
    # A finding about the whole site quotes visitors, so people who can't see all pages don't see it.
    assert world.get("editor", f"{path}/{change['id']}")["siteTopic"] == expected
    page = world.get("admin", place.path("/spaces/{spaceId}/content/path/writing"))["id"]
    only_admin = [{"kind": "user", "user": world.users["admin"], "level": "read"}]
    scene.change({"operation": "update_page", "page": page, "visibleTo": only_admin})
    assert "finding" not in world.get("editor", f"{path}/{change['id']}")["siteTopic"]
    world.call("admin", "PATCH", scene.site, json={"defaultLevel": None})
    assert "siteTopic" not in world.get("editor", f"{path}/{change['id']}")


def test_a_site_has_the_time_of_its_last_scan(scene: ScanScene) -> None:
    assert "lastScanAt" not in scene.world.get("admin", scene.site)
    scene.scan()
    [scan] = scene.world.get("admin", f"{scene.site}/scans")["items"]
    assert scene.world.get("admin", scene.site)["lastScanAt"] == scan["finishedAt"]


def test_a_finding_is_ignored_on_one_of_its_pages(scene: ScanScene) -> None:
    link = "See [the other page](missing-page.md)."
    scene.write(link)
    scene.change({"operation": "insert_page", "title": "Second", "document": {"markdown": link}})
    scene.scan()
    finding = scene.on_page()["broken-link"]
    assert (finding["pages"], finding["ignoredPages"]) == (2, 0)
    path, page = f"{scene.site}/findings/{finding['id']}", scene.place["pageId"]
    ignored = f"{path}/ignored-pages/{page}"
    call = scene.world.call
    for body in ({}, {"reason": ""}, {"reason": "x" * 501}):
        assert call("admin", "PUT", ignored, json=body).status_code == 400
    assert call("reader", "PUT", ignored, json={"reason": "Known"}).status_code == 403
    missing = call("admin", "PUT", f"{path}/ignored-pages/none", json={"reason": "Known"})
    assert missing.status_code == 404 and "isn't about a page" in missing.text
    shown = call("admin", "PUT", ignored, json={"reason": "Known"}).json()
    assert (shown["status"], shown["ignoredPages"], len(shown["evidence"])) == ("open", 1, 1)
    assert shown["evidence"][0]["page"]["title"] == "Second"
    assert "broken-link" not in scene.on_page() and "broken-link" in scene.on_page("status=")
    pages = {one["page"]["title"]: one for one in scene.world.get("admin", f"{path}/pages")["items"]}
    assert [one["ignored"]["reason"] for one in pages.values() if "ignored" in one] == ["Known"]
    scene.scan()
    assert "broken-link" not in scene.on_page() and len(scene.list(query="status=open&kind=broken-link")) == 1
    # Ignored on all pages, it is dismissed; on a further page, it opens again.
    second = pages["Second"]["page"]["id"]
    both = call("admin", "PUT", f"{path}/ignored-pages/{second}", json={"reason": "Known"}).json()
    assert both["status"] == "canceled"
    scene.scan()
    assert scene.world.get("admin", path)["status"] == "canceled"
    scene.change({"operation": "insert_page", "title": "Third", "document": {"markdown": link}})
    scene.scan()
    found = scene.world.get("admin", path)
    assert (found["status"], [one["page"]["title"] for one in found["evidence"]]) == ("open", ["Third"])
    assert call("admin", "DELETE", ignored).status_code == 205
    assert call("admin", "DELETE", ignored).status_code == 204
    assert "broken-link" in scene.on_page()
    # Dismissing applies to all pages, and so does reopening.
    assert call("admin", "PATCH", path, json={"status": "canceled"}).json()["ignoredPages"] == 0
    refused = call("admin", "PUT", ignored, json={"reason": "Known"})
    assert refused.status_code == 409 and "dismissed on all pages" in refused.text


def test_restoring_the_only_page_reopens_a_finding(scene: ScanScene) -> None:
    scene.scan()
    finding = scene.on_page()["broken-anchor"]
    ignored = f"{scene.site}/findings/{finding['id']}/ignored-pages/{scene.place['pageId']}"
    call = scene.world.call
    assert call("admin", "PUT", ignored, json={"reason": "A script adds it"}).json()["status"] == "canceled"
    scene.write("Nothing is broken.")
    scene.scan()
    scene.write(PAGE)
    scene.scan()
    assert "broken-anchor" not in scene.on_page(), "a problem that returns stays ignored on the page"
    assert call("admin", "DELETE", ignored).status_code == 205
    assert scene.on_page()["broken-anchor"]["status"] == "open"


def test_findings_are_found_by_text_and_space(scene: ScanScene) -> None:
    scene.scan()

    def kinds(query: str) -> set[str]:
        return {one["kind"] for one in scene.list(query=f"status=open&{query}")}

    assert kinds("search=MISSING-page") == {"broken-link"}
    assert kinds("search=Link to a missing") >= {"broken-link", "broken-anchor"}
    assert kinds("search=%25") == set() == kinds("search=%22quote%22:")
    assert kinds("search=instal&kind=broken-link") == set()
    assert kinds(f"space={scene.place['spaceId']}") and kinds("space=none") == set()
    path = f"{scene.site}/findings?search={'x' * 201}"
    assert scene.world.call("admin", "GET", path).status_code == 400


def test_a_page_that_is_deleted_while_it_is_scanned_has_no_findings(
    scene: ScanScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.change({"operation": "insert_page", "title": "Second", "document": {"markdown": "TODO: write."}})
    check = scanning.check_space

    def check_and_delete(*arguments: Any) -> Any:
        found = check(*arguments)
        if arguments[1] == scene.place["spaceId"]:
            scene.change({"operation": "delete_page", "page": scene.place["pageId"]})
        return found

    monkeypatch.setattr(scanning, "check_space", check_and_delete)
    assert scene.scan()["status"] == "done"
    # A link of another page to the deleted one is broken now.
    found = {each["kind"]: each["evidence"][0]["page"]["title"] for each in scene.list()}
    assert found == {"placeholder": "Second", "broken-link": "Handbook"}


def test_two_scans_at_once_find_each_problem_once(scene: ScanScene) -> None:
    context, site, organization = scene.world.context, scene.place["siteId"], scene.place["organizationId"]
    with context.db.write() as tx:
        scans = [insert_scan(tx, site, "manual").id for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda scan: scanning.scan_site(context, site, organization, scan), scans))
    done = {scan["id"]: scan["status"] for scan in scene.world.get("admin", f"{scene.site}/scans")["items"]}
    assert [done[scan] for scan in scans] == ["done", "done"]
    found = scene.list()
    assert len({(each["kind"], each["title"]) for each in found}) == len(found) > 5


def test_pages_in_twelve_languages_have_no_false_findings(scene: ScanScene) -> None:
    sentences = {
        "ar": "تعاد محاولة إرسال الرسالة 10 مرات.",
        "de": "Eine Nachricht wird 10 Mal gesendet.",
        "el": "Το μήνυμα αποστέλλεται 10 φορές.",
        "es": "Un mensaje se envía 10 veces. Escriba todo en el campo.",
        "fr": "Un message est envoyé 10 fois.",
        "he": "ההודעה נשלחת 10 פעמים.",
        "hi": "संदेश 10 बार भेजा जाता है।",
        "ja": "メッセージは10回送信されます。",
        "ko": "메시지는 10번 전송됩니다.",
        "pt": "Uma mensagem é enviada 10 vezes. Todo o texto fica aqui.",
        "ru": "Сообщение отправляется 10 раз.",
        "zh": "消息会发送 10 次。",
    }
    scene.write("Start.")
    for language, text in sentences.items():
        document = {"markdown": f"## {language}\n\n{text}\n"}
        scene.change({"operation": "insert_page", "title": language, "document": document})
    assert scene.scan()["status"] == "done"
    assert scene.list() == []
