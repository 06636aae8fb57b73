"""Tests of the built-in integrations on the real runtime: published, installed, configured, and running."""

from __future__ import annotations

import subprocess
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from octavo.kit.runtime.process import find_deno


def copy_of(installed, name):
    return f"{name}.{installed.organization}"


def install_builtin(installed, name):
    done = installed.octavo("integrations", "install-builtin", name, "--org", installed.organization)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Installed {name} (")
    listed = installed.call("GET", f"/integrations/{copy_of(installed, name)}/installations")["items"]
    return f"/integrations/{copy_of(installed, name)}/installations/{listed[0]['id']}"


def make_site(installed, title, **fields):
    space = installed.create_space(title)
    for page in ("Welcome", "Second"):
        installed.write(space, page)
    base = f"/orgs/{installed.organization}/sites"
    site = installed.call("POST", base, {"title": title, "spaces": [space]})
    path = f"{base}/{site['id']}"
    if fields:
        installed.call("PATCH", path, fields)
    return site["id"], installed.call("POST", f"{path}/publish")["urls"]["published"]


@pytest.fixture
def slack(installed, receiver):
    receiver.clear()
    path = install_builtin(installed, "slack")
    installed.call("PATCH", path, {"configuration": {"webhook_url": receiver.url}, "space_selection": "all"})
    return path


def test_slack_reports_changes(installed, receiver, slack):
    space = installed.create_space("A & B <handbook>")
    installed.write(space, "First steps")
    (message,) = [one for one in receiver.wait_for(1) if "First" in one["text"]]
    head, line = message["text"].splitlines()
    assert head.startswith("<http") and head.endswith("|A &amp; B &lt;handbook&gt;> was changed")
    assert line == "• First steps: added"


def test_slack_reports_merges_in_the_channel_of_the_space(installed, receiver, slack):
    space = installed.create_space("Guides")
    installed.call("POST", f"{slack}/spaces", {"space": space})
    own = {"configuration": {"webhook_url": f"{receiver.url}?of=guides"}}
    installed.call("PATCH", f"{slack}/spaces/{space}", own)
    request = installed.call("POST", f"/spaces/{space}/change-requests", {"subject": "Better words"})
    page = {"operation": "insert_page", "title": "Words", "document": {"markdown": "Text.\n"}}
    path = f"/spaces/{space}/change-requests/{request['id']}"
    installed.call("POST", f"{path}/content", {"changes": [page]})
    installed.call("POST", f"{path}/merge")
    (message,) = receiver.wait_for(1)
    assert message["text"].startswith("*Better words* was merged into <")


def test_a_refusing_webhook_shows_in_the_events(installed, receiver, slack):
    receiver.status = 404
    log = f"/integrations/{copy_of(installed, 'slack')}/events"
    installed.write(installed.create_space("Refused"), "Page")
    receiver.wait_for(1)
    events = []
    for _ in range(600):
        events = [
            event
            for event in installed.call("GET", log)["items"]
            if event["payload"]["type"] == "space_content_updated" and event["status"] == "failed"
        ]
        trace = events and installed.call("GET", f"{log}/{events[0]['id']}")["trace"]
        if trace and trace["logs"]:
            break
    assert "the webhook responded with 404" in str(trace)


def test_plausible_counts_views(installed):
    path = install_builtin(installed, "plausible")
    site, _ = make_site(installed, "Counted")
    installed.call("POST", f"{path}/sites", {"siteId": site})
    scripts = f"/orgs/{installed.organization}/sites/{site}/integration-scripts"
    assert installed.call("GET", scripts) == [], "nothing is counted before it is configured"
    configured = {"configuration": {"domain": "docs.example.com", "server": "https://stats.example.com"}}
    assert installed.call("PATCH", f"{path}/sites/{site}", configured)["status"] == "active"
    (script,) = installed.call("GET", scripts)
    assert (script["cookies"], script["contentSecurityPolicy"]) == (False, "connect-src https:")
    loaded = httpx.get(script["script"])
    assert loaded.status_code == 200
    page = """
      globalThis.location = { href: "https://docs.example.com/a#b" };
      globalThis.document = { referrer: "https://example.org/" };
      const handlers = {};
      globalThis.addEventListener = (name, handler) => (handlers[name] = handler);
      globalThis.fetch = async (url, options) => console.log(url, options.body);
    """
    moved = """
      location.href = "https://docs.example.com/a#c"; handlers.popstate();
      location.href = "https://docs.example.com/d"; handlers.popstate();"""
    run = [find_deno(), "eval", "--no-check", "--ext=js", page + loaded.text + moved]
    told = subprocess.run(run, capture_output=True, text=True, check=False, timeout=60)
    assert told.stdout.splitlines() == [
        'https://stats.example.com/api/event {"name":"pageview","domain":"docs.example.com",'
        '"url":"https://docs.example.com/a","referrer":"https://example.org/"}',
        'https://stats.example.com/api/event {"name":"pageview","domain":"docs.example.com",'
        '"url":"https://docs.example.com/d","referrer":"https://docs.example.com/a"}',
    ], told.stderr


@pytest.fixture(scope="module")
def private_site(installed, issuer):
    """Return the URL of a site whose visitors sign in at the provider."""
    path = install_builtin(installed, "oidc-sign-in")
    site, published = make_site(installed, "Private", visibility="visitor-auth")
    installed.call("POST", f"{path}/sites", {"siteId": site})
    given = {"issuer": issuer, "client_id": "docs", "client_secret": "hidden"}
    installed.call("PATCH", f"{path}/sites/{site}", {"configuration": given})
    return published


def begin(browser, address):
    """Return where a visitor of a URL is sent to sign in at the provider."""
    answer = browser.get(address)
    while answer.is_redirect and "/oauth2/authorize" not in answer.headers["location"]:
        answer = browser.get(answer.next_request.url)
    assert answer.is_redirect, answer.text
    return answer.headers["location"]


def test_a_visitor_signs_in_with_openid_connect(installed, private_site):
    with httpx.Client(timeout=60) as browser:
        asked = begin(browser, f"{private_site}second")
        query = {name: values[0] for name, values in parse_qs(urlsplit(asked).query).items()}
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        assert query["scope"] == "openid profile email" and query["nonce"]
        back = browser.post(asked, data={"sub": "ada"}).headers["location"]
        assert back.startswith(f"{query['redirect_uri']}?")
        arrived = browser.get(back, follow_redirects=True)
        assert (arrived.status_code, str(arrived.url)) == (200, f"{private_site}second")
        assert browser.get(private_site, follow_redirects=True).status_code == 200
        again = httpx.get(back)
        assert again.status_code == 502, "a code is good once"
    assert begin(httpx, private_site), "whoever has not signed in is sent to the provider"


def test_unrequested_and_failed_sign_ins_are_refused(private_site):
    asked = begin(httpx, private_site)
    query = {name: values[0] for name, values in parse_qs(urlsplit(asked).query).items()}
    state, callback = query["state"], query["redirect_uri"]
    text, _, signature = state.partition(".")
    for forged in ("", "x", f"{text}.", f"{text}x.{signature}", f"{text}.{signature[:-2]}AA", "%00.%00"):
        answer = httpx.get(callback, params={"code": "1", "state": forged})
        assert answer.status_code == 400 and "wasn't started here" in answer.text, forged
    refused = httpx.get(callback, params={"state": state, "error": "access_denied"})
    assert refused.status_code == 403 and "access_denied" in refused.text
    unknown = httpx.get(callback, params={"state": state, "code": "unknown"})
    assert unknown.status_code == 502 and "jwt_token" not in str(unknown.headers)
    assert httpx.get(callback.replace("/visitor-auth/response", "/other")).status_code == 404


def test_an_unconfigured_site_signs_no_one_in(installed):
    path = install_builtin(installed, "oidc-sign-in")
    site, published = make_site(installed, "Unfinished", visibility="visitor-auth")
    installed.call("POST", f"{path}/sites", {"siteId": site})
    answer = httpx.get(published, follow_redirects=True)
    assert answer.status_code in (401, 403, 404) and "authorize" not in str(answer.url)
