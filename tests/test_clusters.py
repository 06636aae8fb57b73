"""Several PostgreSQL servers: one that is lost and has a standby, and one that is restored to a moment."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from clusters import Server, servers
from faults.load import History, Load
from octavo.operations.admin.diagnosis import check_installation
from octavo.settings import Settings
from serving import Administrator, Served, free_ports, octavo_here, serving

pytestmark = pytest.mark.slow

FAILOVER_SECONDS = 10
WRITERS = 4


class Writer(threading.Thread):
    """A checked load in an organization of its own, each write of which is acknowledged or not. ``acknowledged``: when;
    ``refused``: those that were answered with 5xx; ``wrong``: what went otherwise."""

    def __init__(self, served: Served, token: str, file: Path, seed: int) -> None:
        super().__init__(daemon=True)
        self._client = httpx.Client(
            base_url=f"{served.url}/v1", headers={"authorization": f"Bearer {token}"}, timeout=30
        )
        made = self._client.post("/orgs", json={"title": f"Writer {seed}"})
        organization = str(made.raise_for_status().json()["id"])
        self.history = History(file)
        self.load = Load(self._call, organization, self.history, random.Random(seed))
        self.over = threading.Event()
        self.acknowledged: list[float] = []
        self.wrong: list[str] = []
        self.refused: list[str] = []

    def _call(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        try:
            answer = (
                self._client.request(method, path, json=body)
                if body is not None
                else self._client.request(method, path)
            )
        except httpx.HTTPError as error:
            self.wrong.append(repr(error))
            return 0, None
        if answer.status_code >= 500:
            self.refused.append(f"{method} {path}: {answer.status_code}")
        return answer.status_code, answer.json() if answer.content else None

    def run(self) -> None:
        try:
            while not self.over.is_set():
                if self.load.step():
                    self.acknowledged.append(time.monotonic())
                else:
                    time.sleep(0.05)
        except Exception as error:
            self.wrong.append(repr(error))

    def has_written(self, count: int) -> bool:
        return len(self.acknowledged) >= count or bool(self.wrong)


def _replica_reads(watched: str, outcome: str) -> float:
    text = httpx.get(f"http://{watched}/metrics").text
    found = re.search(rf'^octavo_replica_reads_total{{outcome="{outcome}"}} (\S+)$', text, re.M)
    return float(found[1]) if found is not None else 0


def until(condition: Any, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_losing_a_primary_under_load_loses_no_data(tmp_path: Path) -> None:
    """Its standby is promoted: within ten seconds writes are acknowledged again by themselves, with none of those lost
    that were acknowledged before."""
    with servers(2) as (first, second):
        first.create()
        first.start()
        second.copy_of(first, "-R", "-X", "stream")
        second.start()
        first.set(synchronous_standby_names="*")
        first.wait_for("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
        url = (
            f"postgresql:///postgres?host={first.folder},{second.folder}&user=postgres"
            "&target_session_attrs=read-write"
        )
        with serving(tmp_path / "data", OCTAVO_DATABASE_URL=url) as served:
            token = (served.data / "admin-token").read_text().strip()
            writers = [
                Writer(served, token, tmp_path / f"history-{number}", number) for number in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            until(lambda: all(writer.has_written(15) for writer in writers))
            lost = time.monotonic()
            first.kill()
            second.promote()
            until(lambda: all(writer.acknowledged[-1] > lost + 0.5 or writer.wrong for writer in writers))
            before = [len(writer.acknowledged) for writer in writers]
            until(
                lambda: all(
                    writer.has_written(count + 10) for writer, count in zip(writers, before, strict=True)
                )
            )
            for writer in writers:
                writer.over.set()
            for writer in writers:
                writer.join(60)
            gaps = [min(at for at in writer.acknowledged if at > lost + 0.1) - lost for writer in writers]
            assert [writer.wrong for writer in writers] == [[]] * WRITERS
            print(f"acknowledged again after {max(gaps):.1f} seconds")
            assert max(gaps) < FAILOVER_SECONDS, gaps
            for writer in writers:
                writer.load.check()
        done = octavo_here("verify", "--data", str(tmp_path / "data"), OCTAVO_DATABASE_URL=url)
        assert done.stdout == "No problems found\n", done.stdout + done.stderr


def _url(*group: Server, attributes: str) -> str:
    hosts = ",".join(str(server.folder) for server in group)
    return f"postgresql:///postgres?host={hosts}&user=postgres&target_session_attrs={attributes}"


def _fail_over(standbys: Sequence[Server]) -> Server:
    """Fail over as the manual says after the loss of the primary: promote the most advanced standby, and let
    the others follow it."""
    ahead = max(standbys, key=lambda one: one.ask("SELECT pg_last_wal_receive_lsn() - '0/0'"))
    ahead.promote()
    for other in standbys:
        if other is not ahead:
            other.set(primary_conninfo=f"host={ahead.folder} user=postgres")
    return ahead


def test_losing_one_server_after_another_loses_no_data(tmp_path: Path) -> None:
    """Fail over among three servers. A lost server follows the promoted one until that is lost in turn; a
    replica answers reads each time."""
    with servers(3) as group, ExitStack() as stack:
        first, *standbys = group
        first.create()
        first.start(wal_log_hints="on")
        first.set(synchronous_standby_names="ANY 1 (*)", wal_log_hints="on", wal_keep_size="1GB")
        for standby in standbys:
            standby.copy_of(first, "-R", "-X", "stream")
            standby.start()
        first.wait_for("SELECT count(*) = 2 FROM pg_stat_replication WHERE sync_state = 'quorum'")
        urls = {
            "OCTAVO_DATABASE_URL": _url(*group, attributes="read-write"),
            "OCTAVO_DATABASE_REPLICA_URL": _url(*group, attributes="standby"),
        }
        watched = f"127.0.0.1:{free_ports(1)[0]}"
        served = stack.enter_context(serving(tmp_path / "data", OCTAVO_METRICS_ADDRESS=watched, **urls))
        administrator = Administrator(served)
        token = (served.data / "admin-token").read_text().strip()
        writers = [Writer(served, token, tmp_path / f"history-{number}", number) for number in range(2)]
        for writer in writers:
            writer.start()
        primary, numbers = first, iter(range(10_000))

        def replica_answers() -> None:
            before, path = _replica_reads(watched, "answered"), f"/orgs/{administrator.organization}/spaces"

            def more() -> bool:
                administrator.call("GET", f"{path}?limit={next(numbers) % 50 + 1}")
                return _replica_reads(watched, "answered") > before + 5

            until(more)

        def have_written(count: int) -> None:
            before = [len(writer.acknowledged) for writer in writers]
            until(
                lambda: all(writer.has_written(n + count) for writer, n in zip(writers, before, strict=True))
            )

        for _ in range(2):
            have_written(10)
            replica_answers()
            lost = primary
            lost.kill()
            moment = time.monotonic()
            primary = _fail_over([server for server in group if server is not lost])
            have_written(10)
            gaps = [min(at for at in writer.acknowledged if at > moment) - moment for writer in writers]
            print(f"acknowledged again after {max(gaps):.1f} seconds")
            assert max(gaps) < FAILOVER_SECONDS, gaps
            # It has changes that no other server received: these are undone, and it follows.
            source = f"host={primary.folder} user=postgres dbname=postgres"
            primary.ask("CHECKPOINT")
            lost.run("pg_rewind", "-D", "data", "-R", f"--source-server={source}", "--no-sync")
            lost.start()
            primary.wait_for("SELECT count(*) = 2 FROM pg_stat_replication WHERE sync_state = 'quorum'")
            # Otherwise, a replica reports its position after up to five minutes.
            for server in group:
                server.ask("CHECKPOINT")
        replica_answers()
        for writer in writers:
            writer.over.set()
        for writer in writers:
            writer.join(60)
        assert [writer.wrong for writer in writers] == [[], []]
        for writer in writers:
            writer.load.check()
        done = octavo_here("verify", "--data", str(tmp_path / "data"), **urls)
        assert done.stdout == "No problems found\n", done.stdout + done.stderr


def test_a_server_is_restored_to_a_point_in_time(tmp_path: Path) -> None:
    """As the manual says: a base backup, the archive of its log, and a moment at which it stops."""
    with servers(2) as (first, second):
        archive = first.folder / "archive"
        first.create()
        archive.mkdir(mode=0o777)
        archive.chmod(0o777)
        first.start(archive_mode="on")
        first.set(archive_command=f"test ! -f {archive}/%f && cp %p {archive}/%f")
        data = tmp_path / "data"
        with serving(data, OCTAVO_DATABASE_URL=first.url) as served:
            administrator = Administrator(served)
            administrator.create_space("In the base")
            second.copy_of(first)
            administrator.create_space("Before the moment")
            time.sleep(0.05)
            moment = first.ask("SELECT CAST(clock_timestamp() AS text)")
            time.sleep(0.05)
            administrator.create_space("After the moment")
        first.ask("SELECT pg_switch_wal()")
        first.wait_for(
            "SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) FROM pg_stat_archiver"
        )
        settings = Settings(data=str(data), database_url=first.url, url="http://octavo.test")
        assert ("archive", True) in [finding[:2] for finding in check_installation(settings)]
        first.set(archive_command="false")
        first.ask("CREATE TABLE something (a int)")
        first.ask("SELECT pg_switch_wal()")
        first.wait_for("SELECT failed_count > 0 FROM pg_stat_archiver")
        assert ("archive", False) in [finding[:2] for finding in check_installation(settings)]
        first.kill()
        (second.folder / "data" / "recovery.signal").touch()
        second.start(
            archive_mode="off",
            restore_command=f"cp {archive}/%f %p",
            recovery_target_time=str(moment),
            recovery_target_action="promote",
        )
        second.wait_for("SELECT NOT pg_is_in_recovery()")
        with serving(data, OCTAVO_DATABASE_URL=second.url) as served:
            administrator = Administrator(served)
            spaces = administrator.call("GET", f"/orgs/{administrator.organization}/spaces")["items"]
            titles = {space["title"] for space in spaces}
            assert {"In the base", "Before the moment"} <= titles and "After the moment" not in titles
        done = octavo_here("verify", "--data", str(data), OCTAVO_DATABASE_URL=second.url)
        assert done.stdout == "No problems found\n", done.stdout + done.stderr


def test_a_replica_serves_reads(tmp_path: Path) -> None:
    """People read their own writes, and removed people lose access, while the replica follows, pauses, and
    fails."""
    with servers(2) as (first, second):
        first.create()
        first.start()
        second.copy_of(first, "-R", "-X", "stream")
        second.start()
        urls = {"OCTAVO_DATABASE_URL": first.url, "OCTAVO_DATABASE_REPLICA_URL": second.url}
        watched = f"127.0.0.1:{free_ports(1)[0]}"
        with serving(tmp_path / "data", OCTAVO_METRICS_ADDRESS=watched, **urls) as served:
            administrator = Administrator(served)
            organization = f"/orgs/{administrator.organization}"
            space = administrator.create_space("Replicated")
            site = administrator.create_site(space)
            administrator.merge_page(space, "A page.\n")
            reader = httpx.Client(timeout=60)
            published = administrator.publish(site)

            def count(outcome: str) -> float:
                return _replica_reads(watched, outcome)

            def use(number: int) -> None:
                """Check that each write is in the next read, over the API and on the site."""
                title = f"Replicated {number}"
                administrator.call("PATCH", f"/spaces/{space}", {"title": title})
                assert administrator.call("GET", f"/spaces/{space}")["title"] == title
                administrator.call("PATCH", site, {"title": title})
                page = reader.get(f"{published}page", follow_redirects=True)
                assert page.status_code == 200 and title in page.text
                # After a pause, as people make them: the replica has caught up in the meantime.
                time.sleep(0.05)
                administrator.call("GET", f"{organization}/spaces?limit={number % 50 + 1}")
                assert reader.get(f"{published}page?n={number}", follow_redirects=True).status_code == 200

            def remove_member() -> None:
                made = administrator.call(
                    "POST", f"{organization}/service-accounts", {"name": "Robot", "role": "read"}
                )
                token = administrator.call(
                    "POST", f"{organization}/service-accounts/{made['id']}/tokens", {"name": "Robot"}
                )["token"]
                robot = httpx.Client(
                    base_url=f"{served.url}/v1", headers={"authorization": f"Bearer {token}"}, timeout=60
                )
                assert robot.get(f"/spaces/{space}").status_code == 200
                administrator.call("DELETE", f"{organization}/service-accounts/{made['id']}")
                assert robot.get(f"/spaces/{space}").status_code in (401, 404)

            numbers = iter(range(1_000))
            until(lambda: use(next(numbers)) or count("answered") > 10)
            remove_member()
            second.ask("SELECT pg_wal_replay_pause()")
            second.wait_for("SELECT pg_get_wal_replay_pause_state() = 'paused'")
            use(next(numbers))
            before = count("answered")
            for _ in range(10):
                use(next(numbers))
            remove_member()
            assert count("answered") == before and count("behind") > 0
            settings = Settings(
                data=str(tmp_path / "data"),
                database_url=first.url,
                database_replica_url=second.url,
                url="http://octavo.test",
            )
            assert ("replica", False) in [finding[:2] for finding in check_installation(settings)]
            second.ask("SELECT pg_wal_replay_resume()")
            until(lambda: use(next(numbers)) or count("answered") > before)
            assert ("replica", True) in [finding[:2] for finding in check_installation(settings)]
            second.kill()
            for _ in range(10):
                use(next(numbers))
            assert count("away") > 0
            second.start()
            before = count("answered")
            until(lambda: use(next(numbers)) or count("answered") > before)
