"""Tests of comment targets: pages, nodes, and cells, which are found while the text changes, and marked when
they are deleted."""

import pytest

from changes.working import PAGE, insert, update

from .talking import Talk, refused

TABLE = "# A\n\nFirst paragraph of A.\n\n| Name | Age |\n| --- | --- |\n| Ann | 30 |\n| Bob | |\n"


def edit(talk, title, text):
    talk.space.write(talk.change, title, text)


def head(talk):
    """Return the latest revision of the place."""
    return talk.world.get("reader", talk.place)["revision"]


@pytest.mark.sqlite_first
def test_a_node_is_found_after_text_changed(talk):
    page = talk.space.pages["A"]
    node = talk.nodes("A")[1]["key"]
    made = talk.post(page=page, node=node)
    comment = made["id"]
    assert made["target"] == {
        "space": talk.space.id,
        "revision": head(talk),
        "page": {"id": page},
        "node": {"id": node},
        **({"changeRequest": talk.change} if talk.change else {}),
    }
    edit(talk, "A", "# A\n\nAn opening.\n\nFirst paragraph of A.\n\nThe second paragraph of A, longer now.\n")
    target = talk.get(comment)["target"]
    assert target == {**made["target"], "revision": head(talk)}
    found = {block["key"]: block for block in talk.nodes("A")}[node]
    assert "longer now" in str(found)
    last = head(talk)
    edit(talk, "A", "# A\n\nAn opening.\n\nFirst paragraph of A.\n")
    target = talk.get(comment)["target"]
    assert target == {**made["target"], "gone": True}
    # The revision that it names still has the node.
    document = talk.world.get(
        "reader",
        f"{talk.space.path}/revisions/{target['revision']}/page/{page}",
        params={"format": "document"},
    )
    assert node in [block["key"] for block in document["document"]["nodes"]]
    assert last != head(talk) and talk.list()["items"][0]["target"]["gone"] is True
    # It can be restored.
    edit(talk, "A", PAGE.format(title="A"))
    assert talk.get(comment)["target"] == {**made["target"], "revision": head(talk)}


def test_threads_of_a_deleted_page_are_marked(talk):
    page = talk.space.pages["B"]
    about_page = talk.post(page=page)
    about_node = talk.post(page=page, node=talk.nodes("B")[0]["key"])
    about_all = talk.post()
    talk.space.edit(talk.change, update(page, title="Beta"))
    assert talk.get(about_page["id"])["target"] == {**about_page["target"], "revision": head(talk)}
    talk.space.edit(talk.change, {"operation": "delete_page", "page": page})
    for made in (about_page, about_node):
        assert talk.get(made["id"])["target"] == {**made["target"], "gone": True}
    assert talk.get(about_all["id"])["target"] == {**about_all["target"], "revision": head(talk)}
    assert talk.list(targetPage=page)["count"] == 2
    refused(talk.try_post(page=page), 404, "page")


def cell(record, definition):
    return {"tableCell": {"record": record, "definition": definition}}


@pytest.mark.sqlite_first
def test_cells_are_found_after_rows_and_columns_are_inserted(talk):
    edit(talk, "A", TABLE)
    page, table = talk.space.pages["A"], talk.nodes("A")[1]
    assert table["type"] == "table"
    at = {"page": page, "node": table["key"]}
    ann, thirty = talk.post(**at, **cell("r1", "c1"))["id"], talk.post(**at, **cell("r1", "c2"))["id"]
    empty = talk.post(**at, **cell("r2", "c2"))["id"]

    def spot(comment):
        target = talk.get(comment)["target"]
        return target["tableCell"]["record"], target["tableCell"]["definition"], target.get("gone", False)

    assert spot(ann) == ("r1", "c1", False) and spot(thirty) == ("r1", "c2", False)
    edit(talk, "A", TABLE.replace("| Ann", "| Zoe | 20 |\n| Ann"))
    assert spot(ann) == ("r2", "c1", False) and spot(thirty) == ("r2", "c2", False)
    edit(talk, "A", TABLE.replace("Ann | 30", "Ann | 30, soon 31"))
    assert spot(ann) == ("r1", "c1", False) and spot(thirty) == ("r1", "c2", False)
    assert spot(empty) == ("r2", "c2", False)
    edit(talk, "A", TABLE.replace("| Ann | 30 |\n", ""))
    assert spot(ann) == ("r1", "c1", True) and spot(thirty) == ("r1", "c2", True)
    edit(talk, "A", PAGE.format(title="A"))
    assert spot(empty) == ("r2", "c2", True)


@pytest.mark.sqlite_first
def test_missing_targets_are_refused(talk):
    edit(talk, "A", TABLE)
    page = talk.space.pages["A"]
    paragraph, table = (block["key"] for block in talk.nodes("A"))
    elsewhere = talk.nodes("B")[0]["key"]
    foreign = talk.world.away["pageId"]
    before = talk.world.digest()
    for target, status, word in (
        ({"page": "nothing"}, 404, "page"),
        ({"page": foreign}, 404, "page"),
        ({"page": foreign, "node": elsewhere}, 404, "page"),
        ({"page": page, "node": "nothing"}, 404, "node"),
        ({"page": page, "node": elsewhere}, 404, "node"),
        ({"page": page, "node": paragraph, **cell("r1", "c1")}, 404, "tableCell"),
        ({"page": page, "node": table, **cell("r3", "c1")}, 404, "tableCell"),
        ({"page": page, "node": table, **cell("r1", "c3")}, 404, "tableCell"),
        ({"page": page, "node": table, "tableCell": {"record": "r1"}}, 400, "tableCell"),
    ):
        refused(talk.try_post(**target), status, word)
    assert talk.world.digest() == before


@pytest.mark.sqlite_first
def test_pages_of_a_change_request_cannot_be_commented_on_in_main(space, main):
    change = space.create()
    page = space.edit(change, insert("# New\n\nWords.\n"))["changes"][0]["page"]["id"]
    inside = Talk(space, f"{space.path}/change-requests/{change}", change)
    node = inside.nodes(page)[0]["key"]
    refused(main.try_post(page=page, node=node), 404, "page")
    made = inside.post(page=page, node=node)
    assert space.merge(change)["result"] == "merge"
    main.post(page=page, node=node)
    merged = inside.get(made["id"])["target"]
    assert merged == {**made["target"], "revision": head(main)}
    # A thread of a change request stays there.
    assert main.list()["count"] == 1 and inside.list()["count"] == 1


@pytest.mark.sqlite_first
def test_a_thread_survives_conflict_resolution_merging_and_reverting(space, main):
    """Two change requests edit one paragraph while a thread about it continues."""
    page = space.pages["A"]
    first, second = space.create("editor", subject="One"), space.create("creator", subject="Two")
    talk = Talk(space, f"{space.path}/change-requests/2", second)
    space.write(second, "A", PAGE.format(title="A").replace("First", "My first"))
    node = talk.nodes("A")[0]["key"]
    comment = talk.post("Is that better?", page=page, node=node)["id"]
    beside = main.post("I like it.", page=page, node=main.nodes("A")[0]["key"])["id"]
    talk.reply(comment, "Much.", "reviewer")
    talk.update(comment, addedReactions=["👍"])

    def holds(replies, revision, **target):
        shown = talk.get(comment, format="markdown")
        assert shown["body"] == {"markdown": "Is that better?"} and shown["replies"] == replies
        assert [r["emoji"] for r in shown["reactions"]] == ["👍"]
        assert shown["target"]["node"] == {"id": node} and shown["target"]["page"] == {"id": page}
        assert (shown["target"]["revision"], shown["target"].get("gone")) == (revision, target.get("gone"))
        assert space.change(second)["comments"] == talk.list(status="open")["count"]
        assert main.open_ones() == main.list(status="open")["count"] == 1

    holds(1, space.change(second)["revision"])
    space.write(first, "A", PAGE.format(title="A").replace("First", "Our first"))
    assert space.merge(first)["result"] == "merge"
    assert space.merge(second)["result"] == "conflicts"
    holds(1, space.change(second)["revision"])
    talk.reply(comment, "They changed it too.", "editor")
    (conflict,) = space.conflicts(second)
    space.resolve(second, conflict["id"], choice="edited", value="Everybody's first paragraph of A.")
    holds(2, space.change(second)["revision"])
    before = space.world.get("reader", space.path)["revision"]
    merged = space.merge(second)
    assert merged["result"] == "merge" and "Everybody's" in space.text("A")
    holds(2, merged["revision"])
    assert "Everybody's" in str({block["key"]: block for block in main.nodes("A")}[node])
    talk.update(comment, "reviewer", resolved=True)
    talk.update(comment, "commenter", resolved=False)
    talk.reply(comment, "Said after the merge.")
    undone = space.world.post("reviewer", f"{space.path}/revisions/{before}/rollback")
    assert undone["result"] == "rollback" and "Our first" in space.text("A")
    holds(3, undone["revision"])
    assert main.get(beside)["target"].get("gone") is None
    # If the paragraph is deleted, the thread says so and is kept.
    space.write(None, "A", "# A\n")
    holds(3, talk.get(comment)["target"]["revision"], gone=True)
    assert main.get(beside)["target"]["gone"] is True


def test_archived_and_merged_change_requests_accept_comments(space):
    archived, merged = space.create(), space.create()
    space.write(merged, "A", "# A\n\nNew.\n")
    space.world.call(
        "editor", "PATCH", f"{space.path}/change-requests/{archived}", json={"status": "archived"}
    )
    space.merge(merged)
    for change in (archived, merged):
        talk = Talk(space, f"{space.path}/change-requests/{change}", change)
        talk.reply(talk.post(page=space.pages["A"])["id"])
        assert talk.open_ones() == 1


def test_a_node_or_cell_without_its_page_is_kept_as_given(world, space):
    talk = Talk(space, space.path)
    table = "| A | B |\n| --- | --- |\n| one | two |\n"
    space.write(None, "A", f"# A\n\n{table}")
    node = next(node for node in talk.nodes("A") if node["type"] == "table")
    record = next(iter(node["data"]["records"]))
    definition = next(iter(node["data"]["definition"]))
    cell = {"record": record, "definition": definition}
    target = talk.post(node=node["key"])["target"]
    assert target["node"] == {"id": node["key"]} and "page" not in target and "gone" not in target
    assert talk.post(node=node["key"], tableCell=cell)["target"]["tableCell"] == cell
    assert talk.post(tableCell=cell)["target"]["tableCell"] == cell
    target = talk.post(page=space.pages["A"], tableCell=cell)["target"]
    assert target["node"] == {"id": node["key"]} and target["tableCell"] == cell
    missing = talk.try_post(page=space.pages["A"], tableCell={"record": "x", "definition": "y"})
    assert missing.status_code == 404 and "tableCell" in missing.text


@pytest.mark.sqlite_first
def test_bodies_are_plain_text_or_empty_objects(space):
    talk = Talk(space, space.path)

    def post(body):
        return talk.call("commenter", "POST", json={"body": body})

    made = post("Some **bold** words.").json()
    assert talk.get(made["id"], format="markdown")["body"] == {"markdown": "Some **bold** words."}
    assert made["body"]["document"]["nodes"][0]["type"] == "paragraph"
    empty = post({})
    assert empty.status_code == 200, empty.text
    assert talk.get(empty.json()["id"], format="markdown")["body"] == {"markdown": ""}
    assert talk.update(made["id"], body="Other words.")["body"]["document"]["nodes"]
    answer = talk.call("commenter", "POST", f"/{made['id']}/replies", json={"body": "Yes."})
    assert answer.status_code == 200, answer.text
    for body in ("", "  ", {"markdown": ""}, 7, None, ["x"], {"markdown": "a", "document": []}):
        answer = post(body)
        assert (answer.status_code, "body" in answer.text) == (400, True), (body, answer.text)
