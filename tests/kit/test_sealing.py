"""Encrypted secrets: a value only decrypts in its place with its key."""

from __future__ import annotations

import base64
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.errors import Unavailable
from octavo.kit.secrets.sealing import Sealer, key_id, key_of, make_key, read_keys

OLD, NEW = b"o" * 32, b"n" * 32
sealer = Sealer([NEW, OLD])


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(max_size=40))
def test_encrypted_values_only_decrypt_in_their_place(text, place):
    place = place.encode("utf-8", "replace").decode()
    sealed = sealer.seal(place, text)
    assert sealer.open(place, sealed) == text
    assert key_of(sealed) == key_id(NEW) == sealer.current
    assert sealed != sealer.seal(place, text)
    with pytest.raises(Unavailable, match="another row"):
        sealer.open(f"{place}.", sealed)


def test_an_older_key_decrypts_but_does_not_encrypt():
    sealed = Sealer([OLD]).seal("place", "secret")
    assert sealer.open("place", sealed) == "secret"
    assert sealer.known == [key_id(NEW), key_id(OLD)]
    with pytest.raises(Unavailable, match=key_id(OLD)):
        Sealer([NEW]).open("place", sealed)


def test_every_changed_character_is_detected():
    sealed = sealer.seal("place", "secrets!")  # of a length at which no bit of base64 is without meaning
    for at, character in enumerate(sealed):
        changed = sealed[:at] + ("A" if character != "A" else "B") + sealed[at + 1 :]
        with pytest.raises(Unavailable):
            sealer.open("place", changed)


@given(st.text())
def test_any_other_text_is_refused(text):
    for made_up in (text, f"sealed1.{sealer.current}.{text}", f"sealed1.{text}"):
        with pytest.raises(Unavailable):
            sealer.open("place", made_up)


def test_keys_are_read_from_the_setting_and_the_file(tmp_path):
    file = tmp_path / "secret-key"
    raw = os.urandom(32)
    forms = [
        raw.hex(),
        raw.hex().upper(),
        base64.b64encode(raw).decode(),
        base64.b64encode(raw).decode().rstrip("="),
    ]
    forms.append(base64.urlsafe_b64encode(raw).decode())
    for form in forms:
        assert read_keys(f" {form} ", file) == [raw], form
    file.write_text(f"{OLD.hex()}\n\n{NEW.hex()}\n")
    assert read_keys(f"{raw.hex()},{OLD.hex()}", file) == [raw, OLD, NEW]
    (one,), (two,), (three,) = (
        read_keys(text, tmp_path / "none")
        for text in ("a passphrase to remember", "a passphrase to remember", "a passphrase to forget")
    )
    assert one == two != three and len(one) == 32
    assert read_keys("", tmp_path / "none") == []


@pytest.mark.parametrize("setting", ["short", "0" * 15, f"{'0' * 64},short"])
def test_an_invalid_key_is_reported_but_not_shown(tmp_path, setting):
    with pytest.raises(Unavailable) as raised:
        read_keys(setting, tmp_path / "none")
    assert "OCTAVO_SECRET_KEY" in raised.value.message and "short" not in raised.value.message
    (tmp_path / "secret-key").write_text("short")
    with pytest.raises(Unavailable, match="secret-key"):
        read_keys("", tmp_path / "secret-key")


def test_processes_that_start_at_once_share_one_key(tmp_path):
    file = tmp_path / "secret-key"
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: make_key(file), range(64)))
    assert len(keys) == 1
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


def test_an_unwritable_key_file_reports_the_setting(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="OCTAVO_SECRET_KEY"):
        make_key(tmp_path / "file" / "secret-key")
