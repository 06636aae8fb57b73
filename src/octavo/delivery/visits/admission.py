"""Admission to a site: whether a visitor can see it, and the visitor's claims.

Visitors to a site with visitor authentication send a token in the URL, or in a cookie that Octavo sets after
receiving the token. Members who preview a site send one of Octavo's tokens in the same way. A share link's
key is part of the path. Verified and unsigned claims become the ``visitor`` value in conditions, limited to
the site's schema."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode

import msgspec
from msgspec import Struct, field

from octavo.core.expressions import NOBODY
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import escape_address, own_address
from octavo.errors import NotFound, Unauthorized
from octavo.extensions.integrations.on_sites import sign_in_address, sign_out_address
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Drafted
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.audiences.adaptive import get_schema as get_visitor_schema
from octavo.sites.site.audiences.schema import admit as admit_claims
from octavo.sites.site.audiences.share_links import find_link_by_key
from octavo.sites.site.audiences.visitor_auth import MAX_TOKEN, AuthenticatedVisitor
from octavo.sites.site.audiences.visitor_auth import read_token as read_visitor_token
from octavo.sites.site.previewing import PREVIEW, read_preview
from octavo.sites.site.published import published_url
from octavo.sites.site.store import SiteRow
from octavo.sites.site.wire import PROXIED

TOKEN_COOKIE = "octavo-visitor"  # noqa: S105
PREVIEW_COOKIE = "octavo-preview"
_PREVIEW_COOKIE = PREVIEW_COOKIE.encode()
CLAIMS_COOKIE = "octavo-visitor-public"
_THIRD_TOKEN, _THIRD_CLAIMS = "gitbook-visitor-token", "gitbook-visitor-public"
"""Cookies that the site owner's servers set for an entire domain: the token itself, and JSON with unsigned
claims."""
_TOKEN, _CLAIM = "jwt_token", "visitor."
_WEEK = 7 * 86_400
MCP_PATHS = ("~gitbook/mcp", "~mcp")
"""Paths of the MCP server, relative to the site's base URL; the first is the path where tools look for it."""
METADATA_PATH = "/.well-known/oauth-protected-resource"
"""Prefix of the path of an MCP server's metadata (RFC 9728)."""
CONNECT_PATH = "~oauth/authorize"
"""Path, relative to the site's base URL, where a visitor connects an agent to the MCP server."""
_LOCATION = re.compile(r"/(?![/\\])[^\x00-\x1f\x7f-\x9f]*")


class VisitorRequest(Struct, frozen=True):
    """Data about the sender of a request. ``query``: the query parameters in the order of the URL. ``secure``: whether
    the request arrived over https.

    ``bearer``: a visitor's token from a header. ``said``: the unsigned claims. ``site``: the site whose ID is
    in the names of Octavo's cookies. ``agent``: whether the request is for a format for agents. ``until``:
    the expiration time of the agent's token in the request, in milliseconds."""

    query: list[tuple[str, str]]
    cookies: Mapping[str, str]
    secure: bool
    bearer: str | None = None
    said: JsonObject = {}
    site: str = ""
    agent: bool = False
    until: int | None = None

    def own(self, name: str) -> str:
        """Return the name of one of Octavo's cookies."""
        return f"{name}-{self.site}" if self.site else name

    def cookie(self, name: str) -> str | None:
        """Return the value of one of Octavo's cookies."""
        return self.cookies.get(self.own(name))


class RedirectBeforeVisit(Exception):  # noqa: N818
    """Raised to redirect a visitor before the visit.
    ``cookies``: the cookies to set or remove with the redirect.
    ``keeps_query``: whether the redirect keeps the
    query, because the target has the requested content."""

    def __init__(self, location: str, cookies: tuple[str, ...] = (), *, keeps_query: bool = False) -> None:
        super().__init__(location)
        self.location = location
        self.cookies = cookies
        self.keeps_query = keeps_query


class Admission(Struct, frozen=True):
    """Admitted visitor. ``key``: the key of the share link, which is part of the path. ``claims``: the ``visitor``
    value in conditions. ``personal``: whether the visible content depends on more than the path, so that the response
    must not be shared. ``until``: the expiration time of ``proof``, in milliseconds. ``drafted``: the change request
    that a preview shows as if it were merged. ``drafts``: whether the preview shows drafts of the site structure.
    ``look``: the person whose unsaved customization the preview shows. ``theme``: light or dark, overriding the
    customization. ``framed``: whether the site can be shown in a frame of the app. ``proof``: the token of an
    authenticated visitor or of a preview."""

    key: str = ""
    claims: JsonObject = field(default_factory=lambda: NOBODY)
    personal: bool = False
    preview: bool = False
    drafted: Drafted | None = None
    drafts: bool = False
    until: int | None = None
    look: str | None = None
    theme: Literal["light", "dark"] | None = None
    framed: bool = False
    proof: str = ""

    @property
    def has_open_path(self) -> bool:
        """Return whether the path is free of secrets that grant access. The paths of share links and framed previews
        contain secrets."""
        return not self.key and not self.framed

    @property
    def audience(self) -> str:
        """Return a key shared by everyone who sees the same content. It is part of every cache key."""
        if self.personal:
            key = f"{self.key} drafts" if self.drafts else self.key
            return f"{key} {msgspec.json.encode(self.claims, order='sorted').decode()}"
        return f"{self.key} agent" if self.claims.get("agent") else self.key

    def as_agent(self) -> Admission:
        """Return this admission for a request in a format for agents: in conditions, ``visitor.agent`` is true."""
        return msgspec.structs.replace(self, claims={**self.claims, "agent": True})


class AgentProof(NamedTuple):
    """Visitor access that an agent's token represents. ``token``: the token of the visitor who connected the agent.
    ``preview``: whether the visitor connected the agent from a preview. ``until``: the expiration time of the agent's
    own token, in milliseconds."""

    token: str
    preview: bool
    until: int


FindProof = Callable[[Transaction, Context, str, str], AgentProof | None]
_agents: list[FindProof] = []


def recognize_site_agents(find: FindProof) -> None:
    """Register ``find(tx, context, site_id, token)``, which returns the access that a token for a site's MCP
    server represents."""
    _agents.append(find)


def read_visitor_request(query_string: bytes, cookie: str, secure: bool) -> VisitorRequest:
    query = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=1000)
    # Parsed without a library, because other servers on the domain can set any cookies, and a malformed one
    # must not hide the others.
    pairs = (part.strip().partition("=") for part in cookie.split(";"))
    return VisitorRequest(query, {name: value for name, _, value in pairs}, secure)


def asks_for_preview(query_string: bytes, cookie: bytes) -> bool:
    """Return whether a request may come from a member previewing a site, and must therefore bypass shared
    caches."""
    if _PREVIEW_COOKIE in cookie:
        return True
    return bool(query_string) and any(
        name == PREVIEW for name, _ in read_visitor_request(query_string, "", False).query
    )


def admit_framed(tx: Transaction, context: Context, token: str) -> tuple[str, Admission] | None:
    """Return the site and the visitor for the token of a framed preview; None if the token is invalid."""
    found = read_preview(tx, context.signer, token)
    if found is None:
        return None
    return found.site, Admission(
        "",
        found.visitor,
        personal=True,
        preview=True,
        drafted=found.drafted,
        drafts=found.drafts,
        look=found.look,
        theme=found.theme,
        framed=True,
    )


def admit(
    tx: Transaction, context: Context, site: SiteRow, coming: VisitorRequest, base: str, rest: str
) -> tuple[Admission, str, str]:
    """Return the visitor, the base of the site for this visitor, and the rest of the path. Raises NotFound
    if the visitor has no access and the site's existence is secret; Unauthorized if the token is invalid
    or, on the MCP server, if the visitor isn't signed in; and RedirectBeforeVisit if the visitor must be
    redirected first."""
    coming = _of_agent(tx, context, site, coming, rest)
    preview = _preview(tx, context, site, coming, base, rest)
    if preview is not None:
        return preview, base, rest
    if not site.published:
        raise NotFound("No site is published at this URL.")
    key = ""
    if site.visibility == "share-link":
        key, _, below = rest.partition("/")
        if not key or find_link_by_key(tx, site.id, key) is None:
            raise NotFound("No site is published at this URL.")
        base, rest = f"{base}{key}/", below
    signed: AuthenticatedVisitor | None = None
    if site.visibility == "visitor-auth":
        signed = _require_token(tx, context, site, coming, base, rest)
    elif site.settings.adaptive:
        signed = _find_token(tx, context, site, coming)
    return _known(tx, site, coming, signed, key), base, rest


def _of_agent(
    tx: Transaction, context: Context, site: SiteRow, coming: VisitorRequest, rest: str
) -> VisitorRequest:
    """Return an agent's request as if the visitor who connected the agent had sent it. An agent's token is valid only
    for the MCP server of one site."""
    if coming.bearer is None or rest not in MCP_PATHS or site.visibility != "visitor-auth":
        return coming
    found = (find(tx, context, site.id, coming.bearer) for find in _agents)
    proof = next((one for one in found if one is not None), None)
    if proof is None:
        return coming
    cookies = {coming.own(PREVIEW_COOKIE): proof.token} if proof.preview else {}
    bearer = None if proof.preview else proof.token
    return msgspec.structs.replace(coming, cookies=cookies, bearer=bearer, until=proof.until)


def _known(
    tx: Transaction, site: SiteRow, coming: VisitorRequest, signed: AuthenticatedVisitor | None, key: str
) -> Admission:
    ends = [end for end in (signed and signed.until, coming.until) if end is not None]
    until, proof = min(ends, default=None), signed.token if signed is not None else ""
    if not site.settings.adaptive:
        return Admission(key, personal=site.visibility == "visitor-auth", until=until, proof=proof)
    proved = signed.claims if signed is not None else {}
    claims = admit_claims(get_visitor_schema(tx, site.id), proved, _unsigned(coming))
    return Admission(key, claims, personal=True, until=until, proof=proof)


# --- tokens -------------------------------------------------------------------------------------------


def _require_token(
    tx: Transaction, context: Context, site: SiteRow, coming: VisitorRequest, base: str, rest: str
) -> AuthenticatedVisitor:
    given = next((value for name, value in coming.query if name == _TOKEN), None)
    here = f"{base}{quote(rest)}"
    if rest in ("~gitbook/auth/logout", "~logout"):
        gone = (_cookie(TOKEN_COOKIE, "", base, coming, 0), _cookie(CLAIMS_COOKIE, "", base, coming, 0))
        raise RedirectBeforeVisit(_after_sign_out(tx, context, site) or base, gone)
    if given is not None:
        if read_visitor_token(tx, context, site, given) is None:
            raise Unauthorized(
                "The sign-in token (`jwt_token`) isn't signed for this site or has expired. Sign in again."
            )
        raise RedirectBeforeVisit(
            _without(here, coming, _TOKEN), (_cookie(TOKEN_COOKIE, given, base, coming, _WEEK),)
        )
    if rest in ("~gitbook/auth/login", "~login"):
        wanted = next((value for name, value in coming.query if name == "location"), "/")
        raise _sign_in(tx, context, site, wanted)
    signed = _find_token(tx, context, site, coming)
    if signed is None:
        asked = f"/{rest}"
        if rest == CONNECT_PATH:
            # Many sign-in pages append their own query to the location.
            asked += f"/{fold_query(urlencode(coming.query))}"
        sent = _sign_in(tx, context, site, asked)
        is_mcp = rest in MCP_PATHS and isinstance(sent, RedirectBeforeVisit)
        raise _challenge(tx, context, site, coming, rest) if is_mcp else sent
    return signed


def fold_query(query: str) -> str:
    """Return a query encoded as one path segment."""
    return base64.urlsafe_b64encode(query.encode()).rstrip(b"=").decode()


def unfold_query(part: str) -> bytes:
    """Return the query that ``fold_query`` encoded; empty for any other segment."""
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return b""


def _challenge(
    tx: Transaction, context: Context, site: SiteRow, coming: VisitorRequest, rest: str
) -> Unauthorized:
    """Return an error whose header contains the URL of the sign-in instructions for agents (RFC 9728)."""
    sites_url = context.settings.sites_url.rstrip("/")
    # An owner's proxy forwards only paths under the site.
    start = f"{sites_url}{PROXIED}{site.id}/" if site.proxy is not None else public_url(tx, context, site)
    address = own_address(start)
    header = f'Bearer resource_metadata="{address.origin}{METADATA_PATH}{address.path}{rest}"'
    if coming.bearer is not None:
        header += ', error="invalid_token"'
    return Unauthorized(
        "Only authenticated visitors can use this MCP server. Sign in, or send a token in the `Authorization:"
        " Bearer <token>` header.",
        **{"www-authenticate": header},
    )


def public_url(tx: Transaction, context: Context, site: SiteRow) -> str:
    return published_url(context.settings.sites_url, get_organization(tx, site.organization_id), site)


def signs_visitors_in(tx: Transaction, context: Context, site: SiteRow) -> bool:
    """Return whether a site redirects everyone to a sign-in page, which means that its existence isn't
    secret."""
    if not site.published or site.visibility != "visitor-auth":
        return False
    return isinstance(_sign_in(tx, context, site, "/"), RedirectBeforeVisit)


def _find_token(
    tx: Transaction, context: Context, site: SiteRow, coming: VisitorRequest
) -> AuthenticatedVisitor | None:
    """Return the claims and expiration time of a valid token in a cookie."""
    found = (coming.bearer, coming.cookie(TOKEN_COOKIE), coming.cookies.get(_THIRD_TOKEN))
    read = (read_visitor_token(tx, context, site, token) for token in found if token is not None)
    return next((signed for signed in read if signed is not None), None)


def _sign_in(tx: Transaction, context: Context, site: SiteRow, location: str) -> Exception:
    """Return a redirect to the sign-in page: the owner's URL or, by default, the URL of an integration on the site."""
    # Use only a path on this site, because the sign-in service may redirect there without checks. Browsers
    # drop tabs and line breaks in URLs, so `/\t/host` is another host.
    if not _LOCATION.fullmatch(location):
        location = "/"
    auth = site.settings.visitor_auth
    address = sign_in_address(tx, context, site.id, location) if auth.takes_others else None
    if address is None and auth.login_url is not None:
        joint = "&" if "?" in auth.login_url else "?"
        address = f"{escape_address(auth.login_url)}{joint}{urlencode({'location': location})}"
    return RedirectBeforeVisit(address) if address else NotFound("No site is published at this URL.")


def _after_sign_out(tx: Transaction, context: Context, site: SiteRow) -> str | None:
    """Return the URL where the sign-in service also signs visitors out: the integration's URL, or the
    owner's."""
    auth = site.settings.visitor_auth
    address = sign_out_address(tx, context, site.id) if auth.takes_others else None
    return address or (escape_address(auth.logout_url) if auth.logout_url else auth.login_url)


def _preview(
    tx: Transaction, context: Context, site: SiteRow, coming: VisitorRequest, base: str, rest: str
) -> Admission | None:
    given = next((value for name, value in coming.query if name == PREVIEW), None)
    if given is not None:
        found = read_preview(tx, context.signer, given)
        if found is None or found.site != site.id:
            raise NotFound("No site is published at this URL.")
        cookie = _cookie(PREVIEW_COOKIE, given, base, coming, 3600)
        raise RedirectBeforeVisit(_without(f"{base}{quote(rest)}", coming, PREVIEW), (cookie,))
    kept = coming.cookie(PREVIEW_COOKIE)
    found = read_preview(tx, context.signer, kept) if kept is not None else None
    if found is None or found.site != site.id:
        return None
    return Admission(
        "",
        found.visitor,
        personal=True,
        preview=True,
        drafted=found.drafted,
        drafts=found.drafts,
        proof=kept or "",
    )


# --- unsigned claims -------------------------------------------------------------------------------------


def _unsigned(coming: VisitorRequest) -> JsonObject:
    """Return the unsigned claims from cookies, overridden by the claims in the URL (`visitor.beta=true`)."""
    claims: JsonObject = dict(coming.said)
    for name in (_THIRD_CLAIMS, CLAIMS_COOKIE):
        try:
            given = coming.cookie(name) if name == CLAIMS_COOKIE else coming.cookies.get(name)
            text = unquote(given or "{}")[:MAX_TOKEN]
            found = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
        claims |= found
    for name, value in coming.query:
        if name.startswith(_CLAIM) and len(value) <= MAX_TOKEN:
            claims[name.removeprefix(_CLAIM)] = _typed(value)
    return claims


def _typed(text: str) -> object:
    """Return the value of a claim in a URL: a string, a boolean, or a number."""
    try:
        return msgspec.json.decode(text, type=bool | float)
    except msgspec.MsgspecError:
        return text


# --- URLs and cookies ------------------------------------------------------------------------------------


def _without(here: str, coming: VisitorRequest, name: str) -> str:
    """Return the URL without one parameter, because tokens must not be stored in bookmarks and logs."""
    rest = urlencode([(key, value) for key, value in coming.query if key != name])
    return f"{here}?{rest}" if rest else here


def _cookie(name: str, value: str, path: str, coming: VisitorRequest, seconds: int) -> str:
    secure = "; Secure" if coming.secure else ""
    # Without the trailing slash, the cookie is also sent for the site's start URL, with or without a slash.
    path = path.rstrip("/") or "/"
    return f"{coming.own(name)}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
