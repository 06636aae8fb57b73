"""What of a site's structure one visitor sees: no drafts, nothing whose condition fails for them, and nothing in which
there is no page."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from octavo.core.expressions import Shown
from octavo.kit.http.operation import Drafted

from .store import GroupRow, SectionRow, SiteSpaceRow, Structure


class Located(NamedTuple):
    """The site space that a path is in, and what follows its address. ``begins_there``: nothing is at the path itself,
    which is the start of a section or the site, and visitors begin at this space."""

    shown: SiteSpaceRow | None
    rest: str = ""
    begins_there: bool = False


class Obstacle(NamedTuple):
    """What keeps visitors from something: a section that is a draft or a condition that fails, of this row, or that
    there is nothing in it."""

    reason: Literal["draft", "condition", "empty"]
    row: SectionRow | GroupRow | SiteSpaceRow


class Outline:
    """What of a site's structure one visitor sees. ``preview``: with spaces that have no page, which members are about
    to fill; ``drafted``: what it shows in place of what a space has. A site in which no space has any page is seen as it
    is, too."""

    def __init__(
        self,
        structure: Structure,
        claims: dict[str, Any],
        *,
        preview: bool = False,
        drafted: Drafted | None = None,
    ) -> None:
        self._structure = structure
        self.drafted = drafted
        self.rows = (*structure.ordered(), *structure.ordered_site_spaces())
        """All that the structure is made of: the same rows, the same structure."""
        self.shown = Shown({}, {}, claims)
        self._hold(frozenset() if preview else structure.empty)
        if not self.site_spaces():
            self._hold(frozenset())

    def _hold(self, without: frozenset[str]) -> None:
        """Sets what is seen, without what shows these spaces."""
        self._without = without
        self._variants = {
            section_id: tuple(
                shown
                for shown in self._structure.variants(section_id)
                if self._meets(shown.condition) and shown.space_id not in without
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

    def _gate(self, section: SectionRow) -> Obstacle | None:
        """What stands before all that is in a section."""
        if section.draft:
            return Obstacle("draft", section)
        return None if self._meets(section.condition) else Obstacle("condition", section)

    def obstacle(self, row: SectionRow | GroupRow | SiteSpaceRow) -> Obstacle | None:
        """What keeps this visitor from a part of the site; None where nothing does."""
        if isinstance(row, GroupRow):
            return None if self.children(row.id) else Obstacle("empty", row)
        section = self.section(row.section_id) if isinstance(row, SiteSpaceRow) else row
        gate = self._gate(section) if section is not None else None
        if gate is not None:
            return gate
        if isinstance(row, SectionRow):
            return None if self._variants[row.id] else Obstacle("empty", row)
        if not self._meets(row.condition):
            return Obstacle("condition", row)
        return Obstacle("empty", row) if row.space_id in self._without else None

    def variants(self, section: SectionRow | None) -> tuple[SiteSpaceRow, ...]:
        """The site spaces of a section, or of a site without sections."""
        return self._variants[section.id if section is not None else None]

    def children(self, group_id: str | None) -> list[SectionRow | GroupRow]:
        """The sections of a group, or at the top, and the groups in which there are any."""
        found = []
        for node in self._structure.children(group_id):
            if node in self.sections if isinstance(node, SectionRow) else self.children(node.id):
                found.append(node)
        return found

    def site_spaces(self) -> list[SiteSpaceRow]:
        """All of them, in reading order."""
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
        """Where visitors of a section begin: its default, else the first that they see."""
        variants = self.variants(section)
        return next((shown for shown in variants if shown.is_default), variants[0] if variants else None)

    def locate(self, path: str) -> Located:
        """Where a path below the site is, for this visitor."""
        first, _, below = path.partition("/")
        section = next((s for s in self.sections if not s.is_default and s.path == first.lower()), None)
        if section is not None:
            path = below
        else:
            section = next((s for s in self.sections if s.is_default), None)
            if section is None and self.sections and not path:
                return Located(self.start(self.sections[0]), begins_there=True)
        first, _, below = path.partition("/")
        variants = self.variants(section)
        chosen = next((one for one in variants if not one.is_default and one.path == first.lower()), None)
        if chosen is not None:
            return Located(chosen, below)
        start = self.start(section)
        if start is None or start.is_default:
            return Located(start, path)
        return Located(None) if path else Located(start, begins_there=True)
