"""This server from the perspective of identity providers."""

from __future__ import annotations

from msgspec import Struct

from octavo.kit.context import Context

_NAMES = {
    "sso_url": "ssoURL",
    "entity_id": "entityID",
    "acs_url": "acsURL",
    "start_url": "startURL",
    "default_team": "defaultTeam",
    "default_role": "defaultRole",
    "idp_initiated": "idpInitiated",
    "created_at": "createdAt",
}


class Service(Struct, rename=_NAMES):
    """Values to enter in the identity provider's settings. The provider must post responses to ``acsURL`` for the
    audience ``entityID``."""

    acs_url: str
    start_url: str
    entity_id: str


def service(context: Context, provider_id: str) -> Service:
    base = context.url(f"/saml/{provider_id}")
    return Service(acs_url=f"{base}/acs", start_url=f"{base}/start", entity_id=f"{base}/metadata")
