"""Diagrams: pages with one have a frame without an origin; other pages don't."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from octavo.delivery.reader.drawing import content_security_policy, find_asset
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import export_site
from octavo.sites.site.store import find_site_of_space
from visiting import Visitor
from world import World

pytestmark = pytest.mark.sqlite_first


def test_only_pages_with_diagrams_have_the_frame(world: World, tmp_path: Path) -> None:
    source, export = tmp_path / "source", tmp_path / "export"
    source.mkdir()
    (source / "README.md").write_text("# Home\n\nWords.\n")
    (source / "drawn.md").write_text("# Drawn\n\n```mermaid\ngraph TD\n  A --> B\n```\n")
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(source), organization_id=organization, title="Docs", publish=True
    )
    with world.context.db.read() as tx:
        site = find_site_of_space(tx, brought.outcome.space)
    assert site is not None
    url = world.get("admin", f"/orgs/{organization}/sites/{site}")["urls"]["published"]
    visitor, base = Visitor(world.context), urlsplit(url).path
    plain, drawn = visitor.get(base), visitor.get(f"{base}drawn")
    assert "diagrams" not in plain.text and "frame-src https:" in plain.headers["content-security-policy"]
    (frames,) = re.findall(r"frame-src ([^;]*)", drawn.headers["content-security-policy"])
    assert "'self'" in frames.split()
    assert "'unsafe-inline'" not in drawn.headers["content-security-policy"]
    frame = drawn.text.partition('data-frame="')[2].partition('"')[0]
    answer = visitor.get(frame)
    policy = answer.headers["content-security-policy"]
    assert (
        "sandbox allow-scripts" in policy and "default-src 'none'" in policy and "connect-src" not in policy
    )
    for name in ("mermaid.min.js", "diagrams-frame.js"):
        static = find_asset(name)
        assert static is not None and f'src="{name}?v={static.version}"' in answer.text
        assert visitor.get(f"/~assets/{name}").content == static.content
    export_site(world.context, site, export)
    written = {path.name for path in (export / "~assets").iterdir()}
    assert {"diagrams.html", "diagrams.js", "diagrams-frame.js", "mermaid.min.js"} <= written


def test_mermaid_equals_its_published_package() -> None:
    static = find_asset("mermaid.min.js")
    assert static is not None and b'"11.17.2"' in static.content
    assert "frame-src 'self'" not in content_security_policy("")
