"""Database access for import runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from octavo.content.revisions.item_versions import Item
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.errors import require_found
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.sealing import Sealer, sealed_column
from octavo.kit.texts import counted
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import SPACE, Can, role_height
from octavo.organization.access.visibility import select_visible_spaces

MAX_PROBLEMS = 1000
MORE_PROBLEMS = "more_problems"
"""Code of the problem that contains the number of problems that aren't listed."""
NOBODY = ""
"""User ID for imports with the `octavo import` command."""


class ImportRunRow(Struct, frozen=True):
    """Import run. ``source``, ``pages``, ``problems``, ``plan``, ``changes``, and ``variants``: stored as JSON.
    ``kind``: the kind of the source. ``origin``: the first run of the same source, if this run imports a newer
    state. ``folder``: the folder that contains the imported files after the run has completed. ``identity``: the
    identity of the source, for an import with the `octavo import` command."""

    id: str
    organization_id: str
    space_id: str
    change_id: str | None
    page_id: str | None
    user_id: str
    source: str
    status: str
    attempts: int
    done: int
    total: int
    pages: str
    problems: str
    error: str | None
    revision: str | None
    created_at: int
    started_at: int | None
    completed_at: int | None
    kind: str | None
    preview: bool
    plan: str | None
    origin: str | None
    folder: str | None
    changes: str | None
    identity: str | None
    variants: str | None


class ImportChanges(Struct, rename="camel"):
    """Numbers of pages and files that a newer state of a source created, updated, and deleted. ``merged``: the
    number of updated pages and files that also contain people's edits. ``kept``: the number of people's edits that
    were kept even though the source changed the same content; see ``problems``. ``changeRequest``: the change
    request with both versions, in which you can resolve the conflicts."""

    created: int = 0
    updated: int = 0
    merged: int = 0
    deleted: int = 0
    kept: int = 0
    change_request: str | UnsetType = UNSET


class ImportedPage(Struct):
    """Imported page. All pages are created at once when a run ends. ``path``: the path of its file in the source,
    as used in problems."""

    id: str
    source_url: str | UnsetType = msgspec.field(name="sourceURL", default=UNSET)
    path: str | UnsetType = UNSET
    type: Literal["page"] = "page"
    status: Literal["complete"] = "complete"


class ImportedVariant(Struct, rename="camel"):
    """Version or language of a source, and the space into which it was imported. ``path``: the prefix of its URLs
    on the site. ``default``: whether readers see this variant first. The default variant is imported into the
    target of the run."""

    key: str
    title: str
    space: str
    default: bool = False
    path: str | UnsetType = UNSET
    language: str | UnsetType = UNSET


class ImportedVariants(Struct):
    """Spaces into which the versions or languages of a source were imported. The list is empty until the run ends,
    and always empty for a source with only one variant."""

    spaces: list[ImportedVariant] = []
    site: str | UnsetType = UNSET


class ImportedContent(Struct, omit_defaults=True):
    """Original version of a page or item that a run created, without its text or bytes. ``slug``: the slug of a
    page in the source. The slug in the space may be different."""

    page: Page | None = None
    item: Item | None = None
    slug: str = ""


class PartRow(Struct, frozen=True):
    """Original version of a page or item that a run created, for comparison with the next state of the source."""

    part_id: str
    written: ImportedContent
    body: str | None
    file: str | None


_RUN = ", ".join(ImportRunRow.__struct_fields__)


def _run(row: Any) -> ImportRunRow:
    run = ImportRunRow(*row)
    return replace(run, preview=bool(run.preview))


def insert_run(
    tx: Transaction,
    *,
    organization_id: str,
    space_id: str,
    change_id: str | None,
    page_id: str | None,
    user_id: str,
    source: object,
    preview: bool = False,
    origin: str | None = None,
    identity: str | None = None,
    with_variants: bool = False,
) -> ImportRunRow:
    run_id = ids.new_id()
    tx.insert(
        "import_runs",
        id=run_id,
        organization_id=organization_id,
        space_id=space_id,
        change_id=change_id,
        page_id=page_id,
        user_id=user_id,
        source=msgspec.json.encode(source).decode(),
        status="pending",
        preview=int(preview),
        origin=origin,
        identity=identity,
        variants=msgspec.json.encode(ImportedVariants()).decode() if with_variants else None,
        created_at=now(),
    )
    return get_run(tx, run_id)


def find_run(tx: Transaction, run_id: str) -> ImportRunRow | None:
    row = tx.one(f"SELECT {_RUN} FROM import_runs WHERE id = :id", id=run_id)
    return _run(row) if row else None


def get_run(tx: Transaction, run_id: str) -> ImportRunRow:
    return require_found(find_run(tx, run_id), f"There is no import run with the ID {run_id!r}.")


class RunTarget(NamedTuple):
    """Target page of a run."""

    run_id: str
    space_id: str
    change_id: str | None
    page_id: str


def list_target_pages(tx: Transaction, organization_id: str) -> list[RunTarget]:
    """Return the target pages of the runs in an organization."""
    rows = tx.all(
        """SELECT id, space_id, change_id, page_id FROM import_runs
           WHERE organization_id = :org AND page_id IS NOT NULL""",
        org=organization_id,
    )
    return [RunTarget(*row) for row in rows]


def list_runs(
    tx: Transaction,
    org: OrgAccess,
    limit: int,
    page: str | None,
    *,
    without: Collection[str],
    space: str | None = None,
    change_request: str | None = None,
    status: str | None = None,
) -> Slice[ImportRunRow]:
    """List the runs that the caller started in spaces that they can still edit, or all runs for
    administrators, newest first. ``without``: the IDs of runs to leave out. The ``status`` `active` includes all runs
    that aren't over."""
    where, given, prefix = "organization_id = :org", dict[str, Any](org=org.organization_id), ""
    if org.role != "admin":
        seen = select_visible_spaces(org, "s.deleted_at IS NULL")
        editable = f"SELECT v.id FROM {seen.visible} v WHERE v.height >= :least"
        where = f"{where} AND user_id = :user AND space_id IN ({editable})"
        prefix = seen.prefix
        given |= {"user": org.user_id, "least": role_height(SPACE[Can.EDIT]), **seen.parameters}
    if without:
        where += " AND id NOT IN :without"
        given["without"] = list(without)
    for column, value in (("space_id", space), ("change_id", change_request)):
        if value is not None:
            where += f" AND {column} = :{column}"
            given[column] = value
    if status is not None:
        where += " AND status IN :statuses"
        given["statuses"] = ["pending", "in-progress"] if status == "active" else [status]
    return list_page(
        tx,
        limit,
        page,
        _RUN,
        f"FROM import_runs WHERE {where}",
        _run,
        descending=True,
        before=prefix,
        **given,
    )


_SECRET = sealed_column("import_runs", "secret", "id")


def put_secret(tx: Transaction, sealer: Sealer, run_id: str, user: str | None, token: str) -> None:
    """Store the token and the user of a run until the run ends. They don't belong to any space."""
    sealed = _SECRET.seal(sealer, token if user is None else f"{user} {token}", run_id)
    tx.run("UPDATE import_runs SET secret = :secret WHERE id = :id", secret=sealed, id=run_id)


def find_secret(tx: Transaction, sealer: Sealer, run_id: str) -> tuple[str | None, str]:
    """Return the user and the token of a run. The token is empty if the run has ended. Raises Unavailable if the
    key with which the token was encrypted is missing."""
    row = tx.one("SELECT secret FROM import_runs WHERE id = :id", id=run_id)
    user, _, token = (_SECRET.open(sealer, row[0], run_id) if row and row[0] else "").rpartition(" ")
    return user or None, token


def begin_run(tx: Transaction, run_id: str) -> ImportRunRow | None:
    """Mark the start of an attempt. Return None if the run has ended or doesn't exist."""
    begun = tx.run(
        """UPDATE import_runs SET status = 'in-progress', attempts = attempts + 1, done = 0, total = 0,
                                  started_at = coalesce(started_at, :at)
           WHERE id = :id AND status IN ('pending', 'in-progress')""",
        id=run_id,
        at=now(),
    )
    return get_run(tx, run_id) if begun else None


def set_progress(tx: Transaction, run_id: str, done: int, total: int) -> bool:
    """Set the progress of a run. Return False if the run was canceled or is otherwise no longer in progress."""
    return bool(
        tx.run(
            "UPDATE import_runs SET done = :done, total = :total WHERE id = :id AND status = 'in-progress'",
            id=run_id,
            done=done,
            total=total,
        )
    )


def set_kind(tx: Transaction, run_id: str, kind: str) -> None:
    """Set the kind of a run's source."""
    tx.run("UPDATE import_runs SET kind = :kind WHERE id = :id", id=run_id, kind=kind)


def end_run(
    tx: Transaction,
    run_id: str,
    status: str,
    *,
    problems: Sequence[Problem] = (),
    pages: Sequence[object] = (),
    error: str | None = None,
    revision: str | None = None,
    plan: object = None,
    folder: str | None = None,
    changes: object = None,
) -> bool:
    """End a run. Return False if it has already ended. ``folder`` and ``changes``: the new values of these fields
    of ``ImportRunRow``. Problems beyond ``MAX_PROBLEMS`` are only counted."""
    kept = list(problems[:MAX_PROBLEMS])
    if len(problems) > len(kept):
        more = len(problems) - len(kept)
        kept.append(Problem("", 0, MORE_PROBLEMS, f"{counted(more, 'more problem')} not listed"))
    return bool(
        tx.run(
            """UPDATE import_runs SET status = :status, completed_at = :at, problems = :problems, pages = :pages,
                 error = :error, revision = :revision, plan = :plan, folder = :folder, changes = :changes,
                 secret = NULL,
                 done = CASE WHEN :status = 'completed' THEN :made ELSE done END,
                 total = CASE WHEN :status = 'completed' THEN :made ELSE total END
               WHERE id = :id AND status IN ('pending', 'in-progress')""",
            id=run_id,
            status=status,
            at=now(),
            problems=msgspec.json.encode(kept).decode(),
            pages=msgspec.json.encode(pages).decode(),
            made=len(pages),
            error=error,
            revision=revision,
            plan=None if plan is None else msgspec.json.encode(plan).decode(),
            folder=folder,
            changes=None if changes is None else msgspec.json.encode(changes).decode(),
        )
    )


def set_variants(tx: Transaction, run_id: str, variants: ImportedVariants) -> None:
    tx.run(
        "UPDATE import_runs SET variants = :variants WHERE id = :id",
        variants=msgspec.json.encode(variants).decode(),
        id=run_id,
    )


# --- results of runs -----------------------------------------------------------------------------------


def completed_of(tx: Transaction, origin: str) -> list[ImportRunRow]:
    """Return the completed runs of one source, newest first."""
    rows = tx.all(
        f"""SELECT {_RUN} FROM import_runs
            WHERE (id = :origin OR origin = :origin) AND status = 'completed' AND preview = 0 ORDER BY id DESC""",
        origin=origin,
    )
    return [_run(row) for row in rows]


def origins_in(tx: Transaction, space_id: str, limit: int) -> list[tuple[str, str | None]]:
    """Return the sources most recently imported into a space, newest first. Each source is returned as its first run
    and, if the command imported the source, its identity."""
    return tx.all(
        """SELECT coalesce(origin, id), max(identity) FROM import_runs
           WHERE space_id = :space AND status = 'completed' AND preview = 0
           GROUP BY coalesce(origin, id) ORDER BY max(id) DESC LIMIT :limit""",
        space=space_id,
        limit=limit,
    )


def find_known(tx: Transaction, organization_id: str, identity: str) -> ImportRunRow | None:
    """Return the newest run in which the command imported, or started to import, a source."""
    row = tx.one(
        f"""SELECT {_RUN} FROM import_runs
            WHERE organization_id = :org AND identity = :identity AND status IN ('pending', 'completed')
            ORDER BY id DESC LIMIT 1""",
        org=organization_id,
        identity=identity,
    )
    return _run(row) if row else None


def drop_begun(tx: Transaction, space_id: str, identity: str) -> None:
    tx.run(
        "DELETE FROM import_runs WHERE space_id = :space AND identity = :identity AND status = 'pending'",
        space=space_id,
        identity=identity,
    )


def put_parts(tx: Transaction, run_id: str, parts: Iterable[PartRow]) -> None:
    tx.run_many(
        """INSERT INTO imported_parts (run_id, part_id, written, body, file)
           VALUES (:run, :part, :written, :body, :file)""",
        [
            {
                "run": run_id,
                "part": part.part_id,
                "written": msgspec.json.encode(part.written).decode(),
                "body": part.body,
                "file": part.file,
            }
            for part in parts
        ],
    )


def list_parts(tx: Transaction, run_id: str) -> list[PartRow]:
    rows = tx.all(
        "SELECT part_id, written, body, file FROM imported_parts WHERE run_id = :run ORDER BY part_id",
        run=run_id,
    )
    return [
        PartRow(part, msgspec.json.decode(written, type=ImportedContent), body, file)
        for part, written, body, file in rows
    ]


def forget_parts(tx: Transaction, run_ids: Sequence[str]) -> None:
    """Delete the recorded results of these runs, because they are no longer needed for comparison."""
    if run_ids:
        tx.run("DELETE FROM imported_parts WHERE run_id IN :runs", runs=list(run_ids))
