"""An upgrade from the last release keeps everything that refers to blocks, and leaves a sound server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from later_reader import forget_reader, upgrade_reader
from light_client import LightClient
from octavo.app import api_app
from octavo.content.revisions.deriving import DERIVATION, enqueue_outdated, list_outdated, rebuild_outdated
from octavo.errors import Unavailable
from octavo.kit.context import Context
from octavo.kit.db.migrations import load_migrations
from octavo.kit.http.metrics import Metrics
from octavo.kit.work.jobs import enqueue, retry_parked
from octavo.kit.work.rebuilds import list_rebuilds
from octavo.kit.work.worker import Worker
from octavo.operations.admin.backup import verify_installation
from octavo.operations.admin.diagnosis import Finding, check_context
from octavo.operations.installation import close_context, open_context
from octavo.settings import Settings
from world import World

from .recording import load, nodes_of, record

if TYPE_CHECKING:
    from conftest import PostgresDatabases

RECORDED = sorted(Path(__file__).parent.glob("*.json.xz"))
# Upgrades from older releases apply the same migrations of each engine, and more of them.
RELEASES = [
    *(pytest.param(path, marks=pytest.mark.sqlite_first) for path in RECORDED[:-1]),
    pytest.param(RECORDED[-1]),
]
URL = "http://octavo.test"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_databases: PostgresDatabases
) -> str:
    if request.param == "sqlite":
        (tmp_path / "database").mkdir()
        return f"sqlite:///{tmp_path}/database/octavo.db"
    url: str = postgres_databases.create_bare("upgrade")
    return url


@contextmanager
def upgraded(data: Path, database_url: str) -> Iterator[Context]:
    context = open_context(Settings(data=str(data), database_url=database_url, url=URL))
    try:
        yield context
    finally:
        close_context(context)


def last_of(path: Path) -> int:
    return int(path.name.partition(".")[0])


class Reader:
    """The administrator, who asks the API of an installation."""

    def __init__(self, context: Context) -> None:
        self._client = LightClient(api_app(context), URL)

    def get(self, path: str, **params: Any) -> Any:
        token = {"authorization": f"Bearer oct_test_{'admin':_<32}"}
        answer = self._client.ask("GET", f"/v1{path}", headers=token, params=params)
        assert answer.is_success, answer.text
        return answer.json()


def find_targets(context: Context, recording: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the current targets of the comments of a recording, by comment id."""
    reader = Reader(context)
    with context.db.read() as tx:
        places = {
            row[0]: f"/spaces/{row[1]}" + (f"/change-requests/{row[2]}" if row[2] else "")
            for row in tx.all("SELECT id, space_id, change_id FROM comments")
        }
    return {each: reader.get(f"{places[each]}/comments/{each}")["target"] for each in recording["comments"]}


@pytest.mark.parametrize("recorded", RELEASES, ids=lambda path: path.name)
def test_every_anchor_is_unchanged(
    recorded: Path, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = load(recorded.read_bytes(), last_of(recorded), tmp_path / "data", database_url)
    with upgraded(tmp_path / "data", database_url) as context:
        targets = find_targets(context, recording)
        assert len(targets) > 100
        assert [target for target in targets.values() if target.get("gone")] == []
        Worker(context.db, context).run_pending()
        assert find_targets(context, recording) == targets
        # Backlinks name the blocks that refer to a page.
        reader = Reader(context)
        content = f"/spaces/{recording['space']}/content"
        document = reader.get(f"{content}/page/{recording['pages']['A']}", format="document")["document"]
        found = reader.get(f"{content}/page/{recording['pages']['B']}/backlinks")["items"]
        nodes = [
            place["node"] for item in found if (place := item.get("internalLocation")) and "node" in place
        ]
        assert nodes
        assert {node["key"] for node in nodes_of(document)} >= set(nodes)
        # Nor do they depend on how the next version reads the same texts.
        upgrade_reader(context.db, monkeypatch)
        assert find_targets(context, recording) == targets
    forget_reader()


@pytest.mark.parametrize("recorded", RELEASES, ids=lambda path: path.name)
def test_verify_finds_no_problems_right_after_an_upgrade(
    recorded: Path, tmp_path: Path, database_url: str
) -> None:
    load(recorded.read_bytes(), last_of(recorded), tmp_path / "data", database_url)
    with upgraded(tmp_path / "data", database_url) as context:
        with context.db.read() as tx:
            spaces = {row[0] for row in tx.all("SELECT id FROM spaces")}
            # Search and the files of API descriptions were recorded without derived data.
            assert tx.value("SELECT count(*) FROM search_pages") == 0
            assert list_outdated(tx) == spaces
        assert verify_installation(context) == []
        Worker(context.db, context).run_pending()
        with context.db.read() as tx:
            assert list_outdated(tx) == set()
            assert tx.value("SELECT count(*) FROM search_pages") > 0
        assert verify_installation(context) == []
    with upgraded(tmp_path / "data", database_url) as context, context.db.read() as tx:
        assert list_outdated(tx) == set()


def test_an_upgrade_reports_its_rebuild(tmp_path: Path, database_url: str) -> None:
    """What is reported doesn't depend on the release."""
    recorded = RECORDED[-1]
    load(recorded.read_bytes(), last_of(recorded), tmp_path / "data", database_url)
    with upgraded(tmp_path / "data", database_url) as context:
        with context.db.read() as tx:
            found = {each.part: each for each in list_rebuilds(tx)}
            spaces = tx.value("SELECT count(*) FROM spaces")
        search = found["search and references"]
        assert (search.total, search.waiting, search.failed, search.percent) == (spaces, spaces, 0, 0)
        assert find_finding(context)[1]
        metrics = Metrics()
        metrics.watch(context.db)
        waiting = f'octavo_rebuild_remaining{{part="search_and_references",state="waiting"}} {spaces}.0'
        assert waiting in metrics.text().decode()
        client = LightClient(api_app(context), URL)
        assert client.ask("GET", "/readyz").text == "ready\nrebuilding after an upgrade: 0%\n"
        # A process that starts in the meantime keeps the total.
        with context.db.write() as tx:
            some = tx.value("SELECT min(id) FROM jobs WHERE kind = 'rebuildDerived'")
            tx.run("UPDATE jobs SET state = 'parked' WHERE id = :id", id=some)
    with upgraded(tmp_path / "data", database_url) as context:
        with context.db.read() as tx:
            search = next(each for each in list_rebuilds(tx) if each.part == "search and references")
        assert (search.total, search.failed) == (spaces, 1)
        works, said = find_finding(context)[1:]
        assert not works
        assert "1 failed" in said
        with context.db.write() as tx:
            retry_parked(tx)
        Worker(context.db, context).run_pending()
        with context.db.read() as tx:
            assert list_rebuilds(tx) == []
        assert [each for each in check_context(context) if each[0] == "rebuild"] == []
        # The same work for another reason is no upgrade.
        with context.db.write() as tx:
            enqueue(tx, "noteCommentedNodes", space_id="any")
            assert list_rebuilds(tx) == []
        assert LightClient(api_app(context), URL).ask("GET", "/readyz").text == "ready\n"


def find_finding(context: Context) -> Finding:
    return next(each for each in check_context(context) if each[0] == "rebuild")


def test_a_failed_rebuild_is_reported_as_damage(sqlite_world: World) -> None:
    context = sqlite_world.context
    with context.db.write() as tx:
        tx.run("DELETE FROM derivation")
        tx.run("UPDATE content_references SET type = 'older'")
    enqueue_outdated(context.db)
    assert verify_installation(context) == []
    with context.db.write() as tx:
        tx.run("UPDATE jobs SET state = 'parked' WHERE kind = 'rebuildDerived'")
    assert "references" in verify_installation(context)[0]


def test_older_workers_leave_rebuilds_to_newer_ones(sqlite_world: World) -> None:
    with pytest.raises(Unavailable):
        rebuild_outdated(sqlite_world.context, sqlite_world.home["spaceId"], DERIVATION + 1)


@pytest.mark.slow
@pytest.mark.sqlite_first
def test_a_current_installation_can_be_recorded(
    sqlite_world: World, tmp_path: Path, database_url: str
) -> None:
    last = max(each.number for each in load_migrations("octavo.operations.migrations"))
    packed = record(sqlite_world)
    if folder := os.environ.get("OCTAVO_TEST_RECORD"):
        Path(folder, f"{last}.json.xz").write_bytes(packed)
    recording = load(packed, last, tmp_path / "data", database_url)
    with upgraded(tmp_path / "data", database_url) as context:
        assert [each for each in find_targets(context, recording).values() if each.get("gone")] == []
