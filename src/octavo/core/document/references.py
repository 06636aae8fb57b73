"""Find and change every reference in a document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .nodes import Block, Data, Document, Fragment, Inline, Text, is_plain


class Reference(Struct, frozen=True):
    """Reference in a document. ``ref``: the ContentRef dict. ``key``: the key of its block; None before
    ``keys.assign_keys`` is called. ``type``: the type of the node that contains the reference. ``path``: the location
    of the reference, such as ``nodes[3].nodes[0].data.ref``."""

    ref: Data
    type: str
    key: str | None
    path: str


Change = Callable[[Reference], Data | None]

_USER = re.compile(r"[A-Za-z0-9]{20}")

TYPES_OF_FILES = frozenset({"image", "inline-image", "drawing", "file"})
"""Nodes whose reference always points to a file, never to a page."""


def shows_file(reference: Reference) -> bool:
    """Return whether a reference points to a file that is shown on the page, including in a files column of a table."""
    in_cell = (
        reference.type == "table" and reference.path.endswith("]") and reference.ref.get("kind") != "user"
    )
    return in_cell or reference.type in TYPES_OF_FILES


def references(document: Document) -> list[Reference]:
    """Return all references in reading order: links, images, files, includes, embeds, OpenAPI blocks, cards, mentions,
    buttons, and people in tables."""
    found: list[Reference] = []
    _visit(document, found.append)
    return found


def rewrite(document: Document, change: Change) -> Document:
    """Replace, in place, each reference for which ``change`` returns a different reference. Top-level blocks with a
    replaced reference lose their source, so only these blocks are rewritten."""
    _visit(document, change)
    return document


_Trail = tuple[Any, str, int]
"""Position of a node: its containers (None for the document), the list that contains it, and its index in the list."""


def _path(trail: _Trail | None) -> str:
    parts: list[str] = []
    while trail is not None:
        trail, name, place = trail
        parts.append(f"{name}[{place}]")
    return ".".join(reversed(parts))


def _visit(document: Document, change: Callable[[Reference], Data | None]) -> None:
    for at, top in enumerate(document.nodes):
        if not top.data and is_plain(top):
            continue
        changed = False
        stack: list[tuple[Any, _Trail, str | None]] = [(top, (None, "nodes", at), None)]
        while stack:
            node, trail, key = stack.pop()
            kind = type(node)
            if kind is Block:
                key = node.key
            if kind is not Fragment:
                if node.data:
                    changed |= _references_of(node, trail, key, change)
                fragments = node.fragments
                for n in range(len(fragments) - 1, -1, -1):
                    stack.append((fragments[n], (trail, "fragments", n), key))
            nodes = node.nodes
            for n in range(len(nodes) - 1, -1, -1):
                child = nodes[n]
                if type(child) is Text or (type(child) is Block and not child.data and is_plain(child)):
                    continue
                stack.append((child, (trail, "nodes", n), key))
        if changed:
            top.source = None


def _references_of(node: Block | Inline, trail: _Trail, key: str | None, change: Change) -> bool:
    changed = False
    data = node.data
    for name in ("ref", "refDark"):
        if isinstance(data.get(name), dict):
            new = change(Reference(data[name], node.type, key, f"{_path(trail)}.data.{name}"))
            if new is not None and new != data[name]:
                data[name] = new
                changed = True
    if node.type == "embed":
        url = {"kind": "url", "url": data["url"]}
        new = change(Reference(url, node.type, key, f"{_path(trail)}.data.url"))
        if new is not None and new != url and new.get("kind") == "url":
            data["url"] = new["url"]
            changed = True
    if node.type == "table":
        changed |= _in_table(node, _path(trail), key, change)
    return changed


def _in_table(table: Block | Inline, path: str, key: str | None, change: Change) -> bool:
    changed = False
    definition = table.data.get("definition", {})
    for row, record in table.data.get("records", {}).items():
        values = record.get("values", {})
        for column, value in values.items():
            kind = definition.get(column, {}).get("type")
            here = f"{path}.data.records.{row}.values.{column}"
            if isinstance(value, dict):
                holder, name = (value, "ref") if isinstance(value.get("ref"), dict) else (values, column)
                new = change(Reference(holder[name], table.type, key, here))
                if new is not None and new != holder[name]:
                    holder[name] = new
                    changed = True
            elif kind == "users" and isinstance(value, list):
                for at, user in enumerate(value):
                    # Text written in place of an id is a name and refers to nothing.
                    if isinstance(user, str) and _USER.fullmatch(user):
                        ref = {"kind": "user", "user": user}
                        new = change(Reference(ref, table.type, key, f"{here}[{at}]"))
                        if new is not None and new != ref:
                            value[at] = new.get("user") or user
                            changed = True
            elif kind == "files" and isinstance(value, list):
                for at, url in enumerate(value):
                    ref = {"kind": "url", "url": url}
                    new = change(Reference(ref, table.type, key, f"{here}[{at}]"))
                    if new is not None and new != ref:
                        value[at] = new.get("file") or new.get("url") or url
                        changed = True
    return changed
