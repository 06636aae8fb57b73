"""What a translation must not change in a document: everything except its texts."""

from __future__ import annotations

from octavo.assistants.translations.segments import _CLOSED, _FIELDS
from octavo.core.document.nodes import Block, Document, Fragment, Inline, Text


def skeleton(document: Document) -> object:
    """Return everything in a document except its texts, which a translation must not change, for comparisons."""
    return [_reduce_node(block) for block in document.nodes]


def _reduce_node(node: Block | Inline | Text | Fragment) -> object:
    if isinstance(node, Text):
        return None
    if isinstance(node, Fragment):
        return (node.fragment, node.type, [_reduce_node(child) for child in node.nodes])
    data = dict(node.data)
    if isinstance(node, Block):
        if node.type in _FIELDS:
            data.pop(_FIELDS[node.type], None)
        if node.type.startswith("heading-"):
            data.pop("id", None)
        if node.type == "table":
            data["definition"] = {
                name: {key: value for key, value in column.items() if key != "title"}
                for name, column in data.get("definition", {}).items()
            }
    inside = node.nodes if node.type not in _CLOSED else []
    below = [_reduce_node(child) for child in inside]
    # Words can be in another order, and with them the nodes between them.
    kept = sorted((bone for bone in below if bone is not None), key=repr) if _is_text(node) else below
    return (
        node.type,
        sorted(data.items(), key=repr),
        kept,
        [_reduce_node(child) for child in node.fragments],
    )


def _is_text(node: Block | Inline) -> bool:
    return any(isinstance(child, (Text, Inline)) for child in node.nodes)
