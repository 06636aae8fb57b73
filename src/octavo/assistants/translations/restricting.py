"""Hide information about restricted pages in a translation if the pages were restricted after the last run."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from octavo.content.revisions.page_versions import filter_restricted_spaces, find_pages
from octavo.content.revisions.restrictions import find_rules
from octavo.content.revisions.states import main_state
from octavo.core.pages import Page
from octavo.core.problems import Problem
from octavo.kit.db.database import Transaction

from . import store
from .store import TranslationRow


def without_restricted(tx: Transaction, row: TranslationRow) -> TranslationRow:
    """Return a translation without the problems and segment counts of restricted pages. The result is safe for
    everyone who can see the translated space."""
    spaces = filter_restricted_spaces(tx, [row.source_id, row.space_id])
    if not spaces:
        return row
    restricted = {id for space_id in spaces for id in find_rules(tx, main_state(tx, space_id))}
    parts = [part for id, part in store.list_parts(tx, row.id).items() if id in restricted]
    pages: list[Page] = [part.written.page for part in parts if part.written.page is not None]
    for space_id in {row.source_id, row.space_id}:
        pages += find_pages(tx, main_state(tx, space_id), restricted).values()
    names = {name for page in pages for name in (page.file_path, page.slug) if name}
    hidden = sum(part.missing for part in parts)
    problems = [
        problem
        for problem in msgspec.json.decode(row.problems, type=list[Problem])
        # The number of problems that aren't listed can include those of restricted pages.
        if problem.path not in names and not (hidden and problem.code == "more_problems")
    ]
    untranslated = row.untranslated - hidden
    notice = row.notice
    for has_model in (True, False):
        if hidden and notice == notice_of(row.untranslated, has_model):
            notice = notice_of(untranslated, has_model)
            break
    if notice is not None and any(page.title in notice for page in pages):
        # Errors quote the titles of pages.
        notice = "The last run failed."
    return replace(
        row, problems=msgspec.json.encode(problems).decode(), untranslated=untranslated, notice=notice
    )


def notice_of(untranslated: int, has_model: bool) -> str | None:
    """Return the notice about the segments that a run couldn't translate; None if it could translate all of them."""
    if not untranslated:
        return None
    texts = "1 text is" if untranslated == 1 else f"{untranslated} texts are"
    why = (
        ""
        if has_model
        else " No language model is configured, so only the translation memory and the glossary were used."
    )
    return f"{texts} still in the source language.{why}"
