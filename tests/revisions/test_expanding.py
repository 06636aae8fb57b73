"""Computed pages appear in place of their sources, on every base, for everyone who can see their inputs."""

import re

import msgspec
import pytest

import computers
from light_client import LightClient
from octavo.delivery.reader.app import reader_edge
from octavo.operations.admin.import_export import export_space, import_space
from tree_parts import check_parts

SUMMARY = """# Contents

* [Home](README.md)
* [Reference](reference.md)
  * [Before](before.md)
  * {computed}
  * [After](after.md)
"""


def summary(source):
    block = f"```yaml\n{msgspec.yaml.encode(source).decode()}```"
    return SUMMARY.format(computed=block.replace("\n", "\n    "))


class Book:
    """Space with one computed page, below an ordinary one and among others."""

    def __init__(self, world, folder, source, **options):
        folder.mkdir()
        (folder / "SUMMARY.md").write_text(summary(source))
        for name in ("README", "reference", "before", "after"):
            (folder / f"{name}.md").write_text(f"# {name.title()}\n\nText.\n")
        self.world = world
        self.brought = import_space(
            world.context,
            str(folder),
            organization_id=world.home["organizationId"],
            title="Book",
            author=world.users["admin"],
            **options,
        )
        self.space = self.brought.outcome.space
        self.content = f"/spaces/{self.space}/content"
        computers.calls.clear()

    def get(self, path, /, who="reader", **query):
        return self.world.get(who, path, params=query)

    def below_reference(self, path=None, who="reader", **query):
        pages = self.get(path or f"{self.content}/pages", who, **query)["pages"]
        return next(page for page in pages if page["title"] == "Reference")["pages"]


@pytest.fixture
def book(world, tmp_path):
    return Book(world, tmp_path / "book", computers.source(world.home["spaceId"]))


def visit(book):
    """Return the URL of a published book and a function that returns what visitors get below it."""
    base = re.sub(r"^https?://[^/]+", "", book.brought.site_url)
    client = LightClient(reader_edge(book.world.context), "http://sites.test")
    return base, lambda path: client.ask("GET", base + path)


def edit_home(world):
    change = {"operation": "insert_page", "document": {"markdown": "# More\n"}}
    world.post("admin", world.home.path("/spaces/{spaceId}/content"), {"changes": [change]})


def test_computed_pages_are_at_the_position_of_their_source(world, book):
    found = book.below_reference()
    assert [(page["type"], page["slug"]) for page in found] == [
        ("document", "before"),
        # Ordinary pages take precedence for slugs.
        ("group", "after-1"),
        ("document", "after"),
    ]
    seen = found[1]["pages"][0]
    assert seen["path"] == "reference/after-1/seen" and seen["computed"]["type"] == computers.TYPE
    assert seen["computedSeed"] == seen["id"] and "documentId" not in seen
    source = book.below_reference(computed="false")
    assert [page["type"] for page in source] == ["document", "computed", "document"]
    assert source[1]["computed"]["type"] == computers.TYPE
    # The page above shows the same.
    path = f"{book.content}/path/reference"
    assert book.get(path)["pages"] == found and book.get(path, computed="false")["pages"] == source
    by_id = f"{book.content}/page/{book.get(path)['id']}"
    for _ in range(2):
        assert book.get(by_id)["pages"] == found and book.get(by_id, computed="false")["pages"] == source


@pytest.mark.sqlite_first
def test_levels_of_a_tree_contain_computed_pages(world, book):
    whole = check_parts(lambda part, /, **query: book.get(f"{book.content}/{part}", **query))
    assert [page["title"] for page in whole] == ["Home", "Reference"]
    source = book.below_reference(computed="false")[1]
    reference = book.get(f"{book.content}/path/reference")["id"]
    plain = book.get(f"{book.content}/children", parent=reference, computed="false")["items"]
    assert [page["id"] for page in plain][1] == source["id"]


def test_a_computed_page_is_read_like_any_other(world, book):
    seen = book.below_reference()[1]["pages"][0]
    by_id = book.get(f"{book.content}/page/{seen['id']}", format="document")
    by_path = book.get(f"{book.content}/path/{seen['path']}", format="document")
    assert by_id == by_path and {**by_id, "document": None} == {**seen, "document": None}
    assert by_id["document"]["nodes"][0]["nodes"][0]["leaves"][0]["text"] == "Seen."
    markdown = book.get(f"{book.content}/page/{seen['id']}", format="markdown")["markdown"]
    assert markdown.startswith("---\ndescription: Of ") and "\n# Seen\n\nSeen.\n" in markdown
    group = book.get(f"{book.content}/path/reference/after-1")
    assert group["pages"] == [seen]
    for path in (f"page/{seen['id']}", f"path/{seen['path'].replace('/', '%2F')}"):
        answer = world.call("reader", "GET", f"{book.content}/{path}?computed=false")
        assert answer.status_code == 404
    assert world.call("reader", "GET", f"{book.content}/path/reference/after-1/nothing").status_code == 404


def test_every_branch_shows_computed_pages(world, book):
    whole = book.get(book.content)
    found, file = book.below_reference(), next(f for f in whole["files"] if f["name"] == "seen.txt")
    seen = found[1]["pages"][0]
    change = world.post("admin", f"/spaces/{book.space}/change-requests", {"subject": "More"})["id"]
    text = {"operation": "insert_page", "document": {"markdown": "# New\n"}}
    below = f"/spaces/{book.space}/change-requests/{change}/content"
    world.post("admin", below, {"changes": [text]})
    for base in (f"/spaces/{book.space}/revisions/{whole['id']}", below):
        shown = book.below_reference(f"{base}/pages")
        assert [page["id"] for page in shown] == [page["id"] for page in found]
        assert book.get(f"{base}/page/{seen['id']}", format="markdown")["markdown"]
        assert book.get(f"{base}/path/{seen['path']}")["id"] == seen["id"]
        assert book.get(f"{base}/files/{file['id']}")["name"] == "seen.txt"
        assert file["id"] in [item["id"] for item in book.get(f"{base}/files")["items"]]
        missing = world.call("reader", "GET", f"{base}/files/{file['id']}?computed=false")
        assert missing.status_code == 404
    document = f"/spaces/{book.space}/revisions/{whole['id']}/page/{seen['id']}/document"
    assert book.get(document)["nodes"][0]["nodes"][0]["leaves"][0]["text"] == "Seen."
    assert book.get(f"{book.content}/files", computed="false")["count"] == 0


def test_pages_are_computed_once_and_never_stale(world, book):
    first = book.below_reference()
    assert book.below_reference() == first and computers.calls == ["revision"]
    seen = f"{book.content}/page/{first[1]['pages'][0]['id']}"
    text = book.get(seen, format="markdown")
    assert book.get(seen, format="markdown") == text and computers.calls == ["revision", "document"]
    edit_home(world)
    again = book.below_reference()
    assert again[1]["pages"][0]["id"] == first[1]["pages"][0]["id"]
    assert again[1]["pages"][0]["description"] != first[1]["pages"][0]["description"]
    now = book.get(seen, format="markdown")
    assert now["markdown"] != text["markdown"] and now["description"] != text["description"]
    assert computers.calls == ["revision", "document"] * 2


def test_expanded_pages_are_not_shared_between_visitors(world, book):
    shown = book.below_reference(who="admin")[1]["pages"][0]
    text = book.get(f"{book.content}/page/{shown['id']}", "admin", format="markdown")["markdown"]
    world.call("admin", "PATCH", world.home.path("/spaces/{spaceId}"), json={"defaultLevel": None})
    for _ in range(2):
        hidden = book.below_reference()[1]["pages"][0]
        assert shown["description"].startswith("Of ") and "description" not in hidden
        there = book.get(f"{book.content}/page/{shown['id']}", format="markdown")["markdown"]
        assert "unknown" in there and "unknown" not in text
        assert book.below_reference(who="admin")[1]["pages"][0] == shown


def test_a_foreign_space_is_not_found(world, tmp_path):
    book = Book(world, tmp_path / "book", computers.source(world.away["spaceId"]))
    assert "description" not in book.below_reference(who="admin")[1]["pages"][0]


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "source",
    [
        {"type": "builtin:nothing"},
        {"type": computers.TYPE, "dependencies": {"x": {"ref": {"kind": "weather"}}}},
        {"type": computers.TYPE, "dependencies": "none"},
        {"type": computers.TYPE, "props": {"fails": True}},
        {"type": computers.TYPE, "props": {"pages": 6000}},
    ],
)
def test_pages_that_cannot_be_computed_are_shown_unchanged(world, tmp_path, source):
    book = Book(world, tmp_path / "book", source)
    found = book.below_reference()
    assert found == book.below_reference(computed="false")
    assert found[1]["type"] == "computed" and found[1]["computed"] == source
    assert book.get(f"{book.content}/page/{found[1]['id']}")["type"] == "computed"


def test_a_page_whose_text_cannot_be_computed_has_none(world, tmp_path):
    source = computers.source(page={})
    book = Book(world, tmp_path / "book", source)
    seen = book.below_reference()[1]["pages"][0]
    page = book.get(f"{book.content}/page/{seen['id']}", format="document")
    assert page["title"] == "Seen" and "document" not in page
    revision = book.get(book.content)["id"]
    answer = world.call(
        "reader", "GET", f"/spaces/{book.space}/revisions/{revision}/page/{seen['id']}/document"
    )
    assert answer.status_code == 404 and "source.props.text" in answer.json()["error"]["message"]


def test_only_source_files_are_written(world, book, tmp_path):
    export_space(world.context, book.space, tmp_path / "out")
    assert (tmp_path / "out" / "SUMMARY.md").read_text() == (tmp_path / "book" / "SUMMARY.md").read_text()
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        p.name for p in (tmp_path / "book").iterdir()
    )


@pytest.mark.sqlite_first
def test_visitors_read_computed_pages(world, tmp_path):
    book = Book(world, tmp_path / "book", computers.source(world.home["spaceId"]), publish=True)
    base, get = visit(book)
    for _ in range(2):
        page = get("reference/after-1/seen")
        # A reference to another space doesn't publish that space.
        assert page.status_code == 200 and "Seen." in page.text and "Revision unknown" in page.text
        assert f'href="{base}reference/after-1/seen"' in get("reference").text
    seen = get("reference/after-1/seen.md").text
    assert seen.startswith("# Seen\n") and "\nSeen.\n" in f"{seen}\n"
    assert get("reference/after-1").status_code == 307
    assert "reference/after-1/seen" in get("llms.txt").text


@pytest.mark.sqlite_first
def test_visitors_see_the_current_page_of_the_space_itself(world, tmp_path):
    book = Book(world, tmp_path / "book", computers.source(), publish=True)
    own = computers.source(book.space)
    (tmp_path / "book" / "SUMMARY.md").write_text(summary(own))
    again = import_space(
        world.context,
        str(tmp_path / "book"),
        organization_id=world.home["organizationId"],
        space_id=book.space,
        author=world.users["admin"],
    )
    assert again.outcome.space == book.space
    _, get = visit(book)
    first = get("reference/after-1/seen").text
    assert again.outcome.revision in first
    change = {"operation": "insert_page", "document": {"markdown": "# More\n"}}
    world.post("admin", book.content, {"changes": [change]})
    revision = world.get("admin", book.content)["id"]
    assert revision in get("reference/after-1/seen").text
