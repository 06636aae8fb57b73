"""Branches, revisions and what they hold: page versions and item versions.

A ``State`` names one immutable state as a stack of layers, each a branch at a sequence. Main is one layer; a
change request is its own branch laid over main where it began. Reading looks through the stack from the top.
Writing is ``commit``: rows for what changed and nothing else.

Rows whose ``from_seq`` is beyond the head of their branch are there for nobody: they are of a large revision that is
being written (``staging.py``), or of a process that died over one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Struct, defstruct

from ..core.page_fields import Cover, Layout
from ..core.pages import Page
from ..errors import NotFound
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction, json_list
from ..kit.operation import Drafted
from ..kit.pagination import Slice, list_page
from ..spaces import advance_main

FOREVER = 2**62
"""``to_seq`` of what is still valid."""

SAVES_APART = 5 * 60_000
"""Milliseconds within which somebody's next save goes on what they saved before."""
SAVES_LONGEST = 60 * 60_000
"""Milliseconds from the first of saves in a row to the last."""

RevisionType = Literal["edits", "merge", "rollback", "update", "computed"]

ItemKind = Literal["file", "reusable-content", "variable", "source"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)


class Layer(Struct, frozen=True):
    branch_id: str
    sequence: int


class State(Struct, frozen=True):
    """One state of a space's content."""

    space_id: str
    revision_id: str
    layers: tuple[Layer, ...]


class Item(Struct, frozen=True, kw_only=True):
    """A file, reusable content, variable, or kept configuration source.

    ``content``: for a file the hash of its bytes, for reusable content and sources the hash of the text, for
    a variable its JSON value. ``path``: where it is among the space's files.
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
    """The sequence before the saves in a row that this one goes on; None for one that begins."""

    @property
    def before(self) -> int:
        """The sequence of the state that this revision, with the saves in a row that it goes on, was made over."""
        return self.sequence - 1 if self.saves_since is None else self.saves_since


class BranchMoved(Exception):
    """Somebody else made a revision on the branch first; look again and retry."""


# --- states -------------------------------------------------------------------------------------------


def main_state(tx: Transaction, space_id: str) -> State:
    """The head of main."""
    row = tx.one(
        """SELECT l.id, l.sequence, l.revision FROM spaces s JOIN branches l ON l.id = s.main_branch
           WHERE s.id = :space""",
        space=space_id,
    )
    if row is None:
        raise NotFound(f"There is no space {space_id!r}.")
    return State(space_id, row[2], (Layer(row[0], row[1]),))


def lock_branch(tx: Transaction, branch_id: str) -> bool:
    """Holds a branch until the transaction ends: no revision of it comes between, and nobody else writes what is
    derived from it. False for one that is gone."""
    return tx.one(f"SELECT 1 FROM branches WHERE id = :id{tx.for_update}", id=branch_id) is not None


def revision_state(tx: Transaction, space_id: str, revision_id: str) -> State:
    """The state a revision of this space holds. Raises NotFound."""
    row = tx.one(
        """SELECT r.branch_id, r.sequence, r.base_sequence, l.base_branch FROM revisions r JOIN branches l ON l.id = r.branch_id
           WHERE r.id = :revision AND l.space_id = :space""",
        revision=revision_id,
        space=space_id,
    )
    if row is None:
        raise NotFound(f"There is no revision {revision_id!r} in this space.")
    branch_id, sequence, base_sequence, base_branch = row
    layers = [Layer(branch_id, sequence)]
    if base_branch is not None:
        layers.append(Layer(base_branch, base_sequence))
    return State(space_id, revision_id, tuple(layers))


def shown_state(tx: Transaction, drafted: Drafted | None, space_id: str) -> State:
    """What a site shows of a space: main, or what the preview that somebody sees it by shows in its place."""
    if drafted is not None and drafted.space_id == space_id:
        return revision_state(tx, space_id, drafted.revision_id)
    return main_state(tx, space_id)


def branch_state(tx: Transaction, space_id: str, branch_id: str) -> State:
    """The head of a branch of this space. Raises NotFound."""
    revision = tx.value(
        "SELECT revision FROM branches WHERE id = :branch AND space_id = :space",
        branch=branch_id,
        space=space_id,
    )
    if revision is None:
        raise NotFound(f"There is no branch {branch_id!r} in this space.")
    return revision_state(tx, space_id, revision)


def open_branch(tx: Transaction, main: State, author: str | None) -> State:
    """A new branch over main at this state, without any change."""
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


class Touched(Struct, frozen=True):
    """Ids of pages and of items."""

    pages: frozenset[str]
    items: frozenset[str]


def list_held(tx: Transaction, layer: Layer) -> Touched:
    """What the upper branch of a change request says anything of."""
    return _touched(tx, "+from_seq <= :seq AND to_seq > :seq", branch=layer.branch_id, seq=layer.sequence)


def list_changed(tx: Transaction, layer: Layer, after: int) -> Touched:
    """What a branch changed or dropped after a sequence and up to the layer's."""
    new = _touched(
        tx, "from_seq > :after AND from_seq <= :seq", branch=layer.branch_id, seq=layer.sequence, after=after
    )
    old = _touched(
        tx, "to_seq > :after AND to_seq <= :seq", branch=layer.branch_id, seq=layer.sequence, after=after
    )
    return Touched(new.pages | old.pages, new.items | old.items)


def last_changed(tx: Transaction, layer: Layer) -> dict[str, tuple[str, int]]:
    """The pages (as ``page``) and items (by their kind) that a branch holds or dropped, by id, and the sequence up to
    the layer's in which each was changed last."""
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


def _touched(tx: Transaction, where: str, **parameters: Any) -> Touched:
    pages = tx.all(f"SELECT page_id FROM page_versions WHERE branch_id = :branch AND {where}", **parameters)
    items = tx.all(f"SELECT item_id FROM item_versions WHERE branch_id = :branch AND {where}", **parameters)
    return Touched(frozenset(row[0] for row in pages), frozenset(row[0] for row in items))


def list_revisions(tx: Transaction, space_id: str, limit: int, page: str | None) -> Slice[RevisionRow]:
    """The revisions of main, newest first; of saves in a row the last one."""
    # Each save that goes on another one takes that one's place in the list.
    count = tx.value(
        """SELECT count(*) - count(r.saves_since) FROM revisions r JOIN spaces s ON s.main_branch = r.branch_id
           WHERE s.id = :space""",
        space=space_id,
    )
    source = (
        f"FROM revisions r JOIN spaces s ON s.main_branch = r.branch_id WHERE s.id = :space AND {_IS_LAST}"
    )
    return list_page(
        tx, limit, page, _REVISION, source, _revision, by="r.sequence", key_types=(int,), descending=True, count=count,
        space=space_id,
    )  # fmt: skip


_OF_PAGE = """touched(sequence) AS (
    SELECT v.from_seq FROM page_versions v WHERE v.branch_id = :branch AND v.page_id = :page
    UNION SELECT v.to_seq FROM page_versions v WHERE v.branch_id = :branch AND v.page_id = :page),
  shown(sequence) AS (
    SELECT DISTINCT (SELECT min(r.sequence) FROM revisions r
                      WHERE r.branch_id = :branch AND r.sequence >= t.sequence AND {last})
      FROM touched t)"""
"""The sequences of main in whose revision a page changed, of saves in a row the last. It costs what happened to the page,
however long the history of the space is."""


def list_revisions_of_page(
    tx: Transaction, space_id: str, page_id: str, limit: int, page: str | None
) -> Slice[RevisionRow]:
    """The revisions of main that changed a page, newest first; of saves in a row the last one, when any of them did.
    None for a page that main never had."""
    branch = tx.value("SELECT main_branch FROM spaces WHERE id = :id", id=space_id)
    given = {"branch": branch, "page": page_id}
    prefix = f"WITH {_OF_PAGE.format(last=_IS_LAST)}"
    count = tx.value(f"{prefix} SELECT count(sequence) FROM shown", **given)
    source = "FROM revisions r WHERE r.branch_id = :branch AND r.sequence IN (SELECT sequence FROM shown)"
    return list_page(
        tx, limit, page, _REVISION, source, _revision, by="r.sequence", key_types=(int,), descending=True, before=prefix,
        count=count, **given,
    )  # fmt: skip


_REVISION = """r.id, r.branch_id, r.sequence, r.base_sequence, r.parents, r.type, r.author, r.created_at, r.message,
               r.git, r.merged_from, r.conflicts, r.agent, r.saves_since"""
_IS_LAST = """NOT EXISTS (SELECT 1 FROM revisions n WHERE n.branch_id = r.branch_id AND n.sequence = r.sequence + 1
                AND n.saves_since IS NOT NULL)"""
"""Of saves in a row the last one; they follow each other without a gap."""


def get_revision(tx: Transaction, revision_id: str) -> RevisionRow:
    row = tx.one(f"SELECT {_REVISION} FROM revisions r WHERE r.id = :id", id=revision_id)
    if row is None:
        raise NotFound(f"There is no revision {revision_id!r}.")
    return _revision(row)


def note_commit(tx: Transaction, revision_id: str, git: Mapping[str, Any]) -> None:
    """Says of a revision which Git commit was made of it, which is known only afterwards. One that came from a commit
    goes on saying so."""
    tx.run(
        "UPDATE revisions SET git = :git WHERE id = :id AND git IS NULL",
        git=msgspec.json.encode(git).decode(),
        id=revision_id,
    )


def state_before(tx: Transaction, space_id: str, revision: RevisionRow) -> State:
    """The state that a revision, with the saves in a row that it goes on, was made over. Raises NotFound."""
    found = tx.value(
        """SELECT id FROM revisions WHERE branch_id = :branch AND sequence <= :before
           ORDER BY sequence DESC LIMIT 1""",
        branch=revision.branch_id,
        before=revision.before,
    )
    return revision_state(tx, space_id, found or "")


def list_beginnings(tx: Transaction, revisions: Iterable[RevisionRow]) -> dict[str, RevisionRow]:
    """Of those revisions that end saves in a row the first save, by the id of the last."""
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


def goes_on(tx: Transaction, state: State, author: str, agent: str | None) -> int | None:
    """Where the saves in a row began that an edit by this person, or their program, goes on, made on just this state: the sequence before
    them. None where it begins anew."""
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


def _revision(row: tuple[Any, ...]) -> RevisionRow:
    values = list(row)
    values[4] = msgspec.json.decode(row[4])
    values[9] = msgspec.json.decode(row[9]) if row[9] else None
    return RevisionRow(*values)


# --- pages --------------------------------------------------------------------------------------------

_PAGE = """p.page_id, p.parent_id, p.rank, p.slug, p.kind, p.title, p.body, p.file_path, p.created_at, p.updated_at,
           p.fields, p.deleted"""
# The signs keep planners from walking a whole branch along its sequences instead of using the page or parent.
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
"""The shape of the column ``page_versions.fields``, to check what others wrote."""


def _page(row: tuple[Any, ...]) -> Page:
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


def _decode_fields(text: str) -> dict[str, Any]:
    rare: dict[str, Any] = msgspec.json.decode(text)
    if "layout" in rare:
        rare["layout"] = msgspec.convert(rare["layout"], Layout)
    if "cover" in rare:
        rare["cover"] = msgspec.convert(rare["cover"], Cover)
    if "tags" in rare:
        rare["tags"] = tuple(rare["tags"])
    return rare


def _encode_fields(page: Page) -> str:
    plain = msgspec.to_builtins(page)
    return msgspec.json.encode({name: plain[name] for name in _RARE if name in plain}).decode()


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


def _found(
    tx: Transaction, state: State, table: str, key: str, columns: str, wanted: Iterable[str]
) -> dict[str, tuple[Any, ...] | None]:
    """The topmost row of each of these ids, None where it says deleted."""
    found: dict[str, tuple[Any, ...] | None] = {}
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
    """Those of these pages that the state has, by id."""
    rows = _found(tx, state, "page_versions", "page_id", _PAGE, page_ids)
    return {id: _page(row) for id, row in rows.items() if row is not None}


def get_page(tx: Transaction, state: State, page_id: str) -> Page:
    page = find_page(tx, state, page_id)
    if page is None:
        raise NotFound(f"There is no page {page_id!r} here.")
    return page


def _overlay(layers: Iterable[list[tuple[Any, ...]]]) -> dict[str, tuple[Any, ...]]:
    """Rows by id, upper layers first; rows that say deleted stay in, to hide what lies below."""
    found: dict[str, tuple[Any, ...]] = {}
    for rows in layers:
        for row in rows:
            found.setdefault(row[0], row)
    return found


def _pages_where(tx: Transaction, state: State, where: str, **parameters: Any) -> list[Page]:
    """Pages for which ``where`` holds in the state as a whole, not just in one layer."""
    top, *below = state.layers
    rows = tx.all(
        f"SELECT {_PAGE} FROM page_versions p WHERE {_VALID} AND {where}",
        branch=top.branch_id,
        seq=top.sequence,
        **parameters,
    )
    kept = [row for row in rows if not row[-1]]
    for layer in below:
        # A page of a lower layer counts only when the branch above says nothing of it.
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
    """The children of these pages (None: the top), in order within each parent."""
    wanted = [parent or "" for parent in parents]
    pages = _pages_where(tx, state, "p.parent_id IN :parents", parents=wanted) if wanted else []
    return sorted(pages, key=lambda page: (page.parent or "", page.rank, page.id))


def _of_layers(state: State, select: str, where: str) -> tuple[list[str], dict[str, Any]]:
    """``select`` from the pages of each layer for which ``where`` holds in the state as a whole, and what these take."""
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
    """Up to ``limit`` children of a page (None: the top) in order, from the one at the index ``at`` of those behind the
    rank and id ``after``."""
    among = "p.parent_id = :parent AND p.deleted = 0"
    if after is not None:
        among += " AND (p.rank, p.page_id) > (:after_rank, :after_id)"
    after_rank, after_id = after or ("", "")
    selects, layers = _of_layers(state, "SELECT p.rank, p.page_id FROM page_versions p", among)
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
    """How many children a page (None: the top) has, or how many of them come before one."""
    where, key = "p.parent_id = :parent", {}
    if before is not None:
        where += " AND (p.rank, p.page_id) < (:rank, :id)"
        key = {"rank": before.rank, "id": before.id}
    return _count(tx, state, "page_versions", "page_id", where, parent=parent or "", **key)


def find_parents(tx: Transaction, state: State, page_ids: Iterable[str]) -> set[str]:
    """Those of these pages that have others below them."""
    below = "p.parent_id = w.id AND p.deleted = 0"
    selects, layers = _of_layers(state, "SELECT 1 FROM page_versions p", below)
    any_below = " OR ".join(f"EXISTS ({select})" for select in selects)
    wanted = tx.given("ids", "id")
    rows = tx.all(f"SELECT w.id FROM {wanted} AS w WHERE {any_below}", ids=json_list(page_ids), **layers)
    return {row[0] for row in rows}


def list_by_slug(tx: Transaction, state: State, parent: str | None, slug: str) -> list[Page]:
    """The children of a page (None: the top) with this slug."""
    return _pages_where(tx, state, "p.parent_id = :parent AND p.slug = :slug", parent=parent or "", slug=slug)


def list_subtree(tx: Transaction, state: State, page_id: str) -> list[Page]:
    """Everything below a page, parents before children."""
    found: list[Page] = []
    level: list[str | None] = [page_id]
    while level:
        pages = list_children(tx, state, level)
        found += pages
        level = [page.id for page in pages]
    return found


def list_pages(tx: Transaction, state: State) -> list[Page]:
    """Every page of the state, siblings in order."""
    rows = _overlay(
        tx.all(
            f"SELECT {_PAGE} FROM page_versions p WHERE p.branch_id = :branch AND +p.from_seq <= :seq AND p.to_seq > :seq",
            branch=layer.branch_id,
            seq=layer.sequence,
        )
        for layer in state.layers
    )
    pages = [_page(row) for row in rows.values() if not row[-1]]
    pages.sort(key=lambda page: (page.parent or "", page.rank, page.id))
    return pages


def list_computed(tx: Transaction, state: State) -> list[Page]:
    """The pages of the state that are made of something else, siblings in order."""
    pages = _pages_where(tx, state, "p.kind = 'computed'")
    return sorted(pages, key=lambda page: (page.parent or "", page.rank, page.id))


def list_spaces_with_computed(tx: Transaction, organization_id: str) -> list[str]:
    """The spaces of an organization that have or had computed pages."""
    rows = tx.all(
        """SELECT s.id FROM spaces s WHERE s.organization_id = :org AND s.deleted_at IS NULL AND EXISTS (
             SELECT 1 FROM branches b JOIN page_versions p ON p.branch_id = b.id AND p.kind = 'computed'
             WHERE b.space_id = s.id AND p.from_seq <= b.sequence) ORDER BY s.id""",
        org=organization_id,
    )
    return [row[0] for row in rows]


def find_page_by_path(tx: Transaction, state: State, path: str) -> Page | None:
    """The page at a path of slugs: one indexed look-up a level."""
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
    """From the top down to the page's parent."""
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
    """Those of these pages that the state has, each behind its ancestors, from the top down: a look-up a level."""
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
    """The shape of the column ``item_versions.fields``."""

    content_type: str | None = None
    width: int | None = None
    height: int | None = None


def count_pages(tx: Transaction, state: State) -> int:
    return _count(tx, state, "page_versions", "page_id", "1 = 1")


def _count(tx: Transaction, state: State, table: str, key: str, where: str, **parameters: Any) -> int:
    """How many rows the state has for which ``where`` holds."""
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


def _item(row: tuple[Any, ...]) -> Item:
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
    """Those of these items that the state has, of whatever kind, by id."""
    rows = _found(tx, state, "item_versions", "item_id", _ITEM, item_ids)
    return {id: _item(row) for id, row in rows.items() if row is not None}


def get_item(tx: Transaction, state: State, item_id: str, kind: ItemKind) -> Item:
    item = find_item(tx, state, item_id, kind)
    if item is None:
        raise NotFound(f"There is no {kind.replace('-', ' ')} {item_id!r} here.")
    return item


_NOT_ABOVE = """NOT EXISTS (SELECT 1 FROM item_versions u WHERE u.branch_id = :top AND u.item_id = p.item_id
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)"""


def _items_where(state: State, where: str) -> tuple[str, dict[str, Any]]:
    """A SELECT over the state as a whole (``UNION ALL`` of its layers) and its parameters."""
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
    """All items of a kind, oldest first."""
    sql, parameters = _items_where(state, "p.kind = :kind")
    return sorted((_item(row) for row in tx.all(sql, kind=kind, **parameters)), key=lambda item: item.id)


def list_content(tx: Transaction, space_id: str, suffixes: Iterable[str]) -> list[str]:
    """The hashes of all files whose names end with one of these and that any revision of any branch of a space has
    or had."""
    ends = " OR ".join(f"lower(i.name) LIKE '%{suffix}'" for suffix in suffixes)
    rows = tx.all(
        f"""SELECT DISTINCT i.content FROM branches b JOIN item_versions i ON i.branch_id = b.id
            WHERE b.space_id = :space AND i.from_seq <= b.sequence AND i.kind = 'file' AND i.content IS NOT NULL AND ({ends})""",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_rasters(tx: Transaction, space_id: str) -> list[Item]:
    """The files with a width and a height that any revision of any branch of a space has or had, each content once."""
    rows = tx.all(
        f"""SELECT {_ITEM} FROM branches b JOIN item_versions p ON p.branch_id = b.id
            WHERE b.space_id = :space AND p.from_seq <= b.sequence AND p.kind = 'file' AND p.content IS NOT NULL
              AND p.fields LIKE '%"width"%'""",
        space=space_id,
    )
    return list({item.content: item for item in map(_item, rows)}.values())


def list_variables(tx: Transaction, state: State) -> dict[str, Any]:
    """The values of the space's variables, by name."""
    return {
        item.name: msgspec.json.decode(item.content or "null") for item in list_items(tx, state, "variable")
    }


def list_items_page(
    tx: Transaction, state: State, kind: ItemKind, limit: int, page: str | None
) -> Slice[Item]:
    sql, parameters = _items_where(state, "p.kind = :kind")
    count = tx.value(f"SELECT count(*) FROM ({sql}) AS items", kind=kind, **parameters)
    # All ids are behind nothing; said so, SQLite begins in the index that has their order.
    source = f"FROM ({sql}) AS items WHERE item_id > ''"
    return list_page(
        tx, limit, page, "items.*", source, _item, by="item_id", count=count, kind=kind, **parameters
    )


def count_items(tx: Transaction, state: State, kind: ItemKind) -> int:
    return _count(tx, state, "item_versions", "item_id", "p.kind = :kind", kind=kind)


# --- documents ----------------------------------------------------------------------------------------


class FoundDocument(Struct, frozen=True):
    """Whose text a document is, in a state that has it."""

    state: State
    owner_id: str
    owner_kind: Literal["page", "reusable-content"]
    file_path: str | None


def get_document(tx: Transaction, space_id: str, document_id: str) -> FoundDocument:
    """The text with this hash: as main has it now, else as the space had it last, in whichever branch. Raises
    NotFound."""
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
        raise NotFound(f"There is no document {document_id!r} in this space.")
    owner, kind, path, revision = found
    return FoundDocument(revision_state(tx, space_id, revision), owner, kind, path)


# --- writing ------------------------------------------------------------------------------------------


class Changes(Struct):
    """What a revision changes: the new state of each page and item, None where it goes away."""

    pages: dict[str, Page | None] = {}
    items: dict[str, Item | None] = {}

    def __bool__(self) -> bool:
        return bool(self.pages or self.items)

    def __len__(self) -> int:
        return len(self.pages) + len(self.items)


class Staged(Struct, frozen=True):
    """A revision whose rows are written before it.

    ``sequence``: the one that they have, far beyond the head of the branch. ``version``: that of what is derived with
    them. ``pages``, ``items``: the ids of what they take the place of (``json_list``).
    """

    version: int
    branch_id: str
    sequence: int
    pages: str
    items: str


def list_replaced(tx: Transaction, layer: Layer, changes: Changes) -> tuple[str, str]:
    """The pages and the items that a branch has rows of, of those that change; as ``json_list`` makes them."""
    of_branch = State("", "", (layer,))
    pages = _found(tx, of_branch, "page_versions", "page_id", "p.page_id, p.deleted", changes.pages)
    items = _found(tx, of_branch, "item_versions", "item_id", "p.item_id, p.deleted", changes.items)
    return json_list(pages), json_list(items)


def _close(tx: Transaction, table: str, column: str, branch_id: str, sequence: int, ids: str) -> None:
    """Ends the rows that count so far. The signs as for ``_VALID``."""
    tx.run(
        f"""UPDATE {table} SET to_seq = :seq
            WHERE branch_id = :branch AND {column} {tx.among("ids")}
              AND +from_seq < :seq AND +to_seq = {FOREVER}""",
        seq=sequence,
        branch=branch_id,
        ids=ids,
    )


def insert_rows(tx: Transaction, branch_id: str, sequence: int, changes: Changes, *, hides: bool) -> None:
    """Rows for what changes, from a sequence on. ``hides``: the branch lies over another, and must say what goes away
    to hide it there; main forgets it."""
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
           VALUES (:branch, :id, :seq, :forever, :deleted, :kind, :name, :path, :content, :size, :fields, :created_at)""",
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
    git: Mapping[str, Any] | None = None,
    merged_from: str | None = None,
    parents: Iterable[str] = (),
    base_sequence: int | None = None,
    conflicts: str | None = None,
    goes_on: tuple[str, int] | None = None,
) -> State:
    """Makes the next revision of the state's upper branch. The state must be its head: else BranchMoved.

    ``agent``: the program by which the author made it. ``staged``: the rows of these changes, where they are written
    already. ``base_sequence``: for a change request that moves to a newer state of main. ``parents`` come beside the
    revision before. ``goes_on``: the revision before and where the saves in a row began that this one goes on, where it
    is still the one before. Rows are written for what changed, whatever the size of the space.
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
    # What somebody else has written below this sequence would count with it.
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
        saves_since=goes_on[1] if goes_on and staged is None and goes_on[0] == state.revision_id else None,
    )
    if staged is None:
        insert_rows(tx, branch, sequence, changes, hides=over is not None)
        replaced = json_list(changes.pages), json_list(changes.items)
    else:
        replaced = staged.pages, staged.items
    _close(tx, "page_versions", "page_id", branch, sequence, replaced[0])
    _close(tx, "item_versions", "item_id", branch, sequence, replaced[1])
    if over is None:
        advance_main(tx, branch, revision_id)
    layers = (Layer(branch, sequence), over) if over else (Layer(branch, sequence),)
    return State(state.space_id, revision_id, layers)


def _page_row(branch: str, sequence: int, page_id: str, page: Page | None, moment: int) -> dict[str, Any]:
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


def _item_row(branch: str, sequence: int, item_id: str, item: Item | None, moment: int) -> dict[str, Any]:
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
