"""Files of pages that were uploaded before: by whom, of which kind, and how long their bytes stay."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from octavo.spaces import unused
from octavo.uploads import receiving
from world import World


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def ask(world: World, size: int, kind: str = "page_file", who: str = "editor") -> Any:
    body = {"file": {"name": "plan.png", "type": "image/png", "size": size}, "kind": kind}
    return world.call(who, "POST", world.home.path("/orgs/{organizationId}/storage/upload"), json=body)


def upload(world: World, data: bytes, **more: Any) -> str:
    given = ask(world, len(data), **more).json()
    assert world.call("nobody", "PUT", given["url"], content=data).status_code == 200
    return str(given["key"])


def insert(world: World, who: str = "editor", **file: Any) -> Any:
    change = {"operation": "insert_files", "files": [{"name": "plan.png", **file}]}
    made = world.post("editor", world.home.path("/spaces/{spaceId}/change-requests"), {"subject": "Files"})
    path = world.home.path(f"/spaces/{{spaceId}}/change-requests/{made['id']}")
    answer = world.call(who, "POST", f"{path}/content", json={"changes": [change]})
    return answer, path


def test_an_uploaded_file_becomes_a_file_of_the_space(world: World) -> None:
    data = png(30, 20)
    answer, path = insert(world, upload=upload(world, data))
    assert answer.status_code == 200, answer.text
    files = world.get("editor", f"{path}/content/files")["items"]
    made = next(file for file in files if file["name"] == "plan.png" and file["size"] == len(data))
    assert made["contentType"] == "image/png"
    assert made["dimensions"] == {"width": 30, "height": 20}
    # The time of the upload is over: what the space names stays.
    with world.context.db.write() as tx:
        digest = tx.value("SELECT hash FROM uploads WHERE hash IS NOT NULL")
        tx.run("UPDATE uploads SET expires_at = 1")
    receiving.forget_uploads(world.context)
    with world.context.db.write() as tx:
        tx.run("UPDATE unused SET released_at = 0")
    unused.remove_unused(world.context)
    assert world.context.files.exists(digest)


def test_only_ones_own_uploads_for_pages_that_have_come_are_taken(world: World) -> None:
    data = png(3, 3)
    waiting = ask(world, 10).json()["key"]
    for file, status, says in (
        ({"upload": upload(world, data, who="creator")}, 404, "changes[0]: plan.png: upload: there is no"),
        ({"upload": upload(world, data, kind="import_file")}, 404, "upload: there is no"),
        ({"upload": "nothing"}, 404, "upload: there is no"),
        ({"upload": waiting}, 400, "upload: nothing was uploaded"),
        ({"upload": waiting, "url": "https://example.com/x.png"}, 400, "expected either"),
        ({}, 400, "expected either"),
    ):
        answer, _ = insert(world, **file)
        assert (answer.status_code, says in answer.text) == (status, True), answer.text
    assert ask(world, 100 * 1024 * 1024).status_code == 201
    assert ask(world, 100 * 1024 * 1024 + 1).status_code == 400
