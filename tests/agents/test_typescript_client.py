"""The official TypeScript client of the Model Context Protocol works with both servers, unmodified."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving import serving
from tools import fetch_packages, node_command
from world import World

CLIENT = Path(__file__).with_name("client")


def _use(server: str, *calls: tuple[str, dict[str, Any]], token: str = "") -> dict[str, Any]:
    """Return the results of consecutive tool calls."""
    folder = fetch_packages(CLIENT, "protocol-client")
    program = shutil.copy(CLIENT / "use.mjs", folder / "use.mjs")
    done = subprocess.run(
        [*node_command("node"), str(program)],
        env={**os.environ, "SERVER": server, "TOKEN": token, "CALLS": json.dumps(calls)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_the_official_client_reads_a_site_and_writes_in_an_organization(
    sqlite_world: World, tmp_path: Path
) -> None:
    world, home = sqlite_world, sqlite_world.home
    headers = {"authorization": f"Bearer {world.token('admin')}"}
    with serving(world.install(tmp_path / "data")) as served:
        sites = f"{served.url}/v1/orgs/{home['organizationId']}/sites"
        given = {"title": "Handbook", "spaces": [home["spaceId"]]}
        made = httpx.post(sites, json=given, headers=headers).json()
        site = httpx.post(f"{sites}/{made['id']}/publish", headers=headers).json()
        start = site["urls"]["published"]
        read = _use(
            f"{start}~mcp", ("list_pages", {}), ("read_page", {"address": start}), ("search", {"query": ""})
        )
        space = home["spaceId"]
        wrote = _use(
            f"{served.url}/mcp/{home['organizationId']}",
            ("list_pages", {"space": space}),
            ("create_change_request", {"space": space, "subject": "By a program"}),
            ("merge_change_request", {"space": space, "change_request": "nothing"}),
            token=world.token("editor"),
        )
    assert "search" in read["tools"] and read["server"] == "octavo"
    assert [wrong for wrong, _ in read["answers"]] == [False, False, True]
    assert "edit_change_request" in wrote["tools"]
    assert [wrong for wrong, _ in wrote["answers"]] == [False, False, True]
    assert json.loads(wrote["answers"][1][1])["subject"] == "By a program"
