"""The first start: what it makes, and that one which was cut off anywhere is completed by the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from octavo.access import hash_token
from octavo.admin import first_start as starting
from octavo.admin.first_start import first_start
from octavo.installation import close_context, load_packages, open_context
from octavo.kit.context import Context
from octavo.settings import load
from world import CONTENT


@pytest.fixture
def context(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    load_packages()
    # A small manual is published as the large one is.
    monkeypatch.setattr(starting, "find_manual", lambda: CONTENT)
    data = tmp_path / "data"
    opened = open_context(load(environ={"OCTAVO_DATA": str(data), "OCTAVO_DATABASE_URL": database_url}))
    yield opened
    close_context(opened)


class CutOff(Exception):
    pass


def _cut_off(*_: object, **__: object) -> None:
    raise CutOff


@pytest.mark.sqlite_first
@pytest.mark.parametrize("step", ["_kept_token", "create_organization", "create_token", "_publish_manual"])
def test_a_first_start_that_was_cut_off_is_completed(
    context: Context, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as cut, pytest.raises(CutOff):
        cut.setattr(starting, step, _cut_off)
        first_start(context)
    done = first_start(context)
    assert done is not None and done.site_url is not None
    assert (context.settings.data_folder / "admin-token").read_text().strip() == done.token
    with context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM organizations") == 1
        assert tx.value("SELECT count(*) FROM spaces") == 1
        assert tx.value("SELECT count(*) FROM tokens WHERE hash = :hash", hash=hash_token(done.token)) == 1
    assert first_start(context) is None


def test_an_installation_that_is_there_is_left_alone(context: Context) -> None:
    assert first_start(context) is not None
    assert first_start(context) is None
    with context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM organizations") == 1
