"""Organizations."""

from . import tables as tables
from .creating import create_organization
from .settings import require_merge_rules
from .store import OrgRow, OrgSettings, find_organization_by_hostname, get_organization
from .wire import MergeRule, Organization, present_organization

__all__ = [
    "MergeRule", "OrgRow", "OrgSettings", "Organization", "create_organization",
    "find_organization_by_hostname", "get_organization", "present_organization", "require_merge_rules",
    "tables",
]  # fmt: skip
