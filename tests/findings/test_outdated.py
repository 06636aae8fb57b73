"""Pages that are older than what they describe: linked code in a repository, and changelogs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gitsync.developers import Developer, Synced, local_remotes
from octavo.kit.clock import DAY, iso, now
from set_clock import SetClock
from world import World

from .test_scans import ScanScene

PAGE = """# Retries

A message is [sent again](../src/retry.py) and [parked](../src/parking.py#L10). See [the tests](../../outside.py).
"""


def outdated(scene: ScanScene, kind: str) -> list[dict[str, Any]]:
    scene.scan()
    return scene.list(query=f"kind={kind}&status=open")


def test_a_page_that_is_older_than_linked_code_is_found(
    world: World, clock: SetClock, tmp_path: Path
) -> None:
    developer = Developer(tmp_path / "repository")
    code = {"src/retry.py": "TIMES = 10\n", "src/parking.py": "print(1)\n"}
    files = {"docs/README.md": "# Home\n", "docs/retries.md": PAGE, **code}
    developer.clock = now() // 1000
    developer.commit(dict(files))
    with local_remotes(world):
        synced = Synced(world, developer, folder="docs")
        assert synced.sync() == "synced", synced.state()
        scene = ScanScene(world, text=None)

        def change(code: dict[str, str | None]) -> None:
            developer.clock = clock.advance(DAY) // 1000
            developer.commit(dict(code))
            assert synced.sync() == "synced", synced.state()

        assert outdated(scene, "changed-code") == []
        change({"src/retry.py": "TIMES = 12\n"})
        assert outdated(scene, "changed-code") == []
        # Another change doesn't start the time anew.
        clock.advance(25 * DAY)
        change({"src/retry.py": "TIMES = 13\n"})
        assert outdated(scene, "changed-code") == []
        clock.advance(6 * DAY)
        [found] = outdated(scene, "changed-code")
        assert found["title"] == "Linked code changed since the page was last updated: src/retry.py"
        assert found["evidence"][0]["page"]["title"] == "Retries" and len(found["evidence"]) == 1
        assert found["evidence"][0]["message"].startswith("The file changed on ")
        # A removed file is a change too, and a verified page still fits.
        change({"src/parking.py": None})
        clock.advance(31 * DAY)
        [found] = outdated(scene, "changed-code")
        assert [each["quote"] for each in found["evidence"]] == ["src/parking.py", "src/retry.py"]
        assert found["evidence"][0]["message"].startswith("The file was removed on ")
        page = synced.page("Retries")["id"]
        synced.edit({"operation": "update_page", "page": page, "verifiedOn": iso(now())[:10]})
        assert outdated(scene, "changed-code") == []
        # Without the sync, nothing is known about the files.
        with world.context.db.write() as tx:
            tx.run("DELETE FROM git_syncs")
        outdated(scene, "changed-code")
        with world.context.db.read() as tx:
            assert tx.value("SELECT count(*) FROM linked_code") == 0


def test_a_page_that_is_older_than_an_entry_of_the_changelog_is_found(world: World, clock: SetClock) -> None:
    scene = ScanScene(world)
    scene.write("Set `max_attempts` to the number of attempts. Everything else is in `config.yaml`.")
    clock.advance(DAY)
    day = iso(now())[:10]
    text = (
        f"## 1.2.0 ({day})\n\n### Changed\n\n* `max_attempts` now defaults to 12.\n* Faster `config.yaml`.\n\n"
        "## 1.1.0 (2020-01-01)\n\n* `max_attempts` was renamed.\n"
    )
    scene.change({"operation": "insert_page", "title": "Changelog", "document": {"markdown": text}})
    assert outdated(scene, "changelog") == []
    clock.advance(31 * DAY)
    [found] = outdated(scene, "changelog")
    assert [each["quote"] for each in found["evidence"]] == ["max_attempts now defaults to 12."]
    assert found["evidence"][0]["message"] == f"Changelog announced this on {day}."
    assert found["evidence"][0]["page"]["id"] == scene.place["pageId"]
    scene.write("Set `max_attempts` to 12.")
    assert outdated(scene, "changelog") == []
    # A link names the page as well.
    clock.advance(DAY)
    pages = scene.world.get("admin", scene.place.path("/spaces/{spaceId}/content/pages"))["pages"]
    [log] = [page["id"] for page in pages if page["title"] == "Changelog"]
    home = scene.world.get("admin", scene.place.path("/spaces/{spaceId}/content/page/{pageId}"))
    text = f"## {iso(now())[:10]}\n\nAttempts [are counted](/{home['path']}) differently now.\n"
    scene.write(text, page=log)
    clock.advance(31 * DAY)
    assert len(outdated(scene, "changelog")) == 1
