"""Customization, as a reader sees it: without links whose conditions aren't met or whose targets the reader can't
see, and with the assistant's instructions only for administrators."""

from __future__ import annotations

from abc import ABC, abstractmethod

from msgspec import UNSET
from msgspec.structs import replace

from octavo.content.references.viewing import load_view
from octavo.content.revisions.restrictions import HiddenPages, hidden_from, shown_state
from octavo.core.expressions import Shown
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import SITE, Can, at_least

from .model import ContentLink, ContentRef, Customization, HeaderItem, Links


def without_instructions(look: Customization) -> Customization:
    """Return the customization without the assistant's instructions."""
    return replace(look, ai=replace(look.ai, instructions=UNSET))


def shown_to(tx: Transaction, visitor: Visitor, look: Customization) -> Customization:
    """Return the customization for a visitor."""
    return without_instructions(_with_visible_links(look, _VisitorTargets(tx, visitor)))


def shown_to_member(tx: Transaction, site: SiteAccess, look: Customization) -> Customization:
    """Return the customization for a member. People who can change the customization get all links, because
    otherwise saving it would remove the links that they can't see."""
    look = look if site.role == "admin" else without_instructions(look)
    if at_least(site.role, SITE[Can.ADMIN]):
        return look
    return _with_visible_links(look, _MemberTargets(hidden_from(tx, site.organization)))


def _with_visible_links(look: Customization, sees: _Targets) -> Customization:
    header = [shown for item in look.header.links if (shown := sees.item(item)) is not None]
    groups = [replace(group, links=sees.links(group.links)) for group in look.footer.groups]
    announcement = look.announcement
    if announcement is not UNSET and announcement.link is not UNSET and not sees.ref(announcement.link.to):
        announcement = replace(announcement, link=UNSET)
    target = look.header.primary_link
    primary = target if target is not UNSET and sees.ref(target) else UNSET
    return replace(
        look,
        header=replace(look.header, links=header, primary_link=primary),
        footer=replace(look.footer, groups=[group for group in groups if group.links]),
        announcement=announcement,
    )


class _Targets(ABC):
    """Visibility of link targets for a reader."""

    @abstractmethod
    def ref(self, ref: ContentRef) -> bool:
        """Return whether a link can be shown without revealing content that the reader can't see."""

    def item(self, item: HeaderItem) -> HeaderItem | None:
        links = self.links(item.links)
        if item.to is not None and not self.ref(item.to):
            return None
        if item.to is None and item.links and not links:
            return None
        return replace(item, links=links)

    def links(self, links: Links) -> list[ContentLink]:
        return [link for link in links if self.ref(link.to)]


class _MemberTargets(_Targets):
    """Visibility of link targets for a member. Restrictions can hide pages from members."""

    def __init__(self, hidden: HiddenPages) -> None:
        self._hidden = hidden

    def ref(self, ref: ContentRef) -> bool:
        space, page = getattr(ref, "space", UNSET), getattr(ref, "page", UNSET)
        spaces = [space] if isinstance(space, str) else self._hidden.spaces
        return not any(page in self._hidden.of(id) for id in spaces)


class _VisitorTargets(_Targets):
    """Visibility of link targets for a visitor."""

    def __init__(self, tx: Transaction, visitor: Visitor) -> None:
        self._tx = tx
        self._visitor = visitor
        self._holds = Shown({}, {}, visitor.claims).holds

    def item(self, item: HeaderItem) -> HeaderItem | None:
        if isinstance(item.condition, str) and item.condition and not self._holds(item.condition):
            return None
        shown = super().item(item)
        return replace(shown, condition=UNSET) if shown is not None else None

    def ref(self, ref: ContentRef) -> bool:
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
