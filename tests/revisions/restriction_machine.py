"""Random changes of restricted pages, and reads of everything by people who can't see them.

The machine restricts, moves, edits, merges, reverts, deletes, and restores pages of the test world. After each step it
evaluates the rules with separate code, calls operations, sites, and agents' tools as several people, and searches
the responses for words, IDs, and paths of pages that the person can't see.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from random import Random
from typing import Any, Literal, get_args, get_origin
from zipfile import ZipFile

import httpx
import msgspec

from agents.test_agents import Agent, Connecting
from contract.samples import SAMPLES, TOLD_ELSEWHERE, Sample, _Noting, sample_of, send
from events.listening import Listening, listening
from octavo.content.changes.store import find_state
from octavo.content.events.presence import write_presence
from octavo.content.revisions.page_versions import list_pages
from octavo.core.pages import Page
from octavo.delivery.reader.table import ROUTES
from octavo.kit.http.operation import PUBLIC, TABLE, Operation
from octavo.kit.ids import new_id
from octavo.kit.work.worker import Worker
from octavo.operations.installation import load_packages
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can, Role
from visiting import Visitor
from world import MEMBERS, NOBODY, Place, World

load_packages()

TAB = "tab-1"
"""Client of an administrator who views pages."""
PEOPLE = ("editor", "commenter", "reader", "reviewer", "home-colleague")
INTEGRATION = "integration"
CALLERS = (*PEOPLE, INTEGRATION)
"""People, and an integration, which sees no restricted page."""
SPACE = "/spaces/{spaceId}"
CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"
SEARCHES = ("query", "q", "search", "text", "filter", "question", "path", "source")
CHANGING = {
    # People who see the space see that it has a new revision.
    "listRevisionsOfSpace",
}
"""Operations whose response changes with a page that the caller can't see."""
SHOWING_SITES = {"listSitePreviewContent"}
"""Operations whose response contains what sites show, which can include pages that the caller can't see."""
OPERATIONS = [
    operation
    for operation in TABLE.values()
    if operation.needs is not PUBLIC
    and operation.id in SAMPLES
    and operation.id not in TOLD_ELSEWHERE
    # Spaces with restricted pages can't be synced with Git.
    and "gitsync" not in getattr(sample_of(operation).before, "__module__", "")
]
READS = [operation for operation in OPERATIONS if operation.method == "GET"]
COMPARED = [
    operation
    for operation in READS
    if operation.id not in CHANGING and not operation.path.startswith("/installation")
]
_CONTENT = (
    "{spaceId}",
    "{siteId}",
    "/ask",
    "/agent",
    "/user/favorites",
    "/user/notifications",
    "/translations",
)
WRITES = [
    operation
    for operation in OPERATIONS
    if operation.method != "GET"
    and any(part in operation.path for part in _CONTENT)
    and operation.id not in ("restoreSpace", "purgeSpace", "transferSpace")
]
Rule = tuple[str, ...]
LADDER = get_args(Role)


def _names(operation: Operation) -> frozenset[str]:
    """Return the names of the IDs that the sample of an operation contains."""
    sample, noting = sample_of(operation), _Noting("noting", MEMBERS)
    text = f"{operation.path}{sample.path}{sample.names_in_body()}{sample.query_for(noting)}{noting.ids}"
    return frozenset(re.findall(r"\w+", text))


NAMES = {operation.id: _names(operation) for operation in OPERATIONS}


def text_of(answer: httpx.Response) -> str:
    """Return the text of a response, or the names and texts of the files of an archive."""
    if not answer.content.startswith(b"PK"):
        return answer.text
    with ZipFile(BytesIO(answer.content)) as archive:
        return "\n".join(
            f"{name}\n{archive.read(name).decode(errors='replace')}" for name in archive.namelist()
        )


def comparable(answer: httpx.Response) -> str:
    """Return a response without IDs and times."""
    text = re.sub(r"AV[0-9A-Za-z_-]{18}", "ID", text_of(answer))
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\bid: \d+|preview_token=[\w%.-]+|~pdf/[\w%.-]+", "TIME", text)
    # Pages are continued after the position of the last item, which includes hidden items before it.
    text = re.sub(r'"next":\{"page":"[^"]*"\}', "NEXT", text)
    # People who see the space see that main has a new revision.
    text = re.sub(r'"outdated":\w+|"parents":\[[^]]*\]|"type":"\w+","object":"revision".*', "", text)
    return f"{answer.status_code} {text}"


def counts_items(answer: httpx.Response) -> bool:
    """Return whether the count of a list that is complete is the number of its items."""
    if not answer.is_success or "application/json" not in answer.headers.get("content-type", ""):
        return True
    found = answer.json()
    if not isinstance(found, dict) or not {"items", "count"} <= found.keys() or "next" in found:
        return True
    return len(found["items"]) == found["count"]


def choices_of(annotation: object) -> list[str]:
    """Return the values that a query parameter can have, if they are listed; otherwise nothing."""
    if annotation is bool:
        return ["true", "false"]
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [value for inner in get_args(annotation) for value in choices_of(inner)]


class Instead(Place):
    """The place with other IDs."""

    def __init__(self, place: Place, ids: dict[str, str]) -> None:
        super().__init__(place.name, place.roles)
        self.ids = {**place.ids, **ids}


@dataclass
class Secret:
    """Page of the machine. ``words``: those that only this page and its comments contain, in any version.
    ``drafted``: those that only the change request contains. ``comments``: the IDs of its comments, by discussion.
    ``deleted``: its own rule and its parent when it was deleted."""

    id: str
    words: set[str] = field(default_factory=set)
    drafted: set[str] = field(default_factory=set)
    comments: dict[str, list[str]] = field(default_factory=dict)


Known = dict[str, tuple[str | None, Rule]]
"""The last parent and the last rule of each page, also of deleted ones."""


class Machine:
    """``cases``: the number of calls so far by kind. ``found``: descriptions of traces. ``touched``: the operations
    whose response to an administrator contained a trace."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.place, self.random = world, world.home, Random(seed)
        self.cases: Counter[str] = Counter()
        self.found: list[str] = []
        self.touched: set[str] = set()
        self.pages: dict[str, Secret] = {}
        self.main: Known = {}
        self.drafted: Known = {}
        self.rules: dict[str, Rule] = {}
        self.drafts: list[str] = []
        """The revisions of the change request."""
        self.team: set[str] = set()
        self.roles: dict[str, str] = {}
        self.number = 0
        self.log: list[str] = []
        self.asked: set[str] = set()
        """Words in questions, which people who see conversations see."""
        self.before: dict[str, set[str]] = {who: set() for who in CALLERS}
        self.gone: dict[str, list[Rule]] = {}
        self.gone_drafted: dict[str, list[Rule]] = {}
        """The rules that applied to pages when they were deleted: in main, and in the change request."""
        self.integration: dict[str, str] = {}
        self.linked: set[str] = set()
        """Pages to which people who couldn't see them wrote links."""
        self.other = ""
        """A space with links to pages of the machine."""
        self.arrived: dict[str, bool] = {}
        """Whether each person's stream reported that an administrator is present."""
        self.is_at = self.was_at = ""
        """The page that an administrator views, and the one before."""
        self.streams: dict[str, Listening] = {}
        self.heard: dict[str, int] = {}

    # --- the world ------------------------------------------------------------------------------------

    def prepare(self, stack: ExitStack) -> None:
        world, place = self.world, self.place
        for before in {sample_of(operation).before for operation in READS} - {None}:
            before(world, place)
        site = place.path("/orgs/{organizationId}/sites/{siteId}")
        world.call("admin", "PATCH", site, json={"visibility": "public"})
        # The numbers of what a draft makes visible must not count hidden pages.
        world.post("admin", f"{site}/sections", {"spaceId": place["spaceId"], "draft": True})
        self.site = world.post("admin", f"{site}/publish")["urls"]["published"]
        self.visitor = Visitor(world.context)
        self.agent = Agent(world, Connecting(world, "editor").token()["access_token"])
        self.new_change()
        for _ in range(3):
            self.insert(SPACE, None)
        for at in (SPACE, SPACE, CHANGE):
            self.insert(at, self.random.choice(list(self.pages)))
        for at in (SPACE, SPACE, CHANGE):
            self.restrict(at)
            self.say(at)
        for who in ("editor", "reader"):
            path = place.path(f"{SPACE}/events")
            self.streams[who] = stack.enter_context(listening(world, who, path))
        self.refresh()

    def new_change(self) -> None:
        made = self.world.post("admin", self.place.path(f"{SPACE}/change-requests"), {"subject": "Edits"})
        self.place.ids["changeRequestId"] = made["id"]
        for secret in self.pages.values():
            secret.words |= secret.drafted
            secret.drafted.clear()
        self.drafted, self.gone_drafted = {}, {}
        self.drafts.clear()

    def change(self, at: str, *changes: dict[str, Any]) -> httpx.Response:
        return self.world.call(
            "admin", "POST", self.place.path(f"{at}/content"), json={"changes": list(changes)}
        )

    def word(self) -> str:
        self.number += 1
        return f"zq{self.number}x"

    def note(self, at: str, id: str, word: str) -> None:
        secret = self.pages.setdefault(id, Secret(id))
        (secret.words if at == SPACE else secret.drafted).add(word)

    # --- what is known --------------------------------------------------------------------------------

    def read(self, at: str) -> dict[str, Page]:
        with self.world.context.db.read() as tx:
            change = self.place["changeRequestId"] if at == CHANGE else None
            return {
                page.id: page for page in list_pages(tx, find_state(tx, self.place["spaceId"], change).whole)
            }

    def refresh(self) -> None:
        with self.world.context.db.read() as tx:
            head = find_state(tx, self.place["spaceId"], self.place["changeRequestId"]).revision_id
            if head not in self.drafts:
                self.drafts.append(head)
            for who in PEOPLE:
                access = space_access(tx, self.world.actor(who), Can.VIEW, self.place["spaceId"])
                self.roles[who] = access.role
        for known, pages, gone in (
            (self.main, self.read(SPACE), self.gone),
            (self.drafted, self.read(CHANGE), self.gone_drafted),
        ):
            for id in known.keys() - pages.keys() - gone.keys():
                gone[id] = [rule for _, rule in self.chain(known, id)]
            for id in gone.keys() & pages.keys():
                del gone[id]
            known.update({id: (page.parent, page.visible_to) for id, page in pages.items()})
            if known is self.main:
                self.alive = pages
            else:
                self.alive_drafted = pages

    def chain(self, known: Known, id: str | None) -> Iterator[tuple[str, Rule]]:
        while id is not None and id in known:
            parent, rule = known[id]
            yield id, rule
            id = parent

    def sees(self, who: str, rules: Iterable[Rule]) -> bool:
        return all(not rule or any(self.matches(who, entry) for entry in rule) for rule in rules)

    def matches(self, who: str, entry: str) -> bool:
        if who == INTEGRATION:
            return False
        kind, _, rest = entry.partition(":")
        id = rest.rpartition(":")[0]
        if kind == "user":
            return id == self.world.users[who]
        if kind == "team":
            return who in self.team and id == self.place["teamId"]
        return kind == "role" and LADDER.index(self.roles[who]) >= LADDER.index(id)

    def rules_of(self, at: str, id: str) -> list[Rule]:
        rules = [rule for _, rule in self.chain(self.main, id)] + self.gone.get(id, [])
        if at == CHANGE:
            rules += self.gone_drafted.get(id, [])
            for above, rule in self.chain(self.drafted, id):
                rules += [rule, *self.rules_of(SPACE, above)]
        return rules

    def is_published(self, id: str) -> bool:
        return not any(rule and "sites" not in rule for rule in self.rules_of(SPACE, id))

    def hidden(self, who: str, at: str = SPACE) -> set[str]:
        """Return the pages that a person can't see in main, or in the change request."""
        return {id for id in self.pages if not self.sees(who, self.rules_of(at, id))}

    def unseen(self, who: str) -> tuple[set[str], set[str]]:
        """Return the pages of which a person may find no trace at all, and the words that they may not find."""
        hidden, drafted = self.hidden(who), self.hidden(who, CHANGE)
        words = {word for id in hidden for word in self.pages[id].words | self.pages[id].drafted}
        words |= {word for id in drafted for word in self.pages[id].drafted}
        only = {id for id in drafted if id not in self.main}
        return hidden | only, words | {word for id in only for word in self.pages[id].words}

    # --- steps ----------------------------------------------------------------------------------------

    def step(self) -> None:
        self.before = {who: self.hidden(who) for who in CALLERS}
        at = self.random.choice((SPACE, SPACE, CHANGE))
        chosen = self.random.choice(self.list_steps())
        self.log.append(f"{chosen.__name__} {'main' if at == SPACE else 'change'}")
        chosen(at)
        self.refresh()
        self.check_rules(chosen.__name__)
        self.check_streams()

    def list_steps(self) -> list[Callable[[str], None]]:
        return [
            self.restrict,
            self.restrict,
            self.restrict,
            self.open,
            self.insert_somewhere,
            self.edit,
            self.move,
            self.delete,
            self.say,
            self.say,
            self.merge,
            self.update,
            self.revert,
            self.roll_back,
            self.restore,
            self.join,
            self.look,
            self.leave,
            self.work,
        ]

    def pick(self, at: str) -> str | None:
        alive = [id for id in self.pages if id in (self.alive if at == SPACE else self.alive_drafted)]
        return self.random.choice(alive) if alive else None

    def grants(self) -> list[dict[str, str]]:
        level = self.random.choice(("read", "comment", "edit"))
        who = self.random.choice(PEOPLE)
        sites = [{"kind": "sites"}] if self.random.random() < 0.3 else []
        return sites + self.random.choice(
            (
                [{"kind": "administrators"}],
                [{"kind": "administrators"}],
                [{"kind": "user", "user": self.world.users[who], "level": level}],
                [{"kind": "team", "team": self.place["teamId"], "level": level}],
                [{"kind": "role", "role": self.random.choice(("comment", "edit", "review")), "level": level}],
            )
        )

    def restrict(self, at: str, grants: list[dict[str, str]] | None = None) -> None:
        if (id := self.pick(at)) is not None:
            given = self.grants() if grants is None else grants
            assert self.change(at, {"operation": "update_page", "page": id, "visibleTo": given}).is_success

    def open(self, at: str) -> None:
        self.restrict(at, [])

    def insert(self, at: str, into: str | None) -> None:
        word = self.word()
        page: dict[str, Any] = {
            "operation": "insert_page",
            "title": f"{word} plans",
            "description": f"About {word}",
            "document": {"markdown": f"Words of {word}.\n\n{self.references()}"},
        }
        if self.random.random() < 0.5:
            page["slug"] = (
                f"p{self.number}"  # Texts can link to such pages, because their paths contain no words.
            )
        before = self.read(at).keys()
        answer = self.change(at, {**page, **({"into": into} if into else {})})
        for id in self.read(at).keys() - before if answer.is_success else ():
            self.note(at, id, word)
        self.refresh()

    def references(self) -> str:
        """Return references to an open page, a file, and reusable content, which can count where they are used."""
        file = f"![A square](/files/{self.place['fileId']})"
        return f'[Home](README.md)\n\n{file}\n\n{{% include ".gitbook/includes/support.md" %}}\n'

    def insert_somewhere(self, at: str) -> None:
        self.insert(at, self.random.choice((self.pick(at), None)))

    def edit(self, at: str) -> None:
        if (id := self.pick(at)) is not None:
            word = self.word()
            fields = self.random.choice(
                ({"title": f"{word} notes"}, {"document": {"markdown": f"New {word}.\n"}})
            )
            if self.change(at, {"operation": "update_page", "page": id, **fields}).is_success:
                self.note(at, id, word)

    def move(self, at: str) -> None:
        id, into = self.pick(at), self.random.choice((self.pick(at), None, self.place["pageId"]))
        if id is not None and id != into:
            self.change(at, {"operation": "update_page", "page": id, "into": into})

    def delete(self, at: str) -> None:
        if (id := self.pick(at)) is not None and self.random.random() < 0.6:
            self.change(at, {"operation": "delete_page", "page": id})

    def say(self, at: str) -> None:
        if (id := self.pick(at)) is not None:
            word, secret = self.word(), self.pages[id]
            comments, there = self.place.path(f"{at}/comments"), secret.comments.setdefault(at, [])
            mention = f'{word} [@them](/users/{self.world.users[self.random.choice(PEOPLE)]} "mention")'
            body: dict[str, Any] = {"body": {"markdown": mention}}
            if there and self.random.random() < 0.5:
                made = self.world.call("admin", "POST", f"{comments}/{there[-1]}/replies", json=body)
            else:
                made = self.world.call("admin", "POST", comments, json={**body, "page": id})
                there += [made.json()["id"]] if made.is_success else []
            if made.is_success:
                self.note(at, id, word)

    def merge(self, at: str) -> None:
        answer = self.world.call("admin", "POST", self.place.path(f"{CHANGE}/merge"))
        if answer.is_success and answer.json()["result"] == "merge":
            for id, page in self.read(SPACE).items():
                self.rules[id] = page.visible_to
            for secret in self.pages.values():
                secret.comments.pop(CHANGE, None)
            self.forget_drafted()
            self.new_change()

    def forget_drafted(self) -> None:
        """Forget pages that were created and deleted in a change request, about which only it knows."""
        now = self.read(SPACE)
        for id in [id for id in self.pages if id not in now and id not in self.main]:
            del self.pages[id]

    def update(self, at: str) -> None:
        """Update the change request. The response tells only of conflicts that the person can see."""
        who = self.random.choice(("admin", "editor", "reviewer"))
        answer = self.world.call(who, "POST", self.place.path(f"{CHANGE}/update"))
        if answer.is_success:
            seen = self.world.get(who, self.place.path(f"{CHANGE}/conflicts"))["count"]
            if (answer.json()["result"] == "conflicts") != bool(seen):
                self.report(f"the update of {who} tells {answer.text}, but there are {seen} conflicts")

    def revision(self) -> str:
        path = self.place.path(f"{SPACE}/revisions")
        return str(self.random.choice(self.world.get("admin", path, params={"limit": 12})["items"])["id"])

    def revert(self, at: str) -> None:
        path = self.place.path(f"{SPACE}/revisions/{self.revision()}/revert")
        answer = self.world.call(
            "admin", "POST", path, params={"undo": self.random.choice(("this", "later"))}
        )
        if answer.is_success:
            merge = self.place.path(f"{SPACE}/change-requests/{answer.json()['id']}/merge")
            self.world.call("admin", "POST", merge)

    def roll_back(self, at: str) -> None:
        self.world.call("admin", "POST", self.place.path(f"{SPACE}/revisions/{self.revision()}/rollback"))

    def restore(self, at: str) -> None:
        if self.pages:
            id = self.random.choice(list(self.pages))
            self.change(at, {"operation": "revert_page", "page": id, "revision": self.revision()})

    def join(self, at: str) -> None:
        who = self.random.choice(PEOPLE)
        members = self.place.path("/orgs/{organizationId}/teams/{teamId}/members")
        change = "remove" if who in self.team else "add"
        answer = self.world.call("admin", "PUT", members, json={change: [self.world.users[who]]})
        if answer.is_success:
            self.team ^= {who}

    def look(self, at: str) -> None:
        """Leave traces of an administrator: a favorite, a watch, presence, and a live page."""
        if (id := self.pick(SPACE)) is not None:
            path = self.place.path(SPACE)
            favorite, watch = {"space": self.place["spaceId"], "page": id}, {"level": "watching"}
            for who in ("admin", *(who for who in PEOPLE if id not in self.hidden(who))):
                self.leave_trace(who, "POST", "/user/favorites", favorite)
                self.leave_trace(who, "PUT", f"{path}/content/page/{id}/watch", watch)
            self.leave_trace("admin", "PUT", f"{path}/presence/{TAB}", {"activity": "editing", "page": id})
            self.move_presence(id)
            self.leave_trace("admin", "GET", f"{path}/pages/{id}/live")
            self.leave_trace("admin", "POST", f"{path}/content/page/{id}/verify", {})

    def leave_trace(self, who: str, method: str, path: str, body: object = None) -> None:
        answer = self.world.call(who, method, path, **({} if body is None else {"json": body}))
        assert answer.is_success, f"{method} {path} ({who}): {answer.text}"

    def leave(self, at: str) -> None:
        """Move an administrator to an open page, or away."""
        path, to = self.place.path(f"{SPACE}/presence/{TAB}"), self.random.choice((self.place["pageId"], ""))
        if to:
            self.world.call("admin", "PUT", path, json={"activity": "viewing", "page": to})
        else:
            self.world.call("admin", "DELETE", path)
        self.move_presence(to)

    def move_presence(self, page: str) -> None:
        """Write an administrator's presence, and give streams time to send it."""
        self.was_at, self.is_at = self.is_at, page
        write_presence(self.world.context)
        self.world._loop.run_until_complete(asyncio.sleep(0.5))

    def work(self, at: str) -> None:
        """Run jobs, such as those that notify people and index pages."""
        before = self.read_notifications()
        Worker(self.world.context.db, self.world.context).run_pending()
        whose = {self.world.users[who]: who for who in PEOPLE}
        for user, page, change, *_ in sorted(self.read_notifications() - before):
            place = CHANGE if change == self.place["changeRequestId"] else SPACE
            if user in whose and page in self.hidden(whose[user], place) and (place == CHANGE or not change):
                self.report(f"{whose[user]} is notified about {page} in {place}")

    def read_notifications(self) -> set[tuple[Any, ...]]:
        """Return everyone's notifications about pages, which change with each new event."""
        with self.world.context.db.read() as tx:
            columns = "user_id, page_id, coalesce(change_id, ''), at, events"
            return set(tx.all(f"SELECT {columns} FROM notifications WHERE page_id IS NOT NULL"))

    def check_rules(self, step: str) -> None:
        """Only steps that set rules change them, also when pages are restored."""
        for id, page in self.alive.items():
            if step in ("restrict", "open", "merge", "insert_somewhere") or id not in self.rules:
                self.rules[id] = page.visible_to
            elif self.rules[id] != page.visible_to:
                self.report(f"{step} changes the rule of {id}: {self.rules[id]} -> {page.visible_to}")
                self.rules[id] = page.visible_to

    def check_streams(self) -> None:
        for who, stream in self.streams.items():
            hidden = self.before[who] & self.hidden(who)
            new, self.heard[who] = stream.heard[self.heard.get(who, 0) :], len(stream.heard)
            traces = [*hidden, *(comment for id in hidden for comment in self.comments_of(id))]
            for event in new:
                self.count("stream", who)
                if trace := next((one for one in traces if one in str(event.data)), None):
                    self.report(f"stream of {who}: {event} tells {trace}")
                left = event.data.get("activity") == "left" and not self.arrived.get(who)
                if left and self.was_at in hidden:
                    self.report(f"stream of {who}: {event} tells that someone was at a hidden page")
                if event.data.get("clientId") == TAB:
                    self.arrived[who] = event.data["activity"] != "left"
                if hidden and event.data.get("conflicts"):
                    self.report(f"stream of {who}: {event} can count conflicts in hidden pages")

    # --- reads ----------------------------------------------------------------------------------------

    def count(self, kind: str, who: str) -> None:
        hidden, before = self.hidden(who), self.before[who]
        state = (
            "lost"
            if hidden - before
            else "got"
            if before - hidden
            else "none"
            if hidden == self.pages.keys()
            else "some"
        )
        self.cases[f"{kind}, {state if hidden else 'all'}"] += 1

    def report(self, text: str) -> None:
        self.found.append(f"{text[:1500]}\n    after {', '.join(self.log[-8:])}")

    def look_for(
        self, who: str, what: str, answer: httpx.Response, sent: str, operation: Operation | None = None
    ) -> None:
        """Report words and IDs of hidden pages in a response that weren't sent to it."""
        ids, words = self.unseen(who)
        if operation is not None and operation.id in SHOWING_SITES:
            on_sites = {id for id in self.pages if self.is_published(id)}
            ids -= on_sites
            words -= {word for id in on_sites for word in self.pages[id].words | self.pages[id].drafted}
        text = text_of(answer) + str(answer.headers)
        for path in self.shown_paths(ids):
            text = text.replace(path, "")
        for trace in [*words, *ids, *(one for id in ids for one in self.comments_of(id))]:
            if trace in self.asked and ("onversation" in what or "Question" in what):
                continue
            if trace in text and trace not in sent:
                at = text.find(trace)
                self.report(
                    f"{what} ({who}, {answer.status_code}) tells {trace}: {text[max(0, at - 200) : at + 80]}"
                )
                return
        if not counts_items(answer):
            self.report(f"{what} ({who}) counts more than it lists: {answer.text[:500]}")
        if answer.status_code >= 500 and answer.status_code not in (501, 502, 503):
            self.report(f"{what} ({who}): {answer.status_code} {answer.text[:200]}")

    def shown_paths(self, hidden: set[str]) -> list[str]:
        """Return the file paths of pages that can be seen, which can contain the slug of a page that the page was
        once below, and the links that people who couldn't see their targets wrote."""
        pages = [*self.alive.values(), *self.alive_drafted.values()]
        paths = [page.file_path for page in pages if page.file_path and page.id not in hidden]
        return paths + [f"/pages/{id}" for id in self.linked]

    def comments_of(self, id: str) -> list[str]:
        return self.pages[id].comments.get(SPACE, [])

    def variants(self, operation: Operation, id: str, never: bool = False) -> dict[str, str]:
        """Return IDs for a call about a page, or about one that never existed."""
        names, ids = NAMES[operation.id], dict[str, str]()
        if "pageId" in names:
            ids["pageId"] = new_id() if never else id
        if "pagePath" in names:
            ids["pagePath"] = "zqnever/at-all" if never else self.path_of(id)
        for name, at in (("commentId", SPACE), ("changeRequestCommentId", CHANGE)):
            there = self.pages[id].comments.get(at) if id in self.pages else None
            if name in names and there and ("changeRequestId" in operation.path) == (at == CHANGE):
                ids[name] = new_id() if never else there[0]
        return ids

    def path_of(self, id: str) -> str:
        page, path = self.alive.get(id) or self.alive_drafted.get(id), ""
        while page is not None:
            path = f"{page.slug}/{path}"
            page = (
                (self.alive.get(page.parent) or self.alive_drafted.get(page.parent)) if page.parent else None
            )
        return path.strip("/") or "zqnever"

    def call(
        self, who: str, operation: Operation, ids: dict[str, str], **options: Any
    ) -> tuple[httpx.Response, str]:
        if "/ask" in operation.path:
            self.asked |= set(re.findall(r"zq\d+x", str(options)))
        place = Instead(self.place, ids)
        sample: Sample = sample_of(operation)
        sent = f"{ids}{options}{sample.ids(place, operation.path)}{sample.query_for(place)}{sample.body_for(place)}"
        if who == INTEGRATION:
            who, options["headers"] = NOBODY, self.integration
        return send(self.world, who, operation, place, **options), sent

    def read_once(self, operations: list[Operation] = READS) -> None:
        """Make one random call as someone who can't see everything."""
        operation, who = self.random.choice(operations), self.random.choice(CALLERS)
        id = self.random.choice(list(self.pages)) if self.pages else new_id()
        ids = self.variants(operation, id) if self.random.random() < 0.7 else {}
        if operation.path.startswith(SPACE) and self.random.random() < 0.05:
            ids["spaceId"] = self.other
        options: dict[str, Any] = {}
        if "revisionId" in operation.path and self.random.random() < 0.7:
            ids["revisionId"] = self.random.choice((self.revision(), self.random.choice(self.drafts)))
        if operation.method == "GET" and self.random.random() < 0.3:
            words = sorted(self.pages[id].words | self.pages[id].drafted) if id in self.pages else ["plans"]
            query = sample_of(operation).query_for(Instead(self.place, ids))
            asked = (
                {field.encode_name for field in msgspec.structs.fields(operation.query)}
                if operation.query
                else set()
            )
            options["params"] = {
                **query,
                **{name: self.random.choice(words or ["plans"]) for name in asked & set(SEARCHES)},
                **({"source": f"/{self.path_of(id)}"} if "source" in asked else {}),
            }
        if self.random.random() < 0.2:
            # What an administrator has seen must not come out of a cache.
            seen, _ = (
                self.call("admin", operation, ids, **options) if operation.method == "GET" else (None, "")
            )
            if seen is not None and any(
                word in seen.text for one in self.pages.values() for word in one.words | one.drafted
            ):
                self.touched.add(operation.id)
        answer, sent = self.call(who, operation, ids, **options)
        self.count(operation.method, who)
        self.look_for(who, f"{operation.id} {ids} {options}", answer, sent, operation)
        at = CHANGE if "{changeRequestId}" in operation.path else SPACE
        if id in self.hidden(who, at) and id in self.hidden(who) and set(ids) - {"revisionId", "spaceId"}:
            never = {**ids, **self.variants(operation, id, never=True)}
            if "source" in options.get("params", {}):
                options["params"]["source"] = "/zqnever"
            other, _ = self.call(who, operation, never, **options)
            self.count("compared", who)
            one, two = self.plain(answer, ids), self.plain(other, never)
            if (answer.status_code, one) != (other.status_code, two):
                self.report(
                    f"{operation.id} ({who}) tells {ids} from {never}: {answer.status_code} {one[:250]} | "
                    f"{other.status_code} {two[:250]}"
                )

    @staticmethod
    def plain(answer: httpx.Response, ids: dict[str, str]) -> str:
        """Return an error without the IDs that were sent."""
        if answer.is_success:
            return ""
        text = answer.text
        for name in {"pageId", "pagePath", "commentId", "changeRequestCommentId"} & ids.keys():
            text = text.replace(ids[name], name)
        return text

    def read_page(self) -> None:
        """Check that a person sees a page if and only if its rules allow it."""
        who, at = self.random.choice(PEOPLE), self.random.choice((SPACE, CHANGE))
        if (id := self.pick(at)) is None:
            return
        path = self.place.path(f"{at}/content/page/{id}")
        answer = self.world.call(
            who, "GET", path, params={"format": self.random.choice(("markdown", "document"))}
        )
        self.count("page", who)
        if (answer.status_code == 200) != (id not in self.hidden(who, at)) or answer.status_code not in (
            200,
            404,
        ):
            self.report(f"{who} gets {answer.status_code} for {id} in {at}: {self.rules_of(at, id)}")
        self.look_for(who, path, answer, id)

    def choose_query(self, operation: Operation) -> dict[str, str]:
        """Return the query of an operation's sample, with a random value of some of its other parameters."""
        query = sample_of(operation).query_for(self.place)
        for parameter in msgspec.structs.fields(operation.query) if operation.query else ():
            name = parameter.encode_name
            values = ["1", "3"] if name == "limit" else choices_of(parameter.type)
            if values and self.random.random() < 0.4:
                query[name] = self.random.choice(values)
        return query

    def compare(self, calls: int) -> None:
        """Change pages that a person can't see, and check that what they read stays the same."""
        who = self.random.choice(CALLERS)
        hidden = self.hidden(who) & self.hidden(who, CHANGE) & self.alive.keys()
        # Sites show changes of pages that they show.
        hidden -= {id for id in hidden if self.is_published(id)}
        if not hidden:
            return
        id, operations = self.random.choice(sorted(hidden)), self.random.sample(COMPARED, k=calls)
        with self.world.context.db.write() as tx:
            # A scan follows a minute after every change, so one that is due would find earlier changes of open pages.
            tx.run("DELETE FROM jobs WHERE kind = 'startScan'")
        self.work(SPACE)
        queries = [self.choose_query(operation) for operation in operations]
        before = [
            self.call(who, operation, {}, params=query)[0]
            for operation, query in zip(operations, queries, strict=True)
        ]
        word, comments = self.word(), self.place.path(f"{SPACE}/comments")
        self.change(SPACE, {"operation": "update_page", "page": id, "title": f"{word} changed"})
        self.note(SPACE, id, word)
        self.insert(SPACE, id)
        for there in (comments, self.place.path(f"{CHANGE}/comments")):
            self.world.call("admin", "POST", there, json={"body": {"markdown": word}, "page": id})
        self.work(SPACE)
        self.refresh()
        for operation, query, answer in zip(operations, queries, before, strict=True):
            after, _ = self.call(who, operation, {}, params=query)
            self.count("compared", who)
            one, other = comparable(answer), comparable(after)
            if one != other:
                at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
                self.report(
                    f"{operation.id} {query} ({who}) tells changes of {id}: {one[max(0, at - 200) : at + 60]}"
                    f" | {other[max(0, at - 60) : at + 60]} | {text_of(after)[max(0, at - 60) : at + 900]}"
                )

    def visit(self) -> None:
        """Read a site, which shows restricted pages only if their rules say so."""
        route = self.random.choice([one for one in ROUTES if one.method == "GET"])
        pattern = route.pattern
        id = self.pick(SPACE)
        path = self.path_of(id) if id is not None else ""
        below = self.site.partition("sites.test")[2] or "/" + self.site.split("/", 3)[-1]
        filled = re.sub(r"\{[^}]*\}", lambda _: path or "page", pattern)
        for one in (filled, path, f"{path}.md", "sitemap-pages.xml", "llms.txt", "llms-full.txt", ""):
            params = {"q": self.random.choice(sorted(self.pages[id].words) or ["x"])} if id else {}
            answer = self.visitor.get(f"{below.rstrip('/')}/{one}", params)
            self.cases["site"] += 1
            hidden = {one for one in self.pages if not self.is_published(one)}
            traces = {word for one in hidden for word in self.pages[one].words | self.pages[one].drafted}
            text = answer.text.replace(params.get("q", "-"), "").replace(path or "-", "")
            if any(word in text for shown in self.pages.values() for word in shown.words):
                self.touched.add(f"site {pattern if one == filled else one if '.' in one else 'page'}")
            if trace := next((each for each in [*traces, *hidden] if each in text), None):
                at = text.find(trace)
                self.report(f"site {one} {params} tells {trace}: {text[max(0, at - 200) : at + 80]}")

    def use_tool(self) -> None:
        """Use a tool of an agent that someone connected."""
        if (id := self.pick(SPACE)) is None:
            return
        space, word = self.place["spaceId"], self.random.choice(sorted(self.pages[id].words) or ["plans"])
        for tool, arguments in (
            ("search", {"query": word}),
            ("read_page", {"space": space, "page": id}),
            ("list_pages", {"space": space}),
            ("list_comments", {"space": space}),
            ("list_change_requests", {"space": space}),
        ):
            message = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            }
            answer = self.agent.post(message)
            self.count("agent", "editor")
            self.look_for("editor", f"tool {tool}", answer, str(arguments))

    def write(self, calls: int) -> None:
        """Write as people who can't see everything: no response contains a trace, and no hidden page changes."""
        operations = self.random.sample(WRITES, k=min(calls, len(WRITES)))
        for operation in operations:
            if (before := sample_of(operation).before) is not None:
                try:
                    before(self.world, self.place)
                except (AssertionError, LookupError):
                    continue  # Earlier writes changed what the sample needs.
            self.refresh()
            kept = {
                who: {id: self.alive[id] for id in self.hidden(who) & self.alive.keys()} for who in PEOPLE
            }
            if operation.id == "mergeChangeRequest":
                # A merge takes over what people who see a page did to it in the change request.
                drafted = self.read(CHANGE)
                kept = {
                    who: {id: page for id, page in pages.items() if drafted.get(id) == page}
                    for who, pages in kept.items()
                }
            ids_before = dict(self.place.ids)
            who = self.random.choice(PEOPLE)
            id = self.random.choice(list(self.pages)) if self.pages else new_id()
            ids = self.variants(operation, id)
            answer, sent = self.call(who, operation, ids)
            self.count(operation.method, who)
            self.look_for(who, f"{operation.id} {ids}", answer, sent, operation)
            self.place.ids = ids_before
            now = (
                self.read(SPACE)
                if self.world.call("admin", "GET", self.place.path(SPACE)).is_success
                else None
            )
            if now is None:
                return
            for page in kept[who].values():
                other = now.get(page.id)
                if (
                    other is None
                    or msgspec.structs.replace(other, rank=page.rank, updated_at=page.updated_at) != page
                ):
                    self.report(
                        f"{operation.id} ({who}) changes the hidden page {page.id}: {page} -> {other}"
                    )

    def run(self, *, steps: int, reads: int, writes: int) -> None:
        with ExitStack() as stack:
            self.prepare(stack)
            for _ in range(steps):
                self.step()
                for _ in range(reads):
                    self.read_once()
                for _ in range(reads // 10 + 1):
                    self.read_page()
                self.visit()
                self.use_tool()
                self.compare(reads // 6)
            self.write(writes)
