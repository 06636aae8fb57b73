"""The settings of an organization in a browser, walked by role and name."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from settled import until

SECTIONS = (
    "General",
    "API specifications",
    "Translations",
    "Conversations",
    "Models",
    "Imports",
    "Webhooks",
    "Tokens",
    "Audit log",
    "Usage",
    "Trash",
)


def test_sections_have_urls_and_the_name_can_be_changed(app):
    page = app.open(f"/o/{app.organization}/~/settings")
    nav = page.get_by_role("navigation", name="Settings")
    expect(nav.get_by_role("link")).to_have_text(SECTIONS)
    name = page.get_by_label("Organization name")
    before = name.input_value()
    name.fill("Tidewater")
    page.get_by_label("Hostname").fill("no spaces here")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Hostname")).to_have_accessible_description(re.compile("lowercase letters"))
    page.get_by_label("Hostname").fill("tidewater")
    page.get_by_role("button", name="Save", exact=True).click()
    notices = page.get_by_role("region", name="Notifications")
    notices.get_by_role("button", name="Undo").click()
    expect(name).to_have_value(before)
    for section in SECTIONS:
        nav.get_by_role("link", name=section, exact=True).click()
        expect(page.get_by_role("heading", name=section, level=1)).to_be_visible()
        expect(nav.locator("[aria-current=page]")).to_have_text(section)
    page.context.close()


def test_a_token_is_shown_once_and_revoked(app):
    page = app.open(f"/o/{app.organization}/~/tokens")
    asked = []

    def refuse_once(route):
        if route.request.method == "POST" and not asked:
            asked.append(route.request.url)
            error = {"code": 403, "message": "Confirm that it is you first.", "reason": "proof_required"}
            route.fulfill(status=403, json={"error": error})
        else:
            route.continue_()

    page.route("**/v1/user/tokens", refuse_once)
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog", name="New token")
    dialog.get_by_label("Name").fill("Deployment")
    dialog.get_by_label("Permissions").select_option("Selected scopes")
    dialog.get_by_label("Sites").select_option("Read and write")
    dialog.get_by_role("button", name="Create token").click()
    proof = page.get_by_role("dialog", name="Confirm your identity")
    proof.get_by_label("Password").fill("wrong, this one")
    proof.get_by_role("button", name="Continue").click()
    expect(proof.get_by_label("Password")).to_have_accessible_description(re.compile("incorrect"))
    proof.get_by_label("Password").fill("correct horse battery")
    proof.get_by_role("button", name="Continue").click()
    made = page.get_by_role("dialog", name="Token “Deployment”")
    expect(made.get_by_label("Token", exact=True)).to_have_value(re.compile("^oct_"))
    made.get_by_role("button", name="Done").click()
    tokens = page.get_by_role("list", name="Your tokens")
    expect(tokens.get_by_role("listitem").filter(has_text="Deployment")).to_contain_text(
        "Write access: Sites"
    )
    page.get_by_role("button", name="Revoke Deployment").click()
    page.get_by_role("button", name="Revoke token").click()
    expect(tokens.get_by_text("Deployment")).to_have_count(0)

    page.get_by_role("button", name="New service account").click()
    dialog = page.get_by_role("dialog", name="New service account")
    dialog.get_by_label("Name").fill("Release robot")
    dialog.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="Release robot", level=1)).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete account").click()
    expect(page.get_by_text("No service accounts yet")).to_be_visible()
    page.context.close()


def test_the_log_is_filtered_and_deleted_spaces_are_restored(app):
    kept = app.create_space("Kept")
    lost = app.create_space("Lost")
    for space in (kept, lost):
        app.call("DELETE", f"/spaces/{space}")
    page = app.open(f"/o/{app.organization}/~/trash")
    page.get_by_role("button", name="Restore Kept").click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Kept")).to_be_visible()
    page.get_by_role("button", name="Actions for Lost").click()
    page.get_by_role("menuitem", name="Delete permanently").click()
    page.get_by_role("button", name="Delete permanently").click()
    page.get_by_text("The trash is empty").wait_for()

    page.get_by_role("link", name="Audit log").click()
    page.get_by_label("Resource").select_option("Space")
    log = page.get_by_role("list", name="Audit log")
    first = log.get_by_role("listitem").filter(has_text="Space: restored")
    first.locator("summary").click()
    first.get_by_role("button", name="Show events of this type").click()
    expect(log.get_by_role("listitem")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"action=space\.restored"))
    page.get_by_role("link", name="Clear filters").or_(
        page.get_by_role("button", name="Remove filter Space: restored")
    ).click()
    expect(log.get_by_text("Space: scheduled for permanent deletion")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Export as CSV").or_(
            page.get_by_role("button", name="Export as CSV")
        ).click()
    assert "space.restored" in saved.value.path().read_text()
    page.context.close()


PETS = """openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets:
    get: {summary: List pets, responses: {"200": {description: Pets}}}
"""


@pytest.mark.slow
def test_an_api_specification_reports_breaking_changes(app):
    page = app.open(f"/o/{app.organization}/~/openapi")
    page.get_by_role("button", name="Add specification").first.click()
    dialog = page.get_by_role("dialog", name="Add specification")
    dialog.get_by_label("Short name").fill("pets")
    dialog.get_by_role("button", name="Paste text").click()
    dialog.get_by_label("Text", exact=True).fill(PETS)
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="pets", level=1)).to_be_visible()
    versions = page.get_by_role("list", name="Versions")
    expect(versions.get_by_role("listitem")).to_have_count(1)
    for source in (PETS.replace("/pets", "/owners"), "openapi: 3.1.0\npaths: ["):
        page.get_by_role("button", name="Change source").click()
        dialog = page.get_by_role("dialog", name="Change the source of pets")
        dialog.get_by_role("button", name="Paste text").click()
        dialog.get_by_label("Text", exact=True).fill(source)
        dialog.get_by_role("button", name="Change source").click()
        dialog.wait_for(state="hidden")
        expect(page.get_by_role("status").get_by_text("Processing")).to_have_count(0)
    expect(page.get_by_role("status").get_by_text("Unreadable")).to_be_visible()
    expect(page.get_by_role("list", name="Problems")).to_contain_text("Line 3")
    expect(versions.get_by_role("listitem")).to_have_count(2)
    versions.get_by_role("button", name="View changes in the version from").first.click()
    changes = page.get_by_role("list", name="Changes")
    expect(changes.get_by_role("listitem").first).to_contain_text("Breaking")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete specification").click()
    page.get_by_text("No API specifications").wait_for()
    page.context.close()


@pytest.mark.slow
def test_a_webhook_is_tested_and_its_message_redelivered(app):
    page = app.open(f"/o/{app.organization}/~/webhooks")
    page.get_by_role("button", name="New webhook").click()
    dialog = page.get_by_role("dialog", name="New webhook")
    dialog.get_by_label("URL").fill("ftp://example.com")
    dialog.get_by_label("Change request merged").check()
    dialog.get_by_role("button", name="Create webhook").click()
    expect(dialog.get_by_label("URL")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("URL").fill("http://127.0.0.1:9/octavo")
    dialog.get_by_role("button", name="Create webhook").click()
    secret = page.get_by_role("dialog", name="Webhook secret")
    expect(secret.get_by_label("Secret", exact=True)).not_to_have_value("")
    secret.get_by_role("button", name="Done").click()
    page.get_by_role("checkbox", name="On").uncheck()
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("checkbox", name="On")).to_be_checked()
    page.get_by_role("button", name="Send test message").click()
    messages = page.get_by_role("list", name="Messages")
    expect(messages.get_by_text("Test message")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete webhook").click()
    page.get_by_text("No webhooks yet").wait_for()
    page.context.close()


@pytest.mark.slow
def test_conversations_become_a_change_request(app, tmp_path):
    space = app.fill_space("Help", ["Exports"])
    page = app.open(f"/o/{app.organization}/~/conversations")
    said = (
        "How do I export a page as PDF?",
        "I want to export a page as PDF, how?",
        "Export a page as PDF fails.",
    )
    lines = [
        json.dumps({"id": str(at), "parts": [{"type": "message", "role": "user", "body": text}]})
        for at, text in enumerate(said)
    ]
    file = tmp_path / "tickets.jsonl"
    file.write_text("\n".join([*lines, "no JSON"]))
    page.get_by_role("button", name="Upload conversations").click()
    dialog = page.get_by_role("dialog", name="Upload conversations")
    dialog.get_by_label("File").set_input_files(file)
    dialog.get_by_role("button", name="Upload", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Line 4 isn't valid JSON.")
    file = tmp_path / "without.jsonl"
    file.write_text("\n".join(lines))
    dialog.get_by_label("File").set_input_files(file)
    dialog.get_by_role("button", name="Upload", exact=True).click()
    dialog.wait_for(state="hidden")
    until(lambda: app.call("GET", f"/orgs/{app.organization}/conversations-clusters")["items"])
    page.reload()
    page.get_by_role("list", name="Common questions").get_by_role("link").first.click()
    expect(page.get_by_role("list", name="User questions").get_by_role("listitem")).not_to_have_count(0)
    page.get_by_label("Space for the change request").select_option("Help")
    page.get_by_role("button", name="Create change request").click()
    page.wait_for_url(f"**/s/{space}/~/changes/*")
    page.goto(f"{app.url}/o/{app.organization}/~/conversations/tasks")
    expect(page.get_by_role("list", name="Tasks")).to_contain_text("In progress")
    page.context.close()


@pytest.mark.slow
def test_a_space_is_translated_with_a_glossary(app):
    app.fill_space("Source", ["Start"])
    page = app.open(f"/o/{app.organization}/~/translations")
    page.get_by_role("button", name="New translation").click()
    dialog = page.get_by_role("dialog", name="New translation")
    dialog.get_by_label("Space", exact=True).select_option("Source")
    dialog.get_by_label("Target language").select_option("fr")
    dialog.get_by_role("button", name="Translate", exact=True).click()
    expect(page.get_by_role("heading", name="Source in French", level=1)).to_be_visible()
    expect(page.get_by_role("status").get_by_text("Incomplete")).to_be_visible()
    page.get_by_role("button", name="Tone and instructions").click()
    dialog = page.get_by_role("dialog", name="Tone and instructions")
    dialog.get_by_label("Instructions").fill("Say “espace”.\n\nBe brief.")
    dialog.get_by_role("button", name="Save").click()
    dialog.wait_for(state="hidden")
    page.get_by_role("button", name="Tone and instructions").click()
    expect(dialog.get_by_label("Instructions")).to_have_value("Say “espace”.\n\nBe brief.")
    page.keyboard.press("Escape")

    page.goto(f"{app.url}/o/{app.organization}/~/translations/glossary")
    page.get_by_role("button", name="New term").click()
    dialog = page.get_by_role("dialog", name="New term")
    dialog.get_by_label("Term in English").fill("space")
    dialog.get_by_label("Term in German").fill("Bereich")
    dialog.get_by_role("button", name="Save").click()
    words = page.get_by_role("list", name="Glossary")
    expect(words.get_by_role("listitem")).to_contain_text("Bereich")
    page.get_by_role("button", name="Delete space").click()
    page.get_by_text("No terms yet").wait_for()
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(words.get_by_role("listitem")).to_have_count(1)
    page.context.close()


def test_instructions_for_models_are_saved(app):
    page = app.open(f"/o/{app.organization}/~/models")
    told = page.get_by_role("textbox", name="Instructions")
    told.fill("Be brief.")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("region", name="Notifications").get_by_text("Saved").wait_for()
    page.reload()
    expect(told).to_have_value("Be brief.")
    page.get_by_text("No model requests yet").wait_for()
    page.context.close()


def test_an_integration_lists_its_permissions_and_is_installed(app):
    app.call(
        "POST",
        "/integrations/notes",
        {
            "title": "Notes",
            "description": "Notes what changes",
            "organization": app.organization,
            "scopes": ["space:content:write"],
            "script": "export default {};",
            "visibility": "private",
            "configurations": {
                "account": {
                    "properties": {
                        "channel": {"type": "string", "title": "Channel"},
                        "most": {"type": "number", "title": "Most a day", "default": 5},
                    },
                    "required": ["channel"],
                }
            },
        },
    )
    page = app.open(f"/o/{app.organization}/~/integrations")
    page.get_by_role("searchbox", name="Find an integration").fill("nothing like it")
    page.get_by_text("No matching integrations").wait_for()
    page.get_by_role("link", name="Clear filters").or_(
        page.get_by_role("button", name="Clear filters")
    ).click()
    page.get_by_role("link", name="Notes").click()
    panel = page.get_by_role("complementary", name="Integration", exact=True)
    expect(panel.get_by_text("Edit pages, change requests, and comments")).to_be_visible()
    panel.get_by_role("button", name="Install").click()
    expect(page.get_by_role("main").get_by_text("Not configured")).to_be_visible()
    panel.get_by_label("Channel").fill("#docs")
    panel.get_by_label("Most a day").fill("7")
    panel.get_by_role("button", name="Save").click()
    expect(page.get_by_role("main").get_by_text("Not configured")).to_have_count(0)
    path = f"/orgs/{app.organization}/installations"
    kept = app.call("GET", path)["items"][0]["installation"]
    assert kept["configuration"] == {"channel": "#docs", "most": 7}
    panel.get_by_role("tab", name="Locations").click()
    panel.get_by_role("combobox", name="Spaces").select_option("selected")
    panel.get_by_role("combobox", name="Space", exact=True).select_option("Octavo manual")
    panel.get_by_role("button", name="Add space").click()
    panel.get_by_role("button", name="Remove from Octavo manual").click()
    panel.get_by_role("tab", name="Log").click()
    panel.get_by_role("button", name="Refresh").wait_for()
    panel.get_by_role("button", name="Actions for Notes").click()
    page.get_by_role("menuitem", name="Uninstall").click()
    page.get_by_role("dialog").get_by_role("button", name="Uninstall").click()
    expect(panel).to_have_count(0)
    assert app.call("GET", path)["items"] == []
    page.context.close()


def test_a_custom_integration_is_uploaded_or_written_in_the_app(app, tmp_path):
    page = app.open(f"/o/{app.organization}/~/integrations")
    packed = tmp_path / "clock.integration.json"

    def add(text):
        packed.write_text(text)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add from file").click()
        chooser.value.set_files(packed)

    said = page.get_by_role("region", name="Notifications")
    for text, why in (
        ("no", "The file doesn't contain valid JSON."),
        ('{"name": "clock"}', "“title” is missing."),
    ):
        add(text)
        expect(said.get_by_text(why)).to_be_visible()
    body = {
        **{"name": "clo ck", "title": "Clock", "description": "Tells the time", "runtime": "v2"},
        **{"scopes": ["site:script:inject"], "script": "export default {};", "secrets": {"KEY": ""}},
    }
    add(json.dumps(body))
    dialog = page.get_by_role("dialog", name="Add “Clock”")
    expect(dialog.get_by_text("Run scripts in readers' browsers")).to_be_visible()
    dialog.get_by_label("Secret KEY").fill("hush")
    dialog.get_by_role("button", name="Publish integration").click()
    name = dialog.get_by_role("textbox", name="Name")
    expect(name).to_have_accessible_description(re.compile("must be 1 to 100 letters"))
    name.fill("clock")
    dialog.get_by_role("button", name="Publish integration").click()
    panel = page.get_by_role("complementary", name="Integration", exact=True)
    expect(panel.get_by_role("button", name="Install")).to_be_visible()
    assert app.call("GET", "/integrations/clock")["scopes"] == ["site:script:inject"]
    panel.get_by_role("button", name="Actions for Clock").click()
    page.get_by_role("menuitem", name="Unpublish integration").click()
    page.get_by_role("dialog").get_by_role("button", name="Unpublish integration").click()
    expect(page.get_by_role("main").get_by_role("link", name="Clock")).to_have_count(0)
    until(lambda: app.client.get("/integrations/clock").status_code == 404)

    page.get_by_role("link", name="Create integration").click()
    page.get_by_label("Start with").select_option("Block that renders content on pages")
    page.get_by_role("textbox", name="Title").fill("G")
    page.get_by_role("textbox", name="Name").fill("greeter")
    page.get_by_role("textbox", name="Description").fill("Greets readers")
    page.get_by_role("button", name="Publish integration").click()
    expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    page.get_by_role("textbox", name="Title").fill("Greeter")
    page.get_by_role("button", name="Publish integration").click()
    panel.get_by_role("button", name="Install").click()
    expect(page.get_by_role("main").get_by_text("All spaces")).to_be_visible()
    asked = {
        **{"componentId": "greeting", "props": {"name": "Ada"}},
        "context": {
            "type": "document",
            "theme": "light",
            "spaceId": app.create_space("Greeted"),
            "editable": False,
        },
    }
    assert "Hello Ada" in json.dumps(app.call("POST", "/integrations/greeter/render", asked))
    page.context.close()


def test_a_built_in_integration_is_installed_with_one_click(app):
    page = app.open(f"/o/{app.organization}/~/integrations")
    page.get_by_role("link", name="Slack notifications").click()
    panel = page.get_by_role("complementary", name="Integration", exact=True)
    expect(panel.get_by_text("Included with Octavo")).to_be_visible()
    panel.get_by_role("button", name="Install").click()
    panel.get_by_label("Incoming webhook").fill("https://hooks.slack.com/services/1")
    panel.get_by_role("button", name="Save").click()
    page.get_by_role("region", name="Notifications").get_by_text("Saved").wait_for()
    page.context.close()


FORM = """
const own = (event, environment) => {
  const { action = {}, props } = event;
  const state = { name: "", plan: "small", step: "one", ...event.state };
  if (event.componentId === "more") {
    if (action.action === "take") return { type: "complete", returnValue: { name: "Ines" } };
    const submit = { type: "button", label: "Take it", onPress: { action: "take" } };
    return { state: {}, props, element: { type: "modal", title: "Whose", children: [], submit } };
  }
  if (action.action === "@ui.modal.close") state.name = action.returnValue.name;
  if (action.action === "step") state.step = action.step;
  const options = [{ id: "small", label: "Small" }, { id: "large", label: "Large" }];
  const name = { type: "input", label: "Name", element: { type: "textinput", state: "name" } };
  const open = { type: "button", label: "Choose", onPress: { action: "@ui.modal.open", componentId: "more", \
props: {} } };
  const plan = { type: "input", label: "Plan", element: { type: "select", state: "plan", options } };
  const children = [
    { type: "step", id: "one", children: [name, open] },
    { type: "step", id: "two", children: [plan] },
  ];
  const [onStepChange, onComplete] = [{ action: "step" }, { action: "save", plan: { $state: "plan" } }];
  const stepper = { type: "stepper", activeStep: state.step, onStepChange, onComplete, children };
  return { state, props, element: { type: "configuration", children: [stepper] } };
};
export default { async fetch(request) {
  const form = await request.formData();
  const [event, environment] = ["event", "environment"].map((name) => JSON.parse(form.get(name)));
  const { action, state } = event;
  if (action?.action === "save") {
    const { apiEndpoint, authToken, installation } = environment;
    const body = JSON.stringify({ configuration: { name: state.name, plan: action.plan } });
    const headers = { authorization: `Bearer ${authToken}`, "content-type": "application/json" };
    await fetch(`${apiEndpoint}/v1/integrations/form/installations/${installation.id}`, { method: "PATCH", \
headers, body });
  }
  return Response.json(own(event, environment));
} };
"""


def test_an_integration_renders_its_own_configuration(app):
    app.call(
        "POST",
        "/integrations/form",
        {
            "title": "Own form",
            "description": "Draws its configuration",
            "organization": app.organization,
            "scopes": [],
            "script": FORM,
            "runtime": "v2",
            "configurations": {"account": {"componentId": "config"}},
        },
    )
    installed = app.call("POST", "/integrations/form/installations", {"organization": app.organization})
    page = app.open(f"/o/{app.organization}/~/integrations/form")
    panel = page.get_by_role("complementary", name="Integration", exact=True)
    panel.get_by_role("button", name="Choose").click()
    page.get_by_role("dialog", name="Whose").get_by_role("button", name="Take it").click()
    expect(panel.get_by_label("Name")).to_have_value("Ines")
    panel.get_by_role("button", name="Continue").click()
    panel.get_by_label("Plan").select_option("Large")
    panel.get_by_role("button", name="Done").click()
    expect(page.get_by_role("main").get_by_text("Not configured")).to_have_count(0)
    kept = app.call("GET", f"/integrations/form/installations/{installed['id']}")
    assert kept["configuration"] == {"name": "Ines", "plan": "large"}
    page.context.close()


def test_two_administrators_edit_one_form(app):
    """Changes by others while a form is open are kept in fields that the form did not edit."""
    path = f"/orgs/{app.organization}"
    page = app.open(f"/o/{app.organization}/~/settings")
    name = page.get_by_label("Organization name")
    before = name.input_value()
    app.call("PATCH", path, {"inviteLinks": not app.call("GET", path)["inviteLinks"]})
    links = app.call("GET", path)["inviteLinks"]
    name.fill("Renamed")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("Saved")
    found = app.call("GET", path)
    assert (found["title"], found["inviteLinks"]) == ("Renamed", links)
    app.call("PATCH", path, {"title": before})
    page.context.close()


@pytest.mark.slow
def test_losing_permission_while_a_form_is_open_is_reported(app):
    """The form keeps its input, and the server reports why it is not saved."""
    tomas = app.colleague("Tomas", role="admin")
    member = f"/orgs/{app.organization}/members/{tomas.get('/user').json()['id']}"
    page = app.open_as(tomas, f"/o/{app.organization}/~/settings")
    name = page.get_by_label("Organization name")
    before = name.input_value()
    name.fill("Typed before")
    app.call("PATCH", member, {"role": "read"})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("admin")
    expect(name).to_have_value("Typed before")
    assert app.call("GET", f"/orgs/{app.organization}")["title"] == before
    page.context.close()


@pytest.mark.slow
def test_the_last_administrator_cannot_leave(app):
    page = app.open(f"/o/{app.organization}/~/members")
    page.get_by_role("button", name="Actions for Ines Okafor").click()
    page.get_by_role("menuitem", name="Leave organization").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Leave "))
    dialog.get_by_role("button", name="Leave organization").click()
    expect(dialog.get_by_role("alert")).to_contain_text("administrator")
    page.context.close()
