"""Parts of a site's structure that one visitor can see. Drafts, parts whose conditions aren't met, and parts
without pages are omitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from octavo.core.expressions import Shown
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Drafted, Visitor

from .store import (
    ExternalLinkRow,
    Node,
    Row,
    SectionGroupRow,
    SectionRow,
    SiteSpaceRow,
    Structure,
    load_structure,
)


class PathLocation(NamedTuple):
    """Site space that contains a path, and the rest of the path. ``begins_there``: whether the path is the
    start of a section or of the site, in which case visitors are redirected to this site space."""

    shown: SiteSpaceRow | None
    rest: str = ""
    begins_there: bool = False


class VisibilityObstacle(NamedTuple):
    """Reason that a part is hidden: its row is a draft, its condition isn't met, or it has no content to show."""

    reason: Literal["draft", "condition", "empty"]
    row: Row


class Outline:
    """Structure of a site for one visitor. Only this class determines which parts readers see.

    ``preview``: whether to include spaces that don't have pages yet. ``drafts``: whether to include drafts.
    ``drafted``: a change request to show instead of the content of its space. If no space of a site has a page, all
    spaces are included.
    """

    def __init__(
        self,
        structure: Structure,
        claims: Mapping[str, object],
        *,
        preview: bool = False,
        drafts: bool = False,
        drafted: Drafted | None = None,
    ) -> None:
        self._structure = structure
        self.drafts = drafts
        self.drafted = drafted
        self.rows = (*structure.ordered(), *structure.ordered_site_spaces())
        """All rows of the structure. Structures with equal rows are equal."""
        self.shown = Shown({}, {}, claims)
        self._compute_visible(frozenset() if preview else structure.empty)
        if not self.site_spaces():
            self._compute_visible(frozenset())

    def _compute_visible(self, without: frozenset[str]) -> None:
        """Compute the visible parts. Parts that show the spaces in ``without`` are excluded."""
        self._without = without
        self._variants = {
            section_id: tuple(
                shown
                for shown in self._structure.variants(section_id)
                if self._gate(shown) is None and shown.space_id not in without
            )
            for section_id in (None, *self._structure.sections)
        }
        self.sections = [
            node for node in self._structure.ordered() if isinstance(node, SectionRow) and self._sees(node)
        ]

    def _meets(self, condition: str | None) -> bool:
        return not condition or self.shown.holds(condition)

    def _sees(self, section: SectionRow) -> bool:
        return self._gate(section) is None and bool(self._variants[section.id])

    def _gate(self, row: Row) -> VisibilityObstacle | None:
        """Return the reason that an entire row is hidden: the row, or a part that contains it, is a draft or has
        a condition that isn't met."""
        draft = self._structure.draft_of(row)
        if draft is not None and not self.drafts:
            return VisibilityObstacle("draft", draft)
        above = self.section(row.section_id) if isinstance(row, SiteSpaceRow) else None
        for one in (above, row):
            if one is not None and not isinstance(one, SectionGroupRow) and not self._meets(one.condition):
                return VisibilityObstacle("condition", one)
        return None

    def obstacle(self, row: Row) -> VisibilityObstacle | None:
        """Return the reason that a part of the site is hidden from this visitor; None if it is visible."""
        gate = self._gate(row)
        if gate is not None:
            return gate
        if isinstance(row, SiteSpaceRow):
            is_empty = row.space_id in self._without
        elif isinstance(row, SectionRow):
            is_empty = not self._variants[row.id]
        else:
            is_empty = isinstance(row, SectionGroupRow) and not self.children(row.id)
        return VisibilityObstacle("empty", row) if is_empty else None

    def variants(self, section: SectionRow | None) -> tuple[SiteSpaceRow, ...]:
        """Return the site spaces of a section, or of a site without sections."""
        return self._variants[section.id if section is not None else None]

    def children(self, group_id: str | None) -> list[Node]:
        """Return the sections and links in a group or at the top level, and the groups that contain sections or
        links."""
        return [node for node in self._structure.children(group_id) if self._is_shown(node)]

    def _is_shown(self, node: Node) -> bool:
        if isinstance(node, SectionRow):
            return node in self.sections
        if isinstance(node, ExternalLinkRow):
            return self._gate(node) is None
        return self._gate(node) is None and bool(self.children(node.id))

    def listed(self, section: SectionRow | None, current: SiteSpaceRow) -> tuple[SiteSpaceRow, ...]:
        """Return the site spaces that a section's navigation lists: those that aren't hidden, and the current one."""
        return tuple(one for one in self.variants(section) if not one.hidden or one.id == current.id)

    def site_spaces(self) -> list[SiteSpaceRow]:
        """Return all visible site spaces in reading order."""
        found = list(self.variants(None))
        for section in self.sections:
            found += self.variants(section)
        return found

    def find(self, site_space_id: str) -> SiteSpaceRow | None:
        return next((shown for shown in self.site_spaces() if shown.id == site_space_id), None)

    def base(self, shown: SiteSpaceRow) -> str:
        return self._structure.base(shown)

    def section(self, section_id: str | None) -> SectionRow | None:
        return self._structure.sections.get(section_id or "")

    def start(self, section: SectionRow | None) -> SiteSpaceRow | None:
        """Return the site space where visitors of a section start: its default or, if that isn't visible, the first
        visible site space in the navigation."""
        variants = self.variants(section)
        default = next((shown for shown in variants if shown.is_default), None)
        return default or next((one for one in variants if not one.hidden), variants[0] if variants else None)

    def locate(self, path: str) -> PathLocation:
        """Return the location of a path on the site for this visitor."""
        first, _, below = path.partition("/")
        section = next((s for s in self.sections if not s.is_default and s.path == first.lower()), None)
        if section is not None:
            path = below
        else:
            section = next((s for s in self.sections if s.is_default), None)
            if section is None and self.sections and not path:
                return PathLocation(self.start(self.sections[0]), begins_there=True)
        first, _, below = path.partition("/")
        variants = self.variants(section)
        chosen = next((one for one in variants if not one.is_default and one.path == first.lower()), None)
        if chosen is not None:
            return PathLocation(chosen, below)
        start = self.start(section)
        if start is None or start.is_default:
            return PathLocation(start, path)
        return PathLocation(None) if path else PathLocation(start, begins_there=True)


def visitor_outline(tx: Transaction, visitor: Visitor) -> Outline:
    """Return the outline of the site that a visitor is viewing."""
    return Outline(
        load_structure(tx, visitor.site_id),
        visitor.claims,
        preview=bool(visitor.preview),
        drafts=visitor.drafts,
        drafted=visitor.drafted,
    )
