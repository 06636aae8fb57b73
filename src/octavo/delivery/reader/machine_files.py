"""Files that explain to agents how to read a site: llms.txt and its parts, sitemap.md, skill.md, and metadata
under ``.well-known``.

All of these files are generated without a language model, from the content that the requesting visitor can see.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from octavo.core.json_types import JsonObject
from octavo.core.pages import Page
from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit
from octavo.kit.db.database import Transaction
from octavo.organization.spaces.store import get_titles
from octavo.sites.site.structure.store import localize

from .sites import listed_pages

LLMS_PARTS = "~llms"
"""Path of the parts of a long llms.txt, relative to the site's base URL."""
SITEMAP, SKILL = "sitemap.md", "skill.md"
WELL_KNOWN = ".well-known"
_MAX_INDEX = 40_000
"""Maximum number of characters in one llms.txt. Agents don't read more in one request."""
_MAX_NAMES = 200
_MAX_SUMMARY = 500
_SKILL_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


class ListedSitePage(NamedTuple):
    space: SpaceVisit
    page: Page

    @property
    def address(self) -> str:
        return self.space.visit.public(f"{self.space.base}{quote(self.space.view.tree.url_path(self.page))}")

    @property
    def markdown(self) -> str:
        return self.space.visit.public(f"{self.space.base}{quote(self.space.view.tree.path(self.page))}.md")


class IndexChapter(NamedTuple):
    """Pages under one heading."""

    title: str
    entries: list[ListedSitePage]


def _in_line(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(text.split()))


def _item(entry: ListedSitePage, address: str) -> str:
    about = f": {' '.join(entry.page.description.split())}" if entry.page.description else ""
    return f"- [{_in_line(entry.page.title)}]({address}){about}"


def _section_title(tx: Transaction, space: SpaceVisit) -> str:
    """Return the name of a space on a site with several spaces: the name of its section, and the name of its variant if
    the section has more than one variant."""
    section = space.visit.outline.section(space.site_space.section_id)
    titles = [section.title] if section is not None else []
    if len(space.site_spaces) > 1 or not titles:
        own = get_titles(tx, [space.site_space.space_id])[space.site_space.space_id]
        titles.append(localize(space.site_space, "title", own.language or "en") or own.title)
    return " / ".join(titles)


def list_chapters(tx: Transaction, visit: SiteVisit) -> list[IndexChapter]:
    """Return all listed pages in reading order, grouped by section or, on sites with only one section, by page
    group."""
    chapters: list[IndexChapter] = []
    several = len(visit.outline.site_spaces()) > 1
    at: tuple[str, str] | None = None
    for space, page in listed_pages(tx, visit):
        above = space.view.tree.ancestors(page)
        group = above[0] if above and above[0].kind == "group" else None
        here = (space.site_space.id, group.id if group is not None and not several else "")
        if here != at:
            title = _section_title(tx, space) if several else group.title if group is not None else ""
            chapters.append(IndexChapter(title or visit.site.title, []))
            at = here
        chapters[-1].entries.append(ListedSitePage(space, page))
    return chapters


def _summary(chapters: Sequence[IndexChapter], visit: SiteVisit) -> str:
    first = next((entry.page for chapter in chapters for entry in chapter.entries), None)
    about = " ".join((first.description or "").split()) if first is not None else ""
    return _in_line(about[:_MAX_SUMMARY]) if about else f"The “{_in_line(visit.site.title)}” documentation."


def _head(chapters: Sequence[IndexChapter], visit: SiteVisit, mcp: str | None) -> str:
    start = visit.published
    lines = [
        f"# {_in_line(visit.site.title)}",
        "",
        f"> {_summary(chapters, visit)}",
        "",
        (
            "Every page is also available as Markdown: append `.md` to its URL or send `Accept: "
            f"text/markdown`. All pages in one file: {start}llms-full.txt. Page tree: {start}{SITEMAP}."
        ),
    ]
    if mcp:
        lines += ["", f"MCP server: {mcp}"]
    return "\n".join(lines)


class _Part(NamedTuple):
    text: str
    names: list[str]
    pages: int


def _parts(chapters: Sequence[IndexChapter]) -> list[_Part]:
    """Return the lists of pages as parts of at most ``_MAX_INDEX`` characters, split between pages."""
    found: list[_Part] = []
    lines: list[str] = []
    names: list[str] = []
    size = pages = 0

    def end() -> None:
        nonlocal lines, names, size, pages
        if pages:
            found.append(_Part("\n".join(lines).strip("\n"), names, pages))
        lines, names, size, pages = [], [], 0, 0

    for chapter in chapters:
        begun = False
        for entry in chapter.entries:
            line = _item(entry, entry.markdown)
            if size + len(line) > _MAX_INDEX:
                end()
                begun = False
            if not begun:
                lines += ["", f"## {_in_line(chapter.title)}", ""]
                names.append(chapter.title)
                size += len(chapter.title) + 8
                begun = True
            lines.append(line)
            size += len(line) + 1
            pages += 1
    end()
    return found


def llms_text(tx: Transaction, visit: SiteVisit, mcp: str | None) -> str:
    """Return the site index for language models: its pages by section, or links to the parts of the index if there are
    too many pages for a single file. ``mcp``: the URL of the site's MCP server, if any."""
    chapters = list_chapters(tx, visit)
    head, parts = _head(chapters, visit, mcp), _parts(chapters)
    if not parts:
        return f"{head}\n"
    if len(parts) == 1:
        return f"{head}\n\n{parts[0].text}\n"
    rows = []
    for number, part in enumerate(parts, 1):
        names = ", ".join(dict.fromkeys(_in_line(name) for name in part.names))
        if len(names) > _MAX_NAMES:
            names = f"{names[:_MAX_NAMES]}…"
        rows.append(
            f"- [Part {number}]({visit.published}{LLMS_PARTS}/{number}.txt): {part.pages} pages from {names}"
        )
    return f"{head}\n\n## Parts of this index\n\n" + "\n".join(rows) + "\n"


def llms_part(tx: Transaction, visit: SiteVisit, name: str) -> str | None:
    """Return a part of an index that is too long for a single file, by its last path segment; None if it doesn't
    exist."""
    number = name.removesuffix(".txt")
    parts = _parts(list_chapters(tx, visit))
    if name == number or not number.isascii() or not number.isdecimal() or len(parts) < 2 or len(number) > 6:
        return None
    at = int(number)
    if not 1 <= at <= len(parts) or str(at) != number:
        return None
    title = f"# {_in_line(visit.site.title)}: part {at} of {len(parts)}"
    return f"{title}\n\n> Full index: {visit.published}llms.txt\n\n{parts[at - 1].text}\n"


def sitemap_markdown(tx: Transaction, visit: SiteVisit) -> str:
    """Return the tree of listed pages as a nested list."""
    lines = [f"# {_in_line(visit.site.title)}", "", f"> Index with descriptions: {visit.published}llms.txt"]
    for chapter in list_chapters(tx, visit):
        lines += ["", f"## {_in_line(chapter.title)}", ""]
        for entry in chapter.entries:
            above = [page for page in entry.space.view.tree.ancestors(entry.page) if page.kind == "document"]
            lines.append(f"{'  ' * len(above)}- [{_in_line(entry.page.title)}]({entry.address})")
    return "\n".join(lines) + "\n"


# --- skills and cards -------------------------------------------------------------------------------------


def _skill_name(visit: SiteVisit) -> str:
    """Return a site's title as a skill name: lowercase Latin letters, digits, and single hyphens."""
    plain = unicodedata.normalize("NFKD", visit.site.title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return name[:50].strip("-") or "documentation"


def skill_text(tx: Transaction, visit: SiteVisit, mcp: str | None) -> str:
    """Return a skill that explains to agents how to use the documentation."""
    chapters = list_chapters(tx, visit)
    title, start = _in_line(visit.site.title), visit.published
    about = f"Answer questions about {visit.site.title} from its published documentation."
    summary = _summary(chapters, visit)
    described = msgspec.json.encode(f"{about} {summary}"[:1000]).decode()
    names = list(dict.fromkeys(chapter.title for chapter in chapters))
    steps = [
        f"Read {start}llms.txt and choose pages by their titles and descriptions.",
        "Read a page as Markdown: append `.md` to its URL or send `Accept: text/markdown`.",
        "Cite the URLs of the pages an answer is based on. If no page contains the answer, say so.",
    ]
    if mcp:
        steps.insert(1, f"Or search with the MCP server at {mcp}.")
    lines = [
        "---",
        f"name: {_skill_name(visit)}",
        f"description: {described}",
        "---",
        "",
        f"# {title}",
        "",
        f"{summary}",
        "",
        "## How to find an answer",
        "",
        *(f"{number}. {step}" for number, step in enumerate(steps, 1)),
    ]
    if names:
        lines += ["", "## What it covers", ""]
        for name in names[:50]:
            first = next(chapter.entries[0] for chapter in chapters if chapter.title == name)
            count = sum(len(chapter.entries) for chapter in chapters if chapter.title == name)
            lines.append(
                f"- [{_in_line(name)}]({first.address}): {count} {'page' if count == 1 else 'pages'}"
            )
    return "\n".join(lines) + "\n"


def well_known(tx: Transaction, visit: SiteVisit, path: str, mcp: str | None) -> tuple[bytes, str] | None:
    """Return a document under ``.well-known/`` with its media type; None if there is none."""
    skill = f"{_skill_name(visit)}/SKILL.md"
    folder, _, name = path.partition("/")
    if folder in ("agent-skills", "skills") and name == skill:
        return skill_text(tx, visit, mcp).encode(), "text/markdown; charset=utf-8"
    made = _cards(tx, visit, mcp).get(path)
    return (msgspec.json.format(msgspec.json.encode(made), indent=2), "application/json") if made else None


def _cards(tx: Transaction, visit: SiteVisit, mcp: str | None) -> JsonObject:
    start, title, name = visit.published, visit.site.title, _skill_name(visit)
    about = f"Answers questions about {title} from its published documentation."
    text = skill_text(tx, visit, mcp).encode()
    address = f"{start}{WELL_KNOWN}/agent-skills/{name}/SKILL.md"
    skill = {
        "name": name,
        "type": "skill-md",
        "description": about,
        "url": address,
        "digest": f"sha256:{hashlib.sha256(text).hexdigest()}",
    }
    cards: JsonObject = {
        "agent-skills/index.json": {"$schema": _SKILL_SCHEMA, "skills": [skill]},
        "skills/index.json": {"skills": [{"name": name, "description": about, "files": ["SKILL.md"]}]},
    }
    if mcp:
        server = {
            "name": name,
            "title": title,
            "version": version("octavo"),
            "description": about,
            "transport": {"type": "streamable-http", "endpoint": mcp},
            "documentationUrl": start,
            "authentication": {"required": visit.site.visibility == "visitor-auth"},
        }
        cards["mcp/server-card.json"] = server
        cards["mcp.json"] = cards["mcp"] = {"servers": [{"name": name, "url": mcp, "title": title}]}
    return cards
