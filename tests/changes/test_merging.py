"""Tests of merging, resolving conflicts, reverting, and lists of changes."""

import json
import re

import pytest

from .working import PAGE, insert, update


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    for word in words:
        assert word in answer.json()["error"]["message"], answer.text


@pytest.mark.sqlite_first
def test_a_merge_creates_one_revision_and_one_event(space):
    change = space.create(subject="Better")
    space.write(change, "A", "# A\n\nBetter.\n")
    events = len(space.events("space_content_updated"))
    made = space.merge(change)
    head = space.world.get("reader", space.path)["revision"]
    assert made == {"revision": head, "result": "merge"}
    assert space.text("A") == "# A\n\nBetter.\n"
    found = space.events("space_content_updated")[events:]
    assert [json.loads(event)["revision"] for event in found] == [head]
    assert json.loads(space.events("change_request_merged")[0])["revision"] == head
    listed = space.world.get("reader", f"{space.path}/revisions")
    assert listed["items"][0]["id"] == head and listed["items"][0]["mergedFrom"]["id"] == change
    assert listed["items"][0]["author"]["id"] == space.world.users["reviewer"]
    pages, token = [], None
    while True:
        query = {"limit": 2, **({"page": token} if token else {})}
        answer = space.world.get("reader", f"{space.path}/revisions", params=query)
        pages += [item["id"] for item in answer["items"]]
        if "next" not in answer:
            break
        token = answer["next"]["page"]
    assert pages == [item["id"] for item in listed["items"]] and len(pages) == listed["count"]


@pytest.mark.sqlite_first
def test_different_changes_of_both_sides_are_merged(space):
    change = space.create()
    space.write(change, "A", PAGE.format(title="A").replace("First", "1st"))
    space.edit(change, update(space.pages["C"], into=None, at=0), insert("# Same\n"))
    space.write(None, "A", PAGE.format(title="A").replace("Second", "2nd"))
    space.edit_main(insert("# Same\n", at=0), update(space.pages["B"], title="Beta"))
    assert space.change(change)["outdated"]
    assert space.merge(change)["result"] == "merge"
    assert space.text("A") == PAGE.format(title="A").replace("First", "1st").replace("Second", "2nd")
    # Both were inserted at the top of the same list; of two pages with the same slug, the later one got a
    # number.
    tree = space.tree()
    assert sorted(tree) == sorted(["Same", "C", "A", "Beta", "Same"])
    found = space.world.get("reader", f"{space.path}/content/pages")["pages"]
    assert sorted(page["slug"] for page in found if page["title"] == "Same") == ["same", "same-1"]


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "body",
    [
        "> First.\n>\n> Second.\n",
        "* First.\n\n  Second.\n* Third.\n",
        '{% tabs %}\n{% tab title="T" %}\n1. First.\n2. Second.\n{% endtab %}\n{% endtabs %}\n',
        (
            "{% stepper %}\n{% step %}\n> First.\n{% endstep %}\n\n{% step %}\n* Second.\n"
            "{% endstep %}\n{% endstepper %}\n"
        ),
        "| First. | Second. |\n| ------ | ------- |\n| a      | b       |\n",
        "<table><tbody><tr><td><ul><li>First.</li><li>Second.</li></ul></td></tr></tbody></table>\n",
    ],
)
def test_changes_of_different_children_of_one_block_are_merged(space, body):
    page = f"# A\n\n{body}"
    space.write(None, "A", page)
    change = space.create()
    space.write(change, "A", page.replace("First", "1st"))
    space.write(None, "A", page.replace("Second", "2nd"))
    assert space.merge(change)["result"] == "merge"
    assert {"1st", "2nd"} <= set(re.findall(r"\w+", space.text("A")))
    if "|" not in page:
        assert space.text("A") == page.replace("First", "1st").replace("Second", "2nd")


@pytest.mark.sqlite_first
@pytest.mark.parametrize(("choice", "words"), [("base", "b"), ("ours", "mine"), ("theirs", "theirs")])
def test_a_conflict_in_a_quote_is_resolved_in_the_quote(space, choice, words):
    page = "# A\n\n> * a\n>\n>   b\n>   c\n>\n> d\n"
    space.write(None, "A", page)
    change = space.create()
    space.write(change, "A", page.replace("b", "mine"))
    space.write(None, "A", page.replace("b", "theirs").replace("d", "D"))
    assert space.merge(change)["result"] == "conflicts"
    (conflict,) = space.conflicts(change)
    assert conflict["theirs"] == ">   theirs\n>   c"
    space.resolve(change, conflict["id"], choice=choice)
    assert space.merge(change)["result"] == "merge"
    assert space.text("A") == page.replace("b", words).replace("d", "D")


@pytest.mark.sqlite_first
def test_an_added_and_deleted_file_does_not_block_a_merge(space):
    change = space.create()
    file = {"name": "a.txt", "base64": "YQ==", "contentType": "text/plain"}
    space.edit(change, insert("# New\n"), {"operation": "insert_files", "files": [file]})
    (found,) = space.world.get("reader", f"{space.path}/change-requests/{change}/content/files")["items"]
    space.edit(change, {"operation": "delete_file", "file": found["id"]})
    space.write(None, "A", "# A\n\nBetter.\n")
    assert space.merge(change)["result"] == "merge"
    assert "New" in space.tree()


@pytest.mark.sqlite_first
def test_updating_merges_main_into_the_change_request(space):
    change = space.create()
    space.write(change, "A", PAGE.format(title="A").replace("First", "1st"))
    space.write(None, "A", PAGE.format(title="A").replace("Second", "2nd"))
    space.edit_main(insert("# Later\n"))
    assert "Later" not in space.tree(change)
    made = space.update(change)
    assert made["result"] == "update"
    shown = space.change(change)
    assert shown["revision"] == made["revision"] and not shown["outdated"]
    assert shown["revisionMergedAncestor"] == space.world.get("reader", space.path)["revision"]
    assert "Later" in space.tree(change)
    assert space.text("A", change) == PAGE.format(title="A").replace("First", "1st").replace("Second", "2nd")
    assert space.update(change)["revision"] == made["revision"], "nothing new"
    content = space.world.get("reader", f"{space.url(change)}")
    assert content["type"] == "update"
    assert space.merge(change)["result"] == "merge"


def in_conflict(space):
    """Return a change request with one conflict in the text of A, found on merging."""
    change = space.create()
    space.write(change, "A", PAGE.format(title="A").replace("First", "Ours"))
    space.write(None, "A", PAGE.format(title="A").replace("First", "Theirs"))
    head = space.world.get("reader", space.path)["revision"]
    made = space.merge(change)
    assert made["result"] == "conflicts" and made["revision"] == space.change(change)["revision"]
    assert space.world.get("reader", space.path)["revision"] == head, "main stays as it is"
    (conflict,) = space.conflicts(change)
    assert (conflict["kind"], conflict["target"], conflict["title"]) == ("block", "page", "A")
    assert "Ours" in conflict["ours"] and "Theirs" in conflict["theirs"] and "First" in conflict["base"]
    return change, conflict["id"]


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"choice": "ours"}, "Ours paragraph of A."),
        ({"choice": "theirs"}, "Theirs paragraph of A."),
        ({"choice": "base"}, "First paragraph of A."),
        ({"choice": "edited", "value": "Both."}, "Both."),
    ],
)
def test_a_conflict_is_resolved_and_merged(space, body, word):
    change, conflict = in_conflict(space)
    again = space.merge(change)
    assert again == {"revision": space.change(change)["revision"], "result": "conflicts"}
    assert space.update(change)["result"] == "conflicts"
    # Other edits continue in the meantime, also above the conflict.
    space.write(change, "A", space.text("A", change).replace("# A\n", "# A\n\nAn opening."))
    settled = space.resolve(change, conflict, **body)
    assert settled["conflicts"] == 0 and space.conflicts(change) == []
    refused(space.try_resolve(change, conflict, **body), 404)
    assert space.merge(change)["result"] == "merge"
    assert (
        word in space.text("A") and "An opening." in space.text("A") and "Second paragraph" in space.text("A")
    )


@pytest.mark.sqlite_first
def test_invalid_resolutions_are_refused(space):
    change, conflict = in_conflict(space)
    before = space.world.digest()
    refused(space.try_resolve(change, conflict, choice="edited"), 400, "value")
    refused(space.try_resolve(change, conflict, choice="ours", value="x"), 400, "value")
    refused(space.try_resolve(change, conflict, choice="edited", value=7), 400, "value")
    refused(space.try_resolve(change, conflict, choice="mine"), 400, "choice")
    refused(space.try_resolve(change, "nobody", choice="ours"), 404)
    assert space.world.digest() == before
    space.write(change, "A", "# A\n\nAll new.\n")
    refused(space.try_resolve(change, conflict, choice="theirs"), 404)
    assert space.conflicts(change) == [], "whoever wrote it anew has decided"
    assert space.text("A", change) == "# A\n\nAll new.\n"


@pytest.mark.sqlite_first
def test_conflicts_of_fields_positions_and_deletions_are_resolved(space):
    change = space.create()
    space.edit(change, update(space.pages["A"], title="Ours", description="Ours", slug="ours"))
    space.edit(change, update(space.pages["C"], into=space.pages["A"]))
    space.edit(change, {"operation": "set_variables", "variables": {"v": "ours"}})
    space.edit_main(update(space.pages["A"], title="Theirs", description="Theirs", slug="theirs"))
    space.edit_main(update(space.pages["C"], into=None))
    space.edit_main({"operation": "set_variables", "variables": {"v": "theirs"}})
    assert space.update(change)["result"] == "conflicts"
    found = {(c["target"], c.get("field")): c["id"] for c in space.conflicts(change)}
    assert {("page", "title"), ("page", "description"), ("page", "slug"), ("page", "place")} <= set(found)
    first = space.world.get("reader", f"{space.path}/change-requests/{change}/conflicts", params={"limit": 2})
    rest = space.world.get(
        "reader",
        f"{space.path}/change-requests/{change}/conflicts",
        params={"page": first["next"]["page"]},
    )
    assert len(first["items"]) == 2 and len(rest["items"]) == len(found) - 2 and first["count"] == len(found)
    for n, (place, key) in enumerate(sorted(found.items())):
        assert space.resolve(change, key, choice="theirs")["conflicts"] == len(found) - n - 1, place
    page = space.page("A", change)
    assert (page["title"], page["description"], page["slug"]) == ("Theirs", "Theirs", "theirs")
    assert "description: Theirs" in page["markdown"] and "# Theirs" in page["markdown"]
    assert "C" in space.tree(change)
    assert space.merge(change)["result"] == "merge"
    assert space.world.get("reader", f"{space.path}/content")["variables"] == {"v": "theirs"}


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "body",
    [
        {"choice": "ours"},
        {"choice": "theirs"},
        {"choice": "base"},
        {"choice": "edited", "value": "Both."},
        {"choice": "edited", "value": ""},
    ],
)
def test_a_resolved_conflict_can_be_reopened(space, body):
    change, conflict = in_conflict(space)
    open_then, text = space.conflicts(change), space.text("A", change)
    space.resolve(change, conflict, **body)
    (settled,) = space.settled(change)
    assert settled["settled"]["choice"] == body["choice"] and settled["settled"].get("value") == body.get(
        "value"
    )
    assert settled["settled"]["by"]["id"] == space.world.users["editor"] and space.conflicts(change) == []
    # Edits elsewhere on the page are kept.
    space.write(change, "A", space.text("A", change).replace("# A\n", "# A\n\nAn opening.\n"))
    assert space.reopen(change, conflict).json()["conflicts"] == 1
    assert space.conflicts(change) == open_then and space.settled(change) == []
    assert space.text("A", change) == text.replace("# A\n", "# A\n\nAn opening.\n")
    refused(space.reopen(change, conflict), 404)
    space.resolve(change, conflict, choice="theirs")
    assert space.merge(change)["result"] == "merge"
    assert "Theirs paragraph of A." in space.text("A") and "An opening." in space.text("A")
    refused(space.reopen(change, conflict), 409, "merged")


@pytest.mark.sqlite_first
def test_edits_after_resolving_a_conflict_are_kept(space):
    change, conflict = in_conflict(space)
    for body in ({"choice": "ours"}, {"choice": "theirs"}):
        space.resolve(change, conflict, **body)
        text = space.text("A", change)
        space.write(change, "A", text.replace(" paragraph of A", " words of A", 1))
        before = space.world.digest()
        refused(space.reopen(change, conflict), 409, "was edited after")
        assert space.world.digest() == before
        space.write(change, "A", text)
        assert space.reopen(change, conflict).is_success


@pytest.mark.sqlite_first
@pytest.mark.parametrize("choice", [{"choice": "theirs"}, {"choice": "edited", "value": "Both"}])
@pytest.mark.parametrize("slug", ["ours", "theirs"])
@pytest.mark.parametrize("slug_first", [False, True])
def test_resolving_a_title_keeps_the_slug(space, choice, slug, slug_first):
    change = space.create()
    space.edit(change, update(space.pages["A"], title="Ours"))
    space.edit_main(update(space.pages["A"], title="Theirs"))
    assert space.update(change)["result"] == "conflicts"
    ids = {one["field"]: one["id"] for one in space.conflicts(change)}
    assert set(ids) == {"title", "slug"}
    if slug_first:
        space.resolve(change, ids["slug"], choice=slug)
    space.resolve(change, ids["title"], **choice)
    page = space.page("A", change)
    assert (page["title"], page["slug"]) == (choice.get("value", "Theirs"), slug if slug_first else "ours")
    if not slug_first:
        space.resolve(change, ids["slug"], choice=slug)
    assert space.page("A", change)["slug"] == slug
    assert space.conflicts(change) == []


def test_conflicts_are_reopened_in_their_order(space):
    change = space.create()
    space.edit(change, update(space.pages["A"], title="Ours", description="Ours", slug="ours"))
    space.edit(change, update(space.pages["C"], into=space.pages["A"]))
    space.edit(change, {"operation": "delete_page", "page": space.pages["B"]})
    space.edit(change, {"operation": "set_variables", "variables": {"v": "ours"}})
    space.edit_main(update(space.pages["A"], title="Theirs", description="Theirs", slug="theirs"))
    space.edit_main(update(space.pages["C"], into=None), update(space.pages["B"], description="Kept"))
    space.edit_main({"operation": "set_variables", "variables": {"v": "theirs"}})
    assert space.update(change)["result"] == "conflicts"
    then = space.conflicts(change)
    state = space.world.get("reader", f"{space.url(change)}")
    text, tree = space.text("A", change), space.tree(change)
    keys = [one["id"] for one in then]
    assert len(keys) >= 6
    for key in keys[::2] + keys[1::2]:
        space.resolve(change, key, choice="theirs")
        shown = space.world.get(
            "reader", f"{space.path}/change-requests/{change}/conflicts", params={"status": "all"}
        )
        assert [one["id"] for one in shown["items"]] == keys
    for number, key in enumerate(keys[1::2] + keys[::2], 1):
        assert space.reopen(change, key).json()["conflicts"] == number
    assert space.conflicts(change) == then
    assert (space.text("A", change), space.tree(change)) == (text, tree)
    assert space.world.get("reader", f"{space.url(change)}")["variables"] == state["variables"]


@pytest.mark.sqlite_first
def test_an_edit_wins_over_a_deletion_until_the_conflict_is_resolved(space):
    change = space.create()
    space.edit(change, {"operation": "delete_page", "page": space.pages["A"]})
    space.write(None, "A", "# A\n\nEdited in main.\n")
    assert space.merge(change)["result"] == "conflicts"
    (conflict,) = space.conflicts(change)
    assert conflict["kind"] == "deleted" and conflict["ours"] is None and conflict["kept"] == "theirs"
    assert "A" in space.tree(change)
    space.resolve(change, conflict["id"], choice="ours")
    assert space.merge(change)["result"] == "merge"
    assert "A" not in space.tree()


def test_moves_that_would_create_a_cycle_are_merged_without_one(space):
    change = space.create()
    space.edit(change, update(space.pages["B"], into=space.pages["A"]))
    space.edit_main(update(space.pages["A"], into=space.pages["B"]))
    assert space.merge(change)["result"] == "merge"
    assert space.tree() == [["B", "C", "A"]] or space.tree() == [["B", "A", "C"]]


@pytest.mark.sqlite_first
def test_a_merge_is_reverted_by_a_change_request(space):
    change = space.create(subject="Words")
    space.write(change, "A", PAGE.format(title="A").replace("First", "1st"))
    space.edit(change, insert("# New\n"), {"operation": "delete_page", "page": space.pages["C"]})
    merged = space.merge(change)["revision"]
    space.write(None, "A", space.text("A").replace("Second", "2nd"))
    answer = space.world.call("editor", "POST", f"{space.path}/revisions/{merged}/revert")
    assert answer.status_code == 201 and answer.headers["location"] == answer.json()["urls"]["location"]
    undo = answer.json()["id"]
    assert answer.json()["subject"] == "Revert #1 Words"
    assert space.tree(undo) == ["A", ["B", "C"]] and space.conflicts(undo) == []
    assert space.merge(undo)["result"] == "merge"
    assert space.text("A") == PAGE.format(title="A").replace("Second", "2nd")
    assert space.tree() == ["A", ["B", "C"]]


@pytest.mark.sqlite_first
def test_reverting_content_that_was_edited_again_is_a_conflict(space):
    change = space.create()
    space.write(change, "A", PAGE.format(title="A").replace("First", "1st"))
    merged = space.merge(change)["revision"]
    space.write(None, "A", PAGE.format(title="A").replace("First", "One"))
    head = space.world.get("reader", space.path)["revision"]
    undo = space.world.post("editor", f"{space.path}/revisions/{merged}/revert")["id"]
    (conflict,) = space.conflicts(undo)
    assert "First" in conflict["ours"] and "One" in conflict["theirs"]
    assert space.world.get("reader", space.path)["revision"] == head
    space.resolve(undo, conflict["id"], choice="ours")
    assert space.merge(undo)["result"] == "merge"
    assert space.text("A") == PAGE.format(title="A")


@pytest.mark.sqlite_first
def test_rolling_back_restores_a_revision(space):
    """Rolling back undoes everything after the revision, by any author; `revert` is for undoing a single revision."""
    space.edit_main({"operation": "set_variables", "variables": {"v": 1}})
    then = space.world.get("reader", space.path)["revision"]
    tree, text = space.tree(), space.text("A")
    space.write(None, "A", "# A\n\nOops.\n")
    space.edit_main(
        insert("# New\n"),
        {"operation": "delete_page", "page": space.pages["C"]},
        update(space.pages["B"], at=0),
        {"operation": "set_variables", "variables": {"v": 2, "w": 3}},
    )
    path = f"{space.path}/revisions/{then}/rollback"
    assert space.world.call("editor", "POST", path).status_code == 403
    made = space.world.post("reviewer", path)
    assert made == {"revision": space.world.get("reader", space.path)["revision"], "result": "rollback"}
    assert (space.tree(), space.text("A")) == (tree, text)
    content = space.world.get("reader", f"{space.path}/content")
    assert (content["type"], content["variables"]) == ("rollback", {"v": 1})
    found = space.world.get("reader", f"{space.path}/search", params={"query": "Oops"})
    assert found["items"] == [], "search follows"
    refused(space.world.call("reviewer", "POST", path), 409, "already has")
    first = space.world.get("reader", f"{space.path}/revisions", params={"limit": 1000})["items"][-1]["id"]
    space.world.post("reviewer", f"{space.path}/revisions/{first}/rollback")
    assert space.tree() == [], "as the space was made"
    change = space.create()
    revision = space.change(change)["revision"]
    refused(space.world.call("editor", "POST", f"{space.path}/revisions/{revision}/revert"), 400, "main")
    refused(space.world.call("reviewer", "POST", f"{space.path}/revisions/{revision}/rollback"), 400, "main")
    with space.world.context.db.write() as tx:
        tx.run("UPDATE spaces SET edit_mode = 'locked' WHERE id = :id", id=space.id)
    refused(space.world.call("reviewer", "POST", path), 403, "locked")


@pytest.mark.sqlite_first
def test_changes_of_change_requests_and_revisions_are_listed(space):
    change = space.create()
    space.edit(change, insert("# New\n"), update(space.pages["C"], into=None, title="See"))
    space.write(change, "A", PAGE.format(title="A").replace("First", "Very first"))
    space.edit(change, {"operation": "set_variables", "variables": {"v": 1}})
    path = f"{space.path}/change-requests/{change}/changes"
    found = space.world.get("reader", path)
    told = [(c["type"], c.get("page", {}).get("title")) for c in found["changes"]]
    assert told == [
        ("page_created", "New"),
        ("page_edited", "A"),
        ("page_edited", "See"),
        ("page_moved", "See"),
        ("variables_edited", None),
    ] or sorted(map(str, told)) == sorted(
        map(
            str,
            [
                ("page_created", "New"),
                ("page_edited", "A"),
                ("page_edited", "See"),
                ("page_moved", "See"),
                ("variables_edited", None),
            ],
        )
    )
    edited = next(c for c in found["changes"] if c["type"] == "page_edited" and c["page"]["title"] == "See")
    assert edited["attributes"]["title"] == {"before": "C", "after": "See"}
    moved = next(c for c in found["changes"] if c["type"] == "page_moved")
    assert moved["parent"]["before"]["title"] == "B" and "after" not in moved["parent"]
    assert found["changes"][-1]["variables"] == {"v": {"after": 1}}
    less = space.world.get("reader", path, params={"limit": 2})
    assert len(less["changes"]) == 2 and less["more"] == 3
    words = space.world.get("reader", f"{path}/page/{space.pages['A']}")["changes"]
    assert [c["kind"] for c in words] == ["changed"]
    assert "".join(w["text"] for w in words[0]["words"] if w["kind"] != "removed") == words[0]["after"]
    assert [w["text"] for w in words[0]["words"] if w["kind"] == "removed"] == ["First"]
    assert space.world.call("reader", "GET", f"{path}/page/nobody").status_code == 404
    revision = space.merge(change)["revision"]
    of_revision = space.world.get("reader", f"{space.path}/revisions/{revision}/changes")
    assert of_revision["changes"] == found["changes"] and of_revision["mergedFrom"]["id"] == change
    assert space.world.get("reader", path)["changes"] == found["changes"], "also after the merge"
    own = space.change(change)["revision"]
    last = space.world.get("reader", f"{space.path}/revisions/{own}/changes")["changes"]
    assert [c["type"] for c in last] == ["variables_edited"]


@pytest.mark.sqlite_first
def test_content_changed_back_counts_as_unchanged(space):
    change = space.create()
    space.write(change, "A", "# A\n\nOther.\n")
    space.write(change, "A", PAGE.format(title="A"))
    assert space.world.get("reader", f"{space.path}/change-requests/{change}/changes")["changes"] == []
    space.write(None, "A", "# A\n\nMain.\n")
    assert space.merge(change)["result"] == "merge"
    assert space.text("A") == "# A\n\nMain.\n"


@pytest.mark.sqlite_first
def test_two_revisions_are_compared_and_the_earlier_one_restored(space):
    def head() -> str:
        return space.world.get("reader", space.path)["revision"]

    def changes(since: str, **query: str) -> list:
        path = f"{space.path}/revisions/{head()}/changes"
        return space.world.get("reader", path, params={"since": since, "limit": "100", **query})["changes"]

    first = head()
    space.edit_main(update(space.pages["A"], document={"markdown": "One."}))
    second = head()
    space.edit_main(update(space.pages["A"], title="A once more"))
    space.edit_main({"operation": "delete_page", "page": space.pages["C"]})
    told = {(one["type"], one["page"]["id"]) for one in changes(first)}
    assert told == {("page_edited", space.pages["A"]), ("page_deleted", space.pages["C"])}
    assert set(changes(first)[0]["attributes"]) >= {"title", "document"}
    assert changes(second)[0]["attributes"]["title"] == {"before": "A", "after": "A once more"}
    assert changes(head()) == []
    path = f"{space.path}/revisions/{head()}/changes/page/{space.pages['A']}"
    words = space.world.get("reader", path, params={"since": first})["changes"]
    assert any(one["after"] == "One." for one in words)
    for earlier, later, said in ((head(), first, "must be earlier"), ("nope", first, "no revision")):
        answer = space.world.call(
            "reader", "GET", f"{space.path}/revisions/{later}/changes", params={"since": earlier}
        )
        assert answer.status_code == 400 and said in answer.text, answer.text

    path = f"{space.path}/revisions/{first}/revert"
    made = space.world.call("editor", "POST", path, params={"undo": "later"})
    assert made.status_code == 201, made.text
    space.merge(made.json()["id"])
    assert space.tree() == ["A", ["B", "C"]]
    assert "First paragraph of A." in space.text("A")
    assert space.world.call("editor", "POST", path, params={"undo": "later"}).status_code == 409
