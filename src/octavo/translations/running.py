"""The job of a translation's run: what changed at the source is translated, and becomes one revision.

A run looks at every page of the source and works on those that differ from what the last run saw. What people wrote
into the space that follows is learned first: it goes into the memory as a person's word, which no machine changes. What
the run made is then merged into the space as a change request is (``merging.py``). A process killed at any point has
remembered what it translated; the next attempt finds it there.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..access import Can, act_for, space_access
from ..changes import Edited, edit_live
from ..content import Item, State, body_hash, get_body, list_items, list_pages, main_state, put_bodies
from ..core.document import Document, read, split_page, with_head, word_count, write
from ..core.pages import Page
from ..core.problems import Problem
from ..errors import OctavoError
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.deadlines import OutOfTime
from ..kit.jobs import LeaseLost, finish, job, renew
from ..kit.outbox import emit
from ..models import find_model
from . import store
from .learning import learn
from .managing import JOB
from .merging import SHOWN, Made, Merging, merge_made
from .segments import edited, segments
from .store import PartRow, TranslationRow, Written
from .translating import TextToTranslate, Translator

SECONDS = 4 * 3600.0
_TELL_EVERY = 0.5


class Cancelled(Exception):
    """The run was cancelled, or another one began: whatever it did is to be dropped."""


class _Source(Struct, frozen=True):
    """What is to be translated of the source: pages, and items (reusable contents are translated, others copied)."""

    pages: dict[str, Page]
    items: dict[str, Item]


@job(JOB, bound=None, attempts=4, seconds=SECONDS)
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
            if store.end_run(tx, translation, run, notice=f"The last run failed: {error}"):
                emit(
                    tx,
                    "translation_failed",
                    organization_id=begun.organization_id,
                    space_id=begun.space_id,
                    run=translation,
                    user=begun.run_by,
                    problem=str(error),
                )
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
    learn(context, row, known)
    made = _translate(context, row, run, source, known, Translator(context, row, glossary, model))
    made.gone = [part_id for part_id in known if part_id not in source.pages and part_id not in source.items]
    untranslated = _count_missing(known, made)
    with context.db.write() as tx:
        # Merging reads them, and the next run too, whatever becomes of them in this one.
        put_bodies(tx, made.bodies)
    merging: Merging

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
            problems=[*made.problems, *merging.problems],
        )
        if not ended:
            raise Cancelled
        # Rights count in the moment of the revision: translating took a while.
        space_access(tx, actor, Can.VIEW, row.source_id)
        space_access(tx, actor, Can.EDIT, row.space_id)
        store.put_parts(tx, row.id, merging.parts, made.gone)
        finish(tx)

    def make(tx: Transaction, state: State, _: State | None) -> Edited:
        nonlocal merging
        merging = merge_made(tx, row, state, known, made)
        return Edited(merging.changes, merging.bodies, merging.keys, [], [])

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


def _seen(part: Page | Item, manner: str) -> str:
    """A hash of all that the source says of a page or item, but for when, and of what models are told of the manner."""
    plain = (
        replace(part, created_at=0, updated_at=0) if isinstance(part, Page) else replace(part, created_at=0)
    )
    return hashlib.sha256(msgspec.json.encode(plain) + manner.encode()).hexdigest()


def _count_missing(known: Mapping[str, PartRow], made: Made) -> int:
    parts = {**known, **made.parts}
    return sum(part.missing for part_id, part in parts.items() if part_id not in made.gone)


# --- translating --------------------------------------------------------------------------------------


def _translate(
    context: Context,
    row: TranslationRow,
    run: str,
    source: _Source,
    known: Mapping[str, PartRow],
    translator: Translator,
) -> Made:
    """Works on what the last run did not see as it is, could not translate wholly, or has to speak of again."""
    made = Made()
    manner = translator.manner
    parts: list[Page | Item] = [*source.pages.values(), *source.items.values()]
    waiting = [
        part
        for part in parts
        if (before := known.get(part.id)) is None
        or before.seen != _seen(part, manner)
        or before.missing
        or before.written.outdated
    ]
    told = 0.0
    for number, part in enumerate(waiting):
        renew()
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


def _translate_part(context: Context, part: Page | Item, translator: Translator, made: Made) -> None:
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
        [*_wanted(document), *(TextToTranslate(line, _is_line) for line in lines.values())]
    )
    if text is not None:
        translated = _written(text, part, found, lines)
        digest = body_hash(translated)
        if translated != text:
            made.bodies.append(translated)
        made.words += word_count(document)
    missing = len(reasons)
    if translator.model is not None:
        made.problems += [
            Problem(_name_of(part), 0, "not_translated", f"“{source[:SHOWN]}”: {why}")
            for source, why in reasons.items()
        ]
    if isinstance(part, Page):
        fields = {key: found.get(line, line) for key, line in lines.items()}
        page = made.pages[part.id] = replace(part, body=digest, **fields)
        written = Written(page=replace(page, body=None), source=lines)
    else:
        item = made.items[part.id] = replace(part, content=digest) if digest is not None else part
        written = Written(item=replace(item, content=None) if digest is not None else item)
    made.parts[part.id] = PartRow(part.id, _seen(part, translator.manner), body, digest, missing, written)


def _lines_of(part: Page | Item) -> dict[str, str]:
    """The texts of a page that are outside of its body, by the name of their field."""
    if not isinstance(part, Page):
        return {}
    return {name: line for name in ("title", "link_title", "description") if (line := getattr(part, name))}


def _name_of(part: Page | Item) -> str:
    return part.file_path or part.slug if isinstance(part, Page) else part.path or part.name


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


def _wanted(document: Document) -> list[TextToTranslate]:
    """The texts of a document, each with the question whether a translation fits. Asking changes the
    document, so it is read anew for what is written."""
    return [TextToTranslate(segment.text, segment.put) for segment in segments(document)]


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
