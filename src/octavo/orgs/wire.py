"""Organizations on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..access import ORGANIZATION, permissions
from ..kit.clock import iso
from ..kit.operation import Call
from .store import OrgRow


class ApiInformation(Struct):
    version: str
    build: str


class OrganizationUrls(Struct):
    location: str
    app: str
    logo: str | UnsetType = UNSET


class Trial(Struct, frozen=True):
    status: Literal["notapplicable"] = "notapplicable"
    count: int = 0


class Organization(Struct, rename="camel"):
    id: str
    title: str
    created_at: str
    email_domains: list[str]
    invite_links: bool
    merge_rules: dict[str, Any]
    urls: OrganizationUrls
    permissions: dict[str, bool]
    default_role: str | None
    sso: bool
    ai: bool
    object: Literal["organization"] = "organization"
    hostname: str | UnsetType = UNSET
    default_content: dict[str, Any] | UnsetType = UNSET
    type: Literal["business"] = "business"
    plan: Literal["enterprise_2024"] = "enterprise_2024"
    trial: Trial = Trial()


class CreateOrganization(Struct, rename="camel"):
    title: Annotated[str, Meta(min_length=2, max_length=255, pattern=r"\S")]
    email_domains: Annotated[list[str], Meta(max_length=100)] = []
    onboarding_preferences: dict[str, Any] | None = None


def present_organization(call: Call, org: OrgRow, role: str | None) -> Organization:
    return Organization(
        id=org.id,
        title=org.title,
        created_at=iso(org.created_at),
        email_domains=org.email_domains,
        invite_links=org.settings.invite_links,
        merge_rules=org.settings.merge_rules,
        urls=OrganizationUrls(
            location=call.url(f"/orgs/{org.id}"),
            app=f"{call.settings.url}/o/{org.id}",
            logo=org.settings.logo or UNSET,
        ),
        permissions=permissions(ORGANIZATION, role),
        default_role=org.default_role,
        sso=org.settings.sso,
        ai=org.settings.ai,
        hostname=org.hostname or UNSET,
        default_content=org.settings.default_content or UNSET,
    )
