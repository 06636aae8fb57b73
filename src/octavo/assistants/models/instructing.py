"""An organization's instructions for every model that works for it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.text import to_text
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.orgs.store import get_organization

from . import store
from .store import InstructionsRow

MAX_INSTRUCTIONS = 10_000
"""Maximum number of characters in the instructions, which are part of every call."""
_NONE = msgspec.json.encode(to_json(from_json({"nodes": []}))).decode()


def get_instructions(tx: Transaction, organization_id: str) -> InstructionsRow:
    """Return the instructions; empty if they were never set."""
    found = store.find_instructions(tx, organization_id)
    return found or InstructionsRow(_NONE, get_organization(tx, organization_id).created_at, "")


def read_instructions(given: Mapping[str, object], field: str = "instructions") -> str:
    """Return instructions in their stored format. Raises BadRequest if they are malformed or too long."""
    try:
        document = from_json(given)
    except DocumentError as error:
        raise BadRequest(f"{field}: {error}") from None
    if len(to_text(document)) > MAX_INSTRUCTIONS:
        raise BadRequest(f"{field}: must be at most {MAX_INSTRUCTIONS:,} characters long")
    return msgspec.json.encode(to_json(document)).decode()


def set_instructions(tx: Transaction, org: OrgAccess, given: Mapping[str, object]) -> InstructionsRow:
    """Set the instructions. Raises BadRequest if they are malformed or too long."""
    stored = read_instructions(given)
    before = get_instructions(tx, org.organization_id)
    if stored != before.instructions:
        store.put_instructions(tx, org.organization_id, stored, org.user_id)
        target = ("organization", org.organization_id)
        was, is_now = _read_text(before.instructions), _read_text(stored)
        audit(
            tx,
            org.actor,
            "agent_instructions.updated",
            org.organization_id,
            target,
            before={"instructions": was},
            after={"instructions": is_now},
        )
    return get_instructions(tx, org.organization_id)


def _read_text(stored: str) -> str:
    return to_text(from_json(msgspec.json.decode(stored)))
