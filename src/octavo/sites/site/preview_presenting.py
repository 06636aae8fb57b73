"""Present the site content that a visitor with certain claims can see, and the reasons that other content is hidden.
This module uses the same outline, views, and documents as the reader, and reports what they show and hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from octavo.content.references.mentions import documents_for
from octavo.content.references.showing import ViewDocuments
from octavo.content.references.viewing import SiteVisitor, SpaceView, load_view
from octavo.content.revisions.restrictions import shown_state
from octavo.core.expressions import Shown
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Next, Slice, decode_token, slice_items, slice_rows
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.spaces.store import list_spaces_by_id

from .audiences.wire import (
    Obstacle,
    PretendedCondition,
    PretendedEntry,
    PretendedListing,
    PretendedObject,
    PretendedPart,
    PretendedQuery,
)
from .previewing import read_claims, require_seeing_all
from .store import get_site
from .structure.changing import get_site_space, load_seen_structure
from .structure.outline import Outline
from .structure.store import Row, SectionGroupRow, SectionRow, SiteSpaceRow, Structure

_EXCERPT = 200


def list_entries(
    tx: Transaction, context: Context, site: SiteAccess, query: PretendedQuery
) -> PretendedListing:
    """List the sections and variants of a site, or the pages of one of its site spaces, in reading order.
    Raises Forbidden if the caller can't see all spaces of the site, BadRequest if the claims are invalid,
    and NotFound if the site space belongs to another site."""
    structure = load_seen_structure(tx, site)
    require_seeing_all(tx, site, structure)
    given, visitor = read_claims(tx, site.site_id, query.claims)
    row = get_site(tx, site.site_id)
    outline = Outline(structure, visitor)
    parts = _Parts(tx, site, structure, outline)
    if query.site_space is None:
        found = parts.slice(query)
        entries = [parts.entry(one, level) for one, level, _ in found.rows]
        total, following = found.count, found.next_token
    else:
        shown = get_site_space(structure, query.site_space, "siteSpace")
        seen = frozenset(one.space_id for one in outline.site_spaces())

        def view(space_id: str) -> SpaceView:
            return load_view(tx, shown_state(tx, None, space_id), visitor)

        pages = _Pages(
            view(shown.space_id),
            documents_for(
                tx, view(shown.space_id), SiteVisitor(tx, seen.__contains__, view), context.settings.url
            ),
            seen,
            outline.base(shown),
            parts.obstacle(shown),
        )
        lines = pages.slice(query)
        entries = [pages.entry(page, level) for page, level in lines.rows]
        total, following = lines.count, lines.next_token
    return PretendedListing(
        items=entries,
        count=total,
        next=Next(following) if following is not None else UNSET,
        claims=visitor["claims"],
        ignored=list(_ignored_claims(given, visitor["claims"])),
        enabled=row.settings.adaptive,
    )


def _ignored_claims(
    given: Mapping[str, object], admitted: Mapping[str, object], above: str = ""
) -> Iterator[str]:
    """Yield the names of claims that the schema doesn't define, with dotted names for nested claims."""
    for name, value in given.items():
        known = admitted.get(name)
        if isinstance(value, dict) and isinstance(known, dict):
            yield from _ignored_claims(value, known, f"{above}{name}.")
        elif known is None or isinstance(known, dict):
            yield f"{above}{name}"


def _evaluate_condition(shown: Shown, expression: str | None) -> PretendedCondition | UnsetType:
    return _present_condition(shown, expression, shown.holds(expression)) if expression else UNSET


def _present_condition(shown: Shown, expression: str, holds: bool) -> PretendedCondition:
    return PretendedCondition(expression, holds, (None if holds else shown.problem(expression)) or UNSET)


# --- sections and variants -------------------------------------------------------------------------------


class _PlacedRow(NamedTuple):
    row: Row
    level: int
    key: str


class _Parts:
    """Sections and variants of a site."""

    def __init__(self, tx: Transaction, site: SiteAccess, structure: Structure, outline: Outline) -> None:
        self._structure = structure
        self._outline = outline
        spaces = {shown.space_id for shown in structure.site_spaces.values()}
        self._titles = {
            id: space.title
            for id, (space, _) in list_spaces_by_id(tx, site.organization, sorted(spaces)).items()
        }

    def slice(self, query: PretendedQuery) -> Slice[_PlacedRow]:
        rows = sorted(self._rows(), key=lambda placed: placed.key)
        return slice_items(rows, query.limit, query.page, lambda placed: placed.key)

    def _rows(self) -> Iterator[_PlacedRow]:
        structure = self._structure
        for shown in structure.variants(None):
            yield _PlacedRow(shown, 0, f"0{structure.key(shown)}")
        for node in structure.ordered():
            level = structure.depth(structure.parent(node))
            yield _PlacedRow(node, level, f"1{structure.key(node)}")
            for shown in structure.variants(node.id) if isinstance(node, SectionRow) else ():
                yield _PlacedRow(shown, level + 1, f"1{structure.key(shown)}")

    def entry(self, row: Row, level: int) -> PretendedEntry:
        obstacle = self.obstacle(row)
        return PretendedEntry(
            object=_object_of(row),
            id=row.id,
            title=self._title(row),
            level=level,
            visible=obstacle is None,
            listed=obstacle is None and not (isinstance(row, SiteSpaceRow) and row.hidden),
            path=self._outline.base(row) if isinstance(row, SiteSpaceRow) else UNSET,
            condition=self._condition(row),
            hidden_by=obstacle or UNSET,
        )

    def obstacle(self, row: Row) -> Obstacle | None:
        found = self._outline.obstacle(row)
        if found is None:
            return None
        condition = self._condition(found.row) if found.reason == "condition" else UNSET
        return Obstacle(_object_of(found.row), found.row.id, self._title(found.row), found.reason, condition)

    def _condition(self, row: Row) -> PretendedCondition | UnsetType:
        return _evaluate_condition(
            self._outline.shown, None if isinstance(row, SectionGroupRow) else row.condition
        )

    def _title(self, row: Row) -> str:
        if isinstance(row, SiteSpaceRow):
            return row.title or self._titles[row.space_id]
        return row.title


def _object_of(row: Row) -> PretendedObject:
    if isinstance(row, SiteSpaceRow):
        return "site-space"
    if isinstance(row, SectionRow):
        return "site-section"
    return "site-section-group" if isinstance(row, SectionGroupRow) else "site-external-link"


# --- pages -----------------------------------------------------------------------------------------------

_Line = tuple[Page, int]
"""Page with a key that sorts it among all pages, level by level."""


class _Pages:
    """Pages of a site space. ``seen``: the spaces that the visitor can see. ``base``: the path of the site space.
    ``obstacle``: the reason that the entire site space is hidden from the visitor."""

    def __init__(
        self,
        view: SpaceView,
        documents: ViewDocuments,
        seen: frozenset[str],
        base: str,
        obstacle: Obstacle | None,
    ) -> None:
        self._view = view
        self._documents = documents
        self._seen = seen
        self._base = base
        self._obstacle = obstacle

    def slice(self, query: PretendedQuery) -> Slice[_Line]:
        """Return some of the pages in reading order. Tokens contain the number of previous pages and the ID of the last
        one. They don't contain its rank, because ranks depend on siblings that the caller can't see."""
        passed, last_id = decode_token(query.page, int, str) or (0, "")
        lines = list(_lines(self._view.every))
        # If the page was deleted, the pages after it have moved up.
        gone = max(passed - 1, 0) if last_id else 0
        start = next((n for n, (page, _) in enumerate(lines, 1) if page.id == last_id), gone)
        rows = lines[start : start + query.limit + 1]
        return slice_rows(rows, query.limit, len(lines), lambda line: (start + query.limit, line[0].id))

    def entry(self, page: Page, level: int) -> PretendedEntry:
        tree, shown = self._view.tree, self._view.shown(page)
        obstacle = self._obstacle or self._find_obstacle(page)
        is_document = page.kind == "document"
        place = tree.url_path(page) if obstacle is None else self._view.every.path(page)
        return PretendedEntry(
            object="page",
            id=page.id,
            title=page.title,
            level=level,
            visible=obstacle is None,
            listed=obstacle is None and not tree.is_hidden(page),
            path=f"{self._base}{place}" if is_document else UNSET,
            condition=_evaluate_condition(shown, page.condition),
            hidden_by=obstacle or UNSET,
            parts=self._parts(page, shown) if is_document and obstacle is None else UNSET,
        )

    def _find_obstacle(self, page: Page) -> Obstacle | None:
        tree = self._view.tree
        for above in (*self._view.every.ancestors(page), page):
            if above.id in tree.withheld:
                condition = _evaluate_condition(self._view.shown(above), above.condition)
                return Obstacle("page", above.id, above.title, "condition", condition)
        if page.kind == "link" and self._is_closed(self._documents.target(page)):
            return Obstacle("page", page.id, page.title, "target")
        if page.kind in ("group", "computed") and _is_empty(tree, page):
            return Obstacle("page", page.id, page.title, "empty")
        return None

    def _is_closed(self, target: Mapping[str, object]) -> bool:
        """Return whether a link points to content that this visitor can't see."""
        own = self._view.state.space_id
        return self._view.is_withheld(target) or target.get("space", own) not in {own, *self._seen}

    def _parts(self, page: Page, shown: Shown) -> list[PretendedPart]:
        return [
            PretendedPart(
                " ".join(decision.text.split())[:_EXCERPT],
                _present_condition(shown, decision.expression, decision.holds),
            )
            for decision in self._documents.decisions(page)
        ]


def _lines(tree: PageTree) -> Iterator[_Line]:
    """Yield the pages of a tree in reading order, each with its level."""
    stack: list[_Line] = [(page, 0) for page in reversed(tree.children.get(None, []))]
    while stack:
        page, level = stack.pop()
        yield page, level
        stack += [(child, level + 1) for child in reversed(tree.children.get(page.id, []))]


def _is_empty(tree: PageTree, page: Page) -> bool:
    """Return whether a group contains only empty groups."""
    stack = [page]
    while stack:
        below = tree.children.get(stack.pop().id, [])
        if any(child.kind not in ("group", "computed") for child in below):
            return False
        stack += below
    return True
