"""Where backups are kept: a folder or a bucket, with the same behaviour."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.admin.backup import verify_backup
from octavo.admin.kept_backups import back_up_into, opened_backup
from octavo.admin.places import BackupPlace
from octavo.errors import BadRequest, NotFound
from world import World


@pytest.fixture(params=["folder", "bucket"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "place")
    request.getfixturevalue("s3_environment")
    return "s3://docs/some/prefix"


def test_what_is_put_is_whole_and_listed_by_name(address: str) -> None:
    place = BackupPlace(address, new=True)
    place.put("log/b", [b"second"])
    place.put("log/a", iter([b"x" * 3_000_000, b"y" * 3_000_000]))
    place.put("other", [])
    assert [(each.name, each.size) for each in place.list("log/")] == [("log/a", 6_000_000), ("log/b", 6)]
    assert b"".join(place.get("log/a")) == b"x" * 3_000_000 + b"y" * 3_000_000
    place.put("log/b", [b"anew"])
    assert b"".join(place.get("log/b")) == b"anew"

    def broken() -> object:
        yield b"x" * 6_000_000
        raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        place.put("log/c", broken())  # type: ignore[arg-type]
    place.delete(["log/a"])
    assert [each.name for each in place.list()] == ["log/b", "other"]
    with pytest.raises(NotFound):
        list(place.get("log/a"))
    blob = place.files.put(b"a file")
    assert [(hash, size) for hash, size, _ in place.files.list_all()] == [(blob.hash, 6)]


def test_a_folder_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such folder"):
        BackupPlace(str(tmp_path / "absent"))
    assert not (tmp_path / "absent").exists()


def test_a_backup_is_kept_away_from_the_machine(world: World, s3_environment: object) -> None:
    place = BackupPlace("s3://docs/backups")
    with pytest.raises(BadRequest, match="holds no backup"), opened_backup("s3://docs/backups"):
        pass
    place.put("octavo-2020-01-01T00-00-00Z.backup", [b"an old one"])
    place.put("octavo-2020-01-01.txt", [b"something else"])
    name, outcome = back_up_into(world.context, place, keep=86_400_000)
    assert outcome.missing == []
    assert [each.name for each in place.list()] == ["octavo-2020-01-01.txt", name]
    for there in ("s3://docs/backups", "s3://docs/backups/", f"s3://docs/backups/{name}"):
        with opened_backup(there) as file:
            assert verify_backup(file) == []
