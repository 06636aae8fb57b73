"""Apply the branding of an imported source to the site that was created from the source."""

from __future__ import annotations

import posixpath

import msgspec
from msgspec.structs import replace

from octavo.core.problems import Problem
from octavo.core.sources import LOOK_LEFT_OUT
from octavo.interchange.transfer.brand_images import StoredBrand
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess

from . import site_images
from .customization.editing import get_customization, put_customization
from .customization.model import Favicon, PutCustomization, ThemedColor, ThemedUrl


def brand_site(tx: Transaction, context: Context, site: SiteAccess, given: StoredBrand) -> list[Problem]:
    """Apply a source's logo, icon, and colors to a new site. The source's images must already be stored. Return
    problems with parts that can't be used."""
    brand = given.brand
    problems: list[Problem] = []

    def url_of(picture: str) -> str:
        stored = given.images.get(picture)
        if stored is None and picture in brand.pictures:
            problems.append(Problem(picture, 0, LOOK_LEFT_OUT, "the image can't be read"))
            return ""
        if stored is None:
            try:
                return (
                    msgspec.convert({"light": picture, "dark": picture}, ThemedUrl).light if picture else ""
                )
            except msgspec.ValidationError:
                problems.append(Problem("", 0, LOOK_LEFT_OUT, f"{picture[:200]} isn't the URL of an image"))
                return ""
        name = posixpath.basename(picture)
        row = site_images.insert(
            tx, context.files, site.organization_id, site.actor, name, stored.hash, stored.size
        )
        if row is None:
            message = "the file must be a PNG, JPEG, GIF, WebP, SVG, or ICO file"
            problems.append(Problem(picture, 0, LOOK_LEFT_OUT, message))
            return ""
        return site_images.picture_url(context.settings.sites_url, row)

    look = msgspec.convert(msgspec.to_builtins(get_customization(tx, site.site_id)), PutCustomization)
    if brand.color:
        look.styling.primary_color = ThemedColor(brand.color, brand.dark_color)
    logo, dark_logo, favicon = map(url_of, (brand.logo, brand.dark_logo, brand.favicon))
    if logo or dark_logo:
        look.header = replace(look.header, logo=ThemedUrl(logo or dark_logo, dark_logo or logo))
    if favicon:
        look.favicon = Favicon(icon=ThemedUrl(favicon, favicon))
    put_customization(tx, site, look)
    return problems
