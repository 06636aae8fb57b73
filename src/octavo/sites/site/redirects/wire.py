"""Wire types of redirects."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import PageQuery
from octavo.kit.texts import pattern

from .store import RedirectRow, destination_of
from .types import MAX_SOURCE, SEGMENT, SOURCE_PATTERN, Destination, ToUrl

Source = Annotated[
    str,
    Meta(
        max_length=MAX_SOURCE,
        pattern=pattern(
            rf"^/{SEGMENT}(?:/{SEGMENT})*\Z",
            "be a path, such as /guides/install, without a query or fragment",
        ),
    ),
]
SourcePattern = Annotated[str, Meta(max_length=MAX_SOURCE, pattern=SOURCE_PATTERN)]
"""Path, or everything below a path if followed by `/*`."""


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
    """``csv``: table with the columns `source`, `destination`, and optionally `intent`."""

    csv: Annotated[str, Meta(max_length=1_500_000)]


class RedirectsQuery(PageQuery):
    search: Annotated[str, Meta(max_length=512)] | None = None


class SourceQuery(Struct, rename="camel"):
    source: Source
    share_key: Annotated[str, Meta(max_length=100)] | None = None


def present_redirect(row: RedirectRow) -> Redirect:
    return Redirect(row.id, row.source, destination_of(row))


def present_resolved(site_space_id: str, source: str, target: str) -> Redirect:
    """Present a redirect that is not a redirect of the site itself, but found in the files of a space or due
    to a former path. Its id is that of the site space."""
    return Redirect(site_space_id, source, ToUrl(target))
