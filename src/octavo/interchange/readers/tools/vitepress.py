"""Reader for VitePress."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice

from octavo.core.problems import Problem
from octavo.core.summary import title_of_name

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..markdown.literals import UNKNOWN, read_constant, read_export
from ..source_files import Heads, named_as_index, stem_of
from ..trees import MAX_LEVEL, grow, pages_below, redirects_of, walk_entries
from ..types import Reader
from ..values import listing, mapping, text_of
from ..variants import MAX_VARIANTS, key_of, language_name, left_out
from .configurations import finder, module_at, unread_navigation

_VITEPRESS = tuple(f".vitepress/config.{end}" for end in ("ts", "js", "mts", "mjs", "cts", "cjs")) + tuple(
    f".vitepress/config/index.{end}" for end in ("ts", "js", "mts", "mjs")
)


_REWRITTEN = re.compile(r":(?P<name>\w+)(?P<shape>\([^()]*\))?(?P<many>[*+?])?")
MAX_REWRITES = 1000


def _rewriter(given: object) -> Callable[[str], str]:
    """Return a function that rewrites a file path to its URL path, using patterns such as ``en/:rest*``."""
    patterns: list[tuple[re.Pattern[str], str]] = []
    for old, new in islice(mapping(given).items(), MAX_REWRITES):
        parts = list(_REWRITTEN.finditer(old))
        if not isinstance(new, str) or len(parts) > 3 or len({part["name"] for part in parts}) < len(parts):
            continue  # Patterns with more parameters would take too much time to match.
        made, at = "", 0
        for part in parts:
            any_depth = part["many"] in ("*", "+") or part["shape"] == "(.*)"
            made += f"{re.escape(old[at : part.start()])}(?P<{part['name']}>{'.*' if any_depth else '[^/]+'})"
            at = part.end()
        patterns.append((re.compile(made + re.escape(old[at:])), new))

    def rewrite(path: str) -> str:
        for pattern, new in patterns:
            if found := pattern.fullmatch(path):
                return _REWRITTEN.sub(lambda part: found.groupdict().get(part["name"], ""), new)
        return path

    return rewrite


def _is_any(path: str, patterns: list[str]) -> bool:
    """Return whether one of these patterns matches a path. ``**`` matches folders of any depth."""
    return any(
        fnmatchcase(f"/{path}" if pattern.startswith("**") else path, pattern)
        and ("**" in pattern or pattern.count("/") == path.count("/"))
        for pattern in patterns
    )


def _vitepress(files: Heads, project: str, locale: str = "") -> Layout:
    """Return the layout. ``locale``: the folder of the chosen language, or empty for the default language."""
    problems: list[Problem] = []
    path = next(project + name for name in _VITEPRESS if project + name in files.known)
    module = module_at(files, path)
    config = mapping(read_export(module))
    root = posixpath.normpath(posixpath.join(project, text_of(config.get("srcDir")) or ".")).strip(".")
    root = f"{root}/" if root else project
    rewrite = _rewriter(config.get("rewrites"))
    out = [one for one in listing(config.get("srcExclude")) if isinstance(one, str)]
    said = {key.strip("/"): mapping(one) for key, one in mapping(config.get("locales")).items()}
    locales = [
        key
        for key in said
        if key not in ("root", "") and any(path.startswith(f"{root}{key}/") for path in files.paths)
    ]
    source = root
    if locale:
        root = f"{root}{locale}/"
    start = f"{locale}/" if locale else ""
    paths = pages_below(
        files,
        root,
        lambda path: (
            (not locale and rewrite(path).partition("/")[0] in locales) or _is_any(f"{start}{path}", out)
        ),
    )
    inside = {path: rewrite(path[len(source) :]) for path in paths}
    # In VitePress, only `index.md` is the page of its folder.
    addresses = {
        path: posixpath.dirname(name) if stem_of(name) == "index" else posixpath.splitext(name)[0]
        for path, name in inside.items()
    }
    theme = mapping(said.get(locale or "root", said.get("", {})).get("themeConfig"))
    if not locale or not theme.get("sidebar"):
        theme = {**mapping(config.get("themeConfig")), **theme}
    sidebar = theme.get("sidebar")
    if sidebar in (None, UNKNOWN) and not locale:
        sidebar = next(
            (
                value
                for name in ("sidebar", "sidebars")
                if isinstance(value := read_constant(module, name), (list, dict))
            ),
            UNKNOWN,
        )
    entries: list[Entry] = []
    by_address = {address: path for path, address in addresses.items()}

    def page(link: str, base: str) -> str | None:
        link = re.sub(
            r"(?:\.md|\.html)$",
            "",
            (base + link if base and not link.startswith("http") else link).partition("#")[0],
        )
        return by_address.get(re.sub(r"(?:^|/)index$", "", link.strip("/")))

    def items(given: object, base: str, level: int) -> list[Entry]:
        made = []
        for one in listing(given) if level < MAX_LEVEL else []:
            if not isinstance(one, dict):
                continue
            below = text_of(one.get("base")) or base
            children = items(one.get("items"), below, level + 1)
            link = text_of(one.get("link"))
            where = page(link, base) if link else None
            title = re.sub(r"<[^<>]*>", "", text_of(one.get("text"))).strip() or None
            made.append(
                Entry(
                    title=title,
                    path=where,
                    children=children,
                    href=link if link and where is None and not children else None,
                )
            )
        return made

    if isinstance(sidebar, list):
        entries = items(sidebar, "", 0)
    elif isinstance(sidebar, dict):
        titles = {
            text_of(one.get("activeMatch")).strip("^/$")
            or text_of(one.get("link")).strip("/").partition("/")[0]: text_of(one.get("text"))
            for one in listing(theme.get("nav"))
            if isinstance(one, dict)
        }
        for key, given in sidebar.items():
            if key.strip("/").partition("/")[0] in locales and key.strip("/").partition("/")[0] != locale:
                continue
            base = text_of(given.get("base")) if isinstance(given, dict) else ""
            children = items(given.get("items") if isinstance(given, dict) else given, base, 0)
            name = key.strip("/")
            entries.append(
                Entry(
                    title=titles.get(name) or title_of_name(name.rpartition("/")[2]) or None,
                    children=children,
                )
            )
        entries = [entry for entry in entries if entry.children]
        entries = entries[0].children if len(entries) == 1 else entries
    if not any(entry.path for entry in walk_entries(entries)):
        if sidebar is UNKNOWN or sidebar is not None:
            problems.append(unread_navigation(path, "the sidebar"))
        entries = grow(files, paths, root)
    elif (home := by_address.get(locale)) and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    taken: set[str] = set()
    variants = [
        Variant(
            key=key_of(taken, name or "root"),
            title=language_name(
                text_of(said.get(name or "root", {}).get("lang"))
                or name
                or text_of(config.get("lang"))
                or "en",
                text_of(said.get(name or "root", {}).get("label")),
            ),
            language=text_of(said.get(name or "root", {}).get("lang"))
            or name
            or text_of(config.get("lang"))
            or None,
            path=name or None,
            default=not name,
            lay_out=partial(_vitepress, files, project, name),
        )
        for name in ["", *locales][:MAX_VARIANTS]
    ]
    return Layout(
        brand=brand_of(files, project, "vitepress", config, problems),
        variants=variants if locales else [],
        left=[left_out(path, "translations", locales)] if locales else [],
        entries=entries,
        dialect=Dialect(vue=True, dollars=mapping(config.get("markdown")).get("math") is True),
        root=root,
        statics=(f"{source}public/",),
        addresses=addresses,
        redirects=redirects_of(files, paths),
        base=text_of(config.get("base")),
        title=text_of(config.get("title")),
        description=text_of(said.get(locale or "root", {}).get("description"))
        or ("" if locale else text_of(config.get("description"))),
        language=text_of(said.get(locale or "root", {}).get("lang")) or locale or text_of(config.get("lang")),
        names={
            path: named_as_index(name.removeprefix(start))
            for path, name in inside.items()
            if name != path[len(source) :]
        },
        parts=(root.rstrip("/"), source.rstrip("/")),
        problems=problems,
    )


VITEPRESS = Reader("vitepress", "VitePress", finder(*_VITEPRESS), _vitepress)
