"""Tests that correcting typing errors has a limit: a query of unknown words costs no more than a few of them."""

from __future__ import annotations

import random
import string
from collections.abc import Iterable
from pathlib import Path

import pytest

from octavo.content.search import querying, store
from octavo.content.search.querying import MAX_SEARCH, MAX_TERMS, search_pages, suggest
from octavo.kit.db.database import Transaction
from octavo.operations.admin.import_export import import_space
from world import World

from .test_search import PAGES, write


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the rows that each lookup of words requests."""
    found: list[int] = []
    look_up = store.pages_containing

    def counted(tx: Transaction, scope: store.Scope, candidates: Iterable[str]) -> dict[str, int]:
        wanted = set(candidates)
        found.append(len(wanted) * len(scope.space_ids or scope.keys))
        return look_up(tx, scope, wanted)

    monkeypatch.setattr(store, "pages_containing", counted)
    return found


def unknown_words(count: int, length: int) -> str:
    chance = random.Random(count)
    # With endings, so that base forms are looked up as well.
    return " ".join(
        "".join(chance.choices(string.ascii_lowercase, k=length - 3)) + "ing" for _ in range(count)
    )


@pytest.mark.parametrize(("count", "length"), [(1, 200), (4, 100), (16, 31), (MAX_TERMS, 15)])
@pytest.mark.parametrize("spaces", [1, 16])
def test_unknown_words_take_limited_time(
    world: World, looked_up: list[int], count: int, length: int, spaces: int
) -> None:
    text = unknown_words(count, length)
    assert len(text) <= MAX_SEARCH
    ids = [world.home["spaceId"], *(f"another{n}" for n in range(spaces - 1))]
    for ask in (search_pages, suggest):
        looked_up.clear()
        with world.context.db.read() as tx:
            ask(tx, ids, text)
        assert sum(looked_up) <= 1.1 * querying._MOST_SPELLINGS, ask


def test_one_typing_error_among_many_words_is_still_found(world: World, tmp_path: Path) -> None:
    folder = write(tmp_path / "source", PAGES)
    space = import_space(
        world.context, str(folder), organization_id=world.home["organizationId"]
    ).outcome.space
    for query in (
        "kuberntes",
        "run the deploymnet with a manifest on kuberntes",
        "introducton to configuraton",
    ):
        with world.context.db.read() as tx:
            assert search_pages(tx, [space], query).hits, query
