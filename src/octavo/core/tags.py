"""Tags that a space defines in ``tags.yaml``, and tags in the front matter of pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from .json_types import JsonObject
from .problems import Problem
from .space_config import TAGS_PATH
from .yaml_text import YamlError, read_yaml, write_yaml

if TYPE_CHECKING:
    from .pages import Page

TagColor = Literal[
    "default",
    "green",
    "blue",
    "red",
    "orange",
    "yellow",
    "purple",
    "pink",
    "violet",
    "cyan",
    "$primary",
    "$info",
    "$success",
    "$warning",
    "$danger",
    "$tint",
]
_COLORS: dict[str, TagColor] = {color: color for color in get_args(TagColor)}
MAX_SLUG = 100
MAX_TAGS = 500
"""Maximum number of tags that can be defined in a space through the API."""


class Tag(Struct, frozen=True, omit_defaults=True):
    """Tag that a space defines. ``tag``: its slug, which pages use to refer to it. A tag has an icon, an emoji, or
    neither."""

    tag: str
    label: str
    icon: str | None = None
    color: str | None = None
    emoji: str | None = None


def read_tags(text: str, path: str = TAGS_PATH) -> tuple[list[Tag], list[Problem]]:
    """Read a list of maps with ``tag`` and optionally ``label``, ``icon``, ``color``, and ``emoji``."""
    problems: list[Problem] = []
    tags: dict[str, Tag] = {}
    try:
        found = read_yaml(text)
    except YamlError as error:
        return [], [Problem(path, error.line, "invalid_yaml", str(error))]
    if found.value is not None and not isinstance(found.value, list):
        return [], [Problem(path, found.line(), "bad_value", "the tags must be a list")]
    for index, item in enumerate(found.value or []):
        fields = {key: _text(value) for key, value in item.items()} if isinstance(item, dict) else {}
        name = fields.get("tag")
        if not name or name in tags:
            message = f"the tag {name!r} is listed twice" if name else "`tag` is required for each tag"
            problems.append(Problem(path, found.line(index), "bad_tag", message))
            continue
        label, icon, color = (fields.get(key) for key in ("label", "icon", "color"))
        tags[name] = Tag(name, label or name, icon, color, fields.get("emoji"))
    return list(tags.values()), problems


def write_tags(tags: Iterable[Tag]) -> str:
    """Return the text of ``tags.yaml``; empty if there are none."""
    listed = [
        {name: value for name in tag.__struct_fields__ if (value := getattr(tag, name)) is not None}
        for tag in tags
    ]
    return write_yaml(listed) if listed else ""


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def merge_tags(base: str, ours: str, theirs: str) -> str | None:
    """Merge three versions of ``tags.yaml`` tag by tag. Return None if one of them can't be read, or if both sides
    changed a tag in different ways."""
    sides = [read_tags(text) for text in (base, ours, theirs)]
    if any(problems for _, problems in sides):
        return None
    before, mine, yours = ({tag.tag: tag for tag in tags} for tags, _ in sides)
    merged: dict[str, Tag] = {}
    for slug in [*mine, *(slug for slug in yours if slug not in mine)]:
        old, our, their = before.get(slug), mine.get(slug), yours.get(slug)
        if their in (our, old):
            found = our
        elif our == old:
            found = their
        else:
            return None
        if found is not None:
            merged[slug] = found
    return write_tags(merged.values())


# --- tags of pages: a slug, or an object with it -----------------------------------------------------------


def slug_of(tag: object) -> str:
    return str(tag.get("tag")) if isinstance(tag, dict) else str(tag)


def is_primary(tag: object) -> bool:
    """Return whether navigation shows this tag."""
    return isinstance(tag, dict) and tag.get("primary") is True


def page_tag(slug: str, *, primary: bool) -> str | JsonObject:
    """Return a page's tag in the form used in front matter."""
    return {"tag": slug, "primary": True} if primary else slug


def by_slug(tags: Iterable[object]) -> JsonObject:
    """Return a page's tags by slug."""
    return {slug_of(tag): tag for tag in tags}


def read_page_tags(value: Iterable[object]) -> tuple[tuple[str | JsonObject, ...], bool]:
    """Return the tags in front matter without duplicates, and whether the whole value could be read."""
    found: dict[str, str | JsonObject] = {}
    complete = True
    for one in value:
        slug = _text(one.get("tag")) if isinstance(one, dict) else _text(one)
        if slug is None or not slug.strip() or len(slug) > MAX_SLUG:
            complete = False
        else:
            found.setdefault(slug, page_tag(slug, primary=is_primary(one)))
    return tuple(found.values()), complete


def keep_tagged(pages: Sequence[Page], slug: str) -> list[Page]:
    """Return the pages with a tag, and their ancestors, in their original order."""
    by_id = {page.id: page for page in pages}
    kept: set[str] = set()
    for page in pages:
        above: Page | None = page if has_tag(page, slug) else None
        while above is not None and above.id not in kept:
            kept.add(above.id)
            above = by_id.get(above.parent or "")
    return [page for page in pages if page.id in kept]


def has_tag(page: Page, slug: str) -> bool:
    return any(slug_of(tag) == slug for tag in page.tags)


def color_of(tag: Tag) -> TagColor:
    """Return the API's name for the color of a tag; the default color if the API doesn't have the color."""
    return _COLORS.get(tag.color or "", "default")


def tag_or_slug(tags: Mapping[str, Tag], slug: str) -> Tag:
    """Return a tag by slug. If the space doesn't define the tag, return one without a label, icon, or color."""
    return tags.get(slug) or Tag(slug, slug)
