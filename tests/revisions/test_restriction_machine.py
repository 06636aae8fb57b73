"""No response reveals a restricted page to someone who can't see it, after any sequence of changes."""

from __future__ import annotations

from collections import Counter

import pytest

from revisions.restriction_machine import run
from world import World


def test_no_response_reveals_a_restricted_page(sqlite_world: World) -> None:
    machine = run(sqlite_world, 1, steps=6, reads=60, writes=30)
    assert not machine.found, "\n".join(machine.found)
    assert sum(machine.cases.values()) > 300 and machine.touched


@pytest.mark.slow
def test_no_response_reveals_a_restricted_page_in_many_states(world: World) -> None:
    cases, found, seed = Counter[str](), list[str](), 0
    while sum(cases.values()) < 50_000 and not found:
        machine = run(world, seed, steps=40, reads=60, writes=40)
        cases += machine.cases
        found += machine.found
        seed += 1
    assert not found, "\n".join(found)
