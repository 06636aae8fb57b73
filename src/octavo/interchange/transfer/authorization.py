"""Authorization for import runs. Anyone who can access the space of a run can access the run."""

from __future__ import annotations

from octavo.content.changes.store import find_state
from octavo.content.revisions.restrictions import seen_by, unrestricted
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import (
    InSpace,
    OrgAccess,
    enter_space,
    find_space_access,
    require_actor,
)
from octavo.organization.access.roles import Can

from .store import ImportRunRow, find_run, list_target_pages


class RunAccess(InSpace, frozen=True):
    """Access to an import run. It is the same as the access to the run's space."""

    run_id: str


@enters(RunAccess, "organizationId", "importRunId")
def enter_run(call: Call, needs: Can, organization_id: str, import_run_id: str) -> RunAccess:
    require_actor(call)
    missing = f"There is no import run with the ID {import_run_id!r} in this organization."
    with call.db.read() as tx:
        run = find_run(tx, import_run_id)
        if run is None or run.organization_id != organization_id or has_hidden_target(tx, call.actor, run):
            raise NotFound(missing)
    try:
        return RunAccess(enter_space(call, needs, run.space_id), run.id)
    except NotFound:
        raise NotFound(missing) from None


def has_hidden_target(tx: Transaction, actor: Actor, run: ImportRunRow) -> bool:
    """Return whether a run imports into a page that the actor can't see. The run must be hidden from this actor."""
    return run.page_id is not None and run.page_id in _list_hidden(tx, actor, run.space_id, run.change_id)


def list_hidden_runs(tx: Transaction, org: OrgAccess) -> set[str]:
    """Return the IDs of the runs that import into pages that the caller can't see."""
    targets = list_target_pages(tx, org.organization_id)
    places = {(one.space_id, one.change_id) for one in targets}
    hidden = {place: _list_hidden(tx, org.actor, *place) for place in places}
    return {one.run_id for one in targets if one.page_id in hidden[one.space_id, one.change_id]}


def _list_hidden(tx: Transaction, actor: Actor, space_id: str, change_id: str | None) -> frozenset[str]:
    state, space = find_state(tx, space_id, change_id), find_space_access(tx, actor, Can.VIEW, space_id)
    return (seen_by(tx, space, state) if space is not None else unrestricted(tx, state)).hidden
