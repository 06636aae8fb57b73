"""A source that tests can change, and helpers for specifications."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from local_server import local_server
from octavo.sites.openapi import store
from octavo.sites.openapi.processing import process_spec
from world import World

SPEC = "/orgs/{organizationId}/openapi/{specSlug}"
SMALL = "openapi: 3.1.0\ninfo: {title: Small, version: '1'}\npaths: {}\n"


class Source(BaseHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        server: Any = self.server
        server.asked.append({name.lower(): value for name, value in self.headers.items()})
        etag = f'"{hash(server.body)}"'
        if self.headers.get("If-None-Match") == etag and server.status == 200:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(server.status, None)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(server.body)))
        self.end_headers()
        self.wfile.write(server.body)


@contextmanager
def serving(body: str | bytes = SMALL) -> Iterator[Any]:
    """Source at ``url`` with a ``body``, a ``status``, and ``headers``; ``asked`` are the headers of its requests."""
    with local_server(Source) as server:
        server.body = body.encode() if isinstance(body, str) else body
        server.status, server.headers, server.asked = 200, {}, []
        server.url += "/openapi.yaml"
        yield server


def put(world: World, slug: str, source: dict[str, str], who: str = "creator") -> Any:
    path = world.home.path(SPEC, specSlug=slug)
    return world.call(who, "PUT", path, json={"source": source})


def processed(world: World, slug: str, source: dict[str, str] | None = None) -> Any:
    """Return the specification after setting its source (if given) and running its job."""
    path = world.home.path(SPEC, specSlug=slug)
    if source is not None:
        answer = put(world, slug, source)
        assert answer.is_success, answer.text
    with world.context.db.read() as tx:
        spec = store.find_spec(tx, world.home["organizationId"], slug)
        assert spec is not None
    process_spec(world.context, spec.id, spec.generation)
    return world.get("reader", path)


def content(world: World, slug: str) -> Any:
    return world.get("reader", world.home.path(SPEC, specSlug=slug) + "/versions/latest/content")
