"""Blocks of integrations on published pages: whose a block is, and what its script has it show.

Scripts are told the block as it is on the page, and the space; nothing of whoever reads. So what they answer is the
same for everybody and may be kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

from msgspec import UNSET

from ..core.document.html import CodeBlock
from ..kit.context import Context
from ..kit.db import Transaction
from . import store
from .active import find_active, list_active_in_space
from .invoking import Subject
from .rendering import Rendered, ask_to_render
from .store import IntegrationRow
from .wire import Block


def find_block_owner(
    tx: Transaction, organization_id: str, space_id: str, name: str, block_id: str
) -> Subject | None:
    """The integration ``name``, where it is active in a space and has such a block."""
    integration = store.find_integration(tx, name)
    blocks = integration.manifest.blocks if integration is not None else None
    if integration is None or not blocks or all(block.id != block_id for block in blocks):
        return None
    return find_active(tx, integration, organization_id, space_id)


def list_code_blocks(tx: Transaction, organization_id: str, space_id: str) -> dict[str, CodeBlock]:
    """The blocks that draw the listings of a space, by the language in lower case; of several the integration whose name
    is first."""
    found: dict[str, CodeBlock] = {}
    for row in list_active_in_space(tx, organization_id, space_id):
        for block in row.manifest.blocks or ():
            if block.markdown is not UNSET and block.markdown.codeblock:
                drawn = CodeBlock(row.name, block.id, block.markdown.body)
                found.setdefault(block.markdown.codeblock.lower(), drawn)
    return found


def find_unfurling(rows: Iterable[IntegrationRow], url: str) -> tuple[IntegrationRow, Block] | None:
    """The block that stands for an address: the one whose prefix says most of it; of several the first."""
    fitting = (
        (len(prefix), row, block)
        for row in rows
        for block in row.manifest.blocks or ()
        for prefix in block.url_unfurl or ()
        if _begins(url, prefix)
    )
    found = max(fitting, key=lambda each: each[0], default=None)
    return found and (found[1], found[2])


def _begins(url: str, prefix: str) -> bool:
    """Whether an address is at the host that a prefix names, below its path. A prefix without a scheme is for both."""
    try:
        here, wanted = urlsplit(url), urlsplit(prefix if "://" in prefix else f"//{prefix}")
        at_host = bool(wanted.hostname) and (here.hostname, here.port) == (wanted.hostname, wanted.port)
    except ValueError:  # a port or host that is none
        return False
    return (
        at_host and wanted.scheme in ("", here.scheme) and _behind_host(here).startswith(_behind_host(wanted))
    )


def _behind_host(url: SplitResult) -> str:
    return url._replace(scheme="", netloc="").geturl()


def version_of(subject: Subject) -> tuple[str, int, int]:
    """The same as long as the integration and how it is configured there are the same."""
    integration, installation, place = subject
    assert installation is not None, "blocks are of installed integrations"
    changed = max(integration.updated_at, installation.updated_at, place.updated_at if place else 0)
    return installation.id, integration.version, changed


def render_block(
    context: Context,
    subject: Subject,
    space_id: str,
    block_id: str,
    props: dict[str, Any],
    theme: Literal["light", "dark"],
    *,
    state: dict[str, Any] | None = None,
    action: dict[str, Any] | None = None,
) -> Rendered:
    """What a block shows on a page that is only read: at first, or in a state after an action. Raises BadRequest, Failed, NotFound, Unavailable."""
    shown = {"type": "document", "theme": theme, "spaceId": space_id, "editable": False}
    fields: dict[str, Any] = {"componentId": block_id, "props": props, "context": shown}
    if state is not None:
        fields["state"] = state
    if action is not None:
        fields["action"] = action
    return ask_to_render(context, subject, fields)
