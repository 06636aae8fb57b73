"""Wire format of agent instructions and model calls."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from octavo.core.document.description import DocumentNodes, DocumentObject
from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient

from .store import CallRow


class UpdateInstructions(Struct):
    instructions: DocumentObject


class InstructionsLocation(Struct):
    location: str


class AgentInstructions(Struct, rename="camel", kw_only=True):
    """Instructions of an organization. ``updated_by``: the author of the last update; empty until they are
    first set."""

    object: Literal["agent-instructions"] = "agent-instructions"
    instructions: DocumentNodes
    updated_at: str
    updated_by: str
    urls: InstructionsLocation


class ModelCall(Struct, rename="camel", kw_only=True):
    """Model call. ``duration``: the duration in milliseconds. ``cost``: the cost in the currency of the configured
    prices. ``request`` and ``answer``: the content, which is included only if content is logged."""

    object: Literal["model-call"] = "model-call"
    id: str
    user: str | UnsetType = UNSET
    purpose: str
    model: str
    status: Literal["ok", "failed", "abandoned"]
    error: str | UnsetType = UNSET
    input_tokens: int
    output_tokens: int
    cost: float
    duration: int
    created_at: str
    request: Raw | UnsetType = UNSET
    answer: str | UnsetType = UNSET


def present_instructions(
    to: Recipient, organization_id: str, instructions: str, updated_at: int, updated_by: str
) -> AgentInstructions:
    return AgentInstructions(
        instructions=Raw(instructions.encode()),
        updated_at=iso(updated_at),
        updated_by=updated_by,
        urls=InstructionsLocation(to.url(f"/orgs/{organization_id}/agent-instructions")),
    )


def present_call(row: CallRow) -> ModelCall:
    return ModelCall(
        id=row.id,
        user=row.user_id or UNSET,
        purpose=row.purpose,
        model=row.model,
        status=row.status,  # type: ignore[arg-type]
        error=row.error if row.error is not None else UNSET,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost=row.cost_micros / 1_000_000,
        duration=row.duration,
        created_at=iso(row.created_at),
        request=Raw(row.request.encode()) if row.request is not None else UNSET,
        answer=row.answer if row.answer is not None else UNSET,
    )
