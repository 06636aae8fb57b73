"""A fresh process takes many different requests at once and does not die of it."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from contract.samples import sample_of
from octavo.kit.http.operation import TABLE
from world import Place, World

# Those that would end the shared account or organization, and the one that sends requests to scripts.
LEFT_OUT = {"deleteOrganizationById", "deleteAccount", "setIntegrationDevelopmentMode"}


class _Names(dict[str, str]):
    """Ids by name; ids that a test would have to create first are unknown ones."""

    def __missing__(self, name: str) -> str:
        return name


class _WithOthers(Place):
    def __init__(self, place: Place) -> None:
        super().__init__(place.name, place.roles)
        self.ids = _Names(place.ids)

    def path(self, template: str, **ids: str) -> str:
        return template.format_map(_Names({**self.ids, **ids}))


def every_request(world: World, at_once: int) -> list[list[dict]]:
    place = _WithOthers(world.home)
    found = []
    for operation in TABLE.values():
        if operation.id in LEFT_OUT:
            continue
        sample = sample_of(operation)
        given = sample.query_for(place)
        query = f"?{urlencode(dict(given))}" if given else ""
        request = {
            "to": "api",
            "method": operation.method,
            "path": f"/v1{sample.ids(place, operation.path)}{query}",
            "token": world.token(place.admin),
            "body": sample.body_for(place),
        }
        # Many simultaneous identical requests find everything that the first of them creates.
        found.append([request] * (at_once if operation.body is not None else 2))
    return found


def pages(site: str) -> list[list[dict]]:
    paths = ["", "writing", "running-it/install", "nothing", "sitemap.xml", "llms.txt", "~search?q=instal"]
    return [
        [{"to": "reader", "method": "GET", "path": f"{site}{path}", "token": "", "body": None}] * 8
        for path in paths
    ]


@pytest.mark.parametrize(
    ("seed", "at_once"), [(0, 3), *(pytest.param(seed, 8, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_a_fresh_process_survives_its_first_requests(
    sqlite_world: World, tmp_path: Path, seed: int, at_once: int
) -> None:
    data = sqlite_world.install(tmp_path / "data")
    with sqlite3.connect(data / "octavo.db") as database:
        database.execute("UPDATE sites SET published = 1")
        org, site = database.execute(
            "SELECT o.hostname, s.basename FROM sites s JOIN organizations o ON o.id = s.organization_id"
            " WHERE s.id = ?",
            (sqlite_world.home["siteId"],),
        ).fetchone()
    requests = tmp_path / "requests.json"
    requests.write_text(json.dumps([*every_request(sqlite_world, at_once), *pages(f"/{org}/{site}/")]))
    script = Path(__file__).with_name("first_requests.py")
    ran = subprocess.run(
        [sys.executable, str(script), str(data), str(requests), str(seed)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout == "", ran.stderr[-3000:]
    assert not re.search("Traceback|Segmentation", ran.stderr), ran.stderr[-3000:]


@pytest.mark.slow
def test_bodies_of_each_type_can_be_decoded_first_by_many_threads(
    sqlite_world: World, tmp_path: Path
) -> None:
    place = _WithOthers(sqlite_world.home)
    bodies = tmp_path / "bodies.json"
    read = {
        operation.id: sample_of(operation).body_for(place)
        for operation in TABLE.values()
        if operation.takes_json
    }
    bodies.write_text(json.dumps(read))
    script = Path(__file__).with_name("first_decodings.py")
    ran = subprocess.run(
        [sys.executable, str(script), str(bodies)], check=False, capture_output=True, text=True, timeout=300
    )
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr[-3000:]
