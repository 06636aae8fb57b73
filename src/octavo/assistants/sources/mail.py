"""Email as a source. A mail server passes each message to `octavo receive-mail`."""

from __future__ import annotations

import email
import email.policy
import hashlib
from collections.abc import Iterable
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime
from urllib.parse import quote

from octavo.kit.clock import milliseconds
from octavo.kit.context import Context
from octavo.settings import Settings

from . import store
from .client import text_of_html
from .syncing import put_pushed
from .types import SourceRecord

MAX_MESSAGE = 25 * 1024**2
_LOCAL = "octavo@localhost"


class UnknownRecipient(Exception):
    """Raised if no connection has any of the addresses that a message was sent to."""


def mail_domain(settings: Settings) -> str | None:
    """Return the domain for which this server receives mail, which is the domain of its sender address, if one is
    configured."""
    address = getaddresses([settings.mail_from])[0][1]
    return address.rpartition("@")[2] if address and address != _LOCAL else None


def receive_mail(context: Context, data: bytes, recipients: Iterable[str] = ()) -> int:
    """Store a message as a record of each connection that it is addressed to, and return the number of
    connections.

    ``recipients``: the envelope addresses; if empty, the addresses in the headers are used. Raises UnknownRecipient
    if no connection has one of these addresses."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    wanted = list(recipients) or _addresses(message)
    names = dict.fromkeys(address.partition("@")[0].lower() for address in wanted)
    record = _record_of(message, data)
    count = 0
    with context.db.write() as tx:
        for connection in store.list_by_connector(tx, "builtin:email"):
            if connection.id.lower() in names:
                put_pushed(tx, context.settings, connection, [record])
                count += 1
    if not count:
        raise UnknownRecipient(", ".join(wanted) or "no recipient")
    return count


def _addresses(message: EmailMessage) -> list[str]:
    headers = [str(value) for name in ("delivered-to", "to", "cc") for value in message.get_all(name, [])]
    return [address for _, address in getaddresses(headers)]


def _record_of(message: EmailMessage, data: bytes) -> SourceRecord:
    """Return the record for a message. Malformed messages are accepted."""
    id = str(message.get("message-id") or "").strip("<> ") or hashlib.sha256(data).hexdigest()
    try:
        created_at = milliseconds(parsedate_to_datetime(str(message.get("date"))))
    except (ValueError, TypeError, OverflowError):
        created_at = None
    return SourceRecord(
        id=quote(id, safe="@.+-_="),
        type="ticket",
        title=str(message.get("subject") or "No subject"),
        body=_body_of(message),
        created_at=created_at,
    )


def _body_of(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = part.get_content()
    except (LookupError, ValueError, AttributeError):
        # The message names an encoding that doesn't exist.
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    return text_of_html(text) if part.get_content_type() == "text/html" else str(text)
