"""Commands for accounts, their tokens and sessions, and the domains of organizations."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from octavo.cli.commands import DONE, CommandGroup, Failure, option
from octavo.cli.opening import find_organization, opened
from octavo.cli.output import show, table
from octavo.cli.values import parse_duration
from octavo.kit.texts import counted, say_name

if TYPE_CHECKING:
    from octavo.kit.context import Context

TOKEN = CommandGroup("token", "Create, list, and revoke access tokens.")
SESSION = CommandGroup("session", "List and revoke sessions, and create sign-in links.")
ACCOUNT = CommandGroup("account", "Delete accounts.")
DOMAIN = CommandGroup("domain", "Verify domains for organizations.")

_EMAIL = option("--email", required=True, help="email address of the person")
_ORG = option("--org", metavar="ORG", required=True, help="id, host name, or title of the organization")


@TOKEN.command(
    "create",
    option(
        "--email", required=True, help="email address of the token's owner; the account is created if needed"
    ),
    option("--create", action="store_true", help="create the account without asking"),
    option("--org", metavar="ORG", help="add the owner to this organization: its id, host name, or title"),
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
        help="if the email address was never verified: verify it, and remove the password, sessions, tokens, and"
        " agents of the account",
    ),
)
def create_token(options: argparse.Namespace) -> int:
    """Create an access token and print it."""
    from octavo.operations.admin.credentials import is_known
    from octavo.operations.admin.first_start import token_for

    if options.role and not options.org:
        raise Failure("--role needs --org")
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
    """Ask a person at a terminal; scripts are not asked. Raises Failure if they say no."""
    if not sys.stdin.isatty():
        return
    print(question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was changed. Use --create to create the account without asking")


@TOKEN.command("list", _EMAIL)
def list_tokens(options: argparse.Namespace) -> int:
    """List a person's tokens."""
    from octavo.operations.admin.credentials import tokens_of

    with opened(options) as context:
        found = tokens_of(context, options.email)
    return _show_credentials(
        options, found, ("id", "hint", "name", "created_at", "expires_at", "last_used_at")
    )


@TOKEN.command(
    "revoke",
    _EMAIL,
    option("id", nargs="?", help="id of the token, as listed"),
    option("--all", action="store_true", help="revoke all tokens"),
)
def revoke_token(options: argparse.Namespace) -> int:
    """Revoke a person's token, or all of them."""
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
    _EMAIL,
    option("id", nargs="?", help="id of the session, as listed"),
    option("--all", action="store_true", help="revoke all sessions"),
)
def revoke_session(options: argparse.Namespace) -> int:
    """Revoke a person's session, or all of them."""
    from octavo.operations.admin.credentials import end_sessions

    return _revoke(options, "session", end_sessions)


@SESSION.command("link", _EMAIL)
def create_link(options: argparse.Namespace) -> int:
    """Print a link that signs a person in once. It expires after 15 minutes."""
    from octavo.operations.admin.credentials import sign_in_link

    with opened(options) as context:
        link = sign_in_link(context, options.email)
    show(options, {"url": link}, link)
    return DONE


def _show_credentials(
    options: argparse.Namespace, found: list[dict[str, Any]], columns: tuple[str, ...]
) -> int:
    show(
        options,
        [{_camel(name): value for name, value in row.items()} for row in found],
        table(columns, [[row[name] for name in columns] for row in found]),
    )
    return DONE


def _camel(name: str) -> str:
    """Return a name as the API spells it, such as ``createdAt``."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _revoke(options: argparse.Namespace, what: str, end: Callable[[Context, str, str | None], int]) -> int:
    if (options.id is None) != options.all:
        raise Failure("give an id, or use --all")
    with opened(options) as context:
        ended = end(context, options.email, options.id)
    if options.id is not None and not ended:
        raise Failure(f"{options.email} has no {what} {options.id!r}")
    show(options, {"ended": ended}, f"{counted(ended, what)} revoked")
    return DONE


@ACCOUNT.command(
    "delete",
    option("--email", required=True, help="email address of the account"),
    option("--yes", action="store_true", help="delete the account permanently"),
)
def delete_account(options: argparse.Namespace) -> int:
    """Show what would be deleted with an account. Use --yes to delete it."""
    from octavo.operations.admin import credentials

    with opened(options) as context:
        found = credentials.foresee_deletion(context, options.email)
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


@DOMAIN.command(
    "verify",
    option("domain", metavar="DOMAIN", help="domain in the organization's `emailDomains`"),
    _ORG,
)
def verify_domain(options: argparse.Namespace) -> int:
    """Verify an email domain of an organization."""
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
