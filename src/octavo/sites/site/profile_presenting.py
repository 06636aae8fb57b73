"""Complete profile of a published site, for external renderers."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import NotFound
from octavo.interchange.gitsync.store import ProjectRow, find
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess, VisitedSite

from .customization.editing import get_customization, list_customizations
from .customization.model import Customization
from .customization.showing import shown_to, shown_to_member, without_instructions
from .profile_wire import Customizations, PublishedSite
from .scripts import list_scripts
from .structure.outline import visitor_outline
from .structure.presenting import ShownStructure
from .wire import present_site


def _role(site: SiteAccess | VisitedSite) -> str | None:
    return site.role if isinstance(site, SiteAccess) else None


def present_profile(
    tx: Transaction, to: Recipient, site: SiteAccess | VisitedSite, share_key: str | None
) -> PublishedSite:
    """Return the profile of a site. Raises NotFound if the site isn't published or the key is unknown."""
    shown = ShownStructure(tx, to, site, share_key)
    if not shown.site.published and isinstance(site, SiteAccess):
        raise NotFound("This site isn't published.")
    whole, of_site_spaces = get_customization(tx, site.site_id), list_customizations(tx, site.site_id)
    scripts = list_scripts(tx, to.context, site.site_id)
    sync = find(tx, ProjectRow, site.site_id) if isinstance(site, SiteAccess) else None
    presented = present_site(to, shown.organization, shown.site, _role(site), sync)
    if isinstance(site, SiteAccess):
        mine = {one.id for one in shown.seen(list(shown.structure.site_spaces.values()))}
        looks = {id: _shown(tx, site, look) for id, look in of_site_spaces.items() if id in mine}
        return PublishedSite(
            presented, shown.whole(), Customizations(_shown(tx, site, whole), looks), scripts
        )
    visitor = site.visitor
    presented.urls.published = visitor.base
    presented.site_spaces = len(visitor.spaces)
    presented.ads = presented.proxy = UNSET
    seen = {one.id for one in visitor_outline(tx, visitor).site_spaces()}
    looks = {id: shown_to(tx, visitor, look) for id, look in of_site_spaces.items() if id in seen}
    return PublishedSite(
        presented, shown.whole(), Customizations(shown_to(tx, visitor, whole), looks), scripts
    )


def _shown(tx: Transaction, site: SiteAccess, look: Customization) -> Customization:
    """Return the customization for a member, without the assistant's instructions."""
    return without_instructions(shown_to_member(tx, site, look))
