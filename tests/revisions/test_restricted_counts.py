"""Lists and counts of a site's findings, scores, questions, and topics reveal no restricted page."""

from __future__ import annotations

from typing import Any

from findings.test_scans import ScanScene
from insights.test_insights import Site
from octavo.assistants.questions.recording import record_answer
from octavo.assistants.questions.topics import assign_topics
from octavo.assistants.questions.types import AnswerPage, Asked
from octavo.kit.ids import new_id
from revisions.test_restricted_elsewhere import ADMINISTRATORS, SPACE, WORD, edit, insert, restrict
from world import URL, World

ON_SITES = [*ADMINISTRATORS, {"kind": "sites"}]


def titles(scene: ScanScene, who: str, kind: str) -> list[str]:
    return [one["title"] for one in scene.list(who, f"status=open&kind={kind}")]


def test_searches_find_only_pages_that_sites_show(sqlite_world: World) -> None:
    world, site, scene = sqlite_world, Site(sqlite_world), ScanScene(sqlite_world)
    page = insert(world, SPACE, f"{WORD} plans")
    queries = (f"{WORD} plans", "gherkins")
    for number in range(6):
        site.track(*(site.event("search_type_query", visitor=f"v{number}", query=query) for query in queries))
    scene.scan()
    assert titles(scene, "reader", "empty-search") == ["Search without results: gherkins"]
    restrict(world, SPACE, ADMINISTRATORS, page)
    scene.scan()
    found = ["Search without results: gherkins", f"Search without results: {WORD} plans"]
    assert sorted(titles(scene, "admin", "empty-search")) == found
    # Words of visitors can be those of a page that they saw before, or that only sites show.
    assert titles(scene, "reader", "empty-search") == []
    restrict(world, SPACE, ON_SITES, page)
    scene.scan()
    assert (
        titles(scene, "admin", "empty-search") == found[:1] and titles(scene, "reader", "empty-search") == []
    )


def test_a_link_on_a_restricted_page_does_not_count_for_unlinked_pages(sqlite_world: World) -> None:
    world, scene = sqlite_world, ScanScene(sqlite_world)
    target = insert(world, SPACE, "Lonely")
    edit(world, SPACE, {"operation": "update_page", "page": target, "hidden": True})
    page = insert(world, SPACE, f"{WORD} plans", text=f"[Lonely](/pages/{target})\n")
    scene.scan()
    assert titles(scene, "reader", "unlinked-page") == []
    restrict(world, SPACE, ADMINISTRATORS, page)
    scene.scan()
    assert len(titles(scene, "reader", "unlinked-page")) == 1
    restrict(world, SPACE, ON_SITES, page)
    scene.scan()
    assert titles(scene, "reader", "unlinked-page") == []


def test_scores_and_counts_leave_out_restricted_pages(sqlite_world: World) -> None:
    world, scene = sqlite_world, ScanScene(sqlite_world)

    def counts(who: str) -> list[Any]:
        health = world.get(who, f"{scene.site}/health")
        last = health["scan"]["id"]
        scan = world.get(who, f"{scene.site}/scans/{last}")
        listed = next(one for one in world.get(who, f"{scene.site}/scans")["items"] if one["id"] == last)
        stats = world.get(who, f"{scene.site}/stats/findings")
        areas = {area["area"]: (area["score"], area["open"]) for area in health["areas"]}
        for one in (listed, health["scan"]):
            assert one["findings"] == scan["findings"] and one.get("score") == scan.get("score")
        return [health["score"], areas, scan["findings"], stats["kinds"], stats["total"], health["open"]]

    page = insert(world, SPACE, "Secret plans", text="TODO: write this.\n\n![](elsewhere.png)\n\n[a](b.md)\n")
    restrict(world, SPACE, ADMINISTRATORS, page)
    scene.scan()
    before, of_admin = counts("reader"), counts("admin")
    restrict(world, SPACE, ON_SITES, page)
    scene.scan()
    assert counts("reader")[:2] == before[:2] and counts("reader")[3:] == before[3:]
    assert counts("admin")[0] < before[0] and counts("admin")[4] == of_admin[4] + 4
    assert sum(counts("reader")[2].values()) == 0 and sum(counts("admin")[2].values()) == 4
    health = world.get("reader", f"{scene.site}/health")
    assert len(health["trend"]) == 1 and "change" not in health and "score" not in health["scan"]
    restrict(world, SPACE, [], page)
    assert counts("reader")[0] == counts("admin")[0] < before[0]


def test_topics_count_no_restricted_page(world: World) -> None:
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    page = insert(world, SPACE, "Secret plans")
    space = world.home["spaceId"]

    def answer(question: str, *pages: str) -> None:
        asked = Asked(world.home["siteId"], "site", new_id())
        sources = [AnswerPage(space, id, "", "A page", 80) for id in pages]
        with world.context.db.write() as tx:
            record_answer(tx, world.context.settings, asked, question, "yes", [], sources)

    answer("Where can gherkins be bought in bulk?", world.home["pageId"])
    answer("How are gherkins exported to Norway?", world.home["pageId"], page)
    answer("Who pickles gherkins with mustard?", page)
    answer("Do gherkins expire?")
    assign_topics(world.context, world.home["siteId"])

    def topic(who: str) -> tuple[int, int]:
        (found,) = world.get(who, f"{site}/topics")["items"]
        return found["pages"], found["questions"]["total"]

    assert topic("admin") == topic("reader") == (2, 4)
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert topic("admin") == (2, 4) and topic("reader") == (1, 1)
    listed = str(world.get("reader", f"{site}/questions")["items"])
    assert "bulk" in listed and "mustard" not in listed and "Norway" not in listed and "expire" not in listed


def test_drafts_of_a_site_count_only_pages_that_the_caller_sees(world: World) -> None:
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    draft = world.home.path(f"{site}/site-spaces/{{siteSpaceId}}")
    assert world.call("admin", "PATCH", draft, json={"draft": True}).is_success
    other = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Other"})["id"]
    target = {"operation": "insert_page", "title": "Target", "document": {"markdown": "Words.\n"}}
    world.post("admin", f"/spaces/{other}/content", {"changes": [target]})

    def counts(who: str) -> tuple[int, int]:
        items = world.get(who, f"{site}/drafts")["items"]
        return next((one["pages"], one["linksElsewhere"]) for one in items if one["object"] == "site-space")

    before = counts("reader")
    page = insert(world, SPACE, "Secret plans", text=f"[there]({URL}/s/{other}/target)\n")
    added = counts("reader")
    assert added == (before[0] + 1, before[1] + 1)
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert counts("reader") == before
    # Publishing the draft doesn't show the page either.
    assert counts("admin")[0] == before[0]
    restrict(world, SPACE, ON_SITES, page)
    assert counts("reader") == before and counts("admin") == added


def test_search_counts_only_pages_that_the_caller_sees(world: World) -> None:
    """There are more matches than a search reads at once."""
    above = insert(world, SPACE, "Above")
    for into, number in ((None, 12), (above, 40)):
        page = {"operation": "insert_page", "document": {"markdown": "Gherkins.\n\n## More\n\nGherkins."}}
        place = {"into": into} if into else {}
        edit(
            world, SPACE, *({**page, **place, "title": f"Jar {place and 'below'} {n}"} for n in range(number))
        )
    tagged = {"tags": [{"tag": {"kind": "tag", "tag": "salty"}}]}
    edit(world, SPACE, {"operation": "update_page", "page": above, **tagged, "title": "Gherkins"})
    path = world.home.path(f"{SPACE}/search")

    def count(who: str, **more: str) -> tuple[int, bool]:
        found = world.get(who, path, params={"query": "gherkins", "limit": "5", **more})
        return found["count"], "countIsLowerBound" in found

    assert count("reader") == count("admin") == (53, False)
    restrict(world, SPACE, ADMINISTRATORS, above)
    assert count("reader") == (12, False) and count("admin") == (53, False)
    assert count("reader", tag="salty") == (0, False) and count("admin", tag="salty") == (1, False)
    assert count("reader", limit="100") == (12, False)


def test_search_corrects_a_word_that_only_hidden_pages_contain(world: World) -> None:
    """Otherwise, the other words are also corrected, which tells that hidden pages contain the word."""
    for number, word in enumerate(["Ordinary"] * 10 + ["Ordinarx"] * 3):
        page = {"operation": "insert_page", "document": {"markdown": f"{word} gherkins.\n"}}
        edit(world, SPACE, {**page, "title": f"{word} {number}"})
    above = insert(world, SPACE, "Above", text="Nothing.\n")
    restrict(world, SPACE, ADMINISTRATORS, above)

    def titles() -> list[str]:
        query = {"query": "ordinary gherkinz "}
        found = world.get("reader", world.home.path(f"{SPACE}/search"), params=query)["items"]
        return sorted(one["title"] for one in found)

    before = titles()
    assert len(before) == 10
    for number in range(4):
        insert(world, SPACE, f"Below {number}", above, text="Gherkinz.\n")
    assert titles() == before
