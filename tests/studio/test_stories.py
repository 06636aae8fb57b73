"""Whole stories of two and three people, each in a browser of their own: write, review, suggest, settle,
merge, undo; by pointer and by keyboard, on both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from settled import until

from .conftest import App, opened
from .test_accessibility import check

pytestmark = pytest.mark.slow

TEXT = """The runtime writes into the same table.

The outbox cannot be turned off.

A paragraph that stays.

| Name | Use   |
| ---- | ----- |
| a    | first |
"""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def app(request: Any, tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[App]:
    settings = {}
    if request.param == "postgresql":
        databases = request.getfixturevalue("postgres_databases")
        settings["OCTAVO_DATABASE_URL"] = databases.create_bare("stories")
    with opened(tmp_path_factory.mktemp("stories") / "data", browser, **settings) as found:
        yield found


def _fill(app: App, title: str) -> tuple[str, str]:
    """Create a locked space with one page, and return the id of the page."""
    space = app.create_space(title, editMode="live")
    page = {"operation": "insert_page", "title": "Outbox", "document": {"markdown": TEXT}}
    made = app.call("POST", f"/spaces/{space}/content", {"changes": [page]})
    app.call("PATCH", f"/spaces/{space}", {"editMode": "locked"})
    return space, made["changes"][0]["page"]["id"]


def _words(app: App, space: str, page: str) -> str:
    return str(app.call("GET", f"/spaces/{space}/content/page/{page}?format=markdown")["markdown"])


def test_an_edit_is_suggested_applied_undone_and_merged(app: App) -> None:
    """Mei writes, Ravi suggests and reviews: by pointer."""
    space, page = _fill(app, "Suggested")
    mei, ravi = app.colleague("Mei"), app.colleague("Ravi", "review")
    writer = app.open_as(mei, f"/s/{space}/outbox")
    writer.get_by_role("button", name="Edit", exact=True).click()
    body = writer.get_by_role("textbox", name="Page content")
    body.get_by_text("A paragraph that stays.").click()
    writer.keyboard.press("End")
    writer.keyboard.type(" It stays long.")
    expect(writer.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    writer.get_by_role("textbox", name="Subject").fill("Longer words")
    writer.get_by_role("button", name="Request review").click()
    writer.get_by_role("dialog").get_by_role("button", name="Request review").click()
    expect(writer.get_by_text("is ready for review")).to_be_visible()
    change = app.call("GET", f"/spaces/{space}/change-requests")["items"][0]
    review = f"/s/{space}/~/changes/{change['number']}/~/review/outbox"

    reader = app.open_as(ravi, review)
    row = reader.get_by_role("region", name=re.compile("^Change 1 of 1"))
    expect(row.locator("ins")).to_have_text(["It stays long."])
    row.hover()
    row.get_by_role("button", name="Suggest edit").click()
    written = reader.get_by_role("form", name="Suggest edit")
    expect(written.get_by_role("textbox", name="Suggest edit")).to_be_focused()
    reader.keyboard.type(" And so does this.")
    written.get_by_role("textbox", name="Comment (optional)").fill("Say both.")
    check(reader)
    written.get_by_role("button", name="Suggest", exact=True).click()
    thread = reader.get_by_role("article", name=re.compile("^Thread by"))
    expect(thread.locator("ins")).to_have_text(["And so does this."])
    check(reader)

    writer.goto(f"{app.url}{review}")
    thread = writer.get_by_role("main").get_by_role("article", name=re.compile("^Thread by"))
    expect(thread).to_contain_text("Say both.")
    thread.get_by_role("button", name="Accept").click()
    row = writer.get_by_role("region", name=re.compile("^Change 1 of 1"))
    expect(row.locator("ins")).to_have_text(["It stays long. And so does this."])
    expect(thread).to_have_count(0)
    # The other browser sees it without asking.
    expect(reader.get_by_role("region", name=re.compile("^Change 1 of 1")).locator("ins")).to_have_text(
        ["It stays long. And so does this."]
    )
    writer.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(row.locator("ins")).to_have_text(["It stays long."])
    thread.get_by_role("button", name="Accept").click()
    expect(row.locator("ins")).to_have_text(["It stays long. And so does this."])

    reader.get_by_role("button", name="Finish review").click()
    reader.get_by_role("menuitem", name="Approve").click()
    expect(reader.get_by_text("You approved #")).to_be_visible()
    reader.get_by_role("button", name="Merge", exact=True).click()
    expect(reader.get_by_text("Merged “Longer words”")).to_be_visible()
    assert "A paragraph that stays. It stays long. And so does this." in _words(app, space, page)
    people = app.call("GET", f"/spaces/{space}/change-requests/{change['id']}/contributors")["items"]
    wrote = {one["user"]["email"] for one in people if one["actionType"] == "edit"}
    assert wrote == {"mei@example.com", "ravi@example.com"}
    told = ravi.get("/user/notifications").json()["items"]
    assert "accepted" in {one.get("status") for one in told}
    writer.context.close()
    reader.context.close()


def test_blocks_are_edited_and_reverted_in_the_review_by_keyboard(app: App) -> None:
    """An outdated suggestion is marked and declined."""
    space, page = _fill(app, "By keyboard")
    mei, ravi = app.colleague("Mei"), app.colleague("Ravi", "review")
    change = f"/spaces/{space}/change-requests"
    number = mei.post(change, json={"subject": "Words"}).json()["number"]
    change += f"/{number}"
    text = TEXT.replace("same table", "same transaction").replace("first", "other") + "\nLast words.\n"
    text = text.replace("The outbox cannot be turned off.\n\n", "")
    edit = {"operation": "update_page", "page": page, "document": {"markdown": text}}
    assert mei.post(f"{change}/content", json={"changes": [edit]}).is_success
    mei.patch(change, json={"status": "open"})
    review = f"/s/{space}/~/changes/{number}/~/review/outbox"
    reader = app.open_as(ravi, review)
    expect(reader.get_by_text("4 changes")).to_be_visible()
    reader.keyboard.press("j")
    reader.keyboard.press("s")
    expect(reader.get_by_role("textbox", name="Suggest edit")).to_be_focused()
    reader.keyboard.type(" Often.")
    reader.keyboard.press("Control+Enter")
    thread = reader.get_by_role("main").get_by_role("article", name=re.compile("^Thread by"))
    expect(thread.locator("ins")).to_have_text(["Often."])

    writer = app.open_as(mei, review)
    expect(writer.get_by_text("4 changes")).to_be_visible()
    writer.keyboard.press("j")
    writer.keyboard.press("e")
    expect(writer.get_by_role("textbox", name="Edit block")).to_be_focused()
    writer.keyboard.type(" Always.")
    check(writer)
    writer.keyboard.press("Control+Enter")
    first = writer.get_by_role("region", name=re.compile("^Change 1 of 4"))
    expect(first.locator("ins")).to_have_text(["transaction. Always"])
    # The suggestion was for the previous text of the block.
    outdated = writer.get_by_role("main").get_by_role("article", name=re.compile("^Thread by"))
    expect(outdated).to_contain_text("This block has been edited since the suggestion was made")
    outdated.get_by_role("button", name="Accept").click()
    expect(writer.get_by_text("the two edits conflict")).to_be_visible()
    outdated.get_by_role("button", name="Decline").click()
    expect(outdated).to_have_count(0)

    # The deleted paragraph comes back, and the last words go.
    writer.locator("main").focus()
    writer.keyboard.press("j")
    expect(writer.get_by_text("change 2 of 4")).to_be_visible()
    writer.keyboard.press("Control+Backspace")
    expect(writer.get_by_text("change 2 of 3")).to_be_visible()
    told = writer.get_by_role("region", name="Notifications")
    expect(told.get_by_text("Change discarded")).to_be_visible()
    undo = told.get_by_role("button", name="Undo")
    undo.evaluate_all("buttons => buttons.forEach((one) => { one.className = 'earlier' })")
    page_text = mei.get(f"{change}/content/page/{page}?format=markdown").json()["markdown"]
    assert "The outbox cannot be turned off." in page_text and "Always." in page_text
    last = writer.get_by_role("region", name=re.compile("^Change 3 of 3"))
    last.hover()
    last.get_by_role("button", name="Discard this change").click()
    expect(writer.get_by_role("region", name=re.compile("^Change 2 of 2"))).to_be_visible()
    undo.and_(writer.locator(":not(.earlier)")).click()
    expect(writer.get_by_text(re.compile("of 3|3 changes"))).to_be_visible()
    until(
        lambda: "Last words." in mei.get(f"{change}/content/page/{page}?format=markdown").json()["markdown"]
    )
    writer.context.close()
    reader.context.close()


def test_three_people_edit_one_line_and_one_resolves_and_reverts_it(app: App) -> None:
    space, page = _fill(app, "Three")
    mei, ravi = app.colleague("Mei"), app.colleague("Ravi", "review")

    def propose(who: Any, subject: str, old: str, new: str) -> int:
        path = f"/spaces/{space}/change-requests"
        number = int(who.post(path, json={"subject": subject}).json()["number"])
        edit = {"operation": "update_page", "page": page, "document": {"markdown": TEXT.replace(old, new)}}
        assert who.post(f"{path}/{number}/content", json={"changes": [edit]}).is_success
        return number

    first = propose(mei, "Never", "cannot", "can never")
    second = propose(ravi, "Must not", "cannot", "must not")
    third = propose(mei, "May not", "same table", "own table")
    boss = app.open(f"/s/{space}/~/changes/{first}/~/review")
    boss.get_by_role("button", name="Merge", exact=True).click()
    expect(boss.get_by_text("Merged “Never”")).to_be_visible()
    reviewer = app.open_as(ravi, f"/s/{space}/~/changes/{second}/~/review")
    reviewer.get_by_role("button", name="Merge", exact=True).click()
    expect(reviewer.get_by_role("button", name="Merge · 1 left")).to_be_visible()
    check(reviewer)
    reviewer.keyboard.press("3")
    reviewer.keyboard.press("ControlOrMeta+Enter")
    expect(reviewer.get_by_text("You kept theirs")).to_be_visible()
    reviewer.keyboard.press("Control+z")
    expect(reviewer.get_by_role("button", name="Merge · 1 left")).to_be_visible()
    reviewer.keyboard.press("2")
    reviewer.keyboard.press("ControlOrMeta+Enter")
    # In the meantime, the third is merged, and the resolution is kept.
    boss.goto(f"{app.url}/s/{space}/~/changes/{third}/~/review")
    boss.get_by_role("button", name="Merge", exact=True).click()
    expect(boss.get_by_text("Merged “May not”")).to_be_visible()
    reviewer.get_by_role("button", name="Merge", exact=True).click()
    expect(reviewer.get_by_text("Merged “Must not”")).to_be_visible()
    words = _words(app, space, page)
    assert "The outbox must not be turned off." in words and "own table" in words

    # The history compares any two, and brings one block back by a change request.
    boss.goto(f"{app.url}/s/{space}/~/history")
    revisions = boss.get_by_role("list", name="Revisions").get_by_role("link")
    expect(revisions).to_have_count(5)
    revisions.nth(0).click()
    revisions.nth(3).click(modifiers=["Shift"])
    expect(boss.get_by_role("heading", name="Revision 2 to 5")).to_be_visible()
    expect(boss.locator("p.by")).to_contain_text("Ravi, Ines Okafor, Mei")
    changed = boss.get_by_role("region", name="Outbox")
    changed.get_by_role("button", name="Compare Outbox").click()
    expect(changed.locator("ins")).to_have_text(["own", "must not"])
    check(boss)
    changed.get_by_text("be turned off").hover()
    changed.get_by_role("button", name="Restore block").nth(1).click()
    expect(boss.get_by_text("created for the restore")).to_be_visible()
    expect(boss.get_by_role("main").locator("ins")).to_have_text(["cannot"])
    boss.get_by_role("button", name="Merge", exact=True).click()
    expect(boss.get_by_text("Merged “Restore")).to_be_visible()
    words = _words(app, space, page)
    assert "The outbox cannot be turned off." in words and "own table" in words
    for one in (boss, reviewer):
        one.context.close()


def test_viewed_marks_belong_to_each_reviewer_and_end_with_an_edit(app: App) -> None:
    space, page = _fill(app, "Seen")
    mei, ravi = app.colleague("Mei"), app.colleague("Ravi", "review")
    path = f"/spaces/{space}/change-requests"
    number = mei.post(path, json={"subject": "Words"}).json()["number"]

    def edit(text: str) -> dict[str, Any]:
        return {"operation": "update_page", "page": page, "document": {"markdown": text}}

    new = {"operation": "insert_page", "title": "New", "document": {"markdown": "New words.\n"}}
    first = {"changes": [edit(TEXT + "\nMore.\n"), new]}
    assert mei.post(f"{path}/{number}/content", json=first).is_success
    mei.patch(f"{path}/{number}", json={"status": "open"})
    shown = app.open_as(ravi, f"/s/{space}/~/changes/{number}/~/review/outbox")
    other = app.open(f"/s/{space}/~/changes/{number}/~/review/outbox")
    mark, others = (one.get_by_role("checkbox", name="Viewed: Outbox") for one in (shown, other))
    expect(shown.get_by_text("1 change", exact=True)).to_be_visible()
    shown.keyboard.press("v")
    expect(shown.get_by_role("heading", name="New", level=1)).to_be_visible()
    expect(shown.get_by_text("1 of 2 viewed")).to_be_visible()
    shown.keyboard.press("v")
    expect(shown.get_by_text("2 of 2 viewed")).to_be_visible()
    expect(others).not_to_be_checked()
    # While Ravi looks, the page changes again.
    assert mei.post(f"{path}/{number}/content", json={"changes": [edit(TEXT + "\nMost.\n")]}).is_success
    expect(mark).not_to_be_checked()
    expect(shown.get_by_text("1 of 2 viewed")).to_be_visible()
    shown.reload()
    expect(shown.get_by_text("1 of 2 viewed")).to_be_visible()
    mark.check()
    expect(shown.get_by_text("2 of 2 viewed")).to_be_visible()
    for one in (shown, other):
        one.context.close()
