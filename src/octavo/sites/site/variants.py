"""Show imported versions and languages as variants on a site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from octavo.core.docs_config import DocsConfig, DocsEntry
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.interchange.transfer.brand_images import StoredBrand
from octavo.interchange.transfer.variants import on_variants
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Recipient
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, site_access
from octavo.organization.access.roles import Can

from . import store
from .branding import brand_site
from .creating import create_site
from .publishing import require_publishable
from .redirects.importing import redirect_old_urls
from .structure.arranging import arrange_site
from .structure.changing import add_site_space, update_site_space
from .structure.store import load_structure


@on_variants
def arrange_variants(
    tx: Transaction,
    context: Context,
    actor: Actor,
    organization_id: str,
    title: str,
    structure: Sequence[DocsEntry],
    spaces: Mapping[str, str],
    parts: Mapping[str, Source],
    brand: StoredBrand,
) -> tuple[str, list[Problem]]:
    """Show spaces as variants on the site that already shows the first space, or on a new site. Return the ID of the
    site and the problems found. Raises Forbidden or NotFound if the actor doesn't have access to the site or the
    spaces."""
    problems: list[Problem] = []
    first = next((entry for entry in structure if entry.default), structure[0])
    site_id = store.find_site_of_space(tx, spaces[first.key])
    if site_id is None:
        site_id = create_site(tx, organization_id=organization_id, title=title)
        site = site_access(tx, actor, Can.ADMIN, organization_id, site_id)
        require_publishable(tx, site.organization, dict(spaces))
        arrange_site(tx, site_id, DocsConfig(title=title, structure=list(structure)), spaces, "", by=site)
        audit(tx, actor, "site.created", organization_id, ("site", site_id), after={"title": title})
        problems += brand_site(tx, context, site, brand)
    else:
        site = site_access(tx, actor, Can.ADMIN, organization_id, site_id)
        require_publishable(tx, site.organization, dict(spaces))
        _add(tx, site, structure, spaces, spaces[first.key])
    for entry in structure:
        if not entry.default:
            problems += redirect_old_urls(
                tx, Recipient(context=context), site, spaces[entry.key], parts[entry.key].addresses
            )
    return site_id, problems


def _add(
    tx: Transaction, site: SiteAccess, structure: Sequence[DocsEntry], spaces: Mapping[str, str], first: str
) -> None:
    """Add the spaces that the site doesn't show yet after the first space."""
    shown = load_structure(tx, site.site_id)
    beside = next(row for row in shown.site_spaces.values() if row.space_id == first)
    there = {row.space_id for row in shown.variants(beside.section_id)}
    for entry in structure:
        if spaces[entry.key] in there:
            continue
        made = add_site_space(tx, site, spaces[entry.key], beside.section_id)
        if entry.path is not None and not any(
            row.path == entry.path for row in load_structure(tx, site.site_id).variants(beside.section_id)
        ):
            update_site_space(tx, site, made, {"path": entry.path})
