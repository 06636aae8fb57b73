"""The reference of our own API: a page for each area, drawn like every other API's."""

from __future__ import annotations

import re

from octavo.kit.operation import TABLE
from world import URL, World


def test_every_operation_is_in_the_reference(sqlite_world: World) -> None:
    world = sqlite_world
    first = world.call("nobody", "GET", f"{URL}/docs")
    assert first.status_code == 200 and first.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in first.headers["content-security-policy"]
    areas = re.findall(r'href="(/docs/[^"#]+)"', first.text)
    pages = {area: world.call("nobody", "GET", URL + area).text for area in dict.fromkeys(areas)}
    assert set(pages) == {f"/docs/{operation.area}" for operation in TABLE.values()} | {"/docs/schemas"}
    for operation in TABLE.values():
        page = pages[f"/docs/{operation.area}"]
        assert f'id="{operation.id.lower()}"' in page, operation.id
        assert f"{URL}/v1{operation.path}" in page, operation.id
    assert "Bearer" in pages["/docs/openapi"]
    # What browsers ask for by themselves is there.
    assert world.call("nobody", "GET", f"{URL}/favicon.ico").status_code == 200
    script = re.search(r'src="(/~assets/octavo.js[^"]*)"', first.text)
    assert script is not None and world.call("nobody", "GET", URL + script[1]).status_code == 200


def test_what_is_not_there_is_not_found(sqlite_world: World) -> None:
    world = sqlite_world
    assert world.call("nobody", "GET", f"{URL}/docs/nothing").status_code == 404
    assert world.call("nobody", "GET", f"{URL}/~assets/nothing.js").status_code == 404
