"""Count the comments that a person can't see."""

from __future__ import annotations

from octavo.content.revisions.page_versions import filter_restricted_spaces
from octavo.content.revisions.restrictions import seen_by_recipient
from octavo.content.revisions.states import main_state
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient

from .store import count_open


def count_hidden(tx: Transaction, to: Recipient, space_ids: list[str]) -> dict[str, int]:
    """Return the number of open comments on pages that the recipient can't see, by space."""
    restricted = filter_restricted_spaces(tx, space_ids)
    return {id: count_open(tx, id, seen_by_recipient(tx, to, main_state(tx, id)).hidden) for id in restricted}
