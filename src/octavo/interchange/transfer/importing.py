"""Import the files of a source as one revision of a space.

Sources, files, and the index are written first, in small transactions. Nothing refers to them until a short final
transaction creates the revision. If a process is killed at any point, the result is either the complete revision or
no revision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.content.revisions.bodies import body_hash, failed_lines, get_body, store_bodies
from octavo.content.revisions.files import store_file
from octavo.content.revisions.images import dimensions
from octavo.content.revisions.item_versions import ITEM_KINDS, Item, list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.revising import new_revision
from octavo.content.revisions.states import State, main_state
from octavo.content.revisions.store import BranchMoved, Changes
from octavo.core.document.page import PageHead, read_head
from octavo.core.file_types import detect_type
from octavo.core.icons import icon, is_free
from octavo.core.import_plan import (
    ImportPlan,
    PageText,
    TextCheck,
    head_fields,
    page_of,
    plan_import,
    read_pages,
    unread_head,
    unread_in,
)
from octavo.core.links import app_hosts
from octavo.core.pages import Page
from octavo.core.paths import MAX_FILE
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.core.space_config import CONFIG_PATH, TAGS_PATH, VARIABLES_PATH
from octavo.core.summary import is_markdown
from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.kit.scheduling import deadlines
from octavo.organization.spaces.store import get_space, set_language_if_unset

from .matching import longest_in_order, match_pages, ranks_of
from .sampling import Sample
from .store import ImportChanges

_BATCH = 100
OURS_ALONE = frozenset(["no_readme", "not_listed", "empty_summary"])
"""Codes of problems that are relevant only for sources written for Octavo."""

Progress = Callable[[int, int], None]


class ImportOutcome(Struct, rename="camel"):
    """Result of an import. ``pages`` and ``files``: the numbers of pages and files in the source. ``changed``: the
    number of changes in this revision. ``changes``: the changes to existing content, if the source was merged with
    it."""

    space: str
    revision: str
    pages: int
    files: int
    changed: int
    problems: list[Problem]
    changes: ImportChanges | UnsetType = UNSET


class StagedFiles(Struct, frozen=True):
    """Source that has been read: each page with its front matter and the hash of its text. ``items``: the items,
    which don't have their final IDs yet."""

    plan: ImportPlan
    reads: list[tuple[PageText, PageHead | None, str | None]]
    items: list[Item]
    problems: list[Problem]
    language: str | None = None
    """Language that the source specifies or, by default, the language in which its text is clearly written."""
    source: Source | None = None

    def pages(self, ids: Sequence[str], file_ids: Mapping[str, str]) -> list[Page]:
        """Return the pages, parents first. ``ids``: their IDs, by position. ``file_ids``: the IDs of the
        files that links can point to, by path."""
        found = []
        for read, head, body in self.reads:
            page = page_of(read, ids, file_ids)
            if head is not None:
                page = msgspec.structs.replace(page, body=body, **head_fields(head))
            found.append(page)
        return found

    def original(self, path: str | None) -> str | None:
        """Return the source file from which a file's page was created."""
        origins = self.source.origins if self.source is not None else {}
        return origins.get(path or "", path or "") or None

    def failures(self) -> list[Problem]:
        """Return the problems for blocks that Octavo's own code failed to parse. These are known only after the
        revision has been created."""
        texts = [(read.planned.file_path, body) for read, _, body in self.reads]
        texts += [(item.path, item.content) for item in self.items if item.kind == "reusable-content"]
        found = [
            Problem(
                path or "",
                line,
                "unreadable_block",
                "this block can't be read; its source was kept as text",
            )
            for path, body in texts
            if body
            for line in failed_lines(body)
        ]
        return [self.source.as_original(problem) for problem in found] if self.source is not None else found


class _BodyWriter:
    """Writer that stores sources in batches, each in its own transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: list[str] = []
        self._size = 0

    def add(self, text: str) -> str:
        self._waiting.append(text)
        self._size += len(text)
        if len(self._waiting) >= _BATCH or self._size > 4_000_000:
            self.flush()
        return body_hash(text)

    def flush(self) -> None:
        if self._waiting:
            store_bodies(self._db, self._waiting)
        self._waiting, self._size = [], 0


def import_files(
    context: Context,
    source: Source,
    space_id: str,
    *,
    author: str | None,
    message: str | None = None,
    git: Mapping[str, object] | None = None,
    progress: Progress = lambda done, total: None,
    also: Also | None = None,
) -> ImportOutcome:
    """Replace the content of the main version with the files of the source, in one revision. Pages that still exist
    keep their IDs.

    If nothing changed, no revision is created. ``also``: a function that writes related rows in the transaction
    that creates the revision or finds no changes."""

    staged = stage_for(context, source, space_id, progress)
    state, changed = replace_all(
        context, space_id, staged, author=author, message=message, git=git, also=also
    )
    if changed and staged.language is not None:
        with context.db.write() as tx:
            set_language_if_unset(tx, space_id, staged.language)
    files = sum(item.kind == "file" for item in staged.items)
    return ImportOutcome(
        space_id,
        state.revision_id,
        len(staged.plan.pages),
        files,
        changed,
        staged.problems + staged.failures(),
    )


def stage_for(context: Context, source: Source, space_id: str, progress: Progress) -> StagedFiles:
    """Stage a source for a space, as ``stage_files`` does. Links can lead to other spaces in the space's
    organization."""

    def is_neighbour(other: str) -> bool:
        with context.db.read() as tx:
            try:
                return get_space(tx, other).organization_id == get_space(tx, space_id).organization_id
            except NotFound:
                return False

    return stage_files(context, source, progress=progress, is_space=is_neighbour)


def stage_files(
    context: Context,
    source: Source,
    *,
    progress: Progress = lambda done, total: None,
    is_space: Callable[[str], bool] = lambda space_id: False,
) -> StagedFiles:
    """Read a source, and store its text and files. Nothing refers to the stored content yet. ``is_space``: a
    function that returns whether an ID belongs to a space that pages of the source can link to."""
    plan = plan_import(source, unread_in(source, context.settings.page_size))
    total = len(plan.pages) + len(plan.includes) + len(plan.files)
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    bodies = _BodyWriter(context.db)
    sample = Sample(source.language)
    check = TextCheck(plan, is_space, app_hosts(context.settings.url))
    reads: list[tuple[PageText, PageHead | None, str | None]] = []
    for read in read_pages(plan, source):
        deadlines.check()
        head, body = None, None
        if read.text is not None:
            head = read_head(read.text)
            plan.problems += [
                Problem(read.planned.file_path or "", p.line, "front_matter", p.reason) for p in head.problems
            ]
            if head.icon and not is_free(head.icon):
                drawn = "the closest free icon is shown instead" if icon(head.icon) else "no icon is shown"
                message = f"{head.icon[:60]} isn't in the free Font Awesome set; {drawn}"
                plan.problems.append(Problem(read.planned.file_path or "", 1, "paid_icon", message))
            check.check(read.planned.file_path or "", read.text)
            check.check_cover(read.planned.file_path or "", head.cover)
            body = bodies.add(read.text)
            sample.add(read.text)
            read.text = None
        elif read.planned.to_file and is_markdown(read.planned.to_file):
            head = unread_head(source.read(read.planned.to_file))
        reads.append((read, head, body))
        tick()
    items = list(_read_items(context, plan, source, bodies, check, tick))
    bodies.flush()
    plan_problems = [
        source.as_original(problem)
        for problem in plan.problems
        # Only the reader for this kind of source knows which page is the home page.
        if not (source.origins and problem.code in OURS_ALONE)
    ]
    problems = [*source.problems, *plan_problems]
    return StagedFiles(plan, reads, items, problems, sample.language(), source)


def _read_items(
    context: Context,
    plan: ImportPlan,
    source: Source,
    bodies: _BodyWriter,
    check: TextCheck,
    tick: Callable[[], None],
) -> Iterator[Item]:
    """Read files, reusable content, variables, and configuration sources. They don't have their final IDs yet."""
    root = plan.config.root
    for path in plan.includes:
        text = source.read(path).decode("utf-8")
        check.check(path, text)
        name = read_head(text).title or path.rpartition("/")[2].removesuffix(".md")
        yield Item(
            id="", kind="reusable-content", name=name, path=path, content=bodies.add(text), size=len(text)
        )
        tick()
    for name, value in plan.variables.items():
        yield Item(id="", kind="variable", name=name, content=msgspec.json.encode(value).decode())
    present = set(source.paths())
    for path in (CONFIG_PATH, plan.summary_path, root + VARIABLES_PATH, root + TAGS_PATH):
        if path in present:
            text = source.read(path).decode("utf-8", "surrogateescape")
            if body := _as_text(text):
                yield Item(
                    id="", kind="source", name=path.rpartition("/")[2], path=path, content=bodies.add(body)
                )
    for path in plan.files:
        item = _store_file(context, source, path, plan)
        if item is not None:
            yield item
        tick()


def _as_text(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text


def _store_file(context: Context, source: Source, path: str, plan: ImportPlan) -> Item | None:
    data = source.read(path)
    if len(data) > MAX_FILE:
        plan.problems.append(Problem(path, 0, "too_large", "skipped: the file is larger than 100 MB"))
        return None
    blob = store_file(context, data)
    size = dimensions(data)
    return Item(
        id="",
        kind="file",
        name=path.rpartition("/")[2],
        path=path,
        content=blob.hash,
        size=blob.size,
        content_type=detect_type(data[:64], path),
        width=size[0] if size else None,
        height=size[1] if size else None,
    )


# --- comparison with existing content -----------------------------------------------------------------


Also = Callable[[Transaction, State, list[str]], None]
"""Callback that writes related rows together with a revision. Its last argument contains the page IDs in the order
of the source."""


def imported_from(staged: StagedFiles) -> str | None:
    """Return the revision message for an imported source; None if the source has no name."""
    name = staged.source.name if staged.source is not None else ""
    return f"Imported from {name}" if name else None


def replace_all(
    context: Context,
    space_id: str,
    staged: StagedFiles,
    *,
    author: str | None,
    message: str | None = None,
    git: Mapping[str, object] | None = None,
    also: Also | None = None,
) -> tuple[State, int]:
    """Make the content of the main version identical to the source. Return the new state, and the number of pages
    and items that differed. Raises BranchMoved if main has changed in the meantime."""
    for _ in range(3):
        try:
            return _commit(context, space_id, staged, author, message, git, also)
        except BranchMoved:
            continue
    raise BranchMoved


def _commit(
    context: Context,
    space_id: str,
    staged: StagedFiles,
    author: str | None,
    message: str | None,
    git: Mapping[str, object] | None,
    also: Also | None,
) -> tuple[State, int]:
    reads, items = staged.reads, staged.items
    with context.db.read() as tx:
        state = main_state(tx, space_id)
        old_pages = {page.id: page for page in list_pages(tx, state)}
        old_items = {item.id: item for kind in ITEM_KINDS for item in list_items(tx, state, kind)}
        page_ids = match_pages(reads, old_pages, lambda digest: get_body(tx, digest))
    changes = Changes(items=_item_changes(items, old_items))
    by_path = {
        (item.path or ""): item_id
        for item_id, item in ({**old_items, **changes.items}).items()
        if item is not None and item.kind == "file"
    }
    for page in staged.pages(page_ids, by_path):
        old = old_pages.get(page.id)
        if old is None:
            changes.pages[page.id] = page
            continue
        # An import never makes a restricted page visible to more people.
        rule = page.visible_to or old.visible_to
        times = {"created_at": old.created_at, "updated_at": old.updated_at}
        page = msgspec.structs.replace(page, **times, visible_to=rule)
        if not _same_page(page, old):
            changes.pages[page.id] = page
    changes.pages |= {page_id: None for page_id in old_pages.keys() - set(page_ids)}
    _keep_order(changes, old_pages, reads, page_ids)
    if also is None and not changes:
        return state, 0
    with new_revision(context, state, changes, if_any=True) as revision:
        made = revision.write(author=author, message=message, git=git)
        if also is not None:
            also(revision.tx, made, page_ids)
    return made, len(changes.pages) + len(changes.items)


def _same_page(one: Page, two: Page) -> bool:
    return msgspec.structs.replace(one, rank="") == msgspec.structs.replace(two, rank="")


def _keep_order(
    changes: Changes,
    old: dict[str, Page],
    reads: list[tuple[PageText, PageHead | None, str | None]],
    page_ids: list[str],
) -> None:
    """Remove pages from the changes if only their rank differs, unless the order of siblings really changed."""
    siblings: dict[str | None, list[str]] = {}
    for read, _, _ in reads:
        parent = read.planned.parent
        siblings.setdefault(None if parent is None else page_ids[parent], []).append(page_ids[read.place])
    for above, order in siblings.items():
        before = sorted(
            (p for p in order if p in old and old[p].parent == above), key=lambda p: (old[p].rank, p)
        )
        stay = longest_in_order([p for p in order if p in old and old[p].parent == above], before)
        _rank_around(changes, old, order, stay)


def _rank_around(changes: Changes, old: dict[str, Page], order: list[str], stay: set[str]) -> None:
    """Assign ranks to the pages in ``order`` that aren't in ``stay``. Each new rank is between the ranks of the
    nearest pages in ``stay``."""
    if len(stay) == len(order):
        for page_id in order:
            if (page := changes.pages.get(page_id)) is not None:
                changes.pages[page_id] = msgspec.structs.replace(page, rank=old[page_id].rank)
        return
    for page_id, rank in zip(order, ranks_of(order, {p: old[p].rank for p in stay}), strict=True):
        page = changes.pages.get(page_id) or old.get(page_id)
        assert page is not None
        if page_id in changes.pages or page.rank != rank:
            changes.pages[page_id] = msgspec.structs.replace(page, rank=rank)


def _item_changes(items: list[Item], old: dict[str, Item]) -> dict[str, Item | None]:
    by_key = {_item_key(item): item for item in old.values()}
    changes: dict[str, Item | None] = {}
    for item in items:
        before = by_key.pop(_item_key(item), None)
        if before is None:
            item_id = ids.new_id()
            changes[item_id] = msgspec.structs.replace(item, id=item_id)
        else:
            after = msgspec.structs.replace(item, id=before.id, created_at=before.created_at)
            if after != before:
                changes[before.id] = after
    changes |= {item.id: None for item in by_key.values()}
    return changes


def _item_key(item: Item) -> tuple[str, str]:
    return (item.kind, item.path or item.name)
