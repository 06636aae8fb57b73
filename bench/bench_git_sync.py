"""Git sync: what one changed file costs in repositories of different size, beside a fetch and an import.

    .venv/bin/python bench/bench_git_sync.py [--pages 100 1000] [--rounds 5]

Says for each size, in milliseconds: a first import by `octavo import` and by a sync, a fetch of one changed file alone,
a sync of one that changed in the repository, and of one that changed in the space; and what memory the process had at
its height (MB).
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dulwich.repo import Repo
from msgspec.structs import replace

from gitsync.developers import Developer
from gitsync.servers import http_server
from octavo.access import insert_user
from octavo.content import Changes, body_hash, list_pages, main_state
from octavo.content.revising import prepare_main, revise_main
from octavo.gitsync import store
from octavo.gitsync.remotes import Connection
from octavo.gitsync.repository import Repository
from octavo.gitsync.syncing import run_sync
from octavo.installation import close_context, open_context
from octavo.kit.clock import now
from octavo.kit.fetch import Fetcher
from octavo.kit.ids import new_id
from octavo.orgs import create_organization
from octavo.settings import Settings
from octavo.spaces import insert_space
from octavo.transfer import import_files, open_source

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
    }
    values |= {"user_id": user_id, "status": "waiting", "first": "import", "failures": 0}
    return store.SyncRow(**values | {"created_at": now(), "updated_at": now()})


def timed(function: Any, *arguments: Any, **named: Any) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = function(*arguments, **named)
    return (time.perf_counter() - begun) * 1000, found


def measure(pages: int, rounds: int, folder: Path) -> dict[str, float]:
    developer = Developer(folder / "remote.git")
    config = developer.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    with http_server(folder, None) as server:
        return measure_at(pages, rounds, folder, developer, server.url)


def measure_at(pages: int, rounds: int, folder: Path, developer: Developer, server: str) -> dict[str, float]:
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
                for title in ("a", "b")
            ]
        with open_source(developer.url, allow_url=str, local=True) as source:
            by_import, _ = timed(import_files, context, source, spaces[0].id, author=user.id)
        space_id = spaces[1].id
        with context.db.write() as tx:
            store.insert_sync(tx, synced(space_id, remote, user.id))
        first, state = timed(run_sync, context, space_id, "asked", new_id())
        assert state == "synced"
        fetches, incoming, outgoing = [], [], []
        copy = Repository(Repo.init_bare(str(folder / "copy"), mkdir=True), folder / "copy", "")
        connection = Connection(remote, None, Fetcher(allowed), local=False, host_key=None)
        connection.fetch(copy, "main", None)
        for number in range(rounds):
            base = developer.head
            developer.commit({f"part{number % FOLDERS}/page{number}.md": page(number, f"round {number}")})
            fetches.append(timed(connection.fetch, copy, "main", base)[0])
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
            found = store.find_sync(tx, space_id)
        assert found is not None and found.commit_id == developer.head
        return {
            "octavo import": by_import,
            "first sync": first,
            "fetch": statistics.median(fetches),
            "in": statistics.median(incoming),
            "out": statistics.median(outgoing),
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    finally:
        close_context(context)


def edit(context: Any, space_id: str, main: Any, old: Any, text: str, author: str) -> None:
    changes = Changes({old.id: replace(old, body=body_hash(text))})
    with prepare_main(context.db, main, changes, [text], (), 1_000_000) as prepared, context.db.write() as tx:
        revise_main(tx, main, changes, prepared, author=author)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, nargs="+", default=[100, 1000])
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    print(
        f"{'pages':>8}"
        + "".join(f"{name:>16}" for name in ("octavo import", "first sync", "fetch", "in", "out", "memory"))
    )
    for pages in given.pages:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            found = measure(pages, given.rounds, Path(folder))
        print(f"{pages:>8}" + "".join(f"{value:>16.1f}" for value in found.values()))


if __name__ == "__main__":
    main()
