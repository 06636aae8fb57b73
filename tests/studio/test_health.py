"""The health of a site in a browser: checking it, fixing and dismissing findings, by pointer and by key."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .test_accessibility import check

TEXT = """Read [the first step](#instal) and [another page](missing.md).

## Install

TODO: write this.
"""


@pytest.fixture(scope="module")
def site(app):
    space = app.fill_space("Guides", ["Start"])
    page = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    change = {"operation": "update_page", "page": page, "document": {"markdown": TEXT}}
    app.call("POST", f"/spaces/{space}/content", {"changes": [change]})
    made = app.call("POST", f"/orgs/{app.organization}/sites", {"title": "Tides", "spaces": [space]})["id"]
    return f"/o/{app.organization}/sites/{made}"


def test_a_site_is_checked_and_its_findings_are_fixed_and_dismissed(app, site):
    page = app.open(f"{site}/~/health")
    expect(page.get_by_role("tab", name="Health")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("No open findings")).to_be_visible()
    page.get_by_role("button", name="Check now").click()
    table = page.get_by_role("table", name="Findings")
    rows = table.get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Link to a missing page")
    check(page)

    page.get_by_role("button", name=re.compile("^Links")).click()
    expect(rows).to_have_count(3)
    page.get_by_role("button", name=re.compile("^Links")).click()
    expect(rows).to_have_count(4)

    filters = page.get_by_role("group", name="Filter")
    filters.get_by_role("searchbox", name="Filter").fill("write this")
    expect(rows).to_have_count(2)
    expect(filters.get_by_role("status")).to_have_text("1 finding")
    filters.get_by_role("searchbox", name="Filter").fill("")
    filters.get_by_label("Type").select_option(label="Link to a missing section")
    expect(rows).to_have_count(2)
    filters.get_by_label("Type").select_option(label="All types")
    expect(rows).to_have_count(4)

    placeholder = rows.filter(has_text="Text is unfinished")
    placeholder.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Ignore on this page").click()
    dialog = page.get_by_role("dialog", name="Ignore this finding on Start?")
    dialog.get_by_label("Reason").fill("The marker is an example.")
    check(page)
    dialog.get_by_role("button", name="Ignore", exact=True).click()
    expect(rows).to_have_count(3)
    page.get_by_role("group", name="Status").get_by_role("button", name="Dismissed").click()
    rows.nth(1).get_by_role("button", name="Ignored on 1 page").click()
    ignored = page.get_by_role("dialog", name="Pages where this finding is ignored")
    expect(ignored.get_by_text("The marker is an example.")).to_be_visible()
    check(page)
    ignored.get_by_role("button", name="Restore").click()
    expect(ignored).to_have_count(0)
    page.get_by_role("group", name="Status").get_by_role("button", name="Open").click()
    expect(rows).to_have_count(4)

    placeholder = rows.filter(has_text="Text is unfinished")
    placeholder.focus()
    page.keyboard.press("d")
    dialog = page.get_by_role("dialog", name="Dismiss this finding?")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("We add it next week.")
    check(page)
    page.keyboard.press("Enter")
    expect(rows).to_have_count(3)
    page.get_by_role("group", name="Status").get_by_role("button", name="Dismissed").click()
    expect(rows.nth(1)).to_contain_text("Dismissed: We add it next week.")
    page.get_by_role("group", name="Status").get_by_role("button", name="Open").click()
    notices = page.get_by_role("region", name="Notifications")
    notices.get_by_role("button", name="Undo").last.click()
    expect(rows).to_have_count(4)

    page.reload()
    tab = page.get_by_role("tab", name="Health")
    expect(tab.locator("[data-drawn]")).to_have_attribute("data-drawn", "3")
    health = page.url
    rows.nth(1).get_by_role("link", name="Start").click()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.wait_for_url("**/~/changes/*/**")
    panel = page.get_by_role("button", name="Side panel")
    if panel.get_attribute("aria-pressed") == "false":
        panel.click()
    beside = page.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(beside).to_have_count(3)
    expect(beside.first).to_contain_text("Link to a missing page")
    check(page)
    beside.filter(has_text="Text is unfinished").get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Dismiss").click()
    dialog.get_by_label("Reason").fill("We add it next week.")
    dialog.get_by_role("button", name="Dismiss", exact=True).click()
    expect(beside).to_have_count(2)
    page.goto(health)
    expect(rows).to_have_count(3)

    page.get_by_role("checkbox", name="Select all findings").check()
    expect(page.get_by_role("toolbar", name="2 selected")).to_be_visible()
    page.get_by_role("checkbox", name="Select all findings").uncheck()
    anchor = rows.filter(has_text="Link to a missing section")
    anchor.focus()
    page.keyboard.press("x")
    bar = page.get_by_role("toolbar", name="1 selected")
    bar.get_by_role("button", name="Fix in one change request").click()
    page.wait_for_url("**/~/changes/*/~/review*")
    expect(page.get_by_text("first step").first).to_be_visible()
    page.goto(health)
    page.get_by_role("group", name="Status").get_by_role("button", name="In progress").click()
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("1 change request")
    page.context.close()


@pytest.mark.parametrize(("look", "width"), [("light", 1280), ("dark", 390)])
def test_findings_are_assigned_to_people_and_teams(app, site, look, width):
    mei = app.colleague("Mei")
    team = app.call("PUT", f"/orgs/{app.organization}/teams", {"title": f"Docs {look}"})["id"]
    page = app.open(f"{site}/~/health", viewport={"width": width, "height": 844}, color_scheme=look)
    page.get_by_role("button", name="Check now").click()
    rows = page.get_by_role("table", name="Findings").get_by_role("row")
    found = rows.filter(has_text="Link to a missing page")
    expect(found).to_have_count(1)
    found.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Assign").click()
    dialog = page.get_by_role("dialog", name="Assign finding")
    field = dialog.get_by_role("combobox", name="Assignee")
    expect(field).to_be_focused()
    page.keyboard.type(f"docs {look}")
    expect(dialog.get_by_role("option", name=f"Docs {look}")).to_be_visible()
    page.keyboard.press("Enter")
    check(page)
    dialog.get_by_role("button", name="Assign", exact=True).click()
    expect(found).to_contain_text(f"Assigned to Docs {look}")

    # Another assignee replaces the first one, for several findings at once.
    found.focus()
    page.keyboard.press("x")
    bar = page.get_by_role("toolbar", name="1 selected")
    bar.get_by_role("button", name="Assign", exact=True).click()
    expect(dialog.get_by_role("button", name=f"Remove Docs {look}")).to_be_visible()
    field.fill("Mei")
    dialog.get_by_role("option", name="Mei").first.click()
    expect(dialog.get_by_role("button", name=re.compile("^Remove"))).to_have_count(1)
    dialog.get_by_role("button", name="Assign", exact=True).click()
    expect(found).to_contain_text("Assigned to Mei")
    check(page)
    filters = page.get_by_role("group", name="Filter")
    filters.get_by_label("Assignee").select_option(label="Assigned to me")
    expect(page.get_by_text("No findings")).to_be_visible()
    filters.get_by_label("Assignee").select_option(label="Any assignee")
    notices = page.get_by_role("region", name="Notifications")
    notices.get_by_role("button", name="Undo").last.click()
    expect(found).to_contain_text(f"Assigned to Docs {look}")
    page.context.close()
    app.call("DELETE", f"/orgs/{app.organization}/teams/{team}")

    inbox = app.open_as(mei, "/~/inbox", color_scheme=look)
    expect(inbox.get_by_text("assigned a finding to you").first).to_be_visible()
    expect(inbox.get_by_text("Link to a missing page: missing.md").first).to_be_visible()
    inbox.context.close()
