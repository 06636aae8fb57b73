"""Wire types for templates."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from ..wire import TemplateChoice
from .catalog import TemplateEntry


class ApplyTemplate(TemplateChoice, rename="camel", kw_only=True):
    """Request to apply a template. ``changeRequestId``: the change request to add the template to; by default, main."""

    change_request_id: str | UnsetType = UNSET


class Template(Struct, rename="camel", kw_only=True):
    id: str
    title: str
    description: str
    content_refs: list[str]
    kind: Literal["builtin", "space"]
    object: Literal["space-template"] = "space-template"
    icon: str | UnsetType = UNSET


def present_template(row: TemplateEntry) -> Template:
    return Template(
        id=row.id,
        title=row.title,
        description=row.description,
        content_refs=row.refs,
        kind="space" if row.space else "builtin",
        icon=row.icon or UNSET,
    )
