"""Track files in a synced space's repository, such as source code, that the space's pages link to.

A copy of a repository often starts with its latest commit, so the time of a change is known only for changes since
the first scan that saw the link.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from octavo.content.references.viewing import SpaceView
from octavo.core.checks.faults import CheckedPage
from octavo.core.freshness import read_date
from octavo.core.pages import Page
from octavo.interchange.gitsync import store as syncs
from octavo.interchange.gitsync.store import SyncRow
from octavo.interchange.gitsync.urls import read_remote, read_web_path
from octavo.kit.clock import DAY, milliseconds
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs

_MOST = 2_000
"""Maximum number of files per space."""


class LinkedFile(Struct, frozen=True):
    """File that pages link to. ``version``: the ID of its content; empty if it was removed. ``changed_at``: the
    time of its last change in milliseconds; None if it hasn't changed since Octavo first saw it. ``pages``: the IDs
    of the pages."""

    path: str
    version: str
    changed_at: int | None
    pages: tuple[str, ...]


def follow_code(
    context: Context, space_id: str, view: SpaceView, checks: Mapping[str, CheckedPage]
) -> list[LinkedFile]:
    """Compare a space's linked files with their versions in the last scan, and return the files."""
    with context.db.read() as tx:
        row = syncs.find(tx, SyncRow, space_id)
        known = _read(tx, space_id)
    linked = _list_linked(row, view, checks) if row is not None else {}
    if not linked and not known:
        return []
    # This loads the Git library, which only some installations need.
    from octavo.interchange.gitsync.versions import read_versions

    found = read_versions(context, row, linked) if row is not None and linked else None
    changed: dict[str, tuple[str, int | None]] = {}
    if found is not None:
        for path in linked:
            version = found.versions.get(path, "")
            before = known.get(path)
            if before is None and version:
                changed[path] = (version, None)
            elif before is not None and before[0] != version:
                # A file that changes often would otherwise never have changed long ago.
                is_known = before[1] is not None and any(
                    _is_older(view, id, before[1]) for id in linked[path]
                )
                changed[path] = (version, before[1] if is_known else found.committed_at)
    gone = sorted(known.keys() - linked.keys())
    if changed or gone:
        with context.db.write() as tx:
            _write(tx, space_id, changed, gone)
            jobs.advance(tx)
    current = known | changed
    return [
        LinkedFile(path, *current[path], tuple(pages)) for path, pages in linked.items() if path in current
    ]


def last_seen(page: Page) -> int:
    """Return the time at which a page was last edited or verified, in milliseconds."""
    return max(page.updated_at, end_of(page.verified_on))


def end_of(day: str | None) -> int:
    """Return the time at which a day ends, in milliseconds; 0 if there is no day."""
    found = read_date(day)
    return milliseconds(datetime(found.year, found.month, found.day, tzinfo=UTC)) + DAY if found else 0


def _is_older(view: SpaceView, page_id: str, at: int) -> bool:
    page = view.every.any_page(page_id)
    return page is not None and last_seen(page) < at


def _list_linked(row: SyncRow, view: SpaceView, checks: Mapping[str, CheckedPage]) -> dict[str, list[str]]:
    """Return the paths of files in the repository that pages link to, each with its pages."""
    remote = read_remote(row.remote, local=True)
    linked: dict[str, list[str]] = {}
    for page_id, checked in checks.items():
        page = view.every.any_page(page_id)
        if page is None:
            continue
        paths = {read_web_path(remote, row.branch, url) for url in checked.urls}
        paths |= {_path_of(row.folder, page, file) for file in checked.files}
        for path in sorted(path for path in paths if path is not None):
            if path in linked or len(linked) < _MOST:
                linked.setdefault(path, []).append(page_id)
    return linked


def _path_of(folder: str, page: Page, file: str) -> str | None:
    """Return the repository path of a file that a page links to; None if it is outside the repository."""
    above = posixpath.dirname(f"{folder}{page.file_path}") if page.file_path else folder
    path = posixpath.normpath(posixpath.join(above, file))
    return None if path.startswith("../") or path == ".." else path


def _read(tx: Transaction, space_id: str) -> dict[str, tuple[str, int | None]]:
    rows = tx.all("SELECT path, version, changed_at FROM linked_code WHERE space_id = :space", space=space_id)
    return {path: (version, changed_at) for path, version, changed_at in rows}


def _write(
    tx: Transaction, space_id: str, changed: Mapping[str, tuple[str, int | None]], gone: list[str]
) -> None:
    tx.run_many(
        """INSERT INTO linked_code (space_id, path, version, changed_at)
           VALUES (:space, :path, :version, :at)
           ON CONFLICT (space_id, path) DO UPDATE
             SET version = excluded.version, changed_at = excluded.changed_at""",
        (
            {"space": space_id, "path": path, "version": version, "at": at}
            for path, (version, at) in sorted(changed.items())
        ),
    )
    tx.run_many(
        "DELETE FROM linked_code WHERE space_id = :space AND path = :path",
        ({"space": space_id, "path": path} for path in gone),
    )
