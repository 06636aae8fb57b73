"""Events to twenty integrations, one of which never answers, with workers that are killed on the way: nothing is lost,
and everything comes in order."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest

from octavo.access import find_user_by_email
from octavo.admin.first_start import token_for
from octavo.app import api_app
from octavo.installation import close_context, open_context
from octavo.kit.outbox import emit
from octavo.orgs import create_organization
from octavo.settings import load
from webhooks.test_killed import Receiver, _wait_for

pytestmark = pytest.mark.slow

INTEGRATIONS, SPACES, EVENTS = 20, 3, 30
KILLS = 1
TELLS = """export default { async fetch(request) {
  const form = await request.formData();
  const event = JSON.parse(form.get("event")), { secrets } = JSON.parse(form.get("environment"));
  if (event.type !== "space_content_updated") return new Response("OK");
  if (secrets.TO.endsWith("/0")) await new Promise((done) => setTimeout(done, 1e6));
  await fetch(secrets.TO, { method: "POST", body: JSON.stringify({ data: event }) });
  return new Response("OK");
} };"""


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


async def set_up(context, token, org, address):
    """Spaces of an organization, and integrations on all of them; gives the ids of the spaces."""
    transport = httpx.ASGITransport(app=api_app(context))
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://octavo.test/v1", headers=headers, timeout=60
    ) as client:

        async def call(method, path, body=None):
            answer = await client.request(method, path, json=body)
            assert answer.is_success, answer.text
            return answer.json()

        made = [await call("POST", f"/orgs/{org}/spaces", {"title": f"Space {n}"}) for n in range(SPACES)]
        for n in range(INTEGRATIONS):
            manifest = {
                "title": "Tells", "description": "Tells", "organization": org, "runtime": "v2", "script": TELLS,
                "scopes": ["space:content:read"], "secrets": {"TO": f"http://{address}/{n}"},
            }  # fmt: skip
            await call("POST", f"/integrations/tells-{n}", manifest)
            await call("POST", f"/integrations/tells-{n}/installations", {"organization": org})
        return [space["id"] for space in made]


def test_nothing_is_lost_or_out_of_order(database_url, tmp_path, receiver):
    given = {
        "OCTAVO_DATA": str(tmp_path / "data"),
        "OCTAVO_DATABASE_URL": database_url,
        "OCTAVO_URL": "http://octavo.test",
        "OCTAVO_ALLOW_PRIVATE_FETCH": receiver.address,
        "OCTAVO_INTEGRATION_PROCESSES": str(INTEGRATIONS + 2),
    }
    context = open_context(load(environ=given))
    token = token_for(context, email="a@example.com")
    with context.db.write() as tx:
        org = create_organization(tx, find_user_by_email(tx, "a@example.com").id, "Acme").id
    spaces = asyncio.run(set_up(context, token, org, receiver.address))
    for n in range(EVENTS):
        with context.db.write() as tx:
            emit(tx, "space_content_updated", organization_id=org, space_id=spaces[n % SPACES], revision=n)
    close_context(context)

    command = [str(Path(sys.executable).with_name("octavo")), "worker"]
    wanted = (INTEGRATIONS - 1) * EVENTS
    for kill in range(KILLS + 1):
        worker = subprocess.Popen(command, env={**os.environ, **given}, stderr=subprocess.DEVNULL)
        try:
            _wait_for(receiver, wanted * (kill + 1) // (KILLS + 1), worker)
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()

    assert len(receiver.told) == INTEGRATIONS - 1
    for told in receiver.told.values():
        once = list(dict.fromkeys(told))
        for number, space in enumerate(spaces):
            revisions = [revision for place, revision in once if place == space]
            assert revisions == list(range(number, EVENTS, SPACES))
        # At least once: what was on its way when a worker was killed comes a second time.
        assert max(Counter(told).values()) <= KILLS + 1
