"""Published pages show when they were verified, to people and to agents."""

from __future__ import annotations

from pathlib import Path

from octavo.operations.admin.import_export import import_space
from visiting import Visitor
from world import World

PAGES = {
    "README.md": "---\nverifiedOn: 2026-01-31\nverifiedBy: Mei <Tan>\nowner: mei@example.com\n---\n# Home\n\nWords.\n",
    "other.md": "---\nverifiedOn: 2026-02-30\n---\n# Other\n\nWords.\n",
    "quiet.md": "---\nverifiedOn: 2026-01-31\nlayout:\n  metadata:\n    visible: false\n---\n# Quiet\n\nWords.\n",
}


def test_the_date_and_the_name_are_shown_but_not_the_owner(world: World, tmp_path: Path) -> None:
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    brought = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"], title="M", publish=True
    )
    visitor = Visitor(world.context)
    home = visitor.get(brought.site_url).text
    assert 'Verified <time datetime="2026-01-31">31 January 2026</time> · Mei &lt;Tan&gt;' in home
    assert "mei@example.com" not in home
    address = next(part for part in home.split('"') if part.endswith(".md"))
    assert ". Verified on 2026-01-31\n" in visitor.get(address).text
    assert "Verified" not in visitor.get(f"{brought.site_url}other").text
    assert "Verified" not in visitor.get(f"{brought.site_url}quiet").text
