"""Tests of updateChangeRequestContent: batches are applied in order, all or none."""

import base64
import json

import pytest

from .working import PAGE, insert, update


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    for word in words:
        assert word in answer.json()["error"]["message"], answer.text


@pytest.mark.sqlite_first
def test_content_is_returned_in_both_formats(space):
    change = space.create()
    path = space.url(change)
    edit = {"changes": [update(space.pages["A"], title="Alpha")]}
    compat = space.world.post("editor", path, edit)
    assert compat["object"] == "change-request" and compat["revision"] == space.change(change)["revision"]
    answer = space.edit(
        change,
        insert("# New\n\nText.\n", ref="new"),
        update(space.pages["A"], description="About A"),
        {"operation": "delete_page", "page": space.pages["C"]},
    )
    created, updated, deleted = answer["changes"]
    assert created["object"] == "created_page" and created["ref"] == "new"
    assert created["page"]["title"] == "New" and created["page"]["slug"] == "new"
    assert updated == {"object": "updated_page", "page": updated["page"]}
    assert updated["page"]["description"] == "About A"
    assert deleted == {"object": "deleted_page", "page": space.pages["C"]}
    assert "insertedFiles" not in answer
    assert answer["changeRequest"]["id"] == change
    assert space.tree(change) == ["Alpha", "B", "New"]
    assert space.tree() == ["A", ["B", "C"]]


@pytest.mark.sqlite_first
def test_a_batch_with_one_invalid_change_changes_nothing(space):
    change = space.create()
    before = space.world.digest()
    wrong = [
        (404, update("nobody", title="X")),
        (404, insert("# X\n", into="nobody")),
        (400, update(space.pages["B"], into=space.pages["C"])),
        (400, update(space.pages["B"], into=space.pages["B"])),
        (409, update(space.pages["A"], slug="b")),
        (409, insert("# X\n", slug="b")),
        (400, update(space.pages["A"], slug="a/b")),
        (400, update(space.pages["A"], title="   ")),
        (400, update(space.pages["A"], condition="visitor.(")),
        (400, update(space.pages["A"], document={"document": [{"object": "block", "type": "no-such"}]})),
        (404, {"operation": "delete_page", "page": "nobody"}),
        (404, {"operation": "revert_page", "page": "nobody"}),
        (404, {"operation": "revert_page", "page": space.pages["A"], "revision": "nobody"}),
        (404, {"operation": "revert_page", "page": space.pages["A"], "block": ["nobody"]}),
        (404, {"operation": "delete_file", "file": "nobody"}),
        (404, {"operation": "delete_reusable_content", "reusableContent": "nobody"}),
        (400, {"operation": "insert_files", "files": [{"name": "a/b", "base64": "", "contentType": "a/b"}]}),
        (400, {"operation": "insert_files", "files": [{"name": "a", "base64": "!", "contentType": "a/b"}]}),
        (400, {"operation": "insert_files", "files": [{"name": "a", "url": "http://127.0.0.1:1/"}]}),
        (400, {"operation": "insert_files", "files": [{"name": "a", "base64": "eA=="}]}),
        (400, {"operation": "insert_files", "files": [{"name": "a"}]}),
        (400, {"operation": "insert_files", "files": []}),
        (400, {"operation": "insert_link", "title": "L", "target": {"kind": "no"}}),
        (400, {"operation": "no-such"}),
    ]
    for status, one in wrong:
        answer = space.try_edit(change, update(space.pages["A"], title="Changed"), one)
        refused(answer, status)
        assert space.world.digest() == before, one
    twice = [insert("# X\n", ref="x"), insert("# Y\n", ref="x")]
    refused(space.try_edit(change, *twice), 400, "changes[1]", "ref")
    large = base64.b64encode(bytes(1024 * 1024 + 1)).decode()
    file = {"name": "a", "base64": large, "contentType": "a/b"}
    refused(space.try_edit(change, {"operation": "insert_files", "files": [file]}), 413, "a")
    assert space.world.digest() == before


@pytest.mark.sqlite_first
def test_fields_round_trip_through_the_front_matter(space):
    change = space.create()
    fields = {
        "title": "New title",
        "emoji": "1f600",
        "icon": "rocket",
        "description": "What it is",
        "hidden": True,
        "noIndex": True,
        "noRobotsIndex": True,
        "condition": "visitor.claims.beta",
    }
    space.edit(change, update(space.pages["A"], **fields))
    page = space.page("A", change)
    for name in ("title", "emoji", "icon", "description", "hidden", "noIndex", "noRobotsIndex"):
        assert page[name] == fields[name]
    assert page["slug"] == "new-title"
    text = page["markdown"]
    assert "# New title\n\nFirst paragraph of A.\n" in text
    assert "description: What it is" in text and "if: visitor.claims.beta" in text
    # A text without front matter keeps the old one; a text with front matter replaces it.
    space.write(change, "A", "Only a body.\n")
    page = space.page("A", change)
    assert page["title"] == "New title" and page["description"] == "What it is"
    assert page["markdown"].endswith("# New title\n\nOnly a body.\n")
    space.write(change, "A", "---\ndescription: Another\n---\n\n# Third\n\nBody.\n")
    page = space.page("A", change)
    assert (page["title"], page["description"], page["hidden"]) == ("Third", "Another", False)
    assert page["markdown"] == "---\ndescription: Another\n---\n\n# Third\n\nBody.\n"
    space.edit(change, update(space.pages["A"], description=None, slug="by-hand"))
    space.edit(change, update(space.pages["A"], title="Fourth"))
    page = space.page("A", change)
    assert "description" not in page and page["slug"] == "by-hand"


@pytest.mark.sqlite_first
def test_unedited_content_keeps_its_bytes(space):
    change = space.create()
    odd = "# A\n\nOne   [b](b.md)  \nwith odd *marks*.\n\n\n+ list\n+ of plus\n\nLast\n"
    space.write(change, "A", odd)
    assert space.text("A", change) == odd
    document = space.page("A", change, "document")["document"]
    document["nodes"][-1]["nodes"][0]["leaves"][0]["text"] = "Changed"
    space.edit(change, update(space.pages["A"], document={"document": document}))
    assert space.text("A", change) == odd.replace("Last", "Changed")
    space.edit(change, update(space.pages["A"], document={"document": document["nodes"]}))
    assert space.text("A", change) == odd.replace("Last", "Changed")


@pytest.mark.sqlite_first
def test_node_keys_stay_across_edits(space):
    change = space.create()
    keys = [node["key"] for node in space.page("A", change, "document")["document"]["nodes"]]
    space.write(change, "A", PAGE.format(title="A").replace("Second paragraph", "Second, longer paragraph"))
    edited = space.page("A", change, "document")["document"]["nodes"]
    assert [node["key"] for node in edited] == keys
    text = space.text("A", change).replace("First paragraph", "Opening.\n\nFirst and edited paragraph")
    space.write(change, "A", text)
    edited = space.page("A", change, "document")["document"]["nodes"]
    assert [node["key"] for node in edited][1:] == keys and edited[0]["key"] not in keys
    space.edit_main(update(space.pages["A"], document={"markdown": PAGE.format(title="A") + "\nThird.\n"}))
    assert space.merge(change)["result"] == "merge"
    merged = space.page("A", None, "document")["document"]["nodes"]
    assert [node["key"] for node in merged][1:3] == keys and len(merged) == 4


def test_links_by_ref_and_by_id_become_paths(space):
    change = space.create()
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\0\0\2\0\0\0\3" + bytes(40)).decode()
    answer = space.edit(
        change,
        insert(
            f"# One\n\n[two](./two.md#part), [a](/pages/{space.pages['A']})\n\n![p](/files/pic)\n", ref="one"
        ),
        insert("# Two\n\n[one](./one.md)\n", into=space.pages["B"], ref="two"),
        {
            "operation": "insert_files",
            "files": [{"name": "p q.png", "base64": picture, "contentType": "image/png", "ref": "pic"}],
        },
    )
    (file,) = answer["insertedFiles"]
    assert file["name"] == "p q.png" and file["dimensions"] == {"width": 2, "height": 3}
    one, two = (answer["changes"][n]["page"]["id"] for n in (0, 1))
    assert "[two](b/two.md#part), [a](README.md)" in space.text(one, change)
    assert "![p](.gitbook/assets/p%20q.png)" in space.text(one, change)
    assert space.text(two, change) == "# Two\n\n[one](../one.md)\n"
    nodes = space.page(one, change, "document")["document"]["nodes"]
    refs = [node["data"]["ref"] for node in nodes[0]["nodes"] if node.get("type") == "link"]
    assert refs == [
        {"kind": "anchor", "anchor": "part", "page": two},
        {"kind": "page", "page": space.pages["A"]},
    ]
    images = [n for n in nodes if n["type"] == "images"] or nodes[1:]
    assert file["id"] in str(images)
    # The same document sent back as nodes, with references by id, is equivalent.
    before = space.text(one, change)
    whole = space.page(one, change, "document")["document"]
    space.edit(change, update(one, document={"document": whole}))
    assert space.text(one, change) == before


def test_pages_are_ordered_moved_and_nested(space):
    change = space.create()
    space.edit(
        change, insert("# D\n", at=0), insert("# E\n", at=1), insert("# F\n", into=space.pages["B"], at=0)
    )
    assert space.tree(change) == ["D", "E", "A", ["B", "F", "C"]]
    space.edit(change, update(space.pages["A"], at=0), update(space.pages["C"], into=None, at=99))
    assert space.tree(change) == ["A", "D", "E", ["B", "F"], "C"]
    space.edit(change, update(space.pages["B"], into=space.pages["A"]))
    assert space.tree(change) == [["A", ["B", "F"]], "D", "E", "C"]
    space.edit(change, {"operation": "delete_page", "page": space.pages["A"]})
    assert space.tree(change) == ["D", "E", "C"]
    space.edit(change, {"operation": "revert_page", "page": space.pages["A"]})
    assert space.tree(change) == ["D", "E", "A", "C"]
    space.edit(change, {"operation": "insert_group", "title": "Group", "at": 0})
    space.edit(
        change, {"operation": "insert_link", "title": "Link", "target": {"kind": "url", "url": "https://a.b"}}
    )
    assert space.tree(change) == ["Group", "D", "E", "A", "C", "Link"]
    answer = space.edit(change, insert("# A\n"), insert("# A\n"))
    assert [c["page"]["slug"] for c in answer["changes"]] == ["a-1", "a-2"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", " JaVa\tScript:alert(1)", "data:text/html,x", "vbscript:x"]
)
def test_a_link_page_accepts_no_script_url(space, url):
    """Unsafe URLs are rejected by the API and in files and rows."""
    link = {"operation": "insert_link", "title": "Link", "target": {"kind": "url", "url": url}}
    change = space.create()
    answer = space.try_edit(change, link)
    assert (answer.status_code, "target.url" in answer.text) == (400, True)
    link["target"]["url"] = "https://a.b"
    page = space.edit(change, link)["changes"][0]["page"]["id"]
    with space.world.context.db.write() as tx:
        bad = json.dumps({"target": {"kind": "url", "url": url}})
        assert tx.run("UPDATE page_versions SET fields = :bad WHERE page_id = :page", bad=bad, page=page)
    shown = space.world.get("reader", f"{space.url(change)}/page/{page}")
    assert shown["target"] == {"kind": "url", "url": ""} and not shown.get("href")


def test_a_page_or_some_of_its_blocks_can_be_reverted(space):
    change = space.create()
    first = space.page("A")["markdown"]
    then = space.world.get("reader", f"{space.path}")["revision"]
    space.write(change, "A", first.replace("First", "FIRST").replace("Second", "SECOND") + "\nThird.\n")
    nodes = space.page("A", change, "document")["document"]["nodes"]
    space.edit(
        change,
        {"operation": "revert_page", "page": space.pages["A"], "block": [nodes[0]["key"], nodes[2]["key"]]},
    )
    assert space.text("A", change).split() == first.replace("Second", "SECOND").split()
    space.edit(change, {"operation": "revert_page", "page": space.pages["A"]})
    assert space.text("A", change) == first
    space.write(None, "A", "# A\n\nIn main.\n")
    space.edit(None, {"operation": "revert_page", "page": space.pages["A"], "revision": then})
    assert space.text("A") == first
    refused(space.try_edit(None, {"operation": "revert_page", "page": space.pages["A"]}), 400, "revision")


@pytest.mark.sqlite_first
def test_files_reusable_contents_and_variables_are_edited(space):
    change = space.create()
    call, base = space.world.call, space.url(change)
    data = base64.b64encode(b"one").decode()
    files = [{"name": "a.txt", "base64": data, "contentType": "text/plain"}] * 2
    answer = space.edit(change, {"operation": "insert_files", "files": files})
    one, two = (file["id"] for file in answer["insertedFiles"])
    renamed = call("editor", "PATCH", f"{base}/files/{one}", json={"name": "b.txt"}).json()
    assert (renamed["name"], renamed["size"]) == ("b.txt", 3)
    body = {"base64": base64.b64encode(b"three").decode(), "contentType": "text/plain"}
    replaced = call("editor", "PATCH", f"{base}/files/{one}", json=body).json()
    assert (replaced["name"], replaced["size"]) == ("b.txt", 5)
    refused(
        call("editor", "PATCH", f"{base}/files/{one}", json={"name": "x", "url": "a", "base64": "b"}), 400
    )
    assert call("editor", "DELETE", f"{base}/files/{two}").status_code == 205
    assert call("editor", "DELETE", f"{base}/files/{two}").status_code == 204
    made = call(
        "editor",
        "POST",
        f"{base}/reusable-contents",
        json={"title": "Note", "document": {"markdown": "N.\n"}},
    )
    assert made.status_code == 201
    assert call("editor", "GET", made.headers["location"]).json()["title"] == "Note"
    note = made.json()["id"]
    changed = call("editor", "PATCH", f"{base}/reusable-contents/{note}", json={"title": "Other"}).json()
    assert changed["title"] == "Other"
    variables = {"variables": {"name": "Octavo", "limit": 3, "on": True}}
    assert call("editor", "PATCH", f"{base}/variables", json=variables).json() == variables
    less = call(
        "editor", "PATCH", f"{base}/variables", json={"variables": {"limit": None, "name": "O"}}
    ).json()
    assert less == {"variables": {"name": "O", "on": True}}
    for wrong in ({"1a": "x"}, {"a": "x" * 257}, {"a": []}):
        refused(call("editor", "PATCH", f"{base}/variables", json={"variables": wrong}), 400)
    assert space.merge(change)["result"] == "merge"
    content = space.world.get("reader", f"{space.path}/content")
    assert content["variables"] == {"name": "O", "on": True}
    assert [file["name"] for file in content["files"]] == ["b.txt"]
    assert [item["title"] for item in content["reusableContents"]] == ["Other"]
    assert content["type"] == "merge" and content["mergedFrom"]["id"] == change
    other = space.create()
    assert call("editor", "DELETE", f"{space.url(other)}/reusable-contents/{note}").status_code == 205
    assert call("editor", "DELETE", f"{space.url(other)}/reusable-contents/{note}").status_code == 204


def test_main_can_be_edited_directly(space):
    events = len(space.events("space_content_updated"))
    answer = space.edit_main(update(space.pages["A"], title="Alpha"), insert("# New\n"))
    assert answer["revision"] == space.world.get("reader", space.path)["revision"]
    assert len(space.events("space_content_updated")) == events + 1
    space.edit_main(update(space.pages["A"], title="Alpha"))
    assert len(space.events("space_content_updated")) == events + 1, "nothing differed"
    with space.world.context.db.write() as tx:
        tx.run("UPDATE spaces SET edit_mode = 'locked' WHERE id = :id", id=space.id)
    refused(space.try_edit(None, insert("# No\n")), 403, "locked", "change request")
    change = space.create()
    space.edit(change, insert("# Yes\n"))
    assert space.merge(change)["result"] == "merge"


@pytest.mark.sqlite_first
@pytest.mark.parametrize("who", ["reader", "commenter"])
def test_readers_and_commenters_cannot_edit(space, who):
    change = space.create()
    assert space.try_edit(change, insert("# X\n"), who=who).status_code == 403


def test_each_branch_shows_its_own_urls(space):
    """A change request without changes has main's pages, with its own URLs."""
    change = space.create()
    for path in ("/content", "/content/pages", f"/content/page/{space.pages['A']}"):
        of_main = space.world.get("reader", f"{space.path}{path}")
        of_change = space.world.get("reader", f"{space.path}/change-requests/{change}{path}")
        first, second = (
            found["pages"][0] if "pages" in found and found.get("type") != "document" else found
            for found in (of_main, of_change)
        )
        assert first["id"] == second["id"] == space.pages["A"]
        assert first["urls"]["app"] != second["urls"]["app"]


def test_groups_are_accepted_only_where_groups_are_allowed(space):
    change = space.create()
    group = {"operation": "insert_group", "title": "Part"}
    space.edit(change, {**group, "into": None, "at": 0})
    assert space.tree(change)[0] == "Part"
    answer = space.try_edit(change, {**group, "into": space.pages["A"]})
    assert answer.status_code == 400 and "into" in answer.json()["error"]["message"]
    answer = space.try_edit(change, {**group, "into": "nothing"})
    assert answer.status_code == 404 and "into" in answer.json()["error"]["message"]


def test_an_empty_page_is_inserted(world):
    space = world.home["spaceId"]
    change = {"operation": "insert_page", "title": "Blank", "document": {"markdown": ""}}
    made = world.post("admin", f"/spaces/{space}/content", {"changes": [change]})
    page = made["changes"][0]["page"]["id"]
    shown = world.get("admin", f"/spaces/{space}/content/page/{page}", params={"format": "markdown"})
    assert shown["title"] == "Blank" and shown["markdown"].strip() in ("", "# Blank")
