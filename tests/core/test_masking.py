"""Personal data and secrets are known by their shape."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.masking import mask, mask_secrets


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to ann.lee+x@mail.example.co.uk now", "write to [e-mail] now"),
        ("jörg@exämple.de", "[e-mail]"),
        ("call +49 (0)30 123-45 67", "call [phone]"),
        ("call 030 1234567 or (555) 123-4567 or 555-123-4567", "call [phone] or [phone] or [phone]"),
        ("card 4111 1111 1111 1111, or 5500-0000-0000-0004", "card [card], or [card]"),
        ("my password is Hunter2! ok", "my password is [secret] ok"),
        ("https://bob:pw1234@host/x", "https://[secret]@host/x"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: [secret]"),
        ("key AKIAIOSFODNN7EXAMPLE", "key [secret]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123", "[secret]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc-def", "[secret]"),
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4", "[secret]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[secret]"),
    ],
)  # fmt: skip
def test_what_is_somebodys_own_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3.4567 on 2024-05-01 10:20, 01/02/2024, ip 192.168.100.12, port 8000, id 12345678",
        "error 500 500 500 times, order 2024 1000 units",
        "the-quick-brown-fox-jumps-over-the-lazy-dog-again and --------------------------------",
        "Where is the password reset? I cannot find my token.",
        "docs/running/configuration_of_the_server_2024.md",
        "@decorators and a@b",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=300))
def test_masking_twice_masks_no_more(text: str) -> None:
    assert mask_secrets(mask_secrets(text)) == mask_secrets(text)
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "piece", ["a@", "1 ", "a.", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa.", "://a:", "password ", "A1b2"]
)
def test_masking_takes_time_in_proportion(piece: str) -> None:
    def spent(size: int) -> float:
        started = time.thread_time()
        mask(piece * size)
        return time.thread_time() - started

    spent(500)
    assert spent(10_000) < 60 * max(spent(1_000), 0.002)
