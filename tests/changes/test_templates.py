"""Tests of templates: built-in ones and spaces, applied to main or to a change request."""

from pathlib import Path

import pytest

from octavo.content.changes.templates.catalog import built_in
from octavo.core.document.json import to_json
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.core.import_plan import plan_import
from octavo.interchange.transfer.opening import open_source

from .working import insert, update

SVG = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="


def apply(space, template, *, who="editor", change=None, refs=None):
    body = {"id": template, "params": {"contentRefs": refs or {}}}
    if change is not None:
        body["changeRequestId"] = change
    return space.world.call(who, "POST", f"{space.path}/content/template", json=body)


def titles(space, change=None):
    return [page["title"] for page in space.world.get("reader", f"{space.url(change)}/pages")["pages"]]


def source_space(world):
    """Create a space with a page that links to another one by path and by id, an image, reusable content,
    and a variable."""
    org = world.home.path("/orgs/{organizationId}/spaces")
    space = world.post("admin", org, {"title": "House style"})["id"]
    changes = [
        {
            "operation": "insert_files",
            "files": [{"name": "a.svg", "base64": SVG, "contentType": "image/svg+xml", "ref": "pic"}],
        },
        insert("# Two\n\nThe second.\n", ref="two"),
        {"operation": "insert_reusable_content", "title": "Note", "document": {"markdown": "Mind this.\n"}},
        {"operation": "set_variables", "variables": {"product": "Octavo"}},
    ]
    made = world.call(
        "editor", "POST", f"/spaces/{space}/content", params={"compat": "false"}, json={"changes": changes}
    ).json()
    two, file = made["changes"][0]["page"]["id"], made["insertedFiles"][0]["id"]
    text = f"# One\n\n![](/files/{file})\n\n[By id](/pages/{two})\n\n![](ref:logo)\n\nThe end.\n"
    world.post("editor", f"/spaces/{space}/content", {"changes": [insert(text)]})
    return space


@pytest.mark.parametrize("template", sorted(built_in()))
def test_built_in_templates_are_well_formed(template):
    folder = Path(str(__import__("octavo").__file__)).parent / "content/changes/templates/builtin" / template
    with open_source(str(folder), allow_url=str, local=True) as source:
        assert not plan_import(source).problems
        files = set(source.paths())
    for path in files - {"template.yaml"}:
        body = split_page((folder / path).read_text())[2]
        document = read(body)
        assert write(document) == body
        assert "unknown" not in str(to_json(document))


@pytest.mark.sqlite_first
def test_a_template_is_added_after_existing_content(space):
    assert apply(space, "product-docs").status_code == 201
    assert titles(space) == ["A", "B", "Introduction", "Get started", "Guides", "Help"]
    home = space.world.get("reader", f"{space.path}/content/path/introduction", params={"format": "markdown"})
    assert "ref:" not in home["markdown"] and "](get-started/quickstart.md)" not in home["markdown"]
    answer = space.world.get(
        "reader", f"{space.path}/content/path/introduction", params={"format": "document"}
    )
    assert "'kind': 'page'" in str(answer["document"])  # Its cards link to the copies.
    # A second time: paths and slugs are in use now.
    assert apply(space, "product-docs").status_code == 201
    assert titles(space).count("Introduction") == 2
    assert len(space.events("space_content_updated")) >= 2


@pytest.mark.sqlite_first
def test_a_template_is_added_to_a_change_request(space):
    change = space.create()
    before = titles(space)
    assert apply(space, "runbook", change=change).status_code == 201
    assert titles(space) == before and "In an emergency" in titles(space, change)
    assert space.merge(change)["result"] == "merge"
    assert "In an emergency" in titles(space)


@pytest.mark.sqlite_first
def test_slots_are_filled_with_content_of_the_space(space):
    files = [{"name": "logo.svg", "base64": SVG, "contentType": "image/svg+xml"}]
    file = space.edit_main({"operation": "insert_files", "files": files})["insertedFiles"][0]["id"]
    refs = {"cover": {"kind": "file", "file": file}}
    assert apply(space, "handbook", refs=refs).status_code == 201
    page = space.world.get("reader", f"{space.path}/content/path/welcome", params={"format": "document"})
    assert {"kind": "file", "file": file} in [
        node["data"]["ref"]
        for block in page["document"]["nodes"]
        for node in block.get("nodes", [])
        if "ref" in node.get("data", {})
    ]


@pytest.mark.sqlite_first
def test_a_space_can_be_a_template(space):
    world = space.world
    template = source_space(world)
    assert apply(space, template).status_code == 201
    one = world.get("reader", f"{space.path}/content/path/one", params={"format": "markdown"})
    two = world.get("reader", f"{space.path}/content/path/two")
    assert "ref:logo" not in one["markdown"] and "The end." in one["markdown"]
    document = str(world.get("reader", f"{space.path}/content/path/one", params={"format": "document"}))
    files = world.get("reader", f"{space.path}/content/files")["items"]
    assert two["id"] in document and [file["id"] for file in files if file["name"] == "a.svg"][0] in document
    content = world.get("reader", f"{space.path}/content")
    assert content["variables"] == {"product": "Octavo"}
    assert [item["title"] for item in content["reusableContents"]] == ["Note"]


def test_both_kinds_are_listed_with_their_open_references(world):
    template = source_space(world)
    path = world.home.path("/orgs/{organizationId}/templates")
    listed = world.get("reader", path)["items"]
    by_id = {item["id"]: item for item in listed}
    assert set(built_in()) < set(by_id)
    assert by_id["handbook"]["contentRefs"] == ["cover"] and by_id["handbook"]["kind"] == "builtin"
    assert by_id[template]["contentRefs"] == ["logo"] and by_id[template]["kind"] == "space"
    paged, token = [], None
    for _ in range(len(listed) + 1):
        answer = world.get("reader", path, params={"limit": 1, **({"page": token} if token else {})})
        paged += [item["id"] for item in answer["items"]]
        assert answer["count"] == len(listed)
        token = answer.get("next", {}).get("page")
        if token is None:
            break
    assert paged == [item["id"] for item in listed]


def test_invalid_templates_change_nothing(space):
    world = space.world
    foreign = world.away.ids["spaceId"]
    foreign_file = {"kind": "file", "file": world.away.ids["fileId"]}
    change = space.create()
    before = world.digest()
    wrong = [
        (404, apply(space, "no-such")),
        (404, apply(space, foreign)),
        (404, apply(space, "blank", change="999")),
        (400, apply(space, "blank", refs={"cover": {"kind": "url", "url": "https://example.com"}})),
        (400, apply(space, "handbook", refs={"cover": {"kind": "user", "user": "x"}})),
        (404, apply(space, "handbook", refs={"cover": foreign_file})),
        (404, apply(space, "handbook", refs={"cover": foreign_file}, change=change)),
        (403, apply(space, "blank", who="reader")),
    ]
    for status, answer in wrong:
        assert answer.status_code == status, answer.text
    made = world.call("editor", "POST", f"{space.path}/change-requests", json={"template": {"id": foreign}})
    assert made.status_code == 404
    assert world.digest() == before


def test_a_change_request_can_start_with_a_template(space):
    change = space.create(subject="Begin", template={"id": "changelog"})
    assert "What's new" in titles(space, change)
    assert space.edit(change, update(space.pages["A"], title="Alpha"))


def test_locked_spaces_accept_templates_only_in_change_requests(space):
    with space.world.context.db.write() as tx:
        tx.run("UPDATE spaces SET edit_mode = 'locked' WHERE id = :id", id=space.id)
    assert apply(space, "blank").status_code == 403
    assert apply(space, "blank", change=space.create()).status_code == 201


def test_a_space_can_start_with_a_template(world):
    path = world.home.path("/orgs/{organizationId}/spaces")
    made = world.post(
        "creator", path, {"title": "API", "template": {"id": "api-reference"}, "editMode": "locked"}
    )
    assert (made["title"], made["editMode"]) == ("API", "locked")
    pages = world.get("creator", f"/spaces/{made['id']}/content/pages")["pages"]
    assert pages, "the pages of the template"
    assert made["revision"] == world.get("creator", f"/spaces/{made['id']}/content")["id"]
    copied = world.post("creator", path, {"template": {"id": made["id"]}})
    again = world.get("creator", f"/spaces/{copied['id']}/content/pages")["pages"]
    assert [page["title"] for page in again] == [page["title"] for page in pages]


def test_unusable_templates_and_sources_create_nothing(world):
    path = world.home.path("/orgs/{organizationId}/spaces")
    before = world.digest()
    for body, status, word in (
        ({"template": {"id": "nothing"}}, 404, "nothing"),
        ({"template": {"id": world.away["spaceId"]}}, 404, "template"),
        (
            {"template": {"id": "blank", "params": {"contentRefs": {"no": {"kind": "url", "url": "x"}}}}},
            400,
            "no",
        ),
        ({"computedSource": {"type": "nobody", "props": {}, "dependencies": {}}}, 400, "computedSource.type"),
        ({"template": {"id": "blank"}, "computedSource": {"type": "x"}}, 400, "template"),
        ({"template": {}}, 400, "template.id"),
    ):
        answer = world.call("creator", "POST", path, json=body)
        assert answer.status_code == status, answer.text
        assert word in answer.json()["error"]["message"], answer.text
    assert world.digest() == before


def test_a_space_can_start_with_computed_pages(world):
    import computers

    path = world.home.path("/orgs/{organizationId}/spaces")
    made = world.post("creator", path, {"title": "Mirror", "computedSource": computers.source()})
    pages = world.get("creator", f"/spaces/{made['id']}/content/pages")["pages"]
    assert [page["title"] for page in pages] == ["Mirror"]
    plain = world.get("creator", f"/spaces/{made['id']}/content/pages", params={"computed": "false"})
    assert plain["pages"][0]["computed"]["type"] == computers.TYPE
