"""Reference for Octavo's own API, rendered from its specification like any other API reference, in the frame
of a site.

Its pages need neither a site nor the database. They are rendered from the table of operations and cached in
memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

import msgspec

from octavo.core.document.anchors import slug
from octavo.core.document.html import render
from octavo.core.document.html_context import HtmlContext
from octavo.core.document.nodes import Block, Document
from octavo.core.json_types import JsonObject
from octavo.core.pages import slugify
from octavo.errors import NotFound
from octavo.kit.db.cache import ByteCache, share
from octavo.kit.http.edge import Action, Answer, Request, Route, etag_of
from octavo.kit.processes.highlighting import Highlighter
from octavo.sites.openapi.description import ApiDescription, ApiTag, DescribedOperation, tags_of
from octavo.sites.openapi.drawing import ApiReferenceRenderer
from octavo.sites.openapi.models import (
    draw_model,
    draw_models,
    draw_used_by,
    index_models,
    letter_id,
    list_models,
    split_models,
)
from octavo.sites.openapi.overview import draw_tags
from octavo.sites.openapi.pages import conventions_of
from octavo.sites.openapi.trying import can_try, make_access, make_form

from .app import ASSET_ROUTE
from .drawing import content_security_policy, draw_page, draw_search
from .reference_search import ReferenceIndex
from .sites import own_frame
from .views import Crumb, LayoutView, LinkView, NavItem, SearchAnswer, SitePageView, SiteView

PATH = "/docs"
_SCHEMAS = "schemas"
_AUTHENTICATION = "authentication"
_ERRORS = "errors-and-limits"
_HTML = "text/html; charset=utf-8"
_SHARE = share("API reference pages", 4)
_ASK_AGAIN = {"cache-control": "no-cache", "referrer-policy": "no-referrer"}


def reference_routes(describe: Callable[[], JsonObject], home: str, machine_readable: str) -> list[Route]:
    """Return the routes of the pages under ``/docs`` and of their static files. ``describe``: a function that
    returns the specification; it is called once. ``home``: the URL that the title links to.
    ``machine_readable``: the URL of the specification itself."""
    pages = _Pages(describe, home, machine_readable)

    def answer(request: Request) -> Answer:
        return pages.answer(request.parameters.get("name", ""), request.parameters.get("operation", ""))

    return [
        Route(PATH, {"GET": Action("reference", answer)}),
        Route(f"{PATH}/~try", {"GET": Action("reference", pages.read_form)}),
        Route(f"{PATH}/~operations.json", {"GET": Action("reference", pages.list_operations)}),
        Route(f"{PATH}/~access.json", {"GET": Action("reference", pages.read_access)}),
        Route(f"{PATH}/~models.json", {"GET": Action("reference", pages.list_models)}),
        Route(f"{PATH}/~search", {"GET": Action("reference", pages.show_found)}),
        Route(f"{PATH}/~search.json", {"GET": Action("reference", pages.find)}),
        Route(f"{PATH}/{{name}}", {"GET": Action("reference", answer)}),
        Route(f"{PATH}/{{name}}/{{operation}}", {"GET": Action("reference", answer)}),
        ASSET_ROUTE,
    ]


class _Pages:
    def __init__(self, describe: Callable[[], JsonObject], home: str, machine_readable: str) -> None:
        self._describe = describe
        self._links = (LinkView(title="OpenAPI", href=machine_readable),)
        self._home = home
        self._made: ByteCache[Answer] = ByteCache(_SHARE)
        self._lock = threading.Lock()
        self._highlighter = Highlighter()

    @cached_property
    def _description(self) -> ApiDescription:
        return ApiDescription(self._describe())

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Return the names of the pages: the overview, authentication, errors and limits, one page per tag,
        and the schemas."""
        return ("", _AUTHENTICATION, _ERRORS, *self._tags, _SCHEMAS)

    @cached_property
    def _tags(self) -> dict[str, ApiTag]:
        """Return the tags, keyed by the last path segment of their pages."""
        return {slugify(tag.name): tag for tag in self._description.tags()}

    @cached_property
    def _areas(self) -> dict[str, dict[str, DescribedOperation]]:
        """Return the operations by tag. Tags and operations are keyed by the last path segments of their
        pages."""
        return {
            name: {_name_of(each): each for each in self._description.with_tag(tag.name)}
            for name, tag in self._tags.items()
        }

    @cached_property
    def _models(self) -> dict[str, int | None]:
        """Return the pages under the schemas page, keyed by their last path segment: a page for each
        schema, and the numbered pages that list schemas."""
        further = enumerate(split_models(list_models(self._description)))
        pages = {f"page-{number + 1}": number for number, _ in further if number}
        return {**pages, **dict.fromkeys(self._description.schemas)}

    def answer(self, name: str, operation: str = "") -> Answer:
        """Return the page of an area, or of an operation in the area, by its last path segments. By default,
        return the overview. Raises NotFound if there is no such page."""
        with self._lock:
            inside = self._models if name == _SCHEMAS else self._areas.get(name, {})
            if name not in self._names or (operation and operation not in inside):
                raise NotFound("There is no page at this URL.")
            key = f"{name}/{operation}"
            made = self._made.get(key)
            if made is None:
                made = self._make(name, operation)
                self._made.put(key, made, len(made.body) + 1_000)
            return made

    def read_form(self, request: Request) -> Answer:
        """Return the form for trying out an operation. The browser sends the request itself. Raises
        NotFound if there is no such operation."""
        key = parse_qs(request.query_string.decode("latin-1")).get("operation", [""])[0]
        with self._lock:
            operation = self._description.operations.get(key)
            if operation is None or not can_try(self._description, operation):
                raise NotFound("There is no page at this URL.")
            form = msgspec.structs.replace(make_form(self._description, operation), proxy="never")
        return Answer(200, msgspec.json.encode(form), "application/json", _ASK_AGAIN)

    def read_access(self, request: Request) -> Answer:
        """Return the fields of the form on the authentication page."""
        with self._lock:
            form = make_access(self._description)
        return Answer(200, msgspec.json.encode(form), "application/json", _ASK_AGAIN)

    def list_operations(self, request: Request) -> Answer:
        """Return all operations, like a site's `~operations.json`."""
        with self._lock:
            listed = [
                [each.method.upper(), each.path, each.title, f"{PATH}/{quote(name)}/{quote(at)}"]
                for name, inside in self._areas.items()
                for at, each in inside.items()
            ]
        body = msgspec.json.encode(listed)
        return Answer(200, body, "application/json", _ASK_AGAIN, etag_of(body), again=True)

    def list_models(self, request: Request) -> Answer:
        """Return all schemas, like a site's `~models.json`."""
        with self._lock:
            listed = index_models(list_models(self._description), self._model_at)
        body = msgspec.json.encode(listed)
        return Answer(200, body, "application/json", _ASK_AGAIN, etag_of(body), again=True)

    @staticmethod
    def _model_at(name: str) -> str:
        return f"{PATH}/{_SCHEMAS}/{quote(name)}"

    def find(self, request: Request) -> Answer:
        """Search the reference, and respond like a site's `~search.json`."""
        return Answer(200, msgspec.json.encode(self._search(request)), "application/json", _ASK_AGAIN)

    def show_found(self, request: Request) -> Answer:
        """Return the search results as a page, for browsers without scripts."""
        answer, site = self._search(request), self._frame()
        headers = {**_ASK_AGAIN, "content-security-policy": content_security_policy(site.theme_css)}
        return Answer(200, draw_search(site, answer, self._nav(None)).encode(), _HTML, headers)

    def _search(self, request: Request) -> SearchAnswer:
        query = parse_qs(request.query_string.decode("latin-1")).get("q", [""])[0]
        with self._lock:
            index = self._index
        return SearchAnswer(query=query, hits=tuple(index.find(query)))

    @cached_property
    def _index(self) -> ReferenceIndex:
        return ReferenceIndex(self._description, self._title, PATH, f"{PATH}/{_SCHEMAS}")

    def _frame(self) -> SiteView:
        return own_frame(self._description.title, self._home, f"{PATH}/", links=self._links, searched=True)

    def _make(self, name: str, below: str) -> Answer:
        """Render a page. ``below``: the last path segment of an operation's page; empty for an area's
        page."""
        operation = self._areas[name][below] if below and name != _SCHEMAS else None
        access = name == _AUTHENTICATION
        # These pages use the space reserved for the outline.
        bare = access or name == _SCHEMAS
        listing = name == _SCHEMAS and (not below or self._models[below] is not None)
        site = self._frame()
        origins: dict[str, None] = {}

        def try_it(data: JsonObject) -> str:
            origins.update(dict.fromkeys(data["origins"]))
            return f"{PATH}/~try?{urlencode({'operation': data['operation']})}"

        context = HtmlContext(
            highlight=self._highlighter.for_page(),
            try_it=try_it,
            authentication=lambda _: f"{PATH}/{_AUTHENTICATION}",
        )
        title = self._title(name) if operation is None else operation.title
        if name == _SCHEMAS:
            title = title if listing else below
            blocks = self._model_rows(below) if listing else self._model_blocks(below)
        else:
            blocks = self._blocks(name) if operation is None else self._operation_blocks(operation)
        drawn = render(Document(nodes=blocks), context)
        above = (Crumb(title=self._description.title, href=PATH),) if name else ()
        if below:
            above = (*above, Crumb(title=self._title(name), href=f"{PATH}/{quote(name)}"))
        page = SitePageView(
            title=title,
            body=drawn.body,
            outline=() if bare else drawn.outline,
            nav=self._nav(name, operation),
            crumbs=above,
            layout=LayoutView(width="wide", pagination=False, updated=False, outline=not bare),
            operations=drawn.operations,
            together=drawn.together,
            filter=f"{PATH}/~operations.json",
            models=f"{PATH}/~models.json" if listing else None,
            listing=drawn.listing,
            heads=drawn.heads,
            access=f"{PATH}/~access.json" if access else None,
            connect=tuple(origins),
        )
        body = draw_page(site, page).encode()
        headers = {
            **_ASK_AGAIN,
            "content-security-policy": content_security_policy(site.theme_css, page.connect),
        }
        return Answer(200, body, _HTML, headers, etag_of(body), again=True)

    def _title(self, name: str) -> str:
        if not name:
            return self._description.title
        tag = self._tags.get(name)
        return tag.title if tag is not None else name.replace("-", " ").capitalize()

    def _blocks(self, name: str) -> list[Block]:
        description = self._description
        if not name:
            about = ApiReferenceRenderer(description, folded=True).information()
            return [*about, *draw_tags(description, self._tag_place)]
        if name == _AUTHENTICATION:
            return ApiReferenceRenderer(description, folded=True).authentication(self._place_of)
        if name == _ERRORS:
            return self._renderer().conventions(conventions_of(description), self._place_of)
        rows = [
            {
                "method": each.method,
                "title": each.title,
                "path": each.path,
                "href": f"{PATH}/{quote(name)}/{quote(at)}",
                "id": slug(at),
            }
            for at, each in self._areas[name].items()
        ]
        return [Block("openapi-rows", {"rows": rows})]

    @staticmethod
    def _place_of(operation: DescribedOperation) -> JsonObject:
        (tag,) = tags_of(operation)
        return {"kind": "url", "url": f"{PATH}/{quote(slugify(tag))}/{quote(_name_of(operation))}"}

    @staticmethod
    def _tag_place(tag: ApiTag) -> JsonObject:
        return {"kind": "url", "url": f"{PATH}/{quote(slugify(tag.name))}"}

    def _operation_blocks(self, operation: DescribedOperation) -> list[Block]:
        return self._renderer().operation(operation, operation.title)

    def _renderer(self) -> ApiReferenceRenderer:
        """Return a renderer that links to schemas on their own pages."""
        schemas = self._description.schemas
        return ApiReferenceRenderer(
            self._description, folded=True, linked=schemas, schemas_at=f"{PATH}/{_SCHEMAS}"
        )

    def _model_rows(self, below: str) -> list[Block]:
        """Return the rows for one of the pages that list all schemas."""
        pieces = split_models(list_models(self._description))
        addresses = {number: name for name, number in self._models.items() if number is not None}
        letters: dict[str, dict[str, Any]] = {}
        for number, piece in enumerate(pieces):
            at = f"{PATH}/{_SCHEMAS}" + (f"/{addresses[number]}" if number else "")
            for letter in piece.letters:
                letters.setdefault(letter, {"kind": "url", "url": f"{at}#{letter_id(letter)}"})
        shown = pieces[self._models[below] or 0] if below else pieces[0]
        return draw_models(shown, letters, self._model_place)

    def _model_blocks(self, name: str) -> list[Block]:
        drawn = self._renderer().schemas([name], name)
        used = draw_used_by(self._description, name, self._place_of, self._model_place)
        return draw_model(self._description, name, drawn, used)

    def _model_place(self, name: str) -> JsonObject:
        return {"kind": "url", "url": self._model_at(name)}

    def _nav(self, current: str | None, operation: DescribedOperation | None = None) -> tuple[NavItem, ...]:
        """Return the areas, with the operations in the current area."""

        def item(name: str) -> NavItem:
            here = name == current
            inside = self._areas.get(name, {}) if here else {}
            return NavItem(
                title="Overview" if not name else self._title(name),
                href=f"{PATH}/{quote(name)}" if name else PATH,
                current=here and operation is None,
                open=here,
                count=0 if here else len(self._areas.get(name, ())),
                children=tuple(
                    NavItem(
                        title=each.title,
                        href=f"{PATH}/{quote(name)}/{quote(at)}",
                        current=each is operation,
                        method=each.method,
                    )
                    for at, each in inside.items()
                ),
            )

        return tuple(item(name) for name in self._names)


def _name_of(operation: DescribedOperation) -> str:
    """Return the last path segment of an operation's page."""
    return str(operation.data["operationId"])
