"""Changes that commits made to pages and items.

If only text and the contents of files changed, only the changed files are read. If files were added or removed, or
if the navigation, the configuration, or a title changed, an import plan is created for each of the two trees. The
difference between the plans is the change that the commits made. Space settings that aren't stored in files are
kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from octavo.content.revisions.bodies import body_hash, get_body, store_bodies
from octavo.content.revisions.files import store_file
from octavo.content.revisions.images import dimensions
from octavo.content.revisions.item_versions import Item
from octavo.core.document.page import read_head
from octavo.core.file_types import detect_type
from octavo.core.import_plan import (
    ImportPlan,
    PageText,
    PlannedPage,
    TextCheck,
    Unread,
    head_fields,
    leading_title,
    page_of,
    plan_import,
    unread_head,
    unread_text,
)
from octavo.core.json_types import JsonObject
from octavo.core.links import app_hosts
from octavo.core.merge import Versions
from octavo.core.pages import Page
from octavo.core.paths import MAX_FILE
from octavo.core.problems import Problem
from octavo.core.space_config import CONFIG_PATH, TAGS_PATH, VARIABLES_PATH
from octavo.core.summary import is_markdown
from octavo.interchange.transfer.matching import longest_in_order, match_pages, ranks_of
from octavo.kit import ids
from octavo.kit.context import Context
from octavo.kit.work import jobs

from .lfs import MOST_POINTER, LargeFiles, read_pointer
from .repository import CommittedFile, PathChange, Repository, is_safe
from .synced_state import SyncedState

_MOST_FAST = 500
_BATCH = 100
Adopted = Callable[[], Mapping[tuple[str, str], str]]
"""Function that returns the IDs that pages and items already have in change requests, by kind and name
(``name_of``)."""
_STRUCTURE = ("slug", "kind", "title", "link_title", "target", "computed")


def name_of(thing: Page | Item | PlannedPage) -> tuple[str, str]:
    """Return the name that identifies a page or an item in the files of a space."""
    if isinstance(thing, Item):
        return thing.kind, thing.path or thing.name
    return "page", thing.file_path or f"{thing.kind}:{thing.title}"


class ReadContent(Struct):
    """Content that a repository's commits changed. ``versions``: the new versions of pages and items; None if they
    were deleted. ``oids``: the Git object IDs of the text and file contents that were read, by content hash."""

    versions: Versions
    problems: list[Problem]
    oids: dict[str, str] = field(default_factory=dict)


def read_changes(
    context: Context,
    copy: Repository,
    agreed: SyncedState,
    old_tree: bytes | None,
    new_tree: bytes | None,
    is_space: Callable[[str], bool],
    large: LargeFiles,
    adopted: Adopted | None = None,
) -> ReadContent:
    """Return the difference between two trees of the synced folder, as changes to the last state on which both
    sides agreed. ``adopted``: the IDs that pages and items added by these trees already have in change requests."""
    changes = copy.changes(old_tree, new_tree)
    reader = _Reader(context, copy, agreed, is_space, large, adopted or dict)
    usable = [clean for change in changes if (clean := reader.cleaned(change)) is not None]
    if not usable:
        return ReadContent(Versions(), reader.problems)
    reader.store_large_files(usable)
    found = reader.read_contents(usable) if len(usable) <= _MOST_FAST else None
    return found or reader.read_structure(usable, old_tree, new_tree)


class _Reader:
    def __init__(
        self,
        context: Context,
        copy: Repository,
        agreed: SyncedState,
        is_space: Callable[[str], bool],
        large: LargeFiles,
        adopted: Adopted,
    ) -> None:
        self.context, self.copy, self.agreed, self.is_space = context, copy, agreed, is_space
        self.large, self.adopted = large, adopted
        self.problems: list[Problem] = []
        self.oids: dict[str, str] = {}
        self._texts: list[str] = []

    def cleaned(self, change: PathChange) -> PathChange | None:
        """Return a change without the parts that a space can't store; None if nothing remains."""
        if not is_safe(change.path):
            if change.new is not None:
                shown = change.path.encode("unicode_escape", "replace").decode()
                self.problem(
                    shown,
                    "unsafe_path",
                    "skipped: a space can't contain a file with this name; rename the file",
                )
            return None
        old = change.old if change.old is not None and change.old.is_file else None
        new = change.new
        if new is not None and not new.is_file:
            kind = (
                "symbolic links aren't supported" if new.mode == 0o120000 else "submodules aren't supported"
            )
            self.problem(change.path, "symlink" if new.mode == 0o120000 else "submodule", f"skipped: {kind}")
            new = None
        if new is not None and self.copy.size(new.oid) > MAX_FILE:
            self.problem(
                change.path, "too_large", f"skipped: the file is larger than {MAX_FILE // 1024**2} MB"
            )
            new = None
        if old is None and new is None:
            return None
        return PathChange(change.path, old, new)

    def problem(self, path: str, code: str, message: str, line: int = 0) -> None:
        self.problems.append(Problem(path, line, code, message))

    # --- bytes ----------------------------------------------------------------------------------------

    def _bytes(self, path: str, entry: CommittedFile) -> bytes:
        """Return the content of a file. If the file is an LFS pointer whose file was downloaded, return that file's
        content instead."""
        data = self.copy.read(entry.oid)
        pointer = read_pointer(data)
        if pointer is None:
            return data
        if self.large.has(pointer):
            return bytes(self.context.files.read(pointer.oid))
        self.problem(path, "lfs_pointer", self.large.explain_missing(pointer))
        return data

    def text(self, path: str, entry: CommittedFile, most: int | None = None) -> tuple[str, str] | Problem:
        """Store the text of a file and return it with its hash, or return the reason why the file isn't text.
        ``most``: the maximum number of bytes if the file isn't a page."""
        jobs.renew()
        data = self._bytes(path, entry)
        if (problem := unread_text(path, data, most or self.context.settings.page_size)) is not None:
            return problem
        text = data.decode()
        digest = body_hash(text)
        self.oids[digest] = entry.oid
        self._texts.append(text)
        if len(self._texts) >= _BATCH:
            self.flush()
        return text, digest

    def store_large_files(self, changes: Sequence[PathChange]) -> None:
        """Download and store the new files that are LFS pointers."""
        small = [
            change.new.oid
            for change in changes
            if change.new is not None and self.copy.size(change.new.oid) <= MOST_POINTER
        ]
        found = (read_pointer(self.copy.read(oid)) for oid in small)
        self.large.download(pointer for pointer in found if pointer is not None)

    def flush(self) -> None:
        if self._texts:
            store_bodies(self.context.db, self._texts)
        self._texts = []

    def file(self, path: str, entry: CommittedFile) -> JsonObject:
        """Return the item fields for a file, and store its bytes."""
        jobs.renew()
        data = self._bytes(path, entry)
        blob = store_file(self.context, data)
        self.oids[blob.hash] = entry.oid
        size = dimensions(data)
        return {
            "content": blob.hash,
            "size": blob.size,
            "content_type": detect_type(data[:64], path),
            "width": size[0] if size else None,
            "height": size[1] if size else None,
        }

    def old_text(self, page: Page) -> str:
        with self.context.db.read() as tx:
            return get_body(tx, page.body) if page.body else ""

    def check_text(self, plan: ImportPlan, path: str, text: str) -> None:
        found = ImportPlan(
            config=plan.config,
            summary=plan.summary,
            summary_path=plan.summary_path,
            summary_text=None,
            pages=[],
            includes=plan.includes,
            variables={},
            tags=[],
            files=plan.files,
        )
        TextCheck(found, self.is_space, app_hosts(self.context.settings.url)).check(path, text)
        self.problems += found.problems

    # --- only texts and bytes -------------------------------------------------------------------------

    def read_contents(self, changes: Sequence[PathChange]) -> ReadContent | None:
        """Return the changes if they affect only the text of pages or the bytes of files; otherwise, return None."""
        known: list[tuple[PathChange, Page | Item]] = []
        with self.context.db.read() as tx:
            for change in changes:
                name = change.path.rpartition("/")[2].casefold()
                if change.old is None or change.new is None or name in _special_names():
                    return None
                page, item = (
                    self.agreed.page_of_file(tx, change.path),
                    self.agreed.item_of_path(tx, change.path),
                )
                if page is not None and item is None and page.kind == "document" and page.body:
                    known.append((change, page))
                elif page is None and item is not None and _stays(item):
                    known.append((change, item))
                else:
                    return None
        pages: dict[str, Page | None] = {}
        items: dict[str, Item | None] = {}
        before = len(self.problems)
        for change, thing in known:
            assert change.new is not None
            if isinstance(thing, Item) and thing.kind == "file":
                items[thing.id] = replace(thing, **self.file(change.path, change.new))
                continue
            read = self.text(change.path, change.new)
            if isinstance(read, Problem) or (
                isinstance(thing, Page) and leading_title(read[0]) != leading_title(self.old_text(thing))
            ):
                del self.problems[before:]
                return None
            if isinstance(thing, Page):
                pages[thing.id] = self.with_text(thing, *read)
            else:
                items[thing.id] = _include(thing, *read)
        self.flush()
        return ReadContent(Versions(pages, items), self.problems, self.oids)

    def with_text(self, page: Page, text: str, digest: str) -> Page:
        head = read_head(text)
        self.problems += [
            Problem(page.file_path or "", p.line, "front_matter", p.reason) for p in head.problems
        ]
        return replace(page, body=digest, **head_fields(head))

    # --- the entire structure -------------------------------------------------------------------------

    def read_structure(
        self, changes: Sequence[PathChange], old_tree: bytes | None, new_tree: bytes | None
    ) -> ReadContent:
        with self.context.db.read() as tx:
            pages, items = self.agreed.all_pages(tx), self.agreed.all_items(tx)
        old = _Side(self.copy, old_tree, ())
        left_out = {change.path for change in changes if change.new is None}
        new = _Side(self.copy, new_tree, left_out)
        found = _Structure(self, changes, pages, items, old, new).compare()
        self.flush()
        self.problems += new.plan.problems
        return ReadContent(found, self.problems, self.oids)


def _special_names() -> set[str]:
    names = [path.rpartition("/")[2].casefold() for path in (CONFIG_PATH, VARIABLES_PATH, TAGS_PATH)]
    return {*names, "summary.md"}


def _stays(item: Item) -> bool:
    """Return whether a file keeps its role even if its content changes. A Markdown file that doesn't belong to a
    page may become a page."""
    return item.kind == "reusable-content" or (item.kind == "file" and not is_markdown(item.path or ""))


def _include(item: Item, text: str, digest: str) -> Item:
    name = read_head(text).title or (item.path or item.name).rpartition("/")[2].removesuffix(".md")
    return replace(item, name=name, content=digest, size=len(text))


class _Side:
    """Files in one tree of the synced folder, with the plan for importing them."""

    def __init__(self, copy: Repository, tree: bytes | None, without: Iterable[str]) -> None:
        self._copy = copy
        self.unread: Unread = lambda path: None
        left_out = set(without)
        self.entries = {
            path: entry
            for path, entry in copy.files(tree)
            if entry.is_file and is_safe(path) and path not in left_out
        }

    def paths(self) -> Iterable[str]:
        return self.entries

    def read(self, path: str) -> bytes:
        return self._copy.read(self.entries[path].oid)

    @cached_property
    def plan(self) -> ImportPlan:
        return plan_import(self, self.unread)


class _Structure:
    """Comparison of two trees, based on their import plans. The result consists of changes to the last state on
    which both sides agreed."""

    def __init__(
        self,
        reader: _Reader,
        changes: Sequence[PathChange],
        pages: dict[str, Page],
        items: dict[str, Item],
        old: _Side,
        new: _Side,
    ) -> None:
        self.reader, self.pages, self.items, self.old, self.new = reader, pages, items, old, new
        self.changed = {change.path: change for change in changes}
        self.by_file = {page.file_path: page for page in pages.values() if page.file_path}
        self.by_path: dict[tuple[str, str], Item] = {
            (item.kind, item.path): item for item in items.values() if item.path
        }
        self._texts: dict[str, tuple[str, str] | Problem] = {}
        old.unread, new.unread = self._unread_before, self._unread_now
        self.adopted = {
            name: id for name, id in reader.adopted().items() if id not in pages and id not in items
        }

    def _id(self, name: tuple[str, str]) -> str:
        """Return the ID of a new page or item: its ID in a change request or, by default, a new ID."""
        return self.adopted.get(name) or ids.new_id()

    def new_text(self, path: str) -> tuple[str, str] | Problem:
        """Return the text and hash of a page or an include in the new tree, or the reason why the file can't be
        either of these."""
        if path not in self._texts:
            there = self.by_file.get(path)
            if there is not None and there.body and path not in self.changed:
                self._texts[path] = self.reader.old_text(there), there.body
            else:
                self._texts[path] = self.reader.text(path, self.new.entries[path])
        return self._texts[path]

    def _unread_now(self, path: str) -> Problem | None:
        there = self.by_file.get(path)
        if there is not None and there.body and path not in self.changed:
            return None
        read = self.new_text(path)
        return read if isinstance(read, Problem) else None

    def _unread_before(self, path: str) -> Problem | None:
        """Return the reason why a Markdown file in the old tree isn't a page, if the space keeps it as a file."""
        there = self.by_file.get(path)
        is_kept = ("file", path) in self.by_path and not (there is not None and there.body)
        return Problem(path, 0, "not_listed", "kept as a file") if is_kept else None

    def compare(self) -> Versions:
        old_ids = self._match_ids(self.old, {})
        moved = self._moves()
        new_ids = self._match_ids(self.new, moved)
        items, file_ids, old_file_ids = self._compare_items()
        pages = self._compare_pages(old_ids, new_ids, file_ids, old_file_ids)
        return Versions(pages, items)

    def _moves(self) -> dict[str, str]:
        """Return the old paths of files that were moved without changes, by new path."""
        gone: dict[str, list[str]] = {}
        for change in self.changed.values():
            if change.new is None and change.old is not None:
                gone.setdefault(change.old.oid, []).append(change.path)
        found = {}
        for change in self.changed.values():
            if change.old is None and change.new is not None and gone.get(change.new.oid):
                same = gone[change.new.oid]
                name = change.path.rpartition("/")[2]
                old = next((path for path in same if path.rpartition("/")[2] == name), same[0])
                same.remove(old)
                found[change.path] = old
        return found

    def _match_ids(self, side: _Side, moved: Mapping[str, str]) -> list[str]:
        """Return the IDs of a plan's pages, in the plan's order. ``moved``: the result of ``_moves``."""
        reads: list[Any] = []
        for place, planned in enumerate(side.plan.pages):
            path, body = planned.file_path, None
            there = self.by_file.get(moved.get(path or "", path or ""))
            if there is not None:
                body = there.body
                if path is not None and path in moved:
                    planned = replace(planned, file_path=moved[path])
            elif path and side is self.new and not planned.missing and path in self.changed:
                read = self.new_text(path)
                body = None if isinstance(read, Problem) else read[1]
            reads.append((PageText(planned=planned, place=place, title=planned.title), None, body))
        self.reader.flush()
        with self.reader.context.db.read() as tx:
            found = match_pages(reads, self.pages, lambda digest: get_body(tx, digest))
        free = dict(self.adopted)
        for place, planned in enumerate(side.plan.pages):
            if found[place] not in self.pages and (known := free.pop(name_of(planned), None)):
                found[place] = known
        return found

    # --- pages ----------------------------------------------------------------------------------------

    def _title(self, side: _Side, planned: PlannedPage) -> str:
        path = planned.file_path
        if planned.titled or planned.kind != "document" or not path or planned.missing:
            return planned.title
        if path in self.changed:
            if side is self.new:
                read = self.new_text(path)
                text = "" if isinstance(read, Problem) else read[0]
            else:
                text = side.read(path).decode("utf-8", "replace")
        else:
            page = self.by_file.get(path)
            text = self.reader.old_text(page) if page is not None else ""
        return leading_title(text) or planned.title

    def _compare_pages(
        self,
        old_ids: list[str],
        new_ids: list[str],
        file_ids: Mapping[str, str],
        old_file_ids: Mapping[str, str],
    ) -> dict[str, Page | None]:
        old_plan, new_plan = self.old.plan, self.new.plan
        old_place = {id: place for place, id in enumerate(old_ids)}
        found: dict[str, Page | None] = {}
        skipped: set[str] = set()
        for place, planned in enumerate(new_plan.pages):
            id, path = new_ids[place], planned.file_path
            before = self.pages.get(id)
            then = old_plan.pages[old_place[id]] if id in old_place else None
            if before is None and then is not None and path not in self.changed:
                skipped.add(id)  # skipped before and still skipped now
                continue
            title = planned.title
            if then is None or _title_may_differ(planned, then, self.changed):
                title = self._title(self.new, planned)
                old_title = self._title(self.old, then) if then is not None else None
            else:
                old_title = title = then.title
            page = self._page(planned, place, title, new_ids, file_ids)
            if before is not None:
                old = (
                    self._page(then, old_place[id], old_title or "", old_ids, old_file_ids)
                    if then is not None
                    else None
                )
                page = self._apply_changes(before, old, page)
            if path and not planned.missing and (before is None or path in self.changed or not before.body):
                page = self._with_text(page, path, before)
            elif planned.missing and before is not None and before.body:
                page = replace(page, body=None)
            elif planned.to_file in self.changed and is_markdown(planned.to_file or ""):
                page = replace(page, body=None, **head_fields(unread_head(self.new.read(planned.to_file))))
            elif page.kind == "link" and page.body:
                page = replace(page, body=None)
            found[id] = page
        self._order(new_ids, found, skipped)
        kept = set(new_ids)
        gone = {id: None for id in old_ids if id in self.pages and id not in kept}
        differing = {id: page for id, page in found.items() if page != self.pages.get(id)}
        return {**differing, **gone}

    def _page(
        self,
        planned: PlannedPage,
        place: int,
        title: str,
        page_ids: Sequence[str],
        file_ids: Mapping[str, str],
    ) -> Page:
        return page_of(
            PageText(planned=planned, place=place, title=title, link_title=planned.link_title),
            page_ids,
            file_ids,
        )

    @staticmethod
    def _apply_changes(before: Page, old: Page | None, new: Page) -> Page:
        """Return the current page (``before``) after applying the changes that the commits made from ``old`` to
        ``new``."""
        is_link_to_own_file = new.kind == "link" and before.file_path is not None
        if old is None or is_link_to_own_file:
            fields = {name: getattr(new, name) for name in _STRUCTURE}
            return replace(before, parent=new.parent, file_path=new.file_path, **fields)
        fields = {name: getattr(new, name) for name in _STRUCTURE if getattr(new, name) != getattr(old, name)}
        if new.parent != old.parent:
            fields["parent"] = new.parent
        if new.file_path != before.file_path:
            fields["file_path"] = new.file_path
        return replace(before, **fields)

    def _with_text(self, page: Page, path: str, before: Page | None) -> Page:
        moved_only = before is not None and before.body and path not in self.changed
        if moved_only:
            return page
        read = self.new_text(path)
        if isinstance(read, Problem):
            return replace(page, body=None)
        if before is not None and before.body == read[1]:
            return page
        return self.reader.with_text(page, *read)

    def _order(self, new_ids: list[str], found: dict[str, Page | None], skipped: set[str]) -> None:
        """Set the ranks of the pages in ``found`` according to the order of the new tree. Ranks stay unchanged if
        possible."""
        siblings: dict[str | None, list[str]] = {}
        for id in new_ids:
            page = found.get(id)
            if page is not None and id not in skipped:
                siblings.setdefault(page.parent, []).append(id)
        for parent, order in siblings.items():
            there = [id for id in order if id in self.pages and self.pages[id].parent == parent]
            before = sorted(there, key=lambda id: (self.pages[id].rank, id))
            stay = longest_in_order(there, before)
            kept: dict[str, str] = {}
            for id in there:
                rank = self.pages[id].rank
                if id in stay and rank > max(kept.values(), default=""):
                    kept[id] = rank
            for id, rank in zip(order, ranks_of(order, kept), strict=True):
                page = found[id]
                assert page is not None
                found[id] = replace(page, rank=rank)

    # --- items ----------------------------------------------------------------------------------------

    def _compare_items(self) -> tuple[dict[str, Item | None], dict[str, str], dict[str, str]]:
        found: dict[str, Item | None] = {}
        old_plan, new_plan = self.old.plan, self.new.plan
        old_kinds, new_kinds = _kinds(old_plan, self.old), _kinds(new_plan, self.new)
        moved = {new: old for new, old in self._moves().items() if old_kinds.get(old) == new_kinds.get(new)}
        taken: set[str] = set()
        for path, kind in new_kinds.items():
            before = self.by_path.get((kind, path))
            if before is None and path in moved:
                before = self.by_path.get((kind, moved[path]))
            if before is not None:
                taken.add(before.id)
            if path not in self.changed and (before is not None or old_kinds.get(path) == kind):
                continue
            item = self._item(path, kind, before)
            if item is not None and item != before:
                found[item.id] = item
        for path, kind in old_kinds.items():
            gone = self.by_path.get((kind, path))
            if gone is not None and gone.id not in taken and new_kinds.get(path) != kind:
                found[gone.id] = None
        found |= self._variables(old_plan, new_plan)
        everything = {**self.items, **found}
        file_ids = {
            item.path: id
            for id, item in everything.items()
            if item is not None and item.kind == "file" and item.path
        }
        old_file_ids = {item.path: id for id, item in self.items.items() if item.kind == "file" and item.path}
        return found, file_ids, old_file_ids

    def _item(self, path: str, kind: str, before: Item | None) -> Item | None:
        name = path.rpartition("/")[2]
        item = before or Item(id=self._id((kind, path)), kind=kind, name=name, path=path)  # type: ignore[arg-type]
        if before is not None and before.path != path:
            item = replace(
                item,
                path=path,
                name=name if before.name == (before.path or "").rpartition("/")[2] else before.name,
            )
        if kind == "file":
            return replace(item, **self.reader.file(path, self.new.entries[path]))
        is_source = kind == "source"
        read = self.reader.text(path, self.new.entries[path], MAX_FILE) if is_source else self.new_text(path)
        if isinstance(read, Problem):
            self.reader.problems.append(read)
            return None
        if is_source:
            return replace(item, content=read[1])
        self.reader.check_text(self.new.plan, path, read[0])
        return _include(item, *read)

    def _variables(self, old: ImportPlan, new: ImportPlan) -> dict[str, Item | None]:
        by_name = {item.name: item for item in self.items.values() if item.kind == "variable"}
        found: dict[str, Item | None] = {}
        for name in dict.fromkeys([*old.variables, *new.variables]):
            if old.variables.get(name) == new.variables.get(name):
                continue
            before = by_name.get(name)
            if name not in new.variables:
                if before is not None:
                    found[before.id] = None
                continue
            content = msgspec.json.encode(new.variables[name]).decode()
            item = before or Item(id=self._id(("variable", name)), kind="variable", name=name)
            found[item.id] = replace(item, content=content)
        return found


def _title_may_differ(now: PlannedPage, then: PlannedPage, changed: Mapping[str, PathChange]) -> bool:
    if now.titled and then.titled:
        return now.title != then.title
    return (
        now.titled != then.titled
        or now.title != then.title
        or now.file_path != then.file_path
        or (now.file_path or "") in changed
    )


def _kinds(plan: ImportPlan, side: _Side) -> dict[str, str]:
    """Return the kind of each file that isn't a page, by path."""
    root = plan.config.root
    found = {path: "reusable-content" for path in plan.includes}
    found |= {path: "file" for path in plan.files}
    for path in (CONFIG_PATH, plan.summary_path, root + VARIABLES_PATH, root + TAGS_PATH):
        # A file that isn't text is read as far as possible and kept as a file.
        if path in side.entries and path not in found:
            found[path] = "source"
    return found
