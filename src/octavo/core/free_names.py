"""Generate unused names."""

from __future__ import annotations

from collections.abc import Callable


def free_name(
    wanted: str, is_taken: Callable[[str], bool], numbered: Callable[[int], str] | None = None
) -> str:
    """Return ``wanted``, or ``wanted`` with a free number appended. ``numbered``: the function that formats
    the name with a number.

    The number is found by doubling and halving: after n equal names, finding n + 1 takes log n calls, while counting up
    would take n squared calls for n names. If numbers are missing in between, it may not be the smallest.

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
