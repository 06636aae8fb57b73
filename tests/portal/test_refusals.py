"""The pages that people see after a failed sign-in elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import etree

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from octavo.organization.access.tokens import is_same_origin
from octavo.organization.portal import drawing
from octavo.organization.portal.drawing import FILES, draw_home, draw_refusal, read_file
from world import PASSWORD, URL

BROWSED = {
    "startOpenIdSignIn": "/oidc/start",
    "finishOpenIdSignIn": "/oidc/callback?state=<script>&code=made-up",
    "startSamlSignIn": "/saml/nowhere/start",
    "finishSamlSignIn": "/saml/nowhere/finish?answer=made-up",
    "receiveSamlResponse": "/saml/nowhere/acs",
    "getUnsubscribePage": "/notifications/unsubscribe?token=made-up",
}


def test_the_portal_has_all_pages_that_browsers_are_sent_to():
    load_packages()
    assert {operation.id for operation in TABLE.values() if operation.browsed} == set(BROWSED)
    # Operations that redirect browsers also receive browsers.
    assert {operation.id for operation in TABLE.values() if operation.status == 303} <= set(BROWSED)


@pytest.mark.parametrize("name", BROWSED)
def test_refusals_are_html_pages(world, name):
    method, path = TABLE[name].method, BROWSED[name]
    options = {"data": {"SAMLResponse": "made up"}} if method == "POST" else {}
    page = world.call("nobody", method, path, headers={"accept": "text/html,*/*;q=0.8"}, **options)
    assert 400 <= page.status_code < 600
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    drawn = etree.HTML(page.text)
    assert not drawn.xpath("//script") and drawn.xpath("//a/@href") == ["/sign-in"]
    told = world.call("nobody", method, path, **options)
    assert told.status_code == page.status_code
    error = told.json()["error"]
    # People don't see the name of the field.
    message = error["message"].removeprefix(f"{error.get('field')}: ")
    assert drawn.xpath("//main/p")[0].text == message[0].upper() + message[1:]


@pytest.mark.parametrize(
    ("origin", "same"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("http://localhost:8001", False),
        ("https://localhost:8000", False),
        ("http://localhost.example.com:8000", False),
        ("http://localhost:bad", False),
        ("null", False),
    ],
)
def test_portal_pages_work_at_every_name_of_localhost(origin, same):
    assert is_same_origin(origin, "http://127.0.0.1:8000") is same
    assert not is_same_origin(origin, "http://docs.example.com:8000")


def test_a_page_at_another_host_shows_the_url_to_use(world):
    body = {"email": "reader@example.org", "password": PASSWORD, "cookie": True}
    address = world.context.settings.url
    for origin, status in ((address, 200), (address.upper(), 200), ("http://localhost", 403)):
        answer = world.call("nobody", "POST", "/sign-in", json=body, headers={"origin": origin})
        assert answer.status_code == status, answer.text
    assert address in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.name.endswith(".html")], ids=lambda file: file.name
)
def test_pages_show_the_name_of_the_server(world, file):
    page = read_file(file.name, "Acme & <Sons> MESSAGE", mails=True).decode()
    assert "Acme &amp; &lt;Sons&gt; MESSAGE</title>" in page
    assert (
        world.call("nobody", "GET", f"{URL}{file.path}").text
        == read_file(file.name, "Octavo", mails=False).decode()
    )


def test_forms_are_hidden_until_their_script_runs():
    """A form without a listener would put its values, such as a password, into the URL."""
    shown = [
        f"{template.name}: {form}"
        for template in Path(drawing.__file__).parent.glob("templates/*.html")
        for form in re.findall(
            r"<form[^>]*>", re.sub(r"(?s)<template.*?</template>", "", template.read_text())
        )
        if "hidden" not in form
    ]
    assert shown == []


def test_values_in_templates_are_escaped():
    page = draw_refusal("MESSAGE", "MESSAGE <i>", "INSTALLATION <b>").decode()
    assert "INSTALLATION &lt;b&gt;" in page and "MESSAGE &lt;i&gt; · MESSAGE</title>" in page
    assert "Acme</h1>" in draw_home("Acme", "https://sites.example.com").decode()
