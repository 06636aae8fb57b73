"""An installation: the packages of the product, and opening its database and files."""

from __future__ import annotations

import importlib

from .kit import db as databases
from .kit.context import Context
from .kit.decoding import prepare_types
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
    """Fills the tables of operations, jobs and consumers. Before any further thread."""
    for package in ROUTES:
        importlib.import_module(f"octavo.{package}.routes")
    prepare_types("octavo")


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
    except BaseException:
        database.close()
        raise
    return Context(settings=settings, db=database, files=files, signer=signer)


def close_context(context: Context) -> None:
    context.db.close()
