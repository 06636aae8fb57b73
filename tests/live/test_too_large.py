"""Pages that are too large to be saved: their editors get a message, and a shorter page is saved again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from octavo.content.live.broadcasting import LiveMessages, of_live_page
from octavo.content.live.store import find_live

from .writing import Writing, block, delete, insert, texts

SIZE = 2_000


@pytest.fixture
def small(world):
    """Yield a page in a server whose pages have at most 2,000 bytes of Markdown."""
    before = world.context.settings
    live = Writing(world)
    world.context.settings = replace(before, page_size=SIZE)
    yield live
    world.context.settings = before


def heard(live, source):
    with live.world.context.db.read() as tx:
        return [
            message.data.refused
            for message in source.other_messages(tx, frozenset((of_live_page(live.key),)))
            if message.kind == "saved"
        ]


def test_editors_of_a_page_that_is_too_large_get_a_message_until_it_is_saved(small, monkeypatch):
    client = small.open()
    client.type("Before. ", 1)
    small.save()
    source = LiveMessages()
    heard(small, source)
    client.send(block("y" * 2_500, 0, "long"))
    client.type("After. ", 2_503)
    small.later(4, monkeypatch)
    assert heard(small, source) == [[small.page]]
    found = small.get()
    assert found["refused"] == [small.page]
    assert found["savedVersion"] == 1
    assert "After. Before. First paragraph of A." in texts(found["document"])
    for path in (f"{small.base}/save", f"{small.space.path}/change-requests/{small.change}/merge"):
        refused = small.world.call("admin", "POST", path)
        assert refused.status_code == 413 and "Split it" in refused.text, refused.text
    # It is retried after a pause, even if people continue to type.
    client.type("x", 2_503)
    with small.world.context.db.read() as tx:
        row = find_live(tx, small.key)
    assert row.save_at - row.touched_at == 3_000
    # A shorter page is saved, with everything that was written in the meantime.
    client.send(delete(1, 2_400))
    small.later(4, monkeypatch)
    assert heard(small, source)[-1] == small.get()["refused"] == []
    assert "y\n\nxAfter. Before. First paragraph of A.\n" in small.markdown()


def test_a_page_that_is_much_too_large_can_be_shortened_step_by_step(small):
    client = small.open()
    client.send(block("y" * 1_900, 0, "one"))
    client.send(block("z" * 1_900, 0, "two"))
    assert client.post(client.body(insert("x" * 400, 1))).status_code == 413
    small.world.context.settings = replace(small.world.context.settings, page_size=500)
    client.batch -= 1
    client.send(delete(1, 2))
    assert client.post(client.body(insert("x", 1))).status_code == 413
    client.batch -= 1
    client.send(delete(1, 1_900))
    client.send(delete(4, 1_880))
    assert small.save()["refused"] == []
