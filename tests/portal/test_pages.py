"""The pages linked from emails, in a real browser: accepting an invitation, and signing in and out."""

import base64
import re
import secrets
import zlib
from urllib.parse import parse_qs

import httpx
import pytest
from lxml import etree
from playwright.sync_api import expect

from identity_providers import Keys, encoded, response_xml, sign
from identity_providers import served as provider_served
from serving import Administrator, octavo, serving_new

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """Serve one server for all tests of this file; each has its own organization and people."""
    with serving_new(tmp_path_factory.mktemp("portal") / "data") as served:
        served.admin = Administrator(served).client
        yield served
        served.admin.close()


@pytest.fixture
def served(installation):
    installation.org = installation.admin.post("/orgs", json={"title": "Octavo"}).json()["id"]
    return installation


def test_an_invitation_is_accepted_and_its_account_signs_in_and_out(browser, served):
    invited = served.admin.post(
        f"/orgs/{served.org}/invites", json={"emails": ["ada@example.com"], "role": "read"}
    )
    link = invited.json()["links"][0]["url"]
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    trouble = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(link)
    page.get_by_role("heading", name="invited you to Octavo").wait_for()
    expect(page.get_by_label("Email address")).to_have_value("ada@example.com")
    expect(page.get_by_label("Email address")).not_to_be_editable()
    page.get_by_label("Name").fill("Ada <b>Lovelace</b>")
    page.get_by_label("Password").fill(PASSWORD)
    expect(page.get_by_label("Password")).to_have_attribute("type", "password")
    page.get_by_role("button", name="Show password").click()
    expect(page.get_by_label("Password")).to_have_attribute("type", "text")
    page.get_by_role("button", name="Create account and join").click()
    # The new member is signed in, in the organization.
    page.wait_for_url(f"{served.url}/o/{served.org}**")
    assert whoami(page, served) == "ada@example.com"
    page.goto(f"{served.url}/sign-in")
    page.get_by_text("You are signed in as Ada <b>Lovelace</b>.").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("The email address or password is incorrect.").wait_for()
    expect(page.get_by_label("Password")).to_be_focused()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{served.url}/")
    page.goto(f"{served.url}/sign-in")
    # Display names are escaped.
    page.get_by_text("You are signed in as Ada <b>Lovelace</b>.").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Email address").wait_for()
    assert trouble == []
    members = served.admin.get(f"/orgs/{served.org}/members").json()["items"]
    assert "ada@example.com" in [member["user"]["email"] for member in members]
    context.close()


@pytest.mark.slow
def test_signed_in_people_join_with_their_account(browser, served):
    for email, org in (("bob@example.com", served.org),):
        link = served.admin.post(f"/orgs/{org}/invites", json={"emails": [email]}).json()["links"][0]["url"]
    secret = re.search("secret=([^&]+)", link)[1]
    body = {"secret": secret, "displayName": "Bob", "password": PASSWORD}
    assert httpx.post(f"{served.url}/v1/invitations", json=body).status_code == 200
    other = served.admin.post("/orgs", json={"title": "Second"}).json()["id"]
    # The address isn't verified: the second organization invites it, and Bob joins by himself.
    link = served.admin.post(f"/orgs/{other}/invites", json={"emails": ["bob@example.com"]}).json()["links"][
        0
    ]["url"]
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.get_by_role("link", name="Sign in to an existing account").click()
    page.get_by_text("Sign in to accept the invitation from").wait_for()
    page.get_by_label("Email address").fill("bob@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Join as Bob").click()
    page.wait_for_url(f"{served.url}/o/{other}**")
    context.close()


def test_links_by_email_are_offered_only_with_a_mail_server(browser, served, tmp_path):
    mailing = {"OCTAVO_SMTP_URL": "smtp://127.0.0.1:1"}
    with serving_new(tmp_path / "data", **mailing) as sends:
        context = browser.new_context()
        page = context.new_page()
        for server, offered in ((served, False), (sends, True)):
            page.goto(f"{server.url}/sign-in")
            expect(page.get_by_label("Email address")).to_be_focused()
            expect(page.get_by_role("link", name="Forgot password?")).to_be_visible(visible=offered)
            expect(page.get_by_role("button", name="Email me a sign-in link")).to_be_visible(visible=offered)
        page.get_by_label("Email address").fill("nobody@example.com")
        page.get_by_role("link", name="Forgot password?").click()
        page.get_by_role("heading", name="Reset your password").wait_for()
        expect(page.get_by_label("Email address")).to_have_value("nobody@example.com")
        page.get_by_role("button", name="Send reset link").click()
        page.get_by_role("heading", name="Check your email").wait_for()
        context.close()


def test_a_person_with_an_emailed_link_sets_a_new_password(browser, served):
    email = f"eve-{served.org.lower()}@example.com"
    invited = served.admin.post(f"/orgs/{served.org}/invites", json={"emails": [email]}).json()
    secret = re.search("secret=([^&]+)", invited["links"][0]["url"])[1]
    body = {"secret": secret, "displayName": "Eve", "password": PASSWORD}
    assert httpx.post(f"{served.url}/v1/invitations", json=body).status_code == 200
    made = octavo("session", "link", "--data", str(served.data), "--email", email, OCTAVO_URL=served.url)
    link = re.search(r"http\S+", made.stdout)[0]
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in with this link").click()
    page.get_by_label("New password").fill("another good password")
    page.get_by_role("button", name="Save password").click()
    page.wait_for_url(f"{served.url}/")
    body = {"email": email, "password": "another good password"}
    assert httpx.post(f"{served.url}/v1/sign-in", json=body).status_code == 200
    # The link works once, and the message doesn't contain the name of the field.
    context.clear_cookies()
    page.goto(link)
    page.get_by_role("button", name="Sign in with this link").click()
    expect(page.get_by_role("status")).to_have_text(
        "This link is invalid, was already used, or has expired. Request a new one."
    )
    context.close()


# --- single sign-on, with a provider on another site --------------------------------------------------

KEYS = Keys()


@pytest.fixture
def company(browser, served):
    """Return a browser, the URLs where sign-ins start and where the provider initiates one, and the user it
    names. The provider is another site: ``localhost``, while Octavo is at 127.0.0.1."""
    known, says = {}, {"email": f"ada-{served.org.lower()}@example.com"}
    issuer = f"https://idp.test/{served.org}"

    def app(environ, start_response):
        query, asked = parse_qs(environ["QUERY_STRING"]), None
        if "SAMLRequest" in query:
            request = zlib.decompress(base64.b64decode(query["SAMLRequest"][0]), -15)
            asked = etree.fromstring(request).get("ID")
        xml = response_xml(
            issuer=issuer,
            audience=known["entityID"],
            recipient=known["acsURL"],
            in_response_to=asked,
            id=f"_{secrets.token_hex(8)}",
            name_id=says["email"],
            email=says["email"],
        )
        document = encoded(sign(xml, KEYS))
        start_response("200 OK", [("content-type", "text/html")])
        return [
            f"""<link rel="icon" href="data:,"><form method="post" action="{known["acsURL"]}">
                <input name="SAMLResponse" value="{document}"><input name="RelayState" value="/docs">
                </form><script>document.forms[0].submit()</script>""".encode()
        ]

    with provider_served(app) as base:
        base = base.replace("127.0.0.1", "localhost")
        body = {
            "label": "Company <b>Ltd</b>",
            "entityID": issuer,
            "certificate": KEYS.certificate,
            "ssoURL": f"{base}/sso",
            "idpInitiated": True,
        }
        known.update(served.admin.post(f"/orgs/{served.org}/saml", json=body).json()["service"])
        context = browser.new_context()
        page = context.new_page()
        trouble = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        yield page, known["startURL"], f"{base}/begin", says
        context.close()
    assert trouble == []


def whoami(page, served):
    """Return the email address of the user of the browser's cookie."""
    answer = page.request.get(f"{served.url}/v1/user")
    return answer.json()["email"] if answer.ok else None


def test_the_requesting_browser_is_signed_in_by_a_provider_on_another_site(company, served):
    page, start, _, says = company
    page.goto(f"{start}?next=/docs")
    page.wait_for_url(f"{served.url}/docs")
    assert whoami(page, served) == says["email"]


def test_an_unrequested_sign_in_asks_for_confirmation(company, served):
    page, _, begin, says = company
    page.goto(begin)
    page.wait_for_url(f"{served.url}/sso")
    # Names are escaped, and the secret is removed from the URL.
    page.get_by_text(
        f"Company <b>Ltd</b> (single sign-on of Octavo) wants to sign you in as {says['email']}."
    ).wait_for()
    assert whoami(page, served) is None
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{served.url}/docs")
    assert whoami(page, served) == says["email"]


@pytest.mark.slow
def test_the_owner_of_an_account_connects_an_identity(company, served):
    page, start, _, says = company
    invited = served.admin.post(f"/orgs/{served.org}/invites", json={"emails": ["carl@example.com"]})
    secret = re.search("secret=([^&]+)", invited.json()["links"][0]["url"])[1]
    body = {"secret": secret, "displayName": "Carl", "password": PASSWORD}
    assert httpx.post(f"{served.url}/v1/invitations", json=body).status_code == 200
    says["email"] = "carl@example.com"
    page.goto(start)
    page.get_by_text("an account with this email address exists.").wait_for()
    assert whoami(page, served) is None
    page.get_by_role("link", name="Sign in to your account").click()
    page.get_by_label("Email address").fill("carl@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Connect account").click()
    page.wait_for_url(f"{served.url}/")
    assert whoami(page, served) == "carl@example.com"
    # From now on, no confirmation is needed.
    page.context.clear_cookies()
    page.goto(f"{start}?next=/docs")
    page.wait_for_url(f"{served.url}/docs")
    assert whoami(page, served) == "carl@example.com"


@pytest.mark.parametrize("path", ["/", "/sign-in", "/invitation", "/sso"])
def test_pages_only_run_their_own_scripts(served, path):
    address = f"{served.url}{path}?next=javascript:alert(1)&secret=<script>alert(1)</script>"
    answer = httpx.get(address, headers={"accept": "text/html"})
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert "alert" not in answer.text


def test_the_root_returns_links_to_programs(served):
    told = httpx.get(served.url, timeout=60).json()
    assert told["api"] == f"{served.url}/v1" and told["sites"] == served.reader_url
    assert httpx.get(told["description"], timeout=60).json()["openapi"].startswith("3.1")
