"""Content on which answers are based: stored pages for members, and published pages for visitors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

from octavo.content.references.mentions import documents_for
from octavo.content.references.viewing import visitor_of_token
from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.page_versions import find_page, list_ancestors, list_children
from octavo.content.revisions.restrictions import HiddenPages
from octavo.content.search.drafts import SearchedDraft
from octavo.content.search.store import OrganizationScope, SectionMatch
from octavo.core.app_urls import AppAddresses
from octavo.core.document.containing import contained
from octavo.core.document.nodes import Document
from octavo.core.document.text import Section, sections
from octavo.core.pages import Page
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor
from octavo.sites.site.structure.outline import visitor_outline
from octavo.sites.site.visible_sections import sight_of


class QuotedPage(Struct, frozen=True):
    """Page to quote. ``titles``: the titles from the top level down to the page itself."""

    revision_id: str
    titles: tuple[str, ...]
    url: str
    sections: Sequence[Section]


class AnswerMaterial(Protocol):
    """Content on which answers are based: the spaces that the person asking can see."""

    @property
    def spaces(self) -> Sequence[str] | OrganizationScope: ...

    @property
    def draft(self) -> SearchedDraft | None:
        """Return the draft that the person asking is viewing, if any. The draft's pages replace the pages in the main
        version of the draft's space."""
        ...

    def sees(self, found: SectionMatch) -> bool: ...

    def read(self, tx: Transaction, space_id: str, page_id: str) -> QuotedPage | None: ...

    def list_top(self, tx: Transaction, space_id: str) -> list[Page]:
        """Return the listed pages at the top level of a space, including the pages in its top-level groups."""
        ...


def _list_sections(page: Page, document: Document) -> list[Section]:
    cut = contained("search", lambda: document, sections)
    if page.description and not (cut and cut[0].id is None):
        return [Section(None, "", page.description), *cut]
    return cut


class MemberMaterial:
    """Spaces that a member can see. The caller must have checked access. ``hidden``: restricted pages that the
    member can't see."""

    draft: SearchedDraft | None = None

    def __init__(
        self, context: Context, spaces: Sequence[str] | OrganizationScope, hidden: HiddenPages
    ) -> None:
        self.spaces = spaces
        self._app = AppAddresses(context.settings.url)
        self._hidden = hidden

    def sees(self, found: SectionMatch) -> bool:
        return found.page_id not in self._hidden.of(found.space_id)

    def read(self, tx: Transaction, space_id: str, page_id: str) -> QuotedPage | None:
        state = self._hidden.main(space_id)
        page = find_page(tx, state, page_id)
        if page is None:
            return None
        lineage = [*list_ancestors(tx, state, page), page]
        path = "/".join(each.slug for each in lineage)
        return QuotedPage(
            state.revision_id,
            tuple(each.title for each in lineage),
            self._app.page(space_id, path),
            _list_sections(page, read_source(tx, page.body)),
        )

    def list_top(self, tx: Transaction, space_id: str) -> list[Page]:
        state = self._hidden.main(space_id)
        top = [page for page in list_children(tx, state, [None]) if not page.hidden]
        groups = [page.id for page in top if page.kind == "group"]
        return [*top, *(page for page in list_children(tx, state, groups[:_GROUPS]) if not page.hidden)]


_GROUPS = 6


class VisitorMaterial:
    """Content that a site shows to a visitor. ``only``: the site spaces to use; None for all."""

    def __init__(
        self, context: Context, tx: Transaction, visitor: Visitor, only: Sequence[str] | None
    ) -> None:
        self._visitor = visitor
        self._sight = sight_of(tx, visitor)
        self.draft = self._sight.draft
        self._url = context.settings.url
        outline = visitor_outline(tx, visitor)
        self._bases: Mapping[str, str] = {
            shown.space_id: f"{visitor.base}{quote(outline.base(shown))}"
            for shown in reversed(outline.site_spaces())
            if only is None or shown.id in only
        }
        self.spaces: Sequence[str] = list(reversed(self._bases))

    def sees(self, found: SectionMatch) -> bool:
        return self._sight(found)

    def read(self, tx: Transaction, space_id: str, page_id: str) -> QuotedPage | None:
        view = self._sight.views[space_id]
        page = view.tree.page(page_id)
        shown = view.tree.first_document(page) if page is not None else None
        if page is None or shown is None:
            return None
        documents = documents_for(tx, view, visitor_of_token(tx, self._visitor), self._url)
        document = documents.for_external_renderer(page) if page.kind == "document" else Document([], [])
        return QuotedPage(
            view.state.revision_id,
            tuple(each.title for each in [*view.tree.ancestors(page), page]),
            f"{self._bases[space_id]}{quote(view.tree.url_path(shown))}",
            _list_sections(page, document),
        )

    def list_top(self, tx: Transaction, space_id: str) -> list[Page]:
        tree = self._sight.views[space_id].tree
        top = [page for page in tree.children.get(None, []) if not page.hidden]
        groups = [page for page in top if page.kind == "group"]
        below = [child for group in groups[:_GROUPS] for child in tree.children.get(group.id, [])]
        return [*top, *(page for page in below if not page.hidden)]
