"""Tests of edits that name their base revision, and of conflicts that ordinary edits resolve."""

from __future__ import annotations

import re

import pytest

from .working import PAGE, insert, update


def head(space, change=None):
    """Return the revision that a person who opens the page now sees."""
    if change is None:
        return space.world.get("reader", space.path)["revision"]
    return space.change(change)["revision"]


def save(space, change, base, *changes, who="editor", **more):
    answer = space.world.call(
        who,
        "POST",
        space.url(change),
        params={"compat": "false"},
        json={"changes": list(changes), "baseRevision": base, **more},
    )
    assert answer.is_success, answer.text
    return answer.json()


def whole(space, title, text):
    return update(space.pages[title], document={"markdown": text})


A = PAGE.format(title="A")


@pytest.fixture(params=["main", "change"])
def target(request, space):
    return None if request.param == "main" else space.create()


def test_two_saves_from_one_state_are_merged(space, target):
    base = head(space, target)
    save(space, target, base, whole(space, "A", A.replace("First", "1st")))
    answer = save(space, target, base, whole(space, "A", A.replace("Second", "2nd")))
    assert answer["result"] == "edit"
    assert answer["mergedRevision"] == head(space, target)
    assert space.text("A", target) == A.replace("First", "1st").replace("Second", "2nd")


def words_of(page):
    return [node["nodes"][0]["leaves"][0]["text"] for node in page["document"]["nodes"]]


def test_the_response_to_a_merged_save_contains_the_merged_blocks(space, target):
    base = head(space, target)
    save(space, target, base, whole(space, "A", A.replace("First", "1st")))
    answer = save(space, target, base, whole(space, "A", A.replace("Second", "2nd")))
    (made,) = answer["changes"]
    assert words_of(made["page"]) == ["1st paragraph of A.", "2nd paragraph of A."]
    page = f"{space.path}/revisions/{answer['mergedRevision']}/page/{space.pages['A']}"
    assert space.world.get("reader", page)["document"] == made["page"]["document"]
    # The next save, based on the response, is an ordinary one.
    again = save(space, target, answer["mergedRevision"], whole(space, "A", A.replace("Second", "2nd")))
    assert again["revision"] == head(space, target)
    assert "mergedRevision" not in again and "document" not in again["changes"][0]["page"]


def test_a_save_based_on_a_merged_response_keeps_edits_of_others(space):
    change = space.create()
    base = head(space, change)
    first = space.page("A", change, format="document")["document"]["nodes"][0]["key"]

    def blocks(text):
        document = {"markdown": text}
        return {
            "operation": "update_blocks",
            "page": space.pages["A"],
            "set": [{"block": first, "document": document}],
        }

    save(space, change, base, blocks("Words of somebody else."), who="admin")
    answer = save(space, change, base, blocks("My words."))
    assert answer["result"] == "conflicts" and answer["revision"] == base
    assert words_of(answer["changes"][0]["page"])[0] == "Words of somebody else."
    # A client that ignored it continues in the paragraph as it shows it.
    save(space, change, answer["revision"], blocks("My words go on."))
    assert "Words of somebody else." in space.text("A", change)
    found = space.world.get(
        "reader", f"{space.path}/change-requests/{change}/conflicts", params={"format": "markdown"}
    )
    assert "My words go on." in str(found)


def test_a_conflicting_save_is_refused_on_request(space, target):
    base = head(space, target)
    save(space, target, base, whole(space, "A", A.replace("First", "Saved")))
    then = head(space, target)
    late = (whole(space, "A", A.replace("First", "Late")), insert("# New\n"))
    answer = save(space, target, base, *late, onConflict="refuse")
    assert (answer["result"], answer["revision"], answer["mergedRevision"]) == ("refused", base, then)
    assert [words_of(made["page"])[0] for made in answer["changes"]] == ["Saved paragraph of A."]
    assert head(space, target) == then and "New" not in space.tree(target)
    # Content without conflicts is merged.
    other = whole(space, "A", A.replace("Second", "2nd"))
    assert save(space, target, base, other, onConflict="refuse")["result"] == "edit"
    assert space.text("A", target) == A.replace("First", "Saved").replace("Second", "2nd")


def test_clients_cannot_overwrite_pages_saved_in_the_meantime(space, target):
    base = head(space, target)
    save(space, target, base, whole(space, "B", PAGE.format(title="B").replace("First", "1st")))
    answer = save(space, target, base, whole(space, "A", A.replace("Second", "2nd")))
    assert (answer["revision"], answer["mergedRevision"]) == (base, head(space, target))
    assert "document" not in answer["changes"][0]["page"]
    late = save(space, target, answer["revision"], whole(space, "B", "# B\n\nAnew.\n"))
    assert late["result"] == "conflicts"


def test_without_a_base_revision_the_last_save_wins(space, target):
    space.edit(target, whole(space, "A", A.replace("First", "1st")))
    space.edit(target, whole(space, "A", A.replace("Second", "2nd")))
    assert space.text("A", target) == A.replace("Second", "2nd")


def test_fields_places_files_and_variables_are_merged_too(space, target):
    base = head(space, target)
    variables = {"operation": "set_variables", "variables": {"a": 1}}
    save(space, target, base, update(space.pages["A"], description="Ours"), insert("# Same\n"), variables)
    mine = (update(space.pages["A"], icon="gear"), insert("# Same\n"), update(space.pages["C"], into=None))
    answer = save(space, target, base, *mine)
    assert answer["result"] == "edit"
    page = space.page("A", target)
    assert (page["description"], page["icon"]) == ("Ours", "gear")
    assert "C" in space.tree(target)
    slugs = {
        page["slug"]
        for page in space.world.get("reader", f"{space.url(target)}/pages")["pages"]
        if page["title"] == "Same"
    }
    assert slugs == {"same", "same-1"}
    made = next(change["page"] for change in answer["changes"] if change["object"] == "created_page")
    assert made["slug"] == "same-1", "the answer shows the page as it is saved"


def test_blocks_keep_their_keys_in_a_merge(space):
    change = space.create()
    base = head(space, change)
    blocks = space.page("A", change, "document")["document"]["nodes"]
    save(space, change, base, whole(space, "A", A.replace("First", "1st")))
    save(space, change, base, whole(space, "A", A.replace("Second", "2nd")))
    now = space.page("A", change, "document")["document"]["nodes"]
    assert [block["key"] for block in now] == [block["key"] for block in blocks]


def test_two_edits_of_a_line_in_a_change_request_are_a_conflict_in_it(space):
    change = space.create()
    base = head(space, change)
    save(space, change, base, whole(space, "A", A.replace("First", "Saved")))
    answer = save(space, change, base, whole(space, "A", A.replace("First", "Late").replace("Second", "2nd")))
    assert answer["result"] == "conflicts"
    assert answer["changeRequest"]["conflicts"] == 1
    assert space.text("A", change) == A.replace("First", "Saved").replace("Second", "2nd")
    (conflict,) = space.conflicts(change)
    assert (conflict["origin"], conflict["kind"], conflict["field"]) == ("edit", "block", "body")
    assert "Saved" in conflict["ours"] and "Late" in conflict["theirs"] and "First" in conflict["base"]
    assert space.merge(change)["result"] == "conflicts"
    space.resolve(change, conflict["id"], choice="theirs")
    assert space.change(change)["conflicts"] == 0
    assert space.merge(change)["result"] == "merge"
    assert space.text("A") == A.replace("First", "Late").replace("Second", "2nd")


def test_two_edits_of_a_line_in_main_create_a_change_request(space):
    base = head(space)
    save(space, None, base, whole(space, "A", A.replace("First", "Saved")))
    then = head(space)
    answer = save(space, None, base, whole(space, "A", A.replace("First", "Late").replace("Second", "2nd")))
    assert answer["result"] == "conflicts"
    assert head(space) == then, "main stays as it is"
    change = answer["changeRequest"]
    assert (change["conflicts"], change["status"]) == (1, "draft")
    assert answer["revision"] == change["revision"]
    (conflict,) = space.conflicts(change["id"])
    assert "Saved" in conflict["ours"] and "Late" in conflict["theirs"]
    space.resolve(change["id"], conflict["id"], choice="theirs")
    assert space.merge(change["id"])["result"] == "merge"
    assert space.text("A") == A.replace("First", "Late").replace("Second", "2nd")


def test_an_edit_of_content_deleted_in_the_meantime_is_a_conflict(space):
    change = space.create()
    base = head(space, change)
    space.edit(change, {"operation": "delete_page", "page": space.pages["A"]})
    answer = save(space, change, base, whole(space, "A", A.replace("First", "Late")))
    assert answer["result"] == "conflicts"
    assert "A" in space.tree(change), "an edit beats a deletion"
    (conflict,) = space.conflicts(change)
    assert (conflict["kind"], conflict["ours"]) == ("deleted", None)


def test_a_deletion_of_content_edited_in_the_meantime_is_a_conflict(space):
    change = space.create()
    base = head(space, change)
    space.write(change, "A", A.replace("First", "Saved"))
    answer = save(space, change, base, {"operation": "delete_page", "page": space.pages["A"]})
    assert answer["result"] == "conflicts"
    assert answer["changes"][0]["object"] == "updated_page", "it is still there"
    assert "A" in space.tree(change)


def test_a_base_in_main_is_merged_into_an_updated_change_request(space):
    """A person reads main, and saves into a change request that was updated twice since."""
    base = head(space)
    change = space.create()
    space.write(change, "B", PAGE.format(title="B").replace("First", "1st"))
    space.write(None, "A", A.replace("First", "1st"))
    space.update(change)
    answer = save(space, change, base, whole(space, "A", A.replace("Second", "2nd")))
    assert answer["result"] == "edit"
    assert space.text("A", change) == A.replace("First", "1st").replace("Second", "2nd")
    assert "1st" in space.text("B", change)


def test_a_base_newer_than_that_of_a_change_request_is_accepted(space):
    change = space.create()
    space.write(None, "A", A.replace("First", "1st"))
    answer = save(space, change, head(space), whole(space, "A", A.replace("First", "1st") + "\nMore.\n"))
    assert answer["result"] == "edit"
    assert "More." in space.text("A", change)
    assert "1st" not in space.text("A", change), "what main has become is brought in by `update` alone"


def test_impossible_bases_are_refused(space):
    change, other = space.create(), space.create()
    space.write(other, "A", "# A\n\nOther.\n")
    edit = whole(space, "A", "# A\n\nMine.\n")
    before = space.world.digest()

    def refused(target, base, status):
        answer = space.world.call(
            "editor", "POST", space.url(target), json={"changes": [edit], "baseRevision": base}
        )
        assert answer.status_code == status, answer.text
        assert "baseRevision" in answer.json()["error"]["message"]

    refused(change, "nothing", 404)
    refused(change, space.world.away["revisionId"], 404)
    refused(change, head(space, other), 400)
    refused(None, head(space, change), 400)
    refused(None, 7, 400)
    assert space.world.digest() == before


def test_an_edit_that_already_exists_writes_nothing(space):
    base = head(space)
    save(space, None, base, whole(space, "A", A.replace("First", "1st")))
    then = head(space)
    save(space, None, base, whole(space, "A", A.replace("First", "1st")))
    assert head(space) == then


# --- resolving by editing -----------------------------------------------------------------------------


def in_conflict(space, ours, theirs):
    """Return a change request with the conflicts of the two edits of A."""
    change = space.create()
    space.edit(change, ours)
    space.edit_main(theirs)
    assert space.update(change)["result"] == "conflicts"
    return change


def test_writing_the_block_resolves_its_conflict(space):
    first = whole(space, "A", A.replace("First", "Ours").replace("Second", "Our second"))
    second = whole(space, "A", A.replace("First", "Theirs").replace("Second", "Their second"))
    change = in_conflict(space, first, second)
    one, two = space.conflicts(change)
    # Edits elsewhere on the page resolve nothing.
    text = space.text("A", change)
    space.write(
        change, "A", text.replace("# A\n", "# A\n\nAn opening.\n\nOurs, in other words.") + "\nEnd.\n"
    )
    assert [c["id"] for c in space.conflicts(change)] == [one["id"], two["id"]]
    text = space.text("A", change)
    space.write(change, "A", text.replace(one["ours"], "Both of us."))
    assert [c["id"] for c in space.conflicts(change)] == [two["id"]]
    space.resolve(change, two["id"], choice="theirs")
    assert "Their second" in space.text("A", change) and "Both of us." in space.text("A", change)
    assert space.merge(change)["result"] == "merge"


def test_deleting_the_block_resolves_its_conflict(space):
    change = in_conflict(
        space,
        whole(space, "A", A.replace("First", "Ours")),
        whole(space, "A", A.replace("First", "Theirs")),
    )
    (conflict,) = space.conflicts(change)
    space.write(change, "A", space.text("A", change).replace(conflict["ours"], ""))
    assert space.conflicts(change) == []


def test_writing_one_of_two_equal_blocks_resolves_only_its_conflict(space):
    """The conflict is about the second block; editing the first does not affect it."""
    space.write(None, "A", "# A\n\nSame.\n\nBetween.\n\nLast.\n")
    change = in_conflict(
        space,
        whole(space, "A", "# A\n\nSame.\n\nBetween.\n\nSame.\n"),
        whole(space, "A", "# A\n\nSame.\n\nBetween.\n\nTheirs.\n"),
    )
    (conflict,) = space.conflicts(change)
    assert conflict["ours"].strip() == "Same."
    space.write(change, "A", "# A\n\nFirst.\n\nBetween.\n\nSame.\n")
    assert len(space.conflicts(change)) == 1
    space.write(change, "A", "# A\n\nFirst.\n\nBetween.\n\nDecided.\n")
    assert space.conflicts(change) == []


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("field", "ours", "theirs", "decided"),
    [
        ("title", "Ours", "Theirs", "Decided"),
        ("description", "Ours", "Theirs", "Decided"),
        ("description", "Ours", "Theirs", "Ours"),
        ("slug", "ours", "theirs", "ours"),
        ("icon", "gear", "star", "bolt"),
    ],
)
def test_writing_the_field_resolves_its_conflict(space, field, ours, theirs, decided):
    a = space.pages["A"]
    change = in_conflict(space, update(a, **{field: ours}), update(a, **{field: theirs}))
    (conflict,) = [c for c in space.conflicts(change) if c.get("field") == field]
    other = "icon" if field != "icon" else "description"
    space.edit(change, update(a, **{other: "gear"}))
    assert conflict["id"] in [c["id"] for c in space.conflicts(change)]
    space.edit(change, update(a, **{field: decided}))
    assert conflict["id"] not in [c["id"] for c in space.conflicts(change)]
    assert space.page("A", change)[field] == decided


def test_moving_the_page_resolves_the_conflict_of_its_position(space):
    c = space.pages["C"]
    change = in_conflict(space, update(c, into=space.pages["A"]), update(c, into=None))
    (conflict,) = space.conflicts(change)
    assert conflict["field"] == "place"
    assert conflict["base"] == {"parent": space.pages["B"]}
    assert (conflict["ours"], conflict["theirs"]) == ({"parent": space.pages["A"]}, {"parent": None})
    space.edit(change, update(space.pages["A"], description="Something else"))
    assert len(space.conflicts(change)) == 1
    space.edit(change, update(c, into=space.pages["A"]))
    assert space.conflicts(change) == []


def test_editing_a_deleted_page_resolves_its_conflict(space):
    a = space.pages["A"]
    change = in_conflict(
        space, {"operation": "delete_page", "page": a}, whole(space, "A", A.replace("First", "Edited"))
    )
    space.write(change, "A", A.replace("First", "Kept"))
    assert space.conflicts(change) == []
    change = in_conflict(
        space, {"operation": "delete_page", "page": a}, whole(space, "A", A.replace("First", "Edited again"))
    )
    space.edit(change, {"operation": "delete_page", "page": a})
    assert space.conflicts(change) == []


def test_setting_the_variable_resolves_its_conflict(space):
    def variable(value):
        return {"operation": "set_variables", "variables": {"v": value}}

    space.edit_main(variable("before"))
    change = in_conflict(space, variable("ours"), variable("theirs"))
    (conflict,) = space.conflicts(change)
    assert (conflict["target"], conflict["field"], conflict["title"]) == ("variable", "value", "v")
    assert [conflict[side] for side in ("base", "ours", "theirs")] == ["before", "ours", "theirs"]
    space.edit(change, variable("ours"))
    assert space.conflicts(change) == []


# --- what conflicts say -------------------------------------------------------------------------------


def _keys(value):
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


def test_conflicts_use_the_terms_of_the_api(space):
    front = "---\nlayout:\n  tableOfContents:\n    visible: {toc}\n  width: {width}\n---\n\n"
    space.write(None, "A", front.format(toc="true", width="default") + A)
    change = space.create()
    space.write(change, "A", front.format(toc="false", width="wide") + A.replace("First", "Ours"))
    space.edit(change, {"operation": "delete_page", "page": space.pages["B"]})
    space.write(None, "A", front.format(toc="true", width="full") + A.replace("First", "Theirs"))
    space.write(None, "B", PAGE.format(title="B").replace("First", "Edited"))
    assert space.update(change)["result"] == "conflicts"
    found = space.conflicts(change)
    assert {(c["target"], c.get("field")) for c in found} >= {("page", "layout.width"), ("page", "body")}
    assert all(c["origin"] == "main" for c in found)
    gone = next(c for c in found if c["kind"] == "deleted")
    assert gone["ours"] is None
    assert gone["theirs"]["markdown"] == PAGE.format(title="B").replace("First", "Edited")
    assert gone["theirs"]["title"] == "B" and gone["theirs"]["slug"] == "b"
    moment = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    assert moment.fullmatch(gone["theirs"]["createdAt"]) and moment.fullmatch(gone["theirs"]["updatedAt"])
    assert not [key for key in _keys(found) if "_" in key]
    assert not {"body", "rank", "content"} & set(_keys(found))


def test_conflicts_are_resolved_with_values_in_the_terms_of_the_api(space):
    a, c = space.pages["A"], space.pages["C"]
    space.edit_main({"operation": "set_variables", "variables": {"v": "before"}})
    change = space.create()
    space.edit(
        change,
        update(a, title="Ours", slug="ours"),
        update(c, into=a),
        {"operation": "set_variables", "variables": {"v": "ours"}},
    )
    space.edit_main(
        update(a, title="Theirs", slug="theirs"),
        update(c, into=None),
        {"operation": "set_variables", "variables": {"v": "theirs"}},
    )
    space.update(change)
    ids = {c["field"]: c["id"] for c in space.conflicts(change)}
    before = space.world.digest()
    for field, bad in (
        ("title", 7),
        ("title", ""),
        ("slug", "a/b"),
        ("place", {"parent": 7}),
        ("place", ["x", "y"]),
        ("value", {"no": "text"}),
    ):
        answer = space.try_resolve(change, ids[field], choice="edited", value=bad)
        assert answer.status_code == 400, (field, answer.text)
    assert space.try_resolve(change, ids["place"], choice="edited", value={"parent": "no"}).status_code == 404
    assert space.world.digest() == before
    space.resolve(change, ids["title"], choice="edited", value="Decided")
    space.resolve(change, ids["slug"], choice="edited", value="decided")
    space.resolve(change, ids["place"], choice="edited", value={"parent": space.pages["B"], "at": 0})
    space.resolve(change, ids["value"], choice="edited", value="decided")
    page = space.page("A", change)
    assert (page["title"], page["slug"]) == ("Decided", "decided")
    assert space.tree(change) == ["Decided", ["B", "C"]]
    assert space.world.get("reader", space.url(change))["variables"] == {"v": "decided"}


def test_foreign_hashes_cannot_resolve_a_conflict(space):
    """Texts are stored by hash: naming a hash must not give access to the text."""
    a = space.pages["A"]
    with space.world.context.db.read() as tx:
        foreign = tx.value("SELECT hash FROM bodies LIMIT 1")
    change = in_conflict(
        space, {"operation": "delete_page", "page": a}, whole(space, "A", A.replace("First", "Edited"))
    )
    (conflict,) = space.conflicts(change)
    value = {"id": a, "title": "A", "body": foreign}
    answer = space.try_resolve(change, conflict["id"], choice="edited", value=value)
    assert answer.status_code == 400, answer.text
