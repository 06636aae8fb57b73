"""What runs in the processes that are killed and hindered: each function is one life of a process."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faults.faults import SETTING, Control, Fault
from faults.load import History, Load
from light_client import LightClient
from octavo.app import api_app
from octavo.cli.main import main
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import main_state
from octavo.kit.context import Context
from octavo.kit.db.databases import open_database
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.operations.admin.backup import verify_installation
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_space
from octavo.settings import load

TOKEN = "oct_faults_" + "f" * 32
URL = "http://octavo.test"
LATER = 8
"""Writes after a fault of which one must be acknowledged: nobody has to do anything."""

load_packages()


@contextmanager
def _opened() -> Iterator[Context]:
    context = open_context(load(environ=os.environ))
    try:
        yield context
    finally:
        close_context(context)


def make(told: str) -> None:
    """Create a new installation with an organization and its administrator, whose token is ``TOKEN``."""
    with _opened() as context:
        with context.db.write() as tx:
            user = insert_user(tx, "admin@example.org", "Admin", verified=True).id
            organization = create_organization(tx, user, "Acme").id
            create_token(tx, user, name="tests", token=TOKEN)
            other = create_organization(tx, user, "Imports").id
            space = insert_space(
                tx, organization_id=other, collection_id=None, title="Imported", created_by=None
            ).id
        ids = {"organization": organization, "imports": other, "space": space}
        Path(told).write_text(json.dumps(ids))


def begin(fault: list[int] | None = None) -> None:
    """Open an installation, possibly for the first time."""
    if fault is not None:
        Control(Path(os.environ[SETTING])).arm(Fault(*fault), os.getpid())
    with _opened():
        pass


class _Api:
    """The whole HTTP stack, without a socket."""

    def __init__(self, context: Context) -> None:
        self._app = api_app(context)
        self._client = LightClient(self._app, URL)

    def call(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        headers = {"authorization": f"Bearer {TOKEN}"}
        answer = self._client.ask(method, f"/v1{path}", headers=headers, json=body)
        return answer.status_code, answer.json() if answer.content else None

    def close(self) -> None:
        self._app.close()


def work(organization: str, history: str, seed: int, steps: int, faults: list[list[int]]) -> None:
    """Verify everything acknowledged before. Then, for each fault, write during it and afterward, when writes
    must succeed again automatically; and verify again at the end. The last fault can end the process."""
    control = Control(Path(os.environ[SETTING]))
    known = History(Path(history))
    with _opened() as context:
        api = _Api(context)
        load_ = Load(api.call, organization, known, random.Random(seed))
        load_.check()
        for fault in faults:
            control.arm(Fault(*fault), os.getpid())
            for _ in range(steps):
                load_.step()
            control.disarm()
            assert any(load_.step() for _ in range(LATER)), f"nothing is acknowledged after {fault}"
        load_.check()
        api.close()


def check(organization: str, history: str) -> None:
    """Verify everything acknowledged, and every row, text, and file."""
    with _opened() as context:
        api = _Api(context)
        Load(api.call, organization, History(Path(history)), random.Random(0)).check()
        api.close()
        wrong = verify_installation(context)
        assert not wrong, wrong


def check_import(space: str, pages: int) -> None:
    """Require that all pages of one import exist, or none."""
    with _opened() as context, context.db.read() as tx:
        titles = [page.title for page in list_pages(tx, main_state(tx, space))]
        imports = {title.split()[0] for title in titles}
        assert (len(titles), len(imports)) in ((0, 0), (pages, 1)), titles


def command(arguments: list[str], fault: list[int] | None = None) -> None:
    """Run one command of ``octavo``, during which the fault happens."""
    if fault is not None:
        Control(Path(os.environ[SETTING])).arm(Fault(*fault), os.getpid())
    main(arguments)


def bring_up_to_date(last: int | None = None, fault: list[int] | None = None) -> None:
    """Migrate a database, to the migration ``last`` or to the newest."""
    settings = load(environ=os.environ)
    database = open_database(settings.database, 3)
    if fault is not None:
        Control(Path(os.environ[SETTING])).arm(Fault(*fault), os.getpid())
    migrate(
        database,
        [
            each
            for each in load_migrations("octavo.operations.migrations")
            if last is None or each.number <= last
        ],
    )
    database.close()
