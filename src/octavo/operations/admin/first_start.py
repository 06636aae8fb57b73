"""The first start of a server, and tokens that are created on the command line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from octavo.content.revisions.states import main_state
from octavo.delivery.studio.serving import find_missing
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.private_files import locked_folder, write_durably
from octavo.operations.installation import SIGNING, TOKEN_FILE
from octavo.organization.access.accounts import (
    find_user_by_email,
    has_verified_email,
    insert_user,
    mark_first_administrator,
)
from octavo.organization.access.auditing import audit, audit_person
from octavo.organization.access.authorization import role_of_member
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token, hash_token, new_token
from octavo.organization.identity.removal import require_another_admin
from octavo.organization.identity.sessions import mark_never_signed_in
from octavo.organization.identity.signing_in import issue_first_link
from octavo.organization.identity.verification import verify_address
from octavo.organization.orgs.creating import create_organization
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import get_space
from octavo.settings import Settings

if TYPE_CHECKING:
    from octavo.interchange.transfer.importing import ImportOutcome

ORGANIZATION_TITLE = "Octavo"


def _person(tx: Transaction, email: str, *, hand_over: bool) -> str:
    """Return the ID of the person with this email address. The account is created if needed.

    ``hand_over``: whether to use an existing account even if its email address was never verified. The account's
    password, sessions, tokens, and agents are then removed first.
    """
    if "@" not in email.strip("@"):
        raise BadRequest(f"email: must be an email address, not {email!r}")
    found = find_user_by_email(tx, email)
    if found is not None:
        if found.disabled:
            raise Conflict(f"The account {email} is deactivated. Reactivate it first.")
        if hand_over:
            verify_address(tx, found.id)
        return found.id
    name = email.partition("@")[0].replace(".", " ").replace("_", " ").title()
    return insert_user(tx, email, name or email, verified=True).id


def token_for(
    context: Context,
    *,
    email: str,
    organization_id: str | None = None,
    role: str | None = None,
    scopes: Sequence[str] | None = None,
    lifetime: int | None = None,
    hand_over: bool = False,
) -> str:
    """Create a token for the person with this email address. The account is created if needed.

    ``organization_id``: the organization that the person joins with ``role`` (by default, ``read``). Existing members
    keep their role unless one is given. ``lifetime``: the lifetime of the token in milliseconds. ``hand_over``: whether
    to use an account even if its email address was never verified, in which case it may belong to someone else. All
    credentials of the account are then removed.

    Raises Conflict if an account with an unverified email address would become a member without ``hand_over``, or if
    the account is deactivated."""
    with context.db.write() as tx:
        user_id = _person(tx, email, hand_over=hand_over)
        if organization_id is not None:
            get_organization(tx, organization_id)
            is_member, _ = role_of_member(tx, organization_id, user_id)
            if not is_member and not has_verified_email(tx, user_id):
                raise Conflict(
                    f"The email address {email} was never verified, so this account may belong to someone"
                    " else. Omit --org, or use --hand-over to verify the address and remove the account's"
                    " password, sessions, tokens, and agents."
                )
            if role is not None or not is_member:
                wanted = None if role == "guest" else role or "read"
                if wanted != "admin":
                    require_another_admin(tx, organization_id, user_id)
                upsert_member(tx, organization_id, user_id, wanted)
                given = {"role": wanted, "by": "command line"}
                action = "member.updated" if is_member else "member.added"
                audit(tx, None, action, organization_id, ("user", user_id), after=given)
        state = {"name": "command line", "scopes": None if scopes is None else list(scopes)}
        audit_person(
            tx, "token.created", user_id, client="command line", actor="", source="script", after=state
        )
        return create_token(
            tx,
            user_id,
            name="command line",
            scopes=scopes,
            expires_at=None if lifetime is None else now() + lifetime,
        )


class FirstStart(Struct, frozen=True):
    """Result of the first start. ``site_url``: the URL of the manual; None if this server doesn't include
    it."""

    organization_id: str
    token: str
    site_url: str | None


_BEGUN = "first-start"
"""Marker file in the data folder. It exists during the first start."""
_MANUAL = "Octavo manual"
_NOTE = "manual.json"
"""File in the data folder that records the published manual."""


def first_start(context: Context) -> FirstStart | None:
    """Set up an empty server: the organization, its administrator, a token, and the manual as a site.

    Return None if there is already an organization, unless the first start was interrupted, in which case it is
    completed. Several processes can start at the same time: one of these processes sets up the server, and the
    other processes with the same data folder wait. The token is stored in ``admin-token`` in the data folder.
    """
    with locked_folder(context.settings.data_folder):
        return _first_start(context)


def _first_start(context: Context) -> FirstStart | None:
    settings = context.settings
    begun = settings.data_folder / _BEGUN
    is_continued = begun.exists()
    with context.db.read() as tx:
        is_empty = tx.one("SELECT 1 FROM organizations") is None
    if not is_empty and not is_continued:
        return None
    begun.touch()
    with context.db.write() as tx:
        # Processes with a different data folder wait for this row.
        tx.one(f"SELECT name FROM secrets WHERE name = :name{tx.for_update}", name=SIGNING)
        if not is_continued and tx.one("SELECT 1 FROM organizations") is not None:
            begun.unlink()
            return None
        token = _kept_token(settings)
        user_id = _person(tx, settings.first_admin, hand_over=True)
        mark_first_administrator(tx, user_id)
        mark_never_signed_in(tx, user_id)
        row = tx.one("SELECT id FROM organizations ORDER BY id")
        organization_id = row[0] if row else create_organization(tx, user_id, ORGANIZATION_TITLE).id
        if tx.one("SELECT 1 FROM tokens WHERE hash = :hash", hash=hash_token(token)) is None:
            create_token(tx, user_id, name="first start", token=token)
    site_url = _publish_manual(context, organization_id, user_id)
    begun.unlink()
    return FirstStart(organization_id, token, site_url)


def opening_address(context: Context) -> str:
    """Return the URL of the app; until the first administrator has signed in, return a sign-in link."""
    settings = context.settings
    with context.db.write() as tx:
        admin = find_user_by_email(tx, settings.first_admin)
        secret = issue_first_link(tx, context.sealer, admin.id) if admin is not None else None
    if secret is None:
        return f"{settings.url}/"
    # Browsers don't send fragments, so the link is in no log and no referrer.
    return f"{settings.url}/sign-in?link={secret}" if find_missing() else f"{settings.url}/~/first#{secret}"


def _kept_token(settings: Settings) -> str:
    """Store the first administrator's token in a file, and return the token. The token is, in order of preference,
    the configured token, the token that is already stored, or a new token. The file is flushed to disk before this
    returns."""
    path = settings.data_folder / TOKEN_FILE
    token = settings.admin_token or (path.read_text().strip() if path.exists() else "") or new_token()
    write_durably(path, f"{token}\n".encode())
    return token


def _publish_manual(context: Context, organization_id: str, user_id: str) -> str | None:
    # Loaded only on the first start.
    from .import_export import import_space

    manual = find_manual()
    if manual is None:
        return None
    with context.db.read() as tx:
        space_id = tx.value(
            "SELECT id FROM spaces WHERE organization_id = :org AND title = :title AND deleted_at IS NULL",
            org=organization_id,
            title=_MANUAL,
        )
    brought = import_space(
        context,
        str(manual),
        organization_id=organization_id,
        space_id=space_id,
        title=_MANUAL,
        publish=True,
        author=user_id,
    )
    _note_manual(context, manual, brought.outcome)
    return brought.site_url


class _Manual(Struct, frozen=True):
    """Manual that is published on this server, with its space, its revision, and a hash of its files."""

    space: str
    revision: str
    digest: str


def update_manual(context: Context) -> bool:
    """After an upgrade, import the manual of this version, unless someone changed or removed the previous manual.
    Return whether the manual was imported."""
    with locked_folder(context.settings.data_folder):
        return _update_manual(context)


def _update_manual(context: Context) -> bool:
    note, manual = context.settings.data_folder / _NOTE, find_manual()
    try:
        before = msgspec.json.decode(note.read_bytes(), type=_Manual)
    except (OSError, msgspec.MsgspecError):
        return False
    if manual is None or _digest(manual) == before.digest:
        return False
    try:
        with context.db.read() as tx:
            space = get_space(tx, before.space)
            is_ours = main_state(tx, before.space).revision_id == before.revision
    except NotFound:
        return False
    if space.deleted_at is not None or not is_ours:
        return False
    from .import_export import import_space

    _note_manual(context, manual, import_space(context, str(manual), space_id=before.space).outcome)
    return True


def _note_manual(context: Context, manual: Path, outcome: ImportOutcome) -> None:
    note = _Manual(outcome.space, outcome.revision, _digest(manual))
    write_durably(context.settings.data_folder / _NOTE, msgspec.json.encode(note))


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def find_manual() -> Path | None:
    """Return the folder of the manual, which is inside the installed package or next to the source."""
    package = Path(str(files("octavo")))
    for folder in (package / "manual", package.parent.parent / "docs"):
        if (folder / "SUMMARY.md").is_file():
            return folder
    return None
