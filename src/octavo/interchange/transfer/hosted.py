"""Import through a public API like Octavo's, from GitBook or from another Octavo server.

From another Octavo server, a space is imported as its export archive, byte for byte. From other servers, a space is
assembled page by page: from Markdown if the API provides it, and otherwise from the nodes of each page."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import UNSET

from octavo.core.document.json import DocumentError, from_json
from octavo.core.document.page import split_page
from octavo.core.document.writing import write
from octavo.core.free_names import free_name
from octavo.core.import_plan import leading_title
from octavo.core.json_types import JsonObject
from octavo.core.links import relative_href
from octavo.core.pages import slugify
from octavo.core.paths import numbered_path, unsafe_path
from octavo.core.space_config import VARIABLES_PATH
from octavo.core.summary import Summary, SummaryEntry, write_summary
from octavo.core.yaml_text import write_yaml
from octavo.kit.net.fetch import Fetcher

from .api_client import MAX_SPACES, Api, Ending, FoundSpace, ResourceMissing, TokenRefused

if TYPE_CHECKING:
    from octavo.interchange.readers.scratch import TemporaryFiles
from msgspec.structs import replace

from octavo.core.sources import Source, SourceError, SourceFiles, source_of
from octavo.core.space_config import ASSETS

INCLUDES = ".gitbook/includes"
_PER_PAGE = 100


class HostedApi(Api):
    """Client for the API at ``https://host``, optionally followed by ``/v1``."""

    def __init__(
        self,
        address: str,
        token: str,
        fetcher: Fetcher,
        wait: Callable[[float], None] | None = time.sleep,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        base = address.rstrip("/").removesuffix("/v1") + "/v1"
        super().__init__(base, {"Authorization": f"Bearer {token}"}, fetcher, wait, tick)

    def all(self, path: str, **query: object) -> Iterator[JsonObject]:
        """Yield the entries of a list, page by page. Raises SourceError if the list never ends."""
        place: str | None = None
        ending = Ending(path)
        while True:
            answer = self.get(path, limit=_PER_PAGE, page=place, **query)
            yield from list_of(answer, "items")
            place = text_of(object_of(answer.get("next")), "page")
            if not place:
                return
            ending.check(place)

    def find_spaces(self) -> tuple[list[FoundSpace], bool]:
        """Return at most ``MAX_SPACES`` spaces that the token can access, and whether the list is complete. Raises
        SourceError if the API can't be read."""
        found: list[FoundSpace] = []
        for organization in self.all("/orgs"):
            title = text_of(organization, "title")
            for space in self.all(f"/orgs/{escaped(text_of(organization, 'id'))}/spaces"):
                if len(found) == MAX_SPACES:
                    return found, False
                id = text_of(space, "id")
                found.append(
                    FoundSpace(id, text_of(space, "title") or id, title, text_of(space, "emoji") or UNSET)
                )
        return found, True

    def open(self, space: str, folder: TemporaryFiles, stack: ExitStack) -> Source:
        """Return a space as files. Raises SourceError if it can't be read."""
        return open_space(self, self.get(f"/spaces/{escaped(space)}"), folder, stack)


def object_of(value: object) -> JsonObject:
    """Return the object in a response; empty if the response isn't an object."""
    return value if isinstance(value, dict) else {}


def list_of(value: object, name: str) -> list[JsonObject]:
    """Return the objects in the list with this name in a response."""
    found = object_of(value).get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def text_of(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def escaped(id: str) -> str:
    """Escape an ID for use as a path segment."""
    return quote(id, safe="")


def pages_of(value: object) -> Iterator[JsonObject]:
    """Yield every page of a page tree in an API response, parents first."""
    waiting = list_of(value, "pages")[::-1]
    while waiting:
        page = waiting.pop()
        yield page
        waiting += list_of(page, "pages")[::-1]


# --- spaces -------------------------------------------------------------------------------------------


def open_space(
    remote: HostedApi, space: Mapping[str, object], folder: TemporaryFiles, stack: ExitStack
) -> Source:
    """Return a space as files. Raises SourceError if it can't be read."""
    id = text_of(space, "id")
    name = text_of(space, "title") or id
    place = folder.new(".zip")
    try:
        remote.download(f"/spaces/{escaped(id)}/archive", place)
    except ResourceMissing:
        return _Reading(remote, id, folder, SourceFiles(name)).read()
    # Imported here so that only imports load the readers.
    from octavo.interchange.readers.opening import open_archive

    return replace(open_archive(str(place), stack, whole=True), name=name)


def read_markdown(remote: HostedApi, at: str, page: Mapping[str, object]) -> str:
    """Return the Markdown of a page. ``at``: the API path of the content that the page belongs to, such as
    ``/spaces/ID/content``. Raises SourceError if the API can't be read, and DocumentError if the page's nodes can't
    be written as Markdown."""
    address = f"{at}/page/{escaped(text_of(page, 'id'))}"
    found = remote.get(address, format="markdown")
    if isinstance(found.get("markdown"), str):
        return str(found["markdown"])
    nodes = object_of(remote.get(address, format="document").get("document"))
    document = from_json({"object": "document", "data": {}, **nodes})
    return write(document)


class _Reading:
    """Reader that adds a space to ``source``, page by page."""

    def __init__(self, remote: HostedApi, space: str, folder: TemporaryFiles, files: SourceFiles) -> None:
        self._remote, self._at = remote, f"/spaces/{escaped(space)}/content"
        self._folder, self._source = folder, files
        self._paths: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._files_by_id: dict[str, str] = {}
        self._taken: set[str] = {"SUMMARY.md", VARIABLES_PATH}

    def read(self) -> Source:
        revision = self._remote.get(self._at)
        tree = revision if "pages" in revision else self._remote.get(f"{self._at}/pages")
        for number, page in enumerate(pages_of(tree)):
            self._name(page, is_home=number == 0)
        self._read_files()
        for page in pages_of(tree):
            if text_of(page, "id") in self._paths:
                self._read_page(page)
        for content in list_of(revision, "reusableContents"):
            self._read_include(content)
        if variables := object_of(revision.get("variables")):
            self._add(VARIABLES_PATH, write_yaml(variables))
        summary = Summary(title=self._source.name, entries=self._entries(list_of(tree, "pages")))
        self._add("SUMMARY.md", write_summary(summary))
        return source_of(self._source)

    def _add(self, path: str, data: str | bytes) -> None:
        self._folder.add(self._source, path, data.encode() if isinstance(data, str) else data)

    def _free(self, wanted: str, otherwise: str) -> str:
        path = wanted if wanted and not unsafe_path(wanted) and wanted not in self._taken else otherwise
        path = free_name(path, self._taken.__contains__, lambda number: numbered_path(path, number))
        self._taken.add(path)
        return path

    def _name(self, page: Mapping[str, object], is_home: bool) -> None:
        if page.get("type", "document") != "document" or page.get("kind") in ("group", "link"):
            return
        where = "/".join(slugify(part) for part in text_of(page, "path").split("/") if part)
        where = where or slugify(text_of(page, "title"))
        made = "README.md" if is_home else f"{where}/README.md" if list_of(page, "pages") else f"{where}.md"
        wanted = text_of(object_of(page.get("git")), "path")
        self._paths[text_of(page, "id")] = self._free(wanted if wanted.endswith(".md") else "", made)

    def _read_files(self) -> None:
        for file in self._remote.all(f"{self._at}/files"):
            name = re.sub(r"[/\\\x00-\x1f]", "-", text_of(file, "name")) or "file"
            wanted = text_of(object_of(file.get("git")), "path")
            path = self._free(wanted, f"{ASSETS}/{name}")
            url = text_of(file, "downloadURL")
            try:
                self._add(path, self._remote.file(url))
            except TokenRefused:
                raise
            except SourceError as error:
                self._source.problem(path, "not_fetched", f"skipped: {error}")
                continue
            self._files[path] = url
            self._files_by_id[text_of(file, "id")] = path

    def _read_page(self, page: Mapping[str, object]) -> None:
        path = self._paths[text_of(page, "id")]
        try:
            text = read_markdown(self._remote, self._at, page)
        except (DocumentError, ResourceMissing) as error:
            self._source.problem(path, "not_converted", f"the page content can't be read: {error}")
            text = ""
        self._add(path, self._rewrite_links(self._with_front_matter(text, page), path))

    def _with_front_matter(self, text: str, page: Mapping[str, object]) -> str:
        """Return a page's Markdown with its front matter and title, which the API returns separately."""
        front, title, body = split_page(text)
        if not leading_title(text):
            title, body = f"# {text_of(page, 'title')}\n\n", body.lstrip("\n")
        if not front:
            said = {name: page[name] for name in ("description", "icon") if text_of(page, name)}
            said |= {"hidden": True} if page.get("hidden") is True else {}
            front = f"---\n{write_yaml(said)}---\n\n" if said else ""
        return front + title + body

    def _rewrite_links(self, text: str, path: str) -> str:
        """Rewrite links to pages and files that contain an ID or a URL to links that contain the new paths."""

        def by_id(found: re.Match[str]) -> str:
            known = self._paths if found[1] == "pages" else self._files_by_id
            target = known.get(found[2])
            return relative_href(target, path) if target else found[0]

        text = re.sub(r'(?<=[("])/(pages|files)/([A-Za-z0-9_-]{1,100})(?=[)"#? ])', by_id, text)
        for target, url in self._files.items():
            if url and url in text:
                text = text.replace(url, relative_href(target, path))
        return text

    def _read_include(self, content: Mapping[str, object]) -> None:
        id, title = text_of(content, "id"), text_of(content, "title")
        wanted = text_of(object_of(content.get("git")), "path")
        path = self._free(wanted, f"{INCLUDES}/{slugify(title)}.md")
        try:
            found = self._remote.get(f"{self._at}/reusable-contents/{escaped(id)}", format="markdown")
        except ResourceMissing as error:
            self._source.problem(path, "not_fetched", f"skipped: {error}")
            return
        text = text_of(found, "markdown")
        head = "" if text.startswith("---\n") else f"---\n{write_yaml({'title': title})}---\n\n"
        self._add(path, self._rewrite_links(head + text, path))

    def _entries(self, pages: Sequence[Mapping[str, object]]) -> list[SummaryEntry]:
        entries = []
        for page in pages:
            title, below = text_of(page, "title"), self._entries(list_of(page, "pages"))
            path = self._paths.get(text_of(page, "id"))
            if path is not None:
                entries.append(SummaryEntry(kind="page", title=title, href=path, children=below))
            elif page.get("type") == "group":
                slug = text_of(page, "slug")
                entries.append(SummaryEntry(kind="group", title=title, slug=slug or None, children=below))
            elif page.get("type") == "link":
                url = text_of(page, "href") or text_of(object_of(page.get("target")), "url")
                if url:
                    entries.append(SummaryEntry(kind="link", title=title, href=url))
                else:
                    self._source.problem(
                        title, "left_out", "skipped: the API didn't return this link's target"
                    )
            else:
                self._source.problem(title, "left_out", "skipped: this page is generated from another source")
        return entries
