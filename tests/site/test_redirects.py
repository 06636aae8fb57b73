"""Redirects of sites: drafts, wildcards, permanent ones, many at once, and files of other platforms."""

from __future__ import annotations

import re
from typing import Any

import pytest

from octavo.interchange.readers.redirect_files import Format, read_redirects
from visiting import Visitor
from world import World

FILES = {
    "_redirects": """# Old pages
/a   /PAGE 301
/b/* /PAGE/:splat 302!
/c   https://x.test/ 308  # elsewhere
/d   /PAGE 200
/e   /PAGE Country=de
/f/:id/more /PAGE
/g
""",
    "vercel.json": """{"redirects": [
  {"source": "/a", "destination": "/PAGE", "permanent": true},
  {"source": "/b/:path*", "destination": "/PAGE/:path*", "permanent": false},
  {"source": "/c", "destination": "https://x.test/", "statusCode": 308},
  {"source": "/d", "destination": "/PAGE", "statusCode": 404},
  {"source": "/e", "destination": "/PAGE", "has": [{"type": "host"}]},
  {"source": "/f/:id/more", "destination": "/PAGE"},
  {"source": "/g"}
]}""",
    "netlify.toml": """[[redirects]]
from = "/a"
to = "/PAGE"

[[redirects]]
from = "/b/*"
to = "/PAGE/:splat"
status = 302

[[redirects]]
from = "/c"
to = "https://x.test/"

[[redirects]]
from = "/d"
to = "/PAGE"
status = 200

[[redirects]]
from = "/e"
to = "/PAGE"
conditions = {Country = ["de"]}

[[redirects]]
from = "/f/:id/more"
to = "/PAGE"

[[redirects]]
from = "/g"
""",
    "next.config.mjs": """export default {
  async redirects() {
    return [
      { source: '/a', destination: '/PAGE', permanent: true },
      { source: '/b/:path*', destination: '/PAGE/:path*', permanent: false },
      { source: '/c/', destination: 'https://x.test/', permanent: true },
      { source: '/d', destination: '/PAGE', statusCode: 418 },
      { source: '/e', destination: '/PAGE', permanent: true, missing: [{ type: 'header' }] },
      { source: '/f/(\\\\d+)', destination: '/PAGE', permanent: true },
      { source: '/g', permanent: true },
    ]
  },
}
""",
}


@pytest.fixture
def path(world: World) -> str:
    return world.home.path("/orgs/{organizationId}/sites/{siteId}")


def _external(url: str) -> dict[str, str]:
    return {"kind": "external", "url": url}


def _make(world: World, path: str, source: str, destination: Any, status: int = 201, **more: Any) -> Any:
    body = {"source": source, "destination": destination, **more}
    answer = world.call("admin", "POST", f"{path}/redirects", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def _space(world: World) -> dict[str, str]:
    return {"kind": "site-space", "siteSpaceId": world.home["siteSpaceId"]}


def _below(url: str) -> str:
    return re.sub(r"^https?://[^/]+", "", url)


def test_drafts_redirect_only_people_who_preview(world: World, path: str) -> None:
    base = _below(world.post("admin", f"{path}/publish")["urls"]["published"])
    visitor = Visitor(world.context)
    _make(world, path, "/both", _external("https://live.test/"))
    made = _make(world, path, "/both", _external("https://draft.test/"), draft=True)
    _make(world, path, "/new", _external("https://draft.test/"), draft=True)
    assert visitor.get(f"{base}new").status_code == 404
    assert visitor.get(f"{base}both").headers["location"] == "https://live.test/"
    for asked, there in (("", True), ("?draft=true", True), ("?draft=false", False)):
        url = world.get("admin", f"{path}/publishing/preview{asked}")["url"]
        cookie = visitor.get(_below(url)).headers["set-cookie"].partition(";")[0]
        assert visitor.get(f"{base}new", cookie=cookie).status_code == (307 if there else 404)
        target = "https://draft.test/" if there else "https://live.test/"
        assert visitor.get(f"{base}both", cookie=cookie).headers["location"] == target
    assert world.call("admin", "GET", f"{path}/redirect?source=/new").status_code == 404
    assert [one["source"] for one in world.get("admin", f"{path}/redirects")["items"]] == ["/both", "/old"]
    drafts = world.get("admin", f"{path}/redirects?draft=true&orderBy=source")["items"]
    assert [(one["source"], one["draft"]) for one in drafts] == [("/both", True), ("/new", True)]
    answer = world.call("admin", "PATCH", f"{path}/redirects/{made['id']}", json={"draft": False})
    assert (answer.json()["id"], answer.json()["draft"]) == (made["id"], False)
    assert answer.json()["updatedAt"] and "updatedAt" not in made
    assert visitor.get(f"{base}both").headers["location"] == "https://draft.test/"
    listed = world.get("admin", f"{path}/redirects?orderBy=source")["items"]
    assert [(one["source"], one["destination"].get("url")) for one in listed] == [
        ("/both", "https://draft.test/"),
        ("/old", None),
    ]


def test_a_preview_starts_at_its_target(world: World, path: str) -> None:
    published = world.post("admin", f"{path}/publish")["urls"]["published"]
    for target in ("/a/b?c=d", f"{published}a/b?c=d"):
        url = world.call("admin", "GET", f"{path}/publishing/preview", params={"target": target}).json()[
            "url"
        ]
        assert url.startswith(f"{published}a/b?c=d&preview_token=")
    for target in ("https://evil.test/", "//evil.test/", "javascript:alert(1)"):
        answer = world.call("admin", "GET", f"{path}/publishing/preview", params={"target": target})
        assert answer.status_code == 400 and answer.json()["error"]["message"].startswith("target: ")


def test_permanent_redirects_of_public_sites(world: World, path: str) -> None:
    base = _below(world.post("admin", f"{path}/publish")["urls"]["published"])
    visitor = Visitor(world.context)
    assert _make(world, path, "/moved", _external("https://x.test/"))["permanent"] is False
    _make(world, path, "/gone", _external("https://x.test/"), permanent=True)
    assert visitor.get(f"{base}moved").status_code == 307
    assert visitor.get(f"{base}gone").status_code == 308
    answer = world.call("admin", "PATCH", path, json={"visibility": "unlisted"})
    assert answer.status_code == 200 and visitor.get(f"{base}gone").status_code == 307


def test_wildcards_insert_the_matched_text(world: World, path: str) -> None:
    base = _below(world.post("admin", f"{path}/publish")["urls"]["published"])
    page = world.home["pagePath"]
    visitor = Visitor(world.context)

    def leads(below: str) -> str | int:
        answer = visitor.get(f"{base}{below}")
        return answer.headers["location"] if answer.status_code == 307 else answer.status_code

    _make(world, path, "/v1/*", _space(world), captureWildcard=True)
    _make(world, path, "/api-*", _external("https://x.test?a=b#c"), captureWildcard=True)
    _make(world, path, "/plain/*", _external("https://x.test/"))
    assert leads(f"v1/{page}") == f"{base}{page}"
    assert leads(f"V1/{page}.md") == f"{base}{page}.md"
    assert leads("v1/nothing/here") == 404 and leads("v1") == 404
    assert leads("api-keys/Ü") == "https://x.test/keys/%C3%9C?a=b#c"
    assert leads("api-.evil.test") == "https://x.test/.evil.test?a=b#c"
    assert leads("api-a%2F..%2F..") == 404
    assert leads("plain/x") == "https://x.test/"
    found = world.call("admin", "GET", f"{path}/redirect", params={"source": "/api-keys"}).json()
    assert found["target"] == "https://x.test/keys?a=b#c" and found["redirect"]["captureWildcard"]


def test_redirects_to_themselves_and_loops_are_refused(world: World, path: str) -> None:
    shown = {one["id"]: one for one in world.get("admin", f"{path}/site-spaces")["items"]}
    other = shown[world.home["otherSiteSpaceId"]]
    way, there = other["path"], {"kind": "site-space", "siteSpaceId": other["id"]}
    section = {"kind": "site-section", "siteSectionId": world.home["otherSiteSectionId"]}
    name = next(
        one["path"]
        for one in world.get("admin", f"{path}/sections")["items"]
        if one["id"] == world.home["otherSiteSectionId"]
    )
    for source, destination in ((f"/{way}", there), (f"/{name.upper()}", section)):
        assert "must not be the same as the source" in str(_make(world, path, source, destination, 400))
    for source, destination in ((f"/{way}/*", there), (f"/{way[:3]}*", there)):
        assert "redirect loop" in str(_make(world, path, source, destination, 400, captureWildcard=True))
    # Without the matched part, they have a page as target.
    _make(world, path, f"/{way}/*", there)
    made = _make(world, path, f"/{name}/*", there, captureWildcard=True)
    closing = world.call("admin", "PATCH", f"{path}/redirects/{made['id']}", json={"destination": section})
    assert closing.status_code == 400
    loop = f"/{way}/* → /{name}/* → /{way}/*"
    assert loop in str(_make(world, path, f"/{way}/*", section, 400, captureWildcard=True, draft=True))
    upsert = {"source": f"/{way}/*", "destination": section, "captureWildcard": True}
    answer = world.call("admin", "PUT", f"{path}/redirects", json={"redirects": [upsert]})
    result = answer.json()["results"][0]
    assert result["status"] == "error" and loop in result["error"]
    assert "captureWildcard" in str(_make(world, path, "/x", there, 400, captureWildcard=True))


def test_invalid_rows_of_a_redirect_table_are_reported(world: World, path: str) -> None:
    page = {"kind": "site-page", "siteSpaceId": world.home["siteSpaceId"], "pageId": world.home["pageId"]}
    wrong = [
        {"source": "no path", "destination": page},
        {"source": "/*", "destination": page},
        {"source": "/x", "destination": {**page, "pageId": "nothing"}},
        {"source": "/x", "destination": {**page, "siteSpaceId": world.away["siteSpaceId"]}},
        {"source": "/x", "destination": _external("javascript:alert(1)")},
        {"source": "/x", "destination": _external(f"{world.context.settings.sites_url}/x")},
        {"source": "/x", "intent": "publish"},
        {"source": "/x", "intent": "publish", "destination": page},
        {"source": "/x"},
        {"source": "/x", "destination": None},
    ]
    given = [
        wrong[n // 5 % len(wrong)]
        if n % 5 == 0
        else {
            "source": f"/{n}",
            "destination": page if n % 2 else _external("https://x.test/"),
            "intent": "draft",
        }
        for n in range(500)
    ]
    answer = world.call("admin", "PUT", f"{path}/redirects", json={"redirects": given})
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert [one["source"] for one in results] == [one["source"] for one in given]
    assert [one["status"] for one in results] == ["created" if n % 5 else "error" for n in range(500)]
    assert all(("error" in one) == (one["status"] == "error") == ("id" not in one) for one in results)
    assert world.get("admin", f"{path}/redirects?draft=true&limit=1")["count"] == 400
    publish = [{"source": f"/{n}", "intent": "publish"} for n in range(500) if n % 5]
    answer = world.call("admin", "PUT", f"{path}/redirects", json={"redirects": publish})
    assert {(one["status"], one["draft"]) for one in answer.json()["results"]} == {("published", False)}
    assert world.get("admin", f"{path}/redirects?draft=true&limit=1")["count"] == 0
    again = [
        {"source": "/1", "destination": page},
        {"source": "/2", "destination": page},
        {"source": "/3", "destination": None},
    ]
    answer = world.call("admin", "PUT", f"{path}/redirects", json={"redirects": again})
    assert [one["status"] for one in answer.json()["results"]] == ["updated", "updated", "deleted"]
    for body in ({"redirects": []}, {"redirects": again * 200}, {"redirects": [{"destination": page}]}):
        assert world.call("admin", "PUT", f"{path}/redirects", json=body).status_code == 400


def test_a_path_of_a_space_is_found_once(world: World, path: str) -> None:
    home = world.home
    to = {"kind": "path", "spaceId": home["spaceId"], "path": home["pagePath"]}
    made = _make(world, path, "/x", to)
    assert made["destination"]["kind"] == "site-page" and made["destination"]["pageId"] == home["pageId"]
    assert _make(world, path, "/y", {**to, "path": "/"})["destination"]["kind"] == "site-space"
    _make(world, path, "/z", {**to, "path": "nothing"}, 404)
    _make(world, path, "/z", {**to, "spaceId": world.away["spaceId"]}, 404)


@pytest.mark.sqlite_first
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_named", [True, False])
def test_redirect_files_of_other_platforms_are_read(
    world: World, path: str, name: str, is_named: bool
) -> None:
    text = FILES[name].replace("PAGE", world.home["pagePath"])
    body = {"text": text, **({"name": name} if is_named else {})}
    answer = world.call("admin", "POST", f"{path}/redirects/import", json=body)
    assert answer.status_code == 200, answer.text
    done = answer.json()
    assert done["created"] == 3, done
    assert [error["source"].rstrip("/")[:2] for error in done["errors"]] == ["/d", "/e", "/f", "/g"], done
    found = {
        one["source"]: (one["destination"]["kind"], one["captureWildcard"], one["permanent"])
        for one in world.get("admin", f"{path}/redirects")["items"]
        if one["source"] != "/old"
    }
    assert found == {
        "/a": ("site-page", False, True),
        "/b/*": ("site-page", True, False),
        "/c": ("external", False, True),
    }


@pytest.mark.parametrize(
    ("format", "text", "expected"),
    [
        (
            "yaml",
            "redirects:\n  old/path: guide/install.md\n  help: guide/README.md\n",
            ["/old/path /guide/install", "/help /guide"],
        ),
        (
            "yaml",
            "plugins:\n- search\n- redirects:\n    redirect_maps:\n      old.md: new.md\n",
            ["/old /new"],
        ),
        ("json", '[{"from": ["/a", "/b"], "to": "/c"}] // old', ["/a /c", "/b /c"]),
        ("json", '{"/a": "/b", "/c": {"status": 301, "destination": "/d"}}', ["/a /b", "/c /d"]),
        (
            "javascript",
            "module.exports = {plugins: [['plugin-client-redirects', {redirects: [{from: '/a', to: '/b'}]}]]}",
            ["/a /b"],
        ),
        ("javascript", "export default { redirects: { '/a': '/b' } }", ["/a /b"]),
        ("htaccess", "RewriteEngine On\nRedirect 301 /a /b\nRedirectMatch ^/c$ /d\n", ["/a /b", "/c /d"]),
        ("csv", "source;destination\n/a/;/b\n", ["/a /b"]),
    ],
)
def test_redirect_files_have_several_formats(format: Format, text: str, expected: list[str]) -> None:
    read = read_redirects(format, text)
    assert [f"{one.source} {one.destination}" for one in read if not one.problem] == expected


def test_a_deleted_page_is_offered_a_redirect(world: World, path: str) -> None:
    home = world.home
    assert world.get("admin", f"{path}/redirects/suggestions")["items"] == []
    change = world.post("admin", home.path("/spaces/{spaceId}/change-requests"), {"subject": "Delete"})["id"]
    at = home.path(f"/spaces/{{spaceId}}/change-requests/{change}")
    removal = {"operation": "delete_page", "page": home["pageId"]}
    world.post("admin", f"{at}/content", {"changes": [removal]})
    world.post("admin", f"{at}/merge")
    found = world.get("admin", f"{path}/redirects/suggestions")["items"]
    assert [(one["pageId"], one["source"]) for one in found] == [(home["pageId"], f"/{home['pagePath']}")]
    _make(world, path, found[0]["source"], _external("https://x.test/"), draft=True)
    assert world.get("admin", f"{path}/redirects/suggestions")["items"] == []
