"""Webhooks from Git providers about pushes and pull requests. A webhook only announces new content, so a repeated or
incorrect webhook can't make Octavo write content that isn't in the repository."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from octavo.errors import BadRequest, NotFound, OctavoError
from octavo.kit.clock import now
from octavo.kit.context import Context

from . import store
from .credentials import open_text
from .requesting import ask
from .store import Connected, ProjectRow, SyncRow
from .urls import fits

_PLAIN = (b"x-gitlab-token",)
_SIGNED = (
    b"x-hub-signature-256",
    b"x-forgejo-signature",
    b"x-gitea-signature",
    b"x-gogs-signature",
    b"x-hub-signature",
)
_LOOKED = 1000
"""Milliseconds to wait before a sync, so that pushes in quick succession are synced together."""
_UNKNOWN = "This webhook doesn't exist, or its signature is invalid. Check the secret."


_Number = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _Numbered(Struct):
    id: _Number


class _AppEvent(Struct):
    """Event from a GitHub App. ``repository``: the affected repository, if any."""

    installation: _Numbered
    repository: _Numbered | None = None


def receive(
    context: Context, of: type[Connected], id: str, headers: Mapping[bytes, bytes], body: bytes
) -> None:
    """Request a sync if the branch was pushed to. Raises BadRequest if the signature is missing, and NotFound
    if there is no sync or the signature is wrong."""
    if not any(name in headers for name in (*_PLAIN, *_SIGNED)):
        raise BadRequest(
            "The webhook has no signature. Send `X-Hub-Signature-256`, or `X-Gitlab-Token` for GitLab."
        )
    with context.db.read() as tx:
        row = store.find(tx, of, id)
        organization = store.find_organization(tx, row) if row is not None else None
    if row is None or organization is None:
        raise NotFound(_UNKNOWN)
    _require_signed(context, row, headers, body)
    _notice(context, of, id, organization, body)


def receive_from_app(context: Context, headers: Mapping[bytes, bytes], body: bytes) -> None:
    """Request the syncs affected by a GitHub App webhook: all syncs with the pushed repository, or all syncs that use
    the changed installation. Raises BadRequest if the signature is missing, and NotFound if it is wrong."""
    if b"x-hub-signature-256" not in headers:
        raise BadRequest("The webhook has no signature. Set a webhook secret in the GitHub App's settings.")
    secret = context.settings.github_app_webhook_secret
    given = headers[b"x-hub-signature-256"].removeprefix(b"sha256=")
    if not secret or not hmac.compare_digest(
        given, hmac.digest(secret.encode(), body, "sha256").hex().encode()
    ):
        raise NotFound(_UNKNOWN)
    try:
        event = msgspec.json.decode(body, type=_AppEvent)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return  # an event without an installation
    with context.db.read() as tx:
        ids = store.list_of_app(
            tx, event.installation.id, event.repository.id if event.repository is not None else None
        )
        found = [
            (type(row), row.owner_id, organization)
            for id in ids
            for row in (store.find(tx, SyncRow, id) or store.find(tx, ProjectRow, id),)
            if row is not None and row.credential == "app"
            if (organization := store.find_organization(tx, row)) is not None
        ]
    for of, id, organization in found:
        _notice(context, of, id, organization, body)


def _notice(context: Context, of: type[Connected], id: str, organization: str, body: bytes) -> None:
    """Request a sync if the webhook concerns one of the sync's branches or pull requests."""
    with context.db.read() as tx:
        row = store.find(tx, of, id)
        spaces = [id, *(member.space_id for member in store.list_members(tx, id))]
        links = [link for space_id in spaces for link in store.list_branches(tx, space_id)]
    if row is None or not _is_about(row, [link.branch for link in links if link.branch], body):
        return
    with context.db.write() as tx:
        store.set_fields(tx, row, hooked_at=now())
        if row.status != "stopped":
            ask(tx, organization, of, id, "hook", after=_LOOKED)


def _require_signed(context: Context, row: Connected, headers: Mapping[bytes, bytes], body: bytes) -> None:
    try:
        secret = open_text(context.sealer, row, "hook_secret")
    except OctavoError:
        raise NotFound(_UNKNOWN) from None
    if secret is None or not _is_signed(secret.encode(), headers, body):
        raise NotFound(_UNKNOWN)


def _is_signed(secret: bytes, headers: Mapping[bytes, bytes], body: bytes) -> bool:
    for name in _PLAIN:
        if name in headers:
            return hmac.compare_digest(headers[name], secret)
    for name in _SIGNED:
        given = headers.get(name)
        if given is not None:
            algorithm, sign, digest = given.rpartition(b"=")
            if sign and algorithm != b"sha256":
                continue
            wanted = hmac.digest(secret, body, "sha256").hex().encode()
            return hmac.compare_digest(digest, wanted)
    return False


_PULLS = ("pull_request", "merge_request", "pullrequest")


def _is_about(row: Connected, followed: Sequence[str], body: bytes) -> bool:
    """Return whether a webhook may concern the synced branch, a followed branch, or a pull request. Return True if the
    webhook doesn't specify a branch or pull request."""
    try:
        said: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    if not isinstance(said, dict):
        return True
    if any(name in said for name in _PULLS) or said.get("object_kind") in _PULLS:
        return bool(row.pulls)
    refs: list[Any] = [said["ref"]] if isinstance(said.get("ref"), str) else []
    push = said.get("push")
    changes = push.get("changes") if isinstance(push, dict) else None
    if isinstance(changes, list):
        for change in changes[:1000]:
            for side in ("new", "old"):
                named = change.get(side) if isinstance(change, dict) else None
                if isinstance(named, dict) and isinstance(named.get("name"), str):
                    refs.append(named["name"])
    if "zen" in said and "hook_id" in said:
        return False  # the provider's test of the webhook
    return not refs or any(_is_followed(row, followed, ref.removeprefix("refs/heads/")) for ref in refs)


def _is_followed(row: Connected, followed: Sequence[str], branch: str) -> bool:
    return branch == row.branch or branch in followed or fits(row.pattern, branch)
