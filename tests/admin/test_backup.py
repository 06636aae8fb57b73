"""The whole installation in one file: from each engine to each, damage that is noticed, and a sound installation."""

import json
import os
import random
import shutil
import zipfile
from pathlib import Path

import pytest

from live.writing import Writing
from octavo.core.links import app_hosts
from octavo.errors import BadRequest, NotFound, Unavailable
from octavo.kit.db.rows import read_rows, read_schema
from octavo.kit.db.tables import TABLES
from octavo.operations.admin.backup import back_up, restore, verify_backup, verify_installation
from octavo.operations.admin.backup_storage import BackupPlace
from octavo.operations.admin.kept_backups import back_up_into
from octavo.operations.admin.reindexing import reindex
from octavo.operations.installation import close_context, is_installed, open_context
from octavo.settings import Settings
from serving import octavo_here
from world import World


@pytest.fixture
def target(database_url, tmp_path):
    """Return the settings of an empty server, on each engine."""
    return Settings(data=str(tmp_path / "target"), database_url=database_url, url="http://octavo.test")


def content(context) -> dict[str, list[str]]:
    """Return every row of tables that aren't derived."""
    with context.db.read() as tx:
        return {
            name: [
                repr(sorted((k, bytes(v) if isinstance(v, memoryview) else v) for k, v in row.items()))
                for row in read_rows(tx, table)
            ]
            for name, table in read_schema(context.db, tx).items()
            if not TABLES[name].derived
        }


def test_backups_are_restored_from_each_engine_to_each_engine(
    world: World, target: Settings, tmp_path: Path
) -> None:
    Writing(world).open().type("Typed. ", 1)
    file = tmp_path / "backup.zip"
    (tmp_path / "target").mkdir()
    shutil.copy(world._folder / "secret-key", tmp_path / "target")
    outcome = back_up(world.context, file)
    assert (outcome.missing, verify_backup(file)) == ([], [])
    assert os.stat(file).st_mode & 0o777 == 0o600
    with pytest.raises(BadRequest, match="already"):
        back_up(world.context, file)
    assert not is_installed(target)
    taken = restore(target, file)
    assert taken == outcome
    assert is_installed(target)
    context = open_context(target)
    try:
        # Pages that are edited live begin anew: browsers may have steps that were written after the backup.
        with context.db.read() as now, world.context.db.read() as then:
            (epoch,) = now.all("SELECT epoch FROM page_live")
            assert epoch not in then.all("SELECT epoch FROM page_live")
        restored = content(context)
        original = content(world.context)
        assert len(restored.pop("page_live")) == len(original.pop("page_live")) == 1
        # Opening makes nothing of its own: not even another signing secret.
        assert restored == original
        with context.db.read() as tx:
            sections = tx.value("SELECT count(*) FROM search_sections")
        with world.context.db.read() as tx:
            assert sections == tx.value("SELECT count(*) FROM search_sections")
        assert verify_installation(context) == []
        with context.db.write() as tx:
            # Counters continue after the restored values.
            last = tx.value("SELECT max(id) FROM events")
            tx.run("INSERT INTO events (type, payload, created_at) VALUES ('x', '{}', 1)")
            assert tx.value("SELECT max(id) FROM events") > last
        with pytest.raises(BadRequest, match="empty"):
            restore(target, file)
    finally:
        close_context(context)


def test_damage_to_a_backup_is_detected(sqlite_world: World, tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    back_up(sqlite_world.context, file)
    key = (sqlite_world._folder / "secret-key").read_text().strip()
    into = Settings(data=str(tmp_path / "target"), secret_key=key)

    def changed(name: str, change) -> Path:
        made = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w") as new:
            for entry in old.namelist():
                data = change(entry, old.read(entry))
                if data is not None:
                    new.writestr(entry, data)
        return made

    cases = [
        changed(
            "row", lambda name, data: data.replace(b"Home", b"Fake") if "organizations" in name else data
        ),
        changed("file", lambda name, data: data + b"x" if name.startswith("files/") else data),
        changed("gone", lambda name, data: None if name.startswith("files/") else data),
        changed("no-manifest", lambda name, data: None if name == "manifest.json" else data),
        changed("newer", lambda name, data: data.replace(b'"migrations": [', b'"migrations": [99999,')),
        tmp_path / "cut.zip",
    ]
    cases[-1].write_bytes(file.read_bytes()[:-100])
    for case in cases:
        with pytest.raises(BadRequest):
            restore(into, case)
        if case.name == "newer.zip":
            (problem,) = verify_backup(case)
            assert "created by a newer version of Octavo" in problem
            continue
        if case.name == "cut.zip":
            with pytest.raises(BadRequest):
                verify_backup(case)
        else:
            assert verify_backup(case), case.name
    restore(into, file)


def test_no_damage_to_a_backup_causes_a_traceback(sqlite_world: World, tmp_path: Path) -> None:
    """Bytes that are another, cut off, or zero: it is refused, or nothing that matters is damaged."""
    file = tmp_path / "whole.zip"
    back_up(sqlite_world.context, file)
    whole, chance = file.read_bytes(), random.Random(45)
    damaged = tmp_path / "damaged.zip"
    into = Settings(data=str(tmp_path / "into"), url="http://octavo.test")
    # The directory and the manifest at the end are small, and say what everything else is.
    places = [chance.randrange(len(whole)) for _ in range(200)]
    places += [len(whole) - 1 - chance.randrange(6000) for _ in range(200)]
    told = 0
    for number, place in enumerate(places):
        said = bytearray(whole)
        if number % 3 == 0:
            said[place] ^= 1 << chance.randrange(8)
        elif number % 3 == 1:
            said[place : place + 64] = bytes(64)
        else:
            del said[place:]
        damaged.write_bytes(said)
        try:
            findings = verify_backup(damaged)
        except BadRequest:
            findings = ["is no archive"]
        if findings:
            told += 1
            with pytest.raises(BadRequest):
                restore(into, damaged)
    assert told > 300


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        (b"", "damaged or truncated"),
        (b"PK\x03\x04" * 99, "damaged or truncated"),
    ],
)
def test_files_that_are_no_backups_are_refused(
    sqlite_world: World, tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "b.backup"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadRequest, match=problem) as raised:
        verify_backup(file)
    assert raised.value.message.startswith(f"{file}: ") and "Errno" not in raised.value.message


@pytest.mark.parametrize("command", ["verify", "restore"])
def test_a_damaged_backup_is_reported_in_one_line(sqlite_world: World, tmp_path: Path, command: str) -> None:
    file = tmp_path / "b.backup"
    back_up(sqlite_world.context, file)
    said = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
    for info in infos:  # The compressed bytes are invalid.
        begin = info.header_offset + 30 + len(info.filename) + 20
        said[begin : begin + 8] = b"\xff" * 8
    file.write_bytes(said)
    done = octavo_here(command, str(file), "--data", str(tmp_path / "data"))
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr and "damaged" in done.stdout + done.stderr


def test_verify_finds_missing_and_damaged_content(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    context = open_context(Settings(data=str(data), url="http://octavo.test"))
    try:
        assert verify_installation(context) == []
        with context.db.write() as tx:
            file = tx.value("SELECT min(content) FROM item_versions WHERE kind = 'file'")
            text = tx.value("SELECT min(body) FROM page_versions WHERE body IS NOT NULL")
            tx.run("UPDATE bodies SET data = :d WHERE hash = :h", d=b"\x00other", h=text)
            tx.run(
                "UPDATE spaces SET main_revision = 'nothing' WHERE id = :id", id=sqlite_world.home["spaceId"]
            )
        context.files.delete(file)
        assert sorted(verify_installation(context)) == sorted(
            [
                f"file {file} is missing",
                f"Markdown source {text} is damaged",
                "spaces.main_revision: nothing isn't one of revisions",
                f"a space's main revision isn't the head of its main branch: {sqlite_world.home['spaceId']}",
            ]
        )
        assert back_up(context, tmp_path / "b.zip").missing == [file]
        assert verify_backup(tmp_path / "b.zip") == [f"file {file} was missing when the backup was created"]
        assert back_up_into(context, BackupPlace(str(tmp_path / "kept"), new=True))[1].missing == [file]
    finally:
        close_context(context)


def test_on_the_command_line(sqlite_world: World, tmp_path: Path) -> None:
    data = sqlite_world.install(tmp_path / "data")
    file = str(tmp_path / "backup.zip")
    done = octavo_here("backup", file, "--data", str(data), "--json")
    assert (done.returncode, json.loads(done.stdout)["missing"]) == (0, []), done.stderr
    assert octavo_here("verify", file).stdout == "No problems found\n"
    refused = octavo_here("restore", file, "--data", str(tmp_path / "new"))
    assert refused.returncode == 1 and "OCTAVO_SECRET_KEY" in refused.stderr
    # The refused restore left an empty database, which doesn't count as a server.
    for arguments in (("verify",), ("backup", str(tmp_path / "another.zip")), ("reindex",), ("jobs", "list")):
        nothing = octavo_here(*arguments, "--data", str(tmp_path / "new"))
        assert (nothing.returncode, nothing.stdout) == (1, "")
        assert "There is no data yet" in nothing.stderr
    assert "empty" in octavo_here("check", "--data", str(tmp_path / "new")).stdout
    shutil.copy(data / "secret-key", tmp_path / "new")
    assert octavo_here("restore", file, "--data", str(tmp_path / "new")).returncode == 0
    assert octavo_here("verify", "--data", str(tmp_path / "new")).stdout == "No problems found\n"
    # In a process of its own nothing else has loaded what search and references are made by.
    restored = open_context(Settings(data=str(tmp_path / "new")))
    with restored.db.read() as tx, sqlite_world.context.db.read() as original:
        for table in ("search_pages", "search_sections", "content_references", "reference_questions"):
            count = f"SELECT count(*) FROM {table}"
            assert tx.value(count) == original.value(count) > 0
    close_context(restored)
    assert octavo_here("restore", file, "--data", str(data)).returncode == 1
    assert octavo_here("verify", str(tmp_path / "nothing")).returncode == 1


def test_a_backup_that_cannot_be_written_leaves_no_files(sqlite_world: World, tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    part = tmp_path / "backup.zip.part"
    part.symlink_to("/dev/full")
    with pytest.raises(Unavailable, match=r"backup\.zip: No space left on device"):
        back_up(sqlite_world.context, file)
    assert not file.exists() and not part.is_symlink()
    assert back_up(sqlite_world.context, file).missing == []


def test_wrong_derived_rows_are_found_and_rebuilt(world: World) -> None:
    context, home, away = world.context, world.home["spaceId"], world.away["spaceId"]
    damage = (
        "DELETE FROM search_sections WHERE space_id = :space",
        "DELETE FROM search_pages WHERE space_id = :space",
        "DELETE FROM search_words WHERE space_id = :space",
        "UPDATE content_references SET status = 'broken', kind = 'url' WHERE space_id = :space",
        "DELETE FROM reference_questions WHERE space_id = :space",
        "INSERT INTO content_references (space_id, owner_id, place, owner_kind, type, relation, written, kind,"
        " status, target_key, asked) VALUES (:space, 'gone', 0, 'page', 'x', 'x', '{}', 'url', 'ok', 'x', '[]')",
        "UPDATE spaces SET comments = 7, changes_open = 9 WHERE id = :space",
    )
    before = derived(context)
    told: list[tuple[int, int]] = []
    for statement in damage:
        with context.db.write() as tx:
            tx.run(statement, space=home)
            tx.run(statement, space=away)
        findings = verify_installation(context)
        assert any(home in finding for finding in findings), statement
        assert any(away in finding for finding in findings), statement
        told.clear()
        rebuilt = reindex(
            context.db,
            app_hosts(context.settings.url),
            world.home["organizationId"],
            lambda *given: told.append(given),
        )
        assert (rebuilt.spaces, told) == (2, [(1, 2), (2, 2)])
        findings = verify_installation(context)
        assert not any(home in finding for finding in findings), statement
        assert any(away in finding for finding in findings), statement
        reindex(context.db, app_hosts(context.settings.url))
        assert verify_installation(context) == [], statement
    assert derived(context) == before
    with pytest.raises(NotFound):
        reindex(context.db, app_hosts(context.settings.url), "nobody")


def derived(context) -> dict[str, list[str]]:
    """Return every row of the derived tables that doesn't refer to a row by a sequential id."""
    with context.db.read() as tx:
        return {
            name: sorted(map(repr, tx.all(f"SELECT {columns} FROM {name}")))
            for name, columns in {
                "search_pages": "space_id, page_id, titles, words, computed",
                "search_sections": "space_id, page_id, anchor, heading, body",
                "search_words": "space_id, word, pages",
                "content_references": "*",
                "reference_questions": "*",
            }.items()
        }
