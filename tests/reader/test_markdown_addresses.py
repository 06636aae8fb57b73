"""Every URL in a site's Markdown has the same target as on the page: in the reader, in the text of a whole
site, and over the API with a visitor's token."""

from __future__ import annotations

from urllib.parse import unquote, urljoin, urlsplit

import pytest

from octavo.core.document.reader import read
from octavo.core.document.references import references
from octavo.operations.admin.import_export import import_space
from transfer.bringing_in import PNG
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

FILES = {
    "README.md": "# Home\n\n[Deep](parts/01-deep.md#big-part) and ![x](.gitbook/assets/x.png)\n",
    "parts/README.md": "# Parts\n\n[Up](../README.md), [deep](01-deep.md).\n",
    "parts/01-deep.md": "---\nicon: star\n---\n# Deep\n\n## Big Part\n\n"
    "[Own](#big-part), [by file](01-deep.md#big-part), "
    "[other](../other%20one.md#no), [away](https://example.org/a.md), [gone](gone.md)\n\n"
    '{% content-ref url="../other one.md" %}\n[other one.md](<../other one.md>)\n{% endcontent-ref %}\n\n'
    '{% include "../.gitbook/includes/more.md" %}\n\n{% file src="../.gitbook/assets/x.png" %}\n',
    "other one.md": '# Other\n\n## No\n\n<figure><img src=".gitbook/assets/x.png" '
    'alt=""><figcaption></figcaption></figure>\n\n'
    '<table data-view="cards"><thead><tr><th></th><th data-card-target '
    'data-type="content-ref"></th></tr></thead><tbody>'
    '<tr><td>Deep</td><td><a href="parts/01-deep.md">deep</a></td></tr></tbody></table>\n',
    ".gitbook/includes/more.md": "---\ntitle: More\n---\n## Included\n\n[Home](../../README.md), [here](#included), "
    "![y](../assets/x.png)\n",
    "SUMMARY.md": "* [Home](README.md)\n* [Named otherwise](parts/README.md)\n  * [Very deep](parts/01-deep.md)\n"
    "* [Other](<other one.md>)\n",
}


@pytest.fixture
def site(world, tmp_path):
    source = tmp_path / "source"
    for name, text in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / ".gitbook" / "assets").mkdir(parents=True)
    (source / ".gitbook" / "assets" / "x.png").write_bytes(PNG)
    brought = import_space(
        world.context, str(source), organization_id=world.home["organizationId"], title="M", publish=True
    )
    return brought.outcome.space, brought.site_url


def addresses(markdown):
    """Return all URLs in a text."""
    return [str(found.ref["url"]) for found in references(read(markdown)) if found.ref.get("kind") == "url"]


def check(visitor, markdown, at):
    """Check that each URL, resolved against ``at``, exists. Returns how many belong to the site."""
    count = 0
    for written in addresses(markdown):
        if written == "gone.md":  # The source says so, and there is no such page.
            continue
        whole = urljoin(at, written)
        parts = urlsplit(whole)
        if parts.netloc == "example.org":
            continue
        answer = visitor.get(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        assert answer.status_code == 200, (written, whole, answer.status_code)
        if parts.fragment:
            answer = visitor.get(parts.path.removesuffix(".md"))
            assert f'id="{unquote(parts.fragment)}"' in answer.text, written
        count += 1
    return count


def test_markdown_urls_work_in_pages_and_the_text_of_a_site(world, site):
    _, url = site
    visitor = Visitor(world.context)
    base = urlsplit(url).path
    index = [one for one in addresses(visitor.get(f"{base}llms.txt").text) if one.endswith(".md")]
    assert visitor.get(urlsplit(index.pop(0)).path).text.count(f"]({base}") == 0
    assert len(index) == 4
    for address in index:
        answer = visitor.get(urlsplit(address).path)
        assert answer.status_code == 200, address
        assert "gone.md" not in answer.text, "a link to nothing is its text"
        assert check(visitor, answer.text, address) >= 2
    whole = visitor.get(f"{base}llms-full.txt").text
    assert check(visitor, whole, f"{url}llms-full.txt") > 12


def test_markdown_urls_work_over_the_api_with_a_site_token(world, site):
    space, url = site
    visitor = Visitor(world.context)
    token = world.call("nobody", "POST", "/urls/published", json={"url": url}).json()["apiToken"]
    headers = {"authorization": f"Bearer {token}"}
    pages = world.call("nobody", "GET", f"/spaces/{space}/content/pages", headers=headers).json()["pages"]
    seen = 0
    waiting = list(pages)
    home = pages[0]["id"]
    while waiting:
        page = waiting.pop()
        waiting += page.get("pages", [])
        path = f"/spaces/{space}/content/page/{page['id']}?format=markdown"
        text = world.call("nobody", "GET", path, headers=headers).json()["markdown"]
        assert "anchor:" not in text and ".gitbook" not in text
        where = url if page["id"] == home else f"{url}{page['path']}"
        seen += check(visitor, text, where)
    assert seen > 12
