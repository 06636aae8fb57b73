"""Faults during a verified load and during commands of operators: nothing is lost or duplicated, and no
manual repair is needed.

Each run is determined by a seed: the writes, the fault, and the system call at which it happens. To repeat a
failed run, set ``OCTAVO_TEST_FAULTS_SEED``.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.faults import DISK, NETWORK, Action, Calls, Control, Fault, build, environment
from faults.warm import Warm
from octavo.kit.db.migrations import load_migrations
from octavo.operations.admin.backup import verify_backup
from octavo.operations.admin.backup_storage import BackupPlace
from octavo.operations.admin.continuous_restore import verify_followed
from settled import PATIENCE

SEED = int(os.environ.get("OCTAVO_TEST_FAULTS_SEED", "1"))
STEPS = 1
"""Writes while a fault may happen."""
FAULTS = 8
"""Number of faults in one process before the one that may end it."""


class Installation:
    """Installation whose processes meet faults: its folder, its database, and its acknowledged writes."""

    def __init__(self, warm: Warm, control: Control, folder: Path, database: str) -> None:
        self.warm, self.control, self.database = warm, control, database
        self.folder, self.output, self.history = folder / "disk", folder / "output", folder / "history"
        self.data = self.folder / "data"
        self.data.mkdir(parents=True)
        control.state.folder = str(self.folder).encode()
        self.is_sqlite = not database
        told = folder / "told.json"
        assert self.run("make", told=str(told)) == 0, self.told()
        self.ids: dict[str, str] = json.loads(told.read_text())
        self.organization = self.ids["organization"]

    def environment(self, data: Path | None = None, database: str | None = None) -> dict[str, str]:
        found = {"OCTAVO_DATA": str(data or self.data), "OCTAVO_URL": "http://octavo.test"}
        url = self.database if database is None else database
        return {**found, "OCTAVO_DATABASE_URL": url} if url else found

    def run(self, scene: str, **arguments: Any) -> int:
        """Run a process, and return how it ended."""
        return self.warm.run(f"faults.scenes:{scene}", self.output, self.environment(), **arguments)

    def command(self, *arguments: str, fault: Fault | None = None, **place: Any) -> int:
        return self.warm.run(
            "faults.scenes:command",
            self.output,
            self.environment(**place),
            arguments=arguments,
            fault=fault,
        )

    def told(self) -> str:
        return self.output.read_text()[-4000:] if self.output.exists() else ""

    def check(self, **place: Any) -> None:
        """Require that everything acknowledged exists and the installation is sound."""
        asked = {"organization": self.organization, "history": str(self.history)}
        place_ = self.environment(**place)
        assert self.warm.run("faults.scenes:check", self.output, place_, **asked) == 0, self.told()


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Warm, Control]]:
    folder = tmp_path_factory.mktemp("faults")
    library = build(folder)
    if library is None:
        pytest.skip("there is no C compiler for the library that makes faults (gcc)")
    control = Control(folder / "control", folder)
    process = Warm(environment(library, folder / "control"))
    yield process, control
    process.close()


@pytest.fixture
def install(
    warm: tuple[Warm, Control], tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[[str], Installation]:
    """Create a new installation on an engine."""

    def make(engine: str) -> Installation:
        url = ""
        if engine == "postgresql":
            url = request.getfixturevalue("postgres_databases").create_bare("faults")
        return Installation(*warm, tmp_path / f"on-{engine}", url)

    return make


ENGINES = ("sqlite", "postgresql")


@pytest.mark.slow
@pytest.mark.parametrize(("count", "least"), [(18, 14), pytest.param(50, 35, marks=pytest.mark.slow)])
def test_requests_under_load_survive_faults(
    install: Callable[[str], Installation], count: int, least: int
) -> None:
    for engine in ENGINES:
        assert meet(install(engine), SEED, count) >= least, "most faults happen where something is going on"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(2, 52))
def test_requests_under_load_survive_many_faults(
    engine: str, seed: int, install: Callable[[str], Installation]
) -> None:
    meet(install(engine), seed, 100)


def meet(installation: Installation, seed: int, count: int) -> int:
    """Run a load with so many faults of a seed, and return how many happened."""
    chance = random.Random(seed)
    met = happened = 0
    while met < count:
        faults = [_passing(chance, installation.is_sqlite) for _ in range(FAULTS)]
        faults.append(_ending(chance, installation.is_sqlite))
        installation.control.state.remember = faults[-1].action == Action.POWER_CUT
        seed_of_life = chance.randrange(1 << 30)
        status = installation.run(
            "work",
            organization=installation.organization,
            history=str(installation.history),
            seed=seed_of_life,
            steps=STEPS,
            faults=faults,
        )
        replay = f"OCTAVO_TEST_FAULTS_SEED={seed}, life {met // (FAULTS + 1)} with {faults}"
        assert status in (0, -9), f"{status}: {replay}\n{installation.told()}"
        if faults[-1].action == Action.POWER_CUT:
            # Shared memory of SQLite is no file that a machine finds again.
            (installation.data / "octavo.db-shm").unlink(missing_ok=True)
        met += len(faults)
        happened += FAULTS + (status == -9)
    installation.control.state.remember = 0
    installation.check()
    return happened


def _passing(chance: random.Random, is_sqlite: bool) -> Fault:
    """Return a fault that a process survives."""
    if not is_sqlite and chance.random() < 0.6:
        return Fault(
            chance.choice([Calls.SEND, Calls.RECEIVE, NETWORK]),
            chance.choice([Action.FAIL, Action.FAIL, Action.WAIT]),
            chance.randrange(40),
            chance.choice([1, 1, 3]),
            errno.ECONNRESET,
            wait=20_000,
        )
    kind = chance.randrange(8)
    if kind == 0:
        return Fault(DISK, Action.WAIT, chance.randrange(60), 3, wait=20_000)
    if kind == 1:
        return Fault(0, Action.SKEW, 0, clock=chance.choice([-86_400_000, -90_000, 90_000, 86_400_000]))
    return Fault(
        chance.choice([DISK, DISK, Calls.WRITE, Calls.SYNC]),
        Action.FAIL,
        chance.randrange(40 if is_sqlite else 4),
        chance.choice([1, 1, 2, 5, 1000]),
        chance.choice([errno.EIO, errno.ENOSPC]),
    )


def _ending(chance: random.Random, is_sqlite: bool) -> Fault:
    if is_sqlite:
        return Fault(DISK, chance.choice([Action.DIE, Action.POWER_CUT]), chance.randrange(50))
    return Fault(NETWORK | DISK, Action.DIE, chance.randrange(60))


def test_a_power_loss_during_the_first_start_is_survived(
    install: Callable[[str], Installation], request: pytest.FixtureRequest
) -> None:
    """If the database is on another machine, its secrets are encrypted with a key that this machine loses
    unless the file was synced first."""
    installation = install("sqlite")
    calls = Calls.SEND | Calls.SYNC
    last = 0
    for number, action in enumerate((Action.NOTHING, Action.POWER_CUT)):
        data = installation.folder / f"begun-{number}"
        data.mkdir()
        url = request.getfixturevalue("postgres_databases").create(f"begun_{number}")
        place = installation.environment(data, url)
        run = installation.warm.run
        installation.control.state.remember = 1
        status = run("faults.scenes:begin", installation.output, place, fault=Fault(calls, action, last))
        installation.control.state.remember = 0
        assert status == (0 if action == Action.NOTHING else -9), installation.told()
        last = int(installation.control.state.counted) - 2
    assert run("faults.scenes:begin", installation.output, place) == 0, installation.told()


@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.sqlite_first
def test_killed_operator_commands_can_be_run_again(
    engine: str,
    rounds: int,
    install: Callable[[str], Installation],
    postgres_databases: Any,
) -> None:
    """Import, backup, restore and migration are killed at any of their calls; then they are run once more."""
    installation = install(engine)
    chance = random.Random(SEED)
    work = {"organization": installation.organization, "history": str(installation.history)}
    nothing = Fault(0, Action.NOTHING, 0)
    assert installation.run("work", **work, seed=1, steps=6, faults=[nothing]) == 0, installation.told()

    def bare(name: str) -> str:
        return "" if installation.is_sqlite else str(postgres_databases.create_bare(name))

    for number in range(rounds):
        _cut_off_an_import(installation, chance, number)
    backup = _cut_off_backups(installation, chance, rounds)
    for number in range(rounds):
        _cut_off_a_restore(installation, chance, backup, installation.folder / f"restored-{number}", bare)
        _cut_off_a_migration(installation, chance, installation.folder / f"older-{number}", bare)


@pytest.mark.parametrize("rounds", [1, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.sqlite_first
def test_a_follower_survives_being_killed_repeatedly(
    rounds: int, install: Callable[[str], Installation]
) -> None:
    """`octavo backup --follow` is killed during a verified load, at any moment, and restarted each time. A
    restore has everything that was acknowledged before the last verification."""
    installation = install("sqlite")
    chance = random.Random(SEED)
    place = installation.output.parent / "place"
    warm, output, settings = installation.warm, installation.output, installation.environment()
    work = {"organization": installation.organization, "history": str(installation.history)}

    def follow() -> int:
        arguments = ("backup", str(place), "--follow", "--every", "0.01")
        return warm.start("faults.scenes:command", output, settings, arguments=arguments)

    for number in range(rounds):
        follower = follow()
        nothing = [list(Fault(0, Action.NOTHING, 0))]
        worker = warm.start(
            "faults.scenes:work", output, settings, **work, seed=number, steps=4, faults=nothing
        )
        time.sleep(chance.random() * 2)
        os.kill(follower, signal.SIGKILL)
        assert warm.wait(follower) == -signal.SIGKILL, installation.told()
        assert warm.wait(worker) == 0, installation.told()
    told = len(installation.output.read_text())
    follower = follow()
    until = time.monotonic() + PATIENCE
    while not re.search("continuing the backup|full backup written", installation.output.read_text()[told:]):
        assert time.monotonic() < until, installation.told()
        time.sleep(0.01)
    os.kill(follower, signal.SIGTERM)
    assert warm.wait(follower) == 0, installation.told()
    assert verify_followed(BackupPlace(str(place))) == []
    data = installation.folder / "restored"
    data.mkdir()
    shutil.copy(installation.data / "secret-key", data)
    assert installation.command("restore", str(place), "--quiet", data=data) == 0, installation.told()
    installation.check(data=data)


def _killed(installation: Installation, chance: random.Random, calls: int) -> Fault:
    kinds = DISK if installation.is_sqlite else DISK | NETWORK
    return Fault(kinds, Action.DIE, chance.randrange(calls))


def _cut_off_an_import(installation: Installation, chance: random.Random, number: int) -> None:
    """Interrupt an import: the whole revision exists, or nothing of it; the same command imports it again."""
    name = f"imported-{number}"
    source = installation.output.parent / name
    source.mkdir()
    for page in range(12):
        (source / f"p{page}.md").write_text(f"# {name} {page}\n\n" + f"Words of {name}. " * 200)
    ids = installation.ids
    arguments = ("import", str(source), "--org", ids["imports"], "--space", ids["space"], "--quiet")
    status = installation.command(*arguments, fault=_killed(installation, chance, 150))
    assert status in (0, -9), installation.told()
    assert installation.run("check_import", space=ids["space"], pages=12) == 0, installation.told()
    assert installation.command(*arguments) == 0, installation.told()


def _cut_off_backups(installation: Installation, chance: random.Random, rounds: int) -> Path:
    """Interrupt backups: the file is complete, or doesn't exist. Return a complete one."""
    target = installation.folder / "backup.zip"
    kinds = DISK if installation.is_sqlite else DISK | NETWORK
    assert installation.command("backup", str(target), fault=Fault(kinds, Action.NOTHING, 0)) == 0
    calls = int(installation.control.state.counted)
    for _ in range(rounds):
        target.unlink()
        status = installation.command("backup", str(target), fault=_killed(installation, chance, calls))
        assert status in (0, -9), installation.told()
        if not target.exists():
            assert installation.command("backup", str(target)) == 0, installation.told()
        assert verify_backup(target) == []
    return target


def _cut_off_a_restore(
    installation: Installation, chance: random.Random, backup: Path, data: Path, bare: Callable[[str], str]
) -> None:
    """Interrupt a restore: repeat the command, or run the one that it names if only derived data is missing."""
    data.mkdir()
    shutil.copy(installation.data / "secret-key", data)
    place: dict[str, Any] = {"data": data, "database": bare("restored")}
    fault = _killed(installation, chance, 1500)
    status = installation.command("restore", str(backup), fault=fault, **place)
    assert status in (0, -9), installation.told()
    if installation.command("restore", str(backup), **place):
        assert "already has data" in installation.told()
        assert installation.command("reindex", **place) == 0, installation.told()
    installation.check(**place)
    shutil.rmtree(data)


def _cut_off_a_migration(
    installation: Installation, chance: random.Random, data: Path, bare: Callable[[str], str]
) -> None:
    """Interrupt a migration: the next start continues it."""
    data.mkdir()
    numbers = [migration.number for migration in load_migrations("octavo.operations.migrations")]
    place = installation.environment(data, bare("older"))
    migrate, output = "faults.scenes:bring_up_to_date", installation.output
    assert installation.warm.run(migrate, output, place, last=chance.choice(numbers[:-1])) == 0
    status = installation.warm.run(migrate, output, place, fault=_killed(installation, chance, 150))
    assert status in (0, -9), installation.told()
    assert installation.warm.run(migrate, output, place) == 0, installation.told()
    shutil.rmtree(data)
