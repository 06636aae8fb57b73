"""Files of pages that were uploaded beforehand: by whom, of which kind, and how long they are kept."""

from __future__ import annotations

import asyncio
import hashlib
import struct
import zlib
from typing import Any

import pytest

from octavo.content.uploads import receiving
from octavo.errors import BadRequest
from octavo.kit.http.asgi import Disconnected
from octavo.kit.http.edge import Request
from octavo.kit.scheduling.shares import request_threads
from octavo.organization.spaces import garbage
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
    # After the upload expires, files referenced by the space are kept.
    with world.context.db.write() as tx:
        digest = tx.value("SELECT hash FROM uploads WHERE hash IS NOT NULL")
        tx.run("UPDATE uploads SET expires_at = 1")
    receiving.forget_uploads(world.context)
    with world.context.db.write() as tx:
        tx.run("UPDATE unused SET released_at = 0")
    garbage.remove_unused(world.context)
    assert world.context.files.exists(digest)


def test_only_own_complete_uploads_for_pages_are_accepted(world: World) -> None:
    data = png(3, 3)
    waiting = ask(world, 10).json()["key"]
    for file, status, says in (
        (
            {"upload": upload(world, data, who="creator")},
            404,
            "changes[0].files[0].upload: the uploaded file",
        ),
        ({"upload": upload(world, data, kind="import_file")}, 404, "upload: the uploaded file"),
        ({"upload": "nothing"}, 404, "upload: the uploaded file"),
        ({"upload": waiting}, 400, "been uploaded yet"),
        ({"upload": waiting, "url": "https://example.com/x.png"}, 400, "provide exactly one of"),
        ({}, 400, "provide exactly one of"),
    ):
        answer, _ = insert(world, **file)
        assert (answer.status_code, says in answer.text) == (status, True), answer.text
    assert ask(world, 100 * 1024 * 1024).status_code == 201
    assert ask(world, 100 * 1024 * 1024 + 1).status_code == 400


def patch(world: World, url: str, start: int | str, data: bytes) -> Any:
    return world.call("nobody", "PATCH", url, content=data, headers={"Upload-Offset": str(start)})


def told(world: World, url: str) -> tuple[int, str]:
    headers = world.call("nobody", "HEAD", url).headers
    return int(headers["upload-offset"]), headers["upload-complete"]


def test_a_file_is_uploaded_in_parts(world: World) -> None:
    data = png(30, 20)
    given = ask(world, len(data)).json()
    url, key = given["url"], given["key"]
    assert told(world, url) == (0, "?0")
    assert patch(world, url, 0, data[:40]).status_code == 204
    assert told(world, url) == (40, "?0")
    for start in (0, 39, 41):
        refused = patch(world, url, start, data[start:])
        assert (refused.status_code, refused.headers["upload-offset"]) == (409, "40")
    for start, status in (("", 400), ("-1", 400), ("x", 400), ("9" * 30, 400), ("٤", 400)):
        headers = {"Upload-Offset": start.encode()}
        assert world.call("nobody", "PATCH", url, content=b"x", headers=headers).status_code == status
    assert patch(world, url, 40, data[40:] + b"more").status_code == 413
    assert told(world, url) == (40, "?0")
    answer, _ = insert(world, upload=key)
    assert answer.status_code == 400
    assert patch(world, url, 40, data[40:60]).status_code == 204
    done = patch(world, url, 60, data[60:])
    assert (done.status_code, done.json()) == (200, {"key": key})
    assert told(world, url) == (len(data), "?1")
    answer, path = insert(world, upload=key)
    assert answer.status_code == 200, answer.text
    files = world.get("editor", f"{path}/content/files")["items"]
    assert next(f for f in files if f["size"] == len(data))["dimensions"] == {"width": 30, "height": 20}
    with world.context.db.read() as tx:
        assert tx.all("SELECT 1 FROM upload_parts") == []
        assert tx.value("SELECT count(*) FROM unused WHERE kind = 'file'") == 3


class CutOff:
    """Exchange whose connection ends within the body."""

    def __init__(self, method: str, part: bytes) -> None:
        self.method = method
        self._parts = [part]

    async def read(self) -> tuple[bytes, bool]:
        if not self._parts:
            raise Disconnected
        return self._parts.pop(), True


def test_bytes_received_before_a_disconnect_are_kept(world: World) -> None:
    data = png(40, 40)
    given = ask(world, len(data)).json()
    token = given["url"].rpartition("/")[2]
    action = receiving.upload_route(world.context, request_threads("x", 2, "octavo-test", 100)).actions

    def send(method: str, part: bytes, **headers: str) -> None:
        """Send a request whose connection ends after these bytes."""
        given = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
        request = Request(
            CutOff(method, part),  # type: ignore[arg-type]
            {b"content-length": b"%d" % len(data), **given},
            "",
        )
        request.parameters = {"token": token}
        with pytest.raises(BadRequest, match="the connection was closed"):
            asyncio.run(action[method].answer(request))  # type: ignore[arg-type]

    send("PUT", data[:50])
    assert told(world, given["url"]) == (50, "?0")
    send("PATCH", data[50:70], upload_offset="50", content_length=str(len(data) - 50))
    assert told(world, given["url"]) == (70, "?0")
    assert patch(world, given["url"], 70, data[70:]).status_code == 200
    # Parts of an unfinished upload are deleted with its row.
    other = ask(world, 100).json()
    assert patch(world, other["url"], 0, b"begun").status_code == 204
    with world.context.db.write() as tx:
        tx.run("UPDATE uploads SET expires_at = 1")
    receiving.forget_uploads(world.context)
    digest = hashlib.sha256(b"begun").hexdigest()
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM unused WHERE hash = :hash", hash=digest) == 1
