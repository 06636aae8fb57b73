"""`@` in comments, replies, and the note of a review request: people are notified, and pages are linked."""

from __future__ import annotations

from playwright.sync_api import expect

from settled import until


def test_people_and_pages_are_mentioned_by_keyboard(app):
    space = app.fill_space("Mentions", ["Start", "Gearbox"])
    colleague = app.colleague("Mei")
    name = colleague.get("/user").json()["displayName"]
    page = app.open(f"/s/{space}/start")
    page.get_by_role("button", name="Comment").first.click()
    field = page.get_by_label("Write a comment")
    field.press_sequentially("Ask @me")
    names = page.get_by_role("listbox", name="Mention a person or page")
    expect(names.get_by_role("option", name=name)).to_be_visible()
    page.keyboard.press("Enter")
    field.press_sequentially("about @gear")
    expect(names.get_by_role("option", name="Gearbox")).to_be_visible()
    # Escape closes only the list.
    page.keyboard.press("Escape")
    expect(names).to_have_count(0)
    expect(field).to_be_focused()
    page.keyboard.press("Backspace")
    expect(names.get_by_role("option", name="Gearbox")).to_be_visible()
    page.keyboard.press("Tab")
    expect(names).to_have_count(0)
    page.get_by_role("button", name="Post").click()
    thread = page.get_by_role("article").filter(has_text=f"@{name}")
    link = thread.get_by_role("link", name="Gearbox")
    expect(link).to_be_visible()
    until(lambda: colleague.get("/user/notifications").json().get("items"))
    thread.get_by_label("Reply", exact=True).press_sequentially(f"and @{name[:2]}")
    expect(names.get_by_role("option", name=name)).to_be_visible()
    page.keyboard.press("Enter")
    thread.get_by_role("button", name="Post").click()
    expect(thread.get_by_label("Reply", exact=True)).to_have_value("")
    link.click()
    page.get_by_role("heading", name="Gearbox", level=1).wait_for()
    page.context.close()
    colleague.close()


def test_the_note_of_a_review_request_mentions_people(app):
    space = app.fill_space("Noted", ["Start"])
    colleague = app.colleague("Kofi")
    name = colleague.get("/user").json()["displayName"]
    number = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Notes"})["number"]
    insert = {"operation": "insert_page", "title": "Added", "document": {"markdown": "Words."}}
    app.call("POST", f"/spaces/{space}/change-requests/{number}/content", {"changes": [insert]})
    page = app.open(f"/s/{space}/~/changes/{number}")
    page.get_by_role("button", name="Request review").click()
    dialog = page.get_by_role("dialog", name="Request review")
    note = dialog.get_by_label("Note")
    note.press_sequentially(f"For @{name[:3]}")
    option = dialog.get_by_role("option", name=name)
    expect(option).to_be_visible()
    option.click()
    expect(note).to_have_value(f'For [@{name}](/users/{colleague.get("/user").json()["id"]} "mention") ')
    expect(dialog).to_be_visible()
    page.context.close()
    colleague.close()
