"""Name issues with the language model, if one is configured, and rename a cluster each time it doubles in size. The
analysis has already named all issues and clusters. These names are kept if the model is over budget or fails."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from octavo.assistants.models.calling import Model, as_data, find_model
from octavo.assistants.models.provider import ModelFailed, ModelMessage
from octavo.core.sentences import shorten
from octavo.errors import TooManyRequests
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work.jobs import enqueue, job, renew

from . import store
from .analyzing import MAX_SUMMARY, MAX_TITLE
from .describing import MAX_LABEL
from .types import Part

JOB = "nameConversations"
_AT_ONCE = 10
"""Maximum number of issues or clusters in one call to the model."""
_TEXT = 2000
"""Maximum number of characters of a conversation to send to the model."""
_EXAMPLES = 12
"""Maximum number of issues of a cluster to send to the model."""
_TASK = (
    "You get a JSON object of {what}. Answer with a JSON object that has the same keys, each with "
    "an object of two plain"
    ' texts: "title", which says in at most ten words what people ask or what does not work, and "summary", one or two'
    " sentences. Write in the language that they are written in. Say nothing about persons."
)


class IssueName(Struct, frozen=True):
    title: str
    summary: str


def schedule_naming(tx: Transaction, context: Context, organization_id: str) -> None:
    """If a model is configured, schedule the naming of all issues and clusters that it hasn't named yet."""
    if find_model(context, tx, organization_id, None) is not None:
        key = f"{JOB}:{organization_id}"
        enqueue(tx, JOB, organization=organization_id, key=key, organization_id=organization_id)


@job(JOB, bound=None, seconds=1800)
def name_conversations(context: Context, organization_id: str) -> None:
    """Name issues and then clusters, until all are named or the model fails. The next run continues where this run
    stopped."""
    with context.db.read() as tx:
        model = find_model(context, tx, organization_id, None)
    if model is None:
        return
    try:
        while _name_issues(context, model) or _name_clusters(context, model):
            renew()
    except (ModelFailed, TooManyRequests):
        # The model call log has the reason.
        return


def _name_issues(context: Context, model: Model) -> bool:
    with context.db.read() as tx:
        waiting = store.list_unnamed_issues(tx, model.organization_id, _AT_ONCE)
    if not waiting:
        return False
    texts = {}
    for issue in waiting:
        parts = msgspec.json.decode(issue.parts, type=list[Part])
        body = "\n".join(part.body for part in parts)
        texts[issue.id] = f"{issue.title}\n{issue.summary}\n\n{body[:_TEXT]}"
    named = _ask(model, "parts of conversations with readers of documentation", texts)
    with context.db.write() as tx:
        for issue in waiting:
            name = named.get(issue.id, IssueName(issue.title, issue.summary))
            title, summary = shorten(name.title, MAX_TITLE), shorten(name.summary, MAX_SUMMARY)
            store.name_issue(tx, issue, title, summary)
    return True


def _name_clusters(context: Context, model: Model) -> bool:
    with context.db.read() as tx:
        waiting = store.list_unnamed_clusters(tx, model.organization_id, _AT_ONCE)
        texts = {
            cluster_id: "\n".join(
                f"- {title}: {summary}"
                for _, title, summary in store.list_recent_issues(tx, cluster_id, _EXAMPLES)
            )
            for cluster_id, _ in waiting
        }
    if not waiting:
        return False
    named = _ask(model, "groups, each with issues of readers of documentation that are about the same", texts)
    with context.db.write() as tx:
        for cluster_id, issues in waiting:
            name = named.get(cluster_id)
            label = (shorten(name.title, MAX_LABEL), shorten(name.summary, MAX_SUMMARY)) if name else None
            store.name_cluster(tx, cluster_id, issues, label)
    return True


def _ask(model: Model, what: str, texts: Mapping[str, str]) -> dict[str, IssueName]:
    """Return the valid names from a model's answer. Raises the errors of ``Model.complete``."""
    numbers = {str(number): id for number, id in enumerate(texts, 1)}
    name = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "summary": {"type": "string"}},
        "required": ["title", "summary"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": dict.fromkeys(numbers, name),
        "required": list(numbers),
        "additionalProperties": False,
    }
    asked = msgspec.json.encode({number: texts[id] for number, id in numbers.items()}).decode()
    messages = [ModelMessage("system", _TASK.replace("{what}", what)), ModelMessage("user", as_data(asked))]
    written = model.complete("conversations", messages, schema=schema)
    try:
        answer = msgspec.json.decode(
            written[written.find("{") : written.rfind("}") + 1], type=dict[str, msgspec.Raw]
        )
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    found = {}
    for number, raw in answer.items():
        try:
            given = msgspec.json.decode(raw, type=IssueName)
        except (msgspec.MsgspecError, RecursionError):
            continue
        clean = IssueName(" ".join(given.title.split()), " ".join(given.summary.split()))
        if number in numbers and clean.title and clean.summary and "\0" not in clean.title + clean.summary:
            found[numbers[number]] = clean
    return found
