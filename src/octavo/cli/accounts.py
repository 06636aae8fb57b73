"""Commands for accounts, their tokens and sessions, and organization domains."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from octavo.cli.commands import DONE, CommandGroup, Failure, Option, option
from octavo.cli.opening import find_organization, opened
from octavo.cli.output import show, table, warn
from octavo.cli.values import parse_duration, parse_limit, parse_size_limit
from octavo.kit.texts import counted, say_name

if TYPE_CHECKING:
    from octavo.kit.context import Context

TOKEN = CommandGroup("token", "Create, list, and revoke access tokens.")
SESSION = CommandGroup("session", "List and revoke sessions, and create sign-in links.")
ACCOUNT = CommandGroup("account", "List, change, deactivate, and delete accounts.")
LIMITS = CommandGroup("limits", "Show and set limits for organizations.")
DOMAIN = CommandGroup("domain", "Verify domains for organizations.")

_EMAIL = option("--email", required=True, help="email address of the person")
_ORG = option("--org", metavar="ORG", required=True, help="ID, hostname, or title of the organization")


def _revoked(what: str) -> tuple[Option, Option]:
    """Return the options for revoking one token or session, or all of them."""
    return (
        option("id", nargs="?", help=f"ID of the {what}, as listed"),
        option("--all", action="store_true", help=f"revoke all {what}s"),
    )


@TOKEN.command(
    "create",
    option(
        "--email", required=True, help="email address of the token's owner; the account is created if needed"
    ),
    option("--create", action="store_true", help="create the account without asking"),
    option("--org", metavar="ORG", help="add the owner to this organization: its ID, hostname, or title"),
    option(
        "--role",
        choices=("admin", "create", "review", "edit", "comment", "read", "guest"),
        help="role in the organization given with --org",
    ),
    option("--scopes", nargs="+", metavar="SCOPE", help="limit the token to these scopes"),
    option(
        "--expires",
        type=parse_duration,
        metavar="90d",
        help="time until the token expires, such as 90d or 12h",
    ),
    option(
        "--hand-over",
        action="store_true",
        help=(
            "if the email address was never verified: verify it, and remove the account's password, sessions,"
            " tokens, and agents"
        ),
    ),
)
def create_token(options: argparse.Namespace) -> int:
    """Create an access token and print it."""
    from octavo.operations.admin.credentials import is_known
    from octavo.operations.admin.first_start import token_for

    if options.role and not options.org:
        raise Failure("--role requires --org")
    with opened(options, new=True) as context:
        if not options.create and not is_known(context, options.email):
            _confirm(f"There is no account with the email address {options.email}. Create one? [y/N] ")
        token = token_for(
            context,
            email=options.email,
            organization_id=options.org and find_organization(context, options.org),
            role=options.role,
            scopes=options.scopes,
            lifetime=options.expires,
            hand_over=options.hand_over,
        )
    show(options, {"token": token}, token)
    return DONE


def _confirm(question: str) -> None:
    """Ask for confirmation if the command runs in a terminal. Raises Failure if the person declines."""
    if not sys.stdin.isatty():
        return
    print(question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was changed. Use --create to create the account without confirmation.")


@TOKEN.command("list", _EMAIL)
def list_tokens(options: argparse.Namespace) -> int:
    """List a person's tokens."""
    from octavo.operations.admin.credentials import tokens_of

    with opened(options) as context:
        found = tokens_of(context, options.email)
    return _show_credentials(
        options, found, ("id", "hint", "name", "created_at", "expires_at", "last_used_at")
    )


@TOKEN.command("revoke", _EMAIL, *_revoked("token"))
def revoke_token(options: argparse.Namespace) -> int:
    """Revoke one or all of a person's tokens."""
    from octavo.operations.admin.credentials import revoke_tokens

    return _revoke(options, "token", revoke_tokens)


@SESSION.command("list", _EMAIL)
def list_sessions(options: argparse.Namespace) -> int:
    """List a person's sessions."""
    from octavo.operations.admin.credentials import sessions_of

    with opened(options) as context:
        found = sessions_of(context, options.email)
    return _show_credentials(
        options, found, ("id", "method", "client", "created_at", "expires_at", "last_used_at")
    )


@SESSION.command(
    "revoke",
    option("--email", help="email address of the person"),
    *_revoked("session"),
    option("--everyone", action="store_true", help="revoke everyone's sessions"),
)
def revoke_session(options: argparse.Namespace) -> int:
    """Revoke one or all of a person's sessions, or everyone's sessions."""
    from octavo.operations.admin.credentials import end_sessions, end_sessions_of_everyone

    if not options.everyone:
        if options.email is None:
            raise Failure("specify --email or --everyone")
        return _revoke(options, "session", end_sessions)
    if options.email is not None or options.id is not None or options.all:
        raise Failure("--everyone can't be used with --email, --all, or an ID")
    with opened(options) as context:
        ended = end_sessions_of_everyone(context)
    show(options, {"ended": ended}, f"{counted(ended, 'session')} revoked")
    return DONE


@SESSION.command("link", _EMAIL)
def create_link(options: argparse.Namespace) -> int:
    """Print a single-use sign-in link for a person. The link expires after 15 minutes."""
    from octavo.operations.admin.credentials import sign_in_link

    with opened(options) as context:
        link = sign_in_link(context, options.email)
    show(options, {"url": link}, link)
    return DONE


def _show_credentials(
    options: argparse.Namespace, found: list[dict[str, object]], columns: tuple[str, ...]
) -> int:
    show(
        options,
        [{_camel(name): value for name, value in row.items()} for row in found],
        table(columns, [[row[name] for name in columns] for row in found]),
    )
    return DONE


def _camel(name: str) -> str:
    """Return a name in camel case, as the API spells it, such as ``createdAt``."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _revoke(options: argparse.Namespace, what: str, end: Callable[[Context, str, str | None], int]) -> int:
    if (options.id is None) != options.all:
        raise Failure("specify an ID, or use --all")
    with opened(options) as context:
        ended = end(context, options.email, options.id)
    if options.id is not None and not ended:
        raise Failure(f"{options.email} has no {what} with the ID {options.id!r}")
    show(options, {"ended": ended}, f"{counted(ended, what)} revoked")
    return DONE


@ACCOUNT.command("list", option("--search", metavar="TEXT", help="part of a name or an email address"))
def list_accounts(options: argparse.Namespace) -> int:
    """List people's accounts, newest first."""
    from octavo.kit.clock import iso
    from octavo.operations.admin.credentials import list_accounts as list_all

    with opened(options) as context:
        people = list_all(context, options.search)
    found = [
        {
            "id": one.user.id,
            "email": one.user.email,
            "displayName": one.user.display_name,
            "disabled": bool(one.user.disabled),
            "organizations": one.organizations,
            "lastSeenAt": iso(one.last_seen_at) if one.last_seen_at else None,
        }
        for one in people
    ]
    columns = ("email", "displayName", "disabled", "organizations", "lastSeenAt")
    show(options, found, table(columns, [[row[name] for name in columns] for row in found]))
    return DONE


@ACCOUNT.command("deactivate", _EMAIL)
def deactivate_account(options: argparse.Namespace) -> int:
    """Deactivate an account. Its sessions, tokens, and agents are revoked; its content is kept."""
    return _activate(options, active=False)


@ACCOUNT.command("activate", _EMAIL)
def activate_account(options: argparse.Namespace) -> int:
    """Reactivate a deactivated account."""
    return _activate(options, active=True)


def _activate(options: argparse.Namespace, *, active: bool) -> int:
    from octavo.operations.admin.credentials import set_activation

    with opened(options) as context:
        set_activation(context, options.email, active=active)
    text = f"{options.email} {'reactivated' if active else 'deactivated'}"
    show(options, {"email": options.email, "disabled": not active}, text)
    return DONE


@ACCOUNT.command(
    "change-email", _EMAIL, option("--to", metavar="EMAIL", required=True, help="new email address")
)
def change_email(options: argparse.Namespace) -> int:
    """Change an account's email address. The new address counts as verified."""
    from octavo.operations.admin import credentials

    if "@" not in options.to:
        raise Failure("--to must be an email address")
    with opened(options) as context:
        credentials.change_email(context, options.email, options.to)
    show(options, {"email": options.to}, f"{options.email} is now {options.to}")
    return DONE


@ACCOUNT.command(
    "merge",
    option("--email", required=True, help="email address of the account that is merged and deleted"),
    option("--into", metavar="EMAIL", required=True, help="email address of the account that remains"),
    option("--yes", action="store_true", help="merge the accounts permanently"),
)
def merge_accounts(options: argparse.Namespace) -> int:
    """Merge two accounts that belong to the same person. The merged account's password, sessions, tokens,
    agents, and inbox are deleted."""
    from octavo.operations.admin import credentials

    text = (
        f"Nothing was changed. Use --yes to merge {options.email} into {options.into} and delete the first"
        " account."
    )
    if options.yes:
        with opened(options) as context:
            credentials.merge_accounts(context, options.email, options.into)
        text = f"{options.email} merged into {options.into}. A background job is reassigning its content."
    show(options, {"merged": options.yes, "email": options.into}, text)
    return DONE


@ACCOUNT.command("make-administrator", _EMAIL, _ORG)
def make_administrator(options: argparse.Namespace) -> int:
    """Make a person an administrator of an organization whose administrators have left."""
    from octavo.operations.admin import credentials

    with opened(options) as context:
        organization = find_organization(context, options.org)
        credentials.make_administrator(context, options.email, organization)
    text = f"{options.email} is now an administrator of {organization}"
    show(options, {"email": options.email, "organization": organization}, text)
    return DONE


@ACCOUNT.command("reset-two-factor", _EMAIL)
def reset_second_factor(options: argparse.Namespace) -> int:
    """Turn off two-factor authentication for a person who lost their device."""
    from octavo.operations.admin import credentials

    with opened(options) as context:
        was_on = credentials.reset_second_factor(context, options.email)
    text = f"Two-factor authentication turned off for {options.email}"
    show(
        options,
        {"reset": was_on},
        text if was_on else f"Two-factor authentication wasn't on for {options.email}",
    )
    return DONE


@ACCOUNT.command(
    "delete",
    option("--email", required=True, help="email address of the account"),
    option("--yes", action="store_true", help="delete the account permanently"),
)
def delete_account(options: argparse.Namespace) -> int:
    """Show the data that would be deleted with an account. Use --yes to delete the account."""
    from octavo.operations.admin import credentials

    with opened(options) as context:
        found = credentials.preview_deletion(context, options.email)
        if options.yes:
            credentials.delete_account(context, options.email)
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
    lines = [
        f"{what}: " + ", ".join(counted(count, say_name(name[:-1]).lower()) for name, count in counts.items())
        for what, counts in (("Deleted with the account", ends), ("Kept without a name", stays))
    ]
    lines.append(
        "Account deleted" if options.yes else "Nothing was deleted. Use --yes to delete the account."
    )
    show(options, {"deleted": options.yes, "ends": ends, "stays": stays}, "\n".join(lines))
    return DONE


_LIMIT = {"type": parse_limit, "metavar": "N"}


@LIMITS.command("show", _ORG)
def show_limits(options: argparse.Namespace) -> int:
    """Show an organization's usage and limits."""
    from octavo.operations.admin.credentials import show_limits as read
    from octavo.organization.access.limits import format_amount

    with opened(options) as context:
        found = read(context, find_organization(context, options.org))

    rows = [
        [
            name,
            None if used is None else format_amount(name, used),
            "unlimited" if limit is None else format_amount(name, limit),
        ]
        for name, used, limit in found
    ]
    show(
        options,
        [{"resource": name, "used": used, "limit": limit} for name, used, limit in found],
        table(("resource", "used", "limit"), rows),
    )
    return DONE


@LIMITS.command(
    "set",
    _ORG,
    option("--members", **_LIMIT, help="members; use `none` for no limit"),
    option("--agents", **_LIMIT, help="connected agents"),
    option("--pages", **_LIMIT, help="pages in all spaces"),
    option("--storage", type=parse_size_limit, metavar="SIZE", help="size of all files, such as 50GB"),
    option("--requests", **_LIMIT, help="API requests per minute"),
)
def set_limits(options: argparse.Namespace) -> int:
    """Set limits for an organization. Limits that you leave out stay the same."""
    from octavo.operations.admin.credentials import change_limits
    from octavo.operations.admin.credentials import show_limits as read
    from octavo.operations.admin.lookup import find_named
    from octavo.organization.access.limits import NAMES, format_amount

    names = ("members", "agents", "pages", "storage", "requests")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    if not given:
        raise Failure("specify at least one limit, such as --pages 1000")
    with opened(options) as context:
        organization = find_named(context, options.org, ["organization"])
        change_limits(context, organization.id, {name: value.number for name, value in given.items()})
        for name, used, limit in read(context, organization.id):
            if name in given and used is not None and limit is not None and used > limit:
                warn(
                    f"{organization.title} already has {format_amount(name, used)} {NAMES[name]}. They are kept, but no"
                    " more can be added."
                )
    show(options, {"organization": organization.id}, f"Limits for {organization.title} changed")
    return DONE


@DOMAIN.command(
    "verify",
    option("domain", metavar="DOMAIN", help="domain in the organization's `emailDomains`"),
    _ORG,
)
def verify_domain(options: argparse.Namespace) -> int:
    """Verify an organization's email domain."""
    from octavo.operations.admin import verification

    with opened(options) as context:
        organization = find_organization(context, options.org)
        verification.verify_domain(context, organization, options.domain)
    domain = options.domain.lower()
    show(options, {"organization": organization, "domain": domain}, f"{domain} verified")
    return DONE


@DOMAIN.command(
    "trust",
    _ORG,
)
def trust_organization(options: argparse.Namespace) -> int:
    """Let an organization use any domain and path for its sites without verifying them."""
    from octavo.operations.admin.verification import trust

    with opened(options) as context:
        organization = find_organization(context, options.org)
        trust(context, organization)
    text = f"Domains of {organization} no longer need to be verified"
    show(options, {"organization": organization}, text)
    return DONE
