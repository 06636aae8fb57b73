"""Restricted pages don't exist for people who can't see them, in the responses of all operations."""

from __future__ import annotations

from typing import Any

from contract.samples import SAMPLES, TOLD_ELSEWHERE, sample_of, send
from contract.samples import _Noting as Noting
from octavo.kit.http.operation import PUBLIC, TABLE
from octavo.kit.ids import new_id
from octavo.operations.installation import load_packages
from world import MEMBERS, Place, World

load_packages()

WORD = "zqsecret"
READS = [
    o for o in TABLE.values() if o.method == "GET" and o.needs is not PUBLIC and o.id not in TOLD_ELSEWHERE
]


def change(world: World, who: str, *changes: dict[str, Any]) -> Any:
    path = world.home.path("/spaces/{spaceId}/content")
    return world.call(who, "POST", path, json={"changes": list(changes)})


def insert(world: World, title: str, into: str | None = None) -> str:
    document = {"markdown": f"{WORD}words of {title}.\n"}
    page = {"operation": "insert_page", "title": f"{WORD} {title}", "document": document}
    answer = change(world, "admin", {**page, **({"into": into} if into else {})})
    assert answer.is_success, answer.text
    found = world.get("admin", world.home.path("/spaces/{spaceId}/content"))
    return next(one["id"] for one in listed(found["pages"]) if one["title"] == f"{WORD} {title}")


def listed(pages: list[Any]) -> list[Any]:
    return [one for page in pages for one in (page, *listed(page.get("pages", [])))]


def restrict(world: World, page: str, *entries: str) -> None:
    answer = change(world, "admin", {"operation": "update_page", "page": page, "visibleTo": list(entries)})
    assert answer.is_success, answer.text


def test_reads_reveal_no_restricted_page(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, "plans")
    below = insert(world, "details", page)
    restrict(world, page, "administrators")
    found = []
    for operation in READS:
        sample = sample_of(operation)
        if sample.before is not None:
            sample.before(world, world.home)
        for who in ("editor", "reader"):
            answer = send(world, who, operation, world.home)
            if any(word in answer.text for word in (WORD, page, below)):
                found.append(f"{operation.id} ({who}): {answer.text[:300]}")
    assert not found, "\n".join(found)


class Instead(Place):
    """The place with another page."""

    def __init__(self, place: Place, page: str) -> None:
        super().__init__(place.name, place.roles)
        self.ids = {**place.ids, "pageId": page}


def test_a_restricted_page_is_like_one_that_never_existed(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, "plans")
    restrict(world, page, "administrators")
    never = new_id()
    found = []
    for operation in TABLE.values():
        if operation.needs is PUBLIC or operation.id in TOLD_ELSEWHERE or operation.id not in SAMPLES:
            continue
        sample = sample_of(operation)
        if (
            "pageId"
            not in f"{operation.path}{sample.path}{sample.names_in_body()}{sample.query_for(Noting('noting', MEMBERS))}"
        ):
            continue
        if sample.before is not None:
            sample.before(world, world.home)
        for who in ("editor", "reader"):
            answers = [send(world, who, operation, Instead(world.home, id)) for id in (page, never)]
            texts = [answer.text.replace(id, "ID") for answer, id in zip(answers, (page, never), strict=True)]
            if WORD in texts[0] or answers[0].status_code != answers[1].status_code:
                found.append(
                    f"{operation.id} ({who}): {[one.status_code for one in answers]} {texts[0][:200]}"
                )
    assert not found, "\n".join(found)


def test_no_search_finds_a_restricted_page(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, "plans")
    restrict(world, page, "administrators")
    found = []
    for operation in READS:
        if sample_of(operation).before is not None:
            sample_of(operation).before(world, world.home)
        for name in ("query", "q", "search", "text", "filter"):
            answer = send(
                world,
                "editor",
                operation,
                world.home,
                params={**sample_of(operation).query_for(world.home), name: WORD},
            )
            if page in answer.text or f"{WORD} plans" in answer.text:
                found.append(f"{operation.id} {name}: {answer.text[:300]}")
    assert not found, "\n".join(found)


def test_nothing_about_a_restricted_page_is_revealed(sqlite_world: World) -> None:
    """The page has comments, suggestions, reviews, live text, revisions, references, and change requests."""
    world = sqlite_world
    page = world.home["pageId"]
    change(world, "admin", {"operation": "update_page", "page": page, "title": f"{WORD} sample"})
    for before in {sample_of(operation).before for operation in READS} - {None}:
        before(world, world.home)
    restrict(world, page, "administrators")
    found = []
    for operation in READS:
        sample = sample_of(operation)
        for who in ("editor", "reader"):
            answer = send(world, who, operation, world.home)
            sent = page in f"{sample.ids(world.home, operation.path)}{sample.query_for(world.home)}"
            text = answer.text.lower()
            if WORD in text or (not sent and page.lower() in text):
                at = text.find(WORD) if WORD in text else text.find(page.lower())
                found.append(
                    f"{operation.id} ({who}): {answer.status_code} {answer.text[max(0, at - 150) : at + 60]}"
                )
    assert not found, "\n".join(found)
