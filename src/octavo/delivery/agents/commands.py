"""A person's consent to an app that requests to act on their behalf."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.http.operation import AgentScope
from octavo.kit.texts import pattern
from octavo.organization.access.api_scopes import ApiScope

MAX_DAYS = 365
_Short = Annotated[str, Meta(min_length=1, max_length=200)]


class ConnectAgent(Struct, rename="camel"):
    """Request from an app, with the parameters of the authorization URL and the permissions that the person granted.
    ``scopes``: the scopes, either for tools or for the API. ``days``: the number of days for which access is
    granted."""

    organization: _Short
    client_id: Annotated[str, Meta(min_length=1, max_length=500)]
    redirect_uri: Annotated[str, Meta(min_length=1, max_length=2000)]
    code_challenge: Annotated[
        str,
        Meta(
            pattern=pattern(
                r"^[A-Za-z0-9_-]{43}\Z", "be a SHA-256 hash in base64url, which has 43 characters"
            )
        ),
    ]
    scopes: Annotated[list[AgentScope | ApiScope], Meta(min_length=1, max_length=40)]
    days: Annotated[int, Meta(ge=1, le=MAX_DAYS)] = 90
    state: Annotated[str, Meta(max_length=2000)] | UnsetType = UNSET
