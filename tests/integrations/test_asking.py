"""What somebody waits for: components that are rendered, and public endpoints."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import httpx
import pytest

from octavo.integrations import asking, store
from octavo.integrations.contentkit import DEEPEST, BadOutput, read_output
from octavo.reader import reader_edge

from .test_installing import PNG, install, integration_id, publish

HANDLER = """
export default { async fetch(request, env, context) {
  const form = await request.formData();
  const event = JSON.parse(form.get("event")), environment = JSON.parse(form.get("environment"));
  const body = form.get("fetch-body");
  %s
} };"""


def visit(world, method, path, **options):
    """A request to the origin of sites."""

    async def send():
        edge = reader_edge(world.context)
        transport = httpx.ASGITransport(app=edge)
        async with httpx.AsyncClient(transport=transport, base_url="http://sites.test") as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


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
    site = world.post("admin", f"/integrations/chat/installations/{made['id']}/sites",
                      {"siteId": world.home["siteId"]})  # fmt: skip
    url = site["urls"]["publicEndpoint"]
    answer = visit(world, "POST", f"{endpoint(url)}/oauth/a%20b?code=1&state=x", content="hello",
                   headers={"cookie": "visitor=1", "x-signature": "abc"})  # fmt: skip
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
    assert not {"set-cookie", "x-powered-by", "clear-site-data"} & set(answer.headers)


@pytest.mark.parametrize(
    "path", ["installations/no-such", "installations/{id}/sites/no-such", "installations", "~assets/script"]
)
def test_addresses_that_are_nobodys(world, path):
    publish(world)
    made = install(world)
    assert visit(world, "GET", f"/~integrations/chat/{path.format(id=made['id'])}").status_code == 404
    other = world.home["installationId"]
    assert visit(world, "GET", f"/~integrations/chat/installations/{other}").status_code == 404
    assert visit(world, "GET", "/~integrations/absent").status_code == 404


@pytest.mark.parametrize("use", ["script", "serviceworker"])
def test_what_a_script_answers_is_no_code_of_the_sites_beside_it(sqlite_world, use):
    world = sqlite_world
    script = HANDLER % "return new Response('1', { headers: { 'content-type': 'text/javascript' } });"
    publish(world, script=script)
    path = "/~integrations/chat/x.js"
    asked = {"sec-fetch-dest": use, "sec-fetch-site": "same-origin"}
    assert visit(world, "GET", path, headers=asked).status_code == 403
    assert visit(world, "GET", path, headers={**asked, "sec-fetch-site": "cross-site"}).status_code == 200
    assert visit(world, "GET", path, headers={**asked, "sec-fetch-dest": "empty"}).status_code == 200


def test_assets(world):
    shown = publish(world, icon=PNG, previewImages=[PNG])
    answer = visit(world, "GET", f"{endpoint(shown['urls']['assets'])}/icon.png")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert visit(world, "GET", f"{endpoint(shown['urls']['assets'])}/preview-1.png").status_code == 200


@pytest.mark.parametrize("body", ["for (;;) {}", "throw new Error('secret stack');", "return 7;"])
def test_a_script_that_fails_says_so_to_its_owner_alone(sqlite_world, body, monkeypatch):
    monkeypatch.setattr(asking, "invoke", partial(asking.invoke, seconds=2))
    world = sqlite_world
    publish(world, script=HANDLER % body)
    answer = visit(world, "GET", "/~integrations/chat/x", headers={"authorization": "Basic c2VjcmV0"})
    assert answer.status_code == 502 and "secret stack" not in answer.text
    event = world.get("admin", "/integrations/chat/events")["items"][0]
    assert event["status"] == "failed" and "c2VjcmV0" not in json.dumps(event)
    assert world.get("admin", f"/integrations/chat/events/{event['id']}")["trace"]["logs"]


def test_a_body_up_to_the_limit_reaches_the_script(sqlite_world):
    world = sqlite_world
    publish(world, script=HANDLER % "return new Response(String(body?.length ?? body?.size));")
    most = 5 * 1024 * 1024
    assert visit(world, "POST", "/~integrations/chat", content=b"x" * most).text == str(most)
    assert visit(world, "POST", "/~integrations/chat", content=b"x" * (most + 1)).status_code == 413


def test_nobody_outside_is_told_where_a_tunnel_leads(sqlite_world):
    world = sqlite_world
    scopes = ["site:script:inject", "site:visitor:auth"]
    publish(world, script=HANDLER % "return new Response('OK');", scopes=scopes)
    made = install(world)
    site = world.post("admin", f"/integrations/chat/installations/{made['id']}/sites",
                      {"siteId": world.home["siteId"]})  # fmt: skip
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


def test_a_component_is_rendered_for_whoever_sees_the_space(world):
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
        output(element={"type": "block", "children": [{"type": "webframe", "source": {"url": "javascript:1"}}]}),
        output(element={"type": "block", "children": [
            {"type": "link", "target": {"url": "data:text/html,x"}, "children": "x"}]}),
        output(element={"type": "block", "children": [{"type": "card", "buttons": [{"type": "button"}]}]}),
        output(element={"type": {"a": 1}, "children": []}),
        {"type": "element", "element": BLOCK, "state": {}},
        {"type": "complete", "returnValue": 3},
    ],
)  # fmt: skip
def test_outputs_that_are_not_drawn(wrong):
    with pytest.raises(BadOutput):
        read_output(json.dumps(wrong).encode())


def test_outputs_are_bounded():
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
    with pytest.raises(BadOutput, match="larger"):
        read_output(b" " * 2**21)


def test_what_cannot_be_drawn_is_the_scripts_fault(sqlite_world):
    world = sqlite_world
    publish(world, script=HANDLER % "return Response.json({ type: 'element' });")
    install(world)
    answer = world.call("reader", "POST", "/integrations/chat/render", json=request(world))
    assert answer.status_code == 502 and "state" in answer.json()["error"]["message"]


def test_one_that_is_busy_keeps_nobody_waiting(sqlite_world):
    """Two wait for it; the third is told to come again."""
    from octavo.errors import Unavailable
    from octavo.integrations.asking import _Gate

    gate = _Gate()
    with gate.entered("a", 3), gate.entered("a", 3):
        with pytest.raises(Unavailable), gate.entered("a", 3):
            pass
        with gate.entered("b", 3), pytest.raises(Unavailable), gate.entered("c", 3):
            pass
    with gate.entered("a", 3):
        pass


def test_a_script_calls_the_api_as_its_installation(world, monkeypatch):
    """Its requests are made by us: here they go to the application of the test."""
    from octavo.integrations import invoking
    from octavo.kit.fetch import Fetched

    def fetch(self, url, method="GET", headers=None, body=None, limits=None):
        assert self._allowed == {"octavo.test:80"}
        answer = world._client.build_request(method, url, headers=headers, content=body)
        sent = httpx.Response(200, json={"asked": url, "by": headers["authorization"][:11]}, request=answer)
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
    assert answer.text.startswith("TypeError") and "refused" in answer.text
