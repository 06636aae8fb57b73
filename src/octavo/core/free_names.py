"""Names that nothing else has."""

from __future__ import annotations

from collections.abc import Callable


def free_name(
    wanted: str, is_taken: Callable[[str], bool], numbered: Callable[[int], str] | None = None
) -> str:
    """``wanted``, or with a free number behind it; ``numbered`` says how else the number goes in.

    Numbers are looked for by doubling and halving: after n equal names it takes log n questions to find n + 1,
    where counting up would make n names cost n squared. Where there are holes it may not be the smallest.

    >>> free_name("a", {"a", "a-1"}.__contains__)
    'a-2'
    """
    if not is_taken(wanted):
        return wanted
    name = numbered or (lambda number: f"{wanted}-{number}")
    low, high = 0, 1
    while is_taken(name(high)):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if is_taken(name(middle)):
            low = middle
        else:
            high = middle
    return name(high)
