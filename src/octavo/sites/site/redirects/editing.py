"""Create, update, and delete redirects, and resolve their targets."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import UNSET, UnsetType

from octavo.content.revisions.store import find_page, list_ancestors, main_state
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.roles import Can as Ability

from ..store import get_site
from ..structure.changing import get_section, get_site_space, lock
from ..structure.store import Structure, load_structure
from . import store
from .resolving import is_elsewhere
from .store import RedirectRow
from .types import Destination, ToPage, ToSection, ToSiteSpace, ToUrl, columns_of


def get_redirect(tx: Transaction, site_id: str, redirect_id: str) -> RedirectRow:
    found = store.find_redirect(tx, site_id, redirect_id)
    if found is None:
        raise NotFound(f"There is no redirect {redirect_id!r} on this site.")
    return found


def _require_destination(
    tx: Transaction, context: Context, site: SiteAccess, destination: Destination
) -> None:
    """Raise NotFound for a destination that is not on the site, BadRequest for a URL of the server's sites."""
    structure = load_structure(tx, site.site_id)
    match destination:
        case ToSection():
            get_section(structure, destination.site_section_id, "destination.siteSectionId")
        case ToSiteSpace():
            get_site_space(structure, destination.site_space_id, "destination.siteSpaceId")
        case ToPage():
            shown = get_site_space(structure, destination.site_space_id, "destination.siteSpaceId")
            missing = f"destination.pageId: there is no page {destination.page_id!r} in this space."
            if find_space_access(tx, site.actor, Ability.VIEW, shown.space_id) is None:
                raise NotFound(missing)
            if find_page(tx, main_state(tx, shown.space_id), destination.page_id) is None:
                raise NotFound(missing)
        case ToUrl():
            # Such a redirect could lead to itself. Destinations on the site are references, which follow
            # moved pages.
            row = get_site(tx, site.site_id)
            if not is_elsewhere(destination.url, row, context.settings.sites_url):
                raise BadRequest(
                    "destination.url: must be outside of this server's sites."
                    " Choose a section, space, or page for destinations on the site."
                )


def create_redirect(
    tx: Transaction, context: Context, site: SiteAccess, source: str, destination: Destination
) -> RedirectRow:
    """Create a redirect. Raises Conflict if the site already has a redirect from this source, or too many redirects."""
    lock(tx, site.site_id)
    _require_destination(tx, context, site, destination)
    if store.count_redirects(tx, site.site_id) >= store.MAX_REDIRECTS:
        raise Conflict(
            f"A site can have at most {store.MAX_REDIRECTS} redirects. Delete some before adding others."
        )
    _require_free(tx, site.site_id, source)
    redirect_id = store.insert_redirect(tx, site.site_id, source, columns_of(destination))
    state = {"source": source, **columns_of(destination)}
    audit(
        tx,
        site.actor,
        "siteRedirect.created",
        site.organization_id,
        ("siteRedirect", redirect_id),
        after=state,
    )
    return get_redirect(tx, site.site_id, redirect_id)


def _require_free(tx: Transaction, site_id: str, source: str) -> None:
    if store.find_by_key(tx, site_id, store.source_key(source)) is not None:
        raise Conflict(f"source: there is already a redirect from {source!r}. Edit or delete it instead.")


def update_redirect(
    tx: Transaction,
    context: Context,
    site: SiteAccess,
    redirect_id: str,
    source: str | UnsetType,
    destination: Destination | UnsetType,
) -> RedirectRow:
    """Update a redirect. Raises the errors of ``create_redirect``."""
    lock(tx, site.site_id)
    before = get_redirect(tx, site.site_id, redirect_id)
    values: dict[str, str | None] = {}
    if source is not UNSET:
        if store.source_key(source) != store.source_key(before.source):
            _require_free(tx, site.site_id, source)
        values |= {"source": source, "source_key": store.source_key(source)}
    if destination is not UNSET:
        _require_destination(tx, context, site, destination)
        values |= columns_of(destination)
    if values:
        store.update_redirect(tx, redirect_id, values)
        was = {name: getattr(before, name) for name in values if hasattr(before, name)}
        target = ("siteRedirect", redirect_id)
        audit(tx, site.actor, "siteRedirect.updated", site.organization_id, target, before=was, after=values)
    return get_redirect(tx, site.site_id, redirect_id)


def delete_redirect(tx: Transaction, site: SiteAccess, redirect_id: str) -> bool:
    """Delete a redirect; return False if it does not exist."""
    found = store.find_redirect(tx, site.site_id, redirect_id)
    if found is None:
        return False
    store.delete_redirect(tx, redirect_id)
    target = ("siteRedirect", redirect_id)
    audit(
        tx, site.actor, "siteRedirect.removed", site.organization_id, target, before={"source": found.source}
    )
    return True


def target_of(tx: Transaction, actor: Actor, structure: Structure, row: RedirectRow) -> str | None:
    """Return the target of a redirect, for members: a path below the site (quoted, without a leading slash),
    or a complete URL. None if its target is no longer shown, or in a space that they cannot see."""
    if row.url is not None:
        return row.url
    if row.section_id is not None:
        section = structure.sections.get(row.section_id)
        first = structure.default_site_space(section.id) if section is not None else None
    else:
        first = structure.site_spaces.get(row.site_space_id or "")
    if first is None or find_space_access(tx, actor, Ability.VIEW, first.space_id) is None:
        return None
    base = quote(structure.base(first))
    if row.page_id is None:
        return base
    state = main_state(tx, first.space_id)
    page = find_page(tx, state, row.page_id)
    if page is None:
        return base
    slugs = [above.slug for above in list_ancestors(tx, state, page)] + [page.slug]
    return f"{base}{quote('/'.join(slugs))}"
