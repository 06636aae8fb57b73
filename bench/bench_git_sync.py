"""Benchmark Git sync: the cost of one changed file in repositories of different sizes, compared with a fetch and an
import.

    .venv/bin/python bench/bench_git_sync.py [--pages 100 1000 10000] [--rounds 7]

Prints for each size, in milliseconds: an import of the folder and of the repository at its URL, as `octavo import`
does them, and a first sync (medians of three, except for the URL); then the medians of fetching one changed file with
the program `git`, which is a separate process, and with Octavo's own fetch, of syncing one file that changed in the
repository, and of syncing one that changed in the space. Each is given as wall time, as CPU time, which depends less on
how busy the machine is, and as CPU time without the programs of the remote server. The last figure is the peak memory
of the process.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from figures import figure

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dulwich.repo import Repo
from msgspec.structs import replace

from gitsync.developers import Developer
from gitsync.servers import http_server
from octavo.content.revisions.bodies import body_hash
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.revising import prepare_main, revise_main
from octavo.content.revisions.states import main_state
from octavo.content.revisions.store import Changes
from octavo.interchange.gitsync import store
from octavo.interchange.gitsync.remotes import RemoteConnection
from octavo.interchange.gitsync.repository import Repository
from octavo.interchange.gitsync.syncing import run_sync
from octavo.interchange.transfer.importing import import_files
from octavo.interchange.transfer.opening import open_source
from octavo.kit.clock import now
from octavo.kit.ids import new_id
from octavo.kit.net.fetch import Fetcher
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_space
from octavo.settings import Settings

FOLDERS = 50


def page(number: int, word: str = "") -> str:
    text = "\n\n".join(
        f"Paragraph {part} of page {number}, with some words in it. {word}" for part in range(12)
    )
    return f"# Page {number}\n\n{text}\n"


def files_of(pages: int) -> dict[str, Any]:
    names = [f"part{number % FOLDERS}/page{number}.md" for number in range(pages)]
    summary = "".join(f"* [Page {number}]({name})\n" for number, name in enumerate(names))
    return {
        "README.md": "# Home\n",
        "SUMMARY.md": f"# Summary\n\n* [Home](README.md)\n{summary}",
        **{name: page(number) for number, name in enumerate(names)},
    }


def synced(space_id: str, remote: str, user_id: str) -> store.SyncRow:
    values: dict[str, Any] = dict.fromkeys(store.SyncRow.__struct_fields__)
    values |= {"space_id": space_id, "remote": remote, "branch": "main", "folder": "", "provider": "other"}
    values |= {
        "direction": "both",
        "hook_secret": "-",
        "message": "{change_request_subject}",
        "poll": 0,
        "statuses": 0,
        "pulls": 0,
    }
    values |= {"user_id": user_id, "status": "waiting", "first": "import", "failures": 0}
    return store.SyncRow(**values | {"created_at": now(), "updated_at": now()})


class Cost(NamedTuple):
    """Cost in milliseconds. ``cpu``: of this process and of the programs that it runs, including those of the remote
    Git server. ``own``: of this process alone, which does all of Octavo's work."""

    wall: float
    cpu: float
    own: float


def timed(function: Any, *arguments: Any, **named: Any) -> tuple[Cost, Any]:
    begun, used, own = time.perf_counter(), sum(os.times()[:4]), time.process_time()
    found = function(*arguments, **named)
    took = time.perf_counter() - begun, sum(os.times()[:4]) - used, time.process_time() - own
    return Cost(*(seconds * 1000 for seconds in took)), found


def median(costs: list[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def measure(pages: int, rounds: int, folder: Path) -> dict[str, Cost]:
    developer = Developer(folder / "remote.git")
    config = developer.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    with http_server(folder, None) as server:
        return measure_at(pages, rounds, folder, developer, server.url)


def measure_at(pages: int, rounds: int, folder: Path, developer: Developer, server: str) -> dict[str, Cost]:
    remote = f"{server}/remote.git"
    allowed = server.removeprefix("http://")
    developer.commit(files_of(pages))
    context = open_context(Settings(data=str(folder / "data"), allow_private_fetch=allowed))
    try:
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True)
            organization = create_organization(tx, user.id, "Bench")
            spaces = [
                insert_space(
                    tx, organization_id=organization.id, collection_id=None, title=title, created_by=user.id
                )
                for title in "abcdefg"
            ]
        files = folder / "files"
        for path, text in developer.read().items():
            (files / path).parent.mkdir(parents=True, exist_ok=True)
            (files / path).write_bytes(text)
        by_address, _ = timed(imported, context, f"{remote}", spaces[0].id, user.id)
        imports, firsts = [], []
        for into, space in zip(spaces[1::2], spaces[2::2], strict=True):
            imports.append(timed(imported, context, str(files), into.id, user.id)[0])
            space_id = space.id
            with context.db.write() as tx:
                store.insert(tx, synced(space_id, remote, user.id))
            taken, state = timed(run_sync, context, space_id, "asked", new_id())
            assert state == "synced"
            firsts.append(taken)
        programs, fetches, incoming, outgoing = [], [], [], []
        clone = folder / "clone"
        git("clone", "--quiet", "--bare", "--depth=1", remote, str(clone))
        copy = Repository(Repo.init_bare(str(folder / "copy"), mkdir=True), folder / "copy", "")
        connection = RemoteConnection(remote, lambda: None, Fetcher(allowed), local=False, host_key=None)
        had = connection.fetch(copy, "main", None)
        for number in range(rounds):
            developer.commit({f"part{number % FOLDERS}/page{number}.md": page(number, f"round {number}")})
            branch = "refs/heads/main:refs/heads/main"
            programs.append(timed(git, "-C", str(clone), "fetch", "--quiet", "origin", branch)[0])
            taken, had = timed(connection.fetch, copy, "main", had)
            fetches.append(taken)
            taken, state = timed(run_sync, context, space_id, "asked", new_id())
            assert state == "synced"
            incoming.append(taken)
            with context.db.read() as tx:
                main = main_state(tx, space_id)
                some = next(p for p in list_pages(tx, main) if p.title == f"Page {rounds + number}")
            edit(context, space_id, main, some, page(rounds + number, f"edited {number}"), user.id)
            taken, state = timed(run_sync, context, space_id, "asked", new_id())
            assert state == "synced"
            outgoing.append(taken)
        with context.db.read() as tx:
            found = store.find(tx, store.SyncRow, space_id)
        assert found is not None and found.commit_id == developer.head
        return {
            "import": median(imports),
            "from its URL": by_address,
            "first sync": median(firsts),
            "git fetch": median(programs),
            "fetch": median(fetches),
            "in": median(incoming),
            "out": median(outgoing),
        }
    finally:
        close_context(context)


def imported(context: Any, where: str, space_id: str, user_id: str) -> None:
    allowed = Fetcher(context.settings.allow_private_fetch)
    with open_source(where, allow_url=lambda url: allowed.check_url(url).addresses[0], local=True) as source:
        import_files(context, source, space_id, author=user_id)


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def edit(context: Any, space_id: str, main: Any, old: Any, text: str, author: str) -> None:
    changes = Changes({old.id: replace(old, body=body_hash(text))})
    with prepare_main(context.db, main, changes, [text], (), 1_000_000) as prepared, context.db.write() as tx:
        revise_main(tx, main, changes, prepared, author=author)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, nargs="+", default=[100, 1000, 10_000])
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    names = ("import", "from its URL", "first sync", "git fetch", "fetch", "in", "out")
    print(f"{'pages':>8}{'':>6}" + "".join(f"{name:>12}" for name in names))
    first: list[dict[str, float]] = []
    for pages in given.pages:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            found = list(measure(pages, given.rounds, Path(folder)).values())
        for what in Cost._fields:
            print(f"{pages:>8}{what:>6}" + "".join(f"{getattr(cost, what):>12.0f}" for cost in found))
        clocks = dict(zip(names, (cost.wall for cost in found), strict=True))
        work = dict(zip(names, (cost.cpu for cost in found), strict=True))
        own = dict(zip(names, (cost.own for cost in found), strict=True))
        first.append(work)
        # The programs of the remote server aren't part of the sync, and an import of a folder needs none.
        figure(
            f"first sync of {pages:,} pages, compared with an import",
            own["first sync"],
            "ms of CPU",
            beside=own["import"],
            most=1.3,
        )
        figure(
            f"sync of one changed file of {pages:,}, compared with git fetch",
            work["in"],
            "ms of CPU",
            beside=work["git fetch"],
            most=3,
        )
        figure(f"sync of one changed file of {pages:,}, wall time", clocks["in"], "ms", most=2000)
    if len(first) > 1:
        what = f"sync of one changed file of {given.pages[-1]:,}, compared with one of {given.pages[0]:,}"
        figure(what, first[-1]["in"], "ms of CPU", beside=first[0]["in"], most=1.5)
    figure("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB")


if __name__ == "__main__":
    main()
