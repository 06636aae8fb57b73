"""Documents: pages as typed nodes, read from Markdown or JSON and written back.

``read(text)`` and ``write(document)`` are exact inverses on what was not edited; ``schema.py`` says which node types
there are and what they carry.
"""

from .blocks import (
    BlockEdits,
    ChangedBlocks,
    EditError,
    Index,
    Missing,
    NotLocal,
    Position,
    changed_blocks,
    index_blocks,
    is_empty,
    without_empty,
)
from .containing import contained, on_failure, tell_failure
from .description import DocumentBlocks, DocumentNodes, DocumentObject, document_schemas, node_types
from .evaluating import Decided, close_conditions, evaluate_document, replace_nodes, show_document
from .guards import find_unread, may_hold_guards
from .inline import HEADING_ID
from .json import DocumentError, from_json, nodes_from_json, nodes_to_json, to_json
from .keys import assign_keys, carry_keys, carry_sources, keyed_nodes
from .nodes import (
    MAX_NODES,
    PARTS,
    Block,
    Document,
    Fragment,
    Inline,
    Leaf,
    Mark,
    Text,
    plain_text,
    walk,
    walk_blocks,
)
from .page import (
    H1,
    PageHead,
    below_title,
    front_keys,
    front_of,
    read_head,
    split_page,
    unread_conditions,
    with_head,
)
from .places import (
    Anchors,
    Conditions,
    DocumentPlace,
    anchors,
    cut_section,
    list_places,
    mark_places,
    place_ids,
    places_by_id,
    slug,
)
from .portable import portable
from .reader import may_be_cut, read, unpaired_tags
from .references import TYPES_OF_FILES, Reference, references, rewrite, shows_file
from .text import Section, sections, to_text, word_count
from .whereabouts import restore_keys, whereabouts
from .writing import rewritten, write

__all__ = [
    "Anchors", "Block", "BlockEdits", "ChangedBlocks", "Conditions", "Decided", "Document",
    "DocumentBlocks", "DocumentError", "DocumentNodes", "DocumentObject", "DocumentPlace", "EditError",
    "Fragment", "H1", "HEADING_ID", "Index", "Inline", "Leaf", "MAX_NODES", "Mark", "Missing", "NotLocal",
    "PARTS", "PageHead", "Position", "Reference", "Section", "TYPES_OF_FILES", "Text", "anchors",
    "assign_keys", "below_title", "carry_keys", "carry_sources", "changed_blocks", "close_conditions", "contained",
    "cut_section", "document_schemas", "evaluate_document", "find_unread", "from_json", "front_keys", "front_of",
    "index_blocks", "is_empty", "keyed_nodes", "list_places", "mark_places", "may_be_cut",
    "may_hold_guards", "node_types", "nodes_from_json", "nodes_to_json", "on_failure", "place_ids",
    "places_by_id", "plain_text", "portable", "read", "read_head", "references", "replace_nodes",
    "restore_keys", "rewrite", "rewritten", "sections", "show_document", "shows_file", "slug", "split_page",
    "tell_failure", "to_json", "to_text", "unpaired_tags", "unread_conditions", "walk", "walk_blocks",
    "whereabouts", "with_head", "without_empty", "word_count", "write",
]  # fmt: skip
