"""Pages computed from a specification (``builtin:openapi``), and blocks that show parts of a
specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.computing import (
    Computed,
    ComputeInput,
    Computer,
    Requester,
    notify_dependency_changed,
    register_computer,
    register_resolver,
)
from octavo.content.revisions.drawing import Drawing, register_renderer
from octavo.content.revisions.expanding import source_of
from octavo.content.revisions.item_versions import Item
from octavo.core.document.nodes import Block, Document
from octavo.core.free_names import free_name
from octavo.core.page_fields import LayoutOptions
from octavo.core.pages import Page, slugify
from octavo.errors import BadRequest
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import role_of_member
from octavo.organization.spaces.hooks import on_language

from . import local, store
from .blocks import draw_fold, draw_markdown, draw_page_links, draw_problem
from .changelog import Release, draw_changelog
from .comparing import ApiChange, compare
from .conventions import Conventions, find_conventions
from .description import (
    UNTAGGED,
    ApiDescription,
    ApiTag,
    Data,
    DescribedOperation,
    list_of,
    object_of,
    tags_of,
    text_of,
)
from .drawing import ApiReferenceRenderer
from .models import draw_model, draw_models, draw_used_by, letter_id, list_models, split_models
from .operation_drawing import MANY
from .overview import draw_tags
from .trying import can_try
from .words import ENGLISH, ReferenceWords, catalogue, locale_of

TYPE = "builtin:openapi"
OPERATIONS = ("swagger", "openapi-operation")
"""Blocks that show an operation that visitors can try out."""
BLOCKS = ("swagger", "openapi-operation", "openapi-schemas", "openapi-webhook")
_IN_MEMORY = 8
"""Estimated memory for a specification, as a multiple of its text size."""
_TOGETHER = 50
"""Maximum number of operations on a tag's page. If there are more, each has its own page. For schemas, the maximum is
``MANY``."""
_ROWS_OPEN = 180
"""Number of operations that a tag's page lists without expanding."""
_PAGES = 4_000
"""Maximum number of pages per specification. To stay within this limit, the schemas share one page if necessary."""
RELEASES = 20
COMPARED_BYTES = 32 * 1024 * 1024
"""Maximum total size in bytes of the versions that the changelog page covers. ``RELEASES``: the maximum number of
these versions."""
_OVERVIEW = "info"
"""Key of the API's overview page."""
_WIDE = LayoutOptions(width="wide", outline=True)
_ROWS = LayoutOptions(width="wide", outline=False)
"""Layout for pages without an outline, such as lists of rows with letters above them. The content of these pages
also fills the space of the outline."""

_descriptions: OwnCache[ApiDescription] = OwnCache("API descriptions", 32)
_comparisons: OwnCache[list[ApiChange]] = OwnCache("API changes", 2)


def load(tx: Transaction, version: store.VersionRow) -> ApiDescription:
    """Return the specification of a version, cached by its content."""
    return _load(tx, version.document, lambda: get_body(tx, version.document))


def load_local(tx: Transaction, source: local.LocalSource) -> ApiDescription:
    """Return the specification in a space's file. The file must be valid."""
    return _load(tx, f"file {source.content}", lambda: local.get_text(tx, source))


def _load(tx: Transaction, key: str, get: Callable[[], str]) -> ApiDescription:
    found = _descriptions.of(tx).get(key)
    if found is None:
        text = get()
        found = ApiDescription(msgspec.json.decode(text))
        _descriptions.of(tx).put(key, found, _IN_MEMORY * len(text))
    return found


def compare_versions(
    tx: Transaction, version: store.VersionRow, since: store.VersionRow | None
) -> list[ApiChange]:
    """Return the changes from one version to another; empty if there is no earlier version. The result is
    cached, because versions never change."""
    if since is None:
        return []
    key = f"{since.document} {version.document}"
    found = _comparisons.of(tx).get(key)
    if found is None:
        found = compare(load(tx, since), load(tx, version))
        _comparisons.of(tx).put(key, found, 400 * (1 + len(found)))
    return found


# --- computed pages -------------------------------------------------------------------------------------------


def _resolve(tx: Transaction, asker: Requester, ref: Mapping[str, object]) -> Any:
    """Return the specification with its newest version. Visitors can see published specifications; other actors can see
    specifications that they have access to."""
    name = ref.get("spec")
    spec = store.find_spec(tx, asker.organization_id, name) if isinstance(name, str) else None
    if spec is None:
        return None
    if asker.actor is not None:
        is_member, role = role_of_member(tx, asker.organization_id, asker.actor.user_id)
        if not is_member or role is None:
            return None
    last = {"lastVersion": spec.version_id} if spec.version_id else {}
    return {"object": "openapi-spec", "id": spec.id, "slug": spec.slug, **last}


def _version(tx: Transaction, asked: ComputeInput) -> store.VersionRow:
    value = asked.values.get("spec")
    if not isinstance(value, dict) or value.get("object") != "openapi-spec":
        raise BadRequest("source.dependencies.spec: this API specification doesn't exist")
    version = store.find_version(tx, value["id"], value.get("lastVersion") or "")
    if version is None:
        raise BadRequest("source.dependencies.spec: this API specification has no valid version yet")
    return version


class _Pages:
    """Pages generated from one specification, parents before children."""

    def __init__(self, asked: ComputeInput, description: ApiDescription, words: ReferenceWords) -> None:
        self._asked = asked
        self.words = words
        self._description = description
        self._slugs: dict[str | None, set[str]] = {}
        self.pages: list[Page] = []
        self.keys: dict[str, str] = {}
        """Keys that pages were added with, by page ID."""

    def add(
        self,
        key: str,
        title: str,
        parent: str | None = None,
        *,
        props: Mapping[str, Any] | None,
        **fields: Any,
    ) -> str:
        """Add a page. ``props``: the properties of the page's document; None if it has no document."""
        taken = self._slugs.setdefault(parent, set())
        name = free_name(slugify(fields.pop("slug", title)), taken.__contains__)
        taken.add(name)
        computed = None
        if props is not None:
            source = msgspec.to_builtins(self._asked.source)
            # Each page records whether the complete specification can be downloaded.
            files = {"files": True} if self._asked.source.props.get("downloadLink") else {}
            computed = {**source, "props": {**props, **files}}
        page = Page(
            id=self._asked.id(key),
            parent=parent,
            slug=name,
            title=title,
            computed=computed,
            **{"layout": _WIDE, **fields},
        )
        self.pages.append(page)
        self.keys[page.id] = key
        return page.id

    def add_labeled(self, word: str, **fields: Any) -> str:
        """Add a page whose title is one of ``ReferenceWords``. The path of the page is the same in every language."""
        return self.add(word, getattr(self.words, word), slug=getattr(ENGLISH, word), **fields)

    def _child_seed(self) -> dict[str, str]:
        """Return properties for the document of a page whose operations or schemas have their own pages. The IDs of
        those pages use the same seed as the ID of this page."""
        return {"grouping": "by-operation", "seed": self._asked.seed}

    def add_overview(self) -> None:
        """Add the overview page. If the API has no description, the page only lists the tags, and is added after the
        tag pages so that it doesn't change those pages' paths."""
        about = {"doc": "info", "page": "info", "seed": self._asked.seed}
        title = self._description.title
        self.add(_OVERVIEW, title, slug="overview", link_title=self.words.overview, props=about)
        self.pages.insert(0, self.pages.pop())

    def add_above(self, names: Sequence[str], grouping: str) -> None:
        """Add the general pages of the API. ``grouping``: the groups of the operations that the pages link to. The
        pages are placed before the tag pages but added after them, so that they don't change the paths of the tag
        pages."""
        first = 1 if self.pages and self.keys[self.pages[0].id] == _OVERVIEW else 0
        for at, name in enumerate(names, first):
            # The authentication page has samples next to the text, which need the space reserved for the
            # outline.
            layout = _ROWS if name == "authentication" else _WIDE
            props = {"doc": name, "operations": grouping, "seed": self._asked.seed}
            self.add_labeled(name, props=props, layout=layout)
            self.pages.insert(at, self.pages.pop())

    def add_models(self, grouping: str) -> None:
        """Add the model pages. ``grouping``: the groups of the operations that a model's page links to."""
        names = list(self._description.schemas)
        if len(names) <= MANY or len(self.pages) + len(names) >= _PAGES:
            self.add_labeled("models", props={"doc": "models"})
            return
        listing = {"doc": "models"} | self._child_seed()
        above = self.add_labeled("models", props=listing, layout=_ROWS)
        for name in names:
            props = {"schema": name, "operations": grouping} | listing
            self.add(f"model {name}", name, above, props=props, layout=_ROWS)
        # These are added after all models, so that they don't change the models' paths.
        for number, piece in enumerate(split_models(list_models(self._description))[1:], 1):
            title = f"{self.words.models}: {piece.title}"
            named = f"from {next(iter(piece.letters))}"
            self.add(
                _piece_key(number),
                title,
                above,
                slug=named,
                props=listing | {"piece": number},
                layout=_ROWS,
                hidden=True,
            )

    def add_webhooks(self) -> None:
        webhooks = self._description.webhooks
        apart = len(webhooks) > _TOGETHER
        props = {"doc": "webhooks"}
        above = self.add_labeled("webhooks", props=props | (self._child_seed() if apart else {}))
        for key, webhook in webhooks.items() if apart else ():
            named = webhook.url_name
            self.add(f"webhook {key}", webhook.title, above, slug=named, props={**props, "webhook": key})

    def add_tags(self, tags: list[ApiTag], *, each_operation: bool) -> None:
        known = {tag.name: tag for tag in tags}
        made: dict[str, str] = {}
        is_grouped = any(tag.group for tag in tags)
        apart: set[str] = set()
        """Tags whose operations have their own pages."""

        def place(tag: ApiTag, above: tuple[str, ...] = ()) -> str:
            if tag.name in made:
                return made[tag.name]
            parent = known.get(tag.parent) if tag.parent not in (*above, tag.name) else None
            parent_id = place(parent, (*above, tag.name)) if parent is not None and tag.parent else None
            if each_operation or len(self._description.with_tag(tag.name)) > _TOGETHER:
                apart.add(tag.name)
            props: dict[str, Any] = {"doc": "operations", "page": tag.name or "-"}
            if is_grouped and parent_id is None:
                props["group"] = tag.group or self.words.other
            if tag.name not in apart:
                # Content of the page, for use by lists that are generated without the specification.
                props["operations"] = [
                    [each.key, each.title, self._description.anchor(each)]
                    for each in self._description.with_tag(tag.name)
                ]
            made[tag.name] = self.add(
                f"tag {tag.name}",
                self.words.other if tag.name == UNTAGGED else tag.title,
                parent_id,
                slug=tag.title,
                props=props | (self._child_seed() if tag.name in apart else {}),
                description=tag.page_description or None,
                icon=tag.icon or None,
            )
            return made[tag.name]

        for tag in tags:
            above = place(tag)
            for operation in self._description.with_tag(tag.name) if tag.name in apart else ():
                self.add(
                    operation.key,
                    operation.title,
                    above,
                    slug=operation.url_name,
                    props={"doc": "operations", "page": tag.name or "-", "operation": operation.key},
                )


def lay_out(asked: ComputeInput, description: ApiDescription, words: ReferenceWords) -> _Pages:
    """Return the general pages of the API and the pages of its operations and webhooks."""
    by_operation = asked.source.props.get("grouping") == "by-operation"
    pages = _Pages(asked, description, words)
    is_told = bool(description.info.get("description") or description.security_schemes)
    if is_told:
        pages.add_overview()
    pages.add_tags(description.tags(), each_operation=by_operation)
    if not is_told and len(description.tags()) > 1:
        pages.add_overview()
    above = ["authentication"] if description.security_schemes else []
    if conventions_of(description):
        above.append("errors_and_limits")
    pages.add_above(above, "by-operation" if by_operation else "")
    if description.webhooks:
        pages.add_webhooks()
    return pages


def _revision(tx: Transaction, asked: ComputeInput) -> Computed:
    version = _version(tx, asked)
    description = load(tx, version)
    props = asked.source.props
    by_operation = props.get("grouping") == "by-operation"
    pages = lay_out(asked, description, catalogue()[locale_of(tx, asked.space_id)])
    if props.get("models") and description.schemas:
        pages.add_models("by-operation" if by_operation else "")
    items = []
    if props.get("changes"):
        grouping = "by-operation" if by_operation else ""
        shown = {"doc": "changes", "operations": grouping, "seed": asked.seed}
        pages.add_labeled("changes", props=shown, layout=_ROWS)
    if props.get("downloadLink"):
        file = Item(
            id=asked.id("file"),
            kind="file",
            name=f"{asked.values['spec']['slug']}.json",
            content=version.file,
            content_type="application/json",
            size=version.size,
        )
        items.append(file)
        pages.add_labeled("download", props=None, kind="link", target={"kind": "file", "file": file.id})
    return Computed(pages.pages, items)


def _document(tx: Transaction, asked: ComputeInput) -> Document:
    version = _version(tx, asked)
    description = load(tx, version)
    props = asked.source.props
    ref = asked.source.dependencies["spec"].ref
    doc, page = props.get("doc"), props.get("page")
    # Content that has its own pages is under this page, which links to them.
    leads_on = props.get("grouping") == "by-operation"
    there = msgspec.structs.replace(asked, seed=str(props.get("seed") or ""))
    if doc == "models":
        if leads_on and "schema" not in props:
            words = catalogue()[locale_of(tx, asked.space_id)]
            return _document_of(*_models(description, props.get("piece", 0), words, there))
        names = [str(props["schema"])] if "schema" in props else list(description.schemas)
        if not description.schemas.keys() >= {*names}:
            raise BadRequest("source.props.schema: the API specification has no schema with this name")
        shown = Block("openapi-schemas", {"ref": ref, "schemas": names, "grouped": True})
        if leads_on:
            words = catalogue()[locale_of(tx, asked.space_id)]
            grouping = str(props.get("operations") or "")

            def shown_at(operation: DescribedOperation) -> Data:
                return {"kind": "page", "page": page_of(description, operation, there, grouping)}

            def model_at(name: str) -> Data:
                return {"kind": "page", "page": there.id(f"model {name}")}

            used = draw_used_by(description, names[0], shown_at, model_at, words)
            return _document_of(*draw_model(description, names[0], [shown], used, words))
        return _document_of(shown)
    if doc == "webhooks":
        webhooks = description.webhooks
        if leads_on:
            listed = ((there.id(f"webhook {key}"), each.title, each.called) for key, each in webhooks.items())
            return _document_of(*_rows(tx, asked, listed, len(webhooks)))
        keys = [str(props["webhook"])] if "webhook" in props else list(webhooks)
        if not webhooks.keys() >= {*keys}:
            raise BadRequest("source.props.webhook: the API specification has no webhook with this name")
        return _document_of(*(_webhook_block(ref, webhooks[key]) for key in keys))
    if doc == "changes":
        releases = _releases(tx, version, there, str(props.get("operations") or ""))
        return _document_of(*draw_changelog(releases, locale_of(tx, asked.space_id)))
    if doc == "info":
        words = catalogue()[locale_of(tx, asked.space_id)]

        def tag_at(tag: ApiTag) -> Data:
            return {"kind": "page", "page": there.id(f"tag {tag.name}")}

        about = ApiReferenceRenderer(description, folded=False).information(words)
        return _document_of(*about, *draw_tags(description, tag_at, words))
    if doc in ("authentication", "errors_and_limits"):
        words = catalogue()[locale_of(tx, asked.space_id)]
        grouping = str(props.get("operations") or "")

        def place_of(operation: DescribedOperation) -> Data:
            return {"kind": "page", "page": page_of(description, operation, there, grouping)}

        drawer = ApiReferenceRenderer(description, folded=False)
        if doc == "authentication":
            return _document_of(*drawer.authentication(place_of, words))
        return _document_of(*drawer.conventions(conventions_of(description), place_of, words))
    if doc != "operations":
        raise BadRequest(
            "source.props.doc: must be one of `operations`, `info`, `authentication`, `errors_and_limits`, "
            "`models`, `webhooks`, and `changes`"
        )
    if not isinstance(page, str):
        raise BadRequest("source.props.page: must be the name of a tag, or `-` for operations without a tag")
    if "operation" in props:
        operation = description.operations.get(str(props["operation"]))
        if operation is None:
            raise BadRequest("source.props.operation: the API specification has no operation with this name")
        return _document_of(_operation_block(ref, operation))
    name = UNTAGGED if page == "-" else page
    tag = next((tag for tag in description.tags() if tag.name == name), None)
    if tag is None:
        raise BadRequest("source.props.page: the API specification has no tag with this name")
    above = draw_markdown(tag.description) if tag.description.strip() else []
    operations = description.with_tag(tag.name)
    if leads_on:
        listed = ((there.id(each.key), each.title, each.called) for each in operations)
        return _document_of(*above, *_rows(tx, asked, listed, len(operations)))
    return _document_of(*above, *(_operation_block(ref, each) for each in operations))


def _rows(
    tx: Transaction, asked: ComputeInput, listed: Iterator[tuple[str, str, str]], count: int
) -> list[Block]:
    """Return links to the pages of operations. If there are many links, the last ones are collapsed."""
    first, more = draw_page_links(islice(listed, _ROWS_OPEN)), draw_page_links(listed)
    if not more:
        return first
    words = catalogue()[locale_of(tx, asked.space_id)]
    return [*first, draw_fold(words.and_more.replace("{name}", str(count - _ROWS_OPEN)), more)]


def page_of(
    description: ApiDescription, operation: DescribedOperation, there: ComputeInput, grouping: str
) -> str:
    """Return the ID of the page that shows an operation or webhook."""
    if operation.webhook:
        return there.id(f"webhook {operation.key}" if len(description.webhooks) > _TOGETHER else "webhooks")
    (tag,) = tags_of(operation)
    apart = grouping == "by-operation" or description.count(tag) > _TOGETHER
    return there.id(operation.key if apart else f"tag {tag}")


def _piece_key(number: int) -> str:
    return f"models {number}" if number else "models"


def _models(
    description: ApiDescription, number: object, words: ReferenceWords, there: ComputeInput
) -> list[Block]:
    """Return one of the pages that list all schemas, if each schema has its own page."""
    pieces = split_models(list_models(description))
    if not isinstance(number, int) or not 0 <= number < len(pieces):
        raise BadRequest("source.props.piece: the API specification has no model page with this name")
    letters: dict[str, Data] = {}
    for at, piece in enumerate(pieces):
        page = {} if at == number else {"page": there.id(_piece_key(at))}
        for letter in piece.letters:
            letters.setdefault(letter, {"kind": "anchor", "anchor": letter_id(letter), **page})

    def place_of(name: str) -> Data:
        return {"kind": "page", "page": there.id(f"model {name}")}

    return draw_models(pieces[number], letters, place_of, words)


_conventions: WeakKeyDictionary[ApiDescription, Conventions] = WeakKeyDictionary()


def conventions_of(description: ApiDescription) -> Conventions:
    """Return the conventions of the specification's operations. The result is cached."""
    found = _conventions.get(description)
    if found is None:
        found = _conventions[description] = find_conventions(description)
    return found


def _releases(
    tx: Transaction, newest: store.VersionRow, there: ComputeInput, grouping: str
) -> Iterator[Release]:
    """Yield this version and earlier versions with their changes, as many as can be read in reasonable time.
    ``grouping``: the groups of operations that form pages. Links point to the pages of the newest version."""
    shown = load(tx, newest)
    read, version = 0, newest
    for before in store.list_versions_before(tx, newest, RELEASES):
        read += version.size
        if read > COMPARED_BYTES:
            return
        new, old = load(tx, version), load(tx, before)
        changes = compare_versions(tx, version, before)
        titles: dict[str, str] = {}
        pages: dict[str, Data] = {}
        for name in dict.fromkeys(change.operation for change in changes):
            method, _, path = name.partition(" ")
            key = f"{method.lower()} {path}"
            found = next(
                (at[key] for at in (new.operations, old.operations, new.webhooks, old.webhooks) if key in at),
                None,
            )
            titles[name] = found.title if found is not None else ""
            if key in shown.operations:
                page = page_of(shown, shown.operations[key], there, grouping)
                pages[name] = {"kind": "page", "page": page}
        said = [text_of(each.info.get("version"))[:100] for each in (new, old)]
        yield Release(said[0], version.created_at, changes, said[1], titles, pages)
        version = before


def method_of(page: Page) -> str | None:
    """Return the method of the operation that a computed page shows, ``event`` for a webhook, or None for
    any other page."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return None
    props = object_of(source.get("props"))
    if "webhook" in props:
        return "event"
    return text_of(props.get("operation")).partition(" ")[0] or None


def group_of(page: Page) -> str:
    """Return the heading that a computed tag page is listed under; an empty string for any other page."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return ""
    return text_of(object_of(source.get("props")).get("group"))


class Listed(Struct, frozen=True):
    """Operation on a computed page. It is either the entire page, or the part of the page at ``anchor``."""

    method: str
    path: str
    title: str
    anchor: str = ""


def list_operations(page: Page) -> list[Listed]:
    """Return the operations that a computed page itself shows."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return []
    props = object_of(source.get("props"))
    method, _, path = text_of(props.get("operation")).partition(" ")
    if method:
        return [Listed(method, path, page.title)]
    found = []
    for each in list_of(props.get("operations")):
        if isinstance(each, list) and len(each) == 3:
            method, _, path = text_of(each[0]).partition(" ")
            found.append(Listed(method, path, text_of(each[1]), text_of(each[2])))
    return found


def find_reference(tx: Transaction, asker: Requester, page: Page) -> tuple[ApiDescription, str] | None:
    """Return the specification that a page is computed from, and its name; None for any other page."""
    source = source_of(page)
    if source is None or source.type != TYPE or "spec" not in source.dependencies:
        return None
    version = find_version_of(tx, asker, source.dependencies["spec"].ref)
    return (load(tx, version), version.document) if version is not None else None


def can_export(page: Page) -> bool:
    """Return whether visitors of a computed page can download the complete specification."""
    source = page.computed
    is_ours = source is not None and source.get("type") == TYPE
    return is_ours and object_of(object_of(source).get("props")).get("files") is True


def model_of(page: Page) -> str | None:
    """Return the schema that a computed page shows; an empty string for a page that shows or lists all
    schemas."""
    source = page.computed
    props = object_of(source.get("props")) if source is not None and source.get("type") == TYPE else {}
    return text_of(props.get("schema")) if props.get("doc") == "models" else None


def lists_models(page: Page) -> bool:
    """Return whether a computed page lists schemas that have their own pages."""
    return (
        model_of(page) == "" and object_of(object_of(page.computed).get("props")).get("grouping") is not None
    )


def authentication_of(page: Page) -> str | None:
    """Return the specification that a computed authentication page belongs to; None for any other page."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return None
    if object_of(source.get("props")).get("doc") != "authentication":
        return None
    dependency = object_of(object_of(source.get("dependencies")).get("spec"))
    return text_of(object_of(dependency.get("ref")).get("spec")) or None


def _operation_block(ref: Mapping[str, object], operation: DescribedOperation) -> Block:
    return Block("openapi-operation", {"ref": ref, "path": operation.path, "method": operation.method})


def _webhook_block(ref: Mapping[str, object], webhook: DescribedOperation) -> Block:
    return Block("openapi-webhook", {"ref": ref, "name": webhook.path, "method": webhook.method})


def _document_of(*blocks: Block) -> Document:
    return Document(nodes=list(blocks))


# --- blocks ---------------------------------------------------------------------------------------------------


def _draw(tx: Transaction, drawing: Drawing, blocks: list[Block]) -> list[list[Block] | None]:
    # Several blocks on a page can show schemas. Blocks for the same API link to all of them.
    keys = [msgspec.json.encode(block.data.get("ref"), order="sorted").decode() for block in blocks]
    shown: dict[str, set[str]] = {key: set() for key in keys}
    for key, block in zip(keys, blocks, strict=True):
        if block.type == "openapi-schemas":
            shown[key].update(_list_schema_names(block))
    operations = sum(block.type != "openapi-schemas" for block in blocks)
    begun = False
    many = operations + sum(map(len, shown.values())) > MANY
    drawers: dict[str, tuple[ApiDescription, ApiReferenceRenderer] | None] = {}
    made: list[list[Block] | None] = []
    for key, block in zip(keys, blocks, strict=True):
        ref = block.data.get("ref")
        if key not in drawers:
            description = _find(tx, drawing.asker, ref)
            drawers[key] = None
            if description is not None:
                drawer = ApiReferenceRenderer(
                    description,
                    folded=drawing.folded,
                    many=many,
                    together=operations,
                    brief=drawing.written,
                    # A schema with the same title as the page has no separate heading.
                    linked=shown[key] - {drawing.title},
                    spec=_name_spec(ref),
                    whole=drawing.whole,
                )
                drawers[key] = description, drawer
        found = drawers[key]
        if found is not None:
            made.append(_draw_block(*found, block, drawing.title, further=begun))
            begun = begun or (made[-1] is not None and block.type != "openapi-schemas")
        else:
            made.append(_draw_complaint(tx, drawing.asker, ref))
    return made


def _draw_complaint(tx: Transaction, asker: Requester, ref: Any) -> list[Block] | None:
    """Return the problem with a file, for its author; None if the block shows its target."""
    source = _find_source(tx, asker, ref)
    if not isinstance(source, local.LocalSource) or source.state != "bad":
        return None
    return [
        draw_problem(f"{text_of(ref.get('name'))} can't be shown as an API specification. {source.complaint}")
    ]


def _name_spec(ref: object) -> str:
    """Return the name that a block uses for the specification that it shows."""
    return text_of(ref.get("spec") or ref.get("url") or ref.get("content")) if isinstance(ref, dict) else ""


def find_operation(
    tx: Transaction, asker: Requester, blocks: Iterable[Block], spec: str | None, key: str
) -> tuple[ApiDescription, DescribedOperation] | None:
    """Return the operation that one of these blocks shows, if the operation can be tried out. ``spec``: the name
    that the block uses for the specification; None for any specification. ``key``: the key of the operation."""
    for block in blocks:
        data = block.data
        if (
            spec in (None, _name_spec(data.get("ref")))
            and f"{text_of(data.get('method')).lower()} {data.get('path')}" == key
        ):
            description = _find(tx, asker, data.get("ref"))
            operation = description.operations.get(key) if description is not None else None
            if description is not None and operation is not None and can_try(description, operation):
                return description, operation
    return None


def _list_schema_names(block: Block) -> Iterable[str]:
    names = block.data.get("schemas")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _state_of(tx: Transaction, asker: Requester, ref: object) -> str:
    source = _find_source(tx, asker, ref)
    if isinstance(source, store.VersionRow):
        return source.document
    return f"{source.content} {source.state}" if source is not None else ""


def _find(tx: Transaction, asker: Requester, ref: object) -> ApiDescription | None:
    source = _find_source(tx, asker, ref)
    if isinstance(source, store.VersionRow):
        return load(tx, source)
    return load_local(tx, source) if source is not None and source.state == "good" else None


def _find_source(
    tx: Transaction, asker: Requester, ref: object
) -> store.VersionRow | local.LocalSource | None:
    if isinstance(ref, dict) and ref.get("kind") == "file":
        content = ref.get("content")
        return local.find_source(tx, asker.space_id, content) if isinstance(content, str) else None
    return find_version_of(tx, asker, ref)


def find_version_of(tx: Transaction, asker: Requester, ref: object) -> store.VersionRow | None:
    """Return the version that a block refers to, by the specification's slug or source URL."""
    if not isinstance(ref, dict):
        return None
    name = ref.get("spec")
    if ref.get("kind") == "url" and isinstance(ref.get("url"), str):
        by_url = store.find_spec_by_url(tx, asker.organization_id, ref["url"])
        name = by_url.slug if by_url is not None else None
    value = _resolve(tx, asker, {"spec": name}) if isinstance(name, str) else None
    return store.find_version(tx, value["id"], value.get("lastVersion") or "") if value else None


def _draw_block(
    description: ApiDescription, drawer: ApiReferenceRenderer, block: Block, title: str, *, further: bool
) -> list[Block] | None:
    """Render a block. ``further``: whether there is already an operation above it."""
    data = block.data
    method = str(data.get("method", "")).lower()
    if block.type == "openapi-schemas":
        return drawer.schemas(_list_schema_names(block), title) or None
    if block.type == "openapi-webhook":
        operation = description.webhooks.get(f"{method} {data.get('name', '')}")
    else:
        operation = description.operations.get(f"{method} {data.get('path', '')}")
    if operation is None:
        return None
    headless = data.get("headless") is True
    return drawer.operation(operation, title, further=further, headless=headless)


register_resolver("openapi", _resolve)
register_computer(
    TYPE,
    Computer(
        document=_document,
        revision=_revision,
        state=lambda tx, asked, whole: locale_of(tx, asked.space_id),
    ),
)
on_language(lambda tx, space_id, organization_id: notify_dependency_changed(tx, organization_id, [space_id]))
register_renderer(BLOCKS, _draw, _state_of)
