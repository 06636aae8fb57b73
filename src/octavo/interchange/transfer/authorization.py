"""Authorization for import runs. Anyone who can access the space of a run can access the run."""

from __future__ import annotations

from octavo.errors import NotFound
from octavo.kit.http.operation import Call, enters
from octavo.organization.access.authorization import InSpace, enter_space, require_actor
from octavo.organization.access.roles import Can

from .store import find_run


class RunAccess(InSpace, frozen=True):
    """Access to an import run. It is the same as the access to the run's space."""

    run_id: str


@enters(RunAccess, "organizationId", "importRunId")
def enter_run(call: Call, needs: Can, organization_id: str, import_run_id: str) -> RunAccess:
    require_actor(call)
    missing = f"There is no import run with the ID {import_run_id!r} in this organization."
    with call.db.read() as tx:
        run = find_run(tx, import_run_id)
    if run is None or run.organization_id != organization_id:
        raise NotFound(missing)
    try:
        return RunAccess(enter_space(call, needs, run.space_id), run.id)
    except NotFound:
        raise NotFound(missing) from None
