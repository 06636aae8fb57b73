"""Versions of files in a space's repository, including files outside the synced folder."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from octavo.kit.context import Context

from .failures import Stopped
from .repository import RepositoryBusy, open_copy
from .store import SyncRow


class FileVersions(Struct, frozen=True):
    """Files in a commit. ``committed_at``: the time of the commit in milliseconds. ``versions``: the IDs of the
    files' contents, by path. Files that don't exist are omitted."""

    committed_at: int
    versions: dict[str, str]


def read_versions(context: Context, row: SyncRow, paths: Iterable[str]) -> FileVersions | None:
    """Return the versions of files in the last synced commit; None if they can't be read right now, for example
    because a sync is running."""
    if row.commit_id is None:
        return None
    try:
        name = row.project or row.space_id
        with open_copy(context.settings.data_folder, name, row.folder, row.remote) as copy:
            if not copy.has(row.commit_id):
                return None
            root = copy.root_of(row.commit_id)
            found = {path: entry[1] for path in paths if (entry := copy.find(root, path)) is not None}
            return FileVersions(copy.commit(row.commit_id).commit_time * 1000, found)
    except (RepositoryBusy, Stopped):
        return None
