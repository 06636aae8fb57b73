"""Renderers and content delivery networks are notified of changes."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgspec
import pytest

from octavo.delivery.renderers import notifying
from octavo.errors import Unavailable
from octavo.kit.context import Context
from octavo.kit.work import outbox
from world import World

from ..openapi.specs import SMALL, processed


class Heard(BaseHTTPRequestHandler):
    """Server that records its requests."""

    status = 200
    said: list[tuple[str, dict[str, str], bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.said.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(type(self).status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    Heard.said, Heard.status = [], 200
    with HTTPServer(("127.0.0.1", 0), Heard) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield found
        found.shutdown()


def context_with(world: World, server: HTTPServer) -> Context:
    at = f"127.0.0.1:{server.server_port}"
    settings = msgspec.structs.replace(
        world.context.settings,
        renderers=f"http://{at}/, http://{at}/other",
        renderer_secret="a secret of ours",
        purge_url=f"http://{at}/purge",
        purge_token="token",
        allow_private_fetch=at,
    )
    found = world.context
    return Context(
        settings=settings, db=found.db, files=found.files, signer=found.signer, sealer=found.sealer
    )


def waiting(world: World) -> list[dict[str, str]]:
    """Return the notification jobs, after every event was handed over."""
    while outbox.deliver(world.context.db):
        pass
    with world.context.db.read() as tx:
        rows = tx.all("SELECT payload FROM jobs WHERE kind = 'tellRenderers' ORDER BY id")
    return [json.loads(row[0]) for row in rows]


def test_renderers_are_notified_in_the_transaction_of_a_change(world: World) -> None:
    waiting(world)
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs WHERE kind = 'tellRenderers'")
    org = world.home["organizationId"]
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    assert world.call("admin", "PATCH", path, json={"title": "Another"}).status_code == 200
    assert waiting(world) == [{"organization_id": org, "space_id": ""}]
    body = {"changes": [{"operation": "insert_page", "title": "More", "document": {"markdown": "x"}}]}
    world.post("admin", world.home.path("/spaces/{spaceId}/content"), body)
    assert {"organization_id": org, "space_id": world.home["spaceId"]} in waiting(world)


def test_a_new_version_of_a_specification_notifies_renderers(world: World, server: HTTPServer) -> None:
    """Renderers cache it until they are notified with its name."""
    org = world.home["organizationId"]
    path = world.home.path("/orgs/{organizationId}/openapi/pets")
    processed(world, "pets", {"text": SMALL})
    told = {"organization_id": org, "space_id": "", "spec": "pets"}
    assert waiting(world).count(told) == 1
    assert world.call("admin", "DELETE", path).status_code in (204, 205)
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs WHERE kind = 'tellRenderers'")
    assert told in waiting(world)
    context = context_with(world, server)
    notifying.notify_renderers(context, **told)
    bodies = [json.loads(body) for at, _, body in Heard.said]
    assert bodies == [{"tags": [f"organization:{org}:openapi:pets"]}] * 2


def test_notifications_to_renderers_are_signed(world: World, server: HTTPServer) -> None:
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    published = world.post("admin", f"{path}/publish")["urls"]["published"]
    context, org = context_with(world, server), world.home["organizationId"]
    notifying.notify_renderers(context, org, world.home["spaceId"])
    told = [(at, json.loads(body)) for at, _, body in Heard.said]
    tags = {"tags": [f"space:{world.home['spaceId']}"]}
    address = published.partition("://")[2].rstrip("/")
    assert told == [
        ("/~gitbook/revalidate", tags),
        ("/other/~gitbook/revalidate", tags),
        ("/purge", {"prefixes": [address]}),
    ]
    _, headers, body = Heard.said[0]
    proof = hmac.new(b"a secret of ours", body, hashlib.sha256).hexdigest()
    assert headers["x-gitbook-signature"] == proof
    assert Heard.said[2][1]["authorization"] == "Bearer token"
    Heard.said.clear()
    notifying.notify_renderers(context, org, "")
    assert json.loads(Heard.said[0][2]) == {"tags": [f"site:{world.home['siteId']}"]}


def test_renderers_that_missed_a_message_are_notified_again(world: World, server: HTTPServer) -> None:
    Heard.status = 500
    with pytest.raises(Unavailable, match="responded with status 500"):
        notifying.notify_renderers(
            context_with(world, server), world.home["organizationId"], world.home["spaceId"]
        )


def test_nothing_is_sent_without_a_renderer(world: World, server: HTTPServer) -> None:
    notifying.notify_renderers(world.context, world.home["organizationId"], world.home["spaceId"])
    assert Heard.said == []
