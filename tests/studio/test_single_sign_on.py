"""Signing in by OpenID Connect and proving domains, in a real browser: with a provider and a name server that answer,
and with ones that do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from name_server import NameServer
from serving import free_ports

from .conftest import App, opened

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with NameServer().running() as found:
        yield found


@pytest.fixture(scope="module")
def port() -> int:
    """Return the port of the provider, once it runs."""
    (found,) = free_ports(1)
    return found


@contextmanager
def provider(port: int) -> Iterator[None]:
    import oidc_provider_mock  # takes a second

    with oidc_provider_mock.run_server_in_thread(port):
        mei = {"email": "mei@harbour.example", "email_verified": True, "name": "Mei Tanaka"}
        httpx.put(f"http://localhost:{port}/users/mei", json=mei).raise_for_status()
        yield


@pytest.fixture(scope="module")
def app(
    tmp_path_factory: pytest.TempPathFactory, browser: Any, names: NameServer, port: int
) -> Iterator[App]:
    host = f"localhost:{port}"
    with opened(
        tmp_path_factory.mktemp("single") / "data",
        browser,
        OCTAVO_DNS_SERVERS=names.address,
        OCTAVO_OIDC_ISSUER=f"http://{host}",
        OCTAVO_OIDC_CLIENT_ID="octavo",
        OCTAVO_OIDC_CLIENT_SECRET="secret",
        OCTAVO_OIDC_LABEL="Harbour",
        OCTAVO_ALLOW_PRIVATE_FETCH=host,
    ) as found:
        yield found


def test_an_unavailable_provider_is_reported(app: App) -> None:
    page = app.watch(app.browser.new_context())
    page.goto(f"{app.url}/sign-in")
    page.get_by_label("Email").first.fill("mei@harbour.example")
    page.keyboard.press("Tab")
    page.get_by_role("link", name=re.compile("Harbour")).or_(
        page.get_by_role("button", name=re.compile("Harbour"))
    ).first.click()
    expect(page.get_by_text("You aren't signed in")).to_be_visible()
    page.context.close()


def test_a_provider_is_added_and_a_member_signs_in(app: App, names: NameServer, port: int) -> None:
    # The server administrator verifies domains without the DNS record.
    page = app.open_as(app.colleague("Hana", "admin"), f"/o/{app.organization}/~/members/sign-in")
    page.get_by_label("Email domains").fill("harbour.example")
    page.get_by_label("Role for people who join on their own").select_option("Editor")
    page.get_by_role("button", name="Save", exact=True).click()
    domain = page.get_by_role("region", name="harbour.example")
    check = domain.get_by_role("button", name="Verify domain harbour.example")
    names.silent = True
    check.click()
    expect(domain.get_by_role("status")).to_contain_text("Querying the name servers")
    expect(domain.get_by_role("alert")).to_be_visible()
    names.silent = False
    check.click()
    expect(domain.get_by_role("status")).to_contain_text("Record not found yet")
    record = {name: domain.get_by_role("textbox", name=name).input_value() for name in ("Name", "Value")}
    names.texts[record["Name"]] = [record["Value"]]
    check.click()
    expect(domain).to_contain_text("Verified")

    openid = page.get_by_role("region", name="OpenID Connect")
    expect(openid).to_contain_text("Active")
    start = openid.get_by_role("link", name="Test sign-in with Harbour").get_attribute("href")
    mei = app.watch(app.browser.new_context(viewport={"width": 1440, "height": 900}))
    with provider(port):
        mei.goto(start)
        mei.locator("input[name=sub]").fill("mei")
        mei.get_by_role("button").first.click()
        expect(mei.get_by_role("heading", name="You're not a member of an organization yet")).to_be_visible()
    mei.get_by_role("main").get_by_role("button", name=re.compile("^Join ")).click()
    expect(
        mei.get_by_role("navigation", name="Main").get_by_role("link", name="Octavo manual").first
    ).to_be_visible()
    page.get_by_role("tab", name="Members").click()
    expect(page.get_by_text("Mei Tanaka")).to_be_visible()
    for one in (page, mei):
        one.context.close()
