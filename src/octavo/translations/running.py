"""The job of a translation's run: what changed at the source is translated, and becomes one revision.

A run looks at every page of the source and works on those that differ from what the last run saw. What people wrote
into the space that follows is learned first: it goes into the memory as a person's word, which no machine changes. A
process killed at any point has remembered what it translated; the next attempt finds it there.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from difflib import SequenceMatcher

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ..access import Can, act_for, space_access
from ..changes import Edited, edit_live
from ..content import Changes, Item, State, body_hash, get_body, list_items, list_pages, main_state
from ..core.document import Document, read, split_page, with_head, word_count, write
from ..core.pages import Page
from ..core.problems import Problem
from ..errors import OctavoError
from ..kit import deadlines
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.deadlines import OutOfTime
from ..kit.jobs import LeaseLost, finish, job
from ..models import find_model
from . import store
from .managing import JOB
from .segments import edited, segments
from .store import PartRow, TranslationRow
from .translating import Translator, Wanted

SECONDS = 4 * 3600.0
_TELL_EVERY = 0.5
_SHOWN = 120


class Cancelled(Exception):
    """The run was cancelled, or another one began: whatever it did is to be dropped."""


class _Source(Struct, frozen=True):
    """What is to be translated of the source: pages, and items (reusable contents are translated, others copied)."""

    pages: dict[str, Page]
    items: dict[str, Item]


class _Made(Struct):
    """What a run made so far. ``bodies``: texts to be stored. ``missing``: by part."""

    pages: dict[str, Page] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    bodies: list[str] = field(default_factory=list)
    parts: list[PartRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    words: int = 0


@job(JOB, attempts=4, seconds=SECONDS)
def run_translation(context: Context, translation: str, run: str) -> None:
    """Brings a translation up to its source. What is wrong with the source, the space or the rights ends the run."""
    with context.db.write() as tx:
        begun = store.begin_run(tx, translation, run)
    if begun is None:
        return
    try:
        _run(context, begun, run)
    except Cancelled:
        return
    except LeaseLost:
        raise
    except (OctavoError, OutOfTime) as error:
        with context.db.write() as tx:
            store.end_run(tx, translation, run, notice=f"The last run failed: {error}")
            finish(tx)


def _run(context: Context, row: TranslationRow, run: str) -> None:
    begun = time.monotonic()
    actor = act_for(row.run_by, row.organization_id)
    with context.db.read() as tx:
        space_access(tx, actor, Can.VIEW, row.source_id)
        space = space_access(tx, actor, Can.EDIT, row.space_id)
        source = _read_source(tx, row.source_id)
        known = store.list_parts(tx, row.id)
        glossary = store.read_glossary(tx, row.organization_id, row.source_language, row.language)
        model = find_model(context, tx, row.organization_id, row.run_by)
    _learn(context, row, known)
    made = _translate(context, row, run, source, known, Translator(context, row, glossary, model))
    untranslated = _count_missing(source, known, made)
    gone = [part_id for part_id in known if part_id not in source.pages and part_id not in source.items]

    def end(tx: Transaction, state: State) -> None:
        ended = store.end_run(
            tx,
            row.id,
            run,
            revision=state.revision_id,
            pages=len(made.pages),
            words=made.words,
            duration=round((time.monotonic() - begun) * 1000),
            untranslated=untranslated,
            notice=_notice(untranslated, model is not None),
            problems=made.problems,
        )
        if not ended:
            raise Cancelled
        # Rights count in the moment of the revision: translating took a while.
        space_access(tx, actor, Can.VIEW, row.source_id)
        space_access(tx, actor, Can.EDIT, row.space_id)
        store.put_parts(tx, row.id, made.parts, gone)
        finish(tx)

    def make(tx: Transaction, state: State, _: State | None) -> Edited:
        return Edited(_difference(tx, state, source, known, made, gone), made.bodies, [], [], [])

    result = edit_live(context, space, make, end)
    if not result.edited.changes:
        with context.db.write() as tx:
            end(tx, result.state)


def _notice(untranslated: int, has_model: bool) -> str | None:
    if not untranslated:
        return None
    texts = "1 text is" if untranslated == 1 else f"{untranslated} texts are"
    why = "" if has_model else " No language model is set: only the memory and the glossary were used."
    return f"{texts} in the source language.{why}"


def _read_source(tx: Transaction, space_id: str) -> _Source:
    state = main_state(tx, space_id)
    pages = {page.id: page for page in list_pages(tx, state)}
    kinds = ("file", "reusable-content", "variable")
    items = {item.id: item for kind in kinds for item in list_items(tx, state, kind)}  # type: ignore[arg-type]
    return _Source(pages, items)


def _seen(part: Page | Item) -> str:
    """A hash of all that the source says of a page or item, but for when."""
    plain = (
        replace(part, created_at=0, updated_at=0) if isinstance(part, Page) else replace(part, created_at=0)
    )
    return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()


def _count_missing(source: _Source, known: Mapping[str, PartRow], made: _Made) -> int:
    parts = {**known, **{part.part_id: part for part in made.parts}}
    return sum(
        part.missing for part_id, part in parts.items() if part_id in source.pages or part_id in source.items
    )


# --- translating --------------------------------------------------------------------------------------


def _translate(
    context: Context,
    row: TranslationRow,
    run: str,
    source: _Source,
    known: Mapping[str, PartRow],
    translator: Translator,
) -> _Made:
    """Works on what the last run did not see as it is, or could not translate wholly."""
    made = _Made()
    parts: list[Page | Item] = [*source.pages.values(), *source.items.values()]
    waiting = [
        part
        for part in parts
        if (before := known.get(part.id)) is None or before.seen != _seen(part) or before.missing
    ]
    told = 0.0
    for number, part in enumerate(waiting):
        deadlines.check()
        if time.monotonic() - told > _TELL_EVERY:
            told = time.monotonic()
            with context.db.write() as tx:
                if not store.set_progress(tx, row.id, run, number, len(waiting)):
                    raise Cancelled
        _translate_part(context, part, translator, made)
    with context.db.write() as tx:
        if not store.set_progress(tx, row.id, run, len(waiting), len(waiting)):
            raise Cancelled
    return made


def _translate_part(context: Context, part: Page | Item, translator: Translator, made: _Made) -> None:
    if isinstance(part, Item):
        body = part.content if part.kind == "reusable-content" else None
    else:
        body = part.body
    text = None
    if body:
        with context.db.read() as tx:
            text = get_body(tx, body)
    digest = None
    lines = _lines_of(part)
    document = _body_of(part, text)
    found, reasons = translator.translate(
        [*_wanted(document), *(Wanted(line, _is_line) for line in lines.values())]
    )
    if text is not None:
        translated = _written(text, part, found, lines)
        digest = body_hash(translated)
        if translated != text:
            made.bodies.append(translated)
        made.words += word_count(document)
    missing = len(reasons)
    name = part.file_path or part.slug if isinstance(part, Page) else part.path or part.name
    if translator.model is not None:
        made.problems += [
            Problem(name, 0, "not_translated", f"“{source[:_SHOWN]}”: {why}")
            for source, why in reasons.items()
        ]
    if isinstance(part, Page):
        fields = {key: found.get(line, line) for key, line in lines.items()}
        made.pages[part.id] = replace(part, body=digest, **fields)
    else:
        made.items[part.id] = replace(part, content=digest) if digest is not None else part
    made.parts.append(PartRow(part.id, _seen(part), body, digest, missing))


def _lines_of(part: Page | Item) -> dict[str, str]:
    """The texts of a page that are outside of its body, by the name of their field."""
    if not isinstance(part, Page):
        return {}
    return {name: line for name in ("title", "link_title", "description") if (line := getattr(part, name))}


def _is_line(translated: str) -> bool:
    return (
        bool(translated.strip())
        and len(translated) <= 500
        and "\n" not in translated
        and "<" not in translated
    )


def _body_of(part: Page | Item, text: str | None) -> Document:
    if text is None:
        return Document([], [""])
    return read(split_page(text)[2] if isinstance(part, Page) else text)


def _wanted(document: Document) -> list[Wanted]:
    """The texts of a document, each with the question whether a translation fits. Asking changes the
    document, so it is read anew for what is written."""
    return [Wanted(segment.text, segment.put) for segment in segments(document)]


def _written(text: str, part: Page | Item, found: Mapping[str, str], lines: Mapping[str, str]) -> str:
    """The source of a part in the other language: what none of its texts are in stays byte for byte."""
    changed = False
    document = _body_of(part, text)
    for segment in segments(document):
        translated = found.get(segment.text)
        if translated is not None and segment.put(translated):
            changed = changed or translated != segment.text
    body = text
    if isinstance(part, Page):
        front, heading, rest = split_page(text)
        if changed:
            edited(document)
            rest = write(document)
        head = {
            name: found[line]
            for name, line in lines.items()
            if name in ("title", "description") and line in found
        }
        body = front + heading + rest
        return with_head(body, head) if head else body
    if changed:
        edited(document)
        body = write(document)
    return body


# --- what is different --------------------------------------------------------------------------------


def _difference(
    tx: Transaction,
    state: State,
    source: _Source,
    known: Mapping[str, PartRow],
    made: _Made,
    gone: list[str],
) -> Changes:
    """What makes the space that follows out of what it is: pages of the source as they were translated, those that
    left it gone. Pages that people added stay, at the top where their parent left."""
    there = {page.id: page for page in list_pages(tx, state)}
    changes = Changes({}, {})
    for page_id, page in made.pages.items():
        old = there.get(page_id)
        if old is None or _plain(old) != _plain(page):
            changes.pages[page_id] = page
    removed = [page_id for page_id in gone if page_id in there]
    changes.pages.update(dict.fromkeys(removed))
    for page in there.values():
        if (
            page.parent in changes.pages
            and changes.pages[page.parent] is None
            and page.id not in changes.pages
        ):
            changes.pages[page.id] = replace(page, parent=None)
    kinds = ("file", "reusable-content", "variable")
    items = {item.id: item for kind in kinds for item in list_items(tx, state, kind)}  # type: ignore[arg-type]
    for item_id, item in made.items.items():
        if item_id not in items or replace(items[item_id], created_at=0) != replace(item, created_at=0):
            changes.items[item_id] = item
    changes.items.update({item_id: None for item_id in gone if item_id in items})
    return changes


def _plain(page: Page) -> Page:
    return replace(page, created_at=0, updated_at=0)


# --- learning -----------------------------------------------------------------------------------------


def _learn(context: Context, row: TranslationRow, known: Mapping[str, PartRow]) -> None:
    """Remembers what people changed in the texts that the last run wrote."""
    with context.db.read() as tx:
        state = main_state(tx, row.space_id)
        bodies = {page.id: page.body for page in list_pages(tx, state)}
        bodies |= {item.id: item.content for item in list_items(tx, state, "reusable-content")}
    for part in known.values():
        now = bodies.get(part.part_id)
        if not now or not part.body or not part.source_body or now == part.body:
            continue
        with context.db.read() as tx:
            texts = [_texts(get_body(tx, digest)) for digest in (part.source_body, part.body, now)]
        learned = changed_by_people(*texts)
        if learned:
            with context.db.write() as tx:
                store.remember(tx, row.organization_id, row.source_language, row.language, learned, "person")


def _texts(source: str) -> list[str]:
    return [segment.text for segment in segments(read(split_page(source)[2]))]


def changed_by_people(source: list[str], written: list[str], now: list[str]) -> dict[str, str]:
    """By text of the source, what somebody put in the place of its translation ``written``."""
    if len(source) != len(written):
        return {}
    learned: dict[str, str] = {}
    for tag, begin, end, start, stop in SequenceMatcher(None, written, now, autojunk=False).get_opcodes():
        if tag == "replace" and end - begin == stop - start:
            learned.update(zip(source[begin:end], now[start:stop], strict=True))
    return learned
