"""Why a sync did not go on."""

from __future__ import annotations

import re
from enum import Enum

_UNWELCOME = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Reason(Enum):
    """The value is what the API says. Those of ``DECIDED`` wait for somebody's decision; all others are tried again."""

    REWRITTEN = "rewritten"
    BRANCH_GONE = "branch_gone"
    EMPTIED = "emptied"
    HOST_KEY = "host_key_changed"
    STRUCTURE = "structure_conflict"
    UNREACHABLE = "unreachable"
    UNAUTHORIZED = "unauthorized"
    REFUSED = "push_refused"
    MOVED = "branch_moved"
    DAMAGED = "damaged"
    TOO_LARGE = "too_large"
    RIGHTS = "rights_lost"
    CONTENT = "content"
    INTERNAL = "internal"


DECIDED = frozenset({Reason.REWRITTEN, Reason.BRANCH_GONE, Reason.EMPTIED, Reason.HOST_KEY, Reason.STRUCTURE})
"""The repository is not what it was, and following it might lose what somebody wrote."""


def clean(text: str) -> str:
    """What others wrote, without signs that no text should have and no database takes."""
    return _UNWELCOME.sub("", text.encode("utf-8", "replace").decode())


class Stopped(Exception):
    """A sync that did not go on; the message is for people and holds no secret."""

    def __init__(self, reason: Reason, message: str) -> None:
        message = clean(message)
        super().__init__(message)
        self.reason = reason
        self.message = message
