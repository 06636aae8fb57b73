"""Responses to visitors: pages, files, and errors, through the reader's own application."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from octavo.operations.admin.import_export import import_space
from visiting import Visitor

FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide.md)\n* [Hidden](hidden.md)\n* [Beta](beta.md)\n",
    "README.md": "# Home\n\nSee [the guide](guide.md#there) and [nothing](nope.md).\n\n![A](.gitbook/assets/a.png)\n",
    "guide.md": "---\ndescription: All of it\n---\n\n# Guide\n\n## There\n\nText.\n",
    "hidden.md": "---\nhidden: true\n---\n\n# Hidden\n\nStill here.\n",
    "beta.md": "---\nif: visitor.claims.beta\n---\n\n# Beta\n\nFor few.\n",
    ".gitbook/assets/a.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    + b"\x00\x00\x00\x02\x00\x00\x00\x03"
    + bytes(40),
    ".gitbook/assets/evil.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
}


@pytest.fixture
def site(world, tmp_path):
    for name, content in FILES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    brought = import_space(
        world.context,
        str(tmp_path / "source"),
        organization_id=world.home["organizationId"],
        title="Handbook",
        publish=True,
    )
    base = re.sub(r"^https?://[^/]+", "", brought.site_url)
    return Visitor(world.context), base, brought.outcome.space


def test_a_site_has_pages_navigation_and_links(site):
    visitor, base, _ = site
    page = visitor.get(base)
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f'href="{base}guide#there"' in page.text
    assert "nope.md" not in page.text
    assert visitor.get(f"{base}guide").status_code == 200
    assert "All of it" in visitor.get(f"{base}guide").text


def test_each_page_has_one_url(site):
    visitor, base, _ = site
    for spelling in ("readme", "Guide", "guide/"):
        answer = visitor.get(base + spelling)
        assert answer.status_code == 307
        assert answer.headers["location"] in (base, f"{base}guide")


@pytest.mark.sqlite_first
def test_hidden_pages_are_reachable_but_not_listed(site):
    visitor, base, _ = site
    assert "Hidden" not in visitor.get(base).text
    assert visitor.get(f"{base}hidden").status_code == 200
    for told in ("sitemap.xml", "~feed.xml", "llms.txt", "~search.json?q=hidden"):
        assert "hidden" not in visitor.get(base + told).text.replace('"query":"hidden"', "")


@pytest.mark.sqlite_first
def test_conditional_pages_are_not_found(site):
    visitor, base, _ = site
    everything = [visitor.get(base + p).text for p in ("", "sitemap.xml", "llms.txt", "~search.json?q=beta")]
    assert all("For few" not in text and "/beta" not in text for text in everything)
    assert visitor.get(f"{base}beta").status_code == 404
    assert visitor.get(f"{base}beta.md").status_code == 404


@pytest.mark.sqlite_first
def test_only_files_of_the_space_are_served(site, world):
    visitor, base, space = site
    picture = re.search(r'src="([^"]+a\.png\?v=[0-9a-f]{12})"', visitor.get(base).text)
    assert picture is not None
    answer = visitor.get(picture[1])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "public, max-age=3600"
    listed = world.get("admin", f"/spaces/{space}/content/files")["items"]
    svg = next(item for item in listed if item["name"] == "evil.svg")
    answer = visitor.get(f"{base}~files/{svg['id']}/evil.svg")
    assert "attachment" in answer.headers["content-disposition"]
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    foreign = world.get("stranger", world.away.path("/spaces/{spaceId}/content/files"))["items"]
    for item in foreign:
        assert visitor.get(f"{base}~files/{item['id']}/{item['name']}").status_code == 404


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "path",
    ["..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/x", "%252e%252e/x", "~files/../../x", "a%00b", "a\\b", "//x"],
)
def test_unusual_paths_are_not_found(site, path):
    visitor, base, _ = site
    assert visitor.get(base + path).status_code == 404


def test_only_published_and_open_sites_are_served(site, world):
    visitor, base, space = site
    organization = world.home["organizationId"]
    found = world.get("admin", f"/orgs/{organization}/sites?space={space}")["items"][0]
    address = f"/orgs/{organization}/sites/{found['id']}"
    assert visitor.get(base).status_code == 200
    assert "published" not in world.post("admin", f"{address}/unpublish")["urls"]
    assert visitor.get(base).status_code == 404
    world.post("admin", f"{address}/publish")
    assert visitor.get(base).status_code == 200
    with world.context.db.write() as tx:
        tx.run("UPDATE sites SET visibility = 'share-link' WHERE id = :id", id=found["id"])
    assert visitor.get(base).status_code == 404


def test_pages_are_available_as_markdown_and_cached(site):
    visitor, base, _ = site
    head, note, text = visitor.get(f"{base}guide.md").text.partition(
        f"> Index of this documentation: [llms.txt](http://127.0.0.1:8001{base}llms.txt). "
        f"This page: [HTML](http://127.0.0.1:8001{base}guide), [Markdown](http://127.0.0.1:8001{base}guide.md)\n\n"
    )
    assert note and head + text == FILES["guide.md"]
    first = visitor.get(f"{base}guide")
    again = visitor.get(f"{base}guide", **{"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_pages_cannot_run_scripts(site):
    visitor, base, _ = site
    policy = visitor.get(base).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy


def test_navigation_of_a_large_space_shows_the_surroundings_of_the_page(sqlite_world, tmp_path):
    """A page doesn't contain thousands of entries, and everything can be reached by links."""
    lines = ["* [Home](home.md)"]
    lines += [f"  * [Below {n}](below{n}.md)" for n in range(3)]
    lines += [f"* [Page {n}](page{n}.md)" for n in range(500)]
    lines += ["", "## Group", "", *(f"* [Member {n}](member{n}.md)" for n in range(60))]
    for name in re.findall(r"\((.*?)\)", "\n".join(lines)):
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "SUMMARY.md").write_text("\n".join(lines) + "\n")
    org = sqlite_world.home["organizationId"]
    brought = import_space(
        sqlite_world.context, str(tmp_path), organization_id=org, title="Large", publish=True
    )
    base = re.sub(r"^https?://[^/]+", "", brought.site_url)
    visitor = Visitor(sqlite_world.context)

    def entries(path):
        page = visitor.get(f"{base}{path}").text
        side = page[page.index('<ul class="tree">') : page.index("</nav>", page.index('<ul class="tree">'))]
        return re.findall(r'<a href="([^"]*)"[^>]*><span>([^<]*)', side)

    home = entries("")
    assert (f"{base}home/below1", "Below 1") in home and len(home) < 150
    assert (f"{base}page100", "… 401") in home
    # Step by step, the last page can be reached.
    path, steps = "", 0
    while path != "page499":
        found = [href.removeprefix(base) for href, _ in entries(path)]
        path = "page499" if "page499" in found else found[-1]
        steps += 1
    assert steps <= 6
    last = entries("page499")
    assert any(title.startswith("…") for _, title in last) and len(last) < 300
    assert any(title.startswith("…") for _, title in entries("member59"))


def test_the_next_page_is_fetched_before_it_is_opened(site):
    """By rules that the policy allows, for pages only; navigation has a transition unless reduced motion is
    preferred."""
    visitor, base, _ = site
    page = visitor.get(base)
    found = re.search(r'<script type="speculationrules">(.*?)</script>', page.text)
    assert found is not None
    digest = b64encode(sha256(found[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page.headers["content-security-policy"]
    where = json.loads(found[1])["prefetch"][0]["where"]["and"]
    assert {"not": {"href_matches": "/*~*"}} in where, "what only begins with a tilde may act"
    address = re.search(r'href="([^"]*octavo\.css[^"]*)"', page.text)
    assert address is not None
    style = re.sub(r"\s", "", visitor.get(address[1]).text)
    assert "@media(prefers-reduced-motion:no-preference){@view-transition{navigation:auto" in style
