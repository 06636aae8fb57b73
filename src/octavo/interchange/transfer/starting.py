"""Start and cancel import runs."""

from __future__ import annotations

from octavo.content.uploads.store import get_uploads
from octavo.core.sources import SourceError
from octavo.errors import BadRequest, Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.kit.scheduling import deadlines
from octavo.kit.secrets.sealing import Sealer
from octavo.kit.work.jobs import enqueue
from octavo.organization.access.authorization import OrgAccess, space_access
from octavo.organization.access.roles import ORGANIZATION, Can, at_least
from octavo.settings import Settings

from . import runs, store
from .api_client import MAX_SPACES, FoundSpace
from .authorization import has_hidden_target
from .platforms import Service, platform_at
from .store import ImportRunRow
from .types import ApiLogin, FileSource, KeptApiSource, KeptSource, RequestedImport

_CHECK_SECONDS = 30.0


def check_source(settings: Settings, source: KeptSource) -> None:
    """Check the URL of a website or API before a transaction starts. Raises BadRequest if it isn't allowed."""
    if not isinstance(source, FileSource):
        _check_url(settings, source.url, "source.url")


def _check_url(settings: Settings, url: str, name: str) -> Fetcher:
    fetcher = Fetcher(settings.allow_private_fetch)
    try:
        fetcher.check_url(url)
    except FetchError as error:
        raise BadRequest(f"{name}: {error.message}") from None
    return fetcher


def check_api(
    settings: Settings, service: Service, url: str, login: ApiLogin
) -> tuple[list[FoundSpace], str | None]:
    """Request the list of spaces that can be imported from an API, without retries and with a total time limit of
    half a minute. Return the spaces and, if the list may be incomplete, the reason. Raises BadRequest if fetching
    the URL isn't allowed."""
    fetcher = _check_url(settings, url, "url")
    platform = platform_at(service, url, login.user, login.token, fetcher, wait=None)
    try:
        with deadlines.limited(_CHECK_SECONDS):
            found, is_all = platform.find_spaces()
    except (SourceError, deadlines.DeadlineExceeded) as error:
        return [], str(error) or "the server didn't respond in time"
    return (
        found,
        None
        if is_all
        else f"The token can access more than {MAX_SPACES:,} spaces. Only the first {MAX_SPACES:,} are listed.",
    )


def start(tx: Transaction, sealer: Sealer, org: OrgAccess, wanted: RequestedImport) -> ImportRunRow:
    """Create a pending run. Its job starts later. Raises NotFound or Forbidden if the caller doesn't have access to
    the target, and NotFound if an upload belongs to another person."""
    space_id = wanted.into.space_id
    if space_access(tx, org.actor, Can.EDIT, space_id).organization_id != org.organization_id:
        raise NotFound(f"target.space: there is no space with the ID {space_id!r} in this organization")
    change_id, page_id = runs.check_destination(tx, org.actor, wanted.into)
    if isinstance(wanted.source, FileSource):
        get_uploads(tx, org.organization_id, org.user_id, "import_file", wanted.source.files)
    if wanted.variants:
        _require_variants(tx, org, wanted)
    run = store.insert_run(
        tx,
        organization_id=org.organization_id,
        space_id=space_id,
        change_id=change_id,
        page_id=page_id,
        user_id=org.user_id,
        source=wanted.source,
        preview=wanted.preview,
        origin=None if wanted.update is None else _origin(tx, org, wanted, wanted.update),
        with_variants=wanted.variants,
    )
    if wanted.login is not None:
        store.put_secret(tx, sealer, run.id, wanted.login.user, wanted.login.token)
    enqueue(tx, "runImport", organization=org.organization_id, run=run.id)
    return run


def _require_variants(tx: Transaction, org: OrgAccess, wanted: RequestedImport) -> None:
    """Check that all variants can be imported. Raises BadRequest if the source always becomes a single space, and
    Forbidden if the caller can't create the spaces and a site for them."""
    source = wanted.source
    is_readme = isinstance(source, KeptApiSource) and source.service == "readme"
    if not is_readme and not isinstance(source, FileSource):
        raise BadRequest(
            "variants: versions and languages are supported only for file and ReadMe imports. Omit `variants`"
            " for this source."
        )
    if wanted.into.page is not None:
        raise BadRequest(
            "target.page: can't be combined with `variants`, because each variant is imported into its own space. Omit"
            " `page`."
        )
    if wanted.preview:
        return
    if not at_least(org.role, ORGANIZATION[Can.CREATE_CONTENT]):
        raise Forbidden(
            "variants: requires permission to create spaces and sites in the organization. Ask an"
            " administrator for access."
        )
    space_access(tx, org.actor, Can.ADMIN, wanted.into.space_id)


def _origin(tx: Transaction, org: OrgAccess, wanted: RequestedImport, update: str) -> str:
    """Return the first run of the source that ``update`` belongs to. Raises NotFound if there is no such run,
    and BadRequest if it can't be updated."""
    run = store.find_run(tx, update)
    if run is None or run.space_id != wanted.into.space_id or has_hidden_target(tx, org.actor, run):
        raise NotFound(f"update: there is no import run with the ID {update!r} in this space")
    if run.status != "completed" or run.preview:
        raise BadRequest("update: must be a completed import run")
    if wanted.into.page is not None:
        raise BadRequest(
            "target.page: can't be combined with `update`, because updated pages keep their location. Omit"
            " `page`."
        )
    return run.origin or run.id


def cancel(tx: Transaction, run_id: str) -> ImportRunRow:
    """Cancel a run. Raises BadRequest if it has completed or failed."""
    ended = store.end_run(tx, run_id, "cancelled")
    run = store.get_run(tx, run_id)
    if not ended and run.status != "cancelled":
        raise BadRequest(f"This import run can't be canceled, because it's already {run.status}.")
    return run
