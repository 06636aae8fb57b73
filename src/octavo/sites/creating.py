"""A new site over spaces of its organization."""

from __future__ import annotations

from collections.abc import Sequence

from ..access import Can, space_access
from ..core.pages import free_slug, slugify
from ..errors import NotFound
from ..kit.db import Transaction
from ..spaces import get_space
from . import store

_BASENAME_MAX = 90


def create_site(
    tx: Transaction,
    *,
    organization_id: str,
    user_id: str,
    title: str | None = None,
    type: str = "basic",
    visibility: str = "public",
    spaces: Sequence[str] = (),
) -> str:
    """Makes an unpublished site; each space must be one of the organization's that the user can see.

    Without a title it takes that of the first space. Raises NotFound naming the space.
    """
    titles = []
    for n, space_id in enumerate(spaces):
        access = space_access(tx, user_id, Can.VIEW, space_id)
        if access.organization_id != organization_id:
            raise NotFound(f"spaces[{n}]: there is no space {space_id!r} in this organization.")
        titles.append(get_space(tx, space_id).title)
    title = title or (titles[0] if titles and len(titles[0]) >= 2 else "Documentation")
    basename, number = slugify(title)[:_BASENAME_MAX], 0
    wanted = basename
    while store.find_site_by_basename(tx, organization_id, basename) is not None:
        number += 1
        basename = f"{wanted}-{number}"
    site_id = store.insert_site(
        tx, organization_id=organization_id, type=type, title=title, basename=basename, visibility=visibility
    )
    paths: list[str] = []
    for space_id, space_title in zip(spaces, titles, strict=True):
        paths.append(free_slug(slugify(space_title), paths))
        store.insert_site_space(tx, site_id, space_id, paths[-1])
    return site_id
