"""Issues and clusters without a database: what people ask for, and which issues belong together."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.assistants.conversations.analyzing import MAX_ISSUES, MAX_SUMMARY, MAX_TITLE, find_issues
from octavo.assistants.conversations.clustering import Clustering, count_words, decode_words, encode_words
from octavo.assistants.conversations.describing import describe
from octavo.assistants.conversations.types import Part


def said(*bodies: str, role: str = "user") -> list[Part]:
    return [Part("message", role, body) for body in bodies]  # type: ignore[arg-type]


def test_the_question_is_found_among_polite_phrases() -> None:
    body = "Hi there! Thanks for the great product. We have used it for a year.\nHow can I export a page as PDF? Bye."
    (issue,) = find_issues(None, said(body))
    assert issue.title == "How can I export a page as PDF?"
    assert "great product" not in issue.title and issue.title in issue.summary


def test_a_meaningful_subject_becomes_the_title() -> None:
    (issue,) = find_issues("Re: FW: Export of invoices fails", said("It says error 12."))
    assert issue.title == "Export of invoices fails"
    (issue,) = find_issues("Help!", said("Export of invoices fails."))
    assert issue.title == "Export of invoices fails."


def test_a_later_message_about_another_subject_is_another_issue() -> None:
    found = find_issues(
        None,
        said(
            "How do I export a page as PDF?",
            "The export still shows an old page.",
            "By the way, why was my credit card charged twice this month?",
        ),
    )
    assert [issue.title for issue in found] == [
        "How do I export a page as PDF?",
        "By the way, why was my credit card charged twice this month?",
    ]


def test_only_messages_of_users_become_issues() -> None:
    parts = [*said("How do I export?"), *said("Did you restart the database server?", role="team-member")]
    assert [issue.title for issue in find_issues(None, parts)] == ["How do I export?"]


@pytest.mark.parametrize("parts", [[], said(""), said("  \n "), said("the of and", "ok thanks")])
def test_an_empty_message_is_no_issue(parts: list[Part]) -> None:
    assert find_issues(None, parts) == [] or find_issues(None, parts)[0].title


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.none() | st.text(max_size=600), st.lists(st.text(max_size=500), max_size=6))
def test_any_conversation_is_analyzed(subject: str | None, bodies: list[str]) -> None:
    found = find_issues(subject, said(*bodies))
    assert len(found) <= MAX_ISSUES
    for issue in found:
        assert 0 < len(issue.title) <= MAX_TITLE and len(issue.summary) <= MAX_SUMMARY
        count_words(issue.title, issue.summary)


# --- clusters -----------------------------------------------------------------------------------------

ASK = [
    "How do I {}?",
    "How can I {}?",
    "I want to {} but I don't know how.",
    "Is there a way to {}?",
    "Can't {}.",
    "Please tell me how to {}",
    "We are trying to {} without success",
    "What is the best way to {}?",
]
INTENTS = {
    "pdf": ["export a page as PDF", "download the whole space as a PDF file", "print a PDF of my pages"],
    "password": [
        "reset my password",
        "change the password of my account",
        "get a new password after I forgot mine",
    ],
    "domain": [
        "use a custom domain for my site",
        "connect my own domain name",
        "set up the DNS of our custom domain",
    ],
    "git": ["sync with a GitHub repository", "enable Git sync for a GitHub branch", "connect GitHub sync"],
    "invite": ["invite a team member", "add new members to my team", "invite colleagues as members"],
    "billing": [
        "get an invoice for billing",
        "download the invoices of last year",
        "change the billing address on invoices",
    ],
    "search": [
        "improve the search results",
        "exclude pages from the search results",
        "make search results find typos",
    ],
    "api": ["create an API token", "authenticate API requests with a token", "revoke an old API token"],
    "theme": ["change the colours of the theme", "use a dark theme", "set the theme colours and logo"],
    "delete": ["delete a space", "restore a deleted space", "delete a space for good"],
}


def labelled(count: int, seed: int) -> list[tuple[str, str]]:
    """Generated paraphrases: (intent, question)."""
    chance = random.Random(seed)
    names = list(INTENTS)
    found = []
    for _ in range(count):
        intent = chance.choice(names)
        found.append((intent, chance.choice(ASK).format(chance.choice(INTENTS[intent]))))
    return found


def cluster(questions: list[str], batch: int = 50) -> tuple[list[str], Clustering]:
    clustering = Clustering(0, {})
    found = []
    for start in range(0, len(questions), batch):
        counted = [count_words(question, question) for question in questions[start : start + batch]]
        for words in counted:
            clustering.learn(words)
        for words in counted:
            name = clustering.find(words) or f"{len(clustering.sizes):05}"
            clustering.join(name, words)
            found.append(name)
    return found, clustering


def adjusted_rand(one: list[str], other: list[str]) -> float:
    pairs = list(combinations(range(len(one)), 2))
    same_one = sum(one[a] == one[b] for a, b in pairs)
    same_other = sum(other[a] == other[b] for a, b in pairs)
    both = sum(one[a] == one[b] and other[a] == other[b] for a, b in pairs)
    expected = same_one * same_other / len(pairs)
    return (both - expected) / ((same_one + same_other) / 2 - expected)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_paraphrases_form_one_cluster(seed: int) -> None:
    questions = labelled(400, seed)
    found, _ = cluster([question for _, question in questions])
    assert adjusted_rand([intent for intent, _ in questions], found) > 0.75


def test_comparing_takes_the_same_time_with_many_clusters() -> None:
    """Each issue is compared with a limited number of clusters, however many there are."""
    clustering = Clustering(0, {})
    for number in range(3000):
        words = count_words(f"thing{number} happens on export", f"thing{number}")
        clustering.learn(words)
        clustering.join(f"{number:05}", words)
    compared = 0
    weights = clustering._weights_of

    def counted(cluster_id: str) -> dict[int, float]:
        nonlocal compared
        compared += 1
        return weights(cluster_id)

    clustering._weights_of = counted  # type: ignore[method-assign]
    assert clustering.find(count_words("thing77 happens on export", "thing77")) is not None
    assert compared <= 60


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.integers(0, 65535), st.integers(1, 1000), max_size=60))
def test_vectors_round_trip(vector: dict[int, int]) -> None:
    assert decode_words(encode_words(Counter(vector))) == vector


def test_a_cluster_is_named_after_its_most_typical_issue() -> None:
    bodies = [
        "How do I export a page as PDF?",
        "Export a page as PDF fails",
        "PDF export of a page with tables is empty",
    ]
    issues = [find_issues(None, said(body))[0] for body in bodies]
    clustering = Clustering(0, {})
    for issue in issues:
        words = count_words(issue.title, issue.summary)
        clustering.learn(words)
        clustering.join("one", words)
    found = describe(clustering, "one", issues)
    assert found.label in bodies and found.icon == "file-export"
    assert "export" in found.summary.lower() and "pdf" in found.summary.lower()
