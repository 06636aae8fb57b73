"""Reader for Nextra."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.summary import title_of_name

from ..layout import Dialect, Entry, Layout, Variant
from ..markdown.literals import read_export
from ..source_files import Heads, address_of, folder_of, is_page, named_as_index, stem_of
from ..trees import MAX_LEVEL, pages_below, walk_entries
from ..types import Reader
from ..values import listing, mapping, text_of
from ..variants import MAX_VARIANTS, addressed, key_of, language_name, left_out
from .configurations import module_at, read_json_file, shallowest, unread_navigation

_META = tuple(f"_meta.{end}" for end in ("js", "ts", "json", "mjs", "tsx", "jsx")) + ("meta.json",)


_NEXT = tuple(f"next.config.{end}" for end in ("js", "mjs", "ts", "cjs"))


def _find_nextra(files: Heads) -> str | None:
    config = shallowest(files, _NEXT, lambda text: "nextra" in text)
    if config is not None:
        return folder_of(config)
    meta = next((path for path in files.paths if posixpath.basename(path) in _META[:-1]), None)
    if meta is None:
        return None
    return re.sub(r"(?:^|(?<=/))(?:src/)?(?:pages|content|app)/.*$", "", folder_of(meta))


def _nextra(files: Heads, project: str) -> Layout:
    config = _nextra_config(files, project)
    top = _nextra_root(files, project)
    i18n = mapping(mapping(read_export(config)).get("i18n"))
    tongues = [text_of(one) for one in listing(i18n.get("locales"))]
    in_folders = [
        one
        for one in tongues
        if any(path.startswith(f"{top}{one}/") and is_page(path) for path in files.paths)
    ]
    by_names = [
        one
        for one in tongues
        if any(path.startswith(top) and path.endswith((f".{one}.mdx", f".{one}.md")) for path in files.paths)
    ]
    there = in_folders or by_names
    default = text_of(i18n.get("defaultLocale"))
    first = default if default in there else there[0] if there else ""
    if len(there) < 2:
        layout = _nextra_of(files, project, top, config, "", "")
        return replace(layout, language=first or default or html_language(files, project))
    return in_languages(
        lambda name: _nextra_of(
            files, project, top, config, name if in_folders else "", "" if in_folders else name
        ),
        first,
        there,
        top,
    )


def in_languages(lay_out: Callable[[str], Layout], first: str, names: list[str], top: str) -> Layout:
    """Return the layout in the first language, with all languages (``names``) as its variants. ``top``: the folder
    that contains the languages."""

    def in_language(name: str) -> Layout:
        return addressed(replace(lay_out(name), language=name), name, name == first)

    layout = in_language(first)
    others = [name for name in names if name != first]
    if others:
        taken: set[str] = set()
        variants = [
            Variant(
                key=key_of(taken, name),
                title=language_name(name),
                language=name,
                path=None if name == first else name,
                default=name == first,
                lay_out=partial(in_language, name),
            )
            for name in [first, *others][:MAX_VARIANTS]
        ]
        layout = replace(layout, variants=variants, left=[left_out(top.rstrip("/"), "translations", others)])
    return layout


def _nextra_config(files: Heads, project: str) -> str:
    return next(
        (text for name in _NEXT if (text := files.text(project + name)) is not None and "nextra" in text), ""
    )


def html_language(files: Heads, project: str) -> str:
    """Return the language that the app's root layout sets for all pages."""
    for name in (f"{folder}app/layout.{end}" for folder in ("", "src/") for end in ("jsx", "tsx", "js")):
        if found := re.search(
            r"<html\b[^<>]{0,500}?\blang=[\"']([\w-]{2,20})[\"']", files.text(project + name) or ""
        ):
            return found[1]
    return ""


def _nextra_root(files: Heads, project: str) -> str:
    return next(
        (
            project + name
            for name in ("src/content/", "content/", "pages/", "src/pages/", "app/", "src/app/")
            if any(path.startswith(project + name) and is_page(path) for path in files.paths)
        ),
        project,
    )


def _nextra_of(files: Heads, project: str, top: str, config: str, tongue: str, ending: str) -> Layout:
    """Return the layout. ``top``: the folder that contains all pages. ``tongue``: the folder inside it for the
    chosen language. ``ending``: the suffix of page names before the extension, if suffixes distinguish languages."""
    problems: list[Problem] = []
    root = f"{top}{tongue}/" if tongue else top
    own = f".{ending}" if ending else ""
    paths = pages_below(
        files,
        root,
        lambda path: (
            path.startswith(("_app", "_document", "api/")) or not posixpath.splitext(path)[0].endswith(own)
        ),
    )
    addresses = {
        path: re.sub(
            r"(?:^|/)page$",
            "",
            re.sub(r"\([\w-]+\)/", "", address_of(path[len(root) :].replace(f"{own}.md", ".md"))),
        )
        for path in paths
    }

    def meta(folder: str) -> JsonObject:
        for name in (*(f"_meta{own}.{name.partition('.')[2]}" for name in _META if own), *_META):
            if folder + name in files.known:
                made = (
                    read_export(module_at(files, folder + name))
                    if not name.endswith("json")
                    else read_json_file(files, folder + name, problems)
                )
                if isinstance(made, dict):
                    return made
                problems.append(unread_navigation(folder + name, "the order"))
        return {}

    def level(folder: str, depth: int) -> list[Entry]:
        said = meta(folder)
        below = [path[len(folder) :] for path in paths if path.startswith(folder)]
        names = list(
            dict.fromkeys(
                stem_of(one).removesuffix(own) if "/" not in one else one.partition("/")[0] for one in below
            )
        )
        if root.endswith("app/"):
            names = [name for name in names if name != "page"]
        order = [
            key
            for key in said
            if key in names or isinstance(said[key], dict) and {"href", "type", "items"} & said[key].keys()
        ]
        order += sorted(name for name in names if name not in said)
        if "index" in order and "index" not in said:
            order.remove("index")
            order.insert(0, "index")
        made: list[Entry] = []
        into = made
        for name in order if depth < MAX_LEVEL else []:
            facts = said.get(name)
            facts = {"title": facts} if isinstance(facts, str) else mapping(facts)
            title = text_of(facts.get("title")) or None
            if facts.get("type") == "separator":
                into = made if not title else into
                if title:
                    entry = Entry(title=title)
                    made.append(entry)
                    into = entry.children
                continue
            if href := text_of(facts.get("href")):
                into.append(Entry(title=title, href=href))
                continue
            stems = (
                f"{folder}{name}",
                f"{folder}{name}/index",
                f"{folder}{name}/page",
                f"{folder}{name}/README",
            )
            page = next(
                (
                    stem + own + end
                    for stem in stems
                    for end in (".mdx", ".md")
                    if stem + own + end in paths_set
                ),
                None,
            )
            if name == "index" and depth and page:
                continue
            children = level(f"{folder}{name}/", depth + 1) if name != "index" else []
            if facts.get("display") == "hidden" or (page is None and not children):
                continue
            children = [child for child in children if child.path != page]
            into.append(
                Entry(title=title or (None if page else title_of_name(name)), path=page, children=children)
            )
        return made

    paths_set = set(paths)
    entries = level(root, 0)
    home = next((path for path in paths if addresses[path] == ""), None)
    if home and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    base = re.search(r"contentDirBasePath\s*:\s*['\"]([^'\"\n]*)", config)
    given = mapping(read_export(config))
    names = {path: f"{path[len(root) :].partition(own)[0]}.md" for path in paths} if own else {}
    if own:
        names = {path: named_as_index(name) for path, name in names.items()}
    if root.endswith("app/"):
        # A folder's `page.mdx` file is named after the folder, as in its URL.
        names = {
            path: f"{addresses[path]}/README.md".lstrip("/") for path in paths if stem_of(path) == "page"
        }
    return Layout(
        entries=entries,
        dialect=Dialect(jsx=(".mdx", ".md"), dollars=True),
        root=root,
        statics=(f"{project}public/",),
        addresses=addresses,
        parts=(project.rstrip("/"),),
        problems=problems,
        names=names,
        base=(base[1] if base else "") or text_of(given.get("basePath")),
        same={path.replace(f"{own}.md", ".md"): path for path in paths} if own else {},
        redirects={
            text_of(one.get("source")): text_of(one.get("destination"))
            for one in listing(given.get("redirects"))
            if isinstance(one, dict) and one.get("source")
        },
    )


NEXTRA = Reader("nextra", "Nextra", _find_nextra, _nextra)
