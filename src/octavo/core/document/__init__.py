"""Documents: pages as typed nodes, read from Markdown or JSON and written back.

``read(text)`` and ``write(document)`` are exact inverses on what was not edited; ``schema.py`` says which node types
there are and what they carry.
"""

from .evaluating import evaluate_document
from .json import DocumentError, from_json, to_json
from .keys import assign_keys, carry_keys, carry_sources
from .nodes import Block, Document, Fragment, Inline, Leaf, Mark, Node, Text, plain_text, walk
from .page import PageHead, Problem, read_head, split_page, with_head
from .reader import read, unpaired_tags
from .references import Reference, references, rewrite
from .text import Heading, Section, heading_ids, outline, sections, slug, to_text, word_count
from .writer import write

__all__ = [
    "Block",
    "Document",
    "DocumentError",
    "Fragment",
    "Heading",
    "Inline",
    "Leaf",
    "Mark",
    "Node",
    "PageHead",
    "Problem",
    "Reference",
    "Section",
    "Text",
    "assign_keys",
    "carry_keys",
    "carry_sources",
    "evaluate_document",
    "from_json",
    "heading_ids",
    "outline",
    "plain_text",
    "read",
    "read_head",
    "references",
    "rewrite",
    "sections",
    "slug",
    "split_page",
    "to_json",
    "to_text",
    "unpaired_tags",
    "walk",
    "with_head",
    "word_count",
    "write",
]
