"""Redirects that a space defines in its ``.gitbook.yaml``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from octavo.core.space_config import match_redirect, read_config
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import export_site
from octavo.sites.site.store import find_site_of_space
from visiting import Visitor
from world import World

FILES = {
    ".gitbook.yaml": """root: ./docs/
redirects:
  old/path: ./guide/install.md
  /Umlaut/%C3%A4: guide/install.md#on-linux
  guide/install: README.md
  news/*: README.md
  news/2020/*: guide/install.md
  secret: members.md
  gone: nowhere.md
  climbing: ../../outside.md
  circle: circle
  back: http://127.0.0.1:8001/home/handbook/back
  shop: https://shop.example.org/ä?b=c
  script: javascript:alert(1)
  both: guide/install.md
""",
    "docs/SUMMARY.md": "* [Home](README.md)\n* [Install](guide/install.md)\n* [Members](members.md)\n",
    "docs/README.md": "# Home\n",
    "docs/guide/install.md": "---\nredirectFrom: [/setup, /Old/Setup, /members, 5]\n---\n\n# Install\n\n## On Linux\n",
    "docs/members.md": "---\nif: visitor.claims.member\nredirectFrom: [/inner]\n---\n\n# Members\n",
}


@pytest.fixture
def at(world: World, tmp_path: Path) -> tuple[Visitor, str, str]:
    for name, content in FILES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(tmp_path / "source"), organization_id=organization, title="Handbook", publish=True
    )
    assert brought.site_url is not None
    return Visitor(world.context), re.sub(r"^https?://[^/]+", "", brought.site_url), brought.outcome.space


@pytest.mark.sqlite_first
def test_a_space_has_redirects(at: tuple[Visitor, str, str]) -> None:
    visitor, base, _ = at
    install = next(
        path for path in ("guide/install", "install") if visitor.get(f"{base}{path}").status_code == 200
    )
    led = {
        "old/path": f"{base}{install}",
        "OLD/Path/": f"{base}{install}",
        "umlaut/%C3%84": f"{base}{install}#on-linux",
        "news/today/deep": base,
        "news/2020/may": f"{base}{install}",
        "shop": "https://shop.example.org/%C3%A4?b=c",
    }
    for path, where in led.items():
        answer = visitor.get(f"{base}{path}")
        assert (answer.status_code, answer.headers.get("location")) == (307, where), path
    for path in ("news", "secret", "gone", "climbing", "circle", "back", "script", "old", "old/path/more"):
        assert visitor.get(f"{base}{path}").status_code == 404, path


def test_redirects_of_a_space_take_precedence_and_are_exported(
    world: World, at: tuple[Visitor, str, str], tmp_path: Path
) -> None:
    visitor, base, space = at
    with world.context.db.read() as tx:
        site = find_site_of_space(tx, space)
    assert site is not None
    redirects = f"/orgs/{world.home['organizationId']}/sites/{site}/redirects"
    for source in ("/both", "/gone"):
        to = {"kind": "url", "url": "https://elsewhere.example.org/"}
        world.post("admin", redirects, {"source": source, "destination": to})
    assert visitor.get(f"{base}both").headers["location"].startswith(base)
    assert visitor.get(f"{base}gone").headers["location"] == "https://elsewhere.example.org/"
    done = export_site(world.context, site, tmp_path / "www")
    assert done.broken == []
    assert set(done.left_out) == {"news/*", "news/2020/*"}
    assert "https://shop.example.org/" in (tmp_path / "www" / "shop" / "index.html").read_text()
    assert 'url=/"' not in (tmp_path / "www" / "old" / "path" / "index.html").read_text()


def test_the_longest_source_wins() -> None:
    config = read_config("redirects: {a/*: one, a/b/*: two, a/b/c: three, a/B: first, A/b: second}")
    assert [match_redirect(config, path) for path in ("a/x", "a/b/x/y", "a/b/c", "a/b", "a", "b", "")] == [
        "one",
        "two",
        "three",
        "first",
        None,
        None,
        None,
    ]
