"""Translations through the API: a space that follows another one, with or without a model."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from model_server import ModelServer, world_with_model
from octavo.assistants.translations.learning import changed_by_people
from octavo.kit.db.tables import find_wrong
from octavo.kit.work.worker import Worker
from octavo.organization.spaces.purging import purge_spaces
from world import World

ORG = "/orgs/{organizationId}"
TRANSLATIONS = f"{ORG}/translations"


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.answer = shout
    return server


def shout(request: dict[str, Any]) -> str:
    """Model that translates into a made-up language, and leaves everything else unchanged."""
    texts = json.loads(re.search(r"<data>\n(.*)\n</data>", request["messages"][-1]["content"], re.S)[1])  # type: ignore[index]
    return json.dumps({name: loud(text) for name, text in texts.items()})


def loud(text: str) -> str:
    pieces = re.split(r"(<[^>]*>|&\w+;|https?://[^\s<>]+|\{[^}]*\})", text)
    return "".join(
        part if at % 2 else part.upper().translate(_OTHER_VOWELS) for at, part in enumerate(pieces)
    )


_OTHER_VOWELS = str.maketrans("AEIOU", "QXQXQ")


def sent(server: ModelServer) -> list[str]:
    """Return all texts that were sent to the model."""
    found: list[str] = []
    for request in server.requests:
        match = re.search(r"<data>\n(.*)\n</data>", request["messages"][-1]["content"], re.S)
        assert match is not None
        found += json.loads(match[1]).values()
    return found


def create(world: World, language: str = "fr", **more: Any) -> dict[str, Any]:
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": language, **more}
    made: dict[str, Any] = world.post("admin", world.home.path(TRANSLATIONS), body)
    return made


def work(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


def run(world: World, made: dict[str, Any]) -> dict[str, Any]:
    world.post("admin", f"{made['urls']['location']}/run")
    work(world)
    return get(world, made)


def get(world: World, made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = world.get("admin", made["urls"]["location"])
    return found


def pages(world: World, space: str) -> dict[str, Any]:
    """Return all pages of a space by id."""
    found: dict[str, Any] = {}
    waiting = world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    while waiting:
        page = waiting.pop()
        found[page["id"]] = page
        waiting += page.get("pages", [])
    return found


def markdown(world: World, space: str, page: str) -> str:
    found: str = world.get("admin", f"/spaces/{space}/content/page/{page}", params={"format": "markdown"})[
        "markdown"
    ]
    return found


def edit(world: World, space: str, **change: Any) -> Any:
    return world.post("admin", f"/spaces/{space}/content", {"changes": [change]})


def test_a_space_is_translated_and_follows_its_source(world: World, server: ModelServer) -> None:
    home = world.home["spaceId"]
    with world_with_model(world, server):
        made = create(world)
        assert made["status"] == "pending" and made["stats"]["runs"] == 0
        work(world)
        done = get(world, made)
        assert done["status"] == "completed" and done["untranslated"] == 0 and done["problems"] == [], done
        assert done["stats"]["runs"] == 1 and done["stats"]["totalWords"] > 0
        space = done["result"]["space"]
        assert world.get("admin", f"/spaces/{space}")["language"] == "fr"
        before, after = pages(world, home), pages(world, space)
        assert before.keys() == after.keys() and done["stats"]["latestPages"] == len(before)
        for page_id, page in after.items():
            assert page["title"] == loud(before[page_id]["title"]) and page.get("slug") == before[
                page_id
            ].get("slug")
        assert loud("Unpack it") in markdown(world, space, world.home["pageId"])
        revision = world.get("admin", f"/spaces/{space}/content")["id"]
        assert revision == done["result"]["revision"]

        # Nothing changed: nothing is requested or written.
        server.requests.clear()
        again = run(world, made)
        assert (
            server.requests == [] and again["result"] == done["result"] and again["stats"]["latestPages"] == 0
        )

        # One paragraph changed: only that is requested.
        text = markdown(world, home, world.home["pageId"])
        document = {"markdown": f"{text}\n\nA wholly new paragraph.\n"}
        edit(world, home, operation="update_page", page=world.home["pageId"], document=document)
        again = run(world, made)
        assert sent(server) == ["A wholly new paragraph."]
        assert again["stats"]["latestPages"] == 1 and again["stats"]["runs"] == 3
        assert loud("A wholly new paragraph.") in markdown(world, space, world.home["pageId"])
    with world.context.db.read() as tx:
        assert not list(find_wrong(tx, 10))


@pytest.mark.sqlite_first
def test_pages_are_added_moved_and_deleted_with_the_source(world: World, server: ModelServer) -> None:
    home = world.home["spaceId"]
    with world_with_model(world, server):
        made = create(world)
        work(world)
        space = made["result"]["space"]
        edit(
            world, home, operation="insert_page", title="Brand new", document={"markdown": "Some text here."}
        )
        own = edit(world, space, operation="insert_page", title="Our own", document={"markdown": "Nur hier."})
        edit(world, home, operation="delete_page", page=world.home["pageId"])
        run(world, made)
    titles = {page["title"] for page in pages(world, space).values()}
    assert loud("Brand new") in titles and "Our own" in titles and own
    assert world.home["pageId"] not in pages(world, space)


@pytest.mark.sqlite_first
def test_without_a_model_the_source_text_is_kept_and_reported(world: World) -> None:
    made = create(world)
    work(world)
    done = get(world, made)
    assert done["status"] == "completed" and done["untranslated"] > 0
    assert "No language model is configured" in done["notice"]
    page = world.home["pageId"]
    assert markdown(world, done["result"]["space"], page) == markdown(world, world.home["spaceId"], page)


@pytest.mark.sqlite_first
def test_translations_by_people_are_remembered_and_kept(world: World, server: ModelServer) -> None:
    home, page = world.home["spaceId"], world.home["pageId"]
    edit(
        world,
        home,
        operation="update_page",
        page=page,
        document={"markdown": "# Hello\n\nFirst words here.\n\nSecond words here.\n"},
    )
    with world_with_model(world, server):
        made = create(world)
        work(world)
        space = made["result"]["space"]
        text = markdown(world, space, page).replace(loud("Second words here."), "Les mots suivants.")
        edit(world, space, operation="update_page", page=page, document={"markdown": text})
        document = {"markdown": "# Hello\n\nFirst words changed.\n\nSecond words here.\n"}
        edit(world, home, operation="update_page", page=page, document=document)
        run(world, made)
        assert "Les mots suivants." in markdown(world, space, page)
        assert loud("First words changed.") in markdown(world, space, page)
        # And in other spaces as well.
        other = world.post("admin", world.home.path(f"{ORG}/spaces"), {"title": "Other"})["id"]
        edit(world, other, operation="insert_page", title="Hi", document={"markdown": "Second words here."})
        body = {"source": {"space": other, "language": "en"}, "language": "fr"}
        second = world.post("admin", world.home.path(TRANSLATIONS), body)
        work(world)
        (only,) = pages(world, second["result"]["space"])
        assert "Les mots suivants." in markdown(world, second["result"]["space"], only)


BLOCKS = "# Hello\n\nFirst words here.\n\nSecond words here.\n\nThird words here.\n"


def translated(world: World, text: str = BLOCKS) -> tuple[dict[str, Any], str, str, str]:
    """Return a translation after its first run: translation, source, copy, and page."""
    home, page = world.home["spaceId"], world.home["pageId"]
    edit(world, home, operation="update_page", page=page, document={"markdown": text})
    made = create(world)
    work(world)
    return made, home, made["result"]["space"], page


def put(world: World, space: str, page: str, *changes: tuple[str, str]) -> None:
    """Replace words of a page."""
    text = markdown(world, space, page)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    edit(world, space, operation="update_page", page=page, document={"markdown": text})


def test_edits_by_people_survive_source_changes(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made, home, space, page = translated(world)
        added = f"{loud('First words here.')}\n\nUne remarque pour nos lecteurs."
        put(world, space, page, (loud("First words here."), added), (loud("Third words here."), "Le reste."))
        fields = {"title": "Bonjour", "icon": "star", "description": "Ce que nous disons."}
        edit(world, space, operation="update_page", page=page, **fields)
        put(world, home, page, ("Second words", "Other words"))
        edit(world, home, operation="update_page", page=page, title="Hello all")
        done = run(world, made)
        text = markdown(world, space, page)
        wanted = ["Une remarque pour nos lecteurs.", "Le reste.", loud("Other words here.")]
        assert [part for part in wanted if part not in text] == [] and loud("Second words") not in text
        shown = pages(world, space)[page]
        assert (shown["title"], shown["icon"]) == ("Bonjour", "star")
        assert shown["description"] == "Ce que nous disons."
        # The title was changed on both sides: people's title stays, which every run reports until they change it.
        assert [problem["code"] for problem in done["problems"]] == ["kept_by_people"]
        assert (
            "Hello all" in done["problems"][0]["message"]
            or loud("Hello all") in done["problems"][0]["message"]
        )
        assert run(world, made)["problems"][0]["message"].startswith("“Hello all”")
        edit(world, space, operation="update_page", page=page, title="Bonjour à tous")
        assert run(world, made)["problems"] == []
        assert pages(world, space)[page]["title"] == "Bonjour à tous"
    with world.context.db.read() as tx:
        assert not list(find_wrong(tx, 10))


@pytest.mark.sqlite_first
def test_texts_changed_by_people_and_the_source_keep_the_edit_with_a_report(
    world: World, server: ModelServer
) -> None:
    with world_with_model(world, server):
        made, home, space, page = translated(world)
        put(world, space, page, (loud("Second words here."), "Les mots suivants."))
        put(world, home, page, ("Second words here.", "Second words, said anew."))
        for _ in range(2):
            done = run(world, made)
            assert "Les mots suivants." in markdown(world, space, page)
            assert [problem["code"] for problem in done["problems"]] == ["kept_by_people"]
        with world.context.db.read() as tx:
            known = dict(tx.all("SELECT source, target FROM translation_memory WHERE origin = 'person'"))
        assert known == {"Second words here.": "Les mots suivants."}, "nobody said that of the new text"
        put(world, space, page, ("Les mots suivants.", "Les mots, redits."))
        assert run(world, made)["problems"] == []
        with world.context.db.read() as tx:
            known = dict(tx.all("SELECT source, target FROM translation_memory WHERE origin = 'person'"))
        assert known["Second words, said anew."] == "Les mots, redits."


@pytest.mark.sqlite_first
def test_pages_that_people_changed_or_removed_follow_by_the_same_rules(
    world: World, server: ModelServer
) -> None:
    with world_with_model(world, server):
        made, home, space, page = translated(world)
        edit(world, home, operation="insert_page", title="Second", document={"markdown": "Some text."})
        edit(world, home, operation="insert_page", title="Third", document={"markdown": "More text."})
        run(world, made)
        ids = {shown["title"]: id for id, shown in pages(world, space).items()}
        second, third = ids[loud("Second")], ids[loud("Third")]
        put(world, space, second, (loud("Some text."), "Du texte."))
        edit(world, space, operation="delete_page", page=third)
        run(world, made)
        assert third not in pages(world, space), "what people removed is not put back"
        edit(world, home, operation="delete_page", page=second)
        put(world, home, third, ("More text.", "Much more text."))
        done = run(world, made)
        assert {second, third} <= pages(world, space).keys()
        assert len(done["problems"]) == 2
        assert {problem["code"] for problem in done["problems"]} == {"kept_by_people"}


def test_similar_texts_of_the_memory_have_a_score(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made, _, space, page = translated(
            world, "# Hello\n\nExport the `page` as a PDF file.\n\nSomething wholly different, that.\n"
        )
        put(world, space, page, (loud("Something wholly different, that."), "Toute autre chose."))
        run(world, made)

    def near(text: str, who: str = "admin") -> Any:
        return world.call(who, "GET", f"{made['urls']['location']}/matches", params={"text": text})

    (match,) = near("Export a page as a PDF file").json()["items"]
    assert match["source"] == "Export the … as a PDF file."
    assert match["translation"].startswith(loud("Export the")) and match["origin"] == "machine"
    assert 0.5 <= match["score"] < 1
    (match,) = near("Something wholly different, that.").json()["items"]
    assert (match["score"], match["translation"], match["origin"]) == (1, "Toute autre chose.", "person")
    assert near("Nothing of the kind was ever said").json() == {"items": []}
    assert near("? !").json() == {"items": []} and near("").status_code == 400
    assert near("x", "reader").status_code == 403

    # Translations for a space that the caller can't see aren't shown.
    other = world.post("admin", world.home.path(f"{ORG}/spaces"), {"title": "Closed"})["id"]
    edit(
        world,
        other,
        operation="insert_page",
        title="Hi",
        document={"markdown": "The merger is secret still."},
    )
    assert world.call("admin", "PATCH", f"/spaces/{other}", json={"defaultLevel": None}).is_success
    with world_with_model(world, server):
        body = {"source": {"space": other, "language": "en"}, "language": "fr"}
        world.post("admin", world.home.path(TRANSLATIONS), body)
        work(world)
    assert near("The merger is secret").json()["items"]
    assert near("The merger is secret", "editor").json() == {"items": []}


@pytest.mark.sqlite_first
def test_changing_formality_translates_again(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made, *_ = translated(world)
        assert made["formality"] == "default"
        server.requests.clear()
        body = {"instructions": {"nodes": []}, "formality": "formal"}
        path = made["urls"]["location"]
        assert world.call("admin", "PUT", path, json=body).json()["formality"] == "formal"
        assert run(world, made)["untranslated"] == 0
        assert "Second words here." in sent(server)
        assert all("formally" in request["messages"][1]["content"] for request in server.requests)
        server.requests.clear()
        run(world, made)
        assert server.requests == []
    # Another style is no reason to return to the source language.
    assert world.call("admin", "PUT", path, json={**body, "formality": "informal"}).is_success
    assert run(world, made)["untranslated"] == 0
    answer = world.call("admin", "PUT", path, json={**body, "formality": "rude"})
    assert answer.status_code == 400 and "formality" in answer.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_a_changed_glossary_term_retranslates_its_texts(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made, *_ = translated(world)
        server.requests.clear()
        words = {"operations": [{"type": "insert", "translations": {"en": "second", "fr": "deuxième"}}]}
        path = world.home.path(f"{ORG}/translations-glossary")
        assert world.call("admin", "PUT", path, json=words).is_success
        run(world, made)
        assert sent(server) == ["Second words here."]


GERMAN = "Das ist eine Übersetzung, die zwar gut aussieht, aber in der falschen Sprache ist und nicht passt."


@pytest.mark.parametrize(
    "said",
    [
        GERMAN,
        "Это совсем другой язык, чем тот, который нужен.",
        "同一句話用另一種語言說出來，沒有人看得懂這個。",
    ],
)
def test_a_translation_into_another_language_is_refused(
    sqlite_world: World, server: ModelServer, said: str
) -> None:
    world = sqlite_world

    def answer(request: dict[str, Any]) -> str:
        found = json.loads(shout(request))
        return json.dumps({name: said if "SXCXND" in text else text for name, text in found.items()})

    server.answer = answer
    with world_with_model(world, server):
        made, _, space, page = translated(world)
    done = get(world, made)
    assert "Second words here." in markdown(world, space, page) and done["untranslated"] == 1
    assert "wrong language" in done["problems"][0]["message"]
    assert sent(server).count("Second words here.") == 2


def test_urls_and_placeholders_have_no_language(sqlite_world: World, server: ModelServer) -> None:
    world = sqlite_world
    address = "https://example.com/a/long/address/of/a/page"
    text = f"Watch: {address} {{of_your_own}}\n\n{address}\n"
    edit(
        world,
        world.home["spaceId"],
        operation="update_page",
        page=world.home["pageId"],
        document={"markdown": text},
    )

    def answer(request: dict[str, Any]) -> str:
        texts = json.loads(shout(request))
        return json.dumps({name: text.replace("WQTCH", "観る") for name, text in texts.items()})

    server.answer = answer
    with world_with_model(world, server):
        made = create(world, "ja")
        work(world)
    shown = markdown(world, made["result"]["space"], world.home["pageId"])
    assert f"観る: <{address}> {{of_your_own}}" in shown
    assert all(address not in problem["message"] for problem in get(world, made)["problems"])
    assert address not in {re.sub(r"<[^>]*>", "", each) for each in sent(server)}


@pytest.mark.sqlite_first
def test_a_text_broken_by_a_model_is_kept_and_reported(world: World, server: ModelServer) -> None:
    home, page = world.home["spaceId"], world.home["pageId"]
    document = {"markdown": "# Hello\n\nRun `make` with {name} now.\n\nOther words here.\n"}
    edit(world, home, operation="update_page", page=page, document=document)

    def broken(request: dict[str, Any]) -> str:
        answer = json.loads(shout(request))
        return json.dumps({name: text.replace("{name}", "{NAME}") for name, text in answer.items()})

    server.answer = broken
    with world_with_model(world, server):
        made = create(world)
        work(world)
    done = get(world, made)
    assert done["untranslated"] == 1 and done["notice"].startswith("1 text is still in the source language")
    assert [(each["code"], "{name}" in each["message"]) for each in done["problems"]] == [
        ("not_translated", True)
    ]
    text = markdown(world, done["result"]["space"], page)
    assert "Run `make` with {name} now." in text and loud("Other words here.") in text
    assert sum("{name}" in text for text in sent(server)) == 2


@pytest.mark.parametrize("garbage", ["no JSON", "[]", "{}", '{"1": 7}', '{"1": ""}'])
def test_invalid_responses_translate_nothing(sqlite_world: World, server: ModelServer, garbage: str) -> None:
    world = sqlite_world
    server.answer = lambda request: garbage
    with world_with_model(world, server, llm_daily_tokens=0):
        made = create(world)
        work(world)
    page = world.home["pageId"]
    done = get(world, made)
    assert done["status"] == "completed" and done["untranslated"] > 0 and done["problems"]
    assert all("doesn't contain a translation of this text" in each["message"] for each in done["problems"])
    assert markdown(world, done["result"]["space"], page) == markdown(world, world.home["spaceId"], page)


@pytest.mark.sqlite_first
def test_a_failing_provider_is_not_asked_again(world: World, server: ModelServer) -> None:
    server.failures = [(401, "no")] * 100
    with world_with_model(world, server):
        made = create(world)
        work(world)
        done = get(world, made)
        assert len(server.requests) == 1 and "status 401" in done["problems"][0]["message"]
        # The next run translates the rest.
        server.failures.clear()
        assert run(world, made)["untranslated"] == 0


@pytest.mark.sqlite_first
def test_glossary_and_instructions_reach_the_model(world: World, server: ModelServer) -> None:
    leaf = {"object": "leaf", "text": "Tutoyez le lecteur.", "marks": []}
    paragraph = {
        "object": "block",
        "type": "paragraph",
        "data": {},
        "nodes": [{"object": "text", "leaves": [leaf]}],
    }
    words = {"operations": [{"type": "insert", "translations": {"en": "install", "fr": "poser"}}]}
    assert world.call("admin", "PUT", world.home.path(f"{ORG}/translations-glossary"), json=words).is_success
    with world_with_model(world, server):
        create(world, instructions={"nodes": [paragraph]})
        work(world)
    told = " ".join(request["messages"][1]["content"] for request in server.requests)
    assert "install = poser" in told and "Tutoyez le lecteur." in told and "from English into French" in told


def test_a_run_can_be_canceled(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made = create(world)
        cancelled = world.post("admin", f"{made['urls']['location']}/cancel")
        assert cancelled["status"] == "completed" and cancelled["stats"]["runs"] == 0
        work(world)
        assert server.requests == [] and get(world, made)["notice"] == "The last run was cancelled."
        assert world.call("admin", "POST", f"{made['urls']['location']}/cancel").status_code == 400

        # In the middle: translations are in memory, the space is unchanged.
        def cancel_and_shout(request: dict[str, Any]) -> str:
            with world.context.db.write() as tx:
                tx.run("UPDATE translations SET run = NULL WHERE id = :id", id=made["id"])
            return shout(request)

        server.answer = cancel_and_shout
        stopped = run(world, made)
        assert stopped["stats"]["runs"] == 0 and stopped["result"] == made["result"]
        asked = set(sent(server))
        server.answer = shout
        server.requests.clear()
        assert run(world, made)["stats"]["runs"] == 1
        assert not asked & set(sent(server))


def test_a_new_run_replaces_a_running_one(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made = create(world)
        again = f"{made['urls']['location']}/run"

        def run_and_shout(request: dict[str, Any]) -> str:
            server.answer = shout
            world.post("admin", again)
            return shout(request)

        server.answer = run_and_shout
        world.post("admin", again)
        work(world)
        done = get(world, made)
        assert done["status"] == "completed" and done["stats"]["runs"] == 1 and done["untranslated"] == 0
        # The earlier run's translations aren't requested again.
        asked = sent(server)
        assert len(asked) == len(set(asked))


def test_permission_is_checked_when_a_run_ends(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made = create(world)
        with world.context.db.write() as tx:
            tx.run(
                "UPDATE members SET disabled = 1 WHERE user_id = :user AND organization_id = :org",
                user=world.users["admin"],
                org=world.home["organizationId"],
            )
        work(world)
    assert server.requests == []
    with world.context.db.read() as tx:
        notice = tx.value("SELECT notice FROM translations WHERE id = :id", id=made["id"])
    assert "failed" in notice


@pytest.mark.sqlite_first
def test_a_translation_has_the_audience_of_its_source(world: World) -> None:
    assert world.call(
        "admin", "PATCH", world.home.path("/spaces/{spaceId}"), json={"defaultLevel": None}
    ).is_success
    made = create(world)
    assert world.call("reader", "GET", f"/spaces/{made['result']['space']}").status_code == 404
    assert world.call("reader", "GET", made["urls"]["location"]).status_code == 404
    assert made["id"] not in {
        each["id"] for each in world.get("reader", world.home.path(TRANSLATIONS))["items"]
    }


@pytest.mark.sqlite_first
def test_a_deleted_source_is_not_translated(world: World) -> None:
    made = create(world)
    assert world.call("admin", "DELETE", world.home.path("/spaces/{spaceId}")).status_code == 205
    assert world.call("admin", "POST", f"{made['urls']['location']}/run").status_code == 404
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "it"}
    assert world.call("admin", "POST", world.home.path(TRANSLATIONS), json=body).status_code == 404
    work(world)
    assert "failed" in get(world, made)["notice"]


def test_a_purged_source_leaves_nothing(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        made = create(world)
        work(world)
    with world.context.db.write() as tx:
        named = tx.all("SELECT body FROM translated_parts WHERE body IS NOT NULL")
        tx.run("DELETE FROM site_spaces")
        tx.run("UPDATE spaces SET deleted_at = 1 WHERE id = :id", id=world.home["spaceId"])
    purge_spaces(world.context)
    with world.context.db.read() as tx:
        assert tx.one("SELECT 1 FROM translations WHERE id = :id", id=made["id"]) is None
        assert named and set(named) <= set(tx.all("SELECT hash FROM unused WHERE kind = 'text'"))
        assert not list(find_wrong(tx, 10))
    assert pages(world, made["result"]["space"])


@pytest.mark.sqlite_first
def test_deleting_a_translation_keeps_the_space(world: World) -> None:
    made = create(world)
    work(world)
    assert world.call("admin", "DELETE", made["urls"]["location"]).status_code == 205
    assert world.call("admin", "DELETE", made["urls"]["location"]).status_code == 204
    assert pages(world, made["result"]["space"])
    with world.context.db.read() as tx:
        assert not list(find_wrong(tx, 10))


@pytest.mark.parametrize(
    ("change", "field", "status"),
    [
        ({"language": "xx"}, "language", 400),
        ({"language": "en"}, "language", 400),
        ({"language": "de"}, "language", 400),
        ({"language": None}, "language", 400),
        ({"source": None}, "source", 400),
        ({"source": {"space": "nothing", "language": "en"}}, "nothing", 404),
        ({"source": {"space": "nothing", "language": "xx"}}, "source.language", 400),
        ({"formality": "rude"}, "formality", 400),
        ({"instructions": {"nodes": 7}}, "instructions", 400),
        ({"instructions": "x"}, "instructions", 400),
        ({"instructions": []}, "instructions", 400),
    ],
)
def test_invalid_translations_name_the_field(
    sqlite_world: World, change: dict[str, Any], field: str, status: int
) -> None:
    world = sqlite_world
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr", **change}
    before = world.digest()
    answer = world.call("admin", "POST", world.home.path(TRANSLATIONS), json=body)
    assert answer.status_code == status and field in answer.json()["error"]["message"], answer.text
    assert world.digest() == before


def test_a_glossary_is_sorted_by_a_language(world: World) -> None:
    """Entries without a word in the language come last, also across pages."""
    path = world.home.path(f"{ORG}/translations-glossary")
    before = [one["id"] for one in world.get("admin", path)["items"]]
    words = [
        {"en": "wheel", "zh-tw": "車輪"},
        {"en": "axle"},
        {"en": "Bolt", "zh-tw": "螺栓"},
        {"zh-tw": "齒輪"},
    ]
    operations = [{"type": "insert", "translations": one} for one in words]
    operations += [{"type": "delete", "id": id} for id in before]
    answer = world.call("admin", "PUT", path, json={"operations": operations})
    assert answer.status_code == 204, answer.text
    found, page = [], None
    while len(found) < 9:
        query = {"orderBy": "en", "limit": 1, **({"page": page} if page else {})}
        listed = world.get("admin", path, params=query)
        assert listed["count"] == len(words)
        found += [one["translations"].get("en") for one in listed["items"]]
        page = listed.get("next", {}).get("page")
        if page is None:
            break
    assert found == ["axle", "Bolt", "wheel", None]
    assert world.call("admin", "GET", path, params={"orderBy": "klingon"}).status_code == 400


@pytest.mark.parametrize(
    "operations",
    [
        None,
        [{"type": "x"}],
        [{"type": "insert"}],
        [{"type": "insert", "translations": {}}],
        [{"type": "insert", "translations": {"xx": "y"}}],
        [{"type": "insert", "translations": {"en": "a\nb"}}],
        [{"type": "insert", "translations": {"en": "x" * 256}}],
        [{"type": "insert", "translations": {"en": ""}}],
        [{"type": "insert", "translations": {"en": "kept?"}}, {"type": "delete", "id": "nothing"}],
    ],
)
def test_an_invalid_glossary_changes_nothing(sqlite_world: World, operations: Any) -> None:
    before = sqlite_world.digest()
    path = sqlite_world.home.path(f"{ORG}/translations-glossary")
    answer = sqlite_world.call("admin", "PUT", path, json={"operations": operations})
    assert answer.status_code in (400, 404) and "operations" in answer.json()["error"]["message"], answer.text
    assert sqlite_world.digest() == before


def test_only_edits_of_people_are_remembered() -> None:
    assert changed_by_people(["a", "b", "c"], ["A", "B", "C"], ["A", "bee", "C"]) == {"b": "bee"}
    assert changed_by_people(["a", "b", "c"], ["A", "B", "C"], ["New", "A", "bee", "C"]) == {"b": "bee"}
    assert changed_by_people(["a", "b"], ["A", "B"], ["one", "two", "three"]) == {}
    assert changed_by_people(["a"], ["A", "B"], ["x"]) == {}


@pytest.mark.sqlite_first
def test_a_translation_in_the_trash_can_be_replaced(world: World) -> None:
    made = create(world)
    work(world)
    space = get(world, made)["result"]["space"]
    again = world.call(
        "admin",
        "POST",
        world.home.path(TRANSLATIONS),
        json={"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"},
    )
    assert again.status_code == 400
    assert world.call("admin", "DELETE", f"/spaces/{space}").status_code == 205
    other = create(world)
    work(world)
    assert get(world, other)["result"]["space"] != space
    listed = world.get("admin", world.home.path(TRANSLATIONS))["items"]
    assert [one["id"] for one in listed if one["language"] == "fr"] == [other["id"]]
    world.call("admin", "POST", f"/spaces/{space}/restore")
    assert [one["id"] for one in world.get("admin", world.home.path(TRANSLATIONS))["items"]].count(
        made["id"]
    ) == 0


@pytest.mark.sqlite_first
def test_a_space_with_translations_cannot_be_transferred(world: World) -> None:
    source = world.post("admin", world.home.path(f"{ORG}/spaces"), {"title": "Source"})["id"]
    body = {"source": {"space": source, "language": "en"}, "language": "de"}
    made = world.post("admin", world.home.path(TRANSLATIONS), body)
    work(world)
    other = world.post(
        "admin", "/orgs", {"title": "Elsewhere", "emailDomains": [], "type": "business", "useCase": "x"}
    )
    answer = world.call("admin", "POST", f"/spaces/{source}/transfer", json={"organization": other["id"]})
    assert answer.status_code == 412 and "de" in answer.json()["error"]["message"], answer.text
    assert get(world, made)["id"] == made["id"]
    assert world.call("admin", "DELETE", made["urls"]["location"]).status_code == 205
    answer = world.call("admin", "POST", f"/spaces/{source}/transfer", json={"organization": other["id"]})
    assert answer.status_code in (200, 201), answer.text
