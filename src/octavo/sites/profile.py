"""All that a published site is, in one answer: what a renderer of its own draws it from."""

from __future__ import annotations

from ..access import SiteAccess
from ..errors import NotFound
from ..kit.db import Transaction
from ..kit.operation import Call
from .customization.editing import get_customization, list_customizations
from .profile_wire import Customizations, PublishedSite
from .scripts import list_scripts
from .structure.presenting import ShownStructure
from .wire import present_site


def present_profile(tx: Transaction, call: Call, site: SiteAccess, share_key: str | None) -> PublishedSite:
    """Raises NotFound for a site that is not published, or a key that opens nothing."""
    shown = ShownStructure(tx, call, site, share_key)
    if not shown.site.published:
        raise NotFound("This site is not published.")
    customizations = Customizations(
        get_customization(tx, site.site_id), list_customizations(tx, site.site_id)
    )
    return PublishedSite(
        present_site(call, shown.organization, shown.site),
        shown.whole(),
        customizations,
        list_scripts(tx, call.context, site.site_id),
    )
