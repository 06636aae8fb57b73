"""Everything a caller can be told went wrong: one class per HTTP status, one envelope on the wire."""

from __future__ import annotations


class OctavoError(Exception):
    """Answered as ``{"error": {"code": <status>, "message": <message>}}``."""

    status = 500

    def __init__(self, message: str, **headers: str) -> None:
        super().__init__(message)
        self.message = message
        self.headers = headers


class BadRequest(OctavoError):
    status = 400


class Unauthorized(OctavoError):
    status = 401


class NotSignedIn(Unauthorized):
    """Nobody calls, or with a token that proves nothing: the header Authorization decides, or the session cookie."""


class Forbidden(OctavoError):
    status = 403


class NotFound(OctavoError):
    status = 404


class MethodNotAllowed(OctavoError):
    status = 405


class RequestTimeout(OctavoError):
    """The body of the request arrived too slowly."""

    status = 408


class Conflict(OctavoError):
    """The request would change nothing, or somebody else changed the same thing first."""

    status = 409


class PreconditionFailed(OctavoError):
    status = 412


class TooLarge(OctavoError):
    status = 413


class UriTooLong(OctavoError):
    status = 414


class TooManyRequests(OctavoError):
    status = 429


class Unavailable(OctavoError):
    """A part the operation needs is not configured or not reachable."""

    status = 503


class Damaged(Unavailable):
    """The database is damaged: what can still be read is shown, and nothing is written."""

    def __init__(self) -> None:
        super().__init__("The database is damaged. Nothing was changed; restore it from a backup.")


class OutOfReach(Unavailable):
    """The database or the file store does not work just now; the same request may work in a moment."""

    def __init__(self, message: str) -> None:
        super().__init__(message, **{"retry-after": "5"})


class OutOfRoom(OutOfReach):
    """A disk is full. What is there can still be read."""

    def __init__(self) -> None:
        super().__init__(
            "The disk of this installation is full. Nothing was changed; try again once there is room."
        )
