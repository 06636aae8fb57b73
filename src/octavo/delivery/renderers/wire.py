"""Wire format of resolved URLs."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from octavo.kit.urls import HttpUrl

Token = Annotated[str, Meta(max_length=32 * 1024)]


class PublishedQuery(Struct, rename="camel"):
    url: HttpUrl
    visitor_auth_token: Annotated[str, Meta(max_length=4096)] | None = None
    redirect_on_error: bool = False


class VisitorPayload(Struct, rename="camel"):
    """Visitor for whom a URL is resolved. ``jwtToken``: the visitor's token, signed with the site's key.
    ``unsignedClaims``: the visitor's unsigned claims."""

    jwt_token: Token | UnsetType = UNSET
    unsigned_claims: dict[str, Any] = field(default_factory=dict)


class ResolveUrl(Struct, rename="camel"):
    """URL to resolve. ``redirectOnError``: whether to redirect a visitor with an invalid token to the sign-in
    page instead of rejecting the request."""

    url: HttpUrl
    redirect_on_error: bool = False
    visitor: VisitorPayload = field(default_factory=VisitorPayload)
