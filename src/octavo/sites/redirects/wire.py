"""Redirects on the wire."""

from __future__ import annotations

from typing import Annotated, assert_never

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ...kit.pagination import PageQuery
from .store import RedirectRow

_SEGMENT = r"(?:[A-Za-z0-9._~+-]|%[0-9A-Fa-f]{2})+"
Source = Annotated[str, Meta(max_length=512, pattern=rf"^/{_SEGMENT}(?:/{_SEGMENT})*\Z")]
SOURCE_PATTERN = rf"^/{_SEGMENT}(?:/{_SEGMENT})*(?:/\*)?\Z"
SourcePattern = Annotated[str, Meta(max_length=512, pattern=SOURCE_PATTERN)]
"""A path, or with `/*` behind it everything below one."""


class ToSection(Struct, rename="camel", tag_field="kind", tag="site-section"):
    site_section_id: str


class ToSiteSpace(Struct, rename="camel", tag_field="kind", tag="site-space"):
    site_space_id: str


class ToPage(Struct, rename="camel", tag_field="kind", tag="site-page"):
    site_space_id: str
    page_id: str


class ToUrl(Struct, tag_field="kind", tag="url"):
    """Ours: an address outside of the site."""

    url: Annotated[str, Meta(max_length=2048, pattern=r"^https?://.*\Z")]


Destination = ToSection | ToSiteSpace | ToPage | ToUrl


class Redirect(Struct, tag_field="object", tag="site-redirect"):
    id: str
    source: str
    destination: Destination


class FoundRedirect(Struct):
    redirect: Redirect
    target: str


class CreateRedirect(Struct):
    source: SourcePattern
    destination: Destination


class UpdateRedirect(Struct):
    source: SourcePattern | UnsetType = UNSET
    destination: Destination | UnsetType = UNSET


class ImportRedirects(Struct):
    """``csv``: a table with the columns `source`, `destination` and perhaps `intent`."""

    csv: Annotated[str, Meta(max_length=1_500_000)]


class WrongRow(Struct):
    """A row of a table that could not be done; ``row`` is its line."""

    row: int
    source: str
    message: str


class Imported(Struct):
    """How many redirects a table made, changed, removed and found as they are; and what was wrong."""

    created: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    errors: list[WrongRow] = field(default_factory=list)


class RedirectsQuery(PageQuery):
    search: Annotated[str, Meta(max_length=512)] | None = None


class SourceQuery(Struct, rename="camel"):
    source: Source
    share_key: Annotated[str, Meta(max_length=100)] | None = None


def columns_of(destination: Destination) -> dict[str, str | None]:
    """A destination as the columns of its row."""
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


def destination_of(row: RedirectRow) -> Destination:
    if row.section_id is not None:
        return ToSection(row.section_id)
    if row.url is not None:
        return ToUrl(row.url)
    assert row.site_space_id is not None, "every row leads somewhere"
    return ToSiteSpace(row.site_space_id) if row.page_id is None else ToPage(row.site_space_id, row.page_id)


def present_redirect(row: RedirectRow) -> Redirect:
    return Redirect(row.id, row.source, destination_of(row))


def present_lead(site_space_id: str, source: str, target: str) -> Redirect:
    """A redirect that is none of the site's own: the files of a space say it, or an address was left. It has the id of
    the site space."""
    return Redirect(site_space_id, source, ToUrl(target))
