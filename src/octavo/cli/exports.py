"""Commands that export content and check sites."""

from __future__ import annotations

import argparse
from pathlib import Path

from octavo.cli.commands import DONE, FAILED, QUIET, WRONG_USAGE, Failure, command, option
from octavo.cli.opening import find_organization, load_settings, opened
from octavo.cli.output import progress, show, warn
from octavo.cli.values import parse_positive
from octavo.errors import BadRequest, NotFound
from octavo.kit.texts import counted

_FOLDER = option("folder", type=Path, metavar="DIR", help="folder to write to; created if needed")


@command(
    "export",
    option("name", nargs="?", metavar="SPACE|SITE", help="ID, URL, or title of the space or site"),
    _FOLDER,
    option("--revision", help="export this revision of a space: its ID"),
    option(
        "--organization", metavar="ORG", help="export this whole organization: its ID, hostname, or title"
    ),
)
def export(options: argparse.Namespace) -> int:
    """Export a space, a site, or a whole organization as files."""
    from octavo.operations.admin.archives import export_organization
    from octavo.operations.admin.docs_sites import export_site_files
    from octavo.operations.admin.import_export import export_space
    from octavo.operations.admin.lookup import find_named

    if (options.name is None) == (options.organization is None):
        raise Failure("specify a space or a site, or use --organization to export a whole organization")
    with opened(options) as context, progress(options, f"Exporting to {options.folder}"):
        if options.organization is not None:
            organization = find_organization(context, options.organization)
            moved = export_organization(context, organization, options.folder)
            show(options, moved, f"Exported {counted(moved.spaces, 'space')} to {options.folder}")
            return DONE
        # A site often has the same title as its space, and people who export files usually mean the space.
        named = find_named(context, options.name, ["space", "site"], prefers="space")
        if named.kind == "space":
            outcome = export_space(context, named.id, options.folder, revision_id=options.revision)
        elif options.revision is not None:
            raise Failure(f"--revision: can only be used with spaces, but {named.title} is a site")
        else:
            outcome = export_site_files(context, named.id, options.folder)
    show(options, outcome, f"Exported {counted(outcome['files'], 'file')} to {options.folder}")
    return DONE


@command(
    "publish",
    option("site", metavar="SITE", help="ID, URL, or title of the site"),
    _FOLDER,
    option("--base", default="/", help="URL or path that the files will be served at (default: %(default)s)"),
    QUIET,
)
def publish(options: argparse.Namespace) -> int:
    """Export a public site as static files for any web server."""
    from octavo.operations.admin.lookup import find_named
    from octavo.operations.admin.static_export import export_site

    with opened(options) as context:
        site = find_named(context, options.site, ["site"])
        with progress(options, f"Exporting to {options.folder}") as advance:
            done = export_site(context, site.id, options.folder, base=options.base, progress=advance)
    text = (
        f"Published {counted(done.pages, 'page')} to {options.folder}: {counted(done.written, 'file')} written,"
        f" {done.unchanged} unchanged, {done.removed} removed. Search, ratings, and API testing need a server and"
        " aren't included."
    )
    show(options, done, text)
    for source in done.left_out:
        warn(f"the redirect from {source} wasn't included: static files can't redirect all URLs under a path")
    for address in done.broken:
        warn(f"a page has a broken link to {address}")
    return DONE


@command(
    "check-site",
    option(
        "site",
        metavar="URL|SITE",
        help="start URL of any site, or the ID, title, or URL without https:// of a site on this server",
    ),
    option(
        "--external",
        type=parse_positive,
        default=0,
        metavar="N",
        help="also check up to N links to other sites (default: none)",
    ),
    option(
        "--addresses",
        type=parse_positive,
        default=5_000,
        help="maximum number of URLs to check (default: %(default)s)",
    ),
    option(
        "--megabytes",
        type=parse_positive,
        default=500,
        help="maximum size to download (default: %(default)s)",
    ),
    option("--seconds", type=parse_positive, default=900, help="maximum duration (default: %(default)s)"),
    option(
        "--format",
        choices=("text", "markdown", "sarif"),
        default="text",
        help="format of the report; use sarif for annotations on code hosts (default: %(default)s)",
    ),
    QUIET,
)
def check_site(options: argparse.Namespace) -> int:
    """Check the links, images, and files for AI agents on a published site. The exit code is 1 if there are
    problems."""
    from importlib.metadata import version

    from octavo.operations.admin import site_checks
    from octavo.operations.admin.lookup import find_named
    from octavo.operations.admin.site_reports import markdown_report, sarif_report

    bounds = site_checks.CheckLimits(
        addresses=options.addresses,
        size=options.megabytes * 1_000_000,
        seconds=options.seconds,
        external=options.external,
    )
    try:
        if options.site.lower().startswith(("http://", "https://")):
            allowed = load_settings(options).allow_private_fetch
            with progress(options, f"Checking {options.site}") as advance:
                report = site_checks.check_url(options.site, bounds, allowed, advance)
        else:
            with opened(options) as context:
                site = find_named(context, options.site, ["site"])
                with progress(options, f"Checking {site.title}") as advance:
                    report = site_checks.check_site(context, site.id, bounds, advance)
    except (BadRequest, NotFound) as error:
        # Exit code 1 means that the site has problems, so a wrong URL must have a different one.
        warn(str(error))
        return WRONG_USAGE
    if options.format != "text" and not options.json:
        print(
            markdown_report(report)
            if options.format == "markdown"
            else sarif_report(report, version("octavo"))
        )
        return FAILED if report.problems else DONE
    lines = []
    for page in report.found:
        lines.append(page.page)
        lines.extend(f"  {problem.rule}: {problem.text}" for problem in page.problems)
    found = counted(report.problems, "problem") if report.problems else "no problems"
    links = f"{counted(report.external, 'external link')} checked, {report.external_left} not checked"
    lines.append(f"{counted(report.pages, 'page')}: {found}; {links}")
    show(options, report, "\n".join(lines))
    return FAILED if report.problems else DONE
