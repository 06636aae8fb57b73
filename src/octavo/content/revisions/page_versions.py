"""Pages of a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

import msgspec
from msgspec import defstruct

from octavo.core.json_types import JsonObject
from octavo.core.page_fields import FIELDS, Cover, LayoutOptions
from octavo.core.pages import Page
from octavo.errors import require_found
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.organization.access.page_rules import Rule

from .states import FOREVER, VALID, Layer, State, count_rows, find_rows, list_changed

_MOST_CHANGED = 100
"""Number of changed pages above which all rules are read again."""

_PAGE = """p.page_id, p.parent_id, p.rank, p.slug, p.kind, p.title, p.body, p.file_path, p.created_at, p.updated_at,
           p.fields, p.deleted"""
_COLUMNS = frozenset(
    ("id", "parent", "rank", "slug", "kind", "title", "body", "file_path", "created_at", "updated_at")
)
_NOTHING_RARE = ("{}", '{"layout":{}}')
_RARE = tuple(name for name in Page.__struct_fields__ if name not in _COLUMNS)
_HINTS = get_type_hints(Page)
PageFields = defstruct(
    "PageFields", [(name, _HINTS[name], None) for name in _RARE], forbid_unknown_fields=True
)
"""Format of the column ``page_versions.fields``, for validating imported data."""


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
    if page_id in state.hidden:
        return None
    for layer in state.layers:
        row = tx.one(
            f"SELECT {_PAGE} FROM page_versions p WHERE {VALID} AND p.page_id = :page",
            branch=layer.branch_id,
            seq=layer.sequence,
            page=page_id,
        )
        if row is not None:
            return None if row[-1] else _page(row)
    return None


def find_pages(tx: Transaction, state: State, page_ids: Iterable[str]) -> dict[str, Page]:
    """Return the pages with these IDs that exist in the state, by ID."""
    wanted = (id for id in page_ids if id not in state.hidden)
    rows = find_rows(tx, state, "page_versions", "page_id", _PAGE, wanted)
    return {id: _page(row) for id, row in rows.items() if row is not None}


def get_page(tx: Transaction, state: State, page_id: str) -> Page:
    return require_found(
        find_page(tx, state, page_id),
        f"There is no page with the ID {page_id!r} in this version of the space.",
    )


def _overlay(layers: Iterable[list[Row]]) -> dict[str, Row]:
    """Return rows by ID, upper layers first. Rows marked as deleted are included, because they hide rows in lower
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
        f"SELECT {_PAGE} FROM page_versions p WHERE {VALID} AND {where}",
        branch=top.branch_id,
        seq=top.sequence,
        **parameters,
    )
    kept = [row for row in rows if not row[-1]]
    for layer in below:
        # A page of a lower layer is part of the state only if the branch above has no row for it.
        kept += tx.all(
            f"""SELECT {_PAGE} FROM page_versions p WHERE {VALID} AND {where} AND NOT EXISTS (
                  SELECT 1 FROM page_versions u WHERE u.branch_id = :top AND u.page_id = p.page_id
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)""",
            branch=layer.branch_id,
            seq=layer.sequence,
            top=top.branch_id,
            top_seq=top.sequence,
            **parameters,
        )
    return [_page(row) for row in kept if row[0] not in state.hidden]


def list_children(tx: Transaction, state: State, parents: Iterable[str | None]) -> list[Page]:
    """Return the children of these pages (None: the top level), in order within each parent."""
    wanted = [parent or "" for parent in parents]
    pages = _pages_where(tx, state, "p.parent_id IN :parents", parents=wanted) if wanted else []
    return sorted(pages, key=lambda page: (page.parent or "", page.rank, page.id))


def _select_from_layers(state: State, select: str, where: str) -> tuple[list[str], dict[str, object]]:
    """Return a SELECT statement for each layer, and the parameters of these statements. Each statement returns
    ``select`` for the pages of its layer that match ``where`` in the state as a whole."""
    selects, parameters = [], dict[str, Any]()
    for n, layer in enumerate(state.layers):
        valid = VALID.replace(":branch", f":branch_{n}").replace(":seq", f":seq_{n}")
        parameters |= {f"branch_{n}": layer.branch_id, f"seq_{n}": layer.sequence}
        hidden = ""
        if n:
            above = VALID.replace("p.", "u.").replace(":branch", ":branch_0").replace(":seq", ":seq_0")
            hidden = (
                f" AND NOT EXISTS (SELECT 1 FROM page_versions u WHERE {above} AND u.page_id = p.page_id)"
            )
        selects.append(f"{select} WHERE {valid} AND {where}{hidden}")
    return selects, parameters


def _not_hidden(tx: Transaction, hidden: Iterable[str]) -> str:
    """Return an SQL condition that leaves out hidden pages. It uses the parameter ``hidden``."""
    return f" AND NOT p.page_id {tx.among('hidden')}" if hidden else ""


def list_restricted(tx: Transaction, state: State) -> dict[str, Rule]:
    """Return the access rules of the pages that have a rule, by page."""
    pages = find_pages(tx, state, list_ever_restricted(tx, state))
    return {page.id: page.visible_to for page in pages.values() if page.visible_to}


def list_deleted_restricted(tx: Transaction, state: State) -> dict[str, Rule]:
    """Return the rules that pages had when they were deleted in main or in a change request, by page."""
    ever = list_ever_restricted(tx, state)
    rules = find_last_rules(tx, state, ever - find_pages(tx, state, ever).keys())
    return {id: rule for id, rule in rules.items() if rule}


def list_ever_restricted(tx: Transaction, state: State) -> set[str]:
    """Return the pages that had a rule at any time. This takes one index lookup for each page."""
    least = "SELECT min(p.page_id) FROM page_versions p WHERE p.branch_id = :branch AND p.restricted = 1"
    query = f"""WITH RECURSIVE ever(page) AS (
                  {least} UNION ALL SELECT ({least} AND p.page_id > e.page) FROM ever e WHERE e.page IS NOT NULL)
                SELECT page FROM ever WHERE page IS NOT NULL"""
    return {row[0] for layer in state.layers for row in tx.all(query, branch=layer.branch_id)}


def has_restricted(tx: Transaction, state: State) -> bool:
    """Return whether any page of the state's branches had a rule at any time."""
    query = "SELECT 1 FROM page_versions p WHERE p.branch_id = :branch AND p.restricted = 1 LIMIT 1"
    return any(tx.one(query, branch=layer.branch_id) is not None for layer in state.layers)


def find_access_change(tx: Transaction, state: State, page_ids: Iterable[str]) -> int | None:
    """Return the last sequence of a state's topmost branch at which one of these pages got another parent or another
    rule; None if there is none. Edits to other fields of a restricted page count, too."""
    columns = (
        "p.page_id, {} AS seq, p.parent_id, CASE WHEN p.restricted = 1 THEN p.fields ELSE '' END AS rule"
    )
    pages = f"p.page_id {tx.among('pages')}"
    top, *below = state.layers
    rows = f"""SELECT {columns.format("p.from_seq")} FROM page_versions p
               WHERE p.branch_id = :top AND {pages} AND p.from_seq <= :top_seq"""
    given = {"top": top.branch_id, "top_seq": top.sequence, "pages": json_list(page_ids)}
    for layer in below:
        rows += f" UNION ALL SELECT {columns.format('0')} FROM page_versions p WHERE {VALID} AND {pages}"
        given |= {"branch": layer.branch_id, "seq": layer.sequence}
    found: int | None = tx.value(
        f"""SELECT max(v.seq) FROM (
              SELECT p.seq, p.parent_id, p.rule, lag(p.parent_id) OVER w AS old_parent, lag(p.rule) OVER w AS old_rule
              FROM ({rows}) AS p WINDOW w AS (PARTITION BY p.page_id ORDER BY p.seq)) AS v
            WHERE v.parent_id <> v.old_parent OR v.rule <> v.old_rule""",
        **given,
    )
    return found


# The last version of a page in a layer that isn't a deletion.
_LAST = """p.from_seq = (SELECT max(n.from_seq) FROM page_versions n WHERE n.branch_id = :branch
             AND n.page_id = p.page_id AND n.from_seq <= :seq AND n.deleted = 0)"""


def find_last_rules(tx: Transaction, state: State, page_ids: Iterable[str]) -> dict[str, Rule]:
    """Return the rules of the last versions of pages in a state, even if the pages are deleted in that state."""
    found: dict[str, Rule] = {}
    left = set(page_ids)
    for layer in state.layers:
        rows = tx.all(
            f"""SELECT p.page_id, p.fields FROM {tx.given("pages", "id")} AS w CROSS JOIN page_versions p
                WHERE p.branch_id = :branch AND p.page_id = w.id AND {_LAST}""",
            pages=json_list(left),
            branch=layer.branch_id,
            seq=layer.sequence,
        )
        found |= {id: tuple(_decode_fields(fields).get("visible_to", ())) for id, fields in rows}
        left -= found.keys()
    return found


def find_rule_start(tx: Transaction, main: State, page: Page) -> int:
    """Return the sequence at which a page in main got its current rule."""
    (layer,) = main.layers
    start = layer.sequence
    for from_seq, fields in tx.all(
        """SELECT p.from_seq, p.fields FROM page_versions p WHERE p.branch_id = :branch AND p.page_id = :page
           AND p.from_seq <= :seq ORDER BY p.from_seq DESC""",
        branch=layer.branch_id,
        page=page.id,
        seq=layer.sequence,
    ):
        if tuple(_decode_fields(fields).get("visible_to", ())) != page.visible_to:
            break
        start = from_seq
    return start


def list_deleted_below(tx: Transaction, state: State, parents: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pages that were deleted while they were under these pages, each with its parent. For a change request,
    only pages that the change request deleted are included."""
    top, *lower = state.layers
    below = f"p.branch_id = :branch AND p.parent_id {tx.among('parents')} AND p.deleted = 0"
    given = {"parents": json_list(parents)}
    rows = tx.all(
        f"SELECT p.page_id, p.parent_id FROM page_versions p WHERE {below} AND +p.to_seq <= :seq AND {_LAST}",
        branch=top.branch_id,
        seq=top.sequence,
        **given,
    )
    for layer in lower:
        of_top = "SELECT 1 FROM page_versions u WHERE u.branch_id = :top AND u.page_id = p.page_id"
        rows += tx.all(
            f"""SELECT p.page_id, p.parent_id FROM page_versions p WHERE {below} AND {VALID}
                  AND EXISTS ({of_top} AND u.deleted = 1 AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)
                  AND NOT EXISTS ({of_top} AND u.deleted = 0 AND u.from_seq <= :top_seq)""",
            branch=layer.branch_id,
            seq=layer.sequence,
            top=top.branch_id,
            top_seq=top.sequence,
            **given,
        )
    found = find_pages(tx, state, (row[0] for row in rows))
    return [(row[0], row[1]) for row in rows if row[0] not in found]


def keeps_rules(tx: Transaction, layer: Layer, revision_id: str, rules: Mapping[str, object]) -> bool:
    """Return whether the pages of main that changed since a revision have the same rules and parents as before.
    ``rules``: the pages that rules applied to in that revision."""
    after = tx.value(
        "SELECT sequence FROM revisions WHERE id = :id AND branch_id = :branch AND sequence <= :seq",
        id=revision_id,
        branch=layer.branch_id,
        seq=layer.sequence,
    )
    if after is None:
        return False
    changed = list_changed(tx, layer, after).pages
    if len(changed) > _MOST_CHANGED:
        return False
    columns = "p.page_id, p.parent_id, p.fields, p.deleted"
    before, now = (
        find_rows(tx, State("", "", (each,)), "page_versions", "page_id", columns, changed)
        for each in (Layer(layer.branch_id, after), layer)
    )
    for id in changed:
        old, new = before.get(id), now.get(id)
        if new is None:
            return False
        _, parent, fields, _ = new
        rule = _decode_fields(fields).get("visible_to")
        if old is None:
            # An earlier version of the page can have its own rules.
            if rule or parent in rules or id in rules or _existed(tx, layer, id, after):
                return False
        elif old[1] != parent or _decode_fields(old[2]).get("visible_to") != rule:
            return False
    return True


def _existed(tx: Transaction, layer: Layer, page_id: str, sequence: int) -> bool:
    return (
        tx.one(
            "SELECT 1 FROM page_versions WHERE branch_id = :branch AND page_id = :page AND from_seq <= :seq LIMIT 1",
            branch=layer.branch_id,
            page=page_id,
            seq=sequence,
        )
        is not None
    )


def list_ever_below(tx: Transaction, state: State, parents: Iterable[str]) -> set[str]:
    """Return the pages that were under these pages in any version of main, or of a change request and its base."""
    found: set[str] = set()
    for n, layer in enumerate(state.layers):
        rows = tx.all(
            f"""SELECT DISTINCT p.page_id FROM page_versions p WHERE p.branch_id = :branch
                  AND p.parent_id {tx.among("parents")} AND p.deleted = 0 AND +p.from_seq <= :seq
                  {"AND p.to_seq > :seq" if n else ""}""",
            branch=layer.branch_id,
            seq=layer.sequence,
            parents=json_list(parents),
        )
        found.update(row[0] for row in rows)
    return found


def find_rules_at_deletion(
    tx: Transaction, state: State, page_ids: Iterable[str]
) -> dict[str, tuple[Rule, ...]]:
    """Return the rules that applied to pages when they were deleted in main or by a change request."""
    top = state.layers[0]
    # The sequence at which each page was deleted: the end of its last version, or the start of the mark that hides it.
    ends = tx.all(
        f"""SELECT p.page_id, max(CASE WHEN p.deleted = 0 THEN p.to_seq ELSE p.from_seq END) FROM page_versions p
            WHERE p.branch_id = :branch AND p.page_id {tx.among("pages")} AND p.from_seq <= :seq
              AND (p.deleted = 1 OR p.to_seq <= :seq) GROUP BY p.page_id""",
        branch=top.branch_id,
        seq=top.sequence,
        pages=json_list(page_ids),
    )
    read: dict[tuple[str, int], tuple[str, Rule]] = {}
    level = {(id, int(end)) for id, end in ends}
    while level:
        new = _read_before(tx, state, level)
        read |= new
        level = {(parent, end) for (_, end), (parent, _) in new.items()} - read.keys()
    rules: dict[str, tuple[Rule, ...]] = {}
    for id, end in ends:
        chain: dict[str, Rule] = {}
        here = id
        while here not in chain and (here, end) in read:
            parent, chain[here] = read[here, end]
            here = parent
        rules[id] = tuple(dict.fromkeys(rule for rule in chain.values() if rule))
    return {id: found for id, found in rules.items() if found}


def _read_before(
    tx: Transaction, state: State, wanted: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], tuple[str, Rule]]:
    """Return the parent and the rule that pages had just before given sequences of the top branch, by page and
    sequence."""
    found: dict[tuple[str, int], tuple[str, Rule]] = {}
    left = set(wanted)
    before = "p.from_seq < CAST(w.sequence AS BIGINT) AND p.to_seq >= CAST(w.sequence AS BIGINT)"
    for n, layer in enumerate(state.layers):
        rows = tx.all(
            f"""SELECT w.id, w.sequence, p.parent_id, p.fields, p.deleted
                FROM {tx.given("wanted", "id", "sequence")} AS w CROSS JOIN page_versions p
                WHERE p.page_id = w.id AND {VALID if n else f"p.branch_id = :branch AND {before}"}""",
            branch=layer.branch_id,
            seq=layer.sequence,
            wanted=msgspec.json.encode([(id, str(end)) for id, end in left]).decode(),
        )
        for id, end, parent, fields, deleted in rows:
            left.discard((id, int(end)))
            if not deleted:
                found[id, int(end)] = parent, tuple(_decode_fields(fields).get("visible_to", ()))
    return found


def filter_restricted_spaces(tx: Transaction, space_ids: list[str]) -> list[str]:
    """Return the given spaces that have, or previously had, a restricted page in main."""
    rows = tx.all(
        """SELECT s.id FROM spaces s WHERE s.id IN :ids AND EXISTS (
             SELECT 1 FROM page_versions p WHERE p.branch_id = s.main_branch AND p.restricted = 1)""",
        ids=space_ids,
    )
    return [row[0] for row in rows]


def list_restricted_spaces(tx: Transaction, organization_id: str) -> list[str]:
    """Return the spaces of an organization that have or had a restricted page in main."""
    # Each branch with restricted pages takes one index lookup, and in this order no other rows are read.
    rows = tx.all(
        """WITH RECURSIVE restricted(branch) AS (
             SELECT min(p.branch_id) FROM page_versions p WHERE p.restricted = 1
             UNION ALL SELECT (SELECT min(p.branch_id) FROM page_versions p
                                WHERE p.restricted = 1 AND p.branch_id > r.branch)
               FROM restricted r WHERE r.branch IS NOT NULL)
           SELECT s.id FROM restricted r CROSS JOIN branches b CROSS JOIN spaces s
           WHERE b.id = r.branch AND s.id = b.space_id AND s.main_branch = b.id AND s.organization_id = :org""",
        org=organization_id,
    )
    return [row[0] for row in rows]


def list_child_ids(tx: Transaction, state: State, parents: Iterable[str]) -> list[tuple[str, str]]:
    """Return the subpages of these pages, each with its parent, in no particular order."""
    below = f"p.parent_id {tx.among('parents')} AND p.deleted = 0"
    selects, layers = _select_from_layers(state, "SELECT p.page_id, p.parent_id FROM page_versions p", below)
    return [
        (row[0], row[1]) for row in tx.all(" UNION ALL ".join(selects), parents=json_list(parents), **layers)
    ]


def slice_children(
    tx: Transaction,
    state: State,
    parent: str | None,
    *,
    limit: int,
    at: int = 0,
    after: tuple[str, str] | None = None,
) -> list[Page]:
    """Return up to ``limit`` children of a page (None: the top level) in order, starting at the index
    ``at``. ``after``: the rank and ID of the child after which to start counting."""
    below = state.hidden_below([parent or ""])
    among, hidden = f"p.parent_id = :parent AND p.deleted = 0{_not_hidden(tx, below)}", json_list(below)
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
        hidden=hidden,
        **layers,
    )
    found = find_pages(tx, state, (row[1] for row in rows))
    return [found[row[1]] for row in rows]


def count_children(tx: Transaction, state: State, parent: str | None, before: Page | None = None) -> int:
    """Return the number of children of a page (None: the top level), or the number of children before a given child."""
    below = state.hidden_below([parent or ""])
    where, key = f"p.parent_id = :parent{_not_hidden(tx, below)}", {"hidden": json_list(below)}
    if before is not None:
        where += " AND (p.rank, p.page_id) < (:rank, :id)"
        key |= {"rank": before.rank, "id": before.id}
    return count_rows(tx, state, "page_versions", "page_id", where, parent=parent or "", **key)


def find_parents(tx: Transaction, state: State, page_ids: Iterable[str]) -> set[str]:
    """Return the pages with these IDs that have subpages."""
    page_ids = list(page_ids)
    hidden = state.hidden_below(page_ids)
    below = f"p.parent_id = w.id AND p.deleted = 0{_not_hidden(tx, hidden)}"
    selects, layers = _select_from_layers(state, "SELECT 1 FROM page_versions p", below)
    any_below = " OR ".join(f"EXISTS ({select})" for select in selects)
    wanted = tx.given("ids", "id")
    given = {"ids": json_list(page_ids), "hidden": json_list(hidden)}
    rows = tx.all(f"SELECT w.id FROM {wanted} AS w WHERE {any_below}", **given, **layers)
    return {row[0] for row in rows}


def list_by_slug(tx: Transaction, state: State, parent: str | None, slug: str) -> list[Page]:
    """Return the children of a page (None: the top level) with this slug."""
    return _pages_where(tx, state, "p.parent_id = :parent AND p.slug = :slug", parent=parent or "", slug=slug)


def list_subtree(tx: Transaction, state: State, page_id: str) -> list[Page]:
    """Return all pages under a page, parents before children."""
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
    pages = [_page(row) for row in rows.values() if not row[-1] and row[0] not in state.hidden]
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
    """Return the pages with these IDs that exist in the state, each preceded by its ancestors from the top down. This
    takes one lookup per level."""
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


def count_pages(tx: Transaction, state: State) -> int:
    where, hidden = f"1 = 1{_not_hidden(tx, state.hidden)}", json_list(state.hidden)
    return count_rows(tx, state, "page_versions", "page_id", where, hidden=hidden)


def page_row(branch: str, sequence: int, page_id: str, page: Page | None, moment: int) -> dict[str, object]:
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
        "restricted": int(bool(shown.visible_to)),
        "title": shown.title,
        "body": shown.body,
        "file_path": shown.file_path,
        "fields": _encode_fields(shown),
        "created_at": shown.created_at or moment,
        "updated_at": moment,
    }
