"""The pages and items of a large revision are written beforehand and invisible until the revision is created."""

import random
from contextlib import ExitStack, contextmanager

import pytest
from msgspec.structs import replace

from changes.working import Space, insert, update
from octavo.content.revisions import staging, versions
from octavo.content.revisions.bodies import body_hash, put_bodies
from octavo.content.revisions.deriving import check_derived, remove_replaced
from octavo.content.revisions.files import store_file
from octavo.content.revisions.item_versions import Item, list_content, list_items
from octavo.content.revisions.page_versions import find_pages, list_pages
from octavo.content.revisions.revising import (
    commit,
    prepare_branch,
    prepare_commit,
    prepare_main,
    revise_main,
)
from octavo.content.revisions.states import branch_state, main_state, revision_state
from octavo.content.revisions.store import BranchMoved, Changes, insert_rows
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.db import turns
from octavo.operations.admin.archives import export_organization
from octavo.operations.admin.backup import verify_installation
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.garbage import WAIT, release, remove_unused
from octavo.sites.site.structure.store import find_empty_spaces

SIZE = 10**6


@pytest.fixture
def space(world):
    return Space(world)


def text_of(word):
    return f"# {word}\n\n{word}\n"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(staging, "BATCH", 3)


@contextmanager
def in_batches(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(staging, "MOST_AT_ONCE", 0)
        yield


def rows_beyond(world):
    """Return the number of rows beyond the heads of their branches."""
    with world.context.db.read() as tx:
        return sum(
            tx.value(
                f"SELECT count(*) FROM {table} v JOIN branches b ON b.id = v.branch_id WHERE v.from_seq > b.sequence"
            )
            for table in ("page_versions", "item_versions")
        )


def changes_of(world, state, word):
    """Return changes with another text for each page of a state, a new page, and a file."""
    with world.context.db.write() as tx:
        (body,) = put_bodies(tx, [text_of(word)])
    with world.context.db.read() as tx:
        pages = {page.id: replace(page, body=body, title=word) for page in list_pages(tx, state)}
    new = Page(id=f"new{word}", title=word, slug=word, rank="zz", body=body)
    content = store_file(world.context, word.encode()).hash
    file = Item(id=f"file{word}", kind="file", name=f"{word}.yaml", path=f"{word}.yaml", content=content)
    return Changes({**pages, new.id: new}, {file.id: file})


class Writer:
    """Large revision that is written up to its last transaction. ``die`` leaves it like a killed process."""

    def __init__(self, world, monkeypatch, state, changes):
        self.world, self.state, self.changes = world, state, changes
        db = world.context.db
        with in_batches(monkeypatch):
            if len(state.layers) == 1:
                self.block = prepare_main(db, state, changes, (), (), SIZE)
            else:
                self.block = prepare_commit(db, state, changes, (), SIZE)
            self.prepared = self.block.__enter__()
        assert self.prepared.staged is not None

    def finish(self):
        with ExitStack() as stack:
            stack.push(self.block)
            tx = stack.enter_context(self.world.context.db.write())
            if len(self.state.layers) == 1:
                return revise_main(tx, self.state, self.changes, self.prepared)
            return commit(tx, self.state, self.changes, self.prepared)

    def fail(self):
        with pytest.raises(ZeroDivisionError), ExitStack() as stack:
            stack.push(self.block)
            raise ZeroDivisionError


def begin(world, monkeypatch, space, word, change=None):
    with world.context.db.read() as tx:
        state = main_state(tx, space.id) if change is None else branch_state(tx, space.id, change)
    return Writer(world, monkeypatch, state, changes_of(world, state, word))


def leave(world, space, word):
    """Leave what a process leaves that is killed while writing a revision of main."""
    with world.context.db.read() as tx:
        state = main_state(tx, space.id)
    changes, branch = changes_of(world, state, word), state.layers[0].branch_id
    with world.context.db.write() as tx:
        staged = versions.begin_version(tx, space.id, branch, ("[]", "[]"))
        insert_rows(tx, branch, staged.sequence, changes, hides=False)


def branch_of(world, change):
    with world.context.db.read() as tx:
        return tx.value("SELECT branch_id FROM change_requests WHERE id = :id", id=change)


def seen(world, space, change):
    """Return what everyone sees of a space and of one of its change requests."""
    get = world.get
    answers = [
        get("admin", f"{path}/{what}")
        for path in (space.url(None), space.url(change))
        for what in ("pages", "files")
    ]
    answers += [
        get("admin", f"{space.path}/revisions"),
        get("admin", f"{space.path}/links"),
        get("admin", f"{space.path}/change-requests/{change}/changes"),
        get("admin", f"{space.path}/search", params={"query": "zebra"}),
    ]
    with world.context.db.read() as tx:
        answers.append(list_content(tx, space.id, [".yaml"]))
    return answers


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_unfinished_revisions_are_invisible(world, space, monkeypatch, tmp_path):
    change = space.create()
    space.write(change, "A", "# A\n\nin a change request\n")
    before = seen(world, space, change)
    archive = tmp_path / "before"
    export_organization(world.context, world.home["organizationId"], archive)
    writers = [
        begin(world, monkeypatch, space, "zebra"),
        begin(world, monkeypatch, space, "zebra", branch_of(world, change)),
    ]
    assert rows_beyond(world) == 2 * 5
    assert seen(world, space, change) == before
    document = f"{space.path}/documents/{body_hash(text_of('zebra'))}"
    assert world.call("admin", "GET", document).status_code == 404
    assert verify_installation(world.context) == []
    export_organization(world.context, world.home["organizationId"], tmp_path / "during")
    assert files_below(tmp_path / "during") == files_below(archive)
    copy = world.post("admin", f"{space.path}/duplicate", {})["id"]
    pages = world.get("admin", f"/spaces/{copy}/content/pages")["pages"]
    assert [page["title"] for page in pages] == ["A", "B"]
    assert world.get("admin", f"/spaces/{copy}/content/files")["items"] == []
    for writer in writers:
        writer.finish()
    assert rows_beyond(world) == 0
    assert [page["title"] for page in world.get("admin", f"{space.path}/content/pages")["pages"]][
        -1
    ] == "zebra"
    assert verify_installation(world.context) == []


def test_an_empty_space_stays_empty_until_the_revision_is_complete(world, monkeypatch):
    space = Space(world)
    world.call("admin", "POST", space.url(None), json={"changes": []})
    site = world.post(
        "admin", world.home.path("/orgs/{organizationId}/sites"), {"title": "Site", "spaces": [space.id]}
    )
    space.edit_main(*({"operation": "delete_page", "page": space.pages[title]} for title in "AB"))
    with world.context.db.read() as tx:
        assert space.id in find_empty_spaces(tx, site["id"])
    writer = begin(world, monkeypatch, space, "zebra")
    with world.context.db.read() as tx:
        assert space.id in find_empty_spaces(tx, site["id"])
    writer.finish()
    with world.context.db.read() as tx:
        assert space.id not in find_empty_spaces(tx, site["id"])


def test_others_can_write_in_the_meantime(world, space, monkeypatch):
    """Their revisions end rows that count, and none of those being written."""
    with world.context.db.read() as tx:
        state = main_state(tx, space.id)
        page = find_pages(tx, state, [space.pages["A"]])[space.pages["A"]]
    with world.context.db.write() as tx:
        (body,) = put_bodies(tx, ["# A\n\nlarge\n"])
    writer = Writer(world, monkeypatch, state, Changes({page.id: replace(page, body=body)}))
    space.write(None, "B", "# B\n\nsmall\n")
    space.write(None, "B", "# B\n\nsmaller\n")
    writer.finish()
    assert "large" in space.text("A") and "smaller" in space.text("B")
    late = Writer(
        world, monkeypatch, writer.state, Changes({page.id: replace(page, body=body, title="Late")})
    )
    space.write(None, "A", "# A\n\nsmall\n")
    with pytest.raises(BranchMoved):
        late.finish()
    assert "small" in space.text("A")
    with world.context.db.read() as tx:
        assert check_derived(tx, space.id, ()) == []


@pytest.mark.sqlite_first
def test_numbering_continues_after_a_large_revision(world, space, monkeypatch):
    with world.context.db.read() as tx:
        first = main_state(tx, space.id)
        old = {page.id: page for page in list_pages(tx, first)}
    made = begin(world, monkeypatch, space, "zebra").finish()
    space.write(None, "A", "# A\n\nafter\n")
    revisions = world.get("admin", f"{space.path}/revisions", params={"limit": 2})
    assert revisions["items"][1]["id"] == made.revision_id
    older = world.get(
        "admin", f"{space.path}/revisions", params={"limit": 2, "page": revisions["next"]["page"]}
    )
    assert older["items"][0]["id"] == first.revision_id
    with world.context.db.read() as tx:
        assert {
            page.id: page for page in list_pages(tx, revision_state(tx, space.id, first.revision_id))
        } == old
    # A text that the large revision replaced is found in the previous revision.
    document = world.get("admin", f"{space.path}/documents/{old[space.pages['A']].body}")
    assert "First paragraph" in str(document)
    reverted = world.post("admin", f"{space.path}/revisions/{made.revision_id}/revert", {})
    assert reverted["status"] == "draft"
    world.post("admin", f"{space.path}/revisions/{first.revision_id}/rollback", {})
    assert "First paragraph" in space.text("A")


@pytest.mark.sqlite_first
def test_abandoned_stages_are_never_visible(world, space, monkeypatch, clock):
    """Not even with a later large revision, whose sequence is beyond it."""
    leave(world, space, "killed")
    leave(world, space, "dead")
    left = rows_beyond(world)
    assert left == 2 * 5
    remove_replaced(world.context, space.id)  # they may still continue
    assert rows_beyond(world) == left
    begin(world, monkeypatch, space, "zebra").finish()
    assert rows_beyond(world) == 0
    with world.context.db.read() as tx:
        state = main_state(tx, space.id)
        assert {page.title for page in list_pages(tx, state)} == {"zebra"}
        assert [item.name for item in list_items(tx, state, "file")] == ["zebra.yaml"]
    leave(world, space, "killed")
    clock.advance(versions.ABANDONED_AFTER)
    remove_replaced(world.context, space.id)
    assert rows_beyond(world) == 0
    with world.context.db.read() as tx:
        assert list_pages(tx, main_state(tx, space.id)) == list_pages(tx, state)


def test_orphaned_rows_do_not_block_a_revision(world, space, monkeypatch):
    """Even if nothing but the rows themselves is known about them."""
    writer = begin(world, monkeypatch, space, "zebra")
    with world.context.db.write() as tx:
        tx.run(
            """INSERT INTO item_versions (branch_id, item_id, from_seq, to_seq, kind, name, created_at)
               VALUES (:branch, 'stray', :seq, :forever, 'file', 'stray.txt', 1)""",
            branch=writer.prepared.staged.branch_id,
            seq=writer.prepared.staged.sequence - 1,
            forever=2**62,
        )
    with pytest.raises(BranchMoved):
        writer.finish()
    with world.context.db.read() as tx:
        assert list_items(tx, main_state(tx, space.id), "file") == []


@pytest.mark.sqlite_first
def test_an_overtaken_writer_stops_at_the_next_batch(world, space, monkeypatch):
    with world.context.db.read() as tx:
        state = main_state(tx, space.id)
    changes = changes_of(world, state, "slow")
    pauses = []

    def overtake(seconds):
        pauses.append(rows_beyond(world))
        if len(pauses) == 1:
            begin(world, monkeypatch, space, "fast").finish()
            pauses.append(rows_beyond(world))

    monkeypatch.setattr(turns.time, "sleep", overtake)
    with pytest.raises(BranchMoved):
        Writer(world, monkeypatch, state, changes)
    assert pauses[0] > 0 and pauses[-1] == 0
    assert rows_beyond(world) == 0
    with world.context.db.read() as tx:
        assert {page.title for page in list_pages(tx, main_state(tx, space.id))} == {"fast"}


def test_a_failed_write_leaves_nothing_visible(world, space, monkeypatch):
    writer = begin(world, monkeypatch, space, "zebra")
    writer.fail()
    remove_replaced(world.context, space.id)
    assert rows_beyond(world) == 0
    with pytest.raises(BranchMoved):
        writer.finish()
    assert "First paragraph" in space.text("A")


def test_texts_of_unfinished_revisions_are_kept(world, space, monkeypatch, clock):
    writer = begin(world, monkeypatch, space, "zebra")
    body = body_hash(text_of("zebra"))

    def is_there():
        with world.context.db.read() as tx:
            return tx.value("SELECT count(*) FROM bodies WHERE hash = :hash", hash=body) == 1

    with world.context.db.write() as tx:
        release(tx, "text", "SELECT hash FROM bodies")
    clock.advance(WAIT + 1)
    remove_unused(world.context)
    assert is_there()
    writer.fail()
    remove_replaced(world.context, space.id)
    clock.advance(WAIT + 1)
    remove_unused(world.context)
    assert not is_there()


@pytest.mark.sqlite_first
def test_change_requests_are_written_in_batches_too(world, space, monkeypatch):
    """Editing, updating, merging, rolling back, and reverting give the same results as in one transaction."""
    with in_batches(monkeypatch):
        change = space.create()
        space.edit(
            change,
            insert("# D\n\nnew\n"),
            update(space.pages["A"], document={"markdown": "# A\n\nours\n"}),
        )
        space.write(None, "B", "# B\n\ntheirs\n")
        world.post("editor", f"{space.path}/change-requests/{change}/update", {})
        assert "theirs" in space.text("B", change) and "ours" in space.text("A", change)
        with world.context.db.read() as tx:
            base = main_state(tx, space.id)
        merged = space.try_merge(change).json()
        assert merged["result"] == "merge"
        assert "ours" in space.text("A")
        undo = world.post("admin", f"{space.path}/revisions/{merged['revision']}/revert", {})["id"]
        assert "First paragraph" in space.text("A", undo)
        world.post("admin", f"{space.path}/revisions/{base.revision_id}/rollback", {})
        assert "First paragraph" in space.text("A") and "theirs" in space.text("B")
    assert rows_beyond(world) == 0
    assert verify_installation(world.context) == []


def test_a_failed_large_draft_leaves_no_branch(world, space, monkeypatch):
    with world.context.db.read() as tx:
        access = space_access(tx, world.actor("admin"), Can.EDIT, space.id)
        branches = tx.value("SELECT count(*) FROM branches")
        main = main_state(tx, space.id)
    changes = changes_of(world, main, "zebra")
    with (
        in_batches(monkeypatch),
        pytest.raises(NotFound),
        prepare_branch(world.context.db, main, changes, (), SIZE, access.user_id) as prepared,
    ):
        assert prepared.opened is not None
        assert rows_beyond(world) > 0
        raise NotFound("gone")
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM branches") == branches
    assert rows_beyond(world) == 0


class Model:
    """Random large and small revisions of one branch, some of them abandoned, with the expected content of
    each."""

    def __init__(self, world, monkeypatch, space, change, seed):
        self.world, self.monkeypatch, self.space = world, monkeypatch, space
        self.change = change and branch_of(world, change)
        self.chance = random.Random(seed)
        self.writers: list[Writer] = []
        self.held: dict[str, dict[str, str]] = {}
        self.made = 0
        self.remember()

    def head(self, tx):
        if self.change is None:
            return main_state(tx, self.space.id)
        return branch_state(tx, self.space.id, self.change)

    def remember(self):
        with self.world.context.db.read() as tx:
            state = self.head(tx)
            self.held[state.revision_id] = self.titles(tx, state)

    def titles(self, tx, state):
        return {page.id: page.title for page in list_pages(tx, state)}

    def changes(self, state):
        """Return new titles for some pages, a new page, and a deleted one."""
        self.made += 1
        with self.world.context.db.read() as tx:
            pages = list_pages(tx, state)
        some = self.chance.sample(pages, min(len(pages), self.chance.randrange(4)))
        changes = {page.id: replace(page, title=f"T{self.made}") for page in some}
        if self.chance.random() < 0.5:
            id = f"page{self.made}"
            changes[id] = Page(id=id, title=f"T{self.made}", slug=id, rank="z")
        if len(pages) > 3 and self.chance.random() < 0.3:
            changes[self.chance.choice(pages).id] = None
        return Changes(changes or {pages[0].id: replace(pages[0], title=f"T{self.made}")})

    def begin(self):
        with self.world.context.db.read() as tx:
            state = self.head(tx)
        self.writers.append(Writer(self.world, self.monkeypatch, state, self.changes(state)))

    def small(self):
        with self.world.context.db.read() as tx:
            state = self.head(tx)
        changes = self.changes(state)
        db = self.world.context.db
        if self.change is None:
            with prepare_main(db, state, changes, (), (), SIZE) as prepared, db.write() as tx:
                made = revise_main(tx, state, changes, prepared)
        else:
            with prepare_commit(db, state, changes, (), SIZE) as prepared, db.write() as tx:
                made = commit(tx, state, changes, prepared)
        self.expect(state, changes, made)

    def expect(self, before, changes, made):
        held = dict(self.held[before.revision_id])
        for id, page in changes.pages.items():
            held.pop(id, None)
            if page is not None:
                held[id] = page.title
        self.held[made.revision_id] = held

    def finish(self):
        if not self.writers:
            return
        writer = self.writers.pop(self.chance.randrange(len(self.writers)))
        with self.world.context.db.read() as tx:
            before = self.head(tx)
        try:
            made = writer.finish()
        except BranchMoved:
            return
        self.expect(before, writer.changes, made)

    def die(self):
        if self.change is None:
            leave(self.world, self.space, f"left{len(self.held)}")
        if self.writers:
            self.writers.pop(self.chance.randrange(len(self.writers)))

    def clean(self):
        remove_replaced(self.world.context, self.space.id)

    def step(self):
        steps = [self.begin, self.small, self.finish, self.die, self.clean]
        self.chance.choices(steps, [4, 2, 4, 1, 1])[0]()

    def check(self):
        with self.world.context.db.read() as tx:
            for revision_id, held in self.held.items():
                assert self.titles(tx, revision_state(tx, self.space.id, revision_id)) == held
            assert self.head(tx).revision_id in self.held
            assert check_derived(tx, self.space.id, ()) == []


@pytest.mark.sqlite_first
@pytest.mark.parametrize("where", ["main", "change request"])
@pytest.mark.parametrize("seed", range(4))
def test_every_revision_has_the_expected_content(world, space, monkeypatch, clock, where, seed):
    change = space.create() if where == "change request" else None
    model = Model(world, monkeypatch, space, change, seed)
    for _ in range(25):
        model.step()
        model.check()
    clock.advance(versions.ABANDONED_AFTER)
    model.clean()
    model.check()
    assert rows_beyond(world) == 0
    assert verify_installation(world.context) == []
