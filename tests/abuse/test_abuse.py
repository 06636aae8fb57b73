"""Octavo under abuse: it answers what was asked and nothing else, whatever bytes arrive, and others hardly wait."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import Administrator, serving_new

from .cases import Words
from .client import run
from .floods import make_floods, wait_beside
from .subjects import Subject

_SEED = 1
_MEGABYTES = 50
"""How much more memory abuse may take."""
_WAIT = 0.25
"""How long another client may wait, in seconds of one processor."""
_ATTEMPTS = 3
"""A client that is late itself, on a busy machine, counts what the server did meanwhile: a server that makes others wait
does so each time."""


def octavo_subject(administrator: Administrator, port: int, group: int, output: Path) -> Subject:
    """Octavo as the cases see it: reads that are answered with the id they ask for, and spaces that writes leave."""
    spaces = f"/orgs/{administrator.organization}/spaces"
    token = administrator.client.headers["authorization"]

    def written() -> set[str]:
        found: set[str] = set()
        page = ""
        while True:
            listed = administrator.call("GET", f"{spaces}?limit=1000{page}")
            found |= {space["title"] for space in listed["items"] if space["title"].startswith("w")}
            if "next" not in listed:
                return found
            page = f"&page={listed['next']['page']}"

    words = Words(
        "127.0.0.1",
        "/v1/spaces/{}",
        "/v1/spaces/{}/change-requests",
        f"/v1{spaces}",
        '{{"title":"{}"}}',
        "/v1/user/events",
        (f"Authorization: {token}",),
    )
    return Subject("127.0.0.1", port, words, written, group, output)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with serving_new(tmp_path_factory.mktemp("abuse") / "data") as served:
        port = int(served.url.rpartition(":")[2])
        made = octavo_subject(Administrator(served), port, served.process.pid, served.output)
        run(made, 0, range(80))  # what is used for the first time takes memory once
        yield made
        assert served.process.poll() is None


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


def test_whatever_arrives_is_answered_where_requests_begin(subject: Subject) -> None:
    _abuse(subject, _SEED, range(2000))


@pytest.mark.slow
def test_whatever_arrives_for_long_is_answered_where_requests_begin(subject: Subject) -> None:
    _abuse(subject, secrets.randbelow(1 << 32), range(100_000))


def test_floods_take_no_memory_and_make_nobody_wait(subject: Subject) -> None:
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
