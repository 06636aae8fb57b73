"""Stored format of a reference in ``content_references``."""

from __future__ import annotations

from msgspec import Struct

from octavo.content.revisions.versions import current_version

Place = tuple[str, str, int]
"""Space, owner, and position among the owner's references."""

IS_CURRENT = f"r.version = {current_version('r.space_id', 'r.owner_id')}"
"""SQL condition for rows of ``content_references r`` of the current version; other rows are invisible."""


class Row(Struct, frozen=True):
    """Stored reference from a page or item to a target."""

    space_id: str
    owner_id: str
    place: int
    owner_kind: str
    node: str | None
    type: str
    relation: str
    written: str
    kind: str
    target_space: str | None
    target: str | None
    anchor: str | None
    status: str
    target_key: str
    asked: str

    @property
    def at(self) -> Place:
        return self.space_id, self.owner_id, self.place


COLUMNS = Row.__struct_fields__
