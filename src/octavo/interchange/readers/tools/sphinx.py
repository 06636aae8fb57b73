"""Reader for Sphinx projects in MyST Markdown and reStructuredText, including their page tree and the targets of
their references."""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import re

from octavo.core.document.anchors import slug
from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem

from ..brands import brand_of
from ..formats.html_pages import html_page
from ..layout import Dialect, Entry, Layout, Place
from ..markdown.lines import fenced, label_id, words
from ..names import Names
from ..source_files import Heads, address_of, folder_of, is_page
from ..trees import grow, pages_below, walk_entries
from ..types import Reader
from .restructured import html_of, prepare

MAX_LEVELS = 20
MAX_CONF = 256 * 1024
_TREE = re.compile(r"^(`{3,}|:{3,})\{toctree\}[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(
    r"^\(([^()\n]{1,200})\)=[ \t]*\n+(?:\([^()\n]+\)=[ \t]*\n+)*(?:(?P<signs>#{1,6})[ \t]+(?P<heading>[^\n]+))?",
    re.MULTILINE,
)
_ENDINGS = (".md", ".rst")
_UNTITLED = "\u2060"
"""Placeholder title for a page fragment that doesn't have a title."""
_DIRECTIVE = re.compile(
    r"^(?P<indent>[ \t]*)\.\.[ \t]+toctree::[^\n]*\n(?P<inside>(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\n)*)",
    re.MULTILINE,
)
_UNDERLINED = re.compile(
    (
        r"^(?:(?P<over>[=\-~^\"'`#*+:.])(?P=over)+\n)?[ ]?(?P<title>\S[^\n]{0,300})\n(?P<under>"
        r"(?P<sign>[=\-~^\"'`#*+:.])(?P=sign)*[ \t]*)$"
    ),
    re.MULTILINE,
)
_RST_TARGET = re.compile(
    r"^\.\. _(?P<name>`[^`\n]{1,200}`|[^:`\n]{1,200}):[ \t]*\n(?:[ \t]*\n|\.\. _[^\n]*:[ \t]*\n){0,20}"
    r"(?:(?:([=\-~^\"'`#*+:.])\2+\n)?[ ]?(?P<heading>\S[^\n]{0,300})\n([=\-~^\"'`#*+:.])\4{2,}[ \t]*$)?",
    re.MULTILINE,
)
_ENTRY = re.compile(r"(?:(?P<title>.*?)[ \t]*<(?P<in>[^<>]+)>|(?P<path>\S+))[ \t]*$")


def _find(files: Heads) -> str | None:
    confs = [path for path in files.paths if posixpath.basename(path) == "conf.py" and path.count("/") <= 4]
    for path in sorted(confs, key=lambda path: path.count("/")):
        folder = folder_of(path)
        if any(f"{folder}index{ending}" in files.known for ending in _ENDINGS):
            return folder
    return None


def _lay_out(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project, _is_built)
    paths += [
        path
        for path in files.paths
        if path.startswith(project) and path.endswith(".rst") and not _is_built(path[len(project) :])
    ]
    paths.sort()
    reading = _Toctrees(files, project, paths)
    entries = reading.entries()
    problems = reading.problems
    if not any(entry.path for entry in walk_entries(entries)):
        entries = grow(files, paths, project)
    conf = files.text(f"{project}conf.py") or ""
    title = re.search(r"^project\s*=\s*[\"']([^\"'\n]+)[\"']", conf, re.MULTILINE)
    language = re.search(r"^language\s*=\s*[\"']([\w-]+)[\"']", conf, re.MULTILINE)
    labels = _labels(files, paths)
    titles = {path: _title(files, path) for path in paths if path.endswith(".rst")}
    outside = _external_links(conf)
    names = Names(
        labels,
        lambda target, path: _find_file(files, project, target, path),
        lambda path: titles.get(path) or files.name(path),
        outside,
    )
    look: JsonObject = {
        name: found[1]
        for name in ("html_logo", "html_favicon")
        if (found := re.search(rf"^{name}\s*=\s*[\"']([^\"'\n]+)[\"']", conf, re.MULTILINE))
    }
    look["html_theme_options"] = _assigned_dict(conf, "html_theme_options")
    return Layout(
        brand=brand_of(files, project, "sphinx", look, problems),
        entries=entries,
        dialect=Dialect(roles=True, dollars="dollarmath" in conf),
        root=project,
        statics=(f"{project}_static/",),
        addresses={path: address_of(path[len(project) :]) for path in paths},
        title=title[1] if title else "",
        language=language[1] if language else "",
        parts=(project.rstrip("/"),),
        values={"labels": labels, "outside": outside, "variables": _substitutions(conf)},
        titles=titles,
        skipped=(".rst",),
        schemes={"project:": "", "path:": ""},
        convert=lambda path, place: _restructured(files, path, place, names, titles),
        embedded=lambda text, place: _embedded(text, place, names),
        problems=problems,
    )


def _substitutions(conf: str) -> dict[str, str]:
    """Return the substitutions that the configuration defines for text in double braces."""
    return {key: str(value) for key, value in _assigned_dict(conf, "myst_substitutions").items()}


def _external_links(conf: str) -> dict[str, tuple[str, str]]:
    """Return the URL and the text of each role in ``extlinks``."""
    found = {}
    for role, given in _assigned_dict(conf, "extlinks").items():
        if isinstance(given, (tuple, list)) and given and isinstance(given[0], str):
            said = given[1] if len(given) > 1 and isinstance(given[1], str) else ""
            found[role.lower()] = given[0], said
    return found


def _assigned_dict(conf: str, name: str) -> JsonObject:
    """Return a dictionary that a configuration file assigns to a name."""
    if name not in conf or len(conf) > MAX_CONF:
        return {}
    try:
        made = next(
            ast.literal_eval(node.value)
            for node in ast.parse(conf).body
            if isinstance(node, ast.Assign)
            and any(isinstance(to, ast.Name) and to.id == name for to in node.targets)
        )
    except (StopIteration, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {str(key): value for key, value in made.items()} if isinstance(made, dict) else {}


def _is_built(path: str) -> bool:
    return any(part in ("_build", "_templates", "_themes", "_static") for part in path.split("/")[:-1])


def _restructured(files: Heads, path: str, place: Place, names: Names, titles: dict[str, str]) -> str | None:
    """Return the complete page for a reStructuredText file; None for Markdown."""
    if not path.endswith(".rst"):
        return None
    text = (files.text(path) or "").replace("\r\n", "\n")
    html = html_of(text, place, names)
    if html is None:
        shown = fenced([(row, 0) for row in text.split("\n")], "rst", 0)
        return "\n".join([f"# {titles[path]}", "", *(row for row, _ in shown)]) + "\n"
    return html_page(html, place, titles[path], prepare)


def _embedded(text: str, place: Place, names: Names) -> str | None:
    """Convert a reStructuredText fragment within a Markdown page to Markdown."""
    html = html_of(text, place, names)
    if html is None:
        return None
    head, _, body = html_page(html, place, _UNTITLED, prepare).partition("\n")
    # The title of the fragment becomes the title of a section.
    return body.strip("\n") if head == f"# {_UNTITLED}" else f"#{head}\n{body}".strip("\n")


def _find_file(files: Heads, project: str, target: str, path: str) -> str | None:
    """Return the file that a reference in the file ``path`` leads to."""
    start = project if target.startswith("/") else folder_of(path)
    wanted = posixpath.normpath(start + target.lstrip("/"))
    return next((wanted + end for end in ("", *_ENDINGS) if wanted + end in files.known), None)


def _title(files: Heads, path: str) -> str:
    for found in _UNDERLINED.finditer(files.text(path) or ""):
        if len(found["under"].rstrip()) >= min(len(found["title"].strip()), 3):
            return _plain(found["title"])
    return files.name(path)


def _plain(title: str) -> str:
    """Return the text of a reStructuredText heading."""
    title = re.sub(r":[\w:+.-]+:(?=`)", "", title.strip())
    title = re.sub(r"`([^`<]*?)\s*<[^<>`]*>`_{0,2}", r"\1", title)
    return " ".join(re.sub(r"``|(?<!\w)[`*|]|[`*|](?!\w)|\\(?=\W)", "", title).split())


class _Toctrees:
    """Page tree that is based on the subpages that each page lists."""

    def __init__(self, files: Heads, project: str, paths: list[str]) -> None:
        self.files, self.project, self.paths = files, project, paths
        self.seen: set[str] = set()
        self.problems: list[Problem] = []

    def entries(self) -> list[Entry]:
        home = next(
            f"{self.project}index{end}" for end in _ENDINGS if f"{self.project}index{end}" in self.files.known
        )
        self.seen.add(home)
        return [Entry(path=home), *self.below(home, 0)]

    def below(self, path: str, level: int) -> list[Entry]:
        made: list[Entry] = []
        text = self.files.text(path) or ""
        trees = (
            [found["inside"] for found in _DIRECTIVE.finditer(text)]
            if path.endswith(".rst")
            else [found[2] for found in _TREE.finditer(text)]
        )
        for tree in trees if level < MAX_LEVELS else ():
            caption = re.search(r"^[ \t]*:caption:[ \t]*(.+)$", tree, re.MULTILINE) or re.search(
                r"^caption:[ \t]*(.+)$", tree, re.MULTILINE
            )
            rows = re.sub(r"\A---\n.*?^---\n", "", tree, count=1, flags=re.DOTALL | re.MULTILINE).split("\n")
            entries = [entry for row in rows for entry in self.entry(row.strip(), path, level)]
            named = caption[1].strip().strip("\"'") if caption else ""
            made += [Entry(title=named, children=entries)] if named and level == 0 and entries else entries
        return made

    def entry(self, row: str, path: str, level: int) -> list[Entry]:
        found = _ENTRY.match(row)
        if not row or row.startswith(":") or found is None:
            return []
        title, written = found["title"] or None, found["in"] or found["path"]
        if re.match(r"https?://", written):
            return [Entry(title=title or written, href=written)]
        if written == "self":
            return []
        start = self.project if written.startswith("/") else folder_of(path)
        wanted = posixpath.normpath(start + written.lstrip("/"))
        if "*" in wanted:
            matching = [one for one in self.paths if fnmatch.fnmatchcase(posixpath.splitext(one)[0], wanted)]
        else:
            named = [one for one in (wanted, *(wanted + end for end in _ENDINGS)) if one in self.files.known]
            matching = [one for one in named if is_page(one) or one.endswith(".rst")][:1]
            if not matching:
                self.problems.append(
                    Problem(
                        path, 0, "missing_file", f"{written[:200]} in the table of contents doesn't exist"
                    )
                )
        made = []
        for one in matching:
            if one not in self.seen:
                self.seen.add(one)
                made.append(Entry(title=title, path=one, children=self.below(one, level + 1)))
        return made


def _labels(files: Heads, paths: list[str]) -> dict[str, tuple[str, str, str]]:
    """Return the targets of references: the page, the anchor on the page, and the text of the heading at the
    anchor."""
    found: dict[str, tuple[str, str, str]] = {}
    for path in paths:
        text = files.text(path) or ""
        if path.endswith(".rst"):
            page = _title(files, path)
            for target in _RST_TARGET.finditer(text):
                heading = _plain(target["heading"] or "")
                # The title of a page isn't an anchor on it.
                place = slug(heading) if heading and heading != page else ""
                key = " ".join(target["name"].strip("`").split()).casefold()
                found.setdefault(key, (path, place, heading or page))
            continue
        for target in _TARGET.finditer(text):
            heading = words(target["heading"] or "")
            # The title of a page isn't an anchor on it.
            place = slug(heading) if heading else label_id(target[1])
            place = "" if target["signs"] == "#" else place
            found.setdefault(target[1].casefold(), (path, place, heading or files.name(path)))
    return found


SPHINX = Reader("sphinx", "Sphinx", _find, _lay_out)
