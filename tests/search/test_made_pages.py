"""Tests of indexing derived pages: only what changed, in parts, and with concurrent workers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from octavo.content.revisions.deriving import check_derived
from octavo.content.search import computed, store
from octavo.content.search.computed import index_computed_pages
from octavo.operations.admin.import_export import import_space
from openapi.specs import processed
from world import World

pytestmark = pytest.mark.sqlite_first

_COMPUTED = (
    "* ```yaml\n  type: builtin:openapi\n  props: {{grouping: by-operation, models: true}}\n"
    "  dependencies: {{spec: {{ref: {{kind: openapi, spec: {}}}}}}}\n  ```\n"
)
_BLOCK = '# Home\n\n{% openapi-schemas spec="two" schemas="Thing" %}\n{% endopenapi-schemas %}\n'


def spec(title: str, operations: int = 6, said: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a specification whose operation ``getN`` has the description ``said["getN"]``."""
    paths = "".join(
        f"  /{title}/{n}: {{get: {{operationId: get{n}, summary: Get {n}, description: "
        f"'{said.get(f'get{n}', 'as ever')}',"
        " responses: {'200': {description: Fine}}}}\n"
        for n in range(operations)
    )
    schema = (
        "components: {schemas: {Thing: {type: object, description: '"
        + said.get("thing", "a thing")
        + "'}}}\n"
    )
    return f"openapi: 3.1.0\ninfo: {{title: {title}, version: '1'}}\npaths:\n{paths}{schema}"


@pytest.fixture
def space(world: World, tmp_path: Path) -> str:
    for name in ("one", "two"):
        processed(world, name, {"text": spec(name)})
    (tmp_path / "SUMMARY.md").write_text(
        "* [Home](README.md)\n" + "".join(map(_COMPUTED.format, ("one", "two")))
    )
    (tmp_path / "README.md").write_text(_BLOCK)
    brought = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="A"
    )
    index_computed_pages(world.context, brought.outcome.space)
    ordered(world)
    return brought.outcome.space


def ordered(world: World) -> int:
    with world.context.db.write() as tx:
        return int(tx.run("DELETE FROM jobs WHERE kind = 'indexComputedPages'"))


def words(world: World, space: str) -> dict[str, str]:
    """Return the indexed text of each page, by title."""
    with world.context.db.read() as tx:
        rows = tx.all(
            """SELECT p.titles, s.body FROM search_sections s JOIN search_pages p ON p.space_id = s.space_id
                 AND p.page_id = s.page_id AND p.version = s.version WHERE s.space_id = :space ORDER BY s.id""",
            space=space,
        )
        assert check_derived(tx, space, ()) == []
    found: dict[str, str] = {}
    for titles, body in rows:
        found[titles] = f"{found.get(titles, '')} {body}"
    return found


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return the titles of the pages that were computed, and of those that were written."""
    done: dict[str, list[str]] = {"made": [], "written": []}
    make, prepare = computed._MainReader.document_of, store.prepare_page

    def making(self: Any, page: Any, draws: bool) -> Any:
        done["made"].append(page.title)
        return make(self, page, draws)

    def preparing(tx: Any, space_id: str, page_id: str, titles: str, *more: Any) -> Any:
        done["written"].append(titles.partition("\n")[0])
        return prepare(tx, space_id, page_id, titles, *more)

    monkeypatch.setattr(computed._MainReader, "document_of", making)
    monkeypatch.setattr(store, "prepare_page", preparing)
    return done


def test_unchanged_pages_are_not_rendered_again(world: World, space: str, work: dict[str, list[str]]) -> None:
    index_computed_pages(world.context, space)
    assert work == {"made": [], "written": []}
    assert ordered(world) == 0


def test_a_changed_specification_writes_only_affected_pages(
    world: World, space: str, work: dict[str, list[str]]
) -> None:
    before = words(world, space)
    processed(world, "two", {"text": spec("two", said={"get3": "brand new"})})
    assert ordered(world) == 1
    index_computed_pages(world.context, space)
    after = words(world, space)
    assert {title for title in after if after[title] != before[title]} == {"Get 3"}
    assert "brand new" in after["Get 3"]
    assert work["written"] == ["Get 3"]
    # Both specifications have pages with these titles: those of the other one weren't computed again.
    assert len(work["made"]) == len(set(work["made"]))


def test_a_block_is_rendered_again_when_its_specification_changes(
    world: World, space: str, work: dict[str, list[str]]
) -> None:
    assert "a thing" in words(world, space)["Home"]
    processed(world, "one", {"text": spec("one", said={"thing": "another thing"})})
    index_computed_pages(world.context, space)
    assert "Home" not in work["made"]
    processed(world, "two", {"text": spec("two", said={"thing": "quite a thing"})})
    index_computed_pages(world.context, space)
    assert "Home" in work["written"] and "quite a thing" in words(world, space)["Home"]


def test_a_run_leaves_excess_work_to_the_next(
    world: World, space: str, work: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computed, "_AT_ONCE", 2)
    processed(world, "two", {"text": spec("two", 9, {f"get{n}": f"said {n}" for n in range(9)})})
    assert ordered(world) == 1
    runs, was = 0, -1
    while was != len(work["made"]):
        was = len(work["made"])
        index_computed_pages(world.context, space, most=3)
        runs += 1
        assert len(work["made"]) - was <= 3
        if len(work["made"]) - was == 3:
            assert ordered(world) in (0, 1)
    assert runs > 3 and ordered(world) == 0
    after = words(world, space)
    assert all(f"said {n}" in after[f"Get {n}"] for n in range(9))


def test_an_interrupted_run_resumes(
    world: World, space: str, work: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computed, "_AT_ONCE", 1)
    processed(world, "two", {"text": spec("two", said={f"get{n}": f"said {n}" for n in range(6)})})
    making = computed._MainReader.document_of

    def ending(self: Any, page: Any, draws: bool) -> Any:
        if page.title == "Get 4":
            raise RuntimeError("killed")
        return making(self, page, draws)

    with monkeypatch.context() as broken:
        broken.setattr(computed._MainReader, "document_of", ending)
        with pytest.raises(RuntimeError):
            index_computed_pages(world.context, space)
    done = set(work["written"])
    assert {"Get 0", "Get 3"} <= done
    work["made"].clear()
    index_computed_pages(world.context, space)
    assert not done & set(work["made"])
    assert all(f"said {n}" in words(world, space)[f"Get {n}"] for n in range(6))


def test_older_runs_do_not_overwrite_newer_rows(
    world: World, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    processed(world, "two", {"text": spec("two", said={"get1": "older"})})
    ordered(world)
    index = computed._index_derived
    overtaken: list[bool] = []

    def overtaking(context: Any, space_id: str, *more: Any) -> bool:
        if not overtaken:
            overtaken.append(True)
            # Another worker does the same with a newer version before this one reads anything.
            processed(world, "two", {"text": spec("two", said={"get1": "newer"})})
            index_computed_pages(context, space_id)
        return index(context, space_id, *more)

    monkeypatch.setattr(computed, "_index_derived", overtaking)
    ordered(world)
    index_computed_pages(world.context, space)
    assert "newer" in words(world, space)["Get 1"]
    assert ordered(world) == 1, "the run that was overtaken has everything looked at once more"
    index_computed_pages(world.context, space)
    assert "newer" in words(world, space)["Get 1"] and ordered(world) == 0


def test_deleted_pages_are_removed_from_the_index(world: World, space: str) -> None:
    assert "Get 5" in words(world, space)
    for name in ("one", "two"):
        processed(world, name, {"text": spec(name, 5)})
    index_computed_pages(world.context, space)
    assert "Get 5" not in words(world, space)


def test_a_new_version_of_octavo_renders_pages_again(
    world: World, space: str, work: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computed, "version", lambda name: "99")
    index_computed_pages(world.context, space)
    assert len(work["made"]) >= 12 and work["written"] == []
    work["made"].clear()
    index_computed_pages(world.context, space)
    assert work["made"] == []
    assert re.search("Get 0", str(words(world, space)))


_CHAT = """openapi: 3.1.0
info: {title: Chat, version: '1'}
paths:
  /chat.postMessage: {post: {operationId: chat_postMessage, tags: [chat], summary: Sends a message to a \
channel, responses: {'200': {description: Fine}}}}
  /chat.update: {post: {operationId: chat_update, tags: [chat], summary: Updates a message, description: \
'See chat.postMessage. chat.postMessage, and chat.postMessage again.', responses: {'200': {description: Fine}}}}
  /chat/completions: {post: {operationId: createChatCompletion, tags: [Chat], summary: '**Starting a new \
project?** We recommend trying something else, which has the newest of everything. Compare it below.', \
responses: {'200': {description: Fine, content: {application/json: {schema: {$ref: \
'#/components/schemas/CreateChatCompletionResponse'}}}}}}}
components:
  schemas:
    CreateChatCompletionRequest: {type: object, description: What createChatCompletion takes}
    CreateChatCompletionResponse: {type: object, description: What createChatCompletion gives}
    ChatPostMessage: {type: object, description: chat.postMessage}
"""
_GUIDE = (
    "# chat.postMessage and createChatCompletion explained\n\n"
    "chat.postMessage chat.postMessage, createChatCompletion.\n"
)


@pytest.mark.parametrize("grouping", ["by-operation", "by-tag"])
def test_an_identifier_finds_its_object_first(world: World, tmp_path: Path, grouping: str) -> None:
    processed(world, "chat", {"text": _CHAT})
    (tmp_path / "SUMMARY.md").write_text(
        "* [Home](README.md)\n" + _COMPUTED.format("chat").replace("by-operation", grouping)
    )
    (tmp_path / "README.md").write_text(_GUIDE)
    space = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="A"
    ).outcome.space
    index_computed_pages(world.context, space)

    def first(query: str) -> tuple[str, str]:
        """Return the page that is found first, with its section."""
        found = world.get("admin", f"/spaces/{space}/search", params={"query": query})["items"][0]
        return found["title"], found["sections"][0]["title"]

    sends = (
        ("Sends a message to a channel", "")
        if grouping == "by-operation"
        else ("chat", "Sends a message to a channel")
    )
    for query in (
        "chat.postMessage",
        "chat.postmessage",
        "/chat.postMessage",
        "chat_postMessage",
        "POST /chat.postMessage",
    ):
        assert first(query) == sends, query
    starting = "Create chat completion" if grouping == "by-operation" else "Chat"
    for query in ("createChatCompletion", "/chat/completions", "createchatcompletion"):
        assert first(query)[0].startswith(starting) or grouping == "by-tag", (query, first(query))
        assert not first(query)[0].startswith("CreateChat"), query
    assert first("CreateChatCompletionRequest")[1] in ("", "CreateChatCompletionRequest")
