"""Whole spaces through a provider: everything except texts stays the same, and only changes are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from document_strategies import documents
from model_server import ModelServer, world_with_model
from octavo.assistants.translations.segments import mark_edited, segments
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.item_versions import list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.core.document.nodes import Document
from octavo.core.document.page import front_matter, split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.operations.admin.import_export import import_space
from skeletons import skeleton
from translations.test_translations import TRANSLATIONS, edit, get, markdown, run, sent, shout, work
from world import World


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.answer = shout
    return server


def create_of(world: World, space: str) -> dict[str, Any]:
    body = {"source": {"space": space, "language": "en"}, "language": "fr"}
    made: dict[str, Any] = world.post("admin", world.home.path(TRANSLATIONS), body)
    return made


def without_texts(page: Page) -> Page:
    return replace(page, title="", link_title=None, description=None, body=None, created_at=0, updated_at=0)


def bones(source: str) -> Any:
    """Return everything in a page file except its texts."""
    front, _, body = split_page(source)
    values, problems = front_matter(front)
    fields = {key: value for key, value in values.items() if key not in ("title", "description")}
    document = read(body)
    mark_edited(document)
    # Compare parsed files: Markdown can write the same content in different bytes.
    return fields, problems, skeleton(read(write(document)))


def same_but_texts(tx: Transaction, page: Page, other: Page) -> bool:
    if without_texts(page) != without_texts(other) or bool(page.body) != bool(other.body):
        return False
    return (
        not page.body or not other.body or bones(get_body(tx, page.body)) == bones(get_body(tx, other.body))
    )


def differences(tx: Transaction, source: str, copy: str) -> list[str]:
    """Return the pages and items whose copy differs in more than texts."""
    before, after = main_state(tx, source), main_state(tx, copy)
    pages = {page.id: page for page in list_pages(tx, after)}
    found = []
    for page in list_pages(tx, before):
        other = pages.pop(page.id, None)
        if other is None or not same_but_texts(tx, page, other):
            found.append(page.slug)
    for kind in ("file", "variable"):
        items = [list_items(tx, state, kind) for state in (before, after)]  # type: ignore[arg-type]
        if items[0] != items[1]:
            found.append(kind)
    return found + list(pages)


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(documents, min_size=5, max_size=15))
def test_everything_but_the_texts_of_generated_pages_is_kept(
    sqlite_world: World, server: ModelServer, generated: list[Document]
) -> None:
    world = sqlite_world.renew()
    home = world.home["spaceId"]
    for number, document in enumerate(generated):
        page = {"markdown": f"# Page {number}\n\n{write(document)}"}
        edit(world, home, operation="insert_page", title=f"Page {number}", document=page)
    with world_with_model(world, server):
        made = create_of(world, home)
        work(world)
    assert get(world, made)["stats"]["runs"] == 1
    with world.context.db.read() as tx:
        assert differences(tx, home, made["result"]["space"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["brighter-docs", "example-site", "elsa-guides"])
def test_everything_but_the_texts_of_a_real_space_is_kept(
    sqlite_world: World, server: ModelServer, corpora: Path, name: str
) -> None:
    world = sqlite_world
    space = import_space(
        world.context, str(corpora / name), organization_id=world.home["organizationId"]
    ).outcome.space
    with world_with_model(world, server, llm_daily_tokens=0, llm_seconds=60):
        made = create_of(world, space)
        work(world)
        done = get(world, made)
        assert done["status"] == "completed" and done["stats"]["runs"] == 1, done["notice"]
        copy = done["result"]["space"]
        with world.context.db.read() as tx:
            assert differences(tx, space, copy) == []
            texts = sum(
                len(segments(read(split_page(get_body(tx, page.body))[2])))
                for page in list_pages(tx, main_state(tx, space))
                if page.body
            )
        assert done["untranslated"] <= texts / 1000, done["problems"][:5]
        server.requests.clear()
        assert run(world, made)["stats"]["latestPages"] <= len(done["problems"])
        assert len(sent(server)) <= 2 * done["untranslated"]


@pytest.mark.slow
def test_one_changed_page_of_two_hundred_only_sends_its_changed_blocks(
    sqlite_world: World, server: ModelServer
) -> None:
    world = sqlite_world
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Large"})["id"]
    pages = [
        {
            "operation": "insert_page",
            "title": f"Page {number}",
            "document": {"markdown": "\n\n".join(f"Paragraph {at} of page {number}." for at in range(20))},
        }
        for number in range(200)
    ]
    for start in range(0, 200, 50):
        world.post("admin", f"/spaces/{space}/content", {"changes": pages[start : start + 50]})
    with world_with_model(world, server, llm_daily_tokens=0):
        made = create_of(world, space)
        work(world)
        assert len(sent(server)) == 200 * 21
        with world.context.db.read() as tx:
            page = list_pages(tx, main_state(tx, space))[99].id
        text = markdown(world, space, page)
        changed = text.replace("Paragraph 3 ", "The third paragraph ").replace("Paragraph 7 ", "The seventh ")
        assert changed != text
        edit(
            world,
            space,
            operation="update_page",
            page=page,
            document={"markdown": f"{changed}\n\nOne more paragraph.\n"},
        )
        server.requests.clear()
        done = run(world, made)
    asked = sent(server)
    assert len(asked) == 3 and len(server.requests) == 1, asked
    assert all(text.startswith(("The third", "The seventh", "One more")) for text in asked)
    assert done["stats"]["latestPages"] == 1 and done["untranslated"] == 0
