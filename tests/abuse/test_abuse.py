"""Octavo under abuse: for any bytes, it answers only the requests sent, and other clients are barely delayed."""

from __future__ import annotations

import os
import secrets

import pytest

from .client import run
from .floods import make_floods, wait_beside
from .subjects import Subject

_SEED = 1
_MEGABYTES = 50
"""Maximum additional memory that abuse may cause, in megabytes."""
_WAIT = 0.25
"""Maximum time that another client may wait, in seconds of one processor."""
_ATTEMPTS = 3
"""Number of attempts. On a busy machine, a late client also counts its own delay; a server that delays others
does so in each attempt."""


def _abuse(subject: Subject, seed: int, numbers: range) -> None:
    """Send the cases, of which ABUSE_SEED and ABUSE_CASE name others or one."""
    seed = int(os.environ.get("ABUSE_SEED", seed))
    if "ABUSE_CASE" in os.environ:
        only = int(os.environ["ABUSE_CASE"])
        numbers = range(only, only + 1)
    print(f"ABUSE_SEED={seed}")
    subject.forget_peak()
    before, logged = subject.peak_megabytes(), subject.output.stat().st_size
    problems = run(subject, seed, numbers)
    assert not problems, "again with ABUSE_SEED and ABUSE_CASE:\n" + "\n".join(problems[:20])
    more = subject.peak_megabytes() - before
    assert more < _MEGABYTES, f"{more:.0f} MB more"
    with subject.output.open() as output:
        output.seek(logged)
        lines = output.readlines()
    assert "Traceback" not in "".join(lines)
    assert len(lines) <= len(numbers) and max(map(len, lines), default=0) < 4096, lines[:5]


def test_arbitrary_bytes_at_the_start_of_a_request_get_a_response(subject: Subject) -> None:
    _abuse(subject, _SEED, range(250))


@pytest.mark.slow
def test_long_streams_of_bytes_at_the_start_of_a_request_get_a_response(subject: Subject) -> None:
    _abuse(subject, secrets.randbelow(1 << 32), range(100_000))


@pytest.mark.slow
def test_floods_use_no_memory_and_delay_no_other_requests(subject: Subject) -> None:
    wrong = []
    for flood in make_floods(subject.words):
        subject.forget_peak()
        before = subject.peak_megabytes()
        waits = [wait_beside(subject, flood)]
        while waits[-1] > _WAIT and len(waits) < _ATTEMPTS:
            waits.append(wait_beside(subject, flood))
        more = subject.peak_megabytes() - before
        if min(waits) > _WAIT or more > _MEGABYTES:
            wrong.append(f"{flood.name}: others waited {min(waits):.2f} s, {more:.0f} MB more")
    assert not wrong, "\n".join(wrong)
