"""The public API's own JavaScript client works against a served installation, unmodified."""

from __future__ import annotations

from pathlib import Path

from serving import serving
from tools import PublicApi
from world import CONTENT, World


def test_the_public_client_reads_and_writes(
    public_api: PublicApi, sqlite_world: World, tmp_path: Path
) -> None:
    world, home = sqlite_world, sqlite_world.home
    with serving(world.install(tmp_path / "data")) as served:
        found = public_api.run(
            "read.mjs",
            API_URL=served.url,
            API_TOKEN=world.token("admin"),
            ORGANIZATION=home["organizationId"],
            SPACE=home["spaceId"],
            PAGE_PATH=home["pagePath"],
        )
    assert found["user"] == "Admin"
    assert found["organizations"] == [
        {"title": "Home", "spaces": ["Cookbook", "Handbook"], "collections": ["Guides"]}
    ]
    assert found["space"] == {
        "title": "Handbook",
        "pages": [
            ["document", "readme"],
            ["document", "writing"],
            ["group", "running-it"],
            ["document", "running-it/install"],
            ["document", "running-it/install/on-a-server"],
            ["link", None],
        ],
        "markdown": (CONTENT / "install" / "on-a-server.md").read_text(),
        "nodes": ["paragraph"],
        "files": ["square.png"],
        "image": (CONTENT / ".gitbook" / "assets" / "square.png").stat().st_size,
    }
    assert found["created"] == {"status": 201, "location": True}
    missing, invalid, nobody = found["failures"]
    assert (missing["name"], missing["code"]) == ("GitBookAPIError", 404)
    assert "no-such-space" in missing["message"]
    assert (invalid["code"], nobody["code"]) == (400, 401)
    assert "editMode" in invalid["message"]
