"""Read and write spaces and collections in the database. Rows are returned as frozen records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from octavo.core.pages import rank_between
from octavo.errors import NotFound, require_found
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, decode_token, slice_rows
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import COLLECTION, SPACE, Can, role_from_height, role_height
from octavo.organization.access.visibility import (
    Viewer,
    VisibleRows,
    is_mostly_closed,
    select_visible_collections,
    select_visible_spaces,
)

from .hooks import NewSpace, notify_created, notify_language_changed
from .types import SpaceType


class SpaceRow(Struct, frozen=True):
    """Space with its settings. ``rank``: its position among the spaces and collections with the same
    parent."""

    id: str
    organization_id: str
    collection_id: str | None
    rank: str
    title: str
    emoji: str | None
    icon: str | None
    language: str | None
    edit_mode: str
    default_level: str | None
    merge_rules: str
    main_branch: str
    main_revision: str
    comments: int
    changes_total: int
    changes_open: int
    changes_draft: int
    created_at: int
    updated_at: int
    deleted_at: int | None
    type: SpaceType | None
    published: str | None
    """Location of the space on the first published site that contains it: `VISIBILITY HOST/PATH/`. The host is empty if
    the site is under the server's sites URL."""
    visitor_auth: str | None
    """Settings of the site in ``published``, as JSON, if the site uses visitor authentication."""
    git_state: str | None
    """Repository that the space is synced with, as JSON in the API format."""


# A site space is a draft if it, its section, or a group that contains it is a draft; groups are at most four
# levels deep.
_DRAFT = """(ps.draft = 1 OR COALESCE(px.draft, 0) = 1 OR EXISTS (
    SELECT 1 FROM site_section_groups g
      LEFT JOIN site_section_groups g2 ON g2.id = g.parent_id
      LEFT JOIN site_section_groups g3 ON g3.id = g2.parent_id
      LEFT JOIN site_section_groups g4 ON g4.id = g3.parent_id
    WHERE g.id = px.group_id
      AND g.draft + COALESCE(g2.draft, 0) + COALESCE(g3.draft, 0) + COALESCE(g4.draft, 0) > 0))"""
# Paths are the same as in ``sites.site.structure``: defaults have no path.
_PUBLISHED = f"""(SELECT p.visibility || ' ' || COALESCE(p.proxy_host || p.proxy_path || '/', p.hostname ||
    '/', '/' || COALESCE(po.hostname, po.id) || '/' || p.basename || '/')
    || CASE WHEN px.is_default = 1 OR px.id IS NULL THEN '' ELSE px.path || '/' END
    || CASE WHEN ps.is_default = 1 THEN '' ELSE ps.path || '/' END
  FROM site_spaces ps JOIN sites p ON p.id = ps.site_id AND p.published = 1
    JOIN organizations po ON po.id = p.organization_id LEFT JOIN site_sections px ON px.id = ps.section_id
  WHERE ps.space_id = s.id AND NOT {_DRAFT} ORDER BY ps.id LIMIT 1)"""
_VISITOR_AUTH = f"""(SELECT CASE WHEN p.visibility = 'visitor-auth' THEN p.settings END
  FROM site_spaces ps JOIN sites p ON p.id = ps.site_id AND p.published = 1
    LEFT JOIN site_sections px ON px.id = ps.section_id
  WHERE ps.space_id = s.id AND NOT {_DRAFT} ORDER BY ps.id LIMIT 1)"""
_GIT_STATE = "(SELECT g.state FROM space_git_states g WHERE g.space_id = s.id)"
_SPACE = ", ".join(
    [*(f"s.{name}" for name in SpaceRow.__struct_fields__[:-3]), _PUBLISHED, _VISITOR_AUTH, _GIT_STATE]
)


_PLACE = """SELECT CASE WHEN px.is_default = 1 OR px.id IS NULL THEN '' ELSE px.path || '/' END
    || CASE WHEN ps.is_default = 1 THEN '' ELSE ps.path || '/' END"""
_PLACES = "FROM site_spaces ps LEFT JOIN site_sections px ON px.id = ps.section_id"

ON_SITE = "EXISTS (SELECT 1 FROM site_spaces ps WHERE ps.site_id = :site AND ps.space_id = {space})"
"""SQL condition that is true if a site contains a space. ``{space}``: the column with the space's ID."""


def find_place(tx: Transaction, space_id: str, site_id: str) -> str | None:
    """Return the path of a space relative to a site's URL, or None if the site doesn't contain the space."""
    found: str | None = tx.value(
        f"{_PLACE} {_PLACES} WHERE ps.space_id = :space AND ps.site_id = :site ORDER BY ps.id LIMIT 1",
        space=space_id,
        site=site_id,
    )
    return found


def set_git_state(tx: Transaction, space_id: str, state: str | None) -> None:
    """Store the repository that a space is synced with, as JSON, or None."""
    if state is None:
        tx.run("DELETE FROM space_git_states WHERE space_id = :space", space=space_id)
        return
    tx.run(
        """INSERT INTO space_git_states (space_id, state) VALUES (:space, :state)
           ON CONFLICT (space_id) DO UPDATE SET state = excluded.state""",
        space=space_id,
        state=state,
    )


def set_language_if_unset(tx: Transaction, space_id: str, language: str) -> None:
    """Set the language of a space unless it is already set."""
    if get_space(tx, space_id).language is None:
        update_space(tx, space_id, language=language)


def get_space(tx: Transaction, space_id: str) -> SpaceRow:
    return require_found(find_space(tx, space_id), f"There is no space with the ID {space_id!r}.")


def find_space(tx: Transaction, space_id: str) -> SpaceRow | None:
    row = tx.one(f"SELECT {_SPACE} FROM spaces s WHERE s.id = :id", id=space_id)
    return SpaceRow(*row) if row else None


def list_spaces(
    tx: Transaction,
    org: Viewer,
    limit: int,
    page: str | None,
    *,
    collection_id: str | None = None,
    deleted_since: int | None = None,
    ascending: bool = False,
    by_rank: bool = False,
) -> Slice[tuple[SpaceRow, str | None]]:
    """Return an organization's (or a collection's) spaces that the caller can see, each with the caller's role.

    By default, the spaces are sorted by creation time, newest first. ``ascending``: whether the oldest spaces
    come first. ``by_rank``: whether to sort by parent (the top level first) and then in the custom order.
    ``deleted_since``: if set, list the spaces in the trash that were deleted since this time instead."""
    parameters: dict[str, Any] = {}
    where = "s.deleted_at IS NULL"
    if deleted_since is not None:
        where, parameters["since"] = "s.deleted_at >= :since", deleted_since
    if collection_id is not None:
        # The expression of the index that provides the order.
        place = "COALESCE(s.collection_id, '')" if by_rank else "s.collection_id"
        where += f" AND {place} = :collection"
        parameters["collection"] = collection_id
    seen = select_visible_spaces(org, where, is_mostly_closed(tx, org), **parameters)
    if by_rank:
        rows, count = _ranked_rows(tx, seen, _SPACE, "s", "collection_id", limit, page)
        ranked = [(SpaceRow(*row), role) for row, role in rows]
        return slice_rows(ranked, limit, count, lambda item: _rank_key(item[0], item[0].collection_id))
    rows, count = _visible_rows(tx, seen, _SPACE, "s", limit, page, ascending=ascending)
    found = [(SpaceRow(*row), role) for row, role in rows]
    return slice_rows(found, limit, count, lambda item: (item[0].id,))


def list_in_collection(tx: Transaction, collection_id: str) -> list[SpaceRow]:
    """Return the spaces directly in a collection, oldest first, except spaces in the trash."""
    rows = tx.all(
        f"SELECT {_SPACE} FROM spaces s WHERE s.collection_id = :id AND s.deleted_at IS NULL ORDER BY s.id",
        id=collection_id,
    )
    return [SpaceRow(*row) for row in rows]


def _visible_rows(
    tx: Transaction,
    seen: VisibleRows,
    columns: str,
    own: str,
    limit: int,
    page: str | None,
    *,
    ascending: bool = False,
) -> tuple[list[tuple[Row, str | None]], int]:
    """Return one page (plus one row) of the visible rows, sorted by ID, each with the viewer's role, and the
    total. ``own``: the alias of the rows' table."""
    after = decode_token(page, str)
    beyond, order, start = (">", "ASC", "") if ascending else ("<", "DESC", "~")
    # Every row contains the total, so that visibility is evaluated only once.
    rows = tx.all(
        f"""{seen.prefix} SELECT {columns}, {seen.height}, {seen.total} FROM {seen.source}
            WHERE {seen.where} AND {own}.id {beyond} :after ORDER BY {own}.id {order} LIMIT :limit""",
        after=after[0] if after else start,
        limit=limit + 1,
        **seen.parameters,
    )
    return _with_roles(tx, seen, rows, after is None)


def _with_roles(
    tx: Transaction, seen: VisibleRows, rows: list[Row], is_first: bool
) -> tuple[list[tuple[Row, str | None]], int]:
    """Convert rows that end with a role and the total to rows with roles, and return them with the total.
    ``is_first``: whether the rows are on the first page."""
    if rows:
        count = rows[0][-1]
    else:
        count = 0 if is_first else tx.value(f"{seen.prefix} SELECT {seen.total}", **seen.parameters)
    return [(row[:-2], role_from_height(row[-2])) for row in rows], count


def _rank_key(row: SpaceRow | CollectionRow, parent_id: str | None) -> tuple[str, str, str]:
    return parent_id or "", row.rank, row.id


def _ranked_rows(
    tx: Transaction, seen: VisibleRows, columns: str, own: str, place: str, limit: int, page: str | None
) -> tuple[list[tuple[Row, str | None]], int]:
    """Return rows like ``_visible_rows``, but ordered by the column ``place`` and then by rank."""
    after = decode_token(page, str, str, str)
    at = f"COALESCE({own}.{place}, '')"
    key = f"{at}, {own}.rank, {own}.id"
    parameters: dict[str, Any] = dict(seen.parameters)
    beyond = ""
    if after is not None:
        # The first condition is redundant and gives SQLite its starting point in the index.
        beyond = f"AND {at} >= :place AND ({key}) > (:place, :rank, :after)"
        parameters |= {"place": after[0], "rank": after[1], "after": after[2]}
    rows = tx.all(
        f"""{seen.prefix} SELECT {columns}, {seen.height}, {seen.total} FROM {seen.source}
            WHERE {seen.where} {beyond} ORDER BY {key} LIMIT :limit""",
        limit=limit + 1,
        **parameters,
    )
    return _with_roles(tx, seen, rows, after is None)


def count_administered(tx: Transaction, org: OrgAccess, collection_ids: list[str]) -> int:
    """Count the given collections, and the spaces directly in them, that the caller administers."""
    both = (
        (select_visible_spaces(org, "s.collection_id IN :ids AND s.deleted_at IS NULL"), SPACE),
        (select_visible_collections(org, "c.id IN :ids"), COLLECTION),
    )
    return sum(
        tx.value(
            f"{seen.prefix} SELECT count(*) FROM {seen.visible} v WHERE v.height >= :least",
            ids=collection_ids,
            least=role_height(abilities[Can.ADMIN]),
            **seen.parameters,
        )
        for seen, abilities in both
    )


class SpaceTitle(Struct, frozen=True):
    title: str
    language: str | None


def get_titles(tx: Transaction, space_ids: Sequence[str]) -> dict[str, SpaceTitle]:
    """Return the titles and languages of spaces, by ID."""
    rows = tx.all(
        "SELECT id, title, language FROM spaces WHERE id IN :ids", ids=list(dict.fromkeys(space_ids))
    )
    return {row[0]: SpaceTitle(*row[1:]) for row in rows}


def list_spaces_by_id(
    tx: Transaction, org: Viewer, space_ids: Sequence[str]
) -> dict[str, tuple[SpaceRow, str | None]]:
    """Return the given spaces that the caller can see and that aren't in the trash, each with the caller's
    role."""
    seen = select_visible_spaces(org, "s.id IN :ids AND s.deleted_at IS NULL", ids=list(space_ids))
    rows = tx.all(
        f"{seen.prefix} SELECT {_SPACE}, v.height FROM {seen.visible} v JOIN spaces s ON s.id = v.id",
        **seen.parameters,
    )
    return {row[0]: (SpaceRow(*row[:-1]), role_from_height(row[-1])) for row in rows}


def list_visible_space_ids(
    tx: Transaction, org: OrgAccess, *, among: Sequence[str] | None = None, most: int | None = None
) -> list[str]:
    """Return the IDs of an organization's spaces that the caller can see. ``among``: spaces to limit the list
    to. ``most``: the maximum number of IDs."""
    given: dict[str, Sequence[str]] = {} if among is None else {"among": among}
    seen = select_visible_spaces(
        org, "s.deleted_at IS NULL" + (" AND s.id IN :among" if given else ""), **given
    )
    limit = "" if most is None else f" LIMIT {most}"
    rows = tx.all(f"{seen.prefix} SELECT v.id FROM {seen.visible} v ORDER BY v.id{limit}", **seen.parameters)
    return [row[0] for row in rows]


def update_space(tx: Transaction, space_id: str, **values: object) -> None:
    """Update columns of a space."""
    before = get_space(tx, space_id) if "language" in values else None
    _update(tx, "spaces", space_id, values)
    if before is not None and before.language != values["language"]:
        notify_language_changed(tx, space_id, before.organization_id)


def update_collection(tx: Transaction, collection_id: str, **values: object) -> None:
    """Update columns of a collection."""
    _update(tx, "collections", collection_id, values)


def _update(tx: Transaction, table: str, id: str, values: Mapping[str, object]) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(f"UPDATE {table} SET {columns}, updated_at = :at WHERE id = :row", row=id, at=now(), **values)


def last_rank(tx: Transaction, organization_id: str, parent_id: str | None) -> str:
    """Return a rank after all spaces and collections with this parent in an organization."""
    place = "collection_id = :parent" if parent_id else "collection_id IS NULL"
    place_c = "parent_id = :parent" if parent_id else "parent_id IS NULL"
    parameters = {"org": organization_id, **({"parent": parent_id} if parent_id else {})}
    row = tx.one(
        f"""SELECT max(rank) FROM (
              SELECT max(rank) AS rank FROM spaces WHERE organization_id = :org AND {place}
              UNION ALL
              SELECT max(rank) AS rank FROM collections WHERE organization_id = :org AND {place_c}) AS ranks""",
        **parameters,
    )
    return rank_between(row[0] if row else None, None)


def insert_space(
    tx: Transaction,
    *,
    organization_id: str,
    collection_id: str | None,
    title: str,
    created_by: str | None,
    emoji: str | None = None,
    language: str | None = None,
    edit_mode: str = "live",
) -> SpaceRow:
    """Insert a space with its main branch and its first, empty revision."""
    space_id, branch_id, revision_id, moment = ids.new_id(), ids.new_id(), ids.new_id(), now()
    tx.insert(
        "spaces",
        id=space_id,
        organization_id=organization_id,
        collection_id=collection_id,
        rank=last_rank(tx, organization_id, collection_id),
        title=title,
        emoji=emoji,
        language=language,
        edit_mode=edit_mode,
        main_branch=branch_id,
        main_revision=revision_id,
        created_by=created_by,
        created_at=moment,
        updated_at=moment,
    )
    notify_created(tx, NewSpace(space_id, branch_id, revision_id, created_by))
    return get_space(tx, space_id)


def advance_main(tx: Transaction, branch_id: str, revision_id: str) -> None:
    """Set the latest revision of the space whose main branch this is. If the branch belongs to a change request, do
    nothing."""
    tx.run(
        "UPDATE spaces SET main_revision = :revision, updated_at = :at WHERE main_branch = :branch",
        revision=revision_id,
        at=now(),
        branch=branch_id,
    )


_COUNTED = {"draft": "changes_draft", "open": "changes_open"}


def count_new_draft(tx: Transaction, space_id: str) -> int:
    """Count a new draft, and return its number, which is the total number of change requests in the space."""
    number: int = tx.value(
        """UPDATE spaces SET changes_total = changes_total + 1, changes_draft = changes_draft + 1
           WHERE id = :space RETURNING changes_total""",
        space=space_id,
    )
    return number


def update_change_counts(tx: Transaction, space_id: str, before: str, after: str) -> None:
    """Update a space's counts after the status of one of its change requests changed."""
    counts = (_COUNTED.get(before), "- 1"), (_COUNTED.get(after), "+ 1")
    steps = [f"{column} = {column} {step}" for column, step in counts if column]
    if steps:
        tx.run(f"UPDATE spaces SET {', '.join(steps)} WHERE id = :space", space=space_id)


class CollectionRow(Struct, frozen=True):
    id: str
    organization_id: str
    parent_id: str | None
    rank: str
    title: str
    description: str | None
    default_level: str | None
    created_at: int
    updated_at: int
    deleted_at: int | None


_COLLECTION = ", ".join(f"c.{name}" for name in CollectionRow.__struct_fields__)


def get_collection(tx: Transaction, collection_id: str) -> CollectionRow:
    row = tx.one(f"SELECT {_COLLECTION} FROM collections c WHERE c.id = :id", id=collection_id)
    if row is None or row[-1] is not None:
        raise NotFound(f"There is no collection with the ID {collection_id!r}.")
    return CollectionRow(*row)


def require_collection(tx: Transaction, organization_id: str, collection_id: str) -> None:
    """Raise NotFound unless the collection belongs to the organization."""
    if get_collection(tx, collection_id).organization_id != organization_id:
        raise NotFound(f"There is no collection with the ID {collection_id!r} in this organization.")


def list_collections(
    tx: Transaction, org: Viewer, limit: int, page: str | None, *, nested: bool, by_rank: bool = False
) -> Slice[tuple[CollectionRow, str | None]]:
    """Return an organization's collections that the caller can see, newest first, each with the caller's role.

    ``nested``: whether to include collections inside other collections. ``by_rank``: see ``list_spaces``."""
    where = "c.deleted_at IS NULL" if nested else "c.deleted_at IS NULL AND c.parent_id IS NULL"
    seen = select_visible_collections(org, where)
    if by_rank:
        rows, count = _ranked_rows(tx, seen, _COLLECTION, "c", "parent_id", limit, page)
        ranked = [(CollectionRow(*row), role) for row, role in rows]
        return slice_rows(ranked, limit, count, lambda item: _rank_key(item[0], item[0].parent_id))
    rows, count = _visible_rows(tx, seen, _COLLECTION, "c", limit, page)
    found = [(CollectionRow(*row), role) for row, role in rows]
    return slice_rows(found, limit, count, lambda item: (item[0].id,))


def insert_collection(
    tx: Transaction, *, organization_id: str, parent_id: str | None, title: str
) -> CollectionRow:
    collection_id, moment = ids.new_id(), now()
    tx.insert(
        "collections",
        id=collection_id,
        organization_id=organization_id,
        parent_id=parent_id,
        rank=last_rank(tx, organization_id, parent_id),
        title=title,
        created_at=moment,
        updated_at=moment,
    )
    return get_collection(tx, collection_id)


def merge_rules(space: SpaceRow) -> dict[str, object]:
    return msgspec.json.decode(space.merge_rules, type=dict[str, Any])


def set_type(tx: Transaction, space_id: str, type: SpaceType) -> None:
    tx.run("UPDATE spaces SET type = :type WHERE id = :id", type=type, id=space_id)


def set_edit_mode(tx: Transaction, space_id: str, edit_mode: str) -> None:
    tx.run("UPDATE spaces SET edit_mode = :mode WHERE id = :id", mode=edit_mode, id=space_id)
