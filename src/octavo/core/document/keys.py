"""Node keys: what comments hang on. Deterministic for what is read, carried over when a document is edited."""

from __future__ import annotations

from difflib import SequenceMatcher
from hashlib import blake2b
from typing import Any

from .nodes import Block, Document, Fragment, Inline, Text, children

_ALIGN_MAX = 2_000
"""Runs of changed blocks longer than this are aligned in order, not by likeness."""


def assign_keys(document: Document) -> Document:
    """Give every block and fragment that has no key one made of its content, in place: the same text always
    yields the same keys. Equal nodes are told apart by their order; no two nodes share a key."""
    taken: set[str] = set()
    waiting: list[tuple[Any, str]] = []
    digests = _Digests()
    stack: list[Any] = list(reversed(document.nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, (Block, Fragment)):
            if node.key and node.key not in taken:
                taken.add(node.key)
            else:
                waiting.append((node, digests.of(node)))
        if not isinstance(node, Text):
            stack.extend(reversed(children(node)))
    ordinals: dict[str, int] = {}
    for node, digest in waiting:
        number = ordinals.get(digest, 0)
        key = digest
        while number and key in taken or key in taken:
            number += 1
            key = f"{digest}-{number}"
        ordinals[digest] = number
        taken.add(key)
        node.key = key
    return document


class _Digests:
    """Content hashes of nodes (12 characters), computed once for each, children first."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}

    def of(self, root: Any) -> str:
        stack: list[tuple[Any, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in self.known:
                continue
            inner = [child for child in children(node) if not isinstance(child, Text)]
            if not ready and inner:
                stack.append((node, True))
                stack.extend((child, False) for child in inner)
                continue
            self.known[id(node)] = self._hash(node)
        return self.known[id(root)]

    def _hash(self, node: Any) -> str:
        if isinstance(node, Fragment):
            parts = ["fragment", _kind(node)]
        else:
            parts = [
                type(node).__name__,
                node.type,
                repr(sorted(node.data.items(), key=lambda pair: pair[0])),
            ]
        for child in children(node):
            if isinstance(child, Text):
                parts.extend(f"{leaf.text}\0{leaf.marks}" for leaf in child.leaves)
            else:
                parts.append(self.known[id(child)])
        return blake2b("\x01".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def carry_keys(old: Document, new: Document) -> Document:
    """Give the nodes of ``new`` the keys of the nodes of ``old`` they are or were edited from, in place; what is
    really new gets a key no node of either has. Keys that ``new`` brings along and ``old`` knows stay."""
    assign_keys(old)
    digests = _Digests()
    known = {node.key for node in _keyed(old)}
    claimed: set[str] = set()
    for node in _keyed(new):
        if node.key and (node.key not in known or node.key in claimed):
            node.key = None
        elif node.key:
            claimed.add(node.key)
    pairs: list[tuple[list[Any], list[Any]]] = [(list(old.nodes), list(new.nodes))]
    while pairs:
        before, after = pairs.pop()
        for was, now in _align(before, after, digests, claimed):
            if now.key is None and was.key not in claimed:
                now.key = was.key
                claimed.add(was.key)
            pairs.append((_inner(was), _inner(now)))
    for node in _keyed(new):
        if node.key is None:
            digest = key = digests.of(node)
            number = 0
            while key in known or key in claimed:
                number += 1
                key = f"{digest}-{number}"
            node.key = key
            claimed.add(key)
    return new


def _keyed(document: Document) -> list[Any]:
    found: list[Any] = []
    stack: list[Any] = list(reversed(document.nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, (Block, Fragment)):
            found.append(node)
        if not isinstance(node, Text):
            stack.extend(reversed(children(node)))
    return found


def _inner(node: Any) -> list[Any]:
    """The keyed nodes right below, through inline nodes."""
    found: list[Any] = []
    stack = list(reversed(children(node)))
    while stack:
        child = stack.pop()
        if isinstance(child, (Block, Fragment)):
            found.append(child)
        elif isinstance(child, Inline):
            stack.extend(reversed(children(child)))
    return found


def _align(
    before: list[Any], after: list[Any], digests: _Digests, claimed: set[str]
) -> list[tuple[Any, Any]]:
    """Pairs of siblings that are the same node: by key, by content, then by place and likeness in between."""
    pairs: list[tuple[Any, Any]] = []
    by_key = {node.key: node for node in before}
    paired = {node.key: node for node in after if node.key is not None and node.key in by_key}
    pairs.extend((by_key[key], node) for key, node in paired.items())
    left = [node for node in before if node.key not in paired and node.key not in claimed]
    right = [node for node in after if node.key is None]
    matcher = SequenceMatcher(
        None, [digests.of(node) for node in left], [digests.of(node) for node in right], autojunk=False
    )
    moved: list[tuple[list[Any], list[Any]]] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            pairs.extend(zip(left[a:b], right[c:d], strict=True))
        else:
            moved.append((left[a:b], right[c:d]))
    gone: dict[str, list[Any]] = {}
    for olds, _ in moved:
        for node in olds:
            gone.setdefault(digests.of(node), []).append(node)
    used: set[int] = set()
    for olds, news in moved:
        rest = []
        for node in news:
            same = gone.get(digests.of(node))
            if same:
                was = same.pop(0)
                used.add(id(was))
                pairs.append((was, node))
            else:
                rest.append(node)
        pairs.extend(_alike([node for node in olds if id(node) not in used], rest, used))
    return pairs


def _alike(olds: list[Any], news: list[Any], used: set[int]) -> list[tuple[Any, Any]]:
    """Within one changed run: each new node takes the next old one of its type, if their texts share words."""
    pairs: list[tuple[Any, Any]] = []
    at = 0
    for node in news[:_ALIGN_MAX]:
        words = _words(node)
        best, score = -1, 0.0
        for index in range(at, min(at + 8, len(olds))):
            was = olds[index]
            if _kind(was) != _kind(node) or id(was) in used:
                continue
            there = _words(was)
            share = len(words & there) / max(1, len(words | there)) if words or there else 1.0
            share = max(share, 0.1) if len(olds) == len(news) == 1 else share
            if share > score:
                best, score = index, share
        if best >= 0 and score >= 0.1:
            pairs.append((olds[best], node))
            used.add(id(olds[best]))
            at = best + 1
    return pairs


def _kind(node: Any) -> str:
    # A table's cells are named by where they stand, and stay the same cells when rows come in above them.
    kind = (node.type or node.fragment) if isinstance(node, Fragment) else node.type
    return "heading" if str(kind).startswith("heading-") else str(kind)


def _words(node: Any) -> set[str]:
    found: set[str] = set()
    stack = [node]
    while stack and len(found) < 400:
        here = stack.pop()
        if isinstance(here, Text):
            for leaf in here.leaves:
                found.update(leaf.text.lower().split())
        else:
            stack.extend(children(here))
    return found


def carry_sources(old: Document, new: Document) -> Document:
    """Give blocks of ``new`` that equal a block of ``old`` its source, and the gaps of ``old`` where they still
    belong, in place: what came as JSON and was not edited is then written as it was. Definitions that stood
    between blocks are all kept."""
    digests = _Digests()
    matcher = SequenceMatcher(
        None, [digests.of(b) for b in old.nodes], [digests.of(b) for b in new.nodes], autojunk=False
    )
    gaps = [""] * (len(new.nodes) + 1)
    kept: set[int] = set()
    count = len(old.nodes)
    for a, b, size in matcher.get_matching_blocks():
        for offset in range(size):
            new.nodes[b + offset].source = old.nodes[a + offset].source
            if offset or (a + offset == 0 and b + offset == 0):
                gaps[b + offset] = old.gaps[a + offset]
                kept.add(a + offset)
        if size and a + size == count and b + size == len(new.nodes):
            gaps[-1] = old.gaps[-1]
            kept.add(count)
    lost = [old.gaps[n] for n in range(len(old.gaps)) if n not in kept and old.gaps[n].strip("\ufeff \t\r\n")]
    if lost:
        gaps[-1] = gaps[-1].rstrip("\r\n") + "".join("\n\n" + gap.strip("\r\n") for gap in lost) + "\n"
    elif not gaps[-1] and new.nodes:
        gaps[-1] = "\n"
    if old.gaps and old.gaps[0].startswith("\ufeff") and not gaps[0].startswith("\ufeff"):
        gaps[0] = "\ufeff" + gaps[0]
    for at in range(1, len(new.nodes)):
        gaps[at] = gaps[at] or "\n\n"
    new.gaps = gaps
    return new
