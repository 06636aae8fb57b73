"""Reasons for failed or stopped syncs."""

from __future__ import annotations

import re
from enum import Enum

_UNWELCOME = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Reason(Enum):
    """Reason for a failed sync, with its value in the API. After a failure for a reason in ``DECIDED``, the sync
    waits for a person's decision; after any other failure, it is retried."""

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
"""Reasons for stopping a sync because the repository changed so much that continuing could discard people's edits."""


def clean(text: str) -> str:
    """Return another program's text after removing invalid characters and characters that databases reject."""
    return _UNWELCOME.sub("", text.encode("utf-8", "replace").decode())


class Stopped(Exception):
    """Raised if a sync can't continue. The message is shown to people, and must not contain secrets."""

    def __init__(self, reason: Reason, message: str) -> None:
        message = clean(message)
        super().__init__(message)
        self.reason = reason
        self.message = message
