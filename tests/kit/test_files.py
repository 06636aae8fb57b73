from __future__ import annotations

import hashlib
import io
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from octavo.core.file_types import detect_type
from octavo.errors import NotFound, TooLarge, Unavailable
from octavo.kit.clock import now, parse_iso
from octavo.kit.files import Blob, FileGrant, FileStore, file_headers, open_store
from octavo.kit.secrets.signing import Signer

signer = Signer(b"k" * 32)


@pytest.fixture(params=["folder", "s3"])
def store(request, tmp_path) -> FileStore:
    if request.param == "folder":
        return open_store(f"file://{tmp_path / 'my files'}", signer)
    request.getfixturevalue("s3_environment")
    return open_store("s3://docs/some/prefix", signer)


@pytest.mark.parametrize("data", [b"", b"hello", os.urandom(11_000_000)], ids=["empty", "small", "large"])
def test_bytes_round_trip(store, data):
    for source in (data, io.BytesIO(data), iter([data[:3], data[3:]])):
        blob = store.put(source)
        assert blob == Blob(hashlib.sha256(data).hexdigest(), len(data))
    assert store.read(blob.hash) == data
    assert store.find_size(blob.hash) == len(data)


def test_ranges_of_files_are_read(store):
    blob = store.put(bytes(range(256)) * 4000)
    assert b"".join(store.open(blob.hash, 10, 20)) == bytes(range(10, 20))
    assert b"".join(store.open(blob.hash, 256 * 4000 - 3)) == bytes([253, 254, 255])
    assert sum(map(len, store.open(blob.hash, 5, 600_000))) == 599_995


def test_a_file_beyond_the_limit_is_not_stored(store):
    data = b"x" * 1001

    def endless():
        while True:
            yield b"x" * 100

    for source in (data, io.BytesIO(data), endless()):
        with pytest.raises(TooLarge, match="1,000 bytes"):
            store.put(source, limit=1000)
    assert not store.exists(hashlib.sha256(data).hexdigest())
    assert store.put(b"x" * 1000, limit=1000).size == 1000


def test_deleting_stored_and_missing_files(store):
    blob = store.put(b"gone")
    assert store.exists(blob.hash)
    store.delete(blob.hash)
    store.delete(blob.hash)
    assert not store.exists(blob.hash)
    with pytest.raises(NotFound):
        store.open(blob.hash)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..%2f" + "a" * 60, "/etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n", ""]
)
def test_only_hashes_are_accepted_as_keys(store, name):
    assert not store.exists(name)
    with pytest.raises(NotFound):
        store.open(name)


def test_an_unreachable_store_is_reported(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="files"):
        open_store(f"file://{tmp_path / 'file' / 'below'}", signer)
    for url in ("ftp://x/y", "s3://", "data", "file://host/share"):
        with pytest.raises(Unavailable, match="OCTAVO_FILES_URL"):
            open_store(url, signer)


def test_a_missing_bucket_is_reported(s3_environment):
    with pytest.raises(Unavailable) as raised:
        open_store("s3://no-such-bucket/some/folder", signer).require_reachable()
    assert "there is no bucket 'no-such-bucket'" in raised.value.message
    assert raised.value.message.startswith("OCTAVO_FILES_URL: ") and "<" not in raised.value.message


@pytest.fixture
def silent_endpoint(s3_environment, monkeypatch):
    """Return an object store that accepts requests and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        endpoint = f"http://127.0.0.1:{listening.getsockname()[1]}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        yield endpoint


@pytest.mark.parametrize("endpoint", ["http://[x", "http://s3.example:99999", "s3.example:9000"])
def test_an_invalid_endpoint_is_reported(endpoint):
    with pytest.raises(Unavailable, match="AWS_ENDPOINT_URL"):
        open_store("s3://docs", signer, {"AWS_ENDPOINT_URL": endpoint})


@pytest.mark.parametrize("url", ["s3://[x", "file://[x/y"])
def test_invalid_store_urls_are_refused(url):
    with pytest.raises(Unavailable, match="OCTAVO_FILES_URL"):
        open_store(url, signer, {})


def test_an_unresponsive_store_is_reported_quickly(silent_endpoint, monkeypatch):
    monkeypatch.setattr("octavo.kit.files._PROBE_SECONDS", 1)
    with pytest.raises(Unavailable) as raised:
        open_store("s3://docs", signer).require_reachable()
    expected = f"OCTAVO_FILES_URL: the object store at {silent_endpoint} didn't respond: "
    assert raised.value.message.startswith(expected), raised.value.message


def test_unavailable_stores_are_logged_in_one_line(s3_environment, monkeypatch, caplog):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    with pytest.raises(Unavailable), caplog.at_level("ERROR", logger="octavo.files"):
        open_store("s3://docs", signer).put(b"x")
    (record,) = caplog.records
    assert record.getMessage().startswith("files: ") and "\n" not in record.getMessage()


GRANT = FileGrant(hash="a" * 64, name='Große/Datei "1".svg', content_type="image/svg+xml")


def test_signed_links_bind_purpose_content_name_and_type(tmp_path, clock):
    store = open_store(f"file://{tmp_path}", signer)
    expires = now() + 60_000
    link = store.link("preview", GRANT, expires)
    _, files, token, name = link.split("/")
    assert (files, name) == ("files", "Gro%C3%9Fe%2FDatei%20%221%22.svg")
    assert store.verify("preview", token) == FileGrant(GRANT.hash, GRANT.name, GRANT.content_type, expires)
    assert store.verify("site", token) is None
    assert store.verify("preview", token[:-1]) is None
    assert signer.verify("preview", token) is None
    clock.advance(61_000)
    assert store.verify("preview", token) is None


def test_presigned_links_return_the_bytes_with_name_and_type(s3_environment):
    store = open_store("s3://docs/some/prefix", signer)
    blob = store.put(b"<svg/>")
    link = store.link("preview", FileGrant(blob.hash, GRANT.name, GRANT.content_type), now() + 60_000)
    with urllib.request.urlopen(link) as answer:
        assert answer.read() == b"<svg/>"
        assert answer.headers["Content-Type"] == "image/svg+xml"
        assert answer.headers["Content-Disposition"].startswith('attachment; filename="Gro_e_Datei _1_.svg"')


def test_files_of_an_unreachable_bucket_are_served_by_octavo(s3_environment):
    store = open_store("s3://docs/some/prefix", signer, direct=False)
    blob = store.put(b"<svg/>")
    link = store.link("preview", FileGrant(blob.hash, GRANT.name, GRANT.content_type), now() + 60_000)
    assert link.startswith("/files/")
    assert store.verify("preview", link.split("/")[2]).hash == blob.hash


@pytest.mark.parametrize("session", ["", "a/session+token"])
@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:9000"])
def test_presigned_links_equal_those_of_botocore(monkeypatch, clock, session, endpoint):
    import boto3
    from botocore.client import Config

    environ = {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret/example",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_SESSION_TOKEN": session,
        "AWS_ENDPOINT_URL": endpoint,
    }
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        if value:
            monkeypatch.setenv(name, value)
    store = open_store("s3://docs/some prefix", signer)
    style = "path" if endpoint else "virtual"
    client = boto3.session.Session().client(
        "s3", config=Config(signature_version="s3v4", s3={"addressing_style": style})
    )
    headers = file_headers(GRANT)
    moment, expires = 0, 1
    # The other one reads the clock of the machine, which can reach the next second in between.
    while moment + 600_000 != expires * 1000:
        expires = now() // 1000 + 600
        theirs = client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": "docs",
                "Key": f"some prefix/aa/{GRANT.hash}",
                "ResponseContentType": headers["Content-Type"],
                "ResponseCacheControl": "private",
                "ResponseExpires": datetime.fromtimestamp(expires, UTC),
                "ResponseContentDisposition": headers["Content-Disposition"],
            },
            ExpiresIn=600,
        )
        moment = parse_iso(_parts(theirs)[3]["X-Amz-Date"][0])
    clock.set(moment)
    ours = store.link("preview", GRANT, expires * 1000)
    assert _parts(ours) == _parts(theirs)


def _parts(url: str):
    parts = urlsplit(url)
    return parts.scheme, parts.netloc, parts.path, parse_qs(parts.query)


def test_types_are_detected_by_content():
    assert detect_type(b"\x89PNG\r\n\x1a\n....", "a.svg") == "image/png"
    assert detect_type(b"RIFF....WEBPVP8 ", "a") == "image/webp"
    assert detect_type(b"\0\0\0\x20ftypavif....", "a") == "image/avif"
    assert detect_type(b"<html><script>", "photo.png") == "application/octet-stream"
    assert detect_type(b"<svg onload=...", "logo.svg") == "image/svg+xml"
    assert detect_type(b"{}", "openapi.json") == "application/json"


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("image/png", "inline"),
        ("application/pdf", "inline"),
        ("image/svg+xml", "attachment"),
        ("text/html", "attachment"),
        ("text/xml", "attachment"),
    ],
)
def test_active_uploads_are_attachments(content_type, kind):
    headers = file_headers(FileGrant("a" * 64, 'a"\r\nX: y.html', content_type))
    assert headers["Content-Disposition"].split(";")[0] == kind
    assert "\n" not in headers["Content-Disposition"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        *[
            (runs, "text/plain; charset=utf-8")
            for runs in (
                "text/javascript",
                "application/javascript",
                "application/x-javascript",
                "text/ecmascript",
                "text/html",
                "text/html; charset=utf-8",
                "application/xhtml+xml",
                "text/css",
                "application/wasm",
                "text/xml",
                "application/xml",
                "application/rss+xml",
                "text/xsl+xml",
                "TEXT/JavaScript",
            )
        ],
        *[
            (same, same)
            for same in (
                "image/png",
                "image/svg+xml",
                "application/pdf",
                "font/woff2",
                "text/plain",
                "application/zip",
                "application/json",
                "video/mp4",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            )
        ],
    ],
)
def test_active_content_is_sent_as_text(given, sent):
    assert file_headers(FileGrant("a" * 64, "file", given))["Content-Type"] == sent


def test_a_file_is_kept_no_longer_than_its_link(tmp_path, monkeypatch):
    store = open_store(f"file://{tmp_path}", signer)
    moment = now()
    token = store.link("preview", GRANT, moment + 600_000).split("/")[2]
    monkeypatch.setattr("octavo.kit.files.now", lambda: moment + 540_000)
    grant = store.verify("preview", token)
    assert grant == FileGrant(GRANT.hash, GRANT.name, GRANT.content_type, moment + 600_000)
    assert file_headers(grant)["Cache-Control"] == "private, max-age=60"
    monkeypatch.setattr("octavo.kit.files.now", lambda: moment + 700_000)
    assert file_headers(grant)["Cache-Control"] == "private, max-age=0"
    assert file_headers(GRANT)["Cache-Control"] == "private, no-cache"
    assert file_headers(GRANT, public=True)["Cache-Control"].startswith("public, max-age=")


_PUTTING = """
import sys
from octavo.kit.files import open_store
from octavo.kit.secrets.signing import Signer
store = open_store(sys.argv[1], Signer(b"k" * 32))
print("ready", flush=True)
n = 0
while True:
    n += 1
    print(store.put(n.to_bytes(8, "big") * 1_500_000).hash, flush=True)
"""


def test_a_killed_writer_leaves_no_half_file(tmp_path):
    url = f"file://{tmp_path}"
    process = subprocess.Popen([sys.executable, "-c", _PUTTING, url], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    told = [process.stdout.readline().strip() for _ in range(3)]
    process.send_signal(signal.SIGKILL)
    told += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    store = open_store(url, signer)
    for hash in told:
        assert hashlib.sha256(store.read(hash)).hexdigest() == hash
    for path in tmp_path.glob("??/*"):
        if store.exists(path.name):  # Otherwise, a leftover remains under an unused name.
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
