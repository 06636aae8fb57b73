"""Documents of a state as shown to a reader: for rendering, or as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple, Protocol

import msgspec

from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.drawing import Drawing, Drawn, draw_blocks, with_content
from octavo.content.revisions.expanding import requester_at
from octavo.content.revisions.item_versions import Item, ItemKind
from octavo.content.revisions.states import State
from octavo.core.document.anchors import cut_section, mark_places, places_by_id
from octavo.core.document.containing import contained
from octavo.core.document.evaluating import Decided, close_conditions, replace_nodes, show_document
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Replacement, Text, plain_text, walk
from octavo.core.document.references import Reference, references, rewrite
from octavo.core.expressions import Shown
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction

from .inclusions import Inclusions
from .lookup import Owner
from .resolving import Resolver, page_owner
from .viewing import source_document

_LEFT_OUT = "Not shown: the content included in this page exceeds the maximum length."


class DocumentView(Protocol):
    """Interface to a view of a space for rendering documents, such as ``SpaceView``."""

    state: State

    @property
    def withholds(self) -> bool: ...
    def shown(self, page: Page) -> Shown: ...
    def is_withheld(self, ref: Mapping[str, object]) -> bool: ...
    def item(self, item_id: str, kind: ItemKind) -> Item | None: ...


class ConditionResult(NamedTuple):
    """Conditional part of a page: its condition, whether it is met, and its text."""

    expression: str
    holds: bool
    text: str


class ViewDocuments:
    """Documents of a view as shown to its visitor: evaluated, with included content inserted, and without comments or
    links to withheld pages. ``resolver``: the reference resolver for the files of the view, including withheld
    files."""

    def __init__(self, tx: Transaction, view: DocumentView, resolver: Resolver) -> None:
        self._tx = tx
        self._view = view
        self._resolver = resolver
        self.drawn: set[Drawn] = set()
        """Data sources of the blocks rendered so far. They can change without a revision."""

    def for_rendering(
        self, page: Page, *, folded: bool, elsewhere: bool = False, whole: bool = True
    ) -> Document:
        """Return the document for HTML and PDF, with references resolved and with the ID of each anchor stored in its
        node. ``folded``: whether details of rendered blocks can be collapsed. ``elsewhere``: see
        ``for_external_renderer``. ``whole``: see ``Drawing``."""
        owner = page_owner(page)

        def drawn(document: Document) -> Document:
            document = self._with_includes(self._resolver.resolve_all(document, owner), owner)
            self._draw(page, document, folded=folded, elsewhere=elsewhere, whole=whole)
            mark_places(document)
            document = show_document(document, self._view.shown(page))
            return self._without_withheld(document, owner, lambda ref, _: self._view.is_withheld(ref))

        return contained("show", self._source(page), drawn)

    def for_external_renderer(self, page: Page) -> Document:
        """Return the document as nodes for an external renderer: like ``for_rendering``, with included
        content inserted.

        Blocks for the organization's API specifications stay blocks, because the renderer fetches the specification and
        shows more of it than a document can contain.
        """
        document = self.for_rendering(page, folded=False, elsewhere=True)
        return replace_nodes(document, lambda node: node.nodes if node.type == "reusable-content" else None)

    def find_blocks(self, page: Page, types: Container[str]) -> list[Block]:
        """Return the blocks of these types on a page that the visitor can see, before they are rendered."""
        return [
            with_content(node, self._find_file(page_owner(page)))
            for node in walk(self._to_be_drawn(page))
            if isinstance(node, Block) and node.type in types
        ]

    def has_reference(self, page: Page, ref: Mapping[str, object]) -> bool:
        """Return whether the visitor can see a reference on a page, before its blocks are rendered."""
        return any(found.ref == ref for found in references(self._to_be_drawn(page)))

    def decisions(self, page: Page) -> list[ConditionResult]:
        """Return the conditional parts of a page in reading order. Parts nested in a part that isn't shown
        are omitted."""
        found: list[ConditionResult] = []

        def decided(node: Block | Inline, holds: bool) -> None:
            text = "\n".join(plain_text(child) for child in node.nodes)
            found.append(ConditionResult(node.data["expression"], holds, text))

        # If the page can't be processed as a whole, it is processed again in parts; only the last run counts.
        self._to_be_drawn(page, begin=found.clear, decided=decided)
        return found

    def target(self, page: Page) -> JsonObject:
        """Return the target of a link page."""
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

    def for_markdown(
        self, page: Page, url_of: Callable[[JsonObject], str | None], *, section: str | None = None
    ) -> Document:
        """Return the document as Markdown for use outside its source file. ``url_of``: the function that
        returns the URL of a resolved reference, or None to leave the reference unchanged. Unchanged blocks
        keep their source. ``section``: the anchor ID of the only section to return; the result is empty if
        the visitor can't see it."""
        owner = page_owner(page)

        def withheld(ref: JsonObject, type: str) -> bool:
            return self._view.is_withheld(self._resolver.content_ref(owner, ref, type))

        def address(reference: Reference) -> JsonObject | None:
            ref = self._resolver.content_ref(owner, reference.ref, reference.type)
            url = None if ref.get("kind") == "url" else url_of(ref)
            return {"kind": "url", "url": url} if url else None

        def written(document: Document) -> Document:
            document = self._with_includes(document, owner)
            self._draw(page, document, folded=False)
            # As on the page, anchors are assigned before conditional content is removed.
            places = places_by_id(document) if section is not None else {}
            document = show_document(document, self._view.shown(page))
            document = self._without_withheld(document, owner, withheld)
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
        """Replace the blocks of a document with their rendered form."""
        asker = requester_at(self._tx, self._view.state.space_id, None)
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

    def _find_file(self, owner: Owner) -> Callable[[JsonObject, str], Item | None]:
        return lambda ref, type: self._view.item(
            str(self._resolver.content_ref(owner, ref, type).get("file")), "file"
        )

    def _with_includes(self, document: Document, owner: Owner) -> Document:
        inclusions = Inclusions()

        def hold(node: Block | Inline) -> Replacement | None:
            if node.type != "reusable-content" or node.nodes:
                return None
            found = self._included(owner, node.data.get("ref"), inclusions)
            return [Block(node.type, node.data, found, key=node.key)] if found else []

        return replace_nodes(document, hold)

    def _included(self, owner: Owner, ref: object, inclusions: Inclusions) -> list[Block | Inline | Text]:
        resolved = self._resolver.content_ref(owner, ref, "reusable-content") if isinstance(ref, dict) else {}
        item = self._view.item(str(resolved.get("reusableContent")), "reusable-content")
        if item is None or not item.content:
            return []
        if not inclusions.admit(item.size):
            return [Block("paragraph", {}, [Text([Leaf(_LEFT_OUT)])])]
        document = close_conditions(read_source(self._tx, item.content))
        owner = Owner(item.id, "reusable-content", item.path)
        document = self._without_withheld(self._resolver.resolve_all(document, owner), owner)
        # Reusable content can't be nested; this also breaks cycles.
        document = replace_nodes(document, lambda node: [] if node.type == "reusable-content" else None)
        for block in document.nodes:
            # The source in its own file differs from the content shown here.
            block.source = None
        return list(document.nodes)

    def _without_withheld(
        self, document: Document, owner: Owner, withheld: Callable[[JsonObject, str], bool] | None = None
    ) -> Document:
        """Replace links to withheld pages with their text, and remove blocks that show the title of such a page. Paths
        and app URLs of pages that restrictions hide are treated in the same way. ``withheld``: a function that returns
        whether a page is withheld from the visitor."""
        if not self._view.withholds:
            withheld = None
        gone = {
            (r.type, encode_ref(r.ref))
            for r in references(document)
            if self._resolver.leads_nowhere(owner, r.ref, r.type)
            or (withheld is not None and withheld(r.ref, r.type))
        }
        return without_references(document, gone)


def without_references(document: Document, gone: AbstractSet[tuple[str, bytes]]) -> Document:
    """Replace the links that contain these references with the text of the links, and remove blocks that show the title
    of such a target. ``gone``: the references, each as the type of its node and the result of ``encode_ref``."""
    if not gone:
        return document

    def is_gone(node: Block | Inline, ref: object) -> bool:
        return isinstance(ref, dict) and (node.type, encode_ref(ref)) in gone

    def change(node: Block | Inline) -> Replacement | None:
        if node.type == "table":
            return _table_without(node, lambda ref: is_gone(node, ref))
        if node.type == "embed" and is_gone(node, {"kind": "url", "url": node.data["url"]}):
            return []
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


def _table_without(table: Block | Inline, is_gone: Callable[[object], bool]) -> Replacement | None:
    """Return the table without values that point to withheld pages, or None if it has no such values."""

    def kept(record: JsonObject) -> JsonObject:
        values = {n: v for n, v in record.get("values", {}).items() if not is_gone(_ref_of(v))}
        return {**record, "values": values}

    records = {name: kept(record) for name, record in table.data.get("records", {}).items()}
    if records == table.data.get("records"):
        return None
    assert isinstance(table, Block)
    return [Block(table.type, {**table.data, "records": records}, table.nodes, table.fragments, table.key)]


def _ref_of(value: object) -> object:
    return value.get("ref", value) if isinstance(value, dict) else None


def encode_ref(ref: Mapping[str, object]) -> bytes:
    """Encode a reference so that equal references have equal encodings."""
    return msgspec.json.encode(ref, order="sorted")
