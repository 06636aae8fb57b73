"""Previews: URLs that show a site to a member as visitors will see it, whether or not the site is published. A preview
works for one hour, and only as long as the member can see all spaces on the site and the token or session that created
the preview is valid.

A preview can show the site as a visitor with certain claims would see it. It can also show a single change request as
if it were merged, without the restricted pages that the member can't see. People with the URL can't see any other
change requests."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from octavo.content.changes.store import find_change
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import escape_address
from octavo.errors import BadRequest, Forbidden, NotFound, require_found
from octavo.kit.clock import HOUR, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Drafted, Person
from octavo.kit.secrets.signing import Signer
from octavo.organization.access.authorization import SiteAccess, find_space_access, site_access
from octavo.organization.access.roles import Can
from octavo.organization.access.tokens import Grantor, find_grantor, grantor_of
from octavo.organization.orgs.store import get_organization

from .audiences.adaptive import get_schema
from .audiences.schema import UNSIGNED, admit
from .customization.model import Mode
from .published import published_url
from .store import find_site, get_site
from .structure.changing import get_site_space, load_seen_structure
from .structure.store import Structure, load_structure

PREVIEWED = "/~previewed/"
"""Path of previews in frames of the app, followed by their token. The token is in the path because frames don't get
cookies if sites are on a different domain from the app, and because frames must not leave cookies that affect later
visits to the site."""
PREVIEW = "preview_token"
"""Query parameter that contains a token."""
_PURPOSE = "site preview"
_OPERATION = "getSitePublishingPreviewById"


class _Preview(Struct, omit_defaults=True):
    site: str
    by: Grantor
    visitor: JsonObject
    change: str = ""
    look: bool = False
    theme: Mode | None = None
    drafts: bool = False


_decoder = msgspec.json.Decoder(_Preview)


def make_preview(
    signer: Signer,
    site_id: str,
    actor: Actor,
    visitor: JsonObject,
    change: str = "",
    *,
    look: bool = False,
    theme: Mode | None = None,
    drafts: bool = False,
) -> str:
    """Return a token that shows its holder the site as the member sees it, with the given ``visitor`` value for
    conditions. ``change``: the ID of a change request to show instead of the content of its space. ``look``:
    whether to use the customization that the member is previewing. ``theme``: light or dark, regardless of the
    customization. ``drafts``: whether to show drafts of the site structure."""
    preview = _Preview(site_id, grantor_of(actor), visitor, change, look, theme, drafts)
    payload = msgspec.json.encode(preview).decode()
    until = now() + HOUR
    if isinstance(actor, Person) and actor.expires_at is not None:
        until = min(until, actor.expires_at)
    return signer.sign(_PURPOSE, payload, until)


class PreviewGrant(Struct, frozen=True):
    """Contents of a preview token. ``drafted``: the change request that the preview shows. ``expires``: the
    expiration time in milliseconds. ``look``: the person whose previewed customization is shown. ``drafts``:
    whether the preview shows drafts of the site structure."""

    site: str
    visitor: JsonObject
    drafted: Drafted | None
    expires: int
    look: str | None = None
    theme: Mode | None = None
    drafts: bool = False


def preview_until(signer: Signer, token: str) -> int | None:
    """Return a token's expiration time in milliseconds, or None if the token is invalid."""
    signed = signer.read(_PURPOSE, token)
    return signed.expires if signed is not None else None


def read_preview(tx: Transaction, signer: Signer, token: str) -> PreviewGrant | None:
    """Return the contents of a valid token. Return None for other tokens, or if the member who created it has left, was
    deactivated, has revoked the token or ended the session that was used to create it, or can no longer see all spaces
    on the site."""
    signed = signer.read(_PURPOSE, token)
    if signed is None or signed.expires is None:
        return None
    try:
        found = _decoder.decode(signed.payload)
    except msgspec.ValidationError:
        return None
    site, actor = find_site(tx, found.site), find_grantor(tx, found.by, _OPERATION)
    if site is None or actor is None:
        return None
    try:
        site_access(tx, actor, Can.VIEW, site.organization_id, site.id)
    except (NotFound, Forbidden):
        return None
    structure = load_structure(tx, site.id)
    if not _sees_all(tx, actor, structure, drafts=found.drafts):
        return None
    drafted = _find_drafted(tx, structure, actor, found.change)
    if found.change and drafted is None:
        return None
    look = actor.user_id if found.look else None
    return PreviewGrant(found.site, found.visitor, drafted, signed.expires, look, found.theme, found.drafts)


def _find_drafted(tx: Transaction, structure: Structure, actor: Actor, change_id: str) -> Drafted | None:
    """Return a change request if its space is on the site and the request isn't concealed."""
    # Every space has a change request number 1, so numbers are ambiguous here.
    if not change_id or change_id.isdigit():
        return None
    for shown in structure.site_spaces.values():
        change = find_change(tx, shown.space_id, change_id) if shown.id not in structure.concealed else None
        if change is not None:
            return Drafted(change.id, shown.space_id, change.revision, actor)
    return None


def _sees_all(tx: Transaction, actor: Actor, structure: Structure, *, drafts: bool) -> bool:
    spaces = {
        shown.space_id for shown in structure.site_spaces.values() if drafts or not structure.is_draft(shown)
    }
    return all(find_space_access(tx, actor, Can.VIEW, space_id) is not None for space_id in spaces)


def require_seeing_all(
    tx: Transaction, site: SiteAccess, structure: Structure, *, drafts: bool = False
) -> None:
    """Raise Forbidden if the caller can't see all spaces of the site. ``drafts``: whether this includes
    spaces in drafts."""
    if not _sees_all(tx, site.actor, structure, drafts=drafts):
        raise Forbidden(
            "You can't preview this site, because it contains spaces that you don't have access to. Ask an"
            " administrator for access."
        )


def read_claims(tx: Transaction, site_id: str, claims: str | None) -> tuple[JsonObject, JsonObject]:
    """Return the claims in a JSON string, with unsigned claims under `unsigned`, and the ``visitor`` value for
    conditions. Raises BadRequest if the JSON isn't an object."""
    try:
        given = msgspec.json.decode(claims, type=dict[str, Any]) if claims else {}
    except (msgspec.MsgspecError, RecursionError):
        raise BadRequest("claims: must be a JSON object") from None
    unsigned = given.get(UNSIGNED)
    return given, admit(get_schema(tx, site_id), given, unsigned if isinstance(unsigned, dict) else {})


def preview_url(
    tx: Transaction,
    context: Context,
    site: SiteAccess,
    *,
    site_space_id: str | None,
    claims: str | None,
    change_id: str | None,
    drafts: bool,
    target: str | None,
) -> str:
    """Return the URL of a preview. ``drafts``: whether it shows drafts of the site structure. ``target``:
    the URL or path on the site where the preview starts. Raises Forbidden if the caller can't see all of
    the site's spaces, BadRequest if the claims are invalid or the target is outside the site, and NotFound
    if the site space or the space of the change request isn't on this site."""
    structure = load_seen_structure(tx, site)
    start = None
    if site_space_id is not None:
        start = get_site_space(structure, site_space_id, "siteSpace")
    if change_id is not None:
        drafted = require_found(
            _find_drafted(tx, structure, site.actor, change_id),
            f"changeRequest: there is no change request with the ID {change_id!r} in the spaces on this site",
        )
        showing = (s for s in structure.site_spaces.values() if s.space_id == drafted.space_id)
        start = start or next(showing)
    require_seeing_all(tx, site, structure, drafts=drafts)
    _, visitor = read_claims(tx, site.site_id, claims)
    organization = get_organization(tx, site.organization_id)
    url = published_url(context.settings.sites_url, organization, get_site(tx, site.site_id))
    below = quote(structure.base(start)) if start is not None else ""
    below = below if target is None else _below(url, target)
    token = make_preview(context.signer, site.site_id, site.actor, visitor, change_id or "", drafts=drafts)
    return f"{url}{below}{'&' if '?' in below else '?'}{PREVIEW}={token}"


def _below(url: str, target: str) -> str:
    """Return a target relative to ``url``. The target is a path on the site or a URL that starts with ``url``. Raises
    BadRequest for any other URL."""
    address = escape_address(target).partition("#")[0]
    if address.startswith(url):
        return address.removeprefix(url)
    if not address.startswith("/") or address.startswith("//"):
        raise BadRequest(f"target: must be a path on the site, or a URL that starts with {url}")
    return address.removeprefix("/")


def framed_preview_url(
    tx: Transaction, context: Context, site: SiteAccess, site_space_id: str | None, theme: Mode | None
) -> str:
    """Return a URL for a frame of the app that shows the site with the customization that the caller is
    previewing. Raises Forbidden if the caller can't see all spaces of the site, and NotFound if the site
    space belongs to another site."""
    structure = load_seen_structure(tx, site)
    base = ""
    if site_space_id is not None:
        base = structure.base(get_site_space(structure, site_space_id, "siteSpace"))
    require_seeing_all(tx, site, structure)
    visitor = admit(get_schema(tx, site.site_id), {}, {})
    token = make_preview(context.signer, site.site_id, site.actor, visitor, look=True, theme=theme)
    return f"{context.settings.sites_url.rstrip('/')}{PREVIEWED}{token}/{quote(base)}"
