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
        ("write to ann.lee+x@mail.example.co.uk now", "write to [email] now"),
        ("jörg@exämple.de", "[email]"),
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
)
def test_personal_data_is_masked(text: str, masked: str) -> None:
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
def test_text_resembling_secrets_is_not_masked(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=300))
def test_masking_twice_masks_no_more(text: str) -> None:
    assert mask_secrets(mask_secrets(text)) == mask_secrets(text)
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "piece", ["a@", "1 ", "a.", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa.", "://a:", "password ", "A1b2"]
)
def test_masking_takes_linear_time(piece: str) -> None:
    def spent(size: int) -> float:
        started = time.thread_time()
        mask(piece * size)
        return time.thread_time() - started

    spent(500)
    assert spent(10_000) < 60 * max(spent(1_000), 0.002)


def _digits(low: int, high: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", min_size=low, max_size=high)


def _with_check(number: str) -> str:
    """Return a card number with the check digit of the Luhn algorithm."""
    doubled = [int(digit) * 2 for digit in number[::-2]]
    total = sum(value - 9 if value > 9 else value for value in doubled)
    total += sum(int(digit) for digit in number[-2::-2])
    return number + str(-total % 10)


_alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_names = st.text("abcdefghijklmnopqrstuvwxyz0123456789._-", min_size=1, max_size=20).map(lambda s: f"a{s}b")
_hosts = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=2, max_size=12)
PRIVATE = {
    "e-mail": st.builds("{}@{}.example.org".format, _names, _hosts),
    "phone": st.one_of(
        st.builds(
            "+{} {} {}".format, st.sampled_from(["49", "1", "44", "380"]), _digits(2, 4), _digits(6, 7)
        ),
        st.builds("+49{}".format, _digits(8, 11)),
        st.builds("(555) {}-{}".format, _digits(3, 3), _digits(4, 4)),
        st.builds("030 {}".format, _digits(7, 8)),
    ),
    "card": st.builds(
        lambda number, sign: sign.join(number[at : at + 4] for at in range(0, 16, 4)),
        st.builds("4{}".format, _digits(14, 14)).map(_with_check),
        st.sampled_from(["", " ", "-"]),
    ),
    "secret": st.one_of(
        st.builds(
            "{}{}".format,
            st.sampled_from(["sk-", "ghp_", "glpat-", "xoxb-", "npm_", "oct_"]),
            st.text(_alnum, min_size=20, max_size=40),
        ),
        st.builds("AKIA{}".format, st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=16, max_size=16)),
        st.builds("Bearer {}".format, st.text(_alnum, min_size=16, max_size=60)),
        st.builds("password: x{}9!".format, st.text(_alnum, min_size=6, max_size=30)),
    ),
}


@pytest.mark.parametrize("kind", PRIVATE)
@given(data=st.data())
def test_no_personal_data_remains(kind: str, data: st.DataObject) -> None:
    private = data.draw(PRIVATE[kind])
    before = data.draw(st.sampled_from(["", "I am ", "Call me: ", "It says (", "\n", "see\t", "“"]))
    after = data.draw(st.sampled_from(["", ".", ", please", ") and more", "\nThanks", "?", "”", ";"]))
    masked = mask(f"{before}{private}{after}")
    own = private.removeprefix("Bearer ").removeprefix("password: ")
    assert own not in masked, masked
    assert f"[{kind}]" in masked or "[" in masked
