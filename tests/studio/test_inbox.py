"""The inbox in a real browser, by pointer and by keyboard, while another person writes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from settled import until

from .conftest import App
from .test_accessibility import check

pytestmark = pytest.mark.slow


def test_notifications_are_read_replied_to_and_done(app: App) -> None:
    space = app.fill_space("Told", ["Start"])
    page = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    me = app.call("GET", "/user")
    mei = app.colleague("Mei")
    shown = app.open("/~/inbox")
    main = shown.get_by_role("navigation", name="Main")
    expect(shown.get_by_text("You're all caught up")).to_be_visible()

    def say(words: str, reply: str = "") -> str:
        path = f"/spaces/{space}/comments{f'/{reply}/replies' if reply else ''}"
        body = {"body": {"markdown": words}, **({} if reply else {"page": page})}
        answer = mei.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()["id"]

    said = say(f'What of ten tries, [@me](/users/{me["id"]} "mention")?')
    # It comes by itself.
    row = shown.get_by_role("list", name="Your notifications").get_by_role("listitem")
    expect(row).to_have_count(1)
    expect(row.get_by_role("button", name=re.compile("mentioned you"))).to_be_visible()
    expect(main.get_by_role("link", name="Inbox")).to_have_attribute("aria-description", "1 unread")
    check(shown)
    shown.keyboard.press("j")
    thread = shown.get_by_role("article", name=re.compile("^Thread by"))
    expect(thread).to_contain_text(f"What of ten tries, @{me['displayName']}?")
    expect(main.get_by_role("link", name="Inbox")).not_to_have_attribute("aria-description", "1 unread")
    thread.get_by_role("textbox", name="Reply").fill("They are parked.")
    shown.keyboard.press("Control+Enter")
    expect(thread).to_contain_text("They are parked.")
    assert app.call("GET", f"/spaces/{space}/comments/{said}")["replies"] == 1
    check(shown)

    shown.get_by_role("button", name=re.compile("mentioned you")).focus()
    shown.keyboard.press("d")
    expect(shown.get_by_text("You're all caught up")).to_be_visible()
    shown.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(row).to_have_count(1)
    shown.keyboard.press("u")
    expect(main.get_by_role("link", name="Inbox")).to_have_attribute("aria-description", "1 unread")
    shown.get_by_role("button", name="Mark all as read").click()
    expect(main.get_by_role("link", name="Inbox")).not_to_have_attribute("aria-description", "1 unread")
    say("Good.", said)
    expect(row.get_by_role("button", name=re.compile("replied"))).to_be_visible()

    shown.get_by_role("button", name="Notification settings").click()
    dialog = shown.get_by_role("dialog", name="Notification settings")
    dialog.get_by_label("Someone replies in a thread you took part in").select_option("digest")
    expect(dialog.get_by_label("Someone replies in a thread you took part in")).to_have_value("digest")
    check(shown)
    dialog.get_by_role("button", name="Done").click()
    until(lambda: app.call("GET", "/user/notification-settings")["channels"]["replied"] == "digest")
    # On a phone, the selected item replaces the list.
    shown.set_viewport_size({"width": 390, "height": 844})
    row.get_by_role("button", name=re.compile("replied")).click()
    expect(thread).to_be_visible()
    check(shown)
    shown.get_by_role("button", name="Back to list").click()
    expect(row).to_be_visible()
    shown.wait_for_function("document.documentElement.scrollWidth <= 390")
    shown.context.close()


def test_many_change_requests_are_archived_and_reopened(app: App) -> None:
    space = app.fill_space("Closing", ["Start"])
    for subject in ("One", "Two", "Three"):
        made = app.call("POST", f"/spaces/{space}/change-requests", {"subject": subject})
        app.call("PATCH", f"/spaces/{space}/change-requests/{made['id']}", {"status": "open"})
    shown = app.open(f"/s/{space}/~/changes")
    for subject in ("One", "Three"):
        shown.get_by_role("checkbox", name=f"Select “{subject}”").check()
    check(shown)
    shown.get_by_role("button", name="Archive").click()
    expect(shown.get_by_text("Archived 2 change requests")).to_be_visible()
    listed = app.call("GET", f"/spaces/{space}/change-requests")["items"]
    assert [one["subject"] for one in listed] == ["Two"]
    shown.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(shown.get_by_role("link", name="Three")).to_be_visible()
    until(lambda: app.call("GET", f"/spaces/{space}/change-requests")["count"] == 3)
    shown.context.close()
