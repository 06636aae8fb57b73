"""Synchronous script calls: rendering of components, and public endpoints."""

from __future__ import annotations

import base64
import gzip
import json
import time
from functools import partial
from urllib.parse import urljoin

import httpx
import msgspec
import pytest

from light_client import LightClient
from octavo.delivery.reader.app import reader_edge
from octavo.extensions.integrations import event_replies as asking
from octavo.extensions.integrations import store
from octavo.extensions.integrations.contentkit import DEEPEST, BadOutput, read_output
from settled import PATIENCE, until

from .test_installing import PNG, install, integration_id, publish

pytestmark = pytest.mark.sqlite_first

HANDLER = """
export default { async fetch(request, env, context) {
  const form = await request.formData();
  const event = JSON.parse(form.get("event")), environment = JSON.parse(form.get("environment"));
  const body = form.get("fetch-body");
  %s
} };"""


def visit(world, method, path, *, follow=False, **options):
    """Send a request to the origin of sites; ``follow``: follow redirects, with the received cookies."""
    client = LightClient(reader_edge(world.context), "http://sites.test", keeps_cookies=True)
    answer = client.ask(method, path, **options)
    while follow and answer.is_redirect:
        answer = client.ask("GET", urljoin(str(answer.url), answer.headers["location"]))
    return answer


def endpoint(url):
    return "/" + url.split("/", 3)[3]


# --- public endpoints -----------------------------------------------------------------------------------


def test_a_request_reaches_the_script_and_its_response_the_caller(world):
    script = (
        HANDLER
        % """
      return Response.json({ event, body, site: environment.siteInstallation?.site }, { status: 201, headers: {
        location: "https://idp.example.com/", "x-powered-by": "script", "set-cookie": "a=b",
        "access-control-allow-origin": "*", "clear-site-data": "*" } });"""
    )
    policy = {"default-src": "'self'\n  https://cdn.example.com", "sandbox": "allow-same-origin"}
    publish(world, script=script, contentSecurityPolicy=policy)
    made = install(world)
    site = world.post(
        "admin", f"/integrations/chat/installations/{made['id']}/sites", {"siteId": world.home["siteId"]}
    )
    url = site["urls"]["publicEndpoint"]
    answer = visit(
        world,
        "POST",
        f"{endpoint(url)}/oauth/a%20b?code=1&state=x",
        content="hello",
        headers={"cookie": "visitor=1", "x-signature": "abc"},
    )
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert (told["body"], told["site"]) == ("hello", world.home["siteId"])
    request = told["event"]["request"]
    assert request["method"] == "post" and request["url"] == f"{url}/oauth/a%20b?code=1&state=x"
    assert request["headers"]["x-signature"] == "abc" and "cookie" not in request["headers"]
    assert told["event"]["siteId"] == world.home["siteId"]
    assert answer.headers["content-security-policy"].startswith(
        "default-src 'self' https://cdn.example.com; sandbox allow-scripts"
    )
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    assert answer.headers["location"] == "https://idp.example.com/"
    assert answer.headers["x-powered-by"] == "script"
    assert not {"set-cookie", "clear-site-data"} & set(answer.headers)


IDENTITY = (
    "authorization",
    "cookie",
    "proxy-authorization",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-user",
    "x-real-ip",
    "x-forwarded-email",
    "x-forwarded-access-token",
    "x-forwarded-client-cert",
    "remote-user",
    "x-remote-user",
    "x-auth-request-email",
    "x-auth-request-access-token",
    "x-webauth-user",
    "x-authentik-username",
    "x-user-id",
    "x-ms-client-principal",
    "x-goog-iap-jwt-assertion",
    "x-goog-authenticated-user-email",
    "cf-access-jwt-assertion",
    "cf-connecting-ip",
    "x-amzn-oidc-data",
    "x-amzn-oidc-accesstoken",
    "tailscale-user-login",
    "ssl-client-cert",
    "x-ssl-client-s-dn",
    "x-pomerium-jwt-assertion",
    "x-api-key",
    "x-csrf-token",
)
TOLD = (
    "accept",
    "accept-language",
    "content-type",
    "origin",
    "referer",
    "user-agent",
    "if-none-match",
    "x-hub-signature-256",
    "x-github-event",
    "x-github-delivery",
    "x-gitlab-token",
    "x-slack-signature",
    "x-slack-request-timestamp",
    "stripe-signature",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "svix-id",
    "linear-delivery",
    "x-signature-ed25519",
    "x-shopify-hmac-sha256",
    "x-goog-channel-id",
    "x-telegram-bot-api-secret-token",
)


def test_scripts_receive_no_headers_that_identify_people(world):
    """Browsers and proxies put these on every request to a host, whatever is below it."""
    publish(world, script=HANDLER % "return Response.json(event.request.headers);")
    given = {name: "secret" for name in (*IDENTITY, "x-tenant")} | dict.fromkeys(TOLD, "told")
    answer = visit(world, "POST", "/~integrations/chat/x", headers=given, content="a")
    assert answer.status_code == 200, answer.text
    assert answer.json() == dict.fromkeys(TOLD, "told")
    before = world.context.settings
    try:
        world.context.settings = msgspec.structs.replace(before, integration_headers="X-Tenant")
        told = visit(world, "POST", "/~integrations/chat/x", headers=given, content="a").json()
        assert told == {**dict.fromkeys(TOLD, "told"), "x-tenant": "secret"}
    finally:
        world.context.settings = before


def test_headers_are_passed_on_except_reserved_ones(sqlite_world):
    """Scripts share the origin of all sites, so they can't set headers that affect the whole origin."""
    world = sqlite_world
    given = {
        "www-authenticate": "Basic",
        "accept-ranges": "bytes",
        "x-frame-options": "DENY",
        "allow": "GET",
        "x-own": "1",
        "content-encoding": "gzip",
        "digest": "sha-256=abc",
        "permissions-policy": "camera=()",
    }
    ours = {
        "strict-transport-security": "max-age=1",
        "alt-svc": "h3=evil",
        "service-worker-allowed": "/",
        "nel": "{}",
        "report-to": "{}",
        "x-accel-redirect": "/etc/passwd",
        "x-sendfile": "/etc/passwd",
        "accept-ch": "dpr",
        "content-security-policy": "default-src *",
        "x-content-type-options": "off",
        "set-login": "logged-in",
        "transfer-encoding": "chunked",
        "connection": "upgrade",
        "x-request-id": "forged",
        "content-length": "3",
        "set-cookie": "a=b",
        "use-as-dictionary": "match=/*",
        "sec-session-registration": "x",
    }
    headers = json.dumps(
        [*given.items(), *ours.items(), ["link", "<a>; rel=next"], ["link", "<b>; rel=prev"]]
    )
    packed = base64.b64encode(gzip.compress(b"hello " * 1000, 0)).decode()
    publish(
        world,
        script=HANDLER % f"return new Response(Uint8Array.fromBase64('{packed}'), {{ headers: {headers} }});",
    )
    answer = visit(world, "GET", "/~integrations/chat/x", headers={"accept-encoding": "gzip"})
    assert answer.text == "hello " * 1000
    assert {name: answer.headers.get(name) for name in given} == given
    assert answer.headers["link"] == "<a>; rel=next, <b>; rel=prev"
    shown = {name: answer.headers.get(name) for name in ours}
    assert not [name for name, value in ours.items() if shown[name] == value]


@pytest.mark.parametrize(
    ("type", "body", "status"),
    [
        ("fetch", "throw new Error('x');", "failed"),
        ("fetch", "return new Response('oh', { status: 500 });", "failed"),
        ("fetch", "return new Response('no', { status: 404 });", "success"),
        ("ui_render", "return Response.json({ error: 'none' }, { status: 404 });", "success"),
        ("ui_render", "return Response.json({ error: 'wrong' }, { status: 400 });", "failed"),
        (
            "ui_render",
            "context.waitUntil(new Promise(d => setTimeout(d, 200))); return new Response('', { status: 500 });",
            "failed",
        ),
    ],
)
def test_event_status_follows_the_response_of_the_script(sqlite_world, type, body, status):
    """Script libraries catch what a script throws, and answer 500."""
    world = sqlite_world
    publish(world, script=HANDLER % f"if (event.type === '{type}') {{ {body} }} return new Response('OK');")
    install(world)
    if type == "fetch":
        visit(world, "GET", "/~integrations/chat/x")
    else:
        world.call("reader", "POST", "/integrations/chat/render", json=request(world))
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = [
            event
            for event in world.get("admin", "/integrations/chat/events")["items"]
            if event["payload"]["type"] == type
        ]
        if found:
            break
        time.sleep(0.05)
    assert [event["status"] for event in found] == [status]


@pytest.mark.parametrize(
    "path", ["installations/no-such", "installations/{id}/sites/no-such", "installations", "~assets/script"]
)
def test_foreign_and_unknown_installations_are_not_found(world, path):
    publish(world)
    made = install(world)
    assert visit(world, "GET", f"/~integrations/chat/{path.format(id=made['id'])}").status_code == 404
    other = world.home["installationId"]
    assert visit(world, "GET", f"/~integrations/chat/installations/{other}").status_code == 404
    assert visit(world, "GET", "/~integrations/absent").status_code == 404


@pytest.mark.parametrize("use", ["script", "serviceworker"])
def test_script_responses_cannot_run_as_site_code(sqlite_world, use):
    world = sqlite_world
    script = HANDLER % "return new Response('1', { headers: { 'content-type': 'text/javascript' } });"
    publish(world, script=script)
    path = "/~integrations/chat/x.js"
    asked = {"sec-fetch-dest": use, "sec-fetch-site": "same-origin"}
    assert visit(world, "GET", path, headers=asked).status_code == 403
    assert visit(world, "GET", path, headers={**asked, "sec-fetch-site": "cross-site"}).status_code == 200
    assert visit(world, "GET", path, headers={**asked, "sec-fetch-dest": "empty"}).status_code == 200


def test_assets_are_served(world):
    shown = publish(world, icon=PNG, previewImages=[PNG])
    answer = visit(world, "GET", f"{endpoint(shown['urls']['assets'])}/icon.png")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert visit(world, "GET", f"{endpoint(shown['urls']['assets'])}/preview-1.png").status_code == 200


@pytest.mark.parametrize("body", ["for (;;) {}", "throw new Error('secret stack');", "return 7;"])
def test_only_the_owner_sees_the_error_of_a_script(sqlite_world, body, monkeypatch):
    monkeypatch.setattr(asking, "invoke", partial(asking.invoke, seconds=2))
    world = sqlite_world
    publish(world, script=HANDLER % body)
    answer = visit(world, "GET", "/~integrations/chat/x", headers={"authorization": "Basic c2VjcmV0"})
    assert answer.status_code == 502 and "secret stack" not in answer.text
    # It is logged when the script has finished, possibly after the response.
    until(lambda: world.get("admin", "/integrations/chat/events")["items"])
    event = world.get("admin", "/integrations/chat/events")["items"][0]
    assert event["status"] == "failed" and "c2VjcmV0" not in json.dumps(event)
    assert world.get("admin", f"/integrations/chat/events/{event['id']}")["trace"]["logs"]


def test_a_body_up_to_the_limit_reaches_the_script(sqlite_world):
    world = sqlite_world
    publish(world, script=HANDLER % "return new Response(String(body?.length ?? body?.size));")
    most = 5 * 1024 * 1024
    assert visit(world, "POST", "/~integrations/chat", content=b"x" * most).text == str(most)
    assert visit(world, "POST", "/~integrations/chat", content=b"x" * (most + 1)).status_code == 413


def test_other_organizations_do_not_see_tunnel_urls(sqlite_world):
    world = sqlite_world
    scopes = ["site:script:inject", "site:visitor:auth"]
    publish(world, script=HANDLER % "return new Response('OK');", scopes=scopes)
    made = install(world)
    site = world.post(
        "admin", f"/integrations/chat/installations/{made['id']}/sites", {"siteId": world.home["siteId"]}
    )
    with world.context.db.write() as tx:
        store.set_tunnel(tx, integration_id(world, "chat"), "http://tunnel.internal.invalid:1/", True)
    public = endpoint(site["urls"]["publicEndpoint"])
    for path in (
        "/~integrations/chat",
        f"{public}/x",
        f"{public}/~script.js",
        f"{public}/~sign-in?location=/",
    ):
        answer = visit(world, "GET", path)
        assert answer.status_code == 502 and "internal" not in answer.text, path
    answer = world.call("reader", "POST", "/integrations/chat/render", json=request(world))
    assert answer.status_code == 502 and "internal" not in answer.text
    events = world.get("admin", "/integrations/chat/events")["items"]
    shown = world.get("admin", f"/integrations/chat/events/{events[0]['id']}")
    assert "tunnel.internal.invalid" in json.dumps(shown), "its publisher is told"


# --- rendering ------------------------------------------------------------------------------------------

BLOCK = {"type": "block", "children": [{"type": "text", "children": "Hi"}]}


def output(element=BLOCK, **more):
    return {"type": "element", "element": element, "state": {}, "props": {}, **more}


def request(world, **more):
    context = {"type": "document", "theme": "dark", "spaceId": world.home["spaceId"], "editable": False}
    return {"componentId": "card", "props": {"n": 1}, "context": context, **more}


def test_rendering_a_component_requires_access_to_the_space(world):
    script = (
        HANDLER
        % """
      if (event.componentId !== "card") return Response.json({ error: "none" }, { status: 404 });
      const element = { type: "block", children: [{ type: "markdown", content: JSON.stringify(event) }] };
      return Response.json({ type: "element", element, state: event.state ?? {}, props: event.props },
        { headers: { "cache-control": "public, max-age=60" } });"""
    )
    publish(world, script=script)
    made = install(world)
    path = "/integrations/chat/render"
    answer = world.call("reader", "POST", path, json=request(world, state={"open": True}))
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "private, max-age=60"
    event = json.loads(answer.json()["element"]["children"][0]["content"])
    assert event["installationId"] == made["id"] and event["auth"] == {"userId": world.users["reader"]}
    assert (event["props"], event["state"], event["context"]["theme"]) == ({"n": 1}, {"open": True}, "dark")
    assert world.call("reader", "POST", path, json=request(world, componentId="x")).status_code == 404
    assert world.call("guest", "POST", path, json=request(world)).status_code == 404
    forms = [
        {"type": "configuration_account", "organizationId": world.home["organizationId"]},
        {"type": "configuration_space", "spaceId": world.home["spaceId"]},
        {"type": "configuration_site", "siteId": world.home["siteId"]},
    ]
    for form in forms:
        asked = request(world, context={"theme": "light", **form})
        assert world.call("reader", "POST", path, json=asked).status_code == 403, form
        assert world.call("admin", "POST", path, json=asked).status_code == 200, form
        foreign = {key: world.away[key] if key in world.away.ids else value for key, value in form.items()}
        asked["context"] = {"theme": "light", **foreign}
        assert world.call("admin", "POST", path, json=asked).status_code == 404, form
    world.call("admin", "DELETE", f"/integrations/chat/installations/{made['id']}")
    assert world.call("reader", "POST", path, json=request(world)).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"type": "other"},
        output(element={"type": "script", "children": []}),
        output(element={"type": "block"}),
        output(element={"type": "block", "children": [{"type": "iframe"}]}),
        output(element={"type": "block", "children": [7]}),
        output(
            element={"type": "block", "children": [{"type": "webframe", "source": {"url": "javascript:1"}}]}
        ),
        output(
            element={
                "type": "block",
                "children": [{"type": "link", "target": {"url": "data:text/html,x"}, "children": "x"}],
            }
        ),
        output(element={"type": "block", "children": [{"type": "card", "buttons": [{"type": "button"}]}]}),
        output(element={"type": {"a": 1}, "children": []}),
        {"type": "element", "element": BLOCK, "state": {}},
        {"type": "complete", "returnValue": 3},
    ],
)
def test_invalid_outputs_are_not_rendered(wrong):
    with pytest.raises(BadOutput):
        read_output(json.dumps(wrong).encode())


def test_outputs_are_limited():
    def nested(depth):
        element = {"type": "divider"}
        for _ in range(depth):
            element = {"type": "box", "children": [element]}
        return json.dumps(output({"type": "block", "children": [element]})).encode()

    assert read_output(nested(DEEPEST - 2))
    with pytest.raises(BadOutput, match="deep"):
        read_output(nested(DEEPEST))
    million = b'{"element":' + b'{"type":"box","children":[' * 30_000 + b"1" + b"]}" * 30_000 + b"}"
    with pytest.raises(BadOutput):
        read_output(million)
    with pytest.raises(BadOutput, match="elements"):
        read_output(
            json.dumps(output({"type": "block", "children": [{"type": "divider"}] * 10_001})).encode()
        )
    with pytest.raises(BadOutput, match="at most 1 MB"):
        read_output(b" " * 2**21)


def test_unrenderable_script_output_returns_502(sqlite_world):
    world = sqlite_world
    publish(world, script=HANDLER % "return Response.json({ type: 'element' });")
    install(world)
    answer = world.call("reader", "POST", "/integrations/chat/render", json=request(world))
    assert answer.status_code == 502 and "state" in answer.json()["error"]["message"]


def test_a_busy_integration_delays_no_other_organization(sqlite_world, monkeypatch):
    """An organization that uses its share of script threads is asked to retry later."""
    from octavo.extensions.integrations import event_replies as asking

    monkeypatch.setattr(asking, "_PATIENCE", 0.01)
    world = sqlite_world
    publish(world, script=HANDLER % "return new Response('');")
    install(world)
    places = world.context.scripts
    with places.place((world.home["organizationId"],), 0):
        answer = world.call("reader", "POST", "/integrations/chat/render", json=request(world))
        assert answer.status_code == 503 and answer.headers["retry-after"]
        assert places.may_take((world.away["organizationId"],))
    answer = world.call("reader", "POST", "/integrations/chat/render", json=request(world))
    assert answer.status_code == 502


def test_a_script_calls_the_api_as_its_installation(world, monkeypatch):
    """Its requests are made by us: here they go to the application of the test."""
    from octavo.extensions.integrations import invoking
    from octavo.kit.net.fetch import Fetched

    def fetch(self, url, method="GET", headers=None, body=None, limits=None):
        assert self._allowed == {"octavo.test:80"}
        sent = httpx.Response(200, json={"asked": url, "by": headers["authorization"][:11]})
        return Fetched(url, sent.status_code, sent.headers, sent.content)

    monkeypatch.setattr(invoking.Fetcher, "fetch", fetch)
    script = (
        HANDLER
        % """
      const answer = await fetch(environment.apiEndpoint + "/v1/spaces/x", {
        headers: { authorization: "Bearer " + environment.apiTokens.installation } });
      return new Response(await answer.text());"""
    )
    publish(world, script=script)
    made = install(world)
    answer = visit(world, "GET", endpoint(made["urls"]["publicEndpoint"]))
    assert answer.json() == {"asked": "http://octavo.test/v1/spaces/x", "by": "Bearer oci_"}


@pytest.mark.parametrize("host", ["127.0.0.1:1", "169.254.169.254", "[::1]:8000", "10.0.0.1", "0x7f.1"])
def test_a_script_reaches_no_private_network(sqlite_world, host):
    world = sqlite_world
    script = (
        HANDLER
        % f"""
      try {{ await fetch("http://{host}/v1/"); return new Response("reached"); }}
      catch (error) {{ return new Response(String(error)); }}"""
    )
    publish(world, script=script)
    answer = visit(world, "GET", "/~integrations/chat")
    assert answer.text.startswith("TypeError") and "n't allowed" in answer.text


def test_scripts_see_redirects(sqlite_world, monkeypatch):
    from octavo.extensions.integrations import invoking
    from octavo.kit.net.fetch import Fetched

    def fetch(self, url, method="GET", headers=None, body=None, limits=None):
        if limits.follow:
            return Fetched("https://other.test/there", 200, httpx.Headers(), b"there")
        return Fetched(url, 302, httpx.Headers({"location": "https://other.test/there"}), b"")

    monkeypatch.setattr(invoking.Fetcher, "fetch", fetch)
    world = sqlite_world
    script = (
        HANDLER
        % """
      const said = [];
      for (const redirect of ["follow", "manual", "error"]) {
        try { const got = await fetch("https://other.test/", { redirect }); said.push(got.status, got.redirected); }
        catch (error) { said.push(error.name); }
      }
      return Response.json(said);"""
    )
    publish(world, script=script)
    assert visit(world, "GET", "/~integrations/chat").json() == [200, True, 302, False, "TypeError"]
