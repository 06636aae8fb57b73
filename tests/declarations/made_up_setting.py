"""What a setting does that is declared in the table of customization and nowhere else (see `test_made_up.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from admin.test_moving_in import move, serve
from declarations.building import give_texts, load_build
from octavo.app import describe_api
from octavo.settings import Settings
from reader.test_customization import Site

pytestmark = pytest.mark.sqlite_first
CHANGED = {"styling": {"shadow": "hard"}, "breadcrumbs": {"enabled": True}}


@pytest.fixture
def site(world: Any) -> Site:
    return Site(world)


@pytest.fixture
def elsewhere(world: Any) -> Iterator[Any]:
    with serve(world) as found:
        yield found


def told(body: Any) -> tuple[str, bool]:
    return body["styling"]["shadow"], body["breadcrumbs"]["enabled"]


def test_the_api_stores_and_returns_it(site: Site) -> None:
    assert told(site.customize({})) == ("soft", False)
    assert told(site.customize(CHANGED)) == ("hard", True)
    assert told(site.world.get("admin", f"{site.path}/customization")) == ("hard", True)
    assert told(site.world.get("admin", f"{site.path}/published")["customizations"]["site"]) == ("hard", True)
    site.customize({"styling": {"shadow": "round"}}, 400)


def test_a_site_space_overrides_it(site: Site) -> None:
    own = f"{site.path}/site-spaces/{site.site_space}/customization"
    changed = site.world.call("admin", "PATCH", own, json=CHANGED)
    assert (changed.status_code, told(changed.json())) == (200, ("hard", True))
    assert told(site.world.get("admin", f"{site.path}/customization")) == ("soft", False)
    assert told(site.world.get("admin", own)) == ("hard", True)
    cleared = {"styling": {"shadow": None}, "breadcrumbs": {"enabled": None}}
    assert told(site.world.call("admin", "PATCH", own, json=cleared).json()) == ("soft", False)
    assert site.world.call("admin", "DELETE", own).status_code == 204


def test_pages_have_its_class(site: Site) -> None:
    assert "shadow-" not in site.shown({})
    assert "shadow-hard" in site.shown(CHANGED)


def test_a_preview_shows_it(site: Site) -> None:
    body = {
        "customization": CHANGED,
        "siteSpace": site.site_space,
        "override": {"styling": {"shadow": "hard"}},
    }
    site.world.post("admin", f"{site.path}/customization/preview", body)
    with site.world.context.db.read() as tx:
        tried = tx.one("SELECT customization, override FROM site_look_drafts WHERE site_id = :id", id=site.id)
    assert tried is not None and told(msgspec.json.decode(tried[0])) == ("hard", True)
    assert msgspec.json.decode(tried[1]) == {"styling": {"shadow": "hard"}}


def test_an_import_of_a_site_reads_it(site: Site, elsewhere: Any) -> None:
    world = site.world
    site.customize({"breadcrumbs": {"enabled": True}})
    own = f"{site.path}/site-spaces/{site.site_space}/customization"
    world.call("admin", "PATCH", own, json={"styling": {"shadow": "hard"}})
    (moved,) = [one for one in move(elsewhere).sites if one.source == site.id]
    here = f"/orgs/{world.away['organizationId']}/sites/{moved.id}"
    assert moved.problems == []
    assert told(world.get("stranger", f"{here}/customization")) == ("soft", True)
    shown = world.get("stranger", f"{here}/site-spaces")["items"][0]["id"]
    assert told(world.get("stranger", f"{here}/site-spaces/{shown}/customization")) == ("hard", True)


def test_the_app_has_a_control_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    build = load_build(monkeypatch)
    module = build.customization()
    lines = module.splitlines()
    (switch,) = [line for line in lines if "breadcrumbs.enabled" in line]
    assert 'section: "pages", control: "switch", label: t("navigation")' in switch
    (choice,) = [line for line in lines if "styling.shadow" in line]
    assert 'options: [["soft", t("small")], ["hard", t("wide")]]' in choice
    overridable = json.loads(module.partition("export const OVERRIDABLE: Parts = ")[2].rstrip(";\n"))
    assert overridable["styling"]["shadow"] is None and overridable["breadcrumbs"] == {"enabled": None}
    # Its label is a text of the app, as all labels are.
    give_texts(build, monkeypatch, tmp_path)
    (tmp_path / "shared" / "words" / "en.json").write_text("{}")
    with pytest.raises(KeyError):
        build.customization()


def test_the_description_contains_it() -> None:
    schemas = describe_api(Settings())["components"]["schemas"]
    assert (
        "shadow" in schemas["Styling"]["properties"] and "shadow" in schemas["StylingOverride"]["properties"]
    )
    for name in ("Customization", "PutCustomization", "Override"):
        assert "breadcrumbs" in schemas[name]["properties"]
