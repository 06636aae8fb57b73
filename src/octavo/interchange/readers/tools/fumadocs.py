"""Reader for Fumadocs."""

from __future__ import annotations

import posixpath
import re

from msgspec.structs import replace

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.summary import title_of_name

from ..layout import Dialect, Entry, Layout
from ..source_files import Heads, address_of, is_page, named_as_index
from ..trees import MAX_LEVEL, label_of, pages_below, walk_entries, without_empty
from ..types import Reader
from ..values import listing, mapping, text_of
from .configurations import finder, read_json_file
from .nextra import html_language, in_languages

_COLLECTIONS = tuple(
    f"{name}.{end}"
    for name in ("source.config", "content-collections")
    for end in ("ts", "mts", "js", "mjs", "tsx")
)
_GROUP = re.compile(r"(?:^|(?<=/))\([^()/]+\)(?:/|$)")
"""Pattern for a folder name in parentheses, which doesn't become part of the URL."""
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
        layout = in_languages(
            lambda name: _fumadocs_of(
                files, project, f"{top}{name}/" if in_folders else top, "" if in_folders else name, names
            ),
            first,
            list(dict.fromkeys([first, *made])),
            top,
        )
    else:
        layout = _fumadocs_of(files, project, top, "", [])
        layout = replace(layout, language=first or html_language(files, project))
    left = "This collection wasn't imported. Import its folder separately."
    left_out = [Problem(one.rstrip("/"), 0, "pages_left_out", left) for one in there if one != top]
    return replace(layout, problems=[*layout.problems, *left_out])


def _code_of(files: Heads, project: str, name: str, holds: str) -> str:
    """Return the text of a code file named ``name``, anywhere in the project. ``holds``: a word that the file must
    contain."""
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
    """Return the layout. ``root``: the folder that contains all pages. ``tongue``: the chosen language, if suffixes
    of file names distinguish languages. ``tongues``: all languages."""
    problems: list[Problem] = []
    foreign = tuple(f".{name}" for name in tongues if name != tongue)
    stems: dict[str, str] = {}
    """Pages by their paths without languages and extensions. A page in the chosen language takes precedence."""
    for path in pages_below(files, root, lambda path: posixpath.splitext(path)[0].endswith(foreign)):
        stem = posixpath.splitext(path)[0]
        if tongue and stem.endswith(f".{tongue}"):
            stems[stem.removesuffix(f".{tongue}")] = path
        else:
            stems.setdefault(stem, path)
    addresses = {path: address_of(_GROUP.sub("", stem[len(root) :]) + ".md") for stem, path in stems.items()}
    inside: dict[str, list[str]] = {}
    """Content of each folder, by name: files first, and folders with a slash at the end."""
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
    """Folders that are already in the tree. A folder that is listed again or lists itself isn't added
    again."""

    def node(name: str, folder: str) -> list[Entry]:
        """Return the page or folder with a name relative to a folder; empty if there is none."""
        where = posixpath.normpath(folder + name)
        if where in stems:
            return [Entry(title=label_of(files.head(stems[where])), path=stems[where])]
        if f"{where}/" not in inside or f"{where}/" in laid or where.count("/") > deepest:
            return []
        facts, children = level(f"{where}/")
        index = stems.get(f"{where}/index")
        children = [child for child in children if child.path is None or child.path != index]
        title = text_of(facts.get("title")) or (
            None if index else title_of_name(posixpath.basename(where).strip("()"))
        )
        return [Entry(title=title, path=index, children=children)]

    def level(folder: str) -> tuple[JsonObject, list[Entry]]:
        """Return the settings and the entries of a folder."""
        laid.add(folder)
        named = (f"{folder}meta.{end}" for end in (*([f"{tongue}.json"] if tongue else []), "json"))
        path = next((path for path in named if path in files.known), "")
        facts = mapping(read_json_file(files, path, problems)) if path else {}
        order = (
            [text_of(one) for one in listing(facts.get("pages"))] if "pages" in facts else ["index", "..."]
        )
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
        return facts, without_empty(made)

    entries = level(root)[1]
    home = stems.get(f"{root}index")
    if home and home not in {entry.path for entry in walk_entries(entries)}:
        entries.insert(0, Entry(path=home))
    base = re.search(r"\bbaseUrl\s*:\s*['\"`]([^'\"`$\n]*)", _code_of(files, project, "source", "baseUrl"))
    names: dict[str, str] = {}
    for stem, path in stems.items():
        # Without groups and languages, as long as each page still has a unique name.
        name = named_as_index(_GROUP.sub("", stem[len(root) :]) + ".md")
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


FUMADOCS = Reader(
    "fumadocs", "Fumadocs", finder(*_COLLECTIONS, accept=lambda text: "fumadocs" in text), _fumadocs
)
