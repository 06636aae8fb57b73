"""Benchmark the quality and speed of imports from other documentation tools: real projects from packages, compared
with an independent reading of their sources.

    .venv/bin/python bench/bench_moving.py [FOLDER]

Downloads the packages that `PROJECTS` pins into FOLDER (by default a temporary one), and prints a row for each.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from figures import figure

from octavo.core.document.anchors import anchors, list_places
from octavo.core.document.nodes import Document, walk
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.references import references
from octavo.core.import_plan import plan_import
from octavo.core.links import resolve
from octavo.core.sources import Source, SourceFiles
from octavo.interchange.readers.choosing import read_source
from octavo.interchange.readers.opening import open_folder

PROJECTS = (
    ("pypi", "starlette==1.10.0", "mkdocs", ""),
    ("pypi", "hatch==1.18.2", "mkdocs", ""),
    ("pypi", "instructor==1.17.0", "mkdocs", ""),
    ("pypi", "openai-agents==0.24.0", "mkdocs", ""),
    ("pypi", "fastmcp==4.2.3", "mintlify", "docs"),
    ("pypi", "fastapi-mcp==0.4.0", "mintlify", "docs"),
    ("pypi", "controlflow==0.12.1", "mintlify", "docs"),
    ("pypi", "marvin==3.2.7", "mintlify", "docs"),
    ("pypi", "ax-platform==1.3.1", "docusaurus", ""),
    ("npm", "@maci-protocol/website@1.0.0", "docusaurus", ""),
    ("npm", "@zio.dev/zio-blocks@0.0.51", "docusaurus", ""),
    ("src", "node-react-redux=8.1.2+dfsg1+~cs1.2.3-1", "docusaurus", ""),
    ("src", "node-katex=0.16.10+~cs6.1.0-2", "docusaurus", ""),
    ("pypi", "jupyterhub==6.1.1", "sphinx", "docs"),
    ("pypi", "sphinx-book-theme==1.4.0", "sphinx", "docs"),
    ("pypi", "structlog==26.1.0", "sphinx", "docs"),
    ("pypi", "flask==3.1.3", "sphinx", "docs"),
    ("pypi", "jinja2==3.1.6", "sphinx", "docs"),
    ("pypi", "werkzeug==3.1.9", "sphinx", "docs"),
    ("npm", "create-docusaurus@3.10.2", "docusaurus", "templates/shared templates/classic"),
    ("npm", "@directus/docs@9.22.3", "vitepress", ""),
    ("src", "node-rollup=3.29.5-1", "vitepress", "docs"),
    ("npm", "@graphcommerce/docs@10.0.3", "markdown", ""),
    ("npm", "@redpanda-data/docs-extensions-and-macros@5.48.0", "asciidoc", ""),
    ("pypi", "qutebrowser==3.7.0", "asciidoc", "doc README.asciidoc"),
    ("src", "asciidoctor=2.0.26-2", "antora", "docs"),
    ("src", "projectile=2.8.0-2", "antora", "doc"),
    ("src", "rubocop=1.39.0+dfsg-1", "antora", "docs"),
    ("src", "hugo=0.131.0-1", "hugo", "docs"),
    ("src", "rclone=1.60.1+dfsg-2", "hugo", "docs"),
    ("src", "leaflet=1.7.1~dfsg-7", "jekyll", "docs"),
    ("src", "jekyll=4.3.4+dfsg-1", "jekyll", "docs"),
    ("src", "php-league-commonmark=2.7.0-1+deb13u1", "jekyll", "docs"),
    ("src", "tree-sitter=0.20.7-1", "jekyll", "docs"),
    ("src", "watchman=4.9.0-7", "jekyll", "website"),
    ("deb", "python-flask-doc=2.2.2-3", "html", "share/doc/python-flask-doc/html"),
    ("deb", "libeigen3-doc=3.4.0-4", "html", "share/doc/libeigen3-dev/html"),
)
"""Packages: origin, name, kind of documentation, and relevant folders. Those of Debian require its tools;
sources (`src`) require `deb-src` lines of its twelfth and thirteenth release and of `sid`."""

_FENCES = re.compile(
    r"^([ \t>]*(?:[-*+][ \t]+|\d+\.[ \t]+)?)(`{3,}|~{3,})([^\n`]*)\n(.*?)^[ \t>]*\2[`~]*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_CALLOUTS = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+\w|^[ \t]*>[ \t]*\[!\w+\]|^[ \t]*:::[ \t]*(?:note|tip|info"
    r"|warning|danger|caution|important)\b"
    r"|<(?:Note|Tip|Warning|Info|Callout|Admonition|Check|Danger|Caution|Important)\b"
    r"|^[ \t]*(?:`{3,}|:{3,})\{(?:note|tip|warning|important|seealso|admonition|danger|attention"
    r"|hint|caution|version\w+|deprecated|topic)\}",
    re.MULTILINE,
)
_TABS = re.compile(r"^[ \t]*===[!+]?[ \t]+\"|<TabItem\b|<Tab[ \t]|\{tab-item\}", re.MULTILINE)
_IMAGES = re.compile(r"!\[[^\]]*\]\((?!https?:|data:)[^()\s]+|<img\s[^>]*\bsrc=[\"'](?!https?:|data:)")
_LINKS = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\((?!https?:|mailto:|#)([^()\s]+)")


_RST = {
    "code_named": re.compile(
        r"^[ \t]*\.\. (?:code-block|sourcecode|code)::[ \t]+(?!none|text)\S", re.MULTILINE
    ),
    "callouts": re.compile(
        (
            r"^[ \t]*\.\. (?:note|tip|warning|important|seealso|admonition|danger|attention|hint"
            r"|caution|error|version\w+|deprecated)::"
        ),
        re.MULTILINE,
    ),
    "tabs": re.compile(r"^[ \t]*\.\. (?:group-|code-)?tab(?:-item)?::", re.MULTILINE),
    "links": re.compile(r":(?:ref|doc):`"),
    "images": re.compile(r"^[ \t]*\.\. (?:image|figure)::[ \t]+(?!https?:)\S", re.MULTILINE),
}
"""Patterns of links in reStructuredText."""
_ADOC = {
    "code_named": re.compile(r"^\[(?:source)?,[ \t]*(?!text\b)\w+", re.MULTILINE),
    "callouts": re.compile(
        r"^(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION): |^\[(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b", re.MULTILINE
    ),
    "tabs": re.compile(r"^\[(?:tabs|tabset)\b", re.MULTILINE),
    "links": re.compile(r"\bxref:[^\s\[]+\[|<<[\w.#/-]+(?:,[^<>]*)?>>|\blink:(?!https?:)[^\s\[]+\["),
    "images": re.compile(r"\bimage::?(?!https?:)[^\s\[]+\["),
}
"""Patterns of links in AsciiDoc, outside of literal text."""
_SHOWN = re.compile(r"^(-{4,}|\.{4,})[ \t]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_HTML = {
    "code_named": re.compile(r'class="highlight-(?!default|none|text)[\w+]+ notranslate"'),
    "callouts": re.compile(r'<div class="admonition[ "]'),
    "images": re.compile(r"<img\s[^>]*src=[\"'](?!https?:|data:)"),
}
"""Patterns of links in HTML, as Sphinx writes it."""
_HEADED = re.compile(
    r"^[ \t]*#{1,6}[ \t]+(.+)$|^={1,6}[ \t]+(.+)$|<h[1-6][^>]*>(.*?)</h[1-6]>|^(.+)\n[=~^*+\"'-]{3,}[ \t]*$"
    r"|\{#([\w.:-]+)\}|\b(?:id|name)=[\"']([^\"']+)[\"']|^\[(?:#|\[)([\w.:-]+)|\.\. _([^:\n]+):",
    re.MULTILINE | re.DOTALL,
)


def letters(words: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r"<[^<>]*>", "", words)).casefold()


def places(text: str) -> set[str]:
    """Return all possible link targets in a source file, reduced to letters."""
    return {
        letters(next(one for one in found.groups() if one is not None)) for found in _HEADED.finditer(text)
    }


def kept(member: tarfile.TarInfo, place: str) -> tarfile.TarInfo | None:
    """Return the files of an archive, without links that point outside of it."""
    try:
        return tarfile.data_filter(member, place)
    except tarfile.FilterError:
        return None


def fetch(folder: Path, where: str, package: str, parts: str) -> Path:
    """Return the files of a package, downloading it only once."""
    name = re.sub(r"[^\w.-]+", "-", package)
    there = folder / name
    if not there.exists():
        with tempfile.TemporaryDirectory() as got:
            tool = {
                "npm": ["npm", "pack", "--silent", package],
                "deb": ["apt-get", "download", package],
                "src": ["apt-get", "source", "--download-only", package],
                "pypi": ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package],
            }[where]
            # A binary package can be missing while its source package still exists.
            subprocess.run(tool, cwd=got, check=where != "src", stdout=subprocess.DEVNULL)
            (archive,) = (
                path
                for path in Path(got).iterdir()
                if path.suffix in (".gz", ".tgz", ".deb", ".xz") and (where != "src" or ".orig." in path.name)
            )
            if where == "deb":
                subprocess.run(["dpkg-deb", "-x", archive, there], check=True)
            else:
                with tarfile.open(archive) as opened:
                    opened.extractall(there, filter=kept)
    (top,) = there.iterdir()
    chosen = [top / part for part in parts.split()]
    if len(chosen) < 2:
        return chosen[0] if chosen else top
    both = folder / f"{name}-joined"
    for part in chosen:
        for path in part.rglob("*") if part.is_dir() else [part]:
            if path.is_file():
                place = both / path.relative_to(top if where == "pypi" else part)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(path.read_bytes())
    return both


def add_bytes(source: SourceFiles, path: str, data: bytes) -> None:
    source.add(path, len(data), partial(io.BytesIO, data))


class Lookup:
    """Lookup of references among the imported pages and files."""

    def __init__(self, source: Source) -> None:
        plan = plan_import(source)
        self.pages = {page.file_path: page.file_path for page in plan.pages if page.file_path}
        self.paths = {page.path: page.file_path for page in plan.pages if page.file_path}
        self.files = set(plan.files)

    def find_page(self, path: str) -> str | None:
        return self.pages.get(path)

    def find_page_by_path(self, path: str) -> str | None:
        return self.paths.get(path)

    def find_file(self, path: str) -> str | None:
        return path if path in self.files else None

    def find_nothing(self, _: str) -> None:
        return None

    find_page_by_id = find_file_by_id = find_reusable = find_nothing


def nodes(document: Document) -> Iterator[object]:
    for node in document.nodes:
        yield from walk(node)


def measure(folder: Path, kind: str) -> dict[str, object]:
    source = open_folder(str(folder))
    before = time.process_time()
    made = read_source(source, lambda given: given, add_bytes, lambda: None)
    seconds = time.process_time() - before
    assert made.kind == kind, f"{folder}: detected as {made.kind}"
    lookup = Lookup(made)
    documents = {
        path: read(split_page(made.read(path).decode())[2])
        for path in lookup.pages
        if path in set(made.paths())
    }
    there = {
        path: anchors([place for _, place in list_places(document)]) for path, document in documents.items()
    }
    found: Counter[str] = Counter()
    for path, document in documents.items():
        for reference in references(document):
            url = str(reference.ref.get("url", ""))
            if (
                reference.type not in ("link", "inline-image", "image")
                or not url
                or re.match(r"[a-z]+:|//", url)
            ):
                continue
            target = resolve(url, lookup, path)
            if reference.type == "link":
                found["links"] += 1
                page = path if target.kind == "anchor" else target.page
                known = target.anchor is None or (
                    page in there and there[page].find(target.anchor) is not None
                )
                led = target.kind == "file" or (target.kind in ("page", "anchor") and known)
                found["links_led"] += led
                if not led:
                    origin = made.origins.get(page or "")
                    text = source.read(origin).decode("utf-8", "replace") if origin else ""
                    nowhere = target.kind == "broken" or letters(target.anchor or "") not in places(text)
                    found["links_nowhere"] += nowhere
                    if "-v" in sys.argv and not nowhere:
                        print("   ", path, url, target.kind)
            else:
                found["images"] += 1
                found["images_led"] += target.kind == "file"
        for node in nodes(document):
            name = getattr(node, "type", "")
            found["code"] += name == "code"
            found["code_named"] += name == "code" and bool(node.data.get("syntax"))  # type: ignore[attr-defined]
            found["callouts"] += name in ("hint", "expandable")
            found["tabs"] += name == "tabs-item"
    said: Counter[str] = Counter()
    for origin in made.origins.values():
        text = source.read(origin).decode("utf-8", "replace")
        ending = origin.rpartition(".")[2].lower()
        if ending in ("rst", "adoc", "asciidoc", "html"):
            if "doc" in ending:
                text = _SHOWN.sub("", text)
                said["code_named"] += len(re.findall(r"^```\w+", text, re.MULTILINE))
                text = re.sub(r"^```.*?^```[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL)
            patterns = {"rst": _RST, "html": _HTML}.get(ending, _ADOC)
            for name, pattern in patterns.items():
                said[name] += len(pattern.findall(text))
            continue
        fences = [match for match in _FENCES.finditer(text)]
        said["code_named"] += sum(
            bool(re.match(r"[\w{.]", match[3].strip()))
            and not re.match(r"\{(?!code|literal)[\w:-]+\}", match[3].strip())
            for match in fences
        )
        said["callouts"] += len(_CALLOUTS.findall(text))
        said["tabs"] += len(_TABS.findall(text))
        text = _FENCES.sub("", text)
        text = re.sub(r"`[^`\n]*`", "", text)
        said["links"] += len(_LINKS.findall(text))
        said["images"] += len(_IMAGES.findall(text))
    told = Counter(problem.code for problem in made.problems)
    return {
        "pages": len(documents),
        "pages/s": round(len(documents) / max(seconds, 0.001)),
        "links": (
            f"{found['links_led']}/{found['links']} of {said['links']}, {found['links_nowhere']} broken "
            f"in the source, {told['broken_link']} reported"
        ),
        "images": f"{found['images_led']}/{found['images']} of {said['images']}",
        "code with language": f"{found['code_named']} of {said['code_named']}",
        "callouts": f"{found['callouts']} of {said['callouts']}",
        "tabs": f"{found['tabs']} of {said['tabs']}",
        "told": ", ".join(f"{count} {code}" for code, count in told.most_common(6)),
    }


def main() -> None:
    folder = Path(
        next((given for given in sys.argv[1:] if given != "-v"), "")
        or tempfile.mkdtemp(prefix="moving-octavo-")
    )
    folder.mkdir(parents=True, exist_ok=True)
    for where, package, kind, parts in PROJECTS:
        print(f"{package} ({kind})", flush=True)
        found = measure(fetch(folder, where, package, parts), kind)
        for name, value in found.items():
            print(f"    {name}: {value}")
        figure(
            f"import of {package} ({kind})",
            float(str(found["pages/s"])),
            "pages per CPU second",
            least=15 if kind == "html" else 40,
        )


if __name__ == "__main__":
    main()
