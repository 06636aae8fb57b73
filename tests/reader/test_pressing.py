"""Visitors press what blocks of integrations offer: the script receives that, and nothing it didn't offer."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.delivery.reader.block_actions import ComponentField, can_be_offered
from octavo.delivery.reader.blocks import CannotBeDrawn, draw_output
from octavo.delivery.reader.views import FrameLabels
from octavo.extensions.integrations.contentkit import BadOutput, read_output
from octavo.extensions.integrations.framing import Frames

from .test_blocks import Pages

pytestmark = pytest.mark.sqlite_first

FORM = """
  const { componentId, state = { n: 0, note: "" }, action, props } = event;
  if (componentId === "ask") {
    if (action?.action === "send") return Response.json({ type: "complete", returnValue: { said: state.words } });
    const element = { type: "modal", title: "Ask", returnValue: { said: "closed" }, children: [
      { type: "input", label: "Words", element: { type: "textinput", state: "words" } } ],
      submit: { type: "button", label: "Send", onPress: { action: "send" } } };
    return Response.json({ type: "element", element, state: { words: props.words ?? "" }, props });
  }
  if (action?.action === "more") state.n += action.by;
  if (action?.action === "fail") throw new Error("zqinside");
  if (action?.action === "@ui.modal.close") state.note = "said " + action.returnValue.said;
  if (action?.action === "told") state.note = JSON.stringify([action, state]);
  const element = { type: "block", children: [
    { type: "text", children: "Count " + state.n + " " + state.note },
    { type: "button", label: "More", onPress: { action: "more", by: 2 } },
    { type: "button", label: "Ask", onPress: { action: "@ui.modal.open", componentId: "ask", props: { words: "hi" } } },
    { type: "button", label: "Fail", onPress: { action: "fail" } },
    { type: "button", label: "Edit", onPress: { action: "@editor.node.updateProps", props: {} } },
    { type: "button", label: "Off", disabled: true, onPress: { action: "more", by: 100 } },
    { type: "input", label: "Size", element: { type: "select", state: "size", onValueChange: { action: \
"told", size: { $state: "size" } },
      options: [{ id: "s", label: "Small" }, { id: "l", label: "Large" }] } },
    { type: "input", label: "Loud", element: { type: "switch", state: "loud", onValueChange: { action: "told" } } },
    { type: "checkbox", state: "many", value: "a" }, { type: "checkbox", state: "many", value: 7 },
    { type: "radio", state: "one", value: "x" }, { type: "radio", state: "one", value: "y" },
    { type: "input", label: "Code", element: { type: "codeblock", state: "code", content: "a <= 1\\nb", \
onContentChange: { action: "told" } } },
    { type: "webframe", source: { url: "ENDPOINT/page" }, data: { n: { $state: "n" } } },
  ] };
  return Response.json({ type: "element", element, state, props });"""


class Form(Pages):
    def __init__(self, world):
        self.endpoint = f"{world.context.settings.sites_url}/~integrations/shapes"
        self.form = FORM.replace("ENDPOINT", self.endpoint)
        super().__init__(world, self.form)
        self.at = self.address()
        shown = self.visitor.get(self.at)
        assert shown.status_code == 200, shown.text
        self.html = shown.text

    @staticmethod
    def offer(text):
        return html.unescape(re.search(r'data-offer="([^"]+)"', text)[1])

    @staticmethod
    def act(text, label):
        """Return the action number of a button, or of the control under a label."""
        found = re.search(rf'data-act="(\d+)"[^>]*>{label}<', text)
        found = found or re.search(rf'<span>{label}</span><[^>]* data-act="(\d+)"', text)
        return int(found[1])

    def press(self, label, text=None, at=None, headers=None, **values):
        text = text or self.html
        message = {"offer": self.offer(text), "act": self.act(text, label), "values": values}
        return self.send(message, at, headers)

    def send(self, message, at=None, headers=None):
        return self.visitor.send(at or self.at, message, **(headers or {}))


def test_pressing_a_button_renders_the_block_again(world):
    form = Form(world)
    first = form.press("More")
    assert first.status_code == 200, first.text
    assert first.json()["into"] == "block" and "Count 2" in first.json()["html"]
    again = form.press("More", first.json()["html"])
    assert "Count 4" in again.json()["html"]
    assert "Count 0" in form.visitor.get(form.at).text, "others see it as it was"
    assert again.headers["cache-control"] == "no-store"


def test_fields_are_part_of_the_state_and_of_actions(world):
    form = Form(world)
    told = form.press("Size", size="l", loud=True, many=["a", 7], one="y").json()["html"]
    said = html.unescape(re.search(r"Count 0 (.*?)</", told)[1])
    action, state = json.loads(said)
    assert action == {"action": "told", "size": "l"}
    assert state == {"n": 0, "note": "", "size": "l", "loud": True, "many": ["a", 7], "one": "y"}
    assert re.search(r'<option value="l" selected>Large', told) and told.count(" checked") == 4


def test_a_code_block_with_a_state_is_a_field(world):
    form = Form(world)
    assert re.search(r"<textarea class=\"listing\"[^>]*>\na &lt;= 1\nb</textarea>", form.html)
    told = form.press("Code", code="c = 2").json()["html"]
    action, state = json.loads(html.unescape(re.search(r"Count 0 (.*?)</", told)[1]))
    assert action == {"action": "told"} and state == {"n": 0, "note": "", "code": "c = 2"}
    assert ">\nc = 2</textarea>" in told
    long = {"type": "codeblock", "state": "code", "content": "x" * 10_001}
    output = {"type": "element", "element": {"type": "block", "children": [long]}, "state": {}, "props": {}}
    drawn = draw_output(
        read_output(json.dumps(output).encode()), FrameLabels(), sign=lambda actions, fields: "o"
    )
    assert "<textarea" not in drawn and "<pre" in drawn


def test_a_modal_opens_responds_and_closes(world):
    form = Form(world)
    opened = form.press("Ask").json()
    assert opened["into"] == "modal" and "<dialog" in opened["html"] and 'value="hi"' in opened["html"]
    sent = form.press("Send", opened["html"], words="hello").json()
    assert sent["into"] == "block" and "said hello" in sent["html"]
    close = int(re.search(r'data-close[^>]*data-act="(\d+)"', opened["html"])[1])
    closed = form.send({"offer": form.offer(opened["html"]), "act": close}).json()
    assert closed["into"] == "block" and "said closed" in closed["html"]


def test_unoffered_actions_are_refused(world):
    form = Form(world)
    offer = form.offer(form.html)
    good = {"offer": offer, "act": 0, "values": {}}
    asked = len(form.events())
    head, _, mac = offer.partition(".")
    wrong = [
        {**good, "act": 99},
        {**good, "act": -1},
        {**good, "act": "0"},
        {"act": 0},
        [],
        "x",
        {**good, "offer": f"{head[:-2]}AA.{mac}"},
        {**good, "offer": ""},
        {**good, "offer": "é"},
        {**good, "values": {"n": 5}},
        {**good, "values": {"size": "xl"}},
        {**good, "values": {"loud": "yes"}},
        {**good, "values": {"many": ["b"]}},
        {**good, "values": {"one": True}},
        {**good, "values": {"__proto__": "x"}},
        {**good, "values": {"size": {"$state": "n"}}},
    ]
    for message in wrong:
        assert form.send(message).status_code == 400, message
    assert form.press("More", headers={"origin": "https://evil.test"}).status_code == 403
    assert form.visitor.post(form.at, {"offer": offer}).status_code == 403, "a form of another page"
    assert form.press("More", at=form.at.replace("block=", "block=0")).status_code == 404
    assert len(form.events()) == asked, "the script was not asked"
    assert "Edit" in form.html and not re.search(r'data-act="\d+"[^>]*>(Edit|Off)<', form.html)


def test_an_action_is_only_valid_for_its_block_and_version(world, clock):
    form = Form(world)
    page = world.get("admin", f"/spaces/{form.space}/content/pages")["pages"][0]
    text = '# Page\n\n{% @shapes/card n="other" %}\n'
    form.write([{"operation": "update_page", "page": page["id"], "document": {"markdown": text}}])
    assert form.press("More", at=form.address()).status_code == 409
    assert form.press("More").status_code == 404, "the block is gone"
    form.at = form.address()
    form.html = form.visitor.get(form.at).text
    clock.advance(1000)
    form.publish(form.form)
    assert form.press("More").status_code == 409


def test_visitors_do_not_see_errors_of_scripts(world):
    form = Form(world)
    answer = form.press("Fail")
    assert answer.status_code == 502 and "zqinside" not in answer.text


def test_frames_only_show_pages_of_the_integration(world):
    form = Form(world)
    assert f'<iframe src="{form.endpoint}/page"' in form.html
    assert 'sandbox="allow-scripts allow-forms allow-popups"' in form.html
    policy = form.visitor.get(form.base).headers["content-security-policy"]
    frames = next(part for part in policy.split("; ") if part.startswith("frame-src"))
    assert frames.endswith(f" {form.endpoint}/")
    for url in ("https://x.test/", "http://sites.test/~integrations/shapes2/", "http://sites.test/o/site/"):
        drawn = draw_output(
            {
                "type": "element",
                "element": {"type": "block", "children": [{"type": "webframe", "source": {"url": url}}]},
                "state": {},
                "props": {},
            },
            FrameLabels(),
            frames=Frames("http://sites.test/~integrations/shapes/"),
        )
        assert "<iframe" not in drawn


@pytest.mark.parametrize(
    "name", ["@ui.url.open", "@link.unfurl", "@editor.node.updateProps", "@new", 7, None, ""]
)
def test_visitors_cannot_use_actions_of_editors(name):
    assert can_be_offered({"action": name}, modal=False) == (name == "")
    assert not can_be_offered(name, modal=False)


def test_only_one_modal_is_open():
    opening = {"action": "@ui.modal.open", "componentId": "x", "props": {}}
    assert can_be_offered(opening, modal=False) and not can_be_offered(opening, modal=True)
    assert not can_be_offered({"action": "@ui.modal.open"}, modal=False)


PLAIN = st.none() | st.booleans() | st.integers(-5, 5) | st.text("a<é$", max_size=5)
INNER = PLAIN | st.dictionaries(st.sampled_from(["$state", "a", "action", "id", "label"]), PLAIN, max_size=3)
JSON = INNER | st.lists(INNER, max_size=3)
KINDS = [
    "button",
    "textinput",
    "select",
    "switch",
    "checkbox",
    "radio",
    "card",
    "input",
    "webframe",
    "codeblock",
]
NAMES = [
    "state",
    "value",
    "options",
    "onPress",
    "onValueChange",
    "confirm",
    "disabled",
    "initialValue",
    "multiple",
    "inputType",
    "multiline",
    "data",
    "onContentChange",
    "content",
    "aspectRatio",
    "label",
    "element",
]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5),
    st.dictionaries(st.text("ab$", max_size=3), JSON, max_size=3),
)
def test_controls_of_scripts_are_rendered_or_refused(kind, given, state):
    output = {
        "type": "element",
        "element": {"type": "block", "children": [{**given, "type": kind}]},
        "state": state,
        "props": {},
    }
    try:
        checked = read_output(json.dumps(output).encode())
        draw_output(checked, FrameLabels(), sign=lambda actions, fields: "offer")
    except (BadOutput, CannotBeDrawn):
        pass


def test_fields_have_values():
    assert ComponentField("text").allows("x" * 10_000) and not ComponentField("text").allows("x" * 10_001)
    assert not ComponentField("one", [1]).allows(True) and ComponentField("many", [1, "a"]).allows([])
    assert not ComponentField("many", ["a"]).allows(["a"] * 201)
