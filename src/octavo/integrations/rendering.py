"""Rendering a component of an integration, for somebody who may see where it is shown."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import UNSET

from ..access import Can, Person, may_write, organization_access, site_access, space_access
from ..core.lz_string import decompress
from ..errors import BadRequest, Forbidden, NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.operation import Reply
from ..sites import require_publish_permission
from . import store
from .asking import Failed, ask
from .contentkit import BadOutput, read_output
from .contexts import (
    AccountContext,
    ContentSourceContext,
    DocumentContext,
    RenderContext,
    RenderRequest,
    SpaceContext,
)
from .entering import IntegrationAccess
from .invoking import Subject
from .store import IntegrationRow, Kind

_LONGEST = 1024 * 1024
"""Characters of a request, once it is not compressed any more."""
_SHORTEST, _USUAL, _MOST = 60, 300, 86_400
"""Seconds for which an output is kept for readers: at least, where the script does not say, at most."""
_MAX_AGE = re.compile(r"\bmax-age=(\d{1,9})\b")


class Rendered(NamedTuple):
    """A checked output. ``seconds``: for how long the script lets it be kept, None where it does not say."""

    output: dict[str, Any]
    seconds: int | None

    @property
    def kept_for(self) -> int:
        """Seconds for which what is the same for all readers is not asked for again."""
        return _USUAL if self.seconds is None else max(_SHORTEST, min(self.seconds, _MOST))


def render(context: Context, integration: IntegrationAccess, given: RenderRequest) -> Reply:
    """Raises BadRequest, Failed, Forbidden, NotFound."""
    with context.db.read() as tx:
        subject = _enter(tx, integration, given.context)
    fields: dict[str, Any] = {
        "componentId": given.component_id,
        "props": given.props,
        "context": msgspec.to_builtins(given.context),
    }
    for name in ("state", "action"):
        if (value := getattr(given, name)) is not UNSET:
            fields[name] = value
    if isinstance(integration.actor, Person) or integration.actor.installation_id is not None:
        fields["auth"] = {"userId": integration.actor.user_id}
    return present_rendered(ask_to_render(context, subject, fields))


def present_rendered(rendered: Rendered) -> Reply:
    keep = f"private, max-age={rendered.seconds}" if rendered.seconds is not None else "no-store"
    headers = {"content-type": "application/json", "cache-control": keep}
    return Reply(msgspec.json.encode(rendered.output), headers=headers)


def ask_to_render(context: Context, subject: Subject, fields: dict[str, Any]) -> Rendered:
    """What the script of an integration has a component show. ``fields``: those of the event. Raises BadRequest,
    Failed, NotFound, Unavailable."""
    answer = ask(context, subject, "ui_render", fields)
    if answer.status == 404:
        raise NotFound(f"componentId: this integration has no component {fields['componentId']!r}.")
    if 400 <= answer.status < 500:
        raise BadRequest(f"The integration refused: {_message(answer.body)}")
    if answer.status != 200:
        raise Failed("This integration failed. Its events say why.")
    try:
        output = read_output(answer.body)
    except BadOutput as error:
        raise Failed(f"This integration gave something that cannot be drawn: {error}") from None
    found = _MAX_AGE.search(dict(answer.headers).get("cache-control", ""))
    return Rendered(output, int(found[1]) if found else None)


def _message(body: bytes) -> str:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "it did not say why"
    said = found.get("error") if isinstance(found, dict) else None
    return said[:300] if isinstance(said, str) else "it did not say why"


def _enter(tx: Transaction, integration: IntegrationAccess, at: RenderContext) -> Subject:
    """Who is to render, at a place that the caller may see, or configure where it is a form of that."""
    row, actor = integration.row, integration.actor
    if isinstance(actor, Person) and not _only_reads(at) and not may_write(actor, "integrations"):
        raise Forbidden("This token lacks the scope `integrations:write`.")
    if isinstance(at, AccountContext):
        org = organization_access(tx, actor, Can.INSTALL_INTEGRATION, at.organization_id)
        return _subject(tx, row, org.organization_id)
    if isinstance(at, ContentSourceContext):
        org = organization_access(tx, actor, Can.CREATE_CONTENT, at.organization_id)
        if at.space_id is UNSET:
            return _subject(tx, row, org.organization_id)
        space = space_access(tx, actor, Can.EDIT, at.space_id)
        if space.organization_id != org.organization_id:
            raise NotFound(f"context.spaceId: there is no space {at.space_id!r} in this organization.")
        return _subject(tx, row, org.organization_id, "space", at.space_id)
    if isinstance(at, SpaceContext):
        space = space_access(tx, actor, Can.INSTALL_INTEGRATION, at.space_id)
        return _subject(tx, row, space.organization_id, "space", at.space_id)
    if isinstance(at, DocumentContext):
        space = space_access(tx, actor, Can.EDIT if at.editable else Can.VIEW, at.space_id)
        return _subject(tx, row, space.organization_id, "space", at.space_id)
    organization_id = store.find_organization_of_site(tx, at.site_id)
    if organization_id is None:
        raise NotFound(f"There is no site {at.site_id!r}.")
    site = site_access(tx, actor, Can.ADMIN, organization_id, at.site_id)
    # What is pressed here, the script does with its own rights: it changes the configuration.
    require_publish_permission(tx, site)
    return _subject(tx, row, site.organization_id, "site", at.site_id)


def _only_reads(at: RenderContext) -> bool:
    """Whether a component is shown where it is read. Elsewhere the script does what is pressed with rights of its own."""
    return isinstance(at, DocumentContext) and not at.editable


def _subject(
    tx: Transaction, row: IntegrationRow, organization_id: str, kind: str = "", place_id: str = ""
) -> Subject:
    installation = store.find_installation_in(tx, row.id, organization_id)
    if installation is None:
        raise NotFound(f"The integration {row.name!r} is not installed here.")
    place = store.find_place(tx, installation.id, cast("Kind", kind), place_id) if kind else None
    return Subject(row, installation, place)


def decode_request(text: str) -> RenderRequest:
    """The request of a GET: JSON, as it is or compressed with LZ-string. Raises BadRequest."""
    try:
        if not text.lstrip().startswith("{"):
            text = decompress(text, _LONGEST)
        return msgspec.json.decode(text, type=RenderRequest)
    except msgspec.ValidationError as error:
        raise BadRequest(f"request: {error}") from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise BadRequest("request: expected the JSON of a request to render") from None
