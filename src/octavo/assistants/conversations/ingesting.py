"""Ingest conversations: mask personal data, store each conversation once, and queue it for analysis."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from octavo.core.masking import mask, mask_secrets
from octavo.errors import BadRequest
from octavo.extensions.integrations.store import get_integration_by_id
from octavo.kit.clock import DAY, milliseconds, now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Person
from octavo.kit.work.jobs import enqueue
from octavo.settings import Settings

from . import store
from .types import DEFAULT_SOURCE, ConversationInput, Metadata, Part

QUESTIONS = "integration:octavo:ask"
"""Source of unanswered questions."""

JOB = "analyzeConversations"


def source_of(tx: Transaction, actor: Actor, wanted: str | UnsetType) -> str:
    """Return the source of submitted conversations. Raises BadRequest if an integration specifies a source other
    than itself."""
    if isinstance(actor, Person):
        return DEFAULT_SOURCE if wanted is UNSET else wanted
    name = get_integration_by_id(tx, actor.integration_id).name
    own = f"integration:{name}:{actor.installation_id or ''}"
    if wanted not in (UNSET, own):
        raise BadRequest(f"source: must be {own!r} for conversations from this integration")
    return own


def ingest(
    tx: Transaction,
    settings: Settings,
    organization_id: str,
    source: str,
    conversations: Sequence[ConversationInput],
) -> int:
    """Store conversations that are new or changed, identified by ID and source. If the list contains an ID twice,
    the later conversation is used. Returns the number of stored conversations."""
    hide = mask if settings.mask_conversations else _keep_unmasked
    changed = sum(_store(tx, hide, organization_id, source, given) for given in conversations)
    if changed:
        enqueue(
            tx,
            JOB,
            organization=organization_id,
            key=f"{JOB}:{organization_id}",
            organization_id=organization_id,
        )
    return changed


def record_question(
    tx: Transaction, settings: Settings, organization_id: str, user_id: str, question: str
) -> None:
    """Record an unanswered question, at most once a day for each person who asks it."""
    folded = " ".join(question.lower().split())
    key = hashlib.sha256(f"{user_id}\0{folded}\0{now() // DAY}".encode("utf-8", "surrogatepass"))
    given = ConversationInput(key.hexdigest(), [Part("message", "user", question)])
    ingest(tx, settings, organization_id, QUESTIONS, [given])


def _keep_unmasked(text: str) -> str:
    return text


def _store(
    tx: Transaction,
    hide: Callable[[str], str],
    organization_id: str,
    source: str,
    given: ConversationInput,
) -> bool:
    metadata = given.metadata if given.metadata is not UNSET else Metadata()
    attributes = metadata.attributes if metadata.attributes is not UNSET else {}
    parts = [Part(part.type, part.role, hide(part.body)) for part in given.parts]
    return store.put_conversation(
        tx,
        organization_id,
        source,
        given.id,
        subject=hide(given.subject) if given.subject is not UNSET else None,
        url=_masked_url(hide, metadata.url) if metadata.url is not UNSET else None,
        attributes=msgspec.json.encode({name: hide(value) for name, value in attributes.items()}).decode(),
        parts=msgspec.json.encode(parts).decode(),
        fingerprint=hashlib.sha256(msgspec.json.encode(given)).hexdigest(),
        created_at=_moment(metadata.created_at) if metadata.created_at is not UNSET else None,
    )


def _moment(created_at: datetime) -> int:
    try:
        return milliseconds(created_at)
    except ValueError:
        raise BadRequest("metadata.createdAt: must have a year from 1 to 9999") from None


def _masked_url(hide: Callable[[str], str], url: str) -> str:
    """Mask secrets in a URL, including credentials, but keep numbers, so that the URL still leads to the
    conversation."""
    if hide is _keep_unmasked:
        return url
    return mask_secrets(url).replace("[secret]@", "").replace("[secret]", "hidden")
