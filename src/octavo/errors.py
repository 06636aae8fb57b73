"""Errors for callers: one class for each HTTP status or reason, in one format."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Self

_FIELD = re.compile(r"([A-Za-z][\w.\[\]-]*): ")


def format_size(size: int) -> str:
    """Return a size in bytes for a message.

    >>> format_size(16 * 1024**2), format_size(1_500)
    ('16 MB', '1,500 bytes')
    """
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} bytes"


class OctavoError(Exception):
    """Error that is answered as ``{"error": {"code", "message", "reason", "field"}}``.

    ``status`` is the HTTP status. ``reason`` says in one stable word what happened: scripts compare it, never the
    message. ``headers`` are sent with the answer. ``beside``: further members of the answer, next to ``error``.
    """

    status: ClassVar[int] = 500
    reason: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **headers: str) -> None:
        super().__init__(message)
        self.message = message
        self.headers = headers
        self.beside: dict[str, Any] = {}

    @property
    def field(self) -> str | None:
        """Return the path of the field that the message begins with, such as ``document.markdown``; None without one.

        >>> BadRequest("changes[0].title: this field is required").field
        'changes[0].title'
        """
        match = _FIELD.match(self.message)
        return match[1] if match else None

    def with_message(self, message: str) -> Self:
        """Return the same error with another message."""
        # Not copy.copy: it calls the class, and some of them take no message.
        changed = type(self).__new__(type(self), message)
        changed.__dict__.update(self.__dict__, message=message)
        return changed

    def inside(self, path: str) -> Self:
        """Return the same error about a part of a larger body: ``path`` goes before its field.

        >>> BadRequest("title: this field is required").inside("changes[0]").message
        'changes[0].title: this field is required'
        """
        return self.with_message(f"{path}{'.' if self.field else ': '}{self.message}")


class BadRequest(OctavoError):
    status = 400
    reason = "invalid"


class MissingField(BadRequest):
    """A required field or parameter is missing."""

    reason = "required"


class UnknownField(BadRequest):
    """A field or parameter that the operation does not have."""

    reason = "unknown_field"


class Unauthorized(OctavoError):
    status = 401
    reason = "unauthorized"


class NotSignedIn(Unauthorized):
    """The request has no valid token in the header Authorization and no valid session cookie."""

    reason = "sign_in_required"


class Forbidden(OctavoError):
    status = 403
    reason = "forbidden"


class ProofRequired(Forbidden):
    """The caller has to confirm their identity again first (``POST /user/proof``)."""

    reason = "proof_required"


class NotFound(OctavoError):
    status = 404
    reason = "not_found"


class BlockNotFound(NotFound):
    """An edit of a page names a block that the page does not have, or no longer has."""

    reason = "block_not_found"


class MethodNotAllowed(OctavoError):
    status = 405
    reason = "method_not_allowed"


class RequestTimeout(OctavoError):
    """The body of the request arrived too slowly."""

    status = 408
    reason = "request_timeout"


class Conflict(OctavoError):
    """The request would change nothing, or someone else changed the same thing first."""

    status = 409
    reason = "conflict"


class NoLongerKept(OctavoError):
    """What the request builds on is no longer kept: start again from the current state."""

    status = 410
    reason = "gone"


class PreconditionFailed(OctavoError):
    status = 412
    reason = "precondition_failed"


class TooLarge(OctavoError):
    status = 413
    reason = "too_large"


class UriTooLong(OctavoError):
    status = 414
    reason = "uri_too_long"


class Unprocessable(OctavoError):
    """The request is well formed, but does not fit what it is about."""

    status = 422
    reason = "unprocessable"


class TooManyRequests(OctavoError):
    status = 429
    reason = "too_many_requests"


class BadGateway(OctavoError):
    """Another server that the operation needs gave no usable answer."""

    status = 502
    reason = "bad_gateway"


class Unavailable(OctavoError):
    """A part that the operation needs is not configured or not reachable."""

    status = 503
    reason = "unavailable"


class Damaged(Unavailable):
    """The database is damaged: what can still be read is shown, and nothing is written."""

    reason = "database_damaged"

    def __init__(self) -> None:
        super().__init__("The database is damaged. Nothing was changed; restore it from a backup.")


class OutOfReach(Unavailable):
    """The database or the file store does not respond; the same request may work in a moment."""

    reason = "temporarily_unavailable"

    def __init__(self, message: str) -> None:
        super().__init__(message, **{"retry-after": "5"})


class OutOfRoom(OutOfReach):
    """A disk is full. Reading still works."""

    reason = "disk_full"

    def __init__(self) -> None:
        super().__init__("The server's disk is full. Nothing was changed; free some space and try again.")
