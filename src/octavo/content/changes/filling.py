"""Initial content of a new space: the pages of a template or of a source."""

from __future__ import annotations

import msgspec

from octavo.content.revisions.computing import ComputedSource, NotFetchedYet, Requester, compute_revision
from octavo.content.revisions.states import Layer, State
from octavo.content.revisions.store import Changes
from octavo.core.json_types import JsonObject
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

from .applying import EditedContent
from .copying import copy_material
from .saving import MakeEdit, edit_live
from .templates.catalog import get_material

_EMPTY = State("", "", (Layer("", 0),))
"""Empty state, used to test content before the space exists."""


def filling_with_template(
    tx: Transaction, actor: Actor, template_id: str, refs: dict[str, JsonObject]
) -> MakeEdit:
    """Return a function that writes a template's pages. ``refs``: the targets of the template's open references, by
    name. If the template or a target is invalid, raises NotFound or BadRequest before the space is created."""
    material = get_material(tx, actor, template_id)
    copy_material(tx, _EMPTY, material, refs)
    return lambda tx, state, _: copy_material(tx, state, material, refs)


def filling_with_source(tx: Transaction, org: OrgAccess, source: ComputedSource) -> MakeEdit:
    """Return a function that writes a placeholder page, which the pages of a source replace later. Raises BadRequest if
    the source is invalid."""
    try:
        compute_revision(tx, Requester("", org.organization_id, org.actor), source, "new")
    except NotFetchedYet:
        pass  # Its pages appear once they have been computed.
    except BadRequest as error:
        raise BadRequest(error.message.replace("source.", "computedSource.", 1)) from None

    def make(tx: Transaction, state: State, _: State | None) -> EditedContent:
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
        return EditedContent(Changes({page.id: page}, {}), [], [], [], [])

    return make


def fill(context: Context, actor: Actor, space_id: str, make: MakeEdit, *, lock: bool) -> None:
    """Write the initial content of a new space. ``lock``: whether to lock the space afterward."""
    with context.db.read() as tx:
        space = space_access(tx, actor, Can.EDIT, space_id)
    edit_live(context, space, make)
    if lock:
        with context.db.write() as tx:
            set_edit_mode(tx, space_id, "locked")
