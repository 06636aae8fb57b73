"""Wire format of a site agent's settings."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.assistants.questions.wire import Location
from octavo.core.document.description import DocumentNodes, DocumentObject
from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.nodes import Document, Text, plain_text, walk
from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SiteAccess

from .agent_settings import AgentSettings, FixableKind, TopicScans, UndoneFix


class AgentScans(Struct):
    """Settings for scans of a site."""

    topics: TopicScans


class AgentFindings(Struct, rename="camel"):
    """Settings for fixing findings. ``changeRequests``: whether the agent creates change requests automatically.
    ``kinds``: the kinds of findings that it fixes. ``changeRequestsPerDay``: the maximum number of its change
    requests in 24 hours."""

    change_requests: Literal["always", "auto-fixable", "never"]
    kinds: Annotated[list[FixableKind], Meta(max_length=10)] = []
    change_requests_per_day: Annotated[int, Meta(ge=1, le=50)] = 5


class AgentEditing(Struct, rename="camel"):
    custom_instructions: DocumentNodes


class UpdateAgentEditing(Struct, rename="camel"):
    custom_instructions: DocumentObject


class UpdateSiteAgentSettings(Struct):
    """New settings of a site's agent."""

    scans: AgentScans
    findings: AgentFindings
    editing: UpdateAgentEditing


class SiteAgentSettings(Struct, rename="camel", kw_only=True):
    """Settings of a site's agent. ``updatedBy``: the person whose permissions the agent has."""

    scans: AgentScans
    findings: AgentFindings
    editing: AgentEditing
    urls: Location
    updated_at: str | UnsetType = UNSET
    updated_by: str | UnsetType = UNSET
    object: Literal["site-agent-settings"] = "site-agent-settings"


class UndoneFixes(Struct):
    items: list[UndoneFix]


def settings_of(body: UpdateSiteAgentSettings) -> AgentSettings:
    """Return the settings in a request body. Raises BadRequest if a setting requires AI-written fixes."""
    change_requests = body.findings.change_requests
    if change_requests == "always":
        raise BadRequest(
            "findings.changeRequests: can't be `always`, because this server doesn't support AI-written fixes. Use"
            " `auto-fixable` instead."
        )
    try:
        instructions = from_json(body.editing.custom_instructions)
    except DocumentError as error:
        raise BadRequest(f"editing.customInstructions: {error}") from None
    if any(isinstance(node, Text) and plain_text(node).strip() for node in walk(instructions)):
        raise BadRequest(
            "editing.customInstructions: must be empty, because this server doesn't support AI-written fixes"
        )
    kinds = list(dict.fromkeys(body.findings.kinds))
    return AgentSettings(body.scans.topics, change_requests, kinds, body.findings.change_requests_per_day)


def present_settings(to: Recipient, site: SiteAccess, row: AgentSettings) -> SiteAgentSettings:
    return SiteAgentSettings(
        scans=AgentScans(row.topics),
        findings=AgentFindings(row.change_requests, row.kinds, row.per_day),
        editing=AgentEditing(Raw(msgspec.json.encode(to_json(Document([]))))),
        urls=Location(to.url(f"/orgs/{site.organization_id}/sites/{site.site_id}/agent-settings")),
        updated_at=iso(row.updated_at) if row.updated_at is not None else UNSET,
        updated_by=row.updated_by or UNSET,
    )
