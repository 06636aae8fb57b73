"""Edit modes, merge rules, and default titles of spaces."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.organization.orgs.types import MergeRule

EditMode = Literal["live", "locked"]
SpaceType = Literal["styleguide"]
"""Purpose of a space, if it isn't content for readers."""
UNTITLED = "Untitled"
MAX_TITLE = 50
"""Maximum number of characters in the title of a space."""


class SpaceMergeRules(Struct, omit_defaults=True):
    """Merge rules of a space. ``rules``: the rules, present only for the type `rules`."""

    type: Literal["inherit", "none", "rules"]
    rules: Annotated[list[MergeRule], Meta(max_length=50)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.type == "rules") != (self.rules is not UNSET):
            raise ValueError("rules: is required when `type` is `rules`, and must be omitted otherwise")
