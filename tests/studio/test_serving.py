"""The page of the app at its URLs, the files that it loads, and the message if it wasn't built."""

from __future__ import annotations

import asyncio
import gzip

import brotli
import httpx
import pytest
from lxml import etree

from octavo.app import api_app
from octavo.delivery.studio import serving
from world import URL

pytestmark = pytest.mark.sqlite_first

SCRIPT = b"export const words = 'one two three';\n" * 60
PAGE = {"accept": "text/html,*/*;q=0.8"}
ADDRESSES = ("/s/abc/guides/start", "/s/abc/~/changes/4/guides", "/o/abc", "/c/abc", "/~/inbox")


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Create a folder for an app of one page and one script, with the compressed files that a build adds."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_bytes(b"<!doctype html><title>Octavo</title>")
    (tmp_path / "assets" / "index-1a2b.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "index-1a2b.js.br").write_bytes(brotli.compress(SCRIPT, quality=11))
    (tmp_path / "assets" / "index-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT))
    monkeypatch.setattr(serving, "DIST", tmp_path)
    monkeypatch.setattr(serving, "SHELL", tmp_path / "index.html")
    return tmp_path


def ask(world, path, **headers):
    """Return the response of a newly started API."""

    async def answer():
        transport = httpx.ASGITransport(api_app(world.context).application)
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.get(path, headers=headers)

    return asyncio.run(answer())


@pytest.mark.parametrize("address", ["/", *ADDRESSES])
def test_every_url_of_the_app_returns_its_page(world, built, address):
    page = ask(world, address, **PAGE)
    assert page.status_code == 200 and b"<title>Octavo" in page.content
    policy = page.headers["content-security-policy"]
    assert "require-trusted-types-for 'script'" in policy and "unsafe" not in policy
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-cache"
    again = {**PAGE, "if-none-match": page.headers["etag"]}
    assert ask(world, address, **again).status_code == 304


def test_the_root_describes_the_api_to_programs(world, built):
    told = ask(world, "/", accept="application/json")
    assert told.json()["name"] == "Octavo"
    assert "accept" in told.headers["vary"].lower()


@pytest.mark.parametrize("coding", ["br", "gzip"])
def test_files_are_immutable_and_sent_precompressed(world, built, coding):
    file = ask(world, "/assets/index-1a2b.js", **{"accept-encoding": coding})
    assert file.content == SCRIPT
    assert file.headers["content-encoding"] == coding
    ending = {"br": "br", "gzip": "gz"}[coding]
    size = (built / "assets" / f"index-1a2b.js.{ending}").stat().st_size
    assert int(file.headers["content-length"]) == size
    assert "immutable" in file.headers["cache-control"]
    assert file.headers["x-content-type-options"] == "nosniff"
    assert ask(world, "/assets/index-1a2b.js", **{"accept-encoding": "identity"}).content == SCRIPT


@pytest.mark.parametrize("name", ["none.js", "..%2Findex.html", "%2e%2e%2findex.html", "."])
def test_only_files_of_the_folder_are_sent(world, built, name):
    assert ask(world, f"/assets/{name}").status_code == 404


@pytest.mark.parametrize("address", ADDRESSES)
def test_without_the_app_its_urls_name_the_missing_build(world, tmp_path, monkeypatch, address):
    monkeypatch.setattr(serving, "SHELL", tmp_path / "index.html")
    said = ask(world, address, **PAGE)
    assert said.status_code == 503 and "make setup" in said.text
    assert "default-src 'none'" in said.headers["content-security-policy"]
    assert ask(world, "/v1/", **PAGE).status_code == 200


def test_without_the_app_the_root_redirects(world, tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "SHELL", tmp_path / "index.html")
    page = ask(world, "/", **PAGE)
    links = etree.HTML(page.text).xpath("//a/@href")
    assert world.context.settings.sites_url in links and {"/sign-in", "/docs", "/openapi.json"} <= set(links)
    for link in links:
        if link.startswith("/"):
            assert ask(world, link).status_code == 200


def test_the_worker_is_looked_for_each_time(world, built):
    assert ask(world, "/service-worker.js").status_code == 404
    (built / "service-worker.js").write_bytes(SCRIPT)
    found = ask(world, "/service-worker.js")
    assert (found.content, found.headers["cache-control"]) == (SCRIPT, "no-cache")
    assert found.headers["content-type"].startswith("text/javascript")


def test_the_manifest_names_the_server(world, built):
    told = ask(world, "/app.webmanifest")
    assert told.headers["content-type"] == "application/manifest+json"
    assert told.json()["name"] == world.context.settings.name
    policy = ask(world, "/", **PAGE).headers["content-security-policy"]
    assert "manifest-src 'self'" in policy and "worker-src 'self'" in policy
