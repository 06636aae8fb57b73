"""Available templates: built-in templates, and every space that a person can read."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.bodies import body_hash, get_body
from octavo.content.revisions.item_versions import list_items
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.restrictions import unrestricted
from octavo.content.revisions.states import main_state
from octavo.core.document.page import read_head
from octavo.core.import_plan import head_fields, page_of, plan_import, read_pages
from octavo.core.pages import Page, slugify
from octavo.core.yaml_text import read_yaml
from octavo.errors import NotFound
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, decode_token, encode_token
from octavo.kit.http.operation import Actor
from octavo.organization.access.authorization import OrgAccess, find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import SpaceRow, get_space, list_spaces

from ..copying import CopiedMaterial, slots

_KINDS: tuple[Literal["file", "reusable-content", "variable"], ...] = ("file", "reusable-content", "variable")


class TemplateEntry(Struct, frozen=True):
    """Template for the pages of a change request or space. ``space``: the space that is used as the template; None for
    a built-in template. ``refs``: the names of its open references."""

    id: str
    title: str
    description: str
    icon: str | None
    refs: list[str]
    space: str | None = None


@cache
def built_in() -> dict[str, dict[str, str]]:
    """Return the metadata of built-in templates, sorted by ID."""
    return {
        folder.name: read_yaml((folder / "template.yaml").read_text("utf-8")).value
        for folder in sorted(_folder().iterdir())
    }


def _folder() -> Path:
    return Path(str(files(__package__))) / "builtin"


class _Files:
    """Files of a built-in template."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def paths(self) -> list[str]:
        found = (path for path in self._folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self._folder).as_posix() for path in found)

    def read(self, path: str) -> bytes:
        return (self._folder / path).read_bytes()


@cache
def _built_in_material(template_id: str) -> CopiedMaterial:
    source = _Files(_folder() / template_id)
    plan = plan_import(source)
    texts: dict[str, str] = {}
    pages: list[Page] = []
    ids = [str(place) for place in range(len(plan.pages))]
    for read in read_pages(plan, source):
        page = page_of(read, ids, {})
        if read.text is not None:
            digest = body_hash(read.text)
            texts[digest] = read.text
            page = replace(page, body=digest, **head_fields(read_head(read.text)))
        pages.append(page)
    return CopiedMaterial(pages, [], lambda _, digest: texts[digest], False, template_id)


def get_material(tx: Transaction, actor: Actor, template_id: str) -> CopiedMaterial:
    """Return the content of a template. Raises NotFound if the template doesn't exist or the caller can't
    read it."""
    if template_id in built_in():
        return _built_in_material(template_id)
    if find_space_access(tx, actor, Can.VIEW, template_id) is None:
        raise NotFound(f"id: there is no template with the ID {template_id!r}")
    return _space_material(tx, template_id)


def _space_material(tx: Transaction, space_id: str) -> CopiedMaterial:
    state, title = unrestricted(tx, main_state(tx, space_id)), get_space(tx, space_id).title
    pages = _parents_first(list_pages(tx, state))
    items = [item for kind in _KINDS for item in list_items(tx, state, kind)]
    return CopiedMaterial(pages, items, get_body, True, slugify(title))


def _parents_first(pages: list[Page]) -> list[Page]:
    below: dict[str | None, list[Page]] = {}
    for page in sorted(pages, key=lambda page: (page.rank, page.id)):
        below.setdefault(page.parent, []).append(page)
    found: list[Page] = []
    waiting = list(reversed(below.get(None, [])))
    while waiting:
        page = waiting.pop()
        found.append(page)
        waiting.extend(reversed(below.get(page.id, [])))
    return found


def list_templates(tx: Transaction, org: OrgAccess, limit: int, page: str | None) -> Slice[TemplateEntry]:
    """List built-in templates, followed by the spaces of an organization that the caller can see, newest first."""
    # Position after the previous page, either in the built-in templates or in the spaces.
    last, spaces_page = decode_token(page, str, str) or ("", "")
    rest = [] if spaces_page else [template_id for template_id in built_in() if template_id > last]
    shown = [_built_in_template(tx, template_id) for template_id in rest[:limit]]
    room = limit - len(shown)
    spaces = list_spaces(tx, org, room, spaces_page or None)
    shown += [_template_of(tx, space) for space, _ in spaces.rows]
    if room:
        token = encode_token("", spaces.next_token) if spaces.next_token else None
    else:
        token = encode_token(shown[-1].id, "") if shown and (len(rest) > limit or spaces.count) else None
    return Slice(shown, len(built_in()) + spaces.count, token)


def _built_in_template(tx: Transaction, template_id: str) -> TemplateEntry:
    about = built_in()[template_id]
    refs = slots(tx, _built_in_material(template_id))
    return TemplateEntry(template_id, about["title"], about["description"], about["icon"], refs)


_slots: OwnCache[list[str]] = OwnCache("template placeholders", 1)


def _template_of(tx: Transaction, space: SpaceRow) -> TemplateEntry:
    refs = _slots.of(tx).get((space.main_revision,))
    if refs is None:
        refs = slots(tx, _space_material(tx, space.id))
        _slots.of(tx).put((space.main_revision,), refs, sum(map(len, refs)) + 100)
    return TemplateEntry(space.id, space.title, "", space.icon, refs, space.id)
