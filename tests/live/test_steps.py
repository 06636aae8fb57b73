"""Batches of steps: their order, late ones, and refused ones."""

from __future__ import annotations

import pytest

from octavo.core.editor.schema import VERSION

from .writing import block, delete, insert, texts


def test_a_page_opens_in_the_format_of_the_editor(live):
    found = live.get()
    assert (found["version"], found["savedVersion"], found["schema"]) == (0, 0, VERSION)
    assert texts(found["document"]) == ["First paragraph of A.", "Second paragraph of A."]
    # Without a change, everyone who opens it gets the same.
    assert live.get("admin")["document"] == found["document"]


def test_steps_of_two_people_are_ordered(live):
    one, other = live.open("editor"), live.open("admin")
    assert one.type("Hello ", 1)["version"] == 1
    # The other has not seen it: their place moves.
    answer = other.send(insert("!", 22))
    assert answer["version"] == 2
    assert [batch["client"] for batch in answer["batches"]] == [one.id, other.id]
    assert answer["batches"][1]["steps"] == [insert("!", 28)]
    assert texts(live.get()["document"])[0] == "Hello First paragraph of A.!"
    steps = live.call("editor", "GET", "/steps", params={"epoch": one.epoch, "after": 1}).json()
    assert steps["version"] == 2
    assert steps["batches"] == answer["batches"][1:]
    assert answer["batches"][1]["user"] == live.world.users["admin"]


def test_a_repeated_batch_is_added_once(live):
    client = live.open()
    body = client.body(insert("x", 1))
    first, again = client.post(body).json(), client.post(body).json()
    assert first == again
    assert texts(live.get()["document"])[0] == "xFirst paragraph of A."
    # Also late, and in another form.
    client.version = 1
    client.send(insert("y", 2))
    late = client.post({**body, "attempt": 5, "version": 1, "steps": [insert("z", 1)]})
    assert late.status_code == 200
    assert texts(live.get()["document"])[0] == "xyFirst paragraph of A."


def test_two_people_can_use_the_same_client_id(live):
    """Everyone on a page sees the IDs of all clients, so anyone could take them first."""
    own, other = live.open("editor"), live.open("admin")
    other.id = own.id
    other.type("Other. ", 1)
    own.type(" own", 6)
    assert own.post({**own.body(insert("again", 1)), "batch": 1}).json()["batches"] == []
    assert texts(live.get()["document"])[0] == "Other. First own paragraph of A."
    params = {"epoch": own.epoch, "after": 0}
    steps = live.call("editor", "GET", "/steps", params=params).json()
    people = {batch["user"] for batch in steps["batches"]}
    assert people == {live.world.users["editor"], live.world.users["admin"]}


def test_cells_of_a_new_row_stay_in_the_columns_that_another_person_changed(live):
    def cell(column, text):
        content = [{"type": "paragraph", "content": [{"type": "text", "text": text}]}]
        return {"type": "table_cell", "attrs": {"col": column}, "content": content}

    def row(*words):
        cells = [cell(column, text) for column, text in zip("XY", words, strict=True)]
        return {"type": "table_row", "content": cells}

    def add(at, node):
        return {"stepType": "replace", "from": at, "to": at, "slice": {"content": [node]}}

    heads = [
        {"type": "table_heading", "attrs": {"col": column}, "content": [{"type": "text", "text": column}]}
        for column in "XY"
    ]
    table = {"type": "table", "content": [{"type": "table_head", "content": heads}, row("a", "1")]}
    live.open().send(add(0, table))
    one, other = live.open("editor"), live.open("admin")
    one.send(delete(10, 15), delete(2, 5))
    answer = other.send(add(21, row("b", "2")))
    assert [batch["user"] for batch in answer["batches"]] == [
        live.world.users["editor"],
        live.world.users["admin"],
        None,
    ]
    content = live.get()["document"]["content"]
    assert texts(content[0]) == ["Y", "1", "2"]
    assert texts({"content": content[1:2]}) == ["b"]


def test_a_batch_overlapping_newer_steps_is_refused(live):
    one, other = live.open("editor"), live.open("admin")
    one.type("unseen ", 7)
    answer = other.post(other.body(delete(1, 22)))
    assert answer.status_code == 409
    assert answer.json()["error"]["reason"] == "behind"
    assert answer.json()["version"] == 1
    assert [batch["client"] for batch in answer.json()["batches"]] == [one.id]
    assert "unseen" in texts(live.get()["document"])[0]
    # In a paragraph that someone else deletes, nothing is certain either.
    one.send(delete(0, 30))
    assert other.post(other.body(insert("words", 5))).status_code == 409


@pytest.mark.parametrize(("text", "status"), [("ll", 409), (" more", 200), ("!", 200)])
def test_letters_at_the_place_of_newer_text_are_placed_by_their_author(live, text, status):
    """Only the author's editor knows whether they continue a word, which newer text must not split."""
    one, other = live.open("editor"), live.open("admin")
    one.type(" others", 6)
    answer = other.post(other.body(insert(text, 6)))
    assert answer.status_code == status, answer.text
    if status == 409:
        assert answer.json()["error"]["reason"] == "behind"
        assert texts(live.get()["document"])[0] == "First others paragraph of A."


def test_fields_of_an_attribute_that_two_people_set_are_merged_by_the_later_author(live):
    one, other = live.open("editor"), live.open("admin")
    one.send({"stepType": "attr", "pos": 0, "attr": "data", "value": {"align": "right"}})
    late = {"stepType": "attr", "pos": 23, "attr": "data", "value": {"align": "center"}}
    answer = other.post(other.body(late))
    assert (answer.status_code, answer.json()["error"]["reason"]) == (409, "behind")
    other.batch, other.version = 0, answer.json()["version"]
    assert other.send(late)["version"] == 2
    # Other attributes are different.
    one.send({"stepType": "attr", "pos": 0, "attr": "meta", "value": {"id": "x"}})


def test_a_deletion_is_mapped_over_no_field_that_its_author_has_not_seen(live):
    one, other = live.open("editor"), live.open("admin")
    one.send({"stepType": "attr", "pos": 0, "attr": "data", "value": {"align": "right"}})
    for late in (delete(0, 23), {**delete(0, 23), "slice": block("New.", 0)["slice"]}):
        answer = other.post(other.body(late))
        assert (answer.status_code, answer.json()["error"]["reason"]) == (409, "behind")
    other.load()
    other.send(delete(0, 23))


def test_an_invalid_step_changes_nothing(live):
    client = live.open()
    for step in (
        insert("x", 9999),
        {"stepType": "unknown"},
        {},
        {"stepType": "replace", "from": "1", "to": None},
        {"stepType": "attr", "pos": 0, "attr": "key", "value": ["a"]},
        {"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [{"type": "list_item"}]}},
        {"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [{"type": "nothing"}]}},
        {"stepType": "markSet", "steps": [insert("x", 1)]},
    ):
        answer = client.post(client.body(insert("y", 1), step))
        assert answer.status_code == 422, (step, answer.text)
        assert (answer.json()["error"]["reason"], answer.json()["index"]) == ("step", 1)
    assert texts(live.get()["document"])[0] == "First paragraph of A."
    client.send(insert("😀", 1))
    half = client.post(client.body(delete(1, 2)))
    assert half.status_code == 422


def test_refusals_contain_the_reason(live):
    client = live.open()
    client.type("x", 1)

    def refused(**more):
        answer = client.post(client.body(insert("y", 1), **more))
        return answer.status_code, answer.json()["error"]["reason"]

    assert refused(epoch="other") == (410, "gone")
    assert refused(version=99) == (410, "gone")
    assert refused(schema="other") == (412, "schema")
    assert refused(steps=[insert("y", 1)] * 201) == (413, "too_large")
    assert refused(steps=[insert("y" * 300_000, 1)] * 2) == (413, "too_large")
    assert refused(client="short")[0] == 400
    assert refused(steps=[])[0] == 400
    assert live.call("reader", "GET").status_code == 403
    assert live.call("stranger", "GET").status_code == 404
    reader = live.call("reader", "POST", "/steps", json=client.body(insert("y", 1)))
    assert reader.status_code == 403
    # A large step alone is accepted.
    client.send(block("y" * 300_000, 0))


def test_a_merged_or_archived_change_request_accepts_nothing(live):
    client = live.open()
    client.type("x", 1)
    change = f"{live.space.path}/change-requests/{live.change}"
    live.world.call("editor", "PATCH", change, json={"status": "archived"})
    answer = client.post(client.body(insert("y", 1)))
    assert (answer.status_code, answer.json()["error"]["reason"]) == (409, "conflict")
    assert live.call("editor", "GET").status_code == 409
    live.world.call("editor", "PATCH", change, json={"status": "open"})
    client.batch = 1
    client.type("y", 1)


def test_a_page_of_another_kind_is_not_edited_live(live):
    answer = live.world.call("editor", "GET", live.base.replace(live.page, "missing"))
    assert answer.status_code == 404
    group = live.space.edit(live.change, {"operation": "insert_group", "title": "Group"})
    id = group["changes"][0]["page"]["id"]
    assert live.world.call("editor", "GET", live.base.replace(live.page, id)).status_code == 409


def test_someone_who_loses_access_is_refused_immediately(live):
    client = live.open()
    client.type("x", 1)
    person = live.world.users["editor"]
    path = live.world.home.path("/orgs/{organizationId}/members/") + person
    answer = live.world.call("admin", "PATCH", path, json={"role": "read"})
    assert answer.is_success, answer.text
    assert client.post(client.body(insert("y", 1))).status_code == 403
    assert live.call("editor", "GET").status_code == 403


def test_only_its_author_sees_text_set_aside(live):
    item = live.call("editor", "POST", "/set-aside", json={"markdown": "Words", "why": "place-gone"})
    assert item.status_code == 201, item.text
    assert live.call("editor", "GET", "/set-aside").json()["items"] == [item.json()]
    assert live.call("admin", "GET", "/set-aside").json()["items"] == []
    path = f"/set-aside/{item.json()['id']}"
    assert live.call("admin", "DELETE", path).status_code == 204
    assert live.call("editor", "DELETE", path).status_code == 205
    assert live.call("editor", "GET", "/set-aside").json()["items"] == []


def test_carets_of_others_are_shown(live):
    client = live.open()
    client.send(insert("x", 1), caret={"anchor": 2, "head": 2})
    found = live.get("admin")["carets"]
    assert [(caret["client"], caret["version"], caret["anchor"]) for caret in found] == [(client.id, 1, 2)]
    assert found[0]["user"]["id"] == live.world.users["editor"]
    moved = live.call(
        "editor", "PUT", "/caret", json={"client": client.id, "version": 1, "anchor": 1, "head": 4}
    )
    assert moved.status_code == 204, moved.text
    assert live.get("admin")["carets"][0]["head"] == 4
    # A client removes its caret when it closes the page. Other people can't remove it.
    left = {"client": client.id, "version": 1, "anchor": None, "head": None}
    assert live.call("editor", "PUT", "/caret", json={**left, "head": 4}).status_code == 400
    assert live.call("admin", "PUT", "/caret", json=left).status_code == 204
    assert len(live.get("admin")["carets"]) == 1
    assert live.call("editor", "PUT", "/caret", json=left).status_code == 204
    assert live.get("admin")["carets"] == []
