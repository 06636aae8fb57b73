"""Create sites with an organization's spaces."""

from __future__ import annotations

from collections.abc import Sequence

from octavo.core.free_names import free_name
from octavo.core.pages import ranks, slugify
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.spaces.store import get_space

from . import store
from .structure.changing import RESERVED
from .structure.store import insert_site_space

_BASENAME_MAX = 90


def create_site(
    tx: Transaction,
    *,
    organization_id: str,
    title: str | None = None,
    type: str = "basic",
    visibility: str = "public",
    spaces: Sequence[str] = (),
) -> str:
    """Create an unpublished site with spaces of the organization, and return its ID.

    Without a title, the site gets the title of the first space. Raises BadRequest if a space is listed twice, and
    NotFound, naming the space, if a space doesn't belong to the organization. The caller must have checked access to
    the spaces."""
    titles = []
    for n, space_id in enumerate(spaces):
        if space_id in spaces[:n]:
            raise BadRequest(f"spaces[{n}]: {space_id!r} is listed twice")
        space = get_space(tx, space_id)
        if space.organization_id != organization_id or space.deleted_at is not None:
            raise NotFound(f"spaces[{n}]: there is no space with the ID {space_id!r} in this organization")
        titles.append(space.title)
    title = title or (titles[0] if titles and len(titles[0]) >= 2 else "Documentation")
    basename = free_name(
        slugify(title)[:_BASENAME_MAX],
        lambda name: store.find_site_by_basename(tx, organization_id, name) is not None,
    )
    site_id = store.insert_site(
        tx, organization_id=organization_id, type=type, title=title, basename=basename, visibility=visibility
    )
    paths: list[str] = []
    for space_id, space_title, rank in zip(spaces, titles, ranks(len(spaces)), strict=True):
        paths.append(free_name(slugify(space_title)[:_BASENAME_MAX], {*paths, *RESERVED}.__contains__))
        insert_site_space(
            tx, site_id, space_id, section_id=None, rank=rank, path=paths[-1], is_default=len(paths) == 1
        )
    return site_id
