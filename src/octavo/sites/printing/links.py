"""The links by which prints are fetched: signed, good for an hour on the origin of sites, and no longer than whoever
asked for one sees the space.

Making a link writes nothing: the print begins when somebody opens it.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec
from msgspec import Struct

from octavo.core.pages import slugify
from octavo.kit.clock import now
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
GOOD_FOR = 3_600_000
_PURPOSE = "print"


class Grant(Struct, frozen=True):
    wanted: PrintSubject
    name: str
    by: Grantor


class Opened(Struct, frozen=True):
    """What opening a link gives: the file, or an error for good; neither while it is being made."""

    file: FileGrant | None = None
    size: int | None = None
    error: str | None = None


def print_url(context: Context, actor: Actor, wanted: PrintSubject, title: str) -> str:
    """A link to the print for somebody who sees the space, good for an hour."""
    name = f"{slugify(title)}.pdf"
    payload = msgspec.json.encode(Grant(wanted, name, grantor_of(actor))).decode()
    token = context.signer.sign(_PURPOSE, payload, now() + GOOD_FOR)
    return f"{context.settings.sites_url.rstrip('/')}{PATH}{token}/{quote(name)}"


def open_print(context: Context, token: str) -> Opened | None:
    """The print of a link, ordered if nobody did before; None for a link that is not ours, has expired, or was made for
    somebody who may not see this any more."""
    signed = context.signer.read(_PURPOSE, token)
    if signed is None:
        return None
    try:
        grant = msgspec.json.decode(signed.payload, type=Grant)
    except msgspec.ValidationError:
        return None
    with context.db.read() as tx:
        actor = find_grantor(tx, grant.by, "getSpacePDF")
        if actor is None or find_space_access(tx, actor, Can.VIEW, grant.wanted.space_id) is None:
            return None
        look = find_look(context, tx, grant.wanted.space_id).version
        row = store.find_print(tx, grant.wanted.id_in(look))
    if row is None:
        with context.db.write() as tx:
            row = order_print(tx, grant.wanted, look)
        if row is None:
            return None
    if row.file is None:
        return Opened(error=row.error)
    return Opened(FileGrant(row.file, grant.name, "application/pdf", signed.expires), row.size)
