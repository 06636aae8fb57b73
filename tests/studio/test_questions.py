"""From a question to its answer in browsers: a reader asks, a finding appears, a writer answers it in a change
request, a reviewer approves it, the finding closes, and the reader sees a verified page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .test_accessibility import check

# Ratings of headless browsers don't count.
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
QUESTION = "Where do gherkins grow?"
ANSWER = "# Gherkins\n\nGherkins grow on vines. You can use a trellis.\n"


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
    expect(finding).to_contain_text(QUESTION, timeout=30_000)

    # A writer answers it in a change request, and a reviewer approves it.
    change = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Say where gherkins grow"})
    path = f"/spaces/{space}/change-requests/{change['id']}"
    insert = {"operation": "insert_page", "document": {"markdown": ANSWER}}
    app.call("POST", f"{path}/content", {"changes": [insert]})
    app.call("PATCH", path, {"status": "open"})
    reviewer = app.open_as(
        app.colleague("Ravi", "review"), f"/s/{space}/~/changes/{change['number']}/~/review"
    )
    expect(reviewer.get_by_role("main")).to_contain_text("You can use a trellis")
    reviewer.get_by_role("button", name="Finish review").click()
    reviewer.get_by_role("menuitem", name="Approve").click()
    expect(reviewer.get_by_text("You approved #")).to_be_visible()
    reviewer.context.close()
    app.call("POST", f"{path}/merge")
    written = app.call("GET", f"/spaces/{space}/content/pages")["pages"][-1]
    assert written["title"] == "Gherkins"
    app.call("POST", f"/spaces/{space}/content/page/{written['id']}/verify")

    # The next check closes the finding, and finds no words that the style guide avoids.
    page.get_by_role("button", name="Check now").click()
    expect(finding).to_have_count(0, timeout=30_000)
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
