"""Restricted pages don't exist for people who can't see them, in the responses of all operations."""

from __future__ import annotations

from typing import Any

import pytest

import translations.test_translations as translations
from contract.samples import SAMPLES, TOLD_ELSEWHERE, _Noting, sample_of, send
from contract.test_integration_tokens import _agree, _headers
from findings.test_agent_settings import AgentScene
from findings.test_style_merging import MergeScene
from model_server import ModelServer, world_with_model
from octavo.content.changes.access_changes import find_unseen
from octavo.content.changes.store import find_state, get_change
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.restrictions import seen_by
from octavo.kit.http.operation import PUBLIC, TABLE, Operation
from octavo.kit.ids import new_id
from octavo.operations.installation import load_packages
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can
from octavo.organization.access.scopes import INTEGRATION_SCOPES
from world import MEMBERS, NOBODY, Place, World

load_packages()

WORD = "zqsecret"
ADMINISTRATORS = {"kind": "administrators"}
SPACE = "/spaces/{spaceId}"
INSTALLATION = "/integrations/{integrationName}/installations/{installationId}"
CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"
# Spaces with restricted pages can't be synced with Git.
OPERATIONS = [
    operation
    for operation in TABLE.values()
    if operation.needs is not PUBLIC
    and operation.id in SAMPLES
    and operation.id not in TOLD_ELSEWHERE
    and "gitsync" not in getattr(sample_of(operation).before, "__module__", "")
]
READS = [operation for operation in OPERATIONS if operation.method == "GET"]


def change(world: World, who: str, *changes: dict[str, Any]) -> Any:
    path = world.home.path("/spaces/{spaceId}/content")
    return world.call(who, "POST", path, json={"changes": list(changes)})


def insert(world: World, title: str, into: str | None = None) -> str:
    document = {"markdown": f"{WORD}words of {title}.\n"}
    page = {"operation": "insert_page", "title": f"{WORD} {title}", "document": document}
    answer = change(world, "admin", {**page, **({"into": into} if into else {})})
    assert answer.is_success, answer.text
    return next(one["id"] for one in pages_of(world, "admin") if one["title"] == f"{WORD} {title}")


def pages_of(world: World, who: str) -> list[Any]:
    def listed(pages: list[Any]) -> list[Any]:
        return [one for page in pages for one in (page, *listed(page.get("pages", [])))]

    return listed(world.get(who, world.home.path("/spaces/{spaceId}/content"))["pages"])


def restrict(world: World, page: str, *grants: dict[str, str]) -> None:
    answer = change(world, "admin", {"operation": "update_page", "page": page, "visibleTo": list(grants)})
    assert answer.is_success, answer.text


def prepare(world: World, operations: list[Operation]) -> None:
    """Create what the samples of these operations need."""
    for before in {sample_of(operation).before for operation in operations} - {None}:
        before(world, world.home)


def test_reads_reveal_no_restricted_page(sqlite_world: World) -> None:
    world = sqlite_world
    prepare(world, READS)
    page = insert(world, "plans")
    below = insert(world, "details", page)
    restrict(world, page, ADMINISTRATORS)
    found = []
    for operation in READS:
        # What an administrator has seen must not come out of a cache.
        send(world, "admin", operation, world.home)
        for who in ("editor", "reader"):
            answer = send(world, who, operation, world.home)
            if any(word in answer.text for word in (WORD, page, below)):
                found.append(f"{operation.id} ({who}): {answer.text[:300]}")
    assert not found, "\n".join(found)
    assert {page, below} <= {one["id"] for one in pages_of(world, "admin")}


class Instead(Place):
    """The place with another page."""

    def __init__(self, place: Place, page: str) -> None:
        super().__init__(place.name, place.roles)
        self.ids = {**place.ids, "pageId": page}


def names_page(operation: Operation) -> bool:
    sample, noting = sample_of(operation), _Noting("noting", MEMBERS)
    return "pageId" in f"{operation.path}{sample.path}{sample.names_in_body()}{sample.query_for(noting)}"


def test_a_restricted_page_is_like_one_that_never_existed(sqlite_world: World) -> None:
    world = sqlite_world
    operations = [operation for operation in OPERATIONS if names_page(operation)]
    prepare(world, operations)
    page = insert(world, "plans")
    restrict(world, page, ADMINISTRATORS)
    never = new_id()
    found = []
    for operation in operations:
        if operation.method == "GET":
            send(world, "admin", operation, Instead(world.home, page))
        for who in ("editor", "reader"):
            answers = [send(world, who, operation, Instead(world.home, id)) for id in (page, never)]
            text = answers[0].text.replace(page, "ID")
            if WORD in text or answers[0].status_code != answers[1].status_code:
                statuses = [answer.status_code for answer in answers]
                found.append(f"{operation.id} ({who}): {statuses} {text[:200]}")
    assert not found, "\n".join(found)


def test_no_search_finds_a_restricted_page(sqlite_world: World) -> None:
    world = sqlite_world
    prepare(world, READS)
    page = insert(world, "plans")
    restrict(world, page, ADMINISTRATORS)
    found = []
    for operation in READS:
        for name in ("query", "q", "search", "text", "filter"):
            params = {**sample_of(operation).query_for(world.home), name: WORD}
            answer = send(world, "editor", operation, world.home, params=params)
            if page in answer.text or f"{WORD} plans" in answer.text:
                found.append(f"{operation.id} {name}: {answer.text[:300]}")
    assert not found, "\n".join(found)


def test_nothing_about_a_restricted_page_is_revealed(sqlite_world: World) -> None:
    """The page has comments, suggestions, reviews, live text, revisions, references, and change requests."""
    world = sqlite_world
    page = world.home["pageId"]
    change(world, "admin", {"operation": "update_page", "page": page, "title": f"{WORD} sample"})
    prepare(world, READS)
    restrict(world, page, ADMINISTRATORS)
    found = []
    for operation in READS:
        sample = sample_of(operation)
        sent = page in f"{sample.ids(world.home, operation.path)}{sample.query_for(world.home)}"
        send(world, "admin", operation, world.home)
        for who in ("editor", "reader"):
            text = send(world, who, operation, world.home).text
            if WORD in text or (not sent and page in text):
                at = text.find(WORD) if WORD in text else text.find(page)
                found.append(f"{operation.id} ({who}): {text[max(0, at - 150) : at + 60]}")
    assert not found, "\n".join(found)


# --- rules ----------------------------------------------------------------------------------------------


def grant(kind: str, id: str, level: str = "read") -> dict[str, str]:
    return {"kind": kind, kind: id, "level": level}


def sees(world: World, who: str, page: str) -> bool:
    path = world.home.path("/spaces/{spaceId}/content/page/{pageId}", pageId=page)
    status: int = world.call(who, "GET", path).status_code
    assert status in (200, 404)
    return status == 200


def test_people_teams_and_roles_get_the_level_of_the_rule(world: World) -> None:
    page = insert(world, "plans")
    below = insert(world, "details", page)
    restrict(world, page, grant("user", world.users["editor"], "comment"))
    assert sees(world, "editor", below) and not sees(world, "reader", below)
    comments = world.home.path("/spaces/{spaceId}/comments")
    edit = {"operation": "update_page", "page": below, "title": "New"}
    said = {"body": {"markdown": "Yes."}, "page": below}
    assert world.call("editor", "POST", comments, json=said).is_success
    assert change(world, "editor", edit).status_code == 403

    restrict(world, page, grant("user", world.users["editor"], "read"))
    assert world.call("editor", "POST", comments, json=said).status_code == 403
    restrict(world, page, grant("role", "edit", "edit"))
    assert change(world, "editor", edit).is_success and not sees(world, "reader", page)

    team = world.home["teamId"]
    members = world.home.path("/orgs/{organizationId}/teams/{teamId}/members")
    assert world.call("admin", "PUT", members, json={"add": [world.users["reader"]]}).is_success
    restrict(world, page, grant("team", team))
    assert sees(world, "reader", below) and not sees(world, "editor", below)
    # A rule below another one narrows it, and never widens it.
    restrict(world, below, grant("user", world.users["editor"]))
    assert (
        not sees(world, "reader", below) and not sees(world, "editor", below) and sees(world, "reader", page)
    )
    shown = world.get(
        "admin", world.home.path("/spaces/{spaceId}/content/page/{pageId}/access", pageId=below)
    )
    assert [rule["page"] for rule in shown["rules"]] == [below, page]
    restrict(world, page)
    restrict(world, below)
    assert sees(world, "reader", below)


def test_only_administrators_change_rules(world: World) -> None:
    page = insert(world, "plans")
    open_rule = {"operation": "update_page", "page": page, "visibleTo": []}
    assert change(world, "editor", open_rule).status_code == 403
    for grants, status in (
        ([grant("user", new_id())], 404),
        ([grant("team", new_id())], 404),
        ([{"kind": "role", "role": "king", "level": "read"}], 400),
        ([{"kind": "user", "user": world.users["editor"], "level": "admin"}], 400),
        ([ADMINISTRATORS] * 101, 400),
    ):
        answer = change(world, "admin", {"operation": "update_page", "page": page, "visibleTo": grants})
        assert answer.status_code == status, answer.text
        assert answer.json()["error"]["field"].startswith("changes[0].visibleTo")


def test_a_page_stays_restricted_when_its_content_changes(world: World) -> None:
    page, path = insert(world, "plans"), world.home.path("/spaces/{spaceId}")
    before = world.get("admin", path)["revision"]
    parent = insert(world, "all")
    restrict(world, page, grant("user", world.users["editor"], "edit"))
    revert = {"operation": "revert_page", "page": page, "revision": before}
    assert change(world, "editor", {"operation": "update_page", "page": page, "title": "New"}).is_success
    assert change(world, "editor", revert).is_success
    assert not sees(world, "reader", page)
    old = world.home.path(
        "/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}", revisionId=before, pageId=page
    )
    assert world.call("reader", "GET", old).status_code == 404
    assert change(world, "admin", {"operation": "update_page", "page": page, "into": parent}).is_success
    # Deleting the page above would delete a page that the editor can't see.
    restrict(world, page, ADMINISTRATORS)
    delete = {"operation": "delete_page", "page": parent}
    assert change(world, "editor", delete).status_code == 403
    assert sees(world, "admin", page)
    # Revisions from before the rule don't show the page after it was deleted either.
    assert change(world, "admin", {"operation": "delete_page", "page": page}).is_success
    assert world.call("admin", "GET", old).is_success
    assert world.call("reader", "GET", old).status_code == 404


def test_no_edit_returns_or_restores_what_was_hidden(world: World) -> None:
    page = insert(world, "plans")
    restrict(world, page, ADMINISTRATORS)
    secret = world.get("admin", world.home.path("/spaces/{spaceId}"))["revision"]
    open_text = {
        "operation": "update_page",
        "page": page,
        "visibleTo": [],
        "document": {"markdown": "Open.\n"},
    }
    assert change(world, "admin", {**open_text, "title": "Open"}).is_success
    assert sees(world, "editor", page)
    revert = {"operation": "revert_page", "page": page, "revision": secret}
    answer = change(world, "editor", revert)
    assert answer.status_code == 404 and WORD not in answer.text
    based = {"changes": [{"operation": "update_page", "page": page, "title": "Mine"}], "baseRevision": secret}
    answer = world.call("editor", "POST", world.home.path("/spaces/{spaceId}/content"), json=based)
    assert answer.status_code == 404 and WORD not in answer.text


def test_editors_move_no_page_to_where_more_people_see_it(world: World) -> None:
    page = insert(world, "plans")
    below = insert(world, "details", page)
    restrict(world, page, grant("user", world.users["editor"], "edit"))
    move = {"operation": "update_page", "page": below, "into": None}
    assert change(world, "editor", move).status_code == 403
    assert change(world, "editor", {**move, "into": page, "at": 0}).is_success
    assert change(world, "admin", move).is_success and sees(world, "reader", below)


@pytest.mark.parametrize("where", ["/spaces/{spaceId}", "change request"])
def test_editors_restore_no_page_to_where_more_people_see_it(sqlite_world: World, where: str) -> None:
    world = sqlite_world
    page, below = insert(world, "plans"), insert(world, "details")
    before = world.get("admin", world.home.path("/spaces/{spaceId}"))["revision"]
    restrict(world, page, grant("user", world.users["editor"], "edit"))
    assert change(world, "admin", {"operation": "update_page", "page": below, "into": page}).is_success
    within = world.get("admin", world.home.path("/spaces/{spaceId}"))["revision"]
    assert change(world, "editor", {"operation": "delete_page", "page": below}).is_success
    path = world.home.path(where)
    if where == "change request":
        changes = world.home.path("/spaces/{spaceId}/change-requests")
        path = f"{changes}/{world.post('editor', changes, {'subject': 'Restore'})['id']}"

    def restore(who: str, revision: str) -> int:
        revert = {"operation": "revert_page", "page": below, "revision": revision}
        return world.call(who, "POST", f"{path}/content", json={"changes": [revert]}).status_code

    assert restore("editor", before) == 403
    revisions = world.home.path("/spaces/{spaceId}/revisions")
    assert world.call("editor", "POST", f"{revisions}/{before}/revert?undo=later").status_code == 403
    assert restore("editor", within) == 200
    if where != "change request":
        assert change(world, "admin", {"operation": "delete_page", "page": below}).is_success
        assert restore("admin", before) == 200


def test_responses_of_edits_in_a_change_request_show_no_restricted_page(world: World) -> None:
    page = insert(world, "plans", world.home["pageId"])
    restrict(world, page, ADMINISTRATORS)
    changes = world.home.path("/spaces/{spaceId}/change-requests")
    number = world.post("editor", changes, {"subject": "Edit"})["number"]
    path = f"{changes}/{number}/content/page/{world.home['pageId']}/move"
    answer = world.call("editor", "POST", path, json={"at": 0})
    assert answer.is_success and WORD not in answer.text and page not in answer.text


def test_comments_and_history_of_deleted_pages_stay_hidden(world: World) -> None:
    page = insert(world, "plans")
    below = insert(world, "details", page)
    comments = world.home.path("/spaces/{spaceId}/comments")
    said = {"body": {"markdown": f"{WORD} words."}, "page": below}
    assert world.call("admin", "POST", comments, json=said).is_success
    restrict(world, page, ADMINISTRATORS)
    assert change(world, "admin", {"operation": "delete_page", "page": page}).is_success
    for path in (comments, world.home.path("/spaces/{spaceId}/revisions")):
        assert WORD not in world.call("editor", "GET", path).text, path
    revisions = world.home.path("/spaces/{spaceId}/content/page/{pageId}/revisions", pageId=below)
    assert world.call("editor", "GET", revisions).status_code == 404


@pytest.mark.parametrize("at", [SPACE, CHANGE])
@pytest.mark.parametrize("how", ["removed", "moved", "deleted"])
def test_the_history_of_deleted_pages_stays_hidden_when_a_rule_is_removed(
    world: World, at: str, how: str
) -> None:
    """``how``: what happens to the rule of the page above, or to the page between them."""

    def edit(**fields: Any) -> None:
        path = world.home.path(f"{at}/content")
        answer = world.call("admin", "POST", path, json={"changes": [fields]})
        assert answer.is_success, answer.text

    def add(title: str, into: str | None) -> str:
        edit(
            operation="insert_page",
            title=f"{WORD} {title}",
            document={"markdown": WORD},
            **({"into": into} if into else {}),
        )
        with world.context.db.read() as tx:
            change = world.home["changeRequestId"] if at == CHANGE else None
            pages = list_pages(tx, find_state(tx, world.home["spaceId"], change))
        return next(page.id for page in pages if page.title == f"{WORD} {title}")

    page = add("plans", None)
    between = add("parts", page)
    below = add("details", between)
    edit(operation="update_page", page=page, visibleTo=[ADMINISTRATORS])
    edit(operation="delete_page", page=below)
    if how == "moved":
        edit(operation="update_page", page=between, into=world.home["pageId"])
    if how == "deleted":
        edit(operation="delete_page", page=between)
    edit(operation="update_page", page=page, visibleTo=[])
    with world.context.db.read() as tx:
        change = world.home["changeRequestId"] if at == CHANGE else None
        state = find_state(tx, world.home["spaceId"], change)
        reader, admin = (
            space_access(tx, world.actor(who), Can.VIEW, world.home["spaceId"]) for who in ("reader", "admin")
        )
        hidden = seen_by(tx, reader, state).hidden
        assert below in hidden and page not in hidden and (between in hidden) == (how == "deleted")
        assert not seen_by(tx, admin, state).hidden
    if at == SPACE:
        path = world.home.path(f"{SPACE}/content/page/{below}/revisions")
        assert world.call("editor", "GET", path).status_code == 404
        assert world.call("admin", "GET", path).is_success
        edit(operation="delete_page", page=page)
        assert world.call("editor", "GET", path.replace(below, page)).is_success


def test_only_administrators_merge_a_page_restored_to_where_more_people_see_it(world: World) -> None:
    page, start = insert(world, "plans"), world.home.path(SPACE)
    revision = world.get("admin", start)["revision"]
    above = insert(world, "parts")
    restrict(world, above, grant("user", world.users["reviewer"], "edit"))
    assert change(world, "admin", {"operation": "update_page", "page": page, "into": above}).is_success
    assert change(world, "admin", {"operation": "delete_page", "page": page}).is_success
    merged = []
    for who in ("reviewer", "admin"):
        made = world.post("admin", f"{start}/change-requests", {"subject": "Restore"})["id"]
        restored = {"operation": "revert_page", "page": page, "revision": revision}
        path = f"{start}/change-requests/{made}"
        world.post("admin", f"{path}/content", {"changes": [restored]})
        answer = world.call(who, "POST", f"{path}/merge")
        merged.append(answer.is_success)
        assert answer.is_success or "administrators" in answer.text, answer.text
    assert merged == [False, True]


def test_the_aggregate_says_who_sees_a_page_and_why(world: World) -> None:
    page = insert(world, "plans")
    below = insert(world, "details", page)
    path = world.home.path("/spaces/{spaceId}/content/page/{pageId}/access", pageId=below)

    def people() -> dict[str, list[str]]:
        shown = world.get("admin", f"{path}/people", params={"limit": "100"})["items"]
        return {one["user"]["id"]: [reason["kind"] for reason in one["reasons"]] for one in shown}

    assert people()[world.users["reader"]] == [] and world.users["guest"] not in people()
    restrict(world, page, grant("role", "edit", "read"))
    restrict(world, below, grant("user", world.users["editor"]), grant("role", "review", "comment"))
    assert people() == {
        world.users["admin"]: ["administrators", "administrators"],
        world.users["creator"]: ["administrators", "administrators"],
        world.users["reviewer"]: ["role", "role"],
        world.users["editor"]: ["user", "role"],
    }
    restrict(world, below, grant("user", world.users["editor"]))
    (own, above) = world.get("editor", path)["rules"]
    assert own["setBy"]["id"] == world.users["admin"] and own["since"] > above["since"]
    # Editing the page changes neither.
    change(world, "admin", {"operation": "update_page", "page": below, "description": "New"})
    assert world.get("editor", path)["rules"] == [own, above]
    assert world.call("reader", "GET", path).status_code == 404
    assert world.call("editor", "GET", f"{path}/people").status_code == 403


def test_administrators_see_a_space_as_another_person(world: World) -> None:
    page = insert(world, "plans")
    below = insert(world, "details", page)

    def seen(who: str, end: str, by: str = "creator", **params: str) -> Any:
        path = f"/spaces/{{spaceId}}/permissions/users/{world.users[who]}/{end}"
        return world.call(by, "GET", world.home.path(path), params=params)

    restrict(world, page, grant("user", world.users["editor"]))
    assert page in seen("editor", "pages").text and below in seen("editor", f"pages/{page}").text
    assert seen("editor", "search", query=WORD).json()["count"] == 2
    own = world.home["pageId"]
    for end in ("pages", f"pages/{own}"):
        text = seen("reader", end).text
        assert own in text and page not in text and WORD not in text
    assert seen("reader", f"pages/{page}").status_code == 404
    found = seen("reader", "search", query=WORD).json()
    assert found["count"] == 0 and not found["items"]
    for who in ("editor", "reviewer"):
        for end in ("pages", f"pages/{own}", "search"):
            assert seen("reader", end, who, query=WORD).status_code == 403
    # A guest can't see the space, and people of other organizations aren't members.
    assert seen("guest", "pages").status_code == seen("stranger", "pages").status_code == 404


def test_integrations_do_not_see_a_space_as_another_person(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, "plans")
    restrict(world, page, ADMINISTRATORS)
    _agree(world, list(INTEGRATION_SCOPES))
    headers = _headers(world, installation=True)
    path = world.home.path(f"{SPACE}/permissions/users/{{userId}}", userId=world.users["admin"])
    for at in ("pages", f"pages/{page}", f"search?query={WORD}"):
        assert world.get("admin", f"{path}/{at}")
        answer = world.call(NOBODY, "GET", f"{path}/{at}", headers=headers)
        assert answer.status_code == 403 and WORD not in answer.text, answer.text


def test_merge_checks_tell_only_reviewers_about_hidden_changes(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, "plans")
    space = world.home.path("/spaces/{spaceId}")
    rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_review"}]}
    assert world.call("admin", "PATCH", space, json={"mergeRules": rules}).is_success
    path = f"{space}/change-requests/{world.post('admin', f'{space}/change-requests', {})['id']}"
    for where, text in ((path, "two"), (space, "three")):
        update = {"operation": "update_page", "page": page, "document": {"markdown": text}}
        world.post("admin", f"{where}/content", {"changes": [update]})
    world.call("admin", "POST", f"{path}/update")
    restrict(world, page, ADMINISTRATORS)
    assert world.call("admin", "PATCH", path, json={"status": "open"}).is_success
    assert world.call("reviewer", "POST", f"{path}/reviews", json={"status": "approved"}).is_success

    def checks(who: str) -> dict[str, Any]:
        found = world.get(who, f"{path}/merge")
        assert not found["merges"]
        return {one["check"]: one for one in found["checks"]}

    for who, knows in (("reader", False), ("editor", False), ("reviewer", True)):
        found = checks(who)
        assert found["require_at_least_one_review"].get("partial", False) == knows
        assert ("pages" in found["require_at_least_one_review"]["reason"]) == knows
        assert ("1 conflict" in found["conflicts"].get("reason", "")) == knows
        assert found["conflicts"]["passes"] != knows


@pytest.mark.parametrize("role", ["admin", "edit"])
def test_integrations_do_not_count_as_people_who_see_a_page(world: World, role: str) -> None:
    """Integrations see no restricted page, so they can't review its changes."""
    home = world.home
    _agree(world, list(INTEGRATION_SCOPES))
    world.post("admin", home.path(f"{INSTALLATION}/spaces"), {"space": home["spaceId"]})
    integration = _headers(world, installation=True)
    page, path = home["pageId"], home.path(CHANGE)
    update = {"operation": "update_page", "page": page, "visibleTo": [grant("role", role)]}
    world.post("admin", f"{path}/content", {"changes": [update]})
    approved = world.call(NOBODY, "POST", f"{path}/reviews", json={"status": "approved"}, headers=integration)
    assert approved.is_success, approved.text
    reviewed = world.get("admin", f"{path}/reviews")["items"]
    bot = next(one["reviewer"]["id"] for one in reviewed if one["reviewer"]["displayName"] == "Notes")
    with world.context.db.read() as tx:
        row = get_change(tx, home["changeRequestId"])
        unseen = find_unseen(tx, row, [bot, world.users["creator"]])
    assert unseen == {bot: {page}, world.users["creator"]: frozenset()}
    found = world.call(NOBODY, "GET", f"{path}/access-changes", headers=integration).json()
    assert found["hiddenPages"] == 1 and bot not in str(found["reviewers"])

    people = home.path("/spaces/{spaceId}/content/page/{pageId}/access/people")
    assert bot in str(world.get("admin", people))
    restrict(world, page, grant("role", role))
    assert bot not in str(world.get("admin", people))


# --- pages that sites show ------------------------------------------------------------------------------

SITES = {"kind": "sites"}


def test_templates_contain_no_page_that_only_sites_show(sqlite_world: World) -> None:
    world = sqlite_world
    restrict(world, insert(world, "plans"), ADMINISTRATORS, SITES)
    spaces = world.get("admin", world.home.path("/collections/{collectionId}/spaces"))["items"]
    template = {"id": world.home["spaceId"], "params": {"contentRefs": {}}}
    made = world.post(
        "editor",
        f"/spaces/{spaces[0]['id']}/change-requests",
        {"subject": "Copy", "template": template},
    )
    content = world.get("admin", f"/spaces/{spaces[0]['id']}/change-requests/{made['id']}/content")
    assert content["pages"] and WORD not in str(content)


def test_fixes_leave_out_pages_that_only_sites_show(sqlite_world: World) -> None:
    world, scene = sqlite_world, AgentScene(sqlite_world)
    scene.scan()
    page = insert(world, "plans")
    text = f"Read [{WORD}](#instal).\n\n## Install\n"
    update = {"operation": "update_page", "page": page, "document": {"markdown": text}}
    assert change(world, "admin", update).is_success
    restrict(world, page, ADMINISTRATORS, SITES)
    scene.write("Read [this](#instal).\n\n## Install\n")
    scene.scan()
    found = {WORD in str(one): one["id"] for one in scene.list() if one["kind"] == "broken-anchor"}
    assert found.keys() == {True, False}
    refused = world.call("admin", "POST", f"{scene.site}/findings/{found[True]}/change-requests")
    assert refused.status_code == 409
    scene.put(kinds=["broken-anchor"])
    scene.fix()
    (fixed,) = scene.changes()
    assert WORD not in str(fixed)


def test_style_guide_runs_leave_out_pages_that_only_sites_show(sqlite_world: World) -> None:
    world = sqlite_world
    scene = MergeScene(world)
    rule = "extends: substitution\nmessage: Use %s.\nlevel: error\nswap:\n  utilize: use\n"
    world.post("admin", f"{scene.site}/styleguide/import", {"files": [{"path": "Use.yml", "text": rule}]})
    page = insert(world, "plans")
    update = {"operation": "update_page", "page": page, "document": {"markdown": "We utilize it."}}
    assert change(world, "admin", update).is_success
    restrict(world, page, ADMINISTRATORS, SITES)
    scene.write("They utilize it.")
    answer = world.call(
        "editor", "POST", f"{scene.site}/styleguide/runs", json={"spaces": [world.home["spaceId"]]}
    )
    assert answer.is_success and page not in answer.text


def test_redirects_reveal_no_page_that_only_sites_show(sqlite_world: World) -> None:
    world = sqlite_world
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    page, gone = insert(world, "plans"), insert(world, "past")
    restrict(world, page, ADMINISTRATORS, SITES)
    restrict(world, gone, ADMINISTRATORS, SITES)
    assert change(world, "admin", {"operation": "delete_page", "page": gone}).is_success
    assert WORD in world.call("admin", "GET", f"{site}/redirects/suggestions").text
    assert WORD not in world.call("editor", "GET", f"{site}/redirects/suggestions").text
    shown = world.get("admin", f"{site}/site-spaces")["items"]
    (here,) = (one["id"] for one in shown if one["space"]["id"] == world.home["spaceId"])
    target = {"kind": "site-page", "siteSpaceId": here, "pageId": page}
    redirect = {"source": "/before", "destination": target}
    assert world.call("admin", "POST", f"{site}/redirects", json=redirect).is_success
    for who, sees_it in (("admin", True), ("editor", False)):
        answer = world.call(who, "GET", f"{site}/redirect", params={"source": "/before"})
        assert (WORD in answer.text) == sees_it, answer.text


# --- translations ---------------------------------------------------------------------------------------


def test_the_memory_withholds_texts_of_a_page_that_was_restricted_later(
    sqlite_world: World, server: ModelServer
) -> None:
    world = sqlite_world
    page = insert(world, "plans")
    text = f"The {WORD} offices move to the harbor in March."
    for target in (page, world.home["pageId"]):
        shown = text if target == page else "All the offices move to the harbor in May."
        update = {"operation": "update_page", "page": target, "document": {"markdown": shown}}
        assert change(world, "admin", update).is_success
    server.answer = translations.shout
    with world_with_model(world, server):
        made = translations.create(world)
        translations.work(world)
        matches = f"{made['urls']['location']}/matches"
        query = {"text": "The offices move to the harbor in April."}
        assert WORD in world.call("editor", "GET", matches, params=query).text
        restrict(world, page, ADMINISTRATORS)
        translations.run(world, made)
        found = world.call("editor", "GET", matches, params=query)
        assert "May" in found.text and WORD not in found.text
