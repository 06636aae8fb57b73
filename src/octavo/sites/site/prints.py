"""Style of a space's PDFs: the fonts, colors, and logo of the site that shows the space."""

from __future__ import annotations

from msgspec import UNSET

from octavo.core.color import Oklch
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.orgs.store import get_organization
from octavo.sites.fonts.built_in import FONTS, printed_files
from octavo.sites.fonts.serving import list_faces
from octavo.sites.printing.styles import FontFile, PrintLook, register_look_finder

from .customization.colors import site_theme
from .customization.editing import look_of
from .customization.model import FontDefinition
from .published import published_url
from .store import list_sites_of_space
from .structure.store import load_structure


def find_print_look(context: Context, tx: Transaction, space_id: str) -> PrintLook | None:
    """Return the style of the oldest published site that shows the space; None if there is no such site."""
    shown = [site for site in list_sites_of_space(tx, space_id) if site.published]
    if not shown:
        return None
    site = min(shown, key=lambda one: (one.created_at, one.id))
    structure = load_structure(tx, site.id)
    places = [one for one in structure.site_spaces.values() if one.space_id == space_id]
    place = next((one for one in places if not structure.is_draft(one)), None)
    if place is None:
        return None
    look = look_of(tx, site.id, place.id)
    colors = site_theme(look.styling).light
    # Without a header logo, the footer logo is used, as on cards.
    logo = look.header.logo if look.header.logo is not UNSET else look.footer.logo
    organization = get_organization(tx, site.organization_id)
    return PrintLook(
        site=site.title,
        address=published_url(context.settings.sites_url, organization, site),
        logo=logo.light if logo is not UNSET else None,
        colors={
            "accent": _numbers(colors["primary"]),
            **{name: _numbers(colors[name]) for name in ("info", "success", "warning", "danger")},
        },
        text=_font(tx, site.organization_id, look.styling.font),
        mono=_font(tx, site.organization_id, look.styling.monospace_font),
    )


def _font(tx: Transaction, organization_id: str, chosen: str | FontDefinition) -> tuple[FontFile, ...]:
    """Return the files of a font; empty if the font doesn't exist or must not be embedded."""
    if isinstance(chosen, FontDefinition):
        faces = list_faces(tx, organization_id, chosen.id)
        return tuple(FontFile(content=content, weights=(weight,)) for weight, content in faces)
    font = FONTS.get(chosen)
    if font is None:
        return ()
    return tuple(
        FontFile(name=name, weights=weights, group=group, italic=italic)
        for name, weights, group, italic in printed_files(font)
    )


def _numbers(color: Oklch) -> tuple[float, float, float]:
    return (round(color.l, 4), round(color.c, 4), round(color.h, 2))


register_look_finder(find_print_look)
