"""Operations on organization limits. Server administrators set the limits, and the administrators of each
organization can see them."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from . import limit_warnings
from .authorization import OperatorAccess
from .limit_warnings import set_limits_by
from .wire import OrganizationLimits, OrganizationUsage, present_usage

operation = Area("access").operation

__all__ = ["limit_warnings"]

_LIMITS = "/installation/organizations/{organizationId}/limits"


@operation("getOrganizationLimits", "GET", _LIMITS, needs=Can.OPERATE, errors=(404,))
def get_limits(call: Call, operator: OperatorAccess, organization_id: str) -> OrganizationUsage:
    """Get an organization's limits and current usage."""
    with call.db.read() as tx:
        get_organization(tx, organization_id)
        return present_usage(tx, organization_id)


@operation("setOrganizationLimits", "PUT", _LIMITS, needs=Can.OPERATE, errors=(404,))
def put_limits(
    call: Call, operator: OperatorAccess, organization_id: str, body: OrganizationLimits
) -> OrganizationUsage:
    """Set an organization's limits. Omitted resources are unlimited. An organization that exceeds a limit keeps all
    of its content, but can't add more. The change is recorded in the organization's audit log."""
    with call.db.write() as tx:
        get_organization(tx, organization_id)
        set_limits_by(tx, operator.actor, organization_id, body.read())
        tx.after_commit(call.context.organization_rates.forget)
        return present_usage(tx, organization_id)


@operation("getOrganizationUsage", "GET", "/orgs/{organizationId}/usage", needs=Can.ADMIN)
def get_usage(call: Call, org: OrgAccess) -> OrganizationUsage:
    """Get an organization's current usage, its usage on each of the last days, and the limits set by the server
    administrator."""
    with call.db.read() as tx:
        return present_usage(tx, org.organization_id)
