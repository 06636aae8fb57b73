"""The ``octavo`` command.

Heavy modules are imported by the commands that need them, so that help is instant.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from octavo.errors import Damaged, OctavoError
from octavo.kit.texts import counted, say_name

if TYPE_CHECKING:
    from octavo.app import Role
    from octavo.kit.context import Context
    from octavo.operations.admin.docs_sites import BroughtSite
    from octavo.operations.admin.import_export import Brought
    from octavo.operations.admin.import_summary import Imported
    from octavo.operations.developing.api import ApiClient
    from octavo.settings import Settings

DONE, FAILED, WRONG_USAGE = 0, 1, 2


class Failure(Exception):
    """Error that ends a command with a message on standard error and exit code 1."""


def _settings(options: argparse.Namespace) -> Settings:
    """Load the settings of a command that does not serve, with the URLs that the server was last started with."""
    from octavo.settings import kept_addresses, load

    given = {"data": options.data}
    return load(given, options.config, defaults=kept_addresses(load(given, options.config)))


def _serving_settings(options: argparse.Namespace) -> Settings:
    from octavo.settings import load

    given = {name: getattr(options, name) for name in ("data", "workers")}
    ports = {"url": options.port, "sites_url": options.reader_port}
    # A server on other ports is reached at those.
    defaults = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    return load(given, options.config, defaults=defaults)


@contextmanager
def _context(options: argparse.Namespace, *, new: bool = False) -> Iterator[Context]:
    """Open the server's data. Raises Unavailable if there is none yet, unless ``new``."""
    from octavo.operations.installation import close_context, open_context, require_installation

    settings = _settings(options)
    if not new:
        require_installation(settings)
    context = open_context(settings)
    try:
        yield context
    finally:
        close_context(context)


def _organization(context: Context, given: str) -> str:
    """Return the id of an organization by its id, host name or title. Raises NotFound or BadRequest with a list of all."""
    from octavo.operations.admin.lookup import find_named

    return find_named(context, given, ["organization"]).id


# --- serving ------------------------------------------------------------------------------------------


def _serve(options: argparse.Namespace) -> int:
    from octavo.kit.processes.supervision import take_assignment

    assigned = take_assignment()
    if assigned is None:
        return _supervise(options)
    from octavo.app import ListenAddress, serve

    roles: dict[str, tuple[Role, ...]] = {
        "serve": ("api", "reader", "worker"),
        "api": ("api",),
        "reader": ("reader",),
        "worker": ("worker",),
    }
    serve(
        _serving_settings(options),
        roles=roles[options.command],
        address=ListenAddress(options.host, options.port, options.reader_port),
        say=lambda line: print(line, flush=True),
        assigned=assigned,
    )
    return DONE


def _supervise(options: argparse.Namespace) -> int:
    """Run this command as the parent of its workers, which loads as little as it can."""
    from octavo.kit.observability.logs import configure_for
    from octavo.kit.processes.supervision import Supervisor, command_of
    from octavo.kit.temporary import TemporaryFolder

    configure_for(_serving_settings(options))
    with TemporaryFolder("metrics") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        return Supervisor(lambda: command_of(sys.executable, sys.orig_argv)).run()


# --- tokens -------------------------------------------------------------------------------------------

_DURATION = re.compile(r"(\d+)([smhdwy])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}


def _milliseconds(text: str) -> int:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must be a duration such as 90d or 12h, got {text!r}")
    return int(match[1]) * _SECONDS[match[2]] * 1000


def _moment(text: str) -> int:
    from octavo.kit.clock import parse_iso

    try:
        return parse_iso(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a time such as 2026-11-26T14:05 or 2026-11-26T14:05:30+01:00, got {text!r}"
        ) from None


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,6}(\.\d{1,3})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"must be seconds such as 5 or 0.5, got {text!r}")
    return float(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, got {text!r}")
    return int(text)


def _create_token(options: argparse.Namespace) -> int:
    from octavo.operations.admin.credentials import is_known
    from octavo.operations.admin.first_start import token_for

    if options.role and not options.org:
        raise Failure("--role needs --org")
    with _context(options, new=True) as context:
        if not options.create and not is_known(context, options.email):
            _confirm(f"There is no account with the email address {options.email}. Create one? [y/N] ")
        token = token_for(
            context,
            email=options.email,
            organization_id=options.org and _organization(context, options.org),
            role=options.role,
            scopes=options.scopes,
            lifetime=options.expires,
            hand_over=options.hand_over,
        )
    print(token)
    return DONE


def _confirm(question: str) -> None:
    """Ask a person at a terminal; scripts are not asked. Raises Failure if they say no."""
    if not sys.stdin.isatty():
        return
    print(question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was changed. Use --create to create the account without asking")


def _list_tokens(options: argparse.Namespace) -> int:
    from octavo.operations.admin.credentials import tokens_of

    with _context(options) as context:
        found = tokens_of(context, options.email)
    return _print_credentials(
        options, found, ("id", "hint", "name", "created_at", "expires_at", "last_used_at")
    )


def _list_sessions(options: argparse.Namespace) -> int:
    from octavo.operations.admin.credentials import sessions_of

    with _context(options) as context:
        found = sessions_of(context, options.email)
    return _print_credentials(
        options, found, ("id", "method", "client", "created_at", "expires_at", "last_used_at")
    )


def _print_sign_in_link(options: argparse.Namespace) -> int:
    from octavo.operations.admin.credentials import sign_in_link

    with _context(options) as context:
        link = sign_in_link(context, options.email)
    print(json.dumps({"url": link}) if options.json else link)
    return DONE


def _print_credentials(
    options: argparse.Namespace, found: list[dict[str, Any]], columns: tuple[str, ...]
) -> int:
    if options.json:
        print(json.dumps([{_camel(name): value for name, value in row.items()} for row in found]))
        return DONE
    _print_table(columns, [[row[name] for name in columns] for row in found])
    return DONE


def _camel(name: str) -> str:
    """Return a name as the API spells it, such as ``createdAt``."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print columns of text under headings, with ``-`` for None."""
    lines = [[heading.replace("_", " ").upper() for heading in headings]]
    lines += [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _revoke(options: argparse.Namespace) -> int:
    from octavo.operations.admin import credentials

    if (options.id is None) != options.all:
        raise Failure("give an id, or use --all")
    end = {"token": credentials.revoke_tokens, "session": credentials.end_sessions}[options.command]
    with _context(options) as context:
        ended = end(context, options.email, options.id)
    if options.id is not None and not ended:
        raise Failure(f"{options.email} has no {options.command} {options.id!r}")
    print(json.dumps({"ended": ended}) if options.json else f"{counted(ended, options.command)} revoked")
    return DONE


def _delete_account(options: argparse.Namespace) -> int:
    from octavo.operations.admin.credentials import delete_account, foresee_deletion

    with _context(options) as context:
        found = foresee_deletion(context, options.email)
        ends = {
            "organizations": len(found.organizations),
            "sessions": found.sessions,
            "tokens": found.tokens,
            "agents": found.agents,
        }
        stays = {
            "comments": found.comments,
            "changeRequests": found.change_requests,
            "reviews": found.reviews,
        }
        if options.yes:
            delete_account(context, options.email)
    if options.json:
        print(json.dumps({"deleted": options.yes, "ends": ends, "stays": stays}))
        return DONE
    for what, counts in (("Deleted with the account", ends), ("Kept without a name", stays)):
        print(
            f"{what}: "
            + ", ".join(counted(count, say_name(name[:-1]).lower()) for name, count in counts.items())
        )
    print("Account deleted" if options.yes else "Nothing was deleted. Use --yes to delete the account.")
    return DONE


def _prove_domain(options: argparse.Namespace) -> int:
    from octavo.operations.admin.verification import prove_domain

    with _context(options) as context:
        organization = _organization(context, options.org)
        prove_domain(context, organization, options.domain)
    proved = {"organization": organization, "domain": options.domain.lower()}
    print(json.dumps(proved) if options.json else f"{proved['domain']} verified")
    return DONE


def _trust_organization(options: argparse.Namespace) -> int:
    from octavo.operations.admin.verification import trust

    with _context(options) as context:
        organization = _organization(context, options.org)
        trust(context, organization)
    trusted = {"organization": organization}
    print(json.dumps(trusted) if options.json else f"Domains of {organization} no longer need to be verified")
    return DONE


# --- content ------------------------------------------------------------------------------------------


def _import(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.operations.admin.archives import import_organization, is_organization
    from octavo.operations.admin.docs_sites import bring_source
    from octavo.operations.admin.import_export import bring, read_known
    from octavo.operations.admin.lookup import find_named, the_organization

    if options.remote is not None:
        return _move_in(options)
    if options.source is None:
        raise Failure("SOURCE: required, unless --from names an API to import from")
    if is_organization(options.source):
        # A new server may start with an exported organization.
        with _context(options, new=True) as context, _progress(options.source, options.quiet) as progress:
            moved = import_organization(context, Path(options.source), progress)
        return _print_import(options, moved, msgspec.to_builtins(moved))
    if options.space is not None and (options.site is not None or options.new_site):
        raise Failure("--space: can't be used with --site or --new-site")
    from octavo.interchange.readers.choosing import KINDS

    if options.kind is not None and options.kind not in KINDS:
        raise Failure(f"--kind: must be one of {', '.join(KINDS)}, got {options.kind!r}")
    if options.preview:
        from octavo.operations.admin.import_export import preview

        with _context(options) as context:
            several = options.space is None and not options.one_space
            plan = preview(context, options.source, options.kind, several)
        return _print_import(options, plan, msgspec.to_builtins(plan))
    given = {
        "kind": options.kind,
        "collection_id": options.collection,
        "title": options.title,
        "publish": options.publish,
        "whole": options.replace,
    }
    with _context(options) as context, _progress(f"Importing {options.source}", options.quiet) as progress:
        given |= {"known": read_known(options.map) if options.map else {}, "progress": progress}
        given["organization_id"] = options.org and _organization(context, options.org)
        if options.space is None:
            given["organization_id"] = given["organization_id"] or the_organization(context)
            given |= {"site": options.site, "new_site": options.new_site, "several": not options.one_space}
            brought = bring_source(context, options.source, **given)
        else:
            space = find_named(context, options.space, ["space"], given["organization_id"])
            brought = bring(context, options.source, space_id=space.id, **given)
    return _print_brought(options, brought)


def _print_brought(options: argparse.Namespace, brought: Brought | BroughtSite) -> int:
    from octavo.operations.admin.import_export import Brought

    described = _describe_space(brought) if isinstance(brought, Brought) else _describe_site(brought)
    return _print_import(options, brought, described)


def _print_import(options: argparse.Namespace, done: Imported, described: dict[str, Any]) -> int:
    """Print a summary on a terminal, and one JSON object (``described``) with ``--json`` or into a pipe."""
    from octavo.operations.admin.import_summary import summarize_import

    as_json = options.json or not sys.stdout.isatty()
    print(json.dumps(described, ensure_ascii=False) if as_json else summarize_import(done))
    return DONE


def _describe_space(one: Brought) -> dict[str, Any]:
    import msgspec

    outcome: dict[str, Any] = msgspec.to_builtins(one.outcome)
    return outcome | ({"site": one.site_url} if one.site_url else {})


def _describe_site(brought: BroughtSite) -> dict[str, Any]:
    import msgspec

    return {
        "site": {"id": brought.site} | ({"url": brought.site_url} if brought.site_url else {}),
        "spaces": {key: _describe_space(one) for key, one in brought.spaces.items()},
        "known": brought.known,
        "problems": msgspec.to_builtins(brought.problems),
    }


def _move_in(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.operations.admin.api_import import MovedIn, move_in, move_spaces_in
    from octavo.operations.admin.lookup import the_organization

    if options.source is not None or options.space is not None or options.site is not None:
        raise Failure(
            "--from: imports whole spaces and sites, so SOURCE, --space, and --site can't be used with it"
        )
    token = options.token
    if options.token_file is not None:
        try:
            token = options.token_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"--token-file: {error}") from None
    if not token:
        raise Failure("--from: give a token of that API with --token or --token-file")
    if options.service == "octavo" and (options.from_space or options.user is not None):
        raise Failure("--from-space, --user: can only be used with --service confluence or readme")
    with _context(options) as context, _progress(f"Importing {options.remote}", options.quiet) as progress:
        organization = _organization(context, options.org) if options.org else the_organization(context)
        if options.service != "octavo":
            brought = move_spaces_in(
                context,
                options.service,
                options.remote,
                options.user,
                token,
                organization_id=organization,
                collection_id=options.collection,
                wanted=options.from_space or (),
                publish=options.publish,
                progress=progress,
            )
            if not isinstance(brought, MovedIn):
                return _print_brought(options, brought)
            moved = brought
        else:
            moved = move_in(
                context,
                options.remote,
                token,
                organization_id=organization,
                collection_id=options.collection,
                source=options.from_org,
                publish=options.publish,
                progress=progress,
            )
    _print_import(options, moved, msgspec.to_builtins(moved))
    return FAILED if moved.stopped else DONE


@contextmanager
def _progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error."""
    if quiet:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _export(options: argparse.Namespace) -> int:
    from octavo.operations.admin.archives import export_organization
    from octavo.operations.admin.docs_sites import export_site_files
    from octavo.operations.admin.import_export import export_space
    from octavo.operations.admin.lookup import find_named

    if (options.name is None) == (options.organization is None):
        raise Failure("name a space or a site, or use --organization for a whole organization")
    if options.organization is not None:
        import msgspec

        with _context(options) as context:
            organization = _organization(context, options.organization)
            moved = msgspec.to_builtins(export_organization(context, organization, options.folder))
        summary = f"Exported {counted(moved['spaces'], 'space')} to {options.folder}"
        print(json.dumps(moved, ensure_ascii=False) if options.json else summary)
        return DONE
    with _context(options) as context:
        # A site often has the title of its space, and people who export files mean the space.
        named = find_named(context, options.name, ["space", "site"], prefers="space")
        if named.kind == "space":
            outcome = export_space(context, named.id, options.folder, revision_id=options.revision)
        elif options.revision is not None:
            raise Failure(f"--revision: {named.title} is a site; only spaces have revisions")
        else:
            outcome = export_site_files(context, named.id, options.folder)
    print(
        json.dumps(outcome)
        if options.json
        else f"Exported {counted(outcome['files'], 'file')} to {options.folder}"
    )
    return DONE


def _publish(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.operations.admin.lookup import find_named
    from octavo.operations.admin.static_export import export_site

    with _context(options) as context:
        site = find_named(context, options.site, ["site"])
        with _progress(f"Exporting to {options.folder}", options.quiet) as progress:
            done = export_site(context, site.id, options.folder, base=options.base, progress=progress)
    said = (
        f"Published {counted(done.pages, 'page')} to {options.folder}: {counted(done.written, 'file')} written,"
        f" {done.unchanged} unchanged, {done.removed} removed. Search, ratings, and API testing need a server and are not"
        " included."
    )
    print(json.dumps(msgspec.to_builtins(done), ensure_ascii=False) if options.json else said)
    for source in done.left_out:
        print(
            f"octavo: the redirect from {source} is not included: static files can't redirect whole paths",
            file=sys.stderr,
        )
    for address in done.broken:
        print(f"octavo: a page has a broken link to {address}", file=sys.stderr)
    return DONE


def _check_site(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.errors import BadRequest, NotFound
    from octavo.operations.admin.lookup import find_named
    from octavo.operations.admin.site_checks import CheckLimits, check_site, check_url

    bounds = CheckLimits(
        addresses=options.addresses,
        size=options.megabytes * 1_000_000,
        seconds=options.seconds,
        external=options.external,
    )
    try:
        if options.site.lower().startswith(("http://", "https://")):
            allowed = _settings(options).allow_private_fetch
            with _progress(f"Checking {options.site}", options.quiet) as progress:
                report = check_url(options.site, bounds, allowed, progress)
        else:
            with _context(options) as context:
                site = find_named(context, options.site, ["site"])
                with _progress(f"Checking {site.title}", options.quiet) as progress:
                    report = check_site(context, site.id, bounds, progress)
    except (BadRequest, NotFound) as error:
        # 1 means that the site has problems, which a wrong URL must not look like.
        print(f"octavo: {error}", file=sys.stderr)
        return WRONG_USAGE
    if options.json:
        print(json.dumps(msgspec.to_builtins(report), ensure_ascii=False))
        return FAILED if report.problems else DONE
    for page in report.found:
        print(page.page)
        for problem in page.problems:
            print(f"  {problem.rule}: {problem.text}")
    found = counted(report.problems, "problem") if report.problems else "no problems"
    links = f"{counted(report.external, 'external link')} checked, {report.external_left} not checked"
    print(f"{counted(report.pages, 'page')}: {found}; {links}")
    return FAILED if report.problems else DONE


# --- backups ------------------------------------------------------------------------------------------


def _backup(options: argparse.Namespace) -> int:
    from octavo.operations.admin.backup import back_up
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.kept_backups import back_up_into, is_place

    if options.follow:
        return _follow(options)
    if alone := [name for name in ("every", "base_hours", "moments") if getattr(options, name) is not None]:
        raise Failure(f"--{alone[0].replace('_', '-')} can only be used with --follow")
    if not is_place(options.file):
        if options.keep is not None:
            raise Failure("--keep can only be used with a folder or bucket of backups")
        with _context(options) as context:
            outcome = back_up(context, Path(options.file))
        name = options.file
    else:
        with _context(options) as context:
            place = BackupPlace(options.file, new=True)
            keep = None if options.keep is None else options.keep * _SECONDS["d"] * 1000
            name, outcome = back_up_into(context, place, keep)
        name = f"{place.address}/{name}"
    return _print_backup(
        options,
        outcome,
        f"Backed up {counted(outcome.rows, 'row')} and {counted(outcome.files, 'file')} to {name}",
    )


def _follow(options: argparse.Namespace) -> int:
    """Keep a backup up to date until SIGTERM or SIGINT."""
    import signal
    import threading

    from octavo.kit.observability import logs
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.continuous_backup import Terms, follow

    given = {
        "every": options.every,
        "base_hours": options.base_hours,
        "moments": options.moments,
        "keep": options.keep,
    }
    terms = Terms(**{name: value for name, value in given.items() if value is not None})
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with _context(options) as context:
        settings = context.settings
        logs.configure("json" if settings.log_format == "json" else "text", secrets=settings.secrets)
        follow(context, BackupPlace(options.file, new=True), terms, stop)
    return DONE


def _restore(options: argparse.Namespace) -> int:
    from octavo.operations.admin.backup import restore
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.continuous_restore import holds_log, restore_followed
    from octavo.operations.admin.kept_backups import is_place, opened_backup

    settings = _settings(options)
    outcome: Any
    with _progress(f"Restoring {options.file}", options.quiet) as progress:
        if is_place(options.file) and holds_log(place := BackupPlace(options.file)):
            outcome = restore_followed(settings, place, options.until, progress)
            text = f"Restored the state of {outcome.moment}, with {counted(outcome.files, 'file')}"
        elif options.until is not None:
            raise Failure("--until: needs a folder or bucket written by `octavo backup --follow`")
        else:
            with opened_backup(options.file) as file:
                outcome = restore(settings, file, progress)
            text = f"Restored {counted(outcome.rows, 'row')} and {counted(outcome.files, 'file')}"
    return _print_backup(options, outcome, text)


def _print_backup(options: argparse.Namespace, outcome: Any, text: str) -> int:
    import msgspec

    print(json.dumps(msgspec.to_builtins(outcome)) if options.json else text)
    for digest in outcome.missing:
        print(f"octavo: file {digest} is missing", file=sys.stderr)
    return FAILED if outcome.missing else DONE


def _reindex(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.core.links import app_hosts
    from octavo.operations.admin.reindexing import reindex

    with _context(options) as context, _progress("Reindexing spaces", options.quiet) as progress:
        organization = options.org and _organization(context, options.org)
        rebuilt = reindex(context.db, app_hosts(context.settings.url), organization, progress)
    text = f"Reindexed {counted(rebuilt.spaces, 'space')}, corrected {counted(rebuilt.counts, 'count')}"
    print(json.dumps(msgspec.to_builtins(rebuilt)) if options.json else text)
    return DONE


def _verify(options: argparse.Namespace) -> int:
    from octavo.operations.admin.backup import list_damage, verify_backup, verify_installation
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.continuous_restore import holds_log, verify_followed
    from octavo.operations.admin.kept_backups import is_place, opened_backup

    if options.file is None:
        try:
            with _context(options) as context:
                findings = verify_installation(context)
        except Damaged as damaged:
            # A database that is known to be damaged is not opened; or PostgreSQL found it meanwhile.
            findings = list_damage(_settings(options)) or [damaged.message]
    elif is_place(options.file) and holds_log(place := BackupPlace(options.file)):
        findings = verify_followed(place, options.fresh)
    elif options.fresh is not None:
        raise Failure("--fresh: needs a folder or bucket written by `octavo backup --follow`")
    else:
        with opened_backup(options.file) as file:
            findings = verify_backup(file)
    if options.json:
        print(json.dumps(findings))
    else:
        print("\n".join(findings) or "No problems found")
    return FAILED if findings else DONE


# --- jobs ---------------------------------------------------------------------------------------------


def _list_jobs(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.operations.admin.job_list import list_jobs

    with _context(options) as context:
        found = list_jobs(context, state=options.state, kind=options.kind, limit=options.limit)
    if options.json:
        print(json.dumps(msgspec.to_builtins(found), ensure_ascii=False))
        return DONE
    names = ("id", "kind", "state", "organization", "attempts", "runAt", "problem")
    headings = [name.replace("runAt", "run_at") for name in names]
    _print_table(headings, [[row[name] for name in names] for row in found.jobs])
    if found.count > len(found.jobs):
        print(
            f"Showing {len(found.jobs)} of {counted(found.count, 'job')}. Use --limit to show more, or --state and"
            " --kind to filter."
        )
    for consumer, count in found.events.items():
        print(f"{counted(count, 'event')} pending for {consumer}")
    return DONE


def _show_job(options: argparse.Namespace) -> int:
    from octavo.operations.admin.job_list import get_job

    with _context(options) as context:
        found = get_job(context, options.id)
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
        return DONE
    for name, value in found.items():
        if name != "problem":
            text = json.dumps(value, ensure_ascii=False) if name == "payload" else value
            print(f"{name:12}  {'-' if text is None else text}")
    return DONE


def _retry_jobs(options: argparse.Namespace) -> int:
    from octavo.operations.admin.job_list import retry_jobs

    if bool(options.id) == options.all:
        raise Failure("give ids of parked jobs, or use --all")
    if options.kind and not options.all:
        raise Failure("--kind can only be used with --all")
    with _context(options) as context:
        count = retry_jobs(context, options.id or None, options.kind)
    print(json.dumps({"retried": count}) if options.json else f"{counted(count, 'job')} will run again")
    return DONE


def _rotate(options: argparse.Namespace) -> int:
    from octavo.kit.secrets.sealing import rotate

    with _context(options) as context:
        with context.db.write() as tx:
            count = rotate(tx, context.sealer)
        current = context.sealer.current
    print(
        json.dumps({"sealed": count, "key": current})
        if options.json
        else f"{counted(count, 'secret')} encrypted with key {current}"
    )
    return DONE


# --- the table of operations --------------------------------------------------------------------------


def _operations(options: argparse.Namespace) -> int:
    from octavo.kit.http.operation import TABLE
    from octavo.operations.installation import load_packages

    load_packages()
    if options.missing:
        try:
            with options.spec.open(newline="") as lines:
                wanted = [(row["operation_id"], row["method"], row["path"]) for row in csv.DictReader(lines)]
        except (OSError, KeyError) as error:
            raise Failure(f"{options.spec}: {error}") from None
        rows = [(*entry, "", "") for entry in wanted if entry[0] not in TABLE]
    else:
        rows = [
            (o.id, o.method, o.path, str(getattr(o.needs, "value", "public")), o.source)
            for o in TABLE.values()
            if options.name is None or options.name == o.id
        ]
        if options.name is not None and not rows:
            raise Failure(f"there is no operation {options.name!r}")
    names = ("id", "method", "path", "permission", "source")
    if options.json:
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
        return DONE
    _print_table(names, rows)
    return DONE


def _compare_descriptions(options: argparse.Namespace) -> int:
    import msgspec

    from octavo.sites.openapi.comparing import compare
    from octavo.sites.openapi.compiling import compile_description
    from octavo.sites.openapi.description import ApiDescription

    found = []
    for path in (options.old, options.new):
        try:
            data = path.read_bytes()
        except OSError as unreadable:
            # 1 means breaking changes, which an unreadable file must not look like.
            print(f"octavo: {path}: {unreadable.strerror}", file=sys.stderr)
            return WRONG_USAGE
        compiled = compile_description(data)
        for error in compiled.errors:
            where = f"{path}:{error.line}" if error.line else str(path)
            print(f"octavo: {where}: {error.pointer}: {error.message}", file=sys.stderr)
        if compiled.errors:
            return WRONG_USAGE
        found.append(ApiDescription(msgspec.json.decode(compiled.document)))
    changes = compare(*found)
    if options.json:
        print(msgspec.json.encode(changes).decode())
    else:
        rows = [(c.kind, "yes" if c.breaking else "", c.operation, c.place, c.message) for c in changes]
        _print_table(("change", "breaks", "operation", "place", "what"), rows)
    return FAILED if any(change.breaking for change in changes) else DONE


# --- Git sync -----------------------------------------------------------------------------------------


def _git(options: argparse.Namespace) -> int:
    from octavo.operations.admin.git_syncs import describe_sync, list_syncs, sync_now
    from octavo.operations.admin.lookup import find_named

    with _context(options) as context:
        if options.action == "log":
            space = find_named(context, options.space, ["space"])
            runs = list_syncs(context, space, options.limit)
            if options.json:
                print(json.dumps(runs, ensure_ascii=False))
                return DONE
            columns = (
                "startedAt",
                "status",
                "cause",
                "imported",
                "exported",
                "conflicts",
                "commit",
                "message",
            )
            rows = [tuple(str(run[name])[:80] for name in columns) for run in runs]
            _print_table(("when", "status", "cause", "in", "out", "conflicts", "commit", "message"), rows)
            for run in runs[:1]:
                for problem in run["problems"]:
                    place = f"{problem['path']}:{problem['line']}" if problem["line"] else problem["path"]
                    _say(f"{place}: {problem['message']}")
            return DONE
        named = find_named(context, options.space, ["space", "collection", "site"], prefers="space")
        said = (
            describe_sync(context, named)
            if options.action == "status"
            else sync_now(context, named, options.first)
        )
    spaces = said.get("spaces", [])
    if options.json:
        print(json.dumps(said, ensure_ascii=False))
    else:
        shown = [(name, str(value)) for name, value in said.items() if not isinstance(value, list)]
        _print_table(("what", "is"), shown)
        if spaces:
            print()
            _print_table(tuple(spaces[0]), [tuple(one.values()) for one in spaces])
        for problem in said.get("problems", []):
            _say(f"{problem['path']}: {problem['message']}")
    wrong = any(one["status"] in ("failed", "stopped") for one in [said, *spaces])
    return FAILED if wrong else DONE


# --- integrations -------------------------------------------------------------------------------------


@contextmanager
def _api(options: argparse.Namespace) -> Iterator[ApiClient]:
    """Connect to the API of this server, or of ``--url``, with the token in ``--token-file`` or else the first
    administrator's."""
    from octavo.operations.developing.api import ApiClient
    from octavo.operations.installation import TOKEN_FILE

    settings = _settings(options)
    token = "" if options.token_file else settings.admin_token
    path = options.token_file or settings.data_folder / TOKEN_FILE
    if not token:
        try:
            token = path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"no token: {error}. Use --token-file to name a file with one") from None
    with ApiClient(options.url or settings.url, token) as api:
        yield api


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _start_integration(options: argparse.Namespace) -> int:
    from octavo.operations.developing.examples import start_integration

    start_integration(options.folder)
    print(f"Created {options.folder}. Publish it with `octavo integrations publish {options.folder}`.")
    return DONE


def _publish_integration(options: argparse.Namespace) -> int:
    from octavo.operations.developing.publishing import publish_folder

    with _api(options) as api:
        done = publish_folder(
            api, options.folder, _say, organization=options.org, environment=options.environment
        )
    said = f"Published version {done['version']} of {done['name']} ({done['visibility']})"
    print(json.dumps(done, ensure_ascii=False) if options.json else said)
    return DONE


def _pack_integration(options: argparse.Namespace) -> int:
    from octavo.operations.developing.publishing import pack_folder

    print(pack_folder(options.folder, options.out, _say, environment=options.environment))
    return DONE


def _develop_integration(options: argparse.Namespace) -> int:
    from octavo.operations.developing.serving import develop

    with _api(options) as api:
        develop(
            api,
            options.folder,
            lambda line: print(line, flush=True),
            environment=options.environment,
            port=options.port,
            tunnel=options.tunnel,
            all_installations=options.all,
            allowed=_settings(options).allow_private_fetch,
        )
    return DONE


def _install_builtin(options: argparse.Namespace) -> int:
    from octavo.operations.developing.examples import install_builtin, list_builtin

    if options.name is None:
        print(json.dumps(list_builtin()) if options.json else "\n".join(list_builtin()))
        return DONE
    with _api(options) as api:
        done = install_builtin(api, options.name, organization=options.org)
    said = f"Installed {options.name} ({done['status']}): {done['urls']['location']}"
    print(json.dumps(done, ensure_ascii=False) if options.json else said)
    return DONE


def _offer_integration(options: argparse.Namespace) -> int:
    from octavo.operations.admin.verification import offer_integration

    with _context(options) as context:
        offer_integration(context, options.name, offered=not options.stop)
    done = {"integration": options.name, "offered": not options.stop}
    said = f"{options.name} is {'no longer' if options.stop else 'now'} offered to every organization"
    print(json.dumps(done) if options.json else said)
    return DONE


def _check(options: argparse.Namespace) -> int:
    from octavo.operations.admin.diagnosis import check_installation

    findings = check_installation(_settings(options))
    if options.json:
        print(json.dumps([{"part": part, "ok": ok, "message": message} for part, ok, message in findings]))
    else:
        _print_table(
            ("part", "works", "detail"),
            [(part, "yes" if ok else "NO", message) for part, ok, message in findings],
        )
    return DONE if all(ok for _, ok, _ in findings) else FAILED


# --- the command --------------------------------------------------------------------------------------


class _Version(argparse.Action):
    """Action that prints the version. It is looked up only then, so that other commands start faster."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, nargs=0)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"octavo {version('octavo')}")
        parser.exit()


def _completion(options: argparse.Namespace) -> int:
    import shtab

    parser = _parser()
    print(_fish(parser) if options.shell == "fish" else shtab.complete(parser, options.shell))
    return DONE


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"must be a port from 1 to 65535, got {text!r}")
    return int(text)


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.S)
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)", re.S)


class _Parser(argparse.ArgumentParser):
    """Parser that suggests the closest command, choice or option for a mistyped one."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            used: argparse.ArgumentParser = self
            for name in (getattr(found, "command", None), getattr(found, "action", None)):
                used = _below(used).get(name or "", used)
            used.error(f"unrecognized arguments: {' '.join(rest)}")
        return found

    def error(self, message: str) -> NoReturn:
        if (choice := _CHOICE.search(message)) is not None:
            given, known = choice[1], re.findall(r"[\w-]+", choice[2])
        elif (unknown := _UNKNOWN.search(message)) is not None:
            given, known = unknown[1].split()[0], list(self._option_string_actions)
        else:
            super().error(message)
        near = difflib.get_close_matches(given, known, 1, 0.6)
        super().error(f"{message}; did you mean {near[0]}?" if near else message)


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the subcommands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _fish(parser: argparse.ArgumentParser) -> str:
    """Return a completion script for fish, which shtab does not support."""
    lines = ["complete -c octavo -f"]

    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def add(parser: argparse.ArgumentParser, way: tuple[str, ...]) -> None:
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in way)
        commands = _below(parser)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
                none = f"not __fish_seen_subcommand_from {' '.join(commands)}"
                when = quoted(f"{seen}; and {none}" if seen else none)
                lines.extend(
                    f"complete -c octavo -n {when} -a {name} -d {quoted(helps.get(name, ''))}"
                    for name in commands
                )
            elif seen and action.help is not argparse.SUPPRESS:
                takes = " -r" if action.option_strings and action.nargs != 0 else ""
                said = quoted((action.help or "").replace("%(default)s", str(action.default)))
                choices = f" -a {quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
                names = [
                    f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                    for name in action.option_strings
                ]
                if names or choices:
                    lines.append(
                        f"complete -c octavo -n {quoted(seen)} {' '.join(names)}{takes}{choices} -d {said}"
                    )
        for name, inner in commands.items():
            add(inner, (*way, name))

    add(parser, ())
    # These commands take folders and files.
    lines.append(
        "complete -c octavo -n '__fish_seen_subcommand_from import export publish backup restore verify' -F"
    )
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="octavo", description="Self-hosted documentation with an open HTTP API."
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", metavar="DIR", help="data folder, with the embedded database and files")
    common.add_argument("--config", metavar="FILE", type=Path, help="settings file, such as octavo.toml")
    common.add_argument("--json", action="store_true", help="print JSON")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, **kwargs: Any
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text, parents=[common], **kwargs)
        made.set_defaults(run=run)
        return made

    for name, text in (
        ("serve", "Run the API, the published sites, and the job worker."),
        ("api", "Run only the API and the app."),
        ("reader", "Run only the published sites."),
        ("worker", "Run only the job worker."),
    ):
        made = command(
            name, _serve, text, epilog=_settings_help(), formatter_class=argparse.RawDescriptionHelpFormatter
        )
        made.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        if name == "reader":
            # Its only port is that of sites.
            made.set_defaults(port=8000)
        else:
            made.add_argument(
                "--port", type=_port, default=8000, help="port of the API and the app (default: %(default)s)"
            )
        own = ("--port",) if name == "reader" else ()
        made.add_argument(
            *own,
            "--reader-port",
            dest="reader_port",
            type=_port,
            default=8001,
            help="port of published sites (default: %(default)s)",
        )
        made.add_argument("--workers", type=int, help="number of processes that answer requests")

    token = commands.add_parser("token", help="Create, list, and revoke access tokens.").add_subparsers(
        dest="action", required=True
    )
    made = token.add_parser("create", parents=[common], help="Create an access token and print it.")
    made.set_defaults(run=_create_token)
    made.add_argument(
        "--email", required=True, help="email address of the token's owner; the account is created if needed"
    )
    made.add_argument("--create", action="store_true", help="create the account without asking")
    made.add_argument(
        "--org", metavar="ORG", help="add the owner to this organization: its id, host name, or title"
    )
    made.add_argument(
        "--role",
        choices=("admin", "create", "review", "edit", "comment", "read", "guest"),
        help="role in the organization given with --org",
    )
    made.add_argument("--scopes", nargs="+", metavar="SCOPE", help="limit the token to these scopes")
    made.add_argument(
        "--expires",
        type=_milliseconds,
        metavar="90d",
        help="time until the token expires, such as 90d or 12h",
    )
    made.add_argument(
        "--hand-over",
        action="store_true",
        help="if the email address was never verified: verify it, and remove the password, sessions, tokens, and agents"
        " of the account",
    )
    session = commands.add_parser(
        "session", help="List and revoke sessions, and create sign-in links."
    ).add_subparsers(dest="action", required=True)
    for group, what, run in ((token, "token", _list_tokens), (session, "session", _list_sessions)):
        made = group.add_parser("list", parents=[common], help=f"List a person's {what}s.")
        made.set_defaults(run=run)
        made.add_argument("--email", required=True, help="email address of the person")
        made = group.add_parser("revoke", parents=[common], help=f"Revoke a person's {what}, or all of them.")
        made.set_defaults(run=_revoke)
        made.add_argument("--email", required=True, help="email address of the person")
        made.add_argument("id", nargs="?", help=f"id of the {what}, as listed")
        made.add_argument("--all", action="store_true", help=f"revoke all {what}s")

    made = session.add_parser(
        "link",
        parents=[common],
        help="Print a link that signs a person in once. It expires after 15 minutes.",
    )
    made.set_defaults(run=_print_sign_in_link)
    made.add_argument("--email", required=True, help="email address of the person")

    account = commands.add_parser("account", help="Delete accounts.").add_subparsers(
        dest="action", required=True
    )
    made = account.add_parser(
        "delete",
        parents=[common],
        help="Show what would be deleted with an account. Use --yes to delete it.",
    )
    made.set_defaults(run=_delete_account)
    made.add_argument("--email", required=True, help="email address of the account")
    made.add_argument("--yes", action="store_true", help="delete the account permanently")

    domain = commands.add_parser("domain", help="Verify domains for organizations.").add_subparsers(
        dest="action", required=True
    )
    made = domain.add_parser("prove", parents=[common], help="Verify an email domain of an organization.")
    made.set_defaults(run=_prove_domain)
    made.add_argument("domain", metavar="DOMAIN", help="domain in the organization's `emailDomains`")
    made.add_argument(
        "--org", metavar="ORG", required=True, help="id, host name, or title of the organization"
    )
    made = domain.add_parser(
        "trust",
        parents=[common],
        help="Let an organization use any domain and path for its sites without verifying them.",
    )
    made.set_defaults(run=_trust_organization)
    made.add_argument(
        "--org", metavar="ORG", required=True, help="id, host name, or title of the organization"
    )

    made = command(
        "import",
        _import,
        "Import a folder, a .zip file, or a Git URL as a space or a site, or import an organization.",
    )
    made.add_argument(
        "source",
        nargs="?",
        help="folder, .zip file, Git URL (with optional #ref and //subfolder), or exported organization",
    )
    made.add_argument(
        "--from",
        dest="remote",
        metavar="URL",
        help="import over the API at this URL: GitBook, another Octavo server, or the --service",
    )
    made.add_argument(
        "--service",
        choices=["octavo", "confluence", "readme"],
        default="octavo",
        help="kind of API at --from; octavo also stands for GitBook (default: %(default)s)",
    )
    made.add_argument(
        "--user", metavar="EMAIL", help="email address of the token's owner, for Confluence Cloud"
    )
    made.add_argument(
        "--from-space",
        action="append",
        metavar="SPACE",
        help="key of a Confluence space, or a ReadMe version; repeat it for several (default: all)",
    )
    made.add_argument("--token", help="access token for the API at --from")
    made.add_argument(
        "--token-file", type=Path, metavar="FILE", help="file with the access token for the API at --from"
    )
    made.add_argument(
        "--from-org",
        metavar="ORG",
        help="organization at --from, if the token can access several: its id or title",
    )
    made.add_argument(
        "--org",
        help="organization of the new space or site, if the server has several: its id, host name, or title",
    )
    made.add_argument("--space", help="import into this existing space: its id, URL, or title")
    made.add_argument("--collection", help="id of the collection for the new space")
    made.add_argument(
        "--title",
        help="title of the new space, or of the new site if the source has several versions or languages",
    )
    made.add_argument("--publish", action="store_true", help="publish the imported space or site")
    made.add_argument("--site", help="import into this existing site: its id, URL, or title")
    made.add_argument(
        "--new-site", action="store_true", help="create a new site even if one with this title exists"
    )
    made.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="YAML file that maps names of spaces, as in links or docs.yaml, to ids of spaces on this server",
    )
    made.add_argument("--kind", help="format of the source, such as docusaurus or notion (default: detected)")
    made.add_argument(
        "--replace",
        action="store_true",
        help="replace everything in the space with the source, including edits made in Octavo",
    )
    made.add_argument(
        "--one-space",
        action="store_true",
        help="import only the default version and language, into one space",
    )
    made.add_argument(
        "--preview", action="store_true", help="show what would be imported, and import nothing"
    )
    made.add_argument("--quiet", action="store_true", help="hide the progress bar")

    made = command("export", _export, "Export a space, a site, or a whole organization as files.")
    made.add_argument("name", nargs="?", metavar="SPACE|SITE", help="id, URL, or title of the space or site")
    made.add_argument("folder", type=Path, metavar="DIR", help="folder to write to; created if needed")
    made.add_argument("--revision", help="export this revision of a space: its id")
    made.add_argument(
        "--organization", metavar="ORG", help="export this whole organization: its id, host name, or title"
    )

    made = command("publish", _publish, "Export a public site as static files for any web server.")
    made.add_argument("site", metavar="SITE", help="id, URL, or title of the site")
    made.add_argument("folder", type=Path, metavar="DIR", help="folder to write to; created if needed")
    made.add_argument(
        "--base", default="/", help="URL or path that the files will be served at (default: %(default)s)"
    )
    made.add_argument("--quiet", action="store_true", help="hide the progress bar")

    made = command(
        "check-site",
        _check_site,
        "Check links, images, and files for AI agents of a published site. Exits with 1 if there are problems.",
    )
    made.add_argument(
        "site",
        metavar="URL|SITE",
        help="start URL of any site, or the id, title, or URL without https:// of a site on this server",
    )
    made.add_argument(
        "--external",
        type=_positive,
        default=0,
        metavar="N",
        help="also check up to N links to other sites (default: none)",
    )
    made.add_argument(
        "--addresses",
        type=_positive,
        default=5_000,
        help="maximum number of URLs to check (default: %(default)s)",
    )
    made.add_argument(
        "--megabytes", type=_positive, default=500, help="maximum size to download (default: %(default)s)"
    )
    made.add_argument(
        "--seconds", type=_positive, default=900, help="maximum duration (default: %(default)s)"
    )
    made.add_argument("--quiet", action="store_true", help="hide the progress bar")

    made = command("backup", _backup, "Back up the whole server into one file. The server keeps running.")
    made.add_argument(
        "file",
        metavar="FILE|PLACE",
        help="file to write, or a folder or s3://bucket/prefix to write a file named by the time to",
    )
    made.add_argument(
        "--keep",
        type=_positive,
        metavar="DAYS",
        help="in a folder or bucket: delete backups older than this once the new one is verified",
    )
    made.add_argument(
        "--follow",
        action="store_true",
        help="SQLite only: keep running and back up every change to PLACE, so that any point in time can be restored",
    )
    made.add_argument(
        "--every",
        type=_seconds,
        metavar="SECONDS",
        help="with --follow: seconds between backups of changes (default: 5)",
    )
    made.add_argument(
        "--base-hours",
        type=_positive,
        metavar="HOURS",
        help="with --follow: hours between full backups (default: 24)",
    )
    made.add_argument(
        "--moments",
        type=_positive,
        metavar="DAYS",
        help="with --follow: days for which any point in time can be restored (default: 2); full backups are kept for --keep"
        " days (default: 14)",
    )
    made = command("restore", _restore, "Restore a backup into an empty server, on SQLite or PostgreSQL.")
    made.add_argument(
        "file", metavar="FILE|PLACE", help="backup to restore; of a folder or bucket, the newest one"
    )
    made.add_argument(
        "--until",
        type=_moment,
        metavar="TIME",
        help="for --follow backups: restore the state of this time, such as 2026-11-26T14:05 (UTC by default)",
    )
    made.add_argument("--quiet", action="store_true", help="hide the progress bar")
    made = command("reindex", _reindex, "Rebuild search, references, and counts. The server keeps running.")
    made.add_argument(
        "--org", metavar="ORG", help="rebuild only this organization: its id, host name, or title"
    )
    made.add_argument("--quiet", action="store_true", help="hide the progress bar")
    made = command(
        "verify", _verify, "Check that a backup, or this server's data, is complete and undamaged."
    )
    made.add_argument(
        "file",
        nargs="?",
        metavar="FILE|PLACE",
        help="backup to check; of a folder or bucket, the newest one (default: this server)",
    )
    made.add_argument(
        "--fresh",
        type=_milliseconds,
        metavar="DURATION",
        help="for --follow backups: fail if the last change was backed up longer ago than this, such as 10m",
    )

    group = commands.add_parser("jobs", help="List, show, and retry background jobs.").add_subparsers(
        dest="action", required=True
    )
    made = group.add_parser(
        "list", parents=[common], help="List jobs. Parked jobs, which failed too often, come first."
    )
    made.set_defaults(run=_list_jobs)
    made.add_argument(
        "--state", choices=("parked", "running", "waiting"), help="show only jobs in this state"
    )
    made.add_argument("--kind", help="show only jobs of this kind")
    made.add_argument(
        "--limit", type=_positive, default=100, help="maximum number to list (default: %(default)s)"
    )
    made = group.add_parser("show", parents=[common], help="Show a job with its payload and last error.")
    made.set_defaults(run=_show_job)
    made.add_argument("id", help="id of the job, as listed")
    made = group.add_parser("retry", parents=[common], help="Run parked jobs again.")
    made.set_defaults(run=_retry_jobs)
    made.add_argument("id", nargs="*", help="ids of the jobs, as listed")
    made.add_argument("--all", action="store_true", help="retry all parked jobs")
    made.add_argument("--kind", help="with --all: retry only jobs of this kind")
    secrets = commands.add_parser(
        "secrets", help="Manage the encryption key of secrets in the database."
    ).add_subparsers(dest="action", required=True)
    made = secrets.add_parser(
        "rotate", parents=[common], help="Encrypt all secrets again, with the first of the configured keys."
    )
    made.set_defaults(run=_rotate)

    made = command("operations", _operations, "List the operations of the API.")
    made.add_argument("name", nargs="?", help="show only the operation with this id")
    made.add_argument(
        "--missing", action="store_true", help="show operations that the specification has and the code lacks"
    )
    made.add_argument(
        "--spec",
        type=Path,
        default=Path("../shared/spec/operations.csv"),
        help="operations table of the specification (default: %(default)s)",
    )

    group = commands.add_parser("openapi", help="Compare API specifications.").add_subparsers(
        dest="action", required=True
    )
    made = group.add_parser(
        "diff",
        parents=[common],
        help="List changes between two API specifications. Exits with 1 if there are breaking changes.",
    )
    made.set_defaults(run=_compare_descriptions)
    made.add_argument("old", type=Path, metavar="OLD", help="old OpenAPI file, or a .zip of several files")
    made.add_argument("new", type=Path, metavar="NEW", help="new OpenAPI file, or a .zip of several files")

    group = commands.add_parser("git", help="Show and run Git syncs.").add_subparsers(
        dest="action", required=True
    )
    for name, text in (
        (
            "status",
            "Show the Git sync of a space, collection, or site. Exits with 1 if it failed or stopped.",
        ),
        ("sync", "Sync a space, collection, or site now, and show the result."),
        ("log", "List the last syncs of a space."),
    ):
        made = group.add_parser(name, parents=[common], help=text)
        made.set_defaults(run=_git)
        made.add_argument("space", metavar="SPACE", help="id or title of the space, collection, or site")
        if name == "sync":
            made.add_argument(
                "--first",
                choices=("import", "export"),
                help="if the sync waits for a decision: start from the repository (import) or from Octavo (export)",
            )
        if name == "log":
            made.add_argument(
                "--limit", type=_positive, default=20, help="maximum number to list (default: %(default)s)"
            )

    _add_integrations(commands, common)

    made = command("completion", _completion, "Print a shell completion script.")
    made.add_argument("shell", choices=("bash", "fish", "tcsh", "zsh"), help="shell to complete commands in")
    command("check", _check, "Check the server's configuration, database, files, and services.")
    return parser


def _add_integrations(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    group = commands.add_parser(
        "integrations", help="Create, test, and publish integrations."
    ).add_subparsers(dest="action", required=True)
    calling = argparse.ArgumentParser(add_help=False)
    calling.add_argument("--url", help="URL of the API (default: this server)")
    calling.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with an access token (default: the first administrator's)",
    )
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("folder", type=Path, metavar="DIR", help="folder with gitbook-manifest.yaml")
    folder.add_argument(
        "--env", dest="environment", metavar="NAME", help="environment to use, one of the manifest's `envs`"
    )

    made = group.add_parser("new", help="Create an integration in a new folder.")
    made.set_defaults(run=_start_integration)
    made.add_argument(
        "folder",
        type=Path,
        metavar="DIR",
        help="folder to create; its name becomes the name of the integration",
    )
    made = group.add_parser(
        "publish", parents=[common, calling, folder], help="Publish an integration or a new version of it."
    )
    made.set_defaults(run=_publish_integration)
    made.add_argument(
        "--org", metavar="ORG", help="organization that publishes it (default: the one in the manifest)"
    )
    made = group.add_parser(
        "pack", parents=[folder], help="Pack an integration into one file that can be published in the app."
    )
    made.set_defaults(run=_pack_integration)
    made.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: NAME.integration.json)"
    )
    made = group.add_parser(
        "dev",
        parents=[common, calling, folder],
        help="Run a published integration on this machine and reload it on each change, until Ctrl-C.",
    )
    made.set_defaults(run=_develop_integration)
    made.add_argument("--port", type=_port, default=8787, help="port to listen on (default: %(default)s)")
    made.add_argument("--tunnel", metavar="URL", help="public URL that forwards to that port")
    made.add_argument("--all", action="store_true", help="also handle events of other organizations")
    made = group.add_parser(
        "install-builtin",
        parents=[common, calling],
        help="Publish and install an integration that ships with Octavo.",
    )
    made.set_defaults(run=_install_builtin)
    made.add_argument("name", nargs="?", metavar="NAME", help="name of the integration (default: list them)")
    made.add_argument("--org", metavar="ORG", help="organization to publish and install it in")
    made = group.add_parser(
        "offer", parents=[common], help="Offer a public integration to every organization of this server."
    )
    made.set_defaults(run=_offer_integration)
    made.add_argument("name", metavar="NAME", help="name of the integration")
    made.add_argument("--stop", action="store_true", help="stop offering it; existing installations are kept")


def _settings_help() -> str:
    import msgspec

    from octavo.settings import PREFIX, Settings

    lines = ["settings (environment variables, or in the file given with --config):"]
    for entry in msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"].items():
        name, schema = entry
        lines.append(f"  {PREFIX}{name.upper():24} {schema['description']} [{schema.get('default', '')}]")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 done, 1 failed, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    # Files that a command creates (SQLite, the file store, temporary files) are private to its user.
    os.umask(0o077)
    try:
        code = options.run(options)
    except (OctavoError, Failure) as error:
        print(f"octavo: {error}", file=sys.stderr)
        code = FAILED
    except BrokenPipeError:
        code = DONE
    except OSError as error:
        print(f"octavo: {error}", file=sys.stderr)
        code = FAILED
    except KeyboardInterrupt:
        code = FAILED
    sys.exit(code)
