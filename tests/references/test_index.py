"""References: their resolution, updates, visibility, and cost."""

import pytest

from changes.working import insert, update
from octavo.content.references.index import derive_delta
from octavo.content.revisions import bodies
from octavo.content.revisions.deriving import MainUpdate, check_derived
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.content.revisions.store import Changes
from octavo.core.document import blocks, reader
from octavo.core.links import app_hosts
from octavo.operations.admin.import_export import import_space

FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guides/README.md)\n  * [Start](guides/start.md)\n"
    "* [Away](https://example.org/away)\n",
    "README.md": "# Home\n\nAn introduction.\n\n## Why\n\nBecause.\n",
    "guides/README.md": "# Guide\n\n## First steps\n\nWalk.\n",
    "guides/start.md": "# Start\n\nSee [home](../README.md).\n",
    ".gitbook/assets/plan.pdf": "plan",
    ".gitbook/includes/help.md": "---\ntitle: Help\n---\n\n## Ask us\n\nAsk in the [guide](../../guides/README.md).\n",
}


def made(world, tmp_path, files=FILES):
    for name, text in files.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return import_space(
        world.context, str(tmp_path / "source"), organization_id=world.home["organizationId"]
    ).outcome.space


class Linked:
    """Space of home to which its administrator writes."""

    def __init__(self, world, tmp_path, files=FILES):
        self.world = world
        self.id = made(world, tmp_path, files)
        self.path = f"/spaces/{self.id}"

    def page(self, title, change=None):
        where = f"{self.path}/change-requests/{change}" if change else self.path
        waiting = self.world.get("admin", f"{where}/content/pages")["pages"]
        while waiting:
            page = waiting.pop()
            if page["title"] == title:
                return page["id"]
            waiting += page.get("pages", [])
        raise LookupError(title)

    def edit(self, *changes, change=None):
        where = f"{self.path}/change-requests/{change}" if change else self.path
        return self.world.post(
            "admin", f"{where}/content", {"changes": list(changes)}, params={"compat": "false"}
        )

    def write(self, title, text, change=None):
        page = self.page(title, change)
        self.edit(update(page, document={"markdown": f"# {title}\n\n{text}\n"}), change=change)
        return page

    def links(self, of=None, who="admin", change=None, **query):
        where = f"{self.path}/change-requests/{change}" if change else self.path
        inner = f"/content/page/{of}" if of else ""
        return self.world.get(who, f"{where}{inner}/links", params=query)

    def only(self, of, **options):
        """Return the status and target of a page's only reference."""
        items = self.links(of, **options)["items"]
        assert len(items) == 1, items
        return items[0]["status"], items[0].get("targetReference")

    def backlinks(self, kind, id, who="admin", change=None, **query):
        where = f"{self.path}/change-requests/{change}" if change else self.path
        return self.world.get(who, f"{where}/content/{kind}/{id}/backlinks", params=query)

    def create_change(self):
        return self.world.post("admin", f"{self.path}/change-requests", {"subject": "Try"})["id"]


@pytest.fixture
def linked(world, tmp_path):
    return Linked(world, tmp_path)


def rows(world, space):
    with world.context.db.read() as tx:
        found = tx.all("SELECT * FROM content_references WHERE space_id = :space", space=space)
    return {row[:3]: row for row in found}


# --- kinds ----------------------------------------------------------------------------------------------


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("[x](guides/start.md)", "ok", "page"),
        ("[x](guides/)", "ok", "page"),
        ("[x](guides/start)", "ok", "page"),
        ("[x](guides/README.md#first-steps)", "ok", "page"),
        ("[x](guides/README.md#no-such-steps)", "broken", "page"),
        ("[x](#why)", "broken", "page"),
        ("[x](nowhere.md)", "broken", "url"),
        ("[x](broken-reference)", "broken", "url"),
        ("[x](.gitbook/assets/plan.pdf)", "ok", "file"),
        ('{% file src=".gitbook/assets/plan.pdf" %}', "ok", "file"),
        ("![](.gitbook/assets/missing.png)", "broken", "url"),
        ("![](https://example.org/a.png)", "ok", "url"),
        ('{% include ".gitbook/includes/help.md" %}', "ok", "reusable-content"),
        ('{% include ".gitbook/includes/gone.md" %}', "broken", "url"),
        ('{% embed url="https://example.org/film" %}', "ok", "url"),
        (
            '{% content-ref url="guides/start.md" %}\n[start.md](guides/start.md)\n{% endcontent-ref %}',
            "ok",
            "page",
        ),
        ('<a href="guides/start.md" class="button primary">Go</a>', "ok", "page"),
        ("| A |\n| - |\n| [x](guides/start.md) |", "ok", "page"),
        ('{% hint style="info" %}\n[x](guides/start.md)\n{% endhint %}', "ok", "page"),
        ("[x](mailto:me@example.org)", "ok", "url"),
        ("[x](https://octavo.test/settings)", "in-app", "url"),
        ("[x](user:nobody)", "broken", "url"),
        ("[x](collection:nothing)", "broken", "url"),
        ("[x](https://octavo.test/s/nospace/page)", "broken", "url"),
    ],
)
def test_every_kind_of_reference_is_indexed(world, linked, text, status, kind):
    home = linked.write("Home", text)
    found, target = linked.only(home)
    assert (found, target["kind"]) == (status, kind)


@pytest.mark.sqlite_first
def test_references_to_people_collections_and_spaces_are_indexed(world, linked):
    user, other = world.users["editor"], world.home["spaceId"]
    for text, kind, id in (
        (f"[x](user:{user})", "user", user),
        (f"[x](https://octavo.test/u/{user})", "user", user),
        (f"[x](collection:{world.home['collectionId']})", "collection", world.home["collectionId"]),
        (f"[x](https://octavo.test/s/{other})", "space", other),
        (f"[x](https://octavo.test/s/{other}/writing)", "page", None),
        (f"[x](https://octavo.test/o/{world.home['organizationId']}/s/{other}/writing)", "page", None),
    ):
        status, target = linked.only(linked.write("Home", text))
        assert (status, target["kind"]) == ("ok", kind)
        assert id is None or target[kind]["id"] == id


def test_references_of_cards_covers_and_navigation_are_indexed(world, tmp_path):
    files = dict(FILES)
    files["README.md"] = (
        "---\ncover: .gitbook/assets/plan.pdf\n---\n\n# Home\n\n"
        '<table data-view="cards"><thead><tr><th></th><th data-card-target data-type="content-ref"></th></tr></thead>'
        '<tbody><tr><td>Start</td><td><a href="guides/start.md">start.md</a></td></tr></tbody></table>\n'
    )
    linked = Linked(world, tmp_path, files)
    found = {item["targetReference"]["kind"]: item for item in linked.links(linked.page("Home"))["items"]}
    assert set(found) == {"page", "file"}
    assert found["page"]["locationReferences"][0]["internalLocation"]["type"] == "node"
    urls = [item["targetReference"].get("url") for item in linked.links()["items"]]
    assert "https://example.org/away" in urls


@pytest.mark.sqlite_first
def test_a_reference_contains_its_position(world, linked):
    home = linked.write("Home", "Read this.\n\nThen [start](guides/start.md), and [again](guides/start.md).")
    found = linked.links(home)
    (item,) = found["items"]
    assert found["stats"] == {"total": 2, "broken": {"total": 0}}
    assert [place["page"]["id"] for place in item["locationReferences"]] == [home, home]
    document = world.get("admin", f"{linked.path}/content/page/{home}", params={"format": "document"})
    keys = [node.get("key") for node in document["document"]["nodes"]]
    assert item["locationReferences"][0]["internalLocation"]["node"] in keys
    assert item["relation"] == "reference"


@pytest.mark.sqlite_first
@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_every_place_of_a_target_is_listed(world, linked, limit):
    links = "\n\n".join(f"{number} [start](guides/start.md)" for number in range(205))
    home = linked.write("Home", f"{links}\n\n[away](https://example.org/elsewhere)")
    items, query, counts = [], {"limit": limit}, set()
    while query:
        found = world.get("admin", f"{linked.path}/content/page/{home}/links", params=query)
        items += found["items"]
        counts.add((found["count"], found["stats"]["total"]))
        query = {"limit": limit, "page": found["next"]["page"]} if "next" in found else None
    assert counts == {(4, 206)} and len(items) == 4
    nodes = {}
    for item in items:
        target = item["targetReference"].get("page", {}).get("title") or item["targetReference"]["url"]
        nodes.setdefault(target, []).extend(
            place["internalLocation"]["node"] for place in item["locationReferences"]
        )
    assert {target: len(set(keys)) for target, keys in nodes.items()} == {
        "Start": 205,
        "https://example.org/elsewhere": 1,
    }


# --- updates -------------------------------------------------------------------------------


@pytest.mark.sqlite_first
def test_references_break_on_deletion_and_recover_on_creation(world, linked):
    home = linked.write("Home", "[x](guides/start.md)")
    start = linked.page("Start")
    assert linked.only(home)[0] == "ok"
    linked.edit({"operation": "delete_page", "page": start})
    assert linked.only(home)[0] == "broken"
    assert linked.links(status="broken")["count"] == 1
    linked.edit(insert("# Start\n\nAnew.\n", into=linked.page("Guide")))
    status, target = linked.only(home)
    assert (status, target["page"]["title"]) == ("ok", "Start")


@pytest.mark.sqlite_first
def test_paths_follow_slugs_at_every_level(world, linked):
    home = linked.write("Home", "[x](manual/start)")
    assert linked.only(home)[0] == "broken"
    linked.edit(update(linked.page("Guide"), slug="manual"))
    assert linked.only(home)[0] == "ok"
    linked.edit(update(linked.page("Guide"), slug="guides"))
    assert linked.only(home)[0] == "broken"
    linked.edit(update(linked.page("Guide"), slug="manual"))
    linked.edit(update(linked.page("Start"), into=None))
    assert linked.only(home)[0] == "broken"


@pytest.mark.sqlite_first
def test_links_to_files_survive_a_move(world, linked):
    home = linked.write("Home", "[x](guides/start.md)")
    linked.edit(update(linked.page("Start"), into=None, slug="begin"))
    status, target = linked.only(home)
    assert (status, target["page"]["path"]) == ("ok", "begin")


@pytest.mark.sqlite_first
def test_links_follow_added_and_removed_headings(world, linked):
    home = linked.write("Home", "[x](guides/start.md#part-two)")
    assert linked.only(home)[0] == "broken"
    linked.write("Start", "## Part two\n\nText.")
    status, target = linked.only(home)
    assert (status, target["internalLocation"]) == ("ok", {"type": "anchor", "anchor": "part-two"})
    linked.write("Start", "## Part three\n\nText.")
    assert linked.only(home)[0] == "broken"


@pytest.mark.sqlite_first
def test_headings_of_included_content_are_link_targets(world, linked):
    home = linked.write("Home", "[x](guides/start.md#ask-us)")
    assert linked.only(home)[0] == "broken"
    linked.write("Start", '{% include "../.gitbook/includes/help.md" %}')
    assert linked.only(home)[0] == "ok"
    linked.write("Start", "Nothing.")
    assert linked.only(home)[0] == "broken"


@pytest.mark.sqlite_first
def test_changes_of_other_spaces_update_references(world, linked, tmp_path):
    (tmp_path / "other").mkdir()
    other = Linked(world, tmp_path / "other")
    start = other.page("Start")
    home = linked.write("Home", f"[x](https://octavo.test/s/{other.id}/guides/start)")
    status, target = linked.only(home)
    assert (status, target["page"]["id"], target["space"]["id"]) == ("ok", start, other.id)
    found = other.backlinks("page", start)
    assert [(place["space"]["id"], place["page"]["id"]) for place in found["items"]] == [(linked.id, home)]
    other.edit(update(start, slug="begin"))
    assert linked.only(home)[0] == "broken"


# --- visibility ----------------------------------------------------------------------------------------


@pytest.mark.sqlite_first
def test_hidden_spaces_are_not_revealed(world, linked, tmp_path):
    (tmp_path / "other").mkdir()
    secret = Linked(world, tmp_path / "other")
    start = linked.page("Start")
    secret.write("Home", f"[x](https://octavo.test/s/{linked.id}/guides/start)")
    there = f"https://octavo.test/s/{secret.id}/guides/start"
    home = linked.write("Home", f"[x]({there}) [y]({there}#no) [z](https://octavo.test/s/{secret.id}/none)")
    assert linked.backlinks("page", start, "reader")["count"] == 1
    assert linked.only(linked.write("Home", f"[x]({there})"), who="reader")[0] == "ok"
    linked.write("Home", f"[x]({there}) [y]({there}#no) [z](https://octavo.test/s/{secret.id}/none)")
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=secret.id)
    assert linked.backlinks("page", start)["count"] == 1
    assert linked.backlinks("page", start, "reader") == {"items": [], "count": 0}
    found = linked.links(home, "reader")
    assert found["stats"] == {"total": 3, "broken": {"total": 3}}
    assert [item["targetReference"]["kind"] for item in found["items"]] == ["url"] * 3
    assert secret.id not in str([item.get("targetReference", {}).get("page") for item in found["items"]])
    # The response is the same with and without a page there, except for the URL itself.
    alike = []
    for path in ("guides/start", "guides/never"):
        linked.write("Home", f"[x](https://octavo.test/s/{secret.id}/{path})")
        (item,) = linked.links(home, "reader")["items"]
        item["targetReference"].pop("url")
        alike.append((item["status"], item["targetReference"], len(item["locationReferences"])))
    assert alike[0] == alike[1]


@pytest.mark.sqlite_first
def test_a_deleted_space_is_not_a_target(world, linked):
    other = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Short"})["id"]
    home = linked.write("Home", f"[x](https://octavo.test/s/{other})")
    assert linked.only(home)[0] == "ok"
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET deleted_at = 1 WHERE id = :id", id=other)
    assert linked.only(home)[0] == "broken"


# --- lists ----------------------------------------------------------------------------------------------


@pytest.mark.sqlite_first
def test_pagination_lists_everything_once(world, linked):
    text = " ".join(f"[{n}](https://example.org/{n})" for n in range(7)) + " [x](gone.md)"
    home = linked.write("Home", text)
    seen, page = [], {}
    while True:
        found = linked.links(home, limit=3, **page)
        assert found["count"] == 8
        seen += [item["targetReference"]["url"] for item in found["items"]]
        if "next" not in found:
            break
        page = {"page": found["next"]["page"]}
    assert sorted(seen) == sorted([f"https://example.org/{n}" for n in range(7)] + ["gone.md"])
    linked.write("Guide", "[a](start.md) [b](start.md) [c](start.md)")
    start, places, page = linked.page("Start"), 0, {}
    while True:
        found = linked.backlinks("page", start, limit=2, **page)
        places += len(found["items"])
        if "next" not in found:
            break
        page = {"page": found["next"]["page"]}
    assert places == found["count"] == 3


def test_files_list_pages_that_use_them(world, linked):
    home = linked.write("Home", "[x](.gitbook/assets/plan.pdf)")
    file = world.get("admin", f"{linked.path}/content/files")["items"][0]["id"]
    found = linked.backlinks("files", file)
    assert [place["page"]["id"] for place in found["items"]] == [home]


@pytest.mark.sqlite_first
def test_reusable_contents_list_pages_that_include_them(world, linked):
    home, guide, start = linked.page("Home"), linked.page("Guide"), linked.page("Start")
    change = linked.create_change()
    shared = {"operation": "insert_reusable_content", "title": "Notice", "document": {"markdown": "Words."}}
    linked.edit(shared)
    contents = world.get("admin", f"{linked.path}/content")["reusableContents"]
    made = next(each for each in contents if each["title"] == "Notice")
    block = {
        "object": "block",
        "type": "reusable-content",
        "isVoid": True,
        "data": {"ref": {"kind": "reusable-content", "reusableContent": made["id"]}},
    }
    document = {"document": [block]}
    linked.edit({"operation": "update_page", "page": home, "document": document})
    linked.edit({"operation": "update_page", "page": guide, "document": document})
    found = linked.backlinks("reusable-contents", made["id"])
    assert {place["page"]["id"] for place in found["items"]} == {home, guide}
    later = linked.create_change()
    linked.edit({"operation": "update_page", "page": start, "document": document}, change=later)
    linked.write("Guide", "Nothing.", change=later)
    back = linked.backlinks("reusable-contents", made["id"], change=later)
    assert {place["page"]["id"] for place in back["items"]} == {home, start}
    assert back["count"] == 2
    for gone in ("nothing", home):
        path = f"{linked.path}/content/reusable-contents/{gone}/backlinks"
        assert world.call("admin", "GET", path).status_code == 404
    path = f"{linked.path}/change-requests/{change}/content/reusable-contents/{made['id']}/backlinks"
    assert world.call("admin", "GET", path).status_code == 404


# --- change requests ------------------------------------------------------------------------------------


def test_a_change_request_has_its_own_links(world, linked):
    home = linked.write("Home", "[x](guides/start.md) [y](never.md)")
    start = linked.page("Start")
    change = linked.create_change()
    assert linked.links(change=change)["stats"] == linked.links()["stats"] | {
        "broken": {"total": 1, "changeRequest": 0}
    }
    linked.edit({"operation": "delete_page", "page": start}, change=change)
    linked.write("Guide", "[z](../nothing.md) [home](../README.md)", change=change)
    found = linked.links(change=change, status="broken")
    assert found["stats"]["broken"] == {"total": 3, "changeRequest": 2}
    assert found["count"] == 3
    assert linked.links(change=change, brokenContext="change-request")["count"] == 2
    (before,) = linked.links(change=change, brokenContext="space")["items"]
    assert before["targetReference"] == {"kind": "url", "url": "never.md"}
    # Main is not affected.
    assert linked.links()["stats"]["broken"] == {"total": 1}
    back = linked.backlinks("page", home, change=change)
    assert linked.page("Guide") in [place.get("page", {}).get("id") for place in back["items"]]
    assert {place["versionContext"]["changeRequest"]["id"] for place in back["items"]} == {change}
    assert linked.links(linked.page("Guide"), change=change)["stats"]["total"] == 2


def test_an_outdated_change_request_has_the_links_of_its_own_state(world, linked):
    home = linked.write("Home", "[x](guides/start.md)")
    change = linked.create_change()
    linked.write("Guide", "[h](../README.md)", change=change)
    linked.edit({"operation": "delete_page", "page": linked.page("Start")})
    linked.write("Home", "[x](guides/start.md) [y](never.md)")
    assert linked.links()["stats"]["broken"]["total"] == 2
    assert linked.links(change=change)["stats"]["broken"] == {"total": 0, "changeRequest": 0}
    assert linked.only(home, change=change)[0] == "ok"


@pytest.mark.sqlite_first
def test_references_of_a_change_request_equal_those_after_its_merge(world, linked):
    change = linked.create_change()
    linked.write("Home", "[x](guides/start.md#new) [y](never.md)", change=change)
    linked.write("Start", "## New\n\n[h](../README.md)", change=change)
    said = linked.links(change=change)
    world.post("admin", f"{linked.path}/change-requests/{change}/merge")
    made = linked.links()
    for found in (said, made):
        found["stats"]["broken"].pop("changeRequest", None)
    assert said["stats"] == made["stats"]
    assert [item["status"] for item in said["items"]] == [item["status"] for item in made["items"]]


# --- cost -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_cost_of_a_page_of_2000_is_as_documented(sqlite_world, tmp_path):
    count = 2000
    files = {
        f"p{n}.md": f"# P{n}\n\n[next](p{(n + 1) % count}.md) [home](README.md#why)\n" for n in range(count)
    }
    files["README.md"] = FILES["README.md"]
    files["SUMMARY.md"] = "* [Home](README.md)\n" + "".join(f"* [P{n}](p{n}.md)\n" for n in range(count))
    linked = Linked(sqlite_world, tmp_path, files)
    before = rows(sqlite_world, linked.id)
    assert len(before) == 2 * count

    def written():
        nonlocal before
        after = rows(sqlite_world, linked.id)
        number = sum(1 for at in {*before, *after} if before.get(at) != after.get(at))
        before = after
        return number

    linked.write("P7", "[other](p9.md) and [home](README.md#why)")
    assert written() == 2  # its own ones, in the edited paragraph
    linked.write("Home", "Shorter.\n\n## Why\n\nStill.")
    assert written() == 0
    linked.edit({"operation": "delete_page", "page": linked.page("P3")})
    assert written() == 3  # its own two, and the one that refers to it
    linked.edit(update(linked.page("P5"), title="Five"))
    assert written() == 0


def test_rows_equal_those_of_a_fresh_import(world, linked):
    """After many small changes, the rows are the same as after reading everything again."""
    linked.write("Home", "[x](guides/start.md#part) [y](guides/start) [z](guides/new.md)")
    linked.write("Start", "## Part\n\n[a](../README.md#why)")
    linked.edit(insert("# New\n\n[b](start.md)\n", into=linked.page("Guide")))
    linked.edit(update(linked.page("Guide"), slug="manual"))
    linked.edit({"operation": "delete_page", "page": linked.page("Start")})
    with world.context.db.read() as tx:
        head = main_state(tx, linked.id)
        everything = Changes({p.id: p for p in list_pages(tx, head)})
        delta = derive_delta(tx, MainUpdate(head, everything, app_hosts(world.context.settings.url)))
    assert (delta.old, delta.new) == ({}, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elsa-guides", "phantasma-phoenix"])
def test_references_of_real_documentation_resolve(sqlite_world, corpora, name):
    space = import_space(
        sqlite_world.context, str(corpora / name), organization_id=sqlite_world.home["organizationId"]
    ).outcome.space
    stats = sqlite_world.get("admin", f"/spaces/{space}/links")["stats"]
    assert stats["total"] > 0
    assert stats["broken"]["total"] <= stats["total"] / 4


@pytest.mark.slow
def test_broken_links_of_real_documentation_have_no_target(sqlite_world, corpora):
    """Links reported as broken have no file in the source."""
    source = corpora / "elsa-guides"
    space = import_space(
        sqlite_world.context, str(source), organization_id=sqlite_world.home["organizationId"]
    ).outcome.space
    broken = sqlite_world.get("admin", f"/spaces/{space}/links", params={"status": "broken", "limit": 1000})
    for item in broken["items"]:
        target = item["targetReference"]
        if target["kind"] == "url" and target["url"].endswith((".md", ".png")):
            assert not (source / target["url"]).exists(), target


@pytest.mark.sqlite_first
def test_a_copy_refers_to_itself(linked):
    world, page = linked.world, linked.page("Start")
    linked.write("Start", f"[Home](../README.md), [there](https://app.gitbook.com/s/{linked.id}/guides)")
    copy = Linked.__new__(Linked)
    copy.world, copy.id = world, world.post("admin", f"{linked.path}/duplicate")["id"]
    copy.path = f"/spaces/{copy.id}"
    targets = {item["targetReference"]["kind"]: item for item in copy.links(page)["items"]}
    assert len(copy.links(page)["items"]) == 2 and targets
    spaces = [str(item["targetReference"]).count(linked.id) for item in copy.links(page)["items"]]
    assert sorted(spaces)[0] == 0 and sorted(spaces)[1] > 0
    # It is updated from its own main.
    copy.edit({"operation": "delete_page", "page": copy.page("Home")})
    assert "broken" in [item["status"] for item in copy.links(page)["items"]]
    assert "broken" not in [item["status"] for item in linked.links(page)["items"]]


def test_rows_after_an_edit_of_blocks_equal_those_of_the_whole_page(world, linked):
    link = "See [the plan](.gitbook/assets/plan.pdf) and [why](README.md#why)."
    blocks = [
        "## Top",
        link,
        "Plain.",
        link,
        "[Below](#end) and [start](guides/start.md).",
        "[r][r]",
        "## End",
    ]
    page = linked.write("Home", "\n\n".join([*blocks, "[r]: guides/README.md"]))

    def keys():
        nodes = world.get("admin", f"{linked.path}/content/page/{page}", params={"format": "document"})
        return [node["key"] for node in nodes["document"]["nodes"]]

    def edit(**change):
        linked.edit({"operation": "update_blocks", "page": page, **change})
        with world.context.db.read() as tx:
            assert check_derived(tx, linked.id, app_hosts(world.context.settings.url)) == []

    def text(markdown):
        return {"document": {"markdown": markdown}}

    edit(set=[{"block": keys()[2], **text("Plain no more.")}])
    edit(set=[{"block": keys()[4], **text("[Elsewhere](guides/README.md) and [start](guides/start.md).")}])
    edit(set=[{"block": keys()[2], **text("Now [a link](#end), [another](guides/none.md).")}])
    edit(insert=[{"after": keys()[0], **text(link)}])
    edit(set=[{"block": keys()[5], **text("No link.")}])
    edit(set=[{"block": keys()[-1], **text("## The end")}])
    edit(delete=[keys()[1]])
    edit(move=[{"blocks": [keys()[2]], "at": 0}])
    edit(set=[{"block": keys()[0], **text("{% if visitor.claims.beta %}\n[Below](#top)\n{% endif %}")}])
    edit(set=[{"block": keys()[0], **text("[r] and [r][r]")}])
    linked.edit(update(page, description="Of the head alone."))
    with world.context.db.read() as tx:
        assert check_derived(tx, linked.id, app_hosts(world.context.settings.url)) == []


def test_an_edit_of_a_block_reads_only_that_block(sqlite_world, tmp_path, monkeypatch):
    """A revision that changes a block of a long page neither parses nor tokenizes the rest of the text."""
    linked = Linked(sqlite_world, tmp_path)
    lines = [f"Paragraph {n} about [home](README.md) and more." for n in range(300)]
    page = linked.write("Guide", "\n\n".join(lines))
    linked.edit(update(page, description="So that its index is known."))
    node = sqlite_world.get("admin", f"{linked.path}/content/page/{page}", params={"format": "document"})
    key = node["document"]["nodes"][150]["key"]
    given = {"markdown": "Another [link](README.md#why)."}
    edit = {"operation": "update_blocks", "page": page, "set": [{"block": key, "document": given}]}
    answer = linked.edit(edit)
    read = []
    monkeypatch.setattr(blocks, "read", lambda text: read.append(len(text)) or reader.read(text))
    monkeypatch.setattr(bodies, "read", lambda text: read.append(len(text)) or reader.read(text))
    given["markdown"] = "Yet another [link](README.md)."
    edit["set"][0]["block"] = answer["changes"][0]["blocks"]["set"][0][0]["key"]
    linked.edit(edit)
    assert max(read) < 1_000
    with sqlite_world.context.db.read() as tx:
        assert check_derived(tx, linked.id, app_hosts(sqlite_world.context.settings.url)) == []
