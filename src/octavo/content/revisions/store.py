"""Branches, revisions, and their content: page versions and item versions.

A ``State`` identifies one immutable state as a stack of layers, each a branch at a sequence. Main has one
layer; a change request has two: its own branch, and main at the revision it is based on. Reads search the
stack from the top. ``commit`` writes rows only for changes.

Rows with a ``from_seq`` beyond the head of their branch are invisible. They belong to a large revision that
is being written (``staging.py``) or that a process failed to finish.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Struct, defstruct

from octavo.core.json_types import JsonObject
from octavo.core.page_fields import FIELDS, Cover, LayoutOptions
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.http.operation import Drafted
from octavo.organization.spaces.store import advance_main

FOREVER = 2**62
"""``to_seq`` of rows that are still valid."""

SAVES_APART = 5 * 60_000
"""Maximum number of milliseconds between two saves by the same person that are shown as one."""
SAVES_LONGEST = 60 * 60_000
"""Maximum number of milliseconds from the first to the last save that are shown as one."""

RevisionType = Literal["edits", "merge", "rollback", "update", "computed"]

ItemKind = Literal["file", "reusable-content", "variable", "source"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)


class Layer(Struct, frozen=True):
    branch_id: str
    sequence: int


class State(Struct, frozen=True):
    """State of a space's content."""

    space_id: str
    revision_id: str
    layers: tuple[Layer, ...]


class Item(Struct, frozen=True, kw_only=True):
    """File, reusable content, variable, or configuration source.

    ``content``: for a file, the hash of its bytes; for reusable content and sources, the hash of the text;
    for a variable, its JSON value. ``path``: the path among the space's files.
    """

    id: str
    kind: ItemKind
    name: str
    path: str | None = None
    content: str | None = None
    size: int = 0
    content_type: str | None = None
    width: int | None = None
    height: int | None = None
    created_at: int = 0


class RevisionRow(Struct, frozen=True):
    id: str
    branch_id: str
    sequence: int
    base_sequence: int | None
    parents: list[str]
    type: str
    author: str | None
    created_at: int
    message: str | None
    git: dict[str, Any] | None
    merged_from: str | None
    conflicts: str | None
    agent: str | None
    saves_since: int | None
    """Sequence before the run of consecutive saves that this one continues; None if it starts a run."""

    @property
    def before(self) -> int:
        """Return the sequence of the state before this revision and the consecutive saves that it continues."""
        return self.sequence - 1 if self.saves_since is None else self.saves_since


class BranchMoved(Exception):
    """Error: someone else created a revision on the branch first. Read again and retry."""


# --- states -------------------------------------------------------------------------------------------


def main_state(tx: Transaction, space_id: str) -> State:
    """Return the head of main."""
    row = tx.one(
        """SELECT l.id, l.sequence, l.revision FROM spaces s JOIN branches l ON l.id = s.main_branch
           WHERE s.id = :space""",
        space=space_id,
    )
    if row is None:
        raise NotFound(f"There is no space {space_id!r}.")
    return State(space_id, row[2], (Layer(row[0], row[1]),))


def lock_branch(tx: Transaction, branch_id: str) -> bool:
    """Lock a branch until the transaction ends, so that no one else creates a revision or writes derived
    data. Return False if the branch no longer exists."""
    return tx.one(f"SELECT 1 FROM branches WHERE id = :id{tx.for_update}", id=branch_id) is not None


def revision_state(tx: Transaction, space_id: str, revision_id: str) -> State:
    """Return the state of a revision of this space. Raises NotFound."""
    row = tx.one(
        """SELECT r.branch_id, r.sequence, r.base_sequence, l.base_branch FROM revisions r JOIN branches l
           ON l.id = r.branch_id
           WHERE r.id = :revision AND l.space_id = :space""",
        revision=revision_id,
        space=space_id,
    )
    if row is None:
        raise NotFound(f"This space has no revision {revision_id!r}.")
    branch_id, sequence, base_sequence, base_branch = row
    layers = [Layer(branch_id, sequence)]
    if base_branch is not None:
        layers.append(Layer(base_branch, base_sequence))
    return State(space_id, revision_id, tuple(layers))


def shown_state(tx: Transaction, drafted: Drafted | None, space_id: str) -> State:
    """Return the state of a space that a site shows: main, or the revision of the preview that the visitor is
    viewing."""
    if drafted is not None and drafted.space_id == space_id:
        return revision_state(tx, space_id, drafted.revision_id)
    return main_state(tx, space_id)


def branch_state(tx: Transaction, space_id: str, branch_id: str) -> State:
    """Return the head of a branch of this space. Raises NotFound."""
    revision = tx.value(
        "SELECT revision FROM branches WHERE id = :branch AND space_id = :space",
        branch=branch_id,
        space=space_id,
    )
    if revision is None:
        raise NotFound(f"This space has no branch {branch_id!r}.")
    return revision_state(tx, space_id, revision)


def open_branch(tx: Transaction, main: State, author: str | None) -> State:
    """Open a branch on top of main at this state, without changes."""
    branch_id, revision_id = ids.new_id(), ids.new_id()
    below = main.layers[0]
    tx.run(
        """INSERT INTO branches (id, space_id, base_branch, sequence, revision)
           VALUES (:id, :space, :base, 1, :revision)""",
        id=branch_id,
        space=main.space_id,
        base=below.branch_id,
        revision=revision_id,
    )
    tx.run(
        """INSERT INTO revisions (id, branch_id, sequence, base_sequence, parents, type, author, created_at)
           VALUES (:id, :branch, 1, :base, :parents, 'edits', :author, :at)""",
        id=revision_id,
        branch=branch_id,
        base=below.sequence,
        parents=msgspec.json.encode([main.revision_id]).decode(),
        author=author,
        at=now(),
    )
    return State(main.space_id, revision_id, (Layer(branch_id, 1), below))


class TouchedIds(Struct, frozen=True):
    """IDs of pages and items."""

    pages: frozenset[str]
    items: frozenset[str]


def delete_branch(tx: Transaction, branch_id: str) -> None:
    """Delete a branch with its revisions, and what belongs to it."""
    tx.run("DELETE FROM branches WHERE id = :branch", branch=branch_id)


def list_branch_content(tx: Transaction, layer: Layer) -> TouchedIds:
    """Return the IDs of everything for which the upper branch of a change request has rows."""
    return _list_touched(
        tx, "+from_seq <= :seq AND to_seq > :seq", branch=layer.branch_id, seq=layer.sequence
    )


def list_changed(tx: Transaction, layer: Layer, after: int) -> TouchedIds:
    """Return the IDs of everything that a branch changed or deleted after a sequence, up to the sequence of
    the layer."""
    new = _list_touched(
        tx, "from_seq > :after AND from_seq <= :seq", branch=layer.branch_id, seq=layer.sequence, after=after
    )
    old = _list_touched(
        tx, "to_seq > :after AND to_seq <= :seq", branch=layer.branch_id, seq=layer.sequence, after=after
    )
    return TouchedIds(new.pages | old.pages, new.items | old.items)


def list_last_changes(tx: Transaction, layer: Layer) -> dict[str, tuple[str, int]]:
    """Return the pages (as ``page``) and items (by kind) that a branch has or deleted, by ID, each with the
    last sequence in which it changed, up to the sequence of the layer."""
    at = "max(CASE WHEN to_seq <= :seq THEN to_seq ELSE from_seq END)"
    where = "branch_id = :branch AND from_seq <= :seq"
    given = {"branch": layer.branch_id, "seq": layer.sequence}
    pages = tx.all(f"SELECT page_id, {at} FROM page_versions WHERE {where} GROUP BY page_id", **given)
    items = tx.all(
        f"SELECT item_id, max(kind), {at} FROM item_versions WHERE {where} GROUP BY item_id", **given
    )
    return {id: ("page", sequence) for id, sequence in pages} | {
        id: (kind, sequence) for id, kind, sequence in items
    }


def _list_touched(tx: Transaction, where: str, **parameters: object) -> TouchedIds:
    pages = tx.all(f"SELECT page_id FROM page_versions WHERE branch_id = :branch AND {where}", **parameters)
    items = tx.all(f"SELECT item_id FROM item_versions WHERE branch_id = :branch AND {where}", **parameters)
    return TouchedIds(frozenset(row[0] for row in pages), frozenset(row[0] for row in items))


def list_revisions(tx: Transaction, space_id: str, limit: int, page: str | None) -> Slice[RevisionRow]:
    """List the revisions of main, newest first; of consecutive saves, only the last is listed."""
    # A save that continues another one replaces it in the list.
    count = tx.value(
        """SELECT count(*) - count(r.saves_since) FROM revisions r JOIN spaces s ON s.main_branch = r.branch_id
           WHERE s.id = :space""",
        space=space_id,
    )
    source = (
        f"FROM revisions r JOIN spaces s ON s.main_branch = r.branch_id WHERE s.id = :space AND {_IS_LAST}"
    )
    return _list_revisions(tx, source, count, limit, page, space=space_id)


def _list_revisions(
    tx: Transaction,
    source: str,
    count: int,
    limit: int,
    page: str | None,
    /,
    *,
    before: str = "",
    **given: str,
) -> Slice[RevisionRow]:
    return list_page(
        tx,
        limit,
        page,
        _REVISION,
        source,
        _revision,
        by="r.sequence",
        key_types=(int,),
        descending=True,
        before=before,
        count=count,
        **given,
    )


_OF_PAGE = """touched(sequence) AS (
    SELECT v.from_seq FROM page_versions v WHERE v.branch_id = :branch AND v.page_id = :page
    UNION SELECT v.to_seq FROM page_versions v WHERE v.branch_id = :branch AND v.page_id = :page),
  shown(sequence) AS (
    SELECT DISTINCT (SELECT min(r.sequence) FROM revisions r
                      WHERE r.branch_id = :branch AND r.sequence >= t.sequence AND {last})
      FROM touched t)"""
"""Sequences of the revisions of main in which a page changed; of consecutive saves, the last. The cost
depends on the history of the page, not on that of the space."""


def list_revisions_of_page(
    tx: Transaction, space_id: str, page_id: str, limit: int, page: str | None
) -> Slice[RevisionRow]:
    """List the revisions of main that changed a page, newest first; of consecutive saves, the last is listed
    if any of them changed the page. The result is empty for a page that main never had."""
    branch = tx.value("SELECT main_branch FROM spaces WHERE id = :id", id=space_id)
    given = {"branch": branch, "page": page_id}
    prefix = f"WITH {_OF_PAGE.format(last=_IS_LAST)}"
    count = tx.value(f"{prefix} SELECT count(sequence) FROM shown", **given)
    source = "FROM revisions r WHERE r.branch_id = :branch AND r.sequence IN (SELECT sequence FROM shown)"
    return _list_revisions(tx, source, count, limit, page, before=prefix, **given)


_REVISION = """r.id, r.branch_id, r.sequence, r.base_sequence, r.parents, r.type, r.author, r.created_at, r.message,
               r.git, r.merged_from, r.conflicts, r.agent, r.saves_since"""
_IS_LAST = """NOT EXISTS (SELECT 1 FROM revisions n WHERE n.branch_id = r.branch_id AND n.sequence = r.sequence + 1
                AND n.saves_since IS NOT NULL)"""
"""Condition for the last of consecutive saves, which follow each other without a gap."""


def get_revision(tx: Transaction, revision_id: str) -> RevisionRow:
    row = tx.one(f"SELECT {_REVISION} FROM revisions r WHERE r.id = :id", id=revision_id)
    if row is None:
        raise NotFound(f"There is no revision {revision_id!r}.")
    return _revision(row)


def record_git_commit(tx: Transaction, revision_id: str, git: Mapping[str, object]) -> None:
    """Record the Git commit that was created from a revision, which is known only afterwards. A revision that
    was created from a commit keeps that commit."""
    tx.run(
        "UPDATE revisions SET git = :git WHERE id = :id AND git IS NULL",
        git=msgspec.json.encode(git).decode(),
        id=revision_id,
    )


def state_before(tx: Transaction, space_id: str, revision: RevisionRow) -> State:
    """Return the state before a revision and the consecutive saves that it continues. Raises NotFound."""
    found = tx.value(
        """SELECT id FROM revisions WHERE branch_id = :branch AND sequence <= :before
           ORDER BY sequence DESC LIMIT 1""",
        branch=revision.branch_id,
        before=revision.before,
    )
    return revision_state(tx, space_id, found or "")


def list_beginnings(tx: Transaction, revisions: Iterable[RevisionRow]) -> dict[str, RevisionRow]:
    """Return the first of consecutive saves by the ID of the last one, for the given revisions that continue
    earlier saves."""
    found = {}
    for revision in revisions:
        if revision.saves_since is not None:
            row = tx.one(
                f"SELECT {_REVISION} FROM revisions r WHERE r.branch_id = :branch AND r.sequence = :first",
                branch=revision.branch_id,
                first=revision.saves_since + 1,
            )
            if row is not None:
                found[revision.id] = _revision(row)
    return found


class RevisedPages(Struct, frozen=True):
    """Pages that a revision created or changed: how many, and the title of one of them."""

    count: int
    title: str


_NAMED = 5_000
"""Changed pages that are read to describe a list of revisions; those beyond belong to large imports."""


def list_revised_pages(tx: Transaction, revisions: Sequence[RevisionRow]) -> dict[str, RevisedPages]:
    """Return the pages that each of these revisions of one branch and the consecutive saves before it changed, by
    the ID of the revision; revisions that changed none are left out."""
    if not revisions:
        return {}
    rows = tx.all(
        """SELECT from_seq, page_id, title FROM page_versions
           WHERE branch_id = :branch AND deleted = 0 AND from_seq > :first AND from_seq <= :last
           ORDER BY from_seq DESC LIMIT :most""",
        branch=revisions[0].branch_id,
        first=min(one.before for one in revisions),
        last=max(one.sequence for one in revisions),
        most=_NAMED,
    )
    rows.reverse()
    found = {}
    for one in revisions:
        start = bisect_right(rows, one.before, key=itemgetter(0))
        end = bisect_right(rows, one.sequence, key=itemgetter(0))
        titles = {page_id: title for _, page_id, title in rows[start:end]}
        if titles:
            found[one.id] = RevisedPages(len(titles), min(titles.values()))
    return found


def find_continued_saves(tx: Transaction, state: State, author: str, agent: str | None) -> int | None:
    """Return the sequence before the consecutive saves that an edit of this state by this person or their
    agent continues, or None if it starts a new run."""
    last = get_revision(tx, state.revision_id)
    if (
        (last.type, last.author, last.agent) != ("edits", author, agent)
        or last.sequence == 1
        or last.message
        or last.git
    ):
        return None
    first = list_beginnings(tx, [last]).get(last.id, last)
    moment = now()
    if moment - last.created_at > SAVES_APART or moment - first.created_at > SAVES_LONGEST:
        return None
    return last.before


def _revision(row: Row) -> RevisionRow:
    values = list(row)
    values[4] = msgspec.json.decode(row[4])
    values[9] = msgspec.json.decode(row[9]) if row[9] else None
    return RevisionRow(*values)


# --- pages --------------------------------------------------------------------------------------------

_PAGE = """p.page_id, p.parent_id, p.rank, p.slug, p.kind, p.title, p.body, p.file_path, p.created_at, p.updated_at,
           p.fields, p.deleted"""
# The plus signs keep query planners from scanning a branch by sequence instead of using the page or parent.
_VALID = "p.branch_id = :branch AND +p.from_seq <= :seq AND +p.to_seq > :seq"
_COLUMNS = frozenset(
    ("id", "parent", "rank", "slug", "kind", "title", "body", "file_path", "created_at", "updated_at")
)
_NOTHING_RARE = ("{}", '{"layout":{}}')
_RARE = tuple(name for name in Page.__struct_fields__ if name not in _COLUMNS)
_HINTS = get_type_hints(Page)
PageFields = defstruct(
    "PageFields", [(name, _HINTS[name], None) for name in _RARE], forbid_unknown_fields=True
)
"""Shape of the column ``page_versions.fields``, to validate imported data."""


def _page(row: Row) -> Page:
    page_id, parent, rank, slug, kind, title, body, file_path, created_at, updated_at, fields, _ = row
    rare = {} if fields in _NOTHING_RARE else _decode_fields(fields)
    return Page(
        id=page_id,
        parent=parent or None,
        rank=rank,
        slug=slug,
        kind=kind,
        title=title,
        body=body,
        file_path=file_path,
        created_at=created_at,
        updated_at=updated_at,
        **rare,
    )


_LISTS = {name for name, field in FIELDS.items() if field.is_list}


def _decode_fields(text: str) -> JsonObject:
    rare: JsonObject = msgspec.json.decode(text)
    if "layout" in rare:
        rare["layout"] = msgspec.convert(rare["layout"], LayoutOptions)
    if "cover" in rare:
        rare["cover"] = msgspec.convert(rare["cover"], Cover)
    for name in _LISTS & rare.keys():
        rare[name] = tuple(rare[name])
    return rare


def _encode_fields(page: Page) -> str:
    plain = msgspec.to_builtins(page)
    return msgspec.json.encode({name: plain[name] for name in _RARE if name in plain}).decode()


def list_tagged_pages(tx: Transaction, state: State) -> list[Page]:
    """Return the pages that have tags."""
    return _pages_where(tx, state, "p.fields LIKE :tagged", tagged='%"tags":[%')


def find_page(tx: Transaction, state: State, page_id: str) -> Page | None:
    for layer in state.layers:
        row = tx.one(
            f"SELECT {_PAGE} FROM page_versions p WHERE {_VALID} AND p.page_id = :page",
            branch=layer.branch_id,
            seq=layer.sequence,
            page=page_id,
        )
        if row is not None:
            return None if row[-1] else _page(row)
    return None


_BATCH = 500


def _find_rows(
    tx: Transaction, state: State, table: str, key: str, columns: str, wanted: Iterable[str]
) -> dict[str, Row | None]:
    """Return the topmost row of each of these IDs, or None if that row is marked as deleted."""
    found: dict[str, Row | None] = {}
    left = list(dict.fromkeys(wanted))
    for layer in state.layers:
        for start in range(0, len(left), _BATCH):
            rows = tx.all(
                f"SELECT {columns} FROM {table} p WHERE {_VALID} AND p.{key} IN :ids",
                branch=layer.branch_id,
                seq=layer.sequence,
                ids=left[start : start + _BATCH],
            )
            found.update((row[0], None if row[-1] else row) for row in rows)
        left = [id for id in left if id not in found]
    return found


def find_pages(tx: Transaction, state: State, page_ids: Iterable[str]) -> dict[str, Page]:
    """Return the pages with these IDs that exist in the state, by ID."""
    rows = _find_rows(tx, state, "page_versions", "page_id", _PAGE, page_ids)
    return {id: _page(row) for id, row in rows.items() if row is not None}


def get_page(tx: Transaction, state: State, page_id: str) -> Page:
    page = find_page(tx, state, page_id)
    if page is None:
        raise NotFound(f"This content has no page {page_id!r}.")
    return page


def _overlay(layers: Iterable[list[Row]]) -> dict[str, Row]:
    """Return rows by ID, upper layers first. Rows marked as deleted are included, to hide rows in lower
    layers."""
    found: dict[str, Row] = {}
    for rows in layers:
        for row in rows:
            found.setdefault(row[0], row)
    return found


def _pages_where(tx: Transaction, state: State, where: str, **parameters: object) -> list[Page]:
    """Return the pages that match ``where`` in the state as a whole, not just in one layer."""
    top, *below = state.layers
    rows = tx.all(
        f"SELECT {_PAGE} FROM page_versions p WHERE {_VALID} AND {where}",
        branch=top.branch_id,
        seq=top.sequence,
        **parameters,
    )
    kept = [row for row in rows if not row[-1]]
    for layer in below:
        # A page of a lower layer is part of the state only if the branch above has no row for it.
        kept += tx.all(
            f"""SELECT {_PAGE} FROM page_versions p WHERE {_VALID} AND {where} AND NOT EXISTS (
                  SELECT 1 FROM page_versions u WHERE u.branch_id = :top AND u.page_id = p.page_id
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)""",
            branch=layer.branch_id,
            seq=layer.sequence,
            top=top.branch_id,
            top_seq=top.sequence,
            **parameters,
        )
    return [_page(row) for row in kept]


def list_children(tx: Transaction, state: State, parents: Iterable[str | None]) -> list[Page]:
    """Return the children of these pages (None: the top level), in order within each parent."""
    wanted = [parent or "" for parent in parents]
    pages = _pages_where(tx, state, "p.parent_id IN :parents", parents=wanted) if wanted else []
    return sorted(pages, key=lambda page: (page.parent or "", page.rank, page.id))


def _select_from_layers(state: State, select: str, where: str) -> tuple[list[str], dict[str, object]]:
    """Return the pages of each layer that match ``where`` in the state as a whole, as ``select`` and its
    parameters."""
    selects, parameters = [], dict[str, Any]()
    for n, layer in enumerate(state.layers):
        valid = _VALID.replace(":branch", f":branch_{n}").replace(":seq", f":seq_{n}")
        parameters |= {f"branch_{n}": layer.branch_id, f"seq_{n}": layer.sequence}
        hidden = ""
        if n:
            above = _VALID.replace("p.", "u.").replace(":branch", ":branch_0").replace(":seq", ":seq_0")
            hidden = (
                f" AND NOT EXISTS (SELECT 1 FROM page_versions u WHERE {above} AND u.page_id = p.page_id)"
            )
        selects.append(f"{select} WHERE {valid} AND {where}{hidden}")
    return selects, parameters


def slice_children(
    tx: Transaction,
    state: State,
    parent: str | None,
    *,
    limit: int,
    at: int = 0,
    after: tuple[str, str] | None = None,
) -> list[Page]:
    """Return up to ``limit`` children of a page (None: the top level) in order, starting at the index ``at``.
    ``after``: the rank and ID of the child from which to count."""
    among = "p.parent_id = :parent AND p.deleted = 0"
    if after is not None:
        among += " AND (p.rank, p.page_id) > (:after_rank, :after_id)"
    after_rank, after_id = after or ("", "")
    selects, layers = _select_from_layers(state, "SELECT p.rank, p.page_id FROM page_versions p", among)
    rows = tx.all(
        f"{' UNION ALL '.join(selects)} ORDER BY 1, 2 LIMIT :limit OFFSET :at",
        parent=parent or "",
        after_rank=after_rank,
        after_id=after_id,
        limit=limit,
        at=at,
        **layers,
    )
    found = find_pages(tx, state, (row[1] for row in rows))
    return [found[row[1]] for row in rows]


def count_children(tx: Transaction, state: State, parent: str | None, before: Page | None = None) -> int:
    """Return the number of children of a page (None: the top level), or the number of children before one of
    them."""
    where, key = "p.parent_id = :parent", {}
    if before is not None:
        where += " AND (p.rank, p.page_id) < (:rank, :id)"
        key = {"rank": before.rank, "id": before.id}
    return _count(tx, state, "page_versions", "page_id", where, parent=parent or "", **key)


def find_parents(tx: Transaction, state: State, page_ids: Iterable[str]) -> set[str]:
    """Return the pages with these IDs that have subpages."""
    below = "p.parent_id = w.id AND p.deleted = 0"
    selects, layers = _select_from_layers(state, "SELECT 1 FROM page_versions p", below)
    any_below = " OR ".join(f"EXISTS ({select})" for select in selects)
    wanted = tx.given("ids", "id")
    rows = tx.all(f"SELECT w.id FROM {wanted} AS w WHERE {any_below}", ids=json_list(page_ids), **layers)
    return {row[0] for row in rows}


def list_by_slug(tx: Transaction, state: State, parent: str | None, slug: str) -> list[Page]:
    """Return the children of a page (None: the top level) with this slug."""
    return _pages_where(tx, state, "p.parent_id = :parent AND p.slug = :slug", parent=parent or "", slug=slug)


def list_subtree(tx: Transaction, state: State, page_id: str) -> list[Page]:
    """Return everything below a page, parents before children."""
    found: list[Page] = []
    level: list[str | None] = [page_id]
    while level:
        pages = list_children(tx, state, level)
        found += pages
        level = [page.id for page in pages]
    return found


def list_pages(tx: Transaction, state: State) -> list[Page]:
    """Return all pages of the state, siblings in order."""
    rows = _overlay(
        tx.all(
            (
                f"SELECT {_PAGE} FROM page_versions p WHERE p.branch_id = :branch AND +p.from_seq <= "
                f":seq AND p.to_seq > :seq"
            ),
            branch=layer.branch_id,
            seq=layer.sequence,
        )
        for layer in state.layers
    )
    pages = [_page(row) for row in rows.values() if not row[-1]]
    pages.sort(key=lambda page: (page.parent or "", page.rank, page.id))
    return pages


def list_computed(tx: Transaction, state: State) -> list[Page]:
    """Return the computed pages of the state, siblings in order."""
    pages = _pages_where(tx, state, "p.kind = 'computed'")
    return sorted(pages, key=lambda page: (page.parent or "", page.rank, page.id))


def list_spaces_with_computed(tx: Transaction, organization_id: str) -> list[str]:
    """Return the spaces of an organization that have or had computed pages."""
    rows = tx.all(
        """SELECT s.id FROM spaces s WHERE s.organization_id = :org AND s.deleted_at IS NULL AND EXISTS (
             SELECT 1 FROM branches b JOIN page_versions p ON p.branch_id = b.id AND p.kind = 'computed'
             WHERE b.space_id = s.id AND p.from_seq <= b.sequence) ORDER BY s.id""",
        org=organization_id,
    )
    return [row[0] for row in rows]


def find_page_by_path(tx: Transaction, state: State, path: str) -> Page | None:
    """Return the page at a path of slugs, with one indexed lookup per level."""
    page: Page | None = None
    for slug in [part for part in path.split("/") if part]:
        found = list_by_slug(tx, state, page.id if page else None, slug)
        if not found:
            return None
        page = min(found, key=lambda candidate: (candidate.rank, candidate.id))
    return page


def find_page_by_file(tx: Transaction, state: State, file_path: str) -> Page | None:
    found = _pages_where(tx, state, "p.file_path = :file", file=file_path)
    return min(found, key=lambda candidate: candidate.id) if found else None


def list_ancestors(tx: Transaction, state: State, page: Page) -> list[Page]:
    """Return the ancestors of a page from the top down."""
    chain: list[Page] = []
    seen = {page.id}
    parent = page.parent
    while parent is not None and parent not in seen:
        above = find_page(tx, state, parent)
        if above is None:
            break
        seen.add(parent)
        chain.append(above)
        parent = above.parent
    return chain[::-1]


def trace_pages(tx: Transaction, state: State, page_ids: Iterable[str]) -> dict[str, list[Page]]:
    """Return the pages with these IDs that exist in the state, each after its ancestors from the top down,
    with one lookup per level."""
    found = find_pages(tx, state, page_ids)
    known, level = dict(found), found
    while level:
        above = {page.parent for page in level.values() if page.parent is not None} - known.keys()
        level = find_pages(tx, state, above)
        known |= level
    traced = {}
    for id, page in found.items():
        chain = {id: page}
        while page.parent in known and page.parent not in chain:
            page = known[page.parent]
            chain[page.id] = page
        traced[id] = [*chain.values()][::-1]
    return traced


class ItemFields(Struct, forbid_unknown_fields=True):
    """Shape of the column ``item_versions.fields``."""

    content_type: str | None = None
    width: int | None = None
    height: int | None = None


def count_pages(tx: Transaction, state: State) -> int:
    return _count(tx, state, "page_versions", "page_id", "1 = 1")


def _count(tx: Transaction, state: State, table: str, key: str, where: str, **parameters: object) -> int:
    """Return the number of rows of the state that match ``where``."""
    top, *below = state.layers
    live = "p.branch_id = :branch AND +p.from_seq <= :seq AND p.to_seq > :seq AND p.deleted = 0"
    count: int = tx.value(
        f"SELECT count(*) FROM {table} p WHERE {live} AND {where}",
        branch=top.branch_id,
        seq=top.sequence,
        **parameters,
    )
    for layer in below:
        count += tx.value(
            f"""SELECT count(*) FROM {table} p WHERE {live} AND {where} AND NOT EXISTS (
                  SELECT 1 FROM {table} u WHERE u.branch_id = :top AND u.{key} = p.{key}
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)""",
            branch=layer.branch_id,
            seq=layer.sequence,
            top=top.branch_id,
            top_seq=top.sequence,
            **parameters,
        )
    return count


# --- items --------------------------------------------------------------------------------------------

_ITEM = "p.item_id, p.kind, p.name, p.path, p.content, p.size, p.fields, p.created_at, p.deleted"


def _item(row: Row) -> Item:
    item_id, kind, name, path, content, size, fields, created_at, _ = row
    rare = {} if fields == "{}" else msgspec.json.decode(fields)
    return Item(
        id=item_id, kind=kind, name=name, path=path, content=content, size=size, created_at=created_at, **rare
    )


def find_item(tx: Transaction, state: State, item_id: str, kind: ItemKind) -> Item | None:
    for layer in state.layers:
        row = tx.one(
            f"SELECT {_ITEM} FROM item_versions p WHERE {_VALID} AND p.item_id = :item",
            branch=layer.branch_id,
            seq=layer.sequence,
            item=item_id,
        )
        if row is not None:
            return None if row[-1] or row[1] != kind else _item(row)
    return None


def find_items(tx: Transaction, state: State, item_ids: Iterable[str]) -> dict[str, Item]:
    """Return the items with these IDs that exist in the state, of any kind, by ID."""
    rows = _find_rows(tx, state, "item_versions", "item_id", _ITEM, item_ids)
    return {id: _item(row) for id, row in rows.items() if row is not None}


def get_item(tx: Transaction, state: State, item_id: str, kind: ItemKind) -> Item:
    item = find_item(tx, state, item_id, kind)
    if item is None:
        raise NotFound(f"This content has no {kind.replace('-', ' ')} {item_id!r}.")
    return item


_NOT_ABOVE = """NOT EXISTS (SELECT 1 FROM item_versions u WHERE u.branch_id = :top AND u.item_id = p.item_id
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)"""


def _items_where(state: State, where: str) -> tuple[str, dict[str, Any]]:
    """Return a SELECT over the state as a whole (a ``UNION ALL`` of its layers) and its parameters."""
    top, *below = state.layers
    parts = [
        f"""SELECT {_ITEM} FROM item_versions p WHERE p.branch_id = :top AND +p.from_seq <= :top_seq
            AND p.to_seq > :top_seq AND p.deleted = 0 AND {where}"""
    ]
    parameters: dict[str, Any] = {"top": top.branch_id, "top_seq": top.sequence}
    for n, layer in enumerate(below):
        parts.append(
            f"""SELECT {_ITEM} FROM item_versions p WHERE p.branch_id = :branch{n} AND +p.from_seq <= :seq{n}
                AND p.to_seq > :seq{n} AND p.deleted = 0 AND {where} AND {_NOT_ABOVE}"""
        )
        parameters |= {f"branch{n}": layer.branch_id, f"seq{n}": layer.sequence}
    return " UNION ALL ".join(parts), parameters


def find_item_by_path(tx: Transaction, state: State, path: str) -> Item | None:
    sql, parameters = _items_where(state, "p.path = :path")
    row = tx.one(sql, path=path, **parameters)
    return _item(row) if row else None


def list_items(tx: Transaction, state: State, kind: ItemKind) -> list[Item]:
    """Return all items of a kind, oldest first."""
    sql, parameters = _items_where(state, "p.kind = :kind")
    return sorted((_item(row) for row in tx.all(sql, kind=kind, **parameters)), key=lambda item: item.id)


def list_content(tx: Transaction, space_id: str, suffixes: Iterable[str]) -> list[str]:
    """List the hashes of all files with one of these suffixes that any revision of any branch of a space
    contains."""
    ends = " OR ".join(f"lower(i.name) LIKE '%{suffix}'" for suffix in suffixes)
    rows = tx.all(
        f"""SELECT DISTINCT i.content FROM branches b JOIN item_versions i ON i.branch_id = b.id
            WHERE b.space_id = :space AND i.from_seq <= b.sequence AND i.kind = 'file' AND i.content IS NOT
            NULL AND ({ends})""",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_rasters(tx: Transaction, space_id: str) -> list[Item]:
    """List the files with a width and height that any revision of any branch of a space contains, without
    duplicate content."""
    rows = tx.all(
        f"""SELECT {_ITEM} FROM branches b JOIN item_versions p ON p.branch_id = b.id
            WHERE b.space_id = :space AND p.from_seq <= b.sequence AND p.kind = 'file' AND p.content IS NOT NULL
              AND p.fields LIKE '%"width"%'""",
        space=space_id,
    )
    return list({item.content: item for item in map(_item, rows)}.values())


def list_variables(tx: Transaction, state: State) -> JsonObject:
    """Return the values of the space's variables by name."""
    return {
        item.name: msgspec.json.decode(item.content or "null") for item in list_items(tx, state, "variable")
    }


def list_items_page(
    tx: Transaction, state: State, kind: ItemKind, limit: int, page: str | None
) -> Slice[Item]:
    sql, parameters = _items_where(state, "p.kind = :kind")
    count = tx.value(f"SELECT count(*) FROM ({sql}) AS items", kind=kind, **parameters)
    # The condition is always true and makes SQLite use the index that is ordered by ID.
    source = f"FROM ({sql}) AS items WHERE item_id > ''"
    return list_page(
        tx, limit, page, "items.*", source, _item, by="item_id", count=count, kind=kind, **parameters
    )


def count_items(tx: Transaction, state: State, kind: ItemKind) -> int:
    return _count(tx, state, "item_versions", "item_id", "p.kind = :kind", kind=kind)


# --- documents ----------------------------------------------------------------------------------------


class FoundDocument(Struct, frozen=True):
    """Owner of a document, and a state that contains it."""

    state: State
    owner_id: str
    owner_kind: Literal["page", "reusable-content"]
    file_path: str | None


def get_document(tx: Transaction, space_id: str, document_id: str) -> FoundDocument:
    """Return the text with this hash in its latest version in main or, if main never had it, in any branch of
    the space. Raises NotFound."""
    found = tx.one(
        """SELECT v.owner, v.kind, v.path, r.id FROM (
             SELECT branch_id, from_seq, to_seq, page_id AS owner, 'page' AS kind, file_path AS path
               FROM page_versions
               WHERE body = :id AND deleted = 0
             UNION ALL
             SELECT branch_id, from_seq, to_seq, item_id AS owner, kind, path FROM item_versions
               WHERE content = :id AND kind = 'reusable-content' AND deleted = 0) AS v
           JOIN branches l ON l.id = v.branch_id AND v.from_seq <= l.sequence
           JOIN revisions r ON r.branch_id = v.branch_id
             AND r.sequence = CASE WHEN v.to_seq > l.sequence THEN l.sequence ELSE (
               SELECT max(b.sequence) FROM revisions b WHERE b.branch_id = v.branch_id AND b.sequence < v.to_seq) END
           WHERE l.space_id = :space
           ORDER BY CASE WHEN l.base_branch IS NULL AND v.to_seq > l.sequence THEN 0 ELSE 1 END, r.created_at DESC,
             v.owner LIMIT 1""",
        id=document_id,
        space=space_id,
    )
    if found is None:
        raise NotFound(f"This space has no document {document_id!r}.")
    owner, kind, path, revision = found
    return FoundDocument(revision_state(tx, space_id, revision), owner, kind, path)


# --- writing ------------------------------------------------------------------------------------------


class Changes(Struct):
    """Changes of a revision: the new state of each page and item; None for deleted ones."""

    pages: dict[str, Page | None] = {}
    items: dict[str, Item | None] = {}

    def __bool__(self) -> bool:
        return bool(self.pages or self.items)

    def __len__(self) -> int:
        return len(self.pages) + len(self.items)


class Staged(Struct, frozen=True):
    """Revision whose rows are written before it.

    ``sequence``: the sequence of the rows, far beyond the head of the branch. ``version``: the version of the
    derived data. ``pages`` and ``items``: the IDs of the pages and items that they replace (``json_list``).
    """

    version: int
    branch_id: str
    sequence: int
    pages: str
    items: str


def list_replaced(tx: Transaction, layer: Layer, changes: Changes) -> tuple[str, str]:
    """List the changed pages and items for which a branch already has rows, as ``json_list``."""
    of_branch = State("", "", (layer,))
    pages = _find_rows(tx, of_branch, "page_versions", "page_id", "p.page_id, p.deleted", changes.pages)
    items = _find_rows(tx, of_branch, "item_versions", "item_id", "p.item_id, p.deleted", changes.items)
    return json_list(pages), json_list(items)


def _end_validity(tx: Transaction, table: str, column: str, branch_id: str, sequence: int, ids: str) -> None:
    """End the validity of the current rows. The plus signs have the same purpose as in ``_VALID``."""
    tx.run(
        f"""UPDATE {table} SET to_seq = :seq
            WHERE branch_id = :branch AND {column} {tx.among("ids")}
              AND +from_seq < :seq AND +to_seq = {FOREVER}""",
        seq=sequence,
        branch=branch_id,
        ids=ids,
    )


def insert_rows(tx: Transaction, branch_id: str, sequence: int, changes: Changes, *, hides: bool) -> None:
    """Insert rows for the changes, valid from a sequence. ``hides``: whether the branch is on top of another
    one, so that deletions need rows that hide lower rows; main has no rows for deletions."""
    moment = now()
    tx.run_many(
        """INSERT INTO page_versions (branch_id, page_id, from_seq, to_seq, deleted, parent_id, rank, slug, kind, title,
                                      body, file_path, fields, created_at, updated_at)
           VALUES (:branch, :id, :seq, :forever, :deleted, :parent, :rank, :slug, :kind, :title,
                   :body, :file_path, :fields, :created_at, :updated_at)""",
        (
            _page_row(branch_id, sequence, page_id, page, moment)
            for page_id, page in changes.pages.items()
            if page is not None or hides
        ),
    )
    tx.run_many(
        """INSERT INTO item_versions (branch_id, item_id, from_seq, to_seq, deleted, kind, name, path, content, size,
                                      fields, created_at)
           VALUES (:branch, :id, :seq, :forever, :deleted, :kind, :name, :path, :content, :size, :fields,
           :created_at)""",
        (
            _item_row(branch_id, sequence, item_id, item, moment)
            for item_id, item in changes.items.items()
            if item is not None or hides
        ),
    )


def _has_rows_between(tx: Transaction, branch_id: str, low: int, high: int) -> bool:
    return any(
        tx.one(
            f"SELECT 1 FROM {table} WHERE branch_id = :branch AND from_seq > :low AND from_seq < :high LIMIT 1",
            branch=branch_id,
            low=low,
            high=high,
        )
        for table in ("page_versions", "item_versions")
    )


def commit(
    tx: Transaction,
    state: State,
    changes: Changes,
    staged: Staged | None = None,
    *,
    type: str = "edits",
    author: str | None = None,
    agent: str | None = None,
    message: str | None = None,
    git: Mapping[str, object] | None = None,
    merged_from: str | None = None,
    parents: Iterable[str] = (),
    base_sequence: int | None = None,
    conflicts: str | None = None,
    continues: tuple[str, int] | None = None,
) -> State:
    """Create the next revision of the state's upper branch. Raises BranchMoved unless the state is its head.

    ``agent``: the agent that the author used. ``staged``: the rows of these changes, if they are already
    written. ``base_sequence``: the newer state of main to base a change request on. ``parents``: parents in
    addition to the previous revision. ``continues``: the previous revision and the start of the consecutive
    saves to continue, if that revision is still the previous one. Only changed rows are written, regardless
    of the size of the space.
    """
    branch, head = state.layers[0].branch_id, state.layers[0].sequence
    sequence = staged.sequence if staged else head + 1
    over = state.layers[1] if len(state.layers) > 1 else None
    if over is not None and base_sequence is not None:
        over = Layer(over.branch_id, base_sequence)
    revision_id, moment = ids.new_id(), now()
    moved = tx.run(
        "UPDATE branches SET sequence = :new, revision = :revision WHERE id = :branch AND sequence = :old",
        new=sequence,
        revision=revision_id,
        branch=branch,
        old=head,
    )
    # Rows that someone else wrote below this sequence would become active with it.
    if not moved or (staged and _has_rows_between(tx, branch, head, sequence)):
        raise BranchMoved
    tx.run(
        """INSERT INTO revisions (id, branch_id, sequence, base_sequence, parents, type, author, created_at, message,
                                  git, merged_from, conflicts, agent, saves_since)
           VALUES (:id, :branch, :seq, :base_seq, :parents, :type, :author, :at, :message, :git, :merged, :conflicts,
                   :agent, :saves_since)""",
        id=revision_id,
        branch=branch,
        seq=sequence,
        base_seq=over.sequence if over else None,
        parents=msgspec.json.encode([state.revision_id, *parents]).decode(),
        type=type,
        author=author,
        at=moment,
        message=message,
        git=msgspec.json.encode(git).decode() if git else None,
        merged=merged_from,
        conflicts=conflicts,
        agent=agent,
        saves_since=continues[1]
        if continues and staged is None and continues[0] == state.revision_id
        else None,
    )
    if staged is None:
        insert_rows(tx, branch, sequence, changes, hides=over is not None)
        replaced = json_list(changes.pages), json_list(changes.items)
    else:
        replaced = staged.pages, staged.items
    _end_validity(tx, "page_versions", "page_id", branch, sequence, replaced[0])
    _end_validity(tx, "item_versions", "item_id", branch, sequence, replaced[1])
    if over is None:
        advance_main(tx, branch, revision_id)
    layers = (Layer(branch, sequence), over) if over else (Layer(branch, sequence),)
    return State(state.space_id, revision_id, layers)


def _page_row(branch: str, sequence: int, page_id: str, page: Page | None, moment: int) -> dict[str, object]:
    shown = page or Page(id=page_id)
    return {
        "branch": branch,
        "id": page_id,
        "seq": sequence,
        "forever": FOREVER,
        "deleted": int(page is None),
        "parent": shown.parent or "",
        "rank": shown.rank,
        "slug": shown.slug,
        "kind": shown.kind,
        "title": shown.title,
        "body": shown.body,
        "file_path": shown.file_path,
        "fields": _encode_fields(shown),
        "created_at": shown.created_at or moment,
        "updated_at": moment,
    }


def _item_row(branch: str, sequence: int, item_id: str, item: Item | None, moment: int) -> dict[str, object]:
    fields = {}
    if item is not None:
        for name in ItemFields.__struct_fields__:
            if (value := getattr(item, name)) is not None:
                fields[name] = value
    return {
        "branch": branch,
        "id": item_id,
        "seq": sequence,
        "forever": FOREVER,
        "deleted": int(item is None),
        "kind": item.kind if item else "file",
        "name": item.name if item else "",
        "path": item.path if item else None,
        "content": item.content if item else None,
        "size": item.size if item else 0,
        "fields": msgspec.json.encode(fields).decode(),
        "created_at": (item.created_at if item else 0) or moment,
    }
