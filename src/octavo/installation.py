"""An installation: the packages of the product, and opening its database and files."""

from __future__ import annotations

import importlib
from pathlib import Path

from .errors import Unavailable
from .kit import db as databases
from .kit.context import Context
from .kit.files import open_store
from .kit.migrations import load_migrations, migrate
from .kit.signing import Signer, get_or_create_secret
from .references import answer_at
from .settings import Settings

ROUTES = (
    "access",
    "access.rights",
    "identity",
    "identity.saml",
    "orgs",
    "orgs.members",
    "orgs.teams",
    "directory",
    "spaces",
    "invitations",
    "content",
    "changes",
    "comments",
    "search",
    "uploads",
    "printing",
    "fonts",
    "transfer",
    "sites",
)
"""Packages with operations: importing their routes declares them, and what else the packages declare."""


def load_packages() -> None:
    """Fills the tables of operations, jobs and consumers."""
    for package in ROUTES:
        importlib.import_module(f"octavo.{package}.routes")


def open_context(settings: Settings) -> Context:
    """Opens database and files and brings the schema up to date. Raises Unavailable naming what is wrong."""
    answer_at(settings.url)
    settings.data_folder.mkdir(parents=True, exist_ok=True)
    database = databases.open_database(settings.database, settings.threads)
    try:
        migrate(database, load_migrations("octavo.migrations"))
        with database.write() as tx:
            signer = Signer(get_or_create_secret(tx, "signing"))
        files = open_store(settings.files, signer)
        files.require_reachable()
    except BaseException:
        database.close()
        raise
    return Context(settings=settings, db=database, files=files, signer=signer)


def require_installation(settings: Settings) -> None:
    """Raises Unavailable where nothing was ever served: a command that reads makes no installation."""
    if not is_installed(settings):
        raise Unavailable("There is no installation here yet: start one with `octavo serve`.")


def is_installed(settings: Settings) -> bool:
    """Whether the database is there and was ever used. Raises Unavailable when it cannot be reached."""
    if settings.database.startswith("sqlite:"):
        return Path(settings.database.removeprefix("sqlite:///")).is_file()
    database = databases.open_database(settings.database, 1)
    try:
        with database.read() as tx:
            found = tx.one("SELECT 1 FROM information_schema.tables WHERE table_name = 'migrations'")
    finally:
        database.close()
    return found is not None


def find_unready(context: Context) -> str | None:
    """Which part of the installation does not answer just now; None when all of it does."""
    try:
        with context.db.read() as tx:
            tx.value("SELECT count(*) FROM migrations")
    except Unavailable:
        return "database"
    try:
        context.files.require_reachable()
    except Unavailable:
        return "files"
    return None


def close_context(context: Context) -> None:
    context.db.close()
