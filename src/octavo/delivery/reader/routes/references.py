"""Data for API reference pages: the list of operations, and the specification itself."""

from __future__ import annotations

from urllib.parse import parse_qs

import msgspec

from octavo.content.revisions.expanding import requester_at
from octavo.delivery.visits.authorization import SpaceVisit
from octavo.errors import NotFound, require_found
from octavo.kit.http.edge import Answer, etag_of
from octavo.sites.openapi.exporting import export
from octavo.sites.openapi.pages import can_export, find_reference

from ..answers import revalidated_answer
from ..operations import find_access_form, list_shown_models, list_shown_operations
from ..table import Later, View, route
from .trying import SIGNED_IN


@route("readOperations", "~operations.json")
def read_operations(view: View, visit: SpaceVisit) -> Answer:
    """Return the operations that a space's pages show, for the filter above the navigation."""
    return revalidated_answer(msgspec.json.encode(list_shown_operations(visit)), "application/json")


@route("readModels", "~models.json")
def read_models(view: View, visit: SpaceVisit) -> Answer:
    """Return the models that a page lists, for the filter above the list. Raises NotFound if the page has
    no such list."""
    page_id = parse_qs(view.request.query_string.decode("latin-1")).get("page", [""])[0]
    listed = require_found(list_shown_models(view.tx, visit, page_id), "This page doesn't list models.")
    return revalidated_answer(msgspec.json.encode(listed), "application/json")


@route("readAccess", "~access.json")
def read_access(view: View, visit: SpaceVisit) -> Answer:
    """Return the fields of an authentication page's form. Raises NotFound if the page has no such form."""
    page_id = parse_qs(view.request.query_string.decode("latin-1")).get("page", [""])[0]
    page = visit.view.tree.page(page_id)
    form = find_access_form(view.tx, visit, page) if page is not None else None
    if form is None:
        raise NotFound("This page doesn't have a form for API credentials.")
    form.signed_in = f"{visit.visit.base}{SIGNED_IN}"
    return revalidated_answer(msgspec.json.encode(form), "application/json")


@route("readSpecification", "~specification", pool="calls")
def read_specification(view: View, visit: SpaceVisit) -> Later:
    """Return the complete specification that a page is generated from. Raises NotFound if the site's
    authors don't offer it."""
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page_id, form = (query.get(name, [""])[0] for name in ("page", "as"))
    page = visit.view.tree.page(page_id)
    asker = requester_at(view.tx, visit.view.state.space_id, None)
    found = find_reference(view.tx, asker, page) if page is not None and can_export(page) else None
    if found is None:
        raise NotFound("This page doesn't offer its specification for download.")
    description, _ = found

    def answer() -> Answer:
        made = export(description, form)
        headers = {
            "content-disposition": f'attachment; filename="{made.name}"',
            "x-content-type-options": "nosniff",
            "cache-control": "private, no-cache",
        }
        return Answer(200, made.content, made.media_type, headers, etag_of(made.content), again=True)

    return Later(visit.visit.organization_id, answer)
