"""Tests of the structure of sites: sections, groups, variants, their order, paths, and visibility."""

from urllib.parse import urlsplit

import pytest

from octavo.sites.site.structure.store import find_former_paths, load_structure
from visiting import Visitor


class Site:
    """Empty site of the home organization's administrator; ``spaces`` are created by title."""

    def __init__(self, world):
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites")
        self.id = world.post("admin", self.path, {"title": "Manuals"})["id"]
        self.path += f"/{self.id}"

    def space(self, title):
        return self.world.post(
            "admin", self.world.home.path("/orgs/{organizationId}/spaces"), {"title": title}
        )["id"]

    def call(self, method, path, body=None, who="admin"):
        return self.world.call(
            who, method, f"{self.path}/{path}", **({"json": body} if body is not None else {})
        )

    def make(self, path, body):
        answer = self.call("POST", path, body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def change(self, path, body):
        answer = self.call("PATCH", path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def section(self, title, **more):
        return self.make("sections", {"spaceId": self.space(title), "title": title, **more})

    def get(self, path):
        return self.world.get("admin", f"{self.path}/{path}")

    def publish(self):
        self.world.post("admin", f"{self.path}/publish")

    def bases(self):
        """Return the path of each site space below the site, by title."""
        with self.world.context.db.read() as tx:
            structure = load_structure(tx, self.id)
        titles = {shown["id"]: shown["title"] for shown in self.get("site-spaces")["items"]}
        return {titles[shown.id]: structure.base(shown) for shown in structure.ordered_site_spaces()}

    def former(self, *paths):
        with self.world.context.db.read() as tx:
            return next(iter(find_former_paths(tx, self.id, list(paths))), None)


@pytest.fixture
def site(world):
    return Site(world)


@pytest.mark.sqlite_first
def test_a_site_starts_with_its_default_section_and_variant(site):
    first = site.make("site-spaces", {"spaceId": site.space("Guide")})
    assert (first["default"], first["path"]) == (True, "guide")
    assert site.get("structure") == {"type": "siteSpaces", "structure": [first]}
    site.make("site-spaces", {"spaceId": site.space("Guide v1")})
    site.section("API")
    assert site.bases() == {"Guide": "", "Guide v1": "guide-v1/", "API": "api/"}
    structure = site.get("structure")
    # The previous content of the site has become its first section.
    assert structure["type"] == "sections"
    assert [(s["title"], s["default"], len(s["siteSpaces"])) for s in structure["structure"]] == [
        ("Guide", True, 2),
        ("API", False, 1),
    ]
    site.make("site-spaces", {"spaceId": site.space("API v1"), "sectionId": structure["structure"][1]["id"]})
    assert site.bases()["API v1"] == "api/api-v1/"


def test_former_urls_redirect_to_current_ones(site):
    guide, api = site.section("Guide"), site.section("API")
    site.change(f"sections/{api['id']}", {"path": "Reference"})
    assert site.bases() == {"Guide": "", "API": "reference/"}
    shown = api["siteSpaces"][0]["id"]
    assert site.former("api", "api/x") == ("api", shown)
    site.world.call("admin", "PATCH", site.path, json={"defaultSiteSection": api["id"]})
    assert site.bases() == {"Guide": "guide/", "API": ""}
    assert site.former("reference") == ("reference", shown)
    # Former paths that are in use again do not redirect.
    site.change(f"sections/{guide['id']}", {"path": "api"})
    assert site.former("api") is None


@pytest.mark.sqlite_first
def test_pages_of_the_former_default_redirect(site):
    """Another part now starts at the root of the site, and at the root of a section."""
    visitor = Visitor(site.world.context)
    old, new = site.section("Old"), site.section("New")
    site.make("site-spaces", {"spaceId": site.space("New v2"), "sectionId": new["id"]})
    variants = {s["title"]: s["id"] for s in site.get("site-spaces")["items"]}
    for title in ("Old", "New", "New v2"):
        fill(site, title)
    site.publish()
    base = urlsplit(site.world.get("admin", site.path)["urls"]["published"]).path

    def lead(path):
        answer = visitor.get(f"{base}{path}")
        return answer.headers.get("location", answer.status_code)

    assert lead("of-old") == 200
    site.world.call("admin", "PATCH", site.path, json={"defaultSiteSection": new["id"]})
    assert lead("of-new") == 200
    assert lead("of-old") == f"{base}old/of-old"
    assert lead("of-old.md") == f"{base}old/of-old.md"
    assert lead("new/of-new") == f"{base}of-new"
    for missing in ("nothing", "old/nothing", "old/old/of-old", "of-old/nothing"):
        assert lead(missing) == 404, missing
    # And back again.
    site.world.call("admin", "PATCH", site.path, json={"defaultSiteSection": old["id"]})
    assert lead("of-old") == 200
    assert lead("of-new") == f"{base}new/of-new"
    assert lead("old/of-old") == f"{base}of-old"
    site.change(f"sections/{new['id']}", {"defaultSiteSpace": variants["New v2"]})
    assert lead("new/of-new-v2") == 200
    assert lead("new/of-new") == f"{base}new/new/of-new"
    assert lead("new/nothing") == 404


@pytest.mark.sqlite_first
def test_the_url_of_a_space_uses_the_requested_host(site):
    guide, api = site.section("Guide"), site.section("API")
    for title in ("Guide", "API"):
        fill(site, title)
    site.publish()
    site.world.call("admin", "PATCH", site.path, json={"visibility": "share-link"})
    link = site.make("share-links", {"name": "Friends"})
    url = link["urls"]["published"]
    key = url.rstrip("/").rpartition("/")[2]
    token = site.world.call("nobody", "POST", "/urls/published", json={"url": url}).json()["apiToken"]
    by_token = {"authorization": f"Bearer {token}"}
    for section, place in ((guide, ""), (api, "api/")):
        space = section["siteSpaces"][0]["space"]["id"]
        assert (
            site.world.get("admin", f"/spaces/{space}?shareKey={key}")["urls"]["published"] == f"{url}{place}"
        )
        answer = site.world.call("admin", "GET", f"/spaces/{space}", params={"shareKey": f"{key}x"})
        assert answer.status_code == 404
        shown = site.world.call("nobody", "GET", f"/spaces/{space}", headers=by_token).json()
        assert shown["urls"]["published"] == f"{url}{place}"
        profile = site.world.call("nobody", "GET", f"{site.path}/published", headers=by_token).json()
        for who, structure in (
            ("admin", site.get(f"structure?shareKey={key}")),
            ("nobody", profile["structure"]),
        ):
            shown = [one for section in structure["structure"] for one in section["siteSpaces"]]
            named = {one["space"]["id"]: one["space"]["urls"]["published"] for one in shown}
            assert named[space] == f"{url}{place}", who


def fill(site, title):
    """Add two pages to a space of the site, the second one named after it."""
    shown = next(s for s in site.get("site-spaces")["items"] if s["title"] == title)
    changes = [
        {"operation": "insert_page", "document": {"markdown": f"# {name}\n\nwords\n"}}
        for name in ("Start", f"Of {title}")
    ]
    space = shown["space"]["id"]
    change = site.world.post("admin", f"/spaces/{space}/change-requests", {"subject": "x"})["id"]
    site.world.post("admin", f"/spaces/{space}/change-requests/{change}/content", {"changes": changes})
    site.world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")


def test_paths_are_one_unique_segment(site):
    api = site.section("API")
    other = site.section("Other")
    for path in ("a/b", "~search", "../x", "robots.txt", "x.md", "a b", "", "<b>", "%2e"):
        assert site.call("PATCH", f"sections/{other['id']}", {"path": path}).status_code == 400, path
    assert site.call("PATCH", f"sections/{other['id']}", {"path": "API"}).status_code == 400
    # A variant of the default section has a path next to the sections.
    variant = site.make("site-spaces", {"spaceId": site.space("Two"), "sectionId": api["id"]})
    answer = site.call("PATCH", f"site-spaces/{variant['id']}", {"path": "other"})
    assert (answer.status_code, "path" in answer.json()["error"]["message"]) == (400, True)
    assert site.section("Other")["path"] == "other-1"


def test_groups_are_nested_and_ungrouped(site):
    one, two = site.section("One"), site.section("Two")
    outer = site.make("section-groups", {"title": "Outer", "sections": [two["id"]]})
    inner = site.make("section-groups", {"title": "Inner", "parent": outer["id"], "sections": [one["id"]]})
    top = site.get("structure")["structure"]
    assert [node["title"] for node in top] == ["Outer"]
    assert [child["title"] for child in top[0]["children"]] == ["Two", "Inner"]
    assert [section["title"] for section in top[0]["sections"]] == ["Two"]
    assert [item["title"] for item in site.get("sections")["items"]] == ["Two", "One"]
    # Groups cannot contain themselves.
    position = {"position": {"after": {"type": "site-section", "id": one["id"]}}}
    assert site.call("POST", f"section-groups/{outer['id']}/move", position).status_code == 400
    assert site.call("DELETE", f"section-groups/{outer['id']}").status_code == 205
    top = site.get("structure")["structure"]
    assert [node["title"] for node in top] == ["Two", "Inner"]
    assert site.call("DELETE", f"section-groups/{inner['id']}/sections/{two['id']}").status_code == 204
    assert site.call("DELETE", f"section-groups/{inner['id']}/sections/{one['id']}").status_code == 205
    assert [node["title"] for node in site.get("structure")["structure"]] == ["Two", "Inner", "One"]


def test_the_depth_of_groups_is_limited(site):
    parent = None
    for depth in range(4):
        parent = site.make("section-groups", {"title": f"G{depth}", "parent": parent})["id"]
    assert site.call("POST", "section-groups", {"title": "G5", "parent": parent}).status_code == 400
    other = site.make("section-groups", {"title": "Other"})["id"]
    chain = site.make("section-groups", {"title": "Below", "parent": other})["id"]
    section = site.section("Leaf")["id"]
    site.make(f"section-groups/{parent}/sections", {"sectionId": section})
    position = {"position": {"before": {"type": "site-section", "id": section}}}
    assert site.call("POST", f"section-groups/{other}/move", position).status_code == 400
    assert site.call("DELETE", f"section-groups/{chain}").status_code == 205


def sort(site, kind, item, where, to, target):
    body = {"item": {"type": kind, "id": item}, "position": {where: {"type": to, "id": target}}}
    return site.call("PATCH", "structure/sort", body)


def test_entries_are_sorted_among_siblings(site):
    one, two, three = (site.section(title)["id"] for title in ("One", "Two", "Three"))
    assert sort(site, "site-section", three, "before", "site-section", one).status_code == 200

    def order():
        return [section["title"] for section in site.get("sections")["items"]]

    assert order() == ["Three", "One", "Two"]
    assert sort(site, "site-section", three, "after", "site-section", two).status_code == 200
    assert order() == ["One", "Two", "Three"]
    assert sort(site, "site-section", one, "after", "site-section", one).status_code == 400
    assert sort(site, "site-section", one, "after", "site-section", "x" * 20).status_code == 404
    assert site.call("POST", f"sections/{one}/move", {"position": {}}).status_code == 400
    both = {
        "before": {"type": "site-section", "siteSection": two},
        "after": {"type": "site-section", "siteSection": three},
    }
    assert site.call("POST", f"sections/{one}/move", {"position": both}).status_code == 400
    mine = site.get("sections")["items"][0]["siteSpaces"][0]["id"]
    theirs = site.get("sections")["items"][1]["siteSpaces"][0]["id"]
    # A site space stays in its section.
    assert sort(site, "site-space", mine, "after", "site-space", theirs).status_code == 400
    assert sort(site, "site-space", mine, "after", "site-section", two).status_code == 400
    beside = site.make("site-spaces", {"spaceId": site.space("Beside"), "sectionId": one})["id"]
    assert sort(site, "site-space", beside, "before", "site-space", mine).status_code == 200
    assert [shown["id"] for shown in site.get("site-spaces")["items"][:2]] == [beside, mine]


@pytest.mark.sqlite_first
def test_a_deleted_default_is_replaced(site):
    one, two = site.section("One"), site.section("Two")
    site.make("site-spaces", {"spaceId": site.space("One B"), "sectionId": one["id"]})
    first = one["siteSpaces"][0]["id"]
    assert site.call("DELETE", f"site-spaces/{first}").status_code == 205
    assert site.call("DELETE", f"site-spaces/{first}").status_code == 204
    assert site.bases() == {"One B": "", "Two": "two/"}
    assert site.call("DELETE", f"sections/{one['id']}").status_code == 205
    assert site.bases() == {"Two": ""}
    second = site.make("site-spaces", {"spaceId": site.space("Two B"), "sectionId": two["id"]})["id"]
    site.change(f"sections/{two['id']}", {"defaultSiteSpace": second})
    assert site.bases() == {"Two": "two/", "Two B": ""}
    assert [s["title"] for s in site.get("site-spaces?default=true")["items"]] == ["Two B"]
    assert [s["title"] for s in site.get("site-spaces?default=false")["items"]] == ["Two"]


def test_a_default_restored_from_the_trash_gets_its_current_place(site):
    space = site.space("Old")
    site.make("site-spaces", {"spaceId": space})
    new = site.make("site-spaces", {"spaceId": site.space("New")})
    site.world.call("admin", "DELETE", f"/spaces/{space}")
    site.world.call("admin", "PATCH", site.path, json={"defaultSiteSpace": new["id"]})
    assert site.bases() == {"New": ""}
    site.world.post("admin", f"/spaces/{space}/restore")
    assert site.bases() == {"Old": "old/", "New": ""}


def test_lists_are_read_in_pages_while_they_change(site):
    sections = [site.section(f"S{n}") for n in range(5)]
    first = site.get("sections?limit=2")
    assert (first["count"], [s["title"] for s in first["items"]]) == (5, ["S0", "S1"])
    # The last entry of the page is deleted; the entries after it are still returned.
    site.call("DELETE", f"sections/{sections[1]['id']}")
    rest = site.get(f"sections?limit=10&page={first['next']['page']}")
    assert ([s["title"] for s in rest["items"]], "next" in rest) == (["S2", "S3", "S4"], False)
    assert site.get("sections?limit=0")["items"] == []


def test_hidden_spaces_are_omitted(site, world):
    site.section("Open")
    closed = site.section("Closed")
    space = closed["siteSpaces"][0]["space"]["id"]
    world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    found = world.get("reader", f"{site.path}/site-spaces")
    assert ([s["title"] for s in found["items"]], found["count"]) == (["Open"], 1)
    for path in ("structure", "sections", "site-spaces"):
        assert space not in world.call("reader", "GET", f"{site.path}/{path}").text
    shown = closed["siteSpaces"][0]["id"]
    # They cannot be edited or shown elsewhere by people who cannot see them.
    assert site.call("PATCH", f"site-spaces/{shown}", {"path": "x"}, who="creator").status_code == 404
    assert site.call("POST", "site-spaces", {"spaceId": space}, who="creator").status_code == 404
    assert site.call("POST", "sections", {"spaceId": space}, who="creator").status_code == 404


def test_a_space_lists_sites_that_publish_it(site, world):
    site.section("First")
    section = site.section("Second")
    space = section["siteSpaces"][0]["space"]["id"]
    assert world.get("admin", f"/spaces/{space}")["visibility"] == "private"
    site.publish()
    found = world.get("admin", f"/spaces/{space}")
    url = site.get("")["urls"]["published"]
    assert (found["visibility"], found["urls"]["published"]) == ("public", f"{url}second/")
    assert site.get("sections")["items"][1]["urls"]["published"] == f"{url}second/"
    world.call("admin", "PATCH", site.path, json={"visibility": "unlisted", "basename": "handy"})
    found = world.get("admin", f"/spaces/{space}")
    assert (found["visibility"], found["urls"]["published"].endswith("/handy/second/")) == ("unlisted", True)


def test_basenames_are_unique(site, world):
    other = world.post("admin", world.home.path("/orgs/{organizationId}/sites"), {"title": "Other"})[
        "basename"
    ]
    assert world.call("admin", "PATCH", site.path, json={"basename": other.upper()}).status_code == 409
    for name in ("a/b", "..", "~x", "a b"):
        assert world.call("admin", "PATCH", site.path, json={"basename": name}).status_code == 400, name


def test_unparsable_conditions_are_refused(site):
    section = site.section("One")
    for condition in ("visitor.claims.", "a b", "(", "x" * 1025):
        answer = site.call("PATCH", f"sections/{section['id']}", {"condition": condition})
        assert (answer.status_code, "condition" in answer.text) == (400, True)
    changed = site.change(f"sections/{section['id']}", {"condition": "visitor.claims.paying == true"})
    assert changed["condition"] == "visitor.claims.paying == true"
    assert site.change(f"sections/{section['id']}", {"title": "Two"})["condition"] == changed["condition"]
    assert "condition" not in site.change(f"sections/{section['id']}", {"condition": None})


def test_a_large_structure_needs_few_statements(site, world, monkeypatch):
    space = site.space("Many")
    with world.context.db.write() as tx:
        for n in range(50):
            section = f"section-{n:012d}"
            tx.run(
                """INSERT INTO site_sections (id, site_id, rank, path, title, is_default, draft, created_at)
                   VALUES (:id, :site, :rank, :id, :id, :first, 0, 1)""",
                id=section,
                site=site.id,
                rank=f"r{n:03d}",
                first=int(n == 0),
            )
            for m in range(2):
                tx.run(
                    """INSERT INTO site_spaces (id, site_id, space_id, section_id, rank, path, is_default, created_at)
                       VALUES (:id, :site, :space, :section, :rank, :path, :first, 1)""",
                    id=f"{section}-{m}",
                    site=site.id,
                    space=space,
                    section=section,
                    rank=f"r{m}",
                    path=f"v{m}",
                    first=int(m == 0),
                )
    counted = []
    with world.context.db.read() as tx:
        execute = type(tx)._execute
    monkeypatch.setattr(type(tx), "_execute", lambda *given: counted.append(given[1]) or execute(*given))
    found = site.get("structure")
    assert sum(len(section["siteSpaces"]) for section in found["structure"]) == 100
    assert len(counted) < 20, "\n".join(counted)


def test_an_organization_does_not_reference_a_deleted_site(site):
    organization = site.world.home.path("/orgs/{organizationId}")
    pointer = {"defaultContent": {"type": "site", "site": site.id}}
    assert site.world.call("admin", "PATCH", organization, json=pointer).status_code == 200
    assert site.world.get("admin", organization)["defaultContent"]["site"] == site.id
    assert site.world.call("admin", "DELETE", site.path).status_code in (200, 204, 205)
    assert "defaultContent" not in site.world.get("admin", organization)


@pytest.mark.sqlite_first
def test_inaccessible_content_is_not_named(world):
    """Sections, groups, and redirects of spaces that a person cannot see, in every response about the site."""
    path = world.home.path("/orgs/{organizationId}/sites")
    spaces = world.home.path("/orgs/{organizationId}/spaces")
    names = ("Acquisition", "Layoffs", "Takeover")
    made = {title: world.post("admin", spaces, {"title": title})["id"] for title in (*names, "Open")}
    site = f"{path}/{world.post('admin', path, {'title': 'Docs', 'spaces': [made['Open']]})['id']}"
    sections = {
        title: world.post("admin", f"{site}/sections", {"spaceId": made[title], "title": title})["id"]
        for title in names
    }
    group = {"title": "Layoffs of all", "sections": [sections["Layoffs"]]}
    world.post("admin", f"{site}/section-groups", group)
    to = {"kind": "site-section", "siteSectionId": sections["Takeover"]}
    world.post("admin", f"{site}/redirects", {"source": "/old", "destination": to})
    world.post("admin", f"{site}/publish")
    for title in names:
        world.call("admin", "PATCH", f"/spaces/{made[title]}", json={"defaultLevel": None})

    def told(who):
        reads = (
            "",
            "/structure",
            "/sections",
            "/section-groups",
            "/site-spaces",
            "/published",
            "/customization",
        )
        answers = [world.call(who, "GET", f"{site}{read}") for read in (*reads, "/redirect?source=/old")]
        assert answers[2].json()["count"] == len(answers[2].json()["items"])
        return " ".join(answer.text for answer in answers).lower()

    for who in ("reader", "creator"):
        assert not [word for word in (*names, *(made[one] for one in names)) if word.lower() in told(who)], (
            who
        )
        assert "open" in told(who)
        # A space in the trash is still closed.
        world.call("admin", "DELETE", f"/spaces/{made['Takeover']}")
        assert "takeover" not in told(who)
        world.post("admin", f"/spaces/{made['Takeover']}/restore")
        for title, id in sections.items():
            answer = world.call(who, "PATCH", f"{site}/sections/{id}", json={"icon": "gear"})
            assert answer.status_code in (403, 404) and title.lower() not in answer.text.lower()
    assert all(word.lower() in told("admin") for word in names)
    world.post(
        "admin", f"/spaces/{made['Layoffs']}/permissions", {"role": "read", "users": [world.users["reader"]]}
    )
    assert "layoffs of all" in told("reader") and "takeover" not in told("reader")
