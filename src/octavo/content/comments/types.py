"""Types for comment bodies in requests, and for the status of suggested edits."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from octavo.core.document.description import DocumentBlocks, DocumentObject

SuggestionStatus = Literal["open", "accepted", "declined"]


class Words(Struct, forbid_unknown_fields=True):
    """Body of a comment: Markdown, or nodes (a list of blocks or a whole document). If neither is given
    (``{}``), the body is empty."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | DocumentBlocks | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.markdown is not UNSET and self.document is not UNSET:
            raise ValueError("provide `markdown` or `document`, not both")


BodyInput = Words | str
"""Body of a comment; a plain string is Markdown."""
