"""Learn from people's edits in a translated space. Edited text becomes the preferred translation of the source
text."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.item_versions import list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.pages import Page
from octavo.kit.context import Context

from . import store
from .segments import segments
from .store import TranslationPartRow, TranslationRow


def learn_edits(context: Context, row: TranslationRow, known: Mapping[str, TranslationPartRow]) -> None:
    """Store people's edits to the translations that the last run wrote. If the source text has changed since that
    run, an edit to its translation isn't stored for the new text."""
    with context.db.read() as tx:
        state = main_state(tx, row.space_id)
        pages = {page.id: page for page in list_pages(tx, state)}
        bodies = {page.id: page.body for page in pages.values()}
        bodies |= {item.id: item.content for item in list_items(tx, state, "reusable-content")}
    for part in known.values():
        page, now = pages.get(part.part_id), bodies.get(part.part_id)
        learned = changed_fields(part, page) if page is not None else {}
        if now and part.body and part.source_body and now != part.body:
            with context.db.read() as tx:
                texts = [list_texts(get_body(tx, digest)) for digest in (part.source_body, part.body, now)]
            learned |= changed_by_people(*texts)
        outdated = part.written.outdated
        learned = {
            text: translated for text, translated in learned.items() if outdated.get(text) != translated
        }
        if learned:
            with context.db.write() as tx:
                store.store_memory(tx, row, learned, "person", {})


def list_texts(source: str) -> list[str]:
    """Return the text segments in a page file, as ``segments`` does."""
    return [segment.text for segment in segments(read(split_page(source)[2]))]


def changed_by_people(source: list[str], written: list[str], now: list[str]) -> dict[str, str]:
    """Return people's replacements for the translations in ``written``, by source text."""
    if len(source) != len(written):
        return {}
    learned: dict[str, str] = {}
    for tag, begin, end, start, stop in SequenceMatcher(None, written, now, autojunk=False).get_opcodes():
        if tag == "replace" and end - begin == stop - start:
            learned.update(zip(source[begin:end], now[start:stop], strict=True))
    return learned


def changed_fields(part: TranslationPartRow, page: Page) -> dict[str, str]:
    """Return people's replacements for translated fields, by field of the source page."""
    written = part.written.page
    if written is None:
        return {}
    return {
        line: now
        for name, line in part.written.source.items()
        if (now := getattr(page, name)) and now != getattr(written, name)
    }
