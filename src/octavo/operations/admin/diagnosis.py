"""``octavo check``: what of an installation works, what does not, and why."""

from __future__ import annotations

import shutil
import socket
import ssl
import time
from io import BytesIO

from octavo.delivery.studio.serving import find_missing
from octavo.errors import Damaged, OctavoError
from octavo.kit.context import Context
from octavo.kit.db.database import Live, Transaction
from octavo.kit.files import open_store
from octavo.kit.observability import tracing
from octavo.kit.runtime.host import Host
from octavo.kit.runtime.process import Event, Got, ScriptFailed
from octavo.kit.scheduling.permits import waiting
from octavo.kit.secrets.sealing import KEY_FILE, count_by_key
from octavo.kit.secrets.signing import Signer
from octavo.kit.texts import counted
from octavo.kit.tls import certificate_days
from octavo.operations.installation import close_context, folders_of, is_disk_full, is_installed, open_context
from octavo.settings import Settings

Finding = tuple[str, bool, str]
"""The part, whether it works, and what to know about it."""
_POSTGRESQL = 15
"""The oldest version that is tried."""
_APART = 5.0
"""Seconds that clocks may differ."""
_RENEWED = 14
"""Days before its end by which a certificate that is renewed by itself has been."""
_ANSWERS = 3.0
"""Seconds in which a server of one's own has to answer."""
_LITTLE_ROOM = 5_000_000_000
"""Bytes below which a large disk is nearly full; of a small one, a tenth."""


_PARTS = {"files": "files", "OCTAVO_FILES_URL": "files", "OCTAVO_SECRET_KEY": "secrets", "secrets": "secrets"}
"""How messages begin, and the part of the installation they are about."""


def check_installation(settings: Settings) -> list[Finding]:
    """Tries each part for real. What is optional and not set is no fault."""
    findings: list[Finding] = [_addresses(settings)]
    try:
        if not is_installed(settings):
            findings.append(("database", True, "empty: the first `octavo serve` makes the installation"))
            if settings.files.startswith("s3:"):  # a folder would be made by looking
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
    return [*findings, *_around(settings)]


def check_running(context: Context) -> list[Finding]:
    """As ``check_installation``, of an installation that is open."""
    return [_addresses(context.settings), *check_context(context), *_around(context.settings)]


def check_context(context: Context) -> list[Finding]:
    """Tries what an open installation keeps: database, secrets, events on their way, files."""
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
        findings.append(("replica", not replica, replica or "it is as far as the server, and answers reads"))
    findings += [*_disk(settings), _secrets(context), _deliveries(context)]
    try:
        blob = context.files.put(BytesIO(b"octavo check"))
        works = context.files.read(blob.hash) == b"octavo check"
        findings.append(("files", works, settings.files if works else "what was written reads differently"))
    except OctavoError as error:
        findings.append(("files", False, error.message))
    return findings


def _around(settings: Settings) -> list[Finding]:
    """What does not need the data: the app, scripts, the language model, mail."""
    mail = "configured" if settings.smtp_url else "not set: invitations come as links to hand on"
    return [*_certificates(settings), _app(), _scripts(), _model(settings), ("mail", True, mail), *_traces()]


def _archive(tx: Transaction) -> list[Finding]:
    """Whether the server could archive its log the last time that it tried, where it is told to."""
    if tx.value(Live("SELECT current_setting('archive_mode')")) == "off":
        return []
    failed, which = tx.all(
        Live(
            "SELECT last_failed_time > COALESCE(last_archived_time, '-infinity'), last_failed_wal"
            " FROM pg_stat_archiver"
        )
    )[0]
    if failed:
        return [("archive", False, f"PostgreSQL cannot archive its log ({which}): its own log says why")]
    return [("archive", True, "PostgreSQL archives its log")]


def _certificates(settings: Settings) -> list[Finding]:
    """Whether those of our own addresses are good, and for how long."""
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
            # The proxy in front may be reached by others alone.
            said.append(f"{address.host}: cannot be looked at from here")
            continue
        if days < _RENEWED:
            return [
                ("certificates", False, f"{address.host}: good for {days:.0f} more days, and not renewed")
            ]
        said.append(f"{address.host}: good for {days:.0f} days")
    return [("certificates", True, "; ".join(said))] if said else []


def _traces() -> list[Finding]:
    """Whether the collector that the environment names is there."""
    try:
        collector = tracing.find_collector()
        if collector is None:
            return []
        with waiting(), socket.create_connection(collector, timeout=_ANSWERS):
            return [("traces", True, f"sent to {collector[0]}:{collector[1]}")]
    except OctavoError as error:
        return [("traces", False, error.message)]
    except OSError as error:
        return [("traces", False, f"their collector does not answer: {error.strerror or error}")]


def _connections(tx: Transaction, settings: Settings) -> Finding:
    """What all processes may take of what the server gives: those that run, on every machine, or as many as are set where
    fewer run. Of connections to a pooler the server knows nothing: then each process takes one, to listen."""
    # The driver is loaded only where it is used.
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
        taken, said = running, f"{len(clients.processes)} processes may take {running} of {given}"
    else:
        taken, said = settings.workers * each, f"{settings.workers} x {each} of {given}"
    if clients.others:
        said += f", others have {clients.others}"
    if taken + clients.others > given:
        said += ": set OCTAVO_DATABASE_CONNECTIONS lower, or max_connections of PostgreSQL higher"
    return "connections", taken + clients.others <= given, said


def _version(tx: Transaction) -> Finding:
    number = int(tx.value("SHOW server_version_num")) // 10_000
    said = f"PostgreSQL {number}"
    return (
        "version",
        number >= _POSTGRESQL,
        said if number >= _POSTGRESQL else f"{said}: {_POSTGRESQL} is needed",
    )


def _clock(tx: Transaction) -> Finding:
    """Sessions, links and turns of jobs end by moments that different machines compare."""
    apart = abs(float(tx.value(Live("SELECT extract(epoch FROM clock_timestamp())"))) - time.time())
    said = f"{apart:.1f} s from that of the database server"
    return "clock", apart < _APART, said if apart < _APART else f"{said}: set both by a time server"


def _disk(settings: Settings) -> list[Finding]:
    """How much room there is, before there is none."""
    if is_disk_full(settings):
        return [("disk", False, "there is no room left: nothing can be written")]
    rooms = [shutil.disk_usage(folder) for folder in folders_of(settings)]
    if not rooms:
        return []
    least = min(rooms, key=lambda room: room.free)
    said = f"{least.free / 1e9:.1f} GB free of {least.total / 1e9:.1f}"
    if least.free < min(_LITTLE_ROOM, least.total // 10):
        return [("disk", False, f"{said}: imports and uploads are refused when it is full")]
    return [("disk", True, said)]


def _secrets(context: Context) -> Finding:
    with context.db.read() as tx:
        found = count_by_key(tx)
    known = set(context.sealer.known)
    if unknown := sorted(found.keys() - known):
        return ("secrets", False, f"sealed with a key that is not known: {', '.join(unknown)}")
    if old := sum(count for key, count in found.items() if key != context.sealer.current):
        return ("secrets", True, f"{old} are sealed with an older key: run `octavo secrets rotate`")
    said = f"sealed with the key {context.sealer.current}"
    if not context.settings.secret_key:
        said += f" in {context.settings.data_folder / KEY_FILE}: keep a copy elsewhere"
    return ("secrets", True, said)


def _deliveries(context: Context) -> Finding:
    """How many events wait for integrations and webhooks, and how many of those that are kept were given up."""
    with context.db.read() as tx:
        counts: dict[str, int] = dict(
            tx.all("SELECT status, count(*) FROM deliveries WHERE status <> 'success' GROUP BY status")
        )
    waiting, failed = counts.get("waiting", 0), counts.get("failed", 0)
    return ("deliveries", True, f"{waiting} wait, {failed} failed for good")


def _scripts() -> Finding:
    """Runs the smallest script there is."""
    host = Host(1)
    try:
        answer = host.run(
            "check",
            lambda: "export default { fetch: () => new Response('works') };",
            Event("{}", "{}"),
            lambda wanted: Got(wanted.url, 204, [], b""),
            lambda logs, problem: None,
            wait=True,
        )
    except (OctavoError, ScriptFailed, OSError) as error:
        return ("integrations", False, f"their scripts do not run: {error}")
    finally:
        host.close()
    return ("integrations", answer.body == b"works", "scripts run in processes without permissions")


def _addresses(settings: Settings) -> Finding:
    api, sites = settings.address, settings.sites_address
    if not api.authority or not sites.authority:
        return ("addresses", False, "OCTAVO_URL and OCTAVO_SITES_URL: expected http(s)://host")
    if api.origin == sites.origin:
        return ("addresses", False, "OCTAVO_URL and OCTAVO_SITES_URL: sites must not share the API's origin")
    return ("addresses", True, f"API {settings.url}, sites {settings.sites_url}")


def _app() -> Finding:
    missing = find_missing()
    return ("app", missing is None, missing or "built")


def _model(settings: Settings) -> Finding:
    if not settings.llm_url:
        return ("language model", True, "not set: features that need one say so")
    models = " and ".join(filter(None, (settings.llm_model, settings.llm_embedding_model)))
    if not models:
        return ("language model", False, "OCTAVO_LLM_URL is set but OCTAVO_LLM_MODEL is not")
    return ("language model", True, f"{models} at {settings.llm_url}")
