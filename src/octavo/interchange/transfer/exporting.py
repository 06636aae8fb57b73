"""Export a state of a space as files. Unedited files are byte-for-byte identical to the imported files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.item_versions import ITEM_KINDS, Item, list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import State
from octavo.core.free_names import free_name
from octavo.core.import_plan import ImportPlan, leading_title, plan_import
from octavo.core.pages import Page
from octavo.core.paths import folders_of, made_path, numbered_path
from octavo.core.problems import Problem
from octavo.core.space_config import CONFIG_PATH, VARIABLES_PATH, Config, read_config, read_variables
from octavo.core.summary import (
    Summary,
    SummaryEntry,
    entry_path,
    is_markdown,
    read_summary,
    update_summary,
    walk_entries,
    write_summary,
)
from octavo.core.yaml_text import write_yaml
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileStore


class Exported(msgspec.Struct, frozen=True):
    """Exported file: its relative path, which uses ``/``, and its bytes in chunks."""

    path: str
    pieces: Iterator[bytes]


class ExportLayout(msgspec.Struct, frozen=True):
    """Layout of an export: the paths of pages and items, by ID, and the text of configuration files, by path."""

    paths: dict[str, str]
    texts: dict[str, str]


def lay_out(
    pages: list[Page],
    items: Iterable[Item],
    read: Callable[[str], str],
    *,
    summary: bool = False,
    partial: bool = False,
) -> ExportLayout:
    """Lay out the files of a state. ``pages``: the pages, with siblings in order. ``read``: a function that returns
    the source with a given hash. ``summary``: whether to write a SUMMARY.md if there is none. ``partial``: whether
    some pages aren't exported, in which case the configuration must not mention them."""
    kinds: dict[str, list[Item]] = {}
    for item in items:
        kinds.setdefault(item.kind, []).append(item)
    sources = {item.path or item.name: item for item in kinds.get("source", [])}
    config = next((item for path, item in sources.items() if path == CONFIG_PATH), None)
    root, summary_name = "", "SUMMARY.md"
    if config is not None and config.content:
        found = read_config(read(config.content))
        root, summary_name = found.root, found.summary
    includes, assets = kinds.get("reusable-content", []), kinds.get("file", [])
    of_items = {item.id: item.path or f"{root}.gitbook/includes/{item.name}.md" for item in includes}
    of_items |= {item.id: item.path or f"{root}.gitbook/assets/{item.name}" for item in assets}
    paths = _page_paths(pages, root, {*of_items.values(), *sources}) | of_items
    paths = _beside_folders(paths)
    written = {paths[page.id] for page in pages if page.body and page.id in paths}
    written |= {paths[item.id] for item in assets if item.content}
    tree = _Tree(pages, paths, {item.id: paths[item.id] for item in assets}, root)
    variables = {item.name: msgspec.json.decode(item.content or "null") for item in kinds.get("variable", [])}
    texts = {path: read(item.content) for path, item in sources.items() if item.content}
    if partial and CONFIG_PATH in texts:
        texts[CONFIG_PATH] = _name_only_written(texts[CONFIG_PATH], written)
    return ExportLayout(
        paths, _configuration(texts, read, tree, written, summary_name, variables, summary, partial)
    )


def _name_only_written(text: str, written: set[str]) -> str:
    """Return a new ``.gitbook.yaml`` that mentions only files that are written."""
    config, new = read_config(text), Config()

    def is_written(target: str) -> bool:
        inside = entry_path(target.partition("#")[0].lstrip("/"))
        path = f"{config.root}{inside}".strip("/")
        return inside is not None and not written.isdisjoint((path, f"{path}.md", f"{path}/README.md"))

    redirects = {
        source: target
        for source, target in config.redirects.items()
        if target.lower().startswith(("http://", "https://")) or is_written(target)
    }
    readme = config.readme if is_written(config.readme) else new.readme
    structure = {
        name: value
        for name, value, default in (
            ("readme", readme, new.readme),
            ("summary", config.summary, new.summary),
        )
        if value != default
    }
    values = {"root": f"./{config.root}", "structure": structure, "redirects": redirects}
    return write_yaml({name: value for name, value in values.items() if value})


def export_files(tx: Transaction, files: FileStore, state: State) -> Iterator[Exported]:
    """Yield each file of the state, one at a time. The transaction must stay open until the last file has
    been read."""
    pages = list_pages(tx, state)
    items = {kind: list_items(tx, state, kind) for kind in ITEM_KINDS}
    layout = lay_out(
        pages,
        [item for kind in ITEM_KINDS for item in items[kind]],
        lambda body: get_body(tx, body),
        partial=bool(state.hidden),
    )
    for page in pages:
        if page.body and page.id in layout.paths:
            yield Exported(layout.paths[page.id], iter((get_body(tx, page.body).encode(),)))
    for item in items["reusable-content"]:
        if item.content:
            yield Exported(layout.paths[item.id], iter((get_body(tx, item.content).encode(),)))
    for item in items["file"]:
        if item.content:
            yield Exported(layout.paths[item.id], files.open(item.content))
    for path, text in layout.texts.items():
        yield Exported(path, iter((text.encode(),)))


def _page_paths(pages: list[Page], root: str, owned: set[str]) -> dict[str, str]:
    """Return the path of each page's file. This is the original path, the specified path, or by default a path
    derived from the slugs. A page that has neither text nor its own path doesn't get a file. No page overwrites a
    file in ``owned``."""
    by_id = {page.id: page for page in pages}
    with_children = {page.parent for page in pages}
    taken = owned | {page.file_path for page in pages if page.file_path}
    found: dict[str, str] = {}
    for page in pages:
        if page.file_path and page.file_path in owned and page.body:
            found[page.id] = free_name(
                page.file_path, taken.__contains__, partial(numbered_path, page.file_path)
            )
            taken.add(found[page.id])
        elif page.file_path:
            found[page.id] = page.file_path
        elif page.kind == "document" and page.body:
            slugs, above = [page.slug], page.parent
            while above is not None:
                slugs.append(by_id[above].slug)
                above = by_id[above].parent
            folder, name = slugs[:0:-1], f"{page.slug}.md"
            if page.id in with_children:
                folder, name = slugs[::-1], "README.md"
            path = made_path(
                "".join([root, *(f"{slug}/" for slug in folder)]), name, taken.__contains__, root
            )
            taken.add(path)
            found[page.id] = path
    return found


def _beside_folders(paths: dict[str, str]) -> dict[str, str]:
    """Return the paths, with a number added to each file name that is also the name of a folder, because
    file systems don't allow a file and a folder with the same name."""
    folders = {folder for path in paths.values() for folder in folders_of(path)}
    taken = folders | set(paths.values())
    found: dict[str, str] = {}
    for id, path in paths.items():
        found[id] = path
        if path in folders:
            found[id] = free_name(path, taken.__contains__, partial(numbered_path, path))
            taken.add(found[id])
    return found


def _configuration(
    texts: dict[str, str],
    read: Callable[[str], str],
    tree: _Tree,
    written: set[str],
    summary_name: str,
    variables: Mapping[str, object],
    summary: bool,
    partial: bool,
) -> dict[str, str]:
    """Return SUMMARY.md, vars.yaml, and other configuration files. Files that still match the space are left
    unchanged, but in a ``partial`` export, SUMMARY.md contains only its title and page entries."""
    root = tree.root
    summary_path = next(
        (path for path in texts if path.casefold() == (root + summary_name).casefold()), root + summary_name
    )
    original = texts.get(summary_path)
    if original is not None:
        files = _Names({path: text for path, text in texts.items() if path == CONFIG_PATH}, written)
        kept = set(tree.files.values())

        def plan(text: str) -> ImportPlan:
            return plan_import(
                files.with_text(summary_path, text),
                lambda path: Problem(path, 0, "not_listed", "kept as a file") if path in kept else None,
            )

        before = plan(original)
        entries = tree.entries(before, lambda page: read(page.body) if page.body else "")
        if partial:
            texts[summary_path] = write_summary(Summary(title=read_summary(original).title, entries=entries))
        else:
            texts[summary_path] = update_summary(
                original, entries, lambda text: _pages_of_entries(plan(text))
            )
    elif summary or not all(map(tree.is_defined_by_file, tree.pages)):
        # The tree had no SUMMARY.md, and the files alone no longer determine it.
        texts[summary_path] = write_summary(Summary(entries=tree.entries(None, lambda page: "")))
    path = root + VARIABLES_PATH
    if (read_variables(texts[path])[0] if path in texts else {}) != variables:
        texts[path] = write_yaml(variables)
    return texts


class _Names(msgspec.Struct, frozen=True):
    """Exported files in the format of a source, for planning an import: their names, and the text on which the plan
    depends."""

    texts: dict[str, str]
    names: set[str]

    def with_text(self, path: str, text: str) -> _Names:
        return _Names({**self.texts, path: text}, self.names)

    def paths(self) -> set[str]:
        return self.names | self.texts.keys()

    def read(self, path: str) -> bytes:
        return self.texts.get(path, "").encode()


class _Tree(msgspec.Struct, frozen=True):
    """Pages of a state, the path of each page's file, and the paths of other files by ID."""

    pages: list[Page]
    paths: dict[str, str]
    files: dict[str, str]
    root: str

    def is_defined_by_file(self, page: Page) -> bool:
        """Return whether a file alone defines the page: either the page's own file, or a Markdown file that can't
        become a page."""
        led_to = self.files.get((page.target or {}).get("file", ""))
        return page.file_path is not None or (led_to is not None and is_markdown(led_to))

    def entries(self, before: ImportPlan | None, text_of: Callable[[Page], str]) -> list[SummaryEntry]:
        """Return the entries of SUMMARY.md. ``before``: the plan for the previous text. Entries without their own
        title don't get a title."""
        untitled = {
            planned.file_path: planned.title
            for planned in (before.pages if before else ())
            if planned.kind == "document" and planned.file_path and not planned.titled
        }
        pins = _pins(before) if before else {}
        children: dict[str | None, list[Page]] = {}
        for page in self.pages:
            children.setdefault(page.parent, []).append(page)
        by_id = {page.id: page for page in self.pages}

        def entry_of(page: Page, below: list[SummaryEntry]) -> SummaryEntry:
            kind, href, anchor = self.target(page, by_id)
            title = "" if kind == "computed" else page.title
            if (name := untitled.get(page.file_path or "")) and title == (
                leading_title(text_of(page)) or name
            ):
                title = ""
            return SummaryEntry(
                kind=kind,
                title=title,
                link_title=page.link_title if kind in ("page", "link") else None,
                href=href,
                anchor=anchor,
                slug=pins.get(page.slug) if kind == "group" else None,
                computed=page.computed,
                children=below,
            )

        return _nested(children, None, entry_of)

    def target(self, page: Page, by_id: dict[str, Page]) -> tuple[Any, str | None, str | None]:
        """Return the kind of a page's entry in SUMMARY.md, the entry's target, and the anchor on the target."""
        if page.kind in ("group", "computed"):
            return page.kind, None, None
        if page.kind == "document":
            return "page", self.below(self.paths.get(page.id)), None
        target = page.target or {}
        path = self.paths.get(target.get("page", "")) or self.files.get(target.get("file", ""))
        if path is not None:
            return "link", self.below(path), target.get("anchor")
        return ("link", target["url"], None) if target.get("url") else ("page", None, None)

    def below(self, path: str | None) -> str | None:
        return posixpath.relpath(path, self.root) if path and self.root else path


def _nested(
    children: dict[str | None, list[Page]],
    parent: str | None,
    entry_of: Callable[[Page, list[SummaryEntry]], SummaryEntry],
) -> list[SummaryEntry]:
    return [entry_of(page, _nested(children, page.id, entry_of)) for page in children.get(parent, [])]


def _pins(plan: ImportPlan) -> dict[str, str | None]:
    """Return the specified slugs of pinned groups, by the slug in the plan."""
    written = {entry.line: entry.slug for entry in walk_entries(plan.summary.entries)}
    return {page.slug: written[page.line] for page in plan.pages if page.kind == "group"}


def _pages_of_entries(plan: ImportPlan) -> list[SummaryEntry]:
    """Return the pages that the entries of SUMMARY.md become."""
    root = plan.config.root
    pins = _pins(plan)
    made: list[SummaryEntry] = []
    found: list[SummaryEntry] = []
    for page in plan.pages:
        path = page.file_path or page.to_file
        if page.to_page is not None:
            path = plan.pages[page.to_page].file_path
        link = page.kind == "link"
        entry = SummaryEntry(
            kind="page" if page.kind == "document" else page.kind,
            title=page.title if page.titled and page.kind != "computed" else "",
            link_title=page.link_title,
            href=page.url or (path.removeprefix(root) if path else None),
            anchor=page.anchor if link else None,
            slug=pins.get(page.slug) if page.kind == "group" else None,
            computed=page.computed,
            line=page.line,
        )
        made.append(entry)
        (found if page.parent is None else made[page.parent].children).append(entry)
    return found
