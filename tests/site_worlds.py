"""Random sites in which every word is unique, with a slow computation of which words a visitor may see.

Spaces are written once; structure, conditions, and audience are generated for each case. The result is
computed from the generated data, condition by condition, and doesn't depend on the code under test.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.kit.clock import now
from octavo.sites.site import store
from octavo.sites.site.audiences.visitor_auth import signing_key
from octavo.sites.site.previewing import make_preview
from octavo.sites.site.redirects.store import insert_redirect
from octavo.sites.site.store import get_site
from octavo.sites.site.structure import store as structure
from world import URL, World

WORD = re.compile(r"zq[a-z]{8}")
COMMON = "everywhere"


def words_of(text: str) -> set[str]:
    return set(WORD.findall(text))


Claims = dict[str, Any]
Condition = tuple[str, Callable[[Claims, Claims], bool]]
"""An expression, and whether it holds for signed and unsigned claims."""

CONDITIONS: list[Condition] = [
    ("visitor.claims.paying", lambda signed, said: signed.get("paying") is True),
    ("!visitor.claims.paying", lambda signed, said: signed.get("paying") is not True),
    ('visitor.claims.plan == "pro"', lambda signed, said: signed.get("plan") == "pro"),
    ("visitor.claims.unsigned.beta", lambda signed, said: said.get("beta") is True),
    (
        "visitor.claims.paying && !visitor.claims.unsigned.beta",
        lambda signed, said: signed.get("paying") is True and said.get("beta") is not True,
    ),
    ("not an expression (", lambda signed, said: False),
]
# Pages with a condition that does not parse are refused.
_OF_PAGES = CONDITIONS[:-1]
_CLAIM = {"type": "boolean", "description": "Whether"}
SCHEMA = {
    "type": "object",
    "properties": {
        "paying": _CLAIM,
        "plan": {"type": "string", "enum": ["pro", "free"], "description": "Plan"},
        "unsigned": {
            "type": "object",
            "description": "Unsigned claims of the site visitor.",
            "properties": {"beta": _CLAIM},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}


def _picture(shade: int) -> str:
    """Return an image of one pixel, as base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    data = zlib.compress(bytes([0, shade]))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return base64.b64encode(png).decode()


@dataclass
class MadePage:
    """``words`` are visible to everyone who can see the page; ``block``: words of a conditional block."""

    title: str
    words: set[str]
    condition: Condition | None = None
    block: tuple[Condition, set[str]] | None = None
    parent: MadePage | None = None
    hidden: bool = False
    indexed: bool = True
    told: bool = True
    linked: MadePage | None = None
    """A page that it shows a card of."""
    elsewhere: tuple[MadeSpace, MadePage] | None = None
    """A page of another space that it mentions by name."""
    files: set[str] = field(default_factory=set)
    block_files: set[str] = field(default_factory=set)
    news: set[str] = field(default_factory=set)
    """Words of its dated entries that whoever sees the page sees."""
    block_news: set[str] = field(default_factory=set)
    """Words of an entry under the condition of ``block``."""
    id: str = ""

    @property
    def path(self) -> str:
        return f"{self.parent.path}/{self.title}" if self.parent is not None else self.title


@dataclass
class MadeSpace:
    """``pages`` in order; the first is the home page."""

    title: str
    pages: list[MadePage]
    id: str = ""


@dataclass
class Guest:
    """Visitor: their signed and unsigned claims."""

    signed: Claims
    said: Claims


@dataclass(frozen=True)
class Shown:
    """A site space as it was drawn."""

    id: str
    space: MadeSpace
    section: str | None
    path: str
    default: bool
    condition: Condition | None
    draft: bool = False
    title: str | None = None


@dataclass(frozen=True)
class DrawnLink:
    """An external link as it was drawn."""

    words: frozenset[str]
    draft: bool
    condition: Condition | None


@dataclass(frozen=True)
class DrawnGroup:
    """A group as it was drawn. ``titles``: its own and those above; ``draft``: it is one, or is in one."""

    id: str
    titles: tuple[str, ...]
    draft: bool


@dataclass(frozen=True)
class DrawnSection:
    id: str
    title: str
    about: str
    path: str
    default: bool
    draft: bool
    condition: Condition | None
    groups: tuple[str, ...]
    """Titles of the groups that it lies in."""


class SiteWorld:
    """Site with four spaces, generated by ``draw``."""

    def __init__(self, world: World, random: Random) -> None:
        self.world, self.random = world, random
        self.words: set[str] = set()
        path = world.home.path("/orgs/{organizationId}/sites")
        self.spaces = [self._make_space(number) for number in range(4)]
        self.id = world.post("admin", path, {"title": "Everything"})["id"]
        self.path = f"{path}/{self.id}"
        answer = world.call("admin", "PUT", f"{self.path}/adaptive-schema", json={"jsonSchema": SCHEMA})
        assert answer.status_code == 200, answer.text
        self.link = world.post("admin", f"{self.path}/share-links", {"name": "Good"})["id"]
        self.closed = world.post("admin", f"{self.path}/share-links", {"name": "Closed"})["id"]
        self.url = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        self.base = urlsplit(self.url).path
        self.keys = {
            one["id"]: one["urls"]["published"].removeprefix(self.url).strip("/")
            for one in world.get("admin", f"{self.path}/share-links")["items"]
        }
        closing = world.call(
            "admin", "PATCH", f"{self.path}/share-links/{self.closed}", json={"active": False}
        )
        assert closing.status_code == 200
        self.sections: list[DrawnSection] = []
        self.shown: list[Shown] = []
        self.redirects: dict[str, tuple[Shown, MadePage | None]] = {}
        self.draft_redirects: dict[str, tuple[Shown, MadePage | None]] = {}
        self.links: list[DrawnLink] = []

    def word(self) -> str:
        while (made := "zq" + "".join(self.random.choices("abcdefghijklmnoprstuvwxy", k=8))) in self.words:
            pass
        self.words.add(made)
        return made

    def condition(self, often: float, among: list[Condition] = CONDITIONS) -> Condition | None:
        return self.random.choice(among) if self.random.random() < often else None

    # --- content ----------------------------------------------------------------------------------------

    def _make_space(self, number: int) -> MadeSpace:
        world = self.world
        home = MadePage(self.word(), set(), block=(self.random.choice(CONDITIONS), {self.word()}))
        few = MadePage(self.word(), set(), self.random.choice(_OF_PAGES))
        below = MadePage(self.word(), set(), self.condition(0.3, _OF_PAGES), parent=few)
        hidden = MadePage(self.word(), set(), hidden=True)
        unlisted = MadePage(self.word(), set(), indexed=False)
        untold = MadePage(self.word(), set(), told=False)
        home.linked = few
        untold.linked = below
        if number:
            other = self.spaces_so_far[-1]
            home.elsewhere = (other, other.pages[self.random.choice([0, 1])])
        space = MadeSpace(self.word(), [home, few, below, hidden, unlisted, untold])
        self.spaces_so_far = [*getattr(self, "spaces_so_far", []), space]
        spaces = world.home.path("/orgs/{organizationId}/spaces")
        space.id = world.post("admin", spaces, {"title": space.title})["id"]
        self._write(space, [home, few, hidden, unlisted])
        # Subpages and their links exist only with their page.
        self._write(space, [below, untold])
        return space

    def _write(self, space: MadeSpace, pages: list[MadePage]) -> None:
        world = self.world
        path = f"/spaces/{space.id}/change-requests"
        change = world.post("admin", path, {"subject": "Write"})["id"]
        files, inserts = [], []
        for page in pages:
            ref = f"file{page.title}"
            name = f"{self.word()}.png"
            # Of each space and page another one, as bytes are stored once.
            files.append(
                {
                    "name": name,
                    "base64": _picture(len(self.words) % 256),
                    "contentType": "image/png",
                    "ref": ref,
                }
            )
            (page.block_files if page.block is not None else page.files).add(name)
            about, body, alt = self.word(), self.word(), self.word()
            page.words |= {page.title, about, body}
            picture = f"![{alt}](/files/{ref})"
            text = [f"# {page.title}", f"{COMMON} {body} <!-- {self.word()} -->"]
            if page.block is not None:
                condition, words = page.block
                words.add(alt)
                text.append(
                    f"{{% if {condition[0]} %}}\n\n{COMMON} {' '.join(sorted(words))}\n\n{picture}\n\n{{% endif %}}"
                )
            else:
                page.words.add(alt)
                text.append(picture)
            if page.block is not None:
                page.news |= {self.word(), self.word()}
                page.block_news.add(self.word())
                page.words |= page.news
                page.block[1].update(page.block_news)
                text.append(
                    f'{{% updates format="full" %}}\n{{% update date="2026-01-02" %}}\n'
                    f"{' '.join(sorted(page.news))}\n\n"
                    f"{{% if {page.block[0][0]} %}}\n\n{' '.join(page.block_news)}\n\n{{% endif %}}\n"
                    f"{{% endupdate %}}\n"
                    "{% endupdates %}"
                )
            if page.linked is not None:
                target = f"./{page.linked.title}.md"
                text.append(
                    f'{{% content-ref url="{target}" %}}\n[{page.linked.title}]({target})\n{{% endcontent-ref %}}'
                )
            if page.elsewhere is not None:
                other, there = page.elsewhere
                text.append(f'[{there.title}]({URL}/s/{other.id}/{there.path} "mention")')
            inserts.append(
                {
                    "operation": "insert_page",
                    "document": {"markdown": "\n\n".join(text) + "\n"},
                    "title": page.title,
                    "slug": page.title,
                    "description": about,
                    "ref": page.title,
                    "hidden": page.hidden,
                    "noIndex": not page.indexed,
                    "noRobotsIndex": not page.told,
                    **({"condition": page.condition[0]} if page.condition is not None else {}),
                    **({"into": page.parent.id} if page.parent is not None else {}),
                }
            )
        changes = [{"operation": "insert_files", "files": files}, *inserts]
        world.post("admin", f"{path}/{change}/content", {"changes": changes})
        world.post("admin", f"{path}/{change}/merge")
        found = world.get("admin", f"/spaces/{space.id}/content/pages")["pages"]
        flat = {page["title"]: page["id"] for page in [*found, *(c for p in found for c in p["pages"])]}
        for page in space.pages:
            page.id = flat.get(page.title, "")

    # --- drawing ----------------------------------------------------------------------------------------

    def draw(self, visibility: str, *, published: bool, adaptive: bool) -> None:
        """Another structure, with other conditions, for another audience."""
        random = self.random
        self.sections, self.shown, self.links, self.redirects = [], [], [], {}
        self.draft_redirects = {}
        with self.world.context.db.write() as tx:
            for table in (
                "site_redirects",
                "site_former_paths",
                "site_spaces",
                "site_sections",
                "site_section_groups",
                "site_external_links",
            ):
                tx.run(f"DELETE FROM {table} WHERE site_id = :site", site=self.id)
            site = get_site(tx, self.id)
            settings = msgspec.structs.replace(site.settings, adaptive=adaptive)
            store.update_site(tx, self.id, settings=settings, visibility=visibility, published=int(published))
            if random.random() < 0.25:
                self._draw_variants(tx, None, random.randint(0, 3))
            else:
                groups = self._draw_groups(tx)
                for number in range(random.randint(1, 4)):
                    self._draw_section(tx, groups, first=not number)
                for number in range(random.randint(0, 2)):
                    self._draw_link(tx, random.choice([None, *groups]), number)
            for shown in self.shown:
                source, page = self.word(), random.choice([None, *shown.space.pages])
                columns: dict[str, str | None] = {
                    "kind": "site-page" if page else "site-space",
                    "section_id": None,
                    "site_space_id": shown.id,
                    "page_id": page.id if page else None,
                    "url": None,
                }
                draft = random.random() < 0.3
                insert_redirect(tx, self.id, f"/{source}", columns, draft=draft)
                (self.draft_redirects if draft else self.redirects)[source] = (shown, page)
                former = self.word()
                structure.put_former_paths(tx, self.id, {former: shown.id})
                self.redirects[former] = (shown, None)

    def _draw_groups(self, tx: Any) -> list[DrawnGroup]:
        made: list[DrawnGroup] = []
        for number in range(self.random.randint(0, 2)):
            above = self.random.choice([None, *made])
            title, draft = self.word(), self.random.random() < 0.3
            group = structure.insert_group(
                tx,
                self.id,
                parent_id=above.id if above else None,
                rank=f"a{number}",
                title=title,
                icon=None,
                draft=draft,
            )
            titles = (*(above.titles if above else ()), title)
            made.append(DrawnGroup(group, titles, draft or (above is not None and above.draft)))
        return made

    def _draw_link(self, tx: Any, group: DrawnGroup | None, number: int) -> None:
        title, about, name = self.word(), self.word(), self.word()
        condition, draft = self.condition(0.4), self.random.random() < 0.4
        link = structure.ExternalLinkRow(
            id=f"link{len(self.words)}",
            site_id=self.id,
            group_id=group.id if group else None,
            rank=f"d{number}",
            title=title,
            url=f"https://elsewhere.test/{name}",
            description=about,
            icon=None,
            condition=condition[0] if condition else None,
            draft=int(draft),
        )
        structure.put_row(tx, link)
        titles = group.titles if group else ()
        in_draft = draft or (group is not None and group.draft)
        self.links.append(DrawnLink(frozenset({title, about, name, *titles}), in_draft, condition))

    def _draw_section(self, tx: Any, groups: list[DrawnGroup], *, first: bool) -> None:
        group = self.random.choice([None, *groups])
        title, about, path = self.word(), self.word(), self.word()
        condition, draft = self.condition(0.5), self.random.random() < 0.2
        id = structure.insert_section(
            tx,
            self.id,
            rank=f"b{len(self.sections)}",
            path=path,
            title=title,
            icon=None,
            is_default=first,
            draft=draft,
        )
        tx.run(
            "UPDATE site_sections SET condition = :condition, description = :about, group_id = :group WHERE id = :id",
            condition=condition[0] if condition else None,
            about=about,
            group=group.id if group else None,
            id=id,
        )
        titles = group.titles if group else ()
        in_draft = draft or (group is not None and group.draft)
        self.sections.append(DrawnSection(id, title, about, path, first, in_draft, condition, titles))
        self._draw_variants(tx, id, self.random.randint(0, 3))

    def _draw_variants(self, tx: Any, section: str | None, count: int) -> None:
        for number, space in enumerate(self.random.sample(self.spaces, count)):
            path, condition = self.word(), self.condition(0.4)
            id = structure.insert_site_space(
                tx, self.id, space.id, section_id=section, rank=f"c{number}", path=path, is_default=not number
            )
            draft = self.random.random() < 0.25
            title = self.word() if self.random.random() < 0.3 else None
            tx.run(
                "UPDATE site_spaces SET condition = :condition, draft = :draft, title = :title WHERE id = :id",
                condition=condition[0] if condition else None,
                draft=int(draft),
                title=title,
                id=id,
            )
            self.shown.append(Shown(id, space, section, path, not number, condition, draft, title))

    # --- what a visitor brings --------------------------------------------------------------------------

    def token(self, signed: Claims, *, key: str | None = None, lasts: int = 3600) -> str:
        with self.world.context.db.read() as tx:
            own = signing_key(self.world.context.signer, get_site(tx, self.id))
        claims = {"exp": now() // 1000 + lasts, **signed}
        return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(key or own))

    def preview(self, guest: Guest, *, drafts: bool = False) -> str:
        # As ``preview_url`` creates it: claims that aren't in the schema, or have another type, are missing.
        signed = {
            name: value for name, value in guest.signed.items() if name == "plan" or isinstance(value, bool)
        }
        said = {name: value for name, value in guest.said.items() if name == "beta" and value is True}
        visitor = {"claims": {**signed, "unsigned": said}}
        admin = self.world.actor("admin")
        return make_preview(self.world.context.signer, self.id, admin, visitor, drafts=drafts)


class Answer:
    """The content of a generated site that one visitor can see."""

    def __init__(self, site: SiteWorld, guest: Guest, *, drafts: bool = False) -> None:
        self.site, self.guest, self.drafts = site, guest, drafts
        self.sections = [
            section for section in site.sections if self.passes(section) and self._variants(section.id)
        ]
        seen = {section.id for section in self.sections}
        self.shown = [
            one for one in site.shown if self.passes(one) and (one.section is None or one.section in seen)
        ]
        if site.sections:
            # Entries next to sections are shown only by chance, so none are generated.
            assert all(one.section for one in site.shown)
        self.spaces = {one.space.id: one.space for one in self.shown}

    def passes(self, drawn: Shown | DrawnSection | DrawnLink) -> bool:
        return (self.drafts or not drawn.draft) and self.holds(drawn.condition)

    def holds(self, condition: Condition | None) -> bool:
        return condition is None or condition[1](self.guest.signed, self.guest.said)

    def _variants(self, section: str) -> bool:
        return any(one.section == section and self.passes(one) for one in self.site.shown)

    def base(self, one: Shown) -> str:
        section = next((s for s in self.site.sections if s.id == one.section), None)
        above = "" if section is None or section.default else f"{section.path}/"
        return above if one.default else f"{above}{one.path}/"

    def sees(self, page: MadePage) -> bool:
        return self.holds(page.condition) and (page.parent is None or self.sees(page.parent))

    def pages(self, space: MadeSpace) -> list[MadePage]:
        return [page for page in space.pages if self.sees(page)]

    def words_of_page(self, page: MadePage) -> set[str]:
        """Return the words of the page's own text, without those of linked pages."""
        block = page.block[1] if page.block is not None and self.holds(page.block[0]) else set()
        return page.words | block

    def news_of_page(self, page: MadePage) -> set[str]:
        block = page.block_news if page.block is not None and self.holds(page.block[0]) else set()
        return page.news | block

    def files_of_page(self, page: MadePage) -> set[str]:
        block = page.block_files if page.block is not None and self.holds(page.block[0]) else set()
        return {name for name in page.files | block}

    def linked(self, page: MadePage) -> set[str]:
        """Return the words that a page shows about the pages it links to."""
        found: set[str] = set()
        if page.linked is not None and self.sees(page.linked):
            found |= page.linked.words | set(words_of(page.linked.path))
        if page.elsewhere is not None:
            space, there = page.elsewhere
            # The text of the link and its URL are kept if the visitor can't open it, because they are written there.
            found |= {there.title}
            if space.id in self.spaces and self.sees(there):
                found |= there.words | {space.title}
        return found

    def frame(self) -> set[str]:
        """Return the words allowed on every page of the site: sections, variants, and their URLs."""
        found: set[str] = set()
        for section in self.sections:
            found |= {section.title, section.about, section.path, *section.groups}
        for one in self.shown:
            found |= {one.path, one.space.title, *filter(None, [one.title])}
        for link in self.site.links:
            found |= link.words if self.passes(link) else set()
        return found

    def listed(self) -> set[str]:
        """Return everything that lists, search, and pages of the site can contain, without hidden pages."""
        found = self.frame()
        for space in self.spaces.values():
            for page in self.pages(space):
                if not page.hidden:
                    found |= self.words_of_page(page) | self.linked(page)
                    found |= words_of(" ".join(self.files_of_page(page)))
        return found

    def of_hidden(self) -> set[str]:
        return {
            word
            for space in self.spaces.values()
            for page in self.pages(space)
            if page.hidden
            for word in self.words_of_page(page) | words_of(" ".join(self.files_of_page(page)))
        }


def quoted(text: str) -> str:
    return quote(text, safe="")
