"""Integration blocks on pages: script output, rendered as HTML by Octavo.

Integration scripts are slow, so pages don't wait for them: a page is sent without the output of scripts, and the
browser fetches each block. The initial output is cached for all readers. Integrations learn nothing about readers
except which controls they use and which values they enter."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from octavo.core.document.html import render
from octavo.core.document.html_context import HtmlContext
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.core.document.reader import read
from octavo.core.document.urls import safe_url
from octavo.core.icons import icon
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import host_of
from octavo.delivery.visits.authorization import SpaceVisit
from octavo.errors import BadRequest, NotFound
from octavo.extensions.integrations.blocks import find_block_owner, render_block, version_of
from octavo.extensions.integrations.event_replies import Failed
from octavo.extensions.integrations.framing import Frames, frames_of
from octavo.extensions.integrations.invoking import Subject
from octavo.extensions.integrations.rendering import Rendered
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.cache import ByteCache
from octavo.kit.db.database import Transaction
from octavo.kit.processes.highlighting import Highlighter

from .block_actions import (
    CLOSE,
    ComponentField,
    DrawRequest,
    Offer,
    OfferedComponent,
    can_be_offered,
    close_modal,
    name_block,
    read_press,
    sign_offer,
)
from .drawing import draw_block
from .styling import SiteLook
from .views import ElementView, FrameLabels

_LARGEST = 4 * 1024 * 1024
"""Maximum number of HTML characters in one block."""
_FAILED = 30
"""Seconds to wait before running a failed script again."""
_ID = re.compile(r' (id|aria-controls|aria-labelledby|aria-describedby|popovertarget|href)="(#?)')

_highlighter = Highlighter()


class KeptBlock(NamedTuple):
    """Cached block. ``html``: the HTML; None if the script failed with ``error``. ``until``: its expiration
    time in milliseconds."""

    until: int
    html: bytes | None
    error: str = ""


class PreparedBlock(NamedTuple):
    """Block to render, with the pages that it links to."""

    subject: Subject
    space_id: str
    data: JsonObject
    theme: Literal["light", "dark"]
    labels: FrameLabels
    new_tab: bool


def block_key(data: Mapping[str, object]) -> str:
    """Return the key that identifies a block on its page."""
    named = [data["integration"], data["block"], data["props"]]
    return hashlib.sha256(msgspec.json.encode(named, order="deterministic")).hexdigest()[:24]


def prepare_block(
    tx: Transaction, visit: SpaceVisit, data: JsonObject, look: SiteLook
) -> PreparedBlock | None:
    """Return a block that is ready to be rendered; None if no active integration provides it."""
    space_id = visit.view.state.space_id
    owner = find_block_owner(tx, visit.visit.organization_id, space_id, data["integration"], data["block"])
    if owner is None:
        return None
    theme: Literal["light", "dark"] = "dark" if look.theme == "dark" else "light"
    return PreparedBlock(owner, space_id, data, theme, look.labels, look.new_tab)


def answer_block(context: Context, kept: ByteCache[KeptBlock], block: PreparedBlock) -> bytes:
    """Return the HTML of a block, either from the cache or by running the block's script. Raises Failed if the script
    fails, and Unavailable if it can't run now."""
    key = (version_of(block.subject), block.space_id, block_key(block.data), *block[3:])
    found = kept.get(key)
    if found is None or found.until <= now():
        found = _ask(context, block)
        kept.put(key, found, 500 + len(found.html or b""))
    if found.html is None:
        raise Failed(found.error)
    return found.html


class Pressed(msgspec.Struct, frozen=True):
    """Response to an interaction on a page, with the location at which to insert ``html``."""

    into: Literal["block", "modal"]
    html: str


def answer_press(context: Context, block: PreparedBlock, body: bytes) -> Pressed:
    """Return the new content of a block after an interaction. Raises BadRequest if the interaction is
    invalid, Conflict if the offer is outdated, Failed if the script fails, and Unavailable if it can't run
    now."""
    wanted = read_press(context, body, _name(block))
    try:
        output = _render(context, block, wanted).output
        if output.get("type") == "complete":
            behind = close_modal(wanted, output.get("returnValue", {}))
            if behind is None:
                raise CannotBeDrawn("only a modal can be completed")
            wanted = behind
            output = _render(context, block, wanted).output
        into: Literal["block", "modal"] = "modal" if wanted.opener is not None else "block"
        return Pressed(into, _draw(context, block, output, wanted))
    except (BadRequest, NotFound, Failed, CannotBeDrawn):
        raise Failed("The integration failed. Try again later.") from None


def _name(block: PreparedBlock) -> tuple[object, ...]:
    return name_block(block.subject, block.space_id, block_key(block.data))


def _render(context: Context, block: PreparedBlock, wanted: DrawRequest) -> Rendered:
    component = wanted.component
    return render_block(
        context,
        block.subject,
        block.space_id,
        component.id,
        component.props,
        block.theme,
        state=component.state,
        action=wanted.action,
    )


def _draw(context: Context, block: PreparedBlock, output: JsonObject, wanted: DrawRequest) -> str:
    def sign(actions: list[JsonObject], fields: dict[str, ComponentField]) -> str | None:
        component = OfferedComponent(wanted.component.id, output["props"], output["state"])
        return sign_offer(context, Offer(_name(block), component, actions, fields, wanted.opener))

    frames = frames_of(context, block.subject.integration.name, block.subject.integration.manifest)
    root: Literal["block", "modal"] = "modal" if wanted.opener is not None else "block"
    return draw_output(output, block.labels, block.new_tab, sign=sign, frames=frames, root=root)


def _ask(context: Context, block: PreparedBlock) -> KeptBlock:
    wanted = DrawRequest(OfferedComponent(block.data["block"], block.data["props"]))
    try:
        rendered = _render(context, block, wanted)
        html = _draw(context, block, rendered.output, wanted)
    except (BadRequest, NotFound, Failed, CannotBeDrawn):
        return KeptBlock(now() + _FAILED * 1000, None, "The integration couldn't show this block.")
    return KeptBlock(now() + rendered.kept_for * 1000, html.encode())


# --- the tree -------------------------------------------------------------------------------------------


class CannotBeDrawn(Exception):
    """Raised if a script's output has the wrong type or is too large."""


Sign = Callable[[list[dict[str, Any]], dict[str, ComponentField]], str | None]


def draw_output(
    output: JsonObject,
    labels: FrameLabels,
    new_tab: bool = False,
    *,
    sign: Sign | None = None,
    frames: Frames | None = None,
    root: Literal["block", "modal"] = "block",
) -> str:
    """Return the HTML of a checked output (``integrations.contentkit``). ``sign(actions, fields)``: a
    function that creates the offer to include; if it is None, controls are inactive. ``frames``: the URLs
    shown in frames. Raises CannotBeDrawn if the output can't be rendered."""
    # The output of a completed component hasn't been checked.
    given = output["element"] if output.get("type") == "element" else None
    if given is None or given["type"] != root:
        raise CannotBeDrawn(f"the element isn't a {root}")
    reader = _Reader(output["state"], labels, new_tab, sign is not None, frames)
    element = reader.element(given)
    offer = sign(reader.actions, reader.fields) if sign is not None and reader.actions else None
    if reader.actions and offer is None:
        reader = _Reader(output["state"], labels, new_tab, False, frames)
        element = reader.element(given)
    html = draw_block(element, labels, offer)
    if len(html) > _LARGEST:
        raise CannotBeDrawn(f"the block has more than {_LARGEST} characters")
    return html


class _Reader:
    """Converter of the elements in a script's output to views. The tree has already been checked and isn't deeply
    nested."""

    def __init__(
        self,
        state: Mapping[str, object],
        labels: FrameLabels,
        new_tab: bool,
        live: bool,
        frames: Frames | None,
    ) -> None:
        self._state, self._labels, self._live, self._frames = state, labels, live, frames
        self._modal = self._labelled = False
        self.actions: list[dict[str, Any]] = []
        self.fields: dict[str, ComponentField] = {}
        self._drawing = HtmlContext(
            icon=icon, highlight=_highlighter.for_page(), labels=labels, new_tab=new_tab, anchors=False
        )
        self._count = 0

    def element(self, given: JsonObject) -> ElementView:
        kind = given["type"]
        if kind in ("markdown", "codeblock"):
            document = self._editable_code(given) or ElementView(kind="html", html=self._document(given))
            above, below = self._parts(given, "header"), self._parts(given, "footer", "buttons")
            return (
                ElementView(kind="column", children=(*above, document, *below))
                if above or below
                else document
            )
        if kind in _CONTROLS:
            return self._control(given)
        if kind == "input":
            self._labelled = True
            control = self._parts(given, "element")
            self._labelled = False
            return ElementView(
                kind="field",
                title=self._text(given.get("label")),
                hint=self._text(given.get("hint")),
                line=self._inline_hint(given.get("hint")),
                children=(*control, *self._block_hint(given.get("hint"))),
            )
        if kind == "modal":
            self._modal = True
            value = given.get("returnValue")
            close = {"action": CLOSE, "returnValue": value} if isinstance(value, dict) else None
            return ElementView(
                kind="modal",
                title=self._text(given.get("title")),
                act=self._action_number(close),
                children=self._parts(given, "subtitle", "children", "submit"),
            )
        if kind == "image":
            return ElementView(kind="image", src=_address(given.get("source")))
        if kind == "webframe":
            # Frames can contain pages from any host. Pages from the integration itself, and from hosts that
            # it declares when it is installed, are placed inside one of Octavo's frames.
            href = _address(given.get("source"))
            if href is not None and self._frames is not None:
                if href.startswith(self._frames.own):
                    return self._frame(given, href, "own")
                if self._frames.is_other(href):
                    return self._frame(given, href, "other")
            return ElementView(
                kind="link",
                href=href,
                text=self._labels.open_in.replace("{provider}", host_of(href or "") or "…"),
            )
        if kind == "link":
            return ElementView(
                kind="link",
                href=_address(given.get("target")),
                children=self._parts(given, "children"),
            )
        if kind == "button":
            text = self._text(given.get("label")) or self._text(given.get("tooltip"))
            href, act = _find_opened_url(given.get("onPress")), self._press(given)
            before, after = _icon(given.get("icon")), _icon(given.get("trailingIcon"))
            return ElementView(
                kind="button",
                text=text,
                href=href,
                act=act,
                confirm=_confirm(given),
                icon=before,
                icon_after=after,
                # A button without a label shows only its icon, and its tooltip is its accessible name.
                shape="icon" if before and not self._text(given.get("label")) else "",
            )
        if kind == "card":
            return ElementView(
                kind="card",
                title=self._text(given.get("title")),
                hint=self._text(given.get("hint")),
                line=self._inline_hint(given.get("hint")),
                icon=_icon(given.get("icon")),
                lead=() if isinstance(given.get("icon"), str) else self._parts(given, "icon"),
                tools=self._parts(given, "buttons"),
                href=_find_opened_url(given.get("onPress")),
                act=self._press(given),
                children=(*self._block_hint(given.get("hint")), *self._parts(given, "children")),
            )
        return ElementView(kind=_KINDS.get(kind, "column"), children=self._parts(given, "children"))

    def _parts(self, given: Mapping[str, object], *names: str) -> tuple[ElementView | str, ...]:
        return tuple(one for name in names for one in self._children(given.get(name)))

    def _inline_hint(self, hint: object) -> tuple[ElementView | str, ...]:
        """Return a hint that consists of words and links, shown on one line."""
        return self._children(hint) if _is_line(hint) else ()

    def _block_hint(self, hint: object) -> tuple[ElementView | str, ...]:
        """Render a hint that contains elements other than text. Hints with only text are rendered by
        ``_inline_hint``."""
        return () if isinstance(hint, str) or _is_line(hint) else self._children(hint)

    def _children(self, given: object) -> tuple[ElementView | str, ...]:
        listed = given if isinstance(given, list) else [given]
        return tuple(
            self.element(one) if isinstance(one, dict) and "type" in one else self._text(one)
            for one in listed
            if one is not None
        )

    def _value(self, given: object) -> object:
        """Return a value, or the part of the state that it refers to."""
        if isinstance(given, dict) and isinstance(given.get("$state"), str):
            return self._state.get(given["$state"])
        return given

    def _text(self, given: object) -> str:
        value = self._value(given)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return ""
        return str(value)

    def _action_number(self, action: Any) -> int | None:
        """Return the number of an action in the offer; None if the action isn't offered."""
        if not self._live or not can_be_offered(action, self._modal):
            return None
        self.actions.append(action)
        return len(self.actions) - 1

    def _press(self, given: Mapping[str, object]) -> int | None:
        return None if given.get("disabled") is True else self._action_number(given.get("onPress"))

    def _frame(self, given: Mapping[str, object], src: str, whose: Literal["own", "other"]) -> ElementView:
        data = given.get("data")
        values = {name: self._value(one) for name, one in data.items()} if isinstance(data, dict) else {}
        ratio = given.get("aspectRatio")
        return ElementView(
            kind="frame",
            shape=whose,
            src=src,
            text=msgspec.json.encode(values).decode(),
            ratio=float(ratio) if isinstance(ratio, int | float) and 0.1 < ratio < 10 else 16 / 9,
            title=host_of(src),
        )

    def _control(self, given: JsonObject) -> ElementView:
        """Return a control with its value. The control is disabled if it is declared as disabled or if there
        is no offer."""
        kind, named = given["type"], given.get("state")
        value = self._state.get(named) if isinstance(named, str) else self._value(named)
        if value is None:
            value = given.get("initialValue")
        live = (
            self._live and isinstance(named, str) and len(named) <= 100 and given.get("disabled") is not True
        )
        name = named if live and isinstance(named, str) else ""
        label = "" if self._labelled else self._text(given.get("placeholder")) or str(named)[:100]
        if kind == "textinput":
            typed = given.get("inputType")
            shape = typed if typed in ("password", "email") else "text"
            self._record_field(name, ComponentField("text"))
            shape = "lines" if given.get("multiline") is True else shape
            return ElementView(kind="input", text=self._text(value), name=name, title=label, shape=shape)
        if kind == "select":
            return self._select(given, value, name, label)
        chosen = given.get("value")
        if kind == "switch":
            self._record_field(name, ComponentField("flag"))
            change = self._action_number(given.get("onValueChange")) if live else None
            checked = value is True
            return ElementView(
                kind="tick",
                checked=checked,
                name=name,
                title=label,
                shape="switch",
                act=change,
                confirm=_confirm(given),
            )
        many = value if isinstance(value, list) else [value]
        if not isinstance(chosen, str | int | float) or isinstance(chosen, bool):
            return ElementView(kind="tick", checked=value is True)
        # Only text and numbers are compared, because other values could be nested too deeply.
        checked = value is True or any(one == chosen for one in many if isinstance(one, str | int | float))
        self._record_field(name, ComponentField("one" if kind == "radio" else "many", [chosen]))
        text = msgspec.json.encode(chosen).decode()
        return ElementView(
            kind="tick",
            checked=checked,
            name=name,
            title=label,
            shape=kind,
            text=text,
            confirm=_confirm(given),
        )

    def _editable_code(self, given: Mapping[str, object]) -> ElementView | None:
        """Return an editable code block as a field; None for any other block, or if its value can't be sent back."""
        named = given.get("state")
        if given["type"] != "codeblock" or not (self._live and isinstance(named, str) and len(named) <= 100):
            return None
        value = self._state.get(named)
        text = self._text(given.get("content") if value is None else value)
        if not ComponentField("text").allows(text):
            return None
        self._record_field(named, ComponentField("text"))
        return ElementView(
            kind="input",
            text=text,
            name=named,
            title=self._text(given.get("title")) or named,
            shape="code",
            act=self._action_number(given.get("onContentChange")),
        )

    def _select(self, given: Mapping[str, object], value: object, name: str, label: str) -> ElementView:
        """Return a select field. If its options are loaded from another source, it only shows its value and is
        inactive."""
        options = given.get("options")
        found = [
            (one["id"], self._text(one.get("label")))
            for one in (options if isinstance(options, list) else [])
            if isinstance(one, dict) and isinstance(one.get("id"), str)
        ]
        if not found:
            return ElementView(kind="input", text=self._text(value))
        multiple = given.get("multiple") is True
        self._record_field(name, ComponentField("many" if multiple else "one", [id for id, _ in found]))
        chosen = value if isinstance(value, list) else [value]
        return ElementView(
            kind="select",
            name=name,
            title=label,
            text=self._text(given.get("placeholder")),
            shape="many" if multiple else "one",
            options=tuple(
                (id, text or id, id in [one for one in chosen if isinstance(one, str)]) for id, text in found
            ),
            act=self._action_number(given.get("onValueChange")) if name else None,
        )

    def _record_field(self, name: str, field: ComponentField) -> None:
        """Record a field; checkboxes with the same name are values of one field."""
        if name:
            known = self.fields.get(name)
            together = [*known.of, *field.of] if known is not None and known.kind == field.kind else field.of
            self.fields[name] = ComponentField(field.kind, together)

    def _document(self, given: Mapping[str, object]) -> Markup:
        content = self._text(given.get("content"))
        if given["type"] == "markdown":
            document = read(content)
        else:
            lines = [Block("code-line", {}, [Text([Leaf(line)])]) for line in content.split("\n")]
            data = {"syntax": self._text(given.get("syntax")), "title": self._text(given.get("title"))}
            document = Document([Block("code", data, list(lines))])
        html = str(render(document, self._drawing).body)
        # Make ids unique on this page. Outside attributes, quotes are escaped.
        self._count += 1
        mark = f"{hashlib.sha256(content.encode()).hexdigest()[:8]}-{self._count}-"

        def renamed(found: re.Match[str]) -> str:
            leads_away = found[1] == "href" and not found[2]
            return found[0] if leads_away else f"{found[0]}{mark}"

        return Markup(_ID.sub(renamed, html))  # noqa: S704


_KINDS: JsonObject = {
    "hstack": "row",
    "box": "box",
    "text": "text",
    "hint": "hint",
    "divider": "rule",
}
"""View kinds for elements that only lay out their children. All other elements stack their children."""
_CONTROLS = ("textinput", "select", "switch", "checkbox", "radio")


_ICONS = {
    "close": "xmark",
    "edit": "pen",
    "maximize": "expand",
    "email": "envelope",
    "settings": "gear",
    "delete": "trash",
    "warning": "triangle-exclamation",
    "link-external": "arrow-up-right-from-square",
    "eye-off": "eye-slash",
    "check-circle": "circle-check",
}
"""Icons that have a different name in Octavo."""


def _icon(name: object) -> Markup | None:
    return icon(_ICONS.get(name, name)) if isinstance(name, str) else None


def _is_line(hint: object) -> bool:
    """Return whether a hint consists only of words and links."""
    return isinstance(hint, list) and all(
        isinstance(one, str) or (isinstance(one, dict) and one.get("type") in ("text", "link"))
        for one in hint
    )


def _confirm(given: Mapping[str, object]) -> str:
    """Return the question to ask for confirmation before an action."""
    asked = given.get("confirm")
    parts = [asked.get("title"), asked.get("text")] if isinstance(asked, dict) else []
    return "\n\n".join(part for part in parts if isinstance(part, str))[:500]


def _address(holder: object) -> str | None:
    """Return the http or https URL of an image, frame, or link."""
    url = holder.get("url") if isinstance(holder, dict) else None
    if isinstance(url, dict):
        host, path = url.get("host"), url.get("pathname")
        if not (isinstance(host, str) and isinstance(path, str)) or re.search(r"[/?#@\\\s]", host):
            return None
        url = f"https://{host}/{quote(path.lstrip('/'), safe='/%~!$&()*+,;=:@')}"
    return _safe_url(url)


def _find_opened_url(action: Any) -> str | None:
    """Return the URL that an interaction opens."""
    named = action.get("action") if isinstance(action, dict) else None
    return _safe_url(action.get("url")) if named == "@ui.url.open" else None


def _safe_url(url: object) -> str | None:
    safe = safe_url(url)
    if safe is None or not safe.lower().startswith(("https://", "http://")):
        return None
    return safe if host_of(safe) else None
