"""Read and write change requests, contributors, reviewers, and reviews in the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from octavo.content.revisions.states import Layer, State, main_state
from octavo.content.revisions.store import delete_branch
from octavo.core.merge import MergeConflict
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.authorization import OrgAccess, SpaceAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.organization.spaces.store import ON_SITE, count_new_draft, update_change_counts

from .types import ChangeOrder


class Author(NamedTuple):
    """Person who wrote content, and the agent that the person used, if any."""

    user_id: str
    agent: str | None


class ChangeRow(Struct, frozen=True):
    """Change request with the current heads of its branch and of main. ``conflicts`` and ``links``: the
    conflicts and the links as JSON. ``merged_by`` and ``merged_at``: the author and time of the revision
    that the merge created in main."""

    id: str
    space_id: str
    number: int
    branch_id: str
    status: str
    subject: str
    description: str | None
    created_by: str
    agent: str | None
    created_at: int
    updated_at: int
    revision_initial: str
    revision_merged_ancestor: str | None
    revision_merged: str | None
    edits: int
    comments: int
    issues_cluster: str | None
    links: str | None
    revision: str
    sequence: int
    base_sequence: int
    conflicts: str | None
    main_branch: str
    main_sequence: int
    main_revision: str
    merged_by: str | None
    merged_at: int | None

    @property
    def outdated(self) -> bool:
        return self.status != "merged" and self.base_sequence < self.main_sequence

    @property
    def open_conflicts(self) -> list[MergeConflict]:
        """Return the open conflicts from the last update of the change request."""
        return msgspec.json.decode(self.conflicts, type=list[MergeConflict]) if self.conflicts else []

    @property
    def state(self) -> State:
        """Return the current state of the change request."""
        return State(
            self.space_id,
            self.revision,
            (Layer(self.branch_id, self.sequence), Layer(self.main_branch, self.base_sequence)),
        )

    @property
    def below(self) -> State:
        """Return the state of main that the change request is based on. The returned state has no revision ID."""
        return State(self.space_id, "", (Layer(self.main_branch, self.base_sequence),))

    @property
    def main(self) -> State:
        """Return the head of main."""
        return State(self.space_id, self.main_revision, (Layer(self.main_branch, self.main_sequence),))


def encode_conflicts(conflicts: list[MergeConflict]) -> str | None:
    """Encode conflicts for a revision. Return None if there are none."""
    return msgspec.json.encode(conflicts).decode() if conflicts else None


_OWN = ", ".join(f"c.{name}" for name in ChangeRow.__struct_fields__[:18])
_CHANGE = f"""{_OWN}, l.revision, l.sequence, r.base_sequence, r.conflicts, m.id, m.sequence, m.revision,
              d.author, d.created_at"""
_FROM = """FROM change_requests c JOIN branches l ON l.id = c.branch_id JOIN revisions r ON r.id = l.revision
           JOIN spaces s ON s.id = c.space_id JOIN branches m ON m.id = s.main_branch
           LEFT JOIN revisions d ON d.id = c.revision_merged"""


def find_change(tx: Transaction, space_id: str, id_or_number: str) -> ChangeRow | None:
    """Return a change request of a space by ID or number."""
    row = tx.one(
        f"SELECT {_CHANGE} {_FROM} WHERE c.space_id = :space AND c.id = :id", space=space_id, id=id_or_number
    )
    if row is None and id_or_number.isascii() and id_or_number.isdigit() and len(id_or_number) <= 9:
        row = tx.one(
            f"SELECT {_CHANGE} {_FROM} WHERE c.space_id = :space AND c.number = :number",
            space=space_id,
            number=int(id_or_number),
        )
    return ChangeRow(*row) if row else None


def find_state(tx: Transaction, space_id: str, change_id: str | None) -> State:
    """Return the current state of a change request, or the state of main if no change request is given or
    it was deleted."""
    change = find_change(tx, space_id, change_id) if change_id else None
    return main_state(tx, space_id) if change is None else change.state


def get_change(tx: Transaction, change_id: str) -> ChangeRow:
    row = tx.one(f"SELECT {_CHANGE} {_FROM} WHERE c.id = :id", id=change_id)
    if row is None:
        raise NotFound(f"There is no change request with the ID {change_id!r}.")
    return ChangeRow(*row)


def list_changes_by_id(tx: Transaction, change_ids: Sequence[str]) -> list[ChangeRow]:
    """Return change requests in the order of these IDs. Deleted change requests are omitted."""
    rows = tx.all(f"SELECT {_CHANGE} {_FROM} WHERE c.id IN :ids", ids=list(change_ids)) if change_ids else []
    found = {change.id: change for change in (ChangeRow(*row) for row in rows)}
    return [found[id] for id in change_ids if id in found]


def list_numbers(tx: Transaction, change_ids: Iterable[str]) -> dict[str, int]:
    """Return the numbers of change requests by ID; deleted change requests are omitted."""
    wanted = list(dict.fromkeys(change_ids))
    found = tx.all("SELECT id, number FROM change_requests WHERE id IN :ids", ids=wanted) if wanted else []
    return {row[0]: row[1] for row in found}


def lock_change(tx: Transaction, change_id: str) -> ChangeRow:
    """Lock a change request until the transaction ends, and return it."""
    tx.one(f"SELECT 1 FROM change_requests WHERE id = :id{tx.for_update}", id=change_id)
    return get_change(tx, change_id)


class ChangeFilter(Struct, frozen=True, kw_only=True):
    """Conditions for listing change requests. ``site``: the site whose spaces the change requests belong to. ``topic``
    and ``styleguide_run``: the topic or check that they were created for. ``finding``: ``none`` for change requests
    that don't fix a finding. ``order_by``: the time to sort lists by, newest first. ``without``: the IDs of change
    requests to leave out."""

    statuses: frozenset[str]
    space: str | None = None
    site: str | None = None
    creator: str | None = None
    contributor: str | None = None
    requested_reviewer: str | None = None
    issues_cluster: str | None = None
    topic: str | None = None
    styleguide_run: str | None = None
    finding: Literal["none"] | None = None
    order_by: ChangeOrder = "createdAt"
    without: Sequence[str] = ()


_ORDERS: dict[ChangeOrder, tuple[str, tuple[type, ...]]] = {
    "createdAt": ("c.id", (str,)),
    "updatedAt": ("c.updated_at, c.id", (int, str)),
}
_FILTERS = {
    "space": "c.space_id = :in_space",
    "site": ON_SITE.format(space="c.space_id"),
    "creator": "c.created_by = :creator",
    "contributor": """EXISTS (SELECT 1 FROM change_contributors k WHERE k.change_id = c.id
                      AND k.user_id = :contributor)""",
    "requested_reviewer": """EXISTS (SELECT 1 FROM change_reviewers k WHERE k.change_id = c.id
                             AND k.user_id = :requested_reviewer)""",
    "issues_cluster": "c.issues_cluster = :issues_cluster",
}
_filters_above: dict[str, str] = {}


def register_filters(**conditions: str) -> None:
    """Register SQL conditions on change requests ``c`` for fields of ``ChangeFilter`` that depend on tables of
    higher-level packages."""
    _filters_above.update(conditions)


def _list(
    tx: Transaction,
    where: str,
    parameters: dict[str, Any],
    wanted: ChangeFilter,
    limit: int,
    page: str | None,
    *,
    before: str = "",
) -> Slice[ChangeRow]:
    statuses = sorted(wanted.statuses)
    # For a single status, an index contains the list in this order.
    where += " AND c.status = :status" if len(statuses) == 1 else " AND c.status IN :status"
    parameters = {**parameters, "status": statuses[0] if len(statuses) == 1 else statuses}
    for name, condition in (*_FILTERS.items(), *_filters_above.items()):
        if (value := getattr(wanted, name)) is not None:
            where += f" AND {condition}"
            parameters["in_space" if name == "space" else name] = value
    if wanted.without:
        where += f" AND NOT c.id {tx.among('without')}"
        parameters["without"] = json_list(wanted.without)
    by, key_types = _ORDERS[wanted.order_by]
    count = tx.value(
        f"{before} SELECT count(*) FROM change_requests c JOIN spaces s ON s.id = c.space_id WHERE {where}",
        **parameters,
    )
    return list_page(
        tx,
        limit,
        page,
        _CHANGE,
        f"{_FROM} WHERE {where}",
        lambda row: ChangeRow(*row),
        by=by,
        key_types=key_types,
        descending=True,
        before=before,
        count=count,
        **parameters,
    )


def list_changes(
    tx: Transaction, space_id: str, wanted: ChangeFilter, limit: int, page: str | None
) -> Slice[ChangeRow]:
    """List the change requests of a space, newest first."""
    return _list(tx, "c.space_id = :space", {"space": space_id}, wanted, limit, page)


def list_organization_changes(
    tx: Transaction, org: OrgAccess, wanted: ChangeFilter, limit: int, page: str | None
) -> Slice[ChangeRow]:
    """List the change requests in all spaces of an organization that the caller can see, newest first."""
    seen = select_visible_spaces(org, "s.deleted_at IS NULL")
    where = f"""c.organization_id = :organization
                AND EXISTS (SELECT 1 FROM {seen.visible} v WHERE v.id = c.space_id)"""
    return _list(tx, where, seen.parameters, wanted, limit, page, before=seen.prefix)


def list_commented(tx: Transaction, organization_id: str, wanted: ChangeFilter) -> list[ChangeRow]:
    """Return the change requests with these statuses that a contributor only commented on, in spaces that have or had
    restricted pages."""
    rows = tx.all(
        f"""SELECT {_CHANGE} {_FROM} JOIN change_contributors k ON k.change_id = c.id
            WHERE k.user_id = :contributor AND k.action = 'comment' AND NOT EXISTS (
                SELECT 1 FROM change_contributors e WHERE e.change_id = c.id AND e.user_id = k.user_id
                AND e.action = 'edit')
              AND c.organization_id = :organization AND c.status IN :statuses
              AND (:in_space = '' OR c.space_id = :in_space) AND EXISTS (
                SELECT 1 FROM branches b CROSS JOIN page_versions p
                WHERE b.space_id = c.space_id AND p.branch_id = b.id AND p.restricted = 1)""",
        contributor=wanted.contributor,
        organization=organization_id,
        statuses=sorted(wanted.statuses),
        in_space=wanted.space or "",
    )
    return [ChangeRow(*row) for row in rows]


# The cross join makes SQLite begin with the versions of the page.
_OF_PAGE = f"""{_FROM} WHERE c.id IN (
      SELECT o.id FROM page_versions v CROSS JOIN change_requests o JOIN branches b ON b.id = v.branch_id
      WHERE v.page_id = :page AND o.branch_id = v.branch_id AND o.space_id = :space
      AND o.status IN ('draft', 'open') AND v.from_seq <= b.sequence AND v.to_seq > b.sequence)"""


def list_changes_of_page(
    tx: Transaction, space_id: str, page_id: str, without: Iterable[str], limit: int, page: str | None
) -> Slice[ChangeRow]:
    """List the drafts and open change requests of a space that edit a page, newest first. ``without``: the IDs of the
    change requests to leave out."""
    return list_page(
        tx,
        limit,
        page,
        _CHANGE,
        f"{_OF_PAGE} AND NOT c.id {tx.among('without')}",
        lambda row: ChangeRow(*row),
        by="c.id",
        descending=True,
        space=space_id,
        page=page_id,
        without=json_list(without),
    )


def list_restricting_changes(tx: Transaction, space_id: str, page_id: str) -> list[ChangeRow]:
    """List the drafts and open change requests that edit a page and that contain at least one restricted page."""
    rows = tx.all(
        f"""SELECT {_CHANGE} {_OF_PAGE} AND EXISTS (
              SELECT 1 FROM page_versions p WHERE p.branch_id = c.branch_id AND p.restricted = 1)""",
        space=space_id,
        page=page_id,
    )
    return [ChangeRow(*row) for row in rows]


def count_pages(tx: Transaction, hidden: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """Return the number of pages that change requests currently edit, by branch. ``hidden``: the pages that don't
    count, by branch."""
    left_out = tx.given("hidden", "branch_id", "page_id")
    rows = tx.all(
        f"""SELECT v.branch_id, count(*) FROM page_versions v JOIN branches l ON l.id = v.branch_id
            WHERE v.branch_id {tx.among("branches")} AND v.from_seq <= l.sequence AND v.to_seq > l.sequence
              AND (v.branch_id, v.page_id) NOT IN (SELECT g.branch_id, g.page_id FROM {left_out} AS g)
            GROUP BY v.branch_id""",
        branches=json_list(hidden),
        hidden=msgspec.json.encode([(branch, page) for branch in hidden for page in hidden[branch]]).decode(),
    )
    return {row[0]: row[1] for row in rows}


# --- writing ------------------------------------------------------------------------------------------


def insert_change(
    tx: Transaction,
    branch: State,
    initial_revision: str,
    *,
    by: SpaceAccess,
    subject: str,
    issues_cluster: str | None = None,
) -> ChangeRow:
    """Insert a draft on a new branch. Its number is the count of all change requests ever created in the space."""
    change_id, moment = ids.new_id(), now()
    number = count_new_draft(tx, branch.space_id)
    tx.insert(
        "change_requests",
        id=change_id,
        space_id=branch.space_id,
        number=number,
        branch_id=branch.layers[0].branch_id,
        status="draft",
        subject=subject,
        created_by=by.user_id,
        agent=by.agent,
        created_at=moment,
        updated_at=moment,
        revision_initial=initial_revision,
        issues_cluster=issues_cluster,
    )
    return get_change(tx, change_id)


def set_fields(tx: Transaction, change: ChangeRow, **fields: Any) -> None:
    """Update columns of a change request. A new ``status`` also updates the space's change request counts."""
    named = ", ".join(f"{name} = :{name}" for name in fields)
    tx.run(
        f"UPDATE change_requests SET updated_at = :at{', ' if named else ''}{named} WHERE id = :id",
        id=change.id,
        at=now(),
        **fields,
    )
    status = fields.get("status", change.status)
    if status != change.status:
        update_change_counts(tx, change.space_id, change.status, status)


_IS_EMPTY = """c.status = 'draft' AND c.edits = 0 AND c.comments = 0 AND c.description IS NULL AND c.agent IS NULL
               AND c.issues_cluster IS NULL
               AND NOT EXISTS (SELECT 1 FROM change_contributors k WHERE k.change_id = c.id)
               AND NOT EXISTS (SELECT 1 FROM change_reviewers k WHERE k.change_id = c.id)
               AND NOT EXISTS (SELECT 1 FROM change_reviews k WHERE k.change_id = c.id)
               AND NOT EXISTS (SELECT 1 FROM page_versions v WHERE v.branch_id = c.branch_id)
               AND NOT EXISTS (SELECT 1 FROM item_versions v WHERE v.branch_id = c.branch_id)"""
"""SQL condition that a change request ``c`` is an empty draft."""


def is_empty_draft(tx: Transaction, change_id: str) -> bool:
    return (
        tx.one(f"SELECT 1 FROM change_requests c WHERE c.id = :id AND {_IS_EMPTY}", id=change_id) is not None
    )


def list_empty_drafts(tx: Transaction, before: int, limit: int) -> list[str]:
    """Return the IDs of empty drafts that were last updated before the given time."""
    rows = tx.all(
        f"SELECT c.id FROM change_requests c WHERE c.updated_at < :before AND {_IS_EMPTY} ORDER BY c.id LIMIT :most",
        before=before,
        most=limit,
    )
    return [row[0] for row in rows]


def delete_change(tx: Transaction, change: ChangeRow) -> None:
    """Delete a change request with its branch. Its number isn't reused."""
    delete_branch(tx, change.branch_id)
    update_change_counts(tx, change.space_id, change.status, "discarded")


def forget_clusters(tx: Transaction, space_id: str) -> None:
    """Remove the links from a space's change requests to questions of its former organization."""
    tx.run(
        "UPDATE change_requests SET issues_cluster = NULL WHERE space_id = :space AND issues_cluster IS NOT NULL",
        space=space_id,
    )


def add_contribution(
    tx: Transaction,
    change_id: str,
    user_id: str,
    action: str,
    *,
    accepted: bool = False,
    at: int | None = None,
) -> None:
    """Count a contribution (``edit`` or ``comment``) by a person. Edits must already be counted in the change request.
    ``accepted``: whether another person accepted the edit, such as a suggestion, and has therefore reviewed it.
    ``at``: the time of the contribution in milliseconds; by default, the current time."""
    tx.run(
        """INSERT INTO change_contributors (change_id, user_id, action, count, updated_at, edits)
           VALUES (:change, :user, :action, 1, :at,
                   (SELECT CASE WHEN :own = 1 THEN edits ELSE -1 END FROM change_requests WHERE id = :change))
           ON CONFLICT (change_id, user_id, action)
           DO UPDATE SET count = change_contributors.count + 1, updated_at = excluded.updated_at,
                         edits = CASE WHEN :own = 1 THEN excluded.edits ELSE change_contributors.edits END""",
        change=change_id,
        user=user_id,
        action=action,
        at=now() if at is None else at,
        own=0 if accepted else 1,
    )


class Contributor(Struct, frozen=True):
    user_id: str
    action: str
    count: int
    updated_at: int


def list_contributors(tx: Transaction, change_id: str) -> list[Contributor]:
    """List contributors, most recent first."""
    rows = tx.all(
        """SELECT user_id, action, count, updated_at FROM change_contributors WHERE change_id = :change
           ORDER BY updated_at DESC, user_id, action""",
        change=change_id,
    )
    return [Contributor(*row) for row in rows]


def list_editors(tx: Transaction, change_ids: Iterable[str]) -> dict[str, list[str]]:
    """List the IDs of the people who edited each change request, most recent first."""
    rows = tx.all(
        f"""SELECT change_id, user_id FROM change_contributors
            WHERE change_id {tx.among("changes")} AND action = 'edit' ORDER BY updated_at DESC, user_id""",
        changes=json_list(change_ids),
    )
    found: dict[str, list[str]] = {}
    for change_id, user_id in rows:
        found.setdefault(change_id, []).append(user_id)
    return found


def put_authors(tx: Transaction, revision_id: str, authors: Iterable[Author]) -> None:
    """Record the people whose text is in a save of a live-edited page."""
    tx.run_many(
        "INSERT INTO revision_authors (revision_id, user_id, agent) VALUES (:revision, :user, :agent)",
        [{"revision": revision_id, "user": by.user_id, "agent": by.agent or ""} for by in authors],
    )


def was_written_live(tx: Transaction, revision_id: str) -> bool:
    """Return whether a revision is a live-editing save."""
    return (
        tx.one("SELECT 1 FROM revision_authors WHERE revision_id = :revision LIMIT 1", revision=revision_id)
        is not None
    )


def list_authors(tx: Transaction, revision_ids: Iterable[str]) -> dict[str, list[str]]:
    """List the IDs of the people whose text is in each revision and in the consecutive saves before it, most recent
    first. Revisions that aren't live-editing saves are left out."""
    rows = tx.all(
        f"""SELECT h.id, a.user_id FROM revisions h
            JOIN revisions r ON r.branch_id = h.branch_id AND r.sequence <= h.sequence
              AND r.sequence > coalesce(h.saves_since, h.sequence - 1)
            JOIN revision_authors a ON a.revision_id = r.id
            WHERE h.id {tx.among("revisions")}
            GROUP BY h.id, a.user_id ORDER BY max(r.sequence) DESC, a.user_id""",
        revisions=json_list(revision_ids),
    )
    found: dict[str, list[str]] = {}
    for revision_id, user_id in rows:
        found.setdefault(revision_id, []).append(user_id)
    return found


def wrote_since_approval(tx: Transaction, change_id: str, user_id: str) -> bool:
    """Return whether a person has edited a change request since another person last approved it."""
    row = tx.one(
        """SELECT 1 FROM change_contributors k
           WHERE k.change_id = :change AND k.user_id = :user AND k.action = 'edit' AND k.edits >= 0 AND NOT EXISTS (
             SELECT 1 FROM change_reviews v WHERE v.change_id = k.change_id AND v.reviewer <> :user
             AND v.status = 'approved' AND v.edits >= k.edits AND NOT EXISTS (
               SELECT 1 FROM change_reviews n WHERE n.change_id = v.change_id AND n.reviewer = v.reviewer
               AND n.id > v.id))""",
        change=change_id,
        user=user_id,
    )
    return row is not None


# --- reviewing ----------------------------------------------------------------------------------------


class Reviewer(Struct, frozen=True):
    user_id: str
    requested_by: str
    revision: str
    created_at: int


_REVIEWER = "user_id, requested_by, revision, created_at"


def put_reviewer(tx: Transaction, change: ChangeRow, user_id: str, requested_by: str) -> Reviewer:
    """Request a review, or request it again."""
    row = tx.one(
        f"""INSERT INTO change_reviewers (change_id, user_id, requested_by, revision, created_at)
            VALUES (:change, :user, :by, :revision, :at) ON CONFLICT (change_id, user_id)
            DO UPDATE SET requested_by = excluded.requested_by, revision = excluded.revision,
                          created_at = excluded.created_at
            RETURNING {_REVIEWER}""",
        change=change.id,
        user=user_id,
        by=requested_by,
        revision=change.revision,
        at=now(),
    )
    assert row is not None
    return Reviewer(*row)


def delete_reviewer(tx: Transaction, change_id: str, user_id: str) -> bool:
    return bool(
        tx.run(
            "DELETE FROM change_reviewers WHERE change_id = :change AND user_id = :user",
            change=change_id,
            user=user_id,
        )
    )


def list_reviewers(tx: Transaction, change_id: str, limit: int, page: str | None) -> Slice[Reviewer]:
    return list_page(
        tx,
        limit,
        page,
        _REVIEWER,
        "FROM change_reviewers WHERE change_id = :change",
        lambda row: Reviewer(*row),
        by="user_id",
        change=change_id,
    )


_AUTHORS = """SELECT v.page_id, v.from_seq, r.author AS person FROM page_versions v
              JOIN revisions r ON r.branch_id = v.branch_id AND r.sequence = v.from_seq
              WHERE v.branch_id = :main AND v.page_id {pages} AND r.merged_from IS NULL AND r.author IS NOT NULL
              UNION ALL
              SELECT v.page_id, v.from_seq, k.user_id FROM page_versions v
              JOIN revisions r ON r.branch_id = v.branch_id AND r.sequence = v.from_seq
              JOIN change_contributors k ON k.change_id = r.merged_from AND k.action = 'edit'
              WHERE v.branch_id = :main AND v.page_id {pages}"""
"""SQL for the authors of page versions: the author of the revision, or the editors of the change request that it
merged."""


def count_edited_pages(tx: Transaction, main_branch: str, page_ids: Iterable[str]) -> list[tuple[str, int]]:
    """Return the people who wrote any version of these pages in main, each with the number of these pages that they
    wrote. People with the most pages come first."""
    authors = _AUTHORS.format(pages=tx.among("pages"))
    rows = tx.all(
        f"""SELECT a.person, count(DISTINCT a.page_id) AS pages FROM ({authors}) a
            GROUP BY a.person ORDER BY pages DESC, a.person LIMIT 30""",
        main=main_branch,
        pages=json_list(page_ids),
    )
    return [(row[0], row[1]) for row in rows]


def count_created_pages(tx: Transaction, main_branch: str, page_ids: Iterable[str]) -> list[tuple[str, int]]:
    """Return the people who wrote the first version of any of these pages in main, each with the number of these pages
    that they created. People with the most pages come first."""
    authors = _AUTHORS.format(pages=tx.among("pages"))
    rows = tx.all(
        f"""SELECT a.person, count(DISTINCT a.page_id) AS pages FROM ({authors}) a
            WHERE a.from_seq = (SELECT min(f.from_seq) FROM page_versions f
                                WHERE f.branch_id = :main AND f.page_id = a.page_id)
            GROUP BY a.person ORDER BY pages DESC, a.person LIMIT 30""",
        main=main_branch,
        pages=json_list(page_ids),
    )
    return [(row[0], row[1]) for row in rows]


def count_reviews(tx: Transaction, space_id: str) -> list[tuple[str, int]]:
    """Return the people who reviewed any of a space's 50 newest merged change requests, each with their number of
    reviews. People with the most reviews come first."""
    rows = tx.all(
        """SELECT v.reviewer, count(DISTINCT v.change_id) AS changes FROM change_reviews v
           WHERE v.change_id IN (SELECT c.id FROM change_requests c WHERE c.space_id = :space AND c.status = 'merged'
                                 ORDER BY c.id DESC LIMIT 50)
           GROUP BY v.reviewer ORDER BY changes DESC, v.reviewer LIMIT 30""",
        space=space_id,
    )
    return [(row[0], row[1]) for row in rows]


class ReviewRow(Struct, frozen=True):
    id: str
    change_id: str
    reviewer: str
    requested_by: str | None
    status: str
    revision: str
    edits: int
    created_at: int
    updated_at: int
    agent: str | None


_REVIEW = ", ".join(f"v.{name}" for name in ReviewRow.__struct_fields__)


def insert_review(tx: Transaction, change: ChangeRow, by: Author, status: str) -> ReviewRow:
    row = tx.one(
        f"""INSERT INTO change_reviews (id, change_id, reviewer, requested_by, status, revision, edits, created_at,
                                        updated_at, agent)
            VALUES (:id, :change, :reviewer,
                    (SELECT requested_by FROM change_reviewers WHERE change_id = :change AND user_id = :reviewer),
                    :status, :revision, :edits, :at, :at, :agent)
            RETURNING {_REVIEW.replace("v.", "")}""",
        id=ids.new_id(),
        change=change.id,
        reviewer=by.user_id,
        agent=by.agent,
        status=status,
        revision=change.revision,
        edits=change.edits,
        at=now(),
    )
    assert row is not None
    return ReviewRow(*row)


def get_review(tx: Transaction, change_id: str, review_id: str) -> ReviewRow:
    row = tx.one(
        f"SELECT {_REVIEW} FROM change_reviews v WHERE v.id = :id AND v.change_id = :change",
        id=review_id,
        change=change_id,
    )
    if row is None:
        raise NotFound(f"There is no review with the ID {review_id!r} in this change request.")
    return ReviewRow(*row)


def list_reviews(
    tx: Transaction, change: ChangeRow, limit: int, page: str | None, outdated: bool | None
) -> Slice[ReviewRow]:
    """List the reviews of a change request, newest first. ``outdated``: whether to list only outdated reviews (True) or
    only current reviews (False)."""
    where = "v.change_id = :change"
    if outdated is not None:
        where += " AND v.edits < :edits" if outdated else " AND v.edits >= :edits"
    return list_page(
        tx,
        limit,
        page,
        _REVIEW,
        f"FROM change_reviews v WHERE {where}",
        lambda row: ReviewRow(*row),
        by="v.id",
        descending=True,
        change=change.id,
        edits=change.edits,
    )


def list_latest_reviews(tx: Transaction, change_id: str) -> list[ReviewRow]:
    """Return the latest review of each reviewer."""
    rows = tx.all(
        f"""SELECT {_REVIEW} FROM change_reviews v WHERE v.change_id = :change AND NOT EXISTS (
              SELECT 1 FROM change_reviews n WHERE n.change_id = v.change_id AND n.reviewer = v.reviewer
              AND n.id > v.id)
            ORDER BY v.id""",
        change=change_id,
    )
    return [ReviewRow(*row) for row in rows]


# --- viewed marks -------------------------------------------------------------------------------------


class SeenRow(Struct, frozen=True):
    """Viewed mark. ``sequence``: the sequence of the branch when the mark was set."""

    change_id: str
    user_id: str
    object_id: str
    sequence: int
    seen_at: int


_SEEN = ", ".join(SeenRow.__struct_fields__)


def list_seen(tx: Transaction, change_id: str, user_id: str) -> list[SeenRow]:
    """List a person's viewed marks, sorted by the ID of the marked object."""
    rows = tx.all(
        f"SELECT {_SEEN} FROM change_seen WHERE change_id = :change AND user_id = :user ORDER BY object_id",
        change=change_id,
        user=user_id,
    )
    return [SeenRow(*row) for row in rows]


def put_seen(tx: Transaction, row: SeenRow) -> SeenRow:
    names = ", ".join(f":{name}" for name in SeenRow.__struct_fields__)
    tx.run(
        f"""INSERT INTO change_seen ({_SEEN}) VALUES ({names}) ON CONFLICT (change_id, user_id, object_id)
            DO UPDATE SET sequence = excluded.sequence, seen_at = excluded.seen_at""",
        **msgspec.structs.asdict(row),
    )
    return row


def delete_seen(tx: Transaction, change_id: str, user_id: str, object_id: str) -> bool:
    return bool(
        tx.run(
            "DELETE FROM change_seen WHERE change_id = :change AND user_id = :user AND object_id = :object",
            change=change_id,
            user=user_id,
            object=object_id,
        )
    )


# --- resolved conflicts -------------------------------------------------------------------------------


class SettledConflict(Struct, frozen=True):
    """Resolved conflict. ``position``: its position among all conflicts of the change request, open and resolved.
    ``conflicts``: JSON of the conflict in its open form, followed by the conflicts that were resolved along with it.
    ``value``: the chosen value as JSON."""

    position: int
    conflicts: str
    choice: Any
    value: str | None
    revision_before: str
    revision: str
    settled_by: str
    settled_at: int

    @property
    def were_open(self) -> list[MergeConflict]:
        return msgspec.json.decode(self.conflicts, type=list[MergeConflict])


_SETTLED = ", ".join(SettledConflict.__struct_fields__)


def put_settled(tx: Transaction, change_id: str, settled: SettledConflict) -> None:
    names = ", ".join(f":{name}" for name in SettledConflict.__struct_fields__)
    tx.run(
        f"INSERT INTO change_settlements (change_id, conflict_id, {_SETTLED}) VALUES (:change, :conflict, {names})",
        change=change_id,
        conflict=settled.were_open[0].key,
        **msgspec.structs.asdict(settled),
    )


def list_settled(tx: Transaction, change_id: str) -> list[SettledConflict]:
    """List the resolved conflicts of a change request, sorted by their position among all of its conflicts."""
    rows = tx.all(
        f"SELECT {_SETTLED} FROM change_settlements WHERE change_id = :change ORDER BY position, settled_at",
        change=change_id,
    )
    return [SettledConflict(*row) for row in rows]


def delete_settled(tx: Transaction, change_id: str, conflict_id: str | None = None) -> None:
    """Delete one resolved conflict, or all of them."""
    one = "" if conflict_id is None else " AND conflict_id = :conflict"
    parameters = {} if conflict_id is None else {"conflict": conflict_id}
    tx.run(f"DELETE FROM change_settlements WHERE change_id = :change{one}", change=change_id, **parameters)


def withdraw_requests(tx: Transaction, space_id: str, organization_id: str) -> None:
    """Delete review requests for people who aren't members of the organization."""
    tx.run(
        """DELETE FROM change_reviewers WHERE change_id IN (SELECT id FROM change_requests WHERE space_id = :space)
           AND user_id NOT IN (SELECT user_id FROM members WHERE organization_id = :org)""",
        space=space_id,
        org=organization_id,
    )
