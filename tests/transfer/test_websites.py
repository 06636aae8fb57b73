"""Tests of websites as pages: origin, robots.txt, limits, and hostile sites."""

import threading

import pytest

from octavo.interchange.transfer import runs
from octavo.interchange.transfer import website as crawling
from octavo.interchange.transfer.website import CrawlLimits
from octavo.kit.work.worker import Worker
from settled import PATIENCE
from transfer.bringing_in import PNG, html, website

pytestmark = pytest.mark.sqlite_first


def docs():
    return {
        "/robots.txt": (
            "text/plain",
            "User-agent: *\nDisallow: /docs/secret\nDisallow: /docs/*/draft$\nSitemap: http://[\n",
        ),
        "/docs/": html(
            "Handbook",
            "<p>Read <a href='guide/install#linux'>how to install</a>, <a href='guide'>the guide</a>,"
            " <a href='/docs/about.html?ref=1'>about</a>, <a href='secret'>secret</a>,"
            " <a href='guide/draft'>draft</a>, <a href='/shop'>shop</a>, <a href='old'>old</a>,"
            " <a href='away'>away</a>, <a href='gone'>gone</a>, <a href='http://['>odd</a>, <img "
            "src='https://[::1'>, <a href='paper.pdf'>paper</a>"
            " <img src='/img/a.png' alt='A'> <img src='/img/no.png' alt='N'></p>",
        ),
        "/docs/guide": html(
            "Guide", "<p><a href='/docs/guide/install'>Install</a></p><img src='/img/a.png'>"
        ),
        "/docs/guide/install": html("Install", "<h2 id='linux'>On Linux</h2><p>Do. <a href='../'>up</a></p>"),
        "/docs/about.html": html("About", "<p>Us. <a href='https://example.org/'>Elsewhere</a></p>"),
        "/docs/old": "/docs/guide",
        "/docs/away": "/shop",
        "/docs/unlinked": html("Unlinked", "<p>From the sitemap.</p>"),
        "/docs/secret": html("Secret", "x"),
        "/docs/guide/draft": html("Draft", "x"),
        "/shop": html("Shop", "x"),
        "/docs/paper.pdf": ("application/pdf", b"%PDF-"),
        "/img/a.png": ("image/png", PNG),
        "/sitemap.xml": (
            "application/xml",
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>HERE/docs/unlinked</loc></url>'
            "<url><loc>https://example.org/docs/foreign</loc></url><url><loc>&e;</loc></url><url>"
            "<loc>http://[</loc></url></urlset>",
        ),
    }


@pytest.fixture
def site(imports):
    with website(docs()) as site:
        kind, text = site.answers["/sitemap.xml"]
        site.answers["/sitemap.xml"] = (kind, text.replace("HERE", site.url))
        imports.allow(site.address)
        yield site


def crawl(imports, url, **target):
    run = imports.start({"type": "website", "url": url}, **target)
    imports.work()
    return imports.run(run)


def test_a_website_becomes_a_tree_of_pages(imports, site):
    run = crawl(imports, f"{site.url}/docs/")
    assert (run["status"], run.get("error")) == ("completed", None)
    assert imports.tree() == {"Handbook": {}, "Guide": {"Install": {}}, "About": {}, "Unlinked": {}}
    home = imports.text("Handbook")
    assert "[how to install](guide/install.md#linux)" in home
    assert "[the guide](guide/README.md)" in home and "[old](guide/README.md)" in home
    assert "[about](about.md)" in home
    assert f"[shop]({site.url}/shop)" in home
    assert "Menu" not in home and "Imprint" not in home
    (name,) = imports.stored_files()
    assert f'src=".gitbook/assets/{name}"' in home
    assert f'src="../.gitbook/assets/{name}"' in imports.text("Guide")
    assert f'src="{site.url}/img/no.png"' in home
    sources = {page["sourceURL"].removeprefix(site.url) for page in run["pages"]}
    assert sources == {"/docs/", "/docs/guide", "/docs/guide/install", "/docs/about.html", "/docs/unlinked"}
    found = {(p["path"].removeprefix(site.url), p["code"]) for p in run["problems"]}
    assert found == {
        ("/docs/secret", "robots"),
        ("/docs/guide/draft", "robots"),
        ("/docs/away", "redirected"),
        ("/docs/gone", "not_fetched"),
        ("/img/no.png", "not_fetched"),
    }
    assert not {"/docs/secret", "/docs/guide/draft"} & set(site.asked)
    # Once for itself and once for the URL that redirects to it. Everything else is fetched once.
    assert site.asked.count("/docs/guide") == 2
    assert len(site.asked) == len(set(site.asked)) + 1


def test_reached_limits_are_reported_and_read_pages_kept(imports, site, monkeypatch):
    monkeypatch.setattr(crawling, "CrawlLimits", lambda: CrawlLimits(pages=2))
    run = crawl(imports, f"{site.url}/docs/")
    assert run["status"] == "completed"
    assert imports.tree() == {"Handbook": {}, "Guide": {"Install": {}}}
    assert "page_limit" in {problem["code"] for problem in run["problems"]}


def test_an_endless_site_is_read_up_to_the_limit(imports, site, monkeypatch):
    monkeypatch.setattr(crawling, "CrawlLimits", lambda: CrawlLimits(pages=20, bytes=3000))

    class Endless(dict):
        def get(self, path, default=None):
            if path in self or not path.startswith("/docs/"):
                return super().get(path, default)
            return html(path, f"<p><a href='{path.rstrip('/')}/x'>on</a> <a href='{path}y'>on</a></p>")

    site.answers = Endless(site.answers)
    run = crawl(imports, f"{site.url}/docs/more")
    assert run["status"] == "completed"
    assert "limit" in {problem["code"] for problem in run["problems"]}
    assert len(run["pages"]) < 20


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"/docs/": 500}, "status 500"),
        ({"/robots.txt": 503}, "robots.txt"),
        ({"/robots.txt": ("text/plain", "User-agent: Octavo\nDisallow: /\n")}, "robots.txt"),
        ({"/docs/": ("application/json", "{}")}, "must return an HTML page"),
    ],
)
def test_an_unreadable_site_fails_the_run(imports, site, change, said):
    site.answers |= change
    run = crawl(imports, f"{site.url}/docs/")
    assert run["status"] == "failed" and said in run["reason"]
    assert imports.tree() == {}


def test_private_addresses_are_not_read(imports, site):
    imports.allow("")
    assert imports.try_start({"type": "website", "url": f"{site.url}/docs/"}).status_code == 400
    assert imports.try_start({"type": "website", "url": "file:///etc/passwd"}).status_code == 400
    with website({"/": html("Inside", "x"), "/i.png": ("image/png", PNG)}) as inside:
        site.answers["/docs/inside"] = f"{inside.url}/"
        site.answers["/docs/"] = html(
            "Home", f"<a href='inside'>in</a><img src='{inside.url}/i.png'><img src='file:///etc/passwd'>"
        )
        imports.allow(site.address)
        run = crawl(imports, f"{site.url}/docs/")
        assert run["status"] == "completed"
        assert inside.asked == []
        assert imports.stored_files() == []


def test_a_crawl_is_canceled_immediately(imports, site, monkeypatch):
    monkeypatch.setattr(runs, "_TELL_EVERY", 0)
    world, asked, answered = imports.world, threading.Event(), threading.Event()
    run = imports.start({"type": "website", "url": f"{site.url}/docs/"})

    def slow():
        asked.set()
        answered.wait(PATIENCE)
        return html("Guide", "x")

    site.answers["/docs/guide"] = slow
    worker = threading.Thread(target=Worker(world.context.db, world.context).run_pending)
    worker.start()
    assert asked.wait(PATIENCE)
    assert imports.run(run)["progress"]["total"] > 0
    assert world.call("editor", "POST", f"{imports.runs}/{run}/cancel").status_code == 201
    answered.set()
    worker.join(PATIENCE)
    assert not worker.is_alive()
    assert "/docs/about.html" not in site.asked
    assert (imports.run(run)["status"], imports.tree()) == ("cancelled", {})
