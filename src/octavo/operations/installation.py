"""Load Octavo's packages, and open the server's database and files."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

from octavo.content.revisions.deriving import enqueue_outdated
from octavo.errors import Unavailable
from octavo.extensions.integrations.builtin import separate_copies
from octavo.kit.context import Context
from octavo.kit.db import databases
from octavo.kit.db.cache import MEMORY
from octavo.kit.db.database import Database, Transaction, was_full_recently
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.kit.files import open_store
from octavo.kit.http.decoding import prepare_types
from octavo.kit.http.operation import check_table
from octavo.kit.private_files import close_file, make_private_folder
from octavo.kit.scheduling.rates import OrganizationRates
from octavo.kit.secrets.sealing import (
    KEY_FILE,
    Sealer,
    key_id,
    key_of,
    make_key,
    missing_key,
    read_keys,
    seal_plain,
)
from octavo.kit.secrets.signing import Signer, find_secret, get_or_create_secret
from octavo.kit.work.rebuilds import list_rebuilds, note_rebuilds, percent_done
from octavo.organization.access.avatars import update_photo_urls
from octavo.organization.access.limits import read_request_limits
from octavo.settings import Settings

ROUTES = (
    "organization.access",
    "organization.access.rights",
    "organization.identity",
    "organization.identity.saml",
    "organization.orgs",
    "organization.orgs.members",
    "organization.orgs.teams",
    "organization.spaces",
    "organization.invitations",
    "organization.directory",
    "content.pages",
    "content.changes",
    "content.comments",
    "content.live",
    "content.notifications",
    "content.events",
    "content.search",
    "assistants.models",
    "content.uploads",
    "sites.printing",
    "sites.fonts",
    "interchange.transfer",
    "interchange.gitsync",
    "assistants.translations",
    "sites.openapi",
    "sites.site",
    "sites.site.structure",
    "sites.site.audiences",
    "sites.site.redirects",
    "sites.site.customization",
    "sites.site.mcp",
    "sites.favorites",
    "sites.insights",
    "extensions.integrations",
    "extensions.webhooks",
    "assistants.conversations",
    "assistants.sources",
    "assistants.channels",
    "assistants.questions",
    "assistants.ask",
    "assistants.findings",
    "delivery.renderers",
    "delivery.agents",
    "operations.admin",
)
"""Packages with operations. Importing a package's routes declares its operations and everything else that the
package declares."""


TOKEN_FILE = "admin-token"  # noqa: S105
"""File in the data folder that contains the first administrator's token."""
SIGNING = "signing"
"""Secret that signs links. It is the first secret created in a database, so it indicates which key encrypted all
other secrets."""


def load_packages() -> None:
    """Load all packages, which fills the tables of operations, jobs, and consumers. Call this before
    starting threads."""
    for package in ROUTES:
        importlib.import_module(f"octavo.{package}.routes")
    check_table()
    prepare_types("octavo")


def open_context(settings: Settings, *, migrates: bool = True) -> Context:
    """Open the database and files. ``migrates``: whether to upgrade the schema.

    All packages are loaded first, so that the effects of a commit or a job never depend on other imports in the
    process. Raises Unavailable with the problem if the database or the files can't be opened.
    """
    load_packages()
    MEMORY.limit = settings.cache_memory
    make_private_folder(settings.data_folder)
    for name in (KEY_FILE, TOKEN_FILE):
        close_file(settings.data_folder / name)
    database = databases.open_database(
        settings.database,
        settings.database_connections,
        settings.database_direct_url,
        settings.database_replica_url,
    )
    try:
        if migrates:
            applied = migrate(database, load_migrations("octavo.operations.migrations"))
            if enqueue_outdated(database) or applied:
                note_rebuilds(database)
        sealer = open_sealer(settings, database)
        with database.write() as tx:
            signer = Signer(get_or_create_secret(tx, sealer, SIGNING))
            if migrates:
                update_photo_urls(tx, settings.sites_url)
        files = open_store(settings.files, signer, direct=settings.files_direct)
        files.require_reachable()
    except BaseException:
        database.close()
        raise
    context = Context(
        settings=settings,
        db=database,
        files=files,
        signer=signer,
        sealer=sealer,
        organization_rates=OrganizationRates(lambda: read_request_limits(database)),
    )
    if migrates:
        separate_copies(context)
    return context


def known_keys(settings: Settings, stored: str | None) -> list[bytes]:
    """Return the keys in the setting and in the data folder, in that order.

    ``stored``: the signing secret as stored in the database. Raises Unavailable if none of the keys can decrypt it.
    """
    keys = read_keys(settings.secret_key, settings.data_folder / KEY_FILE)
    needed = key_of(stored) if stored else None
    known = [key_id(key) for key in keys]
    if needed is not None and needed not in known:
        raise Unavailable(missing_key(needed, known))
    return keys


def open_sealer(settings: Settings, database: Database) -> Sealer:
    """Return the object that encrypts and decrypts the secrets in a database.

    If no secret is encrypted yet, plaintext secrets from older versions are encrypted, and a key is created if
    there is none. Raises Unavailable if the key of this database is unknown.
    """
    with database.read() as tx:
        stored = find_secret(tx, SIGNING)
    keys = known_keys(settings, stored)
    sealer = Sealer(keys or [make_key(settings.data_folder / KEY_FILE)])
    if stored is not None and key_of(stored) is None:
        with database.write() as tx:
            seal_plain(tx, sealer)
    return sealer


def require_installation(settings: Settings) -> None:
    """Raise Unavailable if there is no data yet. This is for commands that only read, because they must not create
    data."""
    if not is_installed(settings):
        raise Unavailable("There is no data yet. Start Octavo with `octavo serve` first.")


def is_installed(settings: Settings) -> bool:
    """Return whether the database exists and has an organization. Having tables isn't enough, because an
    interrupted start or restore may have left behind empty tables. Raises Unavailable if the database can't be
    reached."""
    if settings.database.startswith("sqlite:"):
        path = Path(settings.database.removeprefix("sqlite:///"))
        if not path.is_file():
            return False
    database = databases.open_database(settings.database, 3, settings.database_direct_url)
    tables = "sqlite_master WHERE name" if database.engine == "sqlite" else "pg_tables WHERE tablename"
    try:
        with database.read() as tx:
            return bool(tx.value(f"SELECT count(*) FROM {tables} = 'organizations'")) and not is_empty(tx)
    finally:
        database.close()


def is_empty(tx: Transaction) -> bool:
    """Return whether a database has no organization. It may still have tables and the secrets that are created when
    the database is opened."""
    return tx.one("SELECT 1 FROM organizations") is None and tx.one("SELECT 1 FROM users") is None


def find_unready(context: Context) -> str | None:
    """Return the part of the server that doesn't respond; None if all parts respond."""
    try:
        with context.db.read() as tx:
            tx.value("SELECT count(*) FROM migrations")
    except Unavailable:
        if not context.db.is_damaged():
            return "database"
    if context.db.is_damaged():
        return "database: damaged; restore it from a backup"
    try:
        context.files.require_reachable()
    except Unavailable:
        return "files"
    return "disk: full; free some space" if is_disk_full(context.settings) else None


def describe_rebuild(context: Context) -> str | None:
    """Return the progress of the rebuild after an upgrade; None if there is nothing to rebuild."""
    with context.db.read() as tx:
        unfinished = list_rebuilds(tx)
    return f"rebuilding after an upgrade: {percent_done(unfinished)}%" if unfinished else None


_LEAST_ROOM = 1024 * 1024
"""Number of free bytes below which a disk counts as full. Even a small write requires some space."""


def folders_of(settings: Settings) -> list[Path]:
    """Return the folders on this machine that contain the database and files."""
    return [
        Path(url.removeprefix(prefix)).parent if prefix == "sqlite:///" else Path(url.removeprefix(prefix))
        for url, prefix in ((settings.database, "sqlite:///"), (settings.files, "file://"))
        if url.startswith(prefix)
    ]


def is_disk_full(settings: Settings) -> bool:
    """Return whether a disk on this machine has no space left for the database or files."""
    return was_full_recently() or any(
        shutil.disk_usage(folder).free < _LEAST_ROOM for folder in folders_of(settings)
    )


def close_context(context: Context) -> None:
    context.questions.close()
    context.endpoints.close()
    context.servers.close()
    context.db.close()
