"""Responses for renderers, and the content that they can read with the token."""

from __future__ import annotations

import base64
import json
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.kit.clock import now
from set_clock import SetClock
from world import World

LOGIN = "https://login.example.org/start?tenant=1"
HOUR = 3_600_000


class Site:
    """Site with the sections Guide, which has the variant Old, and Plans."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites")
        self.id = world.post("admin", self.path, {"title": "Manuals"})["id"]
        self.path += f"/{self.id}"
        self.spaces = {title: self.space(title) for title in ("Guide", "Plans", "Old")}
        self.guide = self.make("sections", {"spaceId": self.spaces["Guide"], "title": "Guide"})
        self.plans = self.make("sections", {"spaceId": self.spaces["Plans"], "title": "Plans"})
        body = {"spaceId": self.spaces["Old"], "sectionId": self.guide["id"]}
        self.old = self.make("site-spaces", body)
        self.url = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        self.base = urlsplit(self.url).path

    def space(self, title: str) -> str:
        path = self.world.home.path("/orgs/{organizationId}/spaces")
        space: str = self.world.post("admin", path, {"title": title})["id"]
        self.edit(
            space,
            {"operation": "insert_page", "document": {"markdown": f"# {title} start\n\n{title} words\n"}},
            {"operation": "insert_page", "document": {"markdown": f"# More\n\n{title} secrets\n"}},
        )
        return space

    def edit(self, space: str, *changes: dict[str, Any]) -> None:
        change = self.world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
        self.world.post(
            "admin", f"/spaces/{space}/change-requests/{change}/content", {"changes": list(changes)}
        )
        self.world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")

    def make(self, path: str, body: Any) -> Any:
        return self.world.post("admin", f"{self.path}/{path}", body)

    def change(self, path: str, body: Any) -> Any:
        answer = self.world.call("admin", "PATCH", f"{self.path}/{path}".rstrip("/"), json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ask(self, path: str = "", visitor: Any = None, **body: Any) -> httpx.Response:
        body |= {"url": self.url + path}
        if visitor is not None:
            body["visitor"] = visitor
        return self.world.call("nobody", "POST", "/urls/published", json=body)

    def found(self, path: str = "", visitor: Any = None) -> dict[str, Any]:
        answer = self.ask(path, visitor)
        assert answer.status_code == 200, answer.text
        shown: dict[str, Any] = answer.json()
        assert "apiToken" in shown, shown
        return shown

    def read(self, token: str, path: str, **query: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"}
        return self.world.call("nobody", "GET", path, headers=headers, params=query)

    def token(self, **claims: Any) -> str:
        key = self.world.get("admin", f"{self.path}/publishing/auth")["privateKey"]
        claims = {"iat": now() // 1000, "exp": now() // 1000 + 3600, **claims}
        return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(key))


@pytest.fixture
def site(world: World) -> Site:
    return Site(world)


@pytest.mark.sqlite_first
def test_a_url_is_resolved_to_its_content(site: Site) -> None:
    start = site.found()
    assert start["site"] == site.id and start["space"] == site.spaces["Guide"]
    assert start["siteSection"] == site.guide["id"] and start["organization"]
    assert start["basePath"] == start["siteBasePath"] == site.base and start["pathname"] == ""
    assert start["canonicalUrl"] == site.url and not start["complete"]
    plans = site.found("plans")
    assert plans["space"] == site.spaces["Plans"] and plans["basePath"] == f"{site.base}plans/"
    assert plans["siteBasePath"] == site.base and plans["complete"]
    old = site.found("old/more")
    assert (old["siteSpace"], old["pathname"], old["complete"]) == (site.old["id"], "more", True)
    assert site.found("some/page")["complete"]
    asked = {"url": site.url}
    assert site.world.call("nobody", "GET", "/urls/published", params=asked).json() == start


@pytest.mark.sqlite_first
def test_cached_answers_need_no_thread_and_count_each_request_once(site: Site, clock: SetClock) -> None:
    clock.advance(0)

    def left(**body: Any) -> int:
        return int(site.ask("plans", **body).headers["x-ratelimit-remaining"])

    # In turn: computed, cached, and with a visitor, whose answers are separate.
    counts = [left(), left(), left(visitor={"unsignedClaims": {"a": 1}}), left()]
    assert [first - second for first, second in pairwise(counts)] == [1, 1, 1]
    in_threads: list[str] = []
    dispatch = ThreadPoolExecutor.submit

    def submit(pool: ThreadPoolExecutor, run: Any, *arguments: Any) -> Any:
        in_threads.append(run.__name__)
        return dispatch(pool, run, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ThreadPoolExecutor, "submit", submit)
        left()
        kept = list(in_threads)
        site.edit(site.spaces["Plans"], {"operation": "insert_page", "document": {"markdown": "# A\n"}})
        in_threads.clear()
        left()
    assert in_threads and (not kept or site.world.context.db.engine == "postgresql")


@pytest.mark.sqlite_first
def test_partial_paths_are_not_complete(site: Site) -> None:
    def resolved(spaces: list[str]) -> dict[str, Any]:
        path = site.world.home.path("/orgs/{organizationId}/sites")
        made = site.world.post("admin", path, {"title": "Variants", "spaces": spaces})["id"]
        url = site.world.post("admin", f"{path}/{made}/publish")["urls"]["published"]
        shown: dict[str, Any] = site.world.post("nobody", "/urls/published", {"url": url})
        return shown

    assert resolved([site.spaces["Old"]])["complete"]
    two = resolved([site.spaces["Old"], site.spaces["Plans"]])
    assert not two["complete"] and "siteSection" not in two


@pytest.mark.sqlite_first
def test_tokens_are_short_and_reused_for_an_hour(site: Site, clock: SetClock) -> None:
    start = now() // HOUR * HOUR + 1000
    clock.set(start)
    first = site.found()["apiToken"]
    assert re.fullmatch(r"e30\.e30\.[\w-]{16}", first)
    clock.set(start + HOUR - 2000)
    assert site.found("plans")["apiToken"] == first
    clock.set(start + HOUR)
    assert site.found()["apiToken"] != first
    assert site.read(first, f"/spaces/{site.spaces['Guide']}").status_code == 200
    clock.set(start + 2 * HOUR)
    assert site.read(first, f"/spaces/{site.spaces['Guide']}").status_code == 401


@pytest.mark.sqlite_first
def test_the_token_reads_only_published_content(site: Site) -> None:
    world, token = site.world, site.found()["apiToken"]
    profile = site.read(token, f"{site.path}/published").json()
    assert [one["title"] for one in profile["structure"]["structure"]] == ["Guide", "Plans"]
    space = site.read(token, f"/spaces/{site.spaces['Guide']}").json()
    assert not any(space["permissions"].values()) and space["visibility"] == "public"
    revision = site.read(token, f"/spaces/{space['id']}/revisions/{space['revision']}").json()
    assert [page["title"] for page in revision["pages"]] == ["Guide start", "More"]
    page = revision["pages"][1]["id"]
    here = f"/spaces/{space['id']}/revisions/{space['revision']}/page/{page}"
    document = site.read(token, f"{here}/document", evaluated="deterministic-only")
    assert document.status_code == 200 and "Guide secrets" in document.text
    assert "Guide secrets" in site.read(token, here, format="markdown").json()["markdown"]
    path = f"/spaces/{space['id']}/revisions/{space['revision']}/path/more"
    assert site.read(token, path).json()["id"] == page
    found = world.call(
        "nobody",
        "POST",
        f"{site.path}/search",
        headers={"authorization": f"Bearer {token}"},
        json={"query": "secrets", "mode": "all"},
    ).json()
    assert {one["id"] for one in found["items"]} == set(site.spaces.values())
    refused = (
        (world.home.path("/spaces/{spaceId}"), 404),
        (world.home.path("/orgs/{organizationId}/sites/{siteId}"), 401),
        (site.path, 404),
        (f"{site.path}/customization", 404),
        (f"/spaces/{space['id']}/change-requests", 404),
        (f"/spaces/{space['id']}/search?query=x", 404),
        (f"/spaces/{space['id']}/change-requests/1", 404),
        ("/user", 401),
        (world.home.path("/orgs/{organizationId}/spaces"), 401),
    )
    for place, status in refused:
        assert site.read(token, place).status_code in (status, 401), place
    change = {"authorization": f"Bearer {token}"}
    answer = world.call("nobody", "PATCH", f"/spaces/{space['id']}", headers=change, json={"title": "x"})
    assert answer.status_code == 404


def test_replaced_revisions_are_readable_for_an_hour(site: Site, clock: SetClock) -> None:
    token, space = site.found()["apiToken"], site.spaces["Guide"]
    first = site.read(token, f"/spaces/{space}").json()["revision"]
    site.edit(space, {"operation": "insert_page", "document": {"markdown": "# Third\n"}})
    path = f"/spaces/{space}/revisions/{first}"
    assert site.read(token, path).status_code == 200
    clock.set(now() + HOUR + 60_000)
    token = site.found()["apiToken"]
    assert site.read(token, path).status_code == 404
    later = site.read(token, f"/spaces/{space}").json()["revision"]
    assert site.read(token, f"/spaces/{space}/revisions/{later}").status_code == 200
    change = site.world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Draft"})
    assert site.read(token, f"/spaces/{space}/revisions/{change['revision']}").status_code in (200, 404)
    body = {"changes": [{"operation": "insert_page", "document": {"markdown": "# Unpublished\n"}}]}
    made = site.world.post("admin", f"/spaces/{space}/change-requests/{change['id']}/content", body)
    assert site.read(token, f"/spaces/{space}/revisions/{made['revision']}").status_code == 404


@pytest.mark.sqlite_first
def test_urls_in_another_script_are_escaped(site: Site) -> None:
    site.change("", {"basename": "postgresql-繁體"})
    site.change(f"sections/{site.guide['id']}", {"path": "führer"})
    site.change(f"sections/{site.plans['id']}", {"path": "планы"})
    site.change(f"site-spaces/{site.old['id']}", {"path": "古い"})
    site.url = site.world.get("admin", site.path)["urls"]["published"]
    link = site.make("share-links", {"name": "Friends"})
    key = link["urls"]["published"].removeprefix(site.url).strip("/")
    assert site.url.isascii()
    for visibility, before in (("public", ""), ("share-link", f"{key}/")):
        site.change("", {"visibility": visibility})
        for path in (
            "",
            "планы",
            "планы/more",
            "古い",
            "führer/古い/more",
            quote("планы"),
            quote("古い/more"),
        ):
            shown = site.ask(f"{before}{path}").json()
            for name in ("basePath", "siteBasePath", "canonicalUrl", "redirect"):
                said = shown.get(name, "")
                assert said.isascii() and said == quote(unquote(said), safe=":/?=&~"), (path, name, said)
            if "basePath" in shown:
                assert urlsplit(shown["canonicalUrl"]).path == shown["basePath"] + quote(shown["pathname"])
                assert shown["basePath"].startswith(shown["siteBasePath"])


@pytest.mark.sqlite_first
def test_share_links_are_resolved(site: Site) -> None:
    open_token = site.found()["apiToken"]
    site.change("", {"visibility": "share-link"})
    assert site.read(open_token, f"{site.path}/published").status_code == 401
    link = site.make("share-links", {"name": "Friends"})
    key = link["urls"]["published"].removeprefix(site.url).strip("/")
    assert site.ask().status_code == 404 and site.ask(f"{key}x").status_code == 404
    shown = site.found(key)
    base = f"{site.base}{key}/"
    assert shown["shareKey"] == key and shown["basePath"] == shown["siteBasePath"] == base
    assert site.found(f"{key}/plans")["space"] == site.spaces["Plans"]
    token = shown["apiToken"]
    profile = site.read(token, f"{site.path}/published", shareKey=key).json()
    assert profile["site"]["urls"]["published"] == f"{site.url}{key}/"
    site.change(f"share-links/{link['id']}", {"active": False})
    assert site.ask(key).status_code == 404
    assert site.read(token, f"{site.path}/published").status_code == 401


@pytest.mark.sqlite_first
def test_authenticated_visitors_are_resolved(site: Site) -> None:
    site.change("", {"visibility": "visitor-auth"})
    assert site.ask().status_code == 404
    body = {"backend": "custom", "fallbackURL": LOGIN}
    site.change("publishing/auth", body)
    sent = site.ask("plans/more").json()
    assert sent == {"target": "external", "redirect": f"{LOGIN}&location=%2Fplans%2Fmore"}
    shown = site.found("plans", {"jwtToken": site.token()})
    assert shown["space"] == site.spaces["Plans"] and shown["contextId"]
    assert site.ask("", {"jwtToken": "e30.e30.x"}).status_code == 401
    again = site.ask("", {"jwtToken": "e30.e30.x"}, redirectOnError=True).json()
    assert again["target"] == "external"
    site.make("publishing/auth/regenerate", {})
    assert site.read(shown["apiToken"], f"{site.path}/published").status_code == 401


@pytest.mark.sqlite_first
def test_conditional_content_is_resolved_for_matching_visitors(site: Site) -> None:
    claim = {"type": "boolean", "description": "Pays"}
    unsigned = {
        "type": "object",
        "description": "Unsigned claims of the site visitor.",
        "properties": {"beta": claim},
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"paying": claim, "unsigned": unsigned},
        "additionalProperties": False,
    }
    answer = site.world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    assert answer.status_code == 200, answer.text
    site.change("", {"adaptiveContent": {"enabled": True}})
    site.change(f"sections/{site.plans['id']}", {"condition": "visitor.claims.paying"})
    site.change(f"site-spaces/{site.old['id']}", {"condition": "visitor.claims.unsigned.beta"})
    plain = site.found("plans")
    assert plain["space"] == site.spaces["Guide"] and plain["pathname"] == "plans"
    assert site.found()["complete"], "there is nothing else for them"
    paying = site.found("plans", {"jwtToken": site.token(paying=True)})
    assert paying["space"] == site.spaces["Plans"] and paying["contextId"] != plain["contextId"]
    beta = site.found("old", {"unsignedClaims": {"beta": True}})
    assert beta["space"] == site.spaces["Old"]

    def seen(shown: dict[str, Any]) -> set[str]:
        spaces = {
            title
            for title, id in site.spaces.items()
            if site.read(shown["apiToken"], f"/spaces/{id}").status_code == 200
        }
        profile = site.read(shown["apiToken"], f"{site.path}/published").text
        assert all((id in profile) == (title in spaces) for title, id in site.spaces.items())
        assert "visitor.claims" not in profile
        return spaces

    assert seen(plain) == {"Guide"}
    assert seen(paying) == {"Guide", "Plans"}
    assert seen(beta) == {"Guide", "Old"}


def test_former_urls_redirect(site: Site) -> None:
    site.change(f"sections/{site.plans['id']}", {"path": "pricing"})
    site.change(f"sections/{site.guide['id']}", {"condition": "visitor.claims.nobody"})
    site.change("", {"adaptiveContent": {"enabled": True}})
    sent = site.ask().json()
    assert sent == {"target": "content", "redirect": f"{site.url}pricing/"}
    assert site.ask("plans/more").json() == {"target": "content", "redirect": f"{site.url}pricing/more"}


@pytest.mark.parametrize(
    "url",
    [
        "https://nowhere.example.org/",
        "https://[::1/",
        "http://127.0.0.1:8001/home/docs/%2e%2e/x",
        "http://127.0.0.1:8001/home%2fdocs",
        "http://127.0.0.1:8001",
        "https://preview/",
        "https://\N{GRINNING FACE}/" + "%ff" * 20,
    ],
)
def test_unknown_urls_are_not_found(world: World, url: str) -> None:
    answer = world.call("nobody", "POST", "/urls/published", json={"url": url})
    assert answer.status_code == 404 and answer.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_previews_are_resolved(site: Site) -> None:
    token = site.world.get("admin", f"{site.path}/publishing/preview")["url"].partition("preview_token=")[2]
    site.make("unpublish", {})
    assert site.ask().status_code == 404

    def ask(bearer: str | None) -> httpx.Response:
        headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
        body = {"url": f"https://preview/{site.id}/plans/more"}
        return site.world.call("nobody", "POST", "/urls/published", json=body, headers=headers)

    assert ask(None).status_code == 404
    shown = ask(token).json()
    assert shown["space"] == site.spaces["Plans"] and shown["siteBasePath"] == f"/{site.id}/"
    assert site.read(shown["apiToken"], f"{site.path}/published").status_code == 200
    assert site.read(token, f"{site.path}/published").status_code == 200


def test_renderers_get_the_previewed_change_request(site: Site) -> None:
    world, space = site.world, site.spaces["Plans"]
    path = f"/spaces/{space}/change-requests"

    def draft(words: str) -> str:
        change: str = world.post("admin", path, {"subject": words})["id"]
        document = {"markdown": f"# {words}\n\n{words} text\n"}
        edit = {"operation": "insert_page", "slug": words.lower(), "document": document}
        world.post("admin", f"{path}/{change}/content", {"changes": [edit]})
        return change

    one, other = draft("Drafted"), draft("Other")
    query = {"changeRequest": one}
    preview = world.get("admin", f"{site.path}/publishing/preview", params=query)["url"]
    token = preview.partition("preview_token=")[2]

    def ask(below: str, bearer: str) -> dict[str, Any]:
        body = {"url": f"https://preview/{site.id}/{below}"}
        headers = {"authorization": f"Bearer {bearer}"}
        shown: dict[str, Any] = world.call(
            "nobody", "POST", "/urls/published", json=body, headers=headers
        ).json()
        return shown

    # The public answer was requested before, and is requested after.
    public = [site.found("plans/more") for _ in range(2)][0]
    shown = ask("plans/drafted", token)
    revision = world.get("admin", f"{path}/{one}")["revision"]
    assert (shown["changeRequest"], shown["revision"]) == (one, revision)
    derived = shown["apiToken"]
    assert "changeRequest" not in ask("", token) and "changeRequest" not in public
    for bearer in (token, derived):
        assert site.read(bearer, f"/spaces/{space}").json()["revision"] == revision
        whole = site.read(bearer, f"/spaces/{space}/revisions/{revision}").json()
        assert "drafted" in [page["slug"] for page in whole["pages"]]
        page = site.read(bearer, f"/spaces/{space}/content/path/drafted", format="markdown").json()
        assert "Drafted text" in page["markdown"]
        assert site.read(bearer, f"{path}/{one}").json()["revision"] == revision
        assert "email" not in site.read(bearer, f"{path}/{one}").json()["createdBy"]
        for foreign in (f"{path}/{other}", f"/spaces/{site.spaces['Guide']}/content/path/drafted"):
            assert site.read(bearer, foreign).status_code == 404
    assert site.read(public["apiToken"], f"/spaces/{space}/revisions/{revision}").status_code == 404
    assert site.read(public["apiToken"], f"{path}/{one}").status_code == 404
    assert site.found("plans/more") == public


@pytest.mark.sqlite_first
def test_a_token_expires_with_that_of_the_visitor(site: Site) -> None:
    site.change("", {"visibility": "visitor-auth"})
    key = site.world.get("admin", f"{site.path}/publishing/auth")["privateKey"]
    until = now() // 1000 + 300
    signed = jwt.encode({"alg": "HS256"}, {"exp": until}, OctKey.import_key(key))
    token = site.found(visitor={"jwtToken": signed})["apiToken"]
    assert json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["exp"] <= until + 60


@pytest.mark.sqlite_first
def test_a_site_without_content_is_not_found(site: Site) -> None:
    for space in site.spaces.values():
        assert site.world.call("admin", "DELETE", f"/spaces/{space}").status_code == 205
    assert site.ask().status_code == 404 and site.ask("plans/more").status_code == 404


def test_meta_links_point_to_visible_content(site: Site) -> None:
    world, guide, plans = site.world, site.spaces["Guide"], site.spaces["Plans"]
    token = site.found()["apiToken"]

    def pages(space: str) -> list[dict[str, Any]]:
        return list(world.get("admin", f"/spaces/{space}/content")["pages"])

    page, other = pages(guide)[1]["id"], pages(plans)[1]["id"]
    closed = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Closed"})["id"]
    site.edit(closed, {"operation": "insert_page", "document": {"markdown": "# Secret\n"}})
    links = {
        "canonical": {"kind": "page", "page": other, "space": plans},
        "alternates": [
            {"kind": "url", "url": "https://example.org/more"},
            {"kind": "page", "page": pages(guide)[0]["id"]},
            {"kind": "page", "page": pages(closed)[0]["id"], "space": closed},
            {"kind": "page", "page": "nothing"},
        ],
    }
    path = f"/spaces/{guide}/content/page/{page}/meta-links"
    assert world.get("admin", path) == {}
    with world.context.db.write() as tx:
        fields = json.dumps({"meta_links": links})
        tx.run("UPDATE page_versions SET fields = :fields WHERE page_id = :page", fields=fields, page=page)
    site.edit(guide, {"operation": "insert_page", "document": {"markdown": "# Newer\n"}})
    revision = site.read(token, f"/spaces/{guide}").json()["revision"]
    shown = {"canonical": links["canonical"], "alternates": links["alternates"][:2]}
    assert site.read(token, path).json() == shown
    at = f"/spaces/{guide}/revisions/{revision}/page/{page}/meta-links"
    assert site.read(token, at).json() == shown
    assert world.get("admin", at)["alternates"] == links["alternates"][:3]
    assert site.read(token, f"/spaces/{closed}/content/page/{page}/meta-links").status_code in (401, 404)
    assert site.read(token, path.replace(page, "nothing")).status_code == 404
