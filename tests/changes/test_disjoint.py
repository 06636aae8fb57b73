"""Tests that writers of different content do not interfere: none is retried, and none is refused."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from changes.working import Space, insert, update
from octavo.content.changes import saving
from octavo.content.changes.authorization import change_access
from octavo.content.changes.commands import ContentChange
from octavo.content.changes.merging import merge
from octavo.content.changes.rebasing import edit_since
from octavo.content.changes.saving import edit_live, edit_main
from octavo.content.revisions.deriving import check_derived
from octavo.core.links import app_hosts
from octavo.errors import TemporarilyUnavailable
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can


def written(space: Space, tx, state, started, changes):
    """Return what an edit by an editor writes over a state of main."""
    resolving = saving.resolver_maker(space.world.context, space.world.actor("editor"))
    return edit_since(resolving, tx, state, started, changes, (), None)


def live(space: Space, changes: list[dict], rival: Callable[[], object]) -> int:
    """Edit main while a rival does so once, after the edit was computed and before it is written; return how
    often the edit was computed."""
    with space.world.context.db.read() as tx:
        access = space_access(tx, space.world.actor("editor"), Can.EDIT, space.id)
    decoded = [msgspec.convert(change, ContentChange) for change in changes]
    made = []

    def make(tx, state, started):
        made.append(state)
        edited = written(space, tx, state, started, decoded)
        if len(made) == 1:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(rival).result()
        return edited

    edit_live(space.world.context, access, make)
    with space.world.context.db.read() as tx:
        assert check_derived(tx, space.id, app_hosts(space.world.context.settings.url)) == []
    return len(made)


def test_an_edit_commits_after_an_edit_of_another_page(space):
    ours = [update(space.pages["A"], document={"markdown": "# A\n\nzeppelin\n"})]
    assert live(space, ours, lambda: space.write(None, "B", "# B\n\nballoon\n")) == 1
    assert "zeppelin" in space.text("A") and "balloon" in space.text("B")
    path = f"{space.path}/search"
    for word, title in (("zeppelin", "A"), ("balloon", "B")):
        found = space.world.get("editor", path, params={"query": word})["items"]
        assert [item["title"] for item in found] == [title]


def test_the_order_of_disjoint_edits_does_not_matter(space, world):
    texts = {"A": "# A\n\nzeppelin [B](b.md)\n", "B": "# B\n\nballoon\n"}
    other = Space(world)
    for there, (one, two) in ((space, "AB"), (other, "BA")):
        live(
            there,
            [update(there.pages[one], document={"markdown": texts[one]})],
            lambda there=there, two=two: there.write(None, two, texts[two]),
        )
    assert [space.text(title) for title in "ABC"] == [other.text(title) for title in "ABC"]
    assert space.tree() == other.tree()


RIVALS = {
    "the same page": lambda space: space.write(None, "A", "# A\n\nOther.\n"),
    "an anchor that it names": lambda space: space.write(None, "B", "# B\n\n## There now\n"),
    "where a page lies": lambda space: space.edit_main(update(space.pages["C"], slug="elsewhere")),
    "a new page": lambda space: space.edit_main(insert("# D\n")),
    "a page that is gone": lambda space: space.edit_main(
        {"operation": "delete_page", "page": space.pages["C"]}
    ),
    "a variable": lambda space: space.edit_main({"operation": "set_variables", "variables": {"x": "1"}}),
}


@pytest.mark.parametrize("rival", RIVALS)
def test_an_edit_is_computed_again_after(space, rival):
    ours = [update(space.pages["A"], document={"markdown": "# A\n\nSee [there](b.md#there-now).\n"})]
    assert live(space, ours, lambda: RIVALS[rival](space)) == 2
    assert "See" in space.text("A")


def test_an_edit_is_computed_again_after_others_referenced_its_anchor(space):
    """The other page had a broken reference, whose target now exists."""
    ours = [update(space.pages["B"], document={"markdown": "# B\n\n## There now\n"})]
    link = "# A\n\nSee [there](b.md#there-now).\n"
    assert live(space, ours, lambda: space.write(None, "A", link)) == 2


def test_fifty_writers_on_fifty_pages(space):
    pages = [space.edit_main(insert(f"# P{n}\n\nOld {n}.\n"))["changes"][0]["page"]["id"] for n in range(50)]

    texts = [{"markdown": f"# P{n}\n\nNew{n}.\n"} for n in range(50)]
    requests = {}
    for n in range(0, 50, 5):
        requests[n] = space.create()
        space.edit(requests[n], update(pages[n], document=texts[n]))
    context, actor = space.world.context, space.world.actor("reviewer")

    def write(number: int) -> bool:
        with context.db.read() as tx:
            main = space_access(tx, actor, Can.EDIT, space.id)
            request = number in requests and change_access(tx, main, requests[number])
        if request:
            return not merge(context, request).conflicts
        changes = [msgspec.convert(update(pages[number], document=texts[number]), ContentChange)]
        return bool(edit_main(context, main, changes).edited.changes)

    with ThreadPoolExecutor(50) as pool:
        assert all(pool.map(write, range(50)))
    assert [space.text(page) for page in pages] == [f"# P{n}\n\nNew{n}.\n" for n in range(50)]
    with space.world.context.db.read() as tx:
        assert check_derived(tx, space.id, app_hosts(space.world.context.settings.url)) == []


def test_starved_requests_get_a_time_to_retry(space, monkeypatch):
    monkeypatch.setattr(saving, "TURN_SECONDS", 0.2)
    number = iter(range(1000))

    def always(tx, state, started):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(space.write, None, "A", f"# A\n\n{next(number)}\n").result()
        change = msgspec.convert(
            update(space.pages["A"], document={"markdown": "# A\n\nOurs.\n"}), ContentChange
        )
        return written(space, tx, state, started, [change])

    with space.world.context.db.read() as tx:
        access = space_access(tx, space.world.actor("editor"), Can.EDIT, space.id)
    with pytest.raises(TemporarilyUnavailable) as refused:
        edit_live(space.world.context, access, always)
    assert int(refused.value.headers["retry-after"]) > 0
