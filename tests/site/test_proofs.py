"""Tests of verifying hostnames and paths: their verified owners use them, and no one can block others from
theirs."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest

from name_server import NameServer
from octavo.operations.admin.verification import trust, verify_domain
from octavo.sites.site import hostnames
from visiting import Visitor
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"
NAME = "www.owner.test"


@pytest.fixture(autouse=True)
def leads_here(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Make these names resolve to the address of the server's sites, and others to none."""
    found: set[str] = set()

    def check(settings: Any, hostname: str, resolve: Any = None) -> str:
        return "live" if hostname in found else "dns_no_cname"

    monkeypatch.setattr(hostnames, "check_hostname", check)
    return found


def give(world: World, who: str = "stranger", **body: Any) -> httpx.Response:
    place = world.home if who == "admin" else world.away
    return world.call(who, "PATCH", place.path(SITE), json=body)


def publish(world: World, who: str = "stranger") -> str:
    place = world.home if who == "admin" else world.away
    address: str = world.post(who, place.path(f"{SITE}/publish"))["urls"]["published"]
    return address


def answers(world: World, name: str = NAME) -> bool:
    return Visitor(world.context).get("/", host=name).status_code == 200


@pytest.mark.sqlite_first
def test_host_names_of_others_require_verification(world: World, names: NameServer) -> None:
    shown = give(world, hostname=NAME).json()
    assert shown["hostname"] == NAME
    (record,) = shown["unverified"]
    assert record["address"] == NAME and record["name"] == f"_octavo.{NAME}"
    assert NAME not in publish(world) and not answers(world)
    known = Visitor(world.context).get("/~host", params={"domain": NAME})
    assert known.status_code == 404
    asked = world.get("stranger", f"/custom-hostnames/{NAME}")
    assert asked["isActive"] is False
    assert world.call("admin", "GET", f"/custom-hostnames/{NAME}").status_code == 404
    # The verified owner is not blocked.
    assert "unverified" not in give(world, "admin", hostname=NAME).json()
    publish(world, "admin")
    assert answers(world)
    assert world.get("admin", f"/custom-hostnames/{NAME}")["target"]["site"] == world.home["siteId"]
    names.texts[record["name"]] = [record["text"]]
    assert give(world, hostname=NAME).status_code == 409
    assert world.call("stranger", "PATCH", f"/custom-hostnames/{NAME}").status_code in (404, 409)
    assert world.call("stranger", "DELETE", f"/custom-hostnames/{NAME}").status_code in (204, 205)
    assert answers(world)


@pytest.mark.parametrize("way", ["null", "removed", "deleted", "another"])
def test_an_old_dns_record_does_not_verify_a_released_name(
    world: World, names: NameServer, leads_here: set[str], way: str
) -> None:
    leads_here.update((NAME, "other.owner.test"))
    assert "unverified" not in give(world, "admin", hostname=NAME).json()
    if way == "null":
        give(world, "admin", hostname=None)
    elif way == "another":
        assert "unverified" not in give(world, "admin", hostname="other.owner.test").json()
    elif way == "removed":
        assert world.call("admin", "DELETE", f"/custom-hostnames/{NAME}").status_code == 205
    else:
        assert world.call("admin", "DELETE", world.home.path(SITE)).status_code == 205
    (record,) = give(world, hostname=NAME).json()["unverified"]
    publish(world)
    assert not answers(world)
    assert world.get("stranger", f"/custom-hostnames/{NAME}")["isActive"] is False
    world.call("stranger", "PATCH", f"/custom-hostnames/{NAME}")
    assert not answers(world)
    names.texts[record["name"]] = [record["text"]]
    assert "unverified" not in give(world, hostname=NAME).json()
    assert answers(world)


@pytest.mark.parametrize("way", ["record", "leads here", "domain", "operator", "setting"])
def test_a_name_takes_effect_once_it_is_verified(
    world: World, names: NameServer, leads_here: set[str], way: str
) -> None:
    publish(world)
    (record,) = give(world, hostname=NAME).json()["unverified"]
    assert not answers(world)
    if way == "record":
        names.texts[record["name"]] = ["something else", record["text"]]
    elif way == "leads here":
        leads_here.add(NAME)
    elif way == "domain":
        body = {"emailDomains": ["owner.test"]}
        world.call("stranger", "PATCH", world.away.path("/orgs/{organizationId}"), json=body)
        verify_domain(world.context, world.away["organizationId"], "owner.test")
    elif way == "operator":
        trust(world.context, world.away["organizationId"])
    else:
        world.context.settings = msgspec.structs.replace(world.context.settings, trust_hosts=True)
    assert world.call("stranger", "PATCH", f"/custom-hostnames/{NAME}").status_code == 204
    assert answers(world) and world.get("stranger", f"/custom-hostnames/{NAME}")["isActive"]
    shown = world.get("stranger", world.away.path(SITE))
    assert "unverified" not in shown and NAME in shown["urls"]["published"]
    # It is kept, and another one must be verified again.
    assert "unverified" not in give(world, hostname=NAME).json()
    names.texts.clear()
    leads_here.clear()
    world.context.settings = msgspec.structs.replace(world.context.settings, trust_hosts=False)
    assert ("unverified" in give(world, hostname="docs.elsewhere.test").json()) is (way != "operator")
    assert answers(world) is (way != "operator")


def test_the_dns_record_of_one_organization_does_not_verify_another(world: World, names: NameServer) -> None:
    (record,) = give(world, hostname=NAME).json()["unverified"]
    other = world.post("stranger", "/orgs", {"title": "Third"})["id"]
    site = world.post("stranger", f"/orgs/{other}/sites", {"title": "Third"})["id"]
    names.texts[record["name"]] = [record["text"]]
    answer = world.call("stranger", "PATCH", f"/orgs/{other}/sites/{site}", json={"hostname": NAME})
    assert answer.json()["unverified"][0]["text"] != record["text"]
    assert "unverified" not in give(world, hostname=NAME).json()


@pytest.mark.sqlite_first
def test_silent_name_servers_verify_nothing(
    world: World, names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.kit.net.names._SECONDS", 0.2)
    names.silent = True
    assert "unverified" in give(world, hostname=NAME).json()


@pytest.mark.parametrize("path", ["/docs/second", "/docs/second/third", "/docs", "/other"])
def test_paths_at_the_host_of_another_organization_are_refused(
    world: World, names: NameServer, path: str
) -> None:
    assert "unverified" not in give(world, "admin", proxy=f"{NAME}/docs").json()
    answer = give(world, proxy=f"{NAME}{path}")
    nested = path.startswith("/docs")
    assert answer.status_code == (409 if nested else 200), answer.text
    address = publish(world)
    assert NAME not in address
    proxied = Visitor(world.context).get(f"/~proxied/{world.away['siteId']}/")
    assert proxied.status_code == 404
    body = {"url": f"http://{NAME}{path}"}
    found = world.call("nobody", "POST", "/urls/published", json=body)
    assert found.status_code == 404 or found.json().get("site") != world.away["siteId"]
    if not nested:
        (record,) = answer.json()["unverified"]
        assert record["address"] == f"{NAME}{path}"
        names.texts[record["name"]] = [record["text"]]
        assert "unverified" not in give(world, proxy=f"{NAME}{path}").json()
        assert Visitor(world.context).get(f"/~proxied/{world.away['siteId']}/").status_code == 200


def test_a_path_above_that_of_another_organization_is_refused(world: World, names: NameServer) -> None:
    give(world, "admin", proxy=f"{NAME}/docs/second")
    assert give(world, proxy=f"{NAME}/docs").status_code == 409
    assert give(world, proxy=f"{NAME}/doc").status_code == 200
    # Paths of the same owner can be nested.
    path = world.home.path("/orgs/{organizationId}/sites")
    other = world.post("admin", path, {"title": "Other"})["id"]
    answer = world.call("admin", "PATCH", f"{path}/{other}", json={"proxy": f"{NAME}/docs"})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("name", ["own.test", "own.test.", "OWN.TEST", "öwn.test", "localhost", "a..test"])
def test_a_host_name_has_three_parts(sqlite_world: World, name: str) -> None:
    assert give(sqlite_world, "admin", hostname=name).status_code == 400


def test_cookies_of_a_proxied_site_are_not_shared(world: World) -> None:
    """A site can claim any path; on the sites domain, another site can be at that path."""
    theirs = publish(world, "admin")
    path = theirs.partition("://")[2].partition("/")[2].strip("/")
    trust(world.context, world.away["organizationId"])
    give(world, proxy=f"www.evil.test/{path}", visibility="visitor-auth")
    publish(world)
    visitor = Visitor(world.context)
    below = f"/~proxied/{world.away['siteId']}"
    preview = world.get("stranger", world.away.path(f"{SITE}/publishing/preview"))["url"]
    query = preview.partition("?")[2]
    for address in (f"{below}/~logout", f"{below}/?{query}"):
        answer = visitor.get(address)
        cookies = answer.headers.get_list("set-cookie")
        assert cookies, address
        assert all(cookie.partition("=")[0].endswith(f"-{world.away['siteId']}") for cookie in cookies), (
            cookies
        )
    kept = next(cookie.partition(";")[0] for cookie in cookies)
    assert visitor.get(f"{below}/", cookie=kept).status_code == 200
    plain = f"octavo-preview={kept.partition('=')[2]}"
    assert visitor.get(f"{below}/", cookie=plain).status_code != 200
