"""Tests of merging a newer state of a source into the results of an earlier run."""

import pytest

from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from transfer.bringing_in import PNG, archive

FIRST = {
    "p/mkdocs.yml": "site_name: P\nnav:\n  - index.md\n  - a.md\n  - b.md\n  - gone.md\n  - lost.md\n",
    "p/docs/index.md": "# Home\n\n[A](a.md)\n",
    "p/docs/a.md": "# A\n\nOne.\n\nTwo.\n\nThree.\n",
    "p/docs/b.md": "# B\n\n![x](x.png)\n",
    "p/docs/gone.md": "# Gone\n\nSoon.\n",
    "p/docs/lost.md": "# Lost\n\nAlso.\n",
    "p/docs/x.png": PNG,
}
SECOND = {
    **FIRST,
    "p/mkdocs.yml": "site_name: P\nnav:\n  - index.md\n  - b.md\n  - a.md\n  - new.md\n",
    "p/docs/a.md": "# A\n\nOne.\n\nTwo.\n\nThree of the source.\n",
    "p/docs/b.md": "# B\n\nFrom the source.\n\n![x](x.png)\n",
    "p/docs/new.md": "# New\n\n[A](a.md)\n",
    "p/docs/x.png": PNG + b"more",
}
for path in ("p/docs/gone.md", "p/docs/lost.md"):
    del SECOND[path]


def bring(imports, files, update=None, change=None, **more):
    """Run an import to its end."""
    key = imports.upload("p.zip", archive(files))
    target = {"space": imports.space, **({"changeRequest": change} if change else {})}
    body = {"source": {"type": "file", "files": [key]}, "target": target, **more}
    if update is not None:
        body["update"] = update
    answer = imports.world.call("editor", "POST", imports.runs, json=body)
    assert answer.status_code == 201, answer.text
    imports.work()
    return imports.run(answer.json()["id"])


def say(imports, title, markdown):
    """Edit a page."""
    page = imports.page(title, "markdown")["id"]
    change = {"operation": "update_page", "page": page, "document": {"markdown": markdown}}
    answer = imports.world.call(
        "editor", "POST", f"/spaces/{imports.space}/content", json={"changes": [change]}
    )
    assert answer.status_code < 300, answer.text


def conflicts(imports, change):
    world = imports.world
    return world.get("editor", f"/spaces/{imports.space}/change-requests/{change}/conflicts")["items"]


def revisions(imports):
    return imports.world.get("editor", f"/spaces/{imports.space}/revisions")["items"]


def test_unedited_content_is_updated_and_the_rest_is_merged(imports):
    first = bring(imports, FIRST)
    assert first["status"] == "completed", first
    ids = {page["path"]: page["id"] for page in first["pages"]}
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    say(imports, "Lost", "# Lost\n\nWe need this.\n")
    second = bring(imports, SECOND, first["id"])
    assert (second["status"], second["updates"]) == ("completed", first["id"]), second
    waiting = second["changes"].pop("changeRequest")
    assert second["changes"] == {"created": 1, "updated": 3, "merged": 1, "deleted": 1, "kept": 1}
    (conflict,) = conflicts(imports, waiting)
    assert (conflict["kind"], conflict["origin"], conflict["theirs"]) == ("deleted", "import", None)
    assert [(one["path"], one["code"]) for one in second["problems"]] == [("lost.md", "kept_by_people")]
    assert imports.text("A") == "# A\n\nOne of ours.\n\nTwo.\n\nThree of the source.\n"
    assert "From the source." in imports.text("B") and "We need this." in imports.text("Lost")
    assert list(imports.tree()) == ["Home", "B", "A", "New", "Lost"]
    again = {page["path"]: page["id"] for page in second["pages"]}
    assert {path: id for path, id in again.items() if path in ids} == {
        path: id for path, id in ids.items() if "gone" not in path and "lost" not in path
    }
    assert imports.stored_files() == ["x.png"]
    # The third time, the source is unchanged, so edits of people stay untouched.
    written = len(revisions(imports))
    third = bring(imports, SECOND, second["id"])
    assert third["status"] == "completed" and third["updates"] == first["id"]
    assert third["changes"] == {"created": 0, "updated": 0, "merged": 0, "deleted": 0, "kept": 0}
    assert len(revisions(imports)) == written
    assert imports.text("A") == "# A\n\nOne of ours.\n\nTwo.\n\nThree of the source.\n"
    # Conflicts keep the edits of people, are reported, and are added to a change request.
    fourth = bring(
        imports,
        {**SECOND, "p/docs/a.md": "# A\n\nOne of theirs.\n\nTwo.\n\nThree of the source.\n"},
        first["id"],
    )
    assert fourth["changes"]["kept"] == 1
    (problem,) = [one for one in fourth["problems"] if one["code"] == "kept_by_people"]
    assert problem["path"] == "docs/a.md" and "One of theirs." in problem["message"]
    assert "One of ours." in imports.text("A")
    (conflict,) = conflicts(imports, fourth["changes"]["changeRequest"])
    assert [conflict[side] for side in ("base", "ours", "theirs")] == [
        "One.",
        "One of ours.",
        "One of theirs.",
    ]


@pytest.mark.sqlite_first
def test_surrounding_pages_stay_in_place(imports):
    imports.files(("index.md", "# Ours\n\nText.\n"), ("a.md", "# Own\n"))
    first = bring(imports, FIRST)
    before = imports.tree()
    second = bring(imports, FIRST, first["id"])
    assert second["changes"] == {"created": 0, "updated": 0, "merged": 0, "deleted": 0, "kept": 0}
    assert imports.tree() == before
    third = bring(imports, SECOND, first["id"])
    assert third["changes"] == {"created": 1, "updated": 3, "merged": 0, "deleted": 2, "kept": 0}
    assert list(imports.tree())[:2] == list(before)[:2]


@pytest.mark.sqlite_first
def test_conflicts_of_a_change_request_are_resolved_there(imports):
    world = imports.world
    first = bring(imports, FIRST)
    say(imports, "A", "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n")
    change = world.post("editor", f"/spaces/{imports.space}/change-requests", {"subject": "New"})["id"]
    newer = {**FIRST, "p/docs/a.md": "# A\n\nOne of theirs.\n\nTwo.\n\nThree.\n"}
    second = bring(imports, newer, first["id"], change)
    assert second["status"] == "completed" and second["changes"]["kept"] == 1
    assert [conflict["kind"] for conflict in conflicts(imports, change)] == ["block"]
    assert "changeRequest" not in second["changes"]
    assert imports.text("A") == "# A\n\nOne of ours.\n\nTwo.\n\nThree.\n"
    # The change request was never merged, so main is the base of the next run.
    third = bring(imports, newer, second["id"])
    assert third["changes"]["kept"] == 1


@pytest.mark.sqlite_first
def test_invalid_updates_are_refused(imports):
    world = imports.world
    first = bring(imports, FIRST)
    key = imports.upload("p.zip", archive(FIRST))
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}}

    def start(**more):
        return world.call("editor", "POST", imports.runs, json={**body, **more})

    assert start(update="nothing").status_code == 404
    preview = bring(imports, FIRST, preview=True)
    assert start(update=preview["id"]).status_code == 400
    below = {"space": imports.space, "page": first["pages"][0]["id"]}
    assert start(update=first["id"], target=below).status_code == 400
    other = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Other"})["id"]
    assert start(update=first["id"], target={"space": other}).status_code == 404
    change = world.post("editor", f"/spaces/{imports.space}/change-requests", {"subject": "New"})["id"]
    inside = bring(imports, FIRST, change=change)
    outside = bring(imports, FIRST, inside["id"])
    assert outside["status"] == "failed" and "isn't merged" in outside["reason"]


@pytest.mark.sqlite_first
@pytest.mark.parametrize("files", [{"p/mkdocs.yml": "nav: [", "p/docs/a.md": "# A\n"}, {"p/x.png": PNG}])
def test_a_truncated_source_changes_nothing(imports, files):
    first = bring(imports, FIRST)
    before = imports.tree()
    run = bring(imports, files, first["id"])
    if run["status"] == "failed":
        assert imports.tree() == before
    else:
        assert run["changes"]["deleted"] and set(imports.tree()) == {"A"}


UNREADABLE = {
    "p/SUMMARY.md": "# S\n\n* [Home](README.md)\n* [Old](old.md)\n",
    "p/README.md": "# Home\n\n[Old](old.md)\n",
    "p/old.md": b"---\nif: visitor.claims.beta\n---\n# caf\xe9\n",
}


def test_a_page_that_is_not_utf8_becomes_a_link_to_its_file(imports):
    first = bring(imports, UNREADABLE)
    assert ("old.md", "invalid_utf8") in [(one["path"], one["code"]) for one in first["problems"]]
    state = main_page(imports, "Old")
    assert (state.kind, state.condition, state.body) == ("link", "visitor.claims.beta", None)
    assert imports.exported()["old.md"] == UNREADABLE["p/old.md"]
    bring(imports, {**UNREADABLE, "p/old.md": "# Caf\xe9\n"}, first["id"])
    again = main_page(imports, "Old")
    assert (again.kind, again.id, again.condition) == ("document", state.id, None)
    assert imports.exported()["old.md"] == "# Caf\xe9\n".encode()


def test_no_page_is_written_over_the_file_of_an_item(imports):
    """Spaces filled by older versions have an empty page next to a file with the same path."""
    bring(imports, {"p/README.md": "# Home\n", "p/a.md": "# A\n", "p/x.bin": b"\xff"})
    with imports.world.context.db.write() as tx:
        tx.run("UPDATE item_versions SET path = 'a.md' WHERE path = 'x.bin'")
    exported = imports.exported()
    assert exported["a.md"] == b"\xff" and exported["a-1.md"] == b"# A\n"


def main_page(imports, title):
    with imports.world.context.db.read() as tx:
        pages = list_pages(tx, main_state(tx, imports.space))
    return next(page for page in pages if page.title == title)
