"""Blocks of integrations on pages: what a script answers, as HTML of ours.

Scripts take their time, so no page waits for them: a page has what can be shown without them, and a script of ours
asks for each block. What was drawn is kept for all readers; scripts are told nothing of them.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlsplit

import msgspec
from markupsafe import Markup

from ..core.document import Block, Document, Leaf, Text, read
from ..core.document.html import Context as Drawing
from ..core.document.html import render
from ..core.document.urls import safe_url
from ..errors import BadRequest, NotFound
from ..integrations import Failed, Subject, find_block_owner, render_block, version_of
from ..kit.cache import ByteCache
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.highlighting import Highlighter
from ..kit.icons import icon
from .drawing import draw_block
from .looks import Look
from .resolving import SpaceVisit
from .views import ElementView, Labels

_LARGEST = 4 * 1024 * 1024
"""Characters of the HTML of one block."""
_SHORTEST, _USUAL, _LONGEST = 60, 300, 86_400
"""Seconds for which a drawing is kept: at least, where the script does not say, at most."""
_FAILED = 30
"""Seconds for which a script that failed is not asked for the same again."""
_ID = re.compile(r' (id|aria-controls|aria-labelledby|aria-describedby|popovertarget|href)="(#?)')

_highlighter = Highlighter()


class KeptBlock(NamedTuple):
    """``html`` None: the script failed, with ``error``. ``until`` in milliseconds."""

    until: int
    html: bytes | None
    error: str = ""


class Prepared(NamedTuple):
    """A block that is to be drawn, and for whose pages."""

    subject: Subject
    space_id: str
    data: dict[str, Any]
    theme: Literal["light", "dark"]
    labels: Labels
    new_tab: bool


def block_key(data: dict[str, Any]) -> str:
    """What tells a block from the others of its page."""
    named = [data["integration"], data["block"], data["props"]]
    return hashlib.sha256(msgspec.json.encode(named, order="deterministic")).hexdigest()[:24]


def prepare_block(tx: Transaction, visit: SpaceVisit, data: dict[str, Any], look: Look) -> Prepared | None:
    """None where no active integration has such a block."""
    space_id = visit.view.state.space_id
    owner = find_block_owner(tx, visit.visit.organization_id, space_id, data["integration"], data["block"])
    if owner is None:
        return None
    theme: Literal["light", "dark"] = "dark" if look.theme == "dark" else "light"
    return Prepared(owner, space_id, data, theme, look.labels, look.new_tab)


def answer_block(context: Context, kept: ByteCache[KeptBlock], block: Prepared) -> bytes:
    """The HTML of a block: what was kept, or what its script is asked for now. Raises Failed, Unavailable."""
    key = (version_of(block.subject), block.space_id, block_key(block.data), *block[3:])
    found = kept.get(key)
    if found is None or found.until <= now():
        found = _ask(context, block)
        kept.put(key, found, 500 + len(found.html or b""))
    if found.html is None:
        raise Failed(found.error)
    return found.html


def _ask(context: Context, block: Prepared) -> KeptBlock:
    data = block.data
    try:
        rendered = render_block(
            context, block.subject, block.space_id, data["block"], data["props"], block.theme
        )
        html = draw_output(rendered.output, block.labels, block.new_tab)
    except (BadRequest, NotFound, Failed, CannotBeDrawn):
        return KeptBlock(now() + _FAILED * 1000, None, "The integration could not show this block.")
    seconds = _USUAL if rendered.seconds is None else max(_SHORTEST, min(rendered.seconds, _LONGEST))
    return KeptBlock(now() + seconds * 1000, html.encode())


# --- the tree -------------------------------------------------------------------------------------------


class CannotBeDrawn(Exception):
    """An output that is no block, or a block that is too large."""


def draw_output(output: dict[str, Any], labels: Labels, new_tab: bool = False) -> str:
    """The HTML of a checked output (``integrations.contentkit``). Raises CannotBeDrawn."""
    # Of one that is complete nothing was checked.
    root = output["element"] if output.get("type") == "element" else None
    if root is None or root["type"] != "block":
        raise CannotBeDrawn("the element is no block")
    reader = _Reader(output["state"], labels, new_tab)
    html = draw_block(reader.element(root), labels)
    if len(html) > _LARGEST:
        raise CannotBeDrawn(f"the block has more than {_LARGEST} characters")
    return html


class _Reader:
    """Elements of a script's output as views. The tree was checked: it is not deep."""

    def __init__(self, state: dict[str, Any], labels: Labels, new_tab: bool) -> None:
        self._state, self._labels = state, labels
        self._drawing = Drawing(
            icon=icon, highlight=_highlighter.for_page(), labels=labels, new_tab=new_tab, anchors=False
        )
        self._count = 0

    def element(self, given: dict[str, Any]) -> ElementView:
        kind = given["type"]
        if kind in ("markdown", "codeblock"):
            document = ElementView(kind="html", html=self._document(given))
            above, below = self._parts(given, "header"), self._parts(given, "footer", "buttons")
            return (
                ElementView(kind="column", children=(*above, document, *below))
                if above or below
                else document
            )
        if kind in _CONTROLS:
            return self._control(given)
        if kind == "input":
            return ElementView(
                kind="field",
                title=self._text(given.get("label")),
                hint=self._text(given.get("hint")),
                children=(*self._parts(given, "element"), *self._below(given.get("hint"))),
            )
        if kind == "image":
            return ElementView(kind="image", src=_address(given.get("source")))
        if kind == "webframe":
            # Frames hold pages of any host, and those are not shown inside of ours.
            href = _address(given.get("source"))
            host = urlsplit(href).hostname if href else None
            return ElementView(
                kind="link", href=href, text=self._labels.open_in.replace("{provider}", host or "…")
            )
        if kind == "link":
            return ElementView(
                kind="link",
                href=_address(given.get("target")),
                children=self._parts(given, "children"),
            )
        if kind == "button":
            text = self._text(given.get("label")) or self._text(given.get("tooltip"))
            return ElementView(kind="button", text=text, href=_opened(given.get("onPress")))
        if kind == "card":
            return ElementView(
                kind="card",
                title=self._text(given.get("title")),
                hint=self._text(given.get("hint")),
                href=_opened(given.get("onPress")),
                children=(*self._below(given.get("hint")), *self._parts(given, "children", "buttons")),
            )
        return ElementView(kind=_KINDS.get(kind, "column"), children=self._parts(given, "children"))

    def _parts(self, given: dict[str, Any], *names: str) -> tuple[ElementView | str, ...]:
        return tuple(one for name in names for one in self._children(given.get(name)))

    def _below(self, hint: Any) -> tuple[ElementView | str, ...]:
        """A hint that is made of elements; one of words has its own place."""
        return () if isinstance(hint, str) else self._children(hint)

    def _children(self, given: Any) -> tuple[ElementView | str, ...]:
        listed = given if isinstance(given, list) else [given]
        return tuple(
            self.element(one) if isinstance(one, dict) and "type" in one else self._text(one)
            for one in listed
            if one is not None
        )

    def _value(self, given: Any) -> Any:
        """A value, or what the state holds where it names a part of that."""
        if isinstance(given, dict) and isinstance(given.get("$state"), str):
            return self._state.get(given["$state"])
        return given

    def _text(self, given: Any) -> str:
        value = self._value(given)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return ""
        return str(value)

    def _control(self, given: dict[str, Any]) -> ElementView:
        """A control as it stands at first: there is nobody here whom it could be of use to."""
        named = given.get("state")
        value = self._state.get(named) if isinstance(named, str) else self._value(named)
        if value is None:
            value = given.get("initialValue")
        if given["type"] in ("textinput", "select"):
            return ElementView(kind="input", text=self._text(value))
        chosen = given.get("value")
        # Nothing but texts and numbers is compared: what is nested could be so deeply.
        checked = value is True or (isinstance(chosen, str | int | float) and value in (chosen, [chosen]))
        return ElementView(kind="tick", checked=checked)

    def _document(self, given: dict[str, Any]) -> Markup:
        content = self._text(given.get("content"))
        if given["type"] == "markdown":
            document = read(content)
        else:
            lines = [Block("code-line", {}, [Text([Leaf(line)])]) for line in content.split("\n")]
            data = {"syntax": self._text(given.get("syntax")), "title": self._text(given.get("title"))}
            document = Document([Block("code", data, list(lines))])
        html = str(render(document, self._drawing).body)
        # Ids are for this page's own; quotes are escaped wherever they are not those of attributes.
        self._count += 1
        mark = f"{hashlib.sha256(content.encode()).hexdigest()[:8]}-{self._count}-"

        def renamed(found: re.Match[str]) -> str:
            leads_away = found[1] == "href" and not found[2]
            return found[0] if leads_away else f"{found[0]}{mark}"

        return Markup(_ID.sub(renamed, html))  # noqa: S704


_KINDS: dict[str, Any] = {
    "hstack": "row",
    "box": "box",
    "text": "text",
    "hint": "hint",
    "divider": "rule",
}
"""What lays out its children or is nothing but itself; whatever else has children has them below one another."""
_CONTROLS = ("textinput", "select", "switch", "checkbox", "radio")


def _address(holder: Any) -> str | None:
    """The address of an image, a frame or a link: http and https alone."""
    url = holder.get("url") if isinstance(holder, dict) else None
    if isinstance(url, dict):
        host, path = url.get("host"), url.get("pathname")
        if not (isinstance(host, str) and isinstance(path, str)) or re.search(r"[/?#@\\\s]", host):
            return None
        url = f"https://{host}/{quote(path.lstrip('/'), safe='/%~!$&()*+,;=:@')}"
    return _web(url)


def _opened(action: Any) -> str | None:
    """Where a press leads that opens an address."""
    named = action.get("action") if isinstance(action, dict) else None
    return _web(action.get("url")) if named == "@ui.url.open" else None


def _web(url: Any) -> str | None:
    safe = safe_url(url)
    if safe is None or not safe.lower().startswith(("https://", "http://")):
        return None
    return safe if urlsplit(safe).hostname else None
