"""Create spaces for a site: empty, or with the pages of a template."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from octavo.content.changes.filling import fill, filling_with_template
from octavo.content.changes.wire import TemplateChoice
from octavo.errors import BadRequest, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess, organization_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.creating import create_space
from octavo.organization.spaces.types import UNTITLED


class SpaceToAdd:
    """Space that a request adds to a site: an existing space, or a new space that the request creates."""

    def __init__(self, site: SiteAccess, space_id: str | None, title: str | None) -> None:
        self._site, self._space_id, self._title = site, space_id, title

    def id(self, tx: Transaction) -> str:
        """Return the ID of the space, and create the space if it is new. Raises Forbidden if the caller can't
        create spaces."""
        if self._space_id is None:
            org = organization_access(tx, self._site.actor, Can.CREATE_CONTENT, self._site.organization_id)
            self._space_id = create_space(tx, org, self._title or UNTITLED).id
        return self._space_id


@contextmanager
def space_to_add(
    context: Context,
    site: SiteAccess,
    space_id: str | None,
    template: TemplateChoice | None,
    *,
    title: str | None,
    page_id: str | None = None,
) -> Iterator[SpaceToAdd]:
    """Yield the space to add to a site, and then fill it with the pages of ``template``.

    ``space_id``: an existing space; None to create a new one. Before any object is created, raises BadRequest if a
    template is combined with an existing space, if a home page is combined with a new space, or if the template is
    invalid."""
    if space_id is not None and template is not None:
        raise BadRequest("template: can only be used for a new space. Set `spaceId` to null to create one.")
    if space_id is None and page_id is not None:
        raise BadRequest("pageId: can only be used for an existing space. A new space has no pages yet.")
    make = None
    if template is not None:
        with context.db.read() as tx:
            try:
                make = filling_with_template(tx, site.actor, template.id, template.params.content_refs)
            except (BadRequest, NotFound) as error:
                raise error.inside("template") from None
    added = SpaceToAdd(site, space_id, title)
    yield added
    if make is not None:
        with context.db.read() as tx:
            made = added.id(tx)
        fill(context, site.actor, made, make, lock=False)
