"""The machine of restricted pages, with everything that stores or sends traces of pages: findings, insights, questions,
templates, links, PDFs, webhooks, and integrations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from io import BytesIO
from typing import Any

import msgspec
from pypdf import PdfReader

from contract.test_integration_tokens import _agree, _headers
from insights.test_insights import FIREFOX
from octavo.assistants.findings import scanning
from octavo.assistants.findings.store import insert_scan
from octavo.assistants.questions.recording import record_answer
from octavo.assistants.questions.types import AnswerPage, Asked
from octavo.assistants.translations import store as translations
from octavo.assistants.translations.restricting import notice_of
from octavo.assistants.translations.store import TranslatedPart, TranslationPartRow
from octavo.content.changes.store import find_state
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.page_versions import list_pages
from octavo.core.problems import Problem
from octavo.extensions.deliveries import delivering
from octavo.extensions.deliveries.delivering import DeliveryResult
from octavo.extensions.deliveries.store import Delivery
from octavo.extensions.webhooks import store as webhooks
from octavo.extensions.webhooks.events import EVENTS
from octavo.extensions.webhooks.signing import new_secret
from octavo.interchange.transfer.store import ImportedPage
from octavo.kit.context import Context
from octavo.kit.ids import new_id
from octavo.organization.access.scopes import INTEGRATION_SCOPES
from octavo.sites.printing.links import open_print
from revisions.restriction_machine import CHANGE, INTEGRATION, PEOPLE, SPACE, Machine
from revisions.test_restricted_links import links_of
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"
COLUMNS = ("url", "page", "referrer", "eventLinkTargetValue", "eventSearchQuery", "eventPageFeedbackComment")
RESULTS = (
    f"{SITE}/findings",
    f"{SITE}/questions",
    f"{SITE}/topics",
    "/orgs/{organizationId}/translations",
    "/org/{organizationId}/imports",
)


class WholeMachine(Machine):
    """``links``: links to PDFs, with the person who got each."""

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world, seed)
        self.links: list[tuple[str, str]] = []

    def prepare(self, stack: ExitStack) -> None:
        world, place = self.world, self.place
        before = dict(delivering._attempts)
        stack.callback(delivering._attempts.update, before)
        delivering._attempts.update(dict.fromkeys(before, self.receive))
        _agree(world, list(INTEGRATION_SCOPES))
        for kind, name in (("space", "space"), ("site", "siteId")):
            path = place.path(f"/integrations/{{integrationName}}/installations/{{installationId}}/{kind}s")
            world.call("admin", "POST", path, json={name: place[f"{kind}Id"]})
        self.integration = _headers(world, installation=True)
        with world.context.db.write() as tx:
            webhooks.insert_webhook(
                tx,
                world.context.sealer,
                place["organizationId"],
                url="https://hooks.example.org/",
                description="",
                events=list(EVENTS),
                active=True,
                secret=new_secret(),
            )
        self.other = world.post("admin", place.path("/orgs/{organizationId}/spaces"), {"title": "Other"})[
            "id"
        ]
        assert world.call("admin", "PATCH", f"/spaces/{self.other}", json={"defaultLevel": "edit"}).is_success
        super().prepare(stack)

    def list_steps(self) -> list[Callable[[str], None]]:
        return [
            *super().list_steps(),
            self.scan,
            self.track,
            self.answer,
            self.link,
            self.link_from_texts,
            self.compare_links,
            self.copy,
            self.print,
            self.translate,
            self.bring_in,
        ]

    # --- steps ----------------------------------------------------------------------------------------

    def scan(self, at: str) -> None:
        """Scan the site, and have an administrator fix findings."""
        world, place = self.world, self.place
        with world.context.db.write() as tx:
            scan = insert_scan(tx, place["siteId"], "manual")
        scanning.scan_site(world.context, place["siteId"], place["organizationId"], scan.id)
        path = place.path(f"{SITE}/findings")
        found = world.get("admin", path, params={"status": "open", "limit": 1000})["items"]
        fixable = [one["id"] for one in found if one["autoFixable"]][:3]
        if fixable and self.random.random() < 0.3:
            world.call("admin", "POST", f"{path}/change-requests", json={"findings": fixable})

    def track(self, at: str) -> None:
        """Record visits to a page of the machine, and clicks and searches that name it."""
        if (id := self.pick(SPACE)) is None:
            return
        word, open_page = self.random.choice(sorted(self.pages[id].words) or ["plans"]), self.place["pageId"]
        url = f"{self.world.context.settings.sites_url}/{word}"
        page = {"kind": "page", "page": id}
        events = [
            self.event(id, url=url),
            self.event(None, url=url),
            self.event(open_page, session={"referrer": url}),
            self.event(id, type="page_post_feedback_comment", feedback={"rating": "bad", "comment": word}),
            self.event(open_page, type="link_click", link={"target": page, "position": "content"}),
            self.event(
                open_page,
                type="link_click",
                link={"target": {"kind": "url", "url": url}, "position": "content"},
            ),
            *(self.event(None, type="search_type_query", query=word, visitor=f"v{n}") for n in range(6)),
        ]
        path = self.place.path(f"{SITE}/insights/events")
        assert self.world.call("nobody", "POST", path, json={"events": events}).is_success
        self.work(at)
        if self.random.random() < 0.5:
            self.scan(at)

    def event(
        self,
        page: str | None,
        type: str = "page_view",
        url: str = "https://docs.test/",
        session: dict[str, str] | None = None,
        visitor: str = "v",
        **more: Any,
    ) -> dict[str, Any]:
        ids = self.place
        shown = {
            "visitorId": visitor,
            "sessionId": visitor,
            "cookies": {},
            "userAgent": FIREFOX,
            "language": "en",
        }
        there = {"siteSection": None, "siteSpace": ids["siteSpaceId"], "siteShareKey": None, "revision": None}
        return {
            "type": type,
            "session": {"referrer": None, **shown, **(session or {})},
            "location": {"url": url, "space": ids["spaceId"], "page": page, **there},
            **more,
        }

    def answer(self, at: str) -> None:
        """Record questions about a page of the machine, with and without answers."""
        if (id := self.pick(SPACE)) is None:
            return
        word = self.random.choice(sorted(self.pages[id].words) or ["plans"])
        asked = Asked(self.place["siteId"], "site", new_id())
        source = AnswerPage(self.place["spaceId"], id, "", f"{word} plans", 80)
        sources = self.random.choice(([source], []))
        with self.world.context.db.write() as tx:
            question = f"Where are the {word} gherkins?"
            resolution: Any = "yes" if sources else "no"
            record_answer(tx, self.world.context.settings, asked, question, resolution, [], sources)
        if self.random.random() < 0.5:
            self.scan(at)

    def translate(self, at: str) -> None:
        """Store the result of a run of the translation in which a page of the machine has a problem."""
        if (id := self.pick(SPACE)) is None:
            return
        page, translation = self.alive[id], self.place["translationId"]
        name = page.file_path or page.slug
        part = TranslationPartRow(id, "", None, None, 1, TranslatedPart(page=page))
        problem = Problem(name, 0, "not_translated", f"“{page.title}”: the model has no answer")
        with self.world.context.db.write() as tx:
            translations.put_parts(tx, translation, [part], [])
            tx.run(
                """UPDATE translations SET problems = :problems, notice = :notice,
                     untranslated = (SELECT sum(missing) FROM translated_parts WHERE translation_id = :id)
                   WHERE id = :id""",
                problems=msgspec.json.encode([problem]).decode(),
                notice=notice_of(1, True),
                id=translation,
            )

    def bring_in(self, at: str) -> None:
        """Store the result of an import that created a page of the machine, or that has it as its target."""
        if (id := self.pick(SPACE)) is None:
            return
        path, into = f"{self.alive[id].slug}.md", self.random.random() < 0.5
        source = {
            "type": "website",
            "url": f"https://example.org/{self.random.choice(sorted(self.pages[id].words))}",
        }
        encode = msgspec.json.encode
        with self.world.context.db.write() as tx:
            tx.run(
                """UPDATE import_runs SET status = 'completed', pages = :pages, problems = :problems,
                     change_id = NULL, user_id = :user, source = :source, page_id = :page
                   WHERE id = :id""",
                pages=encode([ImportedPage(id, path=path)]).decode(),
                problems=encode([Problem(path, 1, "unknown_block", "this block isn't known")]).decode(),
                user=self.world.users["editor"],
                # Only people who can see the target see the source.
                source=encode(
                    source if into else {"type": "website", "url": "https://example.org/"}
                ).decode(),
                page=id if into else None,
                id=self.place["importRunId"],
            )

    def link(self, at: str) -> None:
        """Link to a page of the machine from the page tree of its space and of another space."""
        if (id := self.pick(SPACE)) is None:
            return
        space, target = self.place["spaceId"], {"kind": "page", "page": id}
        link = {"operation": "insert_link", "title": "Look"}
        self.change(SPACE, {**link, "target": target})
        url = f"https://example.org/{self.word()}"
        change = {**link, "target": {"kind": "url", "url": url}}
        self.world.call("admin", "POST", f"/spaces/{self.other}/content", json={"changes": [change]})
        encode = msgspec.json.encode
        with self.world.context.db.write() as tx:
            # Imports and archives can contain such targets.
            tx.run(
                "UPDATE page_versions SET fields = replace(fields, :before, :after) WHERE kind = 'link'",
                before=encode({"kind": "url", "url": url}).decode(),
                after=encode({**target, "space": space}).decode(),
            )
        self.world.context.db.caches.clear()

    def link_from_texts(self, at: str) -> None:
        """Link to a page of the machine from a page and a comment that everyone sees. The Markdown of a page contains
        the paths of the pages that it links to, so these must not contain words."""
        pages = self.alive if at == SPACE else self.alive_drafted
        id = self.pick(at)
        if id is None or "zq" in (pages[id].file_path or "zq"):
            return
        text = f"See [it](/pages/{id}), [a section](/pages/{id}#there), and [nothing](never.md#there).\n"
        page = self.place["pageId"]
        self.change(at, {"operation": "update_page", "page": page, "document": {"markdown": text}})
        comment = {"body": {"markdown": f"See [it](/pages/{id})."}, "page": page}
        self.world.call("admin", "POST", self.place.path(f"{at}/comments"), json=comment)

    def compare_links(self, at: str) -> None:
        """Check that links to a hidden page are listed like links to a page that never existed."""
        who, page = self.random.choice(("editor", "reviewer")), self.place["pageId"]
        hidden = sorted(self.hidden(who) & self.hidden(who, CHANGE))
        if not hidden:
            return
        found = []
        for target in (self.random.choice(hidden), new_id()):
            self.linked.add(target)
            text = f"[a](/pages/{target}), [b](/pages/{target}#there), and [c](/pages/{target}).\n"
            # A text by someone who sees the page would contain its path.
            changes = [{"operation": "update_page", "page": page, "document": {"markdown": text}}]
            content = self.place.path(f"{at}/content")
            written = self.world.call(who, "POST", content, json={"changes": changes})
            # The rules of the page itself may only let the person read it.
            if written.status_code == 403:
                return
            assert written.is_success, written.text
            paths = (f"{at}/links", f"{at}/content/page/{page}/links")
            found.append([links_of(self.world, who, path, 20).replace(target, "ID") for path in paths])
        self.count("links", who)
        if found[0] != found[1]:
            self.report(f"links in {at} ({who}) tell {hidden} from missing pages: {found}")

    def copy(self, at: str) -> None:
        """Copy the space as a template as someone who can't see everything."""
        who = self.random.choice(("editor", "reviewer"))
        template = {"id": self.place["spaceId"], "params": {"contentRefs": {}}}
        body = {"subject": "Copy", "template": template}
        made = self.world.call(who, "POST", f"/spaces/{self.other}/change-requests", json=body)
        self.count("template", INTEGRATION)
        if made.is_success:
            self.look_for(INTEGRATION, "template", made, "")
            with self.world.context.db.read() as tx:
                before = {page.id for page in list_pages(tx, find_state(tx, self.other, None))}
                pages = list_pages(tx, find_state(tx, self.other, made.json()["id"]).whole)
                # The Markdown of a page contains the paths of the pages that it links to.
                new = [page for page in pages if page.id not in before and page.title != "Links"]
                texts = [get_body(tx, page.body) for page in new if page.body]
            self.look_in(INTEGRATION, "a copy of the template", f"{new} {texts}")

    def print(self, at: str) -> None:
        """Print the space or a page, and open earlier links to PDFs."""
        who, id = self.random.choice(PEOPLE), self.random.choice([*self.pages, self.place["pageId"]])
        params = {"page": id} if self.random.random() < 0.5 else {}
        answer = self.world.call(who, "GET", self.place.path(f"{SPACE}/pdf"), params=params)
        if answer.is_success:
            self.links.append((who, answer.json()["url"].split("/~pdf/")[1].split("/")[0]))
            open_print(self.world.context, self.links[-1][1])
            self.work(at)
        for whose, token in self.links[-4:]:
            opened = open_print(self.world.context, token)
            self.count("PDF", whose)
            if opened is not None and opened.file is not None:
                content = self.world.context.files.read(opened.file.hash)
                text = "".join(page.extract_text() for page in PdfReader(BytesIO(content)).pages)
                # PDFs contain no restricted pages at all.
                self.look_in(INTEGRATION, "PDF", text)

    # --- what is sent ---------------------------------------------------------------------------------

    def receive(self, context: Context, delivery: Delivery) -> DeliveryResult:
        """Check an event for a webhook or an integration instead of sending it."""
        kind = delivery.recipient.kind
        self.cases[kind] += 1
        text = msgspec.json.encode(delivery.event).decode()
        hidden = self.hidden(INTEGRATION) & self.before[INTEGRATION]
        traces = [*hidden, *(word for id in hidden for word in self.pages[id].words)]
        if kind == INTEGRATION:
            traces += [one for id in hidden for one in self.comments_of(id)]
        if trace := next((one for one in traces if one in text), None):
            self.report(f"{kind} {delivery.type} tells {trace}: {text}")
        return DeliveryResult()

    def look_in(self, who: str, what: str, text: str) -> None:
        ids, words = self.unseen(who)
        for path in self.shown_paths(ids):
            text = text.replace(path, "")
        if trace := next((one for one in [*words, *ids] if one in text), None):
            at = text.find(trace)
            self.report(f"{what} ({who}) tells {trace}: {text[max(0, at - 200) : at + 80]}")

    def read_insights(self) -> None:
        """Read all columns of insights that can name a page."""
        who = self.random.choice(PEOPLE)
        body = {"range": "last7Days", "groupBy": [{"column": name} for name in COLUMNS]}
        path = self.place.path(f"{SITE}/insights/events/aggregate")
        self.count("insights", who)
        self.look_for(who, "insights", self.world.call(who, "POST", path, json=body), "")

    def read_results(self) -> None:
        """Read the results of scans, questions, imports, and translations."""
        who = self.random.choice(PEOPLE)
        for path in RESULTS:
            self.count("results", who)
            answer = self.world.call(who, "GET", self.place.path(path), params={"limit": 1000})
            self.look_for(who, path, answer, "")

    def visit(self) -> None:
        super().visit()
        self.read_insights()
        self.read_results()


def run(world: World, seed: int, *, steps: int, reads: int, writes: int) -> WholeMachine:
    """Run the machine from the initial world."""
    machine = WholeMachine(world.renew(), seed)
    machine.run(steps=steps, reads=reads, writes=writes)
    return machine
