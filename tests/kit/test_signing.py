from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octavo.kit.clock import now
from octavo.kit.db.databases import open_database
from octavo.kit.secrets.sealing import Sealer
from octavo.kit.secrets.signing import Signer, get_or_create_secret

signer = Signer(b"k" * 32)
sealer = Sealer([b"s" * 32])


def test_a_token_only_returns_its_payload_for_its_purpose():
    token = signer.sign("file", "päyload", now() + 10_000)
    assert signer.verify("file", token) == "päyload"
    assert signer.verify("preview", token) is None
    assert Signer(b"x" * 32).verify("file", token) is None


def test_purpose_and_body_cannot_be_shifted_into_each_other():
    token = signer.sign("a", "b")
    assert signer.verify("a\0", token) is None
    assert signer.verify("", token) is None


def test_an_expired_token_is_refused(clock):
    token = signer.sign("file", "x", now() + 1000)
    clock.advance(1000)
    assert signer.verify("file", token) is None
    assert signer.verify("file", signer.sign("file", "for ever")) == "for ever"


def test_every_changed_character_is_detected():
    token = signer.sign("file", "payload")
    for at, character in enumerate(token):
        changed = token[:at] + ("A" if character != "A" else "B") + token[at + 1 :]
        assert signer.verify("file", changed) is None


@given(st.text())
def test_any_text_is_refused_without_an_exception(text):
    assert signer.verify("file", text) is None
    assert signer.verify("file", text + "." + text) is None
    assert signer.verify("file", "\ud800") is None


def test_a_secret_is_created_once(database, database_url):
    with database.write() as tx:
        first = get_or_create_secret(tx, sealer, "files")
        other = get_or_create_secret(tx, sealer, "sessions")
    again = open_database(database_url)
    with again.write() as tx:
        assert get_or_create_secret(tx, sealer, "files") == first
    again.close()
    assert len(first) == 32
    assert first != other
