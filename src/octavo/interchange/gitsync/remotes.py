"""Fetch from and push to remotes over HTTPS and SSH and, if the server administrator allows it, in local folders.

This module is imported only when needed, because Git is slow to load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import urllib3
from dulwich.client import (
    FetchPackResult,
    GitClient,
    HTTPUnauthorized,
    LocalGitClient,
    SSHGitClient,
    Urllib3HttpGitClient,
)
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository, SendPackError
from dulwich.file import FileLocked
from dulwich.objects import ObjectID
from dulwich.repo import Repo

from octavo.core.url_parts import write_authority
from octavo.kit.net import git_packs
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.kit.net.git_http import GitRefused, GuardedPool, RepositoryTooLarge
from octavo.kit.scheduling import deadlines

from .credentials import Credential
from .failures import Reason, Stopped
from .repository import Repository
from .urls import Remote, read_remote

if TYPE_CHECKING:
    from .ssh import Vendor

MOST_RECEIVED = 4 * 1024**3
MOST_SAID = 64 * 1024**2
"""Maximum number of bytes of branch and tag names that a server may send before the requested pack."""
_MOST_ANSWERED = 64 * 1024
T = TypeVar("T")


class RemoteBranches:
    """Branches that a remote advertises: their commits by name, and the name of the default branch."""

    def __init__(self, refs: dict[bytes, bytes], symrefs: dict[bytes, bytes] | None = None) -> None:
        prefix = b"refs/heads/"
        self.branches = {
            # A name that isn't UTF-8 is shown with a character that no branch name has, so it is never
            # confused with another name.
            name[len(prefix) :].decode("utf-8", "backslashreplace"): oid.decode()
            for name, oid in refs.items()
            if name.startswith(prefix) and oid
        }
        head = (symrefs or {}).get(b"HEAD", b"")
        self.default = head[len(prefix) :].decode("utf-8", "replace") if head.startswith(prefix) else None
        if self.default is None and (at := refs.get(b"HEAD")):
            same = [name for name, oid in self.branches.items() if oid.encode() == at]
            self.default = next(
                (name for name in ("main", "master") if name in same), same[0] if same else None
            )


class RemoteConnection:
    """Remote repository that is accessed with a credential. ``find_credential``: a function that returns the
    current credential, or raises Stopped. ``seen_host_key``: the key that an SSH server presented."""

    def __init__(
        self,
        url: str,
        find_credential: Callable[[], Credential | None],
        fetcher: Fetcher,
        *,
        local: bool,
        host_key: str | None,
    ) -> None:
        self.remote: Remote = read_remote(url, local=local)
        self.find_credential, self.fetcher = find_credential, fetcher
        self._host_key = host_key
        self.seen_host_key: str | None = None
        self._meter: Any = None
        """Counter of received bytes, with the maximum in ``most``."""

    # --- requests -------------------------------------------------------------------------------------

    def heads(self) -> RemoteBranches:
        with self._client() as client:
            found = self._translate_errors(lambda: client.get_refs(self._path))
        refs = {bytes(name): bytes(oid) for name, oid in found.refs.items() if oid}
        symrefs = {bytes(name): bytes(to) for name, to in (found.symrefs or {}).items() if to}
        return RemoteBranches(refs, symrefs)

    def fetch(self, copy: Repository, branch: str, base: str | None, *, whole: bool = False) -> str | None:
        """Fetch the commits of the branch that the copy doesn't have. Return the branch's newest commit, or None if
        the branch doesn't exist. ``base``: the last synced commit. If it is None, only the newest commit is
        fetched, without its history. If the newest commit may not descend from ``base``, it is fetched with its
        full history. ``whole``: whether to fetch the full history, regardless of the copy."""
        chosen: list[bytes] = []
        name = b"refs/heads/" + branch.encode("utf-8", "surrogateescape")
        if self.remote.scheme == "file":
            return self._look_into(copy, name)

        def wants(refs: Any, depth: int | None = None) -> list[object]:
            oid = refs.get(name)
            if not oid:
                return []
            chosen.append(bytes(oid))
            self._meter.most = MOST_RECEIVED
            return [] if copy.has(chosen[0].decode()) and not whole else [ObjectID(chosen[0])]

        depth = 1 if base is None and not whole else None
        if base is not None and not copy.has(base):
            copy.forget()  # the base isn't reachable from the copy's commits
        with self._client() as client:

            def bring() -> FetchPackResult:
                return git_packs.fetch(client, self._path, copy.repo, wants, depth, MOST_RECEIVED)

            self._translate_errors(bring)
        if not chosen:
            return None
        head = chosen[0].decode()
        copy.commit(head)
        copy.keep(head)
        return head

    def fetch_chosen(
        self, copy: Repository, choose: Callable[[dict[str, str]], Iterable[str]]
    ) -> dict[str, str]:
        """Fetch and return the commits of the chosen refs. Refs that don't point to a commit are omitted.
        ``choose``: a function that takes all refs of the remote, as commits by name, and returns the names to
        fetch."""
        chosen: dict[str, str] = {}

        def wants(refs: Any, depth: int | None = None) -> list[object]:
            known = {
                bytes(name).decode("utf-8", "backslashreplace"): bytes(oid).decode()
                for name, oid in refs.items()
                if oid
            }
            chosen.update((name, known[name]) for name in choose(known) if name in known)
            if self._meter is not None:
                self._meter.most = MOST_RECEIVED
            return [ObjectID(oid.encode()) for oid in dict.fromkeys(chosen.values()) if not copy.has(oid)]

        if self.remote.scheme == "file":
            wants(self._read_refs(copy))
        else:
            with self._client() as client:
                self._translate_errors(
                    lambda: git_packs.fetch(client, self._path, copy.repo, wants, None, MOST_RECEIVED)
                )
        return {name: oid for name, oid in chosen.items() if copy.has(oid)}

    def _look_into(self, copy: Repository, name: bytes) -> str | None:
        """Return the commit of a branch in a local repository. The copy uses the objects of that repository without
        duplicating them."""
        oid = self._read_refs(copy).get(name)
        if not oid:
            return None
        head = oid.decode()
        copy.commit(head)
        return head

    def _read_refs(self, copy: Repository) -> dict[bytes, bytes]:
        def look() -> dict[bytes, bytes]:
            with Repo(self.remote.path) as there:
                copy.borrow(str(there.object_store.path))
                return {bytes(name): bytes(oid) for name, oid in there.refs.as_dict().items()}

        return self._translate_errors(look)

    def push(
        self, copy: Repository, branch: str, commit: str, expected: str | None, above: str | None = None
    ) -> None:
        """Move the branch to ``commit`` if it is still at ``expected`` (None if it doesn't exist); otherwise, leave
        it unchanged. ``above``: a commit that the remote already has, for a new branch. Raises Stopped with MOVED
        if the branch has moved."""
        name = b"refs/heads/" + branch.encode("utf-8", "surrogateescape")

        def update(refs: Any) -> Any:
            there = refs.get(name)
            if (bytes(there) if there else None) != (expected.encode() if expected else None):
                raise Stopped(
                    Reason.MOVED,
                    "The branch was updated in the meantime. The next sync will pick up where this one stopped.",
                )
            return {name: ObjectID(commit.encode())}

        with self._client() as client:

            def pack_data(have: object, want: object, **more: object) -> Any:
                return copy.pack(commit, expected or above)

            def send() -> Any:
                return client.send_pack(self._path, update, pack_data, progress=lambda said: None)

            result = self._translate_errors(send)
        wrong = (result.ref_status or {}).get(name)
        if wrong:
            said = wrong if isinstance(wrong, str) else repr(wrong)
            raise Stopped(Reason.REFUSED, f"The repository rejected the commit: {said[:300]}")
        if expected is not None or above is None:
            copy.keep(commit)

    def answer(self, command: str) -> bytes:
        """Return an SSH server's response to a command. Raises Stopped if there is no response."""
        remote = self.remote
        with self._ssh(_MOST_ANSWERED) as vendor:
            return self._translate_errors(
                lambda: vendor.answer(remote.host, command, remote.user or "git", remote.port)
            )

    # --- connections ----------------------------------------------------------------------------------

    @contextmanager
    def _ssh(self, most: int) -> Iterator[Vendor]:
        from .ssh import Vendor

        known = self._host_key or self.seen_host_key
        vendor = Vendor(self.find_credential(), self._address, known, most)
        try:
            with deadlines.ended_by(vendor.close):
                yield vendor
        finally:
            self.seen_host_key = vendor.seen or self.seen_host_key
            vendor.close()

    @property
    def _path(self) -> bytes:
        return self.remote.path.encode("utf-8", "surrogateescape")

    @contextmanager
    def _client(self) -> Iterator[GitClient]:
        deadlines.check()
        if self.remote.scheme == "file":
            yield LocalGitClient(quiet=True)
        elif self.remote.scheme == "ssh":
            with self._ssh(MOST_SAID) as vendor:
                self._meter = vendor
                yield SSHGitClient(
                    self.remote.host, self.remote.port, self.remote.user or "git", vendor=vendor, quiet=True
                )
        else:
            self._meter = pool = GuardedPool(self._http_address, MOST_SAID)
            credential = self.find_credential()
            try:
                with deadlines.ended_by(pool.cut):
                    yield Urllib3HttpGitClient(
                        self.remote.url,
                        dumb=False,
                        pool_manager=pool,
                        username=credential.user_at(self.remote.host) if credential else None,
                        password=credential.secret if credential else None,
                        quiet=True,
                    )
            finally:
                pool.clear()

    def _http_address(self, url: str) -> str:
        try:
            return self.fetcher.check_url(url).addresses[0]
        except FetchError as error:
            raise GitRefused(error.message) from None

    def _address(self, host: str, port: int) -> str:
        """Return the IP address of an SSH server if the rules for outgoing requests allow it."""
        return self._http_address(f"https://{write_authority(host, port)}/")

    def _translate_errors(self, ask: Callable[[], T]) -> T:
        where = self.remote.url
        try:
            try:
                return ask()
            except Exception:
                deadlines.check()  # a request that times out ends with a closed connection
                raise
        except NotGitRepository:
            raise Stopped(
                Reason.UNREACHABLE,
                f"{where} isn't a Git repository, or this credential doesn't have access to it. Check the URL"
                " and the credential.",
            ) from None
        except HTTPUnauthorized:
            raise Stopped(
                Reason.UNAUTHORIZED, f"{where} rejected the credential. Enter a valid credential."
            ) from None
        except SendPackError as error:
            raise Stopped(Reason.REFUSED, f"{where} rejected the commit: {str(error)[:300]}") from None
        except GitRefused as error:
            reason = Reason.TOO_LARGE if isinstance(error, RepositoryTooLarge) else Reason.UNREACHABLE
            raise Stopped(reason, str(error)) from None
        except (GitProtocolError, HangupException, urllib3.exceptions.HTTPError, FileLocked) as error:
            message = str(error) or type(error).__name__
            if "401" in message or "403" in message:
                raise Stopped(Reason.UNAUTHORIZED, f"{where} denied access: {message[:300]}") from None
            raise Stopped(Reason.UNREACHABLE, f"{where}: {message[:300]}") from None
        except (*git_packs.DAMAGES, KeyError, AssertionError, OSError, ValueError) as error:
            message = f"{where} didn't respond like a Git repository ({type(error).__name__}). Check the URL."
            raise Stopped(Reason.UNREACHABLE, message) from None
