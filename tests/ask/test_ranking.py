"""Which section answers a question, without a database."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.assistants.ask.ranking import Candidate, rank
from octavo.core.sentences import content_words, stems

SECTIONS = [
    Candidate("Backups", "Restore a backup", "Choose the file of the backup and wait.", 0),
    Candidate("Backups", "Schedule", "A backup is made each night, and restore takes a while.", 0),
    Candidate("Search", "Typing errors", "Search finds words with errors. A backup is not needed.", 1),
]


def asked(question: str) -> dict[str, str]:
    return dict(zip(stems(question), content_words(question), strict=True))


def best(question: str) -> str:
    scores = rank(asked(question), SECTIONS)
    return SECTIONS[max(range(len(scores)), key=lambda at: scores[at].worth)].heading


def test_a_heading_that_equals_the_question_ranks_above_text_with_its_words() -> None:
    assert best("How do I restore a backup?") == "Restore a backup"


def test_rare_words_count_most() -> None:
    assert best("backup each night") == "Schedule"


def test_a_misspelled_word_is_understood() -> None:
    assert best("typign erors") == "Typing errors"
    assert rank(asked("typign erors"), SECTIONS)[2].covers == 1


def test_swapped_letters_are_likelier_than_other_errors() -> None:
    said = [Candidate("", "", text, 0) for text in ("A registry of names.", "Register a name.")]
    assert [score.covers for score in rank(asked("regisetr a name"), said)] == [0.5, 1]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.text(max_size=20), st.text(max_size=20), min_size=1, max_size=5),
    st.lists(st.text(max_size=60), max_size=4),
)
def test_any_text_is_ranked(words: dict[str, str], texts: list[str]) -> None:
    found = rank(words, [Candidate(text, text, text, at) for at, text in enumerate(texts)])
    assert len(found) == len(texts) and all(0 <= score.covers <= 1 for score in found)


def test_a_section_is_named_after_its_heading_and_page() -> None:
    text = "Keys sign transactions of the machine, and addresses belong to keys."
    lead = Candidate("Keys and transactions", "", text, 0)
    section = Candidate("Keys and transactions", "Addresses", text, 0)
    scores = rank(asked("addresses in keys and transactions"), [lead, section])
    assert scores[1].worth > scores[0].worth
