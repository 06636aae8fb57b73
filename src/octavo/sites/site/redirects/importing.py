"""Import redirects from a table with the columns ``source``, ``destination``, and ``intent``.

A row sets the destination of its source, whether or not there is a redirect from it yet; an empty destination
deletes it. Of rows with the same source, only the first counts. Invalid rows are reported, and the others are
imported.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import unquote

from msgspec import Struct, field

from octavo.content.pages.reading import ContentReader
from octavo.content.revisions.store import list_pages, main_state
from octavo.core.problems import Problem
from octavo.core.url_parts import escape_address
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from ..published import published_url
from ..store import get_site
from ..structure.store import Structure, load_structure
from . import editing, store
from .types import MAX_SOURCE, SOURCE_PATTERN, Destination, ToPage, ToSiteSpace, ToUrl

MAX_ROWS = 500
_INTENTS = ("", "live", "publish", "blank")
_SOURCE = re.compile(SOURCE_PATTERN)


class WrongRow(Struct):
    """Row of a table that could not be imported. ``row``: its line."""

    row: int
    source: str
    message: str


class Imported(Struct):
    """Number of redirects that an import created, updated, removed, and left unchanged, and its errors."""

    created: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    errors: list[WrongRow] = field(default_factory=list)


class _Row(NamedTuple):
    number: int
    source: str
    destination: str
    intent: str


def read_rows(table: str) -> list[_Row]:
    """Parse the rows of a CSV table, with line numbers. Raises BadRequest."""
    try:
        rows = list(_rows(table.removeprefix("\ufeff")))
    except csv.Error as error:
        raise BadRequest(f"csv: invalid CSV: {error}") from None
    if len(rows) > MAX_ROWS:
        raise BadRequest(f"csv: can have at most {MAX_ROWS} rows. Split the file and import the parts.")
    return rows


def _rows(table: str) -> Iterator[_Row]:
    reader = csv.DictReader(io.StringIO(table, newline=""), strict=True)
    names = [(name or "").strip().lower() for name in reader.fieldnames or []]
    if not {"source", "destination"} <= set(names):
        raise BadRequest("csv: must have the columns `source` and `destination`, and optionally `intent`")
    reader.fieldnames = names
    for row in reader:
        source, destination, intent = (
            (row.get(name) or "").strip() for name in ("source", "destination", "intent")
        )
        if source or destination:
            yield _Row(reader.line_num, source, destination, intent.lower())


def _is_source(path: str) -> bool:
    return len(path) <= MAX_SOURCE and _SOURCE.fullmatch(path) is not None


def import_redirects(tx: Transaction, to: Recipient, site: SiteAccess, table: str) -> Imported:
    """Import the rows and return the result. Raises BadRequest for an invalid table."""
    rows = read_rows(table)
    done = Imported()
    base = published_url(
        to.settings.sites_url, get_organization(tx, site.organization_id), get_site(tx, site.site_id)
    )
    structure = load_structure(tx, site.site_id)
    seen: set[str] = set()
    for row in rows:
        try:
            if not _is_source(row.source):
                raise BadRequest("source: must be a path of the site, such as /old or /old/*")
            if row.intent not in _INTENTS:
                raise BadRequest("intent: must be `live`, `publish`, or empty; drafts are not supported")
            key = store.source_key(row.source)
            if key in seen:
                raise Conflict("source: an earlier row already has this source")
            seen.add(key)
            _set(tx, to, site, structure, base, row, done)
        except (BadRequest, NotFound, Conflict) as error:
            done.errors.append(WrongRow(row.number, row.source, error.message))
    return done


def _set(
    tx: Transaction,
    to: Recipient,
    site: SiteAccess,
    structure: Structure,
    base: str,
    row: _Row,
    done: Imported,
) -> None:
    found = store.find_by_key(tx, site.site_id, store.source_key(row.source))
    if not row.destination:
        if found is not None:
            editing.delete_redirect(tx, site, found.id)
            done.removed += 1
        return
    destination = _destination(tx, to, site, structure, base, row.destination)
    if found is None:
        editing.create_redirect(tx, to.context, site, row.source, destination)
        done.created += 1
    elif store.destination_of(found) != destination:
        editing.update_redirect(tx, to.context, site, found.id, row.source, destination)
        done.updated += 1
    else:
        done.unchanged += 1


def _destination(
    tx: Transaction, to: Recipient, site: SiteAccess, structure: Structure, base: str, text: str
) -> Destination:
    """Resolve a URL or a path of the site to a destination. Raises NotFound for a path without a page."""
    if (address := escape_address(text)).startswith(base):
        text = f"/{address.removeprefix(base)}"
    if not text.startswith("/"):
        if len(text) > 2048 or not text.lower().startswith(("http://", "https://")):
            raise BadRequest("destination: must be a path of the site or a URL")
        return ToUrl(text)
    segments = [unquote(part) for part in text.partition("?")[0].partition("#")[0].split("/") if part]
    shown, path = structure.find_at(segments)
    missing = NotFound(f"destination: there is no page at {text[:200]!r} on this site.")
    if shown is None or find_space_access(tx, site.actor, Can.VIEW, shown.space_id) is None:
        raise missing
    if not path:
        return ToSiteSpace(shown.id)
    page = ContentReader(to, tx, main_state(tx, shown.space_id)).found_at(path)
    if page is None:
        raise missing
    return ToPage(shown.id, page.id)


MAX_REDIRECTED = 2_000
"""Redirects created at a time, in one transaction that others have to wait for."""


def redirect_old_urls(
    tx: Transaction, context: Context, site: SiteAccess, space_id: str, addresses: Mapping[str, str]
) -> list[Problem]:
    """Redirect the former URLs of a space's pages to their location on the site, and return what could not
    be redirected. ``addresses``: the file of each page by path below the former host. Existing redirects
    are kept."""
    shown = next(
        row.id for row in load_structure(tx, site.site_id).site_spaces.values() if row.space_id == space_id
    )
    pages = {page.file_path: page.id for page in list_pages(tx, main_state(tx, space_id)) if page.file_path}
    there = {f"/{address}": pages[path] for address, path in addresses.items() if path in pages}
    wanted = [(source, page) for source, page in there.items() if _is_source(source)]
    full = None
    for number, (source, page) in enumerate(wanted[:MAX_REDIRECTED]):
        if store.count_redirects(tx, site.site_id) >= store.MAX_REDIRECTS:
            full = number
            break
        with suppress(Conflict):
            editing.create_redirect(tx, context, site, source, ToPage(shown, page))
    left = len(wanted[MAX_REDIRECTED if full is None else full :])
    if not left:
        return []
    most = f"{MAX_REDIRECTED:,} at a time, and {store.MAX_REDIRECTS:,} per site"
    return [
        Problem("", 0, "redirect_left_out", f"{left:,} old URLs were not redirected; the limit is {most}")
    ]
