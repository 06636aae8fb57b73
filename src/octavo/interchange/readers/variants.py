"""Versions and languages of a source: page trees that overlay each other, and the problem to report if only one
variant is imported."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from octavo.core.free_names import free_name
from octavo.core.pages import slugify
from octavo.core.problems import Problem

from .layout import Entry, Layout
from .trees import walk_entries

MAX_VARIANTS = 60
"""Maximum number of variants per source. Additional variants are reported as skipped."""

LANGUAGE_NAMES = {
    "ar": "العربية",
    "cs": "Čeština",
    "de": "Deutsch",
    "en": "English",
    "es": "Español",
    "fr": "Français",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "pt-br": "Português (Brasil)",
    "ru": "Русский",
    "tr": "Türkçe",
    "uk": "Українська",
    "vi": "Tiếng Việt",
    "zh": "中文",
    "zh-cn": "简体中文",
    "zh-hans": "简体中文",
    "zh-tw": "繁體中文",
    "zh-hant": "繁體中文",
    "fa": "فارسی",
    "he": "עברית",
    "id": "Bahasa Indonesia",
    "hi": "हिन्दी",
}
"""Name of each language in that language, for sources that don't specify names."""


def language_name(name: str, specified: str = "") -> str:
    return specified or LANGUAGE_NAMES.get(name.lower().replace("_", "-"), name)


def left_out(path: str, what: str, names: Iterable[str]) -> Problem:
    """Return the problem to report for skipped variants. ``what``: `versions` or `translations`."""
    said = ", ".join(names)[:200]
    return Problem(
        path,
        0,
        f"{what}_left_out",
        (
            f"other {what} weren't imported into this space: {said}. To get a site with all of them, import"
            " all versions and languages."
        ),
    )


def key_of(taken: set[str], *parts: str) -> str:
    """Return a unique key for a variant."""
    wanted = re.sub(r"[^a-z0-9.-]+", "-", slugify("-".join(part for part in parts if part))).strip("-.")
    made = free_name(wanted[:60].strip("-.") or "main", taken.__contains__)
    taken.add(made)
    return made


def addressed(layout: Layout, name: str, is_first: bool) -> Layout:
    """Return the layout with the variant's name at the start of each URL. The URLs of the default variant also work
    without its name."""
    addresses = {path: f"{name}/{address}".strip("/") for path, address in layout.addresses.items()}
    if is_first:
        former = {address: path for path, address in addresses.items()}
        return replace(layout, redirects={**layout.redirects, **former})
    return replace(layout, addresses=addresses, begins=name)


def laid_over(
    layout: Layout,
    find: Callable[[str], str | None],
    *,
    labels: Mapping[str, str] = {},  # noqa: B006
    begins: str = "",
    whole: bool = True,
) -> Layout:
    """Return the layout in another language. ``find``: a function that returns the translated file for a file in
    the default language. ``labels``: the translated navigation labels. ``begins``: the language's URL prefix.
    ``whole``: whether to import untranslated pages in the default language, as the original site shows them."""
    instead: dict[str, str] = {}
    for path in layout.addresses:
        found = find(path)
        if found is not None:
            instead[path] = found
    translated = set(instead.values())

    def entries(given: Sequence[Entry]) -> list[Entry]:
        made = []
        for entry in given:
            path = entry.path
            if path is not None:
                path = instead.get(path) or (path if whole else None)
            children = entries(entry.children)
            if path is None and entry.href is None and not children:
                continue
            title = labels.get(entry.title or "", entry.title) if entry.title else None
            # The page's title in the default language doesn't apply to the translation.
            if path in translated and title == entry.title:
                title = None
            if path is None and title is None and entry.path is not None:
                title = layout.titles.get(entry.path) or entry.title
            made.append(Entry(title=title, path=path, href=entry.href, children=children))
        return made

    addresses = {
        instead.get(path, path): f"{begins}/{address}".strip("/") if begins else address
        for path, address in layout.addresses.items()
        if whole or path in instead
    }
    names = {**layout.names}
    for path, other in instead.items():
        inside = path[len(layout.root) :] if path.startswith(layout.root) else path
        names[other] = layout.names.get(path) or re.sub(
            r"(?:^|(?<=/))(?:index|readme|_index)\.\w+$",
            "README.md",
            re.sub(r"\.(?:mdx|markdown)$", ".md", inside),
            flags=re.IGNORECASE,
        )
    first = next((entry.path for entry in walk_entries(layout.entries) if entry.path), None)
    if first in instead and posixpath.dirname(first) == layout.root.rstrip("/"):
        names[instead[first]] = "README.md"
    same = {name: instead.get(path, path) for name, path in layout.same.items()}
    redirects = {old: instead.get(target, target) for old, target in layout.redirects.items()}
    return replace(
        layout,
        entries=entries(layout.entries),
        addresses=addresses,
        names=names,
        redirects=redirects,
        description="",
        same={**same, **instead},
        variants=(),
        left=(),
    )
