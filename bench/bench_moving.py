"""How well and how fast documentation of other tools comes in: real projects from packages, read here as they are and
compared with what a reading of their sources by itself finds in them.

    .venv/bin/python bench/bench_moving.py [FOLDER]

Fetches the packages that `PROJECTS` pins into FOLDER (a temporary one without it), and prints a row for each.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from figures import figure

from octavo.core.document import (
    Document,
    anchors,
    list_places,
    read,
    references,
    split_page,
    walk,
)
from octavo.core.import_plan import plan_import
from octavo.core.links import resolve
from octavo.transfer.readers import adding, read_source
from octavo.transfer.sources import Source, open_folder

PROJECTS = (
    ("pypi", "starlette==1.10.0", "mkdocs", ""),
    ("pypi", "hatch==1.18.2", "mkdocs", ""),
    ("pypi", "instructor==1.17.0", "mkdocs", ""),
    ("pypi", "ax-platform==1.3.1", "docusaurus", ""),
    ("pypi", "jupyterhub==6.1.1", "sphinx", "docs"),
    ("pypi", "sphinx-book-theme==1.4.0", "sphinx", "docs"),
    ("pypi", "structlog==26.1.0", "sphinx", "docs"),
    ("pypi", "flask==3.1.3", "sphinx", "docs"),
    ("pypi", "jinja2==3.1.6", "sphinx", "docs"),
    ("pypi", "werkzeug==3.1.9", "sphinx", "docs"),
    ("npm", "create-docusaurus@3.10.2", "docusaurus", "templates/shared templates/classic"),
)
"""Where a package is from, which one, of which kind its documentation is, and the folders of it that count."""

_FENCES = re.compile(
    r"^([ \t>]*(?:[-*+][ \t]+|\d+\.[ \t]+)?)(`{3,}|~{3,})([^\n`]*)\n(.*?)^[ \t>]*\2[`~]*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_CALLOUTS = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+\w|^[ \t]*>[ \t]*\[!\w+\]|^[ \t]*:::[ \t]*(?:note|tip|info|warning|danger|caution|important)\b"
    r"|<(?:Note|Tip|Warning|Info|Callout|Admonition)\b|^[ \t]*(?:`{3,}|:{3,})\{(?:note|tip|warning|important|seealso|admonition|danger|attention|hint|caution|version\w+|deprecated|topic)\}",
    re.MULTILINE,
)  # fmt: skip
_TABS = re.compile(r"^[ \t]*===[!+]?[ \t]+\"|<TabItem\b|<Tab[ \t]|\{tab-item\}", re.MULTILINE)
_IMAGES = re.compile(r"!\[[^\]]*\]\((?!https?:|data:)[^()\s]+|<img\s[^>]*\bsrc=[\"'](?!https?:|data:)")
_LINKS = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\((?!https?:|mailto:|#)([^()\s]+)")


_RST = {
    "code_named": re.compile(
        r"^[ \t]*\.\. (?:code-block|sourcecode|code)::[ \t]+(?!none|text)\S", re.MULTILINE
    ),
    "callouts": re.compile(
        r"^[ \t]*\.\. (?:note|tip|warning|important|seealso|admonition|danger|attention|hint|caution|error|version\w+|deprecated)::",
        re.MULTILINE,
    ),
    "tabs": re.compile(r"^[ \t]*\.\. (?:group-|code-)?tab(?:-item)?::", re.MULTILINE),
    "links": re.compile(r":(?:ref|doc):`"),
    "images": re.compile(r"^[ \t]*\.\. (?:image|figure)::[ \t]+(?!https?:)\S", re.MULTILINE),
}
"""The same of reStructuredText."""


def fetch(folder: Path, where: str, package: str, parts: str) -> Path:
    """The files of a package, fetched once."""
    name = re.sub(r"[^\w.-]+", "-", package)
    there = folder / name
    if not there.exists():
        with tempfile.TemporaryDirectory() as got:
            tool = ["npm", "pack", "--silent", package] if where == "npm" else [
                sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package
            ]  # fmt: skip
            subprocess.run(tool, cwd=got, check=True, stdout=subprocess.DEVNULL)
            (archive,) = (path for path in Path(got).iterdir() if path.suffix in (".gz", ".tgz"))
            with tarfile.open(archive) as opened:
                opened.extractall(there, filter="data")
    (top,) = there.iterdir()
    chosen = [top / part for part in parts.split()]
    if len(chosen) < 2:
        return chosen[0] if chosen else top
    both = folder / f"{name}-joined"
    for part in chosen:
        for path in part.rglob("*"):
            if path.is_file():
                place = both / path.relative_to(part)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(path.read_bytes())
    return both


class Lookup:
    """The pages and files of what was made, for references."""

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
    made = read_source(source, lambda given: given, adding, lambda: None)
    seconds = time.process_time() - before
    assert made.kind == kind, f"{folder}: taken for {made.kind}"
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
                found["links_led"] += target.kind == "file" or (target.kind in ("page", "anchor") and known)
                if (
                    not (target.kind == "file" or (target.kind in ("page", "anchor") and known))
                    and "-v" in sys.argv
                ):
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
        if origin.endswith(".rst"):
            for name, pattern in _RST.items():
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
        "pages": len(documents), "pages/s": round(len(documents) / max(seconds, 0.001)),
        "links": f"{found['links_led']}/{found['links']} of {said['links']}, {told['broken_link']} told",
        "images": f"{found['images_led']}/{found['images']} of {said['images']}",
        "code with language": f"{found['code_named']} of {said['code_named']}",
        "callouts": f"{found['callouts']} of {said['callouts']}", "tabs": f"{found['tabs']} of {said['tabs']}",
        "told": ", ".join(f"{count} {code}" for code, count in told.most_common(6)),
    }  # fmt: skip


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
            f"{package} ({kind})",
            float(str(found["pages/s"])),
            "pages a CPU second",
            least=15 if kind == "html" else 40,
        )


if __name__ == "__main__":
    main()
