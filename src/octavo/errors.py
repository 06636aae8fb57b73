"""Errors for callers: one class for each HTTP status or reason. All errors have the same format."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Self, TypeVar

T = TypeVar("T")

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
    """Error that is returned as ``{"error": {"code", "message", "reason", "field"}}``.

    ``status``: the HTTP status. ``reason``: a stable word for the cause, which scripts compare instead of the
    message. ``headers``: the headers of the response. ``beside``: the members of the response in addition to
    ``error``.
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
        """Return the path of the field that the message begins with, such as ``document.markdown``; None if
        there is none.

        >>> BadRequest("changes[0].title: this field is required").field
        'changes[0].title'
        """
        match = _FIELD.match(self.message)
        return match[1] if match else None

    def with_message(self, message: str) -> Self:
        """Return the same error with another message."""
        # This does not use copy.copy, which calls the class: some classes take no message.
        changed = type(self).__new__(type(self), message)
        changed.__dict__.update(self.__dict__, message=message)
        return changed

    def inside(self, path: str) -> Self:
        """Return the same error for a part of a larger body. ``path``: the path of the part, which becomes a prefix
        of the field's path.

        >>> BadRequest("title: this field is required").inside("changes[0]").message
        'changes[0].title: this field is required'
        """
        return self.with_message(f"{path}{'.' if self.field else ': '}{self.message}")


class BadRequest(OctavoError):
    status = 400
    reason = "invalid"


class MissingField(BadRequest):
    """Raised if a required field or parameter is missing."""

    reason = "required"


class UnknownField(BadRequest):
    """Raised if a field or parameter doesn't exist in the operation."""

    reason = "unknown_field"


class Unauthorized(OctavoError):
    status = 401
    reason = "unauthorized"


class NotSignedIn(Unauthorized):
    """Raised if the request has no valid token in the Authorization header and no valid session cookie."""

    reason = "sign_in_required"


class Forbidden(OctavoError):
    status = 403
    reason = "forbidden"


class ProofRequired(Forbidden):
    """Raised if the caller must first confirm their identity again (``POST /user/proof``)."""

    reason = "proof_required"


class LimitReached(Forbidden):
    """Raised if an organization has reached a limit set by the server administrator."""

    reason = "limit_reached"


class NotFound(OctavoError):
    status = 404
    reason = "not_found"


def require_found(found: T | None, message: str) -> T:
    """Return an object that was looked up. Raises NotFound if it is None."""
    if found is None:
        raise NotFound(message)
    return found


class BlockNotFound(NotFound):
    """Raised if an edit refers to a block that the page doesn't contain or no longer contains."""

    reason = "block_not_found"


class MethodNotAllowed(OctavoError):
    status = 405
    reason = "method_not_allowed"


class RequestTimeout(OctavoError):
    """Raised if the body of the request arrived too slowly."""

    status = 408
    reason = "request_timeout"


class Conflict(OctavoError):
    """Raised if the request conflicts with the current state, for example because someone else changed the
    same content first."""

    status = 409
    reason = "conflict"


class NoLongerStored(OctavoError):
    """Raised if the state that the request is based on is no longer stored. The client must start over from the
    current state."""

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
    """Raised if the request is well formed, but can't be applied to its object."""

    status = 422
    reason = "unprocessable"


class TooManyRequests(OctavoError):
    status = 429
    reason = "too_many_requests"


class BadGateway(OctavoError):
    """Raised if another server that the operation needs returned no usable response."""

    status = 502
    reason = "bad_gateway"


class Unavailable(OctavoError):
    """Raised if a service that the operation needs isn't configured or can't be reached."""

    status = 503
    reason = "unavailable"


class Damaged(Unavailable):
    """Raised if the database is damaged. Readable data can still be read, but nothing is written."""

    reason = "database_damaged"

    def __init__(self) -> None:
        super().__init__("The database is damaged. Nothing was changed; restore it from a backup.")


class TemporarilyUnavailable(Unavailable):
    """Raised if the database or the file store doesn't respond. The same request may succeed a moment later."""

    reason = "temporarily_unavailable"

    def __init__(self, message: str) -> None:
        super().__init__(message, **{"retry-after": "5"})


class DiskFull(TemporarilyUnavailable):
    """Raised if a disk is full. Read operations still work."""

    reason = "disk_full"

    def __init__(self) -> None:
        super().__init__("The server's disk is full. Nothing was changed; free some space and try again.")
