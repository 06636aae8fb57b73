"""Connection filters: words that records must or must not contain."""

from __future__ import annotations

from octavo.core.sentences import content_words

from .types import SourceRecord


def matches(filter: str | None, record: SourceRecord) -> bool:
    """Return whether a record matches a filter: it must contain the filter's words, except words with a minus sign,
    which it must not contain.

    >>> record = SourceRecord(id="1", type="ticket", title="Refund", body="", metadata={"labels": "billing, open"})
    >>> matches("refund billing", record), matches("refund -billing", record), matches("refu", record)
    (True, False, False)
    """
    if not filter or not filter.strip():
        return True
    values = [value for value in record.metadata.values() if isinstance(value, str)]
    text = "\n".join([record.title, record.description or "", record.body, *values])
    words = set(_words(text))
    return all(
        not words.intersection(_words(word[1:])) if word.startswith("-") else words.issuperset(_words(word))
        for word in filter.split()
    )


def _words(text: str) -> list[str]:
    return [word.casefold() for word in content_words(text)]
