"""Style guides in the app: rules as files, the merge rule, and automatic fixes."""

import io
import zipfile

import pytest
from playwright.sync_api import expect

from .test_spaces import say

RULE = "extends: existence\nmessage: Leave out ‘%s’.\nlevel: error\nvocab: false\ntokens: [very]\n"
UNSUPPORTED = "extends: existence\nmessage: x\ntokens: ['(?=a)b']\n"


@pytest.mark.slow
def test_rules_are_imported_exported_and_required(app):
    sites = f"/orgs/{app.organization}/sites"
    space = app.fill_space("Manual", ["Start"])
    site = app.call("POST", sites, {"title": "Manual", "spaces": [space]})["id"]
    app.call("POST", f"{sites}/{site}/styleguide")
    page = app.open(f"/o/{app.organization}/sites/{site}/~/settings")
    page.get_by_role("button", name="Import rules").click()
    files = [
        {"name": name, "mimeType": "text/yaml", "buffer": text.encode()}
        for name, text in (("Very.yml", RULE), ("Lookahead.yml", UNSUPPORTED))
    ]
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Files").set_input_files(files)
    dialog.get_by_role("button", name="Import rules").click()
    rows = dialog.get_by_role("row")
    expect(rows.filter(has_text="Very.yml")).to_contain_text("vocab: isn't supported")
    expect(rows.filter(has_text="Lookahead.yml")).to_contain_text("Not imported")
    dialog.get_by_role("button", name="Done").click()
    with page.expect_download() as fetched:
        page.get_by_role("link", name="Export rules").click()
    with zipfile.ZipFile(io.BytesIO(fetched.value.path().read_bytes())) as packed:
        assert packed.namelist() == [".vale.ini", "styles/StyleGuide/Very.yml"]

    page.get_by_label("Create change requests with fixes automatically").check()
    page.get_by_role("group", name="Findings to fix").get_by_label("Style guide").check()
    page.get_by_label("Change requests per day").fill("2")
    page.get_by_role("form", name="Automatic fixes").get_by_role("button", name="Save").click()
    expect(say(page)).to_contain_text("Saved")
    settings = app.call("GET", f"{sites}/{site}/agent-settings")
    assert settings["findings"] == {
        "changeRequests": "auto-fixable",
        "kinds": ["style"],
        "changeRequestsPerDay": 2,
    }

    page.goto(f"{app.url}/s/{space}/~/settings/merging")
    page.get_by_label("Custom rules for this space").check()
    page.get_by_role("checkbox", name="New text follows the style guide").check()
    page.get_by_label("Rules to enforce").select_option("warning")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(say(page)).to_contain_text("Saved")
    assert app.call("GET", f"/spaces/{space}")["mergeRules"]["rules"] == [
        {"rule": "require_style_guide", "level": "warning"}
    ]
    page.context.close()
