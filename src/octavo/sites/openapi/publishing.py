"""Manage specifications: their source, processing, and visibility."""

from __future__ import annotations

import re
from typing import NamedTuple

from octavo.content.references.mentions import list_spaces_naming_spec
from octavo.content.revisions.bodies import put_bodies
from octavo.content.revisions.computing import notify_dependency_changed
from octavo.errors import BadRequest, NotFound, format_size
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.texts import pattern
from octavo.kit.work import jobs
from octavo.kit.work.outbox import emit
from octavo.organization.access.auditing import audit

from . import store
from .reading import MAX_BYTES
from .store import SpecRow, VersionRow, Visibility

SLUG = pattern(
    r"^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*\Z", "consist of letters and digits, with single hyphens between them"
)
PATIENCE = 60 * 60_000
"""Milliseconds after which unfinished processing restarts."""
FIRST_SLUG = "api"
"""Slug of the specification that each new organization gets."""
MAX_SPECS = 1_000
"""Maximum number of specifications per organization."""


class GivenSource(NamedTuple):
    """Source of a specification: either a URL or text."""

    url: str | None
    text: str | None


def get_spec(tx: Transaction, organization_id: str, slug: str) -> SpecRow:
    found = store.find_spec(tx, organization_id, slug)
    if found is None:
        raise NotFound(f"There is no API specification with the slug {slug!r} in this organization.")
    return found


def get_version(tx: Transaction, organization_id: str, slug: str, version_id: str | None) -> VersionRow:
    """Return a version by its ID, or the newest version if the ID is None. Raises NotFound if there is none."""
    spec = get_spec(tx, organization_id, slug)
    found = store.find_version(tx, spec.id, version_id or spec.version_id or "")
    if found is None:
        what = "no valid version yet" if version_id is None else f"no version with the ID {version_id!r}"
        raise NotFound(f"The API specification {slug!r} has {what}.")
    return found


def create(tx: Transaction, actor: Actor, organization_id: str, slug: str, source: GivenSource) -> SpecRow:
    """Create a specification. Raises BadRequest if the slug is invalid or in use, the source is invalid, or
    there are too many specifications."""
    if store.find_spec(tx, organization_id, slug) is not None:
        raise BadRequest(
            f"slug: an API specification with the slug {slug!r} already exists. Use PUT to set its source, or"
            " choose another slug."
        )
    return put(tx, actor, organization_id, slug, source)[0]


def put(
    tx: Transaction, actor: Actor, organization_id: str, slug: str, source: GivenSource
) -> tuple[SpecRow, bool]:
    """Set the source of a specification, and return whether the specification is new. A job processes the
    source. Raises the same errors as ``create``."""
    if not re.fullmatch(SLUG, slug) or len(slug) > 100:
        raise BadRequest("specSlug: must be 1 to 100 letters and digits, with single hyphens between them")
    if (source.url is None) == (source.text is None):
        raise BadRequest("source: provide exactly one of `url` and `text`")
    if source.text is not None and len(source.text.encode(errors="replace")) > MAX_BYTES:
        raise BadRequest(f"source.text: must be at most {format_size(MAX_BYTES)}")
    before = store.find_spec(tx, organization_id, slug)
    if before is None:
        listed = store.list_specs(tx, organization_id, 0, None)
        if listed.count >= MAX_SPECS:
            raise BadRequest(
                f"slug: an organization can have at most {MAX_SPECS:,} API specifications. Delete one before"
                " adding another."
            )
    spec_id = before.id if before is not None else store.insert_spec(tx, organization_id, slug)
    pending = put_bodies(tx, [source.text])[0] if source.text is not None else None
    store.release_pending(tx, spec_id)
    store.update_spec(
        tx,
        spec_id,
        source_url=source.url,
        pending=pending,
        etag=None,
        last_modified=None,
        updated_at=now(),
    )
    process_again(tx, spec_id)
    after = get_spec(tx, organization_id, slug)
    what = ("openapi", spec_id)
    if before is None:
        audit(tx, actor, "openapi.created", organization_id, what, after=_state(after))
    else:
        audit(tx, actor, "openapi.updated", organization_id, what, before=_state(before), after=_state(after))
    return after, before is None


def put_first(tx: Transaction, actor: Actor, organization_id: str, url: str) -> None:
    """Create the specification that each new organization gets."""
    put(tx, actor, organization_id, FIRST_SLUG, GivenSource(url, None))


def check_now(tx: Transaction, organization_id: str, slug: str) -> SpecRow:
    """Check the source for changes. Raises NotFound if there is no such specification."""
    process_again(tx, get_spec(tx, organization_id, slug).id)
    return get_spec(tx, organization_id, slug)


def process_again(tx: Transaction, spec_id: str) -> None:
    """Process a specification again. Processing that is already in progress is discarded."""
    spec = store.find_spec_by_id(tx, spec_id)
    assert spec is not None
    generation = spec.generation + 1
    store.update_spec(tx, spec_id, state="pending", generation=generation, check_at=now() + PATIENCE)
    jobs.enqueue(tx, "processSpec", organization=spec.organization_id, spec_id=spec_id, generation=generation)


def set_visibility(
    tx: Transaction, actor: Actor, organization_id: str, slug: str, visibility: Visibility
) -> SpecRow:
    before = get_spec(tx, organization_id, slug)
    if before.visibility != visibility:
        store.update_spec(tx, before.id, visibility=visibility, updated_at=now())
        after = get_spec(tx, organization_id, slug)
        what = ("openapi", before.id)
        audit(tx, actor, "openapi.updated", organization_id, what, before=_state(before), after=_state(after))
    return get_spec(tx, organization_id, slug)


def delete(tx: Transaction, actor: Actor, organization_id: str, slug: str) -> bool:
    """Delete a specification and its versions. Return False if it doesn't exist."""
    found = store.find_spec(tx, organization_id, slug)
    if found is None:
        return False
    store.delete_spec(tx, found.id)
    notify_dependency_changed(tx, organization_id, list_spaces_naming_spec(tx, organization_id, slug))
    emit(tx, "openapi_updated", organization_id=organization_id, slug=slug)
    audit(tx, actor, "openapi.removed", organization_id, ("openapi", found.id), before=_state(found))
    return True


def _state(spec: SpecRow) -> dict[str, object]:
    """Return a specification's state for the audit log."""
    return {"slug": spec.slug, "sourceURL": spec.source_url, "visibility": spec.visibility}
