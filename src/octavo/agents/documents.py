"""Programs whose id is an https address: what is there says who they are (OAuth Client ID Metadata Document, as the
Model Context Protocol has it since 2025-11-25)."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import unquote

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from ..core.addresses import host_of, read_address
from ..errors import BadRequest
from ..kit.clock import now
from ..kit.context import Context
from ..kit.edge import Request
from ..kit.fetch import Fetched, Fetcher, FetchError, Limits
from ..kit.proxies import address_key
from . import store
from .connecting import Unusable, check_redirect

LONGEST = 500
"""Characters of an address that is an id."""
_LIMITS = Limits(size=16 * 1024, seconds=5, follow=False)
"""A redirect is refused: the document is at the very address, or the address is nobody's."""
_MINUTE = 60_000
_SHORTEST, _USUAL, _LONGEST = 5 * _MINUTE, 60 * _MINUTE, store.DAY
"""Milliseconds for which a document counts at least, where it does not say for how long, and at most."""
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?(\d{1,9})", re.I)
_FRESH = re.compile(r"(?:^|[\s,])(?:no-store|no-cache)\b", re.I)


class _Document(Struct):
    """``proves``: how the program shows the token endpoint that it is itself. What else it says is of no use here."""

    client_id: str
    client_name: Annotated[str, Meta(min_length=1)]
    redirect_uris: Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(min_length=1, max_length=50)]
    proves: str = field(name="token_endpoint_auth_method", default="none")
    client_secret: msgspec.Raw | UnsetType = UNSET
    client_secret_expires_at: msgspec.Raw | UnsetType = UNSET


_documents = msgspec.json.Decoder(_Document)


def is_document(client_id: str) -> bool:
    """Whether an id is an address, and not one that was given out here."""
    return client_id.lower().startswith("https:")


class Documents:
    """Finds the programs of addresses: what was fetched counts for a time."""

    def __init__(self, context: Context) -> None:
        self._context = context
        settings = context.settings
        self._fetcher = Fetcher(settings.allow_private_fetch)
        # What people put on their sites here would look as if it came from whoever runs this server.
        self._own = {host_of(settings.url), host_of(settings.sites_url)}

    def find(self, client_id: str, request: Request) -> store.ClientRow:
        """Raises Unusable for an address at which no program says who it is, Busy and TooManyRequests."""
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
                raise Unusable(f"client_id: the program's document cannot be had. {error.message}") from None
        document = _read(client_id, answer)
        name = " ".join(document.client_name.replace("\0", "").split())[:100]
        client = store.ClientRow(
            client_id, name or "An app without a name", tuple(document.redirect_uris), _until(answer)
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
                "client_id: expected an https address with a path, without a fragment, a user name and dots as steps."
            )
        if found.host in self._own:
            raise Unusable("client_id: an address of this server is no program.")


def _read(client_id: str, answer: Fetched) -> _Document:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.status != 200:
        raise Unusable(f"client_id: expected a document at this address; it answers {answer.status}.")
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Unusable("client_id: expected a document of the type application/json at this address.")
    try:
        document = _documents.decode(answer.body)
        for address in document.redirect_uris:
            check_redirect(address)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unusable(f"client_id: the document at this address is none of a program. {error}") from None
    except BadRequest as error:
        raise Unusable(f"client_id: the document at this address has {error.message}") from None
    if document.client_id != client_id:
        raise Unusable("client_id: the document at this address is that of another program.")
    if document.client_secret is not UNSET or document.client_secret_expires_at is not UNSET:
        raise Unusable("client_id: the document at this address has a secret, which is none any more.")
    if document.proves != "none":
        raise Unusable("client_id: only programs with the token_endpoint_auth_method none are known here.")
    return document


def _until(answer: Fetched) -> int:
    said = answer.headers.get("cache-control", "")
    age = _MAX_AGE.search(said)
    lasts = int(age[1]) * 1000 if age is not None else _USUAL
    return now() + (_SHORTEST if _FRESH.search(said) else min(max(lasts, _SHORTEST), _LONGEST))
