"""Job that runs a translation. It translates changes to the source, and saves the translations as one revision.

A run compares every page of the source with its state in the last run, and processes the pages that have changed.
It first learns from people's edits in the translated space: the translation memory stores them as human
translations, which models never overwrite. Then it merges its result into the space like a change request
(``merging.py``). Translations are stored immediately, so that the next attempt can use them if the process is
killed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.assistants.models.calling import find_model
from octavo.content.changes.applying import EditedContent
from octavo.content.changes.saving import edit_live
from octavo.content.revisions.bodies import body_hash, get_body, put_bodies
from octavo.content.revisions.item_versions import Item, list_items
from octavo.content.revisions.page_versions import find_pages, list_pages
from octavo.content.revisions.restrictions import Rules, find_rules, main_seen_by
from octavo.content.revisions.states import State, main_state
from octavo.content.revisions.store import Changes
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page, with_head
from octavo.core.document.reader import read
from octavo.core.document.text import word_count
from octavo.core.document.writing import write
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.errors import OctavoError
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling.deadlines import DeadlineExceeded
from octavo.kit.work.jobs import LeaseLost, finish, job, renew
from octavo.kit.work.outbox import emit
from octavo.organization.access.authorization import SpaceAccess, space_access
from octavo.organization.access.page_rules import ADMINISTRATORS
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can

from . import store
from .learning import learn_edits, list_texts
from .managing import JOB
from .merging import SHOWN, Merging, RunResult, merge_result
from .restricting import notice_of
from .segments import mark_edited, segments
from .store import TranslatedPart, TranslationPartRow, TranslationRow
from .translating import TextToTranslate, Translator

SECONDS = 4 * 3600.0
_PROGRESS_EVERY = 0.5


class RunCanceled(Exception):
    """Raised if the run was canceled or replaced by another run. Its result must be discarded."""


class _Source(Struct, frozen=True):
    """Source content that the person running the translation can see. ``items``: the library items. Reusable
    content is translated, and other items are copied. ``restricted``: the rules of all restricted pages in the
    source, including pages that the person can't see."""

    pages: dict[str, Page]
    items: dict[str, Item]
    restricted: Rules


@job(JOB, bound=None, attempts=4, seconds=SECONDS)
def run_translation(context: Context, translation: str, run: str) -> None:
    """Update a translation from its source. Problems with the source, the space, or permissions end the
    run."""
    with context.db.write() as tx:
        begun = store.begin_run(tx, translation, run)
    if begun is None:
        return
    try:
        _run(context, begun, run)
    except RunCanceled:
        return
    except LeaseLost:
        raise
    except (OctavoError, DeadlineExceeded) as error:
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
    actor = actor_for_job(row.run_by, row.organization_id)
    with context.db.read() as tx:
        source = _read_source(tx, space_access(tx, actor, Can.VIEW, row.source_id))
        space = space_access(tx, actor, Can.EDIT, row.space_id)
        known = store.list_parts(tx, row.id)
        # A page can be restricted only in the translated space, where people edited it.
        restricted = source.restricted.keys() | find_rules(tx, main_state(tx, row.space_id)).keys()
        glossary = store.read_glossary(tx, row.organization_id, row.source_language, row.language)
        model = find_model(context, tx, row.organization_id, row.run_by)
    open_parts = {id: part for id, part in known.items() if id not in restricted}
    _withhold(context, row, [known[id] for id in known.keys() - open_parts.keys()], open_parts.values())
    learn_edits(context, row, open_parts)
    made = _translate(context, row, run, source, known, Translator(context, row, glossary, model))
    # Pages that the person running the translation can't see still exist in the source.
    made.gone = [
        id for id in known if not (id in source.pages or id in source.items or id in source.restricted)
    ]
    untranslated = _count_missing(known, made)
    with context.db.write() as tx:
        # Both the merge and the next run need these texts, even if this run fails.
        put_bodies(tx, made.bodies)
    merging: Merging

    def end(tx: Transaction, state: State) -> None:
        ended = store.end_run(
            tx,
            row.id,
            run,
            revision=state.revision_id,
            pages=len(made.pages.keys() - source.restricted.keys()),
            words=made.words,
            duration=round((time.monotonic() - begun) * 1000),
            untranslated=untranslated,
            notice=notice_of(untranslated, model is not None),
            problems=[*made.problems, *merging.problems],
        )
        if not ended:
            raise RunCanceled
        # Translating takes a while, so check the access again just before the revision is written.
        space_access(tx, actor, Can.VIEW, row.source_id)
        space_access(tx, actor, Can.EDIT, row.space_id)
        store.put_parts(tx, row.id, merging.parts, made.gone)
        finish(tx)

    def make(tx: Transaction, state: State, _: State | None) -> EditedContent:
        nonlocal merging
        _follow_rules(tx, state, source, known, made)
        merging = merge_result(tx, row, state.whole, known, made)
        if _add_lost_rules(tx, state.whole, merging.changes, source, known, made):
            merging = merge_result(tx, row, state.whole, known, made)
        return EditedContent(merging.changes, merging.bodies, merging.keys, [], [])

    result = edit_live(context, space, make, end, follows_rules=False)
    if not result.edited.changes:
        with context.db.write() as tx:
            end(tx, result.state)


def _withhold(
    context: Context,
    row: TranslationRow,
    restricted: Collection[TranslationPartRow],
    open_parts: Iterable[TranslationPartRow],
) -> None:
    """Exclude segments from translators' matches if their pages were restricted after the segments were translated,
    unless another page also contains the segments."""
    if restricted:
        with context.db.read() as tx:
            shared = {text for part in open_parts for text in _texts_of_part(tx, part)}
            texts = {text for part in restricted for text in _texts_of_part(tx, part)} - shared
        with context.db.write() as tx:
            store.withhold_memory(tx, row, texts)


def _texts_of_part(tx: Transaction, part: TranslationPartRow) -> list[str]:
    body = list_texts(get_body(tx, part.source_body)) if part.source_body else []
    return [*body, *part.written.source.values()]


def _follow_rules(
    tx: Transaction,
    state: State,
    source: _Source,
    known: Mapping[str, TranslationPartRow],
    made: RunResult,
) -> None:
    """Restrict the translations of pages that the person running the translation can't see, without changing the
    text, and remove access rules that the source no longer has. ``state``: the state of the translated space."""
    rules = {id: source.restricted[id][0] for id in source.restricted if id not in source.pages}
    rules |= {id: page.visible_to for id, page in source.pages.items() if id not in made.pages}
    pages = {id: page for id in rules.keys() & known.keys() if (page := known[id].written.page) is not None}
    for id in find_pages(tx, state.whole, [id for id, page in pages.items() if page.visible_to != rules[id]]):
        part, page = known[id], replace(pages[id], visible_to=rules[id])
        made.pages[id] = replace(page, body=part.body)
        made.parts[id] = replace(part, written=replace(part.written, page=page))


def _add_lost_rules(
    tx: Transaction,
    state: State,
    changes: Changes,
    source: _Source,
    known: Mapping[str, TranslationPartRow],
    made: RunResult,
) -> bool:
    """Restrict translated pages that people moved, in the translated space, away from the page whose rule applies to
    them in the source. Return whether anything changed. ``state``: the current state of the translated space.
    ``changes``: the result of the merge. A page has only one rule, so if it needs several, only administrators can see
    it."""
    if not source.restricted:
        return False
    result = {page.id: page for page in list_pages(tx, state)} | changes.pages
    found = False
    for id, rules in source.restricted.items():
        page = result.get(id)
        if page is None:
            continue
        line = [page, *_list_above(page, result)]
        if id in source.pages:
            there = {one.id for one in line}
            above = _list_above(source.pages[id], source.pages)
            needed = {one.visible_to for one in above if one.id not in there}
            own = source.pages[id].visible_to
        else:
            needed, own = set(rules), rules[0]
        lost = needed - {(), *(one.visible_to for one in line)}
        part = made.parts.get(id) or known.get(id)
        if not lost or part is None or part.written.page is None:
            continue
        wanted = lost | {own} - {()}
        rule = wanted.pop() if len(wanted) == 1 else (ADMINISTRATORS,)
        before = made.pages.get(id) or replace(part.written.page, body=part.body)
        if before.visible_to != rule:
            made.pages[id] = after = replace(before, visible_to=rule)
            made.parts[id] = replace(part, written=replace(part.written, page=replace(after, body=None)))
            found = True
    return found


def _list_above(page: Page, pages: Mapping[str, Page | None]) -> list[Page]:
    """Return the ancestors of a page, nearest first."""
    found: list[Page] = []
    while page.parent is not None and (above := pages.get(page.parent)) is not None:
        found.append(above)
        page = above
    return found


def _read_source(tx: Transaction, space: SpaceAccess) -> _Source:
    """Return the source content that the person who runs the translation can see."""
    state = main_seen_by(tx, space)
    pages = {page.id: page for page in list_pages(tx, state)}
    kinds = ("file", "reusable-content", "variable")
    items = {item.id: item for kind in kinds for item in list_items(tx, state, kind)}  # type: ignore[arg-type]
    return _Source(pages, items, find_rules(tx, state))


def _hash_part(part: Page | Item, manner: str) -> str:
    """Return a hash of a page or item (without its timestamps) and the style instructions for models. ``manner``: the
    hash of these instructions."""
    plain = (
        replace(part, created_at=0, updated_at=0) if isinstance(part, Page) else replace(part, created_at=0)
    )
    return hashlib.sha256(msgspec.json.encode(plain) + manner.encode()).hexdigest()


def _count_missing(known: Mapping[str, TranslationPartRow], made: RunResult) -> int:
    parts = {**known, **made.parts}
    return sum(part.missing for part_id, part in parts.items() if part_id not in made.gone)


# --- translating --------------------------------------------------------------------------------------


def _translate(
    context: Context,
    row: TranslationRow,
    run: str,
    source: _Source,
    known: Mapping[str, TranslationPartRow],
    translator: Translator,
) -> RunResult:
    """Process the parts that have changed since the last run, weren't fully translated, or must be reported again."""
    made = RunResult()
    manner = translator.manner
    parts: list[Page | Item] = [*source.pages.values(), *source.items.values()]
    waiting = [
        part
        for part in parts
        if (before := known.get(part.id)) is None
        or before.seen != _hash_part(part, manner)
        or before.missing
        or before.written.outdated
    ]
    updated_at = 0.0
    # Everyone who can see the translation can read its progress.
    shown = [part.id for part in waiting if part.id not in source.restricted]
    done = 0
    for part in waiting:
        renew()
        if time.monotonic() - updated_at > _PROGRESS_EVERY:
            updated_at = time.monotonic()
            with context.db.write() as tx:
                if not store.set_progress(tx, row.id, run, done, len(shown)):
                    raise RunCanceled
        _translate_part(context, part, translator, made, part.id in source.restricted)
        done += part.id not in source.restricted
    with context.db.write() as tx:
        if not store.set_progress(tx, row.id, run, len(shown), len(shown)):
            raise RunCanceled
    return made


def _translate_part(
    context: Context, part: Page | Item, translator: Translator, made: RunResult, restricted: bool
) -> None:
    """Translate a page or item. Everyone who can see the translation can read its problems, and the entire
    organization can read the translation memory, so neither may contain text from a ``restricted`` page."""
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
        [*_list_texts(document), *(TextToTranslate(line, _is_line) for line in lines.values())],
        remember=not restricted,
    )
    if text is not None:
        translated = _write_part(text, part, found, lines)
        digest = body_hash(translated)
        if translated != text:
            made.bodies.append(translated)
        made.words += word_count(document) if not restricted else 0
    missing = len(reasons)
    if translator.model is not None and not restricted:
        made.problems += [
            Problem(_name_of(part), 0, "not_translated", f"“{source[:SHOWN]}”: {why}")
            for source, why in reasons.items()
        ]
    if isinstance(part, Page):
        fields = {key: found.get(line, line) for key, line in lines.items()}
        page = made.pages[part.id] = replace(part, body=digest, **fields)
        written = TranslatedPart(page=replace(page, body=None), source=lines)
    else:
        item = made.items[part.id] = replace(part, content=digest) if digest is not None else part
        written = TranslatedPart(item=replace(item, content=None) if digest is not None else item)
    made.parts[part.id] = TranslationPartRow(
        part.id, _hash_part(part, translator.manner), body, digest, missing, written
    )


def _lines_of(part: Page | Item) -> dict[str, str]:
    """Return the translatable fields of a page, such as its title, keyed by name."""
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


def _list_texts(document: Document) -> list[TextToTranslate]:
    """Return the text segments in a document, each with a function that checks whether a translation can replace
    the segment. Checking modifies the document, so parse the document again before writing translations to it."""
    return [TextToTranslate(segment.text, segment.put) for segment in segments(document)]


def _write_part(text: str, part: Page | Item, found: Mapping[str, str], lines: Mapping[str, str]) -> str:
    """Return the translated source of a part. Everything except text stays byte-for-byte identical."""
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
            mark_edited(document)
            rest = write(document)
        head = {
            name: found[line]
            for name, line in lines.items()
            if name in ("title", "description") and line in found
        }
        body = front + heading + rest
        return with_head(body, head) if head else body
    if changed:
        mark_edited(document)
        body = write(document)
    return body
