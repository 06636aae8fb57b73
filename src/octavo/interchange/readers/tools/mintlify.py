"""Reader for Mintlify."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.pages import slugify
from octavo.core.problems import Problem

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..source_files import Heads, address_of, folder_of
from ..trees import MAX_LEVEL, grow, label_of, pages_below, walk_entries
from ..types import Reader
from ..values import listing, mapping, text_of
from ..variants import MAX_VARIANTS, key_of, language_name, left_out
from .configurations import finder, read_json_file

MAX_REFERENCES = 500
"""Maximum number of files to which a configuration can refer."""


def _with_references(files: Heads, path: str, problems: list[Problem]) -> Any:
    """Return a configuration in which each ``$ref`` is replaced with the contents of the file to which it refers."""
    read = 0

    def filled(value: object, folder: str, within: tuple[str, ...], level: int) -> Any:
        nonlocal read
        if level > MAX_LEVEL * 3:
            return None
        if isinstance(value, list):
            return [filled(one, folder, within, level + 1) for one in value]
        if not isinstance(value, dict):
            return value
        named = value.get("$ref")
        if not isinstance(named, str):
            return {key: filled(one, folder, within, level + 1) for key, one in value.items()}
        other = posixpath.normpath(posixpath.join("" if named.startswith("/") else folder, named.lstrip("/")))
        if other in within or read >= MAX_REFERENCES:
            problems.append(
                Problem(
                    path,
                    0,
                    "circular_include",
                    f"{named[:200]} was skipped, because it includes itself or because too many files are"
                    " included",
                )
            )
            return None
        read += 1
        if other not in files.known:
            problems.append(Problem(path, 0, "missing_file", f"{named[:200]} doesn't exist"))
            return None
        found = filled(read_json_file(files, other, problems), folder_of(other), (*within, other), level + 1)
        rest = {key: filled(one, folder, within, level + 1) for key, one in value.items() if key != "$ref"}
        return {**found, **rest} if isinstance(found, dict) else found

    return filled(read_json_file(files, path, problems), folder_of(path), (path,), 0)


def _mintlify_of(files: Heads, project: str, chosen: tuple[int, ...]) -> Layout:
    """Return the layout. ``chosen``: the selected language and version; by default, the first language and the first
    version."""
    problems: list[Problem] = []
    name = next(name for name in ("docs.json", "mint.json") if project + name in files.known)
    config = mapping(_with_references(files, project + name, problems))
    paths = pages_below(files, project, lambda path: path.startswith("snippets/"))
    addresses = {path: address_of(path[len(project) :]) for path in paths}
    by_address = {posixpath.splitext(path[len(project) :])[0]: path for path in paths}

    def items(given: object, depth: int) -> list[Entry]:
        made: list[Entry] = []
        for one in listing(given) if depth < MAX_LEVEL else []:
            if isinstance(one, str):
                path = by_address.get(one.strip("/"))
                if (
                    path is None
                    and (files.known & {f"{project}{one.strip('/')}{end}" for end in (".md", ".mdx")})
                    == set()
                ):
                    problems.append(
                        Problem(
                            project + name, 0, "missing_file", f"{one[:200]} in the navigation doesn't exist"
                        )
                    )
                else:
                    made.append(Entry(title=label_of(files.head(path or "")), path=path))
            elif isinstance(one, dict):
                made += group(one, depth)
        return made

    def group(one: Mapping[str, object], depth: int) -> list[Entry]:
        title = next(
            (
                text_of(one[key])
                for key in ("group", "tab", "anchor", "dropdown", "product", "version", "item", "menu")
                if key in one
            ),
            "",
        )
        children: list[Entry] = []
        for key in ("pages", "groups", "tabs", "anchors", "dropdowns", "products", "menu"):
            children += items(one.get(key), depth + 1)
        if not children and (href := text_of(one.get("href"))):
            return [Entry(title=title, href=href)]
        if one.get("openapi") is not None and not children:
            problems.append(
                Problem(
                    project + name,
                    0,
                    "api_left_out",
                    f"{title[:100]}: the pages of an OpenAPI specification weren't imported; add "
                    "the specification to Octavo instead",
                )
            )
        root = text_of(one.get("root"))
        return (
            [
                Entry(
                    title=title or None,
                    path=by_address.get(root.strip("/")) if root else None,
                    children=children,
                )
            ]
            if children
            else []
        )

    navigation = config.get("navigation")
    language, description = "", text_of(config.get("description"))
    if isinstance(navigation, dict):
        entries: list[Entry] = []
        for level in range(4):
            parts = _mintlify_parts(navigation)
            if not parts:
                break
            # Readers see the default language or version first.
            first = next((at for at, one in enumerate(parts) if one.get("default")), 0)
            at = chosen[level] if level < len(chosen) else first
            language = text_of(parts[at].get("language")) or language
            if at != first and parts[at].get("language"):
                description = ""  # The description is in the default language.
            kept = {key: value for key, value in navigation.items() if key not in ("languages", "versions")}
            navigation = {**kept, **parts[at]}
        for key in ("pages", "groups", "tabs", "anchors", "dropdowns", "products"):
            entries += items(navigation.get(key), 0)
    else:
        entries = items(navigation, 0)
    if len(entries) == 1 and entries[0].path is None and all(child.children for child in entries[0].children):
        entries = entries[0].children
    if not any(entry.path for entry in walk_entries(entries)):
        entries = grow(files, paths, project)
    redirects = {
        text_of(one.get("source")).strip("/"): text_of(one.get("destination"))
        for one in listing(config.get("redirects"))
        if isinstance(one, dict)
    }
    return Layout(
        brand=brand_of(files, project, "mintlify", config, problems),
        entries=entries,
        dialect=Dialect(jsx=(".mdx", ".md"), dollars=True),
        root=project,
        addresses=addresses,
        redirects=redirects,
        title=text_of(config.get("name")),
        parts=(project.rstrip("/"), f"{project}snippets"),
        values={"variables": mapping(config.get("variables"))},
        problems=problems,
        language=language,
        description=description,
    )


def _mintlify(files: Heads, project: str) -> Layout:
    name = next(name for name in ("docs.json", "mint.json") if project + name in files.known)
    navigation = mapping(_with_references(files, project + name, [])).get("navigation")
    ways: list[tuple[tuple[int, ...], list[dict[str, Any]], bool]] = []

    def walk(at: JsonObject, way: tuple[int, ...], said: list[JsonObject], default: bool) -> None:
        parts = _mintlify_parts(at)
        if not parts or len(way) > 2:
            ways.append((way, said, default))
            return
        first = next((number for number, one in enumerate(parts) if one.get("default")), 0)
        for number, one in enumerate(parts):
            walk(one, (*way, number), [*said, one], default and number == first)

    if isinstance(navigation, dict):
        walk(navigation, (), [], True)
    if len(ways) < 2:
        return _mintlify_of(files, project, ())
    ways = ways[:MAX_VARIANTS]
    listed = {
        way: {entry.path for entry in walk_entries(_mintlify_of(files, project, way).entries)}
        for way, _, _ in ways
    }

    def of(way: tuple[int, ...]) -> Layout:
        """Return the layout of one variant, without pages that are listed only in other variants."""
        layout = _mintlify_of(files, project, way)
        others = set().union(*listed.values()) - listed[way]
        kept = {path: address for path, address in layout.addresses.items() if path not in others}
        return replace(layout, addresses=kept)

    layout = of(next(way for way, _, default in ways if default))
    taken: set[str] = set()
    variants = []
    for way, said, default in ways:
        names = [text_of(one.get("language") or one.get("version")) for one in said]
        tongue = next((text_of(one.get("language")) for one in said if one.get("language")), None)
        title = " · ".join(
            language_name(name) if one.get("language") else name
            for one, name in zip(said, names, strict=True)
        )
        variants.append(
            Variant(
                key=key_of(taken, *names),
                title=title,
                language=tongue,
                default=default,
                path=None if default else slugify("-".join(names)),
                lay_out=partial(of, way),
            )
        )
    first = next(said for _, said, default in ways if default)
    left = []
    for key, what in (("language", "translations"), ("version", "versions")):
        called = {text_of(one.get(key)) for _, said, _ in ways for one in said if one.get(key)}
        if others := sorted(called - {text_of(one.get(key)) for one in first if one.get(key)}):
            left.append(left_out(project + name, what, others))
    return replace(layout, variants=variants, left=left)


def _mintlify_parts(navigation: Mapping[str, object]) -> list[JsonObject]:
    return [
        one
        for key in ("languages", "versions")
        for one in listing(navigation.get(key))
        if isinstance(one, dict)
    ]


MINTLIFY = Reader(
    "mintlify",
    "Mintlify",
    finder("mint.json", "docs.json", accept=lambda text: '"navigation"' in text),
    _mintlify,
)
