"""Email over SMTP. Jobs send plain-text emails, one at a time."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid, parseaddr
from types import MappingProxyType
from urllib.parse import unquote

from octavo.core.url_parts import UrlParts, read_address
from octavo.errors import Unavailable
from octavo.kit.clock import DAY, now
from octavo.kit.db.allowances import count_more, key_of, spend
from octavo.kit.db.database import Transaction
from octavo.kit.observability import tracing
from octavo.kit.scheduling.permits import waiting
from octavo.kit.tls import outgoing_tls
from octavo.settings import Settings

_SECONDS = 30


def allow(tx: Transaction, settings: Settings, address: str) -> None:
    """Count an email that is about to be sent to an address. Raises TooManyRequests if the address's daily limit is
    exceeded."""
    most = settings.mails_per_day
    message = f"{address}: the daily limit of {most} emails to this address was reached. Try again tomorrow."
    spend(tx, "mails", address.strip().lower(), most, message)


def uncount(tx: Transaction, address: str) -> None:
    """Subtract an email that couldn't be sent from the count for its address."""
    count_more(tx, key_of("day", "mails", address.strip().lower()), DAY, -1)


def send(
    settings: Settings,
    *,
    to: str,
    subject: str,
    text: str,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Send one email through the mail server in the settings. Its URL is ``smtp://user:password@host:port``, or
    ``smtps://`` for TLS from the start.

    ``headers``: additional headers. Over ``smtp``, TLS is used if the server offers it, and the settings can require
    it. Raises Unavailable if the email can't be sent.
    """
    parts = read_address(settings.smtp_url)
    if parts is None or parts.scheme not in ("smtp", "smtps") or not parts.host:
        raise Unavailable("OCTAVO_SMTP_URL: must be smtp://user:password@host:port")
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.mail_from, to, subject
    # Receiving servers treat email without these headers as spam, and not every sending server adds them.
    message["Date"] = format_datetime(datetime.fromtimestamp(now() / 1000, UTC))
    _, address = parseaddr(settings.mail_from)
    message["Message-ID"] = make_msgid(domain=address.rpartition("@")[2] or parts.host)
    for name, value in headers.items():
        message[name] = value
    message.set_content(text)
    tls = outgoing_tls()
    try:
        with tracing.part("send mail", "client", {"server.address": parts.host}), waiting():
            _send(parts, tls, message, require_tls=settings.smtp_require_tls)
    except (OSError, smtplib.SMTPException) as error:
        raise Unavailable(f"Email couldn't be sent through {parts.host}: {error}") from None


def _send(parts: UrlParts, tls: ssl.SSLContext, message: EmailMessage, *, require_tls: bool) -> None:
    connection = (
        smtplib.SMTP_SSL(parts.host, parts.port or 465, timeout=_SECONDS, context=tls)
        if parts.scheme == "smtps"
        else smtplib.SMTP(parts.host, parts.port or 587, timeout=_SECONDS)
    )
    with connection:
        connection.ehlo()
        if parts.scheme == "smtp" and connection.has_extn("starttls"):
            connection.starttls(context=tls)
        elif parts.scheme == "smtp" and require_tls:
            raise smtplib.SMTPNotSupportedError(
                "the server doesn't support STARTTLS, but OCTAVO_SMTP_REQUIRE_TLS requires it"
            )
        if parts.username:
            connection.login(unquote(parts.username), unquote(parts.password or ""))
        connection.send_message(message)
