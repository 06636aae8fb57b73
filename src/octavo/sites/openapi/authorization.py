"""Whoever may see an organization's specifications: its members with a role. Guests see what is drawn of them in the
content that they may read, and not the specifications themselves. Visitors of a site see the one that a page names to
them."""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import Forbidden, NotFound
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import OrgAccess as Organization
from octavo.organization.access.authorization import Visiting, enter_organization, require_visitor
from octavo.organization.access.roles import Can, at_least

OPENAPI: dict[Can, str] = {Can.VIEW: "read", Can.EDIT: "create"}
"""The least role in the organization for each ability."""


class SpecsAccess(Struct, frozen=True):
    """The caller at the specifications of an organization."""

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


def specs_seen(org: Organization) -> SpecsAccess | None:
    """The specifications of an organization, for those who see them."""
    return SpecsAccess(org) if at_least(org.role, OPENAPI[Can.VIEW]) else None


class VisitedSpecs(Visiting, frozen=True):
    """A visitor of a site at the one specification that a page names to them."""

    organization_id: str


@enters(VisitedSpecs, "organizationId", visitors=True)
def visit_specs(call: Call, needs: Can, organization_id: str) -> VisitedSpecs:
    visitor, asked = require_visitor(call), ("openapi", call.path_parameters.get("specSlug"))
    if visitor.organization_id != organization_id or visitor.named != asked:
        raise NotFound(f"There is no organization {organization_id!r} whose specifications you may see.")
    return VisitedSpecs(visitor, organization_id)


@enters(SpecsAccess, "organizationId")
def enter_specs(call: Call, needs: Can, organization_id: str) -> SpecsAccess:
    org = enter_organization(call, Can.VIEW, organization_id)
    specs = specs_seen(org)
    if specs is None:
        raise NotFound(f"There is no organization {organization_id!r} whose specifications you may see.")
    if not at_least(org.role, OPENAPI[needs]):
        raise Forbidden(
            f"This needs the role `{OPENAPI[needs]}` or a higher one here; you have `{org.role}`."
        )
    return specs
