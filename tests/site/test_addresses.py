"""Tests of resolving URLs of the app and of published sites, and of hostnames of sites."""

import pytest

from octavo.sites.site.hostnames import check_hostname
from visiting import Visitor
from world import URL

pytestmark = pytest.mark.sqlite_first


@pytest.fixture
def path(world):
    return world.home.path("/orgs/{organizationId}/sites/{siteId}")


def find(world, url, who="admin"):
    answer = world.call(who, "GET", "/urls/content", params={"url": url})
    return answer.json() if answer.is_success else answer.status_code


def test_urls_of_the_application_are_resolved(world):
    home = world.home
    found = find(world, f"{URL}/s/{home['spaceId']}/{home['pagePath']}")
    assert (found["space"]["id"], found["page"]["id"]) == (home["spaceId"], home["pageId"])
    assert "page" not in find(world, f"{URL}/s/{home['spaceId']}")
    assert find(world, f"{URL}/c/{home['collectionId']}")["collection"]["id"] == home["collectionId"]
    change = world.get("admin", home.path("/spaces/{spaceId}/change-requests/{changeRequestId}"))
    found = find(world, change["urls"]["app"])
    assert (found["space"]["id"], found["changeRequest"]["id"]) == (home["spaceId"], change["id"])
    for url in (
        f"{URL}/s/unknown",
        f"{URL}/c/unknown",
        f"{URL}/x/y",
        URL,
        "http://[",
        "https://example.org/s/x",
    ):
        assert find(world, url) == 404, url
    away = world.away
    assert find(world, f"{URL}/s/{away['spaceId']}") == find(world, f"{URL}/c/{away['collectionId']}") == 404


def test_urls_of_sites_are_resolved(world, path):
    home = world.home
    site = world.post("admin", f"{path}/publish")
    found = find(world, f"{site['urls']['published']}{home['pagePath']}")
    assert (found["space"]["id"], found["page"]["id"]) == (home["spaceId"], home["pageId"])
    for shown in world.get("admin", f"{path}/site-spaces")["items"]:
        assert find(world, shown["urls"]["published"])["space"]["id"] == shown["space"]["id"]
    world.call("admin", "PATCH", f"/spaces/{home['spaceId']}", json={"defaultLevel": None})
    assert find(world, site["urls"]["published"], "reader") == 404


def test_a_site_can_have_its_own_host_name(world, path):
    body = {"hostname": "Docs.Home.test"}
    assert world.call("admin", "PATCH", path, json=body).json()["hostname"] == "docs.home.test"
    theirs = world.away.path("/orgs/{organizationId}/sites/{siteId}")
    assert world.call("stranger", "PATCH", theirs, json=body).status_code == 409
    site = world.post("admin", f"{path}/publish")
    assert site["urls"]["published"] == "http://docs.home.test/"
    visitor = Visitor(world.context)
    assert visitor.get("/", host="docs.home.test").status_code == 200
    assert visitor.get("/", host="other.home.test").status_code == 404
    assert visitor.get("/", host="docs.home.test:8443").status_code == 200
    for spelled in ("DOCS.home.test", "docs.home.test.", "Docs.Home.Test.:443"):
        assert visitor.get("/", host=spelled).text == visitor.get("/", host="docs.home.test").text, spelled
    domains = ("docs.home.test", "DOCS.home.test.", "docs.home.test..", "x.y.z", "")
    known = [visitor.get("/~host", params={"domain": name}).status_code for name in domains]
    assert known == [200, 200, 404, 404, 404]
    found = world.get("admin", "/custom-hostnames/docs.home.test")
    assert (found["target"]["site"], found["isActive"]) == (world.home["siteId"], True)
    assert world.call("admin", "DELETE", "/custom-hostnames/docs.home.test").status_code == 205
    assert visitor.get("/", host="docs.home.test").status_code == 404
    assert world.call("admin", "GET", "/custom-hostnames/docs.home.test").status_code == 404
    for bad in (
        "localhost",
        "a.b",
        "-a.b.c",
        "a.b.c/d",
        "a.b.c:80",
        "a..b.c",
        "a.b.c..",
        "",
        "a.b.\u2603\ufe0f\u200d",
    ):
        assert world.call("admin", "PATCH", path, json={"hostname": bad}).status_code == 400, bad


def test_host_names_use_dns_characters(world, path):
    """All spellings are one name, which only one site can have."""
    spelled = "docs.xn--bcher-kva.test"
    for given in ("docs.bücher.test", "Docs.BÜCHER.test.", spelled.upper()):
        answer = world.call("admin", "PATCH", path, json={"hostname": given})
        assert answer.status_code == 200 and answer.json()["hostname"] == spelled, answer.text
        theirs = world.away.path("/orgs/{organizationId}/sites/{siteId}")
        assert world.call("stranger", "PATCH", theirs, json={"hostname": given}).status_code == 409
    world.post("admin", f"{path}/publish")
    assert Visitor(world.context).get("/", host=spelled).status_code == 200
    for url in ("http://docs.bücher.test/", f"http://{spelled}./", "http://DOCS.BÜCHER.TEST:80/"):
        shown = world.post("nobody", "/urls/published", {"url": url})
        assert shown["site"] == world.home["siteId"], url
    assert world.get("admin", "/custom-hostnames/docs.bücher.test")["hostname"] == spelled


def test_cached_responses_are_separate_per_host(world):
    path = world.home.path("/orgs/{organizationId}")
    visitor = Visitor(world.context)
    for name in ("one", "two"):
        space = world.post("admin", f"{path}/spaces", {"title": name})["id"]
        change = world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
        page = {"operation": "insert_page", "document": {"markdown": f"# Start of {name}\n"}}
        world.post("admin", f"/spaces/{space}/change-requests/{change}/content", {"changes": [page]})
        world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")
        site = world.post("admin", f"{path}/sites", {"title": name, "spaces": [space]})["id"]
        world.call("admin", "PATCH", f"{path}/sites/{site}", json={"hostname": f"{name}.home.test"})
        world.post("admin", f"{path}/sites/{site}/publish")
    for _ in range(2):
        for name in ("one", "two"):
            answer = visitor.get("/", host=f"{name}.home.test")
            assert f"Start of {name}" in answer.text
            # A header about the original request must not change the cached response.
            said = {
                "x-forwarded-host": "evil.test",
                "x-forwarded-proto": "https",
                "forwarded": "host=evil.test",
            }
            assert visitor.get("/", host=f"{name}.home.test", **said).text == answer.text
        for foreign in ("three.home.test", "one.home.test.evil.test"):
            assert visitor.get("/", host=foreign).status_code == 404, foreign
        for broken in ("a b", "[::1", "one.home.test one.home.test", "one.home.test@evil.test"):
            assert visitor.get("/", host=broken).status_code == 400, broken


def test_a_check_compares_urls(world):
    settings = world.context.settings
    names = {
        "here.example.test": {"127.0.0.1"},
        "there.example.test": {"203.0.113.1"},
        "127.0.0.1": {"127.0.0.1"},
    }

    def status(name):
        return check_hostname(settings, name, lambda host: names.get(host, set()))

    assert status("here.example.test") == "live"
    assert status("there.example.test") == "dns_wrong_cname"
    assert status("nowhere.example.test") == "dns_no_cname"
