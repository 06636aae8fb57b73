"""Maintenance mode in a browser: turned on and off by a switch, and nothing that someone writes is lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.slow
def test_text_written_during_maintenance_is_saved_afterwards(app):
    space = app.fill_space("Maintained", ["Guide"])
    writer = app.open(f"/s/{space}/guide")
    writer.get_by_role("button", name="Edit", exact=True).click()
    text = writer.get_by_role("textbox", name="Page content")
    text.get_by_text("About Guide.").click()
    writer.keyboard.press("End")
    status = writer.locator("[role=status].state")

    page = app.open("/~/installation")
    switch = page.get_by_role("switch", name="Maintenance mode")
    switch.press("Space")
    dialog = page.get_by_role("dialog", name="Maintenance mode")
    dialog.get_by_label("Message for everyone").fill("New disks.")
    dialog.get_by_label("Expected end").fill("2001-01-01T10:00")
    dialog.get_by_role("button", name="Turn on maintenance mode").click()
    expect(dialog.get_by_label("Expected end")).to_have_accessible_description(re.compile("in the future"))
    dialog.get_by_label("Expected end").fill("")
    dialog.get_by_role("button", name="Turn on maintenance mode").click()
    expect(switch).to_be_checked()
    try:
        banner = page.get_by_role("region", name="Server messages")
        expect(banner).to_contain_text("Octavo is read-only for maintenance. New disks.")

        writer.keyboard.type(" Written meanwhile.")
        expect(status).to_contain_text("Saved locally during maintenance")
        expect(writer.get_by_role("region", name="Server messages")).to_contain_text("New disks.")
        writer.reload()
        expect(text).to_contain_text("Written meanwhile.")
    finally:
        switch.press("Space")
        expect(switch).not_to_be_checked()
    expect(banner).not_to_contain_text("read-only")
    expect(status).to_have_text(re.compile("^ *Saved *$"), timeout=90_000)
    writer.context.close()

    page.get_by_role("button", name="Add announcement").click()
    dialog = page.get_by_role("dialog", name="Announcement")
    dialog.get_by_label("Message for everyone").fill("Docs day is on Friday.")
    dialog.get_by_role("button", name="Save").click()
    expect(banner).to_contain_text("Docs day is on Friday.")
    page.get_by_role("button", name="Remove announcement").click()
    expect(banner).not_to_contain_text("Docs day")
    page.context.close()
