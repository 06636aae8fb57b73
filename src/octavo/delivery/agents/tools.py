"""Tools that agents use. Each performs API operations as the person who connected the agent, and changes are
logged under the agent's name.

Nothing that an agent reads changes its permissions: the effect of a tool depends on its arguments and the
person's permissions, never on the text of a page or comment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from octavo.core.json_types import JsonObject
from octavo.errors import OctavoError
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Database
from octavo.kit.http.mcp import RefusedTool, Tool, ToolText
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit

from . import store

MAX_DRAFTS, MAX_PAGES, MAX_OTHERS = 50, 500, 300
"""Daily limits per agent: the maximum number of change requests created, pages edited, and other actions
(comments, replies, reviews, review requests, and edits to a change request's subject or status)."""
MAX_WAITING = 100
"""Maximum number of open change requests per agent at a time."""
_TEXT = 40_000
"""Maximum number of characters in one response, about 10,000 tokens."""

Id = Annotated[str, Meta(min_length=1, max_length=100)]
Words = Annotated[str, Meta(min_length=1, max_length=20_000)]
Cursor = Annotated[str, Meta(max_length=500, description="The `next` value of an earlier response")] | None
Start = Annotated[int, Meta(ge=0, le=2**53, description="The first character to return, for long texts")]
Space = Annotated[str, Meta(min_length=1, max_length=100, description="The ID of a space")]
Change = Annotated[
    str, Meta(min_length=1, max_length=100, description="The ID or number of a change request in the space")
]


class ToolCaller(Struct, frozen=True):
    """Caller of the tools. ``perform``: a function that performs an operation as the caller, given its path, query, and
    body. ``agent``: the ID of the connection; empty for another kind of token."""

    perform: Callable[[str, dict[str, str], dict[str, Any], Any], Any]
    db: Database
    actor: Actor
    organization_id: str

    @property
    def agent(self) -> str:
        return self.actor.token_id if self.agent_name is not None else ""

    @property
    def agent_name(self) -> str | None:
        return self.actor.agent

    def ask(
        self, operation: str, path: dict[str, str], query: JsonObject | None = None, body: object = None
    ) -> Any:
        """Return an operation's response. If it fails, raises RefusedTool with the error message."""
        try:
            return self.perform(operation, path, query or {}, body)
        except OctavoError as error:
            raise RefusedTool(f"{error.status}: {error.message}") from None

    def change(
        self,
        operation: str,
        path: dict[str, str],
        body: object = None,
        *,
        query: JsonObject | None = None,
        pages: int = 0,
        parent: str | None = None,
    ) -> Any:
        """Call an operation that makes a change, and log it."""
        self._require_budget(operation, pages)
        change = path.get("changeRequestId")
        if change is not None:
            # A change request's number is unique only within its space. Resolve it first, so that the change
            # is logged no matter what happens next.
            where = {name: path[name] for name in ("spaceId", "changeRequestId")}
            change = self.ask("getChangeRequestById", where)["id"]
            path = {**path, "changeRequestId": change}
        made = self.ask(operation, path, query, body)
        id = made.get("id") if isinstance(made, dict) else None
        if operation == "createChangeRequest":
            change = id
        if self.agent:
            act = store.ActRow(
                ids.new_id(), operation, path.get("spaceId"), change, id, parent, pages, now(), None
            )
            details = {"operation": operation, "space": act.space_id, "changeRequest": change}
            with self.db.write() as tx:
                store.insert_act(tx, self.agent, act)
                audit(
                    tx, self.actor, "agent.acted", self.organization_id, ("agent", self.agent), after=details
                )
        return made

    def _require_budget(self, operation: str, pages: int) -> None:
        """Raise RefusedTool if the agent has reached a daily limit."""
        if not self.agent:
            return
        with self.db.read() as tx:
            day, waiting = store.count_day(tx, self.agent), store.count_waiting(tx, self.agent)
        if operation == "createChangeRequest":
            if day.drafts >= MAX_DRAFTS:
                raise RefusedTool(
                    f"429: an agent can create at most {MAX_DRAFTS} change requests per day. Try again "
                    "tomorrow."
                )
            if waiting >= MAX_WAITING:
                raise RefusedTool(
                    f"429: {waiting} of your change requests are still open, which is the limit. Have one of"
                    " them merged or archived first."
                )
        elif pages:
            if day.pages + pages > MAX_PAGES:
                raise RefusedTool(
                    f"429: an agent can edit at most {MAX_PAGES} pages per day. Try again tomorrow."
                )
        elif day.others >= MAX_OTHERS:
            raise RefusedTool(
                f"429: an agent can comment, review, and request reviews at most {MAX_OTHERS} times per "
                "day. Try again tomorrow."
            )


def _say(found: object, start: int = 0) -> ToolText:
    """Return a response as JSON text, truncated to the maximum length of a response. The structured content isn't
    truncated."""
    text = found if isinstance(found, str) else msgspec.json.encode(found).decode()
    part = text[start : start + _TEXT]
    left = len(text) - start - len(part)
    if left > 0:
        return ToolText(f"{part}\n\n[{left} more characters: call again with start={start + _TEXT}.]")
    if start or not isinstance(found, (dict, list)):
        return ToolText(part)
    return ToolText(part, data=found if isinstance(found, dict) else {"items": found})


def _slim(page: JsonObject) -> JsonObject:
    """Return the fields of a listed page that an agent needs."""
    kept = {name: page[name] for name in ("id", "title", "path", "description", "type") if page.get(name)}
    if page.get("pages"):
        kept["pages"] = [_slim(below) for below in page["pages"]]
    return kept


class Find(Struct, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, max_length=500)]
    space: Space | None = None
    next: Cursor = None
    start: Start = 0


def _find(on: ToolCaller, asked: Find) -> ToolText:
    query = {"query": asked.query.replace("\0", " "), "limit": 20, "page": asked.next}
    if asked.space is not None:
        return _say(on.ask("searchSpaceContent", {"spaceId": asked.space}, query), asked.start)
    path = {"organizationId": on.organization_id}
    return _say(on.ask("searchOrganizationContent", path, query), asked.start)


class ListAll(Struct, forbid_unknown_fields=True):
    next: Cursor = None
    start: Start = 0


def _of_organization(operation: str) -> Callable[[ToolCaller, Any], ToolText]:
    def use(on: ToolCaller, asked: ListAll) -> ToolText:
        path = {"organizationId": on.organization_id}
        found = on.ask(operation, path, {"limit": 50, "page": asked.next})
        kept = [
            {name: one[name] for name in ("id", "title", "urls") if name in one} for one in found["items"]
        ]
        return _say({"items": kept, "next": found.get("next", {}).get("page")}, asked.start)

    return use


class ListPages(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change | None = None
    start: Start = 0


def _at(operation: str, space: str, change: str | None) -> tuple[str, dict[str, str]]:
    """Return the operation on a space, or its counterpart if the call is for a change request, with the path
    parameters."""
    if change is None:
        return operation, {"spaceId": space}
    named = {"getPageById": "getPageInChangeRequestById", "listPages": "listPagesInChangeRequest"}
    other = named.get(operation, operation.replace("InSpace", "InChangeRequest"))
    return other, {"spaceId": space, "changeRequestId": change}


def _list_pages(on: ToolCaller, asked: ListPages) -> ToolText:
    operation, path = _at("listPages", asked.space, asked.change_request)
    found = on.ask(operation, path)
    return _say([_slim(page) for page in found["pages"]], asked.start)


class ReadPage(Struct, forbid_unknown_fields=True):
    space: Space
    page: Id
    change_request: Change | None = None
    format: Annotated[
        Literal["markdown", "document"],
        Meta(description="document: nodes with keys, which you need to edit individual blocks"),
    ] = "markdown"
    start: Start = 0


def _read_page(on: ToolCaller, asked: ReadPage) -> ToolText:
    operation, path = _at("getPageById", asked.space, asked.change_request)
    page = on.ask(operation, {**path, "pageId": asked.page}, {"format": asked.format})
    text = page.pop("markdown", None)
    if text is None:
        return _say(page, asked.start)
    shown = _say(text, asked.start)
    slim = _slim(page)
    head = "" if asked.start else f"{msgspec.json.encode(slim).decode()}\n\n"
    is_whole = len(text) <= _TEXT and not asked.start
    return ToolText(head + shown.text, data={"page": slim, "markdown": text} if is_whole else None)


class ListChanges(Struct, forbid_unknown_fields=True):
    space: Space | None = None
    status: Literal["draft", "open", "archived", "merged"] = "open"
    next: Cursor = None
    start: Start = 0


def _list_changes(on: ToolCaller, asked: ListChanges) -> ToolText:
    query = {"status": asked.status, "limit": 30, "page": asked.next}
    if asked.space is not None:
        return _say(on.ask("listChangeRequestsForSpace", {"spaceId": asked.space}, query), asked.start)
    path = {"organizationId": on.organization_id}
    return _say(on.ask("listChangeRequestsForOrganization", path, query), asked.start)


class OfChange(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change
    start: Start = 0

    @property
    def path(self) -> dict[str, str]:
        return {"spaceId": self.space, "changeRequestId": self.change_request}


class ReadChange(OfChange, forbid_unknown_fields=True):
    next: (
        Annotated[
            str, Meta(max_length=500, description="The `next` value of an earlier response, for more reviews")
        ]
        | None
    ) = None


def _read_change(on: ToolCaller, asked: ReadChange) -> ToolText:
    found = on.ask("getChangeRequestById", asked.path)
    changes = on.ask("getChangeRequestChanges", asked.path)
    reviews = on.ask(
        "getReviewsByChangeRequestId", asked.path, {"format": "markdown", "limit": 100, "page": asked.next}
    )
    content = {"changeRequest": found, "changes": changes, "reviews": reviews["items"]}
    return _say({**content, "next": reviews.get("next", {}).get("page")}, asked.start)


class CreateChange(Struct, forbid_unknown_fields=True):
    space: Space
    subject: Annotated[str, Meta(min_length=1, max_length=200)]


def _create_change(on: ToolCaller, asked: CreateChange) -> ToolText:
    return _say(on.change("createChangeRequest", {"spaceId": asked.space}, {"subject": asked.subject}))


class Edit(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change
    changes: Annotated[
        list[dict[str, Any]],
        Meta(
            min_length=1,
            max_length=100,
            description=(
                'As in the API: {"operation": "insert_page", "title", "into", "document": '
                '{"markdown"}}, {"operation": "update_page", "page", "title", "document": '
                '{"markdown"}}, {"operation": "update_blocks", "page", …} with the keys of '
                'blocks, {"operation": "delete_page", "page"}'
            ),
        ),
    ]
    base_revision: Annotated[
        str,
        Meta(
            max_length=100,
            description="The `revision` your changes are based on. Changes saved after it are merged",
        ),
    ]


def _edit(on: ToolCaller, asked: Edit) -> ToolText:
    path = {"spaceId": asked.space, "changeRequestId": asked.change_request}
    body = {"changes": asked.changes, "baseRevision": asked.base_revision}
    made = on.change(
        "updateChangeRequestContent", path, body, query={"compat": "false"}, pages=len(asked.changes)
    )
    made.pop("change", None)
    return _say(made)


class Describe(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change
    subject: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    status: Literal["draft", "open", "archived"] | None = None


def _describe(on: ToolCaller, asked: Describe) -> ToolText:
    path = {"spaceId": asked.space, "changeRequestId": asked.change_request}
    given = {"subject": asked.subject, "status": asked.status}
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise RefusedTool("provide `subject`, `status`, or both")
    return _say(on.change("updateChangeRequestById", path, body))


class ListComments(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change | None = None
    next: Cursor = None
    start: Start = 0


def _list_comments(on: ToolCaller, asked: ListComments) -> ToolText:
    operation, path = _at("listCommentsInSpace", asked.space, asked.change_request)
    found = on.ask(operation, path, {"limit": 30, "page": asked.next, "format": "markdown"})
    return _say(found, asked.start)


class WriteComment(Struct, forbid_unknown_fields=True):
    space: Space
    text: Words
    change_request: Change | None = None
    page: Id | None = None
    block: Annotated[str, Meta(max_length=100, description="The key of a block on the page")] | None = None


def _comment(on: ToolCaller, asked: WriteComment) -> ToolText:
    operation, path = _at("postCommentInSpace", asked.space, asked.change_request)
    body: JsonObject = {"body": {"markdown": asked.text}}
    body |= {"page": asked.page} if asked.page else {}
    body |= {"node": asked.block} if asked.block else {}
    return _say(on.change(operation, path, body))


class ReplyToComment(Struct, forbid_unknown_fields=True):
    space: Space
    comment: Id
    text: Words
    change_request: Change | None = None


def _reply(on: ToolCaller, asked: ReplyToComment) -> ToolText:
    operation, path = _at("postCommentReplyInSpace", asked.space, asked.change_request)
    body = {"body": {"markdown": asked.text}}
    return _say(on.change(operation, {**path, "commentId": asked.comment}, body, parent=asked.comment))


class AskReview(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change
    people: Annotated[list[Id], Meta(min_length=1, max_length=20, description="IDs of people")]


def _ask_review(on: ToolCaller, asked: AskReview) -> ToolText:
    path = {"spaceId": asked.space, "changeRequestId": asked.change_request}
    return _say(on.change("requestReviewersForChangeRequest", path, {"users": asked.people}))


class ReviewChange(Struct, forbid_unknown_fields=True):
    space: Space
    change_request: Change
    status: Literal["approved", "changes-requested", "commented"]
    text: Words | None = None


def _review(on: ToolCaller, asked: ReviewChange) -> ToolText:
    path = {"spaceId": asked.space, "changeRequestId": asked.change_request}
    body: JsonObject = {"status": asked.status}
    body |= {"comment": {"markdown": asked.text}} if asked.text else {}
    return _say(on.change("submitChangeRequestReview", path, body))


def _check(on: ToolCaller, asked: OfChange) -> ToolText:
    broken = on.ask(
        "listChangeRequestLinks",
        asked.path,
        {"status": "broken", "brokenContext": "change-request", "limit": 50},
    )
    conflicts = on.ask("listConflictsInChangeRequest", asked.path)
    found = on.ask("getChangeRequestById", asked.path)
    result = {
        "good": not conflicts["items"] and not broken["items"],
        "outdated": found["outdated"],
        "conflicts": [_brief_conflict(conflict) for conflict in conflicts["items"]],
        "brokenLinks": [_brief_link(link) for link in broken["items"]],
    }
    return _say(result, asked.start)


_BRIEF = 200
"""Maximum length in characters of a quotation in a check's result."""
_PLACES = 5
"""Maximum number of pages to list for one broken link in a check's result."""


def _brief_conflict(conflict: Mapping[str, object]) -> JsonObject:
    return {
        name: f"{value[:_BRIEF]}…" if isinstance(value, str) and len(value) > _BRIEF else value
        for name, value in conflict.items()
        if name != "object" and (value is None or isinstance(value, (str, int, bool)))
    }


def _brief_link(link: JsonObject) -> JsonObject:
    places = link["locationReferences"]
    found = {"to": _brief_reference(link["targetReference"])}
    return found | {"on": [_brief_reference(place) for place in places[:_PLACES]], "places": len(places)}


def _brief_reference(reference: JsonObject) -> JsonObject:
    """Return the target of a reference and the pages that refer to it, without other details."""
    kind = reference["kind"]
    of = reference.get(kind)
    names = ("id", "title", "name", "path", "url")
    about = {name: of[name] for name in names if name in of} if isinstance(of, dict) else {}
    own = {name: reference[name] for name in ("url", "anchor") if isinstance(reference.get(name), str)}
    return {"kind": kind, **about, **own}


class Gaps(Struct, forbid_unknown_fields=True):
    site: Annotated[str, Meta(min_length=1, max_length=100, description="The ID of a site")]
    days: Literal["last7Days", "last30Days", "last3Months"] = "last30Days"
    start: Start = 0


def _gaps(on: ToolCaller, asked: Gaps) -> ToolText:
    path = {"organizationId": on.organization_id, "siteId": asked.site}

    def count(event: str, by: str, limit: int, *more: Mapping[str, object]) -> list[Any]:
        body = {
            "range": asked.days,
            "select": [{"column": "eventsCount"}],
            "where": [{"column": "eventType", "values": [event]}, *more],
            "groupBy": [{"column": by}],
            "order": {"by": {"column": "eventsCount"}, "direction": "desc"},
            "limit": limit,
        }
        found = {
            one["column"]: one["values"] for one in on.ask("aggregateSiteEvents", path, body=body)["columns"]
        }
        return [list(row) for row in zip(found[by], found["eventsCount"], strict=True)]

    opened = {words for words, _ in count("search_open_result", "eventSearchQuery", 1000)}
    searched = count("search_type_query", "eventSearchQuery", 200)
    missed = [{"words": words, "count": n} for words, n in searched if words and words not in opened]
    result: JsonObject = {
        "searchedWithoutOpening": missed[:100],
        "asked": count("ask_question", "page", 50),
    }
    programs = {"column": "visitorBot", "operator": "notIn", "values": [None]}
    result["notFoundByPrograms"] = {
        "addresses": [{"address": url, "count": n} for url, n in count("page_missing", "url", 100, programs)],
        "words": [
            {"words": words, "count": n}
            for words, n in count("search_missing", "eventSearchQuery", 100, programs)
        ],
    }
    try:
        clusters = on.ask(
            "listConversationsIssuesClusters", {"organizationId": on.organization_id}, {"limit": 30}
        )
        result["askedElsewhere"] = clusters["items"]
    except RefusedTool:
        pass  # If the caller can't access conversations, return the rest.
    return _say(result, asked.start)


def _merge(on: ToolCaller, asked: OfChange) -> ToolText:
    return _say(on.change("mergeChangeRequest", asked.path))


TOOLS = {
    "find": Tool("Find pages", "Search one space, or everything you can read.", Find, _find),
    "list_spaces": Tool(
        "List spaces",
        "List the spaces you can read.",
        ListAll,
        _of_organization("listSpacesInOrganizationById"),
    ),
    "list_sites": Tool("List sites", "List the published sites.", ListAll, _of_organization("listSites")),
    "list_pages": Tool(
        "List pages", "Return the page tree of a space or a change request.", ListPages, _list_pages
    ),
    "read_page": Tool(
        "Read a page", "Return a page of a space, or its version in a change request.", ReadPage, _read_page
    ),
    "list_change_requests": Tool(
        "List change requests",
        "List open change requests in one space or in all spaces. Set `status` to list others.",
        ListChanges,
        _list_changes,
    ),
    "read_change_request": Tool(
        "Read a change request",
        "Return a change request with its changes, `revision`, and reviews.",
        ReadChange,
        _read_change,
    ),
    "list_comments": Tool(
        "List comments", "List the comments on a space or a change request.", ListComments, _list_comments
    ),
    "check_change_request": Tool(
        "Run checks",
        (
            "Return the broken links that a change request introduces, its unresolved conflicts, and whether "
            "main has changed since its last update."
        ),
        OfChange,
        _check,
    ),
    "find_gaps": Tool(
        "Find gaps",
        (
            "Return the most frequent gaps in a site's content: searches without a clicked result, pages on "
            "which visitors asked questions, URLs and search terms that agents didn't find, and topics of other "
            "conversations."
        ),
        Gaps,
        _gaps,
    ),
    "create_change_request": Tool(
        "Create a change request",
        "Create a draft of changes to a space, for people to review.",
        CreateChange,
        _create_change,
        False,
    ),
    "edit_change_request": Tool(
        "Edit a change request",
        "Edit pages or blocks in a change request. Either all changes in a batch are applied or none.",
        Edit,
        _edit,
        False,
    ),
    "describe_change_request": Tool(
        "Update a change request",
        "Set the subject and the status (draft, open, or archived) of a change request.",
        Describe,
        _describe,
        False,
    ),
    "comment": Tool(
        "Comment", "Comment on a space, a change request, a page, or a block.", WriteComment, _comment, False
    ),
    "reply": Tool("Reply", "Reply to a comment.", ReplyToComment, _reply, False),
    "ask_for_review": Tool(
        "Request review", "Request reviews of a change request from people.", AskReview, _ask_review, False
    ),
    "review": Tool("Review", "Review someone else's change request.", ReviewChange, _review, False),
    "merge_change_request": Tool(
        "Merge a change request",
        (
            "Merge a change request into main. This requires permission from the person who connected you. "
            "Without it, request a review instead."
        ),
        OfChange,
        _merge,
        False,
        True,
    ),
}
