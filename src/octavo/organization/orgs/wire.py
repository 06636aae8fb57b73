"""Wire format of organizations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import TWO_SIGNS, pattern
from octavo.kit.urls import HttpUrl
from octavo.organization.access.permitting import permissions, reach_for
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import RoleOrGuest

from .domains import record_of
from .store import OrgRow, Proof
from .types import Hostname, MergeRules, SitePointer

Domain = Annotated[
    str,
    Meta(
        max_length=253,
        pattern=pattern(
            r"^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}\Z",
            "be a domain, such as example.com",
        ),
    ),
]
"""Hostname that can follow the @ in an email address."""


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


class Organization(Struct, rename="camel", kw_only=True):
    id: str
    title: str
    created_at: str
    email_domains: list[str]
    verified_email_domains: list[str]
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


class DnsRecord(Struct):
    """DNS record that verifies a domain."""

    name: str
    value: str
    type: Literal["TXT"] = "TXT"


class EmailDomain(Struct, rename="camel"):
    """Email domain. After it is verified, people with an address in it can join. ``proof``: the method of
    verification."""

    domain: str
    verified: bool
    record: DnsRecord
    proof: Proof | UnsetType = UNSET
    verified_at: str | UnsetType = UNSET


class EmailDomains(Struct):
    items: list[EmailDomain]


class CreateOrganization(Struct, rename="camel"):
    title: Annotated[str, Meta(min_length=2, max_length=255, pattern=TWO_SIGNS)]
    email_domains: Annotated[list[Domain], Meta(max_length=100)] = []
    onboarding_preferences: dict[str, Any] | None = None


class UpdateOrganization(Struct, rename="camel", kw_only=True):
    title: Annotated[str, Meta(min_length=2, max_length=255, pattern=TWO_SIGNS)] | UnsetType = UNSET
    email_domains: Annotated[list[Domain], Meta(max_length=100)] | UnsetType = UNSET
    hostname: Hostname | UnsetType = UNSET
    default_role: RoleOrGuest | UnsetType = UNSET
    default_content: SitePointer | None | UnsetType = UNSET
    logo: HttpUrl | None | UnsetType = UNSET
    sso: bool | UnsetType = UNSET
    ai: bool | UnsetType = UNSET
    invite_links: bool | UnsetType = UNSET
    merge_rules: MergeRules | UnsetType = UNSET


class FoundOrganizations(Struct):
    organizations: list[Organization]


def present_organization(
    to: Recipient, org: OrgRow, role: str | None, *, owns_team: bool = False
) -> Organization:
    """Return an organization. ``owns_team``: whether the caller owns a team in it; irrelevant for
    administrators."""
    may = permissions("organization", role, reach_for(to))
    if owns_team:
        may = {
            **may,
            Can.OWN_TEAM.value: permissions("organization", "admin", reach_for(to))[Can.OWN_TEAM.value],
        }
    return Organization(
        id=org.id,
        title=org.title,
        created_at=iso(org.created_at),
        email_domains=org.email_domains,
        verified_email_domains=[domain for domain in org.email_domains if domain in org.proved],
        invite_links=org.settings.invite_links,
        merge_rules=org.settings.merge_rules,
        urls=OrganizationUrls(
            location=to.url(f"/orgs/{org.id}"),
            app=to.app.organization(org.id),
            logo=org.settings.logo or UNSET,
        ),
        permissions=may,
        default_role=org.default_role,
        sso=org.settings.sso,
        ai=org.settings.ai,
        hostname=org.hostname or UNSET,
        default_content=org.settings.default_content or UNSET,
    )


def present_domain(to: Recipient, org: OrgRow, domain: str) -> EmailDomain:
    proof = org.proved.get(domain)
    return EmailDomain(
        domain,
        proof is not None,
        DnsRecord(*record_of(to.context, org.id, domain)),
        proof.proof if proof else UNSET,
        iso(proof.proved_at) if proof else UNSET,
    )


def present_to_outsider(to: Recipient, org: OrgRow, domain: str) -> Organization:
    """Return an organization, without its settings and people, for a person who could join it by email
    domain."""
    shown = present_organization(to, org, None)
    shown.email_domains = shown.verified_email_domains = [domain]
    shown.merge_rules = {"type": "none"}
    shown.permissions = {**shown.permissions, Can.VIEW.value: False, Can.ACCESS.value: False}
    shown.default_content = UNSET
    return shown
