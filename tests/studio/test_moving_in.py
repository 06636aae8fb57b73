"""Spaces of another server are listed, selected, and imported in the app."""

from __future__ import annotations

import io
import re
import zipfile
from contextlib import contextmanager

import httpx
import pytest
from playwright.sync_api import expect

from local_server import QuietHandler, local_server

from .test_accessibility import PHONE, WIDE, check


@contextmanager
def elsewhere(app):
    """Serve the API of the app at another URL, like that of a server elsewhere."""

    class Handler(QuietHandler):
        def do_GET(self):
            headers = {"authorization": self.headers["authorization"] or ""}
            found = httpx.get(app.url + self.path, headers=headers, timeout=60)
            self.send_response(found.status_code)
            self.send_header("content-length", str(len(found.content)))
            self.end_headers()
            self.wfile.write(found.content)

    with local_server(Handler, app.elsewhere) as server:
        yield server.url


def find(dialog, address, token):
    dialog.get_by_label("API URL").fill(address)
    dialog.get_by_label("Token", exact=True).fill(token)
    dialog.get_by_role("button", name="Show available content").click()


def test_selected_spaces_are_imported_into_new_ones(app):
    app.fill_space("Handbook", ["Welcome", "Rules"])
    app.fill_space("Recipes", ["Bread"])
    token = app.client.headers["authorization"].removeprefix("Bearer ")
    here = app.call("POST", "/orgs", {"title": "Moved here"})["id"]
    page = app.open(f"/o/{here}/~/imports")
    page.get_by_role("button", name="Import", exact=True).click()
    dialog = page.get_by_role("dialog", name="Import")
    dialog.get_by_role("tab", name="Another platform").click()
    with elsewhere(app) as address:
        dialog.get_by_role("button", name="Show available content").click()
        expect(dialog.get_by_role("alert")).to_have_text("Enter a URL and a token.")
        find(dialog, address, "oct_none")
        expect(dialog.get_by_role("alert")).to_contain_text("the token is invalid")
        find(dialog, address, token)
        dialog.get_by_role("checkbox", name="Handbook").check()
        dialog.get_by_role("checkbox", name="Recipes").check()
        check(page)
        dialog.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_text("Imported 3 pages")).to_be_visible()
    made = {one["title"]: one["id"] for one in app.call("GET", f"/orgs/{here}/spaces")["items"]}
    assert app.titles(made["Handbook"]) == ["Welcome", "Rules"]
    assert app.titles(made["Recipes"]) == ["Bread"]
    page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_space_is_imported_into_an_existing_one(app, size):
    app.fill_space("Garden", ["Trees"])
    token = app.client.headers["authorization"].removeprefix("Bearer ")
    space = app.create_space("Goes here")
    page = app.open(f"/s/{space}/~/import", viewport=size)
    page.get_by_role("radio", name="Another platform").check()
    with elsewhere(app) as address:
        find(page, address, token)
        page.get_by_role("radio", name="Garden").first.check()
        check(page)
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_role("heading", name="Imported 1 page")).to_be_visible()
    (run,) = app.call("GET", f"/org/{app.organization}/imports?space={space}")["items"]
    assert run["source"]["type"] == "api" and "token" not in run["source"]
    page.context.close()


def versions():
    """Return a Docusaurus project with two versions, as an archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        for name, said in {
            "docusaurus.config.js": "module.exports = {title: 'Acme', presets: [['classic', {docs: {}}]]};\n",
            "versions.json": '["1.0"]',
            "docs/intro.md": "# Newest\n",
            "versioned_docs/version-1.0/intro.md": "# First\n",
        }.items():
            zipped.writestr(name, said)
    return {"name": "acme.zip", "mimeType": "application/zip", "buffer": made.getvalue()}


def test_versions_become_variants_and_the_import_is_undone(app):
    space = app.create_space("Versions go here")
    page = app.open(f"/s/{space}/~/import")
    page.locator("input[type=file]").set_input_files(versions())
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("The source has several versions or languages: 1.0, Next.")).to_be_visible()
    page.go_back()
    page.locator("input[type=file]").set_input_files(versions())
    page.get_by_role("checkbox", name="Include all versions and languages").check()
    page.get_by_label("Destination").select_option("main")
    check(page)
    page.get_by_role("button", name="Import", exact=True).click()
    told = page.get_by_text("Versions and languages imported as separate spaces:")
    expect(told).to_be_visible()
    check(page)
    made = {one["title"]: one["id"] for one in app.call("GET", f"/orgs/{app.organization}/spaces")["items"]}
    assert app.titles(made["1.0"]) == ["First"] and app.titles(made["Next"]) == ["Newest"]
    (run,) = app.call("GET", f"/org/{app.organization}/imports?space={space}&status=completed&limit=1")[
        "items"
    ]
    page.get_by_role("link", name="Open site").click()
    expect(page).to_have_url(re.compile(run["site"]))
    page.go_back()
    # A newer state of the source comes as it did before, with all that came then.
    page.get_by_role("link", name="Import newer version").click()
    expect(page.get_by_role("checkbox", name="Include all versions and languages")).to_be_checked()
    page.go_back()
    # If there is room for one action, the others are behind a button next to it.
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Revert import").click()
    expect(page.get_by_text("created to revert the import")).to_be_visible()
    (change,) = (
        app.call("GET", f"/spaces/{space}/change-requests?status=open")["items"]
        or app.call("GET", f"/spaces/{space}/change-requests?status=draft")["items"]
    )
    expect(page).to_have_url(re.compile(rf"/{change['number']}/"))
    page.context.close()
