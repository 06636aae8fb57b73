"""Root of the sites domain: what everyone may know, and nothing else."""

from __future__ import annotations

import pytest
from lxml import etree

from octavo.kit.clock import now
from octavo.kit.ids import new_id
from visiting import Visitor


@pytest.fixture
def make_site(world):
    def make(title, *, visibility="public", published=True, hostname=None):
        with world.context.db.write() as tx:
            site = new_id()
            tx.run(
                """INSERT INTO sites (id, organization_id, title, basename, hostname, visibility, published,
                     created_at, updated_at)
                   VALUES (:id, :org, :title, :basename, :hostname, :visibility, :published, :now, :now)""",
                id=site,
                org=world.home["organizationId"],
                title=title,
                basename=f"b-{site.lower()}",
                hostname=hostname,
                visibility=visibility,
                published=int(published),
                now=now(),
            )
        return site

    return make


def test_the_root_lists_public_sites(world, make_site):
    visitor = Visitor(world.context)
    before = {item["title"] for item in visitor.get("/", host="localhost").json()["items"]}
    make_site("Open <b>to</b> all")
    make_site("Own name", hostname="docs.example.com")
    for visibility in ("unlisted", "share-link", "visitor-auth"):
        make_site(f"Of few {visibility}", visibility=visibility)
    make_site("Not yet", published=False)
    told = visitor.get("/", host="localhost").json()
    found = {item["title"]: item["url"] for item in told["items"]}
    assert set(found) - before == {"Open <b>to</b> all", "Own name"}
    assert told["count"] == len(told["items"])
    assert found["Own name"] == "http://docs.example.com/"
    assert found["Open <b>to</b> all"].startswith(world.context.settings.sites_url)

    page = visitor.get("/", host="localhost", accept="text/html,*/*;q=0.8")
    assert page.headers["content-type"].startswith("text/html")
    assert "accept" in page.headers["vary"].lower()
    links = etree.HTML(page.text).xpath("//ul[@class='results']//a")
    assert {link.text: link.get("href") for link in links} == found
    assert "Of few" not in page.text and "Not yet" not in page.text


def test_the_root_of_a_hostname_is_its_site(world, make_site):
    make_site("Own name", hostname="docs.example.com")
    answer = Visitor(world.context).get("/", host="docs.example.com")
    # The site has no content yet: it still answers, and doesn't list others.
    assert answer.status_code == 404


def test_the_list_of_sites_is_paginated(world, make_site):
    visitor = Visitor(world.context)
    for number in range(101):
        make_site(f"Site {number}")
    first = visitor.get("/", host="localhost").json()
    second = visitor.get("/", {"page": first["next"]["page"]}, host="localhost").json()
    titles = [item["title"] for item in first["items"] + second["items"]]
    assert len(first["items"]) == 100 and len(titles) == first["count"] and "next" not in second
    assert {f"Site {number}" for number in range(101)} <= set(titles)
    page = visitor.get("/", host="localhost", accept="text/html")
    (more,) = etree.HTML(page.text).xpath("//a[@rel='next']/@href")
    last = visitor.get(more, host="localhost", accept="text/html").text
    assert all(item["title"] in last for item in second["items"])
    assert visitor.get("/", {"page": "made up"}, host="localhost").status_code == 400
