"""What hosters send when a branch was pushed to, or a pull request is another one. A hook only says that there is something to look at: one that is sent
again, or says something wrong, makes nobody write anything that is not in the repository."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..errors import BadRequest, NotFound, OctavoError
from ..kit.clock import now
from ..kit.context import Context
from ..kit.sealing import SealedColumn
from . import store
from .addresses import fits
from .asking import ask, ask_project
from .credentials import HOOK_SECRET, PROJECT_HOOK_SECRET
from .store import ProjectRow, SyncRow

_PLAIN = (b"x-gitlab-token",)
_SIGNED = (
    b"x-hub-signature-256",
    b"x-forgejo-signature",
    b"x-gitea-signature",
    b"x-gogs-signature",
    b"x-hub-signature",
)
_LOOKED = 1000
"""Milliseconds for pushes that follow each other to be synced as one."""
_UNKNOWN = "There is no such hook, or it is signed with another secret."


def receive(context: Context, space_id: str, headers: Mapping[bytes, bytes], body: bytes) -> None:
    """Asks for a sync where the branch was pushed to. Raises BadRequest for what is not signed at all, NotFound for a
    space that is not synced and for a wrong signature alike."""
    _require_signature(headers)
    with context.db.read() as tx:
        row = store.find_sync(tx, space_id)
        organization = store.find_organization(tx, space_id)
    if row is None or organization is None:
        raise NotFound(_UNKNOWN)
    _require_signed(context, HOOK_SECRET, row.hook_secret, space_id, headers, body)
    with context.db.read() as tx:
        followed = [link.branch for link in store.list_branches(tx, space_id) if link.branch]
    if not _is_about(row, followed, body):
        return
    with context.db.write() as tx:
        store.set_fields(tx, space_id, hooked_at=now())
        if row.status != "stopped" and row.first is None or row.status == "waiting":
            ask(tx, organization, space_id, "hook", after=_LOOKED)


def receive_for_project(
    context: Context, project_id: str, headers: Mapping[bytes, bytes], body: bytes
) -> None:
    """As ``receive``, for a collection or a site."""
    _require_signature(headers)
    with context.db.read() as tx:
        row = store.find_project(tx, project_id)
        members = store.list_members(tx, project_id)
        links = [link for member in members for link in store.list_branches(tx, member.space_id)]
    if row is None:
        raise NotFound(_UNKNOWN)
    _require_signed(context, PROJECT_HOOK_SECRET, row.hook_secret, project_id, headers, body)
    if not _is_about(row, [link.branch for link in links if link.branch], body):
        return
    with context.db.write() as tx:
        store.set_project(tx, project_id, hooked_at=now())
        if row.status != "stopped":
            ask_project(tx, row.organization_id, project_id, "hook", after=_LOOKED)


def _require_signature(headers: Mapping[bytes, bytes]) -> None:
    if not any(name in headers for name in (*_PLAIN, *_SIGNED)):
        raise BadRequest("A hook has to be signed: `X-Hub-Signature-256`, or for GitLab `X-Gitlab-Token`.")


def _require_signed(
    context: Context, column: SealedColumn, sealed: str, id: str, headers: Mapping[bytes, bytes], body: bytes
) -> None:
    try:
        secret = column.open(context.sealer, sealed, id).encode()
    except OctavoError:
        raise NotFound(_UNKNOWN) from None
    if not _is_signed(secret, headers, body):
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


def _is_about(row: SyncRow | ProjectRow, followed: Sequence[str], body: bytes) -> bool:
    """Whether a hook may be about the synced branch, a followed one or a pull request: one that says nothing of these
    may be."""
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
        return False  # a hoster that tries the hook
    return not refs or any(_is_followed(row, followed, ref.removeprefix("refs/heads/")) for ref in refs)


def _is_followed(row: SyncRow | ProjectRow, followed: Sequence[str], branch: str) -> bool:
    return branch == row.branch or branch in followed or fits(row.pattern, branch)
