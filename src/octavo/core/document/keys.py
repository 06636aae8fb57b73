"""Assign node keys, which comments refer to. Keys are derived deterministically when a document is read, and carried
over when it is edited."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence, Set
from hashlib import blake2b

from ..alignment import align
from ..free_names import free_name
from .nodes import Block, Data, Document, Fragment, Inline, Mark, Node, Text, children, is_plain

_NAMED_BY = {
    line.split()[0]: frozenset(["attributes", *line.split()[1:]])
    for line in """
        paragraph align
        heading-1 id align level
        heading-2 id align level
        heading-3 id align level
        list-ordered start
        list-item checked
        hint style icon
        code syntax title overflow lineNumbers fullWidth expandable collapsedLineCount info
        code-line highlighted
        math formula
        images align fullWidth withFrame
        image ref refDark alt width height
        file ref
        drawing ref alt width height
        embed url fullWidth
        content-ref ref label
        reusable-content ref
        expandable open
        tabs fullWidth
        tabs-item title icon
        stepper-step icon
        columns fullWidth
        column width verticalAlignment
        table view records definition fullWidth
        if expression
        swagger ref path method expanded fullWidth body
        openapi-operation ref path method body
        openapi-schemas ref schemas grouped body
        openapi-webhook ref name method body
        integration integration block props action url fullWidth
        updates format
        update date tags
        prompt description icon openInAIProviders defaultExpanded
        api-method tag method host path summary
        api-part tag name in type required status description
        link ref title
        emoji code
        icon icon color
        expression expression
        inline-math formula
        inline-image ref refDark alt caption size width height
        mention ref label
        button label kind icon ref action query
        unknown source end kind
    """.strip().splitlines()
}
"""Fields of ``data`` that are part of a node's key, by type: the fields that the schema had when keys were introduced.
Never add fields to this table. Comments, suggestions, and references depend on keys, so a field that is added to the
parser later must not change the key of an existing node."""
_NO_FIELDS: frozenset[str] = frozenset(["attributes"])
_TABLE_PARTS: dict[str, frozenset[str]] = {
    "view": frozenset(
        "type columns columnWidths hideHeader cardSize targetDefinition coverDefinition coverDefinitionDark"
        " hideColumnTitle".split()
    ),
    "definition": frozenset("id title type textAlignment multiple options max".split()),
    "records": frozenset(["orderIndex", "values"]),
}
"""Fields that are part of a table's key: the fields of its view, each column, and each row."""
_ALIGN_MAX = 2_000
"""Maximum number of changed blocks in a run that is aligned by similarity. Longer runs are aligned in order."""

Keyed = list[Block | Fragment]
KeyedPairs = list[tuple[Block | Fragment, Block | Fragment]]


def assign_keys(document: Document) -> Document:
    """Assign a key derived from its content to every block and fragment without a key, in place. The same text always
    produces the same keys, even if a later version of the parser recognizes more fields. Equal nodes are distinguished
    by their order; no two nodes share a key."""
    taken: set[str] = set()
    waiting: list[Block | Fragment] = []
    for node in keyed_nodes(document):
        if node.key and node.key not in taken:
            taken.add(node.key)
        else:
            waiting.append(node)
    if waiting:
        digests = Digests(document)
        for node in waiting:
            node.key = free_name(digests.name_of(node), taken.__contains__)
            taken.add(node.key)
    return document


class Digests:
    """Hashes of document nodes (12 characters), each computed only once. A node has two hashes: a hash of its whole
    content, and a hash of the part that determines its key."""

    def __init__(self, *documents: Document) -> None:
        self._known: dict[int, str] = {}
        self._names: dict[int, str] = {}
        """Digests from which the keys of nodes are derived, by ``id(node)``, where they differ from the digest of the
        content."""
        for document in documents:
            for node in document.nodes:
                self._hash(node)

    def of(self, node: object) -> str:
        """Return the digest of a node's whole content."""
        return self._known[id(node)]

    def name_of(self, node: object) -> str:
        """Return the digest from which a node's key is derived. The digest doesn't depend on fields that were added to
        the parser after keys were introduced."""
        return self._names.get(id(node)) or self._known[id(node)]

    def _hash(self, node: Block | Inline | Fragment) -> tuple[str, str]:
        if isinstance(node, Fragment):
            parts = ["fragment", _kind(node)]
            names = parts[:]
        else:
            parts = [type(node).__name__, node.type, _written(node.data)]
            names = parts[:]
            if node.data and (known := _known_data(node)) != node.data:
                names[2] = _written(known)
        for child in node.nodes:
            if isinstance(child, Text):
                for leaf in child.leaves:
                    own = (
                        f"{leaf.text}\0[{', '.join(map(_marked, leaf.marks))}]"
                        if leaf.marks
                        else leaf.text + "\0[]"
                    )
                    parts.append(own)
                    names.append(own)
            else:
                digest, name = self._hash(child)
                parts.append(digest)
                names.append(name)
        if not isinstance(node, Fragment):
            for fragment in node.fragments:
                digest, name = self._hash(fragment)
                parts.append(digest)
                names.append(name)
        digest = name = _digest(parts)
        if names != parts:
            self._names[id(node)] = name = _digest(names)
        self._known[id(node)] = digest
        return digest, name


def _digest(parts: list[str]) -> str:
    return blake2b("\x01".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _written(data: Data) -> str:
    return repr(sorted(data.items(), key=_name_of)) if data else "[]"


def _marked(mark: Mark) -> str:
    return f"Mark(type={mark.type!r}, data={mark.data!r})"


def _known_data(node: Block | Inline) -> Data:
    """Return the part of a node's data that determines its key."""
    fields = _NAMED_BY.get(node.type, _NO_FIELDS)
    data = {name: value for name, value in node.data.items() if name in fields}
    if node.type == "table":
        for part, names in _TABLE_PARTS.items():
            if isinstance(found := data.get(part), dict):
                data[part] = (
                    _only(found, names)
                    if part == "view"
                    else {id: _only(entry, names) for id, entry in found.items()}
                )
    return data


def _only(value: object, names: Set[str]) -> object:
    return (
        {name: inner for name, inner in value.items() if name in names} if isinstance(value, dict) else value
    )


def _name_of(field: tuple[str, object]) -> str:
    return field[0]


def carry_keys(old: Document, new: Document, is_taken: Callable[[str], bool] | None = None) -> Document:
    """Assign the keys of nodes in ``old`` to the same nodes, or their edited versions, in ``new``, in place. A new node
    gets a key that isn't used in either document. Keys in ``new`` that ``old`` also has are kept.

    ``is_taken``: if both documents are parts of a page, a function that returns whether a key is used in the rest of
    that page. In this case, keys in ``new`` that aren't in use are kept, too.
    """
    assign_keys(old)
    digests = Digests(old, new)
    known = {node.key for node in keyed_nodes(old)}
    claimed: set[str | None] = set()
    keyed = keyed_nodes(new)
    for node in keyed:
        key = node.key
        if key and (key in claimed or (key not in known and (is_taken is None or is_taken(key)))):
            node.key = None
        elif node.key:
            claimed.add(node.key)

    def has(key: str) -> bool:
        return key in known or key in claimed or (is_taken is not None and is_taken(key))

    # If no key is given, the contents of a node are paired only with those of a node with equal content.
    none_given = not claimed
    pairs: list[tuple[Keyed, Keyed]] = [(list(old.nodes), list(new.nodes))]
    while pairs:
        before, after = pairs.pop()
        for was, now in _align(before, after, digests, claimed):
            if none_given and digests.of(was) == digests.of(now):
                for inner, same in zip(keyed_in([was]), keyed_in([now]), strict=False):
                    same.key = inner.key
                    claimed.add(inner.key)
                continue
            if now.key is None and was.key not in claimed:
                now.key = was.key
                claimed.add(was.key)
            pairs.append((inner_nodes(was), inner_nodes(now)))
    for node in keyed:
        if node.key is None:
            node.key = free_name(digests.name_of(node), has)
            claimed.add(node.key)
    return new


def keyed_nodes(document: Document) -> list[Block | Fragment]:
    """Return the nodes that have keys, in reading order."""
    return keyed_in(document.nodes)


def keyed_in(nodes: Sequence[Block | Inline | Fragment]) -> list[Block | Fragment]:
    """Return the nodes with keys among these nodes and inside them, in reading order."""
    found: list[Block | Fragment] = []
    stack: list[Block | Inline | Fragment] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if not isinstance(node, Inline):
            found.append(node)
        if isinstance(node, Fragment):
            stack += reversed(node.nodes)
        elif not is_plain(node):
            stack += reversed(node.fragments)
            stack += [child for child in reversed(node.nodes) if not isinstance(child, Text)]
    return found


def inner_nodes(node: Node) -> list[Block | Fragment]:
    """Return the nodes with keys that are children of a node, either directly or through inline nodes."""
    found: list[Block | Fragment] = []
    stack = list(reversed(children(node)))
    while stack:
        child = stack.pop()
        if isinstance(child, (Block, Fragment)):
            found.append(child)
        elif isinstance(child, Inline):
            stack.extend(reversed(children(child)))
    return found


def _align(before: Keyed, after: Keyed, digests: Digests, claimed: set[str | None]) -> KeyedPairs:
    """Return pairs of siblings that are the same node. Nodes are matched first by key, then by content; the nodes in
    between are matched by position and similarity."""
    pairs: KeyedPairs = []
    by_key = {node.key: node for node in before}
    paired = {node.key: node for node in after if node.key is not None and node.key in by_key}
    pairs.extend((by_key[key], node) for key, node in paired.items())
    left = [node for node in before if node.key not in paired and node.key not in claimed]
    right = [node for node in after if node.key is None]
    moved: list[tuple[Keyed, Keyed]] = []
    i = j = 0
    for a, b in [*_same(left, right, digests), (len(left), len(right))]:
        if a > i or b > j:
            moved.append((left[i:a], right[j:b]))
        pairs.extend(zip(left[a : a + 1], right[b : b + 1], strict=True))
        i, j = a + 1, b + 1
    gone: dict[str, deque[Block | Fragment]] = {}
    for olds, _ in moved:
        for node in olds:
            gone.setdefault(digests.of(node), deque()).append(node)
    used: set[int] = set()
    changed: list[tuple[Keyed, Keyed]] = []
    for olds, news in moved:
        rest = []
        for node in news:
            same = gone.get(digests.of(node))
            if same:
                was = same.popleft()
                used.add(id(was))
                pairs.append((was, node))
            else:
                rest.append(node)
        changed.append((olds, rest))
    # Equal nodes in other positions are paired first, so that a merely similar node does not take their key.
    for olds, rest in changed:
        pairs.extend(_alike([node for node in olds if id(node) not in used], rest, used))
    return pairs


def _same(before: Sequence[object], after: Sequence[object], digests: Digests) -> list[tuple[int, int]]:
    """Return the indexes of equal nodes that are in the same order on both sides, as pairs."""
    return align([digests.of(node) for node in before], [digests.of(node) for node in after])


def _alike(olds: Keyed, news: Keyed, used: set[int]) -> KeyedPairs:
    """Pair each new node of one changed run with the next old node of the same type if they have words in common."""
    pairs: KeyedPairs = []
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


def _kind(node: Block | Inline | Fragment) -> str:
    # Table cells are named by position, and remain the same cells when rows are inserted above them.
    kind = (node.type or node.fragment) if isinstance(node, Fragment) else node.type
    return "heading" if str(kind).startswith("heading-") else str(kind)


def _words(node: Node) -> set[str]:
    found: set[str] = set()
    stack: list[Node] = [node]
    while stack and len(found) < 400:
        here = stack.pop()
        if isinstance(here, Text):
            for leaf in here.leaves:
                found.update(leaf.text.lower().split())
        else:
            stack.extend(children(here))
    return found


def carry_sources(old: Document, new: Document) -> Document:
    """Copy the sources of blocks in ``old`` to the equal blocks in ``new``, in place, and copy the gaps of ``old`` to
    the positions where they still belong. This way, unedited content that was sent as JSON is written unchanged. All
    definitions between blocks are kept. Both documents must have keys (see ``carry_keys``)."""
    digests = Digests(old, new)
    by_key = {node.key: at for at, node in enumerate(old.nodes)}
    by_digest: dict[str, Block] = {}
    for node in old.nodes:
        by_digest.setdefault(digests.of(node), node)
    gaps = [""] * (len(new.nodes) + 1)
    kept: set[int] = set()
    count = len(old.nodes)
    before: int | None = -1
    for b, node in enumerate(new.nodes):
        a = by_key.get(node.key)
        same = old.nodes[a] if a is not None and digests.of(old.nodes[a]) == digests.of(node) else None
        same = same or by_digest.get(digests.of(node))
        if same is not None:
            node.source = same.source
        # A gap belongs between the two blocks that it separated.
        if a is not None and before == a - 1:
            gaps[b] = old.gaps[a]
            kept.add(a)
        before = a
    is_same_end = bool(count) and before == count - 1
    if is_same_end:
        gaps[-1] = old.gaps[-1]
        kept.add(count)
    lost = [old.gaps[n] for n in range(len(old.gaps)) if n not in kept and old.gaps[n].strip("\ufeff \t\r\n")]
    if lost:
        gaps[-1] = gaps[-1].rstrip("\r\n") + "".join("\n\n" + gap.strip("\r\n") for gap in lost) + "\n"
    elif not gaps[-1] and new.nodes and not is_same_end:
        gaps[-1] = "\n"
    if old.gaps and old.gaps[0].startswith("\ufeff") and not gaps[0].startswith("\ufeff"):
        gaps[0] = "\ufeff" + gaps[0]
    for at in range(1, len(new.nodes)):
        gaps[at] = gaps[at] or "\n\n"
    new.gaps = gaps
    return new
