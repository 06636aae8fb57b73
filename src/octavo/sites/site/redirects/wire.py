"""Wire format of redirects."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.redirects import MAX_SOURCE, PATH
from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.kit.texts import pattern

from .editing import RedirectFields
from .store import OrderBy, RedirectRow, destination_of
from .suggesting import SuggestedRedirect
from .types import SOURCE_PATTERN, Destination, GivenDestination, ToExternal
from .upserting import MAX_UPSERTS, UpsertedRedirect, UpsertResult

Source = Annotated[
    str,
    Meta(
        max_length=MAX_SOURCE,
        pattern=pattern(
            rf"^{PATH}\Z",
            "be a path, such as /guides/install, without a query or fragment",
        ),
    ),
]
SourcePattern = Annotated[str, Meta(max_length=MAX_SOURCE, pattern=SOURCE_PATTERN)]
"""Path. With `/*` at the end, it covers all paths under the part before `/*`. With `*` at the end, it covers all
paths that start with the part before `*`."""


class Redirect(Struct, rename="camel", tag_field="object", tag="site-redirect", kw_only=True):
    id: str
    source: str
    draft: bool
    capture_wildcard: bool
    permanent: bool
    destination: Destination
    created_at: str
    updated_at: str | UnsetType = UNSET


class FoundRedirect(Struct):
    redirect: Redirect
    target: str


class CreateRedirect(Struct, rename="camel"):
    source: SourcePattern
    destination: GivenDestination
    draft: bool = False
    capture_wildcard: bool = False
    permanent: bool = False


class UpdateRedirect(Struct, rename="camel"):
    source: SourcePattern | UnsetType = UNSET
    destination: GivenDestination | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    capture_wildcard: bool | UnsetType = UNSET
    permanent: bool | UnsetType = UNSET


def fields_of(body: CreateRedirect | UpdateRedirect) -> RedirectFields:
    return RedirectFields(
        source=body.source,
        destination=body.destination,
        draft=body.draft,
        capture=body.capture_wildcard,
        permanent=body.permanent,
    )


class UpsertRedirects(Struct):
    redirects: Annotated[list[UpsertedRedirect], Meta(min_length=1, max_length=MAX_UPSERTS)]


class UpsertedRedirects(Struct):
    """Result of writing redirects. ``results``: one result for each redirect, in the same order."""

    results: list[UpsertResult]


class SuggestedRedirects(Struct):
    items: list[SuggestedRedirect]


class ImportRedirects(Struct):
    """Import of redirects. ``text``: a CSV table, or the redirects file of another platform. ``name``: the
    name of the file, which determines its format. ``csv``: the former name of ``text``, for tables.
    ``draft``: whether redirects become drafts unless the file specifies otherwise."""

    text: Annotated[str, Meta(max_length=1_500_000)] = ""
    name: Annotated[str, Meta(max_length=200)] = ""
    csv: Annotated[str, Meta(max_length=1_500_000)] = ""
    draft: bool = False

    def __post_init__(self) -> None:
        if bool(self.text) == bool(self.csv):
            raise ValueError("text: provide exactly one of `text` and `csv`")


class RedirectsQuery(PageQuery, rename="camel"):
    search: Annotated[str, Meta(max_length=512)] | None = None
    draft: bool = False
    order_by: OrderBy = "createdAt"


class SourceQuery(Struct, rename="camel"):
    source: Source
    share_key: Annotated[str, Meta(max_length=100)] | None = None


def present_redirect(row: RedirectRow) -> Redirect:
    return Redirect(
        id=row.id,
        source=row.source,
        draft=bool(row.draft),
        capture_wildcard=bool(row.capture),
        permanent=bool(row.permanent),
        destination=destination_of(row),
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at) if row.updated_at is not None else UNSET,
    )


def present_resolved(site_space_id: str, source: str, target: str, created_at: int) -> Redirect:
    """Present a redirect that comes from a space's files or from a former path instead of the site's own redirects. The
    result has the ID of the site space and the creation time of the site."""
    return Redirect(
        id=site_space_id,
        source=source,
        draft=False,
        capture_wildcard=False,
        permanent=False,
        destination=ToExternal(target),
        created_at=iso(created_at),
    )
