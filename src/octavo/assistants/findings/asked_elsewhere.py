"""Find source records that ask for the same thing as a site's findings, such as support tickets about a question
that no page answers."""

from __future__ import annotations

from collections.abc import Iterable

from octavo.assistants.questions.matching import SAME_WITH_SOURCE, similarity, words_of
from octavo.assistants.sources.store import list_titles
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines

from .types import MAX_EVIDENCE, Found

_MOST = 20_000
"""Maximum number of records to compare. The newest records are used."""
_BATCH = 500


def match_records(tx: Transaction, site_id: str, found: Iterable[Found]) -> dict[str, list[str]]:
    """Return the records that are evidence for findings about the site as a whole, by the key of the finding. All
    of these findings are about questions or searches by visitors. Only titles are compared, because the text of a
    record is mostly background."""
    asked = {
        each.key: words
        for each in found
        if each.space_id is None and (words := words_of(each.evidence[0].quote))
    }
    by_word: dict[str, list[str]] = {}
    for key, words in asked.items():
        for word in words:
            by_word.setdefault(word, []).append(key)
    matched: dict[str, list[str]] = {}
    for number, (record_id, title) in enumerate(list_titles(tx, site_id, _MOST) if asked else ()):
        if number % _BATCH == 0:
            deadlines.check()
        words = words_of(title)
        for key in {key for word in words for key in by_word.get(word, ())}:
            records = matched.setdefault(key, [])
            if len(records) < MAX_EVIDENCE and similarity(asked[key], words) >= SAME_WITH_SOURCE:
                records.append(record_id)
    return matched
