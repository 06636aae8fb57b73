"""Real documentation goes out to a repository and comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from octavo.interchange.transfer.importing import import_files
from octavo.interchange.transfer.opening import open_source
from tools import absent, corpora_folder
from world import World

NAMES = ("brighter-docs", "elsa-guides", "example-site", "pgsql-tw", "phantasma-phoenix")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_round_trips(sqlite_world: World, tmp_path: Path, name: str) -> None:
    corpora = corpora_folder()
    if corpora is None or not (corpora / name).is_dir():
        absent("the folder of real documentation")
    world, space = sqlite_world, sqlite_world.home["spaceId"]
    with open_source(str(corpora / name), allow_url=str, local=True) as source:
        files = {path: source.read(path) for path in source.paths()}
        import_files(world.context, source, space, author=world.users["admin"])
    developer = Developer(tmp_path / "repository")
    with local_remotes(world):
        synced = Synced(world, developer, "export")
        assert synced.sync() == "synced", synced.state()
        there = developer.read()
        assert {path: data for path, data in there.items() if path in files} == files
        assert set(there) - set(files) <= {"SUMMARY.md"}
        world.call("admin", "DELETE", synced.at("/git/sync"))
        made = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Back"})
        world.home.ids["spaceId"] = made["id"]
        back = Synced(world, developer, "import")
        assert back.sync() == "synced", back.state()
        assert back.exported() == there
        assert back.sync() == "synced" and back.last()["status"] == "nothing"
