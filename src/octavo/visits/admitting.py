"""Who comes to a site: whether they may see it, and what is known of them.

Visitors of a site for signed visitors bring a token, in the address or in a cookie that we set once the address had
one. Members who preview a site bring a token of ours, likewise. A share link's key is part of the path. What was
proved, and what visitors say of themselves, becomes the ``visitor`` that conditions ask, as far as the schema of the
site knows it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode

import msgspec
from msgspec import Struct, field

from ..core.addresses import escape_address, own_address
from ..core.expressions import NOBODY
from ..errors import NotFound, Unauthorized
from ..integrations import sign_in_address, sign_out_address
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.operation import Drafted
from ..orgs import get_organization
from ..sites import (
    MAX_TOKEN,
    PREVIEW,
    PROXIED,
    Signed,
    SiteRow,
    admit_claims,
    find_link_by_key,
    get_visitor_schema,
    published_url,
    read_preview,
    read_visitor_token,
)

TOKEN_COOKIE = "octavo-visitor"  # noqa: S105
PREVIEW_COOKIE = "octavo-preview"
_PREVIEW_COOKIE = PREVIEW_COOKIE.encode()
CLAIMS_COOKIE = "octavo-visitor-public"
_THIRD_TOKEN, _THIRD_CLAIMS = "gitbook-visitor-token", "gitbook-visitor-public"
"""Cookies that servers of the owner set for a whole domain: the token as it is, and JSON of unsigned claims."""
_TOKEN, _CLAIM = "jwt_token", "visitor."
_WEEK = 7 * 86_400
MCP_PATHS = ("~gitbook/mcp", "~mcp")
"""Of the MCP server, below the base of a site; the first one is known to tools that look for it."""
METADATA_PATH = "/.well-known/oauth-protected-resource"
"""What the path of an MCP server's metadata begins with (RFC 9728)."""
CONNECT_PATH = "~oauth/authorize"
"""Where a visitor connects an agent to the MCP server, below the base of a site."""
_LOCATION = re.compile(r"/(?![/\\])[^\x00-\x1f\x7f-\x9f]*")


class Coming(Struct, frozen=True):
    """What a request says of its sender. ``query`` in the order of the address; ``secure``: it came by https.
    ``bearer``: a visitor's token that came in a header; ``said``: claims that nobody signed. ``site``: of which our
    cookies have the id in their names. ``agent``: what is asked for is a form that programs read. ``until``: when the
    agent's token ends that a request came with, in milliseconds."""

    query: list[tuple[str, str]]
    cookies: Mapping[str, str]
    secure: bool
    bearer: str | None = None
    said: dict[str, Any] = {}
    site: str = ""
    agent: bool = False
    until: int | None = None

    def own(self, name: str) -> str:
        """What a cookie of ours is called."""
        return f"{name}-{self.site}" if self.site else name

    def cookie(self, name: str) -> str | None:
        """A cookie of ours."""
        return self.cookies.get(self.own(name))


class SendOn(Exception):  # noqa: N818
    """Whoever comes is to go elsewhere first; ``cookies`` are set or removed on the way. ``keeps_query``: what they
    asked for is there, and what they said in the query still holds."""

    def __init__(self, location: str, cookies: tuple[str, ...] = (), *, keeps_query: bool = False) -> None:
        super().__init__(location)
        self.location = location
        self.cookies = cookies
        self.keeps_query = keeps_query


class Admission(Struct, frozen=True):
    """Somebody who may see a site. ``key``: the share link's, part of the path. ``claims``: the ``visitor`` of
    conditions. ``personal``: what they see depends on more than the path, and is for them alone. ``until``: when what
    they proved ends, in milliseconds. ``drafted``: a change request that a preview shows as if it were merged, ``look``: the person whose tried look it
    shows, ``theme``: light or dark, whatever the look says, ``framed``: it may be in a frame of the app. ``proof``: the
    token of an authenticated visitor or of a preview, by which they were let in."""

    key: str = ""
    claims: dict[str, Any] = field(default_factory=lambda: NOBODY)
    personal: bool = False
    preview: bool = False
    drafted: Drafted | None = None
    until: int | None = None
    look: str | None = None
    theme: Literal["light", "dark"] | None = None
    framed: bool = False
    proof: str = ""

    @property
    def has_open_path(self) -> bool:
        """Whether nobody comes in by what is in the path, as with a share link and a preview in a frame."""
        return not self.key and not self.framed

    @property
    def audience(self) -> str:
        """What tells apart those who see different things; part of the key of whatever is kept."""
        if self.personal:
            return f"{self.key} {msgspec.json.encode(self.claims, order='sorted').decode()}"
        return f"{self.key} agent" if self.claims.get("agent") else self.key

    def as_agent(self) -> Admission:
        """The same visitor, who asks for what programs read: conditions find ``visitor.agent`` true."""
        return msgspec.structs.replace(self, claims={**self.claims, "agent": True})


class AgentProof(NamedTuple):
    """What an agent's token stands for: the token of the visitor who connected it, or of their ``preview``. ``until``:
    when the agent's own token ends, in milliseconds."""

    token: str
    preview: bool
    until: int


FindProof = Callable[[Transaction, Context, str, str], AgentProof | None]
_agents: list[FindProof] = []


def recognize_site_agents(find: FindProof) -> None:
    """Registers ``find(tx, context, site_id, token)``: what a token for the MCP server of a site stands for."""
    _agents.append(find)


def read_coming(query_string: bytes, cookie: str, secure: bool) -> Coming:
    query = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=1000)
    # By hand: other servers of the domain set what they like, and one odd cookie must not hide the others.
    pairs = (part.strip().partition("=") for part in cookie.split(";"))
    return Coming(query, {name: value for name, _, value in pairs}, secure)


def asks_for_preview(query_string: bytes, cookie: bytes) -> bool:
    """Whether a request may be somebody's who previews a site: then nothing answers it that was kept for others."""
    if _PREVIEW_COOKIE in cookie:
        return True
    return bool(query_string) and any(
        name == PREVIEW for name, _ in read_coming(query_string, "", False).query
    )


def admit_framed(tx: Transaction, context: Context, token: str) -> tuple[str, Admission] | None:
    """The site that the token of a preview in a frame shows, and its visitor; None for a token that is not good."""
    found = read_preview(tx, context.signer, token)
    if found is None:
        return None
    return found.site, Admission(
        "",
        found.visitor,
        personal=True,
        preview=True,
        drafted=found.drafted,
        look=found.look,
        theme=found.theme,
        framed=True,
    )


def admit(
    tx: Transaction, context: Context, site: SiteRow, coming: Coming, base: str, rest: str
) -> tuple[Admission, str, str]:
    """The visitor, the base of the site for them, and what follows it. Raises NotFound where nobody is to know that
    there is a site, Unauthorized for a bad token and at the MCP server for who is not signed in, SendOn."""
    coming = _of_agent(tx, context, site, coming, rest)
    preview = _preview(tx, context, site, coming, base, rest)
    if preview is not None:
        return preview, base, rest
    if not site.published:
        raise NotFound("There is no published site at this address.")
    key = ""
    if site.visibility == "share-link":
        key, _, below = rest.partition("/")
        if not key or find_link_by_key(tx, site.id, key) is None:
            raise NotFound("There is no published site at this address.")
        base, rest = f"{base}{key}/", below
    signed: Signed | None = None
    if site.visibility == "visitor-auth":
        signed = _require_token(tx, context, site, coming, base, rest)
    elif site.settings.adaptive:
        signed = _find_token(tx, context, site, coming)
    return _known(tx, site, coming, signed, key), base, rest


def _of_agent(tx: Transaction, context: Context, site: SiteRow, coming: Coming, rest: str) -> Coming:
    """The request as the visitor would send it who connected the agent that sends it. An agent's token is good for the
    MCP server of one site alone."""
    if coming.bearer is None or rest not in MCP_PATHS or site.visibility != "visitor-auth":
        return coming
    found = (find(tx, context, site.id, coming.bearer) for find in _agents)
    proof = next((one for one in found if one is not None), None)
    if proof is None:
        return coming
    cookies = {coming.own(PREVIEW_COOKIE): proof.token} if proof.preview else {}
    bearer = None if proof.preview else proof.token
    return msgspec.structs.replace(coming, cookies=cookies, bearer=bearer, until=proof.until)


def _known(tx: Transaction, site: SiteRow, coming: Coming, signed: Signed | None, key: str) -> Admission:
    ends = [end for end in (signed and signed.until, coming.until) if end is not None]
    until, proof = min(ends, default=None), signed.token if signed is not None else ""
    if not site.settings.adaptive:
        return Admission(key, personal=site.visibility == "visitor-auth", until=until, proof=proof)
    proved = signed.claims if signed is not None else {}
    claims = admit_claims(get_visitor_schema(tx, site.id), proved, _unsigned(coming))
    return Admission(key, claims, personal=True, until=until, proof=proof)


# --- tokens -------------------------------------------------------------------------------------------


def _require_token(
    tx: Transaction, context: Context, site: SiteRow, coming: Coming, base: str, rest: str
) -> Signed:
    given = next((value for name, value in coming.query if name == _TOKEN), None)
    here = f"{base}{quote(rest)}"
    if rest in ("~gitbook/auth/logout", "~logout"):
        gone = (_cookie(TOKEN_COOKIE, "", base, coming, 0), _cookie(CLAIMS_COOKIE, "", base, coming, 0))
        raise SendOn(_after_sign_out(tx, context, site) or base, gone)
    if given is not None:
        if read_visitor_token(tx, context, site, given) is None:
            raise Unauthorized("jwt_token: this token is not signed for this site, or has expired.")
        raise SendOn(_without(here, coming, _TOKEN), (_cookie(TOKEN_COOKIE, given, base, coming, _WEEK),))
    if rest in ("~gitbook/auth/login", "~login"):
        wanted = next((value for name, value in coming.query if name == "location"), "/")
        raise _sign_in(tx, context, site, wanted)
    signed = _find_token(tx, context, site, coming)
    if signed is None:
        asked = f"/{rest}"
        if rest == CONNECT_PATH:
            # Many sign-in pages put a query of their own behind the location.
            asked += f"/{fold_query(urlencode(coming.query))}"
        sent = _sign_in(tx, context, site, asked)
        is_mcp = rest in MCP_PATHS and isinstance(sent, SendOn)
        raise _challenge(tx, context, site, coming, rest) if is_mcp else sent
    return signed


def fold_query(query: str) -> str:
    """A query as one part of a path."""
    return base64.urlsafe_b64encode(query.encode()).rstrip(b"=").decode()


def unfold_query(part: str) -> bytes:
    """What ``fold_query`` folded; nothing for what it did not."""
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return b""


def _challenge(tx: Transaction, context: Context, site: SiteRow, coming: Coming, rest: str) -> Unauthorized:
    """What tells an agent where it is told how its person signs in (RFC 9728)."""
    sites_url = context.settings.sites_url.rstrip("/")
    # A proxy of the owner's forwards what is below the site, and nothing else.
    start = f"{sites_url}{PROXIED}{site.id}/" if site.proxy is not None else public_url(tx, context, site)
    address = own_address(start)
    told = f'Bearer resource_metadata="{address.origin}{METADATA_PATH}{address.path}{rest}"'
    if coming.bearer is not None:
        told += ', error="invalid_token"'
    return Unauthorized(
        "Only authenticated visitors can use this MCP server. Sign in, or send a token: Authorization: Bearer <token>.",
        **{"www-authenticate": told},
    )


def public_url(tx: Transaction, context: Context, site: SiteRow) -> str:
    return published_url(context.settings.sites_url, get_organization(tx, site.organization_id), site)


def signs_visitors_in(tx: Transaction, context: Context, site: SiteRow) -> bool:
    """Whether a site sends everybody who comes to it to a sign-in page, so that it is no secret that it is there."""
    if not site.published or site.visibility != "visitor-auth":
        return False
    return isinstance(_sign_in(tx, context, site, "/"), SendOn)


def _find_token(tx: Transaction, context: Context, site: SiteRow, coming: Coming) -> Signed | None:
    """What a good token in a cookie proves."""
    found = (coming.bearer, coming.cookie(TOKEN_COOKIE), coming.cookies.get(_THIRD_TOKEN))
    read = (read_visitor_token(tx, context, site, token) for token in found if token is not None)
    return next((signed for signed in read if signed is not None), None)


def _sign_in(tx: Transaction, context: Context, site: SiteRow, location: str) -> Exception:
    """Sends a visitor to sign in: to the address of the owner's, else through an integration on the site."""
    # A path of this site and nothing else: who signs people in may send them there as it stands.
    # Browsers drop tabs and line breaks of an address, so that `/\t/host` is another host.
    if not _LOCATION.fullmatch(location):
        location = "/"
    auth = site.settings.visitor_auth
    address = sign_in_address(tx, context, site.id, location) if auth.takes_others else None
    if address is None and auth.login_url is not None:
        joint = "&" if "?" in auth.login_url else "?"
        address = f"{escape_address(auth.login_url)}{joint}{urlencode({'location': location})}"
    return SendOn(address) if address else NotFound("There is no published site at this address.")


def _after_sign_out(tx: Transaction, context: Context, site: SiteRow) -> str | None:
    """Where who signs people in ends that, too: the address of the owner's, or an integration."""
    auth = site.settings.visitor_auth
    told = sign_out_address(tx, context, site.id) if auth.takes_others else None
    return told or auth.login_url


def _preview(
    tx: Transaction, context: Context, site: SiteRow, coming: Coming, base: str, rest: str
) -> Admission | None:
    given = next((value for name, value in coming.query if name == PREVIEW), None)
    if given is not None:
        found = read_preview(tx, context.signer, given)
        if found is None or found.site != site.id:
            raise NotFound("There is no published site at this address.")
        cookie = _cookie(PREVIEW_COOKIE, given, base, coming, 3600)
        raise SendOn(_without(f"{base}{quote(rest)}", coming, PREVIEW), (cookie,))
    kept = coming.cookie(PREVIEW_COOKIE)
    found = read_preview(tx, context.signer, kept) if kept is not None else None
    if found is None or found.site != site.id:
        return None
    return Admission("", found.visitor, personal=True, preview=True, drafted=found.drafted, proof=kept or "")


# --- what visitors say of themselves ----------------------------------------------------------------------


def _unsigned(coming: Coming) -> dict[str, Any]:
    """Unsigned claims: of the cookies, and over them those of the address (`visitor.beta=true`)."""
    claims: dict[str, Any] = dict(coming.said)
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


def _typed(text: str) -> Any:
    """A claim of an address: what reads as a boolean or a number is one."""
    try:
        return msgspec.json.decode(text, type=bool | float)
    except msgspec.MsgspecError:
        return text


# --- addresses and cookies ----------------------------------------------------------------------------


def _without(here: str, coming: Coming, name: str) -> str:
    """The address without one parameter: a token must not stay where it is bookmarked and logged."""
    rest = urlencode([(key, value) for key, value in coming.query if key != name])
    return f"{here}?{rest}" if rest else here


def _cookie(name: str, value: str, path: str, coming: Coming, seconds: int) -> str:
    secure = "; Secure" if coming.secure else ""
    # Without the slash at its end it is also sent for the start of the site, however that is spelled.
    path = path.rstrip("/") or "/"
    return f"{coming.own(name)}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
