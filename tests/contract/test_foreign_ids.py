"""Ids of two organizations in one request always return 404 and change nothing. (A DELETE can also return
204, because there was nothing to delete.)

The administrator of home calls every operation that has ids in its path or body with one id of away among
their own. A person who administers both organizations, and so passes every permission check, does the same.
"""

from __future__ import annotations

import re

import pytest

from octavo.kit.http.operation import TABLE, Deletion, Operation
from octavo.operations.installation import load_packages
from octavo.organization.access.members import upsert_member
from world import Place, World

from .samples import SAMPLES, Sample, sample_of, send

load_packages()

_PARAMETER = re.compile(r"\{(\w+)\}")

SAME_EVERYWHERE = {
    "accountName",
    "clientId",
    "emailDomain",
    "pagePath",
    "projectId",
    "repositoryName",
    "resourceType",
    "schemaId",
    "specSlug",
}
"""Path parameters that are no ids: the same in both organizations."""


class Mixed(Place):
    """A place whose ids are its own, but for one."""

    def __init__(self, own: Place, foreign: Place, swapped: str) -> None:
        super().__init__(f"home with a foreign {swapped}", own.roles)
        self.ids = {**own.ids, swapped: foreign.ids[swapped]}


def foreign_paths(operation: Operation, sample: Sample, home: Place, away: Place) -> list[str]:
    """Return the names of ids in a path with several of them, except those that are equal in both
    organizations."""
    names = [sample.path.get(name, name) for name in _PARAMETER.findall(operation.path)]
    found = [name for name in names if home.ids[name] != away.ids[name]]
    return found if len(found) > 1 else []


def foreign_bodies(sample: Sample, home: Place, away: Place) -> list[str]:
    """Return the names of the ids in the body."""
    return sorted(name for name in sample.names_in_body() if home.ids[name] != away.ids[name])


def _with_ids() -> list[Operation]:
    """Return the operations with two ids in the path, or with ids in the body. Server administrators act on accounts
    and organizations of the whole server, so no id is foreign to them."""
    return [
        operation
        for operation in TABLE.values()
        if not operation.path.startswith("/installation/")
        and (
            len(set(_PARAMETER.findall(operation.path)) - SAME_EVERYWHERE) > 1
            or (operation.id in SAMPLES and SAMPLES[operation.id].names_in_body())
        )
    ]


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", _with_ids(), ids=lambda operation: operation.id)
def test_a_foreign_id_in_a_path_or_body_is_not_found(world: World, operation: Operation) -> None:
    sample = sample_of(operation)
    home, away = world.home, world.away
    if sample.before is not None:
        sample.before(world, home)
        sample.before(world, away)
    in_path = foreign_paths(operation, sample, home, away)
    in_body = foreign_bodies(sample, home, away)
    assert not SAME_EVERYWHERE & {*in_path, *in_body}
    swaps = [("path", name) for name in in_path] + [("body", name) for name in in_body]
    assert swaps, "ids in home and away are the same"
    missing = {404, 204} if operation.returns is Deletion else {404}
    wrong = []
    # What belongs to a person can refer to all of their organizations.
    for administers in ("home",) if operation.path.startswith("/user/") else ("home", "both"):
        if administers == "both":
            with world.context.db.write() as tx:
                upsert_member(tx, away["organizationId"], world.users["admin"], "admin")
        before = world.written()
        for where, name in swaps:
            what = f"administrator of {administers}, {name} in the {where}"
            mixed = Mixed(home, away, name)
            path = sample.ids(mixed if where == "path" else home, operation.path)
            body = sample.body_for(mixed if where == "body" else home)
            options = {"json": body} if body is not None else {}
            answer = send(world, "admin", operation, home, path=path, **options)
            if answer.status_code not in missing:
                wrong.append(f"{what}: expected {missing}, got {answer.status_code} {answer.text[:200]}")
            if world.written() != before:
                wrong.append(f"{what}: something was changed")
                before = world.written()
    assert not wrong, "\n".join([operation.source, *wrong])
