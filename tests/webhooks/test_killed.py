"""Ten thousand messages to twenty webhooks, one of which never answers, with workers that are killed on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from octavo.access import find_user_by_email
from octavo.admin.first_start import token_for
from octavo.installation import close_context, open_context
from octavo.kit.outbox import emit
from octavo.orgs import create_organization
from octavo.settings import load
from octavo.spaces import insert_space
from octavo.webhooks import store
from octavo.webhooks.signing import new_secret

pytestmark = pytest.mark.slow

HOOKS, SPACES, EVENTS = 20, 5, 500
HANGS = "/0"
KILLS = 2


class Receiver:
    """``told``: the revisions that each path was sent, in order; the first path is never answered."""

    def __init__(self):
        self.told = defaultdict(list)
        self.released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                said = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))["data"]
                if self.path == HANGS:
                    receiver.released.wait(600)
                    return
                receiver.told[self.path].append((said["spaceId"], said["revisionId"]))
                self.send_response(204)
                self.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def count(self):
        return sum(len(set(told)) for told in list(self.told.values()))

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


def _wait_for(receiver, count, worker, seconds=900):
    until = time.monotonic() + seconds
    while receiver.count() < count:
        assert worker.poll() is None, "the worker ended by itself"
        assert time.monotonic() < until, f"{receiver.count()} of {count}"
        time.sleep(0.2)


def test_nothing_is_lost_or_out_of_order(database_url, tmp_path, receiver):
    given = {
        "OCTAVO_DATA": str(tmp_path / "data"),
        "OCTAVO_DATABASE_URL": database_url,
        "OCTAVO_ALLOW_PRIVATE_FETCH": receiver.address,
    }
    context = open_context(load(environ=given))
    token_for(context, email="a@example.com")
    with context.db.write() as tx:
        user = find_user_by_email(tx, "a@example.com")
        org = create_organization(tx, user.id, "Acme").id
        spaces = [
            insert_space(tx, organization_id=org, collection_id=None, title=str(n), created_by=None).id
            for n in range(SPACES)
        ]
        for n in range(HOOKS):
            store.insert_webhook(tx, context.sealer, org, url=f"http://{receiver.address}/{n}", description="",
                                 events=["space_content_updated"], active=True, secret=new_secret())  # fmt: skip
    for n in range(EVENTS):
        with context.db.write() as tx:
            emit(tx, "space_content_updated", organization_id=org, space_id=spaces[n % SPACES], revision=n)
    close_context(context)

    command = [str(Path(sys.executable).with_name("octavo")), "worker"]
    wanted = (HOOKS - 1) * EVENTS
    for kill in range(KILLS + 1):
        worker = subprocess.Popen(command, env={**os.environ, **given}, stderr=subprocess.DEVNULL)
        try:
            _wait_for(receiver, wanted * (kill + 1) // (KILLS + 1), worker)
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()

    assert len(receiver.told) == HOOKS - 1
    for told in receiver.told.values():
        once = list(dict.fromkeys(told))
        for number, space in enumerate(spaces):
            revisions = [revision for place, revision in once if place == space]
            assert revisions == list(range(number, EVENTS, SPACES))
        # At least once: what was on its way when a worker was killed comes a second time.
        assert max(Counter(told).values()) <= KILLS + 1 and len(told) - len(once) <= KILLS
