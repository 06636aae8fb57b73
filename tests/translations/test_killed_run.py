"""A worker killed in the middle of a run: the next one reuses its translations, and nothing is half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from model_server import KEY, ModelServer, model_server, world_with_model
from octavo.kit.clock import now
from translations.test_translations import create, edit, get, loud, markdown, pages, sent, shout, work
from world import World

pytestmark = pytest.mark.sqlite_first

OCTAVO = Path(sys.executable).with_name("octavo")
PAGES = 12


def worker(world: World, server: ModelServer) -> subprocess.Popen[bytes]:
    settings = world.context.settings
    environ = {
        **os.environ,
        "OCTAVO_DATA": str(settings.data),
        "OCTAVO_DATABASE_URL": settings.database_url,
        "OCTAVO_LLM_URL": server.url,
        "OCTAVO_LLM_KEY": KEY,
        "OCTAVO_LLM_MODEL": "test-model",
        "OCTAVO_ALLOW_PRIVATE_FETCH": server.address,
    }
    return subprocess.Popen([str(OCTAVO), "worker"], env=environ, stdout=subprocess.DEVNULL)


def test_a_killed_run_is_resumed(world: World) -> None:
    home = world.home["spaceId"]
    for number in range(PAGES):
        document = {"markdown": f"Words of the page with the number {number}."}
        edit(world, home, operation="insert_page", title=f"Page {number}", document=document)
    before = pages(world, home)
    reached, hangs = threading.Event(), threading.Event()

    def stop_at_fifth(request: dict[str, Any]) -> str:
        if len(server.requests) >= 5:
            reached.set()
            hangs.wait(60)
        return shout(request)

    with model_server() as server:
        server.answer = stop_at_fifth
        made = create(world)
        process = worker(world, server)
        try:
            assert reached.wait(60)
            progress = get(world, made)
            assert progress["status"] == "running" and progress["progress"]["total"] >= PAGES
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            hangs.set()
        space = made["result"]["space"]
        page = world.home["pageId"]
        assert markdown(world, space, page) == markdown(world, home, page), "a run is one revision or none"
        finished = set(sent(server)) - set(_texts(server.requests[-1]))
        server.requests.clear()
        server.answer = shout
        with world.context.db.write() as tx:
            # Time passes: no one renews the lease of a dead process.
            assert tx.run("UPDATE jobs SET lease_until = :at WHERE state = 'running'", at=now() - 1)
        with world_with_model(world, server):
            for _ in range(3):
                work(world)
                with world.context.db.write() as tx:
                    # The next attempt doesn't wait either.
                    tx.run("UPDATE jobs SET run_at = :at WHERE state = 'later'", at=now() - 1)
        done = get(world, made)
        assert done["status"] == "completed" and done["untranslated"] == 0 and done["stats"]["runs"] == 1
        assert finished and not finished & set(sent(server))
        after = pages(world, space)
        assert {shown["title"] for shown in after.values()} == {
            loud(shown["title"]) for shown in before.values()
        }


def _texts(request: dict[str, Any]) -> list[str]:
    alone = ModelServer()
    alone.requests = [request]
    return sent(alone)
