"""The reference of our own API: a page for each area, drawn like every other API's."""

from __future__ import annotations

import re
from html import unescape

import pytest

from octavo.kit.db.cache import MEMORY
from octavo.kit.http.operation import PUBLIC, TABLE
from world import URL, World


def test_every_operation_is_in_the_reference(sqlite_world: World) -> None:
    world = sqlite_world
    first = world.call("nobody", "GET", f"{URL}/docs")
    assert first.status_code == 200 and first.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in first.headers["content-security-policy"]
    areas = re.findall(r'href="(/docs/[^"#]+)"', first.text)
    pages = {area: world.call("nobody", "GET", URL + area).text for area in dict.fromkeys(areas)}
    ours = {"/docs/authentication", "/docs/errors-and-limits", "/docs/schemas"}
    assert set(pages) == {f"/docs/{operation.area}" for operation in TABLE.values()} | ours
    assert "Authorization: Bearer &lt;token&gt;" in pages["/docs/authentication"].replace("<wbr>", "")
    words = unescape(re.sub("<[^>]+>", " ", first.text))
    assert re.search(r"Change requests\s+Edit, compare, review, and merge change requests\.\s+\d+", words)
    assert 'id="token"' in pages["/docs/authentication"]
    for operation in TABLE.values():
        page = pages[f"/docs/{operation.area}"]
        assert f'id="{operation.id.lower()}"' in page, operation.id
        assert f'href="/docs/{operation.area}/{operation.id}"' in page, operation.id
    # Draw one operation of each area; all are drawn alike.
    for operation in {operation.area: operation for operation in TABLE.values()}.values():
        page = world.call("nobody", "GET", f"{URL}/docs/{operation.area}/{operation.id}").text
        assert operation.needs is PUBLIC or 'href="/docs/authentication#token"' in page, operation.id
        words = " ".join(unescape(re.sub("<[^>]+>", "", page)).split())
        assert f"{operation.method} {URL}/v1{operation.path}" in words, operation.id
        assert 'aria-current="page"' in page, operation.id
    space = world.call("nobody", "GET", f"{URL}/docs/spaces/getSpaceById").text
    assert "Authorization: Bearer" in space
    # Browsers request these by themselves.
    assert world.call("nobody", "GET", f"{URL}/favicon.ico").status_code == 200
    script = re.search(r'src="(/~assets/octavo.js[^"]*)"', first.text)
    assert script is not None and world.call("nobody", "GET", URL + script[1]).status_code == 200


def test_cached_pages_stay_within_the_memory_limit(sqlite_world: World) -> None:
    page = sqlite_world.call("nobody", "GET", f"{URL}/docs/spaces").content
    assert MEMORY.use()["API reference pages"].bytes >= len(page)


def test_missing_paths_return_404(sqlite_world: World) -> None:
    world = sqlite_world
    for name in (
        "nothing",
        "spaces/nothing",
        "nothing/getSpaceById",
        "schemas/Nothing",
        "schemas/page-1",
        "comments/getSpaceById",
    ):
        assert world.call("nobody", "GET", f"{URL}/docs/{name}").status_code == 404, name
    assert world.call("nobody", "GET", f"{URL}/~assets/nothing.js").status_code == 404


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create space", "/docs/spaces/createSpace"),
        ("getSpaceById", "/docs/spaces/getSpaceById"),
        ("/spaces/{spaceId}/comments", "/docs/comments/listCommentsInSpace"),
        ("POST /spaces/{spaceId}/comments", "/docs/comments/postCommentInSpace"),
        ("ChangeRequest", "/docs/schemas/ChangeRequest"),
        ("merge", "/docs/changes/mergeChangeRequest"),
    ],
)
def test_operations_and_schemas_are_found(sqlite_world: World, query: str, first: str) -> None:
    world = sqlite_world
    found = world.call("nobody", "GET", f"{URL}/docs/~search.json", params={"q": query}).json()
    assert found["query"] == query and found["hits"][0]["href"] == first
    page = world.call("nobody", "GET", f"{URL}/docs/~search", params={"q": query}).text
    assert f'href="{first}"' in page
    path, _, anchor = first.partition("#")
    there = world.call("nobody", "GET", URL + path)
    assert there.status_code == 200 and (not anchor or f'id="{anchor}"' in there.text)


def test_an_empty_query_finds_nothing(sqlite_world: World) -> None:
    for query in ("", "  ", "zzzzzz", "\x00"):
        answer = sqlite_world.call("nobody", "GET", f"{URL}/docs/~search.json", params={"q": query})
        found = answer.json()
        assert found.pop("query") == query and not any(found.values())
    page = sqlite_world.call("nobody", "GET", f"{URL}/docs/~search?q=zzzzzz").text
    assert re.search('role="status">[^<]+zzzzzz', page)


def test_bodies_link_to_their_schemas(sqlite_world: World) -> None:
    """The content of an object is shown only on the page of its schema."""
    world = sqlite_world
    page = world.call("nobody", "GET", f"{URL}/docs/spaces/createSpace").text
    names = set(re.findall(r'href="/docs/schemas/([^"]+)"', page))
    assert {"Space", "SpaceUrls", "CreateFilledSpace", "Error"} <= names
    schema = world.call("nobody", "GET", f"{URL}/docs/schemas/SpaceUrls").text
    assert 'href="/docs/schemas/Space"' in schema and 'id="spaceurls.app"' in schema
    assert not re.search("Details of urls", page)


def test_schemas_are_listed_by_letter(sqlite_world: World) -> None:
    """Each schema has a row on one of the pages, and its own page."""
    world = sqlite_world
    first = world.call("nobody", "GET", f"{URL}/docs/schemas").text
    further = dict.fromkeys(re.findall(r'href="(/docs/schemas/page-\d+)#', first))
    pages = [first, *(world.call("nobody", "GET", URL + address).text for address in further)]
    rows = [
        name for page in pages for name in re.findall(r'<tr[^>]*><td><a href="/docs/schemas/([^"]+)"', page)
    ]
    listed = world.call("nobody", "GET", f"{URL}/docs/~models.json").json()
    assert sorted(rows) == sorted(row[0] for row in listed) and len({*rows}) == len(rows) > 300
