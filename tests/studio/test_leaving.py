"""Account deletion in a browser: one's own account, and another one by the server administrator."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import App


@pytest.mark.slow
def test_an_account_is_deleted_after_it_was_said_what_ends(app: App) -> None:
    # Who runs the installation does not delete their own account.
    page = app.open("/~/account")
    page.get_by_role("button", name="Delete account").click()
    dialog = page.get_by_role("dialog", name="Delete your account?")
    expect(dialog).to_contain_text("This account is a server administrator.")
    expect(dialog.get_by_role("button", name="Delete permanently")).to_have_count(0)
    dialog.get_by_role("button", name="Cancel").click()

    app.colleague("Leaver")
    page.goto(f"{app.url}/~/installation/people")
    page.get_by_role("button", name="Delete Leaver's account").click()
    dialog = page.get_by_role("dialog", name="Delete the account leaver@example.com?")
    expect(dialog).to_contain_text("Organizations: 1")
    dialog.get_by_label("Type leaver@example.com to confirm").fill("leaver@example.com")
    dialog.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("Leaver's account deleted")).to_be_visible()
    expect(page.get_by_role("button", name="Delete Leaver's account")).to_have_count(0)
    page.context.close()
