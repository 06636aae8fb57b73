"""Routes for a site's fonts and files."""

from __future__ import annotations

import re

from octavo.content.images.store import VARIANT_TYPE, ImageVariant, find_scaled_images, variant_name
from octavo.content.revisions.item_versions import Item
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit
from octavo.errors import NotFound
from octavo.kit.files import FileGrant
from octavo.kit.http.edge import Answer
from octavo.sites.fonts.serving import find_face

from ..answers import file_answer, not_found
from ..table import View, route


@route("readFont", "~fonts/{font}/{name}")
def read_font(view: View, visit: SiteVisit, font: str, name: str) -> Answer:
    """Return one of the organization's fonts, for the pages of its sites."""
    grant = find_face(view.tx, visit.organization_id, font, name)
    if grant is None:
        raise NotFound("There is no page at this URL.")
    return file_answer(view.context, grant, None, public=visit.indexed and not visit.admission.personal)


@route("readSiteFile", "~files/{file}/{name}")
def read_file(view: View, visit: SpaceVisit, file: str, name: str) -> Answer:
    # Look up the id only among the files in this revision of the space.
    item = visit.view.item(file, "file")
    if item is None or not item.content:
        return not_found(view, visit)
    return _file_answer(view, visit, item)


@route("readSiteImage", "~files/{file}/{width}/{name}")
def read_image(view: View, visit: SpaceVisit, file: str, width: str, name: str) -> Answer:
    """Return an image scaled to a width, for visitors who can see the file. If the image isn't available in this
    width, return the original, because a cached page may still link to that width."""
    item = visit.view.item(file, "file")
    if item is None or not item.content or not re.fullmatch(r"[1-9][0-9]{2,3}", width):
        return not_found(view, visit)
    found = find_scaled_images(view.tx, visit.view.state.space_id, [item.content]).get(item.content)
    variants = found.variants if found is not None else ()
    return _file_answer(view, visit, item, next((one for one in variants if one.width == int(width)), None))


def _file_answer(view: View, visit: SpaceVisit, item: Item, variant: ImageVariant | None = None) -> Answer:
    public = visit.visit.indexed and not visit.visit.admission.personal
    if variant is not None:
        grant = FileGrant(variant.file, variant_name(item.name), VARIANT_TYPE)
        return file_answer(view.context, grant, variant.size, public=public)
    assert item.content is not None
    grant = FileGrant(item.content, item.name, item.content_type or "application/octet-stream")
    return file_answer(view.context, grant, item.size, public=public)
