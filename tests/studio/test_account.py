"""Somebody's own account in a browser: name, second factor, sessions, tokens, signing out."""

from __future__ import annotations

import base64
import hmac
import struct
import time

from playwright.sync_api import expect


def code_of(secret: str) -> str:
    """What an authenticator app shows for a secret just now."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, counter, "sha1")
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def test_a_name_a_second_factor_sessions_and_tokens(app):
    page = app.open("/~/account")
    expect(page.get_by_role("heading", name="Your account", level=1)).to_have_count(1)
    page.get_by_label("Name", exact=True).fill("Ines O.")
    page.get_by_label("Address of your picture").fill("not an address")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Address of your picture")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Address of your picture").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Ines O.", exact=True)).to_have_count(1)

    page.get_by_role("tab", name="Sign-in").click()
    page.get_by_label("New password").fill("one thing, surely")
    page.get_by_label("The same again").fill("another thing")
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_label("New password")).to_have_accessible_description("At least 10 characters. "
        "Setting it ends your other sessions. The two are not the same.")  # fmt: skip
    page.get_by_role("button", name="Set it up").click()
    secret = page.get_by_label("Secret", exact=True).input_value()
    page.get_by_label("Code", exact=True).fill("000000" if code_of(secret) != "000000" else "111111")
    page.get_by_role("button", name="Switch it on").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.get_by_label("Code", exact=True).fill(code_of(secret))
    page.get_by_role("button", name="Switch it on").click()
    codes = page.get_by_role("list", name="Your recovery codes").get_by_role("listitem")
    expect(codes).to_have_count(10)
    spare = codes.first.inner_text()
    page.get_by_role("button", name="I kept them").click()
    page.get_by_role("button", name="Switch it off").click()
    page.get_by_label("Code", exact=True).fill(spare)
    page.get_by_role("dialog").get_by_role("button", name="Switch it off").click()
    expect(page.get_by_role("button", name="Set it up")).to_be_visible()

    page.get_by_role("tab", name="Sessions").click()
    expect(page.get_by_role("list", name="Sessions").get_by_text("This one")).to_have_count(1)
    page.get_by_role("tab", name="Tokens").click()
    tokens = page.get_by_role("list", name="Your tokens")
    expect(tokens.get_by_role("listitem").first).to_be_visible()
    page.context.close()


def test_signing_out_warns_of_text_that_only_this_browser_has(app):
    member = app.call("GET", "/user")["id"]
    found = app.call("GET", f"/orgs/{app.organization}/members/{member}")
    assert found["lastSeenAt"]
    page = app.open("/")
    # A session of its own: the one that the other tests share goes on.
    page.context.clear_cookies()
    page.goto(f"{app.url}/sign-in")
    page.get_by_label("E-mail").fill("ines.okafor@example.com")
    page.keyboard.press("Enter")
    page.get_by_label("Password").fill("correct horse battery")
    page.keyboard.press("Enter")
    page.get_by_role("navigation", name="Main").wait_for()
    page.evaluate(
        """() => new Promise((done) => {
            const asked = indexedDB.open("octavo", 1);
            asked.onupgradeneeded = () =>
                asked.result.createObjectStore("drafts", { keyPath: ["space", "change", "page", "tab"] });
            asked.onsuccess = () => {
                const kept = asked.result.transaction("drafts", "readwrite");
                kept.objectStore("drafts").put({ space: "s", change: 1, page: "p", tab: "t", at: 1 });
                kept.oncomplete = () => { asked.result.close(); done(); };
            };
        })"""
    )
    page.get_by_role("button", name="Ines").click()
    page.get_by_role("menuitem", name="Sign out").click()
    dialog = page.get_by_role("dialog", name="Sign out and lose text?")
    expect(dialog).to_contain_text("1 page has text")
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
