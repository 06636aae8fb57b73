"""Places for backups: a folder or a bucket, with the same behavior."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_server import QuietHandler, local_server
from octavo.errors import BadRequest, NotFound
from octavo.operations.admin.backup import verify_backup
from octavo.operations.admin.backup_storage import BackupPlace
from octavo.operations.admin.kept_backups import back_up_into, opened_backup
from octavo.settings import Settings
from world import World


@pytest.fixture(params=["folder", "bucket"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "place")
    request.getfixturevalue("s3_environment")
    return "s3://docs/some/prefix"


def test_stored_objects_are_complete_and_listed_by_name(address: str) -> None:
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


def test_reading_does_not_create_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such folder"):
        BackupPlace(str(tmp_path / "absent"))
    assert not (tmp_path / "absent").exists()


def test_a_backup_is_stored_on_another_machine(world: World, s3_environment: object) -> None:
    place = BackupPlace("s3://docs/backups")
    with pytest.raises(BadRequest, match="there is no backup"), opened_backup("s3://docs/backups"):
        pass
    place.put("octavo-2020-01-01T00-00-00Z.backup", [b"an old one"])
    place.put("octavo-2020-01-01.txt", [b"something else"])
    name, outcome = back_up_into(world.context, place, keep=86_400_000)
    assert outcome.missing == []
    assert [each.name for each in place.list()] == ["octavo-2020-01-01.txt", name]
    for there in ("s3://docs/backups", "s3://docs/backups/", f"s3://docs/backups/{name}"):
        with opened_backup(there) as file:
            assert verify_backup(file) == []


def test_backups_can_have_their_own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that backups don't have are those for files; the session token belongs to its key."""
    asked: list[tuple[str, str | None]] = []

    class Bucket(QuietHandler):
        def do_GET(self) -> None:
            key = self.headers["authorization"].partition("Credential=")[2].partition("/")[0]
            asked.append((key, self.headers["x-amz-security-token"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<ListBucketResult><Name>docs</Name></ListBucketResult>")

    with local_server(Bucket) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        for name, value in (("ACCESS_KEY_ID", "FILES"), ("SECRET_ACCESS_KEY", "f"), ("SESSION_TOKEN", "t")):
            monkeypatch.setenv(f"AWS_{name}", value)
        BackupPlace("s3://docs").list()
        monkeypatch.setenv("BACKUP_AWS_ACCESS_KEY_ID", "BACKUPS")
        monkeypatch.setenv("BACKUP_AWS_SECRET_ACCESS_KEY", "hushhush")
        BackupPlace("s3://docs").list()
        BackupPlace("s3://docs").files.require_reachable()
    assert asked == [("FILES", "t"), ("BACKUPS", None), ("BACKUPS", None)]
    assert "hushhush" in Settings().secrets
