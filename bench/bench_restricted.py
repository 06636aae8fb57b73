"""Benchmark reads of a space with restricted pages, compared with the same space without any, on SQLite in one process.
CPU time.

    python bench/bench_restricted.py [--pages 20000] [--restricted 1000]

The reader can't see the restricted pages. Each request is measured again and again, and as the first one after an edit,
when nothing of the new revision is cached.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from bench_content import make_source
from figures import figure
from growth import Application, settle

from octavo.app import api_app
from octavo.kit.context import Context
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

ROUNDS, EDITS = 15, 9
BATCH = 100
MOST = 1.2
"""Maximum ratio of the CPU time with restricted pages to that without."""


def edit(app: Application, space: str, *changes: dict[str, Any]) -> None:
    app.run(app.ask("POST", f"/v1/spaces/{space}/content", {"changes": list(changes)}))


def restrict(app: Application, space: str, count: int) -> None:
    """Restrict pages all over the space."""
    tree = msgspec.json.decode(app.run(app.ask("GET", f"/v1/spaces/{space}/content")))["pages"]
    below = [page["id"] for section in tree for page in section.get("pages", [])]
    chosen = below[:: max(1, len(below) // count)][:count]
    rule = [{"kind": "administrators"}]
    for start in range(0, len(chosen), BATCH):
        batch = chosen[start : start + BATCH]
        edit(app, space, *({"operation": "update_page", "page": id, "visibleTo": rule} for id in batch))


def seconds(app: Application, path: str) -> float:
    before = time.process_time()
    app.run(app.ask("GET", path))
    return time.process_time() - before


def compare(context: Context, admin: Application, reader: Application, spaces: dict[str, str]) -> None:
    requests: dict[str, dict[str, str]] = {}
    homes = {}
    for name, space in spaces.items():
        tree = msgspec.json.decode(reader.run(reader.ask("GET", f"/v1/spaces/{space}/content")))["pages"]
        section = next(one for one in tree if one.get("pages"))
        page = homes[name] = section["pages"][-1]["id"]
        at = f"/v1/spaces/{space}"
        for what, path in {
            "read the page tree": f"{at}/content",
            "list subpages of a page": f"{at}/content/children?parent={section['id']}&limit=100",
            "read a page": f"{at}/content/page/{page}",
            "search for a word on every page": f"{at}/search?query=words",
            "search for a rare word": f"{at}/search?query=17",
            "list links of a space": f"{at}/links",
        }.items():
            requests.setdefault(what, {})[name] = path
    for what, paths in requests.items():
        took: dict[str, list[float]] = {name: [] for name in spaces}
        first: dict[str, list[float]] = {name: [] for name in spaces}
        for path in paths.values():
            seconds(reader, path)
        for _ in range(ROUNDS):
            for name, path in paths.items():
                took[name].append(seconds(reader, path))
        for n in range(EDITS):
            for name, path in paths.items():
                change = {"operation": "update_page", "page": homes[name], "description": f"{what} {n}"}
                edit(admin, spaces[name], change)
                first[name].append(seconds(reader, path))
        for when, found in (("repeated request", took), ("first request after an edit", first)):
            restricted, plain = (statistics.median(found[name]) for name in ("restricted", "plain"))
            label = f"{what}, {when}, compared with a space without restricted pages"
            figure(label, restricted * 1000, "ms", beside=plain * 1000, most=MOST)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--restricted", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        context = open_context(load({"data": str(folder / "data")}, environ={}))
        with context.db.write() as tx:
            users = [
                insert_user(tx, f"{name}@example.com", name, verified=True).id for name in ("admin", "reader")
            ]
            org = create_organization(tx, users[0], "Bench").id
            upsert_member(tx, org, users[1], "read")
            tokens = [create_token(tx, user, name="bench") for user in users]
        source = str(make_source(folder / "docs", options.pages))
        spaces = {
            name: import_space(context, source, organization_id=org).outcome.space
            for name in ("restricted", "plain")
        }
        app = api_app(context)
        admin, reader = (Application(app, token) for token in tokens)
        restrict(admin, spaces["restricted"], options.restricted)
        settle(context)
        compare(context, admin, reader, spaces)
        close_context(context)


if __name__ == "__main__":
    main()
