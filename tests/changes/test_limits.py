"""Tests of the limits of a space: each limit can be reached; beyond it, an error names the field and the limit."""

import threading

import pytest
from msgspec.structs import replace

from changes.working import Space
from octavo.content.changes import uploading
from octavo.content.references.inclusions import MAX_INCLUDED, Inclusions
from octavo.content.revisions import limits
from octavo.core.document import markdown as blocks
from octavo.core.document import nodes, reader
from octavo.errors import format_size
from octavo.kit.http import dispatcher as http
from octavo.kit.http import edge
from octavo.operations.admin.import_export import export_space
from settled import PATIENCE
from transfer.bringing_in import website


def page(title="Page", text="Text.\n", **more):
    document = {"markdown": f"# {title}\n\n{text}"}
    return {"operation": "insert_page", "document": document, "title": title, **more}


def file(name, **more):
    return {
        "operation": "insert_files",
        "files": [{"name": name, "base64": "YQ==", "contentType": "a/b", **more}],
    }


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    message = answer.json()["error"]["message"]
    for word in words:
        assert (f"{word:,}" if isinstance(word, int) else word) in message, message


def sized(space, size):
    """Return Markdown with exactly this many bytes."""
    return "# A\n\n" + "é" * ((size - 5) // 2) + "e" * ((size - 5) % 2)


def set_page_size(world, size):
    world.context.settings = replace(world.context.settings, page_size=size)


@pytest.fixture
def small_pages(world):
    """Limit pages to 2,000 bytes."""
    before = world.context.settings
    set_page_size(world, 2000)
    yield
    world.context.settings = before


@pytest.mark.sqlite_first
def test_the_size_of_a_page_is_limited(space, small_pages):
    space.write(None, "A", sized(space, 2000))
    change = {
        "operation": "update_page",
        "page": space.pages["A"],
        "document": {"markdown": sized(space, 2001)},
    }
    refused(space.try_edit(None, page(), change), 413, "changes[1].document.markdown", "2,000 bytes")
    text = [{"object": "text", "leaves": [{"object": "leaf", "text": "a" * 1990, "marks": []}]}]
    nodes = [{"object": "block", "type": "paragraph", "nodes": text}]
    space.edit_main({**change, "document": {"document": nodes}})
    refused(space.try_edit(None, {**change, "document": {"document": nodes * 2}}), 413, "'A'", "2,000 bytes")


def test_the_default_is_a_megabyte(space):
    space.write(None, "A", sized(space, 1_000_000))
    change = {
        "operation": "update_page",
        "page": space.pages["A"],
        "document": {"markdown": sized(space, 1_000_001)},
    }
    refused(space.try_edit(None, change), 413, "1,000,000 bytes")


def test_the_size_of_reusable_content_is_limited(space, small_pages):
    def given(size):
        return {"operation": "insert_reusable_content", "title": "R", "document": {"markdown": "a" * size}}

    refused(space.try_edit(None, given(2001)), 413, "2,000 bytes")
    space.edit_main(given(1900))


@pytest.mark.sqlite_first
def test_a_merge_cannot_exceed_the_maximum_size_of_a_page(space, small_pages):
    start = "# A\n\nFirst.\n\nMiddle.\n\nLast.\n"
    space.write(None, "A", start)
    one, two = space.create(), space.create()
    space.write(one, "A", start.replace("First.", "First " + "a" * 1500))
    space.write(two, "A", start.replace("Last.", "Last " + "b" * 1500))
    space.merge(one)
    refused(space.try_merge(two), 413, "'A'", "2,000 bytes")
    assert "b" not in space.text("A").partition("Last")[2]


@pytest.mark.sqlite_first
def test_the_number_of_pages_of_a_space_is_limited(space, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PAGES", 5)
    space.edit_main(page("D"), page("E"))
    refused(space.try_edit(None, page("F")), 400, "pages", 5)
    change = space.create()
    refused(space.try_edit(change, page("F")), 400, "pages", 5)
    space.edit(change, {"operation": "delete_page", "page": space.pages["A"]}, page("F"))
    refused(space.try_edit(change, page("G")), 400, "pages", 5)
    assert space.merge(change)["result"] == "merge"


@pytest.mark.sqlite_first
def test_the_depth_of_pages_is_limited(space, monkeypatch):
    monkeypatch.setattr(limits, "MAX_DEPTH", 4)
    made = space.edit_main(page("D", into=space.pages["C"]))
    deep = made["changes"][0]["page"]["id"]
    space.edit_main(page("E", into=deep))
    answer = space.edit_main(page("F", into=deep))
    last = answer["changes"][0]["page"]["id"]
    refused(space.try_edit(None, page("G", into=last)), 400, "'G'", "4 levels")
    # Moving a page moves the pages below it.
    move = {"operation": "update_page", "page": space.pages["B"], "into": space.pages["A"]}
    refused(space.try_edit(None, move), 400, "levels")


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("file", lambda n: file(f"{n}.txt")),
        ("variable", lambda n: {"operation": "set_variables", "variables": {f"v{n}": "x"}}),
        (
            "reusable-content",
            lambda n: {
                "operation": "insert_reusable_content",
                "title": f"R{n}",
                "document": {"markdown": "a"},
            },
        ),
    ],
)
def test_the_number_of_items_of_a_space_is_limited(space, monkeypatch, kind, change):
    monkeypatch.setitem(limits.MAX_ITEMS, kind, 3)
    space.edit_main(*map(change, range(3)))
    refused(space.try_edit(None, change(4)), 400, kind.partition("-")[0], 3)
    branch = space.create()
    refused(space.try_edit(branch, change(4)), 400, 3)


@pytest.mark.sqlite_first
def test_equal_names_in_a_batch_cost_little(space):
    """Counting up for each would need a hundred thousand queries."""
    batch = [
        {
            "operation": "insert_files",
            "files": [{"name": "a.txt", "base64": "YQ==", "contentType": "a/b"}] * 20,
        }
    ] * 5
    answer = space.edit_main(*batch, *(page("Same") for _ in range(300)))
    slugs = [change["page"]["slug"] for change in answer["changes"]]
    assert len(set(slugs)) == 300 and slugs[:2] == ["same", "same-1"]


@pytest.mark.sqlite_first
def test_the_number_of_files_of_a_batch_is_limited(space):
    inline = {"name": "a.txt", "base64": "YQ==", "contentType": "a/b"}
    batch = [{"operation": "insert_files", "files": [inline] * 20}] * (uploading.MAX_FILES // 20)
    space.edit_main(*batch)
    refused(space.try_edit(None, *batch, file("b")), 400, "changes", uploading.MAX_FILES)
    urls = {"operation": "insert_files", "files": [{"name": "a", "url": "http://127.0.0.1:1/"}] * 20}
    one = {"operation": "insert_files", "files": [{"name": "a", "url": "http://127.0.0.1:1/"}]}
    refused(space.try_edit(None, urls, one), 400, "changes", "url", uploading.MAX_URLS)


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "name", ["a" * 256, "文" * 250 + ".png", "CON", "nul.txt", "a:b?.txt", "x." + "y" * 250, "..."]
)
def test_every_accepted_name_can_be_exported(space, tmp_path, name):
    space.edit_main(file(name), file(name), page("文" * 100), page("文" * 100))
    names = [item["name"] for item in space.world.get("reader", f"{space.path}/content/files")["items"]]
    assert names == [name, name]
    written = export_space(space.world.context, space.id, tmp_path)
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(found) == written["files"]
    assert not any(path.name.partition(".")[0].lower() in ("con", "nul") for path in found)


@pytest.mark.sqlite_first
def test_deep_pages_with_long_names_can_be_exported(space, tmp_path):
    above = None
    for _ in range(20):
        answer = space.edit_main(page("文" * 100, **({"into": above} if above else {})))
        above = answer["changes"][0]["page"]["id"]
    export_space(space.world.context, space.id, tmp_path)


@pytest.mark.sqlite_first
def test_a_file_and_a_folder_with_the_same_name_are_exported(space, tmp_path):
    """Page ``a.md`` is stored in the file ``a.md.md``, its children in the folder ``a.md``, next to page ``a``."""
    made = space.edit_main(page("One", slug="one.md"), page("Two", slug="one"))
    space.edit_main(page("Child", into=made["changes"][0]["page"]["id"]))
    export_space(space.world.context, space.id, tmp_path)
    assert len([path for path in tmp_path.rglob("*.md") if path.is_file()]) >= 6


def test_pages_moved_in_front_of_each_other_keep_short_ranks(space):
    for _ in range(3):
        space.edit_main(*(page(f"P{n}", at=0) for n in range(200)))
    with space.world.context.db.read() as tx:
        longest = tx.value("SELECT max(length(rank)) FROM page_versions")
    assert longest <= 60
    titles = space.tree()
    assert titles[:2] == ["P199", "P198"]


def test_files_of_a_batch_are_fetched_in_parallel_within_one_deadline(space, monkeypatch):
    gate = threading.Barrier(4, timeout=PATIENCE)

    def waiting():
        gate.wait()
        return "text/plain", b"x"

    with website({f"/{n}": waiting for n in range(4)}) as site, allowed(space.world, site.address):
        urls = [{"name": f"{n}.txt", "url": f"http://{site.address}/{n}"} for n in range(4)]
        # Each waits until all were requested.
        space.edit_main({"operation": "insert_files", "files": urls})

    monkeypatch.setattr(uploading, "FETCH_SECONDS", 0.5)
    over = threading.Event()

    def silent():
        over.wait(PATIENCE)
        return "text/plain", b"x"

    with website({"/a": silent}) as site, allowed(space.world, site.address):
        given = [{"name": "a.txt", "url": f"http://{site.address}/a"}] * 8
        refused(
            space.try_edit(None, {"operation": "insert_files", "files": given}),
            400,
            "changes[0].files[",
            "0.",
        )
        # None of them has responded.
        assert not over.is_set()
        over.set()


def test_files_of_a_batch_share_one_download_limit(space, monkeypatch):
    monkeypatch.setattr(uploading, "FETCH_SIZE", 1000)
    with website({"/a": ("a/b", b"x" * 500)}) as site, allowed(space.world, site.address):
        one = {"name": "a.txt", "url": f"http://{site.address}/a"}
        space.edit_main({"operation": "insert_files", "files": [one] * 2})
        refused(
            space.try_edit(None, {"operation": "insert_files", "files": [one] * 3}),
            400,
            ".url",
            "1,000 bytes",
        )


class allowed:
    """Context manager that lets the server fetch from a private host."""

    def __init__(self, world, host):
        self.world, self.host = world, host

    def __enter__(self):
        self.before = self.world.context.settings
        self.world.context.settings = replace(self.before, allow_private_fetch=self.host)

    def __exit__(self, *_):
        self.world.context.settings = self.before


def test_the_size_of_a_response_is_limited(space, monkeypatch):
    pages = f"{space.path}/content/pages"
    size = len(space.world.call("reader", "GET", pages).content)
    monkeypatch.setattr(http, "MAX_ANSWER", size)
    assert space.world.call("reader", "GET", pages).status_code == 200
    monkeypatch.setattr(http, "MAX_ANSWER", size - 1)
    refused(space.world.call("reader", "GET", pages), 413, format_size(size - 1))


def test_the_parameters_and_bytes_of_a_query_are_limited(space):
    limit = space.world.context.settings.query_limit

    def answer(query):
        return space.world.call("reader", "GET", f"{space.path}/content/files?{query}")

    assert answer("&".join(["limit=1"] * edge.MAX_PARAMETERS)).status_code == 200
    refused(answer("&".join(["limit=1"] * (edge.MAX_PARAMETERS + 1))), 400, "query", edge.MAX_PARAMETERS)
    assert answer("x=" + "a" * (limit - 2)).status_code == 200
    refused(answer("x=" + "a" * (limit - 1)), 414, "query", format_size(limit))


def test_the_number_of_words_of_a_search_is_limited(space):
    def answer(words):
        return space.world.call("reader", "GET", f"{space.path}/search", params={"query": "a " * words})

    assert answer(32).status_code == 200
    refused(answer(33), 400, "query", 32)
    refused(
        space.world.call("reader", "GET", f"{space.path}/search", params={"query": "a" * 513}), 400, "query"
    )


def test_included_content_of_a_page_is_limited():
    including = Inclusions()
    assert all(including.admit(MAX_INCLUDED // 4) for _ in range(4))
    assert not including.admit(1)
    many = Inclusions()
    assert sum(many.admit(1) for _ in range(2000)) == MAX_INCLUDED // 8000


def test_tests_of_limits_reset_the_settings(world):
    """The helpers above reset the settings."""
    assert Space(world).world.context.settings.page_size == 1_000_000


def test_the_number_of_nodes_of_a_page_is_limited(space, monkeypatch):
    for module in (blocks, reader):
        monkeypatch.setattr(module, "MAX_NODES", 300)
    change = space.create()
    space.edit(change, page(text="a\n\n" * 90))
    refused(space.try_edit(change, page(text="a\n\n" * 110)), 413, "changes[0].document", nodes.MAX_NODES)
    many = [
        {
            "object": "block",
            "type": "paragraph",
            "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": "a"}]}],
        }
    ]
    given = {
        "operation": "insert_page",
        "document": {"document": {"object": "document", "nodes": many * 110}},
    }
    refused(space.try_edit(change, given), 413, "changes[0].document", nodes.MAX_NODES)
    assert [each["title"] for each in space.world.get("editor", space.url(change) + "/pages")["pages"]] == [
        "A",
        "B",
        "Page",
    ]
