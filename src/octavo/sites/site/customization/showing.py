"""Customization, as a reader sees it: without links whose conditions aren't met or whose targets the reader can't
see, and with the assistant's instructions only for administrators."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from octavo.content.references.viewing import load_view
from octavo.content.revisions.restrictions import shown_state
from octavo.core.expressions import Shown
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor

from .model import ContentLink, ContentRef, Customization, HeaderItem, Links


def without_instructions(look: Customization) -> Customization:
    """Return the customization without the assistant's instructions."""
    return replace(look, ai=replace(look.ai, instructions=UNSET))


def shown_to(tx: Transaction, visitor: Visitor, look: Customization) -> Customization:
    """Return the customization for a visitor."""
    sees = _TargetVisibility(tx, visitor)
    header = [shown for item in look.header.links if (shown := sees.item(item)) is not None]
    groups = [replace(group, links=sees.links(group.links)) for group in look.footer.groups]
    announcement = look.announcement
    if announcement is not UNSET and announcement.link is not UNSET and not sees.ref(announcement.link.to):
        announcement = replace(announcement, link=UNSET)
    target = look.header.primary_link
    primary = target if target is not UNSET and sees.ref(target) else UNSET
    return replace(
        without_instructions(look),
        header=replace(look.header, links=header, primary_link=primary),
        footer=replace(look.footer, groups=[group for group in groups if group.links]),
        announcement=announcement,
    )


class _TargetVisibility:
    """Visibility of link targets for a visitor."""

    def __init__(self, tx: Transaction, visitor: Visitor) -> None:
        self._tx = tx
        self._visitor = visitor
        self._holds = Shown({}, {}, visitor.claims).holds

    def item(self, item: HeaderItem) -> HeaderItem | None:
        if isinstance(item.condition, str) and item.condition and not self._holds(item.condition):
            return None
        links = self.links(item.links)
        if item.to is not None and not self.ref(item.to):
            return None
        if item.to is None and item.links and not links:
            return None
        return replace(item, links=links, condition=UNSET)

    def links(self, links: Links) -> list[ContentLink]:
        return [link for link in links if self.ref(link.to)]

    def ref(self, ref: ContentRef) -> bool:
        """Return whether a link can be shown without revealing content that the visitor can't see."""
        space, page = getattr(ref, "space", UNSET), getattr(ref, "page", UNSET)
        if isinstance(space, str) and space not in self._visitor.spaces:
            return False
        if not isinstance(page, str):
            return True
        spaces = [space] if isinstance(space, str) else self._visitor.spaces
        return any(
            load_view(
                self._tx, shown_state(self._tx, self._visitor.drafted, id), self._visitor.claims
            ).tree.page(page)
            is not None
            for id in spaces
        )
