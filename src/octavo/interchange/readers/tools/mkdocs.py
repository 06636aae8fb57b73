"""Reader for MkDocs and its navigation plugins."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.summary import title_of_name

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..source_files import Heads, address_of, is_index, is_page, named_as_index
from ..trees import FolderFacts, grow, list_nav, pages_below, walk_entries
from ..types import Reader
from ..values import listing, mapping, text_of
from ..variants import MAX_VARIANTS, key_of, laid_over, language_name, left_out
from .configurations import MAX_DEPTH, finder, read_configuration, read_yaml_file

_NAMES = ("mkdocs.yml", "mkdocs.yaml", "zensical.toml", "zensical.yml", "zensical.yaml")
"""Names of configuration files. Zensical, the successor to Material for MkDocs, reads the same settings."""


def _by_name(given: object) -> JsonObject:
    """Return the options of plugins or extensions, by name. ``given``: a list of names, some with options, or an
    object, in which Zensical groups extensions by the first part of their names."""
    found: JsonObject = {}
    for one in [given] if isinstance(given, dict) else listing(given):
        for name, options in one.items() if isinstance(one, dict) else [(text_of(one), None)]:
            if name == "pymdownx":
                found.update({f"{name}.{part}": value for part, value in mapping(options).items()})
            elif name:
                found[name] = options
    return found


def _mkdocs(files: Heads, project: str) -> Layout:
    problems: list[Problem] = []
    name = next(name for name in _NAMES if project + name in files.known)
    config = read_configuration(files, project + name, problems)
    # The settings of Zensical are a table of its TOML file.
    config = mapping(config.get("project")) or config
    root = (
        posixpath.normpath(posixpath.join(project, text_of(config.get("docs_dir")) or "docs")).strip("./")
        + "/"
    )
    if not any(path.startswith(root) for path in files.paths):
        root = project
    plugins = _by_name(config.get("plugins"))
    extensions = _by_name(config.get("markdown_extensions"))
    base_paths = mapping(extensions.get("pymdownx.snippets")).get("base_path", [])
    i18n = mapping(plugins.get("i18n"))
    tongues = _i18n_languages(i18n)
    first = next(
        (name for name, facts in tongues.items() if facts.get("default") is True),
        text_of(i18n.get("default_language")) or next(iter(tongues), ""),
    )
    theme = mapping(config.get("theme"))
    in_folders = i18n.get("docs_structure") == "folder"
    source = root
    if in_folders and any(path.startswith(f"{root}{first}/") for path in files.paths):
        root = f"{root}{first}/"
    others = [name for name in tongues if name != first]
    ends = tuple(f".{name}.md" for name in others)

    def foreign(path: str) -> bool:
        return path.partition("/")[0] in others if in_folders else bool(ends) and path.endswith(ends)

    listed = text_of(mapping(plugins.get("literate-nav")).get("nav_file") or "SUMMARY.md")
    literate = root + listed
    paths = [
        path
        for path in pages_below(files, root, foreign)
        if "literate-nav" not in plugins or posixpath.basename(path) != listed
    ]
    own = f".{first}.md" if tongues and not in_folders else "\0"
    direct = config.get("use_directory_urls") is not False
    addresses = {
        path: address_of(inside) if direct or is_index(inside) else inside.rpartition(".")[0]
        for path in paths
        if (inside := path[len(root) :].removesuffix(own) + (".md" if path.endswith(own) else ""))
    }
    redirects = {}
    for old, new in mapping(mapping(plugins.get("redirects")).get("redirect_maps")).items():
        redirects[address_of(old)] = (
            root + str(new).partition("#")[0] if not re.match(r"https?:", str(new)) else str(new)
        )
    nav = config.get("nav", config.get("pages"))
    if isinstance(nav, list) and nav:
        entries = _mkdocs_nav(files, nav, root, 0, own)
    elif "literate-nav" in plugins and literate in files.known:
        entries = _literate(files, listed, root, paths)
    else:
        entries = grow(files, paths, root, lambda folder: _awesome(files, folder))
    layout = Layout(
        entries=entries,
        dialect=Dialect(
            indented=True,
            icons=True,
            marks=True,
            dollars="pymdownx.arithmatex" in extensions,
            lowered="pymdownx.tilde" in extensions,
            raised="pymdownx.caret" in extensions,
        ),
        brand=brand_of(files, project, "mkdocs", config, problems),
        root=root,
        addresses=addresses,
        redirects=redirects,
        site=text_of(config.get("site_url")),
        title=text_of(config.get("site_name")),
        description=text_of(config.get("site_description")),
        language=first or text_of(theme.get("language") or theme.get("locale")),
        parts=(
            *(
                posixpath.normpath(posixpath.join(project, one)).strip(".")
                for one in ([base_paths] if isinstance(base_paths, str) else listing(base_paths))
                if isinstance(one, str)
            ),
            root.rstrip("/"),
            project.rstrip("/"),
        ),
        values={"variables": {**mapping(config.get("extra")), "config": config}},
        problems=problems,
        names={path: path[len(root) :].removesuffix(own) + ".md" for path in paths if path.endswith(own)},
        same={path.removesuffix(own) + ".md": path for path in paths if path.endswith(own)},
    )
    present = [
        name
        for name in others
        if any(
            path.startswith(f"{source}{name}/") if in_folders else path.endswith(f".{name}.md")
            for path in files.paths
        )
    ]
    if present:
        taken: set[str] = set()
        variants = []
        for tongue in [first, *present][:MAX_VARIANTS]:
            facts = tongues.get(tongue, {})
            variants.append(
                Variant(
                    key=key_of(taken, tongue),
                    title=language_name(tongue, text_of(facts.get("name"))),
                    language=tongue,
                    path=None if tongue == first else tongue,
                    default=tongue == first,
                    lay_out=partial(
                        _mkdocs_tongue,
                        files,
                        layout,
                        source,
                        tongue,
                        own,
                        in_folders,
                        mapping(facts.get("nav_translations"))
                        or mapping(mapping(i18n.get("nav_translations")).get(tongue)),
                    )
                    if tongue != first
                    else lambda: layout,
                )
            )
        layout = replace(layout, variants=variants, left=[left_out(project + name, "translations", present)])
    return layout


def _i18n_languages(i18n: Mapping[str, object]) -> dict[str, JsonObject]:
    """Return the languages in the i18n plugin's configuration, in either of its formats."""
    given = i18n.get("languages")
    if isinstance(given, dict):
        made = {
            str(name): one if isinstance(one, dict) else {"name": text_of(one)} for name, one in given.items()
        }
        if default := text_of(i18n.get("default_language")):
            made.setdefault(default, {})
        return made
    return {
        text_of(one.get("locale")): one
        for one in listing(given)
        if isinstance(one, dict) and one.get("locale")
    }


def _mkdocs_tongue(
    files: Heads,
    layout: Layout,
    source: str,
    tongue: str,
    own: str,
    in_folders: bool,
    words: Mapping[str, object],
) -> Layout:
    def translated(path: str) -> str | None:
        if in_folders:
            found = f"{source}{tongue}/{path[len(layout.root) :]}"
        else:
            found = f"{path.removesuffix(own).removesuffix('.md')}.{tongue}.md"
        return found if found in files.known else None

    labels = {str(key): text_of(value) for key, value in words.items()}
    made = laid_over(layout, translated, labels=labels, begins=tongue)
    if in_folders:
        return replace(made, overlays=((f"{source}{tongue}/", layout.root),))
    names = {
        other: named_as_index(path[len(layout.root) :].removesuffix(own).removesuffix(".md") + ".md")
        for path in layout.addresses
        if (other := translated(path)) is not None
    }
    return replace(made, names={**made.names, **names})


def _mkdocs_nav(files: Heads, nav: Sequence[object], root: str, level: int, own: str) -> list[Entry]:
    """Return the navigation tree. ``own``: the suffix of page names in the language of the navigation. The entries
    in the configuration omit this suffix."""
    made: list[Entry] = []
    for one in nav if level < MAX_DEPTH * 4 else []:
        title, value = None, one
        if isinstance(one, dict) and one:
            title, value = next(iter(one.items()))
        if isinstance(value, list):
            children = _mkdocs_nav(files, value, root, level + 1, own)
            # If the first page of a section is the index of a folder, it becomes the page of the section.
            first = children[0] if children and children[0].path and not children[0].children else None
            leads = (
                first is not None and is_index(first.path or "") and (first.path or "") != f"{root}index.md"
            )
            made.append(
                Entry(
                    title=title,
                    path=first.path if leads and first else None,
                    children=children[1:] if leads else children,
                )
            )
        elif isinstance(value, str):
            path = posixpath.normpath(root + value)
            if path not in files.known and path.removesuffix(".md") + own in files.known:
                path = path.removesuffix(".md") + own
            if path in files.known and is_page(path):
                made.append(Entry(title=title, path=path))
            elif any(each.startswith(path.rstrip("/*") + "/") for each in files.paths):
                below = path.rstrip("/*") + "/"
                made.append(
                    Entry(
                        title=title or title_of_name(below.rstrip("/").rpartition("/")[2]),
                        children=grow(files, pages_below(files, below), below),
                    )
                )
            else:
                made.append(Entry(title=title or value, href=value))
    return made


def _awesome(files: Heads, folder: str) -> FolderFacts:
    """Return the settings of a folder from its ``.pages`` file."""
    config = read_yaml_file(files, f"{folder}.pages", [])
    order: dict[str, str | None] = {}
    for one in listing(config.get("nav", config.get("arrange"))):
        title, name = next(iter(one.items())) if isinstance(one, dict) and one else (None, one)
        if isinstance(name, str):
            order.setdefault("..." if name.startswith("...") else name.rstrip("/"), title)
    return FolderFacts(text_of(config.get("title")) or None, order=order)


def _literate(files: Heads, name: str, folder: str, paths: list[str], level: int = 0) -> list[Entry]:
    """Return the page tree from the file ``name``, which contains links. The tree includes the page trees of
    folders to which the file links, and pages that match a pattern and aren't listed anywhere else."""
    text = files.text(folder + name) or ""
    written = re.sub(
        r"^([ \t]*[-*+][ \t]+)([^\s()\[\]]*\*[^\s()\[\]]*)[ \t]*$", r"\1[](\2)", text, flags=re.MULTILINE
    )
    entries = list_nav(files, written, folder)
    named = {entry.path for entry in walk_entries(entries)}

    def filled(given: list[Entry]) -> list[Entry]:
        made: list[Entry] = []
        for entry in given:
            entry.children = filled(entry.children)
            href = entry.href or ""
            wanted = posixpath.normpath(folder + href)
            if entry.path is not None or not href or re.match(r"[a-z][a-z0-9+.-]*:|[/#]", href):
                made.append(entry)
            elif "*" in href:
                found = [
                    path
                    for path in paths
                    if path not in named
                    and path.count("/") == wanted.count("/")
                    and fnmatchcase(path, wanted)
                ]
                named.update(found)
                made += [Entry(path=path) for path in found]
            elif href.endswith("/") and level < MAX_DEPTH:
                below = f"{wanted}/"
                inside = (
                    _literate(files, name, below, paths, level + 1)
                    if below + name in files.known
                    else grow(files, [path for path in paths if path.startswith(below)], below)
                )
                if inside and inside[0].path and is_index(inside[0].path) and not inside[0].children:
                    entry.path = inside.pop(0).path
                entry.href, entry.children = None, [*inside, *entry.children]
                made.append(entry)
            else:
                made.append(entry)
        return made

    return filled(entries)


MKDOCS = Reader("mkdocs", "MkDocs", finder(*_NAMES), _mkdocs)
