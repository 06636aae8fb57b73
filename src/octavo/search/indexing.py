"""Keeping the index true: every revision of main indexes the pages it changed, in its own transaction.

Texts are cut into sections before the transaction begins and wait in a spool on disk, so that neither the write
lock nor the memory grows with what is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

import msgspec
from msgspec import Struct

from ..content import Changes, State, list_pages, main_state, read_source
from ..core.document import Document, close_conditions, sections
from ..core.pages import Page
from ..kit.db import Transaction
from . import store
from .store import SectionText

_IN_MEMORY = 4 * 1024 * 1024
INDEXED = ("document", "group")
_MAX_BODY = 50_000
"""Characters of one section that are indexed; a longer one is a table of data, not text."""


class Entry(Struct, array_like=True):
    page_id: str
    titles: str
    sections: list[SectionText]


class Prepared:
    """What a revision changes in the index, waiting for its transaction. ``computes``: it has to do with computed
    pages."""

    def __init__(self) -> None:
        self.gone: list[str] = []
        self.computes = False
        self._spool = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed with the object

    def add(self, entry: Entry) -> None:
        raw = msgspec.msgpack.encode(entry)
        self._spool.write(len(raw).to_bytes(4, "big") + raw)

    def entries(self) -> Iterator[Entry]:
        self._spool.seek(0)
        while head := self._spool.read(4):
            yield msgspec.msgpack.decode(self._spool.read(int.from_bytes(head, "big")), type=Entry)


def prepare(
    tx: Transaction, state: State, changes: Changes, hosts: tuple[str, ...], *, anew: bool = False
) -> Prepared:
    """Reads and cuts the texts of the pages that change. All of it follows from them, ``anew`` or not."""
    prepared = Prepared()
    for page_id, page in changes.pages.items():
        prepared.gone.append(page_id)
        prepared.computes = prepared.computes or (page is not None and page.kind == "computed")
        if page is not None and page.kind in INDEXED:
            prepared.add(Entry(page_id, titles(page), cut(page, read_source(tx, page.body))))
    return prepared


def titles(page: Page) -> str:
    """What navigation calls it and, where that differs, what it calls itself; a line each."""
    return "\n".join(dict.fromkeys(title for title in (page.link_title, page.title) if title))


def cut(page: Page, document: Document) -> list[SectionText]:
    """A page's text by sections, with its description in front."""
    found = [
        SectionText(part.id, part.title, part.text[:_MAX_BODY], part.conditions)
        for part in sections(close_conditions(document))
    ]
    about = page.description or ""
    lead = next((n for n, part in enumerate(found) if part.anchor is None and not part.conditions), None)
    if lead is None:
        return [SectionText(None, "", about), *found]
    found[lead] = SectionText(None, "", f"{about}\n{found[lead].body}".strip())
    return found


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Compares the number of indexed pages with that of main, and of sections and words with what pages have."""
    wanted = sum(page.kind in INDEXED for page in list_pages(tx, main_state(tx, space_id)))
    wanted += len(store.list_computed(tx, space_id))
    there = store.measure(tx, space_id)
    if there.pages != wanted or there.pages_with_sections != wanted:
        indexed = min(there.pages, there.pages_with_sections)
        return f"search: {indexed} pages are indexed, {wanted} are there"
    if there.sections != there.found:
        return f"search: {there.found} sections are indexed, {there.sections} are there"
    if there.wrong_words:
        return f"search: {there.wrong_words} words are counted wrongly"
    return None
