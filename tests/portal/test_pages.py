"""The pages that mails lead to, in a real browser: an invitation is taken, and somebody signs in and out."""

import re

import httpx
import pytest

from serving import serving

PASSWORD = "correct horse battery"


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path / "data") as served:
        token = (tmp_path / "data" / "admin-token").read_text().strip()
        served.admin = httpx.Client(base_url=f"{served.url}/v1", headers={"authorization": f"Bearer {token}"})
        served.org = served.admin.get("/orgs").json()["items"][0]["id"]
        yield served
        served.admin.close()


def test_an_invitation_is_taken_and_its_account_signs_in_and_out(browser, served):
    invited = served.admin.post(
        f"/orgs/{served.org}/invites", json={"emails": ["ada@example.com"], "role": "read"}
    )
    link = invited.json()["links"][0]["url"]
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    trouble = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(link)
    page.get_by_label("Your name").fill("Ada <b>Lovelace</b>")
    page.get_by_label("A password").fill(PASSWORD)
    page.get_by_role("button", name="Make my account and join").click()
    page.get_by_text("Your account is made").wait_for()
    assert "secret" not in page.url
    page.goto(f"{served.url}/sign-in")
    page.get_by_label("E-mail address").fill("ada@example.com")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("The address or the password is wrong.").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    # What people call themselves is text.
    page.get_by_text("You are signed in as Ada <b>Lovelace</b>.").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("E-mail address").wait_for()
    assert trouble == []
    members = served.admin.get(f"/orgs/{served.org}/members").json()["items"]
    assert "ada@example.com" in [member["user"]["email"] for member in members]
    context.close()


def test_somebody_who_is_signed_in_joins_with_their_account(browser, served):
    for email, org in (("bob@example.com", served.org),):
        link = served.admin.post(f"/orgs/{org}/invites", json={"emails": [email]}).json()["links"][0]["url"]
    secret = re.search("secret=([^&]+)", link)[1]
    body = {"secret": secret, "displayName": "Bob", "password": PASSWORD}
    assert httpx.post(f"{served.url}/v1/invitations", json=body).status_code == 200
    other = served.admin.post("/orgs", json={"title": "Second"}).json()["id"]
    # The address was not proved by a mail: the second organization invites it, and Bob joins himself.
    link = served.admin.post(f"/orgs/{other}/invites", json={"emails": ["bob@example.com"]}).json()["links"][
        0
    ]["url"]
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.get_by_role("link", name="I have an account: sign in").click()
    page.get_by_label("E-mail address").fill("bob@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Join as Bob").click()
    page.get_by_text("You are a member now.").wait_for()
    context.close()


@pytest.mark.parametrize("path", ["/sign-in", "/invitation"])
def test_pages_run_nothing_but_their_own(served, path):
    answer = httpx.get(f"{served.url}{path}?next=javascript:alert(1)&secret=<script>alert(1)</script>")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert "alert" not in answer.text
