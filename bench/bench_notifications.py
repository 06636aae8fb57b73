"""Benchmark the cost of notifications: for a merge, by the number of watchers, and for opening an inbox, by its size.

    python bench/bench_notifications.py

Milliseconds of CPU time, the median of several runs: a merge of one page with no one and with 10,000 people watching
the space; the first page of an inbox of 100 and of 100,000 notifications.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench_work import ask, page_text, pages_of
from figures import figure

from octavo.app import api_app
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

ROUNDS = 15
WATCHERS = 10_000
INBOXES = (100, 100_000)


def watch(context: Context, space: str) -> None:
    """Make ``WATCHERS`` people watch a space."""
    with context.db.write() as tx:
        people = [
            insert_user(tx, f"watcher{n}@example.com", f"Watcher {n}", verified=True) for n in range(WATCHERS)
        ]
        tx.run_many(
            "INSERT INTO watches (user_id, space_id, level, set_at) VALUES (:user, :space, 'watching', :at)",
            [{"user": person.id, "space": space, "at": now()} for person in people],
        )


def fill(context: Context, user: str, space: str, count: int) -> None:
    """Fill an inbox with unread notifications, up to this number."""
    with context.db.write() as tx:
        have = tx.value("SELECT count(*) FROM notifications WHERE user_id = :user", user=user)
        tx.run_many(
            """INSERT INTO notifications (id, user_id, space_id, about, reason, events, state, at)
               VALUES (:id, :user, :space, :about, 'edited', 1, 'unread', :at)""",
            [
                {"id": ids.new_id(), "user": user, "space": space, "about": f"edits:{n}", "at": n}
                for n in range(have, count)
            ],
        )
        tx.run(
            """INSERT INTO notification_counts (user_id, space_id, unread, read, done)
               VALUES (:user, :space, :count, 0, 0)
               ON CONFLICT (user_id, space_id) DO UPDATE SET unread = excluded.unread""",
            user=user,
            space=space,
            count=count,
        )


async def merges(context: Context, space: str, token: str) -> float:
    """Return the milliseconds of CPU time of a merge of one page."""
    api = api_app(context)
    tree = json.loads(await ask(api, "GET", f"/v1/spaces/{space}/content/pages", token))
    page, took = tree["pages"][1]["id"], []
    path = f"/v1/spaces/{space}/change-requests"
    for n in range(ROUNDS):
        made = json.loads(await ask(api, "POST", path, token, {"subject": "Bench"}))
        text = page_text(1, 4000, f"As it is after {n}.")
        edit: Any = {"changes": [{"operation": "update_page", "page": page, "document": {"markdown": text}}]}
        await ask(api, "POST", f"{path}/{made['id']}/content", token, edit)
        before = time.process_time()
        await ask(api, "POST", f"{path}/{made['id']}/merge", token, {})
        took.append(time.process_time() - before)
    return statistics.median(took) * 1000


async def inbox(context: Context, token: str) -> float:
    """Return the milliseconds of CPU time of the first page of an inbox, with its counts."""
    api, took = api_app(context), []
    for _ in range(ROUNDS):
        before = time.process_time()
        await ask(api, "GET", "/v1/user/notifications", token)
        await ask(api, "GET", "/v1/user/notifications/counts", token)
        took.append(time.process_time() - before)
    return statistics.median(took) * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        context = open_context(load({"data": f"{folder}/data"}, environ={}))
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True)
            org = create_organization(tx, user.id, "Bench").id
            token = create_token(tx, user.id, name="bench")
        space = import_space(
            context, str(pages_of(Path(folder) / "pages", 4000)), organization_id=org
        ).outcome.space
        alone = asyncio.run(merges(context, space, token))
        figure("merge without watchers", alone, "ms of CPU")
        watch(context, space)
        watched = asyncio.run(merges(context, space, token))
        figure(f"merge, cost added by {WATCHERS:,} watchers", watched - alone, "ms of CPU", most=1)
        costs = []
        for count in INBOXES:
            fill(context, user.id, space, count)
            costs.append(asyncio.run(inbox(context, token)))
        # The bound allows for the difference between two measurements.
        what = f"inbox with {INBOXES[-1]:,} notifications, compared with {INBOXES[0]:,}"
        figure(what, costs[-1], "ms of CPU", beside=costs[0], most=1.2)
        close_context(context)


if __name__ == "__main__":
    main()
