"""Files addressed by their SHA-256 hash, in a folder or an S3 bucket, and links to them.

Bytes are durable when ``put`` returns. The row that refers to the bytes is written afterward, so a crash may leave
bytes without a row, but never a row without bytes. Names, types, and owners are only in the database.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, unquote

import msgspec
import obstore
from msgspec import Struct
from obstore.exceptions import BaseError
from obstore.store import LocalStore, S3Store

from octavo.core.file_types import BROWSER_TYPES
from octavo.core.url_parts import own_address, read_address
from octavo.errors import DiskFull, NotFound, TemporarilyUnavailable, TooLarge, Unavailable, format_size
from octavo.kit.observability import tracing
from octavo.kit.scheduling.permits import waiting
from octavo.kit.secrets.signing import Signer

from .clock import now
from .private_files import flush_to_disk, make_private_tree

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config, S3Credential

log = logging.getLogger("octavo.files")

CHUNK = 256 * 1024
_SPOOL = 4 * 1024 * 1024
_HASH = re.compile(r"[0-9a-f]{64}")

# Types that a page could load and run as a script, a style sheet, a worker, or a document. SVG stays an
# image: it runs nothing in a page, and is downloaded when opened by itself.
_RUNS = re.compile(r"javascript|ecmascript|wasm|html|text/css|xslt|/xml\b|(?<!svg)\+xml\b", re.I)
_PUBLIC_SECONDS = 3600


class Blob(NamedTuple):
    """Stored bytes. ``hash``: 64 lowercase hex digits. ``size``: the number of bytes."""

    hash: str
    size: int


class FileGrant(Struct, frozen=True, omit_defaults=True):
    """Permission that a link grants to download these bytes with this name and type.

    ``good_until``: the expiration of the link in milliseconds; None if the file wasn't requested by a link.
    """

    hash: str
    name: str
    content_type: str
    good_until: int | None = None


_S3_CODE = re.compile(r"<Code>(\w+)</Code>")
"""Error code of an object store."""
_PROBE_SECONDS = 5
"""Number of seconds within which an object store must respond to a probe."""


class FileStore:
    """File store, created by ``open_store``. It is thread-safe."""

    def __init__(
        self,
        store: LocalStore | S3Store,
        signing: Signer,
        folder: Path | None,
        s3: _S3Links | None,
        probe: LocalStore | S3Store | None = None,
    ) -> None:
        """Create a file store. ``probe``: the same store with short timeouts, for checking whether it is reachable."""
        self._store = store
        self._probe = probe or store
        self._signing = signing
        self._folder = folder
        self._s3 = s3

    def require_reachable(self) -> None:
        """Check that the store is reachable by listing a name that never exists. Raises Unavailable with
        the problem if it isn't reachable."""
        try:
            obstore.list_with_delimiter(self._probe, "octavo")
        except (BaseError, OSError) as error:
            raise Unavailable(f"OCTAVO_FILES_URL: {self._summarize_error(str(error))}") from None

    def _summarize_error(self, message: str) -> str:
        """Return the first line of an error message. The library's message also contains the store's response and a
        dump of the whole request."""
        if isinstance(self._store, LocalStore):
            return _first_line(message)
        bucket = self._store.config.get("bucket", "")
        said = _S3_CODE.search(message)
        if said is not None and said[1] == "NoSuchBucket":
            return f"there is no bucket {bucket!r} in the object store. Create it first."
        if said is not None:
            return f"the object store denied access to the bucket {bucket!r}: {said[1]}"
        if "HTTP error: " in message:
            where = self._store.config.get("endpoint", "AWS")
            why = _first_line(message).rpartition("HTTP error: ")[2]
            return f"the object store at {where} didn't respond: {why}"
        return _first_line(message)

    def put(self, source: bytes | BinaryIO | Iterable[bytes], limit: int | None = None) -> Blob:
        """Store bytes. Bytes that already exist aren't stored again.

        Raises TooLarge, without storing any data, if there are more than ``limit`` bytes, and Unavailable if the
        store is unreachable.
        """
        digest = hashlib.sha256()
        size = 0
        with store_errors(), tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            for chunk in _chunks(source):
                size += len(chunk)
                if limit is not None and size > limit:
                    raise TooLarge(f"file: must be at most {format_size(limit)}")
                digest.update(chunk)
                spool.write(chunk)
            blob = Blob(digest.hexdigest(), size)
            if self.find_size(blob.hash) != size:
                spool.seek(0)
                with self._asking("put file"):
                    obstore.put(self._store, _key(blob.hash), spool)
            self._sync(blob.hash)
        return blob

    def _sync(self, hash: str) -> None:
        # The folder store renames complete files into place and leaves the rest to the page cache.
        if self._folder is None:
            return
        path = self._folder / _key(hash)
        for part in (path, path.parent, self._folder):
            flush_to_disk(part)

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Trace a request to a remote store, and let other threads compute while it runs."""
        if self._s3 is None:
            yield
            return
        with tracing.part(what, "client"), waiting():
            yield

    def open(self, hash: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield chunks of the bytes from ``start`` to ``end`` (exclusive). If the file doesn't exist,
        raises NotFound immediately."""
        with store_errors(), self._asking("get file"):
            if start == 0 and end is None:
                found = obstore.get(self._store, _key(hash))
            elif end is None:
                found = obstore.get(self._store, _key(hash), options={"range": {"offset": start}})
            else:
                found = obstore.get(self._store, _key(hash), options={"range": (start, end)})
        return _stream(found)

    def read(self, hash: str) -> bytes:
        """Return all bytes of a file, which must be small. Raises NotFound if it doesn't exist."""
        return b"".join(self.open(hash))

    def find_size(self, hash: str) -> int | None:
        try:
            with store_errors(), self._asking("look for file"):
                return obstore.head(self._store, _key(hash))["size"]
        except NotFound:
            return None

    def exists(self, hash: str) -> bool:
        return self.find_size(hash) is not None

    def delete(self, hash: str) -> None:
        """Delete a file if it exists."""
        try:
            with store_errors(), self._asking("delete file"):
                obstore.delete(self._store, _key(hash))
        except NotFound:
            pass

    def list_all(self) -> Iterator[tuple[str, int, int]]:
        """Yield each stored file's hash, size in bytes, and time of storage in milliseconds."""
        with store_errors():
            for found in obstore.list(self._store):
                for entry in found:
                    name = entry["path"].rpartition("/")[2]
                    if _HASH.fullmatch(name):
                        yield name, entry["size"], round(entry["last_modified"].timestamp() * 1000)

    def link(self, purpose: str, grant: FileGrant, expires: int) -> str:
        """Return a link to the bytes, valid until ``expires`` (milliseconds).

        On S3 with keys in the environment, the link is a presigned https URL (valid for at most seven days);
        otherwise, it is a path ``/files/<token>/<name>``, whose token ``verify`` accepts for the same purpose.
        """
        if self._s3 is not None:
            return self._s3.presign(_key(grant.hash), expires, file_headers(grant))
        token = self._signing.sign(f"file:{purpose}", msgspec.json.encode(grant).decode(), expires)
        return f"/files/{token}/{quote(grant.name, safe='')}"

    def verify(self, purpose: str, token: str) -> FileGrant | None:
        """Return the grant in the token of a ``/files/`` path; None if the token is invalid or has expired."""
        signed = self._signing.read(f"file:{purpose}", token)
        if signed is None:
            return None
        grant = msgspec.json.decode(signed.payload, type=FileGrant)
        return msgspec.structs.replace(grant, good_until=signed.expires)


def open_store(
    url: str, signing: Signer, environ: Mapping[str, str] = os.environ, *, direct: bool = True
) -> FileStore:
    """Open the file store at ``file:///folder`` (created if missing) or ``s3://bucket/prefix``. ``direct``: whether
    links point to the bucket itself.

    The S3 endpoint, region, and keys come from the usual ``AWS_*`` variables. Raises Unavailable if the store can't
    be opened.
    """
    parts = read_address(url)
    if parts is not None and parts.scheme == "file" and not parts.authority and parts.path:
        folder = Path(unquote(parts.path))
        try:
            make_private_tree(folder)
        except OSError as error:
            raise Unavailable(f"files {url}: {error}") from None
        return FileStore(LocalStore(folder), signing, folder, None)
    if parts is not None and parts.scheme == "s3" and parts.authority:
        prefix = parts.path.strip("/")
        links = _S3Links.from_environment(parts.authority, prefix, environ)

        def connect(seconds: int, retries: int) -> S3Store:
            return _bucket(links, seconds, retries)

        presigning = links if direct and links.key and links.secret else None
        return FileStore(connect(60, 3), signing, None, presigning, probe=connect(_PROBE_SECONDS, 0))
    raise Unavailable(f"OCTAVO_FILES_URL: must be file:///folder or s3://bucket/prefix, not {url!r}")


def open_bucket(url: str, environ: Mapping[str, str] = os.environ) -> S3Store:
    """Open ``s3://bucket/prefix`` for callers that choose the file names themselves. Raises Unavailable if it can't
    be opened."""
    parts = read_address(url)
    if parts is None or parts.scheme != "s3" or not parts.authority:
        raise Unavailable(f"must be s3://bucket/prefix, not {url!r}")
    prefix = parts.path.strip("/")
    return _bucket(_S3Links.from_environment(parts.authority, prefix, environ), 60, 3)


def _bucket(links: _S3Links, seconds: int, retries: int) -> S3Store:
    options: S3Config = {"region": links.region, "virtual_hosted_style_request": links.endpoint is None}
    if links.endpoint:
        endpoint = read_address(links.endpoint)
        if endpoint is None or not endpoint.is_web:
            raise Unavailable(f"AWS_ENDPOINT_URL: must be http(s)://host, not {links.endpoint!r}")
        options["endpoint"] = links.endpoint
    client: ClientConfig = {
        "allow_http": (links.endpoint or "").startswith("http://"),
        "connect_timeout": "5s",
        "timeout": f"{seconds}s",
    }
    return S3Store(
        links.bucket,
        prefix=links.prefix or None,
        config=options,
        client_options=client,
        retry_config={"max_retries": retries, "retry_timeout": timedelta(seconds=10)},
        # Otherwise the library finds keys itself: in the environment of the process, or from the machine's
        # role.
        credential_provider=links.credential if links.keys_given else None,
    )


def file_headers(grant: FileGrant, *, public: bool = False) -> dict[str, str]:
    """Return headers that make an upload harmless: browsers download it unless it is a raster image or a PDF,
    content sniffing is off, and the content type is never executable.

    Browsers cache the file only while the link is valid. ``public``: whether all caches can keep the file for an
    hour, because the file is public and its URL changes when its bytes change.
    """
    kind = "inline" if grant.content_type in BROWSER_TYPES else "attachment"
    ascii_name = re.sub(r"[^\w. ()-]", "_", grant.name, flags=re.ASCII) or "file"
    if public:
        cache = f"public, max-age={_PUBLIC_SECONDS}"
    elif grant.good_until is not None:
        cache = f"private, max-age={max(0, (grant.good_until - now()) // 1000)}"
    else:
        cache = "private, no-cache"
    return {
        "Content-Type": "text/plain; charset=utf-8"
        if _RUNS.search(grant.content_type)
        else grant.content_type,
        "Content-Disposition": f"{kind}; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(grant.name, safe='')}",
        "Cache-Control": cache,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    }


def _key(hash: str) -> str:
    if not _HASH.fullmatch(hash):
        raise NotFound("This file doesn't exist.")
    return f"{hash[:2]}/{hash}"


def _chunks(source: bytes | BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
    elif hasattr(source, "read"):
        while chunk := source.read(CHUNK):
            yield chunk
    else:
        yield from source


def _stream(found: obstore.GetResult) -> Iterator[bytes]:
    with store_errors():
        for chunk in found.stream(min_chunk_size=CHUNK):
            yield bytes(chunk)


def _first_line(message: str) -> str:
    return message.partition("\n")[0][:300]


@contextmanager
def store_errors() -> Iterator[None]:
    """Convert the errors of a folder or bucket to Octavo's errors: NotFound, DiskFull, or
    TemporarilyUnavailable."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound("This file doesn't exist.") from None
    except (BaseError, OSError) as error:
        log.error("files: %s", _first_line(str(error)))
        if getattr(error, "errno", None) == errno.ENOSPC or os.strerror(errno.ENOSPC) in str(error):
            raise DiskFull from error
        raise TemporarilyUnavailable(
            "The file store can't be reached right now. Try again in a moment."
        ) from error


class _S3Links(NamedTuple):
    """Presigned GET requests (AWS Signature Version 4 in the query string) that include the file name and content
    type.

    obstore can only sign URLs without parameters. If ``response-content-type`` weren't in the signature, every file
    would have the type that its first uploader specified.
    """

    bucket: str
    prefix: str
    endpoint: str | None
    region: str
    key: str
    secret: str
    session: str
    keys_given: bool
    """Whether the store has its own keys, other than those of the process."""

    @classmethod
    def from_environment(cls, bucket: str, prefix: str, environ: Mapping[str, str]) -> _S3Links:
        def first(*names: str) -> str:
            return next((environ[name] for name in names if environ.get(name)), "")

        return cls(
            bucket=bucket,
            prefix=prefix,
            endpoint=first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL").rstrip("/") or None,
            region=first("AWS_REGION", "AWS_DEFAULT_REGION") or "us-east-1",
            key=first("AWS_ACCESS_KEY_ID"),
            secret=first("AWS_SECRET_ACCESS_KEY"),
            session=first("AWS_SESSION_TOKEN"),
            keys_given=environ is not os.environ and bool(environ.get("AWS_ACCESS_KEY_ID")),
        )

    def credential(self) -> S3Credential:
        return {
            "access_key_id": self.key,
            "secret_access_key": self.secret,
            "token": self.session or None,
            "expires_at": None,
        }

    def presign(self, key: str, expires: int, headers: Mapping[str, str]) -> str:
        moment = now()
        path = quote("/" + "/".join(part for part in (self.prefix, key) if part))
        if self.endpoint is None:
            base = f"https://{self.bucket}.s3.{self.region}.amazonaws.com"
        else:
            base = self.endpoint
            path = f"{own_address(base).path}/{quote(self.bucket)}{path}"
        parts = own_address(base)
        stamp = datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/{self.region}/s3/aws4_request"
        query = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self.key}/{scope}",
            "X-Amz-Date": stamp,
            "X-Amz-Expires": str(min(max((expires - moment) // 1000, 1), 7 * 24 * 3600)),
            "X-Amz-SignedHeaders": "host",
            "response-cache-control": "private",
            "response-content-disposition": headers["Content-Disposition"],
            "response-content-type": headers["Content-Type"],
            "response-expires": format_datetime(datetime.fromtimestamp(expires / 1000, UTC), usegmt=True),
        }
        if self.session:
            query["X-Amz-Security-Token"] = self.session
        encoded = "&".join(f"{name}={quote(query[name], safe='-_.~')}" for name in sorted(query))
        request = f"GET\n{path}\n{encoded}\nhost:{parts.authority}\n\nhost\nUNSIGNED-PAYLOAD"
        digest = hashlib.sha256(request.encode()).hexdigest()
        signed = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}"
        secret = f"AWS4{self.secret}".encode()
        for part in (*scope.split("/"), signed):
            secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
        return f"{parts.origin}{path}?{encoded}&X-Amz-Signature={secret.hex()}"
