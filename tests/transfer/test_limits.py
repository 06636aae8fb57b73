"""Tests of the limits of uploads and imports: an import at each limit works, and past it is an error or a problem."""

import io
import os
import zipfile
from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from octavo.content.uploads import receiving
from octavo.content.uploads.receiving import UploadLimit
from octavo.core import sources
from octavo.core.sources import SourceError
from octavo.interchange.readers import converting
from octavo.interchange.readers.scratch import TemporaryFiles
from octavo.interchange.transfer import uploads
from octavo.interchange.transfer.opening import open_source
from octavo.interchange.transfer.uploads import unpack_parts
from transfer.bringing_in import word

pytestmark = pytest.mark.sqlite_first


def refuse(url):
    raise ValueError("not here")


def packed(path, *entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in entries:
            made.writestr(name, data)
    return str(path)


def error_of(path):
    with pytest.raises(SourceError) as caught, open_source(path, allow_url=refuse, local=True):
        pass
    return str(caught.value)


def paths_of(path):
    with open_source(path, allow_url=refuse, local=True) as source:
        return source.paths()


# --- archives -----------------------------------------------------------------------------------------


def test_the_number_of_entries_of_an_archive_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_ENTRIES", 10)
    few = packed(tmp_path / "a.zip", *((f"a/{n}.md", "x") for n in range(10)))
    assert len(paths_of(few)) == 10
    many = packed(tmp_path / "b.zip", *((f"{n}/", "") for n in range(11)))
    assert "10 entries" in error_of(many)


@pytest.mark.parametrize("size", [70_000, 5_000_000])
def test_the_growth_of_an_entry_is_limited_for_any_size(tmp_path, size):
    assert "200 times" in error_of(packed(tmp_path / "a.zip", ("zeros", bytes(size))))


def test_small_repetitive_entries_are_accepted(tmp_path):
    entries = [("zeros", bytes(60_000)), ("noise", bytes(range(256)) * 8)]
    assert len(paths_of(packed(tmp_path / "a.zip", *entries))) == 2


def test_the_total_growth_of_small_entries_is_limited(tmp_path):
    entries = [(f"{n}.txt", bytes(60_000)) for n in range(300)]
    assert "the archive would unpack to" in error_of(packed(tmp_path / "a.zip", *entries))


def test_entries_that_share_bytes_count_separately(tmp_path):
    """Return an archive with one stored entry that its directory lists a thousand times."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        target.writestr("0000.txt", bytes(range(256)) * 400)
        (info,) = target.infolist()
        for n in range(1, 3000):
            copy = zipfile.ZipInfo(f"{n:04}.txt")
            for field in (
                "compress_type",
                "CRC",
                "compress_size",
                "file_size",
                "header_offset",
                "external_attr",
            ):
                setattr(copy, field, getattr(info, field))
            target.filelist.append(copy)
        target._didModify = True
    path = tmp_path / "a.zip"
    path.write_bytes(made.getvalue())
    assert "the archive would unpack to" in error_of(str(path))


def test_the_unpacked_size_of_an_archive_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_TOTAL", 1000)
    stored = zipfile.ZIP_STORED
    assert paths_of(packed(tmp_path / "a.zip", ("a", bytes(500)), ("b", bytes(500)), method=stored))
    assert "GB" in error_of(packed(tmp_path / "b.zip", ("a", bytes(500)), ("b", bytes(501)), method=stored))


def test_a_file_that_is_also_a_folder_is_skipped(tmp_path):
    path = packed(tmp_path / "a.zip", ("x/a", "1"), ("x/a/b.md", "2"), ("y/c/d.md", "3"), ("y/c", "4"))
    with open_source(path, allow_url=refuse, local=True) as source:
        assert source.paths() == ["x/a", "y/c/d.md"]
        assert [(problem.path, problem.code) for problem in source.problems] == [
            ("x/a/b.md", "duplicate_name"),
            ("y/c", "duplicate_name"),
        ]


@pytest.mark.parametrize("name", ["n" * 256, "文" * 86, "/".join(["d" * 200] * 6), "/".join(["d"] * 65)])
def test_names_that_no_file_system_supports_are_skipped(tmp_path, name):
    with open_source(
        packed(tmp_path / "a.zip", (name, "x"), ("n" * 255, "y")), allow_url=refuse, local=True
    ) as source:
        assert source.paths() == ["n" * 255]
        assert [problem.code for problem in source.problems] == ["unsafe_path"]


def test_the_unpacked_size_of_a_word_document_is_limited(tmp_path, monkeypatch):
    data = word(("Normal", "Text"))
    size = sum(info.file_size for info in zipfile.ZipFile(io.BytesIO(data)).infolist())
    path = tmp_path / "a.docx"
    path.write_bytes(data)
    monkeypatch.setattr(converting, "MAX_UNPACKED", size)
    converting._check_word(path)
    monkeypatch.setattr(converting, "MAX_UNPACKED", size - 1)
    with pytest.raises(SourceError, match="unpacked file"):
        converting._check_word(path)


def test_archives_in_an_archive_share_limits(tmp_path, monkeypatch):
    def parts_of(path):
        with ExitStack() as stack, open_source(path, allow_url=refuse, local=True) as source:
            return unpack_parts(source, TemporaryFiles(tmp_path), stack).paths()

    def part(*names):
        made = io.BytesIO()
        packed(made, *((name, name) for name in names))
        return made.getvalue()

    few = packed(tmp_path / "a.zip", ("1.zip", part("a.md", "b.md")), ("2.zip", part("c.md", "c.zip")))
    assert parts_of(few) == ["a.md", "b.md", "c.md", "c.zip"]
    damaged = packed(tmp_path / "b.zip", ("1.zip", part("a.md")), ("2.zip", b"PK"))
    with pytest.raises(SourceError, match=r"^2\.zip isn't a readable ZIP archive"):
        parts_of(damaged)
    monkeypatch.setattr(sources, "MAX_ENTRIES", 3)
    with pytest.raises(SourceError, match="more than 3 entries"):
        parts_of(few)
    monkeypatch.setattr(uploads, "MAX_PARTS", 1)
    assert parts_of(few) == ["1.zip", "2.zip"]


# --- names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path"),
    [("ü.md".encode(), "ü.md"), ("ü.md".encode("cp437"), "ü.md"), ("日.md".encode("shift-jis"), "ô·.md")],
)
def test_names_of_an_archive_are_decoded_in_several_encodings(tmp_path, name, path):
    """A name without the UTF-8 flag in the archive."""
    stands = "x" * len(name)
    made = packed(tmp_path / "a.zip", (stands, "# A\n"), ("b.md", "# B\n"))
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes().replace(stands.encode(), name))
    assert paths_of(made) == [path, "b.md"]


def test_links_out_of_a_folder_are_skipped(tmp_path):
    (tmp_path / "out.md").write_text("# Out\n")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n")
    for name, target in (
        ("b.md", "a.md"),
        ("c.md", "../out.md"),
        ("d", ".."),
        ("e", "e"),
        ("f.md", tmp_path / "out.md"),
    ):
        (folder / name).symlink_to(target)
    with open(os.fsencode(folder) + b"/\xe4.md", "wb"):
        pass
    with open_source(str(folder), allow_url=refuse, local=True) as source:
        assert source.paths() == ["a.md", "b.md"]
        told = [(problem.path, problem.code) for problem in source.problems]
    assert told == [
        *((name, "symlink") for name in ("c.md", "d", "e", "f.md")),
        ("\\udce4.md", "unsafe_path"),
    ]


# --- imported pages -----------------------------------------------------------------------------------


def test_an_oversized_page_is_kept_as_a_file(imports):
    context = imports.world.context
    before = context.settings
    context.settings = replace(before, page_size=3000)
    try:
        run = imports.files(
            ("good.md", "# Good\n\n" + "a" * 2992),
            ("large.md", "# Large\n\n" + "a" * 3000),
            ("x.html", "<p>" + "b" * 4000),
        )
    finally:
        context.settings = before
    assert run["status"] == "completed"
    found = {(problem["path"], problem["code"]) for problem in run["problems"]}
    assert {("large.md", "page_too_large"), ("x.md", "page_too_large")} <= found
    assert {"large.md", "x.md"} <= set(imports.stored_files())
    assert len(imports.text("Good")) == 3000


def test_a_long_description_is_truncated(imports):
    run = imports.files(
        ("a.md", f"---\ndescription: {'d' * 1001}\n---\n\n# A\n"),
        ("b.md", f"---\ndescription: {'d' * 1000}\n---\n\n# B\n"),
    )
    assert [(problem["path"], problem["code"]) for problem in run["problems"]] == [("a.md", "front_matter")]
    assert {page["description"] for page in imports.pages()} == {"d" * 1000}
    assert "d" * 1001 in imports.text("A")


# --- uploads ------------------------------------------------------------------------------------------


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    for expected in words:
        assert (f"{expected:,}" if isinstance(expected, int) else expected) in answer.json()["error"][
            "message"
        ]


@pytest.mark.parametrize(("who", "share"), [("editor", "MEMBER_SHARE"), ("guest", "GUEST_SHARE")])
def test_uploads_per_person_and_day_are_limited(imports, monkeypatch, who, share):
    monkeypatch.setattr(receiving, share, UploadLimit(3, 1000))
    assert imports.ask_for_url("a.md", 999, who).status_code == 201
    refused(imports.ask_for_url("b.md", 2, who), 429, "file.size", 1000)
    assert imports.ask_for_url("b.md", 1, who).status_code == 201
    monkeypatch.setattr(receiving, share, UploadLimit(3, 5000))
    assert imports.ask_for_url("c.md", 1, who).status_code == 201
    refused(imports.ask_for_url("d.md", 1, who), 429, "file", 3)
    other = "guest" if who == "editor" else "editor"
    assert imports.ask_for_url("d.md", 1, other).status_code == 201


def test_guests_have_lower_upload_limits(imports):
    assert receiving.GUEST_SHARE.files < receiving.MEMBER_SHARE.files
    assert receiving.GUEST_SHARE.size < receiving.MEMBER_SHARE.size


def test_unused_upload_urls_are_limited(imports, monkeypatch):
    monkeypatch.setattr(receiving, "MAX_WAITING", 2)
    imports.upload("used.md", "x")
    assert [imports.ask_for_url("a.md", 1).status_code for _ in range(2)] == [201, 201]
    refused(imports.ask_for_url("a.md", 1), 429, "2 unused upload URLs")
