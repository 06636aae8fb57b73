"""Organizations, their members, and their teams."""

from . import tables as tables
from .creating import create_organization, create_organization_for
from .domains import verify_domain_for_operator
from .kinds import MergeRule, RuleName
from .members.store import list_members_by_id
from .members.wire import Member, present_member
from .merge_rules import RuledChange, RuledReview, require_merge_rules
from .store import (
    OrgRow,
    OrgSettings,
    find_organization_by_former_hostname,
    find_organization_by_hostname,
    forget_default_site,
    get_organization,
    is_trusted,
    set_default_site,
    trust_organization,
)
from .teams.store import list_member_ids
from .wire import CreateOrganization, Organization, present_organization

__all__ = [
    "CreateOrganization", "Member", "MergeRule", "OrgRow", "OrgSettings", "Organization", "RuleName",
    "RuledChange", "RuledReview", "create_organization", "create_organization_for",
    "find_organization_by_former_hostname", "find_organization_by_hostname", "forget_default_site",
    "get_organization", "is_trusted", "list_member_ids", "list_members_by_id", "present_member",
    "present_organization", "require_merge_rules", "set_default_site", "trust_organization",
    "verify_domain_for_operator",
]  # fmt: skip
