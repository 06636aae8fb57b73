"""Access to an organization's specifications. Members with a role can see them. Guests can see parts of
specifications in content that they can read, but not the specifications themselves. Site visitors can see a
specification that a page refers to."""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import Forbidden, NotFound, require_found
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import OrgAccess as Organization
from octavo.organization.access.authorization import Visiting, enter_organization, require_visitor
from octavo.organization.access.roles import Can, at_least

OPENAPI: dict[Can, str] = {Can.VIEW: "read", Can.EDIT: "create"}
"""Minimum role in the organization for each ability."""


class SpecsAccess(Struct, frozen=True):
    """The caller's access to an organization's specifications."""

    organization: Organization

    @property
    def actor(self) -> Actor:
        return self.organization.actor

    @property
    def organization_id(self) -> str:
        return self.organization.organization_id

    @property
    def may_edit(self) -> bool:
        return at_least(self.organization.role, OPENAPI[Can.EDIT])


def find_specs_access(org: Organization) -> SpecsAccess | None:
    """Return the caller's access to an organization's specifications, or None if the caller can't see them."""
    return SpecsAccess(org) if at_least(org.role, OPENAPI[Can.VIEW]) else None


class VisitedSpecs(Visiting, frozen=True):
    """A site visitor's access to the specification that a page refers to."""

    organization_id: str


@enters(VisitedSpecs, "organizationId", visitors=True)
def visit_specs(call: Call, needs: Can, organization_id: str) -> VisitedSpecs:
    visitor, asked = require_visitor(call), ("openapi", call.path_parameters.get("specSlug"))
    if visitor.organization_id != organization_id or visitor.named != asked:
        raise NotFound(
            f"There is no organization with the ID {organization_id!r}, or you can't see its API specifications."
        )
    return VisitedSpecs(visitor, organization_id)


@enters(SpecsAccess, "organizationId")
def enter_specs(call: Call, needs: Can, organization_id: str) -> SpecsAccess:
    org = enter_organization(call, Can.VIEW, organization_id)
    specs = require_found(
        find_specs_access(org),
        f"There is no organization with the ID {organization_id!r}, or you can't see its API specifications.",
    )
    if not at_least(org.role, OPENAPI[needs]):
        raise Forbidden(
            f"This operation requires the `{OPENAPI[needs]}` role or higher, but your role is `{org.role}`. Ask an"
            " administrator for access."
        )
    return specs
