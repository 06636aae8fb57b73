"""Move parts of a structure before or after another part and into that part's group."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

from octavo.core.pages import rank_between, ranks
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess

from . import store
from .changing import (
    change_structure,
    get_group,
    get_link,
    get_section,
    get_site_space,
    note,
    require_outside,
)
from .store import Row, SectionGroupRow, SiteSpaceRow, Structure

Kind = Literal["site-space", "site-section", "site-section-group", "site-external-link"]
_NOUNS: dict[Kind, str] = {
    "site-space": "siteSpace",
    "site-section": "siteSection",
    "site-section-group": "siteSectionGroup",
    "site-external-link": "siteExternalLink",
}
"""Names of the parts of a structure in the audit log."""


class StructurePart(NamedTuple):
    """Part of a structure specified in a request. ``field``: the name of the request field."""

    kind: Kind
    id: str
    field: str = ""


def _get(structure: Structure, item: StructurePart) -> Row:
    if item.kind == "site-space":
        return get_site_space(structure, item.id, item.field)
    if item.kind == "site-section":
        return get_section(structure, item.id, item.field)
    if item.kind == "site-external-link":
        return get_link(structure, item.id, item.field)
    return get_group(structure, item.id, item.field)


def move(
    tx: Transaction,
    site: SiteAccess,
    moved: StructurePart,
    *,
    before: StructurePart | None,
    after: StructurePart | None,
) -> None:
    """Move a part to a position among parts of its kind: site spaces within their section; sections, groups, and links
    anywhere in the structure.

    Raises NotFound if a part isn't on this site, and BadRequest if the part can't be moved to the position."""
    with change_structure(tx, site.site_id, site) as structure:
        row = _get(structure, moved)
        found = []
        for neighbor, step in ((before, 0), (after, 1)):
            if neighbor is not None:
                found.append((neighbor, _get(structure, neighbor), step))
        if not found:
            raise BadRequest("position: provide `before`, `after`, or both")
        places = {_place(structure, row, *one) for one in found}
        if len(places) > 1:
            raise BadRequest("position: `before` and `after` must be adjacent items")
        parent, index = places.pop()
        siblings = [other for other in _siblings(structure, row, parent) if other.id != row.id]
        rank = _rank_at(tx, siblings, index)
        if isinstance(row, SiteSpaceRow):
            store.update_row(tx, row, rank=rank)
        elif isinstance(row, SectionGroupRow):
            require_outside(structure, row, parent, "position")
            store.update_row(tx, row, rank=rank, parent_id=parent)
        else:
            store.update_row(tx, row, rank=rank, group_id=parent)
    kind = _NOUNS[moved.kind]
    note(tx, site, f"{kind}.moved", (kind, moved.id))


def _parent(structure: Structure, row: Row) -> str | None:
    return row.section_id if isinstance(row, SiteSpaceRow) else structure.parent(row)


def _siblings(structure: Structure, row: Row, parent: str | None) -> list[Row]:
    if isinstance(row, SiteSpaceRow):
        return cast("list[Row]", structure.variants(parent))
    return cast("list[Row]", structure.children(parent))


def _place(
    structure: Structure, row: Row, neighbor: StructurePart, at: Row, step: int
) -> tuple[str | None, int]:
    """Return the parent of a neighbor, and the position to move to among the parent's other children."""
    if isinstance(row, SiteSpaceRow) != isinstance(at, SiteSpaceRow):
        raise BadRequest(f"{neighbor.field}: must not be a {neighbor.kind}. Choose an item of the same kind.")
    if at.id == row.id:
        raise BadRequest(f"{neighbor.field}: must not be the item that you're moving. Choose another item.")
    parent = _parent(structure, at)
    if isinstance(row, SiteSpaceRow) and parent != row.section_id:
        raise BadRequest(
            f"{neighbor.field}: must be in the same section. A site space can only be moved within its"
            " section."
        )
    others = [other.id for other in _siblings(structure, row, parent) if other.id != row.id]
    return parent, others.index(at.id) + step


def _rank_at(tx: Transaction, siblings: list[Row], index: int) -> str:
    low = siblings[index - 1].rank if index else None
    high = siblings[index].rank if index < len(siblings) else None
    if low is not None and low == high:
        # Both were added at the same time and have the same rank, so all ranks are renewed.
        spread = ranks(len(siblings))
        for other, rank in zip(siblings, spread, strict=True):
            store.update_row(tx, other, rank=rank)
        return rank_between(spread[index - 1], spread[index])
    return rank_between(low, high)
