"""Starting and cancelling import runs."""

from __future__ import annotations

from msgspec import UNSET

from ..access import ORGANIZATION, Can, OrgAccess, at_least, space_access
from ..errors import BadRequest, Forbidden, NotFound
from ..kit import deadlines
from ..kit.db import Transaction
from ..kit.fetch import Fetcher, FetchError
from ..kit.jobs import enqueue
from ..kit.sealing import Sealer
from ..settings import Settings
from ..uploads import get_uploads
from . import runs, store
from .asking import MAX_SPACES
from .platforms import platform_at
from .sources import SourceError
from .store import RunRow
from .wire import ApiSource, CheckImportSource, FileSource, ImportSourceCheck, KeptApiSource, StartImport

_CHECK_SECONDS = 30.0


def check_source(settings: Settings, given: StartImport) -> None:
    """Asks for the address of a website or API before any transaction begins. Raises BadRequest."""
    if not isinstance(given.source, FileSource):
        _check_url(settings, given.source.url, "source.url")


def _check_url(settings: Settings, url: str, name: str) -> Fetcher:
    fetcher = Fetcher(settings.allow_private_fetch)
    try:
        fetcher.check_url(url)
    except FetchError as error:
        raise BadRequest(f"{name}: {error.message}") from None
    return fetcher


def check_api(settings: Settings, given: CheckImportSource) -> ImportSourceCheck:
    """Asks an API what can be brought from it, each thing once and for half a minute. Raises BadRequest for an address
    that may not be asked."""
    fetcher = _check_url(settings, given.url, "url")
    platform = platform_at(
        given.service, given.url, None if given.user is UNSET else given.user, given.token, fetcher, wait=None
    )
    try:
        with deadlines.limited(_CHECK_SECONDS):
            found, is_all = platform.find_spaces()
    except (SourceError, deadlines.OutOfTime) as error:
        return ImportSourceCheck([], str(error) or "it did not answer in time")
    if is_all:
        return ImportSourceCheck(found)
    return ImportSourceCheck(found, f"It has more than {MAX_SPACES:,} spaces; these are the first.")


def start(tx: Transaction, sealer: Sealer, org: OrgAccess, given: StartImport) -> RunRow:
    """A run that waits for its job. Raises NotFound and Forbidden for the target, NotFound for uploads of others."""
    space_id = given.target.space
    if space_access(tx, org.actor, Can.EDIT, space_id).organization_id != org.organization_id:
        raise NotFound(f"target.space: there is no space {space_id!r} in this organization.")
    change_id, page_id = runs.check_target(tx, org.actor, space_id, given.target)
    if isinstance(given.source, FileSource):
        get_uploads(tx, org.organization_id, org.user_id, "import_file", given.source.files)
    if given.variants:
        _require_variants(tx, org, given)
    origin = _origin(tx, space_id, given) if given.update is not UNSET else None
    run = store.insert_run(
        tx,
        organization_id=org.organization_id,
        space_id=space_id,
        change_id=change_id,
        page_id=page_id,
        user_id=org.user_id,
        source=KeptApiSource(given.source.url, given.source.space, given.source.service)
        if isinstance(given.source, ApiSource)
        else given.source,
        preview=given.preview,
        origin=origin,
        with_variants=given.variants,
    )
    if isinstance(given.source, ApiSource):
        user = None if given.source.user is UNSET else given.source.user
        store.put_secret(tx, sealer, run.id, user, given.source.token)
    enqueue(tx, "runImport", organization=org.organization_id, run=run.id)
    return run


def _require_variants(tx: Transaction, org: OrgAccess, given: StartImport) -> None:
    """Raises BadRequest for a source that comes as one space, Forbidden for who may not make spaces and a site of them."""
    source = given.source
    if not isinstance(source, FileSource) and getattr(source, "service", "") != "readme":
        raise BadRequest(
            "variants: files and projects of ReadMe have versions and languages; this source has none."
        )
    if given.target.page is not UNSET:
        raise BadRequest("target.page: variants are whole spaces, so none of them goes below a page.")
    if given.preview:
        return
    if not at_least(org.role, ORGANIZATION[Can.CREATE_CONTENT]):
        raise Forbidden(
            "variants: become spaces and a site, for those who may create content in the organization."
        )
    space_access(tx, org.actor, Can.ADMIN, given.target.space)


def _origin(tx: Transaction, space_id: str, given: StartImport) -> str:
    """The first of the runs that ``update`` names one of. Raises NotFound, BadRequest."""
    assert given.update is not UNSET
    run = store.find_run(tx, given.update)
    if run is None or run.space_id != space_id:
        raise NotFound(f"update: there is no import run {given.update!r} in this space.")
    if run.status != "completed" or run.preview:
        raise BadRequest("update: only what a completed run brought in can be updated.")
    if given.target.page is not UNSET:
        raise BadRequest("target.page: an update goes where its pages are.")
    return run.origin or run.id


def cancel(tx: Transaction, run_id: str) -> RunRow:
    """Raises BadRequest for a run that is completed or failed."""
    ended = store.end_run(tx, run_id, "cancelled")
    run = store.get_run(tx, run_id)
    if not ended and run.status != "cancelled":
        raise BadRequest(f"This import run is over: it is {run.status}.")
    return run
