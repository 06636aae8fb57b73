"""What the collector of circular garbage would have to come by for."""

from __future__ import annotations

import gc
from collections import Counter


def circles_left() -> Counter[str]:
    """What refers to itself in circles and to which nothing else does, by type, of what is ours; it is let go."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        types = [type(each) for each in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    return Counter(f"{t.__module__}.{t.__qualname__}" for t in types if t.__module__.startswith("octavo"))
