"""Git repositories as import sources: local repositories, and remote repositories over HTTP or HTTPS."""

from __future__ import annotations

import io
import re
import stat
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO, Any
from urllib.parse import unquote

import urllib3
from dulwich.client import HTTPUnauthorized, Urllib3HttpGitClient
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.file import FileLocked
from dulwich.objects import Commit, ObjectID, Tag, Tree
from dulwich.repo import Repo

from octavo.core.paths import MAX_FILE, is_git_path, unsafe_path
from octavo.core.sources import MAX_TOTAL, Source, SourceError, SourceFiles, printable, source_of
from octavo.core.url_parts import read_address, write_authority
from octavo.kit.net import git_packs
from octavo.kit.net.git_http import AllowUrl, GitRefused, GuardedPool
from octavo.kit.temporary import TemporaryFolder

_KEPT = 32 * 1024**2
"""Maximum number of bytes of file contents to keep in memory while reading a tree."""


def _split_git(where: str) -> tuple[str, str, str | None]:
    """Split ``scheme://host/path//subfolder#ref`` into the URL, the subfolder, and the ref."""
    address, _, ref = where.partition("#")
    scheme, _, rest = address.partition("://")
    head, _, folder = rest.partition("//")
    folder = unquote(folder).strip("/")
    if folder and (wrong := unsafe_path(folder)):
        raise SourceError(f"the subfolder can't be read: {wrong}")
    return f"{scheme}://{head}", folder, unquote(ref) or None


def open_local(where: str, stack: ExitStack) -> Source:
    url, folder, ref = _split_git(where)
    parts = read_address(url)
    if parts is None or parts.authority not in ("", "localhost"):
        raise SourceError("a file URL must not have a host. Use file:///path.")
    try:
        repository = stack.enter_context(Repo(unquote(parts.path)))
    except (NotGitRepository, OSError) as error:
        raise SourceError(f"{url} isn't a Git repository") from error
    repository.object_store = git_packs.GuardedStore(repository.object_store.path, foreign=True)
    refs = {bytes(name): bytes(sha) for name, sha in repository.get_refs().items()}
    try:
        return _read_commit(_repository_name(url), repository, _wanted(refs, ref, repository), folder)
    except GitRefused as error:
        raise SourceError(str(error)) from None


def open_remote(where: str, allow_url: AllowUrl, stack: ExitStack) -> Source:
    url, folder, ref = _split_git(where)
    parts = read_address(url)
    if parts is None:
        raise SourceError("the URL isn't valid. Enter the http or https URL of a Git repository.")
    if not parts.host:
        raise SourceError("the URL must have a host")
    plain = f"{parts.scheme}://{write_authority(parts.host, parts.port or None)}{parts.path}"
    pool = GuardedPool(allow_url, MAX_TOTAL)
    stack.callback(pool.clear)
    client = Urllib3HttpGitClient(
        plain,
        pool_manager=pool,
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        quiet=True,
    )
    repository = stack.enter_context(Repo.init_bare(stack.enter_context(TemporaryFolder("git"))))
    chosen: list[bytes] = []

    def wants(refs: Any, depth: int | None = None) -> list[object]:
        found = {bytes(name): bytes(sha) for name, sha in refs.items() if sha}
        chosen.append(_wanted(found, ref, None))
        return [chosen[0]]

    try:
        git_packs.fetch(client, parts.path.encode(), repository, wants, 1, MAX_TOTAL)
    except NotGitRepository:
        raise SourceError(f"{plain} isn't a Git repository") from None
    except HTTPUnauthorized:
        raise SourceError(f"{plain} rejected the credentials. Check the username and the token.") from None
    except (GitProtocolError, HangupException, urllib3.exceptions.HTTPError, FileLocked) as error:
        raise SourceError(f"{plain} can't be read as a Git repository: {error}") from error
    except (*git_packs.DAMAGES, KeyError, AssertionError, OSError) as error:
        raise SourceError(f"{plain} doesn't respond like a Git repository. Check the URL.") from error
    except ValueError as error:
        if isinstance(error, SourceError):
            raise
        if isinstance(error, GitRefused):
            raise SourceError(str(error)) from error
        raise SourceError(f"{plain} can't be read as a Git repository: {error}") from error
    return _read_commit(_repository_name(plain), repository, chosen[0], folder)


def _repository_name(url: str) -> str:
    return unquote(url.rstrip("/").rpartition("/")[2]).removesuffix(".git") or "repository"


def _wanted(refs: dict[bytes, bytes], ref: str | None, repository: Repo | None) -> bytes:
    if ref is None:
        for name in (b"HEAD", b"refs/heads/main", b"refs/heads/master"):
            if name in refs:
                return refs[name]
        raise SourceError("the repository doesn't have any commits")
    for prefix in ("refs/heads/", "refs/tags/", "refs/", ""):
        if found := refs.get(f"{prefix}{ref}".encode("utf-8", "replace")):
            return found
    if re.fullmatch(r"[0-9a-f]{40}", ref) and (repository is None or ref.encode() in repository):
        return ref.encode()
    raise SourceError(f"there is no branch, tag, or commit {ref} in the repository")


def _read_commit(name: str, repository: Repo, commit_id: bytes, folder: str) -> Source:
    found: Any = _object(repository, commit_id)
    for _ in range(10):
        if not isinstance(found, Tag):
            break
        found = _object(repository, found.object[1])
    if not isinstance(found, Commit):
        raise SourceError("the reference doesn't point to a commit. Choose a branch, a tag, or a commit.")
    files = SourceFiles(name)
    read_tree(files, repository, found.tree)
    if folder:
        files.descend(folder)
    return source_of(files, found.id.decode())


def _object(repository: Repo, oid: bytes) -> Any:
    # The commit is looked up by its id alone, because a name that a repository accepts may not be a valid ref
    # name.
    return repository.object_store[ObjectID(oid)]


def read_tree(source: SourceFiles, repository: Repo, root: bytes) -> None:
    """Add the files of a tree to a source. Raises ``SourceError`` if the files can't be read."""
    try:
        _read_tree(source, repository, root)
    except KeyError:
        raise SourceError(
            "the repository is missing objects. Use a full clone, not a partial or shallow clone."
        ) from None
    except git_packs.DAMAGES as error:
        raise SourceError(f"the repository contains objects that can't be read: {error}") from None


def _read_tree(source: SourceFiles, repository: Repo, root: bytes) -> None:
    # Git can determine the size of a file only by unpacking it. As many files as fit are kept in memory until
    # they are read.
    left = _KEPT
    waiting = [("", root)]
    while waiting:
        above, tree_id = waiting.pop()
        tree = _object(repository, tree_id)
        if not isinstance(tree, Tree):
            raise SourceError(
                "the repository is damaged: a folder entry isn't a folder. Check it with `git fsck`."
            )
        for item in tree.iteritems():
            source.count()
            path = above + bytes(item.path or b"").decode("utf-8", "surrogateescape")
            mode = item.mode or 0
            if is_git_path(path):
                continue
            if stat.S_ISDIR(mode):
                if wrong := unsafe_path(path):
                    source.problem(printable(path), "unsafe_path", f"skipped: {wrong}")
                else:
                    waiting.append((f"{path}/", bytes(item.sha or b"")))
            elif stat.S_ISLNK(mode):
                source.problem(printable(path), "symlink", "skipped: symbolic links aren't supported")
            elif stat.S_ISREG(mode):
                blob = bytes(item.sha or b"")
                try:
                    data = _object(repository, blob).as_raw_string()
                except GitRefused:
                    source.add(
                        path, MAX_FILE + 1, io.BytesIO
                    )  # it is reported like any other file that is too large
                    continue
                kept = data if len(data) <= left else None
                left -= len(data) if kept is not None else 0
                source.add(path, len(data), _blob_opening(repository, blob, kept))
            else:
                source.problem(printable(path), "submodule", "skipped: submodules aren't supported")


def _blob_opening(repository: Repo, blob: bytes, kept: bytes | None) -> Callable[[], IO[bytes]]:
    if kept is not None:
        return lambda: io.BytesIO(kept)
    return lambda: io.BytesIO(_object(repository, blob).as_raw_string())
