"""Lookups made while rendering a page, in the page's space and in other spaces, recorded with their results.

A rendered page stays valid as long as the results are the same, in any revision and for any visitor. Therefore, a page
is rendered again only if some of the data that it shows has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from octavo.content.references.lookup import Owner, OwnerKind, SpaceFiles
from octavo.content.references.viewing import SiteVisitor, ViewFiles
from octavo.content.revisions.drawing import Drawn, list_rendering_states
from octavo.content.revisions.expanding import computed_state, requester_at
from octavo.content.revisions.item_versions import Item, ItemKind
from octavo.content.revisions.states import State
from octavo.core.document.html_context import Asset, CodeBlock, HtmlTarget
from octavo.core.expressions import Shown
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SpaceVisit
from octavo.extensions.integrations.blocks import find_block_owner, list_code_blocks
from octavo.kit.db.database import Transaction

Notes = tuple[tuple[tuple[Any, ...], Any], ...]
"""Recorded lookups and their results. Each lookup consists of the name of a ``Facts`` method and its arguments."""


class Facts:
    """All dependencies of a page's text other than its source. ``link`` and ``file``: functions that return
    the URLs of resolved references."""

    def __init__(
        self,
        tx: Transaction,
        visit: SpaceVisit,
        visitor: SiteVisitor,
        link: Callable[[JsonObject], HtmlTarget | None],
        file: Callable[[JsonObject], Asset | None],
    ) -> None:
        self._tx = tx
        self._visit = visit
        self._view = visit.view
        self._visitor = visitor
        self._link, self._asset = link, file
        self._files: dict[str, SpaceFiles | None] = {
            visit.view.state.space_id: ViewFiles(tx, visit.view, withheld=True)
        }

    def _files_of(self, space_id: str) -> SpaceFiles | None:
        if space_id not in self._files:
            self._files[space_id] = self._visitor.files(space_id)
        return self._files[space_id]

    def sees(self, space_id: str) -> bool:
        return self._visitor.sees(space_id)

    def has_files(self, space_id: str) -> bool:
        return self._files_of(space_id) is not None

    def of_files(self, space_id: str, asked: str, *arguments: object) -> object:
        """Call the method ``asked`` of a space's ``SpaceFiles``."""
        files = self._files_of(space_id)
        return getattr(files, asked)(*arguments) if files is not None else None

    def revision(self, space_id: str) -> str | None:
        files = self._files_of(space_id)
        return files.revision_id if files is not None else None

    def hides(self, space_id: str) -> bool:
        files = self._files_of(space_id)
        return files is not None and files.hides

    def holds(self, page_id: str, condition: str) -> bool:
        page = self._view.tree.page(page_id)
        return page is not None and self._view.shown(page).holds(condition)

    def text(self, page_id: str, expression: str) -> str:
        page = self._view.tree.page(page_id)
        return self._view.shown(page).text(expression) if page is not None else ""

    def item(self, item_id: str, kind: ItemKind) -> Item | None:
        return self._view.item(item_id, kind)

    def withholds(self) -> bool:
        return self._view.withholds

    def is_withheld(self, ref: bytes) -> bool:
        return self._view.is_withheld(msgspec.json.decode(ref))

    def link(self, ref: bytes) -> HtmlTarget | None:
        return self._link(msgspec.json.decode(ref))

    def file(self, ref: bytes) -> Asset | None:
        return self._asset(msgspec.json.decode(ref))

    def list_rendering_states(self, drawn: tuple[Drawn, ...]) -> tuple[str, ...]:
        """Return the current state of the data that blocks of these kinds are rendered from."""
        return list_rendering_states(self._tx, requester_at(self._tx, self._view.state.space_id, None), drawn)

    def computed_state(self, page_id: str) -> bytes:
        """Return the current state of the data that a computed page is based on."""
        page = self._view.tree.page(page_id)
        return computed_state(self._tx, self._view.state.space_id, page) if page is not None else b""

    def has_block(self, integration: str, block: str) -> bool:
        """Return whether an active integration of the space provides this block."""
        visit = self._visit
        organization_id, space_id = visit.visit.organization_id, visit.view.state.space_id
        return find_block_owner(self._tx, organization_id, space_id, integration, block) is not None

    def code_blocks(self) -> dict[str, CodeBlock]:
        """Return the integration blocks that render code blocks in the space, by language."""
        visit = self._visit
        return list_code_blocks(self._tx, visit.visit.organization_id, visit.view.state.space_id)

    def below(self, page_id: str) -> tuple[str, ...]:
        """Return the subpages to show in lists."""
        return tuple(
            child.id
            for child in self._view.tree.children.get(page_id, [])
            if child.kind in ("document", "group") and not child.hidden
        )

    def agree_with(self, notes: Notes) -> bool:
        """Return whether all recorded lookups would still have the same results."""
        return all(getattr(self, name)(*arguments) == answer for (name, *arguments), answer in notes)


class RecordedFacts:
    """Facade of ``Facts`` that records lookups. Rendering code has access only to this part of a visit."""

    members = False

    def __init__(self, facts: Facts, visit: SpaceVisit) -> None:
        self.state: State = visit.view.state
        self._facts = facts
        self._answers: dict[tuple[Any, ...], Any] = {}

    @property
    def notes(self) -> Notes:
        return tuple(self._answers.items())

    def ask(self, name: str, *arguments: object) -> Any:
        key = (name, *arguments)
        if key not in self._answers:
            self._answers[key] = getattr(self._facts, name)(*arguments)
        return self._answers[key]

    # --- viewer of other spaces ------------------------------------------------------------------------------

    def sees(self, space_id: str) -> bool:
        return bool(self.ask("sees", space_id))

    def files(self, space_id: str) -> SpaceFiles | None:
        return _RecordedFiles(self, space_id) if self.ask("has_files", space_id) else None

    # --- view of the space -----------------------------------------------------------------------------------

    def own_files(self) -> SpaceFiles:
        return _RecordedFiles(self, self.state.space_id)

    def shown(self, page: Page) -> Shown:
        return _RecordedShown(self, page.id)

    @property
    def withholds(self) -> bool:
        return bool(self.ask("withholds"))

    def is_withheld(self, ref: Mapping[str, object]) -> bool:
        return bool(self.ask("is_withheld", _encode(ref)))

    def item(self, item_id: str, kind: ItemKind) -> Item | None:
        found: Item | None = self.ask("item", item_id, kind)
        return found

    # --- URLs ------------------------------------------------------------------------------------------------

    def link(self, ref: Mapping[str, object]) -> HtmlTarget | None:
        found: HtmlTarget | None = self.ask("link", _encode(ref))
        return found

    def file(self, ref: Mapping[str, object]) -> Asset | None:
        found: Asset | None = self.ask("file", _encode(ref))
        return found


def _encode(ref: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(ref, order="sorted")


class _RecordedShown(Shown):
    def __init__(self, noted: RecordedFacts, page_id: str) -> None:
        self._noted, self._page_id = noted, page_id

    def text(self, expression: str) -> str:
        return str(self._noted.ask("text", self._page_id, expression))

    def holds(self, expression: str) -> bool:
        return bool(self._noted.ask("holds", self._page_id, expression))


class _RecordedFiles:
    """Implementation of ``SpaceFiles`` that records every lookup in a space."""

    def __init__(self, noted: RecordedFacts, space_id: str) -> None:
        self.space_id = space_id
        self._noted = noted

    @property
    def revision_id(self) -> str:
        return str(self._noted.ask("revision", self.space_id))

    @property
    def hides(self) -> bool:
        return bool(self._noted.ask("hides", self.space_id))

    def _ask(self, asked: str, *arguments: object) -> str | None:
        found: str | None = self._noted.ask("of_files", self.space_id, asked, *arguments)
        return found

    def find_page(self, file_path: str) -> str | None:
        return self._ask("find_page", file_path)

    def find_page_by_path(self, path: str) -> str | None:
        return self._ask("find_page_by_path", path)

    def find_page_by_id(self, page: str) -> str | None:
        return self._ask("find_page_by_id", page)

    def find_path(self, page: str) -> str | None:
        return self._ask("find_path", page)

    def find_file(self, path: str) -> str | None:
        return self._ask("find_file", path)

    def find_file_by_id(self, file: str) -> str | None:
        return self._ask("find_file_by_id", file)

    def find_reusable(self, path: str) -> str | None:
        return self._ask("find_reusable", path)

    def find_reusable_by_id(self, item: str) -> str | None:
        return self._ask("find_reusable_by_id", item)

    def find_anchor(self, owner: Owner, wanted: str) -> str | None:
        return self._ask("find_anchor", owner, wanted)

    def owner(self, owner_id: str, kind: OwnerKind) -> Owner | None:
        found: Owner | None = self._noted.ask("of_files", self.space_id, "owner", owner_id, kind)
        return found
