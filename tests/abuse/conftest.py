"""Octavo as the target of abuse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import Administrator, serving_new

from .cases import Words
from .client import run
from .subjects import Subject


def _octavo(administrator: Administrator, port: int, group: int, output: Path) -> Subject:
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
        made = _octavo(Administrator(served), port, served.process.pid, served.output)
        run(made, 0, range(80))  # The first use of something takes memory once.
        yield made
        assert served.process.poll() is None
