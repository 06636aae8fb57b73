"""Operations that start, show, and cancel imports."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import UNSET

from octavo.content.revisions.authorization import ReadState
from octavo.core.pages import slugify
from octavo.kit.db.pagination import Listing, present_slice
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Area, Call, Stream
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from . import archiving, starting, store
from .authorization import RunAccess, list_hidden_runs
from .types import ApiLogin
from .wire import (
    CheckImportSource,
    ImportRun,
    ImportRunsQuery,
    ImportSourceCheck,
    StartImport,
    present_run,
    read_import_request,
    run_location,
)

operation = Area("imports").operation

_RUNS = "/org/{organizationId}/imports"
_RUN = f"{_RUNS}/{{importRunId}}"


@operation(
    "startImportRun",
    "POST",
    _RUNS,
    needs=Can.VIEW,
    status=201,
    errors=(400, 403, 404, 409),
    yields=("changes:write", "content:write", "sites:write", "spaces:write"),
)
def start_import(call: Call, org: OrgAccess, body: StartImport) -> ImportRun:
    """Import uploaded files, a website, or a space through another server's API. The pages are added to a change
    request, or to the main version if live editing is on. Existing content is kept. The imported pages are added
    after it, or become subpages of the target page."""
    wanted = read_import_request(body)
    starting.check_source(call.settings, wanted.source)
    with call.db.write() as tx:
        run = starting.start(tx, call.context.sealer, org, wanted)
        call.response_headers["location"] = run_location(call, run)
        return present_run(call, tx, run)


@operation(
    "checkImportSource",
    "POST",
    f"{_RUNS}/check",
    needs=Can.CREATE_CONTENT,
    errors=(400, 404, 503),
    waits_for="server",
)
def check_source(call: Call, org: OrgAccess, body: CheckImportSource) -> ImportSourceCheck:
    """List the spaces that a token can access through another server's API, so that you can choose the spaces to
    import. Nothing is stored."""
    login = ApiLogin(body.token, or_none(body.user))
    found, problem = starting.check_api(call.settings, body.service, body.url, login)
    return ImportSourceCheck(found, problem or UNSET)


@operation("cancelImportRun", "POST", f"{_RUN}/cancel", needs=Can.EDIT, status=201, errors=(400, 404))
def cancel_import(call: Call, run: RunAccess) -> ImportRun:
    """Cancel a pending or running import. None of the imported content is added to the space. Returns 400
    if the import has completed or failed."""
    with call.db.write() as tx:
        return present_run(call, tx, starting.cancel(tx, run.run_id))


@operation("listImportRuns", "GET", _RUNS, needs=Can.VIEW)
def list_imports(call: Call, org: OrgAccess, query: ImportRunsQuery) -> Listing[ImportRun]:
    """List the import runs that you started in spaces that you can edit, newest first. Administrators see all
    import runs."""
    with call.db.read() as tx:
        found = store.list_runs(
            tx,
            org,
            query.limit,
            query.page,
            without=list_hidden_runs(tx, org),
            space=query.space,
            change_request=query.change_request,
            status=query.status,
        )
        return present_slice(found, lambda run: present_run(call, tx, run))


@operation("getImportRun", "GET", _RUN, needs=Can.EDIT, errors=(404,))
def get_import(call: Call, run: RunAccess) -> ImportRun:
    """Get an import run: its progress, its results, and its problems."""
    with call.db.read() as tx:
        return present_run(call, tx, store.get_run(tx, run.run_id))


@operation(
    "getSpaceArchive",
    "GET",
    "/spaces/{spaceId}/archive",
    needs=Can.VIEW,
    returns=bytes,
    errors=(503,),
    media_type="application/zip",
    yields=("content:read",),
)
def get_archive(call: Call, read: ReadState) -> Stream:
    """Download the current content of a space as a .zip file, with pages as Markdown, reusable content, variables,
    images, and files. Unedited pages are byte-for-byte identical to the imported files. Importing the .zip file
    recreates the space."""
    state = read.state
    with call.db.read() as tx:
        title = get_space(tx, state.space_id).title
    owner = (read.organization_id, call.actor.user_id)
    name = f"attachment; filename*=UTF-8''{quote(slugify(title[:60]))}.zip"
    chunks = archiving.archive(call.context, owner, state)
    return Stream(chunks, "application/zip", {"content-disposition": name, "cache-control": "no-store"})
