"""Look up the handler for a path in a tree of path segments, so that the cost of a lookup doesn't depend on the
number of routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar
from urllib.parse import unquote_to_bytes

T = TypeVar("T")


class _Node(Generic[T]):
    __slots__ = ("named", "parameter", "rest", "target")

    def __init__(self) -> None:
        self.named: dict[str, _Node[T]] = {}
        self.parameter: _Node[T] | None = None
        self.rest: tuple[T, tuple[str, ...]] | None = None
        self.target: tuple[T, tuple[str, ...]] | None = None


class Routes(Generic[T]):
    """Targets by path pattern. ``{name}`` matches one segment, and ``{name*}`` matches all remaining segments, if
    any.

    A fixed segment takes precedence over a parameter, and a parameter takes precedence over the rest of a path.

    >>> routes = Routes()
    >>> routes.add("/spaces/{spaceId}/pages", 1)
    >>> routes.add("/spaces/{spaceId}/path/{pagePath*}", 2)
    >>> routes.find(["spaces", "a", "path", "b", "c"])
    (2, {'spaceId': 'a', 'pagePath': 'b/c'})
    """

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()

    def add(self, pattern: str, target: T) -> None:
        """Add a route. Raises ValueError if the pattern already exists."""
        node = self._root
        names: list[str] = []
        for segment in pattern.strip("/").split("/") if pattern.strip("/") else ():
            if not segment.startswith("{"):
                node = node.named.setdefault(segment, _Node())
            elif segment.endswith("*}"):
                if node.rest is not None:
                    raise ValueError(f"two routes have the pattern {pattern}")
                node.rest = (target, (*names, segment[1:-2]))
                return
            else:
                names.append(segment[1:-1])
                node.parameter = node.parameter or _Node()
                node = node.parameter
        if node.target is not None:
            raise ValueError(f"two routes have the pattern {pattern}")
        node.target = (target, tuple(names))

    def find(self, segments: Sequence[str]) -> tuple[T, dict[str, str]] | None:
        """Return the target of a path, given as its decoded segments, with the values of its parameters."""
        values: list[str] = []
        found = self._find(self._root, segments, 0, values)
        if found is None:
            return None
        target, names = found
        return target, dict(zip(names, values, strict=True))

    def _find(
        self, node: _Node[T], segments: Sequence[str], at: int, values: list[str]
    ) -> tuple[T, tuple[str, ...]] | None:
        if at == len(segments):
            if node.target is not None:
                return node.target
        else:
            below = node.named.get(segments[at])
            if below is not None and (found := self._find(below, segments, at + 1, values)) is not None:
                return found
            if node.parameter is not None and segments[at]:
                values.append(segments[at])
                if (found := self._find(node.parameter, segments, at + 1, values)) is not None:
                    return found
                values.pop()
        if node.rest is not None:
            values.append("/".join(segments[at:]))
            return node.rest
        return None


def split_path(raw: bytes) -> list[str] | None:
    """Return the segments of a path as it was sent, each decoded once; None if the result isn't UTF-8.

    Encoded slashes stay within their segments. A single slash at the end is dropped.

    >>> split_path(b"/a%2Fb/c/")
    ['a/b', 'c']
    """
    parts = raw.removeprefix(b"/").split(b"/")
    if parts[-1] == b"":
        parts.pop()
    try:
        return [(unquote_to_bytes(part) if b"%" in part else part).decode() for part in parts]
    except UnicodeDecodeError:
        return None
