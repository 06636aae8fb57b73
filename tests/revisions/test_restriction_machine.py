"""No response reveals a restricted page to someone who can't see it, after any sequence of changes."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from revisions.restriction_traces import run
from seeds import seed
from world import World


def test_no_response_reveals_a_restricted_page(sqlite_world: World) -> None:
    machine = run(sqlite_world, 1, steps=6, reads=60, writes=30)
    assert not machine.found, "\n".join(machine.found)
    assert sum(machine.cases.values()) > 300 and machine.touched


@pytest.mark.slow
def test_no_response_reveals_a_restricted_page_in_many_states(world: World) -> None:
    """The number of cases and the first seed can be set."""
    wanted = int(os.environ.get("OCTAVO_TEST_CASES", "50000"))
    cases, found, number = Counter[str](), list[str](), seed()
    while sum(cases.values()) < wanted and not found:
        machine = run(world, number, steps=40, reads=60, writes=40)
        cases += machine.cases
        found += machine.found
        number += 1
        print(number, sum(cases.values()), flush=True)
    print(dict(cases))
    assert not found, "\n".join(found)
