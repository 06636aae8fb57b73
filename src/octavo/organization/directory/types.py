"""SCIM names and locations (RFC 7643, RFC 7644)."""

from __future__ import annotations

from octavo.kit.http.operation import Recipient

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
MEDIA_TYPE = "application/scim+json"
CONFIG = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"


def location(to: Recipient, organization_id: str, rest: str) -> str:
    return to.url(f"/orgs/{organization_id}/scim/v2/{rest}")
