"""Declare the tables for sites."""

from __future__ import annotations

from typing import get_args

from octavo.content.images.making import on_variants_created
from octavo.kit.db.tables import Table, declare, file, row
from octavo.organization.spaces.hooks import on_purge

from .locations import check_former_name, check_site
from .redirects.types import Kind as RedirectKind
from .shown_spaces import keep_restrictions
from .store import touch_sites
from .types import SiteType, Visibility

Localized = dict[str, dict[str, str]]
_OF_SITE = "site_id IN (SELECT id FROM sites WHERE organization_id = :org)"

declare(
    Table(
        name="sites",
        of_organization="organization_id = :org",
        values={
            "type": get_args(SiteType),
            "visibility": get_args(Visibility),
            "agents_context": ("included", "excluded"),
        },
        json={"settings": dict, "adaptive_schema": dict, "customization": dict},
        check=check_site,
    ),
    Table(
        name="site_spaces",
        of_organization=_OF_SITE,
        columns=(row("section_id", "site_sections"), row("page_id", "page_versions.page_id")),
        json={"customization": dict, "localized": Localized},
        long=("condition",),
    ),
    Table(
        name="site_external_links",
        of_organization=_OF_SITE,
        columns=(row("group_id", "site_section_groups"),),
        json={"localized": Localized},
        long=("condition", "url"),
    ),
    Table(
        name="site_sections",
        of_organization=_OF_SITE,
        columns=(row("group_id", "site_section_groups"),),
        json={"localized": Localized},
        long=("condition",),
    ),
    Table(
        name="site_section_groups",
        of_organization=_OF_SITE,
        columns=(row("parent_id", "site_section_groups"),),
        json={"localized": Localized},
    ),
    # The database maintains these tables.
    Table(name="site_versions", derived=True),
    Table(name="site_shown_spaces", derived=True),
    Table(name="site_purged_restrictions", stays="only says what people on this server must not see"),
    Table(name="site_former_paths", of_organization=_OF_SITE),
    Table(name="site_former_names", of_organization="organization_id = :org", check=check_former_name),
    Table(
        name="site_redirects",
        of_organization=_OF_SITE,
        columns=(row("page_id", "page_versions.page_id"),),
        values={"kind": get_args(RedirectKind)},
        long=("url",),
    ),
    Table(
        name="site_former_hostnames",
        of_organization="organization_id = :org",
        stays="names are only blocked on the server where they were removed",
    ),
    Table(name="share_links", stays="secret", secrets=("key_hash",)),
    Table(name="site_mcp_servers", stays="secret"),
    Table(
        name="site_look_drafts",
        stays="is a preview of one person on this server",
        json={"customization": dict, "override": dict},
    ),
    Table(name="pictures", of_organization="organization_id = :org", columns=(file("hash"),)),
)
# Cached pages that show images must be re-rendered when variants of these images are ready.
on_variants_created(touch_sites)
on_purge(keep_restrictions)
