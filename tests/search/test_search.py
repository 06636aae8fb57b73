"""Tests of search through the API and on sites: results, their order, and hidden content."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.content.revisions.deriving import check_derived
from octavo.content.search import tokens
from octavo.content.search.computed import index_long_pages
from octavo.content.search.querying import SnippetPart, snippet
from octavo.content.search.tokens import WantedWords, WordMarker, one_edit_away, words
from octavo.operations.admin.import_export import import_space

PAGES = {
    "SUMMARY.md": (
        "* [Home](README.md)\n* [Deploying](deploy.md)\n* [Client](client.md)\n* [Café](cafe.md)\n"
        "* [日本](ja.md)\n"
    ),
    "README.md": "# Home\n\nAn introduction to configuration and to widgets.\n",
    "deploy.md": (
        "# Deploying\n\nLead.\n\n## On Kubernetes\n\nRun the deployment with a manifest.\n\n## By hand\n"
        "\nCopy the archive.\n"
    ),
    "client.md": "# Client\n\nCall `getUserById` or read user_settings from app.config.path.\n",
    "cafe.md": "# Café\n\nNaïve résumés are welcome here.\n",
    "ja.md": "# 日本\n\n検索エンジンは速いです。\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def space(world, tmp_path):
    folder = write(tmp_path / "source", PAGES)
    return import_space(
        world.context, str(folder), organization_id=world.home["organizationId"]
    ).outcome.space


def titles(world, space, query, who="admin"):
    found = world.get(who, f"/spaces/{space}/search", params={"query": query})
    return [item["title"] for item in found["items"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("deploying", "Deploying"),
        ("deployments", "Deploying"),
        ("kubernetes", "Deploying"),
        ("kuberntes", "Deploying"),
        ("manif", "Deploying"),
        ('"copy the archive"', "Deploying"),
        ("getUserById", "Client"),
        ("user by id", "Client"),
        ("user_settings", "Client"),
        ("app.config.path", "Client"),
        ("cafe", "Café"),
        ("naive resumes", "Café"),
        ("検索", "日本"),
        ("introduction widgets", "Home"),
        ("widgets nonexistentword", "Home"),
    ],
)
def test_known_items_come_first(world, space, query, first):
    assert titles(world, space, query)[:1] == [first]


def test_a_result_names_the_section_and_marks_its_path(world, space):
    item = world.get("admin", f"/spaces/{space}/search", params={"query": "kubernetes manifest"})["items"][0]
    assert item["path"] == "deploy"
    assert item["sections"][0]["path"] == "deploy#on-kubernetes"
    assert "manifest" in item["sections"][0]["body"]


def test_phrases_match_as_a_whole(world, space):
    assert titles(world, space, '"archive the copy"') == []


def test_a_long_text_is_found_by_new_words_after_a_job(world, space):
    """Editors do not wait for indexing."""
    pages = {
        page["title"]: page["id"] for page in world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    }

    def write(text):
        document = {"markdown": f"# Client\n\n{text}\n"}
        change = {"operation": "update_page", "page": pages["Client"], "document": document}
        world.post("admin", f"/spaces/{space}/content", {"changes": [change]})

    def check():
        with world.context.db.read() as tx:
            return check_derived(tx, space, ())

    long = "\n\n".join(f"## Part {n}\n\n{'filler ' * 20}" for n in range(100))
    write(f"{long}\n\nZeppelins.")
    write(f"{long}\n\nBalloons.")
    with world.context.db.read() as tx:
        waiting = tx.all("SELECT payload FROM jobs WHERE kind = 'indexLongPages'")
    assert len(waiting) == 1
    assert check() == []
    # Text that was removed from the page is not quoted.
    found = world.get("reader", f"/spaces/{space}/search", params={"query": "client"})
    assert ("Client", []) in [(one["title"], one["sections"]) for one in found["items"]]
    index_long_pages(world.context, space)
    found = world.get("reader", f"/spaces/{space}/search", params={"query": "filler"})
    assert found["items"][0]["sections"]
    assert titles(world, space, "balloons") == ["Client"]
    assert titles(world, space, "zeppelins") == []
    assert check() == []
    write("Short, with gliders.")
    assert titles(world, space, "gliders") == ["Client"]
    index_long_pages(world.context, space)
    assert titles(world, space, "balloons") == []
    assert check() == []


def test_the_index_is_current_immediately_and_forgets_deleted_pages(world, space, tmp_path):
    files = {**PAGES, "deploy.md": "# Deploying\n\nNow with zeppelins.\n"}
    folder = write(tmp_path / "source", files)
    import_space(world.context, str(folder), organization_id=world.home["organizationId"], space_id=space)
    assert titles(world, space, "zeppelins") == ["Deploying"]
    assert titles(world, space, "kubernetes") == []
    with world.context.db.read() as tx:
        gone = tx.value(
            "SELECT count(*) FROM search_words WHERE space_id = :s AND word = 'kubernetes'", s=space
        )
        assert gone == 0


def test_a_search_of_an_organization_only_covers_visible_spaces(world, space):
    path = world.home.path("/orgs/{organizationId}/search")
    seen = world.get("reader", path, params={"query": "kubernetes"})["items"]
    assert [item["id"] for item in seen] == [space]
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=space)
    hidden = world.get("reader", path, params={"query": "kubernetes"})
    assert (hidden["items"], hidden["count"]) == ([], 0)
    assert world.get("admin", path, params={"query": "kubernetes"})["count"] == 1


def test_results_are_paginated(world, space):
    first = world.get("admin", f"/spaces/{space}/search", params={"query": "the", "limit": 1})
    assert len(first["items"]) == 1
    if first["count"] > 1:
        page = first["next"]["page"]
        second = world.get(
            "admin", f"/spaces/{space}/search", params={"query": "the", "limit": 1, "page": page}
        )
        assert second["items"][0]["id"] != first["items"][0]["id"]


def test_results_contain_their_score_and_type_of_match(world, space):
    found = world.get("admin", f"/spaces/{space}/search", params={"query": "deploying"})["items"]
    assert [page["rank"] for page in found] == list(range(1, len(found) + 1))
    assert (found[0]["resultType"], found[0]["description"]) == ("page", "")
    assert found[0]["score"] == max(section["score"] for section in found[0]["sections"]) > 0
    by_text = world.get("admin", f"/spaces/{space}/search", params={"query": "archive"})["items"][0]
    assert (by_text["resultType"], by_text["sections"][0]["resultType"]) == ("section", "section")


def test_ranks_are_consistent_across_pages_and_spaces(world, space):
    path = f"/spaces/{space}/search"
    whole = world.get("admin", path, params={"query": "the page or deploying archive widgets"})["items"]
    assert len(whole) > 1
    ranks, page = [], {}
    while True:
        query = {"query": "the page or deploying archive widgets", "limit": 1, **page}
        answer = world.get("admin", path, params=query)
        ranks += [item["rank"] for item in answer["items"]]
        if "next" not in answer:
            break
        page = {"page": answer["next"]["page"]}
    assert ranks == list(range(1, len(whole) + 1))
    organization = world.home.path("/orgs/{organizationId}/search")
    spaces = world.get("admin", organization, params={"query": "deploying install"})["items"]
    assert {one["type"] for one in spaces} == {"space"}
    every = [page for one in spaces for page in one["pages"]]
    assert len({one["rank"] for one in every}) == len(every)
    best = sorted(every, key=lambda one: one["rank"])
    assert [one["score"] for one in best] == sorted((one["score"] for one in best), reverse=True)
    assert all(one["score"] == one["pages"][0]["score"] for one in spaces)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    query=st.text(max_size=60)
    | st.sampled_from(['"', "a OR b", "NEAR(", "*", "a*", "-x", "'", "\\", "🎉", "() & |", ":*"])
)
def test_no_query_is_an_error(world, query):
    answer = world.call("admin", "GET", world.home.path("/spaces/{spaceId}/search"), params={"query": query})
    assert answer.status_code == (400 if "\0" in query or len(query) > 512 else 200), answer.text


RANKED = {
    "SUMMARY.md": '* [Home](README.md)\n* [Workflow settings](variables.md "Variables")\n* [Usage](usage.md)\n'
    "* [Connections](connections.md)\n"
    "* [Wiring](wiring.md)\n* [Old wallets](wallets.md)\n* [Part 3](part.md)\n"
    "* [Shape of OpenAPI](shape.md)\n* [OpenAPI](openapi.md)\n"
    "* [Setting up Git Sync](setup.md)\n* [Git Sync](git.md)\n",
    "part.md": "# Zymurgy at home\n\nHow ale is made.\n",
    "shape.md": (
        "# Shape of OpenAPI\n\n## OpenAPI\n\nAn OpenAPI of OpenAPI: openapi, openapi and openapi.\n\n"
        "## OpenAPI files\n\nopenapi\n"
    ),
    "openapi.md": (
        "# OpenAPI\n\nDescriptions of interfaces that programs read, and much more text about what "
        "they are for.\n"
    ),
    "setup.md": (
        "# Setting up Git Sync\n\n## Git Sync\n\ngit sync, git sync: enable git sync here.\n\n"
        "## More Git Sync\n\ngit sync\n"
    ),
    "git.md": "# Git Sync\n\nBoth ways between a repository and a space, for everybody who writes.\n",
    "README.md": "# Home\n\nA variable here, a variable there: variable variable.\n\nSee `Acme.LockProvider`.\n",
    "variables.md": "# Workflow settings\n\nWhat is kept between steps.\n",
    "usage.md": "# Usage\n\nWords.\n\n## Variables\n\nEach variable has a name.\n",
    "connections.md": "# Connections\n\nHow to reach a service.\n",
    "wiring.md": "# Wiring\n\nA connection, and another connection, and connections.\n",
    "wallets.md": "# Old wallets\n\nWallet connection of before.\n",
}


@pytest.fixture
def ranked(world, tmp_path):
    folder = write(tmp_path / "ranked", RANKED)
    return import_space(
        world.context, str(folder), organization_id=world.home["organizationId"]
    ).outcome.space


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("variable", "Workflow settings"),  # another form of a title vs. the exact word in a text
        ("variables", "Workflow settings"),  # a title before a heading with the same text
        ("workflow settings", "Workflow settings"),  # title in navigation vs. title of the page
        ("connectoins", "Connections"),  # a corrected title counts as a title
        ("conections", "Connections"),
        ("reachhing services", "Connections"),  # a typing error in a form that no page has
        ("walet of before", "Old wallets"),
        ("wallet befor conection", "Old wallets"),
        ("lockprovider", "Home"),  # one part of a compound word
        ("settings frobnicate", "Workflow settings"),
        ("zymurgy", "Part 3"),  # only the first heading of the file has it
        ("zymurgy at home", "Part 3"),
        ("zymurgi", "Part 3"),
        ("openapi", "OpenAPI"),  # the page with that name before sections with that name
        ("git sync", "Git Sync"),
        ("Git sync ", "Git Sync"),
    ],
)
def test_most_relevant_page_comes_first(world, ranked, query, first):
    assert titles(world, ranked, query)[:1] == [first]


def test_other_spaces_do_not_crowd_out_this_one(world, space, tmp_path):
    """The best matches of all spaces are read first, and they may all be in other spaces."""
    crowd = {f"p{n}.md": f"# Kubernetes {n}\n\nkubernetes manifest\n" for n in range(140)}
    crowd["SUMMARY.md"] = "".join(f"* [Kubernetes {n}](p{n}.md)\n" for n in range(140))
    folder = write(tmp_path / "crowd", crowd)
    import_space(world.context, str(folder), organization_id=world.home["organizationId"])
    assert titles(world, space, "kubernetes manifest") == ["Deploying"]
    assert titles(world, space, "kuberntes manifest") == ["Deploying"]


def test_words_on_nearly_every_page_are_ignored(world, space, monkeypatch):
    """A word without meaning is ignored next to other words, and found if it is the whole query."""
    monkeypatch.setattr("octavo.content.search.querying._MANY_PAGES", 1)
    monkeypatch.setattr("octavo.content.search.querying._EVERYWHERE", 0.0)
    assert titles(world, space, "is kubernetes")[:1] == ["Deploying"]
    assert titles(world, space, "are welcome")[:1] == ["Café"]
    assert "Home" in titles(world, space, "to and")


def test_page_counts_follow_added_and_deleted_pages(world, space, tmp_path):
    def counted():
        with world.context.db.read() as tx:
            return tx.value("SELECT pages FROM search_words WHERE space_id = :s AND word = ''", s=space)

    assert counted() == len(PAGES) - 1
    files = {name: text for name, text in PAGES.items() if name != "ja.md"}
    files["SUMMARY.md"] = files["SUMMARY.md"].replace("* [日本](ja.md)\n", "")
    folder = write(tmp_path / "fewer", files)
    import_space(world.context, str(folder), organization_id=world.home["organizationId"], space_id=space)
    assert counted() == len(PAGES) - 2


def test_a_snippet_surrounds_its_match():
    body = f"{'before ' * 100}the Manifests lie {'after ' * 100}manifest"
    parts = snippet(body, WordMarker(WantedWords(frozenset(["manifest"]))))
    assert [part.text for part in parts if part.marked] == ["Manifests"]
    assert (parts[0].text, parts[-1].text) == ("…", "…")
    assert 100 < sum(len(part.text) for part in parts) < 200
    assert snippet("nothing of it", WordMarker(WantedWords(frozenset(["manifest"])))) == (
        SnippetPart("nothing of it"),
    )


def test_identifiers_are_split_into_words():
    assert words("user.getById") == ["usergetbyid", "user", "getbyid", "get", "by", "id"]
    assert words("Café") == ["cafe"]
    assert words("user's Straße") == ["user", "strasse"]
    assert words("getUserById") == ["getuserbyid", "get", "user", "by", "id"]
    assert words("検索エ") == ["検索", "索エ"]
    assert "word" in one_edit_away("wrod")


def test_a_repeated_word_is_split_once(monkeypatch):
    cut = []
    part = tokens._parts
    monkeypatch.setattr(tokens, "_parts", lambda token: cut.append(token) or part(token))
    tokens._known_words.cache_clear()
    first = words("user.getById and user.getById")
    first.clear()  # Callers are allowed to do this.
    assert words("user.getById") == ["usergetbyid", "user", "getbyid", "get", "by", "id"]
    assert cut == ["user.getById"]


def test_overlong_words_are_not_indexed():
    tokens._known_words.cache_clear()
    assert words("long" * 100) == ["long" * 16]
    assert tokens._known_words.cache_info().currsize == 0


def test_a_phrase_in_quotation_marks_ranks_whole_matches_first(world, tmp_path):
    pages = {
        "README.md": "# Home\n\nWords.\n",
        "titled.md": "# Deployment keys\n\n## Keys of a deployment\n\nDeploying key after key, deploying keys.\n",
        "said.md": "# Elsewhere\n\nA long text about many things, in which somebody has to deploy key by key.\n",
        "forms.md": "# Deploying keys\n\nDeployed keys.\n",
    }
    summary = "".join(f"* [{text[2:].partition(chr(10))[0]}]({name})\n" for name, text in pages.items())
    folder = write(tmp_path / "phrases", {"SUMMARY.md": summary, **pages})
    space = import_space(
        world.context, str(folder), organization_id=world.home["organizationId"]
    ).outcome.space
    assert titles(world, space, '"deploy key by key"') == ["Elsewhere"]
    assert titles(world, space, '"deploy key"')[0] == "Elsewhere"
    assert titles(world, space, "deploy key")[0] != "Elsewhere"


RIGHT_TO_LEFT = {
    "ar": (
        "صيغة القالب",
        "قالب",
        ["القالب", "بالقالب", "للقالب", "والقالب"],
        "قواعد عامة",
        "هذه الصفحة عن القوالب والقالب والصيغ.",
    ),
    "he": (
        "תחביר התבנית",
        "תבנית",
        ["התבנית", "בתבנית", "לתבנית", "והתבנית"],
        "כללים",
        "הדף הזה על התבנית ועל תחביר.",
    ),
}


@pytest.mark.parametrize("language", RIGHT_TO_LEFT)
def test_articles_and_prefixes_do_not_hide_a_word(world, tmp_path, language):
    title, word, forms, other, text = RIGHT_TO_LEFT[language]
    pages = {"README.md": f"# {other}\n\n{text}\n", "one.md": f"# {title}\n\n{text}\n"}
    pages |= {f"p{n}.md": f"# {other} {n}\n\n{word} {text}\n" for n in range(20)}
    folder = write(tmp_path / "source", pages)
    space = import_space(
        world.context, str(folder), organization_id=world.home["organizationId"]
    ).outcome.space
    for query in (word, *forms):
        assert titles(world, space, query)[0] == title, query
