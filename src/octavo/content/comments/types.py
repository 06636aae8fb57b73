"""What comments say, and what becomes of an edit that one suggests."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from octavo.core.document.description import DocumentBlocks, DocumentObject

SuggestionStatus = Literal["open", "accepted", "declined"]


class Words(Struct, forbid_unknown_fields=True):
    """What is said: Markdown, or nodes (a list of blocks or a whole document). Neither: nothing, as ``{}``, which
    has no other keys."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | DocumentBlocks | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.markdown is not UNSET and self.document is not UNSET:
            raise ValueError("expected `markdown` or `document`, not both")


Said = Words | str
"""A plain string is Markdown."""
