"""Convert a site's structure to and from ``docs.yaml``. Applying the file replaces the entire structure in one
change."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence, Set

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.core.docs_config import DOCS_PATH, DocsConfig, DocsEntry, walk_docs
from octavo.core.free_names import free_name
from octavo.core.pages import ranks, slugify
from octavo.core.problems import Problem
from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.work.outbox import emit
from octavo.organization.access.authorization import SiteAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space, get_titles, update_space

from ..store import SiteRow, get_site, set_docs_source, update_site
from . import store
from .changing import RESERVED, change_structure, read_path
from .store import ExternalLinkRow, Node, SectionGroupRow, SectionRow, SiteSpaceRow, Structure

_PATH_MAX = 90
_KEY_MAX = 40


def require_bounds(config: DocsConfig) -> None:
    """Raise BadRequest if a structure exceeds a site's limits."""
    entries = list(walk_docs(config.structure))
    for type, most in (
        ("section", store.MAX_SECTIONS),
        ("section-group", store.MAX_GROUPS),
        ("space", store.MAX_SITE_SPACES),
    ):
        count = sum(entry.type == type for entry in entries)
        if count > most:
            raise BadRequest(f"{DOCS_PATH}: must have at most {most:,} entries of type {type}, not {count:,}")


def name_parts(tx: Transaction, structure: Structure) -> dict[str, str]:
    """Return the name of each part in ``docs.yaml``, by ID: its key or, by default, a stable name derived from its
    title."""
    titles = get_titles(tx, [shown.space_id for shown in structure.site_spaces.values()])
    found: dict[str, str] = {}
    nodes = [node for node in structure.ordered() if not isinstance(node, ExternalLinkRow)]
    for rows in (nodes, structure.ordered_site_spaces()):
        taken = {row.docs_key for row in rows if row.docs_key}
        for row in rows:
            title = titles[row.space_id].title if isinstance(row, SiteSpaceRow) else row.title
            key = row.docs_key or free_name(_key_of(title), taken.__contains__)
            taken.add(key)
            found[row.id] = key
    return found


def _key_of(title: str) -> str:
    """Return a key that is derived from a title and that links can use."""
    return re.sub(r"[^a-z0-9]+", "-", slugify(title))[:_KEY_MAX].strip("-") or "part"


def _localized(entry: DocsEntry) -> str | None:
    return msgspec.json.encode(entry.localized, order="deterministic").decode() if entry.localized else None


# --- from docs.yaml -------------------------------------------------------------------------------------


def arrange_site(
    tx: Transaction,
    site_id: str,
    config: DocsConfig,
    spaces: Mapping[str, str],
    source: str,
    by: SiteAccess | None = None,
) -> list[Problem]:
    """Replace the structure of a site with ``config``, and return the problems found. Parts with the same key are kept
    and updated, and all other parts are removed. ``spaces``: the space that each entry shows, by key. Entries without a
    space are skipped. ``source``: the source of the site, which is used to find the site again. ``by``: the actor whose
    permissions apply; None for the server administrator. Raises BadRequest if the structure is invalid, and Forbidden
    if the actor doesn't have permission."""
    site = get_site(tx, site_id)
    with change_structure(tx, site_id, by) as before:
        wanted = _Arrangement(tx, site_id, before, spaces)
        wanted.arrange(config.structure)
        for old in wanted.old.values():
            if old.id not in wanted.rows:
                store.delete_row(tx, old)
                message = f"{wanted.names[old.id]} was removed from the site; its content is kept"
                wanted.add_problem(0, "removed", message)
        for row in wanted.rows.values():
            if row != wanted.old.get(row.id):
                store.put_row(tx, row)
        # The file doesn't contain external links. They are kept, and moved to the top level if their group
        # was removed.
        for link in before.links.values():
            if link.group_id is not None and link.group_id not in wanted.rows:
                store.update_row(tx, link, group_id=None)
    if config.title is not None and config.title != site.title:
        update_site(tx, site_id, title=config.title)
    set_docs_source(tx, site, source)
    if wanted.rows != wanted.old or config.title not in (None, site.title):
        emit(tx, "sites_updated", organization_id=site.organization_id)
    return wanted.problems


def provide_spaces(
    tx: Transaction,
    site_id: str | None,
    config: DocsConfig,
    there: Container[str],
    known: Mapping[str, str],
    make: Callable[[DocsEntry], str],
    *,
    by: Actor | None,
) -> dict[str, str]:
    """Return the space for each entry, and update titles and languages. The space is the space in ``known``, the space
    that the site already shows, or a new space from ``make``, in this order of preference. ``there``: the keys whose
    directories contain files. Entries with neither a directory nor a space are skipped and reported. ``by``: the actor
    who needs permission to rename each space; None for the server administrator. Raises NotFound or Forbidden if the
    actor doesn't have access to a space."""
    ours = name_spaces(tx, site_id) if site_id is not None else {}
    found: dict[str, str] = {}
    of_directory: dict[str | None, str] = {}
    for entry in config.spaces:
        space_id = known.get(entry.key) or of_directory.get(entry.directory)
        if space_id is None and ours.get(entry.key) not in of_directory.values():
            space_id = ours.get(entry.key)
        if entry.key in there:
            space_id = space_id or make(entry)
            of_directory[entry.directory] = space_id
        elif entry.directory is not None:
            continue
        elif space_id is None:
            message = (
                f"{entry.key} was skipped, because it has no directory and the site has no space with this"
                " key"
            )
            config.problems.append(Problem(DOCS_PATH, entry.line, "no_directory", message))
            continue
        if space_id not in found.values():
            _rename(tx, space_id, entry, by)
        found[entry.key] = space_id
    return found


def _rename(tx: Transaction, space_id: str, entry: DocsEntry, by: Actor | None) -> None:
    space = get_space(tx, space_id)
    if (space.title, space.language) != (entry.title, entry.language):
        if by is not None:
            space_access(tx, by, Can.ADMIN, space_id)
        update_space(tx, space_id, title=entry.title, language=entry.language)


class _Arrangement:
    """Rows of a site's new structure."""

    def __init__(self, tx: Transaction, site_id: str, before: Structure, spaces: Mapping[str, str]) -> None:
        self._site_id = site_id
        self._spaces = spaces
        self.names = name_parts(tx, before)
        self.old: dict[str, Node | SiteSpaceRow] = {**before.sections, **before.groups, **before.site_spaces}
        self._by_key = {(type(row), self.names[id]): row for id, row in self.old.items()}
        self._default = before.default_section.id if before.default_section is not None else None
        self._default_variants = {shown.id for shown in before.site_spaces.values() if shown.is_default}
        self.rows: dict[str, Node | SiteSpaceRow] = {}
        self.problems: list[Problem] = []

    def add_problem(self, line: int, code: str, message: str) -> None:
        self.problems.append(Problem(DOCS_PATH, line, code, message))

    def arrange(self, structure: Sequence[DocsEntry]) -> None:
        sections = [entry for entry in walk_docs(structure) if entry.type == "section"]
        self._variants([entry for entry in structure if entry.type == "space"], None, frozenset())
        olds = [self._section(entry) for entry in sections]
        paths = self._paths(sections, [old.path for old in olds], RESERVED)
        default = self._default_of(sections, [old.id for old in olds], {self._default})
        made = {}
        for entry, old, path in zip(sections, olds, paths, strict=True):
            made[entry.key] = replace(
                old,
                path=path,
                title=entry.title,
                description=entry.description,
                icon=entry.icon,
                condition=entry.condition,
                is_default=int(entry is default),
                draft=int(entry.draft),
                docs_key=entry.key,
                localized=_localized(entry),
            )
        self._nodes([entry for entry in structure if entry.type != "space"], None, made)
        others = frozenset(row.path for row in made.values() if not row.is_default)
        for entry in sections:
            row = made[entry.key]
            self._variants(entry.children, row.id, others if row.is_default else frozenset())

    def _section(self, entry: DocsEntry) -> SectionRow:
        found = self._by_key.get((SectionRow, entry.key))
        if isinstance(found, SectionRow):
            return found
        return SectionRow(ids.new_id(), self._site_id, None, "", "", entry.title, None, None, None, 0, 0)

    def _nodes(
        self, entries: Sequence[DocsEntry], parent: str | None, sections: Mapping[str, SectionRow]
    ) -> None:
        """Arrange sections and groups under a parent."""
        rows: list[Node] = []
        for entry in entries:
            if entry.type == "section":
                rows.append(replace(sections[entry.key], group_id=parent))
                continue
            found = self._by_key.get((SectionGroupRow, entry.key))
            if not isinstance(found, SectionGroupRow):
                found = SectionGroupRow(ids.new_id(), self._site_id, parent, "", entry.title, None)
            made = replace(
                found,
                parent_id=parent,
                title=entry.title,
                icon=entry.icon,
                draft=int(entry.draft),
                docs_key=entry.key,
                localized=_localized(entry),
            )
            rows.append(made)
            self._nodes(entry.children, made.id, sections)
        for row, rank in zip(rows, _ranks(rows), strict=True):
            self.rows[row.id] = replace(row, rank=rank)

    def _variants(self, entries: Sequence[DocsEntry], section_id: str | None, taken: Set[str]) -> None:
        """Arrange the site spaces of a section, or of a site without sections. ``taken``: the paths that only
        the default variant can have."""
        entries = [entry for entry in entries if entry.key in self._spaces]
        olds = []
        for entry in entries:
            found = self._by_key.get((SiteSpaceRow, entry.key))
            if not isinstance(found, SiteSpaceRow):
                found = SiteSpaceRow(
                    ids.new_id(), self._site_id, self._spaces[entry.key], None, "", "", 0, None
                )
            olds.append(found)
        default = self._default_of(entries, [old.id for old in olds], self._default_variants)
        paths = self._paths(entries, [old.path for old in olds], RESERVED, taken, default)
        made = [
            replace(
                old,
                space_id=self._spaces[entry.key],
                section_id=section_id,
                path=path,
                is_default=int(entry is default),
                condition=entry.condition,
                draft=int(entry.draft),
                docs_key=entry.key,
                docs_directory=entry.directory,
            )
            for entry, old, path in zip(entries, olds, paths, strict=True)
        ]
        for row, rank in zip(made, _ranks(made), strict=True):
            self.rows[row.id] = replace(row, rank=rank)

    def _default_of(
        self, entries: Sequence[DocsEntry], olds: Sequence[str], before: Set[str | None]
    ) -> DocsEntry | None:
        """Return the entry marked as default, the previous default, or the first entry, in this order of preference."""
        said = [entry for entry in entries if entry.default]
        for entry in said[1:]:
            self.add_problem(
                entry.line,
                "bad_value",
                f"only one entry can be the default: {said[0].key} is used, and `default` is ignored for"
                f" {entry.key}",
            )
        were = [entry for entry, old in zip(entries, olds, strict=True) if old in before]
        return next(iter([*said, *were, *entries]), None)

    def _paths(
        self,
        entries: Sequence[DocsEntry],
        olds: Sequence[str],
        reserved: Set[str],
        taken: Set[str] = frozenset(),
        default: DocsEntry | None = None,
    ) -> list[str]:
        """Return a unique path for each entry: the path that it specifies, its previous path (``olds``), or a path
        derived from its title, in this order of preference. ``taken``: paths that only the default can have, because
        the default isn't shown at its path."""
        found: dict[int, str] = {}

        def is_taken(at: int) -> Callable[[str], bool]:
            others = {*found.values(), *reserved, *(() if entries[at] is default else taken)}
            return others.__contains__

        for at, entry in enumerate(entries):
            wanted = entry.path
            if wanted is not None:
                try:
                    wanted = read_path("path", wanted)
                except BadRequest as error:
                    self.add_problem(entry.line, "bad_path", str(error))
                    wanted = None
            if wanted is not None and not is_taken(at)(wanted):
                found[at] = wanted
            elif wanted is not None:
                self.add_problem(
                    entry.line, "path_taken", f"the path {wanted} is already used by another part of the site"
                )
        for at, entry in enumerate(entries):
            if at not in found:
                wanted = olds[at] or slugify(entry.title)[:_PATH_MAX]
                found[at] = free_name(wanted, is_taken(at))
        return [found[at] for at in range(len(entries))]


def _ranks(rows: Sequence[Node | SiteSpaceRow]) -> list[str]:
    """Return the current ranks of rows if the rows are already sorted by rank; otherwise, new ranks for all rows."""
    kept = [row.rank for row in rows]
    in_order = all(low < high for low, high in zip(["", *kept], kept, strict=False))
    return kept if in_order else ranks(len(rows))


# --- to docs.yaml ---------------------------------------------------------------------------------------


class DescribedSite(Struct, frozen=True):
    """Site in the format of ``docs.yaml``. ``spaces``: the space in each directory."""

    site: SiteRow
    config: DocsConfig
    spaces: dict[str, str]


def describe_site(tx: Transaction, site: SiteRow) -> DescribedSite:
    """Return a site with its structure. Each space has a separate directory: its previous directory, or a directory
    named after the space."""
    structure = store.load_structure(tx, site.id)
    names = name_parts(tx, structure)
    titles = get_titles(tx, [shown.space_id for shown in structure.site_spaces.values()])
    directories = _directories(structure.ordered_site_spaces(), names)

    def variants(section_id: str | None) -> list[DocsEntry]:
        default = structure.default_site_space(section_id)
        return [
            DocsEntry(
                type="space",
                key=names[shown.id],
                title=titles[shown.space_id].title,
                path=shown.path,
                condition=shown.condition or None,
                default=shown is default,
                draft=bool(shown.draft),
                directory=directories[shown.space_id],
                language=titles[shown.space_id].language,
                localized=store.read_localized(shown),
            )
            for shown in structure.variants(section_id)
        ]

    def nodes(group_id: str | None) -> list[DocsEntry]:
        found = []
        for node in structure.children(group_id):
            if isinstance(node, ExternalLinkRow):
                continue
            if isinstance(node, SectionGroupRow):
                made = DocsEntry(
                    type="section-group",
                    key=names[node.id],
                    title=node.title,
                    icon=node.icon or None,
                    draft=bool(node.draft),
                    localized=store.read_localized(node),
                )
                made.children = nodes(node.id)
            else:
                made = DocsEntry(
                    type="section",
                    key=names[node.id],
                    title=node.title,
                    path=node.path,
                    description=node.description or None,
                    icon=node.icon or None,
                    condition=node.condition or None,
                    default=bool(node.is_default),
                    draft=bool(node.draft),
                    localized=store.read_localized(node),
                    children=variants(node.id),
                )
            found.append(made)
        return found

    config = DocsConfig(title=site.title, structure=[*nodes(None), *variants(None)])
    return DescribedSite(site, config, {directory: space for space, directory in directories.items()})


def _directories(shown: Sequence[SiteSpaceRow], names: Mapping[str, str]) -> dict[str, str]:
    """Return a directory for each space: the previous directory, unless it is inside another space's directory or
    contains one."""
    found: dict[str, str] = {}

    def is_taken(directory: str) -> bool:
        return any(directory.startswith(other) or other.startswith(directory) for other in found.values())

    rows = {row.space_id: row for row in reversed(shown)}
    kept = [row for row in rows.values() if row.docs_directory]
    if len(rows) == 1 and shown[0].docs_directory == "":
        return {shown[0].space_id: ""}
    for row in kept:
        if not is_taken(row.docs_directory or ""):
            found[row.space_id] = row.docs_directory or ""
    for space_id, row in rows.items():
        if space_id not in found:
            name = free_name(_key_of(names[row.id]), lambda name: is_taken(f"{name}/"))
            found[space_id] = f"{name}/"
    return found


def find_parts(tx: Transaction, site_id: str) -> dict[str, str]:
    """Return the IDs of a site's parts, by their names in ``docs.yaml``."""
    return {name: id for id, name in name_parts(tx, store.load_structure(tx, site_id, trashed=True)).items()}


def name_spaces(tx: Transaction, site_id: str) -> dict[str, str]:
    """Return a site's spaces that aren't in the trash, by their names in ``docs.yaml``."""
    structure = store.load_structure(tx, site_id)
    names = name_parts(tx, store.load_structure(tx, site_id, trashed=True))
    return {names[shown.id]: shown.space_id for shown in structure.site_spaces.values()}
