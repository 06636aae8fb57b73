"""Tests that search finds every match, regardless of their number and of other spaces."""

import psycopg
import pytest

from octavo.content.revisions import staging
from octavo.content.search import store
from octavo.content.search.function_words import function_words, split_question
from octavo.content.search.querying import read_query, search_pages, snippet
from octavo.content.search.tokens import WantedWords, WordMarker
from octavo.kit.work.worker import Worker
from octavo.operations.admin.import_export import import_space
from octavo.organization.spaces.hooks import notify_transferred


def make(world, folder, pages: dict[str, str], place=None) -> str:
    """Create a space with these pages, by title."""
    folder.mkdir()
    (folder / "SUMMARY.md").write_text("".join(f"* [{title}](p{n}.md)\n" for n, title in enumerate(pages)))
    for n, (title, text) in enumerate(pages.items()):
        (folder / f"p{n}.md").write_text(f"# {title}\n\n{text}\n")
    organization = (place or world.home)["organizationId"]
    return import_space(world.context, str(folder), organization_id=organization).outcome.space


def search(world, space, query, **parameters):
    return world.get("admin", f"/spaces/{space}/search", params={"query": query, **parameters})


def titles(world, space, query):
    return [item["title"] for item in search(world, space, query)["items"]]


def all_pages(world, path, query, limit):
    """Return everything that a search finds, page by page, and the first response."""
    first = answer = world.get("admin", path, params={"query": query, "limit": limit})
    items = answer["items"]
    while "next" in answer:
        params = {"query": query, "limit": limit, "page": answer["next"]["page"]}
        answer = world.get("admin", path, params=params)
        items += answer["items"]
    return items, first


MANY = {
    "One": "\n\n".join(f"## Part {n}\n\nA zeppelin." for n in range(120)),
    **{f"Page {n}": "Somewhere a zeppelin is named." for n in range(40)},
    "Zeppelin": "What it is.",
}


def test_one_page_of_many_sections_hides_no_other(world, tmp_path):
    space = make(world, tmp_path / "s", MANY)
    found, first = all_pages(world, f"/spaces/{space}/search", "zeppelin", 7)
    assert first["count"] == len(MANY) and "countIsLowerBound" not in first
    assert found[0]["title"] == "Zeppelin"
    assert sorted(item["title"] for item in found) == sorted(MANY)
    assert all(len(item["sections"]) <= 3 for item in found)


def test_large_results_are_paginated(world, tmp_path, monkeypatch):
    monkeypatch.setattr("octavo.content.search.querying._WINDOW", 16)
    monkeypatch.setattr("octavo.content.search.querying.MAX_COUNT", 20)
    space = make(world, tmp_path / "s", MANY)
    found, first = all_pages(world, f"/spaces/{space}/search", "zeppelin", 5)
    assert (first["count"], first["countIsLowerBound"]) == (20, True)
    assert found[0]["title"] == "Zeppelin"  # titles and headings before the windows
    assert sorted(item["title"] for item in found) == sorted(MANY)
    monkeypatch.setattr("octavo.content.search.querying.MAX_COUNT", 1000)
    exact = search(world, space, "zeppelin", limit=6)
    assert exact["count"] == len(MANY) and "countIsLowerBound" not in exact


@pytest.mark.sqlite_first
def test_best_matches_come_first_among_many_partial_matches(world, tmp_path, monkeypatch):
    monkeypatch.setattr("octavo.content.search.querying._WINDOW", 16)
    wanted = {"Airships": "Captains of a zeppelin show their licence at the harbour."}
    space = make(world, tmp_path / "s", {**MANY, **wanted})
    asked = "zeppelin captains licence harbour elucidated"
    assert titles(world, space, asked)[0] == "Airships"
    for n in range(17):
        make(world, tmp_path / f"s{n}", {f"Flights {n}": "A zeppelin and a harbour."})
    path = world.home.path("/orgs/{organizationId}/search")
    first, *_ = world.get("admin", path, params={"query": asked})["items"]
    assert (first["id"], first["pages"][0]["title"]) == (space, "Airships")


def test_results_across_many_spaces_are_paginated(world, tmp_path, monkeypatch):
    spaces = {make(world, tmp_path / f"s{n}", {f"Airships {n}": "A zeppelin."}) for n in range(20)}
    elsewhere = make(world, tmp_path / "away", {"Airships": "A zeppelin."}, world.away)
    path = world.home.path("/orgs/{organizationId}/search")
    for query in ("zeppelin", "zepelin", "zepp"):
        found, first = all_pages(world, path, query, 6)
        assert first["count"] == 20
        assert {item["id"] for item in found} == spaces
        assert all(len(item["pages"]) == 1 for item in found)
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id IN :ids", ids=sorted(spaces)[:3])
    seen = world.get("reader", path, params={"query": "zeppelin"})
    assert {item["id"] for item in seen["items"]} == set(sorted(spaces)[3:]) and seen["count"] == 17
    assert elsewhere not in {item["id"] for item in seen["items"]}


@pytest.mark.parametrize("most_at_once", [staging.MOST_AT_ONCE, 0])
@pytest.mark.sqlite_first
def test_a_transferred_space_is_found_by_its_new_organization(world, tmp_path, monkeypatch, most_at_once):
    monkeypatch.setattr(staging, "MOST_AT_ONCE", most_at_once)
    for n in range(17):
        make(world, tmp_path / f"s{n}", {f"Airships {n}": "A balloon."}, world.away)
    space = make(world, tmp_path / "given", {"Airships": "A zeppelin."})
    with world.context.db.write() as tx:
        tx.run(
            "UPDATE spaces SET organization_id = :org, collection_id = NULL WHERE id = :id",
            org=world.away["organizationId"],
            id=space,
        )
        notify_transferred(tx, space, world.away["organizationId"])
    Worker(world.context.db, world.context).run_pending()
    path = world.away.path("/orgs/{organizationId}/search")
    assert [item["id"] for item in world.get("stranger", path, params={"query": "zeppelin"})["items"]] == [
        space
    ]
    with world.context.db.read() as tx:
        kept = tx.all("SELECT DISTINCT organization_key FROM search_words WHERE space_id = :id", id=space)
        assert kept == [(store._key(world.away["organizationId"]),)]
    old = world.home.path("/orgs/{organizationId}/search")
    assert world.get("admin", old, params={"query": "zeppelin"})["items"] == []


NAMES = {
    "Users API v1": "How to read users.",
    "Calls": "Words.\n\n## /api/v1/users\n\nLists them.",
    "App config path": "Where it lies.",
    "Reference": "Set `app.config.path` to a folder.",
    "Config": "The path of the app. A config. Another path.",
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("/api/v1/users", "Calls"),
        ("app.config.path", "Reference"),
        ("App config path", "App config path"),
    ],
)
def test_exact_names_with_symbols_come_first(world, tmp_path, query, first):
    assert titles(world, make(world, tmp_path / "s", NAMES), query)[:1] == [first]


ASKED = {
    "Questions": "How do I begin? How do I do that? How do I get the help of a person? I do a change of a thing.",
    "Slugs": "The slug of each page can be changed in its settings.",
    "Häufige Fragen": "Wie kann ich das machen? Wie geht das? Ich kann den Rest ändern.",
    "Sicherung": "Eine Sicherung der Datenbank wird jede Nacht geschrieben.",
    "常見問題": "如何開始？如何操作？如何取得說明？",
    "備份": "每天晚上備份資料庫一次。",
    "よくある質問": "どうやって始めますか。どうやって使いますか。",
    "設定": "設定の変更は管理者がします。",
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how do I change the slug of a page", "Slugs"),
        ("wie kann ich eine Sicherung der Datenbank machen", "Sicherung"),
        ("如何備份資料庫", "備份"),
        ("どうやって設定を変更しますか", "設定"),
    ],
)
def test_question_words_have_no_weight(world, tmp_path, query, first):
    assert titles(world, make(world, tmp_path / "s", ASKED), query)[:1] == [first]


def test_function_words_depend_on_the_language():
    assert function_words("how do i change the slug".split()) == {"how", "do", "i", "the"}
    assert function_words(["man", "page"]) == set()
    assert function_words(["die", "cast"]) == set()
    assert function_words("wie andere ich den slug".split()) == {"wie", "ich", "den"}
    assert function_words("como cambio el slug de una pagina".split()) == {"como", "el", "de", "una"}
    assert function_words("comment changer le nom".split()) == {"comment", "le"}
    assert function_words("como eu mudo o nome".split()) >= {"como", "eu", "o"}
    assert split_question("如何備份資料庫") == ["備份資料庫"]
    assert split_question("目的") == ["目的"]
    assert split_question("ですか") == ["ですか"]


def test_a_query_of_only_function_words_is_searched_unchanged(world, tmp_path):
    assert titles(world, make(world, tmp_path / "s", {"How to": "Words.", "Other": "Words."}), "how to") == [
        "How to"
    ]
    assert [term.word for term in read_query('the "of the" slug').terms] == [None, "slug"]


def test_chinese_highlights_words_instead_of_clauses():
    parts = snippet("每天晚上備份資料庫一次", WordMarker(WantedWords(frozenset(["備份", "資料", "料庫"]))))
    assert [part.text for part in parts if part.marked] == ["備份資料庫"] or [
        part.text for part in parts if part.marked
    ] == ["備份", "資料庫"]


def test_other_spaces_do_not_affect_results(world, tmp_path):
    space = make(world, tmp_path / "s", MANY)
    queries = ("zeppelin", "part zeppelin", "zepelin", "somewhere named", "what zep")

    def asked():
        with world.context.db.read() as tx:
            return [
                [(hit.page_id, hit.sections) for hit in search_pages(tx, [space], query, 50).hits]
                for query in queries
            ]

    alone = asked()
    make(world, tmp_path / "other", {f"Zeppelin {n}": "A zeppelin in parts, somewhere." for n in range(60)})
    assert asked() == alone


@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_only_texts_of_matching_sections_are_read(world, tmp_path):
    """On SQLite the query fixes the join order; PostgreSQL plans by its statistics."""
    parts = {
        f"Page {n}": "\n\n".join(f"## Part {n} {k}\n\nWord w{n % 50}x and v{k}y." for k in range(40))
        for n in range(100)
    }
    space = make(world, tmp_path / "s", parts)
    with psycopg.connect(world.context.settings.database, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")

    def scans(tx) -> list[tuple[str, int]]:
        # A connection's counts can include its previous transactions, so only their increase counts.
        return tx.all(
            "SELECT relname, seq_scan FROM pg_stat_xact_user_tables"
            " WHERE schemaname = 'public' AND relname IN ('search_sections', 'search_pages') ORDER BY relname"
        )

    for query in ("w7x", "w7x v3y", "w7x v3y wrd "):
        with world.context.db.read() as tx:
            terms, scope = read_query(query).terms, store.open_scope(tx, [space])
            before = scans(tx)
            assert store.match(tx, scope, terms, every=False, limit=1000).rows
            assert store.match_most(tx, scope, [(term, 1) for term in terms], limit=100)
            assert scans(tx) == before, query


@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_a_prepared_statement_reads_no_list_of_all_sections(world, tmp_path):
    """PostgreSQL switches to a generic plan for statements that are run repeatedly. Such a plan must not
    look up the ids of all sections to find those after a given one."""
    space = make(world, tmp_path / "s", {f"Page {n}": f"Word w{n}x." for n in range(30)})
    url = world.context.settings.database
    with psycopg.connect(url, autocommit=True) as connection:
        # Enough rows to make such a plan look cheap; nothing else is read of them.
        connection.execute(
            """WITH made AS (INSERT INTO search_sections (space_id, page_id, version, heading, body)
                 SELECT %s, 'p' || n, 0, '', '' FROM generate_series(1, 20000) AS n RETURNING id)
               INSERT INTO search_index (section_id, words)
                 SELECT id, CAST('other_' || id || ' ' || repeat('x', 1500) AS tsvector) FROM made""",
            (space,),
        )
        connection.execute("VACUUM ANALYZE")

    def entries_read() -> int:
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE indexrelname = 'search_index_pkey'"
            ).fetchone()
        return int(row[0])

    before = entries_read()
    with world.context.db.read() as tx:
        terms, scope = read_query("w7x ").terms, store.open_scope(tx, [space])
        tx.one("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)")
        for _ in range(12):
            assert len(store.match(tx, scope, terms, every=True, limit=10).rows) == 1
        tx.one("SELECT pg_stat_force_next_flush()")
    assert entries_read() - before < 1000


def test_the_number_of_mistyped_words_does_not_affect_the_number_of_statements(world, tmp_path, monkeypatch):
    """On PostgreSQL each statement is costly, regardless of its query."""
    words = ["harbour", "zeppelin", "lantern", "compass", "railway", "meadow"]
    space = make(world, tmp_path / "s", {"Airships": " ".join(words)})
    asked = []
    with world.context.db.read() as tx:
        monkeypatch.setattr(
            tx, "all", lambda sql, all=tx.all, **given: asked.append(sql) or all(sql, **given)
        )

        def statements(number: int) -> int:
            asked.clear()
            query = " ".join(f"{word[:3]}{word[4:]}" for word in words[:number])
            assert search_pages(tx, [space], f"{query} ").hits
            return len(asked)

        assert len({statements(number) for number in (2, 4, 6)}) == 1
        monkeypatch.undo()


def test_a_title_with_the_word_ranks_above_a_longer_heading(world, tmp_path):
    space = make(
        world,
        tmp_path / "s",
        {
            "Reusable triggers": "Triggers that are used again.\n\n## `TimerBase`\n\nA timer to derive from.",
            "Timer and Scheduled Workflows": "When they run.\n\n### Timer trigger\n\nStarts a workflow.",
        },
    )
    with world.context.db.read() as tx:
        for query in ("timer", "timers ", "Timer"):
            hits = search_pages(tx, [space], query, 10).hits
            assert [hit.sections[0].heading for hit in hits] == ["Timer trigger", "TimerBase"], query
        for query in ("timerbase", "TimerBase", "timer base", "timerb"):
            assert search_pages(tx, [space], query, 10).hits[0].sections[0].heading == "TimerBase", query
