"""A site's hostname serves only that site, at every path, and nothing once the site gave it up."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from octavo.content.revisions.files import signed_url
from octavo.kit.files import FileGrant
from octavo.sites.site.store import update_site
from visiting import Visitor
from world import World

HOST = "docs.victim.example"
SHARED = "sites.test"


@pytest.fixture
def visitor(world: World) -> Visitor:
    """Visitor of ``away``, whose site has its own hostname."""
    with world.context.db.write() as tx:
        update_site(tx, world.away["siteId"], hostname=HOST)
    world.post("stranger", world.away.path("/orgs/{organizationId}/sites/{siteId}/publish"))
    return Visitor(world.context)


def preview_of_home(world: World) -> str:
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}/customization/preview")
    body = {"customization": {"title": "Mine"}}
    return urlsplit(world.call("admin", "POST", path, json=body).json()["url"]).path


def file_of_home(world: World) -> str:
    digest = world.context.files.put(b"\x89PNG\r\n\x1a\n" + b"0" * 40).hash
    return urlsplit(signed_url(world.context, FileGrant(digest, "a.png", "image/png"))).path


def endpoint_of_home(world: World) -> str:
    return "/~integrations/home-notes/x"


def site_of_home(world: World) -> str:
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    world.post("admin", f"{path}/publish")
    return urlsplit(world.get("admin", path)["urls"]["published"]).path


OTHERS = {
    "preview": preview_of_home,
    "file": file_of_home,
    "endpoint": endpoint_of_home,
    "site": site_of_home,
}


@pytest.mark.parametrize("kind", OTHERS)
def test_content_of_other_organizations_is_absent_from_a_custom_domain(
    world: World, visitor: Visitor, kind: str
) -> None:
    path = OTHERS[kind](world)
    found = visitor.get(path, host=SHARED).status_code
    assert found != 404 and found < 500
    for host in (HOST, f"{HOST}:8443", HOST.upper(), f"{HOST}."):
        for asked in (path, path.replace("/~", "/%7E", 1)):
            answer = visitor.get(asked, host=host)
            assert answer.status_code == 404 and "Mine" not in answer.text, (host, asked)


@pytest.mark.parametrize("kind", OTHERS)
def test_released_domains_serve_no_content_of_other_organizations(
    world: World, visitor: Visitor, kind: str
) -> None:
    """The DNS record can still point to this server."""
    path = OTHERS[kind](world)
    with world.context.db.write() as tx:
        update_site(tx, world.away["siteId"], hostname=None)
    assert visitor.get(path, host=SHARED).status_code < 400 or kind == "endpoint"
    assert [visitor.get(path, host=host).status_code for host in (HOST, HOST.upper())] == [404, 404]
    with world.context.db.write() as tx:
        update_site(tx, world.away["siteId"], proxy_host=HOST, proxy_path="/docs")
    proxied = f"/~proxied/{world.away['siteId']}/"
    assert visitor.get(proxied, host=HOST).status_code == 200
