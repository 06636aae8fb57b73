"""What a field does that is declared in the table of page fields and nowhere else (see `test_made_up.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from changes.working import Space, update
from declarations.building import load_build
from gitsync.developers import Developer, Synced, local_remotes
from octavo.content.references.viewing import load_view
from octavo.content.revisions.states import main_state
from octavo.core.document.page import front_keys, read_head, with_head
from octavo.core.page_fields import PageFields
from renderers.test_locating import Site
from transfer.bringing_in import Imports
from world import World

pytestmark = pytest.mark.sqlite_first
HEAD = "---\nreviewDate: 2027-01-01\n---\n\n"


@pytest.fixture
def space(world: World) -> Space:
    return Space(world)


def test_front_matter() -> None:
    fields: Any = read_head(f"{HEAD}# T\n")
    assert (fields.review_date, fields.extra, fields.problems) == ("2027-01-01", {}, [])
    made: dict[str, Any] = {"review_date": "2028"}
    later = PageFields(**made)
    assert (
        with_head(f"{HEAD}# T\n", front_keys(later, "review_date")) == "---\nreviewDate: '2028'\n---\n\n# T\n"
    )
    wrong: Any = read_head("---\nreviewDate: [1]\n---\n")
    assert wrong.review_date is None and [one.key for one in wrong.problems] == ["reviewDate"]


def test_the_api_writes_and_reads_it(space: Space) -> None:
    space.edit_main(update(space.pages["A"], reviewDate="2027-01-01"))
    page = space.page("A")
    assert page["reviewDate"] == "2027-01-01"
    assert page["markdown"].startswith("---\nreviewDate: '2027-01-01'\n---\n")
    refused = space.try_edit(None, update(space.pages["A"], reviewDate="x" * 21))
    assert refused.status_code in (400, 422) and "reviewDate" in refused.text
    space.edit_main(update(space.pages["A"], reviewDate=None))
    assert "reviewDate" not in json.dumps(space.page("A"))


def test_a_page_field_merges_with_a_change_of_the_text(space: Space) -> None:
    change = space.create()
    space.edit(change, update(space.pages["A"], reviewDate="2027-01-01"))
    space.edit_main(update(space.pages["A"], description="About A"))
    assert space.merge(change)["result"] == "merge"
    page = space.page("A")
    assert (page["reviewDate"], page["description"]) == ("2027-01-01", "About A")
    head: Any = read_head(page["markdown"])
    assert (head.review_date, head.description) == ("2027-01-01", "About A")


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        ({"choice": "ours"}, "2027"),
        ({"choice": "theirs"}, "2028"),
        ({"choice": "base"}, "2026"),
        ({"choice": "edited", "value": "2029"}, "2029"),
    ],
)
def test_a_conflict_is_about_it_and_resolved(space: Space, body: dict[str, Any], taken: str) -> None:
    space.edit_main(update(space.pages["A"], reviewDate="2026"))
    change = space.create()
    space.edit(change, update(space.pages["A"], reviewDate="2027"))
    space.edit_main(update(space.pages["A"], reviewDate="2028"))
    assert space.update(change)["result"] == "conflicts"
    (conflict,) = space.conflicts(change)
    assert (conflict["kind"], conflict["field"]) == ("field", "reviewDate")
    assert (conflict["base"], conflict["ours"], conflict["theirs"]) == ("2026", "2027", "2028")
    space.resolve(change, conflict["id"], **body)
    page = space.page("A", change)
    head: Any = read_head(page["markdown"])
    assert page["reviewDate"] == head.review_date == taken


def test_an_edit_of_it_resolves_its_conflict(space: Space) -> None:
    change = space.create()
    space.edit(change, update(space.pages["A"], reviewDate="2027"))
    space.edit_main(update(space.pages["A"], reviewDate="2028"))
    space.update(change)
    space.edit(change, update(space.pages["A"], reviewDate="2029"))
    assert space.conflicts(change) == []


@pytest.mark.parametrize("summary", ["* [T](page.md)\n", ""])
def test_an_import_reads_it(world: World, summary: str) -> None:
    """From our own format, and from Markdown of no format."""
    imports = Imports(world)
    files = [("SUMMARY.md", summary)] if summary else []
    imports.files(*files, ("page.md", f"{HEAD}# T\n\nWords.\n"))
    assert imports.page("T", "markdown")["reviewDate"] == "2027-01-01"


def test_git_sync_transfers_it_both_ways(world: World, tmp_path: Path) -> None:
    developer = Developer(tmp_path / "repository")
    developer.commit({"SUMMARY.md": "* [One](README.md)\n", "README.md": f"{HEAD}# One\n"})
    with local_remotes(world):
        synced = Synced(world, developer)
        assert synced.sync() == "synced"
        page = synced.page("One")
        assert page["reviewDate"] == "2027-01-01"
        synced.edit(update(page["id"], reviewDate="soon"))
        assert synced.sync() == "synced"
        assert developer.files["README.md"] == "---\nreviewDate: soon\n---\n\n# One\n"
        developer.commit({"README.md": "---\nreviewDate: later\n---\n\n# One\n"})
        assert synced.sync() == "synced" and synced.page("One")["reviewDate"] == "later"


def test_a_review_shows_it(space: Space) -> None:
    space.edit_main(update(space.pages["A"], reviewDate="2027"))
    change = space.create()
    space.edit(change, update(space.pages["A"], reviewDate="2028"))
    (shown,) = space.world.get("reader", f"{space.path}/change-requests/{change}/changes")["changes"]
    assert shown["attributes"]["reviewDate"] == {"before": "2027", "after": "2028"}


def test_the_app_has_a_label_and_a_control_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the dialog has a control for each field of this module (`tests/studio/test_page_options.py`)."""
    module = load_build(monkeypatch).page_fields()
    assert 'reviewDate: t("reviewDate")' in module
    assert '{"name": "reviewDate", "type": "text", "kinds": ["document"]}' in module


def test_readers_see_it_and_navigation_uses_it(world: World) -> None:
    site = Site(world)
    guide = site.spaces["Guide"]
    pages = site.read(site.found()["apiToken"], f"/spaces/{guide}/content").json()["pages"]
    with world.context.db.read() as tx:
        before = load_view(tx, main_state(tx, guide)).tree
    site.edit(guide, update(pages[1]["id"], reviewDate="2027"))
    with world.context.db.read() as tx:
        after = load_view(tx, main_state(tx, guide)).tree
    page: Any = after.find("more")
    assert page.review_date == "2027" and after.shape is not before.shape
    (entry,) = [
        one
        for one in world.get("admin", f"/spaces/{guide}/content/children")["items"]
        if one["id"] == pages[1]["id"]
    ]
    assert entry["reviewDate"] == "2027"
    shown = site.read(site.found()["apiToken"], f"/spaces/{guide}/content").json()["pages"]
    assert [one.get("reviewDate") for one in shown] == [None, "2027"]
