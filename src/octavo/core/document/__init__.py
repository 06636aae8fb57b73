"""Documents: pages as typed nodes, read from Markdown or JSON and written back.

``read(text)`` and ``write(document)`` are exact inverses on what was not edited; ``schema.py`` says which node types
there are and what they carry.
"""

from .evaluating import close_conditions, evaluate_document, replace_nodes, show_document
from .json import DocumentError, from_json, to_json
from .keys import assign_keys, carry_keys, carry_sources, keyed_nodes
from .nodes import Block, Document, Fragment, Inline, Leaf, Mark, Node, Text, plain_text, walk, walk_blocks
from .page import PageHead, Problem, read_head, split_page, with_head
from .places import Anchors, Conditions, Place, anchors, list_places, mark_places, place_ids, slug
from .reader import read, unpaired_tags
from .references import TYPES_OF_FILES, Reference, references, rewrite, shows_file
from .text import Heading, Section, outline, sections, to_text, word_count
from .writer import write

__all__ = [
    "TYPES_OF_FILES",
    "Anchors",
    "Block",
    "Conditions",
    "Document",
    "DocumentError",
    "Fragment",
    "Heading",
    "Inline",
    "Leaf",
    "Mark",
    "Node",
    "PageHead",
    "Place",
    "Problem",
    "Reference",
    "Section",
    "Text",
    "anchors",
    "assign_keys",
    "carry_keys",
    "carry_sources",
    "close_conditions",
    "evaluate_document",
    "from_json",
    "keyed_nodes",
    "list_places",
    "mark_places",
    "outline",
    "place_ids",
    "plain_text",
    "read",
    "read_head",
    "references",
    "replace_nodes",
    "rewrite",
    "shows_file",
    "sections",
    "show_document",
    "slug",
    "split_page",
    "to_json",
    "to_text",
    "unpaired_tags",
    "walk",
    "walk_blocks",
    "with_head",
    "word_count",
    "write",
]
