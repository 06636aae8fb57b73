"""Database access for synced spaces, collections, and sites, and for their sync runs. Rows are returned as frozen
records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import msgspec
from msgspec import Struct, field

from octavo.content.pages.reading import GitNames
from octavo.content.revisions.item_versions import Item
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.kit import ids
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.texts import counted
from octavo.kit.work.jobs import LeaseLost
from octavo.organization.spaces.store import set_git_state

from .urls import read_remote, web_address

OwnerKind = Literal["space", "collection", "site"]
"""Kind of a synced object: a single space, or an entire collection or site."""
Direction = Literal["both", "import", "export"]
First = Literal["import", "export"]
Status = Literal["waiting", "running", "synced", "failed", "stopped"]
RunStatus = Literal["running", "done", "nothing", "failed", "stopped"]
Provider = Literal["github", "gitlab", "gitea", "bitbucket", "other"]
BranchStatus = Literal["open", "merged", "closed"]
MOST_RUNS = 200
"""Number of runs to keep per space."""
MOST_PROBLEMS = 500
HOLD = 900_000
"""Milliseconds after which a run that hasn't extended its lock is considered dead."""


class Connected(Struct, frozen=True):
    """Sync of a space, collection, or site with a branch. The sync of a collection or site includes its spaces."""

    TABLE: ClassVar[str]
    KEY: ClassVar[str]
    """Column with the ID of the synced object."""

    remote: str
    branch: str
    folder: str
    provider: str
    direction: str
    secret: str | None
    credential: str | None
    public_key: str | None
    signing_secret: str | None
    signing_key: str | None
    host_key: str | None
    hook_secret: str
    hooked_at: int | None
    message: str
    statuses: int
    pulls: int
    pattern: str | None
    poll: int
    user_id: str
    commit_id: str | None
    status: str
    reason: str | None
    error: str | None
    first: str | None
    seen: str | None
    failures: int
    holder: str | None
    held_until: int | None
    next_at: int | None
    synced_at: int | None
    created_at: int
    updated_at: int

    @property
    def owner_id(self) -> str:
        """Return the ID of the space, the collection, or the site."""
        return str(getattr(self, self.KEY))

    @property
    def kind(self) -> OwnerKind:
        raise NotImplementedError


class SyncRow(Connected, frozen=True):
    """Sync of a space with a part of a repository. ``project``: the sync of the project that the space belongs to,
    if any."""

    TABLE = "git_syncs"
    KEY = "space_id"

    space_id: str
    project: str | None
    was: str | None
    integration: str | None
    tree_url: str | None
    commit_url: str | None
    branches_error: str | None
    revision: str | None
    pushing: str | None
    pushing_revision: str | None
    described: int | None

    @property
    def kind(self) -> OwnerKind:
        return "space"


class ProjectRow(Connected, frozen=True):
    """Sync of a collection or site, with all of its spaces."""

    TABLE = "git_projects"
    KEY = "id"

    id: str
    organization_id: str
    collection_id: str | None
    site_id: str | None
    agreed: str | None
    problems: str

    @property
    def kind(self) -> OwnerKind:
        return "collection" if self.collection_id is not None else "site"


class SyncRunRow(Struct, frozen=True):
    id: str
    space_id: str
    cause: str
    status: str
    started_at: int
    ended_at: int | None
    commit_id: str | None
    pushed: str | None
    revision: str | None
    change_id: str | None
    imported: int
    exported: int
    conflicts: int
    followed: int
    problems: str
    reason: str | None
    error: str | None


class SyncOutcome(Struct):
    """Result of a run: its counts and problems."""

    commit: str | None = None
    pushed: str | None = None
    revision: str | None = None
    change_id: str | None = None
    imported: int = 0
    exported: int = 0
    conflicts: int = 0
    followed: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_without_changes(self) -> bool:
        return not (self.pushed or self.imported or self.exported or self.conflicts or self.followed)


class BranchRow(Struct, frozen=True):
    """Branch of a repository that is synced with a change request."""

    space_id: str
    ref: str
    branch: str | None
    title: str
    pushes: int
    status: str
    created_at: int
    updated_at: int
    pull: str | None = None
    url: str | None = None
    change_id: str | None = None
    commit_id: str | None = None
    checked: str | None = None
    pushing: str | None = None
    error: str | None = None


class DraftRow(Struct, frozen=True):
    """Data of a connection for which no repository has been chosen yet. The row is kept after a repository is
    chosen."""

    id: str
    organization_id: str
    space_id: str | None
    site_id: str | None
    provider: str
    instance_url: str | None
    secret: str | None
    repository: str | None
    branch: str | None
    folder: str
    message: str | None
    pulls: int
    user_id: str
    created_at: int
    updated_at: int
    repository_id: int | None = None
    collection_id: str | None = None
    authorized_by: str | None = None
    account: int | None = None
    renewing_until: int | None = None


_DRAFT = ", ".join(DraftRow.__struct_fields__)
_RUN = ", ".join(SyncRunRow.__struct_fields__)
_BRANCH = ", ".join(BranchRow.__struct_fields__)
R = TypeVar("R", bound=Connected)


def find(tx: Transaction, of: type[R], id: str) -> R | None:
    """Return the row of the space, collection, or site with this ID."""
    found = list_rows(tx, of, f"{of.KEY} = :id", id=id)
    return found[0] if found else None


def list_rows(tx: Transaction, of: type[R], where: str, **values: object) -> list[R]:
    rows = tx.all(f"SELECT {', '.join(of.__struct_fields__)} FROM {of.TABLE} WHERE {where}", **values)
    return [of(*row) for row in rows]


_DESCRIBED = frozenset({"remote", "branch", "folder", "provider", "integration", "tree_url", "synced_at"})
"""Columns from which the description of a space's repository is derived. ``synced_at`` is included for rows from
older versions of Octavo."""


def describe(row: SyncRow) -> JsonObject:
    """Return a space's repository in the API format."""
    remote = read_remote(row.remote, local=True)
    described = {
        "repoName": remote.name,
        "installationProvider": row.provider if row.provider in ("github", "gitlab") else None,
        "parentInstallationId": row.project,
        "integration": row.integration,
        "url": row.tree_url or web_address(remote, row.provider, "tree", row.branch, row.folder),
        "updatedAt": iso(row.updated_at),
    }
    return {name: value for name, value in described.items() if value}


def _note(tx: Transaction, row: Connected) -> None:
    """Update the description of the repository that is stored with the space."""
    after = find(tx, SyncRow, row.owner_id) if isinstance(row, SyncRow) else None
    if after is not None:
        set_git_state(tx, after.space_id, msgspec.json.encode(describe(after)).decode())


def insert(tx: Transaction, row: Connected) -> None:
    names = row.__struct_fields__
    values = ", ".join(f":{name}" for name in names)
    tx.run(f"INSERT INTO {row.TABLE} ({', '.join(names)}) VALUES ({values})", **msgspec.structs.asdict(row))
    _note(tx, row)


def set_fields(tx: Transaction, row: Connected, **fields: object) -> None:
    if "commit_id" in fields and isinstance(row, SyncRow):
        fields.setdefault("was", None)  # a new commit is in the sync's current folder
    fields["updated_at"] = now()
    sets = ", ".join(f"{name} = :{name}" for name in fields)
    tx.run(f"UPDATE {row.TABLE} SET {sets} WHERE {row.KEY} = :owner", owner=row.owner_id, **fields)
    if not _DESCRIBED.isdisjoint(fields):
        _note(tx, row)


def delete(tx: Transaction, of: type[Connected], id: str) -> bool:
    """Delete a sync; for a project, also delete the syncs of its spaces."""
    spaces = [id] if of is SyncRow else [member.space_id for member in list_members(tx, id)]
    for space_id in spaces:
        set_git_state(tx, space_id, None)
    delete_draft(tx, id)
    return bool(tx.run(f"DELETE FROM {of.TABLE} WHERE {of.KEY} = :id", id=id))


def find_kind(tx: Transaction, id: str) -> OwnerKind | None:
    """Return the kind of the object with this ID (space, collection, or site) if it is connected or being
    connected; otherwise, return None."""
    row = tx.one(
        """SELECT 'space' FROM git_syncs WHERE space_id = :id
           UNION ALL SELECT CASE WHEN collection_id IS NULL THEN 'site' ELSE 'collection' END
             FROM git_projects WHERE id = :id
           UNION ALL SELECT CASE WHEN site_id IS NOT NULL THEN 'site'
                                 WHEN collection_id IS NOT NULL THEN 'collection' ELSE 'space' END
             FROM git_installations WHERE id = :id""",
        id=id,
    )
    return None if row is None else row[0]


def find_draft(tx: Transaction, id: str) -> DraftRow | None:
    """Return the unfinished connection of a space or a site. ``id``: the ID of the space or site."""
    row = tx.one(f"SELECT {_DRAFT} FROM git_installations WHERE id = :id", id=id)
    return DraftRow(*row) if row else None


def put_draft(tx: Transaction, row: DraftRow) -> None:
    values = ", ".join(f":{name}" for name in row.__struct_fields__)
    sets = ", ".join(f"{name} = excluded.{name}" for name in row.__struct_fields__ if name != "id")
    tx.run(
        f"INSERT INTO git_installations ({_DRAFT}) VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {sets}",
        **msgspec.structs.asdict(row),
    )


def claim_renewal(tx: Transaction, id: str, until: int) -> bool:
    """Claim the renewal of an installation's tokens until the given time. Return False if another process has
    already claimed it."""
    return bool(
        tx.run(
            """UPDATE git_installations SET renewing_until = :until
               WHERE id = :id AND (renewing_until IS NULL OR renewing_until < :now)""",
            id=id,
            until=until,
            now=now(),
        )
    )


def end_renewal(tx: Transaction, id: str, secret: str | None) -> None:
    """Store renewed tokens, and release the claim. ``secret``: the encrypted tokens; None if the provider no longer
    accepts the previous tokens."""
    tx.run(
        "UPDATE git_installations SET secret = :secret, renewing_until = NULL WHERE id = :id",
        id=id,
        secret=secret,
    )


def forget_app(tx: Transaction, id: str) -> None:
    """Delete the tokens and the repository of an installation that is no longer connected through an app."""
    tx.run(
        """UPDATE git_installations SET secret = NULL, authorized_by = NULL, account = NULL WHERE id = :id
           AND authorized_by IS NOT NULL""",
        id=id,
    )


def list_of_app(tx: Transaction, account: int, repository_id: int | None) -> list[str]:
    """Return the IDs of the Git installations that use an installation of the GitHub App, optionally limited to one
    repository."""
    rows = tx.all(
        """SELECT id FROM git_installations
           WHERE provider = 'github' AND account = :account AND (:any = 1 OR repository_id = :repository)""",
        account=account,
        any=int(repository_id is None),
        repository=repository_id or 0,
    )
    return [row[0] for row in rows]


def delete_draft(tx: Transaction, id: str) -> bool:
    return bool(tx.run("DELETE FROM git_installations WHERE id = :id", id=id))


def list_at(tx: Transaction, organization_id: str, branch: str, but: str) -> list[tuple[str, str]]:
    """Return the remotes and folders of the organization's other spaces, collections, and sites that are synced
    with a branch of this name."""
    rows = tx.all(
        """SELECT g.remote, g.folder FROM git_syncs g JOIN spaces s ON s.id = g.space_id
           WHERE g.branch = :branch AND g.space_id <> :but AND s.organization_id = :org AND g.project IS NULL
           UNION ALL SELECT remote, folder FROM git_projects
           WHERE branch = :branch AND id <> :but AND organization_id = :org""",
        branch=branch,
        but=but,
        org=organization_id,
    )
    return [(row[0], row[1]) for row in rows]


def list_synced(tx: Transaction) -> list[str]:
    """Return the names of the repository copies that are still in use."""
    rows = tx.all(
        "SELECT space_id FROM git_syncs WHERE project IS NULL UNION ALL SELECT id FROM git_projects"
    )
    return [row[0] for row in rows]


_DUE: dict[type[Connected], str] = {
    SyncRow: """SELECT g.space_id, s.organization_id FROM git_syncs g JOIN spaces s ON s.id = g.space_id
                WHERE g.next_at IS NOT NULL AND g.next_at <= :now AND s.deleted_at IS NULL""",
    ProjectRow: """SELECT g.id, g.organization_id FROM git_projects g LEFT JOIN collections c ON c.id = g.collection_id
                   WHERE g.next_at IS NOT NULL AND g.next_at <= :now AND c.deleted_at IS NULL""",
}


def take_due(tx: Transaction, of: type[Connected], limit: int) -> list[tuple[str, str]]:
    """Claim syncs that are due for polling, and return them with their organizations. A claimed sync that isn't
    polled becomes due again."""
    rows = tx.all(f"{_DUE[of]} ORDER BY g.next_at LIMIT :limit", now=now(), limit=limit)
    if rows:
        tx.run(
            f"UPDATE {of.TABLE} SET next_at = :later WHERE {of.KEY} IN :ids",
            later=now() + HOLD,
            ids=[row[0] for row in rows],
        )
    return [(row[0], row[1]) for row in rows]


def list_synced_sites(tx: Transaction, site_ids: Sequence[str]) -> dict[str, ProjectRow]:
    """Return the syncs of these sites, by site."""
    return {row.id: row for row in list_rows(tx, ProjectRow, "site_id IN :sites", sites=site_ids)}


def list_members(tx: Transaction, project_id: str) -> list[SyncRow]:
    """Return the syncs of the spaces in a collection or a site, by folder. The result is empty for the sync
    of a single space."""
    return list_rows(tx, SyncRow, "project = :id ORDER BY folder", id=project_id)


def list_projects_of(tx: Transaction, space_id: str) -> list[str]:
    """Return the projects that can include a space: the project of its collection, and the project with which the
    space is currently synced."""
    rows = tx.all(
        """SELECT g.id FROM git_projects g JOIN spaces s ON s.collection_id = g.collection_id WHERE s.id = :space
           UNION SELECT project FROM git_syncs WHERE space_id = :space AND project IS NOT NULL""",
        space=space_id,
    )
    return [row[0] for row in rows]


def find_organization(tx: Transaction, row: Connected) -> str | None:
    """Return the organization of a sync; None for a space in the trash."""
    if isinstance(row, ProjectRow):
        return row.organization_id
    found: str | None = tx.value(
        "SELECT organization_id FROM spaces WHERE id = :space AND deleted_at IS NULL", space=row.owner_id
    )
    return found


# --- running ------------------------------------------------------------------------------------------


def hold(tx: Transaction, of: type[R], id: str, holder: str) -> R | None:
    """Lock a sync for a run. Return None if another run has locked the sync, or if the sync doesn't exist."""
    taken = tx.run(
        f"""UPDATE {of.TABLE} SET holder = :holder, held_until = :until, status = 'running'
            WHERE {of.KEY} = :id AND (holder IS NULL OR holder = :holder OR held_until < :now)""",
        id=id,
        holder=holder,
        until=now() + HOLD,
        now=now(),
    )
    return find(tx, of, id) if taken else None


def require_held(tx: Transaction, row: R, holder: str) -> R:
    """Extend the lock, and return the current row. Raises LeaseLost if another run has locked the sync, or if the
    sync no longer exists."""
    taken = tx.run(
        f"UPDATE {row.TABLE} SET held_until = :until WHERE {row.KEY} = :id AND holder = :holder",
        id=row.owner_id,
        holder=holder,
        until=now() + HOLD,
    )
    found = find(tx, type(row), row.owner_id) if taken else None
    if found is None:
        raise LeaseLost(row.owner_id)
    return found


# --- followed branches --------------------------------------------------------------------------------


def list_branches(tx: Transaction, space_id: str) -> list[BranchRow]:
    """Return all followed branches of a space, sorted by ref."""
    rows = tx.all(f"SELECT {_BRANCH} FROM git_branches WHERE space_id = :space ORDER BY ref", space=space_id)
    return [BranchRow(*row) for row in rows]


def list_branches_page(tx: Transaction, space_id: str, limit: int, page: str | None) -> Slice[BranchRow]:
    """Return a page of the tracked branches that have a change request, sorted by ref."""
    return list_page(
        tx,
        limit,
        page,
        _BRANCH,
        "FROM git_branches WHERE space_id = :space AND change_id IS NOT NULL",
        lambda row: BranchRow(*row),
        by="ref",
        space=space_id,
    )


def find_branch(tx: Transaction, space_id: str, ref: str) -> BranchRow | None:
    """Return the followed branch with this ref."""
    row = tx.one(
        f"SELECT {_BRANCH} FROM git_branches WHERE space_id = :space AND ref = :ref", space=space_id, ref=ref
    )
    return BranchRow(*row) if row else None


def find_branch_of(tx: Transaction, change_id: str) -> BranchRow | None:
    """Return the open branch of a change request; None if there is none."""
    row = tx.one(
        f"SELECT {_BRANCH} FROM git_branches WHERE change_id = :change AND status = 'open' ORDER BY ref LIMIT 1",
        change=change_id,
    )
    return BranchRow(*row) if row else None


def put_branch(tx: Transaction, row: BranchRow) -> None:
    """Insert a branch, or replace the existing branch with the same ref."""
    names = BranchRow.__struct_fields__
    sets = ", ".join(
        f"{name} = excluded.{name}" for name in names if name not in ("space_id", "ref", "created_at")
    )
    tx.run(
        f"""INSERT INTO git_branches ({_BRANCH}) VALUES ({", ".join(f":{name}" for name in names)})
            ON CONFLICT (space_id, ref) DO UPDATE SET {sets}""",
        **(msgspec.structs.asdict(row) | {"updated_at": now()}),
    )


def delete_branch(tx: Transaction, row: BranchRow) -> None:
    tx.run("DELETE FROM git_branches WHERE space_id = :space AND ref = :ref", space=row.space_id, ref=row.ref)


# --- differences from the repository --------------------------------------------------------------------


def list_ahead(tx: Transaction, space_id: str) -> tuple[dict[str, Page | None], dict[str, Item | None]]:
    """Return the repository's versions of the pages and items that differ from those in the space."""
    pages: dict[str, Page | None] = {}
    items: dict[str, Item | None] = {}
    for object_id, kind, value in tx.all(
        "SELECT object_id, kind, value FROM git_ahead WHERE space_id = :space", space=space_id
    ):
        if kind == "page":
            pages[object_id] = msgspec.json.decode(value, type=Page | None)
        else:
            items[object_id] = msgspec.json.decode(value, type=Item | None)
    return pages, items


def put_ahead(
    tx: Transaction, space_id: str, pages: Mapping[str, Page | None], items: Mapping[str, Item | None]
) -> None:
    """Replace the stored differences between the repository and the space."""
    tx.run("DELETE FROM git_ahead WHERE space_id = :space", space=space_id)
    rows: list[dict[str, Any]] = []
    for page_id, page in pages.items():
        body = page.body if page is not None else None
        rows.append({"id": page_id, "kind": "page", "value": page, "content": body})
    for item_id, item in items.items():
        content = item.content if item is not None and item.kind != "variable" else None
        kind = item.kind if item is not None else "gone"
        rows.append({"id": item_id, "kind": kind, "value": item, "content": content})
    tx.run_many(
        """INSERT INTO git_ahead (space_id, object_id, kind, value, content)
           VALUES (:space, :id, :kind, :value, :content)""",
        [{**row, "space": space_id, "value": msgspec.json.encode(row["value"]).decode()} for row in rows],
    )


def put_blobs(tx: Transaction, space_id: str, oids: Mapping[str, str]) -> None:
    tx.run_many(
        """INSERT INTO git_blobs (space_id, content, oid) VALUES (:space, :content, :oid)
           ON CONFLICT (space_id, content) DO UPDATE SET oid = excluded.oid""",
        [{"space": space_id, "content": content, "oid": oid} for content, oid in oids.items()],
    )


def find_blobs(tx: Transaction, space_id: str, contents: Iterable[str]) -> dict[str, str]:
    """Return the Git object IDs of the text and file contents that were synced, by content hash."""
    wanted = list(contents)
    found: dict[str, str] = {}
    for start in range(0, len(wanted), 500):
        for content, oid in tx.all(
            "SELECT content, oid FROM git_blobs WHERE space_id = :space AND content IN :contents",
            space=space_id,
            contents=wanted[start : start + 500],
        ):
            found[content] = oid
    return found


# --- runs ---------------------------------------------------------------------------------------------


def insert_run(tx: Transaction, space_id: str, cause: str) -> str:
    run_id = ids.new_id()
    tx.run(
        """INSERT INTO git_runs (id, space_id, cause, status, started_at)
           VALUES (:id, :space, :cause, 'running', :at)""",
        id=run_id,
        space=space_id,
        cause=cause,
        at=now(),
    )
    return run_id


def end_run(
    tx: Transaction, run_id: str, status: RunStatus, problems: Sequence[Problem] = (), **about: object
) -> None:
    kept = list(problems[:MOST_PROBLEMS])
    if len(problems) > len(kept):
        more = len(problems) - len(kept)
        kept.append(Problem("", 0, "more_problems", f"{counted(more, 'more problem')} not listed"))
    about |= {"status": status, "ended_at": now(), "problems": msgspec.json.encode(kept).decode()}
    sets = ", ".join(f"{name} = :{name}" for name in about)
    tx.run(f"UPDATE git_runs SET {sets} WHERE id = :id", id=run_id, **about)


def drop_runs(tx: Transaction, space_id: str) -> None:
    """Delete runs that are too old, and end runs that a killed process left open."""
    oldest = tx.value(
        "SELECT id FROM git_runs WHERE space_id = :space ORDER BY id DESC LIMIT 1 OFFSET :most",
        space=space_id,
        most=MOST_RUNS,
    )
    if oldest is not None:
        tx.run(
            "DELETE FROM git_runs WHERE space_id = :space AND id <= :oldest", space=space_id, oldest=oldest
        )
    tx.run(
        """UPDATE git_runs SET status = 'failed', ended_at = :at, error = 'The sync was interrupted. The next one
        continues.'
                   WHERE space_id = :space AND status = 'running'
        """,
        space=space_id,
        at=now(),
    )


def delete_run(tx: Transaction, run_id: str) -> None:
    tx.run("DELETE FROM git_runs WHERE id = :id", id=run_id)


def list_runs(tx: Transaction, space_id: str, limit: int, page: str | None) -> Slice[SyncRunRow]:
    """Return a page of runs, newest first."""
    return list_page(
        tx,
        limit,
        page,
        _RUN,
        "FROM git_runs WHERE space_id = :space",
        lambda row: SyncRunRow(*row),
        descending=True,
        space=space_id,
    )


def count_ahead(tx: Transaction, space_id: str) -> int:
    """Return the number of pages and items that differed from the repository after the last sync."""
    return int(tx.value("SELECT count(*) FROM git_ahead WHERE space_id = :space", space=space_id))


def find_names(tx: Transaction, space_id: str) -> GitNames | None:
    """Return the Git object IDs of a space's content; None if the space isn't synced."""
    found = tx.one("SELECT commit_id FROM git_syncs WHERE space_id = :space", space=space_id)
    if found is None:
        return None
    return GitNames(found[0] or "", lambda contents: find_blobs(tx, space_id, contents))


def set_first(tx: Transaction, row: Connected, first: First, seen: str | None) -> None:
    """Record the side that the next sync continues from, after the repository was rewritten. ``seen``: the
    branch's commit at the time of the decision."""
    pushing = {"pushing": None, "pushing_revision": None} if isinstance(row, SyncRow) else {}
    set_fields(tx, row, first=first, seen=seen, **pushing)
