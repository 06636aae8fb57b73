"""Tests of what a visitor with certain claims sees: in the list, and in the reader for such a visitor."""

import json
from urllib.parse import quote, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.kit.clock import now
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

SCHEMA = {
    "type": "object",
    "properties": {
        "plan": {"type": "string", "description": "The plan", "enum": ["free", "pro"]},
        "seats": {"type": "number", "description": "How many"},
        "unsigned": {
            "type": "object",
            "description": "Unsigned claims of the site visitor.",
            "properties": {"beta": {"type": "boolean", "description": "Tries what is new"}},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
PRO, BETA = 'visitor.claims.plan == "pro"', "visitor.claims.unsigned.beta"

GUIDE = {
    "start": "# Start\n\nGuide words\n",
    "more": (
        "# More\n\nOpen words\n\n"
        f"{{% if {PRO} %}}\nPaid words\n\n{{% if {BETA} %}}\nPaid beta words\n{{% endif %}}\n{{% endif %}}\n\n"
        f"{{% if {BETA} %}}\nBeta words\n{{% endif %}}\n\n"
        "{% if visitor.claims. %}\nBroken words\n{% endif %}\n"
    ),
    "kept": f"---\nif: {PRO}\n---\n\n# Kept\n\nKept words\n",
    "seats": "---\nif: visitor.claims.seats > 3\n---\n\n# Seats\n\nSeats words\n",
    "secret": "---\nhidden: true\n---\n\n# Secret\n\nSecret words\n",
}
BELOW_KEPT = "# Deep\n\nDeep words\n"
WHO = [{}, {"plan": "free"}, {"plan": "pro"}, {"plan": "pro", "unsigned": {"beta": True}}, {"seats": 4}]


class Site:
    """Site with visitor authentication and the sections Guide, whose variant Old requires a claim about new
    features, Plans for paying visitors, and a draft."""

    def __init__(self, world):
        self.world = world
        sites = world.home.path("/orgs/{organizationId}/sites")
        self.id = world.post("admin", sites, {"title": "Manuals"})["id"]
        self.path = f"{sites}/{self.id}"
        self.guide = self.section("Guide", self.space("Guide", GUIDE))
        plans = self.section("Plans", self.space("Plans", {"plans": "# Plans\n\nPlans words\n"}))
        self.change("PATCH", f"sections/{plans['id']}", {"condition": PRO})
        draft = self.section("Next", self.space("Next", {"next": "# Next\n\nNext words\n"}))
        self.change("PATCH", f"sections/{draft['id']}", {"draft": True})
        old = {"spaceId": self.space("Old", {"old": "# Old\n\nOld words\n"}), "sectionId": self.guide["id"]}
        old = self.change("POST", "site-spaces", old)
        self.change("PATCH", f"site-spaces/{old['id']}", {"condition": BETA})
        self.change("PUT", "adaptive-schema", {"jsonSchema": SCHEMA})
        self.change("PATCH", "", {"visibility": "visitor-auth", "adaptiveContent": {"enabled": True}})
        self.key = world.get("admin", f"{self.path}/publishing/auth")["privateKey"]
        self.base = urlsplit(world.post("admin", f"{self.path}/publish")["urls"]["published"]).path
        self.visitor = Visitor(world.context)

    def change(self, method, path, body):
        answer = self.world.call("admin", method, f"{self.path}/{path}".rstrip("/"), json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def space(self, title, pages):
        spaces = self.world.home.path("/orgs/{organizationId}/spaces")
        space = self.world.post("admin", spaces, {"title": title})["id"]
        self.edit(
            space,
            [
                {"operation": "insert_page", "slug": slug, "document": {"markdown": text}}
                for slug, text in pages.items()
            ],
        )
        if "kept" in pages:
            kept = self.world.get("admin", f"/spaces/{space}/content/path/kept")["id"]
            below = {"operation": "insert_page", "into": kept, "slug": "deep"}
            self.edit(space, [{**below, "document": {"markdown": BELOW_KEPT}}])
        return space

    def edit(self, space, changes):
        path = f"/spaces/{space}/change-requests"
        change = self.world.post("admin", path, {"subject": "Fill"})["id"]
        self.world.post("admin", f"{path}/{change}/content", {"changes": changes})
        self.world.post("admin", f"{path}/{change}/merge")

    def section(self, title, space):
        return self.change("POST", "sections", {"spaceId": space, "title": title})

    def ask(self, claims, who="admin", **query):
        return self.world.call(
            who,
            "GET",
            f"{self.path}/publishing/preview/content",
            params={"claims": json.dumps(claims), **query},
        )

    def list(self, claims, limit=50, **query):
        """Return all entries, requested in pages of this size."""
        found, page = [], {}
        while True:
            answer = self.ask(claims, limit=limit, **query, **page)
            assert answer.status_code == 200, answer.text
            listing = answer.json()
            found += listing["items"]
            assert len(listing["items"]) <= limit
            if "next" not in listing:
                assert listing["count"] == len(found)
                return found
            page = listing["next"]

    def get(self, path, claims):
        """Return what the reader serves to a visitor with these claims, unsigned ones in the URL."""
        signed = {name: value for name, value in claims.items() if name != "unsigned"}
        token = jwt.encode(
            {"alg": "HS256"}, {"exp": now() // 1000 + 600, **signed}, OctKey.import_key(self.key)
        )
        said = "&".join(f"visitor.{k}={json.dumps(v)}" for k, v in claims.get("unsigned", {}).items())
        return self.visitor.get(f"{self.base}{quote(path)}?{said}", cookie=f"octavo-visitor={token}")


@pytest.fixture
def site(world):
    return Site(world)


@pytest.mark.parametrize("claims", WHO, ids=json.dumps)
def test_the_list_matches_the_urls_of_the_reader(site, claims):
    parts = site.list(claims)
    assert [(one["object"], one["title"], one["level"]) for one in parts] == [
        ("site-section", "Guide", 0),
        ("site-space", "Guide", 1),
        ("site-space", "Old", 1),
        ("site-section", "Plans", 0),
        ("site-space", "Plans", 1),
        ("site-section", "Next", 0),
        ("site-space", "Next", 1),
    ]
    asked = 0
    for part in parts:
        if part["object"] != "site-space":
            continue
        for page in site.list(claims, siteSpace=part["id"]):
            served = site.get(page["path"], claims)
            assert served.status_code == (200 if page["visible"] else 404), (claims, page)
            assert page["visible"] is ("hiddenBy" not in page)
            words = f"{page['title'] if page['title'] != 'Start' else 'Guide'} words"
            if page["visible"]:
                assert part["visible"] and (words in served.text or page["title"] == "More")
            for one in page.get("parts", []):
                assert (one["text"][:10] in served.text) is one["condition"]["holds"], one
            asked += 1
    assert asked == 9
    home = site.get("", claims).text
    for part in parts:
        if part["object"] == "site-section" and part["title"] != "Guide":
            assert (f'href="{site.base}{part["title"].lower()}/"' in home) is part["visible"]


def test_the_deciding_condition_is_named(site):
    parts = {one["title"]: one for one in site.list({"plan": "free"}) if one["object"] == "site-space"}
    held_back = {"expression": PRO, "holds": False}
    plans = parts["Plans"]["hiddenBy"]
    assert (plans["object"], plans["title"], plans["reason"]) == ("site-section", "Plans", "condition")
    assert plans["condition"] == held_back
    assert parts["Next"]["hiddenBy"]["reason"] == "draft" and "condition" not in parts["Next"]["hiddenBy"]
    assert parts["Old"]["hiddenBy"]["object"] == "site-space"
    pages = {one["title"]: one for one in site.list({"plan": "free"}, siteSpace=parts["Guide"]["id"])}
    assert pages["Kept"]["hiddenBy"]["id"] == pages["Kept"]["id"]
    assert pages["Kept"]["condition"] == held_back
    # Contents are hidden by their parent, and have no condition of their own.
    assert pages["Deep"]["hiddenBy"]["title"] == "Kept" and "condition" not in pages["Deep"]
    assert pages["Deep"]["level"] == pages["Kept"]["level"] + 1 and "parts" not in pages["Deep"]
    assert pages["Secret"]["visible"] and not pages["Secret"]["listed"] and pages["Start"]["listed"]
    told = [(one["text"], one["condition"]["holds"]) for one in pages["More"]["parts"]]
    assert told == [("Paid words Paid beta words", False), ("Beta words", False), ("Broken words", False)]
    assert (
        pages["More"]["parts"][2]["condition"]["problem"]
        and "problem" not in pages["More"]["parts"][0]["condition"]
    )
    # A nested part is evaluated only if its parent is shown.
    pro = {one["title"]: one for one in site.list({"plan": "pro"}, siteSpace=parts["Guide"]["id"])}
    told = [(one["text"], one["condition"]["holds"]) for one in pro["More"]["parts"]]
    assert told[:2] == [("Paid words Paid beta words", True), ("Paid beta words", False)]
    assert pro["Deep"]["visible"]
    # The pages of a hidden variant have the same obstacle as the variant.
    assert [one["hiddenBy"]["reason"] for one in site.list({}, siteSpace=parts["Next"]["id"])] == ["draft"]


def test_claims_that_are_not_in_the_schema_are_listed(site):
    given = {"plan": "gold", "seats": 2, "role": "x", "unsigned": {"beta": "yes", "plan": "pro"}}
    listing = site.ask(given).json()
    assert listing["claims"] == {"seats": 2, "unsigned": {}}
    assert listing["ignored"] == ["plan", "role", "unsigned.beta", "unsigned.plan"]
    assert listing["enabled"] is True
    assert site.ask({"unsigned": 7}).json()["ignored"] == ["unsigned"]
    site.change("PATCH", "", {"adaptiveContent": {"enabled": False}})
    listing = site.ask({"plan": "pro"}).json()
    assert listing["enabled"] is False and listing["ignored"] == []


def test_pages_of_the_list_neither_skip_nor_repeat(site):
    whole = site.list({})
    for limit in (1, 2, 3):
        assert site.list({}, limit=limit) == whole
    guide = next(one["id"] for one in whole if one["object"] == "site-space")
    pages = site.list({}, siteSpace=guide)
    for limit in (1, 2, 4):
        assert site.list({}, limit=limit, siteSpace=guide) == pages
    # After a deleted page, the list continues at its position.
    first = site.ask({}, limit=4, siteSpace=guide).json()
    assert first["items"][-1]["title"] == "Deep"
    space = site.guide["siteSpaces"][0]["space"]["id"]
    site.edit(space, [{"operation": "delete_page", "page": first["items"][-1]["id"]}])
    rest = site.ask({}, siteSpace=guide, **first["next"]).json()
    assert [one["title"] for one in rest["items"]] == ["Seats", "Secret"] and rest["count"] == 5


@pytest.mark.parametrize(
    "query",
    [
        {"claims": "[]"},
        {"claims": "{"},
        {"claims": "[" * 1500},
        {"claims": '{"a":' * 200},
        {"page": "x"},
        {"page": "WyJ4Il0x"},
        {"limit": "201"},
        {"claims": f'"{"x" * 4096}"'},
    ],
    ids=lambda query: str(query)[:20],
)
def test_invalid_requests_are_refused(site, query):
    answer = site.world.call("admin", "GET", f"{site.path}/publishing/preview/content", params=query)
    assert answer.status_code == 400 and next(iter(query)) in answer.json()["error"]["message"]


def test_previews_require_access_to_every_space_of_the_site(site):
    assert site.ask({}, "reader").status_code == 200
    other = site.world.home["siteSpaceId"]
    assert site.ask({}, siteSpace=other).status_code == 404
    space = site.guide["siteSpaces"][0]["space"]["id"]
    site.world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    assert site.ask({}, "reader").status_code == 403
    assert site.ask({}, "stranger").status_code == 404
