"""Events for twenty integrations, one of which never responds, with workers that are killed: nothing is lost,
and everything arrives in order."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from killed_deliveries import check_deliveries, deliver, emit_revisions, receiving
from octavo.app import api_app
from octavo.operations.admin.first_start import token_for
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

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


async def set_up(context, token, org, address):
    """Create spaces of an organization, and integrations in all of them; return the ids of the spaces."""
    transport = httpx.ASGITransport(api_app(context).application)
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
                "title": "Tells",
                "description": "Tells",
                "organization": org,
                "runtime": "v2",
                "script": TELLS,
                "scopes": ["space:content:read"],
                "secrets": {"TO": f"http://{address}/{n}"},
            }
            await call("POST", f"/integrations/tells-{n}", manifest)
            await call("POST", f"/integrations/tells-{n}/installations", {"organization": org})
        return [space["id"] for space in made]


def test_nothing_is_lost_or_out_of_order(database_url, tmp_path):
    with receiving() as receiver:
        deliver_all(database_url, tmp_path, receiver)


def deliver_all(database_url, tmp_path, receiver):
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
    emit_revisions(context, org, spaces, EVENTS)
    close_context(context)
    deliver(given, receiver, count=(INTEGRATIONS - 1) * EVENTS, kills=KILLS)
    check_deliveries(receiver, spaces, receivers=INTEGRATIONS, events=EVENTS, kills=KILLS)
