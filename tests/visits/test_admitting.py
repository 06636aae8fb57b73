"""Access to site content: sections and variants, share links, authenticated visitors, conditions, previews,
redirects."""

import hmac
import json
import re
from base64 import urlsafe_b64encode
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey, RSAKey

from octavo.kit.clock import now
from octavo.organization.identity.removal import disable_member
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

LOGIN = "https://login.example.org/start?tenant=1"


class Site:
    """Published site with the sections Guide (with the variant Old) and Plans, each with one page."""

    def __init__(self, world):
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites")
        self.id = world.post("admin", self.path, {"title": "Manuals"})["id"]
        self.path += f"/{self.id}"
        self.guide = self.make("sections", {"spaceId": self.space("Guide"), "title": "Guide"})
        self.plans = self.make("sections", {"spaceId": self.space("Plans"), "title": "Plans"})
        self.old = self.make("site-spaces", {"spaceId": self.space("Old"), "sectionId": self.guide["id"]})
        published = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        self.base = urlsplit(published).path
        self.visitor = Visitor(world.context)

    def space(self, title):
        """Create a space with a home page and a page that names its space."""
        path = self.world.home.path("/orgs/{organizationId}/spaces")
        space = self.world.post("admin", path, {"title": title})["id"]
        change = self.world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
        body = {
            "changes": [
                {"operation": "insert_page", "document": {"markdown": f"# {title} start\n\n{title} words\n"}},
                {"operation": "insert_page", "document": {"markdown": f"# More\n\n{title} secrets\n"}},
            ]
        }
        self.world.post("admin", f"/spaces/{space}/change-requests/{change}/content", body)
        self.world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")
        return space

    def make(self, path, body):
        return self.world.post("admin", f"{self.path}/{path}", body)

    def change(self, path, body):
        answer = self.world.call("admin", "PATCH", f"{self.path}/{path}".rstrip("/"), json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path="", **headers):
        return self.visitor.get(self.base + path, **headers)

    def seen(self, prefix="", **headers):
        """Return everything that a visitor can see, in one text."""
        places = (
            "",
            "plans/",
            "old/",
            "sitemap.xml",
            "llms.txt",
            "~search.json?q=secrets",
            "~search?q=secrets",
        )
        places += ("plans/more", "plans/more.md", "old/more")
        return "\n".join(
            answer.text for p in places if (answer := self.get(prefix + p, **headers)).is_success
        )


@pytest.fixture
def site(world):
    return Site(world)


def to(answer):
    assert answer.status_code == 307, answer.text
    return answer.headers["location"]


def test_sections_and_variants_have_urls(site):
    assert "Guide words" in site.get().text
    assert "Guide secrets" in site.get("more").text
    assert "Plans words" in site.get("plans/").text
    assert "Old secrets" in site.get("old/more").text
    assert to(site.get("PLANS/more")) == f"{site.base}plans/more"
    assert to(site.get("plans")) == f"{site.base}plans/"
    # The first page of each is Markdown at its URL with `.md` appended.
    for path in ("plans", "old"):
        start = to(site.get(f"{path}.md"))
        assert site.visitor.get(start).text.startswith("# ") and start.startswith(f"{site.base}{path}/")
    assert site.get("nowhere.md").status_code == site.get("plans/nowhere.md").status_code == 404
    # Each links to the others.
    for path in ("", "plans/", "old/"):
        page = site.get(path).text
        assert f'href="{site.base}plans/"' in page
    assert f'href="{site.base}old/"' in site.get().text
    assert "plans/more" in site.get("sitemap.xml").text
    assert "Plans" in site.get("~search.json?q=secrets").text


def test_cached_pages_of_a_visitor_are_private(site, clock, monkeypatch):
    """And no longer than their proof is valid."""
    site.change("", {"visibility": "visitor-auth", "adaptiveContent": {"enabled": True}})
    schema = {
        "type": "object",
        "properties": {"paying": {"type": "boolean", "description": "x"}},
        "additionalProperties": False,
    }
    site.world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.paying"})
    auth = f"{site.path}/publishing/auth"
    site.world.call("admin", "PATCH", auth, json={"backend": "custom", "fallbackURL": LOGIN})

    def cookie(**claims):
        key = site.world.get("admin", auth)["privateKey"]
        made = {"exp": now() // 1000 + 600, **claims}
        return f"octavo-visitor={jwt.encode({'alg': 'HS256'}, made, OctKey.import_key(key))}"

    paying, other = cookie(paying=True), cookie(paying=False)
    plans, start = f'href="{site.base}plans/"', site.get(cookie=paying)
    assert plans in start.text and plans not in site.get(cookie=other).text
    assert site.get().status_code == 307
    # The second request is answered without the database.
    database, asked = site.world.context.db, []
    read = database.read
    monkeypatch.setattr(database, "read", lambda: asked.append(1) or read())
    again = site.get(cookie=paying)
    assert again.content == start.content and "private" in again.headers["cache-control"]
    assert not asked or database.generation() is None
    assert (
        plans not in site.get(cookie=other).text
        and plans not in site.get("?visitor.paying=true", cookie=other).text
    )
    clock.advance(599_000)
    assert site.get(cookie=paying).status_code == 200
    clock.advance(62_000)
    assert site.get(cookie=paying).status_code == 307, "the token has expired"
    # Any commit makes it check again.
    paying = cookie(paying=True)
    assert site.get(cookie=paying).status_code == site.get(cookie=paying).status_code == 200
    site.world.post("admin", f"{auth}/regenerate")
    assert site.get(cookie=paying).status_code == 307
    assert site.get(cookie=cookie(paying=True)).status_code == 200


def test_former_urls_and_redirects_redirect_visitors(site):
    site.change(f"sections/{site.plans['id']}", {"path": "prices"})
    assert to(site.get("plans/more")) == f"{site.base}prices/more"
    site.make(
        "redirects",
        {"source": "/buy", "destination": {"kind": "site-section", "siteSectionId": site.plans["id"]}},
    )
    assert to(site.get("Buy")) == f"{site.base}prices/"
    site.make(
        "redirects", {"source": "/shop/*", "destination": {"kind": "url", "url": "https://shop.example.org/"}}
    )
    assert to(site.get("shop/a/b")) == "https://shop.example.org/"
    assert site.get("nowhere").status_code == 404
    # Existing content takes precedence over redirects.
    site.make(
        "redirects",
        {"source": "/more", "destination": {"kind": "site-section", "siteSectionId": site.plans["id"]}},
    )
    assert site.get("more").status_code == 200
    old = site.base
    site.change("", {"basename": "handy"})
    assert to(site.visitor.get(f"{old}prices/")).endswith("/handy/prices/")


def test_redirects_only_target_visible_content(site):
    for source, kind in (("/a", "siteSectionId"), ("/b", "siteSpaceId")):
        target = site.plans["id"] if kind == "siteSectionId" else site.plans["siteSpaces"][0]["id"]
        kind_of = "site-section" if kind == "siteSectionId" else "site-space"
        site.make("redirects", {"source": source, "destination": {"kind": kind_of, kind: target}})
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.paying"})
    site.change(f"sections/{site.plans['id']}", {"path": "prices"})
    for path in ("a", "b", "plans/", "prices/"):
        assert site.get(path).status_code == 404, path


@pytest.mark.parametrize("how", [{"draft": True}, {"condition": "false"}, {"condition": "visitor.claims.x"}])
def test_hidden_content_is_absent_everywhere(site, how):
    assert "Plans secrets" in site.seen()
    site.change(f"sections/{site.plans['id']}", how)
    assert "plans" not in site.seen().lower()
    assert site.get("plans/more").status_code == 404


def test_variants_can_be_conditional(site):
    site.change(f"site-spaces/{site.old['id']}", {"condition": "visitor.claims.x"})
    assert "Old" not in site.seen() and site.get("old/more").status_code == 404
    # If the default is hidden, the site starts with the rest.
    site.change(f"site-spaces/{site.old['id']}", {"condition": None})
    site.change(f"site-spaces/{site.guide['siteSpaces'][0]['id']}", {"condition": "false"})
    assert to(site.get()) == f"{site.base}old/"
    assert site.get("more").status_code == 404


def test_urls_in_other_scripts_work(site):
    """URLs in headers are escaped."""
    world = site.world
    site.change("", {"basename": "Книги"})
    site.change(f"sections/{site.plans['id']}", {"path": "цены"})
    base = urlsplit(world.get("admin", site.path)["urls"]["published"]).path
    plain, quoted = f"/{base.strip('/').partition('/')[0]}/книги/", quote(unquote(base))
    assert unquote(base) == plain
    for start in (plain, quoted, site.base):
        for path in ("", "цены/", "цены", "цены/more", "цены/more/", "plans/more", "old", "old/more.md"):
            answer = site.visitor.get(f"{start}{path}")
            while answer.status_code == 307:
                assert answer.headers["location"].isascii() and answer.headers["location"].startswith(quoted)
                answer = site.visitor.get(answer.headers["location"])
            assert answer.status_code == 200, (start, path, answer.text)
    for name in ("", "sitemap-pages.xml", "llms.txt"):
        assert f"{plain}цены/" in unquote(site.visitor.get(f"{quoted}{name}").text), name
    shown = world.post("nobody", "/urls/published", {"url": f"http://127.0.0.1:8001{quoted}{quote('цены')}"})
    assert shown["space"] == site.plans["siteSpaces"][0]["space"]["id"]
    site.change("", {"visibility": "visitor-auth"})
    key = site.change("publishing/auth", {"backend": "custom", "fallbackURL": LOGIN})["privateKey"]
    answer = site.visitor.get(f"{quoted}{quote('цены')}/more?jwt_token={signed(key)}")
    assert to(answer) == f"{quoted}{quote('цены')}/more"
    assert cookies(answer)["octavo-visitor"]["path"] == quoted.rstrip("/")
    site.change("", {"visibility": "share-link"})
    link = urlsplit(site.make("share-links", {"name": "A"})["urls"]["published"]).path
    assert site.visitor.get(f"{link}цены").headers["location"].isascii()


# --- share links --------------------------------------------------------------------------------------


def test_share_links_open_a_site_until_disabled(site):
    site.change("", {"visibility": "share-link"})
    link, other = site.make("share-links", {"name": "A"}), site.make("share-links", {"name": "B"})
    bases = [urlsplit(one["urls"]["published"]).path for one in (link, other)]
    assert site.get().status_code == 404 and site.get("more").status_code == 404
    for base in bases:
        page = site.visitor.get(f"{base}plans/more")
        assert "Plans secrets" in page.text and f'href="{base}plans/"' in page.text
        assert page.headers["cache-control"].startswith("private")
        assert page.headers["x-robots-tag"] == "noindex"
        assert site.visitor.get(f"{base}sitemap.xml").status_code == 404
    site.change(f"share-links/{link['id']}", {"active": False})
    assert site.visitor.get(f"{bases[0]}plans/more").status_code == 404
    assert site.visitor.get(f"{bases[1]}plans/more").status_code == 200
    site.change(f"share-links/{link['id']}", {"active": True})
    assert site.visitor.get(f"{bases[0]}plans/more").status_code == 200
    site.world.call("admin", "DELETE", f"{site.path}/share-links/{link['id']}")
    assert site.visitor.get(f"{bases[0]}plans/more").status_code == 404


def test_a_key_of_another_site_opens_nothing(site):
    site.change("", {"visibility": "share-link"})
    theirs = site.world.post(
        "stranger", site.world.away.path("/orgs/{organizationId}/sites/{siteId}/share-links"), {"name": "x"}
    )["id"]
    site.world.post("stranger", site.world.away.path("/orgs/{organizationId}/sites/{siteId}/publish"))
    listed = site.world.get(
        "stranger", site.world.away.path("/orgs/{organizationId}/sites/{siteId}/share-links")
    )
    url = next(item["urls"]["published"] for item in listed["items"] if item["id"] == theirs)
    key = url.rstrip("/").rpartition("/")[2]
    assert len(key) == 24
    for guess in (key, "", "x", key.lower(), "%2e%2e", "." * 24):
        assert site.get(f"{guess}/more").status_code == 404


# --- authenticated visitors ---------------------------------------------------------------------------


def signed(key, **claims):
    return jwt.encode({"alg": "HS256"}, {"exp": now() // 1000 + 600, **claims}, OctKey.import_key(key))


def forged(key, **header):
    """Return a token whose header claims another algorithm than it is signed with, using the site's own key."""
    parts = [json.dumps(part).encode() for part in (header, {"exp": now() // 1000 + 600})]
    said = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = urlsafe_b64encode(hmac.digest(key.encode(), said, "sha256")).rstrip(b"=")
    return f"{said.decode()}.{signature.decode()}"


@pytest.fixture
def key(site):
    site.change("", {"visibility": "visitor-auth"})
    return site.change("publishing/auth", {"backend": "custom", "fallbackURL": LOGIN})["privateKey"]


def cookies(answer):
    found = SimpleCookie()
    for value in answer.headers.get_list("set-cookie"):
        found.load(value)
    return found


def test_visitors_sign_in_and_out(site, key):
    answer = site.get("plans/more")
    location = urlsplit(to(answer))
    assert location.netloc == "login.example.org"
    assert parse_qs(location.query) == {"tenant": ["1"], "location": ["/plans/more"]}
    assert "Plans" not in answer.text
    token = signed(key)
    answer = site.get(f"plans/more?jwt_token={token}&q=1")
    # The token doesn't stay in the URL.
    assert to(answer) == f"{site.base}plans/more?q=1"
    cookie = cookies(answer)["octavo-visitor"]
    assert (cookie.value, cookie["httponly"], cookie["path"]) == (token, True, site.base.rstrip("/"))
    page = site.get("plans/more", cookie=f"octavo-visitor={token}")
    assert "Plans secrets" in page.text
    assert page.headers["cache-control"].startswith("private")
    # Answers for one visitor aren't cached for others.
    assert site.get("plans/more").status_code == 307
    assert "Plans" in site.get("plans/more", cookie=f"gitbook-visitor-token={token}").text
    gone = site.get("~gitbook/auth/logout", cookie=f"octavo-visitor={token}")
    assert cookies(gone)["octavo-visitor"]["max-age"] == "0"


def test_invalid_tokens_are_refused(site, key):
    soon = now() // 1000 + 600
    rsa = RSAKey.generate_key(2048)
    other = site.world.get(
        "stranger", site.world.away.path("/orgs/{organizationId}/sites/{siteId}/publishing/auth")
    )
    head = "eyJhbGciOiJub25lIn0"
    bad = [
        f"{head}.{signed(key).split('.')[1]}.",
        jwt.encode({"alg": "RS256"}, {"exp": soon}, rsa),
        jwt.encode({"alg": "HS512"}, {"exp": soon}, OctKey.import_key(key), algorithms=["HS512"]),
        *(forged(key, alg=alg) for alg in ("RS256", "none", "None", "hs256", "HS512", None)),
        forged(key),
        signed(other["privateKey"]),
        jwt.encode({"alg": "HS256"}, {}, OctKey.import_key(key)),
        signed(key, exp=soon - 7200),
        signed(key, nbf=soon),
        signed(key, exp="soon"),
        signed(key, exp=float("1e300")) + "x",
        signed(key, nbf=float("1e300")),
        signed(key, nbf=10**400),
        signed(key, exp=float("nan")),
        signed(key, exp=-(10**400)),
        signed(key, exp=True),
        signed(key, exp=None),
        signed(key, big="x" * 20_000),
        "",
        "a.b.c",
        signed(key) + "~",
        signed(key) + "\u00e9",
        "\u00e9",
    ]
    for token in bad:
        answer = site.visitor.get(f"{site.base}plans/more", cookie=f"octavo-visitor={token}".encode())
        assert answer.status_code == 307 and "login" in answer.headers["location"], token[:60]
        answer = site.get(f"plans/more?jwt_token={token}")
        assert answer.status_code in (401, 414) and "Plans" not in answer.text, token[:60]
    site.world.post("admin", f"{site.path}/publishing/auth/regenerate")
    assert site.get("plans/more", cookie=f"octavo-visitor={signed(key)}").status_code == 307


@pytest.mark.parametrize(
    ("login", "led"),
    [
        ("http://[", "http://["),
        ("https://a:99999999/", "https://a:99999999/"),
        ("https://login.test/?a=b#c", "https://login.test/?a=b#c"),
        ("https://login.test/\u00fc\u2100", "https://login.test/%C3%BC%E2%84%80"),
    ],
)
def test_a_login_page_at_any_url_is_used(site, key, login, led):
    body = {"backend": "custom", "fallbackURL": login}
    assert site.world.call("admin", "PATCH", f"{site.path}/publishing/auth", json=body).status_code == 200
    answer = site.get("plans/more")
    assert answer.status_code == 307 and answer.headers["location"].startswith(led)


def test_line_breaks_are_removed_from_login_urls(site, key):
    login = "https://login.test/\r\nSet-Cookie: a=b"
    body = {"backend": "custom", "fallbackURL": login}
    assert site.world.call("admin", "PATCH", f"{site.path}/publishing/auth", json=body).status_code == 400
    body["fallbackURL"] = "https://login.test/kept"
    assert site.world.call("admin", "PATCH", f"{site.path}/publishing/auth", json=body).status_code == 200
    with site.world.context.db.write() as tx:
        written = "\\r\\nSet-Cookie: a=b"
        assert tx.run(
            "UPDATE sites SET settings = replace(settings, '/kept', :written) WHERE id = :id",
            written=f"/{written}",
            id=site.path.rsplit("/", 1)[-1],
        )
    answer = site.get("plans/more")
    assert answer.status_code == 307
    assert answer.headers["location"].startswith("https://login.test/%0D%0ASet-Cookie:%20a=b")


@pytest.mark.parametrize(
    "more", ["; Domain=evil.example", "%0d%0aSet-Cookie: a=b", "%0aa", ";", "%20", "%09", "%00"]
)
def test_a_token_is_one_cookie(site, key, more):
    answer = site.get(f"plans/more?jwt_token={signed(key)}{more}")
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


@pytest.mark.parametrize("exp", [10**12, 10**400, 1e300])
def test_a_long_lived_token_ends_with_its_key(site, key, exp):
    cookie = f"octavo-visitor={signed(key, exp=exp)}"
    assert "Plans secrets" in site.get("plans/more", cookie=cookie).text
    site.world.post("admin", f"{site.path}/publishing/auth/regenerate")
    assert site.get("plans/more", cookie=cookie).status_code == 307


def test_the_login_only_receives_paths_of_the_site(site, key):
    for wanted in (
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "/\n\\evil.example",
        "javascript:alert(1)",
    ):
        location = to(site.visitor.get(f"{site.base}~gitbook/auth/login", params={"location": wanted}))
        assert parse_qs(urlsplit(location).query)["location"] == ["/"]


@pytest.mark.parametrize(
    "path",
    ["", "plans", "plans/", "Plans/more", "robots.txt", "llms.txt", "~search.json?q=secrets", "a/b/c", "~x"]
    + [
        "plans%2fmore",
        "%70lans/more",
        "plans/%2e%2e/plans/more",
        "x/..%2fplans/more",
        "plans/more%00",
        "%ff%fe",
    ]
    + ["plans//more", "plans\\more", "plans/more;x", "plans/more%23", "%252e%252e/plans"],
)
def test_no_spelling_of_a_url_bypasses_authentication(site, key, path):
    answer = site.get(path)
    assert "secrets" not in answer.text
    assert answer.status_code == 404 or "login.example.org" in to(answer)
    site.change("publishing/auth", {"backend": "custom", "fallbackURL": None})
    assert site.get(path).status_code == 404


BOOLEAN = {"type": "boolean", "description": "Whether they pay"}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "paying": BOOLEAN,
        "unsigned": {
            "type": "object",
            "description": "Unsigned claims of the site visitor.",
            "properties": {"beta": BOOLEAN},
            "additionalProperties": False,
        },
    },
}


@pytest.fixture
def adaptive(site):
    answer = site.world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": SCHEMA})
    assert answer.status_code == 200, answer.text
    site.change("", {"adaptiveContent": {"enabled": True}})


def test_conditions_use_signed_claims_in_the_schema(site, key, adaptive):
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.paying"})

    def seen(**claims):
        return "Plans secrets" in site.seen(cookie=f"octavo-visitor={signed(key, **claims)}")

    assert seen(paying=True)
    assert not seen() and not seen(paying=False)
    # A claim of another type, or under the unsigned ones, doesn't exist.
    assert not seen(paying="true") and not seen(unsigned={"paying": True})
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.rank > 1"})
    assert not seen(rank=2)


def test_signed_claims_apply_with_a_share_link(site, key, adaptive):
    site.change("", {"visibility": "share-link"})
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.paying"})
    base = urlsplit(site.make("share-links", {"name": "A"})["urls"]["published"]).path
    cookie = f"octavo-visitor={signed(key, paying=True)}"
    assert site.visitor.get(f"{base}plans/more", cookie=cookie).status_code == 200
    assert site.visitor.get(f"{base}plans/more").status_code == 404
    # The link grants access.
    assert site.get("plans/more", cookie=cookie).status_code == 404


def test_unsigned_claims_open_content_without_further_conditions(site, adaptive):
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.unsigned.beta"})
    site.change(f"site-spaces/{site.old['id']}", {"condition": "visitor.claims.paying"})
    assert "Plans" not in site.get().text
    assert "Plans" in site.get("?visitor.beta=true").text
    assert "Plans" not in site.get("?visitor.beta=yes").text
    assert "Plans" in site.get(cookie='gitbook-visitor-public={"beta":true}').text
    for cookie in ("{", "[]", "7", '{"beta":"true"}', "[" * 5000):
        assert "Plans" not in site.get(cookie=f"octavo-visitor-public={cookie}").text
    # Unsigned claims don't count where signed ones are required.
    assert "Old" not in site.get("?visitor.paying=true&visitor.beta=true").text
    assert "Plans" not in site.get().text


def test_queries_survive_redirects_to_canonical_urls(site, adaptive):
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.unsigned.beta"})
    query = "?visitor.beta=true&q=a%20b"
    for spelled, right in (("plans", "plans/"), ("plans/more/", "plans/more")):
        answer = site.get(spelled + query)
        assert to(answer) == f"{site.base}{right}{query}", spelled
        assert site.visitor.get(to(answer)).status_code == 200
    assert to(site.visitor.get(site.base.rstrip("/") + query)) == site.base + query
    # The only remaining section is visible because of the URL's claim.
    site.change(f"sections/{site.guide['id']}", {"condition": "false"})
    answer = site.get(query)
    assert to(answer) == f"{site.base}plans/{query}" and site.visitor.get(to(answer)).status_code == 200


def test_pages_and_blocks_can_be_conditional(site, key, adaptive):
    space = site.guide["siteSpaces"][0]["space"]["id"]
    text = "# More\n\nOpen words\n\n{% if visitor.claims.paying %}\nPaid words\n{% endif %}\n"
    kept = "---\nif: visitor.claims.paying\n---\n\n# Kept\n\nKept words, see more.\n"
    change = site.world.post("admin", f"/spaces/{space}/change-requests", {"subject": "x"})["id"]
    pages = site.world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    page = next(one["id"] for one in pages if one["slug"] == "more")
    body = {
        "changes": [
            {"operation": "update_page", "page": page, "document": {"markdown": text}},
            {"operation": "insert_page", "document": {"markdown": kept}},
        ]
    }
    site.world.post("admin", f"/spaces/{space}/change-requests/{change}/content", body)
    site.world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")
    places = (
        "",
        "more",
        "more.md",
        "kept",
        "kept.md",
        "llms.txt",
        "~search.json?q=kept",
        "~search.json?q=paid",
    )

    def told(**claims):
        cookie = f"octavo-visitor={signed(key, **claims)}"
        answers = [site.get(place, cookie=cookie) for place in places]
        return [answer.status_code for answer in answers], "\n".join(answer.text for answer in answers)

    for _ in range(2):
        # In turn, so that cached answers would show up for the other one.
        statuses, text = told(paying=True)
        assert statuses[3:5] == [200, 200] and "Kept words" in text and "Paid words" in text
        statuses, text = told(paying=False)
        assert statuses[3:5] == [404, 404]
        assert "Open words" in text and "Paid words" not in text and "Kept" not in text.replace("kept", "")


# --- previews -----------------------------------------------------------------------------------------


def test_members_preview_unpublished_sites(site, adaptive):
    site.world.post("admin", f"{site.path}/unpublish")
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.paying"})
    assert site.get().status_code == 404

    def preview(**query):
        answer = site.world.call("admin", "GET", f"{site.path}/publishing/preview", params=query)
        assert answer.status_code == 200, answer.text
        url = urlsplit(answer.json()["url"])
        first = site.visitor.get(f"{url.path}?{url.query}")
        assert to(first) == url.path
        return cookies(first)["octavo-preview"].value

    assert "Guide words" in site.get(cookie=f"octavo-preview={preview()}").text
    assert "Plans" not in site.seen(cookie=f"octavo-preview={preview()}")
    paying = preview(claims='{"paying": true}')
    assert "Plans secrets" in site.seen(cookie=f"octavo-preview={paying}")
    assert site.get("sitemap.xml", cookie=f"octavo-preview={paying}").status_code == 404
    assert site.get().status_code == 404
    for bad in (paying + "x", "x", "", site.world.context.signer.sign("other", "{}")):
        assert site.get(cookie=f"octavo-preview={bad}").status_code == 404
    answer = site.world.call("admin", "GET", f"{site.path}/publishing/preview", params={"claims": "[]"})
    assert answer.status_code == 400


def tried(site, person="admin", **body):
    given = {"customization": {"styling": {"theme": "bold"}, "title": "Tried title"}, **body}
    return site.world.call(person, "POST", f"{site.path}/customization/preview", json=given)


def test_an_unsaved_customization_is_only_shown_in_a_frame_of_the_app(site):
    answer = tried(site, theme="dark")
    assert answer.status_code == 200, answer.text
    path = urlsplit(answer.json()["url"]).path
    shown = site.visitor.get(path)
    assert shown.status_code == 200, shown.text
    assert "theme-bold" in shown.text and 'data-theme="dark"' in shown.text and "Tried title" in shown.text
    app = urlsplit(site.world.context.settings.url)
    assert f"frame-ancestors 'self' {app.scheme}://{app.netloc}" in shown.headers["content-security-policy"]
    assert "set-cookie" not in shown.headers and shown.headers["x-robots-tag"] == "noindex"
    assert "theme-bold" not in site.get().text
    # The next unsaved customization appears at the same URL.
    tried(site, customization={"styling": {"theme": "muted"}})
    assert "theme-muted" in site.visitor.get(path).text
    # It also works for unpublished sites, and no URL without a valid token does.
    site.world.post("admin", f"{site.path}/unpublish")
    assert site.visitor.get(path).status_code == 200
    for bad in (path.replace("/~previewed/", "/~previewed/x"), "/~previewed/", "/~previewed/x/"):
        assert site.visitor.get(bad).status_code == 404


def test_previewed_overrides_of_a_variant_replace_saved_ones(site):
    there = site.plans["siteSpaces"][0]["id"]
    kept = f"{site.path}/site-spaces/{there}/customization"
    site.world.call("admin", "PATCH", kept, json={"styling": {"theme": "muted"}, "title": "Kept title"})
    answer = tried(site, siteSpace=there, override={"styling": {"theme": "gradient", "corners": None}})
    assert answer.status_code == 200, answer.text
    path = urlsplit(answer.json()["url"]).path
    shown = site.visitor.get(path).text
    assert "theme-gradient" in shown and "Tried title" in shown and "Kept title" not in shown
    # The next unsaved customization applies to the whole site again.
    tried(site, siteSpace=there)
    assert "theme-muted" in site.visitor.get(path).text
    assert tried(site, override={"title": "Without a place"}).status_code == 400
    assert tried(site, siteSpace="nothing", override={"title": "Nowhere"}).status_code == 404


def test_previewing_a_customization_requires_editing_it_and_seeing_all_content(site):
    assert tried(site, "reader").status_code == 403
    assert tried(site, customization={"header": {"links": "no"}}).status_code == 400
    assert tried(site, siteSpace="nothing").status_code == 404
    link = {"title": "Elsewhere", "to": {"kind": "space", "space": "nothing"}, "links": []}
    assert tried(site, customization={"header": {"links": [link]}}).status_code == 404


def test_a_preview_requires_access_to_all_content(site):
    space = site.plans["siteSpaces"][0]["space"]["id"]
    site.world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    path = f"{site.path}/publishing/preview"
    assert site.world.call("reader", "GET", path).status_code == 403
    assert re.search("token=", site.world.get("admin", path)["url"])


def test_a_preview_ends_with_the_access_of_its_member(site):
    world, organization_id = site.world, site.world.home["organizationId"]
    space = site.plans["siteSpaces"][0]["space"]["id"]
    world.post("admin", f"{site.path}/unpublish")

    def preview(who):
        url = urlsplit(world.get(who, f"{site.path}/publishing/preview")["url"])
        return cookies(site.visitor.get(f"{url.path}?{url.query}"))["octavo-preview"].value

    def sees(token):
        headers = {"authorization": f"Bearer {token}"}
        over_the_api = world.call("nobody", "GET", f"{site.path}/published", headers=headers).status_code
        shown = site.get(cookie=f"octavo-preview={token}").status_code
        assert (shown, over_the_api) in ((200, 200), (404, 401))
        return shown == 200

    reader, editor = preview("reader"), preview("editor")
    assert sees(reader)
    world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": None})
    assert not sees(reader)
    world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": "read"})
    assert sees(reader) and sees(editor)
    with world.context.db.write() as tx:
        disable_member(tx, organization_id, world.users["reader"])
    assert not sees(reader) and sees(editor)
    assert world.call(
        "admin", "DELETE", f"/orgs/{organization_id}/members/{world.users['editor']}"
    ).is_success
    assert not sees(editor)


def _page(world, space, path):
    return world.get("admin", f"/spaces/{space}/content/path/{path}")["id"]


@pytest.mark.parametrize("visibility", ["public", "visitor-auth", None])
def test_members_preview_a_change_request(site, visibility):
    """On sites of every audience, published or not; only of that change request, and only for its space."""
    world, space = site.world, site.plans["siteSpaces"][0]["space"]["id"]

    def draft(words):
        path = f"/spaces/{space}/change-requests"
        change = world.post("admin", path, {"subject": words})["id"]
        document = {"markdown": f"# {words}\n\n{words} text\n"}
        changes = [{"operation": "insert_page", "slug": words.lower(), "document": document}]
        world.post("admin", f"{path}/{change}/content", {"changes": changes})
        return change

    def preview(**query):
        answer = world.call("admin", "GET", f"{site.path}/publishing/preview", params=query)
        assert answer.status_code == 200, answer.text
        url = urlsplit(answer.json()["url"])
        return url.path, cookies(site.visitor.get(f"{url.path}?{url.query}"))["octavo-preview"].value

    one, other = draft("Drafted"), draft("Other")
    assert one != other
    if visibility is None:
        world.post("admin", f"{site.path}/unpublish")
    else:
        site.change("", {"visibility": visibility})
    kept = (
        "",
        "plans/",
        "plans/drafted",
        "plans/start",
        "plans/start.md",
        "llms.txt",
        "llms-full.txt",
        "sitemap.xml",
    )
    before = [site.get(path) for _ in range(2) for path in kept]
    edit = {"operation": "update_page", "page": _page(world, space, "more"), "title": "Drafted start"}
    world.post("admin", f"/spaces/{space}/change-requests/{one}/content", {"changes": [edit]})
    path, token = preview(changeRequest=one)
    cookie = f"octavo-preview={token}"
    assert path == f"{site.base}plans/"
    for shown in ("plans/drafted-start", "plans/drafted-start.md", "llms.txt", "llms-full.txt"):
        assert "Drafted start" in site.get(shown, cookie=f"other=1; {cookie}").text, shown
    assert all("Drafted" not in answer.text for answer in before)
    assert [site.get(path).text for _ in range(2) for path in kept] == [answer.text for answer in before]
    page = site.get("plans/drafted", cookie=cookie)
    assert page.status_code == 200 and "Drafted text" in page.text and "Plans start" in page.text
    assert page.headers["cache-control"].startswith("private") and page.headers["x-robots-tag"] == "noindex"
    assert "Drafted text" in site.get("plans/drafted.md", cookie=cookie).text
    assert "Guide words" in site.get(cookie=cookie).text
    assert site.get("plans/other", cookie=cookie).status_code == 404
    # Search finds the draft's text only in the preview.
    for words in ("drafted text", "Drafted start", "draf"):
        found = site.get(f"~search?q={quote(words)}", cookie=cookie).text
        assert "plans/drafted" in found or "Drafted start" in found, words
        assert "plans/drafted" not in site.get(f"~search?q={quote(words)}").text, words
    # The regular site shows nothing of it.
    _, plain = preview()
    for other in (f"octavo-preview={plain}", "", f"octavo-preview={token}x"):
        answer = site.get("plans/drafted", cookie=other)
        assert answer.status_code in (307, 404) and "Drafted" not in answer.text
    for foreign in (world.away["changeRequestId"], world.home["changeRequestId"], "1", "x"):
        query = {"changeRequest": foreign}
        answer = world.call("admin", "GET", f"{site.path}/publishing/preview", params=query)
        assert answer.status_code == 404, foreign


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb", 10**30, float("nan"), float("inf")], ids=repr)
def test_unsupported_values_of_signed_claims_are_ignored(site, value):
    number = isinstance(value, int | float)
    claim = {"type": "number" if number else "string", "description": "Odd"}
    schema = {"type": "object", "properties": {"odd": claim}, "additionalProperties": False}
    assert site.world.call(
        "admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema}
    ).is_success
    site.change("", {"visibility": "visitor-auth", "adaptiveContent": {"enabled": True}})
    key = site.world.get("admin", f"{site.path}/publishing/auth")["privateKey"]
    payload = json.dumps({"exp": now() // 1000 + 600, "odd": value}).encode()
    token = jws.serialize_compact({"alg": "HS256"}, payload, OctKey.import_key(key))
    assert site.get(cookie=f"octavo-visitor={token}").status_code in (200, 307)
    body = {"url": f"http://127.0.0.1:8001{site.base}", "visitor": {"jwtToken": token}}
    assert site.world.call("nobody", "POST", "/urls/published", json=body).status_code in (200, 401)
