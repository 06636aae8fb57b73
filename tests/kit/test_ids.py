"""Ids say in which order they were made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from octavo.kit.ids import new_id


def test_ids_of_one_process_are_in_order_within_a_millisecond(clock):
    clock.advance(0)
    made = [new_id() for _ in range(1000)]
    assert made == sorted(set(made))
    clock.advance(1)
    assert new_id() > made[-1]
    assert {len(id) for id in made} == {20} and made[0][0].isalpha()
    assert made[0] > "0VbgthdsXuaRePoA7Ass", "those that were made before begin with 0"


def test_threads_never_create_the_same_id(clock):
    clock.advance(0)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_id(), range(4000)))
    assert len({*made}) == 4000
