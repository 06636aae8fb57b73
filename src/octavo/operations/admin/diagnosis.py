"""Checks that ``octavo check`` runs. They determine which parts of a server work, which don't, and why."""

from __future__ import annotations

import shutil
import socket
import ssl
import time
from io import BytesIO

from octavo.delivery.studio.serving import find_missing
from octavo.errors import Damaged, OctavoError
from octavo.kit.clock import DAY, iso, now
from octavo.kit.context import Context
from octavo.kit.db.database import Live, Transaction
from octavo.kit.files import open_store
from octavo.kit.net.ldap import DirectoryUnavailable
from octavo.kit.observability import tracing
from octavo.kit.runtime.host import Host
from octavo.kit.runtime.process import HostResponse, ScriptEvent, ScriptFailed
from octavo.kit.scheduling.permits import waiting
from octavo.kit.secrets.sealing import KEY_FILE, count_by_key
from octavo.kit.secrets.signing import Signer
from octavo.kit.texts import counted
from octavo.kit.tls import certificate_days
from octavo.kit.work.backup_runs import last_successful_backup, list_backups
from octavo.kit.work.maintenance import find_maintenance
from octavo.kit.work.rebuilds import list_rebuilds
from octavo.operations.installation import close_context, folders_of, is_disk_full, is_installed, open_context
from octavo.organization.identity.directory_sign_in import find_directory
from octavo.settings import Settings

from .maintaining import forgotten_since

Finding = tuple[str, bool, str]
"""Result of a check: the part, whether it works, and details."""
_POSTGRESQL = 15
"""Oldest supported version of PostgreSQL."""
_APART = 5.0
"""Maximum difference between clocks, in seconds."""
_RENEWED = 14
"""Number of days before expiration by which a certificate should have been renewed automatically."""
_ANSWERS = 3.0
"""Number of seconds within which each of Octavo's own servers must respond."""
_BACKUP_DUE = 2 * DAY
"""Time in milliseconds since the last backup after which a new backup is overdue."""
_LITTLE_ROOM = 5_000_000_000
"""Number of free bytes below which a large disk counts as nearly full. For a small disk, the threshold is a tenth
of its size."""


_PARTS = {"files": "files", "OCTAVO_FILES_URL": "files", "OCTAVO_SECRET_KEY": "secrets", "secrets": "secrets"}
"""Parts of the server by the prefixes of messages about them."""


def check_installation(settings: Settings) -> list[Finding]:
    """Test each part of a server. It isn't a problem if an optional part isn't configured."""
    findings: list[Finding] = [_addresses(settings)]
    try:
        if not is_installed(settings):
            findings.append(("database", True, "empty: the first `octavo serve` creates the data"))
            if settings.files.startswith("s3:"):  # Checking would create a folder.
                open_store(settings.files, Signer(bytes(32))).require_reachable()
                findings.append(("files", True, settings.files))
            return findings
        context = open_context(settings)
    except OctavoError as error:
        part = next((part for prefix, part in _PARTS.items() if error.message.startswith(prefix)), "database")
        return [*findings, (part, False, error.message)]
    try:
        findings += check_context(context)
    finally:
        close_context(context)
    return [*findings, *_check_services(settings)]


def check_running(context: Context) -> list[Finding]:
    """Test each part of a running server, as ``check_installation`` does."""
    return [_addresses(context.settings), *check_context(context), *_check_services(context.settings)]


def check_context(context: Context) -> list[Finding]:
    """Test the data of a running server: database, secrets, events, and files."""
    settings = context.settings
    findings: list[Finding] = []
    if context.db.is_damaged():
        return [("database", False, Damaged().message)]
    with context.db.write() as tx:
        count = tx.value("SELECT count(*) FROM organizations")
        findings.append(("database", True, f"{context.db.engine}, {counted(count, 'organization')}"))
        if tx.engine == "postgresql":
            findings += [_connections(tx, settings), _version(tx), _clock(tx), *_archive(tx)]
    with waiting():
        replica = context.db.check_replica(_ANSWERS)
    if replica is not None:
        findings.append(
            ("replica", not replica, replica or "it's up to date with the server and is used for reads")
        )
    findings += [
        _backup(context),
        *_maintenance(context),
        *_disk(settings),
        _secrets(context),
        _deliveries(context),
        *_rebuilds(context),
    ]
    try:
        blob = context.files.put(BytesIO(b"octavo check"))
        works = context.files.read(blob.hash) == b"octavo check"
        findings.append(
            (
                "files",
                works,
                settings.files if works else "the file that was read differs from the file that was written",
            )
        )
    except OctavoError as error:
        findings.append(("files", False, error.message))
    return findings


def _check_services(settings: Settings) -> list[Finding]:
    """Test the parts that don't require the data: the app, scripts, the language model, and email."""
    mail = (
        "configured" if settings.smtp_url else "not configured: you need to share invitation links yourself"
    )
    return [
        *_certificates(settings),
        _app(),
        _scripts(),
        _model(settings),
        ("mail", True, mail),
        *_directory(settings),
        *_traces(),
    ]


def _directory(settings: Settings) -> list[Finding]:
    """Test the LDAP directory, if one is configured, by searching for a nonexistent email address."""
    directory = find_directory(settings)
    if directory is None:
        return []
    try:
        with waiting():
            directory.find_person("nobody@octavo.invalid")
    except DirectoryUnavailable as error:
        return [("directory", False, f"{settings.ldap_url}: {error.detail}")]
    return [("directory", True, f"{settings.ldap_url} responds to searches")]


def _archive(tx: Transaction) -> list[Finding]:
    """Report whether PostgreSQL's last attempt to archive its write-ahead log succeeded, if archiving is
    configured."""
    if tx.value(Live("SELECT current_setting('archive_mode')")) == "off":
        return []
    failed, which = tx.all(
        Live(
            "SELECT last_failed_time > COALESCE(last_archived_time, '-infinity'), last_failed_wal"
            " FROM pg_stat_archiver"
        )
    )[0]
    if failed:
        return [
            (
                "archive",
                False,
                f"PostgreSQL failed to archive its log ({which}). See the PostgreSQL log for the reason.",
            )
        ]
    return [("archive", True, "PostgreSQL archives its log")]


def _certificates(settings: Settings) -> list[Finding]:
    """Report how long the certificates of the server's own domains remain valid."""
    said = []
    for address in {each.authority: each for each in (settings.address, settings.sites_address)}.values():
        if address.scheme != "https":
            continue
        try:
            with waiting():
                days = certificate_days(address.host, address.port or 443, _ANSWERS)
        except ssl.SSLCertVerificationError as error:
            return [("certificates", False, f"{address.host}: {error.verify_message}")]
        except OSError:
            # The proxy in front of the server may be reachable only from other machines.
            said.append(f"{address.host}: the certificate can't be checked from this machine")
            continue
        if days < _RENEWED:
            return [
                (
                    "certificates",
                    False,
                    f"{address.host}: the certificate expires in {days:.0f} days and hasn't been renewed",
                )
            ]
        said.append(f"{address.host}: the certificate is valid for {days:.0f} days")
    return [("certificates", True, "; ".join(said))] if said else []


def _traces() -> list[Finding]:
    """Report whether the trace collector in the environment is reachable."""
    try:
        collector = tracing.find_collector()
        if collector is None:
            return []
        with waiting(), socket.create_connection(collector, timeout=_ANSWERS):
            return [("traces", True, f"sent to {collector[0]}:{collector[1]}")]
    except OctavoError as error:
        return [("traces", False, error.message)]
    except OSError as error:
        return [("traces", False, f"the collector didn't respond: {error.strerror or error}")]


def _connections(tx: Transaction, settings: Settings) -> Finding:
    """Report the number of database connections that all processes together can use.

    This counts the running processes on all machines, or the configured number of processes if fewer are
    running. Behind a pooler, each process uses one connection to the server, for listening.
    """
    # The driver is loaded only if it is used.
    from octavo.kit.db.postgres_connections import count_clients

    given = int(tx.value("SHOW max_connections")) - int(tx.value("SHOW superuser_reserved_connections"))
    named = Live(
        "SELECT application_name, count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        " GROUP BY application_name"
    )
    clients = count_clients(dict(tx.all(named)), tx.value(Live("SELECT current_setting('application_name')")))
    each = 1 if settings.database_direct_url else settings.database_connections
    running = sum(clients.processes)
    if running > settings.workers * each:
        taken, said = running, f"{len(clients.processes)} processes can use {running} of {given}"
    else:
        taken, said = settings.workers * each, f"{settings.workers} x {each} of {given}"
    if clients.others:
        said += f", others use {clients.others}"
    if taken + clients.others > given:
        said += ": lower OCTAVO_DATABASE_CONNECTIONS, or raise PostgreSQL's max_connections"
    return "connections", taken + clients.others <= given, said


def _version(tx: Transaction) -> Finding:
    number = int(tx.value("SHOW server_version_num")) // 10_000
    said = f"PostgreSQL {number}"
    return (
        "version",
        number >= _POSTGRESQL,
        said if number >= _POSTGRESQL else f"{said}: {_POSTGRESQL} or newer is required",
    )


def _clock(tx: Transaction) -> Finding:
    """Report whether this machine's clock differs from the database server's, because sessions, links, and job
    schedules depend on the clocks of more than one machine."""
    apart = abs(float(tx.value(Live("SELECT extract(epoch FROM clock_timestamp())"))) - time.time())
    said = f"differs from the database server's clock by {apart:.1f} s"
    return "clock", apart < _APART, said if apart < _APART else f"{said}: synchronize both with a time server"


def _disk(settings: Settings) -> list[Finding]:
    """Report the free disk space. Little free space is a problem."""
    if is_disk_full(settings):
        return [("disk", False, "the disk is full: nothing can be written")]
    rooms = [shutil.disk_usage(folder) for folder in folders_of(settings)]
    if not rooms:
        return []
    least = min(rooms, key=lambda room: room.free)
    said = f"{least.free / 1e9:.1f} GB free of {least.total / 1e9:.1f}"
    if least.free < min(_LITTLE_ROOM, least.total // 10):
        return [("disk", False, f"{said}: imports and uploads are rejected when the disk is full")]
    return [("disk", True, said)]


def _secrets(context: Context) -> Finding:
    with context.db.read() as tx:
        found = count_by_key(tx)
    known = set(context.sealer.known)
    if unknown := sorted(found.keys() - known):
        return (
            "secrets",
            False,
            f"encrypted with an unknown key: {', '.join(unknown)}. Add the key to OCTAVO_SECRET_KEY.",
        )
    if old := sum(count for key, count in found.items() if key != context.sealer.current):
        return ("secrets", True, f"{old} are encrypted with an older key: run `octavo secrets rotate`")
    said = f"encrypted with the key {context.sealer.current}"
    if not context.settings.secret_key:
        said += f" in {context.settings.data_folder / KEY_FILE}: keep a copy of this file in another location"
    return ("secrets", True, said)


def _deliveries(context: Context) -> Finding:
    """Report the number of pending events for integrations and webhooks, and of events that failed permanently."""
    with context.db.read() as tx:
        counts: dict[str, int] = dict(
            tx.all("SELECT status, count(*) FROM deliveries WHERE status <> 'success' GROUP BY status")
        )
    waiting, failed = counts.get("waiting", 0), counts.get("failed", 0)
    return ("deliveries", True, f"{waiting} pending, {failed} failed permanently")


def _rebuilds(context: Context) -> list[Finding]:
    """Report rebuilds in progress after an upgrade, and their failures."""
    with context.db.read() as tx:
        unfinished = list_rebuilds(tx)
    if not unfinished:
        return []
    said = "; ".join(map(str, unfinished))
    if any(each.failed for each in unfinished):
        said += ". See `octavo jobs list --state parked` for the reason, then run `octavo jobs retry --all`."
        return [("rebuild", False, said)]
    return [("rebuild", True, f"in progress after an upgrade: {said}")]


def _backup(context: Context) -> Finding:
    """Report the age of the last successful backup. Backups that other tools created aren't included."""
    with context.db.read() as tx:
        good = last_successful_backup(tx)
        last = next(iter(list_backups(tx, 1)), None)
    if last is not None and last.problem is not None:
        return ("backup", False, f"the last backup to {last.place} failed: {last.problem}")
    if good is None:
        return ("backup", True, "`octavo backup` hasn't written a backup yet")
    said = f"the last backup was written to {good.place} at {iso(good.ended_at)[:16]} UTC"
    if good.ended_at < now() - _BACKUP_DUE:
        return ("backup", False, f"{said}, more than two days ago")
    return ("backup", True, said)


def _maintenance(context: Context) -> list[Finding]:
    """Report maintenance mode. It is a problem if maintenance should already have ended."""
    with context.db.read() as tx:
        notice = find_maintenance(tx)
    if notice is None:
        return []
    said = f"the app and the API have been read-only since {iso(notice.starts_at)[:16]} UTC"
    if forgotten_since(notice) is None:
        return [("maintenance", True, said)]
    return [("maintenance", False, f"{said}. Turn it off with `octavo maintenance off`.")]


def _scripts() -> Finding:
    """Check that scripts can run, by running a minimal script."""
    host = Host(1)
    try:
        answer = host.run(
            "check",
            lambda: "export default { fetch: () => new Response('works') };",
            ScriptEvent("{}", "{}"),
            lambda wanted: HostResponse(wanted.url, 204, [], b""),
            lambda logs, problem: None,
            wait=True,
        )
    except (OctavoError, ScriptFailed, OSError) as error:
        return ("integrations", False, f"scripts don't run: {error}")
    finally:
        host.close()
    return ("integrations", answer.body == b"works", "scripts run in sandboxed processes")


def _addresses(settings: Settings) -> Finding:
    api, sites = settings.address, settings.sites_address
    if not api.authority or not sites.authority:
        return ("addresses", False, "OCTAVO_URL and OCTAVO_SITES_URL: must be http(s)://host")
    if api.origin == sites.origin:
        return (
            "addresses",
            False,
            "OCTAVO_URL and OCTAVO_SITES_URL: sites must not have the same origin as the API",
        )
    return ("addresses", True, f"API {settings.url}, sites {settings.sites_url}")


def _app() -> Finding:
    missing = find_missing()
    return ("app", missing is None, missing or "built")


def _model(settings: Settings) -> Finding:
    if not settings.llm_url:
        return ("language model", True, "not configured: features that use it aren't available")
    models = " and ".join(filter(None, (settings.llm_model, settings.llm_embedding_model)))
    if not models:
        return ("language model", False, "OCTAVO_LLM_URL is set, but OCTAVO_LLM_MODEL isn't")
    return ("language model", True, f"{models} at {settings.llm_url}")
