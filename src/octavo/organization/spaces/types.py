"""How spaces are edited, and what they are called until somebody says."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.organization.orgs.types import MergeRule

EditMode = Literal["live", "locked"]
UNTITLED = "Untitled"
MAX_TITLE = 50
"""Characters of a title of a space."""


class SpaceMergeRules(Struct, omit_defaults=True):
    """``rules`` belongs to the type `rules` alone."""

    type: Literal["inherit", "none", "rules"]
    rules: Annotated[list[MergeRule], Meta(max_length=50)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.type == "rules") != (self.rules is not UNSET):
            raise ValueError("rules: expected with the type `rules`, and only there")
