"""Style guides, which are spaces whose pages are rules; rule packages for creating them; and checks of spaces
against them.

A page in a style guide is a rule if it has a YAML code block with a rule in Vale's format. The page title is the
name of the rule, and the first paragraph gives the reason for it. Other pages have no effect on checks."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct, field

from octavo.content.changes.commands import DocumentInput, InsertPage, UpdatePage
from octavo.content.changes.comparing import MergedContent
from octavo.content.changes.editing import edit
from octavo.content.changes.saving import create_with, edit_live, resolver_maker, retry_on_conflict
from octavo.content.changes.store import ChangeRow, get_change
from octavo.content.references.viewing import load_view, source_document
from octavo.content.revisions.restrictions import main_seen_by, unrestricted
from octavo.content.revisions.states import State, main_state
from octavo.core.checks.fixes import replace_text
from octavo.core.checks.pages import check_page, prose
from octavo.core.checks.style import StyleRule, StyleRuleError, is_rule
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Block, Document, plain_text
from octavo.core.pages import Page
from octavo.errors import NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, SpaceAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.creating import create_space
from octavo.organization.spaces.store import SpaceRow, find_space, get_space, set_type
from octavo.sites.site.store import find_site, update_site
from octavo.sites.site.structure.store import load_structure

from . import styleguide_store as store
from .styleguide_store import RunRow

MOST_RULES = 500
"""Maximum number of rules per style guide."""


class PackagedRule(Struct, frozen=True):
    """Rule in a rule package. It becomes a page in a new style guide."""

    title: str
    why: str
    rule: str

    @property
    def markdown(self) -> str:
        return f"{self.why}\n\n```yaml\n{self.rule.strip()}\n```\n"


class StylePackage(Struct, frozen=True):
    """Package of rules from which a style guide can be created."""

    id: str
    title: str
    subtitle: str
    emoji: str
    rules: list[PackagedRule] = field(default_factory=list)

    @property
    def markdown(self) -> str:
        """Return all rules as one page."""
        parts = [
            f"# {self.title}\n\n{self.subtitle}\n",
            *(f"## {r.title}\n\n{r.markdown}" for r in self.rules),
        ]
        return "\n".join(parts)


@cache
def list_packages() -> dict[str, StylePackage]:
    """Return the built-in packages by ID."""
    folder = files(__package__) / "style_packages"
    found: dict[str, StylePackage] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            data = tomllib.loads(entry.read_text("utf-8"))
            id = entry.name.removesuffix(".toml")
            rules = [PackagedRule(rule["title"], rule["why"], rule["rule"]) for rule in data["rules"]]
            found[id] = StylePackage(id, data["title"], data["subtitle"], data["emoji"], rules)
    return found


class ReadRules(Struct, frozen=True):
    """Rules of a style guide. ``problems``: pages whose rules can't be used, with the reasons. ``digest``: a hash
    that identifies the rules."""

    rules: list[StyleRule]
    problems: dict[str, str]
    digest: str


def read_rules(tx: Transaction, styleguide_id: str | None) -> ReadRules:
    """Return the rules of a style guide; empty if there is no style guide, or if it was deleted."""
    rules: list[StyleRule] = []
    problems: dict[str, str] = {}
    digest = hashlib.sha256()
    space = find_space(tx, styleguide_id) if styleguide_id is not None else None
    if space is not None and space.deleted_at is None:
        view = load_view(tx, unrestricted(tx, main_state(tx, space.id)))
        for page in view.every.documents():
            if page.computed or len(rules) >= MOST_RULES:
                continue
            why, source = rule_on(source_document(tx, space.id, page))
            if source is None:
                continue
            try:
                rules.append(StyleRule(page.title, source, why))
                digest.update(f"{page.title}\0{source}\0".encode("utf-8", "replace"))
            except StyleRuleError as error:
                problems[page.id] = str(error)
    return ReadRules(rules, problems, digest.hexdigest() if rules else "")


def rule_on(document: Document) -> tuple[str, str | None]:
    """Return the rationale and the source of the rule on a page. If the page isn't a rule, the source is None."""
    why = next((prose(block) for block in document.nodes if block.type == "paragraph"), "")
    block = find_rule_block(document)
    return why, _source_of(block) if block is not None else None


def find_rule_block(document: Document) -> Block | None:
    """Return the code block that contains a page's rule."""
    return next(
        (
            block
            for block in document.nodes
            if block.type == "code"
            and block.data.get("syntax") in ("yaml", "yml")
            and is_rule(_source_of(block))
        ),
        None,
    )


def _source_of(block: Block) -> str:
    return "\n".join(plain_text(line) for line in block.nodes)


def create_styleguide(context: Context, site: SiteAccess, template: str | None) -> str:
    """Create a site's style guide, and return the ID of its space. If the site already has a style guide, return
    the ID of its space. Raises NotFound if the template is unknown."""
    package = list_packages().get(template) if template is not None else None
    if template is not None and package is None:
        raise NotFound(f"template: there is no style guide template with the ID {template!r}")
    with context.db.write() as tx:
        tx.one(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site.site_id)
        row = find_site(tx, site.site_id)
        if row is not None and row.styleguide_id is not None and _is_alive(tx, row.styleguide_id):
            return row.styleguide_id
        title = package.title if package is not None else "Style guide"
        space = create_space(tx, site.organization, title[:50], emoji=package.emoji if package else None)
        set_type(tx, space.id, "styleguide")
        update_site(tx, site.site_id, styleguide_id=space.id)
        audit(
            tx,
            site.actor,
            "site.updated",
            site.organization_id,
            ("site", site.site_id),
            after={"styleguide": space.id},
        )
    if package is not None:
        _fill(context, site, space.id, package)
    return space.id


def _is_alive(tx: Transaction, space_id: str) -> bool:
    space = find_space(tx, space_id)
    return space is not None and space.deleted_at is None


def _fill(context: Context, site: SiteAccess, space_id: str, package: StylePackage) -> None:
    with context.db.read() as tx:
        space = space_access(tx, site.actor, Can.EDIT, space_id)
    pages = [
        InsertPage(title=rule.title, document=DocumentInput(markdown=rule.markdown)) for rule in package.rules
    ]
    meaning = resolver_maker(context, site.actor)
    edit_live(context, space, lambda tx, state, started: edit(meaning(tx, state), tx, state, pages))


def require_styleguide(tx: Transaction, site: SiteAccess) -> SpaceRow:
    """Return the style guide of a site. Raises NotFound if it has none."""
    row = find_site(tx, site.site_id)
    if row is None or row.styleguide_id is None or not _is_alive(tx, row.styleguide_id):
        raise NotFound("This site has no style guide. Create one first.")
    return get_space(tx, row.styleguide_id)


def run_styleguide(
    context: Context, site: SiteAccess, space_ids: Sequence[str]
) -> tuple[RunRow, list[ChangeRow]]:
    """Check spaces of a site against its style guide, and create a draft change request with the fixes for each
    space.

    If a space has an unmerged change request from an earlier check, that change request is kept. No change request
    is created for a space without findings that can be fixed. Raises NotFound if the site has no style guide, or if
    a space isn't one of the site's content spaces."""
    wanted = list(dict.fromkeys(space_ids))
    with context.db.write() as tx:
        guide = require_styleguide(tx, site)
        # Check access first, so that spaces that the caller can't see are treated like missing ones.
        spaces = [space_access(tx, site.actor, Can.EDIT, space_id) for space_id in wanted]
        of_site = {row.space_id for row in load_structure(tx, site.site_id).site_spaces.values()}
        for number, space_id in enumerate(wanted):
            if space_id not in of_site or space_id == guide.id:
                raise NotFound(f"spaces[{number}]: must be a space on this site other than the style guide")
        run = store.insert_run(tx, site, guide.id, wanted)
        audit(
            tx,
            site.actor,
            "site.style-guide-checked",
            site.organization_id,
            ("site", site.site_id),
            after={"run": run.id, "spaces": wanted},
        )
    changes = [
        change for space in spaces if (change := _run_in_space(context, space, guide.id, run)) is not None
    ]
    return run, changes


def _run_in_space(context: Context, space: SpaceAccess, guide_id: str, run: RunRow) -> ChangeRow | None:
    with context.db.write() as tx:
        known = store.find_open_change(tx, run.site_id, space.space_id)
        if known is not None:
            store.link_change(tx, run.id, space.space_id, known)
            return get_change(tx, known)
    meaning = resolver_maker(context, space.actor)

    def attempt() -> ChangeRow | None:
        with context.db.read() as tx:
            main = main_seen_by(tx, space)
            changes = _list_fixes(tx, unrestricted(tx, main.whole), read_rules(tx, guide_id).rules)
            count = len(changes)
            if not changes:
                return None
            edited = edit(meaning(tx, main), tx, main, changes)
        return create_with(
            context,
            space,
            main,
            MergedContent(edited.changes, edited.bodies, edited.keys, edited.conflicts),
            subject="Follow the style guide",
            also=lambda tx, change: store.link_change(tx, run.id, space.space_id, change.id, count),
        )

    return retry_on_conflict(attempt)


def _list_fixes(tx: Transaction, main: State, rules: Sequence[StyleRule]) -> list[UpdatePage]:
    view = load_view(tx, main)
    changes = []
    for page in view.every.documents():
        deadlines.check()
        if page.computed is None and (document := _fix_page(tx, main, page, rules)) is not None:
            changes.append(UpdatePage(page=page.id, document=DocumentInput(document=to_json(document))))
    return changes


def _fix_page(tx: Transaction, main: State, page: Page, rules: Sequence[StyleRule]) -> Document | None:
    document = source_document(tx, main.space_id, page)
    fixes = [fault.fix for fault in check_page(document, rules).faults if fault.kind == "style" and fault.fix]
    fixed = [replace_text(document, fix) for fix in fixes]
    return document if any(fixed) else None
