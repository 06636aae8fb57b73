"""Benchmark the cost of analyzing conversations, and how well the clusters match the intents of the questions.

    python bench/bench_conversations.py [COUNT]

Conversations are generated paraphrases: an intent in one of its wordings, inside a polite or frustrated sentence. CPU
time is that of this process, on one thread. Agreement is the adjusted Rand index against the intents, compared with
HDBSCAN over TF-IDF of the same texts (scikit-learn, in the dependency group bench), using the best of several
settings.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import defaultdict

from figures import figure

from octavo.assistants.conversations.ingesting import ingest
from octavo.assistants.conversations.jobs import analyze_conversations
from octavo.assistants.conversations.types import ConversationInput, Part
from octavo.operations.admin.first_start import token_for
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

SEED = 15
COMPARED = 1000
"""Number of conversations that both clustering methods get."""
SHOWN = 10

INTENTS = {
    "pdf": ("export, download, print, save", "a page as PDF, the whole space as a PDF file, my docs to PDF"),
    "password": ("reset, change, recover", "my password, the password of my account, a forgotten password"),
    "domain": ("use, connect, set up", "a custom domain, our own domain name, the DNS of a custom domain"),
    "git": (
        "sync with, connect, enable sync for",
        "a GitHub repository, our GitHub branch, Git sync to GitHub",
    ),
    "invite": ("invite, add", "a new team member, colleagues as members, members to my team"),
    "invoice": ("get, find, download", "an invoice, the invoices of last year, invoices for billing"),
    "card": (
        "change, replace, update",
        "the credit card, our credit card for payment, an expired credit card",
    ),
    "search": ("improve, tune, fix", "the search results, what search finds, search results with typos"),
    "token": ("create, revoke, rotate", "an API token, a personal API token, the API token of a bot"),
    "theme": ("change, customize, set", "the theme colors, the colors of our theme, a dark theme color"),
    "delete": ("delete, remove, purge", "a space permanently, an old space, a space we no longer need"),
    "restore": (
        "restore, undo, roll back to",
        "an earlier version of a page, a previous version, the version history",
    ),
    "sso": ("set up, configure, enforce", "SAML single sign-on, SSO with Okta, single sign-on for everyone"),
    "webhook": ("receive, configure, test", "a webhook, webhook events, webhooks for comments"),
    "translate": (
        "translate, localize",
        "a space into French, our docs to another language, pages into German",
    ),
    "image": ("upload, resize, replace", "an image, a large image, the image of a page"),
    "table": ("sort, edit, widen", "a table, table columns, the rows of a table"),
    "import": ("import, migrate", "pages from Confluence, a Confluence space, our Confluence wiki"),
    "notion": ("bring over, convert", "our Notion workspace, pages out of Notion, a Notion export"),
    "rate": ("raise, understand, avoid", "the rate limit, error 429 of the rate limit, being rate limited"),
    "backup": ("back up, schedule backups of", "the database, our server database, the database and files"),
    "docker": ("run, deploy, upgrade", "the Docker image, a Docker container, it with Docker compose"),
    "slow": ("speed up, debug", "slow page loads, pages that load slowly, the slow loading of our site"),
    "analytics": ("see, export, read", "visitor analytics, the analytics of visitors, page view analytics"),
    "redirect": (
        "redirect, forward",
        "an old URL, old URLs after moving pages, a renamed URL to the new one",
    ),
    "permission": (
        "restrict, limit, grant",
        "permission to a space, who has permission to edit, edit permissions",
    ),
    "review": ("require, request, approve", "a review, reviews before merging, a review of a change request"),
    "conflict": ("resolve, avoid, understand", "a merge conflict, conflicts when merging, merge conflicts"),
    "openapi": ("show, embed, update", "an OpenAPI file, our OpenAPI specification, the OpenAPI reference"),
    "email": ("turn off, stop, reduce", "notification emails, email notifications, notifications by email"),
}
ASKED = [
    "How do I {}?",
    "How can I {}?",
    "I want to {} but I don't know how.",
    "Is there a way to {}?",
    "I can't {}.",
    "Please tell me how to {}",
    "We are trying to {} without success.",
    "What is the best way to {}?",
    "{} fails with an error.",
    "A colleague needs to {}.",
]
AROUND = ["", "Hi there! ", "Hello support. ", "Thanks for the product. We are using it for a year now. "]
AFTER = ["", " Thanks!", " It is urgent.", " Regards, a customer", " I have looked everywhere."]


def generate(count: int, seed: int) -> list[tuple[str, str]]:
    """Return intents and questions."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        intent = chance.choice(list(INTENTS))
        verbs, objects = (words.split(", ") for words in INTENTS[intent])
        said = chance.choice(ASKED).format(f"{chance.choice(verbs)} {chance.choice(objects)}")
        found.append((intent, chance.choice(AROUND) + said + chance.choice(AFTER)))
    return found


def memory() -> float:
    """Return the peak memory of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def analyse(submitted: list[tuple[str, str]], show: bool = False) -> list[str]:
    """Ingest and analyze conversations. Return the cluster of each, in order."""
    with tempfile.TemporaryDirectory() as data:
        context = open_context(load(environ={"OCTAVO_DATA": data}))
        token_for(context, email="bench@example.com")
        with context.db.write() as tx:
            user = find_user_by_email(tx, "bench@example.com")
            assert user is not None
            org = create_organization(tx, user.id, "Bench").id
        begun = time.process_time()
        tenth = max(1, len(submitted) // 10)
        for start in range(0, len(submitted), tenth):
            batch = [
                ConversationInput(f"{number:06}", [Part("message", "user", text)])
                for number, (_, text) in enumerate(submitted[start : start + tenth], start)
            ]
            with context.db.write() as tx:
                ingest(tx, context.settings, org, "email", batch)
            analyze_conversations(context, org)
            if show and start // tenth in (1, 9):
                print(f"  {start + len(batch):>6} conversations: at most {memory():.0f} MB")
        took = time.process_time() - begun
        with context.db.read() as tx:
            rows = tx.all(
                """SELECT c.external_id, i.cluster_id, k.label, k.summary, k.issues FROM conversations c
                   LEFT JOIN conversation_issues i ON i.conversation_id = c.id
                   LEFT JOIN issue_clusters k ON k.id = i.cluster_id ORDER BY c.external_id, i.id"""
            )
        close_context(context)
    if show:
        figure(f"{len(submitted):,} conversations ingested and analyzed", took, "s of CPU")
        figure(f"peak memory with {len(submitted):,} conversations", memory(), "MB")
        return []
    clusters: dict[str, str] = {}
    for external_id, cluster_id, *_ in rows:
        clusters.setdefault(external_id, cluster_id or external_id)
    intents: dict[str, set[str]] = defaultdict(set)
    shown = {}
    for external_id, cluster_id, label, summary, issues in rows:
        intents[cluster_id].add(submitted[int(external_id)][0])
        shown[cluster_id] = (issues, label, summary)
    largest = sorted((value, key) for key, value in shown.items() if value[0] is not None)[::-1][:SHOWN]
    print(f"{len(shown)} clusters of {len(submitted)} conversations; the largest:")
    for (issues, label, summary), cluster_id in largest:
        print(f"  {issues:>4} {label} ({', '.join(sorted(intents[cluster_id]))})\n       {summary}")
    return [clusters[key] for key in sorted(clusters)]


def compare(submitted: list[tuple[str, str]], ours: list[str]) -> None:
    from sklearn.cluster import HDBSCAN
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import adjusted_rand_score, pairwise_distances

    intents = [intent for intent, _ in submitted]
    vectors = TfidfVectorizer(stop_words="english", ngram_range=(1, 2), sublinear_tf=True).fit_transform(
        [text for _, text in submitted]
    )
    distances = pairwise_distances(vectors, metric="cosine")
    found = {}
    for size in (3, 5, 10, 15):
        labels = HDBSCAN(min_cluster_size=size, metric="precomputed", copy=True).fit_predict(distances)
        # Its noise belongs to no cluster.
        alone = [f"{label}" if label >= 0 else f"alone {at}" for at, label in enumerate(labels)]
        found[size] = adjusted_rand_score(intents, alone)
    print("TF-IDF with HDBSCAN: " + ", ".join(f"{value:.3f} (from {size})" for size, value in found.items()))
    index = adjusted_rand_score(intents, ours)
    figure(
        "adjusted Rand index, compared with TF-IDF and HDBSCAN with the best settings",
        index,
        beside=max(found.values()),
        least=1,
    )


def main() -> None:
    load_packages()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    analyse(generate(count, SEED), show=True)
    submitted = generate(COMPARED, SEED + 1)
    compare(submitted, analyse(submitted))


if __name__ == "__main__":
    main()
