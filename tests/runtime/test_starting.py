"""Processes of scripts that do not come up, and scripts that wait for one: not the script's doing."""

from __future__ import annotations

import signal
import sys
import threading
import time

import pytest

from octavo.errors import Unavailable
from octavo.kit.runtime import process
from octavo.kit.runtime.host import Host
from octavo.kit.runtime.process import ScriptEvent

EVENT = ScriptEvent("{}", "{}")
SCRIPT = """
export default { async fetch(request) {
  const { wait } = JSON.parse((await request.formData()).get("event"));
  await new Promise((done) => setTimeout(done, wait ?? 0));
  return new Response("ok");
} };"""


def run(host, seconds=10.0, event=EVENT):
    said = []
    answer = host.run(
        "one",
        lambda: SCRIPT,
        event,
        None,
        lambda logs, problem: said.append(problem),
        seconds=seconds,
        wait=True,
    )
    return answer, said


@pytest.mark.parametrize("program", ["import time; time.sleep(60)", "raise SystemExit(1)"])
def test_a_process_that_fails_to_start_is_not_an_error_of_the_script(monkeypatch, program):
    monkeypatch.setattr(process, "START", 0.3)
    monkeypatch.setattr(process, "command", lambda: [sys.executable, "-c", program])
    host = Host(1)
    for _ in range(2):
        with pytest.raises(Unavailable, match="didn't start"):
            run(host)
    host.close()


def test_a_missing_runtime_is_not_an_error_of_the_script(monkeypatch):
    monkeypatch.setattr(process, "command", lambda: ["/no/such/program"])
    host = Host(1)
    with pytest.raises(Unavailable, match="couldn't be started") as refused:
        run(host)
    assert "/no/such" not in str(refused.value), "visitors may see it"
    host.close()


def test_waiting_for_a_process_does_not_count_as_time_of_a_script():
    host = Host(1)
    run(host)
    answers = []
    slow = ScriptEvent('{"wait": 1500}', "{}")
    # The second one waits for one and a half seconds, and then has all of its two and a half.
    threads = [
        threading.Thread(target=lambda: answers.append(run(host, 2.5, slow)[0].body)) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    host.close()
    assert answers == [b"ok"] * 2


def test_an_orphaned_process_ends(monkeypatch):
    """After a server was killed, no one enforces the deadline of an endless loop."""
    monkeypatch.setattr(process, "CPU", 1)
    left = process.ScriptProcess()
    try:
        left.load("export default { fetch: async () => { for (;;) {} } };")
        left.begin(EVENT, time.monotonic() + 60)
        assert left._process.wait(timeout=120) == -signal.SIGXCPU
    finally:
        left.kill()
