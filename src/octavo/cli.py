"""The ``octavo`` command. Heavy modules are imported by the commands that need them, so that help is instant."""

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

from .errors import Damaged, OctavoError
from .kit.texts import counted

if TYPE_CHECKING:
    from .admin.docs_sites import BroughtSite
    from .admin.import_export import Brought
    from .app import Role
    from .developing import Api
    from .kit.context import Context
    from .settings import Settings

DONE, FAILED, WRONG_USAGE = 0, 1, 2


class Failure(Exception):
    """Ends a command with a message on standard error and exit code 1."""


def _settings(options: argparse.Namespace) -> Settings:
    """The settings of a command that does not serve: with the addresses that the server was started with."""
    from .settings import kept_addresses, load

    given = {"data": options.data}
    return load(given, options.config, defaults=kept_addresses(load(given, options.config)))


def _serving_settings(options: argparse.Namespace) -> Settings:
    from .settings import load

    given = {name: getattr(options, name) for name in ("data", "workers")}
    ports = {"url": options.port, "sites_url": options.reader_port}
    # Started on other ports, it is reached at those.
    defaults = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    return load(given, options.config, defaults=defaults)


@contextmanager
def _context(options: argparse.Namespace, *, new: bool = False) -> Iterator[Context]:
    """The installation, which must be there unless ``new``."""
    from .installation import close_context, open_context, require_installation

    settings = _settings(options)
    if not new:
        require_installation(settings)
    context = open_context(settings)
    try:
        yield context
    finally:
        close_context(context)


def _organization(context: Context, given: str) -> str:
    """The id of the organization that somebody means. Raises NotFound or BadRequest, with a list of what there is."""
    from .admin.naming import find_named

    return find_named(context, given, ["organization"]).id


# --- serving ------------------------------------------------------------------------------------------


def _serve(options: argparse.Namespace) -> int:
    from .kit.supervision import take_assignment

    assigned = take_assignment()
    if assigned is None:
        return _supervise(options)
    from .app import Address, serve

    roles: dict[str, tuple[Role, ...]] = {
        "serve": ("api", "reader", "worker"),
        "api": ("api",),
        "reader": ("reader",),
        "worker": ("worker",),
    }
    serve(
        _serving_settings(options),
        roles=roles[options.command],
        address=Address(options.host, options.port, options.reader_port),
        say=lambda line: print(line, flush=True),
        assigned=assigned,
    )
    return DONE


def _supervise(options: argparse.Namespace) -> int:
    """Run this command as the parent of its workers, which loads as little as it can."""
    from .kit.logs import configure_for
    from .kit.supervision import Supervisor, command_of
    from .kit.temporary import TemporaryFolder

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
        raise argparse.ArgumentTypeError(f"expected a duration such as 90d or 12h, got {text!r}")
    return int(match[1]) * _SECONDS[match[2]] * 1000


def _moment(text: str) -> int:
    from .kit.clock import parse_iso

    try:
        return parse_iso(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a moment such as 2026-11-26T14:05 or 2026-11-26T14:05:30+01:00, got {text!r}"
        ) from None


def _some_seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,6}(\.\d{1,3})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"expected seconds such as 5 or 0.5, got {text!r}")
    return float(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text!r}")
    return int(text)


def _create_token(options: argparse.Namespace) -> int:
    from .admin.credentials import is_known
    from .admin.first_start import token_for

    if options.role and not options.org:
        raise Failure("--role needs --org")
    with _context(options, new=True) as context:
        if not options.create and not is_known(context, options.email):
            _confirm(f"There is nobody with the address {options.email}. Create an account? [y/N] ")
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
    """Asks a person at a terminal; a script is taken to mean what it says. Raises Failure for a no."""
    if not sys.stdin.isatty():
        return
    print(question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was done; --create creates without asking")


def _list_tokens(options: argparse.Namespace) -> int:
    from .admin.credentials import tokens_of

    with _context(options) as context:
        found = tokens_of(context, options.email)
    return _print_credentials(
        options, found, ("id", "hint", "name", "created_at", "expires_at", "last_used_at")
    )


def _list_sessions(options: argparse.Namespace) -> int:
    from .admin.credentials import sessions_of

    with _context(options) as context:
        found = sessions_of(context, options.email)
    return _print_credentials(
        options, found, ("id", "method", "client", "created_at", "expires_at", "last_used_at")
    )


def _print_sign_in_link(options: argparse.Namespace) -> int:
    from .admin.credentials import sign_in_link

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
    """A name as the API spells it."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns of text under headings; what is None is shown as ``-``."""
    lines = [[heading.replace("_", " ").upper() for heading in headings]]
    lines += [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _revoke(options: argparse.Namespace) -> int:
    from .admin import credentials

    if (options.id is None) != options.all:
        raise Failure("expected an id, or --all")
    end = {"token": credentials.revoke_tokens, "session": credentials.end_sessions}[options.command]
    with _context(options) as context:
        ended = end(context, options.email, options.id)
    if options.id is not None and not ended:
        raise Failure(f"{options.email} has no {options.command} {options.id!r}")
    print(json.dumps({"ended": ended}) if options.json else f"{ended} ended")
    return DONE


def _delete_account(options: argparse.Namespace) -> int:
    from .admin.credentials import delete_account, foresee_deletion

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
    for what, counts in (("ends", ends), ("stays without a name", stays)):
        print(f"{what}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    print("deleted" if options.yes else "nothing was deleted; --yes does it")
    return DONE


def _prove_domain(options: argparse.Namespace) -> int:
    from .admin.vouching import prove_domain

    with _context(options) as context:
        organization = _organization(context, options.org)
        prove_domain(context, organization, options.domain)
    proved = {"organization": organization, "domain": options.domain.lower()}
    print(json.dumps(proved) if options.json else f"{proved['domain']} is proved")
    return DONE


def _trust_organization(options: argparse.Namespace) -> int:
    from .admin.vouching import trust

    with _context(options) as context:
        organization = _organization(context, options.org)
        trust(context, organization)
    trusted = {"organization": organization}
    print(json.dumps(trusted) if options.json else f"the host names of {organization} count without a proof")
    return DONE


# --- content ------------------------------------------------------------------------------------------


def _import(options: argparse.Namespace) -> int:
    import msgspec

    from .admin.archives import import_organization, is_organization
    from .admin.docs_sites import bring_source
    from .admin.import_export import Brought, bring, read_known
    from .admin.naming import find_named, the_organization

    if options.remote is not None:
        return _move_in(options)
    if options.source is None:
        raise Failure("SOURCE: say what is to be imported, or --from for an API")
    if is_organization(options.source):
        # An exported organization may be what a new installation begins with.
        with _context(options, new=True) as context, _progress(options.source, options.quiet) as progress:
            moved = import_organization(context, Path(options.source), progress)
        print(json.dumps(msgspec.to_builtins(moved), ensure_ascii=False, indent=None if options.json else 2))
        return DONE
    if options.space is not None and (options.site is not None or options.new_site):
        raise Failure("--space: names a space, so --site and --new-site mean nothing")
    from .transfer import KINDS

    if options.kind is not None and options.kind not in KINDS:
        raise Failure(f"--kind: {options.kind!r} is none of {', '.join(KINDS)}")
    if options.preview:
        from .admin.import_export import preview

        with _context(options) as context:
            several = options.space is None and not options.one_space
            said = msgspec.to_builtins(preview(context, options.source, options.kind, several))
        print(json.dumps(said, ensure_ascii=False, indent=None if options.json else 2))
        return DONE
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

    said = _told_space(brought) if isinstance(brought, Brought) else _told_site(brought)
    print(json.dumps(said, ensure_ascii=False, indent=None if options.json else 2))
    return DONE


def _told_space(one: Brought) -> dict[str, Any]:
    import msgspec

    outcome: dict[str, Any] = msgspec.to_builtins(one.outcome)
    return outcome | ({"site": one.site_url} if one.site_url else {})


def _told_site(brought: BroughtSite) -> dict[str, Any]:
    import msgspec

    return {
        "site": {"id": brought.site} | ({"url": brought.site_url} if brought.site_url else {}),
        "spaces": {key: _told_space(one) for key, one in brought.spaces.items()},
        "known": brought.known,
        "problems": msgspec.to_builtins(brought.problems),
    }


def _move_in(options: argparse.Namespace) -> int:
    import msgspec

    from .admin.import_export import Brought
    from .admin.moving_in import MovedIn, move_in, move_spaces_in
    from .admin.naming import the_organization

    if options.source is not None or options.space is not None or options.site is not None:
        raise Failure("--from: brings whole spaces and sites, so SOURCE, --space and --site mean nothing")
    token = options.token
    if options.token_file is not None:
        try:
            token = options.token_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"--token-file: {error}") from None
    if not token:
        raise Failure("--from: needs a token of that API, with --token or --token-file")
    if options.service == "octavo" and (options.from_space or options.user is not None):
        raise Failure("--from-space, --user: these are for --service confluence and readme")
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
                said = _told_space(brought) if isinstance(brought, Brought) else _told_site(brought)
                print(json.dumps(said, ensure_ascii=False, indent=None if options.json else 2))
                return DONE
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
    print(json.dumps(msgspec.to_builtins(moved), ensure_ascii=False, indent=None if options.json else 2))
    return FAILED if moved.stopped else DONE


@contextmanager
def _progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error."""
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
    from .admin.archives import export_organization
    from .admin.docs_sites import export_site_files
    from .admin.import_export import export_space
    from .admin.naming import find_named

    if (options.name is None) == (options.organization is None):
        raise Failure("name either a space or site or, with --organization, a whole organization")
    if options.organization is not None:
        import msgspec

        with _context(options) as context:
            organization = _organization(context, options.organization)
            moved = msgspec.to_builtins(export_organization(context, organization, options.folder))
        told = f"{counted(moved['spaces'], 'space')} in {options.folder}"
        print(json.dumps(moved, ensure_ascii=False) if options.json else told)
        return DONE
    with _context(options) as context:
        # A site is mostly called like its space, and what people mean by their files is the space.
        named = find_named(context, options.name, ["space", "site"], prefers="space")
        if named.kind == "space":
            outcome = export_space(context, named.id, options.folder, revision_id=options.revision)
        elif options.revision is not None:
            raise Failure(f"--revision: {named.title} is a site, and only spaces have revisions")
        else:
            outcome = export_site_files(context, named.id, options.folder)
    print(json.dumps(outcome) if options.json else f"{counted(outcome['files'], 'file')} in {options.folder}")
    return DONE


def _publish(options: argparse.Namespace) -> int:
    import msgspec

    from .admin.naming import find_named
    from .admin.static_export import export_site

    with _context(options) as context:
        site = find_named(context, options.site, ["site"])
        with _progress(f"Exporting to {options.folder}", options.quiet) as progress:
            done = export_site(context, site.id, options.folder, base=options.base, progress=progress)
    said = (
        f"{counted(done.pages, 'page')} in {options.folder}: {counted(done.written, 'file')} written, {done.unchanged} unchanged, "
        f"{done.removed} removed. Search, ratings and trying operations need a server and are left out."
    )
    print(json.dumps(msgspec.to_builtins(done), ensure_ascii=False) if options.json else said)
    for source in done.left_out:
        print(f"octavo: the redirect from {source} is left out: files cannot answer it", file=sys.stderr)
    for address in done.broken:
        print(f"octavo: a page links to {address}, where nothing is", file=sys.stderr)
    return DONE


def _check_site(options: argparse.Namespace) -> int:
    import msgspec

    from .admin.naming import find_named
    from .admin.site_checks import Bounds, check_site, check_url
    from .errors import BadRequest, NotFound

    bounds = Bounds(
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
        # 1 says that a site has problems: what is no site must not look like it.
        print(f"octavo: {error}", file=sys.stderr)
        return WRONG_USAGE
    if options.json:
        print(json.dumps(msgspec.to_builtins(report), ensure_ascii=False))
        return FAILED if report.problems else DONE
    for page in report.found:
        print(page.page)
        for problem in page.problems:
            print(f"  {problem.rule}: {problem.text}")
    found = counted(report.problems, "problem") if report.problems else "sound"
    outer = f"of the links to other sites {report.external} were asked, {report.external_left} were not"
    print(f"{counted(report.pages, 'page')}: {found}; {outer}")
    return FAILED if report.problems else DONE


# --- backups ------------------------------------------------------------------------------------------


def _backup(options: argparse.Namespace) -> int:
    from .admin.backup import back_up
    from .admin.kept_backups import back_up_into, is_place
    from .admin.places import BackupPlace

    if options.follow:
        return _follow(options)
    if alone := [name for name in ("every", "base_hours", "moments") if getattr(options, name) is not None]:
        raise Failure(f"--{alone[0].replace('_', '-')} goes with --follow")
    if not is_place(options.file):
        if options.keep is not None:
            raise Failure("--keep is for a folder or a bucket of backups")
        with _context(options) as context:
            outcome = back_up(context, Path(options.file))
        name = options.file
    else:
        with _context(options) as context:
            place = BackupPlace(options.file, new=True)
            keep = None if options.keep is None else options.keep * _SECONDS["d"] * 1000
            name, outcome = back_up_into(context, place, keep)
        name = f"{place.address}/{name}"
    return _told(
        options, outcome, f"{counted(outcome.rows, 'row')} and {counted(outcome.files, 'file')} in {name}"
    )


def _follow(options: argparse.Namespace) -> int:
    """Until SIGTERM or SIGINT."""
    import signal
    import threading

    from .admin.following import Terms, follow
    from .admin.places import BackupPlace
    from .kit import logs

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
    from .admin.backup import restore
    from .admin.followed import holds_log, take_back
    from .admin.kept_backups import is_place, opened_backup
    from .admin.places import BackupPlace

    settings = _settings(options)
    outcome: Any
    with _progress(f"Restoring {options.file}", options.quiet) as progress:
        if is_place(options.file) and holds_log(place := BackupPlace(options.file)):
            outcome = take_back(settings, place, options.until, progress)
            text = f"as it was at {outcome.moment}, with {counted(outcome.files, 'file')}"
        elif options.until is not None:
            raise Failure("--until needs a place that `octavo backup --follow` writes to")
        else:
            with opened_backup(options.file) as file:
                outcome = restore(settings, file, progress)
            text = f"{counted(outcome.rows, 'row')} and {counted(outcome.files, 'file')} taken back"
    return _told(options, outcome, text)


def _told(options: argparse.Namespace, outcome: Any, text: str) -> int:
    import msgspec

    print(json.dumps(msgspec.to_builtins(outcome)) if options.json else text)
    for digest in outcome.missing:
        print(f"octavo: file {digest} is missing", file=sys.stderr)
    return FAILED if outcome.missing else DONE


def _reindex(options: argparse.Namespace) -> int:
    import msgspec

    from .admin.reindexing import reindex
    from .core.links import app_hosts

    with _context(options) as context, _progress("Reading spaces", options.quiet) as progress:
        organization = options.org and _organization(context, options.org)
        rebuilt = reindex(context.db, app_hosts(context.settings.url), organization, progress)
    text = f"{counted(rebuilt.spaces, 'space')} read, {counted(rebuilt.counts, 'count')} set right"
    print(json.dumps(msgspec.to_builtins(rebuilt)) if options.json else text)
    return DONE


def _verify(options: argparse.Namespace) -> int:
    from .admin.backup import list_damage, verify_backup, verify_installation
    from .admin.followed import holds_log, verify_followed
    from .admin.kept_backups import is_place, opened_backup
    from .admin.places import BackupPlace

    if options.file is None:
        try:
            with _context(options) as context:
                findings = verify_installation(context)
        except Damaged as damaged:
            # It was recognized before, and so cannot even be opened; or PostgreSQL found it meanwhile.
            findings = list_damage(_settings(options)) or [damaged.message]
    elif is_place(options.file) and holds_log(place := BackupPlace(options.file)):
        findings = verify_followed(place, options.fresh)
    elif options.fresh is not None:
        raise Failure("--fresh needs a place that `octavo backup --follow` writes to")
    else:
        with opened_backup(options.file) as file:
            findings = verify_backup(file)
    if options.json:
        print(json.dumps(findings))
    else:
        print("\n".join(findings) or "sound")
    return FAILED if findings else DONE


# --- jobs ---------------------------------------------------------------------------------------------


def _list_jobs(options: argparse.Namespace) -> int:
    import msgspec

    from .admin.job_list import list_jobs

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
            f"{len(found.jobs)} of {counted(found.count, 'job')}: --limit shows more, --state and --kind fewer"
        )
    for consumer, count in found.events.items():
        print(f"{counted(count, 'event')} for {consumer} not handed over yet")
    return DONE


def _show_job(options: argparse.Namespace) -> int:
    from .admin.job_list import get_job

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
    from .admin.job_list import retry_jobs

    if bool(options.id) == options.all:
        raise Failure("expected ids of parked jobs, or --all")
    if options.kind and not options.all:
        raise Failure("--kind goes with --all")
    with _context(options) as context:
        count = retry_jobs(context, options.id or None, options.kind)
    print(json.dumps({"retried": count}) if options.json else f"{counted(count, 'job')} to run again")
    return DONE


def _rotate(options: argparse.Namespace) -> int:
    from .kit.sealing import rotate

    with _context(options) as context:
        with context.db.write() as tx:
            count = rotate(tx, context.sealer)
        current = context.sealer.current
    print(json.dumps({"sealed": count, "key": current}) if options.json else f"{count} sealed with {current}")
    return DONE


# --- the table of operations --------------------------------------------------------------------------


def _operations(options: argparse.Namespace) -> int:
    from .installation import load_packages
    from .kit.operation import TABLE

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

    from .openapi import Description, compare, compile_description

    found = []
    for path in (options.old, options.new):
        try:
            data = path.read_bytes()
        except OSError as unreadable:
            # 1 says that callers break: what cannot be compared must not look like it.
            print(f"octavo: {path}: {unreadable.strerror}", file=sys.stderr)
            return WRONG_USAGE
        compiled = compile_description(data)
        for error in compiled.errors:
            where = f"{path}:{error.line}" if error.line else str(path)
            print(f"octavo: {where}: {error.pointer}: {error.message}", file=sys.stderr)
        if compiled.errors:
            return WRONG_USAGE
        found.append(Description(msgspec.json.decode(compiled.document)))
    changes = compare(*found)
    if options.json:
        print(msgspec.json.encode(changes).decode())
    else:
        rows = [(c.kind, "yes" if c.breaking else "", c.operation, c.place, c.message) for c in changes]
        _print_table(("change", "breaks", "operation", "place", "what"), rows)
    return FAILED if any(change.breaking for change in changes) else DONE


# --- Git sync -----------------------------------------------------------------------------------------


def _git(options: argparse.Namespace) -> int:
    from .admin.git_syncs import describe_sync, list_syncs, sync_now
    from .admin.naming import find_named

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
def _api(options: argparse.Namespace) -> Iterator[Api]:
    """The API of this installation, or of the one that ``--url`` names, with the first administrator's token, or the
    one in ``--token-file``."""
    from .developing import Api
    from .installation import TOKEN_FILE

    settings = _settings(options)
    token = "" if options.token_file else settings.admin_token
    path = options.token_file or settings.data_folder / TOKEN_FILE
    if not token:
        try:
            token = path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"no token: {error}. --token-file names a file with one") from None
    with Api(options.url or settings.url, token) as api:
        yield api


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _start_integration(options: argparse.Namespace) -> int:
    from .developing import start_integration

    start_integration(options.folder)
    print(f"{options.folder} is ready: `octavo integrations publish {options.folder}` publishes it")
    return DONE


def _publish_integration(options: argparse.Namespace) -> int:
    from .developing import publish_folder

    with _api(options) as api:
        done = publish_folder(
            api, options.folder, _say, organization=options.org, environment=options.environment
        )
    said = f"{done['name']} is published as version {done['version']} ({done['visibility']})"
    print(json.dumps(done, ensure_ascii=False) if options.json else said)
    return DONE


def _pack_integration(options: argparse.Namespace) -> int:
    from .developing import pack_folder

    print(pack_folder(options.folder, options.out, _say, environment=options.environment))
    return DONE


def _develop_integration(options: argparse.Namespace) -> int:
    from .developing import develop

    with _api(options) as api:
        develop(
            api,
            options.folder,
            lambda line: print(line, flush=True),
            environment=options.environment,
            port=options.port,
            tunnel=options.tunnel,
            everybody=options.all,
            allowed=_settings(options).allow_private_fetch,
        )
    return DONE


def _install_builtin(options: argparse.Namespace) -> int:
    from .developing import install_builtin, list_builtin

    if options.name is None:
        print(json.dumps(list_builtin()) if options.json else "\n".join(list_builtin()))
        return DONE
    with _api(options) as api:
        done = install_builtin(api, options.name, organization=options.org)
    said = f"{options.name} is installed ({done['status']}): {done['urls']['location']}"
    print(json.dumps(done, ensure_ascii=False) if options.json else said)
    return DONE


def _offer_integration(options: argparse.Namespace) -> int:
    from .admin.vouching import offer_integration

    with _context(options) as context:
        offer_integration(context, options.name, offered=not options.stop)
    done = {"integration": options.name, "offered": not options.stop}
    said = f"{options.name} is {'no longer ' if options.stop else ''}offered to every organization"
    print(json.dumps(done) if options.json else said)
    return DONE


def _check(options: argparse.Namespace) -> int:
    from .admin.diagnosis import check_installation

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
    """Looks the version up only when it is asked for, so that other commands start without that."""

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
        raise argparse.ArgumentTypeError(f"expected a port from 1 to 65535, got {text!r}")
    return int(text)


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.S)
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)", re.S)


class _Parser(argparse.ArgumentParser):
    """Says what somebody may have meant who mistyped a command, a choice or an option."""

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
    """The commands of a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _fish(parser: argparse.ArgumentParser) -> str:
    """A script that completes commands and options in fish, which the library for the other shells does not know."""
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
    # Folders and files are what most commands take.
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
    common.add_argument("--data", metavar="DIR", help="folder of the embedded database and files")
    common.add_argument("--config", metavar="FILE", type=Path, help="settings as octavo.toml")
    common.add_argument("--json", action="store_true", help="print JSON")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, **kwargs: Any
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text, parents=[common], **kwargs)
        made.set_defaults(run=run)
        return made

    for name, text in (
        ("serve", "Run API, reader and job worker."),
        ("api", "Run the API alone."),
        ("reader", "Run the reader of published sites alone."),
        ("worker", "Run the job worker alone."),
    ):
        made = command(
            name, _serve, text, epilog=_settings_help(), formatter_class=argparse.RawDescriptionHelpFormatter
        )
        made.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        if name == "reader":
            # It has one port, which is that of sites.
            made.set_defaults(port=8000)
        else:
            made.add_argument(
                "--port", type=_port, default=8000, help="port of the API (default: %(default)s)"
            )
        own = ("--port",) if name == "reader" else ()
        made.add_argument(
            *own, "--reader-port", dest="reader_port", type=_port, default=8001,
            help="port of sites (default: %(default)s)",
        )  # fmt: skip
        made.add_argument("--workers", type=int, help="processes that answer requests")

    token = commands.add_parser("token", help="Make, list and take back access tokens.").add_subparsers(
        dest="action", required=True
    )
    made = token.add_parser("create", parents=[common], help="Print a new token of a person.")
    made.set_defaults(run=_create_token)
    made.add_argument("--email", required=True, help="whose token; the person is made when unknown")
    made.add_argument(
        "--create", action="store_true", help="make the person without asking when there is none"
    )
    made.add_argument(
        "--org", metavar="ORG", help="organization the person becomes a member of: its id, host name or title"
    )
    made.add_argument("--role", choices=("admin", "create", "review", "edit", "comment", "read", "guest"))
    made.add_argument("--scopes", nargs="+", metavar="SCOPE", help="what the token is limited to")
    made.add_argument("--expires", type=_milliseconds, metavar="90d", help="how long it is good for")
    made.add_argument(
        "--hand-over",
        action="store_true",
        help="if the email address was never verified: verify it, and end the password, sessions, tokens and agents"
        " of the account",
    )
    session = commands.add_parser("session", help="List, end and begin sessions.").add_subparsers(
        dest="action", required=True
    )
    for group, what, run in ((token, "token", _list_tokens), (session, "session", _list_sessions)):
        made = group.add_parser("list", parents=[common], help=f"List the {what}s of a person.")
        made.set_defaults(run=run)
        made.add_argument("--email", required=True, help=f"whose {what}s")
        made = group.add_parser("revoke", parents=[common], help=f"End a {what} of a person at once.")
        made.set_defaults(run=_revoke)
        made.add_argument("--email", required=True, help=f"whose {what}")
        made.add_argument("id", nargs="?", help=f"which {what}, as listed")
        made.add_argument("--all", action="store_true", help="every one of them")

    made = session.add_parser(
        "link", parents=[common], help="Print a link that signs a person in once, within 15 minutes."
    )
    made.set_defaults(run=_print_sign_in_link)
    made.add_argument("--email", required=True, help="whom it signs in")

    account = commands.add_parser("account", help="Delete accounts.").add_subparsers(
        dest="action", required=True
    )
    made = account.add_parser(
        "delete",
        parents=[common],
        help="Say what ends with the account of a person, and with --yes delete it.",
    )
    made.set_defaults(run=_delete_account)
    made.add_argument("--email", required=True, help="whose account")
    made.add_argument("--yes", action="store_true", help="delete it for good")

    domain = commands.add_parser("domain", help="Vouch for what organizations say is theirs.").add_subparsers(
        dest="action", required=True
    )
    made = domain.add_parser(
        "prove", parents=[common], help="Let an organization take people with addresses in a domain."
    )
    made.set_defaults(run=_prove_domain)
    made.add_argument("domain", metavar="DOMAIN", help="one of the organization's `emailDomains`")
    made.add_argument(
        "--org", metavar="ORG", required=True, help="the organization: its id, host name or title"
    )
    made = domain.add_parser(
        "trust",
        parents=[common],
        help="Let host names and paths that an organization gives its sites count without a proof.",
    )
    made.set_defaults(run=_trust_organization)
    made.add_argument(
        "--org", metavar="ORG", required=True, help="the organization: its id, host name or title"
    )

    made = command(
        "import", _import, "Import a folder, a .zip or a git URL as a space or a site, or an organization."
    )
    made.add_argument(
        "source",
        nargs="?",
        help="folder, .zip, git URL with #ref and //subfolder, or an exported organization",
    )
    made.add_argument(
        "--from",
        dest="remote",
        metavar="URL",
        help="API of the hosted original or of another Octavo, such as https://docs.example.com, or of --service",
    )
    made.add_argument(
        "--service",
        choices=["octavo", "confluence", "readme"],
        default="octavo",
        help="whose API it is; octavo is the hosted original, too",
    )
    made.add_argument("--user", metavar="EMAIL", help="whose the token is, for Confluence Cloud")
    made.add_argument(
        "--from-space",
        action="append",
        metavar="SPACE",
        help="space of Confluence by its key, or version of ReadMe; several times for several, without it all",
    )
    made.add_argument("--token", help="token of that API")
    made.add_argument("--token-file", type=Path, metavar="FILE", help="file that holds the token of that API")
    made.add_argument(
        "--from-org",
        metavar="ORG",
        help="organization of that API, where the token reaches several: its id or title",
    )
    made.add_argument(
        "--org",
        help="organization a new space belongs to, where there are several: its id, host name or title",
    )
    made.add_argument("--space", help="existing space to import into: its id, address or title")
    made.add_argument("--collection", help="id of the collection the new space goes to")
    made.add_argument(
        "--title",
        help="title of the new space, or of the site of a source with several versions or languages",
    )
    made.add_argument("--publish", action="store_true", help="publish the space, or the site of docs.yaml")
    made.add_argument(
        "--site", help="the site that docs.yaml, versions and languages are for: its id, address or title"
    )
    made.add_argument(
        "--new-site", action="store_true", help="make a new site of docs.yaml, whatever is there"
    )
    made.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="YAML: what links or docs.yaml call spaces, and their ids here",
    )
    made.add_argument(
        "--kind", help="what the source is, such as docusaurus or notion; without it, it is found out"
    )
    made.add_argument(
        "--replace",
        action="store_true",
        help="make the space what the source is and nothing else, whatever people wrote there",
    )
    made.add_argument(
        "--one-space",
        action="store_true",
        help="of a source with several versions or languages bring only what readers begin with, into one space",
    )
    made.add_argument("--preview", action="store_true", help="say what would come, and bring nothing in")
    made.add_argument("--quiet", action="store_true", help="no progress bar")

    made = command("export", _export, "Write a space, a site or a whole organization as files.")
    made.add_argument(
        "name", nargs="?", metavar="SPACE|SITE", help="the space or site: its id, address or title"
    )
    made.add_argument(
        "folder", type=Path, metavar="DIR", help="folder to write to; made when it is not there"
    )
    made.add_argument("--revision", help="id of an older revision of a space")
    made.add_argument(
        "--organization", metavar="ORG", help="organization to write as a whole: its id, host name or title"
    )

    made = command("publish", _publish, "Write a public site as files that any web server can serve.")
    made.add_argument("site", metavar="SITE", help="the site: its id, address or title")
    made.add_argument(
        "folder", type=Path, metavar="DIR", help="folder to write to; made when it is not there"
    )
    made.add_argument(
        "--base", default="/", help="where it will be served: a URL, or a path (default: %(default)s)"
    )
    made.add_argument("--quiet", action="store_true", help="no progress bar")

    made = command(
        "check-site",
        _check_site,
        "Check links, images and what agents read of a published site; exit code 1 when something is wrong.",
    )
    made.add_argument(
        "site",
        metavar="URL|SITE",
        help="where a site begins, or a site of this installation: its id, address without https:// or title",
    )
    made.add_argument(
        "--external",
        type=_positive,
        default=0,
        metavar="N",
        help="ask up to N addresses of other sites, too (default: none)",
    )
    made.add_argument(
        "--addresses",
        type=_positive,
        default=5_000,
        help="ask at most so many of the site (default: %(default)s)",
    )
    made.add_argument(
        "--megabytes", type=_positive, default=500, help="read at most so much (default: %(default)s)"
    )
    made.add_argument(
        "--seconds", type=_positive, default=900, help="stop after so long (default: %(default)s)"
    )
    made.add_argument("--quiet", action="store_true", help="no progress bar")

    made = command("backup", _backup, "Write the whole installation into one file, while it goes on.")
    made.add_argument(
        "file",
        metavar="FILE|PLACE",
        help="file to write, or a folder or s3://bucket/prefix where it gets a name with the time",
    )
    made.add_argument(
        "--keep", type=_positive, metavar="DAYS", help="in a place: remove what is older, once this is sound"
    )
    made.add_argument(
        "--follow",
        action="store_true",
        help="SQLite: go on until stopped, and keep in PLACE what is committed, to restore any moment",
    )
    made.add_argument(
        "--every", type=_some_seconds, metavar="SECONDS", help="with --follow: between two looks (default: 5)"
    )
    made.add_argument(
        "--base-hours", type=_positive, metavar="HOURS", help="with --follow: between two bases (default: 24)"
    )
    made.add_argument(
        "--moments",
        type=_positive,
        metavar="DAYS",
        help="with --follow: for how long any moment can be restored (default: 2); bases stay for --keep (14)",
    )
    made = command("restore", _restore, "Take a backup back into an empty installation, on either engine.")
    made.add_argument(
        "file", metavar="FILE|PLACE", help="what `octavo backup` wrote; of a place, what is newest"
    )
    made.add_argument(
        "--until",
        type=_moment,
        metavar="MOMENT",
        help="of what was followed: as it was then, such as 2026-11-26T14:05 (UTC unless it says otherwise)",
    )
    made.add_argument("--quiet", action="store_true", help="no progress bar")
    made = command("reindex", _reindex, "Make search, references and kept counts anew, while Octavo goes on.")
    made.add_argument(
        "--org", metavar="ORG", help="only those of this organization: its id, host name or title"
    )
    made.add_argument("--quiet", action="store_true", help="no progress bar")
    made = command("verify", _verify, "Check the hashes and references of a backup, or of this installation.")
    made.add_argument(
        "file",
        nargs="?",
        metavar="FILE|PLACE",
        help="a backup, of a place the newest; without, this installation",
    )
    made.add_argument(
        "--fresh",
        type=_milliseconds,
        metavar="DURATION",
        help="of what is followed: it must have been within this, such as 10m",
    )

    group = commands.add_parser("jobs", help="List, show and retry background jobs.").add_subparsers(
        dest="action", required=True
    )
    made = group.add_parser("list", parents=[common], help="List jobs, parked ones first.")
    made.set_defaults(run=_list_jobs)
    made.add_argument("--state", choices=("parked", "running", "waiting"), help="only those in this state")
    made.add_argument("--kind", help="only those of this kind")
    made.add_argument("--limit", type=_positive, default=100, help="how many to list (default: %(default)s)")
    made = group.add_parser("show", parents=[common], help="Show a job with its payload and last error.")
    made.set_defaults(run=_show_job)
    made.add_argument("id", help="which job, as listed")
    made = group.add_parser("retry", parents=[common], help="Have parked jobs run again.")
    made.set_defaults(run=_retry_jobs)
    made.add_argument("id", nargs="*", help="which jobs, as listed")
    made.add_argument("--all", action="store_true", help="every parked job")
    made.add_argument("--kind", help="with --all: every parked job of this kind")
    secrets = commands.add_parser(
        "secrets", help="Change the key of secrets in the database."
    ).add_subparsers(dest="action", required=True)
    made = secrets.add_parser(
        "rotate", parents=[common], help="Seal every secret anew, with the first of the known keys."
    )
    made.set_defaults(run=_rotate)

    made = command("operations", _operations, "List the operations of the API.")
    made.add_argument("name", nargs="?", help="one operation id")
    made.add_argument(
        "--missing", action="store_true", help="what the specification has and the code has not"
    )
    made.add_argument(
        "--spec", type=Path, default=Path("../shared/spec/operations.csv"), help="the specification's table"
    )

    group = commands.add_parser("openapi", help="Compare descriptions of APIs.").add_subparsers(
        dest="action", required=True
    )
    made = group.add_parser(
        "diff",
        parents=[common],
        help="Say what changed between two descriptions; exit code 1 when it breaks callers.",
    )
    made.set_defaults(run=_compare_descriptions)
    made.add_argument("old", type=Path, metavar="OLD", help="a file in OpenAPI, or a .zip of several")
    made.add_argument("new", type=Path, metavar="NEW", help="the same, as it is now")

    group = commands.add_parser("git", help="Look after what is synced with Git.").add_subparsers(
        dest="action", required=True
    )
    for name, text in (
        (
            "status",
            "Say how a space, a collection or a site is synced; exit code 1 when something is in the way.",
        ),
        ("sync", "Sync a space, a collection or a site now, and say how it is then."),
        ("log", "List what the last syncs of a space did."),
    ):
        made = group.add_parser(name, parents=[common], help=text)
        made.set_defaults(run=_git)
        made.add_argument("space", metavar="SPACE", help="its id or title")
        if name == "sync":
            made.add_argument(
                "--first",
                choices=("import", "export"),
                help="where the sync waits for a decision: go on from the repository or from the space",
            )
        if name == "log":
            made.add_argument(
                "--limit", type=_positive, default=20, help="how many to list (default: %(default)s)"
            )

    _add_integrations(commands, common)

    made = command("completion", _completion, "Print a script that completes commands in a shell.")
    made.add_argument("shell", choices=("bash", "fish", "tcsh", "zsh"), help="which shell")
    command("check", _check, "Say what of this installation works, what does not, and why.")
    return parser


def _add_integrations(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    group = commands.add_parser("integrations", help="Write, try and publish integrations.").add_subparsers(
        dest="action", required=True
    )
    calling = argparse.ArgumentParser(add_help=False)
    calling.add_argument("--url", help="of the API (default: where this installation is served)")
    calling.add_argument(
        "--token-file", type=Path, metavar="FILE", help="with a token (default: the first administrator's)"
    )
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("folder", type=Path, metavar="DIR", help="folder with gitbook-manifest.yaml")
    folder.add_argument("--env", dest="environment", metavar="NAME", help="one of the manifest's `envs`")

    made = group.add_parser("new", help="Begin an integration in a new folder.")
    made.set_defaults(run=_start_integration)
    made.add_argument(
        "folder", type=Path, metavar="DIR", help="folder to make; its name becomes the integration's"
    )
    made = group.add_parser(
        "publish", parents=[common, calling, folder], help="Publish an integration, or its next version."
    )
    made.set_defaults(run=_publish_integration)
    made.add_argument("--org", metavar="ORG", help="organization that publishes, before the manifest's")
    made = group.add_parser(
        "pack", parents=[folder], help="Write an integration into one file, which the app publishes."
    )
    made.set_defaults(run=_pack_integration)
    made.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: NAME.integration.json, here)"
    )
    made = group.add_parser(
        "dev",
        parents=[common, calling, folder],
        help="Run a published integration here, and anew with each change, until Ctrl-C.",
    )
    made.set_defaults(run=_develop_integration)
    made.add_argument("--port", type=_port, default=8787, help="port to listen on (default: %(default)s)")
    made.add_argument("--tunnel", metavar="URL", help="public address that leads to that port")
    made.add_argument("--all", action="store_true", help="also events of other organizations")
    made = group.add_parser(
        "install-builtin",
        parents=[common, calling],
        help="Publish and install an integration that comes with Octavo.",
    )
    made.set_defaults(run=_install_builtin)
    made.add_argument("name", nargs="?", metavar="NAME", help="which one; without, they are listed")
    made.add_argument("--org", metavar="ORG", help="organization to publish and install it in")
    made = group.add_parser(
        "offer", parents=[common], help="Offer a public integration to every organization of this server."
    )
    made.set_defaults(run=_offer_integration)
    made.add_argument("name", metavar="NAME", help="of the integration")
    made.add_argument("--stop", action="store_true", help="stop offering it; installations stay")


def _settings_help() -> str:
    import msgspec

    from .settings import PREFIX, Settings

    lines = ["settings (environment, or a file given with --config):"]
    for entry in msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"].items():
        name, schema = entry
        lines.append(f"  {PREFIX}{name.upper():24} {schema['description']} [{schema.get('default', '')}]")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and exits: 0 done, 1 failed, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    os.umask(0o077)  # all that a command makes is for its user alone: SQLite, the file store, temporary files
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
