"""Tests of a source that the command imports again: unedited content follows it, the rest is merged, and nothing
is lost."""

import shutil

import pytest
from msgspec import UNSET

from octavo.errors import BadRequest
from octavo.operations.admin.import_export import import_space
from transfer.bringing_in import PNG

FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [A](a.md)\n* [B](b.md)\n* [Old](old.md)\n",
    "README.md": "# Home\n\nWelcome.\n",
    "a.md": "# A\n\nOne.\n\nTwo.\n\nThree.\n",
    "b.md": "# B\n\nAll that is said of B, which is not much.\n",
    "old.md": "# Old\n\nSoon gone.\n",
    "x.png": PNG,
}


class TemporaryFiles:
    """Import a source with the command into the space of ``imports``."""

    def __init__(self, imports, where):
        self.imports, self.where = imports, where
        self.write(FILES)

    def write(self, files):
        for path, data in files.items():
            file = self.where / path
            if data is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else data.encode())

    def bring(self, **options):
        imports = self.imports
        return import_space(imports.world.context, str(self.where), space_id=imports.space, **options).outcome


@pytest.fixture
def folder(imports, tmp_path):
    return TemporaryFiles(imports, tmp_path / "docs")


def edit(imports, *changes):
    answer = imports.world.call(
        "editor", "POST", f"/spaces/{imports.space}/content", json={"changes": list(changes)}
    )
    assert answer.status_code < 300, answer.text


def say(imports, title, markdown):
    page = imports.page(title, "markdown")["id"]
    edit(imports, {"operation": "update_page", "page": page, "document": {"markdown": markdown}})


def write_page(imports, title, markdown):
    edit(imports, {"operation": "insert_page", "title": title, "document": {"markdown": markdown}})


def ids(imports):
    return {page["title"]: page["id"] for page in imports.pages()}


def conflicts(imports, outcome):
    at = f"/spaces/{imports.space}/change-requests/{outcome.changes.change_request}"
    return imports.world.get("editor", f"{at}/conflicts")["items"]


def counts(outcome):
    changes = outcome.changes
    return changes.created, changes.updated, changes.merged, changes.deleted, changes.kept


def test_both_sides_are_merged_and_own_pages_are_kept(imports, folder):
    folder.bring()
    before = ids(imports)
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    write_page(imports, "Ours", "Written here.\n")
    folder.write(
        {
            "SUMMARY.md": "* [Home](README.md)\n* [New](new.md)\n* [A](a.md)\n* [B](b.md)\n",
            "a.md": "# A\n\nOne.\n\nTwo.\n\nThree of theirs.\n",
            "new.md": "# New\n\nAbout it.\n",
            "old.md": None,
            "x.png": PNG + b"more",
        }
    )
    again = folder.bring()
    assert counts(again) == (1, 2, 1, 1, 0)
    assert imports.text("A") == "# A\n\nOne of ours.\n\nTwo.\n\nThree of theirs.\n"
    assert "Written here." in imports.text("Ours")
    now = ids(imports)
    assert set(now) == {"Home", "New", "A", "B", "Ours"}
    assert {title: id for title, id in before.items() if title != "Old"}.items() <= now.items()
    third = folder.bring()
    assert (third.changed, counts(third)) == (0, (0, 0, 0, 0, 0))
    # Runs of the command are listed with all others, but have no user.
    listed = imports.world.get("admin", f"{imports.runs}?space={imports.space}")["items"]
    assert [run.get("createdBy") for run in listed] == [None] * 3
    assert [run["source"] for run in listed] == [{"type": "command", "name": "docs"}] * 3


@pytest.mark.sqlite_first
def test_conflicts_are_kept_in_a_change_request(imports, folder):
    folder.bring()
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    say(imports, "Old", "# Old\n\nStill needed.\n")
    folder.write(
        {
            "SUMMARY.md": "* [Home](README.md)\n* [A](a.md)\n* [B](b.md)\n",
            "a.md": "# A\n\nOne of theirs.\n\nTwo.\n\nThree.\n",
            "old.md": None,
        }
    )
    again = folder.bring()
    assert counts(again)[-1] == 2
    assert {problem.code for problem in again.problems} == {"kept_by_people"}
    assert "One of ours." in imports.text("A") and "Still needed." in imports.text("Old")
    found = {conflict["kind"]: conflict for conflict in conflicts(imports, again)}
    assert set(found) == {"block", "deleted"}
    assert (found["block"]["ours"], found["block"]["theirs"]) == ("One of ours.", "One of theirs.")
    # Resolved in favor of the source, so the next import has nothing to change.
    at = f"/spaces/{imports.space}/change-requests/{again.changes.change_request}"
    world = imports.world
    for conflict in found.values():
        answer = world.call(
            "editor", "POST", f"{at}/conflicts/{conflict['id']}/resolve", json={"choice": "theirs"}
        )
        assert answer.status_code < 300, answer.text
    assert world.call("admin", "POST", f"{at}/merge", json={}).status_code < 300
    assert "One of theirs." in imports.text("A") and "Old" not in ids(imports)
    assert folder.bring().changed == 0


@pytest.mark.sqlite_first
def test_moves_on_both_sides_are_followed(imports, folder):
    folder.bring()
    before = ids(imports)
    edit(
        imports,
        {"operation": "update_page", "page": before["B"], "into": before["A"], "title": "B here"},
    )
    folder.write(
        {
            "SUMMARY.md": "* [Home](README.md)\n* [A](deep/a.md)\n* [B](b.md)\n* [Old](old.md)\n",
            "deep/a.md": FILES["a.md"],
            "a.md": None,
            "b.md": FILES["b.md"] + "\nAnd more of it.\n",
        }
    )
    again = folder.bring()
    assert counts(again)[-1] == 0, again.problems
    tree = imports.tree()
    assert set(tree) == {"Home", "A", "Old"} and set(tree["A"]) == {"B here"}
    assert "And more of it." in imports.text("B here")
    assert ids(imports)["A"] == before["A"]


@pytest.mark.sqlite_first
def test_a_deleted_page_returns_only_if_the_source_changes_it(imports, folder):
    folder.bring()
    edit(imports, {"operation": "delete_page", "page": ids(imports)["Old"]})
    assert folder.bring().changed == 0
    assert "Old" not in ids(imports)
    folder.write({"old.md": "# Old\n\nNot gone at all.\n"})
    again = folder.bring()
    assert counts(again)[-1] == 1 and "Not gone at all." in imports.text("Old")


@pytest.mark.sqlite_first
def test_an_import_into_existing_pages_adds_pages(imports, folder):
    write_page(imports, "Ours", "Written here.\n")
    assert folder.bring().changes is UNSET
    assert list(imports.tree()) == ["Ours", "Home", "A", "B", "Old"]
    folder.write({"b.md": "# B\n\nOtherwise.\n"})
    assert counts(folder.bring()) == (0, 1, 0, 0, 0)
    assert list(imports.tree()) == ["Ours", "Home", "A", "B", "Old"]


@pytest.mark.sqlite_first
def test_a_moved_source_is_recognized_and_another_one_is_not(imports, folder, tmp_path):
    folder.bring()
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    shutil.copytree(folder.where, tmp_path / "elsewhere")
    moved = TemporaryFiles(imports, tmp_path / "elsewhere")
    moved.write({"a.md": "# A\n\nOne.\n\nTwo.\n\nThree of theirs.\n"})
    assert counts(moved.bring()) == (0, 1, 1, 0, 0)
    other = tmp_path / "other"
    other.mkdir()
    (other / "guide.md").write_text("# Guide\n\nSomething else.\n")
    import_space(imports.world.context, str(other), space_id=imports.space)
    assert {"Home", "A", "B", "Old"} < set(imports.tree())
    # Both are known from then on.
    (other / "guide.md").write_text("# Guide\n\nSomething new.\n")
    outcome = import_space(imports.world.context, str(other), space_id=imports.space).outcome
    assert counts(outcome) == (0, 1, 0, 0, 0)
    assert counts(folder.bring()) == (0, 1, 1, 0, 0)
    assert "One of ours." in imports.text("A")


@pytest.mark.sqlite_first
def test_imports_before_recorded_runs_are_recognized_by_revision(imports, folder):
    folder.bring()
    with imports.world.context.db.write() as tx:
        tx.run("DELETE FROM imported_parts")
        tx.run("DELETE FROM import_runs")
    write_page(imports, "Ours", "Written here.\n")
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    folder.write(
        {
            "SUMMARY.md": "* [Home](README.md)\n* [A](a.md)\n* [B](b.md)\n",
            "a.md": "# A\n\nOne.\n\nTwo.\n\nThree of theirs.\n",
            "old.md": None,
        }
    )
    assert counts(folder.bring()) == (0, 1, 1, 1, 0)
    assert set(imports.tree()) == {"Home", "A", "B", "Ours"}
    assert "One of ours." in imports.text("A") and "Three of theirs." in imports.text("A")


@pytest.mark.sqlite_first
def test_the_space_is_replaced_with_the_source_on_request(imports, folder):
    folder.bring()
    say(imports, "A", "# A\n\nOne of ours.\n")
    write_page(imports, "Ours", "Written here.\n")
    folder.bring(whole=True)
    assert list(imports.tree()) == ["Home", "A", "B", "Old"]
    assert imports.text("A") == FILES["a.md"]
    say(imports, "B", "# B\n\nOurs.\n")
    assert folder.bring().changed == 0
    assert "Ours." in imports.text("B")


@pytest.mark.sqlite_first
def test_an_interrupted_import_keeps_existing_content(imports, folder, monkeypatch):
    folder.bring()
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    before = {title: imports.text(title) for title in ids(imports)}
    folder.write({"a.md": "# A\n\nOne of theirs.\n\nTwo.\n\nThree.\n", "b.md": "# B\n\nNew.\n"})

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("octavo.interchange.transfer.store.put_parts", killed)
        with pytest.raises(KeyboardInterrupt):
            folder.bring()
    assert {title: imports.text(title) for title in ids(imports)} == before
    changes = imports.world.get("editor", f"/spaces/{imports.space}/change-requests")
    assert changes["items"] == []
    again = folder.bring()
    assert counts(again) == (0, 1, 0, 0, 1) and imports.text("B") == "# B\n\nNew.\n"


@pytest.mark.sqlite_first
def test_conflicts_without_an_administrator_change_nothing(imports, folder):
    folder.bring()
    say(imports, "A", "# A\n\nOurs.\n\nTwo.\n\nThree.\n")
    folder.write({"a.md": "# A\n\nTheirs.\n\nTwo.\n\nThree.\n", "b.md": "# B\n\nNew.\n"})
    world = imports.world
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET role = 'edit' WHERE role = 'admin'")
    with pytest.raises(BadRequest, match="no administrator"):
        folder.bring()
    assert imports.text("B") == FILES["b.md"]
