"""Front matter of imported pages, including the keys from other tools that Octavo keeps."""

from __future__ import annotations

from collections.abc import Callable

from octavo.core.document.guards import is_like_if
from octavo.core.icons import is_free
from octavo.core.json_types import JsonObject
from octavo.core.page_fields import FRONT_FIELDS, FieldType

from .layout import Head
from .page_tags import PageTags

_VALUES: dict[FieldType, tuple[type, ...]] = {
    "cover": (str, dict),
    "icon": (str,),
    "layout": (dict,),
    "mapping": (dict,),
    "links": (dict,),
    "flag": (object,),
}
_OWN_KEYS = {field.keys[0]: _VALUES[field.type] for field in FRONT_FIELDS.values() if field.type in _VALUES}
"""Front matter keys that have Octavo's meaning only in folders that use Octavo's own format."""
_CONSUMED = _OWN_KEYS.keys() | set(
    """title description summary slug id sidebar_position sidebar_label sidebar_class_name sidebar_custom_props sidebar
    order weight nav_order nav_title position parent grand_parent has_children has_toc permalink aliases
    redirect_from redirect_to
    redirects url unlisted draft published if tags pagination_label
    pagination_next pagination_prev displayed_sidebar custom_edit_url hide_title hide_table_of_contents
    toc_min_heading_level
    toc_max_heading_level toc template head hero prev next outline editLink lastUpdated sidebarTitle navigation search
    mode hide_toc excerpt type linkTitle linktitle menu bookCollapseSection bookHidden bookToc nav_exclude
    nav_fold status""".split()
)
_HIDING = ("hidden", "unlisted", "draft", "bookHidden", "nav_exclude")


def keep_head(
    head: Head,
    description: str,
    fill: Callable[[str], str],
    tags: PageTags,
    is_octavo: bool,
    *,
    is_hidden: bool,
) -> JsonObject:
    """Return the front matter of a page, converted from its source. ``description``: the description to use if the
    page doesn't have its own. ``fill``: a function that inserts the values of variables. ``is_octavo``: whether the
    source uses Octavo's own format and keys."""
    kept: JsonObject = {}
    for key in ("description", "summary", "subtitle", "excerpt"):
        if isinstance(head.get(key), str) and head[key].strip():
            description = head[key]
            break
    if description:
        kept["description"] = fill(" ".join(description.split()))
    icon = head.get("icon")
    if isinstance(icon, str) and is_free(icon):
        kept["icon"] = icon
    if is_hidden or any(head.get(key) is True for key in _HIDING) or head.get("published") is False:
        kept["hidden"] = True
    if found := tags.read(head.get("tags")):
        kept["tags"] = found
    return kept | {
        key: value
        for key, value in head.items()
        if (key not in _CONSUMED and key not in kept and _is_plain(value))
        # A condition that can't be parsed hides the page.
        or key == "if"
        or is_like_if(key)
        or (is_octavo and isinstance(value, _OWN_KEYS.get(key, ())))
    }


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int, float, bool)) or (
        isinstance(value, list) and all(isinstance(each, (str, int, float)) for each in value)
    )
