"""Requests for each authentication method, in a real browser against a server that echoes them."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from playwright.sync_api import expect

from serving import Administrator, import_site, serving_new
from settled import until

from .test_trying import answering, description_of

pytestmark = pytest.mark.slow

SCHEMES: dict[str, dict[str, Any]] = {
    "inHeader": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "inQuery": {"type": "apiKey", "in": "query", "name": "key"},
    "inCookie": {"type": "apiKey", "in": "cookie", "name": "session"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "token": {"type": "http", "scheme": "token"},
    "digest": {"type": "http", "scheme": "digest"},
    "openid": {
        "type": "openIdConnect",
        "openIdConnectUrl": "https://id.example.com/.well-known/openid-configuration",
    },
    "certificate": {"type": "mutualTLS"},
}
WAYS = [*({name: []} for name in SCHEMES), {"inHeader": [], "bearer": []}]
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "*, authorization",
    "Access-Control-Allow-Methods": "*",
}


@pytest.fixture(scope="module")
def api():
    with answering() as server:
        server.headers = CORS
        yield server


@pytest.fixture(scope="module")
def form(browser, tmp_path_factory, api):
    """Form of an operation that accepts any of the ways."""
    description = description_of(api.host, components={"securitySchemes": SCHEMES}, security=WAYS)
    folder = tmp_path_factory.mktemp("authenticating")
    (folder / "docs").mkdir()
    (folder / "docs" / "README.md").write_text(
        '# Shop\n\n{% openapi-operation spec="shop" path="/pets/{petId}" method="get" %}\n{% endopenapi-operation %}\n'
    )
    with serving_new(folder / "data", OCTAVO_ALLOW_PRIVATE_FETCH=api.host) as served:
        admin = Administrator(served)
        path = f"/orgs/{admin.organization}/openapi/shop"
        admin.call("PUT", path, {"source": {"text": json.dumps(description)}})
        until(lambda: admin.call("GET", path)["processingState"] == "complete")
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{import_site(served, folder / 'docs')}#try")
        form = page.get_by_role("form", name="GET /pets/{petId}")
        form.get_by_label("petId").fill("1")
        yield form
        assert errors == []
        context.close()


@pytest.mark.parametrize(
    ("way", "entered", "sent"),
    [
        ("inHeader", {"inHeader": "k 1"}, ("x-key", "k 1")),
        ("inQuery", {"inQuery": "k&1"}, ("path", "/v1/pets/1?key=k%261")),
        ("inCookie", {"inCookie": "k1"}, ("cookie", "session=k1")),
        (
            "basic",
            {"Username": "Zoë", "Password": "p:w"},
            ("authorization", f"Basic {b64encode('Zoë:p:w'.encode()).decode()}"),
        ),
        ("bearer", {"bearer": "t1"}, ("authorization", "Bearer t1")),
        ("token", {"token": "t1"}, ("authorization", "Token t1")),
        ("digest", {"digest": 'username="a"'}, ("authorization", 'Digest username="a"')),
        ("openid", {"openid": "t1"}, ("authorization", "Bearer t1")),
        ("certificate", {}, ("authorization", None)),
        ("inHeader + bearer", {"inHeader": "k2", "bearer": "t2"}, ("x-key", "k2")),
    ],
)
def test_credentials_are_sent_where_the_description_declares_them(form, api, way, entered, sent):
    api.asked.clear()
    form.locator("select").filter(has_text="inHeader + bearer").select_option(label=way)
    for label, text in entered.items():
        form.get_by_label(label, exact=False).first.fill(text)
    form.get_by_role("button", name="Send", exact=True).click()
    until(lambda: api.asked)
    expect(form.locator(".try-status strong")).to_have_text("200 OK")
    name, value = sent
    (asked,) = api.asked
    # Pages can't send cookies of another site, so these go through our server.
    assert (asked["headers"]["user-agent"][:7] == "Mozilla") is (way != "inCookie")
    assert (asked["path"] if name == "path" else asked["headers"].get(name)) == value
    if way == "inHeader + bearer":
        assert asked["headers"]["authorization"] == "Bearer t2"
    said = form.locator(".try-beyond")
    if way == "digest":
        expect(said).to_contain_text("Digest needs a value computed for each request")
    elif way == "certificate":
        expect(said).to_contain_text("certificate is a client certificate (mutual TLS)")
    else:
        expect(said).to_have_count(0)
    if way == "openid":
        expect(form.get_by_role("link", name=SCHEMES["openid"]["openIdConnectUrl"])).to_be_visible()
