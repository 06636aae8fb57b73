"""Integration blocks on published pages: the integration that owns a block, and the output of its script.

Scripts receive the block and the space, but no data about the reader. Therefore, their output is the same for
everyone and can be cached.

Visitors who use the API can render a block only if a page shows it to them, and only with its state on that page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec
from msgspec import UNSET

from octavo.content.references.mentions import documents_for, find_pages_with
from octavo.content.references.viewing import SpaceView, load_view, visitor_of_token
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.restrictions import shown_state
from octavo.core.document.html_context import CodeBlock
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page
from octavo.core.url_parts import read_address
from octavo.core.url_patterns import fits
from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Reply, Visitor

from . import store
from .active import find_active, list_active_in_space
from .authorization import VisitedIntegration
from .contexts import DocumentContext, RenderRequest
from .invoking import Subject
from .manifest import IntegrationBlock
from .rendering import Rendered, ask_to_render, present_rendered
from .store import IntegrationRow


def find_block_owner(
    tx: Transaction, organization_id: str, space_id: str, name: str, block_id: str
) -> Subject | None:
    """Return the integration ``name`` if it is active in a space and has this block."""
    integration = store.find_integration(tx, name)
    blocks = integration.manifest.blocks if integration is not None else None
    if integration is None or not blocks or all(block.id != block_id for block in blocks):
        return None
    return find_active(tx, integration, organization_id, space_id)


def list_code_blocks(tx: Transaction, organization_id: str, space_id: str) -> dict[str, CodeBlock]:
    """Return the blocks that render code blocks in a space, by language in lowercase. If more than one integration
    supports a language, the first one by name is used."""
    found: dict[str, CodeBlock] = {}
    for row in list_active_in_space(tx, organization_id, space_id):
        for block in row.manifest.blocks or ():
            if block.markdown is not UNSET and block.markdown.codeblock:
                drawn = CodeBlock(row.name, block.id, block.markdown.body)
                found.setdefault(block.markdown.codeblock.lower(), drawn)
    return found


def find_unfurling(
    rows: Iterable[IntegrationRow], url: str
) -> tuple[IntegrationRow, IntegrationBlock] | None:
    """Return the block that unfurls a URL, which is the first block with the most specific pattern."""
    address = read_address(url)
    if address is None:
        return None
    fitting = (
        (match, row, block)
        for row in rows
        for block in row.manifest.blocks or ()
        for pattern in block.url_unfurl or ()
        if (match := fits(pattern, address)) is not None
    )
    found = max(fitting, key=lambda each: each[0], default=None)
    return found and (found[1], found[2])


_shown: OwnCache[frozenset[bytes]] = OwnCache("integration blocks of pages", 4)
_UNFURL = "@link.unfurl"


_outputs: OwnCache[tuple[int, Rendered]] = OwnCache("rendered integration blocks", 4)
"""Cache of rendered blocks, each with the time at which it expires, in milliseconds."""


def render_for_visitor(context: Context, integration: VisitedIntegration, given: RenderRequest) -> Reply:
    """Render a block with its state on a page, for a site visitor.

    Requests from pages don't contain actions, so visitors can't make a script do anything but render blocks. Raises
    NotFound if no page shows the block to the visitor, Failed if the script fails, and Unavailable if it can't run
    right now."""
    at, name, visitor = given.context, integration.row.name, integration.visitor
    action = or_none(given.action)
    block = {"componentId": given.component_id, "props": given.props, "action": action}
    subject = None
    if isinstance(at, DocumentContext) and not at.editable and given.state is UNSET:
        with context.db.read() as tx:
            if at.space_id in visitor.spaces:
                subject = _find_shown(tx, context.settings.url, visitor, name, at.space_id, block)
    if subject is None or not isinstance(at, DocumentContext):
        raise NotFound("There is no page on this site that shows this block.")
    key = (version_of(subject), at.space_id, _encoded(block), at.theme)
    until, rendered = _outputs.of(context.db).get(key) or (0, None)
    if rendered is None or until <= now():
        rendered = render_block(
            context, subject, at.space_id, given.component_id, given.props, at.theme, action=action
        )
        _outputs.of(context.db).put(
            key, (now() + rendered.kept_for * 1000, rendered), 500 + len(_encoded(rendered.output))
        )
    return present_rendered(rendered)


def _find_shown(
    tx: Transaction, url: str, visitor: Visitor, name: str, space_id: str, block: JsonObject
) -> Subject | None:
    """Return the integration ``name`` if a page in the space shows this block to the visitor. ``url``: the
    URL of this server."""
    subject = find_block_owner(tx, visitor.organization_id, space_id, name, block["componentId"])
    if subject is None:
        return None
    shown = _list_shown(tx, url, visitor, name, space_id)
    if _encoded(block) in shown:
        return subject
    action = block["action"]
    address = action.get("url") if isinstance(action, dict) else None
    if action != {"action": _UNFURL, "url": address} or block["props"] or _encoded(address) not in shown:
        return None
    found = find_unfurling(list_active_in_space(tx, visitor.organization_id, space_id), str(address))
    is_own = found is not None and (found[0].name, found[1].id) == (name, block["componentId"])
    return subject if is_own else None


def _list_shown(tx: Transaction, url: str, visitor: Visitor, name: str, space_id: str) -> frozenset[bytes]:
    """Return an integration's blocks and embedded URLs on the pages of a space that the visitor can see."""
    view = load_view(tx, shown_state(tx, visitor.drafted, space_id), visitor.claims)
    key = (view.state.key, view.computed, _encoded(visitor.claims), name)
    shown = _shown.of(tx).get(key)
    if shown is None:
        documents = documents_for(tx, view, visitor_of_token(tx, visitor), url)
        found = set()
        for page in _pages_that_may_show(tx, view, name):
            for block in documents.find_blocks(page, ("integration", "embed")):
                data = block.data
                if block.type == "embed":
                    found.add(_encoded(data["url"]))
                elif data["integration"] == name:
                    action = data.get("action")
                    found.add(
                        _encoded({"componentId": data["block"], "props": data["props"], "action": action})
                    )
        shown = frozenset(found)
        _shown.of(tx).put(key, shown, 500 + sum(len(each) + 80 for each in shown))
    return shown


def _pages_that_may_show(tx: Transaction, view: SpaceView, name: str) -> Iterator[Page]:
    """Yield the pages whose files contain the integration's tags. Searching the text of a file is much faster than
    parsing the file."""
    marks = (f"@{name}/", "embed")

    def has_marks(body: str | None) -> bool:
        return body is not None and any(mark in get_body(tx, body) for mark in marks)

    items = [item for item in view.items.values() if item.kind == "reusable-content"]
    with_marks = [item.id for item in items if has_marks(item.content)]
    space_id = view.state.space_id
    including = find_pages_with(tx, space_id, "reusable-content", with_marks) if with_marks else set()
    for page in view.tree:
        if page.kind == "document" and (page.computed or page.id in including or has_marks(page.body)):
            yield page


def _encoded(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def version_of(subject: Subject) -> tuple[str, int, int]:
    """Return a value that changes only if the integration changes or if its configuration for this subject changes."""
    integration, installation, place = subject
    assert installation is not None, "blocks belong to installed integrations"
    changed = max(integration.updated_at, installation.updated_at, place.updated_at if place else 0)
    return installation.id, integration.version, changed


def render_block(
    context: Context,
    subject: Subject,
    space_id: str,
    block_id: str,
    props: Mapping[str, object],
    theme: Literal["light", "dark"],
    *,
    state: Mapping[str, object] | None = None,
    action: Mapping[str, object] | None = None,
) -> Rendered:
    """Render a block on a read-only page, in its initial state or after an action. Raises NotFound if the block
    doesn't exist, BadRequest if the input is invalid, Failed if the script fails, and Unavailable if it can't run
    right now."""
    shown = {"type": "document", "theme": theme, "spaceId": space_id, "editable": False}
    fields: JsonObject = {"componentId": block_id, "props": props, "context": shown}
    if state is not None:
        fields["state"] = state
    if action is not None:
        fields["action"] = action
    return ask_to_render(context, subject, fields)
