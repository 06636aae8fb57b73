"""Pages made of a specification (``builtin:openapi``), and the blocks of pages that show parts of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from ..access import role_of_member
from ..content import (
    Asked,
    Asker,
    Computed,
    Computer,
    Drawing,
    Item,
    compute_with,
    dependency_changed,
    draw_with,
    get_body,
    resolve_with,
    source_of,
)
from ..core.document import Block, Document
from ..core.free_names import free_name
from ..core.page_fields import Layout
from ..core.pages import Page, slugify
from ..errors import BadRequest
from ..kit.cache import OwnCache
from ..kit.db import Transaction
from ..spaces import on_language
from . import local, store
from .changelog import Release, draw_changelog
from .comparing import Change, compare
from .conventions import Conventions, find_conventions
from .description import UNTAGGED, Data, Description, Operation, Tag, list_of, object_of, tags_of, text_of
from .drawing import MANY, Drawer, complain, fold, lead_on, prose
from .models import draw_model, draw_models, draw_used_by, letter_id, list_models, split_models
from .overview import draw_tags
from .trying import can_try
from .words import ENGLISH, Words, catalogue, locale_of

TYPE = "builtin:openapi"
OPERATIONS = ("swagger", "openapi-operation")
"""Blocks that show an operation, which can be tried."""
BLOCKS = ("swagger", "openapi-operation", "openapi-schemas", "openapi-webhook")
_IN_MEMORY = 8
"""How many times as large as its text a description is in memory, about."""
_TOGETHER = 50
"""Operations on the page of a tag; where there are more, each has a page of its own. So has each schema where they are
more than ``MANY``."""
_ROWS_OPEN = 180
"""Operations that the page of a tag lists without unfolding them."""
_PAGES = 4_000
"""Pages of one specification beyond which its schemas share one page all the same."""
RELEASES = 20
COMPARED_BYTES = 32 * 1024 * 1024
"""Versions, and bytes of them, that the page of changes goes back."""
_OVERVIEW = "info"
"""What the page about the whole API is added as."""
_WIDE = Layout(width="wide", outline=True)
_ROWS = Layout(width="wide", outline=False)
"""Of a page that needs the room of the outline, such as one of rows, whose letters are above them."""

_descriptions: OwnCache[Description] = OwnCache("API descriptions", 32)
_comparisons: OwnCache[list[Change]] = OwnCache("changes of APIs", 2)


def load(tx: Transaction, version: store.VersionRow) -> Description:
    """The description of a version, kept in memory by its content."""
    return _load(tx, version.document, lambda: get_body(tx, version.document))


def load_local(tx: Transaction, source: local.LocalSource) -> Description:
    """The description that a good file of a space is."""
    return _load(tx, f"file {source.content}", lambda: local.get_text(tx, source))


def _load(tx: Transaction, key: str, get: Callable[[], str]) -> Description:
    found = _descriptions.of(tx).get(key)
    if found is None:
        text = get()
        found = Description(msgspec.json.decode(text))
        _descriptions.of(tx).put(key, found, _IN_MEMORY * len(text))
    return found


def compare_versions(
    tx: Transaction, version: store.VersionRow, since: store.VersionRow | None
) -> list[Change]:
    """What changed from one version to another; nothing from none. Versions never change, so it is kept."""
    if since is None:
        return []
    key = f"{since.document} {version.document}"
    found = _comparisons.of(tx).get(key)
    if found is None:
        found = compare(load(tx, since), load(tx, version))
        _comparisons.of(tx).put(key, found, 400 * (1 + len(found)))
    return found


# --- computed pages -------------------------------------------------------------------------------------------


def _resolve(tx: Transaction, asker: Asker, ref: Mapping[str, Any]) -> Any:
    """The specification with its newest version. Visitors see what is published; others, what they may see."""
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


def _version(tx: Transaction, asked: Asked) -> store.VersionRow:
    value = asked.values.get("spec")
    if not isinstance(value, dict) or value.get("object") != "openapi-spec":
        raise BadRequest("source.dependencies.spec: there is no such API specification.")
    version = store.find_version(tx, value["id"], value.get("lastVersion") or "")
    if version is None:
        raise BadRequest("source.dependencies.spec: the API specification has no good version yet.")
    return version


class _Pages:
    """The pages of one specification, parents before children."""

    def __init__(self, asked: Asked, description: Description, words: Words) -> None:
        self._asked = asked
        self.words = words
        self._description = description
        self._slugs: dict[str | None, set[str]] = {}
        self.pages: list[Page] = []
        self.keys: dict[str, str] = {}
        """What each page was added as, by its id."""

    def add(
        self,
        key: str,
        title: str,
        parent: str | None = None,
        *,
        props: Mapping[str, Any] | None,
        **fields: Any,
    ) -> str:
        """``props``: of the page's document; None: it has none of its own."""
        taken = self._slugs.setdefault(parent, set())
        name = free_name(slugify(fields.pop("slug", title)), taken.__contains__)
        taken.add(name)
        computed = None
        if props is not None:
            source = msgspec.to_builtins(self._asked.source)
            # Whether the whole specification may be had is said at each page of it.
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

    def add_ours(self, word: str, **fields: Any) -> str:
        """A page that we name, by one of ``Words``. Its address is the same in every language."""
        return self.add(word, getattr(self.words, word), slug=getattr(ENGLISH, word), **fields)

    def _leading_on(self) -> dict[str, str]:
        """Of the document of a page whose operations or schemas have pages of their own: the ids of these are made of
        the seed that this one's was made of."""
        return {"grouping": "by-operation", "seed": self._asked.seed}

    def add_overview(self) -> None:
        """The first page. Where nothing is said of the API it lists the tags alone, and is added after these so that
        none has another address because of it."""
        about = {"doc": "info", "page": "info", "seed": self._asked.seed}
        title = self._description.title
        self.add(_OVERVIEW, title, slug="overview", link_title=self.words.overview, props=about)
        self.pages.insert(0, self.pages.pop())

    def add_above(self, names: Sequence[str], grouping: str) -> None:
        """Pages about the whole API. ``grouping``: of the operations, which they lead to. They stand before the tags of
        these and are added after them, so that none has another address because of them."""
        first = 1 if self.pages and self.keys[self.pages[0].id] == _OVERVIEW else 0
        for at, name in enumerate(names, first):
            # How to authenticate is said beside samples, which need the room of the outline.
            layout = _ROWS if name == "authentication" else _WIDE
            props = {"doc": name, "operations": grouping, "seed": self._asked.seed}
            self.add_ours(name, props=props, layout=layout)
            self.pages.insert(at, self.pages.pop())

    def add_models(self, grouping: str) -> None:
        """``grouping``: of the operations, which the page of a model leads to."""
        names = list(self._description.schemas)
        if len(names) <= MANY or len(self.pages) + len(names) >= _PAGES:
            self.add_ours("models", props={"doc": "models"})
            return
        listing = {"doc": "models"} | self._leading_on()
        above = self.add_ours("models", props=listing, layout=_ROWS)
        for name in names:
            props = {"schema": name, "operations": grouping} | listing
            self.add(f"model {name}", name, above, props=props, layout=_ROWS)
        # Behind all models, so that none has another address because of these.
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
        above = self.add_ours("webhooks", props=props | (self._leading_on() if apart else {}))
        for key, webhook in webhooks.items() if apart else ():
            named = webhook.url_name
            self.add(f"webhook {key}", webhook.title, above, slug=named, props={**props, "webhook": key})

    def add_tags(self, tags: list[Tag], *, each_operation: bool) -> None:
        known = {tag.name: tag for tag in tags}
        made: dict[str, str] = {}
        is_grouped = any(tag.group for tag in tags)
        apart: set[str] = set()
        """Tags whose operations have pages of their own."""

        def place(tag: Tag, above: tuple[str, ...] = ()) -> str:
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
                # What is on the page, for whoever lists it without the description.
                props["operations"] = [
                    [each.key, each.title, self._description.anchor(each)]
                    for each in self._description.with_tag(tag.name)
                ]
            made[tag.name] = self.add(
                f"tag {tag.name}",
                self.words.other if tag.name == UNTAGGED else tag.title,
                parent_id,
                slug=tag.title,
                props=props | (self._leading_on() if tag.name in apart else {}),
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


def lay_out(asked: Asked, description: Description, words: Words) -> _Pages:
    """The pages that are about the API and its operations and webhooks."""
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


def _revision(tx: Transaction, asked: Asked) -> Computed:
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
        told = {"doc": "changes", "operations": grouping, "seed": asked.seed}
        pages.add_ours("changes", props=told, layout=_ROWS)
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
        pages.add_ours("download", props=None, kind="link", target={"kind": "file", "file": file.id})
    return Computed(pages.pages, items)


def _document(tx: Transaction, asked: Asked) -> Document:
    version = _version(tx, asked)
    description = load(tx, version)
    props = asked.source.props
    ref = asked.source.dependencies["spec"].ref
    doc, page = props.get("doc"), props.get("page")
    # What has pages of its own is below this one: the page leads on to it.
    leads_on = props.get("grouping") == "by-operation"
    there = msgspec.structs.replace(asked, seed=str(props.get("seed") or ""))
    if doc == "models":
        if leads_on and "schema" not in props:
            words = catalogue()[locale_of(tx, asked.space_id)]
            return _of(*_models(description, props.get("piece", 0), words, there))
        names = [str(props["schema"])] if "schema" in props else list(description.schemas)
        if not description.schemas.keys() >= {*names}:
            raise BadRequest("source.props.schema: the API specification has no such schema.")
        shown = Block("openapi-schemas", {"ref": ref, "schemas": names, "grouped": True})
        if leads_on:
            words = catalogue()[locale_of(tx, asked.space_id)]
            grouping = str(props.get("operations") or "")

            def shown_at(operation: Operation) -> Data:
                return {"kind": "page", "page": page_of(description, operation, there, grouping)}

            def model_at(name: str) -> Data:
                return {"kind": "page", "page": there.id(f"model {name}")}

            used = draw_used_by(description, names[0], shown_at, model_at, words)
            return _of(*draw_model(description, names[0], [shown], used, words))
        return _of(shown)
    if doc == "webhooks":
        webhooks = description.webhooks
        if leads_on:
            listed = ((there.id(f"webhook {key}"), each.title, each.called) for key, each in webhooks.items())
            return _of(*_rows(tx, asked, listed, len(webhooks)))
        keys = [str(props["webhook"])] if "webhook" in props else list(webhooks)
        if not webhooks.keys() >= {*keys}:
            raise BadRequest("source.props.webhook: the API specification has no such webhook.")
        return _of(*(_webhook_block(ref, webhooks[key]) for key in keys))
    if doc == "changes":
        releases = _releases(tx, version, there, str(props.get("operations") or ""))
        return _of(*draw_changelog(releases, locale_of(tx, asked.space_id)))
    if doc == "info":
        words = catalogue()[locale_of(tx, asked.space_id)]

        def tag_at(tag: Tag) -> Data:
            return {"kind": "page", "page": there.id(f"tag {tag.name}")}

        about = Drawer(description, folded=False).information(words)
        return _of(*about, *draw_tags(description, tag_at, words))
    if doc in ("authentication", "errors_and_limits"):
        words = catalogue()[locale_of(tx, asked.space_id)]
        grouping = str(props.get("operations") or "")

        def place_of(operation: Operation) -> Data:
            return {"kind": "page", "page": page_of(description, operation, there, grouping)}

        drawer = Drawer(description, folded=False)
        if doc == "authentication":
            return _of(*drawer.authentication(place_of, words))
        return _of(*drawer.conventions(conventions_of(description), place_of, words))
    if doc != "operations" or not isinstance(page, str):
        raise BadRequest(
            "source.props.doc: expected `operations` or `info` with a `page`, `authentication`, `errors_and_limits`, "
            "`models`, `webhooks` or `changes`."
        )
    if "operation" in props:
        operation = description.operations.get(str(props["operation"]))
        if operation is None:
            raise BadRequest("source.props.operation: the API specification has no such operation.")
        return _of(_operation_block(ref, operation))
    name = UNTAGGED if page == "-" else page
    tag = next((tag for tag in description.tags() if tag.name == name), None)
    if tag is None:
        raise BadRequest("source.props.page: the API specification has no such tag.")
    above = prose(tag.description) if tag.description.strip() else []
    operations = description.with_tag(tag.name)
    if leads_on:
        listed = ((there.id(each.key), each.title, each.called) for each in operations)
        return _of(*above, *_rows(tx, asked, listed, len(operations)))
    return _of(*above, *(_operation_block(ref, each) for each in operations))


def _rows(tx: Transaction, asked: Asked, listed: Iterator[tuple[str, str, str]], count: int) -> list[Block]:
    """Links to the pages of operations; where there are very many, the others unfold."""
    first, more = lead_on(islice(listed, _ROWS_OPEN)), lead_on(listed)
    if not more:
        return first
    words = catalogue()[locale_of(tx, asked.space_id)]
    return [*first, fold(words.and_more.replace("{name}", str(count - _ROWS_OPEN)), more)]


def page_of(description: Description, operation: Operation, there: Asked, grouping: str) -> str:
    """The id of the page that shows an operation or webhook."""
    if operation.webhook:
        return there.id(f"webhook {operation.key}" if len(description.webhooks) > _TOGETHER else "webhooks")
    (tag,) = tags_of(operation)
    apart = grouping == "by-operation" or description.count(tag) > _TOGETHER
    return there.id(operation.key if apart else f"tag {tag}")


def _piece_key(number: int) -> str:
    return f"models {number}" if number else "models"


def _models(description: Description, number: object, words: Words, there: Asked) -> list[Block]:
    """One of the pages that list all schemas, each with a page of its own."""
    pieces = split_models(list_models(description))
    if not isinstance(number, int) or not 0 <= number < len(pieces):
        raise BadRequest("source.props.piece: the API specification has no such page of models.")
    letters: dict[str, Data] = {}
    for at, piece in enumerate(pieces):
        page = {} if at == number else {"page": there.id(_piece_key(at))}
        for letter in piece.letters:
            letters.setdefault(letter, {"kind": "anchor", "anchor": letter_id(letter), **page})

    def place_of(name: str) -> Data:
        return {"kind": "page", "page": there.id(f"model {name}")}

    return draw_models(pieces[number], letters, place_of, words)


_conventions: WeakKeyDictionary[Description, Conventions] = WeakKeyDictionary()


def conventions_of(description: Description) -> Conventions:
    """What its operations have in common, worked out once."""
    found = _conventions.get(description)
    if found is None:
        found = _conventions[description] = find_conventions(description)
    return found


def _releases(tx: Transaction, newest: store.VersionRow, there: Asked, grouping: str) -> Iterator[Release]:
    """The versions up to this one with what each changes, as many as are read in reasonable time. ``grouping``: of the
    operations, whose pages are those of the newest version."""
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
    """The method of the operation that a computed page shows, ``event`` for a webhook; None for every other page."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return None
    props = object_of(source.get("props"))
    if "webhook" in props:
        return "event"
    return text_of(props.get("operation")).partition(" ")[0] or None


def group_of(page: Page) -> str:
    """The heading that a computed page of a tag stands under beside others; empty for every other page."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return ""
    return text_of(object_of(source.get("props")).get("group"))


class Listed(Struct, frozen=True):
    """An operation that a computed page shows: as the whole page, or at an ``anchor`` of it."""

    method: str
    path: str
    title: str
    anchor: str = ""


def list_operations(page: Page) -> list[Listed]:
    """The operations that a computed page shows, as far as it has them itself."""
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


def find_reference(tx: Transaction, asker: Asker, page: Page) -> tuple[Description, str] | None:
    """The description that a computed page is made of, and what names it; None for every other page."""
    source = source_of(page)
    if source is None or source.type != TYPE or "spec" not in source.dependencies:
        return None
    version = find_version_of(tx, asker, source.dependencies["spec"].ref)
    return (load(tx, version), version.document) if version is not None else None


def may_export(page: Page) -> bool:
    """Whether the whole specification that a computed page is made of may be had by who sees the page."""
    source = page.computed
    is_ours = source is not None and source.get("type") == TYPE
    return is_ours and object_of(object_of(source).get("props")).get("files") is True


def model_of(page: Page) -> str | None:
    """The schema that a computed page shows; empty for a page that shows or lists all of them."""
    source = page.computed
    props = object_of(source.get("props")) if source is not None and source.get("type") == TYPE else {}
    return text_of(props.get("schema")) if props.get("doc") == "models" else None


def lists_models(page: Page) -> bool:
    """Whether a computed page lists schemas that have pages of their own."""
    return (
        model_of(page) == "" and object_of(object_of(page.computed).get("props")).get("grouping") is not None
    )


def authentication_of(page: Page) -> str | None:
    """The specification of which a computed page says how to authenticate; None for every other page."""
    source = page.computed
    if source is None or source.get("type") != TYPE:
        return None
    if object_of(source.get("props")).get("doc") != "authentication":
        return None
    dependency = object_of(object_of(source.get("dependencies")).get("spec"))
    return text_of(object_of(dependency.get("ref")).get("spec")) or None


def _operation_block(ref: dict[str, Any], operation: Operation) -> Block:
    return Block("openapi-operation", {"ref": ref, "path": operation.path, "method": operation.method})


def _webhook_block(ref: dict[str, Any], webhook: Operation) -> Block:
    return Block("openapi-webhook", {"ref": ref, "name": webhook.path, "method": webhook.method})


def _of(*blocks: Block) -> Document:
    return Document(nodes=list(blocks))


# --- blocks ---------------------------------------------------------------------------------------------------


def _draw(tx: Transaction, drawing: Drawing, blocks: list[Block]) -> list[list[Block] | None]:
    # One page may show schemas by several blocks: all of them are there to link to, from what is of the same API.
    keys = [msgspec.json.encode(block.data.get("ref"), order="sorted").decode() for block in blocks]
    shown: dict[str, set[str]] = {key: set() for key in keys}
    for key, block in zip(keys, blocks, strict=True):
        if block.type == "openapi-schemas":
            shown[key].update(_names(block))
    operations = sum(block.type != "openapi-schemas" for block in blocks)
    begun = False
    many = operations + sum(map(len, shown.values())) > MANY
    drawers: dict[str, tuple[Description, Drawer] | None] = {}
    made: list[list[Block] | None] = []
    for key, block in zip(keys, blocks, strict=True):
        ref = block.data.get("ref")
        if key not in drawers:
            description = _find(tx, drawing.asker, ref)
            drawers[key] = None
            if description is not None:
                drawer = Drawer(
                    description,
                    folded=drawing.folded,
                    many=many,
                    together=operations,
                    brief=drawing.written,
                    # One that is called like the page has no heading of its own there.
                    linked=shown[key] - {drawing.title},
                    spec=_called(ref),
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


def _draw_complaint(tx: Transaction, asker: Asker, ref: Any) -> list[Block] | None:
    """What is wrong with a file, for who wrote it; None: the block shows what it names."""
    source = _find_source(tx, asker, ref)
    if not isinstance(source, local.LocalSource) or source.state != "bad":
        return None
    return [
        complain(
            f"{text_of(ref.get('name'))} cannot be shown as the description of an API. {source.complaint}"
        )
    ]


def _called(ref: Any) -> str:
    """What a block calls the specification that it shows."""
    return text_of(ref.get("spec") or ref.get("url") or ref.get("content")) if isinstance(ref, dict) else ""


def find_operation(
    tx: Transaction, asker: Asker, blocks: Iterable[Block], spec: str | None, key: str
) -> tuple[Description, Operation] | None:
    """The operation that one of these blocks of a page shows, if it can be tried: ``spec`` as the block calls the
    specification, None for whichever it is, and the operation's key."""
    for block in blocks:
        data = block.data
        if (
            spec in (None, _called(data.get("ref")))
            and f"{text_of(data.get('method')).lower()} {data.get('path')}" == key
        ):
            description = _find(tx, asker, data.get("ref"))
            operation = description.operations.get(key) if description is not None else None
            if description is not None and operation is not None and can_try(description, operation):
                return description, operation
    return None


def _names(block: Block) -> Iterable[str]:
    names = block.data.get("schemas")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _state_of(tx: Transaction, asker: Asker, ref: Any) -> str:
    source = _find_source(tx, asker, ref)
    if isinstance(source, store.VersionRow):
        return source.document
    return f"{source.content} {source.state}" if source is not None else ""


def _find(tx: Transaction, asker: Asker, ref: Any) -> Description | None:
    source = _find_source(tx, asker, ref)
    if isinstance(source, store.VersionRow):
        return load(tx, source)
    return load_local(tx, source) if source is not None and source.state == "good" else None


def _find_source(tx: Transaction, asker: Asker, ref: Any) -> store.VersionRow | local.LocalSource | None:
    if isinstance(ref, dict) and ref.get("kind") == "file":
        content = ref.get("content")
        return local.find_source(tx, asker.space_id, content) if isinstance(content, str) else None
    return find_version_of(tx, asker, ref)


def find_version_of(tx: Transaction, asker: Asker, ref: Any) -> store.VersionRow | None:
    """What a block refers to: a specification by its slug, or by the URL that it comes from."""
    if not isinstance(ref, dict):
        return None
    name = ref.get("spec")
    if ref.get("kind") == "url" and isinstance(ref.get("url"), str):
        by_url = store.find_spec_by_url(tx, asker.organization_id, ref["url"])
        name = by_url.slug if by_url is not None else None
    value = _resolve(tx, asker, {"spec": name}) if isinstance(name, str) else None
    return store.find_version(tx, value["id"], value.get("lastVersion") or "") if value else None


def _draw_block(
    description: Description, drawer: Drawer, block: Block, title: str, *, further: bool
) -> list[Block] | None:
    """``further``: an operation is above it already."""
    data = block.data
    method = str(data.get("method", "")).lower()
    if block.type == "openapi-schemas":
        return drawer.schemas(_names(block), title) or None
    if block.type == "openapi-webhook":
        operation = description.webhooks.get(f"{method} {data.get('name', '')}")
    else:
        operation = description.operations.get(f"{method} {data.get('path', '')}")
    return drawer.operation(operation, title, further=further) if operation is not None else None


resolve_with("openapi", _resolve)
compute_with(
    TYPE,
    Computer(
        document=_document,
        revision=_revision,
        state=lambda tx, asked, whole: locale_of(tx, asked.space_id),
    ),
)
on_language(lambda tx, space_id, organization_id: dependency_changed(tx, organization_id, [space_id]))
draw_with(BLOCKS, _draw, _state_of)
