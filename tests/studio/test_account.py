"""The own account in a browser: name, two-factor authentication, sessions, tokens, and signing out."""

from __future__ import annotations

import base64
import hmac
import struct
import time

import pytest
from playwright.sync_api import expect

from studio.conftest import PASSWORD


def code_of(secret: str) -> str:
    """Return the current code of an authenticator app for a secret."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, counter, "sha1")
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def test_name_two_factor_authentication_sessions_and_tokens_are_managed(app):
    page = app.open("/~/account")
    expect(page.get_by_role("heading", name="Your account", level=1)).to_have_count(1)
    page.get_by_label("Name", exact=True).fill("Ines O.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Ines O.", exact=True)).to_have_count(1)

    upload = page.locator("input[type=file]")
    photo = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for data, problem in (
        (photo, "must be a PNG, JPEG, WebP, or GIF file"),
        (b"GIF8" * 2_200_000, "too large"),
    ):
        upload.set_input_files({"name": "photo.gif", "mimeType": "image/gif", "buffer": data})
        expect(page.get_by_role("alert").filter(has_text=problem)).to_have_count(1)
    photo = base64.b64decode("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=")
    upload.set_input_files({"name": "photo.gif", "mimeType": "image/gif", "buffer": photo})
    expect(page.get_by_text("Photo uploaded")).to_have_count(1)
    # It is loaded from the sites' origin, in the profile and in the navigation.
    shown = page.locator(".avatar img[src*='/~avatars/']")
    expect(shown).to_have_count(2)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.avatar img')].every((one) => one.naturalWidth > 0)"
    )
    page.get_by_role("button", name="Remove photo").click()
    expect(shown).to_have_count(0)

    page.get_by_role("tab", name="Sign-in").click()
    page.get_by_label("New password").fill("one thing, surely")
    page.get_by_label("Confirm password").fill("another thing")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_label("New password")).to_have_accessible_description(
        "At least 10 characters. Changing your password signs you out of all other sessions. The passwords don't match."
    )
    page.get_by_role("button", name="Set up").click()
    secret = page.get_by_label("Secret", exact=True).input_value()
    page.get_by_label("Code", exact=True).fill("000000" if code_of(secret) != "000000" else "111111")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.get_by_label("Code", exact=True).fill(code_of(secret))
    page.get_by_role("button", name="Turn on").click()
    codes = page.get_by_role("list", name="Your recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    spare = codes.first.inner_text()
    page.get_by_role("button", name="I've saved the codes").click()
    page.get_by_role("button", name="Turn off").click()
    page.get_by_label("Code", exact=True).fill(spare)
    page.get_by_role("dialog").get_by_role("button", name="Turn off").click()
    expect(page.get_by_role("button", name="Set up")).to_be_visible()

    page.get_by_role("tab", name="Sessions").click()
    expect(page.get_by_role("list", name="Sessions").get_by_text("Current session")).to_have_count(1)
    page.get_by_role("tab", name="Tokens").click()
    tokens = page.get_by_role("list", name="Your tokens")
    expect(tokens.get_by_role("listitem").first).to_be_visible()
    page.context.close()


def test_signing_out_warns_of_text_that_is_only_in_this_browser(app):
    member = app.call("GET", "/user")["id"]
    app.call("POST", f"/orgs/{app.organization}/ping")
    found = app.call("GET", f"/orgs/{app.organization}/members/{member}")
    assert found["lastSeenAt"]
    page = app.open("/")
    # A separate session: the one that the other tests share continues.
    page.context.clear_cookies()
    who = {"email": "ines.okafor@example.com", "password": PASSWORD, "cookie": True}
    page.context.request.post(f"{app.url}/v1/sign-in", data=who, headers={"origin": app.url})
    page.goto(app.url)
    page.get_by_role("navigation", name="Main").wait_for()
    page.evaluate(
        """(user) => new Promise((done) => {
            const asked = indexedDB.open("octavo", 1);
            asked.onupgradeneeded = () =>
                asked.result.createObjectStore("drafts", { keyPath: ["space", "change", "page", "tab"] });
            asked.onsuccess = () => {
                const kept = asked.result.transaction("drafts", "readwrite");
                kept.objectStore("drafts").put({ user, space: "s", change: 1, page: "p", tab: "t", at: 1 });
                kept.oncomplete = () => { asked.result.close(); done(); };
            };
        })""",
        member,
    )
    page.get_by_role("button", name="Ines").click()
    page.get_by_role("menuitem", name="Sign out").click()
    dialog = page.get_by_role("dialog", name="Sign out and lose unsaved changes?")
    expect(dialog).to_contain_text("1 page has changes")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Ines").click()
    page.get_by_role("menuitem", name="Sign out").click()
    dialog.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    left = page.evaluate(
        """() => new Promise((done) => {
            const asked = indexedDB.open("octavo");
            asked.onsuccess = () => {
                const count = asked.result.transaction("drafts").objectStore("drafts").count();
                count.onsuccess = () => { asked.result.close(); done(count.result); };
            };
        })"""
    )
    assert left == 0
    page.context.close()


@pytest.mark.slow
def test_a_passkey_is_created_and_signs_in(app):
    # Browsers bind passkeys to names: the same server, by its other one.
    there = app.url.replace("127.0.0.1", "localhost")
    context = app.browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = app.watch(context)
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    authenticator = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": authenticator})
    page.goto(f"{there}/sign-in?next=/~/account/sign-in")
    page.get_by_label("Email address").fill("ines.okafor@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Add passkey").click()
    dialog = page.get_by_role("dialog", name="Add passkey")
    dialog.get_by_label("Name").fill("Work laptop")
    dialog.get_by_role("button", name="Continue").click()
    passkeys = page.get_by_role("list", name="Your passkeys").get_by_role("listitem")
    expect(passkeys).to_contain_text("Never used")
    page.get_by_role("button", name="Actions for Work laptop").click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog = page.get_by_role("dialog", name="Rename passkey")
    dialog.get_by_label("Name").fill("Old laptop")
    dialog.get_by_role("button", name="Rename").click()
    expect(passkeys).to_contain_text("Old laptop")

    context.clear_cookies()
    page.goto(f"{there}/sign-in?next=/~/account/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(passkeys).to_contain_text("Last used now")
    page.get_by_role("button", name="Actions for Old laptop").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(passkeys).to_have_count(0)
    context.close()
