"""Test of ten thousand messages to twenty webhooks, one of which never responds, with workers that are killed."""

from __future__ import annotations

import pytest

from killed_deliveries import check_deliveries, deliver, emit_revisions, receiving
from octavo.extensions.webhooks import store
from octavo.extensions.webhooks.signing import new_secret
from octavo.operations.admin.first_start import token_for
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_space
from octavo.settings import load

pytestmark = pytest.mark.slow

HOOKS, SPACES, EVENTS = 20, 5, 500
KILLS = 2


def test_nothing_is_lost_or_out_of_order(database_url, tmp_path):
    with receiving() as receiver:
        deliver_all(database_url, tmp_path, receiver)


def deliver_all(database_url, tmp_path, receiver):
    given = {
        "OCTAVO_DATA": str(tmp_path / "data"),
        "OCTAVO_DATABASE_URL": database_url,
        "OCTAVO_ALLOW_PRIVATE_FETCH": receiver.address,
    }
    context = open_context(load(environ=given))
    token_for(context, email="a@example.com")
    with context.db.write() as tx:
        user = find_user_by_email(tx, "a@example.com")
        org = create_organization(tx, user.id, "Acme").id
        spaces = [
            insert_space(tx, organization_id=org, collection_id=None, title=str(n), created_by=None).id
            for n in range(SPACES)
        ]
        for n in range(HOOKS):
            store.insert_webhook(
                tx,
                context.sealer,
                org,
                url=f"http://{receiver.address}/{n}",
                description="",
                events=["space_content_updated"],
                active=True,
                secret=new_secret(),
            )
    emit_revisions(context, org, spaces, EVENTS)
    close_context(context)
    deliver(given, receiver, count=(HOOKS - 1) * EVENTS, kills=KILLS)
    check_deliveries(receiver, spaces, receivers=HOOKS, events=EVENTS, kills=KILLS)
    # A killed worker had at most one message in progress per webhook.
    assert all(len(got) - len(set(got)) <= KILLS for got in receiver.got.values())
