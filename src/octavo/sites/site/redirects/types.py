"""Sources and destinations of redirects."""

from __future__ import annotations

from typing import Literal, assert_never

from msgspec import Struct

from octavo.kit.texts import pattern
from octavo.kit.urls import HttpUrl

Kind = Literal["site-section", "site-space", "site-page", "url"]
SEGMENT = r"(?:[A-Za-z0-9._~+-]|%[0-9A-Fa-f]{2})+"
MAX_SOURCE = 512
"""Maximum characters of a source path."""
SOURCE_PATTERN = pattern(
    rf"^/{SEGMENT}(?:/{SEGMENT})*(?:/\*)?\Z",
    "be a path, such as /guides/install or /old/*, without a query or fragment",
)


class ToSection(Struct, rename="camel", tag_field="kind", tag="site-section"):
    site_section_id: str


class ToSiteSpace(Struct, rename="camel", tag_field="kind", tag="site-space"):
    site_space_id: str


class ToPage(Struct, rename="camel", tag_field="kind", tag="site-page"):
    site_space_id: str
    page_id: str


class ToUrl(Struct, tag_field="kind", tag="url"):
    """URL outside of the site; an Octavo extension."""

    url: HttpUrl


Destination = ToSection | ToSiteSpace | ToPage | ToUrl


def columns_of(destination: Destination) -> dict[str, str | None]:
    """Return the row columns of a destination."""
    columns: dict[str, str | None] = dict.fromkeys(("section_id", "site_space_id", "page_id", "url"))
    match destination:
        case ToSection():
            return {**columns, "kind": "site-section", "section_id": destination.site_section_id}
        case ToSiteSpace():
            return {**columns, "kind": "site-space", "site_space_id": destination.site_space_id}
        case ToPage():
            ids = {"site_space_id": destination.site_space_id, "page_id": destination.page_id}
            return {**columns, "kind": "site-page", **ids}
        case ToUrl():
            return {**columns, "kind": "url", "url": destination.url}
        case _:
            assert_never(destination)
