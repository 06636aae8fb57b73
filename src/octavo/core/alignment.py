"""Align two versions of a sequence: find their common elements in order."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

_QUADRATIC_MAX = 20_000
"""Maximum product of the lengths of two runs for a full alignment. Longer runs are aligned only by their unique
elements."""
_LOOKS = 100
"""Maximum average number of times that an element is examined. Ordinary text stays far below this limit. If sequences
are constructed so that each unique element reveals only the next one, elements beyond the limit stay unpaired."""


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the indexes of the common elements in the two sequences, as a sorted list of pairs. The running time is
    nearly linear for any input."""
    pairs: list[tuple[int, int]] = []
    runs = [(0, len(a), 0, len(b))]
    looks = _LOOKS * (len(a) + len(b))
    while runs:
        a0, a1, b0, b1 = runs.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            pairs.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            pairs.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        looks -= a1 - a0 + b1 - b0
        if looks < 0:
            continue
        anchors = _anchors(a, b, (a0, a1, b0, b1))
        if anchors:
            for (i, j), (k, m) in zip([(a0 - 1, b0 - 1), *anchors], [*anchors, (a1, b1)], strict=True):
                runs.append((i + 1, k, j + 1, m))
            pairs.extend(anchors)
        elif (cost := (a1 - a0) * (b1 - b0)) <= min(_QUADRATIC_MAX, looks):
            looks -= cost
            matcher = SequenceMatcher(None, a[a0:a1], b[b0:b1], autojunk=False)
            for i, j, size in matcher.get_matching_blocks():
                pairs.extend((a0 + i + n, b0 + j + n) for n in range(size))
    return sorted(pairs)


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], run: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Return the longest ordered list of pairs of elements that occur exactly once on each side."""
    a0, a1, b0, b1 = run
    count_a, count_b = Counter(a[a0:a1]), Counter(b[b0:b1])
    place = {b[j]: j for j in range(b0, b1) if count_b[b[j]] == 1}
    common = [(i, place[a[i]]) for i in range(a0, a1) if count_a[a[i]] == 1 and a[i] in place]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(common):
        at = bisect_left(tails, j)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[at], ends[at] = j, n
    chain: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        chain.append(common[n])
        n = before[n]
    return chain[::-1]
