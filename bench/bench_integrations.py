"""Benchmark scripts of integrations: cold starts, warm events, memory, and a queue of events with one script that
hangs.

    python bench/bench_integrations.py [events] [integrations]

``events`` (10,000) is the total number of deliveries, over this many ``integrations`` (20). Start times are
wall time and CPU time of the machine in its current state, so repeat them. The last figure is a ratio of two
simultaneous runs, one of them with a script that never responds; other load on the machine slows down both.
It compares how much both had done when the faster one finished.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier
from pathlib import Path

import httpx
from figures import figure

from octavo.app import api_app
from octavo.kit.runtime.host import Host
from octavo.kit.runtime.process import ScriptEvent, ScriptProcess
from octavo.kit.work.outbox import emit
from octavo.kit.work.worker import Worker
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

STARTS, WARM, INSTALLATIONS, SPACES = 15, 300, 50, 5
OWN = "export default { async fetch() { return new Response('OK'); } };"
EVENT = ScriptEvent(json.dumps({"type": "x"}), json.dumps({"secrets": {}}))
SCRIPT = """export default { async fetch(request) {
  const form = await request.formData();
  const event = JSON.parse(form.get("event"));
  if (HANGS && event.type === "space_content_updated") await new Promise((done) => setTimeout(done, 1e6));
  return new Response("OK");
} };"""


def quiet(*_: object) -> None:
    """Ignore what a script logs or requests."""


def cpu(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cold_starts() -> None:
    """Measure the first response of a script, with and without a process on standby."""
    alone: list[float] = []
    ready: list[float] = []
    for _ in range(STARTS):
        host = Host(8)
        for found, key in ((alone, "first"), (ready, "second")):
            began = time.perf_counter()
            host.run(key, lambda: OWN, EVENT, quiet, quiet, wait=True)  # type: ignore[arg-type]
            found.append((time.perf_counter() - began) * 1e3)
            while host._spare is None:
                time.sleep(0.01)
        host.close()
    figure("cold start without a standby process", statistics.median(alone), "ms")
    figure("cold start with a standby process", statistics.median(ready), "ms")


def warm_events() -> None:
    """Measure the CPU time of a warm event, in our process and in that of the script."""
    process = ScriptProcess()
    process.load(OWN)

    def event() -> None:
        until = time.monotonic() + 60
        run = process.begin(EVENT, until)
        run.wait(until, quiet)  # type: ignore[arg-type]
        run.finish(until, quiet)  # type: ignore[arg-type]

    for _ in range(WARM):
        event()
    pid, rounds = process._process.pid, []
    for _ in range(9):
        before = time.process_time() + cpu(pid)
        for _ in range(WARM):
            event()
        rounds.append((time.process_time() + cpu(pid) - before) / WARM * 1e3)
    process.kill()
    figure(
        "event for a running script, server and script process together",
        statistics.median(rounds),
        "ms of CPU",
    )


def memory() -> None:
    """Measure the memory of warm processes that isn't shared."""
    processes = []
    for _ in range(INSTALLATIONS):
        process = ScriptProcess()
        process.load(OWN)
        until = time.monotonic() + 60
        run = process.begin(EVENT, until)
        run.wait(until, quiet)  # type: ignore[arg-type]
        processes.append(process)
    sizes = []
    for process in processes:
        lines = Path(f"/proc/{process._process.pid}/smaps_rollup").read_text().splitlines()
        sizes.append(next(int(line.split()[1]) for line in lines if line.startswith("Pss:")))
    for process in processes:
        process.kill()
    figure(
        f"memory of the script processes of {INSTALLATIONS} installed integrations, shared memory counted once",
        sum(sizes) / 1024,
        "MB",
    )


def deliver(events: int, integrations: int, hangs: bool, ready: Barrier, done: Synchronized[int]) -> None:
    """Deliver events to all integrations, and count in ``done`` those delivered to all but the first."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_deliver(events, integrations, hangs, Path(folder) / "data", ready, done))


async def _deliver(
    events: int, integrations: int, hangs: bool, folder: Path, ready: Barrier, done: Synchronized[int]
) -> None:
    given = {"data": str(folder), "url": "http://octavo.test", "integration_processes": str(integrations + 2)}
    context = open_context(load(given, environ={}))
    with context.db.write() as tx:
        user = insert_user(tx, "bench@example.com", "Bench", verified=True)
        org = create_organization(tx, user.id, "Bench").id
        token = create_token(tx, user.id, name="bench")
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(api_app(context).application),
        base_url="http://octavo.test",
        headers={"authorization": f"Bearer {token}"},
    )

    async def post(path: str, body: dict[str, object]) -> dict[str, str]:
        answer = await client.post(path, json=body)
        answer.raise_for_status()
        found: dict[str, str] = answer.json()
        return found

    spaces = [(await post(f"/v1/orgs/{org}/spaces", {"title": f"Space {n}"}))["id"] for n in range(SPACES)]
    for n in range(integrations):
        script = SCRIPT.replace("HANGS", "true" if hangs and n == 0 else "false")
        manifest: dict[str, object] = {
            "title": "Event received",
            "description": "Shows that an event arrived.",
            "organization": org,
            "runtime": "v2",
            "script": script,
            "scopes": ["space:content:read"],
        }
        await post(f"/v1/integrations/told-{n}", manifest)
        await post(f"/v1/integrations/told-{n}/installations", {"organization": org})
    Worker(context.db, context).run_pending()
    for n in range(events // integrations):
        with context.db.write() as tx:
            emit(tx, "space_content_updated", organization_id=org, space_id=spaces[n % SPACES], revision=n)
    stop = threading.Event()
    worker = threading.Thread(target=Worker(context.db, context).run_forever, args=(stop,))
    wanted = (integrations - 1) * (events // integrations)
    ready.wait()
    worker.start()
    while done.value < wanted:
        time.sleep(0.5)
        with context.db.read() as tx:
            done.value = tx.value(
                """SELECT count(*) FROM deliveries d JOIN integrations i ON i.id = d.integration_id
                   WHERE d.type = 'space_content_updated' AND d.status = 'success' AND i.name <> 'told-0'"""
            )
    stop.set()
    worker.join()
    close_context(context)


def compare(events: int, integrations: int) -> None:
    """Measure how much longer the others wait when one script hangs."""
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(3)
    done = {hangs: spawn.Value("i", 0) for hangs in (False, True)}
    runs = [
        spawn.Process(target=deliver, args=(events, integrations, hangs, ready, done[hangs]))
        for hangs in (False, True)
    ]
    for run in runs:
        run.start()
    ready.wait()
    began, wanted = time.perf_counter(), (integrations - 1) * (events // integrations)
    while max(count.value for count in done.values()) < wanted:
        time.sleep(0.5)
    took = time.perf_counter() - began
    without, beside = done[False].value, done[True].value
    print(f"{events} events to {integrations} integrations took {took:.0f} s")
    what = "events delivered without a hanging script, compared with those delivered to the others while one hangs"
    figure(what, without, beside=beside)
    for run in runs:
        run.join()


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    integrations = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    cold_starts()
    warm_events()
    memory()
    compare(events, integrations)


if __name__ == "__main__":
    main()
