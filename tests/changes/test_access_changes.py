"""What a change request says about access to its pages: who gains and loses it, who reviews, and what reviews count."""

from __future__ import annotations

from typing import Any

import pytest

from world import World

ADMINISTRATORS = {"kind": "administrators"}
SPACE = "/spaces/{spaceId}"


class Drafts:
    """Pages of a space, and change requests that change them."""

    def __init__(self, world: World) -> None:
        self.world = world

    def path(self, number: int | None = None, end: str = "/content") -> str:
        change = f"/change-requests/{number}" if number is not None else ""
        return self.world.home.path(f"{SPACE}{change}{end}")

    def edit(self, who: str, number: int | None, **change: Any) -> None:
        body = {"changes": [{"operation": "update_page", **change}]}
        answer = self.world.call(who, "POST", self.path(number), json=body)
        assert answer.is_success, answer.text

    def insert(self, title: str, into: str | None = None) -> str:
        page = {"operation": "insert_page", "title": title, "document": {"markdown": "Words.\n"}}
        body = {"changes": [{**page, **({"into": into} if into else {})}]}
        answer = self.world.call("admin", "POST", self.path(), json=body)
        assert answer.is_success, answer.text
        pages = self.world.get("admin", self.path(end="/content/path/" + title.lower()))
        id: str = pages["id"]
        return id

    def start(self, who: str = "admin") -> int:
        number: int = self.world.post(who, self.path(end="/change-requests"), {"subject": "Edit"})["number"]
        return number

    def access(self, who: str, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self.world.get(who, self.path(number, "/access-changes"))
        return found

    def people(self, who: str, *, role: str) -> dict[str, str]:
        return {"kind": "user", "user": self.world.users[who], "level": role}

    def promote(self, who: str, role: str) -> None:
        body = {"users": [self.world.users[who]], "role": role}
        assert self.world.call("admin", "POST", self.path(end="/permissions"), json=body).is_success

    def checks(self, who: str, number: int) -> dict[str, Any]:
        checks = self.world.get(who, self.path(number, "/merge"))["checks"]
        return {one["check"]: one for one in checks}

    def review(self, who: str, number: int, status: str = "approved") -> None:
        answer = self.world.call(who, "POST", self.path(number, "/reviews"), json={"status": status})
        assert answer.is_success, answer.text

    def set_rules(self, *rules: dict[str, Any]) -> None:
        body = {"mergeRules": {"type": "rules", "rules": list(rules)}}
        answer = self.world.call("admin", "PATCH", self.path(end=""), json=body)
        assert answer.is_success, answer.text


@pytest.fixture
def drafts(world: World) -> Drafts:
    return Drafts(world)


def names(readers: dict[str, Any]) -> set[str]:
    return {one["id"] for one in readers["people"]}


def test_a_rule_in_a_change_request_says_who_loses_and_gains_access(drafts: Drafts) -> None:
    world = drafts.world
    page = drafts.insert("Plans")
    number = drafts.start()
    assert drafts.access("admin", number)["pages"] == []
    drafts.edit("admin", number, page=page, visibleTo=[drafts.people("editor", role="read")])
    (shown,) = drafts.access("admin", number)["pages"]
    assert (shown["page"], shown["title"], shown["open"]) == (page, "Plans", False)
    assert world.users["reader"] in names(shown["lost"])
    assert world.users["editor"] not in names(shown["lost"]) and shown["gained"]["count"] == 0
    assert world.users["admin"] not in names(shown["lost"])
    # Nothing about the page reaches people who can't see it after the merge.
    drafts.promote("reader", "edit")
    assert drafts.access("reader", number)["pages"] == []

    assert world.call("admin", "POST", drafts.path(number, "/merge")).json()["result"] == "merge"
    number = drafts.start()
    drafts.edit("admin", number, page=page, visibleTo=[])
    (shown,) = drafts.access("editor", number)["pages"]
    assert shown["open"] and world.users["reader"] in names(shown["gained"]) and shown["lost"]["count"] == 0


def test_moves_into_and_out_of_a_restricted_page_say_who_sees_the_page(drafts: Drafts) -> None:
    world = drafts.world
    closed, other = drafts.insert("Plans"), drafts.insert("Others")
    drafts.edit("admin", None, page=closed, visibleTo=[drafts.people("editor", role="edit")])
    number = drafts.start("editor")
    drafts.edit("editor", number, page=other, into=closed)
    (shown,) = drafts.access("editor", number)["pages"]
    assert shown["page"] == other and world.users["reader"] in names(shown["lost"])
    assert world.call("admin", "POST", drafts.path(number, "/merge")).is_success
    number = drafts.start()
    drafts.edit("admin", number, page=other, into=None)
    (shown,) = drafts.access("admin", number)["pages"]
    assert shown["open"] and world.users["reader"] in names(shown["gained"])


def test_rules_that_main_got_since_then_still_apply_after_the_merge(drafts: Drafts) -> None:
    page = drafts.insert("Plans")
    number = drafts.start()
    drafts.edit("admin", number, page=page, title="New plans")
    drafts.edit("admin", None, page=page, visibleTo=[ADMINISTRATORS])
    assert drafts.access("admin", number)["pages"] == []


def test_reviewers_get_the_number_of_hidden_pages_and_who_can_review_them(drafts: Drafts) -> None:
    world = drafts.world
    page = drafts.insert("Plans")
    number = drafts.start("admin")
    drafts.edit("admin", number, page=page, title="Secret plans")
    drafts.edit("admin", None, page=page, visibleTo=[drafts.people("creator", role="read")])
    hidden = drafts.access("editor", number)
    assert "hiddenPages" not in hidden and "reviewers" not in hidden
    drafts.promote("editor", "review")
    hidden = drafts.access("editor", number)
    assert hidden["hiddenPages"] == 1 and "Secret" not in str(hidden) and page not in str(hidden)
    able = {one["id"] for one in hidden["reviewers"]}
    assert world.users["creator"] in able
    assert not {world.users["admin"], world.users["editor"], world.users["reader"]} & able
    assert drafts.access("creator", number)["hiddenPages"] == 0
    assert world.call("reader", "GET", drafts.path(number, "/access-changes")).status_code == 403


@pytest.mark.parametrize(
    "rule",
    ["require_at_least_one_review", "require_at_least_one_approved_review", "require_specific_reviewers"],
)
def test_reviews_count_only_for_pages_that_their_reviewer_sees(drafts: Drafts, rule: str) -> None:
    world = drafts.world
    page, seen = drafts.insert("Plans"), drafts.insert("Others")
    drafts.promote("editor", "review")
    named = {"users": [world.users["editor"]]} if rule == "require_specific_reviewers" else {}
    drafts.set_rules({"rule": rule, **named})
    number = drafts.start()
    drafts.edit("admin", number, page=seen, title="Other words")
    drafts.edit("admin", number, page=page, title="Secret plans")
    drafts.edit("admin", None, page=page, visibleTo=[drafts.people("creator", role="read")])
    drafts.review("editor", number)
    check = drafts.checks("editor", number)[rule]
    assert not check["passes"] and check["partial"] and "Secret" not in str(check)
    assert world.call("editor", "POST", drafts.path(number, "/merge")).status_code == 412
    if named:
        drafts.edit("admin", None, page=page, visibleTo=[drafts.people("editor", role="read")])
    else:
        drafts.review("creator", number)
    check = drafts.checks("editor", number)[rule]
    assert check["passes"] and "partial" not in check
    assert world.call("admin", "POST", drafts.path(number, "/merge")).is_success


def test_requested_changes_count_from_people_who_see_only_some_pages(drafts: Drafts) -> None:
    page, seen = drafts.insert("Plans"), drafts.insert("Others")
    drafts.promote("editor", "review")
    drafts.set_rules(
        {"rule": "require_all_reviews_approved"},
        {"rule": "custom", "expression": "reviews.filter(r => r.partial).length == 0"},
    )
    number = drafts.start()
    drafts.edit("admin", number, page=seen, title="Other words")
    drafts.edit("admin", number, page=page, title="Secret plans")
    drafts.edit("admin", None, page=page, visibleTo=[ADMINISTRATORS])
    drafts.review("editor", number, "changes-requested")
    assert not drafts.checks("admin", number)["require_all_reviews_approved"]["passes"]
    assert not drafts.checks("admin", number)["custom"]["passes"]
