"""Packs are looked over before anything unpacks them."""

from __future__ import annotations

import io
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import Blob, ShaFile
from dulwich.pack import write_pack_objects
from dulwich.repo import Repo

from octavo.interchange.gitsync.failures import Reason, Stopped
from octavo.interchange.gitsync.repository import Repository, stop_on_damage
from octavo.interchange.transfer.opening import open_source
from octavo.kit.net import git_packs
from octavo.kit.net.git_http import GitRefused
from octavo.kit.net.git_packs import GuardedStore, inspect_pack


def number(value: int) -> bytes:
    found = b""
    while True:
        found += bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
        value >>= 7
        if not value:
            return found


def packed(kind: int, data: bytes, size: int | None = None) -> bytes:
    size = len(data) if size is None else size
    first = size & 15
    rest = size >> 4
    head = bytes([kind << 4 | first | (0x80 if rest else 0)]) + (number(rest) if rest else b"")
    base = {6: b"\x05", 7: b"\1" * 20}.get(kind, b"")
    return head + base + zlib.compress(data)


def pack(*objects: bytes) -> io.BytesIO:
    return io.BytesIO(b"PACK\0\0\0\2" + len(objects).to_bytes(4, "big") + b"".join(objects) + b"\0" * 20)


@pytest.mark.parametrize("piece", [1, 7, 16 * 1024])
def test_a_valid_pack_is_accepted_in_any_chunks(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_packs, "_PIECE", piece)
    text = b"".join(b"Line %d of a text.\n" % n for n in range(200))
    objects: list[ShaFile] = [Blob.from_string(text + b"%d" % n * (n * 50)) for n in range(1, 60)]
    made = io.BytesIO()
    write_pack_objects(
        made.write, [(one, None) for one in objects], deltify=True, object_format=DEFAULT_OBJECT_FORMAT
    )
    made.seek(0)
    inspect_pack(made)


@pytest.mark.parametrize(
    "wrong",
    [
        pack(packed(3, b"x", 5 * 1024**3)),
        pack(packed(3, b"0" * 1_000_001)),
        pack(*[packed(3, b"0" * 600_000)] * 10),
        pack(packed(7, number(100) + number(4 * 1024**3) + b"\x01")),
        pack(packed(6, number(100) + number(4 * 1024**3) + b"\x01")),
        pack(packed(7, b"\xff" * 40)),
        pack(packed(7, b"")),
        pack(packed(3, b"short", 3)),
        pack(packed(3, b"short", 30)),
        io.BytesIO(b"PACK\0\0\0\2\0\0\0\1"),
        io.BytesIO(b"PACK\0\0\0\2\xff\xff\xff\xff\x31"),
        io.BytesIO(b"PACK\0\0\0\2\0\0\0\1" + b"\xff" * 100),
        io.BytesIO(b"<html>"),
        io.BytesIO(b""),
    ],
)
def test_oversized_and_invalid_packs_are_refused(wrong: io.BytesIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_packs, "MOST_OBJECT", 1_000_000)
    monkeypatch.setattr(git_packs, "MOST_UNPACKED", 5_000_000)
    with pytest.raises(GitRefused):
        inspect_pack(wrong)


def test_invalid_zlib_streams_are_damage() -> None:
    with pytest.raises(git_packs.DAMAGES):
        inspect_pack(io.BytesIO(b"PACK\0\0\0\2\0\0\0\1\x35" + b"\x01" * 100))


# --- repositories in folders ------------------------------------------------------------------------------

LARGE = b"".join(b"%d is a line of a large file.\n" % n for n in range(10_000))
NEXT_TO_IT = LARGE.replace(b"\n5000 is", b"\nFive thousand is")


def git(where: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(where), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=["loose", "packed", "differences", "borrowed"])
def local(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a small page and a file that is too large, stored in each way."""
    where = tmp_path / "local"
    where.mkdir()
    git(where, "init", "--quiet", "--initial-branch=main")
    (where / "README.md").write_text("# Small\n")
    (where / "large.bin").write_bytes(LARGE)
    git(where, "add", ".")
    git(where, "commit", "--quiet", "--message", "One")
    if request.param == "differences":
        (where / "large.bin").write_bytes(NEXT_TO_IT)
        (where / "larger.bin").write_bytes(LARGE + b"and one more\n")
        git(where, "add", ".")
        git(where, "commit", "--quiet", "--message", "Two")
    if request.param in ("packed", "differences"):
        git(where, "repack", "-a", "-d", "-f", "--depth=50", "--window=50")
    if request.param == "borrowed":
        git(tmp_path, "clone", "--quiet", "--shared", str(where), str(tmp_path / "other"))
        where = tmp_path / "other"
    monkeypatch.setattr(git_packs, "MOST_OBJECT", 100_000)
    return where


def test_an_import_skips_files_that_are_too_large_to_unpack(
    local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GuardedStore, "get_raw", only_small(GuardedStore.get_raw))
    with open_source(f"file://{local}", allow_url=lambda url: "", local=True) as source:
        assert source.paths() == ["README.md"]
        assert source.read("README.md") == b"# Small\n"
        assert {problem.code for problem in source.problems} == {"too_large"}


def only_small(get_raw: Callable[..., tuple[int, bytes]]) -> Callable[..., tuple[int, bytes]]:
    def get(store: GuardedStore, name: Any) -> tuple[int, bytes]:
        kind, data = get_raw(store, name)
        assert len(data) <= git_packs.MOST_OBJECT, "it was unpacked"
        return kind, data

    return get


def test_a_sync_stops_at_objects_that_are_too_large_to_unpack(local: Path, tmp_path: Path) -> None:
    head = git(local, "rev-parse", "HEAD").strip()
    large = git(local, "rev-parse", "HEAD:large.bin").strip()
    repo = Repo.init_bare(str(tmp_path / "copy"), mkdir=True)
    copy = Repository(repo, tmp_path / "copy", "")
    copy.borrow(str(local / ".git" / "objects"))
    with stop_on_damage():
        tree = copy.commit(head).tree
        files = dict(copy.files(bytes(tree)))
    assert files["large.bin"].oid == large
    with pytest.raises(Stopped) as stopped, stop_on_damage():
        copy.read(large)
    assert stopped.value.reason == Reason.TOO_LARGE
    repo.close()
