"""What organizations can be called, what must hold to merge, and what they show first."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Hostname = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]\Z")]
RuleName = Literal[
    "require_specific_reviewers", "require_one_of_specific_reviewers", "allow_bypass", "require_at_least_one_review",
    "require_all_reviews_approved", "require_agent_review", "require_up_to_date_change_request",
    "require_change_request_subject", "require_change_request_description", "custom",
]  # fmt: skip
_NAMING_USERS = ("require_specific_reviewers", "require_one_of_specific_reviewers", "allow_bypass")


class MergeRule(Struct, omit_defaults=True):
    """``users``: of the rules that name reviewers, and of `allow_bypass`; ``expression``: of `custom`."""

    rule: RuleName
    users: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    expression: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.rule in _NAMING_USERS) != (self.users is not UNSET):
            raise ValueError(f"users: expected with {', '.join(_NAMING_USERS)}, and only there")
        if (self.rule == "custom") != (self.expression is not UNSET):
            raise ValueError("expression: expected with custom, and only there")


class MergeRules(Struct, omit_defaults=True):
    """``rules`` belongs to the type `rules` alone."""

    type: Literal["none", "rules"]
    rules: Annotated[list[MergeRule], Meta(max_length=50)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.type == "rules") != (self.rules is not UNSET):
            raise ValueError("rules: expected with the type `rules`, and only there")


class SitePointer(Struct, tag="site"):
    site: str
