"""Labels of computed pages: titles of pages and headings, and labels in lists of changes.

These labels are part of the content that navigation, search, Markdown, and PDFs show, so they are in the space's
language. Labels that are added when a page is displayed (``BlockLabels``) are in the reader's language."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from octavo.kit.db.database import Transaction
from octavo.kit.locales import DEFAULT, find_locale, read_catalog
from octavo.organization.spaces.store import get_titles


class ReferenceWords(Struct, frozen=True, kw_only=True):
    """Labels in one language. The other languages are in ``words.toml``. ``{name}`` is replaced by a number."""

    overview: str = "Overview"
    models: str = "Models"
    webhooks: str = "Webhooks"
    changes: str = "Changes"
    download: str = "Download specification"
    other: str = "Other"
    operations: str = "Operations"
    version: str = "Version"
    servers: str = "Servers"
    authentication: str = "Authentication"
    api: str = "The API"
    breaks_callers: str = "Breaking"
    new: str = "New"
    deprecated: str = "Deprecated"
    also_changed: str = "Also changed"
    before: str = "Before"
    after: str = "After"
    breaks: str = "Breaking changes: {name}"
    and_more: str = "{name} more"
    beyond: str = "{name} more in the specification."
    cut: str = "{name} more characters in the specification."
    name: str = "Name"
    what_it_is: str = "Description"
    fields: str = "Fields"
    used_by: str = "Used by"
    in_answers: str = "Returned by"
    in_requests: str = "Sent to"
    in_events: str = "Sent in"
    in_models: str = "Part of"
    scopes: str = "Scopes"
    needed: str = "operations: {name}"
    authorize: str = "Authorization URL"
    token_address: str = "Token URL"  # noqa: S105 - a label
    sent: str = "What to send"
    refresh_address: str = "Refresh URL"
    together: str = "Together with"
    open_to_all: str = "No authentication"
    errors_and_limits: str = "Errors and limits"
    errors: str = "Errors"
    error_bodies: str = "Error format"
    rate_limits: str = "Rate limits"
    paging: str = "Pagination"
    unchanged: str = "No changes yet."


ENGLISH = ReferenceWords()


@cache
def catalogue() -> dict[str, ReferenceWords]:
    """Return the labels of every language. Raises ValueError if a label is missing in a language."""
    return read_catalog(ReferenceWords, __package__, "words.toml")


def locale_of(tx: Transaction, space_id: str) -> str:
    """Return the catalog language of a space, or English if the space has no language or an unknown language."""
    space = get_titles(tx, [space_id]).get(space_id)
    return (find_locale(space.language, catalogue()) if space is not None else None) or DEFAULT
