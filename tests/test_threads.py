"""Objects shared by threads give each thread the same result as a single thread, also on first use."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from octavo import app
from octavo.app import shorten_thread_turns

TOGETHER = """
import sys, threading
{imports}
sys.setswitchinterval(1e-6)
together = threading.Barrier(16)
found = [None] * 16
def run(number):
    together.wait()
    found[number] = {work}
threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert all(each == found[0] for each in found), found
assert found[0] == {work}
"""


@pytest.mark.parametrize("rounds", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("imports", "work"),
    [
        (
            "from octavo.core import sentences",
            "[sentences.stem.__wrapped__(w) for w in ('installing', 'relational', 'generously', 'ponies') * 200]",
        ),
        (
            "from octavo.core.document.markdown import parse_blocks, parse_inline",
            (
                "[(t.type, t.content) for t in parse_blocks('# a\\n\\n> - b\\n\\n---\\n', {}) + "
                "parse_inline('*a* `b`', {})]"
            ),
        ),
        (
            "from octavo.core.highlighting import highlight",
            "highlight('class A { int x = 1; /* c */ String s = \"d\"; }\\n' * 5, 'java')",
        ),
        (
            "from octavo.core.document.formulas import mathml",
            "str(mathml('\\\\frac{a}{b} + \\\\sqrt{c}'))",
        ),
    ],
)
def test_threads_get_the_same_results_as_a_single_thread(imports: str, work: str, rounds: int) -> None:
    script = TOGETHER.format(imports=imports, work=work)
    for _ in range(rounds):
        ran = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr[-2000:]


def test_a_server_takes_short_turns():
    before = sys.getswitchinterval()
    try:
        shorten_thread_turns()
        assert sys.getswitchinterval() == 0.001
    finally:
        sys.setswitchinterval(before)


def test_repeated_work_continues_after_a_failure():
    runs = []

    def fail():
        runs.append(1)
        raise ValueError("once more")

    async def repeat():
        repeating = asyncio.ensure_future(app._repeat(0, fail))
        while len(runs) < 3:
            assert not repeating.done()
            await asyncio.sleep(0.001)
        repeating.cancel()

    asyncio.run(repeat())
