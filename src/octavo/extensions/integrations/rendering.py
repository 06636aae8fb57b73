"""Render a component of an integration for anyone who can see the place where it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import UNSET

from octavo.core.lz_string import decompress
from octavo.errors import BadRequest, Forbidden, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Person, Reply
from octavo.organization.access.authorization import organization_access, site_access, space_access
from octavo.organization.access.permitting import can_write
from octavo.organization.access.roles import Can
from octavo.sites.site.publishing import require_publish_permission

from . import store
from .authorization import IntegrationAccess
from .contentkit import BadOutput, read_output
from .contexts import (
    AccountContext,
    ContentSourceContext,
    DocumentContext,
    RenderContext,
    RenderRequest,
    SpaceContext,
)
from .event_replies import Failed, ask
from .invoking import Subject
from .store import IntegrationRow, Kind

_LONGEST = 1024 * 1024
"""Maximum number of characters in a decompressed request."""
_SHORTEST, _USUAL, _MOST = 60, 300, 86_400
"""Numbers of seconds for which an output is cached for readers: minimum, default, and maximum."""
_MAX_AGE = re.compile(r"\bmax-age=(\d{1,9})\b")


class Rendered(NamedTuple):
    """Validated output. ``seconds``: the number of seconds for which the script allows caching; None if the script
    doesn't specify it."""

    output: dict[str, Any]
    seconds: int | None

    @property
    def kept_for(self) -> int:
        """Return the number of seconds for which an output is cached if it is the same for all readers."""
        return _USUAL if self.seconds is None else max(_SHORTEST, min(self.seconds, _MOST))


def render(context: Context, integration: IntegrationAccess, given: RenderRequest) -> Reply:
    """Render a component for the caller. Raises BadRequest if the request is invalid, NotFound or Forbidden
    if the caller doesn't have access, and Failed if the script fails."""
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


def ask_to_render(context: Context, subject: Subject, fields: Mapping[str, object]) -> Rendered:
    """Return a component's output from the integration's script.

    ``fields``: the fields of the event. Raises BadRequest if the request is invalid, NotFound if the component
    doesn't exist, Failed if the script fails, and Unavailable if it can't run right now."""
    answer = ask(context, subject, "ui_render", fields)
    if answer.status == 404:
        raise NotFound(
            f"componentId: there is no component with the ID {fields['componentId']!r} in this integration"
        )
    if 400 <= answer.status < 500:
        raise BadRequest(f"The integration rejected the request: {_message(answer.body)}")
    if answer.status != 200:
        raise Failed("The integration failed. See its events for the reason.")
    try:
        output = read_output(answer.body)
    except BadOutput as error:
        raise Failed(f"The integration returned output that can't be rendered: {error}") from None
    found = _MAX_AGE.search(dict(answer.headers).get("cache-control", ""))
    return Rendered(output, int(found[1]) if found else None)


def _message(body: bytes) -> str:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "no reason given"
    message = found.get("error") if isinstance(found, dict) else None
    return message[:300] if isinstance(message, str) else "no reason given"


def _enter(tx: Transaction, integration: IntegrationAccess, at: RenderContext) -> Subject:
    """Return the recipient of the event in a space or site. The caller must be able to see the space or site or, if
    the component is part of a configuration, to configure the integration there."""
    row, actor = integration.row, integration.actor
    if isinstance(actor, Person) and not _only_reads(at) and not can_write(actor, "integrations"):
        raise Forbidden(
            "This token doesn't have the `integrations:write` scope. Use a token with this scope."
        )
    if isinstance(at, AccountContext):
        org = organization_access(tx, actor, Can.INSTALL_INTEGRATION, at.organization_id)
        return _subject(tx, row, org.organization_id)
    if isinstance(at, ContentSourceContext):
        org = organization_access(tx, actor, Can.CREATE_CONTENT, at.organization_id)
        if at.space_id is UNSET:
            return _subject(tx, row, org.organization_id)
        space = space_access(tx, actor, Can.EDIT, at.space_id)
        if space.organization_id != org.organization_id:
            raise NotFound(
                f"context.spaceId: there is no space with the ID {at.space_id!r} in this organization"
            )
        return _subject(tx, row, org.organization_id, "space", at.space_id)
    if isinstance(at, SpaceContext):
        space = space_access(tx, actor, Can.INSTALL_INTEGRATION, at.space_id)
        return _subject(tx, row, space.organization_id, "space", at.space_id)
    if isinstance(at, DocumentContext):
        space = space_access(tx, actor, Can.EDIT if at.editable else Can.VIEW, at.space_id)
        return _subject(tx, row, space.organization_id, "space", at.space_id)
    organization_id = store.find_organization_of_site(tx, at.site_id)
    if organization_id is None:
        raise NotFound(f"There is no site with the ID {at.site_id!r}.")
    site = site_access(tx, actor, Can.ADMIN, organization_id, at.site_id)
    # Actions run with the script's own permissions, because they change the configuration.
    require_publish_permission(tx, site)
    return _subject(tx, row, site.organization_id, "site", at.site_id)


def _only_reads(at: RenderContext) -> bool:
    """Return whether a component is shown to readers. Actions in other components run with the script's own
    permissions."""
    return isinstance(at, DocumentContext) and not at.editable


def _subject(
    tx: Transaction, row: IntegrationRow, organization_id: str, kind: str = "", place_id: str = ""
) -> Subject:
    installation = store.find_installation_in(tx, row.id, organization_id)
    if installation is None:
        raise NotFound(
            f"The integration {row.name!r} isn't installed in this space or on this site. Install it first."
        )
    place = store.find_place(tx, installation.id, cast("Kind", kind), place_id) if kind else None
    return Subject(row, installation, place)


def decode_request(text: str) -> RenderRequest:
    """Decode the request in the query of a GET request: JSON, optionally compressed with LZ-string. Raises
    BadRequest if it is invalid."""
    try:
        if not text.lstrip().startswith("{"):
            text = decompress(text, _LONGEST)
        return msgspec.json.decode(text, type=RenderRequest)
    except msgspec.ValidationError as error:
        raise BadRequest(f"request: {error}") from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise BadRequest("request: must be a JSON render request") from None
