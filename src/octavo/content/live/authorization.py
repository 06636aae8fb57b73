"""Authorization to follow a page that is edited live."""

from __future__ import annotations

from octavo.content.changes.store import get_change
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can

from .store import PageKey


def followed_page(tx: Transaction, actor: Actor, name: str) -> PageKey:
    """Return the page ``{changeRequestId}/{pageId}`` if the actor can edit it. Raises NotFound or Forbidden."""
    change_id, _, page_id = name.partition("/")
    change = get_change(tx, change_id)
    space_access(tx, actor, Can.EDIT, change.space_id)
    return PageKey(change.branch_id, page_id)
