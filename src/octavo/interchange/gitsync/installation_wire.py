"""Wire format of Git installations."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern
from octavo.kit.urls import HttpUrl

from .app_access import AuthorizationLinks
from .installations import GitConnection, ListedProvider, RequestedInstallation, repository_id_of
from .repository_listing import ORIGINS, ListedFile, ListedRepository, read_origin
from .store import Connected, Provider, SyncRow
from .urls import read_remote
from .wire import Branch, Folder, Message, Secret

RepositoryPath = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1000,
        pattern=pattern(
            r"^(?!(?:.*/)?\.{1,2}(?:/|\Z))[\w.-]+(/[\w.-]+)*\Z",
            "be the path of a repository, such as acme/docs",
        ),
    ),
]


RepositoryNumber = Annotated[int, Meta(ge=1, le=2**53 - 1)]


class SpaceInstallationTarget(Struct, rename="camel", tag_field="type", tag="space"):
    """Space to connect. ``siteId``: the ID of a site that shows it."""

    space_id: str
    site_id: str | UnsetType = UNSET


class SiteInstallationTarget(Struct, rename="camel", tag_field="type", tag="site"):
    """Site to connect, with all of its spaces."""

    site_id: str


class CollectionInstallationTarget(Struct, rename="camel", tag_field="type", tag="collection"):
    """Collection to connect, with all of its spaces; an Octavo extension."""

    collection_id: str


class InstallGitSync(Struct, kw_only=True):
    provider: ListedProvider
    target: SpaceInstallationTarget | SiteInstallationTarget | CollectionInstallationTarget


_NAMES = {
    "repository_id": "repositoryId",
    "project_id": "projectId",
    "access_token": "accessToken",
    "custom_instance_url": "customInstanceURL",
}


class ProviderConfiguration(Struct, rename=_NAMES, kw_only=True):
    """Repository of an installation, with the provider's ID for it if known: ``repositoryId`` for GitHub,
    ``projectId`` for GitLab. The access token is never returned."""

    repository_id: int | UnsetType = UNSET
    project_id: int | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    custom_instance_url: str | None | UnsetType = UNSET


class UpdateProviderConfiguration(Struct, rename=_NAMES, kw_only=True):
    """Repository to connect. ``repositoryId``: for GitHub, the number or the owner and name of the
    repository. ``projectId``: for GitLab, the number or the path of the project. ``customInstanceURL``: for
    GitLab, the URL of a server other than gitlab.com. ``accessToken``: an Octavo extension for GitHub."""

    repository_id: RepositoryNumber | RepositoryPath | UnsetType = UNSET
    project_id: RepositoryNumber | RepositoryPath | UnsetType = UNSET
    branch: Branch | UnsetType = UNSET
    access_token: Secret | UnsetType = UNSET
    custom_instance_url: HttpUrl | None | UnsetType = UNSET


class UpdateGitInstallation(Struct, rename="camel", kw_only=True):
    """Updated settings of an installation. ``priority``: the side that takes precedence in the first sync, or when
    a waiting sync continues."""

    provider: ListedProvider | UnsetType = UNSET
    provider_configuration: UpdateProviderConfiguration | UnsetType = UNSET
    project_directory: Folder | UnsetType = UNSET
    commit_message_template: Message | UnsetType = UNSET
    preview_external_branches: bool | UnsetType = UNSET
    agent_instructions: list[Literal["agents", "claude"]] | UnsetType = UNSET
    priority: Literal["git", "gitbook"] | UnsetType = UNSET
    child_installation_project_directories: dict[str, str] | UnsetType = UNSET


class GitProviderApp(Struct):
    """This server's app for a Git provider. ``url``: the provider's server. ``configured``: whether the
    server administrator registered an app; otherwise, only access tokens can be used."""

    provider: ListedProvider
    url: str
    configured: bool


class GitProviderApps(Struct):
    """Git providers, and whether this server has an app for each of them."""

    items: list[GitProviderApp]


class GitAuthorizationLinks(Struct, rename="camel"):
    """URLs on the provider's site to open in a browser, valid for 30 minutes. ``url``: the page where the caller
    signs in. ``installUrl``: the page where the caller chooses the GitHub App's repositories."""

    url: str
    install_url: str | UnsetType = UNSET


class FinishGitAuthorization(Struct):
    """Parameters from the provider's redirect. ``code``: omitted if the caller only chose repositories."""

    state: Annotated[str, Meta(min_length=1, max_length=200)]
    code: Annotated[str, Meta(max_length=1000)] = ""


class GitInstallationUrls(Struct):
    location: str


class GitCapabilities(Struct, rename="camel"):
    """Features of a connection, in addition to syncing the branch."""

    pull_requests: bool
    commit_statuses: bool


class GitRepositoryConnection(Struct, rename="camel", kw_only=True):
    """Connected repository. ``repositoryId``: its path on the provider's server."""

    id: str
    provider: Provider
    repository_id: str
    repository_name: str
    repository_url: str
    auth_state: Literal["pending", "active", "unauthenticated"]
    capabilities: GitCapabilities
    created_at: str
    updated_at: str
    object: Literal["git-repository-connection"] = "git-repository-connection"


class GitRepositoryRef(Struct, rename="camel", kw_only=True):
    """Connected branch, with the last synced commit."""

    id: str
    name: str
    updated_at: str
    type: Literal["branch"] = "branch"
    object: Literal["git-repository-ref"] = "git-repository-ref"
    latest_imported_commit_id: str | UnsetType = UNSET


class GitInstallation(Struct, rename="camel", kw_only=True):
    """Connection to a Git provider. ``status``: `unauthenticated` without an access token, `pending` with an access
    token but no repository, and `active` otherwise. ``access`` (an Octavo extension): whether the caller signed in
    with the provider or specified an access token. ``parentInstallationId``: the ID of the site or collection whose
    sync includes the space."""

    id: str
    target: SpaceInstallationTarget | SiteInstallationTarget | CollectionInstallationTarget
    status: Literal["unauthenticated", "active", "pending"]
    provider: Provider
    provider_configuration: ProviderConfiguration
    created_at: str
    created_by: str
    updated_at: str
    urls: GitInstallationUrls
    access: Literal["app", "token"] | UnsetType = UNSET
    object: Literal["git-sync-installation"] = "git-sync-installation"
    parent_installation_id: str | UnsetType = UNSET
    project_directory: str | UnsetType = UNSET
    commit_message_template: str | UnsetType = UNSET
    preview_external_branches: bool | UnsetType = UNSET
    priority: Literal["git", "gitbook"] | UnsetType = UNSET
    repository_connection: GitRepositoryConnection | UnsetType = UNSET
    repository_ref: GitRepositoryRef | UnsetType = UNSET


class GitAuthorization(Struct):
    """Installation that the caller signed in for, and its organization."""

    installation: GitInstallation
    organization: str


class GitInstallations(Struct):
    items: list[GitInstallation]


class GitRepository(Struct, rename="camel"):
    id: int
    account_name: str
    repository_name: str
    full_name: str
    default_branch: str | None


class GitRepositories(Struct):
    items: list[GitRepository]


class GitRef(Struct):
    name: str
    ref: str


class GitRefs(Struct):
    items: list[GitRef]


class GitFile(Struct):
    name: str
    path: str
    sha: str
    size: int


class GitFileQuery(Struct, kw_only=True):
    """Query parameters for a file. ``ref``: the branch, tag, or commit."""

    path: Annotated[str, Meta(min_length=1, max_length=1000)]
    ref: Branch


def read_installation_request(
    installation: GitConnection, body: UpdateGitInstallation
) -> RequestedInstallation:
    """Return the requested settings. Raises BadRequest if a setting belongs to another provider or isn't
    supported by Octavo."""
    if body.provider is not UNSET and body.provider != installation.provider:
        raise BadRequest(f"provider: can't be changed from {installation.provider}")
    if or_none(body.agent_instructions):
        raise BadRequest(
            "agentInstructions: isn't supported, because Octavo doesn't write agent instructions to"
            " repositories"
        )
    if or_none(body.child_installation_project_directories):
        raise BadRequest(
            "childInstallationProjectDirectories: isn't supported. Specify each space's folder in the"
            " repository's docs.yaml instead."
        )
    config = body.provider_configuration
    config = UpdateProviderConfiguration() if config is UNSET else config
    gitlab = installation.provider == "gitlab"
    foreign = {"repositoryId": config.repository_id} if gitlab else {"projectId": config.project_id}
    if not gitlab and config.custom_instance_url:
        foreign["customInstanceURL"] = config.custom_instance_url
    for name, value in foreign.items():
        if value is not UNSET:
            raise BadRequest(
                f"providerConfiguration.{name}: isn't available for {installation.provider} installations"
            )
    given = or_none(config.project_id if gitlab else config.repository_id)
    if isinstance(given, str) and "/" not in given:
        name = "projectId" if gitlab else "repositoryId"
        raise BadRequest(f"providerConfiguration.{name}: must be a number or a path such as acme/docs")
    origin = None
    if config.custom_instance_url is not UNSET and gitlab:
        server = config.custom_instance_url
        origin = ORIGINS["gitlab"] if server is None else read_origin(server)
    settings: dict[str, object] = {}
    if body.commit_message_template is not UNSET:
        settings["commit_message"] = body.commit_message_template
    if body.preview_external_branches is not UNSET:
        settings["pull_requests"] = body.preview_external_branches
    return RequestedInstallation(
        repository=given if isinstance(given, str) else None,
        repository_id=given if isinstance(given, int) else None,
        branch=or_none(config.branch),
        folder=or_none(body.project_directory),
        token=or_none(config.access_token),
        origin=origin,
        priority=or_none(body.priority),
        settings=settings,
    )


def present_installation(to: Recipient, found: GitConnection) -> GitInstallation:
    at = found.at
    target: SpaceInstallationTarget | SiteInstallationTarget | CollectionInstallationTarget
    if at.kind == "space":
        target = SpaceInstallationTarget(at.id)
    elif at.kind == "site":
        target = SiteInstallationTarget(at.id)
    else:
        target = CollectionInstallationTarget(at.id)
    owner = found.sync or found.draft
    assert owner is not None, "an installation has a row"
    shown = GitInstallation(
        id=at.id,
        target=target,
        status="active",
        provider=found.provider,  # type: ignore[arg-type]
        provider_configuration=_present_configuration(found),
        created_at="",
        created_by=owner.user_id,
        updated_at="",
        urls=GitInstallationUrls(to.url(f"/git/installations/{at.id}")),
    )
    if found.sync is not None:
        row = found.sync
        shown.project_directory, shown.commit_message_template = row.folder, row.message
        shown.preview_external_branches = bool(row.pulls)
        if row.first is not None:
            shown.priority = "git" if row.first == "import" else "gitbook"
        if isinstance(row, SyncRow) and row.project is not None:
            shown.parent_installation_id = row.project
        shown.created_at, shown.updated_at = iso(row.created_at), iso(row.updated_at)
        shown.repository_connection, shown.repository_ref = _present_repository(row), _present_branch(row)
        if row.credential in ("app", "token"):
            shown.access = row.credential  # type: ignore[assignment]
        return shown
    draft = found.draft
    assert draft is not None, "an installation has a row"
    shown.status = "unauthenticated" if draft.secret is None else "pending"
    if draft.secret is not None:
        shown.access = "app" if draft.authorized_by is not None else "token"
    shown.project_directory = draft.folder
    shown.commit_message_template = draft.message or UNSET
    shown.preview_external_branches = bool(draft.pulls)
    shown.created_at, shown.updated_at = iso(draft.created_at), iso(draft.updated_at)
    return shown


def _present_configuration(found: GitConnection) -> ProviderConfiguration:
    if found.sync is not None:
        remote, branch = read_remote(found.sync.remote, local=True), found.sync.branch
        origin = remote.url.removesuffix(remote.path)
    else:
        assert found.draft is not None, "an installation has a row"
        branch, origin = found.draft.branch or "", found.draft.instance_url or ORIGINS["gitlab"]
    shown = ProviderConfiguration(branch=f"refs/heads/{branch}" if branch else UNSET)
    number = repository_id_of(found) or UNSET
    if found.provider == "gitlab":
        shown.project_id, shown.custom_instance_url = number, origin if origin != ORIGINS["gitlab"] else None
    else:
        shown.repository_id = number
    return shown


def _present_repository(row: Connected) -> GitRepositoryConnection:
    remote = read_remote(row.remote, local=True)
    return GitRepositoryConnection(
        id=row.owner_id,
        provider=row.provider,  # type: ignore[arg-type]
        repository_id=remote.path.strip("/").removesuffix(".git"),
        repository_name=remote.name,
        repository_url=remote.url.removesuffix(".git"),
        auth_state="active",
        capabilities=GitCapabilities(bool(row.pulls), bool(row.statuses)),
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
    )


def _present_branch(row: Connected) -> GitRepositoryRef:
    return GitRepositoryRef(
        id=row.owner_id,
        name=row.branch,
        latest_imported_commit_id=row.commit_id or UNSET,
        updated_at=iso(row.updated_at),
    )


def present_links(links: AuthorizationLinks) -> GitAuthorizationLinks:
    return GitAuthorizationLinks(links.url, links.install_url or UNSET)


def present_repository(found: ListedRepository) -> GitRepository:
    return GitRepository(found.id, found.account, found.name, found.path, found.default_branch)


def present_ref(name: str) -> GitRef:
    return GitRef(name, f"refs/heads/{name}")


def present_file(found: ListedFile) -> GitFile:
    return GitFile(found.name, found.path, found.sha, found.size)
