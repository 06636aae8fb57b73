"""Bad scripts and bad requests to scripts, on the real runtime and through the whole platform."""

from __future__ import annotations

import json

import pytest

from octavo.extensions.integrations.public import LARGEST

from .test_asking import HANDLER, endpoint, visit
from .test_delivering import told, work
from .test_installing import install, manifest, publish

pytestmark = pytest.mark.sqlite_first

RENDERS = """
  if (event.type !== "ui_render") return new Response("OK");
  %s"""


def render(world, props=None):
    context = {"type": "document", "theme": "light", "spaceId": world.home["spaceId"], "editable": False}
    asked = {"componentId": "any", "props": props or {}, "context": context}
    return world.call("reader", "POST", "/integrations/chat/render", json=asked)


DEEP = """
  const deep = 1_000_000;
  const text = '{"type":"element","element":{"type":"block","children":[' +
    '{"type":"vstack","children":['.repeat(deep) + "]}".repeat(deep) + "]}}";
  return new Response(text, { headers: { "content-type": "application/json" } });"""
WIDE = """
  const children = Array.from({ length: 200_000 }, () => ({ type: "divider" }));
  return Response.json({ type: "element", element: { type: "block", children }, state: {}, props: {} });"""
NO_JSON = "return new Response('{', { headers: { 'content-type': 'application/json' } });"
HUGE = "return new Response('x'.repeat(30_000_000));"


@pytest.mark.parametrize("body", [DEEP, WIDE, NO_JSON, HUGE], ids=["deep", "wide", "no json", "huge"])
def test_outputs_that_cannot_be_rendered(sqlite_world, body):
    world = sqlite_world
    publish(world, script=HANDLER % (RENDERS % body))
    install(world)
    answer = render(world)
    assert answer.status_code == 502, answer.text[:300]
    assert len(answer.text) < 1000
    publish(
        world, script=HANDLER % (RENDERS % "return Response.json({ type: 'complete', returnValue: {} });")
    )
    assert render(world).status_code == 200, "the next version is not held up"


def test_bodies_beyond_the_limit_never_reach_a_script(sqlite_world):
    world = sqlite_world
    publish(world, script=HANDLER % "return new Response(String(body.length));")
    path = endpoint(install(world)["urls"]["publicEndpoint"])
    assert visit(world, "POST", path, content=b"x" * LARGEST).text == str(LARGEST)
    assert visit(world, "POST", path, content=b"x" * (LARGEST + 1)).status_code == 413


def test_a_script_beyond_the_limit_is_not_published(sqlite_world):
    body = manifest(sqlite_world, script="/" * (4 * 1024 * 1024 + 1))
    answer = sqlite_world.call("admin", "POST", "/integrations/chat", json=body)
    assert answer.status_code == 400 and "script" in answer.json()["error"]["message"]


def test_installations_share_no_state(world):
    script = HANDLER % "globalThis.count = (globalThis.count ?? 0) + 1; return new Response(String(count));"
    publish(world, script=script, visibility="public")
    paths = [
        endpoint(made["urls"]["publicEndpoint"])
        for made in (install(world), install(world, who="stranger", place=world.away))
    ]
    assert [visit(world, "GET", path).text for path in (paths[0], paths[0], paths[1])] == ["1", "2", "1"]


def test_secrets_in_errors_are_hidden(world):
    script = HANDLER % "throw new Error(`${environment.secrets.KEY} ${environment.authToken}`);"
    publish(world, script=script, secrets={"KEY": "a-very-secret-value"})
    made = install(world)
    answer = visit(world, "GET", endpoint(made["urls"]["publicEndpoint"]))
    assert answer.status_code == 502 and "very-secret" not in answer.text
    work(world)
    kept = json.dumps(told(world))
    assert "[secret] [secret]" in kept and "very-secret" not in kept and "oci_" not in kept


def test_prototype_keys_are_plain_keys(sqlite_world):
    world = sqlite_world
    body = """
      const shown = JSON.stringify([Object.keys(event.props), ({}).polluted ?? null, event.props.polluted ?? null]);
      return Response.json({ type: "element", element: { type: "block", children: [{ type: "text", children: shown }] },
        state: {}, props: event.props });"""
    publish(world, script=HANDLER % (RENDERS % body))
    install(world)
    props = {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}
    shown = render(world, props).json()
    assert shown["element"]["children"][0]["children"] == '[["__proto__","constructor"],null,null]'
    assert shown["props"] == props
