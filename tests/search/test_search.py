"""Search over the API and on sites: what is found, in what order, and what is never told."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.bringing import bring
from octavo.search.tokens import one_edit_away, words

PAGES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Deploying](deploy.md)\n* [Client](client.md)\n* [Café](cafe.md)\n* [日本](ja.md)\n",
    "README.md": "# Home\n\nAn introduction to configuration and to widgets.\n",
    "deploy.md": "# Deploying\n\nLead.\n\n## On Kubernetes\n\nRun the deployment with a manifest.\n\n## By hand\n\nCopy the archive.\n",
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
    return bring(world.context, str(folder), organization_id=world.home["organizationId"]).outcome.space


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


def test_phrases_are_phrases(world, space):
    assert titles(world, space, '"archive the copy"') == []


def test_it_is_fresh_at_once_and_forgets(world, space, tmp_path):
    files = {**PAGES, "deploy.md": "# Deploying\n\nNow with zeppelins.\n"}
    folder = write(tmp_path / "source", files)
    bring(world.context, str(folder), organization_id=world.home["organizationId"], space_id=space)
    assert titles(world, space, "zeppelins") == ["Deploying"]
    assert titles(world, space, "kubernetes") == []
    with world.context.db.read() as tx:
        gone = tx.value(
            "SELECT count(*) FROM search_words WHERE space_id = :s AND word = 'kubernetes'", s=space
        )
        assert gone == 0


def test_an_organization_is_searched_as_far_as_one_sees(world, space):
    path = world.home.path("/orgs/{organizationId}/search")
    seen = world.get("reader", path, params={"query": "kubernetes"})["items"]
    assert [item["id"] for item in seen] == [space]
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=space)
    hidden = world.get("reader", path, params={"query": "kubernetes"})
    assert (hidden["items"], hidden["count"]) == ([], 0)
    assert world.get("admin", path, params={"query": "kubernetes"})["count"] == 1


def test_pages_of_results(world, space):
    first = world.get("admin", f"/spaces/{space}/search", params={"query": "the", "limit": 1})
    assert len(first["items"]) == 1
    if first["count"] > 1:
        page = first["next"]["page"]
        second = world.get(
            "admin", f"/spaces/{space}/search", params={"query": "the", "limit": 1, "page": page}
        )
        assert second["items"][0]["id"] != first["items"][0]["id"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    query=st.text(max_size=60)
    | st.sampled_from(['"', "a OR b", "NEAR(", "*", "a*", "-x", "'", "\\", "🎉", "() & |", ":*"])
)
def test_no_query_is_an_error(world, query):
    answer = world.call("admin", "GET", world.home.path("/spaces/{spaceId}/search"), params={"query": query})
    assert answer.status_code == (400 if "\0" in query or len(query) > 512 else 200), answer.text


def test_words_of_identifiers():
    assert words("getUserById") == ["getuserbyid", "get", "user", "by", "id"]
    assert words("検索エ") == ["検索", "索エ"]
    assert "word" in one_edit_away("wrod")
