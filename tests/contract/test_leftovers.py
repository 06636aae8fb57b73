"""Nothing of a request that was answered refers to itself in a circle: it would stay, with the answer, until
the collector of circular garbage comes by, which a server that answers much lets wait."""

from __future__ import annotations

import gc

from circles import circles_left
from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from world import World

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()

READS = [o for o in TABLE.values() if o.method == "GET" and o.id not in TOLD_ELSEWHERE]


def test_reads_leave_no_reference_cycles(sqlite_world: World) -> None:
    world, left = sqlite_world, {}
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for operation in READS:
            sample = sample_of(operation)
            if sample.before is not None:
                sample.before(world, world.home)
            send(world, "admin", operation, world.home)
            gc.collect()
            send(world, "admin", operation, world.home)
            if found := circles_left():
                left[operation.id] = dict(found)
    finally:
        gc.unfreeze()
        gc.enable()
    assert left == {}
