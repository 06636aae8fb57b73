"""Create, update, publish, and delete many redirects at once, independently of each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.core.redirects import MAX_SOURCE
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess

from .editing import RedirectEditor, RedirectFields
from .store import RedirectRow, destination_of
from .types import (
    SOURCE_PATTERN,
    GivenDestination,
    ToExternal,
    ToPage,
    ToPath,
    ToSection,
    ToSiteSpace,
)

MAX_UPSERTS = 500
Status = Literal["created", "updated", "deleted", "published", "error"]
_SOURCE = re.compile(SOURCE_PATTERN)


class AnyExternal(Struct, tag_field="kind", tag="external"):
    """URL that is checked only when its redirect is written, so that an invalid URL doesn't affect other redirects."""

    url: str


class UpsertedRedirect(Struct, rename="camel", kw_only=True):
    """Redirect to create or update. ``destination``: the destination; None deletes the redirect. ``intent``:
    ``publish`` to publish the source's draft."""

    source: str
    intent: Literal["live", "draft", "publish"] = "live"
    capture_wildcard: bool = False
    permanent: bool | UnsetType = UNSET
    destination: ToSection | ToSiteSpace | ToPage | AnyExternal | ToPath | None | UnsetType = UNSET


class UpsertResult(Struct, kw_only=True):
    """Result for one redirect. ``id``: the ID of the redirect, unless it was deleted or had an error.
    ``error``: the error, if any."""

    status: Status
    source: str
    draft: bool
    id: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


def is_source(text: str) -> bool:
    return len(text) <= MAX_SOURCE and _SOURCE.fullmatch(text) is not None


def require_source(source: str) -> None:
    """Raise BadRequest if a string isn't a valid source."""
    if len(source) > MAX_SOURCE:
        raise BadRequest(f"source: must have at most {MAX_SOURCE:,} characters")
    if not is_source(source):
        raise BadRequest("source: must be a path on the site, such as /old, /old/*, or /old*")


def upsert_redirects(
    tx: Transaction, to: Recipient, site: SiteAccess, wanted: Iterable[UpsertedRedirect]
) -> list[UpsertResult]:
    """Write redirects one at a time, and return the outcome of each."""
    editor = RedirectEditor(tx, to, site)
    return [_upsert(editor, one) for one in wanted]


def _upsert(editor: RedirectEditor, wanted: UpsertedRedirect) -> UpsertResult:
    draft = wanted.intent == "draft"
    try:
        require_source(wanted.source)
        if wanted.intent == "publish":
            return _publish(editor, wanted)
        status, row = upsert(
            editor,
            wanted.source,
            _checked(wanted.destination),
            draft=draft,
            capture=wanted.capture_wildcard,
            permanent=wanted.permanent,
        )
        if row is None and status == "unchanged":
            raise NotFound(f"source: there is no {'draft ' if draft else ''}redirect from {wanted.source!r}")
    except (BadRequest, NotFound, Conflict) as error:
        return UpsertResult(status="error", source=wanted.source, draft=draft, error=error.message)
    return UpsertResult(
        # The API has no other value for a redirect that is already in that state.
        status="updated" if status == "unchanged" else status,
        source=wanted.source,
        draft=draft,
        id=row.id if row is not None else UNSET,
    )


def _publish(editor: RedirectEditor, wanted: UpsertedRedirect) -> UpsertResult:
    if wanted.destination is not UNSET:
        raise BadRequest(
            "destination: must be omitted when you publish a draft. To change the destination, update the"
            " draft first."
        )
    found = editor.find(wanted.source, draft=True)
    if found is None:
        raise NotFound(f"source: there is no draft redirect from {wanted.source!r}")
    made = editor.update(found, RedirectFields(draft=False))
    return UpsertResult(status="published", source=wanted.source, draft=False, id=made.id)


def _checked(
    destination: ToSection | ToSiteSpace | ToPage | AnyExternal | ToPath | None | UnsetType,
) -> GivenDestination | None:
    if destination is UNSET:
        raise BadRequest("destination: is required. Use null to delete the redirect.")
    if not isinstance(destination, AnyExternal):
        return destination
    try:
        return msgspec.convert({"kind": "external", "url": destination.url}, ToExternal)
    except msgspec.ValidationError:
        raise BadRequest(
            "destination.url: must start with http:// or https:// and have at most 2,048 characters"
        ) from None


def upsert(
    editor: RedirectEditor,
    source: str,
    destination: GivenDestination | None,
    *,
    draft: bool,
    capture: bool,
    permanent: bool | UnsetType,
) -> tuple[Literal["created", "updated", "deleted", "unchanged"], RedirectRow | None]:
    """Set the destination of a source, whether or not a redirect from the source already exists. None deletes the
    redirect. Raises the same errors as ``RedirectEditor.create``."""
    found = editor.find(source, draft=draft)
    if destination is None:
        if found is None:
            return "unchanged", None
        editor.delete(found)
        return "deleted", None
    fields = RedirectFields(
        source=source, destination=destination, draft=draft, capture=capture, permanent=permanent
    )
    if found is None:
        return "created", editor.create(fields)
    # Only the spelling of the source may differ, which doesn't change anything.
    same = destination_of(found) == destination and found.capture == capture
    made = editor.update(found, msgspec.structs.replace(fields, source=UNSET if same else source))
    return ("unchanged" if made == found else "updated"), made
