"""Sources and destinations of redirects."""

from __future__ import annotations

from typing import Literal, assert_never

from msgspec import Struct

from octavo.core.redirects import PATH
from octavo.kit.texts import pattern
from octavo.kit.urls import HttpUrl

Kind = Literal["site-section", "site-space", "site-page", "url"]
SOURCE_PATTERN = pattern(
    rf"^{PATH}(?:/?\*)?\Z",
    "be a path, such as /guides/install, /old/*, or /old*, without a query or fragment",
)
WILDCARD = "*"
"""Ending that makes a source match all paths that start with the part before it."""


class ToSection(Struct, rename="camel", tag_field="kind", tag="site-section"):
    site_section_id: str


class ToSiteSpace(Struct, rename="camel", tag_field="kind", tag="site-space"):
    site_space_id: str


class ToPage(Struct, rename="camel", tag_field="kind", tag="site-page"):
    site_space_id: str
    page_id: str


class ToExternal(Struct, tag_field="kind", tag="external"):
    """URL outside this server's sites."""

    url: HttpUrl


class ToUrl(Struct, tag_field="kind", tag="url"):
    """URL, equivalent to ``external``; an Octavo extension. Octavo used this name before the public API had
    ``external``."""

    url: HttpUrl


class ToPath(Struct, rename="camel", tag_field="kind", tag="path"):
    """Page at a path in one of the site's spaces. The page is looked up once, when the redirect is
    written."""

    space_id: str
    path: str


Destination = ToSection | ToSiteSpace | ToPage | ToExternal
GivenDestination = ToSection | ToSiteSpace | ToPage | ToExternal | ToUrl | ToPath
"""Destination in a request."""


def columns_of(destination: Destination) -> dict[str, str | None]:
    """Return the column values for a destination."""
    columns: dict[str, str | None] = dict.fromkeys(("section_id", "site_space_id", "page_id", "url"))
    match destination:
        case ToSection():
            return {**columns, "kind": "site-section", "section_id": destination.site_section_id}
        case ToSiteSpace():
            return {**columns, "kind": "site-space", "site_space_id": destination.site_space_id}
        case ToPage():
            ids = {"site_space_id": destination.site_space_id, "page_id": destination.page_id}
            return {**columns, "kind": "site-page", **ids}
        case ToExternal():
            return {**columns, "kind": "url", "url": destination.url}
        case _:
            assert_never(destination)
