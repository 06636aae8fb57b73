import io
import os
import struct
import zipfile
import zlib

import pytest
from dulwich import porcelain
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

from local_server import QuietHandler, local_server
from octavo.core import sources
from octavo.core.import_plan import plan_import, read_pages
from octavo.core.paths import unsafe_path
from octavo.core.sources import SourceError
from octavo.interchange.readers import opening
from octavo.interchange.transfer import repositories
from octavo.interchange.transfer.opening import open_source


def refuse(url):
    raise ValueError("a private address")


def opened(where, **options):
    return open_source(
        str(where), allow_url=options.pop("allow_url", refuse), local=options.pop("local", True)
    )


def codes(source):
    return sorted((problem.path, problem.code) for problem in source.problems)


def error_of(where, **options):
    with pytest.raises(SourceError) as caught, opened(where, **options):
        pass
    return str(caught.value)


def archive(path, entries, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries:
            made.writestr(name, content, **options)
    return path


def test_a_folder_is_read(tmp_path):
    (tmp_path / "a/.git").mkdir(parents=True)
    (tmp_path / "a/.git/config").write_text("x")
    (tmp_path / "a/x.md").write_bytes(b"# X\r\n")
    (tmp_path / ".gitbook.yaml").write_text("")
    (tmp_path / "secret").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "same.md").symlink_to("a/x.md")
    (tmp_path / "config").symlink_to("a/.git/config")
    (tmp_path / "b\\c.md").write_text("")
    os.mkfifo(tmp_path / "pipe")
    with opened(tmp_path) as source:
        assert sorted(source.paths()) == [".gitbook.yaml", "a/x.md", "same.md"]
        assert (source.size("same.md"), source.read("a/x.md"), source.read("same.md")) == (
            5,
            b"# X\r\n",
            b"# X\r\n",
        )
        assert codes(source) == [
            ("b\\\\c.md", "unsafe_path"),
            ("config", "symlink"),
            ("loop", "symlink"),
            ("pipe", "special_file"),
            ("secret", "symlink"),
        ]


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path):
    (tmp_path / "x.md").write_text("12345")
    with opened(tmp_path) as source:
        (tmp_path / "x.md").unlink()
        (tmp_path / "x.md").symlink_to("/etc/hostname")
        with pytest.raises(SourceError, match="can't be read"):
            source.read("x.md")


def test_files_that_are_too_large_are_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_FILE", 4)
    (tmp_path / "big.md").write_text("12345")
    (tmp_path / "small.md").write_text("1234")
    with opened(tmp_path) as source:
        assert source.paths() == ["small.md"]
        assert codes(source) == [("big.md", "too_large")]


def test_too_many_entries_and_bytes_are_refused(tmp_path, monkeypatch):
    for n in range(5):
        (tmp_path / f"{n}.md").write_text("12345")
    made = archive(tmp_path.parent / "five.zip", [(f"{n}.md", "12345") for n in range(5)])
    monkeypatch.setattr(sources, "MAX_ENTRIES", 4)
    assert "more than 4 entries" in error_of(tmp_path)
    assert "more than 4 entries" in error_of(made)
    monkeypatch.setattr(sources, "MAX_ENTRIES", 5)
    monkeypatch.setattr(sources, "MAX_TOTAL", 24)
    assert "of files" in error_of(tmp_path)
    assert "of files" in error_of(made)


def test_an_archive_is_read(tmp_path):
    made = archive(tmp_path / "docs-main.zip", [("docs-main/README.md", "# R"), ("docs-main/a/b.md", "B")])
    with opened(made) as source:
        assert source.name == "docs-main"
        assert sorted(source.paths()) == ["README.md", "a/b.md"]
        assert source.read("a/b.md") == b"B"
        assert not source.problems


class Plain(zipfile.ZipInfo):
    """Archive entry whose name is written without UTF-8, or without the UTF-8 flag."""

    def __init__(self, name, extra=b"", system=3):
        super().__init__(repr(name))
        self.written, self.extra, self.create_system = name, extra, system

    def _encodeFilenameFlags(self):
        return self.written, self.flag_bits


def test_archive_names_in_other_encodings_are_decoded(tmp_path):
    old = "Übung.md".encode("cp437")
    said = b"\x01" + struct.pack("<L", zlib.crc32(b"?.md")) + "页.md".encode()
    entries = [
        (Plain("é/ä.md".encode()), "1"),
        (Plain(old), "2"),
        (Plain(b"?.md", struct.pack("<HH", 0x7075, len(said)) + said), "3"),
        (Plain(b"\xe4\xf6/x.md"), "4"),
    ]
    with opened(archive(tmp_path / "a.zip", entries)) as source:
        assert set(source.paths()) == {"é/ä.md", "Übung.md", "页.md", "Σ÷/x.md"}
        assert [source.read(path) for path in ("é/ä.md", "页.md")] == [b"1", b"3"] and not source.problems
    with opened(archive(tmp_path / "b.zip", [(Plain(b"a\\b.md", system=0), "1")])) as source:
        assert source.paths() == ["b.md"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_unsafe_names_in_an_archive_are_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    names = [
        "../up.md",
        "/abs.md",
        "a/../../b.md",
        "back\\slash.md",
        "C:/x.md",
        "a//b.md",
        "x.md",
        "x.md",
        ".git/config",
    ]
    made = archive(
        tmp_path / "a.zip", [*((name, "x") for name in names), (link, "/etc/passwd"), ("nulX.md", "x")]
    )
    made.write_bytes(made.read_bytes().replace(b"nulX.md", b"nul\0.md"))
    with opened(made) as source:
        assert source.paths() == ["x.md"]
        assert (
            sorted(code for _, code in codes(source)) == ["duplicate_name", "symlink"] + ["unsafe_path"] * 7
        )


def test_archive_bombs_are_refused(tmp_path, monkeypatch):
    bomb = archive(tmp_path / "bomb.zip", [("zeros", b"\0" * 5_000_000)])
    assert "200 times" in error_of(bomb)
    inner = archive(tmp_path / "outer.zip", [("bomb.zip", bomb.read_bytes())])
    with opened(inner) as source:
        assert source.paths() == ["bomb.zip"]
    many = archive(tmp_path / "many.zip", [(f"{n}", "") for n in range(500)])
    monkeypatch.setattr(opening, "_MAX_DIRECTORY", 10_000)
    assert "table of contents" in error_of(many)


def test_an_entry_with_a_false_size_is_refused(tmp_path):
    made = archive(tmp_path / "a.zip", [("x.md", b"0123456789" * 1000)])
    content = made.read_bytes()
    made.write_bytes(content.replace((10_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with opened(made) as source, pytest.raises(SourceError):
        source.read("x.md")


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"not a zip", b"PK\x05\x06" + b"\xff" * 18])
def test_invalid_archives_are_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    assert "ZIP" in error_of(tmp_path / "x.zip") or "directory" in error_of(tmp_path / "x.zip")


@pytest.mark.parametrize(
    "where",
    [
        "",
        "nowhere",
        "ssh://host/x",
        "git://host/x",
        "ftp://h/x",
        "http://",
        "https://[bad/x",
        "a\x00b",
        "file://host/x",
        "file:///nowhere",
    ],
)
def test_invalid_sources_are_refused(where):
    assert error_of(where)


@pytest.mark.parametrize("where", ["/etc", "file:///etc", "x.zip", "."])
def test_local_sources_require_permission(where):
    assert "http" in error_of(where, local=False)


@pytest.mark.parametrize("path", ["a", "a/b.md", ".gitbook/assets/ü 1.png", "a..b", "..."])
def test_paths_are_checked_for_safety(path):
    assert unsafe_path(path) is None


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "work"
    repo = porcelain.init(folder)
    (folder / "docs").mkdir()
    (folder / "README.md").write_text("# Root")
    (folder / "docs/README.md").write_text("# Docs")
    (folder / "docs/link").symlink_to("/etc/passwd")
    person = b"A <a@example.org>"
    porcelain.add(repo, [str(folder / name) for name in ("README.md", "docs/README.md", "docs/link")])
    first = porcelain.commit(repo, message=b"one", author=person, committer=person)
    porcelain.tag_create(repo, b"v1", message=b"v1", author=person, annotated=True)
    (folder / "README.md").write_text("# Second")
    porcelain.add(repo, [str(folder / "README.md")])
    porcelain.commit(repo, message=b"two", author=person, committer=person)
    repo.close()
    return folder, first.decode()


def test_a_local_repository_is_read(repository):
    folder, first = repository
    with opened(f"file://{folder}") as source:
        assert source.read("README.md") == b"# Second"
        assert codes(source) == [("docs/link", "symlink")]
    for ref in ("v1", first):
        with opened(f"file://{folder}#{ref}") as source:
            assert (source.commit, source.read("README.md")) == (first, b"# Root")
    with opened(f"file://{folder}//docs#v1") as source:
        assert source.paths() == ["README.md"]
        assert codes(source) == [("link", "symlink")]
    assert "no folder" in error_of(f"file://{folder}//nowhere")
    assert "no branch" in error_of(f"file://{folder}#gone")
    assert "subfolder" in error_of(f"file://{folder}//../x")


def test_a_hostile_tree_is_read_safely(tmp_path):
    repo = Repo.init_bare(str(tmp_path / "bad.git"), mkdir=True)
    blob = Blob.from_string(b"x")
    inner, tree, commit = Tree(), Tree(), Commit()
    inner.add(b"config", 0o100644, blob.id)
    for name, mode, sha in [
        (b"..", 0o40000, inner.id),
        (b".GIT", 0o40000, inner.id),
        (b"a\\b", 0o100644, blob.id),
        (b"\xff", 0o100644, blob.id),
        (b"sub", 0o160000, b"1" * 40),
        (b"ok.md", 0o100644, blob.id),
        (b"e/vil", 0o100644, blob.id),
        (b"x/../y", 0o100644, blob.id),
    ]:
        tree.add(name, mode, sha)
    commit.tree, commit.author, commit.committer, commit.message = tree.id, b"a <a>", b"a <a>", b"m"
    commit.author_time = commit.commit_time = commit.author_timezone = commit.commit_timezone = 0
    for made in (blob, inner, tree, commit):
        repo.object_store.add_object(made)
    repo.refs[b"refs/heads/main"] = commit.id
    repo.refs.set_symbolic_ref(b"HEAD", b"refs/heads/main")
    repo.close()
    with opened(f"file://{tmp_path}/bad.git") as source:
        assert sorted(source.paths()) == ["e/vil", "ok.md"]
        assert sorted(code for _, code in codes(source)) == ["submodule"] + ["unsafe_path"] * 4


@pytest.fixture
def web(repository):
    """Serve a Git server, a page that is not a repository, and redirects, on the loopback address."""
    folder, _ = repository
    application = make_wsgi_chain(DictBackend({"/docs.git": Repo(str(folder))}))

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.0"

        def answer(self):
            if self.path.startswith("/away"):
                self.send_response(302)
                self.send_header(
                    "Location", f"http://internal.test:{self.server.server_port}" + self.path[5:]
                )
                self.end_headers()
                return
            if not self.path.startswith("/docs.git"):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<html>")
                return
            path, _, query = self.path.partition("?")
            length = int(self.headers.get("Content-Length") or 0)
            data = self.rfile.read(length)
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    data += self.rfile.read(size)
                    self.rfile.readline()
            environ = {
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "SCRIPT_NAME": "",
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(data)),
                "wsgi.input": io.BytesIO(data),
                "SERVER_PROTOCOL": "HTTP/1.0",
                "wsgi.url_scheme": "http",
            }
            if encoding := self.headers.get("Content-Encoding"):
                environ["HTTP_CONTENT_ENCODING"] = encoding

            def start(status, headers, exc_info=None):
                self.send_response(int(status.split()[0]))
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                return self.wfile.write

            for piece in application(environ, start):
                self.wfile.write(piece)

        do_GET = do_POST = answer

    with local_server(Handler) as server:
        yield server.server_port


def test_requests_for_a_repository_are_guarded(web):
    asked = []

    def guard(url):
        asked.append(url)
        if "docs.test" not in url:
            raise ValueError("a private address")
        return "127.0.0.1"

    base = f"http://docs.test:{web}"
    with opened(f"{base}/docs.git", allow_url=guard, local=False) as source:
        assert source.read("README.md") == b"# Second"
        assert (source.name, source.commit is not None) == ("docs", True)
    with opened(f"{base}/docs.git//docs#v1", allow_url=guard, local=False) as source:
        assert source.read("README.md") == b"# Docs"
    assert set(asked) == {f"{base}/"}
    assert "private address" in error_of(f"http://localhost:{web}/docs.git", allow_url=guard)
    assert "private address" in error_of(f"{base}/away/docs.git", allow_url=guard)
    assert "Git repository" in error_of(f"{base}/page", allow_url=guard)
    assert "no branch" in error_of(f"{base}/docs.git#gone", allow_url=guard)
    assert "connection" in error_of("http://docs.test:9/docs.git", allow_url=guard)


def test_an_endless_repository_is_aborted(web, monkeypatch):
    monkeypatch.setattr(repositories, "MAX_TOTAL", 100)
    assert "larger than the limit of 100 bytes" in error_of(
        f"http://docs.test:{web}/docs.git", allow_url=lambda url: "127.0.0.1"
    )


def test_an_archive_becomes_pages(tmp_path):
    made = archive(
        tmp_path / "a.zip", [("SUMMARY.md", "* [A](a.md)"), ("a.md", "# Title"), ("README.md", "# R")]
    )
    with opened(made) as source:
        plan = plan_import(source)
        assert [page.title for page in read_pages(plan, source)] == ["A"]
        assert plan.files == ["README.md"]
