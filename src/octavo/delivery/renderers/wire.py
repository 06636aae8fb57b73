"""What an address of a published site means, on the wire."""

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
    """``jwtToken``: signed with the key of the site. ``unsignedClaims``: what visitors say of themselves."""

    jwt_token: Token | UnsetType = UNSET
    unsigned_claims: dict[str, Any] = field(default_factory=dict)


class ResolveUrl(Struct, rename="camel"):
    """``redirectOnError``: a visitor with a bad token is sent to sign in again instead of being refused."""

    url: HttpUrl
    redirect_on_error: bool = False
    visitor: VisitorPayload = field(default_factory=VisitorPayload)
