"""Tests of exporting a public site as files: it works on a plain web server, and reveals nothing about the
original server."""

import http.server
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx
import pytest
from lxml import html

from local_server import local_server
from octavo.errors import BadRequest
from octavo.operations.admin import static_export
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import MANIFEST, export_site
from octavo.sites.site.store import find_site_of_space
from tools import ROOT
from world import World

pytestmark = pytest.mark.sqlite_first

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x00\x00\x00\x02\x00\x00\x00\x03" + bytes(40)
FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Deep](guide/deep.md)\n"
    "* [Hidden](hidden.md)\n* [Members](members.md)\n",
    "README.md": "# Home\n\nSee [the deep page](guide/deep.md#there).\n\n![A](<.gitbook/assets/ä b.png>)\n\n"
    '<button type="button" class="button primary" data-action="search" data-query="x">Search</button>\n',
    "guide/README.md": "---\ndescription: All\n---\n\n# Guide\n\n[Home](../README.md)\n",
    "guide/deep.md": '# Deep\n\n## There\n\n`href="/home/docs/"` stays as it is.\n',
    "hidden.md": "---\nhidden: true\n---\n\n# Hidden\n\nStill here.\n",
    "members.md": "---\nif: visitor.claims.member\n---\n\n# Members\n\nFor few.\n",
    ".gitbook/assets/ä b.png": PNG,
}


def site_of(world: World, source: Path, files: dict[str, str | bytes] | None = None) -> str:
    for name, content in (files or {}).items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(source), organization_id=organization, title="Handbook", publish=True
    )
    with world.context.db.read() as tx:
        site = find_site_of_space(tx, brought.outcome.space)
    assert site is not None
    # Visitors can ask questions where there is a server.
    body = {"styling": {}, "internationalization": {}, "ai": {"mode": "assistant"}}
    path = f"/orgs/{organization}/sites/{site}/customization"
    assert world.call("admin", "PUT", path, json=body).status_code == 200
    return site


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with local_server(partial(_Quiet, directory=str(folder))) as server:
        yield server.url


def crawl(start: str, live: tuple[str, ...]) -> dict[str, str]:
    """Return every page by path, following all links. No page can be missing, redirect, or depend on a
    server."""
    host = urlsplit(start).netloc
    pages: dict[str, str] = {}
    waiting, known = [start], {start}
    with httpx.Client() as client:
        while waiting:
            url = waiting.pop()
            answer = client.get(url)
            assert answer.status_code == 200, url
            if answer.headers["content-type"] != "text/html":
                continue
            text = answer.content.decode()
            pages[urlsplit(url).path] = text
            document = html.document_fromstring(text)
            assert not document.xpath("//form | //dialog | //*[@data-try] | //*[@data-action]"), url
            named = [value for element in document.iter() for value in _addresses(element)]
            named += re.findall(r'url\("(/[^"]*)"\)', text)
            for value in named:
                assert not any(there in value for there in live), (url, value)
                target = urldefrag(urljoin(url, value))[0]
                assert (
                    "/~search" not in target
                    and "/~ask" not in target
                    and "/ask." not in target
                    and "/~try" not in target
                    and "/~gitbook" not in target
                )
                if urlsplit(target).netloc == host and target not in known:
                    known.add(target)
                    waiting.append(target)
    return pages


def _addresses(element: html.HtmlElement) -> list[str]:
    found = [element.get(name) for name in ("href", "src", "action", "data-copy-from", "data-copy-text")] + (
        element.get("srcset") or ""
    ).split(", ")
    found += (
        re.findall("url=(.*)", element.get("content") or "") if element.get("http-equiv") == "refresh" else []
    )
    return [value for value in found if value]


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def live(world: World) -> tuple[str, ...]:
    return (world.context.settings.url, world.context.settings.sites_url)


@pytest.mark.parametrize("base", ["/", "/manual/", "https://docs.example.org/manual/"])
def test_an_export_works_at_any_url(world: World, tmp_path: Path, live: tuple[str, ...], base: str) -> None:
    site = site_of(world, tmp_path / "source", FILES)
    path = urlsplit(base).path
    out = tmp_path / "www" / path.strip("/")
    done = export_site(world.context, site, out, base=base)
    assert done.broken == [] and done.left_out == []
    with served(tmp_path / "www") as address:
        pages = crawl(f"{address}{path}", live)
        hidden = httpx.get(f"{address}{path}hidden/")
        markdown = httpx.get(f"{address}{path}guide/deep.md")
        index = httpx.get(f"{address}{path}llms.txt").text
    assert {f"{path}{name}" for name in ("", "guide/", "guide/deep/")} <= set(pages)
    assert hidden.status_code == markdown.status_code == 200
    assert f'href="{path}guide/deep/#there"' in pages[path]
    assert 'href="/home/docs/"' in pages[f"{path}guide/deep/"].replace("&quot;", '"')
    everything = [content.decode(errors="replace") for content, _ in snapshot(out).values()]
    assert not any("data-seen" in text for text in everything), "nobody counts there"
    assert not any("For few" in text or "members" in text.lower() for text in everything)
    assert not any(there in text for text in everything for there in live)
    assert (out / "404.html").read_text().count(f'href="{path}guide/"')
    assert f"{base}guide/deep.md" in index
    assert (out / "sitemap.xml").exists() == base.startswith("https")
    if base.startswith("https"):
        assert f"<loc>{base}guide/deep/</loc>" in (out / "sitemap.xml").read_text()
        assert f'rel="canonical" href="{base}guide/"' in pages[f"{path}guide/"]
        assert f"Sitemap: {base}sitemap.xml" in (out / "robots.txt").read_text()


def test_the_policy_of_a_page_allows_its_own_style(world: World, tmp_path: Path) -> None:
    site = site_of(world, tmp_path / "source", FILES)
    export_site(world.context, site, tmp_path / "www", base="/manual/")
    document = html.document_fromstring((tmp_path / "www" / "index.html").read_bytes())
    policy = document.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    styles = document.xpath("//style/text()")
    assert styles and all(static_export._digest(style) in policy for style in styles)
    assert "/manual/~assets/" in styles[0] and '"/~assets' not in styles[0]


def test_sections_variants_and_redirects_are_exported(
    world: World, tmp_path: Path, live: tuple[str, ...]
) -> None:
    home = world.home
    sites = home.path("/orgs/{organizationId}/sites/{siteId}")
    below = {"source": "/gone/*", "destination": {"kind": "site-space", "siteSpaceId": home["siteSpaceId"]}}
    world.post("admin", f"{sites}/redirects", below)
    world.call("admin", "PATCH", sites, json={"visibility": "public"})
    world.post("admin", f"{sites}/publish")
    # The second section and the second variant of the first show the same empty space, so there is no link
    # there.
    empty = export_site(world.context, home["siteId"], tmp_path / "www")
    assert (empty.broken, empty.left_out) == ([], ["/gone/*"])
    site_of(world, tmp_path / "source", FILES)
    shown = world.get("admin", home.path("/collections/{collectionId}/spaces"))["items"][0]["id"]
    import_space(world.context, str(tmp_path / "source"), space_id=shown)
    done = export_site(world.context, home["siteId"], tmp_path / "www")
    with served(tmp_path / "www") as address:
        pages = crawl(f"{address}/", live)
        sent = httpx.get(f"{address}/old/").text
    target = re.search(r'url=([^"]*)"', sent)
    assert target is not None and target[1] in pages
    assert done.broken == []
    assert len({path for path in pages if path.endswith("/guide/deep/")}) == 2


@pytest.mark.slow
def test_the_manual_is_exported(world: World, tmp_path: Path, live: tuple[str, ...]) -> None:
    site = site_of(world, ROOT / "docs")
    done = export_site(world.context, site, tmp_path / "www")
    assert done.broken == []
    with served(tmp_path / "www") as address:
        pages = crawl(f"{address}/", live)
    assert len(pages) == done.pages


def test_a_second_run_writes_changed_files_and_deletes_removed_ones(world: World, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "www"
    site = site_of(world, source, FILES)
    export_site(world.context, site, out)
    (out / "CNAME").write_text("docs.example.org\n")
    before = snapshot(out)
    again = export_site(world.context, site, out)
    assert (again.written, again.removed) == (0, 0)
    assert {name: kept for name, kept in snapshot(out).items() if name != MANIFEST} == {
        name: kept for name, kept in before.items() if name != MANIFEST
    }
    with world.context.db.read() as tx:
        space = tx.value("SELECT space_id FROM site_spaces WHERE site_id = :site", site=site)
    (source / "SUMMARY.md").write_text("* [Home](README.md)\n* [Guide](guide/README.md)\n")
    (source / "README.md").write_text("# Home\n")
    (source / "guide" / "deep.md").unlink()
    import_space(world.context, str(source), space_id=space)
    changed = export_site(world.context, site, out)
    assert changed.removed and not (out / "guide" / "deep").exists() and not (out / "hidden").exists()
    assert (out / "CNAME").read_text() == "docs.example.org\n"
    assert before["~assets/octavo.css"] == snapshot(out)["~assets/octavo.css"]
    assert set(json.loads((out / MANIFEST).read_text())["files"]) == set(snapshot(out)) - {"CNAME", MANIFEST}


def test_an_interrupted_run_keeps_the_previous_export(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "www"
    site = site_of(world, tmp_path / "source", FILES)
    export_site(world.context, site, out)
    before = snapshot(out)

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_site(world.context, site, out, base="/elsewhere/", progress=stop)
    assert snapshot(out) == before
    # Stopped while moving files: the export's own files are known, and the next run completes it.
    replace, moved = static_export.os.replace, []

    def fail(source: Path, target: Path) -> None:
        moved.append(target)
        if len(moved) == 4:
            raise OSError("disk full")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(static_export.os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            export_site(world.context, site, out, base="/elsewhere/")
    export_site(world.context, site, out)
    assert {name: content for name, (content, _) in snapshot(out).items()} == {
        name: content for name, (content, _) in before.items()
    }


def test_invalid_exports_are_refused(world: World, tmp_path: Path) -> None:
    site = site_of(world, tmp_path / "source", FILES)
    out = tmp_path / "www"
    out.mkdir()
    (out / "index.html").write_text("mine")
    with pytest.raises(BadRequest, match="wasn't written by an earlier export"):
        export_site(world.context, site, out)
    assert snapshot(out).keys() == {"index.html"}
    for base in ("docs", "ftp://x/", "//other/", '/"><script>', "/a?b=c", "https://"):
        with pytest.raises(BadRequest, match="base: "):
            export_site(world.context, site, tmp_path / "new", base=base)
    sites = f"/orgs/{world.home['organizationId']}/sites/{site}"
    for visibility in ("unlisted", "share-link", "visitor-auth"):
        assert world.call("admin", "PATCH", sites, json={"visibility": visibility}).status_code == 200
        with pytest.raises(BadRequest, match="isn't public"):
            export_site(world.context, site, tmp_path / "new")
    world.call("admin", "PATCH", sites, json={"visibility": "public"})
    world.post("admin", f"{sites}/unpublish")
    with pytest.raises(BadRequest, match="isn't published"):
        export_site(world.context, site, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_manifest_cannot_name_files_outside_its_folder(world: World, tmp_path: Path) -> None:
    site = site_of(world, tmp_path / "source", FILES)
    out, outside = tmp_path / "www", tmp_path / "precious"
    outside.write_text("here")
    export_site(world.context, site, out)
    (out / MANIFEST).write_text(json.dumps({"site": site, "files": ["../precious"]}))
    with pytest.raises(BadRequest):
        export_site(world.context, site, out)
    assert outside.read_text() == "here"
