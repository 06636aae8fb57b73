"""Tests that the next worker finishes an import, exactly once, after a worker was killed in the middle."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.interchange.transfer import store
from octavo.kit.work.jobs import enqueue
from octavo.kit.work.worker import Worker
from octavo.operations.admin.first_start import token_for
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_space
from octavo.settings import load
from settled import PATIENCE, until
from transfer.bringing_in import html, website

pytestmark = pytest.mark.sqlite_first

load_packages()

OCTAVO = Path(sys.executable).with_name("octavo")


def test_a_killed_run_is_restarted(database_url, tmp_path):
    pages = {f"/p{n}": html(f"Page {n}", f"<p><a href='/p{n + 1}'>on</a></p>") for n in range(20)}
    with website({**pages, "/": html("Home", "<a href='/p0'>on</a>")}) as site:
        environ = {
            "OCTAVO_DATA": str(tmp_path),
            "OCTAVO_DATABASE_URL": database_url,
            "OCTAVO_ALLOW_PRIVATE_FETCH": site.address,
        }
        context = open_context(load(environ=environ))
        token_for(context, email="a@example.com")
        with context.db.write() as tx:
            user = find_user_by_email(tx, "a@example.com")
            assert user is not None
            org = create_organization(tx, user.id, "Acme").id
            space = insert_space(tx, organization_id=org, collection_id=None, title="S", created_by=None).id
            run = store.insert_run(
                tx,
                organization_id=org,
                space_id=space,
                change_id=None,
                page_id=None,
                user_id=user.id,
                source={"type": "website", "url": f"{site.url}/"},
            ).id
            enqueue(tx, "runImport", run=run)

        killed = threading.Event()

        def slow():
            killed.wait(PATIENCE)
            return pages["/p5"]

        site.answers["/p5"] = slow
        worker = subprocess.Popen([str(OCTAVO), "worker"], env={**os.environ, **environ})
        until(lambda: "/p5" in site.asked)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        killed.set()
        with context.db.write() as tx:
            left = store.get_run(tx, run)
            assert (left.status, left.attempts) == ("in-progress", 1)
            assert list_pages(tx, main_state(tx, space)) == []
            # A minute later.
            tx.run("UPDATE jobs SET lease_until = 1")
        Worker(context.db, context).run_pending()
        with context.db.read() as tx:
            done = store.get_run(tx, run)
            assert (done.status, done.attempts) == ("completed", 2)
            assert len(list_pages(tx, main_state(tx, space))) == 21
            assert tx.value("SELECT count(*) FROM jobs WHERE kind = 'runImport'") == 0
        close_context(context)
