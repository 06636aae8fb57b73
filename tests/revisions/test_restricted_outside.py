"""Restricted pages leave no trace in sites, answers, findings, and counts of searches."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from typing import Any

import pytest

from findings.test_scans import ScanScene
from insights.test_insights import Site
from model_server import ModelServer, world_with_model
from octavo.assistants.ask.site_answers import SiteAnswer, keep_answer
from octavo.assistants.questions.recording import record_answer
from octavo.assistants.questions.types import AnswerPage, Asked, Resolution
from octavo.kit.clock import DAY, iso, now
from octavo.kit.ids import new_id
from octavo.organization.access.authorization import site_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from openapi.specs import processed
from revisions.test_restricted_elsewhere import ADMINISTRATORS, SPACE, WORD, edit, insert, restrict, work
from set_clock import SetClock
from visiting import Visitor
from world import NOBODY, World

SITE = "/orgs/{organizationId}/sites/{siteId}"
ON_SITES = [*ADMINISTRATORS, {"kind": "sites"}]


def publish(world: World) -> str:
    """Publish the site for everyone, and return its URL."""
    site = world.home.path(SITE)
    assert world.call("admin", "PATCH", site, json={"visibility": "public"}).is_success
    return str(world.post("admin", f"{site}/publish")["urls"]["published"])


def visit(world: World, url: str) -> dict[str, str]:
    """Return the headers with which a renderer reads a site on behalf of a visitor."""
    found = world.post(NOBODY, "/urls/published", {"url": url})
    return {"authorization": f"Bearer {found['apiToken']}"}


def test_exact_counts_of_searches_leave_out_restricted_pages(world: World) -> None:
    """There are more matching pages than a search reads."""
    page = {"operation": "insert_page", "document": {"markdown": "Zebrafish swim.\n"}}
    edit(world, SPACE, *({**page, "title": f"Zebrafish {number}"} for number in range(70)))
    hidden = insert(world, SPACE, "Plans", text="Zebrafish swim in secret.\n")

    def count(who: str) -> tuple[int, bool]:
        params = {"query": "zebrafish", "limit": "2"}
        found = world.get(who, world.home.path(f"{SPACE}/search"), params=params)
        return found["count"], "countIsLowerBound" in found

    assert count("admin") == count("editor") == (71, False)
    restrict(world, SPACE, ADMINISTRATORS, hidden)
    assert count("admin") == (71, False) and count("editor") == (70, False)


# --- answers --------------------------------------------------------------------------------------------

QUESTION = "How do salaries grow with quokka bonuses?"


def test_an_answer_that_a_model_wrote_with_a_restricted_page_is_hidden(
    world: World, server: ModelServer
) -> None:
    """The answer doesn't cite the page."""
    page = insert(world, SPACE, "Salaries", text="Salaries grow with secret quokka bonuses.\n")
    insert(world, SPACE, "Bonuses", text="Quokka bonuses exist, and salaries grow.\n")
    restrict(world, SPACE, ADMINISTRATORS, page)

    def answer(request: dict[str, Any]) -> str:
        (number,) = re.findall(r"\[(\d)\] Bonuses", str(request))
        return f"{WORD} salaries grow with quokka bonuses [{number}]."

    server.answer = answer
    site = world.home.path(SITE)
    with world_with_model(world, server):
        asked = {"question": QUESTION, "scope": {"mode": "all"}}
        assert WORD in world.call("admin", "POST", f"{site}/ask", json=asked).text

    def answers(who: str) -> str:
        found = world.get(who, f"{site}/answers")["items"]
        return str([world.get(who, f"{site}/answers/{one['id']}") for one in found])

    assert WORD in answers("admin") and WORD not in answers("editor")
    restrict(world, SPACE, [], page)
    assert WORD in answers("editor")


@pytest.mark.parametrize("who", ["editor", NOBODY])
def test_kept_answers_end_when_a_page_is_restricted(world: World, who: str) -> None:
    page = insert(world, SPACE, "Salaries", text=f"Salaries grow with {WORD} quokka bonuses.\n")
    site, options = world.home.path(f"{SITE}/ai/response"), {}
    if who == NOBODY:
        options = {"headers": visit(world, publish(world))}
    asked = {"input": [{"role": "user", "content": QUESTION}]}
    given = world.call(who, "POST", site, json=asked, **options).text
    (response,) = set(re.findall(r'"responseId":"(\w+)"', given))
    assert WORD in given and WORD in world.call(who, "GET", f"{site}/{response}", **options).text
    restrict(world, SPACE, ADMINISTRATORS, page)
    answer = world.call(who, "GET", f"{site}/{response}", **options)
    assert answer.status_code == 404 and WORD not in answer.text


def ask(world: World, question: str, *pages: str, answered: Resolution = "yes") -> None:
    """Record an answer that is based on these pages."""
    sources = [AnswerPage(world.home["spaceId"], id, "", "A page", 80) for id in pages]
    asked = Asked(world.home["siteId"], "site", new_id())
    with world.context.db.write() as tx:
        record_answer(tx, world.context.settings, asked, question, answered, [], sources)


def test_lists_of_questions_are_not_sorted_by_answers_from_restricted_pages(
    world: World, clock: SetClock
) -> None:
    site, page = world.home.path(SITE), insert(world, SPACE, "Plans")
    for question in ("Where are gherkins sold?", "Do cucumbers grow fast?", "Do cucumbers grow fast?"):
        ask(world, question, world.home["pageId"])
        clock.advance(DAY)

    def listed(who: str, sort: str) -> list[tuple[str, str]]:
        found, params = [], {"limit": "1", "sort": sort}
        while True:
            answer = world.get(who, f"{site}/questions", params=params)
            found += [(one["question"], one["askedAt"]) for one in answer["items"]]
            if "next" not in answer:
                return [one for one in found if "gherkins" in one[0] or "cucumbers" in one[0]]
            token = answer["next"]["page"]
            assert who == "admin" or "[8," not in str(b64decode(f"{token}===", b"-_"))
            params["page"] = token

    sorts = ("stats.answers", "askedAt", "stats.answered")
    before = [listed("editor", sort) for sort in sorts]
    for _ in range(7):
        ask(world, "Where are gherkins sold?", page)
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert [listed("editor", sort) for sort in sorts] == before
    assert all(listed("admin", sort)[0][0] == "Where are gherkins sold?" for sort in sorts)


def test_pages_computed_from_a_restricted_source_are_restricted(world: World) -> None:
    """Their answers and visits are hidden, too."""
    operation = {"operationId": "run", "summary": "Run", "responses": {"200": {"description": "Fine"}}}
    described = {
        "openapi": "3.1.0",
        "info": {"title": "one", "version": "1"},
        "paths": {"/": {"get": operation}},
    }
    processed(world, "one", {"text": json.dumps(described)})
    source = {
        "type": "builtin:openapi",
        "props": {"grouping": "by-operation"},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "one"}}},
    }
    body = {"title": "Api", "computedSource": source}
    site, ids = world.home.path(SITE), world.home.ids
    ids["spaceId"] = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), body)["id"]
    shown = world.post("admin", f"{site}/sections", {"spaceId": ids["spaceId"], "title": "Api"})
    ids["siteSpaceId"] = shown["siteSpaces"][0]["id"]
    insert(world, SPACE, "Home")
    publish(world)
    content = f"/spaces/{ids['spaceId']}/content/pages"
    (whole,) = (one for one in world.get("admin", content)["pages"] if one["title"] == "Other")
    page = whole["pages"][0]["id"]
    ask(world, f"What is {WORD}?", page)
    events = Site(world)
    ids["pageId"] = page
    events.track(events.event(url=f"https://docs.test/{WORD}"))
    work(world)
    query = {
        "range": "last30Days",
        "select": [{"column": "eventsCount"}],
        "groupBy": [{"column": "page"}, {"column": "url"}],
    }

    def found(who: str) -> list[str]:
        insights = world.call(who, "POST", f"{site}/insights/events/aggregate", json=query)
        return [world.call(who, "GET", f"{site}/answers").text, insights.text]

    def keep(who: str) -> str:
        """Keep a response of the assistant, and return its URL."""
        actor = actor_for_job(world.users[who], ids["organizationId"])
        with world.context.db.read() as tx:
            access = site_access(tx, actor, Can.VIEW, ids["organizationId"], ids["siteId"])
        answer = SiteAnswer([WORD], [], [f"What is {WORD}?"], [(ids["spaceId"], page)])
        keep_answer(world.context, access, id := new_id(), answer)
        return f"{site}/ai/response/{id}"

    kept = {who: keep(who) for who in ("admin", "editor")}
    assert all(WORD in text for who in kept for text in [*found(who), world.call(who, "GET", kept[who]).text])
    pages = world.get("admin", content, params={"computed": "false"})["pages"]
    (hidden,) = (one["id"] for one in pages if one["type"] == "computed")
    for grants in (ADMINISTRATORS, ON_SITES):
        restrict(world, SPACE, grants, hidden)
        assert all(WORD in text for text in found("admin"))
        assert not any(WORD in text or page in text for text in found("editor"))
        assert world.call("editor", "GET", kept["editor"]).status_code == 404
        assert world.call("admin", "GET", kept["admin"]).is_success


# --- sites ----------------------------------------------------------------------------------------------


def test_a_preview_of_a_change_request_shows_no_page_that_its_creator_cannot_see(world: World) -> None:
    page = insert(world, SPACE, "Plans", text="Old prices.\n")
    restrict(world, SPACE, ON_SITES, page)
    changes = world.home.path(f"{SPACE}/change-requests")
    made = world.post("admin", changes, {"subject": "Prices"})["id"]
    update = {"operation": "update_page", "page": page, "document": {"markdown": f"{WORD} prices.\n"}}
    world.post("admin", f"{changes}/{made}/content", {"changes": [update]})
    preview = world.home.path(f"{SITE}/publishing/preview")
    visitor = Visitor(world.context)
    for who, sees in (("admin", True), ("editor", False), ("reader", False)):
        url = world.get(who, preview, params={"changeRequest": made})["url"]
        token = url.partition("preview_token=")[2]
        shown = visitor.get("/home/docs/plans", Cookie=f"octavo-preview={token}")
        assert (WORD in shown.text) == sees
        headers = {"authorization": f"Bearer {token}"}
        path = world.home.path(f"{SPACE}/content/page/{page}")
        assert (WORD in world.call(NOBODY, "GET", path, headers=headers).text) == sees


# --- findings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grants", [ADMINISTRATORS, ON_SITES])
def test_a_finding_is_hidden_with_the_changelog_that_it_quotes(
    world: World, clock: SetClock, grants: list[dict[str, str]]
) -> None:
    scene = ScanScene(world)
    scene.write("Set `max_attempts` to the number of attempts.")
    clock.advance(DAY)
    text = f"## 1.2.0 ({iso(now())[:10]})\n\n* `max_attempts` is {WORD} by default.\n"
    page = insert(world, SPACE, f"{WORD} changelog", text=text)
    clock.advance(31 * DAY)
    scene.scan()

    def found(who: str) -> str:
        return str(scene.list(who, "kind=changelog&status=open"))

    assert WORD in found("admin") and WORD in found("editor")
    assign_to_editor(world, scene.list("admin", "kind=changelog&status=open")[0]["id"])
    restrict(world, SPACE, grants, page)
    inbox = world.get("editor", "/user/notifications")["items"]
    assert any(one["reason"] == "assigned" for one in inbox) and WORD not in str(inbox)
    assert WORD in found("admin") and WORD not in found("editor")
    scene.scan()
    assert WORD not in found("editor")
    if grants == ON_SITES:
        assert WORD in found("admin")
        restrict(world, SPACE, [], page)
        assert WORD in found("editor")


def test_a_finding_is_hidden_with_the_page_that_its_link_names(world: World) -> None:
    scene = ScanScene(world, None)
    above = insert(world, SPACE, f"{WORD} area")
    page = insert(world, SPACE, "Quokkas", into=above)
    insert(world, SPACE, "Linking", text=f"[a](quokkas.md), [b]({WORD}-area/quokkas.md#nothing)\n")
    scene.scan()

    def found(who: str) -> list[str]:
        kinds = ("broken-link", "broken-anchor")
        listed = [one for kind in kinds for one in scene.list(who, f"kind={kind}&status=open")]
        return [one["id"] for one in listed if "quokkas" in one["title"]]

    fixable, section = found("editor")
    assert found("admin") == [fixable, section]
    restrict(world, SPACE, ADMINISTRATORS, above)
    assert found("editor") == [] and found("admin") == [fixable, section]
    for who, status in (("editor", 404), ("admin", 409)):
        body = {"findings": [fixable]}
        answer = world.call(who, "POST", f"{scene.site}/findings/change-requests", json=body)
        assert answer.status_code == status and page not in answer.text
    scene.scan()
    assert found("editor") == [fixable]


def assign_to_editor(world: World, finding: str) -> None:
    path = world.home.path(f"{SITE}/findings/{finding}")
    body = {"assignee": {"kind": "user", "user": world.users["editor"]}}
    answer = world.call("admin", "PATCH", path, json=body)
    assert answer.is_success, answer.text
    work(world)


def test_a_finding_is_hidden_with_the_rule_that_it_breaks(world: World) -> None:
    scene = ScanScene(world, "Please utilize it.")
    guide = f"/spaces/{world.post('admin', f'{scene.site}/styleguide', {})['id']}"
    rule = f"```yaml\nextends: substitution\nmessage: '{WORD} forbids %s.'\nswap:\n  utilize: use\n```\n"
    page = {"operation": "insert_page", "title": f"{WORD} rule", "document": {"markdown": rule}}
    edit(world, guide, page)
    scan = scene.scan()
    (found,) = scene.list("admin", "kind=style")
    [rule_id] = [one["id"] for one in world.get("admin", f"{guide}/content")["pages"] if WORD in one["title"]]
    assert WORD in str(scene.list("editor", "kind=style")) and WORD in str(found)
    assign_to_editor(world, found["id"])
    for grants in (ADMINISTRATORS, ON_SITES):
        restrict(world, guide, grants, rule_id)
        assert scene.list("editor", "kind=style") == []
        assert world.call("editor", "GET", f"{scene.site}/findings/{found['id']}").status_code == 404
        past = world.get("editor", f"{scene.site}/scans/{scan['id']}")
        assert past["findings"]["low"] == scan["findings"]["low"] - 1
        inbox = world.get("editor", "/user/notifications")["items"]
        assert any(one["reason"] == "assigned" for one in inbox) and WORD not in str(inbox)
        if grants == ADMINISTRATORS:
            fixing = world.call("admin", "POST", f"{scene.site}/findings/{found['id']}/change-requests")
            assert fixing.status_code == 409
            assert WORD not in str(world.get("editor", world.home.path(f"{SPACE}/change-requests")))
        scene.scan()
        assert scene.list("editor", "kind=style") == []


@pytest.mark.parametrize("how", ["rename", "rename and restrict", "delete", "replace guide"])
def test_a_finding_stays_hidden_when_its_rule_changes(world: World, how: str) -> None:
    """The finding keeps the title that the rule had, whether it is still open or not."""
    scene = ScanScene(world, "Please utilize it.")
    guide = f"/spaces/{world.post('admin', f'{scene.site}/styleguide', {})['id']}"
    rule = "```yaml\nextends: substitution\nmessage: Use another word.\nswap:\n  utilize: use\n```\n"
    edit(world, guide, {"operation": "insert_page", "title": f"{WORD} rule", "document": {"markdown": rule}})
    scene.scan()
    [rule_id] = [one["id"] for one in world.get("admin", f"{guide}/content")["pages"] if WORD in one["title"]]
    change = {"operation": "update_page", "page": rule_id}
    if how == "rename and restrict":
        edit(world, guide, {**change, "title": "Rule", "visibleTo": ADMINISTRATORS})
    else:
        restrict(world, guide, ADMINISTRATORS, rule_id)
    if how == "rename":
        edit(world, guide, {**change, "title": "Rule"})
    elif how == "delete":
        edit(world, guide, {"operation": "delete_page", "page": rule_id})
    elif how == "replace guide":
        assert world.call("admin", "PATCH", scene.site, json={"styleguide": None}).is_success
    for status in ("open", "done"):
        assert WORD in str(scene.list("admin", f"kind=style&status={status}"))
        assert scene.list("editor", f"kind=style&status={status}") == []
        scene.scan()


def test_findings_of_restricted_rules_are_deleted_with_their_style_guide(world: World) -> None:
    scene = ScanScene(world, "Please utilize it. Simply do it.")
    guide = f"/spaces/{world.post('admin', f'{scene.site}/styleguide', {})['id']}"
    for title, word in ((f"{WORD} rule", "utilize"), ("Open rule", "simply")):
        rule = (
            f"```yaml\nextends: existence\nmessage: Avoid this.\nignorecase: true\ntokens:\n  - {word}\n```\n"
        )
        page = {"operation": "insert_page", "title": title, "document": {"markdown": rule}}
        edit(world, guide, page)
    scene.scan()
    pages = world.get("admin", f"{guide}/content")["pages"]
    restrict(world, guide, ADMINISTRATORS, next(one["id"] for one in pages if WORD in one["title"]))
    assert WORD in str(scene.list("admin", "kind=style")) and WORD not in str(
        scene.list("editor", "kind=style")
    )
    assert world.call("admin", "DELETE", guide).is_success
    trash = world.home.path("/orgs/{organizationId}/trash")
    assert world.call("admin", "DELETE", f"{trash}{guide}").is_success
    work(world)
    scene.scan()
    shown = str([scene.list("editor", f"kind=style&status={status}") for status in ("open", "done")])
    assert WORD not in shown and "Open rule" in shown


def test_deleting_the_findings_of_a_topic_keeps_those_that_are_hidden(world: World) -> None:
    """Findings about unanswered questions can mention restricted pages."""
    scene = ScanScene(world, None)
    for question in ("Where do gherkins grow?", "Which gherkins taste sour?", "Who sells gherkins cheaply?"):
        world.call(
            "admin", "POST", f"{scene.site}/ask", json={"question": question, "scope": {"mode": "all"}}
        )
    ask(world, "How are gherkins pickled?", world.home["pageId"])
    scene.scan()
    restrict(world, SPACE, ADMINISTRATORS, insert(world, SPACE, "Plans"))

    def topic(who: str) -> dict[str, Any]:
        (found,) = world.get(who, f"{scene.site}/topics")["items"]
        assert isinstance(found, dict)
        return found

    findings = f"{scene.site}/topics/{topic('editor')['id']}/findings"
    kept = topic("admin")["findings"]["total"]
    assert kept > 1 and topic("editor")["findings"]["total"] == 0
    nothing = world.call("editor", "DELETE", findings).status_code
    assert topic("admin")["findings"]["total"] == kept
    assert world.call("admin", "DELETE", findings).status_code != nothing
    assert topic("admin")["findings"]["total"] == 0


# --- links ----------------------------------------------------------------------------------------------

LINKS = f"""[a]({WORD}-plans.md), [b]({WORD}-plans.md#there), [home](README.md), [file](/files/FILE)

| A |
|---|
| [c]({WORD}-plans.md) |

{{% content-ref url="{WORD}-plans.md" %}}
[{WORD}-plans.md]({WORD}-plans.md)
{{% endcontent-ref %}}

<a href="{WORD}-plans.md" class="button primary">Go</a>

<table><thead><tr><th>T</th><th data-type="content-ref">X</th></tr></thead><tbody>
<tr><td>One</td><td><a href="{WORD}-plans.md">{WORD}-plans.md</a></td></tr></tbody></table>

{{% embed url="URL" %}}
"""


def test_content_for_visitors_has_no_path_of_a_restricted_page(world: World) -> None:
    """Links to it are replaced with their words, in all formats, and in reusable content."""
    page = insert(world, SPACE, f"{WORD} plans")
    url = f"{world.context.settings.url}/s/{world.home['spaceId']}/{WORD}-plans"
    text = LINKS.replace("URL", url).replace("FILE", world.home["fileId"])
    include = world.home["reusableContentId"]
    shared = {"operation": "update_reusable_content", "reusableContent": include}
    edit(world, SPACE, {**shared, "document": {"markdown": f"[shared](../../{WORD}-plans.md)\n"}})
    linking = insert(
        world, SPACE, "Linking", text=f'{text}\n\n{{% include ".gitbook/includes/support.md" %}}\n'
    )
    base = publish(world)
    headers, visitor = visit(world, base), Visitor(world.context)
    content = world.home.path(f"{SPACE}/content/page/{linking}")
    paths = ("linking", "linking.md", "llms-full.txt")

    def shown() -> list[str]:
        found = [visitor.get(f"/home/docs/{path}").text for path in paths]
        for format in ("document", "markdown"):
            answer = world.call(NOBODY, "GET", content, params={"format": format}, headers=headers)
            assert answer.is_success
            found.append(answer.text)
        return found

    assert all(f"{WORD}-plans" in one for one in shown())
    restrict(world, SPACE, ADMINISTRATORS, page)
    for one in shown():
        assert WORD not in one and all(words in one for words in ("shared", "Go", "One", "home", "file"))


# --- settings of sites ----------------------------------------------------------------------------------


def test_a_space_whose_pages_are_all_restricted_is_like_an_empty_one(world: World) -> None:
    site, visitor = world.home.path(SITE), Visitor(world.context)
    other = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Vault"})["id"]
    world.post("admin", f"{site}/sections", {"spaceId": other, "title": WORD})
    publish(world)

    def shows() -> bool:
        return WORD in visitor.get("/home/docs/").text

    def change(**fields: Any) -> None:
        world.post("admin", f"/spaces/{other}/content", {"changes": [fields]})

    assert not shows()
    change(operation="insert_page", title="Plans", document={"markdown": "Words.\n"})
    assert shows()
    page = world.get("admin", f"/spaces/{other}/content")["pages"][0]["id"]
    change(operation="update_page", page=page, visibleTo=ADMINISTRATORS)
    assert not shows()
    change(operation="update_page", page=page, visibleTo=ON_SITES)
    assert shows()


def test_redirects_to_a_restricted_page_are_hidden(world: World) -> None:
    site = world.home.path(SITE)
    page = insert(world, SPACE, "Plans")
    target = {"kind": "site-page", "siteSpaceId": world.home["siteSpaceId"], "pageId": page}
    made = [
        world.post(
            "admin", f"{site}/redirects", {"source": f"/{WORD}", "destination": target, "draft": draft}
        )
        for draft in (False, True)
    ]
    restrict(world, SPACE, ADMINISTRATORS, page)
    for path in ("redirects", "redirects?draft=true", f"redirects?search={WORD}", "drafts"):
        whole, seen = (world.get(who, f"{site}/{path}") for who in ("admin", "editor"))
        assert WORD in str(whole) and WORD not in str(seen) and page not in str(seen)
        assert seen.get("count", 0) == max(0, whole.get("count", 0) - 1)
    paths = [f"{site}/redirects/{id}" for id in (made[1]["id"], new_id())]
    for method, body in (("PATCH", {"permanent": True}), ("DELETE", None)):
        statuses = {world.call("editor", method, path, json=body).status_code for path in paths}
        assert len(statuses) == 1, statuses
    elsewhere = {"source": f"/{WORD}", "destination": {"kind": "external", "url": "https://example.org/"}}
    answer = world.call("editor", "POST", f"{site}/redirects", json={**elsewhere, "draft": True})
    assert answer.status_code == 409 and page not in answer.text
    body = {"redirects": [{**elsewhere, "intent": "draft"}]}
    answer = world.call("editor", "PUT", f"{site}/redirects", json=body)
    assert page not in answer.text and "already exists" in answer.text
    assert world.call("admin", "PATCH", paths[0], json={"permanent": True}).is_success


def test_links_in_the_design_of_a_site_name_no_restricted_page(world: World) -> None:
    site = world.home.path(SITE)
    page = insert(world, SPACE, "Plans")
    link = {"title": "Plans", "to": {"kind": "page", "page": page, "space": world.home["spaceId"]}}
    look = world.get("admin", f"{site}/customization")
    look["header"]["links"] = [
        {**link, "style": "link", "links": [link]},
        {**link, "to": None, "links": [link]},
    ]
    look["header"]["primaryLink"] = link["to"]
    look["footer"]["groups"] = [{"title": "More", "links": [link]}]
    assert world.call("admin", "PUT", f"{site}/customization", json=look).is_success
    publish(world)
    paths = ("customization", "published", f"site-spaces/{world.home['siteSpaceId']}/customization")
    assert all(page in world.call("editor", "GET", f"{site}/{path}").text for path in paths)
    restrict(world, SPACE, ADMINISTRATORS, page)
    for path in paths:
        answer = world.call("editor", "GET", f"{site}/{path}")
        assert answer.is_success and page not in answer.text, path
        assert page in world.call("admin", "GET", f"{site}/{path}").text


def test_only_people_who_see_a_page_make_it_a_home_page(world: World) -> None:
    page, never = insert(world, SPACE, "Plans"), new_id()
    shown = world.home.path(f"{SITE}/site-spaces/{{siteSpaceId}}")
    assert world.call("admin", "PATCH", shown, json={"draft": True}).is_success
    assert world.call("editor", "PATCH", shown, json={"pageId": page}).is_success
    assert world.call("editor", "PATCH", shown, json={"pageId": None}).is_success
    restrict(world, SPACE, ON_SITES, page)
    answers = [world.call("editor", "PATCH", shown, json={"pageId": id}) for id in (page, never)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert world.call("admin", "PATCH", shown, json={"pageId": page}).is_success


def test_traces_of_restricted_pages_stay_hidden_when_their_space_is_removed_or_deleted(world: World) -> None:
    """Questions without sources and visits to URLs that don't exist could be about these pages."""
    site, insights, scene = world.home.path(SITE), Site(world), ScanScene(world, None)
    restrict(world, SPACE, ADMINISTRATORS, insert(world, SPACE, "Plans"))
    ask(world, f"Where are the {WORD} gherkins?", answered="no")
    visited = insights.event(url=f"https://docs.test/{WORD}")
    visited["location"]["page"] = None
    insights.track(visited)
    work(world)
    scene.scan()

    def read(who: str) -> str:
        body = {"range": "last7Days", "groupBy": [{"column": "url"}]}
        found = [world.post(who, f"{site}/insights/events/aggregate", body)]
        found += [world.get(who, f"{site}/{part}") for part in ("questions", "findings", "answers")]
        return str(found)

    assert read("admin").count(WORD) >= 3 and WORD not in read("editor")
    spaces = world.get("admin", f"{site}/site-spaces")["items"]
    (shown,) = (one["id"] for one in spaces if one["space"]["id"] == world.home["spaceId"])
    assert world.call("admin", "DELETE", f"{site}/site-spaces/{shown}").is_success
    assert WORD in read("admin") and WORD not in read("editor")
    space = world.home["spaceId"]
    assert world.call("admin", "DELETE", f"/spaces/{space}").is_success
    assert WORD in read("admin") and WORD not in read("editor")
    trash = world.home.path(f"/orgs/{{organizationId}}/trash/spaces/{space}")
    assert world.call("admin", "DELETE", trash).is_success
    work(world)
    assert world.get("admin", world.home.path("/orgs/{organizationId}/trash/spaces"))["items"] == []
    assert WORD in read("admin") and WORD not in read("editor")
