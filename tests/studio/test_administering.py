"""Administering an organization in a browser, walked by role and name."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_people_are_invited_and_given_another_role(app):
    page = app.open(f"/o/{app.organization}/~/members")
    expect(page.get_by_role("heading", name="Members and access", level=1)).to_have_count(1)
    for name in ("Members", "Guests", "Teams", "Invitations", "Sign-in"):
        expect(page.get_by_role("tab", name=name, exact=True)).to_have_count(1)
    members = page.get_by_role("list", name="Members")
    expect(members.get_by_role("listitem")).to_have_count(1)
    # The last administrator stays one, and the server says so.
    page.get_by_role("button", name="Role of").click()
    page.get_by_role("menuitemradio", name="Reader").click()
    notices = page.get_by_role("region", name="Notifications")
    expect(notices).to_contain_text("administrator")
    expect(page.get_by_role("button", name="Role of")).to_contain_text("Administrator")
    page.get_by_role("searchbox", name="Find a person").fill("nobody at all")
    page.get_by_text("Nobody matches “nobody at all”").wait_for()

    page.get_by_role("tab", name="Invitations", exact=True).click()
    page.get_by_text("No invitations are open").wait_for()
    page.get_by_role("button", name="Invite people", exact=True).click()
    dialog = page.get_by_role("dialog", name="Invite people")
    field = dialog.get_by_label("E-mail addresses")
    field.fill("not an address")
    dialog.get_by_role("button", name="Send invitations").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile(r"emails\[0\]: "))
    field.fill("mei@example.com, tomas@example.com")
    dialog.get_by_role("button", name="Send invitations").click()
    dialog.get_by_role("button", name="Done").click()
    listed = page.get_by_role("list", name="Invitations")
    expect(listed.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="Withdraw the invitation of mei@example.com").click()
    expect(listed.get_by_role("listitem")).to_have_count(1)
    page.context.close()


def test_a_team_is_made_and_deleted(app):
    page = app.open(f"/o/{app.organization}/~/members/teams")
    page.get_by_role("button", name="New team").click()
    dialog = page.get_by_role("dialog", name="New team")
    dialog.get_by_label("Title").fill("Maintainers")
    dialog.get_by_role("button", name="Create team").click()
    teams = page.get_by_role("list", name="Teams")
    expect(teams.get_by_text("Maintainers")).to_be_visible()
    page.get_by_role("button", name="Actions for Maintainers").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete team").click()
    page.get_by_text("No teams yet").wait_for()
    page.context.close()


def test_an_email_domain_shows_what_proves_it(app):
    page = app.open(f"/o/{app.organization}/~/members/sign-in")
    page.get_by_label("E-mail domains").fill("tidewater.example")
    page.get_by_role("button", name="Save", exact=True).click()
    domain = page.get_by_role("region", name="tidewater.example")
    expect(domain.get_by_text("Not proved yet")).to_be_visible()
    expect(domain.get_by_label("Value", exact=True)).not_to_have_value("")
    page.context.close()
