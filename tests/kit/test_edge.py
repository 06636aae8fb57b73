"""The HTTP edge: methods, conditions, ranges, compression, bounds, errors; each by its protocol."""

from __future__ import annotations

import asyncio
import gzip
import logging
import threading

import brotli
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from asgi_client import ask
from octavo.errors import Forbidden, TooManyRequests
from octavo.kit.db.cache import Memory
from octavo.kit.http.compression import Compressor, choose_coding, is_text, zstd
from octavo.kit.http.edge import (
    Action,
    Answer,
    Content,
    Edge,
    Route,
    check_conditions,
    choose_range,
    etag_of,
    fixed,
    json_error,
    read_tags,
    text_error,
)
from octavo.kit.http.metrics import Metrics
from octavo.kit.http.routing import Routes, split_path
from octavo.kit.scheduling.rates import RateLimiter
from octavo.kit.scheduling.shares import request_threads
from octavo.settings import parse_networks

TEXT = b"All work and no play. " * 200
FILE = bytes(range(256)) * 8
DECODED = {"br": brotli.decompress, "gzip": gzip.decompress, "zstd": zstd.decompress}


class Tried:
    """Edge with a route of each kind, and counters of opened and closed streams."""

    def __init__(self, **options) -> None:
        self.closed = threading.Event()
        self.metrics = Metrics()

        def text(request):
            return Answer(200, TEXT, "text/plain", etag=etag_of(TEXT), again=True)

        def small(request):
            return Answer(200, b"small", "text/plain", etag=etag_of(b"small"))

        def file(request):
            content = Content(len(FILE), lambda start, end: iter([FILE[start:end]]))
            return Answer(200, content_type="application/octet-stream", etag="file", content=content)

        def chunks():
            try:
                while True:
                    yield b"more "
            finally:
                self.closed.set()

        def refused():
            raise Forbidden("not any more")
            yield b""

        async def echo(request):
            return Answer(200, await request.read(100), "application/octet-stream")

        def fail(request):
            raise RuntimeError("a secret")

        def where(request):
            return Answer(200, threading.current_thread().name.encode(), "text/plain")

        async def on_loop(request):
            return where(request)

        def get(handler):
            return {"GET": Action(handler.__name__, handler)}

        options.setdefault("query_limit", 1000)
        options.setdefault("refuse", json_error)
        self.app = Edge(
            [
                Route("/text", get(text)),
                Route("/small", get(small)),
                Route("/file", get(file)),
                Route("/endless", get(lambda request: Answer(200, stream=chunks))),
                Route("/refused", get(lambda request: Answer(200, stream=refused))),
                Route("/few", get(lambda request: Answer(200, stream=lambda: iter([b"a", b"b"])))),
                Route("/echo", {"POST": Action("echo", echo), "PUT": Action("echo", echo)}),
                Route("/fail", get(fail)),
                Route("/where", get(where)),
                Route("/loop", get(on_loop)),
                Route("/at/{name}/{rest*}", get(lambda r: Answer(200, repr(r.parameters).encode()))),
                fixed("/made", "made", lambda: TEXT, "text/html"),
            ],
            pool=request_threads("x", 4, "tried", 100),
            metrics=self.metrics,
            compressor=Compressor(),
            headers={"x-content-type-options": "nosniff"},
            preflight={"access-control-max-age": "60"},
            **options,
        )

    def ask(self, method: str, path: str, **options) -> httpx.Response:
        async def run():
            transport = httpx.ASGITransport(self.app.application)
            async with httpx.AsyncClient(transport=transport, base_url="http://edge.test") as client:
                client.headers.pop("accept-encoding")
                return await client.request(method, path, **options)

        return asyncio.run(run())

    def get(self, path: str, **headers) -> httpx.Response:
        return self.ask(
            "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )


@pytest.fixture
def tried():
    made = Tried()
    yield made
    made.app.close()


# --- methods ----------------------------------------------------------------------------------------------


def test_head_equals_get_without_a_body(tried):
    for path in ("/text", "/small", "/file", "/made"):
        got, head = tried.get(path), tried.ask("HEAD", path)
        assert head.content == b""
        kept_out = {"x-request-id"}
        assert {k: v for k, v in head.headers.items() if k not in kept_out} == {
            k: v for k, v in got.headers.items() if k not in kept_out
        }
    compressed = tried.ask("HEAD", "/text", headers={"accept-encoding": "gzip"})
    assert int(compressed.headers["content-length"]) < len(TEXT)
    assert tried.ask("HEAD", "/file", headers={"range": "bytes=0-1"}).status_code == 200
    assert tried.ask("HEAD", "/few").content == b""


def test_options_and_other_methods_get_a_response(tried):
    options = tried.ask("OPTIONS", "/echo")
    assert (options.status_code, options.headers["allow"]) == (204, "POST, PUT")
    assert options.headers["access-control-max-age"] == "60"
    assert "content-length" not in options.headers
    assert tried.ask("OPTIONS", "/text").headers["allow"] == "GET, HEAD"
    refused = tried.ask("DELETE", "/text")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert tried.ask("HEAD", "/echo").status_code == 405


# --- conditional requests -----------------------------------------------------------------------------------


def test_current_content_is_answered_with_304(tried):
    first = tried.get("/text")
    again = tried.get("/text", if_none_match=first.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["vary"] == first.headers["vary"] == "Accept-Encoding"
    assert "content-length" not in again.headers and "content-type" not in again.headers
    # Weak and strong forms of a tag are the same here, in any coding.
    packed = tried.get("/text", accept_encoding="gzip").headers["etag"]
    assert packed.startswith("W/")
    assert tried.get("/text", if_none_match=packed, accept_encoding="br").status_code == 304
    assert tried.get("/text", if_none_match=f'"x", {packed}').status_code == 304
    assert tried.get("/text", if_none_match="*").status_code == 304


@pytest.mark.parametrize("seen", ['"x{tag}"', '"{tag}x"', "{tag}", '""', '"', "W/{tag}", '"{tag},"', "", ","])
def test_similar_entity_tags_do_not_match(tried, seen):
    tag = tried.get("/text").headers["etag"].strip('"')
    assert tried.get("/text", if_none_match=seen.replace("{tag}", tag)).status_code == 200


def test_if_match_compares_strongly(tried):
    strong = tried.get("/text").headers["etag"]
    assert tried.get("/text", if_match=strong).status_code == 200
    assert tried.get("/text", if_match="*").status_code == 200
    assert tried.get("/text", if_match=f"W/{strong}").status_code == 412
    refused = tried.get("/text", if_match='"other"')
    assert (refused.status_code, refused.content) == (412, b"")


@given(st.lists(st.tuples(st.booleans(), st.text("abc,-\x21", max_size=5)), max_size=5), st.data())
def test_entity_tags_round_trip(tags, data):
    spaces = st.sampled_from(["", " ", "\t"])
    written = ",".join(
        f'{data.draw(spaces)}{"W/" if weak else ""}"{tag}"{data.draw(spaces)}' for weak, tag in tags
    )
    assert read_tags(written) == tags
    assert check_conditions({b"if-none-match": written.encode()}, "abc") == (
        304 if any(tag == "abc" for _, tag in tags) else 200
    )


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_any_header_is_accepted(text):
    raw = text.encode("latin-1")
    assert check_conditions({b"if-none-match": raw, b"if-match": raw}, "abc") in (200, 304, 412)
    status, start, end = choose_range({b"range": raw, b"if-range": raw}, "abc", 10)
    assert status in (200, 206, 416) and 0 <= start <= end <= 10
    choose_coding(text, kept=True)


# --- ranges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("0-0", 0, 1),
        ("5-9", 5, 10),
        ("2040-", 2040, 2048),
        ("-8", 2040, 2048),
        ("10-99999", 10, 2048),
        ("-99999", 0, 2048),
    ],
)
def test_part_of_a_file_can_be_requested(tried, asked, start, end):
    part = tried.get("/file", range=f"bytes={asked}")
    assert (part.status_code, part.content) == (206, FILE[start:end])
    assert part.headers["content-range"] == f"bytes {start}-{end - 1}/2048"
    assert part.headers["content-length"] == str(end - start)
    assert part.headers["etag"] == '"file"'


@pytest.mark.parametrize("asked", ["bytes=2048-", "bytes=99999-100000", "bytes=-0"])
def test_a_range_beyond_the_file_is_refused(tried, asked):
    refused = tried.get("/file", range=asked)
    assert (refused.status_code, refused.content) == (416, b"")
    assert refused.headers["content-range"] == "bytes */2048"


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=0-1,4-5", "pages=1-2", "bytes=-", "bytes=a-b", "0-1"])
def test_unsupported_ranges_return_the_whole_file(tried, asked):
    whole = tried.get("/file", range=asked)
    assert (whole.status_code, whole.content, whole.headers["accept-ranges"]) == (200, FILE, "bytes")


def test_ranges_of_changed_content_return_the_whole_file(tried):
    assert tried.get("/file", range="bytes=0-1", if_range='"file"').status_code == 206
    for changed in ('"other"', 'W/"file"', "Wed, 21 Oct 2026 07:28:00 GMT", '"file", "other"'):
        assert tried.get("/file", range="bytes=0-1", if_range=changed).status_code == 200
    assert tried.get("/file", range="bytes=0-1", if_none_match='"file"').status_code == 304
    assert tried.get("/text", range="bytes=0-1").content == TEXT


@given(st.integers(0, 40), st.integers(0, 40) | st.none(), st.integers(0, 30))
def test_ranges_are_within_the_file(first, last, size):
    status, start, end = choose_range(
        {b"range": f"bytes={first}-{'' if last is None else last}".encode()}, "e", size
    )
    if status == 206:
        assert start == first < end <= size and (last is None or end <= last + 1)
    else:
        assert (status == 416) == (first >= size and (last is None or last >= first))


# --- compression --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip", "gzip"),
        ("gzip, deflate, br", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("zstd", "zstd"),
        ("br;q=0, gzip", "gzip"),
        ("br;q=0.1, gzip;q=0.9", "gzip"),
        ("*", "br"),
        ("*;q=0", None),
        ("identity", None),
        ("gzip;q=0.5, identity;q=0.8", None),
        ("", None),
        ("deflate", None),
        ("GZIP", "gzip"),
        ("br;q=x", None),
        ("x-gzip", "gzip"),
    ],
)
def test_a_content_encoding_that_the_client_accepts_is_used(tried, accepted, coding):
    for _ in range(2):  # made, and found again
        answer = tried.ask("GET", "/text", headers={"accept-encoding": accepted})
        assert answer.headers.get("content-encoding") == coding
        assert answer.headers["vary"] == "Accept-Encoding"
        # What the client library does not read by itself.
        assert (zstd.decompress(answer.content) if coding == "zstd" else answer.content) == TEXT
        if coding:
            assert int(answer.headers["content-length"]) < len(TEXT)


def test_only_text_of_a_minimum_size_is_compressed(tried):
    assert "content-encoding" not in tried.get("/small", accept_encoding="gzip").headers
    assert "content-encoding" not in tried.get("/file", accept_encoding="gzip").headers
    for content_type in ("application/json", "image/svg+xml", "application/scim+json", "application/xml; x"):
        assert is_text(content_type)
    for content_type in ("image/png", "application/pdf", "font/woff2", "application/zip", ""):
        assert not is_text(content_type)


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip"])
def test_the_cache_of_compressed_bodies_is_limited(coding):
    compressor = Compressor(Memory(400))
    made = compressor.compress(TEXT, coding, "one")
    assert DECODED[coding](made) == TEXT
    assert compressor.find("one", coding) == made
    for number in range(50):
        compressor.compress(TEXT, coding, str(number))
    assert compressor.find("one", coding) is None
    compressor.compress(TEXT, coding)
    assert compressor.find("", coding) is None


# --- bodies, streams, bounds --------------------------------------------------------------------------------


def test_bodies_are_read_up_to_their_limit(tried):
    assert tried.ask("POST", "/echo", content=b"x" * 100).content == b"x" * 100
    refused = tried.ask("POST", "/echo", content=b"x" * 101)
    assert refused.status_code == 413
    assert (
        "body: is too large; this operation accepts at most 100 bytes" in refused.json()["error"]["message"]
    )

    async def pieces():
        for _ in range(20):
            yield b"x" * 100_000

    refused = tried.ask("POST", "/echo", content=pieces())
    assert (refused.status_code, refused.headers["connection"]) == (413, "close")


def test_query_strings_are_limited(tried):
    assert tried.get(f"/text?{'q' * 1000}").status_code == 200
    assert tried.get(f"/text?{'q' * 1001}").status_code == 414


def test_a_stream_refused_before_its_first_chunk_has_the_status_of_the_error(tried):
    assert (tried.get("/refused").status_code, tried.get("/few").content) == (403, b"ab")


def test_a_stream_ends_when_its_client_leaves(tried):
    async def run():
        received = await ask(tried.app.application, "GET", b"/endless", [(b"host", b"edge.test")])
        pieces = aiter(received)
        assert [await anext(pieces) for _ in range(10)][0].startswith(b"more ")
        await received.close()

    asyncio.run(asyncio.wait_for(run(), 20))
    assert tried.closed.is_set()
    assert tried.get("/few").content == b"ab"


def test_only_coroutines_run_on_the_event_loop(tried):
    assert tried.get("/where").text.startswith("tried")
    assert not tried.get("/loop").text.startswith("tried")


# --- errors, names, counts ----------------------------------------------------------------------------------


def test_failures_only_contain_a_request_id(tried, caplog):
    answer = tried.get("/fail", x_request_id="mine-1")
    assert answer.status_code == 500
    assert answer.headers["x-request-id"] == "mine-1"
    assert "mine-1" in answer.text and "secret" not in answer.text
    assert "a secret" in caplog.text
    for odd in ("a b", "x" * 65, "<script>", ""):
        assert tried.get("/text", x_request_id=odd).headers["x-request-id"] != odd


def test_missing_paths_return_404_in_the_format_of_the_application(tried):
    answer = tried.get("/nowhere")
    assert answer.json() == {
        "error": {"code": 404, "message": "This URL doesn't exist. Check its path.", "reason": "not_found"}
    }
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert tried.get("/text/more").status_code == 404
    assert tried.get("/%ff").status_code == 404
    plain = Tried(refuse=text_error).get("/nowhere")
    assert (plain.text, plain.headers["content-type"]) == (
        "This URL doesn't exist. Check its path.\n",
        "text/plain; charset=utf-8",
    )


def test_requests_are_counted_by_operation(tried):
    for path in ("/text", "/text", "/fail", "/nowhere"):
        tried.get(path)
    counted = {
        (sample.labels["operation"], sample.labels["status"]): sample.value
        for family in text_string_to_metric_families(tried.metrics.text().decode())
        for sample in family.samples
        if sample.name == "octavo_requests_total"
    }
    assert counted == {("text", "200"): 2, ("fail", "500"): 1, ("unknown", "404"): 1}


def test_the_access_log_names_routes_and_no_secrets(tried, caplog):
    with caplog.at_level(logging.INFO, logger="octavo.access"):
        tried.get("/text?token=secret")
        tried.get("/at/secret/a/b")
    lines = [record.__dict__ for record in caplog.records if record.name == "octavo.access"]
    assert [(line["path"], line["status"]) for line in lines][0] == ("/text", 200)
    assert lines[0]["client"] == "127.0.0.1" and "secret" not in repr(lines[0])


def test_rate_limits_count_a_limited_number_of_addresses(clock):
    clock.advance(0)
    tried = Tried(limiter=RateLimiter(2))
    assert [tried.get("/text").status_code for _ in range(3)] == [200, 200, 429]
    assert int(tried.get("/text").headers["retry-after"]) <= 60
    limiter = RateLimiter(2, keys=3)
    for key in "abc":
        limiter.count(key)
    assert limiter.count("d").left == 1
    limiter.count("e")
    with pytest.raises(TooManyRequests):
        limiter.count("f")
    assert limiter.count("a").left == 0


def test_trusted_proxies_name_the_client(clock):
    clock.advance(0)
    tried = Tried(limiter=RateLimiter(1), proxies=parse_networks("127.0.0.0/8"))
    assert tried.get("/text", x_forwarded_for="203.0.113.7").status_code == 200
    assert tried.get("/text", x_forwarded_for="203.0.113.8").status_code == 200
    assert tried.get("/text", x_forwarded_for="6.6.6.6, 203.0.113.7").status_code == 429


# --- routing ------------------------------------------------------------------------------------------------


def test_literal_segments_win_over_parameters_and_those_over_rests():
    routes: Routes[int] = Routes()
    patterns = ("/", "/a", "/a/b", "/a/{x}", "/a/{x}/c", "/{y}/b/c", "/a/{x*}", "/a/b/d/e")
    for number, pattern in enumerate(patterns):
        routes.add(pattern, number)
    for path, number, values in (
        ("/", 0, {}),
        ("/a", 1, {}),
        ("/a/b", 2, {}),
        ("/a/z", 3, {"x": "z"}),
        ("/a/b/c", 4, {"x": "b"}),
        ("/z/b/c", 5, {"y": "z"}),
        ("/a/b/d", 6, {"x": "b/d"}),
        ("/a/b/d/e", 7, {}),
    ):
        assert routes.find(split_path(path.encode())) == (number, values), path
    assert routes.find(["z"]) is None and routes.find(["z", "", "c"]) is None
    with pytest.raises(ValueError):
        routes.add("/a/{other}", 9)


def test_segments_are_decoded_once_and_stay_separate():
    assert split_path(b"/a%2Fb/%252e/") == ["a/b", "%2e"]
    assert split_path(b"/") == split_path(b"") == []
    assert split_path(b"/a//b") == ["a", "", "b"]
    assert split_path(b"/%ff") is None
