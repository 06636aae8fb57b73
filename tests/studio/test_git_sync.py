"""Git sync of a space in a browser, operated by role and name.

The repository is a folder that isn't allowed here: the error of the server is shown at its field. The server has an app
at a local GitHub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from gitsync.app_server import APP_ID, CLIENT_SECRET, KEY, AppServer
from gitsync.developers import Developer
from gitsync.servers import http_server
from studio.conftest import App, opened


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("github")
    (folder / "acme").mkdir()
    Developer(folder / "acme" / "docs.git").commit({"README.md": "# Home\n"})
    provider = AppServer()
    with http_server(folder, None, provider) as server:
        provider.url = server.url
        yield provider


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, browser: Any, github: AppServer) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("studio")
    key = folder / "app.pem"
    key.write_bytes(KEY.as_pem(private=True))
    with opened(
        folder / "data",
        browser,
        OCTAVO_GITHUB_URL=github.url,
        OCTAVO_GITHUB_APP_ID=APP_ID,
        OCTAVO_GITHUB_APP_KEY_FILE=str(key),
        OCTAVO_GITHUB_APP_CLIENT_SECRET=CLIENT_SECRET,
        OCTAVO_ALLOW_PRIVATE_FETCH=github.url.removeprefix("http://"),
    ) as found:
        yield found


@pytest.fixture(scope="module")
def space(app):
    return app.fill_space("Synced", ["Start", "Guide"])


def test_a_space_is_connected_and_disconnected(app, space):
    page = app.open(f"/s/{space}/~/settings/git")
    page.get_by_role("textbox", name="Repository").fill("file:///srv/docs.git")
    page.get_by_role("button", name="Preview changes").click()
    expect(page.get_by_role("textbox", name="Repository")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("textbox", name="Repository").fill("git@127.0.0.1:acme/docs.git")
    expect(page.get_by_label("Access token")).to_have_count(0)
    page.get_by_role("textbox", name="Folder").fill("guide")
    expect(page.get_by_label("Report commit statuses to the Git provider")).to_have_count(0)
    page.get_by_label("Sign commits").check()
    page.get_by_role("button", name="Generate key and connect").click()
    for key in ("Public key: add it", "Public signing key"):
        expect(page.get_by_role("textbox", name=key)).to_have_value(re.compile("^ssh-ed25519 "))
    expect(page.get_by_role("textbox", name="Secret (shown only once)")).to_have_count(1)
    page.get_by_role("button", name="Sync now").click()
    expect(page.get_by_role("alert")).to_contain_text("private network")
    expect(page.get_by_role("list", name="Syncs").get_by_role("listitem").first).to_contain_text("failed")
    found = app.call("GET", f"/spaces/{space}/git/sync")
    assert (found["folder"], found["credential"]) == ("guide/", "ssh-key")
    page.get_by_role("textbox", name="Commit message").fill("Docs")
    page.get_by_role("combobox", name="Git provider").select_option("gitea")
    page.get_by_role("textbox", name="Branches to open as change requests").fill("docs/*")
    page.get_by_role("textbox", name="Polling interval").fill("soon")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("textbox", name="Polling interval")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("textbox", name="Polling interval").fill("0")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved", exact=True)).to_have_count(1)
    found = app.call("GET", f"/spaces/{space}/git/sync")
    kept = [found[name] for name in ("commitMessage", "provider", "branchPattern", "pollSeconds")]
    assert kept == ["Docs", "gitea", "docs/*", 0]
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_role("button", name="Preview changes")).to_have_count(1)
    page.context.close()


@pytest.mark.slow
def test_a_collection_and_a_site_are_connected_and_disconnected(app):
    collection = app.call("POST", f"/orgs/{app.organization}/collections", {"title": "Docs"})["id"]
    site = app.call("POST", f"/orgs/{app.organization}/sites", {"title": "Docs", "spaces": []})["id"]
    for path, api in (
        (f"/c/{collection}", f"/collections/{collection}"),
        (f"/o/{app.organization}/sites/{site}", f"/orgs/{app.organization}/sites/{site}"),
    ):
        page = app.open(f"{path}/~/git")
        page.get_by_role("textbox", name="Repository").fill("file:///srv/docs.git")
        page.get_by_role("button", name="Preview changes").click()
        expect(page.get_by_role("textbox", name="Repository")).to_have_attribute("aria-invalid", "true")
        page.get_by_role("textbox", name="Repository").fill("git@127.0.0.1:acme/docs.git")
        page.get_by_role("textbox", name="Branch").fill(path[1])
        page.get_by_role("button", name="Generate key and connect").click()
        expect(page.get_by_role("textbox", name="Public key: add it")).to_have_value(
            re.compile("^ssh-ed25519 ")
        )
        page.get_by_role("button", name="Sync now").click()
        expect(page.get_by_role("alert")).to_contain_text("private network")
        page.get_by_role("textbox", name="Commit message").fill("Docs")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved", exact=True)).to_have_count(1)
        assert app.call("GET", f"{api}/git/sync")["commitMessage"] == "Docs"
        page.get_by_role("button", name="Disconnect").click()
        page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
        expect(page.get_by_role("button", name="Preview changes")).to_have_count(1)
        page.context.close()


def test_a_space_can_be_created_from_a_repository(app):
    made = app.call("POST", "/orgs", {"title": "Moving in"})["id"]
    page = app.open(f"/o/{made}/~/changes")
    page.get_by_role("link", name="My work", exact=True).click()
    page.get_by_role("button", name="Import", exact=True).click()
    dialog = page.get_by_role("dialog", name="Import")
    dialog.get_by_role("tab", name="Git repository").click()
    repository = "https://git.example.com/acme/tides.git"
    dialog.get_by_role("textbox", name="Repository").fill(repository)
    dialog.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Preview changes").wait_for()
    expect(page.get_by_role("textbox", name="Repository")).to_have_value(repository)
    assert "tides" in [one["title"] for one in app.call("GET", f"/orgs/{made}/spaces")["items"]]
    page.context.close()


def test_a_repository_is_chosen_after_a_sign_in_at_github(app: App, github: AppServer) -> None:
    space = app.fill_space("From GitHub", [])
    page = app.open(f"/s/{space}/~/settings/git")

    def sign_in(route: Any) -> None:
        parameters = github.sign_in(route.request.url, "alice")
        back = f"{app.url}/~/git/authorized?{urlencode(parameters)}"
        route.fulfill(content_type="text/html", body=f'<script>location.replace("{back}")</script>')

    page.route(f"{github.url}/login/oauth/authorize*", sign_in)
    page.get_by_role("button", name="Sign in with GitHub").click()
    expect(page.get_by_text("You're signed in to GitHub.")).to_have_count(1)
    expect(page.get_by_label("Access token")).to_have_count(0)
    page.get_by_role("combobox", name="Repository").select_option("acme/docs")
    expect(page.get_by_role("combobox", name="Branch")).to_have_value("main")
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_text("Connected through the GitHub app")).to_have_count(1)
    expect(page.get_by_text("In sync", exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", name="Webhook")).to_have_count(0)
    # A second return with the same parameters is refused, and the screen says so.
    page.goto(f"{app.url}/~/git/authorized?state=used&code=used")
    expect(page.get_by_role("alert")).to_contain_text("Start over")
    page.context.close()
