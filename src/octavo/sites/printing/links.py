"""Links to PDFs. Links are signed, and use the sites domain. They are valid for an hour, as long as the person who
requested the link can see the space and the restricted pages stay the same.

Creating a link doesn't create the PDF. It is created when someone opens the link."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
from msgspec import Struct

from octavo.content.revisions.restrictions import unrestricted
from octavo.content.revisions.states import State, revision_state
from octavo.core.pages import slugify
from octavo.errors import NotFound
from octavo.kit.clock import HOUR, now
from octavo.kit.context import Context
from octavo.kit.files import FileGrant
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.access.tokens import Grantor, find_grantor, grantor_of

from . import store
from .print_job import order_print
from .store import PrintSubject
from .styles import find_look

PATH = "/~pdf/"
GOOD_FOR = HOUR
_PURPOSE = "print"


class PrintGrant(Struct, frozen=True):
    wanted: PrintSubject
    name: str
    by: Grantor


class OpenedPrint(Struct, frozen=True):
    """Result of opening a link: the file, a permanent error, or neither while the PDF is being created."""

    file: FileGrant | None = None
    size: int | None = None
    error: str | None = None


def print_url(context: Context, actor: Actor, wanted: PrintSubject, title: str) -> str:
    """Return a link to a PDF for a person who can see the space. The link is valid for an hour."""
    name = f"{slugify(title)}.pdf"
    payload = msgspec.json.encode(PrintGrant(wanted, name, grantor_of(actor))).decode()
    token = context.signer.sign(_PURPOSE, payload, now() + GOOD_FOR)
    return f"{context.settings.sites_url.rstrip('/')}{PATH}{token}/{quote(name)}"


def hidden_key(state: State) -> str:
    """Return a key that identifies the pages that are hidden in a state."""
    return state.limits.key if state.limits is not None else ""


def open_print(context: Context, token: str) -> OpenedPrint | None:
    """Return the PDF that a link points to, and enqueue its creation if necessary. Return None if the link is
    invalid or has expired, if the person who requested it can no longer see the content, or if page restrictions
    have changed since the link was created."""
    signed = context.signer.read(_PURPOSE, token)
    if signed is None:
        return None
    try:
        grant = msgspec.json.decode(signed.payload, type=PrintGrant)
    except msgspec.ValidationError:
        return None
    with context.db.read() as tx:
        actor = find_grantor(tx, grant.by, "getSpacePDF")
        if actor is None or find_space_access(tx, actor, Can.VIEW, grant.wanted.space_id) is None:
            return None
        try:
            state = revision_state(tx, grant.wanted.space_id, grant.wanted.revision_id)
        except NotFound:
            return None
        if hidden_key(unrestricted(tx, state)) != grant.wanted.hidden:
            return None  # The PDF contains pages that have since been restricted, or lacks other pages.
        look = find_look(context, tx, grant.wanted.space_id).version
        row = store.find_print(tx, grant.wanted.id_in(look))
    if row is None:
        with context.db.write() as tx:
            row = order_print(tx, grant.wanted, look)
        if row is None:
            return None
    if row.file is None:
        return OpenedPrint(error=row.error)
    return OpenedPrint(FileGrant(row.file, grant.name, "application/pdf", signed.expires), row.size)
