"""What a list of changes costs."""

import sys

import pytest

from changes.working import insert
from octavo.changes.differences import present_differences, states_of_change
from octavo.changes.store import get_change


def count_instructions(work):
    """Instructions of the interpreter."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("limit", [1, 3])
def test_a_list_of_changes_costs_what_it_shows(space, limit):
    costs = []
    for number in (5, 100):
        change = space.create()
        space.edit(change, *(insert(f"# New {n}\n\nText.\n") for n in range(number)))

        def show(change=change):
            with space.world.context.db.read() as tx:
                shown = present_differences(None, tx, states_of_change(tx, get_change(tx, change)), limit)
            assert len(shown.changes) == limit

        show()
        costs.append(count_instructions(show))
    assert costs[1] < 1.1 * costs[0], costs
