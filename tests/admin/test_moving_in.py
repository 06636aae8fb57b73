"""Moving in from another Octavo over its API, page by page what was there; limits, tokens that end, going on."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from msgspec.structs import replace

from octavo.admin.moving_in import move_in


class Elsewhere:
    """The API of home over a socket. ``answers``: what a path, without ``/v1``, is answered instead: (status, headers),
    each once."""

    def __init__(self, world, address):
        self.world, self.address = world, address
        self.answers = {}
        self.asked = []
        self.without = ()

    def answer(self, path, headers):
        place = path.removeprefix("/v1").partition("?")[0]
        self.asked.append(place)
        if place.endswith(self.without):
            return 404, {}, b"{}"
        if waiting := self.answers.get(place):
            status, said = waiting.pop(0)
            return status, said, b"{}"
        found = self.world.call(
            "nobody",
            "GET",
            path.removeprefix("/v1"),
            headers={"authorization": headers.get("authorization", "")},
        )
        return found.status_code, dict(found.headers), found.content


@pytest.fixture
def elsewhere(world):
    with serve(world) as found:
        yield found


@contextmanager
def serve(world):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = found.answer(self.path, self.headers)
            self.send_response(status)
            for name in ("content-type", "retry-after"):
                if name in headers:
                    self.send_header(name, headers[name])
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Elsewhere(world, f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    allowed = replace(world.context.settings, allow_private_fetch=f"127.0.0.1:{server.server_port}")
    before, world.context.settings = world.context.settings, allowed
    try:
        yield found
    finally:
        world.context.settings = before
        server.shutdown()
        server.server_close()
        thread.join()


def move(elsewhere, **options):
    world = elsewhere.world
    options.setdefault("source", world.home["organizationId"])
    return move_in(
        world.context,
        elsewhere.address,
        world.token("admin"),
        organization_id=world.away["organizationId"],
        wait=lambda seconds: elsewhere.asked.append(seconds),
        **options,
    )


def texts(world, who, at):
    """Every page with its Markdown, by its path."""
    found = {}
    waiting = world.get(who, f"{at}/content/pages")["pages"]
    while waiting:
        page = waiting.pop()
        waiting += page.get("pages", [])
        if page["type"] == "document":
            said = world.get(who, f"{at}/content/page/{page['id']}", params={"format": "markdown"})
            found[page["path"]] = said["markdown"]
    return found


def of_home(world, moved):
    return next(one for one in moved.spaces if one.source == world.home["spaceId"])


def test_what_comes_is_what_was_there(elsewhere):
    world = elsewhere.world
    moved = move(elsewhere)
    assert moved.stopped == ""
    space = of_home(world, moved)
    assert not [one for one in space.problems if one.code == "missing_page"]
    there, here = f"/spaces/{world.home['spaceId']}", f"/spaces/{space.id}"
    assert texts(world, "admin", there) == texts(world, "stranger", here)
    names = [
        sorted((one["name"], one["size"]) for one in world.get(who, f"{at}/content/files")["items"])
        for who, at in (("admin", there), ("stranger", here))
    ]
    assert names[0] == names[1]
    # Again, nothing is fetched that did not change, and nothing is there twice.
    elsewhere.asked.clear()
    again = move(elsewhere)
    assert [one.id for one in again.spaces] == [one.id for one in moved.spaces]
    assert [one.id for one in again.sites] == [one.id for one in moved.sites]
    assert (
        not any(one.outcome for one in again.spaces) and sum(one.change_requests for one in again.spaces) == 0
    )
    assert not any(str(path).endswith("/archive") for path in elsewhere.asked)
