"""Organizations."""

from .creating import create_organization
from .store import OrgRow, OrgSettings, find_organization_by_hostname, get_organization
from .wire import Organization, present_organization

__all__ = [
    "OrgRow", "OrgSettings", "Organization", "create_organization", "find_organization_by_hostname",
    "get_organization", "present_organization",
]  # fmt: skip
