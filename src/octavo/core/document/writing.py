"""A document to its Markdown: an untouched block as it was read, an edited one with the edit carried over into its
source (``splicing.py``), a new one in the canonical style (``writer.py``)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from .nodes import Block, Document
from .reader import read, read_blocks
from .splicing import Splicing
from .writer import Notes, marker_of, write_block

_BLANK = "\ufeff \t\r\n"


def write(document: Document, was: Mapping[str, Block] | None = None) -> str:
    """The Markdown of a document; exactly what was read where nothing changed. ``was``: see ``write_parts``."""
    return "".join(write_parts(document, was=was))


def write_parts(
    document: Document,
    seams: Collection[int] = (),
    get: Callable[[int], Block] | None = None,
    was: Mapping[str, Block] | None = None,
    definitions: str | None = None,
) -> list[str]:
    """The Markdown of a document in parts: before each block what stands there, then the block, and what follows the
    last. ``seams``: places of blocks that were not read right behind the one that is before them now. ``get``: where
    the nodes of the document may say no more than their types and sources, a block with all that is in it. ``was``: by
    key what blocks were edited from, with their sources; ``definitions``: what these may refer to, where the gaps do
    not hold all of it."""
    nodes, gaps = document.nodes, document.gaps
    if was and definitions is None:
        definitions = "\n\n".join(said for gap in gaps if (said := gap.strip(_BLANK)))
    splicing = Splicing(was or {}, definitions or "")
    texts = [splicing.text(block) if block.source is None else block.source for block in nodes]
    notes = Notes(document, texts)
    out: list[str] = []
    before = ""
    for index, block in enumerate(nodes):
        gap = notes.without(gaps[index]) if index < len(gaps) else ""
        kept = texts[index]
        text = kept if kept is not None else _canonical(block, notes, nodes[index - 1] if index else None, before)
        if index:
            is_kept = kept is not None and texts[index - 1] is not None
            is_read = block.source is not None and nodes[index - 1].source is not None
            if index in seams or not is_kept or not (is_read or _are_two(before, gap, text)):
                gap = _apart(gap)
                if not (kept is None and texts[index - 1] is None) and not _stay_two(
                    nodes[index - 1 : index + 1], before, gap, text
                ):
                    gap += "<!-- -->\n\n"
                    if texts[index - 1] is not None and not _stay_two(
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
        out[-1] = out[-1].rstrip("\n") + "\n\n" + notes.text() + "\n"
    return out


def _canonical(block: Block, notes: Notes, previous: Block | None, before: str) -> str:
    return write_block(block, notes, marker_of(previous, before) if previous is not None else "")


def _are_two(before: str, gap: str, after: str) -> bool:
    """Whether two blocks with this between them are read as these two."""
    found = read("\n" + before + gap + after)
    return [block.source for block in found.nodes] == [before, after]


def _stay_two(pair: list[Block], before: str, gap: str, after: str, between: Sequence[str] = ()) -> bool:
    """Whether two blocks are still read as two of these kinds, with these ``between`` them."""
    found = [block.type for block in read_blocks("\n" + before + gap + after)]
    return found == [pair[0].type, *between, pair[1].type]


def _apart(gap: str) -> str:
    """The gap, with the blank line two blocks need between them."""
    breaks = gap.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    if gap.strip():
        return "\n\n" + gap.strip("\r\n") + "\n\n"
    return gap if breaks >= 2 else "\n\n"
