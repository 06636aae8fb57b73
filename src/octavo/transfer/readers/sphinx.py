"""Projects of Sphinx whose pages are MyST Markdown: their tree, and the names that their references use."""

from __future__ import annotations

import fnmatch
import posixpath
import re

from ...core.document import slug
from ...core.problems import Problem
from .form import Dialect, Entry, Layout
from .heads import Heads, address_of, folder_of, is_page
from .kinds import Reader
from .markdown import label_id, words
from .trees import grow, pages_below, walk_entries

MAX_LEVELS = 20
_TREE = re.compile(r"^(`{3,}|:{3,})\{toctree\}[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(
    r"^\(([^()\n]{1,200})\)=[ \t]*\n+(?:\([^()\n]+\)=[ \t]*\n+)*(?:(?P<signs>#{1,6})[ \t]+(?P<heading>[^\n]+))?",
    re.MULTILINE,
)
_ENTRY = re.compile(r"(?:(?P<title>.*?)[ \t]*<(?P<in>[^<>]+)>|(?P<path>\S+))[ \t]*$")


def _find(files: Heads) -> str | None:
    confs = [path for path in files.paths if posixpath.basename(path) == "conf.py" and path.count("/") <= 4]
    for path in sorted(confs, key=lambda path: path.count("/")):
        folder = folder_of(path)
        pages = [page for page in files.paths if page.startswith(folder)]
        if f"{folder}index.md" in files.known and sum(map(is_page, pages)) >= sum(
            page.endswith(".rst") for page in pages
        ):
            return folder
    return None


def _lay_out(files: Heads, project: str) -> Layout:
    paths = pages_below(files, project, lambda path: path.startswith(("_build/", "_templates/")))
    reading = _Toctrees(files, project, paths)
    entries = reading.entries()
    problems = reading.problems
    rest = [path for path in files.paths if path.startswith(project) and path.endswith(".rst")]
    if rest:
        message = f"{len(rest)} pages in reStructuredText, such as {rest[0]}: they are left out"
        problems.append(Problem(project.rstrip("/"), 0, "format_left_out", message[:300]))
    if not any(entry.path for entry in walk_entries(entries)):
        entries = grow(files, paths, project)
    conf = files.text(f"{project}conf.py") or ""
    title = re.search(r"^project\s*=\s*[\"']([^\"'\n]+)[\"']", conf, re.MULTILINE)
    return Layout(
        entries=entries,
        dialect=Dialect(roles=True, dollars="dollarmath" in conf),
        root=project,
        statics=(f"{project}_static/",),
        addresses={path: address_of(path[len(project) :]) for path in paths},
        title=title[1] if title else "",
        parts=(project.rstrip("/"),),
        values={"labels": _labels(files, paths)},
        problems=problems,
    )


class _Toctrees:
    """The tree that pages tell by naming those below them."""

    def __init__(self, files: Heads, project: str, paths: list[str]) -> None:
        self.files, self.project, self.paths = files, project, paths
        self.seen: set[str] = set()
        self.problems: list[Problem] = []

    def entries(self) -> list[Entry]:
        home = f"{self.project}index.md"
        self.seen.add(home)
        return [Entry(path=home), *self.below(home, 0)]

    def below(self, path: str, level: int) -> list[Entry]:
        made: list[Entry] = []
        text = self.files.text(path) or ""
        for found in _TREE.finditer(text) if level < MAX_LEVELS else ():
            caption = re.search(r"^[ \t]*:caption:[ \t]*(.+)$", found[2], re.MULTILINE) or re.search(
                r"^caption:[ \t]*(.+)$", found[2], re.MULTILINE
            )
            rows = re.sub(r"\A---\n.*?^---\n", "", found[2], count=1, flags=re.DOTALL | re.MULTILINE).split(
                "\n"
            )
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
            matching = [one for one in (wanted, f"{wanted}.md") if one in self.files.known and is_page(one)][
                :1
            ]
            if not matching and f"{wanted}.rst" not in self.files.known:
                self.problems.append(
                    Problem(path, 0, "missing_file", f"{written[:200]} of the contents does not exist")
                )
        made = []
        for one in matching:
            if one not in self.seen:
                self.seen.add(one)
                made.append(Entry(title=title, path=one, children=self.below(one, level + 1)))
        return made


def _labels(files: Heads, paths: list[str]) -> dict[str, tuple[str, str, str]]:
    """What references name: the page, the place in it, and the words of the heading there."""
    found: dict[str, tuple[str, str, str]] = {}
    for path in paths:
        for target in _TARGET.finditer(files.text(path) or ""):
            heading = words(target["heading"] or "")
            # The title of a page is no place in it.
            place = slug(heading) if heading else label_id(target[1])
            place = "" if target["signs"] == "#" else place
            found.setdefault(target[1].casefold(), (path, place, heading or files.name(path)))
    return found


SPHINX = Reader("sphinx", "Sphinx", _find, _lay_out)
