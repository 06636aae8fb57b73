"""What a new space begins with: the pages of a template, or those that a source gives."""

from __future__ import annotations

from typing import Any

import msgspec

from octavo.content.revisions.computing import NotYet, Requester, Source, compute_revision
from octavo.content.revisions.store import Changes, Layer, State
from octavo.core.pages import Page, rank_between, slugify
from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import OrgAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import set_edit_mode

from .applying import Edited
from .copying import adopt
from .saving import Make, edit_live
from .templates.catalog import get_material

_EMPTY = State("", "", (Layer("", 0),))
"""A state without anything, to try on before there is a space."""


def filling_with_template(
    tx: Transaction, actor: Actor, template_id: str, refs: dict[str, dict[str, Any]]
) -> Make:
    """What writes a template's pages. ``refs``: what it leaves open, by name. Raises NotFound or BadRequest for what is wrong with the choice, so that no
    space is made for it."""
    material = get_material(tx, actor, template_id)
    adopt(tx, _EMPTY, material, refs)
    return lambda tx, state, _: adopt(tx, state, material, refs)


def filling_with_source(tx: Transaction, org: OrgAccess, source: Source) -> Make:
    """What writes the page in whose place the pages of a source are shown. Raises BadRequest naming what is wrong
    with the source."""
    try:
        compute_revision(tx, Requester("", org.organization_id, org.actor), source, "new")
    except NotYet:
        pass  # its pages come once whoever computes them was asked
    except BadRequest as error:
        raise BadRequest(error.message.replace("source.", "computedSource.", 1)) from None

    def make(tx: Transaction, state: State, _: State | None) -> Edited:
        title = "Computed"
        page = Page(
            id=ids.new_id(),
            kind="computed",
            title=title,
            slug=slugify(title),
            rank=rank_between(None, None),
            computed=msgspec.to_builtins(source),
            created_at=now(),
        )
        return Edited(Changes({page.id: page}, {}), [], [], [], [])

    return make


def fill(context: Context, actor: Actor, space_id: str, make: Make, *, lock: bool) -> None:
    """Writes what a new space begins with; ``lock``: and locks it then."""
    with context.db.read() as tx:
        space = space_access(tx, actor, Can.EDIT, space_id)
    edit_live(context, space, make)
    if lock:
        with context.db.write() as tx:
            set_edit_mode(tx, space_id, "locked")
