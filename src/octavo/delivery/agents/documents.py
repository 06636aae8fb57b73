"""Clients whose ID is the https URL of a document that describes them (OAuth Client ID Metadata Document,
part of the Model Context Protocol since version 2025-11-25)."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import unquote

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from octavo.core.url_parts import host_of, read_address
from octavo.errors import BadRequest
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.http.edge import Request
from octavo.kit.http.proxies import address_key
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits

from . import store
from .connecting import Unusable, check_redirect

LONGEST = 500
"""Maximum number of characters in a URL used as a client ID."""
_LIMITS = Limits(size=16 * 1024, seconds=5, follow=False)
"""Limits for fetching a document. Redirects are rejected, because the document must be at exactly the URL that is
the client ID."""
_MINUTE = 60_000
_SHORTEST, _USUAL, _LONGEST = 5 * _MINUTE, 60 * _MINUTE, DAY
"""Milliseconds for which a document is valid: the minimum, the default if the response doesn't specify a time, and the
maximum."""
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?(\d{1,9})", re.I)
_FRESH = re.compile(r"(?:^|[\s,])(?:no-store|no-cache)\b", re.I)


class _Document(Struct):
    """Client metadata document. ``proves``: the client's authentication method at the token endpoint. Other
    fields are ignored."""

    client_id: str
    client_name: Annotated[str, Meta(min_length=1)]
    redirect_uris: Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(min_length=1, max_length=50)]
    proves: str = field(name="token_endpoint_auth_method", default="none")
    client_secret: msgspec.Raw | UnsetType = UNSET
    client_secret_expires_at: msgspec.Raw | UnsetType = UNSET


_documents = msgspec.json.Decoder(_Document)


def is_document(client_id: str) -> bool:
    """Return whether a client ID is a URL rather than an ID issued by this server."""
    return client_id.lower().startswith("https:")


class Documents:
    """Lookup of clients by URL, with a cache of their documents."""

    def __init__(self, context: Context) -> None:
        self._context = context
        settings = context.settings
        self._fetcher = Fetcher(settings.allow_private_fetch)
        # A document that a user publishes on this server must not make an app look as if it came from the
        # server administrator.
        self._own = {host_of(settings.url), host_of(settings.sites_url)}

    def find(self, client_id: str, request: Request) -> store.ClientRow:
        """Return the client described at the URL ``client_id``. Raises Unusable if the URL has no document that
        describes a client, and Busy or TooManyRequests if too many documents are being fetched."""
        self._check(client_id)
        with self._context.db.read() as tx:
            known = store.find_client(tx, client_id)
        if known is not None and (known.fresh_until or 0) > now():
            return known
        self._context.document_fetches.count(address_key(request.client))
        with self._context.documents.place(request.owner, _LIMITS.seconds):
            try:
                answer = self._fetcher.fetch(
                    client_id, headers={"Accept": "application/json"}, limits=_LIMITS
                )
            except FetchError as error:
                raise Unusable(
                    f"client_id: the document at this URL couldn't be fetched ({error.message})"
                ) from None
        document = _read(client_id, answer)
        name = " ".join(document.client_name.replace("\0", "").split())[:100]
        client = store.ClientRow(
            client_id, name or "Unnamed app", tuple(document.redirect_uris), _until(answer)
        )
        with self._context.db.write() as tx:
            store.make_room(tx)
            store.put_client(tx, client)
        return client

    def _check(self, client_id: str) -> None:
        found = read_address(client_id)
        steps = unquote(found.path).split("/") if found is not None else []
        if (
            found is None
            or len(client_id) > LONGEST
            or not client_id.isascii()
            or any(ord(char) <= 32 or ord(char) == 127 for char in client_id)
            or found.scheme != "https"
            or not found.host
            or "@" in found.authority
            or "#" in client_id
            or "\\" in client_id
            or found.path in ("", "/")
            or "." in steps
            or ".." in steps
        ):
            raise Unusable(
                "client_id: must be an https URL with a path, and without a fragment, username, or dot"
                " segments"
            )
        if found.host in self._own:
            raise Unusable("client_id: must not be a URL on this server")


def _read(client_id: str, answer: Fetched) -> _Document:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.status != 200:
        raise Unusable(
            "client_id: the document at this URL can't be read, because the server responded with status"
            f" {answer.status}"
        )
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Unusable("client_id: the document at this URL must have the content type application/json")
    try:
        document = _documents.decode(answer.body)
        for address in document.redirect_uris:
            check_redirect(address)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unusable(f"client_id: the document at this URL isn't valid client metadata ({error})") from None
    except BadRequest as error:
        raise Unusable(
            f"client_id: the document at this URL isn't valid client metadata ({error.message})"
        ) from None
    if document.client_id != client_id:
        raise Unusable("client_id: the document at this URL belongs to another app")
    if document.client_secret is not UNSET or document.client_secret_expires_at is not UNSET:
        raise Unusable(
            "client_id: the document at this URL is public but contains a secret. Remove the secret."
        )
    if document.proves != "none":
        raise Unusable("client_id: the document at this URL must set token_endpoint_auth_method to none")
    return document


def _until(answer: Fetched) -> int:
    caching = answer.headers.get("cache-control", "")
    age = _MAX_AGE.search(caching)
    lasts = int(age[1]) * 1000 if age is not None else _USUAL
    return now() + (_SHORTEST if _FRESH.search(caching) else min(max(lasts, _SHORTEST), _LONGEST))
