"""Rows of live pages: the order of steps, snapshots, carets, and set-aside text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from octavo.content.changes.store import Author
from octavo.content.revisions.packing import pack, unpack
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Live, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page

from .types import Why


class PageKey(NamedTuple):
    """Key of a page in a branch, which is either main or the branch of a change request."""

    branch_id: str
    page_id: str


class LiveRow(Struct, frozen=True):
    """State of a live page. ``revision``: the last revision whose content is part of the page. ``unsaved_since`` and
    ``save_at``: the time of the first unsaved step, and the time of the next save; None if all changes are saved.
    ``held_until``: the time until which no one can add steps. ``refused``: the keys of the blocks that the last save
    left unchanged, as a JSON array; the ID of the page if it was too large to be saved."""

    epoch: str
    version: int
    revision: str
    saved_version: int
    unsaved_since: int | None
    save_at: int | None
    held_until: int
    touched_at: int
    refused: str = "[]"


class BatchRow(Struct, frozen=True):
    """Batch of steps. ``version``: the version after its last step. ``steps``: the steps as JSON.
    ``user_id``: the ID of its author; None if it has no author."""

    version: int
    client: str
    batch: int
    attempt: int
    user_id: str | None
    agent: str | None
    steps: str
    created_at: int


class CaretRow(Struct, frozen=True):
    client: str
    user_id: str
    version: int
    anchor: int
    head: int
    said_at: int


class SetAsideRow(Struct, frozen=True):
    id: str
    markdown: str
    why: Why
    created_at: int


_LIVE = ", ".join(LiveRow.__struct_fields__)
_BATCH = ", ".join(BatchRow.__struct_fields__)
_CARET = ", ".join(CaretRow.__struct_fields__)
_SET_ASIDE = ", ".join(SetAsideRow.__struct_fields__)
_PAGE = "branch_id = :branch AND page_id = :page"
SERVER = "server:"
"""Prefix of the client ID of steps that come from a revision."""
CARET_LIFETIME = 60_000
"""Time in milliseconds after which a caret expires unless its client reports it again."""


def _key(key: PageKey) -> dict[str, str]:
    return {"branch": key.branch_id, "page": key.page_id}


# --- pages --------------------------------------------------------------------------------------------


def find_live(tx: Transaction, key: PageKey) -> LiveRow | None:
    row = tx.one(Live(f"SELECT {_LIVE} FROM page_live WHERE {_PAGE}"), **_key(key))
    return LiveRow(*row) if row else None


def lock_live(tx: Transaction, key: PageKey) -> LiveRow | None:
    """Lock a live page until the transaction ends, and return it."""
    row = tx.one(f"SELECT {_LIVE} FROM page_live WHERE {_PAGE}{tx.for_update}", **_key(key))
    return LiveRow(*row) if row else None


def list_live(tx: Transaction, keys: Iterable[PageKey]) -> dict[PageKey, LiveRow]:
    """Return the given pages that are being edited live."""
    wanted = tx.given("keys", "branch", "page")
    rows = tx.all(
        Live(f"""SELECT branch_id, page_id, {_LIVE} FROM page_live
                 JOIN {wanted} AS k ON k.branch = branch_id AND k.page = page_id"""),
        keys=_pairs(keys),
    )
    return {PageKey(row[0], row[1]): LiveRow(*row[2:]) for row in rows}


def _pairs(keys: Iterable[PageKey]) -> str:
    return "[" + ",".join(json_list(key) for key in keys) + "]"


def insert_live(tx: Transaction, key: PageKey, epoch: str, revision: str, document: str) -> LiveRow:
    """Insert a page with its document, as JSON, at version 0. Steps of an earlier epoch are deleted."""
    tx.run(f"DELETE FROM page_steps WHERE {_PAGE}", **_key(key))
    row = LiveRow(epoch, 0, revision, 0, None, None, 0, now())
    tx.run(
        """INSERT INTO page_live
             (branch_id, page_id, epoch, version, revision, saved_version, saving_until, held_until, touched_at)
           VALUES (:branch, :page, :epoch, 0, :revision, 0, 0, 0, :at)""",
        epoch=epoch,
        revision=revision,
        at=row.touched_at,
        **_key(key),
    )
    put_snapshot(tx, key, 0, document)
    return row


def put_snapshot(tx: Transaction, key: PageKey, version: int, document: str) -> None:
    tx.run(
        """INSERT INTO page_snapshots (branch_id, page_id, version, document)
           VALUES (:branch, :page, :version, :document)
           ON CONFLICT (branch_id, page_id) DO UPDATE SET version = excluded.version, document = excluded.document""",
        version=version,
        document=pack(document),
        **_key(key),
    )


def find_snapshot(tx: Transaction, key: PageKey) -> tuple[int, str] | None:
    """Return the version and the JSON of the stored document."""
    row = tx.one(Live(f"SELECT version, document FROM page_snapshots WHERE {_PAGE}"), **_key(key))
    return (row[0], unpack(row[1])) if row else None


def set_version(
    tx: Transaction, key: PageKey, version: int, unsaved_since: int, save_at: int, moment: int
) -> None:
    """Record that steps were added, and the time at which they are due to be saved."""
    tx.run(
        f"""UPDATE page_live SET version = :version, unsaved_since = :since, save_at = :save_at, touched_at = :at
            WHERE {_PAGE}""",
        version=version,
        since=unsaved_since,
        save_at=save_at,
        at=moment,
        **_key(key),
    )


def set_revision(tx: Transaction, key: PageKey, revision: str) -> None:
    """Record the last revision whose content is part of a page."""
    tx.run(f"UPDATE page_live SET revision = :revision WHERE {_PAGE}", revision=revision, **_key(key))


def set_saved(tx: Transaction, key: PageKey, version: int, refused: str) -> None:
    """Record that the revisions contain the steps up to a version, except for the ``refused`` blocks."""
    tx.run(
        f"""UPDATE page_live SET saved_version = :version, refused = :refused,
              unsaved_since = CASE WHEN version > :version THEN :at ELSE NULL END,
              save_at = CASE WHEN version > :version THEN save_at ELSE NULL END
            WHERE {_PAGE} AND saved_version < :version""",
        version=version,
        refused=refused,
        at=now(),
        **_key(key),
    )


def refuse_page(tx: Transaction, key: PageKey) -> None:
    """Record that a page is too large to be saved. While people type in it, saves are retried after a pause."""
    tx.run(
        f"UPDATE page_live SET refused = :refused, unsaved_since = :at WHERE {_PAGE} AND save_at IS NOT NULL",
        refused=json_list([key.page_id]),
        at=now(),
        **_key(key),
    )


def move_revision(tx: Transaction, branch_id: str, before: str, revision: str) -> None:
    """Record a revision of a branch that its live pages already contain, provided that they contain the
    previous revision."""
    tx.run(
        "UPDATE page_live SET revision = :revision WHERE branch_id = :branch AND revision = :before",
        revision=revision,
        before=before,
        branch=branch_id,
    )


def claim_save(tx: Transaction, key: PageKey, until: int) -> bool:
    """Claim a page for saving until a given time. Returns whether this process got the claim."""
    return bool(
        tx.run(
            f"UPDATE page_live SET saving_until = :until WHERE {_PAGE} AND saving_until < :now AND save_at <= :now",
            until=until,
            now=now(),
            **_key(key),
        )
    )


def end_claim(tx: Transaction, key: PageKey, retry_at: int | None) -> None:
    """Release this process's claim on a page. ``retry_at``: the time at which to retry a save that failed."""
    retry = "CASE WHEN save_at < :retry THEN :retry ELSE save_at END" if retry_at is not None else "save_at"
    given = {"retry": retry_at} if retry_at is not None else {}
    tx.run(f"UPDATE page_live SET saving_until = 0, save_at = {retry} WHERE {_PAGE}", **given, **_key(key))


def hold_branch(tx: Transaction, branch_id: str, until: int) -> None:
    """Reject steps for the pages of a branch until the given time."""
    tx.run(
        "UPDATE page_live SET held_until = :until WHERE branch_id = :branch", until=until, branch=branch_id
    )


def list_unsaved(tx: Transaction, branch_id: str) -> list[PageKey]:
    """List the pages of a branch with unsaved steps."""
    rows = tx.all(
        Live("SELECT page_id FROM page_live WHERE branch_id = :branch AND save_at IS NOT NULL"),
        branch=branch_id,
    )
    return [PageKey(branch_id, row[0]) for row in rows]


def find_unsaved_since(tx: Transaction, branch_id: str) -> int | None:
    """Return the time of the first unsaved step on any page of a branch; None if all changes are saved."""
    since: int | None = tx.value(
        "SELECT min(unsaved_since) FROM page_live WHERE branch_id = :branch AND save_at IS NOT NULL",
        branch=branch_id,
    )
    return since


def find_snapshot_version(tx: Transaction, key: PageKey) -> int:
    version: int = tx.value(Live(f"SELECT version FROM page_snapshots WHERE {_PAGE}"), **_key(key))
    return version


def postpone_save(tx: Transaction, key: PageKey, version: int) -> None:
    """Postpone saving a page until it gets more steps, unless there are already steps after ``version``."""
    tx.run(
        f"UPDATE page_live SET save_at = NULL WHERE {_PAGE} AND version = :version",
        version=version,
        **_key(key),
    )


_OPEN = "(c.id IS NULL OR c.status NOT IN ('merged', 'archived'))"


def list_due(tx: Transaction, moment: int, most: int) -> list[PageKey]:
    """List pages whose steps are due to be saved."""
    rows = tx.all(
        Live(f"""SELECT l.branch_id, l.page_id FROM page_live l
                 LEFT JOIN change_requests c ON c.branch_id = l.branch_id
                 WHERE l.save_at <= :now AND l.saving_until < :now AND {_OPEN} ORDER BY l.save_at LIMIT :most"""),
        now=moment,
        most=most,
    )
    return [PageKey(*row) for row in rows]


def list_outdated(tx: Transaction, since: int, most: int) -> list[PageKey]:
    """List recently edited pages that don't contain the latest revision of their branch yet."""
    rows = tx.all(
        Live(f"""SELECT l.branch_id, l.page_id FROM page_live l JOIN branches b ON b.id = l.branch_id
                 LEFT JOIN change_requests c ON c.branch_id = l.branch_id
                 WHERE l.touched_at > :since AND l.revision <> b.revision AND {_OPEN} LIMIT :most"""),
        since=since,
        most=most,
    )
    return [PageKey(*row) for row in rows]


# --- steps --------------------------------------------------------------------------------------------


def find_last_batch(tx: Transaction, key: PageKey, client: str, user_id: str) -> int | None:
    """Return the number of the last batch of one of a person's clients."""
    batch: int | None = tx.value(
        f"""SELECT batch FROM page_steps WHERE {_PAGE} AND client = :client AND user_id = :user
            ORDER BY batch DESC LIMIT 1""",
        client=client,
        user=user_id,
        **_key(key),
    )
    return batch


def renew_epochs(tx: Transaction) -> None:
    """Start a new epoch for each page after a backup is restored, because clients may have later steps of the old
    epochs."""
    tx.run("UPDATE page_live SET epoch = :epoch", epoch=ids.new_id())


def find_writers(tx: Transaction, key: PageKey, since: int) -> dict[str, int]:
    """Return the people who added a batch since a given time, each with the number of clients that they used. External
    edits don't count."""
    clients = tx.all(
        f"""SELECT user_id, count(DISTINCT client) FROM page_steps
            WHERE {_PAGE} AND created_at >= :since AND user_id IS NOT NULL AND client NOT LIKE '{SERVER}%'
            GROUP BY user_id""",
        since=since,
        **_key(key),
    )
    return dict(clients)


def insert_batch(tx: Transaction, key: PageKey, batch: BatchRow) -> None:
    values = {name: getattr(batch, name) for name in BatchRow.__struct_fields__}
    places = ", ".join(f":{name}" for name in values)
    tx.run(
        f"INSERT INTO page_steps (branch_id, page_id, {_BATCH}) VALUES (:branch, :page, {places})",
        **values,
        **_key(key),
    )


def list_batches(tx: Transaction, key: PageKey, after: int, most: int = -1) -> list[BatchRow]:
    """List the batches after a version, in order."""
    limit = f" LIMIT {most}" if most >= 0 else ""
    rows = tx.all(
        Live(f"SELECT {_BATCH} FROM page_steps WHERE {_PAGE} AND version > :after ORDER BY version{limit}"),
        after=after,
        **_key(key),
    )
    return [BatchRow(*row) for row in rows]


def find_version_at(tx: Transaction, key: PageKey, moment: int) -> int | None:
    """Return the version of the last batch added before a given time; None if there is none."""
    row = tx.one(
        Live(f"SELECT max(version) FROM page_steps WHERE {_PAGE} AND created_at < :moment"),
        moment=moment,
        **_key(key),
    )
    return row[0] if row else None


def list_authors(tx: Transaction, key: PageKey, after: int, until: int) -> list[Author]:
    """List the authors of the steps between two versions, most recent first."""
    rows = tx.all(
        f"""SELECT user_id, agent, max(version) FROM page_steps
            WHERE {_PAGE} AND version > :after AND version <= :until AND user_id IS NOT NULL
            GROUP BY user_id, agent ORDER BY 3 DESC""",
        after=after,
        until=until,
        **_key(key),
    )
    return [Author(row[0], row[1]) for row in rows]


def list_outdated_snapshots(tx: Transaction, before: int, most: int) -> list[PageKey]:
    """List pages with steps that were added before a given time and aren't part of the stored document."""
    rows = tx.all(
        Live("""SELECT DISTINCT s.branch_id, s.page_id FROM page_steps s
                JOIN page_snapshots d ON d.branch_id = s.branch_id AND d.page_id = s.page_id AND d.version < s.version
                WHERE s.created_at < :before LIMIT :most"""),
        before=before,
        most=most,
    )
    return [PageKey(*row) for row in rows]


def remove_old(tx: Transaction, before: int, most: int) -> int:
    """Delete saved steps that were added before a given time and are part of the stored document. Return the number of
    deleted batches."""
    needed = """EXISTS (
      SELECT 1 FROM page_live l
      JOIN page_snapshots d ON d.branch_id = l.branch_id AND d.page_id = l.page_id
      WHERE l.branch_id = s.branch_id AND l.page_id = s.page_id
      AND (l.saved_version < s.version OR d.version < s.version))"""
    return tx.run(
        f"""DELETE FROM page_steps WHERE (branch_id, page_id, version) IN (
              SELECT s.branch_id, s.page_id, s.version FROM page_steps s
              WHERE s.created_at < :before AND NOT {needed} LIMIT :most)""",
        before=before,
        most=most,
    )


def remove_finished(tx: Transaction, before: int) -> None:
    """Delete the live pages of merged change requests and the fully saved live pages of main that were last edited
    before a given time. A page in main stays if its epoch starts at the latest revision, because the same epoch could
    start again."""
    tx.run(
        """DELETE FROM page_live WHERE touched_at < :before AND (
             branch_id IN (SELECT branch_id FROM change_requests WHERE status = 'merged')
             OR saved_version = version AND refused = '[]' AND epoch <> 'r' || revision
             AND branch_id IN (SELECT main_branch FROM spaces))""",
        before=before,
    )


# --- carets -------------------------------------------------------------------------------------------


def put_caret(tx: Transaction, key: PageKey, caret: CaretRow) -> None:
    values = {name: getattr(caret, name) for name in CaretRow.__struct_fields__}
    places = ", ".join(f":{name}" for name in values)
    tx.run(
        f"""INSERT INTO page_carets (branch_id, page_id, {_CARET}) VALUES (:branch, :page, {places})
            ON CONFLICT (branch_id, page_id, client, user_id) DO UPDATE SET version = excluded.version,
              anchor = excluded.anchor, head = excluded.head, said_at = excluded.said_at""",
        **values,
        **_key(key),
    )


def remove_caret(tx: Transaction, key: PageKey, client: str, user_id: str) -> None:
    """Remove the caret of one of a person's clients from a page."""
    tx.run(
        """DELETE FROM page_carets
           WHERE branch_id = :branch AND page_id = :page AND client = :client AND user_id = :user_id""",
        client=client,
        user_id=user_id,
        **_key(key),
    )


def list_carets(tx: Transaction, keys: Iterable[PageKey]) -> dict[PageKey, list[CaretRow]]:
    """Return the carets on these pages."""
    wanted = tx.given("keys", "branch", "page")
    rows = tx.all(
        Live(f"""SELECT branch_id, page_id, {_CARET} FROM page_carets
                 JOIN {wanted} AS k ON k.branch = branch_id AND k.page = page_id
                 WHERE said_at > :since ORDER BY client, user_id"""),
        keys=_pairs(keys),
        since=now() - CARET_LIFETIME,
    )
    found: dict[PageKey, list[CaretRow]] = {}
    for branch_id, page_id, *row in rows:
        found.setdefault(PageKey(branch_id, page_id), []).append(CaretRow(*row))
    return found


def has_ended_carets(tx: Transaction) -> bool:
    until = now() - CARET_LIFETIME
    return tx.one(Live("SELECT 1 FROM page_carets WHERE said_at <= :until LIMIT 1"), until=until) is not None


def remove_ended_carets(tx: Transaction) -> None:
    tx.run("DELETE FROM page_carets WHERE said_at <= :until", until=now() - CARET_LIFETIME)


# --- set-aside texts ---------------------------------------------------------------------------------


def insert_set_aside(tx: Transaction, key: PageKey, user_id: str, row: SetAsideRow) -> None:
    tx.run(
        """INSERT INTO set_aside (id, branch_id, page_id, user_id, markdown, why, created_at)
           VALUES (:id, :branch, :page, :user, :markdown, :why, :at)""",
        id=row.id,
        user=user_id,
        markdown=row.markdown,
        why=row.why,
        at=row.created_at,
        **_key(key),
    )


def list_set_aside(
    tx: Transaction, key: PageKey, user_id: str, limit: int, page: str | None
) -> Slice[SetAsideRow]:
    """List the passages that a person set aside on a page, oldest first."""
    return list_page(
        tx,
        limit,
        page,
        _SET_ASIDE,
        f"FROM set_aside WHERE {_PAGE.replace(':page', ':page_id')} AND user_id = :user",
        lambda row: SetAsideRow(*row),
        by="id",
        branch=key.branch_id,
        page_id=key.page_id,
        user=user_id,
    )


def count_set_aside(tx: Transaction, key: PageKey, user_id: str) -> int:
    count: int = tx.value(
        f"SELECT count(*) FROM set_aside WHERE {_PAGE} AND user_id = :user", user=user_id, **_key(key)
    )
    return count


def delete_set_aside(tx: Transaction, key: PageKey, user_id: str, id: str) -> bool:
    return bool(
        tx.run(
            f"DELETE FROM set_aside WHERE {_PAGE} AND user_id = :user AND id = :id",
            user=user_id,
            id=id,
            **_key(key),
        )
    )
