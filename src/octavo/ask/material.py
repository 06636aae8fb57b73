"""What answers are made of: pages, for members as they are written, for visitors of a site as it shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

from ..content import find_page, list_ancestors, list_children, main_state, read_source
from ..core.app_addresses import AppAddresses
from ..core.document import Document, Section, contained, sections
from ..core.pages import Page
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.operation import Visitor
from ..references import documents_for, visitor_of_token
from ..search import FoundSection, OrganizationScope, SearchedDraft
from ..sites import Outline, load_structure, sight_of


class PageText(Struct, frozen=True):
    """A page to be quoted. ``titles``: from the top down to its own."""

    revision_id: str
    titles: tuple[str, ...]
    url: str
    sections: Sequence[Section]


class Material(Protocol):
    """The spaces that whoever asks may be answered from."""

    @property
    def spaces(self) -> Sequence[str] | OrganizationScope: ...

    @property
    def draft(self) -> SearchedDraft | None:
        """What one of the spaces shows in place of main."""
        ...

    def sees(self, found: FoundSection) -> bool: ...

    def read(self, tx: Transaction, space_id: str, page_id: str) -> PageText | None: ...

    def list_top(self, tx: Transaction, space_id: str) -> list[Page]:
        """Pages at the top of a space, and those of its groups, that lists show."""
        ...


def _described(page: Page, document: Document) -> list[Section]:
    cut = contained("search", lambda: document, sections)
    if page.description and not (cut and cut[0].id is None):
        return [Section(None, "", page.description), *cut]
    return cut


class OfMembers:
    """Spaces that a member sees. That they do is for the caller to have made sure."""

    draft: SearchedDraft | None = None

    def __init__(self, context: Context, spaces: Sequence[str] | OrganizationScope) -> None:
        self.spaces = spaces
        self._app = AppAddresses(context.settings.url)

    def sees(self, found: FoundSection) -> bool:
        return True

    def read(self, tx: Transaction, space_id: str, page_id: str) -> PageText | None:
        state = main_state(tx, space_id)
        page = find_page(tx, state, page_id)
        if page is None:
            return None
        lineage = [*list_ancestors(tx, state, page), page]
        path = "/".join(each.slug for each in lineage)
        return PageText(
            state.revision_id,
            tuple(each.title for each in lineage),
            self._app.page(space_id, path),
            _described(page, read_source(tx, page.body)),
        )

    def list_top(self, tx: Transaction, space_id: str) -> list[Page]:
        state = main_state(tx, space_id)
        top = [page for page in list_children(tx, state, [None]) if not page.hidden]
        groups = [page.id for page in top if page.kind == "group"]
        return [*top, *(page for page in list_children(tx, state, groups[:_GROUPS]) if not page.hidden)]


_GROUPS = 6


class OfVisitor:
    """What a site shows a visitor, as it shows it. ``only``: the site spaces that are asked, None for all."""

    def __init__(
        self, context: Context, tx: Transaction, visitor: Visitor, only: Sequence[str] | None
    ) -> None:
        self._visitor = visitor
        self._sight = sight_of(tx, visitor)
        self.draft = self._sight.draft
        self._url = context.settings.url
        outline = Outline(load_structure(tx, visitor.site_id), visitor.claims, preview=bool(visitor.preview))
        self._bases: Mapping[str, str] = {
            shown.space_id: f"{visitor.base}{quote(outline.base(shown))}"
            for shown in reversed(outline.site_spaces())
            if only is None or shown.id in only
        }
        self.spaces: Sequence[str] = list(reversed(self._bases))

    def sees(self, found: FoundSection) -> bool:
        return self._sight(found)

    def read(self, tx: Transaction, space_id: str, page_id: str) -> PageText | None:
        view = self._sight.views[space_id]
        page = view.tree.page(page_id)
        shown = view.tree.first_document(page) if page is not None else None
        if page is None or shown is None:
            return None
        documents = documents_for(tx, view, visitor_of_token(tx, self._visitor), self._url)
        document = documents.to_give(page) if page.kind == "document" else Document([], [])
        return PageText(
            view.state.revision_id,
            tuple(each.title for each in [*view.tree.ancestors(page), page]),
            f"{self._bases[space_id]}{quote(view.tree.url_path(shown))}",
            _described(page, document),
        )

    def list_top(self, tx: Transaction, space_id: str) -> list[Page]:
        tree = self._sight.views[space_id].tree
        top = [page for page in tree.children.get(None, []) if not page.hidden]
        groups = [page for page in top if page.kind == "group"]
        below = [child for group in groups[:_GROUPS] for child in tree.children.get(group.id, [])]
        return [*top, *(page for page in below if not page.hidden)]
