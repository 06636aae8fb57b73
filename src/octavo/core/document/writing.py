"""Write a document as Markdown: unedited blocks are unchanged, edits are applied to the source of edited blocks
(``splicing.py``), and new blocks are written in the canonical style (``writer.py``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import msgspec

from .keys import Digests, assign_keys, carry_keys, carry_sources
from .nodes import Block, Data, Document, Fragment, Inline, walk
from .reader import read, read_blocks
from .references import Reference, rewrite
from .splicing import Splicing
from .writer import Notes, labels_in, marker_of, with_definition, write_block

_BLANK = "\ufeff \t\r\n"


def write(document: Document, was: Mapping[str, Block] | None = None) -> str:
    """Write a document as Markdown. If nothing changed, the result is the original text. ``was``: see
    ``write_parts``."""
    return "".join(write_parts(document, was=was))


def rewritten(document: Document, change: Callable[[Reference], Data | None]) -> str:
    """Write a document with rewritten references (see ``rewrite``). Everything else is the same as in the original
    text. The references are also changed in the document itself."""
    assign_keys(document)
    was = {block.key or "": block for block in _copy(document.nodes)}
    return write(rewrite(document, change), was)


def write_parts(
    document: Document,
    seams: Collection[int] = (),
    get: Callable[[int], Block] | None = None,
    was: Mapping[str, Block] | None = None,
    definitions: str | None = None,
    gone: Sequence[Block] = (),
    ends_with_crlf: bool | None = None,
) -> list[str]:
    """Write a document in parts: the text before each block, the block, and the text after the last block. ``seams``:
    the indexes of blocks that didn't previously follow the block that is now before them. ``get``: if the nodes of the
    document contain only their types and sources, a function that returns a block with all its contents. ``was``: the
    original versions of edited blocks, by key, with their sources. ``definitions``: the definitions that these blocks
    may refer to, if the gaps don't contain all of them. ``gone``: other previous blocks, which may now be inside other
    blocks. ``ends_with_crlf``: whether all lines of the original text end with CRLF; None to determine this from the
    blocks."""
    nodes = document.nodes
    gaps = _with_notes(document, was) if was else document.gaps
    document = Document(nodes, gaps)
    if was and definitions is None:
        definitions = "\n\n".join(definition for gap in gaps if (definition := gap.strip(_BLANK)))
    here = {block.key for block in nodes if block.source is not None}
    olds = {key: old for key, old in (was or {}).items() if key not in here}
    splicing = Splicing(olds, gone, definitions or "")
    texts = [splicing.text(block) if block.source is None else block.source for block in nodes]
    notes = Notes(document, texts)
    out: list[str] = []
    before = ""
    for index, block in enumerate(nodes):
        gap = notes.without(gaps[index]) if index < len(gaps) else ""
        kept = texts[index]
        text = (
            kept
            if kept is not None
            else _canonical(block, notes, nodes[index - 1] if index else None, before)
        )
        if index:
            is_kept = kept is not None and texts[index - 1] is not None
            is_read = block.source is not None and nodes[index - 1].source is not None
            if index in seams or not is_kept or not (is_read or _read_as_two(before, gap, text)):
                gap = _with_blank_line(gap)
                if not (kept is None and texts[index - 1] is None) and not _still_read_as_two(
                    nodes[index - 1 : index + 1], before, gap, text
                ):
                    gap += "<!-- -->\n\n"
                    if texts[index - 1] is not None and not _still_read_as_two(
                        nodes[index - 1 : index + 1], before, gap, text, ["unknown"]
                    ):
                        out[-1] = before = write_block(get(index - 1) if get else nodes[index - 1], notes)
        out += gap, text
        before = text
    tail = notes.without(gaps[len(nodes)]) if len(gaps) > len(nodes) else ""
    is_new = nodes and nodes[-1].source is None and not splicing.was(nodes[-1])
    if is_new and not tail.startswith(("\n", "\r")):
        tail = "\n" + tail
    out.append(tail)
    if notes.fresh:
        out[-1] = out[-1].rstrip("\r\n") + "\n\n" + notes.text() + "\n"
    if _ends_lines_with_crlf(document, was or {}) if ends_with_crlf is None else ends_with_crlf:
        # The original has no other line ends, so nothing in it changes.
        out = [_LINE_END.sub("\r\n", part) for part in out]
    return out


_LINE_END = re.compile(r"\r?\n")


def _ends_lines_with_crlf(document: Document, was: Mapping[str, Block]) -> bool:
    """Return whether every line of the original text ends with CRLF. Text next to a new block may also be new, so it
    isn't checked."""
    nodes, gaps = document.nodes, document.gaps
    sources = [block.source or "" for block in (*nodes, *was.values())]
    if not any("\r\n" in text for text in (*gaps, *sources)):
        return False
    read_gaps = [
        gap
        for at, gap in enumerate(gaps)
        if all(block.source is not None for block in nodes[max(0, at - 1) : at + 1])
    ]
    return not any(_BARE_END.search(text) for text in (*read_gaps, *sources))


_BARE_END = re.compile(r"(?<!\r)\n")


def is_all_crlf(text: str) -> bool:
    """Return whether every line of a source ends with CRLF."""
    # Searching a long text for one character takes a fraction of the time of searching it for two.
    return "\r" in text and "\r\n" in text and _BARE_END.search(text) is None


def _with_notes(document: Document, was: Mapping[str, Block]) -> list[str]:
    """Return the gaps of a document, with edits applied to the footnotes defined in them. Edits that would change an
    unedited block aren't applied."""
    changed: dict[str, tuple[Fragment, Fragment]] = {}
    others: set[str] = set()
    for block in document.nodes:
        if block.source is not None:
            if "[^" in block.source or "user-content-fn-" in block.source:
                others |= labels_in(block.source)
            continue
        old_block = was.get(block.key or "")
        before = {note.fragment: note for note in _notes_of(old_block)} if old_block is not None else {}
        for note in _notes_of(block):
            old = before.get(note.fragment)
            if old is not None and old != note and changed.get(note.fragment, (old, note))[1] == note:
                changed[note.fragment] = old, note
            else:
                others.add(note.fragment)
    gaps = list(document.gaps)
    for label in changed.keys() - others:
        change = partial(_edited, *changed[label])
        for at, gap in enumerate(gaps):
            gaps[at] = with_definition(gap, label, change)
    return gaps


def _notes_of(block: Block) -> list[Fragment]:
    return [
        node.fragments[0]
        for node in walk(block)
        if isinstance(node, Inline) and node.type == "annotation" and node.fragments
    ]


def _edited(old: Fragment, new: Fragment, text: str) -> str | None:
    """Return the text of a footnote with an edit applied; None if the text isn't the text of the old footnote."""
    before, after = assign_keys(read(text)), Document(_copy(new.nodes))
    digests = Digests(before, Document(old.nodes))
    if [digests.of(node) for node in before.nodes] != [digests.of(node) for node in old.nodes]:
        return None
    carry_keys(before, after)
    carry_sources(before, after)
    return write(after, {block.key or "": block for block in before.nodes}).rstrip("\r\n")


def _copy(nodes: list[Block]) -> list[Block]:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(nodes), type=list[Block])


def _canonical(block: Block, notes: Notes, previous: Block | None, before: str) -> str:
    return write_block(block, notes, marker_of(previous, before) if previous is not None else "")


def _read_as_two(before: str, gap: str, after: str) -> bool:
    """Return whether two blocks with this text between them are parsed as the same two blocks. Blank lines at the end
    of the second block are ignored."""
    found = [block.source or "" for block in read("\n" + before + gap + after).nodes]
    return len(found) == 2 and found[0] == before and found[1].rstrip() == after.rstrip()


def _still_read_as_two(
    pair: list[Block], before: str, gap: str, after: str, between: Sequence[str] = ()
) -> bool:
    """Return whether two blocks are still parsed as two blocks of the same types, separated only by blocks of the types
    in ``between``."""
    found = [block.type for block in read_blocks("\n" + before + gap + after)]
    return found == [pair[0].type, *between, pair[1].type]


def _with_blank_line(gap: str) -> str:
    """Return the gap with the blank line that two blocks need between them."""
    breaks = gap.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    if gap.strip():
        return "\n\n" + gap.strip("\r\n") + "\n\n"
    return gap if breaks >= 2 else "\n\n"
