"""Reader for Hugo."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..source_files import Heads, address_of, folder_of, is_index, named_as_index
from ..trees import grow, pages_below, redirects_of
from ..types import Reader
from ..values import mapping, text_of
from ..variants import MAX_VARIANTS, key_of, laid_over, language_name, left_out
from .configurations import read_configuration, unread_pages

_HUGO = tuple(
    f"{name}.{end}"
    for name in ("hugo", "config", "config/_default/hugo", "config/_default/config")
    for end in ("toml", "yaml", "yml", "json")
)


def _find_hugo(files: Heads) -> str | None:
    for path in sorted(files.paths, key=lambda path: path.count("/")):
        for name in _HUGO:
            if path == name or path.endswith("/" + name):
                project = path[: len(path) - len(name)]
                if any(other.startswith(f"{project}content/") for other in files.paths):
                    return project
    return None


def _never_shown(head: Mapping[str, object], section: bool) -> bool:
    """Return whether a page is never shown on its own or, for a section, whether this applies to all pages in its
    folder."""
    given = [head, mapping(head.get("cascade"))] if section else [head]
    return any(
        text_of(mapping(one.get(key)).get("render")) == "never"
        for one in given
        for key in ("build", "_build")
    ) or (section and head.get("headless") is True)


def _by_their_titles(files: Heads, entries: list[Entry]) -> None:
    """Use the pages' own titles if several sibling pages have the same title in the navigation."""
    named = Counter(entry.title for entry in entries)
    for entry in entries:
        if entry.path and named[entry.title] > 1 and files.title(entry.path):
            entry.title = files.title(entry.path)
        _by_their_titles(files, entry.children)


def _hugo(files: Heads, project: str) -> Layout:
    config: JsonObject = {}
    problems: list[Problem] = []
    for name in _HUGO:
        if project + name in files.known:
            config = read_configuration(files, project + name, problems)
            break
    for key in ("languages", "params"):
        # Each of these settings can be in a separate file.
        for ending in ("toml", "yaml", "yml", "json"):
            path = f"{project}config/_default/{key}.{ending}"
            if path in files.known:
                config[key] = {**mapping(config.get(key)), **read_configuration(files, path, problems)}
    config = {key.lower(): value for key, value in config.items()}
    root = content = f"{project}{text_of(config.get('contentdir')) or 'content'}/"
    languages = list(mapping(config.get("languages")))
    default = text_of(config.get("defaultcontentlanguage")) or "en"
    own = mapping(mapping(config.get("languages")).get(default))
    stated = next(
        (
            text_of(facts[key])
            for facts in (own, config)
            for key in ("languagecode", "languageCode", "locale")
            if facts.get(key)
        ),
        text_of(config.get("defaultcontentlanguage")),
    )
    folder = text_of(own.get("contentdir") or own.get("contentDir")).strip("/")
    if folder and any(path.startswith(f"{project}{folder}/") for path in files.paths):
        root = f"{project}{folder}/"
    elif any(path.startswith(f"{root}{default}/") for path in files.paths) and languages:
        root = f"{root}{default}/"
    others = tuple(f".{one}." for one in languages if one != default)
    paths = pages_below(
        files, root, lambda path: any(one in path for one in others) or path.partition("/")[0] in languages
    )
    problems += unread_pages(files, root, ())
    unseen = tuple(
        folder_of(path) if is_index(path) else path
        for path in paths
        if _never_shown(files.head(path), is_index(path))
    )
    paths = [path for path in paths if not path.startswith(unseen)] if unseen else paths
    addresses = {}
    for path in paths:
        head = files.head(path)
        address = (
            re.sub(rf"\.{re.escape(default)}$", "", address_of(path[len(root) :])).lower().replace(" ", "-")
        )
        if slug := text_of(head.get("slug")):
            address = posixpath.join(posixpath.dirname(address), slug)
        addresses[path] = (text_of(head.get("url")) or address).strip("/")
    entries = grow(files, paths, root, zero_is_last=True)
    _by_their_titles(files, entries)
    layout = Layout(
        brand=brand_of(files, project, "hugo", config, problems),
        entries=entries,
        dialect=Dialect(shortcodes=True, marks=False),
        root=root,
        statics=(f"{project}static/", f"{project}assets/"),
        addresses=addresses,
        redirects=redirects_of(files, paths),
        site=text_of(config.get("baseurl")),
        title=text_of(config.get("title")),
        parts=(project.rstrip("/"), root.rstrip("/")),
        values={"variables": mapping(config.get("params"))},
        problems=problems,
        language=stated,
        description=text_of(
            mapping(own.get("params")).get("description") or mapping(config.get("params")).get("description")
        ),
    )
    facts = {str(name): mapping(one) for name, one in mapping(config.get("languages")).items()}

    def translated(path: str, name: str) -> str | None:
        inside = path[len(root) :]
        stem = re.sub(rf"\.{re.escape(default)}$", "", posixpath.splitext(path)[0])
        folder = text_of(facts.get(name, {}).get("contentdir") or facts.get(name, {}).get("contentDir"))
        for found in (
            f"{content}{name}/{inside}",
            f"{stem}.{name}{posixpath.splitext(path)[1]}",
            f"{project}{folder}/{inside}" if folder else "",
        ):
            if found in files.known:
                return found
        return None

    tongues = [
        name for name in languages if name != default and any(translated(path, name) for path in paths)
    ]
    if tongues:
        taken: set[str] = set()

        def in_language(name: str) -> Layout:
            made = laid_over(layout, lambda path: translated(path, name), begins=name, whole=False)
            names = dict(made.names)
            for path in layout.addresses:
                if (other := translated(path, name)) is not None:
                    names[other] = named_as_index(
                        re.sub(
                            r"(?:^|(?<=/))_index\.md$",
                            "README.md",
                            re.sub(rf"\.{re.escape(default)}(?=\.md$)", "", path[len(root) :]),
                        )
                    )
            return replace(made, names=names, overlays=((f"{content}{name}/", root),), begins=name)

        variants = [
            Variant(
                key=key_of(taken, name),
                title=language_name(
                    name,
                    text_of(
                        facts.get(name, {}).get("languagename") or facts.get(name, {}).get("languageName")
                    ),
                ),
                language=name,
                path=None if name == default else name,
                default=name == default,
                lay_out=partial(in_language, name) if name != default else lambda: layout,
            )
            for name in [default, *tongues][:MAX_VARIANTS]
        ]
        left = left_out(root.rstrip("/"), "translations", tongues)
        layout = replace(layout, variants=variants, left=[left])
    return layout


HUGO = Reader("hugo", "Hugo", _find_hugo, _hugo)
