"""From a question to its answer in browsers: a reader asks, a finding appears, a writer answers it in a change
request and follows the style guide, a reviewer merges it, the finding closes, and the reader sees a verified page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .test_accessibility import check

# Ratings of headless browsers don't count.
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
QUESTION = "Where do gherkins grow?"


@pytest.mark.slow
def test_a_question_of_a_reader_becomes_a_verified_page(app):
    space = app.fill_space("Garden", ["Start"])
    sites = f"/orgs/{app.organization}/sites"
    made = app.call("POST", sites, {"title": "Garden", "spaces": [space]})["id"]
    guide = app.call("POST", f"{sites}/{made}/styleguide", {"template": "plain-english"})["id"]
    assert guide != space
    app.call("PUT", f"{sites}/{made}/customization", {"ai": {"mode": "assistant"}})
    published = app.call("POST", f"{sites}/{made}/publish")["urls"]["published"]
    site = f"/o/{app.organization}/sites/{made}/~"
    rule = {"rule": "require_style_guide", "level": "suggestion"}
    app.call("PATCH", f"/spaces/{space}", {"mergeRules": {"type": "rules", "rules": [rule]}})

    # A reader asks, gets no answer, and says so.
    reader = app.watch(app.browser.new_context(user_agent=FIREFOX))
    reader.goto(f"{published}?ask={QUESTION.replace(' ', '+')}")
    asked = reader.get_by_role("dialog")
    expect(asked.get_by_text("Nothing in the documentation")).to_be_visible()
    asked.get_by_role("group", name="Was this answer helpful?").get_by_role("button", name="No").click()
    expect(asked.get_by_text("Thanks for your feedback.")).to_be_visible()

    # The question is listed, and a check makes it a finding.
    page = app.open(f"{site}/questions")
    row = page.get_by_role("row").filter(has_text=QUESTION)
    expect(row).to_contain_text("Not answered")
    expect(row).to_contain_text("1 not helpful")
    row.get_by_role("button", name=QUESTION).press("Enter")
    expect(page.get_by_text("No page answers this question yet.")).to_be_visible()
    check(page)
    page.goto(f"{app.url}{site}/health")
    page.get_by_role("button", name="Check now").click()
    findings = page.get_by_role("table", name="Findings").get_by_role("row")
    finding = findings.filter(has_text="Question without an answer")
    expect(finding).to_contain_text(QUESTION)

    # A writer answers it in a change request, with a word that the style guide avoids. The reviewer sees that.
    change = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Say where gherkins grow"})
    path = f"/spaces/{space}/change-requests/{change['id']}"
    insert = {
        "operation": "insert_page",
        "title": "Gherkins",
        "document": {"markdown": "Gherkins grow here."},
    }
    app.call("POST", f"{path}/content", {"changes": [insert]})
    draft = f"/s/{space}/~/changes/{change['number']}"
    writer = app.open_as(app.colleague("Mei"), f"{draft}/gherkins")
    body = writer.get_by_role("textbox", name="Page content")
    body.get_by_text("Gherkins grow here.").click()
    writer.keyboard.press("Control+a")
    writer.keyboard.type("Gherkins grow on vines. You can utilize a trellis.")
    expect(body.locator(".fault")).to_have_text(["utilize"])
    expect(writer.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    writer.get_by_role("button", name="Request review").click()
    writer.get_by_role("dialog").get_by_role("button", name="Request review").click()
    expect(writer.get_by_text("is ready for review")).to_be_visible()
    reviewer = app.open_as(app.colleague("Ravi", "review"), f"{draft}/~/review")
    rule_shown = reviewer.get_by_role("listitem").filter(has_text="New text follows the style guide")
    expect(rule_shown).to_contain_text(": not met")
    expect(reviewer.get_by_text("Gherkins (Use the short word: ").first).to_be_attached()
    check(reviewer)

    # The writer fixes it.
    writer.goto(f"{app.url}{draft}/gherkins")
    expect(body.locator(".fault")).to_have_text(["utilize"])
    body.get_by_text("Gherkins grow on vines.").click()
    writer.keyboard.press("Control+.")
    box = writer.get_by_role("dialog", name="Use the short word")
    expect(box).to_contain_text("Use ‘use’ instead of ‘utilize’.")
    writer.keyboard.press("Enter")
    expect(body.get_by_text("You can use a trellis.")).to_be_visible()
    expect(body.locator(".fault")).to_have_count(0)
    with writer.expect_response(lambda answer: answer.url.endswith("/live/save") and answer.ok):
        writer.keyboard.press("Control+s")

    # The reviewer sees that the new text follows the style guide, and approves and merges it.
    reviewer.reload()
    expect(reviewer.get_by_role("main")).to_contain_text("You can use a trellis")
    expect(rule_shown).to_contain_text(": met")
    reviewer.get_by_role("button", name="Finish review").click()
    reviewer.get_by_role("menuitem", name="Approve").click()
    expect(reviewer.get_by_text("You approved #")).to_be_visible()
    reviewer.get_by_role("button", name="Merge", exact=True).click()
    expect(reviewer.get_by_text("Merged “Say where gherkins grow”")).to_be_visible()
    reviewer.context.close()

    # The writer states that the page is correct.
    writer.goto(f"{app.url}/s/{space}/gherkins")
    writer.get_by_role("button", name="Page actions").click()
    writer.get_by_role("menuitem", name="Verify page").click()
    expect(writer.get_by_text(re.compile("^Verified .* by Mei$"))).to_be_visible()
    writer.context.close()

    # The next check closes the finding, and finds no words that the style guide avoids.
    page.get_by_role("button", name="Check now").click()
    expect(finding).to_have_count(0)
    expect(findings.filter(has_text="utilize")).to_have_count(0)
    page.get_by_role("group", name="Status").get_by_role("button", name="Resolved").click()
    expect(finding).to_be_visible()
    page.context.close()

    # The reader gets the answer, from a page that is verified.
    reader.goto(f"{published}?ask={QUESTION.replace(' ', '+')}")
    expect(reader.get_by_role("dialog").get_by_text("Gherkins grow on vines.")).to_be_visible()
    reader.goto(f"{published}gherkins")
    expect(reader.get_by_text("Verified")).to_be_visible()
    reader.context.close()


@pytest.mark.slow
@pytest.mark.parametrize(("look", "width"), [("light", 1280), ("dark", 390)])
def test_records_of_a_topic_are_listed(app, look, width):
    space = app.fill_space(f"Garden {look}", ["Start"])
    sites = f"/orgs/{app.organization}/sites"
    site = app.call("POST", sites, {"title": "Garden", "spaces": [space]})["id"]
    for question in (QUESTION, "Which gherkins taste sour?", "Who sells gherkins?"):
        body = {"question": question, "scope": {"mode": "all"}}
        assert app.colleague("Mei").post(f"{sites}/{site}/ask", json=body).is_success
    ticket = {"id": "T-1", "type": "ticket", "title": "Gherkins by mail", "body": ""}
    app.call("PUT", f"{sites}/{site}/context-records", [ticket])
    page = app.open(
        f"/o/{app.organization}/sites/{site}/~/health",
        viewport={"width": width, "height": 844},
        color_scheme=look,
    )
    page.get_by_role("button", name="Check now").click()
    findings = page.get_by_role("table", name="Findings").get_by_role("row")
    expect(findings.filter(has_text="Question without an answer").first).to_be_visible()
    page.goto(f"{app.url}/o/{app.organization}/sites/{site}/~/questions")
    page.get_by_label("Topic").select_option(label="Gherkins")
    page.get_by_role("button", name="1 record").press("Enter")
    dialog = page.get_by_role("dialog", name="Gherkins")
    expect(dialog.get_by_text("Gherkins by mail")).to_be_visible()
    check(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="1 record")).to_be_focused()
    page.context.close()
