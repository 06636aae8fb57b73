"""Commit authors and messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from octavo.content.changes.store import ChangeRow, find_change, list_contributors
from octavo.content.revisions.history import RevisionRow, list_revisions
from octavo.content.revisions.states import State
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import (
    UserRow,
    find_user_by_email,
    has_verified_email,
    list_users_by_id,
)
from octavo.organization.access.authorization import role_of_member

DEFAULT_MESSAGE = "OCTAVO-{change_request_number}: {change_request_subject}"
NO_SUBJECT = "No subject"
_PLACEHOLDER = re.compile(r"\{(change_request_number|change_request_subject)\}")
_MOST_REVISIONS = 200
_MOST_PEOPLE = 20


class CommitPerson(Struct, frozen=True):
    name: str
    email: str

    def line(self) -> bytes:
        return f"{_plain(self.name)} <{_plain(self.email)}>".encode()


def _plain(text: str) -> str:
    return "".join(sign for sign in text if sign not in "<>\n\r\0").strip() or "-"


class CommitDescription(Struct, frozen=True):
    """Commit message, and the authors of the changes."""

    message: str
    author: CommitPerson | None


def find_writers(tx: Transaction, organization_id: str, people: Iterable[CommitPerson]) -> set[str]:
    """Return the members whose verified email addresses appear in commits. Anyone can put any email address in a
    commit, so use the result only to restrict permissions, never to grant them."""
    found = set()
    for email in {person.email for person in people if person.email}:
        user = find_user_by_email(tx, email)
        if user is not None and not user.disabled and has_verified_email(tx, user.id):
            if role_of_member(tx, organization_id, user.id)[0]:
                found.add(user.id)
    return found


def describe(tx: Transaction, state: State, since: int, template: str) -> CommitDescription:
    """Return a commit message, with authors, that describes the main revisions after a sequence number and up to a
    state."""
    revisions: list[RevisionRow] = []
    token: str | None = None
    while len(revisions) < _MOST_REVISIONS:
        found = list_revisions(tx, state.space_id, 50, token)
        revisions += [row for row in found.rows if since < row.sequence <= state.layers[0].sequence]
        token = found.next_token
        if token is None or (found.rows and found.rows[-1].sequence <= since):
            break
    revisions = [row for row in revisions if row.git is None]
    changes = [
        change
        for row in revisions
        if row.merged_from and (change := find_change(tx, state.space_id, row.merged_from)) is not None
    ]
    ids = [change.created_by for change in changes] + [row.author for row in revisions]
    people = list_users_by_id(tx, [id for id in ids if id])
    ordered = [people[id] for id in dict.fromkeys(ids) if id in people][:_MOST_PEOPLE]
    if changes:
        newest = changes[0]
        message = filled(template, newest.number, newest.subject)
        rest = [f"{filled(template, change.number, change.subject)}" for change in changes[1:]]
        body = "\n".join(f"* {line}" for line in dict.fromkeys(rest))
    else:
        message, body = "Edited in Octavo", ""
    return _said(message, body, ordered)


def describe_change(tx: Transaction, change: ChangeRow, template: str) -> CommitDescription:
    """Return a commit message, with authors, that describes the edits in a change request."""
    ids = dict.fromkeys(
        [person.user_id for person in list_contributors(tx, change.id) if person.action == "edit"]
    )
    ids.setdefault(change.created_by)
    people = list_users_by_id(tx, list(ids)[:_MOST_PEOPLE])
    return _said(
        filled(template, change.number, change.subject), "", [people[id] for id in ids if id in people]
    )


def _said(message: str, body: str, people: Sequence[UserRow]) -> CommitDescription:
    trailers = "\n".join(
        f"Co-authored-by: {CommitPerson(user.display_name, user.email).line().decode()}"
        for user in people[1:]
    )
    whole = "\n\n".join(part for part in (message, body, trailers) if part)
    return CommitDescription(whole, CommitPerson(people[0].display_name, people[0].email) if people else None)


def filled(template: str, number: int, subject: str) -> str:
    """Return the commit message for a change request, based on a template."""
    values = {"change_request_number": str(number), "change_request_subject": subject.strip() or NO_SUBJECT}
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
