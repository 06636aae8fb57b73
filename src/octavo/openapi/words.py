"""The words of computed pages that nobody wrote: titles of pages and headings, and those around a list of changes.

They are part of the content, which navigation, search, Markdown and PDFs all show: so they are in the language of the
space. What is drawn while a page is shown is in the language of its reader (``BlockLabels``)."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from ..kit.db import Transaction
from ..kit.locales import DEFAULT, find_locale, read_catalog
from ..spaces import get_titles


class Words(Struct, frozen=True, kw_only=True):
    """In one language; ``words.toml`` has those of the others. ``{name}`` stands for a number."""

    overview: str = "Overview"
    models: str = "Models"
    webhooks: str = "Webhooks"
    changes: str = "Changes"
    download: str = "Download the specification"
    other: str = "Other"
    operations: str = "Operations"
    version: str = "Version"
    servers: str = "Servers"
    authentication: str = "Authentication"
    api: str = "The API"
    breaks_callers: str = "Breaks callers"
    new: str = "New"
    deprecated: str = "Deprecated"
    also_changed: str = "Also changed"
    before: str = "Before"
    after: str = "After"
    breaks: str = "Changes that break callers: {name}"
    and_more: str = "{name} more"
    beyond: str = "{name} more are in the specification."
    cut: str = "{name} more characters are in the specification."
    name: str = "Name"
    what_it_is: str = "What it is"
    fields: str = "Fields"
    used_by: str = "Used by"
    in_answers: str = "Answered by"
    in_requests: str = "Sent to"
    in_events: str = "Sent in"
    in_models: str = "Part of"
    scopes: str = "Scopes"
    needed: str = "operations: {name}"
    authorize: str = "Authorization address"
    token_address: str = "Token address"  # noqa: S105 - a label
    sent: str = "What to send"
    refresh_address: str = "Refresh address"
    together: str = "Together with"
    open_to_all: str = "Without authentication"
    errors_and_limits: str = "Errors and limits"
    errors: str = "Errors"
    error_bodies: str = "What errors contain"
    rate_limits: str = "Rate limits"
    paging: str = "Paging"
    unchanged: str = "Nothing has changed yet."


ENGLISH = Words()


@cache
def catalogue() -> dict[str, Words]:
    """The words of every language there is. Raises ValueError for a language that lacks one."""
    return read_catalog(Words, __package__, "words.toml")


def locale_of(tx: Transaction, space_id: str) -> str:
    """The language of the catalogue that a space is in; English where it has none, or one that is not there."""
    space = get_titles(tx, [space_id]).get(space_id)
    return (find_locale(space.language, catalogue()) if space is not None else None) or DEFAULT
