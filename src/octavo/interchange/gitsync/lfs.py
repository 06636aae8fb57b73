"""Git LFS files. The repository contains pointers to these files, and a separate server stores the files
themselves.

Like Octavo, Git LFS identifies a file by its SHA-256 hash. Therefore, a synced file stays the same in Octavo, and
only its pointer is written to the repository if ``.gitattributes`` assigns the file to LFS."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Literal

import msgspec
from msgspec import Struct, field

from octavo.content.revisions.files import store_file
from octavo.core.paths import MAX_FILE
from octavo.core.url_parts import read_address
from octavo.kit.context import Context
from octavo.kit.net.fetch import ByteAllowance, Fetched, FetchError, FetchTimeout, Limits
from octavo.kit.work import jobs

from . import store
from .failures import Reason, Stopped, clean
from .remotes import RemoteConnection
from .repository import Repository

ATTRIBUTES = ".gitattributes"
MOST_POINTER = 1024
"""Maximum size of a pointer, in bytes."""
MOST_TOGETHER = 4 * 1024**3
"""Maximum number of bytes to download in one sync."""
_VERSION = b"version https://git-lfs.github.com/spec/v1\n"
_OID = re.compile(r"^oid sha256:([0-9a-f]{64})$", re.MULTILINE)
_SIZE = re.compile(r"^size (\d{1,15})$", re.MULTILINE)
_TYPE = "application/vnd.git-lfs+json"
_BATCH = 100
_ANSWER = Limits(size=1024 * 1024, seconds=60, follow=False)
_SECONDS = 600.0
_GRANTED = 600.0
"""Maximum number of seconds for which access to a Git LFS server is reused."""
_MOST_ATTRIBUTES = 256 * 1024
_MOST_SAID = 200


class Pointer(Struct, frozen=True):
    """Pointer to a file. ``oid``: the SHA-256 hash of the bytes, in hexadecimal. ``size``: the size in
    bytes."""

    oid: str
    size: int

    def text(self) -> bytes:
        """Return the pointer in the exact format of Git LFS."""
        return _VERSION + f"oid sha256:{self.oid}\nsize {self.size}\n".encode()


def read_pointer(data: bytes) -> Pointer | None:
    """Parse a pointer. Return None for data that isn't a pointer."""
    if len(data) > MOST_POINTER or not data.startswith(_VERSION):
        return None
    text = data.decode("utf-8", "replace")
    oid, size = _OID.search(text), _SIZE.search(text)
    return Pointer(oid[1], int(size[1])) if oid and size else None


# --- which files are in LFS -----------------------------------------------------------------------------


class Tracked:
    """Paths in the synced folder that a commit's ``.gitattributes`` files assign to LFS."""

    def __init__(self, copy: Repository, commit: str | None) -> None:
        self._copy = copy
        self._root = copy.root_of(commit) if commit is not None else None
        self._rules: dict[str, list[tuple[list[str], bool]]] = {}

    def __call__(self, path: str) -> bool:
        whole = f"{self._copy.folder}{path}".split("/")
        tracked = False
        for depth in range(len(whole)):
            below = whole[depth:]
            for pattern, says in self._rules_in("".join(f"{name}/" for name in whole[:depth])):
                if says != tracked and _fits(pattern, below):
                    tracked = says
        return tracked

    def _rules_in(self, folder: str) -> list[tuple[list[str], bool]]:
        if folder not in self._rules:
            found = self._copy.find(self._root, f"{folder}{ATTRIBUTES}") if self._root else None
            text = ""
            is_file = found is not None and stat.S_ISREG(found[0])
            if found is not None and is_file and self._copy.size(found[1]) <= _MOST_ATTRIBUTES:
                text = self._copy.read(found[1]).decode("utf-8", "replace")
            self._rules[folder] = list(_read_rules(text))
        return self._rules[folder]


def _read_rules(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the path segments of each LFS pattern, and whether matching files are stored in LFS."""
    for line in text.splitlines():
        pattern, *attributes = line.split() or [""]
        if not pattern or pattern.startswith("#") or pattern.endswith("/"):
            continue
        said = [name for name in attributes if name.lstrip("-!").partition("=")[0] == "filter"]
        if said:
            parts = pattern.lstrip("/").split("/")
            yield (parts if "/" in pattern else ["**", pattern]), said[-1] == "filter=lfs"


def _fits(pattern: list[str], path: list[str]) -> bool:
    """Return whether a path matches a pattern. ``**`` matches any folders or, at the end, everything inside a
    folder."""
    reached = {0}
    for place, name in enumerate(path):
        following = set()
        for at in _past_any(pattern, reached):
            if at < len(pattern) and pattern[at] == "**":
                following |= {at, at + 1} if place == len(path) - 1 and at == len(pattern) - 1 else {at}
            elif at < len(pattern) and fnmatchcase(name, pattern[at]):
                following.add(at + 1)
        reached = following
    return len(pattern) in reached


def _past_any(pattern: list[str], reached: set[int]) -> set[int]:
    found = set(reached)
    for at in sorted(reached):
        while at < len(pattern) - 1 and pattern[at] == "**":
            at += 1
            found.add(at)
    return found


# --- the server -----------------------------------------------------------------------------------------


class _Action(Struct):
    href: str
    header: dict[str, str] = field(default_factory=dict)


class _ObjectError(Struct):
    message: str = ""
    code: int = 0


class _Object(Struct):
    oid: str
    actions: dict[str, _Action] | None = None
    error: _ObjectError | None = None


class _Answer(Struct):
    objects: list[_Object] = field(default_factory=list)


class _Authentication(Struct):
    """An SSH server's response about its Git LFS server: the URL, the headers that grant access, and the number of
    seconds for which they are valid."""

    href: str
    header: dict[str, str] = field(default_factory=dict)
    expires_in: int | float | None = None


class ObjectRefused(Exception):
    """Raised if a server permanently rejects an object. The message contains the reason."""


class LargeFiles:
    """Bytes of the files that the pointers in a space's repository refer to. ``wrong``: the reasons for missing
    files, by ``oid``."""

    def __init__(
        self,
        context: Context,
        space_id: str,
        branch: str,
        connection: RemoteConnection,
    ) -> None:
        self._context, self._space_id, self._branch = context, space_id, branch
        self._connection, self._remote = connection, connection.remote
        self._granted: dict[str, tuple[float, _Action]] = {}
        self.wrong: dict[str, str] = {}
        self._here: set[str] = set()
        self._together = ByteAllowance(MOST_TOGETHER)

    def has(self, pointer: Pointer) -> bool:
        """Return whether the bytes are stored."""
        return pointer.oid in self._here

    def explain_missing(self, pointer: Pointer) -> str:
        """Return the reason why the space contains a pointer instead of the file itself."""
        why = self.wrong.get(pointer.oid, "Git LFS can't be used for this repository")
        return f"only the file's Git LFS pointer was synced: {why}"

    def download(self, pointers: Iterable[Pointer]) -> None:
        """Download and store the files that these pointers refer to. Raises Stopped if the server may provide the
        files later."""
        wanted = {pointer.oid: pointer for pointer in pointers if pointer.oid not in self._here}
        with self._context.db.read() as tx:
            # Use only files that this space has had, because a pointer identifies a file but doesn't grant
            # access to it.
            known = store.find_blobs(tx, self._space_id, wanted)
        self._here |= {oid for oid in known if self._context.files.exists(oid)}
        for oid, pointer in list(wanted.items()):
            if pointer.size > MAX_FILE:
                self.wrong[oid] = f"the file is larger than {MAX_FILE // 1024**2} MB"
            if oid in self._here or oid in self.wrong:
                del wanted[oid]
        self.wrong |= self._each("download", list(wanted.values()), self._fetch)

    def send(self, contents: Mapping[str, Callable[[], bytes]], sizes: Mapping[str, int]) -> dict[str, str]:
        """Upload the files that the server doesn't have. ``contents`` and ``sizes``: the files' bytes and sizes by
        SHA-256 hash. Return the reasons for failures by hash. Raises Stopped if the server may accept the files
        later."""

        def give(pointer: Pointer, actions: Mapping[str, _Action]) -> None:
            if "upload" not in actions:
                return  # the server already has it
            data = contents[pointer.oid]()
            self._ask(actions["upload"], "PUT", data, {"content-type": "application/octet-stream"})
            if "verify" in actions:
                said = msgspec.json.encode({"oid": pointer.oid, "size": pointer.size})
                self._ask(actions["verify"], "POST", said, {"content-type": _TYPE})

        return self._each("upload", [Pointer(oid, sizes[oid]) for oid in contents], give)

    def _fetch(self, pointer: Pointer, actions: Mapping[str, _Action]) -> None:
        if "download" not in actions:
            raise ObjectRefused("the Git LFS server didn't provide a download URL for this file")
        limits = Limits(size=pointer.size, seconds=_SECONDS, together=self._together)
        data = self._ask(actions["download"], "GET", None, {}, limits).body
        if hashlib.sha256(data).hexdigest() != pointer.oid:
            raise ObjectRefused("the Git LFS server returned content that doesn't match the pointer")
        store_file(self._context, data)
        self._here.add(pointer.oid)

    def _each(
        self,
        operation: Literal["download", "upload"],
        pointers: list[Pointer],
        run: Callable[[Pointer, Mapping[str, _Action]], None],
    ) -> dict[str, str]:
        wrong: dict[str, str] = {}
        for start in range(0, len(pointers), _BATCH):
            batch = pointers[start : start + _BATCH]
            try:
                said = self._batch(operation, batch)
            except ObjectRefused as refused:
                wrong |= {pointer.oid: str(refused) for pointer in batch}
                continue
            for pointer in batch:
                jobs.renew()
                found = said.get(pointer.oid)
                try:
                    if found is None or found.error is not None:
                        why = clean(found.error.message)[:_MOST_SAID] if found and found.error else ""
                        raise ObjectRefused(
                            f"the Git LFS server rejected this file: {why or 'no reason given'}"
                        )
                    run(pointer, found.actions or {})
                except ObjectRefused as refused:
                    wrong[pointer.oid] = str(refused)
        return wrong

    def _batch(self, operation: str, pointers: list[Pointer]) -> dict[str, _Object]:
        where = self._server(operation)
        body = {
            "operation": operation,
            "transfers": ["basic"],
            "ref": {"name": f"refs/heads/{self._branch}"},
            "objects": [{"oid": pointer.oid, "size": pointer.size} for pointer in pointers],
            "hash_algo": "sha256",
        }
        headers = {"accept": _TYPE, "content-type": _TYPE}
        answer = self._ask(where, "POST", msgspec.json.encode(body), headers)
        try:
            return {one.oid: one for one in msgspec.json.decode(answer.body, type=_Answer).objects}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ObjectRefused("the Git LFS server returned an invalid response. Check its URL.") from None

    def _server(self, operation: str) -> _Action:
        """Return the URL for batch requests. For a remote over SSH, request this URL from the SSH server."""
        url = self._remote.url
        if self._remote.scheme in ("http", "https"):
            return _Action(f"{url}{'' if url.endswith('.git') else '.git'}/info/lfs/objects/batch")
        if self._remote.scheme != "ssh":
            raise ObjectRefused("the repository is in a local folder, which has no Git LFS server")
        until, where = self._granted.get(operation, (0.0, None))
        if where is None or time.monotonic() >= until:
            command = f"git-lfs-authenticate {shlex.quote(self._remote.path)} {operation}"
            try:
                said = self._connection.answer(command)
            except Stopped as stopped:
                if stopped.reason is Reason.TOO_LARGE:
                    raise ObjectRefused("the server doesn't support Git LFS over SSH") from None
                raise
            try:
                granted = msgspec.json.decode(said, type=_Authentication)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise ObjectRefused("the server doesn't support Git LFS over SSH") from None
            where = _Action(f"{granted.href.rstrip('/')}/objects/batch", granted.header)
            seconds = min(max(granted.expires_in or _GRANTED, 0), _GRANTED)
            self._granted[operation] = time.monotonic() + seconds / 2, where
        return where

    def _ask(
        self,
        action: _Action,
        method: str,
        body: bytes | None,
        headers: Mapping[str, str],
        limits: Limits = _ANSWER,
    ) -> Fetched:
        if not action.href.startswith("https://") and not self._may_be_plain(action.href):
            raise ObjectRefused(
                "the Git LFS server returned a URL that doesn't use HTTPS. Configure the server to use HTTPS."
            )
        sent = {**headers, **{name.lower(): value for name, value in action.header.items()}}
        credential = self._connection.find_credential() if self._is_ours(action.href) else None
        if "authorization" not in sent and credential:
            pair = f"{credential.user_at(self._remote.host)}:{credential.secret}"
            sent["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        if method == "PUT":
            limits = Limits(size=limits.size, seconds=_SECONDS, follow=False)
        try:
            answer = self._connection.fetcher.fetch(action.href, method, sent, body, limits)
        except FetchTimeout as error:
            raise Stopped(
                Reason.UNREACHABLE, f"The Git LFS server couldn't be reached: {error.message}"
            ) from None
        except FetchError as error:
            raise ObjectRefused(f"the Git LFS server couldn't be reached: {error.message}") from None
        if answer.status == 429 or answer.status >= 500 and answer.status != 501:
            raise Stopped(
                Reason.UNREACHABLE,
                f"The Git LFS server responded with status {answer.status}. Octavo will try again.",
            )
        if answer.status not in (200, 201, 202, 204):
            raise ObjectRefused(f"the Git LFS server responded with status {answer.status}")
        return answer

    def _may_be_plain(self, url: str) -> bool:
        """Return whether a URL may use plain HTTP, either because the repository's URL uses plain HTTP or because
        the server administrator trusts the host."""
        if self._remote.scheme != "ssh":
            return self._remote.scheme == "http"
        try:
            return self._connection.fetcher.check_url(url).trusted
        except FetchError as error:
            raise ObjectRefused(f"Git LFS: {error.message}") from None

    def _is_ours(self, url: str) -> bool:
        """Return whether the repository's credential can be sent to a URL."""
        there, ours = read_address(url), read_address(self._remote.url)
        return (
            there is not None
            and ours is not None
            and (there.scheme, there.host, there.port) == (ours.scheme, ours.host, ours.port)
        )
