"""Rows of a site's structure. They are all loaded at once, because a structure is small, and most queries need all of
it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.content.revisions.page_versions import filter_restricted_spaces
from octavo.content.revisions.restrictions import shown_state
from octavo.content.revisions.states import FOREVER
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

from ..localized import text_in

MAX_SECTIONS = 200
MAX_GROUPS = 100
MAX_SITE_SPACES = 1000
MAX_LINKS = 100
MAX_DEPTH = 4
"""Maximum nesting depth of section groups. The constants above limit the number of sections, groups, spaces, and
external links per site."""


class SectionRow(Struct, frozen=True):
    id: str
    site_id: str
    group_id: str | None
    rank: str
    path: str
    title: str
    description: str | None
    icon: str | None
    condition: str | None
    is_default: int
    draft: int
    docs_key: str | None = None
    """Key in ``docs.yaml``."""
    localized: str | None = None
    """JSON with the title and description in other languages. Read it with ``localize``."""


class SectionGroupRow(Struct, frozen=True):
    id: str
    site_id: str
    parent_id: str | None
    rank: str
    title: str
    icon: str | None
    docs_key: str | None = None
    localized: str | None = None
    draft: int = 0


class ExternalLinkRow(Struct, frozen=True):
    """Link to another website, between sections."""

    id: str
    site_id: str
    group_id: str | None
    rank: str
    title: str
    url: str
    description: str | None
    icon: str | None
    condition: str | None
    draft: int
    localized: str | None = None


class SiteSpaceRow(Struct, frozen=True):
    id: str
    site_id: str
    space_id: str
    section_id: str | None
    rank: str
    path: str
    is_default: int
    condition: str | None
    docs_key: str | None = None
    docs_directory: str | None = None
    """Directory of the space in the repository, with a trailing slash; empty for the entire repository."""
    localized: str | None = None
    title: str | None = None
    """Title on the site; None to use the space's title."""
    page_id: str | None = None
    """ID of the page to show as the start page instead of the first page."""
    hidden: int = 0
    """Whether the site space is omitted from the navigation. Its URLs still work."""
    draft: int = 0


_SECTION = ", ".join(SectionRow.__struct_fields__)
_GROUP = ", ".join(SectionGroupRow.__struct_fields__)
_LINK = ", ".join(ExternalLinkRow.__struct_fields__)
_SITE_SPACE = ", ".join(f"x.{name}" for name in SiteSpaceRow.__struct_fields__)

Node = SectionRow | SectionGroupRow | ExternalLinkRow
Row = Node | SiteSpaceRow


def read_localized(row: Row) -> dict[str, dict[str, str]]:
    """Return the translations of the title and description, by field and language."""
    found: dict[str, dict[str, str]] = msgspec.json.decode(row.localized) if row.localized else {}
    return found


def localize(row: Row, name: str, language: str | None) -> str | None:
    """Return ``title`` or ``description`` in a language (``pt-BR`` falls back to ``pt``); None if there is none."""
    return text_in(language, read_localized(row).get(name, {})) if row.localized and language else None


def with_localized(
    row: Row | None,
    *,
    title: Mapping[str, str] | UnsetType | None = UNSET,
    description: Mapping[str, str] | UnsetType | None = UNSET,
) -> str | None:
    """Return the ``localized`` column of a row with these translations. Unset translations stay unchanged. ``row``: the
    row; None for a new one."""
    texts: dict[str, Mapping[str, str]] = dict(read_localized(row)) if row is not None else {}
    for name, given in (("title", title), ("description", description)):
        if given is not UNSET:
            texts[name] = given or {}
    kept = {name: given for name, given in texts.items() if given}
    return msgspec.json.encode(kept, order="deterministic").decode() if kept else None


R = TypeVar("R")


class Structure:
    """Structure of one site. Spaces in the trash are omitted when the structure is displayed, but included when it
    is edited."""

    def __init__(
        self,
        sections: list[SectionRow],
        groups: list[SectionGroupRow],
        site_spaces: list[SiteSpaceRow],
        empty: frozenset[str] = frozenset(),
        links: Sequence[ExternalLinkRow] = (),
    ) -> None:
        self.empty = empty
        """Spaces without pages."""
        self.concealed: frozenset[str] = frozenset()
        """IDs of the parts that the caller can't see. They keep their positions, but can't be found by ID."""
        self.sections = {section.id: section for section in sections}
        self.groups = {group.id: group for group in groups}
        self.links = {link.id: link for link in links}
        self.site_spaces = {shown.id: shown for shown in site_spaces}
        self._variants: dict[str | None, list[SiteSpaceRow]] = defaultdict(list)
        for shown in sorted(site_spaces, key=lambda row: (row.rank, row.id)):
            self._variants[shown.section_id].append(shown)
        self._children: dict[str | None, list[Node]] = defaultdict(list)
        nodes: list[Node] = [*sections, *groups, *links]
        for node in sorted(nodes, key=lambda row: (row.rank, row.id)):
            self._children[self.parent(node)].append(node)

    def is_same(self, other: Structure) -> bool:
        """Return whether both structures have the same rows."""
        return (self.sections, self.groups, self.links, self.site_spaces) == (
            other.sections,
            other.groups,
            other.links,
            other.site_spaces,
        )

    @staticmethod
    def parent(node: Node) -> str | None:
        """Return the ID of the group that contains a section, group, or link; None at the top level."""
        return node.parent_id if isinstance(node, SectionGroupRow) else node.group_id

    def children(self, group_id: str | None) -> list[Node]:
        """Return the contents of a group or of the top level, in order."""
        return self._children.get(group_id, [])

    def gates(self, shown: SiteSpaceRow) -> set[str | None]:
        """Return the gates that can hide a site space. A gate is a condition, or None for a draft."""
        section = self.sections.get(shown.section_id or "")
        conditions = {shown.condition, section.condition if section is not None else None} - {None, ""}
        return conditions | {None} if self.is_draft(shown) else conditions

    def draft_of(self, row: Row) -> Row | None:
        """Return the draft that makes a row a draft: the row itself, or the nearest draft that contains it;
        None for a live row."""
        if row.draft:
            return row
        above: Row | None
        if isinstance(row, SiteSpaceRow):
            above = self.sections.get(row.section_id or "")
        else:
            above = self.groups.get(self.parent(row) or "")
        return self.draft_of(above) if above is not None else None

    def is_draft(self, row: Row) -> bool:
        """Return whether a row, or a part that contains it, is a draft."""
        return self.draft_of(row) is not None

    def conceal(self, sees: Callable[[str], bool]) -> None:
        """Conceal the site spaces whose spaces the caller can't see, and the sections and groups that contain
        only such site spaces. ``sees``: a function that returns whether the caller can see a space."""
        concealed = {id for id, shown in self.site_spaces.items() if not sees(shown.space_id)}
        for section in self.sections.values():
            inside = self.variants(section.id)
            if inside and all(shown.id in concealed for shown in inside):
                concealed.add(section.id)
        for group in sorted(self.groups.values(), key=lambda group: self.height(group.id)):
            below = self.children(group.id)
            if below and all(node.id in concealed for node in below):
                concealed.add(group.id)
        self.concealed = frozenset(concealed)

    def seen(self, rows: Mapping[str, R], row_id: str) -> R | None:
        """Return the row of a part with this ID, unless the part is concealed from the caller."""
        return None if row_id in self.concealed else rows.get(row_id)

    def find(self, row_id: str) -> Row | None:
        """Return the section, group, link, or site space with this ID, unless it is concealed."""
        return (
            self.seen(self.sections, row_id)
            or self.seen(self.groups, row_id)
            or self.seen(self.links, row_id)
            or self.seen(self.site_spaces, row_id)
        )

    def variants(self, section_id: str | None) -> list[SiteSpaceRow]:
        """Return the site spaces of a section, or of a site without sections, in order."""
        return self._variants.get(section_id, [])

    def ordered(self) -> list[Node]:
        """Return all sections and groups in reading order, each group before its contents."""
        found: list[Node] = []
        stack = list(reversed(self.children(None)))
        while stack:
            node = stack.pop()
            found.append(node)
            if isinstance(node, SectionGroupRow):
                stack += reversed(self.children(node.id))
        return found

    def ordered_site_spaces(self) -> list[SiteSpaceRow]:
        """Return all site spaces in reading order."""
        found = list(self.variants(None))
        for node in self.ordered():
            if isinstance(node, SectionRow):
                found += self.variants(node.id)
        return found

    @property
    def default_section(self) -> SectionRow | None:
        return next((section for section in self.sections.values() if section.is_default), None)

    def default_site_space(self, section_id: str | None) -> SiteSpaceRow | None:
        """Return the default site space of a section, or its first site space if the default is in the trash."""
        variants = self.variants(section_id)
        return next((shown for shown in variants if shown.is_default), variants[0] if variants else None)

    def base(self, shown: SiteSpaceRow) -> str:
        """Return the path of a site space, relative to its site, with a trailing slash unless it is the start
        of the site.

        Defaults have no path: the site starts with the default section, and a section starts with its default
        variant."""
        section = self.sections[shown.section_id] if shown.section_id is not None else None
        base = "" if section is None or section.is_default else f"{section.path}/"
        return base if shown.is_default else f"{base}{shown.path}/"

    def find_at(self, segments: Sequence[str]) -> tuple[SiteSpaceRow | None, str]:
        """Return the site space with the longest base that matches the start of a path, and the rest of the path."""
        bases = {self.base(shown).strip("/"): shown for shown in self.site_spaces.values()}
        for length in (2, 1, 0):
            found = bases.get("/".join(segments[:length]).lower()) if length <= len(segments) else None
            if found is not None:
                return found, "/".join(segments[length:])
        return None, ""

    def section_base(self, section: SectionRow) -> str:
        return "" if section.is_default else f"{section.path}/"

    def key(self, row: Row) -> str:
        """Return a key that sorts all sections, groups, and links, or all site spaces, like ``ordered``."""
        above = row.section_id if isinstance(row, SiteSpaceRow) else self.parent(row)
        own = f"{row.rank}.{row.id}"
        holder = self.sections.get(above or "") or self.groups.get(above or "")
        return own if holder is None else f"{self.key(holder)}/{own}"

    def depth(self, group_id: str | None) -> int:
        """Return the depth of a group's contents: the number of groups that contain the contents, including the
        group itself; 0 for the top level."""
        count = 0
        while group_id is not None:
            group_id, count = self.groups[group_id].parent_id, count + 1
        return count

    def height(self, group_id: str) -> int:
        """Return the number of levels of groups in a group, including the group itself."""
        below = [
            self.height(node.id) for node in self.children(group_id) if isinstance(node, SectionGroupRow)
        ]
        return 1 + max(below, default=0)


def load_structure(tx: Transaction, site_id: str, *, trashed: bool = False) -> Structure:
    """Load the structure of a site with five SQL statements, regardless of its size. ``trashed``: whether to include
    spaces in the trash."""
    alive = "" if trashed else " AND s.deleted_at IS NULL"
    sections = tx.all(f"SELECT {_SECTION} FROM site_sections WHERE site_id = :site", site=site_id)
    groups = tx.all(f"SELECT {_GROUP} FROM site_section_groups WHERE site_id = :site", site=site_id)
    links = tx.all(f"SELECT {_LINK} FROM site_external_links WHERE site_id = :site", site=site_id)
    site_spaces = tx.all(
        f"""SELECT {_SITE_SPACE} FROM site_spaces x JOIN spaces s ON s.id = x.space_id{alive}
            WHERE x.site_id = :site""",
        site=site_id,
    )
    return Structure(
        [SectionRow(*row) for row in sections],
        [SectionGroupRow(*row) for row in groups],
        [SiteSpaceRow(*row) for row in site_spaces],
        find_empty_spaces(tx, site_id),
        [ExternalLinkRow(*row) for row in links],
    )


def find_empty_spaces(tx: Transaction, site_id: str) -> frozenset[str]:
    """Return a site's spaces that have no pages that sites show: neither a document nor a source of computed
    documents."""
    spaces = [
        row[0] for row in tx.all("SELECT space_id FROM site_spaces WHERE site_id = :site", site=site_id)
    ]
    hidden = {id: shown_state(tx, None, id).hidden for id in filter_restricted_spaces(tx, spaces)}
    pages = tx.given("hidden", "space_id", "page_id")
    unless_hidden = f"AND (s.id, p.page_id) NOT IN (SELECT g.space_id, g.page_id FROM {pages} AS g)"
    rows = tx.all(
        f"""SELECT x.space_id FROM site_spaces x JOIN spaces s ON s.id = x.space_id
            WHERE x.site_id = :site AND NOT EXISTS (
              SELECT 1 FROM branches b JOIN page_versions p ON p.branch_id = b.id
              WHERE b.id = s.main_branch AND p.to_seq = {FOREVER} AND p.from_seq <= b.sequence AND p.deleted = 0
                AND p.kind IN ('document', 'computed') {unless_hidden if any(hidden.values()) else ""})""",
        site=site_id,
        hidden=msgspec.json.encode([(id, page) for id in hidden for page in hidden[id]]).decode(),
    )
    return frozenset(row[0] for row in rows)


# --- writing ------------------------------------------------------------------------------------------


def insert_section(
    tx: Transaction,
    site_id: str,
    *,
    rank: str,
    path: str,
    title: str,
    icon: str | None,
    is_default: bool,
    draft: bool,
) -> str:
    section_id = ids.new_id()
    tx.insert(
        "site_sections",
        id=section_id,
        site_id=site_id,
        rank=rank,
        path=path,
        title=title,
        icon=icon,
        is_default=int(is_default),
        draft=int(draft),
        created_at=now(),
    )
    return section_id


def insert_group(
    tx: Transaction,
    site_id: str,
    *,
    parent_id: str | None,
    rank: str,
    title: str,
    icon: str | None,
    draft: bool = False,
) -> str:
    group_id = ids.new_id()
    tx.insert(
        "site_section_groups",
        id=group_id,
        site_id=site_id,
        parent_id=parent_id,
        rank=rank,
        title=title,
        icon=icon,
        draft=int(draft),
        created_at=now(),
    )
    return group_id


def insert_site_space(
    tx: Transaction,
    site_id: str,
    space_id: str,
    *,
    section_id: str | None,
    rank: str,
    path: str,
    is_default: bool,
) -> str:
    site_space_id = ids.new_id()
    tx.insert(
        "site_spaces",
        id=site_space_id,
        site_id=site_id,
        space_id=space_id,
        section_id=section_id,
        rank=rank,
        path=path,
        is_default=int(is_default),
        created_at=now(),
    )
    return site_space_id


_TABLES: dict[type, str] = {
    SectionRow: "site_sections",
    SectionGroupRow: "site_section_groups",
    ExternalLinkRow: "site_external_links",
    SiteSpaceRow: "site_spaces",
}


def put_row(tx: Transaction, row: Row) -> None:
    """Insert a row, replacing any row with the same ID."""
    values = msgspec.structs.asdict(row)
    columns, parameters = ", ".join(values), ", ".join(f":{name}" for name in values)
    changes = ", ".join(f"{name} = excluded.{name}" for name in values if name != "id")
    tx.run(
        f"""INSERT INTO {_TABLES[type(row)]} ({columns}, created_at) VALUES ({parameters}, :created_at)
            ON CONFLICT (id) DO UPDATE SET {changes}""",
        **values,
        created_at=now(),
    )


def update_row(tx: Transaction, row: Row, **values: object) -> None:
    """Update columns of a row."""
    if values:
        columns = ", ".join(f"{name} = :{name}" for name in values)
        tx.run(f"UPDATE {_TABLES[type(row)]} SET {columns} WHERE id = :row_id", **values, row_id=row.id)


def delete_row(tx: Transaction, row: Row) -> None:
    tx.run(f"DELETE FROM {_TABLES[type(row)]} WHERE id = :id", id=row.id)


def move_site_spaces(tx: Transaction, site_id: str, section_id: str) -> None:
    """Move all site spaces without a section into the given section."""
    tx.run(
        "UPDATE site_spaces SET section_id = :section WHERE site_id = :site AND section_id IS NULL",
        section=section_id,
        site=site_id,
    )


# --- former paths ---------------------------------------------------------------------------------------


def put_former_paths(tx: Transaction, site_id: str, paths: dict[str, str]) -> None:
    """Record former paths of site spaces. ``paths``: the IDs of the site spaces, by path (in lowercase, without
    slashes at either end)."""
    moment = now()
    tx.run_many(
        """INSERT INTO site_former_paths (site_id, path, site_space_id, created_at)
           VALUES (:site, :path, :site_space, :at)
           ON CONFLICT (site_id, path) DO UPDATE SET site_space_id = :site_space, created_at = :at""",
        [{"site": site_id, "path": path, "site_space": shown, "at": moment} for path, shown in paths.items()],
    )


def remove_former_paths(tx: Transaction, site_id: str, paths: list[str]) -> None:
    """Remove former paths that are in use again."""
    tx.run(
        "DELETE FROM site_former_paths WHERE site_id = :site AND path IN :paths", site=site_id, paths=paths
    )


def list_former_paths(tx: Transaction, site_id: str) -> list[tuple[str, str]]:
    """List all former paths, each with the ID of its site space."""
    rows = tx.all(
        "SELECT path, site_space_id FROM site_former_paths WHERE site_id = :site ORDER BY path", site=site_id
    )
    return [(row[0], row[1]) for row in rows]


def find_former_paths(tx: Transaction, site_id: str, paths: list[str]) -> list[tuple[str, str]]:
    """Return the given paths that are former paths of site spaces, longest first, each with the ID of its site
    space."""
    rows = tx.all(
        """SELECT path, site_space_id FROM site_former_paths WHERE site_id = :site AND path IN :paths
           ORDER BY length(path) DESC""",
        site=site_id,
        paths=paths,
    )
    return [(row[0], row[1]) for row in rows]
