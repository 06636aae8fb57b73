"""The ``import`` command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.cli.commands import DONE, FAILED, QUIET, Failure, command, option
from octavo.cli.opening import find_organization, opened
from octavo.cli.output import print_json, progress

if TYPE_CHECKING:
    from octavo.operations.admin.docs_sites import ImportedSite
    from octavo.operations.admin.import_export import CompletedImport
    from octavo.operations.admin.import_summary import Imported


@command(
    "import",
    option(
        "source",
        nargs="?",
        help="folder, .zip file, Git URL (with optional #ref and //subfolder), or exported organization",
    ),
    option(
        "--from",
        dest="remote",
        metavar="URL",
        help="import through the API at this URL: GitBook, another Octavo server, or the service given with --service",
    ),
    option(
        "--service",
        choices=["octavo", "confluence", "readme"],
        default="octavo",
        help="kind of API at --from; use octavo for GitBook too (default: %(default)s)",
    ),
    option("--user", metavar="EMAIL", help="email address of the token's owner, for Confluence Cloud"),
    option(
        "--from-space",
        action="append",
        metavar="SPACE",
        help="key of a Confluence space, or a ReadMe version; repeat the option for several (default: all)",
    ),
    option(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with the access token for the API at --from; - for standard input",
    ),
    option(
        "--from-org",
        metavar="ORG",
        help="organization at --from, if the token can access more than one: its ID or title",
    ),
    option(
        "--org",
        help="organization of the new space or site, if the server has more than one: its ID, hostname, or title",
    ),
    option("--space", help="import into this existing space: its ID, URL, or title"),
    option("--collection", help="ID of the collection for the new space"),
    option(
        "--title",
        help="title of the new space, or of the new site if the source has several versions or languages",
    ),
    option("--publish", action="store_true", help="publish the imported space or site"),
    option("--site", help="import into this existing site: its ID, URL, or title"),
    option("--new-site", action="store_true", help="create a new site even if one with this title exists"),
    option(
        "--map",
        type=Path,
        metavar="FILE",
        help="YAML file that maps space names, as used in links or docs.yaml, to IDs of spaces on this server",
    ),
    option("--kind", help="format of the source, such as docusaurus or notion (default: detected)"),
    option(
        "--replace",
        action="store_true",
        help="replace everything in the space with the source, including edits made in Octavo",
    ),
    option(
        "--one-space",
        action="store_true",
        help="import only the default version and language, into one space",
    ),
    option("--preview", action="store_true", help="show what would be imported, and import nothing"),
    QUIET,
)
def import_source(options: argparse.Namespace) -> int:
    """Import a folder, a .zip file, or a Git repository as a space or site, or import an organization."""
    if options.remote is not None:
        return _import_from_api(options)
    if options.source is None:
        raise Failure("SOURCE: is required, unless --from names an API to import from")
    return _import_files(options)


def _import_files(options: argparse.Namespace) -> int:
    from octavo.interchange.readers.choosing import KINDS
    from octavo.operations.admin.archives import import_organization, is_organization
    from octavo.operations.admin.import_export import preview

    if is_organization(options.source):
        # A new server can start with an exported organization.
        with opened(options, new=True) as context, progress(options, options.source) as advance:
            moved = import_organization(context, Path(options.source), advance)
        return _print_import(options, moved, moved)
    if options.space is not None and (options.site is not None or options.new_site):
        raise Failure("--space: can't be used with --site or --new-site")
    if options.kind is not None and options.kind not in KINDS:
        raise Failure(f"--kind: must be one of {', '.join(KINDS)}, not {options.kind!r}")
    if options.preview:
        with opened(options) as context:
            several = options.space is None and not options.one_space
            plan = preview(context, options.source, options.kind, several)
        return _print_import(options, plan, plan)
    return _import_pages(options)


def _import_pages(options: argparse.Namespace) -> int:
    from octavo.operations.admin.docs_sites import import_as_site_or_space
    from octavo.operations.admin.import_export import import_space, read_known
    from octavo.operations.admin.lookup import find_named, the_organization

    given = {
        "kind": options.kind,
        "collection_id": options.collection,
        "title": options.title,
        "publish": options.publish,
        "whole": options.replace,
    }
    with opened(options) as context, progress(options, f"Importing {options.source}") as advance:
        given |= {"known": read_known(options.map) if options.map else {}, "progress": advance}
        given["organization_id"] = options.org and find_organization(context, options.org)
        if options.space is None:
            given["organization_id"] = given["organization_id"] or the_organization(context)
            given |= {"site": options.site, "new_site": options.new_site, "several": not options.one_space}
            brought = import_as_site_or_space(context, options.source, **given)
        else:
            space = find_named(context, options.space, ["space"], given["organization_id"])
            brought = import_space(context, options.source, space_id=space.id, **given)
    return _print_brought(options, brought)


def _read_token(path: Path | None) -> str:
    """Read a token from a file or standard input. If the token were an argument, everyone on the machine could see
    it."""
    if path is None:
        raise Failure("--from: requires a token for the API. Provide one with --token-file.")
    try:
        token = sys.stdin.readline() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"--token-file: {error}") from None
    if not token.strip():
        raise Failure("--token-file: must be a file that contains a token, but the file is empty")
    return token.strip()


def _import_from_api(options: argparse.Namespace) -> int:
    from octavo.operations.admin.api_import import ApiImportResult, import_from_api, import_spaces_from_api
    from octavo.operations.admin.lookup import the_organization

    if options.source is not None or options.space is not None or options.site is not None:
        raise Failure(
            "--from: can't be used with SOURCE, --space, or --site, because it imports whole spaces and sites"
        )
    token = _read_token(options.token_file)
    if options.service == "octavo" and (options.from_space or options.user is not None):
        raise Failure(
            "--from-space and --user can only be used with --service confluence or --service readme"
        )
    with opened(options) as context, progress(options, f"Importing {options.remote}") as advance:
        organization = find_organization(context, options.org) if options.org else the_organization(context)
        if options.service != "octavo":
            brought = import_spaces_from_api(
                context,
                options.service,
                options.remote,
                options.user,
                token,
                organization_id=organization,
                collection_id=options.collection,
                wanted=options.from_space or (),
                publish=options.publish,
                progress=advance,
            )
            if not isinstance(brought, ApiImportResult):
                return _print_brought(options, brought)
            moved = brought
        else:
            moved = import_from_api(
                context,
                options.remote,
                token,
                organization_id=organization,
                collection_id=options.collection,
                source=options.from_org,
                publish=options.publish,
                progress=advance,
            )
    _print_import(options, moved, moved)
    return FAILED if moved.stopped else DONE


def _print_brought(options: argparse.Namespace, brought: CompletedImport | ImportedSite) -> int:
    from octavo.operations.admin.import_export import CompletedImport

    described = _describe_space(brought) if isinstance(brought, CompletedImport) else _describe_site(brought)
    return _print_import(options, brought, described)


def _print_import(options: argparse.Namespace, done: Imported, described: object) -> int:
    """Print a summary if the output is a terminal. With ``--json``, or if the output is a pipe, print one JSON
    object (``described``)."""
    from octavo.operations.admin.import_summary import summarize_import

    if options.json or not sys.stdout.isatty():
        print_json(described)
    else:
        print(summarize_import(done))
    return DONE


def _describe_space(one: CompletedImport) -> dict[str, object]:
    import msgspec

    outcome: dict[str, Any] = msgspec.to_builtins(one.outcome)
    return outcome | ({"site": one.site_url} if one.site_url else {})


def _describe_site(brought: ImportedSite) -> dict[str, object]:
    return {
        "site": {"id": brought.site} | ({"url": brought.site_url} if brought.site_url else {}),
        "spaces": {key: _describe_space(one) for key, one in brought.spaces.items()},
        "known": brought.known,
        "problems": brought.problems,
    }
