"""Fonts and files of sites."""

from __future__ import annotations

from ...errors import NotFound
from ...fonts import find_face
from ...kit.asgi import Answer
from ...kit.files import FileGrant
from ...visits import (
    SiteVisit,
    SpaceVisit,
)
from ..answers import file_answer, not_found
from ..table import View, route


@route("readFont", "~fonts/{font}/{name}")
def read_font(view: View, visit: SiteVisit, font: str, name: str) -> Answer:
    """A font of the organization, for the pages of its sites."""
    grant = find_face(view.tx, visit.organization_id, font, name)
    if grant is None:
        raise NotFound("There is nothing at this address.")
    return file_answer(view.context, grant, None, public=visit.indexed and not visit.admission.personal)


@route("readSiteFile", "~files/{file}/{name}")
def read_file(view: View, visit: SpaceVisit, file: str, name: str) -> Answer:
    # The id is looked up among the files of this very revision of this very space.
    item = visit.view.item(file, "file")
    if item is None or not item.content:
        return not_found(view, visit)
    grant = FileGrant(item.content, item.name, item.content_type or "application/octet-stream")
    public = visit.visit.indexed and not visit.visit.admission.personal
    return file_answer(view.context, grant, item.size, public=public)
