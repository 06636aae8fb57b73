"""Account deletion in a browser: one's own account, and another one by the server administrator."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from settled import until

from .conftest import App


@pytest.mark.slow
def test_an_account_is_deleted_after_a_confirmation(app: App) -> None:
    # Who runs the installation does not delete their own account.
    page = app.open("/~/account")
    page.get_by_role("button", name="Delete account").click()
    dialog = page.get_by_role("dialog", name="Delete your account?")
    expect(dialog).to_contain_text("This account is a server administrator.")
    expect(dialog.get_by_role("button", name="Delete permanently")).to_have_count(0)
    dialog.get_by_role("button", name="Cancel").click()

    app.colleague("Leaver")
    page.goto(f"{app.url}/~/installation/people")
    actions = page.get_by_role("button", name="Actions for Leaver")
    actions.click()
    page.get_by_role("menuitem", name="Delete account").click()
    dialog = page.get_by_role("dialog", name="Delete the account leaver@example.com?")
    expect(dialog).to_contain_text("Organizations: 1")
    dialog.get_by_label("Type leaver@example.com to confirm").fill("leaver@example.com")
    dialog.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("Leaver's account deleted")).to_be_visible()
    expect(actions).to_have_count(0)
    page.context.close()


def test_a_server_administrator_changes_deactivates_and_activates_accounts(app: App) -> None:
    app.colleague("Traveler")
    page = app.open("/~/installation/people")

    def choose(action: str) -> None:
        page.get_by_role("button", name="Actions for Traveler").click()
        page.get_by_role("menuitem", name=action).click()

    choose("Change email address")
    dialog = page.get_by_role("dialog", name="Change email address")
    dialog.get_by_label("Email address").fill("moved@example.com")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Email address changed")).to_be_visible()
    expect(page.get_by_text("moved@example.com")).to_be_visible()

    choose("Create sign-in link")
    dialog = page.get_by_role("dialog", name="Create sign-in link")
    dialog.get_by_role("button", name="Create sign-in link").click()
    link = dialog.get_by_label("Sign-in link").input_value()
    dialog.get_by_role("button", name="Close", exact=True).last.click()
    other = app.browser.new_page()
    other.goto(link)
    other.get_by_role("button", name="Sign in").click()
    other.get_by_role("link", name="Not now").click()
    expect(other.get_by_role("navigation", name="Main")).to_be_visible()

    choose("Deactivate account")
    page.get_by_role("dialog").get_by_role("button", name="Deactivate account").click()
    expect(page.get_by_text("Traveler's account deactivated")).to_be_visible()
    other.reload()
    expect(other.get_by_role("button", name="Sign in").first).to_be_visible()
    choose("Reactivate account")
    expect(page.get_by_text("Traveler's account reactivated")).to_be_visible()
    other.close()
    page.context.close()


@pytest.mark.slow
def test_a_deactivated_writer_is_stopped_and_keeps_unsent_text(app: App) -> None:
    app.colleague("Writer")
    space = app.fill_space("Writing", ["Start"])
    admin = app.open("/~/installation/people")

    def choose(action: str) -> None:
        admin.get_by_role("button", name="Actions for Writer").click()
        admin.get_by_role("menuitem", name=action).click()

    def sign_in() -> None:
        choose("Create sign-in link")
        dialog = admin.get_by_role("dialog", name="Create sign-in link")
        dialog.get_by_role("button", name="Create sign-in link").click()
        page.goto(dialog.get_by_label("Sign-in link").input_value())
        dialog.get_by_role("button", name="Close", exact=True).last.click()
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Not now").click()
        page.get_by_role("navigation", name="Main").wait_for()

    def draft() -> str:
        path = f"/spaces/{space}/change-requests/1/content/path/start?format=markdown"
        return str(app.call("GET", path)["markdown"])

    def wait_for(text: str) -> None:
        until(lambda: text in draft())

    page = app.browser.new_page()
    sign_in()
    page.goto(f"{app.url}/s/{space}/start")
    page.get_by_role("heading", name="Start", level=1).wait_for()
    page.keyboard.press("e")
    content = page.get_by_role("textbox", name="Page content")
    content.get_by_text("Words.", exact=True).click()
    page.keyboard.press("End")
    page.keyboard.type(" Sent.")
    wait_for("Words. Sent.")
    place = page.url

    page.context.set_offline(True)
    page.keyboard.type(" Unsent.")
    choose("Deactivate account")
    admin.get_by_role("dialog").get_by_role("button", name="Deactivate account").click()
    expect(admin.get_by_text("Writer's account deactivated")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_role("dialog", name="Your session has expired")).to_be_visible(timeout=60_000)
    expect(content).to_contain_text("Words. Sent. Unsent.")
    page.reload()
    expect(page.get_by_role("button", name="Sign in").first).to_be_visible()
    assert "Unsent" not in draft()

    choose("Reactivate account")
    expect(admin.get_by_text("Writer's account reactivated")).to_be_visible()
    sign_in()
    page.goto(place)
    expect(content).to_contain_text("Words. Sent. Unsent.")
    wait_for("Words. Sent. Unsent.")
    page.close()
    admin.context.close()
