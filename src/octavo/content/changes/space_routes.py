"""Create spaces with initial content."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from octavo.content.revisions.computing import ComputedSource
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.creating import create_space
from octavo.organization.spaces.store import get_space
from octavo.organization.spaces.wire import CreateSpace, Space, present_space

from .filling import fill, filling_with_source, filling_with_template
from .saving import MakeEdit
from .wire import TemplateChoice

operation = Area("spaces").operation


class CreateFilledSpace(CreateSpace, rename="camel"):
    """Settings for a new space with content. ``template``: the template of the initial pages. ``computedSource``: the
    source from which the pages of the space are computed. Provide at most one of these two, and neither of them with
    ``empty``."""

    template: TemplateChoice | None = None
    computed_source: ComputedSource | None = None
    empty: Literal[True] | UnsetType = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template is not None and self.computed_source is not None:
            raise ValueError("template: can't be combined with `computedSource`")
        if self.empty and (self.template is not None or self.computed_source is not None):
            raise ValueError("empty: can't be combined with `template` or `computedSource`")


@operation(
    "createSpace",
    "POST",
    "/orgs/{organizationId}/spaces",
    needs=Can.CREATE_CONTENT,
    status=201,
    errors=(400, 404),
)
def create(call: Call, org: OrgAccess, body: CreateFilledSpace | None) -> Space:
    """Create a space, optionally in the collection `parent`: empty, with the pages of a template, or with
    pages computed from a source. Nothing is created if the template or source is invalid."""
    given = body or CreateFilledSpace()
    make: MakeEdit | None = None
    with call.db.read() as tx:
        if given.template is not None:
            make = filling_with_template(tx, org.actor, given.template.id, given.template.params.content_refs)
        elif given.computed_source is not None:
            make = filling_with_source(tx, org, given.computed_source)
    locked = make is not None and given.edit_mode == "locked"
    with call.db.write() as tx:
        # A locked space can't be filled, so it is locked last.
        made = create_space(
            tx,
            org,
            given.title,
            parent=given.parent,
            emoji=given.emoji,
            language=given.language,
            edit_mode="live" if locked else given.edit_mode,
        )
    if make is not None:
        fill(call.context, org.actor, made.id, make, lock=locked)
    with call.db.read() as tx:
        role = space_access(tx, org.actor, Can.VIEW, made.id).role
        return present_space(call, tx, get_space(tx, made.id), role)
