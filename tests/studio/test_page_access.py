"""Restricting a page in the app, and what others see of it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def space(app):
    return app.fill_space("People", ["Start", ("Salaries", ["Bands"])])


def test_a_page_is_restricted_to_chosen_people(app, space):
    ada, bob = app.colleague("Ada"), app.colleague("Bob")
    page = app.open(f"/s/{space}/salaries")
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Who can see this…").click()
    dialog = page.get_by_role("dialog", name="Who can see “Salaries”")
    dialog.get_by_role("button", name="Only people you choose").click()
    dialog.get_by_role("combobox", name="People and teams").fill("Ada")
    page.get_by_role("option", name="Ada").click()
    assert Axe().run(page).response["violations"] == []
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("treeitem", name="Salaries")).to_have_attribute("aria-description", "restricted")
    expect(page.get_by_text("restricted", exact=True)).to_be_visible()

    hers = app.open_as(ada, f"/s/{space}/salaries/bands")
    expect(hers.get_by_role("heading", name="Bands", level=1)).to_be_visible()
    his = app.open_as(bob, f"/s/{space}/salaries/bands")
    expect(his.get_by_role("heading", name="Page not found")).to_be_visible()
    expect(his.get_by_role("treeitem", name="Start")).to_be_visible()
    expect(his.get_by_role("treeitem", name="Salaries")).to_have_count(0)
    for one in (page, hers, his):
        one.context.close()
