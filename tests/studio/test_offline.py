"""The app is installable, and recently opened pages can be read without a connection, by their reader alone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import App

KEPT = """async () => (await Promise.all((await caches.keys()).filter((one) => one === "octavo-pages").map(
  async (one) => (await (await caches.open(one)).keys()).map(({ url }) => new URL(url).pathname)
))).flat()"""

_STABLE = """async () => {
  const names = ["octavo-files", "octavo-pages"];
  const keys = await Promise.all(names.map(async (one) => (await caches.open(one)).keys()));
  const counts = keys.map((some) => some.length).join();
  if (counts !== window.counts) [window.counts, window.since] = [counts, performance.now()];
  return keys.every((some) => some.length > 5) && performance.now() - window.since > 2000;
}"""
"""Whether all files and responses are stored: no more were added for two seconds."""


def _read(page: Any) -> None:
    """Wait until a page and the app's files are kept."""
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    page.wait_for_function(_STABLE, polling=100)


@pytest.fixture(scope="module")
def space(app: App) -> str:
    return app.fill_space("Offline", ["Start", "Never opened"])


def test_the_manifest_offers_to_install_the_app(app: App) -> None:
    page = app.open("/", service_workers="allow")
    address = page.locator('link[rel="manifest"]').get_attribute("href")
    answer = page.request.get(f"{app.url}{address}")
    told = answer.json()
    assert answer.headers["content-type"].startswith("application/manifest+json")
    assert told["display"] == "standalone" and told["start_url"] == told["scope"] == "/" and told["icons"]
    assert page.request.get(f"{app.url}{told['icons'][0]['src']}").ok
    page.context.close()


def test_opened_pages_are_read_without_a_connection(app: App, space: str) -> None:
    page = app.open(f"/s/{space}/start", service_workers="allow")
    page.get_by_role("heading", name="First part").wait_for()
    _read(page)
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("heading", name="First part")).to_be_visible()
    expect(page.get_by_text("You're offline.")).to_be_visible()
    page.context.set_offline(False)
    page.context.close()


def test_signing_out_deletes_kept_pages(app: App, space: str) -> None:
    reader = app.colleague("Olga", role="read")
    page = app.open_as(reader, f"/s/{space}/start", service_workers="allow")
    page.get_by_role("heading", name="First part").wait_for()
    _read(page)
    page.wait_for_function(f"async () => (await ({KEPT})()).some((path) => path.includes('start'))")
    page.get_by_role("button", name="Olga").click()
    page.get_by_role("menuitem", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    page.wait_for_function(f"async () => !(await ({KEPT})()).length")
    page.context.close()


def test_another_person_finds_nothing(app: App, space: str) -> None:
    page = app.open_as(app.colleague("Pia", role="read"), f"/s/{space}/start", service_workers="allow")
    page.get_by_role("heading", name="First part").wait_for()
    _read(page)
    other = app.colleague("Quinn", role="read")
    page.context.set_extra_http_headers({"authorization": other.headers["authorization"]})
    page.goto(f"{app.url}/~/account")
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_function(f"async () => !(await ({KEPT})()).some((path) => path.includes('start'))")
    page.context.close()


def test_pages_that_are_closed_to_their_reader_are_deleted(app: App) -> None:
    space = app.fill_space("Closing", ["Start"])
    page = app.open_as(app.colleague("Rosa", role="read"), f"/s/{space}/start", service_workers="allow")
    page.get_by_role("heading", name="First part").wait_for()
    _read(page)
    page.wait_for_function(f"async () => (await ({KEPT})()).some((path) => path.includes('{space}'))")
    app.call("PATCH", f"/spaces/{space}", {"defaultLevel": None})
    page.goto(f"{app.url}/~/account")
    page.wait_for_function(f"async () => !(await ({KEPT})()).some((path) => path.includes('{space}'))")
    page.context.close()
