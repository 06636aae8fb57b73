"""Index of a space's references and their targets. Each revision of main updates it, at a cost proportional to the
changes.

``derive_delta`` compares main with a changed state, and returns the obsolete rows and the new rows. A revision of main
writes the result; for a change request, the result is overlaid on the rows of main.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.deriving import MainUpdate, as_changes_from_nothing
from octavo.content.revisions.item_versions import Item, find_items
from octavo.content.revisions.keys import find_edit
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.states import State, list_branch_content, list_changed
from octavo.content.revisions.store import BranchMoved, Changes
from octavo.content.revisions.versions import current_version, current_versions
from octavo.core.document.blocks import ChangedBlocks
from octavo.core.document.containing import contained
from octavo.core.document.keys import assign_keys
from octavo.core.document.nodes import Document
from octavo.core.document.references import references
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs

from .lookup import Owner, Question, StateFiles, question
from .resolving import EverythingViewer, ResolvedReference, Resolver, page_owner, refs_of
from .row import COLUMNS, IS_CURRENT, Place, Row
from .totals import add_all, check_totals, start_recount, update_totals

_CURRENT_QUESTION = current_version("q.space_id", "q.owner_id")
_TABLES = ("content_references", "reference_questions")
_BATCH = 400
_DEPENDS = frozenset({"reusable-content", "openapi"})
_MAX_KEY = 160


class Delta(Struct):
    """Differences from the rows of main. ``seen``: the revisions of other spaces in which targets were found.
    ``written``: if requested, all current rows of ``owners`` in the space itself, including unchanged rows."""

    old: dict[Place, Row] = field(default_factory=dict)
    new: list[Row] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    owners: frozenset[str] = frozenset()
    written: list[Row] = field(default_factory=list)


# --- rows ---------------------------------------------------------------------------------------------


def _row(
    resolver: Resolver, space_id: str, owner: Owner, place: int, node: str | None, type: str, ref: Any
) -> Row:
    known = [files for files in resolver.known if isinstance(files, StateFiles)]
    for files in known:
        files.asked = set()
    meaning = resolver.resolve(owner, ref, type, space_id)
    known = [files for files in resolver.known if isinstance(files, StateFiles)]
    asked = sorted(asked for files in known for asked in files.asked)
    relation = "dependsOn" if meaning.kind in _DEPENDS or type == "reusable-content" else "reference"
    written = msgspec.json.encode(ref).decode()
    return Row(
        space_id,
        owner.id,
        place,
        owner.kind,
        node,
        type,
        relation,
        written,
        meaning.kind,
        meaning.space,
        meaning.target,
        meaning.anchor,
        meaning.status,
        _key(meaning, relation, ref),
        msgspec.json.encode(asked).decode(),
    )


def _key(meaning: ResolvedReference, relation: str, ref: Any) -> str:
    """Return a key that is the same for all references to one target. Each unresolved reference has its own key."""
    if meaning.target is None:
        parts = [relation, meaning.kind, meaning.status, str(ref.get("url", ref))]
    else:
        parts = [relation, meaning.kind, meaning.space or "", meaning.target, meaning.anchor or ""]
    key = " ".join(parts)
    if len(key) <= _MAX_KEY:
        return key
    return f"{relation} {meaning.kind} {hashlib.sha256(key.encode()).hexdigest()}"


def _rows_of(tx: Transaction, resolver: Resolver, space_id: str, thing: Page | Item) -> Iterator[Row]:
    if isinstance(thing, Page):
        owner, body = page_owner(thing), thing.body
        fields = list(refs_of(thing))
    else:
        owner, body, fields = Owner(thing.id, "reusable-content", thing.path), thing.content, []
    place = 0
    for ref, type in fields:
        yield _row(resolver, space_id, owner, place, None, type, ref)
        place += 1
    if body is None:
        return
    document = read_source(tx, body)

    def rows(document: Document) -> list[Row]:
        if not references(document):
            return []
        return [
            _row(resolver, space_id, owner, place + at, found.key, found.type, found.ref)
            for at, found in enumerate(references(assign_keys(document)))
        ]

    yield from contained("references", lambda: document, rows)


def _resolve_again(resolver: Resolver, row: Row) -> Row | None:
    """Return the reference with its current target, or None if the reference no longer exists."""
    files = resolver.files(row.space_id)
    owner = files.owner(row.owner_id, row.owner_kind) if files is not None else None  # type: ignore[arg-type]
    if owner is None:
        return None
    ref = msgspec.json.decode(row.written)
    return _row(resolver, row.space_id, owner, row.place, row.node, row.type, ref)


# --- effects of a change ----------------------------------------------------------------------------


class _Stale:
    """Lookups whose results may be affected by a change."""

    def __init__(self) -> None:
        self.exact: set[str] = set()
        self.spans: list[tuple[str, str]] = []

    def add(self, kind: str, what: str | None) -> None:
        if what is not None:
            self.exact.add(question(kind, what))

    def below(self, kind: str, what: str, mark: str) -> None:
        """Add all lookups whose text starts with ``what`` followed by ``mark``."""
        low = question(kind, what + mark)
        self.spans.append((low, low[:-1] + chr(ord(low[-1]) + 1)))


def _find_edit(tx: Transaction, state: State, changes: Changes) -> tuple[Page, ChangedBlocks] | None:
    """Return the page and the edit if the only change is an edit to blocks or to the front matter of one page."""
    if len(changes.pages) != 1 or changes.items:
        return None
    ((page_id, new),) = changes.pages.items()
    old = find_pages(tx, state, [page_id]).get(page_id)
    if old is None or new is None or old.body is None or new.body is None:
        return None
    if old.file_path != new.file_path or list(refs_of(old)) != list(refs_of(new)):
        return None
    edit = find_edit(tx, page_id, old.body, new.body)
    if edit is None or (edit.now and replace(old, body=new.body) != new):
        return None
    return new, edit


def _rows_of_edit(
    tx: Transaction, resolver: Resolver, space_id: str, page: Page, edit: ChangedBlocks
) -> tuple[dict[Place, Row], dict[Place, Row]] | None:
    """Return the rows of a page that an edit replaces, and the new rows. Return None if the rows of the blocks don't
    match the references in these blocks, or if links may change in both meaning and position."""
    first = len(list(refs_of(page))) + edit.before
    end, shift = first + len(edit.was), len(edit.now) - len(edit.was)
    if shift and edit.has_places:
        return None
    where = "r.space_id = :space AND r.owner_id IN :given AND r.place >= :first"
    given = {"space": space_id, "first": first}
    if shift:
        old = _rows_where(tx, where, [page.id], **given)
    else:
        old = _rows_where(tx, f"{where} AND r.place < :end", [page.id], **given, end=end)
    known = {row.place: row.written for row in old.values() if row.place < end}
    if known != {first + n: msgspec.json.encode(found.ref).decode() for n, found in enumerate(edit.was)}:
        return None
    new = [replace(row, place=row.place + shift) for row in old.values() if row.place >= end]
    owner = page_owner(page)
    new += [
        _row(resolver, space_id, owner, first + n, found.key, found.type, found.ref)
        for n, found in enumerate(edit.now)
    ]
    return old, {row.at: row for row in new}


def _find_stale_questions(
    tx: Transaction,
    state: State,
    changes: Changes,
    files: StateFiles,
    *,
    same_places: bool,
    from_scratch: bool,
) -> _Stale:
    """Return the lookups whose results may have changed. ``same_places``: whether the anchors on the pages are
    unchanged. ``from_scratch``: see ``MainUpdate``."""
    stale = _Stale()
    before = StateFiles(tx, state)
    old_pages = {} if from_scratch else find_pages(tx, state, changes.pages)
    for page_id, new in changes.pages.items():
        old = old_pages.get(page_id)
        if (old is None) != (new is None):
            stale.add("page", page_id)
        if (old and old.file_path) != (new and new.file_path) or (old is None) != (new is None):
            stale.add("file", old.file_path if old else None)
            stale.add("file", new.file_path if new else None)
        if (old and (old.parent, old.slug)) != (new and (new.parent, new.slug)):
            for there, page in ((before, old), (files, new)):
                if page is not None:
                    path = there.path(page)
                    stale.add("path", path)
                    stale.below("path", path, "/")
        if (
            old is not None
            and new is not None
            and ((old.body != new.body and not same_places) or old.title != new.title)
        ):
            stale.below("anchor", page_id, "#")
    old_items = {} if from_scratch else find_items(tx, state, changes.items)
    for item_id, item in changes.items.items():
        was = old_items.get(item_id)
        if (was is None) != (item is None):
            stale.add("id", item_id)
        if (was and was.path) != (item and item.path) or (was is None) != (item is None):
            for thing in (was, item):
                kind = "include" if thing is not None and thing.kind == "reusable-content" else "item"
                stale.add(kind, thing.path if thing else None)
        if was is not None and item is not None and was.content != item.content:
            stale.below("anchor", item_id, "#")
    return stale


def derive_delta(tx: Transaction, update: MainUpdate) -> Delta:
    """Return the effect of changes to a state of main on its references. The result includes ``written`` if
    ``update.whole`` is set."""
    state, changes, hosts, from_scratch, whole = update
    files = StateFiles(tx, state, changes)
    resolver = Resolver(files, hosts, EverythingViewer(tx))
    delta = Delta()
    things: dict[str, Page | Item | None] = dict(changes.pages)
    things |= {
        id: item for id, item in changes.items.items() if item is None or item.kind == "reusable-content"
    }
    old: dict[Place, Row] = {}
    new: dict[Place, Row] = {}
    edit = None if from_scratch or whole else _find_edit(tx, state, changes)
    rows = _rows_of_edit(tx, resolver, state.space_id, *edit) if edit is not None else None
    if rows is not None:
        old, new = rows
    else:
        if not from_scratch:
            old = _rows_where(
                tx, "r.space_id = :space AND r.owner_id IN :given", things, space=state.space_id
            )
        for thing in things.values():
            jobs.renew()
            if thing is not None:
                new.update((row.at, row) for row in _rows_of(tx, resolver, state.space_id, thing))
        delta.owners, delta.written = frozenset(things), list(new.values())
    same_places = edit is not None and not edit[1].has_places
    for row in _rows_asking(tx, state, changes, files, same_places=same_places, from_scratch=from_scratch):
        if row.at not in old and not (row.space_id == state.space_id and row.owner_id in delta.owners):
            old[row.at] = row
            if (again := _resolve_again(resolver, row)) is not None:
                new[again.at] = again
    delta.old = {at: row for at, row in old.items() if new.get(at) != row}
    delta.new = [row for at, row in new.items() if old.get(at) != row]
    delta.seen = {
        files.space_id: files.revision_id for files in resolver.known if files.space_id != state.space_id
    }
    return delta


def list_changes_between(tx: Transaction, head: State, there: State) -> Changes:
    """Return the changes that lead from the head of main to the state of a change request or to an earlier state of
    main."""
    *over, below = there.layers
    moved = list_changed(tx, head.layers[0], after=below.sequence)
    pages, items = set(moved.pages), set(moved.items)
    for layer in over:
        touched = list_branch_content(tx, layer)
        pages |= touched.pages
        items |= touched.items
    found_pages, found_items = find_pages(tx, there, pages), find_items(tx, there, items)
    return Changes({id: found_pages.get(id) for id in pages}, {id: found_items.get(id) for id in items})


# --- derived from main --------------------------------------------------------------------------------


def prepare(tx: Transaction, update: MainUpdate) -> Delta:
    """Compute the changes to rows that a revision of main causes, before its transaction begins."""
    return derive_delta(tx, update._replace(whole=update.from_scratch or update.whole))


def is_still_true(tx: Transaction, space_id: str, changes: Changes, moved: Set[str], delta: Delta) -> bool:
    """Return whether the prepared rows are still valid after concurrent revisions. The rows are valid if neither the
    prepared changes nor the concurrent revisions refer to pages that the other changed. If no page was moved, only
    anchors can be different."""
    if any(row.space_id == space_id and row.owner_id in moved for row in [*delta.old.values(), *delta.new]):
        return False
    stale = tuple(question("anchor", f"{page_id}#") for page_id in moved)
    for row in delta.new:
        for there, what in msgspec.json.decode(row.asked, type=list[Question]):
            if there == space_id and what.startswith(stale):
                return False
    anchors = question("anchor", "")
    asked = tx.all(
        f"""SELECT DISTINCT q.question FROM reference_questions q
            WHERE q.space_id = :space AND q.owner_id IN :moved AND q.asked_in = :space
              AND q.version = {_CURRENT_QUESTION}""",
        space=space_id,
        moved=moved,
    )
    for (what,) in asked:
        if what.startswith(anchors) and what.removeprefix(anchors).partition("#")[0] in changes.pages:
            return False
    return True


def count(delta: Delta) -> int:
    """Estimate the number of rows to be written: one per reference, and about one per lookup."""
    return 2 * (len(delta.old) + len(delta.new))


def apply(tx: Transaction, space_id: str, delta: Delta) -> None:
    """Write the rows under the current versions. Raises BranchMoved if a consulted space has changed in the
    meantime."""
    _require_unchanged(tx, delta)
    _replace(tx, delta.old.values(), delta.new)


def batches(delta: Delta, most: int) -> Iterator[list[Row]]:
    """Divide the revision's own rows, including their lookup rows, into batches of about ``most``
    rows."""
    for start in range(0, len(delta.written), most // 2):
        yield delta.written[start : start + most // 2]


def write(tx: Transaction, space_id: str, batch: list[Row], version: int) -> None:
    """Write rows under a version that isn't current yet."""
    _insert(tx, [(row, version) for row in batch])


def switch(tx: Transaction, space_id: str, delta: Delta) -> None:
    """Write the changes to rows of other owners. Raises BranchMoved under the same condition as ``apply``."""
    _require_unchanged(tx, delta)
    start_recount(tx, space_id)

    def by_others(rows: Iterable[Row]) -> list[Row]:
        return [row for row in rows if row.space_id != space_id or row.owner_id not in delta.owners]

    _replace(tx, by_others(delta.old.values()), by_others(delta.new))


def remove(tx: Transaction, space_id: str, replaced: Sequence[tuple[str, int]], most: int) -> int:
    """Delete about ``most`` rows of these owners in old versions. Return the number of owners that have no old rows
    left."""
    of_owner = "space_id = :space AND owner_id = :owner AND version = :version"
    for done, (owner, version) in enumerate(replaced):
        given = {"space": space_id, "owner": owner, "version": version}
        # This takes about as many queries as there are deleted references.
        places = tx.all(
            f"SELECT place FROM content_references WHERE {of_owner} ORDER BY place LIMIT :most",
            most=max(1, most // 2),
            **given,
        )
        for table in _TABLES:
            tx.run(
                f"DELETE FROM {table} WHERE {of_owner} AND place <= :last",
                last=max(places, default=(-1,))[0],
                **given,
            )
        most -= 2 * len(places)
        if most <= 1:
            return done
    return len(replaced)


def _require_unchanged(tx: Transaction, delta: Delta) -> None:
    if delta.seen:
        rows = tx.all(
            f"SELECT id, main_revision FROM spaces WHERE id IN :seen ORDER BY id{tx.for_update}",
            seen=delta.seen,
        )
        if dict(rows) != delta.seen:
            raise BranchMoved


def _replace(tx: Transaction, old: Collection[Row], new: Collection[Row]) -> None:
    """Replace the rows ``old`` with the rows ``new``, in the current versions of their owners."""
    owners: dict[str, list[str]] = {}
    for row in (*old, *new):
        owners.setdefault(row.space_id, []).append(row.owner_id)
    versions = {space_id: current_versions(tx, space_id, some) for space_id, some in owners.items()}
    gone = [
        {
            "space": row.space_id,
            "owner": row.owner_id,
            "place": row.place,
            "version": versions[row.space_id][row.owner_id],
        }
        for row in old
    ]
    for table in _TABLES:
        tx.run_many(
            f"""DELETE FROM {table}
                WHERE space_id = :space AND owner_id = :owner AND version = :version AND place = :place""",
            gone,
        )
    _insert(tx, [(row, versions[row.space_id][row.owner_id]) for row in new])
    update_totals(tx, old, new)


def _insert(tx: Transaction, rows: Collection[tuple[Row, int]]) -> None:
    """Insert rows, each under its version, with their lookups."""
    columns = (*COLUMNS, "version")
    tx.run_many(
        f"""INSERT INTO content_references ({", ".join(columns)})
            VALUES ({", ".join(f":{name}" for name in columns)})""",
        [{**msgspec.structs.asdict(row), "version": version} for row, version in rows],
    )
    tx.run_many(
        """INSERT INTO reference_questions (asked_in, question, space_id, owner_id, version, place)
           VALUES (:asked_in, :question, :space, :owner, :version, :place)""",
        [
            {
                "asked_in": there,
                "question": what,
                "space": row.space_id,
                "owner": row.owner_id,
                "version": version,
                "place": row.place,
            }
            for row, version in rows
            for there, what in msgspec.json.decode(row.asked, type=list[Question])
        ],
    )


def clear(tx: Transaction, space_id: str, owner_ids: Sequence[str]) -> None:
    """Delete the current rows of owners."""
    old = _rows_where(tx, "r.space_id = :space AND r.owner_id IN :given", owner_ids, space=space_id)
    versions = current_versions(tx, space_id, owner_ids)
    for table in _TABLES:
        tx.run_many(
            f"DELETE FROM {table} WHERE space_id = :space AND owner_id = :owner AND version = :version",
            [{"space": space_id, "owner": owner, "version": version} for owner, version in versions.items()],
        )
    update_totals(tx, old.values(), ())


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Compare the number, targets, and totals of the rows with the content of main. Return an error message or None."""
    state, changes = as_changes_from_nothing(tx, space_id)
    picked = ", ".join(COLUMNS)
    there = {
        Row(*row)
        for row in tx.all(
            f"SELECT {picked} FROM content_references r WHERE r.space_id = :s AND {IS_CURRENT}", s=space_id
        )
    }
    delta = derive_delta(tx, MainUpdate(state, changes, hosts, from_scratch=True))
    wanted = {row for row in delta.new if row.space_id == space_id}
    asked = sum(len(msgspec.json.decode(row.asked)) for row in wanted)
    questions = tx.value(
        f"""SELECT count(*) FROM reference_questions q
            WHERE q.space_id = :s AND q.version = {_CURRENT_QUESTION}""",
        s=space_id,
    )
    if there != wanted:
        return (
            f"references: {len(there)} rows are stored, {len(wanted)} expected, {len(wanted & there)} match"
        )
    if questions != asked:
        return f"references: {questions} lookups are stored, {asked} expected"
    return check_totals(tx, space_id)


def _rows_where(tx: Transaction, where: str, given: Iterable[str], **parameters: object) -> dict[Place, Row]:
    """Return rows that match the SQL condition ``where``, which contains ``IN :given``."""
    picked = ", ".join(f"r.{name}" for name in COLUMNS)
    values = list(given)
    found: dict[Place, Row] = {}
    for start in range(0, len(values), _BATCH):
        rows = tx.all(
            f"SELECT {picked} FROM content_references r WHERE {where} AND {IS_CURRENT}",
            given=values[start : start + _BATCH],
            **parameters,
        )
        found.update((row.at, row) for row in (Row(*row) for row in rows))
    return found


def _rows_asking(
    tx: Transaction,
    state: State,
    changes: Changes,
    files: StateFiles,
    *,
    same_places: bool,
    from_scratch: bool,
) -> list[Row]:
    """Return the references, in any space, that depend on a lookup whose result may have changed. ``from_scratch``: see
    ``MainUpdate``."""
    space_id = state.space_id
    if tx.one("SELECT 1 FROM reference_questions WHERE asked_in = :space LIMIT 1", space=space_id) is None:
        return []
    picked = ", ".join(f"r.{name}" for name in COLUMNS)
    joined = f"""SELECT DISTINCT {picked} FROM reference_questions q JOIN content_references r
                   ON r.space_id = q.space_id AND r.owner_id = q.owner_id AND r.version = q.version
                     AND r.place = q.place
                 WHERE q.asked_in = :space AND {IS_CURRENT} AND """
    if from_scratch:
        joined += "q.space_id <> :space AND "
    stale = _find_stale_questions(
        tx, state, changes, files, same_places=same_places, from_scratch=from_scratch
    )
    found: dict[Place, Row] = {}
    exact = sorted(stale.exact)
    for start in range(0, len(exact), _BATCH):
        rows = tx.all(f"{joined} q.question IN :given", space=space_id, given=exact[start : start + _BATCH])
        found.update((row.at, row) for row in (Row(*row) for row in rows))
    for low, high in stale.spans:
        rows = tx.all(
            f"{joined} q.question >= :low AND q.question < :high", space=space_id, low=low, high=high
        )
        found.update((row.at, row) for row in (Row(*row) for row in rows))
    return list(found.values())


def copy_references(tx: Transaction, source_id: str, copy_id: str) -> None:
    """Copy the references of a space to its duplicate. References within the original become references
    within the duplicate. References that contain the URL of the original still point to the original."""
    kept = [c for c in COLUMNS if c not in ("space_id", "target_space", "target_key", "asked")]
    own = "CASE WHEN r.written LIKE :named THEN {0} ELSE replace({0}, :source, :copy) END"
    given = {"source": source_id, "copy": copy_id, "named": f"%{source_id}%"}
    tx.run(
        f"""INSERT INTO content_references (space_id, target_space, target_key, asked, {", ".join(kept)})
            SELECT :copy, {own.format("r.target_space")}, {own.format("r.target_key")}, {own.format("r.asked")},
                   {", ".join(f"r.{column}" for column in kept)}
            FROM content_references r WHERE r.space_id = :source AND {IS_CURRENT}""",
        **given,
    )
    tx.run(
        f"""INSERT INTO reference_questions (asked_in, question, space_id, owner_id, place)
            SELECT {own.format("q.asked_in")}, q.question, :copy, q.owner_id, q.place
            FROM reference_questions q JOIN content_references r
              ON r.space_id = q.space_id AND r.owner_id = q.owner_id AND r.version = q.version AND r.place = q.place
            WHERE q.space_id = :source AND {IS_CURRENT}""",
        **given,
    )
    add_all(tx, copy_id)
