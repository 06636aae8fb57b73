"""A malformed condition hides its content from every output of a site."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from visiting import Visitor
from world import World

OUTPUTS = (
    "",
    "prices",
    "prices.md",
    "list",
    "list.md",
    "broken",
    "llms.txt",
    "llms-full.txt",
    "sitemap.xml",
    "~feed.xml",
    "~search.json?q=secretword",
    "~search?q=secretword",
    "~search.json?q=prices",
)
PAGES = {
    "prices": "# Prices\n\nshown {% if visitor.claims.paid %}secretword{% endif %}\n\nlast words\n",
    "list": "---\nif: [visitor.claims.paid]\n---\n# List\n\nsecretword\n",
    "broken": "---\ntitle: [\nif: visitor.claims.paid\n---\n# Broken\n\nsecretword\n",
}


@pytest.mark.sqlite_first
def test_no_output_shows_content_behind_unparsable_conditions(world: World) -> None:
    spaces = world.home.path("/orgs/{organizationId}/spaces")
    space = world.post("admin", spaces, {"title": "Guarded"})["id"]
    changes = [{"operation": "insert_page", "title": "Start", "document": {"markdown": "# Start\n\nshown\n"}}]
    changes += [
        {"operation": "insert_page", "slug": slug, "document": {"markdown": text}}
        for slug, text in PAGES.items()
    ]
    change = world.post("admin", f"/spaces/{space}/change-requests", {"subject": "Fill"})["id"]
    world.post("admin", f"/spaces/{space}/change-requests/{change}/content", {"changes": changes})
    world.post("admin", f"/spaces/{space}/change-requests/{change}/merge")
    sites = world.home.path("/orgs/{organizationId}/sites")
    site = world.post("admin", sites, {"title": "Guarded", "spaces": [space]})["id"]
    base = urlsplit(world.post("admin", f"{sites}/{site}/publish")["urls"]["published"]).path
    visitor = Visitor(world.context)
    said = {output: visitor.get(base + output).text for output in OUTPUTS}
    assert "last words" in said["prices"] and "last words" in said["prices.md"]
    # The results page repeats the query.
    told = {output: text for output, text in said.items() if "q=secretword" not in output}
    assert not [output for output, text in told.items() if "secretword" in text]
    assert '"hits":[]' in said["~search.json?q=secretword"].replace(" ", "")
