"""Data derived from a large revision is written beforehand in invisible batches and counts with the revision."""

import gc
import json
from collections import Counter
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from octavo.content.revisions import deriving, staging, versions
from octavo.content.revisions.bodies import body_hash, put_bodies
from octavo.content.revisions.deriving import check_derived, prepare_derived, rebuild_derived, remove_replaced
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.revising import revise_main
from octavo.content.revisions.staging import BATCH
from octavo.content.revisions.states import main_state
from octavo.content.revisions.store import BranchMoved, Changes
from octavo.kit.work.worker import Worker
from octavo.operations.admin.import_export import import_space

TABLES = ("search_pages", "search_sections", "search_words", "content_references", "reference_questions")
PAGES, LINKS = 300, 20
A_PAGE = 100
"""Rows that the last page of a batch may write more."""


@pytest.fixture
def in_batches(monkeypatch):
    """Treat every revision as large."""
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(staging, "BATCH", 10)


def write(folder, word, pages=PAGES, links=LINKS):
    folder.mkdir(exist_ok=True)
    for n in range(pages):
        led = " ".join(f"[to](p{(n + k) % pages}.md)" for k in range(1, links + 1))
        (folder / f"p{n}.md").write_text(f"# Page {n}\n\n{word} {led}\n")
    (folder / "SUMMARY.md").write_text("".join(f"* [Page {n}](p{n}.md)\n" for n in range(pages)))
    return str(folder)


def bring_in(world, source, space=None):
    org = world.home["organizationId"]
    return import_space(world.context, source, organization_id=org, space_id=space).outcome.space


def found(world, space, word):
    return world.get("admin", f"/spaces/{space}/search", params={"query": word, "limit": 1})["count"]


def links(world, space):
    return world.get("admin", f"/spaces/{space}/links", params={"limit": 1})["stats"]["total"]


def wrong(world, space):
    with world.context.db.read() as tx:
        return check_derived(tx, space, ())


def count_rows(world):
    with world.context.db.read() as tx:
        return {name: tx.value(f"SELECT count(*) FROM {name}") for name in TABLES}


@contextmanager
def looking_between(world, monkeypatch, look):
    """Call ``look`` after each writing transaction."""
    begin = world.context.db.write

    class Looking:
        def __init__(self):
            self.inner = begin()

        def __enter__(self):
            return self.inner.__enter__()

        def __exit__(self, *given):
            ended = self.inner.__exit__(*given)
            look()
            return ended

    with monkeypatch.context() as patched:
        patched.setattr(world.context.db, "write", Looking)
        yield


@pytest.mark.sqlite_first
def test_no_transaction_of_a_large_import_writes_more_than_a_batch(world, tmp_path, monkeypatch):
    space = bring_in(world, write(tmp_path / "source", "zebra"))
    assert (found(world, space, "zebra"), links(world, space)) == (PAGES, PAGES * LINKS)
    source = write(tmp_path / "source", "giraffe")
    with world.context.db.read() as tx:
        before = main_state(tx, space)
    written = []

    def look_between():
        # Between the transactions of the import, everyone sees the previous content.
        with world.context.db.read() as tx:
            switched = main_state(tx, space) != before
        assert found(world, space, "zebra") == (0 if switched else PAGES)
        assert found(world, space, "giraffe") == (PAGES if switched else 0)
        assert links(world, space) == PAGES * LINKS
        written.append((switched, count_rows(world)))

    look_between()
    with looking_between(world, monkeypatch, look_between):
        bring_in(world, source, space)
    grown = [
        (switched, sum((Counter(after) - Counter(earlier)).values()))
        for (_, earlier), (switched, after) in zip(written, written[1:], strict=False)
    ]
    assert max(rows for _, rows in grown) <= BATCH + A_PAGE
    assert sum(rows for switched, rows in grown if not switched) > PAGES * LINKS
    assert sum(rows for switched, rows in grown if switched) == 0
    assert wrong(world, space) == []


@pytest.mark.sqlite_first
def test_replaced_rows_are_removed(world, tmp_path, in_batches):
    space = bring_in(world, write(tmp_path / "source", "zebra", 8, 3))
    once = count_rows(world)
    bring_in(world, write(tmp_path / "source", "giraffe", 8, 3), space)
    copy = count_rows(world)
    assert copy["search_pages"] == once["search_pages"] + 8
    assert wrong(world, space) == []
    remove_replaced(world.context, space)
    assert count_rows(world) == once
    assert wrong(world, space) == []
    assert (found(world, space, "giraffe"), found(world, space, "zebra")) == (8, 0)


@pytest.mark.sqlite_first
def test_edits_follow_large_revisions(world, tmp_path, monkeypatch, in_batches):
    space = bring_in(world, write(tmp_path / "source", "zebra", 8, 3))
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 1000)
    source = tmp_path / "source"
    (source / "p3.md").write_text("# Page 3\n\ngiraffe [to](p1.md)\n")
    (source / "p8.md").write_text("# Page 8\n\ngiraffe [to](p3.md)\n")
    (source / "SUMMARY.md").write_text((source / "SUMMARY.md").read_text() + "* [Page 8](p8.md)\n")
    bring_in(world, str(source), space)
    assert wrong(world, space) == []
    assert (found(world, space, "zebra"), found(world, space, "giraffe")) == (7, 2)
    before = count_rows(world)
    remove_replaced(world.context, space)
    assert count_rows(world) == before


@pytest.mark.sqlite_first
def test_a_copy_contains_no_replaced_content(world, tmp_path, monkeypatch, in_batches):
    space = bring_in(world, write(tmp_path / "source", "zebra", 8, 3))
    bring_in(world, write(tmp_path / "source", "giraffe", 8, 3), space)
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 1000)
    copied = world.post("admin", f"/spaces/{space}/duplicate", {})["id"]
    assert wrong(world, copied) == []
    assert (found(world, copied, "giraffe"), found(world, copied, "zebra")) == (8, 0)


def test_derived_rows_of_large_copies_are_written_by_a_job(world, tmp_path, monkeypatch, in_batches):
    space = bring_in(world, write(tmp_path / "source", "zebra", 8, 3))
    before = count_rows(world)
    copied = world.post("admin", f"/spaces/{space}/duplicate", {})["id"]
    assert count_rows(world) == before
    Worker(world.context.db, world.context).run_pending()
    assert wrong(world, copied) == []
    assert (found(world, copied, "zebra"), links(world, copied)) == (8, 24)


def damage(world, space):
    """Write rows that are wrong, missing, or belong to pages that don't exist."""
    with world.context.db.write() as tx:
        tx.run("UPDATE content_references SET status = 'broken' WHERE space_id = :space", space=space)
        tx.run("DELETE FROM search_words WHERE space_id = :space AND word LIKE '%a'", space=space)
        tx.run("UPDATE search_words SET pages = pages + 3 WHERE space_id = :space", space=space)
        tx.run(
            """INSERT INTO search_pages (space_id, page_id, words, titles)
               VALUES (:space, 'gone', '["lion","zebra"]', 'Gone')""",
            space=space,
        )
        tx.run(
            """INSERT INTO content_references (space_id, owner_id, place, owner_kind, type, relation, written, kind,
                 status, target_key, asked)
               VALUES (:space, 'gone', 0, 'page', 'link', 'reference', '{}', 'url', 'ok', 'k', '[]')""",
            space=space,
        )


def test_everything_is_rebuilt_after_large_revisions(world, tmp_path, in_batches):
    space = bring_in(world, write(tmp_path / "source", "giraffe", 8, 3))
    bring_in(world, write(tmp_path / "source", "zebra", 8, 3), space)
    remove_replaced(world.context, space)
    right = count_rows(world)
    damage(world, space)
    assert len(wrong(world, space)) == 2
    rebuild_derived(world.context.db, space, ())
    assert wrong(world, space) == []
    remove_replaced(world.context, space)
    assert wrong(world, space) == []
    assert count_rows(world) == right
    assert (found(world, space, "zebra"), links(world, space)) == (8, 24)


def test_a_large_space_is_rebuilt_in_small_transactions(world, tmp_path, monkeypatch):
    pages, batch = 40, 200
    space = bring_in(world, write(tmp_path / "source", "zebra", pages))
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(staging, "BATCH", batch)
    written = [count_rows(world)]

    def look():
        assert (found(world, space, "zebra"), links(world, space)) == (pages, pages * LINKS)
        written.append(count_rows(world))

    with looking_between(world, monkeypatch, look):
        rebuild_derived(world.context.db, space, ())
    changes = [
        sum((Counter(after) - Counter(earlier)).values()) + sum((Counter(earlier) - Counter(after)).values())
        for earlier, after in zip(written, written[1:], strict=False)
    ]
    assert max(changes) <= batch + A_PAGE
    assert sum(changes) > pages * LINKS
    assert wrong(world, space) == []


class Killed(BaseException):
    """Exception that no handler catches: the process is gone."""


def test_a_killed_rebuild_continues(world, tmp_path, monkeypatch):
    """Each part is done once, except for the interrupted one; data without a page is removed, too."""
    monkeypatch.setattr(deriving, "_AT_ONCE", 4)
    space = bring_in(world, write(tmp_path / "source", "zebra", 16, 3))
    Worker(world.context.db, world.context).run_pending()
    right = count_rows(world)
    damage(world, space)
    parts = []
    is_killed = False
    apply = deriving.apply_derived

    def apply_or_die(tx, space_id, prepared):
        nonlocal is_killed
        apply(tx, space_id, prepared)
        parts.append(prepared.owners)
        if len(parts) == 3 and not is_killed:
            is_killed = True
            raise Killed

    monkeypatch.setattr(deriving, "apply_derived", apply_or_die)
    with world.context.db.write() as tx:
        deriving.enqueue_rebuild(tx, space)
    with pytest.raises(Killed):
        Worker(world.context.db, world.context).run_pending()
    with world.context.db.write() as tx:
        # The lease of a killed process isn't renewed.
        ((payload, attempts),) = tx.all("SELECT payload, attempts FROM jobs WHERE kind = 'indexSpace'")
        tx.run("UPDATE jobs SET lease_until = 0 WHERE kind = 'indexSpace'")
    assert (json.loads(payload)["after"], attempts) == (json.loads(parts[1])[-1], 1)
    Worker(world.context.db, world.context).run_pending()
    assert parts[2] == parts[3]
    assert len({*parts}) == len(parts) - 1 >= 5
    assert (wrong(world, space), count_rows(world)) == ([], right)
    assert (found(world, space, "zebra"), links(world, space)) == (16, 48)


def test_a_rebuild_loads_a_limited_amount_of_text(world, tmp_path, monkeypatch):
    monkeypatch.setattr(deriving, "_BYTES_AT_ONCE", 200)
    space = bring_in(world, write(tmp_path / "source", "zebra", 12, 5))
    taken = []
    apply = deriving.apply_derived

    def note(tx, space_id, prepared):
        apply(tx, space_id, prepared)
        taken.append(len(json.loads(prepared.owners)))

    monkeypatch.setattr(deriving, "apply_derived", note)
    rebuild_derived(world.context.db, space, ())
    assert max(taken) <= 3
    assert wrong(world, space) == []


def test_a_revision_between_two_parts_of_a_rebuild_is_kept(world, tmp_path, monkeypatch):
    monkeypatch.setattr(deriving, "_AT_ONCE", 4)
    source = write(tmp_path / "source", "zebra", 8, 3)
    space = bring_in(world, source)
    part, revisions = deriving._rebuild_part, []

    def rebuild_and_revise(*given):
        last = part(*given)
        if len(revisions) < 2:
            revisions.append(write(tmp_path / "source", ("lion", "tiger")[len(revisions)], 8, 3))
            bring_in(world, source, space)
        return last

    monkeypatch.setattr(deriving, "_rebuild_part", rebuild_and_revise)
    rebuild_derived(world.context.db, space, ())
    assert wrong(world, space) == []
    assert [found(world, space, word) for word in ("zebra", "lion", "tiger")] == [0, 0, 8]


def test_a_large_revision_does_not_stop_to_look_for_garbage(sqlite_world, tmp_path, monkeypatch):
    """Its transaction blocks all others, and a scan of an entire import takes long."""
    world = sqlite_world
    space = bring_in(world, write(tmp_path / "source", "zebra", 3, 1))
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)
    with world.context.db.read() as tx:
        state = main_state(tx, space)
        one = list_pages(tx, state)[0]
    pages = {
        f"{one.id}{n}": replace(one, id=f"{one.id}{n}", slug=f"s{n}", file_path=None, body=None)
        for n in range(10 * gc.get_threshold()[0])
    }
    looks = []

    def look(phase, about):
        looks.append(phase)

    with prepare_derived(world.context.db, state, Changes(pages), ()) as prepared:
        assert prepared.staged is not None
        with world.context.db.write() as tx:
            gc.collect()
            gc.callbacks.append(look)
            try:
                revise_main(tx, state, Changes(pages), prepared)
            finally:
                gc.callbacks.remove(look)
    assert looks.count("start") <= 2


def edit(world, space, title, text):
    """Return the head of main, and changes that give a page another text."""
    with world.context.db.write() as tx:
        put_bodies(tx, [text])
    with world.context.db.read() as tx:
        state = main_state(tx, space)
        page = next(page for page in list_pages(tx, state) if page.title == title)
    return state, Changes({page.id: replace(page, body=body_hash(text))})


def test_a_revision_that_comes_too_late_leaves_no_rows(world, tmp_path, in_batches):
    source = write(tmp_path / "source", "zebra", 8, 3)
    space = bring_in(world, source)
    before = count_rows(world)
    state, changes = edit(world, space, "Page 3", "# Page 3\n\ngiraffe\n")

    def revise():
        with (
            prepare_derived(world.context.db, state, changes, ()) as prepared,
            world.context.db.write() as tx,
        ):
            # Rows of an ended version can be deleted.
            tx.run("DELETE FROM staged_versions")
            revise_main(tx, state, changes, prepared)

    with pytest.raises(BranchMoved):
        revise()
    assert found(world, space, "giraffe") == 0
    remove_replaced(world.context, space)
    assert count_rows(world) == before
    assert wrong(world, space) == []


def test_rows_of_a_killed_process_are_removed_after_a_day(world, tmp_path, in_batches, clock):
    space = bring_in(world, write(tmp_path / "source", "zebra", 8, 3))
    before = count_rows(world)
    state, changes = edit(world, space, "Page 3", "# Page 3\n\ngiraffe\n")
    begun = prepare_derived(world.context.db, state, changes, ())
    begun.__enter__()  # and never ended, because the process died
    written = count_rows(world)
    assert written["search_pages"] == before["search_pages"] + 1
    remove_replaced(world.context, space)  # it may still continue
    assert count_rows(world) == written
    clock.advance(versions.ABANDONED_AFTER)
    remove_replaced(world.context, space)
    assert count_rows(world) == before
    assert wrong(world, space) == []
