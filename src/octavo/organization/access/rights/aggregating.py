"""People who have access to an object, filtered and sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, slice_items

from ..accounts import UserRow, list_users_by_id
from ..evaluation import EvaluatedRole, Step, list_evaluated_roles, list_steps
from . import store
from .authorization import ObjectAccess


class PeopleWithAccess(NamedTuple):
    """One page of the list of people with access to an object. ``slice``: the user IDs on the page. ``standings``: the
    role of each member, by user ID. ``steps``: the path from the object outward."""

    slice: Slice[str]
    standings: Mapping[str, EvaluatedRole]
    users: Mapping[str, UserRow]
    steps: Sequence[Step]


def list_people_with_access(
    tx: Transaction,
    target: ObjectAccess,
    limit: int,
    page: str | None,
    *,
    role: str | None = None,
    search: str | None = None,
    team: str | None = None,
    sort: store.Sort | None = None,
    descending: bool = False,
) -> PeopleWithAccess:
    """Return one page of the people with access to an object. ``role``: the exact role to filter by;
    `guest` for members without access. Raises NotFound if the team belongs to another organization."""
    steps = list_steps(tx, target.kind, target.id)
    standings = list_evaluated_roles(tx, target.organization_id, steps)
    if search or team is not None or sort is not None:
        keys = store.list_people_keys(tx, target.organization_id, search=search, team=team, sort=sort)
    else:
        keys = {user_id: user_id for user_id in standings}
    wanted = None if role == "guest" else role
    found = [
        user_id
        for user_id, (decision, _) in standings.items()
        if user_id in keys and (decision.role == wanted if role is not None else decision.role is not None)
    ]
    shown = slice_items(found, limit, page, keys.__getitem__, descending=descending)
    return PeopleWithAccess(shown, standings, list_users_by_id(tx, list(shown.rows)), steps)
