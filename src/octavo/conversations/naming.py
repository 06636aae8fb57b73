"""Titles and summaries by a language model, where one is set: of issues, and of clusters once they have doubled.

Analysis has given all of them words already, and goes on when the model does not: what it is not asked for today, or
gets wrong, keeps these.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from ..core.wording import shorten
from ..errors import TooManyRequests
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.jobs import enqueue, job, renew
from ..models import Message, Model, ModelFailed, as_data, find_model
from . import store
from .analysing import MAX_SUMMARY, MAX_TITLE
from .describing import MAX_LABEL
from .kinds import Part

JOB = "nameConversations"
_AT_ONCE = 10
"""Issues or clusters that a model is asked for in one call."""
_TEXT = 2000
"""Characters of a conversation that it reads."""
_EXAMPLES = 12
"""Issues of a cluster that it reads."""
_TASK = (
    "You get a JSON object of {what}. Answer with a JSON object that has the same keys, each with an object of two plain"
    ' texts: "title", which says in at most ten words what people ask or what does not work, and "summary", one or two'
    " sentences. Write in the language that they are written in. Say nothing about persons."
)


class Name(Struct, frozen=True):
    title: str
    summary: str


def name_later(tx: Transaction, context: Context, organization_id: str) -> None:
    """Has a model give names to what has none of it, where one is set."""
    if find_model(context, tx, organization_id, None) is not None:
        key = f"{JOB}:{organization_id}"
        enqueue(tx, JOB, organization=organization_id, key=key, organization_id=organization_id)


@job(JOB, bound=None, seconds=1800)
def name_conversations(context: Context, organization_id: str) -> None:
    """Names issues, then clusters, until all are named or the model fails; the next analysis begins again there."""
    with context.db.read() as tx:
        model = find_model(context, tx, organization_id, None)
    if model is None:
        return
    try:
        while _name_issues(context, model) or _name_clusters(context, model):
            renew()
    except (ModelFailed, TooManyRequests):
        # Why, the log of calls says.
        return


def _name_issues(context: Context, model: Model) -> bool:
    with context.db.read() as tx:
        waiting = store.list_unnamed_issues(tx, model.organization_id, _AT_ONCE)
    if not waiting:
        return False
    texts = {}
    for issue in waiting:
        parts = msgspec.json.decode(issue.parts, type=list[Part])
        said = "\n".join(part.body for part in parts)
        texts[issue.id] = f"{issue.title}\n{issue.summary}\n\n{said[:_TEXT]}"
    named = _ask(model, "parts of conversations with readers of documentation", texts)
    with context.db.write() as tx:
        for issue in waiting:
            name = named.get(issue.id, Name(issue.title, issue.summary))
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
            said = (shorten(name.title, MAX_LABEL), shorten(name.summary, MAX_SUMMARY)) if name else None
            store.name_cluster(tx, cluster_id, issues, said)
    return True


def _ask(model: Model, what: str, texts: Mapping[str, str]) -> dict[str, Name]:
    """The names that a model gives; those that it leaves out or gets wrong are missing. Raises as Model.complete."""
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
    messages = [Message("system", _TASK.replace("{what}", what)), Message("user", as_data(asked))]
    said = model.complete("conversations", messages, schema=schema)
    try:
        answer = msgspec.json.decode(said[said.find("{") : said.rfind("}") + 1], type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    found = {}
    for number, raw in answer.items():
        try:
            given = msgspec.json.decode(raw, type=Name)
        except (msgspec.MsgspecError, RecursionError):
            continue
        clean = Name(" ".join(given.title.split()), " ".join(given.summary.split()))
        if number in numbers and clean.title and clean.summary and "\0" not in clean.title + clean.summary:
            found[numbers[number]] = clean
    return found
