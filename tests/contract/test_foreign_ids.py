"""Ids of two organizations in one request: always 404, and nothing is changed.

Every operation with ids in its path or its body is called by the administrator of home with one id of away
among their own; and once more by somebody who administers both, for whom no permission check stands in the way.
"""

from __future__ import annotations

import re

import pytest

from octavo.access import upsert_member
from octavo.app import load_operations
from octavo.kit.operation import TABLE, Operation
from world import Place, World

from .samples import SAMPLES, Sample, sample_of, send

load_operations()

_PARAMETER = re.compile(r"\{(\w+)\}")

SAME_EVERYWHERE = {"pagePath"}
"""Path parameters that are no ids: the same in both organizations."""


class _Mixed(Place):
    """A place whose ids are its own, but for one; ``read`` tells which were asked for."""

    def __init__(self, own: Place, foreign: Place, swapped: str | None) -> None:
        super().__init__(f"home with a foreign {swapped}", own.roles)
        self.ids = dict(own.ids)
        if swapped is not None:
            self.ids[swapped] = foreign.ids[swapped]
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return self.ids[name]


def _ids_in_path(operation: Operation, sample: Sample, home: Place, away: Place) -> list[str]:
    """Names in the place of the ids in the path, without those that are no ids but the same everywhere."""
    names = [sample.path.get(name, name) for name in _PARAMETER.findall(operation.path)]
    return [name for name in names if home.ids[name] != away.ids[name]]


def _ids_in_body(sample: Sample, home: Place, away: Place) -> list[str]:
    recording = _Mixed(home, away, None)
    sample.body_for(recording)
    return sorted(name for name in recording.read if home.ids[name] != away.ids[name])


def _with_ids() -> list[Operation]:
    """Operations with two ids in the path, or with ids in the body."""
    return [
        operation
        for operation in TABLE.values()
        if len(set(_PARAMETER.findall(operation.path)) - SAME_EVERYWHERE) > 1
        or (operation.id in SAMPLES and callable(SAMPLES[operation.id].body))
    ]


@pytest.mark.parametrize("both", [False, True], ids=["own", "both"])
@pytest.mark.parametrize("operation", _with_ids(), ids=lambda operation: operation.id)
def test_a_foreign_id_among_own_ones(world: World, operation: Operation, both: bool) -> None:
    sample = sample_of(operation)
    home, away = world.home, world.away
    in_path = _ids_in_path(operation, sample, home, away)
    in_body = _ids_in_body(sample, home, away)
    assert not SAME_EVERYWHERE & {*in_path, *in_body}
    swaps = [("path", name) for name in in_path if len(in_path) > 1] + [("body", name) for name in in_body]
    assert swaps, "ids in home and away are the same"
    if both:
        with world.context.db.write() as tx:
            upsert_member(tx, away["organizationId"], world.users["admin"], "admin")
    if sample.before is not None:
        sample.before(world, home)
        sample.before(world, away)
    before = world.digest()
    wrong = []
    for where, name in swaps:
        mixed = _Mixed(home, away, name)
        path = sample.ids(mixed if where == "path" else home, operation.path)
        body = sample.body_for(mixed if where == "body" else home)
        options = {"json": body} if body is not None else {}
        answer = send(world, "admin", operation, home, path=path, **options)
        if answer.status_code != 404:
            wrong.append(f"{name} in the {where}: expected 404, got {answer.status_code} {answer.text[:200]}")
        if world.digest() != before:
            wrong.append(f"{name} in the {where}: something was changed")
            before = world.digest()
    assert not wrong, "\n".join([operation.source, *wrong])
