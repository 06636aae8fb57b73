"""The page of the manual on data retention lists every table, and its rules are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from octavo.assistants.ask.site_answers import LASTS as ANSWER_LASTS
from octavo.assistants.models.retention import MAX_VECTORS
from octavo.assistants.questions.recording import MAX_ANSWERS
from octavo.content.events import store as presence
from octavo.content.notifications.notifying import KEEP
from octavo.content.uploads.receiving import KEPT_FOR
from octavo.delivery.agents.store import MAX_CLIENTS
from octavo.extensions.deliveries.delivering import KEEP_TRYING
from octavo.interchange.gitsync.store import MOST_RUNS
from octavo.kit.clock import CLOCK, now, system_time
from octavo.kit.db.database import Transaction
from octavo.kit.db.rows import Schema, read_schema
from octavo.kit.db.tables import TABLES
from octavo.kit.work import jobs, outbox
from octavo.operations.installation import load_packages
from octavo.organization.access.authorization import RESTORE_DAYS
from octavo.organization.access.tokens import SESSION_IDLE
from octavo.organization.identity.sessions import LIFETIME as SESSION_LASTS
from octavo.organization.spaces.garbage import WAIT
from octavo.settings import PREFIX, Settings
from octavo.sites.openapi.processing import VERSIONS
from octavo.sites.printing.print_job import KEPT as PRINT_KEPT
from world import World

PAGE = (Path(__file__).parents[1] / "docs" / "running" / "retention.md").read_text()
HOUR, DAY = 3_600_000, 86_400_000
NOT_BY_TIME = {
    "jobs": "when they are done",
    "imported_parts": "with later imports",
    "integration_answers": "with the next ones for the space",
    "agent_codes": "with the next one",
    "staged_versions": "by a job of the space",
    "git_runs": "with later ones",
    "openapi_versions": "with later ones",
    "openapi_files": "with their version",
    "site_questions": "with their last answer",
    "site_topics": "with their last question",
    "site_question_wordings": "with their question",
    "site_question_words": "with their question",
    "site_question_sources": "with their answer",
}
"""Data that is deleted after an event instead of a time; other tests cover it."""
load_packages()


def _rows(head: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    lines = PAGE.partition(f"## {head}\n")[2].partition("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][
        2:
    ]


def _named(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


ENDING = {name: row for row in _rows("Deleted automatically") for name in _named(row[-1])}
STAYING = [name for row in _rows("Kept until someone deletes it") for name in _named(row[-1])]
DERIVED = [name for row in _rows("Derived data") for name in _named(row[-1])]


def test_every_table_is_on_the_page_once() -> None:
    named = [*ENDING, *STAYING, *DERIVED]
    assert len(named) == len(set(named))
    assert set(named) == set(TABLES)
    # Data that is deleted and never rebuilt isn't only derived.
    assert all(TABLES[name].derived or name == "cluster_embeddings" for name in DERIVED)


def test_settings_on_the_page_exist_with_their_defaults() -> None:
    fields = {f"{PREFIX}{field.name.upper()}": field.default for field in msgspec.structs.fields(Settings)}
    for _, kept, setting, _ in _rows("Deleted automatically"):
        for name in _named(setting):
            assert kept.startswith(f"{fields[name]} days")
    days = {name for name in fields if name.endswith("_DAYS")}
    assert days == {name for row in ENDING.values() for name in _named(row[2])}


def test_times_and_numbers_on_the_page_match_the_code() -> None:
    said = {name: row[1] for name, row in ENDING.items()}
    assert said["deliveries"].endswith(f"tried for {KEEP_TRYING // DAY} days")
    assert said["embeddings"].endswith(f"up to the {MAX_VECTORS:,} most recently used")
    assert said["site_questions"].endswith(f"up to the latest {MAX_ANSWERS:,} answers on each site")
    assert said["site_answers"] == f"{ANSWER_LASTS // HOUR} hours"
    assert [f"{days} " in said["notifications"] for days in KEEP.values()] == [True, True, True]
    assert said["sessions"] == f"{SESSION_LASTS // DAY} days, or {SESSION_IDLE // DAY} days without use"
    assert said["agent_clients"].endswith(f"up to {MAX_CLIENTS:,} apps")
    assert said["uploads"] == f"{KEPT_FOR // HOUR} hours"
    assert said["prints"] == f"{PRINT_KEPT // DAY} days"
    assert said["unused"] == f"{WAIT // HOUR} hours"
    assert said["presence"] == f"{presence.LIFETIME // 60_000} minute"
    assert said["git_runs"].startswith(f"The last {MOST_RUNS} ")
    assert said["openapi_versions"].startswith(f"The last {VERSIONS} ")
    assert f"permanently deleted {RESTORE_DAYS} days after" in PAGE


@pytest.mark.sqlite_first
def test_expired_rows_are_deleted(world: World, monkeypatch: Any) -> None:
    """A row of long ago in each of these tables, and a run of everything that is done from time to time."""
    context = world.context
    with context.db.write() as tx:
        schemas = read_schema(context.db, tx)
        for name in schemas:
            # There are events, which consumers must be able to read.
            if name in ENDING and name not in NOT_BY_TIME and name != "events":
                tx.run(f"DELETE FROM {name}")
                _add(tx, schemas, name)
    # Twice, as files of what ends are themselves kept for some time.
    for years in (10, 20):
        monkeypatch.setattr(CLOCK, "read", lambda: system_time() + years * 365 * DAY)  # noqa: B023
        while outbox.deliver(context.db):
            pass
        with context.db.write() as tx:
            presence.remove_ended(tx, now())
        for planned in jobs.schedules.values():
            if planned.kind not in ("pollGit", "checkSpecs", "mailDigests"):
                jobs.kinds[planned.kind].run(context)
    with context.db.read() as tx:
        left = {
            name for name in ENDING if name not in NOT_BY_TIME and tx.value(f"SELECT count(*) FROM {name}")
        }
    assert not left


def _add(tx: Transaction, schemas: dict[str, Schema], name: str) -> None:
    """Insert an old row; it refers to any existing row."""
    table, refers = TABLES[name], dict(schemas[name].refers)
    row: dict[str, Any] = {}
    for column in schemas[name].columns:
        if column not in schemas[name].required and (name, column) != ("deliveries", "webhook_id"):
            continue
        if column in refers:
            key = schemas[refers[column]].key[0]
            row[column] = tx.value(f"SELECT max({key}) FROM {refers[column]}")
        elif column in schemas[name].numbers:
            row[column] = 1
        elif column in table.values:
            row[column] = table.values[column][-1]
        else:
            row[column] = b"1" if column in schemas[name].binary else "1"
    values = ", ".join(f":{column}" for column in row)
    tx.run(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({values})", **row)
