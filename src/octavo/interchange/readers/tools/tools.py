"""Readers for tools that build sites from Markdown: the location of their configuration, and the tree that it
describes."""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import unquote

from octavo.core.pages import slugify
from octavo.core.problems import Problem
from octavo.core.summary import title_of_name
from octavo.core.yaml_text import YamlError, read_yaml

from ..brands import brand_of
from ..layout import Dialect, Entry, Layout, Variant
from ..markdown.literals import UNKNOWN, Module, read_constant, read_export
from ..source_files import Heads, address_of, folder_of, is_index, is_page, stem_of
from ..trees import FolderFacts, grow, label_of, pages_below, position_of, walk_entries
from ..types import Reader
from ..variants import MAX_VARIANTS, addressed, key_of, laid_over, language_name, left_out

MAX_DEPTH = 4
"""Maximum depth of folders that are searched for the configuration of a tool."""
MAX_ENTRIES = 50_000
MAX_DATA = 256 * 1024
"""Maximum size in bytes of a data file that is searched for a tree or a value."""


def shallowest(
    files: Heads, names: tuple[str, ...], accept: Callable[[str], bool] = lambda text: True
) -> str | None:
    """Return the file with one of these names that is closest to the top and whose text is accepted."""
    found = [
        path
        for path in files.paths
        if path.count("/") <= MAX_DEPTH
        and any(path == name or path.endswith("/" + name) for name in names)
        and "node_modules/" not in path
    ]
    for path in sorted(found, key=lambda path: (path.count("/"), path)):
        if accept(files.text(path) or ""):
            return path
    return None


def finder(*names: str, accept: Callable[[str], bool] = lambda text: True) -> Callable[[Heads], str | None]:
    def find(files: Heads) -> str | None:
        path = shallowest(files, names, accept)
        return (
            None
            if path is None
            else path[
                : len(path) - len(next(name for name in names if path == name or path.endswith("/" + name)))
            ]
        )

    return find


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _listing(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _read_yaml(files: Heads, path: str, problems: list[Problem]) -> dict[str, Any]:
    text = files.text(path)
    if text is None:
        return {}
    # Tags for programs are read as the value after them.
    text = re.sub(r"!!?(?:python/[\w.:/-]+|[A-Za-z][\w.-]*)(?=\s|$)", "", text)
    try:
        return _mapping(read_yaml(text).value)
    except YamlError as error:
        problems.append(Problem(path, error.line, "invalid_yaml", f"{error}; the default values are used"))
        return {}


def _read_json(files: Heads, path: str, problems: list[Problem]) -> Any:
    text = files.text(path)
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    made = read_export("export default " + text)
    if made is UNKNOWN:
        problems.append(
            Problem(path, 0, "invalid_configuration", "can't be read; the default values are used")
        )
        return None
    return made


_CODE = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx", ".jsx", ".json")


def _module(files: Heads, path: str) -> Module:
    """Return a code file together with its imports from nearby files."""

    def take(name: str) -> Module | None:
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        stem = re.sub(r"\.[cm]?js$", "", wanted)
        for candidate in (wanted, *(stem + end for end in _CODE), *(f"{wanted}/index{end}" for end in _CODE)):
            if candidate in files.known and candidate.endswith(_CODE):
                return _module(files, candidate)
        return None

    text = files.text(path) or ""
    return Module(f"export default {text}" if path.endswith(".json") else text, take)


_OTHER_PAGES = (".html", ".htm", ".org", ".rst", ".adoc", ".asciidoc", ".textile")
MAX_TOLD = 100


def _unread_pages(
    files: Heads, root: str, left: tuple[str, ...], endings: tuple[str, ...] = _OTHER_PAGES
) -> list[Problem]:
    """Report the pages below ``root`` that aren't Markdown, except those in ``left``."""
    found = (
        path
        for path in files.paths
        if path.startswith(root)
        and path.lower().endswith(endings)
        and not path[len(root) :].startswith((".", *left))
        and files.head(path)
    )
    message = "skipped: a page in an unsupported format"
    return [Problem(path, 0, "format_left_out", message) for path in islice(found, MAX_TOLD)]


def _unread(path: str, what: str) -> Problem:
    return Problem(
        path,
        0,
        "navigation_unread",
        f"{what} is only known when the site is built; the tree follows the folders instead",
    )


# --- plain Markdown ------------------------------------------------------------------------------------


def _plain_addresses(files: Heads, paths: list[str], root: str) -> dict[str, str]:
    made = {}
    for path in paths:
        head = files.head(path)
        address = address_of(path[len(root) :])
        if isinstance(slug := head.get("slug"), str) and slug.strip("/"):
            address = slug if slug.startswith("/") else posixpath.join(posixpath.dirname(address), slug)
        made[path] = address.strip("/")
    return made


def _redirects_of(files: Heads, paths: list[str]) -> dict[str, str]:
    """Return the former URL paths that pages state."""
    made: dict[str, str] = {}
    for path in paths:
        head = files.head(path)
        for key in ("aliases", "redirect_from", "redirects"):
            value = head.get(key)
            for old in [value] if isinstance(value, str) else _listing(value):
                if isinstance(old, str) and "/" in old:
                    made[old.strip("/")] = path
    return made


def _plain(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project, lambda path: posixpath.basename(path).lower() == "summary.md")
    return Layout(
        entries=grow(files, paths, project),
        dialect=Dialect(jsx=(".mdx",), tags=True),
        root=project,
        addresses=_plain_addresses(files, paths, project),
        redirects=_redirects_of(files, paths),
        rest=True,
    )


# --- MkDocs --------------------------------------------------------------------------------------------


def _mkdocs(files: Heads, project: str) -> Layout:
    problems: list[Problem] = []
    name = next(name for name in ("mkdocs.yml", "mkdocs.yaml") if project + name in files.known)
    config = _read_yaml(files, project + name, problems)
    root = (
        posixpath.normpath(posixpath.join(project, _text(config.get("docs_dir")) or "docs")).strip("./") + "/"
    )
    if not any(path.startswith(root) for path in files.paths):
        root = project
    plugins = {
        next(iter(one)) if isinstance(one, dict) else _text(one): one[next(iter(one))]
        if isinstance(one, dict)
        else None
        for one in _listing(config.get("plugins"))
        if one
    }
    plugins = _mapping(config.get("plugins")) or plugins
    extensions = {
        next(iter(one)): one[next(iter(one))]
        for one in _listing(config.get("markdown_extensions"))
        if isinstance(one, dict) and one
    }
    used = str(config.get("markdown_extensions"))
    base_paths = _mapping(extensions.get("pymdownx.snippets")).get("base_path", [])
    i18n = _mapping(plugins.get("i18n"))
    tongues = _i18n_languages(i18n)
    first = next(
        (name for name, facts in tongues.items() if facts.get("default") is True),
        _text(i18n.get("default_language")) or next(iter(tongues), ""),
    )
    theme = _mapping(config.get("theme"))
    in_folders = i18n.get("docs_structure") == "folder"
    source = root
    if in_folders and any(path.startswith(f"{root}{first}/") for path in files.paths):
        root = f"{root}{first}/"
    others = [name for name in tongues if name != first]
    ends = tuple(f".{name}.md" for name in others)

    def foreign(path: str) -> bool:
        return path.partition("/")[0] in others if in_folders else bool(ends) and path.endswith(ends)

    listed = _text(_mapping(plugins.get("literate-nav")).get("nav_file") or "SUMMARY.md")
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
    for old, new in _mapping(_mapping(plugins.get("redirects")).get("redirect_maps")).items():
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
            dollars="pymdownx.arithmatex" in used,
            lowered="pymdownx.tilde" in used,
            raised="pymdownx.caret" in used,
        ),
        brand=brand_of(files, project, "mkdocs", config, problems),
        root=root,
        addresses=addresses,
        redirects=redirects,
        site=_text(config.get("site_url")),
        title=_text(config.get("site_name")),
        description=_text(config.get("site_description")),
        language=first or _text(theme.get("language") or theme.get("locale")),
        parts=(
            *(
                posixpath.normpath(posixpath.join(project, one)).strip(".")
                for one in ([base_paths] if isinstance(base_paths, str) else _listing(base_paths))
                if isinstance(one, str)
            ),
            root.rstrip("/"),
            project.rstrip("/"),
        ),
        values={"variables": {**_mapping(config.get("extra")), "config": config}},
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
        layout.left.append(left_out(project + name, "translations", present))
        taken: set[str] = set()
        for tongue in [first, *present][:MAX_VARIANTS]:
            facts = tongues.get(tongue, {})
            layout.variants.append(
                Variant(
                    key=key_of(taken, tongue),
                    title=language_name(tongue, _text(facts.get("name"))),
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
                        _mapping(facts.get("nav_translations"))
                        or _mapping(_mapping(i18n.get("nav_translations")).get(tongue)),
                    )
                    if tongue != first
                    else lambda: layout,
                )
            )
    return layout


def _i18n_languages(i18n: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the languages in the configuration of the i18n plug-in, in either of its forms."""
    given = i18n.get("languages")
    if isinstance(given, dict):
        made = {
            str(name): one if isinstance(one, dict) else {"name": _text(one)} for name, one in given.items()
        }
        if default := _text(i18n.get("default_language")):
            made.setdefault(default, {})
        return made
    return {
        _text(one.get("locale")): one
        for one in _listing(given)
        if isinstance(one, dict) and one.get("locale")
    }


def _mkdocs_tongue(
    files: Heads, layout: Layout, source: str, tongue: str, own: str, in_folders: bool, words: dict[str, Any]
) -> Layout:
    def translated(path: str) -> str | None:
        if in_folders:
            found = f"{source}{tongue}/{path[len(layout.root) :]}"
        else:
            found = f"{path.removesuffix(own).removesuffix('.md')}.{tongue}.md"
        return found if found in files.known else None

    labels = {str(key): _text(value) for key, value in words.items()}
    made = laid_over(layout, translated, labels=labels, begins=tongue)
    if in_folders:
        made.overlays = ((f"{source}{tongue}/", layout.root),)
    else:
        for path in layout.addresses:
            if (other := translated(path)) is not None:
                made.names[other] = _named_as_index(
                    path[len(layout.root) :].removesuffix(own).removesuffix(".md") + ".md"
                )
    return made


def _named_as_index(path: str) -> str:
    return re.sub(r"(?:^|(?<=/))(?:index|readme)\.md$", "README.md", path, flags=re.IGNORECASE)


def _mkdocs_nav(files: Heads, nav: list[Any], root: str, level: int, own: str) -> list[Entry]:
    """Return the tree of the navigation. ``own`` is the ending of page names in the language of the navigation,
    which doesn't state it."""
    made: list[Entry] = []
    for one in nav if level < MAX_DEPTH * 4 else []:
        title, value = None, one
        if isinstance(one, dict) and one:
            title, value = next(iter(one.items()))
        if isinstance(value, list):
            children = _mkdocs_nav(files, value, root, level + 1, own)
            # The first page of a section is its own page, if it is the index of a folder.
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
    """Return what a ``.pages`` file states about its folder."""
    config = _read_yaml(files, f"{folder}.pages", [])
    order: dict[str, str | None] = {}
    for one in _listing(config.get("nav", config.get("arrange"))):
        title, name = next(iter(one.items())) if isinstance(one, dict) and one else (None, one)
        if isinstance(name, str):
            order.setdefault("..." if name.startswith("...") else name.rstrip("/"), title)
    return FolderFacts(_text(config.get("title")) or None, order=order)


def _literate(files: Heads, name: str, folder: str, paths: list[str], level: int = 0) -> list[Entry]:
    """Return the tree in a file of links named ``name``, including those of the folders that it links to, and the
    pages that match a pattern and are listed nowhere else."""
    text = files.text(folder + name) or ""
    written = re.sub(
        r"^([ \t]*[-*+][ \t]+)([^\s()\[\]]*\*[^\s()\[\]]*)[ \t]*$", r"\1[](\2)", text, flags=re.MULTILINE
    )
    entries = _list_nav(files, written, folder)
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


_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d+\.)[ \t]+(?P<words>.+)$")
_LINK = re.compile(r"!?\[(?P<title>[^\]]*)\]\((?P<href>[^()\s]+)[^()]*\)|\[\[(?P<named>[^\]]+)\]\]")


def _list_nav(
    files: Heads, text: str, folder: str, find: Callable[[str], str | None] | None = None
) -> list[Entry]:
    """Return the tree in a list of links."""
    made: list[Entry] = []
    stack: list[tuple[int, list[Entry]]] = [(-1, made)]
    for line in text.split("\n")[:MAX_ENTRIES]:
        heading = re.match(r"#{1,6}[ \t]+(.+?)[ \t#]*$", line)
        found = _ITEM.match(line)
        if heading and not _LINK.search(line):
            entry = Entry(title=heading[1].strip("* "))
            made.append(entry)
            stack = [(-1, entry.children)]
            continue
        link = _LINK.search(found["words"] if found else line)
        if link is None and found is None:
            continue
        indent = len(found["indent"].expandtabs(4)) if found else -1
        while len(stack) > 1 and stack[-1][0] >= max(indent, 0):
            stack.pop()
        if link is None:
            entry = Entry(title=re.sub(r"[*_`]", "", found["words"] if found else "").strip())
        elif link["named"]:
            shown, bar, name = link["named"].partition("|")
            path = find(name if bar else shown) if find else None
            entry = Entry(title=shown, path=path, href=None if path else name or shown)
        else:
            href = link["href"].partition("#")[0]
            path = posixpath.normpath(folder + href)
            path = path if path in files.known else (find(href) if find else None) or ""
            entry = Entry(
                title=re.sub(r"[*`]", "", link["title"]) or None,
                path=path or None,
                href=None if path else link["href"],
            )
        if len(stack) < MAX_DEPTH * 6:
            stack[-1][1].append(entry)
            stack.append((max(indent, 0), entry.children))
    return made


# --- Docusaurus ----------------------------------------------------------------------------------------

_DOCUSAURUS = tuple(f"docusaurus.config.{end}" for end in ("js", "ts", "mjs", "cjs", "mts"))
_FIRST_DOCUSAURUS = "siteConfig.js"
_SIDEBARS = tuple(f"sidebars.{end}" for end in ("js", "ts", "mjs", "cjs", "json"))
_PREFIX = re.compile(r"^\d+\s*[-_.]+\s*(?=[^\d\s])")


def _find_docusaurus(files: Heads) -> str | None:
    """Return the folder of the configuration, or that of the sidebar if a package has only documents and their
    sidebar."""
    found = finder(*_DOCUSAURUS)(files)
    if found is None:
        found = finder(_FIRST_DOCUSAURUS, accept=lambda text: "headerLinks" in text or "docsUrl" in text)(
            files
        )
    if found is None:
        found = finder(*_SIDEBARS)(files)
        if found is not None and not any(is_page(path) and path.startswith(found) for path in files.paths):
            return None
    return found


def _docusaurus_config(files: Heads, project: str) -> tuple[str, dict[str, Any]]:
    """Return the file of the configuration, empty if there is none, and its values. Docusaurus 1 had its documents
    next to the folder of its configuration, and other names for the same settings."""
    path = next((project + name for name in _DOCUSAURUS if project + name in files.known), "")
    if path:
        return path, _mapping(read_export(_module(files, path)))
    path = project + _FIRST_DOCUSAURUS
    if path not in files.known:
        # A sidebar for documents next to it or in a folder of their own.
        has_folder = any(path.startswith(f"{project}docs/") and is_page(path) for path in files.paths)
        return "", {"presets": [["classic", {"docs": {"path": "docs" if has_folder else "."}}]]}
    said = _mapping(read_export(_module(files, path)))
    route = said.get("docsUrl")
    docs = {
        "path": posixpath.join("..", _text(said.get("customDocsPath")) or "docs"),
        "routeBasePath": route if isinstance(route, str) else "docs",
        "sidebarPath": "sidebars.json",
    }
    return path, {**said, "presets": [["classic", {"docs": docs}]]} if said else {}


def _docusaurus(files: Heads, project: str) -> Layout:
    _, config = _docusaurus_config(files, project)
    docs = next(
        (
            _mapping(_mapping(preset[1]).get("docs"))
            for preset in _listing(config.get("presets"))
            if isinstance(preset, list) and len(preset) > 1
        ),
        {},
    )
    said = _read_json(files, f"{project}versions.json", [])
    versions = [
        _text(one)
        for one in _listing(said)
        if any(path.startswith(f"{project}versioned_docs/version-{_text(one)}/") for path in files.paths)
    ]
    last = _text(docs.get("lastVersion")) or (versions[0] if versions else "current")
    current = docs.get("includeCurrentVersion") is not False and any(
        path.startswith(_docs_folder(project, docs)) for path in files.paths
    )
    # If the current documents aren't published, the latest version is the default.
    layout = _docusaurus_of(files, project, None if current or last not in versions else last, "")
    i18n = _mapping(config.get("i18n"))
    first = _text(i18n.get("defaultLocale")) or "en"
    locales = [
        name
        for name in dict.fromkeys(
            [*(_text(one) for one in _listing(i18n.get("locales"))), *_folders(files, f"{project}i18n/")]
        )
        if name
        and name != first
        and any(
            path.startswith(f"{project}i18n/{name}/docusaurus-plugin-content-docs/") for path in files.paths
        )
    ]
    facts = _mapping(docs.get("versions"))
    taken: set[str] = set()
    shown = ["current", *versions] if current or not versions else [*versions]
    shown.sort(key=lambda version: version != last)
    for version in shown:
        about = _mapping(facts.get(version))
        label = _text(about.get("label")) or ("Next" if version == "current" and versions else version)
        where = _text(about.get("path")) or (
            "" if version == last else "next" if version == "current" else version
        )
        for locale in ["", *locales]:
            tongue = language_name(
                locale or first,
                _text(_mapping(_mapping(i18n.get("localeConfigs")).get(locale or first)).get("label")),
            )
            title = " · ".join(
                part for part in (label if versions else "", tongue if locales else "") if part
            )
            layout.variants.append(
                Variant(
                    key=key_of(taken, version if versions else "", locale or (first if locales else "")),
                    title=title or "Current",
                    language=locale or _text(i18n.get("defaultLocale")) or None,
                    path="-".join(part for part in (locale, where.strip("/").replace("/", "-")) if part)
                    or None,
                    default=version == last and not locale,
                    lay_out=partial(
                        _docusaurus_of,
                        files,
                        project,
                        None if version == "current" else version,
                        locale,
                        where.strip("/"),
                    ),
                )
            )
    layout.brand = brand_of(files, project, "docusaurus", config, layout.problems)
    if versions:
        layout.left.append(left_out(f"{project}versioned_docs", "versions", versions))
    if locales:
        layout.left.append(left_out(f"{project}i18n", "translations", locales))
    layout.variants = layout.variants[:MAX_VARIANTS] if len(layout.variants) > 1 else []
    return layout


def _folders(files: Heads, root: str) -> list[str]:
    return sorted({path[len(root) :].partition("/")[0] for path in files.paths if path.startswith(root)})


def _docusaurus_of(files: Heads, project: str, version: str | None, locale: str, where: str = "") -> Layout:
    """Return the documents of a version, or the current ones if there is none, in a language, or the default one
    if it is empty. ``where`` is the URL prefix of the version."""
    problems: list[Problem] = []
    config_path, config = _docusaurus_config(files, project)
    if not config:
        problems.append(_unread(config_path, "the configuration"))
    i18n = _mapping(config.get("i18n"))
    tongue = locale or _text(i18n.get("defaultLocale"))
    layout = Layout(
        entries=[],
        dialect=Dialect(
            jsx=() if config_path.endswith(_FIRST_DOCUSAURUS) else (".md", ".mdx"),
            dollars="remark-math" in (files.text(config_path) or "")
            or "remarkMath" in (files.text(config_path) or "")
            or "-katex" in (files.text(config_path) or ""),
        ),
        root=f"{project}docs/",
        statics=tuple(
            f"{project}{one}/"
            for one in _listing(config.get("staticDirectories")) or ["static"]
            if isinstance(one, str)
        ),
        site=_text(config.get("url")),
        base=_text(config.get("baseUrl")),
        title=_text(config.get("title")),
        description=_text(config.get("tagline")) if locale in ("", _text(i18n.get("defaultLocale"))) else "",
        problems=problems,
        language=_text(_mapping(_mapping(i18n.get("localeConfigs")).get(tongue)).get("htmlLang")) or tongue,
    )
    instances: list[dict[str, Any]] = []
    for preset in _listing(config.get("presets")):
        given = _mapping(preset[1]) if isinstance(preset, list) and len(preset) > 1 else {}
        if given.get("docs") is not False:
            instances.append(_mapping(given.get("docs")))
    for plugin in _listing(config.get("plugins")):
        name, given = (
            (plugin[0], _mapping(plugin[1])) if isinstance(plugin, list) and len(plugin) > 1 else (plugin, {})
        )
        if "plugin-content-docs" in str(name):
            instances.append(given)
        elif "client-redirects" in str(name):
            for one in _listing(given.get("redirects")):
                for old in (
                    [one.get("from")]
                    if isinstance(_mapping(one).get("from"), str)
                    else _listing(_mapping(one).get("from"))
                ):
                    layout.redirects[_text(old).strip("/")] = _text(_mapping(one).get("to"))
            if given.get("createRedirects", None) is not None:
                problems.append(
                    Problem(
                        config_path,
                        0,
                        "redirect_left_out",
                        "redirects created by a function are only known when the site is built",
                    )
                )
    if version is not None:
        own = f"{project}versioned_docs/version-{version}/"
        sidebars = f"versioned_sidebars/version-{version}-sidebars.json"
        instances = [
            {**one, "path": own[len(project) :], "sidebarPath": sidebars} if at == 0 else one
            for at, one in enumerate(instances or [{}])
        ]
    instances = [
        one
        for one in instances or [{}]
        if any(path.startswith(_docs_folder(project, one)) for path in files.paths)
    ]
    if not instances:
        instances = [{"path": "docs"}]
    layout.root = _docs_folder(project, instances[0])
    if len(instances) > 1:
        layout.root = project
    labels = {
        _text(one.get("sidebarId")): _text(one.get("label"))
        for one in _listing(_mapping(_mapping(config.get("themeConfig")).get("navbar")).get("items"))
        if isinstance(one, dict)
    }
    for at, instance in enumerate(instances):
        made = _Docs(
            files, project, instance, layout, config_path, labels, where if at == 0 else ""
        ).entries()
        title = title_of_name(
            _text(instance.get("id")) or _docs_folder(project, instance).rstrip("/").rpartition("/")[2]
        )
        layout.entries += [Entry(title=title, children=made)] if len(instances) > 1 else made
    for folder, code, what in (
        ("blog/", "blog_left_out", "the blog"),
        ("src/pages/", "pages_left_out", "pages built from components"),
    ):
        if any(path.startswith(project + folder) for path in files.paths):
            problems.append(
                Problem(
                    project + folder.rstrip("/"),
                    0,
                    code,
                    f"{what}: not imported; import the folder separately",
                )
            )
    if not locale:
        return layout
    named = f"{project}i18n/{locale}/docusaurus-plugin-content-docs"
    roots = [
        (
            _docs_folder(project, one),
            f"{named}{'' if one.get('id') in (None, 'default') else '-' + _text(one.get('id'))}/"
            f"{f'version-{version}' if version is not None and at == 0 else 'current'}/",
        )
        for at, one in enumerate(instances)
    ]

    def translated(path: str) -> str | None:
        for under, over in roots:
            if path.startswith(under):
                stem = posixpath.splitext(over + path[len(under) :])[0]
                return next((stem + end for end in (".md", ".mdx") if stem + end in files.known), None)
        return None

    words: dict[str, str] = {}
    for _, over in roots:
        for key, one in _mapping(_read_json(files, over.rstrip("/") + ".json", problems)).items():
            if found := re.match(r"sidebar\.[^.]+\.(?:category|link|doc)\.(.+?)(?:\.link\..*)?$", str(key)):
                words.setdefault(found[1], _text(_mapping(one).get("message")))
    over_it = laid_over(layout, translated, labels={k: v for k, v in words.items() if v}, begins=locale)
    over_it.overlays, over_it.begins = tuple((over, under) for under, over in roots), locale
    return over_it


def _docs_folder(project: str, instance: dict[str, Any]) -> str:
    folder = posixpath.normpath(posixpath.join(project, _text(instance.get("path")) or "docs")).lstrip("./")
    return f"{folder}/" if folder else ""


class _Docs:
    """A set of Docusaurus documents: their ids, URL paths, and sidebars."""

    def __init__(
        self,
        files: Heads,
        project: str,
        instance: dict[str, Any],
        layout: Layout,
        config: str,
        labels: dict[str, str],
        where: str = "",
    ) -> None:
        self.files, self.project, self.instance, self.layout, self.config, self.labels = (
            files,
            project,
            instance,
            layout,
            config,
            labels,
        )
        self.root = _docs_folder(project, instance)
        self.route = instance["routeBasePath"] if isinstance(instance.get("routeBasePath"), str) else "docs"
        self.paths = pages_below(
            files, self.root, lambda path: any(part.startswith("_") for part in path.split("/"))
        )
        self.ids: dict[str, str] = {}
        for path in self.paths:
            head = files.head(path)
            inside = [
                _PREFIX.sub("", part) for part in posixpath.splitext(path[len(self.root) :])[0].split("/")
            ]
            own = _text(head.get("id")) or inside[-1]
            id = "/".join([*inside[:-1], own])
            self.ids.setdefault(id, path)
            folder, name = inside[:-1], inside[-1]
            if name.lower() in ("index", "readme") or (folder and name.lower() == folder[-1].lower()):
                address = "/".join(folder)
            else:
                address = "/".join([*folder, own])
            if slug := _text(head.get("slug")):
                address = slug if slug.startswith("/") else posixpath.normpath("/".join([*folder, slug]))
            layout.addresses[path] = "/".join(
                part for part in (self.route.strip("/"), where, address.strip("/")) if part
            )

    def entries(self) -> list[Entry]:
        given = self.instance.get("sidebarPath")
        if given is False:
            return []
        named = _text(given)
        candidates = [posixpath.normpath(posixpath.join(self.project, named))] if named else []
        candidates += (
            [self.project + name for name in _SIDEBARS]
            if self.instance.get("id") in (None, "default") and not named.startswith("versioned_sidebars/")
            else []
        )
        path = next((one for one in candidates if one in self.files.known), None)
        if path is None:
            return self.auto(self.root)
        sidebars = read_export(_module(self.files, path))
        if not isinstance(sidebars, dict):
            self.layout.problems.append(_unread(path, "the sidebar"))
            return self.auto(self.root)
        made = []
        for name, items in sidebars.items():
            children = self.items(items, 0, path)
            made.append(
                Entry(
                    title=self.labels.get(name)
                    or title_of_name(re.sub(r"(?<=[a-z])Sidebar$|Sidebar$", "", name) or name),
                    children=children,
                )
            )
        made = [entry for entry in made if entry.children]
        return made[0].children if len(made) == 1 else made

    def items(self, given: Any, level: int, where: str) -> list[Entry]:
        if isinstance(given, dict) and "type" not in given:
            given = [{"type": "category", "label": label, "items": items} for label, items in given.items()]
        made: list[Entry] = []
        for item in _listing(given) if level < MAX_LEVEL else []:
            made += self.item(item, level, where)
        return made

    def item(self, item: Any, level: int, where: str) -> list[Entry]:
        if isinstance(item, str):
            return self.document(item, None, where)
        if item is UNKNOWN or not isinstance(item, dict):
            self.layout.problems.append(_unread(where, "a part of the sidebar"))
            return []
        kind = item.get("type")
        if kind is None:
            return self.items(item, level, where)
        if kind in ("doc", "ref"):
            return self.document(_text(item.get("id")), _text(item.get("label")) or None, where)
        if kind == "link":
            return [Entry(title=_text(item.get("label")), href=_text(item.get("href")))]
        if kind == "autogenerated":
            folder = _text(item.get("dirName")).strip("./")
            return self.auto(f"{self.root}{folder}/" if folder else self.root, folder != "")
        if kind == "subcategory":
            return [
                Entry(title=_text(item.get("label")), children=self.items(item.get("ids"), level + 1, where))
            ]
        if kind == "category":
            link = _mapping(item.get("link"))
            own = self.document(_text(link.get("id")), None, where) if link.get("type") == "doc" else []
            children = self.items(item.get("items"), level + 1, where)
            path = own[0].path if own else None
            slug = link.get("slug")
            if link.get("type") == "generated-index" and not isinstance(slug, str):
                slug = f"category/{slugify(_text(item.get('label')))}"
            if path is None and isinstance(slug, str):
                first = next((child.path for child in walk_entries(children) if child.path), None)
                if first:
                    self.layout.redirects[f"{self.route.strip('/')}/{slug.strip('/')}".strip("/")] = first
            return [
                Entry(
                    title=_text(item.get("label")) or None,
                    path=path,
                    children=[child for child in children if child.path is None or child.path != path],
                )
            ]
        return []

    def document(self, id: str, label: str | None, where: str) -> list[Entry]:
        path = self.ids.get(id) or self.ids.get("/".join(_PREFIX.sub("", part) for part in id.split("/")))
        if path is None:
            self.layout.problems.append(
                Problem(where, 0, "missing_file", f"{id[:200]} in the sidebar doesn't exist")
            )
            return []
        return [Entry(title=label or label_of(self.files.head(path)), path=path)]

    def auto(self, root: str, below: bool = False) -> list[Entry]:
        entries = grow(
            self.files,
            [path for path in self.paths if path.startswith(root)],
            root,
            self.facts,
            same_name=True,
        )
        return [entry for entry in entries if self.files.head(entry.path or "").get("unlisted") is not True]

    def facts(self, folder: str) -> FolderFacts:
        for name in ("_category_.json", "_category_.yml", "_category_.yaml"):
            if folder + name in self.files.known and folder != self.root:
                said = (
                    _mapping(_read_json(self.files, folder + name, self.layout.problems))
                    if name.endswith("json")
                    else _read_yaml(self.files, folder + name, self.layout.problems)
                )
                link = _mapping(said.get("link"))
                page = self.ids.get(_text(link.get("id"))) if link.get("type") == "doc" else None
                position = said.get("position")
                return FolderFacts(
                    _text(said.get("label")) or None,
                    float(position) if isinstance(position, (int, float)) else math.inf,
                    page,
                )
        return FolderFacts()


MAX_LEVEL = 20


# --- VitePress -----------------------------------------------------------------------------------------

_VITEPRESS = tuple(f".vitepress/config.{end}" for end in ("ts", "js", "mts", "mjs", "cts", "cjs")) + tuple(
    f".vitepress/config/index.{end}" for end in ("ts", "js", "mts", "mjs")
)


_REWRITTEN = re.compile(r":(?P<name>\w+)(?P<shape>\([^()]*\))?(?P<many>[*+?])?")
MAX_REWRITES = 1000


def _rewriter(given: Any) -> Callable[[str], str]:
    """Return a function that rewrites the path of a file to the path of its URL, by patterns such as
    ``en/:rest*``."""
    patterns: list[tuple[re.Pattern[str], str]] = []
    for old, new in islice(_mapping(given).items(), MAX_REWRITES):
        parts = list(_REWRITTEN.finditer(old))
        if not isinstance(new, str) or len(parts) > 3 or len({part["name"] for part in parts}) < len(parts):
            continue  # A pattern with more parameters would take long to match.
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
    """Return the layout. ``locale`` is the folder of the chosen language, or empty for the default one."""
    problems: list[Problem] = []
    path = next(project + name for name in _VITEPRESS if project + name in files.known)
    module = _module(files, path)
    config = _mapping(read_export(module))
    root = posixpath.normpath(posixpath.join(project, _text(config.get("srcDir")) or ".")).strip(".")
    root = f"{root}/" if root else project
    rewrite = _rewriter(config.get("rewrites"))
    out = [one for one in _listing(config.get("srcExclude")) if isinstance(one, str)]
    said = {key.strip("/"): _mapping(one) for key, one in _mapping(config.get("locales")).items()}
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
    # The page of a folder is only `index.md` here.
    addresses = {
        path: posixpath.dirname(name) if stem_of(name) == "index" else posixpath.splitext(name)[0]
        for path, name in inside.items()
    }
    theme = _mapping(said.get(locale or "root", said.get("", {})).get("themeConfig"))
    if not locale or not theme.get("sidebar"):
        theme = {**_mapping(config.get("themeConfig")), **theme}
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

    def items(given: Any, base: str, level: int) -> list[Entry]:
        made = []
        for one in _listing(given) if level < MAX_LEVEL else []:
            if not isinstance(one, dict):
                continue
            below = _text(one.get("base")) or base
            children = items(one.get("items"), below, level + 1)
            link = _text(one.get("link"))
            where = page(link, base) if link else None
            title = re.sub(r"<[^<>]*>", "", _text(one.get("text"))).strip() or None
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
            _text(one.get("activeMatch")).strip("^/$")
            or _text(one.get("link")).strip("/").partition("/")[0]: _text(one.get("text"))
            for one in _listing(theme.get("nav"))
            if isinstance(one, dict)
        }
        for key, given in sidebar.items():
            if key.strip("/").partition("/")[0] in locales and key.strip("/").partition("/")[0] != locale:
                continue
            base = _text(given.get("base")) if isinstance(given, dict) else ""
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
            problems.append(_unread(path, "the sidebar"))
        entries = grow(files, paths, root)
    elif (home := by_address.get(locale)) and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    taken: set[str] = set()
    variants = [
        Variant(
            key=key_of(taken, name or "root"),
            title=language_name(
                _text(said.get(name or "root", {}).get("lang")) or name or _text(config.get("lang")) or "en",
                _text(said.get(name or "root", {}).get("label")),
            ),
            language=_text(said.get(name or "root", {}).get("lang"))
            or name
            or _text(config.get("lang"))
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
        dialect=Dialect(vue=True, dollars=_mapping(config.get("markdown")).get("math") is True),
        root=root,
        statics=(f"{source}public/",),
        addresses=addresses,
        redirects=_redirects_of(files, paths),
        base=_text(config.get("base")),
        title=_text(config.get("title")),
        description=_text(said.get(locale or "root", {}).get("description"))
        or ("" if locale else _text(config.get("description"))),
        language=_text(said.get(locale or "root", {}).get("lang")) or locale or _text(config.get("lang")),
        names={
            path: _named_as_index(name.removeprefix(start))
            for path, name in inside.items()
            if name != path[len(source) :]
        },
        parts=(root.rstrip("/"), source.rstrip("/")),
        problems=problems,
    )


# --- Starlight -----------------------------------------------------------------------------------------

_ASTRO = tuple(f"astro.config.{end}" for end in ("mjs", "ts", "js", "mts"))


def _starlight(files: Heads, project: str) -> Layout:
    problems: list[Problem] = []
    path = next(project + name for name in _ASTRO if project + name in files.known)
    config = _mapping(read_export(_module(files, path)))
    given = next(
        (
            one
            for one in _listing(config.get("integrations"))
            if isinstance(one, dict) and ({"sidebar", "title", "social"} & one.keys())
        ),
        {},
    )
    sidebar = _listing(given.get("sidebar")) or next(
        # A plug-in that shows one of several trees contains them.
        (
            one
            for one in _listing(given.get("plugins"))
            if isinstance(one, list) and any(_mapping(each).get("items") for each in one)
        ),
        [],
    )
    root = f"{project}src/content/docs/"
    facts = _mapping(given.get("locales"))
    locales = [key for key in facts if key != "root"]
    default = _text(given.get("defaultLocale"))
    stated = _text(_mapping(facts.get(default or "root")).get("lang")) or default.removeprefix("root")
    source, first = root, (default if default not in ("", "root") else stated or "en")
    others = [
        key
        for key in locales
        if key != default and any(one.startswith(f"{root}{key}/") for one in files.paths)
    ]
    if default in locales and any(one.startswith(f"{root}{default}/") for one in files.paths):
        # Pages of the default language, without its folder.
        root = f"{root}{default}/"
        locales = []
    paths = pages_below(
        files,
        root,
        lambda path: (
            path.partition("/")[0] in locales or any(part.startswith("_") for part in path.split("/"))
        ),
    )
    problems += _unread_pages(files, root, (), (".mdoc",))
    addresses = {}
    for each in paths:
        slug = _text(files.head(each).get("slug"))
        addresses[each] = slug.strip("/") if slug else address_of(each[len(root) :]).lower().replace(" ", "-")
    by_address = {address: each for each, address in addresses.items()}

    def items(one: Any, level: int) -> list[Entry]:
        if isinstance(one, str):
            found = by_address.get(one.strip("/"))
            return [Entry(title=label_of(files.head(found)), path=found)] if found else []
        if not isinstance(one, dict) or level > MAX_LEVEL:
            return []
        label = _text(one.get("label")) or None
        if slug := _text(one.get("slug")):
            found = by_address.get(slug.strip("/"))
            return [Entry(title=label, path=found)] if found else []
        if (link := _text(one.get("link"))) and not one.get("items"):
            found = by_address.get(link.strip("/"))
            return [Entry(title=label, path=found, href=None if found else link)]
        auto = _mapping(one.get("autogenerate"))
        if folder := _text(auto.get("directory")):
            below = f"{root}{folder.strip('/')}/"
            children = grow(files, [each for each in paths if each.startswith(below)], below)
        else:
            children = [entry for inner in _listing(one.get("items")) for entry in items(inner, level + 1)]
        return [Entry(title=label, children=children)] if label else children

    entries = [entry for one in sidebar for entry in items(one, 0)]
    if not any(entry.path for entry in walk_entries(entries)):
        if given.get("sidebar") is not None or not config:
            problems.append(_unread(path, "the sidebar"))
        entries = grow(files, paths, root)
    elif (home := by_address.get("")) and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    redirects = {
        old.strip("/"): value if isinstance(value, str) else _text(_mapping(value).get("destination"))
        for old, value in _mapping(config.get("redirects")).items()
    }
    said = given.get("title")
    title = _text(said) or _text(
        _mapping(said).get(default or "root") or _mapping(said).get(first) or _mapping(said).get("en")
    )
    layout = Layout(
        entries=entries,
        dialect=Dialect(jsx=(".mdx",)),
        root=root,
        statics=(f"{project}public/",),
        addresses=addresses,
        redirects=redirects,
        brand=brand_of(files, project, "starlight", given, problems),
        site=_text(config.get("site")),
        base=_text(config.get("base")),
        title=title,
        parts=(project.rstrip("/"),),
        problems=problems,
        language=stated,
        description=_text(given.get("description")),
    )
    words: dict[str, dict[str, str]] = {}
    waiting = list(sidebar)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += _listing(one.get("items"))
            for tongue, word in _mapping(one.get("translations")).items():
                words.setdefault(str(tongue), {})[_text(one.get("label"))] = _text(word)

    def in_language(name: str) -> Layout:
        def translated(path: str) -> str | None:
            stem = posixpath.splitext(f"{source}{name}/{path[len(root) :]}")[0]
            return next((stem + end for end in (".md", ".mdx") if stem + end in files.known), None)

        lang = _text(_mapping(facts.get(name)).get("lang")) or name
        made = laid_over(
            layout, translated, labels=words.get(lang) or words.get(lang.partition("-")[0]) or {}, begins=name
        )
        made.overlays = ((f"{source}{name}/", root),)
        return made

    if others:
        taken: set[str] = set()
        layout.left.append(left_out(path, "translations", others))
        layout.variants = [
            Variant(
                key=key_of(taken, name or first),
                title=language_name(
                    _text(_mapping(facts.get(name or default or "root")).get("lang")) or name or first,
                    _text(_mapping(facts.get(name or default or "root")).get("label")),
                ),
                language=_text(_mapping(facts.get(name)).get("lang")) or name or stated or None,
                path=name or None,
                default=not name,
                lay_out=partial(in_language, name) if name else lambda: layout,
            )
            for name in ["", *others][:MAX_VARIANTS]
        ]
    return layout


# --- Nextra --------------------------------------------------------------------------------------------

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
    i18n = _mapping(_mapping(read_export(config)).get("i18n"))
    tongues = [_text(one) for one in _listing(i18n.get("locales"))]
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
    default = _text(i18n.get("defaultLocale"))
    first = default if default in there else there[0] if there else ""
    if len(there) < 2:
        layout = _nextra_of(files, project, top, config, "", "")
        layout.language = first or default or _html_language(files, project)
        return layout
    return _in_languages(
        lambda name: _nextra_of(
            files, project, top, config, name if in_folders else "", "" if in_folders else name
        ),
        first,
        there,
        top,
    )


def _in_languages(lay_out: Callable[[str], Layout], first: str, names: list[str], top: str) -> Layout:
    """Return the layout in the first language, with all ``names`` as its variants. ``top`` is the folder of the
    languages."""

    def in_language(name: str) -> Layout:
        made = lay_out(name)
        made.language = name
        return addressed(made, name, name == first)

    layout = in_language(first)
    others = [name for name in names if name != first]
    if others:
        layout.left.append(left_out(top.rstrip("/"), "translations", others))
        taken: set[str] = set()
        layout.variants = [
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
    return layout


def _nextra_config(files: Heads, project: str) -> str:
    return next(
        (text for name in _NEXT if (text := files.text(project + name)) is not None and "nextra" in text), ""
    )


def _html_language(files: Heads, project: str) -> str:
    """Return the language that the root layout of the app states for every page."""
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
    """Return the layout. ``top`` is the folder of all pages, ``tongue`` the folder of the chosen language in it,
    and ``ending`` the suffix of the names of its pages before their endings, if languages are distinguished by
    suffix."""
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

    def meta(folder: str) -> dict[str, Any]:
        for name in (*(f"_meta{own}.{name.partition('.')[2]}" for name in _META if own), *_META):
            if folder + name in files.known:
                made = (
                    read_export(_module(files, folder + name))
                    if not name.endswith("json")
                    else _read_json(files, folder + name, problems)
                )
                if isinstance(made, dict):
                    return made
                problems.append(_unread(folder + name, "the order"))
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
            facts = {"title": facts} if isinstance(facts, str) else _mapping(facts)
            title = _text(facts.get("title")) or None
            if facts.get("type") == "separator":
                into = made if not title else into
                if title:
                    entry = Entry(title=title)
                    made.append(entry)
                    into = entry.children
                continue
            if href := _text(facts.get("href")):
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
    given = _mapping(read_export(config))
    names = {path: f"{path[len(root) :].partition(own)[0]}.md" for path in paths} if own else {}
    if own:
        names = {path: _named_as_index(name) for path, name in names.items()}
    if root.endswith("app/"):
        # A page is the folder that contains it, as in its URL.
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
        base=(base[1] if base else "") or _text(given.get("basePath")),
        same={path.replace(f"{own}.md", ".md"): path for path in paths} if own else {},
        redirects={
            _text(one.get("source")): _text(one.get("destination"))
            for one in _listing(given.get("redirects"))
            if isinstance(one, dict) and one.get("source")
        },
    )


# --- Fumadocs ------------------------------------------------------------------------------------------

_COLLECTIONS = tuple(
    f"{name}.{end}"
    for name in ("source.config", "content-collections")
    for end in ("ts", "mts", "js", "mjs", "tsx")
)
_GROUP = re.compile(r"(?:^|(?<=/))\([^()/]+\)(?:/|$)")
"""A folder that isn't part of the URL."""
_BESIDE = re.compile(r"(?:external:)?(?:\[[\w-]+\])?\[(?P<title>[^\[\]]+)\]\((?P<href>[^()\s]+)\)$")
_SEPARATOR = re.compile(r"---(?:\[[\w-]+\])?(?P<title>.*?)(?:---)?$")


def _fumadocs(files: Heads, project: str) -> Layout:
    config = "\n".join(files.text(project + name) or "" for name in _COLLECTIONS)
    said = re.findall(r"\b(?:dir|directory)\s*:\s*['\"]([^'\"\n]+)['\"]", config)
    folders = [f"{project}{posixpath.normpath(one)}/" for one in [*said, "content/docs"]]
    there = [one for one in dict.fromkeys(folders) if any(map(is_page, files.below(one)))]
    top = next((one for one in there if one.endswith("/docs/")), there[0] if there else project)
    code = _code_of(files, project, "i18n", "defaultLanguage")
    names = re.findall(r"['\"]([\w-]+)['\"]", (re.search(r"\blanguages\s*:\s*\[([^\]]*)\]", code) or [""])[0])
    first = (re.search(r"\bdefaultLanguage\s*:\s*['\"]([\w-]+)", code) or ["", ""])[1]
    in_folders = bool(re.search(r"\bparser\s*:\s*['\"]dir", code))
    made = [
        name
        for name in names
        if any(
            is_page(path) and (path.startswith(f"{top}{name}/") if in_folders else f".{name}." in path)
            for path in files.below(top)
        )
    ]
    if first and made:
        layout = _in_languages(
            lambda name: _fumadocs_of(
                files, project, f"{top}{name}/" if in_folders else top, "" if in_folders else name, names
            ),
            first,
            list(dict.fromkeys([first, *made])),
            top,
        )
    else:
        layout = _fumadocs_of(files, project, top, "", [])
        layout.language = first or _html_language(files, project)
    left = "another collection: not imported; import its folder separately"
    layout.problems += [Problem(one.rstrip("/"), 0, "pages_left_out", left) for one in there if one != top]
    return layout


def _code_of(files: Heads, project: str, name: str, holds: str) -> str:
    """Return the text of a code file with this name that contains a word, anywhere in the project."""
    return next(
        (
            text
            for path in files.below(project)
            if re.search(rf"(?:^|/){name}(?:/index)?\.[jt]sx?$", path)
            and holds in (text := files.text(path) or "")
        ),
        "",
    )


def _fumadocs_of(files: Heads, project: str, root: str, tongue: str, tongues: list[str]) -> Layout:
    """Return the layout. ``root`` is the folder of all pages. ``tongue`` is the chosen language, if ``tongues``
    are distinguished by the suffix of the names of files before their endings."""
    problems: list[Problem] = []
    foreign = tuple(f".{name}" for name in tongues if name != tongue)
    stems: dict[str, str] = {}
    """Pages by their paths without languages and endings. A page in the chosen language takes precedence."""
    for path in pages_below(files, root, lambda path: posixpath.splitext(path)[0].endswith(foreign)):
        stem = posixpath.splitext(path)[0]
        if tongue and stem.endswith(f".{tongue}"):
            stems[stem.removesuffix(f".{tongue}")] = path
        else:
            stems.setdefault(stem, path)
    addresses = {path: address_of(_GROUP.sub("", stem[len(root) :]) + ".md") for stem, path in stems.items()}
    inside: dict[str, list[str]] = {}
    """The contents of each folder, by name: files first, folders with a slash."""
    for stem in stems:
        at = root
        for part in stem[len(root) :].split("/")[:-1]:
            inside.setdefault(at, []).append(f"{part}/")
            at += f"{part}/"
        inside.setdefault(at, []).append(posixpath.basename(stem))
    inside = {
        folder: sorted({*names}, key=lambda name: (name.endswith("/"), name))
        for folder, names in inside.items()
    }

    deepest = root.count("/") + MAX_LEVEL
    laid: set[str] = set()
    """Folders that already have a place. A folder that is listed again, or lists itself, gets no other."""

    def node(name: str, folder: str) -> list[Entry]:
        """Return the page or the folder with a name, relative to this folder."""
        where = posixpath.normpath(folder + name)
        if where in stems:
            return [Entry(title=label_of(files.head(stems[where])), path=stems[where])]
        if f"{where}/" not in inside or f"{where}/" in laid or where.count("/") > deepest:
            return []
        facts, children = level(f"{where}/")
        index = stems.get(f"{where}/index")
        children = [child for child in children if child.path is None or child.path != index]
        title = _text(facts.get("title")) or (
            None if index else title_of_name(posixpath.basename(where).strip("()"))
        )
        return [Entry(title=title, path=index, children=children)]

    def level(folder: str) -> tuple[dict[str, Any], list[Entry]]:
        """Return what a folder states about itself, and its contents."""
        laid.add(folder)
        named = (f"{folder}meta.{end}" for end in (*([f"{tongue}.json"] if tongue else []), "json"))
        path = next((path for path in named if path in files.known), "")
        facts = _mapping(_read_json(files, path, problems)) if path else {}
        order = [_text(one) for one in _listing(facts.get("pages"))] if "pages" in facts else ["index", "..."]
        said = {one.lstrip("!.").strip("/") for one in order} | {"index"}
        rest = [name for name in inside.get(folder, []) if name.strip("/") not in said]
        made: list[Entry] = []
        into = made
        for one in order:
            if one.startswith("---") and (found := _SEPARATOR.match(one)):
                into = made
                if title := found["title"].strip():
                    made.append(Entry(title=title))
                    into = made[-1].children
            elif found := _BESIDE.match(one):
                into.append(Entry(title=found["title"], href=found["href"]))
            elif one in ("...", "z...a"):
                names = rest if one == "..." else rest[::-1]
                into += [entry for name in names for entry in node(name.strip("/"), folder)]
            elif one.startswith("..."):
                below = posixpath.normpath(folder + one[3:]) + "/"
                into += level(below)[1] if below in inside and below not in laid else []
            elif not one.startswith("!"):
                into += node(one, folder)
        return facts, _without_empty(made)

    entries = level(root)[1]
    home = stems.get(f"{root}index")
    if home and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    base = re.search(r"\bbaseUrl\s*:\s*['\"`]([^'\"`$\n]*)", _code_of(files, project, "source", "baseUrl"))
    names: dict[str, str] = {}
    for stem, path in stems.items():
        # Without groups and languages, if each page still has a unique name.
        name = _named_as_index(_GROUP.sub("", stem[len(root) :]) + ".md")
        if name not in names.values():
            names[path] = name
    return Layout(
        entries=entries,
        dialect=Dialect(jsx=(".mdx",), dollars=True),
        root=root,
        statics=(f"{project}public/",),
        addresses=addresses,
        parts=(project.rstrip("/"),),
        problems=problems,
        names=names,
        base=base[1] if base else "/docs",
        same={
            f"{stem}{end}": path
            for stem, path in stems.items()
            for end in (".md", ".mdx")
            if f"{stem}{end}" != path
        },
    )


# --- Mintlify ------------------------------------------------------------------------------------------


MAX_REFERENCES = 500
"""Maximum number of files that one configuration may refer to."""


def _with_references(files: Heads, path: str, problems: list[Problem]) -> Any:
    """Return a configuration with the files that it refers to with ``$ref`` inserted."""
    read = 0

    def filled(value: Any, folder: str, within: tuple[str, ...], level: int) -> Any:
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
                    f"{named[:200]} was skipped, because it includes itself or there are too many files",
                )
            )
            return None
        read += 1
        if other not in files.known:
            problems.append(Problem(path, 0, "missing_file", f"{named[:200]} doesn't exist"))
            return None
        found = filled(_read_json(files, other, problems), folder_of(other), (*within, other), level + 1)
        rest = {key: filled(one, folder, within, level + 1) for key, one in value.items() if key != "$ref"}
        return {**found, **rest} if isinstance(found, dict) else found

    return filled(_read_json(files, path, problems), folder_of(path), (path,), 0)


def _mintlify_of(files: Heads, project: str, chosen: tuple[int, ...]) -> Layout:
    """Return the layout. ``chosen`` selects the language and the version. The first one is used if none is
    selected."""
    problems: list[Problem] = []
    name = next(name for name in ("docs.json", "mint.json") if project + name in files.known)
    config = _mapping(_with_references(files, project + name, problems))
    paths = pages_below(files, project, lambda path: path.startswith("snippets/"))
    addresses = {path: address_of(path[len(project) :]) for path in paths}
    by_address = {posixpath.splitext(path[len(project) :])[0]: path for path in paths}

    def items(given: Any, depth: int) -> list[Entry]:
        made: list[Entry] = []
        for one in _listing(given) if depth < MAX_LEVEL else []:
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

    def group(one: dict[str, Any], depth: int) -> list[Entry]:
        title = next(
            (
                _text(one[key])
                for key in ("group", "tab", "anchor", "dropdown", "product", "version", "item", "menu")
                if key in one
            ),
            "",
        )
        children: list[Entry] = []
        for key in ("pages", "groups", "tabs", "anchors", "dropdowns", "products", "menu"):
            children += items(one.get(key), depth + 1)
        if not children and (href := _text(one.get("href"))):
            return [Entry(title=title, href=href)]
        if one.get("openapi") is not None and not children:
            problems.append(
                Problem(
                    project + name,
                    0,
                    "api_left_out",
                    f"{title[:100]}: pages of an API description weren't imported; add it as an API description",
                )
            )
        root = _text(one.get("root"))
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
    language, description = "", _text(config.get("description"))
    if isinstance(navigation, dict):
        entries: list[Entry] = []
        for level in range(4):
            parts = _mintlify_parts(navigation)
            if not parts:
                break
            # Readers see the first one.
            first = next((at for at, one in enumerate(parts) if one.get("default")), 0)
            at = chosen[level] if level < len(chosen) else first
            language = _text(parts[at].get("language")) or language
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
        _text(one.get("source")).strip("/"): _text(one.get("destination"))
        for one in _listing(config.get("redirects"))
        if isinstance(one, dict)
    }
    return Layout(
        brand=brand_of(files, project, "mintlify", config, problems),
        entries=entries,
        dialect=Dialect(jsx=(".mdx", ".md"), dollars=True),
        root=project,
        addresses=addresses,
        redirects=redirects,
        title=_text(config.get("name")),
        parts=(project.rstrip("/"), f"{project}snippets"),
        values={"variables": _mapping(config.get("variables"))},
        problems=problems,
        language=language,
        description=description,
    )


def _mintlify(files: Heads, project: str) -> Layout:
    name = next(name for name in ("docs.json", "mint.json") if project + name in files.known)
    navigation = _mapping(_with_references(files, project + name, [])).get("navigation")
    ways: list[tuple[tuple[int, ...], list[dict[str, Any]], bool]] = []

    def walk(at: dict[str, Any], way: tuple[int, ...], said: list[dict[str, Any]], default: bool) -> None:
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
        """Return one variant, without the pages that only others list."""
        layout = _mintlify_of(files, project, way)
        others = set().union(*listed.values()) - listed[way]
        layout.addresses = {path: address for path, address in layout.addresses.items() if path not in others}
        return layout

    layout = of(next(way for way, _, default in ways if default))
    taken: set[str] = set()
    for way, said, default in ways:
        names = [_text(one.get("language") or one.get("version")) for one in said]
        tongue = next((_text(one.get("language")) for one in said if one.get("language")), None)
        title = " · ".join(
            language_name(name) if one.get("language") else name
            for one, name in zip(said, names, strict=True)
        )
        layout.variants.append(
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
    for key, what in (("language", "translations"), ("version", "versions")):
        called = {_text(one.get(key)) for _, said, _ in ways for one in said if one.get(key)}
        if others := sorted(called - {_text(one.get(key)) for one in first if one.get(key)}):
            layout.left.append(left_out(project + name, what, others))
    return layout


def _mintlify_parts(navigation: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        one
        for key in ("languages", "versions")
        for one in _listing(navigation.get(key))
        if isinstance(one, dict)
    ]


# --- Hugo ----------------------------------------------------------------------------------------------

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


def _hugo_file(files: Heads, path: str, problems: list[Problem]) -> dict[str, Any]:
    """Return a configuration file, in any of its formats."""
    if path.endswith("toml"):
        import tomllib

        try:
            return tomllib.loads(files.text(path) or "")
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            problems.append(
                Problem(path, 0, "invalid_configuration", f"{error}; the default values are used")
            )
            return {}
    read = _read_json if path.endswith("json") else _read_yaml
    return _mapping(read(files, path, problems))


def _never_shown(head: dict[str, Any], section: bool) -> bool:
    """Return whether a page, or everything in its folder, exists only for use by other pages."""
    given = [head, _mapping(head.get("cascade"))] if section else [head]
    return any(
        _text(_mapping(one.get(key)).get("render")) == "never" for one in given for key in ("build", "_build")
    ) or (section and head.get("headless") is True)


def _by_their_titles(files: Heads, entries: list[Entry]) -> None:
    """Use their titles as names for sibling pages that would otherwise get the same name as the index pages of
    their sections."""
    named = Counter(entry.title for entry in entries)
    for entry in entries:
        if entry.path and named[entry.title] > 1 and files.title(entry.path):
            entry.title = files.title(entry.path)
        _by_their_titles(files, entry.children)


def _hugo(files: Heads, project: str) -> Layout:
    config: dict[str, Any] = {}
    problems: list[Problem] = []
    for name in _HUGO:
        if project + name in files.known:
            config = _hugo_file(files, project + name, problems)
            break
    for key in ("languages", "params"):
        # These may have separate files.
        for ending in ("toml", "yaml", "yml", "json"):
            path = f"{project}config/_default/{key}.{ending}"
            if path in files.known:
                config[key] = {**_mapping(config.get(key)), **_hugo_file(files, path, problems)}
    config = {key.lower(): value for key, value in config.items()}
    root = content = f"{project}{_text(config.get('contentdir')) or 'content'}/"
    languages = list(_mapping(config.get("languages")))
    default = _text(config.get("defaultcontentlanguage")) or "en"
    own = _mapping(_mapping(config.get("languages")).get(default))
    stated = next(
        (
            _text(facts[key])
            for facts in (own, config)
            for key in ("languagecode", "languageCode", "locale")
            if facts.get(key)
        ),
        _text(config.get("defaultcontentlanguage")),
    )
    folder = _text(own.get("contentdir") or own.get("contentDir")).strip("/")
    if folder and any(path.startswith(f"{project}{folder}/") for path in files.paths):
        root = f"{project}{folder}/"
    elif any(path.startswith(f"{root}{default}/") for path in files.paths) and languages:
        root = f"{root}{default}/"
    others = tuple(f".{one}." for one in languages if one != default)
    paths = pages_below(
        files, root, lambda path: any(one in path for one in others) or path.partition("/")[0] in languages
    )
    problems += _unread_pages(files, root, ())
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
        if slug := _text(head.get("slug")):
            address = posixpath.join(posixpath.dirname(address), slug)
        addresses[path] = (_text(head.get("url")) or address).strip("/")
    entries = grow(files, paths, root, zero_is_last=True)
    _by_their_titles(files, entries)
    layout = Layout(
        brand=brand_of(files, project, "hugo", config, problems),
        entries=entries,
        dialect=Dialect(shortcodes=True, marks=False),
        root=root,
        statics=(f"{project}static/", f"{project}assets/"),
        addresses=addresses,
        redirects=_redirects_of(files, paths),
        site=_text(config.get("baseurl")),
        title=_text(config.get("title")),
        parts=(project.rstrip("/"), root.rstrip("/")),
        values={"variables": _mapping(config.get("params"))},
        problems=problems,
        language=stated,
        description=_text(
            _mapping(own.get("params")).get("description")
            or _mapping(config.get("params")).get("description")
        ),
    )
    facts = {str(name): _mapping(one) for name, one in _mapping(config.get("languages")).items()}

    def translated(path: str, name: str) -> str | None:
        inside = path[len(root) :]
        stem = re.sub(rf"\.{re.escape(default)}$", "", posixpath.splitext(path)[0])
        folder = _text(facts.get(name, {}).get("contentdir") or facts.get(name, {}).get("contentDir"))
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
        layout.left.append(left_out(root.rstrip("/"), "translations", tongues))

        def in_language(name: str) -> Layout:
            made = laid_over(layout, lambda path: translated(path, name), begins=name, whole=False)
            made.overlays, made.begins = ((f"{content}{name}/", root),), name
            for path in layout.addresses:
                if (other := translated(path, name)) is not None:
                    made.names[other] = _named_as_index(
                        re.sub(
                            r"(?:^|(?<=/))_index\.md$",
                            "README.md",
                            re.sub(rf"\.{re.escape(default)}(?=\.md$)", "", path[len(root) :]),
                        )
                    )
            return made

        layout.variants = [
            Variant(
                key=key_of(taken, name),
                title=language_name(
                    name,
                    _text(facts.get(name, {}).get("languagename") or facts.get(name, {}).get("languageName")),
                ),
                language=name,
                path=None if name == default else name,
                default=name == default,
                lay_out=partial(in_language, name) if name != default else lambda: layout,
            )
            for name in [default, *tongues][:MAX_VARIANTS]
        ]
    return layout


# --- Jekyll --------------------------------------------------------------------------------------------


def _jekyll(files: Heads, project: str) -> Layout:
    problems: list[Problem] = []
    config = _read_yaml(files, f"{project}_config.yml", problems)
    collections = {
        f"_{name}/": _mapping(facts) for name, facts in _mapping(config.get("collections")).items()
    }
    left = ("_site/", "_includes/", "_layouts/", "_sass/", "_data/", "vendor/", "_plugins/", "_drafts/")
    paths = [
        path
        for path in pages_below(files, project, lambda path: path.startswith(left))
        if files.head(path) or path[len(project) :].startswith(tuple(collections)) or "_layout" not in path
    ]
    out = tuple(_text(one).strip("/").casefold() for one in _listing(config.get("exclude")))
    problems += _unread_pages(files, project, (*left, "_posts/", *(one for one in out if one)))
    paths = [
        path
        for path in paths
        if not f"{path[len(project) :]}/".casefold().startswith(tuple(f"{one}/" for one in out if one))
    ]
    if any(path[len(project) :].startswith("_posts/") for path in paths):
        problems.append(
            Problem(
                f"{project}_posts",
                0,
                "blog_left_out",
                "the blog: not imported; import the folder separately",
            )
        )
        paths = [path for path in paths if not path[len(project) :].startswith("_posts/")]
    paths = [
        path
        for path in paths
        if posixpath.basename(path).lower()
        not in ("license.md", "contributing.md", "code_of_conduct.md", "changelog.md")
        or files.head(path)
    ]
    root = project
    addresses = {}
    for path in paths:
        head = files.head(path)
        inside = path[len(project) :]
        for folder in collections:
            if inside.startswith(folder):
                inside = folder[1:] + inside[len(folder) :]
        addresses[path] = re.sub(r"\.html$", "", _text(head.get("permalink")) or address_of(inside)).strip(
            "/"
        )
    data = _jekyll_data(files, project)
    entries = _jekyll_nav(files, data, addresses) or _by_parents(files, paths, project)
    return Layout(
        brand=brand_of(files, project, "jekyll", config, problems),
        entries=entries,
        dialect=Dialect(liquid=True),
        root=root,
        addresses=addresses,
        redirects=_redirects_of(files, paths),
        site=_text(config.get("url")),
        base=_text(config.get("baseurl")),
        title=_text(config.get("title")),
        parts=(project.rstrip("/"), f"{project}_includes"),
        values={"variables": {"site": {**config, "data": data}}},
        problems=problems,
        language=_text(config.get("lang") or config.get("locale")),
        description=_text(config.get("description")),
    )


def _jekyll_data(files: Heads, project: str) -> dict[str, Any]:
    """Return the contents of the data files, by folder and name."""
    made: dict[str, Any] = {}
    for path in files.paths:
        inside = path.removeprefix(f"{project}_data/")
        if (
            inside == path
            or not inside.endswith((".yml", ".yaml", ".json"))
            or files.source.size(path) > MAX_DATA
        ):
            continue
        *folders, name = posixpath.splitext(inside)[0].split("/")
        place: Any = made
        for folder in folders:
            place = place.setdefault(folder, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            continue
        try:
            text = files.text(path) or ""
            place.setdefault(name, json.loads(text) if path.endswith("json") else read_yaml(text).value)
        except (ValueError, YamlError, RecursionError):
            continue  # Reported when a page asks for a value of it.
    return made


def _jekyll_nav(files: Heads, data: dict[str, Any], addresses: dict[str, str]) -> list[Entry]:
    """Return the tree in a data file that lists a good part of the pages. Only the theme knows which file that is,
    and what its keys are called."""
    by_address = {address: page for page, address in addresses.items()}
    by_id: dict[str, str] = {}
    for page in addresses:
        for id in (_text(files.head(page).get(key)) for key in ("docid", "pageid", "id")):
            if id:
                by_id.setdefault(id, page)

    def address(url: str) -> str | None:
        return by_address.get(re.sub(r"(?:^|/)index\.html$|\.html$", "", url).strip("/"))

    def items(given: Any, depth: int) -> list[Entry]:
        made: list[Entry] = []
        if depth >= MAX_LEVEL:
            return made
        if isinstance(given, dict):
            for title, below in given.items():
                if isinstance(below, str):
                    made.append(Entry(title=str(title), path=address(below)))
                elif children := items(below, depth + 1):
                    made.append(Entry(title=str(title), children=children))
            return made
        for one in _listing(given):
            if isinstance(one, str):
                one = {"url": one}
            if isinstance(one, dict):
                title = _text(one.get("title") or one.get("text") or one.get("name"))
                url = _text(one.get("url") or one.get("link") or one.get("href"))
                page = address(url) if url else by_id.get(_text(one.get("id")))
                below = next(
                    (
                        one[key]
                        for key in (
                            "children",
                            "items",
                            "pages",
                            "docs",
                            "subitems",
                            "subfolderitems",
                            "section",
                            "sections",
                        )
                        if one.get(key)
                    ),
                    None,
                )
                children = items(below, depth + 1)
                if title or page or children:
                    made.append(
                        Entry(
                            title=title or None,
                            path=page,
                            children=children,
                            href=url if url and not page and not children else None,
                        )
                    )
        return made

    best: tuple[int, list[Entry]] = (0, [])
    for said in data.values():
        tries = (
            [said, *(value for value in said.values() if isinstance(value, (list, dict)))]
            if isinstance(said, dict)
            else [said]
        )
        for one in tries:
            entries = items(one, 0)
            found = {entry.path for entry in walk_entries(entries) if entry.path}
            if len(found) >= max(best[0], 1):
                best = (len(found), entries)
    if best[0] < max(2, len(addresses) // 4):
        return []
    made = _without_empty(best[1])
    home = by_address.get("")
    if home is not None and all(entry.path != home for entry in walk_entries(made)):
        made.insert(0, Entry(title=label_of(files.head(home)), path=home))
    return made


def _without_empty(entries: list[Entry]) -> list[Entry]:
    """Return entries without those that lead nowhere."""
    for entry in entries:
        entry.children = _without_empty(entry.children)
    return [entry for entry in entries if entry.path or entry.href or entry.children]


def _by_parents(files: Heads, paths: list[str], project: str) -> list[Entry]:
    """Return the tree based on the parent titles that pages state, else that of the folders."""
    if not any("parent" in files.head(path) for path in paths):
        return grow(files, paths, project)
    entries = {path: Entry(title=label_of(files.head(path)), path=path) for path in paths}
    by_title: dict[str, list[str]] = {}
    for path in paths:
        by_title.setdefault(files.name(path), []).append(path)
    top: list[str] = []
    below: dict[str, list[str]] = {}
    for path in paths:
        head = files.head(path)
        above = [one for one in by_title.get(_text(head.get("parent")), []) if one != path]
        if grand := _text(head.get("grand_parent")):
            above = [one for one in above if _text(files.head(one).get("parent")) == grand] or above
        (below.setdefault(above[0], []) if above else top).append(path)

    def key(path: str) -> tuple[float, str]:
        return (position_of(files.head(path)), files.name(path).casefold())

    seen: set[str] = set()

    def build(given: list[str]) -> list[Entry]:
        made = []
        for path in sorted(given, key=key):
            if path not in seen:
                seen.add(path)
                entries[path].children = build(below.get(path, []))
                made.append(entries[path])
        return made

    made = build(top)
    home = next(
        (entry for entry in made if is_index(entry.path or "") and folder_of(entry.path or "") == project),
        None,
    )
    if home is not None:
        made.remove(home)
        made.insert(0, home)
    return made + build([path for path in paths if path not in seen])


# --- GitHub wiki and Obsidian --------------------------------------------------------------------------


def _find_wiki(files: Heads) -> str | None:
    homes = [path for path in files.paths if posixpath.basename(path).lower() in ("home.md", "home.markdown")]
    for path in sorted(homes, key=lambda path: path.count("/")):
        folder = folder_of(path)
        if any(f"{folder}{name}" in files.known for name in ("_Sidebar.md", "_Footer.md", "_Header.md")):
            return folder
    return None


_OF_WIKI = re.compile(
    r"(?P<site>https://github\.com/[\w.-]{1,100}/[\w.-]{1,100}/wiki)/(?P<name>[^\s()\[\]\"'#<>?]{1,200})"
)
MAX_ASKED = 500
"""Maximum number of pages that are checked to detect the kind of wiki."""


def _wiki(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project, lambda path: posixpath.basename(path).startswith("_"))
    addresses = {path: stem_of(path) for path in paths}
    by_name = {stem_of(path).casefold(): path for path in paths}
    home = next((path for path in paths if stem_of(path).lower() == "home"), None)
    # No file tells the kind of wiki, only the links between its pages.
    told: Counter[str] = Counter()
    for path in [*paths, f"{project}_Sidebar.md"][-MAX_ASKED:]:
        for found in _OF_WIKI.finditer(files.text(path) or ""):
            if unquote(found["name"]).replace(" ", "-").casefold() in by_name:
                told[found["site"]] += 1
    site = max(told, key=lambda one: told[one]) if told else ""

    def find(name: str) -> str | None:
        if site and name.rstrip("/") == site:
            return home
        name = re.sub(r"^https?://[^\s]*/wiki/?", "", name).rpartition("/")[2].partition("#")[0]
        return by_name.get(name.strip().replace(" ", "-").casefold())

    sidebar = files.text(f"{project}_Sidebar.md")
    entries = _list_nav(files, sidebar, project, find) if sidebar else []
    listed = {entry.path for entry in walk_entries(entries)}
    if home and home not in listed:
        entries.insert(0, Entry(path=home))
    entries += [Entry(path=path) for path in paths if path not in listed and path != home]
    raw = site.replace("/wiki", "").replace("https://github.com/", "https://raw.githubusercontent.com/wiki/")
    return Layout(
        entries=entries,
        dialect=Dialect(wiki=True),
        root=project,
        addresses=addresses,
        rest=True,
        site=site,
        redirects={"": home} if home else {},
        schemes={f"{raw}/": "/", f"{site}/": "/"} if site else {},
    )


def _find_obsidian(files: Heads) -> str | None:
    found = next((path for path in files.paths if re.search(r"(?:^|/)\.obsidian/", path)), None)
    if found is not None:
        return found[: found.index(".obsidian/")]
    return "" if _is_vault(files) else None


def _is_vault(files: Heads) -> bool:
    """Return whether pages link to each other like notes, although the settings of the app are missing."""
    pages = [path for path in files.paths if is_page(path)]
    names = {stem_of(path).casefold() for path in pages}
    for path in pages[:_MOST_LOOKED]:
        text = files.text(path) or ""
        if "[[" in text and any(
            found[1].strip().rpartition("/")[2].casefold() in names
            for found in _NOTE_LINK.finditer(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL))
        ):
            return True
    return False


_MOST_LOOKED = 500
_NOTE_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")


def _obsidian(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project)
    addresses = {path: posixpath.splitext(path[len(project) :])[0] for path in paths}
    return Layout(
        entries=grow(files, paths, project, same_name=True),
        dialect=Dialect(wiki=True, vault=True, marks=True, dollars=True, tags=True),
        root=project,
        addresses=addresses,
        redirects=_redirects_of(files, paths),
        rest=True,
    )


TOOLS = (
    Reader("docusaurus", "Docusaurus", _find_docusaurus, _docusaurus),
    Reader("mkdocs", "MkDocs", finder("mkdocs.yml", "mkdocs.yaml"), _mkdocs),
    Reader(
        "mintlify",
        "Mintlify",
        finder("mint.json", "docs.json", accept=lambda text: '"navigation"' in text),
        _mintlify,
    ),
    Reader("vitepress", "VitePress", finder(*_VITEPRESS), _vitepress),
    Reader("starlight", "Starlight", finder(*_ASTRO, accept=lambda text: "starlight" in text), _starlight),
    Reader("fumadocs", "Fumadocs", finder(*_COLLECTIONS, accept=lambda text: "fumadocs" in text), _fumadocs),
    Reader("nextra", "Nextra", _find_nextra, _nextra),
    Reader("hugo", "Hugo", _find_hugo, _hugo),
    Reader("jekyll", "Jekyll", finder("_config.yml"), _jekyll),
    Reader("github-wiki", "GitHub wiki", _find_wiki, _wiki),
    Reader("obsidian", "Obsidian", _find_obsidian, _obsidian),
)
PLAIN = Reader("markdown", "Markdown", lambda files: "", _plain)
