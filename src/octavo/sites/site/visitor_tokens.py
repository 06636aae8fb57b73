"""Tokens that let external renderers read a site through the API for a visitor.

Tokens are JWTs, because renderers read the claims in them. They are short and stay the same for an hour, because
renderers cache pages in folders named after the token, and the length of folder names is limited. Therefore, the
header is empty, and the signature is truncated to 96 bits. The expiration time and the site are part of the signed
text, but not of the token, because they can be derived from the time and the request. A person or an API
specification can be requested only if a page on the site refers to that person or specification. A token stops
working when the visitor's access ends: when the share link or the visitor authentication key is no longer valid, or
when the site is unpublished or its visibility changes."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.content.references.mentions import NamedKind, is_named_for, list_spaces_naming_person
from octavo.core.expressions import NOBODY
from octavo.core.json_types import JsonObject
from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Call, Drafted, Visitor
from octavo.kit.secrets.signing import Signer
from octavo.organization.access.tokens import recognize_visitors
from octavo.organization.orgs.store import get_organization

from .audiences.adaptive import get_schema
from .audiences.schema import UNSIGNED, admit
from .audiences.share_links import find_link, share_key
from .previewing import PreviewGrant, preview_until, read_preview
from .published import published_url
from .store import SiteRow, find_site, list_sites_of_organization, list_sites_of_space
from .structure.outline import visitor_outline

_HEADER = "e30"
_HOUR = 3600
_SIGNATURE = 16
_MAX = 32 * 1024


class _Payload(Struct, omit_defaults=True):
    """Payload of a token. ``exp``: the expiration time in seconds; 0 for a token that expires at the regular time
    (see ``_ends``). ``claims``: the visitor's claims, with unsigned claims under `unsigned`. ``link``: the ID of
    the share link. ``preview``: the preview token, which is checked again whenever this token is used."""

    exp: int = 0
    claims: dict[str, Any] | None = None
    link: str = ""
    preview: str = ""


_decoder = msgspec.json.Decoder(_Payload)


def make_visitor_token(
    signer: Signer,
    site: SiteRow,
    claims: JsonObject,
    *,
    link: str = "",
    preview: str = "",
    until: int | None = None,
) -> str:
    """Return a token that is valid for one to two hours. ``claims``: the ``visitor`` value for conditions.
    ``link``: the ID of the share link that grants access. ``preview``: the preview token that grants
    access. ``until``: the time in milliseconds when this access ends."""
    expires, exp = max(_ends()), 0
    if preview:
        until = preview_until(signer, preview)
    if until is not None and until // 1000 < expires:
        expires = exp = until // 1000
    given = claims.get("claims") if site.settings.adaptive or preview else None
    payload = msgspec.json.encode(
        _Payload(
            exp=exp,
            claims=given if given not in (None, {}, {UNSIGNED: {}}) else None,
            link=link,
            preview=preview,
        )
    )
    body = f"{_HEADER}.{base64.urlsafe_b64encode(payload).rstrip(b'=').decode()}"
    return f"{body}.{_sign(signer, site, f'{expires} {body}', link, preview)}"


def _ends() -> tuple[int, int]:
    """Return the expiration times, in seconds, of tokens from this hour and the previous hour."""
    hour = now() // 1000 // _HOUR
    return (hour + 2) * _HOUR, (hour + 1) * _HOUR


def _sign(signer: Signer, site: SiteRow, body: str, link: str, preview: str) -> str:
    """Sign the token, its expiration time, and the grant that gives the holder access, so that the token expires
    with that grant."""
    if preview:
        by = "preview"
    elif site.visibility == "share-link":
        by = f"link {link}"
    elif site.visibility == "visitor-auth":
        by = f"key {site.settings.visitor_auth.key_version}"
    else:
        by = "everybody"
    return signer.derive("visitor token", f"{site.id} {by} {body}")[:_SIGNATURE]


def find_visitor(call: Call, token: str) -> Visitor | None:
    """Return the visitor that a visitor or preview token identifies, or None if the token isn't valid for this request.
    Raises NotFound if the request is for a person or API specification that isn't on any page that the visitor can
    see."""
    if len(token) > _MAX:
        return None
    asked = _requested_resource(call)
    key = ("visitor", token, asked)

    def read() -> tuple[int, Visitor] | None:
        with call.db.read() as tx:
            found = _read(tx, call.context, token, asked)
            if found is None or asked.named is None:
                return found
            expires, visitor = found
            # The response is the same as for any other site's token, so that no one learns what hidden pages
            # refer to.
            if not is_named_for(tx, visitor, call.settings.url, *asked.named):
                raise _no_reference()
            return expires, replace(visitor, named=asked.named)

    found: tuple[int, Visitor] | None = call.context.fresh.get(key, read)
    return found[1] if found is not None and now() < found[0] * 1000 else None


def _read(
    tx: Transaction, context: Context, token: str, asked: _RequestedResource
) -> tuple[int, Visitor] | None:
    """Return the token's expiration time in seconds, and the visitor."""
    signer = context.signer
    header, _, rest = token.partition(".")
    if header != _HEADER:
        previewed = read_preview(tx, signer, token)
        site = find_site(tx, previewed.site) if previewed is not None else None
        if previewed is None or site is None:
            return None
        return previewed.expires // 1000, _make_previewing(tx, context, site, previewed, token)
    encoded, _, signature = rest.partition(".")
    try:
        raw = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        payload = _decoder.decode(raw)
    except (binascii.Error, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    given = signature.encode("utf-8", "surrogatepass")

    def is_good(site: SiteRow, ends: int) -> bool:
        good = _sign(signer, site, f"{ends} {header}.{encoded}", payload.link, payload.preview)
        return hmac.compare_digest(good.encode(), given)

    ends = (payload.exp,) if payload.exp else _ends()
    for site in asked.sites(tx):
        expires = next((one for one in ends if is_good(site, one)), None)
        if expires is None:
            continue
        if payload.preview:
            previewed = read_preview(tx, signer, payload.preview)
            if previewed is None or previewed.site != site.id:
                return None
            return min(expires, previewed.expires // 1000), _make_previewing(
                tx, context, site, previewed, payload.preview
            )
        if not _is_open(tx, site, payload.link):
            return None
        claims = payload.claims or {}
        unsigned = claims.get(UNSIGNED)
        visitor: JsonObject = NOBODY
        if payload.claims is not None:
            visitor = admit(get_schema(tx, site.id), claims, unsigned if isinstance(unsigned, dict) else {})
        return expires, _make_visitor(tx, context, site, visitor, link=payload.link)
    if asked.named is not None and now() < max(ends) * 1000:
        # It could be the token of any site without a reference. Renderers handle only 404 errors.
        raise _no_reference()
    return None


def _no_reference() -> NotFound:
    return NotFound("This reference doesn't point to a page on this site.")


class _RequestedResource(Struct, frozen=True):
    """Requested resource. It limits the sites that a token can belong to."""

    site_id: str | None
    space_id: str | None
    organization_id: str | None
    named: tuple[NamedKind, str] | None

    def sites(self, tx: Transaction) -> Iterable[SiteRow]:
        if self.site_id is not None:
            site = find_site(tx, self.site_id)
            return [site] if site is not None else []
        if self.space_id is not None:
            return list_sites_of_space(tx, self.space_id)
        if self.named is None:
            return []
        kind, target = self.named
        if kind == "user":
            spaces = list_spaces_naming_person(tx, target)
            found = {site.id: site for space_id in spaces for site in list_sites_of_space(tx, space_id)}
            return found.values()
        return list_sites_of_organization(tx, self.organization_id or "")


def _requested_resource(call: Call) -> _RequestedResource:
    parameters = call.path_parameters
    site_id, space_id = parameters.get("siteId"), parameters.get("spaceId")
    named: tuple[NamedKind, str] | None = None
    if site_id is None and space_id is None:
        if "specSlug" in parameters:
            named = "openapi", parameters["specSlug"]
        elif "userId" in parameters:
            named = "user", parameters["userId"]
        elif "integrationName" in parameters:
            space_id = _space_in_body(call.body)
    return _RequestedResource(site_id, space_id, parameters.get("organizationId"), named)


class _Context(Struct, rename="camel"):
    space_id: str


class _Rendered(Struct):
    context: _Context


_rendered = msgspec.json.Decoder(_Rendered)


def _space_in_body(body: bytes) -> str | None:
    """Return the ID of the space in the body of a request to render an integration block."""
    try:
        return _rendered.decode(body).context.space_id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _is_open(tx: Transaction, site: SiteRow, link_id: str) -> bool:
    if not site.published:
        return False
    if site.visibility != "share-link":
        return True
    link = find_link(tx, site.id, link_id)
    return link is not None and bool(link.active)


def _make_previewing(
    tx: Transaction, context: Context, site: SiteRow, previewed: PreviewGrant, token: str
) -> Visitor:
    return _make_visitor(
        tx,
        context,
        site,
        previewed.visitor,
        preview=token,
        drafted=previewed.drafted,
        drafts=previewed.drafts,
    )


def _make_visitor(
    tx: Transaction,
    context: Context,
    site: SiteRow,
    claims: JsonObject,
    *,
    link: str = "",
    preview: str = "",
    drafted: Drafted | None = None,
    drafts: bool = False,
) -> Visitor:
    base = published_url(context.settings.sites_url, get_organization(tx, site.organization_id), site)
    if link:
        base += f"{share_key(context.signer, link)}/"
    visitor = Visitor(
        site.id,
        site.organization_id,
        site.visibility,
        base,
        claims,
        frozenset(),
        preview,
        drafted,
        drafts,
    )
    shown = visitor_outline(tx, visitor).site_spaces()
    return replace(visitor, spaces=frozenset(one.space_id for one in shown))


recognize_visitors(find_visitor)
