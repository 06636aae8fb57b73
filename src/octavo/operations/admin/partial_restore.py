"""Restore one organization, space, or site from a backup into a running server.

The backup is first restored into a temporary folder as a separate server, so that every check of a full restore
applies. The part is then exported from that server and imported into the running server. An organization keeps its IDs.
A space or site is restored as a new object alongside the existing object. Its files contain no permissions and no page
restrictions, so only administrators can see the new spaces until they share them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.secrets.sealing import KEY_FILE
from octavo.kit.temporary import TemporaryFolder
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.auditing import Stranger, audit
from octavo.organization.spaces.store import get_space, update_space
from octavo.settings import Settings
from octavo.sites.site.store import update_site

from . import backup
from .archives import export_organization, import_organization
from .backup_storage import BackupPlace
from .continuous_restore import holds_log, restore_followed
from .docs_sites import ImportedSite, export_site_files, import_as_site_or_space
from .import_export import export_space, import_space
from .kept_backups import is_place, opened_backup
from .lookup import Kind, find_named
from .reindexing import Progress


class BackupPart(Struct, frozen=True):
    """Organization, space, or site in a backup. ``organization``: the ID of its organization. ``pages``: the number
    of pages, for a space. ``changed_at``: the time of its last change. ``present``: whether it also exists on the
    running server."""

    kind: Kind
    id: str
    title: str
    organization: str
    pages: int | None
    changed_at: str | None
    present: bool


class RestoredPart(Struct, frozen=True):
    """Restored part of a backup. ``id``: the ID of the part on this server."""

    kind: Kind
    id: str
    title: str
    organization: str


@contextmanager
def opened_copy(
    settings: Settings, address: str, until: int | None, progress: Progress = lambda done, total: None
) -> Iterator[Context]:
    """Open a backup as a separate server in a temporary folder. ``until``: the point in time to which a continuous
    backup is restored, in milliseconds.

    Raises BadRequest if the backup is damaged, too old, or too new, and Unavailable if it is from another server
    and this server doesn't have that server's key.
    """
    with TemporaryFolder("restore") as name:
        folder = Path(name)
        key = settings.data_folder / KEY_FILE
        if key.exists():
            shutil.copy(key, folder / KEY_FILE)
        copy = msgspec.structs.replace(
            settings,
            data=str(folder),
            database_url="",
            database_direct_url="",
            database_replica_url="",
            files_url="",
        )
        if is_place(address) and holds_log(place := BackupPlace(address)):
            restore_followed(copy, place, until, progress)
        elif until is not None:
            raise BadRequest("--until: requires a folder or bucket written by `octavo backup --follow`")
        else:
            with opened_backup(address) as file:
                backup.restore(copy, file, progress)
        context = open_context(copy)
        try:
            yield context
        finally:
            close_context(context)


_LIST = """
    SELECT 'organization', o.id, o.title, o.id, NULL, NULL FROM organizations o
    UNION ALL
    SELECT 'space', s.id, s.title, s.organization_id,
      (SELECT count(*) FROM page_versions p JOIN branches b ON b.id = p.branch_id
       WHERE b.id = s.main_branch AND p.from_seq <= b.sequence AND p.to_seq > b.sequence),
      (SELECT r.created_at FROM revisions r WHERE r.id = s.main_revision)
      FROM spaces s WHERE s.deleted_at IS NULL
    UNION ALL
    SELECT 'site', t.id, t.title, t.organization_id, NULL, NULL FROM sites t
    ORDER BY 4, 1, 3, 2
"""


def list_backup_parts(context: Context, copy: Context) -> list[BackupPart]:
    """Return the parts of a backup that can be restored separately, by organization."""
    with copy.db.read() as tx:
        rows = tx.all(_LIST)
    with context.db.read() as tx:
        present = {(row[0], row[1]) for row in tx.all(_LIST)}
    return [
        BackupPart(
            kind=kind,
            id=id,
            title=title,
            organization=organization,
            pages=pages,
            changed_at=None if changed_at is None else iso(changed_at),
            present=(kind, id) in present,
        )
        for kind, id, title, organization, pages, changed_at in rows
    ]


def restore_part(
    context: Context,
    copy: Context,
    kind: Kind,
    name: str,
    *,
    organization_id: str | None = None,
    label: str,
    progress: Progress = lambda done, total: None,
) -> RestoredPart:
    """Restore an organization with its IDs, or a space or a site as a new object.

    ``name``: the ID, URL, or title of the part in the backup. ``organization_id``: the organization to restore a
    space or site to; by default, the original one. ``label``: text about the backup to add to the title,
    such as a date.

    Raises NotFound if the part isn't in the backup, and BadRequest if the part is an organization that still exists
    on this server.
    """
    found = find_named(copy, name, [kind])
    with TemporaryFolder("part") as folder:
        files = Path(folder, "files")
        if kind == "organization":
            _require_missing(context, found.id)
            export_organization(copy, found.id, files)
            import_organization(context, files, progress)
            part = RestoredPart("organization", found.id, found.title, found.id)
        else:
            target = organization_id or _organization_of(context, copy, kind, found.id)
            title = f"{found.title} ({label})"
            if kind == "space":
                export_space(copy, found.id, files)
                outcome = import_space(
                    context,
                    str(files),
                    organization_id=target,
                    title=title,
                    kind="octavo",
                    progress=progress,
                    private=True,
                ).outcome
                part = RestoredPart("space", outcome.space, title, target)
            else:
                export_site_files(copy, found.id, files)
                brought = import_as_site_or_space(
                    context,
                    str(files),
                    organization_id=target,
                    new_site=True,
                    progress=progress,
                    private=True,
                )
                assert isinstance(brought, ImportedSite), (
                    "an exported site has a description of its structure"
                )
                with context.db.write() as tx:
                    update_site(tx, brought.site, title=title)
                    for done in brought.spaces.values():
                        space = get_space(tx, done.outcome.space)
                        update_space(tx, space.id, title=f"{space.title} ({label})")
                part = RestoredPart("site", brought.site, title, target)
    with context.db.write() as tx:
        audit(
            tx,
            Stranger("command line"),
            "backup.restored",
            part.organization,
            (part.kind, part.id),
            after={"title": part.title},
        )
    return part


def _require_missing(context: Context, organization_id: str) -> None:
    with context.db.read() as tx:
        title = tx.value("SELECT title FROM organizations WHERE id = :id", id=organization_id)
        if title is not None:
            raise BadRequest(
                f"--organization: {title!r} is still on this server. Use --space or --site to"
                " restore its spaces or sites alongside the current ones."
            )


def _organization_of(context: Context, copy: Context, kind: Kind, id: str) -> str:
    """Return the organization that a space or a site in the backup belonged to. Raises BadRequest if that
    organization isn't on this server."""
    with copy.db.read() as tx:
        owner: str = tx.value(f"SELECT organization_id FROM {kind}s WHERE id = :id", id=id)
    with context.db.read() as tx:
        if not tx.one("SELECT 1 FROM organizations WHERE id = :id", id=owner):
            raise BadRequest(
                f"--org: the organization {owner!r} of this {kind} isn't on this server. Choose another"
                " organization."
            )
    return owner
