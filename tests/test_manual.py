"""API calls in the manual: run the shell commands of each page in order, as a reader who copies them
would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from serving import OCTAVO, Administrator, Served, serving_new
from tools import ROOT, absent

DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial.md"
BLOCKS = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SOMEWHERE = "127.0.0.1:9"
"""Replacement for other hosts in the manual. Nothing listens there."""

ELSEWHERE = {
    TUTORIAL: "below",
    DOCS / "integrations/ten-minutes.md": "tests/developing",
    DOCS / "content/blocks.md": "code as a writer shows it",
}
"""Pages whose commands are not run with the others, and where they are tested instead."""

CURL = """
set -eo pipefail
curl() {
  case " $* " in
    # A stream goes on until somebody ends it.
    *" -N "*) command curl --silent --show-error --fail-with-body --max-time 1 "$@" || [ $? = 28 ];;
    *) command curl --silent --show-error --fail-with-body --max-time 60 "$@";;
  esac
}
"""
"""Shell functions that end a page when one of its calls fails."""

BEFORE = {
    "access/people.md": """
SECRET=$(curl "$OCTAVO/v1/orgs/$ORG/invites" -H "Authorization: Bearer $TOKEN" \
  -d '{"emails": ["grace@example.com"], "role": "edit"}' | jq -r '.links[0].url' | sed 's/.*secret=//')""",
    "access/sign-in.md": """
SECRET=$(curl "$OCTAVO/v1/orgs/$ORG/invites" -H "Authorization: Bearer $TOKEN" \
  -d '{"emails": ["mia@example.com"], "role": "edit"}' | jq -r '.links[0].url' | sed 's/.*secret=//')
curl "$OCTAVO/v1/invitations" \
  -d '{"secret": "'$SECRET'", "displayName": "Ada", "password": "two kettles on the stove"}'
SESSION=$(curl "$OCTAVO/v1/sign-in" \
  -d '{"email": "mia@example.com", "password": "two kettles on the stove"}' | jq -r .token)""",
    "content/git-sync.md": "GITHUB_TOKEN=secret",
    "integrations/installing.md": """
NAME=manual
curl "$OCTAVO/v1/integrations/$NAME" -H "Authorization: Bearer $TOKEN" -d '{"title": "Manual",
  "description": "Of the manual", "organization": "'$ORG'", "runtime": "v2", "scopes": [],
  "script": "export default {async fetch() { return new Response(); }}"}'
mkdir packed
echo '{"linear": {}}' > secrets.json
echo '{"name": "packed", "title": "Packed", "description": "Of a file", "runtime": "v2", "scopes": [],
  "script": "export default {async fetch() { return new Response(); }}"}' > packed/packed.integration.json""",
    "integrations/writing.md": "echo 'export default {async fetch() { return new Response(); }}' > script.js",
    "quickstart.md": "cd program",
}
"""Commands that a page requires, in addition to the variables that all pages have."""


def blocks_of(page: Path) -> list[str]:
    return BLOCKS.findall(page.read_text())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    for program in ("curl", "jq"):
        if shutil.which(program) is None:
            absent(program)
    data = tmp_path_factory.mktemp("manual") / "data"
    with serving_new(data, OCTAVO_ALLOW_PRIVATE_FETCH=SOMEWHERE) as served:
        yield served


def run(served: Served, folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, with the command in the path, and the server at the address in the manual."""
    script = script.replace("http://127.0.0.1:8000", served.url)
    return subprocess.run(
        ["bash", "-c", re.sub(r"https://(?:ci|api)\.example\.com", f"http://{SOMEWHERE}", script)],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(OCTAVO).parent}:{os.environ['PATH']}",
            "OCTAVO_DATA": str(served.data),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )


@pytest.mark.slow
def test_every_command_of_the_tutorial_works(served: Served, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(served.data)
    blocks = blocks_of(TUTORIAL)
    done = run(served, tmp_path, "set -eo pipefail\n" + "\necho '=== end of a block'\n".join(blocks))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    said = done.stdout.split("=== end of a block\n")
    assert len(said) == len(blocks) > 10
    told = "\n".join(said)
    assert '"problems": []' in told and "the same" in told
    assert "null" not in told
    assert '"open"' in told and '"approved"' in told and '"merge"' in told
    assert "model" in said[-1]
    site = re.findall(r'"site": "([^"]+)"', told)[0]
    assert "It takes a minute." in httpx.get(f"{site}guides/install").text
    assert "/boil" in httpx.get(f"{site}boil").text


def variables(administrator: Administrator, page: Path) -> str:
    """Return the ids of objects that only this page uses: a space with a page and a file, its site, and a
    change request with a conflict."""
    space = administrator.create_space(str(page.relative_to(DOCS)))
    content = f"/spaces/{space}/content"
    insert = {
        "operation": "insert_page",
        "slug": "start",
        "title": "Start",
        "document": {"markdown": "Begin."},
    }
    administrator.call("POST", content, {"changes": [insert]})
    first = administrator.call("GET", f"{content}/path/start")
    other = administrator.create_space("Another one")
    administrator.call("POST", f"/spaces/{other}/content", {"changes": [insert]})
    changes = f"/spaces/{space}/change-requests"
    change = administrator.call("POST", changes, {"subject": "Other words"})["id"]
    for where, text in ((f"{changes}/{change}/content", "Start now."), (content, "Begin now.")):
        edit = {"operation": "update_page", "page": first["id"], "document": {"markdown": text}}
        administrator.call("POST", where, {"changes": [edit]})
    administrator.call("POST", f"{changes}/{change}/update")
    site = administrator.create_site(space)
    ids = {
        "ORG": administrator.organization,
        "SPACE": space,
        "OTHER": other,
        "PAGE": first["id"],
        "NODE": first["document"]["nodes"][0]["key"],
        "CHANGE": change,
        "SITE": site.rpartition("/")[2],
        "SITE_URL": administrator.publish(site),
        "ME": administrator.call("GET", "/user")["id"],
    }
    return "\n".join(f"{name}={value}" for name, value in ids.items())


def test_every_api_call_of_the_manual_works(served: Served, tmp_path: Path) -> None:
    administrator = Administrator(served)
    first_calls = blocks_of(DOCS / "api/first-calls.md")[0]
    pages = [page for page in sorted(DOCS.glob("**/*.md")) if page not in ELSEWHERE and blocks_of(page)]
    assert len(pages) > 20

    def wrong_in(page: Path) -> str | None:
        name = str(page.relative_to(DOCS))
        folder = tmp_path / name.replace("/", "-")
        (folder / "program").mkdir(parents=True)
        (folder / "my-docs").mkdir()
        (folder / "my-docs" / "README.md").write_text("# Mine\n")
        for place in (folder, folder / "program"):
            (place / "data").symlink_to(served.data)
        parts = [CURL, first_calls, variables(administrator, page), BEFORE.get(name, ""), *blocks_of(page)]
        done = run(served, folder, "\n".join(parts))
        return f"{name}:\n{done.stdout[-2000:]}\n{done.stderr}" if done.returncode else None

    with ThreadPoolExecutor(2) as pool:
        wrong = [error for error in pool.map(wrong_in, pages) if error]
    assert not wrong, "\n\n".join(wrong)


def test_examples_use_the_same_names_for_the_api_and_the_token() -> None:
    wrong = []
    for page in [*sorted(DOCS.glob("**/*.md")), ROOT / "README.md"]:
        if page == DOCS / "content/blocks.md":
            continue
        for language, text in FENCED.findall(page.read_text()):
            for call in re.findall(r"\bcurl .*(?:\\\n.*)*", text):
                if language != "sh":
                    wrong.append(f"{page.name}: not marked as sh, so nobody runs it: {call}")
                elif not re.search(r'"\$(?:OCTAVO/v1[/$]|[A-Z]+_URL")', call):
                    wrong.append(f"{page.name}: begin the address with $OCTAVO: {call}")
                elif "uthorization" in call and not re.search(
                    r'-H "Authorization: Bearer \$(?:[A-Z]+_)?(?:TOKEN|SESSION)"', call
                ):
                    wrong.append(f"{page.name}: the token is $TOKEN: {call}")
    assert not wrong, "\n".join(wrong)
