"""Detection of reference cycles that need the garbage collector."""

from __future__ import annotations

import gc
from collections import Counter


def circles_left() -> Counter[str]:
    """Count the unreachable objects of Octavo in reference cycles, by type, and free them."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        types = [type(each) for each in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    return Counter(f"{t.__module__}.{t.__qualname__}" for t in types if t.__module__.startswith("octavo"))
