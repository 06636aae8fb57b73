"""Export: a state of a space as files, untouched ones byte for byte as they came in."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

import msgspec

from ..content import Item, State, get_body, list_items, list_pages, list_variables
from ..core.document import with_head
from ..core.pages import Page
from ..core.space_config import VARIABLES_PATH, read_config, read_variables
from ..core.summary import Summary, SummaryEntry, read_summary, update_summary, walk_entries, write_summary
from ..core.yaml_text import write_yaml
from ..kit.db import Transaction
from ..kit.files import FileStore


class Exported(msgspec.Struct, frozen=True):
    """One file: its path, relative and with ``/``, and its bytes piece by piece."""

    path: str
    pieces: Iterator[bytes]


def export_files(tx: Transaction, files: FileStore, state: State) -> Iterator[Exported]:
    """Every file of the state, one at a time; valid while the transaction is open."""
    pages = list_pages(tx, state)
    sources = {item.path or item.name: item for item in list_items(tx, state, "source")}
    config = next((item for path, item in sources.items() if path == ".gitbook.yaml"), None)
    root, summary_name = "", "SUMMARY.md"
    if config is not None and config.content:
        read = read_config(get_body(tx, config.content))
        root, summary_name = read.root, read.summary
    paths = _page_paths(pages, root)
    for page in pages:
        if page.id in paths:
            text = get_body(tx, page.body) if page.body else with_head("", {"title": page.title})
            yield Exported(paths[page.id], iter((text.encode(),)))
    for item in list_items(tx, state, "reusable-content"):
        if item.content:
            path = item.path or f"{root}.gitbook/includes/{item.name}.md"
            yield Exported(path, iter((get_body(tx, item.content).encode(),)))
    for item in list_items(tx, state, "file"):
        if item.content:
            yield Exported(item.path or f"{root}.gitbook/assets/{item.name}", files.open(item.content))
    yield from _configuration(tx, state, sources, pages, paths, root, summary_name)


def _page_paths(pages: list[Page], root: str) -> dict[str, str]:
    """Where each page's file goes: where it came from, else along its slugs; pages without a text have none."""
    by_id = {page.id: page for page in pages}
    with_children = {page.parent for page in pages}
    taken = {page.file_path for page in pages if page.file_path}
    found: dict[str, str] = {}
    for page in pages:
        if page.file_path:
            found[page.id] = page.file_path
        elif page.kind == "document" and page.body:
            slugs, above = [page.slug], page.parent
            while above is not None:
                slugs.append(by_id[above].slug)
                above = by_id[above].parent
            stem = root + "/".join(reversed(slugs))
            path = f"{stem}/README.md" if page.id in with_children else f"{stem}.md"
            while path in taken:
                path = f"{path.removesuffix('.md')}-1.md"
            taken.add(path)
            found[page.id] = path
    return found


def _configuration(
    tx: Transaction,
    state: State,
    sources: dict[str, Item],
    pages: list[Page],
    paths: dict[str, str],
    root: str,
    summary_name: str,
) -> Iterator[Exported]:
    """SUMMARY.md, vars.yaml and the rest; each as it was written as long as it still says what is so."""
    texts = {path: get_body(tx, item.content) for path, item in sources.items() if item.content}
    summary_path = next(
        (path for path in texts if path.casefold() == (root + summary_name).casefold()), root + summary_name
    )
    original = texts.pop(summary_path, None)
    entries = _entries(pages, paths, posixpath.dirname(summary_path), original)
    if original is not None:
        title = read_summary(original).title
        texts[summary_path] = update_summary(original, Summary(title=title, entries=entries))
    elif any(page.file_path is None for page in pages):
        # A tree that no SUMMARY.md told and that its files alone do not tell any more.
        texts[summary_path] = write_summary(Summary(entries=entries))
    variables = list_variables(tx, state)
    path = root + VARIABLES_PATH
    if variables and (path not in texts or read_variables(texts[path])[0] != variables):
        texts[path] = write_yaml(variables)
    for path, text in texts.items():
        yield Exported(path, iter((text.encode(),)))


def _entries(
    pages: list[Page], paths: dict[str, str], folder: str, original: str | None
) -> list[SummaryEntry]:
    """The tree as SUMMARY.md says it. A title that was written shorter there than in the page stays so."""
    written: dict[str | None, SummaryEntry] = {}
    if original is not None:
        for entry in walk_entries(read_summary(original).entries):
            written.setdefault(entry.href, entry)
    children: dict[str | None, list[Page]] = {}
    for page in pages:
        children.setdefault(page.parent, []).append(page)
    by_id = {page.id: page for page in pages}

    def entry_of(page: Page) -> SummaryEntry:
        href, anchor, kind = _place(page, by_id, paths, folder)
        title, link_title = page.title, page.link_title
        before = written.get(href)
        if (
            before is not None
            and href is not None
            and before.link_title is None
            and before.title in (title, link_title)
        ):
            title, link_title = before.title, None
        return SummaryEntry(
            kind=kind,
            title=title,
            link_title=link_title,
            href=href,
            anchor=anchor,
            slug=_pin(page, original),
            computed=page.computed,
            children=[entry_of(child) for child in children.get(page.id, [])],
        )

    return [entry_of(page) for page in children.get(None, [])]


def _pin(page: Page, original: str | None) -> str | None:
    """A group's slug as it was pinned."""
    if page.kind != "group" or original is None:
        return None
    return page.slug if f'id="{page.slug}"' in original else None


def _place(
    page: Page, by_id: dict[str, Page], paths: dict[str, str], folder: str
) -> tuple[str | None, str | None, Any]:
    if page.kind == "group":
        return None, None, "group"
    if page.kind == "computed":
        return None, None, "computed"
    if page.kind == "link":
        target = page.target or {}
        if target.get("kind") in ("page", "anchor") and target.get("page") in by_id:
            return _relative(paths.get(target["page"], ""), folder), target.get("anchor"), "link"
        return target.get("url", ""), None, "link"
    return (_relative(paths[page.id], folder) if page.id in paths else None), None, "page"


def _relative(path: str, folder: str) -> str:
    return posixpath.relpath(path, folder) if folder else path
