"""Links to restricted pages from other texts show only their words."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfReader

from octavo.content.changes.store import find_state
from octavo.content.revisions.page_versions import list_pages
from octavo.kit.ids import new_id
from octavo.sites.printing.links import open_print
from revisions.test_restricted_elsewhere import (
    ADMINISTRATORS,
    CHANGE,
    SPACE,
    WORD,
    edit,
    find,
    insert,
    restrict,
    say,
    work,
)
from transfer.bringing_in import Imports, archive
from visiting import Visitor
from world import World

FILE = f"{WORD}-plans.md"


def text_with_links(page: str) -> str:
    """Return a text with all kinds of references to a page."""
    return f"""See [words]({FILE}), [by id](/pages/{page}), [section]({FILE}#{WORD}), [nothing](missing.md#{WORD}).

{{% content-ref url="{FILE}" %}}
[{FILE}]({FILE})
{{% endcontent-ref %}}

<a href="{FILE}" class="button primary">Press</a>

[mention](/pages/{page} "mention") and the end.
"""


def update(world: World, at: str, page: str, **fields: Any) -> None:
    edit(world, at, {"operation": "update_page", "page": page, **fields})


def read_differences(world: World, who: str, page: str) -> list[str]:
    path = world.home.path(f"{CHANGE}/changes")
    reads = [(path, {"limit": 100})]
    reads += [(f"{path}/page/{page}", {"format": format}) for format in ("markdown", "document")]
    return [world.call(who, "GET", path, params=params).text for path, params in reads]


@pytest.fixture
def secret(world: World) -> str:
    page = insert(world, SPACE, f"{WORD} plans", text=f"## {WORD}\n\nWords.\n")
    world.post("admin", world.home.path(f"{CHANGE}/update"))
    return page


def test_differences_show_links_to_a_restricted_page_as_their_words(world: World, secret: str) -> None:
    linking = insert(world, CHANGE, "Linking", text=f"* One\n* Two\n\n{text_with_links(secret)}")
    update(world, CHANGE, linking, document={"markdown": text_with_links(secret)})
    link = {"operation": "insert_link", "title": "Look", "target": {"kind": "page", "page": secret}}
    edit(world, CHANGE, link)
    assert all(secret in text or WORD in text for text in read_differences(world, "editor", linking)[1:])
    restrict(world, SPACE, ADMINISTRATORS, secret)
    for who in ("reader", "editor"):
        texts = read_differences(world, who, linking)
        for text in texts:
            assert secret not in text and WORD not in text and "missing.md" not in text, text
        for words in ("words", "by id", "section", "nothing", "Press", "and the end."):
            assert all(words in text for text in texts[1:]), words
    assert all(secret in text or WORD in text for text in read_differences(world, "admin", linking)[1:])


def test_differences_keep_links_that_their_reader_can_follow(world: World, secret: str) -> None:
    text = "[here](README.md#missing-section), [out](https://example.org/a), ![](missing.png)\n"
    linking = insert(world, CHANGE, "Linking", text=text)
    before = read_differences(world, "reader", linking)
    restrict(world, SPACE, ADMINISTRATORS, secret)
    assert read_differences(world, "reader", linking) == before
    assert "README.md#missing-section" in before[1] and "missing.png" in before[1]


def test_differences_of_fields_name_no_restricted_page(world: World, secret: str) -> None:
    target = {"kind": "page", "page": secret}
    edit(world, CHANGE, {"operation": "insert_link", "title": "Look", "target": target})
    for links in (f"\n  canonical: /pages/{secret}", f"\n  alternates:\n    - {FILE}\n    - README.md"):
        text = f"---\nmetaLinks:{links}\n---\n\n# Sample\n\nWords.\n"
        update(world, CHANGE, world.home["pageId"], document={"markdown": text})
        path = world.home.path(f"{CHANGE}/changes")
        restrict(world, SPACE, ADMINISTRATORS, secret)
        for who, sees in (("admin", True), ("editor", False)):
            text = world.call(who, "GET", path, params={"limit": 100}).text
            assert "metaLinks" in text
            assert (secret in text or FILE in text) == sees
        restrict(world, SPACE, [], secret)


@pytest.mark.parametrize("name", [FILE, f"{WORD}-plans", f"/{WORD}-plans", "{url}"])
def test_a_link_to_a_section_does_not_tell_the_id_of_a_restricted_page(
    world: World, secret: str, name: str
) -> None:
    """``name``: how the link names the page."""
    name = name.format(url=f"{world.context.settings.url}/s/{world.home['spaceId']}/{WORD}-plans")
    text = f"[a]({name}#{WORD}) and [b](never-there.md#{WORD})\n"
    pages = [insert(world, at, f"Linking {at[-5:]}", text=text) for at in (SPACE, CHANGE)]
    restrict(world, SPACE, ADMINISTRATORS, secret)
    for at, page in zip((SPACE, CHANGE), pages, strict=True):
        path = world.home.path(f"{at}/content/page/{page}")
        for who in ("editor", "reader"):
            assert secret not in str(world.get(who, path, params={"format": "document"})), who
        assert secret in str(world.get("admin", path, params={"format": "document"}))
        path = world.home.path(f"{at}/pages/{page}/live")
        assert secret not in world.call("editor", "GET", path).text


def test_conflicts_name_no_restricted_page(world: World, secret: str) -> None:
    page = insert(world, SPACE, "Moving", into=secret)
    other = insert(world, SPACE, "Other")
    restrict(world, SPACE, ADMINISTRATORS, secret)
    made = world.post("admin", world.home.path(f"{SPACE}/change-requests"), {"subject": "Move"})
    world.home.ids["changeRequestId"] = made["id"]
    update(world, CHANGE, page, into=None)
    update(world, SPACE, page, into=other)
    world.post("admin", world.home.path(f"{CHANGE}/update"))
    path = world.home.path(f"{CHANGE}/conflicts")
    (conflict,) = world.get("admin", path)["items"]
    assert secret in str(conflict)
    restrict(world, SPACE, [], page)
    assert world.call("editor", "GET", world.home.path(f"{SPACE}/content/page/{page}")).is_success
    assert secret not in world.call("editor", "GET", path).text
    assert world.get("editor", world.home.path(CHANGE))["conflicts"] == 0
    for choice in ({"choice": "base"}, {"choice": "theirs"}):
        answer = world.call("editor", "POST", f"{path}/{conflict['id']}/resolve", json=choice)
        assert answer.status_code == 404 and secret not in answer.text
    settled = world.post("admin", f"{path}/{conflict['id']}/resolve", {"choice": "theirs"})
    assert settled["conflicts"] == 0
    assert secret not in world.call("editor", "GET", path, params={"status": "all"}).text
    answer = world.call("editor", "POST", f"{path}/{conflict['id']}/reopen")
    assert answer.status_code == 404


def test_a_copy_of_a_template_does_not_name_a_restricted_page(world: World, secret: str) -> None:
    edit(
        world,
        SPACE,
        {"operation": "insert_link", "title": "Look", "target": {"kind": "page", "page": secret}},
        {
            "operation": "insert_link",
            "title": "Home",
            "target": {"kind": "page", "page": world.home["pageId"]},
        },
    )
    restrict(world, SPACE, ADMINISTRATORS, secret)
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Copy"})["id"]
    assert world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": "edit"}).is_success
    template = {"id": world.home["spaceId"], "params": {"contentRefs": {}}}
    body = {"subject": "Copy", "template": template}
    made = world.post("editor", f"/spaces/{space}/change-requests", body)
    with world.context.db.read() as tx:
        pages = list_pages(tx, find_state(tx, space, made["id"]))
    targets = {page.title: page.target for page in pages if page.kind == "link"}
    assert targets["Look"] == {"kind": "url", "url": ""}
    assert targets["Home"] is not None and targets["Home"]["page"] in {page.id for page in pages}


def test_a_text_does_not_tell_that_a_restricted_page_has_the_same(world: World) -> None:
    text = "# Pay\n\nKim: 100,000\n"
    page = insert(world, SPACE, "Pay", text=text)
    guess = insert(world, CHANGE, "Pay", text=text)
    restrict(world, SPACE, ADMINISTRATORS, page)
    shown = world.get("editor", world.home.path(f"{CHANGE}/content/page/{guess}"))
    path = world.home.path(f"{SPACE}/documents/{shown['documentId']}")
    assert world.call("editor", "GET", path).is_success
    restrict(world, SPACE, ADMINISTRATORS, find(world, "Pay").id)
    restrict(world, CHANGE, ADMINISTRATORS, guess)
    assert world.call("editor", "GET", path).status_code == 404


def test_a_template_is_not_filled_with_a_restricted_page(world: World, secret: str) -> None:
    restrict(world, SPACE, ADMINISTRATORS, secret)
    changes = world.home.path(f"{SPACE}/change-requests")

    def fill(page: str) -> tuple[int, str, int]:
        refs = {"openapi": {"kind": "page", "page": page}}
        body = {"subject": "Copy", "template": {"id": "api-reference", "params": {"contentRefs": refs}}}
        first = world.post("editor", changes, {"subject": "Before"})["number"]
        answer = world.call("editor", "POST", changes, json=body)
        last = world.post("editor", changes, {"subject": "After"})["number"]
        return answer.status_code, answer.text.replace(page, "ID"), last - first

    assert fill(secret) == fill(new_id())


def test_import_runs_leave_out_restricted_pages(world: World) -> None:
    imports = Imports(world)
    text = '<h1>Title</h1><a href="missing.html">there</a>'
    run = imports.files(("docs.zip", archive({f"{WORD}.html": text, "other.html": text})))
    assert len(run["pages"]) == len(run["problems"]) == 2 and WORD in str(run["problems"])
    page = next(one["id"] for one in run["pages"] if WORD in one["path"])
    visible = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{imports.space}/content", {"changes": [visible]})
    for who, sees in (("admin", True), ("editor", False)):
        reads = [imports.run(run["id"], who), world.get(who, imports.runs)]
        reads = reads[:1] if who == "admin" else reads
        for shown in reads:
            assert (page in str(shown)) == (WORD in str(shown)) == sees
            assert "other.html" in str(shown)
        assert reads[0]["progress"]["total"] == 1 + sees


@pytest.mark.parametrize("preview", [False, True])
@pytest.mark.parametrize("in_change", [False, True])
def test_import_runs_into_a_restricted_page_do_not_exist(
    world: World, preview: bool, in_change: bool
) -> None:
    imports = Imports(world)
    space = f"/spaces/{imports.space}"
    change = world.post("editor", f"{space}/change-requests", {})["id"] if in_change else None
    at = f"{space}/change-requests/{change}" if change else space
    insert = {"operation": "insert_page", "title": "Plans", "document": {"markdown": "Words.\n"}}
    world.post("editor", f"{at}/content", {"changes": [insert]})
    page = world.get("editor", f"{at}/content/pages")["pages"][-1]["id"]
    source = {"type": "file", "files": [imports.upload(f"{WORD}.html", f"<h1>{WORD}</h1>")]}
    target = {"page": page, **({"changeRequest": change} if change else {})}
    body = {"source": source, "target": {"space": imports.space, **target}, "preview": preview}
    run = world.post("editor", imports.runs, body)["id"]
    imports.work()
    shown = [imports.run(run), world.get("editor", imports.runs)]
    assert all(run in str(one) for one in shown) and preview == (WORD in str(shown[0].get("plan")))
    visible = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"{at}/content", {"changes": [visible]})
    left = world.get("editor", imports.runs)
    assert run not in str(left) and left["count"] == shown[1]["count"] - 1
    assert (
        run in str(world.get("admin", imports.runs)) and imports.run(run, "admin")["target"]["page"] == page
    )
    answers = [world.call("editor", "GET", f"{imports.runs}/{one}") for one in (run, new_id())]
    answers += [world.call("editor", "POST", f"{imports.runs}/{one}/cancel") for one in (run, new_id())]
    assert {answer.status_code for answer in answers} == {404} and WORD not in str(answers[0].text)


def test_import_runs_name_no_restricted_page_that_the_source_no_longer_has(world: World) -> None:
    imports = Imports(world)
    first = imports.files(
        ("p.zip", archive({"README.md": "# Start\n", f"{WORD}.md": f"# {WORD}\n", "b.md": "# B\n"}))
    )
    for title in (WORD, "B"):
        page = imports.page(title, "markdown")["id"]
        update = {"operation": "update_page", "page": page, "document": {"markdown": "By people.\n"}}
        world.post("editor", f"/spaces/{imports.space}/content", {"changes": [update]})
    key = imports.upload("p.zip", archive({"README.md": "# Start\n"}))
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}}
    run = world.post("editor", imports.runs, {**body, "update": first["id"]})["id"]
    imports.work()

    def problems(who: str) -> list[str]:
        return sorted(one["path"] for one in imports.run(run, who)["problems"])

    assert problems("editor") == ["b.md", f"{WORD}.md"]
    page = imports.page(WORD, "markdown")["id"]
    visible = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{imports.space}/content", {"changes": [visible]})
    assert problems("editor") == ["b.md"] and problems("admin") == ["b.md", f"{WORD}.md"]


def test_import_runs_count_no_restricted_page(world: World) -> None:
    imports = Imports(world)
    run = imports.files(("docs.zip", archive({"one.html": "<h1>One</h1>", "two.html": "<h1>Two</h1>"})))
    key = imports.upload("docs.zip", archive({"one.html": "<h1>One</h1>Z", "two.html": "<h1>Two</h1>Z"}))
    body = {"source": {"type": "file", "files": [key]}, "target": {"space": imports.space}}
    again = world.post("editor", imports.runs, {**body, "update": run["id"]})["id"]
    imports.work()
    assert imports.run(again)["changes"]["updated"] == 2
    page = imports.page("Two", "markdown")["id"]
    visible = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{imports.space}/content", {"changes": [visible]})
    shown = imports.run(again)
    assert "changes" not in shown and shown["progress"] == {"done": 1, "total": 1}
    assert imports.run(again, "admin")["changes"]["updated"] == 2


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_comments_show_links_to_a_restricted_page_as_their_words(world: World, secret: str, at: str) -> None:
    page, comments = world.home["pageId"], world.home.path(f"{at}/comments")
    text = f"[words](/pages/{secret}), [other](/pages/{page}), [out](https://example.org/a)"
    thread = say(world, at, page, text)
    say(world, at, page, text, reply=thread)
    restrict(world, SPACE, ADMINISTRATORS, secret)
    for path in (comments, f"{comments}/{thread}", f"{comments}/{thread}/replies"):
        for format in ("markdown", "document"):
            for who, sees in (("admin", True), ("reader", False), ("editor", False)):
                shown = world.call(who, "GET", path, params={"format": format, "limit": 100}).text
                assert (secret in shown) == sees, (who, path)
                assert "words" in shown and f"/pages/{page}" in shown and "example.org/a" in shown


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_comments_show_mentions_to_people_who_cannot_see_every_page(
    world: World, secret: str, at: str
) -> None:
    person, team = world.users["reviewer"], world.home["teamId"]
    members = world.home.path("/orgs/{organizationId}/teams/{teamId}/members")
    assert world.call("admin", "PUT", members, json={"add": [person]}).is_success
    say(world, at, world.home["pageId"], f'[a](/users/{person} "mention"), [b](/teams/{team} "mention").')
    comments = world.home.path(f"{at}/comments")

    def shown(format: str) -> str:
        return world.call("editor", "GET", comments, params={"format": format}).text

    before = [shown(format) for format in ("markdown", "document")]
    assert all(person in text and team in text for text in before)
    restrict(world, SPACE, ADMINISTRATORS, secret)
    for text, format in zip(before, ("markdown", "document"), strict=True):
        (one, *_), (other, *_) = (json.loads(found)["items"] for found in (text, shown(format)))
        assert one["body"] == other["body"]


def test_descriptions_show_links_to_a_restricted_page_as_their_words(world: World, secret: str) -> None:
    text = {"object": "text", "leaves": [{"object": "leaf", "text": "words", "marks": []}]}
    link = {
        "object": "inline",
        "type": "link",
        "data": {"ref": {"kind": "page", "page": secret}},
        "nodes": [text],
    }
    block = {"object": "block", "type": "paragraph", "nodes": [link]}
    body = {"description": {"object": "document", "nodes": [block]}}
    path = world.home.path(CHANGE)
    assert world.call("admin", "PATCH", path, json=body).is_success
    assert secret in world.call("editor", "GET", path).text
    restrict(world, SPACE, ADMINISTRATORS, secret)
    for who, sees in (("admin", True), ("editor", False)):
        shown = world.call(who, "GET", path).text
        assert (secret in shown) == sees and "words" in shown


def test_sites_show_no_url_of_a_restricted_page(sqlite_world: World) -> None:
    """People copy such URLs from the app."""
    world, visitor = sqlite_world, Visitor(sqlite_world.context)
    # Tests before this one can have left pages of a site with the same ID and version.
    world.context.db.caches.clear()
    page = insert(world, SPACE, f"{WORD} plans")
    app = f"{world.context.settings.url}/s/{world.home['spaceId']}"
    url, never = f"{app}/{WORD}-plans", f"{app}/{WORD}-never"
    links = f"[words]({url}), [more]({never}), [home]({app}), [out](https://example.org/a)\n"
    linking = insert(world, SPACE, "Linking", text=links)
    edit(world, SPACE, {"operation": "insert_link", "title": "Look", "target": {"kind": "url", "url": url}})
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    assert world.call("admin", "PATCH", site, json={"visibility": "public"}).is_success
    base = world.post("admin", f"{site}/publish")["urls"]["published"].partition("8001")[2]
    assert f"{WORD}-plans" in visitor.get(f"{base}linking").text
    restrict(world, SPACE, ADMINISTRATORS, page)
    for path in ("linking", "linking.md", "llms-full.txt", ""):
        assert WORD not in visitor.get(f"{base}{path}").text, path
    for path in ("linking", "linking.md"):
        shown = visitor.get(f"{base}{path}").text
        assert "words" in shown and "more" in shown and "https://example.org/a" in shown
    print_path = world.home.path(f"{SPACE}/pdf")
    token = world.get("reader", print_path, params={"page": linking})["url"].split("/~pdf/")[1].split("/")[0]
    open_print(world.context, token)
    work(world)
    opened = open_print(world.context, token)
    assert opened is not None and opened.file is not None
    pdf = PdfReader(BytesIO(world.context.files.read(opened.file.hash)))
    targets = str([note.get_object() for shown in pdf.pages for note in shown["/Annots"]])
    assert "example.org/a" in targets and WORD not in targets


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_lists_of_links_do_not_tell_restricted_pages_from_missing_ones(
    world: World, secret: str, at: str
) -> None:
    """The number of targets, their order, the counts, and the page tokens are the same."""
    restrict(world, SPACE, ADMINISTRATORS, secret)
    page, text = world.home["pageId"], f"[other](missing.md)\n\n{text_with_links(secret)}"

    def read(text: str) -> list[str]:
        change = {"operation": "update_page", "page": page, "document": {"markdown": text}}
        world.post("editor", world.home.path(f"{at}/content"), {"changes": [change]})
        lists = [f"{at}/links", f"{at}/content/page/{page}/links"]
        found = [links_of(world, "editor", path, limit) for path in lists for limit in (1, 100)]
        if at == CHANGE:
            found += [
                links_of(world, "editor", lists[0], 100, brokenContext=where)
                for where in ("space", "change-request")
            ]
        return found

    there = read(text)
    never = new_id()
    missing = read(text.replace(secret, never).replace(FILE, "never-plans.md"))
    assert there == [one.replace(never, secret).replace("never-plans.md", FILE) for one in missing]


def test_deleting_a_restricted_page_breaks_no_link_for_those_who_could_not_see_it(
    world: World, secret: str
) -> None:
    edit(
        world,
        SPACE,
        {
            "operation": "update_page",
            "page": world.home["pageId"],
            "document": {"markdown": text_with_links(secret)},
        },
    )
    restrict(world, SPACE, ADMINISTRATORS, secret)
    world.post("admin", world.home.path(f"{CHANGE}/update"))

    def broken(who: str) -> int:
        return int(world.get(who, world.home.path(f"{CHANGE}/links"))["stats"]["broken"]["changeRequest"])

    before = broken("editor"), broken("admin")
    edit(world, CHANGE, {"operation": "delete_page", "page": secret})
    assert broken("editor") == before[0] and broken("admin") > before[1]


def links_of(world: World, who: str, path: str, limit: int, **params: str) -> str:
    """Return all links of a list, its counts, and its page tokens."""
    found, token = [], ""
    while True:
        given = {"limit": limit, **({"page": token} if token else {}), **params}
        answer = world.get(who, world.home.path(path), params=given)
        targets = [(one["status"], one.get("targetReference", {})) for one in answer["items"]]
        items = [(status, target.get("kind"), target.get("url")) for status, target in targets]
        found.append((items, answer["count"], answer["stats"], answer.get("next")))
        token = answer.get("next", {}).get("page", "")
        if not token:
            return str(found)
