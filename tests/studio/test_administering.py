"""Administering an organization in a browser, walked by role and name."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect


def test_people_are_invited_and_get_another_role(app):
    page = app.open(f"/o/{app.organization}/~/members")
    expect(page.get_by_role("heading", name="Members and access", level=1)).to_have_count(1)
    for name in ("Members", "Guests", "Teams", "Invitations", "Sign-in"):
        expect(page.get_by_role("tab", name=name, exact=True)).to_have_count(1)
    members = page.get_by_role("list", name="Members")
    expect(members.get_by_role("listitem")).to_have_count(1)
    # The last administrator stays one, and the server says so.
    page.get_by_role("button", name="Role for").click()
    page.get_by_role("menuitemradio", name="Reader").click()
    notices = page.get_by_role("region", name="Notifications")
    expect(notices).to_contain_text("administrator")
    expect(page.get_by_role("button", name="Role for")).to_contain_text("Administrator")
    page.get_by_role("searchbox", name="Find a person").fill("nobody at all")
    page.get_by_text("No one matches “nobody at all”").wait_for()

    page.get_by_role("tab", name="Invitations", exact=True).click()
    page.get_by_text("No pending invitations").wait_for()
    page.get_by_role("button", name="Invite someone", exact=True).click()
    dialog = page.get_by_role("dialog", name="Invite people")
    field = dialog.get_by_label("Email addresses")
    field.fill("not an address")
    dialog.get_by_role("button", name="Send invitations").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile(r"emails\[0\]: "))
    field.fill("mei@example.com, tomas@example.com")
    dialog.get_by_role("button", name="Send invitations").click()
    dialog.get_by_role("button", name="Done").click()
    listed = page.get_by_role("list", name="Invitations")
    expect(listed.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="Revoke the invitation for mei@example.com").click()
    expect(listed.get_by_role("listitem")).to_have_count(1)
    page.context.close()


@pytest.mark.slow
def test_a_team_is_created_and_deleted(app):
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


@pytest.mark.slow
def test_an_email_domain_shows_its_dns_record(app):
    page = app.open(f"/o/{app.organization}/~/members/sign-in")
    page.get_by_label("Email domains").fill("tidewater.example")
    page.get_by_role("button", name="Save", exact=True).click()
    domain = page.get_by_role("region", name="tidewater.example")
    expect(domain.get_by_text("Not verified")).to_be_visible()
    expect(domain.get_by_label("Value", exact=True)).not_to_have_value("")
    page.context.close()


@pytest.mark.slow
def test_access_is_explained_and_previewed_as_a_person(app):
    collection = app.call("POST", f"/orgs/{app.organization}/collections", {"title": "Operations"})["id"]
    space = app.create_space("Runbooks", parent=collection)
    app.create_space("Handbook")
    mei = app.colleague("Mei").get("/user").json()["id"]
    team = app.call("PUT", f"/orgs/{app.organization}/teams", {"title": "On call", "members": [mei]})["id"]
    app.call("POST", f"/collections/{collection}/permissions", {"role": "comment", "teams": [team]})
    page = app.open(f"/o/{app.organization}/~/members")
    page.get_by_role("link", name="Mei", exact=True).click()
    panel = page.get_by_role("complementary", name="Member access")
    expect(panel.get_by_role("heading", name="Mei's access")).to_be_visible()
    spaces = panel.get_by_role("list", name="Spaces", exact=True)
    expect(spaces.get_by_role("listitem").filter(has_text="Runbooks")).to_contain_text(
        "Through On call in Operations"
    )
    spaces.get_by_role("button", name="Runbooks").click()
    reasons = panel.get_by_role("list", name="Source of Mei's role").get_by_role("listitem")
    expect(reasons).to_have_count(3)
    expect(reasons.nth(1)).to_contain_text("in effect")
    expect(reasons.nth(2)).to_contain_text("overridden")
    # The place itself is nearer than the collection; undone, the collection decides again.
    panel.get_by_role("button", name="Change role for Mei").click()
    page.get_by_role("menuitemradio", name="No access").click()
    expect(reasons.nth(0)).to_contain_text("No access for Mei")
    expect(reasons.nth(0)).to_contain_text("in effect")
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(reasons.nth(1)).to_contain_text("in effect")

    panel.get_by_role("link", name="View as Mei").click()
    expect(page.get_by_role("heading", name="View as Mei", level=1)).to_be_visible()
    theirs = page.get_by_role("navigation", name="Mei's navigation")
    theirs.get_by_role("button", name="Spaces in Operations").click()
    theirs.get_by_role("link", name="Runbooks").click()
    seen = page.get_by_role("region", name="Runbooks")
    expect(seen.get_by_text("Commenter ·")).to_be_visible()
    expect(seen.get_by_text("Can't edit")).to_be_visible()

    page.goto(f"{app.url}/s/{space}/~/settings/members")
    page.get_by_role("button", name="why Mei has this role").click()
    dialog = page.get_by_role("dialog", name="Why Mei has this role")
    expect(dialog.get_by_role("listitem").nth(1)).to_contain_text("Team On call: Commenter")
    page.context.close()


def test_server_administrators_see_contents_and_failures(app):
    page = app.open("/~/installation")
    expect(page.get_by_role("heading", name="Server administration", level=1)).to_have_count(1)
    found = page.get_by_role("list", name="Results")
    expect(found.get_by_role("listitem").filter(has_text="Database")).to_contain_text("Working")
    expect(page.get_by_role("heading", name="Octavo is running normally")).to_be_visible()
    page.get_by_role("button", name="Send me a test email").click()
    expect(page.get_by_role("alert")).to_have_text(
        "This server can't send email, because OCTAVO_SMTP_URL isn't set. Set it, and restart Octavo."
    )
    for card in ("Health", "Jobs", "Version", "Storage", "Last successful backup", "Announcement"):
        expect(page.get_by_role("region", name=card, exact=True)).to_be_visible()
    page.get_by_role("tab", name="Organizations").click()
    page.get_by_role("searchbox", name="Find an organization").fill("nothing like it")
    page.get_by_text("No results for “nothing like it”").wait_for()
    page.get_by_role("tab", name="People").click()
    people = page.get_by_role("list", name="People")
    expect(people.get_by_role("listitem").filter(has_text="ines.okafor")).to_contain_text(
        "Server administrator"
    )
    page.get_by_role("tab", name="Jobs").click()
    page.get_by_role("button", name="Failed").click()
    page.get_by_text("No failed jobs").wait_for()
    page.context.close()


def test_server_administrators_merge_accounts_and_add_administrators(app):
    for name in ("Noor", "Noor Private"):
        app.colleague(name, "edit")
    page = app.open("/~/installation/people")
    people = page.get_by_role("list", name="People")
    people.get_by_role("button", name="Actions for Noor Private").click()
    page.get_by_role("menuitem", name="Merge into another account").click()
    dialog = page.get_by_role("dialog", name="Merge Noor Private's account")
    field = dialog.get_by_label("Email address of the account to keep")
    field.fill("nobody@example.com")
    dialog.get_by_role("button", name="Merge accounts").click()
    expect(field).to_have_accessible_description(re.compile("No account has this email address"))
    kept = app.colleague("Noor").get("/user").json()["email"]
    field.fill(kept)
    dialog.get_by_role("button", name="Merge accounts").click()
    expect(people.get_by_text("Noor Private")).to_have_count(0)

    page.get_by_role("tab", name="Organizations").click()
    page.get_by_role("button", name="Actions for").first.click()
    page.get_by_role("menuitem", name="Add administrator").click()
    dialog = page.get_by_role("dialog", name="Add administrator")
    dialog.get_by_label("Email address").fill(kept)
    dialog.get_by_role("button", name="Add administrator").click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("Noor is now an administrator")
    page.context.close()


@pytest.mark.slow
def test_people_join_a_team_by_a_link_and_through_a_provider(app):
    app.colleague("Tomas")
    app.call("PUT", f"/orgs/{app.organization}/teams", {"title": "Platform"})
    page = app.open(f"/o/{app.organization}/~/members/teams")
    page.get_by_role("link", name="Platform").click()
    panel = page.get_by_role("complementary", name="Team", exact=True)
    panel.get_by_role("combobox", name="Add people").fill("tom")
    panel.get_by_role("option", name=re.compile("Tomas")).click()
    panel.get_by_role("button", name="Add to team").click()
    people = panel.get_by_role("list", name="Members of Platform")
    expect(people.get_by_text("Tomas", exact=True)).to_be_visible()
    panel.get_by_role("button", name="Actions for Tomas").click()
    page.get_by_role("menuitem", name="Make team owner").click()
    expect(people).to_contain_text("Can manage members")
    panel.get_by_role("button", name="Actions for Tomas").click()
    page.get_by_role("menuitem", name="Remove from team").click()
    panel.get_by_text("No members in this team yet").wait_for()
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").last.click()
    expect(people).to_contain_text("Can manage members")
    panel.get_by_role("link", name="Close").click()
    row = page.get_by_role("list", name="Teams").get_by_role("listitem").filter(has_text="Platform")
    expect(row).to_contain_text("1 member")

    app.call("PATCH", f"/orgs/{app.organization}", {"inviteLinks": True})
    page.goto(f"{app.url}/o/{app.organization}/~/members/invitations")
    page.get_by_role("button", name="New link").click()
    link = page.get_by_role("list", name="Invite links").get_by_role("textbox")
    expect(link).to_have_value(re.compile(r"/invitation\?organization=\w+&secret=[\w-]+"))
    page.get_by_role("button", name=re.compile("Actions for the link to")).click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.get_by_text("No invite links yet").wait_for()

    page.get_by_role("tab", name="Sign-in").click()
    page.get_by_role("button", name="Add identity provider").click()
    dialog = page.get_by_role("dialog", name="Add identity provider")
    dialog.get_by_label("Display name").fill("Tidewater")
    dialog.get_by_label("Provider sign-in URL").fill("no address")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Provider sign-in URL")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Provider sign-in URL").fill("https://idp.example.com/sso")
    dialog.get_by_role("button", name="Save").click()
    provider = page.get_by_role("region", name="Tidewater", exact=True)
    expect(provider.get_by_text("Incomplete")).to_be_visible()
    expect(provider.get_by_role("textbox", name="ACS URL")).to_have_value(re.compile("/acs$"))
    page.get_by_role("button", name="Actions for Tidewater").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(provider).to_have_count(0)

    page.get_by_role("button", name=re.compile("^Organization: ")).click()
    page.get_by_role("menuitem", name="New organization").click()
    dialog = page.get_by_role("dialog", name="New organization")
    # 500 characters are refused at the field, and nothing that was typed is lost.
    long = "مكتب " * 100
    dialog.get_by_label("Organization name").fill(long)
    dialog.get_by_role("button", name="Create organization").click()
    expect(dialog.get_by_label("Organization name")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("Organization name")).to_have_value(long)
    dialog.get_by_label("Organization name").fill("Second")
    dialog.get_by_role("button", name="Create organization").click()
    expect(page.get_by_role("button", name="Organization: Second")).to_be_visible()
    page.context.close()
