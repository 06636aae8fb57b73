"""Setup by a new administrator without the manual: single sign-on, two teams, three spaces, and a site
whose visitors sign in; in a real browser, with an identity provider that runs."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from playwright.sync_api import expect

from identity_providers import Provider, pysaml2_provider

from .conftest import App

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with pysaml2_provider(tmp_path_factory.mktemp("provider")) as found:
        yield found


def test_a_new_organization_publishes_a_private_site(app: App, provider: Provider) -> None:
    page = app.open(f"/o/{app.organization}/~/members/teams")
    for title in ("Writers", "Support"):
        page.get_by_role("button", name="New team").click()
        page.get_by_role("dialog").get_by_label("Title").fill(title)
        page.get_by_role("button", name="Create team").click()
        expect(page.get_by_role("list", name="Teams").get_by_text(title)).to_be_visible()

    # The provider gets the data of Octavo first, and Octavo those of the provider afterward.
    page.get_by_role("tab", name="Sign-in").click()
    expect(page.get_by_role("region", name="OpenID Connect")).to_contain_text("Not set up")
    page.get_by_role("button", name="Add identity provider").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Display name").fill("Harbour")
    dialog.get_by_role("button", name="Save").click()
    card = page.get_by_role("region", name="Harbour", exact=True)
    expect(card.get_by_text("Incomplete")).to_be_visible()
    metadata = card.get_by_role("textbox", name="Octavo entity ID (audience)").input_value()
    provider.trust(httpx.get(metadata).content)
    card.get_by_role("button", name="Actions for Harbour").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog.get_by_label("Provider entity ID").fill(provider.entity_id)
    dialog.get_by_label("Provider sign-in URL").fill(provider.sso_url)
    dialog.get_by_label("Provider certificate").fill(provider.certificate)
    dialog.get_by_label("Team for new members").select_option("Writers")
    dialog.get_by_label("Role for new members").select_option("Editor")
    dialog.get_by_role("button", name="Save").click()
    expect(card.get_by_text("Active")).to_be_visible()
    start = card.get_by_role("textbox", name="Sign-in start URL").input_value()

    for title in ("Handbook", "Runbooks", "Plans"):
        page.goto(app.url)
        page.get_by_role("button", name="New space or collection").click()
        page.get_by_role("menuitem", name="New space").click()
        name = page.get_by_label("Space name")
        name.fill(title)
        name.press("Enter")
        expect(page.get_by_role("button", name=f"Space: {title}")).to_be_visible()
    page.goto(app.url)
    main = page.get_by_role("navigation", name="Main")
    for title in ("Handbook", "Runbooks", "Plans"):
        expect(main.get_by_role("link", name=title, exact=True)).to_be_visible()

    # Mei comes through the provider, is in the team, and writes the first page.
    assert provider.who is not None
    provider.who.update(name_id="mei-1", attributes={"mail": ["mei@harbour.example"]})
    mei = app.watch(app.browser.new_context(viewport={"width": 1440, "height": 900}))
    mei.goto(start)
    mei.get_by_role("navigation", name="Main").get_by_role("link", name="Handbook", exact=True).click()
    mei.get_by_role("button", name="Start writing").click()
    mei.get_by_role("textbox", name="Title").fill("Welcome")
    body = mei.get_by_role("textbox", name="Page content")
    body.click()
    mei.keyboard.type("For those inside.")
    expect(mei.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    mei.get_by_role("button", name="Request review").click()
    mei.get_by_role("dialog").get_by_role("button", name="Request review").click()
    expect(mei.get_by_text("is ready for review")).to_be_visible()
    page.goto(mei.url)
    page.get_by_role("tab", name="Review").click()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged “")).to_be_visible()
    page.goto(f"{app.url}/o/{app.organization}/~/members/teams")
    row = page.get_by_role("list", name="Teams").get_by_role("listitem").filter(has_text="Writers")
    expect(row).to_contain_text("1 member")

    page.get_by_role("button", name="New site").click()
    dialog = page.get_by_role("dialog", name="New site")
    dialog.get_by_label("Title").fill("Inside")
    dialog.get_by_label("Handbook").check()
    dialog.get_by_label("Authenticated visitors").check()
    dialog.get_by_role("button", name="Create site").click()
    expect(page.get_by_role("heading", name="Inside", level=1)).to_have_count(1)
    page.get_by_role("tab", name="Audience").click()
    expect(page.get_by_role("link", name="Visitor authentication integrations")).to_be_visible()
    page.get_by_role("button", name="Show key").click()
    key = page.get_by_role("textbox", name="Key", exact=True).input_value()
    page.get_by_role("button", name="Publish…").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("tab", name="Overview").click()
    address = page.get_by_role("textbox", name="URL", exact=True).input_value()
    assert "For those inside." not in httpx.get(address, follow_redirects=True).text
    token = jwt.encode({"alg": "HS256"}, {"exp": 4_000_000_000}, OctKey.import_key(key))
    visitor = app.watch(app.browser.new_context())
    visitor.goto(f"{address}?jwt_token={token}")
    expect(visitor.get_by_text("For those inside.")).to_be_visible()
    for one in (page, mei, visitor):
        one.context.close()
