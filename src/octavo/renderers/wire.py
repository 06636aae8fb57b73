"""What an address of a published site means, on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

Address = Annotated[str, Meta(max_length=2048, pattern=r"^https?://.*\Z")]
Token = Annotated[str, Meta(max_length=32 * 1024)]


class PublishedQuery(Struct, rename="camel"):
    url: Address
    visitor_auth_token: Annotated[str, Meta(max_length=4096)] | None = None
    redirect_on_error: bool = False


class VisitorPayload(Struct, rename="camel"):
    """``jwtToken``: signed with the key of the site. ``unsignedClaims``: what visitors say of themselves."""

    jwt_token: Token | UnsetType = UNSET
    unsigned_claims: dict[str, Any] = field(default_factory=dict)


class ResolveUrl(Struct, rename="camel"):
    """``redirectOnError``: a visitor with a bad token is sent to sign in again instead of being refused."""

    url: Address
    redirect_on_error: bool = False
    visitor: VisitorPayload = field(default_factory=VisitorPayload)


class Redirection(Struct):
    """``content``: another address of a site; ``external``: anything else."""

    target: Literal["application", "content", "external"]
    redirect: str


class PublishedContent(Struct, rename="camel"):
    """What an address of a site shows. ``complete``: nothing that could follow in the path would choose another
    section, variant or share link. ``basePath``, ``siteBasePath``, ``canonicalUrl``: as URLs write them, for headers that
    know no other letters; ``pathname``: as pages are called. ``apiToken``: reads what this visitor sees.
    ``changeRequest`` and ``revision``: what a preview shows in place of what the space has."""

    organization: str
    site: str
    site_space: str
    space: str
    pathname: str
    base_path: str
    site_base_path: str
    canonical_url: str
    complete: bool
    api_token: str
    site_section: str | UnsetType = UNSET
    share_key: str | UnsetType = UNSET
    context_id: str | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET


Published = Redirection | PublishedContent
