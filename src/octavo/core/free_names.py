"""Generate unused names."""

from __future__ import annotations

from collections.abc import Callable


def free_name(
    wanted: str, is_taken: Callable[[str], bool], numbered: Callable[[int], str] | None = None
) -> str:
    """Return ``wanted``, or ``wanted`` with a free number appended. ``numbered``: the function that formats
    the name with a number.

    The number is found by doubling and halving, which takes log n calls if n numbers are in use. If there are gaps, the
    number may not be the smallest one available.

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
