"""Connecting a space with a repository, and what follows: settings, decisions, asking for a sync, disconnecting."""

from __future__ import annotations

import secrets
from typing import Any

from msgspec import UNSET, structs

from ..access import SpaceAccess, audit
from ..changes import ChangeAccess, get_change, require_editable
from ..errors import BadRequest, Conflict, NotFound
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.sealing import SealedColumn
from . import store
from .addresses import Remote, read_branch, read_folder, read_remote, split_credential
from .asking import Cause, ask
from .credentials import HOOK_SECRET, PROJECT_SECRET, SECRET, Credential, make_key, seal, unseal
from .hosters import require_hoster
from .people import DEFAULT_MESSAGE
from .reasons import Reason
from .signing import PROJECT_SIGNING, SIGNING, make_signing_key
from .store import ProjectRow, SyncRow
from .wire import ConnectGit, ExportToRepository, GitCredential, ImportRepository, UpdateGitSync

POLL = 300
_HOSTS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
}


def get_sync(tx: Transaction, space: SpaceAccess) -> SyncRow:
    """Raises NotFound for a space that is not synced."""
    found = store.find_sync(tx, space.space_id)
    if found is None:
        raise NotFound("This space is not synced with a Git repository.")
    return found


def _require_own(row: SyncRow) -> None:
    if row.project is not None:
        raise Conflict("This space is synced with its collection or site: that is done there.")


def provider_of(remote: Remote) -> store.Provider:
    """By the name of the host; people may say another one."""
    if remote.host in _HOSTS:
        return _HOSTS[remote.host]  # type: ignore[return-value]
    for name in ("gitlab", "github", "gitea", "forgejo", "bitbucket"):
        if name in remote.host:
            return "gitea" if name == "forgejo" else name  # type: ignore[return-value]
    return "other"


def connect(tx: Transaction, context: Context, space: SpaceAccess, given: ConnectGit) -> tuple[SyncRow, str]:
    """The row and the secret of its hooks. Raises BadRequest, Conflict for a space that is synced already, or a folder
    that another space is synced with."""
    remote = allowed_remote(context, given.remote)
    branch, folder = read_branch(given.branch), read_folder(given.folder)
    if store.find_sync(tx, space.space_id) is not None:
        raise Conflict("This space is synced already; disconnect it first.")
    require_free(tx, space.organization_id, space.space_id, remote, branch, folder)
    credential, public = read_credential(remote, given.credential, space.space_id)
    row, hook = _new_row(context, space, remote, branch, folder, credential)
    row = structs.replace(
        row,
        **chosen_settings(remote, credential, given),
        public_key=public,
        **(_signing(context, space.space_id, True) if given.sign_commits else {}),
    )
    store.insert_sync(tx, row)
    audit(
        tx, space.actor, "git.connected", space.organization_id, ("space", space.space_id), after=_told(row)
    )
    # A key has to be put into the hoster's settings first.
    if not (credential is not None and credential.kind == "ssh-key"):
        ask(tx, space.organization_id, space.space_id, "connected")
    return row, hook


def chosen_settings(remote: Remote, credential: Credential | None, given: ConnectGit) -> dict[str, Any]:
    """What a new sync is to be, by column. Raises BadRequest."""
    provider = given.provider if given.provider is not UNSET else provider_of(remote)
    kind = credential.kind if credential else None
    if given.commit_statuses:
        require_hoster(remote, provider, kind, "commitStatuses")
    if given.pull_requests:
        require_hoster(remote, provider, kind, "pullRequests")
    fits = given.branch_pattern
    return {
        "provider": provider,
        "direction": given.direction,
        "first": given.first,
        "message": given.commit_message if given.commit_message is not UNSET else DEFAULT_MESSAGE,
        "poll": given.poll_seconds if given.poll_seconds is not UNSET else POLL,
        "statuses": int(given.commit_statuses),
        "pulls": int(given.pull_requests),
        "pattern": None if fits is UNSET else _branches(fits),
        # Should the job of the first sync be lost, somebody looks all the same; a key has to be told the hoster first.
        "next_at": None if kind == "ssh-key" else now() + store.HOLD,
    }


def allowed_remote(context: Context, text: str) -> Remote:
    """Raises BadRequest."""
    return read_remote(text, local=context.settings.allow_file_remotes)


def require_free(
    tx: Transaction, organization_id: str, but: str, remote: Remote, branch: str, folder: str
) -> None:
    """Raises Conflict where something else than ``but`` is synced with this folder, or with one in or above it."""
    for url, other in store.list_at(tx, organization_id, branch, but):
        if read_remote(url, local=True).place != remote.place:
            continue
        if other.startswith(folder) or folder.startswith(other):
            where = other or "/"
            raise Conflict(
                f"folder: another space is synced with {where} of this branch; two would overwrite each other."
            )


def read_credential(
    remote: Remote, given: GitCredential | Any, id: str
) -> tuple[Credential | None, str | None]:
    """What is kept, and the public part of a key that is made for it, named after ``id``. Raises BadRequest."""
    if given is UNSET or given is None:
        if remote.scheme == "ssh":
            return make_key(f"octavo-{id}")
        return None, None
    if given.type == "ssh-key":
        if remote.scheme != "ssh":
            raise BadRequest("credential: an ssh key goes with an ssh address")
        return make_key(f"octavo-{id}")
    if remote.scheme not in ("http", "https"):
        raise BadRequest(f"credential: a {given.type} goes with an https address")
    if given.secret is UNSET or not given.secret:
        raise BadRequest(f"credential.secret: expected the {given.type}")
    if any(ord(sign) < 32 for sign in given.secret + (given.username or "")):
        raise BadRequest("credential: expected no line breaks")
    return Credential(given.type, given.secret, given.username or ""), None


def _branches(text: str | None) -> str | None:
    """Raises BadRequest."""
    if not text:
        return None
    # What stands for other signs is in no name of a branch.
    read_branch(text.replace("*", "-"), "branchPattern")
    return text


def _signing(context: Context, id: str, wanted: bool, column: SealedColumn = SIGNING) -> dict[str, Any]:
    sealed, public = make_signing_key(context.sealer, id, column) if wanted else (None, None)
    return {"signing_secret": sealed, "signing_key": public}


def _new_row(
    context: Context,
    space: SpaceAccess,
    remote: Remote,
    branch: str,
    folder: str,
    credential: Credential | None,
) -> tuple[SyncRow, str]:
    moment, hook = now(), secrets.token_urlsafe(32)
    empty: dict[str, Any] = dict.fromkeys(SyncRow.__struct_fields__)
    values = {
        **empty,
        "space_id": space.space_id,
        "remote": remote.url,
        "branch": branch,
        "folder": folder,
        "provider": provider_of(remote),
        "direction": "both",
        "secret": seal(context.sealer, space.space_id, credential),
        "credential": credential.kind if credential else None,
        "hook_secret": HOOK_SECRET.seal(context.sealer, hook, space.space_id),
        "message": DEFAULT_MESSAGE,
        "statuses": 0,
        "pulls": 0,
        "poll": POLL,
        "user_id": space.user_id,
        "status": "waiting",
        "failures": 0,
        "created_at": moment,
        "updated_at": moment,
    }
    return SyncRow(**values), hook


def member_row(
    context: Context, project: ProjectRow, space: SpaceAccess, folder: str, first: store.First
) -> SyncRow:
    """A space that is synced as a part of a project, in a folder of the repository."""
    remote = read_remote(project.remote, local=True)
    row, _ = _new_row(context, space, remote, project.branch, folder, None)
    return structs.replace(row, **shared_settings(context, project, space.space_id), first=first)


def shared_settings(context: Context, project: ProjectRow, space_id: str) -> dict[str, Any]:
    """What a space has from its project, by column."""
    sealer = context.sealer
    credential = unseal(sealer, project.id, project.secret, PROJECT_SECRET)
    signing = project.signing_secret
    if signing is not None:
        signing = SIGNING.seal(sealer, PROJECT_SIGNING.open(sealer, signing, project.id), space_id)
    same = (
        "provider", "direction", "credential", "public_key", "signing_key", "host_key", "message", "statuses", "pulls",
        "pattern", "user_id",
    )  # fmt: skip
    return {
        **{name: getattr(project, name) for name in same},
        "project": project.id,
        "secret": seal(sealer, space_id, credential),
        "signing_secret": signing,
        # Its project looks at the repository for it.
        "poll": 0,
    }


def _told(row: SyncRow | ProjectRow) -> dict[str, Any]:
    return {"remote": row.remote, "branch": row.branch, "folder": row.folder, "direction": row.direction}


def update(tx: Transaction, context: Context, space: SpaceAccess, given: UpdateGitSync) -> SyncRow:
    """Raises NotFound, BadRequest, Conflict."""
    row = get_sync(tx, space)
    _require_own(row)
    fields = changed_settings(context, row, space.space_id, given, SECRET, SIGNING)
    if fields:
        # The sync goes on with the rights of whoever says how.
        store.set_fields(tx, space.space_id, **fields, user_id=space.user_id, next_at=now() + 1000)
        after = get_sync(tx, space)
        audit(
            tx,
            space.actor,
            "git.updated",
            space.organization_id,
            ("space", space.space_id),
            before=_told(row),
            after=_told(after),
        )
        return after
    return row


def changed_settings(
    context: Context,
    row: SyncRow | ProjectRow,
    id: str,
    given: UpdateGitSync,
    secret: SealedColumn,
    signing: SealedColumn,
) -> dict[str, Any]:
    """What is to be another, by column. ``secret``, ``signing``: where the row has what is sealed. Raises BadRequest."""
    fields: dict[str, Any] = {}
    for name, value in (
        ("direction", given.direction),
        ("message", given.commit_message),
        ("poll", given.poll_seconds),
        ("provider", given.provider),
    ):
        if value is not UNSET:
            fields[name] = value
    if given.credential is not UNSET:
        remote = allowed_remote(context, row.remote)
        credential, public = read_credential(remote, given.credential, id)
        fields |= {
            "secret": seal(context.sealer, id, credential, secret),
            "credential": credential.kind if credential else None,
            "public_key": public,
        }
    if given.sign_commits is not UNSET and given.sign_commits != (row.signing_key is not None):
        fields |= _signing(context, id, given.sign_commits, signing)
    if given.commit_statuses is not UNSET:
        fields["statuses"] = int(given.commit_statuses)
    if given.pull_requests is not UNSET:
        fields["pulls"] = int(given.pull_requests)
    if given.branch_pattern is not UNSET:
        fields["pattern"] = _branches(given.branch_pattern)
    for name, field in (("statuses", "commitStatuses"), ("pulls", "pullRequests")):
        if fields.get(name, getattr(row, name)):
            provider = fields.get("provider", row.provider)
            kind = fields.get("credential", row.credential)
            require_hoster(allowed_remote(context, row.remote), provider, kind, field)
    if given.forget_host_key:
        fields["host_key"] = None
        if row.status == "stopped" and row.reason == Reason.HOST_KEY.value:
            # That was what it waited for: no side has to be chosen.
            fields |= {"status": "waiting" if row.first else "failed", "reason": None, "error": None}
    return fields


def ask_now(tx: Transaction, space: SpaceAccess, first: store.First | None) -> SyncRow:
    """A sync. ``first``: what somebody decided about a repository that is not what it was, or never was synced. Raises
    NotFound, Conflict for one that waits for a decision."""
    row = get_sync(tx, space)
    if first is not None:
        store.set_first(tx, space.space_id, first)
        store.set_fields(tx, space.space_id, user_id=space.user_id)
        target = ("space", space.space_id)
        audit(tx, space.actor, "git.decided", space.organization_id, target, after={"first": first})
    elif row.status == "stopped":
        raise Conflict(
            f"This sync waits for a decision: {row.error} Say with `first` which side to go on from."
        )
    store.set_fields(tx, space.space_id, status="waiting" if row.holder is None else row.status, failures=0)
    ask(tx, space.organization_id, space.space_id, "asked")
    return get_sync(tx, space)


def push_change(tx: Transaction, access: ChangeAccess, branch: str | None) -> store.BranchRow:
    """From now on the edits of a change request are commits of a branch, which the next sync makes where it has none.
    Raises NotFound, BadRequest, Conflict."""
    space = access.space
    row = get_sync(tx, space)
    if row.direction == "import":
        raise Conflict("This sync only imports: the repository is never written.")
    change = get_change(tx, access.change_id)
    require_editable(change)
    link = store.find_branch_of(tx, change.id)
    if link is not None:
        if link.branch is None:
            raise Conflict("Its branch is in another repository: only its owners write there.")
        if branch is not None and branch != link.branch:
            raise Conflict(f"branch: this change request has the branch {link.branch} already.")
        link = structs.replace(link, pushes=1)
    else:
        name = read_branch(branch) if branch is not None else f"octavo/change-{change.number}"
        ref = f"refs/heads/{name}"
        taken = store.find_branch(tx, space.space_id, ref)
        if name == row.branch or taken is not None and taken.status == "open" and taken.change_id:
            raise Conflict("branch: another change request or the space itself is synced with this branch.")
        moment = now()
        link = store.BranchRow(
            space.space_id, ref, name, None, change.subject or name, None, change.id, None, None, None, 1, "open",
            None, moment, moment,
        )  # fmt: skip
    store.put_branch(tx, link)
    target = ("space", space.space_id)
    audit(tx, space.actor, "git.branch_pushed", space.organization_id, target, after={"branch": link.branch})
    if row.status != "stopped":
        ask(tx, space.organization_id, space.space_id, "asked")
    return link


def disconnect(tx: Transaction, space: SpaceAccess) -> bool:
    """False for a space that is not synced. Its content and the repository stay as they are. Raises Conflict."""
    row = store.find_sync(tx, space.space_id)
    if row is None:
        return False
    _require_own(row)
    store.delete_sync(tx, space.space_id)
    audit(
        tx,
        space.actor,
        "git.disconnected",
        space.organization_id,
        ("space", space.space_id),
        before=_told(row),
    )
    return True


def renew_hook(tx: Transaction, context: Context, space: SpaceAccess) -> tuple[SyncRow, str]:
    """Another secret for hooks. Raises NotFound, Conflict."""
    _require_own(get_sync(tx, space))
    hook = secrets.token_urlsafe(32)
    sealed = HOOK_SECRET.seal(context.sealer, hook, space.space_id)
    store.set_fields(tx, space.space_id, hook_secret=sealed)
    audit(tx, space.actor, "git.hook_renewed", space.organization_id, ("space", space.space_id))
    return get_sync(tx, space), hook


# --- the operations of older clients --------------------------------------------------------------------


def run_once(
    tx: Transaction,
    context: Context,
    space: SpaceAccess,
    given: ImportRepository | ExportToRepository,
    first: store.First,
) -> None:
    """An import or export of a repository that the caller names, as integrations do it: the space is synced with it from
    then on, whenever one of these is asked for. Raises BadRequest, Conflict."""
    url, user, secret = split_credential(given.url)
    remote = allowed_remote(context, url)
    branch = read_branch(given.ref, "ref")
    folder = read_folder(given.project_directory, "repoProjectDirectory")
    credential = Credential("password" if user else "token", secret, user) if secret else None
    row = store.find_sync(tx, space.space_id)
    if row is not None:
        _require_own(row)
    about: dict[str, Any] = {
        "tree_url": given.tree_url,
        "commit_url": given.commit_url,
        "user_id": space.user_id,
        "next_at": None,
    }
    if credential is not None:
        about |= {
            "secret": seal(context.sealer, space.space_id, credential),
            "credential": credential.kind,
        }
    if isinstance(given, ExportToRepository) and given.commit_message:
        about["message"] = given.commit_message
    if row is not None and (row.remote, row.branch, row.folder) != (remote.url, branch, folder):
        if row.integration is None:
            raise Conflict("This space is synced with another repository; disconnect it first.")
        store.delete_sync(tx, space.space_id)
        row = None
    if row is None:
        require_free(tx, space.organization_id, space.space_id, remote, branch, folder)
        row, _ = _new_row(context, space, remote, branch, folder, credential)
        row = structs.replace(row, first=first, integration="api", poll=0)
        store.insert_sync(tx, row)
        audit(
            tx,
            space.actor,
            "git.connected",
            space.organization_id,
            ("space", space.space_id),
            after=_told(row),
        )
    elif given.force and row.status == "stopped":
        about["first"] = first
    store.set_fields(tx, space.space_id, **about)
    cause: Cause = "api"
    ask(tx, space.organization_id, space.space_id, cause)
