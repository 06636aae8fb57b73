"""GitHub and GitLab connections as the public API represents them. A connection is created for a space or a site,
and then configured with a repository.

After a repository is chosen, the connection is the sync itself (see ``connecting``), with the same settings. Before
that, it has a separate row with the access token for listing repositories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from octavo.core.docs_config import DOCS_PATH
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher
from octavo.organization.access.auditing import audit

from . import app_access, connecting, store
from .app_access import APP, DRAFT_SECRET, usable_credential
from .apps import AppRepository, app_at, missing_app
from .authorization import SyncAccess
from .credentials import Credential
from .repository_listing import ORIGINS, ProviderAccount, Reach, find_file, find_repository_path
from .store import Connected, DraftRow
from .types import RepositoryFolder, RequestedSync
from .urls import read_branch, read_folder, read_remote

ListedProvider = Literal["github", "gitlab"]
_FIRST: dict[str, store.First] = {"git": "import", "gitbook": "export"}


class RequestedInstallation(Struct, frozen=True):
    """Requested settings of an installation. ``repository``: the repository's path on the provider's server.
    ``repository_id``: the provider's ID for it. ``settings``: the settings of a sync, by name. ``through_app``: the
    repository that the caller can use through an app, if the app is connected. Fields that aren't specified are
    None."""

    repository: str | None
    repository_id: int | None
    branch: str | None
    folder: str | None
    token: str | None
    origin: str | None
    priority: Literal["git", "gitbook"] | None
    settings: Mapping[str, Any]
    through_app: AppRepository | None = None


class GitConnection(Struct, frozen=True):
    """Connection of a space, collection, or site: a ``sync``, or a ``draft`` before there is a sync. A
    connection that started as a draft keeps the draft alongside its sync."""

    at: SyncAccess
    sync: Connected | None
    draft: DraftRow | None

    @property
    def provider(self) -> str:
        row = self.sync or self.draft
        assert row is not None, "an installation has a row"
        return row.provider


def find_installation(tx: Transaction, at: SyncAccess) -> GitConnection | None:
    sync = store.find(tx, at.rows, at.id)
    draft = store.find_draft(tx, at.id)
    return GitConnection(at, sync, draft) if sync is not None or draft is not None else None


def get_installation(tx: Transaction, at: SyncAccess) -> GitConnection:
    found = find_installation(tx, at)
    if found is None:
        raise NotFound(f"There is no installation with the ID {at.id!r}.")
    return found


def install(tx: Transaction, at: SyncAccess, provider: ListedProvider) -> GitConnection:
    """Start a connection. Raises Conflict if a connection already exists."""
    if find_installation(tx, at) is not None:
        raise Conflict(f"This {at.kind} already has a Git installation. Delete that installation first.")
    moment = now()
    draft = DraftRow(
        id=at.id,
        organization_id=at.organization_id,
        space_id=at.id if at.kind == "space" else None,
        site_id=at.id if at.kind == "site" else None,
        collection_id=at.id if at.kind == "collection" else None,
        provider=provider,
        instance_url=None,
        secret=None,
        repository=None,
        branch=None,
        folder="",
        message=None,
        pulls=0,
        user_id=at.user_id,
        created_at=moment,
        updated_at=moment,
    )
    store.put_draft(tx, draft)
    audit(tx, at.actor, "git.installed", at.organization_id, at.target, after={"provider": provider})
    return GitConnection(at, None, draft)


def uninstall(tx: Transaction, at: SyncAccess) -> bool:
    """Disconnect an installation. Return False if there is no installation. Raises the same errors as
    ``disconnect``."""
    found = find_installation(tx, at)
    if found is None:
        return False
    if found.sync is not None:
        return connecting.disconnect(tx, at)
    store.delete_draft(tx, at.id)
    audit(tx, at.actor, "git.uninstalled", at.organization_id, at.target)
    return True


def update_installation(
    tx: Transaction, context: Context, at: SyncAccess, wanted: RequestedInstallation
) -> None:
    """Save settings. When a connection has a repository, a branch, and a token, it becomes a sync. Raises NotFound if
    there is no installation, BadRequest if a setting is invalid, Conflict if the settings can't be changed, and
    Forbidden if the caller doesn't have permission."""
    found = get_installation(tx, at)
    if found.sync is not None:
        _update_sync(tx, context, at, found, found.sync, wanted)
    else:
        assert found.draft is not None, "an installation has a row"
        _update_draft(tx, context, at, found.draft, wanted)


def _update_sync(
    tx: Transaction,
    context: Context,
    at: SyncAccess,
    found: GitConnection,
    row: Connected,
    wanted: RequestedInstallation,
) -> None:
    remote = read_remote(row.remote, local=True)
    path = remote.path.strip("/").removesuffix(".git")
    same = {
        "repository": (wanted.repository is None or wanted.repository.lower() == path.lower())
        and (wanted.repository_id is None or wanted.repository_id == repository_id_of(found)),
        "branch": wanted.branch is None or read_branch(wanted.branch) == row.branch,
        "projectDirectory": wanted.folder is None
        or read_folder(wanted.folder, "projectDirectory") == row.folder,
        "customInstanceURL": wanted.origin is None or remote.url == f"{wanted.origin}{remote.path}",
    }
    if changed := [name for name, is_same in same.items() if not is_same]:
        raise Conflict(
            f"{changed[0]}: can't be changed while this {at.kind} is synced. Delete the installation first."
        )
    settings = dict(wanted.settings)
    if wanted.token is not None:
        settings["credential"] = Credential("token", wanted.token)
    after = connecting.update(tx, context, at, settings)
    first = _FIRST[wanted.priority] if wanted.priority is not None and after.status == "stopped" else None
    connecting.ask_now(tx, at, first)


def _update_draft(
    tx: Transaction, context: Context, at: SyncAccess, draft: DraftRow, wanted: RequestedInstallation
) -> None:
    values: dict[str, Any] = {}
    if wanted.origin is not None:
        origin = None if wanted.origin == ORIGINS[draft.provider] else wanted.origin
        if origin != draft.instance_url:
            # A token is never sent to a server other than the one it was specified for.
            values |= {"instance_url": origin, "secret": None, "authorized_by": None}
    if wanted.token is not None:
        values["authorized_by"] = None
        text = msgspec.json.encode(Credential("token", wanted.token)).decode()
        values["secret"] = DRAFT_SECRET.seal(context.sealer, text, at.id)
    if wanted.repository is not None:
        values |= {"repository": wanted.repository, "repository_id": wanted.repository_id}
    if wanted.branch is not None:
        values["branch"] = read_branch(wanted.branch)
    if wanted.folder is not None:
        values["folder"] = read_folder(wanted.folder, "projectDirectory")
    if "commit_message" in wanted.settings:
        values["message"] = wanted.settings["commit_message"]
    if "pull_requests" in wanted.settings:
        values["pulls"] = int(wanted.settings["pull_requests"])
    draft = structs.replace(draft, **values, user_id=at.user_id, updated_at=now())
    if draft.repository is None or draft.branch is None or draft.secret is None:
        if wanted.priority is not None:
            raise BadRequest(
                "priority: requires a repository, a branch, and an access token. Set them first, or in the"
                " same request."
            )
        store.put_draft(tx, draft)
        audit(tx, at.actor, "git.installationUpdated", at.organization_id, at.target)
        return
    if wanted.priority is None:
        raise BadRequest(
            "priority: is required. Use `git` to import from the repository first, or `gitbook` to export to"
            " it first."
        )
    through_app = wanted.through_app if draft.authorized_by is not None else None
    if draft.authorized_by is not None and through_app is None:
        raise Conflict("The installation was changed by another request. Try again.")
    credential = Credential("app", at.id) if through_app is not None else _stored_token(context, draft)
    settings: dict[str, Any] = {"provider": draft.provider, "pull_requests": bool(draft.pulls)}
    if draft.message is not None:
        settings["commit_message"] = draft.message
    where = RepositoryFolder(
        f"{_origin_of(draft)}/{draft.repository}.git", draft.branch, draft.folder, credential
    )
    requested = RequestedSync(where, _FIRST[wanted.priority], settings)
    if through_app is not None:
        store.put_draft(tx, draft)
    connecting.connect(tx, context, at, requested, through_app)
    if through_app is None:
        store.put_draft(tx, structs.replace(draft, secret=None))


def _fetcher(context: Context) -> Fetcher:
    return Fetcher(context.settings.allow_private_fetch)


def _origin_of(draft: DraftRow) -> str:
    return draft.instance_url or ORIGINS[draft.provider]


def _stored_token(context: Context, draft: DraftRow) -> Credential | None:
    if draft.secret is None:
        return None
    return msgspec.json.decode(DRAFT_SECRET.open(context.sealer, draft.secret, draft.id), type=Credential)


def account_of(context: Context, installation: GitConnection, provider: str) -> ProviderAccount:
    """Return access to a provider's API. Raises Conflict if the installation belongs to another provider, doesn't
    have an access token, or uses the tokens of another person who signed in."""
    if installation.provider != provider:
        raise Conflict(f"This installation is for {installation.provider}, not for {provider}.")
    sync, draft = installation.sync, installation.draft
    credential: Credential | None
    if sync is not None and (sync.credential != "app" or provider == "github"):
        credential = usable_credential(context, sync)
        remote = read_remote(sync.remote, local=True)
        origin = remote.url.removesuffix(remote.path)
        reach: Reach = "repository" if sync.credential == "app" else "token"
    elif draft is None:
        raise Conflict(
            "This space is synced as part of its collection or site. Use the installation of that collection"
            " or site."
        )
    else:
        origin, reach = _origin_of(draft), "token"
        if draft.authorized_by is not None:
            credential, reach = app_access.credential_of_person(context, installation.at, draft), "app"
        else:
            credential = _stored_token(context, draft)
    if credential is None or credential.kind == "ssh-key":
        way = (
            "Set `providerConfiguration.accessToken`, or sign in with the provider in the Git sync settings."
        )
        if app_at(context, provider) is None:
            way = missing_app(context, provider)
        raise Conflict(f"This installation has no access token. {way}")
    return ProviderAccount(provider, origin, credential, _fetcher(context), reach)


def prepare_update(
    context: Context, installation: GitConnection, wanted: RequestedInstallation
) -> RequestedInstallation:
    """Add the data from the provider that is needed to update a connection without a repository: the path of a
    project that was specified by its ID, and whether a site's repository describes the site's structure. Raises
    Conflict if the provider can't be accessed, and OctavoError if it doesn't respond."""
    draft = installation.draft
    if draft is None or installation.sync is not None:
        return wanted
    number, repository = wanted.repository_id, wanted.repository or draft.repository
    needs_structure = installation.at.kind == "site" and wanted.priority == "git"
    through_app = draft.authorized_by is not None and wanted.token is None
    if number is None and (repository is None or not needs_structure) and not through_app:
        return wanted
    if wanted.token is not None:
        origin = wanted.origin or _origin_of(draft)
        account = ProviderAccount(
            draft.provider, origin, Credential("token", wanted.token), _fetcher(context)
        )
    elif wanted.origin not in (None, _origin_of(draft)):
        raise BadRequest(
            "providerConfiguration.accessToken: is required if you change the URL of the Git provider"
        )
    else:
        account = account_of(context, installation, draft.provider)
    if number is not None:
        repository = find_repository_path(account, number)
        wanted = structs.replace(wanted, repository=repository)
    branch = wanted.branch or draft.branch
    if needs_structure and branch is not None and repository is not None:
        folder = draft.folder if wanted.folder is None else read_folder(wanted.folder, "projectDirectory")
        try:
            find_file(account, repository, f"{folder}{DOCS_PATH}", read_branch(branch))
        except NotFound:
            raise Conflict(
                f"The site structure file {folder}{DOCS_PATH} is missing from the repository. Add the file, or"
                " set `priority` to `gitbook` to export it."
            ) from None
    if through_app and repository is not None and branch is not None:
        remote = read_remote(f"{_origin_of(draft)}/{repository}.git", local=False)
        asked = RepositoryFolder(remote.url, branch, "", APP)
        _, found = app_access.resolve(context, installation.at, asked, remote)
        wanted = structs.replace(wanted, through_app=found, repository_id=number or (found and found.id))
    return wanted


def repository_id_of(found: GitConnection) -> int | None:
    """Return the provider's ID for the repository, if a client specified it."""
    return found.draft.repository_id if found.draft is not None else None
