"""Tests of the cost of listing changes."""

import sys

import pytest

from changes.working import insert, update
from octavo.content.changes.differences import states_of_change
from octavo.content.changes.differences_presenting import present_differences
from octavo.content.changes.store import get_change
from octavo.organization.access.authorization import space_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can


def count_instructions(work):
    """Count the instructions of the interpreter."""
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
def test_the_cost_of_a_list_of_changes_depends_on_its_length(space, limit):
    costs = []
    for number in (5, 100):
        change = space.create()
        space.edit(change, *(insert(f"# New {n}\n\nText.\n") for n in range(number)))

        def show(change=change):
            with space.world.context.db.read() as tx:
                actor = actor_for_job(space.world.users["admin"], space.world.home["organizationId"])
                states = states_of_change(
                    tx, space_access(tx, actor, Can.VIEW, space.id), get_change(tx, change)
                )
                shown = present_differences(None, tx, states, limit)
            assert len(shown.changes) == limit

        show()
        costs.append(count_instructions(show))
    assert costs[1] < 1.1 * costs[0], costs


@pytest.mark.sqlite_first
def test_changes_are_paginated_completely(space):
    change = space.create()
    space.edit(change, *(insert(f"# New {n}\n\nText.\n") for n in range(5)))
    space.edit(change, update(space.pages["A"], title="Another name", parent=None))
    space.edit(change, {"operation": "set_variables", "variables": {"one": "1", "two": "2"}})
    path = f"{space.path}/change-requests/{change}/changes"
    read = lambda **query: space.world.call("reader", "GET", path, params=query).json()  # noqa: E731
    whole = read(limit=1000)
    assert len(whole["changes"]) >= 7 and "next" not in whole and "more" not in whole
    found, token = [], None
    while True:
        answer = read(limit=2, **({"page": token} if token else {}))
        found += answer["changes"]
        assert answer.get("more", 0) == len(whole["changes"]) - len(found)
        if "next" not in answer:
            break
        token = answer["next"]["page"]
    assert found == whole["changes"]
    alone = read(only=space.pages["A"])
    assert [one["type"] for one in alone["changes"]] == ["page_edited"] and "more" not in alone
    merged = space.try_merge(change).json()["revision"]
    history = f"{space.path}/revisions/{merged}/changes"
    first = space.world.get("reader", f"{history}?limit=3")
    rest = space.world.get("reader", f"{history}?limit=1000&page={first['next']['page']}")
    assert len(first["changes"]) + len(rest["changes"]) == first["more"] + 3
    for bad in ("nonsense", "WyJwYWdlIiwibm93aGVyZSIsImVkaXRlZCJd"):
        refused = space.world.call("reader", "GET", path, params={"page": bad})
        assert refused.status_code == 400 and refused.json()["error"]["message"].startswith("page:")


def test_the_history_of_a_page_lists_revisions_that_changed_it(space):
    page = space.pages["A"]
    path = f"{space.path}/content/page/{page}/revisions"
    read = lambda **query: space.world.call("reader", "GET", path, params=query).json()  # noqa: E731
    first = read()
    assert (first["count"], len(first["items"])) == (1, 1)
    space.write(None, "B", "# B\n\nAnother page.\n")
    space.write(None, "A", "# A\n\nOther words.\n")
    change = space.create(subject="About A")
    space.write(change, "A", "# A\n\nReviewed words.\n")
    assert space.try_merge(change).is_success
    # Consecutive saves are one entry, which is listed if any of them changed the page.
    base = space.edit_main(update(page, document={"markdown": "# A\n\nOne.\n"}))["revision"]
    for title, text in (("A", "# A\n\nTwo.\n"), ("B", "# B\n\nThree.\n")):
        body = {
            "changes": [update(space.pages[title], document={"markdown": text})],
            "baseRevision": base,
        }
        base = space.world.post("editor", f"{space.path}/content?compat=false", body)["revision"]
    space.edit_main({"operation": "delete_page", "page": page})
    found = read()["items"]
    assert len(found) == 5 == read()["count"]
    assert found[1]["saves"] == 3 and found[1]["id"] == base
    assert found[2]["mergedFrom"]["subject"] == "About A" and found[-1]["id"] == first["items"][0]["id"]
    paged = [read(limit=1)]
    while "next" in paged[-1]:
        paged.append(read(limit=1, page=paged[-1]["next"]["page"]))
    assert [one["items"][0]["id"] for one in paged] == [one["id"] for one in found]
    assert space.world.call("reader", "GET", path.replace(page, "nowhere")).status_code == 404
    assert space.world.call("stranger", "GET", path).status_code == 404
