"""Reader for Confluence spaces, through the HTTP API of Cloud and Data Center. A space is converted to the format
of Confluence's XML export, and then read like an export."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from html import escape
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from octavo.core.json_types import JsonObject
from octavo.core.url_parts import host_of, path_of, read_address
from octavo.kit.net.fetch import Fetcher

from .api_client import MAX_SPACES, Api, Ending, FoundSpace, ResourceMissing, TokenRefused
from .hosted import escaped, list_of, object_of, text_of

if TYPE_CHECKING:
    from octavo.interchange.readers.scratch import TemporaryFiles
from msgspec.structs import replace

from octavo.core.sources import Source, SourceError, SourceFiles, source_of

_BATCH = 250
_PEOPLE = 2_000
"""Maximum number of people whose names are requested for one space."""
_USER = re.compile(r'<ri:user\b([^<>]*?)\bri:(account-id|userkey)="([^"<>]{1,200})"([^<>]*)>')
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Pattern for characters that XML can't contain."""


class Confluence:
    """Client for the API of a Confluence site. ``address``: the URL of a Cloud site, such as
    https://acme.atlassian.net, or of a Data Center server, including its path. ``user``: the email address of the
    owner of a Cloud token; None for Data Center, which requires only the token."""

    def __init__(
        self,
        address: str,
        user: str | None,
        token: str,
        fetcher: Fetcher,
        wait: Callable[[float], None] | None = time.sleep,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        base = address.rstrip("/")
        if host_of(base).endswith(".atlassian.net") and not path_of(base):
            base += "/wiki"
        self.is_cloud = path_of(base).endswith("/wiki")
        said = f"Bearer {token}"
        if user is not None:
            said = "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()
        self.api = Api(base, {"Authorization": said, "Accept": "application/json"}, fetcher, wait, tick)
        self.name = host_of(base) or base

    def find_spaces(self) -> tuple[list[FoundSpace], bool]:
        """Return at most ``MAX_SPACES`` spaces that the token can access, with personal spaces last, and whether
        the list is complete. Raises SourceError if the API can't be read."""
        spaces = (
            self._all_entries("/api/v2/spaces", limit=_BATCH, status="current")
            if self.is_cloud
            else self._all_entries("/rest/api/space", limit=100)
        )
        found: list[dict[str, Any]] = []
        is_all = True
        for space in spaces:
            if len(found) == MAX_SPACES:
                is_all = False
                break
            if text_of(space, "key"):
                found.append(space)
        found.sort(key=lambda space: space.get("type") == "personal")
        return [
            FoundSpace(text_of(space, "key"), text_of(space, "name") or text_of(space, "key"), self.name)
            for space in found
        ], is_all

    def open(self, space: str, folder: TemporaryFiles, stack: ExitStack) -> Source:
        """Return the space with this key as Octavo files. Raises SourceError if the space can't be read."""
        # Imported here so that only imports load the readers.
        from octavo.interchange.readers.converting import read_files

        raw = _Space(self, space, folder).read()
        return replace(read_files(raw, folder, kind="confluence-xml"), kind="confluence")

    def _all_entries(self, path: str, **query: object) -> Iterator[JsonObject]:
        """Yield the entries of a list, page by page. Raises SourceError if the list never ends."""
        ending = Ending(path)
        while True:
            answer = self.api.get(path, **query)
            yield from list_of(answer, "results")
            following = text_of(object_of(answer.get("_links")), "next")
            if not following:
                return
            ending.check(following)
            # Only the cursor from the next URL is used, so that the server can't send us to another list.
            address = read_address(following)
            if address is None:
                raise SourceError(f"{path}: the link to the next page isn't a URL")
            query |= {name: values[0] for name, values in parse_qs(address.query).items()}


class _Space:
    """Converter of a space to the format of an XML export."""

    def __init__(self, confluence: Confluence, key: str, folder: TemporaryFiles) -> None:
        self.confluence, self.api, self.key, self.folder = confluence, confluence.api, key, folder
        self.raw = SourceFiles(key)
        self.people: dict[str, str] = {}
        self.asks_people = True

    def read(self) -> Source:
        place = self.folder.new(".xml")
        with place.open("w", encoding="utf-8") as out:
            out.write('<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic datetime="">\n')
            (self._read_cloud if self.confluence.is_cloud else self._read_center)(out)
            out.write("</hibernate-generic>\n")
        self.raw.add("entities.xml", place.stat().st_size, lambda: place.open("rb"))
        return source_of(self.raw)

    # Responses from the two kinds of Confluence

    def _read_cloud(self, out: IO[str]) -> None:
        spaces = list_of(self.api.get("/api/v2/spaces", keys=self.key), "results")
        space = next((one for one in spaces if one.get("key") == self.key), None)
        if space is None:
            raise ResourceMissing(f"there is no space with the key {self.key!r} that this token can access")
        id = text_of(space, "id")
        self._space(out, text_of(space, "name"), text_of(space, "homepageId"))
        folders: dict[str, str] = {}
        waiting: list[str] = []
        for page in self._list(f"/api/v2/spaces/{escaped(id)}/pages", limit=_BATCH, status="current"):
            if page.get("parentType") == "folder":
                waiting.append(text_of(page, "parentId"))
            self._cloud_page(out, page)
        while waiting:
            folder = waiting.pop()
            if not folder or folder in folders:
                continue
            folders[folder] = ""
            try:
                found = self.api.get(f"/api/v2/folders/{escaped(folder)}")
            except ResourceMissing:
                continue
            self._object(
                out,
                "Folder",
                folder,
                {"title": text_of(found, "title"), "position": _number(found.get("position"))},
                {"space": "1", "parent": text_of(found, "parentId")},
            )
            if found.get("parentType") == "folder":
                waiting.append(text_of(found, "parentId"))
        for number, _ in enumerate(self._list(f"/api/v2/spaces/{escaped(id)}/blogposts", limit=_BATCH)):
            self._object(out, "BlogPost", f"b{number}", {"contentStatus": "current"}, {})

    def _cloud_page(self, out: IO[str], listed: Mapping[str, object]) -> None:
        id = text_of(listed, "id")
        at = f"/api/v2/pages/{escaped(id)}"
        try:
            page = self.api.get(at, **{"body-format": "storage", "include-labels": "true"})
        except ResourceMissing:
            return  # The page was deleted after the list was read.
        labels = [text_of(one, "name") for one in list_of(page.get("labels"), "results")]
        body = text_of(object_of(object_of(page.get("body")).get("storage")), "value")
        self._page(
            out,
            id,
            text_of(listed, "title"),
            text_of(listed, "parentId"),
            listed.get("position"),
            body,
            labels,
        )
        for file in self._list(f"{at}/attachments", limit=_BATCH):
            name, file_id = text_of(file, "title"), text_of(file, "id")
            path = f"/rest/api/content/{escaped(id)}/child/attachment/{escaped(file_id)}/download"
            self._file(out, id, file_id, name, path)

    def _read_center(self, out: IO[str]) -> None:
        space = self.api.get(f"/rest/api/space/{escaped(self.key)}", expand="homepage")
        self._space(out, text_of(space, "name"), text_of(object_of(space.get("homepage")), "id"))
        expand = "ancestors,body.storage,metadata.labels,extensions.position"
        asked = {"spaceKey": self.key, "status": "current", "expand": expand, "limit": 50, "start": 0}
        for page in self._list("/rest/api/content", type="page", **asked):
            id = text_of(page, "id")
            above = list_of(page, "ancestors")
            labels = [
                text_of(one, "name")
                for one in list_of(object_of(page.get("metadata")).get("labels"), "results")
            ]
            body = text_of(object_of(object_of(page.get("body")).get("storage")), "value")
            position = object_of(page.get("extensions")).get("position")
            self._page(
                out,
                id,
                text_of(page, "title"),
                text_of(above[-1], "id") if above else "",
                position,
                body,
                labels,
            )
            for file in self._list(f"/rest/api/content/{escaped(id)}/child/attachment", limit=100, start=0):
                download = text_of(object_of(file.get("_links")), "download")
                self._file(out, id, text_of(file, "id"), text_of(file, "title"), download)
        asked |= {"expand": "", "limit": 100}
        for number, _ in enumerate(self._list("/rest/api/content", type="blogpost", **asked)):
            self._object(out, "BlogPost", f"b{number}", {"contentStatus": "current"}, {})

    def _list(self, path: str, **query: object) -> Iterator[JsonObject]:
        return self.confluence._all_entries(path, **query)

    # Contents of the export

    def _space(self, out: IO[str], name: str, home: str) -> None:
        self._object(
            out,
            "Space",
            "1",
            {"key": self.key, "name": name or self.key, "baseUrl": self.api.base},
            {"homePage": home},
        )

    def _page(
        self, out: IO[str], id: str, title: str, parent: str, position: object, body: str, labels: list[str]
    ) -> None:
        self._object(
            out,
            "Page",
            id,
            {"title": title, "position": _number(position), "contentStatus": "current"},
            {"space": "1", "parent": parent},
        )
        self._object(
            out,
            "BodyContent",
            f"body{id}",
            {"body": self._replace_mentions(self._rewrite_page_links(body)), "bodyType": "2"},
            {"content": id},
        )
        for label in labels:
            self._object(out, "Label", f"{id} {label}", {"name": label}, {})
            self._object(out, "Labelling", f"{id} {label} ", {}, {"content": id, "label": f"{id} {label}"})

    def _file(self, out: IO[str], page: str, id: str, name: str, path: str) -> None:
        if not path.startswith("/") or not name:
            return
        place = f"attachments/{quote(page, safe='')}/{quote(id, safe='')}/1"
        try:
            data = self.api.file(self.api.base + path)
        except TokenRefused:
            raise
        except SourceError as error:
            self.raw.problem(name, "not_fetched", f"skipped: {error}")
            return
        self.folder.add(self.raw, place, data)
        self._object(out, "Attachment", id, {"title": name, "version": "1"}, {"containerContent": page})

    def _object(self, out: IO[str], kind: str, id: str, said: dict[str, str], named: dict[str, str]) -> None:
        out.write(f'<object class="{kind}"><id name="id">{_text(id)}</id>\n')
        for name, value in said.items():
            out.write(f'<property name="{name}">{_text(value)}</property>\n')
        for name, value in named.items():
            if value:
                out.write(f'<property name="{name}"><id name="id">{_text(value)}</id></property>\n')
        out.write("</object>\n")

    # Texts

    def _rewrite_page_links(self, body: str) -> str:
        """Rewrite URLs of pages in the space to links that contain the space key and the page ID, because the
        titles in URLs may be outdated."""
        base, key = re.escape(escape(self.api.base)), re.escape(quote(self.key, safe="~"))
        wanted = rf'"{base}/(?:pages/viewpage\.action\?pageId=(\d+)|spaces/{key}/pages/(\d+)(?:/[^"#?<>]*)?)'
        begins = f'"{escape(self.api.base)}/spaces/{quote(self.key, safe="~")}/pages/'
        return re.sub(wanted, lambda found: begins + (found[1] or found[2]), body)

    def _replace_mentions(self, body: str) -> str:
        """Replace mentions of people with their names."""

        def name(found: re.Match[str]) -> str:
            person = self._person(found[2], found[3])
            return f'<ri:user{found[1]}ri:username="{escape(person)}"{found[4]}>' if person else found[0]

        return _USER.sub(name, body)

    def _person(self, what: str, id: str) -> str:
        if id not in self.people and self.asks_people and len(self.people) < _PEOPLE:
            asked = {"accountId" if what == "account-id" else "key": id}
            try:
                self.people[id] = text_of(self.api.get("/rest/api/user", **asked), "displayName")
            except ResourceMissing:
                self.people[id] = ""
            except SourceError:
                # A token that can read pages may not have access to people. An expired token is detected when
                # the next page is read.
                self.asks_people = False
        return self.people.get(id, "")


def _text(words: str) -> str:
    return escape(_UNWRITABLE.sub("", words), quote=False)


def _number(position: object) -> str:
    """Return a position as a numeric string; empty if it isn't a number."""
    return str(position) if isinstance(position, int) and position >= 0 else ""
