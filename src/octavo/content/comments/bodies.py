"""Comment bodies, which are stored as the original Markdown, and the people mentioned in them.

A mention is a link with the title ``mention`` to ``/users/<id>`` or ``/teams/<id>``, or a mention node with a user in
JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Text, walk
from octavo.core.document.reader import read
from octavo.core.document.writing import write as write_markdown
from octavo.core.json_types import JsonObject
from octavo.core.links import mentioned
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import SpaceAccess, role_of_person

from .types import BodyInput

MAX_LENGTH = 50_000
"""Maximum length of a comment's Markdown, in characters."""
MAX_MENTIONS = 50


class Mentions(Struct, frozen=True):
    """IDs of the mentioned users and teams."""

    users: frozenset[str] = frozenset()
    teams: frozenset[str] = frozenset()


class Parsed(Struct, frozen=True):
    """Parsed body of a request. ``silent``: whether the body is ``{}``, which is accepted as an empty
    comment."""

    document: Document
    silent: bool = False


def parse(given: BodyInput) -> Parsed:
    """Parse a request body into a document. Raises BadRequest if it is invalid."""
    markdown = given if isinstance(given, str) else given.markdown
    if isinstance(markdown, str):
        _check_length(markdown)
        return Parsed(read(markdown))
    assert not isinstance(given, str)
    if given.document is UNSET:
        return Parsed(Document(nodes=[], gaps=[""]), silent=True)
    nodes = given.document if isinstance(given.document, dict) else {"nodes": given.document}
    try:
        return Parsed(from_json(nodes))
    except DocumentError as error:
        raise BadRequest(f"body: {error}") from None


def parse_plain(given: object) -> Parsed:
    """Parse a body that is already decoded from JSON. Otherwise, this works like ``parse``."""
    try:
        return parse(msgspec.convert(given, BodyInput))
    except msgspec.ValidationError as error:
        raise BadRequest(f"comment: {error}") from None


def source_of(parsed: Parsed, *, may_be_empty: bool = False) -> str:
    """Return the Markdown to store. Raises BadRequest if the body is too long, or if it is empty but not
    ``{}``."""
    text = write_markdown(parsed.document)
    _check_length(text)
    if not text.strip() and not (parsed.silent or may_be_empty):
        raise BadRequest("body: must not be empty")
    return text


def _check_length(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise BadRequest(f"body: must be at most {MAX_LENGTH:,} characters of Markdown")


# --- mentions -----------------------------------------------------------------------------------------


def _mentions(document: Document) -> Iterator[tuple[Block, Inline, str, str]]:
    """Yield each mention as its top-level block, its node, ``users`` or ``teams``, and the ID."""
    for block in document.nodes:
        for node in walk(block):
            if not isinstance(node, Inline) or node.type != "mention":
                continue
            ref = node.data["ref"]
            if ref["kind"] == "user":
                yield block, node, "users", ref["user"]
            elif ref["kind"] == "url" and (found := mentioned(ref["url"])):
                yield block, node, *found


def mentions_in(source: str) -> Mentions:
    """Return the users and teams that a stored body mentions."""
    return _collect([(kind, id) for _, _, kind, id in _mentions(read(source))])


def _collect(found: list[tuple[str, str]]) -> Mentions:
    users = frozenset(id for kind, id in found if kind == "users")
    return Mentions(users, frozenset(id for kind, id in found if kind == "teams"))


def resolve_mentions(tx: Transaction, space: SpaceAccess, document: Document, before: Mentions) -> Mentions:
    """Set the labels of all mentions to current names and return the mentions that aren't in ``before``.

    Only people who can see the space, and teams with at least one such member, can be mentioned. Raises NotFound for
    any other mention, whether or not the person or team exists.
    """
    names: dict[tuple[str, str], str] = {}
    for block, node, kind, id in _mentions(document):
        if (kind, id) not in names:
            if len(names) == MAX_MENTIONS:
                raise BadRequest(f"body: must contain at most {MAX_MENTIONS} mentions")
            known = id in (before.users if kind == "users" else before.teams)
            names[kind, id] = (_user_name if kind == "users" else _team_name)(tx, space, id, known)
        label, ref = f"@{names[kind, id]}", {"kind": "url", "url": f"/{kind}/{id}"}
        if (node.data["ref"], node.data.get("label")) != (ref, label):
            node.data = {**node.data, "ref": ref, "label": label}
            block.source = None
    return _collect([(kind, id) for kind, id in names if id not in before.users | before.teams])


def _user_name(tx: Transaction, space: SpaceAccess, user_id: str, known: bool) -> str:
    user = find_user(tx, user_id)
    if user is None or not (known or _sees(tx, space, user_id)):
        raise NotFound(f"body: there is no user with the ID {user_id!r} who can see this space")
    return user.display_name


def _team_name(tx: Transaction, space: SpaceAccess, team_id: str, known: bool) -> str:
    title = tx.value(
        "SELECT title FROM teams WHERE id = :id AND organization_id = :organization",
        id=team_id,
        organization=space.organization_id,
    )
    members = tx.all("SELECT user_id FROM team_members WHERE team_id = :id ORDER BY user_id", id=team_id)
    if title is None or not (known or any(_sees(tx, space, user_id) for (user_id,) in members)):
        raise NotFound(f"body: there is no team with the ID {team_id!r} that can see this space")
    return str(title)


def _sees(tx: Transaction, space: SpaceAccess, user_id: str) -> bool:
    return role_of_person(tx, space.organization_id, "space", space.space_id, user_id) is not None


# --- presenting ---------------------------------------------------------------------------------------


def document_json(source: str) -> JsonObject:
    """Return a stored body as JSON nodes. HTML that isn't part of the document format becomes text, and
    unknown attributes are removed."""
    document = read(source)
    for _, mention, kind, id in _mentions(document):
        if kind == "users":
            mention.data = {**mention.data, "ref": {"kind": "user", "user": id}}
    for node in list(walk(document)):
        if isinstance(node, (Block, Inline)) and "attributes" in node.data:
            node.data = {name: value for name, value in node.data.items() if name != "attributes"}
        if not isinstance(node, Text):
            _html_to_text(node)
    return to_json(document)


def _html_to_text(parent: Any) -> None:
    if not any(_is_html(child) for child in parent.nodes):
        return
    children: list[Any] = []
    waiting = list(reversed(parent.nodes))
    while waiting:
        child = waiting.pop()
        if _is_html(child):
            waiting.extend(reversed(child.nodes))
            if not (source := child.data.get("source")):
                continue
            text = Text([Leaf(source)])
            child = text if isinstance(child, Inline) else Block("paragraph", {}, [text])
        if children and isinstance(child, Text) and isinstance(children[-1], Text):
            children[-1] = Text([*children[-1].leaves, *child.leaves])
        else:
            children.append(child)
    parent.nodes = children


def _is_html(node: object) -> bool:
    return isinstance(node, (Block, Inline)) and node.type == "unknown"
