"""OAuth tokens that a page gets for trying operations, in a real browser against a provider that checks its
requests."""

from __future__ import annotations

import base64
import hashlib
import json
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from local_server import local_server
from serving import Administrator, import_site, serving_new
from settled import until

from .test_trying import answering, description_of

PAGE = """# Shop

{% openapi-operation spec="shop" path="/pets/{petId}" method="get" %}
{% endopenapi-operation %}

{% openapi-operation spec="shop" path="/pets" method="post" %}
{% endopenapi-operation %}
"""
CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*, authorization"}


class Provider(BaseHTTPRequestHandler):
    """Provider that signs in everyone at once, and issues tokens for its codes."""

    def log_message(self, *args: Any) -> None:
        pass

    def _say(self, status: int, said: dict[str, Any]) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        for name, value in self.server.headers.items():  # type: ignore[attr-defined]
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self) -> None:
        self._say(200, {})

    def do_GET(self) -> None:
        server: Any = self.server
        asked = dict(parse_qsl(urlsplit(self.path).query))
        server.asked.append(asked)
        answer = {"code": "code-1", "state": asked["state"]}
        if server.refuses:
            answer = {
                "error": "access_denied",
                "error_description": "Not <b>today</b>.",
                "state": asked["state"],
            }
        if server.forges:
            answer["state"] = "another"
        self.send_response(302)
        self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(answer)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        server: Any = self.server
        sent = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        authorization = self.headers.get("Authorization", "")
        server.sent.append((sent, authorization))
        if server.basic_only and not authorization.startswith("Basic "):
            return self._say(401, {"error": "invalid_client"})
        if sent["grant_type"] == "authorization_code":
            digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            asked = server.asked[-1]
            if sent["code"] != "code-1" or challenge != asked["code_challenge"]:
                return self._say(400, {"error": "invalid_grant"})
            assert sent["redirect_uri"] == asked["redirect_uri"]
        return self._say(
            200,
            {"access_token": f"token-of-{sent['grant_type']}", "token_type": "Bearer", "expires_in": 3600},
        )


@pytest.fixture(scope="module")
def provider():
    with local_server(Provider) as server:
        yield server


@pytest.fixture(scope="module")
def api():
    with answering() as server:
        yield server


@pytest.fixture(scope="module")
def site(tmp_path_factory, api, provider):
    token = f"http://{provider.host}/token"
    scopes = {"pets:read": "See pets", "pets:write": "Change pets"}
    flows = {
        "authorizationCode": {
            "authorizationUrl": f"http://{provider.host}/authorize?tenant=1",
            "tokenUrl": token,
            "scopes": scopes,
        },
        "clientCredentials": {"tokenUrl": token, "scopes": scopes},
        "password": {"tokenUrl": token, "scopes": scopes},
    }
    components = {"securitySchemes": {"login": {"type": "oauth2", "flows": flows}}}
    description = description_of(api.host, components=components, security=[{"login": ["pets:read"]}])
    folder = tmp_path_factory.mktemp("signing-in")
    (folder / "docs").mkdir()
    (folder / "docs" / "README.md").write_text(PAGE)
    with serving_new(folder / "data", OCTAVO_ALLOW_PRIVATE_FETCH=api.host) as served:
        admin = Administrator(served)
        path = f"/orgs/{admin.organization}/openapi/shop"
        admin.call("PUT", path, {"source": {"text": json.dumps(description)}})
        until(lambda: admin.call("GET", path)["processingState"] == "complete")
        yield import_site(served, folder / "docs")


@pytest.fixture
def page(browser, site, api, provider):
    api.asked.clear()
    api.status, api.headers, api.answer = 200, CORS, None
    provider.asked, provider.sent, provider.headers = [], [], dict(CORS)
    provider.refuses = provider.forges = provider.basic_only = False
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.seen = []
    context.on("request", lambda request: page.seen.append((request.url, request.post_data or "")))
    page.goto(site)
    yield page
    assert page.errors == []
    context.close()


def opened(page, number=0, called="GET /pets/{petId}"):
    page.evaluate("document.querySelectorAll('.openapi-block').forEach((each) => { each.open = true; })")
    page.get_by_role("button", name="Try it").nth(number).click()
    form = page.get_by_role("form", name=called)
    form.get_by_role("button", name="Send").wait_for()
    return form


def test_visitors_sign_in_with_a_code_bound_to_the_page(page, site, api, provider):
    form = opened(page)
    expect(form.locator(".try-redirect code")).to_have_text(f"{site}~signed-in")
    form.get_by_label("Client ID").fill("docs")
    form.locator(".try-scopes summary").click()
    expect(form.get_by_role("checkbox", name="pets:read")).to_be_checked()
    form.get_by_role("checkbox", name="pets:write").check()
    form.get_by_role("button", name="Sign in").click()
    expect(form.locator(".try-said")).to_have_text("Ready to try")
    (asked,) = provider.asked
    assert asked["tenant"] == "1" and asked["scope"] == "pets:read pets:write"
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
    expect(form.locator(".try-lasts")).to_have_text("59 min left")
    form.get_by_label("petId").fill("1")
    form.get_by_role("button", name="Send").click()
    expect(form.locator(".try-status strong")).to_have_text("200 OK")
    assert api.asked[-1]["headers"]["authorization"] == "Bearer token-of-authorization_code"
    # The token was never on our server, in a URL, or in the browser's storage.
    ours = [each for each in page.seen if each[0].startswith(site)]
    assert ours and not any("token-of" in url + body for url, body in ours)
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert "token-of" not in kept and "docs" not in kept


@pytest.mark.slow
def test_credentials_are_masked_and_can_be_cleared(page, site):
    form = opened(page)
    form.locator(".try-oauth select").select_option(label="Client credentials")
    form.get_by_label("Client ID").fill("docs")
    form.get_by_label("Client secret").fill("a-long-secret-9876")
    form.get_by_role("button", name="Get a token").click()
    expect(form.locator(".try-said")).to_have_text("Ready to try")
    form.get_by_label("Keep in this tab").check()
    # It applies to the other operation, and on the next page in the tab.
    page.reload()
    other = page.get_by_role("form", name="GET /pets/{petId}")
    other.locator(".try-access summary").click()
    rows = other.locator(".try-access li")
    expect(rows).to_have_count(3)
    expect(other.locator(".try-access")).to_contain_text("••••9876")
    expect(other.locator(".try-access")).not_to_contain_text("a-long")
    rows.filter(has_text="Client secret").get_by_role("button").click()
    expect(rows).to_have_count(2)
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('9876')")
    other.get_by_role("button", name="Forget all").click()
    expect(rows).to_have_count(0)
    page.wait_for_function("sessionStorage.getItem('octavo-access') === '{}'")
    expect(other.get_by_role("textbox", name="login")).to_have_value("")


def test_visitors_can_use_a_name_and_a_password(page, provider):
    form = opened(page)
    form.locator(".try-oauth select").select_option(label="Password")
    form.get_by_label("Username").fill("ada")
    form.get_by_label("Password", exact=True).fill("lovelace")
    form.get_by_label("Client ID").fill("docs")
    form.get_by_role("button", name="Get a token").click()
    expect(form.locator(".try-said")).to_have_text("Ready to try")
    sent, _ = provider.sent[-1]
    assert (sent["username"], sent["password"], sent["scope"]) == ("ada", "lovelace", "pets:read")
    # The password is used once.
    form.locator(".try-access summary").click()
    expect(form.locator(".try-access li")).to_have_count(2)


@pytest.mark.slow
def test_a_client_secret_is_sent_in_the_header_if_required(page, provider):
    provider.basic_only = True
    form = opened(page)
    form.locator(".try-oauth select").select_option(label="Client credentials")
    form.get_by_label("Client ID").fill("do:cs")
    form.get_by_label("Client secret").fill("s e")
    form.get_by_role("button", name="Get a token").click()
    expect(form.locator(".try-said")).to_have_text("Ready to try")
    assert base64.b64decode(provider.sent[-1][1].removeprefix("Basic ")) == b"do%3Acs:s+e"


@pytest.mark.slow
def test_sign_in_errors_are_shown(page, provider):
    form = opened(page)
    form.get_by_role("button", name="Sign in").click()
    said = form.locator(".try-said")
    expect(said).to_have_text("Client ID is missing.")
    form.get_by_label("Client ID").fill("docs")
    provider.refuses = True
    form.get_by_role("button", name="Sign in").click()
    expect(said).to_have_text("The provider didn't issue a token: Not <b>today</b>.")
    # Only pages that the provider allows can read its responses.
    provider.refuses, provider.headers = False, {}
    form.get_by_role("button", name="Sign in").click()
    expect(said).to_contain_text("enter it manually")


def test_an_unrequested_response_is_refused(page, provider):
    provider.forges = True
    form = opened(page)
    form.get_by_label("Client ID").fill("docs")
    with page.context.expect_page() as other:
        form.get_by_role("button", name="Sign in").click()
    if not other.value.is_closed():
        other.value.wait_for_event("close")
    expect(form.locator(".try-said")).to_have_text("Sign in using the other window.")
    assert provider.sent == []
