"""Wire format of agents' feedback."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from octavo.kit.texts import pattern
from octavo.kit.urls import HttpUrl

Flag = Annotated[
    str, Meta(max_length=100, pattern=pattern(r"^[\w.:/+-]+\Z", "be the name of a flag, without its value"))
]
Goal = Annotated[str, Meta(max_length=1024)]
Many = Annotated[int, Meta(ge=0, le=2**53)]


class Reporter(Struct, rename="camel", frozen=True):
    """Agent that gives feedback. ``onDemand``: whether a person asked for the feedback."""

    model: Annotated[str, Meta(max_length=100)] = ""
    user_agent: Annotated[str, Meta(max_length=512)] = ""
    correlation_id: Annotated[str, Meta(max_length=100)] = ""
    on_demand: bool = False


class ToolSubject(Struct, tag_field="kind", tag="mcp-tool", rename="camel", frozen=True):
    tool_name: Annotated[str, Meta(min_length=1, max_length=256)]
    target: Annotated[str, Meta(max_length=512)] = ""

    def __str__(self) -> str:
        return f"MCP tool {self.tool_name} {self.target}".rstrip()


class CommandSubject(Struct, tag_field="kind", tag="cli-command", rename="camel", frozen=True):
    command: Annotated[str, Meta(min_length=1, max_length=512)]
    flags: Annotated[list[Flag], Meta(max_length=50)] = []

    def __str__(self) -> str:
        return " ".join([f"Command {self.command}", *self.flags])


class EndpointSubject(Struct, tag_field="kind", tag="api-endpoint", rename="camel", frozen=True):
    method: Annotated[str, Meta(min_length=1, max_length=16)]
    path: Annotated[str, Meta(min_length=1, max_length=500)]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class DocumentationSubject(Struct, tag_field="kind", tag="documentation", rename="camel", frozen=True):
    url: HttpUrl

    def __str__(self) -> str:
        return ""


class GenericSubject(Struct, tag_field="kind", tag="generic", rename="camel", frozen=True):
    def __str__(self) -> str:
        return ""


Subject = ToolSubject | CommandSubject | EndpointSubject | DocumentationSubject | GenericSubject


class FeedbackMetrics(Struct, rename="camel", frozen=True):
    call_count: Many | None = None
    success_count: Many | None = None
    retry_count: Many | None = None


class FeedbackContent(Struct, rename="camel", frozen=True, kw_only=True):
    category: Literal[
        "usability", "reliability", "documentation", "efficiency", "interoperability", "could-not-accomplish"
    ]
    summary: Annotated[str, Meta(min_length=1, max_length=256)]
    severity: Literal["low", "medium", "high"] | None = None
    goal: Goal = ""
    detail: Annotated[str, Meta(max_length=4096)] = ""
    workaround: Annotated[str, Meta(max_length=2048)] = ""
    metrics: FeedbackMetrics = FeedbackMetrics()


class SubmitFeedback(Struct, rename="camel", frozen=True):
    subject: Subject
    feedback: FeedbackContent
    reported_by: Reporter = Reporter()

    @property
    def text(self) -> str:
        """Return the complete text of the feedback, as insights show it."""
        said, counts = self.feedback, self.feedback.metrics
        kind = ", ".join(filter(None, [said.category, said.severity]))
        parts = {
            "": f"{said.summary} ({kind})",
            "About: ": str(self.subject),
            "Goal: ": said.goal,
            "Workaround: ": said.workaround,
            "Calls: ": _number(counts.call_count),
            "Successful calls: ": _number(counts.success_count),
            "Retries: ": _number(counts.retry_count),
            "Model: ": self.reported_by.model,
            "Correlation: ": self.reported_by.correlation_id,
            "Requested by a person: ": "yes" if self.reported_by.on_demand else "",
        }
        lines = [f"{label}{value}" for label, value in parts.items() if value]
        return "\n".join([*lines, *([said.detail] if said.detail else [])])


def _number(count: int | None) -> str:
    return "" if count is None else str(count)


class SubmittedFeedback(Struct):
    """Feedback that was stored. ``result``: the message for the agent."""

    id: str
    result: str


class SubmitPageFeedback(Struct, rename="camel", kw_only=True):
    feedback: Annotated[str, Meta(min_length=1, max_length=2048)]
    url: HttpUrl
    space_id: str
    page_id: str
    goal: Goal = ""
    source: Literal["mcp", "assistant"] | None = None
