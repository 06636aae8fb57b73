"""Wire types for live editing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.organization.access.accounts import UserRow

from .commands import Name, Number
from .documents import LoadedBatch
from .store import CaretRow, SetAsideRow
from .types import Why

MARKDOWN_LENGTH = 100_000

EditorJson = Annotated[Raw, Meta(extra_json_schema={"type": "object", "additionalProperties": True})]
StepsJson = Annotated[
    Raw,
    Meta(
        extra_json_schema={
            "type": "array",
            "items": {"type": "object", "additionalProperties": True},
        }
    ),
]


class SetAsideInput(Struct):
    markdown: Annotated[str, Meta(min_length=1, max_length=MARKDOWN_LENGTH)]
    why: Why = "other"


class StepsQuery(Struct):
    """Query parameters for steps. ``epoch`` and ``after``: the last known version."""

    epoch: Name
    after: Number


SetAsideQuery = PageQuery


class LivePerson(Struct, rename={"display_name": "displayName", "photo_url": "photoURL"}):
    """Summary of a person, with enough data for a caret's label."""

    id: str
    display_name: str
    photo_url: str | UnsetType = UNSET


class Batch(Struct, kw_only=True):
    """Batch of steps. ``version``: the version of the page after its last step. ``user``: the ID of its author, if
    any."""

    version: int
    client: str
    batch: int
    attempt: int
    user: str | None
    steps: StepsJson
    agent: str | UnsetType = UNSET


class BatchesAfter(Struct):
    """Batches after a version, in order. ``version``: the version of the page; if the last batch ends
    before that version, there are more."""

    version: int
    batches: list[Batch]


class Caret(Struct, kw_only=True):
    """Selection of a client. ``anchor`` and ``head``: the positions of the selection; None if the caret was
    removed."""

    client: str
    user: LivePerson
    version: int
    anchor: int | None
    head: int | None


class StepsEvent(BatchesAfter, tag_field="kind", tag="steps"):
    """New batches of a live page. ``version``: the version after the last batch."""


class CaretEvent(Caret, tag_field="kind", tag="caret"):
    """Caret that appeared, moved, or was removed."""


class SavedEvent(Struct, tag_field="kind", tag="saved"):
    """Save of a live page. ``version``: the last version that the revision contains. ``refused``: the keys of the
    blocks that stay unchanged, because their new content can't be saved; the page's ID if the page is too large."""

    version: int
    revision: str
    refused: list[str]


class LiveReset(Struct, tag_field="kind", tag="live-reset"):
    """Request to load the page again, because it now starts from a different document or can no longer be
    edited."""


class LiveDocument(Struct, rename="camel", kw_only=True):
    """Page in the format used for live editing. ``refused``: the keys of the blocks that the last save left
    unchanged; the page's ID if the page was too large."""

    epoch: str
    version: int
    revision: str
    saved_version: int
    schema: str
    document: EditorJson
    refused: list[str]
    carets: list[Caret]
    object: Literal["live-page"] = "live-page"


class SavedLive(Struct):
    """Result of a save. ``version``: the last version of the page that the revision contains. ``refused``:
    the keys of blocks that keep their previously saved content, because their new content can't be saved."""

    revision: str
    version: int
    refused: Sequence[str] = []


class SetAsideText(Struct, rename="camel", kw_only=True):
    """Passage by the caller that couldn't be added to the page."""

    id: str
    markdown: str
    why: Why
    created_at: str
    object: Literal["set-aside-text"] = "set-aside-text"


def present_batches(batches: Iterable[LoadedBatch]) -> list[Batch]:
    return [
        Batch(
            version=row.version,
            client=row.client,
            batch=row.batch,
            attempt=row.attempt,
            user=row.user_id,
            steps=Raw(row.steps.encode()),
            agent=row.agent or UNSET,
        )
        for row in (batch.row for batch in batches)
    ]


def present_live_person(user_id: str, known: Mapping[str, UserRow]) -> LivePerson:
    user = known.get(user_id)
    if user is None:
        return LivePerson(user_id, "Deleted user")
    return LivePerson(user_id, user.display_name, user.photo_url or UNSET)


def present_caret(caret: CaretRow, known: Mapping[str, UserRow]) -> Caret:
    user = present_live_person(caret.user_id, known)
    return Caret(client=caret.client, user=user, version=caret.version, anchor=caret.anchor, head=caret.head)


def present_caret_event(caret: CaretRow, known: Mapping[str, UserRow], *, gone: bool) -> CaretEvent:
    return CaretEvent(
        client=caret.client,
        user=present_live_person(caret.user_id, known),
        version=caret.version,
        anchor=None if gone else caret.anchor,
        head=None if gone else caret.head,
    )


def present_set_aside(row: SetAsideRow) -> SetAsideText:
    return SetAsideText(id=row.id, markdown=row.markdown, why=row.why, created_at=iso(row.created_at))


def encode_editor(document: object) -> Raw:
    return Raw(msgspec.json.encode(document))
