"""No test depends on the speed of the machine: expected events are waited for with patience, and nothing has
to happen within some seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from settled import PATIENCE

TESTS = Path(__file__).parent
WAITS = {"wait", "join", "take", "acquire", "result"}
LONG = 60.0
"""Seconds from which a limit counts as the end of a test that hangs."""
GLANCE = 1.0
"""Seconds below which a wait only looks that something does not come: a slow machine makes such a look blind, and no
test fail."""
PAUSE = 0.05

ON_PURPOSE = {
    "admin/test_following.py": "writes come at some pace, and backups have the second in their names",
    "contract/test_taken_away.py": "requests that begin later than that are asked about as well",
    "events/test_streams.py": "a stop that waits for streams takes thirty seconds",
    "live/test_killed.py": "edits through the API come as often as people make them",
    "kit/test_turns.py": "writes come to the lock meanwhile; otherwise fewer of them wait for it",
    "revisions/restriction_machine.py": "a stream may send nothing, so it has half a second to send something",
    "test_clusters.py": "moments that a log has to tell apart, and a pause as people make them",
    "test_serving.py": "a stop that waits for nobody takes less than the thirty seconds it may",
}
"""Files in which something else is meant, and what."""


def parents_of(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def number(node: ast.AST | None) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    return None


def is_clock(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("monotonic", "perf_counter", "time")
    )


def impatient(source: str) -> Iterator[tuple[int, str]]:
    """Return the lines of a test that depend on the speed of the machine, and how."""
    tree = ast.parse(source)
    parents = parents_of(tree)

    def above(node: ast.AST) -> Iterator[ast.AST]:
        while node in parents:
            node = parents[node]
            yield node

    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = node.args[0] if node.args else None
            given = next((word.value for word in node.keywords if word.arg == "timeout"), given)
            seconds = number(given)
            if seconds is None:
                continue
            outside = list(above(node))
            if name in WAITS and isinstance(node.func, ast.Attribute):
                wanted = any(isinstance(each, ast.Assert) for each in outside)
                denied = any(
                    isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not) for each in outside
                )
                if not denied and (PAUSE if wanted else GLANCE) <= seconds < LONG:
                    yield node.lineno, f"waits {seconds:g} seconds for what has to come"
            if (
                name == "sleep"
                and seconds >= PAUSE
                and not any(isinstance(each, ast.While) for each in outside)
            ):
                yield node.lineno, f"sleeps {seconds:g} seconds, whatever happens meanwhile"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and is_clock(node.left):
            seconds = number(node.right)
            bound = parents[node]
            if seconds is not None and seconds < LONG and isinstance(bound, ast.Assign):
                if isinstance(bound.targets[0], ast.Name):
                    yield node.lineno, f"gives up after {seconds:g} seconds"
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            seconds = number(node.comparators[0])
            took = isinstance(node.left, ast.BinOp) and any(map(is_clock, ast.walk(node.left)))
            if seconds is not None and seconds < LONG and took:
                yield node.lineno, f"has to be done within {seconds:g} seconds"


def test_no_test_depends_on_the_speed_of_the_machine() -> None:
    found = {
        str(path.relative_to(TESTS)): list(impatient(path.read_text()))
        for path in sorted(TESTS.rglob("*.py"))
    }
    wrong = [f"{name}:{line} {what}" for name, lines in found.items() for line, what in lines]
    assert [each for each in wrong if each.partition(":")[0] not in ON_PURPOSE] == []
    assert [name for name in ON_PURPOSE if not found.get(name)] == [], "these no longer need an exception"
    assert PATIENCE > LONG


def test_time_dependent_assertions_are_found() -> None:
    source = """
assert ran.wait(5)
assert process.wait(timeout=10) == 0
assert not late.began.wait(0.05)
thread.join(0.1)
thread.join(30)
until = time.monotonic() + 20
while time.monotonic() < until:
    time.sleep(0.1)
time.sleep(0.3)
assert time.monotonic() - began < 2
assert ran.wait(PATIENCE)
"""
    assert sorted(line for line, _ in impatient(source)) == [2, 3, 6, 7, 10, 11]
