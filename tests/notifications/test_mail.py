"""Tests of notification emails: when they are sent, their contents, and unsubscribing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from octavo.content.notifications import mailing, store
from octavo.errors import Unavailable
from octavo.kit.net import mail
from world import NOBODY, World

from .test_notifications import inbox, mention, say, work


@pytest.fixture
def sent(world, monkeypatch):
    """Return the emails handed to the mail server."""
    found = []
    monkeypatch.setattr(mail, "send", lambda url, **message: found.append(message))
    monkeypatch.setattr(mailing, "WAIT", 0)
    before = world.context.settings
    world.context.settings = replace(before, smtp_url="smtp://mail.test")
    yield found
    world.context.settings = before


@pytest.mark.sqlite_first
def test_unread_notifications_are_emailed_once(world: World, sent) -> None:
    say(world, "admin", mention(world, "reader"))
    work(world)
    (message,) = [one for one in sent if one["to"].startswith("reader")]
    assert message["subject"].startswith("Admin mentioned you: ") and "Look here, @Reader" in message["text"]
    assert inbox(world, "reader")[0]["urls"]["app"] in message["text"]
    sent.clear()
    work(world)
    assert sent == []


def test_read_and_inaccessible_notifications_are_not_emailed(world: World, sent, monkeypatch) -> None:
    monkeypatch.setattr(mailing, "WAIT", 10_000)
    say(world, "admin", mention(world, "reader"))
    work(world)
    (told,) = inbox(world, "reader")
    path = world.home.path("/spaces/{spaceId}")
    assert world.call("admin", "PATCH", path, json={"defaultLevel": None}).is_success
    mailing.mail_notification(world.context, world.users["reader"], told["id"])
    assert world.call("admin", "PATCH", path, json={"defaultLevel": "inherit"}).is_success
    world.call("reader", "PATCH", f"/user/notifications/{told['id']}", json={"state": "read"})
    mailing.mail_notification(world.context, world.users["reader"], told["id"])
    assert sent == []


def test_a_digest_is_one_email(world: World, sent) -> None:
    channels = {"channels": {"mentioned": "digest"}}
    assert world.call("reader", "PATCH", "/user/notification-settings", json=channels).is_success
    for word in ("One", "Two"):
        say(world, "admin", f"{word} {mention(world, 'reader')}")
    work(world)
    assert sent == []
    mailing.mail_digests(world.context)
    work(world)
    (message,) = sent
    assert "One Look here" in message["text"] and "Two Look here" in message["text"]
    mailing.mail_digests(world.context)
    work(world)
    assert len(sent) == 1


def test_a_long_digest_reports_the_number_of_omitted_entries(world: World, sent, monkeypatch) -> None:
    monkeypatch.setattr(mailing, "_DIGEST_LIMIT", 2)
    assert world.call(
        "reader", "PATCH", "/user/notification-settings", json={"channels": {"mentioned": "digest"}}
    ).is_success
    for word in ("One", "Two", "Three", "Four"):
        say(world, "admin", f"{word} {mention(world, 'reader')}")
    work(world)
    mailing.mail_digests(world.context)
    # Notifications that arrive while it is written wait for the next one.
    late = say(world, "admin", f"Late {mention(world, 'reader')}")
    read = store.list_for_digest
    with monkeypatch.context() as patch:
        patch.setattr(
            store,
            "list_for_digest",
            lambda tx, user: [row for row in read(tx, user) if row.comment_id != late],
        )
        work(world)
    (message,) = sent
    assert "Four Look" in message["text"] and "One Look" not in message["text"]
    assert f"And 2 more: {world.context.settings.url}/~/inbox" in message["text"]
    with world.context.db.read() as tx:
        assert [row.comment_id for row in store.list_for_digest(tx, world.users["reader"])] == [late]


def test_a_failing_server_does_not_use_up_the_limit(world: World, sent, monkeypatch) -> None:
    say(world, "admin", mention(world, "reader"))
    monkeypatch.setattr(mailing, "WAIT", 10_000)
    work(world)
    (told,) = inbox(world, "reader")
    sent.clear()
    world.context.settings = replace(world.context.settings, mails_per_day=3)

    def refuse(url, **message):
        raise Unavailable("mail through mail.test: refused")

    with monkeypatch.context() as patch:
        patch.setattr(mail, "send", refuse)
        for _ in range(4):
            with pytest.raises(Unavailable):
                mailing.mail_notification(world.context, world.users["reader"], told["id"])
    mailing.mail_notification(world.context, world.users["reader"], told["id"])
    assert len(sent) == 1


@pytest.mark.sqlite_first
def test_emails_can_be_unsubscribed_with_a_link(world: World, sent) -> None:
    say(world, "admin", mention(world, "reader"))
    work(world)
    link = sent[-1]["headers"]["List-Unsubscribe"].strip("<>")
    path = link.partition("/v1")[2]
    asked = world.call(NOBODY, "GET", path)
    assert asked.status_code == 200 and "<button>Unsubscribe</button>" in asked.text
    settings = "/user/notification-settings"
    assert world.get("reader", settings)["channels"]["mentioned"] == "mail", "opening it ends nothing"
    for _ in range(2):
        assert world.call(NOBODY, "POST", path).status_code == 200
    channels = world.get("reader", settings)["channels"]
    assert channels["mentioned"] == "app" and channels["replied"] == "mail"
    for wrong in (path[:-3], path.partition("=")[0] + "=x.y"):
        assert world.call(NOBODY, "POST", wrong).status_code == 400
    sent.clear()
    say(world, "admin", mention(world, "reader"))
    work(world)
    assert sent == [] and len(inbox(world, "reader")) == 2
