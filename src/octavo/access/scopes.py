"""What a token with scopes may do, read off the table of operations.

``read``: every GET. ``write``: everything outside the area ``access``. ``admin``: everything. ``AREA:read`` and
``AREA:write``: the same within one area of the table; ``write`` holds ``read``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import BadRequest, Forbidden
from ..kit.operation import Operation
from .roles import Can

AREAS = (
    "access", "ask", "audit", "changes", "comments", "content", "conversations", "fonts", "gitsync", "imports",
    "integrations", "invitations", "openapi", "orgs", "printing", "search", "sites", "spaces",
    "translations",
)  # fmt: skip
SCOPES = frozenset(
    {"read", "write", "admin"} | {f"{area}:{verb}" for area in AREAS for verb in ("read", "write")}
)


def require_known(scopes: Iterable[str]) -> None:
    """Raises BadRequest naming a scope that there is not."""
    for scope in scopes:
        if scope not in SCOPES:
            raise BadRequest(f"scopes: {scope!r} is none of {', '.join(sorted(SCOPES))}")


def allows(scopes: frozenset[str] | None, operation: Operation) -> bool:
    """Whether a token with these scopes (None: all) may call the operation, as far as scopes go."""
    # Every token may ask whose it is, and take itself back.
    if scopes is None or "admin" in scopes or operation.needs is Can.OWN_TOKEN:
        return True
    area = operation.area
    if f"{area}:write" in scopes or ("write" in scopes and area != "access"):
        return True
    return operation.method == "GET" and ("read" in scopes or f"{area}:read" in scopes)


def require_scope(scopes: frozenset[str] | None, operation: Operation) -> None:
    if not allows(scopes, operation):
        verb = "read" if operation.method == "GET" else "write"
        raise Forbidden(f"This token lacks the scope `{operation.area}:{verb}`.")


def narrower(wanted: Iterable[str] | None, own: frozenset[str] | None) -> bool:
    """Whether a token with ``own`` scopes may give ``wanted`` to another one: never more than it has."""
    return own is None or "admin" in own or (wanted is not None and set(wanted) <= own)
