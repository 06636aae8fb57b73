"""URLs in all output of a site: letters beyond ASCII are escaped wherever they appear."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import pytest

from octavo.operations.admin.import_export import import_space
from octavo.settings import load
from visiting import Visitor

FILES = {
    "SUMMARY.md": "* [Start](README.md)\n* [Größe](groesse/größe.md)\n  * [Änderungen](groesse/änderungen.md)\n",
    "README.md": "# Start\n\nSee [the size](groesse/größe.md).\n",
    "groesse/größe.md": "# Größe\n\n## Straße\n\nText.\n",
    "groesse/änderungen.md": "# Änderungen\n\n"
    '{% updates format="full" %}\n{% update date="2026-01-02" %}\n\n## Neu\n\nText.\n\n'
    "{% endupdate %}\n{% endupdates %}\n",
}
BASENAME = "bücher-日本"


@pytest.fixture
def site(world, tmp_path):
    for name, content in FILES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    organization = world.home["organizationId"]
    brought = import_space(
        world.context,
        str(tmp_path / "source"),
        organization_id=organization,
        title="Handbook",
        publish=True,
    )
    found = world.get("admin", f"/orgs/{organization}/sites?space={brought.outcome.space}")["items"][0]
    former = re.sub(r"^https?://[^/]+", "", brought.site_url)
    answer = world.call(
        "admin", "PATCH", f"/orgs/{organization}/sites/{found['id']}", json={"basename": BASENAME}
    )
    assert answer.status_code == 200
    return found["id"], former, f"{former.rstrip('/').rpartition('/')[0]}/{quote(BASENAME)}/"


def test_every_url_of_a_site_is_escaped(world, site):
    site_id, former, base = site
    visitor = Visitor(world.context)
    asked = [
        "",
        "robots.txt",
        "sitemap.xml",
        "~feed.xml",
        "llms.txt",
        "llms-full.txt",
        "~search?q=Text",
        "~search.json?q=Text",
    ]
    addresses = set()
    for path in asked:
        answer = visitor.get(base + path)
        assert answer.status_code == 200, path
        addresses |= set(re.findall(r"(?:https?://[^/\s\"'<>]+)?/[^\s\"'<>()]*", answer.text))
        assert BASENAME not in answer.text, path
    pages = {re.sub(r"[?#].*", "", one) for one in addresses if one.startswith(base) and "~" not in one}
    assert len(pages) > 3
    for page in sorted(pages):
        answer = visitor.get(page)
        assert answer.status_code == 200, page
        assert BASENAME not in answer.text, page
    moved = visitor.get(f"{former}llms.txt")
    assert moved.status_code == 307
    assert moved.headers["location"].isascii() and unquote(moved.headers["location"]).startswith(
        unquote(base)
    )


def test_every_url_of_the_api_is_escaped(world, site):
    site_id, _, base = site
    organization = world.home["organizationId"]
    told = world.get("admin", f"/orgs/{organization}/sites/{site_id}")
    assert told["basename"] == BASENAME
    structure = world.get("admin", f"/orgs/{organization}/sites/{site_id}/structure")
    space = structure["structure"][0]["space"]
    for address in (
        told["urls"]["published"],
        structure["structure"][0]["urls"]["published"],
        space["urls"]["published"],
    ):
        assert address.isascii() and address.endswith(base)


def test_the_urls_of_the_server_have_the_dns_form_of_names(tmp_path):
    settings = load(
        environ={
            "OCTAVO_DATA": str(tmp_path),
            "OCTAVO_URL": "https://bücher.example:8443",
            "OCTAVO_SITES_URL": "https://日本.example",
        }
    )
    assert settings.url == "https://xn--bcher-kva.example:8443"
    assert settings.sites_url == "https://xn--wgv71a.example"
