"""Conversations between people and their organization's assistant.

A conversation contains the questions that a person asked, so that later questions can refer to earlier questions.
Only that person can see the questions. A conversation about a change request is also listed, without its questions,
for everyone who can see the change request. They see its title only if the person wrote it: until then, the title is
the first question, which can name pages that they can't see, because Octavo suggests questions about pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct, structs

from octavo.content.changes.authorization import ChangeAccess
from octavo.core.sentences import shorten
from octavo.errors import BadRequest, Conflict, Forbidden, NotFound, require_found
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.authorization import OrgAccess

MAX_KEPT = 200
"""Maximum number of conversations per person in an organization. Older conversations are deleted."""
_MAX_QUESTIONS = 50
_MAX_TITLE = 100
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class AgentConversationRow(Struct, frozen=True):
    """A person's conversation with the assistant. ``questions``: the person's questions, oldest first."""

    organization_id: str
    user_id: str
    id: str
    title: str | None
    change_id: str | None
    questions: list[str]
    created_at: int
    updated_at: int

    def has_written_title(self) -> bool:
        """Return whether the title isn't one of the questions."""
        return self.title is not None and self.title not in map(_title_of, self.questions)


def _title_of(question: str) -> str:
    return shorten(question, _MAX_TITLE)


_COLUMNS = AgentConversationRow.__struct_fields__
_ROW = ", ".join(_COLUMNS)
_QUESTIONS = _COLUMNS.index("questions")


def _conversation(row: Sequence[object]) -> AgentConversationRow:
    values = list(row)
    values[_QUESTIONS] = msgspec.json.decode(str(row[_QUESTIONS]), type=list[str])
    return AgentConversationRow(*values)  # type: ignore[arg-type]


def find_conversation(tx: Transaction, org: OrgAccess, id: str) -> AgentConversationRow | None:
    """Return one of the caller's own conversations."""
    row = tx.one(
        f"SELECT {_ROW} FROM agent_conversations WHERE organization_id = :org AND user_id = :user AND id = :id",
        org=org.organization_id,
        user=org.user_id,
        id=id,
    )
    return _conversation(row) if row else None


def get_conversation(tx: Transaction, org: OrgAccess, id: str) -> AgentConversationRow:
    return require_found(find_conversation(tx, org, id), f"You have no conversation with the ID {id!r}.")


def list_conversations(
    tx: Transaction, org: OrgAccess, limit: int, page: str | None
) -> Slice[AgentConversationRow]:
    """Return the caller's own conversations, most recently used first."""
    return list_page(
        tx,
        limit,
        page,
        _ROW,
        "FROM agent_conversations WHERE organization_id = :org AND user_id = :user",
        _conversation,
        by="updated_at, id",
        key_types=(int, str),
        descending=True,
        org=org.organization_id,
        user=org.user_id,
    )


def list_conversations_of_change(
    tx: Transaction, change: ChangeAccess, limit: int, page: str | None
) -> Slice[AgentConversationRow]:
    """Return everyone's conversations about a change request, most recently used first."""
    return list_page(
        tx,
        limit,
        page,
        _ROW,
        "FROM agent_conversations WHERE change_id = :change",
        _conversation,
        by="updated_at, user_id, id",
        key_types=(int, str, str),
        descending=True,
        change=change.change_id,
    )


def get_conversation_of_change(tx: Transaction, change: ChangeAccess, id: str) -> AgentConversationRow:
    """Return the caller's own conversation about a change request. Raises NotFound if it doesn't exist, and
    Forbidden if it belongs to another person."""
    rows = tx.all(
        f"SELECT {_ROW} FROM agent_conversations WHERE change_id = :change AND id = :id",
        change=change.change_id,
        id=id,
    )
    found = [_conversation(row) for row in rows]
    own = next((one for one in found if one.user_id == change.user_id), None)
    if own is not None:
        return own
    if found:
        raise Forbidden("Only the person who started a conversation can change or delete it.")
    raise NotFound(f"There is no conversation with the ID {id!r} in this change request.")


def provision(tx: Transaction, org: OrgAccess, id: str, change_id: str | None) -> None:
    """Create a conversation if it doesn't exist. Raises BadRequest if the ID is invalid, and Conflict if
    the conversation exists but is about another change request."""
    if not _ID.fullmatch(id):
        raise BadRequest("conversationId: must be 1 to 100 letters, digits, hyphens, and underscores")
    found = find_conversation(tx, org, id)
    if found is not None:
        if change_id not in (None, found.change_id):
            raise Conflict(
                "changeRequest: this conversation ID is already used in another change request. Choose"
                " another ID."
            )
        return
    moment = now()
    row = AgentConversationRow(
        organization_id=org.organization_id,
        user_id=org.user_id,
        id=id,
        title=None,
        change_id=change_id,
        questions=[],
        created_at=moment,
        updated_at=moment,
    )
    names = ", ".join(f":{name}" for name in _COLUMNS)
    values = {**structs.asdict(row), "questions": "[]"}
    tx.run(f"INSERT INTO agent_conversations ({_ROW}) VALUES ({names})", **values)
    tx.run(
        """DELETE FROM agent_conversations WHERE organization_id = :org AND user_id = :user AND id NOT IN (
             SELECT id FROM agent_conversations WHERE organization_id = :org AND user_id = :user
             ORDER BY updated_at DESC, id DESC LIMIT :kept)""",
        org=org.organization_id,
        user=org.user_id,
        kept=MAX_KEPT,
    )


def record_asked(tx: Transaction, org: OrgAccess, id: str, question: str) -> None:
    """Add a question to a conversation, unless the conversation was deleted in the meantime. The first question
    becomes the conversation's title."""
    found = find_conversation(tx, org, id)
    if found is None:
        return
    asked = [*found.questions, question]
    # Without the first question, the title would count as written.
    asked = [*asked[:1], *asked[1:][1 - _MAX_QUESTIONS :]]
    _update(
        tx,
        found,
        questions=msgspec.json.encode(asked).decode(),
        title=found.title or _title_of(question),
        updated_at=now(),
    )


def rename(tx: Transaction, row: AgentConversationRow, title: str) -> AgentConversationRow:
    _update(tx, row, title=title)
    return structs.replace(row, title=title)


def _update(tx: Transaction, row: AgentConversationRow, **values: object) -> None:
    sets = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(
        f"""UPDATE agent_conversations SET {sets}
            WHERE organization_id = :of_organization AND user_id = :of_user AND id = :of_id""",
        of_organization=row.organization_id,
        of_user=row.user_id,
        of_id=row.id,
        **values,
    )


def delete_conversation(tx: Transaction, row: AgentConversationRow) -> bool:
    return bool(
        tx.run(
            "DELETE FROM agent_conversations WHERE organization_id = :org AND user_id = :user AND id = :id",
            org=row.organization_id,
            user=row.user_id,
            id=row.id,
        )
    )
