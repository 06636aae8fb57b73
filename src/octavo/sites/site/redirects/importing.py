"""Import redirects from a table or from another platform's file.

A row sets the destination of its source, whether or not a redirect from the source already exists. An empty
destination in a table deletes the redirect. If several rows have the same source, only the first one is used.
Invalid rows are reported, and all other rows are imported."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Literal
from urllib.parse import unquote

from msgspec import UNSET, Struct, field

from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.restrictions import published_seen_by
from octavo.core.problems import Problem
from octavo.core.redirects import Format, GivenRedirect
from octavo.core.sources import SourceError
from octavo.core.url_parts import escape_address
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import counted
from octavo.organization.access.authorization import SiteAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from ..published import published_url
from ..store import get_site
from ..structure.store import load_structure
from . import store
from .editing import RedirectEditor, RedirectFields
from .types import Destination, ToExternal, ToPage
from .upserting import is_source, require_source, upsert

MAX_ROWS = 500
_INTENTS = ("", "live", "draft", "publish", "blank")


class WrongRow(Struct):
    """Row that couldn't be imported. ``row``: its line number, or its number in a file without lines."""

    row: int
    source: str
    message: str


class Imported(Struct):
    """Result of an import: how many redirects were created, updated, removed, published, and unchanged, and the
    errors. ``format``: the format of the file."""

    format: Format
    created: int = 0
    updated: int = 0
    removed: int = 0
    published: int = 0
    unchanged: int = 0
    errors: list[WrongRow] = field(default_factory=list)


def import_redirects(
    tx: Transaction, to: Recipient, site: SiteAccess, text: str, name: str, *, draft: bool
) -> Imported:
    """Import the redirects in a file, and return the result. ``name``: the name of the file, which can be empty.
    ``draft``: whether redirects become drafts, unless their row specifies otherwise. Raises BadRequest if the file is
    invalid."""
    # Imported here so that only imports load the readers.
    from octavo.interchange.readers.redirect_files import format_of, read_redirects

    try:
        format = format_of(name, text)
        rows = read_redirects(format, text)
    except SourceError as error:
        raise BadRequest(f"text: {error}") from None
    if len(rows) > MAX_ROWS:
        raise BadRequest(
            f"text: must have at most {MAX_ROWS:,} redirects. Split the file, and import the parts one by"
            " one."
        )
    done = Imported(format)
    importing = _Importing(tx, to, site, draft=draft)
    seen: set[tuple[str, bool]] = set()
    for row in rows:
        try:
            if row.problem:
                raise BadRequest(row.problem)
            require_source(row.source)
            if row.intent not in _INTENTS:
                raise BadRequest("intent: must be `live`, `draft`, `publish`, or empty")
            key = (store.source_key(row.source), row.intent == "draft")
            if key in seen:
                raise Conflict("source: an earlier row already has this source")
            seen.add(key)
            outcome = importing.take(row)
        except (BadRequest, NotFound, Conflict) as error:
            done.errors.append(WrongRow(row.row, row.source, error.message))
        else:
            setattr(done, outcome, getattr(done, outcome) + 1)
    return done


class _Importing:
    def __init__(self, tx: Transaction, to: Recipient, site: SiteAccess, *, draft: bool) -> None:
        self._draft = draft
        self._editor = RedirectEditor(tx, to, site)
        self._base = published_url(
            to.settings.sites_url, get_organization(tx, site.organization_id), get_site(tx, site.site_id)
        )

    def take(self, row: GivenRedirect) -> Literal["created", "updated", "removed", "published", "unchanged"]:
        """Write one redirect, and return the outcome."""
        draft = row.intent == "draft" or (self._draft and not row.intent)
        waiting = self._editor.find(row.source, draft=True) if row.intent == "publish" else None
        destination = self._destination(row.destination) if row.destination else None
        if waiting is not None and destination in (None, store.destination_of(waiting)):
            self._editor.update(waiting, RedirectFields(draft=False))
            return "published"
        status, _ = upsert(
            self._editor,
            row.source,
            destination,
            draft=draft,
            capture=row.capture,
            permanent=UNSET if row.permanent is None else row.permanent,
        )
        return "removed" if status == "deleted" else status

    def _destination(self, text: str) -> Destination:
        """Resolve a URL or a path on the site to a destination. Raises NotFound if there is no page at the
        path."""
        if (address := escape_address(text)).startswith(self._base):
            text = f"/{address.removeprefix(self._base)}"
        if not text.startswith("/"):
            if len(text) > 2048 or not text.lower().startswith(("http://", "https://")):
                raise BadRequest("destination: must be a path on the site or a URL")
            return ToExternal(text)
        segments = [unquote(part) for part in text.partition("?")[0].partition("#")[0].split("/") if part]
        shown, path = self._editor.structure.find_at(segments)
        found = self._editor.page_at(shown, path) if shown is not None else None
        if found is None:
            raise NotFound(f"destination: there is no page at {text[:200]!r} on this site")
        return found


MAX_REDIRECTED = 2_000
"""Maximum number of redirects to create in one transaction, because other transactions must wait for it."""


def redirect_old_urls(
    tx: Transaction, to: Recipient, site: SiteAccess, space_id: str, addresses: Mapping[str, str]
) -> list[Problem]:
    """Redirect the former URLs of a space's pages to their locations on the site, and return the URLs that
    couldn't be redirected. ``addresses``: the file of each page, by its path on the former host. Existing
    redirects are kept."""
    shown = next(
        row.id for row in load_structure(tx, site.site_id).site_spaces.values() if row.space_id == space_id
    )
    state = published_seen_by(tx, space_access(tx, site.actor, Can.VIEW, space_id))
    pages = {page.file_path: page.id for page in list_pages(tx, state) if page.file_path}
    there = {f"/{address}": pages[path] for address, path in addresses.items() if path in pages}
    wanted = [(source, page) for source, page in there.items() if is_source(source)]
    full, editor = None, RedirectEditor(tx, to, site)
    for number, (source, page) in enumerate(wanted[:MAX_REDIRECTED]):
        if editor.is_full:
            full = number
            break
        # If the page is already at this URL, no redirect is needed.
        with suppress(Conflict, BadRequest):
            editor.create(RedirectFields(source=source, destination=ToPage(shown, page)))
    left = len(wanted[MAX_REDIRECTED if full is None else full :])
    if not left:
        return []
    message = (
        f"{counted(left, 'old URL')} not redirected because of the limit ({MAX_REDIRECTED:,} at a time, and "
        f"{store.MAX_REDIRECTS:,} per site). Delete unused redirects, or import the rest later"
    )
    return [Problem("", 0, "redirect_left_out", message)]
