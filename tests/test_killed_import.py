"""A process killed in the middle of an import leaves the whole revision or none of it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from octavo.content.revisions.deriving import check_derived, remove_replaced
from octavo.content.revisions.item_versions import list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.content.revisions.versions import ABANDONED_AFTER
from octavo.operations.admin.first_start import token_for
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_space
from octavo.settings import load

LINKS = 20
"""Number of links on each page, so that the index is written in batches."""
_BEYOND = """SELECT count(*) FROM page_versions p JOIN branches b ON b.id = p.branch_id
             WHERE p.from_seq > b.sequence"""
OCTAVO = Path(sys.executable).with_name("octavo")


def write_source(folder, pages, words):
    folder.mkdir()
    entries = []
    for n in range(pages):
        links = " ".join(f"[to](page-{(n + k) % pages}.md)" for k in range(LINKS))
        (folder / f"page-{n}.md").write_text(f"# Page {n}\n\n" + f"Words of page {n}. " * words + links)
        entries.append(f"* [Page {n}](page-{n}.md)")
    (folder / "SUMMARY.md").write_text("\n".join(entries) + "\n")
    return folder


@pytest.mark.parametrize(
    ("pages", "words", "rounds"),
    [(150, 50, 1), *(pytest.param(*more, marks=pytest.mark.slow) for more in ((150, 50, 3), (400, 200, 6)))],
)
def test_killed_import_is_whole_or_nothing(database_url, tmp_path, clock, pages, words, rounds):
    source = write_source(tmp_path / "source", pages, words)
    data = tmp_path / "data"
    environ = {**os.environ, "OCTAVO_DATA": str(data), "OCTAVO_DATABASE_URL": database_url}
    settings = load(environ={"OCTAVO_DATA": str(data), "OCTAVO_DATABASE_URL": database_url})
    context = open_context(settings)
    token_for(context, email="a@example.com")
    with context.db.write() as tx:
        user = find_user_by_email(tx, "a@example.com")
        assert user is not None
        org = create_organization(tx, user.id, "Acme").id
        space = insert_space(tx, organization_id=org, collection_id=None, title="Space", created_by=None).id
    close_context(context)
    command = [str(OCTAVO), "import", str(source), "--org", org, "--space", space, "--quiet"]
    started = time.monotonic()
    whole = subprocess.run(command, env=environ, capture_output=True, check=True, text=True)
    took = time.monotonic() - started
    assert f'"pages": {pages}' in whole.stdout
    chance = random.Random(7)
    killed = 0
    for n in range(rounds):
        for path in source.glob("page-*.md"):
            path.write_text(path.read_text() + f"Round {n}.\n")
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
        time.sleep(took * chance.uniform(0.45, 0.98))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        process.wait()
        context = open_context(settings)
        with context.db.read() as tx:
            base = main_state(tx, space)
            found = list_pages(tx, base)
            bodies = {tx.value("SELECT count(*) FROM bodies WHERE hash = :h", h=page.body) for page in found}
            versions = tx.value(
                """SELECT count(DISTINCT from_seq) FROM page_versions
                   WHERE branch_id = :branch AND from_seq <= :seq AND to_seq > :seq""",
                branch=base.layers[0].branch_id,
                seq=base.layers[0].sequence,
            )
            assert len(list_items(tx, base, "source")) == 1
            assert check_derived(tx, space, ()) == []
        close_context(context)
        assert len(found) == pages
        assert bodies == {1}
        # All pages changed in every round: a state with pages of two rounds would be a torn one.
        assert versions == 1
    assert killed, "no process was killed in time"
    context = open_context(settings)
    clock.advance(ABANDONED_AFTER)
    remove_replaced(context, space)
    with context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM search_pages") == pages
        assert tx.value("SELECT count(*) FROM content_references") == pages * LINKS
        assert tx.value(_BEYOND) == 0
        assert check_derived(tx, space, ()) == []
    close_context(context)
