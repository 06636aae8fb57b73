"""Reader for ReadMe projects, through version 2 or 1 of the HTTP API. A project is converted to the format that
ReadMe uses to sync it with a repository, and is then read like such a repository."""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.core.url_parts import path_of
from octavo.core.yaml_text import write_yaml
from octavo.kit.net.fetch import Fetcher

from .api_client import MAX_SPACES, Api, Ending, FoundSpace, ResourceMissing
from .hosted import escaped, list_of, object_of, text_of

if TYPE_CHECKING:
    from octavo.interchange.readers.scratch import TemporaryFiles
from msgspec.structs import replace

from octavo.core.sources import Source, SourceError, SourceFiles, join_parts, source_of

_BATCH = 100
_MAX_LEVELS = 15
_IMAGE = re.compile(r"https://files\.readme\.io/[^\s\"'()<>\[\]\\?#]{1,400}")


class Project(Struct, frozen=True):
    """ReadMe project. ``id``: its ID. ``sites``: the URLs of its sites."""

    id: str
    name: str
    sites: tuple[str, ...]


class _Page(Struct):
    """Page from either version of the API. ``head``: its front matter. ``html``: whether its text is HTML instead
    of Markdown."""

    slug: str
    head: JsonObject
    body: str
    html: bool = False


class _Listed(Struct):
    slug: str
    below: list[_Listed]


class ReadMe:
    """Client for ReadMe's API. ``address``: https://api.readme.com/v2, or https://dash.readme.com/api/v1 for older
    projects."""

    def __init__(
        self,
        address: str,
        token: str,
        fetcher: Fetcher,
        wait: Callable[[float], None] | None = time.sleep,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        base = address.rstrip("/")
        self.is_first = base.endswith("/v1")
        base = base if base.endswith(("/v1", "/v2")) else f"{base}/v2"
        said = f"Bearer {token}"
        if self.is_first:
            said = "Basic " + base64.b64encode(f"{token}:".encode()).decode()
        self._said = {"Authorization": said, "Accept": "application/json"}
        self._base, self._fetcher, self._wait, self._tick = base, fetcher, wait, tick
        self.api = self._with({})

    def _with(self, headers: dict[str, str]) -> Api:
        return Api(self._base, {**self._said, **headers}, self._fetcher, self._wait, self._tick)

    def project(self) -> Project:
        """Return the project. Raises SourceError if the API can't be read."""
        said = self.api.get("/") if self.is_first else object_of(self.api.get("/projects/me").get("data"))
        name = text_of(said, "name") or "ReadMe"
        subdomain = text_of(said, "subdomain")
        sites = [text_of(said, "baseUrl").rstrip("/"), f"https://{subdomain}.readme.io" if subdomain else ""]
        return Project(subdomain or name, name, tuple(site for site in sites if site))

    def versions(self) -> list[str]:
        """Return the versions of the project, starting with the default version. Raises SourceError if the
        API can't be read."""
        if self.is_first:
            found = _objects(self.api.answer("/version"))
            found.sort(key=lambda one: one.get("is_stable") is not True)
            return [text_of(one, "version") for one in found if text_of(one, "version")]
        try:
            found = list(_listed_pages(self.api, "/branches"))
        except ResourceMissing:
            raise SourceError(
                "this is an older project, which this API doesn't support. Use the API at"
                " https://dash.readme.com/api/v1 instead."
            ) from None
        # A branch of a version is a work in progress.
        names = [text_of(one, "name") for one in found]
        try:
            stable = text_of(object_of(self.api.get("/branches/stable").get("data")), "name")
        except ResourceMissing:
            stable = ""
        return sorted((name for name in names if name and "_" not in name), key=lambda name: name != stable)

    def find_spaces(self) -> tuple[list[FoundSpace], bool]:
        """Return at most ``MAX_SPACES`` versions of the project, and whether the list is complete. Raises SourceError
        if the API can't be read."""
        name = self.project().name
        versions = self.versions()
        found = [FoundSpace(one, f"{name} {one}", name) for one in versions[:MAX_SPACES]]
        return found, len(versions) <= MAX_SPACES

    def open(self, space: str, folder: TemporaryFiles, stack: ExitStack) -> Source:
        """Return a version as Octavo files. Raises SourceError if it can't be read."""
        project = self.project()
        raw = SourceFiles(project.name)
        self._read(project, space, raw, "", folder)
        return _read_pages(raw, folder)

    def open_all(self, project: Project, folder: TemporaryFiles, first: str | None = None) -> Source:
        """Return all versions as Octavo files. If there is more than one version, each of them is a part.
        ``first``: the version that becomes the default; if it is None, the project's own default version. Raises
        SourceError if the versions can't be read."""
        raw = SourceFiles(project.name)
        versions = self.versions()
        for version in versions:
            below = f"v{version.removeprefix('v')}/" if len(versions) > 1 else ""
            self._read(project, version, raw, below, folder)
        made = _read_pages(raw, folder, several=True)
        return _make_default(made, f"v{(first or versions[0]).removeprefix('v')}") if made.parts else made

    def _read(
        self, project: Project, version: str, raw: SourceFiles, below: str, folder: TemporaryFiles
    ) -> None:
        of = _First if self.is_first else _Second
        api = self._with({"x-readme-version": version}) if self.is_first else self.api
        _Version(of(api, version), project, raw, below, folder).read()


class _First:
    """Version 1 of the API, for older projects."""

    def __init__(self, api: Api, version: str) -> None:
        self.api = api

    def categories(self) -> Iterator[tuple[str, str, list[_Listed]]]:
        """Yield each category: the folder of its section, its title, and its pages."""
        for category in self._all("/categories"):
            is_reference = category.get("reference") is True or category.get("type") == "reference"
            slug = text_of(category, "slug")
            pages = _objects(self.api.answer(f"/categories/{escaped(slug)}/docs"))
            yield (
                ("reference" if is_reference else "docs"),
                text_of(category, "title") or slug,
                self._listed(pages, 0),
            )

    def _listed(self, pages: list[JsonObject], level: int) -> list[_Listed]:
        if level > _MAX_LEVELS:
            return []
        pages = sorted(
            pages, key=lambda page: page["order"] if isinstance(page.get("order"), (int, float)) else 10**9
        )
        return [
            _Listed(text_of(page, "slug"), self._listed(list_of(page, "children"), level + 1))
            for page in pages
        ]

    def page(self, section: str, slug: str) -> _Page:
        said = self.api.get(f"/docs/{escaped(slug)}")
        head: JsonObject = {"title": text_of(said, "title"), "excerpt": text_of(said, "excerpt")}
        if said.get("hidden") is True:
            head["hidden"] = True
        if said.get("type") == "link":
            head["link"] = {"url": text_of(said, "link_url")}
        elif said.get("type") in ("endpoint", "get", "post", "put", "patch", "delete"):
            head["api"] = {"operationId": slug}
        return _Page(slug, head, text_of(said, "body"))

    def custom_pages(self) -> Iterator[_Page]:
        for said in self._all("/custompages"):
            is_html = said.get("htmlmode") is True
            head = {"title": text_of(said, "title"), "hidden": True}
            yield _Page(text_of(said, "slug"), head, text_of(said, "html" if is_html else "body"), is_html)

    def recipes(self) -> Iterable[_Page]:
        return ()

    def has_changelog(self) -> bool:
        return bool(self.api.answer("/changelogs", perPage=1, page=1))

    def _all(self, path: str) -> Iterator[JsonObject]:
        ending = Ending(path)
        number = 1
        while True:
            found = _objects(self.api.answer(path, perPage=_BATCH, page=number))
            yield from found
            if len(found) < _BATCH:
                return
            ending.check(text_of(found[0], "slug"))
            number += 1


class _Second:
    """Version 2 of the API, for projects that ReadMe calls refactored."""

    def __init__(self, api: Api, version: str) -> None:
        self.api = api
        self.at = f"/branches/{escaped(version)}"

    def categories(self) -> Iterator[tuple[str, str, list[_Listed]]]:
        for section, folder in (("guides", "docs"), ("reference", "reference")):
            for category in _listed_pages(self.api, f"{self.at}/categories/{section}"):
                title = text_of(category, "title")
                pages = list(
                    _listed_pages(self.api, f"{self.at}/categories/{section}/{escaped(title)}/pages")
                )
                yield folder, title, _tree(pages)

    def page(self, section: str, slug: str) -> _Page:
        kind = "guides" if section == "docs" else "reference"
        said = object_of(self.api.get(f"{self.at}/{kind}/{escaped(slug)}").get("data"))
        content = object_of(said.get("content"))
        head: JsonObject = {"title": text_of(said, "title"), "excerpt": text_of(content, "excerpt")}
        if object_of(said.get("privacy")).get("view") == "anyone_with_link":
            head["hidden"] = True
        if said.get("type") == "link":
            head["link"] = {"url": text_of(object_of(content.get("link")), "url")}
        elif said.get("type") in ("endpoint", "webhook"):
            head["api"] = {"operationId": slug}
        return _Page(slug, head, text_of(content, "body"))

    def custom_pages(self) -> Iterator[_Page]:
        for said in _listed_pages(self.api, f"{self.at}/custom_pages"):
            content = object_of(said.get("content"))
            head = {"title": text_of(said, "title"), "hidden": True}
            yield _Page(text_of(said, "slug"), head, text_of(content, "body"), content.get("type") == "html")

    def recipes(self) -> Iterator[_Page]:
        for listed in _listed_pages(self.api, f"{self.at}/recipes"):
            slug = text_of(listed, "slug")
            said = object_of(self.api.get(f"{self.at}/recipes/{escaped(slug)}").get("data"))
            content = object_of(said.get("content"))
            body = []
            for code in list_of(content.get("snippet"), "code_options"):
                fence = "`" * (
                    3 + max((len(run) for run in re.findall("`+", text_of(code, "code"))), default=0)
                )
                body.append(f"{fence}{text_of(code, 'language')}\n{text_of(code, 'code')}\n{fence}")
            for step in list_of(content, "steps"):
                body.append(f"## {text_of(step, 'title')}\n\n{text_of(step, 'body')}")
            head = {"title": text_of(said, "title"), "excerpt": text_of(said, "description")}
            yield _Page(slug, head, "\n\n".join(body))

    def has_changelog(self) -> bool:
        return bool(list_of(self.api.get("/changelogs", per_page=1), "data"))


class _Version:
    """Version of a project, written in the file format that ReadMe uses for syncs."""

    def __init__(
        self, api: _First | _Second, project: Project, raw: SourceFiles, below: str, folder: TemporaryFiles
    ) -> None:
        self.api, self.raw, self.below, self.folder = api, raw, below, folder
        sites = "|".join(map(re.escape, project.sites)) or r"(?!)"
        self.inside = re.compile(rf"(?:{sites})(?=/(?:docs|reference|recipes|page)/)")
        self.images: dict[str, str] = {}
        self.slugs: set[str] = set()

    def read(self) -> None:
        tops: dict[str, list[str]] = {"docs": []}
        for section, title, pages in self.api.categories():
            name = _name(title)
            names = tops.setdefault(section, [])
            if self._pages(section, f"{section}/{name}/", pages) and name not in names:
                names.append(name)
        for section, names in tops.items():
            self._order(f"{section}/", names)
        for page in self._optional(self.api.custom_pages):
            self._write(f"custom_pages/{_name(page.slug)}{'.html' if page.html else '.md'}", page)
        recipes = []
        for page in self._optional(self.api.recipes):
            recipes.append(_name(page.slug))
            self._write(f"recipes/{recipes[-1]}.md", page)
        if recipes:
            self._order("recipes/", recipes)
        for _ in self._optional(lambda: ["x"] if self.api.has_changelog() else []):
            self.raw.problem(f"{self.below}changelogs", "blog_left_out", "the changelog wasn't imported")

    def _optional(self, ask: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        """Yield the entries of a list that some projects don't have. If the list doesn't exist, yield nothing."""
        try:
            yield from ask()
        except ResourceMissing:
            return

    def _pages(self, section: str, folder: str, pages: list[_Listed]) -> bool:
        """Write the pages, and return whether there are any."""
        names = []
        for listed in pages:
            if not listed.slug or listed.slug in self.slugs:
                continue
            self.slugs.add(listed.slug)
            name = _name(listed.slug)
            is_there = True
            try:
                self._write(f"{folder}{name}.md", self.api.page(section, listed.slug))
            except ResourceMissing as error:
                is_there = False
                self.raw.problem(f"{self.below}{folder}{name}.md", "not_fetched", f"skipped: {error}")
            if self._pages(section, f"{folder}{name}/", listed.below) or is_there:
                names.append(name)
        if names:
            self._order(folder, names)
        return bool(names)

    def _order(self, folder: str, names: list[str]) -> None:
        self._add(f"{folder}_order.yaml", write_yaml(names))

    def _write(self, path: str, page: _Page) -> None:
        body = page.body.replace("\r\n", "\n")
        if page.html:
            self._add(path, body)
            return
        head = {name: value for name, value in page.head.items() if value} | {"slug": page.slug}
        self._add(path, f"---\n{write_yaml(head)}---\n\n{self.inside.sub('', _IMAGE.sub(self._image, body))}")

    def _image(self, found: re.Match[str]) -> str:
        """Return the path of an image that ReadMe hosts. An image that can't be downloaded keeps its URL."""
        url = found[0].rstrip(".,;")
        rest = found[0][len(url) :]
        if url not in self.images:
            name = _name(unquote(posixpath.basename(path_of(url))))[-100:]
            path = f"images/{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:8]}-{name}"
            try:
                self.folder.add(self.raw, self.below + path, self.api.api.file(url))
                self.images[url] = "/" + path
            except SourceError as error:
                # Also skip it if access is denied, because the image is on another server that doesn't accept
                # the token.
                self.images[url] = url
                self.raw.problem(
                    url,
                    "not_fetched",
                    f"the image couldn't be downloaded, so it keeps its original URL: {error}",
                )
        return self.images[url] + rest

    def _add(self, path: str, text: str) -> None:
        self.folder.add(self.raw, self.below + path, text.encode("utf-8", "replace"))


def _read_pages(raw: SourceFiles, folder: TemporaryFiles, several: bool = False) -> Source:
    # Imported here so that only imports load the readers.
    from octavo.interchange.readers.converting import read_files

    return read_files(source_of(raw), folder, kind="readme", several=several)


def _make_default(made: Source, title: str) -> Source:
    entry = next((one for one in made.structure if one.title == title), None)
    if entry is None or entry.default:
        return made
    structure = tuple(
        replace(one, default=one is entry, path=None if one is entry else one.title) for one in made.structure
    )
    return join_parts(made.parts, structure)


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _listed_pages(api: Api, path: str) -> Iterator[JsonObject]:
    """Yield the entries of a list from version 2 of the API, page by page."""
    ending = Ending(path)
    number = 1
    while True:
        answer = api.get(path, page=number, per_page=_BATCH)
        yield from list_of(answer, "data")
        if not text_of(object_of(answer.get("paging")), "next"):
            return
        number += 1
        ending.check(str(number))


def _tree(pages: Sequence[Mapping[str, object]]) -> list[_Listed]:
    """Return the pages of a category as a tree. ``pages``: the pages in order, each with its parent."""
    made = {slug: _Listed(slug, []) for page in pages if (slug := text_of(page, "slug"))}
    above = {
        text_of(page, "slug"): unquote(posixpath.basename(text_of(object_of(page.get("parent")), "uri")))
        for page in pages
    }
    top: list[_Listed] = []
    for slug, listed in made.items():
        seen, at = {slug}, slug
        while (at := above.get(at, "")) in made and at not in seen:
            seen.add(at)
        # A page that is its own ancestor becomes a top-level page.
        parent = made.get(above.get(slug, ""))
        (parent.below if parent is not None and at not in made and len(seen) <= _MAX_LEVELS else top).append(
            listed
        )
    return top


def _name(slug: str) -> str:
    return re.sub(r"[/\\\x00-\x1f]", "-", slug).strip(". ")[:150] or "page"
