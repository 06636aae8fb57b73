"""Reader for Astro Starlight."""

from __future__ import annotations

import posixpath
from functools import partial

from msgspec.structs import replace

from octavo.core.problems import Problem

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..markdown.literals import read_export
from ..source_files import Heads, address_of
from ..trees import MAX_LEVEL, grow, label_of, pages_below, walk_entries
from ..types import Reader
from ..values import listing, mapping, text_of
from ..variants import MAX_VARIANTS, key_of, laid_over, language_name, left_out
from .configurations import finder, module_at, unread_navigation, unread_pages

_ASTRO = tuple(f"astro.config.{end}" for end in ("mjs", "ts", "js", "mts"))


def _starlight(files: Heads, project: str) -> Layout:
    problems: list[Problem] = []
    path = next(project + name for name in _ASTRO if project + name in files.known)
    config = mapping(read_export(module_at(files, path)))
    given = next(
        (
            one
            for one in listing(config.get("integrations"))
            if isinstance(one, dict) and ({"sidebar", "title", "social"} & one.keys())
        ),
        {},
    )
    sidebar = listing(given.get("sidebar")) or next(
        # The trees can be inside a plug-in that shows one of several trees.
        (
            one
            for one in listing(given.get("plugins"))
            if isinstance(one, list) and any(mapping(each).get("items") for each in one)
        ),
        [],
    )
    root = f"{project}src/content/docs/"
    facts = mapping(given.get("locales"))
    locales = [key for key in facts if key != "root"]
    default = text_of(given.get("defaultLocale"))
    stated = text_of(mapping(facts.get(default or "root")).get("lang")) or default.removeprefix("root")
    source, first = root, (default if default not in ("", "root") else stated or "en")
    others = [
        key
        for key in locales
        if key != default and any(one.startswith(f"{root}{key}/") for one in files.paths)
    ]
    if default in locales and any(one.startswith(f"{root}{default}/") for one in files.paths):
        # Pages in the default language, without its folder.
        root = f"{root}{default}/"
        locales = []
    paths = pages_below(
        files,
        root,
        lambda path: (
            path.partition("/")[0] in locales or any(part.startswith("_") for part in path.split("/"))
        ),
    )
    problems += unread_pages(files, root, (), (".mdoc",))
    addresses = {}
    for each in paths:
        slug = text_of(files.head(each).get("slug"))
        addresses[each] = slug.strip("/") if slug else address_of(each[len(root) :]).lower().replace(" ", "-")
    by_address = {address: each for each, address in addresses.items()}

    def items(one: object, level: int) -> list[Entry]:
        if isinstance(one, str):
            found = by_address.get(one.strip("/"))
            return [Entry(title=label_of(files.head(found)), path=found)] if found else []
        if not isinstance(one, dict) or level > MAX_LEVEL:
            return []
        label = text_of(one.get("label")) or None
        if slug := text_of(one.get("slug")):
            found = by_address.get(slug.strip("/"))
            return [Entry(title=label, path=found)] if found else []
        if (link := text_of(one.get("link"))) and not one.get("items"):
            found = by_address.get(link.strip("/"))
            return [Entry(title=label, path=found, href=None if found else link)]
        auto = mapping(one.get("autogenerate"))
        if folder := text_of(auto.get("directory")):
            below = f"{root}{folder.strip('/')}/"
            children = grow(files, [each for each in paths if each.startswith(below)], below)
        else:
            children = [entry for inner in listing(one.get("items")) for entry in items(inner, level + 1)]
        return [Entry(title=label, children=children)] if label else children

    entries = [entry for one in sidebar for entry in items(one, 0)]
    if not any(entry.path for entry in walk_entries(entries)):
        if given.get("sidebar") is not None or not config:
            problems.append(unread_navigation(path, "the sidebar"))
        entries = grow(files, paths, root)
    elif (home := by_address.get("")) and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    redirects = {
        old.strip("/"): value if isinstance(value, str) else text_of(mapping(value).get("destination"))
        for old, value in mapping(config.get("redirects")).items()
    }
    said = given.get("title")
    title = text_of(said) or text_of(
        mapping(said).get(default or "root") or mapping(said).get(first) or mapping(said).get("en")
    )
    layout = Layout(
        entries=entries,
        dialect=Dialect(jsx=(".mdx",)),
        root=root,
        statics=(f"{project}public/",),
        addresses=addresses,
        redirects=redirects,
        brand=brand_of(files, project, "starlight", given, problems),
        site=text_of(config.get("site")),
        base=text_of(config.get("base")),
        title=title,
        parts=(project.rstrip("/"),),
        problems=problems,
        language=stated,
        description=text_of(given.get("description")),
    )
    words: dict[str, dict[str, str]] = {}
    waiting = list(sidebar)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += listing(one.get("items"))
            for tongue, word in mapping(one.get("translations")).items():
                words.setdefault(str(tongue), {})[text_of(one.get("label"))] = text_of(word)

    def in_language(name: str) -> Layout:
        def translated(path: str) -> str | None:
            stem = posixpath.splitext(f"{source}{name}/{path[len(root) :]}")[0]
            return next((stem + end for end in (".md", ".mdx") if stem + end in files.known), None)

        lang = text_of(mapping(facts.get(name)).get("lang")) or name
        labels = words.get(lang) or words.get(lang.partition("-")[0]) or {}
        made = laid_over(layout, translated, labels=labels, begins=name)
        return replace(made, overlays=((f"{source}{name}/", root),))

    if others:
        taken: set[str] = set()
        variants = [
            Variant(
                key=key_of(taken, name or first),
                title=language_name(
                    text_of(mapping(facts.get(name or default or "root")).get("lang")) or name or first,
                    text_of(mapping(facts.get(name or default or "root")).get("label")),
                ),
                language=text_of(mapping(facts.get(name)).get("lang")) or name or stated or None,
                path=name or None,
                default=not name,
                lay_out=partial(in_language, name) if name else lambda: layout,
            )
            for name in ["", *others][:MAX_VARIANTS]
        ]
        layout = replace(layout, variants=variants, left=[left_out(path, "translations", others)])
    return layout


STARLIGHT = Reader(
    "starlight", "Starlight", finder(*_ASTRO, accept=lambda text: "starlight" in text), _starlight
)
