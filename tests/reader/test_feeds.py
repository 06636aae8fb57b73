"""Feeds of sites and of pages with dated entries: valid, complete for feed readers, and limited to what pages show."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import feedparser
import httpx
import pytest

from octavo.delivery.reader.entries import MAX_ENTRIES, DatedEntry, newest
from octavo.delivery.reader.feeds import MAX_PAGES
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import export_site
from octavo.sites.site.store import find_site_of_space
from visiting import Visitor
from world import World

NEWS = """---
description: What is new & <better>
---

# News

{% updates format="full" %}
{% update date="2026-02-11" tags="fix" %}
Pages open in half the time. See [the guide](guide.md#deep).

![A picture](.gitbook/assets/a.png)
{% endupdate %}

{% update date="2026-03-02" tags="feature,api" %}
## Search in <all> & every\x0b space

```js
let a = "<b>" && 1;
```
{% endupdate %}

{% update date="soon" %}
{% if visitor.claims.member %}
For members.
{% endif %}
Without a day.
{% endupdate %}
{% endupdates %}
"""
FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide.md)\n* [News](news/README.md)\n* [None](none.md)\n"
    "* [Kept](kept.md)\n* [Members](members.md)\n",
    "README.md": '# Home\n\n{% updates %}\n{% update date="2026-01-01" %}\nBegun.\n{% endupdate %}\n{% endupdates %}\n',
    "guide.md": "# Guide\n\n## Deep\n",
    "news/README.md": NEWS.replace("](guide", "](../guide").replace("](.git", "](../.git"),
    "none.md": "# None\n\n{% updates %}\n{% endupdates %}\n",
    "kept.md": "---\nif: visitor.claims.member\n---\n\n" + NEWS.partition("---\n\n")[2],
    "members.md": "---\nif: visitor.claims.member\n---\n\n# Members\n",
    ".gitbook/assets/a.png": "\x89PNG",
}


class Site:
    def __init__(self, world: World, folder: Path) -> None:
        for name, content in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "latin-1")
        organization = world.home["organizationId"]
        brought = import_space(
            world.context, str(folder), organization_id=organization, title="Docs", publish=True
        )
        with world.context.db.read() as tx:
            site = find_site_of_space(tx, brought.outcome.space)
        assert site is not None
        self.id, self.space = site, brought.outcome.space
        self.place = f"/orgs/{organization}/sites/{site}"
        self.world = world
        found = world.get("admin", self.place)
        self.url: str = found["urls"]["published"]
        self._visitor = Visitor(world.context)

    def change(self, *changes: dict[str, object]) -> None:
        requests = f"/spaces/{self.space}/change-requests"
        change = self.world.post("admin", requests, {"subject": "Change"})["id"]
        self.world.post("admin", f"{requests}/{change}/content", {"changes": list(changes)})
        self.world.post("admin", f"{requests}/{change}/merge")

    def feed(self) -> feedparser.FeedParserDict:
        """Return the site's feed, parsed."""
        answer = self.get("~feed.xml")
        assert answer.status_code == 200
        feed = feedparser.parse(answer.content)
        assert not feed.bozo, feed.get("bozo_exception")
        return feed

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._visitor.get(urlsplit(self.url).path + path, **headers)


@pytest.fixture
def site(world: World, tmp_path: Path) -> Site:
    return Site(world, tmp_path / "source")


@pytest.mark.sqlite_first
def test_a_feed_is_valid_and_newest_first(site: Site) -> None:
    page = site.get("news")
    link = (
        f'<link rel="alternate" type="application/rss+xml" title="News" '
        f'href="{urlsplit(site.url).path}news/rss.xml">'
    )
    assert link in page.text
    answer = site.get("news/rss.xml")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("application/rss+xml")
    feed = feedparser.parse(answer.content)
    assert not feed.bozo, feed.get("bozo_exception")
    assert feed.version == "rss20"
    assert feed.feed.title == "News · Docs" and feed.feed.link == f"{site.url}news"
    assert feed.feed.description == "What is new &amp; &lt;better&gt;"
    assert [one.href for one in feed.feed.links if one.rel == "self"] == [f"{site.url}news/rss.xml"]
    assert [entry.title for entry in feed.entries] == [
        "Search in <all> & every space",
        "11 February 2026",
        "News",
    ]
    assert feed.entries[0].published == "Mon, 02 Mar 2026 00:00:00 GMT"
    assert [tag.term for tag in feed.entries[0].tags] == ["feature", "api"]
    assert all(entry.id == entry.link and entry.link.startswith(f"{site.url}news#") for entry in feed.entries)
    for entry in feed.entries:
        assert f'id="{entry.link.partition("#")[2]}"' in page.text


def test_entries_contain_whole_text_with_absolute_links(site: Site) -> None:
    feed = feedparser.parse(site.get("news/rss.xml").content)
    shown = {entry.title: entry.summary for entry in feed.entries}
    assert f'href="{site.url}guide#deep"' in shown["11 February 2026"]
    assert f'src="{site.url}~files/' in shown["11 February 2026"]
    raw = site.get("news/rss.xml").text
    assert "&lt;button" not in raw and "aria-hidden" not in raw
    assert "Without a day." in raw and "For members" not in raw


@pytest.mark.sqlite_first
def test_a_feed_is_next_to_its_page(site: Site) -> None:
    assert feedparser.parse(site.get("rss.xml").content).entries[0].summary == "<p>Begun.</p>"
    assert f'{urlsplit(site.url).path}rss.xml"' in site.get("").text
    for path in ("none", "guide", "kept", "nowhere", "none/rss.xml"):
        assert site.get(f"{path}/rss.xml").status_code == 404, path
    assert "rss.xml" not in site.get("none").text
    other = site.get("News/rss.xml")
    assert other.status_code == 307 and other.headers["location"].endswith("/news/rss.xml")


def test_an_unchanged_feed_returns_304(site: Site) -> None:
    first = site.get("news/rss.xml")
    again = site.get("news/rss.xml", **{"if-none-match": first.headers["etag"]})
    assert again.status_code == 304 and not again.content
    assert first.headers["x-robots-tag"] == "noindex"


def test_a_feed_has_the_newest_entries() -> None:
    days = [date(2000 + n % 200, 1, 1) for n in range(0, 2 * MAX_ENTRIES * 7, 7)]
    found = newest(
        [DatedEntry(str(n), "", "", day, ()) for n, day in enumerate(days)]
        + [DatedEntry("x", "", "", None, ())]
    )
    assert len(found) == MAX_ENTRIES
    assert [entry.day for entry in found] == sorted(days, reverse=True)[:MAX_ENTRIES]


@pytest.mark.sqlite_first
def test_an_export_has_feeds_if_its_url_is_known(world: World, site: Site, tmp_path: Path) -> None:
    export_site(world.context, site.id, tmp_path / "known", base="https://docs.example.org/manual/")
    feed = feedparser.parse((tmp_path / "known/news/rss.xml").read_bytes())
    assert feed.feed.link == "https://docs.example.org/manual/news"
    assert 'href="https://docs.example.org/manual/guide#deep"' in feed.entries[1].summary
    export_site(world.context, site.id, tmp_path / "anywhere", base="/manual/")
    assert not list((tmp_path / "anywhere").rglob("rss.xml"))
    assert "rss.xml" not in (tmp_path / "anywhere/news/index.html").read_text()


# --- the feed of a site -----------------------------------------------------------------------------------


def add(title: str, **fields: object) -> dict[str, object]:
    return {"operation": "insert_page", "title": title, "document": {"markdown": f"# {title}\n"}, **fields}


@pytest.mark.sqlite_first
def test_a_site_has_a_valid_feed_of_updated_pages(site: Site) -> None:
    link = (
        '<link rel="alternate" type="application/atom+xml" title="Docs" '
        f'href="{urlsplit(site.url).path}~feed.xml">'
    )
    assert link in site.get("guide").text and link in site.get("news").text
    answer = site.get("~feed.xml")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert answer.headers["x-robots-tag"] == "noindex"
    again = site.get("~feed.xml", **{"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304 and not again.content
    site.change(add("Rock & <roll>", description="All & <everything>"))
    assert site.get("~feed.xml", **{"if-none-match": answer.headers["etag"]}).status_code == 200
    feed = site.feed()
    assert feed.version == "atom10"
    assert (feed.feed.title, feed.feed.id, feed.feed.link, feed.feed.author) == (
        "Docs",
        site.url,
        site.url,
        "Docs",
    )
    assert [one.href for one in feed.feed.links if one.rel == "self"] == [f"{site.url}~feed.xml"]
    newest = feed.entries[0]
    assert (newest.title, newest.summary) == ("Rock & <roll>", "All & <everything>")
    assert newest.id == newest.link == f"{site.url}rock-roll"
    assert feed.feed.updated == newest.updated
    listed = re.findall("<loc>([^<]*)</loc><lastmod>([^<]*)<", site.get("sitemap.xml").text)
    assert sorted((entry.link, entry.updated) for entry in feed.entries) == sorted(listed)


@pytest.mark.sqlite_first
def test_a_page_that_changes_moves_to_the_top_of_the_feed(site: Site) -> None:
    listed = site.world.get("admin", f"/spaces/{site.space}/content/pages")["pages"]
    pages = {page["title"]: page["id"] for page in listed}
    for title in ("Guide", "None"):
        text = {"markdown": f"# {title}\n\nChanged.\n"}
        site.change({"operation": "update_page", "page": pages[title], "document": text})
        assert site.feed().entries[0].title == title


@pytest.mark.sqlite_first
def test_a_feed_of_a_site_is_limited(site: Site) -> None:
    site.change(*(add(f"Page {n}") for n in range(MAX_PAGES + 1)))
    assert len(site.feed().entries) == MAX_PAGES


@pytest.mark.sqlite_first
def test_the_feed_of_a_site_lists_public_content(site: Site) -> None:
    site.change(add("Hidden", hidden=True), add("Unlisted", noRobotsIndex=True), add("Shown"))
    titles = {entry.title for entry in site.feed().entries}
    assert titles == {"Home", "Guide", "News", "None", "Shown"}
    answer = site.get("~feed.xml?visitor.member=true")
    assert "Members" not in answer.text
    site.world.call("admin", "PATCH", site.place, json={"visibility": "unlisted"})
    assert site.get("~feed.xml").status_code == 404
    assert "~feed.xml" not in site.get("guide").text


@pytest.mark.sqlite_first
def test_an_export_has_the_feed_of_the_site_if_its_url_is_known(
    world: World, site: Site, tmp_path: Path
) -> None:
    export_site(world.context, site.id, tmp_path / "known", base="https://docs.example.org/manual/")
    written = (tmp_path / "known/~feed.xml").read_bytes()
    assert urlsplit(site.url).netloc.encode() not in written
    feed = feedparser.parse(written)
    assert feed.feed.id == "https://docs.example.org/manual/"
    assert "https://docs.example.org/manual/guide" in {entry.link for entry in feed.entries}
    assert 'href="/manual/~feed.xml"' in (tmp_path / "known/guide/index.html").read_text()
    export_site(world.context, site.id, tmp_path / "anywhere", base="/manual/")
    assert not list((tmp_path / "anywhere").rglob("~feed.xml"))
    assert "~feed.xml" not in (tmp_path / "anywhere/guide/index.html").read_text()
