"""Connect a space, collection, or site to a repository, change its sync settings, request syncs, resolve stopped
syncs, and disconnect it.

A collection or a site has a remote, a credential, settings, and a webhook. Each of its spaces is synced like any
other space and has its own state, but uses the remote, credential, settings, and webhook of the collection or site."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import structs

from octavo.content.changes.authorization import ChangeAccess
from octavo.content.changes.saving import require_editable
from octavo.content.changes.store import get_change
from octavo.content.revisions.page_versions import list_restricted
from octavo.content.revisions.states import main_state
from octavo.errors import BadRequest, Conflict, Forbidden, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import find_kept_space_access
from octavo.organization.access.roles import Can

from . import store
from .app_access import keep_repository
from .apps import AppRepository
from .authorization import SyncAccess
from .commit_authors import DEFAULT_MESSAGE
from .credentials import Credential, credential_of, make_key, open_text, seal_credential, seal_text
from .failures import Reason
from .projects import kind_of
from .providers import require_provider_api
from .requesting import ask
from .signing import make_signing_key
from .store import Connected, ProjectRow, SyncRow
from .types import RequestedOneTimeSync, RequestedSync
from .urls import Remote, read_branch, read_folder, read_remote

POLL = 300
R = TypeVar("R", bound=Connected)
_HOSTS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
}


def get(tx: Transaction, at: SyncAccess) -> Connected:
    """Return the sync. Raises NotFound if there is no sync."""
    found = store.find(tx, at.rows, at.id)
    if found is None:
        raise NotFound(f"This {at.kind} isn't synced with a Git repository. Connect a repository first.")
    return found


def get_space_sync(tx: Transaction, space_id: str) -> SyncRow:
    """Return the sync of a space. Raises NotFound if there is no sync."""
    found = store.find(tx, SyncRow, space_id)
    if found is None:
        raise NotFound("This space isn't synced with a Git repository. Connect a repository first.")
    return found


def _get_own(tx: Transaction, at: SyncAccess) -> Connected:
    """Return a sync that has its own settings. Raises NotFound if there is no sync, and Conflict if the space takes
    its settings from its collection or site."""
    return _require_own(get(tx, at))


def _require_own(row: R) -> R:
    if isinstance(row, SyncRow) and row.project is not None:
        raise Conflict(
            "This space is synced as part of its collection or site. Make this change in that collection or site"
            " instead."
        )
    return row


def provider_of(remote: Remote) -> store.Provider:
    """Return the provider that the hostname suggests. People can choose another provider."""
    if remote.host in _HOSTS:
        return _HOSTS[remote.host]  # type: ignore[return-value]
    for name in ("gitlab", "github", "gitea", "forgejo", "bitbucket"):
        if name in remote.host:
            return "gitea" if name == "forgejo" else name  # type: ignore[return-value]
    return "other"


def connect(
    tx: Transaction,
    context: Context,
    at: SyncAccess,
    wanted: RequestedSync,
    through_app: AppRepository | None = None,
) -> tuple[Connected, str]:
    """Create a sync, and return its row and its webhook secret. ``through_app``: the repository on the provider's
    server, if it is connected through an app. Raises BadRequest if a setting is invalid, and Conflict if the object
    or the folder is already synced."""
    row, hook = new_row(tx, context, at, wanted)
    if isinstance(row, SyncRow) and list_restricted(tx, main_state(tx, row.space_id)):
        raise Conflict(
            "This space has restricted pages, which can't be synced with Git. Remove the restrictions first."
        )
    if store.find(tx, at.rows, at.id) is not None:
        raise Conflict(f"This {at.kind} is already synced. Disconnect it first.")
    store.insert(tx, row)
    if through_app is not None:
        keep_repository(tx, at.id, through_app)
    audit(tx, at.actor, "git.connected", at.organization_id, at.target, after=_told(row))
    # A key must be added to the provider's settings first.
    if row.credential != "ssh-key":
        ask(tx, at.organization_id, at.rows, at.id, "connected")
    return row, hook


def new_row(
    tx: Transaction, context: Context, at: SyncAccess, wanted: RequestedSync
) -> tuple[Connected, str]:
    """Return a new row that isn't stored yet, and its webhook secret. Raises BadRequest if a setting is
    invalid, Conflict if the object or folder is already synced, and Forbidden if the caller can't see all
    the content that would be synced."""
    where = wanted.where
    remote = allowed_remote(context, where.remote)
    branch, folder = read_branch(where.branch), read_folder(where.folder)
    _require_free(tx, at, remote, branch, folder)
    row, hook = _begin(context, at.rows, at.id, at.user_id, remote, branch, folder)
    columns = _columns(context, row, {**wanted.settings, "credential": where.credential})
    if at.rows is ProjectRow:
        columns |= {"organization_id": at.organization_id, f"{at.kind}_id": at.id}
    # If the job for the first sync is lost, polling catches up. A key must be added at the provider first.
    columns["next_at"] = None if columns["credential"] == "ssh-key" else now() + store.HOLD
    made = structs.replace(row, **columns, first=wanted.first)
    if isinstance(made, ProjectRow):
        kind_of(made).require(tx, at.actor, made)
    return made, hook


def allowed_remote(context: Context, text: str) -> Remote:
    """Return the parsed remote. Raises BadRequest if it is invalid or not allowed."""
    return read_remote(text, local=context.settings.allow_file_remotes)


def _require_free(tx: Transaction, at: SyncAccess, remote: Remote, branch: str, folder: str) -> None:
    """Raise Conflict if this folder, one of its parent folders, or a folder inside it is already synced."""
    for url, other in store.list_at(tx, at.organization_id, branch, at.id):
        if read_remote(url, local=True).place != remote.place:
            continue
        if other.startswith(folder) or folder.startswith(other):
            where = other or "/"
            raise Conflict(
                f"folder: another space is already synced with {where} in this branch. Choose another folder or branch."
            )


def _read_credential(
    remote: Remote, given: Credential | None, id: str
) -> tuple[Credential | None, str | None]:
    """Return the credential to store, and the public part of the generated key, if any. The name of the key
    contains ``id``. Raises BadRequest if the credential is invalid."""
    if given is None:
        if remote.scheme == "ssh":
            return make_key(f"octavo-{id}")
        return None, None
    if given.kind == "ssh-key":
        if remote.scheme != "ssh":
            raise BadRequest("credential: an SSH key requires an SSH URL")
        return make_key(f"octavo-{id}")
    if remote.scheme not in ("http", "https"):
        raise BadRequest(f"credential: a {given.kind} requires an HTTPS URL")
    if not given.secret:
        raise BadRequest(f"credential.secret: is required. Enter the {given.kind}.")
    if any(ord(sign) < 32 for sign in given.secret + given.user):
        raise BadRequest("credential: must not contain line breaks")
    return given, None


def _branches(text: str | None) -> str | None:
    """Return the checked pattern for branch names. Raises BadRequest if it is invalid."""
    if not text:
        return None
    # Branch names can't contain other wildcard characters.
    read_branch(text.replace("*", "-"), "branchPattern")
    return text


def _begin(
    context: Context, of: type[R], id: str, user_id: str, remote: Remote, branch: str, folder: str
) -> tuple[R, str]:
    moment, hook = now(), secrets.token_urlsafe(32)
    values: dict[str, Any] = {
        **dict.fromkeys(of.__struct_fields__),
        of.KEY: id,
        "remote": remote.url,
        "branch": branch,
        "folder": folder,
        "provider": provider_of(remote),
        "direction": "both",
        "hook_secret": seal_text(context.sealer, of, id, "hook_secret", hook),
        "message": DEFAULT_MESSAGE,
        "statuses": 0,
        "pulls": 0,
        "poll": POLL,
        "user_id": user_id,
        "status": "waiting",
        "failures": 0,
        "created_at": moment,
        "updated_at": moment,
        **({"problems": "[]"} if of is ProjectRow else {}),
    }
    return of(**values), hook


def member_row(
    context: Context, project: ProjectRow, space_id: str, folder: str, first: store.First
) -> SyncRow:
    """Return the row for a space in a project. The space is synced with a folder of the project's repository."""
    remote = read_remote(project.remote, local=True)
    row, _ = _begin(context, SyncRow, space_id, project.user_id, remote, project.branch, folder)
    return structs.replace(row, **_shared_settings(context, project, space_id), first=first)


def share_settings(tx: Transaction, context: Context, row: ProjectRow) -> None:
    """Copy the current settings of a project to each of its spaces."""
    for member in store.list_members(tx, row.id):
        store.set_fields(tx, member, **_shared_settings(context, row, member.space_id))


def _shared_settings(context: Context, project: ProjectRow, space_id: str) -> dict[str, object]:
    """Return the columns that a space copies from its project."""
    sealer = context.sealer
    signing = open_text(sealer, project, "signing_secret")
    same = (
        "provider",
        "direction",
        "public_key",
        "signing_key",
        "host_key",
        "message",
        "statuses",
        "pulls",
        "pattern",
        "user_id",
    )
    return {
        **{name: getattr(project, name) for name in same},
        "project": project.id,
        **seal_credential(sealer, SyncRow, space_id, credential_of(sealer, project)),
        "signing_secret": signing and seal_text(sealer, SyncRow, space_id, "signing_secret", signing),
        # The project already polls the repository.
        "poll": 0,
    }


def _told(row: Connected) -> dict[str, object]:
    return {"remote": row.remote, "branch": row.branch, "folder": row.folder, "direction": row.direction}


def update(tx: Transaction, context: Context, at: SyncAccess, settings: Mapping[str, object]) -> Connected:
    """Update the settings of a sync. For a collection or a site, also update the settings of each space.
    ``settings``: the settings to change. Raises NotFound if there is no sync, BadRequest if a setting is invalid,
    Conflict if the sync takes its settings from its collection or site, and Forbidden if the caller doesn't have
    permission for all of its spaces."""
    row = _get_own(tx, at)
    _require_whole(tx, at, row)
    fields = _columns(context, row, settings)
    if not fields:
        return row
    # From now on, the sync has the permissions of the person who changes it.
    store.set_fields(tx, row, **fields, user_id=at.user_id, next_at=now() + 1000)
    after = get(tx, at)
    if "credential" in settings and after.credential != "app":
        store.forget_app(tx, at.id)
    if isinstance(after, ProjectRow):
        share_settings(tx, context, after)
    if settings.get("forget_host_key"):
        for member in store.list_members(tx, at.id):
            if _waits_for_key(member):
                store.set_fields(tx, member, status="waiting", reason=None, error=None)
    audit(tx, at.actor, "git.updated", at.organization_id, at.target, before=_told(row), after=_told(after))
    return after


def _require_whole(tx: Transaction, at: SyncAccess, row: Connected) -> None:
    """Raise Forbidden unless the caller could connect this collection or site and is an administrator of all synced
    spaces. The sync would run with the caller's permissions, and the change applies to all synced spaces."""
    if not isinstance(row, ProjectRow):
        return
    kind_of(row).require(tx, at.actor, row)
    for member in store.list_members(tx, at.id):
        if find_kept_space_access(tx, at.actor, Can.ADMIN, member.space_id) is None:
            raise Forbidden(
                f"This operation requires the `create` role in every synced space of this {at.kind}. Ask an"
                " administrator for this role in the spaces where your role is lower."
            )


def list_seen_members(tx: Transaction, actor: Actor, row: ProjectRow) -> tuple[list[SyncRow], bool]:
    """Return the syncs of the spaces in a collection or site that the actor can see, and whether the actor can see
    all of its spaces."""
    members = store.list_members(tx, row.id)
    spaces = {*kind_of(row).spaces(tx, row), *(member.space_id for member in members)}
    seen = {id for id in spaces if find_kept_space_access(tx, actor, Can.VIEW, id) is not None}
    return [member for member in members if member.space_id in seen], seen == spaces


def _waits_for_key(row: Connected) -> bool:
    return row.status == "stopped" and row.reason == Reason.HOST_KEY.value


_PLAIN = {
    "direction": "direction",
    "provider": "provider",
    "commit_message": "message",
    "poll_seconds": "poll",
}
"""Columns for the settings that are stored unchanged, by setting name."""


def _columns(context: Context, row: Connected, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns to change. ``settings``: the fields of a request body that updates a sync, with the
    ``credential`` to store (which can be None). Raises BadRequest if a setting is invalid."""
    of, id = type(row), row.owner_id
    fields: dict[str, Any] = {column: settings[name] for name, column in _PLAIN.items() if name in settings}
    if "credential" in settings:
        remote = allowed_remote(context, row.remote)
        credential, public = _read_credential(remote, settings["credential"], id)
        fields |= {**seal_credential(context.sealer, of, id, credential), "public_key": public}
    if settings.get("sign_commits", row.signing_key is not None) != (row.signing_key is not None):
        fields |= make_signing_key(context.sealer, of, id, settings["sign_commits"])
    if "commit_statuses" in settings:
        fields["statuses"] = int(settings["commit_statuses"])
    if "pull_requests" in settings:
        fields["pulls"] = int(settings["pull_requests"])
    if "branch_pattern" in settings:
        fields["pattern"] = _branches(settings["branch_pattern"])
    for name, field in (("statuses", "commitStatuses"), ("pulls", "pullRequests")):
        if fields.get(name, getattr(row, name)):
            provider = fields.get("provider", row.provider)
            kind = fields.get("credential", row.credential)
            require_provider_api(allowed_remote(context, row.remote), provider, kind, field)
    if settings.get("forget_host_key"):
        fields["host_key"] = None
        if _waits_for_key(row):
            # The sync was waiting only for this change, so no one needs to choose a side.
            fields |= {"status": "waiting" if row.first else "failed", "reason": None, "error": None}
    return fields


def ask_now(tx: Transaction, at: SyncAccess, first: store.First | None) -> Connected:
    """Request a sync, and return its row. ``first``: the side to continue from, if the repository was rewritten or
    never synced. Raises NotFound if there is no sync, Conflict if ``first`` is required but missing, and Forbidden
    if the caller can't choose a side for all affected spaces."""
    row = get(tx, at)
    if first is not None:
        _require_whole(tx, at, row)
        decide(tx, row, first)
        store.set_fields(tx, row, user_id=at.user_id)
        audit(tx, at.actor, "git.decided", at.organization_id, at.target, after={"first": first})
    elif row.status == "stopped":
        raise Conflict(
            f"This sync has stopped and needs a decision: {row.error} Set `first` to `import` or `export` to"
            " choose which side to keep."
        )
    store.set_fields(tx, row, status="waiting" if row.holder is None else row.status, failures=0)
    ask(tx, at.organization_id, at.rows, at.id, "asked")
    return get(tx, at)


def decide(tx: Transaction, row: Connected, first: store.First) -> None:
    """Store the side to continue from. If a collection or site is itself waiting for a decision, the choice applies
    only to the structure; otherwise, it applies to all waiting spaces."""
    members = store.list_members(tx, row.owner_id)
    waiting = [member for member in members if member.status == "stopped"]
    if row.status == "stopped" or not waiting:
        store.set_first(tx, row, first, row.seen)
    about_all = row.status == "stopped" and row.reason != Reason.STRUCTURE.value
    for member in members if about_all else waiting:
        store.set_first(tx, member, first, row.seen if about_all else member.seen)


def disconnect(tx: Transaction, at: SyncAccess) -> bool:
    """Disconnect a sync. Return False if there is no sync. The content and the repository stay unchanged. Raises
    Conflict if the space is synced as part of a collection or site, and Forbidden if the caller doesn't have
    permission."""
    row = store.find(tx, at.rows, at.id)
    if row is None:
        return False
    _require_whole(tx, at, row)
    store.delete(tx, at.rows, _require_own(row).owner_id)
    audit(tx, at.actor, "git.disconnected", at.organization_id, at.target, before=_told(row))
    return True


def renew_hook(tx: Transaction, context: Context, at: SyncAccess) -> tuple[Connected, str]:
    """Replace the webhook secret. Raises NotFound if there is no sync, and Conflict if the sync takes its
    settings from its collection or site."""
    row, hook = _get_own(tx, at), secrets.token_urlsafe(32)
    store.set_fields(tx, row, hook_secret=seal_text(context.sealer, at.rows, at.id, "hook_secret", hook))
    audit(tx, at.actor, "git.hook_renewed", at.organization_id, at.target)
    return get(tx, at), hook


def push_change(tx: Transaction, access: ChangeAccess, branch: str | None) -> store.BranchRow:
    """Sync a change request with a branch. From now on, its edits are committed to the branch, which the
    next sync creates if needed. Raises NotFound if the space isn't synced, BadRequest if the branch name is
    invalid, and Conflict if the branch can't be used."""
    space = access.space
    row = get_space_sync(tx, space.space_id)
    if row.direction == "import":
        raise Conflict("This sync only imports and never pushes. Change its direction first.")
    change = get_change(tx, access.change_id)
    require_editable(change)
    link = store.find_branch_of(tx, change.id)
    if link is not None:
        if link.branch is None:
            raise Conflict(
                "This branch is in another repository, and only that repository's owners can push to it."
            )
        if branch is not None and branch != link.branch:
            raise Conflict(
                f"branch: must be {link.branch}, the branch that this change request is already pushed to"
            )
        link = structs.replace(link, pushes=1)
    else:
        name = read_branch(branch) if branch is not None else f"octavo/change-{change.number}"
        ref = f"refs/heads/{name}"
        taken = store.find_branch(tx, space.space_id, ref)
        if name == row.branch or taken is not None and taken.status == "open" and taken.change_id:
            raise Conflict(
                "branch: is already used by another change request or the space itself. Choose another"
                " branch."
            )
        moment = now()
        link = store.BranchRow(
            space.space_id,
            ref,
            name,
            change.subject or name,
            pushes=1,
            status="open",
            created_at=moment,
            updated_at=moment,
            change_id=change.id,
        )
    store.put_branch(tx, link)
    target = ("space", space.space_id)
    audit(tx, space.actor, "git.branch_pushed", space.organization_id, target, after={"branch": link.branch})
    if row.status != "stopped":
        ask(tx, space.organization_id, SyncRow, space.space_id, "asked")
    return link


# --- operations for older clients -----------------------------------------------------------------------


def run_once(tx: Transaction, context: Context, at: SyncAccess, wanted: RequestedOneTimeSync) -> None:
    """Import from, or export to, a repository that the caller specifies, on behalf of an integration. Each later
    request syncs the space with the repository again. Raises BadRequest if a setting is invalid, and Conflict if the
    space is synced with another repository or the folder is already synced."""
    where = wanted.where
    remote = allowed_remote(context, where.remote)
    branch = read_branch(where.branch, "ref")
    folder = read_folder(where.folder, "repoProjectDirectory")
    row = store.find(tx, SyncRow, at.id)
    if row is not None:
        _require_own(row)
    about: dict[str, Any] = {
        "tree_url": wanted.tree_url,
        "commit_url": wanted.commit_url,
        "user_id": at.user_id,
        "next_at": None,
    }
    if where.credential is not None:
        about |= seal_credential(context.sealer, SyncRow, at.id, where.credential)
    if wanted.message:
        about["message"] = wanted.message
    if row is not None and (row.remote, row.branch, row.folder) != (remote.url, branch, folder):
        if row.integration is None:
            raise Conflict("This space is synced with another repository. Disconnect that repository first.")
        store.delete(tx, SyncRow, at.id)
        row = None
    if row is None:
        _require_free(tx, at, remote, branch, folder)
        row, _ = _begin(context, SyncRow, at.id, at.user_id, remote, branch, folder)
        row = structs.replace(row, first=wanted.first, integration="api", poll=0)
        store.insert(tx, row)
        audit(tx, at.actor, "git.connected", at.organization_id, at.target, after=_told(row))
    elif wanted.is_forced and row.status == "stopped":
        about["first"] = wanted.first
    store.set_fields(tx, row, **about)
    ask(tx, at.organization_id, SyncRow, at.id, "api")
