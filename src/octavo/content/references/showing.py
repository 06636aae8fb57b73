"""Documents of a state as somebody sees them who reads it, to be drawn or written as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, NamedTuple, Protocol

import msgspec

from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.drawing import Drawing, Drawn, draw_blocks, with_content
from octavo.content.revisions.expanding import asker_at
from octavo.content.revisions.store import Item, ItemKind, State
from octavo.core.document.anchors import cut_section, mark_places, places_by_id
from octavo.core.document.containing import contained
from octavo.core.document.evaluating import Decided, close_conditions, replace_nodes, show_document
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Text, plain_text, walk
from octavo.core.document.references import Reference, references, rewrite
from octavo.core.expressions import Shown
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction

from .inclusions import Inclusions
from .lookup import Owner
from .resolving import Resolver, page_owner
from .viewing import source_document

_LEFT_OUT = "Not shown: this page includes more text than a page can have."


class Seen(Protocol):
    """What documents ask of a view (``SpaceView``)."""

    state: State

    @property
    def withholds(self) -> bool: ...
    def shown(self, page: Page) -> Shown: ...
    def is_withheld(self, ref: dict[str, Any]) -> bool: ...
    def item(self, item_id: str, kind: ItemKind) -> Item | None: ...


class Decision(NamedTuple):
    """A conditional part of a page: its condition, whether it holds, and the text that is in it."""

    expression: str
    holds: bool
    text: str


class Documents:
    """The documents of a view as its visitor sees them: evaluated, with what is included in its place, and without
    comments and links to withheld pages. ``resolver`` is over the view's own files, withheld ones too."""

    def __init__(self, tx: Transaction, view: Seen, resolver: Resolver) -> None:
        self._tx = tx
        self._view = view
        self._resolver = resolver
        self.drawn: set[Drawn] = set()
        """What was drawn so far of something that changes without a revision."""

    def to_draw(self, page: Page, *, folded: bool, elsewhere: bool = False, whole: bool = True) -> Document:
        """For HTML and prints: with references resolved, and the ids of places written into their nodes. ``folded``:
        details of what is drawn of something else may be folded up. ``elsewhere``: see ``to_give``. ``whole``: see
        ``Drawing``."""
        owner = page_owner(page)

        def drawn(document: Document) -> Document:
            document = self._with_includes(self._resolver.resolve_all(document, owner), owner)
            self._draw(page, document, folded=folded, elsewhere=elsewhere, whole=whole)
            mark_places(document)
            document = show_document(document, self._view.shown(page))
            return self._without_withheld(document, lambda ref, _: self._view.is_withheld(ref))

        return contained("show", self._source(page), drawn)

    def to_give(self, page: Page) -> Document:
        """As nodes, for whatever draws the page elsewhere: like ``to_draw``, and what is included is in its place.
        Blocks of an API specification of the organization stay blocks: who draws them asks for it and draws more of it
        than a document says."""
        document = self.to_draw(page, folded=False, elsewhere=True)
        return replace_nodes(document, lambda node: node.nodes if node.type == "reusable-content" else None)

    def to_find(self, page: Page, types: Container[str]) -> list[Block]:
        """The blocks of these types that the visitor is shown on a page, as they are before they are drawn."""
        return [
            with_content(node, self._find_file(page_owner(page)))
            for node in walk(self._to_be_drawn(page))
            if isinstance(node, Block) and node.type in types
        ]

    def names(self, page: Page, ref: dict[str, Any]) -> bool:
        """Whether the visitor is shown a page that refers to this, before its blocks are drawn."""
        return any(found.ref == ref for found in references(self._to_be_drawn(page)))

    def decisions(self, page: Page) -> list[Decision]:
        """The conditional parts of a page, in reading order. What lies in one that is not shown is not there."""
        found: list[Decision] = []

        def decided(node: Block | Inline, holds: bool) -> None:
            text = "\n".join(plain_text(child) for child in node.nodes)
            found.append(Decision(node.data["expression"], holds, text))

        # Where the page fails it is read anew, in parts: only the last time counts.
        self._to_be_drawn(page, begin=found.clear, decided=decided)
        return found

    def target(self, page: Page) -> dict[str, Any]:
        """What a link of the contents leads to."""
        return self._resolver.content_ref(page_owner(page), page.target or {}, "link")

    def _to_be_drawn(
        self, page: Page, *, begin: Callable[[], None] | None = None, decided: Decided | None = None
    ) -> Document:
        owner = page_owner(page)

        def shown(document: Document) -> Document:
            if begin is not None:
                begin()
            document = self._with_includes(self._resolver.resolve_all(document, owner), owner)
            return show_document(document, self._view.shown(page), decided)

        return contained("show", self._source(page), shown)

    def _source(self, page: Page) -> Callable[[], Document]:
        return lambda: source_document(self._tx, self._view.state.space_id, page)

    def to_write(
        self, page: Page, url_of: Callable[[dict[str, Any]], str | None], *, section: str | None = None
    ) -> Document:
        """For Markdown that is read elsewhere than in its source: ``url_of`` gives the address of a resolved
        reference, there; one that it gives none for stays as it is written. Blocks in which nothing had to change
        keep their source. ``section``: only what is at this place of the page, by its id there; nothing where the
        visitor is shown no such place."""
        owner = page_owner(page)

        def withheld(ref: dict[str, Any], type: str) -> bool:
            return self._view.is_withheld(self._resolver.content_ref(owner, ref, type))

        def address(reference: Reference) -> dict[str, Any] | None:
            ref = self._resolver.content_ref(owner, reference.ref, reference.type)
            url = None if ref.get("kind") == "url" else url_of(ref)
            return {"kind": "url", "url": url} if url else None

        def written(document: Document) -> Document:
            document = self._with_includes(document, owner)
            self._draw(page, document, folded=False)
            # As on the page: before anything goes that not everybody sees.
            places = places_by_id(document) if section is not None else {}
            document = show_document(document, self._view.shown(page))
            document = self._without_withheld(document, withheld)
            document = replace_nodes(
                document, lambda node: node.nodes if node.type == "reusable-content" else None
            )
            if section is not None:
                document = cut_section(document, places, section) or Document([])
            return rewrite(document, address)

        return contained("show", self._source(page), written)

    def _draw(
        self, page: Page, document: Document, *, folded: bool, elsewhere: bool = False, whole: bool = True
    ) -> None:
        """Puts what blocks are drawn as in their place."""
        asker = asker_at(self._tx, self._view.state.space_id, None)
        drawing = Drawing(
            asker,
            folded,
            self._find_file(page_owner(page)),
            page.title,
            written=page.computed is None,
            whole=whole,
        )
        self.drawn |= draw_blocks(
            self._tx, drawing, document, lambda block: elsewhere and _is_of_specification(block)
        )

    def _find_file(self, owner: Owner) -> Callable[[dict[str, Any], str], Item | None]:
        return lambda ref, type: self._view.item(
            str(self._resolver.content_ref(owner, ref, type).get("file")), "file"
        )

    def _with_includes(self, document: Document, owner: Owner) -> Document:
        inclusions = Inclusions()

        def hold(node: Block | Inline) -> list[Any] | None:
            if node.type != "reusable-content" or node.nodes:
                return None
            found = self._included(owner, node.data.get("ref"), inclusions)
            return [Block(node.type, node.data, found, key=node.key)] if found else []

        return replace_nodes(document, hold)

    def _included(self, owner: Owner, ref: Any, inclusions: Inclusions) -> list[Any]:
        resolved = self._resolver.content_ref(owner, ref, "reusable-content") if isinstance(ref, dict) else {}
        item = self._view.item(str(resolved.get("reusableContent")), "reusable-content")
        if item is None or not item.content:
            return []
        if not inclusions.admit(item.size):
            return [Block("paragraph", {}, [Text([Leaf(_LEFT_OUT)])])]
        document = close_conditions(read_source(self._tx, item.content))
        self._resolver.resolve_all(document, Owner(item.id, "reusable-content", item.path))
        # Reusable contents do not nest; this also ends a circle.
        document = replace_nodes(document, lambda node: [] if node.type == "reusable-content" else None)
        for block in document.nodes:
            # What it says of its own file is not what is shown of it here.
            block.source = None
        return list(document.nodes)

    def _without_withheld(
        self, document: Document, withheld: Callable[[dict[str, Any], str], bool]
    ) -> Document:
        """A link to a page that is not there for the visitor is its text; what shows a page's title goes with it."""
        if not self._view.withholds:
            return document
        gone = {(r.type, _encoded(r.ref)) for r in references(document) if withheld(r.ref, r.type)}
        if not gone:
            return document

        def is_gone(node: Block | Inline, ref: Any) -> bool:
            return isinstance(ref, dict) and (node.type, _encoded(ref)) in gone

        def change(node: Block | Inline) -> list[Any] | None:
            if node.type == "table":
                return _table_without(node, lambda ref: is_gone(node, ref))
            if not is_gone(node, node.data.get("ref")):
                return None
            if node.type == "link":
                return list(node.nodes)
            if node.type == "button":
                data = {name: value for name, value in node.data.items() if name != "ref"}
                return [Inline(node.type, data, key=node.key)]
            return []

        return replace_nodes(document, change)


def _is_of_specification(block: Block) -> bool:
    ref = block.data.get("ref")
    return isinstance(ref, dict) and ref.get("kind") == "openapi"


def _table_without(table: Block | Inline, is_gone: Callable[[Any], bool]) -> list[Any] | None:
    """The table without values that lead to what is gone; None where there is none."""

    def kept(record: dict[str, Any]) -> dict[str, Any]:
        values = {n: v for n, v in record.get("values", {}).items() if not is_gone(_ref_of(v))}
        return {**record, "values": values}

    records = {name: kept(record) for name, record in table.data.get("records", {}).items()}
    if records == table.data.get("records"):
        return None
    assert isinstance(table, Block)
    return [Block(table.type, {**table.data, "records": records}, table.nodes, table.fragments, table.key)]


def _ref_of(value: Any) -> Any:
    return value.get("ref", value) if isinstance(value, dict) else None


def _encoded(ref: dict[str, Any]) -> bytes:
    return msgspec.json.encode(ref, order="sorted")
