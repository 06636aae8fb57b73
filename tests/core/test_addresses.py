"""Parsing of URLs, hosts, and ports in any input."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.document.urls import safe_url
from octavo.core.links import in_app
from octavo.core.url_parts import host_of, join_address, own_address, path_of, read_address, write_authority

HOSTILE = (
    "http://[x",
    "http://x]/",
    "http://[x]/",
    "http://[::1/",
    "//[",
    "http://a:99999/",
    "http://a:-1/",
    "http://a:port/",
    "http://a:\u0661/",
    "http://\u2100.example/",
    "https://user:p[w@host/",
)

_PIECES = st.sampled_from(
    [
        "http:",
        "//",
        "/",
        "[",
        "]",
        "::1",
        ":",
        "@",
        "?",
        "#",
        "99999",
        "80",
        "a",
        "\u2100",
        "\u0661",
        "%",
        "\\",
    ]
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_urls_are_refused(text: str) -> None:
    assert read_address(text) is None
    assert (host_of(text), path_of(text)) == ("", "")
    assert safe_url(text) is None and in_app(text) is None
    with pytest.raises(ValueError):
        own_address(text)


@given(st.lists(_PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_no_text_raises_an_exception(text: str) -> None:
    address = read_address(text)
    join_address(text, text)
    join_address("https://docs.example/a/", text)
    if address is not None:
        parts = urlsplit(text)
        assert (address.scheme, address.authority, address.path) == (parts.scheme, parts.netloc, parts.path)
        assert (address.host, address.port) == (parts.hostname or "", parts.port)


def test_a_url_is_split_into_parts() -> None:
    address = own_address("HTTPS://me:p%40w@Docs.Example:8080/a/b?c=d#e")
    assert address.origin == "https://me:p%40w@Docs.Example:8080"
    assert (address.host, address.port, address.username, address.password) == (
        "docs.example",
        8080,
        "me",
        "p%40w",
    )
    assert address.rest == "/a/b?c=d#e" and address.is_web


@pytest.mark.parametrize(
    ("host", "port", "written"),
    [
        ("::", 8000, "[::]:8000"),
        ("127.0.0.1", 80, "127.0.0.1:80"),
        ("::1", None, "[::1]"),
        ("a.example", 1, "a.example:1"),
    ],
)
def test_urls_round_trip(host: str, port: int | None, written: str) -> None:
    assert write_authority(host, port) == written
    address = own_address(f"http://{written}/")
    assert (address.host, address.port) == (host, port)
